/* One motion by itself, by the ordinary model and integrator. */
#include "ensemble/internal.h"

#include "reduced/edit.h"
#include "reduced/linear.h"

#include <stdio.h>
#include <string.h>

int sp_ensemble_edit(sp_context *context, const sp_polynomials *original, int64_t count, const sp_material *from,
                     const sp_material *to, sp_pool *pool, sp_polynomials *edited)
{
    const int64_t r = original->r;
    *edited = *original;
    edited->pool = (sp_pool){0};

    edited->parts = sp_pool_copy(pool, original->parts, original->part_count, sizeof *edited->parts);
    edited->groups = sp_pool_copy(pool, original->groups, original->group_count, sizeof *edited->groups);
    edited->mass = sp_pool_copy(pool, original->mass, r * r, sizeof(double));
    edited->gravity = sp_pool_copy(pool, original->gravity, 3 * r, sizeof(double));
    SP_PASS(sp_allocated(context, !pool->failed));
    for (int64_t g = 0; g < edited->group_count; g++) {
        edited->groups[g].mass = sp_pool_copy(pool, original->groups[g].mass, r * r, sizeof(double));
        edited->groups[g].gravity = sp_pool_copy(pool, original->groups[g].gravity, 3 * r, sizeof(double));
    }
    SP_PASS(sp_allocated(context, !pool->failed));
    return sp_polynomials_edit(context, edited, count, from, to);
}

/* The mesh and the space of this thread, which have the materials of the motion: forces of elements are made from
 * these. */
static int make(sp_ensemble_alone *a, const sp_material *materials)
{
    const sp_mesh *mesh = a->ensemble->description->space->mesh;
    const size_t bytes = (size_t)mesh->material_count * sizeof *materials;

    if (!a->mesh.materials) {
        a->mesh = *mesh;
        a->mesh.materials = sp_pool_new(&a->pool, mesh->material_count, sizeof *materials);
        SP_PASS(sp_allocated(&a->context, a->mesh.materials));
    }
    if (a->made && !memcmp(a->mesh.materials, materials, bytes))
        return SP_OK;

    if (a->made)
        sp_fe_space_free(&a->space);
    memcpy(a->mesh.materials, materials, bytes);
    a->made = false;
    SP_PASS(sp_fe_space_new(&a->context, &a->mesh, &a->space));
    a->made = true;
    return SP_OK;
}

/* The parts of the model that depend on the materials: the polynomials, and the stiffness at rest of a cubature. */
static int edit(sp_ensemble_alone *a, const sp_material *materials, sp_pool *pool, sp_model_description *description)
{
    const sp_model_description *d = a->ensemble->description;
    const sp_mesh *mesh = d->space->mesh;

    if (d->kind == SP_MODEL_POLYNOMIALS) {
        SP_PASS(sp_ensemble_edit(&a->context, d->polynomials, mesh->material_count, mesh->materials, materials, pool,
                                 &a->polynomials));
        description->polynomials = &a->polynomials;
    }
    if (d->kind == SP_MODEL_CUBATURE && d->cubature->stiffness) {
        const int64_t r = d->cubature->r;
        a->cubature = *d->cubature;
        a->cubature.stiffness = sp_pool_new(pool, r * r, sizeof(double));
        SP_PASS(sp_allocated(&a->context, a->cubature.stiffness));
        SP_PASS(sp_reduced_stiffness(&a->context, &a->space, r, d->U, a->cubature.stiffness));
        description->cubature = &a->cubature;
    }
    return SP_OK;
}

static int steps(sp_ensemble_alone *a, const sp_ensemble_motion *motion, sp_model *model, sp_ensemble_record *record,
                 int lane)
{
    const sp_ensemble *e = a->ensemble;
    sp_external_loads loads = sp_model_external(model);
    sp_integrator_parameters parameters = e->parameters;
    sp_integrator *integrator = NULL;
    int status;

    parameters.damping_mass = motion->damping_mass;
    parameters.damping_stiffness = motion->damping_stiffness;
    sp_load_set_at_ends(&model->loads, parameters.kind == SP_STATIC);
    SP_TRY(sp_integrator_new(&a->context, &model->system, &loads, &parameters, motion->q, motion->v, &integrator));

    sp_ensemble_record_lane(record, lane, 0, sp_integrator_q(integrator), sp_integrator_v(integrator));
    for (int64_t number = 1; number <= e->steps; number++) {
        SP_TRY(sp_integrator_step(integrator));
        sp_ensemble_record_lane(record, lane, number, sp_integrator_q(integrator), sp_integrator_v(integrator));
    }
    record->iterations[lane] = sp_integrator_reported(integrator)->newton_iterations;
done:
    sp_integrator_free(integrator);
    return status;
}

int sp_ensemble_alone_run(sp_ensemble_alone *a, const sp_ensemble_motion *motion, sp_ensemble_record *record, int lane)
{
    const sp_mesh *mesh = a->ensemble->description->space->mesh;
    sp_model_description description = *a->ensemble->description;
    sp_pool pool = {0};
    sp_model model = {0};
    int status;

    sp_ensemble_record_clear(record, lane);
    if (motion->refused) {
        status = sp_fail(&a->context, SP_INPUT, "%s", motion->refused);
        goto done;
    }

    /* The same description with the loads and materials of this motion */
    SP_TRY(make(a, motion->materials ? motion->materials : mesh->materials));
    if (motion->materials)
        SP_TRY(edit(a, motion->materials, &pool, &description));
    description.space = &a->space;
    description.load_count = motion->load_count;
    description.loads = motion->loads;
    memcpy(description.gravity, motion->gravity, sizeof description.gravity);

    SP_TRY(sp_reduced_model_new(&a->context, &description, &model));
    status = steps(a, motion, &model, record, lane);
done:
    record->status[lane] = status;
    if (status != SP_OK)
        snprintf(record->reason[lane], sizeof record->reason[lane], "%s", a->context.message);
    sp_model_free(&model);
    sp_pool_free(&pool);
    return status;
}

void sp_ensemble_alone_free(sp_ensemble_alone *a)
{
    if (a->made)
        sp_fe_space_free(&a->space);
    sp_pool_free(&a->pool);
}
