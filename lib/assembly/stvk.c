#include "assembly/stvk.h"

#include "assembly/element.h"

#include <math.h>
#include <string.h>

enum {
    PACKED = SP_HEX_PAIRS * (SP_HEX_PAIRS + 1) / 2,
    /* Batches that threads do not pay for: a barrier per color costs microseconds on a free machine, milliseconds on a busy one. */
    SMALL_FORCE = 2048,
    SMALL_TANGENT = 256,
};

/* Eight elements side by side. */
typedef struct lanes_data {
    sp_lanes gram[PACKED];             /* G, packed upper triangle */
    sp_lanes edge[SP_HEX_PAIRS][3];    /* X_a − X_b */
    sp_lanes u[8][3];
    int64_t class[SP_LANES];           /* what gram and edge hold */
} lanes_data;

static void lanes_start(lanes_data *data)
{
    for (int l = 0; l < SP_LANES; l++)
        data->class[l] = -1;
}

/* Element matrices, only where the lane held another class before: on voxels once for all batches. */
static void load_classes(const sp_body *body, const sp_batch *batch, lanes_data *data)
{
    int pairs = sp_pair_count(batch->corners), packed = pairs * (pairs + 1) / 2;
    bool same = true;
    for (int l = 0; l < SP_LANES; l++)
        same = same && data->class[l] == body->element_class[batch->element[l]];
    if (same)
        return;
    const double *gram[SP_LANES], *edges[SP_LANES];
    for (int l = 0; l < SP_LANES; l++) {
        data->class[l] = body->element_class[batch->element[l]];
        gram[l] = body->classes[data->class[l]].gram;
        edges[l] = body->classes[data->class[l]].edges;
    }
    for (int k = 0; k < packed; k++)
        for (int l = 0; l < SP_LANES; l++)
            data->gram[k][l] = gram[l][k];
    for (int p = 0; p < pairs; p++)
        for (int i = 0; i < 3; i++)
            for (int l = 0; l < SP_LANES; l++)
                data->edge[p][i][l] = edges[l][3 * p + i];
}

static void load_vectors(const sp_body *body, const sp_batch *batch, const double *u, sp_lanes to[8][3])
{
    for (int l = 0; l < SP_LANES; l++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(body->mesh, batch->element[l], &corners);
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++)
                to[a][i][l] = u[3 * corner[a] + i];
    }
}

static void add_vectors(const sp_body *body, const sp_batch *batch, sp_lanes from[8][3], double *f)
{
    for (int l = 0; l < batch->count; l++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(body->mesh, batch->element[l], &corners);
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++)
                f[3 * corner[a] + i] += from[a][i][l];
    }
}

/* Differences over all pairs. */
SP_INLINE void differences(int corners, sp_lanes u[8][3], sp_lanes difference[SP_HEX_PAIRS][3])
{
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++)
            for (int i = 0; i < 3; i++)
                difference[p][i] = u[a][i] - u[b][i];
}

SP_INLINE sp_lanes dot(const sp_lanes a[3], const sp_lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* t = G d with G packed. */
SP_INLINE void gram_times(int pairs, const sp_lanes *gram, const sp_lanes *d, sp_lanes *t)
{
    for (int p = 0; p < pairs; p++)
        t[p] = (sp_lanes){0};
    for (int p = 0, at = 0; p < pairs; p++) {
        sp_lanes sum = gram[at++] * d[p];
        for (int q = p + 1; q < pairs; q++, at++) {
            sum += gram[at] * d[q];
            t[q] += gram[at] * d[p];
        }
        t[p] += sum;
    }
}

/* f_a += Σ_b w_ab, f_b −= w_ab. */
SP_INLINE void pairs_to_corners(int corners, sp_lanes w[SP_HEX_PAIRS][3], sp_lanes f[8][3])
{
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++)
            f[a][i] = (sp_lanes){0};
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++)
            for (int i = 0; i < 3; i++) {
                f[a][i] += w[p][i];
                f[b][i] -= w[p][i];
            }
}

/* Current edges x_ab = X_ab + u_ab, d = X·u + ½u·u (no cancellation at small u), t = G d; returns the energy per lane. */
SP_INLINE sp_lanes pair_state(int corners, lanes_data *data, sp_lanes x[SP_HEX_PAIRS][3], sp_lanes *t)
{
    int pairs = sp_pair_count(corners);
    sp_lanes d[SP_HEX_PAIRS], energy = {0};
    differences(corners, data->u, x);
    for (int p = 0; p < pairs; p++) {
        d[p] = dot(data->edge[p], x[p]) + 0.5 * dot(x[p], x[p]);
        for (int i = 0; i < 3; i++)
            x[p][i] += data->edge[p][i];
    }
    gram_times(pairs, data->gram, d, t);
    for (int p = 0; p < pairs; p++)
        energy += 0.5 * t[p] * d[p];
    return energy;
}

/* ---- force ---- */

SP_INLINE sp_lanes force_lanes(int corners, lanes_data *data, sp_lanes f[8][3])
{
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    sp_lanes energy = pair_state(corners, data, x, t);
    for (int p = 0; p < sp_pair_count(corners); p++)
        for (int i = 0; i < 3; i++)
            x[p][i] *= t[p];
    pairs_to_corners(corners, x, f);
    return energy;
}

SP_CLONES static void force_hex(lanes_data *data, sp_lanes f[8][3], sp_lanes *energy)
{
    *energy = force_lanes(8, data, f);
}

SP_CLONES static void force_tet(lanes_data *data, sp_lanes f[8][3], sp_lanes *energy)
{
    *energy = force_lanes(4, data, f);
}

static double sum_lanes(const sp_batch *batch, const sp_lanes *value)
{
    double sum = 0;
    for (int l = 0; l < batch->count; l++)
        sum += (*value)[l];
    return sum;
}

static double total_energy(const sp_body *body)
{
    double sum = 0;
    for (int64_t b = 0; b < body->batch_count; b++)
        sum += body->batch_energy[b];
    return sum;
}

double sp_stvk_force(const sp_context *context, const sp_body *body, const double *u, double *f)
{
    if (f)
        memset(f, 0, (size_t)(3 * body->mesh->vertex_count) * sizeof *f);
#pragma omp parallel num_threads(context->threads) if (body->batch_count > SMALL_FORCE)
    {
        lanes_data data;
        lanes_start(&data);
        for (int64_t color = 0; color < body->color_count; color++)
#pragma omp for schedule(static)
            for (int64_t b = body->color_start[color]; b < body->color_start[color + 1]; b++) {
                const sp_batch *batch = &body->batches[b];
                sp_lanes force[8][3], energy;
                load_classes(body, batch, &data);
                load_vectors(body, batch, u, data.u);
                (batch->corners == 8 ? force_hex : force_tet)(&data, force, &energy);
                body->batch_energy[b] = sum_lanes(batch, &energy);
                if (f)
                    add_vectors(body, batch, force, f);
            }
    }
    return total_energy(body);
}

/* ---- tangent ---- */

SP_INLINE int packed_index(int pairs, int p, int q)
{
    int low = p < q ? p : q, high = p < q ? q : p;
    return low * pairs - low * (low - 1) / 2 + high - low;
}

/* Blocks a ≤ c of the element's tangent: K_ac = Σ_b Σ_d x_ab G_ab,cd x_cdᵀ plus the geometric part t_ab (δ_ac − δ_bc) I. */
SP_INLINE sp_lanes tangent_lanes(int corners, lanes_data *data, bool definite, sp_lanes f[8][3], sp_lanes block[36][9])
{
    int pairs = sp_pair_count(corners);
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    sp_lanes energy = pair_state(corners, data, x, t);
    for (int a = 0, at = 0; a < corners; a++)
        for (int c = a; c < corners; c++, at++) {
            for (int k = 0; k < 9; k++)
                block[at][k] = (sp_lanes){0};
            for (int d = 0; d < corners; d++) {
                if (d == c)
                    continue;
                int q = sp_pair_index(corners, c, d);
                sp_lanes y[3] = {{0}, {0}, {0}};
                for (int b = 0; b < corners; b++) {
                    if (b == a)
                        continue;
                    int p = sp_pair_index(corners, a, b);
                    sp_lanes g = data->gram[packed_index(pairs, p, q)];
                    if (a > b)
                        g = -g; /* x[p] is x_b − x_a then */
                    for (int i = 0; i < 3; i++)
                        y[i] += g * x[p][i];
                }
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        block[at][3 * i + j] += c < d ? y[i] * x[q][j] : -y[i] * x[q][j];
            }
        }
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++) {
            sp_lanes tension = t[p];
            if (definite)
                for (int l = 0; l < SP_LANES; l++)
                    tension[l] = tension[l] > 0 ? tension[l] : 0;
            for (int i = 0; i < 3; i++) {
                block[packed_index(corners, a, a)][4 * i] += tension;
                block[packed_index(corners, b, b)][4 * i] += tension;
                block[packed_index(corners, a, b)][4 * i] -= tension;
                x[p][i] *= t[p];
            }
        }
    pairs_to_corners(corners, x, f);
    return energy;
}

SP_CLONES static void tangent_hex(lanes_data *data, bool definite, sp_lanes f[8][3], sp_lanes block[36][9], sp_lanes *energy)
{
    *energy = tangent_lanes(8, data, definite, f, block);
}

SP_CLONES static void tangent_tet(lanes_data *data, bool definite, sp_lanes f[8][3], sp_lanes block[36][9], sp_lanes *energy)
{
    *energy = tangent_lanes(4, data, definite, f, block);
}

/* Adds one lane's blocks to the rows of K. */
static void add_blocks(const sp_body *body, int64_t element, int lane, double scale, sp_lanes block[36][9], double *value)
{
    int corners;
    const int64_t *corner = sp_mesh_corners(body->mesh, element, &corners);
    const int32_t *offset = body->offset + body->offset_start[element];
    for (int a = 0; a < corners; a++) {
        const int64_t *row = body->dof + 3 * corner[a];
        for (int c = 0; c < corners; c++) {
            const sp_lanes *b = block[packed_index(corners, a, c)];
            const int64_t *column = body->dof + 3 * corner[c];
            bool whole = column[0] >= 0 && column[1] >= 0 && column[2] >= 0;
            for (int i = 0; i < 3; i++) {
                if (row[i] < 0)
                    continue;
                double *to = value + body->pattern.start[row[i]] + offset[a * corners + c];
                int i0 = a <= c ? 3 * i : i, step = a <= c ? 1 : 3;
                if (whole) {
                    to[0] += scale * b[i0][lane];
                    to[1] += scale * b[i0 + step][lane];
                    to[2] += scale * b[i0 + 2 * step][lane];
                } else
                    for (int j = 0; j < 3; j++)
                        if (column[j] >= 0)
                            *to++ += scale * b[i0 + j * step][lane];
            }
        }
    }
}

double sp_stvk_tangent(const sp_context *context, const sp_body *body, const double *u, double scale, bool definite, double *f, sp_sparse *K)
{
    if (f)
        memset(f, 0, (size_t)(3 * body->mesh->vertex_count) * sizeof *f);
#pragma omp parallel num_threads(context->threads) if (body->batch_count > SMALL_TANGENT)
    {
        lanes_data data;
        sp_lanes block[36][9];
        lanes_start(&data);
        for (int64_t color = 0; color < body->color_count; color++)
#pragma omp for schedule(static)
            for (int64_t b = body->color_start[color]; b < body->color_start[color + 1]; b++) {
                const sp_batch *batch = &body->batches[b];
                sp_lanes force[8][3], energy;
                load_classes(body, batch, &data);
                load_vectors(body, batch, u, data.u);
                (batch->corners == 8 ? tangent_hex : tangent_tet)(&data, definite, force, block, &energy);
                body->batch_energy[b] = sum_lanes(batch, &energy);
                if (f)
                    add_vectors(body, batch, force, f);
                for (int l = 0; l < batch->count; l++)
                    add_blocks(body, batch->element[l], l, scale, block, K->value);
            }
    }
    return total_energy(body);
}

/* ---- tangent times a vector ---- */

SP_INLINE void tangent_times_lanes(int corners, lanes_data *data, sp_lanes v[8][3], sp_lanes y[8][3])
{
    int pairs = sp_pair_count(corners);
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], s[SP_HEX_PAIRS];
    pair_state(corners, data, x, t);
    differences(corners, v, w);
    for (int p = 0; p < pairs; p++)
        d[p] = dot(x[p], w[p]);
    gram_times(pairs, data->gram, d, s);
    for (int p = 0; p < pairs; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * w[p][i] + s[p] * x[p][i];
    pairs_to_corners(corners, w, y);
}

SP_CLONES static void tangent_times_hex(lanes_data *data, sp_lanes v[8][3], sp_lanes y[8][3])
{
    tangent_times_lanes(8, data, v, y);
}

SP_CLONES static void tangent_times_tet(lanes_data *data, sp_lanes v[8][3], sp_lanes y[8][3])
{
    tangent_times_lanes(4, data, v, y);
}

void sp_stvk_tangent_times(const sp_context *context, const sp_body *body, const double *u, const double *v, double *y)
{
    memset(y, 0, (size_t)(3 * body->mesh->vertex_count) * sizeof *y);
#pragma omp parallel num_threads(context->threads) if (body->batch_count > SMALL_FORCE)
    {
        lanes_data data;
        lanes_start(&data);
        for (int64_t color = 0; color < body->color_count; color++)
#pragma omp for schedule(static)
            for (int64_t b = body->color_start[color]; b < body->color_start[color + 1]; b++) {
                const sp_batch *batch = &body->batches[b];
                sp_lanes direction[8][3], product[8][3];
                load_classes(body, batch, &data);
                load_vectors(body, batch, u, data.u);
                load_vectors(body, batch, v, direction);
                (batch->corners == 8 ? tangent_times_hex : tangent_times_tet)(&data, direction, product);
                add_vectors(body, batch, product, y);
            }
    }
}

/* ---- second derivatives at rest ---- */

/* What each mode needs once per batch: its pair differences and t = G (X·u). */
typedef struct mode_lanes {
    sp_lanes difference[SP_HEX_PAIRS][3];
    sp_lanes t[SP_HEX_PAIRS];
} mode_lanes;

SP_INLINE void prepare_mode(int corners, lanes_data *data, mode_lanes *mode)
{
    int pairs = sp_pair_count(corners);
    sp_lanes d[SP_HEX_PAIRS];
    differences(corners, data->u, mode->difference);
    for (int p = 0; p < pairs; p++)
        d[p] = dot(data->edge[p], mode->difference[p]);
    gram_times(pairs, data->gram, d, mode->t);
}

/* ∂²f_a/∂u² [u,v] = Σ_b (G (u·v))_ab X_ab + (G (X·u))_ab v_ab + (G (X·v))_ab u_ab. */
SP_INLINE void second_lanes(int corners, lanes_data *data, const mode_lanes *u, const mode_lanes *v, sp_lanes h[8][3])
{
    int pairs = sp_pair_count(corners);
    sp_lanes d[SP_HEX_PAIRS], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3];
    for (int p = 0; p < pairs; p++)
        d[p] = dot(u->difference[p], v->difference[p]);
    gram_times(pairs, data->gram, d, t);
    for (int p = 0; p < pairs; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * data->edge[p][i] + u->t[p] * v->difference[p][i] + v->t[p] * u->difference[p][i];
    pairs_to_corners(corners, w, h);
}

SP_CLONES static void prepare_hex(lanes_data *data, mode_lanes *mode)
{
    prepare_mode(8, data, mode);
}

SP_CLONES static void prepare_tet(lanes_data *data, mode_lanes *mode)
{
    prepare_mode(4, data, mode);
}

SP_CLONES static void second_hex(lanes_data *data, const mode_lanes *u, const mode_lanes *v, sp_lanes h[8][3])
{
    second_lanes(8, data, u, v, h);
}

SP_CLONES static void second_tet(lanes_data *data, const mode_lanes *u, const mode_lanes *v, sp_lanes h[8][3])
{
    second_lanes(4, data, u, v, h);
}

int sp_stvk_second(sp_context *context, const sp_body *body, int64_t mode_count, const double *U, int64_t pair_count, const int64_t *pair, double *H)
{
    int64_t rows = 3 * body->mesh->vertex_count;
    sp_pool scratch = {0};
    mode_lanes *all = sp_pool_raw(&scratch, context->threads * mode_count, sizeof *all);
    char *used = sp_pool_new(&scratch, mode_count, 1);
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }
    for (int64_t c = 0; c < 2 * pair_count; c++)
        used[pair[c]] = 1;
    memset(H, 0, (size_t)(rows * pair_count) * sizeof *H);
#pragma omp parallel num_threads(context->threads) if (body->batch_count > SMALL_TANGENT)
    {
        lanes_data data;
        lanes_start(&data);
        mode_lanes *mode = NULL;
#pragma omp critical
        {
            mode = all;
            all += mode_count;
        }
        for (int64_t color = 0; color < body->color_count; color++)
#pragma omp for schedule(static)
            for (int64_t b = body->color_start[color]; b < body->color_start[color + 1]; b++) {
                const sp_batch *batch = &body->batches[b];
                load_classes(body, batch, &data);
                for (int64_t i = 0; i < mode_count; i++)
                    if (used[i]) {
                        load_vectors(body, batch, U + i * rows, data.u);
                        (batch->corners == 8 ? prepare_hex : prepare_tet)(&data, &mode[i]);
                    }
                for (int64_t c = 0; c < pair_count; c++) {
                    sp_lanes h[8][3];
                    (batch->corners == 8 ? second_hex : second_tet)(&data, &mode[pair[2 * c]], &mode[pair[2 * c + 1]], h);
                    add_vectors(body, batch, h, H + c * rows);
                }
            }
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

/* ---- fields for pictures ---- */

int sp_stvk_fields(sp_context *context, const sp_body *body, const double *u, double *strain, double *stress, double *density)
{
    const sp_mesh *mesh = body->mesh;
    int64_t elements = sp_mesh_element_count(mesh);
    for (int64_t e = 0; e < elements; e++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        const sp_element_class *class = &body->classes[body->element_class[e]];
        double X[24], F[9] = {0}, E[6], C[36];
        for (int a = 0; a < corners; a++)
            memcpy(X + 3 * a, mesh->vertices + 3 * corner[a], 3 * sizeof *X);
        double gradient[8][3];
        if (!(sp_element_centre_gradients(corners, X, gradient) > 0))
            return sp_fail(context, SP_INPUT, "element %lld is inverted or flat", (long long)e);
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    F[3 * i + j] += u[3 * corner[a] + i] * gradient[a][j]; /* the displacement gradient */
        static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
        for (int k = 0; k < 6; k++) {
            int i = voigt[k][0], j = voigt[k][1];
            E[k] = 0.5 * (F[3 * i + j] + F[3 * j + i]);
            for (int m = 0; m < 3; m++)
                E[k] += 0.5 * F[3 * m + i] * F[3 * m + j];
        }
        if (strain)
            memcpy(strain + 6 * e, E, sizeof E);
        if (stress) {
            int status = sp_material_stiffness(context, &mesh->materials[mesh->region[e]], C);
            if (status != SP_OK)
                return status;
            for (int k = 0; k < 6; k++) {
                stress[6 * e + k] = 0;
                for (int m = 0; m < 6; m++)
                    stress[6 * e + k] += C[6 * k + m] * (m < 3 ? E[m] : 2 * E[m]);
            }
        }
        if (density) {
            double d[SP_HEX_PAIRS], energy = 0;
            int pairs = sp_pair_count(corners);
            for (int a = 0, p = 0; a < corners; a++)
                for (int b = a + 1; b < corners; b++, p++) {
                    d[p] = 0;
                    for (int i = 0; i < 3; i++) {
                        double v = u[3 * corner[a] + i] - u[3 * corner[b] + i];
                        d[p] += class->edges[3 * p + i] * v + 0.5 * v * v;
                    }
                }
            for (int p = 0, at = 0; p < pairs; p++)
                for (int q = p; q < pairs; q++, at++)
                    energy += (p == q ? 0.5 : 1) * class->gram[at] * d[p] * d[q];
            density[e] = energy / class->volume;
        }
    }
    return SP_OK;
}

int sp_stvk_stiffness(sp_context *context, sp_body *body, sp_sparse *K)
{
    sp_pool scratch = {0};
    *K = (sp_sparse){0};
    double *rest = sp_pool_new(&scratch, 3 * body->mesh->vertex_count, sizeof *rest);
    int status = rest ? sp_body_pattern(context, body) : sp_fail_memory(context);
    if (status == SP_OK)
        status = sp_body_matrix(context, body, K);
    if (status == SP_OK)
        sp_stvk_tangent(context, body, rest, 1, false, NULL, K);
    sp_pool_free(&scratch);
    return status;
}
