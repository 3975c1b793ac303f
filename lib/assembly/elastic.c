#include "assembly/elastic.h"

#include "assembly/batch_kinds.h"
#include "base/vec3.h"
#include "material/stress.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    /* Numbers of batches below which more threads do not pay: a barrier per color costs microseconds on an idle machine
     * and milliseconds on a busy one. */
    SMALL_FORCE = 2048,
    SMALL_TANGENT = 256,
};

static double sum_lanes(const sp_batch *batch, const sp_lanes *value)
{
    double sum = 0;
    for (int l = 0; l < batch->count; l++)
        sum += (*value)[l];
    return sum;
}

static double total_energy(const sp_fe_space *space)
{
    double sum = 0;
    /* In the order of the batches, so that the sum does not depend on the threads. */
    for (int64_t b = 0; b < space->batch_count; b++)
        sum += space->batch_energy[b];
    return sum;
}

double sp_elastic_force(const sp_context *context, const sp_fe_space *space, const double *u, double *f)
{
    if (f)
        memset(f, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *f);
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_FORCE)
    {
        sp_element_lanes data;

        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;
            sp_element_lanes_load(space, batch, &data);
            sp_batch_gather(space, batch, u, displacement);
            sp_batch_force(&data, displacement, force, &energy);
            space->batch_energy[b] = sum_lanes(batch, &energy);
            if (f)
                sp_batch_add(space, batch, force, f);
        }
    }
    return total_energy(space);
}

int64_t sp_elastic_inverted(const sp_fe_space *space, const double *u)
{
    int64_t first = -1;
    sp_element_lanes data;
    sp_element_lanes_start(&data);

    for (int64_t b = 0; b < space->batch_count; b++) {
        const sp_batch *batch = &space->batches[b];
        sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;
        const sp_element_class *class = &space->classes[space->element_class[batch->element[0]]];

        if (sp_law_everywhere(space->mesh->materials[class->region].law))
            continue;

        /* The energy of an inverted element is not finite. */
        sp_element_lanes_load(space, batch, &data);
        sp_batch_gather(space, batch, u, displacement);
        sp_batch_force(&data, displacement, force, &energy);
        for (int l = 0; l < batch->count; l++)
            if (!isfinite(energy[l]) && (first < 0 || batch->element[l] < first))
                first = batch->element[l];
    }
    return first;
}

/* ---- tangent ---- */

double sp_elastic_tangent(const sp_context *context, const sp_fe_space *space, const double *u, double scale,
                          bool definite, double *f, sp_sparse *K)
{
    if (f)
        memset(f, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *f);
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_TANGENT)
    {
        sp_element_lanes data;
        sp_lanes block[SP_ELEMENT_BLOCKS][9];

        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;

            sp_element_lanes_load(space, batch, &data);
            sp_batch_gather(space, batch, u, displacement);
            sp_batch_tangent(&data, displacement, definite, force, block, &energy);
            space->batch_energy[b] = sum_lanes(batch, &energy);
            if (f)
                sp_batch_add(space, batch, force, f);
            sp_batch_add_blocks(space, batch, scale, block, K->value);
        }
    }
    return total_energy(space);
}

void sp_elastic_stress_stiffness(const sp_context *context, const sp_fe_space *space, const double *u, double scale,
                                 sp_sparse *K)
{
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_TANGENT)
    {
        sp_element_lanes data;
        sp_lanes block[SP_ELEMENT_BLOCKS][9];
        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3];

            sp_element_lanes_load(space, batch, &data);
            sp_batch_gather(space, batch, u, displacement);
            sp_batch_stress_stiffness(&data, displacement, block);
            sp_batch_add_blocks(space, batch, scale, block, K->value);
        }
    }
}

/* ---- tangent times a vector ---- */

void sp_elastic_tangent_times(const sp_context *context, const sp_fe_space *space, const double *u, const double *v,
                              double *y)
{
    memset(y, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *y);
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_FORCE)
    {
        sp_element_lanes data;
        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3], direction[SP_ELEMENT_NODES][3], product[SP_ELEMENT_NODES][3];

            sp_element_lanes_load(space, batch, &data);
            sp_batch_gather(space, batch, u, displacement);
            sp_batch_gather(space, batch, v, direction);
            sp_batch_tangent_times(&data, displacement, direction, product);
            sp_batch_add(space, batch, product, y);
        }
    }
}

/* ---- quadratic energies at rest ---- */

/* The data of one element in all lanes, and the tangent of its law at rest if it is evaluated at points. */
typedef struct rest_element {
    sp_element_lanes data;
    sp_lanes A[SP_TANGENT_ENTRIES];
} rest_element;

static void fill_rest(const sp_fe_space *space, int64_t element, rest_element *rest)
{
    const int64_t region = rest->data.region[0];
    sp_element_lanes_fill(space, element, &rest->data);
    /* The tangent changes with the region, or from element to element if these have data of their own. */
    if (!rest->data.by_pairs && (region != rest->data.region[0] || space->mesh->factor || space->mesh->fibre))
        sp_points_rest_tangent(&rest->data, rest->A);
}

/* Of the columns that are in the lanes of u [3·vertices]. */
static sp_lanes rest_energies(const sp_fe_space *space, const sp_lanes *u, rest_element *rest)
{
    sp_lanes sum = {0};
    sp_element_lanes_start(&rest->data);
    for (int64_t e = 0; e < sp_mesh_element_count(space->mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(space->mesh, e, &nodes);
        sp_lanes own[SP_ELEMENT_NODES][3], energy;

        fill_rest(space, e, rest);
        /* One element at a time, with the displacements of eight columns in its lanes. */
        for (int a = 0; a < nodes; a++)
            memcpy(own[a], u + 3 * node[a], sizeof own[a]);

        if (rest->data.by_pairs)
            sp_pairs_rest_energy(&rest->data, own, &energy);
        else
            sp_points_rest_energy(&rest->data, rest->A, own, &energy);
        sum += energy;
    }
    return sum;
}

int sp_elastic_rest_energies(sp_context *context, const sp_fe_space *space, int64_t count, const double *U,
                             double *energy)
{
    const int64_t rows = 3 * space->mesh->vertex_count, groups = (count + SP_LANES - 1) / SP_LANES;
    const int threads = context->threads < groups ? context->threads : (int)groups;
    sp_pool scratch = {0};
    sp_lanes *u = sp_pool_raw(&scratch, threads * rows, sizeof *u);
    rest_element *rest = sp_pool_raw(&scratch, threads, sizeof *rest);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = g * SP_LANES, used = count - first < SP_LANES ? count - first : SP_LANES;
        sp_lanes *own = u + omp_get_thread_num() * rows;
        const double *column[SP_LANES];

        /* Lanes beyond the last column repeat the first one. */
        for (int l = 0; l < SP_LANES; l++)
            column[l] = U + (first + (l < used ? l : 0)) * rows;
        sp_lanes_gather(rows, column, own);

        const sp_lanes sum = rest_energies(space, own, &rest[omp_get_thread_num()]);
        memcpy(energy + first, &sum, (size_t)used * sizeof *energy);
    }

    sp_pool_free(&scratch);
    return SP_OK;
}

/* ---- second derivatives at rest, and third ones ---- */

/* The data of a displacement that second derivatives use repeatedly, for each kind of evaluation. */
typedef union mode_lanes {
    sp_pairs_mode pairs;
    sp_lanes u[SP_ELEMENT_NODES][3];
} mode_lanes;

static void prepare_mode(const sp_fe_space *space, const sp_batch *batch, const sp_element_lanes *data, const double *U,
                         mode_lanes *mode)
{
    sp_lanes u[SP_ELEMENT_NODES][3];
    sp_batch_gather(space, batch, U, u);
    if (data->by_pairs)
        sp_pairs_prepare(data, u, &mode->pairs);
    else
        memcpy(mode->u, u, sizeof u);
}

/* ∂²f [u, v], or with w ∂³f [u, v, w]. */
static void derivative(const sp_element_lanes *data, mode_lanes *u, mode_lanes *v, mode_lanes *w, sp_lanes h[][3])
{
    if (data->by_pairs && w)
        sp_pairs_third(data, &u->pairs, &v->pairs, &w->pairs, h);
    else if (data->by_pairs)
        sp_pairs_second(data, &u->pairs, &v->pairs, h);
    else if (w)
        sp_points_third(data, u->u, v->u, w->u, h);
    else
        sp_points_second(data, u->u, v->u, h);
}

/* The derivatives of order 2 or 3, from `order` modes for each column. */
static int derivatives(sp_context *context, const sp_fe_space *space, int order, int64_t mode_count, const double *U,
                       int64_t count, const int64_t *number, double *H)
{
    int64_t rows = 3 * space->mesh->vertex_count;
    sp_pool scratch = {0};
    mode_lanes *all = sp_pool_raw(&scratch, context->threads * mode_count, sizeof *all);
    char *used = sp_pool_new(&scratch, mode_count, 1);
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t c = 0; c < order * count; c++)
        used[number[c]] = 1;

    memset(H, 0, (size_t)(rows * count) * sizeof *H);
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_TANGENT)
    {
        sp_element_lanes data;
        sp_element_lanes_start(&data);

        /* Each thread has its own prepared modes. */
        mode_lanes *mode = NULL;
#pragma omp critical
        {
            mode = all;
            all += mode_count;
        }

        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_element_lanes_load(space, batch, &data);

            /* A mode is prepared once for all columns that use it. */
            for (int64_t i = 0; i < mode_count; i++)
                if (used[i])
                    prepare_mode(space, batch, &data, U + i * rows, &mode[i]);

            for (int64_t c = 0; c < count; c++) {
                const int64_t *of = number + order * c;
                sp_lanes h[SP_ELEMENT_NODES][3];
                derivative(&data, &mode[of[0]], &mode[of[1]], order > 2 ? &mode[of[2]] : NULL, h);
                sp_batch_add(space, batch, h, H + c * rows);
            }
        }
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

int sp_elastic_second(sp_context *context, const sp_fe_space *space, int64_t mode_count, const double *U,
                      int64_t pair_count, const int64_t *pair, double *H)
{
    return derivatives(context, space, 2, mode_count, U, pair_count, pair, H);
}

int sp_elastic_third(sp_context *context, const sp_fe_space *space, int64_t mode_count, const double *U, int64_t count,
                     const int64_t *triple, double *H)
{
    return derivatives(context, space, 3, mode_count, U, count, triple, H);
}

/* ---- fields for rendering ---- */

static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

int sp_elastic_point_stress(sp_context *context, const sp_material *material, const double *H, const double *E,
                            double *S)
{
    /* S = C E + T a aᵀ */
    if (sp_material_quadratic(material)) {
        double C[36];
        SP_PASS(sp_material_stiffness(context, material, C));

        for (int k = 0; k < 6; k++) {
            S[k] = 0;
            for (int m = 0; m < 6; m++)
                S[k] += C[6 * k + m] * (m < 3 ? E[m] : 2 * E[m]);
            S[k] += material->fibre_tension * material->fibre_direction[voigt[k][0]] *
                    material->fibre_direction[voigt[k][1]];
        }
        return SP_OK;
    }

    sp_law_lanes law;
    sp_lanes lanes[9], W, P[9];
    for (int l = 0; l < SP_LANES; l++) {
        sp_law_set(&law, l, material);
        for (int k = 0; k < 9; k++)
            lanes[k][l] = H[k];
    }

    sp_law_evaluate(&law, lanes, false, &W, P, NULL);

    /* S = F⁻¹ P, from the cofactors of F */
    double F[9], J = 0, inverse[9];
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            inverse[3 * j + i] = F[3 * i1 + j1] * F[3 * i2 + j2] - F[3 * i1 + j2] * F[3 * i2 + j1];
        }

    for (int j = 0; j < 3; j++)
        J += F[j] * inverse[3 * j];

    for (int k = 0; k < 6; k++) {
        int i = voigt[k][0], j = voigt[k][1];
        S[k] = 0;
        for (int m = 0; m < 3; m++)
            S[k] += inverse[3 * i + m] * P[3 * m + j][0] / J;
    }
    return SP_OK;
}

/* Mean energy density of every element. */
static void mean_densities(const sp_fe_space *space, const double *u, double *density)
{
    sp_element_lanes data;
    sp_element_lanes_start(&data);

    for (int64_t b = 0; b < space->batch_count; b++) {
        const sp_batch *batch = &space->batches[b];
        sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;

        sp_element_lanes_load(space, batch, &data);
        sp_batch_gather(space, batch, u, displacement);
        sp_batch_force(&data, displacement, force, &energy);

        for (int l = 0; l < batch->count; l++)
            density[batch->element[l]] = energy[l] / space->classes[data.class[l]].volume;
    }
}

/* The displacement gradient H [9] and the Green–Lagrange strain E [6] at the centre of an element; false if it is
 * inverted or flat at rest. */
static bool centre_strain(const sp_mesh *mesh, const double *u, int64_t element, double H[9], double E[6])
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
    double X[SP_ELEMENT_NODES][3], gradient[SP_ELEMENT_NODES][3];
    const int type = sp_mesh_element_places(mesh, element, X);

    memset(H, 0, 9 * sizeof *H);
    if (!(sp_element_centre_gradients(type, X[0], gradient) > 0))
        return false;

    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                H[3 * i + j] += u[3 * node[a] + i] * gradient[a][j];

    /* E = ½ (H + Hᵀ + HᵀH) */
    for (int k = 0; k < 6; k++) {
        int i = voigt[k][0], j = voigt[k][1];
        E[k] = 0.5 * (H[3 * i + j] + H[3 * j + i]);
        for (int m = 0; m < 3; m++)
            E[k] += 0.5 * H[3 * m + i] * H[3 * m + j];
    }
    return true;
}

/* det(I + H) ≤ 0. */
static bool turned_over(const double H[9])
{
    double F[9], cross[3];
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);
    sp_cross3(F + 3, F + 6, cross);
    return sp_dot3(F, cross) <= 0;
}

int64_t sp_elastic_softened(const sp_fe_space *space, const double *u, int64_t *first)
{
    const sp_mesh *mesh = space->mesh;
    int64_t count = 0;
    *first = -1;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double H[9], E[6], compression[6];
        if (!sp_material_quadratic(&mesh->materials[mesh->region[e]]) || !centre_strain(mesh, u, e, H, E))
            continue;

        for (int k = 0; k < 6; k++)
            compression[k] = -E[k];

        /* The force E λ (λ² − 1)/2 of a bar is largest in compression at λ² = 1/3, where the strain (λ² − 1)/2 is
         * −1/3. */
        if ((sp_tensor_largest(compression) > 1.0 / 3 || turned_over(H)) && count++ == 0)
            *first = e;
    }
    return count;
}

int sp_elastic_fields(sp_context *context, const sp_fe_space *space, const double *u, double *strain, double *stress,
                      double *density)
{
    const sp_mesh *mesh = space->mesh;
    int64_t elements = sp_mesh_element_count(mesh);
    for (int64_t e = 0; e < elements; e++) {
        double H[9], E[6];
        if (!centre_strain(mesh, u, e, H, E))
            return sp_fail(context, SP_INPUT, "element %lld is inverted or flat", (long long)e);

        if (strain)
            memcpy(strain + 6 * e, E, sizeof E);
        sp_material scaled;
        int status =
            stress ? sp_elastic_point_stress(context, sp_mesh_material(mesh, e, &scaled), H, E, stress + 6 * e) : SP_OK;
        if (status != SP_OK)
            return status;
    }

    if (density)
        mean_densities(space, u, density);
    return SP_OK;
}

int sp_elastic_stiffness(sp_context *context, sp_fe_space *space, sp_sparse *K)
{
    sp_pool scratch = {0};
    *K = (sp_sparse){0};
    double *rest = sp_pool_new(&scratch, 3 * space->mesh->vertex_count, sizeof *rest);
    int status = rest ? sp_fe_space_pattern(context, space) : sp_fail_memory(context);

    if (status == SP_OK)
        status = sp_fe_space_matrix(context, space, K);
    /* K = ∂f/∂u at u = 0 */
    if (status == SP_OK)
        sp_elastic_tangent(context, space, rest, 1, false, NULL, K);
    sp_pool_free(&scratch);
    return status;
}
