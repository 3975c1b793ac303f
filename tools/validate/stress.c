/* --stress: von Mises stress at the vertices, of the models and with static correction (run/static_correction.h). */
#include "tools/validate/validate.h"

#include "assembly/nodal_stress.h"
#include "material/stress.h"

#include <math.h>
#include <string.h>

struct validate_stress {
    double *u, *tensor, *mises; /* [3·vertices], [vertices, 6], [vertices]: displacements, stress, von Mises stress */
    double *full;               /* [frames.capacity, vertices] von Mises stress of the full-order model */
};

void stress_open(validation *v)
{
    if (!v->choice->stress)
        return;
    const int64_t vertices = v->full.s.mesh.mesh.vertex_count;
    struct validate_stress *w = v->stress = tool_allocate(&v->pool, 1, sizeof *w);
    w->u = tool_allocate(&v->pool, 3 * vertices, sizeof *w->u);
    w->tensor = tool_allocate(&v->pool, 6 * vertices, sizeof *w->tensor);
    w->full = tool_allocate(&v->pool, v->frames.capacity * vertices, sizeof *w->full);
    w->mises = tool_allocate(&v->pool, vertices, sizeof *w->mises);
    for (int64_t i = 0; i < v->run_count; i++)
        if (simulate_in_basis(&v->runs[i].choice))
            v->runs[i].correction = correct_begin(&v->runs[i].s, &v->runs[i].body);
}

void stress_close(validation *v)
{
    for (int64_t i = 0; i < v->run_count; i++)
        sp_static_correction_free(v->runs[i].correction);
}

static void mises_of(const validation *v, double *mises)
{
    const struct validate_stress *w = v->stress;
    const int64_t vertices = v->full.s.mesh.mesh.vertex_count;
    tool_check(sp_elastic_nodal_stress(v->context, v->full.s.body, w->u, w->tensor), v->full.s.mesh.path);
    for (int64_t i = 0; i < vertices; i++)
        mises[i] = sp_cauchy_mises(w->tensor + 6 * i);
}

void stress_bring(validation *v)
{
    struct validate_stress *w = v->stress;
    const int64_t vertices = v->full.s.mesh.mesh.vertex_count;

    for (int64_t k = 0; w && k < v->frames.count; k++) {
        memset(w->u, 0, (size_t)(3 * vertices) * sizeof *w->u);
        sp_fe_space_scatter(v->full.s.body, v->frames.u + k * v->mass.order, w->u);
        mises_of(v, w->full + k * vertices);
    }
}

/* Adds the difference of `mises` from the full-order model [vertices]. */
static void add(const validation *v, const double *full, validate_stress_sums *sums)
{
    const struct validate_stress *w = v->stress;
    for (int64_t i = 0; i < v->full.s.mesh.mesh.vertex_count; i++) {
        const double difference = w->mises[i] - full[i];
        sums->difference += difference * difference;
        sums->largest = fmax(sums->largest, w->mises[i]);
    }
}

void stress_add(validation *v, validate_run *run, int64_t frame)
{
    struct validate_stress *w = v->stress;
    const int64_t vertices = v->full.s.mesh.mesh.vertex_count;

    if (!w)
        return;

    const double *full = w->full + frame * vertices;
    for (int64_t i = 0; i < vertices; i++) {
        run->stress_square += full[i] * full[i];
        run->stress_largest = fmax(run->stress_largest, full[i]);
    }

    sp_model_at_vertices(&run->s.model, sp_integrator_q(run->integrator), NULL, vertices, NULL, w->u);
    mises_of(v, w->mises);
    add(v, full, &run->stress);

    if (!run->correction)
        return;
    correct_displacements(&run->s, run->correction, w->u);
    mises_of(v, w->mises);
    add(v, full, &run->corrected);
}

double stress_error(const validate_run *run, const validate_stress_sums *sums)
{
    return sums->difference > 0 ? sqrt(sums->difference / run->stress_square) : 0;
}

void stress_print(const validation *v, FILE *stream)
{
    fprintf(stream,
            "\nvon Mises stress at the vertices: relative error, and the largest of all frames [Pa]\n"
            "%-9s %7s %9s %11s %11s %11s %11s\n",
            "model", "r", "error", "corrected", "largest", "corrected", validation_reference(v));
    for (int64_t i = 0; i < v->run_count; i++) {
        const validate_run *run = &v->runs[i];
        char error[24] = "-", largest[24] = "-";
        if (run->failed)
            continue;

        if (run->correction) {
            snprintf(error, sizeof error, "%.2e", stress_error(run, &run->corrected));
            snprintf(largest, sizeof largest, "%.4g", run->corrected.largest);
        }

        fprintf(stream, "%-9s %7lld %9.2e %11s %11.4g %11s %11.4g\n", run->name, (long long)run->s.model.system.n,
                stress_error(run, &run->stress), error, run->stress.largest, largest, run->stress_largest);
    }
}
