#include "formats/keys.h"

#include "formats/file.h"
#include "formats/import/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

size_t sp_keys_down(sp_key_reader *reader, const char *format, ...)
{
    const size_t before = strlen(reader->json_path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->json_path + before, sizeof reader->json_path - before,
              before == 0 && format[0] == '.' ? format + 1 : format, arguments);
    va_end(arguments);
    return before;
}

void sp_keys_up(sp_key_reader *reader, size_t json_path)
{
    reader->json_path[json_path] = 0;
}

int sp_keys_fail(const sp_key_reader *reader, const char *format, ...)
{
    char message[sizeof reader->context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sp_fail(reader->context, SP_INPUT, "%s%s%s", reader->json_path, reader->json_path[0] ? ": " : "", message);
}

const char *sp_keys_what(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",      [JSON_FALSE] = "false",     [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

void sp_keys_range(const sp_key *key, char text[SP_KEY_RANGE])
{
    if ((key->type != SP_KEY_NUMBER && key->type != SP_KEY_INTEGER && key->type != SP_KEY_SPANS) || isinf(key->low))
        text[0] = 0;
    else if (isinf(key->high))
        snprintf(text, SP_KEY_RANGE, "%s %.10g", key->above ? "more than" : "at least", key->low);
    else
        snprintf(text, SP_KEY_RANGE, "%.10g to %s%.10g", key->low, key->below ? "less than " : "", key->high);
}

void sp_keys_offer(char text[SP_KEY_CHOICES], const char *word)
{
    const size_t used = strlen(text), dots = sizeof ", ...";
    if (used + strlen(word) + 2 + dots <= SP_KEY_CHOICES)
        snprintf(text + used, SP_KEY_CHOICES - used, "%s%s", used ? ", " : "", word);
    else if (used < 3 || strcmp(text + used - 3, "..."))
        snprintf(text + used, SP_KEY_CHOICES - used, ", ...");
}

static int wrong(const sp_key_reader *reader, const json_t *value, const char *expected, const sp_key *key)
{
    return sp_keys_fail(reader, "%s, expected %s%s", sp_keys_what(value), expected, key->null ? " or null" : "");
}

/* ---- values ---- */

static int in_range(const sp_key_reader *reader, const sp_key *key, double value)
{
    char range[SP_KEY_RANGE];
    const bool unit = key->unit && !strchr(key->unit, ','); /* not a list of units, one for each entry */
    if ((key->above ? value > key->low : value >= key->low) && (key->below ? value < key->high : value <= key->high))
        return SP_OK;
    sp_keys_range(key, range);
    return sp_keys_fail(reader, "%.10g%s%s, expected %s", value, unit ? " " : "", unit ? key->unit : "", range);
}

/* Reads a number. JSON has no numbers that are not finite, and jansson rejects those that are too large for a double.
 */
static int read_number(const sp_key_reader *reader, const json_t *value, const sp_key *key, double *to)
{
    *to = INFINITY;
    if (key->null && json_is_null(value))
        return SP_OK;
    if (!json_is_number(value))
        return wrong(reader, value, "a number", key);
    *to = json_number_value(value);
    return in_range(reader, key, *to);
}

/* 1e5 and 3.0 are integers too, as in JSON Schema. */
int sp_keys_integer(const sp_key_reader *reader, const json_t *value, const sp_key *key, int64_t *to)
{
    *to = INT64_MAX;
    if (key->null && json_is_null(value))
        return SP_OK;
    if (!json_is_number(value))
        return wrong(reader, value, "a whole number", key);
    const double number = json_number_value(value);
    if (json_is_real(value) && (fabs(number) > 0x1p53 || number != floor(number)))
        return sp_keys_fail(reader, "%.10g, expected a whole number", number);
    *to = json_is_integer(value) ? json_integer_value(value) : (int64_t)number;
    return in_range(reader, key, number);
}

int sp_keys_numbers(sp_key_reader *reader, const json_t *value, const sp_key *key, void *to)
{
    int status = SP_OK;
    const bool whole = key->type == SP_KEY_INTEGER;

    if (key->count == 0)
        return whole ? sp_keys_integer(reader, value, key, to) : read_number(reader, value, key, to);

    if (!json_is_array(value))
        return sp_keys_fail(reader, "%s, expected %d numbers", sp_keys_what(value), key->count);
    if (json_array_size(value) != (size_t)key->count)
        return sp_keys_fail(reader, "%zu values, expected %d numbers", json_array_size(value), key->count);

    for (int i = 0; i < key->count && status == SP_OK; i++) {
        const size_t json_path = sp_keys_down(reader, "[%d]", i);
        const json_t *entry = json_array_get(value, (size_t)i);
        status = whole ? sp_keys_integer(reader, entry, key, (int64_t *)to + i)
                       : read_number(reader, entry, key, (double *)to + i);
        if (status == SP_OK)
            sp_keys_up(reader, json_path);
    }
    return status;
}

static int read_box(sp_key_reader *reader, const json_t *value, const sp_key *key, double *to)
{
    const sp_key corner = {.type = SP_KEY_NUMBER, .count = 3, .low = key->low, .high = key->high};

    if (!json_is_array(value) || json_array_size(value) != 2)
        return sp_keys_fail(reader, "%s, expected an array of two corners",
                            json_is_array(value) ? "another count" : sp_keys_what(value));

    for (int i = 0; i < 2; i++) {
        const size_t json_path = sp_keys_down(reader, "[%d]", i);
        SP_PASS(sp_keys_numbers(reader, json_array_get(value, (size_t)i), &corner, to + 3 * i));
        sp_keys_up(reader, json_path);
    }

    for (int k = 0; k < 3; k++)
        if (to[k] > to[3 + k])
            return sp_keys_fail(reader, "from %.10g to %.10g along %c, expected the lower corner first", to[k],
                                to[3 + k], 'x' + k);
    return SP_OK;
}

static int read_word(const sp_key_reader *reader, const json_t *value, const sp_key *key, int *to)
{
    char shown[SP_TEXT_QUOTE], choices[SP_KEY_CHOICES] = "";
    const char *text = json_string_value(value);
    for (int i = 0; key->words->word[i]; i++) {
        if (text && !strcmp(text, key->words->word[i])) {
            *to = key->words->first + i;
            return SP_OK;
        }
        sp_keys_offer(choices, key->words->word[i]);
    }
    if (!text)
        return sp_keys_fail(reader, "%s, expected one of %s", sp_keys_what(value), choices);
    return sp_keys_fail(reader, "\"%s\" is none of %s", sp_word_show(sp_word_of(text), shown), choices);
}

static int read_file(const sp_key_reader *reader, const json_t *value, const sp_key *key, char **to)
{
    const char *text = json_string_value(value), *folder = reader->folder;
    if (!text)
        return wrong(reader, value, "the name of a file", key);
    if (!text[0])
        return sp_keys_fail(reader, "\"\", expected the name of a file");
    const bool alone = text[0] == '/' || !folder[0] || !strcmp(folder, ".");
    const size_t size = strlen(folder) + strlen(text) + 2;
    *to = sp_pool_raw(reader->pool, (int64_t)size, 1);
    SP_PASS(sp_allocated(reader->context, *to));
    const bool slash = !alone && folder[strlen(folder) - 1] != '/';
    snprintf(*to, size, "%s%s%s", alone ? "" : folder, slash ? "/" : "", text);
    return SP_OK;
}

int sp_keys_check_name(const sp_key_reader *reader, const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    char shown[SP_TEXT_QUOTE];
    const size_t length = strlen(name);
    if (length >= 1 && length < SP_KEY_NAME_SIZE && strspn(name, allowed) == length)
        return SP_OK;
    return sp_keys_fail(reader, "\"%s\" is no name: expected 1 to %d of A-Z a-z 0-9 _ . -",
                        sp_word_show(sp_word_of(name), shown), SP_KEY_NAME_SIZE - 1);
}

/* Checks a value that the caller reads: it must have the right type and not be empty. */
static int check_type(const sp_key_reader *reader, const json_t *value, const sp_key *key)
{
    if (key->type == SP_KEY_NAME)
        return json_is_string(value) ? SP_OK : wrong(reader, value, "a name", key);
    if (key->type == SP_KEY_NAMED ? !json_is_object(value) : !json_is_array(value))
        return wrong(reader, value, key->type == SP_KEY_NAMED ? "an object" : "an array", key);
    if (key->type != SP_KEY_PAIRS && json_object_size(value) + json_array_size(value) == 0)
        return sp_keys_fail(reader, "it is empty");
    return SP_OK;
}

static int read_text(sp_key_reader *reader, const json_t *value, const sp_key *key, char *to)
{
    if (!json_is_string(value))
        return wrong(reader, value, "a text", key);
    const size_t length = json_string_length(value);
    if (length == 0 || length >= SP_KEY_NAME_SIZE || length != strlen(json_string_value(value)))
        return sp_keys_fail(reader, "%zu bytes, expected 1 to %d without a zero", length, SP_KEY_NAME_SIZE - 1);
    memcpy(to, json_string_value(value), length + 1);
    return SP_OK;
}

static int read_value(sp_key_reader *reader, json_t *value, const sp_key *key, void *to)
{
    switch (key->type) {
    case SP_KEY_NUMBER:
    case SP_KEY_INTEGER:
        return sp_keys_numbers(reader, value, key, to);
    case SP_KEY_BOOLEAN:
        *(bool *)to = json_is_true(value);
        return json_is_boolean(value) ? SP_OK : wrong(reader, value, "true or false", key);
    case SP_KEY_WORD:
        return read_word(reader, value, key, to);
    case SP_KEY_FILE:
        return read_file(reader, value, key, to);
    case SP_KEY_BOX:
        return read_box(reader, value, key, to);
    case SP_KEY_OBJECT:
        return sp_keys_read(reader, value, key->table, to);
    case SP_KEY_TEXT:
        return read_text(reader, value, key, to);
    default:
        return check_type(reader, value, key);
    }
}

static int absent(sp_key_reader *reader, const sp_key *key, void *to)
{
    if (key->presence == SP_KEY_REQUIRED)
        return sp_keys_fail(reader, "it is missing");

    for (int i = 0; i < (key->count ? key->count : 1); i++) {
        if (key->type == SP_KEY_NUMBER)
            ((double *)to)[i] = key->standard[i];
        else if (key->type == SP_KEY_INTEGER)
            ((int64_t *)to)[i] = isinf(key->standard[i]) ? INT64_MAX : (int64_t)key->standard[i];
    }

    if (key->type == SP_KEY_BOOLEAN)
        *(bool *)to = key->standard[0] != 0;
    else if (key->type == SP_KEY_WORD)
        *(int *)to = key->words->first;
    else if (key->type == SP_KEY_TEXT)
        *(char *)to = 0;
    else if (key->type == SP_KEY_OBJECT && key->presence == SP_KEY_DEFAULT)
        return sp_keys_read(reader, NULL, key->table, to);
    return SP_OK;
}

/* ---- objects ---- */

static int check_keys(sp_key_reader *reader, json_t *object, const sp_key_table *table)
{
    char shown[SP_TEXT_QUOTE], choices[SP_KEY_CHOICES] = "";
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return sp_keys_fail(reader, "%s, expected an object", sp_keys_what(object));
    json_object_foreach(object, name, value)
    {
        const sp_key *key = table->keys;
        while (key->name && strcmp(key->name, name))
            key++;
        if (key->name)
            continue;
        for (key = table->keys; key->name; key++)
            sp_keys_offer(choices, key->name);
        sp_keys_down(reader, ".%s", sp_word_show(sp_word_of(name), shown));
        return sp_keys_fail(reader, "unknown key, expected one of %s", choices);
    }
    return SP_OK;
}

/* Returns true if the key may occur with the others. */
static int check_place(const sp_key_reader *reader, const json_t *object, const sp_key_table *table, const sp_key *key,
                       const void *to)
{
    const sp_key *first = table->keys;
    if (key->only) {
        const int chosen = *(const int *)((const char *)to + first->offset);
        if (!(key->only & 1u << chosen))
            return sp_keys_fail(reader, "it means nothing where %s is %s", first->name,
                                first->words->word[chosen - first->words->first]);
    }
    if (key->needs && !json_object_get(object, key->needs))
        return sp_keys_fail(reader, "it needs %s beside it", key->needs);
    return SP_OK;
}

int sp_keys_read(sp_key_reader *reader, json_t *object, const sp_key_table *table, void *to)
{
    if (object)
        SP_PASS(check_keys(reader, object, table));

    for (const sp_key *key = table->keys; key->name; key++) {
        json_t *value = json_object_get(object, key->name);
        void *place = (char *)to + key->offset;
        const size_t json_path = sp_keys_down(reader, ".%s", key->name);
        if (value)
            SP_PASS(check_place(reader, object, table, key, to));
        SP_PASS(value ? read_value(reader, value, key, place) : absent(reader, key, place));
        sp_keys_up(reader, json_path);
    }
    return SP_OK;
}

/* ---- rules between keys ---- */

const char *sp_keys_word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

int sp_keys_look_up(const sp_key_reader *reader, json_t *names, const char *name, const char *what, int64_t *number)
{
    char shown[SP_TEXT_QUOTE], choices[SP_KEY_CHOICES] = "";
    const char *known;
    json_t *value = json_object_get(names, name);
    *number = json_integer_value(value);
    if (value)
        return SP_OK;
    json_object_foreach(names, known, value) sp_keys_offer(choices, known);
    return sp_keys_fail(reader, "\"%s\" is no %s, expected %s%s", sp_word_show(sp_word_of(name), shown), what,
                        choices[0] ? "one of " : "none, as there is none", choices);
}

int sp_keys_among(const sp_key_reader *reader, const json_t *object, const char *const *keys, bool at_most,
                  bool at_least)
{
    char choices[SP_KEY_CHOICES] = "";
    const char *found = NULL;
    for (int i = 0; keys[i]; i++)
        sp_keys_offer(choices, keys[i]);
    for (int i = 0; keys[i]; i++)
        if (json_object_get(object, keys[i])) {
            if (found && at_most)
                return sp_keys_fail(reader, "%s and %s are there, expected at most one of %s", found, keys[i], choices);
            found = keys[i];
        }
    return found || !at_least ? SP_OK : sp_keys_fail(reader, "none of %s is there", choices);
}

int sp_keys_need(sp_key_reader *reader, const json_t *object, const char *key, const char *why)
{
    if (json_object_get(object, key))
        return SP_OK;
    sp_keys_down(reader, ".%s", key);
    return sp_keys_fail(reader, "it is missing, %s", why);
}

int sp_keys_load(sp_context *context, const char *text, int64_t count, json_t **root)
{
    json_error_t error;
    const bool mark = count >= 3 && !memcmp(text, "\xef\xbb\xbf", 3); /* a byte order mark */
    *root = sp_json_load(text + (mark ? 3 : 0), count - (mark ? 3 : 0), &error);
    if (*root)
        return SP_OK;
    if (sp_json_short(&error))
        return sp_fail_memory(context);
    for (char *at = error.text; *at; at++) /* the message quotes the file */
        if (*at < ' ' || *at > '~')
            *at = '?';
    return sp_fail(context, SP_INPUT, "line %d, column %d: %s", error.line, error.column, error.text);
}
