#include "tools/pointshell/report.h"

#include "tools/common/tool.h"

static const char *surface_word(const sp_level *level)
{
    static const char *const words[] = {"the model", "an offset", "a level of the field"};
    return words[level->kind];
}

void pointshell_say(const sp_level *level, const sp_pointshell *pointshell, const sp_pointshell_report *report,
                    const sp_pointshell_motion_report *motion)
{
    if (level->kind == SP_LEVEL_SURFACE && level->meets_itself)
        tool_warn(
            NULL,
            "the surface intersects itself: there are points inside the body (without --offset 0 an offset is taken)");
    /* More than this and Newton's method has stopped at a crease. */
    if (report->off > 1e-6 * level->size)
        tool_warn(NULL, "points lie up to %.3g m off the surface, at its creases", report->off);
    if (motion && motion->outside > 0 && motion->gap > 0)
        tool_say("%lld points lie outside the elements, by up to %.3g m, and move with the nearest one",
                 (long long)motion->outside, motion->gap);
    for (int k = 0; k < pointshell->levels; k++) {
        const sp_pointshell_level_report *l = &report->level[k];
        tool_say("level %d: %lld points, %.4g m apart, spread %.3f (random points: 0.523)", k + 1,
                 (long long)pointshell->cumulative[k], l->spacing, l->spread);
    }
    if (level->kind == SP_LEVEL_SURFACE)
        tool_say("on the model, %.6g m2, at most %.4g m from a point", report->area, report->gap);
    else
        tool_say("on %s at %.4g m, %.6g m2, at most %.4g m from a point", surface_word(level), level->value,
                 report->area, report->gap);
}

static json_t *numbers(const sp_pointshell *pointshell, const sp_pointshell_report *report, const char *key,
                       size_t offset)
{
    double values[SP_POINTSHELL_LEVELS_MAX];
    for (int k = 0; k < pointshell->levels; k++)
        values[k] = *(const double *)((const char *)&report->level[k] + offset);
    return tool_reals(key, pointshell->levels, values);
}

json_t *pointshell_result(const sp_level *level, const sp_pointshell *pointshell, const sp_pointshell_report *report,
                          const sp_pointshell_motion_report *motion)
{
    json_t *result = tool_result_new(), *points = json_array(), *iterations = json_array();
    const bool repelled = report->level[0].radius > 0;
    for (int k = 0; k < pointshell->levels; k++) {
        json_array_append_new(points, json_integer(pointshell->cumulative[k]));
        json_array_append_new(iterations, json_integer(report->level[k].repel.iterations));
    }
    json_object_set_new(result, "level_points", points);
    json_object_set_new(result, "spacing",
                        numbers(pointshell, report, "spacing", offsetof(sp_pointshell_level_report, spacing)));
    json_object_set_new(result, "spread",
                        numbers(pointshell, report, "spread", offsetof(sp_pointshell_level_report, spread)));
    json_object_set_new(result, "least",
                        numbers(pointshell, report, "least", offsetof(sp_pointshell_level_report, least)));
    if (repelled) {
        json_object_set_new(
            result, "repulsion_radius",
            numbers(pointshell, report, "repulsion_radius", offsetof(sp_pointshell_level_report, radius)));
        json_object_set_new(
            result, "last_move",
            numbers(pointshell, report, "last_move", offsetof(sp_pointshell_level_report, repel.last_move)));
        json_object_set(result, "iterations", iterations);
    }
    json_decref(iterations);
    json_object_set_new(result, "area", tool_real("area", report->area));
    json_object_set_new(result, "gap", tool_real("gap", report->gap));
    json_object_set_new(result, "off_surface", tool_real("off_surface", report->off));
    if (level->kind != SP_LEVEL_SURFACE)
        json_object_set_new(result, "cell", tool_real("cell", level->cell));
    if (level->kind != SP_LEVEL_FIELD) {
        json_object_set_new(result, "meets_itself", json_boolean(level->meets_itself));
        json_object_set_new(result, "open_edges", json_integer(level->orient.open_edges));
        json_object_set_new(result, "turned_triangles", json_integer(level->orient.turned));
    }
    if (motion) {
        json_object_set_new(result, "outside", json_integer(motion->outside));
        json_object_set_new(result, "outside_by", tool_real("outside_by", motion->gap));
    }
    return result;
}
