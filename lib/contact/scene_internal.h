/* What scene.c and scene_spheres.c share. Internal to lib/contact. */
#ifndef SP_CONTACT_SCENE_INTERNAL_H
#define SP_CONTACT_SCENE_INTERNAL_H

#include "contact/friction.h"
#include "contact/scene.h"

/* Fewer than so many are not worth waking threads for. */
enum { SIDE_BY_SIDE = 8 };

/* Of all contacts of a free body, over velocity and angular velocity about its centre of mass (scene_stability.c): of
 * those along one direction the matrix, and sums κ, κ r, κ r rᵀ of those that act in all directions. */
typedef struct contact_stiffness {
    double K[36], weight, first[3], second[9];
} contact_stiffness;

typedef struct contact_body {
    const sp_contact_scene_body *body;
    sp_contact_state at;         /* where contacts are found; q and qdot point to the next two */
    double *q, *qdot;            /* [r] */
    double *Q;                   /* [r] generalized force of contact, then the load of a fixed body's deformation */
    double about[3];             /* free, or coupled with a mass: the centre of mass there */
    double F[3], T[3];           /* N, N m about it */
    double wrench[6];            /* about the frame's origin */
    contact_stiffness stiffness; /* free */
    double moments[3], axes[9];  /* free: principal moments of inertia, kg m², ascending, and their axes in columns */
    sp_pose pose;                /* coupled: now */
    double twist[6];             /* coupled: now */
    sp_integrator *integrator;
    sp_external_loads forcing;
    sp_context context;      /* of the integrator or the coupling: bodies are stepped side by side */
    sp_sphere_tree *spheres; /* NULL: none */
    int status;
} contact_body;

/* What a pair keeps from step to step: all of it, and nothing else does. Owned by sp_contact_scene_pairs, from the step
 * in which the bounds of the two meet to the first one in which they are apart (contact/broad.h). */
typedef struct pair_state {
    sp_traversal *traversal;
    sp_friction friction;
    double q[]; /* of the deformed field in the step before */
} pair_state;

/* The points of a body against the distances of another one that is near. What it found lasts until the next step. */
typedef struct contact_pair {
    int64_t pointshell, field, order; /* by the latter they are sorted */
    pair_state *state;
    sp_traversal_result found;
    sp_contact_forces forces;
} contact_pair;

typedef struct sp_contact_scene_pairs sp_contact_scene_pairs;     /* scene_pairs.c */
typedef struct sp_contact_scene_spheres sp_contact_scene_spheres; /* scene_spheres.c */
typedef struct sp_contact_scene_pulses sp_contact_scene_pulses;   /* scene_pulses.c */

struct sp_contact_scene {
    sp_pool pool;
    sp_context *context;
    sp_contact_scene_parameters p;
    int64_t steps, body_count, pair_count;
    contact_body *contact_bodies;
    sp_contact_scene_pairs *near;
    contact_pair *pairs; /* [pair_count] those that are near in this step, in the order of the list of pairs or by
                         (shell, field) */
    bool all_spheres;
    int64_t sphere_pair_count;
    int32_t *sphere_pairs; /* [sphere_pair_count, 2] i < j, ascending: those that may meet, unless all may */
    sp_contact_scene_spheres *spheres; /* NULL: nothing has any */
    sp_contact_scene_pulses *pulses;   /* NULL: none are wanted */
    sp_list contacts;
    const double **ahead; /* where the forces of a batch are asked for: room for the largest */
    sp_pose hand;
    double hand_twist[6], coupling[6], device[6];
    sp_coupled_motion motion;
    sp_wrench sphere_wrench; /* of the balls that the coupled body meets, about its grasp */
    sp_contact_scene_report report;
};

/* What messages call a body. */
typedef struct sp_contact_scene_name {
    char text[100];
} sp_contact_scene_name;
sp_contact_scene_name sp_contact_scene_label(const sp_contact_scene *scene, int64_t body);

/* Order of pairs of int32_t, for qsort and bsearch. */
int sp_contact_scene_by_bodies(const void *left, const void *right);

/* The frame that the hand holds: at the grasped point, turned as the body is. */
sp_pose sp_contact_scene_grasp(const sp_contact_scene *scene, const sp_pose *body);

/* Adds a contact of point `point` of body a with body b to the list: where it is and the force on a, world. */
int sp_contact_scene_record(sp_contact_scene *scene, int64_t a, int64_t b, int32_t point, const double at[3],
                            const double force[3]) SP_MUST_USE;

/* Who is near whom. pairs: those of points against distances, all of which make sense, in their order; world->p.all:
 * those of all bodies. After sp_contact_scene_spheres_new. */
int sp_contact_scene_pairs_new(sp_contact_scene *scene, int64_t count, const sp_contact_scene_pair *pairs) SP_MUST_USE;
void sp_contact_scene_pairs_free(sp_contact_scene *scene);

/* Bounds of a body where its actor is. Bodies side by side. */
void sp_contact_scene_bound(sp_contact_scene *scene, int64_t body);

/* Sets world->pairs from the bounds of all bodies and gives each its state. */
int sp_contact_scene_pairs_find(sp_contact_scene *scene) SP_MUST_USE;

/* Finds the contacts of all of these, and their forces. */
int sp_contact_scene_pairs_meet(sp_contact_scene *scene) SP_MUST_USE;

/* The pairs near in the last step with what they keep (base/state.h); a world that loads them has made no step. */
void sp_contact_scene_pairs_visit(sp_contact_scene *scene, sp_state *state);

/* Pairs i < j of bodies whose boxes overlap, ascending. */
int64_t sp_contact_scene_near(const sp_contact_scene *scene, const int32_t **pairs);

/* The ball about all balls of a body that has some; a radius below 0: it has none. */
double sp_contact_scene_sphere_bound(const sp_contact_scene *scene, int64_t body, double centre[3]);

/* Whether it may ever be elsewhere, or of another form. */
bool sp_contact_scene_moves(const contact_body *a);

/* Balls about the points of shells: a tree for every body that has some. */
int sp_contact_scene_spheres_new(sp_contact_scene *scene) SP_MUST_USE;
void sp_contact_scene_spheres_free(sp_contact_scene *scene);

/* Finds all that meet where the actors are, and adds their forces to F, T, Q, wrench and stiffness of both. The same
 * bytes for any number of threads. */
int sp_contact_scene_spheres_meet(sp_contact_scene *scene) SP_MUST_USE;

/* Principal axes of a free body, once. */
void sp_contact_scene_weigh(contact_body *a);

/* How much of the stiffness of a contact with `other` counts for body a: 0 where it is not free. */
double sp_contact_scene_share(const contact_body *a, const contact_body *other);

/* Adds a contact at a place [world], along n or, `across`, in all directions, to the stiffness of a free body. kappa:
 * N/m, its share of the contact's spring and of 2/h times its damper. */
void sp_contact_scene_stiffen(contact_body *a, const double at[3], const double n[3], double kappa, bool across);

/* The larger of `known` and the largest eigenvalue of contact for a free body, 1/s². */
double sp_contact_scene_stiffest(const contact_body *a, double known);

/* Adds braking pulses to the forces of all pairs. */
int sp_contact_scene_pulses_new(sp_contact_scene *scene) SP_MUST_USE;
void sp_contact_scene_pulses_free(sp_contact_scene *scene);
int sp_contact_scene_brake(sp_contact_scene *scene) SP_MUST_USE;

#endif
