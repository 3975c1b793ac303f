#include "geometry/pseudonormal.h"

#include <math.h>

#include "base/forest.h"
#include "base/vec3.h"
#include "geometry/edges.h"

/* The corner of a triangle (3·triangle + 0…2) at this vertex, which is one of the two ends of the given side. */
static int64_t corner_at(const sp_surface *surface, int64_t side, int64_t vertex)
{
    return surface->triangles[side] == vertex ? side : side / 3 * 3 + (side + 1) % 3;
}

/* Joins corners at the same vertex of triangles that share an edge: fan [3·triangles] are roots. Returns false if an
 * edge does not have exactly one use in each direction. */
static bool join_fans(const sp_surface *surface, const sp_edge_use *uses, int64_t count, int64_t *fan)
{
    for (int64_t i = 0; i < 3 * surface->triangle_count; i++)
        fan[i] = i;
    for (int64_t i = 0, end; i < count; i = end) {
        end = sp_edge_end(uses, count, i);
        if (end - i != 2 ||
            sp_edge_direction(&uses[i], surface->triangles) + sp_edge_direction(&uses[i + 1], surface->triangles) != 0)
            return false;
        sp_forest_join(fan, corner_at(surface, uses[i].corner, uses[i].low),
                       corner_at(surface, uses[i + 1].corner, uses[i].low));
        sp_forest_join(fan, corner_at(surface, uses[i].corner, uses[i].high),
                       corner_at(surface, uses[i + 1].corner, uses[i].high));
    }
    return true;
}

/* Returns true if every vertex has one fan; fans [vertices] is scratch. */
static bool one_fan_each(const sp_surface *surface, int64_t *fan, int64_t *fans)
{
    for (int64_t v = 0; v < surface->vertex_count; v++)
        fans[v] = -1;

    for (int64_t i = 0; i < 3 * surface->triangle_count; i++) {
        int64_t *there = &fans[surface->triangles[i]];
        const int64_t root = fan[i] = sp_forest_root(fan, i);
        if (*there >= 0 && *there != root)
            return false;
        *there = root;
    }
    return true;
}

static void face_normals(const sp_surface *surface, double *face)
{
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        const int64_t *v = surface->triangles + 3 * t;
        double e[3], f[3], n[3];
        sp_subtract3(surface->vertices + 3 * v[1], surface->vertices + 3 * v[0], e);

        sp_subtract3(surface->vertices + 3 * v[2], surface->vertices + 3 * v[0], f);
        sp_cross3(e, f, n);
        const double size = sp_norm3(n);
        for (int k = 0; k < 3; k++)
            face[3 * t + k] = size > 0 ? n[k] / size : 0;
    }
}

static double corner_angle(const sp_surface *surface, int64_t corner)
{
    const int64_t *v = surface->triangles + corner / 3 * 3;
    double e[3], f[3], n[3];

    sp_subtract3(surface->vertices + 3 * v[(corner + 1) % 3], surface->vertices + 3 * v[corner % 3], e);
    sp_subtract3(surface->vertices + 3 * v[(corner + 2) % 3], surface->vertices + 3 * v[corner % 3], f);
    sp_cross3(e, f, n);

    /* Unlike acos of the normalized product, this is accurate for angles near 0 and π. */
    return atan2(sp_norm3(n), sp_dot3(e, f));
}

int sp_pseudonormals_new(sp_context *context, const sp_surface *surface, bool *manifold, sp_pseudonormals *normals)
{
    const int64_t n = surface->triangle_count;
    int64_t count;
    int status = SP_OK;
    sp_pool pool = {0};

    *normals = (sp_pseudonormals){0};
    *manifold = false;

    sp_edge_use *uses = sp_edge_uses(&pool, surface->vertex_count, n, surface->triangles, NULL, &count);
    int64_t *fan = sp_pool_raw(&pool, 3 * n, sizeof *fan),
            *fans = sp_pool_raw(&pool, surface->vertex_count, sizeof *fans);
    SP_TRY(sp_allocated(context, !pool.failed));

    if (n == 0 || !join_fans(surface, uses, count, fan) || !one_fan_each(surface, fan, fans))
        goto done;

    normals->face = sp_pool_raw(&normals->pool, 3 * n, sizeof(double));
    normals->side = sp_pool_raw(&normals->pool, 9 * n, sizeof(double));
    normals->corner = sp_pool_new(&normals->pool, 9 * n, sizeof(double));
    if (normals->pool.failed) {
        sp_pool_free(&normals->pool);
        status = sp_fail_memory(context);
        goto done;
    }

    *manifold = true;
    face_normals(surface, normals->face);
    for (int64_t i = 0; i < count; i += 2)
        for (int k = 0; k < 3; k++) {
            const double sum =
                normals->face[uses[i].corner / 3 * 3 + k] + normals->face[uses[i + 1].corner / 3 * 3 + k];
            normals->side[3 * uses[i].corner + k] = normals->side[3 * uses[i + 1].corner + k] = sum;
        }

    /* Sums are made at the root of each fan, then copied to its other corners. */
    for (int64_t i = 0; i < 3 * n; i++) {
        const double angle = corner_angle(surface, i);
        for (int k = 0; k < 3; k++)
            normals->corner[3 * fan[i] + k] += angle * normals->face[i / 3 * 3 + k];
    }
    for (int64_t i = 0; i < 3 * n; i++)
        for (int k = 0; k < 3; k++)
            normals->corner[3 * i + k] = normals->corner[3 * fan[i] + k];
done:
    sp_pool_free(&pool);
    return status;
}

const double *sp_pseudonormals_find(const sp_pseudonormals *normals, const sp_nearest *nearest)
{
    return nearest->on == SP_ON_FACE    ? normals->face + 3 * nearest->triangle
           : nearest->on < SP_ON_CORNER ? normals->side + 9 * nearest->triangle + 3 * (nearest->on - SP_ON_SIDE)
                                        : normals->corner + 9 * nearest->triangle + 3 * (nearest->on - SP_ON_CORNER);
}

bool sp_pseudonormals_inside(const sp_pseudonormals *normals, const sp_nearest *nearest)
{
    const double *n = sp_pseudonormals_find(normals, nearest);
    return n[0] * nearest->offset[0] + n[1] * nearest->offset[1] + n[2] * nearest->offset[2] < 0;
}
