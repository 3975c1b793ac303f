/* The search for the smallest reduced-order model whose error is below a bound.
 *
 * Motions of members of the family (family.h) are the reference: of the full-order model where that is cheap, else of a
 * rich reduced-order model, whose basis holds modes, modal derivatives, linear responses to the loads (Krylov space)
 * and nonlinear static responses, and whose own error is measured on full-order steps, the witness. The principal
 * directions of the trained members' motions are the basis. Members that were not trained judge it, and those of the
 * largest amplitude. */
#ifndef TOOLS_REDUCE_SEARCH_H
#define TOOLS_REDUCE_SEARCH_H

#include "tools/reduce/commands.h"
#include "tools/reduce/family.h"

/* The first four are always measured, the others where they are chosen. */
enum reduce_quantity {
    REDUCE_POSITION,
    REDUCE_VELOCITY,
    REDUCE_LARGEST,
    REDUCE_ENERGY,
    REDUCE_STRESS,    /* of von Mises, at all vertices and frames: √(Σ difference² / Σ stress²) */
    REDUCE_FREQUENCY, /* of the free vibration of a probe */
    REDUCE_QUANTITIES
};
extern const char *const reduce_quantity_name[REDUCE_QUANTITIES];

#define REDUCE_INTEGRATORS "newmark|euler|bdf2"

typedef struct reduce_choice {
    const char *mesh, *name; /* the outputs begin with this name */
    tool_texts loads;
    double gravity[3];
    const char *step; /* for the other programs; NULL: one is found that keeps its share of the error */
    int64_t steps;
    double duration;                              /* s */
    int integrator;                               /* the number of the word in REDUCE_INTEGRATORS */
    const char *frame;                            /* the path that the body moves along; NULL: none */
    const char *damping_mass, *damping_stiffness; /* for the other programs; NULL: not given */
    const char *touch;                            /* a list of vertices; NULL: none … */
    double force;                                 /* … and the largest force on one of them along each axis, N */
    int64_t rank, held_out;
    int quantity;
    const char *probe; /* of a frequency: VERTEX:AXIS */
    double error;      /* the bound */
    double budget;     /* µs a step, in place of a bound; 0: none */
    double low, high;
    double time; /* s; 0: no bound */
    bool best, keep;
    uint64_t seed;
} reduce_choice;

/* The errors of one rank, by quantity. */
typedef struct reduce_point {
    int64_t r;
    double error[REDUCE_QUANTITIES];    /* the largest of those that judge */
    double measured[REDUCE_QUANTITIES]; /* the largest beside the full-order steps of the witness. While ranks are tried
                                           it is 0 if these steps are the whole motion, which is one of the judges */
    double seconds;                     /* of a step */
} reduce_point;

/* What moves in place of the full-order model. */
typedef struct reduce_model {
    const char *basis, *forces; /* polynomials or a cubature; NULL: the forces of all elements, projected */
    int64_t r;                  /* of a cubature with fewer coordinates than the basis has columns; 0: all */
} reduce_model;

/* Bases that compete: principal directions in the energy or in the mass, of all that are trained or of the corners of
 * the family. None is the best one for every body. */
enum { REDUCE_BASES = 3 };
typedef struct reduce_basis {
    const char *inner;
    bool corners;
    reduce_model model; /* of all columns */
    int64_t most;       /* columns */
    sp_list points;     /* of reduce_point, ascending */
    int64_t chosen;     /* r; 0: none */
} reduce_basis;

typedef struct reduce_motion {
    const char *loads, *path; /* path NULL: it did not converge */
    const char *name;         /* of the file of loads, or NULL: a random member */
    const char *scene;        /* whose motion it is; NULL: of a mesh */
} reduce_motion;

typedef struct reduce_search {
    sp_context *context;
    const reduce_choice *choice;
    reduce_commands commands;
    reduce_family family;
    tool_mesh mesh;
    sp_fe_space body;
    bool polynomials; /* else a cubature */
    bool free;        /* no vertex is fixed (free.h) */
    bool full;        /* the reference is the full-order model */
    double start;     /* s */
    const char *step; /* for the other programs */
    int64_t steps;
    bool compared; /* the quantity was compared with a reference at least once */

    /* the reference */
    sp_list candidates; /* of char *: files of columns for the rich basis */
    reduce_model rich;
    int64_t rich_columns;
    double rich_error[REDUCE_QUANTITIES]; /* of the rich model, measured on the witness */
    sp_list witness;                      /* of reduce_motion: full-order steps under each file … */
    int64_t witness_steps;                /* … and how many */
    sp_list trained, judges;              /* of reduce_motion */
    int64_t lost;                         /* how many of these do not converge */

    /* the basis */
    reduce_basis bases[REDUCE_BASES], *best; /* best: the one that is chosen, or else the most accurate one */
    int64_t chosen;                          /* r; 0: no rank reaches the bound */

    /* the files that are written */
    reduce_model model;
    const char *scene; /* of a free body; NULL: none */
    reduce_point final;
    double choice_error[REDUCE_QUANTITIES]; /* of a cubature's elements, beside all elements in the same basis */
    double step_error[REDUCE_QUANTITIES];   /* of the time step (reduce_step_error) */
} reduce_search;

extern const double reduce_margin;

/* Returns true if the errors of a quantity are measured. */
bool reduce_is_measured(const reduce_choice *choice, int quantity);

/* The error that is stated for a rank: its largest error beside the reference, that of the reference, and a margin;
 * and that of the time step where the search has found the step. It is never below what was measured. */
double reduce_stated(const reduce_search *search, const reduce_point *point, int quantity);

void reduce_open(reduce_search *search);

/* Makes the motions that train and judge, by the full-order model or by a rich one; finds the time step before, where
 * none is chosen. */
void reduce_make_reference(reduce_search *search);

/* Finds the basis and its rank. */
void reduce_find(reduce_search *search);

/* Where no rank keeps the bound: prints what limits, and chooses the most accurate rank if that is wanted. */
void reduce_explain(reduce_search *search);

/* Makes the files and measures them: beside the motions that judge, beside the full-order model under the files of
 * loads, and with half the time step. Returns false if they do not keep the bound. */
bool reduce_write_model(reduce_search *search);

/* found false: the folder of the work stays, since another goal can go on from there. */
void reduce_close(reduce_search *search, bool found);

/* The error over r, the statement, and the script. */
void reduce_report(reduce_search *search);

#endif
