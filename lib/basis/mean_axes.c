#include "basis/mean_axes.h"

#include "base/mat3.h"
#include "material/law.h"

int sp_mean_axes_new(sp_context *context, const sp_fe_space *space, const sp_sparse *M, sp_mean_axes *axes)
{
    const int64_t count = space->mesh->vertex_count, n = space->dof_count;
    sp_pool scratch = {0};
    int status = SP_OK;
    *axes = (sp_mean_axes){.vertex_count = count};
    if (n != 3 * count)
        return sp_fail(context, SP_INPUT, "it has fixed vertices: only a free body has a rigid motion");

    axes->mass_of = sp_pool_raw(&axes->pool, count, sizeof *axes->mass_of);
    axes->arm = sp_pool_raw(&axes->pool, n, sizeof *axes->arm);
    axes->moment = sp_pool_raw(&axes->pool, n, sizeof *axes->moment);
    double *field = sp_pool_raw(&scratch, n, sizeof *field), *product = sp_pool_raw(&scratch, n, sizeof *product);
    SP_TRY(sp_allocated(context, !axes->pool.failed && !scratch.failed));

    /* M times a unit translation, whose components are all alike */
    double first[3] = {0};
    for (int64_t i = 0; i < n; i++)
        field[i] = 1;
    sp_sparse_times(context, M, 1, field, product);
    sp_fe_space_scatter(space, product, axes->moment);
    for (int64_t v = 0; v < count; v++) {
        axes->mass_of[v] = axes->moment[3 * v];
        axes->mass += axes->mass_of[v];
        for (int i = 0; i < 3; i++)
            first[i] += axes->mass_of[v] * space->mesh->vertices[3 * v + i];
    }

    for (int64_t v = 0; v < count; v++)
        for (int i = 0; i < 3; i++)
            axes->arm[3 * v + i] = space->mesh->vertices[3 * v + i] - first[i] / axes->mass;
    sp_fe_space_gather(space, axes->arm, field);
    sp_sparse_times(context, M, 1, field, product);
    sp_fe_space_scatter(space, product, axes->moment);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_mean_axes_free(axes);
    return status;
}

void sp_mean_axes_free(sp_mean_axes *axes)
{
    sp_pool_free(&axes->pool);
}

void sp_mean_axes_deformation(const sp_mean_axes *axes, double *u)
{
    double mean[3] = {0}, turn[9];

    /* x − C; its mean is the translation */
    for (int64_t v = 0; v < axes->vertex_count; v++) {
        for (int i = 0; i < 3; i++) {
            u[3 * v + i] += axes->arm[3 * v + i];
            mean[i] += axes->mass_of[v] / axes->mass * u[3 * v + i];
        }
    }

    /* B = ∫ρ (x − c) X̃ᵀ; the rotation with the largest tr(RᵀB) is the one with the least ∫ρ|d|². */
    sp_lanes B[9] = {0}, R[9];
    for (int64_t v = 0; v < axes->vertex_count; v++) {
        sp_subtract3(u + 3 * v, mean, u + 3 * v);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                B[3 * i + j] += u[3 * v + i] * axes->moment[3 * v + j];
    }
    sp_nearest_rotation(B, R);
    for (int k = 0; k < 9; k++)
        turn[k] = R[k][0];

    for (int64_t v = 0; v < axes->vertex_count; v++) {
        double y[3];
        sp_rotate_back(turn, u + 3 * v, y);
        sp_subtract3(y, axes->arm + 3 * v, u + 3 * v);
    }
}
