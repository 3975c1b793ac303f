/* Strict reading of JSON text that users write, by tables of keys: unknown keys, repeated keys and values out of range
 * are errors that name the key by its JSON path, `bodies[3].motion`. The pages and schemas of such texts agree with
 * their tables: tests/unit/keys_test.h compares them. */
#ifndef SP_FORMATS_KEYS_H
#define SP_FORMATS_KEYS_H

#include "base/context.h"
#include "base/memory.h"

#include <jansson.h>

enum sp_key_type {
    SP_KEY_NUMBER,  /* double [count] */
    SP_KEY_INTEGER, /* int64_t [count] */
    SP_KEY_BOOLEAN, /* bool */
    SP_KEY_WORD,    /* an enum: words->first is the value of the first word */
    SP_KEY_FILE,    /* char *, relative to the folder of the text */
    SP_KEY_BOX,     /* double [6], two arrays of three numbers */
    SP_KEY_OBJECT,  /* with the keys of `table`, in the struct at `offset` */
    SP_KEY_TEXT,    /* char [SP_KEY_NAME_SIZE], not empty; "" if it is absent */
    /* The following types are read by the caller: */
    SP_KEY_NAME,
    SP_KEY_NAMED,    /* an object whose values are objects with the keys of `table`, by their names */
    SP_KEY_LIST,     /* an array of objects with the keys of `table` */
    SP_KEY_PAIRS,    /* an array of arrays of two names */
    SP_KEY_INTEGERS, /* an array of integers */
    SP_KEY_REGIONS,  /* an array of names and integers */
    SP_KEY_SPANS,    /* an array of arrays of two numbers, the start and the end of a time */
};

enum sp_key_presence {
    SP_KEY_REQUIRED,
    SP_KEY_DEFAULT,  /* an absent key has the value `standard` */
    SP_KEY_OPTIONAL, /* absence differs from every value that can be given; the struct then has `standard` */
};

typedef struct sp_key_words {
    int first;
    const char *word[5]; /* NULL after the last */
} sp_key_words;

typedef struct sp_key {
    const char *name; /* NULL after the last key of a table */
    enum sp_key_type type;
    enum sp_key_presence presence;
    size_t offset;
    int count;         /* 0: a single value, not in an array */
    const char *unit;  /* NULL: none */
    double low, high;  /* of numbers and integers */
    bool above, below; /* low, high themselves are not allowed */
    bool null;         /* null is allowed: INFINITY, INT64_MAX */
    double standard[6];
    const sp_key_words *words;
    const struct sp_key_table *table;
    unsigned only;     /* bits of the values of the first key, a word, for which this key applies; 0: all */
    const char *needs; /* another key that this key requires */
} sp_key;

typedef struct sp_key_table {
    const char *name;
    const sp_key *keys;
} sp_key_table;

/* ---- reading ---- */

enum { SP_KEY_NAME_SIZE = 64, SP_KEY_PATH = 256, SP_KEY_RANGE = 64, SP_KEY_CHOICES = 300 };

typedef struct sp_key_reader {
    sp_context *context;
    sp_pool *pool;
    const char *folder;
    char json_path[SP_KEY_PATH]; /* JSON path of the current value: "bodies[3].motion" */
} sp_key_reader;

/* Reads into the struct `to`; object NULL: defaults only. It checks what the table describes; rules between keys beyond
 * `only` and `needs` are the caller's. */
int sp_keys_read(sp_key_reader *reader, json_t *object, const sp_key_table *table, void *to) SP_MUST_USE;

/* Appends ".name" or "[index]" to the JSON path; returns the argument for sp_keys_up, which removes it. */
size_t sp_keys_down(sp_key_reader *reader, const char *format, ...) SP_PRINTF(2, 3);
void sp_keys_up(sp_key_reader *reader, size_t json_path);

/* SP_INPUT with the JSON path in front. */
int sp_keys_fail(const sp_key_reader *reader, const char *format, ...) SP_PRINTF(2, 3);

/* Checks a name: 1 to SP_KEY_NAME_SIZE − 1 of the characters A-Z a-z 0-9 _ . - */
int sp_keys_check_name(const sp_key_reader *reader, const char *name) SP_MUST_USE;

/* For messages: the type of a value ("a string"), and its range "more than 0", "" if anything is allowed. */
const char *sp_keys_what(const json_t *value);
void sp_keys_range(const sp_key *key, char text[SP_KEY_RANGE]);

/* Adds a word to the choices in a message; an ellipsis if there is no space. */
void sp_keys_offer(char text[SP_KEY_CHOICES], const char *word);

/* The root of a JSON text (count bytes; a byte order mark is skipped), which the caller releases; errors name line and
 * column. */
int sp_keys_load(sp_context *context, const char *text, int64_t count, json_t **root) SP_MUST_USE;

/* A string of an object, NULL if there is none. */
const char *sp_keys_word(const json_t *object, const char *key);

/* Reads numbers like a key of type SP_KEY_NUMBER or SP_KEY_INTEGER. */
int sp_keys_numbers(sp_key_reader *reader, const json_t *value, const sp_key *key, void *to) SP_MUST_USE;

/* Reads an integer like a key of type SP_KEY_INTEGER. */
int sp_keys_integer(const sp_key_reader *reader, const json_t *value, const sp_key *key, int64_t *to) SP_MUST_USE;

/* The number of a name in `names`, an object of integers; `what` describes it in the message if it is missing. */
int sp_keys_look_up(const sp_key_reader *reader, json_t *names, const char *name, const char *what,
                    int64_t *number) SP_MUST_USE;

/* Checks how many of the keys (NULL after the last) are present: at most one, or at least one. */
int sp_keys_among(const sp_key_reader *reader, const json_t *object, const char *const *keys, bool at_most,
                  bool at_least) SP_MUST_USE;

/* Requires a key, for a reason that the message gives. */
int sp_keys_need(sp_key_reader *reader, const json_t *object, const char *key, const char *why) SP_MUST_USE;

#endif
