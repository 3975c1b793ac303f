#include "reduced/certificate.h"

#include "assembly/elastic.h"
#include "linear/cholesky.h"
#include "reduced/cubic.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { WIDTH = SP_STORE_WIDTH };

void sp_certificate_size(const sp_fe_space *space, int64_t r, int64_t loads, double *bytes, double *flops)
{
    const double n = (double)space->dof_count, m = (double)sp_certificate_columns(r, loads);
    *bytes = 8 * n * m;
    *flops = 4 * n * m * m; /* each column is projected twice against all earlier ones, by two products */
}

/* ---- construction ---- */

/* Everything that the columns are made of. */
typedef struct construction {
    sp_context *context;
    sp_fe_space *space;
    int64_t r, rows, n;
    const double *U;
    bool lumped;
    sp_sparse K;
    sp_cholesky *factor;
    sp_pool pool;
    double *mass;   /* [vertices] lumped; NULL: consistent */
    double *field;  /* [rows, WIDTH] */
    double *force;  /* [n, WIDTH] */
    double *z;      /* [n, WIDTH] */
    double *check;  /* [n, WIDTH] */
    sp_store store; /* [n, columns] */
    int64_t filled, columns;
    double residual;
} construction;

/* Raises the largest residual of the solves. */
static void check_solves(construction *c, int64_t width)
{
    sp_sparse_times(c->context, &c->K, width, c->z, c->check);
    for (int64_t j = 0; j < width; j++) {
        const double *f = c->force + j * c->n, *p = c->check + j * c->n;
        double square = 0;
        for (int64_t i = 0; i < c->n; i++)
            square += (p[i] - f[i]) * (p[i] - f[i]);
        const double size = sqrt(sp_dense_dot(c->n, f, f)), part = size > 0 ? sqrt(square) / size : 0;
        c->residual = fmax(c->residual, isnan(part) ? INFINITY : part); /* fmax drops NaN */
    }
}

/* Appends K⁻¹ times the forces `field`, or with `solved` the displacements themselves. */
static int append(construction *c, int64_t width, bool solved)
{
    for (int64_t j = 0; j < width; j++)
        sp_fe_space_gather(c->space, c->field + j * c->rows, c->force + j * c->n);
    if (!solved) {
        SP_PASS(sp_cholesky_solve(c->factor, width, c->force, c->z));
        check_solves(c, width);
    }

    SP_PASS(sp_store_write(c->context, &c->store, 0, c->n, c->filled, width, solved ? c->force : c->z));
    c->filled += width;
    return sp_progress(c->context, 0.3 * (double)c->filled / (double)c->columns);
}

/* to = M times the displacements from [rows], of all vertices. */
static void mass_times(construction *c, const double *from, double *to)
{
    if (c->mass) {
        for (int64_t i = 0; i < c->rows; i++)
            to[i] = c->mass[i / 3] * from[i];
        return;
    }

    memset(to, 0, (size_t)c->rows * sizeof *to);
    sp_fe_space_mass_times(c->context, c->space, 3, from, to);
}

static int append_basis(construction *c)
{
    int status = SP_OK;

    /* The columns U are displacements already. They are the first, so that the first r rows of S belong to the reduced
     * equation. */
    for (int64_t first = 0; status == SP_OK && first < c->r; first += WIDTH) {
        const int64_t width = c->r - first < WIDTH ? c->r - first : WIDTH;
        memcpy(c->field, c->U + first * c->rows, (size_t)(width * c->rows) * sizeof *c->field);
        status = append(c, width, true);
    }

    /* K⁻¹ M U */
    for (int64_t first = 0; status == SP_OK && first < c->r; first += WIDTH) {
        const int64_t width = c->r - first < WIDTH ? c->r - first : WIDTH;
        for (int64_t j = 0; j < width; j++)
            mass_times(c, c->U + (first + j) * c->rows, c->field + j * c->rows);
        status = append(c, width, false);
    }
    return status;
}

static int append_loads(construction *c, const sp_force_fields *loads)
{
    /* K⁻¹ M e for the unit acceleration e along each axis */
    double *unit = c->field + 3 * c->rows;
    for (int axis = 0; axis < 3; axis++) {
        for (int64_t i = 0; i < c->rows; i++)
            unit[i] = i % 3 == axis;
        mass_times(c, unit, c->field + axis * c->rows);
    }
    SP_PASS(append(c, 3, false));

    for (int64_t first = 0; first < loads->count; first += WIDTH) {
        const int64_t width = loads->count - first < WIDTH ? loads->count - first : WIDTH;
        memset(c->field, 0, (size_t)(width * c->rows) * sizeof *c->field);
        for (int64_t j = 0; j < width; j++)
            for (int64_t k = loads->start[first + j]; k < loads->start[first + j + 1]; k++)
                c->field[j * c->rows + loads->index[k]] = loads->value[k];
        SP_PASS(append(c, width, false));
    }
    return SP_OK;
}

/* The next `width` pairs (order 2) or triples (order 3) after number[0 … order), with k fastest; returns how many. */
static int64_t next_monomials(int64_t r, int order, int64_t number[3], int64_t *list)
{
    int64_t count = 0;
    while (count < WIDTH && number[0] < r) {
        memcpy(list + order * count++, number, (size_t)order * sizeof *number);

        /* The next tuple in lexicographic order with indices that do not decrease: raise the last index that can grow,
         * and set those after it to the same value. */
        int at = order - 1;
        while (at > 0 && number[at] == r - 1)
            at--;
        number[at]++;
        for (int i = at + 1; i < order; i++)
            number[i] = number[at];
    }
    return count;
}

/* 1/2 or 1/6 of the number of permutations. */
static double share(int order, const int64_t *of)
{
    if (order == 2)
        return of[0] == of[1] ? 0.5 : 1;
    return of[0] == of[2] ? 1.0 / 6 : of[0] == of[1] || of[1] == of[2] ? 0.5 : 1;
}

static int append_monomials(construction *c, int order)
{
    int64_t number[3] = {0}, list[3 * WIDTH], width;
    int status = SP_OK;
    while (status == SP_OK && (width = next_monomials(c->r, order, number, list)) > 0) {
        /* ∂²f [U_i, U_j] n_ij/2 or ∂³f [U_i, U_j, U_k] n_ijk/6 */
        SP_TRY((order == 2 ? sp_elastic_second : sp_elastic_third)(c->context, c->space, c->r, c->U, width, list,
                                                                   c->field));
        for (int64_t j = 0; j < width; j++)
            cblas_dscal((int)c->rows, share(order, list + order * j), c->field + j * c->rows, 1);
        SP_TRY(append(c, width, false));
    }
done:
    return status;
}

static int begin(construction *c, const sp_certificate_parameters *parameters)
{
    int status;

    c->rows = 3 * c->space->mesh->vertex_count;
    c->n = c->space->dof_count;
    SP_TRY(sp_dense_fits(c->context, c->rows, c->columns));

    int64_t *node = sp_pool_raw(&c->pool, c->n, sizeof *node);
    c->field = sp_pool_raw(&c->pool, c->rows * WIDTH, sizeof *c->field);
    c->force = sp_pool_raw(&c->pool, c->n * WIDTH, sizeof *c->force);
    c->z = sp_pool_raw(&c->pool, c->n * WIDTH, sizeof *c->z);
    c->check = sp_pool_raw(&c->pool, c->n * WIDTH, sizeof *c->check);
    if (c->lumped)
        c->mass = sp_pool_raw(&c->pool, c->space->mesh->vertex_count, sizeof *c->mass);
    SP_PASS(sp_allocated(c->context, !c->pool.failed));

    if (c->mass)
        sp_fe_space_vertex_mass(c->space, true, c->mass);

    /* K = K(0) is factored once for all columns. */
    SP_TRY(sp_elastic_stiffness(c->context, c->space, &c->K));
    sp_fe_space_nodes(c->space, node);
    SP_TRY(sp_cholesky_new(c->context, &c->K, node, &c->factor));
    status = sp_cholesky_factor(c->factor, &c->K);
    if (status == SP_NUMERICAL)
        status = sp_fail(c->context, SP_NUMERICAL,
                         "the stiffness matrix is not positive definite: a certificate needs a constrained body");
    SP_TRY(status);

    const int64_t block = c->n * WIDTH * (int64_t)sizeof(double),
                  resident = parameters->outside && parameters->memory ? parameters->memory / block : INT64_MAX;
    sp_store_new(c->n, parameters->outside, &c->store);
    SP_TRY(sp_store_grow(c->context, &c->store, c->columns, resident));
done:
    return status;
}

static int check_materials(sp_context *context, const sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->material_count; i++)
        if (!sp_material_quadratic(&mesh->materials[i]))
            return sp_fail(context, SP_INPUT,
                           "region \"%s\" has no certificate: the law %s is not linear in the Green-Lagrange strain",
                           mesh->materials[i].name, sp_material_law_text(&mesh->materials[i]));
    return SP_OK;
}

static int copy_loads(sp_context *context, const sp_force_fields *loads, sp_certificate *certificate)
{
    sp_force_fields *to = &certificate->loads;

    *to = *loads;
    to->start = sp_pool_copy(&certificate->pool, loads->start, loads->count + 1, sizeof *to->start);
    to->index = sp_pool_copy(&certificate->pool, loads->index, loads->entries, sizeof *to->index);
    to->value = sp_pool_copy(&certificate->pool, loads->value, loads->entries, sizeof *to->value);
    return sp_allocated(context, !certificate->pool.failed);
}

int sp_certificate_new(sp_context *context, sp_fe_space *space, int64_t r, const double *U,
                       const sp_force_fields *loads, const sp_certificate_parameters *parameters,
                       sp_certificate *certificate, sp_certificate_report *report)
{
    construction c = {.context = context,
                      .space = space,
                      .r = r,
                      .U = U,
                      .lumped = parameters->lumped,
                      .columns = sp_certificate_columns(r, loads->count)};
    int status;

    *certificate = (sp_certificate){.r = r, .lumped = parameters->lumped};
    *report = (sp_certificate_report){0};

    SP_TRY(check_materials(context, space->mesh));
    SP_TRY(copy_loads(context, loads, certificate));
    certificate->factor = sp_pool_new(&certificate->pool, c.columns * c.columns, sizeof *certificate->factor);
    SP_TRY(sp_allocated(context, certificate->factor));

    SP_TRY(begin(&c, parameters));
    SP_TRY(append_basis(&c));
    SP_TRY(append_loads(&c, loads));
    SP_TRY(append_monomials(&c, 2));
    SP_TRY(append_monomials(&c, 3));

    /* The orthonormalization needs K alone. */
    sp_cholesky_free(c.factor);
    c.factor = NULL;
    const sp_metric metric = {.rows = c.n, .matrix = &c.K};
    SP_TRY(sp_store_orthonormalize(context, &metric, &c.store, 1e-13, certificate->factor, &report->rank));
    SP_TRY(sp_store_orthogonality(context, &metric, &c.store, &report->orthogonality));
    report->residual = c.residual;
done:
    sp_store_free(&c.store);
    sp_cholesky_free(c.factor);
    sp_sparse_free(&c.K);
    sp_pool_free(&c.pool);
    if (status != SP_OK)
        sp_certificate_free(certificate);
    return status;
}
