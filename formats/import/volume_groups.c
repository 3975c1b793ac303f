/* Groups of points, curves and faces of a file, which become sets of vertices and of faces. */
#include "formats/import/volume_internal.h"
#include "mesh/faces.h"
#include "mesh/mesh_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sp_volume_add_part(struct sp_volume_reader *reader, int dimension, int64_t group, int nodes, int corners,
                       const int64_t *node)
{
    struct sp_volume_part part = {.dimension = dimension, .group = group, .corners = 1};
    int status = SP_OK;
    for (int a = 0; dimension < 2 && a < nodes && status == SP_OK; a++) {
        part.node[0] = node[a];
        part.further = a > 0;
        status = sp_volume_push(reader, &reader->parts, &part, sizeof part);
    }
    if (dimension < 2)
        return status;
    part.corners = corners;
    for (int a = 0; a < corners; a++)
        part.node[a] = node[a];
    return sp_volume_push(reader, &reader->parts, &part, sizeof part);
}

/* ---- faces ---- */

/* The faces of groups by their corners, in a table with open addressing. */
struct table {
    int64_t size; /* a power of two */
    struct entry {
        int64_t key[4]; /* sorted vertices; an empty entry begins with −2 */
        int64_t element;
        int face; /* −1: not found yet */
    } * entry;
};

/* The entry with this key, or the empty one at which it belongs. */
static struct entry *find(const struct table *table, const int64_t key[4])
{
    int64_t at = (int64_t)(sp_face_hash(key) & (uint64_t)(table->size - 1));
    while (table->entry[at].key[0] != -2 && !sp_face_same(table->entry[at].key, key))
        at = (at + 1) & (table->size - 1);
    return &table->entry[at];
}

/* The sorted vertices of a face; false if one of them is not in the mesh. */
static bool face_key(const struct sp_volume_reader *reader, int corners, const int64_t *node, int64_t key[4])
{
    int64_t vertex[4] = {-1, -1, -1, -1};
    for (int a = 0; a < corners; a++) {
        const int64_t index = sp_volume_ids_find(&reader->node_ids, node[a]);
        vertex[a] = index < 0 ? -1 : reader->vertex[index];
        if (vertex[a] < 0)
            return false;
    }
    sp_face_key(vertex, key);
    return true;
}

/* The base of a pyramid was split along the diagonal through its lowest number (sp_volume_add_element). */
static void half_of_base(const int64_t node[4], int half, int64_t triangle[3])
{
    int low = 0;
    for (int a = 1; a < 4; a++)
        low = node[a] < node[low] ? a : low;
    triangle[0] = node[low];
    triangle[1] = node[(low + half) % 4];
    triangle[2] = node[(low + half + 1) % 4];
}

/* The keys that a face of a group can have in the mesh: its own, and those of the halves of the base of a pyramid.
 * Returns their number. */
static int keys_of(const struct sp_volume_reader *reader, const struct sp_volume_part *part, int64_t key[3][4])
{
    int count = face_key(reader, part->corners, part->node, key[0]);
    if (part->corners == 4 && reader->pyramids > 0)
        for (int half = 1; half < 3; half++) {
            int64_t triangle[3];
            half_of_base(part->node, half, triangle);
            count += face_key(reader, 3, triangle, key[count]);
        }
    return count;
}

/* Finds the faces of elements. A face between two elements is that of the element with the lower number. */
static int find_faces(struct sp_volume_reader *reader, const sp_mesh *mesh, struct table *table)
{
    const struct sp_volume_part *part = reader->parts.data;
    int64_t faces = 0, all, key[3][4];

    for (int64_t i = 0; i < reader->parts.count; i++)
        faces += part[i].dimension == 2 ? (reader->pyramids > 0 ? 3 : 1) : 0;

    *table = (struct table){.size = 16};
    while (table->size < 2 * faces)
        table->size *= 2;
    table->entry = sp_pool_raw(&reader->pool, table->size, sizeof *table->entry);
    SP_PASS(sp_allocated(reader->context, table->entry));

    for (int64_t i = 0; i < table->size; i++)
        table->entry[i] = (struct entry){.key = {-2}, .face = -1};

    /* The keys of the faces of groups. Below, each receives the element and the face that it is. */
    for (int64_t i = 0; i < reader->parts.count; i++) {
        const int count = part[i].dimension == 2 ? keys_of(reader, &part[i], key) : 0;
        for (int k = 0; k < count; k++)
            memcpy(find(table, key[k])->key, key[k], sizeof key[k]);
    }

    int status = sp_face_count(reader->context, mesh, &all);
    if (status != SP_OK || faces == 0)
        return status;

    for (int64_t f = 0; f < all; f++) {
        const sp_face face = sp_face_at(mesh, f);
        sp_face_key(face.corner, key[0]);
        struct entry *entry = find(table, key[0]);
        if (entry->key[0] != -2 && entry->face < 0) {
            entry->element = face.element;
            entry->face = face.face;
        }
    }
    return status;
}

/* ---- sets ---- */

static int compare_parts(const void *left, const void *right)
{
    const struct sp_volume_part *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension < b->dimension ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

int sp_volume_compare_set_names(const void *left, const void *right)
{
    const struct sp_volume_set_name *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension < b->dimension ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* Appends what a part is in the mesh to `index`; `lost` counts those that are not there. */
static int collect(struct sp_volume_reader *reader, const struct table *table, const struct sp_volume_part *part,
                   sp_list *index, int64_t *lost)
{
    int64_t key[3][4];
    int status = SP_OK, found = 0;

    if (part->dimension < 2) {
        const int64_t node = sp_volume_ids_find(&reader->node_ids, part->node[0]);
        found = node >= 0 && reader->vertex[node] >= 0;
        if (found)
            status = sp_volume_push(reader, index, &reader->vertex[node], sizeof(int64_t));
    } else
        for (int k = keys_of(reader, part, key) - 1; k >= 0 && status == SP_OK; k--) {
            const struct entry *entry = find(table, key[k]);
            const int64_t face[2] = {entry->element, entry->face};
            found += entry->face >= 0;
            if (entry->face >= 0)
                status = sp_volume_push(reader, index, face, sizeof face);
        }

    *lost += !found;
    return status;
}

bool sp_volume_set_name(sp_word word, char name[SP_NAME_LENGTH])
{
    sp_context unused = {0};
    if (word.length < 1 || word.length >= SP_NAME_LENGTH || memchr(word.at, 0, (size_t)word.length))
        return false;
    memcpy(name, word.at, (size_t)word.length);
    memset(name + word.length, 0, (size_t)(SP_NAME_LENGTH - word.length));
    return sp_name_check(&unused, "", name) == SP_OK;
}

int sp_volume_add_set(struct sp_volume_reader *reader, sp_mesh *mesh, const char *name, sp_set_kind kind,
                      const sp_list *index, bool *full)
{
    *full = mesh->set_count == SP_SETS_MAX && !sp_mesh_find_set(mesh, name, kind);
    if (*full) {
        sp_volume_note(reader, "there are more than %d sets: the others are passed over", SP_SETS_MAX);
        return SP_OK;
    }
    return sp_mesh_add_to_set(reader->context, mesh, name, kind, index->count, index->data);
}

int sp_volume_add_sets(struct sp_volume_reader *reader, const char *const prefix[3], int64_t name_count,
                       struct sp_volume_set_name *names, int64_t skipped, sp_mesh *mesh)
{
    struct sp_volume_part *part = reader->parts.data;
    struct table table;
    sp_list lists[2] = {{0}}; /* of vertices, and of faces, whose entries are longer */
    int64_t lost = 0, next = 0;
    bool full = false;
    int status = SP_OK;

    SP_TRY(find_faces(reader, mesh, &table));
    if (reader->parts.count > 0)
        qsort(part, (size_t)reader->parts.count, sizeof *part, compare_parts);
    if (name_count > 0)
        qsort(names, (size_t)name_count, sizeof *names, sp_volume_compare_set_names);

    for (int64_t first = 0, end; first < reader->parts.count && !full; first = end) {
        const int dimension = part[first].dimension;
        const struct sp_volume_set_name here = {.dimension = dimension, .group = part[first].group};
        const sp_set_kind kind = dimension == 2 ? SP_SET_FACES : SP_SET_VERTICES;
        for (end = first; end < reader->parts.count && compare_parts(&part[first], &part[end]) == 0; end++)
            ;

        while (next < name_count && sp_volume_compare_set_names(&names[next], &here) < 0)
            next++;
        char name[SP_NAME_LENGTH];
        const bool named = next < name_count && sp_volume_compare_set_names(&names[next], &here) == 0;

        if (!named && (!prefix || here.group == 0)) {
            for (int64_t i = first; i < end; i++)
                skipped += !part[i].further;
            continue;
        }

        sp_list *index = &lists[dimension == 2];
        index->count = 0;
        for (int64_t i = first; i < end; i++)
            SP_TRY(collect(reader, &table, &part[i], index, &lost));

        if (!named) {
            snprintf(name, sizeof name, "%s-%lld", prefix[dimension], (long long)here.group);
            SP_TRY(sp_volume_add_set(reader, mesh, name, kind, index, &full));
        }
        for (; next < name_count && sp_volume_compare_set_names(&names[next], &here) == 0 && !full; next++)
            SP_TRY(sp_volume_add_set(reader, mesh, names[next].name, kind, index, &full));
    }

    if (skipped > 0)
        sp_volume_note(reader, "%lld points, lines and faces are in no group and are passed over", (long long)skipped);
    if (lost > 0)
        sp_volume_note(reader, "%lld points and faces of groups are not of the solid elements and are passed over",
                       (long long)lost);
done:
    sp_list_free(&lists[0]);
    sp_list_free(&lists[1]);
    return status;
}
