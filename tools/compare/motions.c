/* Two trajectories of one mesh as motions: norms of their difference over common vertices and frames, and probes. */
#include "basis/mean_axes.h"
#include "tools/common/csv.h"
#include "tools/compare/probe.h"
#include "tools/compare/side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A probe with the component that is looked at. */
typedef struct axis_probe {
    const char *text;
    tool_place probe;
    int axis;
} axis_probe;

typedef struct side {
    compare_side s;
    int64_t frame;  /* the frame that is looked at */
    double *u, *v;  /* [3·common] */
    sp_list time;   /* double, of all frames, where there are probes */
    sp_list *value; /* [probes] double */
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
    sp_mean_axes axes; /* with --deformation; else zeroed */
    sp_pool pool;
} motions;

/* What is compared, each over all frames. */
enum { POSITION, VELOCITY, ENERGY, DEFORMATION, QUANTITIES };

/* ---- opening ---- */

/* Scenes first: their meshes serve the probes of a trajectory where --mesh names none. */
static void open_sides(motions *m)
{
    comparison *c = m->c;
    side *sides[] = {&m->a, &m->b};
    const char *paths[] = {c->a, c->b};
    char kind[SP_KIND_LENGTH];

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++) {
            tool_peek_any_kind(c->context, paths[i], kind);
            if (!strcmp(kind, "scene_trajectory") != (pass == 0))
                continue;
            compare_side_open(c, paths[i], &sides[i]->s);
            if (pass == 0 && !c->mesh)
                c->mesh = sides[i]->s.body.mesh.path;
        }

    if (!m->a.s.scene && !m->b.s.scene) {
        tool_option_idle("scene", "without the trajectory of a scene");
        tool_option_idle("body", "without the trajectory of a scene");
    }
}

static void find_common(motions *m)
{
    const comparison *c = m->c;
    const int64_t vertices = m->a.s.vertex_count;

    tool_check_hash(c->a, "mesh", compare_side_mesh(&m->a.s), compare_side_mesh(&m->b.s));
    if (m->b.s.vertex_count != vertices)
        tool_fail(SP_INPUT, c->a, "it is of %lld vertices, %s of %lld", (long long)vertices, c->b,
                  (long long)m->b.s.vertex_count);

    m->common = vertices;
    if (!m->a.s.whole || !m->b.s.whole) {
        m->vertex = tool_allocate_raw(&m->pool, vertices, sizeof *m->vertex);
        m->common = 0;
        for (int64_t v = 0; v < vertices; v++)
            if (compare_side_knows(&m->a.s, v) && compare_side_knows(&m->b.s, v))
                m->vertex[m->common++] = v;
        if (m->common == 0)
            tool_fail(SP_INPUT, c->a, "it and %s have recorded no vertex in common", c->b);
    }

    side *sides[] = {&m->a, &m->b};
    for (int i = 0; i < 2; i++) {
        sides[i]->u = tool_allocate_raw(&m->pool, 3 * m->common, sizeof(double));
        sides[i]->v = tool_allocate_raw(&m->pool, 3 * m->common, sizeof(double));
        sides[i]->value = tool_allocate(&m->pool, c->probes->count + 1, sizeof(sp_list));
    }
}

/* The mesh of both; its path is NULL where no file names it. */
static const tool_mesh *mesh_of(const motions *m)
{
    const compare_side *a = &m->a.s, *b = &m->b.s;
    return a->scene ? &a->body.mesh : b->scene ? &b->body.mesh : &a->motion.mesh;
}

static void make_axes(motions *m)
{
    const tool_mesh *mesh = mesh_of(m);
    sp_fe_space body;
    sp_sparse M;

    if (!mesh->path)
        tool_fail(SP_USAGE, NULL, "--deformation needs the --mesh");
    if (m->vertex)
        tool_fail(SP_USAGE, NULL, "--deformation needs the displacements of all vertices");
    tool_check(sp_fe_space_new(m->c->context, &mesh->mesh, &body), mesh->path);
    tool_check(sp_fe_space_mass_compressed(m->c->context, &body, false, &M), mesh->path);
    tool_check(sp_mean_axes_new(m->c->context, &body, &M, &m->axes), mesh->path);
    sp_sparse_free(&M);
    sp_fe_space_free(&body);
}

static void parse_probes(motions *m)
{
    const tool_texts *texts = m->c->probes;
    const compare_side *a = &m->a.s, *b = &m->b.s;
    const tool_mesh *mesh = mesh_of(m);

    const tool_place_names names = {.context = m->c->context,
                                    .option = "probe",
                                    .vertex_count = a->vertex_count,
                                    .mesh = mesh->path ? &mesh->mesh : NULL,
                                    .mesh_path = mesh->path};

    m->probe_count = texts->count;
    m->probes = tool_allocate(&m->pool, texts->count + 1, sizeof *m->probes);
    for (int64_t i = 0; i < texts->count; i++) {
        axis_probe *probe = &m->probes[i];
        probe->text = texts->value[i];
        probe->probe = tool_place_axis(&names, probe->text, &probe->axis);
        for (int k = 0; k < 2; k++)
            if (!(k ? b : a)->scene)
                tool_trajectory_check_probe(&(k ? b : a)->motion, "probe", probe->probe);
    }
}

/* The reduced motion is to be judged by the full-order one, not the other way round. */
static void check_order(const motions *m)
{
    const comparison *c = m->c;
    if (compare_side_reduced(&m->b.s) && !compare_side_reduced(&m->a.s))
        tool_warn(NULL,
                  "the reference is %s, a reduced-order motion, and %s is a full-order one: to judge the reduced "
                  "motion, name the full-order one second",
                  c->b, c->a);
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
    if (!compare_side_have(&s->s, s->frame))
        return false;
    if (m->probe_count == 0 || s->time.count > s->frame)
        return true;
    keep(&s->time, compare_side_time(&s->s, s->frame));
    for (int64_t i = 0; i < m->probe_count; i++) {
        double u[3];
        compare_side_place(&s->s, m->probes[i].probe, s->frame, u, NULL);
        keep(&s->value[i], u[m->probes[i].axis]);
    }
    return true;
}

static void take_frame(const motions *m, side *s)
{
    if (!m->vertex) {
        compare_side_all(&s->s, s->frame, s->u, s->v);
        return;
    }
    for (int64_t i = 0; i < m->common; i++)
        compare_side_place(&s->s, (tool_place){false, m->vertex[i]}, s->frame, s->u + 3 * i, s->v + 3 * i);
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

static noreturn void no_partner(const motions *m, const side *lonely)
{
    tool_fail(SP_INPUT, lonely == &m->a ? m->c->a : m->c->b,
              "its frame %lld at %.9g s has no frame at the same time in %s, and other frames have one: nothing is "
              "interpolated",
              (long long)lonely->frame, compare_side_time(&lonely->s, lonely->frame),
              lonely == &m->a ? m->c->b : m->c->a);
}

/* Goes through both by time. One may have more frames than the other, but not both frames that the other lacks while
 * they overlap. */
static int64_t walk(motions *m, sums sum[QUANTITIES])
{
    int64_t matched = 0;
    side *a = &m->a, *b = &m->b, *lonely = NULL;
    bool has_a, has_b;

    while (has_a = bring(m, a), has_b = bring(m, b), has_a && has_b) {
        double at = compare_side_time(&a->s, a->frame), bt = compare_side_time(&b->s, b->frame);

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
        add(&sum[POSITION], m->common, a->u, b->u);
        add(&sum[VELOCITY], m->common, a->v, b->v);
        add(&sum[ENERGY], 1, (double[]){compare_side_energy(&a->s, a->frame), 0, 0},
            (double[]){compare_side_energy(&b->s, b->frame), 0, 0});
        if (m->c->deformation) {
            sp_mean_axes_deformation(&m->axes, a->u);
            sp_mean_axes_deformation(&m->axes, b->u);
            add(&sum[DEFORMATION], m->common, a->u, b->u);
        }
        matched++;

        a->frame++;
        b->frame++;
    }

    /* Probes see every frame, also those after the end of the other motion. */
    if (!m->probe_count)
        return matched;

    for (; has_a; has_a = bring(m, a))
        a->frame++;
    for (; has_b; has_b = bring(m, b))
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
    compare_print(c, "%-*s L2 %.6e  max %.6e  relative to %s (largest difference %.6g of %.6g %s)\n",
                  c->deformation ? 11 : 9, name, l2, largest, c->b, s->largest_difference, s->largest_reference, unit);
    compare_row(c, "%s L2,,,%.17g,%.17g,%s", name, mean, l2, compare_reference(c));
    compare_row(c, "%s max,,,%.17g,%.17g,%s", name, s->largest_difference, largest, compare_reference(c));
    return mean <= c->absolute + c->relative * mean_reference &&
           s->largest_difference <= c->absolute + c->relative * s->largest_reference;
}

static bool report_value(comparison *c, const char *probe, const char *what, double a, double b, const char *unit)
{
    bool none = isnan(a) && isnan(b);
    double difference = fabs(a - b), relative = none ? 0 : ratio(difference, fabs(b));
    if (none)
        compare_print(c, "probe %s %-9s not measured: neither motion crosses zero twice\n", probe, what);
    else
        compare_print(c, "probe %s %-9s %.9g %s, in the reference %s %.9g %s, relative difference %.3e\n", probe, what,
                      a, unit, c->b, b, unit, relative);
    compare_row(c, "%s,%.17g,%.17g,%.17g,%.17g,%s", tool_csv_field(&c->pool, "probe %s %s", probe, what), a, b,
                difference, relative, compare_reference(c));
    return none || difference <= c->absolute + c->relative * fabs(b);
}

static bool report_probes(motions *m)
{
    comparison *c = m->c;
    bool same = true;
    double after = c->after >= 0 ? c->after : fmax(compare_side_load_end(&m->a.s), compare_side_load_end(&m->b.s));
    for (int64_t i = 0; i < m->probe_count; i++) {
        probe_measure a, b;
        probe_measure_series(m->a.time.count, m->a.time.data, m->a.value[i].data, after, &a);
        probe_measure_series(m->b.time.count, m->b.time.data, m->b.value[i].data, after, &b);
        same &= report_value(c, m->probes[i].text, "amplitude", a.amplitude, b.amplitude, "m");
        same &= report_value(c, m->probes[i].text, "frequency", a.frequency, b.frequency, "Hz");
        compare_print(c, "probe %s crossings after %.9g s: %lld half periods, in the reference %lld\n",
                      m->probes[i].text, after, (long long)a.half_periods, (long long)b.half_periods);
    }
    return same;
}

/* Position, velocity, with --deformation that, and, where both files have that of this body alone, energy. */
static bool report_all_norms(comparison *c, int64_t matched, int64_t common, const sums sum[QUANTITIES])
{
    bool same = report_norms(c, "position", "m", &sum[POSITION], 3 * common * matched);
    same &= report_norms(c, "velocity", "m/s", &sum[VELOCITY], 3 * common * matched);
    if (c->deformation)
        same &= report_norms(c, "deformation", "m", &sum[DEFORMATION], 3 * common * matched);
    if (!isnan(sum[ENERGY].difference))
        return report_norms(c, "energy", "J", &sum[ENERGY], matched) && same;
    compare_print(c, "energy    not compared: the scene has that of several bodies together\n");
    return same;
}

bool compare_motions(comparison *c)
{
    motions m = {.c = c};
    sums sum[QUANTITIES] = {0};

    open_sides(&m);
    find_common(&m);
    if (c->deformation)
        make_axes(&m);
    parse_probes(&m);
    check_order(&m);

    int64_t matched = walk(&m, sum);
    if (matched == 0)
        tool_fail(SP_INPUT, c->a, "it and %s have no frame at the same time", c->b);

    compare_print(c, "reference %s, by which %s is judged\n", c->b, c->a);
    compare_print(c, "common    %lld frames, %lld of %lld vertices\n", (long long)matched, (long long)m.common,
                  (long long)m.a.s.vertex_count);

    compare_row(c, "quantity,a,b,difference,relative,reference");
    bool norms = report_all_norms(c, matched, m.common, sum);
    bool same = m.probe_count ? report_probes(&m) : norms;
    compare_print(c, same ? "same as the reference %s within the tolerance\n" : "different from the reference %s\n",
                  c->b);

    for (int64_t i = 0; i < m.probe_count; i++) {
        sp_list_free(&m.a.value[i]);
        sp_list_free(&m.b.value[i]);
    }

    sp_list_free(&m.a.time);
    sp_list_free(&m.b.time);
    compare_side_close(&m.a.s);
    compare_side_close(&m.b.s);
    sp_mean_axes_free(&m.axes);
    sp_pool_free(&m.pool);
    return same;
}
