/* Vertices that options name: by number, by the number of a vertex of the embedded surface, by place, or by the name of
 * a set. */
#ifndef TOOLS_COMMON_PLACES_H
#define TOOLS_COMMON_PLACES_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

/* A vertex of the mesh, or of its embedded surface. */
typedef struct tool_place {
    bool surface;
    int64_t vertex;
} tool_place;

/* What the words of an option name vertices of. */
typedef struct tool_place_names {
    sp_context *context;
    const char *option;
    int64_t vertex_count;
    const sp_mesh *mesh;   /* NULL: no mesh was given, and only numbers can be used */
    const char *mesh_path; /* for messages */
} tool_place_names;

/* The set of vertices, faces or elements with this name (sp_mesh_find_any_set); a usage error of the option that lists
 * the sets if there is none. */
const sp_mesh_set *tool_find_set(const sp_mesh *mesh, const char *option, const char *name);

/* One entry at `at` of the list `text`: N, N-M, near:X,Y,Z[;X,Y,Z]…, one of these behind "surface:", or set:NAME with
 * the longest name of a set that follows. Adds the vertices to `list` and returns where it ends, at a comma or at the
 * end of the text. Coordinates are at rest; for a place the vertex that was found and its distance are said. A usage
 * error ends the process. */
const char *tool_place_entry(const tool_place_names *names, const char *text, const char *at, sp_list *list);

/* The entries of a list as char *, without looking into them: commas between three coordinates do not end one. */
void tool_places_split(const char *text, sp_pool *pool, sp_list *entries);

/* The length of BODY in an entry BODY:…, 0 if it names no body. A body cannot have the name "near", "surface" or
 * "set". */
size_t tool_place_body(const char *entry);

/* A list of entries: 12,17-20,surface:5,near:0,0.7,0,set:top. */
void tool_places_parse(const tool_place_names *names, const char *text, sp_list *list);

/* VERTEX:AXIS, one vertex as above and x, y or z. */
tool_place tool_place_axis(const tool_place_names *names, const char *text, int *axis);

/* Points X,Y,Z[;X,Y,Z]… behind near: as a list of double[3]; returns where they end, NULL if they are not that. */
const char *tool_place_points(const char *at, sp_list *points);

/* Says which vertex of the mesh was found for a place, and the name of the mesh unless mesh_path is NULL. A place that
 * is looked for again, as for every trajectory of a table, is said once. */
void tool_place_say(const double point[3], bool surface, int64_t vertex, const sp_mesh *mesh, const char *mesh_path,
                    double distance);

/* The vertices of the mesh whose values with these weights give that of a place; `corner` may point into `place`. */
int tool_place_corners(const sp_mesh *mesh, const tool_place *place, const int64_t **corner, const double **weight);

/* Mesh vertices of a list, increasing, each once: a surface vertex is replaced by the corners of its element. The list
 * is allocated from `pool`; returns its length. */
int64_t tool_places_vertices(const tool_place_names *names, const char *text, sp_pool *pool, const int64_t **vertices);

#endif
