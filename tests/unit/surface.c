/* The scanner, OBJ, and the shared meshes. */
#include "base/compare.h"
#include "formats/import/text.h"
#include "surface_test.h"

/* ---- the scanner ---- */

static void check_number(const char *string)
{
    sp_text text;
    double value = NAN, expected = strtod(string, NULL);
    sp_text_open(&text, string, (int64_t)strlen(string), "#", "", false);
    CHECK(sp_text_line(&text) && sp_text_number(&text, &value), "%s is not read", string);
    CHECK(memcmp(&value, &expected, sizeof value) == 0, "%s: %.17g is not %.17g", string, value, expected);
}

TEST(numbers)
{
    static const char *const hard[] = {"0",
                                       "-0",
                                       "+0.0",
                                       "00012",
                                       ".5",
                                       "5.",
                                       "1e22",
                                       "1e23",
                                       "-1E-22",
                                       "1e-23",
                                       "9007199254740993",
                                       "9007199254740992",
                                       "9007199254740991",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "18446744073709551617",
                                       "184467440737095516160e-1",
                                       "9999999999999999999",
                                       "0.10000000149011612",
                                       "8.41e+21",
                                       "2.2250738585072014e-308",
                                       "2.2250738585072011e-308",
                                       "4.9e-324",
                                       "2.4e-324",
                                       "1.7976931348623157e308",
                                       "0.000000000000000000000000000000000000000000000000000000000000000000001",
                                       "1000000000000000000000000000000e-30",
                                       "9007199254740993e-1",
                                       "36028797018963970e0",
                                       "72057594037927945",
                                       "7205759403792793600000001e-8",
                                       "72057594037927936.5",
                                       "0e999999999999999999",
                                       "0.00000000000000000001234567890123456789",
                                       "1234567890123456789e27",
                                       "1234567890123456789e-27",
                                       "1e-9999999999999999999999",
                                       "6929495644600919.5",
                                       "3.7455744005952583e15",
                                       "2.98023223876953125e-8",
                                       "1.00000000000000011102230246251565404236316680908203125",
                                       "1.00000000000000011102230246251565404236316680908203124",
                                       "1.00000000000000011102230246251565404236316680908203126"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check_number(hard[i]);
    uint64_t state = 12345; /* Knuth's linear congruential generator: any will do */
    for (int i = 0; i < 200000; i++) {
        char string[64];
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bits = state ^ state >> 29;
        double value;
        memcpy(&value, &bits, sizeof value);
        switch (i % 4) {
        case 0: /* as programs write single and double precision */
            snprintf(string, sizeof string, "%.17g", (double)(int64_t)bits * 0x1p-60);
            break;
        case 1:
            snprintf(string, sizeof string, "%.9g", (double)(float)((double)(int64_t)bits * 0x1p-50));
            break;
        case 2: /* 19 digits near the middle between doubles happen here */
            snprintf(string, sizeof string, "%llue%d", (unsigned long long)(bits >> (i / 4 % 11)),
                     (int)(state >> 58) - 32);
            break;
        default:
            snprintf(string, sizeof string, "%.*e", i % 20, isfinite(value) ? value : 1.0);
        }
        check_number(string);
    }
    /* halfway between two doubles m and m + 1 in units of 2^-k, written out in full: ties go to the even one */
    for (int k = 1; k <= 20; k++) {
        char string[64];
        uint64_t odd = (UINT64_C(1) << 53) + 2 * (uint64_t)k + 1; /* 54 bits */
        snprintf(string, sizeof string, "%.*f", 2, 0.0);
        snprintf(string, sizeof string, "%llu.%s", (unsigned long long)(odd >> 1), odd & 1 ? "5" : "0");
        check_number(string);
    }
}

TEST(not_numbers)
{
    static const char *const words[] = {"",    "-",   "+",    ".",     "e5",  "1e",  "1e+",  "1x",    "0x10",
                                        "nan", "inf", "-inf", "1e999", "1,5", "--1", "1..2", "1.2.3", "1_0"};
    sp_text text;
    double value;
    int64_t integer;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sp_text_open(&text, words[i], (int64_t)strlen(words[i]), "#", "", false);
        CHECK(!(sp_text_line(&text) && sp_text_number(&text, &value)), "%s was read as %g", words[i], value);
        CHECK(text.at == words[i], "%s was consumed", words[i]);
    }
    static const char *const not_integers[] = {
        "1.0", "1e2", "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "-", "a"};
    for (size_t i = 0; i < sizeof not_integers / sizeof *not_integers; i++) {
        sp_text_open(&text, not_integers[i], (int64_t)strlen(not_integers[i]), "#", "", false);
        CHECK(sp_text_line(&text) && !sp_text_integer(&text, &integer), "%s was read", not_integers[i]);
    }
    const char *limits = "9223372036854775807 -9223372036854775808 +7#8";
    sp_text_open(&text, limits, (int64_t)strlen(limits), "#", "", false);
    CHECK(sp_text_line(&text) && sp_text_integer(&text, &integer) && integer == INT64_MAX, "largest");
    CHECK(sp_text_integer(&text, &integer) && integer == INT64_MIN, "smallest");
    CHECK(sp_text_integer(&text, &integer) && integer == 7 && !sp_text_more(&text), "comment behind a number");
    char zeros[SP_TEXT_NUMBER + 8];
    memset(zeros, '0', sizeof zeros);
    memcpy(zeros, "0.", 2);
    zeros[SP_TEXT_NUMBER - 1] = '3';
    sp_text_open(&text, zeros, SP_TEXT_NUMBER, "#", "", false);
    CHECK(sp_text_line(&text) && sp_text_number(&text, &value) && value == 0, "%g: 3e-1022 − 1 zeros underflow", value);
    memset(zeros, '7', sizeof zeros);
    sp_text_open(&text, zeros, (int64_t)sizeof zeros, "#", "", false);
    CHECK(sp_text_line(&text) && !sp_text_number(&text, &value), "a number of %d digits", (int)sizeof zeros);
}

/* Every kind of line end counts as one line, anywhere; words are returned unchanged. */
TEST(lines)
{
    const char *file =
        "\xef\xbb\xbf"
        "one\ntwo\r\nthree\rfour\r\r\nfive\r\rseven # eight\n#nine\n \t\nel\\even \\\ntwelve\\\n\nlast\\";
    static const struct {
        const char *word;
        int line;
    } expected[] = {{"one", 1},   {"two", 2},       {"three", 3},   {"four", 4}, {"five", 5},
                    {"seven", 7}, {"el\\even", 10}, {"twelve", 11}, {"last", 13}};
    sp_text text;
    sp_word word;
    int64_t length;
    sp_text_open(&text, file, (int64_t)strlen(file), "#", "", true);
    size_t found = 0;
    while (sp_text_line(&text))
        while (sp_text_word(&text, &word)) {
            if (found < sizeof expected / sizeof *expected)
                CHECK(sp_word_is(word, expected[found].word) && text.line == expected[found].line,
                      "\"%.*s\" in line %lld", (int)word.length, word.at, (long long)text.line);
            found++;
        }
    CHECK(found == sizeof expected / sizeof *expected, "%d words", (int)found);
    const char *cards = "*Elset, NAME = x ,3\n** all\nab";
    sp_text_open(&text, cards, (int64_t)strlen(cards), "**", ",=", false);
    CHECK(sp_text_line(&text) && sp_text_match(&text, "*ELSET") && sp_text_consume(&text, ','), "card");
    CHECK(sp_text_match(&text, "name") && !sp_text_consume(&text, '=') && sp_text_more(&text) &&
              sp_text_consume(&text, '='),
          "key");
    CHECK(sp_text_word(&text, &word) && sp_word_is(word, "x") && sp_text_word(&text, &word) && sp_word_is(word, ","),
          "value");
    CHECK(sp_text_integer(&text, &length) && length == 3 && !sp_text_more(&text), "number behind a comma");
    CHECK(sp_text_line(&text) && text.line == 3 && !sp_text_match(&text, "a") && !sp_text_match(&text, "abc") &&
              sp_text_match(&text, "ab"),
          "whole words");
}

/* Fields with a separator, which may be empty; a separator as last byte announces one more, empty field. */
TEST(fields)
{
    static const struct {
        const char *line;
        int count;
        const char *field[4];
    } list[] = {{"a", 1, {"a"}},           {" a b\t, ,c ", 3, {"a b", "", "c"}},
                {",", 2, {"", ""}},        {"a, b,\nc", 3, {"a", "b", ""}},
                {"a,b#,c", 2, {"a", "b"}}, {"a, # b", 2, {"a", ""}}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        sp_text text;
        sp_word field;
        int n = 0;
        sp_text_open(&text, list[i].line, (int64_t)strlen(list[i].line), "#", "", false);
        CHECK(sp_text_line(&text), "\"%s\" is no line", list[i].line);
        for (bool more = true; more; n++) {
            more = sp_text_field(&text, ',', &field);
            CHECK(n < list[i].count && sp_word_is(field, list[i].field[n]), "\"%s\": field %d is \"%.*s\"",
                  list[i].line, n, (int)field.length, field.at);
        }
        CHECK(n == list[i].count && !sp_text_field(&text, ',', &field) && field.length == 0, "\"%s\": %d fields",
              list[i].line, n);
    }
}

TEST(words)
{
    double value;
    int64_t integer;
    char shown[SP_TEXT_QUOTE];
    CHECK(sp_word_is(sp_word_of("ab"), "ab") && !sp_word_is(sp_word_of("ab"), "aB") &&
              !sp_word_is(sp_word_of("ab"), "abc"),
          "is");
    CHECK(sp_word_same(sp_word_of("aB"), sp_word_of("Ab")) && !sp_word_same(sp_word_of("ab"), sp_word_of("a")), "same");
    CHECK(sp_word_number(sp_word_of("-1.5d1"), &value) && value == -15 && !sp_word_number(sp_word_of("1 "), &value),
          "number");
    CHECK(sp_word_integer(sp_word_of("-12"), &integer) && integer == -12 &&
              !sp_word_integer(sp_word_of("12x"), &integer),
          "integer");
    CHECK(!sp_word_integer((sp_word){"5", 0}, &integer) && !sp_word_number((sp_word){"5", 0}, &value), "empty words");
    CHECK(!sp_word_integer((sp_word){"-5", 1}, &integer), "a sign alone");
    CHECK(strcmp(sp_word_show(sp_word_of("a\x01\xff"), shown), "a??") == 0, "%s", shown);
    CHECK(strcmp(sp_word_show(sp_word_of("123456789 123456789 123456789 123456789 123456789"), shown),
                 "123456789 123456789 123456789 123456789 12...") == 0,
          "%s", shown);
    CHECK(sp_word_utf8(sp_word_of("\xc3\xa4\xf0\x9f\x90\x89")) && !sp_word_utf8(sp_word_of("\xed\xa0\x80")), "UTF-8");
}

/* Binary data between lines, messages with byte offsets, and an included file. */
TEST(places)
{
    const char *file = "count 2\n\x01\n\x02\xff\nend\n", *other = "\xef\xbb\xbf"
                                                                  "x,1\n";
    sp_text text, outer;
    sp_word word;
    context = sp_context_default();
    sp_text_open(&text, file, 16, "", "", false);
    CHECK(sp_text_line(&text) && sp_text_word(&text, &word), "the line before the data");
    sp_text_seek(&text, text.next);
    const char *bytes = sp_text_bytes(&text, 4);
    CHECK(bytes && memcmp(bytes, "\x01\n\x02\xff", 4) == 0, "data");
    CHECK(!sp_text_bytes(&text, 6) && sp_text_line(&text) && sp_text_match(&text, "end"), "the line behind the data");
    text.binary = true;
    CHECK(sp_text_fail(&context, &text, "%d", 7) == SP_INPUT && strcmp(context.message, "byte 16: 7") == 0, "%s",
          context.message);
    outer = text;
    text.binary = false;
    sp_text_blanks(&text, ",");
    sp_text_include(&text, other, (int64_t)strlen(other), "other.txt");
    CHECK(sp_text_line(&text) && sp_text_word(&text, &word) && sp_word_is(word, "x") && sp_text_word(&text, &word),
          "included words");
    CHECK(sp_text_fail(&context, &text, "%d", 7) == SP_INPUT && strcmp(context.message, "other.txt: line 1: 7") == 0,
          "%s", context.message);
    CHECK(!sp_text_line(&text) && !sp_text_line(&outer), "ends");
}

/* ---- OBJ ---- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

TEST(obj_faces)
{
    GOOD("a.obj", SQUARE "f 1 2 3 4\n", 4, 0, 1, 2, 0, 2, 3);
    GOOD("A.OBJ", SQUARE "v .5 2 0\nf 1 2 3 5 4", 5, 0, 1, 2, 0, 2, 4, 0, 4, 3);
    GOOD("a.obj",
         SQUARE "vt 0 0\nvn 0 0 1\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf 1/1/1 2/1/1 4/1/1\nf -4/-1/-1 -2//-1 -1/-1\n", 4,
         0, 1, 2, 0, 1, 2, 0, 1, 3, 0, 2, 3);
    GOOD("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 0 1 0\nf -3 -2 -1\n", 4, 0, 1, 2, 1, 2, 3);
    GOOD("a.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 1 1 0\n", 3, 0, 1, 2); /* vertices after the face */
    GOOD("a.obj",
         "# made by hand\r\n\r\nmtllib a b.mtl\r\nv 0 0 0 # first\r\n\tv  1\t0 0 1.0\r\nv 1 1 0 .1 .2 .3\r\ns off\r\nl "
         "1 2\r\nf 1 2 3\r\n",
         3, 0, 1, 2);
    GOOD("a.obj", "v 0 0 0\rv 1 0 0\rv 1 1 0\rf 1 2 3\r", 3, 0, 1, 2);
    GOOD("a.obj", SQUARE "f 1 2 \\\n3\\\r\n 4\ncurv 0 1 \\\n 1 2 3\nf 2 3 4\\", 4, 0, 1, 2, 0, 2, 3, 1, 2, 3);
    GOOD("a.obj", SQUARE "# C:\\models\\\nf 1 2 3\nusemtl c:\\\nf 2 3 4\n", 4, 0, 1, 2, 1, 2, 3);
    GOOD("-", "# no ending\n" SQUARE "f 1 2 3\n", 4, 0, 1, 2);
    GOOD("a.obj", SQUARE "f 1 1 1\nf 2 1 2", 4, 0, 0, 0, 1, 0, 1); /* nothing is repaired */
    sp_surface surface;
    CHECK_OK(parse_text("a.obj", "v 1 -2.5e-1 .125\nv 1e3 +2 -0.1\nv 0 0 7\nv 100 100 100\nf 1 2 3", SP_GROUPS_NONE,
                        &surface));
    double low[3], high[3];
    sp_surface_box(&surface, low, high); /* without the fourth vertex, which no triangle uses */
    CHECK(low[0] == 0 && low[1] == -0.25 && low[2] == -0.1 && high[0] == 1000 && high[1] == 2 && high[2] == 7,
          "box %g..%g %g..%g %g..%g", low[0], high[0], low[1], high[1], low[2], high[2]);
    CHECK(surface.vertices[0] == 1 && surface.vertices[1] == -0.25 && surface.vertices[2] == 0.125, "first vertex");
    CHECK(surface.group_count == 1 && strcmp(surface.groups[0], "default") == 0 && surface.group[0] == 0,
          "group of a model without any");
    sp_surface_free(&surface);
    CHECK(!surface.vertices && surface.triangle_count == 0, "freed");
}

static void check_groups(const char *text, enum sp_surface_groups groups, int64_t count, const char *const *names,
                         int64_t triangles, const int64_t *group)
{
    OWNED(sp_surface) surface;
    CHECK_OK(parse_text("a.obj", text, groups, &surface));
    CHECK(surface.group_count == count && surface.triangle_count == triangles, "%lld groups",
          (long long)surface.group_count);
    for (int64_t i = 0; i < count && i < surface.group_count; i++)
        CHECK(strcmp(surface.groups[i], names[i]) == 0, "group %lld is \"%s\"", (long long)i, surface.groups[i]);
    for (int64_t i = 0; i < triangles && i < surface.triangle_count; i++)
        CHECK(surface.group[i] == group[i], "triangle %lld is in group %lld", (long long)i,
              (long long)surface.group[i]);
}

TEST(obj_groups)
{
    const char *text =
        "g unused\n" SQUARE
        "f 1 2 3\ng left\tarm  \nusemtl Material 001\nf 1 2 3 4\no body\nf 1 2 4\nusemtl T\xfcr\nf 2 3 4\n"
        "g left arm\nusemtl Material 001\nf 1 3 4\ng\nf 2 3 4\nusemtl T\xc3\xbcr\nf 1 2 3\n";
    static const char *const none[] = {"default"}, *const parts[] = {"unused", "left arm", "body", "default"},
                             *const materials[] = {"default", "Material 001", "T\xc3\xbcr"};
    check_groups(text, SP_GROUPS_NONE, 1, none, 8, (int64_t[8]){0});
    check_groups(text, SP_GROUPS_GROUP, 4, parts, 8, (int64_t[]){0, 1, 1, 2, 2, 1, 3, 3});
    /* the Latin-1 and the UTF-8 spelling are one name */
    check_groups(text, SP_GROUPS_MATERIAL, 3, materials, 8, (int64_t[]){0, 1, 1, 1, 2, 1, 1, 2});
    /* many names: each is found again */
    static char many[200000];
    char *end = many;
    end += sprintf(end, SQUARE);
    for (int i = 0; i < 3000; i++)
        end += sprintf(end, "g part%d\nf 1 2 3\n", i * 7 % 1000);
    OWNED(sp_surface) surface;
    CHECK_OK(parse_text("a.obj", many, SP_GROUPS_GROUP, &surface));
    CHECK(surface.group_count == 1000, "%lld groups", (long long)surface.group_count);
    for (int64_t i = 0; i < surface.triangle_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%d", (int)(i * 7 % 1000));
        CHECK(strcmp(surface.groups[surface.group[i]], name) == 0, "triangle %lld is in %s", (long long)i,
              surface.groups[surface.group[i]]);
    }
}

TEST(obj_errors)
{
    bad("a.obj", "", "the file is empty");
    bad("a.obj", "# nothing\n", "the model has no triangles");
    bad("a.obj", SQUARE, "the model has no triangles");
    bad("a.obj", "v 0 0 0\nv 1 0\n", "line 2: z: expected a finite number, found the end of the line");
    bad("a.obj", "v 0 0 0\r\nv 1 0 1,5\r\n", "line 2: z: expected a finite number, found \"1,5\"");
    bad("a.obj", "v 0 0 0\rv nan 0 0\r", "line 2: x: expected a finite number, found \"nan\"");
    bad("a.obj", "v 0 0 0\n\n# c\nv 0 1e999 0\n", "line 4: y: expected a finite number, found \"1e999\"");
    bad("a.obj", SQUARE "f 1 2\n", "line 5: the face has 2 corners, fewer than 3");
    bad("a.obj", SQUARE "f\n", "line 5: the face has 0 corners, fewer than 3");
    bad("a.obj", SQUARE "f 1 2 0\n", "line 5: the face names vertex 0, but vertices count from 1");
    bad("a.obj", SQUARE "f 1 2 5\nf 1 2 3\n", "line 5: the face names vertex 5 of 4");
    bad("a.obj", SQUARE "f 1 2 -5\n", "line 5: the face names vertex -5, but only 4 vertices stand before it");
    bad("a.obj", SQUARE "f 1 2 9223372036854775807\n", "line 5: the face names vertex 9223372036854775807 of 4");
    bad("a.obj", SQUARE "f 1 2 -9223372036854775808\n",
        "line 5: the face names vertex -9223372036854775808, but only 4 vertices stand before it");
    bad("a.obj", SQUARE "f 1 2 9223372036854775808\n",
        "line 5: corner of a face: expected an integer, found \"9223372036854775808\"");
    bad("a.obj", SQUARE "f 1 2 3.5\n", "line 5: corner of a face: expected an integer, found \"3.5\"");
    bad("a.obj", SQUARE "f 1/x 2 3\n", "line 5: corner of a face: expected an integer behind the slash, found \"x\"");
    bad("a.obj", SQUARE "f 1/1/1/1 2 3\n", "line 5: corner of a face: expected a blank, found \"/\"");
    bad("a.obj", SQUARE "f 1 2 \\\n\\\nx\n", "line 7: corner of a face: expected an integer, found \"x\"");
    bad("a.obj", SQUARE "1 2 3\n", "line 5: \"1\" is not an OBJ statement");
    bad("a.obj", SQUARE "g a\1b\nf 1 2 3\n", "line 6: the name of the group of this face has a control character (1)");
    bad("a.obj", "v \x1b[2Jthis_is_a_very_long_word_that_goes_on_and_on_and_on 0\n",
        "line 1: x: expected a finite number, found \"?[2Jthis_is_a_very_long_word_that_goes_on_...\"");
    bad("a.xyz", "1 2 3\n", "neither the content nor the ending of the name is one of OBJ, PLY, STL and OFF");
    bad_bytes("a.obj", "v 0 0 0\nf 1 1 \0", 15, "line 2: corner of a face: expected an integer, found \"?\"");
}

/* ---- the shared meshes ---- */

typedef struct model {
    const char *file;
    int64_t vertices, triangles; /* of STL: distinct positions */
    double volume, box[3]; /* to the digits given; the volume about the mean of the distinct positions, which matters
                              for open models */
} model;

/* The first three tables of the README of the meshes, in full. */
static const model models[] = {
    {"surface/stanford-bunny.obj", 35947, 69451, 0.00073934, {0.1557, 0.1543, 0.1207}},
    {"surface/bunny.obj", 3301, 6598, 0.74933, {1.552, 1.536, 1.196}},
    {"surface/armadillo.obj", 14587, 29170, 0.068323, {0.8376, 0.9979, 0.7528}},
    {"surface/dragon.obj", 39994, 79988, 0.86719, {2.496, 1.763, 1.115}},
    {"surface/buddha_0.1.obj", 6137, 12304, 0.36456, {0.8224, 2, 0.8229}},
    {"surface/gargoyle.obj", 2674, 5344, 0.034042, {0.4613, 0.708, 0.6141}},
    {"surface/dinosaur5k.obj", 5002, 10000, 0.015438, {0.999, 0.8455, 0.3357}},
    {"surface/dinosaur_low.obj", 502, 1000, 0.014938, {0.9847, 0.8447, 0.4726}},
    {"surface/elephant.off", 2775, 5558, 0.046201, {0.7204, 1, 0.603}},
    {"surface/teapot.obj", 3644, 6320, 26.295, {6.434, 3.15, 4}},
    {"surface/suzanne.obj", 507, 968, 2.2265, {2.734, 1.969, 1.703}},
    {"surface/spot.obj", 2930, 5856, 0.71826, {0.9431, 1.69, 1.718}},
    {"surface/cow.obj", 2903, 5804, 53.567, {10.44, 6.397, 3.403}},
    {"surface/fandisk.obj", 6475, 12946, 20.243, {4.828, 5.245, 2.68}},
    {"surface/horse_quad.obj", 2400, 4796, 0.00026125, {0.1829, 0.152, 0.08372}},
    {"surface/hand_closed.obj", 7993, 15982, 0.029382, {0.7226, 0.939, 0.2677}},
    {"surface/quadknot.obj", 1440, 2880, 1.0573e+06, {170.7, 133.7, 181.3}},
    {"surface/doubleLoopWithCube.obj", 2008, 4012, 4.972, {2.64, 2.739, 1}},
    {"surface/comb.obj", 4910, 9816, 3338, {100, 25, 2}},
    {"surface/torus.obj", 2304, 4608, 1.2188, {2.5, 0.5, 2.5}},
    {"surface/sphere.obj", 642, 1280, 4.1527, {2, 2, 2}},
    {"surface/3holes.off", 3596, 7200, 0.099465, {1, 0.4663, 0.3418}},
    {"thin/SaladBowl.obj", 706, 1408, 0.0087184, {0.6244, 0.6244, 0.2669}},
    {"thin/mat40x40.obj", 3200, 6396, 0.008, {1, 0.008, 1}},
    {"thin/bend2.obj", 55, 80, 0.043686, {2.007, 0.1907, 0.4}},
    {"thin/moebius.obj", 280, 448, 22.465, {39.57, 14.47, 36.7}},
    {"thin/bathtub.obj", 2124, 4375, 0.07193, {0.8405, 0.6186, 1}},
    {"soup/random_triangles.stl", 300, 100, -0.10964, {0.9974, 0.9965, 0.9929}},
    {"soup/bed.obj", 8964, 14042, 2.7455e+05, {140.7, 141.7, 93.17}},
    {"soup/chair.off", 2564, 1804, 860.63, {30, 26.82, 43.93}},
    {"soup/office_chair.obj", 3476, 6893, 17582, {62.85, 79.43, 59.77}},
    {"soup/spider.obj", 762, 1368, 1.4244e+05, {150.6, 79.74, 193.4}},
    {"soup/wuson_inverted.off", 3205, 3732, -1.1523, {0.92, 1.516, 3.244}},
    {"soup/casting_inverted.off", 5096, 10224, -0.033912, {1, 0.3118, 0.7835}},
    {"soup/conrod_unoriented.stl", 3223, 6442, 14.244, {4, 8, 1}},
    {"soup/beetle.obj", 1148, 2053, 0.032603, {0.3603, 0.303, 0.8917}},
    {"soup/dragon_low_nonmanifold.obj", 1190, 2564, 608.82, {22.87, 15.7, 10.06}},
    {"soup/37989_sf.obj", 5233, 11210, 62633, {172, 113, 34.94}},
    {"soup/200683_sf.obj", 148, 291, 2453, {120, 12.02, 4}},
    {"soup/37322.stl", 18, 32, 155.08, {7, 8.083, 5}},
    {"soup/65004.stl", 731, 1466, 12891, {81.93, 60, 24.72}},
    {"soup/112932.stl", 3932, 7880, 2402.9, {15, 37, 9.5}},
    {"soup/non_manif_hole.ply", 432, 755, 4.3183e-07, {0.03222, 0.03206, 0.01286}},
    {"soup/many_small_holes.ply", 2004, 3524, 6.5075e-07, {0.04515, 0.07101, 0.04998}},
    {"soup/sphere_with_hole.stl", 146, 285, 13.46, {3, 3, 3}},
    {"soup/multibody.stl", 20, 32, 0.0016558, {0.636, 1.088, 0.3399}},
    {"soup/degenerated.obj", 7, 24, 0, {2, 2, 2}},
    {"soup/two-boxes-bad-self-union.ply", 486, 708, 1.125, {1.5, 1, 1}},
    {"soup/cube_with_fold.ply", 26, 48, 8, {2, 2, 2}},
    {"soup/hour_glass.off", 259, 512, 0.33333, {1, 2, 1}},
    {"soup/edge_with_four_triangles.off", 6, 4, 0, {2, 2, 1}},
};

static char *load(const char *folder, const char *file, int64_t *count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return NULL;
    fseek(stream, 0, SEEK_END);
    *count = ftell(stream);
    rewind(stream);
    char *bytes = malloc((size_t)*count + 1);
    bool whole = fread(bytes, 1, (size_t)*count, stream) == (size_t)*count;
    fclose(stream);
    if (!whole) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static void mean_position(const sp_surface *surface, double mean[3])
{
    size_t size = 3 * sizeof(double), count = (size_t)surface->vertex_count;
    double *sorted = malloc(count * size), distinct = 0;
    memcpy(sorted, surface->vertices, count * size);
    qsort(sorted, count, size, sp_compare3);
    mean[0] = mean[1] = mean[2] = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sp_compare3(sorted + 3 * i, sorted + 3 * i - 3) != 0) {
            distinct++;
            for (int axis = 0; axis < 3; axis++)
                mean[axis] += sorted[3 * i + (size_t)axis];
        }
    for (int axis = 0; axis < 3; axis++)
        mean[axis] /= distinct;
    free(sorted);
}

/* Signed volume by the divergence theorem: sum of det(a, b, c) / 6. */
static double volume(const sp_surface *surface)
{
    double sum = 0, origin[3], p[3][3];
    mean_position(surface, origin);
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        for (int corner = 0; corner < 3; corner++)
            for (int axis = 0; axis < 3; axis++)
                p[corner][axis] = surface->vertices[3 * surface->triangles[3 * i + corner] + axis] - origin[axis];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

static void check_model(const model *expected, const char *bytes, int64_t count)
{
    OWNED(sp_surface) surface = {0};
    int status = parse_bytes(expected->file, bytes, count, SP_GROUPS_MATERIAL, &surface);
    CHECK(status == SP_OK, "%s: %s", expected->file, context.message);
    if (status != SP_OK)
        return;
    CHECK(surface.vertex_count == expected->vertices, "%s: %lld vertices, not %lld", expected->file,
          (long long)surface.vertex_count, (long long)expected->vertices);
    CHECK(surface.triangle_count == expected->triangles, "%s: %lld triangles, not %lld", expected->file,
          (long long)surface.triangle_count, (long long)expected->triangles);
    double low[3], high[3], measured = volume(&surface);
    sp_surface_box(&surface, low, high);
    for (int axis = 0; axis < 3; axis++) /* four digits are given */
        CHECK(fabs(high[axis] - low[axis] - expected->box[axis]) <= 5.1e-4 * expected->box[axis],
              "%s: extent %d is %.6g, not %g", expected->file, axis, high[axis] - low[axis], expected->box[axis]);
    CHECK(fabs(measured - expected->volume) <= 5.1e-5 * fabs(expected->volume) + 1e-12, "%s: volume %.7g, not %g",
          expected->file, measured, expected->volume);
}

TEST(shared_meshes)
{
    const char *folder = test_meshes();
    if (!folder)
        SKIP("SUPPLE_MESHES is not set");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        int64_t count;
        char *bytes = load(folder, models[i].file, &count);
        CHECK(bytes, "%s cannot be read", models[i].file);
        if (bytes)
            check_model(&models[i], bytes, count);
        free(bytes);
    }
}

/* Real files, truncated or with changed bytes: a model, or a message with the place of the fault. */
TEST(damaged_meshes)
{
    static const char *const files[] = {"soup/degenerated.obj", "soup/hour_glass.off", "soup/multibody.stl",
                                        "soup/random_triangles.stl", "soup/cube_with_fold.ply"};
    const char *folder = test_meshes();
    if (!folder)
        SKIP("SUPPLE_MESHES is not set");
    uint64_t state = 1;
    int refused = 0, tried = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int64_t count;
        char *bytes = load(folder, files[i], &count);
        CHECK(bytes, "%s cannot be read", files[i]);
        for (int round = 0; bytes && round < 400; round++, tried++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int64_t place = (int64_t)((state >> 33) % (uint64_t)count);
            char kept = bytes[place];
            bytes[place] ^= (char)(1 << (state >> 30 & 7));
            OWNED(sp_surface) surface;
            int status = parse_bytes(files[i], bytes, round % 2 ? count : place + 1, SP_GROUPS_GROUP, &surface);
            bytes[place] = kept;
            CHECK(status == SP_OK || (status == SP_INPUT && context.message[0]), "%s: status %d", files[i], status);
            for (int64_t j = 0; j < 3 * surface.triangle_count; j++)
                CHECK(surface.triangles[j] >= 0 && surface.triangles[j] < surface.vertex_count, "%s: corner %lld",
                      files[i], (long long)surface.triangles[j]);
            refused += status != SP_OK;
        }
        free(bytes);
    }
    NOTE("%d of %d damaged files refused", refused, tried);
    CHECK(refused > tried / 2, "%d", refused); /* all truncations except those of OBJ, which has no mark of its end */
}

/* A face and its reverse, with the same vertices and with its own, have the same triangles, so that they are two sides
 * of one; other faces keep the fan about their first corner. */
TEST(faces_from_both_sides)
{
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 1 1 1\nv 0 1 0\nv 3 0 0\nv 0 1 0\nv 1 1 1\nv 1 0 0\nv 0 0 0\n"
                               "f 1 2 3 4\nf 4 3 2 1\nf 6 7 8 9\nf 2 1 4 3\nf 2 5 3 1\n";
    static const int64_t expected[][3] = {{0, 1, 2}, {0, 2, 3}, {2, 1, 0}, {0, 3, 2}, {8, 5, 6},
                                          {6, 7, 8}, {0, 3, 2}, {2, 1, 0}, {1, 4, 2}, {1, 2, 0}};
    sp_surface surface;
    CHECK_OK(sp_surface_parse(&context, "sides.obj", text, sizeof text - 1, SP_GROUPS_NONE, &surface));
    CHECK(surface.triangle_count == 10, "%lld triangles", (long long)surface.triangle_count);
    for (int64_t t = 0; t < surface.triangle_count && t < 10; t++) { /* as sets of vertices, with their sense */
        const int64_t *is = surface.triangles + 3 * t;
        bool found = false;
        for (int64_t other = t / 2 * 2; other < t / 2 * 2 + 2; other++)
            for (int k = 0; k < 3; k++)
                found |= is[0] == expected[other][k] && is[1] == expected[other][(k + 1) % 3] &&
                         is[2] == expected[other][(k + 2) % 3];
        CHECK(found, "triangle %lld: %lld %lld %lld", (long long)t, (long long)is[0], (long long)is[1],
              (long long)is[2]);
    }
    sp_pool_free(&surface.pool);
}
