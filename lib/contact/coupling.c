/* Virtual coupling: springs between a body and the manipulandum, static and dynamic (thesis ch. 4). */
#include "contact/coupling.h"

#include <lapacke.h>
#include <string.h>

enum { ENTRIES = sizeof(sp_wrench) / sizeof(double), SVD_WORK = 30 /* 5 · 6, the least workspace of dgesvd */ };

/* The state of one spring along its line: the distance of the body from the manipulandum, the direction, and the
 * stiffness. */
typedef struct stretch {
    double extent; /* m or rad */
    double way[3]; /* unit vector from the manipulandum to the body; 0 if they coincide */
    /* N/m or N m/rad, > 0: for a small displacement, and for the whole distance to the manipulandum */
    double tangent, secant;
} stretch;

static double length3(const double v[3])
{
    return hypot(hypot(v[0], v[1]), v[2]); /* overflows only if the length does */
}

/* Eq. 4.40 for a spring of stiffness k with the extension r: f(r)/r and f′(r). */
static void saturate(double k, double most, double r, double *secant, double *tangent)
{
    const double joint = 0.5 * most / k;

    *secant = *tangent = k;
    if (!(r > joint))
        return;

    /* Beyond the joint: f = f_max (1 − ½ e^{−2k(r − r₀)/f_max}), which continues f and f′ = k */
    const double rest = exp(-2 * k * (r - joint) / most);
    *secant = most * (1 - 0.5 * rest) / r;
    *tangent = k * rest;
}

/* q_s q_m⁻¹ in the positive hemisphere. For a half turn it is the one of the two whose first nonzero component is
 * positive. */
static void turn_from(const sp_pose *manipulandum, const sp_pose *body, double q[4])
{
    const double *m = manipulandum->q, inverse[4] = {m[0], -m[1], -m[2], -m[3]};
    sp_quaternion_multiply(body->q, inverse, q);

    double first = q[0];
    for (int k = 1; k < 4 && first == 0; k++)
        first = q[k];
    for (int k = 0; k < 4 && first < 0; k++)
        q[k] = -q[k];
}

/* M += scale [v]× */
static void add_cross(const double v[3], double scale, double M[9])
{
    M[1] -= scale * v[2], M[2] += scale * v[1];
    M[3] += scale * v[2], M[5] -= scale * v[0];
    M[6] -= scale * v[1], M[7] += scale * v[0];
}

/* M += one I + two v vᵀ */
static void add_symmetric(double one, double two, const double v[3], double M[9])
{
    for (int i = 0; i < 3; i++) {
        M[4 * i] += one;
        for (int j = 0; j < 3; j++)
            M[3 * i + j] += two * v[i] * v[j];
    }
}

/* The wrench of both springs and their states: [0] in translation, [1] in rotation. */
static void springs(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body,
                    sp_wrench *wrench, stretch stretched[2])
{
    stretch *s = &stretched[0];
    double q[4];

    memset(wrench, 0, sizeof *wrench);
    memset(stretched, 0, 2 * sizeof *stretched);

    for (int k = 0; k < 3; k++)
        s->way[k] = body->x[k] - manipulandum->x[k];
    s->extent = length3(s->way);

    saturate(p->stiffness, p->saturation, s->extent, &s->secant, &s->tangent);
    for (int k = 0; k < 3; k++) {
        wrench->force[k] = -s->secant * s->way[k];
        s->way[k] = s->extent > 0 ? s->way[k] / s->extent : 0;
    }
    add_symmetric(-s->secant, s->secant - s->tangent, s->way, wrench->force_x); /* eq. 4.41 */

    s = &stretched[1];
    turn_from(manipulandum, body, q);
    const double k_torque = p->torque_stiffness, sine = length3(q + 1); /* of half the angle */
    double secant, tangent, linear[3];

    saturate(1, p->torque_saturation, k_torque * sine, &secant, &tangent);
    for (int k = 0; k < 3; k++) {
        linear[k] = -k_torque * q[k + 1];
        wrench->torque[k] = secant * linear[k];
        s->way[k] = sine > 0 ? q[k + 1] / sine : 0;
    }

    /* The torque is f(k sin ½ω), and ∂ sin ½ω/∂ω = ½ cos ½ω. */
    s->extent = 2 * atan2(sine, q[0]);
    s->tangent = 0.5 * k_torque * q[0] * tangent;
    s->secant = s->extent > 0 ? secant * k_torque * (sine / s->extent) : s->tangent;

    /* f/s ½(scalar(q_T) I − [T]×), eq. 4.24, and (f′ − f/s) e ∂s/∂ω with ∂s/∂ω = ½ scalar(q_T) eᵀ */
    const double half = -0.5 * k_torque * q[0];
    add_symmetric(secant * half, (tangent - secant) * half, s->way, wrench->torque_w);
    add_cross(linear, -0.5 * secant, wrench->torque_w);
}

void sp_coupling_wrench(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body,
                        sp_wrench *wrench)
{
    stretch stretched[2];
    springs(p, manipulandum, body, wrench, stretched);
}

/* total += contact; SP_NUMERICAL if the result is not finite. */
static int add_contact(sp_context *context, const sp_wrench *contact, sp_wrench *total)
{
    double a[ENTRIES], b[ENTRIES];
    memcpy(a, total, sizeof a);
    memcpy(b, contact, sizeof b);

    for (int k = 0; k < ENTRIES; k++) {
        if (!isfinite(a[k] + b[k]))
            return sp_fail(context, SP_NUMERICAL, "number %d of %d of the wrench: %g of springs, %g of contact", k,
                           ENTRIES, a[k], b[k]);
        a[k] += b[k];
    }

    memcpy(total, a, sizeof a);
    return SP_OK;
}

/* ∂(F, T)/∂(x, ω) with x in units of `length` and F in units of 1/length, so that all entries are in N m: [L²F_x, L
 * F_ω; L T_x, T_ω] column major. */
static void matrix_of(const sp_wrench *wrench, double length, double A[36])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[6 * j + i] = length * length * wrench->force_x[3 * i + j];
            A[6 * (j + 3) + i] = length * wrench->force_w[3 * i + j];
            A[6 * j + i + 3] = length * wrench->torque_x[3 * i + j];
            A[6 * (j + 3) + i + 3] = wrench->torque_w[3 * i + j];
        }
}

static bool all_finite(int count, const double *x)
{
    for (int k = 0; k < count; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* Computes move [6], the (Δx, Δω) for which the wrench vanishes to first order, and `toward` within the degenerate
 * subspace (§4.10).
 *
 * Small singular values alone do not prove that nothing resists. The derivatives of contact are not symmetric. Where
 * the force on a point and the gradient of its distance are nearly perpendicular, at an edge, they have small singular
 * values at poses in equilibrium. Following the manipulandum there would leave the equilibrium in every cycle, and the
 * next cycle would return to it: a limit cycle. Directions are therefore degenerate only if the equilibrium is farther
 * along them than the manipulandum; a body in equilibrium then stays there. */
static int balance(sp_context *context, const sp_coupling_parameters *p, const sp_wrench *total, const double toward[6],
                   double move[6], int *degenerate)
{
    double A[36], b[6], U[36], Vt[36], sigma[6], work[SVD_WORK], y[6] = {0};

    /* A y = b in units in which moving by `length` weighs as much as turning by 1 rad */
    matrix_of(total, p->length, A);
    for (int k = 0; k < 3; k++) {
        b[k] = -p->length * total->force[k];
        b[k + 3] = -total->torque[k];
    }

    /* A = U Σ Vᵀ */
    if (!all_finite(36, A) || !all_finite(6, b) ||
        LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'A', 'A', 6, 6, A, 6, sigma, U, 6, Vt, 6, work, SVD_WORK) != 0)
        return sp_fail(context, SP_NUMERICAL,
                       "springs and contact have no singular values with lengths in units of %g m", p->length);

    double along[6], follow[6], balanced = 0, followed = 0;
    int weak = 0;
    for (int i = 0; i < 6; i++) {
        along[i] = follow[i] = 0;
        for (int k = 0; k < 6; k++) {
            along[i] += U[6 * i + k] * b[k];
            follow[i] += Vt[6 * k + i] * (k < 3 ? toward[k] / p->length : toward[k]);
        }
        along[i] /= sigma[i]; /* not finite if sigma is 0 */

        if (sigma[i] > 0 && sigma[i] >= p->threshold * sigma[0])
            continue;
        weak++;
        balanced = hypot(balanced, along[i]);
        followed = hypot(followed, follow[i]);
    }

    /* The secant of a spring ends exactly at the manipulandum, hence the margin. NaN: they coincide. */
    *degenerate = balanced <= (1 + 1e-6) * followed ? 0 : weak;

    /* The weakest directions follow the manipulandum instead. */
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            y[k] += (i < 6 - *degenerate ? along[i] : follow[i]) * Vt[6 * k + i];

    for (int k = 0; k < 6; k++)
        move[k] = k < 3 ? y[k] * p->length : y[k];
    return SP_OK;
}

/* Shortens v to `most`; returns true if it was longer. */
static bool limit(double most, double v[3])
{
    const double length = length3(v);
    if (!(length > most))
        return false;

    for (int k = 0; k < 3; k++)
        v[k] *= most / length;
    return true;
}

/* Displaces and rotates the body; SP_NUMERICAL, with the body unchanged, if the result is not finite. */
static int displace(sp_context *context, const double displacement[3], const double rotation[3], sp_pose *body)
{
    sp_pose moved;
    double turn[4];

    for (int k = 0; k < 3; k++)
        moved.x[k] = body->x[k] + displacement[k];

    sp_quaternion_from_vector(rotation, turn);
    sp_quaternion_multiply(turn, body->q, moved.q);
    sp_quaternion_normalize(moved.q);

    if (!all_finite(3, moved.x) || !all_finite(4, moved.q))
        return sp_fail(context, SP_NUMERICAL, "a move by %g m and a turn by %g rad end at no finite pose",
                       length3(displacement), length3(rotation));

    *body = moved;
    return SP_OK;
}

/* Of the search for the equilibrium: (displacement / L, rotation) that counts as none; the first and the largest
 * resistance; what remains of it after a cycle in which the manipulandum moved, and when it is dropped. */
static const double NONE = 1e-9, FIRST = 1, MOST = 8, DECAY = 0.98, LEAST = 0.1;

/* |(L F, T)| */
static double size_of_wrench(double length, const double force[3], const double torque[3])
{
    return hypot(length * length3(force), length3(torque));
}

/* |(Δx/L, Δω)| */
static double size_of_step(double length, const double step[6])
{
    return hypot(length3(step) / length, length3(step + 3));
}

static void scale(double factor, double v[6])
{
    for (int k = 0; k < 6; k++)
        v[k] *= factor;
}

/* The step of eq. 4.1 and 4.2. */
static int newton_step(sp_context *context, const sp_coupling_parameters *p, stretch stretched[2], sp_wrench *total,
                       double move[6], int *degenerate)
{
    double toward[6];

    for (int k = 0; k < 6; k++)
        toward[k] = -stretched[k / 3].extent * stretched[k / 3].way[k % 3];

    /* To first order a spring that weakens as it stretches would pull far past the manipulandum. Its secant is exact
     * there. */
    for (bool again = true; again;) {
        SP_PASS(balance(context, p, total, toward, move, degenerate));
        again = false;
        for (int i = 0; i < 2; i++) {
            stretch *s = &stretched[i];
            if (s->secant > (1 + 1e-6) * s->tangent && -sp_dot3(s->way, move + 3 * i) > (1 + 1e-9) * s->extent) {
                add_symmetric(0, s->tangent - s->secant, s->way, i ? total->torque_w : total->force_x);
                s->tangent = s->secant;
                again = true;
            }
        }
    }
    return SP_OK;
}

/* Lets `resistance` times the stiffness of the springs act against the step, in rotation and in translation. */
static void resist(const sp_coupling_parameters *p, double resistance, sp_wrench *total)
{
    static const double none[3] = {0};
    const double square = p->length * p->length,
                 against = resistance * fmax(square * p->stiffness, p->torque_stiffness);
    add_symmetric(-against / square, 0, none, total->force_x);
    add_symmetric(-against, 0, none, total->torque_w);
}

/* Whether the manipulandum is where it was in the last cycle. */
static bool rests(const sp_coupling_parameters *p, const sp_pose *before, const sp_pose *now)
{
    double moved[6], turn[4];
    turn_from(before, now, turn);
    for (int k = 0; k < 3; k++) {
        moved[k] = now->x[k] - before->x[k];
        moved[3 + k] = 2 * turn[k + 1];
    }
    return size_of_step(p->length, moved) <= NONE;
}

/* A step back over the one before raises the resistance, which decays while the manipulandum moves. */
static void adapt(const sp_coupling_parameters *p, bool resting, const double move[6], sp_coupling_search *search)
{
    const double *last = search->move,
                 along = sp_dot3(move, last) / (p->length * p->length) + sp_dot3(move + 3, last + 3),
                 least = fmin(size_of_step(p->length, move), size_of_step(p->length, last));

    if (along < 0 && least > NONE)
        search->resistance = fmin(fmax(2 * search->resistance, FIRST), MOST);
    else if (!resting)
        search->resistance = search->resistance > LEAST ? DECAY * search->resistance : 0;
    memcpy(search->move, move, sizeof search->move);
}

int sp_coupling_static(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                       const sp_wrench *contact, sp_coupling_search *search, sp_pose *body,
                       sp_coupling_step_report *report)
{
    sp_wrench total;
    stretch stretched[2];
    sp_coupling_step_report made = {0};
    double move[6];

    memset(report, 0, sizeof *report);
    springs(p, manipulandum, body, &total, stretched);
    const double pull = size_of_wrench(p->length, total.force, total.torque),
                 push = size_of_wrench(p->length, contact->force, contact->torque);

    SP_PASS(add_contact(context, contact, &total));
    const double rest = size_of_wrench(p->length, total.force, total.torque);
    made.imbalance = rest > 0 ? rest / fmax(pull, push) : 0;

    /* In free space the step is that of the thesis. */
    if (search && push > 0)
        resist(p, search->resistance, &total);

    SP_PASS(newton_step(context, p, stretched, &total, move, &made.degenerate));
    scale(1 - p->static_damping, move);
    made.limited = limit(p->speed * step, move);
    made.limited |= limit(p->angular_speed * step, move + 3);
    memcpy(made.displacement, move, sizeof made.displacement);
    memcpy(made.rotation, move + 3, sizeof made.rotation);

    SP_PASS(displace(context, made.displacement, made.rotation, body));

    if (search) {
        made.resting = rests(p, &search->manipulandum, manipulandum);
        adapt(p, made.resting, move, search);
        search->manipulandum = *manipulandum;
    }
    *report = made;
    return SP_OK;
}

int sp_coupling_dynamic(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                        const sp_wrench *contact, const double gravity[3], sp_coupled_motion *motion, sp_pose *body,
                        sp_coupling_step_report *report)
{
    const double m = motion->mass, *c = motion->centre, *w = motion->angular_velocity;
    sp_wrench total;
    stretch stretched[2];
    sp_coupling_step_report made = {0};
    double K[36], S[36], b[6], now[6], velocity[6];
    double apparent[3], turning[3], spin[3], leverage[3], offset[9] = {0}, about[9];
    lapack_int pivot[6];

    memset(report, 0, sizeof *report);
    springs(p, manipulandum, body, &total, stretched);
    SP_PASS(add_contact(context, contact, &total));

    /* The force at the centre of mass: m (g − ω × (ω × c)). */
    sp_cross3(w, c, turning);
    sp_cross3(w, turning, apparent);
    for (int k = 0; k < 3; k++)
        apparent[k] = m * (gravity[k] - apparent[k]);
    sp_cross3(c, apparent, leverage);
    sp_rotate(motion->inertia, w, turning);
    sp_cross3(w, turning, spin);
    for (int k = 0; k < 3; k++) {
        now[k] = motion->velocity[k];
        now[k + 3] = w[k];
        b[k] = total.force[k] + apparent[k] - p->damping * (now[k] - motion->hand_velocity[k]);
        b[k + 3] =
            total.torque[k] + leverage[k] - spin[k] - p->torque_damping * (w[k] - motion->hand_angular_velocity[k]);
    }

    /* Springs, dampers and contact at the end of the step: (A/h + D − h K) Δv = f − D v + h K v */
    matrix_of(&total, 1, K);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            b[i] += step * K[6 * j + i] * now[j];

    /* A = [m I, −m [c]×; m [c]×, J − m [c]×[c]×] */
    add_cross(c, m, offset);
    memcpy(about, motion->inertia, sizeof about);
    add_symmetric(m * sp_dot3(c, c), -m, c, about);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            S[6 * j + i] = i == j ? m / step + p->damping : 0;
            S[6 * (j + 3) + i] = -offset[3 * i + j] / step;
            S[6 * j + i + 3] = offset[3 * i + j] / step;
            S[6 * (j + 3) + i + 3] = about[3 * i + j] / step + (i == j ? p->torque_damping : 0);
        }

    for (int k = 0; k < 36; k++)
        S[k] -= step * K[k];
    if (!all_finite(36, S) || !all_finite(6, b) || LAPACKE_dgesv_work(LAPACK_COL_MAJOR, 6, 1, S, 6, pivot, b, 6) != 0)
        return sp_fail(context, SP_NUMERICAL,
                       "inertia, dampers, springs and contact over %g s are singular or not finite", step);

    for (int k = 0; k < 6; k++)
        velocity[k] = now[k] + b[k];
    made.limited = limit(p->speed, velocity);
    made.limited |= limit(p->angular_speed, velocity + 3);

    for (int k = 0; k < 3; k++) {
        made.displacement[k] = step * velocity[k];
        made.rotation[k] = step * velocity[k + 3];
    }

    SP_PASS(displace(context, made.displacement, made.rotation, body));
    memcpy(motion->velocity, velocity, sizeof motion->velocity);
    memcpy(motion->angular_velocity, velocity + 3, sizeof motion->angular_velocity);
    *report = made;
    return SP_OK;
}

void sp_coupling_render(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body, double most,
                        double torque_most, double force[3], double torque[3])
{
    double q[4];
    turn_from(manipulandum, body, q);
    for (int k = 0; k < 3; k++) {
        force[k] = p->stiffness * (body->x[k] - manipulandum->x[k]);
        torque[k] = p->torque_stiffness * q[k + 1];
    }
    limit(most, force);
    limit(torque_most, torque);
}
