/* Periodic motions in the full-order model, their frames, and curves that are resumed. The body is two hexahedra with
 * 24 degrees of freedom, so that a basis of all of them makes both models the same. */
#include "fixture.h"
#include "model/models.h"
#include "periodic/curve.h"
#include "periodic/full.h"
#include "reduced/galerkin.h"

#include <cblas.h>
#include <lapacke.h>

OWNER(sp_full_residual)

enum { N = 24, H = 5, COLUMNS = 2 * H + 1, MOST = 400 };

typedef struct both {
    held_block block;
    sp_system system;
    int r;
    double U[N * N], mass[N * N], zero[N], load[N], reduced_load[N], S[N * N], K[N * N], M[N * N];
    sp_reduced_force force;
    sp_periodic_model reduced;
    sp_full_periodic_model full;
    double omega[N]; /* of the linear reduced model */
} both;

/* K(0) and M of the full-order model, column by column. */
static void fill_matrices(both *b)
{
    double unit[N] = {0}, rest[N] = {0};
    for (int j = 0; j < N; j++) {
        unit[j] = 1;
        b->system.mass_times(b->system.self, unit, b->M + N * j);
        b->system.tangent_times(b->system.self, rest, unit, b->K + N * j);
        unit[j] = 0;
    }
}

static void project(both *b)
{
    double half[N * N];
    const int r = b->r;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, r, N, 1, b->M, N, b->U, N, 0, half, N);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, r, N, 1, b->U, N, half, N, 0, b->mass, r);
    cblas_dgemv(CblasColMajor, CblasTrans, N, r, 1, b->U, N, b->load, 1, 0, b->reduced_load, 1);
}

/* The damping ratio of all linear modes as S = Σ 2ζω v vᵀ M. */
static void damp(both *b, double ratio)
{
    OWNED(sp_harmonic) h;
    const int r = b->r;
    CHECK_OK(sp_harmonic_new(&context, &b->reduced, &h));
    memset(b->S, 0, sizeof b->S);
    for (int k = 0; k < r; k++) {
        double Mv[N];
        b->omega[k] = sqrt(h.eigenvalue[k]);
        cblas_dsymv(CblasColMajor, CblasLower, r, 1, b->mass, r, h.V + (int64_t)k * r, 1, 0, Mv, 1);
        cblas_dger(CblasColMajor, r, r, 2 * ratio * b->omega[k], h.V + (int64_t)k * r, 1, Mv, 1, b->S, r);
    }
}

/* A basis of the first r linear modes of the body, N: all of its degrees of freedom. A load at the end. */
static void make(both *b, int r, double load, double alpha, double beta, double ratio)
{
    double *wide;
    memset(b, 0, sizeof *b);
    b->r = r;
    make_box(2, 1, 1, 0.3, 0.1, &b->block.mesh);
    hold_block(1, &b->block);
    CHECK(b->block.body.dof_count == N, "%lld", (long long)b->block.body.dof_count);
    CHECK_OK(sp_full_system_new(&context, &b->block.body, false, false, NULL, &b->system));
    fill_matrices(b);
    if (r == N)
        for (int i = 0; i < N; i++)
            b->U[i * N + i] = 1;
    else {
        double A[N * N], B[N * N], w[N];
        memcpy(A, b->K, sizeof A);
        memcpy(B, b->M, sizeof B);
        CHECK(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', N, A, N, B, N, w) == 0, "dsygv");
        memcpy(b->U, A, sizeof A);
    }
    for (int i = 0; i < N; i++)
        b->load[i] = load * (1 + 0.1 * (i % 3) + 0.01 * i);
    project(b);
    wide = sp_pool_new(&b->block.mesh.pool, b->block.rows * r, sizeof *wide);
    for (int j = 0; j < r; j++)
        for (int i = 0; i < N; i++)
            wide[j * b->block.rows + b->block.body.free[i]] = b->U[j * N + i];
    CHECK_OK(sp_galerkin_force_new(&context, &b->block.body, r, wide, &b->force));
    b->reduced = (sp_periodic_model){.force = &b->force,
                                     .mass = b->mass,
                                     .constant = b->zero,
                                     .amplitude = b->reduced_load,
                                     .damping_mass = alpha,
                                     .damping_stiffness = beta,
                                     .damping_ratio = ratio,
                                     .harmonics = H};
    damp(b, ratio);
    b->full = (sp_full_periodic_model){.system = &b->system,
                                       .r = r,
                                       .U = b->U,
                                       .constant = b->zero,
                                       .amplitude = b->load,
                                       .damping_mass = alpha,
                                       .damping_stiffness = beta,
                                       .modal = ratio > 0 ? b->S : NULL};
}

static void unmake(both *b)
{
    b->force.destroy(b->force.self);
    sp_full_system_free(&b->system);
    held_block_free(&b->block);
}

typedef struct points {
    int count, r;
    double frequency[MOST], x[MOST][COLUMNS * N];
    bool stable[MOST];
} points;

static bool visit(void *data, const sp_curve_point *point)
{
    points *p = data;
    p->frequency[p->count] = point->frequency;
    p->stable[p->count] = point->stable;
    memcpy(p->x[p->count], point->coefficients, (size_t)(COLUMNS * p->r) * sizeof(double));
    return ++p->count >= MOST;
}

/* A response below the first resonance, of a large amplitude. */
static sp_curve_parameters range_of(const both *b)
{
    return (sp_curve_parameters){SP_PERIODIC_RESPONSE, 0.6 * b->omega[0], 0.9 * b->omega[0], .most = MOST,
                                 .resolution = 0.2};
}

static sp_periodic_motion last_motion(const both *b, const points *p)
{
    return (sp_periodic_motion){SP_PERIODIC_RESPONSE, b->r, H, p->frequency[p->count - 1], 1, p->x[p->count - 1]};
}

/* With all degrees of freedom the residual is 0, and one period misses by the error of the time steps alone. */
TEST(same)
{
    static both b;
    static points p;
    sp_curve_report report;
    OWNED_POINTER(sp_full_residual) *residual;
    make(&b, N, 30, 1, 1e-4, 0.01);
    p = (points){.r = N};
    const sp_curve_parameters range = range_of(&b);
    CHECK_OK(sp_curve_trace(&context, &b.reduced, &range, visit, &p, &report));
    const sp_periodic_motion motion = last_motion(&b, &p);
    double relative, error[3], slower[3];
    CHECK_OK(sp_full_residual_new(&context, &b.full, H, b.omega[0], &residual));
    CHECK_OK(sp_full_residual_at(residual, &motion, &relative));
    NOTE("%d points, residual %.2g", p.count, relative);
    CHECK(relative < 1e-7, "%g", relative);
    for (int k = 0; k < 3; k++) {
        sp_full_closing closing;
        CHECK_OK(sp_full_periodic_close(&context, &b.full, &motion, 100 << k, &closing));
        error[k] = closing.position;
        slower[k] = closing.velocity;
    }
    CHECK_ORDERS(error, 2, 0.1, 0.1, "position");
    CHECK_ORDERS(slower, 2, 0.1, 0.1, "velocity");
    CHECK(error[0] < 0.01 && slower[0] < 0.01, "%g %g", error[0], slower[0]);
    unmake(&b);
}

/* One mode and a small load: the residual of harmonic 1 is that of the linear equation, by dense matrices. */
TEST(linear)
{
    static both b;
    static points p;
    sp_curve_report report;
    OWNED_POINTER(sp_full_residual) *residual;
    make(&b, 1, 1e-5, 2, 1e-3, 0);
    p = (points){.r = 1};
    const sp_curve_parameters range = range_of(&b);
    CHECK_OK(sp_curve_trace(&context, &b.reduced, &range, visit, &p, &report));
    const sp_periodic_motion motion = last_motion(&b, &p);
    const double w = motion.frequency, *x = motion.coefficients;
    double R[2 * N], F[2 * N], A[N * N], solved[2 * N], square[2];
    for (int i = 0; i < N; i++) {
        double Ku = cblas_ddot(N, b.K + i, N, b.U, 1), Mu = cblas_ddot(N, b.M + i, N, b.U, 1), Cu = 2 * Mu + 1e-3 * Ku;
        R[i] = (Ku - w * w * Mu) * x[1] + w * Cu * x[2] - b.load[i];
        R[N + i] = (Ku - w * w * Mu) * x[2] - w * Cu * x[1];
        F[i] = Ku * x[1];
        F[N + i] = Ku * x[2];
    }
    for (int k = 0; k < 2; k++) {
        int pivot[N];
        const double *force = k ? F : R;
        for (int i = 0; i < N * N; i++)
            A[i] = b.K[i] + b.omega[0] * b.omega[0] * b.M[i];
        memcpy(solved, force, sizeof solved);
        CHECK(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, 2, A, N, pivot, solved, N) == 0, "dgesv");
        square[k] = cblas_ddot(2 * N, force, 1, solved, 1);
    }
    double relative;
    CHECK_OK(sp_full_residual_new(&context, &b.full, H, b.omega[0], &residual));
    CHECK_OK(sp_full_residual_at(residual, &motion, &relative));
    NOTE("residual %.6g", relative);
    CHECK(relative > 0.01, "%g", relative);
    CHECK_NEAR(relative, sqrt(square[0] / square[1]), 1e-6 * relative);
    unmake(&b);
}

/* Without supports and with ω = 0 the norm's matrix is singular: the residual is refused, and there is none to free. */
TEST(no_norm)
{
    held_block block = {0};
    FREED_BY(sp_full_system_free) sp_system system;
    OWNED_POINTER(sp_full_residual) *residual = (sp_full_residual *)&block;
    make_box(2, 1, 1, 0.3, 0.1, &block.mesh);
    block.mesh.fixed_count = 0;
    CHECK_OK(sp_fe_space_new(&context, &block.mesh, &block.body));
    CHECK_OK(sp_full_system_new(&context, &block.body, false, false, NULL, &system));
    const sp_full_periodic_model model = {.system = &system};
    CHECK(sp_full_residual_new(&context, &model, H, 0, &residual) == SP_NUMERICAL && !residual, "a free body");
    sp_fe_space_free(&block.body);
    sp_mesh_free(&block.mesh);
}

/* What is kept of frames. */
typedef struct frames {
    int count;
    double first, last, work, dissipated, worst, scale, time;
} frames;

static void add_frame(void *data, const sp_periodic_frame *frame)
{
    frames *f = data;
    const double energy = frame->kinetic + frame->stored;
    if (f->count++ == 0)
        f->first = energy;
    f->last = energy;
    f->work = frame->work;
    f->dissipated = frame->dissipated;
    f->scale = fmax(f->scale, energy);
    f->worst = fmax(f->worst, fabs(energy - f->first - frame->work + frame->dissipated));
    f->time = frame->time;
}

/* At each instant energy, work and dissipation balance up to the harmonics that are left out. After two periods the
 * energy is the same, and the work is what damping took. */
TEST(energy)
{
    static both b;
    static points p;
    sp_curve_report report;
    frames f = {0};
    double residual;
    make(&b, 3, 10, 1, 1e-3, 0.02);
    p = (points){.r = 3};
    const sp_curve_parameters range = range_of(&b);
    CHECK_OK(sp_curve_trace(&context, &b.reduced, &range, visit, &p, &report));
    sp_periodic_motion motion = last_motion(&b, &p);
    CHECK_OK(sp_periodic_motion_frames(&context, &b.reduced, &motion, 10, 2, add_frame, &f));
    NOTE("energy %.4g J, dissipated %.4g J, balance off by %.2g of the energy", f.scale, f.dissipated,
         f.worst / f.scale);
    CHECK(f.count == 21 && f.dissipated > 1e-3 * f.scale && f.worst < 1e-6 * f.scale, "%d frames, %g", f.count,
          f.worst);
    CHECK_NEAR(f.work, f.dissipated, 1e-8 * f.dissipated);
    CHECK_NEAR(f.last, f.first, 1e-12 * f.scale);
    CHECK_NEAR(f.time, 4 * M_PI / motion.frequency, 1e-12 * f.time);
    CHECK_OK(sp_periodic_motion_residual(&context, &b.reduced, &motion, &residual));
    CHECK(residual < 1e-8, "%g", residual);
    motion.factor = 1.01;
    CHECK_OK(sp_periodic_motion_residual(&context, &b.reduced, &motion, &residual));
    CHECK(residual > 1e-4, "another load has a residual of %g", residual);
    unmake(&b);
}

/* A curve that is saved after some points and loaded into a new one ends with the same points, to the last bit. */
TEST(resumed)
{
    static both b;
    static points whole, part;
    sp_curve_report report;
    sp_curve *curve;
    sp_state state = {0};
    make(&b, 2, 40, 1, 1e-3, 0);
    whole = part = (points){.r = 2};
    sp_curve_parameters range = range_of(&b);
    range.high = 1.3 * b.omega[0];
    CHECK_OK(sp_curve_trace(&context, &b.reduced, &range, visit, &whole, &report));
    CHECK_OK(sp_curve_new(&context, &b.reduced, &range, visit, &part, &curve));
    CHECK_OK(sp_curve_begin(curve));
    for (int i = 0; i < 7; i++)
        CHECK_OK(sp_curve_step(curve));
    sp_curve_visit(curve, &state);
    sp_curve_free(curve);
    CHECK_OK(sp_curve_new(&context, &b.reduced, &range, visit, &part, &curve));
    state.loading = true;
    sp_curve_visit(curve, &state);
    CHECK(!state.failed && state.at == state.data.count, "the state was not read whole");
    while (!sp_curve_ended(curve))
        CHECK_OK(sp_curve_step(curve));
    const sp_curve_report again = sp_curve_reported(curve);
    NOTE("%d points", whole.count);
    CHECK(whole.count > 15 && part.count == whole.count && again.points == report.points, "%d of %d points", part.count,
          whole.count);
    CHECK(!memcmp(part.x, whole.x, sizeof whole.x) && !memcmp(part.frequency, whole.frequency, sizeof whole.frequency),
          "points differ");
    CHECK(again.worst_residual == report.worst_residual &&
              again.continuation.iterations == report.continuation.iterations,
          "the reports differ");
    sp_curve_free(curve);
    sp_list_free(&state.data);
    unmake(&b);
}
