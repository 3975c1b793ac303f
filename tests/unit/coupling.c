/* Static virtual coupling: derivatives, saturation, equilibria. */
#include "coupling_models.h"

#include <lapacke.h>

enum { NUMBERS = sizeof(sp_wrench) / sizeof(double) };

static int go(const sp_coupling_parameters *p, const sp_pose *hand, const sp_wrench *contact, sp_pose *body,
              sp_coupling_step_report *report)
{
    return sp_coupling_static(&context, p, 1e-3, hand, contact, NULL, body, report);
}

typedef void (*wrench_at)(const void *data, const sp_pose *body, sp_wrench *w);

static void pressed(const void *data, const sp_pose *body, sp_wrench *w)
{
    press(data, body, w);
}

typedef struct coupled {
    sp_coupling_parameters p;
    sp_pose hand;
} coupled;

static void tied(const void *data, const sp_pose *body, sp_wrench *w)
{
    const coupled *c = data;
    sp_coupling_wrench(&c->p, &c->hand, body, w);
}

/* Largest difference, in parts of the largest derivative of its kind, between derivatives and central differences with
 * displacements of h·unit and turns of h. */
static double difference(wrench_at f, const void *data, const sp_pose *body, double h, double unit)
{
    sp_wrench w, plus, minus;
    double worst[4] = {0}, largest[4] = {0}, all = 0;
    f(data, body, &w);
    for (int j = 0; j < 6; j++) {
        double move[6] = {0};
        move[j] = j < 3 ? h * unit : h;
        const sp_pose up = moved(body, 1, move), down = moved(body, -1, move);
        f(data, &up, &plus);
        f(data, &down, &minus);
        for (int i = 0; i < 3; i++) {
            const int b = j / 3, entry = 3 * i + j % 3;
            const double force = (plus.force[i] - minus.force[i]) / (2 * move[j]);
            const double torque = (plus.torque[i] - minus.torque[i]) / (2 * move[j]);
            const double of_force = b ? w.force_w[entry] : w.force_x[entry],
                         of_torque = b ? w.torque_w[entry] : w.torque_x[entry];
            worst[b] = fmax(worst[b], fabs(force - of_force));
            worst[2 + b] = fmax(worst[2 + b], fabs(torque - of_torque));
            largest[b] = fmax(largest[b], fabs(of_force));
            largest[2 + b] = fmax(largest[2 + b], fabs(of_torque));
        }
    }
    for (int b = 0; b < 4; b++)
        all = fmax(all, largest[b] > 0 ? worst[b] / largest[b] : worst[b]);
    return all;
}

TEST(derivatives_by_differences)
{
    static const double stretches[] = {0, 1e-6, 0.5, 0.9, 1.1, 2, 5}, degrees[] = {0, 1e-4, 5, 50, 90, 140, 170};
    static const double torque_limits[] = {INFINITY, 2.4, 0.5};
    double worst = 0;
    for (int force = 0; force < 2; force++)
        for (int torque = 0; torque < 3; torque++)
            for (int i = 0; i < 7; i++)
                for (int j = 0; j < 7; j++) {
                    coupled c = {stiff(), any_pose()};
                    double way[6], error[3];
                    const double joint = 2 / c.p.stiffness; /* of 4 N */
                    c.p.saturation = force ? 4 : INFINITY;
                    c.p.torque_saturation = torque_limits[torque];
                    const sp_pose body = away(&c.hand, stretches[i] * joint, degrees[j] * PI / 180, way);
                    /* away from both kinks of the law: angles at 1.2 and 0.25 N m are 106° and 19° */
                    for (int s = 0; s < 3; s++)
                        error[s] = difference(tied, &c, &body, 0.04 / (1 << s), joint);
                    /* h²/6 f‴ with h = 0.01: of e^(−stretch) and of the turn of e by h r_lin less than h², of sines in
                     * e^(−s/0.25 N m), where s grows by 0.75 N m a radian, 9/6 h². Rounding: of world coordinates of
                     * about 1 m by h r_lin */
                    const double rounding = 2e-16 * 4 / (0.01 * joint);
                    worst = fmax(worst, error[2]);
                    CHECK(error[2] < 1.5e-4 && error[1] < 0.27 * error[0] + rounding &&
                              error[2] < 0.27 * error[1] + rounding,
                          "saturation %d %d, stretch %g, %g degrees: %g %g %g", force, torque, stretches[i], degrees[j],
                          error[0], error[1], error[2]);
                }
    NOTE("differences by 0.01: %.1e of the largest derivative", worst);
    for (int k = 0; k < 20; k++) {
        const contacts c = any_contacts(4, 1000);
        const sp_pose body = any_pose();
        const double one = difference(pressed, &c, &body, 1e-2, 0.1), two = difference(pressed, &c, &body, 5e-3, 0.1);
        CHECK(one < 0.01 && two < 0.27 * one, "contacts of these tests: %g %g", one, two);
    }
}

/* Values by the formula, for each sign of the quaternions. The torque rotates the body towards the manipulandum, and
 * the force pulls it there. */
TEST(pulls_toward_the_manipulandum)
{
    for (int k = 0; k < 200; k++) {
        coupled c = {stiff(), any_pose()};
        double way[6];
        const double r = between(0, 0.1), angle = between(0, 0.999 * PI);
        const sp_pose body = away(&c.hand, r, angle, way);
        sp_wrench w, again;
        sp_coupling_wrench(&c.p, &c.hand, &body, &w);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(w.force[i], -600 * r * way[i], 600 * 4e-16);
            CHECK_NEAR(w.torque[i], -1.5 * sin(angle / 2) * way[i + 3], 1.5 * 4e-15);
        }
        for (int sign = 1; sign < 4; sign++) {
            sp_pose hand = c.hand, other = body;
            for (int i = 0; i < 4; i++) {
                hand.q[i] *= sign & 1 ? -1 : 1;
                other.q[i] *= sign & 2 ? -1 : 1;
            }
            sp_coupling_wrench(&c.p, &hand, &other, &again);
            CHECK(!memcmp(&w, &again, sizeof w), "signs %d change the wrench", sign);
        }
        if (r > 0 && angle > 0) {
            const double move[6] = {w.force[0], w.force[1], w.force[2], w.torque[0], w.torque[1], w.torque[2]};
            const sp_pose nearer = moved(&body, 1e-6, move);
            CHECK(apart(&nearer, &c.hand) < r && angle_between(&nearer, &c.hand) < angle, "away from %g, %g", r, angle);
        }
    }
}

/* Exactly 180°: the same one of both directions for all signs, with its torque, and a step rotates the body there. */
TEST(half_turn)
{
    static const double axes[][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0.6, 0.8, 0}, {-0.6, 0, 0.8}, {0, -0.28, 0.96}};
    for (int a = 0; a < 6; a++)
        for (int saturated = 0; saturated < 2; saturated++) {
            sp_coupling_parameters p = stiff();
            p.torque_saturation = saturated ? 0.5 : INFINITY;
            sp_wrench w[4];
            for (int sign = 0; sign < 4; sign++) {
                const double s = sign & 1 ? -1 : 1, t = sign & 2 ? -1 : 1;
                const sp_pose hand = {{0, 0, 0}, {t, 0, 0, 0}};
                sp_pose body = {{0, 0, 0}, {0, s * axes[a][0], s * axes[a][1], s * axes[a][2]}};
                sp_coupling_step_report report;
                double numbers[NUMBERS], most = 0;
                sp_coupling_wrench(&p, &hand, &body, &w[sign]);
                memcpy(numbers, &w[sign], sizeof numbers);
                for (int k = 0; k < NUMBERS; k++)
                    most = isfinite(numbers[k]) ? fmax(most, fabs(numbers[k])) : INFINITY;
                CHECK(most <= 600, "axis %d: %g", a, most);
                CHECK_NEAR(length3(w[sign].torque), saturated ? 0.5 * (1 - 0.5 * exp(-2 * 1.25 / 0.5)) : 1.5, 1e-15);
                for (int k = 0; k < 3; k++)
                    CHECK_NEAR(w[sign].torque[k], w[0].torque[k], 0);
                CHECK_OK(go(&p, &hand, &NO_CONTACT, &body, &report));
                CHECK_NEAR(angle_between(&body, &hand), 0, 1e-14);
                CHECK(report.degenerate == 1, "%d degenerate", report.degenerate);
            }
        }
}

/* §4.9: linear to F_max/2, then exponentially to F_max; force and derivative are continuous. */
TEST(saturation_of_force_and_torque)
{
    coupled c = {stiff(), sp_pose_identity()};
    c.p.saturation = 6;
    c.p.torque_saturation = 0.8;
    const double joint = 3 / 600.0;
    double before = 0;
    sp_wrench w, v;
    sp_pose body = sp_pose_identity();
    body.x[0] = 2 * joint; /* where 2k(r − r_lin)/F_max = 1 */
    sp_coupling_wrench(&c.p, &c.hand, &body, &w);
    CHECK_NEAR(w.force[0], -6 * (1 - 0.5 * exp(-1)), 1e-14);
    CHECK_NEAR(w.force_x[0], -600 * exp(-1), 1e-12);
    CHECK_NEAR(w.force_x[4], -6 * (1 - 0.5 * exp(-1)) / (2 * joint), 1e-12);
    for (double r = 1e-9; r < 1e9; r *= 1.3) {
        body.x[0] = r;
        sp_coupling_wrench(&c.p, &c.hand, &body, &w);
        const double f = -w.force[0];
        CHECK(f <= 6 * (1 + 4e-16) && f >= before * (1 - 4e-16) && w.force_x[0] <= 0, "at %g m: %g N after %g", r, f,
              before);
        before = f;
    }
    CHECK_NEAR(before, 6, 1e-14);
    const double step = 1e-9;
    for (int about = 0; about < 2; about++) {
        sp_pose at[2] = {sp_pose_identity(), sp_pose_identity()};
        for (int side = 0; side < 2; side++) {
            const double factor = 1 + (side ? step : -step), s = 0.4 / 1.5 * factor;
            const double turn[3] = {0, 0, 2 * asin(s)};
            if (about)
                sp_quaternion_from_vector(turn, at[side].q);
            else
                at[side].x[2] = joint * factor;
        }
        sp_coupling_wrench(&c.p, &c.hand, &at[0], &w);
        sp_coupling_wrench(&c.p, &c.hand, &at[1], &v);
        /* f and its slope by 2·step of r_lin: by k·2·step r_lin = F_max·step and by 2k/F_max·k of that */
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(w.force[i], v.force[i], 6 * step * 1.01);
            CHECK_NEAR(w.torque[i], v.torque[i], 0.8 * step * 1.01);
        }
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(w.force_x[i], v.force_x[i], 2 * 600 * step);
            CHECK_NEAR(w.torque_w[i], v.torque_w[i], 2 * 1.5 * step);
        }
    }
}

/* Free space: the body reaches the hand in one step from anywhere, or approaches it by αⁿ, or moves as fast as the
 * limits allow. */
TEST(free_space)
{
    sp_coupling_step_report report;
    int most_degenerate = 0;
    for (int saturated = 0; saturated < 2; saturated++)
        for (double r = 1e-4; r < 200; r *= 1.9)
            for (double angle = 1e-5; angle < PI; angle *= 1.7) {
                sp_coupling_parameters p = stiff();
                p.saturation = saturated ? 4 : INFINITY;
                p.torque_saturation = saturated ? 0.5 : INFINITY;
                const sp_pose hand = any_pose();
                double way[6];
                sp_pose body = away(&hand, r, angle, way);
                CHECK_OK(go(&p, &hand, &NO_CONTACT, &body, &report));
                most_degenerate = report.degenerate > most_degenerate ? report.degenerate : most_degenerate;
                /* tangents 1e-6 below the secant are left as they are: θ²/12 < 1e-6, f/f′ */
                CHECK(apart(&body, &hand) < 1e-13 * (1 + r) + 1e-9 * r, "%d: from %g m to %g m", saturated, r,
                      apart(&body, &hand));
                const double left = angle_between(&body, &hand);
                CHECK(left < 1e-14 + 1.1e-6 * fmin(angle, 4e-3) + 1e-9 * angle, "%d: from %g to %g", saturated, angle,
                      left);
                CHECK_NEAR(length3(report.displacement), r, 1e-9 * r);
                CHECK_NEAR(length3(report.rotation), angle, 2e-6 * angle);
            }
    CHECK(most_degenerate > 0, "nothing was degenerate");

    const double alpha = 0.6;
    sp_coupling_parameters p = stiff();
    p.static_damping = alpha;
    const sp_pose hand = any_pose();
    double way[6], left = 1;
    sp_pose body = away(&hand, 0.2, 0.5, way);
    for (int n = 1; n <= 25; n++) {
        CHECK_OK(go(&p, &hand, &NO_CONTACT, &body, &report));
        left *= alpha;
        CHECK_NEAR(apart(&body, &hand), 0.2 * left, 1e-15);
        /* where the secant stands in for the tangent no longer, θ²/12 = 1e-6 of each of the (1 − α)/α moves, less each
         * time by α² */
        CHECK_NEAR(angle_between(&body, &hand), 0.5 * left,
                   0.5 * left * 1.1e-6 * (1 - alpha) / alpha / (1 - alpha * alpha) + 1e-15);
    }

    p = stiff();
    p.saturation = 4;
    p.speed = 0.6;
    p.angular_speed = 2 * PI;
    const sp_pose beyond = {{3e200, 0, -4e200}, {1, 0, 0, 0}}; /* whose square overflows */
    body = sp_pose_identity();
    CHECK_OK(go(&p, &beyond, &NO_CONTACT, &body, &report));
    CHECK_NEAR(body.x[0], 0.6 * 6e-4, 1e-18);
    CHECK_NEAR(body.x[2], -0.8 * 6e-4, 1e-18);

    body = away(&hand, 0.0317, 0.1, way); /* 53 cycles of 0.6 mm; 16 of 0.36° */
    int cycles = 0;
    for (double r = apart(&body, &hand); r > 1e-12 && cycles < 60; cycles++) {
        const double nearer = fmax(0, r - 6e-4), turn = fmax(0, angle_between(&body, &hand) - 2e-3 * PI);
        CHECK_OK(go(&p, &hand, &NO_CONTACT, &body, &report));
        r = apart(&body, &hand);
        CHECK_NEAR(r, nearer, 1e-12);
        CHECK_NEAR(angle_between(&body, &hand), turn, 1e-8);
        CHECK(report.limited == (cycles < 52), "cycle %d", cycles);
    }
    CHECK(cycles == 53, "%d cycles", cycles);
}

/* With a saturated force there is a distance at which the system of the thesis changes from regular to degenerate. The
 * step has the same length on either side. Lengths in other units give the same step. */
TEST(threshold_and_units)
{
    sp_coupling_step_report report, scaled;
    for (int k = 0; k < 500; k++) {
        sp_coupling_parameters p = stiff(), q;
        p.saturation = 4;
        p.torque_saturation = 0.4;
        const double unit = 1000, r = 4 / 1200.0 * pow(10, between(0, 3));
        contacts c = any_contacts(k % 4, pow(10, between(1, 6))), d = c;
        const sp_pose hand = any_pose();
        double way[6];
        sp_pose body = away(&hand, r, between(0, 3), way), b = body, h = hand;
        sp_wrench w, v;
        q = p;
        q.stiffness /= unit, q.torque_stiffness *= unit, q.torque_saturation *= unit, q.length *= unit;
        for (int i = 0; i < 3; i++) {
            b.x[i] *= unit, h.x[i] *= unit;
            for (int point = 0; point < c.count; point++)
                d.at[point][i] *= unit, d.place[point][i] *= unit;
        }
        for (int point = 0; point < c.count; point++)
            d.k[point] /= unit;
        press(&c, &body, &w);
        press(&d, &b, &v);
        CHECK_OK(go(&p, &hand, &w, &body, &report));
        CHECK_OK(go(&q, &h, &v, &b, &scaled));
        CHECK(report.degenerate == scaled.degenerate, "%d and %d degenerate", report.degenerate, scaled.degenerate);
        /* singular values down to 1e-3 of the largest, twice where a secant is taken */
        const double size = length3(report.displacement) + p.length * length3(report.rotation) + r;
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(scaled.displacement[i], unit * report.displacement[i], unit * 1e-9 * size);
            CHECK_NEAR(scaled.rotation[i], report.rotation[i], 1e-9 * size / p.length);
        }
    }
}

/* In equilibrium of springs and contact the body stays, even if derivatives of a contact force across its gradient have
 * singular values below the threshold: such directions are not free of resistance. */
TEST(a_balance_is_kept)
{
    sp_coupling_step_report report;
    int weak = 0;
    for (int k = 0; k < 200; k++) {
        sp_coupling_parameters p = stiff();
        p.saturation = 4;
        const sp_pose hand = any_pose();
        double way[6], n[3], g[3];
        sp_pose body = away(&hand, 4 / 1200.0 * pow(10, between(-1, 1)), between(0, 1), way);
        const sp_pose before = body;
        sp_wrench springs, contact = {.force = {0}};
        sp_coupling_wrench(&p, &hand, &body, &springs);
        for (int i = 0; i < 3; i++) {
            contact.force[i] = -springs.force[i];
            contact.torque[i] = -springs.torque[i];
            n[i] = i == k % 3;
            g[i] = i == (k + 1) % 3;
        }
        const double stiffness = pow(10, between(4, 8));
        for (int i = 0; i < 9; i++)
            contact.force_x[i] = -stiffness * n[i / 3] * g[i % 3];
        CHECK_OK(go(&p, &hand, &contact, &body, &report));
        weak += stiffness > 1e6;
        CHECK(apart(&body, &before) < 1e-12 && angle_between(&body, &before) < 1e-7 && report.degenerate == 0,
              "moves by %g m, %g rad; %d degenerate", apart(&body, &before), angle_between(&body, &before),
              report.degenerate);
    }
    CHECK(weak > 50, "%d", weak);
}

/* A box in a square shaft: four walls prevent lateral motion and rotation about every axis. Along the shaft it follows
 * the manipulandum. */
TEST(box_in_a_shaft)
{
    for (int k = 0; k < 50; k++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        p.saturation = 4;
        const double wall = 1e5;
        const sp_pose start = any_pose();
        double R[9], across = k % 2 ? between(1, 5) * 2 / p.stiffness : between(1e-3, 0.9) * 2 / p.stiffness,
                     along = between(0.5, 5);
        contacts c = {.count = 4};
        sp_quaternion_matrix(start.q, R);
        for (int w = 0; w < 4;
             w++) { /* normals ±x and ±y of the body; the shaft is along its z. Each wall at the box' middle */
            c.k[w] = wall;
            for (int i = 0; i < 3; i++) {
                c.normal[w][i] = (w % 2 ? -1 : 1) * R[3 * i + w / 2];
                c.place[w][i] = start.x[i];
            }
        }
        sp_pose hand = start, body = start;
        for (int i = 0; i < 3; i++)
            hand.x[i] += across * R[3 * i] + along * R[3 * i + 2];
        for (int cycle = 0; cycle < 40; cycle++) {
            sp_wrench w;
            press(&c, &body, &w);
            CHECK_OK(go(&p, &hand, &w, &body, &report));
            CHECK(cycle > 0 || report.degenerate > 0, "%d degenerate", report.degenerate);
            double axial = 0;
            for (int i = 0; i < 3; i++)
                axial += R[3 * i + 2] * (hand.x[i] - body.x[i]);
            /* the direction of the spring tilts the degenerate direction by */
            CHECK_NEAR(axial, 0, 4 / along * across / along / (2 * wall) * across + 1e-13);
            CHECK_NEAR(angle_between(&body, &start), 0, 1e-12);
        }
        /* across: f(across − u) = 2 wall u, by halving */
        double low = 0, high = across;
        for (int i = 0; i < 100; i++) {
            const double u = 0.5 * (low + high), r = across - u, joint = 2 / p.stiffness;
            const double f = r <= joint ? p.stiffness * r : 4 * (1 - 0.5 * exp(-2 * p.stiffness * (r - joint) / 4));
            *(f > 2 * wall * u ? &low : &high) = u;
        }
        double lateral = 0, sideways = 0;
        for (int i = 0; i < 3; i++) {
            lateral += R[3 * i] * (body.x[i] - start.x[i]);
            sideways += R[3 * i + 1] * (body.x[i] - start.x[i]);
        }
        CHECK_NEAR(lateral, low, 1e-3 * 2 * p.threshold * across + 1e-9 * low);
        CHECK_NEAR(sideways, 0, 1e-13);
    }
}

/* Newton's method for the equilibrium of springs and contact: the residual is small and decreases quadratically. */
TEST(equilibrium_in_contact)
{
    double last[3] = {0};
    int quadratic = 0, cases = 100;
    for (int k = 0; k < cases; k++) {
        coupled tie = {stiff(), any_pose()};
        tie.p.saturation = 1.5; /* where the hand is farther: 1.25 mm, 0.03 rad */
        tie.p.torque_saturation = 0.04;
        tie.p.threshold = 1e-9;
        contacts c = any_contacts(6, 3000);
        double way[6], residual[30], size = 0;
        sp_pose body = away(&tie.hand, 0.004, 0.1, way);
        lay(&c, &body, 1e-4);
        int n = 0;
        for (; n < 30; n++) {
            sp_wrench w, v;
            sp_coupling_step_report report;
            press(&c, &body, &w);
            tied(&tie, &body, &v);
            residual[n] = 0;
            for (int i = 0; i < 3; i++) {
                residual[n] = fmax(residual[n], fabs(w.force[i] + v.force[i]));
                residual[n] = fmax(residual[n], fabs(w.torque[i] + v.torque[i]) / tie.p.length);
                size = fmax(size, fabs(w.force[i]));
            }
            if (residual[n] < 1e-13 * size)
                break;
            CHECK_OK(go(&tie.p, &tie.hand, &w, &body, &report));
        }
        CHECK(residual[n < 30 ? n : 29] < 1e-10 * size, "case %d: %g N left of %g", k, residual[n < 30 ? n : 29], size);
        /* one of the last steps goes from a small r to r²: the exponent doubles, so it grows by more than half */
        for (int i = 1; i < n - 1 && i < 29; i++)
            if (residual[i] < 1e-2 * size && residual[i + 1] > 1e-12 * size) {
                quadratic += log(residual[i + 1] / size) < 1.5 * log(residual[i] / size);
                last[0] = residual[i], last[1] = residual[i + 1];
                break;
            }
    }
    NOTE("of %d cases %d seen to square their residual, as %.1e to %.1e N", cases, quadratic, last[0], last[1]);
    CHECK(quadratic >= cases / 2, "%d of %d", quadratic, cases);
}

/* §4.7: with l springs along the normals n the hand feels at most 1/(1/|J| + 1/k_VC), and exactly that along parallel
 * normals. */
TEST(stiffness_felt)
{
    double nearest = 0;
    for (int k = 0; k < 300; k++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        const int count = 1 + k % 12;
        const bool parallel = k % 3 == 0;
        contacts c = any_contacts(count, 0);
        double J[9] = {0}, values[3], total = 0;
        for (int point = 0; point < count; point++) {
            c.k[point] = pow(10, between(1, 4));
            memset(c.at[point], 0, sizeof c.at[point]); /* 3 degrees of freedom */
            if (parallel)
                memcpy(c.normal[point], c.normal[0], sizeof c.normal[0]);
            total += c.k[point];
            for (int i = 0; i < 9; i++)
                J[i] += c.k[point] * c.normal[point][i / 3] * c.normal[point][i % 3];
        }
        CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', 3, J, 3, values) == 0, "dsyev");
        if (parallel)
            CHECK_NEAR(values[2], total, 1e-13 * total);
        const double bound = 1 / (1 / values[2] + 1 / p.stiffness);
        sp_pose hand = any_pose(), body = hand;
        sp_wrench w;
        for (int cycle = 0; cycle < 2; cycle++) {
            press(&c, &body, &w);
            CHECK_OK(go(&p, &hand, &w, &body, &report));
        }
        for (int d = 0; d < 10; d++) {
            double way[3], force[2][3], torque[3], change[3], moving[3], size = 0.01;
            sp_pose at = hand, there = body;
            any_unit(way);
            if (d == 0)
                memcpy(way, J + 6, sizeof way); /* the stiffest direction; with parallel normals the normal */
            for (int i = 0; i < 3; i++)
                at.x[i] += size * way[i];
            press(&c, &body, &w);
            CHECK_OK(go(&p, &at, &w, &there, &report));
            sp_coupling_render(&p, &hand, &body, INFINITY, INFINITY, force[0], torque);
            sp_coupling_render(&p, &at, &there, INFINITY, INFINITY, force[1], torque);
            for (int i = 0; i < 3; i++) {
                change[i] = force[1][i] - force[0][i];
                moving[i] = there.x[i] - body.x[i];
            }
            CHECK_NEAR(length3(torque), 0, 1e-9);
            /* threshold: springs below 1e-3 of the largest may be neglected, which only lowers the stiffness that is
             * felt */
            CHECK(length3(change) / size <= bound * (1 + 1e-9), "%g felt, bound %g N/m", length3(change) / size, bound);
            if (d == 0) {
                CHECK_NEAR(length3(change) / size, bound, 1e-9 * bound);
                CHECK_NEAR(length3(moving) / size, p.stiffness / (p.stiffness + values[2]), 1e-9);
                CHECK(sp_dot3(change, way) < 0, "the device would push the hand on");
            } else
                nearest = fmax(nearest, parallel ? 0 : length3(change) / size / bound);
        }
    }
    NOTE("in random directions at most %.4f of the bound", nearest);
}

/* Thesis figure 4.1: a pole on an obstacle at b from the grasp. Moved by δ onto it, the springs in series carry
 * δ/(1/k_C + 1/k + b²/(k_T/2)), and b times that. */
TEST(leverage_of_a_pole)
{
    sp_coupling_parameters p = stiff();
    sp_coupling_step_report report;
    const double half = 0.2, from_centre = 0.12, shift = 1e-4, wall = 5000;
    double torque[2];
    for (int end = 0; end < 2; end++) {
        const double b = from_centre + (end ? half : 0); /* grasped at the centre or at the far end */
        const contacts c = {.count = 1, .k = {wall}, .at = {{b, 0, 0}}, .normal = {{0, 0, 1}}, .place = {{b, 0, 0}}};
        sp_pose hand = sp_pose_identity(), body = hand;
        hand.x[2] = -shift;
        double f[3], t[3];
        for (int cycle = 0; cycle < 4; cycle++) {
            sp_wrench w;
            press(&c, &body, &w);
            CHECK_OK(go(&p, &hand, &w, &body, &report));
        }
        sp_coupling_render(&p, &hand, &body, INFINITY, INFINITY, f, t);
        const double expected = shift / (1 / wall + 1 / p.stiffness + 2 * b * b / p.torque_stiffness);
        const double turn = 2 * b * expected / p.torque_stiffness; /* sines and cosines leave turn² */
        CHECK_NEAR(f[2], expected, expected * turn * turn);
        /* the contact acts on the pole from below at b: the hand is rotated as the body is, about −y for x̂ × ẑ */
        CHECK_NEAR(t[1], -b * expected, b * expected * turn * turn);
        CHECK_NEAR(hypot(t[0], t[2]), 0, 1e-12);
        torque[end] = -t[1] / f[2];
    }
    CHECK_NEAR(torque[1] - torque[0], half, 1e-6);
}

/* A NaN anywhere in the contact or in a pose: nothing moves. */
TEST(refusals)
{
    const double bad[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < NUMBERS + 14; k++)
        for (int kind = 0; kind < 3; kind++) {
            sp_coupling_parameters p = stiff();
            p.saturation = kind ? 4 : INFINITY;
            sp_pose hand = any_pose(), body = any_pose();
            double numbers[NUMBERS] = {0};
            sp_coupled_motion motion = {.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
            sp_coupling_step_report report;
            sp_wrench w;
            if (k < NUMBERS)
                numbers[k] = bad[kind];
            else if (k < NUMBERS + 7)
                *(k < NUMBERS + 3 ? &hand.x[k - NUMBERS] : &hand.q[k - NUMBERS - 3]) = bad[kind];
            else
                *(k < NUMBERS + 10 ? &body.x[k - NUMBERS - 7] : &body.q[k - NUMBERS - 10]) = bad[kind];
            memcpy(&w, numbers, sizeof w);
            const sp_pose was = body;
            const sp_coupled_motion moving = motion;
            CHECK(go(&p, &hand, &w, &body, &report) == SP_NUMERICAL, "number %d: taken", k);
            CHECK(k >= NUMBERS || strstr(context.message, "of contact"), "number %d: %s", k, context.message);
            CHECK(!memcmp(&was, &body, sizeof body) && report.displacement[0] == 0, "number %d: moved", k);
            const int status = sp_coupling_dynamic(&context, &p, 1e-3, &hand, &w, NOWHERE, &motion, &body, &report);
            CHECK(status == SP_NUMERICAL, "number %d: taken", k);
            CHECK(!memcmp(&was, &body, sizeof body) && !memcmp(&moving, &motion, sizeof motion), "number %d: moved", k);
        }
}

/* Random hands and contacts: the pose is finite, with a unit quaternion, within the limits, and unchanged where the
 * step is refused. */
TEST(fuzz)
{
    static const double ranges[] = {0, 1e-12, 1e-3, 1, 1e6, 1e30, 1e170, 1e300};
    int64_t refused = 0, limited = 0, degenerate = 0;
    sp_pose body = sp_pose_identity();
    for (int64_t k = 0; k < 100000; k++) {
        sp_coupling_parameters p = stiff();
        sp_coupling_step_report report;
        sp_wrench w = {0};
        sp_pose hand = any_pose();
        const double range = ranges[(int)between(0, k % 10 ? 5 : 8)],
                     stiffness = ranges[(int)between(0, k % 7 ? 5 : 8)];
        p.stiffness = pow(10, between(-6, 9)), p.torque_stiffness = pow(10, between(-6, 9));
        p.saturation = k % 3 ? pow(10, between(-9, 6)) : INFINITY;
        p.torque_saturation = k % 5 ? pow(10, between(-9, 6)) : INFINITY;
        p.static_damping = k % 4 ? 0 : between(0, 1);
        p.speed = pow(10, between(-3, 3)), p.angular_speed = pow(10, between(-3, 3));
        p.length = pow(10, between(-4, 2));
        p.threshold = k % 11 ? 1e-3 : 0;
        any_vector(range, hand.x);
        if (k % 6 == 0) { /* rotated by 180°, exactly or nearly */
            const double half_turn[4] = {k % 12 ? 0 : between(-1e-15, 1e-15), 1, 0, 0};
            sp_quaternion_multiply(half_turn, body.q, hand.q);
        }
        if (k % 13 == 0)
            hand = body;
        if (k % 5 == 1) {
            const contacts c = any_contacts((int)between(0, 12), stiffness);
            press(&c, &body, &w);
        } else if (k % 5 == 2) {
            double numbers[NUMBERS];
            for (int i = 0; i < NUMBERS; i++)
                numbers[i] = between(0, 1) < 0.5 ? 0 : stiffness * sp_random_normal(7, 2, drawn++);
            memcpy(&w, numbers, sizeof w);
        } else if (k % 5 == 3) { /* of rank 1 */
            double n[6];
            any_vector(1, n), any_vector(1, n + 3);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    w.force_x[3 * i + j] = -stiffness * n[i] * n[j],
                                      w.force_w[3 * i + j] = -stiffness * n[i] * n[j + 3];
                    w.torque_x[3 * i + j] = -stiffness * n[i + 3] * n[j],
                                       w.torque_w[3 * i + j] = -stiffness * n[i + 3] * n[j + 3];
                }
            any_vector(stiffness, w.force);
        }
        if (length3(body.x) > 1e6 || k % 100 == 0)
            body = any_pose();
        const sp_pose was = body;
        const int status = go(&p, &hand, &w, &body, &report);
        if (status != SP_OK) {
            CHECK(status == SP_NUMERICAL && !memcmp(&was, &body, sizeof body), "case %lld: %d", (long long)k, status);
            refused++;
            CHECK(range > 1e100 || stiffness > 1e100, "case %lld: %s", (long long)k, context.message);
            continue;
        }
        double norm = 0;
        for (int i = 0; i < 4; i++)
            norm += body.q[i] * body.q[i];
        CHECK(fabs(norm - 1) < 1e-15, "case %lld: |q|² − 1 = %g", (long long)k, norm - 1);
        const double d = apart(&body, &was), angle = angle_between(&body, &was);
        const double most = p.speed * 1e-3, turn = fmin(p.angular_speed * 1e-3, PI);
        CHECK(d <= most * (1 + 1e-14) + 4e-16 * length3(was.x), "case %lld: %g m of %g", (long long)k, d, most);
        CHECK(angle <= turn * (1 + 1e-14) + 2e-15, "case %lld: %g rad of %g", (long long)k, angle, turn);
        limited += report.limited;
        degenerate += report.degenerate > 0;
        CHECK(report.degenerate >= 0 && report.degenerate <= 6, "%d", report.degenerate);
    }
    NOTE("%lld limited, %lld degenerate, %lld beyond numbers and refused", (long long)limited, (long long)degenerate,
         (long long)refused);
    CHECK(limited > 10000 && degenerate > 10000 && refused < 10000, "too tame");
}
