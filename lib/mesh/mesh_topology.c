/* Results that follow from the corner lists alone: the boundary of the volume and its connected components. */
#include "mesh/mesh.h"

#include "base/forest.h"
#include "mesh/element_geometry.h"
#include "mesh/faces.h"

/* shared [face_count]: set if another element has the same face. The hash table, with linear probing, has the first
 * face of every set of corners. */
static int find_shared(sp_context *context, const sp_mesh *mesh, int64_t face_count, uint8_t *shared)
{
    sp_pool pool = {0};
    int64_t capacity = 16;
    while (capacity < 2 * face_count)
        capacity *= 2;

    int64_t *table = sp_pool_raw(&pool, capacity, sizeof *table);
    int status = SP_OK;
    SP_PASS(sp_allocated(context, table));

    for (int64_t i = 0; i < capacity; i++)
        table[i] = -1;
    for (int64_t f = 0; status == SP_OK && f < face_count; f++) {
        sp_face here = sp_face_at(mesh, f);
        int64_t key[4], other_key[4];
        sp_face_key(here.corner, key);

        int64_t place = (int64_t)(sp_face_hash(key) & (uint64_t)(capacity - 1));
        /* The first entry with the same corners, or the free one where the face belongs. */
        for (; table[place] >= 0; place = (place + 1) & (capacity - 1)) {
            sp_face other = sp_face_at(mesh, table[place]);
            sp_face_key(other.corner, other_key);
            if (sp_face_same(key, other_key))
                break;
        }

        /* A second face with the same corners makes both inner ones. */
        if (table[place] >= 0)
            shared[f] = shared[table[place]] = 1;
        else
            table[place] = f;

        if (f % 1048576 == 1048575)
            status = sp_progress(context, (double)f / (double)face_count);
    }
    sp_pool_free(&pool);
    return status;
}

/* The triangles of a face: those of sp_face_triangles, or two on either side of the diagonal through the lowest
 * vertex. */
static int face_triangles(const sp_mesh *mesh, const sp_mesh_face *face, int64_t triangle[8][3])
{
    signed char number[SP_FACE_NODES];
    const signed char(*local)[3];
    int64_t within, node[SP_FACE_NODES];
    int corners, unused;
    const int64_t *of_element = sp_mesh_nodes(mesh, face->element, &unused);
    const int nodes = sp_element_face(sp_mesh_type(mesh, face->element, &within), face->face, number, &corners);

    for (int a = 0; a < nodes; a++)
        node[a] = of_element[number[a]];

    if (nodes != 4) {
        const int count = sp_face_triangles(nodes, corners, &local);
        for (int t = 0; t < count; t++)
            for (int i = 0; i < 3; i++)
                triangle[t][i] = node[local[t][i]];
        return count;
    }

    /* The diagonal through the lowest vertex is the same for both elements of a quadrilateral face. */
    const int start = sp_quad_lowest(node);
    for (int half = 0; half < 2; half++) {
        triangle[half][0] = node[start];
        triangle[half][1] = node[(start + half + 1) % 4];
        triangle[half][2] = node[(start + half + 2) % 4];
    }
    return 2;
}

int sp_mesh_boundary_faces(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count,
                           sp_mesh_face **faces)
{
    sp_pool scratch = {0};
    int64_t face_count, total = 0;
    int status;

    *count = 0;
    *faces = NULL;

    SP_TRY(sp_face_count(context, mesh, &face_count));
    uint8_t *shared = sp_pool_new(&scratch, face_count, sizeof *shared);
    SP_TRY(sp_allocated(context, shared));

    SP_TRY(find_shared(context, mesh, face_count, shared));
    for (int64_t f = 0; f < face_count; f++)
        total += !shared[f];

    sp_mesh_face *found = *faces = sp_pool_raw(pool, total, sizeof *found);
    SP_TRY(sp_allocated(context, found));

    for (int64_t f = 0; f < face_count; f++)
        if (!shared[f]) {
            const sp_face here = sp_face_at(mesh, f);
            found[(*count)++] = (sp_mesh_face){.element = here.element, .face = here.face};
        }
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_mesh_boundary(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count, int64_t **triangles,
                     int64_t **element)
{
    sp_pool scratch = {0};
    sp_mesh_face *face;
    int64_t face_count, total = 0, next = 0, triangle[8][3];
    int status;

    *count = 0;
    *triangles = *element = NULL;

    SP_TRY(sp_mesh_boundary_faces(context, mesh, &scratch, &face_count, &face));
    /* A face has one to eight triangles: they are counted first. */
    for (int64_t f = 0; f < face_count; f++)
        total += face_triangles(mesh, &face[f], triangle);

    int64_t(*found)[3] = sp_pool_raw(pool, total, sizeof *found);
    int64_t *behind = sp_pool_raw(pool, total, sizeof *behind);
    if (!found || !behind) {
        sp_pool_drop(pool, found);
        sp_pool_drop(pool, behind);
        status = sp_fail_memory(context);
        goto done;
    }

    for (int64_t f = 0; f < face_count; f++)
        for (int more = face_triangles(mesh, &face[f], found + next); more > 0; more--)
            behind[next++] = face[f].element;

    *count = total;
    *triangles = found[0];
    *element = behind;
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_mesh_components(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count)
{
    sp_pool pool = {0};
    int64_t *parent = sp_pool_raw(&pool, mesh->vertex_count, sizeof *parent);
    int64_t *label_of_root = sp_pool_raw(&pool, mesh->vertex_count, sizeof *label_of_root);

    *count = 0;
    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        parent[v] = v;
        label_of_root[v] = -1;
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        /* All nodes of an element are in one tree. */
        for (int a = 1; a < nodes; a++)
            sp_forest_join(parent, node[0], node[a]);
    }

    /* Pieces are numbered in the order of their lowest elements. */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        int64_t root = sp_forest_root(parent, *sp_mesh_nodes(mesh, e, &nodes));
        if (label_of_root[root] < 0)
            label_of_root[root] = (*count)++;
        label[e] = label_of_root[root];
    }
    sp_pool_free(&pool);
    return SP_OK;
}
