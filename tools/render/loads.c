#include "tools/render/loads.h"

#include "base/vec3.h"
#include "formats/loads.h"
#include "pointshell/order.h"
#include "render/normals.h"

#include <math.h>
#include <string.h>

/* Linear RGB, of Okabe and Ito. */
const float tool_force_color[3] = {0.00f, 0.34f, 0.17f}, tool_spring_color[3] = {0.60f, 0.19f, 0.39f};
/* Of the body's diagonal: the longest arrows of forces and of pressure, and the radii of their shafts. */
static const double LONGEST = 0.2, LONGEST_PRESSURE = 0.1, SHAFT = 0.0045, SHAFT_PRESSURE = 0.0028;
enum { PRESSURE_ARROWS = 60 };

/* Triangles to which the loads apply, with outward normals at their vertices. */
typedef struct outside {
    int64_t triangle_count;
    const int64_t *triangles, *element; /* element [triangle_count]; NULL: that of the embedded vertices */
    double *normal;                     /* [vertices, 3] */
    const double *vertices;
} outside;

static outside find_outside(sp_context *context, const sp_mesh *mesh, bool embedded, sp_pool *pool)
{
    outside out = {.triangle_count = mesh->surface.triangle_count,
                   .triangles = mesh->surface.triangles,
                   .vertices = embedded ? mesh->surface.vertices : mesh->vertices};
    const int64_t vertices = embedded ? mesh->surface.vertex_count : mesh->vertex_count;
    int64_t *triangles, *element;

    if (!embedded) {
        tool_check(sp_mesh_boundary(context, mesh, pool, &out.triangle_count, &triangles, &element), NULL);
        out.triangles = triangles;
        out.element = element;
    }

    out.normal = tool_allocate(pool, vertices, 3 * sizeof *out.normal);
    sp_vertex_normals(vertices, out.vertices, out.triangle_count, out.triangles, out.normal);
    return out;
}

/* The nodes that carry a vertex of the mesh, or of its embedded surface. */
static void carry(const sp_mesh *mesh, bool embedded, const int64_t *vertex, tool_force *force)
{
    force->count = 1;
    force->corner = vertex;
    force->weight[0] = 1;
    if (!embedded)
        return;
    force->corner = sp_mesh_nodes(mesh, mesh->surface.element[*vertex], &force->count);
    for (int a = 0; a < force->count; a++)
        force->weight[a] = mesh->surface.weights[*vertex * mesh->surface.width + a];
}

static void set_arrow(const double direction[3], double length, tool_force *force)
{
    const double norm = sp_norm3(direction);
    for (int k = 0; k < 3; k++)
        force->arrow[k] = length / norm * direction[k];
}

/* Marks all vertices that are not of a set. */
static void leave_out(sp_context *context, const sp_mesh *mesh, const sp_mesh_set *set, sp_pool *pool, bool *left)
{
    int64_t count, *vertices;
    tool_check(sp_mesh_set_vertices(context, mesh, set, pool, &count, &vertices), NULL);
    memset(left, true, (size_t)mesh->vertex_count);
    for (int64_t i = 0; i < count; i++)
        left[vertices[i]] = false;
}

/* Arrows at vertices that are evenly spread over the triangles under pressure. */
static int64_t choose_pressure(sp_context *context, const tool_loads *loads, const outside *out, bool embedded,
                               const sp_load *load, double largest, sp_pool *pool, tool_force *force)
{
    const sp_mesh *mesh = &loads->motion->mesh.mesh;
    const int64_t vertices = embedded ? mesh->surface.vertex_count : mesh->vertex_count;

    bool *pressed = tool_allocate(pool, vertices, sizeof *pressed);
    if (load->set)
        leave_out(context, mesh, load->set, pool, pressed);

    int64_t count = 0, *vertex = tool_allocate_raw(pool, vertices, sizeof *vertex), order[PRESSURE_ARROWS];
    double *place = tool_allocate_raw(pool, vertices, 3 * sizeof *place);

    for (int64_t i = 0; i < 3 * out->triangle_count; i++) {
        const int64_t v = out->triangles[i], e = embedded ? mesh->surface.element[v] : out->element[i / 3];
        if (pressed[v] || (load->id >= 0 && mesh->region[e] != load->id) || !(sp_norm3(out->normal + 3 * v) > 0))
            continue;
        pressed[v] = true;
        memcpy(place + 3 * count, out->vertices + 3 * v, 3 * sizeof *place);
        vertex[count++] = v;
    }

    const int64_t chosen = count < PRESSURE_ARROWS ? count : PRESSURE_ARROWS;
    if (chosen > 0)
        tool_check(sp_farthest_order(context, count, place, 0, chosen, order), NULL);

    for (int64_t i = 0; i < chosen; i++) {
        const int64_t *v = vertex + order[i];
        force[i] = (tool_force){.load = load, .pulls = load->force[0] < 0};
        memcpy(force[i].place, out->vertices + 3 * *v, sizeof force[i].place);
        carry(mesh, embedded, v, force + i);
        set_arrow(out->normal + 3 * *v, -LONGEST_PRESSURE * loads->diagonal * load->force[0] / largest, force + i);
    }
    return chosen;
}

static void choose_force(const tool_loads *loads, const outside *of_mesh, const outside *of_surface,
                         const sp_load *load, double largest, tool_force *force)
{
    const sp_mesh *mesh = &loads->motion->mesh.mesh;
    const bool surface = load->kind == SP_LOAD_SURFACE;
    *force = (tool_force){.load = load, .pulls = true};
    set_arrow(load->force, LONGEST * loads->diagonal * sp_norm3(load->force) / largest, force);
    if (load->kind != SP_LOAD_VERTEX && !surface)
        return;
    const outside *out = surface ? of_surface : of_mesh;
    memcpy(force->place, out->vertices + 3 * load->id, sizeof force->place);
    carry(mesh, surface, &load->id, force);
    force->pulls = sp_dot3(load->force, out->normal + 3 * load->id) > 0;
}

static void read_loads(sp_context *context, const char *path, sp_pool *pool, tool_loads *loads)
{
    const sp_mesh *mesh = &loads->motion->mesh.mesh;
    int64_t length, count = 0;
    double largest = 0, largest_pressure = 0;

    char *text = tool_read_bytes(path, "loads", pool, &length);
    tool_check(sp_loads_parse(context, text, length, mesh, pool, &loads->count, &loads->load), path);

    const outside of_mesh = find_outside(context, mesh, false, pool),
                  of_surface = find_outside(context, mesh, true, pool);

    for (int64_t i = 0; i < loads->count; i++) {
        const sp_load *load = loads->load + i;
        if (load->kind == SP_LOAD_PRESSURE)
            largest_pressure = fmax(largest_pressure, fabs(load->force[0]));
        else if (load->kind != SP_LOAD_SPRING && !sp_load_by_mass(load->kind) && load->kind != SP_LOAD_TRACTION)
            largest = fmax(largest, sp_norm3(load->force));
        count += load->kind == SP_LOAD_PRESSURE ? PRESSURE_ARROWS : 1;
    }

    tool_force *force = tool_allocate(pool, count, sizeof *force);
    loads->spring = tool_allocate(pool, loads->count, sizeof *loads->spring);

    for (int64_t i = 0; i < loads->count; i++) {
        const sp_load *load = loads->load + i;
        tool_force *next = force + loads->force_count;
        const bool embedded = mesh->surface.triangle_count > 0 && !load->set;

        if (load->kind == SP_LOAD_SPRING)
            loads->spring[loads->spring_count++] = load;
        else if (load->kind == SP_LOAD_PRESSURE && load->force[0] != 0)
            loads->force_count += choose_pressure(context, loads, embedded ? &of_surface : &of_mesh, embedded, load,
                                                  largest_pressure, pool, next);
        else if (load->kind != SP_LOAD_PRESSURE && !sp_load_by_mass(load->kind) && sp_norm3(load->force) > 0) {
            /* a traction is no force: its arrow is as long as that of the largest one */
            choose_force(loads, &of_mesh, &of_surface, load,
                         load->kind == SP_LOAD_TRACTION ? sp_norm3(load->force) : largest, next);
            loads->force_count++;
        }
    }

    loads->force = force;
}

static bool acts(const sp_load *load, double time)
{
    return load->start <= time && time < load->end;
}

/* The mean of the nodes of the entries of a set, displaced. */
static void set_centroid(const sp_mesh *mesh, const sp_mesh_set *set, double scale, const double *u, double place[3])
{
    int64_t node[SP_ELEMENT_NODES];
    for (int64_t i = 0; i < set->count; i++) {
        const int nodes = sp_mesh_set_nodes(mesh, set, i, node);
        for (int a = 0; a < nodes; a++)
            for (int k = 0; k < 3; k++)
                place[k] +=
                    (mesh->vertices[3 * node[a] + k] + scale * u[3 * node[a] + k]) / (nodes * (double)set->count);
    }
}

/* The centroid of the elements of a region or of all, or of a set, displaced. */
static void load_centroid(const sp_mesh *mesh, const sp_load *load, double scale, const double *u, double place[3])
{
    double volume = 0;
    memset(place, 0, 3 * sizeof *place);

    if (load->set) {
        set_centroid(mesh, load->set, scale, u, place);
        return;
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        if (load->kind == SP_LOAD_REGION && mesh->region[e] != load->id)
            continue;

        const double own = sp_mesh_element_volume(mesh, e);
        volume += own;
        for (int a = 0; a < nodes; a++)
            for (int k = 0; k < 3; k++)
                place[k] += own / nodes * (mesh->vertices[3 * node[a] + k] + scale * u[3 * node[a] + k]);
    }

    if (volume > 0)
        for (int k = 0; k < 3; k++)
            place[k] /= volume;
}

static void place_force(const tool_loads *loads, const tool_force *force, double scale, const double *u,
                        tool_marks *marks)
{
    double place[3], other[3];

    memcpy(place, force->place, sizeof place);

    if (force->count == 0)
        load_centroid(&loads->motion->mesh.mesh, force->load, scale, u, place);

    for (int a = 0; a < force->count; a++)
        for (int k = 0; k < 3; k++)
            place[k] += scale * force->weight[a] * u[3 * force->corner[a] + k];

    for (int k = 0; k < 3; k++)
        other[k] = place[k] + (force->pulls ? force->arrow[k] : -force->arrow[k]);

    tool_marks_line(marks, force->pulls ? place : other, force->pulls ? other : place,
                    (force->load->kind == SP_LOAD_PRESSURE ? SHAFT_PRESSURE : SHAFT) * loads->diagonal);
}

static void place_spring(const tool_loads *loads, const sp_load *load, double time, double scale, const double *u,
                         tool_marks *marks)
{
    const sp_mesh *mesh = &loads->motion->mesh.mesh;
    const double part = load->moving ? (time - load->start) / (load->end - load->start) : 0;
    double place[3], anchor[3];
    for (int k = 0; k < 3; k++) {
        place[k] = mesh->vertices[3 * load->id + k] + scale * u[3 * load->id + k];
        anchor[k] = load->force[k] + (load->moving ? part * (load->anchor_end[k] - load->force[k]) : 0);
    }
    if (sp_distance_squared3(place, anchor) > 0)
        tool_marks_line(marks, place, anchor, SHAFT * loads->diagonal);
}

void tool_loads_open(sp_context *context, const char *path, double at, const tool_trajectory *motion, double diagonal,
                     sp_pool *pool, tool_loads *loads)
{
    bool any = motion->path;
    *loads = (tool_loads){.motion = motion, .diagonal = diagonal, .at = at};
    if (!path)
        return;
    read_loads(context, path, pool, loads);
    for (int64_t i = 0; i < loads->count; i++)
        any |= acts(loads->load + i, at);
    if (!any)
        tool_fail(SP_USAGE, path, "no load acts at %g s: choose a time with --loads-at", at);
}

void tool_loads_place(const tool_loads *loads, int64_t frame, double scale, const double *u, tool_marks *forces,
                      tool_marks *springs)
{
    const double time = loads->motion->path ? tool_trajectory_time(loads->motion, frame) : loads->at;
    for (int64_t i = 0; i < loads->force_count; i++)
        if (acts(loads->force[i].load, time))
            place_force(loads, loads->force + i, scale, u, forces);
    for (int64_t i = 0; i < loads->spring_count; i++)
        if (acts(loads->spring[i], time))
            place_spring(loads, loads->spring[i], time, scale, u, springs);
}
