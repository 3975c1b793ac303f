#include "tools/common/internal.h"

#include "tools/process/blas.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool quiet_flag;

static const tool_option common_options[] = {
    {"output", 'o', TOOL_WRITTEN, &tool.output, "FILE", NULL, .help = "the file to write; - is standard output",
     .silent = true},
    {"threads", 't', TOOL_INTEGER, &tool.threads, "N", NULL, .low = 1, .high = 1024,
     .help = "threads (default: the allowed cores, at most 64)", .silent = true},
    {"seed", 0, TOOL_INTEGER, &tool.seed, "N", "1", .low = 0, .high = 9007199254740992.0,
     .help = "seed of random choices", .silent = true},
    {"quiet", 'q', TOOL_FLAG, &quiet_flag, .help = "no progress, no remarks; errors only", .silent = true},
};

struct tool_all_options tool_all;

static void add_options(const tool_table *table)
{
    for (int i = 0; i < table->count; i++) {
        tool_option option = table->options[i];
        assert(tool_all.count < TOOL_OPTIONS_MOST);

        if (table->base) {
            option.target = (char *)table->base + option.at;
            option.given = option.given_at ? (bool *)((char *)table->base + option.given_at) : NULL;
        }

        tool_all.title[tool_all.count] = table->title;
        tool_all.also[tool_all.count] = table->only;
        tool_all.option[tool_all.count++] = option;
    }
}

/* The service of a program that its option of this letter belongs to; 0: every program has it. */
static int service_of(char letter)
{
    switch (letter) {
    case 'o':
        return TOOL_OUTPUT;
    case 't':
        return TOOL_THREADS;
    case 'q':
        return 0;
    default:
        return TOOL_SEED;
    }
}

static void collect_options(void)
{
    const tool_spec *spec = tool.spec;

    add_options(&(tool_table){"Options", spec->options, spec->option_count, NULL, NULL});
    if (spec->tables)
        for (const tool_table *table = spec->tables; table->options; table++)
            add_options(table);

    const char *title = spec->tables ? "Common options" : "Options";
    for (int i = 0; i < TOOL_COUNT(common_options); i++) {
        const int needs = service_of(common_options[i].letter);
        if (!needs || spec->common & needs)
            add_options(&(tool_table){title, &common_options[i], 1, NULL, needs == TOOL_SEED ? spec->seed_only : NULL});
    }
}

/* NULL at the end. */
const tool_option *tool_option_at(int i)
{
    return i < tool_all.count ? &tool_all.option[i] : NULL;
}

static bool names_files(const tool_option *option)
{
    return option->type == TOOL_INPUT || option->type == TOOL_INPUTS;
}

bool tool_option_repeats(const tool_option *option)
{
    return option->type == TOOL_TEXTS || option->type == TOOL_INPUTS || option->type == TOOL_KEYED;
}

/* Numbers are recorded as numbers, the rest as text, repeated ones as an array. Files are recorded as inputs instead.
 */
static void record(const tool_option *option, const char *text)
{
    if (option->silent || names_files(option))
        return;

    json_t *value;
    const char *last = text;

    if (option->type == TOOL_KEYED) {
        const tool_keyed *keyed = option->target;
        last = keyed->key[keyed->count - 1];
    }

    switch (option->type) {
    case TOOL_FLAG:
        value = json_boolean(*(bool *)option->target);
        break;
    case TOOL_INTEGER:
        value = json_integer(*(int64_t *)option->target);
        break;
    case TOOL_REAL:
        value = isfinite(*(double *)option->target) ? json_real(*(double *)option->target) : json_string(text);
        break;
    case TOOL_KEYED:
    case TOOL_TEXTS:
        value = json_object_get(tool.parameters, option->name)
                    ? json_incref(json_object_get(tool.parameters, option->name))
                    : json_array();
        json_array_append_new(value, json_string(last));
        break;
    default:
        value = json_string(text);
    }

    json_object_set_new(tool.parameters, option->name, value);
}

/* The record in the order of the table, so that the order on the command line does not matter. An option whose presence
 * is asked for (`given`) and that was not there is null: its default would act differently when it is given. */
static void order_record(const bool *seen)
{
    const tool_option *option;
    json_t *ordered = json_object();

    for (int i = 0; (option = tool_option_at(i)); i++) {
        json_t *value = json_object_get(tool.parameters, option->name);
        if (option->given && !seen[i] && !option->silent && !names_files(option) && option->type != TOOL_KEYED)
            json_object_set_new(ordered, option->name, json_null());
        else if (value)
            json_object_set(ordered, option->name, value);
    }

    json_decref(tool.parameters);
    tool.parameters = ordered;
}

bool tool_options_has(const char *name)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (!strcmp(option->name, name))
            return true;
    return false;
}

bool tool_option_given(const char *name)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (!strcmp(option->name, name))
            return tool.seen[i];
    return false;
}

void tool_option_idle(const char *name, const char *where)
{
    if (tool_option_given(name))
        tool_fail(SP_USAGE, NULL, "--%s means nothing %s", name, where);
    json_object_del(tool.parameters, name);
    tool.no_seed |= !strcmp(name, "seed");
}

const tool_option *tool_option_find(const char *name, size_t length)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (strlen(option->name) == length && !strncmp(option->name, name, length))
            return option;
    return NULL;
}

static const tool_option *find_letter(char letter)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (option->letter && option->letter == letter)
            return option;
    return NULL;
}

/* Letters to insert, delete or replace to make b of a, for short words. */
static int edit_distance(const char *a, size_t length, const char *b)
{
    enum { LONGEST = 40 };
    int row[LONGEST + 1];
    const int m = (int)length, n = (int)strlen(b);

    if (m > LONGEST || n > LONGEST)
        return LONGEST;

    /* Levenshtein's distance by rows: row[j] is that of the first i letters of a and the first j of b. */
    for (int j = 0; j <= n; j++)
        row[j] = j;

    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int above = row[j], replaced = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = above < row[j - 1] ? above + 1 : row[j - 1] + 1;
            row[j] = replaced < row[j] ? replaced : row[j];
            diagonal = above;
        }
    }

    return row[n];
}

/* The long option nearest to a misspelt one; NULL where none is near. */
static const char *near_option(const char *word)
{
    const tool_option *option;
    const char *best = NULL;
    const size_t length = strcspn(word, "=");
    int least = length > 5 ? 3 : 2;

    for (int i = 0; (option = tool_option_at(i)); i++) {
        const int distance = edit_distance(word, length, option->name);
        if (distance < least || (distance == least && !best && least == 1)) {
            least = distance;
            best = option->name;
        }
    }

    return best;
}

/* The other program that has a long option, as this program's spec lists it; NULL: none. */
static const tool_sibling *sibling_with(const char *word)
{
    const size_t length = strcspn(word, "=");
    if (!tool.spec->siblings)
        return NULL;
    for (const tool_sibling *sibling = tool.spec->siblings; sibling->tool; sibling++)
        for (const char *name = sibling->options; *name; name += strcspn(name, " "), name += *name == ' ')
            if (strcspn(name, " ") == length && !strncmp(name, word, length))
                return sibling;
    return NULL;
}

static noreturn void unknown(const char *word)
{
    const bool is_long = word[1] == '-';
    const tool_sibling *sibling = is_long ? sibling_with(word + 2) : NULL;
    const char *near = is_long && !sibling ? near_option(word + 2) : NULL;
    if (sibling)
        tool_hint("%s has --%.*s; %s", sibling->tool, (int)strcspn(word + 2, "="), word + 2, sibling->way);
    else if (near)
        tool_hint("did you mean --%s?", near);
    else
        tool_hint("try %s --help", tool.spec->name);
    tool_fail(SP_USAGE, NULL, "unknown option %s", word);
}

static void give(const tool_option *option, const char *value, bool *seen)
{
    if (*seen && !tool_option_repeats(option))
        tool_fail(SP_USAGE, NULL, "--%s occurs twice", option->name);
    *seen = true;
    tool_option_set(option, value);
    record(option, value);
    if (option->given)
        *option->given = true;
}

const char *tool_usage(void)
{
    static char text[200];
    const tool_option *option;
    int used = snprintf(text, sizeof text, "%s [OPTION]… ", tool.spec->name);

    for (int i = 0; (option = tool_option_at(i)); i++)
        if (option->required)
            used += snprintf(text + used, sizeof text - (size_t)used, "--%s %s ", option->name, option->argument);

    snprintf(text + used, sizeof text - (size_t)used, "%s%s", tool.spec->arguments,
             tool.spec->common & TOOL_OUTPUT ? " -o FILE" : "");
    return text;
}

/* Which options name further files, as a hint for one argument too many. */
static void hint_files(void)
{
    const tool_option *option;
    char list[160] = "";
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (names_files(option) && strlen(list) + strlen(option->name) + 12 < sizeof list)
            snprintf(list + strlen(list), sizeof list - strlen(list), ", --%s FILE", option->name);
    if (*list)
        tool_hint("usage: %s; options name other files: %s", tool_usage(), list + 2);
}

/* A program that writes .npz does not write one under the name of another format. */
static void refuse_ending(void)
{
    static const char others[] =
        " .csv .obj .ply .stl .off .vtu .pvd .vtk .msh .mesh .inp .veg .node .ele .npy .mtx .png "
        ".json .txt .glb .usda .wav ";
    const char *dot = tool.output ? strrchr(tool.output, '.') : NULL;
    char word[16];
    if (!dot || tool.spec->common & TOOL_ANY_FORMAT || snprintf(word, sizeof word, " %s ", dot) >= (int)sizeof word ||
        !strcasestr(others, word))
        return;
    tool_hint("simexport writes other formats");
    tool_fail(SP_USAGE, NULL, "-o %s: the output is an .npz file", tool.output);
}

static void set_defaults(void)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++)
        if (option->type == TOOL_FLAG || option->standard) {
            if (option->standard)
                tool_option_set(option, option->standard);
            record(option, option->standard);
        }
}

/* --help, --help-all, --version and --completion, which end the program. next: the word that follows, NULL at the end.
 */
static void answer(const char *word, const char *next)
{
    const size_t length = strlen("--completion");
    const bool all = !strcmp(word, "--help-all");

    if (all || !strcmp(word, "--help") || !strcmp(word, "-h")) {
        tool_options_help(tool_stdout(), all);
        exit(tool_end());
    }

    if (!strcmp(word, "--version") || !strcmp(word, "-v")) {
        char libraries[300];
        process_blas_versions(libraries, sizeof libraries);
        fprintf(tool_stdout(), "%s (Supple) %s\n%s\n", tool.spec->name, SUPPLE_VERSION, libraries);
        exit(tool_end());
    }

    if (!strncmp(word, "--completion", length) && (!word[length] || word[length] == '=')) {
        tool_options_completion(tool_stdout(), word[length] ? word + length + 1 : next);
        exit(tool_end());
    }
}

/* The option that begins with this word; next: the word that follows, NULL at the end. Returns true if that is its
 * value. */
static bool parse_option(const char *word, const char *next)
{
    const tool_option *option;
    const char *value;

    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        option = tool_option_find(word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
        value = equals ? equals + 1 : NULL;
    } else {
        option = find_letter(word[1]);
        value = word[2] ? word + 2 : NULL;
    }

    if (!option)
        unknown(word);
    if (option->type == TOOL_FLAG && value)
        tool_fail(SP_USAGE, NULL, "--%s takes no value", option->name);

    const bool takes_next = option->type != TOOL_FLAG && !value;
    if (takes_next && !next)
        tool_fail(SP_USAGE, NULL, "--%s needs a value", option->name);
    value = takes_next ? next : value;

    give(option, value ? value : "", &tool.seen[option - tool_all.option]);
    return takes_next;
}

/* Options that make a choice by themselves, because they have a meaning with one of its words only. */
static void choose_by_options(void)
{
    const tool_option *option;
    for (int i = 0; (option = tool_option_at(i)); i++) {
        if (!option->chooses || !tool.seen[i])
            continue;

        const char *word = strchr(option->chooses, '=') + 1;
        const tool_option *choice = tool_option_find(option->chooses, (size_t)(word - 1 - option->chooses));
        if (tool.seen[choice - tool_all.option])
            continue;

        tool_option_set(choice, word);
        record(choice, word);
    }
}

static void check_arguments(void)
{
    const tool_spec *spec = tool.spec;

    if (tool.argument_count < spec->least && !(spec->alone && *spec->alone)) {
        tool_hint("usage: %s", tool_usage());
        tool_fail(SP_USAGE, NULL, tool.argument_count ? "an argument is missing" : "nothing to do: no input was named");
    }

    if (spec->most >= 0 && tool.argument_count > spec->most) {
        tool_hint("usage: %s", tool_usage());
        hint_files();
        tool_fail(SP_USAGE, NULL, "one argument too many: %s", tool.arguments[spec->most]);
    }

    refuse_ending();

    if ((spec->common & TOOL_OUTPUT) && !tool.output) {
        tool_hint("usage: %s", tool_usage());
        tool_fail(SP_USAGE, NULL, "no output was named (-o FILE, or -o - for a pipe)");
    }
}

static void claim_option(const tool_option *option)
{
    const tool_texts *texts = option->target;
    const tool_keyed *keyed = option->target;
    const char *const *text = option->target;
    if ((option->type == TOOL_WRITTEN || option->type == TOOL_INPUT) && *text)
        tool_claim_named(*text, option->type == TOOL_WRITTEN);
    if (option->type == TOOL_INPUTS)
        for (int64_t i = 0; i < texts->count; i++)
            tool_claim_named(texts->value[i], false);
    if (option->type == TOOL_KEYED)
        for (int64_t i = 0; i < keyed->count; i++)
            tool_claim_named(keyed->file[i], false);
}

/* No file that the command line names may be read and written. */
static void claim_files(void)
{
    const tool_option *option;
    for (int i = 0; i < tool.argument_count; i++)
        tool_claim_named(tool.arguments[i], false);
    for (int i = 0; (option = tool_option_at(i)); i++)
        claim_option(option);
}

void tool_options_parse(int argc, char **argv)
{
    bool only_arguments = false;

    collect_options();
    set_defaults();
    tool.arguments = calloc((size_t)argc + 1, sizeof *tool.arguments);

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_arguments || word[0] != '-' || !word[1])
            tool.arguments[tool.argument_count++] = argv[i];
        else if (!strcmp(word, "--"))
            only_arguments = true;
        else {
            answer(word, i + 1 < argc ? argv[i + 1] : NULL);
            i += parse_option(word, i + 1 < argc ? argv[i + 1] : NULL);
        }
    }

    choose_by_options();
    claim_files();
    order_record(tool.seen);
    tool_options_check();

    tool.quiet = quiet_flag;
    check_arguments();
    tool.parsed = true;
}
