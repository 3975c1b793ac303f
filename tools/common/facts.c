/* Values of keys of meta and result, by the tables of the types of files. */
#include "tools/common/tool.h"

#include <assert.h>
#include <math.h>

static void check_finite(const char *key, int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            tool_fail(SP_NUMERICAL, tool_output_path(),
                      "\"%s\" of the result is not finite: the inputs are too large or too small", key);
}

static json_t *real(const char *key, double value)
{
    check_finite(key, 1, &value);
    json_t *number = json_real(value);
    if (!number)
        tool_out_of_memory();
    return number;
}

static void append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value))
        tool_out_of_memory();
}

static json_t *reals(const char *key, int64_t count, const double *values)
{
    check_finite(key, count, values);
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        append(array, real(key, values[i]));
    if (!array)
        tool_out_of_memory();
    return array;
}

/* Of an array, each of its values. */
static json_t *nulls(const sp_fact *fact, int64_t count)
{
    assert(fact->null);
    if (fact->type < SP_INTEGERS)
        return json_null();
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        append(array, json_null());
    return array;
}

static json_t *integers(int64_t count, const int64_t *values)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        append(array, json_integer(values[i]));
    return array;
}

/* True if no field of another type than that of the key is set. */
static bool is_of(enum sp_fact_type type, const tool_fact *value)
{
    return (value->integer == 0 || type == SP_INTEGER) && (value->real == 0 || type == SP_NUMBER) &&
           (!value->boolean || type == SP_BOOLEAN) && (!value->text || type == SP_STRING || type == SP_HASH) &&
           (!value->integers || type == SP_INTEGERS) && (!value->reals || type == SP_NUMBERS);
}

static json_t *json_of(const sp_fact *fact, const tool_fact *value)
{
    if (value->json)
        return value->json;
    if (value->none)
        return nulls(fact, value->count);
    switch (fact->type) {
    case SP_INTEGER:
        return json_integer(value->integer);
    case SP_NUMBER:
        return real(fact->name, value->real);
    case SP_BOOLEAN:
        return json_boolean(value->boolean);
    case SP_INTEGERS:
        return integers(value->count, value->integers);
    case SP_NUMBERS:
        return reals(fact->name, value->count, value->reals);
    default:
        return json_string(value->text);
    }
}

void tool_facts_set(json_t *object, const sp_fact *facts, const tool_fact *values)
{
    for (; values->name; values++) {
        if (values->leave_out) {
            json_decref(values->json); /* owned in any case */
            continue;
        }
        const sp_fact *fact = sp_fact_find(facts, values->name);
        assert(fact && is_of(fact->type, values));
        json_t *value = json_of(fact, values);
        assert(!value || sp_fact_fits(fact, value));
        if (json_object_set_new(object, fact->name, value))
            tool_out_of_memory();
    }
}
