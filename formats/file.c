#include "formats/file.h"

#include "formats/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a reason if this text is too large to be parsed, else NULL. Brackets and commas are counted outside strings
 * only. */
static const char *excess(const char *text, int64_t count, int *line, int *column)
{
    enum { VALUES = 2000000, DEPTH = 64 };
    int64_t values = 1;
    int depth = 0;
    bool quoted = false;

    *line = 1;
    *column = 0;
    if (count > SP_JSON_BYTES)
        return "the text is longer than 64 MiB";

    for (int64_t i = 0; i < count; i++) {
        const char c = text[i];
        *line += c == '\n';
        *column = c == '\n' ? 0 : *column + 1;

        /* A backslash also passes over the next character, which may be a quote. */
        if (quoted && c == '\\') {
            i++;
            ++*column;
        } else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '[' || c == ',')) {
            depth += c != ',';
            if (depth > DEPTH)
                return "it is nested more than 64 levels deep";
            if (++values > VALUES)
                return "it has more than 2 million values";
        } else if (!quoted && (c == '}' || c == ']'))
            depth--;
    }
    return NULL;
}

json_t *sp_json_load(const char *text, int64_t count, json_error_t *error)
{
    int line, column;
    const char *why = excess(text, count, &line, &column);
    if (!why)
        return json_loadb(text, (size_t)count, JSON_REJECT_DUPLICATES, error);
    *error = (json_error_t){.line = line, .column = column};
    snprintf(error->text, sizeof error->text, "%s", why);
    return NULL;
}

bool sp_json_short(const json_error_t *error)
{
    static const char *const string[] = {"invalid token near '\"", "string or '}' expected near '\""};
    bool refused = false;
    for (int i = 0; i < 2; i++)
        refused |= !strncmp(error->text, string[i], strlen(string[i]));
    return refused || json_error_code(error) == json_error_out_of_memory || !*error->text;
}

int sp_json_from_member(sp_context *context, const sp_array *array, json_t **object)
{
    json_error_t error;
    *object = NULL;

    if (array->type != SP_U1 || array->rank != 1)
        return sp_fail(context, SP_INPUT, "%s is not a text (u1, one dimension)", array->name);

    *object = sp_json_load(array->data, array->count, &error);
    if (!*object && sp_json_short(&error))
        return sp_fail_memory(context);
    if (!*object)
        return sp_fail(context, SP_INPUT, "%s is not JSON: %s", array->name, error.text);

    if (!json_is_object(*object)) {
        json_decref(*object);
        *object = NULL;
        return sp_fail(context, SP_INPUT, "%s is not a JSON object", array->name);
    }
    return SP_OK;
}

/* The major version of "1.0", "1.12"; −1 for anything that is not two numbers with a point between them. */
static long version_major(const char *version)
{
    size_t major = strspn(version, "0123456789");
    size_t minor = version[major] == '.' ? strspn(version + major + 1, "0123456789") : 0;
    if (major < 1 || major > 6 || minor < 1 || version[major + 1 + minor])
        return -1;
    return strtol(version, NULL, 10);
}

static int check_kind(sp_context *context, const json_t *meta, const char *const *kinds)
{
    const char *kind, *version;

    SP_PASS(sp_json_text(context, meta, "kind", &kind));
    SP_PASS(sp_json_text(context, meta, "format_version", &version));
    if (version_major(version) != version_major(SP_FORMAT_VERSION))
        return sp_fail(context, SP_INPUT, "its format version is %.20s, this program reads %s", version,
                       SP_FORMAT_VERSION);

    if (!kinds)
        return SP_OK;
    for (int i = 0; kinds[i]; i++)
        if (!strcmp(kinds[i], kind))
            return SP_OK;

    char wanted[200] = "";
    for (int i = 0; kinds[i]; i++) {
        strncat(wanted, i ? " or " : "", sizeof wanted - strlen(wanted) - 1);
        strncat(wanted, kinds[i], sizeof wanted - strlen(wanted) - 1);
    }
    return sp_fail(context, SP_INPUT, "it is a file of kind %.40s, expected %s", kind, wanted);
    return SP_OK;
}

int sp_file_meta(sp_context *context, sp_reader *reader, const sp_array *first, const char *const *kinds, json_t **meta)
{
    *meta = NULL;
    if (strcmp(first->name, "meta"))
        return SP_OK;
    int status = sp_json_from_member(context, first, meta);
    if (status == SP_OK)
        status = check_kind(context, *meta, kinds);
    if (status != SP_OK) {
        json_decref(*meta);
        *meta = NULL;
    } else if (json_object_get(*meta, "tool"))
        sp_reader_stop_hashing(reader);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rejects two members of the same name, since two readers could use different ones. */
static int check_names(sp_context *context, const sp_list *list)
{
    const sp_array *arrays = list->data;
    const char **names = malloc((size_t)(list->count + 1) * sizeof *names);
    SP_PASS(sp_allocated(context, names));
    for (int64_t i = 0; i < list->count; i++)
        names[i] = arrays[i].name;
    qsort(names, (size_t)list->count, sizeof *names, by_name);
    int status = SP_OK;
    for (int64_t i = 1; i < list->count && status == SP_OK; i++)
        if (!strcmp(names[i - 1], names[i]))
            status = sp_fail(context, SP_INPUT, "member %s occurs twice", names[i]);
    free(names);
    return status;
}

int sp_file_hash(sp_context *context, sp_reader *reader, const json_t *meta, const json_t *result,
                 char hash[SP_HASH_LENGTH])
{
    sp_reader_hash(reader, hash);
    if (sp_reader_truncated(reader) || !json_object_get(meta, "tool"))
        return SP_OK;
    if (!result)
        return sp_fail(context, SP_INPUT, "its last member is not result: the file is cut short");
    int status = sp_json_hash(context, result, "sha256", hash);
    if (status == SP_OK && !hash[0])
        status = sp_fail(context, SP_INPUT, "result: \"sha256\" is missing");
    return status;
}

typedef bool wanted_members(void *data, const char *name);

static bool is_known(void *data, const char *name)
{
    return sp_member_known(sp_file_kind(data), name);
}

static bool is_any(void *data, const char *name)
{
    (void)data;
    (void)name;
    return true;
}

static int begin(sp_context *context, sp_reader *reader, const char *const *kinds, wanted_members *wanted,
                 sp_file *file, sp_array *first)
{
    *file = (sp_file){0};
    int status = sp_reader_next(reader, &file->members.pool, wanted, file, first);
    if (status == SP_OK)
        status = sp_file_meta(context, reader, first, kinds, &file->meta);
    if (status != SP_OK)
        sp_file_free(file);
    return status;
}

int sp_file_begin(sp_context *context, sp_reader *reader, const char *const *kinds, sp_file *file, sp_array *first)
{
    return begin(context, reader, kinds, is_known, file, first);
}

static int rest(sp_context *context, sp_reader *reader, const sp_array *first, bool foreign, wanted_members *wanted,
                sp_file *file)
{
    sp_list list = {0};
    sp_array array = *first;
    int status = SP_OK;

    for (; array.name[0] && status == SP_OK;
         status = sp_reader_next(reader, &file->members.pool, wanted, file, &array)) {
        if (file->result) {
            status = sp_fail(context, SP_INPUT, "member %s follows result, which must be the last", array.name);
            goto done;
        }

        sp_array *to = sp_list_add(&list, 1, sizeof array);
        SP_TRY(sp_allocated(context, to));
        *to = array;
        if (file->meta && !strcmp(array.name, "result"))
            SP_TRY(sp_json_from_member(context, &array, &file->result));
    }
    if (status != SP_OK)
        goto done;

    if (!file->meta && !foreign) {
        status = sp_fail(context, SP_INPUT, "it has no meta member: not written by Supple");
        goto done;
    }
    SP_TRY(check_names(context, &list));

    file->truncated = sp_reader_truncated(reader);
    file->members.count = list.count;
    file->members.arrays = sp_pool_copy(&file->members.pool, list.data, list.count, sizeof(sp_array));
    SP_TRY(sp_allocated(context, file->members.arrays));
    status = sp_file_hash(context, reader, file->meta, file->result, file->hash);
done:
    sp_list_free(&list);
    if (status != SP_OK)
        sp_file_free(file);
    return status;
}

int sp_file_rest(sp_context *context, sp_reader *reader, const sp_array *first, bool foreign, sp_file *file)
{
    return rest(context, reader, first, foreign, is_known, file);
}

static int read_all(sp_context *context, int descriptor, const char *const *kinds, bool foreign, bool partial,
                    wanted_members *wanted, sp_file *file)
{
    sp_reader *reader;
    sp_array first;
    *file = (sp_file){0};
    int status = sp_reader_open(context, descriptor, partial, &reader);
    if (status != SP_OK)
        return status;
    status = begin(context, reader, kinds, wanted, file, &first);
    if (status == SP_OK)
        status = rest(context, reader, &first, foreign, wanted, file);
    sp_reader_close(reader);
    return status;
}

int sp_file_read(sp_context *context, int descriptor, const char *const *kinds, bool foreign, bool partial,
                 sp_file *file)
{
    return read_all(context, descriptor, kinds, foreign, partial, is_known, file);
}

int sp_file_read_everything(sp_context *context, int descriptor, sp_file *file)
{
    return sp_file_read_some(context, descriptor, false, is_any, file);
}

int sp_file_read_some(sp_context *context, int descriptor, bool partial, wanted_members *wanted, sp_file *file)
{
    return read_all(context, descriptor, NULL, true, partial, wanted, file);
}

void sp_file_free(sp_file *file)
{
    sp_members_free(&file->members);
    json_decref(file->meta);
    json_decref(file->result);
    *file = (sp_file){0};
}

const char *sp_file_kind(const sp_file *file)
{
    const char *kind = json_string_value(json_object_get(file->meta, "kind"));
    return kind ? kind : "";
}

/* Returns NULL if out of memory. json_dumps leaves out a key if its buffer cannot grow; with a buffer of the right size
 * it need not grow. */
static char *print_json(const json_t *object)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17), length = json_dumpb(object, NULL, 0, flags);
    char *text = length ? malloc(length + 1) : NULL;
    if (text && json_dumpb(object, text, length, flags) != length) {
        free(text);
        return NULL;
    }
    if (text)
        text[length] = 0;
    return text;
}

static int write_json(sp_writer *writer, const char *name, const json_t *object)
{
    char *text = print_json(object);
    int status = sp_writer_text(writer, name, text); /* text may be NULL: out of memory */
    free(text);
    return status;
}

int sp_file_write_meta(sp_writer *writer, const json_t *meta)
{
    return write_json(writer, "meta", meta);
}

int sp_file_write_result(sp_writer *writer, json_t *result)
{
    char hash[SP_HASH_LENGTH];
    sp_writer_hash(writer, hash);
    if (json_object_set_new(result, "sha256", json_string(hash)))
        return sp_writer_text(writer, "result", NULL);
    return write_json(writer, "result", result);
}

int sp_json_text(sp_context *context, const json_t *object, const char *key, const char **text)
{
    *text = json_string_value(json_object_get(object, key));
    return *text ? SP_OK : sp_fail(context, SP_INPUT, "meta: \"%s\" is missing or not a string", key);
}

int sp_json_mass(sp_context *context, const json_t *meta, bool required, bool *lumped)
{
    const char *mass;
    *lumped = false;
    if (!required && !json_object_get(meta, "mass"))
        return SP_OK;
    SP_PASS(sp_json_text(context, meta, "mass", &mass));
    *lumped = !strcmp(mass, "lumped");
    if (!*lumped && strcmp(mass, "consistent"))
        return sp_fail(context, SP_INPUT, "meta: \"mass\" is \"%.40s\", expected consistent or lumped", mass);
    return SP_OK;
}

bool sp_json_set_mass(json_t *meta, bool lumped)
{
    return json_object_set_new(meta, "mass", json_string(lumped ? "lumped" : "consistent")) != 0;
}

int sp_json_number(sp_context *context, const json_t *object, const char *key, double *number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is missing or not a number", key);
    *number = json_number_value(value);
    return SP_OK;
}

int sp_json_numbers(sp_context *context, const json_t *object, const char *key, int64_t count, double *numbers)
{
    const json_t *array = json_object_get(object, key);
    if (!json_is_array(array) || (int64_t)json_array_size(array) != count)
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is not an array of %lld numbers", key, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            return sp_fail(context, SP_INPUT, "meta: \"%s\": entry %lld is not a number", key, (long long)i);
        numbers[i] = json_number_value(value);
    }
    return SP_OK;
}

int sp_json_integer(sp_context *context, const json_t *object, const char *key, int64_t low, int64_t high,
                    int64_t *number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is missing or not a whole number", key);
    *number = json_integer_value(value);
    if (*number < low || *number > high)
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is %lld, expected %lld to %lld", key, (long long)*number,
                       (long long)low, (long long)high);
    return SP_OK;
}

int sp_json_hash(sp_context *context, const json_t *object, const char *key, char hash[SP_HASH_LENGTH])
{
    const json_t *value = json_object_get(object, key);
    const char *text = value ? json_string_value(value) : "";
    hash[0] = 0;
    if (!text ||
        (*text && (strlen(text) != SP_HASH_LENGTH - 1 || strspn(text, "0123456789abcdef") != SP_HASH_LENGTH - 1)))
        return sp_fail(context, SP_INPUT, "\"%s\" is not a hash of %d hexadecimal digits", key, SP_HASH_LENGTH - 1);
    strcpy(hash, text);
    return SP_OK;
}

json_t *sp_json_from_numbers(int64_t count, const double *numbers)
{
    json_t *array = json_array();
    bool failed = !array;
    for (int64_t i = 0; i < count; i++)
        failed |= json_array_append_new(array, json_real(numbers[i])) != 0;
    if (failed) {
        json_decref(array);
        return NULL;
    }
    return array;
}
