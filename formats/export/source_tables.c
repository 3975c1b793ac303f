#include "formats/export/source_tables.h"

enum { LANES = 4 }; /* model.c rounds rows of pairs and rows of matrices up to a multiple of this */

static int64_t rounded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

/* The zeros before the pairs k ≤ l with k ≥ j in a row of pairs, which begins at a multiple of LANES. */
static int64_t leading_zeros(int64_t r, int64_t j)
{
    const int64_t pairs = r * (r + 1) / 2;
    return (rounded(pairs) - pairs + sp_cubic_pair(r, j, j)) % LANES;
}

static int64_t row_length(int64_t r, int64_t j)
{
    return leading_zeros(r, j) + r * (r + 1) / 2 - sp_cubic_pair(r, j, j);
}

static void fill_quadratic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r;
    to += leading_zeros(r, 0);
    for (int64_t k = 0; k < r; k++)
        for (int64_t l = k; l < r; l++)
            *to++ = force->linear[k * r + l];
}

/* A monomial of the energy with the coefficient b gives the force of q_i the coefficient n b, where n is the number of
 * its factors q_i. */
static void fill_cubic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r, pairs = r * (r + 1) / 2;
    for (int64_t i = 0; i < r; i++) {
        to += leading_zeros(r, i);
        for (int64_t j = i; j < r; j++)
            for (int64_t k = j; k < r; k++)
                *to++ = force->quadratic[i * pairs + sp_cubic_pair(r, j, k)] / (1 + (j == i) + (k == i));
    }
}

static void fill_quartic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r, triples = sp_cubic_triples(r);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i <= j; i++) {
            to += leading_zeros(r, j);
            for (int64_t k = j; k < r; k++)
                for (int64_t l = k; l < r; l++)
                    *to++ =
                        force->cubic[i * triples + sp_cubic_triple(r, j, k, l)] / (1 + (j == i) + (k == i) + (l == i));
        }
}

static void fill_mass(const sp_polynomials *p, double *mass, double *gravity)
{
    for (int64_t i = 0; i < p->r; i++)
        for (int64_t j = 0; j < p->r; j++)
            mass[i * rounded(p->r) + j] = p->density * p->mass[j * p->r + i];
    for (int64_t i = 0; i < 3 * p->r; i++)
        gravity[i] = p->density * p->gravity[i];
}

int sp_c_source_tables_new(sp_context *context, const sp_polynomials *polynomials, sp_c_source_tables *tables)
{
    const int64_t r = polynomials->r;
    sp_cubic_force force;
    *tables = (sp_c_source_tables){.r = r};

    int status = sp_cubic_from_polynomials(context, polynomials, &force);
    if (status != SP_OK)
        return status;

    tables->quadratic.count = row_length(r, 0) + LANES; /* the last ones are read, with the factor 0 */
    for (int64_t j = 0; j < r; j++) {
        tables->cubic.count += row_length(r, j);
        tables->quartic.count += (j + 1) * row_length(r, j);
    }

    tables->mass.count = r * rounded(r);
    tables->gravity.count = 3 * r;
    sp_c_source_table *all[] = {&tables->quadratic, &tables->cubic, &tables->quartic, &tables->mass, &tables->gravity};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i]->values = sp_pool_new(&tables->pool, all[i]->count, sizeof(double));

    if (tables->pool.failed) {
        status = sp_fail_memory(context);
        sp_c_source_tables_free(tables);
    } else {
        fill_quadratic(&force, tables->quadratic.values);
        fill_cubic(&force, tables->cubic.values);
        fill_quartic(&force, tables->quartic.values);
        fill_mass(polynomials, tables->mass.values, tables->gravity.values);
    }

    sp_cubic_free(&force);
    return status;
}

void sp_c_source_tables_free(sp_c_source_tables *tables)
{
    sp_pool_free(&tables->pool);
    *tables = (sp_c_source_tables){0};
}
