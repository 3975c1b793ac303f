/* Loads of the bodies of a scene, and the joints between them. */
#include "api/loaded_scene.h"
#include "assembly/interface_shares.h"
#include "formats/loads.h"

#include <math.h>
#include <string.h>

static const sp_loaded_model *model_of(const sp_loaded_scene *run, int64_t body)
{
    return &run->models[run->input.scene.bodies[body].model];
}

/* ---- loads ---- */

static int read_loads(sp_loaded_scene *run, int64_t number)
{
    const sp_scene_body *from = &run->input.scene.bodies[number];
    const sp_loaded_model *model = model_of(run, number);
    sp_source *source = run->source;
    int64_t length, count;
    sp_load *loads;
    char *text;

    SP_PASS(source->text(source, from->loads, sp_scene_input_key(&run->input, from->name, "loads"), false,
                         &run->body_pool, &length, &text));

    SP_PASS(sp_source_about(
        source, from->loads,
        sp_loads_parse(source->context, text, length, &model->mesh.mesh, &run->body_pool, &count, &loads)));

    SP_PASS(sp_source_about(source, from->loads,
                            sp_body_loads_new(source->context, &model->body, model->r, model->basis.columns.U, count,
                                              loads, &run->loads[number])));

    run->bodies[number].loads = &run->loads[number];
    return SP_OK;
}

int sp_scene_load_loads(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;
    run->loads = sp_pool_new(&run->body_pool, scene->body_count, sizeof *run->loads);
    SP_PASS(sp_scene_allocated(run));
    for (int64_t i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].loads)
            SP_PASS(read_loads(run, i));
    return SP_OK;
}

void sp_scene_unload_loads(sp_loaded_scene *run)
{
    if (run->loads)
        for (int64_t i = 0; i < run->input.scene.body_count; i++)
            sp_body_loads_free(&run->loads[i]);
    run->loads = NULL;
}

/* ---- joints ---- */

static int find_shares(sp_loaded_scene *run, const sp_mesh *mesh, sp_joint_side *side)
{
    double *share = sp_pool_new(&run->body_pool, side->count, sizeof *share);
    const int status = sp_scene_allocated(run);
    side->share = share;
    if (status != SP_OK)
        return status;
    return sp_source_about(run->source, run->input.path,
                           sp_interface_shares(run->source->context, mesh, side->count, side->vertices, share));
}

/* The vertices of one side of joint `number`; name "": the fixed vertices. */
static int find_interface(sp_loaded_scene *run, int64_t number, int64_t body, const char *name, sp_joint_side *side)
{
    const sp_mesh *mesh = &model_of(run, body)->mesh.mesh;
    const sp_mesh_set *set = *name ? sp_mesh_find_any_set(mesh, name) : NULL;
    const char *const of = run->input.scene.bodies[body].name;
    char sets[200];
    int64_t *vertices;

    if (set) {
        const int status =
            sp_mesh_set_vertices(run->source->context, mesh, set, &run->body_pool, &side->count, &vertices);
        side->vertices = vertices;
        return status == SP_OK ? find_shares(run, mesh, side) : sp_source_about(run->source, run->input.path, status);
    }

    side->count = mesh->fixed_count;
    side->vertices = mesh->fixed;
    if (!*name && mesh->fixed_count > 0)
        return find_shares(run, mesh, side);

    sp_mesh_list_sets(mesh, sets, sizeof sets);
    if (*name)
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "joints[%lld]: the mesh of %s has no set \"%s\"%s%s", (long long)number, of, name,
                              *sets ? ", it has " : ", nor any other", sets);
    return sp_source_fail(run->source, SP_INPUT, run->input.path,
                          "joints[%lld]: the mesh of %s has no fixed vertices: name its interface (child_interface)",
                          (long long)number, of);
}

/* The bodies that have joints, in their order; place [bodies] receives where each is among them. */
static int list_bodies(sp_loaded_scene *run, int64_t **place, int64_t *count, sp_joined_body **bodies)
{
    const sp_scene *scene = &run->input.scene;

    int64_t *list = sp_pool_new(&run->body_pool, scene->body_count, sizeof *list);
    *place = sp_pool_new(&run->body_pool, scene->body_count, sizeof **place);
    *bodies = sp_pool_new(&run->body_pool, scene->body_count, sizeof **bodies);
    *count = 0;
    SP_PASS(sp_scene_allocated(run));

    for (int64_t i = 0; i < scene->body_count; i++) {
        const sp_loaded_model *model = model_of(run, i);
        if (!run->is_joined[i])
            continue;
        (*bodies)[*count] = (sp_joined_body){.name = scene->bodies[i].name,
                                             .free = run->bodies[i].free,
                                             .inertia = &model->inertia,
                                             .places = model->mesh.mesh.vertices,
                                             .U = model->r ? model->basis.columns.U : NULL,
                                             .rows = 3 * model->mesh.mesh.vertex_count};
        list[*count] = i;
        (*place)[i] = (*count)++;
    }

    run->joined.body = list;
    return SP_OK;
}

int sp_scene_load_joints(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;
    const sp_joined_parameters parameters = {.step = run->options.step,
                                             .semi_implicit = run->options.semi_implicit,
                                             .tolerance = run->options.tolerance,
                                             .iterations = run->options.iterations};
    sp_joined_body *bodies;
    int64_t *place, count;

    if (scene->joint_count == 0)
        return SP_OK;
    if (scene->contact.pulse < INFINITY)
        return sp_source_fail(
            run->source, SP_INPUT, run->input.path,
            "contact.pulse: it brakes bodies by their own masses, which are not those of joined bodies");

    sp_joint *joints = sp_pool_new(&run->body_pool, scene->joint_count, sizeof *joints);
    SP_PASS(list_bodies(run, &place, &count, &bodies));

    for (int64_t k = 0; k < scene->joint_count; k++) {
        const sp_scene_joint *from = &scene->joints[k];
        joints[k].child.body = place[from->child];
        SP_PASS(find_interface(run, k, from->child, from->child_interface, &joints[k].child));
        joints[k].parent.body = from->parent < 0 ? -1 : place[from->parent];
        if (from->parent >= 0)
            SP_PASS(find_interface(run, k, from->parent, from->interface, &joints[k].parent));
    }

    SP_PASS(sp_source_about(
        run->source, run->input.path,
        sp_joined_new(run->context, &parameters, count, bodies, scene->joint_count, joints, &run->joined.joined)));

    run->joined.count = count;
    run->joined.neighbour_count = scene->neighbour_count;
    run->joined.neighbours = scene->neighbours;
    return SP_OK;
}

void sp_scene_unload_joints(sp_loaded_scene *run)
{
    sp_joined_free(run->joined.joined);
    run->joined = (sp_contact_scene_joined){0};
}
