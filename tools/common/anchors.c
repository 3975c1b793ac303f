#include "tools/common/anchors.h"

#include "mesh/mesh_sets.h"
#include "tools/common/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    tool_texts boxes, half_spaces, lists;
} fixed;

const tool_option tool_fix_options[TOOL_FIX_COUNT] = {
    {"fix-box", 0, TOOL_TEXTS, &fixed.boxes, "X0,Y0,Z0,X1,Y1,Z1[,AXES]",
     .help = "fix the vertices in this box; inf for open sides; AXES such as xz fixes only these components"},
    {"fix-half-space", 0, TOOL_TEXTS, &fixed.half_spaces, "NX,NY,NZ,D[,AXES]",
     .help = "fix the vertices with n.x <= d"},
    {"fix-vertices", 0, TOOL_TEXTS, &fixed.lists, "LIST[:AXES]", .help = "fix these vertices, counted from 0: 0-3,17"},
};

static struct {
    tool_texts fixed, regions;
} sets;

const tool_option tool_set_options[TOOL_SET_COUNT] = {
    {"fix-set", 0, TOOL_TEXTS, &sets.fixed, "NAME[:AXES]", .help = "fix the vertices of a named set"},
    {"region-set", 0, TOOL_TEXTS, &sets.regions, "[REGION=]NAME",
     .help = "the elements of a named set become region REGION, by default of the set's name"},
};

static struct {
    double scale;
    int up; /* 0 x, 1 y, 2 z */
} frame;

const tool_option tool_frame_options[TOOL_FRAME_COUNT] = {
    {"scale", 0, TOOL_REAL, &frame.scale, "X", "1", .low = 1e-12, .high = 1e12,
     .help = "factor on the model's coordinates: 0.001 for a model in millimetres; boxes are in metres"},
    {"up", 0, TOOL_CHOICE, &frame.up, NULL, "z", "x|y|z",
     .help = "vertical axis of the model, kept in the mesh for pictures; coordinates do not change"},
};

static tool_texts region_boxes;

const tool_option tool_region_options[TOOL_REGION_COUNT] = {
    {"region-box", 0, TOOL_TEXTS, &region_boxes, "NAME,X0,Y0,Z0,X1,Y1,Z1",
     .help = "elements with their centre in this box become region NAME; inf for open sides"},
};

double tool_scale(void)
{
    return frame.scale;
}

void tool_scale_points(int64_t count, double *points)
{
    if (frame.scale == 1)
        return;
    for (int64_t i = 0; i < 3 * count; i++)
        points[i] *= frame.scale;
}

void tool_set_up(sp_mesh *mesh)
{
    mesh->up = frame.up == 2 ? 0 : 'x' + frame.up;
}

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

/* NAME or NAME:AXES. A name that is a set's as a whole may have a colon. */
static void fix_set(sp_context *context, sp_mesh *mesh, const char *text)
{
    sp_pool pool = {0};
    const char *colon = strrchr(text, ':');
    char *name = tool_allocate_copy(&pool, text, (int64_t)strlen(text) + 1, 1);
    int64_t count, *vertices;
    int axes = 7;

    if (colon && !sp_mesh_find_any_set(mesh, text)) {
        name[colon - text] = 0;
        axes = parse_axes(colon + 1);
    }

    if (!axes || (colon && !colon[1]))
        tool_fail(SP_USAGE, NULL, "--fix-set: \"%s\" is not NAME[:AXES]", text);

    const sp_mesh_set *set = tool_find_set(mesh, "fix-set", name);
    tool_check(sp_mesh_set_vertices(context, mesh, set, &pool, &count, &vertices), NULL);
    tool_check(sp_mesh_fix_list(context, mesh, count, vertices, axes), "--fix-set");
    sp_pool_free(&pool);
}

void tool_apply_fixed_vertices(sp_context *context, sp_mesh *mesh)
{
    int64_t added;

    for (int64_t i = 0; i < fixed.boxes.count; i++) {
        const char *text = fixed.boxes.value[i], *at = text;
        double box[6];
        int axes = tool_parse_numbers(&at, 6, box) ? parse_axes(at) : 0;
        if (!axes)
            tool_fail(SP_USAGE, NULL, "--fix-box: \"%s\" is not X0,Y0,Z0,X1,Y1,Z1[,AXES]", text);
        tool_check(sp_mesh_fix_box(context, mesh, box, box + 3, axes, &added), "--fix-box");
        if (!added)
            tool_fail(SP_USAGE, NULL, "--fix-box: no vertex lies in %s", text);
    }

    for (int64_t i = 0; i < fixed.half_spaces.count; i++) {
        const char *text = fixed.half_spaces.value[i], *at = text;
        double plane[4];
        int axes = tool_parse_numbers(&at, 4, plane) ? parse_axes(at) : 0;
        if (!axes)
            tool_fail(SP_USAGE, NULL, "--fix-half-space: \"%s\" is not NX,NY,NZ,D[,AXES]", text);
        tool_check(sp_mesh_fix_half_space(context, mesh, plane, plane[3], axes, &added), "--fix-half-space");
        if (!added)
            tool_fail(SP_USAGE, NULL, "--fix-half-space: no vertex lies in %s", text);
    }

    for (int64_t i = 0; i < fixed.lists.count; i++)
        fix_list(context, mesh, fixed.lists.value[i]);
    for (int64_t i = 0; i < sets.fixed.count; i++)
        fix_set(context, mesh, sets.fixed.value[i]);
}

/* ---- regions by place ---- */

/* NAME,X0,Y0,Z0,X1,Y1,Z1: the name and the box. */
static void parse_region_box(const char *text, char name[SP_NAME_LENGTH], double box[6])
{
    const char *comma = strchr(text, ','), *at = comma ? comma + 1 : text;
    if (!comma || comma == text || comma - text >= SP_NAME_LENGTH || !tool_parse_numbers(&at, 6, box) || *at)
        tool_fail(SP_USAGE, NULL, "--region-box: \"%s\" is not NAME,X0,Y0,Z0,X1,Y1,Z1", text);
    snprintf(name, SP_NAME_LENGTH, "%.*s", (int)(comma - text), text);
}

/* The material of the elements that `option` moved to region `name`; before [elements]: the regions where they were. */
static const sp_material *find_material(const sp_mesh *mesh, const char *option, int64_t region, const char *name,
                                        const int64_t *before)
{
    const sp_material *first = NULL;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const sp_material *here = &mesh->materials[before[e]];
        sp_material own;

        if (mesh->region[e] != region)
            continue;
        first = first ? first : here;

        /* All but the name must agree: the new region has one material. */
        memcpy(&own, here, sizeof own);
        memcpy(own.name, first->name, sizeof own.name);
        if (memcmp(&own, first, sizeof own) != 0)
            tool_fail(SP_USAGE, NULL, "--%s: the elements of %s are of %s and %s: materials differ", option, name,
                      first->name, here->name);
    }
    return first;
}

/* The region with this name; the next number if there is none yet. */
static int64_t region_number(const sp_mesh *mesh, const char *name)
{
    const int64_t known = sp_mesh_region_find(mesh, name);
    return known < 0 ? mesh->material_count : known;
}

/* Adds the region to which elements were moved, if it is new. */
static void add_region(sp_context *context, sp_mesh *mesh, const char *option, const char name[SP_NAME_LENGTH],
                       const int64_t *before)
{
    const int64_t region = region_number(mesh, name);
    if (region < mesh->material_count)
        return;
    sp_material material = *find_material(mesh, option, region, name, before);
    memcpy(material.name, name, sizeof material.name);
    tool_check(sp_name_check(context, "region", name), NULL);
    tool_check(sp_mesh_region_add(context, mesh, &material), NULL);
}

static int64_t *copy_regions(const sp_mesh *mesh, sp_pool *pool)
{
    return tool_allocate_copy(pool, mesh->region, sp_mesh_element_count(mesh), sizeof *mesh->region);
}

static void apply_box(sp_context *context, sp_mesh *mesh, const char *text)
{
    sp_pool pool = {0};
    const int64_t *before = copy_regions(mesh, &pool);
    char name[SP_NAME_LENGTH] = "";
    double box[6];
    parse_region_box(text, name, box);
    if (sp_mesh_region_box(mesh, box, box + 3, region_number(mesh, name)) == 0)
        tool_fail(SP_USAGE, NULL, "--region-box: no element has its centre in %s", text);
    add_region(context, mesh, "region-box", name, before);
    sp_pool_free(&pool);
}

/* SET or REGION=SET. */
static void apply_set(sp_context *context, sp_mesh *mesh, const char *text)
{
    sp_pool pool = {0};
    const int64_t *before = copy_regions(mesh, &pool);

    const char *equals = sp_mesh_find_set(mesh, text, SP_SET_ELEMENTS) ? NULL : strchr(text, '='),
               *of_set = equals ? equals + 1 : text;
    const int length = equals ? (int)(equals - text) : (int)strlen(text);
    char name[SP_NAME_LENGTH] = "";
    const sp_mesh_set *set = sp_mesh_find_set(mesh, of_set, SP_SET_ELEMENTS);

    if (length < 1 || length >= SP_NAME_LENGTH)
        tool_fail(SP_USAGE, NULL, "--region-set: \"%s\" is not [REGION=]NAME", text);
    if (!set)
        tool_fail(SP_USAGE, NULL, "--region-set: the mesh has no set of elements with the name \"%s\"", of_set);

    snprintf(name, sizeof name, "%.*s", length, text);
    const int64_t region = region_number(mesh, name);
    for (int64_t i = 0; i < set->count; i++)
        mesh->region[set->index[i]] = region;

    add_region(context, mesh, "region-set", name, before);
    sp_pool_free(&pool);
}

void tool_apply_regions(sp_context *context, sp_mesh *mesh)
{
    for (int64_t i = 0; i < region_boxes.count; i++)
        apply_box(context, mesh, region_boxes.value[i]);
    for (int64_t i = 0; i < sets.regions.count; i++)
        apply_set(context, mesh, sets.regions.value[i]);
    tool_check(sp_mesh_region_drop_empty(context, mesh), NULL);
}
