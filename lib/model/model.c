/* Models in general, and reduced-order ones; full-order ones are in model_full.c, since they need sparse
 * factorizations. */
#include "model/model_internal.h"

#include "reduced/galerkin.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "reduced/viscous.h"

#include <math.h>
#include <string.h>

/* ---- the system ---- */

/* Galerkin projection: forces of elements, projected at every evaluation. The mass is that of the mesh, whose density
 * may have been edited since the basis was made. */
static int new_projected(sp_context *context, const sp_model_description *d, sp_model *model)
{
    sp_reduced_force force;
    double *mass = sp_pool_raw(&model->pool, d->r * d->r, sizeof *mass);
    SP_PASS(sp_allocated(context, mass));

    /* The part is that which a message should name if the next call fails. */
    model->part = SP_PART_BASIS;
    SP_PASS(sp_reduced_mass(context, d->space, d->basis_lumped, d->r, d->U, mass, NULL));
    model->part = d->kind == SP_MODEL_CUBATURE ? SP_PART_CUBATURE : SP_PART_MESH;
    if (d->kind == SP_MODEL_CUBATURE)
        SP_PASS(sp_cubature_force_new(context, d->space, d->cubature, d->r, d->U, &force));
    else
        SP_PASS(sp_galerkin_force_new(context, d->space, d->r, d->U, &force));

    model->part = SP_PART_BASIS;
    SP_PASS(sp_reduced_system_new(context, &force, mass, d->U, d->rows, d->space->mesh->vertices, &model->system));

    model->part = SP_PART_CUBATURE;
    if (d->kind == SP_MODEL_CUBATURE)
        SP_PASS(sp_reduced_system_jacobian(&model->system, d->jacobian, d->jacobian_tolerance));

    if (model->system.nonconservative)
        SP_PASS(sp_reduced_system_growth(&model->system, &model->growth));
    return SP_OK;
}

static int new_reduced(sp_context *context, const sp_model_description *d, sp_model *model)
{
    switch (d->kind) {
    case SP_MODEL_POLYNOMIALS:
        model->part = SP_PART_POLYNOMIALS;
        return sp_polynomial_system_new(context, d->polynomials, d->r, d->U, d->rows, d->space->mesh->vertices,
                                        &model->system);
    case SP_MODEL_MODAL:
        model->part = SP_PART_BASIS;
        return sp_modal_system_new(context, d->r, d->eigenvalue, &model->system);
    case SP_MODEL_CUBATURE:
    case SP_MODEL_GALERKIN:
        return new_projected(context, d, model);
    default:
        return sp_fail(context, SP_USAGE, "kind %d of model is not reduced-order", (int)d->kind);
    }
}

/* ---- damping by strain rate ---- */

static int add_viscosity(sp_context *context, const sp_model_description *d, sp_model *model)
{
    const sp_mesh *mesh = d->space->mesh;
    sp_reduced_viscosity reduced;
    if (!d->viscosity)
        return SP_OK;

    model->part = d->kind == SP_MODEL_POLYNOMIALS ? SP_PART_POLYNOMIALS : SP_PART_MESH;
    if (d->kind == SP_MODEL_POLYNOMIALS)
        SP_PASS(sp_polynomial_viscosity(context, d->polynomials, d->r, mesh->material_count, mesh->materials,
                                        d->viscosity, &reduced));
    else {
        SP_PASS(sp_viscous_new(context, d->space, d->viscosity, &model->viscous));
        SP_PASS(sp_fe_space_pattern(context, d->space)); /* cubature has not built it */
        SP_PASS(sp_galerkin_viscosity(context, &model->viscous, d->r, d->U, &reduced));
    }

    sp_reduced_system_damp(&model->system, &reduced);
    return SP_OK;
}

/* ---- gravity ---- */

/* Returns true if the body can move along a direction as a whole: no fixed component resists. */
static bool falls(const sp_mesh *mesh, const double direction[3])
{
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        for (int c = 0; c < 3; c++)
            if (mesh->fixed_axes[i] >> c & 1 && direction[c] != 0)
                return false;
    return true;
}

/* The relative error, by mass, of the best approximation of a fall in the span of the basis. A body that is not fixed
 * falls; a basis without rigid motions cannot. */
static int fall_missed(sp_context *context, sp_model *model, const double gravity[3], double *result)
{
    const sp_mesh *mesh = model->space->mesh;
    double *a = sp_pool_new(&model->pool, model->r, sizeof *a),
           *mass = sp_pool_new(&model->pool, mesh->vertex_count, sizeof *mass),
           *u = sp_pool_new(&model->pool, model->rows, sizeof *u), *f = sp_pool_new(&model->pool, model->r, sizeof *f),
           missed = 0, all = 0;
    int status = sp_allocated(context, !model->pool.failed);
    SP_TRY(status);

    /* a = (Uᵀ M U)⁻¹ Uᵀ M g minimizes |U a − g| in the norm of M. */
    sp_load_uniform(model->space, model->system.lumped, model->U, model->r, gravity, mass, u, f);
    SP_TRY(model->system.mass_solve(model->system.self, f, a));
    sp_fe_space_vertex_mass(model->space, true, mass);
    sp_model_at_vertices(model, a, NULL, mesh->vertex_count, NULL, u);

    for (int64_t i = 0; i < model->rows; i++) {
        const double difference = u[i] - gravity[i % 3];
        missed += mass[i / 3] * difference * difference;
        all += mass[i / 3] * gravity[i % 3] * gravity[i % 3];
    }

    *result = sqrt(missed / all);
done:
    sp_pool_drop(&model->pool, a);
    sp_pool_drop(&model->pool, mass);
    sp_pool_drop(&model->pool, u);
    sp_pool_drop(&model->pool, f);
    return status;
}

static int check_gravity(sp_context *context, sp_model *model, const double gravity[3])
{
    const bool none = gravity[0] == 0 && gravity[1] == 0 && gravity[2] == 0;
    double missed = 0;

    /* Only a body that is confined to a basis and that nothing holds can fail to fall. */
    if (none || !sp_model_kind_reduced(model->kind) || !falls(model->space->mesh, gravity))
        return SP_OK;

    const int status = fall_missed(context, model, gravity, &missed);
    if (status != SP_OK || missed <= 1e-3)
        return status;

    return sp_fail(context, SP_USAGE,
                   "nothing fixes the mesh, and the basis misses %.3g %% of a fall: the body would not follow "
                   "gravity",
                   100 * missed);
}

/* Returns true if two loads have the same times and the same course. */
static bool act_together(const sp_load *a, const sp_load *b)
{
    const sp_course *x = &a->course, *y = &b->course;
    return a->start == b->start && a->end == b->end && x->kind == y->kind && x->frequency == y->frequency &&
           x->phase == y->phase && x->count == y->count &&
           (x->count == 0 || (!memcmp(x->time, y->time, (size_t)x->count * sizeof *x->time) &&
                              !memcmp(x->factor, y->factor, (size_t)x->count * sizeof *x->factor)));
}

/* Loads that act together and whose sum is not zero move a body that nothing holds. */
static int find_drift(sp_context *context, sp_model *model)
{
    const sp_load_set *set = &model->loads;
    static const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const sp_mesh *mesh = model->space->mesh;
    double drift[3] = {0};

    if (!sp_model_kind_reduced(model->kind) || set->spring_count > 0 ||
        !(falls(mesh, axis[0]) || falls(mesh, axis[1]) || falls(mesh, axis[2])))
        return SP_OK;

    for (int64_t l = 0; l < set->force_count; l++) {
        double sum[3] = {0}, sizes = 0;
        for (int64_t k = 0; k < set->force_count; k++)
            if (act_together(set->loads[l], set->loads[k])) {
                sizes += sp_norm3(set->net + 3 * k);
                for (int i = 0; i < 3; i++)
                    sum[i] += set->net[3 * k + i];
            }
        if (sp_norm3(sum) > fmax(1e-9 * sizes, sp_norm3(drift)))
            memcpy(drift, sum, sizeof drift);
    }
    return sp_norm3(drift) > 0 && falls(mesh, drift) ? fall_missed(context, model, drift, &model->drift_missed) : SP_OK;
}

/* ---- construction ---- */

static int add_loads(sp_context *context, const sp_model_description *d, sp_model *model)
{
    double gravity[3];
    for (int i = 0; i < 3; i++) /* polynomials keep the density factor by which their mass was edited */
        gravity[i] = d->gravity[i] * (d->kind == SP_MODEL_POLYNOMIALS ? d->polynomials->density : 1);

    model->part = SP_PART_LOADS;
    SP_PASS(sp_load_set_new(context, d->space, model->U, d->r, d->load_count, d->loads, gravity, &model->system,
                            &model->loads));

    model->part = SP_PART_GRAVITY;
    SP_PASS(check_gravity(context, model, gravity));
    SP_PASS(find_drift(context, model));
    if (d->prescribed && d->prescribed->rigid_count + d->prescribed->vertex_count > 0)
        sp_load_set_move(&model->loads, d->prescribed);

    model->part = SP_PART_ACTIVATION;
    if (d->activations)
        SP_PASS(sp_load_set_activate(context, &model->loads, d->activation_count, d->activations));
    return SP_OK;
}

int sp_model_assemble(sp_context *context, const sp_model_description *d, sp_model_system *new_system, sp_model *model)
{
    int status;

    *model = (sp_model){.kind = d->kind, .space = d->space, .rows = 3 * d->space->mesh->vertex_count};
    if (sp_model_kind_reduced(d->kind)) {
        model->r = d->r;
        model->U = d->U;
    }

    SP_TRY(new_system(context, d, model));
    if (model->U)
        model->system.lumped = d->basis_lumped;
    SP_TRY(add_loads(context, d, model));
done:
    /* The part at fault is all that is left of a model that was not made. */
    if (status != SP_OK) {
        const enum sp_model_part part = model->part;
        sp_model_free(model);
        model->part = part;
    }
    return status;
}

static int new_damped(sp_context *context, const sp_model_description *d, sp_model *model)
{
    SP_PASS(new_reduced(context, d, model));
    SP_PASS(add_viscosity(context, d, model));
    if (d->decay)
        SP_PASS(sp_system_decay(context, &model->system, d->decay));
    return SP_OK;
}

int sp_reduced_model_new(sp_context *context, const sp_model_description *d, sp_model *model)
{
    return sp_model_assemble(context, d, new_damped, model);
}

void sp_model_free(sp_model *model)
{
    sp_load_set_free(&model->loads);
    if (model->system.self && model->system.destroy)
        model->system.destroy(&model->system);
    sp_viscous_free(&model->viscous);
    sp_pool_free(&model->pool);
    *model = (sp_model){0};
}

sp_external_loads sp_model_external(sp_model *model)
{
    return sp_load_set_external(&model->loads);
}

/* A component of vertex v; fixed ones are read from `prescribed`. */
static double full_value(const sp_model *model, const double *q, const double *prescribed, int64_t i)
{
    const int64_t dof = model->space->dof[i];
    return dof >= 0 ? q[dof] : prescribed ? prescribed[i] : 0;
}

void sp_model_at_vertices(const sp_model *model, const double *q, const double *prescribed, int64_t count,
                          const int64_t *vertex, double *u)
{
    /* Full-order: q are displacements themselves. */
    if (!model->U) {
        for (int64_t p = 0; p < count; p++)
            for (int c = 0; c < 3; c++)
                u[3 * p + c] = full_value(model, q, prescribed, 3 * (vertex ? vertex[p] : p) + c);
        return;
    }

    /* Reduced: u = U q, column by column as U is stored */
    memset(u, 0, (size_t)(3 * count) * sizeof *u);
    for (int64_t j = 0; j < model->r; j++)
        for (int64_t p = 0; p < count; p++)
            for (int c = 0; c < 3; c++)
                u[3 * p + c] += model->U[j * model->rows + 3 * (vertex ? vertex[p] : p) + c] * q[j];
}

int sp_model_report(const sp_model *model, const double *q, const double *external, sp_system_report *report)
{
    *report = (sp_system_report){0};
    return model->system.report ? model->system.report(model->system.self, q, external, report) : SP_OK;
}
