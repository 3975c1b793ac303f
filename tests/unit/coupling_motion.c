/* Virtual coupling in time: the force that is rendered, dynamic coupling, stability, order of convergence. */
#include "coupling_models.h"

TEST(rendered)
{
    sp_coupling_parameters p = stiff();
    p.saturation = 1; /* without effect */
    p.torque_saturation = 0.1;
    for (int k = 0; k < 100; k++) {
        const sp_pose hand = any_pose();
        double way[6], f[3], t[3];
        const double r = between(1e-4, 0.1), angle = between(0, 3);
        const sp_pose body = away(&hand, r, angle, way);
        sp_coupling_render(&p, &hand, &body, 8.5, k % 2 ? 0.5 : INFINITY, f, t);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(f[i], fmin(600 * r, 8.5) * way[i], 1e-12);
            CHECK_NEAR(t[i], fmin(1.5 * sin(angle / 2), k % 2 ? 0.5 : INFINITY) * way[i + 3], 1e-13);
        }
    }
}

/* A rigid body: its centre of mass from the grasp and its principal moments, along its own axes. */
typedef struct rigid {
    double mass, centre[3], moments[3];
} rigid;

static const rigid TOOL = {0.4, {0.03, -0.02, 0.05}, {4e-4, 7e-4, 9e-4}};
static const rigid BALL = {0.4, {0, 0, 0}, {5e-4, 5e-4, 5e-4}};
static const double GRAVITY[3] = {0.5, -9.8, 1};

/* Centre and inertia in the present orientation of the body. */
static void turn_with(const rigid *b, const sp_pose *pose, sp_coupled_motion *motion)
{
    double R[9];
    sp_quaternion_matrix(pose->q, R);
    motion->mass = b->mass;
    sp_rotate(R, b->centre, motion->centre);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            motion->inertia[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                motion->inertia[3 * i + j] += R[3 * i + k] * b->moments[k] * R[3 * j + k];
        }
}

static int advance(const rigid *b, const sp_coupling_parameters *p, double h, const sp_pose *hand,
                   const sp_wrench *contact, const double g[3], sp_coupled_motion *motion, sp_pose *body,
                   sp_coupling_step_report *report)
{
    turn_with(b, body, motion);
    return sp_coupling_dynamic(&context, p, h, hand, contact, g, motion, body, report);
}

/* Without dampers x_n = x_0 (1 + ω²h²)^(−n/2) cos(n atan(ωh)) exactly: ω² = k/m, and k_T/(2J) for small turns. */
TEST(oscillation)
{
    for (int about = 0; about < 2; about++) {
        sp_coupling_parameters p = stiff();
        const double omega = about ? sqrt(p.torque_stiffness / 2 / BALL.moments[0]) : sqrt(p.stiffness / BALL.mass);
        for (int s = 0; s < 3; s++) {
            const double h = 0.02 / omega / (1 << s), amplitude = 1e-4;
            const double growth = 1 / sqrt(1 + h * h * omega * omega), angle = atan(omega * h);
            const double start[6] = {0, about ? 0 : amplitude, 0, 0, 0, about ? amplitude : 0};
            const sp_pose hand = any_pose();
            sp_pose body = moved(&hand, 1, start);
            sp_coupled_motion motion = {0};
            sp_coupling_step_report report;
            double before = amplitude, crossed[2] = {0};
            int crossings = 0;
            for (int n = 1; n <= 1000; n++) {
                double q[4], v[3];
                CHECK_OK(advance(&BALL, &p, h, &hand, &NO_CONTACT, NOWHERE, &motion, &body, &report));
                const double inverse[4] = {hand.q[0], -hand.q[1], -hand.q[2], -hand.q[3]};
                sp_quaternion_multiply(body.q, inverse, q);
                sp_quaternion_to_vector(q, v);
                const double now = about ? v[2] : body.x[1] - hand.x[1];
                /* of the turn, θ² of it is cubic; of world coordinates 1000 roundings */
                const double cubic = about ? amplitude * amplitude * amplitude * n * angle : 0;
                CHECK_NEAR(now, amplitude * pow(growth, n) * cos(n * angle), 2e-13 + cubic);
                if (before * now < 0) {
                    crossed[crossings > 0] = h * (n - now / (now - before));
                    crossings++;
                }
                before = now;
            }
            const double measured = PI * (crossings - 1) / (crossed[1] - crossed[0]), part = fabs(measured / omega - 1);
            /* atan(ωh)/h, and crossings between steps */
            CHECK(crossings > 1 && part < 0.5 * omega * omega * h * h + 1e-6, "%g and %g rad/s at %g", measured, omega,
                  omega * h);
        }
    }
}

/* In steady motion no spring is stretched at the end of a step: the body is h v behind the hand of the next step, with
 * dampers at rest also d v/k. */
TEST(steady_lag)
{
    const double v[3] = {0.3, -0.1, 0.2}, h = 1e-3;
    for (int with_hand = 0; with_hand < 2; with_hand++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        p.damping = 20, p.torque_damping = 0.06;
        sp_pose hand = any_pose(), body = hand;
        sp_coupled_motion motion = {0};
        for (int i = 0; i < 3; i++)
            motion.hand_velocity[i] = with_hand ? v[i] : 0;
        for (int n = 0; n < 5000; n++) {
            for (int i = 0; i < 3; i++)
                hand.x[i] += h * v[i];
            if (n < 4999)
                CHECK_OK(advance(&TOOL, &p, h, &hand, &NO_CONTACT, NOWHERE, &motion, &body, &report));
        }
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(hand.x[i] - body.x[i], h * v[i] + (with_hand ? 0 : p.damping / p.stiffness * v[i]), 1e-12);
        CHECK_NEAR(angle_between(&hand, &body), 0, 1e-12);
    }
    /* rotating about its own centre: h ω behind, and with dampers at rest by d_T ω = k_T sin(θ/2) */
    const double w[6] = {0, 0, 0, 0.2, 0.3, -0.1}, size = length3(w + 3);
    for (int with_hand = 0; with_hand < 2; with_hand++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        p.torque_damping = 0.02;
        sp_pose hand = any_pose(), body = hand;
        sp_coupled_motion motion = {0};
        for (int i = 0; i < 3; i++)
            motion.hand_angular_velocity[i] = with_hand ? w[i + 3] : 0;
        for (int n = 0; n < 5000; n++) {
            hand = moved(&hand, h, w);
            if (n < 4999)
                CHECK_OK(advance(&BALL, &p, h, &hand, &NO_CONTACT, NOWHERE, &motion, &body, &report));
        }
        /* the spring is linearized over h ω: (h ω)²/8 of it */
        const double dragged = with_hand ? 0 : 2 * asin(p.torque_damping * size / p.torque_stiffness);
        CHECK_NEAR(angle_between(&hand, &body), h * size + dragged, 1e-8);
    }
}

/* Hanging at rest: k r = m g, and the torque of the spring balances the weight at its lever arm. */
TEST(hanging)
{
    sp_coupling_parameters p = stiff();
    sp_coupling_step_report report;
    p.damping = 20, p.torque_damping = 0.05;
    const sp_pose hand = any_pose();
    sp_pose body = hand;
    sp_coupled_motion motion = {0};
    for (int n = 0; n < 20000; n++)
        CHECK_OK(advance(&TOOL, &p, 1e-3, &hand, &NO_CONTACT, GRAVITY, &motion, &body, &report));
    double R[9], arm[3], weight[3], torque[3];
    sp_wrench w;
    sp_coupling_wrench(&p, &hand, &body, &w);
    sp_quaternion_matrix(body.q, R);
    sp_rotate(R, TOOL.centre, arm);
    for (int i = 0; i < 3; i++)
        weight[i] = TOOL.mass * GRAVITY[i];
    sp_cross3(arm, weight, torque);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(body.x[i] - hand.x[i], weight[i] / p.stiffness, 1e-13);
        CHECK_NEAR(w.torque[i], -torque[i], 1e-13);
    }
    CHECK(angle_between(&hand, &body) > 0.1, "hangs by %g rad only", angle_between(&hand, &body));
}

/* Steps of 100 times the limit 2/ω of explicit ones, with the fastest ω of the springs and of a stiff contact. */
TEST(stable_far_beyond_explicit_steps)
{
    for (int k = 0; k < 100; k++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        p.stiffness = 1e5, p.torque_stiffness = 300;
        sp_coupled_motion motion = {0};
        const sp_pose hand = any_pose();
        double way[6], worst = 0;
        contacts c = any_contacts(k % 4, 1e6);
        /* in contact only small rotations are linear: those of stiff points on planes add stiffness of either sign */
        sp_pose body = away(&hand, 1e-3, c.count ? 0.02 : 0.5, way);
        turn_with(&TOOL, &body, &motion);
        lay(&c, &hand, 0); /* in equilibrium at the pose of the hand */
        /* a rod's end at the grasp moves with 1/m + |c|²/J at most */
        const double fastest =
            sqrt((p.stiffness + c.count * 1e6) * (1 / TOOL.mass + sp_dot3(TOOL.centre, TOOL.centre) / TOOL.moments[0]) +
                 0.5 * p.torque_stiffness / TOOL.moments[0]);
        const double h = 100 * 2 / fastest, first = 1e-3 + p.length * 0.5;
        any_vector(1e-3 / h, motion.velocity);
        for (int n = 0; n < 400; n++) {
            sp_wrench w;
            press(&c, &body, &w);
            CHECK_OK(advance(&TOOL, &p, h, &hand, &w, NOWHERE, &motion, &body, &report));
            worst = fmax(worst, apart(&body, &hand) + p.length * angle_between(&body, &hand));
        }
        CHECK(worst < 3 * first, "case %d: %g m after %g", k, worst, first);
        CHECK_NEAR(apart(&body, &hand), 0, 1e-9);
        CHECK_NEAR(angle_between(&body, &hand), 0, 1e-7);
    }
}

/* The same body by its centre of mass and Euler's equations in its own axes: y = centre, quaternion, velocity of the
 * centre, Ω. */
static void rates(const rigid *b, const sp_coupling_parameters *p, const sp_pose *hand, const double y[13],
                  double dy[13])
{
    double R[9], arm[3], w[3], along[3], moment[3], own[3], q[4], turn[3], F[3], T[3];
    const double inverse[4] = {hand->q[0], -hand->q[1], -hand->q[2], -hand->q[3]}, spin[4] = {0, y[10], y[11], y[12]};
    double unit[4] = {y[3], y[4], y[5], y[6]};
    sp_quaternion_normalize(unit);
    sp_quaternion_matrix(unit, R);
    sp_rotate(R, b->centre, arm);
    sp_rotate(R, y + 10, w);
    sp_cross3(w, arm, along);
    sp_quaternion_multiply(unit, inverse, q);
    sp_quaternion_to_vector(q, turn);
    const double angle = length3(turn);
    for (int i = 0; i < 3; i++) {
        F[i] = p->stiffness * (hand->x[i] - (y[i] - arm[i])) - p->damping * (y[7 + i] - along[i]);
        T[i] = -p->torque_stiffness * sin(0.5 * angle) * turn[i] / angle - p->torque_damping * w[i];
    }
    sp_cross3(arm, F, moment);
    for (int i = 0; i < 3; i++)
        moment[i] = T[i] - moment[i];
    sp_rotate_back(R, moment, own);
    sp_quaternion_multiply(y + 3, spin, dy + 3);
    for (int i = 0; i < 4; i++)
        dy[3 + i] *= 0.5;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        dy[i] = y[7 + i];
        dy[7 + i] = F[i] / b->mass + GRAVITY[i];
        dy[10 + i] = (own[i] - (b->moments[l] - b->moments[j]) * y[10 + j] * y[10 + l]) / b->moments[i];
    }
}

TEST(order_one)
{
    sp_coupling_parameters p = stiff();
    p.torque_stiffness = 0.3;
    p.damping = 1, p.torque_damping = 1e-3;
    const double start[6] = {0.02, -0.03, 0.01, 0.4, 0.8, -0.5}, v0[3] = {0.2, 0.1, -0.3}, w0[3] = {6, -4, 8},
                 duration = 0.1;
    const sp_pose hand = any_pose(), first = moved(&hand, 1, start);
    double R[9], arm[3], along[3], y[13];
    sp_quaternion_matrix(first.q, R);
    sp_rotate(R, TOOL.centre, arm);
    sp_cross3(w0, arm, along);
    for (int i = 0; i < 3; i++) {
        y[i] = first.x[i] + arm[i];
        y[7 + i] = v0[i] + along[i];
    }
    memcpy(y + 3, first.q, sizeof first.q);
    sp_rotate_back(R, w0, y + 10);
    for (int n = 0; n < 5000; n++) { /* Runge–Kutta of order 4 */
        const double h = duration / 5000, at[4] = {0, 0.5, 0.5, 1};
        double k[4][13] = {{0}}, z[13];
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 13; i++)
                z[i] = y[i] + (s ? h * at[s] * k[s - 1][i] : 0);
            rates(&TOOL, &p, &hand, z, k[s]);
        }
        for (int i = 0; i < 13; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    sp_pose reference = {{y[0], y[1], y[2]}, {y[3], y[4], y[5], y[6]}};
    sp_quaternion_matrix(reference.q, R);
    sp_rotate(R, TOOL.centre, arm);
    for (int i = 0; i < 3; i++)
        reference.x[i] -= arm[i];
    double before[3] = {0};
    for (int s = 0; s < 4; s++) {
        const int steps = 400 << s;
        const double h = duration / steps;
        sp_pose body = first;
        sp_coupled_motion motion = {0};
        sp_coupling_step_report report;
        memcpy(motion.velocity, v0, sizeof v0);
        memcpy(motion.angular_velocity, w0, sizeof w0);
        for (int n = 0; n < steps; n++)
            CHECK_OK(advance(&TOOL, &p, h, &hand, &NO_CONTACT, GRAVITY, &motion, &body, &report));
        double w[3], spun = 0;
        sp_rotate(R, y + 10, w);
        for (int i = 0; i < 3; i++)
            spun += (w[i] - motion.angular_velocity[i]) * (w[i] - motion.angular_velocity[i]);
        const double error[3] = {apart(&body, &reference), angle_between(&body, &reference), sqrt(spun)};
        for (int i = 0; i < 3; i++) {
            CHECK(s < 2 || (before[i] / error[i] > 1.85 && before[i] / error[i] < 2.15), "error %d: %g after %g", i,
                  error[i], before[i]);
            before[i] = error[i];
        }
    }
    NOTE("after 0.1 s at 3200 steps %.1e m, %.1e rad, %.1e rad/s from Runge-Kutta", before[0], before[1], before[2]);
}

/* The change of momentum is the impulse of springs and dampers at the end of the step and of gravity; in flight the
 * centre of mass falls freely and the momentum about it stays, to first order in the step. */
TEST(momenta)
{
    sp_coupling_parameters p = stiff();
    sp_coupling_step_report report;
    p.damping = 3;
    sp_coupled_motion motion = {.hand_velocity = {0.1, 0.2, -0.3}};
    sp_pose hand = any_pose(), body = hand;
    any_vector(1, motion.velocity);
    any_vector(3, motion.angular_velocity);
    for (int n = 0; n < 200; n++) {
        const double h = n % 2 ? 1e-3 : 0.03;
        double was[3];
        memcpy(was, motion.velocity, sizeof was);
        CHECK_OK(advance(&BALL, &p, h, &hand, &NO_CONTACT, GRAVITY, &motion, &body, &report));
        for (int i = 0; i < 3; i++) {
            const double now = motion.velocity[i];
            const double spring = p.stiffness * (hand.x[i] - body.x[i]),
                         damper = p.damping * (motion.hand_velocity[i] - now);
            CHECK_NEAR(BALL.mass * (now - was[i]), h * (spring + damper + BALL.mass * GRAVITY[i]),
                       1e-14 * (1 + h * p.stiffness));
        }
    }
    p = stiff();
    p.stiffness = p.torque_stiffness = 1e-12;
    double before[2] = {0};
    for (int s = 0; s < 4; s++) {
        const int steps = 200 << s;
        const double h = 0.2 / steps, w0[3] = {5, -7, 4};
        double start[3], spun[3], off[2] = {0}, at[3], arm[3], L[3], along[3];
        motion = (sp_coupled_motion){.velocity = {0.3, 0.1, -0.2}};
        memcpy(motion.angular_velocity, w0, sizeof w0);
        body = (sp_pose){{0.1, 0.2, 0.3}, {0.5, 0.5, -0.5, 0.5}};
        turn_with(&TOOL, &body, &motion);
        sp_rotate(motion.inertia, w0, spun);
        memcpy(arm, motion.centre, sizeof arm);
        sp_cross3(w0, arm, along);
        for (int i = 0; i < 3; i++)
            start[i] = body.x[i] + arm[i] + 0.2 * (motion.velocity[i] + along[i]) + 0.02 * GRAVITY[i];
        for (int n = 0; n < steps; n++)
            CHECK_OK(advance(&TOOL, &p, h, &hand, &NO_CONTACT, GRAVITY, &motion, &body, &report));
        turn_with(&TOOL, &body, &motion);
        sp_rotate(motion.inertia, motion.angular_velocity, L);
        for (int i = 0; i < 3; i++) {
            at[i] = body.x[i] + motion.centre[i];
            off[0] += (at[i] - start[i]) * (at[i] - start[i]);
            off[1] += (L[i] - spun[i]) * (L[i] - spun[i]) / sp_dot3(spun, spun);
        }
        for (int i = 0; i < 2; i++) {
            off[i] = sqrt(off[i]);
            CHECK(s < 2 || (before[i] / off[i] > 1.85 && before[i] / off[i] < 2.15), "kind %d: %g after %g", i, off[i],
                  before[i]);
            before[i] = off[i];
        }
    }
    NOTE("in flight for 0.2 s at 1600 steps: centre %.1e m, momentum %.1e of itself", before[0], before[1]);
}

/* Speeds within the limits, and finite results for any input. */
TEST(dynamic_limits)
{
    int64_t limited = 0;
    sp_pose body = sp_pose_identity();
    sp_coupled_motion motion = {0};
    for (int k = 0; k < 20000; k++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        p.stiffness = pow(10, between(-3, 7)), p.torque_stiffness = pow(10, between(-3, 5));
        p.saturation = k % 2 ? pow(10, between(-3, 4)) : INFINITY;
        p.torque_saturation = k % 3 ? pow(10, between(-3, 4)) : INFINITY;
        p.damping = k % 5 ? pow(10, between(-3, 4)) : 0;
        p.speed = pow(10, between(-2, 2)), p.angular_speed = pow(10, between(-2, 2));
        sp_pose hand = any_pose();
        any_vector(pow(10, between(-6, 6)), hand.x);
        const contacts c = any_contacts(k % 7, pow(10, between(0, 7)));
        sp_wrench w;
        press(&c, &body, &w);
        any_vector(1, motion.hand_velocity);
        CHECK_OK(advance(&TOOL, &p, 1e-3, &hand, &w, GRAVITY, &motion, &body, &report));
        const double v = length3(motion.velocity), spin = length3(motion.angular_velocity);
        CHECK(v <= p.speed * (1 + 1e-14) && spin <= p.angular_speed * (1 + 1e-14),
              "case %d: %g of %g m/s, %g of %g rad/s", k, v, p.speed, spin, p.angular_speed);
        limited += report.limited;
    }
    CHECK(limited > 1000, "%lld", (long long)limited);
}
