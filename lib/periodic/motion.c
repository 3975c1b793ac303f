#include "periodic/motion.h"

#include "periodic/fourier.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* A motion in the coordinates of its harmonic balance. */
typedef struct room {
    sp_pool pool;
    sp_harmonic h;
    const sp_periodic_motion *motion;
    double *x;                          /* [2H + 1, r] coefficients of η, then Ω and its companions */
    double *eta, *rate, *first, *f, *K; /* η, dη/dθ, η at the phase 0, internal force, stiffness */
    double *q, *qdot;
    double work, stored, dissipated;
} room;

/* η = VᵀM q for each coefficient. */
static void fill_coefficients(room *m)
{
    sp_harmonic *h = &m->h;
    const int r = h->r;

    /* M V is the inverse of Vᵀ, so that Vᵀ M takes q to η. */
    for (int k = 0; k < h->columns; k++) {
        cblas_dsymv(CblasColMajor, CblasLower, r, 1, h->mass, r, m->motion->coefficients + (int64_t)k * r, 1, 0, m->f,
                    1);
        cblas_dgemv(CblasColMajor, CblasTrans, r, r, 1, h->V, r, m->f, 1, 0, m->x + (int64_t)k * r, 1);
    }
}

static int room_new(sp_context *context, const sp_periodic_model *model, const sp_periodic_motion *motion, room *m)
{
    const int64_t r = motion->r;
    *m = (room){.motion = motion};

    SP_PASS(sp_harmonic_new(context, model, &m->h));

    m->x = sp_pool_new(&m->pool, r * m->h.columns + 2, sizeof *m->x);
    double **vectors[] = {&m->eta, &m->rate, &m->first, &m->f, &m->q, &m->qdot};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&m->pool, r, sizeof(double));
    m->K = sp_pool_new(&m->pool, r * r, sizeof *m->K);

    SP_PASS(sp_allocated(context, !m->pool.failed));
    fill_coefficients(m);
    return SP_OK;
}

static void room_free(room *m)
{
    sp_harmonic_free(&m->h);
    sp_pool_free(&m->pool);
}

int sp_periodic_motion_residual(sp_context *context, const sp_periodic_model *model, const sp_periodic_motion *motion,
                                double *residual)
{
    room m;
    int status;
    const int64_t n = motion->r * (2 * motion->harmonics + 1);
    const bool is_free = motion->kind == SP_PERIODIC_BACKBONE;

    SP_TRY(room_new(context, model, motion, &m));
    double *res = sp_pool_new(&m.pool, n + 1, sizeof *res);
    SP_TRY(sp_allocated(context, res));

    m.h.kind = is_free ? SP_PERIODIC_BACKBONE : SP_PERIODIC_FORCE;
    m.h.frequency = motion->frequency;
    m.h.scale = 1;
    m.h.reference[motion->r] = 1; /* any phase */

    m.x[n] = is_free ? 0 : motion->factor;
    m.x[n + 1] = motion->frequency;

    /* The residual relative to the internal force */
    sp_harmonic_evaluate(&m.h, m.x, res, NULL, n + 1);
    const double scale = cblas_dnrm2((int)n, m.h.F, 1);
    *residual = cblas_dnrm2((int)n, res, 1) / (scale > 0 ? scale : 1);
done:
    room_free(&m);
    return status;
}

/* Adds the work of the harmonic load, the dissipation and the work of the internal force over a part of a period. */
static void add_part(room *m, double start, double width)
{
    static const double node[5] = {-0.90617984593866399, -0.53846931010568309, 0, 0.53846931010568309,
                                   0.90617984593866399},
                        weight[5] = {0.23692688505618909, 0.47862867049936647, 0.56888888888888889, 0.47862867049936647,
                                     0.23692688505618909};
    sp_harmonic *h = &m->h;
    const sp_periodic_motion *motion = m->motion;
    const int r = h->r;
    const bool damped = motion->kind != SP_PERIODIC_BACKBONE, stiff = damped && h->beta > 0;

    /* Gauss's rule with five points is exact for polynomials of degree 9 in the part. */
    for (int i = 0; i < 5; i++) {
        const double theta = start + 0.5 * width * (1 + node[i]), part = 0.5 * width * weight[i];
        double loss = 0;

        sp_fourier_at(r, motion->harmonics, m->x, theta, m->eta, m->rate, NULL);
        m->work += part * motion->factor * cos(theta) * cblas_ddot(r, h->amplitude, 1, m->rate, 1);

        /* Without an energy the work of the force is what is stored. */
        if (stiff || h->force.unsymmetric)
            sp_harmonic_tangent(h, m->eta, m->f, m->K);
        if (h->force.unsymmetric)
            m->stored += part * cblas_ddot(r, m->f, 1, m->rate, 1);

        /* The dissipation ∫ q̇ᵀ C q̇ dt is Ω ∫ η'ᵀ C η' dθ. */
        if (damped)
            for (int k = 0; k < r; k++)
                loss += h->damping[k] * m->rate[k] * m->rate[k];

        if (stiff) {
            cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, h->beta, m->K, r, m->rate, 1, 0, m->f, 1);
            loss += cblas_ddot(r, m->rate, 1, m->f, 1);
        }
        m->dissipated += part * motion->frequency * loss;
    }
}

/* The frame at a phase. The first one is at the time 0. */
static sp_periodic_frame frame_at(room *m, double theta, double time)
{
    sp_harmonic *h = &m->h;
    const sp_periodic_motion *motion = m->motion;
    const int r = h->r;
    const double omega = motion->frequency;

    sp_fourier_at(r, motion->harmonics, m->x, theta, m->eta, m->rate, NULL);
    sp_fourier_at(r, motion->harmonics, motion->coefficients, theta, m->q, m->qdot, NULL);
    cblas_dscal(r, omega, m->qdot, 1);
    if (time == 0)
        memcpy(m->first, m->eta, (size_t)r * sizeof *m->first);

    /* Strain energy, and the work of the constant loads since the first frame */
    const double strain = sp_harmonic_tangent(h, m->eta, NULL, m->K),
                 constant = cblas_ddot(r, h->constant, 1, m->eta, 1) - cblas_ddot(r, h->constant, 1, m->first, 1);
    return (sp_periodic_frame){.time = time,
                               .q = m->q,
                               .qdot = m->qdot,
                               .kinetic = 0.5 * omega * omega * cblas_ddot(r, m->rate, 1, m->rate, 1),
                               .stored = h->force.unsymmetric ? m->stored : strain,
                               .work = m->work + constant,
                               .dissipated = m->dissipated};
}

int sp_periodic_motion_frames(sp_context *context, const sp_periodic_model *model, const sp_periodic_motion *motion,
                              int64_t frames, int64_t periods, void (*visit)(void *data, const sp_periodic_frame *),
                              void *data)
{
    room m;
    const int64_t least = 4 * (motion->harmonics + 1), parts = (least + frames - 1) / frames;
    const double step = 2 * M_PI / (double)frames;
    const int status = room_new(context, model, motion, &m);

    for (int64_t i = 0; i <= frames * periods && status == SP_OK; i++) {
        const double theta = step * (double)(i % frames);
        const sp_periodic_frame frame = frame_at(&m, theta, (double)i * step / motion->frequency);

        visit(data, &frame);

        /* Work and dissipation up to the next frame, in parts that resolve the harmonics */
        for (int64_t k = 0; k < parts; k++)
            add_part(&m, theta + step * (double)k / (double)parts, step / (double)parts);
    }
    room_free(&m);
    return status;
}
