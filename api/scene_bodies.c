/* Bodies of a scene, their pairs, and the contact scene. */
#include "api/loaded_scene.h"

#include <math.h>
#include <string.h>

/* ---- poses that are driven ---- */

/* The pose that was set, moved on with its velocity from then on. */
static sp_pose pose_since(const sp_driven_pose *driven, double time)
{
    const double h = time - driven->since, *w = driven->twist + 3, angle = h * sqrt(sp_dot3(w, w));
    sp_pose pose = driven->pose;
    for (int k = 0; k < 3; k++)
        pose.x[k] += h * driven->twist[k];
    if (angle != 0) {
        const double s = sin(0.5 * angle) / (angle / h), turn[4] = {cos(0.5 * angle), s * w[0], s * w[1], s * w[2]};
        sp_quaternion_multiply(turn, pose.q, pose.q);
        sp_quaternion_normalize(pose.q);
    }
    return pose;
}

/* Lengths of a device are α times those of the scene (thesis eq. 4.27). */
sp_pose sp_scene_device_at(const void *data, double time, double velocity[6])
{
    const sp_driven_pose *driven = data;
    if (driven->set) {
        if (velocity)
            memcpy(velocity, driven->twist, sizeof driven->twist);
        return pose_since(driven, time);
    }
    sp_pose pose = sp_path_at(&driven->path, time, velocity);
    for (int k = 0; k < 3; k++) {
        pose.x[k] /= driven->scale;
        if (velocity)
            velocity[k] /= driven->scale;
    }
    return pose;
}

sp_clutch sp_scene_clutch_at(const sp_driven_pose *driven, double time)
{
    return driven->clutched ? driven->clutch : sp_clutch_at(&driven->clutch_times, time);
}

/* The pose that is driven: that of the device, with the offset of its clutch. */
static sp_pose pose_at(const void *data, double time, double velocity[6])
{
    const sp_driven_pose *driven = data;
    const sp_pose device = sp_scene_device_at(driven, time, velocity);
    if (!driven->clutched && driven->clutch_times.count == 0)
        return device;

    const sp_clutch clutch = sp_scene_clutch_at(driven, time);
    return sp_clutch_pose(&clutch, &device, velocity);
}

void sp_scene_driven_velocity(const sp_driven_pose *driven, double now, double velocity[6])
{
    (void)pose_at(driven, now, velocity);
}

/* The path whose accelerations a body feels. */
static sp_pose felt_at(const void *data, double time, double velocity[6])
{
    const sp_driven_pose *driven = data;
    const sp_pose pose = pose_at(data, time, velocity);
    if (driven->set && velocity && time < driven->felt)
        memcpy(velocity, driven->before, sizeof driven->before);
    return pose;
}

/* ---- bodies ---- */

/* The failure of a call with the context of a body. */
static int fail_body(sp_loaded_scene *run, int64_t number, int status)
{
    return sp_source_fail(run->source, status, run->input.path, "body %s: %s", run->input.scene.bodies[number].name,
                          run->contexts[number].message);
}

static int make_free(sp_loaded_scene *run, const sp_loaded_model *model, int64_t number)
{
    const sp_scene_body *from = &run->input.scene.bodies[number];
    const sp_free_parameters parameters = {.step = run->options.step,
                                           .damping_mass = model->damping[0],
                                           .damping_stiffness = model->damping[1],
                                           .decoupled = model->m->decoupled,
                                           .semi_implicit = run->options.semi_implicit,
                                           .tolerance = run->options.tolerance,
                                           .iterations = run->options.iterations,
                                           .workspaces = run->is_joined[number] ? NULL : &run->workspaces};
    sp_contact_scene_body *body = &run->bodies[number];
    sp_reduced_force *force = &run->forces[number];
    int status = SP_OK;

    if (model->m->most_acceleration > 0)
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "body %s is free: most_acceleration of model %s belongs to others", from->name,
                              model->m->name);

    if (model->r)
        status = sp_scene_model_force(run, model, &run->contexts[number], force);
    if (status != SP_OK)
        return status;

    status =
        sp_free_body_new(&run->contexts[number], &model->inertia, model->r ? force : NULL, &parameters, &body->free);
    if (status != SP_OK)
        return fail_body(run, number, status);

    sp_free_body_place(body->free, &from->pose, from->velocity, from->angular_velocity, NULL, NULL);
    body->inertia = &model->inertia;
    body->context = &run->contexts[number];
    return SP_OK;
}

/* The deformation of a body whose frame stays where it is. */
static int make_system(sp_loaded_scene *run, const sp_loaded_model *model, int64_t number)
{
    sp_contact_scene_body *body = &run->bodies[number];
    sp_system *system = &run->systems[number];
    sp_reduced_force force;

    if (model->m->most_acceleration > 0 && run->options.integrator != SP_NEWMARK)
        return sp_source_fail(run->source, SP_USAGE, run->input.path,
                              "most_acceleration of model %s belongs to --integrator newmark", model->m->name);

    int status = sp_scene_model_force(run, model, &run->contexts[number], &force);
    if (status != SP_OK)
        return status;
    status = sp_reduced_system_new(&run->contexts[number], &force, model->mass, NULL, 0, NULL, system);
    if (status != SP_OK)
        return fail_body(run, number, status);

    body->system = system;
    body->gravity = model->gravity;
    memcpy(body->damping, model->damping, sizeof body->damping);
    body->most_acceleration = model->m->most_acceleration;
    return SP_OK;
}

static int make_distance(sp_loaded_scene *run, sp_loaded_model *model, int64_t number)
{
    sp_contact_scene_body *body = &run->bodies[number];

    if (!model->has_distance)
        return SP_OK;
    body->distance = &model->distance;
    if (model->distance.kind != SP_DISTANCE_DEFORMED)
        return SP_OK;

    /* Bodies of one model share what does not depend on their deformation. */
    const sp_deformed_field *first = model->deformed;
    const int status =
        first ? sp_deformed_field_share(run->source->context, first, &body->deformed)
              : sp_deformed_field_new(run->source->context, &model->mesh.mesh, model->r, model->basis.columns.U,
                                      model->domain_count, model->domains, (int)model->m->nearest, &body->deformed);

    if (status != SP_OK)
        return sp_source_about(run->source, run->input.path, status);
    model->deformed = first ? first : body->deformed;

    run->distances[number] = (sp_distance){
        .kind = SP_DISTANCE_DEFORMED, .deformed = body->deformed, .slack = sqrt(3) * model->domains[0].field->spacing};
    body->distance = &run->distances[number];
    return SP_OK;
}

static int read_path(sp_loaded_scene *run, int64_t number)
{
    const sp_scene_body *from = &run->input.scene.bodies[number];
    sp_contact_scene_body *body = &run->bodies[number];
    SP_PASS(sp_scene_input_path(run->source, &run->input, from->name, from->path, &run->paths[number].path));
    run->paths[number].scale = 1;
    body->path = pose_at;
    body->path_data = &run->paths[number];
    body->pose = pose_at(body->path_data, 0, NULL);
    return SP_OK;
}

static void feel_frame(const sp_loaded_model *model, sp_contact_scene_body *body)
{
    body->frame_inertia = &model->inertia;
    body->frame_scale = model->polynomial_force ? model->polynomials.density : 1;
    body->felt_path = felt_at;
}

static int make_body(sp_loaded_scene *run, int64_t number)
{
    static const enum sp_contact_scene_motion motions[] = {[SP_SCENE_FIXED] = SP_CONTACT_SCENE_FIXED,
                                                           [SP_SCENE_FREE] = SP_CONTACT_SCENE_FREE,
                                                           [SP_SCENE_PATH] = SP_CONTACT_SCENE_PATH,
                                                           [SP_SCENE_COUPLED] = SP_CONTACT_SCENE_COUPLED};
    const sp_scene_body *from = &run->input.scene.bodies[number];
    sp_loaded_model *model = &run->models[from->model];
    sp_contact_scene_body *body = &run->bodies[number];

    run->contexts[number] = *run->source->context;
    run->contexts[number].threads = 1;
    run->contexts[number].progress = NULL;

    *body = (sp_contact_scene_body){.name = from->name,
                                    .motion = motions[from->motion],
                                    .pose = from->pose,
                                    .thickness = model->m->thickness,
                                    .r = model->r,
                                    .pointshell = model->has_pointshell ? &model->pointshell : NULL};

    SP_PASS(make_distance(run, model, number));
    if (from->motion == SP_SCENE_FREE)
        SP_PASS(make_free(run, model, number));
    else if (model->r)
        SP_PASS(make_system(run, model, number));

    if (from->motion == SP_SCENE_PATH)
        SP_PASS(read_path(run, number));

    if (from->inertial)
        feel_frame(model, body);
    else if (model->has_inertia)
        body->inertia = &model->inertia;
    run->r += model->r;
    return SP_OK;
}

/* ---- contact pairs ---- */

static bool moves(const sp_contact_scene_body *body)
{
    return body->motion != SP_CONTACT_SCENE_FIXED || body->system;
}

/* The pairs that the scene lists; without a list the contact scene tests all bodies. */
static int list_pairs(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;
    run->pair_count = scene->pairs_given ? scene->pair_count : 0;
    run->pairs = sp_pool_new(&run->body_pool, run->pair_count, sizeof *run->pairs);
    if (run->pairs)
        for (int64_t i = 0; i < run->pair_count; i++)
            run->pairs[i] = (sp_contact_scene_pair){scene->pairs[i].pointshell, scene->pairs[i].field};
    return sp_scene_allocated(run);
}

/* A length of the body that is grasped, by which turning is compared with moving. */
static double size_of(const sp_loaded_model *model)
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

/* Speeds that are chosen: static coupling moves the body by at most 1 % of its size, and 0.01 rad, in a cycle (thesis
 * §4.6), so that it does not jump where a whole step leads out of contact or far into it. */
static void limit_speed(sp_coupling_parameters *p, bool dynamic, double step)
{
    const double share = dynamic ? INFINITY : 0.01;
    if (p->speed == 0)
        p->speed = share * p->length / step;
    if (p->angular_speed == 0)
        p->angular_speed = share / step;
}

/* When the clutch of the device is held: by the lines of its path, or by the scene. */
static int time_clutch(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;
    const sp_path *path = &run->hand.path;
    const int64_t spans = scene->coupling.clutch_count;
    sp_clutch_times *times = &run->hand.clutch_times;
    int64_t count = 0;

    if (!path->clutch && spans == 0)
        return SP_OK;
    if (path->clutch && spans > 0)
        return sp_source_fail(run->source, SP_INPUT, scene->coupling.path,
                              "it has a clutch, and so has coupling.clutch of the scene, expected one of both");

    double *time = sp_pool_new(&run->body_pool, path->clutch ? path->count : 2 * spans, sizeof *time);
    if (!time)
        return sp_scene_allocated(run);
    if (path->clutch) {
        for (int64_t i = 0; i < path->count; i++)
            if (path->clutch[i] != (i > 0 && path->clutch[i - 1]))
                time[count++] = path->time[i];
    } else
        for (; count < 2 * spans; count++)
            time[count] = scene->coupling.clutch[count];

    sp_clutch *since = sp_pool_new(&run->body_pool, count, sizeof *since);
    if (count > 0 && !since)
        return sp_scene_allocated(run);
    *times = (sp_clutch_times){count, time, since};
    sp_clutch_times_begin(times, sp_scene_device_at, &run->hand);
    return SP_OK;
}

static int couple(sp_loaded_scene *run, sp_contact_scene_coupling *coupling)
{
    const sp_scene *scene = &run->input.scene;
    *coupling = (sp_contact_scene_coupling){.body = -1};
    if (scene->coupling.kind == SP_SCENE_NO_COUPLING)
        return SP_OK;

    const sp_loaded_model *model = &run->models[scene->bodies[scene->coupling.body].model];
    /* What one point pushes at the permitted depth (thesis §4.9). */
    const double saturation = fmin(scene->coupling.saturation, run->stiffness * scene->coupling.saturation_depth);

    run->hand.scale = scene->coupling.device_scale;
    int status = sp_scene_input_device(run->source, &run->input, &run->hand.path);
    if (status == SP_OK)
        status = time_clutch(run);
    if (status != SP_OK)
        return status;

    *coupling = (sp_contact_scene_coupling){
        .body = scene->coupling.body,
        .dynamic = scene->coupling.kind == SP_SCENE_DYNAMIC,
        .path = pose_at,
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

    limit_speed(&coupling->parameters, coupling->dynamic, run->options.step);
    memcpy(coupling->grasp, scene->coupling.grasp, sizeof coupling->grasp);
    return SP_OK;
}

/* Bodies that take semi-implicit steps by the same polynomials, where they are many. */
static int make_batch(sp_loaded_scene *run, int64_t number)
{
    enum { FEWEST = 8 };

    const sp_scene *scene = &run->input.scene;
    const sp_loaded_model *model = &run->models[number];
    sp_contact_scene_batch *batch = &run->batches[run->batch_count];
    int64_t *body = sp_pool_new(&run->body_pool, scene->body_count, sizeof *body), count = 0;
    sp_reduced_force *forces = sp_pool_new(&run->body_pool, scene->body_count, sizeof *forces);
    int status = sp_scene_allocated(run);

    for (int64_t i = 0; status == SP_OK && i < scene->body_count; i++)
        if (scene->bodies[i].model == number && run->bodies[i].free && !run->is_joined[i]) {
            forces[count] = run->forces[i];
            body[count++] = i;
        }

    if (status != SP_OK || count < FEWEST)
        return status;

    status = sp_polynomial_batch_new(run->source->context, model->polynomial_force, count, forces, &batch->batch);
    if (status != SP_OK)
        return sp_source_about(run->source, NULL, status);

    batch->count = count;
    batch->body = body;
    run->batch_count++;
    return SP_OK;
}

static int make_batches(sp_loaded_scene *run)
{
    const int64_t models = run->input.scene.model_count;
    run->batches = sp_pool_new(&run->body_pool, models, sizeof *run->batches);
    int status = sp_scene_allocated(run);
    if (!run->options.semi_implicit)
        return status;

    for (int64_t m = 0; status == SP_OK && m < models; m++)
        if (run->models[m].free && run->models[m].polynomial_force && !run->models[m].stiffness)
            status = make_batch(run, m);
    return status;
}

static sp_contact_scene_parameters contact_parameters(const sp_loaded_scene *run)
{
    static const enum sp_penalty_direction directions[] = {[SP_SCENE_BY_GEOMETRY] = SP_PENALTY_BY_GEOMETRY,
                                                           [SP_SCENE_BY_NORMAL] = SP_PENALTY_NORMAL,
                                                           [SP_SCENE_BY_GRADIENT] = SP_PENALTY_GRADIENT};

    const sp_scene *scene = &run->input.scene;
    const sp_scene_options *options = &run->options;

    sp_contact_scene_parameters p = {
        .step = options->step,
        .penalty = {.stiffness = scene->contact.stiffness,
                    .damping = scene->contact.damping,
                    .limit = scene->contact.limit,
                    .by_area = scene->contact.weights == SP_SCENE_AREA,
                    .direction = directions[scene->contact.direction],
                    .tangents = scene->contact.normals == SP_SCENE_TANGENTS},
        .coupling.dynamic = scene->coupling.kind == SP_SCENE_DYNAMIC,
        .pulse = scene->contact.pulse,
        .friction = scene->contact.friction,
        .limits = {.warm = scene->traversal.warm,
                   .cold = scene->traversal.cold,
                   .cost = scene->traversal.budget == SP_SCENE_COST,
                   .contact_cost = scene->traversal.contact_cost,
                   .coherence = scene->traversal.coherence,
                   .tree = scene->traversal.tree,
                   .levels = (int)fmin((double)scene->traversal.levels, SP_POINTSHELL_LEVELS_MAX)},
        .integrator = {.kind = options->integrator,
                       .beta = options->beta,
                       .gamma = options->gamma,
                       .semi_implicit = options->semi_implicit,
                       .tolerance = options->tolerance,
                       .iterations = options->iterations}};

    memcpy(p.gravity, scene->gravity, sizeof p.gravity);
    return p;
}

static bool any_points(const sp_loaded_scene *run)
{
    for (int64_t i = 0; i < run->input.scene.body_count; i++)
        if (run->bodies[i].pointshell)
            return true;
    return false;
}

/* The stiffness of the scene, or the one that is chosen from masses, gravity and sizes. Without points there is no
 * contact, and none is needed. */
static int find_stiffness(sp_loaded_scene *run, sp_contact_scene_parameters *parameters)
{
    const sp_scene *scene = &run->input.scene;

    run->stiffness = scene->contact.stiffness;
    run->choice.stiffness = 0;
    if (run->stiffness > 0 || !any_points(run))
        return SP_OK;

    sp_context *context = run->source->context;
    const int status = sp_contact_choose(context, parameters, scene->body_count, run->bodies, &run->choice);
    if (status != SP_OK) {
        char why[sizeof context->message];
        memcpy(why, context->message, sizeof why);
        return sp_source_fail(run->source, status, run->input.path,
                              "contact.stiffness: it is not there, and %s: state it", why);
    }

    parameters->penalty.stiffness = run->stiffness = run->choice.stiffness;
    return SP_OK;
}

/* For the step of the largest model. */
static int make_workspaces(sp_loaded_scene *run)
{
    int64_t r = 0;
    for (int64_t i = 0; i < run->input.scene.model_count; i++)
        r = run->models[i].r > r ? run->models[i].r : r;
    sp_free_workspaces_new(&run->body_pool, run->source->context->threads, r, &run->workspaces);
    return sp_scene_allocated(run);
}

/* Refuses what contact cannot do for a pair, and counts the directions of forces: of `count` pairs of bodies like
 * these. */
static int check_pairs(sp_loaded_scene *run, const sp_contact_scene_pair *pair, int64_t count,
                       const sp_penalty *penalty)
{
    const sp_scene *scene = &run->input.scene;
    const sp_contact_scene_body *a = &run->bodies[pair->pointshell], *b = &run->bodies[pair->field];
    const char *const points = scene->bodies[pair->pointshell].name, *const other = scene->bodies[pair->field].name;

    if (!b->distance)
        return SP_OK;

    run->pairs_by_gradient += sp_penalty_by_gradient(penalty, b->distance) ? count : 0;
    run->pairs_by_normal += sp_penalty_by_gradient(penalty, b->distance) ? 0 : count;
    if (b->distance->kind != SP_DISTANCE_VOXMAP)
        return SP_OK;

    run->pairs_by_voxmap += count;

    if (scene->contact.direction == SP_SCENE_BY_GRADIENT)
        return sp_source_fail(
            run->source, SP_INPUT, run->input.path,
            "contact.direction: gradient, but the voxmap of %s has no distances and so no gradient: use shape or "
            "normal, or a field",
            other);

    if (scene->contact.pulse < INFINITY && !a->inertia && !b->inertia)
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "contact.pulse: neither %s nor %s has a mass to brake", points, other);
    return SP_OK;
}

/* Bodies of one model with distances that move, or that do not. */
typedef struct alike {
    int64_t count, first, last;
} alike;

/* Takes pairs of bodies that a joint connects out of the counts: they are no pairs unless they are listed. */
static void discount_neighbours(sp_loaded_scene *run, const sp_penalty *penalty)
{
    const sp_scene *scene = &run->input.scene;
    for (int64_t k = 0; k < 2 * scene->neighbour_count; k++) {
        const sp_contact_scene_body *a = &run->bodies[scene->neighbours[k]],
                                    *b = &run->bodies[scene->neighbours[k ^ 1]];
        if (!a->pointshell || !b->distance)
            continue;
        run->pairs_by_gradient -= sp_penalty_by_gradient(penalty, b->distance);
        run->pairs_by_normal -= !sp_penalty_by_gradient(penalty, b->distance);
        run->pairs_by_voxmap -= b->distance->kind == SP_DISTANCE_VOXMAP;
    }
}

/* The points of every body against the distances of every other one, where either moves, by bodies that are alike. */
static int check_all(sp_loaded_scene *run, const sp_penalty *penalty)
{
    const sp_scene *scene = &run->input.scene;
    alike *fields = sp_pool_new(&run->body_pool, 2 * scene->model_count, sizeof *fields);

    int status = sp_scene_allocated(run);
    for (int64_t i = 0; status == SP_OK && i < scene->body_count; i++) {
        alike *a = &fields[2 * scene->bodies[i].model + moves(&run->bodies[i])];
        if (!run->bodies[i].distance)
            continue;
        a->first = a->count++ ? a->first : i;
        a->last = i;
    }

    /* Of the bodies that are alike one other than i stands for all of them. */
    for (int64_t i = 0; i < scene->body_count; i++) {
        const int64_t groups = run->bodies[i].pointshell ? 2 * scene->model_count : 0;
        for (int64_t f = 0; status == SP_OK && f < groups; f++) {
            const alike *a = &fields[f];
            const bool own = run->bodies[i].distance && f == 2 * scene->bodies[i].model + moves(&run->bodies[i]);
            if (a->count - own > 0 && (f % 2 || moves(&run->bodies[i])))
                status = check_pairs(run, &(sp_contact_scene_pair){i, a->first == i ? a->last : a->first},
                                     a->count - own, penalty);
        }
    }
    return status;
}

static int allocate_bodies(sp_loaded_scene *run)
{
    const int64_t n = run->input.scene.body_count;
    run->bodies = sp_pool_new(&run->body_pool, n, sizeof *run->bodies);
    run->distances = sp_pool_new(&run->body_pool, n, sizeof *run->distances);
    run->systems = sp_pool_new(&run->body_pool, n, sizeof *run->systems);
    run->paths = sp_pool_new(&run->body_pool, n, sizeof *run->paths);
    run->contexts = sp_pool_new(&run->body_pool, n, sizeof *run->contexts);
    run->forces = sp_pool_new(&run->body_pool, n, sizeof *run->forces);
    run->is_joined = sp_pool_new(&run->body_pool, n, sizeof *run->is_joined);

    /* Without bodies there is nothing to be freed. */
    if (run->body_pool.failed) {
        run->bodies = NULL;
        return sp_scene_allocated(run);
    }

    for (int64_t k = 0; k < run->input.scene.joint_count; k++) {
        const sp_scene_joint *joint = &run->input.scene.joints[k];
        run->is_joined[joint->child] = true;
        if (joint->parent >= 0)
            run->is_joined[joint->parent] = true;
    }
    return sp_scene_allocated(run);
}

static int list_and_check_pairs(sp_loaded_scene *run, const sp_penalty *penalty)
{
    const sp_scene *scene = &run->input.scene;
    SP_PASS(list_pairs(run));

    for (int64_t i = 0; i < run->pair_count; i++)
        SP_PASS(check_pairs(run, &run->pairs[i], 1, penalty));

    if (!scene->pairs_given) {
        SP_PASS(check_all(run, penalty));
        discount_neighbours(run, penalty);
    }

    if (scene->contact.pulse < INFINITY && run->pairs_by_voxmap == 0)
        return sp_source_fail(run->source, SP_INPUT, run->input.path,
                              "contact.pulse: it brakes points in the proximity voxels of a voxmap, and no points here "
                              "meet one");
    return SP_OK;
}

int sp_scene_load_bodies(sp_loaded_scene *run)
{
    const sp_scene *scene = &run->input.scene;

    SP_PASS(allocate_bodies(run));
    SP_PASS(make_workspaces(run));
    for (int64_t i = 0; i < scene->body_count; i++)
        SP_PASS(make_body(run, i));

    SP_PASS(sp_scene_load_loads(run));
    SP_PASS(sp_scene_load_joints(run));

    sp_contact_scene_parameters parameters = contact_parameters(run);
    parameters.joined = run->joined;
    SP_PASS(list_and_check_pairs(run, &parameters.penalty));

    SP_PASS(make_batches(run));
    SP_PASS(find_stiffness(run, &parameters));
    SP_PASS(couple(run, &parameters.coupling));

    parameters.batch_count = run->batch_count;
    parameters.batches = run->batches;
    parameters.all = !scene->pairs_given;
    parameters.memory = run->options.memory;

    return sp_source_about(run->source, run->input.path,
                           sp_contact_scene_new(run->context, &parameters, scene->body_count, run->bodies,
                                                run->pair_count, run->pairs, !scene->pairs_given, &run->contact));
}

void sp_scene_unload_bodies(sp_loaded_scene *run)
{
    sp_contact_scene_free(run->contact);
    run->contact = NULL;
    sp_scene_unload_joints(run);
    sp_scene_unload_loads(run);

    for (int64_t i = 0; i < run->batch_count; i++)
        sp_polynomial_batch_free(run->batches[i].batch);
    run->batch_count = 0;

    if (run->bodies && run->forces)
        for (int64_t i = 0; i < run->input.scene.body_count; i++) {
            sp_free_body_free(run->bodies[i].free);
            if (run->bodies[i].system)
                sp_reduced_system_free(&run->systems[i]);
            sp_deformed_field_free(run->bodies[i].deformed);
            sp_path_free(&run->paths[i].path);
        }
    if (run->models)
        for (int64_t m = 0; m < run->input.scene.model_count; m++)
            run->models[m].deformed = NULL;

    run->bodies = NULL;
    run->forces = NULL;
    run->r = run->pairs_by_gradient = run->pairs_by_voxmap = run->pairs_by_normal = 0;
    sp_path_free(&run->hand.path);
    run->hand = (sp_driven_pose){0};
    sp_pool_free(&run->body_pool);
}

int sp_scene_load(sp_source *source, const char *path, const sp_scene_options *options, sp_loaded_scene *run)
{
    *run = (sp_loaded_scene){.source = source, .context = source->context, .options = *options};
    int status = sp_scene_input_read(source, path, &run->input);
    if (status == SP_OK)
        status = sp_scene_load_models(run);
    if (status == SP_OK)
        status = sp_scene_load_bodies(run);
    if (status == SP_OK)
        sp_scene_begin_run(run);
    return status;
}

void sp_scene_unload(sp_loaded_scene *run)
{
    sp_run_free(&run->run);
    sp_scene_unload_bodies(run);
    sp_scene_unload_models(run);
    sp_pool_free(&run->body_pool);
    sp_scene_input_free(&run->input);
}
