/* ---- one step of Newmark's method ----
 *
 * The unknown is q1; the velocity and the acceleration at the end of the step are v1 = rate (q1 - q0) + v_base and
 * a1 = second_rate (q1 - q0) + a_base. */

static void model_begin_step(model_state *state, const model_real *force)
{
    model_scratch *w = &state->scratch;
    const model_real h = state->dt, beta = state->newmark_beta, gamma = state->newmark_gamma, from_v = 1 / (beta * h),
                     from_a = (1 - 2 * beta) / (2 * beta), v_from_v = 1 - gamma / beta,
                     v_from_a = (1 - gamma / (2 * beta)) * h;
    w->second_rate = 1 / (beta * h * h);
    w->rate = gamma / (beta * h);
    for (int i = 0; i < MODEL_R; i++) {
        w->a_base[i] = -from_v * state->v[i] - from_a * state->a[i];
        w->v_base[i] = v_from_v * state->v[i] + v_from_a * state->a[i];
    }
    model_load(state, force);
}

/* v1 and a1 for q1. */
static void model_follow(model_state *state, const model_real *q1)
{
    model_scratch *w = &state->scratch;
    for (int i = 0; i < MODEL_R; i++) {
        const model_real way = q1[i] - state->q[i];
        w->a[i] = w->second_rate * way + w->a_base[i];
        w->v[i] = w->rate * way + w->v_base[i];
    }
}

static int model_damped(const model_state *state)
{
    return state->damping_mass > 0 || state->damping_stiffness > 0;
}

/* The residual M a1 + C v1 + f - F, the norm of its largest term, and the potential of which it is the gradient where
 * damping has no part with K. */
typedef struct model_size {
    model_real norm, relative, potential;
} model_size;

static model_size model_residual(model_state *state, const model_real *q1)
{
    model_scratch *w = &state->scratch;
    model_size size;
    model_real scale;

    model_follow(state, q1);
    model_mass_times(state, w->a, w->inertia);
    model_evaluate(state, q1, state->damping_stiffness > 0);

    scale = model_larger(model_norm(w->force), model_norm(w->external));
    scale = model_larger(scale, model_norm(w->inertia));
    size.potential = w->energy + model_dot(w->a, w->inertia) / (2 * w->second_rate) - model_dot(w->external, q1);

    for (int i = 0; i < MODEL_R; i++)
        w->residual[i] = w->inertia[i] + (w->force[i] - w->external[i]);

    if (model_damped(state)) {
        model_damp(state, q1, w->v);
        scale = model_larger(scale, model_norm(w->damping));
        if (w->rate > 0)
            size.potential += model_dot(w->v, w->damping) / (2 * w->rate);
        for (int i = 0; i < MODEL_R; i++)
            w->residual[i] += w->damping[i];
    }

    size.norm = model_norm(w->residual);
    size.relative = scale > 0 ? size.norm / scale : size.norm;
    return size;
}

/* S = mass M + stiffness K(q). */
static void model_build(model_state *state, const model_real *q, model_real mass, model_real stiffness)
{
    model_scratch *w = &state->scratch;
    model_evaluate(state, q, 1);
    mass *= state->density_factor;
    for (int i = 0; i < MODEL_MATRIX; i++)
        w->S[i] = mass * model_mass_matrix[i] + stiffness * w->K[i];
}

/* S += factor times the derivative of K(q) along v. For a cubic force a central difference is exact. Other forces use a
 * difference to one side over a thousandth of the step, after K has been evaluated at q. */
static void model_add_derivative(model_state *state, const model_real *q, const model_real *v, model_real factor)
{
    model_scratch *w = &state->scratch;
    const model_real speed = model_norm(v), reach = model_norm(q);
    if (!(speed > 0))
        return;
    const model_real s = MODEL_CUBIC ? model_larger(reach, state->dt * speed) / speed : state->dt / 1000,
                     weight = factor / (MODEL_CUBIC ? 2 * s : s);

    if (!MODEL_CUBIC)
        for (int i = 0; i < MODEL_MATRIX; i++)
            w->S[i] -= weight * w->K[i];

    for (int sign = 1; sign >= (MODEL_CUBIC ? -1 : 1); sign -= 2) {
        for (int i = 0; i < MODEL_R; i++)
            w->trial[i] = q[i] + MODEL_NUMBER(sign) * s * v[i];
        model_evaluate(state, w->trial, 1);
        for (int i = 0; i < MODEL_MATRIX; i++)
            w->S[i] += MODEL_NUMBER(sign) * weight * w->K[i];
    }
}

static void model_build_step(model_state *state, const model_real *q1)
{
    const model_scratch *w = &state->scratch;
    model_build(state, q1, w->second_rate + w->rate * state->damping_mass, 1 + w->rate * state->damping_stiffness);
}

/* Factors the derivative of the residual at q1, or where that is not positive definite, an approximation without the
 * derivative of the damping, and with the absolute values of its eigenvalues. Returns 0 where that is singular. */
static int model_factor_step(model_state *state, const model_real *q1)
{
    model_scratch *w = &state->scratch;
    w->decomposed = 0;
    model_build_step(state, q1);
    if (state->damping_stiffness > 0)
        model_add_derivative(state, q1, w->v, state->damping_stiffness);
    if (model_factor(w->S, w->inverse))
        return 1;
    model_build_step(state, q1);
    if (model_factor(w->S, w->inverse))
        return 1;
    model_build_step(state, q1);
    w->decomposed = 1;
    return model_decompose(w);
}

/* ---- Newton's method ---- */

/* Relative residuals below which whole steps are taken and rounding may end the iterations, those below which an
 * iteration is expected to halve the residual, and a negligible correction relative to q. */
#define MODEL_NEAR MODEL_NUMBER(MODEL_SINGLE ? 1e-4 : 1e-6)
#define MODEL_VERY_NEAR MODEL_NUMBER(MODEL_SINGLE ? 1e-5 : 1e-8)
#define MODEL_NEGLIGIBLE MODEL_NUMBER(MODEL_SINGLE ? 1e-6 : 1e-12)

/* From the extrapolated motion or from rest at q0, whichever leaves the smaller residual. */
static model_size model_predict(model_state *state)
{
    model_scratch *w = &state->scratch;
    const model_real h = state->dt;
    const model_size still = model_residual(state, state->q);
    for (int i = 0; i < MODEL_R; i++)
        w->q[i] = state->q[i] + h * state->v[i] + MODEL_NUMBER(0.5) * h * h * state->a[i];
    model_copy(model_finite(still.norm) ? state->q : w->q, w->restart);
    const model_size moved = model_residual(state, w->q);
    if (!model_finite(still.norm) || moved.norm < still.norm)
        return moved;
    model_copy(state->q, w->q);
    return model_residual(state, w->q);
}

/* q1 -= s `correction`. Whole steps have s = 1; else s is halved until the potential, or where there is none the
 * residual, has fallen enough (Armijo's condition). */
static model_size model_move(model_state *state, model_size before, int whole)
{
    enum { HALVINGS = 12, HALVINGS_TO_A_VALUE = 40 };
    model_scratch *w = &state->scratch;
    const int potential = state->newmark_gamma > 0 && !(state->damping_stiffness > 0),
              near = before.relative <= MODEL_NEAR;
    const model_real slope = model_dot(w->residual, w->correction);
    model_real s = 1;
    for (int halvings = 0;; halvings++, s /= 2) {
        const model_real part = MODEL_NUMBER(1e-4) * s;

        for (int i = 0; i < MODEL_R; i++)
            w->trial[i] = w->q[i] - s * w->correction[i];
        const model_size size = model_residual(state, w->trial);
        const int value = model_finite(size.norm);

        if (whole || size.relative <= state->tolerance ||
            (potential && size.potential <= before.potential - part * slope) ||
            size.norm <= (potential ? MODEL_NUMBER(0.5) : 1 - part) * before.norm ||
            (value && (near || halvings >= HALVINGS)) || halvings == HALVINGS_TO_A_VALUE) {
            model_copy(w->trial, w->q);
            return size;
        }
    }
}

/* Whether rounding stops the residual from falling: close to the solution, or where the correction is a negligible part
 * of q. */
static int model_stagnates(const model_state *state, model_size before, model_size now)
{
    const model_scratch *w = &state->scratch;
    const model_real correction = model_norm(w->correction), reach = model_norm(w->q);
    if (!(now.relative > state->tolerance))
        return 0;
    if (now.norm > before.norm / 2 && correction <= MODEL_NEGLIGIBLE * reach)
        return 1;
    return before.relative <= MODEL_NEAR && now.relative <= MODEL_NEAR &&
           now.norm > MODEL_NUMBER(now.relative <= MODEL_VERY_NEAR ? 0.5 : 0.9) * before.norm;
}

/* Solves the equations of the step for q1: first with whole steps, which may raise the residual on the way; where these
 * do not converge, from the start with a line search. */
static int model_converge(model_state *state)
{
    enum { WHOLE_STEPS = 8 };
    model_scratch *w = &state->scratch;

    model_size size = model_predict(state);
    int whole = 1, lost = 0, stagnated = 0, taken = 0;
    while (!stagnated && !(size.relative <= state->tolerance && !lost)) {
        const int failed = lost || !model_finite(size.relative);

        if (whole && (failed || taken >= WHOLE_STEPS) && taken < state->iterations) {
            whole = lost = 0;
            model_copy(w->restart, w->q);
            size = model_residual(state, w->q);
            continue;
        }

        if (failed || taken >= state->iterations)
            return MODEL_NOT_CONVERGED;
        taken++;
        lost = !model_factor_step(state, w->q);
        if (lost)
            continue;

        if (w->decomposed)
            model_solve_decomposed(w, w->residual, w->correction);
        else
            model_solve(w->S, w->inverse, w->residual, w->correction);

        const model_size before = size;
        size = model_move(state, before, whole);
        stagnated = model_stagnates(state, before, size);
    }

    state->iterations_taken = taken;
    state->relative = size.relative;
    return MODEL_OK;
}

/* One Newton iteration from q0, with a matrix that lacks the derivative of the damping. */
static int model_iterate_once(model_state *state)
{
    model_scratch *w = &state->scratch;
    const model_real alpha = state->damping_mass, beta = state->damping_stiffness;

    model_build_step(state, state->q);
    if (!model_factor(w->S, w->inverse))
        return MODEL_NOT_DEFINITE;

    for (int i = 0; i < MODEL_R; i++)
        w->product[i] = w->a_base[i] + alpha * w->v_base[i];
    model_mass_times(state, w->product, w->residual);
    for (int i = 0; i < MODEL_R; i++)
        w->residual[i] += w->force[i] - w->external[i];

    if (beta > 0) {
        model_times(w->K, w->v_base, w->product);
        for (int i = 0; i < MODEL_R; i++)
            w->residual[i] += beta * w->product[i];
    }

    model_solve(w->S, w->inverse, w->residual, w->correction);
    for (int i = 0; i < MODEL_R; i++)
        w->q[i] = state->q[i] - w->correction[i];

    /* Where the law of an inverted element is not defined, its energy is infinite. The next step begins with K at q1.
     */
    if (!MODEL_CUBIC) {
        model_evaluate(state, w->q, 1);
        if (!model_finite(w->energy))
            return MODEL_NOT_FINITE;
    }

    state->iterations_taken = 1;
    state->relative = 0;
    return MODEL_OK;
}

int model_step(model_state *state, const model_real *force)
{
    model_scratch *w = &state->scratch;
    model_begin_step(state, force);
    if (!model_finite(model_dot(w->external, w->external)))
        return MODEL_NOT_FINITE;
    const int status = state->semi_implicit ? model_iterate_once(state) : model_converge(state);
    if (status != MODEL_OK)
        return status;
    model_follow(state, w->q);
    if (!model_finite(model_dot(w->q, w->q)) || !model_finite(model_dot(w->a, w->a)))
        return MODEL_NOT_FINITE;
    model_copy(w->q, state->q);
    model_copy(w->v, state->v);
    model_copy(w->a, state->a);
    return MODEL_OK;
}

int model_acceleration(model_state *state, const model_real *q, const model_real *v, const model_real *force,
                       model_real *a)
{
    model_scratch *w = &state->scratch;

    model_load(state, force);
    model_evaluate(state, q, state->damping_stiffness > 0);
    model_damp(state, q, v);

    for (int i = 0; i < MODEL_R; i++)
        w->residual[i] = w->external[i] - w->force[i] - w->damping[i];

    for (int i = 0; i < MODEL_MATRIX; i++)
        w->S[i] = state->density_factor * model_mass_matrix[i];
    if (!model_factor(w->S, w->inverse))
        return MODEL_NOT_FINITE;

    model_solve(w->S, w->inverse, w->residual, w->correction);
    if (!model_finite(model_dot(w->correction, w->correction)))
        return MODEL_NOT_FINITE;

    model_copy(w->correction, a);
    return MODEL_OK;
}

int model_start(model_state *state, const model_real *force)
{
    return model_acceleration(state, state->q, state->v, force, state->a);
}

/* ---- a state and its options ---- */

void model_init(model_state *state)
{
    unsigned char *bytes = (unsigned char *)state;
    for (unsigned long i = 0; i < sizeof *state; i++)
        bytes[i] = 0;
    state->dt = MODEL_NUMBER(0.01);
    state->damping_mass = model_damping_of_mesh[0];
    state->damping_stiffness = model_damping_of_mesh[1];
    state->stiffness_factor = state->density_factor = 1;
    state->newmark_beta = MODEL_NUMBER(0.25);
    state->newmark_gamma = MODEL_NUMBER(0.5);
    state->tolerance = MODEL_NUMBER(MODEL_SINGLE ? 1e-5 : 1e-10);
    state->iterations = 50;
}

int model_set_step(model_state *state, model_real dt)
{
    if (!(dt > 0) || !model_finite(dt))
        return MODEL_BAD_ARGUMENT;
    state->dt = dt;
    return MODEL_OK;
}

int model_set_damping(model_state *state, model_real alpha, model_real beta)
{
    if (!(alpha >= 0 && beta >= 0) || !model_finite(alpha) || !model_finite(beta))
        return MODEL_BAD_ARGUMENT;
    state->damping_mass = alpha;
    state->damping_stiffness = beta;
    return MODEL_OK;
}

int model_set_gravity(model_state *state, model_real x, model_real y, model_real z)
{
    if (!model_finite(x) || !model_finite(y) || !model_finite(z))
        return MODEL_BAD_ARGUMENT;
    state->gravity[0] = x;
    state->gravity[1] = y;
    state->gravity[2] = z;
    return MODEL_OK;
}

int model_set_factors(model_state *state, model_real stiffness, model_real density)
{
    if (!(stiffness > 0 && density > 0) || !model_finite(stiffness) || !model_finite(density))
        return MODEL_BAD_ARGUMENT;
    state->stiffness_factor = stiffness;
    state->density_factor = density;
    return MODEL_OK;
}

int model_set_newmark(model_state *state, model_real beta, model_real gamma)
{
    if (!(beta > 0 && beta <= 1 && gamma >= 0 && gamma <= 1))
        return MODEL_BAD_ARGUMENT;
    state->newmark_beta = beta;
    state->newmark_gamma = gamma;
    return MODEL_OK;
}

int model_set_newton(model_state *state, model_real tolerance, int iterations)
{
    if (!(tolerance > 0) || !model_finite(tolerance) || iterations < 1)
        return MODEL_BAD_ARGUMENT;
    state->tolerance = tolerance;
    state->iterations = iterations;
    return MODEL_OK;
}

int model_set_semi_implicit(model_state *state, int semi_implicit)
{
    if (semi_implicit != 0 && semi_implicit != 1)
        return MODEL_BAD_ARGUMENT;
    state->semi_implicit = semi_implicit;
    return MODEL_OK;
}

int model_set_motion(model_state *state, const model_real *q, const model_real *v)
{
    for (int i = 0; i < MODEL_R; i++)
        if ((q && !model_finite(q[i])) || (v && !model_finite(v[i])))
            return MODEL_BAD_ARGUMENT;
    for (int i = 0; i < MODEL_R; i++) {
        state->q[i] = q ? q[i] : 0;
        state->v[i] = v ? v[i] : 0;
        state->a[i] = 0;
    }
    return MODEL_OK;
}

#if MODEL_PROBES > 0
/* ---- probes ---- */

static int model_probe_product(const model_real *x, int probe, model_real out[3])
{
    if (probe < 0 || probe >= MODEL_PROBES)
        return MODEL_BAD_ARGUMENT;
    for (int c = 0; c < 3; c++)
        out[c] = model_dot(model_probe_rows[probe][c], x);
    return MODEL_OK;
}

int model_probe(const model_state *state, int probe, model_real out[3])
{
    return model_probe_product(state->q, probe, out);
}

int model_probe_velocity(const model_state *state, int probe, model_real out[3])
{
    return model_probe_product(state->v, probe, out);
}

int model_probe_rest(int probe, model_real out[3])
{
    if (probe < 0 || probe >= MODEL_PROBES)
        return MODEL_BAD_ARGUMENT;
    for (int c = 0; c < 3; c++)
        out[c] = model_probe_places[probe][c];
    return MODEL_OK;
}

int model_add_probe_force(model_real *force, int probe, const model_real f[3])
{
    if (probe < 0 || probe >= MODEL_PROBES)
        return MODEL_BAD_ARGUMENT;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < MODEL_R; i++)
            force[i] += model_probe_rows[probe][c][i] * f[c];
    return MODEL_OK;
}
#endif
