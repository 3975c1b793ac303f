#include "model/models.h"
#include "tools/common/memory_left.h"
#include "tools/scene/scene.h"

#include <math.h>
#include <string.h>

static sp_pose path_at(const void *data, double time, double velocity[6])
{
    return sp_path_at(data, time, velocity);
}

/* The hand's path is the device's, whose lengths are α times those of the scene (thesis eq. 4.27). */
static sp_pose hand_at(const void *data, double time, double velocity[6])
{
    const scene_hand *hand = data;
    sp_pose pose = sp_path_at(&hand->path, time, velocity);
    for (int k = 0; k < 3; k++) {
        pose.x[k] /= hand->scale;
        if (velocity)
            velocity[k] /= hand->scale;
    }
    return pose;
}

static void make_free(scene_run *run, const scene_model *model, const sp_scene_body *from, int64_t number)
{
    const sp_free_parameters parameters = {.step = run->choice->step,
                                           .damping_mass = model->damping[0],
                                           .damping_stiffness = model->damping[1],
                                           .decoupled = model->m->decoupled,
                                           .semi_implicit = run->choice->semi_implicit,
                                           .tolerance = run->choice->tolerance,
                                           .iterations = run->choice->iterations,
                                           .workspaces = &run->workspaces};
    sp_contact_scene_body *body = &run->bodies[number];
    sp_reduced_force *force = &run->forces[number];
    if (model->m->most_acceleration > 0)
        tool_fail(SP_INPUT, run->scene->path, "body %s is free: most_acceleration of model %s belongs to others",
                  from->name, model->m->name);
    if (model->r)
        scene_model_force(model, &run->contexts[number], force);
    const int status =
        sp_free_body_new(&run->contexts[number], &model->inertia, model->r ? force : NULL, &parameters, &body->free);
    if (status != SP_OK)
        tool_fail(status, run->scene->path, "body %s: %s", from->name, run->contexts[number].message);
    sp_free_body_place(body->free, &from->pose, from->velocity, from->angular_velocity, NULL, NULL);
    body->inertia = &model->inertia;
    body->context = &run->contexts[number];
}

/* The deformation of a body whose frame stays where it is. */
static void make_system(scene_run *run, const scene_model *model, const sp_scene_body *from, int64_t number)
{
    sp_contact_scene_body *body = &run->bodies[number];
    sp_system *system = &run->systems[number];
    sp_reduced_force force;
    scene_model_force(model, &run->contexts[number], &force);
    const int status = sp_reduced_system_new(&run->contexts[number], &force, model->mass, NULL, 0, NULL, system);
    if (status != SP_OK)
        tool_fail(status, run->scene->path, "body %s: %s", from->name, run->contexts[number].message);
    body->system = system;
    body->gravity = model->gravity;
    memcpy(body->damping, model->damping, sizeof body->damping);
    body->most_acceleration = model->m->most_acceleration;
    if (model->m->most_acceleration > 0 && run->choice->integrator != SP_NEWMARK)
        tool_fail(SP_USAGE, run->scene->path, "most_acceleration of model %s belongs to --integrator newmark",
                  model->m->name);
}

static void make_distance(scene_run *run, scene_model *model, int64_t number)
{
    sp_contact_scene_body *body = &run->bodies[number];
    if (!model->has_distance)
        return;
    body->distance = &model->distance;
    if (model->distance.kind != SP_DISTANCE_DEFORMED)
        return;
    const sp_deformed_field *first = model->deformed;
    const int status =
        first ? sp_deformed_field_share(run->context, first, &body->deformed)
              : sp_deformed_field_new(run->context, &model->mesh.mesh, model->r, model->basis.columns.U,
                                      model->domain_count, model->domains, (int)model->m->nearest, &body->deformed);
    tool_check(status, run->scene->path);
    model->deformed = first ? first : body->deformed;
    run->distances[number] = (sp_distance){
        .kind = SP_DISTANCE_DEFORMED, .deformed = body->deformed, .slack = sqrt(3) * model->domains[0].field->spacing};
    body->distance = &run->distances[number];
}

static void make_body(scene_run *run, int64_t number)
{
    static const enum sp_contact_scene_motion motions[] = {[SP_SCENE_FIXED] = SP_CONTACT_SCENE_FIXED,
                                                           [SP_SCENE_FREE] = SP_CONTACT_SCENE_FREE,
                                                           [SP_SCENE_PATH] = SP_CONTACT_SCENE_PATH,
                                                           [SP_SCENE_COUPLED] = SP_CONTACT_SCENE_COUPLED};
    const sp_scene_body *from = &run->scene->scene.bodies[number];
    scene_model *model = &run->models[from->model];
    sp_contact_scene_body *body = &run->bodies[number];
    run->contexts[number] = *run->context;
    run->contexts[number].threads = 1;
    run->contexts[number].progress = NULL;
    *body = (sp_contact_scene_body){.name = from->name,
                                    .motion = motions[from->motion],
                                    .pose = from->pose,
                                    .thickness = model->m->thickness,
                                    .r = model->r,
                                    .pointshell = model->has_pointshell ? &model->pointshell : NULL};
    make_distance(run, model, number);
    if (from->motion == SP_SCENE_FREE)
        make_free(run, model, from, number);
    else if (model->r)
        make_system(run, model, from, number);
    if (from->motion == SP_SCENE_PATH) {
        tool_scene_path(run->scene, from->name, from->path, &run->paths[number]);
        body->path = path_at;
        body->path_data = &run->paths[number];
        body->pose = sp_path_at(&run->paths[number], 0, NULL);
    }
    if (model->has_inertia)
        body->inertia = &model->inertia;
    run->r += model->r;
}

/* ---- contact pairs ---- */

static bool moves(const sp_contact_scene_body *body)
{
    return body->motion != SP_CONTACT_SCENE_FIXED || body->system;
}

/* The pairs that the scene lists; without a list the contact scene tests all bodies. */
static void list_pairs(scene_run *run)
{
    const sp_scene *scene = &run->scene->scene;
    run->pair_count = scene->pairs_given ? scene->pair_count : 0;
    run->pairs = tool_allocate(&run->pool, run->pair_count, sizeof *run->pairs);
    for (int64_t i = 0; i < run->pair_count; i++)
        run->pairs[i] = (sp_contact_scene_pair){scene->pairs[i].pointshell, scene->pairs[i].field};
}

/* A length of the body that is grasped, by which turning is compared with moving. */
static double size_of(const scene_model *model)
{
    const sp_distance *d = &model->distance;
    if (model->has_pointshell)
        return model->pointshell.extent;
    if (d->kind == SP_DISTANCE_SPHERE)
        return d->radius;
    if (d->kind == SP_DISTANCE_BOX)
        return sqrt(sp_dot3(d->half, d->half));
    return model->reach > 0 ? model->reach : 1; /* a plane has no size */
}

static void couple(scene_run *run, sp_contact_scene_coupling *coupling)
{
    const sp_scene *scene = &run->scene->scene;
    *coupling = (sp_contact_scene_coupling){.body = -1};
    if (scene->coupling.kind == SP_SCENE_NO_COUPLING)
        return;
    const scene_model *model = &run->models[scene->bodies[scene->coupling.body].model];
    /* what one point pushes at the permitted depth (thesis §4.9) */
    const double saturation =
        fmin(scene->coupling.saturation, scene->contact.stiffness * scene->coupling.saturation_depth);
    run->hand.scale = scene->coupling.device_scale;
    tool_scene_path(run->scene, "coupling", scene->coupling.path, &run->hand.path);
    *coupling = (sp_contact_scene_coupling){
        .body = scene->coupling.body,
        .dynamic = scene->coupling.kind == SP_SCENE_DYNAMIC,
        .path = hand_at,
        .path_data = &run->hand,
        .normals = scene->coupling.gradient == SP_SCENE_NORMAL,
        .device_force = scene->coupling.device_force,
        .device_torque = scene->coupling.device_torque,
        .parameters = {.stiffness = scene->coupling.stiffness,
                       .torque_stiffness = scene->coupling.torque_stiffness,
                       .saturation = saturation,
                       .torque_saturation = scene->coupling.torque_saturation,
                       .static_damping = scene->coupling.static_damping,
                       .speed = scene->coupling.speed,
                       .angular_speed = scene->coupling.angular_speed,
                       .threshold = scene->coupling.threshold,
                       .length = scene->coupling.length > 0 ? scene->coupling.length : size_of(model),
                       .damping = scene->coupling.damping,
                       .torque_damping = scene->coupling.torque_damping}};
    memcpy(coupling->grasp, scene->coupling.grasp, sizeof coupling->grasp);
}

/* Bodies that take semi-implicit steps by the same polynomials, where they are many. */
static void make_batches(scene_run *run)
{
    enum { FEWEST = 8 };
    const sp_scene *scene = &run->scene->scene;
    run->batches = tool_allocate(&run->pool, scene->model_count, sizeof *run->batches);
    for (int64_t m = 0; m < scene->model_count && run->choice->semi_implicit; m++) {
        const scene_model *model = &run->models[m];
        sp_contact_scene_batch *batch = &run->batches[run->batch_count];
        if (!model->free || !model->polynomial_force || model->stiffness)
            continue;
        int64_t *body = tool_allocate(&run->pool, scene->body_count, sizeof *body), count = 0;
        sp_reduced_force *forces = tool_allocate(&run->pool, scene->body_count, sizeof *forces);
        for (int64_t i = 0; i < scene->body_count; i++)
            if (scene->bodies[i].model == m && run->bodies[i].free) {
                forces[count] = run->forces[i];
                body[count++] = i;
            }
        if (count < FEWEST)
            continue;
        tool_check(sp_polynomial_batch_new(run->context, model->polynomial_force, count, forces, &batch->batch), NULL);
        batch->count = count;
        batch->body = body;
        run->batch_count++;
    }
}

static sp_contact_scene_parameters contact_parameters(const scene_run *run)
{
    static const enum sp_penalty_direction directions[] = {[SP_SCENE_BY_GEOMETRY] = SP_PENALTY_BY_GEOMETRY,
                                                           [SP_SCENE_BY_NORMAL] = SP_PENALTY_NORMAL,
                                                           [SP_SCENE_BY_GRADIENT] = SP_PENALTY_GRADIENT};
    const sp_scene *scene = &run->scene->scene;
    const simulate_choice *choice = run->choice;
    sp_contact_scene_parameters p = {
        .step = choice->step,
        .penalty = {.stiffness = scene->contact.stiffness,
                    .damping = scene->contact.damping,
                    .limit = scene->contact.limit,
                    .by_area = scene->contact.weights == SP_SCENE_AREA,
                    .direction = directions[scene->contact.direction],
                    .tangents = scene->contact.normals == SP_SCENE_TANGENTS},
        .pulse = scene->contact.pulse,
        .friction = scene->contact.friction,
        .limits = {.warm = scene->traversal.warm,
                   .cold = scene->traversal.cold,
                   .cost = scene->traversal.budget == SP_SCENE_COST,
                   .contact_cost = scene->traversal.contact_cost,
                   .coherence = scene->traversal.coherence,
                   .tree = scene->traversal.tree,
                   .levels = (int)fmin((double)scene->traversal.levels, SP_POINTSHELL_LEVELS_MAX)},
        .integrator = {.kind = (enum sp_integrator_kind)choice->integrator,
                       .beta = choice->beta_given ? choice->beta : 0.25,
                       .gamma = choice->gamma,
                       .semi_implicit = choice->semi_implicit,
                       .tolerance = choice->tolerance,
                       .iterations = choice->iterations}};
    memcpy(p.gravity, scene->gravity, sizeof p.gravity);
    return p;
}

/* For the step of the largest model. */
static void make_workspaces(scene_run *run)
{
    int64_t r = 0;
    for (int64_t i = 0; i < run->scene->scene.model_count; i++)
        r = run->models[i].r > r ? run->models[i].r : r;
    sp_free_workspaces_new(&run->pool, run->context->threads, r, &run->workspaces);
    if (run->pool.failed)
        tool_check(sp_fail_memory(run->context), run->scene->path);
}

/* Refuses what contact cannot do for a pair, and counts the directions of forces: of `count` pairs of bodies like
 * these. */
static void check_pairs(scene_run *run, const sp_contact_scene_pair *pair, int64_t count, const sp_penalty *penalty)
{
    const sp_scene *scene = &run->scene->scene;
    const sp_contact_scene_body *a = &run->bodies[pair->pointshell], *b = &run->bodies[pair->field];
    const char *const points = scene->bodies[pair->pointshell].name, *const other = scene->bodies[pair->field].name;
    if (!b->distance)
        return;
    run->pairs_by_gradient += sp_penalty_by_gradient(penalty, b->distance) ? count : 0;
    run->pairs_by_normal += sp_penalty_by_gradient(penalty, b->distance) ? 0 : count;
    if (b->distance->kind != SP_DISTANCE_VOXMAP)
        return;
    run->pairs_by_voxmap += count;
    if (scene->contact.direction == SP_SCENE_BY_GRADIENT)
        tool_fail(SP_INPUT, run->scene->path,
                  "contact.direction: gradient, but the voxmap of %s has no distances and so no gradient: use shape or "
                  "normal, or a field",
                  other);
    if (scene->contact.pulse < INFINITY && !a->inertia && !b->inertia)
        tool_fail(SP_INPUT, run->scene->path, "contact.pulse: neither %s nor %s has a mass to brake", points, other);
}

/* Bodies of one model with distances that move, or that do not. */
typedef struct alike {
    int64_t count, first, last;
} alike;

/* The points of every body against the distances of every other one, where either moves, by bodies that are alike. */
static void check_all(scene_run *run, const sp_penalty *penalty)
{
    const sp_scene *scene = &run->scene->scene;
    alike *fields = tool_allocate(&run->pool, 2 * scene->model_count, sizeof *fields);
    for (int64_t i = 0; i < scene->body_count; i++) {
        alike *a = &fields[2 * scene->bodies[i].model + moves(&run->bodies[i])];
        if (!run->bodies[i].distance)
            continue;
        a->first = a->count++ ? a->first : i;
        a->last = i;
    }
    for (int64_t i = 0; i < scene->body_count; i++)
        for (int64_t f = 0; f < 2 * scene->model_count && run->bodies[i].pointshell; f++) {
            const alike *a = &fields[f];
            const bool own = run->bodies[i].distance && f == 2 * scene->bodies[i].model + moves(&run->bodies[i]);
            if (a->count - own > 0 && (f % 2 || moves(&run->bodies[i])))
                check_pairs(run, &(sp_contact_scene_pair){i, a->first == i ? a->last : a->first}, a->count - own,
                            penalty);
        }
}

void scene_make_contact(scene_run *run)
{
    const sp_scene *scene = &run->scene->scene;
    const int64_t n = scene->body_count;
    run->bodies = tool_allocate(&run->pool, n, sizeof *run->bodies);
    run->distances = tool_allocate(&run->pool, n, sizeof *run->distances);
    run->systems = tool_allocate(&run->pool, n, sizeof *run->systems);
    run->paths = tool_allocate(&run->pool, n, sizeof *run->paths);
    run->contexts = tool_allocate(&run->pool, n, sizeof *run->contexts);
    run->forces = tool_allocate(&run->pool, n, sizeof *run->forces);
    make_workspaces(run);
    for (int64_t i = 0; i < n; i++)
        make_body(run, i);
    list_pairs(run);
    sp_contact_scene_parameters parameters = contact_parameters(run);
    for (int64_t i = 0; i < run->pair_count; i++)
        check_pairs(run, &run->pairs[i], 1, &parameters.penalty);
    if (!scene->pairs_given)
        check_all(run, &parameters.penalty);
    if (scene->contact.pulse < INFINITY && run->pairs_by_voxmap == 0)
        tool_fail(SP_INPUT, run->scene->path,
                  "contact.pulse: it brakes points in the proximity voxels of a voxmap, and no points here meet one");
    make_batches(run);
    couple(run, &parameters.coupling);
    parameters.batch_count = run->batch_count;
    parameters.batches = run->batches;
    parameters.all = !scene->pairs_given;
    parameters.memory = tool_memory_left();
    tool_check(sp_contact_scene_new(run->context, &parameters, n, run->bodies, run->pair_count, run->pairs,
                                    !scene->pairs_given, &run->contact),
               run->scene->path);
}

void scene_free_contact(scene_run *run)
{
    sp_contact_scene_free(run->contact);
    for (int64_t i = 0; i < run->batch_count; i++)
        sp_polynomial_batch_free(run->batches[i].batch);
    for (int64_t i = 0; i < run->scene->scene.body_count; i++) {
        sp_free_body_free(run->bodies[i].free);
        if (run->bodies[i].system)
            sp_reduced_system_free(&run->systems[i]);
        sp_deformed_field_free(run->bodies[i].deformed);
        sp_path_free(&run->paths[i]);
    }
    sp_path_free(&run->hand.path);
}
