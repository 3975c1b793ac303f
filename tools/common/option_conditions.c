#include "tools/common/internal.h"

#include <assert.h>
#include <string.h>

/* The condition at *at, which moves behind it; false at the end. */
bool tool_condition_next(const char **at, tool_condition *c)
{
    *at += strspn(*at, " ");
    if (!**at)
        return false;
    const char *name = *at + (**at == '!'), *end = name + strcspn(name, " "), *stop = name + strcspn(name, " !=");
    *c = (tool_condition){tool_option_find(name, (size_t)(stop - name)), **at == '!' || *stop == '!', NULL, 0};
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

static bool holds(const tool_condition *c)
{
    size_t length;
    if (!c->words)
        return tool.seen[c->of - tool_all.option] != c->negative;
    const char *word = choice_word(c->of, &length);
    return is_listed(c->words, c->length, word, length) != c->negative;
}

/* Whether a choice has this word: tables that several programs share name words that not all of them offer. */
bool tool_choice_offers(const tool_option *option, const char *word, size_t length)
{
    for (const char *at = option->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && !strncmp(at, word, length))
            return true;
    return false;
}

/* "--model full or linear" and the like, as a message or --help says it. */
void tool_condition_describe(const tool_condition *c, char *text, size_t size)
{
    int used = snprintf(text, size, "--%s", c->of->name);
    const char *separator = " ";
    for (size_t i = 0; c->words && i < c->length && used > 0 && (size_t)used < size;) {
        const size_t length = strcspn(c->words + i, ", ");
        if (tool_choice_offers(c->of, c->words + i, length)) {
            used += snprintf(text + used, size - (size_t)used, "%s%.*s", separator, (int)length, c->words + i);
            separator = " or ";
        }
        i += length + 1;
    }
}

/* Whether a list of conditions holds; else *failed is the first that does not. */
static bool all_hold(const char *at, tool_condition *failed)
{
    while (at && tool_condition_next(&at, failed))
        if (!holds(failed))
            return false;
    return true;
}

/* The same of an option and its table. */
static bool applies(const tool_option *option, tool_condition *failed)
{
    return all_hold(tool_all.also[option - tool_all.option], failed) && all_hold(option->only, failed);
}

void tool_option_check(const tool_option *option, bool seen)
{
    tool_condition c;
    if (!applies(option, &c)) {
        char text[200];
        tool_condition_describe(&c, text, sizeof text);
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
    tool_condition c;
    return applies(tool_option_find(name, strlen(name)), &c);
}
