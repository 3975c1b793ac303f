#include "ensemble/steps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH(m) for (int m = 0; m < SP_MOTIONS; m++)

/* As in nonlinear/newton.c and integrate/implicit.c */
static const double NEAR = 1e-6, VERY_NEAR = 1e-8, NEGLIGIBLE = 1e-12;
enum { WHOLE_STEPS = 8 };

typedef double lane_numbers[SP_MOTIONS] __attribute__((aligned(64)));

struct sp_lane_steps {
    sp_pool pool;
    const sp_lane_force *force;
    sp_integrator_parameters p;
    double tolerance;
    int64_t iterations; /* at most, of whole steps */
    sp_lane_loads loads;
    sp_lane_motion motion; /* its q and v are the state */
    int64_t n, step;       /* coordinates; steps taken */
    bool damped, stiffly;  /* any motion, and by its stiffness */

    double *a, *last_q, *last_v;            /* of the state, and of the one before */
    double *q1, *v1, *a1, *vb, *ab;         /* of the end of the step */
    double *f, *K, *D, *constant, *scratch; /* the evaluation at q1, or at the state between steps */
    double *f0, *K0;                        /* that of the state */
    double *S, *residual, *dx, *product, *drag;
    double *next_load, *momentum, *next_momentum, *late; /* integrate/impulse.c */
    double covered, cv, ca;

    lane_numbers relative, norm, scale; /* the residual at q1 */
    int64_t taken[SP_MOTIONS];
    bool given_up[SP_MOTIONS], active[SP_MOTIONS];
};

bool sp_lane_steps_apply(const sp_integrator_parameters *p)
{
    return (p->kind == SP_NEWMARK || p->kind == SP_EULER || p->kind == SP_BDF2) && !(p->most_acceleration > 0) &&
           !p->skeleton && p->first_step == 0;
}

int sp_lane_steps_new(sp_context *context, const sp_lane_force *force, const sp_integrator_parameters *parameters,
                      sp_lane_steps **result)
{
    sp_lane_steps *s = sp_memory_new(sizeof *s);
    SP_PASS(sp_allocated(context, s));
    memset(s, 0, sizeof *s);

    const int64_t n = force->r, pairs = force->pairs + SP_LANES; /* whole tiles */
    s->force = force;
    s->p = *parameters;
    s->n = n;
    s->tolerance = parameters->tolerance > 0 ? parameters->tolerance : 1e-10;
    s->iterations =
        parameters->iterations > 0 && parameters->iterations < WHOLE_STEPS ? parameters->iterations : WHOLE_STEPS;

    double **vectors[] = {&s->motion.q, &s->motion.v, &s->a,    &s->last_q,    &s->last_v,   &s->q1,
                          &s->v1,       &s->a1,       &s->vb,   &s->ab,        &s->f,        &s->residual,
                          &s->dx,       &s->product,  &s->drag, &s->next_load, &s->momentum, &s->next_momentum,
                          &s->f0,       &s->late};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&s->pool, n * SP_MOTIONS, sizeof(double));
    double **matrices[] = {&s->K, &s->K0, &s->D, &s->S, &s->constant, &s->motion.mass};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = sp_pool_new(&s->pool, pairs * SP_MOTIONS, sizeof(double));
    s->motion.scale = sp_pool_new(&s->pool, force->parts * SP_MOTIONS, sizeof(double));
    s->motion.damping = sp_pool_new(&s->pool, 2 * SP_MOTIONS, sizeof(double));
    s->scratch = sp_pool_new(&s->pool, sp_lane_force_scratch(force), sizeof(double));

    if (s->pool.failed) {
        sp_lane_steps_free(s);
        return sp_fail_memory(context);
    }
    *result = s;
    return SP_OK;
}

void sp_lane_steps_free(sp_lane_steps *s)
{
    if (!s)
        return;
    sp_pool_free(&s->pool);
    free(s);
}

sp_lane_motion *sp_lane_steps_motion(sp_lane_steps *s)
{
    return &s->motion;
}

bool sp_lane_steps_given_up(const sp_lane_steps *s, int lane)
{
    return s->given_up[lane];
}

int64_t sp_lane_steps_iterations(const sp_lane_steps *s, int lane)
{
    return s->taken[lane];
}

void sp_lane_steps_reload(sp_lane_steps *s, const sp_lane_loads *loads)
{
    s->loads = *loads;
}

void sp_lane_steps_before(const sp_lane_steps *s, int lane, double *q, double *v)
{
    for (int64_t i = 0; i < s->n; i++) {
        q[i] = s->last_q[i * SP_MOTIONS + lane];
        v[i] = s->last_v[i * SP_MOTIONS + lane];
    }
}

/* ---- vectors in lanes ---- */

/* y = a x + b y */
SP_CLONES static void combine(int64_t n, double a, const double *restrict x, double b, double *restrict y)
{
    for (int64_t i = 0; i < n * SP_MOTIONS; i++)
        y[i] = a * x[i] + b * y[i];
}

/* y += a x with a number for each motion */
SP_CLONES static void add_each(int64_t n, const double *restrict a, const double *restrict x, double *restrict y)
{
    for (int64_t i = 0; i < n; i++)
        for (int m = 0; m < SP_MOTIONS; m++)
            y[i * SP_MOTIONS + m] += a[m] * x[i * SP_MOTIONS + m];
}

/* z = c (x − y) + b */
SP_CLONES static void rate(int64_t n, double c, const double *restrict x, const double *restrict y,
                           const double *restrict b, double *restrict z)
{
    for (int64_t i = 0; i < n * SP_MOTIONS; i++)
        z[i] = c * (x[i] - y[i]) + b[i];
}

/* z = x + a y + b w */
SP_CLONES static void extrapolate(int64_t n, const double *restrict x, double a, const double *restrict y, double b,
                                  const double *restrict w, double *restrict z)
{
    for (int64_t i = 0; i < n * SP_MOTIONS; i++)
        z[i] = x[i] + a * y[i] + b * w[i];
}

/* S = a M + b K with numbers for each motion */
SP_CLONES static void add_matrices(int64_t pairs, const double *restrict a, const double *restrict M,
                                   const double *restrict b, const double *restrict K, double *restrict S)
{
    for (int64_t i = 0; i < pairs; i++)
        for (int m = 0; m < SP_MOTIONS; m++)
            S[i * SP_MOTIONS + m] = a[m] * M[i * SP_MOTIONS + m] + b[m] * K[i * SP_MOTIONS + m];
}

static void norms(int64_t n, const double *x, double norm[SP_MOTIONS])
{
    lane_numbers square;
    sp_lanes_dot(n, x, x, square);
    EACH(m) norm[m] = sqrt(square[m]);
}

/* The larger of `scale` and the norm of x. */
static void raise(int64_t n, const double *x, double scale[SP_MOTIONS])
{
    lane_numbers norm;
    norms(n, x, norm);
    EACH(m) scale[m] = fmax(scale[m], norm[m]);
}

static void copy(int64_t n, const double *x, double *y)
{
    memcpy(y, x, (size_t)(n * SP_MOTIONS) * sizeof *x);
}

static void swap(double **x, double **y)
{
    double *const kept = *x;
    *x = *y;
    *y = kept;
}

static void copy_lane(int64_t n, int m, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i * SP_MOTIONS + m] = x ? x[i * SP_MOTIONS + m] : 0;
}

/* ---- the equation ---- */

static void evaluate(sp_lane_steps *s, const double *q, const double *v)
{
    sp_lane_force_evaluate(s->force, &(sp_lane_evaluation){.scale = s->motion.scale,
                                                           .constant = s->constant,
                                                           .q = q,
                                                           .v = s->stiffly && !s->p.semi_implicit ? v : NULL,
                                                           .f = s->f,
                                                           .K = s->K,
                                                           .D = s->D,
                                                           .scratch = s->scratch});
}

/* drag = α M v + β K v */
static void find_drag(sp_lane_steps *s, const double *v)
{
    memset(s->drag, 0, (size_t)(s->n * SP_MOTIONS) * sizeof *s->drag);
    sp_lanes_times(s->n, s->motion.mass, v, s->product);
    add_each(s->n, s->motion.damping, s->product, s->drag);
    if (!s->stiffly)
        return;
    sp_lanes_times(s->n, s->K, v, s->product);
    add_each(s->n, s->motion.damping + SP_MOTIONS, s->product, s->drag);
}

/* Velocity and acceleration at the end of the step for q₁. */
static void set_end_state(sp_lane_steps *s, const double *q1)
{
    rate(s->n, s->cv, q1, s->motion.q, s->vb, s->v1);
    rate(s->n, s->ca, q1, s->motion.q, s->ab, s->a1);
}

/* r = M a₁ + f + drag − external force, at the point of the last evaluation; its norm, and that of its largest term. */
static void find_residual(sp_lane_steps *s)
{
    memset(s->scale, 0, sizeof s->scale);
    if (s->damped) {
        find_drag(s, s->v1);
        raise(s->n, s->drag, s->scale);
    }
    raise(s->n, s->f, s->scale);
    raise(s->n, s->next_load, s->scale);

    sp_lanes_times(s->n, s->motion.mass, s->a1, s->residual);
    raise(s->n, s->residual, s->scale);
    combine(s->n, 1, s->f, 1, s->residual);
    combine(s->n, -1, s->next_load, 1, s->residual);
    if (s->damped)
        combine(s->n, 1, s->drag, 1, s->residual);

    norms(s->n, s->residual, s->norm);
    EACH(m) s->relative[m] = s->scale[m] > 0 ? s->norm[m] / s->scale[m] : s->norm[m];
}

static void residual_at(sp_lane_steps *s, const double *q1)
{
    set_end_state(s, q1);
    evaluate(s, q1, s->v1);
    find_residual(s);
}

/* S = (ca + cv α) M + (1 + cv β) K + β ∂(K v)/∂q, and dx = S⁻¹ r. A motion whose S is not definite is given up. */
static void solve(sp_lane_steps *s)
{
    lane_numbers of_mass, of_stiffness;
    bool definite[SP_MOTIONS];
    const double *alpha = s->motion.damping, *beta = alpha + SP_MOTIONS;

    EACH(m)
    {
        of_mass[m] = s->ca + s->cv * alpha[m];
        of_stiffness[m] = 1 + s->cv * beta[m];
    }
    add_matrices(s->force->pairs, of_mass, s->motion.mass, of_stiffness, s->K, s->S);
    if (s->stiffly && !s->p.semi_implicit)
        add_each(s->force->pairs, beta, s->D, s->S);

    sp_lanes_solve(s->n, s->S, s->residual, s->dx, definite);
    EACH(m) s->given_up[m] |= s->active[m] && !definite[m];
}

/* ---- loads ---- */

static void mean_load(sp_lane_steps *s, double t0, double t1, double *f)
{
    s->loads.mean(s->loads.self, t0, t1, f);
}

/* The load of the step from t0 to t1 (integrate/impulse.c, for steps of one length). */
static void load_of_step(sp_lane_steps *s, double t0, double t1)
{
    const double h = s->p.step, ahead = t1 + 0.5 * h;
    if (s->p.kind == SP_NEWMARK)
        mean_load(s, t1 - s->p.gamma * h, t1 + (1 - s->p.gamma) * h, s->next_load);
    else if (s->p.kind == SP_EULER)
        mean_load(s, t0, t1, s->next_load);
    else {
        /* e_n = (W_n + ½ e_(n−1)) / 1.5 of the impulse W_n, and F_n h = now e_n − before e_(n−1) */
        const double w = s->step > 0, now = (1 + 2 * w) / (1 + w), before = w * w / (1 + w);
        mean_load(s, s->covered, ahead, s->next_momentum);
        combine(s->n, 1 / 1.5, s->late, (ahead - s->covered) / 1.5, s->next_momentum);
        combine(s->n, 0.5 / 1.5, s->momentum, 1, s->next_momentum);

        copy(s->n, s->next_momentum, s->next_load);
        combine(s->n, -before / h, s->momentum, now / h, s->next_load);
    }
}

static void accept_load(sp_lane_steps *s, double t1)
{
    if (s->p.kind != SP_BDF2)
        return;
    copy(s->n, s->next_momentum, s->momentum);
    memset(s->late, 0, (size_t)(s->n * SP_MOTIONS) * sizeof *s->late);
    s->covered = t1 + 0.5 * s->p.step;
}

/* x = M⁻¹ b; S is scratch. */
static void solve_mass(sp_lane_steps *s, const double *b, double *x)
{
    bool definite[SP_MOTIONS];
    copy(s->force->pairs, s->motion.mass, s->S);
    sp_lanes_solve(s->n, s->S, b, x, definite);
    EACH(m) s->given_up[m] |= !definite[m];
}

void sp_lane_steps_change_loads(sp_lane_steps *s, const double *change)
{
    if (s->p.kind == SP_BDF2)
        combine(s->n, s->covered - (double)s->step * s->p.step, change, 1, s->late);
    if (s->p.kind != SP_NEWMARK)
        return;
    solve_mass(s, change, s->dx);
    combine(s->n, 1, s->dx, 1, s->a);
}

/* ---- steps ---- */

void sp_lane_steps_start(sp_lane_steps *s, const sp_lane_loads *loads)
{
    const size_t bytes = (size_t)(s->n * SP_MOTIONS) * sizeof(double);
    s->loads = *loads;
    s->step = 0;
    s->covered = 0;
    s->damped = s->stiffly = false;
    EACH(m)
    {
        s->stiffly |= s->motion.damping[SP_MOTIONS + m] != 0;
        s->damped |= s->stiffly || s->motion.damping[m] != 0;
        s->given_up[m] = false;
        s->taken[m] = 0;
    }
    memset(s->a, 0, bytes);
    memset(s->momentum, 0, bytes);
    memset(s->late, 0, bytes);

    sp_lane_force_constant(s->force, s->motion.scale, s->constant);
    evaluate(s, s->motion.q, s->motion.v);
    if (s->p.kind != SP_NEWMARK)
        return;

    /* M a = F − f − drag, where F is the mean of the load up to the end of its interval; with γ = 1 it has no weight */
    const double ahead = s->p.gamma < 1 - 1e-6 ? 1 - s->p.gamma : 0.5;
    mean_load(s, 0, ahead * s->p.step, s->residual);
    combine(s->n, -1, s->f, 1, s->residual);
    if (s->damped) {
        find_drag(s, s->motion.v);
        combine(s->n, -1, s->drag, 1, s->residual);
    }
    solve_mass(s, s->residual, s->a);
}

/* a₁ = ca (q₁ − q₀) + ab, v₁ = cv (q₁ − q₀) + vb of Newmark. */
static void newmark_rates(sp_lane_steps *s)
{
    const double h = s->p.step, beta = s->p.beta, gamma = s->p.gamma;
    s->ca = 1 / (beta * h * h);
    s->cv = gamma / (beta * h);

    copy(s->n, s->a, s->ab);
    combine(s->n, -1 / (beta * h), s->motion.v, -(1 - 2 * beta) / (2 * beta), s->ab);
    copy(s->n, s->a, s->vb);
    combine(s->n, 1 - gamma / beta, s->motion.v, (1 - gamma / (2 * beta)) * h, s->vb);
}

/* The same of implicit Euler (the first step) and of BDF2. */
static void backward_rates(sp_lane_steps *s, bool second_order)
{
    const double h = s->p.step, w = second_order ? 1 : 0, back = w * w / ((1 + w) * h);
    s->cv = (1 + 2 * w) / ((1 + w) * h);
    s->ca = s->cv * s->cv;

    /* vb = back (q₋₁ − q₀), ab = cv (vb − v₀) + back (v₋₁ − v₀) */
    copy(s->n, s->last_q, s->vb);
    combine(s->n, -back, s->motion.q, back, s->vb);
    copy(s->n, s->last_v, s->ab);
    combine(s->n, -back, s->motion.v, back, s->ab);
    combine(s->n, s->cv, s->vb, 1, s->ab);
    combine(s->n, -s->cv, s->motion.v, 1, s->ab);
}

/* Newton's method starts from the extrapolated motion or from rest, whichever has the smaller residual. At rest the
 * force and the stiffness are those of the last step; the derivative of the latter, which damping needs, is not. */
static void predict(sp_lane_steps *s)
{
    const double h = s->p.step;
    lane_numbers still;
    bool any = false;

    set_end_state(s, s->motion.q);
    find_residual(s);
    memcpy(still, s->norm, sizeof still);
    swap(&s->f, &s->f0);
    swap(&s->K, &s->K0);

    extrapolate(s->n, s->motion.q, h, s->motion.v, 0.5 * h * h, s->a, s->q1);
    residual_at(s, s->q1);

    EACH(m)
    if (isfinite(still[m]) && !(s->norm[m] < still[m])) {
        copy_lane(s->n, m, s->motion.q, s->q1);
        copy_lane(s->n, m, s->f0, s->f);
        copy_lane(s->force->pairs, m, s->K0, s->K);
        any = true;
    }
    if (!any)
        return;
    set_end_state(s, s->q1);
    if (s->stiffly)
        evaluate(s, s->q1, s->v1);
    find_residual(s);
}

/* Whether rounding keeps the residual of a motion from falling (`judge` in nonlinear/newton.c). */
static bool stagnates(const sp_lane_steps *s, int m, double before, double relative_before, double correction)
{
    const double relative = s->relative[m];
    if (relative <= s->tolerance)
        return false;
    if (s->norm[m] > 0.5 * before && correction <= NEGLIGIBLE)
        return true;
    return relative_before <= NEAR && relative <= NEAR && s->norm[m] > (relative <= VERY_NEAR ? 0.5 : 0.9) * before;
}

/* One iteration of the motions that have not converged. Returns false if there are none. */
static bool iterate(sp_lane_steps *s, int64_t number)
{
    bool any = false;
    EACH(m)
    {
        s->active[m] &= !s->given_up[m] && s->relative[m] > s->tolerance;
        if (!isfinite(s->relative[m]) || (s->active[m] && number == s->iterations)) {
            s->given_up[m] = true;
            s->active[m] = false;
        }
        any |= s->active[m];
    }
    if (!any)
        return false;

    lane_numbers before, relative_before, size, change;
    memcpy(before, s->norm, sizeof before);
    memcpy(relative_before, s->relative, sizeof relative_before);
    solve(s);

    EACH(m)
    {
        s->taken[m] += s->active[m];
        if (!s->active[m] || s->given_up[m])
            copy_lane(s->n, m, NULL, s->dx);
    }
    combine(s->n, -1, s->dx, 1, s->q1);
    residual_at(s, s->q1);

    norms(s->n, s->dx, change);
    norms(s->n, s->q1, size);
    EACH(m)
    if (s->active[m] && stagnates(s, m, before[m], relative_before[m], change[m] / fmax(size[m], DBL_MIN)))
        s->active[m] = false;
    return true;
}

static void converge(sp_lane_steps *s)
{
    predict(s);
    EACH(m) s->active[m] = !s->given_up[m];
    for (int64_t number = 0; iterate(s, number); number++) {
    }
}

/* One iteration from q₀ with the force and the stiffness there. */
static void iterate_once(sp_lane_steps *s)
{
    set_end_state(s, s->motion.q);
    find_residual(s);
    EACH(m)
    {
        s->active[m] = !s->given_up[m];
        s->taken[m]++;
    }
    solve(s);

    copy(s->n, s->motion.q, s->q1);
    combine(s->n, -1, s->dx, 1, s->q1);
    set_end_state(s, s->q1);
    evaluate(s, s->q1, s->v1);
    norms(s->n, s->f, s->norm);
    EACH(m) s->given_up[m] |= !isfinite(s->norm[m]);
}

void sp_lane_steps_step(sp_lane_steps *s)
{
    const double t0 = (double)s->step * s->p.step, t1 = (double)(s->step + 1) * s->p.step;

    if (s->p.kind == SP_NEWMARK)
        newmark_rates(s);
    else
        backward_rates(s, s->p.kind == SP_BDF2 && s->step > 0);
    load_of_step(s, t0, t1);

    if (s->p.semi_implicit)
        iterate_once(s);
    else
        converge(s);

    copy(s->n, s->motion.q, s->last_q);
    copy(s->n, s->motion.v, s->last_v);
    copy(s->n, s->q1, s->motion.q);
    copy(s->n, s->v1, s->motion.v);
    copy(s->n, s->a1, s->a);
    accept_load(s, t1);
    s->step++;

    /* What is given up rests from here on, so that its numbers stay finite. */
    EACH(m)
    if (s->given_up[m]) {
        double *const vectors[] = {s->motion.q, s->motion.v, s->a, s->momentum, s->f};
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            copy_lane(s->n, m, NULL, vectors[i]);
        copy_lane(s->force->pairs, m, s->constant, s->K);
    }
}
