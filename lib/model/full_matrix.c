/* The matrix S of a full-order model: factorization, and iterative solvers with their preconditioners. */
#include "model/full_internal.h"

#include "base/mat3.h"

#include <math.h>
#include <string.h>

/* Inverts the diagonal block of every vertex; SP_NUMERICAL if one is not positive definite. */
static int invert_blocks(sp_full *self)
{
    const sp_fe_space *body = self->body;

    for (int64_t vertex = 0; vertex < body->mesh->vertex_count; vertex++) {
        const int64_t *dof = body->dof + 3 * vertex;

        /* Fixed components are replaced by rows of the identity, which leave them alone. */
        double B[9] = {0};
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                B[3 * c + d] = dof[c] >= 0 && dof[d] >= 0 ? sp_sparse_entry(&self->S, dof[c], dof[d]) : c == d;

        /* Sylvester's criterion: the leading minors of a positive definite block are positive. */
        const double minor = B[0] * B[4] - B[1] * B[3], determinant = sp_determinant(B, B + 3, B + 6);
        if (!(B[0] > 0 && minor > 0 && determinant > 0))
            return sp_fail(self->context, SP_NUMERICAL, "the matrix is not positive definite at vertex %lld",
                           (long long)vertex);

        sp_invert3(B, determinant, self->block + 9 * vertex);
    }
    return SP_OK;
}

static void apply_S(void *data, const double *x, double *y)
{
    sp_full *self = data;
    self->products++;
    sp_sparse_times(self->context, &self->S, 1, x, y);
}

static void apply_blocks(void *data, const double *x, double *y)
{
    const sp_full *self = data;
    const int64_t vertices = self->body->mesh->vertex_count;

#pragma omp parallel for schedule(static) num_threads(self->context->threads) if (vertices > 1 << 15)
    for (int64_t vertex = 0; vertex < vertices; vertex++) {
        const int64_t *dof = self->body->dof + 3 * vertex;
        const double *B = self->block + 9 * vertex;

        if (dof[0] >= 0 && dof[1] >= 0 && dof[2] >= 0) {
            const double u[3] = {x[dof[0]], x[dof[1]], x[dof[2]]};
            for (int c = 0; c < 3; c++)
                y[dof[c]] = B[3 * c] * u[0] + B[3 * c + 1] * u[1] + B[3 * c + 2] * u[2];
            continue;
        }

        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int d = 0; d < 3; d++)
                sum += dof[d] >= 0 ? B[3 * c + d] * x[dof[d]] : 0;
            if (dof[c] >= 0)
                y[dof[c]] = sum;
        }
    }
}

/* sp_cholesky_solve with one right-hand side cannot fail. */
static void apply_factor(void *data, const double *x, double *y)
{
    if (sp_cholesky_solve(((sp_full *)data)->factor, 1, x, y) != SP_OK)
        y[0] = NAN;
}

int sp_full_factor_now(sp_full *self)
{
    self->factorizations++;

    const int status = sp_cholesky_factor(self->factor, &self->S);
    self->factored = status == SP_OK;

    /* REUSED: the values are what a resumed run needs to make this factor again. */
    if (self->factored_values)
        memcpy(self->factored_values, self->S.value,
               (size_t)self->S.start[self->S.order] * sizeof *self->factored_values);

    self->factor_products = self->factor_digits = 0;
    self->factor_stale = false;
    return status;
}

/* The number of products with S and the factor that cost as much as a factorization. Supernodal factorization is
 * limited by arithmetic, products by memory: about 10 flops of the former take as long as one of the latter (measured:
 * bench/full.c, 6 to 12 for 10,000 to 200,000 tetrahedra). The clock is not used, since results depend on this number.
 */
static double factorization_products(const sp_full *self)
{
    return sp_cholesky_flops(self->factor) /
           (10 * (4 * sp_cholesky_nonzeros(self->factor) + 2 * (double)self->S.start[self->S.order]));
}

/* A factor becomes a worse preconditioner as the matrix changes. It is replaced when its last solve took more products
 * per digit than the average over all of its solves, the factorization included: this average is then at its minimum.
 */
static void age_factor(sp_full *self, int64_t products, double tolerance)
{
    const double digits = -log10(fmin(tolerance, 0.1));

    self->factor_products += (double)products;
    self->factor_digits += digits;
    self->factor_stale =
        (double)products / digits > (factorization_products(self) + self->factor_products) / self->factor_digits;
}

void sp_full_sum_up(sp_full *self)
{
    /* S = m M + k K + d D + springs and floor planes */
    for (int64_t k = 0; k < self->S.start[self->S.order]; k++)
        self->S.value[k] = self->mass_scale * self->M.value[k] + self->stiffness_scale * self->K.value[k];
    if (self->viscous)
        for (int64_t k = 0; k < self->S.start[self->S.order]; k++)
            self->S.value[k] += self->viscous_scale * self->D.value[k];

    if (self->spring_scale != 0)
        sp_supports_stiffness(&self->supports, self->u, self->spring_scale, &self->S);

    self->factored_mass = self->mass_scale;
    self->factored_stiffness = self->stiffness_scale;
    self->factored_spring = self->spring_scale;
    self->factored_viscous = self->viscous_scale;
}

int sp_full_factor(void *data)
{
    sp_full *self = data;

    if (self->linear) {
        /* The matrix changes only with the step size while no floor plane acts. */
        if (self->factored && self->solver == SP_SOLVER_DIRECT && self->supports.ground_count == 0 &&
            self->factored_mass == self->mass_scale && self->factored_stiffness == self->stiffness_scale &&
            self->factored_spring == self->spring_scale && self->factored_viscous == self->viscous_scale)
            return SP_OK;
        sp_full_sum_up(self);
    }

    if (self->solver == SP_SOLVER_JACOBI)
        return invert_blocks(self);
    if (self->solver == SP_SOLVER_REUSED && self->factored && !self->factor_stale)
        return SP_OK;
    return sp_full_factor_now(self);
}

int sp_full_solve(void *data, const double *b, double *x)
{
    sp_full *self = data;
    enum { MOST = 10000 };

    if (self->solver == SP_SOLVER_DIRECT)
        return sp_cholesky_solve(self->factor, 1, b, x);

    const bool jacobi = self->solver == SP_SOLVER_JACOBI;
    const sp_operator A = {self, self->body->dof_count, apply_S, jacobi ? apply_blocks : apply_factor};
    const int64_t most = jacobi ? MOST : (int64_t)fmax(8, 2 * factorization_products(self));
    const double tolerance = fmax(self->tolerance, self->enough);
    const int64_t products = sp_conjugate_gradients(&A, &self->iteration, tolerance, most, b, x);

    self->solves++;

    if (products >= 0 && !jacobi)
        age_factor(self, products, tolerance);
    if (products >= 0)
        return SP_OK;

    if (jacobi)
        return sp_fail(self->context, SP_NUMERICAL,
                       "conjugate gradients found no solution in %d products, or the matrix not positive definite",
                       MOST);

    /* The old factor is no longer of use, or the matrix is indefinite, which this factorization shows. */
    const int status = sp_full_factor_now(self);
    return status == SP_OK ? sp_cholesky_solve(self->factor, 1, b, x) : status;
}

int sp_full_factor_again(sp_full *self)
{
    if (self->solver == SP_SOLVER_JACOBI ||
        (self->solver == SP_SOLVER_DIRECT && (!self->linear || self->supports.ground_count > 0)))
        return SP_OK; /* the next solve factors first */

    if (self->factored_values)
        memcpy(self->S.value, self->factored_values,
               (size_t)self->S.start[self->S.order] * sizeof *self->factored_values);

    else {
        self->mass_scale = self->factored_mass;
        self->stiffness_scale = self->factored_stiffness;
        self->spring_scale = self->factored_spring;
        self->viscous_scale = self->factored_viscous;
        sp_full_sum_up(self);
    }
    return sp_cholesky_factor(self->factor, &self->S);
}
