#include "tools/info/summary.h"

#include "formats/kinds.h"
#include "formats/plain.h"
#include "tools/info/script.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *summary_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void summary_print_start(const char *text, int most, FILE *stream)
{
    char start[48];
    snprintf(start, sizeof start, "%.*s", most, text);
    sp_print_plain(start, stream);
}

/* The number of a block in "q/000012", −1 for a name that is no block of a series; *stem is the length of "q/". */
static long block_number(const char *name, size_t *stem)
{
    const char *slash = strrchr(name, '/');
    if (!slash || strlen(slash + 1) < 6 || strspn(slash + 1, "0123456789") != strlen(slash + 1))
        return -1;
    *stem = (size_t)(slash - name) + 1;
    return strtol(slash + 1, NULL, 10);
}

static bool in_blocks(const char *name)
{
    const sp_kind *kind = sp_kind_find(name);
    return kind == &sp_kind_trajectory || kind == &sp_kind_scene_trajectory || kind == &sp_kind_ensemble;
}

/* ---- members ---- */

static const char *type_name(const sp_array *member, char text[24])
{
    if (member->type == SP_BYTES)
        snprintf(text, 24, "S%d", member->size);
    else
        snprintf(text, 24, "%s", member->type < SP_BYTES ? sp_type_word(member->type) : "other");
    return text;
}

/* rule: of the table of the kind, NULL where it has none for this member. */
static void print_member(const char *name, const sp_array *member, const sp_member_rule *rule, int64_t first_extent,
                         int64_t bytes, int width, FILE *stream)
{
    char type[24], shape[120] = "";
    for (int i = 0; i < member->rank; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", i ? ", " : "",
                 (long long)(i ? member->shape[i] : first_extent));
    strncat(shape, member->rank == 1 ? ",)" : ")", sizeof shape - strlen(shape) - 1);
    fprintf(stream, "  %-*s  %-5s (%-18s %-7s %14lld bytes", width, name, type_name(member, type), shape,
            member->rank < 2  ? ""
            : member->fortran ? "Fortran"
                              : "C",
            (long long)bytes);
    if (rule)
        fprintf(stream, rule->unit ? "  %s [%s]" : "  %s", rule->meaning, rule->unit);
    putc('\n', stream);
}

void summary_members(const info_file *info, bool joined, FILE *stream)
{
    const sp_kind *kind = sp_kind_find(sp_file_kind(&info->file));
    size_t stem, other;
    int width = 4;

    for (int64_t i = 0; i < info->member_count; i++)
        if (!joined || block_number(info->members[i].name, &stem) <= 0)
            width = (int)strlen(info->members[i].name) > width ? (int)strlen(info->members[i].name) : width;
    width += joined ? 5 : 0;

    for (int64_t i = 0; i < info->member_count; i++) {
        const sp_array *member = &info->members[i];
        long block = joined ? block_number(member->name, &stem) : -1;
        int64_t extent = member->rank ? member->shape[0] : 0, bytes = member->count * member->size, blocks = 1;
        if (block > 0)
            continue;

        if (block == 0)
            for (int64_t j = i + 1; j < info->member_count; j++)
                if (block_number(info->members[j].name, &other) > 0 && other == stem &&
                    !strncmp(member->name, info->members[j].name, stem)) {
                    extent += info->members[j].rank ? info->members[j].shape[0] : 0;
                    bytes += info->members[j].count * info->members[j].size;
                    blocks++;
                }

        char name[SP_MEMBER_NAME + 8];
        if (block == 0 && blocks > 1)
            snprintf(name, sizeof name, "%.*s* x%lld", (int)stem, member->name, (long long)blocks);
        else
            snprintf(name, sizeof name, "%s", member->name);
        print_member(name, member, kind ? sp_kind_rule(kind, member->name) : NULL, extent, bytes, width, stream);
    }
}

json_t *summary_json(const info_file *info)
{
    json_t *all = json_object(), *members = json_array();

    for (int64_t i = 0; i < info->member_count; i++) {
        const sp_array *member = &info->members[i];
        char type[24];
        json_t *shape = json_array();

        for (int j = 0; j < member->rank; j++)
            json_array_append_new(shape, json_integer(member->shape[j]));
        json_array_append_new(members,
                              json_pack("{s:s, s:s, s:o, s:b, s:I}", "name", member->name, "type",
                                        type_name(member, type), "shape", shape, "fortran_order", (int)member->fortran,
                                        "bytes", (json_int_t)(member->count * member->size)));
    }

    json_object_set_new(all, "sha256", json_string(info->file.hash));
    json_object_set(all, "meta", info->file.meta ? info->file.meta : json_null());
    json_object_set(all, "result", info->file.result ? info->file.result : json_null());
    json_object_set_new(all, "members", members);
    return all;
}

/* ---- how it was made ---- */

static int print_command(sp_context *context, const json_t *entry, FILE *stream)
{
    const json_t *seed = json_object_get(entry, "seed");
    sp_print_plain(summary_text_of(entry, "tool"), stream);
    putc(' ', stream);
    sp_print_plain(summary_text_of(entry, "version"), stream);
    int status = script_options(context, json_object_get(entry, "parameters"), true, stream);
    if (json_is_integer(seed))
        fprintf(stream, " --seed %lld", (long long)json_integer_value(seed));
    if (*summary_text_of(entry, "output"))
        fprintf(stream, " (its --%s)", summary_text_of(entry, "output"));
    putc('\n', stream);
    return status;
}

static int print_making(sp_context *context, const json_t *meta, FILE *stream)
{
    size_t i;
    json_t *input;
    const char *hash;

    if (!*summary_text_of(meta, "tool"))
        return SP_OK;
    fputs("made by   ", stream);
    SP_PASS(print_command(context, meta, stream));

    json_array_foreach(json_object_get(meta, "inputs"), i, input)
    {
        const json_t *ancestor = json_object_get(json_object_get(meta, "history"), summary_text_of(input, "sha256"));
        const char *named =
            *summary_text_of(input, "option") ? summary_text_of(input, "option") : summary_text_of(input, "via");

        fputs(i ? "          " : "from      ", stream);
        sp_print_plain(summary_text_of(input, "name"), stream);
        fputs("  ", stream);
        summary_print_start(summary_text_of(input, "sha256"), 12, stream);
        if (*named) {
            fputs(*summary_text_of(input, "option") ? " (--" : " (", stream);
            summary_print_start(named, 40, stream);
            putc(')', stream);
        }

        if (ancestor) {
            fputs("  ", stream);
            summary_print_start(summary_text_of(ancestor, "kind"), 40, stream);
            fputs(" by ", stream);
            summary_print_start(summary_text_of(ancestor, "tool"), 40, stream);
        }
        putc('\n', stream);
    }

    bool first = true;
    json_object_foreach(json_object_get(meta, "history"), hash, input)
    {
        fputs(first ? "history   " : "          ", stream);
        summary_print_start(hash, 12, stream);
        fputs("  ", stream);
        first = false;
        SP_PASS(print_command(context, input, stream));
    }
    return SP_OK;
}

/* Numbers with their units, and words; long lists by their length. */
static void print_result(const json_t *result, const sp_kind *kind, FILE *stream)
{
    const char *key;
    json_t *value;
    size_t i;
    bool first = true;
    json_object_foreach((json_t *)result, key, value)
    {
        if (!strcmp(key, "sha256") || !strcmp(key, "warnings") || json_is_null(value))
            continue;
        char *text = json_is_array(value) && json_array_size(value) > 8
                         ? NULL
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));

        fputs(first ? "result    " : "          ", stream);
        sp_print_plain(key, stream);
        putc(' ', stream);

        if (text)
            sp_print_plain(text, stream);
        else
            fprintf(stream, "[%lld values]", (long long)json_array_size(value));

        const sp_fact *fact = kind ? sp_fact_find(kind->result, key) : NULL;
        if (fact && fact->unit)
            fprintf(stream, " %s", fact->unit);
        putc('\n', stream);
        first = false;
        free(text);
    }

    json_array_foreach(json_object_get(result, "warnings"), i, value)
    {
        fputs("warning   ", stream);
        sp_print_plain(json_string_value(value) ? json_string_value(value) : "", stream);
        putc('\n', stream);
    }
}

int summary_print(sp_context *context, info_file *info, const char *path, FILE *stream)
{
    const json_t *meta = info->file.meta;
    char kind[48];

    snprintf(kind, sizeof kind, "%s", sp_file_kind(&info->file));
    sp_print_plain(path, stream);
    fputs(": ", stream);
    sp_print_plain(meta ? kind : "arrays without meta, not written by Supple", stream);

    if (meta) {
        fputs(", format ", stream);
        summary_print_start(summary_text_of(meta, "format_version"), 20, stream);
    }

    fprintf(stream, "\nhash      %s%s\n", info->file.hash,
            info->file.truncated ? " (of what could be read: the file is cut)" : "");
    SP_PASS(print_making(context, meta, stream));

    for (int i = 0; i < 3; i++) {
        static const char *const keys[] = {"mesh", "basis", "scene"};
        if (*summary_text_of(meta, keys[i])) {
            fprintf(stream, "%-8s  of hash ", keys[i]);
            summary_print_start(summary_text_of(meta, keys[i]), 12, stream);
            putc('\n', stream);
        }
    }

    SP_PASS(summary_of_kind(context, info, stream));
    print_result(info->file.result, sp_kind_find(kind), stream);
    fputs("members\n", stream);
    summary_members(info, in_blocks(kind), stream);
    return SP_OK;
}
