#include "tools/common/internal.h"

/* The least value of a range that only excludes 0, and the value from which on the end of a range is no limit that a
 * user could meet. */
static const double positive = 1e-300, unlimited = 1e9;

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

/* The range of a number: "above" or "least", and "most"; nothing where every finite number is allowed. */
static void set_range(json_t *object, const tool_option *option)
{
    if (option->low == 0 && option->high == 0)
        return;
    if (option->low == positive)
        json_object_set_new(object, "above", json_real(0));
    else if (option->low > -unlimited)
        json_object_set_new(object, "least", json_real(option->low));
    if (option->high < unlimited)
        json_object_set_new(object, "most", json_real(option->high));
}

/* Conditions in words, and what each is about: the inputs, the value of an option, or its presence. */
static json_t *conditions(const char *at)
{
    json_t *list = json_array();
    tool_condition c;
    char text[200];

    while (at && tool_condition_next(&at, &c)) {
        if (tool_condition_is_void(&c))
            continue;
        tool_condition_describe(&c, text, sizeof text);
        const char *about = !c.of ? "inputs" : c.words ? "value" : "presence";
        json_array_append_new(list, json_pack("{s:b, s:s, s:s}", "not", c.negative, "about", about, "text", text));
    }
    return list;
}

static json_t *option_entry(const tool_option *option, const char *title, const char *also)
{
    const char letter[2] = {option->letter};
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:b, s:b}", "name", option->name, "title", title, "help", option->help, "required",
                  option->required || option->target == &tool.output, "repeats", tool_option_repeats(option));

    set_text(entry, "letter", option->letter ? letter : NULL);
    set_text(entry, "argument", option->type == TOOL_CHOICE || option->type == TOOL_FLAG ? NULL : option->argument);
    set_text(entry, "choices", option->choices);
    set_text(entry, "default", option->standard);
    set_range(entry, option);
    json_object_set_new(entry, "group", conditions(also));
    json_object_set_new(entry, "only", conditions(option->only));
    return entry;
}

void tool_options_list(FILE *stream)
{
    /* These end the program and are in no table. */
    static const tool_option answers[] = {{"help", 'h', TOOL_FLAG, .help = "this text"},
                                          {"version", 'v', TOOL_FLAG, .help = "the versions"}};
    json_t *list = json_array(), *all;
    const tool_option *option;

    for (int i = 0; (option = tool_option_at(i)); i++)
        json_array_append_new(list, option_entry(option, tool_all.title[i], tool_all.also[i]));
    for (int i = 0; i < TOOL_COUNT(answers); i++)
        json_array_append_new(list, option_entry(&answers[i], tool_all.title[tool_all.count - 1], NULL));

    all = json_pack("{s:s, s:s, s:b, s:o}", "name", tool.spec->name, "arguments", tool.spec->arguments, "output",
                    (tool.spec->common & TOOL_OUTPUT) != 0, "options", list);
    json_dumpf(all, stream, JSON_INDENT(1));
    fputc('\n', stream);
    json_decref(all);
}
