#include "formats/import/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0 && DBL_MANT_DIG == 53,
               "short decimal numbers are converted by one rounded double operation");

__extension__ typedef unsigned __int128 wide;

enum { BLANK = 1, DELIMITER = 2, COMMENT = 4, CONTINUES = 8 };

static void mark(sp_text *text, const char *bytes, unsigned char kind)
{
    for (; *bytes; bytes++)
        text->kind[(unsigned char)*bytes] |= kind;
}

void sp_text_open(sp_text *text, const char *bytes, int64_t count, const char *comment, const char *delimiters,
                  bool continuation)
{
    *text = (sp_text){.comment = comment, .continuation = continuation};
    mark(text, " \t\v\f", BLANK);
    mark(text, delimiters, DELIMITER);
    mark(text, continuation ? "\\" : "", CONTINUES);
    if (*comment)
        text->kind[(unsigned char)*comment] |= COMMENT;
    sp_text_include(text, bytes, count, NULL);
}

void sp_text_blanks(sp_text *text, const char *bytes)
{
    mark(text, bytes, BLANK);
}

void sp_text_include(sp_text *text, const char *bytes, int64_t count, const char *name)
{
    text->begin = text->at = text->stop = text->next = bytes;
    text->end = bytes + count;
    text->line = 0;
    text->newline = NULL;
    text->name = name;
    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        sp_text_seek(text, bytes + 3);
}

void sp_text_seek(sp_text *text, const char *at)
{
    if (at < text->at)
        text->newline = NULL;
    text->at = text->stop = text->next = at;
}

const char *sp_text_bytes(sp_text *text, int64_t size)
{
    const char *bytes = text->at;
    if (text->end - bytes < size)
        return NULL;
    sp_text_seek(text, bytes + size);
    return bytes;
}

/* Advances to the next line of the file, whatever its contents. */
static bool step(sp_text *text)
{
    text->at = text->stop = text->next;
    if (text->next == text->end)
        return false;

    if (!text->newline || text->newline < text->at) {
        text->newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
        if (!text->newline)
            text->newline = text->end;
    }

    /* A lone CR ends a line too; one or two before an LF belong to it. */
    const char *carriage = memchr(text->at, '\r', (size_t)(text->newline - text->at));
    text->stop = carriage ? carriage : text->newline;
    if (carriage && (text->newline - carriage > 2 || carriage[text->newline - carriage - 1] != '\r'))
        text->next = carriage + 1;
    else
        text->next = text->newline < text->end ? text->newline + 1 : text->end;

    text->line++;
    return true;
}

static bool comment_at(const sp_text *text, const char *at)
{
    if (!(text->kind[(unsigned char)*at] & COMMENT))
        return false;
    size_t length = strlen(text->comment);
    return (size_t)(text->stop - at) >= length && memcmp(at, text->comment, length) == 0;
}

bool sp_text_more(sp_text *text)
{
    for (;;) {
        while (text->at < text->stop && text->kind[(unsigned char)*text->at] & BLANK)
            text->at++;
        if (text->at == text->stop)
            return false;

        if (comment_at(text, text->at)) {
            text->at = text->stop;
            return false;
        }

        if (!(text->kind[(unsigned char)*text->at] & CONTINUES && text->at + 1 == text->stop))
            return true;
        if (!step(text))
            return false;
    }
}

bool sp_text_line(sp_text *text)
{
    while (text->continuation && text->at < text->stop && text->stop[-1] == '\\')
        if (!step(text))
            return false;
    while (step(text))
        if (sp_text_more(text))
            return true;
    return false;
}

bool sp_text_ended(const sp_text *text)
{
    return text->at == text->stop || text->kind[(unsigned char)*text->at] & BLANK ||
           (text->kind[(unsigned char)*text->at] & CONTINUES && text->at + 1 == text->stop);
}

/* The end of the word that begins at text->at, which is not a blank. */
static const char *word_end(const sp_text *text)
{
    const char *end = text->at;
    while (end < text->stop && !(text->kind[(unsigned char)*end] & (BLANK | DELIMITER)) &&
           !(text->kind[(unsigned char)*end] & CONTINUES && end + 1 == text->stop))
        end++;
    return end > text->at ? end : text->at + 1;
}

bool sp_text_word(sp_text *text, sp_word *word)
{
    if (!sp_text_more(text))
        return false;
    word->at = text->at;
    text->at = word_end(text);
    word->length = text->at - word->at;
    return true;
}

static sp_word without_blanks_behind(const sp_text *text, const char *at, const char *end)
{
    while (end > at && text->kind[(unsigned char)end[-1]] & BLANK)
        end--;
    return (sp_word){at, end - at};
}

bool sp_text_field(sp_text *text, char separator, sp_word *field)
{
    sp_text_more(text);
    const char *end = text->at;
    while (end < text->stop && *end != separator && !comment_at(text, end))
        end++;
    *field = without_blanks_behind(text, text->at, end);
    bool separated = end < text->stop && *end == separator;
    text->at = separated ? end + 1 : text->stop;
    return separated;
}

int sp_text_fields(sp_text *text, char separator, int capacity, sp_word *field)
{
    sp_word beyond;
    int count = 0;
    for (bool more = true; more; count++)
        more = sp_text_field(text, separator, count < capacity ? &field[count] : &beyond);
    return count;
}

void sp_text_rest(sp_text *text, sp_word *rest)
{
    while (text->at < text->stop && text->kind[(unsigned char)*text->at] & BLANK)
        text->at++;
    *rest = without_blanks_behind(text, text->at, text->stop);
    text->at = text->stop;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool sp_text_match(sp_text *text, const char *word)
{
    if (!sp_text_more(text))
        return false;
    const char *end = word_end(text), *at = text->at;
    for (; at < end && *word; at++, word++)
        if (lower(*at) != lower(*word))
            return false;
    if (at < end || *word)
        return false;
    text->at = end;
    return true;
}

bool sp_text_consume(sp_text *text, char byte)
{
    if (text->at == text->stop || *text->at != byte)
        return false;
    text->at++;
    return true;
}

/* ---- numbers ---- */

static bool digit(const char *at, const char *stop)
{
    return at < stop && *at >= '0' && *at <= '9';
}

/* The end of the integer that begins here; NULL if there is none. */
static const char *scan_integer(const char *at, const char *stop, int64_t *value)
{
    bool negative = at < stop && *at == '-';
    if (at < stop && (*at == '-' || *at == '+'))
        at++;
    if (!digit(at, stop))
        return NULL;
    int64_t sum = 0;
    for (; digit(at, stop); at++) {
        int one = negative ? '0' - *at : *at - '0';
        if (__builtin_mul_overflow(sum, (int64_t)10, &sum) || __builtin_add_overflow(sum, (int64_t)one, &sum))
            return NULL;
    }
    *value = sum;
    return at;
}

/* mantissa · 10^exponent for |exponent| ≤ 27, rounded once. Since 5^27 < 2^64, the product is exact in 128 bits. The
 * quotient is computed to 63 or 64 bits, with all following bits combined into the last one, and then rounded to 53. */
static double scale(uint64_t mantissa, int exponent)
{
    uint64_t five = 1;
    for (int i = 0; i < abs(exponent); i++)
        five *= 5;
    if (exponent >= 0)
        return ldexp((double)((wide)mantissa * five), exponent);
    int up = __builtin_clzll(mantissa), down = __builtin_clzll(five);
    wide numerator = (wide)(mantissa << up) << 63;
    uint64_t divisor = five << down, quotient = (uint64_t)(numerator / divisor);
    quotient |= (wide)quotient * divisor != numerator;
    return ldexp((double)quotient, exponent - 63 - up + down);
}

/* Converts numbers with very many digits or large exponents, for which the two fast methods do not work. */
static bool convert_slowly(const char *begin, const char *end, double *value)
{
    char copy[SP_TEXT_NUMBER + 1];
    if (end - begin > SP_TEXT_NUMBER)
        return false;
    for (int64_t i = 0; i < end - begin; i++)
        copy[i] = lower(begin[i]) == 'd' ? 'e' : begin[i];
    copy[end - begin] = 0;
    locale_t plain =
        newlocale(LC_ALL_MASK, "C", (locale_t)0); /* strtod alone would use the decimal point of the user's locale */
    if (!plain)
        return false;
    *value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return isfinite(*value);
}

/* The end of the number that begins here; NULL if there is none or it is not finite. */
static const char *scan_number(const char *at, const char *stop, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    bool negative = at < stop && *at == '-';
    if (at < stop && (*at == '-' || *at == '+'))
        at++;
    const char *begin = at;

    /* The digits before and behind the point form one integer: x = mantissa · 10^exponent. */
    uint64_t mantissa = 0; /* wraps beyond 19 digits, and is then not used */
    int64_t significant = 0, exponent = 0;
    for (; digit(at, stop); at++) {
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        significant += significant || *at != '0';
    }

    bool any = at > begin;
    if (at < stop && *at == '.') {
        const char *fraction = ++at;
        for (; digit(at, stop); at++) {
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
            significant += significant || *at != '0';
        }
        exponent = fraction - at;
        any = any || at > fraction;
    }

    if (!any)
        return NULL;

    if (at < stop && (lower(*at) == 'e' || lower(*at) == 'd')) {
        at++;
        bool down = at < stop && *at == '-';
        if (at < stop && (*at == '-' || *at == '+'))
            at++;
        if (!digit(at, stop))
            return NULL;
        int64_t written = 0;
        for (; digit(at, stop); at++)
            written = written < 1000000 ? written * 10 + (*at - '0') : written;
        exponent += down ? -written : written;
    }

    double magnitude;
    if (significant == 0)
        magnitude = 0;
    else if (significant <= 19 && mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22)
        /* Both factors are exact, so that the result is rounded once. */
        magnitude = exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
    else if (significant <= 19 && exponent >= -27 && exponent <= 27)
        magnitude = scale(mantissa, (int)exponent);
    else if (!convert_slowly(begin, at, &magnitude))
        return NULL;

    *value = negative ? -magnitude : magnitude;
    return at;
}

/* Returns true if the number ends here and does not run into other characters. */
static bool number_ends(sp_text *text, const char *end)
{
    if (!end || (end < text->stop && !text->kind[(unsigned char)*end]))
        return false;
    text->at = end;
    return true;
}

bool sp_text_integer(sp_text *text, int64_t *value)
{
    int64_t found;
    if (!sp_text_more(text) || !number_ends(text, scan_integer(text->at, text->stop, &found)))
        return false;
    *value = found;
    return true;
}

bool sp_text_number(sp_text *text, double *value)
{
    double found;
    if (!sp_text_more(text) || !number_ends(text, scan_number(text->at, text->stop, &found)))
        return false;
    *value = found;
    return true;
}

/* ---- messages ---- */

const char *sp_text_quote(const sp_text *text, char quote[SP_TEXT_QUOTE])
{
    char shown[SP_TEXT_QUOTE];
    sp_text here = *text;
    sp_word word;
    if (sp_text_word(&here, &word))
        snprintf(quote, SP_TEXT_QUOTE, "\"%.45s\"", sp_word_show(word, shown));
    else
        snprintf(quote, SP_TEXT_QUOTE, "the end of the line");
    return quote;
}

int64_t sp_text_place(const sp_text *text)
{
    return text->binary ? text->at - text->begin : text->line > 0 ? text->line : 1;
}

int sp_text_fail(sp_context *context, const sp_text *text, const char *format, ...)
{
    char message[sizeof context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sp_fail(context, SP_INPUT, "%s%s%s %lld: %.400s", text->name ? text->name : "", text->name ? ": " : "",
                   text->binary ? "byte" : "line", (long long)sp_text_place(text), message);
}

int sp_text_need_number(sp_context *context, sp_text *text, const char *what, double *value)
{
    char quote[SP_TEXT_QUOTE];
    if (sp_text_number(text, value))
        return SP_OK;
    return sp_text_fail(context, text, "%s: expected a finite number, found %s", what, sp_text_quote(text, quote));
}

int sp_text_need_integer(sp_context *context, sp_text *text, const char *what, int64_t *value)
{
    char quote[SP_TEXT_QUOTE];
    if (sp_text_integer(text, value))
        return SP_OK;
    return sp_text_fail(context, text, "%s: expected an integer, found %s", what, sp_text_quote(text, quote));
}

int sp_text_field_number(sp_context *context, const sp_text *text, const char *what, sp_word field, double *value)
{
    char shown[SP_TEXT_QUOTE];
    if (sp_word_number(field, value))
        return SP_OK;
    return sp_text_fail(context, text, "%s: \"%s\" is not a number", what, sp_word_show(field, shown));
}

/* ---- words ---- */

sp_word sp_word_of(const char *string)
{
    return (sp_word){string, (int64_t)strlen(string)};
}

bool sp_word_is(sp_word word, const char *other)
{
    return (size_t)word.length == strlen(other) && memcmp(word.at, other, (size_t)word.length) == 0;
}

bool sp_word_same(sp_word word, sp_word other)
{
    int64_t i = 0;
    while (i < word.length && i < other.length && lower(word.at[i]) == lower(other.at[i]))
        i++;
    return i == word.length && i == other.length;
}

uint32_t sp_word_hash(sp_word word)
{
    uint32_t hash = 2166136261;
    for (int64_t i = 0; i < word.length; i++)
        hash = (hash ^ (unsigned char)lower(word.at[i])) * 16777619;
    return hash;
}

bool sp_word_utf8(sp_word word)
{
    const unsigned char *byte = (const unsigned char *)word.at;
    for (int64_t i = 0; i < word.length;) {
        int more = -1; /* number of bytes that must follow this one */
        if (byte[i] < 0x80)
            more = 0;
        else if (byte[i] >= 0xc2 && byte[i] < 0xe0)
            more = 1;
        else if (byte[i] >= 0xe0 && byte[i] < 0xf0)
            more = 2;
        else if (byte[i] >= 0xf0 && byte[i] < 0xf5)
            more = 3;

        if (more < 0 || more >= word.length - i)
            return false;

        for (int j = 1; j <= more; j++)
            if ((byte[i + j] & 0xc0) != 0x80)
                return false;
        /* no overlong form, no surrogates, nothing above U+10FFFF */
        if ((byte[i] == 0xe0 && byte[i + 1] < 0xa0) || (byte[i] == 0xed && byte[i + 1] > 0x9f) ||
            (byte[i] == 0xf0 && byte[i + 1] < 0x90) || (byte[i] == 0xf4 && byte[i + 1] > 0x8f))
            return false;
        i += more + 1;
    }
    return true;
}

bool sp_word_integer(sp_word word, int64_t *value)
{
    return scan_integer(word.at, word.at + word.length, value) == word.at + word.length;
}

bool sp_word_number(sp_word word, double *value)
{
    return scan_number(word.at, word.at + word.length, value) == word.at + word.length;
}

const char *sp_word_show(sp_word word, char shown[SP_TEXT_QUOTE])
{
    int used = 0, capacity = SP_TEXT_QUOTE - 6; /* two quotation marks, an ellipsis and the terminator */
    for (; used < word.length && used < capacity; used++)
        shown[used] = (char)(word.at[used] >= ' ' && word.at[used] < 127 ? word.at[used] : '?');
    snprintf(shown + used, (size_t)(SP_TEXT_QUOTE - used), "%s", word.length > capacity ? "..." : "");
    return shown;
}
