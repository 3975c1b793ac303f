/* What must hold of any exported model: each line that is printed names what does not.
 *
 *     check [SIZE]
 *
 * SIZE is that of the coordinates, 1 without it. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static model_state state, other;
static double size = 1;

static void check(int holds, const char *what, double measured)
{
    if (!holds)
        printf("%s (%g)\n", what, measured);
}

static double largest(int count, const model_real *x)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

/* q + s d */
static void shift(const model_real *q, double s, const model_real *d, model_real *to)
{
    for (int i = 0; i < MODEL_R; i++)
        to[i] = q[i] + (model_real)s * d[i];
}

/* Errors of central differences of the energy and of the force along d at the distance s. */
static void differences(const model_real *q, const model_real *d, double s, double error[2])
{
    model_real at[MODEL_R], f[MODEL_R], low[MODEL_R], high[MODEL_R], K[MODEL_R * MODEL_R];
    double slope = 0, W;
    model_force(&state, q, f);
    model_stiffness(&state, q, K);
    shift(q, s, d, at);
    model_force(&state, at, high);
    W = model_energy(&state, at);
    shift(q, -s, d, at);
    model_force(&state, at, low);
    W -= model_energy(&state, at);
    error[1] = 0;
    for (int i = 0; i < MODEL_R; i++) {
        double product = 0;
        slope += f[i] * d[i];
        for (int j = 0; j < MODEL_R; j++) {
            product += K[i * MODEL_R + j] * d[j];
            check(K[i * MODEL_R + j] == K[j * MODEL_R + i], "K is not symmetric", i * MODEL_R + j);
        }
        error[1] = fmax(error[1], fabs((high[i] - low[i]) / (2 * s) - product));
    }
    error[0] = fabs(W / (2 * s) - slope);
}

static void check_derivatives(void)
{
    model_real q[MODEL_R], d[MODEL_R];
    const double s = MODEL_CUBIC ? 0.2 : 0.05;
    double coarse[2], fine[2];
    for (int i = 0; i < MODEL_R; i++) {
        q[i] = (model_real)(0.3 * size * sin(1 + 3 * i));
        d[i] = (model_real)(size * cos(2 + 5 * i));
    }
    differences(q, d, s, coarse);
    differences(q, d, s / 2, fine);
    /* the errors of a quartic energy and of a cubic force are exactly of order 2, others nearly so */
    check(fabs(coarse[0] / fine[0] - 4) < 1e-3, "the force is not the gradient of the energy", coarse[0] / fine[0]);
    check(fabs(coarse[1] / fine[1] - 4) < 1e-3, "K is not the derivative of the force", coarse[1] / fine[1]);
    memset(q, 0, sizeof q);
    model_force(&state, q, d);
    check(largest(MODEL_R, d) == 0 && model_energy(&state, q) == 0, "there is a force at rest", largest(MODEL_R, d));
}

/* A force on a probe does the work of the probe's way; a rigid factor scales the forces. */
static void check_probes(void)
{
    const model_real push[3] = {1, -2, 3};
    model_real force[MODEL_R] = {0}, u[3], v[3], before[MODEL_R], after[MODEL_R];
    double work = 0, way = 0, terms = 0;

    for (int i = 0; i < MODEL_R; i++) {
        state.q[i] = (model_real)(0.1 * size * (i + 1));
        state.v[i] = 2 * state.q[i];
    }

    check(model_add_probe_force(force, 0, push) == MODEL_OK && model_probe(&state, 0, u) == MODEL_OK &&
              model_probe_velocity(&state, 0, v) == MODEL_OK,
          "a probe is refused", 0);
    for (int i = 0; i < MODEL_R; i++) {
        work += force[i] * state.q[i];
        terms += fabs((double)force[i] * (double)state.q[i]);
    }
    for (int c = 0; c < 3; c++) {
        way += push[c] * u[c];
        check(fabs(v[c] - 2 * u[c]) <= 1e-12 * fabs(u[c]), "the velocity of a probe", v[c]);
    }
    check(fabs(work - way) <= 1e-14 * terms, "the work of a force on a probe", work - way);

    check(model_probe(&state, MODEL_PROBES, u) == MODEL_BAD_ARGUMENT &&
              model_probe(&state, -1, u) == MODEL_BAD_ARGUMENT &&
              model_add_probe_force(force, MODEL_PROBES, push) == MODEL_BAD_ARGUMENT &&
              model_probe_rest(MODEL_PROBES, u) == MODEL_BAD_ARGUMENT,
          "a probe that is not there", 0);

    model_force(&state, NULL, before);
    check(model_set_factors(&state, 2, 1) == MODEL_OK, "factors", 0);
    model_force(&state, NULL, after);
    for (int i = 0; i < MODEL_R; i++)
        check(after[i] == 2 * before[i], "the factor of the stiffness", after[i]);
}

static void check_arguments(void)
{
    const double nan = NAN;
    model_real q[MODEL_R] = {0};

    model_init(&state);
    other = state;
    check(model_set_step(&state, 0) && model_set_step(&state, INFINITY) && model_set_damping(&state, -1, 0) &&
              model_set_damping(&state, 0, nan) && model_set_gravity(&state, 0, nan, 0) &&
              model_set_factors(&state, 0, 1) && model_set_newmark(&state, 0, 0.5) &&
              model_set_newmark(&state, 0.25, 1.1) && model_set_newton(&state, 0, 5) &&
              model_set_newton(&state, 1e-9, 0) && model_set_semi_implicit(&state, 2),
          "an option out of range is accepted", 0);

    q[0] = nan;
    check(model_set_motion(&state, q, NULL) == MODEL_BAD_ARGUMENT, "NaN as coordinates", 0);
    check(memcmp(&state, &other, sizeof state) == 0, "a refused option changes the state", 0);

    for (int semi = 0; semi < 2; semi++) {
        check(model_set_semi_implicit(&state, semi) == MODEL_OK, "semi-implicit", semi);
        for (int large = 0; large < 2; large++) {
            q[0] = (model_real)(large ? MODEL_SINGLE ? 1e38 : 1e308 : nan);
            check(model_step(&state, q) == MODEL_NOT_FINITE && largest(3 * MODEL_R, state.q) == 0,
                  "a force that is not finite", semi);
        }
    }

    q[0] = (model_real)nan;
    check(model_start(&state, q) == MODEL_NOT_FINITE && largest(3 * MODEL_R, state.q) == 0, "NaN at the start", 0);

    q[0] = 0;
    check(model_set_semi_implicit(&state, 0) == MODEL_OK && model_set_newton(&state, 1e-10, 1) == MODEL_OK &&
              model_set_step(&state, 1) == MODEL_OK,
          "options", 0);
    q[0] = 1e12;
    check(model_step(&state, q) == MODEL_NOT_CONVERGED && largest(3 * MODEL_R, state.q) == 0, "one iteration", 0);
}

/* A copy, and a state of q, v and a alone, go on to the same bits. */
static void check_copies(void)
{
    static model_state third;
    model_real force[MODEL_R] = {0};
    const model_real push[3] = {100, 20, 300};
    model_add_probe_force(force, 0, push);
    model_init(&state);
    for (int i = 0; i < 20; i++)
        check(model_step(&state, force) == MODEL_OK, "a step fails", i);
    other = state;
    model_init(&third);
    memcpy(third.q, state.q, sizeof state.q);
    memcpy(third.v, state.v, sizeof state.v);
    memcpy(third.a, state.a, sizeof state.a);
    for (int i = 0; i < 20; i++)
        check(model_step(&state, force) == MODEL_OK && model_step(&other, force) == MODEL_OK &&
                  model_step(&third, force) == MODEL_OK,
              "a step fails", i);
    check(memcmp(state.q, other.q, sizeof state.q) == 0, "a copy moves differently", 0);
    check(memcmp(state.q, third.q, sizeof state.q) == 0, "q, v and a are not the whole state", 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        size = atof(argv[1]);
    model_init(&state);
    check_derivatives();
    check_probes();
    check_arguments();
    check_copies();
    return 0;
}
