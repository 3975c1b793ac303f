/* Models of a scene: their files, masses and distances. */
#include "api/loaded_scene.h"
#include "formats/field.h"
#include "formats/import/surface.h"
#include "formats/pointshell.h"
#include "reduced/linear.h"
#include "reduced/mass.h"

#include <math.h>
#include <string.h>

/* A call whose failure is about a file. */
#define PASS_FILE(path, call) SP_PASS(sp_source_about(run->source, path, call))

static const char *key_of(sp_loaded_scene *run, const sp_loaded_model *model, const char *key)
{
    return sp_scene_input_key(&run->input, model->m->name, key);
}

int sp_scene_allocated(sp_loaded_scene *run)
{
    return run->pool.failed || run->body_pool.failed
               ? sp_source_fail(run->source, SP_SYSTEM, run->input.path, "out of memory")
               : SP_OK;
}

/* A file of one kind, made from the mesh of the model if that has one. */
static int read_kind(sp_loaded_scene *run, const sp_loaded_model *model, const char *path, const char *key,
                     const char *kind, sp_file *file)
{
    const char *const kinds[] = {kind, NULL};
    char mesh[SP_HASH_LENGTH];
    int status = run->source->file(run->source, path, key_of(run, model, key), kinds, false, file);
    if (status != SP_OK)
        return status;
    status = sp_source_about(run->source, path, sp_json_hash(run->source->context, file->meta, "mesh", mesh));
    if (status == SP_OK && model->m->mesh)
        status = sp_input_made_from(run->source, path, "mesh", mesh, model->mesh.hash);
    if (status != SP_OK)
        sp_file_free(file);
    return status;
}

static int read_field(sp_loaded_scene *run, sp_loaded_model *model, const char *path, const char *key, sp_field *field)
{
    sp_file file;
    int status;

    SP_TRY(read_kind(run, model, path, key, "field", &file));
    const char *sign = json_string_value(json_object_get(file.meta, "sign"));
    if (sign && !strcmp(sign, "none"))
        status = sp_source_fail(run->source, SP_INPUT, path,
                                "its distances have no sign: nothing would ever be inside (distfield --sign)");
    else if (sign && !strcmp(sign, "deformed"))
        status = sp_source_fail(run->source, SP_INPUT, path,
                                "it is an approximation, whose values are no bounds of distances");
    else
        status = sp_source_about(run->source, path, sp_field_read(run->source->context, &file, field));

    sp_file_free(&file);
    SP_TRY(status);

    /* Half of the box's diagonal. */
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += pow(0.5 * field->spacing * (double)field->cells[k], 2);
    model->reach = fmax(model->reach, sqrt(square));
done:
    return status;
}

static int read_pointshell(sp_loaded_scene *run, const sp_loaded_model *model, const char *path, const char *key,
                           sp_pointshell *pointshell)
{
    char basis[SP_HASH_LENGTH];
    sp_file file;
    int status = read_kind(run, model, path, key, "pointshell", &file);
    if (status != SP_OK)
        return status;
    SP_TRY(sp_source_about(run->source, path, sp_json_hash(run->source->context, file.meta, "basis", basis)));
    if (model->r && *basis)
        SP_TRY(sp_input_made_from(run->source, path, "basis", basis, model->basis.hash));
    SP_TRY(sp_source_about(run->source, path, sp_pointshell_read(run->source->context, &file, pointshell)));
done:
    sp_file_free(&file);
    return status;
}

/* What points of a deformable model need. */
static int check_points(sp_loaded_scene *run, const sp_loaded_model *model, const sp_pointshell *pointshell)
{
    const char *path = model->m->pointshell;
    if (model->r == 0)
        return SP_OK;

    if (!pointshell->U)
        return sp_source_fail(run->source, SP_INPUT, path,
                              "its points do not move: a shell of a deformable model is made with pointshell --basis");

    if (pointshell->modes > model->r)
        return sp_source_fail(run->source, SP_INPUT, path,
                              "its points move with %lld columns, model %s has %lld coordinates",
                              (long long)pointshell->modes, model->m->name, (long long)model->r);

    if (run->input.scene.contact.normals == SP_SCENE_TANGENTS && !pointshell->dT)
        return sp_source_fail(
            run->source, SP_INPUT, path,
            "it has no tangents for contact.normals \"tangents\": make it with pointshell --normals tangents");
    return SP_OK;
}

static int read_points(sp_loaded_scene *run, sp_loaded_model *model)
{
    const char *path = model->m->pointshell;
    sp_pointshell pointshell;
    if (!path)
        return SP_OK;

    int status = read_pointshell(run, model, path, "pointshell", &pointshell);
    if (status != SP_OK)
        return status;

    /* The points of a rigid model keep no rows of a basis. */
    if (model->r == 0)
        pointshell.U = pointshell.dN = pointshell.dT = pointshell.a = NULL;

    SP_TRY(check_points(run, model, &pointshell));
    SP_TRY(sp_source_about(run->source, path,
                           sp_contact_pointshell_new(run->source->context, &pointshell, &model->pointshell)));
    model->has_pointshell = true;
done:
    sp_pointshell_free(&pointshell);
    return status;
}

/* ---- deformation ---- */

static int check_rank(sp_loaded_scene *run, const sp_loaded_model *model, const char *path, int64_t available)
{
    if (model->r <= available)
        return SP_OK;
    return sp_source_fail(run->source, SP_INPUT, path, "it has %lld coordinates, model %s asks for %lld",
                          (long long)available, model->m->name, (long long)model->r);
}

static int allocate_mass(sp_loaded_scene *run, sp_loaded_model *model)
{
    model->mass = sp_pool_new(&run->pool, model->r * model->r, sizeof(double));
    model->gravity = sp_pool_new(&run->pool, 3 * model->r, sizeof(double));
    return sp_scene_allocated(run);
}

static int linearize(sp_loaded_scene *run, sp_loaded_model *model)
{
    double *rest = sp_pool_new(&run->pool, model->r, sizeof(double));
    model->stiffness = sp_pool_new(&run->pool, model->r * model->r, sizeof(double));
    const int status = sp_scene_allocated(run);
    if (status == SP_OK)
        sp_polynomial_force_evaluate(model->polynomial_force, rest, NULL, model->stiffness);
    return status;
}

static int read_polynomials(sp_loaded_scene *run, sp_loaded_model *model)
{
    const char *path = model->m->polynomials;
    sp_polynomials *p = &model->polynomials;
    const int64_t r = model->r;

    SP_PASS(sp_input_polynomials(run->source, path, key_of(run, model, "polynomials"), &model->mesh, &model->basis, p));
    model->lumped = p->lumped;
    SP_PASS(check_rank(run, model, path, p->r));
    SP_PASS(allocate_mass(run, model));

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < r; i++)
            model->mass[j * r + i] = p->density * p->mass[j * p->r + i];
    for (int64_t i = 0; i < 3 * r; i++)
        model->gravity[i] = p->density * p->gravity[i];

    PASS_FILE(path, sp_polynomial_force_new(run->source->context, p, r, &model->polynomial_force));
    if (model->m->kind == SP_SCENE_LINEAR)
        SP_PASS(linearize(run, model));
    return SP_OK;
}

static int read_cubature(sp_loaded_scene *run, sp_loaded_model *model)
{
    const char *path = model->m->cubature;

    SP_PASS(sp_input_cubature(run->source, path, key_of(run, model, "cubature"), &model->mesh, &model->basis,
                              &model->cubature));
    model->lumped = model->basis.columns.lumped;
    SP_PASS(check_rank(run, model, path, model->cubature.r));

    if (model->cubature.modal && model->free)
        sp_source_warn(run->source, path,
                       "modal cubature forces are not conservative: free bodies of model %s conserve their momenta, "
                       "not their energy",
                       model->m->name);

    SP_PASS(allocate_mass(run, model));
    PASS_FILE(path, sp_reduced_mass(run->source->context, &model->body, model->lumped, model->r, model->basis.columns.U,
                                    model->mass, model->gravity));
    return SP_OK;
}

static int find_damping(sp_loaded_scene *run, sp_loaded_model *model)
{
    if (model->m->damping[0] >= 0)
        memcpy(model->damping, model->m->damping, sizeof model->damping);
    else if (!sp_input_damping(&model->mesh.mesh, model->damping))
        return sp_source_fail(run->source, SP_INPUT, model->mesh.path,
                              "its regions have different damping: give model %s one (damping)", model->m->name);
    return SP_OK;
}

static int read_deformation(sp_loaded_scene *run, sp_loaded_model *model, int64_t number)
{
    SP_PASS(sp_scene_input_basis(run->source, &run->input, number, &model->mesh, &model->basis));
    model->r = model->m->r ? model->m->r : model->basis.columns.count;
    SP_PASS(model->m->polynomials ? read_polynomials(run, model) : read_cubature(run, model));
    return find_damping(run, model);
}

int sp_scene_model_force(sp_loaded_scene *run, const sp_loaded_model *model, sp_context *context,
                         sp_reduced_force *force)
{
    const char *path = model->polynomial_force ? model->m->polynomials : model->m->cubature;
    const int status = model->stiffness          ? sp_linear_force_new(context, model->r, model->stiffness, force)
                       : model->polynomial_force ? sp_polynomial_force_share(context, model->polynomial_force, force)
                                                 : sp_cubature_force_new(context, &model->body, &model->cubature,
                                                                         model->r, model->basis.columns.U, force);
    if (status != SP_OK)
        return sp_source_fail(run->source, status, path, "%s", context->message);
    return SP_OK;
}

/* ---- inertia ---- */

static int inertia_of_surface(sp_loaded_scene *run, sp_loaded_model *model)
{
    const char *path = model->m->surface;
    sp_pool pool = {0};
    sp_surface surface = {0};
    int64_t count;
    char *bytes;
    int status;
    SP_TRY(run->source->text(run->source, path, key_of(run, model, "surface"), false, &pool, &count, &bytes));
    SP_TRY(sp_source_about(run->source, path,
                           sp_surface_parse(run->source->context, path, bytes, count, SP_GROUPS_NONE, &surface)));

    status = sp_source_about(run->source, path,
                             sp_inertia_of_surface(run->source->context, &surface, model->m->density, &model->inertia));
    sp_surface_free(&surface);
done:
    sp_pool_free(&pool);
    return status;
}

static int find_inertia(sp_loaded_scene *run, sp_loaded_model *model)
{
    const sp_scene_model *m = model->m;
    sp_context *context = run->source->context;

    if (m->mass > 0)
        PASS_FILE(run->input.path,
                  sp_inertia_of_numbers(context, m->mass, m->mass_centre, m->inertia, &model->inertia));
    else if (m->mesh)
        PASS_FILE(m->mesh, sp_inertia_of_body(context, &model->body, model->lumped, model->r, model->basis.columns.U,
                                              &model->inertia));
    else if (m->surface && m->density > 0)
        SP_PASS(inertia_of_surface(run, model));
    else
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "model %s has no mass, which a body of it needs to move by forces", m->name);

    model->has_inertia = true;
    return SP_OK;
}

/* ---- distances ---- */

static int read_proxies(sp_loaded_scene *run, const sp_loaded_model *model, const char *path, const char *key,
                        sp_deformed_domain *domain)
{
    sp_pointshell pointshell;
    SP_PASS(read_pointshell(run, model, path, key, &pointshell));
    domain->count = pointshell.count;
    domain->points = sp_pool_copy(&run->pool, pointshell.points, 3 * pointshell.count, sizeof(double));
    sp_pointshell_free(&pointshell);
    return sp_scene_allocated(run);
}

/* One domain of the field and proxies of the model, or those that it lists. */
static int read_domains(sp_loaded_scene *run, sp_loaded_model *model)
{
    const sp_scene_model *m = model->m;
    const int64_t count = m->domain_count + (m->proxies != NULL);

    model->domains = sp_pool_new(&run->pool, count, sizeof *model->domains);
    model->domain_fields = sp_pool_new(&run->pool, count, sizeof *model->domain_fields);
    SP_PASS(sp_scene_allocated(run));

    if (m->proxies) {
        model->domains[0].field = &model->field;
        SP_PASS(read_proxies(run, model, m->proxies, "proxies", &model->domains[0]));
        model->domain_count = 1;
    }

    for (int64_t i = 0; i < m->domain_count; i++) {
        const int64_t d = model->domain_count++;
        SP_PASS(read_field(run, model, m->domain_fields[i], "domains", &model->domain_fields[d]));
        model->domains[d].field = &model->domain_fields[d];
        SP_PASS(read_proxies(run, model, m->domain_proxies[i], "domains", &model->domains[d]));
    }
    return SP_OK;
}

static int read_voxmap(sp_loaded_scene *run, sp_loaded_model *model)
{
    sp_field field;
    int status = read_field(run, model, model->m->voxmap, "voxmap", &field);
    if (status != SP_OK)
        return status;
    status =
        sp_source_about(run->source, model->m->voxmap, sp_voxmap_new(run->source->context, &field, &model->voxmap));
    sp_field_free(&field);
    model->distance = (sp_distance){.kind = SP_DISTANCE_VOXMAP, .voxmap = model->voxmap};
    return status;
}

/* A plane, sphere or box. */
static void take_shape(const sp_scene_model *m, sp_distance *d)
{
    static const enum sp_distance_kind kinds[] = {
        [SP_SCENE_PLANE] = SP_DISTANCE_PLANE, [SP_SCENE_SPHERE] = SP_DISTANCE_SPHERE, [SP_SCENE_BOX] = SP_DISTANCE_BOX};
    *d = (sp_distance){.kind = kinds[m->shape]};
    if (m->shape == SP_SCENE_PLANE) {
        d->offset = m->offset;
        memcpy(d->normal, m->normal, sizeof d->normal);
        return;
    }
    memcpy(d->centre, m->centre, sizeof d->centre);
    if (m->shape == SP_SCENE_SPHERE)
        d->radius = m->radius;
    else
        memcpy(d->half, m->half, sizeof d->half);
}

static int read_distances(sp_loaded_scene *run, sp_loaded_model *model)
{
    const sp_scene_model *m = model->m;

    if (m->field)
        SP_PASS(read_field(run, model, m->field, "field", &model->field));

    if (model->r && (m->proxies || m->domain_count)) {
        SP_PASS(read_domains(run, model));
        model->distance.kind = SP_DISTANCE_DEFORMED;
    } else if (m->field) {
        if (model->r)
            return sp_source_fail(run->source, SP_INPUT, run->input.path,
                                  "the field of model %s deforms with it: it needs proxies", m->name);
        sp_distance_of_field(&model->field, &model->distance);
    } else if (m->voxmap)
        SP_PASS(read_voxmap(run, model));
    else if (m->shape != SP_SCENE_NO_GEOMETRY)
        take_shape(m, &model->distance);
    else
        return SP_OK;

    model->has_distance = true;
    return SP_OK;
}

/* ---- all of it ---- */

static void note_motions(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;
    for (int64_t i = 0; i < scene->model_count; i++)
        run->models[i].m = &scene->models[i];
    for (int64_t i = 0; i < scene->body_count; i++) {
        sp_loaded_model *model = &run->models[scene->bodies[i].model];
        model->free |= scene->bodies[i].motion == SP_SCENE_FREE;
        model->guided |= scene->bodies[i].motion != SP_SCENE_FREE;
        model->grasped |= scene->bodies[i].motion == SP_SCENE_COUPLED;
        model->inertial |= scene->bodies[i].inertial;
    }
}

static int load_model(sp_loaded_scene *run, int64_t number)
{
    sp_loaded_model *model = &run->models[number];
    const sp_scene_model *m = model->m;

    if (model->free && model->guided && m->kind != SP_SCENE_RIGID)
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "model %s has free bodies and others: a basis for the ones does not suit the others",
                              m->name);

    if (m->mesh) {
        SP_PASS(sp_scene_input_mesh(run->source, &run->input, number, &model->mesh));
        PASS_FILE(m->mesh, sp_fe_space_new(run->source->context, &model->mesh.mesh, &model->body));
    }

    if (m->kind != SP_SCENE_RIGID)
        SP_PASS(read_deformation(run, model, number));
    if (model->free || model->inertial || (model->grasped && run->input.scene.coupling.kind == SP_SCENE_DYNAMIC))
        SP_PASS(find_inertia(run, model));

    SP_PASS(read_points(run, model));
    return read_distances(run, model);
}

int sp_scene_load_models(sp_loaded_scene *run)
{
    run->models = sp_pool_new(&run->pool, run->input.scene.model_count, sizeof *run->models);
    SP_PASS(sp_scene_allocated(run));
    note_motions(run);
    for (int64_t i = 0; i < run->input.scene.model_count; i++)
        SP_PASS(load_model(run, i));
    return SP_OK;
}

void sp_scene_unload_models(sp_loaded_scene *run)
{
    if (run->models)
        for (int64_t i = 0; i < run->input.scene.model_count; i++) {
            sp_loaded_model *model = &run->models[i];
            sp_contact_pointshell_free(&model->pointshell);
            sp_field_free(&model->field);
            for (int64_t d = 0; d < model->domain_count; d++)
                sp_field_free(&model->domain_fields[d]);

            sp_voxmap_free(model->voxmap);
            sp_inertia_free(&model->inertia);
            sp_polynomial_force_free(model->polynomial_force);
            sp_polynomials_free(&model->polynomials);
            sp_cubature_free(&model->cubature);

            sp_columns_free(&model->basis.columns);
            sp_fe_space_free(&model->body);
            sp_mesh_free(&model->mesh.mesh);
        }

    run->models = NULL;
    sp_pool_free(&run->pool);
}
