/* Free bodies: rigid modes, multiple eigenvalues, modal derivatives in the complement of the modes. */
#include "assembly/elastic.h"
#include "basis/free_derivatives.h"
#include "basis/mean_axes.h"
#include "basis/modes.h"
#include "bodies.h"
#include "geometry/pose.h"
#include "linear/dense.h"
#include "test.h"

#include <cblas.h>
#include <lapacke.h>

typedef struct free_body {
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K, M;
    int64_t rows, count;
    double *lambda, *U;
} free_body;

static void make_free(int nx, int ny, int nz, double distort, int64_t count, free_body *b)
{
    *b = (free_body){.count = count};
    make_box(nx, ny, nz, 0.2, distort, &b->mesh);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    CHECK_OK(sp_fe_space_pattern(&context, &b->body));
    CHECK_OK(sp_fe_space_matrix(&context, &b->body, &b->K));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &b->body, false, &b->M));
    b->rows = 3 * b->mesh.vertex_count; /* nothing fixed: free numbering is the full one */
    double *rest = test_new(b->rows, 8), *rigid = test_new(6 * b->rows, 8), *residual = test_new(count, 8);
    int64_t rigid_count;
    b->lambda = test_new(count, 8);
    b->U = test_new(b->rows * count, 8);
    sp_elastic_tangent(&context, &b->body, rest, 1, false, NULL, &b->K);
    CHECK_OK(sp_rigid_motions(&context, &b->body, &b->M, rigid, &rigid_count));
    CHECK(rigid_count == 6, "%lld rigid motions", (long long)rigid_count);
    sp_modes_report report;
    CHECK_OK(sp_modes(&context, &b->K, &b->M, NULL, rigid_count, rigid,
                      &(sp_modes_parameters){.count = count, .certify = true}, b->lambda, b->U, residual, &report));
    CHECK(report.certified == report.below && report.below >= 6, "%lld eigenvalues below the last, %lld found",
          (long long)report.certified, (long long)report.below);
    for (int64_t i = 0; i < count; i++)
        CHECK(residual[i] < 1e-7, "residual %g of mode %lld", residual[i], (long long)i);
}

static void end_free(free_body *b)
{
    sp_sparse_free(&b->K);
    sp_sparse_free(&b->M);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

/* A cube has its first elastic eigenvalues in groups of two and three (cubic symmetry): all copies must be found. */
TEST(cube_keeps_its_multiple_eigenvalues)
{
    FREED_BY(end_free) free_body b;
    make_free(4, 4, 4, 0, 6 + 8, &b);
    double *l = b.lambda + 6;
    NOTE("first eigenvalues over the first: %.6f %.6f %.6f %.6f %.6f %.6f %.6f %.6f", 1.0, l[1] / l[0], l[2] / l[0],
         l[3] / l[0], l[4] / l[0], l[5] / l[0], l[6] / l[0], l[7] / l[0]);
    for (int i = 0; i < 6; i++)
        CHECK(b.lambda[i] == 0, "rigid mode %d has eigenvalue %g", i, b.lambda[i]);
    CHECK_NEAR(l[1] / l[0], 1, 1e-9); /* the torsion-like pair of the representation E */
    CHECK(l[2] / l[0] > 1 + 1e-6, "a third copy of a double eigenvalue");
    int triple = 0;
    for (int i = 2; i + 2 < 8; i++)
        triple += fabs(l[i + 1] / l[i] - 1) < 1e-9 && fabs(l[i + 2] / l[i] - 1) < 1e-9;
    CHECK(triple > 0, "no triple eigenvalue among the next ones");
}

/* If one of two or three equal eigenvalues is requested, the whole group is returned. */
TEST(groups_are_not_cut)
{
    FREED_BY(end_free) free_body b;
    make_free(4, 4, 4, 0, 6 + 12, &b);
    double eigenvalue[24], residual[24], *vector = test_new(24 * b.rows, 8), *rigid = test_new(6 * b.rows, 8);
    int64_t rigid_count;
    CHECK_OK(sp_rigid_motions(&context, &b.body, &b.M, rigid, &rigid_count));
    for (int64_t count = 6; count < 6 + 9; count++) {
        sp_modes_report report;
        CHECK_OK(sp_modes(&context, &b.K, &b.M, NULL, rigid_count, rigid,
                          &(sp_modes_parameters){.count = count, .space_left = 4}, eigenvalue, vector, residual,
                          &report));
        int64_t expected = 0;
        while (count > 6 && b.lambda[count + expected] <= b.lambda[count - 1] * (1 + 1e-6))
            expected++;
        CHECK(report.more == expected, "%lld modes: %lld more, not %lld", (long long)count, (long long)report.more,
              (long long)expected);
        for (int64_t i = 6; i < count + report.more; i++)
            CHECK(fabs(eigenvalue[i] / b.lambda[i] - 1) < 1e-9 && residual[i] < 1e-7, "mode %lld: %g, residual %g",
                  (long long)i, eigenvalue[i], residual[i]);
    }
}

/* The same with few remaining directions, against all eigenvalues by LAPACK: as many modes as vertices, up to one less
 * than all; by both solvers where ARPACK has room. */
TEST(groups_of_small_bodies)
{
    enum { N = 81 };
    FREED_BY(end_free) free_body b;
    make_free(2, 2, 2, 0, 7, &b);
    double *K = test_new(N * N, 8), *M = test_new(N * N, 8), *unit = test_new(N * N, 8),
           *vector = calloc((size_t)(N + 4) * N, 8), *rigid = test_new(6 * N, 8), lambda[N], eigenvalue[N + 4],
           residual[N + 4];
    int64_t rigid_count;

    /* All eigenvalues by LAPACK */
    for (int i = 0; i < N; i++)
        unit[(N + 1) * i] = 1;
    sp_sparse_times(&context, &b.K, N, unit, K);
    sp_sparse_times(&context, &b.M, N, unit, M);
    CHECK(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'N', 'U', N, K, N, M, N, lambda) == 0, "LAPACK");

    CHECK_OK(sp_rigid_motions(&context, &b.body, &b.M, rigid, &rigid_count));
    for (int64_t count = 7; count < N; count++)
        for (int arpack = 0; arpack < (count < 30 ? 2 : 1); arpack++) {
            sp_modes_report report;
            int64_t expected = 0;
            CHECK_OK(sp_modes(&context, &b.K, &b.M, NULL, rigid_count, rigid,
                              &(sp_modes_parameters){.count = count, .space_left = 4, .arpack = arpack}, eigenvalue,
                              vector, residual, &report));
            while (count + expected < N - 1 && lambda[count + expected] <= lambda[count - 1] * (1 + 1e-6))
                expected++;
            CHECK(report.more == expected, "%lld modes: %lld more, not %lld", (long long)count, (long long)report.more,
                  (long long)expected);
            CHECK(report.orthogonality < 1e-13, "%lld modes: orthonormal to %g", (long long)count,
                  report.orthogonality);
            for (int64_t i = 6; i < count + report.more; i++)
                CHECK(fabs(eigenvalue[i] / lambda[i] - 1) < 1e-9, "%lld modes: mode %lld has %g, not %g",
                      (long long)count, (long long)i, eigenvalue[i], lambda[i]);
        }
    free(vector);
}

/* A deformation that is orthogonal to rigid displacements comes back from any turn and any place of the body. */
TEST(mean_axes_take_the_rigid_motion_out)
{
    enum { MODES = 4 };
    FREED_BY(end_free) free_body b;
    make_free(4, 3, 2, 0.15, 6 + MODES, &b);
    OWNED(sp_mean_axes) axes;
    CHECK_OK(sp_mean_axes_new(&context, &b.body, &b.M, &axes));
    double *d = test_new(b.rows, 8), *u = test_new(b.rows, 8), largest = 0, worst = 0, rigid = 0;

    for (int j = 0; j < MODES; j++)
        for (int64_t i = 0; i < b.rows; i++)
            d[i] += 0.05 * (1 + j) * b.U[(6 + j) * b.rows + i];
    for (int64_t i = 0; i < b.rows; i++)
        largest = fmax(largest, fabs(d[i]));

    double q[4], R[9];
    sp_quaternion_from_vector((double[]){1.1, -0.7, 2.2}, q);
    sp_quaternion_matrix(q, R);
    for (int part = 0; part < 2; part++) { /* deformed, then as at rest */
        for (int64_t v = 0; v < b.mesh.vertex_count; v++) {
            const double *X = b.mesh.vertices + 3 * v;
            double y[3], x[3];
            for (int k = 0; k < 3; k++)
                y[k] = X[k] + (part == 0 ? d[3 * v + k] : 0);
            sp_rotate(R, y, x);
            for (int k = 0; k < 3; k++)
                u[3 * v + k] = x[k] + (double[]){5, -3, 0.2}[k] - X[k];
        }
        sp_mean_axes_deformation(&axes, u);
        for (int64_t i = 0; i < b.rows; i++)
            if (part == 0)
                worst = fmax(worst, fabs(u[i] - d[i]));
            else
                rigid = fmax(rigid, fabs(u[i]));
    }
    NOTE("deformation of up to %.2g m to %.1e m, rigid motion to %.1e m", largest, worst, rigid);
    CHECK(largest > 0.02 && worst < 1e-13 && rigid < 1e-13, "off by %g and %g", worst, rigid);
}

/* The condition that defines the axes holds for any displacements, orthogonal before or not. */
TEST(deformation_in_mean_axes_has_no_momenta)
{
    FREED_BY(end_free) free_body b;
    make_free(3, 3, 2, 0.15, 6 + 1, &b);
    OWNED(sp_mean_axes) axes;
    CHECK_OK(sp_mean_axes_new(&context, &b.body, &b.M, &axes));
    double *u = test_new(b.rows, 8), *product = test_new(b.rows, 8), size, part = 0;

    random_field(b.rows, 4, u);
    for (int64_t i = 0; i < b.rows; i++)
        u[i] *= 0.3;
    sp_mean_axes_deformation(&axes, u);
    sp_sparse_times(&context, &b.M, 1, u, product);
    size = sqrt(sp_dense_dot(b.rows, u, product));
    for (int k = 0; k < 6; k++) /* the first columns are mass-orthonormal rigid motions */
        part = fmax(part, fabs(sp_dense_dot(b.rows, b.U + k * b.rows, product)) / size);
    NOTE("rigid part %.1e", part);
    CHECK(part < 1e-13, "rigid part %g", part);

    OWNED(sp_mesh) mesh;
    make_box(2, 2, 2, 0.2, 0, &mesh);
    int64_t count;
    CHECK_OK(sp_mesh_fix_half_space(&context, &mesh, (double[]){1, 0, 0}, 0.05, 7, &count));
    OWNED(sp_fe_space) body;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    sp_mean_axes refused;
    CHECK(sp_mean_axes_new(&context, &body, &b.M, &refused) == SP_INPUT, "a fixed vertex was accepted");
}

/* Ψ_rotᵀ(H:Ψ_j)Ψ_i = (λ_j − λ_i) Ψ_iᵀ M [ω] Ψ_j, from differentiating f(R(X+u)−X) = R f(u). */
TEST(rotations_see_no_force)
{
    FREED_BY(end_free) free_body b;
    make_free(4, 3, 2, 0.1, 6 + 5, &b);
    int64_t pair[50], pairs = 0;
    for (int64_t i = 6; i < 11; i++)
        for (int64_t j = 6; j < 11; j++) {
            pair[2 * pairs] = i;
            pair[2 * pairs++ + 1] = j;
        }

    double *H = test_new(b.rows * pairs, 8), *turned = test_new(b.rows, 8), *product = test_new(b.rows, 8), worst = 0,
           largest = 0;
    CHECK_OK(sp_elastic_second(&context, &b.body, b.count, b.U, pairs, pair, H));

    for (int axis = 0; axis < 3; axis++)
        for (int64_t c = 0; c < pairs; c++) {
            int64_t i = pair[2 * c], j = pair[2 * c + 1];
            double left = 0, right = 0;
            for (int64_t v = 0; v < b.mesh.vertex_count; v++) {
                const double *X = b.mesh.vertices + 3 * v, *u = b.U + j * b.rows + 3 * v, *h = H + c * b.rows + 3 * v;
                int y = (axis + 1) % 3, z = (axis + 2) % 3; /* e_axis × x has components −x_z at y and x_y at z */
                left += -X[z] * h[y] + X[y] * h[z];
                turned[3 * v + axis] = 0;
                turned[3 * v + y] = -u[z];
                turned[3 * v + z] = u[y];
            }
            sp_sparse_times(&context, &b.M, 1, turned, product);
            for (int64_t k = 0; k < b.rows; k++)
                right += (b.lambda[j] - b.lambda[i]) * b.U[i * b.rows + k] * product[k];
            worst = fmax(worst, fabs(left - right));
            largest = fmax(largest, fabs(left));
        }

    NOTE("identity holds to %.1e", worst / largest);
    CHECK(worst <= 1e-7 * largest, "off by %g of %g", worst, largest);
}

/* Solutions are mass-orthogonal to all modes and satisfy the projected equation, also where eigenvalues are multiple.
 */
TEST(derivatives_solve_the_projected_equation)
{
    for (int cube = 0; cube <= 1; cube++) {
        FREED_BY(end_free) free_body b;
        int64_t elastic = cube ? 5 : 4; /* the cube's double and triple eigenvalue */
        make_free(cube ? 4 : 5, cube ? 4 : 3, cube ? 4 : 2, cube ? 0 : 0.1, 6 + elastic, &b);
        int64_t pair[50], pairs = 0;
        for (int64_t i = 6; i < 6 + elastic; i++)
            for (int64_t j = 6; j < 6 + elastic; j++) {
                pair[2 * pairs] = i;
                pair[2 * pairs++ + 1] = j;
            }

        double *phi = test_new(b.rows * pairs, 8), *H = test_new(b.rows * pairs, 8), *Kp = test_new(b.rows, 8),
               *Mp = test_new(b.rows, 8);
        sp_free_derivatives_report report;
        CHECK_OK(sp_free_modal_derivatives(&context, &b.body, b.count, b.U, b.lambda, pairs, pair, NULL, phi, &report));
        CHECK_OK(sp_elastic_second(&context, &b.body, b.count, b.U, pairs, pair, H));

        double worst = 0, along = 0, asymmetry = 0;
        for (int64_t c = 0; c < pairs; c++) {
            double *p = phi + c * b.rows, *h = H + c * b.rows, lambda = b.lambda[pair[2 * c]], size = 0, left = 0,
                   norm = 0;
            sp_sparse_times(&context, &b.K, 1, p, Kp);
            sp_sparse_times(&context, &b.M, 1, p, Mp);
            for (int64_t k = 0; k < b.rows; k++) {
                Kp[k] += -lambda * Mp[k] + h[k];
                size += h[k] * h[k];
                norm += p[k] * Mp[k];
            }

            for (int64_t m = 0; m < b.count; m++) { /* the residual must be in the span of MΨ */
                double part = 0, orthogonal = 0;
                for (int64_t k = 0; k < b.rows; k++) {
                    part += b.U[m * b.rows + k] * Kp[k];
                    orthogonal += b.U[m * b.rows + k] * Mp[k];
                }
                along = fmax(along, fabs(orthogonal) / sqrt(norm));
                sp_sparse_times(&context, &b.M, 1, b.U + m * b.rows, Mp);
                for (int64_t k = 0; k < b.rows; k++)
                    Kp[k] -= part * Mp[k];
                sp_sparse_times(&context, &b.M, 1, p, Mp);
            }
            for (int64_t k = 0; k < b.rows; k++)
                left += Kp[k] * Kp[k];
            worst = fmax(worst, sqrt(left / size));

            int64_t i = pair[2 * c] - 6, j = pair[2 * c + 1] - 6, other = j * elastic + i;
            for (int64_t k = 0; k < b.rows && !cube; k++)
                asymmetry = fmax(asymmetry, fabs(p[k] - phi[other * b.rows + k]) / sqrt(norm));
        }

        NOTE("%s: residual %.1e, along the modes %.1e, %lld iterations", cube ? "cube" : "box", worst, along,
             (long long)report.iterations);
        CHECK(worst < 1e-8, "residual %g", worst);
        CHECK(along < 1e-10, "a derivative has %g along a mode", along);
        if (!cube)
            CHECK(asymmetry > 1e-3, "derivatives (i,j) and (j,i) are the same: %g", asymmetry);
    }
}

/* Invariant subspace of the lowest `count` eigenvectors of K(u) and M by LAPACK, with ΨᵀMS = I: the one basis of it
 * that can be compared. */
static void tangent_subspace(free_body *b, const double *u, int64_t count, double *S)
{
    int64_t n = b->rows;
    OWNED(sp_sparse) K;
    CHECK_OK(sp_fe_space_matrix(&context, &b->body, &K));
    sp_elastic_tangent(&context, &b->body, u, 1, false, NULL, &K);
    double *A = test_new(n * n, 8), *B = test_new(n * n, 8), *value = test_new(n, 8), *MS = test_new(n * count, 8),
           *G = test_new(count * count, 8);
    lapack_int *pivot = test_new(count, sizeof *pivot);
    for (int64_t row = 0; row < n; row++) {
        for (int64_t k = K.start[row]; k < K.start[row + 1]; k++)
            A[K.index[k] * n + row] = K.value[k];
        for (int64_t k = b->M.start[row]; k < b->M.start[row + 1]; k++)
            B[b->M.index[k] * n + row] = b->M.value[k];
    }
    CHECK(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)n, A, (int)n, B, (int)n, value) == 0, "dsygv failed");
    CHECK(value[count] - value[count - 1] > 1e-3 * value[count], "the subspace is not apart from the rest");
    sp_sparse_times(&context, &b->M, count, A, MS);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)count, (int)count, (int)n, 1, b->U, (int)n, MS, (int)n, 0,
                G, (int)count);
    /* S = A G⁻¹, that is Gᵀ Sᵀ = Aᵀ, by inverting G */
    CHECK(LAPACKE_dgetrf(LAPACK_COL_MAJOR, (int)count, (int)count, G, (int)count, pivot) == 0 &&
              LAPACKE_dgetri(LAPACK_COL_MAJOR, (int)count, G, (int)count, pivot) == 0,
          "the subspaces have nothing in common");
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)count, (int)count, 1, A, (int)n, G, (int)count,
                0, S, (int)n);
}

/* Φ_ij is the derivative of the subspace of the modes as the body deforms along Ψ_j, by central differences, also where
 * eigenvalues are multiple (a cube): single eigenvectors have no derivative there, the subspace has. */
TEST(derivatives_are_those_of_the_subspace)
{
    FREED_BY(end_free) free_body b;
    int64_t elastic = 5, k = 6 + elastic;
    make_free(3, 3, 3, 0, k, &b);
    int64_t pair[50], pairs = 0;
    for (int64_t i = 6; i < k; i++)
        for (int64_t j = 6; j < k; j++) {
            pair[2 * pairs] = i;
            pair[2 * pairs++ + 1] = j;
        }

    double *phi = test_new(b.rows * pairs, 8), *u = test_new(b.rows, 8), *plus = test_new(b.rows * k, 8),
           *minus = test_new(b.rows * k, 8);
    sp_free_derivatives_report report;
    CHECK_OK(sp_free_modal_derivatives(&context, &b.body, b.count, b.U, b.lambda, pairs, pair, NULL, phi, &report));

    double previous = 0;
    for (int halving = 0; halving < 3; halving++) {
        double worst = 0;
        for (int64_t j = 6; j < k; j += 2) {
            double largest = 0, step;
            for (int64_t i = 0; i < b.rows; i++)
                largest = fmax(largest, fabs(b.U[j * b.rows + i]));
            step = 0.004 / (1 << halving) / largest; /* metres of the largest displacement, of a cube of 0.6 */
            for (int64_t i = 0; i < b.rows; i++)
                u[i] = step * b.U[j * b.rows + i];
            tangent_subspace(&b, u, k, plus);
            for (int64_t i = 0; i < b.rows; i++)
                u[i] = -u[i];
            tangent_subspace(&b, u, k, minus);

            for (int64_t c = 0; c < pairs; c++) {
                if (pair[2 * c + 1] != j)
                    continue;
                double error = 0, size = 0;
                for (int64_t i = 0; i < b.rows; i++) {
                    double quotient = (plus[pair[2 * c] * b.rows + i] - minus[pair[2 * c] * b.rows + i]) / (2 * step);
                    error += (quotient - phi[c * b.rows + i]) * (quotient - phi[c * b.rows + i]);
                    size += quotient * quotient;
                }
                worst = fmax(worst, sqrt(error / size));
            }
        }

        NOTE("step %g m: derivative off by %.2e%s", 0.004 / (1 << halving), worst,
             halving ? "" : " (relative, worst pair)");
        if (halving)
            CHECK(log2(previous / worst) > 1.9, "slope %g", log2(previous / worst));
        previous = worst;
    }
    CHECK(previous < 1e-2, "off by %g", previous);
}

/* Two free pieces have twelve rigid motions, not six: refused. The same for a free piece beside a fixed one. */
TEST(separate_free_pieces_are_refused)
{
    for (int prescribed = 0; prescribed <= 1; prescribed++) {
        OWNED(sp_mesh) one, two;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) M;
        int64_t count;

        /* The box twice, the second one 5 m away */
        make_box(2, 2, 2, 0.2, 0, &one);
        make_box(2, 2, 4, 0.2, 0, &two); /* room for both */
        two.block[SP_HEX8].count = 2 * one.block[SP_HEX8].count;
        two.vertex_count = 2 * one.vertex_count;
        two.vertices = sp_pool_new(&two.pool, 3 * two.vertex_count, sizeof(double));
        for (int64_t v = 0; v < one.vertex_count; v++)
            for (int c = 0; c < 3; c++) {
                two.vertices[3 * v + c] = one.vertices[3 * v + c];
                two.vertices[3 * (one.vertex_count + v) + c] = one.vertices[3 * v + c] + (c == 0 ? 5 : 0);
            }
        for (int64_t i = 0; i < 8 * one.block[SP_HEX8].count; i++) {
            two.block[SP_HEX8].node[i] = one.block[SP_HEX8].node[i];
            two.block[SP_HEX8].node[8 * one.block[SP_HEX8].count + i] = one.block[SP_HEX8].node[i] + one.vertex_count;
        }

        if (prescribed)
            CHECK_OK(sp_mesh_fix_list(&context, &two, 4, (int64_t[]){0, 1, 3, 9}, 7));
        CHECK_OK(sp_fe_space_new(&context, &two, &body));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
        double *R = test_new(6 * body.dof_count, 8);
        CHECK(sp_rigid_motions(&context, &body, &M, R, &count) == SP_INPUT &&
                  strstr(context.message, "2 separate pieces"),
              "%s", context.message);
    }
}

/* An external stiffness that resists rigid motions (K + 50 M): its six lowest eigenvalues are 50, not 0. */
TEST(foreign_stiffness_is_believed)
{
    FREED_BY(end_free) free_body b;
    make_free(3, 2, 2, 0.1, 8, &b);
    double *rigid = test_new(6 * b.rows, 8), lambda[8], residual[8], *vector = test_new(8 * b.rows, 8);
    int64_t count;
    CHECK_OK(sp_rigid_motions(&context, &b.body, &b.M, rigid, &count));
    for (int64_t row = 0; row < b.M.order; row++)
        for (int64_t k = b.M.start[row], at = b.K.start[row]; k < b.M.start[row + 1]; k++) {
            while (b.K.index[at] != b.M.index[k])
                at++;
            b.K.value[at] += 50 * b.M.value[k];
        }
    sp_modes_report report;
    CHECK_OK(sp_modes(&context, &b.K, &b.M, NULL, count, rigid, &(sp_modes_parameters){.count = 8}, lambda, vector,
                      residual, &report));
    CHECK(report.rigid == 0, "%lld rigid modes", (long long)report.rigid);
    for (int i = 0; i < 8; i++)
        CHECK_NEAR(lambda[i], b.lambda[i] + 50, 1e-8 * lambda[i]);
}
