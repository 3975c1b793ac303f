#include "text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0 && DBL_MANT_DIG == 53, "short decimal numbers are converted by one rounded double operation");

__extension__ typedef unsigned __int128 wide;

enum { BLANK = 1, DELIMITER = 2, COMMENT = 4, CONTINUES = 8 };

void sp_text_open(sp_text *text, const char *bytes, int64_t count, const char *comment, const char *delimiters, bool continuation)
{
    *text = (sp_text){.end = bytes + count, .comment = comment, .continuation = continuation};
    for (const char *blank = " \t\v\f"; *blank; blank++)
        text->kind[(unsigned char)*blank] = BLANK;
    for (; *delimiters; delimiters++)
        text->kind[(unsigned char)*delimiters] |= DELIMITER;
    if (*comment)
        text->kind[(unsigned char)*comment] |= COMMENT;
    if (continuation)
        text->kind['\\'] |= CONTINUES;
    sp_text_seek(text, count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? bytes + 3 : bytes);
}

void sp_text_seek(sp_text *text, const char *at)
{
    text->at = text->stop = text->next = at;
    text->newline = NULL;
}

/* To the next line of the file, whatever is on it. */
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
    const char *carriage = memchr(text->at, '\r', (size_t)(text->newline - text->at));
    text->stop = carriage ? carriage : text->newline;
    if (carriage && (text->newline - carriage > 2 || carriage[text->newline - carriage - 1] != '\r'))
        text->next = carriage + 1;
    else
        text->next = text->newline < text->end ? text->newline + 1 : text->end;
    text->line++;
    return true;
}

bool sp_text_more(sp_text *text)
{
    for (;;) {
        while (text->at < text->stop && text->kind[(unsigned char)*text->at] & BLANK)
            text->at++;
        if (text->at == text->stop)
            return false;
        int kind = text->kind[(unsigned char)*text->at];
        if (kind & CONTINUES && text->at + 1 == text->stop) {
            if (!step(text))
                return false;
            continue;
        }
        size_t length = strlen(text->comment);
        if (kind & COMMENT && (size_t)(text->stop - text->at) >= length && memcmp(text->at, text->comment, length) == 0) {
            text->at = text->stop;
            return false;
        }
        return true;
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

/* End of the word that begins at text->at, which is not a blank. */
static const char *word_end(const sp_text *text)
{
    const char *end = text->at;
    while (end < text->stop && !(text->kind[(unsigned char)*end] & (BLANK | DELIMITER)) &&
           !(text->kind[(unsigned char)*end] & CONTINUES && end + 1 == text->stop))
        end++;
    return end > text->at ? end : text->at + 1;
}

bool sp_text_word(sp_text *text, const char **word, int64_t *length)
{
    if (!sp_text_more(text))
        return false;
    *word = text->at;
    text->at = word_end(text);
    *length = text->at - *word;
    return true;
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

bool sp_text_take(sp_text *text, char byte)
{
    if (text->at == text->stop || *text->at != byte)
        return false;
    text->at++;
    return true;
}

void sp_text_rest(sp_text *text, const char **rest, int64_t *length)
{
    while (text->at < text->stop && text->kind[(unsigned char)*text->at] & BLANK)
        text->at++;
    const char *end = text->stop;
    while (end > text->at && text->kind[(unsigned char)end[-1]] & BLANK)
        end--;
    *rest = text->at;
    *length = end - text->at;
    text->at = text->stop;
}

/* ---- numbers ---- */

static bool digit(const char *at, const char *stop)
{
    return at < stop && *at >= '0' && *at <= '9';
}

/* A number may not run into other characters. */
static bool number_ends(const sp_text *text, const char *at)
{
    return at == text->stop || text->kind[(unsigned char)*at];
}

bool sp_text_integer(sp_text *text, int64_t *value)
{
    if (!sp_text_more(text))
        return false;
    const char *at = text->at;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!digit(at, text->stop))
        return false;
    int64_t sum = 0;
    for (; digit(at, text->stop); at++) {
        int one = negative ? '0' - *at : *at - '0';
        if (__builtin_mul_overflow(sum, (int64_t)10, &sum) || __builtin_add_overflow(sum, (int64_t)one, &sum))
            return false;
    }
    if (!number_ends(text, at))
        return false;
    text->at = at;
    *value = sum;
    return true;
}

/* mantissa · 10^exponent for |exponent| ≤ 27, rounded once. 5^27 < 2^64, so that the product is exact in 128 bits; the
 * quotient is had with 63 or 64 bits, the last of which also stands for all that follow, and then rounded to 53. */
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

/* What the two fast ways cannot: very many digits, large exponents. */
static bool convert_slowly(const char *begin, const char *end, double *value)
{
    char copy[SP_TEXT_NUMBER + 1];
    if (end - begin > SP_TEXT_NUMBER)
        return false;
    for (int64_t i = 0; i < end - begin; i++)
        copy[i] = lower(begin[i]) == 'd' ? 'e' : begin[i];
    copy[end - begin] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* strtod alone would take the decimal point of the user's locale */
    if (!plain)
        return false;
    *value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return isfinite(*value);
}

bool sp_text_number(sp_text *text, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!sp_text_more(text))
        return false;
    const char *at = text->at, *stop = text->stop;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    const char *begin = at;
    uint64_t mantissa = 0; /* wraps beyond 19 digits, and is not used then */
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
        return false;
    if (at < stop && (lower(*at) == 'e' || lower(*at) == 'd')) {
        at++;
        bool down = at < stop && *at == '-';
        if (at < stop && (*at == '-' || *at == '+'))
            at++;
        if (!digit(at, stop))
            return false;
        int64_t written = 0;
        for (; digit(at, stop); at++)
            written = written < 1000000 ? written * 10 + (*at - '0') : written;
        exponent += down ? -written : written;
    }
    if (!number_ends(text, at))
        return false;
    double magnitude;
    if (significant == 0)
        magnitude = 0;
    else if (significant <= 19 && mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22)
        /* both factors are exact, so that the one operation rounds once */
        magnitude = exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
    else if (significant <= 19 && exponent >= -27 && exponent <= 27)
        magnitude = scale(mantissa, (int)exponent);
    else if (!convert_slowly(begin, at, &magnitude))
        return false;
    *value = negative ? -magnitude : magnitude;
    text->at = at;
    return true;
}

/* ---- messages ---- */

const char *sp_text_quote(const sp_text *text, char quote[SP_TEXT_QUOTE])
{
    sp_text here = *text;
    const char *word;
    int64_t length;
    if (!sp_text_word(&here, &word, &length))
        return "the end of the line";
    int64_t room = SP_TEXT_QUOTE - 6; /* two quotation marks, dots, end */
    int used = 0;
    quote[used++] = '"';
    for (int64_t i = 0; i < length && i < room; i++)
        quote[used++] = (char)(word[i] >= ' ' && word[i] < 127 ? word[i] : '?');
    snprintf(quote + used, (size_t)(SP_TEXT_QUOTE - used), length > room ? "...\"" : "\"");
    return quote;
}

int sp_text_fail(sp_context *context, const sp_text *text, const char *format, ...)
{
    char message[sizeof context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sp_fail(context, SP_INPUT, "line %lld: %.440s", (long long)text->line, message);
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
