#include "formats/export/source_write.h"

#include "formats/export/stream.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header_text[] =
#include "formats/model_h.inc"
    ;
static const char begin_text[] =
#include "formats/model_c.inc"
    "\n";
static const char polynomials_text[] =
#include "formats/model_polynomials_c.inc"
    "\n";
static const char cubature_text[] =
#include "formats/model_laws_c.inc"
    "\n"
#include "formats/model_cubature_c.inc"
    "\n";
static const char end_text[] =
#include "formats/model_equations_c.inc"
    "\n"
#include "formats/model_motion_c.inc"
    ;

/* ---- names ---- */

/* Words of C and of C++. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete "
    "do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void "
    "volatile "
    "wchar_t while xor xor_eq ";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_part(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

const char *sp_c_source_name_fault(const char *name)
{
    const size_t length = strlen(name);
    char word[SP_C_SOURCE_NAME + 2];
    if (length == 0 || !is_letter(*name) || *name == '_')
        return "it does not begin with a letter";
    for (const char *at = name; *at; at++)
        if (!is_part(*at))
            return "it has other characters than letters, digits and _";
    if (length >= SP_C_SOURCE_NAME)
        return "it is longer than 63 characters";
    snprintf(word, sizeof word, " %s ", name);
    return strstr(keywords, word) ? "it is a keyword" : NULL;
}

/* ---- numbers ---- */

typedef struct writer {
    sp_stream stream;
    const sp_c_source *source;
    int column;
    const char *variables; /* for the mark of that name; NULL: none */
    bool range;            /* a number does not fit the type */
} writer;

static bool fits(const writer *w, double value)
{
    return w->source->single ? fabs(value) <= (double)FLT_MAX : isfinite(value);
}

/* The shortest of few forms that reads back as the same number. */
static void format_number(const writer *w, double value, char text[40])
{
    const bool single = w->source->single;
    const double number = single ? (double)(float)value : value;
    for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
        snprintf(text, 40, "%.*g", digits, number == 0 ? 0 : number);
        if (single ? (double)strtof(text, NULL) == number : strtod(text, NULL) == number)
            break;
    }
    if (!strpbrk(text, ".e"))
        strcat(text, ".");
    if (single)
        strcat(text, "f");
}

/* With a comma, in lines of at most 118 characters. */
static void put_entry(writer *w, const char *text)
{
    const int length = (int)strlen(text) + 1;
    if (w->column + length > 118) {
        sp_stream_print(&w->stream, "\n");
        w->column = 0;
    }
    sp_stream_print(&w->stream, w->column ? " %s," : "    %s,", text);
    w->column += length + (w->column ? 1 : 4);
}

static void put_number(writer *w, double value)
{
    char text[40];
    if (!fits(w, value)) {
        w->range = true;
        value = 0;
    }
    format_number(w, value, text);
    put_entry(w, text);
}

static void put_integer(writer *w, int32_t value)
{
    char text[12];
    snprintf(text, sizeof text, "%d", (int)value);
    put_entry(w, text);
}

/* type: a name in C; NULL: NAME_real. */
static void begin_table(writer *w, const char *type, const char *name, const char *size)
{
    sp_stream_print(&w->stream, "static const %s%s %s_%s%s = {\n", type ? type : w->source->name, type ? "" : "_real",
                    w->source->name, name, size);
    w->column = 0;
}

static void end_table(writer *w)
{
    sp_stream_print(&w->stream, "%s};\n\n", w->column ? "\n" : "");
}

/* ---- the tables ---- */

static void put_table(writer *w, const sp_c_source_table *table)
{
    begin_table(w, table->numbers ? "int" : NULL, table->name, "[]");
    for (int64_t i = 0; i < table->count; i++)
        if (table->numbers)
            put_integer(w, table->numbers[i]);
        else
            put_number(w, table->values[i]);
    end_table(w);
}

static void put_probes(writer *w)
{
    char size[40];
    const sp_c_source *source = w->source;

    if (source->probe_count == 0)
        return;

    snprintf(size, sizeof size, "[][3]");
    begin_table(w, NULL, "probe_places", size);
    for (int64_t p = 0; p < source->probe_count; p++) {
        sp_stream_print(&w->stream, "    {\n");
        for (int c = 0; c < 3; c++)
            put_number(w, source->probes[p].place[c]);
        sp_stream_print(&w->stream, "\n    },\n");
        w->column = 0;
    }
    end_table(w);

    snprintf(size, sizeof size, "[][3][%lld]", (long long)source->tables->r);
    begin_table(w, NULL, "probe_rows", size);
    for (int64_t p = 0; p < source->probe_count; p++) {
        sp_stream_print(&w->stream, "    {\n");
        for (int c = 0; c < 3; c++) {
            sp_stream_print(&w->stream, "    {\n");
            for (int64_t i = 0; i < source->tables->r; i++)
                put_number(w, source->probes[p].rows[c * source->tables->r + i]);
            sp_stream_print(&w->stream, "\n    },\n");
            w->column = 0;
        }
        sp_stream_print(&w->stream, "    },\n");
    }
    end_table(w);
}

/* ---- marks and names in the texts ---- */

/* Text that is safe in a comment: names of files may hold anything. */
static void put_comment(writer *w)
{
    sp_stream_print(&w->stream, "/* ");
    for (const char *at = w->source->origin; *at; at++) {
        const char c = *at;
        if (c == '\n')
            sp_stream_print(&w->stream, "\n * ");
        else
            sp_stream_bytes(&w->stream, is_part(c) || (c && strchr(" .,:;()+-@", c)) ? &c : "_", 1);
    }
    sp_stream_print(&w->stream, " */\n");
}

static void put_capitals(writer *w, const char *text)
{
    for (; *text; text++) {
        const char c = (char)toupper((unsigned char)*text);
        sp_stream_bytes(&w->stream, &c, 1);
    }
}

static void put_size(writer *w, const char *name, int64_t value, const char *meaning)
{
    sp_stream_print(&w->stream, "#define ");
    put_capitals(w, w->source->name);
    sp_stream_print(&w->stream, "_%s %lld", name, (long long)value);
    sp_stream_print(&w->stream, *meaning ? " /* %s */\n" : "\n", meaning);
}

static void put_sizes(writer *w)
{
    const sp_c_source *source = w->source;
    sp_stream_print(&w->stream, "typedef %s %s_real;\n", source->single ? "float" : "double", source->name);

    put_size(w, "R", source->tables->r, "coordinates");
    put_size(w, "PROBES", source->probe_count, "");
    put_size(w, "SINGLE", source->single, "numbers are: 0 double, 1 float");
    put_size(w, "CUBIC", source->tables->cubic, "1: the force is a cubic polynomial of q");
    put_size(w, "ELEMENTS", source->tables->element_count, "whose weighted forces are summed; 0: a polynomial force");
    if (source->tables->element_count)
        put_size(w, "ELEMENT_ROWS", source->tables->element_rows, "displacements of an element, at most");

    if (source->probe_count == 0)
        return;

    sp_stream_print(&w->stream, "\nenum {\n");
    for (int64_t p = 0; p < source->probe_count; p++) {
        sp_stream_print(&w->stream, "    ");
        put_capitals(w, source->name);
        sp_stream_print(&w->stream, "_PROBE_");
        put_capitals(w, source->probes[p].name);
        sp_stream_print(&w->stream, " = %lld%s\n", (long long)p, p + 1 < source->probe_count ? "," : "");
    }
    sp_stream_print(&w->stream, "};\n");
}

static void put_tables(writer *w)
{
    const sp_c_source_tables *tables = w->source->tables;
    for (int i = 0; i < tables->count; i++)
        put_table(w, &tables->table[i]);
    begin_table(w, NULL, "damping_of_mesh", "[2]");
    put_number(w, w->source->damping[0]);
    put_number(w, w->source->damping[1]);
    end_table(w);
    put_probes(w);
}

static void put_text(writer *w, const char *text);

/* What stands for a word of the text from `at` on: a mark, or "model" at the beginning of a name. Returns how many
 * characters it replaces; 0: none. */
static size_t put_replacement(writer *w, const char *text, const char *at)
{
    static const char origin[] = "/*< origin >*/\n", sizes[] = "/*< sizes >*/\n", table_mark[] = "/*< tables >*/\n",
                      parts[] = "/*< parts >*/\n", variables[] = "/*< variables >*/\n";

    if (!strncmp(at, origin, sizeof origin - 1)) {
        put_comment(w);
        return sizeof origin - 1;
    }

    if (!strncmp(at, sizes, sizeof sizes - 1)) {
        put_sizes(w);
        return sizeof sizes - 1;
    }

    if (!strncmp(at, parts, sizeof parts - 1)) {
        put_size(w, "PARTS", w->source->tables->parts, "");
        return sizeof parts - 1;
    }

    if (!strncmp(at, table_mark, sizeof table_mark - 1)) {
        put_tables(w);
        return sizeof table_mark - 1;
    }

    if (w->variables && !strncmp(at, variables, sizeof variables - 1)) {
        put_text(w, w->variables);
        return sizeof variables - 1;
    }

    /* Only at the beginning of a name. */
    if (at > text && is_part(at[-1]))
        return 0;
    if (!strncmp(at, "MODEL_", 6))
        put_capitals(w, w->source->name);
    else if (!strncmp(at, "model_", 6) || !strncmp(at, "model.h", 7) || !strncmp(at, "model.c", 7))
        sp_stream_print(&w->stream, "%s", w->source->name);
    else
        return 0;
    return 5;
}

static void put_text(writer *w, const char *text)
{
    for (const char *at = text; *at;) {
        const size_t replaced = put_replacement(w, text, at);
        if (replaced == 0)
            sp_stream_bytes(&w->stream, at, 1);
        at += replaced ? replaced : 1;
    }
}

/* Texts [count] one after another. */
static int write_texts(sp_context *context, int descriptor, const sp_c_source *source, int count,
                       const char *const *texts, const char *variables)
{
    writer *w = malloc(sizeof *w);
    SP_PASS(sp_allocated(context, w));

    w->source = source;
    w->range = false;
    w->variables = variables;

    sp_stream_begin(&w->stream, descriptor);
    for (int i = 0; i < count; i++)
        put_text(w, texts[i]);
    int status = sp_stream_end(context, &w->stream);

    if (status == SP_OK && w->range)
        status = sp_fail(context, SP_INPUT, "a coefficient is beyond the range of %s",
                         source->single ? "float; leave out --single" : "double");
    free(w);
    return status;
}

int sp_c_source_write_header(sp_context *context, int descriptor, const sp_c_source *source)
{
    return write_texts(context, descriptor, source, 1, (const char *const[]){header_text}, NULL);
}

int sp_c_source_write_text(sp_context *context, int descriptor, const sp_c_source *source, const char *text,
                           const char *variables)
{
    return write_texts(context, descriptor, source, 1, &text, variables);
}

int sp_c_source_write_code(sp_context *context, int descriptor, const sp_c_source *source)
{
    const char *const texts[] = {begin_text, source->tables->element_count ? cubature_text : polynomials_text,
                                 end_text};
    if (source->tables->r > SP_C_SOURCE_MOST)
        return sp_fail(context, SP_INPUT, "%lld coordinates: a model as C source has at most %d",
                       (long long)source->tables->r, SP_C_SOURCE_MOST);
    return write_texts(context, descriptor, source, 3, texts, NULL);
}
