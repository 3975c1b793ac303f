#include "tools/export/normals.h"

#include "formats/export/csv_write.h"
#include "formats/pointshell.h"
#include "geometry/pose.h"
#include "pointshell/normals.h"
#include "tools/common/trajectory.h"

#include <math.h>
#include <string.h>

enum { NEIGHBOURS = 12 };

/* The ways that are measured against tangents. */
static const struct {
    enum sp_pointshell_normal way;
    const char *mean, *largest;
} measured[] = {{SP_NORMAL_GRADIENT, "gradient_mean", "gradient_largest"},
                {SP_NORMAL_CLOUD, "cloud_mean", "cloud_largest"},
                {SP_NORMAL_NEIGHBOURS, "neighbours_mean", "neighbours_largest"}};

typedef struct comparison {
    sp_context *context;
    const char *path;
    sp_pointshell pointshell;
    sp_pointshell_neighbours neighbours;
    int64_t *points;      /* [shell.count] all */
    double *q;            /* [shell.modes] */
    double *true_normals; /* [shell.count, 3] */
    double *normals;      /* [shell.count, 3] */
    sp_pool pool;
} comparison;

static void open_pointshell(comparison *c, tool_trajectory *motion)
{
    static const char *const kinds[] = {"pointshell", NULL};
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH], of_mesh[SP_HASH_LENGTH], of_basis[SP_HASH_LENGTH];
    const json_t *meta = motion->trajectory.meta;
    sp_file file;

    tool_read(c->path, NULL, kinds, false, &file);
    tool_check(sp_json_hash(c->context, file.meta, "mesh", mesh), c->path);
    tool_check(sp_json_hash(c->context, file.meta, "basis", basis), c->path);
    tool_check(sp_json_hash(c->context, meta, "mesh", of_mesh), motion->path);
    tool_check(sp_json_hash(c->context, meta, "basis", of_basis), motion->path);

    tool_check_hash(c->path, "mesh", mesh, of_mesh);
    tool_check_hash(c->path, "basis", basis, of_basis);
    tool_check(sp_pointshell_read(c->context, &file, &c->pointshell), c->path);
    sp_file_free(&file);

    if (!c->pointshell.dT) {
        tool_hint("make it with pointshell --basis FILE --normals tangents");
        tool_fail(SP_INPUT, c->path, "it has no tangents, which the true normals are from");
    }

    if (motion->trajectory.r < 1 || motion->trajectory.r > c->pointshell.modes)
        tool_fail(SP_INPUT, motion->path, "it has %lld coordinates, the points of %s move with %lld",
                  (long long)motion->trajectory.r, c->path, (long long)c->pointshell.modes);

    c->points = tool_allocate_raw(&c->pool, c->pointshell.count, sizeof *c->points);
    c->q = tool_allocate(&c->pool, c->pointshell.modes, sizeof *c->q);
    c->true_normals = tool_allocate_raw(&c->pool, 3 * c->pointshell.count, sizeof *c->true_normals);
    c->normals = tool_allocate_raw(&c->pool, 3 * c->pointshell.count, sizeof *c->normals);
    for (int64_t p = 0; p < c->pointshell.count; p++)
        c->points[p] = p;

    tool_check(sp_pointshell_neighbours_new(c->context, &c->pointshell, c->pointshell.count, c->points, NEIGHBOURS,
                                            &c->neighbours),
               c->path);
}

static void evaluate(const comparison *c, enum sp_pointshell_normal way, double *normals)
{
    tool_check(sp_pointshell_normals(c->context, &c->pointshell, way, c->pointshell.count, c->points, &c->neighbours,
                                     c->q, normals),
               c->path);
}

/* Mean and largest angle between the normals and the true ones in degrees; a way that finds none is off by 180. */
static void measure(const comparison *c, double angle[2])
{
    angle[0] = angle[1] = 0;
    for (int64_t p = 0; p < c->pointshell.count; p++) {
        const double *a = c->normals + 3 * p, *b = c->true_normals + 3 * p;
        double product[3];
        sp_cross3(a, b, product);
        const double here = sp_dot3(a, a) > 0 ? atan2(sp_norm3(product), sp_dot3(a, b)) * 57.29577951308232 : 180;
        angle[0] += here / (double)c->pointshell.count;
        angle[1] = fmax(angle[1], here);
    }
}

void tool_export_normals(sp_context *context, const char *pointshell_path, const char *trajectory_path,
                         const tool_normals_choice *choice)
{
    comparison c = {.context = context, .path = pointshell_path};
    tool_trajectory motion;
    sp_list frames = {0};
    sp_stream stream;

    tool_trajectory_open(context, 1, &trajectory_path, choice->partial ? TOOL_MOTION_PARTIAL : 0, &motion);
    if (!motion.path)
        tool_fail(SP_INPUT, trajectory_path, "normals are those of a pointshell in a trajectory, which it is not");
    if (json_is_true(json_object_get(motion.trajectory.meta, "warp")))
        tool_fail(SP_INPUT, motion.path, "its shape is warped (simulate --warp), which points of %s do not follow",
                  pointshell_path);

    open_pointshell(&c, &motion);
    tool_trajectory_choose(&motion, choice->frames, choice->every, NULL, &frames);

    tool_output *output = tool_output_open(choice->target);
    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_csv_name(&stream, true, "time");
    for (int i = 0; i < TOOL_COUNT(measured); i++) {
        sp_csv_name(&stream, false, measured[i].mean);
        sp_csv_name(&stream, false, measured[i].largest);
    }
    sp_csv_end(&stream);

    for (int64_t row = 0; row < frames.count; row++) {
        const int64_t f = ((int64_t *)frames.data)[row], r = motion.trajectory.r;
        const double time = tool_trajectory_time(&motion, f);
        memcpy(c.q, motion.trajectory.q + f * r, (size_t)r * sizeof *c.q);
        evaluate(&c, SP_NORMAL_TANGENTS, c.true_normals);

        sp_csv_numbers(&stream, true, 1, &time);
        for (int i = 0; i < TOOL_COUNT(measured); i++) {
            double angle[2];
            evaluate(&c, measured[i].way, c.normals);
            measure(&c, angle);
            sp_csv_numbers(&stream, false, 2, angle);
        }

        sp_csv_end(&stream);
        tool_check(sp_progress(context, (double)(row + 1) / (double)frames.count), NULL);
    }

    tool_check(sp_stream_end(context, &stream), choice->target);
    tool_output_finish(output, NULL);

    sp_list_free(&frames);
    sp_pointshell_neighbours_free(&c.neighbours);
    sp_pointshell_free(&c.pointshell);
    sp_pool_free(&c.pool);
    tool_trajectory_close(&motion);
}
