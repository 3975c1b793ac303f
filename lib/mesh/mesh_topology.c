/* What the corner lists alone tell: the boundary of the volume and its connected components. */
#include "mesh/mesh.h"

#include "mesh/element_geometry.h"
#include "mesh/faces.h"

/* shared [face_count]: does another element have the same face? The table holds the first face of every set of
 * corners, at the first free place from its hash on. */
static int find_shared(sp_context *context, const sp_mesh *mesh, int64_t face_count, uint8_t *shared)
{
    sp_pool pool = {0};
    int64_t capacity = 16;
    while (capacity < 2 * face_count)
        capacity *= 2;
    int64_t *table = sp_pool_raw(&pool, capacity, sizeof *table);
    int status = table ? SP_OK : sp_fail_memory(context);
    for (int64_t i = 0; table && i < capacity; i++)
        table[i] = -1;
    for (int64_t f = 0; status == SP_OK && f < face_count; f++) {
        sp_face here = sp_face_at(mesh, f);
        int64_t key[4], other_key[4];
        sp_face_key(here.corner, key);
        int64_t place = (int64_t)(sp_face_hash(key) & (uint64_t)(capacity - 1));
        for (; table[place] >= 0; place = (place + 1) & (capacity - 1)) {
            sp_face other = sp_face_at(mesh, table[place]);
            sp_face_key(other.corner, other_key);
            if (sp_face_same(key, other_key))
                break;
        }
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

/* The triangles of a face: one, or two on either side of the diagonal through the lowest vertex. */
static int face_triangles(const sp_face *of, int64_t triangle[2][3])
{
    int start = of->count == 4 ? sp_quad_lowest(of->corner) : 0;
    for (int half = 0; half < of->count - 2; half++) {
        triangle[half][0] = of->corner[start];
        triangle[half][1] = of->corner[(start + half + 1) % of->count];
        triangle[half][2] = of->corner[(start + half + 2) % of->count];
    }
    return of->count - 2;
}

int sp_mesh_boundary(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count, int64_t **triangles,
                     int64_t **element)
{
    sp_pool scratch = {0};
    int64_t face_count, tet_faces;
    int status;
    *count = 0;
    *triangles = *element = NULL;
    if (__builtin_mul_overflow(mesh->hex_count, 6, &face_count) ||
        __builtin_mul_overflow(mesh->tet_count, 4, &tet_faces) ||
        __builtin_add_overflow(face_count, tet_faces, &face_count) || face_count > INT64_MAX / 64)
        return sp_fail(context, SP_INPUT, "%lld elements have too many faces", (long long)mesh->hex_count);
    uint8_t *shared = sp_pool_new(&scratch, face_count, sizeof *shared);
    if (!shared)
        return sp_fail_memory(context);
    SP_TRY(find_shared(context, mesh, face_count, shared));
    int64_t total = 0, next = 0;
    for (int64_t f = 0; f < face_count; f++)
        total += shared[f] ? 0 : f < 6 * mesh->hex_count ? 2 : 1;
    int64_t(*found)[3] = sp_pool_raw(pool, total, sizeof *found);
    int64_t *behind = sp_pool_raw(pool, total, sizeof *behind);
    if (!found || !behind) {
        sp_pool_drop(pool, found);
        sp_pool_drop(pool, behind);
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t f = 0; f < face_count; f++)
        if (!shared[f]) {
            sp_face here = sp_face_at(mesh, f);
            for (int more = face_triangles(&here, found + next); more > 0; more--)
                behind[next++] = here.element;
        }
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
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        for (int a = 1; a < corners; a++)
            sp_forest_join(parent, corner[0], corner[a]);
    }
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int corners;
        int64_t root = sp_forest_root(parent, *sp_mesh_corners(mesh, e, &corners));
        if (label_of_root[root] < 0)
            label_of_root[root] = (*count)++;
        label[e] = label_of_root[root];
    }
    sp_pool_free(&pool);
    return SP_OK;
}
