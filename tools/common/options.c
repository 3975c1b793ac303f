#include "tools/common/internal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool quiet_flag;

static const tool_option common_options[] = {
    {"output", 'o', TOOL_TEXT, &tool.output, "FILE", NULL, .help = "the file to write; - is standard output",
     .silent = true},
    {"threads", 't', TOOL_INTEGER, &tool.threads, "N", NULL, .low = 1, .high = 1024,
     .help = "threads (default: all allowed processors)", .silent = true},
    {"seed", 0, TOOL_INTEGER, &tool.seed, "N", "1", .low = 0, .high = 9007199254740992.0,
     .help = "seed of random choices", .silent = true},
    {"quiet", 'q', TOOL_FLAG, &quiet_flag, .help = "no progress, no remarks; errors only", .silent = true},
};

/* The options of the program: its own, then the common ones that it has. */
static struct {
    int count;
    tool_option option[TOOL_OPTIONS_MOST];
    const char *title[TOOL_OPTIONS_MOST], *also[TOOL_OPTIONS_MOST]; /* of the table: heading, `only` */
} all;

static void add_options(const tool_table *table)
{
    for (int i = 0; i < table->count; i++) {
        tool_option option = table->options[i];
        assert(all.count < TOOL_OPTIONS_MOST);
        if (table->base) {
            option.target = (char *)table->base + option.at;
            option.given = option.given_at ? (bool *)((char *)table->base + option.given_at) : NULL;
        }
        all.title[all.count] = table->title;
        all.also[all.count] = table->only;
        all.option[all.count++] = option;
    }
}

static void collect_options(void)
{
    const tool_spec *spec = tool.spec;
    add_options(&(tool_table){"Options", spec->options, spec->option_count, NULL, NULL});
    for (const tool_table *table = spec->tables; table && table->options; table++)
        add_options(table);
    const char *title = spec->tables ? "Common options" : "Options";
    for (int i = 0; i < TOOL_COUNT(common_options); i++) {
        const char letter = common_options[i].letter;
        const int needs = letter == 'o' ? TOOL_OUTPUT : letter == 't' ? TOOL_THREADS : letter == 'q' ? 0 : TOOL_SEED;
        if (!needs || spec->common & needs)
            add_options(&(tool_table){title, &common_options[i], 1, NULL, NULL});
    }
}

/* NULL at the end. */
static const tool_option *option_at(int i)
{
    return i < all.count ? &all.option[i] : NULL;
}

static noreturn void bad_value(const tool_option *option, const char *text, const char *expected)
{
    tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not %s", option->name, text, expected);
}

static void check_range(const tool_option *option, double value, const char *text)
{
    if ((option->low != 0 || option->high != 0) && !(value >= option->low && value <= option->high))
        tool_fail(SP_USAGE, NULL, "--%s: %s is out of range (%g to %g)", option->name, text, option->low, option->high);
}

/* A number with a unit behind it: the unit that the option is in. */
static void hint_unit(const tool_option *option, const char *text)
{
    char *end;
    strtod(text, &end);
    if (end != text && *end && option->argument)
        tool_hint("--%s is a plain number, %s: without a unit, as in 2.1e11", option->name, option->argument);
}

/* One number at *at; moves *at behind it. */
static double parse_real(const tool_option *option, const char *text, const char **at)
{
    char *end;
    errno = 0;
    double value = strtod(*at, &end);
    bool infinite_allowed = option->high == INFINITY || option->low == -INFINITY;
    if (end == *at || isspace((unsigned char)**at) || isnan(value) || (isinf(value) && !infinite_allowed))
        bad_value(option, text, "a number");
    *at = end;
    return value;
}

static int64_t parse_integer(const tool_option *option, const char *text)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || isspace((unsigned char)*text))
        bad_value(option, text, "a whole number");
    check_range(option, (double)value, text);
    return value;
}

static int64_t parse_size(const tool_option *option, const char *text)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (end == text || errno || !(value > 0) || (*end && (!unit || end[1])))
        bad_value(option, text, "a size such as 500M or 2G");
    for (const char *u = units; unit && u <= unit; u++)
        value *= 1024;
    if (value >= 0x1p62)
        bad_value(option, text, "a size that a machine can have");
    return (int64_t)value;
}

static int parse_choice(const tool_option *option, const char *text)
{
    int index = 0;
    for (const char *at = option->choices; at; index++) {
        const char *end = strchr(at, '|');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (strlen(text) == length && !strncmp(at, text, length))
            return index;
        at = end ? end + 1 : NULL;
    }
    tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not one of %s", option->name, text, option->choices);
}

static void append_text(const tool_option *option, const char *text)
{
    tool_texts *texts = option->target;
    if (texts->count == (int64_t)(sizeof texts->value / sizeof *texts->value))
        tool_fail(SP_USAGE, NULL, "--%s stands more than %lld times", option->name, (long long)texts->count);
    texts->value[texts->count++] = text;
}

static void append_keyed(const tool_option *option, const char *text)
{
    tool_keyed *keyed = option->target;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not %s", option->name, text, option->argument);
    if (keyed->count == (int64_t)(sizeof keyed->key / sizeof *keyed->key))
        tool_fail(SP_USAGE, NULL, "--%s stands more than %lld times", option->name, (long long)keyed->count);
    char *key = strndup(text, (size_t)(equals - text));
    keyed->key[keyed->count] = key; /* lives as long as the process, as argv does */
    keyed->file[keyed->count++] = equals + 1;
}

static void set_value(const tool_option *option, const char *text)
{
    const char *at = text;
    if (option->type != TOOL_FLAG && !*text)
        tool_fail(SP_USAGE, NULL, "--%s: its value is empty", option->name);
    switch (option->type) {
    case TOOL_FLAG:
        *(bool *)option->target = true;
        break;
    case TOOL_INTEGER:
        *(int64_t *)option->target = parse_integer(option, text);
        break;
    case TOOL_REAL:
        *(double *)option->target = parse_real(option, text, &at);
        if (*at)
            hint_unit(option, text);
        if (*at)
            bad_value(option, text, "a number");
        check_range(option, *(double *)option->target, text);
        break;
    case TOOL_VECTOR:
        for (int i = 0; i < option->count; i++) {
            double value = parse_real(option, text, &at);
            check_range(option, value, text);
            ((double *)option->target)[i] = value;
            if (*at != (i + 1 < option->count ? ',' : 0)) {
                char expected[64];
                snprintf(expected, sizeof expected, "%d numbers with commas", option->count);
                bad_value(option, text, expected);
            }
            at++;
        }
        break;
    case TOOL_CHOICE:
        *(int *)option->target = parse_choice(option, text);
        break;
    case TOOL_SIZE:
        *(int64_t *)option->target = parse_size(option, text);
        break;
    case TOOL_TEXT:
    case TOOL_INPUT:
        *(const char **)option->target = text;
        break;
    case TOOL_TEXTS:
    case TOOL_INPUTS:
        append_text(option, text);
        break;
    case TOOL_KEYED:
        append_keyed(option, text);
        break;
    }
}

static bool names_files(const tool_option *option)
{
    return option->type == TOOL_INPUT || option->type == TOOL_INPUTS;
}

static bool repeats(const tool_option *option)
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
    for (int i = 0; (option = option_at(i)); i++) {
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
    for (int i = 0; (option = option_at(i)); i++)
        if (!strcmp(option->name, name))
            return true;
    return false;
}

bool tool_option_given(const char *name)
{
    const tool_option *option;
    for (int i = 0; (option = option_at(i)); i++)
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

static const tool_option *find_long(const char *name, size_t length)
{
    const tool_option *option;
    for (int i = 0; (option = option_at(i)); i++)
        if (strlen(option->name) == length && !strncmp(option->name, name, length))
            return option;
    return NULL;
}

/* ---- where options apply ---- */

/* One condition of `only`: !NAME, NAME, NAME=a,b or NAME!=a,b. */
typedef struct condition {
    const tool_option *of;
    bool negative;
    const char *words; /* behind "="; NULL: whether it was given */
    size_t length;
} condition;

/* The condition at *at, which moves behind it; false at the end. */
static bool next_condition(const char **at, condition *c)
{
    *at += strspn(*at, " ");
    if (!**at)
        return false;
    const char *name = *at + (**at == '!'), *end = name + strcspn(name, " "), *stop = name + strcspn(name, " !=");
    *c = (condition){find_long(name, (size_t)(stop - name)), **at == '!' || *stop == '!', NULL, 0};
    assert(c->of);
    if (stop < end) {
        c->words = strchr(stop, '=') + 1;
        c->length = (size_t)(end - c->words);
        assert(c->of->type == TOOL_CHOICE);
    }
    *at = end;
    return true;
}

/* The word of a choice. */
static const char *choice_word(const tool_option *option, size_t *length)
{
    const char *at = option->choices;
    for (int i = *(const int *)option->target; i > 0; i--)
        at = strchr(at, '|') + 1;
    *length = strcspn(at, "|");
    return at;
}

static bool is_listed(const char *words, size_t length, const char *word, size_t word_length)
{
    for (size_t i = 0; i < length; i += strcspn(words + i, ", ") + 1)
        if (strcspn(words + i, ", ") == word_length && !strncmp(words + i, word, word_length))
            return true;
    return false;
}

static bool holds(const condition *c)
{
    size_t length;
    if (!c->words)
        return tool.seen[c->of - all.option] != c->negative;
    const char *word = choice_word(c->of, &length);
    return is_listed(c->words, c->length, word, length) != c->negative;
}

/* Whether a choice has this word: tables that several programs share name words that not all of them offer. */
static bool is_offered(const tool_option *option, const char *word, size_t length)
{
    for (const char *at = option->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && !strncmp(at, word, length))
            return true;
    return false;
}

/* "--model full or linear" and the like, as a message or --help says it. */
static void describe(const condition *c, char *text, size_t size)
{
    int used = snprintf(text, size, "--%s", c->of->name);
    const char *separator = " ";
    for (size_t i = 0; c->words && i < c->length && used > 0 && (size_t)used < size;) {
        const size_t length = strcspn(c->words + i, ", ");
        if (is_offered(c->of, c->words + i, length)) {
            used += snprintf(text + used, size - (size_t)used, "%s%.*s", separator, (int)length, c->words + i);
            separator = " or ";
        }
        i += length + 1;
    }
}

/* Whether a list of conditions holds; else *failed is the first that does not. */
static bool all_hold(const char *at, condition *failed)
{
    while (at && next_condition(&at, failed))
        if (!holds(failed))
            return false;
    return true;
}

/* The same of an option and its table. */
static bool applies(const tool_option *option, condition *failed)
{
    return all_hold(all.also[option - all.option], failed) && all_hold(option->only, failed);
}

static void check_applies(const tool_option *option, bool seen)
{
    condition c;
    if (!applies(option, &c)) {
        char text[200];
        describe(&c, text, sizeof text);
        if (seen)
            tool_fail(SP_USAGE, NULL, "--%s %s %s", option->name,
                      c.negative && c.words ? "does not apply to"
                      : c.negative          ? "does not apply beside"
                      : c.words             ? "applies to"
                                            : "applies with",
                      text);
        json_object_del(tool.parameters, option->name);
    }
}

bool tool_option_applies(const char *name)
{
    condition c;
    return applies(find_long(name, strlen(name)), &c);
}

static const tool_option *find_letter(char letter)
{
    const tool_option *option;
    for (int i = 0; (option = option_at(i)); i++)
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
    for (int i = 0; (option = option_at(i)); i++) {
        const int distance = edit_distance(word, length, option->name);
        if (distance < least || (distance == least && !best && least == 1)) {
            least = distance;
            best = option->name;
        }
    }
    return best;
}

static noreturn void unknown(const char *word)
{
    const char *near = word[1] == '-' ? near_option(word + 2) : NULL;
    if (near)
        tool_hint("did you mean --%s?", near);
    else
        tool_hint("try %s --help", tool.spec->name);
    tool_fail(SP_USAGE, NULL, "unknown option %s", word);
}

static void give(const tool_option *option, const char *value, bool *seen)
{
    if (*seen && !repeats(option))
        tool_fail(SP_USAGE, NULL, "--%s stands twice", option->name);
    *seen = true;
    set_value(option, value);
    record(option, value);
    if (option->given)
        *option->given = true;
}

static const char *output_argument(void)
{
    return tool.spec->common & TOOL_OUTPUT ? " -o FILE" : "";
}

static void hint_usage(void)
{
    tool_hint("usage: %s [OPTION]… %s%s", tool.spec->name, tool.spec->arguments, output_argument());
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

void tool_options_parse(int argc, char **argv)
{
    const tool_option *option;
    collect_options();
    for (int i = 0; (option = option_at(i)); i++) {
        if (option->type == TOOL_FLAG || option->standard) {
            if (option->standard)
                set_value(option, option->standard);
            record(option, option->standard);
        }
    }
    tool.arguments = calloc((size_t)argc + 1, sizeof *tool.arguments);
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = NULL;
        if (only_arguments || word[0] != '-' || !word[1]) {
            tool.arguments[tool.argument_count++] = argv[i];
            continue;
        }
        if (!strcmp(word, "--")) {
            only_arguments = true;
            continue;
        }
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            tool_options_help(tool_stdout());
            exit(tool_end());
        }
        if (!strcmp(word, "--version") || !strcmp(word, "-v")) {
            fprintf(tool_stdout(), "%s (Supple) %s\n", tool.spec->name, SUPPLE_VERSION);
            exit(tool_end());
        }
        if (word[1] == '-') {
            const char *equals = strchr(word, '=');
            option = find_long(word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
            value = equals ? equals + 1 : NULL;
        } else {
            option = find_letter(word[1]);
            value = word[2] ? word + 2 : NULL;
        }
        if (!option)
            unknown(word);
        if (option->type == TOOL_FLAG && value)
            tool_fail(SP_USAGE, NULL, "--%s takes no value", option->name);
        if (option->type != TOOL_FLAG && !value) {
            if (++i == argc)
                tool_fail(SP_USAGE, NULL, "--%s needs a value", option->name);
            value = argv[i];
        }
        give(option, value ? value : "", &tool.seen[option - all.option]);
    }
    order_record(tool.seen);
    for (int i = 0; (option = option_at(i)); i++)
        check_applies(option, tool.seen[i]);
    tool.quiet = quiet_flag;
    if (tool.argument_count < tool.spec->least || (tool.spec->most >= 0 && tool.argument_count > tool.spec->most)) {
        hint_usage();
        if (tool.argument_count < tool.spec->least)
            tool_fail(SP_USAGE, NULL,
                      tool.argument_count ? "an argument is missing" : "nothing to do: no input was named");
        tool_fail(SP_USAGE, NULL, "one argument too many: %s", tool.arguments[tool.spec->most]);
    }
    refuse_ending();
    if ((tool.spec->common & TOOL_OUTPUT) && !tool.output) {
        hint_usage();
        tool_fail(SP_USAGE, NULL, "no output was named (-o FILE, or -o - for a pipe)");
    }
}

enum { HELP_WIDTH = 80, HELP_INDENT = 32 };

/* Bytes up to the next blank, and the columns that they take: UTF-8 continues in bytes 10xxxxxx. */
static size_t word_length(const char *word, int *columns)
{
    const size_t length = strcspn(word, " ");
    *columns = 0;
    for (size_t i = 0; i < length; i++)
        *columns += (word[i] & 0xc0) != 0x80;
    return length;
}

/* Words in lines of 80 columns that begin at `indent`; the cursor is at `column`, where the last one ends. */
static int print_wrapped(FILE *stream, const char *text, int indent, int column)
{
    while (*(text += strspn(text, " "))) {
        int columns;
        const size_t length = word_length(text, &columns);
        if (column > indent && column + 1 + columns > HELP_WIDTH) {
            fprintf(stream, "\n");
            column = 0;
        }
        if (column < indent) {
            fprintf(stream, "%*s", indent - column, "");
            column = indent;
        } else if (column > indent)
            column += fprintf(stream, " ");
        fwrite(text, 1, length, stream);
        column += columns;
        text += length;
    }
    return column;
}

/* The text of the first column: " -o, --output FILE". Long lists of choices are broken. */
static int print_left(FILE *stream, const tool_option *option)
{
    const char *argument = option->type == TOOL_CHOICE ? option->choices : option->argument;
    char letter[8] = "    ", name[80];
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "  %s--%s", letter, option->name);
    int column = fprintf(stream, "%s", name);
    if (!argument)
        return column;
    column += fprintf(stream, " ");
    const int indent = column;
    for (const char *at = argument; *at;) {
        const size_t length = strcspn(at, "|") + (at[strcspn(at, "|")] == '|');
        if (column + (int)length > HELP_WIDTH && column > indent) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        }
        fwrite(at, 1, length, stream);
        column += (int)length;
        at += length;
    }
    return column;
}

/* Whether the choice of a condition offers none of its words: the condition says nothing in this program. */
static bool is_void(const condition *c)
{
    for (size_t i = 0; c->words && i < c->length; i += strcspn(c->words + i, ", ") + 1)
        if (is_offered(c->of, c->words + i, strcspn(c->words + i, ", ")))
            return false;
    return c->words != NULL;
}

static void print_option(FILE *stream, const tool_option *option)
{
    int column = print_left(stream, option);
    if (column > HELP_INDENT - 2) {
        fprintf(stream, "\n");
        column = 0;
    }
    column = print_wrapped(stream, option->help, HELP_INDENT, column);
    const char *const lists[] = {all.also[option - all.option], option->only};
    for (int i = 0; i < 2; i++) {
        const char *at = lists[i];
        condition c;
        while (at && next_condition(&at, &c)) {
            char text[200], words[240];
            if (is_void(&c))
                continue;
            describe(&c, text, sizeof text);
            snprintf(words, sizeof words, c.negative ? "[not %s]" : "[%s]", text);
            column = print_wrapped(stream, words, HELP_INDENT, column);
        }
    }
    if (option->standard) {
        char words[120];
        snprintf(words, sizeof words, "(default %s)", option->standard);
        print_wrapped(stream, words, HELP_INDENT, column);
    }
    fprintf(stream, "\n");
}

void tool_options_help(FILE *stream)
{
    const tool_spec *spec = tool.spec;
    const tool_option *option;
    fprintf(stream, "Usage: %s [OPTION]… %s%s\n", spec->name, spec->arguments, output_argument());
    print_wrapped(stream, spec->summary, 0, 0);
    for (int i = 0; (option = option_at(i)); i++) {
        if (i == 0 || strcmp(all.title[i], all.title[i - 1]))
            fprintf(stream, "%s\n%s:\n", i == 0 ? "\n" : "", all.title[i]);
        print_option(stream, option);
    }
    fprintf(stream, "  -h, --help                    this text\n  -v, --version                 the version\n");
    if (spec->examples)
        fprintf(stream, "\nExamples:\n%s", spec->examples);
    fprintf(stream,
            "\nExit: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 system,\n"
            "5 numerical failure. Manual: man %s\n",
            spec->name);
}
