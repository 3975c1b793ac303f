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

    if (*name == '@') {
        *c = (tool_condition){NULL, **at == '!', name + 1, (size_t)(end - name - 1)};
        *at = end;
        return true;
    }

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

/* Whether what a condition asks for is known. */
static bool is_known(const tool_condition *c)
{
    return c->of ? !(c->of->open && c->words && *(const int *)c->of->target == 0) : tool.inputs_are != NULL;
}

static bool holds(const tool_condition *c)
{
    if (!c->words)
        return tool.seen[c->of - tool_all.option] != c->negative;
    size_t length = c->of ? 0 : strlen(tool.inputs_are);
    const char *word = c->of ? choice_word(c->of, &length) : tool.inputs_are;
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

bool tool_condition_is_void(const tool_condition *c)
{
    if (!c->of || !c->words)
        return false;
    for (size_t i = 0; i < c->length; i += strcspn(c->words + i, ", ") + 1)
        if (tool_choice_offers(c->of, c->words + i, strcspn(c->words + i, ", ")))
            return false;
    return true;
}

/* " or a trajectory": with its article, unless it is a plural, and blanks for hyphens. */
static int describe_input(const char *word, size_t length, bool first, char *text, size_t size)
{
    const char *article = word[length - 1] == 's' ? "" : strchr("aeiou", *word) ? "an " : "a ";
    const int used = snprintf(text, size, "%s%s%.*s", first ? "" : " or ", article, (int)length, word);
    for (char *at = text; *at; at++)
        *at = *at == '-' ? ' ' : *at;
    return used;
}

/* "--model full or linear", "a trajectory or a scene" and the like, as a message or --help says it. */
void tool_condition_describe(const tool_condition *c, char *text, size_t size)
{
    int used = c->of ? snprintf(text, size, "--%s", c->of->name) : 0;
    bool first = true;

    if (!c->words)
        return;
    for (size_t i = 0; i < c->length && used >= 0 && (size_t)used < size;) {
        const char *word = c->words + i;
        const size_t length = strcspn(word, ", "), left = size - (size_t)used;
        if (!c->of)
            used += describe_input(word, length, first, text + used, left);
        else if (tool_choice_offers(c->of, word, length))
            used += snprintf(text + used, left, "%s%.*s", first ? " " : " or ", (int)length, word);

        first &= c->of && !tool_choice_offers(c->of, word, length);
        i += length + 1;
    }
}

/* Whether a list of conditions holds; else *failed is the first that does not. */
static bool all_hold(const char *at, tool_condition *failed)
{
    while (at && tool_condition_next(&at, failed))
        if (is_known(failed) && !holds(failed))
            return false;
    return true;
}

/* The same of an option and its table. */
static bool applies(const tool_option *option, tool_condition *failed)
{
    return all_hold(tool_all.also[option - tool_all.option], failed) && all_hold(option->only, failed);
}

static noreturn void refuse(const tool_option *option, const tool_condition *c)
{
    static const char *const verbs[2][2] = {{"applies with", "applies to"},
                                            {"does not apply beside", "does not apply to"}};
    char text[200];

    tool_condition_describe(c, text, sizeof text);
    if (c->of && c->of->open && !tool.seen[c->of - tool_all.option]) {
        size_t length;
        const char *word = choice_word(c->of, &length);
        tool_hint("without --%s it is %.*s here", c->of->name, (int)length, word);
    }

    tool_fail(SP_USAGE, NULL, "--%s %s %s", option->name, verbs[c->negative][c->words != NULL], text);
}

static void check(const tool_option *option, bool seen)
{
    tool_condition c;
    if (applies(option, &c))
        return;
    if (seen)
        refuse(option, &c);
    json_object_del(tool.parameters, option->name);
    tool.no_seed |= !strcmp(option->name, "seed");
}

void tool_options_check(void)
{
    for (int i = 0; i < tool_all.count; i++)
        check(&tool_all.option[i], tool.seen[i]);
}

void tool_inputs_are(const char *word)
{
    tool.inputs_are = word;
    tool_options_check();
}

void tool_option_choose(const char *name, int choice)
{
    const tool_option *option = tool_option_find(name, strlen(name));
    assert(option->open && choice > 0);
    if (*(int *)option->target == 0)
        *(int *)option->target = choice;
    tool_options_check();
}

static void assert_judged(const char *at)
{
    tool_condition c;
    while (at && tool_condition_next(&at, &c))
        assert(is_known(&c));
}

void tool_conditions_judged(void)
{
    for (int i = 0; i < tool_all.count; i++)
        if (tool.seen[i]) {
            assert_judged(tool_all.option[i].only);
            assert_judged(tool_all.also[i]);
        }
}
