#include "contact/deformed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mat3.h"
#include "mesh/element_geometry.h"
#include "pointshell/transfer.h"

static const double LEAST_DETERMINANT = 1e-6;
static const double LARGEST =
    1e30; /* largest entry of F and largest length in m: the inverse, below 1e67, times FARTHEST is then finite */
static const double BEYOND = 1e-6;    /* relative to the image of a box, for the rounding of inverses */
static const double FARTHEST = 1e150; /* m: its square is finite */

enum { CHUNK = 64 }; /* number of proxies whose distances are computed together */

/* The data of a query, without the proxies that are left out. */
typedef struct field_domain {
    sp_distance rest;
    int64_t first, count, usable;
    double *position[3]; /* [usable] m, current positions */
    double *inverse;     /* [usable, 3, 3] F⁻¹ */
    int64_t *proxy;      /* [usable] ascending, numbered through all domains */
} field_domain;

struct sp_deformed_field {
    sp_pool pool;
    int64_t r, domain_count, count;
    int nearest;
    field_domain *domains;
    double *points; /* [count, 3] m, at rest; this and the next two arrays may be shared */
    double *rows;   /* [count, 4, 3, r]: displacements, then their derivatives by X, Y and Z */
    double *reach;  /* [r] m */
    sp_box box;     /* m, current */
};

/* The nearest proxies, in ascending order of distance. */
typedef struct choice {
    int count;
    double square[SP_DEFORMED_NEAREST]; /* m² */
    int64_t at[SP_DEFORMED_NEAREST];
    double weight[SP_DEFORMED_NEAREST];
} choice;

static int check_domains(sp_context *context, int64_t domains, const sp_deformed_domain *domain, int nearest)
{
    if (nearest < 1 || nearest > SP_DEFORMED_NEAREST)
        return sp_fail(context, SP_USAGE, "distances from the %d nearest proxies: not between 1 and %d", nearest,
                       SP_DEFORMED_NEAREST);
    if (domains < 1)
        return sp_fail(context, SP_USAGE, "a deformed distance field of %lld domains", (long long)domains);

    for (int64_t i = 0; i < domains; i++) {
        if (domain[i].count < 1)
            return sp_fail(context, SP_USAGE, "domain %lld of the distance field has no proxies", (long long)i);
        for (int64_t k = 0; k < 3 * domain[i].count; k++)
            if (!(fabs(domain[i].points[k]) <= LARGEST))
                return sp_fail(context, SP_INPUT, "proxy %lld of domain %lld has the coordinate %g", (long long)(k / 3),
                               (long long)i, domain[i].points[k]);
    }
    return SP_OK;
}

static void measure_reach(sp_deformed_field *d)
{
    for (int64_t i = 0; i < d->count; i++)
        for (int64_t j = 0; j < d->r; j++) {
            const double *u = d->rows + 12 * d->r * i + j,
                         length = sqrt(u[0] * u[0] + u[d->r] * u[d->r] + u[2 * d->r] * u[2 * d->r]);
            d->reach[j] = fmax(d->reach[j], length);
        }
}

/* Allocates the data that change; domains have `rest`, `first` and `count`. */
static int allocate_moving(sp_context *context, sp_deformed_field *d)
{
    for (int64_t i = 0; i < d->domain_count; i++) {
        field_domain *part = &d->domains[i];
        for (int k = 0; k < 3; k++)
            part->position[k] = sp_pool_raw(&d->pool, part->count, sizeof(double));
        part->inverse = sp_pool_raw(&d->pool, 9 * part->count, sizeof(double));
        part->proxy = sp_pool_raw(&d->pool, part->count, sizeof(int64_t));
    }
    return sp_allocated(context, !d->pool.failed);
}

/* Allocates everything, and copies the proxies with their domains. */
static int allocate(sp_context *context, int64_t r, int64_t domains, const sp_deformed_domain *given, int nearest,
                    sp_deformed_field *d)
{
    d->r = r;
    d->nearest = nearest;
    d->domain_count = domains;

    for (int64_t i = 0; i < domains; i++)
        d->count += given[i].count;

    d->domains = sp_pool_new(&d->pool, domains, sizeof *d->domains);
    d->points = sp_pool_raw(&d->pool, 3 * d->count, sizeof(double));
    d->rows = sp_pool_raw(&d->pool, d->count, 12 * (size_t)r * sizeof(double));
    d->reach = sp_pool_new(&d->pool, r, sizeof(double));
    SP_PASS(sp_allocated(context, !d->pool.failed));

    int64_t first = 0;
    for (int64_t i = 0; i < domains; i++) {
        field_domain *part = &d->domains[i];
        sp_distance_of_field(given[i].field, &part->rest);
        part->first = first;
        part->count = given[i].count;
        memcpy(d->points + 3 * first, given[i].points, 3 * (size_t)part->count * sizeof(double));
        first += part->count;
    }
    return allocate_moving(context, d);
}

static int carry_proxies(sp_context *context, const sp_mesh *mesh, const double *U, sp_deformed_field *d)
{
    sp_transfer carrier;
    SP_PASS(sp_transfer_new(context, mesh, &carrier));

    for (int64_t i = 0; i < d->count; i++) {
        sp_transferred carried;
        double *rows = d->rows + 12 * d->r * i, along[SP_ELEMENT_NODES];

        sp_transfer_find(&carrier, d->points + 3 * i, &carried);
        sp_transferred_rows(&carried, 3 * mesh->vertex_count, d->r, U, carried.weight, rows);

        /* The gradients of the same weights give ∂u/∂X_k. */
        for (int k = 0; k < 3; k++) {
            for (int a = 0; a < carried.corners; a++)
                along[a] = carried.gradient[a][k];
            sp_transferred_rows(&carried, 3 * mesh->vertex_count, d->r, U, along, rows + 3 * (k + 1) * d->r);
        }
    }

    sp_transfer_free(&carrier);
    return SP_OK;
}

int sp_deformed_field_new(sp_context *context, const sp_mesh *mesh, int64_t r, const double *U, int64_t domains,
                          const sp_deformed_domain *domain, int nearest, sp_deformed_field **deformed)
{
    int status;
    sp_deformed_field *d = NULL;
    *deformed = NULL;

    SP_TRY(check_domains(context, domains, domain, nearest));
    d = calloc(1, sizeof *d);
    SP_PASS(sp_allocated(context, d));

    SP_TRY(allocate(context, r, domains, domain, nearest, d));
    SP_TRY(carry_proxies(context, mesh, U, d));
    measure_reach(d);
    sp_deformed_field_update(d, NULL);

    *deformed = d;
    d = NULL;
done:
    sp_deformed_field_free(d);
    return status;
}

int sp_deformed_field_share(sp_context *context, const sp_deformed_field *deformed, sp_deformed_field **shared)
{
    int status = SP_OK;
    sp_deformed_field *d = calloc(1, sizeof *d);
    *shared = NULL;
    SP_PASS(sp_allocated(context, d));

    /* What does not move is shared; the copy owns what does. */
    *d = *deformed;
    d->pool = (sp_pool){0};
    d->domains = sp_pool_copy(&d->pool, deformed->domains, d->domain_count, sizeof *d->domains);
    if (!d->domains)
        status = sp_fail_memory(context);
    else
        status = allocate_moving(context, d);

    if (status != SP_OK) {
        sp_deformed_field_free(d);
        return status;
    }

    sp_deformed_field_update(d, NULL);
    *shared = d;
    return SP_OK;
}

void sp_deformed_field_free(sp_deformed_field *deformed)
{
    if (!deformed)
        return;
    sp_pool_free(&deformed->pool);
    free(deformed);
}

/* F⁻¹ [row major]; returns false if it is degenerate. */
static bool invert(const double F[3][3], double inverse[9])
{
    /* Written such that any NaN gives false. */
    const double determinant = sp_determinant(F[0], F[1], F[2]);
    if (!(determinant > LEAST_DETERMINANT))
        return false;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(F[i][k]) <= LARGEST))
                return false;
    sp_invert3(F[0], determinant, inverse);
    return true;
}

/* Adds the image, under a proxy, of the box in which a field is negative. */
static void enclose_image(const field_domain *part, const double rest[3], const double now[3], const double F[3][3],
                          sp_box *box)
{
    const sp_box *inside = &part->rest.inside;
    for (int k = 0; k < 3; k++) {
        double centre = now[k], half = 0;
        for (int j = 0; j < 3; j++) {
            centre += F[k][j] * (0.5 * inside->low[j] + 0.5 * inside->high[j] - rest[j]);
            half += fabs(F[k][j]) * (0.5 * inside->high[j] - 0.5 * inside->low[j]);
        }
        half += BEYOND * (half + fabs(centre - now[k]));
        box->low[k] = fmin(box->low[k], centre - half);
        box->high[k] = fmax(box->high[k], centre + half);
    }
}

void sp_deformed_field_box(const sp_deformed_field *deformed, sp_box *box)
{
    *box = deformed->box;
}

void sp_deformed_field_update(sp_deformed_field *deformed, const double *q)
{
    const int64_t r = deformed->r;
    deformed->box = (sp_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

    for (field_domain *part = deformed->domains; part < deformed->domains + deformed->domain_count; part++) {
        part->usable = 0;
        for (int64_t i = part->first; i < part->first + part->count; i++) {
            double x[12], F[3][3]; /* displacement, followed by its derivatives by X, Y and Z */

            for (int c = 0; c < 12; c++) {
                const double *row = deformed->rows + (12 * i + c) * r;
                x[c] = 0;
                for (int64_t j = 0; j < r && q; j++)
                    x[c] += row[j] * q[j];
            }

            /* x = X + u, F = I + ∂u/∂X */
            bool near = true;
            for (int c = 0; c < 3; c++) {
                part->position[c][part->usable] = deformed->points[3 * i + c] + x[c];
                near &= fabs(part->position[c][part->usable]) <= LARGEST;
                for (int k = 0; k < 3; k++)
                    F[c][k] = (c == k) + x[3 * (k + 1) + c];
            }

            /* A proxy whose F has no inverse is left out: the next one takes its place. */
            part->proxy[part->usable] = i;
            if (!near || !invert((const double(*)[3])F, part->inverse + 9 * part->usable))
                continue;
            const double now[3] = {part->position[0][part->usable], part->position[1][part->usable],
                                   part->position[2][part->usable]};

            if (part->rest.inside.low[0] <= part->rest.inside.high[0])
                enclose_image(part, deformed->points + 3 * i, now, (const double(*)[3])F, &deformed->box);
            part->usable++;
        }
    }
}

/* Finds at most k proxies; of equally near ones the first. */
static void choose(const field_domain *part, int k, const double x[3], choice *c)
{
    double square[CHUNK];
    c->count = 0;

    for (int64_t begin = 0; begin < part->usable; begin += CHUNK) {
        const int64_t n = part->usable - begin < CHUNK ? part->usable - begin : CHUNK;
        for (int64_t i = 0; i < n; i++) {
            const double dx = x[0] - part->position[0][begin + i], dy = x[1] - part->position[1][begin + i];
            const double dz = x[2] - part->position[2][begin + i];
            square[i] = dx * dx + dy * dy + dz * dz;
        }

        /* Insertion into the ascending list of the k nearest */
        for (int64_t i = 0; i < n; i++) {
            if (c->count == k && square[i] >= c->square[k - 1])
                continue;

            int to = c->count < k ? c->count++ : k - 1;
            for (; to > 0 && square[i] < c->square[to - 1]; to--) {
                c->square[to] = c->square[to - 1];
                c->at[to] = c->at[to - 1];
            }

            c->square[to] = square[i];
            c->at[to] = begin + i;
        }
    }
}

/* Eq. 3.16 multiplied by d_min d_max, so that d_min = 0 and d_min = d_max give their limits: 1 for all of the least
 * distance. If there are fewer than k proxies, the last one has no zero weight: 1/d_max = 0. */
static void weigh(int k, choice *c)
{
    double sum = 0;
    const bool margin = c->count == k;
    const double least = sqrt(c->square[0]), most = sqrt(c->square[c->count - 1]);

    for (int i = 0; i < c->count; i++) {
        const double d = sqrt(c->square[i]);
        c->weight[i] = !(d > least) ? 1 : margin ? least * (most - d) / (d * (most - least)) : least / d;
        sum += c->weight[i];
    }

    for (int i = 0; i < c->count; i++)
        c->weight[i] /= sum;
}

/* Maps x back to the rest configuration by a usable proxy. */
static void pull_back(const sp_deformed_field *deformed, const field_domain *part, int64_t at, const double x[3],
                      double X[3])
{
    const double *inverse = part->inverse + 9 * at, *rest = deformed->points + 3 * part->proxy[at];
    const double dx = x[0] - part->position[0][at], dy = x[1] - part->position[1][at],
                 dz = x[2] - part->position[2][at];
    for (int k = 0; k < 3; k++)
        X[k] = rest[k] + inverse[3 * k] * dx + inverse[3 * k + 1] * dy + inverse[3 * k + 2] * dz;
}

static double estimate(const sp_deformed_field *deformed, const field_domain *part, const choice *c, const double x[3])
{
    double value = 0, X[3];
    for (int i = 0; i < c->count; i++) {
        if (c->weight[i] == 0)
            continue;
        pull_back(deformed, part, c->at[i], x, X);
        value += c->weight[i] * sp_distance_lookup(&part->rest, X);
    }
    return value;
}

static void estimate_gradient(const sp_deformed_field *deformed, const field_domain *part, const choice *c,
                              const double x[3], double gradient[3])
{
    double X[3], slope[3];
    for (int i = 0; i < c->count; i++) {
        const double *inverse = part->inverse + 9 * c->at[i];
        pull_back(deformed, part, c->at[i], x, X);
        sp_distance_at(&part->rest, X, slope);
        for (int k = 0; k < 3; k++)
            gradient[k] +=
                c->weight[i] * (inverse[k] * slope[0] + inverse[3 + k] * slope[1] + inverse[6 + k] * slope[2]);
    }
}

double sp_deformed_field_at(const sp_deformed_field *deformed, const double x[3], double gradient[3], int64_t *proxy)
{
    double y[3], least = INFINITY;
    choice both[2]; /* the best domain so far and the current one */
    int best = 0;
    const field_domain *counts = NULL;

    for (int k = 0; k < 3; k++) /* clamped to a range whose squares are finite; also for a NaN */
        y[k] = x[k] > FARTHEST ? FARTHEST : x[k] >= -FARTHEST ? x[k] : -FARTHEST;

    /* The domain with the least estimate counts, as for a union. */
    for (const field_domain *part = deformed->domains; part < deformed->domains + deformed->domain_count; part++) {
        choice *next = &both[!best];
        choose(part, deformed->nearest, y, next);
        if (next->count == 0)
            continue;

        weigh(deformed->nearest, next);
        const double value = estimate(deformed, part, next, y);

        if (value < least) {
            least = value;
            counts = part;
            best = !best;
        }
    }

    if (gradient)
        gradient[0] = gradient[1] = gradient[2] = 0;
    if (gradient && counts)
        estimate_gradient(deformed, counts, &both[best], y, gradient);
    if (proxy)
        *proxy = counts ? counts->proxy[both[best].at[0]] : 0;
    return least;
}

int64_t sp_deformed_field_r(const sp_deformed_field *deformed)
{
    return deformed->r;
}

const double *sp_deformed_field_rows(const sp_deformed_field *deformed, int64_t proxy)
{
    return deformed->rows + 12 * deformed->r * proxy;
}

const double *sp_deformed_field_reach(const sp_deformed_field *deformed)
{
    return deformed->reach;
}
