/* A scanner for text files that are in memory: lines, words and numbers, without copying and without the locale. It is
 * shared by the importers of surfaces and of volumetric meshes.
 *
 * A line ends with LF, CR LF, CR CR LF or a lone CR. Blanks are space, tab, vertical tab and form feed. A comment goes
 * from its mark, where a word or number could begin or right behind a number, to the end of the line. With
 * `continuation`, a backslash as last byte of a line joins the next line to it. A byte order mark at the start is
 * passed over. All work is linear in the length of the file. */
#ifndef SP_FORMATS_IMPORT_TEXT_H
#define SP_FORMATS_IMPORT_TEXT_H

#include "base/context.h"

enum { SP_TEXT_QUOTE = 48, SP_TEXT_NUMBER = 1024 };

/* A piece of a file. */
typedef struct sp_word {
    const char *at;
    int64_t length;
} sp_word;

typedef struct sp_text {
    const char *begin;   /* of the file */
    const char *at;      /* next byte of the current line */
    const char *stop;    /* end of the current line, before its line end */
    const char *next;    /* first byte of the next line, for binary data behind a line of text */
    const char *end;     /* of the file */
    int64_t line;        /* number of the current line from 1; 0 before the first; the last one at the end */
    const char *newline; /* first LF at or behind `at`, so that no byte is searched twice; NULL: not yet looked for */
    const char *comment; /* mark, or "" */
    const char *name;    /* put in front of messages; NULL: the caller knows which file it is */
    bool continuation;
    bool binary;             /* messages tell the byte at `at` in place of the line */
    unsigned char kind[256]; /* of each byte */
} sp_text;

/* Starts before the first line. The bytes and `comment` ("" for none, else such as "#" or "**") stay the caller's. A
 * word or number also ends at each of `delimiters`, which sp_text_take consumes. */
void sp_text_open(sp_text *text, const char *bytes, int64_t count, const char *comment, const char *delimiters,
                  bool continuation);

/* From now on these bytes are blanks too. */
void sp_text_blanks(sp_text *text, const char *bytes);

/* Goes on in another file by the same rules; a copy of the text made before leads back. */
void sp_text_include(sp_text *text, const char *bytes, int64_t count, const char *name);

/* Goes to the next line (the rest of this one is passed over, with the lines that a backslash joins to it) that has
 * more than blanks and comments; false at the end of the file. */
bool sp_text_line(sp_text *text);

/* Passes over blanks; whether anything is left on the line. */
bool sp_text_more(sp_text *text);

/* Whether a blank or the end of the line comes next. */
bool sp_text_ended(const sp_text *text);

/* The next word of the line; a delimiter in front of it is a word of its own. false at the end of the line. */
bool sp_text_word(sp_text *text, sp_word *word);

/* The next field of a line whose fields have a separator between them: up to that, a comment or the end of the line,
 * without blanks at either side, possibly empty. Whether a separator, behind which it goes on, has ended it. */
bool sp_text_field(sp_text *text, char separator, sp_word *field);

/* All of them: how many there are, of which the first `room` are kept. */
int sp_text_fields(sp_text *text, char separator, int capacity, sp_word *field);

/* Consumes the next word where it is this one, without regard to ASCII case. */
bool sp_text_match(sp_text *text, const char *word);

/* Consumes the very next byte where it is `byte`. */
bool sp_text_take(sp_text *text, char byte);

/* The next number, and where there is none of this type: false and nothing but blanks consumed. Numbers are finite,
 * rounded to nearest, may have an exponent with e or d, and are no longer than SP_TEXT_NUMBER characters; integers fit.
 */
bool sp_text_number(sp_text *text, double *value);
bool sp_text_integer(sp_text *text, int64_t *value);

/* What is left of the line without blanks at either side (comments and backslashes included); consumes it. */
void sp_text_rest(sp_text *text, sp_word *rest);

/* Goes on at a byte of the file as at the start of a line. Lines that are passed over are not counted. */
void sp_text_seek(sp_text *text, const char *at);

/* The next `size` bytes, which are binary, and goes on behind them; NULL where the file ends before. */
const char *sp_text_bytes(sp_text *text, int64_t size);

/* What stands next, for messages: the word in quotes, shortened and with printable characters only, or "the end of the
 * line". */
const char *sp_text_quote(const sp_text *text, char quote[SP_TEXT_QUOTE]);

/* The number of the line, from 1, or of the byte where `binary` is set. */
int64_t sp_text_place(const sp_text *text);

/* SP_INPUT, the message with "line N: " or "byte N: " in front, and before that the name of an included file. */
int sp_text_fail(sp_context *context, const sp_text *text, const char *format, ...) SP_PRINTF(3, 4);

/* A number or integer that must come next; the message says what it was to be. */
int sp_text_need_number(sp_context *context, sp_text *text, const char *what, double *value) SP_MUST_USE;
int sp_text_need_integer(sp_context *context, sp_text *text, const char *what, int64_t *value) SP_MUST_USE;

/* The same of a field that was taken. */
int sp_text_field_number(sp_context *context, const sp_text *text, const char *what, sp_word field,
                         double *value) SP_MUST_USE;

sp_word sp_word_of(const char *string);
bool sp_word_is(sp_word word, const char *other);

/* As sp_word_is without regard to ASCII case. */
bool sp_word_same(sp_word word, sp_word other);

bool sp_word_utf8(sp_word word);

/* As sp_text_number and sp_text_integer; the number is the whole word. */
bool sp_word_number(sp_word word, double *value);
bool sp_word_integer(sp_word word, int64_t *value);

/* As sp_text_quote, without the quotes. */
const char *sp_word_show(sp_word word, char shown[SP_TEXT_QUOTE]);

#endif
