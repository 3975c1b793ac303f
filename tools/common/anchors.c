#include "tools/common/anchors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tool_fixed_vertices tool_fixed_vertices;

bool tool_parse_numbers(const char **at, int count, double *numbers)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(*at, &end);
        if (end == *at || isnan(numbers[i]) || (*end && *end != ','))
            return false;
        *at = *end ? end + 1 : end;
        if (!*end && i + 1 < count)
            return false;
    }
    return true;
}

/* "xz" to bits; "" is all three. 0: not axes. */
static int parse_axes(const char *text)
{
    int axes = 0;
    if (!*text)
        return 7;
    for (; *text; text++) {
        if (*text < 'x' || *text > 'z' || axes >> (*text - 'x') & 1)
            return 0;
        axes |= 1 << (*text - 'x');
    }
    return axes;
}

static void fix_list(sp_context *context, sp_mesh *mesh, const char *text)
{
    const char *colon = strchr(text, ':');
    int axes = parse_axes(colon ? colon + 1 : "");
    for (const char *at = text; at != colon && *at && axes;) {
        char *end;
        long long first = strtoll(at, &end, 10), last = first;
        if (end != at && *end == '-')
            last = strtoll(end + 1, &end, 10);
        if (end == at || (*end && *end != ',' && *end != ':') || first < 0 || last < first) {
            axes = 0;
            break;
        }
        if (last >= mesh->vertex_count)
            tool_fail(SP_USAGE, NULL, "--fix-vertices: vertex %lld of %lld", last, (long long)mesh->vertex_count);
        for (long long v = first; v <= last; v++)
            tool_check(sp_mesh_fix_list(context, mesh, 1, (int64_t[]){v}, axes), "--fix-vertices");
        at = *end == ',' ? end + 1 : end;
    }
    if (!axes)
        tool_fail(SP_USAGE, NULL, "--fix-vertices: \"%s\" is not a list such as 0-3,17 or 0-3:xz", text);
}

void tool_apply_fixed_vertices(sp_context *context, sp_mesh *mesh)
{
    int64_t added;
    for (int64_t i = 0; i < tool_fixed_vertices.boxes.count; i++) {
        const char *text = tool_fixed_vertices.boxes.value[i], *at = text;
        double box[6];
        int axes = tool_parse_numbers(&at, 6, box) ? parse_axes(at) : 0;
        if (!axes)
            tool_fail(SP_USAGE, NULL, "--fix-box: \"%s\" is not X0,Y0,Z0,X1,Y1,Z1[,AXES]", text);
        tool_check(sp_mesh_fix_box(context, mesh, box, box + 3, axes, &added), "--fix-box");
        if (!added)
            tool_fail(SP_USAGE, NULL, "--fix-box: no vertex lies in %s", text);
    }
    for (int64_t i = 0; i < tool_fixed_vertices.half_spaces.count; i++) {
        const char *text = tool_fixed_vertices.half_spaces.value[i], *at = text;
        double plane[4];
        int axes = tool_parse_numbers(&at, 4, plane) ? parse_axes(at) : 0;
        if (!axes)
            tool_fail(SP_USAGE, NULL, "--fix-half-space: \"%s\" is not NX,NY,NZ,D[,AXES]", text);
        tool_check(sp_mesh_fix_half_space(context, mesh, plane, plane[3], axes, &added), "--fix-half-space");
        if (!added)
            tool_fail(SP_USAGE, NULL, "--fix-half-space: no vertex lies in %s", text);
    }
    for (int64_t i = 0; i < tool_fixed_vertices.lists.count; i++)
        fix_list(context, mesh, tool_fixed_vertices.lists.value[i]);
}
