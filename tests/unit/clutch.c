/* The clutch of a haptic device: the pose of the manipulandum against products of matrices, its continuity and
 * velocity, and a body that comes to rest while the clutch is held. */
#include "contact/clutch.h"
#include "base/random.h"
#include "contact/coupling.h"
#include "test.h"

#include <float.h>

static uint64_t drawn;

static double between(double least, double most)
{
    return least + (most - least) * sp_random_uniform(11, 0, drawn++);
}

static void any_vector(double size, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = size * sp_random_normal(11, 1, drawn++);
}

/* ---- a smooth motion with its velocities ---- */

/* x = x0 + Σ_i u_i sin(f_i t), q = exp(sin(f_0 t) u_0) exp(sin(f_1 t) u_1) q0, with vectors u of x and of q. */
typedef struct motion {
    sp_pose start;
    double place[2][3], turn[2][3], rate[2];
} motion;

static motion any_motion(void)
{
    motion m;
    double way[3];
    any_vector(1, m.start.x);
    any_vector(2, way);
    sp_quaternion_from_vector(way, m.start.q);
    for (int i = 0; i < 2; i++) {
        any_vector(0.5, m.place[i]);
        any_vector(1, m.turn[i]);
        m.rate[i] = between(0.5, 3);
    }
    return m;
}

static sp_pose motion_at(const void *data, double time, double velocity[6])
{
    const motion *m = data;
    sp_pose pose = m->start;
    double turn[2][4], speed[2], R[9], second[3];
    for (int i = 0; i < 2; i++) {
        const double s = sin(m->rate[i] * time), way[3] = {s * m->turn[i][0], s * m->turn[i][1], s * m->turn[i][2]};
        speed[i] = m->rate[i] * cos(m->rate[i] * time);
        sp_quaternion_from_vector(way, turn[i]);
        for (int k = 0; k < 3; k++)
            pose.x[k] += s * m->place[i][k];
    }
    sp_quaternion_multiply(turn[1], pose.q, pose.q);
    sp_quaternion_multiply(turn[0], pose.q, pose.q);
    sp_quaternion_normalize(pose.q);
    if (velocity) {
        /* ω = ω_0 + R_0 ω_1 */
        sp_quaternion_matrix(turn[0], R);
        sp_rotate(R, m->turn[1], second);
        for (int k = 0; k < 3; k++) {
            velocity[k] = speed[0] * m->place[0][k] + speed[1] * m->place[1][k];
            velocity[3 + k] = speed[0] * m->turn[0][k] + speed[1] * second[k];
        }
    }
    return pose;
}

/* ---- a clutch that is held at random times ---- */

enum { SPANS = 6, EVENTS = 2 * SPANS };

typedef struct device {
    motion motion;
    double time[EVENTS];
    sp_clutch since[EVENTS];
    sp_clutch_times times;
} device;

static void any_device(device *d, int64_t events)
{
    double t = 0;
    d->motion = any_motion();
    for (int i = 0; i < EVENTS; i++)
        d->time[i] = t += between(0.1, 0.7);
    d->times = (sp_clutch_times){events, d->time, d->since};
    sp_clutch_times_begin(&d->times, motion_at, &d->motion);
}

static sp_pose pose_at(const device *d, double time, double velocity[6])
{
    const sp_pose at = motion_at(&d->motion, time, velocity);
    const sp_clutch clutch = sp_clutch_at(&d->times, time);
    return sp_clutch_pose(&clutch, &at, velocity);
}

static bool is_held(const device *d, double time)
{
    bool held = false;
    for (int64_t i = 0; i < d->times.count && d->time[i] <= time; i++)
        held = !held;
    return held;
}

/* The largest difference of positions, and of rotation matrices. */
static double apart(const sp_pose *a, const sp_pose *b)
{
    double most = 0, A[9], B[9];
    sp_quaternion_matrix(a->q, A);
    sp_quaternion_matrix(b->q, B);
    for (int k = 0; k < 3; k++)
        most = fmax(most, fabs(a->x[k] - b->x[k]));
    for (int k = 0; k < 9; k++)
        most = fmax(most, fabs(A[k] - B[k]));
    return most;
}

/* C = A B or, transposed, Aᵀ B; C is neither. */
static void product(const double A[9], bool transposed, const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                C[3 * i + j] += A[transposed ? 3 * k + i : 3 * i + k] * B[3 * k + j];
        }
}

/* Equation (2) of clutch.h by matrices: the motions of the device while the clutch was held are taken out. */
static void closed_form(const device *d, double time, double x[3], double R[9])
{
    double a[3] = {0}, b[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, from[9], to[9], taken[9], before[9];
    int64_t i = 0;
    for (; i + 1 < d->times.count && d->time[i + 1] <= time; i += 2) {
        const sp_pose p = motion_at(&d->motion, d->time[i], NULL), r = motion_at(&d->motion, d->time[i + 1], NULL);
        sp_quaternion_matrix(p.q, from);
        sp_quaternion_matrix(r.q, to);
        product(to, true, from, taken);
        memcpy(before, b, sizeof b);
        product(taken, false, before, b);
        for (int k = 0; k < 3; k++)
            a[k] += p.x[k] - r.x[k];
    }
    const sp_pose last = motion_at(&d->motion, i < d->times.count && d->time[i] <= time ? d->time[i] : time, NULL);
    sp_quaternion_matrix(last.q, from);
    product(from, false, b, R);
    for (int k = 0; k < 3; k++)
        x[k] = last.x[k] + a[k];
}

/* Rotations are of length 1 and positions of some metres: each of the products, sums and normalizations of a span
 * rounds by a few ε, of which a matrix has ten, and there are at most six spans: 64 ε for each is far above and 1e-3 of
 * the motion that it finds. */
TEST(poses_are_the_closed_form)
{
    double worst = 0;
    for (int try = 0; try < 50; try++) {
        device d;
        any_device(&d, try % (EVENTS + 1)); /* also none, and one that is never released */
        for (int i = 0; i < 200; i++) {
            const double t = i % 10 ? between(-0.5, d.time[EVENTS - 1] + 1) : d.time[i / 10 % EVENTS];
            const sp_pose pose = pose_at(&d, t, NULL);
            double x[3], R[9], Q[9];
            closed_form(&d, t, x, R);
            sp_quaternion_matrix(pose.q, Q);
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(pose.x[k] - x[k]));
            for (int k = 0; k < 9; k++)
                worst = fmax(worst, fabs(Q[k] - R[k]));
        }
    }
    CHECK(worst < 64 * SPANS * 2.3e-16, "%g", worst);
    NOTE("%.2g apart", worst);
}

/* At a time at which the clutch changes, the way from the pose falls with the time before and behind it: a slope of 1
 * where the manipulandum moves, no way at all where it is held. A jump would have the slope 0. */
/* A clutch that was never held changes no bit: a scene with one, and a run in which it is held later, begin alike. */
TEST(without_an_offset_the_pose_is_the_device)
{
    int64_t changed = 0;
    for (int i = 0; i < 200; i++) {
        const motion m = any_motion();
        const sp_clutch clutch = sp_clutch_start();
        const sp_pose there = motion_at(&m, 0.1 * i, NULL), pose = sp_clutch_pose(&clutch, &there, NULL);
        changed += memcmp(&pose, &there, sizeof pose) != 0;
    }
    CHECK(changed == 0, "%lld of 200 poses", (long long)changed);
}

TEST(nothing_jumps)
{
    double least = INFINITY, most = -INFINITY;
    for (int try = 0; try < 50; try++) {
        device d;
        any_device(&d, EVENTS);
        for (int i = 0; i < EVENTS; i++) {
            const bool release = i % 2;
            const double side = release ? 1 : -1, h = 1e-5;
            const sp_pose at = pose_at(&d, d.time[i], NULL), still = pose_at(&d, d.time[i] - side * 0.05, NULL),
                          far = pose_at(&d, d.time[i] + side * 2 * h, NULL),
                          near = pose_at(&d, d.time[i] + side * h, NULL);
            const double slope = log2(apart(&far, &at) / apart(&near, &at));
            CHECK(apart(&still, &at) < 1e-15 * 8, "event %d: %g while it is held", i, apart(&still, &at));
            least = fmin(least, slope);
            most = fmax(most, slope);
        }
    }
    /* The way is v h + ½ w h²: where v is not far smaller than w h = 1e-5 m/s, 2⁻¹⁰ of it is curved. */
    CHECK(least > 0.95 && most < 1.05, "slopes from %g to %g", least, most);
    NOTE("slopes from %.4f to %.4f", least, most);
}

/* Velocities are those of the device, and of the manipulandum by central differences, whose errors fall with the square
 * of the step; held, they are 0. */
TEST(velocities_are_of_the_pose)
{
    double error[2] = {0, 0};
    for (int try = 0; try < 50; try++) {
        device d;
        any_device(&d, EVENTS);
        for (int i = 0; i + 1 < EVENTS; i++) {
            const double t = 0.5 * (d.time[i] + d.time[i + 1]);
            double v[6], of_device[6];
            const sp_pose pose = pose_at(&d, t, v);
            motion_at(&d.motion, t, of_device);
            for (int k = 0; k < 6; k++)
                CHECK(v[k] == (is_held(&d, t) ? 0 : of_device[k]), "velocity %d: %g", k, v[k]);

            /* at a change the velocity is that before it, also where rounding has moved the time */
            for (int ulp = -1; ulp < 2; ulp++) {
                double now[6];
                const double change = d.time[i] * (1 + ulp * DBL_EPSILON);
                pose_at(&d, change, now);
                motion_at(&d.motion, change, of_device);
                for (int k = 0; k < 6; k++)
                    CHECK(now[k] == (i % 2 ? 0 : of_device[k]), "event %d, velocity %d: %g", i, k, now[k]);
            }

            /* q' = ½ ω q */
            const double omega[4] = {0, v[3], v[4], v[5]};
            double rate[4];
            sp_quaternion_multiply(omega, pose.q, rate);
            for (int level = 0; level < 2; level++) {
                const double h = 0.02 / (1 << level);
                const sp_pose before = pose_at(&d, t - h, NULL), after = pose_at(&d, t + h, NULL);
                double now = 0;
                for (int k = 0; k < 3; k++)
                    now = fmax(now, fabs((after.x[k] - before.x[k]) / (2 * h) - v[k]));
                for (int k = 0; k < 4; k++)
                    now = fmax(now, fabs((after.q[k] - before.q[k]) / (2 * h) - 0.5 * rate[k]));
                error[level] = fmax(error[level], now);
            }
        }
    }
    CHECK(fabs(log2(error[0] / error[1]) - 2) < 0.1, "%g, %g", error[0], error[1]);
}

/* Someone who presses the button at the same times gets the same bytes. A button that is pressed twice changes nothing.
 */
TEST(buttons_are_times)
{
    for (int try = 0; try < 20; try++) {
        device d;
        any_device(&d, EVENTS);
        sp_clutch clutch = sp_clutch_start();
        for (int i = 0; i < EVENTS; i++) {
            const double t = d.time[i] + 0.05;
            const sp_pose at = motion_at(&d.motion, d.time[i], NULL), then = motion_at(&d.motion, t, NULL);
            sp_clutch_set(&clutch, i % 2 == 0, &at);
            sp_clutch_set(&clutch, i % 2 == 0, &then);
            const sp_pose a = sp_clutch_pose(&clutch, &then, NULL), b = pose_at(&d, t, NULL);
            CHECK(!memcmp(&a, &b, sizeof a), "event %d: %g apart", i, apart(&a, &b));
        }
    }
}

/* ---- the body ---- */

static sp_coupling_parameters coupling(void)
{
    return (sp_coupling_parameters){.stiffness = 400,
                                    .torque_stiffness = 3,
                                    .saturation = INFINITY,
                                    .torque_saturation = INFINITY,
                                    .static_damping = 0.5,
                                    .speed = INFINITY,
                                    .angular_speed = INFINITY,
                                    .threshold = 0.001,
                                    .length = 0.1};
}

/* Static coupling without contact leaves out half of each displacement: with the clutch held the distance halves in
 * each cycle, and the body comes to rest at the manipulandum while the device goes on. */
TEST(a_coupled_body_comes_to_rest)
{
    const double step = 0.001;
    const sp_coupling_parameters p = coupling();
    const sp_wrench none = {.force = {0}};
    for (int try = 0; try < 20; try++) {
        device d;
        any_device(&d, 1);
        sp_pose body = motion_at(&d.motion, d.time[0] - 0.03, NULL);
        double last = 0;
        for (int i = 1; i <= 60; i++) {
            sp_coupling_step_report report;
            double v[6], way[3];
            const sp_pose hand = pose_at(&d, d.time[0] + i * step, v);
            CHECK_OK(sp_coupling_static(&context, &p, step, &hand, &none, NULL, &body, &report));
            for (int k = 0; k < 3; k++)
                way[k] = body.x[k] - hand.x[k];
            const double now = sp_norm3(way);
            /* each coordinate, of up to some metres, is rounded to its ε */
            if (i > 1)
                CHECK_NEAR(now, 0.5 * last, 4e-15);
            last = now;
            if (i == 60) {
                CHECK(apart(&body, &hand) < 2e-14, "%g apart", apart(&body, &hand));
                CHECK(sp_norm3(report.displacement) < 2e-14 && sp_norm3(report.rotation) < 2e-14, "it moves by %g",
                      sp_norm3(report.displacement));
            }
        }
        const sp_pose gone = motion_at(&d.motion, d.time[0] + 0.06, NULL);
        CHECK(apart(&gone, &body) > 1e-4, "the device has not moved");
    }
}

/* Dynamic coupling: m x'' + c x' + k x = 0 about the manipulandum that is held, by the implicit Euler method, whose
 * velocities decay by 1/(1 − h λ) for the slower root λ of m λ² + c λ + k = 0. */
TEST(a_body_with_mass_comes_to_rest)
{
    const double step = 0.001, mass = 0.5;
    sp_coupling_parameters p = coupling();
    const sp_wrench none = {.force = {0}};
    p.damping = 60;
    p.torque_damping = 0.1;
    const double lambda = (-p.damping + sqrt(p.damping * p.damping - 4 * mass * p.stiffness)) / (2 * mass),
                 decay = 1 / (1 - step * lambda);
    for (int try = 0; try < 10; try++) {
        device d;
        any_device(&d, 1);
        sp_coupled_motion m = {.mass = mass, .inertia = {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3}};
        sp_pose body = motion_at(&d.motion, d.time[0], NULL), hand = body;
        const double gravity[3] = {0, 0, 0};
        double v[6], last = 0, first = 0;
        motion_at(&d.motion, d.time[0], v);
        memcpy(m.velocity, v, sizeof m.velocity);
        memcpy(m.angular_velocity, v + 3, sizeof m.angular_velocity);
        first = sp_norm3(m.velocity);
        for (int i = 1; i <= 3000; i++) {
            sp_coupling_step_report report;
            hand = pose_at(&d, d.time[0] + i * step, v);
            memcpy(m.hand_velocity, v, sizeof m.hand_velocity);
            memcpy(m.hand_angular_velocity, v + 3, sizeof m.hand_angular_velocity);
            CHECK_OK(sp_coupling_dynamic(&context, &p, step, &hand, &none, gravity, &m, &body, &report));
            const double now = sp_norm3(m.velocity);
            /* the faster root has decayed by e⁻⁵⁰ then */
            if (i == 1000)
                CHECK_NEAR(now / last, decay, 1e-9);
            last = now;
        }
        CHECK(last < 1e-8 * first && sp_norm3(m.angular_velocity) < 1e-8, "%g m/s of %g, %g rad/s", last, first,
              sp_norm3(m.angular_velocity));
        CHECK(apart(&body, &hand) < 1e-8, "%g apart", apart(&body, &hand));
    }
}
