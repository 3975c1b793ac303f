#include "formats/import/text.h"
#include "formats/scene_internal.h"

#include <math.h>
#include <string.h>

enum { FIELDS = 8 };

static const char *const field_names[FIELDS] = {"t", "x", "y", "z", "qw", "qx", "qy", "qz"};

typedef struct line {
    double time;
    sp_pose pose;
} line;

static int parse_line(sp_context *context, const sp_text *text, const sp_word *field, int count, line *out)
{
    int status;
    double value[FIELDS];
    if (count != FIELDS)
        return sp_text_fail(context, text, "%d fields, expected t,x,y,z,qw,qx,qy,qz", count);
    for (int i = 0; i < FIELDS; i++)
        SP_TRY(sp_text_field_number(context, text, field_names[i], field[i], &value[i]));
    out->time = value[0];
    memcpy(out->pose.x, value + 1, sizeof out->pose.x);
    memcpy(out->pose.q, value + 4, sizeof out->pose.q);
    if (!sp_scene_unit(4, out->pose.q))
        return sp_text_fail(context, text, "qw,qx,qy,qz: all are 0, which is no rotation");
done:
    return status;
}

/* After the line before; turned into its hemisphere. */
static int follow(sp_context *context, const sp_text *text, const line *before, line *now)
{
    const double step = now->time - before->time;
    if (!(now->time > before->time))
        return sp_text_fail(context, text, "t: %.17g s after %.17g s, expected more", now->time, before->time);
    if (!isfinite(step) || !isfinite(M_PI / step))
        return sp_text_fail(context, text, "t: %g s after %g s is too long or too short a step", now->time, before->time);
    for (int k = 0; k < 3; k++)
        if (!isfinite((now->pose.x[k] - before->pose.x[k]) / step))
            return sp_text_fail(context, text, "%s: from %g to %g m in %g s, which has no finite velocity", field_names[k + 1],
                                before->pose.x[k], now->pose.x[k], step);
    double cosine = 0;
    for (int k = 0; k < 4; k++)
        cosine += before->pose.q[k] * now->pose.q[k];
    for (int k = 0; k < 4 && cosine < 0; k++)
        now->pose.q[k] = -now->pose.q[k];
    return SP_OK;
}

int sp_path_parse(sp_context *context, const char *text, int64_t count, sp_path *path)
{
    sp_text in;
    sp_list list = {0};
    int status = SP_OK;
    *path = (sp_path){0};
    sp_text_open(&in, text, count, "#", "", false);
    for (bool first = true; sp_text_line(&in); first = false) {
        sp_word field[FIELDS] = {{0}};
        const int fields = sp_text_fields(&in, ',', FIELDS, field);
        if (first && sp_word_is(field[0], "t")) /* a header line */
            continue;
        line *now = sp_list_add(&list, 1, sizeof *now);
        if (!now) {
            status = sp_fail_memory(context);
            goto done;
        }
        SP_TRY(parse_line(context, &in, field, fields, now));
        if (list.count > 1)
            SP_TRY(follow(context, &in, now - 1, now));
    }
    if (list.count == 0) {
        status = sp_fail(context, SP_INPUT, "the path has no lines, expected t,x,y,z,qw,qx,qy,qz");
        goto done;
    }
    path->count = list.count;
    path->time = sp_pool_raw(&path->pool, list.count, sizeof *path->time);
    path->pose = sp_pool_raw(&path->pool, list.count, sizeof *path->pose);
    if (path->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < list.count; i++) {
        path->time[i] = ((const line *)list.data)[i].time;
        path->pose[i] = ((const line *)list.data)[i].pose;
    }
done:
    sp_list_free(&list);
    if (status != SP_OK)
        sp_path_free(path);
    return status;
}

void sp_path_free(sp_path *path)
{
    sp_pool_free(&path->pool);
    *path = (sp_path){0};
}

sp_pose sp_path_at(const sp_path *path, double t, double velocity[6])
{
    const int64_t last = path->count - 1;
    if (velocity)
        memset(velocity, 0, 6 * sizeof *velocity);
    if (!(t >= path->time[0]))
        return path->pose[0];
    if (t >= path->time[last])
        return path->pose[last];
    int64_t low = 0, high = last; /* time[low] ≤ t < time[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (path->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    const sp_pose *a = &path->pose[low], *b = &path->pose[high];
    const double step = path->time[high] - path->time[low];
    if (velocity) {
        const double inverse[4] = {a->q[0], -a->q[1], -a->q[2], -a->q[3]};
        double turn[4], angle[3];
        sp_quaternion_multiply(b->q, inverse, turn);
        sp_quaternion_to_vector(turn, angle);
        for (int k = 0; k < 3; k++) {
            velocity[k] = (b->x[k] - a->x[k]) / step;
            velocity[3 + k] = angle[k] / step;
        }
    }
    return sp_pose_between(a, b, (t - path->time[low]) / step);
}
