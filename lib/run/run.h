/* A run: a motion that is taken step by step, and the observers that watch it. Programs and libsupple take their steps
 * here, so that what is judged of a motion is judged wherever the same steps are taken.
 *
 *     sp_run run = {.motion = {self, step, visit}, .steps = 500, .every = 10};
 *     sp_run_watch(&run, (sp_observer){.self = &watch, .frame = look, .warn = judge});
 *     sp_run_begin(&run);                 the frame at the start
 *     sp_run_to(&run, 500);               steps 1 to 500; frames after steps 10, 20, … and the last
 *     sp_run_warn(&run, &remarks);
 *     sp_run_free(&run);
 *
 * Observers are called in the order in which they were added. Nothing here prints, allocates or ends the process. */
#ifndef SP_RUN_RUN_H
#define SP_RUN_RUN_H

#include "base/remarks.h"
#include "base/state.h"

/* What moves: a body with its integrator, or a scene. */
typedef struct sp_motion {
    void *self;
    int (*step)(void *self, int64_t number);   /* takes step `number`, from 1 */
    void (*reach)(void *self, int64_t number); /* before a state after `number` steps is loaded: makes what that state
                                                  is of; NULL: nothing to make */
    void (*visit)(void *self, sp_state *state);
} sp_motion;

/* Every function may be NULL. A status other than SP_OK ends sp_run_to. */
typedef struct sp_observer {
    void *self;
    int (*step)(void *self, int64_t number);  /* after step `number` */
    int (*frame)(void *self, int64_t number); /* after a step that is recorded, and at the start (0) */
    void (*visit)(void *self, sp_state *state);
    void (*warn)(void *self, sp_remarks *remarks);
    void (*free)(void *self);
} sp_observer;

enum { SP_OBSERVERS = 16 };

typedef struct sp_run {
    sp_motion motion;
    int64_t steps; /* of the whole run; -1: it has no known end */
    int64_t every; /* frames after each step whose number is a multiple; 0: none */
    int64_t done;  /* steps that were taken */
    int observer_count;
    sp_observer observers[SP_OBSERVERS];
} sp_run;

/* Adds an observer; at most SP_OBSERVERS. */
void sp_run_watch(sp_run *run, sp_observer observer);

/* The frame at the start, before any step. */
int sp_run_begin(sp_run *run);

/* Takes the steps after run->done up to `last`. After a failure run->done is the number of the last whole step. */
int sp_run_to(sp_run *run, int64_t last);

/* Saves or loads what the rest of the run takes from its first `done` steps (base/state.h): the motion, then the
 * observers. */
void sp_run_visit(sp_run *run, int64_t done, sp_state *state);

/* What the observers have to say, in their order. */
void sp_run_warn(const sp_run *run, sp_remarks *remarks);

/* Frees the observers, the last one first. */
void sp_run_free(sp_run *run);

#endif
