/* Two files member by member. */
#include "formats/plain.h"
#include "tools/common/csv.h"
#include "tools/compare/compare.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void compare_print(const comparison *c, const char *format, ...)
{
    if (!c->stream)
        return;
    char line[6000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t length = strlen(line);
    const bool ended = length > 0 && line[length - 1] == '\n'; /* the only line feed that is ours */
    line[length - ended] = 0;
    sp_print_plain(line, c->stream);
    if (ended)
        putc('\n', c->stream);
}

void compare_row(comparison *c, const char *format, ...)
{
    char line[6000];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (!c->table_wanted || length < 0)
        return;
    length = length < (int)sizeof line - 1 ? length : (int)sizeof line - 2;
    line[length++] = '\n';
    char *to = tool_list_add(&c->table, length, 1);
    memcpy(to, line, (size_t)length);
}

const char *compare_reference(comparison *c)
{
    return tool_csv_field(&c->pool, "%s", c->b);
}

/* What is known of the difference of two arrays. */
typedef struct difference {
    int64_t beyond; /* values that differ by more than the tolerance */
    int64_t differing;
    double weight; /* |a − b| by the tolerance, or by the largest |b| where that is 0 */
    double worst, a, b;
    int64_t at[SP_RANK_MAX];
} difference;

static bool is_real(const sp_array *array)
{
    return array->type == SP_F8 || array->type == SP_F4;
}

static bool is_whole(const sp_array *array)
{
    return array->type == SP_I8 || array->type == SP_I4 || array->type == SP_U1;
}

static double value_at(const sp_array *array, int64_t i)
{
    switch (array->type) {
    case SP_F8:
        return ((const double *)array->data)[i];
    case SP_F4:
        return ((const float *)array->data)[i];
    case SP_I8:
        return (double)((const int64_t *)array->data)[i];
    case SP_I4:
        return ((const int32_t *)array->data)[i];
    default:
        return ((const uint8_t *)array->data)[i];
    }
}

/* Whole numbers of 64 bits that differ may be the same as doubles. */
static bool equal_at(const sp_array *a, int64_t i, const sp_array *b, int64_t j)
{
    if (a->type == SP_I8 && b->type == SP_I8)
        return ((const int64_t *)a->data)[i] == ((const int64_t *)b->data)[j];
    double x = value_at(a, i), y = value_at(b, j);
    return x == y || (isnan(x) && isnan(y));
}

/* Position in memory of an index tuple. */
static int64_t offset_of(const sp_array *array, const int64_t *at)
{
    int64_t offset = 0;
    for (int k = 0; k < array->rank; k++) {
        int axis = array->fortran ? array->rank - 1 - k : k;
        offset = offset * array->shape[axis] + at[axis];
    }
    return offset;
}

static void next_index(const sp_array *array, int64_t *at)
{
    for (int axis = array->rank - 1; axis >= 0; axis--) {
        if (++at[axis] < array->shape[axis])
            return;
        at[axis] = 0;
    }
}

/* A factor per column of b, so that columns point the same way. */
static double *column_signs(const sp_array *a, const sp_array *b, sp_pool *pool)
{
    int64_t columns = a->shape[1], at[SP_RANK_MAX] = {0};
    double *sign = tool_allocate(pool, columns, sizeof *sign);
    for (int64_t i = 0; i < a->count; i++, next_index(a, at))
        sign[at[1]] += value_at(a, offset_of(a, at)) * value_at(b, offset_of(b, at));
    for (int64_t j = 0; j < columns; j++)
        sign[j] = sign[j] < 0 ? -1 : 1;
    return sign;
}

static void compare_arrays(const comparison *c, const sp_array *a, const sp_array *b, const double *sign, difference *d)
{
    int64_t at[SP_RANK_MAX] = {0};
    double largest = 0;

    *d = (difference){.weight = -1};
    for (int64_t i = 0; i < b->count; i++)
        largest = fmax(largest, fabs(value_at(b, i)));

    for (int64_t i = 0; i < a->count; i++, next_index(a, at)) {
        int64_t j = offset_of(a, at), k = offset_of(b, at);
        double factor = sign ? sign[at[1]] : 1;

        if (factor == 1 && equal_at(a, j, b, k))
            continue;

        double x = value_at(a, j), y = factor * value_at(b, k), gap = fabs(x - y);
        if (gap == 0 && sign)
            continue;

        /* A tolerance of 0 gives no limit to compare with; then the gap counts by the largest value. */
        double limit = c->absolute + c->relative * fabs(y),
               weight = gap / (c->absolute + c->relative > 0 ? limit : largest);
        d->differing++;
        d->beyond += !(gap <= limit) || (gap == 0 && limit == 0);

        if (weight > d->weight || isnan(weight)) {
            d->weight = isnan(weight) ? INFINITY : weight;
            d->worst = gap;
            d->a = x;
            d->b = y;
            memcpy(d->at, at, sizeof at);
        }
    }
}

static void index_text(const sp_array *array, const int64_t *at, char text[120])
{
    text[0] = 0;
    for (int k = 0; k < array->rank; k++)
        snprintf(text + strlen(text), 120 - strlen(text), "%s%lld", k ? " " : "", (long long)at[k]);
}

typedef struct state {
    comparison *c;
    bool same;
    difference worst; /* of all members */
    const sp_array *worst_array;
    sp_pool pool;
} state;

static bool same_shape(const sp_array *a, const sp_array *b)
{
    bool same = a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++)
        same = a->shape[k] == b->shape[k];
    return same;
}

static void shape_text(const sp_array *array, char text[120])
{
    index_text(array, array->shape, text);
    for (char *at = text; *at; at++)
        *at = *at == ' ' ? 'x' : *at;
}

static void compare_pair(state *s, const sp_array *a, const sp_array *b)
{
    comparison *c = s->c;
    char shape_a[120], shape_b[120], at[120];
    difference d;

    shape_text(a, shape_a);
    shape_text(b, shape_b);

    bool comparable = (is_real(a) && is_real(b)) || (is_whole(a) && is_whole(b));
    if (!same_shape(a, b)) {
        compare_print(c, "%s: shape %s, in the other %s\n", a->name, shape_a, shape_b);
        compare_row(c, "%s,,,,,shape,%s", a->name, compare_reference(c));
        s->same = false;
    } else if (!comparable) {
        bool same = a->type == SP_BYTES && b->type == SP_BYTES && a->size == b->size &&
                    !memcmp(a->data, b->data, (size_t)(a->count * a->size));
        if (same)
            return;
        compare_print(c, "%s: %s\n", a->name,
                      a->type == b->type && a->type != SP_OTHER ? "it differs" : "its types cannot be compared");
        compare_row(c, "%s,,,,,type,%s", a->name, compare_reference(c));
        s->same = false;
    } else {
        /* Columns of a basis may differ in sign. */
        double *sign = c->signs && !strcmp(a->name, "U") && a->rank == 2 ? column_signs(a, b, &s->pool) : NULL;
        compare_arrays(c, a, b, sign, &d);
        sp_pool_drop(&s->pool, sign);
        index_text(a, d.at, at);

        if (d.differing)
            compare_row(c, "%s,%s,%.17g,%.17g,%.17g,%s,%s", a->name, at, d.a, d.b, d.worst,
                        d.beyond ? "beyond" : "within", compare_reference(c));
        else
            compare_row(c, "%s,,,,0,same,%s", a->name, compare_reference(c));

        if (d.beyond)
            compare_print(c, "%s: %lld of %lld values differ by more than the tolerance, %lld at all\n", a->name,
                          (long long)d.beyond, (long long)a->count, (long long)d.differing);

        if (d.differing && (!s->worst_array || d.weight > s->worst.weight)) {
            s->worst = d;
            s->worst_array = a;
        }
        s->same &= d.beyond == 0;
    }
}

/* Keys of two objects whose values differ. The hash follows from the rest. */
static void compare_json(state *s, const char *name, const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key,
                        value) if (strcmp(key, "sha256") && !json_equal(value, json_object_get(b, key)))
    {
        compare_print(s->c, "%s: \"%s\" differs\n", name, key);
        s->same = false;
    }
    json_object_foreach((json_t *)b, key, value) if (!json_object_get(a, key))
    {
        compare_print(s->c, "%s: \"%s\" is only in the other\n", name, key);
        s->same = false;
    }
}

static bool is_text(const sp_file *file, const sp_array *array)
{
    return file->meta && (!strcmp(array->name, "meta") || !strcmp(array->name, "result"));
}

static void read_file(const comparison *c, const char *path, sp_file *file)
{
    int descriptor = tool_open_input(path);
    tool_check(sp_file_read_everything(c->context, descriptor, file), path);
    tool_close_input(descriptor);
}

/* A member that only one of the files has. The ordering of modes saves time and is no result: files without it are as
 * good. */
static void only_in(state *s, const sp_file *file, const sp_array *array, const char *path, const char *which)
{
    compare_print(s->c, "%s: only in %s\n", array->name, path);
    compare_row(s->c, "%s,,,,,only in the %s,%s", array->name, which, compare_reference(s->c));
    s->same &= file->meta && !strcmp(sp_file_kind(file), "modes") && !strcmp(array->name, "ordering");
}

bool compare_members(comparison *c)
{
    sp_file a, b;
    state s = {.c = c, .same = true};
    char at[120];

    read_file(c, c->a, &a);
    read_file(c, c->b, &b);
    compare_row(c, "member,index,a,b,difference,verdict,reference");

    if (!strcmp(a.hash, b.hash)) {
        compare_print(c, "same: hash %.12s\n", a.hash);
        goto done;
    }

    if (a.meta && b.meta && strcmp(sp_file_kind(&a), sp_file_kind(&b))) {
        compare_print(c, "kind: \"%s\", in the other \"%s\"\n", sp_file_kind(&a), sp_file_kind(&b));
        s.same = false;
    }

    if (c->with_meta) {
        compare_json(&s, "meta", a.meta, b.meta);
        compare_json(&s, "result", a.result, b.result);
    }

    for (int64_t i = 0; i < a.members.count; i++) {
        const sp_array *array = &a.members.arrays[i], *other = sp_members_find(&b.members, array->name);
        if (is_text(&a, array) || (other && is_text(&b, other)))
            continue;
        if (other)
            compare_pair(&s, array, other);
        else
            only_in(&s, &a, array, c->a, "first");
    }

    for (int64_t i = 0; i < b.members.count; i++) {
        const sp_array *array = &b.members.arrays[i];
        if (sp_members_find(&a.members, array->name) || is_text(&b, array))
            continue;
        only_in(&s, &b, array, c->b, "second");
    }

    if (s.worst_array) {
        index_text(s.worst_array, s.worst.at, at);
        compare_print(c, "worst: %s (%s): %.17g, in the reference %.17g, difference %.3e\n", s.worst_array->name, at,
                      s.worst.a, s.worst.b, s.worst.worst);
    }

    compare_print(c, "%s the reference %s%s\n", s.same ? "same as" : "different from", c->b,
                  !s.same         ? ""
                  : s.worst_array ? " within the tolerance"
                                  : ": the same values");
done:
    sp_file_free(&a);
    sp_file_free(&b);
    sp_pool_free(&s.pool);
    return s.same;
}
