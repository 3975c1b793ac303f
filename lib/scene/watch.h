/* Judgement of the steps of a contact scene: what a run has to say about energy that nothing put in, contact that is
 * too stiff for the step, bodies that sink, lie wholly inside or pass through each other, and a coupling that does not
 * come to rest. It prints nothing; programs and the library show its sentences. */
#ifndef SP_SCENE_WATCH_H
#define SP_SCENE_WATCH_H

#include "base/remarks.h"
#include "scene/scene.h"

/* {0} before sp_contact_watch_begin. Plain numbers, which a checkpoint saves as bytes. */
typedef struct sp_contact_watch {
    int64_t touching, visited, incomplete, limited, degenerate, steps_in_contact;
    int64_t cut_in_contact, steps_inside;  /* steps in contact that were cut short; in which a body was wholly inside */
    int64_t inside[2], sunk_bodies[2];     /* the first bodies of the latter; those of the deepest penetration */
    double sunk, sunk_depth, sunk_at;      /* of it: relative to the size of the smaller body, m, s */
    double inside_since;                   /* s */
    int64_t steps_crossed, crossed[2];     /* steps in which a body passed through another one; the first two */
    double crossed_since, crossed_by;      /* s; the largest motion in a step by the thickness that was crossed */
    double crossed_way, crossed_thickness; /* m, of the first */
    int64_t resting, restless;             /* cycles since the manipulandum moved; cycles of static coupling that were
                                              not balanced although it had long rested */
    double imbalance;                      /* of the last of these (contact/coupling.h) */
    int deepest;
    double pushed, leant; /* N, over all steps (sp_contact_scene_report) */
    double lowest, stiffest;
    double path_work;            /* J, of bodies on paths */
    double gravity[3], first[3]; /* m/s²; J, at the start */
    bool driven;                 /* forces or loads acted, or gravity changed: their work is not known */
    double rise, made, motion; /* J, where energies were looked at: most that all energy is above that at the start; the
                                  same less the work of paths until then; most kinetic and strain energy */
} sp_contact_watch;

/* How a run is steered, in the words of its user, for what a sentence advises. */
typedef struct sp_contact_advice {
    const char *step;          /* "--dt" */
    const char *semi_implicit; /* the name of this choice, if it was made; NULL: it was not */
    bool stiffness_stated;     /* contact.stiffness is not a chosen one */
    bool direction_stated;     /* contact.direction is one of the user's */
    bool by_coordinate;        /* a body has separate cubature weights for each coordinate */
} sp_contact_advice;

/* Steps from one look at energies to the next, where nothing else computes them. */
enum { SP_CONTACT_WATCH_EVERY = 16 };

/* Before the first step. */
void sp_contact_watch_begin(sp_contact_watch *watch, sp_contact_scene *scene);

/* After each step. */
void sp_contact_watch_step(sp_contact_watch *watch, const sp_contact_scene *scene);

/* From time to time: energy [3] of sp_contact_scene_energies. */
void sp_contact_watch_energies(sp_contact_watch *watch, const double energy[3]);

/* Adds a remark for each fault so far. */
void sp_contact_watch_judge(const sp_contact_watch *watch, const sp_contact_scene *scene,
                            const sp_contact_advice *advice, sp_remarks *remarks);

/* How far forces along normals lean away from gradients, by their size; 0: along gradients, or no contact. */
double sp_contact_watch_lean(const sp_contact_watch *watch);

#endif
