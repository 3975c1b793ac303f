/* Free bodies: their reduced-order motion is that of a scene of one body (simscene), whose frame moves with it. */
#ifndef TOOLS_REDUCE_FREE_H
#define TOOLS_REDUCE_FREE_H

#include "tools/reduce/moves.h"

/* Ends the program where an option of the search does not apply to a free body. */
void reduce_free_check(const reduce_search *s);

/* A scene of the body with the first r columns of the model (0: all) under loads (NULL: gravity alone), as a file; path
 * NULL: in the folder of the work, named by its contents. Returns its path. */
const char *reduce_free_scene(reduce_search *s, const reduce_model *model, int64_t r, const char *loads,
                              const char *path);

/* The damping of the full-order model as words: in place of βK, whose force on a body that turns is not zero, the
 * viscosities βλ and βμ of the strain rate, which are the same at rest. Of laws that have no λ and μ it stays βK. */
void reduce_free_damping(reduce_search *s, reduce_words *w);

/* reduce_move and reduce_measure (moves.h) for a model of a free body; reduce_free_measure takes NULL for the
 * full-order model as well. */
bool reduce_free_move(reduce_search *s, const reduce_model *model, const char *loads, const char *step, int64_t steps,
                      int64_t every, const char *path);
void reduce_free_measure(reduce_search *s, const reduce_model *model, const char *ranks, const char *step,
                         const reduce_motion *motion, reduce_table *table);

#endif
