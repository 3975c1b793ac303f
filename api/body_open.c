/* Bodies of the public library: reading their files, and their model. */
#include "api/body_internal.h"
#include "api/saved.h"
#include "formats/loads.h"
#include "linear/blas.h"
#include "reduced/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model ---- */

void sp_body_model_free(body_model *model)
{
    if (!model)
        return;
    sp_model_free(&model->model);
    if (model->has_space)
        sp_fe_space_free(&model->space);
    free(model);
}

/* loads: with gravity and the file of loads. */
static sp_model_description describe(const supple_body *body, sp_fe_space *space, bool loads)
{
    const sp_columns *basis = &body->basis.columns;

    sp_model_description d = {.kind = body->kind,
                              .space = space,
                              .r = body->r,
                              .rows = basis->rows,
                              .U = basis->U,
                              .basis_lumped = basis->lumped,
                              .eigenvalue = basis->eigenvalue,
                              .polynomials = &body->polynomials,
                              .cubature = &body->cubature,
                              .jacobian = SP_JACOBIAN_EXACT};

    if (loads) {
        d.load_count = body->load_count;
        d.loads = body->loads;
        memcpy(d.gravity, body->gravity, sizeof d.gravity);
    }
    return d;
}

/* The path of the file that a failure of sp_model_new is about. */
static const char *path_of(const supple_body *body, enum sp_model_part part)
{
    switch (part) {
    case SP_PART_BASIS:
        return body->basis.path;
    case SP_PART_POLYNOMIALS:
    case SP_PART_CUBATURE:
        return body->kind == SP_MODEL_CUBATURE ? body->paths[3] : body->paths[2];
    case SP_PART_MESH:
        return body->mesh.path;
    default:
        return NULL;
    }
}

int sp_body_make_model(supple_body *body, bool loads, body_model **result)
{
    int status;
    body_model *model = calloc(1, sizeof *model);
    if (!model)
        return sp_source_fail(&body->source, SP_SYSTEM, NULL, "out of memory");

    body->source.failed = body->mesh.path;
    SP_TRY(sp_fe_space_new(&body->context, &body->mesh.mesh, &model->space));
    model->has_space = true;

    const sp_model_description description = describe(body, &model->space, loads);
    status = sp_reduced_model_new(&body->context, &description, &model->model);
    if (status != SP_OK)
        body->source.failed = path_of(body, model->model.part);
    SP_TRY(status);

    model->loads = sp_model_external(&model->model);
    *result = model;
    return SP_OK;
done:
    sp_body_model_free(model);
    return status;
}

/* An integrator of the model `now` that goes on where the present one is. */
static int continue_motion(supple_body *body, sp_integrator **result)
{
    const sp_integrator *before = body->integrator;
    sp_integrator_parameters parameters = body->parameters;
    sp_integrator *integrator;

    /* The time continues: the new integrator begins at the step of the present one. */
    parameters.first_step = llround(sp_integrator_time(before) / parameters.step);
    int status = sp_integrator_new(&body->context, &body->now->model.system, &body->external, &parameters,
                                   sp_integrator_q(before), sp_integrator_v(before), &integrator);
    if (status != SP_OK)
        return status;

    status = sp_integrator_continue(integrator, body->integrator);

    if (status == SP_OK)
        *result = integrator;
    else
        sp_integrator_free(integrator);
    return status;
}

int sp_body_remake(supple_body *body)
{
    body_model *const before = body->now, *next;
    sp_integrator *integrator = NULL;
    sp_state kept;

    int status = sp_body_make_model(body, true, &next);
    if (status != SP_OK)
        return status;
    if (!sp_body_keep(body, &kept)) {
        sp_body_model_free(next);
        return sp_source_fail(&body->source, SP_SYSTEM, NULL, "out of memory");
    }

    status = sp_body_reserve_springs(body, next->model.loads.spring_count + body->springs.count);
    body->now = next;
    body->springs_changed = true;

    /* The motion continues with the new model; the old one serves until nothing can fail any more. */
    if (status == SP_OK && body->integrator) {
        body->source.failed = NULL;
        status = continue_motion(body, &integrator);
    }

    if (status != SP_OK) {
        body->now = before;
        sp_body_model_free(next);
    }
    sp_body_settle(body, status != SP_OK, &kept);
    if (status != SP_OK)
        return status;

    sp_integrator_free(body->integrator);
    body->integrator = integrator;
    sp_body_forces_act(body);
    sp_body_show(body);

    sp_body_model_free(before);
    sp_body_model_free(body->unloaded);
    body->unloaded = NULL;
    return SP_OK;
}

/* ---- files ---- */

static char *copy_path(supple_body *body, const char *path)
{
    return path ? sp_pool_copy(&body->pool, path, (int64_t)strlen(path) + 1, 1) : NULL;
}

static int read_files(supple_body *body, int64_t r)
{
    sp_source *source = &body->source;
    int status;

    SP_TRY(sp_input_mesh(source, body->paths[0], NULL, &body->mesh));
    SP_TRY(sp_input_basis(source, body->kind, body->paths[1], "basis", &body->mesh, &body->basis));
    SP_TRY(sp_input_force(source, body->kind, body->paths[body->kind == SP_MODEL_CUBATURE ? 3 : 2],
                          body->kind == SP_MODEL_CUBATURE ? "cub" : "poly", r, &body->mesh, &body->basis,
                          &body->polynomials, &body->cubature, &body->r));
done:
    return status;
}

static int open_body(supple_body *body, const supple_body_files *files)
{
    const char *const paths[] = {files->mesh, files->basis, files->polynomials, files->cubature};
    int status;

    for (int i = 0; i < 4; i++)
        body->paths[i] = copy_path(body, paths[i]);
    if (body->pool.failed)
        return sp_source_fail(&body->source, SP_SYSTEM, NULL, "out of memory");
    SP_TRY(read_files(body, files->r));

    double **vectors[] = {
        &body->vertex_force, &body->generalized_force, &body->acting_force, &body->q, &body->qdot, &body->unit,
        &body->product};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&body->pool, body->r, sizeof(double));
    if (body->pool.failed)
        return sp_source_fail(&body->source, SP_SYSTEM, NULL, "out of memory");

    sp_body_connect(body);
    SP_TRY(sp_body_remake(body));
done:
    return status;
}

supple_status supple_body_open(const supple_body_files *files, supple_body **body)
{
    SP_REQUIRE(body);
    *body = NULL;
    SP_REQUIRE(files);
    SP_REQUIRE(files->mesh);
    SP_REQUIRE(files->basis);

    if (files->polynomials && files->cubature)
        return sp_error(SUPPLE_USAGE, "%s: give polynomials or a cubature, not both", __func__);
    if (files->r < 0)
        return sp_error(SUPPLE_USAGE, "%s: r is %lld", __func__, (long long)files->r);

    supple_body *opened = calloc(1, sizeof *opened);
    if (!opened)
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);

    opened->context = sp_context_default();
    opened->kind = files->polynomials ? SP_MODEL_POLYNOMIALS : files->cubature ? SP_MODEL_CUBATURE : SP_MODEL_MODAL;
    sp_source_plain(&opened->context, &opened->source);
    const int threads = sp_blas_alone_begin(), status = open_body(opened, files);
    sp_blas_alone_end(threads);

    const supple_status said = sp_error_of(&opened->context, opened->source.failed, status);
    if (status == SP_OK)
        *body = opened;
    else
        supple_body_close(opened);
    return said;
}

void supple_body_close(supple_body *body)
{
    if (!body)
        return;
    sp_integrator_free(body->integrator);
    sp_body_model_free(body->now);
    sp_body_model_free(body->unloaded);
    sp_cubature_free(&body->cubature);
    sp_polynomials_free(&body->polynomials);
    sp_columns_free(&body->basis.columns);
    sp_mesh_free(&body->mesh.mesh);
    sp_pool_free(&body->load_pool);
    sp_list_free(&body->springs);
    sp_list_free(&body->acting);
    sp_pool_free(&body->pool);
    free(body);
}

/* ---- loads and materials that need another model ---- */

supple_status supple_body_set_gravity(supple_body *body, const double gravity[3])
{
    double before[3];
    SP_REQUIRE(body);
    SP_REQUIRE(gravity);
    SP_REQUIRE_FINITE(3, gravity);
    memcpy(before, body->gravity, sizeof before);
    memcpy(body->gravity, gravity, sizeof body->gravity);
    const int threads = sp_blas_alone_begin(), status = sp_body_remake(body);
    sp_blas_alone_end(threads);
    if (status != SP_OK)
        memcpy(body->gravity, before, sizeof before);
    return sp_error_of(&body->context, body->source.failed, status);
}

/* Parses the file into a new list of loads. */
static int read_loads(supple_body *body, const char *path, sp_pool *pool)
{
    char *text;
    int64_t length;
    int status;
    SP_TRY(body->source.text(&body->source, path, "loads", false, pool, &length, &text));
    SP_TRY(sp_source_about(
        &body->source, path,
        sp_loads_parse(&body->context, text, length, &body->mesh.mesh, pool, &body->load_count, &body->loads)));
    body->loads_sum = sp_saved_sum(1, text, length);
done:
    return status;
}

supple_status supple_body_load_file(supple_body *body, const char *path)
{
    SP_REQUIRE(body);
    if (body->integrator)
        return sp_error(SUPPLE_USAGE, "%s: the motion has started; call it before supple_body_start", __func__);

    /* The loads before are kept, and restored where the file or the model with its loads fails. */
    sp_pool pool = {0};
    const int64_t count = body->load_count;
    sp_load *const loads = body->loads;
    const uint64_t sum = body->loads_sum;
    int status = SP_OK;
    body->load_count = 0;
    body->loads = NULL;
    body->loads_sum = 0;

    const int threads = sp_blas_alone_begin();
    if (path)
        status = read_loads(body, path, &pool);
    if (status == SP_OK) {
        status = sp_body_remake(body);
        if (status != SP_OK && !body->source.failed)
            body->source.failed = path;
    }
    sp_blas_alone_end(threads);

    const supple_status said = sp_error_of(&body->context, body->source.failed, status);
    sp_pool_free(status == SP_OK ? &body->load_pool : &pool);
    if (status == SP_OK)
        body->load_pool = pool;
    else {
        body->load_count = count;
        body->loads = loads;
        body->loads_sum = sum;
    }
    return said;
}

/* The materials of the region, or of all, with the properties that are given. */
static int edit_materials(supple_body *body, const char *region, const double value[3], sp_material *materials)
{
    bool found = false;
    for (int64_t m = 0; m < body->mesh.mesh.material_count; m++) {
        sp_material *material = &materials[m];
        if (region && strcmp(region, material->name))
            continue;
        found = true;

        if ((value[0] >= 0 || value[1] >= -1) && !sp_law_isotropic(material->law))
            return sp_source_fail(&body->source, SP_USAGE, NULL, "region %s has the law %s", material->name,
                                  sp_law_name(material->law));

        material->young = value[0] >= 0 ? value[0] : material->young;
        material->poisson = value[1] >= -1 ? value[1] : material->poisson;
        material->density = value[2] >= 0 ? value[2] : material->density;

        if (sp_material_check(&body->context, material) != SP_OK)
            return SP_USAGE;
    }
    return found ? SP_OK : sp_source_fail(&body->source, SP_USAGE, NULL, "the mesh has no region \"%.100s\"", region);
}

/* What an edit changes in polynomials. */
typedef struct polynomial_values {
    sp_pool pool;
    double *value, *part, density; /* [parts]; masses of groups and of all */
    double *group_density;
} polynomial_values;

/* keep true: copies the masses to `values`; false: copies them back. */
static void exchange_masses(sp_polynomials *p, polynomial_values *values, bool keep)
{
    const int64_t square = p->r * p->r, all = square + 3 * p->r;
    for (int64_t g = 0; g <= p->group_count; g++) {
        double *mass = g < p->group_count ? p->groups[g].mass : p->mass,
               *gravity = g < p->group_count ? p->groups[g].gravity : p->gravity, *kept = values->part + g * all;
        memcpy(keep ? kept : mass, keep ? mass : kept, (size_t)square * sizeof *kept);
        memcpy(keep ? kept + square : gravity, keep ? gravity : kept + square, (size_t)(3 * p->r) * sizeof *kept);
    }
}

static bool keep_polynomials(sp_polynomials *p, polynomial_values *values)
{
    *values = (polynomial_values){.density = p->density};
    values->value = sp_pool_new(&values->pool, p->part_count, sizeof(double));
    values->part = sp_pool_new(&values->pool, (p->group_count + 1) * (p->r * p->r + 3 * p->r), sizeof(double));
    values->group_density = sp_pool_new(&values->pool, p->group_count, sizeof(double));
    if (values->pool.failed) {
        sp_pool_free(&values->pool);
        return false;
    }

    for (int64_t i = 0; i < p->part_count; i++)
        values->value[i] = p->parts[i].value;
    for (int64_t g = 0; g < p->group_count; g++)
        values->group_density[g] = p->groups[g].density;
    if (p->mass)
        exchange_masses(p, values, true);
    return true;
}

static void restore_polynomials(sp_polynomials *p, polynomial_values *values)
{
    p->density = values->density;
    for (int64_t i = 0; i < p->part_count; i++)
        p->parts[i].value = values->value[i];
    for (int64_t g = 0; g < p->group_count; g++)
        p->groups[g].density = values->group_density[g];
    if (p->mass)
        exchange_masses(p, values, false);
}

static int change_materials(supple_body *body, const sp_material *before)
{
    const sp_mesh *mesh = &body->mesh.mesh;
    int status = SP_OK;
    body->source.failed = NULL;
    if (body->kind == SP_MODEL_POLYNOMIALS)
        SP_TRY(sp_source_about(
            &body->source, body->paths[2],
            sp_polynomials_edit(&body->context, &body->polynomials, mesh->material_count, before, mesh->materials)));
    SP_TRY(sp_body_remake(body));
done:
    return status;
}

supple_status supple_body_set_material(supple_body *body, const char *region, double young, double poisson,
                                       double density)
{
    const double value[3] = {young, poisson, density};

    SP_REQUIRE(body);
    if (!sp_all_finite(3, value))
        return sp_error(SUPPLE_USAGE, "%s: young is %g, poisson %g and density %g", __func__, young, poisson, density);
    if (body->kind == SP_MODEL_MODAL)
        return sp_error(SUPPLE_USAGE, "%s: the modes are those of the materials that they were made for", __func__);
    if (body->cubature.stiffness)
        return sp_error(SUPPLE_USAGE,
                        "%s: this cubature holds the linear stiffness of the materials that it was made for", __func__);

    sp_mesh *mesh = &body->mesh.mesh;
    sp_material *const before = mesh->materials,
                       *next = sp_pool_copy(&mesh->pool, before, mesh->material_count, sizeof *next);
    polynomial_values kept;
    if (!next || !keep_polynomials(&body->polynomials, &kept)) {
        sp_pool_drop(&mesh->pool, next);
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);
    }

    const int threads = sp_blas_alone_begin();
    body->source.failed = NULL;
    int status = edit_materials(body, region, value, next);

    if (status == SP_OK) {
        mesh->materials = next;
        status = change_materials(body, before);
        if (status != SP_OK) {
            mesh->materials = before;
            restore_polynomials(&body->polynomials, &kept);
        }
    }

    sp_blas_alone_end(threads);
    sp_pool_drop(&mesh->pool, status == SP_OK ? before : next);
    sp_pool_free(&kept.pool);
    return sp_error_of(&body->context, body->source.failed, status);
}
