/* For tests of JSON text that is read by tables (formats/keys.h): editing such text, and comparing tables with schemas
 * and pages. */
#ifndef TESTS_UNIT_KEYS_TEST_H
#define TESTS_UNIT_KEYS_TEST_H

#include "formats/keys.h"
#include "source_file.h"
#include "test.h"

/* Single quotes stand for double ones. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static void same(const double *measured, int n, const double *expected, const char *what)
{
    for (int i = 0; i < n; i++)
        CHECK(measured[i] == expected[i], "%s[%d]: %.17g is not %.17g", what, i, measured[i], expected[i]);
}
#define SAME(measured, n, ...) same(measured, n, (const double[]){__VA_ARGS__}, #measured)
#define TEXT(measured, expected)                                                                                       \
    CHECK((measured) && !strcmp(measured, expected), "%s is not %s", (measured) ? (measured) : "(null)", expected)

/* Puts JSON (single quotes; "" removes) at a JSON path such as "bodies[3].motion". */
static void put(json_t *root, const char *way, const char *value)
{
    char key[100];
    json_t *at = root;
    for (;;) {
        if (*way == '.')
            way++;
        const bool entry = *way == '[';
        const size_t length = entry ? strcspn(way, "]") + 1 : strcspn(way, ".[");
        snprintf(key, sizeof key, "%.*s", (int)length, way);
        const size_t index = entry ? (size_t)atoi(key + 1) : 0;
        way += length;
        if (*way) {
            at = entry ? json_array_get(at, index) : json_object_get(at, key);
            continue;
        }
        char *text = quoted(value);
        json_t *made = *value ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
        int failed;
        if (!*value)
            failed = entry ? json_array_remove(at, index) : json_object_del(at, key);
        else
            failed = !entry                        ? json_object_set_new(at, key, made)
                     : index < json_array_size(at) ? json_array_set_new(at, index, made)
                                                   : json_array_append_new(at, made);
        CHECK(!failed, "the test itself: %s at %s", value, key);
        free(text);
        return;
    }
}

typedef struct edit {
    const char *way, *value;
} edit;

/* The JSON text with these edits, the last one {0}; free it. */
static char *edited(const char *full, const edit *edits)
{
    char *text = quoted(full);
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    for (; edits->way; edits++)
        put(root, edits->way, edits->value);
    text = json_dumps(root, 0);
    json_decref(root);
    return text;
}

/* ---- page and schema ---- */

static json_t *json_of(double number)
{
    return isinf(number) ? json_null() : number == floor(number) ? json_integer((json_int_t)number) : json_real(number);
}

static json_t *default_of(const sp_key *key)
{
    if (key->type == SP_KEY_OBJECT)
        return json_object();
    if (key->type == SP_KEY_WORD)
        return json_string(key->words->word[0]);
    if (key->type == SP_KEY_BOOLEAN)
        return json_boolean(key->standard[0] != 0);
    json_t *array = json_array();
    for (int i = 0; i < key->count; i++)
        json_array_append_new(array, json_of(key->standard[i]));
    if (key->count > 0)
        return array;
    json_decref(array);
    return json_of(key->standard[0]);
}

static json_t *reference(const char *name)
{
    char text[100];
    snprintf(text, sizeof text, "#/$defs/%s", name);
    return json_pack("{s:s}", "$ref", text);
}

/* The schema of a key by the table, without its description. */
static json_t *schema_of(const sp_key *key)
{
    json_t *schema = json_object(), *words;
    switch (key->type) {
    case SP_KEY_NUMBER:
    case SP_KEY_INTEGER: {
        const char *type = key->type == SP_KEY_NUMBER ? "number" : "integer";
        json_object_set_new(schema, "type", key->null ? json_pack("[s, s]", type, "null") : json_string(type));
        if (!isinf(key->low))
            json_object_set_new(schema, key->above ? "exclusiveMinimum" : "minimum", json_of(key->low));
        if (!isinf(key->high))
            json_object_set_new(schema, key->below ? "exclusiveMaximum" : "maximum", json_of(key->high));
        if (key->count > 0)
            schema = json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", key->count, "maxItems", key->count,
                               "items", schema);
        break;
    }
    case SP_KEY_BOOLEAN:
        json_object_set_new(schema, "type", json_string("boolean"));
        break;
    case SP_KEY_WORD:
        words = json_array();
        for (int i = 0; key->words->word[i]; i++)
            json_array_append_new(words, json_string(key->words->word[i]));
        json_object_set_new(schema, "enum", words);
        break;
    case SP_KEY_FILE:
        json_object_update_new(schema, json_pack("{s:s, s:i}", "type", "string", "minLength", 1));
        break;
    case SP_KEY_OBJECT:
        json_object_update_new(schema, reference(key->table->name));
        break;
    case SP_KEY_TEXT:
        json_object_update_new(
            schema, json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength", SP_KEY_NAME_SIZE - 1));
        break;
    case SP_KEY_NAME:
        json_object_update_new(schema, reference("name"));
        break;
    case SP_KEY_NAMED:
        json_object_update_new(schema, json_pack("{s:s, s:i, s:{s:o}, s:b}", "type", "object", "minProperties", 1,
                                                 "patternProperties", "^[A-Za-z0-9_.-]{1,63}$",
                                                 reference(key->table->name), "additionalProperties", false));
        break;
    case SP_KEY_LIST:
        json_object_update_new(
            schema, json_pack("{s:s, s:i, s:o}", "type", "array", "minItems", 1, "items", reference(key->table->name)));
        break;
    case SP_KEY_BOX:
        json_object_update_new(schema, json_pack("{s:s, s:i, s:i, s:{s:s, s:i, s:i, s:{s:s}}}", "type", "array",
                                                 "minItems", 2, "maxItems", 2, "items", "type", "array", "minItems", 3,
                                                 "maxItems", 3, "items", "type", "number"));
        break;
    case SP_KEY_INTEGERS:
        json_object_update_new(schema, json_pack("{s:s, s:i, s:{s:s, s:i}}", "type", "array", "minItems", 1, "items",
                                                 "type", "integer", "minimum", 0));
        break;
    case SP_KEY_REGIONS:
        json_object_update_new(schema, json_pack("{s:s, s:i, s:{s:[s, s], s:i}}", "type", "array", "minItems", 1,
                                                 "items", "type", "string", "integer", "minimum", 0));
        break;
    case SP_KEY_SPANS:
        json_object_update_new(schema, json_pack("{s:s, s:i, s:{s:s, s:i, s:i, s:{s:s, s:o}}}", "type", "array",
                                                 "minItems", 1, "items", "type", "array", "minItems", 2, "maxItems", 2,
                                                 "items", "type", "number", "minimum", json_of(key->low)));
        break;
    case SP_KEY_PAIRS:
        json_object_update_new(schema, json_pack("{s:s, s:{s:s, s:i, s:i, s:{s:s}}}", "type", "array", "items", "type",
                                                 "array", "minItems", 2, "maxItems", 2, "items", "type", "string"));
        break;
    }
    if (key->presence == SP_KEY_DEFAULT)
        json_object_set_new(schema, "default", default_of(key));
    return schema;
}

static void compare_table(const char *file, const json_t *root, const sp_key_table *top, const sp_key_table *table,
                          int *keys)
{
    const json_t *object = table == top ? root : json_object_get(json_object_get(root, "$defs"), table->name);
    const json_t *properties = json_object_get(object, "properties");
    json_t *required = json_array(), *needs = json_object();
    size_t count = 0;
    for (const sp_key *key = table->keys; key->name; key++, count++) {
        json_t *said = json_deep_copy(json_object_get(properties, key->name)), *expected = schema_of(key);
        json_object_del(said, "description");
        char *a = said ? json_dumps(said, JSON_SORT_KEYS) : NULL, *b = json_dumps(expected, JSON_SORT_KEYS);
        CHECK(a && !strcmp(a, b), "%s: %s.%s: %s, expected %s", file, table->name, key->name, a ? a : "nothing", b);
        free(a);
        free(b);
        json_decref(said);
        json_decref(expected);
        if (key->presence == SP_KEY_REQUIRED)
            json_array_append_new(required, json_string(key->name));
        if (key->needs)
            json_object_set_new(needs, key->name, json_pack("[s]", key->needs));
        if (key->table)
            compare_table(file, root, top, key->table, keys);
    }
    *keys += (int)count;
    CHECK(json_object_size(properties) == count, "%s: %s has %zu properties, expected %zu", file, table->name,
          json_object_size(properties), count);
    CHECK(json_is_false(json_object_get(object, "additionalProperties")), "%s: %s: additionalProperties", file,
          table->name);
    if (json_array_size(required) > 0 || json_object_get(object, "required"))
        CHECK(json_equal(required, json_object_get(object, "required")), "%s: %s: required", file, table->name);
    if (json_object_size(needs) > 0 || json_object_get(object, "dependentRequired"))
        CHECK(json_equal(needs, json_object_get(object, "dependentRequired")), "%s: %s: dependentRequired", file,
              table->name);
    json_decref(required);
    json_decref(needs);
}

/* Every key of the tables is in the schema as the table says. Returns their number. */
static int check_schema(const char *file, const sp_key_table *table)
{
    char *text = source_file(file);
    json_error_t error = {0};
    json_t *root = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
    int keys = 0;
    CHECK(root, "line %d: %s", error.line, error.text);
    if (root)
        compare_table(file, root, table, table, &keys);
    json_decref(root);
    free(text);
    return keys;
}

/* The beginning of a row of the page: key, type, unit, default, range. */
static void row_of(const sp_key *key, char row[1000])
{
    static const char *const types[] = {"number",
                                        "integer",
                                        "boolean",
                                        "word",
                                        "file",
                                        "two corners",
                                        "object",
                                        "text",
                                        "name",
                                        "objects by name",
                                        "array of objects",
                                        "array of pairs",
                                        "array of integers",
                                        "array of names or integers",
                                        "array of intervals"};
    char type[100], standard[200] = "–", range[200] = "";
    if (key->count)
        snprintf(type, sizeof type, "%d %ss", key->count, types[key->type]);
    else
        snprintf(type, sizeof type, "%s%s", types[key->type], key->null ? " or null" : "");
    if (key->presence == SP_KEY_REQUIRED)
        strcpy(standard, "required");
    else if (key->presence == SP_KEY_DEFAULT && key->type == SP_KEY_OBJECT)
        strcpy(standard, "`{}`");
    else if (key->presence == SP_KEY_DEFAULT && key->type == SP_KEY_WORD)
        snprintf(standard, sizeof standard, "`%s`", key->words->word[0]);
    else if (key->presence == SP_KEY_DEFAULT && key->type == SP_KEY_BOOLEAN)
        strcpy(standard, key->standard[0] != 0 ? "`true`" : "`false`");
    else if (key->presence == SP_KEY_DEFAULT && isinf(key->standard[0]))
        strcpy(standard, "`null`");
    else if (key->presence == SP_KEY_DEFAULT) {
        int used = 0;
        for (int i = 0; i < (key->count ? key->count : 1); i++)
            used +=
                snprintf(standard + used, sizeof standard - (size_t)used, "%s%.10g", i ? ", " : "", key->standard[i]);
    }
    if (key->type == SP_KEY_WORD) {
        int used = 0;
        for (int i = 0; key->words->word[i]; i++)
            used += snprintf(range + used, sizeof range - (size_t)used, "%s`%s`", i ? ", " : "", key->words->word[i]);
    } else
        sp_keys_range(key, range);
    snprintf(row, 1000, "\n| `%s` | %s | %s | %s | %s | ", key->name, type, key->unit ? key->unit : "", standard,
             range);
}

static void find_rows(const char *file, const char *page, const sp_key_table *table)
{
    char heading[100], row[1000];
    snprintf(heading, sizeof heading, "# %s\n\n| key |", table->name);
    const char *section = strstr(page, heading);
    CHECK(section, "%s has no section %s", file, table->name);
    if (!section)
        return;
    const char *end = strstr(section + strlen(heading), "\n\n");
    const char *at = strchr(section + strlen(heading),
                            '\n'); /* the line of dashes, after which the rows follow in the order of the table */
    at = strchr(at + 1, '\n');
    for (const sp_key *key = table->keys; key->name && at; key++) {
        row_of(key, row);
        CHECK(!strncmp(at, row, strlen(row)), "%s, %s: \"%.60s\", expected \"%s\"", file, table->name, at + 1, row + 1);
        at = strchr(at + 1, '\n');
    }
    CHECK(at == end, "%s, %s: another number of rows", file, table->name);
    for (const sp_key *key = table->keys; key->name; key++)
        if (key->table)
            find_rows(file, page, key->table);
}

/* The indented lines of the page, from the one that begins with this text. */
static char *example_of(const char *page, const char *beginning)
{
    char *copy = calloc(strlen(page) + 1, 1);
    const char *at = strstr(page, beginning);
    CHECK(at, "no example");
    for (size_t used = 0; at && !strncmp(at, "    ", 4); at = *at ? at + 1 : at) {
        const size_t length = strcspn(at + 4, "\n");
        memcpy(copy + used, at + 4, length);
        copy[used + length] = '\n';
        used += length + 1;
        at += 4 + length;
    }
    return copy;
}

#endif
