#include "ensemble/lanes.h"

#include <string.h>

/* Rows of a tile; tiles of Q in a chunk, whose C is 24 KiB: in the first-level cache. */
enum { TILE = SP_LANES, CHUNK_TILES = 16 };

static int64_t rounded(int64_t rows)
{
    return (rows + TILE - 1) / TILE * TILE;
}

/* The pair i ≤ j, j fastest. */
static int64_t pair_of(int64_t r, int64_t i, int64_t j)
{
    return i * r - i * (i - 1) / 2 + (j - i);
}

/* ---- the loops, for each width of registers ---- */

typedef struct kernel {
    void (*contract)(int64_t tiles, int64_t inner, const double *A, const double *x, double *y);
    void (*expand)(int64_t r, int64_t i, int64_t j, int64_t pairs, const double *C, const double *x, double *H);
    void (*combine)(int64_t r, const double *constant, const double *second, const double *q, double *f, double *K);
    void (*times)(int64_t n, const double *A, const double *x, double *y);
    void (*factor)(int64_t n, double *S, bool *definite);
    void (*substitute)(int64_t n, const double *L, double *x);
    void (*dot)(int64_t n, const double *x, const double *y, double *sum);
} kernel;

typedef double half_lanes __attribute__((vector_size(32)));
typedef double quarter_lanes __attribute__((vector_size(16)));

#define NAME(x) x##_native
#define VECTOR sp_lanes
#define ROWS 8
#define TARGET SP_NATIVE
#include "ensemble/lanes_kernel.h"

#define NAME(x) x##_narrow
#define VECTOR half_lanes
#define ROWS 4
#define TARGET SP_NARROW
#include "ensemble/lanes_kernel.h"

#define NAME(x) x##_plain
#define VECTOR quarter_lanes
#define ROWS 4
#define TARGET
#include "ensemble/lanes_kernel.h"

static const kernel *kernels(void)
{
    return sp_lanes_native() ? &kernel_native : sp_lanes_narrow() ? &kernel_narrow : &kernel_plain;
}

/* ---- coefficients ---- */

/* The coefficients of part `part` from its Gram matrix (reduced/evaluate.c has the same formulas). */
static void fill(const double *gram, int64_t full, int64_t part, sp_lane_force *s)
{
    const int64_t r = s->r, N = sp_polynomial_order(full), inner = s->parts * r, from = part * r;
#define PAIR(i, j) ((i) <= (j) ? sp_polynomial_pair(full, i, j) : sp_polynomial_pair(full, j, i))
#define A(p, q) gram[(q)*N + (p)]
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++) {
            const int64_t ij = pair_of(r, i, j);
            s->constant[part * s->pairs + ij] = A(i, j);
            for (int64_t k = 0; k < r; k++)
                *sp_lane_tile(s->first, inner, ij, from + k) = A(i, PAIR(j, k)) + A(j, PAIR(i, k)) + A(k, PAIR(i, j));
        }

    for (int64_t c = 0, i = 0, j = 0, pair = 0; c < s->chunk_count; c++) {
        double *tiles = s->second + s->chunk_tile[c] * inner * TILE;
        for (int64_t row = 0; pair < s->chunk_end[c]; pair++, j = j + 1 < r ? j + 1 : ++i)
            for (int64_t k = j; k < r; k++, row++)
                for (int64_t l = 0; l < r; l++)
                    *sp_lane_tile(tiles, inner, row, from + l) =
                        0.5 * (A(PAIR(i, j), PAIR(k, l)) + A(PAIR(i, k), PAIR(j, l)) + A(PAIR(i, l), PAIR(j, k)));
    }
#undef A
#undef PAIR
}

/* Divides the rows of Q: those of a pair i ≤ j, k = j … r − 1, stay together. */
static void divide(sp_lane_force *s)
{
    int64_t rows = 0, pair = 0;
    s->chunk_tile[0] = 0;
    for (int64_t i = 0; i < s->r; i++)
        for (int64_t j = i; j < s->r; j++) {
            if (rows > 0 && rows + s->r - j > CHUNK_TILES * TILE) {
                s->chunk_end[s->chunk_count++] = pair;
                s->chunk_tile[s->chunk_count] = s->chunk_tile[s->chunk_count - 1] + rounded(rows) / TILE;
                rows = 0;
            }
            rows += s->r - j;
            pair++;
        }
    s->chunk_end[s->chunk_count++] = pair;
    s->chunk_tile[s->chunk_count] = s->chunk_tile[s->chunk_count - 1] + rounded(rows) / TILE;

    for (int64_t c = 0; c < s->chunk_count; c++) {
        const int64_t tiles = s->chunk_tile[c + 1] - s->chunk_tile[c];
        s->most_tiles = tiles > s->most_tiles ? tiles : s->most_tiles;
    }
}

int sp_lane_force_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, bool apart,
                      sp_lane_force *force)
{
    const int64_t full = polynomials->r, pairs = r * (r + 1) / 2;
    sp_pool scratch = {0};
    if (r < 1 || r > full)
        return sp_fail(context, SP_USAGE, "%lld coordinates of a model with %lld", (long long)r, (long long)full);

    *force = (sp_lane_force){.r = r, .pairs = pairs, .parts = apart ? polynomials->part_count : 1};
    force->chunk_end = sp_pool_raw(&force->pool, pairs, sizeof *force->chunk_end);
    force->chunk_tile = sp_pool_raw(&force->pool, pairs + 1, sizeof *force->chunk_tile);
    if (!force->pool.failed)
        divide(force);
    const int64_t tiles = force->pool.failed ? 0 : force->chunk_tile[force->chunk_count], inner = force->parts * r;

    force->constant = sp_pool_raw(&force->pool, force->parts * pairs, sizeof(double));
    force->first = sp_pool_new(&force->pool, rounded(pairs) * inner, sizeof(double));
    force->second = sp_pool_new(&force->pool, tiles * TILE * inner, sizeof(double));
    const double *sum = apart ? NULL : sp_polynomials_gram(polynomials, &scratch);

    if (force->pool.failed || scratch.failed) {
        sp_pool_free(&scratch);
        sp_lane_force_free(force);
        return sp_fail_memory(context);
    }

    for (int64_t p = 0; p < force->parts; p++)
        fill(sum ? sum : polynomials->parts[p].gram, full, p, force);
    sp_pool_free(&scratch);
    return SP_OK;
}

void sp_lane_force_free(sp_lane_force *force)
{
    sp_pool_free(&force->pool);
    *force = (sp_lane_force){0};
}

int64_t sp_lane_force_scratch(const sp_lane_force *s)
{
    return SP_MOTIONS * (s->parts * s->r + rounded(s->pairs) + s->most_tiles * TILE + s->r);
}

/* ---- evaluation ---- */

void sp_lane_force_constant(const sp_lane_force *s, const double *scale, double *constant)
{
    memset(constant, 0, (size_t)(s->pairs * SP_MOTIONS) * sizeof *constant);
    for (int64_t p = 0; p < s->parts; p++)
        for (int64_t ij = 0; ij < s->pairs; ij++)
            for (int m = 0; m < SP_MOTIONS; m++)
                constant[ij * SP_MOTIONS + m] += scale[p * SP_MOTIONS + m] * s->constant[p * s->pairs + ij];
}

/* x of each part times its scale, one below another: what the coefficients of all parts are multiplied by. */
SP_CLONES static void scaled(int64_t parts, int64_t r, const double *restrict scale, const double *restrict x,
                             double *restrict y)
{
    for (int64_t p = 0; p < parts; p++, scale += SP_MOTIONS)
        for (int64_t i = 0; i < r; i++, y += SP_MOTIONS)
            for (int m = 0; m < SP_MOTIONS; m++)
                y[m] = scale[m] * x[i * SP_MOTIONS + m];
}

SP_CLONES static void twice(int64_t n, const double *restrict x, double *restrict y)
{
    for (int64_t i = 0; i < n * SP_MOTIONS; i++)
        y[i] = 2 * x[i];
}

void sp_lane_force_evaluate(const sp_lane_force *s, const sp_lane_evaluation *e)
{
    const kernel *on = kernels();
    const int64_t r = s->r, inner = s->parts * r, pair_tiles = rounded(s->pairs) / TILE;
    double *x = e->scratch, *second = x + inner * SP_MOTIONS, *C = second + pair_tiles * TILE * SP_MOTIONS,
           *fast = C + s->most_tiles * TILE * SP_MOTIONS;

    /* T·v, T·q */
    if (e->v) {
        scaled(s->parts, r, e->scale, e->v, x);
        on->contract(pair_tiles, inner, s->first, x, e->D);
        twice(r, e->v, fast);
    }
    scaled(s->parts, r, e->scale, e->q, x);
    on->contract(pair_tiles, inner, s->first, x, e->K);

    /* C = Q·q, chunk by chunk, and of it C·q and 2 C·v */
    memset(second, 0, (size_t)(s->pairs * SP_MOTIONS) * sizeof *second);
    for (int64_t c = 0, i = 0, j = 0, pair = 0; c < s->chunk_count; c++) {
        const int64_t pairs = s->chunk_end[c] - pair;
        on->contract(s->chunk_tile[c + 1] - s->chunk_tile[c], inner, s->second + s->chunk_tile[c] * inner * TILE, x, C);
        on->expand(r, i, j, pairs, C, e->q, second);
        if (e->v)
            on->expand(r, i, j, pairs, C, fast, e->D);

        for (; pair < s->chunk_end[c]; pair++)
            j = j + 1 < r ? j + 1 : ++i;
    }

    on->combine(r, e->constant, second, e->q, e->f, e->K);
}

/* ---- linear algebra ---- */

void sp_lanes_contract(int64_t rows, int64_t columns, const double *tiles, const double *x, double *y)
{
    kernels()->contract(rows / TILE, columns, tiles, x, y);
}

void sp_lanes_times(int64_t n, const double *A, const double *x, double *y)
{
    kernels()->times(n, A, x, y);
}

void sp_lanes_solve(int64_t n, double *S, const double *b, double *x, bool definite[SP_MOTIONS])
{
    const kernel *on = kernels();
    on->factor(n, S, definite);
    memcpy(x, b, (size_t)(n * SP_MOTIONS) * sizeof *x);
    on->substitute(n, S, x);
}

void sp_lanes_dot(int64_t n, const double *x, const double *y, double sum[SP_MOTIONS])
{
    kernels()->dot(n, x, y, sum);
}
