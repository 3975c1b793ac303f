/* Validation of meshes that were read from files: nothing is used as an index before its range is checked. */
#include "mesh/mesh.h"

#include "base/vec3.h"
#include "mesh/element_geometry.h"
#include "mesh/mesh_sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Products of three differences of coordinates below this are finite, so that no Jacobian overflows. */
static const double largest_coordinate = 1e100;

/* Checks that an array of `count` rows of `width` entries is addressable and not missing. */
static int check_array(sp_context *context, const char *name, int64_t count, int64_t width, const void *array)
{
    int64_t entries, bytes;
    if (count < 0 || __builtin_mul_overflow(count, width, &entries) || __builtin_mul_overflow(entries, 8, &bytes))
        return sp_fail(context, SP_INPUT, "%s: %lld is no possible count", name, (long long)count);
    if (count > 0 && !array)
        return sp_fail(context, SP_INPUT, "%s: the array is missing", name);
    return SP_OK;
}

static int check_sizes(sp_context *context, const sp_mesh *mesh)
{
    const sp_embedded_surface *surface = &mesh->surface;
    int64_t elements = 0, most;

    SP_PASS(check_array(context, "vertices", mesh->vertex_count, 3, mesh->vertices));

    /* The number of nodes of all elements must be addressable too. */
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        SP_PASS(check_array(context, sp_element_types[t].name, mesh->block[t].count, sp_element_types[t].nodes,
                            mesh->block[t].node));
        if (__builtin_add_overflow(elements, mesh->block[t].count, &elements) ||
            __builtin_mul_overflow(elements, SP_ELEMENT_NODES * 8, &most))
            return sp_fail(context, SP_INPUT, "%s: %lld elements are too many", sp_element_types[t].name,
                           (long long)mesh->block[t].count);
    }

    if (elements == 0)
        return sp_fail(context, SP_INPUT, "the mesh has no elements");

    SP_PASS(check_array(context, "region", elements, 1, mesh->region));
    SP_PASS(check_array(context, "factor", mesh->factor ? elements : 0, 2, mesh->factor));
    SP_PASS(check_array(context, "fibre", mesh->fibre ? elements : 0, 3, mesh->fibre));
    SP_PASS(check_array(context, "fixed", mesh->fixed_count, 1, mesh->fixed));
    SP_PASS(check_array(context, "fixed", mesh->fixed_count, 1, mesh->fixed_axes));
    SP_PASS(check_array(context, "materials", mesh->material_count, (int64_t)sizeof(sp_material), mesh->materials));

    if (mesh->quadrature != 2 && mesh->quadrature != 3)
        return sp_fail(context, SP_INPUT, "quadrature is %d, it must be 2 or 3", mesh->quadrature);
    if (mesh->up != 0 && (mesh->up < 'x' || mesh->up > 'z'))
        return sp_fail(context, SP_INPUT, "the axis that points up is %d, it must be that of x, y or z", mesh->up);

    /* The embedded surface, whose weights have a column for each node of the largest element. */
    SP_PASS(check_array(context, "surface/triangles", surface->triangle_count, 3, surface->triangles));
    SP_PASS(check_array(context, "surface/vertices", surface->vertex_count, 3, surface->vertices));
    SP_PASS(check_array(context, "surface/element", surface->vertex_count, 1, surface->element));
    SP_PASS(check_array(context, "surface/weights", surface->vertex_count, SP_ELEMENT_NODES, surface->weights));

    const int width = sp_mesh_width(mesh);
    if (surface->vertex_count > 0 && surface->width != width)
        return sp_fail(context, SP_INPUT, "surface/weights: %d columns instead of %d", surface->width, width);
    return SP_OK;
}

static int check_coordinates(sp_context *context, const char *name, int64_t count, const double *vertices)
{
    for (int64_t i = 0; i < 3 * count; i++)
        if (!(fabs(vertices[i]) <= largest_coordinate))
            return sp_fail(context, SP_INPUT, "%s: vertex %lld: %c = %g m is not finite or larger than %g", name,
                           (long long)(i / 3), "xyz"[i % 3], vertices[i], largest_coordinate);
    return SP_OK;
}

/* Sorts by name, and equal names by their order in the mesh, so that these are adjacent. */
static int compare_names(const void *left, const void *right)
{
    const sp_material *a = *(const sp_material *const *)left, *b = *(const sp_material *const *)right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a > b) - (a < b);
}

static int check_unique_names(sp_context *context, const sp_mesh *mesh)
{
    sp_pool pool = {0};
    const sp_material **sorted = sp_pool_raw(&pool, mesh->material_count, sizeof *sorted);

    SP_PASS(sp_allocated(context, sorted));

    for (int64_t m = 0; m < mesh->material_count; m++)
        sorted[m] = mesh->materials + m;
    /* Equal names are adjacent, and the first repetition in the order of the mesh is reported. */
    qsort(sorted, (size_t)mesh->material_count, sizeof *sorted, compare_names);

    const sp_material *first = NULL;
    for (int64_t m = 1; m < mesh->material_count; m++)
        if (strcmp(sorted[m - 1]->name, sorted[m]->name) == 0 && (!first || sorted[m] < first))
            first = sorted[m];

    sp_pool_free(&pool);
    if (first)
        return sp_fail(context, SP_INPUT, "materials: number %lld has the name \"%s\" of another one",
                       (long long)(first - mesh->materials), first->name);
    return SP_OK;
}

static int check_materials(sp_context *context, const sp_mesh *mesh)
{
    for (int64_t m = 0; m < mesh->material_count; m++) {
        int status = sp_material_check(context, mesh->materials + m);
        if (status != SP_OK) {
            /* The message of the check, with the number of the material before it. */
            char message[sizeof context->message - 64];
            snprintf(message, sizeof message, "%.*s", (int)sizeof message - 1, context->message);
            return sp_fail(context, status, "materials: number %lld: %s", (long long)m, message);
        }
    }
    return check_unique_names(context, mesh);
}

enum fault { FAULT_NONE, FAULT_RANGE, FAULT_TWICE, FAULT_REGION, FAULT_SHAPE };

/* The first fault of an element; `a` and `b` are the nodes concerned. */
static enum fault element_fault(const sp_mesh *mesh, int64_t element, const sp_reference *references, int *a, int *b)
{
    int count;
    const int64_t *node = sp_mesh_nodes(mesh, element, &count);

    /* Ranges come first: what follows uses the nodes and the region as indices. */
    for (*a = 0; *a < count; ++*a)
        if (node[*a] < 0 || node[*a] >= mesh->vertex_count)
            return FAULT_RANGE;

    for (*a = 0; *a < count; ++*a)
        for (*b = *a + 1; *b < count; ++*b)
            if (node[*a] == node[*b])
                return FAULT_TWICE;

    if (mesh->region[element] < 0 || mesh->region[element] >= mesh->material_count)
        return FAULT_REGION;
    return sp_mesh_element_positive(mesh, element, references) ? FAULT_NONE : FAULT_SHAPE;
}

static int report_element(sp_context *context, const sp_mesh *mesh, int64_t element)
{
    int a = 0, b = 0;
    int64_t within;
    enum fault fault = element_fault(mesh, element, NULL, &a, &b);

    const int type = sp_mesh_type(mesh, element, &within), count = sp_element_types[type].nodes;
    const int64_t *corner = mesh->block[type].node + within * count;
    const char *kind = sp_element_types[type].name;
    long long number = element;

    switch (fault) {
    case FAULT_NONE:
        return SP_OK;
    case FAULT_RANGE:
        return sp_fail(context, SP_INPUT, "%s: element %lld names vertex %lld of %lld", kind, number,
                       (long long)corner[a], (long long)mesh->vertex_count);
    case FAULT_TWICE:
        return sp_fail(context, SP_INPUT, "%s: element %lld names vertex %lld twice, as nodes %d and %d", kind, number,
                       (long long)corner[a], a, b);
    case FAULT_REGION:
        return sp_fail(context, SP_INPUT, "region: element %lld is in region %lld of %lld", number,
                       (long long)mesh->region[element], (long long)mesh->material_count);
    case FAULT_SHAPE:
        break;
    }

    /* The measure of the shape: a volume for tetrahedra, else the least det J. */
    double jacobian = sp_mesh_worst_jacobian(mesh, element);
    if (mesh->folded && sp_mesh_element_mass_indefinite(mesh, element))
        return sp_fail(context, SP_INPUT,
                       "%s: element %lld is folded at points of its mass, where its Jacobian falls to %g m3: its mass "
                       "matrix is not positive definite",
                       kind, number, jacobian);
    if (count != 4)
        return sp_fail(context, SP_INPUT, "%s: element %lld is inverted or folded: its Jacobian falls to %g m3", kind,
                       number, jacobian);
    return sp_fail(context, SP_INPUT, "tet: element %lld is inverted or flat: its volume is %g m3", number,
                   jacobian / 6);
}

/* Reports the bad element of lowest number, whichever thread finds it. */
static int check_elements(sp_context *context, const sp_mesh *mesh)
{
    int64_t count = sp_mesh_element_count(mesh), first = INT64_MAX;
    sp_pool pool = {0};
    sp_reference *references;
    SP_PASS(sp_mesh_references(context, mesh, &pool, &references));

    /* Elements after a bad one need no check. */
#pragma omp parallel for num_threads(context->threads) schedule(static) reduction(min : first)
    for (int64_t e = 0; e < count; e++) {
        int a, b;
        if (e < first && element_fault(mesh, e, references, &a, &b) != FAULT_NONE)
            first = e;
    }
    sp_pool_free(&pool);
    return first < count ? report_element(context, mesh, first) : SP_OK;
}

/* To be called after the materials and the elements have been checked. */
static int check_factors(sp_context *context, const sp_mesh *mesh)
{
    if (!mesh->factor)
        return SP_OK;

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const double *factor = mesh->factor + 2 * e;
        const sp_material *own = &mesh->materials[mesh->region[e]];
        sp_material scaled;

        for (int i = 0; i < 2; i++)
            if (!(factor[i] > 0 && isfinite(factor[i])))
                return sp_fail(context, SP_INPUT, "factor: element %lld has %g on %s: it must be positive and finite",
                               (long long)e, factor[i], i ? "mu" : "lambda");

        if (factor[0] != factor[1] && !sp_law_isotropic(own->law))
            return sp_fail(context, SP_INPUT,
                           "factor: element %lld has %g and %g, but the law %s of its region has only one",
                           (long long)e, factor[0], factor[1], sp_law_name(own->law));

        /* The scaled constants must be those of a material again. */
        int status = sp_material_check(context, sp_mesh_material(mesh, e, &scaled));
        if (status == SP_INPUT)
            return sp_fail(context, SP_INPUT, "factor: element %lld: %g and %g leave no material of \"%s\" that can be",
                           (long long)e, factor[0], factor[1], own->name);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* To be called after the materials and the elements have been checked. */
static int check_fibres(sp_context *context, const sp_mesh *mesh)
{
    if (!mesh->fibre)
        return SP_OK;

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const double *a = mesh->fibre + 3 * e;
        const sp_material *own = &mesh->materials[mesh->region[e]];

        for (int i = 0; i < 3; i++)
            if (!isfinite(a[i]))
                return sp_fail(context, SP_INPUT, "fibre: element %lld: %c = %g is not finite", (long long)e, "xyz"[i],
                               a[i]);

        double length = sp_norm3(a);
        if (own->fibre == SP_FIBRE_NONE && (a[0] != 0 || a[1] != 0 || a[2] != 0))
            return sp_fail(context, SP_INPUT,
                           "fibre: element %lld has a direction, but its region \"%s\" has no fibres", (long long)e,
                           own->name);
        if (own->fibre != SP_FIBRE_NONE && !(fabs(length - 1) <= 1e-6))
            return sp_fail(context, SP_INPUT, "fibre: the direction of element %lld has the length %.9g instead of 1",
                           (long long)e, length);
    }
    return SP_OK;
}

static int check_fixed(sp_context *context, const sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        int64_t vertex = mesh->fixed[i];
        if (vertex < 0 || vertex >= mesh->vertex_count)
            return sp_fail(context, SP_INPUT, "fixed: entry %lld is vertex %lld of %lld", (long long)i,
                           (long long)vertex, (long long)mesh->vertex_count);

        if (i > 0 && vertex <= mesh->fixed[i - 1])
            return sp_fail(context, SP_INPUT, "fixed: entry %lld is vertex %lld after vertex %lld, they must increase",
                           (long long)i, (long long)vertex, (long long)mesh->fixed[i - 1]);

        if (mesh->fixed_axes[i] < 1 || mesh->fixed_axes[i] > 7)
            return sp_fail(context, SP_INPUT, "fixed: entry %lld (vertex %lld) holds the axes %d, they must be 1 to 7",
                           (long long)i, (long long)vertex, mesh->fixed_axes[i]);
    }
    return SP_OK;
}

/* Checks the weights of one surface vertex, whose element is in range. */
static int check_weights(sp_context *context, const sp_mesh *mesh, int64_t vertex, double largest_distance)
{
    const sp_embedded_surface *surface = &mesh->surface;
    const double *weight = surface->weights + surface->width * vertex;
    double sum = 0, off[3];
    int count;
    const int64_t *node = sp_mesh_nodes(mesh, surface->element[vertex], &count);

    for (int c = 0; c < 3; c++)
        off[c] = -surface->vertices[3 * vertex + c];
    for (int a = 0; a < surface->width; a++) {
        if (!isfinite(weight[a]))
            return sp_fail(context, SP_INPUT, "surface/weights: weight %d of vertex %lld is %g", a, (long long)vertex,
                           weight[a]);
        /* Columns beyond the nodes of the element have no vertex. */
        if (a >= count && weight[a] != 0)
            return sp_fail(context, SP_INPUT,
                           "surface/weights: weight %d of vertex %lld is %g, but its element has %d nodes", a,
                           (long long)vertex, weight[a], count);
        sum += weight[a];
        if (a >= count)
            continue;
        for (int c = 0; c < 3; c++)
            off[c] += weight[a] * mesh->vertices[3 * node[a] + c];
    }

    /* The weights sum to 1 and give the place of the vertex. */
    if (!(fabs(sum - 1) <= 1e-9))
        return sp_fail(context, SP_INPUT, "surface/weights: the weights of vertex %lld sum to %.12g instead of 1",
                       (long long)vertex, sum);

    double distance = sp_norm3(off);
    if (!(distance <= largest_distance))
        return sp_fail(context, SP_INPUT,
                       "surface/weights: the weights of vertex %lld give a point %g m away from it, more than %g m",
                       (long long)vertex, distance, largest_distance);
    return SP_OK;
}

static int check_surface(sp_context *context, const sp_mesh *mesh, double tolerance)
{
    const sp_embedded_surface *surface = &mesh->surface;
    SP_PASS(check_coordinates(context, "surface/vertices", surface->vertex_count, surface->vertices));

    for (int64_t i = 0; i < 3 * surface->triangle_count; i++)
        if (surface->triangles[i] < 0 || surface->triangles[i] >= surface->vertex_count)
            return sp_fail(context, SP_INPUT, "surface/triangles: triangle %lld names vertex %lld of %lld",
                           (long long)(i / 3), (long long)surface->triangles[i], (long long)surface->vertex_count);

    double low[3], high[3];
    sp_mesh_box(mesh, low, high);
    /* Surface vertices may be off by a part of the size of the mesh. */
    double diagonal = sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) + pow(high[2] - low[2], 2));

    for (int64_t v = 0; v < surface->vertex_count; v++) {
        int64_t element = surface->element[v];
        if (element < 0 || element >= sp_mesh_element_count(mesh))
            return sp_fail(context, SP_INPUT, "surface/element: vertex %lld lies in element %lld of %lld", (long long)v,
                           (long long)element, (long long)sp_mesh_element_count(mesh));
        SP_PASS(check_weights(context, mesh, v, tolerance * diagonal));
    }
    return SP_OK;
}

int sp_mesh_check(sp_context *context, const sp_mesh *mesh, double surface_tolerance)
{
    SP_PASS(check_sizes(context, mesh));
    SP_PASS(check_coordinates(context, "vertices", mesh->vertex_count, mesh->vertices));
    SP_PASS(check_materials(context, mesh));
    SP_PASS(check_elements(context, mesh));
    SP_PASS(check_fibres(context, mesh));
    SP_PASS(check_factors(context, mesh));
    SP_PASS(check_fixed(context, mesh));
    SP_PASS(check_surface(context, mesh, surface_tolerance));
    return sp_mesh_check_sets(context, mesh);
}
