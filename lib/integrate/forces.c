/* Terms of the equation of motion. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

double sp_dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double sp_norm(int64_t n, const double *x)
{
    return sqrt(sp_dot(n, x, x));
}

bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y)
{
    double alpha = it->p.damping_mass, beta = it->p.damping_stiffness;
    if (alpha == 0 && beta == 0 && !it->system->viscous_times)
        return false;

    /* α M v + β K(q) v + D(q) v */
    if (beta != 0)
        it->system->tangent_times(it->system->self, q, v, y);
    else
        memset(y, 0, (size_t)it->n * sizeof *y);
    if (alpha != 0) {
        it->system->mass_times(it->system->self, v, it->scratch);
        for (int64_t i = 0; i < it->n; i++)
            y[i] = alpha * it->scratch[i] + beta * y[i];
    } else
        for (int64_t i = 0; i < it->n; i++)
            y[i] *= beta;

    if (it->system->viscous_times) {
        it->system->viscous_times(it->system->self, q, v, it->scratch);
        for (int64_t i = 0; i < it->n; i++)
            y[i] += it->scratch[i];
    }
    return true;
}

int sp_balance_acceleration(sp_integrator *it, const double *external)
{
    /* M a = external − f(q) − damping */
    it->system->force(it->system->self, it->now.q, it->residual);
    bool damped = sp_damping_force(it, it->now.q, it->now.v, it->product);
    double size = 0;
    for (int64_t i = 0; i < it->n; i++) {
        it->residual[i] = external[i] + it->load.follow[i] - it->residual[i] - (damped ? it->product[i] : 0);
        size = fmax(size, fabs(it->residual[i]));
    }

    if (!isfinite(sp_norm(it->n, it->residual)))
        return sp_fail(it->context, SP_NUMERICAL, "the forces at t = %g s are not finite", it->t0);

    if (size == 0) {
        memset(it->now.a, 0, (size_t)it->n * sizeof *it->now.a);
        return SP_OK;
    }
    return it->system->mass_solve(it->system->self, it->residual, it->now.a);
}

void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale)
{
    double speed = sp_norm(it->n, v), reach = sp_norm(it->n, q);
    if (speed == 0)
        return;
    /* For a cubic force central differences are exact, and rounding is least over long steps. Other forces use
     * one-sided differences over so small a step that the error is a thousandth of h or less and that the material
     * allows the state. K(q) is then available, since the caller has just added it. */
    const bool cubic = it->system->cubic;
    const double s = cubic ? fmax(reach, it->h * speed) / speed : 1e-3 * it->h, weight = scale / (cubic ? 2 * s : s);

    if (!cubic)
        it->system->matrix_add(it->system->self, q, -weight, 0, false, NULL);

    for (int sign = 1; sign >= (cubic ? -1 : 1); sign -= 2) {
        for (int64_t i = 0; i < it->n; i++)
            it->scratch[i] = q[i] + sign * s * v[i];

        /* Prescribed vertices move along: the derivative is by all components. */
        for (int64_t i = 0; i < it->prescribed.rows; i++)
            it->prescribed.du[i] = it->prescribed.u[1][i] + sign * s * it->prescribed.v[1][i];
        if (it->prescribed.rows) {
            assert(it->system->vertices.prescribe);
            it->system->vertices.prescribe(it->system->self, it->prescribed.du, it->prescribed.v[1]);
        }
        it->system->matrix_add(it->system->self, it->scratch, sign * weight, 0, false, NULL);
    }

    sp_prescribe(it, 1);
}

int sp_refuse_inverted(sp_integrator *it, const double *q)
{
    int64_t element = it->system->inverted ? it->system->inverted(it->system->self, q) : -1;
    if (element < 0)
        return SP_OK;
    return sp_fail(it->context, SP_NUMERICAL,
                   "element %lld is inverted at t = %g s; take smaller steps, or the law stable-neo-hookean",
                   (long long)element, it->t1);
}
