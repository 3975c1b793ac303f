/* Warped forces and matrices: rows of 3 × 3 blocks for VERTEX and PAIR, elements for ELEMENT. Rows are independent and parts of one color share no vertex, so threads change no byte. */
#include "dynamics/warp_internal.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 /* rows that a thread takes at once */ };

/* ---- rows ---- */

SP_CLONES static void times_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column, const double *B, const double *x, double *y)
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

/* y_i = R_i Σ_j K_ij (R_iᵀ (x_j − x_i) − s (X_j − X_i)): the rows of K sum to zero, and differences do not cancel far from the origin. */
SP_CLONES static void vertex_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column, const double *K, const double *rotation, const double *x, double s,
                                  const double *X, double *y)
{
    for (int64_t i = first; i < last; i++) {
        const double *R = rotation + 9 * i;
        double sum[3] = {0};
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double *m = K + 9 * k, *far = x + 3 * column[k], *rest = X + 3 * column[k], d[3] = {far[0] - x[3 * i], far[1] - x[3 * i + 1], far[2] - x[3 * i + 2]};
            double z[3];
            sp_warp_turn_back(R, d, z);
            for (int c = 0; c < 3; c++)
                z[c] -= s * (rest[c] - X[3 * i + c]);
            for (int c = 0; c < 3; c++)
                sum[c] += m[3 * c] * z[0] + m[3 * c + 1] * z[1] + m[3 * c + 2] * z[2];
        }
        sp_warp_turn(R, sum, y + 3 * i);
    }
}

/* y_i = Σ_j R_j K_ij z_j. */
SP_CLONES static void pair_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column, const double *K, const double *rotation, const double *z, double *y)
{
    for (int64_t i = first; i < last; i++) {
        double sum[3] = {0};
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double *m = K + 9 * k, *R = rotation + 9 * (int64_t)column[k], *v = z + 3 * column[k];
            double a[3];
            sp_warp_turn(m, v, a);
            for (int c = 0; c < 3; c++)
                sum[c] += R[3 * c] * a[0] + R[3 * c + 1] * a[1] + R[3 * c + 2] * a[2];
        }
        memcpy(y + 3 * i, sum, sizeof sum);
    }
}

/* to += scale · R from Rᵀ. */
SP_INLINE void add_turned(const double *R, const double *from, double scale, double *to)
{
    double a[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[3 * i + j] = R[3 * i] * from[j] + R[3 * i + 1] * from[3 + j] + R[3 * i + 2] * from[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[3 * i + j] += scale * (a[3 * i] * R[3 * j] + a[3 * i + 1] * R[3 * j + 1] + a[3 * i + 2] * R[3 * j + 2]);
}

SP_CLONES static void add_rows(int64_t first, int64_t last, const int64_t *start, const int32_t *column, const double *K, const double *rotation, bool pair, double scale, double *S)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            add_turned(rotation + 9 * (pair ? (int64_t)column[k] : i), K + 9 * k, scale, S + 9 * k);
}

static int64_t last_of(const sp_warped *w, int64_t first)
{
    return first + CHUNK < w->vertices ? first + CHUNK : w->vertices;
}

void sp_warp_times(const sp_warped *w, const double *B, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->large)
    for (int64_t first = 0; first < w->vertices; first += CHUNK)
        times_rows(first, last_of(w, first), w->start, w->column, B, x, y);
}

/* Of VERTEX and PAIR at x (s = 1), or along a velocity x (s = 0). */
static void all_rows(sp_warped *w, const double *x, double s, const double *centre, double *y)
{
    bool pair = w->p.kind == SP_WARP_PAIR;
    if (pair)
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->large)
        for (int64_t i = 0; i < w->vertices; i++) {
            const double from[3] = {x[3 * i] - centre[0], x[3 * i + 1] - centre[1], x[3 * i + 2] - centre[2]};
            sp_warp_turn_back(w->rotation + 9 * i, from, w->moved + 3 * i);
            for (int c = 0; c < 3; c++)
                w->moved[3 * i + c] -= s * (w->X[3 * i + c] - centre[3 + c]);
        }
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->large)
    for (int64_t first = 0; first < w->vertices; first += CHUNK)
        if (pair)
            pair_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, w->moved, y);
        else
            vertex_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, x, s, w->X, y);
}

void sp_warp_mean(const sp_warped *w, const double *x, double centre[3])
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

/* f_e = R K_e (Rᵀ(x_a − x_0) − s (X_a − X_0)), added to f; returns ½ uᵀ K_e u of what K_e [3·corners, 3·corners] is applied to. */
SP_INLINE double element_force(int corners, const int64_t *corner, const double *K, const double *R, const double *x, double s, const double *X, double *f)
{
    double u[24], g[24] = {0}, energy = 0;
    int n = 3 * corners;
    for (int a = 0; a < corners; a++) {
        double d[3];
        for (int c = 0; c < 3; c++)
            d[c] = x[3 * corner[a] + c] - x[3 * corner[0] + c];
        sp_warp_turn_back(R, d, u + 3 * a);
        for (int c = 0; c < 3; c++)
            u[3 * a + c] -= s * (X[3 * corner[a] + c] - X[3 * corner[0] + c]);
    }
    for (int j = 3; j < n; j++) /* u of the first corner is 0 */
        for (int i = 0; i < n; i++)
            g[i] += K[j * n + i] * u[j];
    for (int a = 0; a < corners; a++) {
        double turned[3];
        sp_warp_turn(R, g + 3 * a, turned);
        for (int c = 0; c < 3; c++) {
            energy += 0.5 * u[3 * a + c] * g[3 * a + c];
            f[3 * corner[a] + c] += turned[c];
        }
    }
    return energy;
}

SP_CLONES static double tet_force(const int64_t *corner, const double *K, const double *R, const double *x, double s, const double *X, double *f)
{
    return element_force(4, corner, K, R, x, s, X, f);
}

SP_CLONES static double hex_force(const int64_t *corner, const double *K, const double *R, const double *x, double s, const double *X, double *f)
{
    return element_force(8, corner, K, R, x, s, X, f);
}

SP_CLONES static void element_add(int corners, const int64_t *corner, const int32_t *offset, const int64_t *start, const double *K, const double *R, double scale, double *S)
{
    for (int a = 0; a < corners; a++)
        for (int b = a; b < corners; b++) {
            double block[9] = {0}, from[9];
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    from[3 * c + d] = K[(3 * a + c) * 3 * corners + 3 * b + d];
            add_turned(R, from, scale, block);
            double *to = S + 9 * (start[corner[a]] + offset[a * corners + b] / 3);
            for (int m = 0; m < 9; m++)
                to[m] += block[m];
            if (a == b)
                continue;
            to = S + 9 * (start[corner[b]] + offset[b * corners + a] / 3);
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    to[3 * c + d] += block[3 * d + c];
        }
}

static const double *matrix_of(const sp_warped *w, int64_t element)
{
    return w->matrix + w->matrix_start[w->all.element_class[element]];
}

/* The rotations are those at x; K_e is applied to v with s as above. */
static double all_elements(sp_warped *w, const double *x, const double *v, double s, double *f)
{
    double energy = 0;
    memset(f, 0, (size_t)(3 * w->vertices) * sizeof *f);
#pragma omp parallel num_threads(w->context->threads) if (w->many)
    for (int64_t color = 0; color < w->all.color_count; color++)
#pragma omp for schedule(static)
        for (int64_t part = w->all.color_parts[color]; part < w->all.color_parts[color + 1]; part++)
            for (int64_t b = w->all.part_start[part]; b < w->all.part_start[part + 1]; b++) {
                const sp_batch *batch = &w->all.batches[b];
                double R[SP_LANES][9], sum = 0;
                sp_warp_element_rotations(w, batch, x, R);
                for (int l = 0; l < batch->count; l++) {
                    int corners;
                    const int64_t e = batch->element[l], *corner = sp_mesh_corners(&w->mesh, e, &corners);
                    sum += (corners == 4 ? tet_force : hex_force)(corner, matrix_of(w, e), R[l], v, s, w->X, f);
                }
                w->all.batch_energy[b] = sum;
            }
    for (int64_t b = 0; b < w->all.batch_count; b++)
        energy += w->all.batch_energy[b];
    return energy;
}

/* ---- both ---- */

double sp_warp_force(sp_warped *w, const double *x, double *f)
{
    double centre[6] = {0};
    if (w->p.kind == SP_WARP_ELEMENT)
        return all_elements(w, x, x, 1, f);
    if (w->p.kind == SP_WARP_PAIR) {
        sp_warp_mean(w, x, centre);
        sp_warp_mean(w, w->X, centre + 3);
    }
    all_rows(w, x, 1, centre, f);
    return 0;
}

void sp_warp_tangent_times(sp_warped *w, const double *x, const double *v, double *y)
{
    double centre[6] = {0};
    if (w->p.kind == SP_WARP_ELEMENT) {
        all_elements(w, x, v, 0, y);
        return;
    }
    if (w->p.kind == SP_WARP_PAIR)
        sp_warp_mean(w, v, centre);
    all_rows(w, v, 0, centre, y);
}

void sp_warp_tangent_add(sp_warped *w, const double *x, double scale)
{
    if (w->p.kind != SP_WARP_ELEMENT) {
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->large)
        for (int64_t first = 0; first < w->vertices; first += CHUNK)
            add_rows(first, last_of(w, first), w->start, w->column, w->K, w->rotation, w->p.kind == SP_WARP_PAIR, scale, w->S);
        return;
    }
#pragma omp parallel num_threads(w->context->threads) if (w->many)
    for (int64_t color = 0; color < w->all.color_count; color++)
#pragma omp for schedule(static)
        for (int64_t part = w->all.color_parts[color]; part < w->all.color_parts[color + 1]; part++)
            for (int64_t b = w->all.part_start[part]; b < w->all.part_start[part + 1]; b++) {
                const sp_batch *batch = &w->all.batches[b];
                double R[SP_LANES][9];
                sp_warp_element_rotations(w, batch, x, R);
                for (int l = 0; l < batch->count; l++) {
                    int corners;
                    const int64_t e = batch->element[l], *corner = sp_mesh_corners(&w->mesh, e, &corners);
                    element_add(corners, corner, w->all.offset + w->all.offset_start[e], w->start, matrix_of(w, e), R[l], scale, w->S);
                }
            }
}

/* ---- the rigid part ---- */

void sp_warp_rigid_at(const sp_warped *w, const double *x, sp_warp_rigid *rigid)
{
    double I[9] = {0}, cofactor[9], trace;
    sp_warp_mean(w, x, rigid->centre);
    rigid->mass = 0;
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
    for (int k = 0; k < 9; k++) /* symmetric: cofactors are the adjugate; a body on a line has no inertia about it */
        rigid->inverse[k] = determinant > 1e-12 * trace * trace * trace ? cofactor[k] / determinant : 0;
}

void sp_warp_rigid_sums(const sp_warped *w, const sp_warp_rigid *rigid, const double *x, const double *f, double force[3], double torque[3])
{
    memset(force, 0, 3 * sizeof *force);
    memset(torque, 0, 3 * sizeof *torque);
    for (int64_t i = 0; i < w->vertices; i++) {
        const double r[3] = {x[3 * i] - rigid->centre[0], x[3 * i + 1] - rigid->centre[1], x[3 * i + 2] - rigid->centre[2]};
        double moment[3];
        sp_warp_cross(r, f + 3 * i, moment);
        for (int c = 0; c < 3; c++) {
            force[c] += f[3 * i + c];
            torque[c] += moment[c];
        }
    }
}

void sp_warp_rigid_remove(const sp_warped *w, const sp_warp_rigid *rigid, const double *x, double *f)
{
    double force[3], torque[3], turn[3];
    sp_warp_rigid_sums(w, rigid, x, f, force, torque);
    sp_warp_turn(rigid->inverse, torque, turn);
    for (int64_t i = 0; i < w->vertices; i++) {
        const double r[3] = {x[3 * i] - rigid->centre[0], x[3 * i + 1] - rigid->centre[1], x[3 * i + 2] - rigid->centre[2]};
        double across[3];
        sp_warp_cross(turn, r, across);
        for (int c = 0; c < 3; c++)
            f[3 * i + c] -= w->vertex_mass[i] * (force[c] / rigid->mass + across[c]);
    }
}
