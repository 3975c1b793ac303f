/* One step of a free body: Newton's method or a single iteration, and the resulting state. */
#include "rigid/free_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* x −= J⁻¹ r with the current factor. */
static int correct(sp_free_body *b)
{
    const int status = sp_free_solve(b, b->residual, 0, b->dx);
    cblas_daxpy(b->n, -1, b->dx, 1, b->x, 1);
    sp_free_set_end(b, b->x);
    return status;
}

void sp_free_follow(sp_free_body *b, const double *dqdot)
{
    if (b->simpson)
        sp_free_add_stiffness_times(b, -0.5 * b->p.step, b->next.K, dqdot, b->next.f);
}

void sp_free_keep_stiffness(sp_free_body *b)
{
    if (b->r > 0)
        memcpy(b->next.K, b->now.K, (size_t)(b->r * b->r) * sizeof *b->next.K);
}

void sp_free_count(sp_free_report *report, const sp_newton_report *newton)
{
    report->stagnated += newton->stagnated;
    report->newton_iterations += newton->iterations;
    if (newton->iterations > report->worst_iterations)
        report->worst_iterations = newton->iterations;
    report->worst_residual = fmax(report->worst_residual, newton->relative);
}

/* One more correction with the current factor reduces the residual from the tolerance to rounding: the remainder would
 * make the energy drift over many steps. */
static int polish(sp_free_body *b)
{
    const int status = correct(b);
    sp_free_follow(b, b->dx + 3);
    return status;
}

static int refuse_inverted(const sp_free_body *b, int64_t element)
{
    return sp_fail(b->context, SP_NUMERICAL,
                   "step %lld of a free body would invert element %lld; take smaller steps, or the law "
                   "stable-neo-hookean",
                   (long long)(b->report.steps + 1), (long long)element);
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const sp_free_body *b = self;
    if (b->inverted_element >= 0)
        return refuse_inverted(b, b->inverted_element);
    if (!isfinite(relative))
        return sp_fail(b->context, SP_NUMERICAL,
                       "forces of a free body are beyond the range of numbers in step %lld; take a smaller step",
                       (long long)(b->report.steps + 1));
    return sp_fail(b->context, SP_NUMERICAL,
                   "Newton's method did not converge in step %lld of a free body: residual %.1e after %lld "
                   "iterations; take a smaller step",
                   (long long)(b->report.steps + 1), relative, (long long)iterations);
}

/* The initial guess extrapolates the velocities. If this fails, a second attempt starts from constant q, with a line
 * search. */
static int newton(sp_free_body *b)
{
    const sp_newton_problem problem = {.self = b,
                                       .n = b->n,
                                       .residual = sp_free_residual,
                                       .factor = sp_free_factor,
                                       .solve = sp_free_solve,
                                       .not_converged = not_converged,
                                       .merit = SP_NEWTON_RESIDUAL,
                                       .at_least_once = true,
                                       .whole_steps = 8,
                                       .tolerance = b->p.tolerance,
                                       .iterations = b->p.iterations};
    const sp_newton_vectors vectors = {.x = b->x, .r = b->residual, .dx = b->dx, .trial = b->trial};
    sp_newton_report report;

    /* Twice the present velocities less the last ones; `still` brings q back to where it is, since q̇₁ = −q̇₀. */
    for (int k = 0; k < b->n; k++)
        b->x[k] = 2 * (k < 3 ? b->now.Omega[k] : b->now.qdot[k - 3]) - b->before[k];
    memcpy(b->still, b->now.Omega, sizeof b->now.Omega);
    for (int i = 0; i < b->r; i++)
        b->still[3 + i] = -b->now.qdot[i];

    SP_PASS(sp_newton_solve(&problem, b->still, &vectors, &report));
    if (report.iterations == 0)
        sp_free_keep_stiffness(b);
    else if (!report.stagnated)
        SP_PASS(polish(b));

    sp_free_count(&b->report, &report);
    return SP_OK;
}

static int one_iteration(sp_free_body *b)
{
    sp_newton_residual size = {0};

    memcpy(b->x, b->now.Omega, sizeof b->now.Omega);
    for (int i = 0; i < b->r; i++)
        b->x[3 + i] = b->now.qdot[i];

    sp_free_residual(b, b->x, b->residual, &size);
    if (!isfinite(size.norm) && b->inverted_element >= 0)
        return refuse_inverted(b, b->inverted_element);
    if (!isfinite(size.norm))
        return sp_fail(b->context, SP_NUMERICAL, "the forces in step %lld of a free body are not finite",
                       (long long)(b->report.steps + 1));

    SP_PASS(sp_free_factor(b, b->x, false));
    SP_PASS(correct(b));
    b->report.newton_iterations++;
    b->report.worst_iterations = 1;
    return SP_OK;
}

/* The rotation is exactly that of the step, so that R Π changes by h T up to rounding,
 * whatever remains of the residual; Ω₁ follows from Π₁. */
void sp_free_finish(sp_free_body *b, const double F[3], sp_free_state *state)
{
    const double h = b->p.step;
    const sp_free_state *now = &b->state;
    instant *next = &b->next;
    double dG_qdot[4] = {1, 0, 0, 0}, R[9];

    /* v₁ = v₀ + h F/m, c₁ = c₀ + h (v₀ + v₁)/2 */
    for (int a = 0; a < 3; a++) {
        dG_qdot[a + 1] = 0.25 * h * (b->now.Omega[a] + next->Omega[a]);
        state->v[a] = now->v[a] + h * F[a] / b->inertia->mass;
        state->c[a] = now->c[a] + 0.5 * h * (now->v[a] + state->v[a]);
    }

    /* The Cayley map of h Ω̄ as a quaternion: (1, ¼ h (Ω₀ + Ω₁)), normalized */
    sp_quaternion_normalize(dG_qdot);
    sp_quaternion_multiply(now->rotation, dG_qdot, state->rotation);
    sp_quaternion_normalize(state->rotation);
    sp_quaternion_matrix(dG_qdot, R);

    /* R₁ Π₁ = R₀ P with P = Π₀ + h R₀ᵀ T */
    sp_rotate_back(R, b->P, next->Pi);
    sp_free_set_angular_velocity(b, next);
    memcpy(state->Omega, next->Omega, sizeof state->Omega);
}

static bool all_finite(int64_t count, const double *x)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

int sp_free_check(const sp_free_body *b, const sp_free_state *state)
{
    int64_t element = b->force.inverted ? b->force.inverted(b->force.self, b->next.q) : -1;
    if (element >= 0)
        return refuse_inverted(b, element);
    if (all_finite(3, state->c) && all_finite(4, state->rotation) && all_finite(3, state->v) &&
        all_finite(3, state->Omega) && all_finite(b->r, b->next.q) && all_finite(b->r, b->next.qdot))
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL, "what comes out of step %lld of a free body is not finite",
                   (long long)(b->report.steps + 1));
}

int sp_free_begin(sp_free_body *b, const double F[3], const double T[3], const double *Q)
{
    const double h = b->p.step;
    double R[9], torque[3];
    if (!all_finite(3, F) || !all_finite(3, T) || (Q && !all_finite(b->r, Q)))
        return sp_fail(b->context, SP_NUMERICAL, "the forces on a free body in step %lld are not finite",
                       (long long)(b->report.steps + 1));

    sp_quaternion_matrix(b->state.rotation, R);
    sp_rotate_back(R, T, torque);

    /* P = Π₀ + h Rᵀ T, load = h Q */
    for (int a = 0; a < 3; a++)
        b->P[a] = b->now.Pi[a] + h * torque[a];
    for (int i = 0; i < b->r; i++)
        b->load[i] = Q ? h * Q[i] : 0;

    b->inverted_element = -1;
    sp_free_use_workspace(b);
    return SP_OK;
}

void sp_free_accept(sp_free_body *b, const sp_free_state *state)
{
    sp_free_keep_velocities(b);

    /* The instants change places: their arrays are used again. */
    instant before = b->now;
    b->now = b->next;
    b->next = before;
    b->state = *state;

    /* An unsymmetric force has no energy, but its work is summed up. */
    if (b->force.unsymmetric)
        b->work += cblas_ddot(b->r, b->mean_f, 1, b->change, 1);
    b->report.steps++;
}

int sp_free_body_step(sp_free_body *b, const double F[3], const double T[3], const double *Q)
{
    sp_free_state state;
    SP_PASS(sp_free_begin(b, F, T, Q));
    SP_PASS(b->p.semi_implicit ? one_iteration(b) : newton(b));
    sp_free_finish(b, F, &state);
    SP_PASS(sp_free_check(b, &state));
    sp_free_accept(b, &state);
    return SP_OK;
}
