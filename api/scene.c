/* Scenes of the public library. */
#include "api/error.h"
#include "api/loaded_scene.h"
#include "api/saved.h"
#include "linear/blas.h"

#include <supple/scene.h>

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct supple_scene {
    sp_context context;
    sp_source source;
    char *path;
    sp_loaded_scene loaded;
    bool stepped; /* since the bodies were created */
    bool broken;  /* a step or a load has failed */
    double gravity[3];
    sp_list given, forces; /* that were set: of supple_point_force; the same as sp_contact_scene_force */
};

/* ---- opening ---- */

supple_scene_options supple_scene_options_default(void)
{
    return (supple_scene_options){.step = 0.01, .threads = 1, .beta = 0.25, .gamma = 0.5};
}

static supple_status check_options(const supple_scene_options *o)
{
    const char *const function = "supple_scene_open";
    if (!(o->step > 0 && isfinite(o->step)))
        return sp_error(SUPPLE_USAGE, "%s: step is %g s", function, o->step);
    if (o->threads < 1 || o->threads > 4096)
        return sp_error(SUPPLE_USAGE, "%s: threads is %d", function, o->threads);
    if (!(o->beta > 0 && o->beta <= 1) || !(o->gamma >= 0 && o->gamma <= 1))
        return sp_error(SUPPLE_USAGE, "%s: beta is %g and gamma %g", function, o->beta, o->gamma);
    if (!(o->tolerance >= 0 && isfinite(o->tolerance)) || o->iterations < 0)
        return sp_error(SUPPLE_USAGE, "%s: tolerance is %g and iterations %lld", function, o->tolerance,
                        (long long)o->iterations);
    return SUPPLE_OK;
}

supple_status supple_scene_open(const char *path, const supple_scene_options *options, supple_scene **scene)
{
    SP_REQUIRE(scene);
    *scene = NULL;
    SP_REQUIRE(path);
    SP_REQUIRE(options);
    supple_status said = check_options(options);
    if (said != SUPPLE_OK)
        return said;

    supple_scene *opened = calloc(1, sizeof *opened);
    if (!opened || !(opened->path = strdup(path))) {
        free(opened);
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);
    }

    opened->context = sp_context_default();
    opened->context.threads = options->threads;
    sp_source_plain(&opened->context, &opened->source);

    const sp_scene_options how = {.step = options->step,
                                  .integrator = options->energy ? SP_ENERGY : SP_NEWMARK,
                                  .beta = options->beta,
                                  .gamma = options->gamma,
                                  .semi_implicit = options->semi_implicit,
                                  .tolerance = options->tolerance,
                                  .iterations = options->iterations};

    const int threads = sp_blas_alone_begin(),
              status = sp_scene_load(&opened->source, opened->path, &how, &opened->loaded);
    sp_blas_alone_end(threads);

    said = sp_error_of(&opened->context, opened->source.failed, status);
    if (status == SP_OK) {
        memcpy(opened->gravity, opened->loaded.input.scene.gravity, sizeof opened->gravity);
        *scene = opened;
    } else
        supple_scene_close(opened);
    return said;
}

void supple_scene_close(supple_scene *scene)
{
    if (!scene)
        return;
    sp_scene_unload(&scene->loaded);
    sp_list_free(&scene->given);
    sp_list_free(&scene->forces);
    free(scene->path);
    free(scene);
}

/* ---- steps ---- */

/* For calls that need a scene that can go on. */
#define REQUIRE_SCENE(scene)                                                                                           \
    do {                                                                                                               \
        SP_REQUIRE(scene);                                                                                             \
        if ((scene)->broken)                                                                                           \
            return sp_error(SUPPLE_USAGE, "%s: a call has failed before, and the scene cannot go on", __func__);       \
    } while (0)

supple_status supple_scene_step(supple_scene *scene)
{
    REQUIRE_SCENE(scene);
    sp_run *run = &scene->loaded.run;
    const int threads = sp_blas_alone_begin(), status = sp_run_to(run, run->done + 1);
    sp_blas_alone_end(threads);
    scene->stepped = true;
    scene->broken = status != SP_OK;
    return sp_error_of(&scene->context, NULL, status);
}

double supple_scene_time(const supple_scene *scene)
{
    return scene && scene->loaded.contact ? sp_contact_scene_time(scene->loaded.contact) : 0;
}

/* ---- bodies ---- */

int64_t supple_scene_bodies(const supple_scene *scene)
{
    return scene ? scene->loaded.input.scene.body_count : 0;
}

static bool in_range(const supple_scene *scene, int64_t body)
{
    return scene && body >= 0 && body < supple_scene_bodies(scene);
}

#define REQUIRE_BODY(scene, body)                                                                                      \
    do {                                                                                                               \
        REQUIRE_SCENE(scene);                                                                                          \
        if (!in_range(scene, body))                                                                                    \
            return sp_error(SUPPLE_USAGE, "%s: body %lld of %lld", __func__, (long long)(body),                        \
                            (long long)supple_scene_bodies(scene));                                                    \
    } while (0)

const char *supple_scene_body_name(const supple_scene *scene, int64_t body)
{
    return in_range(scene, body) ? scene->loaded.input.scene.bodies[body].name : NULL;
}

supple_status supple_scene_find(const supple_scene *scene, const char *name, int64_t *body)
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE(name);
    SP_REQUIRE(body);
    for (int64_t i = 0; i < supple_scene_bodies(scene); i++)
        if (!strcmp(scene->loaded.input.scene.bodies[i].name, name)) {
            *body = i;
            return SUPPLE_OK;
        }
    return sp_error(SUPPLE_USAGE, "%s: there is no body \"%.100s\"", __func__, name);
}

static const sp_loaded_model *model_of(const supple_scene *scene, int64_t body)
{
    return &scene->loaded.models[scene->loaded.input.scene.bodies[body].model];
}

int64_t supple_scene_coordinates(const supple_scene *scene, int64_t body)
{
    return in_range(scene, body) ? model_of(scene, body)->r : 0;
}

int64_t supple_scene_vertices(const supple_scene *scene, int64_t body)
{
    return in_range(scene, body) ? model_of(scene, body)->mesh.mesh.vertex_count : 0;
}

static supple_pose pose_out(const sp_pose *pose)
{
    supple_pose out;
    memcpy(out.position, pose->x, sizeof out.position);
    memcpy(out.rotation, pose->q, sizeof out.rotation);
    return out;
}

/* Where rigid bodies have no coordinates, nothing is written to q and qdot. */
supple_status supple_scene_state(const supple_scene *scene, int64_t body, supple_pose *pose, double *twist, double *q,
                                 double *qdot)
{
    REQUIRE_BODY(scene, body);
    sp_pose at;
    double velocity[6];
    sp_contact_scene_body_now(scene->loaded.contact, body, &at, velocity, q, qdot);
    if (pose)
        *pose = pose_out(&at);
    if (twist)
        memcpy(twist, velocity, sizeof velocity);
    return SUPPLE_OK;
}

/* The state of a body for its vertices: R, and the coordinates. */
typedef struct placement {
    const sp_loaded_model *model;
    sp_pose pose;
    double R[9];
    const double *q; /* NULL: rigid */
} placement;

static supple_status place(const char *function, const supple_scene *scene, int64_t body, int64_t count,
                           const int64_t *vertex, placement *p)
{
    const int64_t vertices = supple_scene_vertices(scene, body);
    double twist[6];

    if (!sp_count_possible(count, 3 * sizeof(double)) || (!vertex && count > vertices))
        return sp_error(SUPPLE_USAGE, "%s: count is %lld, and there are %lld vertices", function, (long long)count,
                        (long long)vertices);
    if (vertex)
        for (int64_t i = 0; i < count; i++)
            if (vertex[i] < 0 || vertex[i] >= vertices)
                return sp_error(SUPPLE_USAGE, "%s: vertex %lld of %lld", function, (long long)vertex[i],
                                (long long)vertices);

    p->model = model_of(scene, body);
    sp_contact_scene_body_now(scene->loaded.contact, body, &p->pose, twist, NULL, NULL);
    p->q = sp_contact_scene_q(scene->loaded.contact, body);
    sp_quaternion_matrix(p->pose.q, p->R);
    return SUPPLE_OK;
}

static void position(const placement *p, int64_t vertex, double x[3])
{
    const sp_columns *basis = &p->model->basis.columns;
    double local[3];
    memcpy(local, p->model->mesh.mesh.vertices + 3 * vertex, sizeof local);
    if (p->q)
        for (int64_t j = 0; j < p->model->r; j++)
            for (int k = 0; k < 3; k++)
                local[k] += basis->U[j * basis->rows + 3 * vertex + k] * p->q[j];
    sp_rotate(p->R, local, x);
    for (int k = 0; k < 3; k++)
        x[k] += p->pose.x[k];
}

supple_status supple_scene_positions(const supple_scene *scene, int64_t body, int64_t count, const int64_t *vertex,
                                     double *x)
{
    placement p;
    REQUIRE_BODY(scene, body);
    SP_REQUIRE(x);
    const supple_status status = place(__func__, scene, body, count, vertex, &p);
    for (int64_t i = 0; status == SUPPLE_OK && i < count; i++)
        position(&p, vertex ? vertex[i] : i, x + 3 * i);
    return status;
}

supple_status supple_scene_positions_float(const supple_scene *scene, int64_t body, int64_t count,
                                           const int64_t *vertex, float *x)
{
    placement p;
    REQUIRE_BODY(scene, body);
    SP_REQUIRE(x);
    const supple_status status = place(__func__, scene, body, count, vertex, &p);
    for (int64_t i = 0; status == SUPPLE_OK && i < count; i++) {
        double at[3];
        position(&p, vertex ? vertex[i] : i, at);
        for (int k = 0; k < 3; k++)
            x[3 * i + k] = (float)at[k];
    }
    return status;
}

/* ---- what acts ---- */

supple_status supple_scene_set_gravity(supple_scene *scene, const double gravity[3])
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE(gravity);
    SP_REQUIRE_FINITE(3, gravity);
    memcpy(scene->gravity, gravity, sizeof scene->gravity);
    sp_contact_scene_set_gravity(scene->loaded.contact, gravity);
    return SUPPLE_OK;
}

/* The force for the contact scene, or why it cannot act. */
static supple_status convert_force(const supple_scene *scene, int64_t number, const supple_point_force *from,
                                   sp_contact_scene_force *to)
{
    static const char *const function = "supple_scene_set_forces";
    switch (sp_scene_force(&scene->loaded, from->body, from->vertex, from->force, to)) {
    case SP_DRIVE_NO_BODY:
        return sp_error(SUPPLE_USAGE, "%s: force %lld: body %lld of %lld", function, (long long)number,
                        (long long)from->body, (long long)supple_scene_bodies(scene));
    case SP_DRIVE_NO_VERTEX:
        return sp_error(SUPPLE_USAGE, "%s: force %lld: vertex %lld of %lld", function, (long long)number,
                        (long long)from->vertex, (long long)supple_scene_vertices(scene, from->body));
    case SP_DRIVE_NOT_FINITE:
        return sp_error(SUPPLE_USAGE, "%s: force %lld is not finite", function, (long long)number);
    case SP_DRIVE_NOT_DRIVEN:
        if (supple_scene_coordinates(scene, from->body) > 0)
            return sp_error(SUPPLE_USAGE, "%s: force %lld: the frame of body %s is not free: name a vertex", function,
                            (long long)number, supple_scene_body_name(scene, from->body));
        return sp_error(SUPPLE_USAGE, "%s: force %lld: body %s is rigid and not free", function, (long long)number,
                        supple_scene_body_name(scene, from->body));
    default:
        return SUPPLE_OK;
    }
}

/* Gives the contact scene the forces and the gravity that were set. */
static supple_status apply_given(supple_scene *scene)
{
    const supple_point_force *from = scene->given.data;
    sp_contact_scene_force *to = scene->forces.data;
    for (int64_t i = 0; i < scene->given.count; i++) {
        const supple_status status = convert_force(scene, i, &from[i], &to[i]);
        if (status != SUPPLE_OK)
            return status;
    }
    scene->forces.count = scene->given.count;
    sp_contact_scene_set_forces(scene->loaded.contact, scene->forces.count, to);
    sp_contact_scene_set_gravity(scene->loaded.contact, scene->gravity);
    return SUPPLE_OK;
}

supple_status supple_scene_set_forces(supple_scene *scene, int64_t count, const supple_point_force *force)
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE_COUNT(count, sizeof(sp_contact_scene_force));
    if (count > 0)
        SP_REQUIRE(force);

    for (int64_t i = 0; i < count; i++) {
        sp_contact_scene_force unused;
        const supple_status status = convert_force(scene, i, &force[i], &unused);
        if (status != SUPPLE_OK)
            return status;
    }

    if (!sp_list_reserve(&scene->given, count, sizeof *force) ||
        !sp_list_reserve(&scene->forces, count, sizeof(sp_contact_scene_force)))
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);

    scene->given.count = count;
    if (count > 0 && force != scene->given.data)
        memcpy(scene->given.data, force, (size_t)count * sizeof *force);

    return apply_given(scene);
}

static supple_status drive(const char *function, supple_scene *scene, int64_t body, const supple_pose *pose,
                           const double *twist)
{
    double at[7];
    memcpy(at, pose->position, sizeof pose->position);
    memcpy(at + 3, pose->rotation, sizeof pose->rotation);
    switch (sp_scene_drive(&scene->loaded, body, at, twist)) {
    case SP_DRIVE_NOT_DRIVEN:
        return body == SP_DRIVE_HAND ? sp_error(SUPPLE_USAGE, "%s: the scene has no coupling", function)
                                     : sp_error(SUPPLE_USAGE, "%s: the motion of body %s is not \"path\"", function,
                                                supple_scene_body_name(scene, body));
    case SP_DRIVE_NOT_FINITE:
        return sp_error(SUPPLE_USAGE, "%s: a number is not finite", function);
    case SP_DRIVE_NO_ROTATION:
        return sp_error(SUPPLE_USAGE, "%s: the rotation is zero", function);
    default:
        return SUPPLE_OK;
    }
}

supple_status supple_scene_move_hand(supple_scene *scene, const supple_pose *hand, const double *twist)
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE(hand);
    return drive(__func__, scene, SP_DRIVE_HAND, hand, twist);
}

supple_status supple_scene_move_body(supple_scene *scene, int64_t body, const supple_pose *pose, const double *twist)
{
    REQUIRE_BODY(scene, body);
    SP_REQUIRE(pose);
    return drive(__func__, scene, body, pose, twist);
}

supple_status supple_scene_clutch(supple_scene *scene, bool held)
{
    REQUIRE_SCENE(scene);
    if (sp_scene_clutch(&scene->loaded, held) != SP_DRIVE_DONE)
        return sp_error(SUPPLE_USAGE, "%s: the scene has no coupling", __func__);
    return SUPPLE_OK;
}

/* ---- what the last step did ---- */

supple_status supple_scene_hand(const supple_scene *scene, supple_pose *hand, double *coupling, double *device)
{
    sp_pose at;
    double on_body[6], on_device[6];
    REQUIRE_SCENE(scene);
    if (scene->loaded.input.scene.coupling.kind == SP_SCENE_NO_COUPLING)
        return sp_error(SUPPLE_USAGE, "%s: the scene has no coupling", __func__);
    sp_contact_scene_coupled(scene->loaded.contact, &at, on_body, on_device);
    if (hand)
        *hand = pose_out(&at);
    if (coupling)
        memcpy(coupling, on_body, sizeof on_body);
    if (device)
        memcpy(device, on_device, sizeof on_device);
    return SUPPLE_OK;
}

supple_status supple_scene_contact_force(const supple_scene *scene, int64_t body, double wrench[6])
{
    REQUIRE_BODY(scene, body);
    SP_REQUIRE(wrench);
    memcpy(wrench, sp_contact_scene_wrench(scene->loaded.contact, body), 6 * sizeof *wrench);
    return SUPPLE_OK;
}

supple_status supple_scene_contacts(const supple_scene *scene, int64_t room, supple_contact *contact, int64_t *count)
{
    const sp_contact_scene_contact *from;
    REQUIRE_SCENE(scene);
    SP_REQUIRE(count);
    if (room < 0)
        return sp_error(SUPPLE_USAGE, "%s: room is %lld", __func__, (long long)room);
    if (room > 0)
        SP_REQUIRE(contact);

    *count = sp_contact_scene_contacts(scene->loaded.contact, &from);

    for (int64_t i = 0; i < *count && i < room; i++) {
        contact[i] = (supple_contact){.body = from[i].body[0], .other = from[i].body[1], .point = from[i].point};
        memcpy(contact[i].position, from[i].at, sizeof contact[i].position);
        memcpy(contact[i].force, from[i].force, sizeof contact[i].force);
    }
    return SUPPLE_OK;
}

supple_status supple_scene_energies(supple_scene *scene, supple_scene_energy *energy)
{
    double value[3];
    REQUIRE_SCENE(scene);
    SP_REQUIRE(energy);
    const int threads = sp_blas_alone_begin();
    sp_contact_scene_energies(scene->loaded.contact, value);
    sp_blas_alone_end(threads);
    *energy = (supple_scene_energy){value[0], value[1], value[2]};
    return SUPPLE_OK;
}

supple_status supple_scene_report(const supple_scene *scene, supple_contact_report *report)
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE(report);
    const sp_contact_scene_report *from = sp_contact_scene_reported(scene->loaded.contact);
    *report = (supple_contact_report){.visited = from->visited,
                                      .points = from->touching,
                                      .deepest_level = from->deepest,
                                      .complete = !scene->stepped || from->complete,
                                      .lowest = scene->stepped ? from->lowest : INFINITY,
                                      .stiffness = from->stiffest};
    return SUPPLE_OK;
}

supple_status supple_scene_warnings(const supple_scene *scene, char *text, size_t *size)
{
    SP_REQUIRE(scene);
    SP_REQUIRE(size);
    sp_remarks remarks = {0};
    if (scene->loaded.contact)
        sp_scene_judge(&scene->loaded, "the step", "semi_implicit", &remarks);
    return sp_error_remarks(__func__, &remarks, text, size);
}

/* ---- saving ---- */

static void visit_pose(sp_driven_pose *driven, sp_state *state)
{
    SP_STATE_VALUE(state, driven->set);
    SP_STATE_VALUE(state, driven->since);
    SP_STATE_VALUE(state, driven->pose);
    SP_STATE_VALUE(state, driven->twist);
    SP_STATE_VALUE(state, driven->before);
    SP_STATE_VALUE(state, driven->felt);
    SP_STATE_VALUE(state, driven->clutched);
    SP_STATE_VALUE(state, driven->clutch.held);
    SP_STATE_VALUE(state, driven->clutch.kept);
    SP_STATE_VALUE(state, driven->clutch.shift);
    SP_STATE_VALUE(state, driven->clutch.turn);
}

static void visit(supple_scene *scene, sp_state *state)
{
    visit_pose(&scene->loaded.hand, state);
    for (int64_t i = 0; i < supple_scene_bodies(scene); i++)
        visit_pose(&scene->loaded.paths[i], state);
    SP_STATE_VALUE(state, scene->gravity);
    sp_state_list(state, &scene->given, sizeof(supple_point_force));
    SP_STATE_VALUE(state, scene->loaded.run.done);
    sp_run_visit(&scene->loaded.run, scene->loaded.run.done, state);
}

/* What a scene must have in common with the one that was saved. */
static uint64_t identity(const supple_scene *scene)
{
    const sp_loaded_scene *loaded = &scene->loaded;
    const sp_scene_options *o = &loaded->options;
    const double numbers[] = {o->step,      o->integrator,        o->beta, o->gamma, o->semi_implicit,
                              o->tolerance, (double)o->iterations};
    uint64_t sum = sp_saved_sum(0, "scene " SUPPLE_VERSION, sizeof "scene " SUPPLE_VERSION);
    sum = sp_saved_sum(sum, loaded->input.hash, sizeof loaded->input.hash);
    sum = sp_saved_sum(sum, numbers, sizeof numbers);
    for (int64_t m = 0; m < loaded->input.scene.model_count; m++) {
        sum = sp_saved_sum(sum, loaded->models[m].mesh.hash, sizeof loaded->models[m].mesh.hash);
        sum = sp_saved_sum(sum, loaded->models[m].basis.hash, sizeof loaded->models[m].basis.hash);
    }
    return sum;
}

supple_status supple_scene_save(supple_scene *scene, void *state, size_t *size)
{
    REQUIRE_SCENE(scene);
    SP_REQUIRE(size);
    sp_state saved = {0};
    visit(scene, &saved);
    const supple_status status = sp_saved_write(__func__, &saved, identity(scene), state, size);
    sp_list_free(&saved.data);
    return status;
}

/* The bodies at their start again. */
static int restart(supple_scene *scene)
{
    sp_scene_unload_bodies(&scene->loaded);
    scene->stepped = false;
    return sp_scene_load_bodies(&scene->loaded);
}

/* Lets the forces and the gravity of a state that was loaded act. */
static bool restore_given(supple_scene *scene)
{
    return sp_all_finite(3, scene->gravity) &&
           sp_list_reserve(&scene->forces, scene->given.count, sizeof(sp_contact_scene_force)) &&
           apply_given(scene) == SUPPLE_OK;
}

supple_status supple_scene_load(supple_scene *scene, const void *state, size_t size)
{
    sp_state saved;

    SP_REQUIRE(scene);
    SP_REQUIRE(state);
    if (!sp_saved_read(state, size, identity(scene), &saved))
        return sp_error(SUPPLE_INPUT, "%s: these bytes are no state of such a scene: with the same files and options",
                        __func__);

    const int threads = sp_blas_alone_begin();
    const int status = scene->stepped || scene->broken ? restart(scene) : SP_OK;
    if (status == SP_OK)
        visit(scene, &saved);
    sp_blas_alone_end(threads);

    /* A state that was read in part leaves a scene that cannot be stepped. */
    scene->broken = status != SP_OK || saved.failed || saved.at != saved.data.count || !restore_given(scene);
    scene->stepped = true;

    if (status != SP_OK)
        return sp_error_of(&scene->context, scene->source.failed, status);
    return scene->broken ? sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__) : SUPPLE_OK;
}
