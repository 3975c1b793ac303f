#include "tools/common/internal.h"

#include <string.h>

/* What can be offered for the value of an option */
typedef struct offer {
    const char *kind;   /* as in tools/completion/completion.bash */
    const char *values; /* words with | between them, or endings of files with blanks; NULL: none */
} offer;

/* The endings of files by the word for an argument, in usage lines and as tool_option.argument */
static const struct {
    const char *word, *endings;
} arguments[] = {
    {"MESH", "npz"},
    {"BASIS", "npz"},
    {"MODES", "npz"},
    {"DOMAINS", "npz"},
    {"FILE", "npz"},
    {"A", "npz"},
    {"B", "npz"},
    {"LOG", "npz"},
    {"CSV", "csv"},
    {"JSON", "json"},
    {"SCENE", "json"},
    {"SKELETON", "json"},
    {"MODEL", "obj ply stl off npz"},
};

static const char *endings_of(const char *word, size_t length)
{
    for (int i = 0; i < TOOL_COUNT(arguments); i++)
        if (strlen(arguments[i].word) == length && !strncmp(arguments[i].word, word, length))
            return arguments[i].endings;
    return NULL;
}

/* The endings of the files that an option names; NULL where it names none. */
static const char *option_endings(const tool_option *option)
{
    if (option->target == &tool.output)
        return tool.spec->common & TOOL_ANY_FORMAT ? "*" : "npz";
    const char *word = option->type == TOOL_KEYED ? strrchr(option->argument, '=') + 1 : option->argument;
    return option->files ? option->files : endings_of(word, strlen(word));
}

static offer offer_of(const tool_option *option)
{
    const char *endings;
    switch (option->type) {
    case TOOL_FLAG:
        return (offer){"flag", NULL};
    case TOOL_CHOICE:
        return (offer){"words", option->choices};
    case TOOL_KEYED:
        return (offer){"keyed", option_endings(option)};
    case TOOL_TEXT:
    case TOOL_TEXTS:
    case TOOL_INPUT:
    case TOOL_INPUTS:
    case TOOL_WRITTEN:
        endings = option_endings(option);
        return (offer){endings ? "files" : "text", endings};
    default:
        return (offer){"text", NULL};
    }
}

/* Prints a list with another separator in place of each character of `from`. */
static void print_list(FILE *stream, const char *list, const char *from, const char *separator)
{
    for (; *list; list++)
        if (strchr(from, *list))
            fputs(separator, stream);
        else
            fputc(*list, stream);
}

/* The endings of the files that are arguments of the program: those of every word of its usage line. */
static void argument_endings(char *endings, size_t size)
{
    static const char separators[] = "[]. ";
    snprintf(endings, size, "%s", tool.spec->files ? tool.spec->files : "");
    if (tool.spec->files)
        return;

    const char *at = tool.spec->arguments;
    while (*(at += strspn(at, separators))) {
        const size_t word = strcspn(at, separators), length = strlen(endings);
        const char *more = endings_of(at, word);
        if (more && !strstr(endings, more))
            snprintf(endings + length, size - length, "%s%s", length ? " " : "", more);
        at += word;
    }
}

/* ---- bash ---- */

static const char bash_functions[] =
#include "completion_bash.inc"
    ;

static void print_bash_option(FILE *stream, const tool_option *option)
{
    const offer can = offer_of(option);
    fprintf(stream, "--%s", option->name);
    if (option->letter)
        fprintf(stream, ",-%c", option->letter);
    fprintf(stream, " %s %s ", tool_option_repeats(option) ? "many" : "once", can.kind);
    print_list(stream, can.values ? can.values : "-", "| ", ",");
    fprintf(stream, "\n");
}

static void print_bash(FILE *stream)
{
    const tool_option *option;
    const char *name = tool.spec->name;
    char endings[80];
    argument_endings(endings, sizeof endings);
    fprintf(stream, "%s\n_supple_%s() {\n    _supple_complete '", bash_functions, name);
    print_list(stream, endings, " ", ",");
    fprintf(stream, "' << 'END'\n");
    for (int i = 0; (option = tool_option_at(i)); i++)
        print_bash_option(stream, option);
    fprintf(stream, "--help,-h once flag -\n--version,-v once flag -\nEND\n}\ncomplete -F _supple_%s %s\n", name, name);
}

/* ---- zsh ---- */

/* A text in a specification of _arguments, in single quotes */
static void print_zsh_text(FILE *stream, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fprintf(stream, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
}

/* The action of _arguments that offers files with these endings */
static void print_zsh_files(FILE *stream, const char *endings)
{
    fprintf(stream, "_files");
    if (*endings == '*')
        return;
    /* Parentheses around a single ending would be qualifiers of the pattern. */
    const bool several = strchr(endings, ' ');
    fprintf(stream, " -g \"*.%s", several ? "(" : "");
    print_list(stream, endings, " ", "|");
    fprintf(stream, "%s\"", several ? ")" : "");
}

/* The value of an option: what it is called, and the action that offers it */
static void print_zsh_value(FILE *stream, const tool_option *option)
{
    const offer can = offer_of(option);

    if (option->type == TOOL_FLAG)
        return;

    fprintf(stream, ":");
    print_zsh_text(stream, option->argument ? option->argument : option->name);
    fprintf(stream, ":");

    if (!strcmp(can.kind, "words")) {
        fprintf(stream, "(");
        print_list(stream, can.values, "|", " ");
        fprintf(stream, ")");
    } else if (!strcmp(can.kind, "keyed")) {
        fprintf(stream, "{compset -P \"*=\" && ");
        print_zsh_files(stream, can.values);
        fprintf(stream, "}");
    } else if (!strcmp(can.kind, "files"))
        print_zsh_files(stream, can.values);
    else
        fprintf(stream, " ");
}

/* The names of an option before its text: an option that may occur once excludes itself under both of its names. */
static void print_zsh_option(FILE *stream, const tool_option *option)
{
    const char *equals = option->type == TOOL_FLAG ? "" : "=", *plus = option->type == TOOL_FLAG ? "" : "+";

    fprintf(stream, "        '");
    if (tool_option_repeats(option))
        fprintf(stream, "*");
    else if (option->letter)
        fprintf(stream, "(-%c --%s)", option->letter, option->name);

    if (option->letter)
        fprintf(stream, "'{-%c%s,--%s%s}'[", option->letter, plus, option->name, equals);
    else
        fprintf(stream, "--%s%s[", option->name, equals);

    print_zsh_text(stream, option->help);
    fprintf(stream, "]");
    print_zsh_value(stream, option);
    fprintf(stream, "' \\\n");
}

/* The file is a function that compinit loads by its first line, or a script that a shell reads itself. */
static void print_zsh(FILE *stream)
{
    const tool_option *option;
    const char *name = tool.spec->name;
    char endings[80];

    argument_endings(endings, sizeof endings);
    fprintf(stream, "#compdef %s\n# Completion for zsh.\n_%s() {\n    _arguments -s -S \\\n", name, name);

    for (int i = 0; (option = tool_option_at(i)); i++)
        print_zsh_option(stream, option);

    fprintf(stream,
            "        '(- *)'{-h,--help}'[this text]' \\\n        '(- *)'{-v,--version}'[the version]' \\\n        '*:");
    print_zsh_text(stream, tool.spec->arguments);
    fprintf(stream, ":");
    print_zsh_files(stream, endings);
    fprintf(stream, "'\n}\nif [ \"$funcstack[1]\" = _%s ]; then\n    _%s \"$@\"\nelse\n    compdef _%s %s\nfi\n", name,
            name, name, name);
}

void tool_options_completion(FILE *stream, const char *shell)
{
    if (shell && !strcmp(shell, "bash"))
        print_bash(stream);
    else if (shell && !strcmp(shell, "zsh"))
        print_zsh(stream);
    else if (shell && !strcmp(shell, "json"))
        tool_options_list(stream);
    else if (shell)
        tool_fail(SP_USAGE, NULL, "--completion: \"%s\" is not one of bash|zsh", shell);
    else
        tool_fail(SP_USAGE, NULL, "--completion needs a value");
}
