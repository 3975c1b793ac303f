/* Warped forces and matrices: rows of 3 × 3 blocks for VERTEX and PAIR, elements for ELEMENT. Rows are independent, and
 * blocks of one color share no vertex, so that the result does not depend on the threads. */
#include "base/mat3.h"
#include "model/warp/warp_internal.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 /* rows per task of a thread */ };

/* ---- rows ---- */

SP_CLONES static void times_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column,
                                 const double *B, const double *x, double *y)
{
    for (int64_t i = first; i < last; i++) {
        double a = 0, b = 0, c = 0;
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double *m = B + 9 * k, *v = x + 3 * column[k];
            a += m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
            b += m[3] * v[0] + m[4] * v[1] + m[5] * v[2];
            c += m[6] * v[0] + m[7] * v[1] + m[8] * v[2];
        }
        y[3 * i] = a;
        y[3 * i + 1] = b;
        y[3 * i + 2] = c;
    }
}

/* y_i = R_i Σ_j K_ij (R_iᵀ (x_j − x_i) − s (X_j − X_i)). Since the rows of K sum to zero, differences may be used,
 * which do not cancel far from the origin. */
SP_CLONES static void vertex_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column,
                                  const double *K, const double *rotation, const double *x, double s, const double *X,
                                  double *y)
{
    for (int64_t i = first; i < last; i++) {
        const double *R = rotation + 9 * i;
        double sum[3] = {0};
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double *m = K + 9 * k, *far = x + 3 * column[k], *rest = X + 3 * column[k],
                         d[3] = {far[0] - x[3 * i], far[1] - x[3 * i + 1], far[2] - x[3 * i + 2]};
            double z[3];
            sp_rotate_back(R, d, z);
            for (int c = 0; c < 3; c++)
                z[c] -= s * (rest[c] - X[3 * i + c]);
            for (int c = 0; c < 3; c++)
                sum[c] += m[3 * c] * z[0] + m[3 * c + 1] * z[1] + m[3 * c + 2] * z[2];
        }
        sp_rotate(R, sum, y + 3 * i);
    }
}

/* y_i = Σ_j R_j K_ij z_j. */
SP_CLONES static void pair_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column,
                                const double *K, const double *rotation, const double *z, double *y)
{
    for (int64_t i = first; i < last; i++) {
        double sum[3] = {0};
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double *m = K + 9 * k, *R = rotation + 9 * (int64_t)column[k], *v = z + 3 * column[k];
            double a[3];
            sp_rotate(m, v, a);
            for (int c = 0; c < 3; c++)
                sum[c] += R[3 * c] * a[0] + R[3 * c + 1] * a[1] + R[3 * c + 2] * a[2];
        }
        memcpy(y + 3 * i, sum, sizeof sum);
    }
}

/* to += scale · R from Rᵀ. */
SP_INLINE void add_rotated(const double *R, const double *from, double scale, double *to)
{
    double rotated[9];
    sp_rotate_matrix3(R, from, rotated);
    for (int k = 0; k < 9; k++)
        to[k] += scale * rotated[k];
}

SP_CLONES static void add_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column,
                               const double *K, const double *rotation, bool pair, double scale, double *S)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            add_rotated(rotation + 9 * (pair ? (int64_t)column[k] : i), K + 9 * k, scale, S + 9 * k);
}

static int64_t last_of(const sp_warp_system *w, int64_t first)
{
    return first + CHUNK < w->vertices ? first + CHUNK : w->vertices;
}

void sp_warp_times(const sp_warp_system *w, const double *B, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t first = 0; first < w->vertices; first += CHUNK)
        times_rows(first, last_of(w, first), w->start, w->column, B, x, y);
}

/* All rows of VERTEX or PAIR at x (s = 1), or along a velocity x (s = 0). */
static void all_rows(sp_warp_system *w, const double *x, double s, const double *centre, double *y)
{
    bool pair = w->p.kind == SP_WARP_PAIR;
    if (pair)
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
        for (int64_t i = 0; i < w->vertices; i++) {
            /* Rᵀ (x − c) − s (X − C) of every vertex, which many rows need */
            const double from[3] = {x[3 * i] - centre[0], x[3 * i + 1] - centre[1], x[3 * i + 2] - centre[2]};
            sp_rotate_back(w->rotation + 9 * i, from, w->auxiliary + 3 * i);
            for (int c = 0; c < 3; c++)
                w->auxiliary[3 * i + c] -= s * (w->X[3 * i + c] - centre[3 + c]);
        }

#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t first = 0; first < w->vertices; first += CHUNK)
        if (pair)
            pair_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, w->auxiliary, y);
        else
            vertex_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, x, s, w->X, y);
}

void sp_warp_mean(const sp_warp_system *w, const double *x, double centre[3])
{
    double mass = 0;

    memset(centre, 0, 3 * sizeof *centre);
    for (int64_t i = 0; i < w->vertices; i++) {
        mass += w->vertex_mass[i];
        for (int c = 0; c < 3; c++)
            centre[c] += w->vertex_mass[i] * x[3 * i + c];
    }

    for (int c = 0; c < 3; c++)
        centre[c] /= mass;
}

/* ---- elements ---- */

/* Constant data of the elements of a batch, in SIMD lanes. */
typedef struct element_lanes {
    int64_t class[SP_LANES];         /* the loaded class; −1: none */
    sp_lanes entry[SP_WARP_ENTRIES]; /* as in sp_warp_system.matrix */
} element_lanes;

SP_CLONES static void load_elements(const sp_warp_system *w, const sp_batch *batch, element_lanes *data)
{
    const double *from[SP_LANES];
    bool same = true;

    for (int l = 0; l < SP_LANES; l++) {
        const int64_t class = w->all.element_class[batch->element[l]];
        same = same && data->class[l] == class;
        data->class[l] = class;
        from[l] = w->matrix + w->matrix_start[class];
    }

    /* The lanes still have the data if the classes are those of the batch before. */
    if (!same)
        sp_lanes_gather(sp_warp_entries(batch->nodes), from, data->entry);
}

/* Gathers positions or velocities of the corners relative to the first corner. */
SP_INLINE void gather_differences(const sp_warp_system *w, const sp_batch *batch, const double *x, sp_lanes to[8][3])
{
    sp_batch_gather(&w->all, batch, x, to);
    for (int a = batch->nodes - 1; a >= 0; a--)
        for (int c = 0; c < 3; c++)
            to[a][c] -= to[0][c];
}

/* f_a = R Σ_b K_ab (z_b − z_a), z = Rᵀ v − s X; K_aa is not needed since the rows of K sum to zero. Returns ½ zᵀ K z.
 */
SP_INLINE sp_lanes element_forces(int corners, sp_lanes K[][9], const sp_lanes *R, sp_lanes v[8][3], double s,
                                  sp_lanes X[8][3], sp_lanes f[8][3])
{
    sp_lanes z[8][3] = {0}, g[8][3] = {0}, energy = {0};

    for (int a = 1; a < corners; a++)
        for (int c = 0; c < 3; c++)
            z[a][c] = R[c] * v[a][0] + R[3 + c] * v[a][1] + R[6 + c] * v[a][2] - s * X[a][c];

    /* K_ba = K_abᵀ, so that each pair serves both of its corners. */
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++) {
            const sp_lanes *k = K[p], d[3] = {z[b][0] - z[a][0], z[b][1] - z[a][1], z[b][2] - z[a][2]};
            for (int c = 0; c < 3; c++) {
                g[a][c] += k[3 * c] * d[0] + k[3 * c + 1] * d[1] + k[3 * c + 2] * d[2];
                g[b][c] -= k[c] * d[0] + k[3 + c] * d[1] + k[6 + c] * d[2];
            }
        }

    for (int a = 0; a < corners; a++)
        for (int c = 0; c < 3; c++) {
            energy += 0.5 * z[a][c] * g[a][c];
            f[a][c] = R[3 * c] * g[a][0] + R[3 * c + 1] * g[a][1] + R[3 * c + 2] * g[a][2];
        }
    return energy;
}

/* Computes blocks a ≤ b of scale · R K Rᵀ; those on the diagonal follow from the others. */
SP_INLINE void rotated_blocks(int corners, sp_lanes K[][9], const sp_lanes *R, double scale,
                              sp_lanes block[SP_ELEMENT_BLOCKS][9])
{
    for (int a = 0; a < corners; a++)
        for (int k = 0; k < 9; k++)
            block[sp_packed(corners, a, a)][k] = (sp_lanes){0};
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++) {
            sp_lanes half[9], *to = block[sp_packed(corners, a, b)], *first = block[sp_packed(corners, a, a)],
                              *second = block[sp_packed(corners, b, b)];

            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    half[3 * i + j] =
                        scale * (R[3 * i] * K[p][j] + R[3 * i + 1] * K[p][3 + j] + R[3 * i + 2] * K[p][6 + j]);

            /* Rows of K sum to zero: a block on the diagonal is minus the sum of its row. */
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    to[3 * i + j] =
                        half[3 * i] * R[3 * j] + half[3 * i + 1] * R[3 * j + 1] + half[3 * i + 2] * R[3 * j + 2];
                    first[3 * i + j] -= to[3 * i + j];
                    second[3 * j + i] -= to[3 * i + j];
                }
        }
}

/* Adds these blocks to S. */
SP_INLINE void add_rotated_blocks(int nodes, const sp_warp_system *w, const sp_batch *batch,
                                  sp_lanes block[SP_ELEMENT_BLOCKS][9], double *S)
{
    double *row[SP_LANES][8];
    const int32_t *offset[SP_LANES];

    for (int l = 0; l < batch->count; l++) {
        int count;
        const int64_t *node = sp_mesh_nodes(&w->mesh, batch->element[l], &count);
        offset[l] = w->all.offset + w->all.offset_start[batch->element[l]];
        for (int a = 0; a < nodes; a++)
            row[l][a] = S + 9 * w->start[node[a]];
    }

    /* Blocks below the diagonal are the transposes of those above it. Eight of nine entries are added as a vector. */
    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < nodes; b++) {
            const sp_lanes *from = block[sp_packed(nodes, a, b)];
            sp_lanes part[SP_LANES], sum;
            for (int k = 0; k < 8; k++)
                part[k] = from[a <= b ? k : k % 3 * 3 + k / 3];
            sp_lanes_transpose(part);
            for (int l = 0; l < batch->count; l++) {
                /* Offsets are those of entries in rows of three. */
                double *to = row[l][a] + 3 * offset[l][a * nodes + b];
                memcpy(&sum, to, sizeof sum);
                sum += part[l];
                memcpy(to, &sum, sizeof sum);
                to[8] += from[8][l];
            }
        }
}

SP_CLONES static void add_tets(const sp_warp_system *w, const sp_batch *batch, sp_lanes K[][9], const sp_lanes *R,
                               double scale, double *S)
{
    sp_lanes block[SP_ELEMENT_BLOCKS][9];
    rotated_blocks(4, K, R, scale, block);
    add_rotated_blocks(4, w, batch, block, S);
}

SP_CLONES static void add_hexes(const sp_warp_system *w, const sp_batch *batch, sp_lanes K[][9], const sp_lanes *R,
                                double scale, double *S)
{
    sp_lanes block[SP_ELEMENT_BLOCKS][9];
    rotated_blocks(8, K, R, scale, block);
    add_rotated_blocks(8, w, batch, block, S);
}

/* f (NULL: not wanted) += R K (Rᵀ v − s X) with the rotations at x, S += scale · R K Rᵀ; returns the energy. */
SP_CLONES static double batch_forces(const sp_warp_system *w, const sp_batch *batch, element_lanes *data,
                                     const double *x, const double *v, double s, double scale, double *f)
{
    const int corners = batch->nodes;
    sp_lanes(*K)[9] = (sp_lanes(*)[9])data->entry,
    (*gradient)[3] = (sp_lanes(*)[3])(data->entry + 9 * sp_pair_count(corners));
    sp_lanes place[8][3], rest[8][3], rate[8][3], R[9], force[8][3], energy;
    double sum = 0;

    load_elements(w, batch, data);
    gather_differences(w, batch, x, place);
    gather_differences(w, batch, w->X, rest);
    if (v != x)
        gather_differences(w, batch, v, rate);

    sp_warp_element_rotations(w, batch, gradient, place, R);
    if (corners == 8)
        energy = element_forces(8, K, R, v == x ? place : rate, s, rest, force);
    else
        energy = element_forces(4, K, R, v == x ? place : rate, s, rest, force);

    for (int l = 0; l < batch->count; l++)
        sum += energy[l];

    if (f)
        sp_batch_add(&w->all, batch, force, f);
    if (scale != 0)
        (corners == 8 ? add_hexes : add_tets)(w, batch, K, R, scale, w->S);
    return sum;
}

static double all_elements(sp_warp_system *w, const double *x, const double *v, double s, double scale, double *f)
{
    double energy = 0;

    if (f)
        memset(f, 0, (size_t)(3 * w->vertices) * sizeof *f);
#pragma omp parallel num_threads(w->context->threads) if (w->many_elements)
    {
        element_lanes data;
        for (int l = 0; l < SP_LANES; l++)
            data.class[l] = -1;
        SP_EACH_BATCH(&w->all, b)
        w->all.batch_energy[b] = batch_forces(w, &w->all.batches[b], &data, x, v, s, scale, f);
    }

    /* In the order of the batches, whichever thread computed them */
    for (int64_t b = 0; b < w->all.batch_count; b++)
        energy += w->all.batch_energy[b];
    return energy;
}

/* ---- both kinds ---- */

double sp_warp_force(sp_warp_system *w, const double *x, double scale, double *f)
{
    double centre[6] = {0};

    if (w->p.kind == SP_WARP_ELEMENT)
        return all_elements(w, x, x, 1, scale, f);

    /* S += scale R K Rᵀ */
    if (scale != 0)
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
        for (int64_t first = 0; first < w->vertices; first += CHUNK)
            add_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, w->p.kind == SP_WARP_PAIR, scale,
                     w->S);

    if (!f)
        return 0;

    if (w->p.kind == SP_WARP_PAIR) {
        sp_warp_mean(w, x, centre);
        sp_warp_mean(w, w->X, centre + 3);
    }
    all_rows(w, x, 1, centre, f);
    return 0;
}

void sp_warp_tangent_times(sp_warp_system *w, const double *x, const double *v, double *y)
{
    double centre[6] = {0};

    if (w->p.kind == SP_WARP_ELEMENT) {
        all_elements(w, x, v, 0, 0, y);
        return;
    }

    /* The centre moves with the mean velocity. */
    if (w->p.kind == SP_WARP_PAIR)
        sp_warp_mean(w, v, centre);
    all_rows(w, v, 0, centre, y);
}

/* ---- the rigid part ---- */

void sp_warp_rigid_at(const sp_warp_system *w, const double *x, sp_warp_rigid *rigid)
{
    double I[9] = {0}, cofactor[9], trace;

    sp_warp_mean(w, x, rigid->centre);
    rigid->mass = 0;

    /* I = Σ m (|r|² 1 − r rᵀ) */
    for (int64_t i = 0; i < w->vertices; i++) {
        double r[3], square = 0, m = w->vertex_mass[i];
        rigid->mass += m;
        for (int c = 0; c < 3; c++) {
            r[c] = x[3 * i + c] - rigid->centre[c];
            square += r[c] * r[c];
        }
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                I[3 * c + d] += m * ((c == d ? square : 0) - r[c] * r[d]);
    }

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[3 * i + j] = I[3 * i1 + j1] * I[3 * i2 + j2] - I[3 * i1 + j2] * I[3 * i2 + j1];
        }

    double determinant = I[0] * cofactor[0] + I[1] * cofactor[1] + I[2] * cofactor[2];
    trace = I[0] + I[4] + I[8];
    /* I is symmetric, so that the cofactors are the adjugate. A body on a line has no inertia about it. */
    for (int k = 0; k < 9; k++)
        rigid->inverse[k] = determinant > 1e-12 * trace * trace * trace ? cofactor[k] / determinant : 0;
}

void sp_warp_rigid_sums(const sp_warp_system *w, const sp_warp_rigid *rigid, const double *x, const double *f,
                        double force[3], double torque[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(torque, 0, 3 * sizeof *torque);

    for (int64_t i = 0; i < w->vertices; i++) {
        const double r[3] = {x[3 * i] - rigid->centre[0], x[3 * i + 1] - rigid->centre[1],
                             x[3 * i + 2] - rigid->centre[2]};

        double moment[3];
        sp_cross3(r, f + 3 * i, moment);
        for (int c = 0; c < 3; c++) {
            force[c] += f[3 * i + c];
            torque[c] += moment[c];
        }
    }
}

void sp_warp_rigid_remove(const sp_warp_system *w, const sp_warp_rigid *rigid, const double *x, double *f)
{
    double force[3], torque[3], angular[3];

    sp_warp_rigid_sums(w, rigid, x, f, force, torque);
    sp_rotate(rigid->inverse, torque, angular);

    /* f −= m (F/M + (J⁻¹ T) × r) */
    for (int64_t i = 0; i < w->vertices; i++) {
        const double r[3] = {x[3 * i] - rigid->centre[0], x[3 * i + 1] - rigid->centre[1],
                             x[3 * i + 2] - rigid->centre[2]};
        double across[3];
        sp_cross3(angular, r, across);
        for (int c = 0; c < 3; c++)
            f[3 * i + c] -= w->vertex_mass[i] * (force[c] / rigid->mass + across[c]);
    }
}
