/* Text that people write in JSON, read strictly by tables of keys: unknown keys, repeated keys and values out of range
 * are errors that name the key by its way, `bodies[3].motion`. The pages and schemas of such texts say the same as
 * their tables: tests/unit/keys_test.h compares. */
#ifndef SP_FORMATS_KEYS_H
#define SP_FORMATS_KEYS_H

#include "base/context.h"
#include "base/memory.h"

#include <jansson.h>

enum sp_key_type {
    SP_KEY_NUMBER,  /* double [count] */
    SP_KEY_INTEGER, /* int64_t [count] */
    SP_KEY_BOOLEAN, /* bool */
    SP_KEY_WORD,    /* an enum: words->first is that of the first word */
    SP_KEY_FILE,    /* char *, joined with the folder of the text */
    SP_KEY_BOX,     /* double [6], two arrays of three numbers */
    SP_KEY_OBJECT,  /* with the keys of `table`, in the struct at `offset` */
    /* These are looked at and kept by the caller: */
    SP_KEY_NAME,
    SP_KEY_NAMED,    /* an object whose values are objects with the keys of `table`, by their names */
    SP_KEY_LIST,     /* an array of objects with the keys of `table` */
    SP_KEY_PAIRS,    /* an array of arrays of two names */
    SP_KEY_INTEGERS, /* an array of integers */
    SP_KEY_REGIONS,  /* an array of names and integers */
};

enum sp_key_presence {
    SP_KEY_REQUIRED,
    SP_KEY_DEFAULT,  /* its value is `standard` where it is absent */
    SP_KEY_OPTIONAL, /* absence is no value that could be given; the struct holds `standard` then */
};

typedef struct sp_key_words {
    int first;
    const char *word[5]; /* NULL behind the last */
} sp_key_words;

typedef struct sp_key {
    const char *name; /* NULL behind the last key of a table */
    enum sp_key_type type;
    enum sp_key_presence presence;
    size_t offset;
    int count;         /* 0: one, not in an array */
    const char *unit;  /* NULL: none */
    double low, high;  /* of numbers and integers */
    bool above, below; /* low, high are not allowed themselves */
    bool null;         /* null is allowed: INFINITY, INT64_MAX */
    double standard[6];
    const sp_key_words *words;
    const struct sp_key_table *table;
    unsigned only;     /* bits of the values of the first key, a word, where this one has a meaning; 0: of all */
    const char *needs; /* another key that must be there with this one */
} sp_key;

typedef struct sp_key_table {
    const char *name;
    const sp_key *keys;
} sp_key_table;

/* ---- reading ---- */

enum { SP_KEY_NAME_SIZE = 64, SP_KEY_WAY = 256, SP_KEY_RANGE = 64, SP_KEY_CHOICES = 300 };

typedef struct sp_key_reader {
    sp_context *context;
    sp_pool *pool;
    const char *folder;
    char way[SP_KEY_WAY]; /* to the value that is being looked at: "bodies[3].motion" */
} sp_key_reader;

/* Into the struct `to`; object NULL: defaults only. Reads what the table can tell; the rules between keys beyond `only`
 * and `needs` are the caller's. */
int sp_keys_read(sp_key_reader *reader, json_t *object, const sp_key_table *table, void *to) SP_MUST_USE;

/* One step down the way: ".name" or "[index]"; returns what sp_keys_up needs to go back. */
size_t sp_keys_down(sp_key_reader *reader, const char *format, ...) SP_PRINTF(2, 3);
void sp_keys_up(sp_key_reader *reader, size_t way);

/* SP_INPUT with the way in front. */
int sp_keys_fail(const sp_key_reader *reader, const char *format, ...) SP_PRINTF(2, 3);

/* A name is 1 to SP_KEY_NAME_SIZE − 1 of the characters A-Z a-z 0-9 _ . - */
int sp_keys_check_name(const sp_key_reader *reader, const char *name) SP_MUST_USE;

/* For messages: what a value is ("a string"), and "more than 0", "" where anything goes. */
const char *sp_keys_what(const json_t *value);
void sp_keys_range(const sp_key *key, char text[SP_KEY_RANGE]);

/* Adds a word to those that a message offers; three dots where there is no room. */
void sp_keys_offer(char text[SP_KEY_CHOICES], const char *word);

/* The root of a JSON text (count bytes; a byte order mark is passed over), which the caller releases; errors name line
 * and column. */
int sp_keys_load(sp_context *context, const char *text, int64_t count, json_t **root) SP_MUST_USE;

/* A string of an object, NULL where there is none. */
const char *sp_keys_word(const json_t *object, const char *key);

/* An integer as a key of type SP_KEY_INTEGER would hold it. */
int sp_keys_integer(const sp_key_reader *reader, const json_t *value, const sp_key *key, int64_t *to) SP_MUST_USE;

/* The number of a name in `names`, an object of integers; `what` it is, for the message where it is not there. */
int sp_keys_look_up(const sp_key_reader *reader, json_t *names, const char *name, const char *what,
                    int64_t *number) SP_MUST_USE;

/* How many of the keys (NULL behind the last) are there: at most one may be, or at least one must. */
int sp_keys_among(const sp_key_reader *reader, const json_t *object, const char *const *keys, bool at_most,
                  bool at_least) SP_MUST_USE;

/* A key that must be there for a reason that the message gives. */
int sp_keys_need(sp_key_reader *reader, const json_t *object, const char *key, const char *why) SP_MUST_USE;

#endif
