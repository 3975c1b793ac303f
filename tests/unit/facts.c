/* The values of meta and result that programs write. */
#include "test.h"
#include "tools/common/tool.h"

#include <setjmp.h>

/* In place of the messages of programs: the test goes on where the program would end. */
static jmp_buf ended;
static int failure;

const char *tool_output_path(void)
{
    return "out.npz";
}

noreturn void tool_fail(int status, const char *file, const char *format, ...)
{
    (void)file;
    (void)format;
    failure = status;
    longjmp(ended, 1);
}

noreturn void tool_out_of_memory(void)
{
    abort();
}

static const sp_fact facts[] = {{"count", SP_INTEGER, .meaning = ""},
                                {"below", SP_INTEGER, .null = true, .meaning = ""},
                                {"length", SP_NUMBER, .unit = "m", .meaning = ""},
                                {"next", SP_NUMBER, .null = true, .meaning = ""},
                                {"closed", SP_BOOLEAN, .meaning = ""},
                                {"word", SP_STRING, .meaning = ""},
                                {"failure", SP_STRING, .null = true, .meaning = ""},
                                {"mesh", SP_HASH, .meaning = ""},
                                {"sizes", SP_INTEGERS, .meaning = ""},
                                {"origin", SP_NUMBERS, .meaning = ""},
                                {"errors", SP_NUMBERS, .null = true, .meaning = ""},
                                {"run", SP_OBJECT, .meaning = ""},
                                {0}};

/* The same keys, order and values. Versions of Jansson write 0.1 with other digits, so that the expected text is read
 * and written too. */
static void check_text(json_t *object, const char *expected)
{
    json_t *read = json_loads(expected, 0, NULL);
    char *text = json_dumps(object, JSON_COMPACT), *other = json_dumps(read, JSON_COMPACT);

    CHECK(text && other && !strcmp(text, other), "%s", text);

    free(text);
    free(other);
    json_decref(read);
    json_decref(object);
}

TEST(values)
{
    const int64_t sizes[] = {7, INT64_C(-9007199254740993)};
    const double origin[] = {0.5, -2, 0.1};
    json_t *object = json_object();
    tool_facts(object, facts, {"origin", .count = 3, .reals = origin}, {"sizes", .count = 2, .integers = sizes},
               {"count", .integer = INT64_C(9007199254740993)}, {"length", .real = 0.25}, {"closed", .boolean = true},
               {"word", .text = "K"}, {"mesh", .text = ""}, {"run", .json = json_pack("{s:i}", "steps", 3)});
    tool_facts(object, facts, {"next", .real = 2});
    check_text(object, "{\"origin\":[0.5,-2.0,0.10000000000000001],\"sizes\":[7,-9007199254740993],"
                       "\"count\":9007199254740993,\"length\":0.25,\"closed\":true,\"word\":\"K\",\"mesh\":\"\","
                       "\"run\":{\"steps\":3},\"next\":2.0}");
}

/* 0, false and empty arrays are values; a key that is written again stays at its place. */
TEST(zeros)
{
    json_t *object = json_object();
    tool_facts(object, facts, {"count", .integer = 5}, {"length", .real = 0}, {"closed", .boolean = false},
               {"sizes", .count = 0}, {"origin", .count = 0});
    tool_facts(object, facts, {"count", .integer = 0});
    check_text(object, "{\"count\":0,\"length\":0.0,\"closed\":false,\"sizes\":[],\"origin\":[]}");
}

TEST(nothing)
{
    const double errors[] = {NAN, 1};
    json_t *object = json_object();
    tool_facts(object, facts, {"next", .real = INFINITY, .none = true}, {"below", .integer = -1, .none = true},
               {"failure", .none = true}, {"errors", .count = 2, .reals = errors, .none = true});
    tool_facts(object, facts, {"length", .real = NAN, .leave_out = true}, {"closed", .leave_out = true});
    check_text(object, "{\"next\":null,\"below\":null,\"failure\":null,\"errors\":[null,null]}");
}

static bool refused(json_t *object, const tool_fact *one)
{
    failure = SP_OK;
    if (!setjmp(ended))
        tool_facts_set(object, facts, one);
    return failure == SP_NUMERICAL && json_object_size(object) == 0;
}

TEST(not_finite)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        json_t *object = json_object();
        CHECK(refused(object, (tool_fact[]){{"next", .real = bad[i]}, {0}}), "%g is written", bad[i]);
        CHECK(refused(object, (tool_fact[]){{"errors", .count = 1, .reals = &bad[i]}, {0}}), "[%g] is written", bad[i]);
        json_decref(object);
    }
}
