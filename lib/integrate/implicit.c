/* Implicit steps with the unknown q₁: M a₁ + C(q₁) v₁ + f(q₁) = external₁, where velocity and acceleration at the end
 * of the step are v₁ = cv (q₁ − q₀) + vb and a₁ = ca (q₁ − q₀) + ab. The methods are Newmark (thesis §2.9), implicit
 * Euler, and backward differences of second order, which are applied to q and to v and allow steps of different
 * lengths. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct implicit_workspace {
    double cv, ca, *vb, *ab; /* vb, ab [n] */
    double *last_q, *last_v; /* [n] at the start of the previous step, for BDF2 */
    double *restart;         /* [n] the extrapolated motion, if Newton's method restarts there */
} implicit_workspace;

static void allocate(sp_integrator *it)
{
    const sp_system *system = it->system;
    assert(system->matrix_start && system->matrix_add && system->matrix_factor && system->matrix_solve);
    assert(system->mass_times && system->mass_solve && system->tangent_times);
    implicit_workspace *w = it->workspace = sp_pool_new(&it->pool, 1, sizeof *w);
    if (!w)
        return;

    double **vectors[] = {&w->vb, &w->ab, &w->last_q, &w->last_v, &w->restart};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
}

static void remember(sp_integrator *it, sp_memory *memory)
{
    const implicit_workspace *w = it->workspace;
    sp_memory_add_vector(memory, w->last_q, it->n);
    sp_memory_add_vector(memory, w->last_v, it->n);
}

/* ---- velocity and acceleration at the end of the step ---- */

static void newmark_rates(sp_integrator *it)
{
    implicit_workspace *w = it->workspace;
    const double h = it->h, beta = it->p.beta, gamma = it->p.gamma;
    const double a2 = 1 / (beta * h), a3 = (1 - 2 * beta) / (2 * beta), a5 = 1 - gamma / beta,
                 a6 = (1 - gamma / (2 * beta)) * h;

    /* a₁ = ca (q₁ − q₀) + ab, v₁ = cv (q₁ − q₀) + vb */
    w->ca = 1 / (beta * h * h);
    w->cv = gamma / (beta * h);

    for (int64_t i = 0; i < it->n; i++) {
        w->ab[i] = -a2 * it->now.v[i] - a3 * it->now.a[i];
        w->vb[i] = a5 * it->now.v[i] + a6 * it->now.a[i];
    }
}

/* x₁' = ((1 + 2ω) x₁ − (1 + ω)² x₀ + ω² x₋₁) / ((1 + ω) h) with ω = h / h₋₁; ω = 0: Euler. */
static void backward_rates(sp_integrator *it, double ratio)
{
    implicit_workspace *w = it->workspace;
    const double h = it->h, back = ratio * ratio / ((1 + ratio) * h);

    w->cv = (1 + 2 * ratio) / ((1 + ratio) * h);
    w->ca = w->cv * w->cv;

    for (int64_t i = 0; i < it->n; i++) {
        w->vb[i] = back == 0 ? 0 : back * (w->last_q[i] - it->now.q[i]);
        w->ab[i] = w->cv * (w->vb[i] - it->now.v[i]) + (back == 0 ? 0 : back * (w->last_v[i] - it->now.v[i]));
    }
}

/* Computes velocity and acceleration for q₁. */
static void set_end_state(sp_integrator *it, const double *q1)
{
    const implicit_workspace *w = it->workspace;
    for (int64_t i = 0; i < it->n; i++) {
        const double step = q1[i] - it->now.q[i];
        it->next.a[i] = w->ca * step + w->ab[i];
        it->next.v[i] = w->cv * step + w->vb[i];
    }
}

/* ---- the equations ---- */

/* r = M a₁ + s (C(q₁) v₁ + f(q₁) − external₁ − follow(q₁, v₁)). On entry r has f; s is the scale of the acceleration
 * limit. Without βK(q)v and the part that follows the motion it is the gradient of ½ a₁ᵀMa₁ / ca + s (W(q₁) + ½α v₁ᵀMv₁
 * / cv − external₁·q₁); on entry size->potential has the energy W. */
static void finish_residual(sp_integrator *it, const double *q1, double *r, sp_newton_residual *size)
{
    const implicit_workspace *w = it->workspace;
    const double s = it->limit_scale, *external = it->load.next_force;
    double scale = s * fmax(sp_norm(it->n, r), sp_norm(it->n, external)), potential = size->potential * s;

    it->system->mass_times(it->system->self, it->next.a, it->product);
    scale = fmax(scale, sp_norm(it->n, it->product));
    potential += 0.5 / w->ca * sp_dot(it->n, it->next.a, it->product) - s * sp_dot(it->n, external, q1);

    for (int64_t i = 0; i < it->n; i++)
        r[i] = it->product[i] + s * (r[i] - external[i]);

    if (sp_damping_force(it, q1, it->next.v, it->product)) {
        scale = fmax(scale, s * sp_norm(it->n, it->product));
        potential += 0.5 * s / w->cv * sp_dot(it->n, it->next.v, it->product);
        for (int64_t i = 0; i < it->n; i++)
            r[i] += s * it->product[i];
    }

    if (it->loads->follow) {
        sp_follow(it, q1, it->next.v, it->load.next_follow);
        scale = fmax(scale, s * sp_norm(it->n, it->load.next_follow));
        for (int64_t i = 0; i < it->n; i++)
            r[i] -= s * it->load.next_follow[i];
    }

    size->scale = scale;
    size->potential = potential;
}

static void residual(sp_integrator *it, const double *q1, double *r, sp_newton_residual *size)
{
    set_end_state(it, q1);
    size->potential = it->system->force(it->system->self, q1, r);
    finish_residual(it, q1, r, size);
}

static void matrix(sp_integrator *it, const double *q1, bool definite)
{
    const implicit_workspace *w = it->workspace;
    const sp_system *system = it->system;
    const double damping = it->p.damping_stiffness, s = it->limit_scale;

    /* Newton's matrix is ∂r/∂q₁ = ca M + s (cv (αM + βK) + K + cv D). */
    system->matrix_start(system->self, w->ca + s * w->cv * it->p.damping_mass);
    system->matrix_add(system->self, q1, s * (1 + w->cv * damping), s, definite, NULL);

    if (damping != 0 && !definite && !system->constant)
        sp_add_tangent_derivative(it, q1, it->next.v, s * damping);
    /* ∂(D(q)v)/∂q is left out, since it is not symmetric. With half the derivative of D along v, a symmetric part of
     * it, Newton's method needs as many iterations or more. Measured as means over a run, on a cantilever of 1 MPa,
     * full-order and reduced, with φ = ψ. Steps of up to 4 ms with 30 to 30,000 Pa s need 2.9 to 6.7 iterations without
     * it, and 2.7 to 7.0 with it. Steps of 16 ms need 4.2 to 5.8 and 4.2 to 6.2 with up to 300 Pa s, and up to 8.8
     * and 11.9 with 3000 Pa s. With 30,000 Pa s, where all motion is creep, both need up to 25. */
    if (system->viscous_add)
        system->viscous_add(system->self, q1, s * w->cv);
}

/* Newton's method starts from the extrapolated motion or from rest at q₀, whichever has the smaller residual. After a
 * sudden load the extrapolation is far off, and at q₀ the motion of prescribed vertices may have inverted elements.
 * Returns the point at which it restarts. */
static const double *predict(sp_integrator *it)
{
    const implicit_workspace *w = it->workspace;
    const double h = it->h;
    sp_newton_residual size;

    residual(it, it->now.q, it->residual, &size);
    const double still = sp_norm(it->n, it->residual);

    /* q₀ + h v₀ + ½h² a₀ */
    for (int64_t i = 0; i < it->n; i++)
        it->next.q[i] = it->now.q[i] + h * it->now.v[i] + 0.5 * h * h * it->now.a[i];
    residual(it, it->next.q, it->residual, &size);
    const double moved = sp_norm(it->n, it->residual);

    if (isfinite(still) && !(moved < still))
        memcpy(it->next.q, it->now.q, (size_t)it->n * sizeof *it->next.q);
    if (isfinite(still))
        return it->now.q;
    memcpy(w->restart, it->next.q, (size_t)it->n * sizeof *it->next.q);
    return w->restart;
}

/* Whole steps first, then a line search in the potential, which always finds a lower one along the correction of a
 * definite matrix. */
static int converge(sp_integrator *it, const char *name, bool has_potential)
{
    const bool potential = has_potential && it->p.damping_stiffness == 0 && !it->system->nonconservative &&
                           !it->loads->follow && !(it->prescribed.rows && it->system->viscous_times);
    const step_equations equations = {.residual = residual,
                                      .matrix = matrix,
                                      .merit = potential ? SP_NEWTON_POTENTIAL : SP_NEWTON_RESIDUAL,
                                      .whole_steps = 8,
                                      .name = name};

    return sp_step_solve(it, &equations, predict(it));
}

/* ---- one semi-implicit iteration ---- */

/* f += K_fh(q₀) times the displacements of prescribed vertices in this step, which are part of the linearization. */
static void add_prescribed_displacements(sp_integrator *it, double *f)
{
    const sp_system *system = it->system;
    const prescribed_vertices *p = &it->prescribed;
    double *zero = it->trial;
    memset(zero, 0, (size_t)it->n * sizeof *zero);

    for (int64_t i = 0; i < p->rows; i++)
        p->du[i] = p->u[1][i] - p->u[0][i];

    system->vertices.prescribe(system->self, p->u[0], p->du);
    system->tangent_times(system->self, it->now.q, zero, it->product);

    for (int64_t i = 0; i < it->n; i++)
        f[i] += it->product[i];
    system->vertices.prescribe(system->self, p->u[0], p->v[1]);
}

/* One Newton iteration from q₀ with the papers' matrix; force and stiffness are computed by one evaluation. */
static int iterate_once(sp_integrator *it)
{
    const implicit_workspace *w = it->workspace;
    const sp_system *system = it->system;
    const prescribed_vertices *p = &it->prescribed;
    const double s = it->limit_scale, *q = it->now.q;
    sp_newton_residual size;

    set_end_state(it, q);
    if (p->rows) {
        assert(system->vertices.prescribe);
        system->vertices.prescribe(system->self, p->u[0], p->v[1]);
    }

    system->matrix_start(system->self, w->ca + s * w->cv * it->p.damping_mass);
    size.potential =
        system->matrix_add(system->self, q, s * (1 + w->cv * it->p.damping_stiffness), s, false, it->residual);

    if (p->rows)
        add_prescribed_displacements(it, it->residual);
    if (system->viscous_add)
        system->viscous_add(system->self, q, s * w->cv);

    finish_residual(it, q, it->residual, &size);

    SP_PASS(system->matrix_factor(system->self));
    SP_PASS(system->matrix_solve(system->self, it->residual, it->correction));

    for (int64_t i = 0; i < it->n; i++)
        it->next.q[i] = q[i] - it->correction[i];

    it->report.newton_iterations++;
    it->report.worst_iterations = 1;

    sp_prescribe(it, 1);
    return sp_refuse_inverted(it, it->next.q);
}

/* ---- the steps ---- */

/* Computes the scale of elastic, damping and external forces in this step, such that they do not accelerate q by more
 * than the limit (thesis §3.10.2). */
static int limit_acceleration(sp_integrator *it)
{
    int status;

    it->limit_scale = 1;
    if (!(it->p.most_acceleration > 0))
        return SP_OK;

    /* The acceleration at q₀ under the forces of the step, in the norm of the mass */
    memcpy(it->next.a, it->now.a, (size_t)it->n * sizeof *it->now.a);
    status = sp_balance_acceleration(it, it->load.next_force);
    const double square = status == SP_OK ? sp_dot(it->n, it->residual, it->now.a) : 0; /* residual = M a */
    memcpy(it->now.a, it->next.a, (size_t)it->n * sizeof *it->now.a);

    if (square > it->p.most_acceleration * it->p.most_acceleration) {
        it->limit_scale = it->p.most_acceleration / sqrt(square);
        it->report.chopped++;
    }
    return status;
}

/* Adds work and dissipation, by the trapezoidal rule or with the forces at the end of the step alone. damping_power is
 * that of the damping force at the start of the step. */
static void count_energies(sp_integrator *it, bool trapezoidal, double damping_power)
{
    const load_memory *load = &it->load;

    for (int64_t i = 0; i < it->n; i++) {
        const double force = load->force[i] + load->follow[i], next_force = load->next_force[i] + load->next_follow[i];
        it->ledger.work +=
            it->limit_scale * (trapezoidal ? 0.5 * (force + next_force) : next_force) * (it->next.q[i] - it->now.q[i]);
    }

    if (!sp_damping_force(it, it->next.q, it->next.v, it->product))
        return;
    const double power = sp_dot(it->n, it->next.v, it->product);
    it->ledger.dissipated += it->h * (trapezoidal ? 0.5 * (damping_power + power) : power);
}

static void accept(sp_integrator *it)
{
    const implicit_workspace *w = it->workspace;
    const size_t bytes = (size_t)it->n * sizeof(double);

    memcpy(w->last_q, it->now.q, bytes);
    memcpy(w->last_v, it->now.v, bytes);

    memcpy(it->now.q, it->next.q, bytes);
    memcpy(it->now.v, it->next.v, bytes);
    memcpy(it->now.a, it->next.a, bytes);
    sp_force_advance(it);
}

/* Performs the step whose rates are set. name: of the method, for messages. has_potential: the residual is a gradient
 * if forces have energies. */
static int step(sp_integrator *it, const char *name, bool has_potential, bool trapezoidal)
{
    sp_force_of_step(it);
    SP_PASS(limit_acceleration(it));

    /* For the trapezoidal rule, before q moves */
    const double damping_power =
        sp_damping_force(it, it->now.q, it->now.v, it->product) ? sp_dot(it->n, it->now.v, it->product) : 0;

    sp_prescribe(it, 1);
    SP_PASS(it->p.semi_implicit ? iterate_once(it) : converge(it, name, has_potential));

    set_end_state(it, it->next.q);
    sp_follow(it, it->next.q, it->next.v, it->load.next_follow);

    count_energies(it, trapezoidal, damping_power);
    accept(it);
    return SP_OK;
}

static int step_newmark(sp_integrator *it)
{
    newmark_rates(it);
    return step(it, "Newton's method in the Newmark step", it->p.gamma > 0, true);
}

static int step_euler(sp_integrator *it)
{
    backward_rates(it, 0);
    return step(it, "Newton's method in the step of implicit Euler", true, false);
}

static int step_bdf2(sp_integrator *it)
{
    backward_rates(it, it->last_h > 0 ? it->h / it->last_h : 0);
    return step(it, "Newton's method in the BDF2 step", true, true);
}

static int start_newmark(sp_integrator *it)
{
    return sp_balance_acceleration(it, it->load.force);
}

const sp_scheme sp_scheme_newmark = {.name = "Newmark",
                                     .refuses = SP_SOLVES_VELOCITIES | SP_HAS_SKELETON,
                                     .tolerance = 1e-10,
                                     .subdivides = true,
                                     .has_acceleration = true,
                                     .loads = SP_LOADS_NODAL,
                                     .allocate = allocate,
                                     .start = start_newmark,
                                     .step = step_newmark,
                                     .remember = remember};

const sp_scheme sp_scheme_euler = {.name = "implicit Euler",
                                   .refuses = SP_SOLVES_VELOCITIES | SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT,
                                   .tolerance = 1e-10,
                                   .subdivides = true,
                                   .loads = SP_LOADS_MEAN,
                                   .allocate = allocate,
                                   .step = step_euler,
                                   .remember = remember};

const sp_scheme sp_scheme_bdf2 = {.name = "BDF2",
                                  .refuses =
                                      SP_SOLVES_VELOCITIES | SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT | SP_HAS_FRICTION,
                                  .tolerance = 1e-10,
                                  .subdivides = true,
                                  .loads = SP_LOADS_BACKWARD,
                                  .allocate = allocate,
                                  .step = step_bdf2,
                                  .remember = remember};
