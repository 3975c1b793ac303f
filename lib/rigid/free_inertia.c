/* The constant integrals of a free body. */
#include "rigid/free_internal.h"

#include "geometry/orient.h"
#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

void sp_inertia_free(sp_inertia *inertia)
{
    sp_pool_free(&inertia->pool);
    *inertia = (sp_inertia){0};
}

static int new_inertia(sp_context *context, int64_t r, sp_inertia *inertia)
{
    *inertia = (sp_inertia){.r = r};
    inertia->mean = sp_pool_new(&inertia->pool, 3 * r, sizeof(double));
    inertia->N = sp_pool_new(&inertia->pool, 9 * r, sizeof(double));
    inertia->Q = sp_pool_new(&inertia->pool, 9 * r * r, sizeof(double));
    inertia->M = sp_pool_new(&inertia->pool, r * r, sizeof(double));
    inertia->slope = sp_pool_new(&inertia->pool, SLOPES * r, sizeof(double));
    inertia->curve = sp_pool_new(&inertia->pool, SLOPES * r * r, sizeof(double));

    if (!inertia->pool.failed)
        return SP_OK;
    sp_inertia_free(inertia);
    return sp_fail_memory(context);
}

/* J and the slopes at rest, and the derivatives of the slopes, from the other integrals. */
static void set_polynomials(sp_inertia *t)
{
    static const int first[INERTIA] = {0, 1, 2, 1, 2, 0}, second[INERTIA] = {0, 1, 2, 2, 0, 1};
    const int64_t r = t->r, square = r * r;

    /* J = tr(S) I − S, and its derivatives from those of S: ∂_jS_ac = N_acj + N_caj at rest */
    for (int k = 0; k < INERTIA; k++) {
        const int a = first[k], c = second[k];
        t->J[k] = (a == c ? t->S[0] + t->S[4] + t->S[8] : 0) - t->S[3 * a + c];
        for (int64_t j = 0; j < r; j++) { /* ∂_jS_ac at rest and its derivatives */
            if (a == c)
                for (int d = 0; d < 3; d++)
                    t->slope[k * r + j] += 2 * t->N[4 * d * r + j];
            t->slope[k * r + j] -= t->N[(3 * a + c) * r + j] + t->N[(3 * c + a) * r + j];
            for (int64_t i = 0; i < r; i++) {
                double *to = t->curve + k * square + j * r + i;
                if (a == c)
                    *to += 2 * t->M[j * r + i];
                *to -= t->Q[(3 * a + c) * square + i * r + j] + t->Q[(3 * c + a) * square + i * r + j];
            }
        }
    }

    /* G_c = Σ ε_cad N_ad: the antisymmetric parts of N and Q */
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, d = (c + 2) % 3; /* ε_cad = 1 */
        for (int64_t j = 0; j < r; j++) {
            t->slope[(INERTIA + c) * r + j] = t->N[(3 * a + d) * r + j] - t->N[(3 * d + a) * r + j];
            for (int64_t i = 0; i < r; i++)
                t->curve[(INERTIA + c) * square + j * r + i] =
                    t->Q[(3 * a + d) * square + i * r + j] - t->Q[(3 * d + a) * square + i * r + j];
        }
    }
}

/* Computes mass, centre and the means of U. The lumped mass of a vertex is the integral of its shape function, which is
 * exact for these. */
static void integrate_means(const sp_mesh *mesh, const double *mass, const double *U, sp_inertia *inertia)
{
    int64_t r = inertia->r, rows = 3 * mesh->vertex_count;

    /* The sum of lumped masses times a field is its integral. */
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        inertia->mass += mass[v];
        for (int a = 0; a < 3; a++)
            inertia->centre[a] += mass[v] * mesh->vertices[3 * v + a];
    }
    for (int a = 0; a < 3; a++)
        inertia->centre[a] /= inertia->mass;

    for (int64_t j = 0; j < r; j++)
        for (int a = 0; a < 3; a++) {
            double sum = 0;
            for (int64_t v = 0; v < mesh->vertex_count; v++)
                sum += mass[v] * U[j * rows + 3 * v + a];
            inertia->mean[a * r + j] = sum / inertia->mass;
        }
}

/* Extracts S, N, Q and M from the integrals g [width, width] of products of the fields Ũ_ai, at a r + i, and X̃_a, at 3
 * r + a. */
static void sort_products(const double *g, sp_inertia *inertia)
{
    int64_t r = inertia->r, width = 3 * r + 3;
#define PRODUCT(k, l) (0.5 * (g[(k)*width + (l)] + g[(l)*width + (k)]))

    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            inertia->S[3 * a + b] = PRODUCT(3 * r + a, 3 * r + b);
            for (int64_t j = 0; j < r; j++) {
                inertia->N[(3 * a + b) * r + j] = PRODUCT(3 * r + a, b * r + j);
                for (int64_t i = 0; i < r; i++) {
                    double product = PRODUCT(a * r + i, b * r + j);
                    inertia->Q[((3 * a + b) * r + i) * r + j] = product;
                    if (a == b)
                        inertia->M[i * r + j] += product;
                }
            }
        }
#undef PRODUCT
}

int sp_inertia_of_body(sp_context *context, const sp_fe_space *body, bool lumped, int64_t r, const double *U,
                       sp_inertia *inertia)
{
    const sp_mesh *mesh = body->mesh;
    int64_t vertices = mesh->vertex_count, rows = 3 * vertices, width = 3 * r + 3;
    sp_pool scratch = {0};
    int status;

    *inertia = (sp_inertia){0};

    SP_TRY(sp_dense_fits(context, rows, width));
    SP_TRY(new_inertia(context, r, inertia));
    double *mass = sp_pool_raw(&scratch, vertices, sizeof *mass), *g = sp_pool_raw(&scratch, width * width, sizeof *g);
    double *fields = sp_pool_raw(&scratch, vertices * width, sizeof *fields),
           *product = sp_pool_new(&scratch, vertices * width, sizeof *product);

    SP_TRY(sp_allocated(context, !scratch.failed));

    sp_fe_space_vertex_mass(body, lumped, mass);
    integrate_means(mesh, mass, U, inertia);

    /* Fields relative to their means: y = X̃ + Ũ q */
    for (int64_t v = 0; v < vertices; v++)
        for (int a = 0; a < 3; a++) {
            for (int64_t j = 0; j < r; j++)
                fields[v * width + a * r + j] = U[j * rows + 3 * v + a] - inertia->mean[a * r + j];
            fields[v * width + 3 * r + a] = mesh->vertices[3 * v + a] - inertia->centre[a];
        }

    if (lumped)
        for (int64_t i = 0; i < vertices * width; i++)
            product[i] = mass[i / width] * fields[i];
    else
        sp_fe_space_mass_times(context, body, width, fields, product);

    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)width, (int)width, (int)vertices, 1, fields, (int)width,
                product, (int)width, 0, g, (int)width);

    sort_products(g, inertia);
    set_polynomials(inertia);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_inertia_free(inertia);
    return status;
}

/* Volume, first and second moments of the solid inside a closed surface, by cones from `apex` over its triangles. For
 * the tetrahedron 0, a, b, c they are d/6, d/24 s and d/120 (aaᵀ + bbᵀ + ccᵀ + ssᵀ) with d = a·(b × c), s = a + b + c.
 * extent: ∑|d|/6. */
static void integrate_cones(const sp_surface *surface, const double apex[3], double *volume, double *extent,
                            double first[3], double second[9])
{
    *volume = *extent = 0;
    memset(first, 0, 3 * sizeof *first);

    memset(second, 0, 9 * sizeof *second);

    /* Cones whose apex is near the solid cancel little. */
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        double x[4][3] = {{0}}, normal[3]; /* the corners and their sum */
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) {
                x[k][a] = surface->vertices[3 * surface->triangles[3 * t + k] + a] - apex[a];
                x[3][a] += x[k][a];
            }

        sp_cross3(x[1], x[2], normal);
        double d = sp_dot3(x[0], normal);
        *volume += d / 6;
        *extent += fabs(d) / 6;

        for (int a = 0; a < 3; a++) {
            first[a] += d / 24 * x[3][a];
            for (int b = 0; b < 3; b++)
                for (int k = 0; k < 4; k++)
                    second[3 * a + b] += d / 120 * x[k][a] * x[k][b];
        }
    }
}

/* Eigenvalues of a symmetric 3 × 3 matrix, ascending; NaN if they are not found. */
static void principal(const double matrix[9], double value[3])
{
    double copy[9], work[102];
    memcpy(copy, matrix, sizeof copy);
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', 3, copy, 3, value, work, 102) != 0)
        value[0] = value[1] = value[2] = NAN;
}

int sp_inertia_of_surface(sp_context *context, const sp_surface *surface, double density, sp_inertia *inertia)
{
    sp_surface oriented = {0};
    sp_orient_report report;
    int status;

    *inertia = (sp_inertia){0};
    if (!(density > 0 && isfinite(density)))
        return sp_fail(context, SP_INPUT, "the density is %g kg/m³", density);

    /* The repair finds out whether there is an inside, and whether it is the one that is meant. */
    SP_TRY(sp_surface_orient(context, surface, &oriented, &report));
    if (report.open_edges > 0 || report.one_sided > 0) {
        status = sp_fail(context, SP_INPUT, "the surface encloses no volume: %lld of its edges are open",
                         (long long)report.open_edges);
        goto done;
    }

    if (report.turned > 0) {
        status = sp_fail(context, SP_INPUT, "the surface is inside out: %lld of %lld triangles face inward",
                         (long long)report.turned, (long long)surface->triangle_count);
        goto done;
    }

    double low[3], high[3], apex[3] = {0}, volume = 0, extent = 0, first[3], second[9], spread[3];
    sp_surface_box(&oriented, low, high);
    if (oriented.triangle_count > 0)
        for (int a = 0; a < 3; a++)
            apex[a] = 0.5 * (low[a] + high[a]);

    integrate_cones(&oriented, apex, &volume, &extent, first, second);
    if (!(volume > 1e-12 * extent && isfinite(volume))) {
        status = sp_fail(context, SP_INPUT, "the surface encloses a volume of %g m³", volume);
        goto done;
    }

    SP_TRY(new_inertia(context, 0, inertia));
    inertia->mass = density * volume;

    /* Moments about the centre of mass (Steiner): S = ρ (second − first firstᵀ / V) */
    for (int a = 0; a < 3; a++) {
        inertia->centre[a] = apex[a] + first[a] / volume;
        for (int b = 0; b < 3; b++)
            inertia->S[3 * a + b] = density * (second[3 * a + b] - first[a] * first[b] / volume);
    }

    /* Σ ρ x xᵀ of a solid is positive definite. */
    set_polynomials(inertia);
    principal(inertia->S, spread);
    if (!(spread[0] > 0)) /* parts of the surface have the opposite orientation */
        status = sp_fail(context, SP_INPUT,
                         "the surface encloses no solid: the mean square of its extent along an axis is %g m²",
                         spread[0] / inertia->mass);
done:
    sp_surface_free(&oriented);
    if (status != SP_OK)
        sp_inertia_free(inertia);
    return status;
}

int sp_inertia_of_numbers(sp_context *context, double mass, const double centre[3], const double J[6],
                          sp_inertia *inertia)
{
    const double trace = J[0] + J[1] + J[2], tensor[9] = {J[0], J[5], J[4], J[5], J[1], J[3], J[4], J[3], J[2]};
    double moment[3];

    *inertia = (sp_inertia){0};
    if (!(mass > 0 && isfinite(mass)))
        return sp_fail(context, SP_INPUT, "the mass is %g kg", mass);
    for (int a = 0; a < 3; a++)
        if (!isfinite(centre[a]) || !isfinite(J[a]) || !isfinite(J[3 + a]))
            return sp_fail(context, SP_INPUT, "the centre of mass or the inertia tensor is not finite");

    principal(tensor, moment);
    if (!(moment[0] > 1e-12 * moment[2]))
        return sp_fail(context, SP_INPUT,
                       "the inertia tensor is not positive definite: its principal moments are %g, %g and %g kg m²",
                       moment[0], moment[1], moment[2]);

    /* J = tr(S) I − S with S ≥ 0, so that no moment exceeds the sum of the others. */
    if (moment[2] - moment[0] - moment[1] > 1e-12 * trace)
        return sp_fail(
            context, SP_INPUT,
            "no body has the principal moments of inertia %g, %g and %g kg m²: the last is above the sum of the others",
            moment[0], moment[1], moment[2]);

    SP_PASS(new_inertia(context, 0, inertia));

    inertia->mass = mass;
    for (int a = 0; a < 3; a++) {
        inertia->centre[a] = centre[a];
        for (int b = 0; b < 3; b++)
            inertia->S[3 * a + b] = (a == b ? 0.5 * trace : 0) - tensor[3 * a + b];
    }

    set_polynomials(inertia);
    return SP_OK;
}
