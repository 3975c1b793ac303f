/* Cuts (mesh/cut.h). Every node of every element is an entry of a forest. If two elements on one side have a common
 * face, the entries of its nodes are joined. The trees are then the groups of all vertices at once. */
#include "mesh/cut.h"

#include "base/forest.h"
#include "base/vec3.h"
#include "mesh/element_geometry.h"
#include "mesh/faces.h"
#include "mesh/mesh_sets.h"

#include <stdio.h>
#include <string.h>

typedef struct cutting {
    sp_context *context;
    const sp_mesh *mesh;
    const int64_t *side;
    sp_pool pool;
    int64_t corner_count; /* the nodes of all elements one after another */
    int64_t *parent;      /* [corner_count] */
    uint8_t *parted;      /* [vertices] set if the elements around it are on different sides */
    /* [capacity] the first face of every set of corners and side that has a corner to be split; −1: free */
    int64_t *table;
    int64_t capacity;
} cutting;

static int64_t first_corner(const sp_mesh *mesh, int64_t element)
{
    int64_t first = 0;
    int type = 0;
    for (; element >= mesh->block[type].count; type++) {
        first += mesh->block[type].count * sp_element_types[type].nodes;
        element -= mesh->block[type].count;
    }
    return first + element * sp_element_types[type].nodes;
}

static int64_t vertex_of(const sp_mesh *mesh, int64_t corner)
{
    int type = 0;
    for (; corner >= mesh->block[type].count * sp_element_types[type].nodes; type++)
        corner -= mesh->block[type].count * sp_element_types[type].nodes;
    return mesh->block[type].node[corner];
}

static int find_parted(cutting *c)
{
    const sp_mesh *mesh = c->mesh;
    const int64_t **side = sp_pool_new(&c->pool, mesh->vertex_count, sizeof *side);
    SP_PASS(sp_allocated(c->context, side));

    /* side[v]: that of the first element around the vertex. */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int count;
        const int64_t *corner = sp_mesh_nodes(mesh, e, &count);
        for (int a = 0; a < count; a++)
            if (!side[corner[a]])
                side[corner[a]] = &c->side[e];
            else
                c->parted[corner[a]] |= *side[corner[a]] != c->side[e];
    }

    sp_pool_drop(&c->pool, side);
    return SP_OK;
}

/* A connection has an effect only at a vertex that is split. */
static bool matters(const cutting *c, const sp_face *face)
{
    bool parted = false;
    for (int a = 0; a < face->nodes; a++)
        parted |= c->parted[face->node[a]];
    return parted;
}

/* The table entry of the face with these corners (sp_face_key) on this side, or the free entry where it belongs. */
static int64_t place_of(const cutting *c, const int64_t key[4], int64_t side)
{
    int64_t mask = c->capacity - 1,
            place = (int64_t)((sp_face_hash(key) ^ (uint64_t)side * 0x9E3779B97F4A7C15u) & (uint64_t)mask),
            other_key[4];

    for (; c->table[place] >= 0; place = (place + 1) & mask) {
        sp_face other = sp_face_at(c->mesh, c->table[place]);
        sp_face_key(other.corner, other_key);
        if (c->side[other.element] == side && sp_face_same(key, other_key))
            break;
    }
    return place;
}

static void join_faces(cutting *c, const sp_face *one, const sp_face *other)
{
    int64_t from = first_corner(c->mesh, one->element), to = first_corner(c->mesh, other->element);
    for (int a = 0; a < one->nodes; a++)
        for (int b = 0; b < other->nodes; b++)
            if (one->node[a] == other->node[b])
                sp_forest_join(c->parent, from + one->local[a], to + other->local[b]);
}

/* Joins triangular faces with the quadrilaterals that contain them. */
static void join_triangles(cutting *c, const sp_face *face)
{
    for (int left_out = 0; left_out < 4; left_out++) {
        int64_t corner[4], key[4];

        memcpy(corner, face->corner, sizeof corner);
        /* The triangle that leaves out one corner. */
        corner[left_out] = -1;
        sp_face_key(corner, key);

        int64_t found = c->table[place_of(c, key, c->side[face->element])];
        if (found >= 0) {
            sp_face triangle = sp_face_at(c->mesh, found);
            join_faces(c, face, &triangle);
        }
    }
}

static int join_groups(cutting *c)
{
    const sp_mesh *mesh = c->mesh;
    int64_t faces, count = 0;

    int status = sp_face_count(c->context, mesh, &faces);
    if (status != SP_OK)
        return status;

    /* The table is at most half full, so that searches are short. */
    for (int64_t f = 0; f < faces; f++) {
        sp_face face = sp_face_at(mesh, f);
        count += matters(c, &face);
    }
    for (c->capacity = 16; c->capacity < 2 * count;)
        c->capacity *= 2;

    c->table = sp_pool_raw(&c->pool, c->capacity, sizeof *c->table);
    SP_PASS(sp_allocated(c->context, c->table));
    for (int64_t i = 0; i < c->capacity; i++)
        c->table[i] = -1;

    /* The faces of one side that have the same corners join their elements. */
    for (int64_t f = 0; f < faces && status == SP_OK; f++) {
        sp_face face = sp_face_at(mesh, f);
        int64_t key[4];
        if (matters(c, &face)) {
            sp_face_key(face.corner, key);
            int64_t *found = &c->table[place_of(c, key, c->side[face.element])];
            if (*found >= 0) {
                sp_face other = sp_face_at(mesh, *found);
                join_faces(c, &face, &other);
            } else
                *found = f;
        }
        if (f % 1048576 == 1048575)
            status = sp_progress(c->context, (double)f / (double)faces);
    }

    /* Triangles that cover a part of a quadrilateral join its element too. */
    for (int64_t f = 0; f < faces && status == SP_OK; f++) {
        sp_face face = sp_face_at(mesh, f);
        if (face.count == 4 && matters(c, &face))
            join_triangles(c, &face);
    }
    return status;
}

/* Numbers the vertices of the cut mesh: their count, their origin, and the new vertex of every corner. The root of a
 * tree is its lowest entry, which belongs to the lowest element of the group. */
static int number_vertices(cutting *c, sp_pool *pool, sp_mesh *cut, int64_t **origin)
{
    const sp_mesh *mesh = c->mesh;
    int64_t *next = sp_pool_new(&c->pool, mesh->vertex_count, sizeof *next), total = mesh->vertex_count;
    int64_t *number = sp_pool_raw(&c->pool, c->corner_count, sizeof *number);
    uint8_t *met = sp_pool_new(&c->pool, mesh->vertex_count, 1);

    SP_PASS(sp_allocated(c->context, !c->pool.failed));

    /* Every root is one group of its vertex. */
    for (int64_t i = 0; i < c->corner_count; i++)
        next[vertex_of(mesh, i)] += c->parent[i] == i;

    /* The number of groups is replaced by the number of the first copy. */
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        int64_t copies = c->parted[v] ? next[v] - 1 : 0;
        next[v] = total;
        total += copies;
    }

    *origin = sp_pool_raw(pool, total, sizeof **origin);
    SP_PASS(sp_allocated(c->context, *origin));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        (*origin)[v] = v;

    /* A group takes the number of its root; the first group of a vertex keeps its number. */
    for (int64_t i = 0; i < c->corner_count; i++) {
        int64_t v = vertex_of(mesh, i), root = c->parted[v] ? sp_forest_root(c->parent, i) : i;
        if (root < i)
            number[i] = number[root];
        else if (!c->parted[v] || !met[v])
            number[i] = v;
        else {
            number[i] = next[v]++;
            (*origin)[number[i]] = v;
        }

        met[v] = 1;
    }

    cut->vertex_count = total;
    /* The new numbers are those of the nodes of all elements, block after block. */
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        const size_t nodes = (size_t)sp_element_types[t].nodes;
        cut->block[t].node = sp_pool_copy(&cut->pool, number, mesh->block[t].count, nodes * sizeof *number);
        number += mesh->block[t].count * (int64_t)nodes;
    }
    return sp_allocated(c->context, !cut->pool.failed);
}

/* Copies positions and fixed components. Copies have higher numbers than all old vertices, so that the list of fixed
 * vertices stays sorted. */
static int copy_vertices(cutting *c, const int64_t *origin, sp_mesh *cut)
{
    const sp_mesh *mesh = c->mesh;
    uint8_t *axes = sp_pool_new(&c->pool, mesh->vertex_count, 1);

    /* A copy is where its origin is, and fixed as that is. */
    cut->vertices = sp_pool_raw(&cut->pool, cut->vertex_count, 3 * sizeof *cut->vertices);
    SP_PASS(sp_allocated(c->context, axes && cut->vertices));

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        axes[mesh->fixed[i]] = mesh->fixed_axes[i];
    for (int64_t v = 0; v < cut->vertex_count; v++) {
        memcpy(cut->vertices + 3 * v, mesh->vertices + 3 * origin[v], 3 * sizeof *cut->vertices);
        cut->fixed_count += axes[origin[v]] != 0;
    }

    cut->fixed = sp_pool_raw(&cut->pool, cut->fixed_count, sizeof *cut->fixed);
    cut->fixed_axes = sp_pool_raw(&cut->pool, cut->fixed_count, 1);
    SP_PASS(sp_allocated(c->context, !cut->pool.failed));

    for (int64_t v = 0, i = 0; v < cut->vertex_count; v++)
        if (axes[origin[v]]) {
            cut->fixed[i] = v;
            cut->fixed_axes[i++] = axes[origin[v]];
        }
    return SP_OK;
}

static int copy_elements(cutting *c, sp_mesh *cut)
{
    const sp_mesh *mesh = c->mesh;
    const sp_embedded_surface *from = &mesh->surface;
    sp_embedded_surface *to = &cut->surface;
    sp_pool *pool = &cut->pool;
    int64_t elements = sp_mesh_element_count(mesh);

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        cut->block[t].count = mesh->block[t].count;

    cut->region = sp_pool_copy(pool, mesh->region, elements, sizeof *mesh->region);
    cut->factor = mesh->factor ? sp_pool_copy(pool, mesh->factor, elements, 2 * sizeof *mesh->factor) : NULL;
    cut->fibre = mesh->fibre ? sp_pool_copy(pool, mesh->fibre, elements, 3 * sizeof *mesh->fibre) : NULL;

    cut->quadrature = mesh->quadrature;
    cut->up = mesh->up;
    cut->folded = mesh->folded;
    cut->material_count = mesh->material_count;
    cut->materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *mesh->materials);

    to->vertex_count = from->vertex_count;
    to->vertices = sp_pool_copy(pool, from->vertices, from->vertex_count, 3 * sizeof *from->vertices);
    /* Triangles are chosen later (cut_surface); vertices keep their elements. */
    to->triangles = sp_pool_raw(pool, from->triangle_count, 3 * sizeof *from->triangles);
    to->element = sp_pool_copy(pool, from->element, from->vertex_count, sizeof *from->element);
    to->width = from->width;
    to->weights = sp_pool_copy(pool, from->weights, from->vertex_count, (size_t)from->width * sizeof *from->weights);
    return sp_allocated(c->context, !pool->failed);
}

static bool share_vertex(const sp_mesh *mesh, int64_t one, int64_t other)
{
    int count[2];
    const int64_t *a = sp_mesh_nodes(mesh, one, &count[0]), *b = sp_mesh_nodes(mesh, other, &count[1]);

    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

static int cut_surface(cutting *c, sp_mesh *cut, int64_t *dropped)
{
    const sp_mesh *mesh = c->mesh;
    const sp_embedded_surface *from = &mesh->surface;
    int64_t elements = from->triangle_count ? sp_mesh_element_count(mesh) : 0, count;

    int64_t *before = sp_pool_raw(&c->pool, elements, sizeof *before),
            *after = sp_pool_raw(&c->pool, elements, sizeof *after);

    SP_PASS(sp_allocated(c->context, !c->pool.failed));

    /* The pieces of the mesh before and after the cut, if there are triangles. */
    if (elements) {
        SP_PASS(sp_mesh_components(c->context, mesh, before, &count));
        SP_PASS(sp_mesh_components(c->context, cut, after, &count));
    }

    /* A triangle is dropped if its elements are on different sides, or have been parted by the cut. */
    for (int64_t t = 0; t < from->triangle_count; t++) {
        const int64_t *triangle = from->triangles + 3 * t;
        bool apart = false;
        /* Elements are parted if they were of one piece, or had a common vertex, before the cut only. */
        for (int a = 0; a < 3; a++) {
            int64_t e = from->element[triangle[a]], f = from->element[triangle[(a + 1) % 3]];
            apart |= c->side[e] != c->side[f] || (before[e] == before[f] && after[e] != after[f]) ||
                     (share_vertex(mesh, e, f) && !share_vertex(cut, e, f));
        }

        if (!apart)
            memcpy(cut->surface.triangles + 3 * cut->surface.triangle_count++, triangle, 3 * sizeof *triangle);
    }

    *dropped = from->triangle_count - cut->surface.triangle_count;
    return SP_OK;
}

/* A set of vertices also gets the copies of its vertices. Elements and their faces keep their numbers. */
static int cut_sets(cutting *c, const int64_t *origin, sp_mesh *cut)
{
    const sp_mesh *mesh = c->mesh;
    bool *within = sp_pool_raw(&c->pool, mesh->vertex_count, sizeof *within);
    sp_list copies = {0};
    int status = sp_allocated(c->context, within);
    for (int64_t i = 0; i < mesh->set_count && status == SP_OK; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        SP_TRY(sp_mesh_add_to_set(c->context, cut, set->name, set->kind, set->count, set->index));

        if (set->kind != SP_SET_VERTICES)
            continue;

        memset(within, 0, (size_t)mesh->vertex_count);
        copies.count = 0;
        for (int64_t k = 0; k < set->count; k++)
            within[set->index[k]] = true;

        /* Copies have the numbers after the old vertices. */
        for (int64_t v = mesh->vertex_count; v < cut->vertex_count; v++) {
            int64_t *to = within[origin[v]] ? sp_list_add(&copies, 1, sizeof *to) : NULL;
            if (to)
                *to = v;
            else if (within[origin[v]]) {
                status = sp_fail_memory(c->context);
                goto done;
            }
        }

        SP_TRY(sp_mesh_add_to_set(c->context, cut, set->name, set->kind, copies.count, copies.data));
    }
done:
    sp_list_free(&copies);
    return status;
}

int sp_mesh_cut(sp_context *context, const sp_mesh *mesh, const int64_t *side, sp_pool *pool, sp_mesh *cut,
                int64_t **origin, int64_t *dropped)
{
    cutting c = {.context = context, .mesh = mesh, .side = side, .corner_count = sp_mesh_node_count(mesh)};
    int status;

    *cut = (sp_mesh){0};
    *origin = NULL;
    *dropped = 0;

    c.parent = sp_pool_raw(&c.pool, c.corner_count, sizeof *c.parent);
    c.parted = sp_pool_new(&c.pool, mesh->vertex_count, 1);
    SP_TRY(sp_allocated(context, !c.pool.failed));

    for (int64_t i = 0; i < c.corner_count; i++)
        c.parent[i] = i;

    SP_TRY(find_parted(&c));
    SP_TRY(join_groups(&c));

    sp_pool_drop(&c.pool, c.table);
    SP_TRY(number_vertices(&c, pool, cut, origin));
    SP_TRY(copy_vertices(&c, *origin, cut));
    SP_TRY(copy_elements(&c, cut));
    SP_TRY(cut_surface(&c, cut, dropped));
    SP_TRY(cut_sets(&c, *origin, cut));
done:
    if (status != SP_OK) {
        sp_mesh_free(cut);
        sp_pool_drop(pool, *origin);
        *origin = NULL;
    }
    sp_pool_free(&c.pool);
    return status;
}

static int check_count(sp_context *context, const char *what, int64_t before, int64_t after)
{
    return before == after ? SP_OK
                           : sp_fail(context, SP_INPUT, "it has %lld %s, the mesh that was cut has %lld",
                                     (long long)after, what, (long long)before);
}

static int check_counts(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut)
{
    char what[64];

    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        snprintf(what, sizeof what, "elements of type %s", sp_element_types[t].name);
        SP_PASS(check_count(context, what, mesh->block[t].count, cut->block[t].count));
    }
    SP_PASS(check_count(context, "materials", mesh->material_count, cut->material_count));
    SP_PASS(check_count(context, "surface vertices", mesh->surface.vertex_count, cut->surface.vertex_count));

    if (cut->vertex_count < mesh->vertex_count)
        return sp_fail(context, SP_INPUT, "it has %lld vertices, the mesh that was cut has %lld",
                       (long long)cut->vertex_count, (long long)mesh->vertex_count);
    return SP_OK;
}

int sp_mesh_check_cut(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut, const int64_t *origin)
{
    SP_PASS(check_counts(context, mesh, cut));

    for (int64_t v = 0; v < cut->vertex_count; v++) {
        /* Old vertices keep their numbers, and copies come from old ones. */
        if (v < mesh->vertex_count ? origin[v] != v : origin[v] < 0 || origin[v] >= mesh->vertex_count)
            return sp_fail(context, SP_INPUT, "origin: vertex %lld is to come from vertex %lld of %lld", (long long)v,
                           (long long)origin[v], (long long)mesh->vertex_count);

        /* Positions are equal to the last bit. */
        for (int i = 0; i < 3; i++)
            if (cut->vertices[3 * v + i] != mesh->vertices[3 * origin[v] + i])
                return sp_fail(context, SP_INPUT,
                               "vertices: vertex %lld has %c = %.17g m, the vertex %lld that it comes from %.17g m",
                               (long long)v, "xyz"[i], cut -> vertices[3 * v + i], (long long)origin[v],
                               mesh -> vertices[3 * origin[v] + i]);
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int count;
        /* Each node of the cut mesh comes from the node of the mesh. */
        const int64_t *old = sp_mesh_nodes(mesh, e, &count), *corner = sp_mesh_nodes(cut, e, &count);
        for (int a = 0; a < count; a++)
            if (origin[corner[a]] != old[a])
                return sp_fail(
                    context, SP_INPUT,
                    "node %d of element %lld comes from vertex %lld, in the mesh that was cut it is vertex %lld", a,
                    (long long)e, (long long)origin[corner[a]], (long long)old[a]);

        if (cut->region[e] != mesh->region[e])
            return sp_fail(context, SP_INPUT, "element %lld is in region %lld, in the mesh that was cut in %lld",
                           (long long)e, (long long)cut->region[e], (long long)mesh->region[e]);
    }
    return SP_OK;
}

void sp_mesh_sides_of_plane(const sp_mesh *mesh, const double normal[3], double offset, int64_t region, int64_t weight,
                            int64_t *side)
{
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double x[3];
        sp_element_centre(mesh, e, x);
        if ((region < 0 || mesh->region[e] == region) && sp_dot3(normal, x) > offset)
            side[e] += weight;
    }
}
