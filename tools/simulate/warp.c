#include "tools/simulate/warp.h"

#include <string.h>

sp_external_loads warp_loads(simulation *s)
{
    static const double none[3] = {0};
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;

    if (!s->choice->warp)
        return sp_load_set_external(&s->model.loads);

    simulate_warp *warp = s->warp = tool_allocate(&s->pool, 1, sizeof *s->warp);
    warp->u = tool_allocate(&s->pool, rows, sizeof *warp->u);
    warp->v = tool_allocate(&s->pool, rows, sizeof *warp->v);
    warp->work = tool_allocate(&s->pool, 2 * rows, sizeof *warp->work);

    tool_check(sp_modal_warp_new(s->context, &s->mesh.mesh, &warp->shape), s->mesh.path);
    tool_check(sp_warped_loads_new(s->context, s->body, &warp->shape, s->basis.columns.U, s->r, s->load_count, s->loads,
                                   s->frame || s->skin ? none : s->choice->gravity, s->basis.columns.lumped,
                                   &s->model.loads, &warp->loads),
               s->choice->loads);
    return sp_warped_loads_external(&warp->loads);
}

void warp_points(simulation *s, const double *q, const double *v)
{
    simulate_warp *warp = s->warp;
    const int64_t vertices = s->mesh.mesh.vertex_count;

    if (s->shape.point_count == 0)
        return;

    sp_model_at_vertices(&s->model, q, NULL, vertices, NULL, warp->u);
    sp_model_at_vertices(&s->model, v, NULL, vertices, NULL, warp->v);
    sp_modal_warp_apply(&warp->shape, warp->u, warp->v, warp->work);

    for (int64_t p = 0; p < s->shape.point_count; p++) {
        const int64_t vertex = s->point ? s->point[p] : p;
        memcpy(s->u + 3 * p, warp->u + 3 * vertex, 3 * sizeof *s->u);
        memcpy(s->udot + 3 * p, warp->v + 3 * vertex, 3 * sizeof *s->udot);
    }
}

void warp_free(simulation *s)
{
    if (!s->warp)
        return;
    sp_warped_loads_free(&s->warp->loads);
    sp_modal_warp_free(&s->warp->shape);
    s->warp = NULL;
}
