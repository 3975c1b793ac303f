#include "tools/info/script.h"

#include "base/memory.h"
#include "formats/plain.h"
#include "tools/common/shell.h"
#include "tools/info/script_words.h"

#include <stdlib.h>
#include <string.h>

enum { PATH = 600, DEEPEST = 2000, MOST = 20000, FOLDER = 16 + 3 * SCRIPT_UPWARDS };
static const char STDIN_NAME[] = "standard input";

/* A file of the script. Several places may have the same hash: copies under another name. */
typedef struct place {
    const char *hash;
    char path[PATH];
    struct place *next, *last; /* the copies, in order; of the first place with the hash, the last of them */
} place;

/* An ancestor that a program made, or the file itself. */
typedef struct node {
    const char *hash;
    const json_t *entry;
    int64_t run;      /* the first node of the same command */
    int64_t next;     /* the next node of the same command, -1: none */
    const char *path; /* of its output; of the first place with its hash */
} node;

/* A file that nobody made: it has to be there. */
typedef struct raw {
    const char *hash;
    bool archive;
} raw;

typedef struct script {
    sp_context *context;
    const char *tools;
    json_t *history;
    json_t *seen;   /* hash → true while being visited, false when done; null of a file that nobody made */
    json_t *paths;  /* path → its number in `places` */
    json_t *hashes; /* hash → number of the first place with it */
    sp_pool pool;
    sp_list nodes;  /* node, inputs before what is made of them */
    sp_list raws;   /* raw */
    sp_list places; /* place * */
    /* Of the inputs from `first` to `end` (excluded) of an entry, a file and those that it names, the folder; of all of
     * them the first that is standard input. */
    struct {
        const json_t *inputs;
        size_t first, end, piped;
        char folder[FOLDER];
    } group;
    FILE *stream;
} script;

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- the ancestors in order ---- */

static bool knows_tool(const char *tools, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (length == 0)
        return false;

    for (const char *at = tools; (at = strstr(at, name)); at += length)
        if ((at == tools || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* The log of a server has what its clients sent, which no command repeats: it has to be there. */
static bool is_recording(const json_t *entry)
{
    const char *tool = text_of(entry, "tool");
    return tool && !strcmp(tool, "simserve");
}

static int check_entry(script *s, const char *hash, const json_t *entry)
{
    const char *tool = text_of(entry, "tool"), *output = text_of(entry, "output");
    size_t i;
    json_t *input;

    if (!tool || !json_is_array(json_object_get(entry, "inputs")))
        return sp_fail(s->context, SP_INPUT, "it does not say how %.12s… was made", hash);
    if (!script_is_option(tool) || !knows_tool(s->tools, tool))
        return sp_fail(s->context, SP_INPUT, "%.12s… was made by \"%.40s\", which is not known here", hash, tool);
    if (is_recording(entry))
        return sp_fail(s->context, SP_INPUT, "%.12s… has what clients sent to simserve, which no script can repeat",
                       hash);

    if (output && !script_is_output(output))
        return sp_fail(s->context, SP_INPUT, "%.12s…: \"%.40s\" is not an option that writes a file", hash, output);

    json_array_foreach(json_object_get(entry, "inputs"), i, input)
    {
        const char *name = text_of(input, "name"), *option = text_of(input, "option"), *via = text_of(input, "via");
        if (script_is_hash(text_of(input, "sha256")) && via && name && !script_is_name(name, true) &&
            strstr(name, ".."))
            return sp_fail(
                s->context, SP_INPUT,
                "%.12s…: no script can put the input \"%.100s\" anywhere: .. may only stand at the start of a path",
                hash, name);
        if (!script_is_hash(text_of(input, "sha256")) || !script_is_name(name, via != NULL))
            return sp_fail(s->context, SP_INPUT, "%.12s…: input %lld has no usable name or hash", hash,
                           (long long)i + 1);
        if (option && !script_reads(option))
            return sp_fail(s->context, SP_INPUT, "%.12s…: \"%.40s\" is not an option that reads a file", hash, option);
    }
    return SP_OK;
}

static int add_raw(script *s, const char *hash, bool archive)
{
    if (json_object_get(s->seen, hash))
        return SP_OK;
    raw *to = sp_list_add(&s->raws, 1, sizeof *to);
    if (!to || json_object_set_new(s->seen, hash, json_null()))
        return sp_fail_memory(s->context);
    *to = (raw){hash, archive};
    return SP_OK;
}

/* Depth first: a node is listed behind all its inputs. */
static int visit(script *s, const char *hash, const json_t *entry, int depth)
{
    const json_t *state = json_object_get(s->seen, hash);
    size_t i;
    json_t *input;

    if (json_is_false(state))
        return SP_OK;
    if (state || depth > DEEPEST || s->nodes.count == MOST)
        return sp_fail(s->context, SP_INPUT,
                       state ? "its history goes in a circle at %.12s…" : "its history is too long at %.12s…", hash);

    if (json_object_set_new(s->seen, hash, json_true()))
        return sp_fail_memory(s->context);

    SP_PASS(check_entry(s, hash, entry));
    json_array_foreach(json_object_get(entry, "inputs"), i, input)
    {
        const char *of = text_of(input, "sha256");
        const json_t *ancestor = json_object_get(s->history, of);
        if (ancestor && !is_recording(ancestor))
            SP_PASS(visit(s, of, ancestor, depth + 1));
        else
            SP_PASS(add_raw(s, of, ancestor || json_is_true(json_object_get(input, "archive"))));
    }

    node *to = sp_list_add(&s->nodes, 1, sizeof *to);
    if (!to || json_object_set_new(s->seen, hash, json_false()))
        return sp_fail_memory(s->context);

    *to = (node){.hash = hash, .entry = entry, .next = -1};
    return SP_OK;
}

/* What makes two entries the same command, by an option for each, as text. NULL: no memory. */
static char *command_text(const json_t *entry)
{
    static const char *const keys[] = {"tool", "version", "parameters", "seed", "inputs"};
    json_t *command = json_object();
    bool failed = !command;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *value = json_object_get(entry, keys[i]);
        if (value)
            failed |= json_object_set(command, keys[i], value) != 0;
    }
    char *text = failed ? NULL : json_dumps(command, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(command);
    return text;
}

/* The number under a key of two texts and one more, which is made where it is not there. NULL: no memory. */
static json_t *number_of(json_t *numbers, const char *command, const char *output, int64_t run, int64_t otherwise)
{
    const size_t length = strlen(command) + strlen(output) + 32;
    char *key = malloc(length);
    if (!key)
        return NULL;
    snprintf(key, length, "%s %s %lld", command, output, (long long)run);
    json_t *number = json_object_get(numbers, key);
    if (!number && json_object_set_new(numbers, key, json_integer(otherwise)) == 0)
        number = json_object_get(numbers, key);
    free(key);
    return number;
}

/* Nodes of the same command with different outputs are one run; where they have the same, the second of each belongs to
 * the second run, and so on. */
static int find_runs(script *s)
{
    node *nodes = s->nodes.data;
    json_t *numbers = json_object();
    int status = sp_allocated(s->context, numbers);

    for (int64_t i = 0; i < s->nodes.count && status == SP_OK; i++) {
        const char *output = text_of(nodes[i].entry, "output");
        char *command = command_text(nodes[i].entry);
        json_t *count = command ? number_of(numbers, command, output ? output : "output", -1, 0) : NULL;
        json_t *run = count ? number_of(numbers, command, "", json_integer_value(count), i) : NULL;
        json_t *last = run ? number_of(numbers, command, "last", json_integer_value(count), i) : NULL;

        free(command);
        if (!last) {
            status = sp_fail_memory(s->context);
            break;
        }

        nodes[i].run = json_integer_value(run);
        if (nodes[i].run != i)
            nodes[json_integer_value(last)].next = i;
        json_integer_set(last, i);
        json_integer_set(count, json_integer_value(count) + 1);
    }

    json_decref(numbers);
    return status;
}

/* ---- names ---- */

static const place *find_place(const script *s, const json_t *index, const char *key)
{
    const json_t *number = json_object_get(index, key);
    return number ? ((place *const *)s->places.data)[json_integer_value(number)] : NULL;
}

static const place *find_path(const script *s, const char *path)
{
    return find_place(s, s->paths, path);
}

static const place *find_first(const script *s, const char *hash)
{
    return find_place(s, s->hashes, hash);
}

/* Where a name leads from a folder, as far down as it begins upwards. */
static void join(const char *folder, const char *name, char path[PATH])
{
    size_t length = strlen(folder);
    for (; !strncmp(name, "../", 3); name += 3) {
        if (length > 0)
            length--;
        while (length > 0 && folder[length - 1] != '/')
            length--;
    }
    snprintf(path, PATH, "%.*s%s", (int)length, folder, name);
}

static bool is_free(const script *s, const char *hash, const char *folder, const char *name)
{
    char path[PATH];
    join(folder, name, path);
    const place *there = find_path(s, path);
    return !there || !strcmp(there->hash, hash);
}

/* The path of a file with this name: in `folder` or, if another file has that path, in a folder of its own. */
static int put(script *s, const char *hash, const char *folder, const char *name, const char **path)
{
    char own[16];

    snprintf(own, sizeof own, "%.12s/", hash);
    if (script_upwards(name) == 0 && !is_free(s, hash, folder, name))
        folder = own;
    if (!is_free(s, hash, folder, name))
        return sp_fail(s->context, SP_INPUT, "two of its ancestors cannot be told apart: %.60s, %.12s…", name, hash);

    place *to = sp_pool_new(&s->pool, 1, sizeof *to);
    SP_PASS(sp_allocated(s->context, to));
    to->hash = hash;
    join(folder, name, to->path);

    const place *there = find_path(s, to->path);
    if (!there) {
        place **entry = sp_list_add(&s->places, 1, sizeof *entry);
        if (!entry || json_object_set_new(s->paths, to->path, json_integer(s->places.count - 1)))
            return sp_fail_memory(s->context);
        *entry = to;

        const json_t *first = json_object_get(s->hashes, hash);
        if (first) {
            place *of = ((place **)s->places.data)[json_integer_value(first)];
            of->last->next = to;
            of->last = to;
        } else {
            to->last = to;
            if (json_object_set_new(s->hashes, hash, json_integer(s->places.count - 1)))
                return sp_fail_memory(s->context);
        }
        there = to;
    }

    *path = there->path;
    return SP_OK;
}

/* The folder of an input: that of the file which names it, or which names others. `folder` is "" or ends with a slash.
 * What names a file is the last input before it that is not named by another itself. It stands as deep as its names
 * lead upwards. */
static void find_folder(script *s, const json_t *inputs, size_t number)
{
    if (s->group.inputs == inputs && s->group.first <= number && number < s->group.end)
        return;
    if (s->group.inputs != inputs)
        for (s->group.piped = 0; s->group.piped < json_array_size(inputs); s->group.piped++)
            if (!strcmp(text_of(json_array_get(inputs, s->group.piped), "name"), STDIN_NAME))
                break;

    size_t first = number, end = number + 1;
    bool clash = false, has_via = false;
    int up = 0;
    char *const folder = s->group.folder;
    folder[0] = 0;

    while (first > 0 && text_of(json_array_get(inputs, first), "via"))
        first--;
    while (end < json_array_size(inputs) && text_of(json_array_get(inputs, end), "via"))
        end++;
    s->group.inputs = inputs;
    s->group.first = first;
    s->group.end = end;

    if (text_of(json_array_get(inputs, first), "via"))
        return;

    for (size_t i = first; i < end; i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = text_of(input, "name");
        has_via |= i > first;
        if (i > first && script_upwards(name) > up)
            up = script_upwards(name);
        clash |= end > first + 1 && !is_free(s, text_of(input, "sha256"), "", name);
    }

    /* A folder of its own, with as many folders in it as the names lead upwards. */
    if (!has_via || !(clash || up > 0))
        return;
    int length = snprintf(folder, FOLDER, "%.12s/", text_of(json_array_get(inputs, first), "sha256"));
    for (; up > 0; up--)
        length += snprintf(folder + length, FOLDER - (size_t)length, "in/");
}

/* The path of an input of an entry, and whether it is read from standard input, which only the first such input can
 * be. */
static int put_input(script *s, const json_t *entry, size_t number, const char **path, bool *piped)
{
    const json_t *inputs = json_object_get(entry, "inputs"), *input = json_array_get(inputs, number);
    const char *hash = text_of(input, "sha256"), *name = text_of(input, "name");
    char piped_name[80];
    find_folder(s, inputs, number);
    *piped = number == s->group.piped && !text_of(input, "via");
    if (*piped) {
        const char *kind = text_of(json_object_get(s->history, hash), "kind");
        snprintf(piped_name, sizeof piped_name, kind && script_is_option(kind) ? "%.60s.npz" : "standard-input", kind);
        name = piped_name;
    }
    return put(s, hash, s->group.folder, name, path);
}

/* All files get their paths: first those that have to be there, then the file itself, then what lies between. */
static int put_all(script *s, const char *hash, const char *name)
{
    const char *path;
    bool piped;
    node *nodes = s->nodes.data;

    for (int pass = 0; pass < 2; pass++) {
        s->group.inputs = NULL; /* more names are taken than in the first */
        for (int64_t n = 0; n < s->nodes.count; n++) {
            size_t i;
            json_t *input;
            json_array_foreach(json_object_get(nodes[n].entry, "inputs"), i,
                               input) if ((json_object_get(s->history, text_of(input, "sha256")) != NULL) ==
                                          (pass == 1)) SP_PASS(put_input(s, nodes[n].entry, i, &path, &piped));
        }
        if (pass == 0)
            SP_PASS(put(s, hash, "", script_is_name(name, false) && strcmp(name, "-") ? name : "output.npz", &path));
    }

    s->group.inputs = NULL;
    for (int64_t n = 0; n < s->nodes.count; n++)
        nodes[n].path = find_first(s, nodes[n].hash)->path;
    return SP_OK;
}

/* ---- text ---- */

/* A path is never taken for an option. */
static void print_path(const char *path, FILE *stream)
{
    char word[PATH + 2];
    snprintf(word, sizeof word, "%s%s", *path == '-' ? "./" : "", path);
    putc(' ', stream);
    tool_shell_word(word, stream);
}

static bool print_value(const json_t *value, FILE *stream)
{
    char text[TOOL_SHELL_REAL] = "";
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));

    if (json_is_real(value))
        tool_shell_real(json_real_value(value), text);
    const char *word = json_is_string(value) ? json_string_value(value) : text;
    if (!*word || !sp_is_plain(word))
        return false;
    tool_shell_word(word, stream);
    return true;
}

/* For people: what no option has, with "?" for characters that a terminal would obey. */
static void show_value(const json_t *value, FILE *stream)
{
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    sp_print_plain(text ? text : json_is_string(value) ? json_string_value(value) : "?", stream);
    free(text);
}

int script_options(sp_context *context, const json_t *parameters, bool shown, FILE *stream)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)parameters, name, value)
    {
        const bool usable = script_is_option(name) && script_may_be_recorded(name, value);
        if (!usable && !shown)
            return sp_fail(context, SP_INPUT, "its parameter \"%.40s\" is not an option that programs record", name);
        if (json_is_false(value) || json_is_null(value) || script_is_keyed(name))
            continue;
        size_t count = json_is_array(value) ? json_array_size(value) : 1;
        for (size_t i = 0; i < count; i++) {
            const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
            fputs(" --", stream);
            sp_print_plain(name, stream);
            if (json_is_true(value))
                continue;
            putc(' ', stream);
            if (print_value(one, stream))
                continue;
            if (shown)
                show_value(one, stream);
            else
                return sp_fail(context, SP_INPUT, "its parameter \"%.40s\" is no option's value", name);
        }
    }
    return SP_OK;
}

static void print_folder(const char *path, FILE *stream)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH];
    if (!slash)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    fputs("mkdir -p", stream);
    print_path(folder, stream);
    putc('\n', stream);
}

static void print_copies(const script *s, const char *hash)
{
    const place *first = find_first(s, hash);
    for (const place *copy = first->next; copy; copy = copy->next) {
        print_folder(copy->path, s->stream);
        fputs("cp", s->stream);
        print_path(first->path, s->stream);
        print_path(copy->path, s->stream);
        putc('\n', s->stream);
    }
}

/* KEY=PATH of input `number`, which is the first, second … of its option, as its key is of the parameter. */
static int print_keyed(script *s, const json_t *entry, size_t number, const char *path)
{
    const json_t *inputs = json_object_get(entry, "inputs");
    const char *option = text_of(json_array_get(inputs, number), "option");
    size_t before = 0;

    for (size_t i = 0; i < number; i++) {
        const char *other = text_of(json_array_get(inputs, i), "option");
        before += other && !strcmp(other, option);
    }

    const json_t *keys = json_object_get(json_object_get(entry, "parameters"), option);
    const char *key = json_string_value(json_array_get(keys, before));
    char word[2 * PATH];
    if (!key || !sp_is_plain(key) || strlen(key) >= PATH)
        return sp_fail(s->context, SP_INPUT, "its parameter \"%.40s\" has no word for each file", option);

    snprintf(word, sizeof word, "%s=%s", key, path);
    putc(' ', s->stream);
    tool_shell_word(word, s->stream);
    return SP_OK;
}

static int print_run(script *s, int64_t run)
{
    const node *nodes = s->nodes.data;
    const json_t *entry = nodes[run].entry, *inputs = json_object_get(entry, "inputs"),
                 *seed = json_object_get(entry, "seed");
    const char *path, *stdin_path = NULL;
    bool piped, has_main = false;
    size_t i;
    json_t *input;

    for (int64_t n = run; n >= run; n = nodes[n].next)
        print_folder(nodes[n].path, s->stream);

    fputs(text_of(entry, "tool"), s->stream);
    for (int options = 0; options < 2; options++)
        json_array_foreach(inputs, i, input)
        {
            const char *option = text_of(input, "option");
            if ((option != NULL) != (options == 1) || text_of(input, "via"))
                continue;
            SP_PASS(put_input(s, entry, i, &path, &piped));
            if (option)
                fprintf(s->stream, " --%s", option);
            if (option && script_is_keyed(option)) {
                SP_PASS(print_keyed(s, entry, i, piped ? "-" : path));
            } else if (piped)
                fputs(" -", s->stream);
            else
                print_path(path, s->stream);
            if (piped)
                stdin_path = path; /* the name that was recorded is that of a pipe */
        }
    SP_PASS(script_options(s->context, json_object_get(entry, "parameters"), false, s->stream));
    if (json_is_integer(seed))
        fprintf(s->stream, " --seed %lld", (long long)json_integer_value(seed));

    for (int64_t n = run; n >= run; n = nodes[n].next) {
        const char *option = text_of(nodes[n].entry, "output");
        has_main |= !option;
        fprintf(s->stream, " %s%s", option ? "--" : "-o", option ? option : "");
        print_path(nodes[n].path, s->stream);
    }

    if (!has_main)
        fputs(" -o /dev/null", s->stream);

    if (stdin_path) {
        fputs(" <", s->stream);
        print_path(stdin_path, s->stream);
    }
    putc('\n', s->stream);

    for (int64_t n = run; n >= run; n = nodes[n].next)
        print_copies(s, nodes[n].hash);
    return SP_OK;
}

static int print_head(const script *s, const char *hash)
{
    json_t *told = json_object();
    int status = sp_allocated(s->context, told);

    const raw *raws = s->raws.data;
    const node *nodes = s->nodes.data, *last = &nodes[s->nodes.count - 1];
    fputs("#!/bin/sh\n# Remakes ", s->stream);
    sp_print_plain(last->path, s->stream);
    fprintf(s->stream, ", hash %s.\n", hash);

    for (int64_t n = 0; n < s->nodes.count; n++) {
        const char *version = text_of(nodes[n].entry, "version");
        if (!version || json_object_get(told, version))
            continue;
        if (json_object_set_new(told, version, json_true()))
            status = sp_fail_memory(s->context);
        fputs("# It was made with Supple ", s->stream);
        sp_print_plain(version, s->stream);
        fputs(".\n", s->stream);
    }

    if (s->raws.count)
        fputs("# Inputs that have to be in this folder, with their SHA-256:\n", s->stream);
    for (int64_t i = 0; i < s->raws.count; i++) {
        fprintf(s->stream, "#   %s  ", raws[i].hash);
        sp_print_plain(find_first(s, raws[i].hash)->path, s->stream);
        fputs(raws[i].archive ? "  (of its members)\n" : "\n", s->stream);
    }

    fputs(
        "set -e\n"
        "check() { # FILE EXPECTED FOUND\n"
        "    [ \"$2\" = \"$3\" ] || { printf '%s: its hash is %s, expected %s\\n' \"$1\" \"$3\" \"$2\" >&2; exit 3; }\n"
        "}\n",
        s->stream);

    json_decref(told);
    return status;
}

static void print_check(const char *path, const char *hash, bool archive, FILE *stream)
{
    fputs("check", stream);
    print_path(path, stream);
    fprintf(stream, " %s \"$(%s", hash, archive ? "siminfo --hash" : "sha256sum <");
    print_path(path, stream);
    fputs(archive ? ")\"\n" : " | cut -c 1-64)\"\n", stream);
}

int script_write(sp_context *context, const json_t *meta, const char *hash, const char *name, const char *tools,
                 FILE *stream)
{
    char *text = NULL;
    size_t length = 0;
    script s = {.context = context,
                .tools = tools,
                .stream = open_memstream(&text, &length),
                .seen = json_object(),
                .paths = json_object(),
                .hashes = json_object()};

    s.history = json_object_get(meta, "history");
    int status = sp_allocated(context, s.stream);
    SP_TRY(status);

    SP_TRY(visit(&s, hash, meta, 0));
    SP_TRY(find_runs(&s));
    SP_TRY(put_all(&s, hash, name));
    SP_TRY(print_head(&s, hash));

    const raw *raws = s.raws.data;
    const node *nodes = s.nodes.data;
    for (int64_t i = 0; i < s.raws.count; i++) {
        print_check(find_first(&s, raws[i].hash)->path, raws[i].hash, raws[i].archive, s.stream);
        print_copies(&s, raws[i].hash);
    }

    for (int64_t n = 0; n < s.nodes.count; n++)
        if (nodes[n].run == n)
            SP_TRY(print_run(&s, n));
    print_check(nodes[s.nodes.count - 1].path, hash, true, s.stream);

    /* Nothing of a script that cannot be finished is written. */
    if (fflush(s.stream) || ferror(s.stream))
        status = sp_fail_memory(context);
    else
        fwrite(text, 1, length, stream);
done:
    if (s.stream)
        fclose(s.stream);
    free(text);
    sp_list_free(&s.nodes);
    sp_list_free(&s.raws);
    sp_list_free(&s.places);
    sp_pool_free(&s.pool);
    json_decref(s.seen);
    json_decref(s.paths);
    json_decref(s.hashes);
    return status;
}
