/* Private to the importers of volume.h: places in text and their messages, numbers, lines and included files, and the
 * way from numbered nodes and elements of a file to an sp_mesh. */
#ifndef SP_FORMATS_VOLUME_INTERNAL_H
#define SP_FORMATS_VOLUME_INTERNAL_H

#include "volume.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VOLUME_DEPTH = 8, VOLUME_SOURCES = 1000, VOLUME_SHOWN = 40, VOLUME_OFFSET_BITS = 44 };

/* ---------------------------------------------------------------- places and messages */

struct volume_source {
    const char *bytes;
    int64_t count;
    char name[SP_NAME_LENGTH]; /* empty for the file itself, whose name the caller knows */
};

struct volume_token {
    const char *start, *end;
};

/* A file with its includes. A place in it is one integer, source << 44 | offset: lines are counted only when an error
 * has to name one. */
struct volume_text {
    sp_context *context;
    const sp_includes *includes;
    sp_list sources; /* struct volume_source, in order of opening; the same file included twice counts twice */
    struct {
        int64_t source, at;
    } open[VOLUME_DEPTH];
    int depth;
    bool binary; /* places are told as bytes */
    bool held;   /* the last line is to be given once more */
    struct volume_token line;
    int64_t where;
};

static inline void volume_text_free(struct volume_text *text)
{
    sp_list_free(&text->sources);
}

static inline const struct volume_source *volume_source(const struct volume_text *text, int64_t source)
{
    return (const struct volume_source *)text->sources.data + source;
}

/* SP_INPUT with "[file: ]line N: " (or "byte N: ") before the message. */
static inline int SP_PRINTF(3, 4) volume_fail(struct volume_text *text, int64_t where, const char *format, ...)
{
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    const struct volume_source *source = volume_source(text, where >> VOLUME_OFFSET_BITS);
    int64_t offset = where & (((int64_t)1 << VOLUME_OFFSET_BITS) - 1);
    if (text->binary)
        return sp_fail(text->context, SP_INPUT, "byte %lld: %s", (long long)offset, message);
    int64_t line = 1;
    for (int64_t i = 0; i < offset; i++)
        line += source->bytes[i] == '\n';
    return sp_fail(text->context, SP_INPUT, "%s%sline %lld: %s", source->name, *source->name ? ": " : "", (long long)line, message);
}

/* The token as it may stand in a message: at most 39 bytes, control characters and bytes above 126 as '?'. */
static inline const char *volume_show(struct volume_token token, char shown[VOLUME_SHOWN])
{
    int n = 0;
    for (; token.start + n < token.end && n < VOLUME_SHOWN - 1; n++)
        shown[n] = token.start[n] >= ' ' && token.start[n] < 127 ? token.start[n] : '?';
    shown[n] = 0;
    return shown;
}

/* One more line for the caller to tell; beyond the eighth they are dropped. */
static inline void SP_PRINTF(2, 3) volume_note(sp_notes *notes, const char *format, ...)
{
    if (!notes || notes->count >= (int)(sizeof notes->line / sizeof notes->line[0]))
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(notes->line[notes->count++], sizeof notes->line[0], format, list);
    va_end(list);
}

static inline int volume_text_start(struct volume_text *text, sp_context *context, const char *bytes, int64_t count,
                                    const sp_includes *includes)
{
    *text = (struct volume_text){.context = context, .includes = includes, .depth = 1};
    if (count < 0 || count >> VOLUME_OFFSET_BITS)
        return sp_fail(context, SP_INPUT, "%lld bytes are no size of a file", (long long)count);
    struct volume_source *source = sp_list_add(&text->sources, 1, sizeof *source);
    if (!source)
        return sp_fail_memory(context);
    *source = (struct volume_source){.bytes = bytes, .count = count};
    return SP_OK;
}

/* Goes on in another file, which the caller's callback opens; at its end the reading returns to the line after this one. */
static inline int volume_include(struct volume_text *text, int64_t where, struct volume_token name)
{
    char file[256], shown[VOLUME_SHOWN];
    int64_t length = name.end - name.start;
    if (length < 1 || length >= (int64_t)sizeof file || memchr(name.start, 0, (size_t)length))
        return volume_fail(text, where, "the name of the included file is empty or longer than %d bytes", (int)sizeof file - 1);
    memcpy(file, name.start, (size_t)length);
    file[length] = 0;
    if (!text->includes || !text->includes->open)
        return volume_fail(text, where, "the file %s is included, but there is no way to open it", volume_show(name, shown));
    if (text->depth == VOLUME_DEPTH)
        return volume_fail(text, where, "includes are nested more than %d deep", VOLUME_DEPTH - 1);
    if (text->sources.count > VOLUME_SOURCES)
        return volume_fail(text, where, "more than %d includes", VOLUME_SOURCES);
    struct volume_source opened = {0};
    int status = text->includes->open(text->includes->data, text->context, file, &opened.bytes, &opened.count);
    if (status != SP_OK)
        return status;
    if (opened.count < 0 || opened.count >> VOLUME_OFFSET_BITS)
        return volume_fail(text, where, "%s has %lld bytes", volume_show(name, shown), (long long)opened.count);
    snprintf(opened.name, sizeof opened.name, "%s", volume_show(name, shown));
    struct volume_source *source = sp_list_add(&text->sources, 1, sizeof *source);
    if (!source)
        return sp_fail_memory(text->context);
    *source = opened;
    text->open[text->depth].source = text->sources.count - 1;
    text->open[text->depth++].at = 0;
    return SP_OK;
}

/* ---------------------------------------------------------------- lines, words, numbers */

static inline bool volume_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline struct volume_token volume_trim(struct volume_token token)
{
    while (token.start < token.end && volume_blank(*token.start))
        token.start++;
    while (token.start < token.end && volume_blank(token.end[-1]))
        token.end--;
    return token;
}

static inline bool volume_begins(struct volume_token token, const char *prefix)
{
    size_t length = strlen(prefix);
    return token.end - token.start >= (int64_t)length && memcmp(token.start, prefix, length) == 0;
}

static inline bool volume_equals(struct volume_token token, const char *word)
{
    return token.end - token.start == (int64_t)strlen(word) && volume_begins(token, word);
}

/* The next line that is neither blank nor a comment, trimmed, in text->line and its place in text->where; false at the end. */
static inline bool volume_line(struct volume_text *text, const char *comment)
{
    if (text->held) {
        text->held = false;
        return true;
    }
    while (text->depth > 0) {
        const struct volume_source *source = volume_source(text, text->open[text->depth - 1].source);
        int64_t at = text->open[text->depth - 1].at;
        if (at >= source->count) {
            if (text->depth == 1)
                return false;
            text->depth--;
            continue;
        }
        const char *start = source->bytes + at, *end = memchr(start, '\n', (size_t)(source->count - at));
        if (!end)
            end = source->bytes + source->count;
        text->open[text->depth - 1].at = end - source->bytes + 1;
        text->line = volume_trim((struct volume_token){start, end});
        text->where = text->open[text->depth - 1].source << VOLUME_OFFSET_BITS | at;
        if (text->line.start < text->line.end && !volume_begins(text->line, comment))
            return true;
    }
    return false;
}

/* The next word of a line whose words are separated by blanks or commas. */
static inline bool volume_word(struct volume_token *rest, struct volume_token *word)
{
    const char *p = rest->start;
    while (p < rest->end && (volume_blank(*p) || *p == ','))
        p++;
    word->start = p;
    while (p < rest->end && !volume_blank(*p) && *p != ',')
        p++;
    word->end = rest->start = p;
    return word->start < word->end;
}

/* The next field of a line whose fields are separated by commas, trimmed, possibly empty; false, and empty, at the end. */
static inline bool volume_field(struct volume_token *rest, struct volume_token *field)
{
    *field = (struct volume_token){rest->end, rest->end};
    if (rest->start >= rest->end)
        return false;
    const char *comma = memchr(rest->start, ',', (size_t)(rest->end - rest->start));
    *field = volume_trim((struct volume_token){rest->start, comma ? comma : rest->end});
    rest->start = comma ? comma + 1 : rest->end;
    return true;
}

static inline bool volume_integer(struct volume_token token, int64_t *value)
{
    const char *p = token.start;
    bool negative = p < token.end && *p == '-';
    if (p < token.end && (*p == '-' || *p == '+'))
        p++;
    if (p == token.end)
        return false;
    int64_t v = 0;
    for (; p < token.end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, *p - '0', &v))
            return false;
    /* Collected as −|v|, which reaches one further than +|v|. */
    if (!negative && v == INT64_MIN)
        return false;
    *value = negative ? v : -v;
    return true;
}

/* What the fast path of volume_real cannot round correctly: strtod with a point, whatever the locale of the caller. */
static inline bool volume_real_slow(struct volume_token token, double *value)
{
    char text[128];
    int64_t length = token.end - token.start;
    if (length >= (int64_t)sizeof text)
        return false;
    for (int64_t i = 0; i < length; i++)
        text[i] = token.start[i] == 'd' || token.start[i] == 'D' ? 'e' : token.start[i];
    text[length] = 0;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return false;
    char *end;
    *value = strtod_l(text, &end, c);
    freelocale(c);
    return *end == 0 && isfinite(*value);
}

/* A finite decimal number, exponent e or (as Fortran writes) d; no hexadecimals, no nan, no inf. Up to 15 digits and
 * powers of ten up to 22, both exact in a double, one multiplication or division rounds correctly. */
static inline bool volume_real(struct volume_token token, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = token.start, *end = token.end;
    bool negative = p < end && *p == '-', point = false;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    int64_t mantissa = 0, exponent = 0;
    int digits = 0, significant = 0;
    for (; p < end && (*p == '.' || (*p >= '0' && *p <= '9')); p++) {
        if (*p == '.') {
            if (point)
                return false;
            point = true;
            continue;
        }
        digits = 1;
        exponent -= point;
        if ((mantissa || *p != '0') && significant++ < 15)
            mantissa = 10 * mantissa + (*p - '0');
    }
    if (!digits)
        return false;
    if (p < end) {
        int64_t written;
        if (!strchr("eEdD", *p) || !*p || !volume_integer((struct volume_token){p + 1, end}, &written))
            return false;
        exponent = written > 1000000 || written < -1000000 ? 1000000 : exponent + written;
    }
    if (significant > 15 || exponent > 22 || exponent < -22) {
        if (significant == 0) {
            *value = negative ? -0.0 : 0.0;
            return true;
        }
        return volume_real_slow(token, value);
    }
    double v = exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
    *value = negative ? -v : v;
    return true;
}

static inline bool volume_utf8(const char *text, int64_t length)
{
    for (int64_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i++];
        int more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : -1;
        if (more < 0 || i + more > length)
            return false;
        unsigned char second = more ? (unsigned char)text[i] : 0x80;
        if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
            return false;
        for (; more > 0; more--, i++)
            if (((unsigned char)text[i] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* A name that a region may bear: not empty, at most 63 bytes, UTF-8 without control characters. */
static inline int volume_name(struct volume_text *text, int64_t where, struct volume_token token, const char *what,
                              char name[SP_NAME_LENGTH])
{
    char shown[VOLUME_SHOWN];
    int64_t length = token.end - token.start;
    if (length < 1)
        return volume_fail(text, where, "the name of the %s is missing", what);
    if (length >= SP_NAME_LENGTH)
        return volume_fail(text, where, "the name %s… of the %s has %lld bytes, more than %d", volume_show(token, shown), what,
                           (long long)length, SP_NAME_LENGTH - 1);
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)token.start[i] < ' ' || token.start[i] == 127)
            return volume_fail(text, where, "the name %s of the %s contains control characters", volume_show(token, shown), what);
    if (!volume_utf8(token.start, length))
        return volume_fail(text, where, "the name %s of the %s is not UTF-8", volume_show(token, shown), what);
    memcpy(name, token.start, (size_t)length);
    memset(name + length, 0, (size_t)(SP_NAME_LENGTH - length));
    return SP_OK;
}

/* Young's modulus and Poisson's ratio of an isotropic material. */
static inline int volume_check_isotropic(struct volume_text *text, int64_t where, double young, double poisson)
{
    if (!(young > 0))
        return volume_fail(text, where, "Young's modulus %g is not positive", young);
    if (!(poisson > -1 && poisson < 0.5))
        return volume_fail(text, where, "Poisson's ratio %g is not between -1 and 0.5", poisson);
    return SP_OK;
}

static inline int volume_check_density(struct volume_text *text, int64_t where, double density)
{
    return density > 0 ? SP_OK : volume_fail(text, where, "density %g is not positive", density);
}

/* ---------------------------------------------------------------- numbers of nodes and elements */

/* From the numbers a file uses to 0, 1, …: a table where the numbers are dense, else a sorted list. */
struct volume_ids {
    int64_t count, low, span; /* span > 0: index = table[id − low] */
    int64_t *table;
    struct volume_id {
        int64_t id, index;
    } * sorted;
};

static inline int volume_compare_ids(const void *a, const void *b)
{
    const struct volume_id *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* first: the first of `count` records of `stride` bytes that begin with an int64_t number. twice: −1, or the index of a
 * record whose number an earlier one has. */
static inline int volume_ids_build(sp_context *context, sp_pool *pool, int64_t count, const void *first, size_t stride,
                                   struct volume_ids *ids, int64_t *twice)
{
    *ids = (struct volume_ids){.count = count};
    *twice = -1;
#define NUMBER(i) (*(const int64_t *)(const void *)((const char *)first + (size_t)(i)*stride))
    int64_t low = INT64_MAX, high = INT64_MIN, span = 0;
    for (int64_t i = 0; i < count; i++) {
        low = NUMBER(i) < low ? NUMBER(i) : low;
        high = NUMBER(i) > high ? NUMBER(i) : high;
    }
    if (count > 0 && !__builtin_sub_overflow(high, low, &span) && span < 4 * count + 1024) {
        ids->low = low;
        ids->span = span + 1;
        ids->table = sp_pool_raw(pool, span + 1, sizeof *ids->table);
        if (!ids->table)
            return sp_fail_memory(context);
        memset(ids->table, 0xff, (size_t)(span + 1) * sizeof *ids->table);
        for (int64_t i = 0; i < count; i++) {
            if (ids->table[NUMBER(i) - low] >= 0 && *twice < 0)
                *twice = i;
            ids->table[NUMBER(i) - low] = i;
        }
        return SP_OK;
    }
    ids->sorted = sp_pool_raw(pool, count, sizeof *ids->sorted);
    if (!ids->sorted)
        return sp_fail_memory(context);
    bool ascending = true;
    for (int64_t i = 0; i < count; i++) {
        ids->sorted[i] = (struct volume_id){NUMBER(i), i};
        ascending = ascending && (i == 0 || ids->sorted[i - 1].id < ids->sorted[i].id);
    }
#undef NUMBER
    if (!ascending)
        qsort(ids->sorted, (size_t)count, sizeof *ids->sorted, volume_compare_ids);
    for (int64_t i = 1; i < count && *twice < 0; i++)
        if (ids->sorted[i].id == ids->sorted[i - 1].id)
            *twice = ids->sorted[i].index;
    return SP_OK;
}

/* The index of a number, or −1. */
static inline int64_t volume_ids_find(const struct volume_ids *ids, int64_t id)
{
    if (ids->span > 0) {
        int64_t offset;
        return __builtin_sub_overflow(id, ids->low, &offset) || offset < 0 || offset >= ids->span ? -1 : ids->table[offset];
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

/* ---------------------------------------------------------------- from records to a mesh */

struct volume_node {
    int64_t id, where;
    double x[3]; /* m */
};

struct volume_element {
    int64_t id, where;
    int64_t corner[8]; /* numbers of the file; indices of nodes after volume_build */
    int64_t group;     /* index into the list of materials, −1 none yet */
    int64_t width;     /* 8, 4, or 0 for an element that is passed over */
};

struct volume_raw {
    sp_list nodes, elements;    /* struct volume_node, struct volume_element */
    sp_pool pool;               /* of what follows */
    struct volume_ids node_ids; /* to indices of nodes */
    int64_t *vertex;            /* [nodes] vertex of the mesh, −1 dropped */
};

static inline void volume_raw_free(struct volume_raw *raw)
{
    sp_list_free(&raw->nodes);
    sp_list_free(&raw->elements);
    sp_pool_free(&raw->pool);
}

static inline int volume_number_nodes(struct volume_text *text, struct volume_raw *raw)
{
    const struct volume_node *node = raw->nodes.data;
    int64_t twice;
    int status = volume_ids_build(text->context, &raw->pool, raw->nodes.count, node, sizeof *node, &raw->node_ids, &twice);
    if (status == SP_OK && twice >= 0)
        status = volume_fail(text, node[twice].where, "vertex %lld is defined twice", (long long)node[twice].id);
    return status;
}

/* Vertices, hexahedra, tetrahedra and regions (the elements' groups) of the mesh, in the order of the file. drop: leaves
 * out nodes that no element uses, with a note. */
static inline int volume_build(struct volume_text *text, struct volume_raw *raw, bool drop, sp_mesh *mesh, sp_notes *notes)
{
    struct volume_node *node = raw->nodes.data;
    struct volume_element *element = raw->elements.data;
    int64_t nodes = raw->nodes.count, low = INT64_MAX, high = INT64_MIN;
    int status = volume_number_nodes(text, raw);
    if (status != SP_OK)
        return status;
    raw->vertex = sp_pool_raw(&raw->pool, nodes, sizeof *raw->vertex);
    if (!raw->vertex)
        return sp_fail_memory(text->context);
    for (int64_t i = 0; i < nodes; i++) {
        raw->vertex[i] = drop ? -1 : 0;
        low = node[i].id < low ? node[i].id : low;
        high = node[i].id > high ? node[i].id : high;
    }
    for (int64_t e = 0; e < raw->elements.count; e++) {
        mesh->hex_count += element[e].width == 8;
        mesh->tet_count += element[e].width == 4;
        for (int64_t a = 0; a < element[e].width; a++) {
            int64_t index = volume_ids_find(&raw->node_ids, element[e].corner[a]);
            if (index < 0)
                return volume_fail(text, element[e].where,
                                   "element %lld names vertex %lld, but there are %lld vertices, numbered from %lld to %lld",
                                   (long long)element[e].id, (long long)element[e].corner[a], (long long)nodes, nodes ? (long long)low : 0,
                                   nodes ? (long long)high : 0);
            element[e].corner[a] = index;
            raw->vertex[index] = 0;
        }
    }
    int64_t count = mesh->hex_count + mesh->tet_count;
    if (count == 0)
        return sp_fail(text->context, SP_INPUT, "the file has %lld vertices, but no tetrahedra or hexahedra", (long long)nodes);
    for (int64_t i = 0; i < nodes; i++)
        if (raw->vertex[i] == 0)
            raw->vertex[i] = mesh->vertex_count++;
    if (mesh->vertex_count < nodes)
        volume_note(notes, "%lld of %lld vertices belong to no element and are dropped", (long long)(nodes - mesh->vertex_count),
                    (long long)nodes);
    mesh->vertices = sp_pool_raw(&mesh->pool, mesh->vertex_count, 3 * sizeof *mesh->vertices);
    mesh->hex = sp_pool_raw(&mesh->pool, mesh->hex_count, 8 * sizeof *mesh->hex);
    mesh->tet = sp_pool_raw(&mesh->pool, mesh->tet_count, 4 * sizeof *mesh->tet);
    mesh->region = sp_pool_raw(&mesh->pool, count, sizeof *mesh->region);
    mesh->fixed = sp_pool_new(&mesh->pool, 0, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 0, sizeof *mesh->fixed_axes);
    if (mesh->pool.failed)
        return sp_fail_memory(text->context);
    for (int64_t i = 0; i < nodes; i++)
        if (raw->vertex[i] >= 0)
            memcpy(mesh->vertices + 3 * raw->vertex[i], node[i].x, sizeof node[i].x);
    int64_t hex = 0, tet = 0;
    for (int64_t e = 0; e < raw->elements.count; e++) {
        if (element[e].width == 0)
            continue;
        bool is_hex = element[e].width == 8;
        int64_t *corner = is_hex ? mesh->hex + 8 * hex : mesh->tet + 4 * tet;
        for (int64_t a = 0; a < element[e].width; a++)
            corner[a] = raw->vertex[element[e].corner[a]];
        mesh->region[is_hex ? hex : mesh->hex_count + tet] = element[e].group;
        hex += is_hex;
        tet += !is_hex;
    }
    mesh->quadrature = 2;
    mesh->surface.width = mesh->hex_count ? 8 : 4;
    return SP_OK;
}

/* The materials that elements use become the regions, in the order of the list; mesh->region is renumbered. */
static inline int volume_regions(sp_context *context, sp_pool *scratch, sp_mesh *mesh, int64_t count, const sp_material *materials)
{
    int64_t *number = sp_pool_new(scratch, count, sizeof *number), elements = sp_mesh_element_count(mesh);
    if (!number)
        return sp_fail_memory(context);
    for (int64_t e = 0; e < elements; e++)
        number[mesh->region[e]] = 1;
    for (int64_t i = 0; i < count; i++)
        number[i] = number[i] ? mesh->material_count++ : -1;
    mesh->materials = sp_pool_raw(&mesh->pool, mesh->material_count, sizeof *mesh->materials);
    if (!mesh->materials)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < count; i++)
        if (number[i] >= 0)
            mesh->materials[number[i]] = materials[i];
    for (int64_t e = 0; e < elements; e++)
        mesh->region[e] = number[mesh->region[e]];
    return SP_OK;
}

/* On failure the mesh is left empty. */
static inline int volume_finish(int status, sp_mesh *mesh)
{
    if (status != SP_OK) {
        sp_pool_free(&mesh->pool);
        *mesh = (sp_mesh){0};
    }
    return status;
}

#endif
