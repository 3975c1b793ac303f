#include "assembly/viscous.h"

#include "assembly/batch_kinds.h"

#include <math.h>
#include <string.h>

enum {
    /* Numbers of batches below which more threads do not pay. */
    SMALL_TIMES = 2048,
    SMALL_MATRIX = 256,
};

int sp_viscosity_check(sp_context *context, sp_viscosity viscosity)
{
    double phi = viscosity.phi, psi = viscosity.psi;
    if (!isfinite(phi) || !isfinite(psi) || !(psi >= 0) || !(3 * phi + 2 * psi >= 0))
        return sp_fail(context, SP_USAGE, "viscosities %g and %g Pa s: psi and 3 phi + 2 psi may not be negative", phi,
                       psi);
    return SP_OK;
}

/* ---- element matrices ---- */

static int add_class(sp_context *context, sp_viscous *viscous, int64_t number, sp_viscosity viscosity)
{
    const sp_fe_space *space = viscous->space;
    const sp_element_class *class = &space->classes[number];
    double X[SP_ELEMENT_NODES][3], C[36], full[SP_HEX_PAIRS * SP_HEX_PAIRS];
    sp_quadrature quadrature;
    const int pairs = SP_HEX_PAIRS, type = sp_mesh_element_places(space->mesh, class->element, X);

    /* The space exists, so that the element is not inverted. */
    sp_element_quadrature(&space->references[2 * type], X[0], &quadrature);

    /* φ tr(Ė) I + 2ψ Ė in Voigt notation, with engineering shear strains */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const double own = i < 3 ? 2 * viscosity.psi : viscosity.psi;
            C[6 * i + j] = (i < 3 && j < 3 ? viscosity.phi : 0) + (i == j ? own : 0);
        }

    sp_element_gram(8, &quadrature, C, full);
    double *gram = sp_pool_raw(&viscous->pool, pairs * (pairs + 1) / 2, sizeof *gram);
    SP_PASS(sp_allocated(context, gram));

    for (int p = 0, at = 0; p < pairs; p++)
        for (int q = p; q < pairs; q++)
            gram[at++] = full[p * pairs + q];
    viscous->gram[number] = gram;
    return SP_OK;
}

int sp_viscous_new(sp_context *context, const sp_fe_space *space, const sp_viscosity *viscosity, sp_viscous *viscous)
{
    int status = SP_OK;

    *viscous = (sp_viscous){.space = space};
    viscous->gram = sp_pool_new(&viscous->pool, space->class_count, sizeof *viscous->gram);
    viscous->viscosity = sp_pool_copy(&viscous->pool, viscosity, space->mesh->material_count, sizeof *viscosity);
    if (viscous->pool.failed) {
        sp_viscous_free(viscous);
        return sp_fail_memory(context);
    }

    /* Classes in squared edge lengths that damp need a Gram matrix of their own. */
    for (int64_t k = 0; k < space->class_count; k++) {
        sp_viscosity of_class = viscosity[space->classes[k].region];
        if (space->classes[k].gram && (of_class.phi != 0 || of_class.psi != 0))
            SP_TRY(add_class(context, viscous, k, of_class));
    }
done:
    if (status != SP_OK)
        sp_viscous_free(viscous);
    return status;
}

void sp_viscous_free(sp_viscous *viscous)
{
    sp_pool_free(&viscous->pool);
    *viscous = (sp_viscous){0};
}

/* ---- sums over elements ---- */

/* Loads the Gram matrices of classes in squared edge lengths. */
static void load_pairs(const sp_viscous *viscous, sp_element_lanes *data)
{
    const int pairs = SP_HEX_PAIRS, packed = SP_PACKED_PAIRS;
    for (int l = 0; l < SP_LANES; l++) {
        const double *gram = viscous->gram[data->class[l]], *edges = viscous->space->classes[data->class[l]].edges;
        for (int k = 0; k < packed; k++)
            data->gram[k][l] = gram ? gram[k] : 0;
        for (int p = 0; p < pairs; p++)
            for (int i = 0; i < 3; i++)
                data->edge[p][i][l] = edges[3 * p + i];
    }
}

/* Loads element data if a lane had another class before. Returns false if none of the elements has damping. */
static bool load(const sp_viscous *viscous, const sp_batch *batch, sp_element_lanes *data)
{
    const sp_fe_space *space = viscous->space;
    bool same = true, damps = false;

    for (int l = 0; l < SP_LANES; l++) {
        const int64_t class = space->element_class[batch->element[l]];
        const sp_viscosity of_class = viscous->viscosity[space->classes[class].region];
        same = same && data->class[l] == class;
        damps = damps || of_class.phi != 0 || of_class.psi != 0;
    }

    if (same || !damps)
        return damps;

    /* The lanes keep what they have while batches of the same classes follow one another. */
    for (int l = 0; l < SP_LANES; l++) {
        data->class[l] = space->element_class[batch->element[l]];
        const sp_viscosity of_class = viscous->viscosity[space->classes[data->class[l]].region];
        data->viscosity[0][l] = of_class.phi;
        data->viscosity[1][l] = of_class.psi;
    }

    data->nodes = batch->nodes;
    data->by_pairs = space->classes[data->class[0]].gram != NULL;
    if (data->by_pairs)
        load_pairs(viscous, data);
    else
        sp_element_lanes_geometry(space, data);
    return true;
}

void sp_viscous_times(const sp_context *context, const sp_viscous *viscous, const double *u, const double *v, double *y)
{
    const sp_fe_space *space = viscous->space;
    memset(y, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *y);
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_TIMES)
    {
        sp_element_lanes data;
        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3], velocity[SP_ELEMENT_NODES][3], product[SP_ELEMENT_NODES][3];

            if (!load(viscous, batch, &data))
                continue;

            sp_batch_gather(space, batch, u, displacement);
            sp_batch_gather(space, batch, v, velocity);
            (data.by_pairs ? sp_pairs_material_times : sp_points_damping_times)(&data, displacement, velocity, product);
            sp_batch_add(space, batch, product, y);
        }
    }
}

void sp_viscous_matrix(const sp_context *context, const sp_viscous *viscous, const double *u, double scale,
                       sp_sparse *D)
{
    const sp_fe_space *space = viscous->space;
#pragma omp parallel num_threads(context->threads) if (space->batch_count > SMALL_MATRIX)
    {
        sp_element_lanes data;
        sp_element_lanes_start(&data);
        SP_EACH_BATCH(space, b)
        {
            const sp_batch *batch = &space->batches[b];
            sp_lanes displacement[SP_ELEMENT_NODES][3], block[SP_ELEMENT_BLOCKS][9];

            if (!load(viscous, batch, &data))
                continue;

            sp_batch_gather(space, batch, u, displacement);
            (data.by_pairs ? sp_pairs_material_tangent : sp_points_damping_matrix)(&data, displacement, block);
            sp_batch_add_blocks(space, batch, scale, block, D->value);
        }
    }
}
