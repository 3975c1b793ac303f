/* Braking pulses of voxmaps (thesis §3.1) that never add kinetic energy.
 *
 * A point in a proximity voxel that approaches faster than the permitted speed is braked by an impulse p_i ≥ 0 along
 * its normal. With u the velocities of all bodies, A their mass matrix and J_i the row that gives the separating speed
 * of the point, v_i = J_i u, impulses p change the velocities by A⁻¹Jᵀp and the kinetic energy by exactly ΔT(p) = pᵀv +
 * ½ pᵀW p, W = J A⁻¹ Jᵀ, since T is quadratic in u. The pulses of all points and pairs are found together by minimizing
 * ΔT over p ≥ 0, one coordinate after another: p_i ← max(0, p_i − (v + W p)_i / W_ii). The effective mass 1/W_ii
 * includes the point's lever arm, the other body and the deformation of both. Each of these steps is the exact minimum
 * along its coordinate and cannot raise ΔT, which is 0 at p = 0. Therefore ΔT ≤ 0 after any number of sweeps. The limit
 * is the inelastic impact, after which no braked point approaches and none is pulled.
 *
 * A step applies p as the constant force p/h. Its scheme (rigid/free.h) then changes the energy by that amount except
 * for the rotation of the body within the step, of relative order h |ω|. An implicit integrator of the deformation of a
 * body that is not free responds less than A⁻¹, which only lowers ½ pᵀW p. */
#include "scene/internal.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 64 };
static const double SETTLED = 1e-10; /* change of the impulses in a sweep relative to the largest */

/* A braked point. Its rows in `numbers` are J and A⁻¹Jᵀ [6 + r] each, for the shell's body and then the other one:
 * velocity of the centre of mass and angular velocity, world, then q̇. */
typedef struct pulse {
    int64_t contact_pair, contact, rows;
    double speed;            /* m/s: the part of the separating speed that is not in u */
    double mobility, amount; /* W_ii 1/kg, p_i N s */
} pulse;

struct sp_contact_scene_pulses {
    sp_list pulses;  /* of pulse */
    sp_list numbers; /* of double */
    double **u;      /* [bodies] [6 + r] */
};

int sp_contact_scene_pulses_new(sp_contact_scene *scene)
{
    sp_contact_scene_pulses *pulses = scene->pulses = sp_pool_new(&scene->pool, 1, sizeof *pulses);
    SP_PASS(sp_allocated(scene->context, pulses));
    pulses->u = sp_pool_new(&scene->pool, scene->body_count, sizeof *pulses->u);
    for (int64_t i = 0; pulses->u && i < scene->body_count; i++)
        pulses->u[i] = sp_pool_new(&scene->pool, 6 + scene->contact_bodies[i].body->r, sizeof(double));
    return sp_allocated(scene->context, !scene->pool.failed);
}

void sp_contact_scene_pulses_free(sp_contact_scene *scene)
{
    if (!scene->pulses)
        return;
    sp_list_free(&scene->pulses->pulses);
    sp_list_free(&scene->pulses->numbers);
}

/* Velocities of a free body; for other bodies only the changes by pulses, which start from 0. */
static void start_velocities(const sp_contact_scene *scene, int64_t body)
{
    const contact_body *a = &scene->contact_bodies[body];
    double *u = scene->pulses->u[body];

    memset(u, 0, (size_t)(6 + a->body->r) * sizeof *u);
    if (!a->body->free)
        return;

    const sp_free_state *state = sp_free_body_state(a->body->free);
    memcpy(u, state->v, sizeof state->v);
    memcpy(u + 3, a->at.angular_velocity, sizeof a->at.angular_velocity);
    memcpy(u + 6, a->qdot, (size_t)a->body->r * sizeof *u);
}

/* J for an impulse n at `at` on a point that moves with `shell` (NULL: with the frame of the body). */
static void fill_row(const contact_body *a, const sp_contact_pointshell *pointshell, int64_t point, const double at[3],
                     const double n[3], double *J)
{
    const int64_t r = a->body->r, modes = r && pointshell && pointshell->U ? pointshell->modes : 0;
    const double arm[3] = {at[0] - a->about[0], at[1] - a->about[1], at[2] - a->about[2]};
    double R[9], local[3];

    memcpy(J, n, 3 * sizeof *J);
    sp_cross3(arm, n, J + 3);
    memset(J + 6, 0, (size_t)r * sizeof *J);
    sp_quaternion_matrix(a->at.pose.q, R);
    sp_rotate_back(R, n, local);

    /* Coordinates of a free body move its points relative to the means. */
    for (int k = 0; k < 3; k++) {
        for (int64_t j = 0; j < modes; j++)
            J[6 + j] += local[k] * pointshell->U[(3 * point + k) * modes + j];
        for (int64_t j = 0; j < r && a->body->free; j++)
            J[6 + j] -= local[k] * a->body->inertia->mean[k * r + j];
    }
}

/* A⁻¹Jᵀ: 0 if the motion of the body is prescribed. */
static int respond(sp_contact_scene *scene, int64_t body, const double *J, double *Y)
{
    const contact_body *a = &scene->contact_bodies[body];
    const int64_t r = a->body->r;
    int status = SP_OK;

    memset(Y, 0, (size_t)(6 + r) * sizeof *Y);

    if (a->body->free)
        return sp_free_body_respond(a->body->free, J, J + 3, J + 6, Y, Y + 3, Y + 6);
    if (body == scene->p.coupling.body && scene->p.coupling.dynamic) {
        double inertia[9];
        memcpy(inertia, scene->motion.inertia, sizeof inertia);
        memcpy(Y + 3, J + 3, 3 * sizeof *Y);
        for (int k = 0; k < 3; k++)
            Y[k] = J[k] / scene->motion.mass;
        if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', 3, 1, inertia, 3, Y + 3, 3) != 0)
            return sp_fail(scene->context, SP_NUMERICAL, "%s: its inertia is not positive definite",
                           sp_contact_scene_label(scene, body).text);
    }

    if (r && a->body->system)
        status = a->body->system->mass_solve(a->body->system->self, J + 6, Y + 6);
    return status;
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static int add_pulse(sp_contact_scene *scene, int64_t number, int64_t contact, const double base[3])
{
    sp_contact_scene_pulses *all = scene->pulses;
    const contact_pair *e = &scene->pairs[number];
    const double *n = e->forces.normal + 3 * contact, *at = e->forces.at + 3 * contact,
                 minus[3] = {-n[0], -n[1], -n[2]};
    const int64_t bodies[2] = {e->pointshell, e->field}, rows = all->numbers.count;
    double mobility = 0;
    pulse *p = sp_list_add(&all->pulses, 1, sizeof *p);

    double *J = sp_list_add(
        &all->numbers,
        24 + 2 * (scene->contact_bodies[e->pointshell].body->r + scene->contact_bodies[e->field].body->r), sizeof *J);

    SP_PASS(sp_allocated(scene->context, p && J));

    /* W_ii = J A⁻¹ Jᵀ, summed over both bodies */
    for (int side = 0; side < 2; side++) {
        const contact_body *a = &scene->contact_bodies[bodies[side]];
        const int64_t width = 6 + a->body->r;
        fill_row(a, side ? NULL : a->body->pointshell, e->forces.point[contact], at, side ? minus : n, J);
        SP_PASS(respond(scene, bodies[side], J, J + width));
        mobility += dot(width, J, J + width);
        J += 2 * width;
    }

    *p = (pulse){
        .contact_pair = number, .contact = contact, .rows = rows, .speed = sp_dot3(base, n), .mobility = mobility};
    return SP_OK;
}

/* Velocity of the shell's point relative to the other body there; base: the part due to bodies that are not free. */
static void velocities(const sp_contact_scene *scene, const contact_pair *e, int64_t contact, double relative[3],
                       double base[3])
{
    const int64_t bodies[2] = {e->pointshell, e->field};
    memset(relative, 0, 3 * sizeof *relative);
    memset(base, 0, 3 * sizeof *base);

    for (int side = 0; side < 2; side++) {
        const contact_body *a = &scene->contact_bodies[bodies[side]];
        const sp_contact_pointshell *pointshell = a->body->pointshell;
        const int64_t modes = side == 0 && pointshell->U ? pointshell->modes : 0;
        double v[3];
        sp_contact_velocity(&a->at, e->forces.at + 3 * contact, modes,
                            modes ? pointshell->U + 3 * modes * e->forces.point[contact] : NULL, v);
        for (int k = 0; k < 3; k++) {
            relative[k] += side ? -v[k] : v[k];
            base[k] += a->body->free ? 0 : side ? -v[k] : v[k];
        }
    }
}

static int find_pulses(sp_contact_scene *scene)
{
    for (int64_t number = 0; number < scene->pair_count; number++) {
        const contact_pair *e = &scene->pairs[number];
        const contact_body *b = &scene->contact_bodies[e->field];
        double B[9];
        if (b->body->distance->kind != SP_DISTANCE_VOXMAP)
            continue;

        sp_quaternion_matrix(b->at.pose.q, B);
        for (int64_t i = 0; i < e->forces.count; i++) {
            double relative[3], base[3], n[3], v[3];
            velocities(scene, e, i, relative, base);

            /* The voxmap is asked in its own frame. */
            sp_rotate_back(B, e->forces.normal + 3 * i, n);
            sp_rotate_back(B, relative, v);
            if (sp_voxmap_pulse(b->body->distance->voxmap, e->found.place + 3 * i, n, v, scene->p.pulse) > 0)
                SP_PASS(add_pulse(scene, number, i, base));
        }
    }
    return SP_OK;
}

/* One coordinate step; returns the change of the impulse. */
static double relax(const sp_contact_scene *scene, pulse *p)
{
    const contact_pair *e = &scene->pairs[p->contact_pair];
    const int64_t bodies[2] = {e->pointshell, e->field};
    const double *J = (const double *)scene->pulses->numbers.data + p->rows;
    double speed = p->speed;

    if (!(p->mobility > 0))
        return 0;

    for (int side = 0; side < 2; side++) {
        const int64_t width = 6 + scene->contact_bodies[bodies[side]].body->r;
        speed += dot(width, J, scene->pulses->u[bodies[side]]);
        J += 2 * width;
    }

    /* p ← max(0, p − J u / W_ii): contact pushes only */
    const double amount = fmax(0, p->amount - speed / p->mobility), change = amount - p->amount;
    J = (const double *)scene->pulses->numbers.data + p->rows;
    for (int side = 0; side < 2; side++) {
        const int64_t width = 6 + scene->contact_bodies[bodies[side]].body->r;
        for (int64_t k = 0; k < width; k++)
            scene->pulses->u[bodies[side]][k] += change * J[width + k];
        J += 2 * width;
    }

    p->amount = amount;
    return change;
}

int sp_contact_scene_brake(sp_contact_scene *scene)
{
    sp_contact_scene_pulses *all = scene->pulses;

    all->pulses.count = all->numbers.count = 0;
    SP_PASS(find_pulses(scene));
    pulse *p = all->pulses.data;

    for (int64_t i = 0; i < scene->body_count && all->pulses.count; i++)
        start_velocities(scene, i);

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double change = 0, largest = 0;
        for (int64_t i = 0; i < all->pulses.count; i++) {
            change = fmax(change, fabs(relax(scene, &p[i])));
            largest = fmax(largest, p[i].amount);
        }
        if (change <= SETTLED * largest)
            break;
    }

    /* An impulse p n is a force p n / h over the step. */
    for (int64_t i = 0; i < all->pulses.count; i++) {
        sp_contact_forces *f = &scene->pairs[p[i].contact_pair].forces;
        for (int k = 0; k < 3; k++)
            f->force[3 * p[i].contact + k] += p[i].amount / scene->p.step * f->normal[3 * p[i].contact + k];
    }
    return SP_OK;
}
