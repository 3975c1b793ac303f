#include "formats/csv.h"
#include "formats/scene_internal.h"
#include "model/prescribed.h"

#include <math.h>
#include <string.h>

enum { FIELDS = 8 };

static const char *const field_names[FIELDS] = {"t", "x", "y", "z", "qw", "qx", "qy", "qz"};

typedef struct line {
    double time;
    sp_pose pose;
    bool clutch;
} line;

/* What the lines of a path may have. */
typedef struct path_columns {
    bool device, clutch; /* the path of a device; with a clutch, as its first line has it */
} path_columns;

/* Checks that a line follows the previous one in time, and flips its quaternion to the hemisphere of the previous one.
 */
static int follow(sp_context *context, const sp_text *text, const line *before, line *now)
{
    const double step = now->time - before->time;
    if (!(now->time > before->time))
        return sp_text_fail(context, text, "t: %.17g s after %.17g s, expected more", now->time, before->time);
    if (!isfinite(step) || !isfinite(M_PI / step))
        return sp_text_fail(context, text, "t: %g s after %g s is too long or too short a step", now->time,
                            before->time);
    for (int k = 0; k < 3; k++)
        if (!isfinite((now->pose.x[k] - before->pose.x[k]) / step))
            return sp_text_fail(context, text, "%s: from %g to %g m in %g s, which has no finite velocity",
                                field_names[k + 1], before->pose.x[k], now->pose.x[k], step);

    /* q and −q are the same rotation. Of both, the one nearer to the previous pose gives the shorter way. */
    double cosine = 0;
    for (int k = 0; k < 4; k++)
        cosine += before->pose.q[k] * now->pose.q[k];
    if (cosine < 0)
        for (int k = 0; k < 4; k++)
            now->pose.q[k] = -now->pose.q[k];
    return SP_OK;
}

/* Checks the number of fields, which is that of the first line. */
static int count_fields(sp_context *context, const sp_text *text, path_columns *columns, int count, int64_t index)
{
    const bool clutch = count == FIELDS + 1;
    const char *const more = columns->device ? " and maybe clutch" : "";
    if (clutch && !columns->device)
        return sp_text_fail(context, text,
                            "9 fields, expected t,x,y,z,qw,qx,qy,qz: only the path of a coupling has a clutch");
    if (count != FIELDS && !clutch)
        return sp_text_fail(context, text, "%d fields, expected t,x,y,z,qw,qx,qy,qz%s", count, more);
    if (index > 0 && clutch != columns->clutch)
        return sp_text_fail(context, text, "%d fields, expected %d as before: all lines have a clutch or none", count,
                            columns->clutch ? FIELDS + 1 : FIELDS);
    columns->clutch = clutch;
    return SP_OK;
}

static int parse_line(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                      int64_t index)
{
    line *now = item;
    path_columns *columns = data;
    double value[FIELDS];

    SP_PASS(count_fields(context, text, columns, count, index));
    for (int i = 0; i < FIELDS; i++)
        SP_PASS(sp_text_field_number(context, text, field_names[i], field[i], &value[i]));

    now->time = value[0];
    memcpy(now->pose.x, value + 1, sizeof now->pose.x);
    memcpy(now->pose.q, value + 4, sizeof now->pose.q);

    if (!sp_unit_vector(4, now->pose.q))
        return sp_text_fail(context, text, "qw,qx,qy,qz: all are 0, which is no rotation");
    if (index > 0)
        SP_PASS(follow(context, text, now - 1, now));

    if (columns->clutch) {
        double held;
        SP_PASS(sp_text_field_number(context, text, "clutch", field[FIELDS], &held));
        if (held != 0 && held != 1)
            return sp_text_fail(context, text, "clutch: %g, expected 0 or 1", held);
        now->clutch = held == 1;
    }
    return SP_OK;
}

static int parse(sp_context *context, const char *text, int64_t count, bool device, sp_path *path)
{
    path_columns columns = {.device = device};
    const sp_csv csv = {.header = field_names[0], .size = sizeof(line), .line = parse_line, .data = &columns};
    sp_list list = {0};
    int status;
    *path = (sp_path){0};

    SP_TRY(sp_csv_parse(context, text, count, &csv, &list));
    if (list.count == 0) {
        status = sp_fail(context, SP_INPUT, "the path has no lines, expected t,x,y,z,qw,qx,qy,qz");
        goto done;
    }

    path->count = list.count;
    path->time = sp_pool_raw(&path->pool, list.count, sizeof *path->time);
    path->pose = sp_pool_raw(&path->pool, list.count, sizeof *path->pose);
    path->clutch = columns.clutch ? sp_pool_raw(&path->pool, list.count, sizeof *path->clutch) : NULL;
    SP_TRY(sp_allocated(context, !path->pool.failed));

    for (int64_t i = 0; i < list.count; i++) {
        path->time[i] = ((const line *)list.data)[i].time;
        path->pose[i] = ((const line *)list.data)[i].pose;
        if (path->clutch)
            path->clutch[i] = ((const line *)list.data)[i].clutch;
    }
done:
    sp_list_free(&list);
    if (status != SP_OK)
        sp_path_free(path);
    return status;
}

int sp_path_parse(sp_context *context, const char *text, int64_t count, sp_path *path)
{
    return parse(context, text, count, false, path);
}

int sp_path_parse_device(sp_context *context, const char *text, int64_t count, sp_path *path)
{
    return parse(context, text, count, true, path);
}

void sp_path_free(sp_path *path)
{
    sp_pool_free(&path->pool);
    *path = (sp_path){0};
}

sp_pose sp_path_at(const sp_path *path, double t, double velocity[6])
{
    const int64_t last = path->count - 1, low = sp_time_piece(path->count, path->time, t);

    if (velocity)
        memset(velocity, 0, 6 * sizeof *velocity);

    /* Before the first and after the last time the pose is constant. */
    if (low < 0 || low == last)
        return path->pose[low < 0 ? 0 : last];

    const sp_pose *a = &path->pose[low], *b = a + 1;
    const double step = path->time[low + 1] - path->time[low];

    /* The angular velocity is constant between the poses: the rotation vector of q_b q_a⁻¹ over the step. */
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

sp_pose sp_path_until(const sp_path *path, double end, double t, double velocity[6])
{
    const double rounding = 1e-9 * fabs(end), before = end - rounding;
    const bool ends_there = path->time[path->count - 1] <= end + rounding;
    if (!ends_there || !(t > before)) /* no number without an end */
        return sp_path_at(path, t, velocity);

    if (velocity)
        sp_path_at(path, before, velocity);
    return sp_path_at(path, t, NULL);
}

bool sp_path_stops(const sp_path *path, double velocity[6])
{
    double change[2] = {0, 0}, last[6] = {0};
    for (int64_t i = 0; i + 1 < path->count; i++) {
        sp_path_at(path, path->time[i], velocity);
        for (int part = 0; part < 2 && i > 0; part++) {
            const double *v = velocity + 3 * part, *w = last + 3 * part,
                         jump[3] = {v[0] - w[0], v[1] - w[1], v[2] - w[2]};
            change[part] = fmax(change[part], sp_norm3(jump));
        }
        memcpy(last, velocity, sizeof last);
    }
    memcpy(velocity, last, sizeof last);
    return sp_norm3(last) > 2 * change[0] || sp_norm3(last + 3) > 2 * change[1];
}

void sp_path_judge(const sp_path *path, const char *which, double end, sp_remarks *remarks)
{
    const double last = path->time[path->count - 1];
    double velocity[6];
    if (last < end && sp_path_stops(path, velocity))
        sp_remarks_add(remarks,
                       "%s ends at %g s with %.3g m/s and %.3g rad/s, and the frame stops there at once, an impulse on "
                       "the body: let the path go on to %g s, or come to rest",
                       which, last, sp_norm3(velocity), sp_norm3(velocity + 3), end);
}
