/* Full-order models, and the choice among all. */
#include "model/model_internal.h"

static int new_warp(sp_context *context, const sp_model_description *d, sp_model *model)
{
    SP_PASS(sp_warp_system_new(context, d->space, &d->warp, d->solver_tolerance, &model->system));

    model->part = SP_PART_GROUNDS;
    if (d->ground_count)
        SP_PASS(sp_warp_system_grounds(&model->system, d->ground_count, d->grounds));
    return SP_OK;
}

/* NONLINEAR, LINEAR, and CONJAC, which is based on the nonlinear system. */
static int new_full(sp_context *context, const sp_model_description *d, sp_model *model)
{
    SP_PASS(sp_full_system_new(context, d->space, d->kind == SP_MODEL_LINEAR, d->lumped, NULL, &model->system));

    if (d->solver != SP_SOLVER_DIRECT)
        SP_PASS(sp_full_system_solver(&model->system, d->solver, d->solver_tolerance));

    model->part = SP_PART_GROUNDS;
    if (d->ground_count)
        SP_PASS(sp_full_system_grounds(&model->system, d->ground_count, d->grounds));

    /* ConJac takes over the full-order system and frees it. */
    if (d->kind == SP_MODEL_CONJAC) {
        sp_system full = model->system;
        model->system = (sp_system){0};
        model->part = SP_PART_DYNAMIC;
        SP_PASS(sp_conjac_system_new(context, &full, &d->condensation, &model->system));
    }
    return SP_OK;
}

static int new_system(sp_context *context, const sp_model_description *d, sp_model *model)
{
    SP_PASS(d->kind == SP_MODEL_WARP ? new_warp(context, d, model) : new_full(context, d, model));

    model->part = SP_PART_MESH;
    if (d->viscosity) {
        SP_PASS(sp_viscous_new(context, d->space, d->viscosity, &model->viscous));
        SP_PASS(sp_full_system_damp(&model->system, &model->viscous));
    }
    return SP_OK;
}

int sp_model_new(sp_context *context, const sp_model_description *d, sp_model *model)
{
    if (sp_model_kind_reduced(d->kind))
        return sp_reduced_model_new(context, d, model);
    return sp_model_assemble(context, d, new_system, model);
}
