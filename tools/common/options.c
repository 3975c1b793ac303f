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

static bool has_common(const tool_option *option)
{
    int common = tool.spec->common;
    return option->letter == 'o'   ? common & TOOL_OUTPUT
           : option->letter == 't' ? common & TOOL_THREADS
                                   : option->letter == 'q' || common & TOOL_SEED;
}

/* Option i of the tool's own, then the common ones; NULL at the end. */
static const tool_option *option_at(int i)
{
    if (i < tool.spec->option_count)
        return &tool.spec->options[i];
    for (int j = 0, k = tool.spec->option_count; j < TOOL_COUNT(common_options); j++)
        if (has_common(&common_options[j]) && k++ == i)
            return &common_options[j];
    return NULL;
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
    }
}

/* Numbers are recorded as numbers, the rest as text, repeated ones as an array. Files are recorded as inputs instead.
 */
static void record(const tool_option *option, const char *text)
{
    if (option->silent || option->type == TOOL_INPUT || option->type == TOOL_INPUTS)
        return;
    json_t *value;
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
    case TOOL_TEXTS:
        value = json_object_get(tool.parameters, option->name)
                    ? json_incref(json_object_get(tool.parameters, option->name))
                    : json_array();
        json_array_append_new(value, json_string(text));
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
        bool file = option->type == TOOL_INPUT || option->type == TOOL_INPUTS;
        if (option->given && !seen[i] && !option->silent && !file)
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

static const tool_option *find_letter(char letter)
{
    const tool_option *option;
    for (int i = 0; (option = option_at(i)); i++)
        if (option->letter && option->letter == letter)
            return option;
    return NULL;
}

static noreturn void unknown(const char *word)
{
    tool_hint("try %s --help", tool.spec->name);
    tool_fail(SP_USAGE, NULL, "unknown option %s", word);
}

static void give(const tool_option *option, const char *value, bool *seen)
{
    if (*seen && option->type != TOOL_TEXTS && option->type != TOOL_INPUTS)
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

void tool_options_parse(int argc, char **argv)
{
    const tool_option *option;
    int count = 0;
    for (; (option = option_at(count)); count++) {
        assert(count < TOOL_OPTIONS_MOST);
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
        int index = 0;
        while (option_at(index) != option)
            index++;
        give(option, value ? value : "", &tool.seen[index]);
    }
    order_record(tool.seen);
    tool.quiet = quiet_flag;
    if (tool.argument_count < tool.spec->least || (tool.spec->most >= 0 && tool.argument_count > tool.spec->most)) {
        hint_usage();
        if (tool.argument_count < tool.spec->least)
            tool_fail(SP_USAGE, NULL,
                      tool.argument_count ? "an argument is missing" : "nothing to do: no input was named");
        tool_fail(SP_USAGE, NULL, "one argument too many: %s", tool.arguments[tool.spec->most]);
    }
    if ((tool.spec->common & TOOL_OUTPUT) && !tool.output) {
        hint_usage();
        tool_fail(SP_USAGE, NULL, "no output was named (-o FILE, or -o - for a pipe)");
    }
}

void tool_options_help(FILE *stream)
{
    const tool_spec *spec = tool.spec;
    fprintf(stream, "Usage: %s [OPTION]… %s%s\n%s\n\nOptions:\n", spec->name, spec->arguments, output_argument(),
            spec->summary);
    const tool_option *option;
    for (int i = 0; (option = option_at(i)); i++) {
        char left[120], letter[8] = "    ";
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        const char *argument = option->type == TOOL_CHOICE ? option->choices : option->argument;
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name, argument ? " " : "",
                 argument ? argument : "");
        fprintf(stream, strlen(left) < 32 ? "%-32s" : "%s\n                                ", left);
        fprintf(stream, "%s", option->help);
        if (option->standard)
            fprintf(stream, " (default %s)", option->standard);
        fprintf(stream, "\n");
    }
    fprintf(stream, "  -h, --help                    this text\n  -v, --version                 the version\n");
    if (spec->examples)
        fprintf(stream, "\nExamples:\n%s", spec->examples);
    fprintf(stream,
            "\nExit: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 system, 5 numerical failure. Manual: man "
            "%s\n",
            spec->name);
}
