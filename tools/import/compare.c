/* What a mesh and a basis say about reduced matrices of other programs, and the matrices about themselves. */
#include "reduced/definite.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <float.h>
#include <math.h>

/* Largest deviations, relative to the largest entry of the own matrix: of another basis or mesh, and of rounding. */
static const double FOREIGN = 1e-3, ROUNDING = 1e-6;

/* A negative eigenvalue of the stiffness, relative to the largest one, that is not rounding. */
static const double NEGATIVE = 1e-9;

void import_check_definite(sp_context *context, const char *path, int64_t r, const double *stiffness,
                           const double *mass)
{
    double least, largest;
    for (int64_t i = 0; i < r; i++)
        if (!(mass[i * (r + 1)] > 0))
            tool_fail(SP_INPUT, path, "the mass matrix is not positive definite: entry %lld of its diagonal is %g",
                      (long long)i, mass[i * (r + 1)]);

    /* With a diagonal of 1 the least eigenvalue does not depend on the units of the coordinates. */
    tool_check(sp_scaled_spectrum(context, r, mass, mass, &least, &largest), path);
    if (!(least > (double)r * DBL_EPSILON * largest))
        tool_fail(SP_INPUT, path,
                  "the mass matrix is not positive definite: with a diagonal of 1, its least eigenvalue is %.3g",
                  least);

    tool_check(sp_scaled_spectrum(context, r, stiffness, mass, &least, &largest), path);
    if (least < -NEGATIVE * largest)
        tool_warn(
            path,
            "the stiffness is not positive semidefinite: its least eigenvalue is %.3g of the largest, and motions "
            "can grow without bound",
            least / largest);
}

/* The largest difference of two matrices [r, r], relative to the largest entry of the first. */
static double deviation(int64_t r, const double *own, const double *A)
{
    double apart = 0, largest = 0;
    for (int64_t i = 0; i < r * r; i++) {
        apart = fmax(apart, fabs(A[i] - own[i]));
        largest = fmax(largest, fabs(own[i]));
    }
    return largest > 0 ? apart / largest : apart > 0 ? INFINITY : 0;
}

static double judge(const char *path, const tool_mesh *mesh, const tool_columns *basis, const char *what,
                    const char *product, double apart)
{
    if (!(apart <= FOREIGN)) {
        tool_hint("are the mesh, its materials and the basis those of %s?", path);
        tool_fail(SP_INPUT, path, "its %s is not %s of %s and %s: they differ by %.1e", what, product, mesh->path,
                  basis->path, apart);
    }
    if (apart > ROUNDING)
        tool_warn(path, "its %s differs from %s of %s and %s by %.1e", what, product, mesh->path, basis->path, apart);
    return apart;
}

void import_compare(sp_context *context, const char *path, const tool_mesh *mesh, tool_columns *basis, int64_t r,
                    const double *stiffness, const double *mass, json_t *result)
{
    sp_fe_space body;
    sp_pool pool = {0};
    double *own = tool_allocate_raw(&pool, r * r, sizeof *own);
    tool_check(sp_fe_space_new(context, &mesh->mesh, &body), mesh->path);
    tool_hold_rows(&mesh->mesh, basis);

    tool_check(sp_reduced_stiffness(context, &body, r, basis->columns.U, own), mesh->path);
    tool_facts(
        result, sp_kind_polynomials.result,
        {"stiffness_deviation", .real = judge(path, mesh, basis, "linear part", "U'KU", deviation(r, own, stiffness))});

    if (mass) {
        tool_check(sp_reduced_mass(context, &body, basis->columns.lumped, r, basis->columns.U, own, NULL), mesh->path);
        tool_facts(result, sp_kind_polynomials.result,
                   {"mass_deviation", .real = judge(path, mesh, basis, "mass", "U'MU", deviation(r, own, mass))});
    }

    sp_fe_space_free(&body);
    sp_pool_free(&pool);
}
