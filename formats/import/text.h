/* A scanner for text files that are in memory: lines, words and numbers, without copying and without the locale. It is
 * shared by the importers of surfaces and of volumetric meshes.
 *
 * A line ends with LF, CR LF, CR CR LF or a lone CR. Blanks are space, tab, vertical tab and form feed. A comment
 * extends from its mark, at the start of a word or number or directly after a number, to the end of the line. With
 * `continuation`, a backslash as last byte of a line joins the next line to it. A byte order mark at the start is
 * skipped. All work is linear in the length of the file. */
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
    const char *newline; /* first LF at or after `at`, so that no byte is searched twice; NULL: not yet searched for */
    const char *comment; /* mark, or "" */
    const char *name;    /* prefix of messages; NULL: the caller adds the name of the file */
    bool continuation;
    bool binary;             /* messages name the byte at `at` instead of the line */
    unsigned char kind[256]; /* of each byte */
} sp_text;

/* Starts before the first line. The caller keeps the bytes and `comment` ("" for none, otherwise a mark such as "#" or
 * "**"). A word or number also ends at each of `delimiters`, which sp_text_consume consumes. */
void sp_text_open(sp_text *text, const char *bytes, int64_t count, const char *comment, const char *delimiters,
                  bool continuation);

/* Treats these bytes as blanks too from now on. */
void sp_text_blanks(sp_text *text, const char *bytes);

/* Continues in another file by the same rules; to return, the caller restores a copy of the text made before. */
void sp_text_include(sp_text *text, const char *bytes, int64_t count, const char *name);

/* Advances to the next line that has more than blanks and comments, skipping the rest of this one with the lines that a
 * backslash joins to it; returns false at the end of the file. */
bool sp_text_line(sp_text *text);

/* Skips blanks; returns true if anything is left on the line. */
bool sp_text_more(sp_text *text);

/* Returns true if a blank or the end of the line comes next. */
bool sp_text_ended(const sp_text *text);

/* Gets the next word of the line; a delimiter before it is a separate word. Returns false at the end of the line. */
bool sp_text_word(sp_text *text, sp_word *word);

/* Gets the next field of a line with separated fields: up to the separator, a comment or the end of the line, without
 * blanks at either side, possibly empty. Returns true if a separator has ended it, which is consumed. */
bool sp_text_field(sp_text *text, char separator, sp_word *field);

/* Gets all fields; returns their number. Only the first `capacity` are stored. */
int sp_text_fields(sp_text *text, char separator, int capacity, sp_word *field);

/* Consumes the next word if it is this one, regardless of ASCII case. */
bool sp_text_match(sp_text *text, const char *word);

/* Consumes the next byte if it is `byte`. */
bool sp_text_consume(sp_text *text, char byte);

/* Get the next number. If there is none of this type they return false and consume only blanks. Numbers are finite,
 * rounded to nearest, may have an exponent with e or d, and have at most SP_TEXT_NUMBER characters; integers are in
 * range.
 */
bool sp_text_number(sp_text *text, double *value);
bool sp_text_integer(sp_text *text, int64_t *value);

/* Gets and consumes the rest of the line without blanks at either side (comments and backslashes included). */
void sp_text_rest(sp_text *text, sp_word *rest);

/* Continues at a byte of the file, which counts as the start of a line. Skipped lines are not counted. */
void sp_text_seek(sp_text *text, const char *at);

/* Consumes the next `size` bytes, which are binary; returns NULL if the file ends before. */
const char *sp_text_bytes(sp_text *text, int64_t size);

/* Writes the next word in quotes, shortened and with printable characters only, or "the end of the line" where none
   follows, and returns `quote`: for messages. */
const char *sp_text_quote(const sp_text *text, char quote[SP_TEXT_QUOTE]);

/* The number of the line, from 1, or of the byte if `binary` is set. */
int64_t sp_text_place(const sp_text *text);

/* SP_INPUT, with "line N: " or "byte N: " before the message, preceded by the name of an included file. */
int sp_text_fail(sp_context *context, const sp_text *text, const char *format, ...) SP_PRINTF(3, 4);

/* Get a number or integer that must come next; the message names what was expected. */
int sp_text_need_number(sp_context *context, sp_text *text, const char *what, double *value) SP_MUST_USE;
int sp_text_need_integer(sp_context *context, sp_text *text, const char *what, int64_t *value) SP_MUST_USE;

/* The same for a field that has been read. */
int sp_text_field_number(sp_context *context, const sp_text *text, const char *what, sp_word field,
                         double *value) SP_MUST_USE;

sp_word sp_word_of(const char *string);
bool sp_word_is(sp_word word, const char *other);

/* Like sp_word_is, regardless of ASCII case. */
bool sp_word_same(sp_word word, sp_word other);

/* The same for words that are the same (FNV-1a). */
uint32_t sp_word_hash(sp_word word);

bool sp_word_utf8(sp_word word);

/* Like sp_text_number and sp_text_integer; the number must be the complete word. */
bool sp_word_number(sp_word word, double *value);
bool sp_word_integer(sp_word word, int64_t *value);

/* Like sp_text_quote, without the quotes. */
const char *sp_word_show(sp_word word, char shown[SP_TEXT_QUOTE]);

#endif
