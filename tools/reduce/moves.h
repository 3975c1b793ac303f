/* What a search asks of the other programs: motions, columns, forces in a basis, and errors. */
#ifndef TOOLS_REDUCE_MOVES_H
#define TOOLS_REDUCE_MOVES_H

#include "tools/reduce/search.h"

/* A command that is put together word by word. */
typedef struct reduce_words {
    const char *word[1200];
    int count;
} reduce_words;

void reduce_add(reduce_words *w, const char *word);
#define reduce_add_all(w, ...) reduce_add_list(w, (const char *const[]){__VA_ARGS__, NULL})
void reduce_add_list(reduce_words *w, const char *const *list);

/* --gravity, unless it is zero. */
void reduce_add_gravity(reduce_search *s, reduce_words *w);

/* A file KINDnumber.npz of the folder. */
const char *reduce_numbered(reduce_search *s, const char *kind, int64_t number);

/* What is done now, with the time so far. */
void reduce_say(const reduce_search *s, const char *what);

/* Returns true if no further improvement is to begin. */
bool reduce_is_late(const reduce_search *s);

/* Every how many steps of a motion there is a frame. */
int64_t reduce_every(const reduce_search *s);

/* A motion under loads (NULL: gravity alone) by a model in a basis, or the full-order model (NULL), with so many steps
 * of this length and a frame every `every` steps. Returns false if it does not converge. */
bool reduce_move(reduce_search *s, const reduce_model *model, const char *loads, const char *step, int64_t steps,
                 int64_t every, const char *path);

/* Runs masspca with these words, for `most` columns, or all that are independent where these are fewer. Returns how
 * many the file has. */
int64_t reduce_make_columns(reduce_search *s, const reduce_words *some, int64_t most, const char *path);

/* The principal directions of the trained motions, at most r, as a file. Returns how many. */
int64_t reduce_make_basis(reduce_search *s, const reduce_basis *b, const char *path, int64_t r);

/* Polynomials, or a cubature of r coordinates with frames of these motions as its poses. */
const char *reduce_make_forces(reduce_search *s, const char *path, const char *basis, int64_t r, double tolerance,
                               const sp_list *motions);

/* The errors of a model beside a motion, for each of the ranks (NULL: all its columns); the table's rows after that of
 * the reference. */
void reduce_measure(reduce_search *s, const reduce_model *model, const char *ranks, const char *step,
                    const reduce_motion *motion, reduce_table *table);

/* Raises error [REDUCE_QUANTITIES] to the errors of a row. A frequency counts where the reference has one. */
void reduce_take_errors(reduce_search *s, const reduce_table *table, int64_t row, double *error);

/* Ends the program where the reference had nothing to compare with so far: a probe without free vibration. */
void reduce_check_compared(const reduce_search *s);

/* The error of the time step of a model (NULL: the full-order model of a free body) under the loads of a motion, for
 * each quantity. With the changes d1 from h to h/2 and d2 from h/2 to h/4 it is d1 / (1 - d2/d1), the sum of the
 * geometric series: 4/3 d1 where the order is two, and 4 d1 where the changes hardly fall. Infinite where a motion does
 * not converge. Raises error [REDUCE_QUANTITIES]. */
void reduce_step_error(reduce_search *s, const reduce_model *model, const char *loads, double *error);

#endif
