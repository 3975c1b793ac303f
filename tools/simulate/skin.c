#include "tools/simulate/skin.h"

#include "tools/simulate/warp.h"

void skin_read(simulation *s)
{
    const simulate_choice *c = s->choice;
    if (!c->skin)
        return;
    s->skin = tool_allocate(&s->pool, 1, sizeof *s->skin);
    tool_rig_open(s->context, c->skin, c->skeleton, &s->mesh, (double)c->steps * c->step, &s->skin->rig);
}

sp_external_loads skin_loads(simulation *s)
{
    const sp_external_loads loads = warp_loads(s);
    simulate_skin *skin = s->skin;
    const double scale = s->choice->model == SP_MODEL_POLYNOMIALS ? s->polynomials.density : 1;
    tool_check(sp_skin_inertia_new(s->context, s->body, s->basis.columns.lumped, scale, s->r, s->basis.columns.U,
                                   &skin->rig.file.skin, &skin->rig.rig, s->choice->gravity, &loads, &skin->inertia),
               s->choice->skin);
    if (s->warp)
        tool_check(sp_skin_inertia_warp(s->context, s->body, &s->warp->shape, s->basis.columns.U,
                                        s->basis.columns.lumped, scale, &skin->inertia),
                   s->mesh.path);
    return sp_skin_inertia_loads(&skin->inertia);
}

void skin_free(simulation *s)
{
    if (!s->skin)
        return;
    sp_skin_inertia_free(&s->skin->inertia);
    tool_rig_close(&s->skin->rig);
    s->skin = NULL;
}
