#include "tools/common/internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

    if (unit)
        for (const char *u = units; u <= unit; u++)
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

void tool_option_set(const tool_option *option, const char *text)
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
    case TOOL_WRITTEN:
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
