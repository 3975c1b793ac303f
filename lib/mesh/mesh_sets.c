#include "mesh/mesh_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sp_set_kind_names[SP_SET_KINDS] = {"vertices", "elements", "faces"};

const sp_mesh_set *sp_mesh_find_set(const sp_mesh *mesh, const char *name, sp_set_kind kind)
{
    for (int64_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == kind && strcmp(mesh->sets[i].name, name) == 0)
            return &mesh->sets[i];
    return NULL;
}

const sp_mesh_set *sp_mesh_find_any_set(const sp_mesh *mesh, const char *name)
{
    static const sp_set_kind order[SP_SET_KINDS] = {SP_SET_VERTICES, SP_SET_FACES, SP_SET_ELEMENTS};
    const sp_mesh_set *found = NULL;
    for (int k = 0; k < SP_SET_KINDS && !found; k++)
        found = sp_mesh_find_set(mesh, name, order[k]);
    return found;
}

/* ---- making sets ---- */

static int compare_faces(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;
    const int i = p[0] == q[0];
    return p[i] < q[i] ? -1 : p[i] > q[i];
}

static int compare_entries(const void *a, const void *b)
{
    return compare_faces((const int64_t[]){*(const int64_t *)a, 0}, (const int64_t[]){*(const int64_t *)b, 0});
}

/* Sorts entries and removes repeated ones; returns how many are left. */
static int64_t sort_entries(int width, int64_t count, int64_t *index)
{
    const size_t size = (size_t)width * sizeof *index;
    int64_t kept = 0;
    bool increasing = true;

    /* Entries mostly come in order, and are sorted only if not. */
    for (int64_t i = 1; i < count && increasing; i++)
        increasing = (width == 2 ? compare_faces : compare_entries)(index + width * (i - 1), index + width * i) < 0;
    if (!increasing)
        qsort(index, (size_t)count, size, width == 2 ? compare_faces : compare_entries);

    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || memcmp(index + width * (kept - 1), index + width * i, size) != 0)
            memmove(index + width * kept++, index + width * i, size);
    return kept;
}

void sp_mesh_sort_set(sp_mesh_set *set)
{
    set->count = sort_entries(sp_set_width(set->kind), set->count, set->index);
}

/* A new set without entries. The array of sets has room for a power of two of them. */
static sp_mesh_set *new_set(sp_mesh *mesh, const char *name, sp_set_kind kind)
{
    const int64_t count = mesh->set_count;

    if ((count & (count - 1)) == 0) {
        sp_mesh_set *larger = sp_pool_new(&mesh->pool, count ? 2 * count : 1, sizeof *larger);
        if (!larger)
            return NULL;
        if (count > 0)
            memcpy(larger, mesh->sets, (size_t)count * sizeof *larger);
        sp_pool_drop(&mesh->pool, mesh->sets);
        mesh->sets = larger;
    }

    sp_mesh_set *set = &mesh->sets[mesh->set_count++];
    *set = (sp_mesh_set){.kind = kind};
    snprintf(set->name, sizeof set->name, "%s", name);
    return set;
}

int sp_mesh_add_to_set(sp_context *context, sp_mesh *mesh, const char *name, sp_set_kind kind, int64_t count,
                       const int64_t *index)
{
    const int width = sp_set_width(kind);
    sp_mesh_set *set = (sp_mesh_set *)sp_mesh_find_set(mesh, name, kind);
    const int64_t old = set ? set->count : 0;

    if (count == 0)
        return SP_OK;
    if (!set && mesh->set_count == SP_SETS_MAX)
        return sp_fail(context, SP_INPUT, "the mesh has more than %d sets", SP_SETS_MAX);

    /* Old and new entries together, sorted, replace the old ones. */
    int64_t *joined = sp_pool_raw(&mesh->pool, old + count, (size_t)width * sizeof *joined);
    if (!joined || (!set && !(set = new_set(mesh, name, kind))))
        return sp_fail_memory(context);

    if (old > 0)
        memcpy(joined, set->index, (size_t)(width * old) * sizeof *joined);
    memcpy(joined + width * old, index, (size_t)(width * count) * sizeof *joined);

    sp_pool_drop(&mesh->pool, set->index);
    set->index = joined;
    set->count = old + count;
    sp_mesh_sort_set(set);
    return SP_OK;
}

int sp_mesh_keep_sets(sp_context *context, const sp_mesh *mesh, const int64_t *vertex, const int64_t *element,
                      sp_mesh *made)
{
    sp_pool scratch = {0};
    int status = SP_OK;
    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        const int width = sp_set_width(set->kind);
        int64_t kept = 0, *index = sp_pool_raw(&scratch, set->count, (size_t)width * sizeof *index);
        SP_TRY(sp_allocated(context, index));

        for (int64_t k = 0; k < set->count; k++) {
            const int64_t *old = set->index + width * k,
                          to = set->kind == SP_SET_VERTICES ? vertex[*old] : element[*old];
            if (to < 0)
                continue;
            /* Faces keep their number in the element. */
            index[width * kept] = to;
            if (width == 2)
                index[2 * kept + 1] = old[1];
            kept++;
        }

        SP_TRY(sp_mesh_add_to_set(context, made, set->name, set->kind, kept, index));
        sp_pool_drop(&scratch, index);
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- reading sets ---- */

int sp_mesh_set_nodes(const sp_mesh *mesh, const sp_mesh_set *set, int64_t i, int64_t node[SP_ELEMENT_NODES])
{
    const int64_t *entry = set->index + sp_set_width(set->kind) * i;
    signed char number[SP_FACE_NODES];
    int count = 1, corners;
    int64_t within;

    if (set->kind == SP_SET_VERTICES) {
        node[0] = *entry;
        return 1;
    }

    /* All nodes of an element, or those of one of its faces. */
    const int64_t *all = sp_mesh_nodes(mesh, *entry, &count);
    if (set->kind == SP_SET_FACES)
        count = sp_element_face(sp_mesh_type(mesh, *entry, &within), (int)entry[1], number, &corners);
    for (int a = 0; a < count; a++)
        node[a] = all[set->kind == SP_SET_FACES ? number[a] : a];
    return count;
}

int sp_mesh_set_vertices(sp_context *context, const sp_mesh *mesh, const sp_mesh_set *set, sp_pool *pool,
                         int64_t *count, int64_t **vertices)
{
    sp_pool scratch = {0};
    bool *within = sp_pool_new(&scratch, mesh->vertex_count, sizeof *within);
    int64_t node[SP_ELEMENT_NODES], found = 0;
    *count = 0;

    SP_PASS(sp_allocated(context, within));

    /* Each vertex of an entry counts once. */
    for (int64_t i = 0; i < set->count; i++) {
        const int nodes = sp_mesh_set_nodes(mesh, set, i, node);
        for (int a = 0; a < nodes; a++) {
            found += !within[node[a]];
            within[node[a]] = true;
        }
    }

    *vertices = sp_pool_raw(pool, found, sizeof **vertices);
    if (!*vertices) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (within[v])
            (*vertices)[(*count)++] = v;
    sp_pool_free(&scratch);
    return SP_OK;
}

/* ---- checking ---- */

static int check_entries(sp_context *context, const sp_mesh *mesh, const sp_mesh_set *set)
{
    const int width = sp_set_width(set->kind);
    const char *what = set->kind == SP_SET_VERTICES ? "vertex" : "element";
    const int64_t most = set->kind == SP_SET_VERTICES ? mesh->vertex_count : sp_mesh_element_count(mesh);
    for (int64_t i = 0; i < set->count; i++) {
        const int64_t *entry = set->index + width * i;
        int64_t within;

        if (*entry < 0 || *entry >= most)
            return sp_fail(context, SP_INPUT, "sets: \"%s\" names %s %lld of %lld", set->name, what, (long long)*entry,
                           (long long)most);

        /* The face exists if the element, whose number is in range, has so many. */
        if (width == 2 && (entry[1] < 0 || entry[1] >= sp_element_types[sp_mesh_type(mesh, *entry, &within)].faces))
            return sp_fail(context, SP_INPUT, "sets: \"%s\" names face %lld of element %lld", set->name,
                           (long long)entry[1], (long long)*entry);

        if (i > 0 && (width == 2 ? compare_faces : compare_entries)(entry - width, entry) >= 0)
            return sp_fail(context, SP_INPUT, "sets: \"%s\": entry %lld does not increase", set->name, (long long)i);
    }
    return SP_OK;
}

static int compare_sets(const void *left, const void *right)
{
    const sp_mesh_set *a = *(const sp_mesh_set *const *)left, *b = *(const sp_mesh_set *const *)right;
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

int sp_mesh_check_sets(sp_context *context, const sp_mesh *mesh)
{
    sp_pool scratch = {0};
    if (mesh->set_count > SP_SETS_MAX)
        return sp_fail(context, SP_INPUT, "the mesh has %lld sets, more than %d", (long long)mesh->set_count,
                       SP_SETS_MAX);

    const sp_mesh_set **sorted = sp_pool_raw(&scratch, mesh->set_count, sizeof *sorted);
    int status = sp_allocated(context, sorted);

    for (int64_t i = 0; i < mesh->set_count && status == SP_OK; i++) {
        const sp_mesh_set *set = sorted[i] = &mesh->sets[i];
        SP_TRY(sp_name_check(context, "sets", set->name));
        if (set->count < 1) {
            status = sp_fail(context, SP_INPUT, "sets: \"%s\" is empty", set->name);
            goto done;
        }
        SP_TRY(check_entries(context, mesh, set));
    }
    if (status != SP_OK)
        goto done;

    /* Equal names are adjacent. */
    qsort(sorted, (size_t)mesh->set_count, sizeof *sorted, compare_sets);
    for (int64_t i = 1; i < mesh->set_count; i++)
        if (compare_sets(&sorted[i - 1], &sorted[i]) == 0) {
            status = sp_fail(context, SP_INPUT, "sets: there are two sets of %s with the name \"%s\"",
                             sp_set_kind_names[sorted[i]->kind], sorted[i]->name);
            goto done;
        }
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_mesh_list_sets(const sp_mesh *mesh, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;

    for (int64_t i = 0; i < mesh->set_count && used < size; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s \"%s\" (%lld)", used ? ", " : "",
                                 sp_set_kind_names[set->kind], set->name, (long long)set->count);
    }

    /* A list that was cut ends so that it shows. */
    if (used >= size)
        memcpy(text + size - sizeof "…", "…", sizeof "…");
}
