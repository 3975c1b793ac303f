#include "tools/curve/curve.h"

#include "formats/loads.h"
#include "reduced/galerkin.h"

#include <math.h>
#include <string.h>

/* The loads must be forces without beginning and end. */
static void check_loads(const char *path, int64_t count, const sp_load *loads)
{
    for (int64_t i = 0; i < count; i++) {
        if (loads[i].kind == SP_LOAD_SPRING)
            tool_fail(SP_USAGE, path, "load %lld is a spring, which simcurve does not have", (long long)i + 1);
        if (loads[i].course.kind != SP_COURSE_CONSTANT)
            tool_fail(SP_USAGE, path, "load %lld has a course: simcurve takes its amplitude alone", (long long)i + 1);
        if (loads[i].start != 0 || !isinf(loads[i].end))
            tool_fail(SP_USAGE, path, "load %lld acts from %g to %g s: loads of periodic motion act from 0 to inf",
                      (long long)i + 1, loads[i].start, loads[i].end);
    }
}

/* sum [r] += factor · the generalized force of a load set, gravity included. */
static void add_set(const sp_load_set *set, double factor, bool gravity, double *sum)
{
    for (int64_t i = 0; i < set->n; i++) {
        sum[i] += gravity ? factor * set->gravity[i] : 0;
        for (int64_t k = 0; k < set->force_count; k++)
            sum[i] += factor * set->columns[k * set->n + i];
    }
}

/* Adds the force of other loads, or of an acceleration of the body. */
static void add_loads(curve_model *m, int64_t count, const sp_load *loads, const double acceleration[3], double factor,
                      const char *path, double *sum)
{
    simulation *s = &m->s;
    sp_load_set set;
    tool_check(sp_load_set_new(s->context, s->body, s->basis.columns.U, s->r, count, loads, acceleration,
                               &s->model.system, &set),
               path);
    add_set(&set, factor, true, sum);
    sp_load_set_free(&set);
}

static void read_static(curve_model *m, const char *path, double *sum)
{
    simulation *s = &m->s;
    int64_t bytes;
    if (!path)
        return;
    char *text = tool_read_bytes(path, "static-loads", &m->pool, &bytes);
    tool_check(sp_loads_parse(s->context, text, bytes, &s->mesh.mesh, &m->pool, &m->static_count, &m->statics), path);
    check_loads(path, m->static_count, m->statics);
    add_loads(m, m->static_count, m->statics, (const double[3]){0}, 1, path, sum);
}

static void make_force(curve_model *m)
{
    simulation *s = &m->s;
    const double *U = s->basis.columns.U;
    switch (s->choice->model) {
    case SP_MODEL_POLYNOMIALS:
        tool_check(sp_polynomial_reduced_force(s->context, &s->polynomials, s->r, &m->force), s->choice->polynomials);
        break;
    case SP_MODEL_CUBATURE:
        tool_check(sp_cubature_force_new(s->context, s->body, &s->cubature, s->r, U, &m->force), s->choice->cubature);
        break;
    default:
        tool_check(sp_galerkin_force_new(s->context, s->body, s->r, U, &m->force), s->mesh.path);
    }
}

static double *reduced_mass(curve_model *m)
{
    const int64_t r = m->s.r;
    double *mass = tool_allocate(&m->pool, r * r, sizeof *mass), *unit = tool_allocate(&m->pool, r, sizeof *unit);
    for (int64_t j = 0; j < r; j++) {
        unit[j] = 1;
        m->s.model.system.mass_times(m->s.model.system.self, unit, mass + j * r);
        unit[j] = 0;
    }
    return mass;
}

/* The component that moves most in a linear mode: in that of a backbone, else in the first one that is not rigid. */
static void choose_probe(curve_model *m, const curve_choice *choice)
{
    const simulation *s = &m->s;
    const double *U = s->basis.columns.U;
    const int64_t r = s->r;
    int64_t mode = 0, largest = 0;
    double most = 0;
    sp_harmonic h;
    tool_check(sp_harmonic_new(s->context, &m->periodic, &h), s->choice->basis);
    if (choice->backbone)
        mode = choice->mode <= r ? choice->mode - 1 : 0; /* others are refused later */
    else
        while (mode + 1 < r && h.eigenvalue[mode] <= 1e-9 * h.eigenvalue[r - 1])
            mode++;
    for (int64_t i = 0; i < 3 * s->mesh.mesh.vertex_count; i++) {
        double u = 0;
        for (int64_t j = 0; j < r; j++)
            u += U[j * s->basis.columns.rows + i] * h.V[mode * r + j];
        largest = fabs(u) > most * (1 + 1e-6) ? i : largest;
        most = fmax(most, fabs(u));
    }
    sp_harmonic_free(&h);
    m->probe.vertex = largest / 3;
    m->axis = (int)(largest % 3);
}

static void find_probe(curve_model *m, const curve_choice *choice)
{
    const simulation *s = &m->s;
    const char *text = choice->probe;
    const sp_mesh *mesh = &s->mesh.mesh;
    const tool_place_names names = {s->context, "probe", mesh->vertex_count, mesh, s->mesh.path};
    const int64_t *corner;
    const double *weight;
    if (text)
        m->probe = tool_place_axis(&names, text, &m->axis);
    else
        choose_probe(m, choice);
    m->row = tool_allocate(&m->pool, s->r, sizeof *m->row);
    const int count = tool_place_corners(mesh, &m->probe, &corner, &weight);
    for (int c = 0; c < count; c++)
        for (int64_t j = 0; j < s->r; j++)
            m->row[j] += weight[c] * s->basis.columns.U[j * s->basis.columns.rows + 3 * corner[c] + m->axis];
}

void curve_model_read(sp_context *context, const curve_choice *choice, curve_model *m)
{
    *m = (curve_model){.s = {.context = context, .choice = &choice->model}};
    simulation *s = &m->s;
    simulation_read(s);
    check_loads(choice->model.loads, s->load_count, s->loads);
    simulation_make(s);
    make_force(m);
    double *still = tool_allocate(&m->pool, s->r, sizeof *still),
           *amplitude = tool_allocate(&m->pool, s->r, sizeof *amplitude);
    for (int64_t i = 0; i < s->r; i++) /* gravity is constant, the other loads of the model are harmonic */
        still[i] = s->model.loads.gravity[i];
    add_set(&s->model.loads, 1, false, amplitude);
    read_static(m, choice->static_loads, still);
    add_loads(m, 0, NULL, choice->base, -1, NULL, amplitude);
    m->periodic = (sp_periodic_model){.force = &m->force,
                                      .mass = reduced_mass(m),
                                      .constant = still,
                                      .amplitude = amplitude,
                                      .damping_mass = s->damping_mass,
                                      .damping_stiffness = s->damping_stiffness,
                                      .damping_ratio = choice->ratio,
                                      .harmonics = choice->harmonics};
    find_probe(m, choice);
}

void curve_model_free(curve_model *m)
{
    if (m->force.destroy)
        m->force.destroy(m->force.self);
    simulation_free(&m->s);
    sp_pool_free(&m->pool);
}
