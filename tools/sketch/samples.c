/* The samples of a recording: total nodal forces, thinned out by what they do to the linear body. */
#include "basis/modes.h"
#include "basis/sketch.h"
#include "formats/loads.h"
#include "model/models.h"
#include "tools/sketch/sketch.h"

#include <math.h>
#include <string.h>

void sketch_open(sp_context *context, const char *path, sketch *s)
{
    int64_t free_motions;
    *s = (sketch){.context = context};
    tool_read_mesh(path, NULL, &s->mesh);
    tool_check(sp_fe_space_new(context, &s->mesh.mesh, &s->body), path);
    s->n = s->body.dof_count;
    tool_check(sp_fe_space_mass_compressed(context, &s->body, false, &s->M), path);
    s->metric = (sp_metric){.rows = s->n, .matrix = &s->M};
    double *motion = tool_allocate_raw(&s->pool, 6 * s->n, sizeof *motion);
    tool_check(sp_rigid_motions(context, &s->body, &s->M, motion, &free_motions), path);
    if (free_motions > 0)
        tool_fail(SP_INPUT, path, "it can move freely in %lld ways: without fixed vertices no load is in equilibrium",
                  (long long)free_motions);
    sp_pool_drop(&s->pool, motion);
    tool_check(sp_full_system_new(context, &s->body, false, true, NULL, &s->system), path);
}

static void read_loads(sketch *s, const char *path, sp_pool *pool, sp_load_set *loading)
{
    int64_t bytes, count;
    sp_load *loads;
    char *text = tool_read_bytes(path, "loads", pool, &bytes);
    tool_check(sp_loads_parse(s->context, text, bytes, &s->mesh.mesh, pool, &count, &loads), path);
    for (int64_t l = 0; l < count; l++)
        if (loads[l].kind == SP_LOAD_SPRING)
            tool_fail(SP_INPUT, path,
                      "load %lld is a spring: a sketch is made of forces; record the force that the spring exerts",
                      (long long)l + 1);
    tool_check(sp_load_set_new(s->context, &s->body, NULL, 0, count, loads, (const double[3]){0}, &s->system, loading),
               path);
    if (loading->idle)
        tool_warn(path,
                  "%lld loads move nothing (load %lld first): fixed or unused vertices, or regions without elements",
                  (long long)loading->idle, (long long)loading->first_idle);
}

/* Keeps the chosen samples, moved to the front. */
static void keep(sketch *s, const int64_t *kept, int64_t count)
{
    int64_t all = s->recorded + 1;
    for (int64_t i = 0; i < count; i++) {
        s->time[i] = s->time[kept[i]];
        memmove(s->force + i * s->n, s->force + kept[i] * s->n, (size_t)s->n * sizeof *s->force);
    }
    for (int64_t i = 0; i <= count; i++)
        for (int64_t j = 0; j <= count; j++)
            s->distance[i * (count + 1) + j] =
                s->distance[(i < count ? kept[i] : all - 1) * all + (j < count ? kept[j] : all - 1)];
    s->count = count;
}

void sketch_select(sketch *s, const char *loads, double step, double separation, int64_t most)
{
    sp_pool scratch = {0};
    sp_load_set loading;
    double *piece;

    read_loads(s, loads, &scratch, &loading);
    tool_check(sp_load_set_pieces(s->context, &loading, step, &scratch, &s->recorded, &piece), loads);
    int64_t m = s->recorded, count;

    if (m == 0)
        tool_fail(SP_INPUT, loads, "it has no loads");

    s->time = tool_allocate_raw(&s->pool, m, sizeof *s->time);
    s->force = tool_allocate_raw(&s->pool, s->n * m, sizeof *s->force);
    s->distance = tool_allocate_raw(&s->pool, (m + 1) * (m + 1), sizeof *s->distance);
    double *response = tool_allocate_raw(&scratch, s->n * m, sizeof *response);
    int64_t *kept = tool_allocate_raw(&scratch, m, sizeof *kept);
    sp_external_loads external_loads = sp_load_set_external(&loading);

    for (int64_t i = 0; i < m; i++) {
        s->time[i] = piece[2 * i];
        external_loads.mean(external_loads.self, piece[2 * i], piece[2 * i + 1], s->force + i * s->n);
    }

    tool_check(sp_full_system_respond(&s->system, m, s->force, response), s->mesh.path);
    tool_check(sp_mass_distances(s->context, &s->metric, m, response, s->distance), loads);

    /* The distance from rest is in the last row. */
    s->largest = 0;
    for (int64_t i = 0; i < m; i++)
        s->largest = fmax(s->largest, s->distance[m * (m + 1) + i]);
    if (s->largest == 0)
        tool_fail(SP_INPUT, loads, "none of its loads moves the mesh");

    tool_check(sp_separate(s->context, m, s->distance, separation * s->largest, most, kept, &count), loads);
    keep(s, kept, count);

    sp_load_set_free(&loading);
    sp_pool_free(&scratch);
}

void sketch_close(sketch *s)
{
    sp_full_system_free(&s->system);
    sp_sparse_free(&s->M);
    sp_pool_free(&s->pool);
    sp_fe_space_free(&s->body);
    sp_mesh_free(&s->mesh.mesh);
}
