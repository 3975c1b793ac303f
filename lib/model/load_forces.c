/* Checks of single loads, and their forces on the vertices. */
#include "model/loads.h"

#include "assembly/element.h"
#include "base/vec3.h"

#include <math.h>
#include <string.h>

static bool finite_values(int count, const double *values)
{
    bool finite = true;
    for (int i = 0; i < count; i++)
        finite &= isfinite(values[i]) != 0;
    return finite;
}

/* The vertex or region that a load names, if it names one. */
static int check_target(sp_context *context, const sp_mesh *mesh, int64_t number, const sp_load *load)
{
    const bool by_region =
        load->kind == SP_LOAD_REGION || load->kind == SP_LOAD_PRESSURE || sp_load_by_mass(load->kind);

    if (load->kind == SP_LOAD_SET || load->kind == SP_LOAD_TRACTION || (load->kind == SP_LOAD_PRESSURE && load->set)) {
        if (!load->set || (load->kind != SP_LOAD_SET && load->set->kind != SP_SET_FACES))
            return sp_fail(context, SP_INPUT, "load %lld has no set%s", (long long)number,
                           load->kind == SP_LOAD_SET ? "" : " of faces");
        return SP_OK;
    }

    if (load->kind == SP_LOAD_ALL || (by_region && load->kind != SP_LOAD_REGION && load->id < 0))
        return SP_OK;

    const int64_t most = load->kind == SP_LOAD_SURFACE ? mesh->surface.vertex_count
                         : by_region                   ? mesh->material_count
                                                       : mesh->vertex_count;

    if (load->id < 0 || load->id >= most)
        return sp_fail(context, SP_INPUT, "load %lld names %s %lld of %lld", (long long)number,
                       load->kind == SP_LOAD_SURFACE ? "surface vertex"
                       : by_region                   ? "region"
                                                     : "vertex",
                       (long long)load->id, (long long)most);
    return SP_OK;
}

static int check_course(sp_context *context, int64_t number, const sp_load *load)
{
    const sp_course *course = &load->course;
    const long long shown = (long long)number;

    if (course->kind != SP_COURSE_CONSTANT && load->kind == SP_LOAD_SPRING)
        return sp_fail(context, SP_INPUT, "load %lld is a spring, which has no course", shown);
    if (course->kind == SP_COURSE_RAMP && !isfinite(load->end))
        return sp_fail(context, SP_INPUT, "load %lld is a ramp without end", shown);
    if (course->kind == SP_COURSE_SINE && !(course->frequency > 0 && isfinite(course->frequency + course->phase)))
        return sp_fail(context, SP_INPUT, "load %lld has a sine of %g Hz", shown, course->frequency);

    if (course->kind != SP_COURSE_TABLE)
        return SP_OK;

    for (int64_t k = 0; k < course->count; k++)
        if (!isfinite(course->time[k]) || !isfinite(course->factor[k]) ||
            (k > 0 && !(course->time[k] > course->time[k - 1])))
            return sp_fail(context, SP_INPUT, "load %lld: time %lld of its table, %g s, is not more than that before",
                           shown, (long long)k + 1, course->time[k]);
    return course->count > 0 ? SP_OK : sp_fail(context, SP_INPUT, "load %lld has an empty table", shown);
}

int sp_load_check(sp_context *context, const sp_mesh *mesh, int64_t number, const sp_load *load)
{
    const long long shown = (long long)number;

    if (!(load->end > load->start) || isnan(load->start) || isnan(load->end) || load->start < 0)
        return sp_fail(context, SP_INPUT, "load %lld acts from %g s to %g s", shown, load->start, load->end);
    if (!finite_values(3, load->force) || (load->kind == SP_LOAD_ROTATION && !finite_values(3, load->point)))
        return sp_fail(context, SP_INPUT, "load %lld is not finite", shown);

    SP_PASS(check_target(context, mesh, number, load));
    SP_PASS(check_course(context, number, load));

    if (load->kind != SP_LOAD_SPRING)
        return SP_OK;

    if (load->moving && !isfinite(load->end))
        return sp_fail(context, SP_INPUT, "load %lld is a spring whose anchor moves without end", shown);
    if (load->moving && !finite_values(3, load->anchor_end))
        return sp_fail(context, SP_INPUT, "load %lld is not finite", shown);
    if (!(load->stiffness >= 0 && isfinite(load->stiffness)))
        return sp_fail(context, SP_INPUT, "load %lld is a spring of stiffness %g N/m", shown, load->stiffness);
    return SP_OK;
}

static void add_at_vertex(double *full, int64_t vertex, double share, const double force[3])
{
    for (int c = 0; c < 3; c++)
        full[3 * vertex + c] += share * force[c];
}

/* Distributes a force on a vertex of the embedded surface by its weights. */
static void add_at_surface(const sp_mesh *mesh, double *full, int64_t vertex, double share, const double force[3])
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, mesh->surface.element[vertex], &nodes);
    for (int a = 0; a < nodes; a++)
        add_at_vertex(full, node[a], share * mesh->surface.weights[vertex * mesh->surface.width + a], force);
}

/* Every triangle of the embedded surface loads each of its three vertices with a third of −p n A. */
static void press_surface(const sp_mesh *mesh, const sp_load *load, double *full)
{
    const sp_embedded_surface *surface = &mesh->surface;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        const int64_t *corner = surface->triangles + 3 * t;
        const double *x = surface->vertices + 3 * corner[0], *y = surface->vertices + 3 * corner[1],
                     *z = surface->vertices + 3 * corner[2];

        if (load->id >= 0 && mesh->region[surface->element[corner[0]]] != load->id)
            continue;

        double area[3]; /* n A */
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3, e = (c + 2) % 3;
            area[c] = 0.5 * ((y[d] - x[d]) * (z[e] - x[e]) - (y[e] - x[e]) * (z[d] - x[d]));
        }

        for (int k = 0; k < 3; k++)
            add_at_surface(mesh, full, corner[k], -load->force[0] / 3, area);
    }
}

/* The nodes of a face, their number, and ∫ N_a n dA and ∫ N_a dA of each. */
static int face_areas(const sp_mesh *mesh, sp_mesh_face face, int64_t node[SP_FACE_NODES],
                      double area[SP_FACE_NODES][3], double size[SP_FACE_NODES])
{
    double X[SP_ELEMENT_NODES][3];
    signed char number[SP_FACE_NODES];
    int corners, unused;
    const int64_t *of_element = sp_mesh_nodes(mesh, face.element, &unused);
    const int type = sp_mesh_element_places(mesh, face.element, X),
              nodes = sp_element_face(type, face.face, number, &corners);

    sp_element_face_areas(type, face.face, X, area, size);

    for (int a = 0; a < nodes; a++)
        node[a] = of_element[number[a]];
    return nodes;
}

/* The faces of a set [count], from `pool`. */
static sp_mesh_face *faces_of_set(const sp_mesh_set *set, sp_pool *pool)
{
    sp_mesh_face *face = sp_pool_raw(pool, set->count, sizeof *face);
    if (face)
        for (int64_t f = 0; f < set->count; f++)
            face[f] = (sp_mesh_face){set->index[2 * f], (int)set->index[2 * f + 1]};
    return face;
}

/* The consistent forces −p ∫ N_a n dA of the boundary of the elements, or of the faces of a set. */
static int press_faces(sp_context *context, const sp_mesh *mesh, const sp_load *load, double *full)
{
    sp_pool scratch = {0};
    sp_mesh_face *face;
    int64_t count;
    int status = SP_OK;

    if (load->set) {
        count = load->set->count;
        face = faces_of_set(load->set, &scratch);
        if (!face)
            status = sp_fail_memory(context);
    } else
        status = sp_mesh_boundary_faces(context, mesh, &scratch, &count, &face);

    for (int64_t f = 0; status == SP_OK && f < count; f++) {
        double area[SP_FACE_NODES][3];
        int64_t node[SP_FACE_NODES];
        if (load->id >= 0 && mesh->region[face[f].element] != load->id)
            continue;

        const int nodes = face_areas(mesh, face[f], node, area, NULL);
        for (int a = 0; a < nodes; a++)
            add_at_vertex(full, node[a], -load->force[0], area[a]);
    }
    sp_pool_free(&scratch);
    return status;
}

/* A force per area on the faces of a set; divided by their area if it is a force in total. */
static int pull_faces(sp_context *context, const sp_mesh *mesh, const sp_load *load, double *full)
{
    sp_pool scratch = {0};
    const sp_mesh_face *face = faces_of_set(load->set, &scratch);

    /* A force in total needs the whole area first: a pass that sums it, then one that adds the shares. */
    double whole = load->kind == SP_LOAD_TRACTION ? 1 : 0;
    int status = sp_allocated(context, face);
    for (int adding = load->kind == SP_LOAD_TRACTION; status == SP_OK && adding < 2; adding++)
        for (int64_t f = 0; f < load->set->count; f++) {
            double area[SP_FACE_NODES][3], size[SP_FACE_NODES];
            int64_t node[SP_FACE_NODES];
            const int nodes = face_areas(mesh, face[f], node, area, size);
            for (int a = 0; a < nodes; a++)
                if (adding)
                    add_at_vertex(full, node[a], size[a] / whole, load->force);
                else
                    whole += size[a];
        }
    sp_pool_free(&scratch);
    return status;
}

/* Adds ρ ∫ N_a N_b dV times the values of `field` at the nodes, times `share`, or with `by_volume` without the density.
 */
static void add_element(const sp_fe_space *body, int64_t element, double share, bool by_volume, const double *field,
                        double *full)
{
    const sp_element_class *class = &body->classes[body->element_class[element]];
    int nodes;
    const int64_t *node = sp_mesh_nodes(body->mesh, element, &nodes);

    /* class->mass is ρ ∫ N_a N_b dV. Its sums over b are the shares of a constant force per volume, once ρ is
     * divided out. */
    if (by_volume)
        share /= body->mesh->materials[class->region].density;

    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < nodes; b++)
            add_at_vertex(full, node[a], share * class->mass[a * nodes + b], field + (by_volume ? 0 : 3 * node[b]));
}

/* Spreads a force over elements by their volume: those with chosen [elements] set. */
static void spread(const sp_fe_space *body, const bool *chosen, const double force[3], double *full)
{
    double volume = 0;

    for (int64_t e = 0; e < sp_mesh_element_count(body->mesh); e++)
        volume += chosen[e] ? body->classes[body->element_class[e]].volume : 0;
    if (volume > 0)
        for (int64_t e = 0; e < sp_mesh_element_count(body->mesh); e++)
            if (chosen[e])
                add_element(body, e, 1 / volume, true, force, full);
}

/* M times a over the elements, where a is −ω × (ω × (X − point)) of a rotation, or the acceleration itself. */
static int accelerate(sp_context *context, const sp_fe_space *body, const bool *chosen, const sp_load *load,
                      double *full)
{
    const sp_mesh *mesh = body->mesh;
    sp_pool scratch = {0};
    double *field = sp_pool_raw(&scratch, mesh->vertex_count, 3 * sizeof *field);
    SP_PASS(sp_allocated(context, field));

    /* −ω × (ω × arm) = (ω × arm) × ω, at the nodes */
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double arm[3], along[3];
        if (load->kind == SP_LOAD_ACCELERATION) {
            memcpy(field + 3 * v, load->force, sizeof load->force);
            continue;
        }
        for (int i = 0; i < 3; i++)
            arm[i] = mesh->vertices[3 * v + i] - load->point[i];
        sp_cross3(load->force, arm, along);
        sp_cross3(along, load->force, field + 3 * v);
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        if (chosen[e])
            add_element(body, e, 1, false, field, full);

    sp_pool_free(&scratch);
    return SP_OK;
}

/* Loads on elements: of a region, of a set, or all. */
static int load_elements(sp_context *context, const sp_fe_space *body, const sp_load *load, double *full)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0};
    bool *chosen = sp_pool_new(&scratch, elements, sizeof *chosen);
    int status = SP_OK;

    if (!chosen) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    if (load->set)
        for (int64_t i = 0; i < load->set->count; i++)
            chosen[load->set->index[i]] = true;
    else
        for (int64_t e = 0; e < elements; e++)
            chosen[e] = load->id < 0 || mesh->region[e] == load->id;

    if (sp_load_by_mass(load->kind))
        status = accelerate(context, body, chosen, load, full);
    else
        spread(body, chosen, load->force, full);
    sp_pool_free(&scratch);
    return status;
}

int sp_load_distribute(sp_context *context, const sp_fe_space *body, const sp_load *load, double *full)
{
    const sp_mesh *mesh = body->mesh;
    switch (load->kind) {
    case SP_LOAD_VERTEX:
        add_at_vertex(full, load->id, 1, load->force);
        return SP_OK;
    case SP_LOAD_SURFACE:
        add_at_surface(mesh, full, load->id, 1, load->force);
        return SP_OK;

    case SP_LOAD_PRESSURE:
        if (mesh->surface.triangle_count == 0 || load->set)
            return press_faces(context, mesh, load, full);
        press_surface(mesh, load, full);
        return SP_OK;
    case SP_LOAD_TRACTION:
        return pull_faces(context, mesh, load, full);

    case SP_LOAD_SET:
        if (load->set->kind == SP_SET_FACES)
            return pull_faces(context, mesh, load, full);
        if (load->set->kind == SP_SET_ELEMENTS)
            return load_elements(context, body, load, full);
        for (int64_t i = 0; i < load->set->count; i++)
            add_at_vertex(full, load->set->index[i], 1 / (double)load->set->count, load->force);
        return SP_OK;

    case SP_LOAD_REGION:
    case SP_LOAD_ALL:
    case SP_LOAD_ROTATION:
    case SP_LOAD_ACCELERATION:
        return load_elements(context, body, load, full);

    case SP_LOAD_SPRING: /* a stiffness of the model, not a force on its vertices */
        break;
    }
    return SP_OK;
}
