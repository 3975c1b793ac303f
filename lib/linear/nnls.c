#include "linear/gram.h"
#include "linear/nnls_internal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The algorithm works on columns and a right-hand side of length 1: x_j = w_j ‖a_j‖/‖b‖, H = AᵀA and h = Aᵀ(b − A x) in
 * that scale.
 *
 * R is the triangular factor of the active columns, A_S = Q R, without Q. Every step, with or without a column that
 * enters, solves RᵀR p = h_S with the gradient at the present x, so that each is an iterative refinement of all active
 * weights too. In between, h comes from the Gram matrix (O(nk)) where that pays; the last steps take it from A and the
 * residual itself. */

enum {
    TILE = 256,      /* columns of a block of the Gram matrix */
    CHUNK = 1024,    /* rows that a sum of columns takes at a time: 8 KiB, in the first cache */
    GROUP = 8,       /* columns that one product with a vector takes; columns that rotations pass at a time */
    SMALL = 1 << 17, /* work that threads do not pay for */
    TOGETHER = 64,   /* most columns that enter at once */
    SLOW = 8,        /* a multiplication read from memory costs as many as this in a product of blocks */
};

static const double least_norm = 1e-140, largest_norm = 1e140; /* products of two stay numbers */
static const double accepted = 1e-10;                          /* KKT residual */
static const double worth = 0.1; /* of the steepest column's gradient: with less none enters beside it */
static const double thin = 1e-6; /* below this pivot R is made from the columns, not from H */
static const double dependent = 1.5e-8, last_dependent = 1e-11; /* see `append` */

/* ---- products with the columns ---- */

/* v −= Σ coefficient_i a_i over the active columns, as given. */
static void subtract_rows(const sp_nnls_core *s, const double *coefficient, double *v, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < s->k; i++)
        sp_nnls_add(count, -coefficient[i], s->A + s->S[i] * s->stride + first, v + first);
}

static void subtract(const sp_nnls_core *s, const double *coefficient, double *v)
{
    int64_t m = s->m;
    if (m * s->k <= SMALL) {
        subtract_rows(s, coefficient, v, 0, m);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t first = 0; first < m; first += CHUNK)
        subtract_rows(s, coefficient, v, first, m - first < CHUNK ? m - first : CHUNK);
}

/* product [n] = Aᵀ v, of the columns as given. */
static void times_columns(const sp_nnls_core *s, const double *v, double *product)
{
    int64_t m = s->m, n = s->n;
    if (m * n <= SMALL) {
        cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)n, 1, s->A, (int)s->stride, v, 1, 0, product, 1);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t j = 0; j < n; j += GROUP)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)(n - j < GROUP ? n - j : GROUP), 1, s->A + j * s->stride,
                    (int)s->stride, v, 1, 0, product + j, 1);
}

/* product_i = a_i·v/‖a_i‖ over the active columns. */
static void project_one(const sp_nnls_core *s, const double *v, int64_t i, double *product)
{
    product[i] = sp_nnls_dot(s->m, s->A + s->S[i] * s->stride, v) / s->norm[s->S[i]];
}

static void project(const sp_nnls_core *s, const double *v, double *product)
{
    if (s->m * s->k <= SMALL) {
        for (int64_t i = 0; i < s->k; i++)
            project_one(s, v, i, product);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t i = 0; i < s->k; i++)
        project_one(s, v, i, product);
}

/* r = b − A w with the weights as they come out. */
static void residual_exact(sp_nnls_core *s)
{
    for (int64_t i = 0; i < s->k; i++)
        s->y[i] = s->x[s->S[i]] * (s->b_norm / s->norm[s->S[i]]);
    memcpy(s->r, s->b, (size_t)s->m * sizeof *s->r);
    subtract(s, s->y, s->r);
}

/* h = Aᵀ r/(‖a‖‖b‖) from that residual. */
static void gradient_exact(sp_nnls_core *s)
{
    int64_t n = s->n;
    residual_exact(s);
    memset(s->w, 0, (size_t)n * sizeof *s->w);
    for (int64_t i = 0; i < s->k; i++)
        s->w[s->S[i]] = s->y[i];
    s->residual = sqrt(sp_dense_dot(s->m, s->r, s->r)) / s->b_norm;
    times_columns(s, s->r, s->h);
    for (int64_t j = 0; j < n; j++)
        s->h[j] = s->norm[j] > 0 ? s->h[j] / s->norm[j] / s->b_norm : 0;
}

/* h = c − H x in these rows: four columns at a time, so that h is written a quarter as often. */
static void gram_rows(sp_nnls_core *s, int64_t first, int64_t count)
{
    double *h = s->h + first;
    int64_t i = 0;
    memcpy(h, s->c + first, (size_t)count * sizeof *h);
    for (; i + 4 <= s->k; i += 4) {
        const double *column[4], *x = s->x;
        for (int q = 0; q < 4; q++)
            column[q] = s->H + s->S[i + q] * s->H_room + first;
        sp_nnls_subtract_four(count, column, (double[]){x[s->S[i]], x[s->S[i + 1]], x[s->S[i + 2]], x[s->S[i + 3]]}, h);
    }
    for (; i < s->k; i++)
        sp_nnls_add(count, -s->x[s->S[i]], s->H + s->S[i] * s->H_room + first, h);
}

/* h = c − H x, and the residual from it: ‖b − A x‖² = bᵀb − xᵀc − xᵀh, good to about 1e-7 of ‖b‖. */
static void gradient_gram(sp_nnls_core *s)
{
    int64_t n = s->n;
    if (n * s->k <= SMALL) {
        gram_rows(s, 0, n);
    } else {
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
        for (int64_t first = 0; first < n; first += CHUNK / 2)
            gram_rows(s, first, n - first < CHUNK / 2 ? n - first : CHUNK / 2);
    }
    double square = 1;
    for (int64_t i = 0; i < s->k; i++)
        square -= s->x[s->S[i]] * (s->c[s->S[i]] + s->h[s->S[i]]);
    s->residual = sqrt(fmax(square, 0));
}

/* The upper triangle of H at columns [first, end). */
static void gram_square(sp_nnls_core *s, int64_t first, int64_t end)
{
    double *H = s->H + first * s->H_room + first;
    for (int64_t j = 0; j < end - first; j++)
        memset(H + j * s->H_room, 0, (size_t)(j + 1) * sizeof *H);
    sp_gram_add(s->m, end - first, s->A + first * s->stride, s->stride, H, s->H_room);
}

void sp_nnls_gram_columns(sp_nnls_core *s, int64_t first)
{
    int64_t n = s->n, ld = s->H_room, width = n - first;
    int64_t tile = n >= 4 * TILE ? TILE
                   : n > TILE    ? TILE / 2
                                 : TILE,
            above = (first + tile - 1) / tile, right = (width + tile - 1) / tile, tiles = above * right + right * right;
    if (width == 1) { /* one column is a product with a vector */
        times_columns(s, s->A + first * s->stride, s->H + first * ld);
    } else if (n <= SP_NNLS_FEW && s->m <= SP_NNLS_SHORT) {
        sp_nnls_gram_small(s, first);
    } else if (tiles == 1) {
        gram_square(s, 0, n);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(s->context->threads)
        for (int64_t t = 0; t < tiles; t++) {
            int64_t top, left = first + t % right * tile, left_end = left + tile < n ? left + tile : n, top_end;
            if (t < above * right) {
                top = t / right * tile;
                top_end = top + tile < first ? top + tile : first;
            } else {
                top = first + (t - above * right) / right * tile;
                top_end = top + tile < n ? top + tile : n;
            }
            if (top > left)
                continue;
            if (top == left)
                gram_square(s, left, left_end);
            else
                cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(top_end - top), (int)(left_end - left),
                            (int)s->m, 1, s->A + top * s->stride, (int)s->stride, s->A + left * s->stride,
                            (int)s->stride, 0, s->H + left * ld + top, (int)ld);
        }
    }
    for (int64_t j = first; j < n; j++) {
        double *column = s->H + j * ld, by = s->norm[j] > 0 ? 1 / s->norm[j] : 0;
        for (int64_t i = 0; i < j; i++)
            column[i] = s->norm[i] > 0 ? column[i] * by / s->norm[i] : 0;
        column[j] = 1;
    }
    for (int64_t from = 0; from < n; from += 64) /* the other triangle, in blocks that stay in the cache */
        for (int64_t j = from > first ? from : first; j < n; j++)
            for (int64_t i = from; i < from + 64 && i < j; i++)
                s->H[i * ld + j] = s->H[j * ld + i];
}

/* ---- the factor ---- */

static int make_space_active(sp_nnls_core *s)
{
    if (s->k < s->k_room)
        return SP_OK;
    int64_t rank = s->m < s->n ? s->m : s->n, capacity = s->k_room > 0 ? 2 * s->k_room : rank < 32 ? rank : 32;
    int64_t *S = sp_nnls_memory(s, capacity);
    if (S && s->k > 0)
        memcpy(S, s->S, (size_t)s->k * sizeof *S);
    if (S) {
        sp_nnls_memory_drop(s, s->S);
        s->S = S;
    }
    sp_nnls_enlarge(s, 5, (double **[]){&s->g, &s->p, &s->rho, &s->y, &s->inverse}, s->k, capacity);
    sp_nnls_enlarge_square(s, &s->R, s->k, &s->k_room, capacity);
    if (s->pool.failed) {
        s->pool.failed = false; /* what was there is whole */
        return sp_fail_memory(s->context);
    }
    return SP_OK;
}

/* Column j at the end of R: ρ = R⁻ᵀ A_Sᵀ a_j above the pivot δ = √(1 − ρᵀρ), the sine of its angle with the active
 * columns. Where a pivot is thin that difference has lost its digits: then the part of a_j outside their span is formed
 * as a vector and projected a second time (corrected seminormal equations: Björck, Park, Eldén 1994), as good as a QR
 * factorization.
 *
 * False where δ is too small. Were the column to enter, its weight would be h_j/δ², and the rounding of A w, ε times
 * that, more than the h_j that was to be removed once δ² < ε. As h_j ≤ δ‖r‖, little is lost without it. */
static bool append(sp_nnls_core *s, int64_t j)
{
    int64_t k = s->k, m = s->m;
    double *rho = s->rho, *y = s->y;
    const double *a = s->A + j * s->stride;
    if (k >= m)
        return false;
    if (s->H) {
        for (int64_t i = 0; i < k; i++)
            rho[i] = s->H[j * s->H_room + s->S[i]];
    } else {
        project(s, a, rho);
        for (int64_t i = 0; i < k; i++)
            rho[i] /= s->norm[j];
    }
    sp_nnls_solve_transposed(s, rho);
    double pivot = sqrt(fmax(1 - sp_nnls_dot(k, rho, rho), 0));
    if (pivot < thin) {
        for (int64_t i = 0; i < m; i++)
            s->e[i] = a[i] / s->norm[j];
        memcpy(y, rho, (size_t)k * sizeof *y);
        for (int pass = 0; pass < 2; pass++) {
            sp_nnls_solve_upper(s, y);
            for (int64_t i = 0; i < k; i++)
                y[i] /= s->norm[s->S[i]];
            subtract(s, y, s->e);
            if (pass == 1)
                break;
            project(s, s->e, y);
            sp_nnls_solve_transposed(s, y);
            cblas_daxpy((int)k, 1, y, 1, rho, 1);
        }
        pivot = sqrt(sp_dense_dot(m, s->e, s->e));
    }
    if (!(pivot > s->least))
        return false;
    memcpy(s->R + k * s->k_room, rho, (size_t)k * sizeof *rho);
    s->R[k * s->k_room + k] = pivot;
    s->inverse[k] = 1 / pivot;
    s->S[k] = j;
    s->state[j] = SP_NNLS_ACTIVE;
    s->k++;
    return true;
}

/* Removes active column `at` from R: those behind it move one to the left, and rotations of neighbouring rows bring
 * back the triangle. The rotations pass GROUP columns at once, since in one column each waits for the one before. */
static void leave(sp_nnls_core *s, int64_t at)
{
    int64_t k = s->k, ld = s->k_room;
    double *cosine = s->rho, *sine = s->y, *R = s->R;
    for (int64_t first = at; first < k - 1; first += GROUP) {
        int64_t width = k - 1 - first < GROUP ? k - 1 - first : GROUP;
        double *column[GROUP], carry[GROUP];
        for (int64_t q = 0; q < GROUP; q++) {
            column[q] = R + (first + (q < width ? q : width - 1)) * ld;
            if (q < width)
                memcpy(column[q], column[q] + ld, (size_t)(first + q + 2) * sizeof *R);
        }
        if (width == GROUP) {
            for (int q = 0; q < GROUP; q++)
                carry[q] = column[q][at];
            for (int64_t i = at; i < first; i++)
                for (int q = 0; q < GROUP; q++) {
                    double next = column[q][i + 1];
                    column[q][i] = cosine[i] * carry[q] + sine[i] * next;
                    carry[q] = cosine[i] * next - sine[i] * carry[q];
                }
            for (int q = 0; q < GROUP; q++)
                column[q][first] = carry[q];
        }
        for (int64_t q = 0; q < width; q++) {
            double *v = column[q];
            int64_t last = first + q;
            for (int64_t i = width == GROUP ? first : at; i < last; i++) {
                double here = v[i], next = v[i + 1];
                v[i] = cosine[i] * here + sine[i] * next;
                v[i + 1] = cosine[i] * next - sine[i] * here;
            }
            double length =
                sqrt(v[last] * v[last] +
                     v[last + 1] * v[last + 1]); /* of a column of the length 1: no square is out of range */
            cosine[last] = v[last] / length;
            sine[last] = v[last + 1] / length;
            v[last] = length;
            s->inverse[last] = 1 / length;
        }
    }
    s->state[s->S[at]] = SP_NNLS_OUTSIDE;
    s->x[s->S[at]] = 0;
    memmove(s->S + at, s->S + at + 1, (size_t)(k - 1 - at) * sizeof *s->S);
    memmove(s->g + at, s->g + at + 1, (size_t)(k - 1 - at) * sizeof *s->g);
    s->k--;
}

/* ---- the active set ---- */

static void forget_aside(sp_nnls_core *s)
{
    for (int64_t j = 0; s->aside > 0 && j < s->n; j++)
        if (s->state[j] == SP_NNLS_ASIDE) {
            s->state[j] = SP_NNLS_OUTSIDE;
            s->aside--;
        }
}

static void set_aside(sp_nnls_core *s, int64_t j)
{
    s->state[j] = SP_NNLS_ASIDE;
    s->aside++;
}

/* From x towards the minimum over the active columns, p away; columns whose weight reaches 0 on the way leave. On the
 * remaining ones the gradient at the point reached is 1 − α of what it was, since H_SS p = h_S. `entered`: so many of
 * the last columns are new; of several, those that the others push below 0 leave at once. Returns how many left. */
static int64_t move(sp_nnls_core *s, int64_t entered, int64_t *changes)
{
    bool changed = entered > 0;
    int64_t left = 0;
    for (int64_t i = 0; i < s->k; i++)
        s->g[i] = s->h[s->S[i]];
    for (bool first = true; s->k > 0; first = false) {
        memcpy(s->p, s->g, (size_t)s->k * sizeof *s->p);
        sp_nnls_solve_transposed(s, s->p);
        sp_nnls_solve_upper(s, s->p);
        if (first && entered == 1 && !(s->p[s->k - 1] > 0)) { /* only by rounding: exactly, it is h_j/δ² */
            int64_t j = s->S[s->k - 1];
            leave(s, s->k - 1);
            set_aside(s, j);
            changed = false;
            break;
        }
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
        for (int64_t i = s->k - 1; i >= 0; i--)
            if (i == blocking || (s->x[s->S[i]] <= 0 && s->p[i] <= 0)) {
                leave(s, i);
                left++;
            }
        changed = true;
    }
    *changes += left + (changed ? entered : 0);
    if (changed)
        forget_aside(s);
    return left;
}

/* Weights that are nothing but rounding leave: columns that entered together, and are not needed beside each other, may
 * keep some. */
static void leave_rounding(sp_nnls_core *s, int64_t *changes)
{
    double sum = 1;
    for (int64_t i = 0; i < s->k; i++)
        sum += s->x[s->S[i]];
    for (int64_t i = s->k - 1; i >= 0; i--)
        if (s->x[s->S[i]] <= 64 * DBL_EPSILON * sum) {
            leave(s, i);
            ++*changes;
        }
}

/* The active weights as accurately as they can be had: the gradient of rounding, squared condition times, is an error
 * of the weights that it no longer shows. So steps with the residual itself go on as long as they pay and each is less
 * than half of the one before. */
static void refine(sp_nnls_core *s, int64_t *changes)
{
    double last = INFINITY;
    for (int round = 0; round < 20 && s->k > 0; round++) {
        double step = 0, largest = 0;
        residual_exact(s);
        project(s, s->r, s->p);
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
        if (step <= 1e-8 * largest) /* a step shrinks the error about as much as it is itself, rounding times squared
                                       condition: the next is rounding */
            break;
    }
}

/* The largest gradient above `noise` of a column that may enter, or −1. */
static int64_t steepest(const sp_nnls_core *s, double noise)
{
    int64_t best = -1;
    for (int64_t j = 0; j < s->n; j++)
        if (s->state[j] == SP_NNLS_OUTSIDE && s->h[j] > noise) {
            noise = s->h[j];
            best = j;
        }
    return best;
}

/* The largest gradient of an active column, either way; and that or the largest of the others. */
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

/* The Gram matrix where it takes no more than a few times the memory of A. */
static bool gram_fits(const sp_nnls_core *s)
{
    return s->n <= 4 * s->m || s->n <= 4096;
}

static int gram_new(sp_nnls_core *s)
{
    sp_nnls_enlarge_square(s, &s->H, 0, &s->H_room, s->n);
    if (!s->H)
        return sp_fail_memory(s->context);
    sp_nnls_gram_columns(s, 0);
    return SP_OK;
}

/* ---- the descent ---- */

/* Lawson and Hanson's algorithm from the present x, as a machine of the steps below: each begins with the gradient at
 * x, from which the next follows (choose).
 *
 * A column enters above the rounding of its gradient; rounding could still let columns come and go in a circle: each
 * that comes again with a gradient near it raises that bar.
 *
 * Towards the minimum itself columns enter together, twice as many each time that all stay, and a quarter as many, down
 * to one, where more than a quarter leaves: a gradient costs more than their entering, and one alone always lowers the
 * residual. Where a tolerance or a bound stops before, the way decides how many columns there are, and they enter one
 * by one.
 *
 * Gradients: with H a step costs n·k, from A m·(n + k); H costs m·n²/2 once, at SLOW times the speed. Without a
 * tolerance or a bound, about half of min(m, n) columns are expected; otherwise H is made when as much was spent
 * without. */
enum step {
    ENTER,       /* a column has entered: others beside it, and solve for all that are active */
    SOLVE_AGAIN, /* for those that are active: their gradient, from H, is more than rounding and halves each time */
    REFINE,      /* the weights, by the residual itself; gradients come from A from then on */
    ADMIT_THIN,  /* columns that were set aside, since without them the minimum is missed */
    LOOK_CLOSER, /* the residual is so near the tolerance that H cannot tell: gradients from A from then on */
    END
};

typedef struct descent {
    sp_nnls_core *s;
    const sp_nnls_parameters *p;
    bool alone;        /* columns enter one by one */
    int64_t together;  /* so many may enter at once */
    int64_t expected;  /* columns, of which the use of H is guessed */
    int64_t limit;     /* of changes */
    int64_t changes;   /* columns that entered or left */
    int64_t steps;     /* gradients */
    bool exact;        /* gradients come from A */
    bool refined;      /* nothing has entered since REFINE */
    double last;       /* `active` at the last SOLVE_AGAIN since a column entered, else INFINITY */
    bool from_columns; /* this gradient came from A */
    double noise;      /* the rounding of this gradient, raised */
    double bar;        /* above which a column enters */
    double active;     /* the largest gradient of an active column, either way */
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

/* The gradient at x and its rounding; makes H where that is worth it. */
static int find_gradient(descent *d)
{
    sp_nnls_core *s = d->s;
    int status = SP_OK;
    if (s->context->cancel && *s->context->cancel)
        return sp_fail(s->context, SP_SYSTEM, "cancelled");
    if (!s->H && !d->exact && gram_fits(s) && 2 * SLOW * (d->expected > d->steps ? d->expected : d->steps) >= s->n)
        SP_TRY(gram_new(s));
    d->from_columns = d->exact || !s->H;
    if (d->from_columns)
        gradient_exact(s);
    else
        gradient_gram(s);
    double sum = 1;
    for (int64_t i = 0; i < s->k; i++)
        sum += s->x[s->S[i]];
    d->noise = 4 * DBL_EPSILON * sum * s->raised;
    d->bar = fmax(d->noise, d->p->least);
done:
    return status;
}

/* The column *j of the largest gradient above the bar that can enter does; those that cannot are set aside. −1: none.
 */
static int enter_steepest(sp_nnls_core *s, double bar, int64_t *j)
{
    int status = SP_OK;
    while ((*j = steepest(s, bar)) >= 0) {
        SP_TRY(make_space_active(s));
        if (append(s, *j))
            break;
        set_aside(s, *j);
    }
done:
    return status;
}

/* What follows from the gradient. The first column enters here: whether one can is what decides. */
static int choose(descent *d, enum step *next)
{
    sp_nnls_core *s = d->s;
    double tolerance = d->p->tolerance;
    int64_t j = -1;
    int status = SP_OK;
    if (tolerance > 0 && s->residual * s->residual <= tolerance * tolerance + (d->from_columns ? 0 : 1e-13)) {
        *next = d->from_columns ? END : LOOK_CLOSER;
        return SP_OK;
    }
    *next = END;
    if (d->changes > d->limit && d->from_columns)
        return SP_OK;
    d->active = worst_active(s);
    if (!has_all(d) && d->changes <= d->limit)
        SP_TRY(enter_steepest(s, d->bar, &j));
    if (j >= 0)
        *next = ENTER;
    else if (!d->from_columns && d->active > d->noise && d->active < 0.5 * d->last)
        *next = SOLVE_AGAIN;
    else if (!d->refined)
        *next = REFINE;
    else if (s->aside > 0 && s->least > last_dependent && kkt(s) > fmax(accepted, d->p->least) && !has_all(d))
        *next = ADMIT_THIN;
done:
    return status;
}

/* ENTER: the last active column has entered. */
static int enter_others(descent *d)
{
    sp_nnls_core *s = d->s;
    int64_t entered = 1, j = s->S[s->k - 1];
    double bar = fmax(d->bar, worth * s->h[j]);
    int status = SP_OK;
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
    d->last = INFINITY;
    d->refined = false;
    int64_t left = move(s, entered, &d->changes);
    if (!d->alone)
        d->together = left == 0             ? (2 * d->together < TOGETHER ? 2 * d->together : TOGETHER)
                      : 4 * left <= entered ? d->together
                      : d->together > 4     ? d->together / 4
                                            : 1;
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

/* Of a b of no length, or without columns. */
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
    int status = SP_OK;
    *report = (sp_nnls_report){.reached = true};
    s->raised = 1;
    s->least = dependent;
    memset(s->been, 0, (size_t)s->n * sizeof *s->been);
    forget_aside(s);
    if (s->b_norm == 0 || s->n == 0) {
        report_empty(s, parameters->tolerance, report);
        return SP_OK;
    }
    SP_TRY(make_space_active(s));
    do {
        SP_TRY(find_gradient(&d));
        SP_TRY(choose(&d, &step));
        SP_TRY(take(&d, step));
        d.steps++;
    } while (step != END);
    SP_TRY(report_end(&d, report));
done:
    return status;
}

/* ---- what is given ---- */

static int check_norm(sp_context *context, const char *what, int64_t index, int64_t m, const double *v, double square,
                      double *norm)
{
    char name[64];
    *norm = sqrt(square);
    if (*norm >= least_norm && *norm <= largest_norm)
        return SP_OK;
    bool zero = true;
    snprintf(name, sizeof name, index >= 0 ? "%s %lld" : "%s", what, (long long)index);
    for (int64_t i = 0; i < m; i++) {
        if (!isfinite(v[i]))
            return sp_fail(context, SP_INPUT, "nonnegative weights: row %lld of %s is not finite", (long long)i, name);
        zero &= v[i] == 0;
    }
    if (zero)
        return SP_OK;
    return sp_fail(context, SP_INPUT, "nonnegative weights: the length of %s, %.3g, is not between 1e-140 and 1e140",
                   name, *norm);
}

int sp_nnls_make_space(sp_nnls_core *s, int64_t capacity)
{
    if (capacity <= s->capacity)
        return SP_OK;
    sp_nnls_enlarge(s, 6, (double **[]){&s->norm, &s->c, &s->x, &s->w, &s->h, &s->bytes}, s->n, capacity);
    if (s->pool.failed) {
        s->pool.failed = false;
        return sp_fail_memory(s->context);
    }
    s->capacity = capacity;
    s->state = (uint8_t *)s->bytes;
    s->been = s->state + capacity;
    memset(s->been, 0, (size_t)capacity);
    return SP_OK;
}

int sp_nnls_start(sp_nnls_core *s, sp_context *context, int64_t m, const double *b, char *local)
{
    *s = (sp_nnls_core){
        .context = context, .m = m, .stride = m, .b = b, .local = local, .local_left = local ? SP_NNLS_LOCAL : 0};
    int status = sp_dense_fits(context, m, 1);
    if (status != SP_OK)
        return status;
    if (m < 1)
        return sp_fail(context, SP_INPUT, "nonnegative weights: %lld rows", (long long)m);
    sp_nnls_enlarge(s, 2, (double **[]){&s->r, &s->e}, 0, m);
    if (!s->r)
        return sp_fail_memory(context);
    memcpy(s->r, b, (size_t)m * sizeof *b);
    return check_norm(context, "the right-hand side", -1, m, b, sp_dense_dot(m, b, b), &s->b_norm);
}

static void measure(sp_nnls_core *s, int64_t j)
{
    const double *a = s->A + j * s->stride;
    s->norm[j] = sp_nnls_dot(s->m, a, a);
    s->c[j] = sp_nnls_dot(s->m, a, s->b);
}

int sp_nnls_take(sp_nnls_core *s, int64_t n)
{
    int64_t first = s->n, m = s->m;
    int status = sp_nnls_make_space(s, n > 0 ? n : 1);
    if (status != SP_OK)
        return status;
    if (m * (n - first) <= SMALL) {
        for (int64_t j = first; j < n; j++)
            measure(s, j);
    } else {
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
        for (int64_t j = first; j < n; j++)
            measure(s, j);
    }
    for (int64_t j = first; status == SP_OK && j < n; j++) {
        status = check_norm(s->context, "column", j, m, s->A + j * s->stride, s->norm[j], &s->norm[j]);
        s->c[j] = s->norm[j] > 0 && s->b_norm > 0 ? s->c[j] / s->norm[j] / s->b_norm : 0;
        s->x[j] = s->w[j] = s->h[j] = 0;
        s->state[j] = SP_NNLS_OUTSIDE;
    }
    if (status == SP_OK)
        s->n = n;
    return status;
}

int sp_nnls_check(sp_context *context, const sp_nnls_parameters *parameters)
{
    if (!(parameters->tolerance >= 0) || parameters->most < 0 || !(parameters->least >= 0))
        return sp_fail(context, SP_INPUT, "nonnegative weights: tolerance %g and %lld weights: both must be 0 or more",
                       parameters->tolerance, (long long)parameters->most);
    return SP_OK;
}

int sp_nnls(sp_context *context, int64_t m, int64_t n, const double *A, int64_t stride, const double *b,
            const sp_nnls_parameters *parameters, double *w, sp_nnls_report *report)
{
    _Alignas(64) char local[SP_NNLS_LOCAL];
    sp_nnls_core s = {0};
    *report = (sp_nnls_report){0};
    int status = sp_nnls_check(context, parameters);
    if (status != SP_OK)
        return status;
    SP_TRY(sp_nnls_start(&s, context, m, b, local));
    SP_TRY(sp_dense_fits(context, stride, n));
    if (n < 0 || stride < m) {
        status = sp_fail(context, SP_INPUT, "nonnegative weights: %lld columns of %lld rows, %lld apart", (long long)n,
                         (long long)m, (long long)stride);
        goto done;
    }
    s.A = A;
    s.stride = stride;
    SP_TRY(sp_nnls_take(&s, n));
    status = sp_nnls_descend(&s, parameters, report);
    memcpy(w, s.w, (size_t)n * sizeof *w);
done:
    sp_pool_free(&s.pool);
    return status;
}
