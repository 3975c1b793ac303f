/* The script that remakes a file (tools/info/script.h), from histories written here by hand. */
#include "tools/info/script.c"
#include "base/context.h"
#include "base/random.h"
#include "test.h"

#include <math.h>

static const char tools[] = "simimport modes modalderiv masspca simfull";

/* Hashes are 64 times one digit. */
static const char *hash(char digit)
{
    static char text[4][65];
    static int turn;
    char *to = text[turn++ % 4];
    memset(to, digit, 64);
    to[64] = 0;
    return to;
}

/* The text with every #d replaced by the hash of the digit d and ' by ". */
static json_t *object(const char *pattern)
{
    static char text[20000];
    char *to = text;
    for (const char *at = pattern; *at; at++)
        if (*at == '#') {
            memset(to, *++at, 64);
            to += 64;
        } else
            *to++ = *at == '\'' ? '"' : *at;
    *to = 0;
    json_error_t error;
    json_t *result = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    CHECK(result, "%s: %s", error.text, text);
    return result;
}

/* The script of a file of hash ffff…; "" where it fails. The caller frees it. */
static char *script_of(const char *meta_text, const char *name, int *status)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    json_t *meta = object(meta_text);
    *status = script_write(&context, meta, hash('f'), name, tools, stream);
    fclose(stream);
    json_decref(meta);
    if (!text)
        abort();
    return text;
}

static long place_of(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    return at ? (long)(at - text) : -1;
}

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && (at[length] == '\n' || !at[length]))
            return true;
    return false;
}

#define CHECK_LINE(text, line) CHECK(has_line(text, line), "missing in:\n%s", text)
#define CHECK_ORDER(text, a, b) CHECK(place_of(text, a) >= 0 && place_of(text, a) < place_of(text, b), "in:\n%s", text)

/* The history has its entries in the wrong order; the commands are in the order of dependence. */
TEST(order_of_commands)
{
    int status;
    char *text = script_of(
        "{'kind':'basis','tool':'masspca','version':'1','parameters':{'rank':3},"
        "'inputs':[{'name':'m.npz','sha256':'#a'},{'name':'o.npz','sha256':'#b'},{'name':'d.npz','sha256':'#c'}],"
        "'history':{"
        "'#c':{'tool':'modalderiv','version':'1','parameters':{},'inputs':[{'name':'m.npz','sha256':'#a'},{'name':'o."
        "npz','sha256':'#b'}]},"
        "'#b':{'tool':'modes','version':'1','parameters':{'count':6},'seed':7,'inputs':[{'name':'m.npz','sha256':'#a'}]"
        "},"
        "'#a':{'tool':'simimport','version':'1','parameters':{},'inputs':[{'name':'x.veg','sha256':'#1'}]}}}",
        "basis.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simimport x.veg -o m.npz");
    CHECK_LINE(text, "modes m.npz --count 6 --seed 7 -o o.npz");
    CHECK_LINE(text, "modalderiv m.npz o.npz -o d.npz");
    CHECK_LINE(text, "masspca m.npz o.npz d.npz --rank 3 -o basis.npz");
    CHECK_LINE(text, "set -e");
    CHECK_ORDER(text, "\nset -e", "\ncheck x.veg 1111");
    CHECK_ORDER(text, "\ncheck x.veg 1111", "\nsimimport");
    CHECK_ORDER(text, "\nsimimport", "\nmodes");
    CHECK_ORDER(text, "\nmodes", "\nmodalderiv");
    CHECK_ORDER(text, "\nmodalderiv", "\nmasspca");
    CHECK_ORDER(text, "\nmasspca", "\ncheck basis.npz ffff");
    free(text);
}

/* Flags, defaults that are false or null, repeated options, numbers that must be exact, words that a shell would split.
 */
TEST(options_of_parameters)
{
    int status;
    char *text = script_of("{'tool':'simimport','version':'1','parameters':{'turn':true,'off':false,'young':null,'"
                           "density':0.1,'tolerance':1e-12,"
                           "'big':123456789012,'fix-box':['0,0,0,1,1,inf','-1,0,0,1,1,1'],'name':'a b$(c)'},"
                           "'inputs':[{'name':'x.veg','sha256':'#1'},{'name':'f.bou','sha256':'#2','option':'fixed'},"
                           "{'name':'sub/part.veg','sha256':'#3','via':'include'}]}",
                           "m.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simimport x.veg --fixed f.bou --turn --density 0.1 --tolerance 1e-12 --big 123456789012 "
                     "--fix-box 0,0,0,1,1,inf "
                     "--fix-box -1,0,0,1,1,1 --name 'a b$(c)' -o m.npz");
    CHECK(strstr(text, "\ncheck sub/part.veg 3333"), "%s", text);
    free(text);
}

/* Base names are part of the bytes: of two files called m.npz the later stands in a folder; one file under two names is
 * copied. */
TEST(names_that_clash)
{
    int status;
    char *text = script_of(
        "{'tool':'masspca','version':'1','parameters':{},"
        "'inputs':[{'name':'m.npz','sha256':'#a'},{'name':'m.npz','sha256':'#b'},{'name':'d.npz','sha256':'#c'}],"
        "'history':{"
        "'#a':{'tool':'simimport','version':'1','parameters':{},'inputs':[{'name':'x.veg','sha256':'#1'}]},"
        "'#b':{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'m.npz','sha256':'#a'}]},"
        "'#c':{'tool':'modalderiv','version':'1','parameters':{},"
        "'inputs':[{'name':'other.npz','sha256':'#a'},{'name':'m.npz','sha256':'#b'}]}}}",
        "x.veg", &status); /* not even the output may replace an input */
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simimport x.veg -o m.npz");
    CHECK_LINE(text, "cp m.npz other.npz");
    CHECK_LINE(text, "mkdir -p bbbbbbbbbbbb");
    CHECK_LINE(text, "modes m.npz -o bbbbbbbbbbbb/m.npz");
    CHECK_LINE(text, "modalderiv other.npz bbbbbbbbbbbb/m.npz -o d.npz");
    CHECK_LINE(text, "masspca m.npz bbbbbbbbbbbb/m.npz d.npz -o ffffffffffff/x.veg");
    free(text);
}

/* An input from a pipe has no name and becomes a redirection. */
TEST(pipes)
{
    int status;
    char *text =
        script_of("{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'standard input','sha256':'#a'}],"
                  "'history':{'#a':{'kind':'mesh','tool':'simimport','version':'1','parameters':{'format':'veg'},"
                  "'inputs':[{'name':'standard input','sha256':'#1'}]}}}",
                  "m.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simimport - --format veg -o mesh.npz < standard-input");
    CHECK_LINE(text, "modes - -o m.npz < mesh.npz");
    free(text);
}

/* One command made the modes and the matrix; a command whose -o is not needed writes to nowhere. */
TEST(several_outputs)
{
    int status;
    const char *both = "{'tool':'masspca','version':'1','parameters':{},"
                       "'inputs':[{'name':'o.npz','sha256':'#a'},{'name':'K.npz','sha256':'#b','option':'stiffness'}],"
                       "'history':{"
                       "'#a':{'tool':'modes','version':'1','parameters':{'count':6},'inputs':[{'name':'x.npz','sha256':"
                       "'#1','archive':true}]},"
                       "'#b':{'tool':'modes','output':'write-stiffness','version':'1','parameters':{'count':6},"
                       "'inputs':[{'name':'x.npz','sha256':'#1','archive':true}]}}}";
    const char *one = "{'tool':'modes','output':'write-stiffness','version':'1','parameters':{},'inputs':[{'name':'x."
                      "npz','sha256':'#1'}]}";
    char *text = script_of(both, "m.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "modes x.npz --count 6 -o o.npz --write-stiffness K.npz");
    CHECK_LINE(text, "masspca o.npz --stiffness K.npz -o m.npz");
    CHECK(strstr(text, "\"$(siminfo --hash x.npz)\""), "an archive is checked by its members:\n%s", text);
    free(text);
    text = script_of(one, "K.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "modes x.npz --write-stiffness K.npz -o /dev/null");
    CHECK(strstr(text, "\"$(sha256sum < x.npz | cut -c 1-64)\""), "%s", text);
    free(text);
}

/* KEY=FILE: keys are parameters, files inputs of the same option, in the same order; each pair is quoted as a word. */
TEST(keys_with_files)
{
    int status;
    char *text = script_of("{'tool':'simfull','version':'1','parameters':{'model':'nonlinear','prescribe':['tip','a=b "
                           "c'],'cut':['0.5']},"
                           "'inputs':[{'name':'m.npz','sha256':'#1'},{'name':'c.npz','sha256':'#2','option':'cut'},"
                           "{'name':'p.csv','sha256':'#3','option':'prescribe'},{'name':'q.csv','sha256':'#4','option':"
                           "'prescribe'}]}",
                           "t.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simfull m.npz --cut 0.5=c.npz --prescribe tip=p.csv --prescribe 'a=b c=q.csv' --model nonlinear "
                     "-o t.npz");
    free(text);
    text = script_of("{'tool':'simfull','version':'1','parameters':{'prescribe':['tip']},'inputs':[{'name':'standard "
                     "input','sha256':'#1','option':'prescribe'}]}",
                     "t.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK_LINE(text, "simfull --prescribe tip=- -o t.npz < standard-input");
    free(text);
}

/* Meta may come from others: nothing in it may become a command, leave the folder, or cause an endless loop. */
TEST(hostile_histories)
{
    static const char *const bad[] = {
        "{'tool':'rm','version':'1','parameters':{},'inputs':[]}",
        "{'tool':'modes; rm','version':'1','parameters':{},'inputs':[]}",
        "{'tool':'mod','version':'1','parameters':{},'inputs':[]}",
        "{'tool':'modes','version':'1','parameters':{'x y':1},'inputs':[]}",
        "{'tool':'modes','version':'1','parameters':{'x':{}},'inputs':[]}",
        "{'tool':'modes','version':'1','parameters':{'x':''},'inputs':[]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'../x','sha256':'#1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'..','sha256':'#1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'','sha256':'#1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'a/../../x','via':'include','sha256':'#1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'/x','via':'include','sha256':'#1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'x','sha256':'1'}]}",
        "{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'x','option':'a b','sha256':'#1'}]}",
        "{'tool':'modes','output':'$(x)','version':'1','parameters':{},'inputs':[]}",
        ("{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'x','sha256':'#a'}],'history':{"
         "'#a':{'tool':'modes','version':'1','parameters':{},'inputs':[{'name':'y','sha256':'#a'}]}}}"),
        "{'tool':'simfull','version':'1','parameters':{},'inputs':[{'name':'x','option':'cut','sha256':'#1'}]}",
        ("{'tool':'simfull','version':'1','parameters':{'cut':['0']},'inputs':[{'name':'x','option':'cut','sha256':'#1'"
         "}"
         ",{'name':'y','option':'cut','sha256':'#2'}]}"),
        ("{'tool':'simfull','version':'1','parameters':{'cut':[1]},'inputs':[{'name':'x','option':'cut','sha256':'#1'}]"
         "}"),
        ("{'tool':'simfull','version':'1','parameters':{'cut':['a\\u0007b']},'inputs':[{'name':'x','option':'cut',"
         "'sha256':'#1'}]}"),
        "{'tool':'modes','version':'1','parameters':{}}",
        "{'kind':'mesh'}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status;
        char *text = script_of(bad[i], "m.npz", &status);
        CHECK(status == SP_INPUT, "%s gives status %d and\n%s", bad[i], status, text);
        free(text);
    }
    int status;
    char *text =
        script_of("{'tool':'modes','version':'1\\nrm x','parameters':{},'inputs':[{'name':'a b','sha256':'#1'}]}",
                  "-o.npz", &status);
    CHECK(status == SP_OK, "%s", context.message);
    CHECK(place_of(text, "#   1111") > 0 && place_of(text, "\nrm x") < 0, "a line feed ends a comment:\n%s", text);
    CHECK(strstr(text, "\nmodes 'a b' -o ./-o.npz\n"), "%s", text);
    free(text);
}

TEST(quoting)
{
    static const char *const words[][2] = {{"plain-1.npz", "plain-1.npz"}, {"", "''"},     {"a b", "'a b'"},
                                           {"it's", "'it'\\''s'"},         {"~x", "'~x'"}, {"$(x)`y`", "'$(x)`y`'"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        tool_shell_word(words[i][0], stream);
        fclose(stream);
        if (!text)
            abort();
        CHECK(!strcmp(text, words[i][1]), "%s, expected %s", text, words[i][1]);
        free(text);
    }
}

/* Numbers that are read back as they were, 15 digits where these are enough. */
TEST(reals)
{
    static const struct {
        double value;
        const char *text;
    } reals[] = {
        {0.005, "0.005"}, {0.1 + 0.2, "0.30000000000000004"}, {1e300, "1e+300"}, {-2.5e-8, "-2.5e-08"}, {0, "0"}};
    char text[TOOL_SHELL_REAL];
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        CHECK(!strcmp(tool_shell_real(reals[i].value, text), reals[i].text), "%s, expected %s", text, reals[i].text);

    for (uint64_t i = 0; i < 1000; i++) {
        const double value = ldexp(sp_random_normal(7, 1, i), (int)(i % 200) - 100);
        CHECK(strtod(tool_shell_real(value, text), NULL) == value, "%s is not %a", text, value);
    }
}
