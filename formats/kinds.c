#include "formats/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sp_kind *const sp_kinds[] = {&sp_kind_mesh,
                                   &sp_kind_sparse,
                                   &sp_kind_modes,
                                   &sp_kind_derivatives,
                                   &sp_kind_snapshots,
                                   &sp_kind_basis,
                                   &sp_kind_polynomials,
                                   &sp_kind_polynomial_sums,
                                   &sp_kind_cubature,
                                   &sp_kind_training,
                                   &sp_kind_trajectory,
                                   &sp_kind_scene_trajectory,
                                   &sp_kind_scene_log,
                                   &sp_kind_field,
                                   &sp_kind_pointshell,
                                   &sp_kind_domains,
                                   &sp_kind_curve,
                                   &sp_kind_certificate,
                                   &sp_kind_skin,
                                   &sp_kind_tensor,
                                   &sp_kind_system_basis,
                                   &sp_kind_ensemble,
                                   NULL};

/* ---- names ---- */

const sp_kind *sp_kind_find(const char *name)
{
    int i = 0;
    while (sp_kinds[i] && strcmp(sp_kinds[i]->name, name))
        i++;
    return sp_kinds[i];
}

bool sp_rule_numbered(const sp_member_rule *rule)
{
    const size_t length = strlen(rule->name);
    return length > 2 && !strcmp(rule->name + length - 2, "/B");
}

void sp_rule_member(const sp_member_rule *rule, int64_t i, char name[SP_MEMBER_NAME])
{
    const int length = (int)strlen(rule->name);
    if (sp_rule_numbered(rule))
        snprintf(name, SP_MEMBER_NAME, "%.*s%06lld", length - 1, rule->name, (long long)i);
    else
        snprintf(name, SP_MEMBER_NAME, "%s", rule->name);
}

static bool names_it(const sp_member_rule *rule, const char *member)
{
    const size_t stem = strlen(rule->name) - 1;
    return sp_rule_numbered(rule) ? !strncmp(rule->name, member, stem) && !strchr(member + stem, '/')
                                  : !strcmp(rule->name, member);
}

const sp_member_rule *sp_kind_rule(const sp_kind *kind, const char *member)
{
    const sp_member_rule *rule = kind->rules;
    while (rule->name && !names_it(rule, member))
        rule++;
    return rule->name ? rule : NULL;
}

bool sp_member_known(const char *kind, const char *name)
{
    const sp_kind *one = sp_kind_find(kind);
    bool found = (*kind && !one) || !strcmp(name, "meta") || !strcmp(name, "result");
    for (int i = 0; sp_kinds[i] && !found; i++)
        found = (!one || one == sp_kinds[i]) && sp_kind_rule(sp_kinds[i], name);
    return found;
}

/* ---- extents ---- */

static int64_t *extent_of(const sp_symbol *symbol, void *object)
{
    return (int64_t *)((char *)object + symbol->at);
}

/* Returns NULL if the table has no such symbol. */
static const sp_symbol *find_symbol(const sp_kind *kind, const char *name, size_t length)
{
    const sp_symbol *symbol = kind->symbols;
    while (symbol->name && (strncmp(symbol->name, name, length) || symbol->name[length]))
        symbol++;
    return symbol->name ? symbol : NULL;
}

static int64_t symbol_value(const sp_symbol *symbol, const void *object)
{
    return symbol->follows ? symbol->follows(object) : *(const int64_t *)((const char *)object + symbol->at);
}

/* Evaluates the terms of a shape, with their symbols (NULL: a number). */
static int terms(const sp_kind *kind, const char *text, const void *object, int64_t shape[SP_RANK_MAX],
                 const sp_symbol *symbols[SP_RANK_MAX])
{
    int rank = 0;
    for (; *text; rank++) {
        const size_t length = strcspn(text, ",");
        symbols[rank] = find_symbol(kind, text, length);
        shape[rank] = symbols[rank] ? symbol_value(symbols[rank], object) : strtol(text, NULL, 10);
        text += length;
        text += strspn(text, ", ");
    }
    return rank;
}

int sp_rule_shape(const sp_kind *kind, const char *text, const void *object, int64_t shape[SP_RANK_MAX])
{
    const sp_symbol *symbols[SP_RANK_MAX];
    return terms(kind, text, object, shape, symbols);
}

/* Sets the extents that are not known yet from a member, or to 0 (`shape` NULL) if it is absent. */
static void set_extents(const sp_kind *kind, const char *text, const int64_t *shape, void *object)
{
    const sp_symbol *symbols[SP_RANK_MAX];
    int64_t known[SP_RANK_MAX];
    const int rank = terms(kind, text, object, known, symbols);
    for (int i = 0; i < rank; i++)
        if (known[i] < 0 && symbols[i] && !symbols[i]->follows)
            *extent_of(symbols[i], object) = shape ? shape[i] : 0;
}

static const char *shape_text(const sp_member_rule *rule, const void *object)
{
    return rule->other && *(const bool *)((const char *)object + rule->other_at) ? rule->other : rule->shape;
}

/* ---- presence ---- */

/* Returns true if the value is neither false nor 0 nor empty. */
static bool says(const json_t *value)
{
    return json_is_true(value) || json_number_value(value) > 0 || json_string_length(value) > 0 ||
           json_array_size(value) > 0 || json_object_size(value) > 0;
}

static const void *pointer_of(const sp_member_rule *rule, const void *object)
{
    return *(const void *const *)((const char *)object + rule->at);
}

static bool is_written(const sp_kind *kind, const sp_member_rule *rule, const void *object, const json_t *meta)
{
    int64_t shape[SP_RANK_MAX];
    if (!sp_rule_belongs(kind, rule, object, meta, NULL))
        return false;
    if (!rule->optional)
        return true;
    const int rank = sp_rule_shape(kind, shape_text(rule, object), object, shape);
    bool values = pointer_of(rule, object) != NULL;
    for (int i = 0; i < rank; i++)
        values &= shape[i] > 0;
    return values;
}

bool sp_rule_belongs(const sp_kind *kind, const sp_member_rule *rule, const void *object, const json_t *meta,
                     const sp_members *members)
{
    if (!rule->with)
        return true;
    const sp_symbol *symbol = find_symbol(kind, rule->with, strlen(rule->with));
    const sp_member_rule *other = sp_kind_rule(kind, rule->with);
    if (symbol)
        return symbol_value(symbol, object) > 0;
    if (other)
        return members ? sp_members_find(members, other->name) != NULL : is_written(kind, other, object, meta);
    return says(json_object_get(meta, rule->with));
}

/* ---- values ---- */

static double value_of(const sp_array *array, int64_t i)
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

/* Names value i by its indices: "value 3", "value (1, 2)"; "it" if there is only one. */
static void print_place(const sp_array *array, int64_t i, char text[100])
{
    int64_t index[SP_RANK_MAX] = {0};

    for (int k = 0; k < array->rank; k++) { /* the fastest index first */
        const int axis = array->fortran ? k : array->rank - 1 - k;
        index[axis] = i % array->shape[axis];
        i /= array->shape[axis];
    }

    int used = snprintf(text, 100,
                        array->rank > 1 ? "value (%lld"
                        : array->rank   ? "value %lld"
                                        : "it",
                        (long long)index[0]);

    for (int k = 1; k < array->rank; k++)
        used += snprintf(text + used, 100 - (size_t)used, ", %lld", (long long)index[k]);
    if (array->rank > 1)
        snprintf(text + used, 100 - (size_t)used, ")");
}

static void print_range(const sp_member_rule *rule, double low, double high, char text[100])
{
    if (isinf(high))
        snprintf(text, 100, rule->above ? "more than %.17g" : "at least %.17g", low);
    else
        snprintf(text, 100, "%.17g to %.17g", low, high);
}

static int check_range(sp_context *context, const sp_kind *kind, const sp_member_rule *rule, const sp_array *array,
                       const void *object)
{
    double low = rule->ranged ? rule->low : rule->below ? 0 : -INFINITY, high = rule->ranged ? rule->high : INFINITY;
    if (rule->below)
        high = (double)symbol_value(find_symbol(kind, rule->below, strlen(rule->below)), object) - 1;

    for (int64_t i = 0; i < array->count; i++) {
        const double value = value_of(array, i);
        const double least = rule->increasing && i > 0 ? fmax(low, value_of(array, i - 1) + 1) : low;
        if (value >= least && value <= high && !(rule->above && value == low))
            continue;

        char place[100], number[32], range[100];
        print_place(array, i, place);
        print_range(rule, least, high, range);
        if (array->type == SP_I8)
            snprintf(number, sizeof number, "%lld", (long long)((const int64_t *)array->data)[i]);
        else
            snprintf(number, sizeof number, "%.9g", value);
        return sp_fail(context, SP_INPUT, "%s: %s is %s, expected %s", array->name, place, number, range);
    }
    return SP_OK;
}

static int check_values(sp_context *context, const sp_kind *kind, const sp_member_rule *rule, sp_array *array,
                        void *object)
{
    if (rule->ranged || rule->below || rule->increasing)
        SP_PASS(check_range(context, kind, rule, array, object));
    if (rule->symmetric)
        SP_PASS(sp_check_symmetric(context, array->name, array->shape[0], array->data));
    if (rule->check)
        SP_PASS(rule->check(context, array, object));
    return SP_OK;
}

/* ---- reading ---- */

int sp_rule_read(sp_context *context, sp_members *members, const sp_kind *kind, const sp_member_rule *rule,
                 const char *name, void *object, sp_array **result)
{
    int64_t shape[SP_RANK_MAX];
    sp_array *array = sp_members_find(members, name);

    /* A symmetric matrix has the same bytes in either storage order. */
    if (array && rule->symmetric)
        array->fortran = rule->fortran;

    /* Of two shapes that the rule allows, the rank of the member decides; the object stores which one it is. */
    if (array && rule->other && !rule->optional)
        *(bool *)((char *)object + rule->other_at) = array->rank == sp_rule_shape(kind, rule->other, object, shape);

    const char *text = shape_text(rule, object);
    const int rank = sp_rule_shape(kind, text, object, shape);

    /* A member whose values are diverted to a writer has no data: only its type and shape are checked. */
    if (array && rule->write && !array->data && array->count)
        SP_PASS(sp_array_check(context, array, rule->type, rank, shape));
    else
        SP_PASS(sp_members_read(context, members, name, rule->type, rule->fortran, rank, shape, &array));

    set_extents(kind, text, array->shape, object);
    *result = array;
    return check_values(context, kind, rule, array, object);
}

static int misplaced(sp_context *context, const sp_kind *kind, const sp_member_rule *rule)
{
    if (sp_kind_rule(kind, rule->with))
        return sp_fail(context, SP_INPUT, "member %s is missing, which goes with %s", rule->with, rule->name);
    return sp_fail(context, SP_INPUT, "it has the member %s, but \"%s\" in meta is missing", rule->name, rule->with);
}

static int missing(sp_context *context, const sp_kind *kind, const sp_member_rule *rule)
{
    if (!rule->with)
        return sp_fail(context, SP_INPUT, "member %s is missing", rule->name);
    return sp_fail(context, SP_INPUT,
                   sp_kind_rule(kind, rule->with) ? "member %s is missing, which goes with %s"
                                                  : "member %s is missing, which goes with \"%s\" of meta",
                   rule->name, rule->with);
}

static int read_member(sp_context *context, sp_file *file, const sp_kind *kind, const sp_member_rule *rule,
                       void *object)
{
    const bool there = sp_members_find(&file->members, rule->name) != NULL,
               belongs = sp_rule_belongs(kind, rule, object, file->meta, &file->members);
    sp_array *array;

    if (there && !belongs)
        return misplaced(context, kind, rule);
    if (!there && belongs && !rule->optional)
        return missing(context, kind, rule);

    if (!there) {
        set_extents(kind, rule->shape, NULL, object);
        return SP_OK;
    }

    SP_PASS(sp_rule_read(context, &file->members, kind, rule, rule->name, object, &array));
    *(void **)((char *)object + rule->at) = array->data;
    return SP_OK;
}

int sp_kind_read(sp_context *context, sp_file *file, const sp_kind *kind, void *object)
{
    /* Extents that no earlier member or meta gives are unknown until a member sets them. */
    for (const sp_symbol *symbol = kind->symbols; symbol->name; symbol++)
        if (!symbol->given && !symbol->follows)
            *extent_of(symbol, object) = -1;

    for (const sp_member_rule *rule = kind->rules; rule->name; rule++) {
        if (!rule->each) {
            SP_PASS(read_member(context, file, kind, rule, object));
            continue;
        }

        void **place;
        for (int64_t i = 0; (place = rule->each(object, i)); i++) {
            char name[SP_MEMBER_NAME];
            sp_array *array;
            sp_rule_member(rule, i, name);
            SP_PASS(sp_rule_read(context, &file->members, kind, rule, name, object, &array));
            *place = array->data;
        }
    }
    return SP_OK;
}

int sp_kind_take(sp_context *context, sp_members *members, const sp_kind *kind, const char *name, sp_array **array)
{
    const sp_member_rule *rule = sp_kind_rule(kind, name);
    int64_t shape[SP_RANK_MAX];
    int rank = 0;
    for (const char *text = rule->shape; *text; rank++) {
        shape[rank] = find_symbol(kind, text, strcspn(text, ",")) ? -1 : strtol(text, NULL, 10);
        text += strcspn(text, ",");
        text += strspn(text, ", ");
    }
    return sp_members_read(context, members, name, rule->type, rule->fortran, rank, shape, array);
}

/* ---- writing ---- */

static int64_t product(int rank, const int64_t *shape)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= shape[i];
    return count;
}

int sp_rule_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const sp_member_rule *rule,
                  const char *name, const void *object, const void *data)
{
    int64_t shape[SP_RANK_MAX];
    const int rank = sp_rule_shape(kind, shape_text(rule, object), object, shape);
    if (!data && rule->write)
        return rule->write(writer, name, object);
    if (!data && product(rank, shape) > 0)
        return SP_OK; /* the caller has none: readers reject the file if the member is required */
    if (rule->type == SP_F8)
        return sp_writer_numbers(writer, name, rule->fortran, rank, shape, data);
    for (int64_t i = 0, count = rule->type == SP_F4 ? product(rank, shape) : 0; i < count; i++)
        if (!isfinite(((const float *)data)[i]))
            return sp_fail(context, SP_NUMERICAL, "%s: value %lld of the result is not finite", name, (long long)i);
    return rule->type == SP_BYTES ? sp_writer_bytes(writer, name, data)
                                  : sp_writer_array(writer, name, rule->type, rule->fortran, rank, shape, data);
}

int sp_kind_write(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta, const void *object)
{
    SP_PASS(sp_file_write_meta(writer, meta));
    for (const sp_member_rule *rule = kind->rules; rule->name; rule++) {
        if (!rule->each) {
            if (!sp_rule_numbered(rule) && is_written(kind, rule, object, meta))
                SP_PASS(sp_rule_write(context, writer, kind, rule, rule->name, object, pointer_of(rule, object)));
            continue;
        }

        void **place;
        for (int64_t i = 0; (place = rule->each((void *)object, i)); i++) {
            char name[SP_MEMBER_NAME];
            sp_rule_member(rule, i, name);
            SP_PASS(sp_rule_write(context, writer, kind, rule, name, object, *place));
        }
    }
    return SP_OK;
}
