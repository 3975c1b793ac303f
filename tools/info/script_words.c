#include "tools/info/script_words.h"

#include "formats/plain.h"

#include <string.h>

enum { HASH = 64 };

bool script_is_hash(const char *text)
{
    return text && strlen(text) == HASH && strspn(text, "0123456789abcdef") == HASH;
}

int script_upwards(const char *name)
{
    int count = 0;
    for (; !strncmp(name, "../", 3); name += 3)
        count++;
    return count;
}

bool script_is_name(const char *name, bool folders)
{
    if (!name || !*name || strlen(name) > 255 || !sp_is_plain(name) || script_upwards(name) > SCRIPT_UPWARDS)
        return false;
    const char *at = folders ? name + 3 * script_upwards(name) : name;
    if (!*at)
        return false;
    while (*at) {
        size_t length = strcspn(at, "/");
        if (length == 0 || (length == 2 && !strncmp(at, "..", 2)) || (!folders && (at[length] || !strcmp(at, "."))))
            return false;
        at += length;
        if (*at && !*++at)
            return false;
    }
    return true;
}

bool script_is_option(const char *name)
{
    return name && *name >= 'a' && *name <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static bool is_among(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word))
        words++;
    return *words != NULL;
}

/* Options that name a file to be written. Programs do not record them: a record that has one among its parameters or
 * inputs is forged. tests/cli/refusals.bats compares the list with the help of all programs. */
static bool writes(const char *name)
{
    static const char *const writing[] = {"output",     "write-stiffness", "write-mass",  "derivatives",
                                          "checkpoint", "joints",          "timings",     "csv",
                                          "reactions",  "spectrogram",     "write-fixed", NULL};
    return is_among(writing, name);
}

/* Options whose values are KEY=FILE: the keys are parameters, the files inputs of the same name, in the same order.
 * tests/cli/refusals.bats compares the list with the help of all programs. */
bool script_is_keyed(const char *name)
{
    static const char *const keyed[] = {"prescribe", "cut", NULL};
    return is_among(keyed, name);
}

/* Options that name a file to be read: an input has the name of one of these, and none has a path among the
 * parameters. tests/cli/refusals.bats compares the list with the completion of all programs that write archives. */
bool script_reads(const char *name)
{
    static const char *const reading[] = {"about",       "activation",    "basis",         "buckling",
                                          "certificate", "cub",           "cut",           "damping-times",
                                          "factor",      "fibre",         "field",         "fixed",
                                          "frame",       "held-out-file", "interpolation", "loads",
                                          "mass",        "materials",     "mesh",          "modes",
                                          "of",          "poly",          "prescribe",     "prescribe-vertices",
                                          "proxies",     "replay",        "sides",         "skeleton",
                                          "skin",        "start-file",    "start-loads",   "static-loads",
                                          "stiffness",   "surface",       "table",         NULL};
    return is_among(reading, name);
}

/* An option whose value is not a path, and that the script does not add by itself. --frame of modes is a word, --modes
 * of modalderiv a number; keys are those of files. */
bool script_may_be_recorded(const char *name, const json_t *value)
{
    static const char *const own[] = {"threads", "quiet", "seed", "help", "version", NULL};
    const char *text = json_string_value(value);
    if (writes(name) || is_among(own, name))
        return false;
    return !script_reads(name) || script_is_keyed(name) || (!text && !json_is_array(value)) ||
           (!strcmp(name, "frame") && text && strspn(text, "abcdefghijklmnopqrstuvwxyz") == strlen(text));
}

bool script_is_output(const char *name)
{
    static const char *const outputs[] = {"write-stiffness", "write-mass", "write-fixed", NULL};
    return is_among(outputs, name);
}
