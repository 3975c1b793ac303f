/* Bodies of full-order models, their loads and prescribed motion, and runs. */
#ifndef TESTS_UNIT_FULL_MODELS_H
#define TESTS_UNIT_FULL_MODELS_H

#include "assembly/viscous.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/models.h"

OWNER(sp_integrator)

typedef struct build {
    bool linear, lumped, loose; /* loose: nothing is fixed; otherwise the face x = 0 is fixed */
    double young, poisson;      /* 0: the materials of bodies.h */
    enum sp_law law;
} build;

typedef struct thing {
    sp_pool pool; /* of all vectors of a test */
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    int64_t rows, n;
    double *mass; /* [vertices] */
} thing;

static inline double *vector(thing *t, int64_t n)
{
    return sp_pool_new(&t->pool, n, sizeof(double));
}

static inline void finish_thing(thing *t, build k)
{
    if (k.young > 0) {
        t->mesh.materials[0].young = k.young;
        t->mesh.materials[0].poisson = k.poisson;
    }
    t->mesh.materials[0].law = k.law;
    CHECK_OK(sp_fe_space_new(&context, &t->mesh, &t->body));
    CHECK_OK(sp_full_system_new(&context, &t->body, k.linear, k.lumped, NULL, &t->system));
    t->rows = 3 * t->mesh.vertex_count;
    t->n = t->system.n;
    t->mass = vector(t, t->mesh.vertex_count);
    sp_fe_space_vertex_mass(&t->body, true, t->mass);
}

static inline void make_thing(int nx, int ny, int nz, double edge, double distort, build k, thing *t)
{
    *t = (thing){0};
    make_box(nx, ny, nz, edge, distort, &t->mesh);
    if (!k.loose)
        fix_end(&t->mesh, 0.5 * edge);
    finish_thing(t, k);
}

static inline void thing_free(thing *t)
{
    sp_full_system_free(&t->system);
    sp_fe_space_free(&t->body);
    sp_mesh_free(&t->mesh);
    sp_pool_free(&t->pool);
}

/* A constant vector on every free vertex. */
static inline double *uniform(thing *t, double x, double y, double z)
{
    double *q = vector(t, t->n), value[3] = {x, y, z};
    for (int64_t i = 0; i < t->n; i++)
        q[i] = value[t->body.free[i] % 3];
    return q;
}

static inline double *weight(thing *t, double x, double y, double z)
{
    double *f = uniform(t, x, y, z);
    for (int64_t i = 0; i < t->n; i++)
        f[i] *= t->mass[t->body.free[i] / 3];
    return f;
}

/* A smooth field, zero on the fixed face. */
static inline double *bend(thing *t, double size)
{
    double *q = vector(t, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        const double *x = t->mesh.vertices + t->body.free[i] / 3 * 3,
                     part[3] = {0.3 * x[0] * x[1], x[0] * x[0], -2 * x[0] * x[0] + 0.2 * x[0] * x[2]};
        q[i] = size * part[t->body.free[i] % 3];
    }
    return q;
}

typedef struct drive {
    thing *t;
    const double *force;    /* [n], times cos(swing time) */
    double swing;           /* rad/s */
    double v[3], a[3], lag; /* fixed vertices: u = v t + a (½ t² + lag t) + shake sin(beat t) */
    double shake[3], beat;
    sp_spring spring; /* acts from spring_from on, with an anchor that moves at spring_speed; stiffness 0: no spring */
    double spring_from, spring_speed;
    bool acting;
} drive;

static inline void drive_mean(void *self, double t0, double t1, double *f)
{
    const drive *d = self;
    const double part = d->swing == 0 ? 1 : (sin(d->swing * t1) - sin(d->swing * t0)) / (d->swing * (t1 - t0));
    for (int64_t i = 0; i < d->t->n; i++)
        f[i] = d->force ? part * d->force[i] : 0;
}

static inline bool drive_springs(void *self, double t0, double t1)
{
    drive *d = self;
    const double middle = 0.5 * (t0 + t1);
    const bool acts = d->spring.stiffness > 0 && middle >= d->spring_from,
               changed = acts != d->acting || (acts && d->spring_speed != 0);
    if (!changed)
        return false;
    d->acting = acts;
    d->spring.anchor[0] = 0.5 + d->spring_speed * middle;
    d->t->system.set_springs(d->t->system.self, acts, &d->spring);
    return true;
}

static inline void drive_held(void *self, double time, double *u, double *v)
{
    const drive *d = self;
    for (int64_t i = 0; i < d->t->rows; i++)
        if (d->t->body.dof[i] < 0) {
            const int c = (int)(i % 3);
            u[i] = d->v[c] * time + d->a[c] * (0.5 * time + d->lag) * time + d->shake[c] * sin(d->beat * time);
            v[i] = d->v[c] + d->a[c] * time + d->shake[c] * d->beat * cos(d->beat * time);
        }
}

static inline sp_external_loads driven(drive *d, bool prescribed)
{
    return (sp_external_loads){
        .self = d, .mean = drive_mean, .springs = drive_springs, .prescribed = prescribed ? drive_held : NULL};
}

static inline sp_integrator_parameters with(enum sp_integrator_kind kind, double h)
{
    return (sp_integrator_parameters){
        .kind = kind, .step = h, .beta = kind == SP_LINEAR_EULER ? 1 : 0.25, .gamma = 0.5};
}

static inline sp_integrator *begin_run(const sp_system *system, const sp_external_loads *forcing,
                                       sp_integrator_parameters p, const double *q, const double *v)
{
    sp_integrator *it = NULL;
    CHECK_OK(sp_integrator_new(&context, system, forcing, &p, q, v, &it));
    return it;
}

static inline void steps(sp_integrator *it, int64_t count)
{
    for (int64_t s = 0; s < count; s++)
        if (sp_integrator_step(it) != SP_OK) {
            CHECK(false, "%s", context.message);
            return;
        }
}

/* Kinetic + stored − work + dissipated. */
static inline double balance(sp_integrator *it)
{
    double e[SP_WORK_COUNT];
    sp_integrator_energies(it, e);
    return e[SP_WORK_KINETIC] + e[SP_WORK_STORED] - e[SP_WORK_EXTERNAL] + e[SP_WORK_DISSIPATED];
}

static void (*real_start)(void *self, double mass_scale);
static double (*real_add)(void *self, const double *q, double scale, double spring_scale, bool definite, double *f);
static int (*real_factor)(void *self);
static double seen_mass, seen_spring, fail_below, fail_above = INFINITY;

static inline void watched_start(void *self, double mass_scale)
{
    seen_mass = mass_scale;
    real_start(self, mass_scale);
}

static inline double watched_add(void *self, const double *q, double scale, double spring_scale, bool definite,
                                 double *f)
{
    if (spring_scale != 0)
        seen_spring = spring_scale;
    return real_add(self, q, scale, spring_scale, definite, f);
}

static inline int watched_factor(void *self)
{
    return seen_mass < fail_below || seen_spring > fail_above ? SP_NUMERICAL : real_factor(self);
}

static inline sp_system watched(const sp_system *system)
{
    sp_system copy = *system;
    real_start = copy.matrix_start;
    real_add = copy.matrix_add;
    real_factor = copy.matrix_factor;
    copy.matrix_start = watched_start;
    copy.matrix_add = watched_add;
    copy.matrix_factor = watched_factor;
    fail_below = 0;
    fail_above = INFINITY;
    return copy;
}

static const double gravity = 9.81;

/* A block of edges 0.1 m whose lower face lies in the ground z ≤ 0, rotated by `slope` about y, under gravity. The
 * weight is rotated into the axes of the block. */
static inline double *block_on_ground(thing *t, int cells, build k, double slope, double kappa, double alpha,
                                      double friction)
{
    k.loose = true;
    make_thing(cells, cells, cells, 0.1 / cells, 0, k, t);
    /* a little inside at rest */
    CHECK_OK(sp_full_system_grounds(&t->system, 1, &(sp_ground){{0, 0, 2}, 1e-9, kappa, alpha, friction}));
    return weight(t, gravity * sin(slope), 0, -gravity * cos(slope));
}

/* Its equilibrium on a ground that only pushes, by statics on one with α. */
static inline double *resting_place(thing *t, double kappa, double cosine)
{
    double *f = weight(t, 0, 0, -gravity * cosine), *q = vector(t, t->n), *dq = vector(t, t->n), *r = vector(t, t->n);
    for (int k = 0; k < 12; k++) {
        t->system.vertices.begin(t->system.self, q);
        t->system.matrix_start(t->system.self,
                               k < 8 ? 1e-6 * kappa : 1e-9 * kappa); /* nothing else fixes it along the ground */
        t->system.matrix_add(t->system.self, q, 1, 1, false, r);
        CHECK_OK(t->system.matrix_factor(t->system.self));
        for (int64_t i = 0; i < t->n; i++)
            r[i] -= f[i];
        CHECK_OK(t->system.matrix_solve(t->system.self, r, dq));
        for (int64_t i = 0; i < t->n; i++)
            q[i] -= dq[i];
    }
    t->system.vertices.begin(t->system.self, q);
    return q;
}

/* Prescribed motion, oscillating loads, moving springs and ground planes, in all models that support them; h is a power
 * of two, so that times of sub-steps are exact. */
typedef struct scene {
    thing t;
    drive d;
    bool prescribed;
} scene;

static inline void make_scene(enum sp_integrator_kind kind, bool linear, scene *s)
{
    const bool energy = kind == SP_ENERGY;
    make_thing(2, 1, 1, 0.1, 0.1, (build){.linear = linear, .young = 1e5, .poisson = 0.3}, &s->t);
    s->prescribed = !energy;
    s->d = (drive){.t = &s->t,
                   .force = weight(&s->t, 3, 0, -9.81),
                   .swing = kind == SP_NEWMARK || kind == SP_BDF2 ? 0 : 70,
                   .spring = {11, {0.5, 0.1, 0.2}, 40},
                   .spring_from = 11.5 / 512};
    if (!energy) {
        memcpy(s->d.shake, (double[]){0.01, 0.02, -0.01}, sizeof s->d.shake);
        s->d.beat = 50;
        CHECK_OK(sp_full_system_grounds(
            &s->t.system, 1,
            &(sp_ground){{0.2, 0, 1}, 0.01, 500, 0.2, kind == SP_BDF2 || kind == SP_STATIC ? 0 : 0.3}));
    }
}

static inline sp_integrator_parameters scene_parameters(enum sp_integrator_kind kind, double h)
{
    sp_integrator_parameters p = with(kind, h);
    p.damping_mass = kind == SP_STATIC ? 0 : 1;
    p.damping_stiffness = kind == SP_STATIC ? 0 : 1e-3;
    return p;
}

static inline void scene_free(scene *s)
{
    thing_free(&s->t);
}

BEFORE_TESTS()
{
    context.threads = 1; /* small bodies; see same_bytes_for_any_threads */
}

#endif
