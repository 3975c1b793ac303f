/* Two trajectories of one mesh as motions: norms of their difference over common vertices and frames, and probes. */
#include "tools/common/trajectory.h"
#include "tools/compare/compare.h"
#include "tools/compare/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A probe with the component that is looked at. */
typedef struct axis_probe {
    const char *text;
    tool_probe probe;
    int axis;
} axis_probe;

typedef struct side {
    tool_trajectory motion;
    int64_t frame, frames; /* the frame that is looked at; how many were matched */
    bool whole;            /* the displacement of every vertex is known */
    double *u, *v;         /* [3·common] */
    sp_list time;          /* double, of all frames, where there are probes */
    sp_list *value;        /* [probes] double */
} side;

typedef struct sums {
    double difference, reference; /* of squares */
    double largest_difference, largest_reference;
} sums;

typedef struct motions {
    comparison *c;
    side a, b;
    int64_t common, *vertex; /* [common] the vertices; NULL: all */
    int64_t probe_count;
    axis_probe *probes;
    sp_pool pool;
} motions;

/* ---- opening ---- */

static void open_side(const comparison *c, const char *path, side *s)
{
    const char *paths[300];
    int64_t count = 0;
    paths[count++] = path;
    if (c->mesh)
        paths[count++] = c->mesh;
    for (int64_t i = 0; i < c->bases->count; i++)
        paths[count++] = c->bases->value[i];
    tool_trajectory_open(c->context, count, paths, TOOL_MOTION_STREAM, &s->motion);
    if (!tool_trajectory_have(&s->motion, 0))
        tool_fail(SP_INPUT, path, "it has no frame");
    s->whole = s->motion.columns.path || (s->motion.trajectory.u && !s->motion.point);
    if (!s->whole && !s->motion.trajectory.u)
        tool_trajectory_need_all(&s->motion); /* says which basis is missing */
}

static const char *mesh_hash(const side *s)
{
    const char *hash = json_string_value(json_object_get(s->motion.trajectory.meta, "mesh"));
    return hash ? hash : "";
}

static bool knows(const side *s, int64_t vertex)
{
    return s->whole || s->motion.point[vertex] >= 0;
}

static void find_common(motions *m)
{
    int64_t vertices = m->a.motion.vertex_count;
    tool_check_hash(m->c->a, "mesh", mesh_hash(&m->a), mesh_hash(&m->b));
    if (m->b.motion.vertex_count != vertices)
        tool_fail(SP_INPUT, m->c->a, "it is of %lld vertices, %s of %lld", (long long)vertices, m->c->b,
                  (long long)m->b.motion.vertex_count);
    m->common = vertices;
    if (!m->a.whole || !m->b.whole) {
        m->vertex = tool_allocate_raw(&m->pool, vertices, sizeof *m->vertex);
        m->common = 0;
        for (int64_t v = 0; v < vertices; v++)
            if (knows(&m->a, v) && knows(&m->b, v))
                m->vertex[m->common++] = v;
        if (m->common == 0)
            tool_fail(SP_INPUT, m->c->a, "it and %s have recorded no vertex in common", m->c->b);
    }
    side *sides[] = {&m->a, &m->b};
    for (int i = 0; i < 2; i++) {
        sides[i]->u = tool_allocate_raw(&m->pool, 3 * m->common, sizeof(double));
        sides[i]->v = tool_allocate_raw(&m->pool, 3 * m->common, sizeof(double));
        sides[i]->value = tool_allocate(&m->pool, m->c->probes->count + 1, sizeof(sp_list));
    }
}

/* VERTEX:AXIS or surface:N:AXIS. */
static void parse_probes(motions *m)
{
    const tool_texts *texts = m->c->probes;
    m->probe_count = texts->count;
    m->probes = tool_allocate(&m->pool, texts->count + 1, sizeof *m->probes);
    for (int64_t i = 0; i < texts->count; i++) {
        const char *text = texts->value[i], *colon = strrchr(text, ':');
        sp_list list = {0};
        char *vertex = tool_allocate_copy(&m->pool, text, (int64_t)strlen(text) + 1, 1);
        if (!colon || colon[1] < 'x' || colon[1] > 'z' || colon[2])
            tool_fail(SP_USAGE, NULL, "--probe: \"%s\" is not VERTEX:x, :y or :z", text);
        vertex[colon - text] = 0;
        tool_probes_parse(&m->a.motion, "probe", vertex, &list);
        if (list.count != 1)
            tool_fail(SP_USAGE, NULL, "--probe: \"%s\" is not one vertex", text);
        m->probes[i] = (axis_probe){text, *(tool_probe *)list.data, colon[1] - 'x'};
        list.count = 0;
        tool_probes_parse(&m->b.motion, "probe", vertex, &list);
        sp_list_free(&list);
    }
}

/* ---- frames ---- */

static void keep(sp_list *list, double value)
{
    double *to = tool_list_add(list, 1, sizeof *to);
    *to = value;
}

/* Brings the side's frame: its block is read, its probes are kept. False at the end. */
static bool bring(motions *m, side *s)
{
    if (!tool_trajectory_have(&s->motion, s->frame))
        return false;
    if (m->probe_count == 0 || s->time.count > s->frame)
        return true;
    keep(&s->time, tool_trajectory_time(&s->motion, s->frame));
    for (int64_t i = 0; i < m->probe_count; i++) {
        double u[3];
        tool_trajectory_probe(&s->motion, m->probes[i].probe, s->frame, u, NULL);
        keep(&s->value[i], u[m->probes[i].axis]);
    }
    return true;
}

static void take_frame(const motions *m, side *s)
{
    if (!m->vertex) {
        tool_trajectory_displacement(&s->motion, s->frame, s->u);
        tool_trajectory_velocity(&s->motion, s->frame, s->v);
        return;
    }
    for (int64_t i = 0; i < m->common; i++)
        tool_trajectory_probe(&s->motion, (tool_probe){false, m->vertex[i]}, s->frame, s->u + 3 * i, s->v + 3 * i);
}

static void add(sums *to, int64_t count, const double *a, const double *b)
{
    for (int64_t i = 0; i < count; i++) {
        double difference = 0, reference = 0;
        for (int c = 0; c < 3; c++) {
            difference += (a[3 * i + c] - b[3 * i + c]) * (a[3 * i + c] - b[3 * i + c]);
            reference += b[3 * i + c] * b[3 * i + c];
        }
        to->difference += difference;
        to->reference += reference;
        to->largest_difference = fmax(to->largest_difference, sqrt(difference));
        to->largest_reference = fmax(to->largest_reference, sqrt(reference));
    }
}

static double total_energy(const side *s)
{
    const double *energy = tool_trajectory_energy(&s->motion, s->frame);
    return energy[SP_ENERGY_KINETIC] + energy[SP_ENERGY_STRAIN];
}

static noreturn void no_partner(const motions *m, const side *lonely)
{
    tool_fail(SP_INPUT, lonely == &m->a ? m->c->a : m->c->b,
              "its frame %lld at %.9g s has no frame at the same time in %s, and other frames have one: nothing is "
              "interpolated",
              (long long)lonely->frame, tool_trajectory_time(&lonely->motion, lonely->frame),
              lonely == &m->a ? m->c->b : m->c->a);
}

/* Goes through both by time. One may have more frames than the other, but not both frames that the other lacks while
 * they overlap. */
static int64_t walk(motions *m, sums *position, sums *velocity, sums *energy)
{
    int64_t matched = 0;
    side *a = &m->a, *b = &m->b, *lonely = NULL;
    bool has_a, has_b;
    while (has_a = bring(m, a), has_b = bring(m, b), has_a && has_b) {
        double at = tool_trajectory_time(&a->motion, a->frame), bt = tool_trajectory_time(&b->motion, b->frame);
        if (fabs(at - bt) > 1e-9 * fmax(fabs(at), fabs(bt))) {
            side *earlier = at < bt ? a : b;
            if (lonely && lonely != earlier && matched)
                no_partner(m, earlier);
            lonely = matched ? earlier : lonely;
            earlier->frame++;
            continue;
        }
        take_frame(m, a);
        take_frame(m, b);
        add(position, m->common, a->u, b->u);
        add(velocity, m->common, a->v, b->v);
        add(energy, 1, (double[]){total_energy(a), 0, 0}, (double[]){total_energy(b), 0, 0});
        matched++;
        a->frame++;
        b->frame++;
    }
    for (; has_a && m->probe_count; has_a = bring(m, a)) /* probes see every frame */
        a->frame++;
    for (; has_b && m->probe_count; has_b = bring(m, b))
        b->frame++;
    return matched;
}

/* ---- results ---- */

/* Difference by reference; 0 for two zeros. */
static double ratio(double difference, double reference)
{
    return difference == 0 ? 0 : difference / reference;
}

/* One quantity's two norms; true where both are in the tolerance. */
static bool report_norms(comparison *c, const char *name, const char *unit, const sums *s, int64_t values)
{
    double l2 = ratio(sqrt(s->difference), sqrt(s->reference)),
           largest = ratio(s->largest_difference, s->largest_reference);
    double mean = sqrt(s->difference / (double)values), mean_reference = sqrt(s->reference / (double)values);
    compare_print(c, "%-9s L2 %.6e  max %.6e  (largest difference %.6g of %.6g %s)\n", name, l2, largest,
                  s->largest_difference, s->largest_reference, unit);
    compare_row(c, "%s L2,,,%.17g,%.17g", name, mean, l2);
    compare_row(c, "%s max,,,%.17g,%.17g", name, s->largest_difference, largest);
    return mean <= c->absolute + c->relative * mean_reference &&
           s->largest_difference <= c->absolute + c->relative * s->largest_reference;
}

static double load_end(const side *s)
{
    const json_t *value = json_object_get(s->motion.trajectory.meta, "load_end");
    double end = json_is_number(value) ? json_number_value(value) : 0;
    return isfinite(end) ? end : 0;
}

static bool report_value(comparison *c, const char *probe, const char *what, double a, double b, const char *unit)
{
    bool none = isnan(a) && isnan(b);
    double difference = fabs(a - b), relative = none ? 0 : ratio(difference, fabs(b));
    compare_print(c, "probe %s %-9s %.9g and %.9g %s, relative difference %.3e\n", probe, what, a, b, unit,
                  none ? NAN : relative);
    compare_row(c, "probe %s %s,%.17g,%.17g,%.17g,%.17g", probe, what, a, b, difference, relative);
    return none || difference <= c->absolute + c->relative * fabs(b);
}

static bool report_probes(motions *m)
{
    comparison *c = m->c;
    bool same = true;
    double after = c->after >= 0 ? c->after : fmax(load_end(&m->a), load_end(&m->b));
    for (int64_t i = 0; i < m->probe_count; i++) {
        probe_measure a, b;
        probe_measure_series(m->a.time.count, m->a.time.data, m->a.value[i].data, after, &a);
        probe_measure_series(m->b.time.count, m->b.time.data, m->b.value[i].data, after, &b);
        same &= report_value(c, m->probes[i].text, "amplitude", a.amplitude, b.amplitude, "m");
        same &= report_value(c, m->probes[i].text, "frequency", a.frequency, b.frequency, "Hz");
        compare_print(c, "probe %s crossings after %.9g s: %lld and %lld half periods\n", m->probes[i].text, after,
                      (long long)a.half_periods, (long long)b.half_periods);
    }
    return same;
}

bool compare_motions(comparison *c)
{
    motions m = {.c = c};
    sums position = {0}, velocity = {0}, energy = {0};
    open_side(c, c->a, &m.a);
    open_side(c, c->b, &m.b);
    find_common(&m);
    parse_probes(&m);
    int64_t matched = walk(&m, &position, &velocity, &energy);
    if (matched == 0)
        tool_fail(SP_INPUT, c->a, "it and %s have no frame at the same time", c->b);
    compare_print(c, "common    %lld frames, %lld of %lld vertices\n", (long long)matched, (long long)m.common,
                  (long long)m.a.motion.vertex_count);
    compare_row(c, "quantity,a,b,difference,relative");
    bool norms = report_norms(c, "position", "m", &position, 3 * m.common * matched);
    norms &= report_norms(c, "velocity", "m/s", &velocity, 3 * m.common * matched);
    norms &= report_norms(c, "energy", "J", &energy, matched);
    bool same = m.probe_count ? report_probes(&m) : norms;
    compare_print(c, same ? "same within the tolerance\n" : "different\n");
    for (int64_t i = 0; i < m.probe_count; i++) {
        sp_list_free(&m.a.value[i]);
        sp_list_free(&m.b.value[i]);
    }
    sp_list_free(&m.a.time);
    sp_list_free(&m.b.time);
    tool_trajectory_close(&m.a.motion);
    tool_trajectory_close(&m.b.motion);
    sp_pool_free(&m.pool);
    return same;
}
