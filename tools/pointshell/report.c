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

json_t *pointshell_result(const sp_level *level, const sp_pointshell *pointshell, const sp_pointshell_report *report,
                          const sp_pointshell_motion_report *motion)
{
    const sp_fact *facts = sp_kind_pointshell.result;
    const int n = pointshell->levels;
    const bool others = report->level[0].radius <= 0; /* another method than repulsion */
    int64_t points[SP_POINTSHELL_LEVELS_MAX], iterations[SP_POINTSHELL_LEVELS_MAX];
    double spacing[SP_POINTSHELL_LEVELS_MAX], spread[SP_POINTSHELL_LEVELS_MAX], least[SP_POINTSHELL_LEVELS_MAX],
        radius[SP_POINTSHELL_LEVELS_MAX], move[SP_POINTSHELL_LEVELS_MAX];

    for (int k = 0; k < n; k++) {
        const sp_pointshell_level_report *l = &report->level[k];
        points[k] = pointshell->cumulative[k];
        spacing[k] = l->spacing;
        spread[k] = l->spread;
        least[k] = l->least;
        radius[k] = l->radius;
        move[k] = l->repel.last_move;
        iterations[k] = l->repel.iterations;
    }

    json_t *result = tool_result_new();
    tool_facts(result, facts, {"level_points", .count = n, .integers = points},
               {"spacing", .count = n, .reals = spacing}, {"spread", .count = n, .reals = spread},
               {"least", .count = n, .reals = least},
               {"repulsion_radius", .count = n, .reals = radius, .leave_out = others},
               {"last_move", .count = n, .reals = move, .leave_out = others},
               {"iterations", .count = n, .integers = iterations, .leave_out = others});

    const bool model = level->kind != SP_LEVEL_FIELD;
    tool_facts(result, facts, {"area", .real = report->area}, {"gap", .real = report->gap},
               {"off_surface", .real = report->off},
               {"cell", .real = level->cell, .leave_out = level->kind == SP_LEVEL_SURFACE},
               {"meets_itself", .boolean = level->meets_itself, .leave_out = !model},
               {"open_edges", .integer = level->orient.open_edges, .leave_out = !model},
               {"turned_triangles", .integer = level->orient.turned, .leave_out = !model});
    if (motion)
        tool_facts(result, facts, {"outside", .integer = motion->outside}, {"outside_by", .real = motion->gap});
    return result;
}
