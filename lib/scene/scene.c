#include "scene/internal.h"

#include "base/mat3.h"
#include "scene/stiffness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sp_pose sp_contact_scene_grasp(const sp_contact_scene *scene, const sp_pose *body)
{
    double R[9];
    sp_pose frame = *body;
    sp_quaternion_matrix(body->q, R);
    sp_rotate(R, scene->p.coupling.grasp, frame.x);
    for (int k = 0; k < 3; k++)
        frame.x[k] += body->x[k];
    return frame;
}

void sp_contact_scene_render(sp_contact_scene *scene)
{
    const sp_contact_scene_coupling *c = &scene->p.coupling;
    const sp_pose frame = sp_contact_scene_grasp(scene, &scene->contact_bodies[c->body].pose);
    sp_wrench wrench = {.force = {0}};
    sp_coupling_wrench(&c->parameters, &scene->hand, &frame, &wrench);
    memcpy(scene->coupling, wrench.force, sizeof wrench.force);
    memcpy(scene->coupling + 3, wrench.torque, sizeof wrench.torque);
    sp_coupling_render(&c->parameters, &scene->hand, &frame, c->device_force, c->device_torque, scene->device,
                       scene->device + 3);
}

double sp_contact_scene_time(const sp_contact_scene *scene)
{
    return (double)scene->steps * scene->p.step;
}

/* ---- a step ---- */

/* Mass, centre and inertia of the coupled body in its current orientation. */
static void weigh(sp_contact_scene *scene, contact_body *a)
{
    const sp_inertia *inertia = a->body->inertia;
    sp_coupled_motion *m = &scene->motion;
    const double trace = inertia->S[0] + inertia->S[4] + inertia->S[8];
    double arm[3], J[9], R[9];

    sp_quaternion_matrix(a->pose.q, R);
    sp_rotate(R, inertia->centre, a->about);
    for (int k = 0; k < 3; k++) {
        arm[k] = inertia->centre[k] - scene->p.coupling.grasp[k];
        a->about[k] += a->pose.x[k];
    }

    sp_rotate(R, arm, m->centre);
    m->mass = inertia->mass;

    /* R J Rᵀ with J = tr(S) 1 − S */
    for (int i = 0; i < 9; i++)
        J[i] = (i % 4 == 0 ? trace : 0) - inertia->S[i];
    sp_rotate_matrix3(R, J, m->inertia);
}

/* Where the body will be half a step ahead, with the velocities of now. */
static void predict(sp_contact_scene *scene, contact_body *a)
{
    static const double origin[3] = {0, 0, 0};
    const sp_contact_scene_body *body = a->body;
    const double half = 0.5 * scene->p.step;
    double twist[6];
    memset(a->F, 0, sizeof a->F);
    memset(a->T, 0, sizeof a->T);
    memset(a->wrench, 0, sizeof a->wrench);
    memset(a->Q, 0, (size_t)body->r * sizeof *a->Q);
    a->stiffness = (contact_stiffness){.weight = 0};

    if (body->free) {
        const sp_free_state *state = sp_free_body_state(body->free);
        double R[9];
        sp_free_body_predict(body->free, &a->at.pose, a->q);
        if (body->r)
            memcpy(a->qdot, sp_free_body_qdot(body->free), (size_t)body->r * sizeof(double));
        sp_quaternion_matrix(state->rotation, R);
        sp_rotate(R, state->Omega, a->at.angular_velocity);
        sp_free_body_point_velocity(body->free, origin, NULL, a->at.velocity);
        for (int k = 0; k < 3; k++)
            a->about[k] = state->c[k] + half * state->v[k];
    } else if (body->motion == SP_CONTACT_SCENE_PATH) {
        a->at.pose = body->path(body->path_data, sp_contact_scene_time(scene) + half, twist);
        memcpy(a->at.velocity, twist, sizeof a->at.velocity);
        memcpy(a->at.angular_velocity, twist + 3, sizeof a->at.angular_velocity);
    } else if (body->motion == SP_CONTACT_SCENE_COUPLED) {
        a->at.pose = a->pose;
        memcpy(a->at.velocity, a->twist, sizeof a->at.velocity);
        memcpy(a->at.angular_velocity, a->twist + 3, sizeof a->at.angular_velocity);
        if (scene->p.coupling.dynamic)
            weigh(scene, a);
    }
    if (a->integrator) {
        /* Dampers act all through the step: their rates, too, are those of its middle, extrapolated from two steps. */
        const double *q = sp_integrator_q(a->integrator), *v = sp_integrator_v(a->integrator);
        for (int64_t j = 0; j < body->r; j++) {
            a->q[j] = q[j] + half * v[j];
            a->qdot[j] = v[j] + 0.5 * (v[j] - a->last_v[j]);
            a->last_v[j] = v[j];
        }
    }

    if (body->deformed)
        sp_deformed_field_update(body->deformed, a->q);
    if (a->spheres)
        sp_sphere_tree_move(a->spheres, &a->at.pose, a->at.q);
    sp_contact_scene_bound(scene, a - scene->contact_bodies);
}

int sp_contact_scene_record(sp_contact_scene *scene, int64_t a, int64_t b, int32_t point, const double at[3],
                            const double force[3])
{
    sp_contact_scene_contact *contact = sp_list_add(&scene->contacts, 1, sizeof *contact);
    SP_PASS(sp_allocated(scene->context, contact));
    *contact = (sp_contact_scene_contact){.body = {(int32_t)a, (int32_t)b},
                                          .point = scene->contact_bodies[a].body->pointshell->original[point]};
    memcpy(contact->at, at, sizeof contact->at);
    memcpy(contact->force, force, sizeof contact->force);
    return SP_OK;
}

void sp_contact_scene_sink(sp_contact_scene *scene, int64_t a, int64_t b, double lowest)
{
    const double size = fmin(scene->contact_bodies[a].size, scene->contact_bodies[b].size), sunk = -lowest / size;

    if (!(sunk > scene->report.sunk))
        return;
    scene->report.sunk = sunk;
    scene->report.sunk_depth = -lowest;
    scene->report.sunk_bodies[0] = a;
    scene->report.sunk_bodies[1] = b;
}

/* Whether the shell is in the other body with all its points, and deeper than one that only lies on it would be. */
static bool wholly_inside(const contact_pair *e, const sp_contact_pointshell *pointshell)
{
    const sp_traversal_result *found = &e->found;
    return found->deepest > 0 && pointshell->extent > 0 && found->count == pointshell->cumulative[found->deepest - 1] &&
           found->lowest < -pointshell->extent;
}

/* What the force of a pair would be along gradients, which have an energy, beside what it is along normals. */
static void measure_lean(sp_contact_scene *scene, const contact_pair *e)
{
    const contact_body *a = &scene->contact_bodies[e->pointshell], *b = &scene->contact_bodies[e->field];
    const sp_contact_forces *f = &e->forces;
    const sp_distance *distance = b->body->distance;
    double B[9], force[3] = {0}, other[3] = {0};

    /* Every eighth step is enough for a mean. */
    if (scene->steps % 8 != 0 || sp_penalty_by_gradient(&scene->p.penalty, distance) ||
        distance->kind == SP_DISTANCE_VOXMAP || !(a->body->free || b->body->free))
        return;

    sp_quaternion_matrix(b->at.pose.q, B);
    for (int64_t i = 0; i < f->count; i++) {
        double local[3], g[3];
        const double *n = f->normal + 3 * i,
                     push = sp_dot3(f->force + 3 * i, n) / fmax(sp_dot3(n, n), DBL_MIN); /* friction is across n */
        sp_distance_at(distance, e->found.place + 3 * i, local);
        sp_rotate(B, local, g);

        /* The gradient gets the length of the normal: only directions are compared. */
        const double scale = sqrt(sp_dot3(n, n) / fmax(sp_dot3(g, g), DBL_MIN));
        for (int k = 0; k < 3; k++) {
            force[k] += push * n[k];
            other[k] += push * (n[k] - scale * g[k]);
        }
    }

    scene->report.pushed += sp_norm3(force);
    scene->report.leant += sp_norm3(other);
}

/* Forces of a pair onto both bodies. */
static int apply_pair(sp_contact_scene *scene, const contact_pair *e)
{
    contact_body *a = &scene->contact_bodies[e->pointshell], *b = &scene->contact_bodies[e->field];
    const sp_contact_forces *f = &e->forces;
    sp_contact_scene_report *report = &scene->report;

    report->visited += e->found.visited;
    report->passed += e->found.passed;
    report->deepest = e->found.deepest > report->deepest ? e->found.deepest : report->deepest;
    report->complete &= e->found.complete;
    report->lowest = fmin(report->lowest, e->found.lowest);

    sp_contact_scene_sink(scene, e->pointshell, e->field, e->found.lowest);
    if (report->inside[0] < 0 && wholly_inside(e, a->body->pointshell)) {
        report->inside[0] = e->pointshell;
        report->inside[1] = e->field;
    }

    /* Each body bears its share of the stiffness (stability.c); a damper counts as a spring of 2c/h. */
    const sp_penalty *penalty = &scene->p.penalty;
    contact_body *const sides[2] = {a, b};
    const double each = f->scale * (penalty->stiffness + 2 * penalty->damping / scene->p.step),
                 share[2] = {each * sp_contact_scene_share(a, b), each * sp_contact_scene_share(b, a)};

    for (int64_t i = 0; i < f->count; i++) {
        const bool touching = f->distance[i] < 0;
        if (!touching && sp_dot3(f->force + 3 * i, f->force + 3 * i) == 0) /* a proximity voxel without a pulse */
            continue;
        report->touching += touching;
        for (int s = 0; s < 2 && touching; s++)
            if (share[s] > 0)
                sp_contact_scene_stiffen(sides[s], f->at + 3 * i, f->normal + 3 * i,
                                         share[s] * sp_penalty_weight(penalty, a->body->pointshell, f->point[i]),
                                         scene->p.friction > 0);
        SP_PASS(sp_contact_scene_record(scene, e->pointshell, e->field, f->point[i], f->at + 3 * i, f->force + 3 * i));
    }

    /* About the centre of mass for the motion, about the origin of the frame for the wrench */
    for (int s = 0; s < 2; s++) {
        sp_contact_forces_total(f, s ? -1 : 1, sides[s]->about, sides[s]->F, sides[s]->T);
        sp_contact_forces_total(f, s ? -1 : 1, sides[s]->at.pose.x, sides[s]->wrench, sides[s]->wrench + 3);
    }

    measure_lean(scene, e);

    if (a->body->r && a->body->pointshell->U)
        sp_contact_forces_project(f, a->body->pointshell, &a->at.pose, a->Q);
    if (b->body->distance->kind == SP_DISTANCE_DEFORMED)
        sp_contact_forces_project_field(f, b->body->distance, &b->at.pose, b->Q);
    return SP_OK;
}

/* ---- forces that were set ---- */

void sp_contact_scene_set_forces(sp_contact_scene *scene, int64_t count, const sp_contact_scene_force *forces)
{
    scene->force_count = count;
    scene->forces = forces;
}

void sp_contact_scene_set_gravity(sp_contact_scene *scene, const double gravity[3])
{
    memcpy(scene->p.gravity, gravity, sizeof scene->p.gravity);
    for (int64_t i = 0; i < scene->body_count; i++)
        sp_moving_frame_set_gravity(&scene->contact_bodies[i].frame, gravity);
}

/* At the predicted state, as contact. */
static void apply_force(contact_body *a, const sp_contact_scene_force *f)
{
    double R[9], local[3], x[3], turned[3], torque[3];

    memcpy(x, f->point, sizeof x);
    sp_quaternion_matrix(a->at.pose.q, R);
    sp_rotate_back(R, f->force, local);

    /* The point moves with the modes, and Q += Uᵀ Rᵀ F */
    for (int64_t j = 0; f->U && j < a->body->r; j++)
        for (int k = 0; k < 3; k++) {
            x[k] += f->U[j * f->stride + k] * a->q[j];
            a->Q[j] += f->U[j * f->stride + k] * local[k];
        }

    sp_rotate(R, x, turned);
    for (int k = 0; k < 3; k++) {
        a->F[k] += f->force[k];
        x[k] = a->at.pose.x[k] + turned[k] - a->about[k];
    }

    sp_cross3(x, f->force, torque);
    for (int k = 0; k < 3; k++)
        a->T[k] += torque[k];
}

/* ---- the coupled body ---- */

static void contact_wrench(const sp_contact_scene *scene, const double about[3], sp_wrench *wrench)
{
    const sp_contact_scene_coupling *c = &scene->p.coupling;
    for (int64_t i = 0; i < scene->pair_count; i++) {
        const contact_pair *e = &scene->pairs[i];
        const contact_body *a = &scene->contact_bodies[e->pointshell], *b = &scene->contact_bodies[e->field];
        if (e->pointshell == c->body || e->field == c->body)
            sp_penalty_wrench(&scene->p.penalty, a->body->pointshell, b->body->distance, &b->at.pose, &e->forces,
                              e->pointshell == c->body, c->normals, about, wrench);
    }
}

/* The search for the equilibrium; NULL where bodies that move are near the coupled one: its contact then changes by
 * itself, and going back and forth may be to follow them. */
static sp_coupling_search *search_of(sp_contact_scene *scene)
{
    const int64_t body = scene->p.coupling.body;
    const int32_t *near;
    const int64_t count = sp_contact_scene_near(scene, &near);

    for (int64_t i = 0; i < count; i++) {
        const int64_t other = near[2 * i] == body ? near[2 * i + 1] : near[2 * i + 1] == body ? near[2 * i] : -1;
        if (other >= 0 && sp_contact_scene_moves(&scene->contact_bodies[other])) {
            memset(&scene->search, 0, sizeof scene->search);
            return NULL;
        }
    }
    return &scene->search;
}

static int move_coupled(sp_contact_scene *scene)
{
    const sp_contact_scene_coupling *c = &scene->p.coupling;
    contact_body *a = &scene->contact_bodies[c->body];
    sp_coupling_step_report report = {.displacement = {0}};
    sp_wrench contact = scene->sphere_wrench;
    double R[9], arm[3], turn[3];
    sp_pose frame = sp_contact_scene_grasp(scene, &a->pose);

    contact_wrench(scene, frame.x, &contact);
    scene->hand = c->path(c->path_data, sp_contact_scene_time(scene) + scene->p.step, scene->hand_twist);

    if (c->dynamic) {
        memcpy(scene->motion.hand_velocity, scene->hand_twist, sizeof scene->motion.hand_velocity);
        memcpy(scene->motion.hand_angular_velocity, scene->hand_twist + 3, sizeof scene->motion.hand_angular_velocity);
        SP_PASS(sp_coupling_dynamic(&a->context, &c->parameters, scene->p.step, &scene->hand, &contact,
                                    scene->p.gravity, &scene->motion, &frame, &report));
    } else
        SP_PASS(sp_coupling_static(&a->context, &c->parameters, scene->p.step, &scene->hand, &contact, search_of(scene),
                                   &frame, &report));

    /* From the grasp back to the origin of the body */
    sp_quaternion_matrix(frame.q, R);
    sp_rotate(R, c->grasp, arm);
    for (int k = 0; k < 3; k++) {
        a->pose.x[k] = frame.x[k] - arm[k];
        a->twist[3 + k] = report.rotation[k] / scene->p.step;
    }

    memcpy(a->pose.q, frame.q, sizeof frame.q);
    sp_cross3(a->twist + 3, arm, turn);
    for (int k = 0; k < 3; k++)
        a->twist[k] = report.displacement[k] / scene->p.step - turn[k];

    scene->report.degenerate = report.degenerate;
    scene->report.limited = report.limited;
    scene->report.imbalance = report.imbalance;
    scene->report.resting = report.resting;

    sp_contact_scene_render(scene);
    return SP_OK;
}

/* ---- the step ---- */

/* The loads of a free body as its step takes them: with its weight, and Q on Ũ in place of U. */
static void finish_loads(const sp_contact_scene *scene, const double R[9], contact_body *a, double F[3])
{
    const sp_contact_scene_body *body = a->body;
    double local[3];
    sp_rotate_back(R, a->F, local);

    /* Ũ = U − mean: the motion of the means is that of the centre. */
    for (int64_t j = 0; j < body->r; j++)
        for (int k = 0; k < 3; k++)
            a->Q[j] -= body->inertia->mean[k * body->r + j] * local[k];

    for (int k = 0; k < 3; k++)
        F[k] = a->F[k] + body->inertia->mass * scene->p.gravity[k];
}

void sp_contact_scene_hang(const sp_contact_scene *scene, const contact_body *a, const double R[9], double *Q)
{
    double local[3];
    sp_rotate_back(R, scene->p.gravity, local);
    for (int64_t j = 0; j < a->body->r && a->body->gravity; j++)
        Q[j] += sp_dot3(a->body->gravity + 3 * j, local);
}

/* The work of gravity on the deformation of a body that is not free, from its undeformed shape, J. */
static double deformation_weight(const sp_contact_scene *scene, const contact_body *a, double t)
{
    const sp_contact_scene_body *body = a->body;
    const double *q = sp_integrator_q(a->integrator);
    const sp_pose pose = body->motion == SP_CONTACT_SCENE_PATH ? body->path(body->path_data, t, NULL) : a->pose;
    double R[9], local[3], work = 0;

    sp_quaternion_matrix(pose.q, R);
    sp_rotate_back(R, scene->p.gravity, local);

    for (int64_t j = 0; j < body->r && body->gravity; j++)
        work += q[j] * sp_dot3(body->gravity + 3 * j, local);
    return work;
}

/* The work of all external forces of a body in a frame until now but for gravity, whose share changes with the pose,
 * and for the other forces of this step. */
static double work_of_frame(const sp_contact_scene *scene, const contact_body *a, double t)
{
    const double *q = sp_integrator_q(a->integrator);
    double work = sp_integrator_work(a->integrator) - deformation_weight(scene, a, t);
    for (int64_t j = 0; j < a->body->r; j++)
        work -= a->Q[j] * q[j];
    return work;
}

/* Q is the force all through this step, and jumps at its start: Newmark would otherwise take half of the jump a step
 * late, an error of first order. */
static int jump_forces(contact_body *a)
{
    bool changed = false;
    for (int64_t j = 0; j < a->body->r; j++) {
        a->last_Q[j] = a->Q[j] - a->last_Q[j];
        changed |= a->last_Q[j] != 0;
    }
    const int status = changed ? sp_integrator_change_loads(a->integrator, a->last_Q) : SP_OK;
    memcpy(a->last_Q, a->Q, (size_t)a->body->r * sizeof *a->last_Q);
    return status;
}

/* The step of a body that feels the inertial forces of its frame, gravity among them. */
static int step_in_frame(const sp_contact_scene *scene, contact_body *a)
{
    const double t = sp_contact_scene_time(scene), before = work_of_frame(scene, a, t);
    const int status = sp_integrator_step(a->integrator);
    a->frame_work = work_of_frame(scene, a, t + scene->p.step) - before;
    return status;
}

static int step_deformation(const sp_contact_scene *scene, const double R[9], contact_body *a)
{
    const bool in_frame = a->body->frame_inertia; /* gravity is one of the forces of the frame */
    if (!in_frame)
        sp_contact_scene_hang(scene, a, R, a->Q);
    SP_PASS(jump_forces(a));
    return in_frame ? step_in_frame(scene, a) : sp_integrator_step(a->integrator);
}

static void move_body(const sp_contact_scene *scene, contact_body *a)
{
    const sp_contact_scene_body *body = a->body;
    const double begin = sp_contact_scene_time(scene);
    double R[9], F[3];
    a->status = SP_OK;
    sp_quaternion_matrix(a->at.pose.q, R);
    if (body->loads)
        sp_body_loads_add(body->loads, begin, begin + scene->p.step, &a->at.pose, a->q, a->about, a->F, a->T, a->Q);
    if (a->joined)
        return;

    if (body->free) {
        finish_loads(scene, R, a, F);
        a->status = sp_free_body_step(body->free, F, a->T, body->r ? a->Q : NULL);
    } else if (a->integrator) {
        a->status = step_deformation(scene, R, a);
    }
}

static int refuse_step(sp_contact_scene *scene, int64_t i, int status)
{
    const contact_body *a = &scene->contact_bodies[i];
    const char *why = !a->body->free     ? a->context.message
                      : a->body->context ? a->body->context->message
                                         : "its solver failed";
    return sp_fail(scene->context, status, "%s could not take the step from %g s on: %s",
                   sp_contact_scene_label(scene, i).text, sp_contact_scene_time(scene), why);
}

static int move_joined(sp_contact_scene *scene)
{
    const sp_contact_scene_joined *joined = &scene->p.joined;
    for (int64_t i = 0; i < joined->count; i++) {
        contact_body *a = &scene->contact_bodies[joined->body[i]];
        sp_joined_load *load = &scene->joined_loads[i];
        double R[9];
        sp_quaternion_matrix(a->at.pose.q, R);
        finish_loads(scene, R, a, load->F);
        memcpy(load->T, a->T, sizeof load->T);
        load->Q = a->body->r ? a->Q : NULL;
    }

    const int status = joined->count > 0 ? sp_joined_step(joined->joined, scene->joined_loads) : SP_OK;
    if (status == SP_OK)
        return SP_OK;

    /* sp_fail writes over the message that it repeats. */
    char why[sizeof scene->context->message];
    memcpy(why, scene->context->message, sizeof why);
    return sp_fail(scene->context, status, "the joined bodies could not take the step from %g s on: %s",
                   sp_contact_scene_time(scene), why);
}

static void prepare_forces(sp_contact_scene *scene)
{
    for (int64_t i = 0; i < scene->p.batch_count; i++) {
        const sp_contact_scene_batch *batch = &scene->p.batches[i];
        for (int64_t k = 0; k < batch->count; k++)
            scene->ahead[k] = scene->contact_bodies[batch->body[k]].q;
        sp_polynomial_batch_evaluate(batch->batch, scene->ahead);
    }
}

int sp_contact_scene_step(sp_contact_scene *scene)
{
    sp_context *context = scene->context;
    const double h = scene->p.step;
    int status = SP_OK;

    scene->report = (sp_contact_scene_report){.complete = true,
                                              .lowest = INFINITY,
                                              .sunk_bodies = {-1, -1},
                                              .inside = {-1, -1},
                                              .crossed = {-1, -1},
                                              .stiffest = scene->report.stiffest};

    scene->contacts.count = 0;
    scene->sphere_wrench = (sp_wrench){.force = {0}};

    /* All bodies half a step ahead, where contact is evaluated */
#pragma omp parallel for schedule(dynamic, 4) num_threads(context->threads) if (scene->body_count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < scene->body_count; i++)
        predict(scene, &scene->contact_bodies[i]);

    sp_contact_scene_cross(scene);
    SP_TRY(sp_contact_scene_pairs_find(scene));
    SP_TRY(sp_contact_scene_pairs_meet(scene));
    if (scene->pulses)
        SP_TRY(sp_contact_scene_brake(scene));

    for (int64_t i = 0; i < scene->pair_count; i++)
        SP_TRY(apply_pair(scene, &scene->pairs[i]));
    if (scene->spheres)
        SP_TRY(sp_contact_scene_spheres_meet(scene));

    if (scene->p.coupling.body >= 0 && (status = move_coupled(scene)) != SP_OK)
        return refuse_step(scene, scene->p.coupling.body, status);

    for (int64_t i = 0; i < scene->force_count; i++)
        apply_force(&scene->contact_bodies[scene->forces[i].body], &scene->forces[i]);
    prepare_forces(scene);

#pragma omp parallel for schedule(dynamic, 4) num_threads(context->threads) if (scene->body_count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < scene->body_count; i++)
        move_body(scene, &scene->contact_bodies[i]);

    for (int64_t i = 0; i < scene->body_count; i++) {
        const contact_body *a = &scene->contact_bodies[i];
        if (a->status != SP_OK)
            return refuse_step(scene, i, a->status);
        if (a->body->motion == SP_CONTACT_SCENE_PATH)
            scene->report.path_work += a->frame_work - h * (sp_dot3(a->wrench, a->at.velocity) +
                                                            sp_dot3(a->wrench + 3, a->at.angular_velocity));
        if (a->body->free)
            scene->report.stiffest = h * h * sp_contact_scene_stiffest(a, scene->report.stiffest / (h * h));
    }

    if ((status = move_joined(scene)) != SP_OK)
        return status;
    scene->steps++;
done:
    return status;
}

const sp_contact_scene_report *sp_contact_scene_reported(const sp_contact_scene *scene)
{
    return &scene->report;
}

/* ---- looking ---- */

/* Of a body that is not free. */
static sp_pose guided_pose(const sp_contact_scene *scene, const contact_body *a, double twist[6])
{
    return a->body->motion == SP_CONTACT_SCENE_PATH
               ? a->body->path(a->body->path_data, sp_contact_scene_time(scene), twist)
               : a->pose;
}

const double *sp_contact_scene_q(const sp_contact_scene *scene, int64_t body)
{
    const contact_body *a = &scene->contact_bodies[body];
    return a->body->r == 0 ? NULL
           : a->body->free ? sp_free_body_q(a->body->free)
           : a->integrator ? sp_integrator_q(a->integrator)
                           : a->q;
}

static void copy_coordinates(int64_t r, const double *from, double *to)
{
    if (to && r)
        memcpy(to, from, (size_t)r * sizeof *to);
}

void sp_contact_scene_body_now(const sp_contact_scene *scene, int64_t body, sp_pose *pose, double twist[6], double *q,
                               double *qdot)
{
    static const double origin[3] = {0, 0, 0};
    const contact_body *a = &scene->contact_bodies[body];

    memcpy(twist, a->twist, sizeof a->twist);
    copy_coordinates(a->body->r, sp_contact_scene_q(scene, body), q);

    if (a->body->free) {
        const sp_free_state *state = sp_free_body_state(a->body->free);
        double R[9];
        sp_free_body_pose(a->body->free, pose);
        sp_quaternion_matrix(state->rotation, R);
        sp_rotate(R, state->Omega, twist + 3);
        sp_free_body_point_velocity(a->body->free, origin, NULL, twist);
        copy_coordinates(a->body->r, sp_free_body_qdot(a->body->free), qdot);
        return;
    }

    *pose = guided_pose(scene, a, twist);
    copy_coordinates(a->body->r, a->integrator ? sp_integrator_v(a->integrator) : a->qdot, qdot);
}

const double *sp_contact_scene_wrench(const sp_contact_scene *scene, int64_t body)
{
    return scene->contact_bodies[body].wrench;
}

void sp_contact_scene_energies(sp_contact_scene *scene, double energy[3])
{
    energy[0] = energy[1] = energy[2] = 0;
    for (int64_t i = 0; i < scene->body_count; i++) {
        contact_body *a = &scene->contact_bodies[i];
        if (a->body->free) {
            double kinetic, strain;
            sp_free_body_energies(a->body->free, &kinetic, &strain);
            energy[0] += kinetic;
            energy[1] += strain;
            energy[2] -= a->body->inertia->mass * sp_dot3(scene->p.gravity, sp_free_body_state(a->body->free)->c);
        } else if (a->integrator) {
            double works[SP_WORK_COUNT];
            sp_integrator_energies(a->integrator, works);
            energy[0] += works[SP_WORK_KINETIC];
            energy[1] += works[SP_WORK_STORED];
            energy[2] -= deformation_weight(scene, a, sp_contact_scene_time(scene));
        }
    }
}

int64_t sp_contact_scene_contacts(const sp_contact_scene *scene, const sp_contact_scene_contact **contacts)
{
    *contacts = scene->contacts.data;
    return scene->contacts.count;
}

void sp_contact_scene_coupled(const sp_contact_scene *scene, sp_pose *hand, double wrench[6], double device[6])
{
    *hand = scene->hand;
    memcpy(wrench, scene->coupling, sizeof scene->coupling);
    memcpy(device, scene->device, sizeof scene->device);
}
