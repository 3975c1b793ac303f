/* Faces, their keys (sorted corners), and union–find forests of connected entries, for mesh_topology.c and
 * mesh_cut.c. */
#ifndef SP_MESH_FACES_H
#define SP_MESH_FACES_H

#include "mesh/mesh.h"

/* Faces are numbered element by element. */
typedef struct sp_face {
    int64_t element;
    int face;          /* its number in the element */
    int64_t corner[4]; /* outward; the last is −1 in a triangle */
    int count;         /* 4 or 3 */
    int nodes;         /* the corners, then the middles (sp_element_face) */
    int64_t node[SP_FACE_NODES];
    signed char local[SP_FACE_NODES]; /* the numbers of the nodes in the element */
} sp_face;

/* The number of all faces; SP_INPUT if it is too large. */
static inline int sp_face_count(sp_context *context, const sp_mesh *mesh, int64_t *count)
{
    *count = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        int64_t more;
        if (__builtin_mul_overflow(mesh->block[t].count, sp_element_types[t].faces, &more) ||
            __builtin_add_overflow(*count, more, count) || *count > INT64_MAX / 64)
            return sp_fail(context, SP_INPUT, "%s: %lld elements have too many faces", sp_element_types[t].name,
                           (long long)mesh->block[t].count);
    }
    return SP_OK;
}

static inline sp_face sp_face_at(const sp_mesh *mesh, int64_t number)
{
    sp_face found = {0};
    int type = 0;
    for (; number >= mesh->block[type].count * sp_element_types[type].faces; type++) {
        number -= mesh->block[type].count * sp_element_types[type].faces;
        found.element += mesh->block[type].count;
    }
    const int64_t within = number / sp_element_types[type].faces;
    const int64_t *node = mesh->block[type].node + within * sp_element_types[type].nodes;
    found.element += within;
    found.face = (int)(number % sp_element_types[type].faces);
    found.nodes = sp_element_face(type, found.face, found.local, &found.count);
    for (int a = 0; a < found.nodes; a++)
        found.node[a] = node[found.local[a]];
    found.corner[3] = -1;
    for (int a = 0; a < found.count; a++)
        found.corner[a] = found.node[a];
    return found;
}

/* The corners in ascending order; a triangle starts with −1. Five exchanges sort four numbers. */
static inline void sp_face_key(const int64_t corner[4], int64_t key[4])
{
    static const int pair[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (int a = 0; a < 4; a++)
        key[a] = corner[a];
    for (int i = 0; i < 5; i++) {
        int64_t low = key[pair[i][0]], high = key[pair[i][1]];
        key[pair[i][0]] = low < high ? low : high;
        key[pair[i][1]] = low < high ? high : low;
    }
}

static inline bool sp_face_same(const int64_t a[4], const int64_t b[4])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/* Multiply and shift: every bit of every corner reaches the low bits. */
static inline uint64_t sp_face_hash(const int64_t key[4])
{
    uint64_t hash = 0;
    for (int a = 0; a < 4; a++) {
        hash = (hash ^ (uint64_t)key[a]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash * 0xBF58476D1CE4E5B9u >> 20;
}

#endif
