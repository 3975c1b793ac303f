#include "tools/common/internal.h"

#include <string.h>

enum { HELP_WIDTH = 80, HELP_INDENT = 32 };

/* Bytes up to the next blank, and the columns that they take: continuation bytes of UTF-8 (binary 10……) take none. */
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

/* What stands in the first column: "  -o, --output FILE". Long lists of choices are broken. */
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

static void print_option(FILE *stream, const tool_option *option)
{
    int column = print_left(stream, option);

    if (column > HELP_INDENT - 2) {
        fprintf(stream, "\n");
        column = 0;
    }
    column = print_wrapped(stream, option->help, HELP_INDENT, column);

    const char *const lists[] = {tool_all.also[option - tool_all.option], option->only};
    for (int i = 0; i < 2; i++) {
        const char *at = lists[i];
        tool_condition c;
        while (at && tool_condition_next(&at, &c)) {
            char text[200], words[240];
            if (tool_condition_is_void(&c))
                continue;
            tool_condition_describe(&c, text, sizeof text);
            snprintf(words, sizeof words, "[%s%s%s]", c.negative ? "not " : "", c.of ? "" : "of ", text);
            column = print_wrapped(stream, words, HELP_INDENT, column);
        }
    }

    if (tool_option_repeats(option))
        column = print_wrapped(stream, "(may be repeated)", HELP_INDENT, column);
    if (option->standard) {
        char words[120];
        snprintf(words, sizeof words, "(default %s)", option->standard);
        print_wrapped(stream, words, HELP_INDENT, column);
    }

    fprintf(stream, "\n");
}

void tool_options_help(FILE *stream, bool all)
{
    const tool_spec *spec = tool.spec;
    const tool_option *option;
    const char *title = NULL;
    bool rare = false;

    fprintf(stream, "Usage: %s\n", tool_usage());
    print_wrapped(stream, spec->summary, 0, 0);

    for (int i = 0; (option = tool_option_at(i)); i++) {
        rare |= option->rare;
        if (option->rare && !all)
            continue;
        if (!title || strcmp(tool_all.title[i], title))
            fprintf(stream, "%s\n%s:\n", title ? "" : "\n", tool_all.title[i]);
        title = tool_all.title[i];
        print_option(stream, option);
    }

    print_wrapped(stream,
                  rare ? "this text; --help-all prints all options, also those that few users need" : "this text",
                  HELP_INDENT, fprintf(stream, "  -h, --help"));
    fprintf(stream, "\n  -v, --version                 the versions of Supple and of its libraries\n");

    if (spec->examples)
        fprintf(stream, "\nExamples:\n%s", spec->examples);

    fprintf(stream,
            "\nExit: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 system,\n"
            "5 numerical failure. Manual: man %s\n",
            spec->name);
}
