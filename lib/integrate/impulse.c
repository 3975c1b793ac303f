/* The external forces of steps, chosen such that the impulse of any load is exact for steps of any lengths.
 *
 * Newmark. M (v_N − v₀) = Σ h_n ((1 − γ) F_(n−1) + γ F_n). F_n is the mean force from γ h_n before its time t_n to (1 −
 * γ) h_(n+1) after it: the length of that interval is its weight in the sum. If the next step has another length
 * h_(n+1) than the length w that F_n was computed for, the impulse (1 − γ) w F_n up to t_n + (1 − γ) w is still to be
 * applied. F_n and the acceleration are then replaced by those for the impulse up to t_n + (1 − γ) h_(n+1). Central
 * differences are the same with γ = ½.
 *
 * BDF2. The changes of momentum e_n = M (v_n − v_(n−1)) by loads satisfy, with w = h_n / h_(n−1) (0 in the first step,
 * which is one of implicit Euler),
 *     ((1 + 2w) e_n − w² e_(n−1)) / (1 + w) = h_n F_n.
 * After loads have ended, with equal steps, each e is a third of the previous one, so that ½ e_n is still to come. F_n
 * is chosen such that Σ e + ½ e_n is the impulse up to t_n + ½ h_n: with W_n the impulse since t_(n−1) + ½ h_(n−1), or
 * since the start, e_n = (W_n + ½ e_(n−1)) / 1.5. With equal steps F_n is the mean of W_n. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Number of BDF2 steps whose loads still matter when a motion is continued: the next one contributes 3^-40. */
enum { REMEMBERED = 40 };

void sp_mean_force(sp_integrator *it, double t0, double t1, double *f)
{
    it->loads->mean(it->loads->self, t0, t1, f);
    if (!it->loads->prescribed || !isfinite(t1))
        return;
    assert(it->system->vertices.prescribed_inertia);
    /* M_fh (a + α v) of prescribed vertices that accelerate from v(t0) to v(t1), which `mass_times` does not include.
     */
    double *v0 = it->prescribed.u_between, *v1 = it->prescribed.v_between;
    memset(v0, 0, (size_t)it->prescribed.rows * sizeof *v0);
    memset(v1, 0, (size_t)it->prescribed.rows * sizeof *v1);
    it->loads->prescribed(it->loads->self, fmax(0, t0), it->prescribed.du, v0);
    it->loads->prescribed(it->loads->self, t1, it->prescribed.du, v1);

    for (int64_t i = 0; i < it->prescribed.rows; i++)
        v1[i] = (v1[i] - v0[i]) / (t1 - t0) + it->p.damping_mass * 0.5 * (v0[i] + v1[i]);
    it->system->vertices.prescribed_inertia(it->system->self, v1, f);
}

/* Newmark's γ; for central differences it is ½. */
static double nodal_gamma(const sp_integrator *it)
{
    return it->p.kind == SP_NEWMARK ? it->p.gamma : 0.5;
}

/* The interval of the loads of the step. */
static void step_interval(const sp_integrator *it, double *from, double *to)
{
    const double ahead = it->scheme->loads == SP_LOADS_NODAL      ? 1 - nodal_gamma(it)
                         : it->scheme->loads == SP_LOADS_BACKWARD ? 0.5
                                                                  : 0;
    *from = it->t0 + ahead * it->h;
    *to = it->t1 + ahead * it->h;
}

void sp_follow(sp_integrator *it, const double *q, const double *v, double *f)
{
    double from, to;
    memset(f, 0, (size_t)it->n * sizeof *f);
    if (!it->loads->follow)
        return;
    step_interval(it, &from, &to);
    it->loads->follow(it->loads->self, from, to, q, v, f);
}

/* j = ∫ f dt from `from` to `to`, N s, where either may be the earlier one. */
static void impulse(sp_integrator *it, double from, double to, double *j)
{
    const double low = fmin(from, to), high = fmax(from, to);
    memset(j, 0, (size_t)it->n * sizeof *j);
    if (!(high > low))
        return;

    sp_mean_force(it, low, high, j);
    for (int64_t i = 0; i < it->n; i++)
        j[i] *= to - from;
}

/* Stores the change of momentum in the step that ends, with the loads of [from, to]. */
static void remember(sp_integrator *it, double from, double to)
{
    impulse(it, from, to, it->load.force);
    for (int64_t i = 0; i < it->n; i++)
        it->load.momentum[i] = (it->load.force[i] + 0.5 * it->load.momentum[i]) / 1.5;
}

static void start_nodal(sp_integrator *it, double t, double behind)
{
    load_memory *load = &it->load;
    const double gamma = nodal_gamma(it);
    /* With γ = 1 the force at the start has no weight, and any interval serves. */
    const double ahead = behind > 0 || gamma < 1 - 1e-6 ? 1 - gamma : 0.5;

    load->interval = behind > 0 ? behind : it->p.step;
    sp_mean_force(it, t - gamma * behind, t + ahead * load->interval, load->force);
}

static void start_backward(sp_integrator *it, double t, double behind)
{
    load_memory *load = &it->load;
    const double h = it->p.step;

    load->interval = h;
    load->covered = behind > 0 ? t + 0.5 * h : t;
    memset(load->momentum, 0, (size_t)it->n * sizeof *load->momentum);

    /* The momenta of the last steps are made anew: older ones have no weight. */
    for (int64_t k = behind > 0 ? it->steps : 0, n = k > REMEMBERED ? k - REMEMBERED : 1; n <= k; n++)
        remember(it, n == 1 ? 0 : ((double)n - 0.5) * h, ((double)n + 0.5) * h);

    sp_mean_force(it, t, t + 0.5 * h, load->force);
}

void sp_force_start(sp_integrator *it, double t, double behind)
{
    load_memory *load = &it->load;

    load->interval = load->covered = load->interval_before = 0;
    if (it->loads->follow) /* in the interval that begins */
        it->loads->follow(it->loads->self, t, t + it->p.step, it->now.q, it->now.v, load->follow);

    if (it->scheme->loads == SP_LOADS_NODAL)
        start_nodal(it, t, behind);
    else if (it->scheme->loads == SP_LOADS_BACKWARD)
        start_backward(it, t, behind);
}

void sp_force_restore(sp_integrator *it)
{
    const size_t bytes = (size_t)it->n * sizeof(double);
    if (it->load.interval_before == 0)
        return;

    memcpy(it->load.force, it->load.force_before, bytes);
    memcpy(it->now.a, it->load.a_before, bytes);

    it->load.interval = it->load.interval_before;
    it->load.interval_before = 0;
}

int sp_force_retime(sp_integrator *it)
{
    const double h = it->h, part = 1 - nodal_gamma(it);
    const size_t bytes = (size_t)it->n * sizeof(double);
    double *change = it->load.next_force, most = 0, size = 0;

    if (it->scheme->loads != SP_LOADS_NODAL || part < 1e-6)
        return SP_OK;
    if (fabs(h - it->load.interval) <= 1e-12 * h)
        return SP_OK;

    /* The impulse between the old and the new end of the interval */
    impulse(it, it->t0 + part * it->load.interval, it->t0 + part * h, change);

    /* The new mean force over part · h, with the impulse that is still to come */
    for (int64_t i = 0; i < it->n; i++) {
        change[i] = (part * it->load.interval * it->load.force[i] + change[i]) / (part * h) - it->load.force[i];
        most = fmax(most, fabs(change[i]));
        size = fmax(size, fabs(it->load.force[i]));
    }

    if (most <= 1e-13 * fmax(1, it->load.interval / h) * size) /* rounding of loads that are constant */
        return SP_OK;

    memcpy(it->load.force_before, it->load.force, bytes);
    memcpy(it->load.a_before, it->now.a, bytes);
    it->load.interval_before = it->load.interval;
    it->load.interval = h;

    for (int64_t i = 0; i < it->n; i++)
        it->load.force[i] += change[i];

    /* M Δa = Δf */
    const int status = it->system->mass_solve(it->system->self, change, it->product);
    for (int64_t i = 0; status == SP_OK && i < it->n; i++)
        it->now.a[i] += it->limit_scale * it->product[i];
    return status;
}

void sp_force_of_step(sp_integrator *it)
{
    const double h = it->h, gamma = nodal_gamma(it), to = it->t1 + 0.5 * h;

    if (it->scheme->loads == SP_LOADS_NODAL)
        sp_mean_force(it, it->t1 - gamma * h, it->t1 + (1 - gamma) * h, it->load.next_force);
    else if (it->scheme->loads == SP_LOADS_MEAN)
        sp_mean_force(it, it->t0, it->t1, it->load.next_force);
    else {
        const double w = it->last_h > 0 ? h / it->last_h : 0, now = (1 + 2 * w) / (1 + w), before = w * w / (1 + w);

        impulse(it, it->load.covered, to, it->load.next_force);

        for (int64_t i = 0; i < it->n; i++) {
            const double j = it->load.next_force[i] + it->load.late[i];
            it->load.next_momentum[i] = (j + 0.5 * it->load.momentum[i]) / 1.5;
            it->load.next_force[i] = (now * it->load.next_momentum[i] - before * it->load.momentum[i]) / h;
        }
    }
}

void sp_force_advance(sp_integrator *it)
{
    memcpy(it->load.force, it->load.next_force, (size_t)it->n * sizeof *it->load.force);
    memcpy(it->load.follow, it->load.next_follow, (size_t)it->n * sizeof *it->load.follow);

    it->load.interval = it->h;
    it->load.interval_before = 0;
    if (it->scheme->loads != SP_LOADS_BACKWARD)
        return;

    memcpy(it->load.momentum, it->load.next_momentum, (size_t)it->n * sizeof *it->load.momentum);
    memset(it->load.late, 0, (size_t)it->n * sizeof *it->load.late);
    it->load.covered = it->t1 + 0.5 * it->h;
}

int sp_integrator_change_loads(sp_integrator *it, const double *change)
{
    load_memory *load = &it->load;
    if (it->scheme->loads == SP_LOADS_BACKWARD)
        for (int64_t i = 0; i < it->n; i++)
            load->late[i] += (load->covered - sp_integrator_time(it)) * change[i];
    if (!it->scheme->has_acceleration)
        return SP_OK;

    /* M Δa = Δf */
    const int status = it->system->mass_solve(it->system->self, change, it->product);
    for (int64_t i = 0; status == SP_OK && i < it->n; i++) {
        load->force[i] += change[i];
        it->now.a[i] += it->limit_scale * it->product[i];
    }
    return status;
}
