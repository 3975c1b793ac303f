#include "tools/render/additions.h"

#include "assembly/element.h"
#include "base/vec3.h"
#include "geometry/winding.h"
#include "pointshell/order.h"

#include <math.h>
#include <string.h>

/* Linear RGB. */
static const float COLORS[][3] = {[TOOL_FIXED_MARKS] = {0.80f, 0.10f, 0.04f},
                                  [TOOL_DYNAMIC_MARKS] = {0.87f, 0.77f, 0.05f},
                                  [TOOL_FIBRES] = {0.79f, 0.35f, 0.00f}};
static const double HALF_MARK = 0.006, HALF_CUBE = 0.008; /* of the body's diagonal */
/* Of the distance of the segments from each other: half their length and their radius. */
static const double HALF_SEGMENT = 0.375, SEGMENT_RADIUS = 0.06;

/* ---- fibres ---- */

/* The positions of the nodes and their mean; returns the type of the element. */
static int node_positions(const sp_mesh *mesh, int64_t element, double X[SP_ELEMENT_NODES][3], double centre[3])
{
    const int type = sp_mesh_element_places(mesh, element, X), nodes = sp_element_types[type].nodes;
    memset(centre, 0, 3 * sizeof *centre);
    for (int a = 0; a < nodes; a++)
        for (int k = 0; k < 3; k++)
            centre[k] += X[a][k] / nodes;
    return type;
}

static void set_fibre(const sp_mesh *mesh, int64_t element, tool_fibre *fibre)
{
    sp_material own;
    double X[SP_ELEMENT_NODES][3], centre[3], gradient[SP_ELEMENT_NODES][3];
    *fibre = (tool_fibre){.element = element};
    memcpy(fibre->direction, sp_mesh_material(mesh, element, &own)->fibre_direction, sizeof fibre->direction);
    const int type = node_positions(mesh, element, X, centre);
    sp_element_centre_gradients(type, X[0], gradient);
    for (int a = 0; a < sp_element_types[type].nodes; a++)
        fibre->slope[a] = sp_dot3(fibre->direction, gradient[a]);
}

/* Elements with fibres. */
typedef struct candidates {
    int64_t count, *element; /* [count] */
    double *centre;          /* [count, 3] m */
} candidates;

static candidates find_candidates(const sp_mesh *mesh, sp_pool *pool)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    candidates found = {.element = tool_allocate_raw(pool, elements, sizeof *found.element),
                        .centre = tool_allocate_raw(pool, elements, 3 * sizeof *found.centre)};
    double X[SP_ELEMENT_NODES][3];

    for (int64_t e = 0; e < elements; e++) {
        sp_material own;
        if (sp_mesh_material(mesh, e, &own)->fibre == SP_FIBRE_NONE)
            continue;
        node_positions(mesh, e, X, found.centre + 3 * found.count);
        found.element[found.count++] = e;
    }

    return found;
}

/* Keeps those with the centre inside the embedded surface, if there are some. */
static void keep_inside(sp_context *context, const sp_mesh *mesh, sp_pool *pool, candidates *found)
{
    const sp_surface surface = {.vertex_count = mesh->surface.vertex_count,
                                .vertices = mesh->surface.vertices,
                                .triangle_count = mesh->surface.triangle_count,
                                .triangles = mesh->surface.triangles};
    sp_winding *winding;
    int64_t kept = 0;

    tool_check(sp_winding_new(context, &surface, &winding), NULL);

    for (int64_t i = 0; i < found->count; i++)
        if (sp_winding_inside(winding, found->centre + 3 * i)) {
            memmove(found->centre + 3 * kept, found->centre + 3 * i, 3 * sizeof *found->centre);
            found->element[kept++] = found->element[i];
        }
    sp_winding_free(winding);

    if (kept > 0)
        found->count = kept;
    else
        *found = find_candidates(mesh, pool);
}

/* Evenly spread: each is the farthest from all before it. */
static void choose_fibres(sp_context *context, bool embedded, sp_pool *pool, tool_additions *additions)
{
    const sp_mesh *mesh = &additions->motion->simulated;
    sp_pool scratch = {0};
    candidates found = find_candidates(mesh, &scratch);

    if (found.count == 0)
        tool_fail(SP_INPUT, additions->motion->mesh.path, "--fibres: no material of the mesh has fibres");

    if (embedded)
        keep_inside(context, mesh, &scratch, &found);

    double volume = 0;
    for (int64_t i = 0; i < found.count; i++)
        volume += sp_mesh_element_volume(mesh, found.element[i]);

    const int64_t chosen = found.count < additions->fibres ? found.count : additions->fibres;
    int64_t *order = tool_allocate_raw(&scratch, chosen, sizeof *order);
    tool_check(sp_farthest_order(context, found.count, found.centre, 0, chosen, order), NULL);

    tool_fibre *fibre = tool_allocate_raw(pool, chosen, sizeof *fibre);
    for (int64_t i = 0; i < chosen; i++)
        set_fibre(mesh, found.element[order[i]], fibre + i);

    additions->fibre = fibre;
    additions->fibre_count = chosen;
    additions->half = HALF_SEGMENT * cbrt(volume / (double)chosen);

    sp_pool_free(&scratch);
}

/* From c − h F a to c + h F a with the deformation gradient F at the centre c. */
static void place_fibre(const tool_additions *additions, const tool_fibre *fibre, double scale, const double *u,
                        tool_marks *marks)
{
    const sp_mesh *mesh = &additions->motion->mesh.mesh;
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, fibre->element, &nodes);
    double centre[3] = {0, 0, 0}, along[3], end[2][3];

    memcpy(along, fibre->direction, sizeof along);
    for (int a = 0; a < nodes; a++)
        for (int k = 0; k < 3; k++) {
            const double moved = scale * u[3 * node[a] + k];
            centre[k] += (mesh->vertices[3 * node[a] + k] + moved) / nodes;
            along[k] += fibre->slope[a] * moved;
        }

    if (!(sp_norm3(along) > 0))
        return;

    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++)
            end[side][k] = centre[k] + (side ? 1 : -1) * additions->half * along[k];
    tool_marks_line(marks, end[0], end[1], SEGMENT_RADIUS / HALF_SEGMENT * additions->half);
}

/* ---- all ---- */

/* The trajectory of a ConJac model names its dynamic vertices. */
static void find_dynamic(sp_pool *pool, tool_additions *additions)
{
    const json_t *list = json_object_get(tool_trajectory_meta(additions->motion), "dynamic");
    if (!list)
        tool_fail(SP_INPUT, additions->motion->path,
                  "--dynamic: it names no dynamic vertices, as the trajectories of simfull --model conjac do");
    additions->dynamic_count = (int64_t)json_array_size(list);
    int64_t *vertex = tool_allocate_raw(pool, additions->dynamic_count, sizeof *vertex);
    for (int64_t i = 0; i < additions->dynamic_count; i++)
        vertex[i] = (int64_t)json_integer_value(json_array_get(list, (size_t)i));
    additions->dynamic_vertex = vertex;
}

/* At vertices in their places, which a displacement by a path can have moved for fixed ones too. */
static void place_vertices(const tool_additions *additions, int64_t count, const int64_t *vertex, double half,
                           double scale, const double *u, tool_marks *marks)
{
    for (int64_t i = 0; i < count; i++) {
        double place[3];
        for (int k = 0; k < 3; k++)
            place[k] = additions->motion->mesh.mesh.vertices[3 * vertex[i] + k] + scale * u[3 * vertex[i] + k];
        tool_marks_point(marks, place, half * additions->diagonal);
    }
}

void tool_additions_open(sp_context *context, const tool_trajectory *motion, double diagonal, bool embedded,
                         sp_pool *pool, tool_additions *additions)
{
    additions->motion = motion;
    additions->diagonal = diagonal;
    if (additions->dynamic)
        find_dynamic(pool, additions);
    if (additions->fibres)
        choose_fibres(context, embedded, pool, additions);
    tool_loads_open(context, additions->loads_path, additions->loads_at, motion, diagonal, pool, &additions->loads);
}

void tool_additions_new_frame(tool_additions *additions, sp_pool *pool)
{
    const int64_t most[TOOL_ADDITIONS] = {[TOOL_FIXED_MARKS] =
                                              additions->fixed ? additions->motion->mesh.mesh.fixed_count : 0,
                                          [TOOL_DYNAMIC_MARKS] = additions->dynamic_count,
                                          [TOOL_FIBRES] = additions->fibre_count,
                                          [TOOL_FORCES] = additions->loads.force_count,
                                          [TOOL_SPRINGS] = additions->loads.spring_count};
    static const enum tool_mark kinds[TOOL_ADDITIONS] = {[TOOL_FIXED_MARKS] = TOOL_MARK_OCTAHEDRON,
                                                         [TOOL_DYNAMIC_MARKS] = TOOL_MARK_CUBE,
                                                         [TOOL_FIBRES] = TOOL_MARK_BAR,
                                                         [TOOL_FORCES] = TOOL_MARK_ARROW,
                                                         [TOOL_SPRINGS] = TOOL_MARK_BAR};

    for (int i = 0; i < TOOL_ADDITIONS; i++)
        additions->marks[i] = tool_marks_new(kinds[i], most[i], pool);
}

void tool_additions_place(tool_additions *additions, int64_t frame, double scale, const double *u)
{
    const tool_trajectory *motion = additions->motion;
    const sp_mesh *mesh = &motion->mesh.mesh;
    tool_marks *marks = additions->marks;

    for (int i = 0; i < TOOL_ADDITIONS; i++)
        marks[i].count = 0;

    if (additions->fixed)
        place_vertices(additions, mesh->fixed_count, mesh->fixed, HALF_MARK, scale, u, marks + TOOL_FIXED_MARKS);
    place_vertices(additions, additions->dynamic_count, additions->dynamic_vertex, HALF_CUBE, scale, u,
                   marks + TOOL_DYNAMIC_MARKS);

    for (int64_t i = 0; i < additions->fibre_count; i++)
        place_fibre(additions, additions->fibre + i, scale, u, marks + TOOL_FIBRES);

    tool_loads_place(&additions->loads, frame, scale, u, marks + TOOL_FORCES, marks + TOOL_SPRINGS);
}

static const float *color(int addition)
{
    return addition == TOOL_FORCES ? tool_force_color : addition == TOOL_SPRINGS ? tool_spring_color : COLORS[addition];
}

void tool_additions_extend(const tool_additions *additions, sp_extent *extent)
{
    for (int i = TOOL_DYNAMIC_MARKS; i <= TOOL_SPRINGS; i++) {
        const sp_drawing drawing = tool_marks_drawing(&additions->marks[i], color(i));
        sp_extent_add(extent, drawing.vertex_count, drawing.vertices);
    }
}

int tool_additions_drawings(const tool_additions *additions, sp_drawing *drawing)
{
    int count = 0;
    for (int i = 0; i < TOOL_ADDITIONS; i++)
        if (additions->marks[i].count > 0)
            drawing[count++] = tool_marks_drawing(&additions->marks[i], color(i));
    return count;
}
