#include "tools/common/places.h"

#include "base/compare.h"
#include "formats/place.h"
#include "mesh/mesh_sets.h"
#include "tools/common/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static noreturn void refuse(const tool_place_names *names, const char *text)
{
    tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not a list such as 3,17-20,surface:5,near:0,0.7,0", names->option, text);
}

const char *tool_place_points(const char *at, sp_list *points)
{
    for (;; at++) {
        double point[3], *to;
        const int64_t length = sp_place_numbers(sp_word_of(at), point);

        if (length == 0)
            return NULL;

        to = tool_list_add(points, 1, sizeof point);
        memcpy(to, point, sizeof point);
        at += length;
        if (*at != ';')
            return at;
    }
}

typedef struct said_place {
    const char *mesh_path;
    double point[3];
    bool surface;
    int64_t vertex;
} said_place;

static bool is_same(const said_place *a, const said_place *b)
{
    return a->surface == b->surface && a->vertex == b->vertex && !memcmp(a->point, b->point, sizeof a->point) &&
           (a->mesh_path == b->mesh_path || (a->mesh_path && b->mesh_path && !strcmp(a->mesh_path, b->mesh_path)));
}

void tool_place_say(const double point[3], bool surface, int64_t vertex, const sp_mesh *mesh, const char *mesh_path,
                    double distance)
{
    static sp_list said;
    static sp_pool paths; /* copies: the mesh may be closed before the next place is said */
    said_place place = {mesh_path, {point[0], point[1], point[2]}, surface, vertex};
    char away[SP_PLACE_TEXT];

    for (int64_t i = 0; i < said.count; i++)
        if (is_same((const said_place *)said.data + i, &place))
            return;

    if (mesh_path)
        place.mesh_path = tool_allocate_copy(&paths, mesh_path, (int64_t)strlen(mesh_path) + 1, 1);
    *(said_place *)tool_list_add(&said, 1, sizeof place) = place;

    sp_place_distance(mesh, distance, away);
    tool_say("near:%g,%g,%g is %svertex %lld%s%s, %s", point[0], point[1], point[2], surface ? "surface " : "",
             (long long)vertex, mesh_path ? " of " : "", mesh_path ? mesh_path : "", away);
}

static void add(sp_list *list, bool surface, int64_t vertex)
{
    tool_place *to = tool_list_add(list, 1, sizeof *to);
    *to = (tool_place){surface, vertex};
}

static const char *find_nearest(const tool_place_names *names, const char *text, const char *at, bool surface,
                                sp_list *list)
{
    sp_list points = {0};
    const char *end = tool_place_points(at, &points);

    if (!end)
        refuse(names, text);

    for (int64_t i = 0; i < points.count; i++) {
        const double *point = (const double *)points.data + 3 * i;
        int64_t vertex;
        double distance;
        tool_check(sp_mesh_nearest(names->context, names->mesh, surface, point, &vertex, &distance), names->mesh_path);
        tool_place_say(point, surface, vertex, names->mesh, names->mesh_path, distance);
        add(list, surface, vertex);
    }

    sp_list_free(&points);
    return end;
}

static const char *parse_numbers(const tool_place_names *names, const char *text, const char *at, bool surface,
                                 sp_list *list)
{
    const int64_t count = surface ? names->mesh->surface.vertex_count : names->vertex_count;
    int64_t first, last;

    if (!tool_parse_whole(&at, &first))
        refuse(names, text);
    last = first;
    if (*at == '-') {
        at++;
        if (!tool_parse_whole(&at, &last))
            refuse(names, text);
    }

    if (last < first)
        refuse(names, text);
    if (last >= count)
        tool_fail(SP_USAGE, NULL, "--%s: %svertex %lld of %lld: they are counted from 0", names->option,
                  surface ? "surface " : "", (long long)last, (long long)count);

    for (int64_t v = first; v <= last; v++)
        add(list, surface, v);
    return at;
}

const sp_mesh_set *tool_find_set(const sp_mesh *mesh, const char *option, const char *name)
{
    char sets[600];
    const sp_mesh_set *set = sp_mesh_find_any_set(mesh, name);
    sp_mesh_list_sets(mesh, sets, sizeof sets);
    if (!set)
        tool_fail(SP_USAGE, NULL, "--%s: the mesh has no set \"%s\"%s%s", option, name, *sets ? ", only " : "", sets);
    return set;
}

/* The set with the longest name that `at` begins with, followed by a comma or the end; its name ends at *end. */
static const sp_mesh_set *longest_set(const tool_place_names *names, const char *at, const char **end)
{
    char name[SP_NAME_LENGTH];
    size_t longest = 0;

    for (int64_t i = 0; i < names->mesh->set_count; i++) {
        const size_t length = strlen(names->mesh->sets[i].name);
        if (length > longest && !strncmp(at, names->mesh->sets[i].name, length) && (!at[length] || at[length] == ','))
            longest = length;
    }

    /* Where there is none, tool_find_set refuses the word up to the comma. */
    longest = longest ? longest : strcspn(at, ",");
    *end = at + longest;
    snprintf(name, sizeof name, "%.*s", (int)longest, at);

    return tool_find_set(names->mesh, names->option, name);
}

static const char *add_set(const tool_place_names *names, const char *at, sp_list *list)
{
    sp_pool pool = {0};
    int64_t count, *vertices;
    const char *end;
    const sp_mesh_set *set = longest_set(names, at, &end);
    tool_check(sp_mesh_set_vertices(names->context, names->mesh, set, &pool, &count, &vertices), NULL);
    for (int64_t i = 0; i < count; i++)
        add(list, false, vertices[i]);
    sp_pool_free(&pool);
    return end;
}

const char *tool_place_entry(const tool_place_names *names, const char *text, const char *at, sp_list *list)
{
    static const char prefix[] = "surface:";
    const bool surface = !strncmp(at, prefix, sizeof prefix - 1);

    at += surface ? sizeof prefix - 1 : 0;
    const bool near = !strncmp(at, SP_PLACE_PREFIX, sizeof SP_PLACE_PREFIX - 1),
               set = !surface && !strncmp(at, SP_SET_PREFIX, sizeof SP_SET_PREFIX - 1);

    if ((surface || near || set) && !names->mesh)
        tool_fail(SP_USAGE, NULL, "--%s: %s needs the mesh: name its file too", names->option,
                  surface ? "a vertex of the surface"
                  : set   ? "a set"
                          : "a place");
    if (surface && names->mesh->surface.vertex_count == 0)
        tool_fail(SP_INPUT, names->mesh_path, "--%s: the mesh has no embedded surface", names->option);

    at = near  ? find_nearest(names, text, at + sizeof SP_PLACE_PREFIX - 1, surface, list)
         : set ? add_set(names, at + sizeof SP_SET_PREFIX - 1, list)
               : parse_numbers(names, text, at, surface, list);

    if (*at && *at != ',')
        refuse(names, text);
    return at;
}

void tool_places_split(const char *text, sp_pool *pool, sp_list *entries)
{
    for (const char *at = text;; at++) {
        const char *start = at;

        const char *near = strstr(at, SP_PLACE_PREFIX);
        if (near && near < at + strcspn(at, ",")) {
            sp_list points = {0};
            const char *end = tool_place_points(near + sizeof SP_PLACE_PREFIX - 1, &points);
            at = end ? end : at + strlen(at); /* what is no place is refused as a whole */
            sp_list_free(&points);
        }
        at += strcspn(at, ",");

        char *entry = tool_allocate(pool, at - start + 1, 1), **to = tool_list_add(entries, 1, sizeof *to);
        memcpy(entry, start, (size_t)(at - start));
        *to = entry;

        if (!*at)
            return;
    }
}

size_t tool_place_body(const char *entry)
{
    const size_t length = strcspn(entry, ":");
    const bool vertex = (length == 4 && !strncmp(entry, "near", 4)) || (length == 3 && !strncmp(entry, "set", 3)) ||
                        (length == 7 && !strncmp(entry, "surface", 7));
    return entry[length] && !vertex ? length : 0;
}

void tool_places_parse(const tool_place_names *names, const char *text, sp_list *list)
{
    for (const char *at = text;; at++) {
        at = tool_place_entry(names, text, at, list);
        if (!*at)
            return;
    }
}

tool_place tool_place_axis(const tool_place_names *names, const char *text, int *axis)
{
    const char *colon = strrchr(text, ':');
    sp_pool pool = {0};
    sp_list list = {0};

    if (!colon || colon[1] < 'x' || colon[1] > 'z' || colon[2])
        tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not VERTEX:x, :y or :z", names->option, text);

    char *vertex = tool_allocate_copy(&pool, text, (int64_t)strlen(text) + 1, 1);
    vertex[colon - text] = 0;
    tool_places_parse(names, vertex, &list);
    if (list.count != 1)
        tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not one vertex", names->option, text);

    const tool_place place = *(const tool_place *)list.data;
    *axis = colon[1] - 'x';

    sp_list_free(&list);
    sp_pool_free(&pool);
    return place;
}

int tool_place_corners(const sp_mesh *mesh, const tool_place *place, const int64_t **node, const double **weight)
{
    static const double one = 1;
    int count = 1;
    *weight = &one;
    *node = &place->vertex;
    if (place->surface) {
        *node = sp_mesh_nodes(mesh, mesh->surface.element[place->vertex], &count);
        *weight = mesh->surface.weights + place->vertex * mesh->surface.width;
    }
    return count;
}

int64_t tool_places_vertices(const tool_place_names *names, const char *text, sp_pool *pool, const int64_t **vertices)
{
    sp_list places = {0}, list = {0};

    tool_places_parse(names, text, &places);
    for (int64_t i = 0; i < places.count; i++) {
        const int64_t *corner;
        const double *weight;
        const int corners = tool_place_corners(names->mesh, (const tool_place *)places.data + i, &corner, &weight);
        int64_t *to = tool_list_add(&list, corners, sizeof *to);
        memcpy(to, corner, (size_t)corners * sizeof *to);
    }

    int64_t *vertex = list.data, kept = 0;
    qsort(vertex, (size_t)list.count, sizeof *vertex, sp_compare_integers);
    for (int64_t i = 0; i < list.count; i++)
        if (i == 0 || vertex[i] != vertex[i - 1])
            vertex[kept++] = vertex[i];

    *vertices = tool_allocate_copy(pool, vertex, kept, sizeof *vertex);
    sp_list_free(&places);
    sp_list_free(&list);
    return kept;
}
