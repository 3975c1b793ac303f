#include "formats/facts.h"

#include <string.h>

const sp_fact sp_facts_of_meta[] = {
    {"kind", SP_STRING, .meaning = "the type of the file"},
    {"format_version", SP_STRING, .meaning = "decimal numbers *major*`.`*minor*"},
    {"tool", SP_STRING, .meaning = "the program that wrote the file"},
    {"version", SP_STRING, .meaning = "of that program"},
    {"parameters", SP_OBJECT,
     .meaning = "every option that can change the result, with its value after defaults; null: not given, if this "
                "differs from the default"},
    {"output", SP_STRING, .when = "programs with several outputs",
     .meaning = "the option that named this one; absent: `-o`"},
    {"seed", SP_INTEGER, .when = "programs with random choices", .meaning = "of these choices"},
    {"inputs", SP_OBJECTS, .meaning = "of {`name`, `sha256`, `option`, `via`, `archive`}"},
    {"history", SP_OBJECT,
     .meaning = "every ancestor: its hash → {`kind`, `output`, `tool`, `version`, `parameters`, `seed`, `inputs`}"},
    {0}};

const sp_fact sp_facts_of_result[] = {{"sha256", SP_HASH, .meaning = "the hash of the file"},
                                      {"warnings", SP_STRINGS, .meaning = "the warnings of the run"},
                                      {0}};

const sp_fact *sp_fact_find(const sp_fact *facts, const char *name)
{
    for (; facts && facts->name; facts++)
        if (!strcmp(facts->name, name))
            return facts;
    return NULL;
}

const char *sp_fact_type_words(const sp_fact *fact)
{
    static const char *const words[][2] = {
        [SP_INTEGER] = {"integer", "integer or null"},
        [SP_NUMBER] = {"number", "number or null"},
        [SP_BOOLEAN] = {"boolean", "boolean or null"},
        [SP_STRING] = {"string", "string or null"},
        [SP_HASH] = {"hash", "hash or null"},
        [SP_OBJECT] = {"object", "object or null"},
        [SP_INTEGERS] = {"array of integers", "array of integers or nulls"},
        [SP_NUMBERS] = {"array of numbers", "array of numbers or nulls"},
        [SP_STRINGS] = {"array of strings", "array of strings or nulls"},
        [SP_OBJECTS] = {"array of objects", "array of objects or nulls"},
    };
    return words[fact->type][fact->null];
}

static bool is_hash(const json_t *value)
{
    const char *text = json_string_value(value);
    const size_t length = text ? strlen(text) : 1;
    return length == 0 || (length == 64 && strspn(text, "0123456789abcdef") == 64);
}

static bool is(enum sp_fact_type type, const json_t *value)
{
    switch (type) {
    case SP_INTEGER:
        return json_is_integer(value);
    case SP_NUMBER:
        return json_is_number(value);
    case SP_BOOLEAN:
        return json_is_boolean(value);
    case SP_STRING:
        return json_is_string(value);
    case SP_HASH:
        return is_hash(value);
    case SP_OBJECT:
        return json_is_object(value);
    default:
        return json_is_array(value);
    }
}

bool sp_fact_fits(const sp_fact *fact, const json_t *value)
{
    static const enum sp_fact_type of[] = {
        [SP_INTEGERS] = SP_INTEGER, [SP_NUMBERS] = SP_NUMBER, [SP_STRINGS] = SP_STRING, [SP_OBJECTS] = SP_OBJECT};
    if (fact->type < SP_INTEGERS)
        return is(fact->type, value) || (fact->null && json_is_null(value));

    bool fits = json_is_array(value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *element = json_array_get(value, i);
        fits &= is(of[fact->type], element) || (fact->null && json_is_null(element));
    }
    return fits;
}
