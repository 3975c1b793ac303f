#include "contact/world_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static void load_of(void *self, double t0, double t1, double *f)
{
    const actor *a = self;
    (void)t0, (void)t1; /* contact is constant over a step */
    memcpy(f, a->Q, (size_t)a->body->r * sizeof *f);
}

sp_world_name sp_world_label(const sp_world *world, int64_t i)
{
    const char *name = world->actors[i].body->name;
    sp_world_name l;
    snprintf(l.text, sizeof l.text, "body %lld%s%s%s", (long long)i, name ? " (" : "", name ? name : "",
             name ? ")" : "");
    return l;
}

static int make_actor(sp_world *world, int64_t i, const sp_world_body *body)
{
    actor *a = &world->actors[i];
    int status = SP_OK;
    a->body = body;
    a->pose = body->pose;
    a->q = sp_pool_new(&world->pool, body->r, sizeof(double));
    a->qdot = sp_pool_new(&world->pool, body->r, sizeof(double));
    a->Q = sp_pool_new(&world->pool, body->r, sizeof(double));
    if (world->pool.failed)
        return sp_fail_memory(world->context);
    a->context = *world->context;
    a->context.threads = 1;
    a->context.progress = NULL;
    if (body->free)
        sp_world_weigh(a);
    a->at = (sp_contact_state){.pose = body->pose, .q = body->r ? a->q : NULL, .qdot = body->r ? a->qdot : NULL};
    if (body->system && body->motion != SP_WORLD_FREE) {
        sp_integrator_parameters p = world->p.integrator;
        p.step = world->p.step;
        p.damping_mass = body->damping[0];
        p.damping_stiffness = body->damping[1];
        p.most_acceleration = body->most_acceleration;
        a->forcing = (sp_forcing){.self = a, .mean = load_of};
        status = sp_integrator_new(&a->context, body->system, &a->forcing, &p, NULL, NULL, &a->integrator);
        if (status != SP_OK)
            return sp_fail(world->context, status, "%s: %s", sp_world_label(world, i).text, a->context.message);
    }
    return status;
}

/* What a tangential spring needs: a point that lasts, a direction and a distance that do too, and a body that moves by
 * its forces alone. */
static int refuse_friction(const sp_world *world, int64_t shell, int64_t field)
{
    const int64_t held = world->p.coupling.body;
    if (!(world->p.friction > 0))
        return SP_OK;
    if (world->actors[field].body->distance->kind == SP_DISTANCE_VOXMAP)
        return sp_fail(world->context, SP_INPUT,
                       "%s has a voxmap, whose depths jump from voxel to voxel: friction needs distances",
                       sp_world_label(world, field).text);
    if (held == shell || held == field)
        return sp_fail(
            world->context, SP_INPUT,
            "%s is held by the coupling, whose balance needs forces with derivatives: friction has none where it slips",
            sp_world_label(world, held).text);
    return SP_OK;
}

/* Balls touch at places that no point keeps. */
static int refuse_ball_friction(const sp_world *world)
{
    int64_t count = world->ball_pair_count > 0 ? 2 : 0;
    for (int64_t i = 0; i < world->body_count && world->all_balls; i++)
        count += world->actors[i].body->shell && world->actors[i].body->thickness > 0;
    if (!(world->p.friction > 0) || count < 2)
        return SP_OK;
    return sp_fail(world->context, SP_INPUT,
                   "bodies with a thickness touch as balls, at places that no point keeps: friction needs points "
                   "against distances");
}

static int check_pair(const sp_world *world, const sp_world_pair *pair)
{
    if (pair->shell < 0 || pair->shell >= world->body_count || pair->field < 0 || pair->field >= world->body_count ||
        pair->shell == pair->field)
        return sp_fail(world->context, SP_USAGE, "a pair of bodies %lld and %lld of %lld", (long long)pair->shell,
                       (long long)pair->field, (long long)world->body_count);
    const sp_world_body *a = world->actors[pair->shell].body, *b = world->actors[pair->field].body;
    if (!a->shell || !b->distance) /* two without distances were taken for balls */
        return sp_fail(world->context, SP_USAGE, "bodies %lld and %lld are a pair, but %s has no %s",
                       (long long)pair->shell, (long long)pair->field,
                       sp_world_label(world, a->shell ? pair->field : pair->shell).text,
                       a->shell ? "distances" : "points");
    if (a->shell->modes > a->r ||
        (b->distance->kind == SP_DISTANCE_DEFORMED && sp_deformed_field_r(b->distance->deformed) > b->r))
        return sp_fail(world->context, SP_USAGE,
                       "bodies %lld and %lld are a pair, but one has more modes than coordinates",
                       (long long)pair->shell, (long long)pair->field);
    return refuse_friction(world, pair->shell, pair->field);
}

/* The first and the last body that … */
typedef struct ends {
    int64_t first, last;
} ends;

static void note_end(ends *e, bool wanted, int64_t body)
{
    e->first = wanted && e->first < 0 ? body : e->first;
    e->last = wanted ? body : e->last;
}

/* The same for the pairs of all bodies: what refuses a pair is of one of the two, so that each is tried with one other.
 */
static int check_all(const sp_world *world)
{
    ends shells[2] = {{-1, -1}, {-1, -1}}, fields[2] = {{-1, -1}, {-1, -1}}; /* all, and those that move */
    int status = SP_OK;
    for (int64_t i = 0; i < world->body_count; i++)
        for (int moving = 0; moving <= sp_world_moves(&world->actors[i]); moving++) {
            note_end(&shells[moving], world->actors[i].body->shell, i);
            note_end(&fields[moving], world->actors[i].body->distance, i);
        }
    for (int64_t i = 0; i < world->body_count; i++) {
        const actor *a = &world->actors[i];
        const ends *shell = &shells[!sp_world_moves(a)], *field = &fields[!sp_world_moves(a)];
        const int64_t s = shell->first == i ? shell->last : shell->first,
                      f = field->first == i ? field->last : field->first;
        if (a->body->shell && f >= 0 && f != i)
            SP_TRY(check_pair(world, &(sp_world_pair){i, f}));
        if (a->body->distance && s >= 0 && s != i)
            SP_TRY(check_pair(world, &(sp_world_pair){s, i}));
    }
done:
    return status;
}

int sp_world_by_bodies(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

static bool of_balls(const sp_world_body *bodies, int64_t count, const sp_world_pair *pair)
{
    if (pair->shell < 0 || pair->shell >= count || pair->field < 0 || pair->field >= count ||
        pair->shell == pair->field)
        return false;
    const sp_world_body *a = &bodies[pair->shell], *b = &bodies[pair->field];
    return !b->distance && a->shell && b->shell && a->thickness > 0 && b->thickness > 0;
}

/* Takes those of points against distances into `points` [count] in their order; the others are balls. */
static int sort_pairs(sp_world *world, const sp_world_body *bodies, int64_t count, const sp_world_pair *pairs,
                      sp_world_pair *points, int64_t *point_count)
{
    int status = SP_OK;
    world->ball_pairs = sp_pool_raw(&world->pool, 2 * count, sizeof(int32_t));
    if (!world->ball_pairs || !points)
        return sp_fail_memory(world->context);
    for (int64_t i = 0; i < count; i++) {
        int32_t *pair = world->ball_pairs + 2 * world->ball_pair_count;
        if (!of_balls(bodies, world->body_count, &pairs[i])) {
            SP_TRY(check_pair(world, &pairs[i]));
            points[(*point_count)++] = pairs[i];
            continue;
        }
        const bool ordered = pairs[i].shell < pairs[i].field;
        pair[0] = (int32_t)(ordered ? pairs[i].shell : pairs[i].field);
        pair[1] = (int32_t)(ordered ? pairs[i].field : pairs[i].shell);
        world->ball_pair_count++;
    }
    if (world->ball_pair_count)
        qsort(world->ball_pairs, (size_t)world->ball_pair_count, 2 * sizeof(int32_t), sp_world_by_bodies);
done:
    return status;
}

sp_pose sp_world_grasp(const sp_world *world, const sp_pose *body)
{
    double R[9];
    sp_pose frame = *body;
    sp_quaternion_matrix(body->q, R);
    sp_rotate(R, world->p.coupling.grasp, frame.x);
    for (int k = 0; k < 3; k++)
        frame.x[k] += body->x[k];
    return frame;
}

static void render_coupling(sp_world *world)
{
    const sp_world_coupling *c = &world->p.coupling;
    const sp_pose frame = sp_world_grasp(world, &world->actors[c->body].pose);
    sp_wrench wrench = {.force = {0}};
    sp_coupling_wrench(&c->parameters, &world->hand, &frame, &wrench);
    memcpy(world->coupling, wrench.force, sizeof wrench.force);
    memcpy(world->coupling + 3, wrench.torque, sizeof wrench.torque);
    sp_coupling_render(&c->parameters, &world->hand, &frame, c->device_force, c->device_torque, world->device,
                       world->device + 3);
}

int sp_world_new(sp_context *context, const sp_world_parameters *parameters, int64_t body_count,
                 const sp_world_body *bodies, int64_t pair_count, const sp_world_pair *pairs, bool balls,
                 sp_world **result)
{
    int status = SP_OK;
    sp_pool scratch = {0};
    sp_world *world = calloc(1, sizeof *world);
    *result = NULL;
    if (!world)
        return sp_fail_memory(context);
    world->context = context;
    world->p = *parameters;
    world->p.limits.proximity = parameters->pulse < INFINITY;
    world->body_count = body_count;
    world->actors = sp_pool_new(&world->pool, body_count, sizeof *world->actors);
    world->ahead = sp_pool_new(&world->pool, body_count, sizeof *world->ahead);
    if (world->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < body_count; i++)
        SP_TRY(make_actor(world, i, &bodies[i]));
    const int64_t listed = parameters->all ? 0 : pair_count;
    int64_t point_count = 0;
    sp_world_pair *points = sp_pool_raw(&scratch, listed, sizeof *points);
    SP_TRY(sort_pairs(world, bodies, listed, pairs, points, &point_count));
    if (parameters->all)
        SP_TRY(check_all(world));
    world->all_balls = balls;
    SP_TRY(refuse_ball_friction(world));
    if (balls || world->ball_pair_count > 0)
        SP_TRY(sp_world_balls_new(world));
    SP_TRY(sp_world_pairs_new(world, point_count, points));
    if (parameters->pulse < INFINITY)
        SP_TRY(sp_world_pulses_new(world));
    const sp_world_coupling *c = &parameters->coupling;
    if (c->body >= 0) {
        world->hand = c->path(c->path_data, 0, NULL);
        render_coupling(world);
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK) {
        sp_world_free(world);
        return status;
    }
    *result = world;
    return SP_OK;
}

void sp_world_free(sp_world *world)
{
    if (!world)
        return;
    for (int64_t i = 0; world->actors && i < world->body_count; i++) {
        sp_integrator_free(world->actors[i].integrator);
        sp_ball_tree_free(world->actors[i].balls);
    }
    sp_world_balls_free(world);
    sp_world_pulses_free(world);
    sp_world_pairs_free(world);
    sp_list_free(&world->contacts);
    sp_pool_free(&world->pool);
    free(world);
}

double sp_world_time(const sp_world *world)
{
    return (double)world->steps * world->p.step;
}

/* ---- a step ---- */

/* Mass, centre and inertia of the coupled body as it is turned now. */
static void weigh(sp_world *world, actor *a)
{
    const sp_inertia *inertia = a->body->inertia;
    sp_coupled_motion *m = &world->motion;
    const double trace = inertia->S[0] + inertia->S[4] + inertia->S[8];
    double arm[3], J[9], RJ[9], R[9];
    sp_quaternion_matrix(a->pose.q, R);
    sp_rotate(R, inertia->centre, a->about);
    for (int k = 0; k < 3; k++) {
        arm[k] = inertia->centre[k] - world->p.coupling.grasp[k];
        a->about[k] += a->pose.x[k];
    }
    sp_rotate(R, arm, m->centre);
    m->mass = inertia->mass;
    for (int i = 0; i < 9; i++)
        J[i] = (i % 4 == 0 ? trace : 0) - inertia->S[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RJ[3 * i + j] = R[3 * i] * J[j] + R[3 * i + 1] * J[3 + j] + R[3 * i + 2] * J[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m->inertia[3 * i + j] = sp_dot3(RJ + 3 * i, R + 3 * j);
}

/* Where the body will be half a step ahead, with the velocities of now. */
static void predict(sp_world *world, actor *a)
{
    static const double origin[3] = {0, 0, 0};
    const sp_world_body *body = a->body;
    const double half = 0.5 * world->p.step;
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
    } else if (body->motion == SP_WORLD_PATH) {
        a->at.pose = body->path(body->path_data, sp_world_time(world) + half, twist);
        memcpy(a->at.velocity, twist, sizeof a->at.velocity);
        memcpy(a->at.angular_velocity, twist + 3, sizeof a->at.angular_velocity);
    } else if (body->motion == SP_WORLD_COUPLED) {
        a->at.pose = a->pose;
        memcpy(a->at.velocity, a->twist, sizeof a->at.velocity);
        memcpy(a->at.angular_velocity, a->twist + 3, sizeof a->at.angular_velocity);
        if (world->p.coupling.dynamic)
            weigh(world, a);
    }
    if (a->integrator) {
        const double *q = sp_integrator_q(a->integrator), *v = sp_integrator_v(a->integrator);
        for (int64_t j = 0; j < body->r; j++) {
            a->q[j] = q[j] + half * v[j];
            a->qdot[j] = v[j];
        }
    }
    if (body->deformed)
        sp_deformed_field_update(body->deformed, a->q);
    if (a->balls)
        sp_ball_tree_move(a->balls, &a->at.pose, a->at.q);
    sp_world_bound(world, a - world->actors);
}

int sp_world_note(sp_world *world, int64_t a, int64_t b, int32_t point, const double at[3], const double force[3])
{
    sp_world_contact *contact = sp_list_add(&world->contacts, 1, sizeof *contact);
    if (!contact)
        return sp_fail_memory(world->context);
    *contact =
        (sp_world_contact){.body = {(int32_t)a, (int32_t)b}, .point = world->actors[a].body->shell->original[point]};
    memcpy(contact->at, at, sizeof contact->at);
    memcpy(contact->force, force, sizeof contact->force);
    return SP_OK;
}

/* Whether the shell is in the other body with all its points, and deeper than one that only lies on it would be. */
static bool wholly_inside(const encounter *e, const sp_contact_shell *shell)
{
    const sp_traversal_result *found = &e->found;
    return found->deepest > 0 && shell->extent > 0 && found->count == shell->cumulative[found->deepest - 1] &&
           found->lowest < -shell->extent;
}

/* What the force of a pair would be along gradients, which have an energy, beside what it is along normals. */
static void measure_lean(sp_world *world, const encounter *e)
{
    const actor *a = &world->actors[e->shell], *b = &world->actors[e->field];
    const sp_contact_forces *f = &e->forces;
    const sp_distance *distance = b->body->distance;
    double B[9], force[3] = {0}, other[3] = {0};
    if (world->steps % 8 != 0 || sp_penalty_by_gradient(&world->p.penalty, distance) ||
        distance->kind == SP_DISTANCE_VOXMAP || !(a->body->free || b->body->free))
        return;
    sp_quaternion_matrix(b->at.pose.q, B);
    for (int64_t i = 0; i < f->count; i++) {
        double local[3], g[3];
        const double *n = f->normal + 3 * i,
                     push = sp_dot3(f->force + 3 * i, n) / fmax(sp_dot3(n, n), DBL_MIN); /* friction is across n */
        sp_distance_at(distance, e->found.place + 3 * i, local);
        sp_rotate(B, local, g);
        const double scale = sqrt(sp_dot3(n, n) / fmax(sp_dot3(g, g), DBL_MIN));
        for (int k = 0; k < 3; k++) {
            force[k] += push * n[k];
            other[k] += push * (n[k] - scale * g[k]);
        }
    }
    world->report.pushed += sqrt(sp_dot3(force, force));
    world->report.leant += sqrt(sp_dot3(other, other));
}

/* Forces of a pair onto both bodies. */
static int apply_pair(sp_world *world, const encounter *e)
{
    actor *a = &world->actors[e->shell], *b = &world->actors[e->field];
    const sp_contact_forces *f = &e->forces;
    sp_world_report *report = &world->report;
    int status = SP_OK;
    report->visited += e->found.visited;
    report->passed += e->found.passed;
    report->deepest = e->found.deepest > report->deepest ? e->found.deepest : report->deepest;
    report->complete &= e->found.complete;
    report->lowest = fmin(report->lowest, e->found.lowest);
    if (report->inside[0] < 0 && wholly_inside(e, a->body->shell)) {
        report->inside[0] = e->shell;
        report->inside[1] = e->field;
    }
    const sp_penalty *penalty = &world->p.penalty;
    actor *const sides[2] = {a, b};
    const double each = f->scale * (penalty->stiffness + 2 * penalty->damping / world->p.step),
                 share[2] = {each * sp_world_share(a, b), each * sp_world_share(b, a)};
    for (int64_t i = 0; i < f->count; i++) {
        const bool touching = f->distance[i] < 0;
        if (!touching && sp_dot3(f->force + 3 * i, f->force + 3 * i) == 0) /* a proximity voxel without a pulse */
            continue;
        report->touching += touching;
        for (int s = 0; s < 2 && touching; s++)
            if (share[s] > 0)
                sp_world_stiffen(sides[s], f->at + 3 * i, f->normal + 3 * i,
                                 share[s] * sp_penalty_weight(penalty, a->body->shell, f->point[i]),
                                 world->p.friction > 0);
        SP_TRY(sp_world_note(world, e->shell, e->field, f->point[i], f->at + 3 * i, f->force + 3 * i));
    }
    for (int s = 0; s < 2; s++) {
        sp_contact_forces_total(f, s ? -1 : 1, sides[s]->about, sides[s]->F, sides[s]->T);
        sp_contact_forces_total(f, s ? -1 : 1, sides[s]->at.pose.x, sides[s]->wrench, sides[s]->wrench + 3);
    }
    measure_lean(world, e);
    if (a->body->r && a->body->shell->U)
        sp_contact_forces_project(f, a->body->shell, &a->at.pose, a->Q);
    if (b->body->distance->kind == SP_DISTANCE_DEFORMED)
        sp_contact_forces_project_field(f, b->body->distance, &b->at.pose, b->Q);
done:
    return status;
}

/* ---- the coupled body ---- */

static void contact_wrench(const sp_world *world, const double about[3], sp_wrench *wrench)
{
    const sp_world_coupling *c = &world->p.coupling;
    for (int64_t i = 0; i < world->pair_count; i++) {
        const encounter *e = &world->pairs[i];
        const actor *a = &world->actors[e->shell], *b = &world->actors[e->field];
        if (e->shell == c->body || e->field == c->body)
            sp_penalty_wrench(&world->p.penalty, a->body->shell, b->body->distance, &b->at.pose, &e->forces,
                              e->shell == c->body, c->normals, about, wrench);
    }
}

static int move_coupled(sp_world *world)
{
    const sp_world_coupling *c = &world->p.coupling;
    actor *a = &world->actors[c->body];
    sp_coupling_step_report report = {.displacement = {0}};
    sp_wrench contact = world->ball_wrench;
    double R[9], arm[3], turn[3];
    int status;
    sp_pose frame = sp_world_grasp(world, &a->pose);
    contact_wrench(world, frame.x, &contact);
    world->hand = c->path(c->path_data, sp_world_time(world) + world->p.step, world->hand_twist);
    if (c->dynamic) {
        memcpy(world->motion.hand_velocity, world->hand_twist, sizeof world->motion.hand_velocity);
        memcpy(world->motion.hand_angular_velocity, world->hand_twist + 3, sizeof world->motion.hand_angular_velocity);
        SP_TRY(sp_coupling_dynamic(&a->context, &c->parameters, world->p.step, &world->hand, &contact, world->p.gravity,
                                   &world->motion, &frame, &report));
    } else
        SP_TRY(sp_coupling_static(&a->context, &c->parameters, world->p.step, &world->hand, &contact, &frame, &report));
    sp_quaternion_matrix(frame.q, R);
    sp_rotate(R, c->grasp, arm);
    for (int k = 0; k < 3; k++) {
        a->pose.x[k] = frame.x[k] - arm[k];
        a->twist[3 + k] = report.rotation[k] / world->p.step;
    }
    memcpy(a->pose.q, frame.q, sizeof frame.q);
    sp_cross3(a->twist + 3, arm, turn);
    for (int k = 0; k < 3; k++)
        a->twist[k] = report.displacement[k] / world->p.step - turn[k];
    world->report.degenerate = report.degenerate;
    world->report.limited = report.limited;
    render_coupling(world);
done:
    return status;
}

/* ---- the step ---- */

static void move_body(const sp_world *world, actor *a)
{
    const sp_world_body *body = a->body;
    const double *g = world->p.gravity;
    double R[9], local[3], F[3];
    a->status = SP_OK;
    sp_quaternion_matrix(a->at.pose.q, R);
    if (body->free) {
        sp_rotate_back(R, a->F, local);
        for (int64_t j = 0; j < body->r; j++) /* from U to Ũ */
            for (int k = 0; k < 3; k++)
                a->Q[j] -= body->inertia->mean[k * body->r + j] * local[k];
        for (int k = 0; k < 3; k++)
            F[k] = a->F[k] + body->inertia->mass * g[k];
        a->status = sp_free_body_step(body->free, F, a->T, body->r ? a->Q : NULL);
    } else if (a->integrator) {
        sp_rotate_back(R, g, local);
        for (int64_t j = 0; j < body->r && body->gravity; j++)
            a->Q[j] += sp_dot3(body->gravity + 3 * j, local);
        a->status = sp_integrator_step(a->integrator);
    }
}

static int refuse_step(sp_world *world, int64_t i, int status)
{
    const actor *a = &world->actors[i];
    const char *why = !a->body->free     ? a->context.message
                      : a->body->context ? a->body->context->message
                                         : "its solver failed";
    return sp_fail(world->context, status, "%s could not take the step from %g s on: %s", sp_world_label(world, i).text,
                   sp_world_time(world), why);
}

static void prepare_forces(sp_world *world)
{
    for (int64_t i = 0; i < world->p.batch_count; i++) {
        const sp_world_batch *batch = &world->p.batches[i];
        for (int64_t k = 0; k < batch->count; k++)
            world->ahead[k] = world->actors[batch->body[k]].q;
        sp_polynomial_batch_evaluate(batch->batch, world->ahead);
    }
}

int sp_world_step(sp_world *world)
{
    sp_context *context = world->context;
    const double h = world->p.step;
    int status = SP_OK;
    world->report =
        (sp_world_report){.complete = true, .lowest = INFINITY, .inside = {-1, -1}, .stiffest = world->report.stiffest};
    world->contacts.count = 0;
    world->ball_wrench = (sp_wrench){.force = {0}};
#pragma omp parallel for schedule(dynamic, 4) num_threads(context->threads) if (world->body_count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < world->body_count; i++)
        predict(world, &world->actors[i]);
    SP_TRY(sp_world_pairs_find(world));
    SP_TRY(sp_world_pairs_meet(world));
    if (world->pulses)
        SP_TRY(sp_world_brake(world));
    for (int64_t i = 0; i < world->pair_count; i++)
        SP_TRY(apply_pair(world, &world->pairs[i]));
    if (world->balls)
        SP_TRY(sp_world_balls_meet(world));
    if (world->p.coupling.body >= 0 && (status = move_coupled(world)) != SP_OK)
        return refuse_step(world, world->p.coupling.body, status);
    prepare_forces(world);
#pragma omp parallel for schedule(dynamic, 4) num_threads(context->threads) if (world->body_count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < world->body_count; i++)
        move_body(world, &world->actors[i]);
    for (int64_t i = 0; i < world->body_count; i++) {
        const actor *a = &world->actors[i];
        if (a->status != SP_OK)
            return refuse_step(world, i, a->status);
        if (a->body->motion == SP_WORLD_PATH)
            world->report.path_work -=
                h * (sp_dot3(a->wrench, a->at.velocity) + sp_dot3(a->wrench + 3, a->at.angular_velocity));
        if (a->body->free)
            world->report.stiffest = h * h * sp_world_stiffest(a, world->report.stiffest / (h * h));
    }
    world->steps++;
done:
    return status;
}

const sp_world_report *sp_world_reported(const sp_world *world)
{
    return &world->report;
}

/* ---- looking ---- */

/* Of a body that is not free. */
static sp_pose guided_pose(const sp_world *world, const actor *a, double twist[6])
{
    return a->body->motion == SP_WORLD_PATH ? a->body->path(a->body->path_data, sp_world_time(world), twist) : a->pose;
}

void sp_world_body_now(const sp_world *world, int64_t body, sp_pose *pose, double twist[6], double *q, double *qdot)
{
    static const double origin[3] = {0, 0, 0};
    const actor *a = &world->actors[body];
    const size_t bytes = (size_t)a->body->r * sizeof *q;
    memcpy(twist, a->twist, sizeof a->twist);
    if (a->body->free) {
        const sp_free_state *state = sp_free_body_state(a->body->free);
        double R[9];
        sp_free_body_pose(a->body->free, pose);
        sp_quaternion_matrix(state->rotation, R);
        sp_rotate(R, state->Omega, twist + 3);
        sp_free_body_point_velocity(a->body->free, origin, NULL, twist);
        if (a->body->r) {
            memcpy(q, sp_free_body_q(a->body->free), bytes);
            memcpy(qdot, sp_free_body_qdot(a->body->free), bytes);
        }
        return;
    }
    *pose = guided_pose(world, a, twist);
    if (a->integrator) {
        memcpy(q, sp_integrator_q(a->integrator), bytes);
        memcpy(qdot, sp_integrator_v(a->integrator), bytes);
    } else if (a->body->r) {
        memset(q, 0, bytes);
        memset(qdot, 0, bytes);
    }
}

const double *sp_world_wrench(const sp_world *world, int64_t body)
{
    return world->actors[body].wrench;
}

void sp_world_energies(sp_world *world, double energy[3])
{
    energy[0] = energy[1] = energy[2] = 0;
    for (int64_t i = 0; i < world->body_count; i++) {
        actor *a = &world->actors[i];
        if (a->body->free) {
            double kinetic, strain;
            sp_free_body_energies(a->body->free, &kinetic, &strain);
            energy[0] += kinetic;
            energy[1] += strain;
            energy[2] -= a->body->inertia->mass * sp_dot3(world->p.gravity, sp_free_body_state(a->body->free)->c);
        } else if (a->integrator) {
            const sp_pose pose = guided_pose(world, a, NULL);
            double works[SP_WORK_COUNT], R[9], local[3];
            const double *q = sp_integrator_q(a->integrator);
            sp_integrator_energies(a->integrator, works);
            energy[0] += works[SP_WORK_KINETIC];
            energy[1] += works[SP_WORK_STORED];
            sp_quaternion_matrix(pose.q, R);
            sp_rotate_back(R, world->p.gravity, local);
            for (int64_t j = 0; j < a->body->r && a->body->gravity; j++)
                energy[2] -= q[j] * sp_dot3(a->body->gravity + 3 * j, local);
        }
    }
}

int64_t sp_world_contacts(const sp_world *world, const sp_world_contact **contacts)
{
    *contacts = world->contacts.data;
    return world->contacts.count;
}

void sp_world_coupled(const sp_world *world, sp_pose *hand, double wrench[6], double device[6])
{
    *hand = world->hand;
    memcpy(wrench, world->coupling, sizeof world->coupling);
    memcpy(device, world->device, sizeof world->device);
}
