/* One step: the changes of springs before it, the scheme's step from t0 to t1 with the motion of prescribed vertices,
 * and sub-stepping if that does not converge. */
#include "integrate/internal.h"

#include <math.h>
#include <string.h>

/* Recomputes the acceleration at t0 after forces have jumped. */
static int rebalance(sp_integrator *it)
{
    if (!it->scheme->has_acceleration)
        return SP_OK;

    const int status = sp_balance_acceleration(it, it->load.force);
    for (int64_t i = 0; i < it->n; i++)
        it->now.a[i] *= it->limit_scale;

    return status;
}

/* When springs change, the stored energy jumps: the difference is counted as external work. */
static int change_springs(sp_integrator *it)
{
    const sp_system *system = it->system;
    const double before = system->force(system->self, it->now.q, NULL);
    if (!it->loads->springs(it->loads->self, it->t0, it->t1))
        return SP_OK;

    it->ledger.work += system->force(system->self, it->now.q, it->scratch) - before;
    sp_ledger_mark(it);

    SP_PASS(sp_scheme_allows_springs(it));
    if (it->scheme->force_changed)
        SP_PASS(it->scheme->force_changed(it));

    return rebalance(it);
}

/* Supports set their anchors at the start of the step. The energy that this removes is counted at once, since a failed
 * step has set the anchors too. */
static int anchor_supports(sp_integrator *it)
{
    const sp_system *system = it->system;
    const double lost = system->vertices.begin ? system->vertices.begin(system->self, it->now.q) : 0;
    it->ledger.dissipated += lost;
    sp_force_restore(it);

    return lost > 0 ? rebalance(it) : SP_OK; /* the tangential forces of the previous anchors have vanished */
}

static void apply_friction(sp_integrator *it)
{
    const sp_system *system = it->system;
    if (system->vertices.apply_friction && !it->scheme->applies_friction)
        it->ledger.dissipated +=
            system->vertices.apply_friction(system->self, it->start_q, it->now.q, it->h, it->now.v);
}

/* Trapezoidal rule: `first` is half of the work over this displacement against the forces at t0. If vertices are
 * attached to a skeleton, their displacement is known only now. */
static void count_prescribed_work(sp_integrator *it, double first)
{
    if (it->p.skeleton) {
        sp_prescribe_end(it, 0);
        first = sp_prescribed_half_work(it, it->start_q);
    }
    sp_prescribe_end(it, 1);
    it->ledger.work += first + sp_prescribed_half_work(it, it->now.q);
}

/* One step of the scheme from t0 to t1: a whole step or a sub-step. */
static int take(sp_integrator *it, double t0, double t1)
{
    int status;

    it->t0 = t0;
    it->t1 = t1;
    it->h = it->in_parts ? t1 - t0 : it->p.step;

    /* The prescribed vertices at t₀, where supports set their anchors */
    sp_prescribed_place(it, t0, 0);
    sp_prescribe_end(it, 0);
    status = anchor_supports(it);

    if (status == SP_OK)
        status = sp_force_retime(it);
    if (status != SP_OK)
        return status;

    /* The half of the trapezoidal rule at t₀ needs the positions before the step. */
    sp_prescribed_place(it, t1, 1);
    const double first = sp_prescribed_half_work(it, it->now.q);
    memcpy(it->start_q, it->now.q, (size_t)it->n * sizeof *it->start_q);

    status = it->scheme->step(it);
    if (status != SP_OK) {
        sp_prescribed_restore(it);
        return status;
    }

    it->last_h = it->h;
    apply_friction(it);
    count_prescribed_work(it, first);
    return SP_OK;
}

/* Integrates from t0 to t1, the fraction `part` of a step. If that fails, it takes two halves, each of which is halved
 * again if it fails, down to the 2^halvings-th part of [t0, t1]. */
static int take_parts(sp_integrator *it, double t0, double t1, double part, int halvings)
{
    int status = take(it, t0, t1);
    if (status != SP_NUMERICAL || halvings == 0)
        return status;

    const double middle = 0.5 * (t0 + t1);
    it->in_parts = true;
    it->report.smallest_part = fmin(it->report.smallest_part, 0.5 * part);

    status = take_parts(it, t0, middle, 0.5 * part, halvings - 1);
    return status == SP_OK ? take_parts(it, middle, t1, 0.5 * part, halvings - 1) : status;
}

int sp_integrator_step(sp_integrator *it)
{
    int status = SP_OK;

    it->t0 = (double)it->steps * it->p.step;
    it->t1 = (double)(it->steps + 1) * it->p.step;
    if (it->loads->springs)
        SP_TRY(change_springs(it));

    status = take_parts(it, it->t0, it->t1, 1, it->scheme->subdivides ? it->p.halvings : 0);
    if (it->in_parts && status == SP_OK)
        it->report.parted++;
    it->in_parts = false;

    SP_TRY(status);
    sp_ledger_add_step(it);
    it->steps++;
    it->report.steps++;
done:
    return status;
}
