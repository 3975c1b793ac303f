#include "assembly/fe_space.h"

#include "assembly/element.h"
#include "base/compare.h"
#include "geometry/morton.h"
#include "mesh/element_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes ---- */

enum { RECENT = 16 }; /* number of existing classes that an element is compared with before it gets its own */

/* Up to this stretch hexahedra of linear materials are evaluated in squared edge lengths, and elements share a class
 * although rounding has moved their corners. Flatter elements would lose a digit. */
static const double most_stretch = 6;

/* The differences of all pairs of 8-node hexahedra, and of the pairs with node 0 of the others; returns their number.
 */
static int edges_of(const sp_mesh *mesh, int nodes, const int64_t *node, double *edges)
{
    int p = 0;
    for (int a = 0; a < (nodes == 8 ? 8 : 1); a++)
        for (int b = a + 1; b < nodes; b++, p++)
            for (int i = 0; i < 3; i++)
                edges[3 * p + i] = mesh->vertices[3 * node[a] + i] - mesh->vertices[3 * node[b] + i];
    return p;
}

/* Returns true if the edges are equal up to `rounding` of the coordinates. */
static bool same_shape(int nodes, const double *edges, const double *other, double rounding)
{
    /* The pairs with node 0 determine all others. */
    for (int i = 0; i < 3 * (nodes - 1); i++)
        if (!(fabs(edges[i] - other[i]) <= rounding))
            return false;
    return true;
}

static bool same_factor(const sp_mesh *mesh, int64_t element, int64_t other)
{
    const double *a = mesh->factor + 2 * element, *b = mesh->factor + 2 * other;
    return !mesh->factor || (a[0] == b[0] && a[1] == b[1]);
}

static bool same_fibre(const sp_mesh *mesh, int64_t element, int64_t other)
{
    if (!mesh->fibre)
        return true;
    const double *a = mesh->fibre + 3 * element, *b = mesh->fibre + 3 * other;
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* G of a hexahedron, packed. */
static int fill_gram(sp_context *context, const sp_mesh *mesh, const double *X, const sp_quadrature *quadrature,
                     sp_element_class *class)
{
    enum { PAIRS = SP_HEX_PAIRS };
    sp_material scaled;
    const sp_material *material = sp_mesh_material(mesh, class->element, &scaled);
    double C[36], full[PAIRS * PAIRS];

    SP_PASS(sp_material_stiffness(context, material, C));

    if (sp_element_assumed(class->type)) {
        int pair[PAIRS][2];
        sp_element_pairs(8, pair);
        SP_PASS(sp_element_assumed_gram(context, class->type, X, quadrature, (const int(*)[2])pair, SP_ELEMENT_NODES,
                                        quadrature->gradient[0][0], C, full));
    } else
        sp_element_gram(8, quadrature, C, full);

    for (int p = 0, at = 0; p < PAIRS; p++)
        for (int q = p; q < PAIRS; q++)
            class->gram[at++] = full[p * PAIRS + q];
    if (class->along)
        sp_element_along(8, quadrature, material->fibre_direction, class->along);
    return SP_OK;
}

/* An assumed strain is for energies that are quadratic in it. */
static int check_law(sp_context *context, int type, const sp_material *material)
{
    if (sp_material_quadratic(material) && (type != SP_HEX8I || material->fibre == SP_FIBRE_NONE))
        return SP_OK;
    return sp_fail(context, SP_INPUT,
                   "elements of type %s (%s) are for the laws stvk and linear%s; region \"%s\" has %s%s",
                   sp_element_types[type].name, sp_element_types[type].title, type == SP_HEX8I ? " without fibres" : "",
                   material->name, sp_law_name(material->law), material->fibre == SP_FIBRE_NONE ? "" : " with fibres");
}

/* The arrays of a class as one block of the pool: there may be as many classes as elements. */
static int allocate_class(sp_context *context, sp_pool *pool, bool by_pairs, int points, bool fibres, int edge_count,
                          sp_element_class *class)
{
    const int nodes = class->nodes, grams = by_pairs ? SP_HEX_PAIRS * (SP_HEX_PAIRS + 1) / 2 : 0,
              along = by_pairs && fibres ? SP_HEX_PAIRS : 0, weights = by_pairs ? 0 : points,
              gradients = nodes == sp_element_types[class->type].corners ? 3 * nodes * weights : 0;

    double *next =
        sp_pool_raw(pool, nodes * nodes + 3 * edge_count + grams + along + weights + gradients, sizeof *next);
    SP_PASS(sp_allocated(context, next));

    class->points = weights;
    class->gram = grams ? next : NULL;
    class->along = along ? next + grams : NULL;
    class->weight = weights ? next : NULL;
    class->gradient = gradients ? next + weights : NULL;
    class->mass = next + grams + along + weights + gradients;
    class->edges = class->mass + nodes * nodes;
    return SP_OK;
}

/* What evaluation at points needs of an element with an assumed strain. */
static int fill_assumed(sp_context *context, sp_fe_space *space, const double *X, const sp_quadrature *quadrature,
                        sp_element_class *class)
{
    sp_material scaled;

    class->C = sp_pool_raw(&space->pool, 36, sizeof *class->C);
    class->condensation = class->type == SP_HEX8I ? sp_pool_raw(&space->pool, 1, sizeof *class->condensation) : NULL;
    SP_PASS(sp_allocated(context, !space->pool.failed));

    SP_PASS(sp_material_stiffness(context, sp_mesh_material(space->mesh, class->element, &scaled), class->C));
    if (class->condensation)
        SP_PASS(sp_element_condensation(context, X, quadrature, class->C, class->condensation));
    return SP_OK;
}

static int fill_class(sp_context *context, sp_fe_space *space, int64_t element, int edge_count, const double *edges,
                      sp_element_class *class)
{
    const sp_mesh *mesh = space->mesh;
    double X[SP_ELEMENT_NODES][3];
    sp_quadrature quadrature;
    sp_material scaled;
    const sp_material *material = sp_mesh_material(mesh, element, &scaled);
    const int type = sp_mesh_element_places(mesh, element, X), nodes = sp_element_types[type].nodes;
    const bool assumed = sp_element_assumed(type);
    const sp_reference *references = &space->references[2 * type];

    if (!(sp_element_quadrature(references, X[0], &quadrature) > 0))
        return sp_fail(context, SP_INPUT, "element %lld is inverted or flat", (long long)element);

    *class = (sp_element_class){.type = type, .nodes = nodes, .region = mesh->region[element], .element = element};
    class->stretch = sp_element_stretch(type, X[0], &quadrature);
    if (assumed)
        SP_PASS(check_law(context, type, material));

    /* Squared edge lengths are for 8-node hexahedra of quadratic energies that are not too flat. */
    const bool by_pairs =
        (type == SP_HEX8 || assumed) && sp_material_quadratic(material) && class->stretch <= most_stretch;
    SP_PASS(allocate_class(context, &space->pool, by_pairs, quadrature.count, material->fibre != SP_FIBRE_NONE,
                           edge_count, class));

    memcpy(class->edges, edges, 3 * (size_t)edge_count * sizeof *edges);
    if (by_pairs)
        SP_PASS(fill_gram(context, mesh, X[0], &quadrature, class));
    else if (assumed)
        SP_PASS(fill_assumed(context, space, X[0], &quadrature, class));

    if (!by_pairs)
        memcpy(class->weight, quadrature.weight, (size_t) class->points * sizeof *class->weight);
    if (class->gradient)
        for (int g = 0; g < class->points; g++)
            memcpy(class->gradient + 3 * g * nodes, quadrature.gradient[g], 3 * (size_t)nodes * sizeof(double));

    /* The mass needs a rule of its own unless it is that of the stiffness. */
    const bool known = type == SP_TET4 || sp_element_stiffness_rule(type, mesh->quadrature) ==
                                              sp_element_mass_rule(type, mesh->quadrature);
    sp_element_volume_mass(known ? references : references + 1, X[0], known ? quadrature.weight : NULL, class->mass);

    for (int i = 0; i < nodes * nodes; i++)
        class->mass[i] *= material->density;
    for (int g = 0; g < quadrature.count; g++)
        class->volume += quadrature.weight[g];
    return SP_OK;
}

static int find_classes(sp_context *context, sp_fe_space *space)
{
    const sp_mesh *mesh = space->mesh;
    int64_t elements = sp_mesh_element_count(mesh);

    double low[3], high[3];
    sp_mesh_box(mesh, low, high);

    /* Coordinates in the mesh are rounded relative to the largest. */
    double reach = 0;
    for (int i = 0; i < 3; i++)
        reach = fmax(reach, fmax(fabs(low[i]), fabs(high[i])));
    double rounding = 32 * 2.2e-16 * reach;

    sp_list list = {0};
    int status = sp_mesh_references(context, mesh, &space->pool, &space->references);

    /* Elements of equal shape, region, factor and fibre share a class. */
    for (int64_t e = 0; e < elements && status == SP_OK; e++) {
        int nodes;
        int64_t within;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        const int type = sp_mesh_type(mesh, e, &within);

        double edges[3 * SP_HEX_PAIRS];
        const int edge_count = edges_of(mesh, nodes, node, edges);
        int64_t found = -1;

        /* The most recent class comes first. */
        const sp_element_class *classes = list.data;
        for (int64_t c = list.count - 1; c >= 0 && c >= list.count - RECENT && found < 0; c--)
            if (classes[c].type == type && classes[c].region == mesh->region[e] &&
                same_factor(mesh, e, classes[c].element) && same_fibre(mesh, e, classes[c].element) &&
                same_shape(nodes, edges, classes[c].edges, classes[c].stretch <= most_stretch ? rounding : 0))
                found = c;

        if (found < 0) {
            found = list.count;
            sp_element_class *added = sp_list_add(&list, 1, sizeof *added);
            SP_TRY(sp_allocated(context, added));
            SP_TRY(fill_class(context, space, e, edge_count, edges, added));
            space->fibres |= mesh->materials[added->region].fibre != SP_FIBRE_NONE;
        }
        space->element_class[e] = found;
    }

    space->class_count = list.count;
    space->classes = sp_pool_copy(&space->pool, list.data, list.count, sizeof(sp_element_class));
    if (!space->classes)
        status = sp_fail_memory(context);
done:
    sp_list_free(&list);
    return status;
}

/* ---- degrees of freedom ---- */

static int number_freedom(sp_context *context, sp_fe_space *space)
{
    const sp_mesh *mesh = space->mesh;
    int64_t all = 3 * mesh->vertex_count, count = 0, elements = sp_mesh_element_count(mesh);

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        for (int c = 0; c < 3; c++)
            if (mesh->fixed_axes[i] >> c & 1)
                space->dof[3 * mesh->fixed[i] + c] = -1;

    /* A vertex that no element uses has neither stiffness nor mass, and counts as fixed. */
    char *used = calloc((size_t)mesh->vertex_count + 1, 1);
    SP_PASS(sp_allocated(context, used));

    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            used[node[a]] = 1;
    }

    /* Free degrees of freedom are numbered in the order of the vertices. */
    for (int64_t i = 0; i < all; i++)
        if (space->dof[i] == 0 && used[i / 3]) {
            space->free[count] = i;
            space->dof[i] = count++;
        } else
            space->dof[i] = -1;

    free(used);
    space->dof_count = count;
    return SP_OK;
}

/* ---- blocks, colors and batches ---- */

/* The number of elements in a block. The rows of K of its vertices (1 KB per vertex with tetrahedra, 2 KB with
 * hexahedra) stay in the second-level cache while its elements are added one after another. Blocks are smaller if there
 * would be too few of a color for the threads. Assembly of 192,000 tetrahedra on one thread takes 0.12 s with blocks of
 * 64 elements, 0.10 s with 128, 0.095 s with 256, 0.085 s with 512 and 0.08 s with 1024; with 31 colors of single
 * elements it takes 0.27 s. */
static int64_t part_size(const sp_mesh *mesh)
{
    enum { LEAST = 64, MOST = 512, PARTS = 512 };
    const int64_t elements = sp_mesh_element_count(mesh),
                  most = 2 * mesh->block[SP_TET4].count < elements ? MOST / 2 : MOST, size = elements / PARTS;
    return size < LEAST ? LEAST : size > most ? most : size;
}

/* The elements [elements] sorted along a Morton curve through their centres, so that the order of the mesh does not
 * matter. */
static int64_t *order_elements(sp_pool *pool, const sp_mesh *mesh)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    double *centre = sp_pool_raw(pool, 3 * elements, sizeof *centre);
    int64_t *order = sp_pool_raw(pool, elements, sizeof *order);
    if (pool->failed)
        return NULL;

    for (int64_t e = 0; e < elements; e++) {
        int corners;
        const int64_t *corner = sp_mesh_corner_nodes(mesh, e, &corners);
        for (int i = 0; i < 3; i++) {
            centre[3 * e + i] = 0;
            for (int a = 0; a < corners; a++)
                centre[3 * e + i] += mesh->vertices[3 * corner[a] + i] / corners;
        }
    }

    const sp_morton *along = sp_morton_order(pool, elements, centre);
    if (!along)
        return NULL;
    for (int64_t k = 0; k < elements; k++)
        order[k] = along[k].index;
    return order;
}

/* Greedy coloring: each block gets the lowest color that none of its vertices has, 64 colors at a time. */
static int assign_colors(sp_context *context, const sp_mesh *mesh, const int64_t *order, int64_t parts, int64_t size,
                         int *color, int *color_count)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int64_t uncolored = parts;

    uint64_t *taken = calloc((size_t)mesh->vertex_count + 1, sizeof *taken);
    SP_PASS(sp_allocated(context, taken));

    for (int64_t p = 0; p < parts; p++)
        color[p] = -1;
    *color_count = 0;
    for (int base = 0; uncolored > 0; base += 64) {
        memset(taken, 0, (size_t)mesh->vertex_count * sizeof *taken);

        for (int64_t p = 0; p < parts; p++) {
            const int64_t end = (p + 1) * size < elements ? (p + 1) * size : elements;
            int nodes;
            uint64_t mask = 0;
            if (color[p] >= 0)
                continue;

            /* The colors, of the 64 of this round, that vertices of the block have already. */
            for (int64_t k = p * size; k < end; k++) {
                const int64_t *node = sp_mesh_nodes(mesh, order[k], &nodes);
                for (int a = 0; a < nodes; a++)
                    mask |= taken[node[a]];
            }

            if (mask == UINT64_MAX)
                continue;

            /* The lowest color that is left, which all vertices of the block then have. */
            const int bit = __builtin_ctzll(~mask);
            for (int64_t k = p * size; k < end; k++) {
                const int64_t *node = sp_mesh_nodes(mesh, order[k], &nodes);
                for (int a = 0; a < nodes; a++)
                    taken[node[a]] |= UINT64_C(1) << bit;
            }

            color[p] = base + bit;
            if (color[p] >= *color_count)
                *color_count = color[p] + 1;
            uncolored--;
        }
    }
    free(taken);
    return SP_OK;
}

/* A number for the properties that all lanes of a batch share: type, kind of evaluation and, at quadrature points,
 * the law and kind of fibres. */
static int element_kind(const sp_fe_space *space, int64_t element)
{
    enum { KINDS = 1 + SP_LAW_COUNT * SP_FIBRE_COUNT };
    const sp_element_class *class = &space->classes[space->element_class[element]];
    const sp_material *material = &space->mesh->materials[class->region];
    const int energy = class->gram ? 0 : 1 + (int)material->law * SP_FIBRE_COUNT + (int)material->fibre;
    return class->type * KINDS + energy;
}

bool sp_fe_space_alike(const sp_fe_space *space, int64_t a, int64_t b)
{
    return element_kind(space, a) == element_kind(space, b);
}

typedef struct batch_key {
    int kind;
    int64_t class, place;
} batch_key;

/* Sorts by kind, then by class, so that the data that lanes share are loaded once, then along the curve. */
static int compare_key(const void *a, const void *b)
{
    const batch_key *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int batch_part(sp_context *context, const sp_fe_space *space, const int64_t *order, int64_t begin, int64_t end,
                      batch_key *key, sp_list *list)
{
    for (int64_t k = begin; k < end; k++)
        key[k - begin] =
            (batch_key){.kind = element_kind(space, order[k]), .class = space->element_class[order[k]], .place = k};
    qsort(key, (size_t)(end - begin), sizeof *key, compare_key);

    for (int64_t at = 0; at < end - begin;) {
        const int kind = key[at].kind;
        sp_batch *batch = sp_list_add(list, 1, sizeof *batch);
        SP_PASS(sp_allocated(context, batch));
        *batch = (sp_batch){.nodes = space->classes[key[at].class].nodes};

        while (at < end - begin && key[at].kind == kind && batch->count < SP_LANES)
            batch->element[batch->count++] = order[key[at++].place];

        /* Unused lanes repeat the first element, and are not added. */
        for (int l = batch->count; l < SP_LANES; l++)
            batch->element[l] = batch->element[0];
    }
    return SP_OK;
}

/* Sorts blocks by color; blocks of one color stay in the order of the curve. */
static int make_batches(sp_context *context, sp_fe_space *space)
{
    const int64_t elements = sp_mesh_element_count(space->mesh), size = part_size(space->mesh),
                  parts = (elements + size - 1) / size;
    int color_count = 0;
    sp_pool scratch = {0};
    sp_list list = {0};
    int status = SP_OK;

    const int64_t *order = order_elements(&scratch, space->mesh);
    int *color = sp_pool_raw(&scratch, parts, sizeof *color);
    batch_key *key = sp_pool_raw(&scratch, size, sizeof *key);
    space->part_start = sp_pool_new(&space->pool, parts + 1, sizeof *space->part_start);

    SP_TRY(sp_allocated(context, !scratch.failed && !space->pool.failed));

    SP_TRY(assign_colors(context, space->mesh, order, parts, size, color, &color_count));
    space->color_count = color_count;

    space->color_parts = sp_pool_new(&space->pool, color_count + 1, sizeof *space->color_parts);
    SP_TRY(sp_allocated(context, !space->pool.failed));

    /* The blocks of one color after another, each divided into batches. */
    for (int64_t c = 0, part = 0; c < color_count; c++) {
        for (int64_t p = 0; p < parts; p++)
            if (color[p] == c) {
                SP_TRY(batch_part(context, space, order, p * size,
                                  (p + 1) * size < elements ? (p + 1) * size : elements, key, &list));
                space->part_start[++part] = list.count;
            }
        space->color_parts[c + 1] = part;
    }

    space->batch_count = list.count;
    space->batches = sp_pool_copy(&space->pool, list.data, list.count, sizeof(sp_batch));
    space->batch_energy = sp_pool_new(&space->pool, list.count, sizeof *space->batch_energy);
    if (space->pool.failed)
        status = sp_fail_memory(context);
done:
    sp_pool_free(&scratch);
    sp_list_free(&list);
    return status;
}

int sp_fe_space_new(sp_context *context, const sp_mesh *mesh, sp_fe_space *space)
{
    int status = sp_fe_space_new_prescribed(context, mesh, space);
    if (status != SP_OK || space->dof_count > 0)
        return status;
    sp_fe_space_free(space);
    return sp_fail(context, SP_INPUT, "every vertex is fixed: there is nothing to move");
}

int sp_fe_space_new_prescribed(sp_context *context, const sp_mesh *mesh, sp_fe_space *space)
{
    *space = (sp_fe_space){.mesh = mesh};
    int64_t elements = sp_mesh_element_count(mesh);

    space->element_class = sp_pool_raw(&space->pool, elements, sizeof *space->element_class);
    space->dof = sp_pool_new(&space->pool, 3 * mesh->vertex_count, sizeof *space->dof);
    space->free = sp_pool_new(&space->pool, 3 * mesh->vertex_count, sizeof *space->free);

    int status = sp_allocated(context, !space->pool.failed);
    if (status == SP_OK)
        status = number_freedom(context, space);
    if (status == SP_OK)
        status = find_classes(context, space);
    if (status == SP_OK)
        status = make_batches(context, space);

    if (status != SP_OK)
        sp_fe_space_free(space);
    return status;
}

int sp_fe_space_quadratic(sp_context *context, const sp_fe_space *space)
{
    for (int64_t c = 0; c < space->class_count; c++)
        if (!sp_material_quadratic(&space->mesh->materials[space->classes[c].region])) {
            double C[36];
            return sp_material_stiffness(context, &space->mesh->materials[space->classes[c].region], C);
        }
    return SP_OK;
}

int64_t sp_fe_space_worst(const sp_fe_space *space, double *aspect)
{
    double regular[SP_ELEMENT_TYPES];
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        regular[t] = t == SP_TET4 ? 1 : sp_element_regular_stretch(t, space->mesh->quadrature);

    int64_t worst = 0;
    *aspect = 0;
    /* The stretch of a class is judged against that of a well-shaped element of its type. */
    for (int64_t c = 0; c < space->class_count; c++) {
        const sp_element_class *class = &space->classes[c];
        const double here = class->stretch / regular[class->type];
        if (here > *aspect) {
            *aspect = here;
            worst = class->element;
        }
    }
    return worst;
}

void sp_fe_space_free(sp_fe_space *space)
{
    sp_pool_free(&space->pool);
    *space = (sp_fe_space){0};
}

void sp_fe_space_gather(const sp_fe_space *space, const double *full, double *reduced)
{
    for (int64_t i = 0; i < space->dof_count; i++)
        reduced[i] = full[space->free[i]];
}

void sp_fe_space_scatter(const sp_fe_space *space, const double *reduced, double *full)
{
    for (int64_t i = 0; i < space->dof_count; i++)
        full[space->free[i]] = reduced[i];
}

void sp_fe_space_nodes(const sp_fe_space *space, int64_t *node)
{
    for (int64_t i = 0; i < space->dof_count; i++)
        node[i] = space->free[i] / 3;
}

int64_t sp_fe_space_ordering(const sp_fe_space *space, const int64_t *permutation, int64_t *vertex)
{
    int64_t count = 0;
    for (int64_t i = 0; i < space->dof_count; i++) {
        const int64_t next = space->free[permutation[i]] / 3;
        if (count == 0 || vertex[count - 1] != next)
            vertex[count++] = next;
    }
    return count;
}

int sp_fe_space_permutation(sp_context *context, const sp_fe_space *space, int64_t count, const int64_t *vertex,
                            int64_t *permutation)
{
    const int64_t vertices = space->mesh->vertex_count;
    int64_t at = 0;
    sp_pool scratch = {0};

    bool *seen = sp_pool_new(&scratch, vertices, sizeof *seen);
    int status = sp_allocated(context, seen);

    for (int64_t k = 0; k < count && status == SP_OK; k++) {
        const int64_t v = vertex[k], before = at;
        if (v < 0 || v >= vertices || seen[v]) {
            status = sp_fail(context, SP_INPUT,
                             v < 0 || v >= vertices ? "ordering: value %lld is vertex %lld of %lld"
                                                    : "ordering: value %lld is vertex %lld of %lld a second time",
                             (long long)k, (long long)v, (long long)vertices);
            break;
        }

        seen[v] = true;
        for (int c = 0; c < 3; c++)
            if (space->dof[3 * v + c] >= 0)
                permutation[at++] = space->dof[3 * v + c];

        if (at == before)
            status = sp_fail(context, SP_INPUT, "ordering: value %lld is vertex %lld, which is fixed", (long long)k,
                             (long long)v);
    }

    if (status == SP_OK && at != space->dof_count)
        status = sp_fail(context, SP_INPUT,
                         "ordering: its %lld vertices have %lld free degrees of freedom, the mesh has %lld",
                         (long long)count, (long long)at, (long long)space->dof_count);
    sp_pool_free(&scratch);
    return status;
}
