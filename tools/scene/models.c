#include "formats/cubature.h"
#include "formats/field.h"
#include "formats/pointshell.h"
#include "formats/polynomials.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "tools/common/model.h"
#include "tools/scene/scene.h"

#include <string.h>

static const char *via(const scene_run *run, const scene_model *model, const char *key)
{
    return tool_scene_via(run->scene, model->m->name, key);
}

/* A file of one kind; recorded [SP_HASH_LENGTH]: the hash that its meta names under `key`, "" where it has none. */
static void read_kind(const scene_run *run, const scene_model *model, const char *path, const char *key,
                      const char *kind, const char *of, char *recorded, sp_file *file)
{
    const char *const kinds[] = {kind, NULL};
    tool_read(path, via(run, model, key), kinds, false, file);
    if (of)
        tool_check(sp_json_hash(run->context, file->meta, of, recorded), path);
}

static void read_field(const scene_run *run, scene_model *model, const char *path, const char *key, sp_field *field)
{
    char mesh[SP_HASH_LENGTH];
    sp_file file;
    read_kind(run, model, path, key, "field", "mesh", mesh, &file);
    if (model->m->mesh)
        tool_check_hash(path, "mesh", mesh, model->mesh.hash);
    const char *sign = json_string_value(json_object_get(file.meta, "sign"));
    if (sign && !strcmp(sign, "none"))
        tool_fail(SP_INPUT, path, "its distances have no sign: nothing would ever be inside (distfield --sign)");
    if (sign && !strcmp(sign, "deformed"))
        tool_fail(SP_INPUT, path, "it is an approximation, whose values are no bounds of distances");
    tool_check(sp_field_read(run->context, &file, field), path);
    sp_file_free(&file);
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += pow(0.5 * field->spacing * (double)field->cells[k], 2);
    model->reach = fmax(model->reach, sqrt(square));
}

static void read_pointshell(const scene_run *run, const scene_model *model, const char *path, const char *key,
                            sp_pointshell *pointshell)
{
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_file file;
    read_kind(run, model, path, key, "pointshell", "mesh", mesh, &file);
    tool_check(sp_json_hash(run->context, file.meta, "basis", basis), path);
    if (model->m->mesh)
        tool_check_hash(path, "mesh", mesh, model->mesh.hash);
    if (model->r && *basis)
        tool_check_hash(path, "basis", basis, model->basis.hash);
    tool_check(sp_pointshell_read(run->context, &file, pointshell), path);
    sp_file_free(&file);
}

static void read_points(const scene_run *run, scene_model *model)
{
    const char *path = model->m->pointshell;
    sp_pointshell pointshell;
    if (!path)
        return;
    read_pointshell(run, model, path, "pointshell", &pointshell);
    if (model->r == 0)
        pointshell.U = pointshell.dN = pointshell.dT = pointshell.a = NULL;
    else if (!pointshell.U)
        tool_fail(SP_INPUT, path,
                  "its points do not move: a shell of a deformable model is made with pointshell --basis");
    else if (pointshell.modes > model->r)
        tool_fail(SP_INPUT, path, "its points move with %lld columns, model %s has %lld coordinates",
                  (long long)pointshell.modes, model->m->name, (long long)model->r);
    if (run->scene->scene.contact.normals == SP_SCENE_TANGENTS && model->r && !pointshell.dT)
        tool_fail(SP_INPUT, path,
                  "it has no tangents for contact.normals \"tangents\": make it with pointshell --normals tangents");
    tool_check(sp_contact_pointshell_new(run->context, &pointshell, &model->pointshell), path);
    sp_pointshell_free(&pointshell);
    model->has_pointshell = true;
}

/* ---- deformation ---- */

static void read_polynomials(scene_run *run, scene_model *model)
{
    const char *path = model->m->polynomials;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    const int64_t r = model->r;
    sp_file file;
    read_kind(run, model, path, "polynomials", "polynomials", NULL, NULL, &file);
    tool_check(sp_polynomials_read(run->context, &file, &model->polynomials, mesh, basis), path);
    sp_file_free(&file);
    tool_check_hash(path, "mesh", mesh, model->mesh.hash);
    tool_check_hash(path, "basis", basis, model->basis.hash);
    tool_check_lumping(path, model->polynomials.lumped, model->basis.columns.lumped, model->m->basis);
    model->lumped = model->polynomials.lumped;
    const int64_t full = model->polynomials.r;
    if (r > full)
        tool_fail(SP_INPUT, path, "it has %lld coordinates, model %s asks for %lld", (long long)full, model->m->name,
                  (long long)r);
    model->mass = tool_allocate(&run->pool, r * r, sizeof(double));
    model->gravity = tool_allocate(&run->pool, 3 * r, sizeof(double));
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < r; i++)
            model->mass[j * r + i] = model->polynomials.density * model->polynomials.mass[j * full + i];
    for (int64_t i = 0; i < 3 * r; i++)
        model->gravity[i] = model->polynomials.density * model->polynomials.gravity[i];
    tool_check(sp_polynomial_force_new(run->context, &model->polynomials, r, &model->polynomial_force), path);
    if (model->m->kind == SP_SCENE_LINEAR) {
        double *rest = tool_allocate(&run->pool, r, sizeof(double));
        model->stiffness = tool_allocate(&run->pool, r * r, sizeof(double));
        sp_polynomial_force_evaluate(model->polynomial_force, rest, NULL, model->stiffness);
    }
}

static void read_cubature(scene_run *run, scene_model *model)
{
    const char *path = model->m->cubature;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    const int64_t r = model->r;
    sp_file file;
    read_kind(run, model, path, "cubature", "cubature", NULL, NULL, &file);
    tool_check(
        sp_cubature_read(run->context, &file, sp_mesh_element_count(&model->mesh.mesh), &model->cubature, mesh, basis),
        path);
    sp_file_free(&file);
    tool_check_hash(path, "mesh", mesh, model->mesh.hash);
    tool_check_hash(path, "basis", basis, model->basis.hash);
    tool_check_lumping(path, model->cubature.lumped, model->basis.columns.lumped, model->m->basis);
    model->lumped = model->basis.columns.lumped;
    if (r > model->cubature.r)
        tool_fail(SP_INPUT, path, "it has %lld coordinates, model %s asks for %lld", (long long)model->cubature.r,
                  model->m->name, (long long)r);
    if (model->cubature.modal && model->free)
        tool_warn(path,
                  "modal cubature forces are not conservative: free bodies of model %s conserve their momenta, not "
                  "their energy",
                  model->m->name);
    model->mass = tool_allocate(&run->pool, r * r, sizeof(double));
    model->gravity = tool_allocate(&run->pool, 3 * r, sizeof(double));
    tool_check(sp_reduced_mass(run->context, &model->body, model->lumped, r, model->basis.columns.U, model->mass,
                               model->gravity),
               path);
}

static void find_damping(scene_model *model)
{
    const sp_mesh *mesh = &model->mesh.mesh;
    const double of_mesh[2] = {mesh->materials[0].damping_mass, mesh->materials[0].damping_stiffness};
    for (int k = 0; k < 2; k++)
        model->damping[k] = model->m->damping[k];
    if (model->damping[0] >= 0)
        return;
    for (int64_t i = 1; i < mesh->material_count; i++)
        if (mesh->materials[i].damping_mass != of_mesh[0] || mesh->materials[i].damping_stiffness != of_mesh[1])
            tool_fail(SP_INPUT, model->mesh.path, "its regions have different damping: give model %s one (damping)",
                      model->m->name);
    model->damping[0] = of_mesh[0];
    model->damping[1] = of_mesh[1];
}

static void read_deformation(scene_run *run, scene_model *model, int64_t number)
{
    tool_scene_basis(run->scene, number, &model->mesh, &model->basis);
    model->r = tool_scene_rank(run->scene, number, &model->basis);
    tool_hold_rows(&model->mesh.mesh, &model->basis);
    if (model->m->polynomials)
        read_polynomials(run, model);
    else
        read_cubature(run, model);
    find_damping(model);
}

void scene_model_force(const scene_model *model, sp_context *context, sp_reduced_force *force)
{
    if (model->stiffness)
        tool_check(sp_linear_force_new(context, model->r, model->stiffness, force), model->m->polynomials);
    else if (model->polynomial_force)
        tool_check(sp_polynomial_force_share(context, model->polynomial_force, force), model->m->polynomials);
    else
        tool_check(
            sp_cubature_force_new(context, &model->body, &model->cubature, model->r, model->basis.columns.U, force),
            model->m->cubature);
}

/* ---- inertia ---- */

static void find_inertia(scene_run *run, scene_model *model, int64_t number)
{
    const sp_scene_model *m = model->m;
    if (m->mass > 0)
        tool_check(sp_inertia_of_numbers(run->context, m->mass, m->mass_centre, m->inertia, &model->inertia),
                   run->scene->path);
    else if (m->mesh)
        tool_check(sp_inertia_of_body(run->context, &model->body, model->lumped, model->r, model->basis.columns.U,
                                      &model->inertia),
                   m->mesh);
    else if (m->surface && m->density > 0) {
        sp_surface surface;
        tool_scene_surface(run->scene, number, &surface);
        tool_check(sp_inertia_of_surface(run->context, &surface, m->density, &model->inertia), m->surface);
        sp_surface_free(&surface);
    } else
        tool_fail(SP_INPUT, run->scene->path, "model %s has no mass, which a body of it needs to move by forces",
                  m->name);
    model->has_inertia = true;
}

/* ---- distances ---- */

static void read_proxies(scene_run *run, const scene_model *model, const char *path, const char *key,
                         sp_deformed_domain *domain)
{
    sp_pointshell pointshell;
    read_pointshell(run, model, path, key, &pointshell);
    double *points = tool_allocate(&run->pool, 3 * pointshell.count, sizeof *points);
    memcpy(points, pointshell.points, (size_t)(3 * pointshell.count) * sizeof *points);
    domain->count = pointshell.count;
    domain->points = points;
    sp_pointshell_free(&pointshell);
}

/* One domain of the field and proxies of the model, or those that it lists. */
static void read_domains(scene_run *run, scene_model *model)
{
    const sp_scene_model *m = model->m;
    const int64_t count = m->domain_count + (m->proxies != NULL);
    model->domains = tool_allocate(&run->pool, count, sizeof *model->domains);
    model->domain_fields = tool_allocate(&run->pool, count, sizeof *model->domain_fields);
    if (m->proxies) {
        model->domains[0].field = &model->field;
        read_proxies(run, model, m->proxies, "proxies", &model->domains[0]);
        model->domain_count = 1;
    }
    for (int64_t i = 0; i < m->domain_count; i++) {
        const int64_t d = model->domain_count++;
        read_field(run, model, m->domain_fields[i], "domains", &model->domain_fields[d]);
        model->domains[d].field = &model->domain_fields[d];
        read_proxies(run, model, m->domain_proxies[i], "domains", &model->domains[d]);
    }
}

static void read_distances(scene_run *run, scene_model *model)
{
    const sp_scene_model *m = model->m;
    sp_distance *d = &model->distance;
    if (m->field)
        read_field(run, model, m->field, "field", &model->field);
    if (model->r && (m->proxies || m->domain_count)) {
        read_domains(run, model);
        d->kind = SP_DISTANCE_DEFORMED;
    } else if (m->field) {
        if (model->r)
            tool_fail(SP_INPUT, run->scene->path, "the field of model %s deforms with it: it needs proxies", m->name);
        sp_distance_of_field(&model->field, d);
    } else if (m->voxmap) {
        sp_field field;
        read_field(run, model, m->voxmap, "voxmap", &field);
        tool_check(sp_voxmap_new(run->context, &field, &model->voxmap), m->voxmap);
        sp_field_free(&field);
        *d = (sp_distance){.kind = SP_DISTANCE_VOXMAP, .voxmap = model->voxmap};
    } else if (m->shape == SP_SCENE_PLANE) {
        *d = (sp_distance){.kind = SP_DISTANCE_PLANE, .offset = m->offset};
        memcpy(d->normal, m->normal, sizeof d->normal);
    } else if (m->shape == SP_SCENE_SPHERE) {
        *d = (sp_distance){.kind = SP_DISTANCE_SPHERE, .radius = m->radius};
        memcpy(d->centre, m->centre, sizeof d->centre);
    } else if (m->shape == SP_SCENE_BOX) {
        *d = (sp_distance){.kind = SP_DISTANCE_BOX};
        memcpy(d->centre, m->centre, sizeof d->centre);
        memcpy(d->half, m->half, sizeof d->half);
    } else
        return;
    model->has_distance = true;
}

/* ---- all of it ---- */

void scene_read_models(scene_run *run)
{
    const sp_scene *scene = &run->scene->scene;
    run->models = tool_allocate(&run->pool, scene->model_count, sizeof *run->models);
    for (int64_t i = 0; i < scene->model_count; i++)
        run->models[i].m = &scene->models[i];
    for (int64_t i = 0; i < scene->body_count; i++) {
        scene_model *model = &run->models[scene->bodies[i].model];
        model->free |= scene->bodies[i].motion == SP_SCENE_FREE;
        model->guided |= scene->bodies[i].motion != SP_SCENE_FREE;
        model->grasped |= scene->bodies[i].motion == SP_SCENE_COUPLED;
    }
    for (int64_t i = 0; i < scene->model_count; i++) {
        scene_model *model = &run->models[i];
        if (model->free && model->guided && model->m->kind != SP_SCENE_RIGID)
            tool_fail(SP_INPUT, run->scene->path,
                      "model %s has free bodies and others: a basis for the ones does not suit the others",
                      model->m->name);
        if (tool_scene_mesh(run->scene, i, &model->mesh))
            tool_check(sp_fe_space_new(run->context, &model->mesh.mesh, &model->body), model->m->mesh);
        if (model->m->kind != SP_SCENE_RIGID)
            read_deformation(run, model, i);
        if (model->free || (model->grasped && scene->coupling.kind == SP_SCENE_DYNAMIC))
            find_inertia(run, model, i);
        read_points(run, model);
        read_distances(run, model);
    }
}

void scene_free_models(scene_run *run)
{
    for (int64_t i = 0; i < run->scene->scene.model_count; i++) {
        scene_model *model = &run->models[i];
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
        if (model->m->mesh) {
            sp_fe_space_free(&model->body);
            sp_mesh_free(&model->mesh.mesh);
        }
    }
    sp_pool_free(&run->pool);
}
