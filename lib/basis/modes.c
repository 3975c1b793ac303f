#include "basis/modes.h"

#include "base/random.h"
#include "basis/lanczos.h"
#include "linear/singular.h"
#include "linear/store.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues that agree to this are treated as equal: symmetric bodies have multiple ones, which rounding of the mesh
 * separates. */
static const double EQUAL = 1e-6;

enum { RANDOM_CHECK = 2, CHECK_WIDTH = 4, CHECK_STEPS = 3, ROUNDS = 8 };

/* ---- rigid motions ---- */

static int check_mass(sp_context *context, const sp_sparse *M)
{
    for (int64_t row = 0; row < M->order; row++) {
        double diagonal = sp_sparse_entry(M, row, row);
        if (!(diagonal > 0))
            return sp_fail(context, SP_INPUT, "the mass matrix has %g on the diagonal of row %lld", diagonal,
                           (long long)row);
    }
    return SP_OK;
}

static sp_rigid_frame frame_of(const sp_mesh *mesh)
{
    sp_rigid_frame frame = {.size = 0};

    double low[3], high[3];
    sp_mesh_box(mesh, low, high);

    for (int i = 0; i < 3; i++) {
        frame.centre[i] = 0.5 * (low[i] + high[i]);
        frame.size = fmax(frame.size, high[i] - low[i]);
    }
    return frame;
}

void sp_rigid_motion_at(const sp_rigid_frame *frame, const double x[3], int c, double motion[6])
{
    double y[3];

    for (int i = 0; i < 3; i++)
        y[i] = (x[i] - frame->centre[i]) / frame->size;

    /* Translations are unit vectors, and rotations the rows of e × y. */
    for (int j = 0; j < 3; j++) {
        motion[j] = c == j;
        motion[3 + j] = c == j ? 0 : c == (j + 1) % 3 ? -y[(j + 2) % 3] : y[(j + 1) % 3];
    }
}

/* Six combinations of the motions of one piece (−1: of all), and the number of those that move no fixed component. */
typedef struct combinations {
    double vector[36]; /* [6, 6, column major] eigenvectors of HᵀH, H the rows of the motions at fixed components */
    bool free[6];
    int count;
} combinations;

/* job: 'V', or 'N' for the count alone. */
static int find_combinations(sp_context *context, const sp_mesh *mesh, const int64_t *vertex_label, int64_t piece,
                             const sp_rigid_frame *frame, char job, combinations *found)
{
    double values[6];
    int64_t fixed = 0;
    *found = (combinations){.count = 0};

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        for (int c = 0; c < 3; c++) {
            if (!(mesh->fixed_axes[i] >> c & 1) || (piece >= 0 && vertex_label[mesh->fixed[i]] != piece))
                continue;

            double motion[6];
            sp_rigid_motion_at(frame, mesh->vertices + 3 * mesh->fixed[i], c, motion);
            fixed++;

            /* HᵀH += mᵀm for the row m of a fixed component */
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < 6; b++)
                    found->vector[6 * a + b] += motion[a] * motion[b];
        }

    if (LAPACKE_dsyev(LAPACK_COL_MAJOR, job, 'U', 6, found->vector, 6, values) != 0)
        return sp_fail(context, SP_NUMERICAL, "the rigid motions cannot be separated");

    /* A combination moves no fixed component if it is in the null space of H. */
    for (int m = 0; m < 6; m++) {
        found->free[m] = !(fixed > 0 && values[m] > 1e-12 * fmax(values[5], 1));
        found->count += found->free[m];
    }
    return SP_OK;
}

/* Numbers the pieces of the mesh: vertex_label [vertices]. */
static int label_vertices(sp_context *context, const sp_mesh *mesh, sp_pool *scratch, int64_t *vertex_label,
                          int64_t *pieces)
{
    int64_t *label = sp_pool_raw(scratch, sp_mesh_element_count(mesh), sizeof *label);
    int status = label ? sp_mesh_components(context, mesh, label, pieces) : sp_fail_memory(context);

    for (int64_t e = 0; status == SP_OK && e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            vertex_label[node[a]] = label[e];
    }
    return status;
}

/* SP_INPUT if the pieces have more rigid motions together than the mesh has as a whole, `common`. */
static int refuse_separate(sp_context *context, const sp_mesh *mesh, const int64_t *vertex_label, int64_t pieces,
                           const sp_rigid_frame *frame, int common)
{
    int64_t motions = 0;
    if (pieces <= 1)
        return SP_OK;

    for (int64_t piece = 0; piece < pieces; piece++) {
        combinations found;
        SP_PASS(find_combinations(context, mesh, vertex_label, piece, frame, 'N', &found));
        motions += found.count;
    }

    if (motions <= common)
        return SP_OK;
    return sp_fail(context, SP_INPUT,
                   "the mesh has %lld separate pieces that can move on their own: fix each, or keep one "
                   "(simcut --keep 1, voxelize --keep 1)",
                   (long long)pieces);
}

/* The combination `mix` [6] of the motions over the free degrees of freedom, column [dof_count]. */
static void fill_motion(const sp_fe_space *space, const sp_rigid_frame *frame, const double mix[6], double *column)
{
    for (int64_t i = 0; i < space->dof_count; i++) {
        const int c = (int)(space->free[i] % 3);
        double motion[6];

        sp_rigid_motion_at(frame, space->mesh->vertices + space->free[i] / 3 * 3, c, motion);

        column[i] = mix[c];
        for (int j = 3; j < 6; j++)
            column[i] += mix[j] * motion[j];
    }
}

int sp_rigid_combinations(sp_context *context, const sp_mesh *mesh, sp_rigid_frame *frame, double mix[36],
                          int64_t *count)
{
    combinations found;
    int64_t pieces;
    sp_pool scratch = {0};
    int status = SP_OK;
    int64_t *vertex_label = sp_pool_new(&scratch, mesh->vertex_count, sizeof *vertex_label);

    SP_TRY(sp_allocated(context, !scratch.failed));

    *frame = frame_of(mesh);
    SP_TRY(label_vertices(context, mesh, &scratch, vertex_label, &pieces));
    SP_TRY(find_combinations(context, mesh, vertex_label, -1, frame, 'V', &found));
    SP_TRY(refuse_separate(context, mesh, vertex_label, pieces, frame, found.count));

    *count = 0;
    for (int m = 0; m < 6; m++)
        if (found.free[m])
            memcpy(mix + 6 * (*count)++, found.vector + 6 * m, 6 * sizeof *mix);
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_rigid_motions(sp_context *context, const sp_fe_space *space, const sp_sparse *M, double *R, int64_t *count)
{
    const int64_t n = space->dof_count;
    const sp_metric metric = {.rows = n, .matrix = M};
    sp_rigid_frame frame;
    int64_t rank;
    double mix[36], triangle[36];
    sp_pool scratch = {0};
    int status = SP_OK;
    double *columns = sp_pool_new(&scratch, 6 * n, sizeof *columns);

    SP_TRY(sp_allocated(context, !scratch.failed));

    SP_TRY(check_mass(context, M));
    SP_TRY(sp_rigid_combinations(context, space->mesh, &frame, mix, count));
    for (int64_t m = 0; m < *count; m++)
        fill_motion(space, &frame, mix + 6 * m, columns + m * n);

    SP_TRY(sp_metric_orthonormalize(context, &metric, *count, columns, 1e-10, triangle, &rank));
    if (rank != *count) {
        status = sp_fail(context, SP_NUMERICAL, "the body is too flat for its rigid motions to be told apart");
        goto done;
    }

    memcpy(R, columns, (size_t)(n * *count) * sizeof *R);
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- eigenvectors ---- */

static int eigenvectors(sp_inverted *p, const sp_modes_parameters *parameters, int64_t wanted, double *eigenvalue)
{
    return (parameters->arpack ? sp_lanczos_arpack : sp_lanczos)(p, wanted, parameters->tolerance, eigenvalue);
}

/* Checks for modes that were missed: block Krylov steps from random vectors in the complement of all known vectors. The
 * best Ritz value is an upper bound of the next eigenvalue. If it is below the last known one, a mode was missed. */
static int look_for_next(sp_inverted *p, double *next)
{
    sp_context *context = p->context;
    sp_pool scratch = {0};
    int64_t n = p->n, width = CHECK_WIDTH, total = CHECK_WIDTH * CHECK_STEPS, rank;
    if (n - p->known < 2 * total) {
        *next = INFINITY;
        return SP_OK; /* nearly the whole space is known */
    }

    int status = SP_OK;
    double *chain = sp_pool_raw(&scratch, n * (total + width), sizeof *chain),
           *space = sp_pool_raw(&scratch, n * total, sizeof *space),
           *mass_space = sp_pool_raw(&scratch, n * total, sizeof *space);
    double *R = sp_pool_raw(&scratch, total * total, sizeof *R), *H = sp_pool_raw(&scratch, total * total, sizeof *H),
           *work = sp_pool_raw(&scratch, sp_dense_inner_work(total, total), sizeof *work);
    double theta[CHECK_WIDTH * CHECK_STEPS];
    bool dependent[CHECK_WIDTH * CHECK_STEPS];

    SP_TRY(sp_allocated(context, !scratch.failed));

    for (int64_t i = 0; i < n * width; i++)
        space[i] = sp_random_normal(context->seed, RANDOM_CHECK, (uint64_t)(p->known * n * width + i));

    /* The blocks A X, A² X, … of a Krylov space. */
    for (int step = 0; step <= CHECK_STEPS; step++) {
        const double *from = step == 0 ? space : chain + (step - 1) * width * n;
        sp_sparse_times(context, p->M, width, from, mass_space);
        SP_TRY(sp_inverted_apply(p, width, from, mass_space, chain + step * width * n));
    }

    sp_metric metric = {.rows = n, .matrix = p->M};
    memcpy(space, chain, (size_t)(total * n) * sizeof *space);
    SP_TRY(sp_metric_orthonormalize(context, &metric, total, space, 1e-12, R, &rank));
    sp_inverted_deflate(p, total, space);
    sp_sparse_times(context, p->M, total, space, mass_space);

    /* The operator maps each block to the one that follows it, and so the basis Q = S R⁻¹ to the following blocks times
     * R⁻¹. */
    sp_dense_inner(context, n, total, mass_space, total, chain + width * n, H, work);
    for (int64_t j = 0; j < total; j++)
        dependent[j] = R[(total + 1) * j] == 0; /* a zero row of R, hence a zero column of Q */
    for (int64_t j = 0; j < total; j++)
        R[(total + 1) * j] += dependent[j];
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)total, (int)total, 1, R,
                (int)total, H, (int)total);

    for (int64_t j = 0; j < total; j++)
        if (dependent[j])
            memset(H + total * j, 0, (size_t)total * sizeof *H);

    /* The lower triangle of H depends on fewer entries of R⁻¹. */
    if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', (int)total, H, (int)total, theta) != 0)
        status = sp_fail(context, SP_NUMERICAL, "the check for missed modes failed");

    /* The largest Ritz value θ is a lower bound of the largest eigenvalue of the operator, and σ + 1/θ an upper bound
     * of the next one. */
    *next = theta[total - 1] > 0 ? p->shift + 1 / theta[total - 1] : INFINITY;
done:
    sp_pool_free(&scratch);
    return status;
}

/* Rayleigh–Ritz over all found vectors, which are orthonormal up to the error of Lanczos: VᵀKV S = VᵀMV S Λ. The result
 * is M-orthonormal to rounding, ascending, with fixed signs and Rayleigh quotients. */
static int refine(sp_inverted *p, int64_t rigid_count, double *eigenvalue)
{
    sp_context *context = p->context;
    int64_t n = p->n, count = p->known - rigid_count;
    double *v = p->vectors + rigid_count * n, *Mv = p->mass_vectors + rigid_count * n;
    sp_pool scratch = {0};
    double *G = sp_pool_raw(&scratch, count * count, sizeof *G), *H = sp_pool_raw(&scratch, count * count, sizeof *H),
           *w = sp_pool_raw(&scratch, n * count, sizeof *w);
    double *work = sp_pool_raw(&scratch, sp_dense_inner_work(count, count), sizeof *work);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* Lanczos has left rounding along the rigid motions. */
    if (rigid_count > 0) {
        sp_dense_inner(context, n, rigid_count, p->mass_vectors, count, v, p->coefficients, p->work);
        sp_dense_add(context, n, rigid_count, p->vectors, count, p->coefficients, -1, v);
        sp_sparse_times(context, p->M, count, v, Mv);
    }

    /* H = VᵀKV, G = VᵀMV */
    sp_sparse_times(context, p->K, count, v, w);
    sp_dense_inner(context, n, count, v, count, w, H, work);
    sp_dense_inner(context, n, count, v, count, Mv, G, work);
    const lapack_int failed =
        LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)count, H, (int)count, G, (int)count, eigenvalue);

    if (failed != 0) {
        status = sp_fail(context, SP_NUMERICAL,
                         failed > count ? "Lanczos returned dependent modes" : "the projected eigenproblem failed");
        goto done;
    }

    /* V ← V s, and MV anew */
    memset(w, 0, (size_t)(n * count) * sizeof *w);
    sp_dense_add(context, n, count, v, count, H, 1, w);
    sp_dense_fix_signs(n, count, w);
    memcpy(v, w, (size_t)(n * count) * sizeof *w);
    sp_sparse_times(context, p->M, count, v, Mv);
done:
    sp_pool_free(&scratch);
    return status;
}

/* K − σM on the pattern of K; M's pattern must be a part of it (they are the same for a body). */
static int shifted(sp_context *context, const sp_sparse *K, const sp_sparse *M, double shift, sp_sparse *sum)
{
    *sum = *K;
    sum->pool = (sp_pool){0};
    sum->value = sp_pool_copy(&sum->pool, K->value, K->start[K->order], sizeof *K->value);
    SP_PASS(sp_allocated(context, sum->value));

    if (shift == 0)
        return SP_OK;
    for (int64_t row = 0; row < K->order; row++) {
        int64_t at = K->start[row];
        for (int64_t k = M->start[row]; k < M->start[row + 1]; k++) {
            while (at < K->start[row + 1] && K->index[at] < M->index[k])
                at++;
            if (at == K->start[row + 1] || K->index[at] != M->index[k])
                return sp_fail(context, SP_INPUT, "the mass matrix has entry (%lld, %lld) where the stiffness has none",
                               (long long)row, (long long)M->index[k]);
            sum->value[at] -= shift * M->value[k];
        }
    }
    return SP_OK;
}

/* beyond: the largest of those that rounding of Kψ does not explain. */
static int residuals(sp_context *context, const sp_sparse *K, const sp_sparse *M, int64_t count, int64_t zero,
                     const double *vector, const double *eigenvalue, double *residual, double *beyond)
{
    int64_t n = K->order;
    sp_pool scratch = {0};
    double *Kv = sp_pool_raw(&scratch, n * count, sizeof *Kv), *Mv = sp_pool_raw(&scratch, n * count, sizeof *Mv);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    sp_sparse_times(context, K, count, vector, Kv);
    sp_sparse_times(context, M, count, vector, Mv);

    /* A zero eigenvalue has no scale of its own: that of the lowest elastic one is added, or a millionth of tr K / tr
     * M. */
    double scale = zero < count ? eigenvalue[zero] : sp_sparse_trace(K) / sp_sparse_trace(M) * 1e-6;
    *beyond = 0;

    for (int64_t c = 0; c < count; c++) {
        const double *k = Kv + c * n, *m = Mv + c * n;
        double sum = 0, rounding = 0;

        /* ‖Kψ − λMψ‖² and the rounding of Kψ, whose terms are |K_ij ψ_j| */
        for (int64_t i = 0; i < n; i++) {
            double terms = 0;
            for (int64_t at = K->start[i]; at < K->start[i + 1]; at++)
                terms += fabs(K->value[at] * vector[c * n + K->index[at]]);
            rounding += terms * terms;
            sum += (k[i] - eigenvalue[c] * m[i]) * (k[i] - eigenvalue[c] * m[i]);
        }

        residual[c] = sqrt(sum) / ((eigenvalue[c] + scale) * sqrt(sp_dense_dot(n, m, m)));
        if (!(sqrt(sum) <= 4 * DBL_EPSILON * sqrt(rounding)))
            *beyond = fmax(*beyond, residual[c]);
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

/* Sets *null if K has no force for any rigid motion: ‖K r‖ is within the rounding of its terms. */
static int all_null(sp_context *context, const sp_sparse *K, int64_t count, const double *rigid, bool *null)
{
    sp_pool scratch = {0};
    int64_t n = K->order;
    double *force = sp_pool_raw(&scratch, n * count, sizeof *force);
    SP_PASS(sp_allocated(context, force));

    sp_sparse_times(context, K, count, rigid, force);
    *null = true;

    for (int64_t c = 0; c < count; c++) {
        double sum = 0, terms = 0;
        for (int64_t row = 0; row < n; row++) {
            double absolute = 0;
            for (int64_t k = K->start[row]; k < K->start[row + 1]; k++)
                absolute += fabs(K->value[k] * rigid[c * n + K->index[k]]);
            terms += absolute * absolute;
            sum += force[c * n + row] * force[c * n + row];
        }

        *null &= sqrt(sum) <= 1e-9 * sqrt(terms);
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

/* Sets those of the `have` found eigenvalues to 0 that are within rounding of it: zero-energy modes, which are not
 * rigid motions. SP_NUMERICAL if one is negative beyond rounding. */
static int clear_zero_energies(const sp_inverted *p, int64_t rigid_count, int64_t have, double *found)
{
    for (int64_t i = 0; i < have; i++) {
        double rounding;
        sp_quotient(p->K, p->vectors + (rigid_count + i) * p->n, &rounding);
        if (fabs(found[i]) <= rounding)
            found[i] = 0;
        else if (found[i] < 0)
            return sp_fail(p->context, SP_NUMERICAL,
                           "the stiffness matrix is not positive definite: its lowest eigenvalue is %.3g rad2/s2, with "
                           "a rounding error of %.1e",
                           found[i], rounding);
    }
    return SP_OK;
}

/* Counts the modes beyond `count` that have the eigenvalue of the last one, among `have` elastic ones, and finds the
 * eigenvalue that follows. */
static void count_group(const double *found, int64_t elastic, int64_t have, int64_t space_left, sp_modes_report *report)
{
    while (report->more < space_left && elastic + report->more < have &&
           found[elastic + report->more] <= found[elastic - 1] * (1 + EQUAL))
        report->more++;
    if (elastic + report->more < have)
        report->next = found[elastic + report->more];
}

/* The last eigenvalue may be multiple. If the bound of the next one does not exclude this, a few more modes are
 * computed, and those with the same eigenvalue are kept. */
static int keep_group(sp_inverted *p, int64_t rigid_count, int64_t elastic, const sp_modes_parameters *parameters,
                      double *found, sp_modes_report *report)
{
    double last = found[elastic - 1];
    int64_t have = p->known - rigid_count, more = p->n - p->known - 1 < CHECK_WIDTH ? p->n - p->known - 1 : CHECK_WIDTH;

    const double checked = report->next;

    report->next = fmin(checked, p->next);
    /* Always by blocks: ARPACK fails if the remaining space is small. */
    if (have == elastic && (checked <= last * 1.05 || p->near <= last * (1 + EQUAL)) && more > 0) {
        SP_PASS(sp_lanczos(p, more, parameters->tolerance, found + have));
        SP_PASS(refine(p, rigid_count, found));
        have = p->known - rigid_count;
        SP_PASS(clear_zero_energies(p, rigid_count, have, found));
        report->next = p->next;
    }

    count_group(found, elastic, have, parameters->space_left, report);
    return SP_OK;
}

/* Counts zero-energy modes, and finds what rounding of K may change of the other eigenvalues. */
static void judge_rounding(const sp_sparse *K, int64_t count, const double *vector, const double *eigenvalue,
                           sp_modes_report *report)
{
    for (int64_t i = report->rigid; i < count; i++) {
        double rounding;
        report->zero_energy += eigenvalue[i] == 0;
        sp_quotient(K, vector + i * K->order, &rounding);
        if (eigenvalue[i] > 0)
            report->rounding = fmax(report->rounding, rounding / eigenvalue[i]);
    }
}

/* Column-major [order, order]. */
static double *dense_copy(sp_pool *pool, const sp_sparse *matrix)
{
    const int64_t n = matrix->order;
    double *dense = sp_pool_new(pool, n * n, sizeof *dense);
    if (!dense)
        return NULL;
    for (int64_t row = 0; row < n; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            dense[matrix->index[k] * n + row] = matrix->value[k];
    return dense;
}

/* Computes all modes at once by LAPACK. The lowest `rigid_count` of them are the known rigid motions. The others are
 * appended to the known vectors, with eigenvalues in found [n − rigid_count]. */
static int dense_modes(sp_inverted *p, int64_t rigid_count, double *found)
{
    sp_context *context = p->context;
    const int64_t n = p->n, elastic = n - rigid_count;
    sp_pool scratch = {0};
    double *K = dense_copy(&scratch, p->K), *M = dense_copy(&scratch, p->M),
           *value = sp_pool_raw(&scratch, n, sizeof *value);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    const lapack_int failed = LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)n, K, (int)n, M, (int)n, value);
    if (failed != 0) {
        status = sp_fail(context, SP_NUMERICAL,
                         failed > n ? "the mass matrix is not positive definite (pivot %lld of %lld)"
                                    : "the dense eigenproblem did not converge (%lld of %lld)",
                         (long long)(failed > n ? failed - n : failed), (long long)n);
        goto done;
    }

    memcpy(p->vectors + rigid_count * n, K + rigid_count * n, (size_t)(elastic * n) * sizeof *K);
    sp_inverted_add_known(p, elastic);
    SP_TRY(refine(p, rigid_count, found));
done:
    sp_pool_free(&scratch);
    return status;
}

/* Factors K, or K − σM where K is singular: in free bodies, and in bodies with a mechanism or hourglass modes. σ is far
 * below 0 compared to rounding, and near compared to most eigenvalues: tr K / tr M is of the size of the largest one.
 */
static int factor_with_shift(sp_inverted *p, bool singular)
{
    sp_context *context = p->context;
    const double most = 1e-3; /* of the smallest eigenvalue, that rounding may change */
    sp_sparse A = {0};
    int status = SP_OK;

    /* A factorization succeeds with a matrix that is singular to rounding: its smallest eigenvalue tells. */
    if (!singular) {
        double relative;
        sp_pool scratch = {0};
        double *x = sp_pool_raw(&scratch, p->n, sizeof *x);
        status = x ? sp_cholesky_factor(p->factor, p->K) : sp_fail_memory(context);
        singular = status == SP_NUMERICAL;
        if (status == SP_OK) {
            p->solves += SP_SINGULAR_SOLVES;
            status = sp_cholesky_singular(context, p->factor, p->K, x, &relative);
            singular = status == SP_OK && !(relative < most);
        }
        sp_pool_free(&scratch);
    }

    if (!singular)
        return status;

    /* σ = −10⁻⁸ tr K / tr M */
    p->shift = -1e-8 * sp_sparse_trace(p->K) / sp_sparse_trace(p->M);
    SP_TRY(shifted(context, p->K, p->M, p->shift, &A));
    status = sp_cholesky_factor(p->factor, &A);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL, "the stiffness matrix is not positive definite");
done:
    sp_sparse_free(&A);
    return status;
}

/* The factor of K − σM multiplies rounding along zero-energy modes by up to 1e8 compared to other ones, and Lanczos
 * leaves it in these. One more application of the operator, in the complement of the zero-energy modes, removes it. */
static int polish(sp_inverted *p, int64_t rigid_count, double *found)
{
    const int64_t n = p->n, known = p->known;
    int64_t first = rigid_count;
    int status = SP_OK;

    while (first < known && found[first - rigid_count] == 0)
        first++;
    if (first == rigid_count || first == known)
        return SP_OK;

    /* The modes themselves must not be removed from their own image: only the rigid and zero-energy ones count as
     * known. */
    p->known = first;
    for (int64_t c = first; c < known && status == SP_OK; c += SP_INVERTED_WIDTH) {
        const int64_t width = known - c < SP_INVERTED_WIDTH ? known - c : SP_INVERTED_WIDTH;
        status = sp_inverted_apply(p, width, p->vectors + c * n, p->mass_vectors + c * n, p->vectors + c * n);
    }

    p->known = known;
    if (status != SP_OK)
        return status;

    sp_sparse_times(p->context, p->M, known - first, p->vectors + first * n, p->mass_vectors + first * n);
    status = refine(p, rigid_count, found);
    return status == SP_OK ? clear_zero_energies(p, rigid_count, known - rigid_count, found) : status;
}

/* The lowest `elastic` modes and bounds of the next one, by Lanczos on one factorization. */
static int lanczos_modes(sp_inverted *p, const int64_t *node, int64_t rigid_count, int64_t elastic,
                         const sp_modes_parameters *parameters, double *found, sp_modes_report *report)
{
    sp_context *context = p->context;

    SP_PASS(sp_cholesky_new(context, p->K, node, &p->factor));
    SP_PASS(sp_progress(context, 0.05));
    SP_PASS(factor_with_shift(p, rigid_count > 0));

    report->shift = p->shift;
    report->factor_nonzeros = sp_cholesky_nonzeros(p->factor);
    report->factor_flops = sp_cholesky_flops(p->factor);

    SP_PASS(eigenvectors(p, parameters, elastic, found));
    SP_PASS(refine(p, rigid_count, found));

    for (int round = 0; elastic > 1 || round == 0; round++) {
        SP_PASS(look_for_next(p, &report->next));

        /* Next to the shift, eigenvalues of the inverted problem tell those near 0 from each other to its rounding. */
        if (!(report->next < found[elastic - 1] * (1 - 1e-8) - 1e-8 * fabs(p->shift)))
            break;

        if (round == ROUNDS)
            return sp_fail(context, SP_NUMERICAL, "modes below the last one keep turning up; ask for more modes");

        int64_t more = p->n - p->known - 1 < CHECK_WIDTH ? 1 : CHECK_WIDTH;
        SP_PASS(eigenvectors(p, parameters, more, found + (p->known - rigid_count)));
        for (int64_t i = p->known - rigid_count - more; i < p->known - rigid_count; i++)
            report->missed += found[i] < found[elastic - 1];
        SP_PASS(refine(p, rigid_count, found));
    }

    SP_PASS(clear_zero_energies(p, rigid_count, p->known - rigid_count, found));
    SP_PASS(polish(p, rigid_count, found));

    if (parameters->space_left > 0)
        SP_PASS(keep_group(p, rigid_count, elastic, parameters, found, report));
    else
        report->next = fmin(report->next, p->next);
    return SP_OK;
}

static int check_count(sp_context *context, const sp_modes_parameters *parameters, int64_t n, bool dense)
{
    const int64_t count = parameters->count;
    if (count < 1 || count > n)
        return sp_fail(context, SP_USAGE, "%lld modes of a body with %lld degrees of freedom", (long long)count,
                       (long long)n);
    if (parameters->arpack && count >= n)
        return sp_fail(context, SP_USAGE,
                       "ARPACK finds fewer modes than the %lld degrees of freedom; leave out --solver arpack",
                       (long long)n);
    if (dense && n > 30000)
        return sp_fail(
            context, SP_USAGE,
            "%lld of %lld modes: more than half of all are found by a dense solver, for up to 30000 degrees of freedom",
            (long long)count, (long long)n);
    return SP_OK;
}

/* Counts the eigenvalues slightly below the last one, so that it does not count itself, by the inertia of K − s M. */
static int certify(const sp_inverted *p, const int64_t *node, int64_t count, const double *eigenvalue,
                   sp_modes_report *report)
{
    const double below = eigenvalue[count - 1] * (1 - 1e-6);
    sp_sparse A = {0};
    int status = SP_OK;

    for (int64_t i = 0; i < count; i++)
        report->below += eigenvalue[i] < below;

    SP_TRY(shifted(p->context, p->K, p->M, below, &A));
    SP_TRY(sp_cholesky_negative(p->context, &A, node, &report->certified));
done:
    sp_sparse_free(&A);
    return status;
}

/* Room for `capacity` known vectors, from a pool whose failure mark the caller checks. */
static void make_room(sp_inverted *p, int64_t capacity, sp_pool *pool)
{
    const int64_t width = CHECK_WIDTH * CHECK_STEPS;
    p->vectors = sp_pool_raw(pool, p->n * capacity, sizeof *p->vectors);
    p->mass_vectors = sp_pool_raw(pool, p->n * capacity, sizeof *p->mass_vectors);
    p->coefficients = sp_pool_raw(pool, capacity * width, sizeof *p->coefficients);
    p->work = sp_pool_raw(pool, sp_dense_inner_work(capacity, width), sizeof *p->work);
}

int sp_modes(sp_context *context, const sp_sparse *K, const sp_sparse *M, const int64_t *node, int64_t rigid_count,
             const double *rigid, const sp_modes_parameters *parameters, double *eigenvalue, double *vector,
             double *residual, sp_modes_report *report)
{
    bool null = true;
    int known = check_mass(context, M);

    if (known == SP_OK && rigid_count > 0)
        known = all_null(context, K, rigid_count, rigid, &null);
    if (known != SP_OK)
        return known;

    /* Rigid motions that K resists are not modes. */
    rigid_count = null ? rigid_count : 0;
    const int64_t n = K->order;
    const bool dense = !parameters->arpack && parameters->count > n / 2;
    int64_t count = parameters->count, most = dense ? n : count + (ROUNDS + 1) * CHECK_WIDTH,
            elastic = count > rigid_count ? count - rigid_count : 0;

    sp_pool scratch = {0};
    sp_inverted p = {.context = context, .K = K, .M = M, .n = n};
    int status = SP_OK;

    *report = (sp_modes_report){.rigid = rigid_count < count ? rigid_count : count, .certified = -1};
    SP_TRY(check_count(context, parameters, n, dense));

    make_room(&p, most + rigid_count, &scratch);
    double *found = sp_pool_new(&scratch, most, sizeof *found);

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* The rigid motions are known modes, in whose complement the others are sought. */
    if (rigid_count > 0) {
        memcpy(p.vectors, rigid, (size_t)(rigid_count * n) * sizeof *rigid);
        sp_inverted_add_known(&p, rigid_count);
    }

    if (elastic > 0 && dense) {
        SP_TRY(dense_modes(&p, rigid_count, found));
        SP_TRY(clear_zero_energies(&p, rigid_count, elastic, found));
        report->next = INFINITY;
        count_group(found, elastic, n - rigid_count, parameters->space_left, report);
    } else if (elastic > 0)
        SP_TRY(lanczos_modes(&p, node, rigid_count, elastic, parameters, found, report));

    report->solves = p.solves;
    count += report->more;

    memcpy(vector, p.vectors, (size_t)(n * count) * sizeof *vector);
    for (int64_t i = 0; i < count; i++)
        eigenvalue[i] = i < rigid_count ? 0 : found[i - rigid_count];

    judge_rounding(K, count, vector, eigenvalue, report);

    sp_metric metric = {.rows = n, .matrix = M};
    SP_TRY(sp_metric_orthogonality(context, &metric, count, vector, &report->orthogonality));
    SP_TRY(residuals(context, K, M, count, report->rigid + report->zero_energy, vector, eigenvalue, residual,
                     &report->beyond));

    if (parameters->certify && elastic > 0 && eigenvalue[count - 1] > 0)
        SP_TRY(certify(&p, node, count, eigenvalue, report));
done:
    if (status == SP_OK && parameters->keep)
        report->factor = p.factor;
    else
        sp_cholesky_free(p.factor);
    sp_pool_free(&scratch);
    return status;
}
