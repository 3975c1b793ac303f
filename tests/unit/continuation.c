/* Pseudo-arclength continuation on curves in the plane. */
#include "periodic/continuation.h"
#include "test.h"

OWNER(sp_continuation)

/* x² + y² = 1. */
static void circle(void *self, const double *x, double *r, double *J, int64_t stride)
{
    (void)self;
    r[0] = x[0] * x[0] + x[1] * x[1] - 1;
    if (J) {
        J[0] = 2 * x[0];
        J[stride] = 2 * x[1];
    }
}

/* y = x³ − x: folds of the parameter y at x = ±1/√3, y = ∓2/(3√3). */
static void cubic(void *self, const double *x, double *r, double *J, int64_t stride)
{
    (void)self;
    r[0] = x[1] - x[0] * x[0] * x[0] + x[0];
    if (J) {
        J[0] = 1 - 3 * x[0] * x[0];
        J[stride] = 1;
    }
}

/* x (y − x²) = 0: the branch x = 0 crosses a parabola at 0. */
static void pitchfork(void *self, const double *x, double *r, double *J, int64_t stride)
{
    (void)self;
    r[0] = x[0] * (x[1] - x[0] * x[0]);
    if (J) {
        J[0] = x[1] - 3 * x[0] * x[0];
        J[stride] = x[0];
    }
}

/* r = √−1: no solution beyond y = 1. */
static void ends(void *self, const double *x, double *r, double *J, int64_t stride)
{
    (void)self;
    r[0] = x[1] < 1 ? x[0] : NAN;
    if (J) {
        J[0] = 1;
        J[stride] = 0;
    }
}

static void unit(void *self, const double *x, double *weight)
{
    (void)self, (void)x;
    weight[0] = weight[1] = 1;
}

static const sp_continuation_parameters standard = {0.05, 1e-6, 0.2, 1e-12, 10, 0.4};

static sp_continuation *start(void (*evaluate)(void *, const double *, double *, double *, int64_t), double x, double y,
                              double dx, double dy)
{
    const sp_curve_equations equations = {NULL, 1, evaluate, unit};
    sp_continuation *c = NULL;
    CHECK_OK(sp_continuation_new(&context, &equations, &standard, (double[]){x, y}, (double[]){dx, dy}, &c));
    return c;
}

/* Around the circle: every point is on it, with the tangent (−y, x) there, and the arc comes back to its start. */
TEST(around)
{
    OWNED_POINTER(sp_continuation) *c = start(circle, 1, 0, 0, 1);
    double angle = 0, worst = 0, turned = 0;
    int steps = 0;
    for (; steps < 1000 && angle < 2 * M_PI; steps++) {
        const double before = atan2(sp_continuation_x(c)[1], sp_continuation_x(c)[0]);
        CHECK_OK(sp_continuation_step(c));
        const double *x = sp_continuation_x(c), *t = sp_continuation_tangent(c);
        turned = fmax(turned, hypot(t[0] + x[1], t[1] - x[0]));
        angle += remainder(atan2(x[1], x[0]) - before, 2 * M_PI);
        worst = fmax(worst, fabs(hypot(x[0], x[1]) - 1));
    }
    NOTE("%d steps, radius off by %.2g, tangent by %.2g", steps, worst, turned);
    CHECK(angle >= 2 * M_PI && steps < 200 && worst < 1e-12, "%g %d %g", angle, steps, worst);
    CHECK(turned < 1e-12, "a tangent is off by %g", turned);
}

static double tangent_y(void *data, const double *x, const double *t)
{
    (void)data, (void)x;
    return t[1];
}

/* Both folds of the cubic are found where the closed form has them, and a determinant does not change its sign. */
TEST(folds)
{
    OWNED_POINTER(sp_continuation) *c = start(cubic, -1.5, -1.875, 0, 1);
    const int sign = sp_continuation_sign(c);
    int found = 0;
    for (int i = 0; i < 200 && sp_continuation_x(c)[0] < 1.5; i++) {
        const double before = sp_continuation_tangent(c)[1];
        CHECK_OK(sp_continuation_step(c));
        const double after = sp_continuation_tangent(c)[1];
        if ((before < 0) == (after < 0))
            continue;
        double x[2], t[2], arc;
        CHECK_OK(sp_continuation_locate(c, tangent_y, NULL, before, after, 1e-10, x, t, &arc));
        CHECK(arc >= 0 && arc <= sp_continuation_length(c), "%g", arc);
        CHECK_NEAR(x[0], (found ? 1 : -1) / sqrt(3), 1e-9);
        CHECK_NEAR(x[1], (found ? -2 : 2) / (3 * sqrt(3)), 1e-12);
        found++;
        CHECK(sp_continuation_sign(c) == sign, "a fold changes the sign");
    }
    CHECK(found == 2, "%d folds", found);
}

/* The sign changes once along the branch x = 0 of the pitchfork. */
TEST(branch)
{
    OWNED_POINTER(sp_continuation) *c = start(pitchfork, 0, -1, 0, 1);
    int changes = 0;
    while (sp_continuation_x(c)[1] < 1) {
        const int before = sp_continuation_sign(c);
        CHECK_OK(sp_continuation_step(c));
        CHECK_NEAR(sp_continuation_x(c)[0], 0, 1e-12);
        changes += sp_continuation_sign(c) != before;
    }
    CHECK(changes == 1, "%d", changes);
}

/* Where there is no curve, the steps end with an error and the last point stays. */
TEST(end)
{
    OWNED_POINTER(sp_continuation) *c = start(ends, 0, 0, 0, 1);
    int status = SP_OK;
    for (int i = 0; i < 200 && status == SP_OK; i++)
        status = sp_continuation_step(c);
    CHECK(status == SP_NUMERICAL && strstr(context.message, "continuation fails"), "%d %s", status, context.message);
    CHECK_NEAR(sp_continuation_x(c)[1], 1, 1e-4);
    CHECK(sp_continuation_reported(c).rejected > 5, "no step was rejected");
}
