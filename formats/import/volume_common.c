#include "formats/import/volume_internal.h"

#include "base/compare.h"
#include "base/vec3.h"
#include "mesh/element_geometry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 1000, FILE_BIT = 44 };

/* ---- the file and its includes ---- */

int sp_volume_start(struct sp_volume_reader *reader, sp_context *context, const char *bytes, int64_t count,
                    const char *comment, const sp_includes *includes, sp_mesh *mesh, sp_notes *notes)
{
    *reader = (struct sp_volume_reader){.context = context, .includes = includes, .notes = notes, .comment = comment};
    *mesh = (sp_mesh){0};
    if (notes)
        notes->count = notes->inverted[0] = notes->folded[0] = 0;
    if (count < 0 || count >> FILE_BIT)
        return sp_fail(context, SP_INPUT, "%lld bytes are no size of a file", (long long)count);
    sp_text_open(&reader->text, bytes, count, "", "", false);
    return SP_OK;
}

int sp_volume_finish(struct sp_volume_reader *reader, int status, sp_mesh *mesh)
{
    sp_list_free(&reader->names);
    sp_list_free(&reader->nodes);
    sp_list_free(&reader->elements);
    sp_list_free(&reader->of_elements);
    sp_list_free(&reader->parts);
    sp_pool_free(&reader->pool);
    if (status != SP_OK) {
        sp_pool_free(&mesh->pool);
        *mesh = (sp_mesh){0};
    }
    return status;
}

/* Returns true if the line is a comment. Comments are complete lines in these formats: after a number the mark is an
 * error. */
static bool is_comment(const struct sp_volume_reader *reader)
{
    size_t length = strlen(reader->comment);
    return length > 0 && (size_t)(reader->text.stop - reader->text.at) >= length &&
           memcmp(reader->text.at, reader->comment, length) == 0;
}

bool sp_volume_line(struct sp_volume_reader *reader)
{
    if (reader->again) {
        reader->again = false;
        reader->text.at = reader->line;
        return true;
    }

    do {
        while (!sp_text_line(&reader->text)) {
            if (reader->depth == 0)
                return false;
            reader->depth--;
            reader->text = reader->outer[reader->depth].text;
            reader->file = reader->outer[reader->depth].file;
        }
    } while (is_comment(reader));

    reader->line = reader->text.at;
    return true;
}

int sp_volume_include(struct sp_volume_reader *reader, sp_word name)
{
    sp_context *context = reader->context;
    char file[256], shown[SP_TEXT_QUOTE];
    const char *bytes;
    int64_t count;

    if (name.length < 1 || name.length >= (int64_t)sizeof file || memchr(name.at, 0, (size_t)name.length))
        return sp_volume_fail_here(reader, "the name of the included file is empty or longer than %d bytes",
                                   (int)sizeof file - 1);
    snprintf(file, sizeof file, "%.*s", (int)name.length, name.at);
    sp_word_show(name, shown);

    if (!reader->includes || !reader->includes->open)
        return sp_volume_fail_here(reader, "the file %s is included, but there is no way to open it", shown);
    if (reader->depth == VOLUME_DEPTH - 1)
        return sp_volume_fail_here(reader, "includes are nested more than %d deep", VOLUME_DEPTH - 1);
    if (reader->names.count == MOST_FILES)
        return sp_volume_fail_here(reader, "more than %d includes", MOST_FILES);

    SP_PASS(reader->includes->open(reader->includes->data, context, file, &bytes, &count));
    if (count < 0 || count >> FILE_BIT)
        return sp_volume_fail_here(reader, "%s has %lld bytes", shown, (long long)count);

    char *kept = sp_pool_copy(&reader->pool, shown, sizeof shown, 1);
    SP_PASS(sp_allocated(context, kept));
    SP_PASS(sp_volume_push(reader, &reader->names, &kept, sizeof kept));

    /* The text that includes this one goes on where it stopped. */
    reader->outer[reader->depth].text = reader->text;
    reader->outer[reader->depth++].file = reader->file;
    reader->file = reader->names.count;
    sp_text_include(&reader->text, bytes, count, kept);
    return SP_OK;
}

/* ---- messages ---- */

int64_t sp_volume_here(const struct sp_volume_reader *reader)
{
    return reader->file << FILE_BIT | sp_text_place(&reader->text);
}

int sp_volume_fail_here(const struct sp_volume_reader *reader, const char *format, ...)
{
    char message[sizeof reader->context->message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return sp_text_fail(reader->context, &reader->text, "%s", message);
}

int sp_volume_fail(const struct sp_volume_reader *reader, int64_t where, const char *format, ...)
{
    char message[sizeof reader->context->message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    int64_t file = where >> FILE_BIT, place = where & ((INT64_C(1) << FILE_BIT) - 1);
    sp_text there = {.line = place, .binary = reader->text.binary, .begin = reader->text.begin};
    there.at = there.binary ? there.begin + place : NULL;
    there.name = file ? ((char **)reader->names.data)[file - 1] : NULL;
    return sp_text_fail(reader->context, &there, "%s", message);
}

void sp_volume_note(struct sp_volume_reader *reader, const char *format, ...)
{
    enum { MOST = sizeof reader->notes->line / sizeof reader->notes->line[0] };
    sp_notes *notes = reader->notes;
    char line[sizeof notes->line[0]];
    va_list list;
    if (!notes)
        return;

    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);

    /* A remark that was made before is not repeated. */
    for (int i = 0; i < notes->count; i++)
        if (strcmp(notes->line[i], line) == 0)
            return;

    if (notes->count == MOST)
        snprintf(notes->line[MOST - 1], sizeof line, "there are more remarks than these");
    else
        memcpy(notes->line[notes->count++], line, sizeof line);
}

/* ---- words across lines ---- */

bool sp_volume_more(struct sp_volume_reader *reader)
{
    return sp_text_more(&reader->text) || sp_text_line(&reader->text);
}

int sp_volume_fail_end(const struct sp_volume_reader *reader, const char *section)
{
    return sp_volume_fail_here(reader, "the file ends inside %s", section);
}

int sp_volume_next_word(struct sp_volume_reader *reader, const char *section, sp_word *word)
{
    return sp_volume_more(reader) && sp_text_word(&reader->text, word) ? SP_OK : sp_volume_fail_end(reader, section);
}

int sp_volume_next_integer(struct sp_volume_reader *reader, const char *section, int64_t *value)
{
    return sp_volume_more(reader) ? sp_text_need_integer(reader->context, &reader->text, section, value)
                                  : sp_volume_fail_end(reader, section);
}

int sp_volume_next_number(struct sp_volume_reader *reader, const char *section, double *value)
{
    return sp_volume_more(reader) ? sp_text_need_number(reader->context, &reader->text, section, value)
                                  : sp_volume_fail_end(reader, section);
}

int sp_volume_check_count(const struct sp_volume_reader *reader, const char *section, const char *what, int64_t count,
                          int64_t each)
{
    int64_t left = reader->text.end - reader->text.at;
    if (count < 0)
        return sp_volume_fail_here(reader, "%s announces %lld %s", section, (long long)count, what);
    if (count > left / each)
        return sp_volume_fail_here(reader, "%s announces %lld %s, but only %lld bytes follow", section,
                                   (long long)count, what, (long long)left);
    return SP_OK;
}

/* ---- values of records ---- */

int sp_volume_push(struct sp_volume_reader *reader, sp_list *list, const void *item, size_t size)
{
    void *added = sp_list_add(list, 1, size);
    SP_PASS(sp_allocated(reader->context, added));
    memcpy(added, item, size);
    return SP_OK;
}

int sp_volume_name(struct sp_volume_reader *reader, int64_t where, sp_word word, const char *what,
                   char name[SP_NAME_LENGTH])
{
    char shown[SP_TEXT_QUOTE];
    if (word.length < 1)
        return sp_volume_fail(reader, where, "the name of the %s is missing", what);

    sp_word_show(word, shown);
    if (word.length >= SP_NAME_LENGTH)
        return sp_volume_fail(reader, where, "the name %s of the %s has %lld bytes, more than %d", shown, what,
                              (long long)word.length, SP_NAME_LENGTH - 1);

    for (int64_t i = 0; i < word.length; i++)
        if ((unsigned char)word.at[i] < ' ' || word.at[i] == 127)
            return sp_volume_fail(reader, where, "the name %s of the %s contains control characters", shown, what);
    if (!sp_word_utf8(word))
        return sp_volume_fail(reader, where, "the name %s of the %s is not UTF-8", shown, what);

    memcpy(name, word.at, (size_t)word.length);
    memset(name + word.length, 0, (size_t)(SP_NAME_LENGTH - word.length));
    return SP_OK;
}

int sp_volume_check_isotropic(struct sp_volume_reader *reader, int64_t where, double young, double poisson)
{
    if (!(young > 0))
        return sp_volume_fail(reader, where, "Young's modulus %g is not positive", young);
    if (!(poisson > -1 && poisson < 0.5))
        return sp_volume_fail(reader, where, "Poisson's ratio %g is not between -1 and 0.5", poisson);
    return SP_OK;
}

int sp_volume_check_density(struct sp_volume_reader *reader, int64_t where, double density)
{
    return density > 0 ? SP_OK : sp_volume_fail(reader, where, "density %g is not positive", density);
}

bool sp_volume_orthotropic(const double p[9], double stiffness[21])
{
    double a = 1 / p[0], b = 1 / p[1], c = 1 / p[2];
    double ab = -p[3] / p[0], bc = -p[4] / p[1], ca = -p[5] / p[2];

    /* The compliance of the normal components is symmetric; its inverse has the adjugate over the determinant. */
    double minor_c = a * b - ab * ab;
    double det = a * (b * c - bc * bc) - ab * (ab * c - bc * ca) + ca * (ab * bc - b * ca);
    if (!(a > 0 && minor_c > 0 && det > 0 && p[6] > 0 && p[7] > 0 && p[8] > 0))
        return false;

    memset(stiffness, 0, 21 * sizeof *stiffness);
    stiffness[0] = (b * c - bc * bc) / det;
    stiffness[1] = (bc * ca - ab * c) / det;
    stiffness[2] = (ab * bc - b * ca) / det;
    stiffness[6] = (a * c - ca * ca) / det;
    stiffness[7] = (ab * ca - a * bc) / det;
    stiffness[11] = minor_c / det;

    stiffness[15] = p[7]; /* yz */
    stiffness[18] = p[8]; /* zx */
    stiffness[20] = p[6]; /* xy */

    for (int i = 0; i < 21; i++)
        if (!isfinite(stiffness[i]))
            return false;
    return true;
}

/* ---- numbers of nodes and elements ---- */

int64_t sp_volume_distinct(int64_t *values, int64_t count)
{
    int64_t kept = 0;
    if (count > 0)
        qsort(values, (size_t)count, sizeof *values, sp_compare_integers);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    return kept;
}

static int compare_ids(const void *a, const void *b)
{
    const struct sp_volume_id *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

int sp_volume_ids_build(struct sp_volume_reader *reader, int64_t count, const void *first, size_t stride,
                        struct sp_volume_ids *ids, int64_t *twice)
{
    *ids = (struct sp_volume_ids){.count = count};
    *twice = -1;
#define NUMBER(i) (*(const int64_t *)(const void *)((const char *)first + (size_t)(i)*stride))

    /* A table by number where numbers are dense, otherwise a sorted list. */
    int64_t low = INT64_MAX, high = INT64_MIN, span = 0;
    for (int64_t i = 0; i < count; i++) {
        low = NUMBER(i) < low ? NUMBER(i) : low;
        high = NUMBER(i) > high ? NUMBER(i) : high;
    }

    if (count > 0 && !__builtin_sub_overflow(high, low, &span) && span < 4 * count + 1024) {
        ids->low = low;
        ids->span = span + 1;
        ids->table = sp_pool_raw(&reader->pool, span + 1, sizeof *ids->table);
        SP_PASS(sp_allocated(reader->context, ids->table));
        memset(ids->table, 0xff, (size_t)(span + 1) * sizeof *ids->table);
        for (int64_t i = 0; i < count; i++) {
            if (ids->table[NUMBER(i) - low] >= 0 && *twice < 0)
                *twice = i;
            ids->table[NUMBER(i) - low] = i;
        }
        return SP_OK;
    }

    ids->sorted = sp_pool_raw(&reader->pool, count, sizeof *ids->sorted);
    SP_PASS(sp_allocated(reader->context, ids->sorted));
    bool ascending = true;
    for (int64_t i = 0; i < count; i++) {
        ids->sorted[i] = (struct sp_volume_id){NUMBER(i), i};
        ascending = ascending && (i == 0 || ids->sorted[i - 1].id < ids->sorted[i].id);
    }
#undef NUMBER

    if (!ascending)
        qsort(ids->sorted, (size_t)count, sizeof *ids->sorted, compare_ids);
    for (int64_t i = 1; i < count && *twice < 0; i++)
        if (ids->sorted[i].id == ids->sorted[i - 1].id)
            *twice = ids->sorted[i].index;
    return SP_OK;
}

int64_t sp_volume_ids_find(const struct sp_volume_ids *ids, int64_t id)
{
    if (ids->span > 0) {
        int64_t offset;
        return __builtin_sub_overflow(id, ids->low, &offset) || offset < 0 || offset >= ids->span ? -1
                                                                                                  : ids->table[offset];
    }

    int64_t low = 0, high = ids->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids->sorted[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ids->count && ids->sorted[low].id == id ? ids->sorted[low].index : -1;
}

/* ---- conversion of records to a mesh ---- */

static int number_nodes(struct sp_volume_reader *reader)
{
    const struct sp_volume_node *node = reader->nodes.data;
    int64_t twice;
    int status = sp_volume_ids_build(reader, reader->nodes.count, node, sizeof *node, &reader->node_ids, &twice);
    if (status == SP_OK && twice >= 0)
        status = sp_volume_fail(reader, node[twice].where, "vertex %lld is defined twice", (long long)node[twice].id);
    return status;
}

/* Names an element by its number and its place in the file. */
static void name_element(const struct sp_volume_reader *reader, const struct sp_volume_element *element, char *name,
                         size_t size)
{
    int64_t file = element->where >> FILE_BIT, place = element->where & ((INT64_C(1) << FILE_BIT) - 1);
    snprintf(name, size, "element %lld (%s %lld%s%.80s)", (long long)element->id, reader->text.binary ? "byte" : "line",
             (long long)place, file ? " of " : "", file ? ((char **)reader->names.data)[file - 1] : "");
}

/* Explains why reorientation does not repair an element; its nodes are indices already. */
static void explain_folded(struct sp_volume_reader *reader, const struct sp_volume_element *element,
                           const sp_mesh *mesh, int64_t number)
{
    const struct sp_volume_node *node = reader->nodes.data;
    const int64_t *index = (const int64_t *)reader->of_elements.data + element->first;
    const int nodes = sp_element_types[element->type].nodes;
    char *text = reader->notes->folded;
    size_t size = sizeof reader->notes->folded;

    name_element(reader, element, text, size);
    size_t used = strlen(text);

    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < a; b++)
            if (index[a] == index[b]) {
                snprintf(text + used, size - used, ": it has vertex %lld twice", (long long)node[index[a]].id);
                return;
            }

    double jacobian = sp_mesh_worst_jacobian(mesh, number), volume = sp_mesh_element_volume(mesh, number);
    if (nodes == 4)
        snprintf(text + used, size - used, ": its volume is %g m3", volume);
    else
        snprintf(text + used, size - used, ": its Jacobian falls to %g m3, its volume is %g m3", jacobian, volume);
}

/* Records the first element that is inverted or flat, and the first that reorientation does not repair. */
static void note_shape(struct sp_volume_reader *reader, const struct sp_volume_element *element, const sp_mesh *mesh,
                       int64_t number)
{
    sp_notes *notes = reader->notes;
    if (!notes || (notes->inverted[0] && notes->folded[0]) || sp_mesh_element_positive(mesh, number, NULL))
        return;
    if (!notes->inverted[0])
        name_element(reader, element, notes->inverted, sizeof notes->inverted);
    if (!notes->folded[0] && !sp_mesh_element_turnable(mesh, number))
        explain_folded(reader, element, mesh, number);
}

static int add_element(struct sp_volume_reader *reader, struct sp_volume_element element, const int64_t *node)
{
    const int nodes = element.type < 0 ? 0 : sp_element_types[element.type].nodes;
    element.first = reader->of_elements.count;
    int64_t *to = sp_list_add(&reader->of_elements, nodes, sizeof *to);
    if (nodes > 0 && !to)
        return sp_fail_memory(reader->context);
    for (int a = 0; a < nodes; a++)
        to[a] = node[a];
    return sp_volume_push(reader, &reader->elements, &element, sizeof element);
}

int sp_volume_add_element(struct sp_volume_reader *reader, struct sp_volume_element element, const int64_t *node)
{
    if (element.type != SP_VOLUME_PYRAMID)
        return add_element(reader, element, node);
    /* The base is split along the diagonal through its lowest number, so that a pyramid on its other side agrees. */
    int low = 0, status = SP_OK;
    for (int a = 1; a < 4; a++)
        low = node[a] < node[low] ? a : low;
    element.type = SP_TET4;
    reader->pyramids++;
    for (int half = 1; half < 3 && status == SP_OK; half++) {
        const int64_t tet[4] = {node[low], node[(low + half) % 4], node[(low + half + 1) % 4], node[4]};
        status = add_element(reader, element, tet);
    }
    return status;
}

/* The middle of each edge is the node nearest to the mean of its corners. Only for tetrahedra. */
static void order_by_place(const struct sp_volume_reader *reader, int type, int64_t *index)
{
    const struct sp_volume_node *node = reader->nodes.data;
    const int corners = sp_element_types[type].corners, nodes = sp_element_types[type].nodes;

    for (int k = corners; k < nodes; k++) {
        double xi[3], middle[3] = {0}, best = INFINITY;
        int found = k;
        sp_element_node(type, k, xi);

        /* The edge of the two corners whose barycentric coordinates are 1/2 at this node. */
        const double L[4] = {1 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++)
                middle[i] += L[a] * node[index[a]].x[i];

        for (int m = k; m < nodes; m++) {
            const double away = sp_distance_squared3(node[index[m]].x, middle);
            if (away < best) {
                best = away;
                found = m;
            }
        }

        const int64_t swapped = index[k];
        index[k] = index[found];
        index[found] = swapped;
    }
}

/* Replaces the numbers of an element's nodes by indices. */
static int find_nodes(struct sp_volume_reader *reader, const struct sp_volume_element *element, int64_t low,
                      int64_t high)
{
    int64_t *node = (int64_t *)reader->of_elements.data + element->first;

    for (int a = 0; a < sp_element_types[element->type].nodes; a++) {
        const int64_t index = sp_volume_ids_find(&reader->node_ids, node[a]);
        if (index < 0)
            return sp_volume_fail(
                reader, element->where,
                "element %lld names vertex %lld, but there are %lld vertices, numbered from %lld to %lld",
                (long long)element->id, (long long)node[a], (long long)reader->nodes.count,
                reader->nodes.count ? (long long)low : 0, reader->nodes.count ? (long long)high : 0);
        node[a] = index;
        reader->vertex[index] = 0;
    }

    if (element->by_place)
        order_by_place(reader, element->type, node);
    return SP_OK;
}

/* Fills the blocks of the mesh with the elements in the order of the file; reader->element receives their numbers. */
static void place_elements(struct sp_volume_reader *reader, sp_mesh *mesh)
{
    const struct sp_volume_element *element = reader->elements.data;
    int64_t made[SP_ELEMENT_TYPES] = {0};
    for (int64_t e = 0; e < reader->elements.count; e++) {
        const int type = element[e].type;
        reader->element[e] = -1;
        if (type < 0)
            continue;

        const int width = sp_element_types[type].nodes;
        const int64_t number = sp_mesh_first(mesh, type) + made[type],
                      *index = (const int64_t *)reader->of_elements.data + element[e].first;
        for (int a = 0; a < width; a++)
            mesh->block[type].node[made[type] * width + a] = reader->vertex[index[a]];
        made[type]++;

        reader->element[e] = number;
        mesh->region[number] = element[e].group;
        note_shape(reader, &element[e], mesh, number);
    }
}

int sp_volume_build(struct sp_volume_reader *reader, bool drop, sp_mesh *mesh)
{
    struct sp_volume_node *node = reader->nodes.data;
    struct sp_volume_element *element = reader->elements.data;
    int64_t nodes = reader->nodes.count, low = INT64_MAX, high = INT64_MIN;

    SP_PASS(number_nodes(reader));

    reader->vertex = sp_pool_raw(&reader->pool, nodes, sizeof *reader->vertex);
    reader->element = sp_pool_raw(&reader->pool, reader->elements.count, sizeof *reader->element);
    SP_PASS(sp_allocated(reader->context, !reader->pool.failed));

    /* Unused vertices are dropped where −1 stays; find_nodes sets 0 at those that elements use. */
    for (int64_t i = 0; i < nodes; i++) {
        reader->vertex[i] = drop ? -1 : 0;
        low = node[i].id < low ? node[i].id : low;
        high = node[i].id > high ? node[i].id : high;
    }

    for (int64_t e = 0; e < reader->elements.count; e++) {
        if (element[e].type < 0)
            continue;
        mesh->block[element[e].type].count++;
        SP_PASS(find_nodes(reader, &element[e], low, high));
    }

    const int64_t count = sp_mesh_element_count(mesh);
    if (count == 0)
        return sp_fail(reader->context, SP_INPUT, "the file has %lld vertices, but no solid elements",
                       (long long)nodes);
    if (reader->pyramids > 0)
        sp_volume_note(reader, "%lld pyramids are split into two tetrahedra each", (long long)reader->pyramids);

    for (int64_t i = 0; i < nodes; i++)
        if (reader->vertex[i] == 0)
            reader->vertex[i] = mesh->vertex_count++;
    if (mesh->vertex_count < nodes)
        sp_volume_note(reader, "%lld of %lld vertices belong to no element and are dropped",
                       (long long)(nodes - mesh->vertex_count), (long long)nodes);

    mesh->vertices = sp_pool_raw(&mesh->pool, mesh->vertex_count, 3 * sizeof *mesh->vertices);
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        mesh->block[t].node =
            sp_pool_raw(&mesh->pool, mesh->block[t].count, (size_t)sp_element_types[t].nodes * sizeof(int64_t));
    mesh->region = sp_pool_raw(&mesh->pool, count, sizeof *mesh->region);
    mesh->fixed = sp_pool_new(&mesh->pool, 0, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 0, sizeof *mesh->fixed_axes);
    SP_PASS(sp_allocated(reader->context, !mesh->pool.failed));

    for (int64_t i = 0; i < nodes; i++)
        if (reader->vertex[i] >= 0)
            memcpy(mesh->vertices + 3 * reader->vertex[i], node[i].x, sizeof node[i].x);

    mesh->quadrature = 2;
    place_elements(reader, mesh);
    mesh->surface.width = sp_mesh_width(mesh);
    return SP_OK;
}

/* Writes the name of a group, made different from those of the regions before it. */
static void name_group(const char *prefix, int64_t tag, int64_t name_count, const struct sp_volume_group_name *name,
                       const sp_material *others, int64_t count, sp_material *material)
{
    char wanted[SP_NAME_LENGTH];

    memcpy(wanted, material->name, sizeof wanted);
    if (tag != 0)
        snprintf(wanted, sizeof wanted, "%s-%lld", prefix, (long long)tag);

    for (int64_t i = 0; i < name_count; i++)
        if (name[i].tag == tag && tag != 0)
            memcpy(wanted, name[i].name, sizeof wanted);
    memcpy(material->name, wanted, sizeof wanted);

    for (int64_t i = 0; i < count; i++)
        if (strcmp(others[i].name, wanted) == 0) {
            char ending[32];
            int n = snprintf(ending, sizeof ending, "-%s-%lld", prefix, (long long)tag), keep = SP_NAME_LENGTH - 1 - n;
            /* A name is truncated between characters only. */
            int length = (int)strlen(wanted);
            length = length < keep ? length : keep;
            while (length > 0 && ((unsigned char)wanted[length] & 0xc0) == 0x80)
                length--;
            snprintf(material->name, sizeof material->name, "%.*s%s", length, wanted, ending);
            return;
        }
}

/* Converts the tags of groups to indices into `materials` [sp_material]. */
static int number_groups(struct sp_volume_reader *reader, const char *prefix, const sp_material *material,
                         int64_t name_count, const struct sp_volume_group_name *names, sp_list *materials)
{
    enum { MOST = 10000 };
    struct sp_volume_element *element = reader->elements.data;
    int64_t elements = reader->elements.count, count = 0;

    int64_t *tag = sp_pool_raw(&reader->pool, elements, sizeof *tag);
    SP_PASS(sp_allocated(reader->context, tag));

    for (int64_t e = 0; e < elements; e++)
        if (count == 0 || tag[count - 1] != element[e].group)
            tag[count++] = element[e].group;

    int64_t twice, distinct = sp_volume_distinct(tag, count);
    struct sp_volume_ids ids;
    if (distinct > MOST)
        return sp_fail(reader->context, SP_INPUT, "the elements are in %lld different %ss, more than %d",
                       (long long)distinct, prefix, MOST);

    SP_PASS(sp_volume_ids_build(reader, distinct, tag, sizeof *tag, &ids, &twice));
    for (int64_t e = 0; e < elements; e++)
        element[e].group = sp_volume_ids_find(&ids, element[e].group);

    sp_material *list = sp_list_add(materials, distinct, sizeof *list);
    SP_PASS(sp_allocated(reader->context, list));
    for (int64_t i = 0; i < distinct; i++) {
        list[i] = *material;
        name_group(prefix, tag[i], name_count, names, list, i, &list[i]);
    }
    return SP_OK;
}

int sp_volume_regions(struct sp_volume_reader *reader, sp_mesh *mesh, int64_t count, const sp_material *materials)
{
    int64_t *number = sp_pool_new(&reader->pool, count, sizeof *number), elements = sp_mesh_element_count(mesh);
    SP_PASS(sp_allocated(reader->context, number));

    /* Only regions that have elements get a number. */
    for (int64_t e = 0; e < elements; e++)
        number[mesh->region[e]] = 1;
    for (int64_t i = 0; i < count; i++)
        number[i] = number[i] ? mesh->material_count++ : -1;

    mesh->materials = sp_pool_raw(&mesh->pool, mesh->material_count, sizeof *mesh->materials);
    SP_PASS(sp_allocated(reader->context, mesh->materials));

    for (int64_t i = 0; i < count; i++)
        if (number[i] >= 0)
            mesh->materials[number[i]] = materials[i];
    for (int64_t e = 0; e < elements; e++)
        mesh->region[e] = number[mesh->region[e]];
    return SP_OK;
}

int sp_volume_build_groups(struct sp_volume_reader *reader, const char *prefix, const sp_material *material,
                           int64_t name_count, const struct sp_volume_group_name *names, sp_mesh *mesh)
{
    sp_list materials = {0};
    int status;
    SP_TRY(number_groups(reader, prefix, material, name_count, names, &materials));
    SP_TRY(sp_volume_build(reader, true, mesh));
    SP_TRY(sp_volume_regions(reader, mesh, materials.count, materials.data));
done:
    sp_list_free(&materials);
    return status;
}
