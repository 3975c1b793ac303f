/* Internal to the .inp importer: named sets of nodes or of elements, defined by numbers, ranges and other sets. Nothing
 * is expanded before it is needed, so that a short file cannot use much memory. */
#ifndef SP_FORMATS_IMPORT_VOLUME_SETS_H
#define SP_FORMATS_IMPORT_VOLUME_SETS_H

#include "formats/import/volume_internal.h"

/* The numbers first, first + step, …, last, or (set ≥ 0) the first `upto` members of another set. */
struct sp_volume_member {
    int64_t first, last, step, where, set, upto;
    bool listed; /* listed explicitly, so that a number that does not exist causes a note */
};

enum { SP_VOLUME_CHAINS = 4096 };

struct sp_volume_set {
    sp_word name;
    int level;           /* sets of different levels are different sets */
    int64_t next;        /* number of the next set of the chain, plus 1; 0: none */
    sp_list members;     /* struct sp_volume_member */
    int64_t visit, done; /* number of members visited by the resolution `visit` */
};

/* The sets of nodes, or those of elements. */
struct sp_volume_sets {
    const char *what;                /* "nodes" or "elements", for messages */
    sp_list list;                    /* struct sp_volume_set */
    int64_t chain[SP_VOLUME_CHAINS]; /* by the hash of the name: number of the first set, plus 1; 0: none */
    const struct sp_volume_ids *ids; /* maps numbers to records */
    const void *numbers; /* first of `count` records of `stride` bytes that begin with their int64_t number */
    size_t stride;
    int64_t count, visit, *stamp;   /* [count] the last resolution that contains the record */
    bool outside;                   /* there are records of the assembly, with numbers of their own */
    int64_t unknown, unknown_first; /* number of listed numbers without a record, and one of them */
};

/* Names in .inp files are not case-sensitive. */
struct sp_volume_set *sp_volume_sets_find(const struct sp_volume_sets *sets, int level, sp_word name);

/* Gets the number of the set of this level and name, which is created if there is none yet. */
int sp_volume_sets_need(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int level, sp_word name,
                        int64_t *number);

int sp_volume_sets_add(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int64_t set,
                       struct sp_volume_member member);

/* Sets the records that sets refer to. Call it before the first sp_volume_sets_resolve. */
int sp_volume_sets_index(struct sp_volume_reader *reader, struct sp_volume_sets *sets, const struct sp_volume_ids *ids,
                         int64_t count, const void *numbers, size_t stride);

/* Writes the indices of all records of a set to met [int64_t], each once. Listed numbers without a record are counted.
 */
int sp_volume_sets_resolve(struct sp_volume_reader *reader, struct sp_volume_sets *sets,
                           const struct sp_volume_set *wanted, sp_list *indices);

/* Adds one index to met unless this resolution has it already; −1 is left out. */
int sp_volume_sets_add_index(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int64_t index,
                             sp_list *indices);

void sp_volume_sets_free(struct sp_volume_sets *sets);

#endif
