/* What the corner lists alone tell: the boundary of the volume and its connected components. */
#include "mesh/mesh.h"

#include "mesh/shape.h"

/* Faces are numbered element by element: six of each hexahedron, then four of each tetrahedron. */
typedef struct face {
    int64_t element;
    int64_t corner[4]; /* outward */
    int count;         /* 4 or 3 */
} face;

static face face_at(const sp_mesh *mesh, int64_t number)
{
    face found;
    int64_t hex_faces = 6 * mesh->hex_count;
    bool hex = number < hex_faces;
    const int64_t *corner;
    const signed char *local;
    if (hex) {
        found.element = number / 6;
        corner = mesh->hex + 8 * found.element;
        local = sp_hex_face[number % 6];
    } else {
        int64_t tet = (number - hex_faces) / 4;
        found.element = mesh->hex_count + tet;
        corner = mesh->tet + 4 * tet;
        local = sp_tet_face[(number - hex_faces) % 4];
    }
    found.count = hex ? 4 : 3;
    found.corner[3] = -1;
    for (int a = 0; a < found.count; a++)
        found.corner[a] = corner[local[a]];
    return found;
}

/* The corners in ascending order; a triangle starts with −1. Five exchanges sort four numbers. */
static void face_key(const face *of, int64_t key[4])
{
    static const int pair[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (int a = 0; a < 4; a++)
        key[a] = of->corner[a];
    for (int i = 0; i < 5; i++) {
        int64_t low = key[pair[i][0]], high = key[pair[i][1]];
        key[pair[i][0]] = low < high ? low : high;
        key[pair[i][1]] = low < high ? high : low;
    }
}

static bool same_key(const int64_t a[4], const int64_t b[4])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/* Multiply and shift: every bit of every corner reaches the low bits. */
static uint64_t key_hash(const int64_t key[4])
{
    uint64_t hash = 0;
    for (int a = 0; a < 4; a++) {
        hash = (hash ^ (uint64_t)key[a]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash * 0xBF58476D1CE4E5B9u >> 20;
}

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
        face here = face_at(mesh, f);
        int64_t key[4], other_key[4];
        face_key(&here, key);
        int64_t place = (int64_t)(key_hash(key) & (uint64_t)(capacity - 1));
        for (; table[place] >= 0; place = (place + 1) & (capacity - 1)) {
            face other = face_at(mesh, table[place]);
            face_key(&other, other_key);
            if (same_key(key, other_key))
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
static int face_triangles(const face *of, int64_t triangle[2][3])
{
    int start = of->count == 4 ? sp_quad_lowest(of->corner) : 0;
    for (int half = 0; half < of->count - 2; half++) {
        triangle[half][0] = of->corner[start];
        triangle[half][1] = of->corner[(start + half + 1) % of->count];
        triangle[half][2] = of->corner[(start + half + 2) % of->count];
    }
    return of->count - 2;
}

int sp_mesh_boundary(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count, int64_t **triangles, int64_t **element)
{
    sp_pool scratch = {0};
    int64_t face_count, tet_faces;
    int status;
    *count = 0;
    *triangles = *element = NULL;
    if (__builtin_mul_overflow(mesh->hex_count, 6, &face_count) || __builtin_mul_overflow(mesh->tet_count, 4, &tet_faces) ||
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
            face here = face_at(mesh, f);
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

/* The root of a vertex in the forest of joined vertices; the way there is halved for the next search. */
static int64_t root_of(int64_t *parent, int64_t vertex)
{
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
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
        for (int a = 1; a < corners; a++) {
            int64_t one = root_of(parent, corner[0]), other = root_of(parent, corner[a]);
            parent[one < other ? other : one] = one < other ? one : other;
        }
    }
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int corners;
        int64_t root = root_of(parent, *sp_mesh_corners(mesh, e, &corners));
        if (label_of_root[root] < 0)
            label_of_root[root] = (*count)++;
        label[e] = label_of_root[root];
    }
    sp_pool_free(&pool);
    return SP_OK;
}
