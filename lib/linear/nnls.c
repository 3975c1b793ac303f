#include "linear/nnls_internal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The algorithm uses normalized columns and right-hand side: x_j = w_j ‖a_j‖/‖b‖, H = AᵀA and h = Aᵀ(b − A x) in that
 * scale.
 *
 * R is the triangular factor of the active columns, A_S = Q R, without Q. Every step, with or without a new column,
 * solves RᵀR p = h_S with the gradient at the current x, so that each is also an iterative refinement of all active
 * weights. In between, h comes from the Gram matrix (O(nk)) if that pays. The last steps compute it from A and the
 * residual itself. */

enum {
    TOGETHER = 64, /* largest number of columns that enter at once */
    SLOW = 8,      /* reading one coefficient from memory costs as much as this many in a block product */
};

static const double accepted = 1e-10; /* KKT residual */
/* Relative to the steepest column's gradient: a column with a smaller one does not enter together with it. */
static const double together_gradient = 0.1;
static const double dependent = 1.5e-8, last_dependent = 1e-11; /* see sp_nnls_append */

/* ---- the active set ---- */

static void forget_aside(sp_nnls_core *s)
{
    for (int64_t j = 0; s->aside > 0 && j < s->n; j++)
        if (s->state[j] == SP_NNLS_ASIDE) {
            s->state[j] = SP_NNLS_INACTIVE;
            s->aside--;
        }
}

static void set_aside(sp_nnls_core *s, int64_t j)
{
    s->state[j] = SP_NNLS_ASIDE;
    s->aside++;
}

/* Moves x towards the minimum over the active columns, which is p away. Columns whose weight reaches 0 on the way
 * leave. On the remaining ones the gradient at the new point is 1 − α times the old one, since H_SS p = h_S. `entered`:
 * number of new columns, which are the last ones; if there are several, those that the others push below 0 leave at
 * once. Returns the number of columns that left. */
static int64_t move(sp_nnls_core *s, int64_t entered, int64_t *changes)
{
    bool changed = entered > 0;
    int64_t left = 0;

    /* The gradient of the active columns, which follows the steps. */
    for (int64_t i = 0; i < s->k; i++)
        s->g[i] = s->h[s->S[i]];
    for (bool first = true; s->k > 0; first = false) {
        /* RᵀR p = h_S */
        memcpy(s->p, s->g, (size_t)s->k * sizeof *s->p);
        sp_nnls_solve_transposed(s, s->p);
        sp_nnls_solve_upper(s, s->p);

        /* A weight that decreases is possible by rounding only: exactly, it is h_j/δ². */
        if (first && entered == 1 && !(s->p[s->k - 1] > 0)) {
            int64_t j = s->S[s->k - 1];
            sp_nnls_leave(s, s->k - 1);
            set_aside(s, j);
            changed = false;
            break;
        }

        /* The longest step on which no weight becomes negative. */
        double alpha = 1;
        int64_t blocking = -1;
        for (int64_t i = 0; i < s->k; i++) {
            double x = s->x[s->S[i]];
            if (x + s->p[i] <= 0 && s->p[i] < 0 && (blocking < 0 || x / -s->p[i] < alpha)) {
                alpha = x / -s->p[i];
                blocking = i;
            }
        }

        for (int64_t i = 0; i < s->k; i++)
            s->x[s->S[i]] += alpha * s->p[i];
        if (blocking < 0)
            break;

        for (int64_t i = 0; i < s->k; i++)
            s->g[i] *= 1 - alpha;

        /* The column that blocks the way leaves, and others that have become 0. */
        for (int64_t i = s->k - 1; i >= 0; i--)
            if (i == blocking || (s->x[s->S[i]] <= 0 && s->p[i] <= 0)) {
                sp_nnls_leave(s, i);
                left++;
            }
        changed = true;
    }

    *changes += left + (changed ? entered : 0);
    if (changed)
        forget_aside(s);
    return left;
}

/* Removes columns whose weights are only rounding. Columns that entered together, of which not all are needed, may have
 * such weights. */
static void leave_rounding(sp_nnls_core *s, int64_t *changes)
{
    double sum = 1;
    for (int64_t i = 0; i < s->k; i++)
        sum += s->x[s->S[i]];

    for (int64_t i = s->k - 1; i >= 0; i--)
        if (s->x[s->S[i]] <= 64 * DBL_EPSILON * sum) {
            sp_nnls_leave(s, i);
            ++*changes;
        }
}

/* Refines the active weights to full accuracy. An error of the weights of the size of rounding times the squared
 * condition no longer shows in the gradient. Steps with the residual itself therefore continue as long as each is less
 * than half of the one before. */
static void refine(sp_nnls_core *s, int64_t *changes)
{
    double last = INFINITY;
    for (int round = 0; round < 20 && s->k > 0; round++) {
        double step = 0, largest = 0;

        /* h_S = A_Sᵀ (b − A x), then RᵀR p = h_S */
        sp_nnls_residual(s);
        sp_nnls_project(s, s->r, s->p);
        for (int64_t i = 0; i < s->k; i++)
            s->p[i] = s->h[s->S[i]] = s->p[i] / s->b_norm;

        sp_nnls_solve_transposed(s, s->p);
        sp_nnls_solve_upper(s, s->p);

        for (int64_t i = 0; i < s->k; i++) {
            step = fmax(step, fabs(s->p[i]));
            largest = fmax(largest, s->x[s->S[i]]);
        }

        if (step <= 4 * DBL_EPSILON * largest || step >= 0.5 * last)
            break;
        last = step;
        move(s, 0, changes);

        /* A step reduces the error by about its own length times rounding times the squared condition: the next one
         * is rounding. */
        if (step <= 1e-8 * largest)
            break;
    }
}

/* The column with the largest gradient above `noise` that may enter, or −1. */
static int64_t steepest(const sp_nnls_core *s, double noise)
{
    int64_t best = -1;
    for (int64_t j = 0; j < s->n; j++)
        if (s->state[j] == SP_NNLS_INACTIVE && s->h[j] > noise) {
            noise = s->h[j];
            best = j;
        }
    return best;
}

/* The largest magnitude of the gradient of an active column; the next function includes the positive gradients of the
 * others. */
static double worst_active(const sp_nnls_core *s)
{
    double worst = 0;
    for (int64_t i = 0; i < s->k; i++) {
        double here = fabs(s->h[s->S[i]]);
        worst = here > worst ? here : worst;
    }
    return worst;
}

static double kkt(const sp_nnls_core *s)
{
    double worst = worst_active(s);
    for (int64_t j = 0; j < s->n; j++)
        worst = s->state[j] != SP_NNLS_ACTIVE && s->h[j] > worst ? s->h[j] : worst;
    return worst;
}

/* Returns true if the Gram matrix needs no more than a few times the memory of A. */
static bool gram_fits(const sp_nnls_core *s)
{
    return s->n <= 4 * s->m || s->n <= 4096;
}

static int gram_new(sp_nnls_core *s)
{
    sp_nnls_enlarge_square(s, &s->H, 0, &s->H_capacity, s->n);
    SP_PASS(sp_allocated(s->context, s->H));
    sp_nnls_gram_columns(s, 0);
    return SP_OK;
}

/* ---- the descent ---- */

/* Lawson and Hanson's algorithm from the current x, as a state machine of the steps below. Each begins with the
 * gradient at x, which determines the next one (choose).
 *
 * A column enters if its gradient exceeds the rounding error. Rounding could still make columns enter and leave in a
 * cycle: each column that enters again with a gradient near this bound raises it.
 *
 * On the way to the minimum several columns enter together: twice as many each time that all of them stay, and a
 * quarter as many, down to one, if more than a quarter leaves. A gradient costs more than the entering of several
 * columns, and a single column always lowers the residual. If a tolerance or a largest number stops the descent
 * earlier, the order of entering determines the number of columns, and they enter one by one.
 *
 * Gradients: with H a step costs n·k, from A it costs m·(n + k). H costs m·n²/2 once, at SLOW times the speed. Without
 * a tolerance or a largest number, about half of min(m, n) columns are expected; otherwise H is computed when the steps
 * without it have cost as much. */
enum step {
    ENTER,       /* a column has entered: enter others with it, and solve for all active columns */
    SOLVE_AGAIN, /* solve for the active columns: their gradient, from H, exceeds rounding and halves each time */
    REFINE,      /* refine the weights with the residual itself; from then on gradients are computed from A */
    ADMIT_THIN,  /* admit columns that were set aside, since without them the minimum is not reached */
    LOOK_CLOSER, /* H is not accurate enough for a residual so near the tolerance: gradients are computed from A */
    END
};

typedef struct descent {
    sp_nnls_core *s;
    const sp_nnls_parameters *p;
    bool alone;        /* columns enter one by one */
    int64_t together;  /* number of columns that may enter at once */
    int64_t expected;  /* expected number of columns, from which the use of H is estimated */
    int64_t limit;     /* largest number of changes */
    int64_t changes;   /* columns that entered or left */
    int64_t steps;     /* number of gradients */
    bool exact;        /* gradients are computed from A */
    bool refined;      /* no column has entered since REFINE */
    double last;       /* `active` at the last SOLVE_AGAIN since a column entered, else INFINITY */
    bool from_columns; /* this gradient was computed from A */
    double noise;      /* the rounding error of this gradient, raised */
    double bar;        /* lower bound of the gradient of a column that enters */
    double active;     /* largest magnitude of the gradient of an active column */
} descent;

static descent descent_new(sp_nnls_core *s, const sp_nnls_parameters *p)
{
    int64_t expected = p->tolerance > 0 ? 0 : (s->m < s->n ? s->m : s->n) / 2;
    return (descent){.s = s,
                     .p = p,
                     .alone = p->tolerance > 0 || p->most > 0 || p->least > 0,
                     .together = 1,
                     .expected = p->most > 0 && p->most < expected ? p->most : expected,
                     .limit = 30 * s->n + 100,
                     .last = INFINITY};
}

static bool has_all(const descent *d)
{
    return d->p->most > 0 && d->s->k >= d->p->most;
}

/* Computes the gradient at x and its rounding error; computes H first if that pays. */
static int find_gradient(descent *d)
{
    sp_nnls_core *s = d->s;

    if (s->context->cancel && *s->context->cancel)
        return sp_fail(s->context, SP_SYSTEM, "cancelled");

    /* H pays when the steps without it, or those that are expected, have cost as much. */
    if (!s->H && !d->exact && gram_fits(s) && 2 * SLOW * (d->expected > d->steps ? d->expected : d->steps) >= s->n)
        SP_PASS(gram_new(s));

    d->from_columns = d->exact || !s->H;
    if (d->from_columns)
        sp_nnls_gradient(s);
    else
        sp_nnls_gradient_gram(s);

    double sum = 1;
    for (int64_t i = 0; i < s->k; i++)
        sum += s->x[s->S[i]];
    d->noise = 4 * DBL_EPSILON * sum * s->raised;

    d->bar = fmax(d->noise, d->p->least);
    return SP_OK;
}

/* Enters the column *j with the largest gradient above the bar; those that cannot enter are set aside. −1: none. */
static int enter_steepest(sp_nnls_core *s, double bar, int64_t *j)
{
    while ((*j = steepest(s, bar)) >= 0) {
        SP_PASS(sp_nnls_make_space_active(s));
        if (sp_nnls_append(s, *j))
            break;
        set_aside(s, *j);
    }
    return SP_OK;
}

/* Selects the next step from the gradient. The first column enters here, since the choice depends on whether one can.
 */
static int choose(descent *d, enum step *next)
{
    sp_nnls_core *s = d->s;
    double tolerance = d->p->tolerance;
    int64_t j = -1;

    /* With the gradient of H the residual is known to 1e-7 only. */
    if (tolerance > 0 && s->residual * s->residual <= tolerance * tolerance + (d->from_columns ? 0 : 1e-13)) {
        *next = d->from_columns ? END : LOOK_CLOSER;
        return SP_OK;
    }

    *next = END;
    if (d->changes > d->limit && d->from_columns)
        return SP_OK;

    d->active = worst_active(s);
    if (!has_all(d) && d->changes <= d->limit)
        SP_PASS(enter_steepest(s, d->bar, &j));

    if (j >= 0)
        *next = ENTER;
    else if (!d->from_columns && d->active > d->noise && d->active < 0.5 * d->last)
        *next = SOLVE_AGAIN;
    else if (!d->refined)
        *next = REFINE;
    else if (s->aside > 0 && s->least > last_dependent && kkt(s) > fmax(accepted, d->p->least) && !has_all(d))
        *next = ADMIT_THIN;
    return SP_OK;
}

/* ENTER: the last active column has just entered. */
static int enter_others(descent *d)
{
    sp_nnls_core *s = d->s;
    int64_t entered = 1, j = s->S[s->k - 1];
    double bar = fmax(d->bar, together_gradient * s->h[j]);
    int status = SP_OK;

    /* A column that enters again near the bound of rounding raises it. */
    if (s->been[j] && s->h[j] < 64 * d->noise / s->raised)
        s->raised = fmin(1.25 * s->raised, 64);
    s->been[j] = true;

    while (entered < d->together) {
        SP_TRY(enter_steepest(s, bar, &j));
        if (j < 0)
            break;
        s->been[j] = true;
        entered++;
    }

    /* A new column starts the refinement anew. */
    d->last = INFINITY;
    d->refined = false;

    int64_t left = move(s, entered, &d->changes);

    if (d->alone)
        goto done;
    /* Twice as many next time if all have stayed, a quarter as many if more than a quarter left. */
    if (left == 0)
        d->together = 2 * d->together < TOGETHER ? 2 * d->together : TOGETHER;
    else if (4 * left > entered)
        d->together = d->together > 4 ? d->together / 4 : 1;
done:
    return status;
}

static int take(descent *d, enum step step)
{
    switch (step) {
    case ENTER:
        return enter_others(d);
    case SOLVE_AGAIN:
        d->last = d->active;
        move(d->s, 0, &d->changes);
        break;
    case REFINE:
        leave_rounding(d->s, &d->changes);
        refine(d->s, &d->changes);
        d->refined = d->exact = true;
        break;
    case ADMIT_THIN:
        d->s->least = last_dependent;
        forget_aside(d->s);
        break;
    case LOOK_CLOSER:
        d->exact = true;
        break;
    case END:
        break;
    }
    return SP_OK;
}

/* For a b of length zero, or no columns. */
static void report_empty(sp_nnls_core *s, double tolerance, sp_nnls_report *report)
{
    memset(s->w, 0, (size_t)s->n * sizeof *s->w);
    memcpy(s->r, s->b, (size_t)s->m * sizeof *s->r);
    report->residual = s->b_norm > 0;
    report->reached = s->b_norm == 0 || tolerance == 0 || tolerance >= 1;
}

static int report_end(const descent *d, sp_nnls_report *report)
{
    const sp_nnls_core *s = d->s;
    double tolerance = d->p->tolerance;

    report->iterations = d->changes;
    report->positive = s->k;
    report->residual = s->residual;
    report->kkt = kkt(s);

    bool bounded = (has_all(d) || report->kkt <= d->p->least) && d->active <= accepted;
    report->reached = tolerance > 0 ? s->residual <= tolerance : report->kkt <= accepted;
    if (report->kkt > accepted && !bounded && !(tolerance > 0 && report->reached))
        return sp_fail(
            s->context, SP_NUMERICAL,
            "nonnegative weights: rounding leaves a KKT residual of %.2g with %lld of %lld columns after %lld changes",
            report->kkt, (long long)s->k, (long long)s->n, (long long)d->changes);
    return SP_OK;
}

int sp_nnls_descend(sp_nnls_core *s, const sp_nnls_parameters *parameters, sp_nnls_report *report)
{
    descent d = descent_new(s, parameters);
    enum step step = END;

    *report = (sp_nnls_report){.reached = true};
    s->raised = 1;
    s->least = dependent;
    memset(s->been, 0, (size_t)s->n * sizeof *s->been);
    forget_aside(s);

    if (s->b_norm == 0 || s->n == 0) {
        report_empty(s, parameters->tolerance, report);
        return SP_OK;
    }

    SP_PASS(sp_nnls_make_space_active(s));
    do {
        SP_PASS(find_gradient(&d));
        SP_PASS(choose(&d, &step));
        SP_PASS(take(&d, step));
        d.steps++;
    } while (step != END);

    return report_end(&d, report);
}
