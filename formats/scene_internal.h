/* The keys of scenes as tables, by which they are read. scene.md and scene.schema.json say the same: tests/unit/scene.c compares. */
#ifndef SP_FORMATS_SCENE_INTERNAL_H
#define SP_FORMATS_SCENE_INTERNAL_H

#include "formats/scene.h"

#include <jansson.h>

enum sp_key_type {
    SP_KEY_NUMBER,  /* double [count] */
    SP_KEY_INTEGER, /* int64_t [count] */
    SP_KEY_BOOLEAN, /* bool */
    SP_KEY_WORD,    /* an enum: words->first is that of the first word */
    SP_KEY_FILE,    /* char *, joined with the folder of the scene */
    SP_KEY_OBJECT,  /* with the keys of `table`, in the struct at `offset` */
    /* These are looked at and kept by the caller: */
    SP_KEY_NAME,
    SP_KEY_NAMED,   /* an object whose values are objects with the keys of `table`, by their names */
    SP_KEY_LIST,    /* an array of objects with the keys of `table` */
    SP_KEY_PAIRS,   /* an array of arrays of two names */
};

enum sp_key_presence {
    SP_KEY_REQUIRED,
    SP_KEY_DEFAULT,  /* its value is `standard` where it is absent */
    SP_KEY_OPTIONAL, /* absence is no value that could be given; the struct holds `standard` then */
};

typedef struct sp_scene_words {
    int first;
    const char *word[5]; /* NULL behind the last */
} sp_scene_words;

typedef struct sp_scene_key {
    const char *name; /* NULL behind the last key of a table */
    enum sp_key_type type;
    enum sp_key_presence presence;
    size_t offset;
    int count;        /* 0: one, not in an array */
    const char *unit; /* NULL: none */
    double low, high; /* of numbers and integers */
    bool above, below; /* low, high are not allowed themselves */
    bool null;         /* null is allowed: INFINITY, INT64_MAX */
    double standard[6];
    const sp_scene_words *words;
    const struct sp_scene_table *table;
    unsigned only;     /* bits of the values of the first key, a word, where this one has a meaning; 0: of all */
    const char *needs; /* another key that must be there with this one */
} sp_scene_key;

typedef struct sp_scene_table {
    const char *name;
    const sp_scene_key *keys;
} sp_scene_table;

extern const sp_scene_table sp_scene_keys; /* of the scene itself; the others are reached from it */
extern const sp_scene_table sp_scene_model_keys, sp_scene_domain_keys, sp_scene_body_keys;

/* What the tables of domains and of bodies fill. */
typedef struct sp_scene_domain_read {
    char *field, *proxies;
} sp_scene_domain_read;
typedef struct sp_scene_body_read {
    sp_scene_body body;
    int64_t copies[3]; /* 0: none */
    double spacing[3];
} sp_scene_body_read;

/* ---- reading ---- */

enum { SP_SCENE_WAY = 256, SP_SCENE_RANGE = 64, SP_SCENE_CHOICES = 300 };

typedef struct sp_scene_reader {
    sp_context *context;
    sp_pool *pool;
    const char *folder;
    char way[SP_SCENE_WAY]; /* to the value that is being looked at: "bodies[3].motion" */
} sp_scene_reader;

/* Into the struct `to`; object NULL: defaults only. Reads what the table can tell; the rules between keys beyond `only` and `needs` are the
 * caller's. */
int sp_scene_read(sp_scene_reader *reader, json_t *object, const sp_scene_table *table, void *to) SP_MUST_USE;

/* One step down the way: ".name" or "[index]"; returns what sp_scene_up needs to go back. */
size_t sp_scene_down(sp_scene_reader *reader, const char *format, ...) SP_PRINTF(2, 3);
void sp_scene_up(sp_scene_reader *reader, size_t way);

/* SP_INPUT with the way in front. */
int sp_scene_fail(const sp_scene_reader *reader, const char *format, ...) SP_PRINTF(2, 3);

/* A name is 1 to SP_SCENE_NAME − 1 of the characters A-Z a-z 0-9 _ . - */
int sp_scene_check_name(const sp_scene_reader *reader, const char *name) SP_MUST_USE;

/* For messages: what a value is ("a string"), and "more than 0", "" where anything goes. */
const char *sp_scene_what(const json_t *value);
void sp_scene_range(const sp_scene_key *key, char text[SP_SCENE_RANGE]);

/* Adds a word to those that a message offers; three dots where there is no room. */
void sp_scene_offer(char text[SP_SCENE_CHOICES], const char *word);

/* Of unit length without overflow; false where it is zero. */
bool sp_scene_unit(int n, double *v);

#endif
