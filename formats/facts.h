/* The keys of the JSON members meta and result as tables, one of each for each type of file (formats/kinds.h) and one
 * of each for all files. Programs write values by them (tools/common/tool.h), siminfo prints their units, and simverify
 * checks their presence and type. The pages of the types agree with them: tests/unit/kinds.c compares them. */
#ifndef SP_FORMATS_FACTS_H
#define SP_FORMATS_FACTS_H

#include <jansson.h>
#include <stdbool.h>

enum sp_fact_type {
    SP_INTEGER,
    SP_NUMBER,
    SP_BOOLEAN,
    SP_STRING,
    SP_HASH, /* 64 lower-case hexadecimal digits, or the empty string */
    SP_OBJECT,
    SP_INTEGERS,
    SP_NUMBERS,
    SP_STRINGS,
    SP_OBJECTS
};

typedef struct sp_fact {
    const char *name; /* NULL after the last */
    enum sp_fact_type type;
    bool null;           /* the value may be null, in an array each of the values */
    const char *unit;    /* NULL: a pure number, or none */
    const char *when;    /* NULL: in every file that a program of ours wrote; else the program, option or condition */
    const char *meaning; /* the page may say more */
} sp_fact;

extern const sp_fact sp_facts_of_meta[], sp_facts_of_result[];

/* NULL if a table does not have the name; a table that is NULL is empty. */
const sp_fact *sp_fact_find(const sp_fact *facts, const char *name);

/* "number or null", as the pages have it. */
const char *sp_fact_type_words(const sp_fact *fact);

bool sp_fact_fits(const sp_fact *fact, const json_t *value);

#endif
