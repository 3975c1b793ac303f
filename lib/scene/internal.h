/* Declarations shared by the sources of the contact scene. Internal to lib/contact. */
#ifndef SP_SCENE_INTERNAL_H
#define SP_SCENE_INTERNAL_H

#include "contact/friction.h"
#include "rigid/moving_frame.h"
#include "scene/scene.h"

/* Fewer items than this are processed by one thread. */
enum { SIDE_BY_SIDE = 8 };

/* Stiffness of all contacts of a free body with respect to velocity and angular velocity about its centre of mass
 * (stability.c): the matrix of the contacts that act along one direction, and the sums of κ, κ r and κ r rᵀ of
 * those that act in all directions. */
typedef struct contact_stiffness {
    double K[36], weight, first[3], second[9];
} contact_stiffness;

typedef struct contact_body {
    const sp_contact_scene_body *body;
    sp_contact_state at;         /* state in which contacts are found; its q and qdot point to the next two members */
    double *q, *qdot;            /* [r] */
    double *Q;                   /* [r] generalized contact force, then the load on the deformation of a fixed body */
    double about[3];             /* free, or coupled with a mass: the predicted centre of mass */
    double F[3], T[3];           /* N; N m about `about` */
    double wrench[6];            /* force and torque about the origin of the frame */
    contact_stiffness stiffness; /* free bodies */
    double size;                 /* m (scene/stiffness.h); INFINITY: none */
    double thickness;            /* m (crossing.c); INFINITY: none */
    sp_pose was;                 /* at.pose of the last step */
    double way;                  /* m: the most that a point of the body has moved since */
    double moments[3], axes[9];  /* free: principal moments of inertia, kg m², ascending, and their axes in columns */
    sp_pose pose;                /* coupled bodies: current pose */
    double twist[6];             /* coupled bodies: current velocities */
    sp_integrator *integrator;
    sp_external_loads forcing;
    sp_moving_frame frame;   /* its r is 0 unless the body feels the inertial forces of its frame */
    double frame_work;       /* J: work of these in the last step */
    double *last_Q;          /* [r] with an integrator: Q of the step before */
    double *last_v;          /* [r] with an integrator: the rates at the start of the step before */
    sp_context context;      /* of the integrator or the coupling, since bodies are stepped in parallel */
    sp_sphere_tree *spheres; /* NULL: none */
    bool joined;             /* a step of scene->p.joined moves it */
    int status;
} contact_body;

/* Everything that a pair keeps from step to step. Owned by sp_contact_scene_pairs, from the step in which the bounds of
 * the two bodies first overlap to the first one in which they are apart (contact/broad.h). */
typedef struct pair_state {
    sp_traversal *traversal;
    sp_friction friction;
    double q[]; /* coordinates of the deformed field in the previous step */
} pair_state;

/* A near pair: the points of a body against the distance field of another. Its results are valid until the next
 * step. */
typedef struct contact_pair {
    int64_t pointshell, field, order; /* pairs are sorted by `order` */
    pair_state *state;
    sp_traversal_result found;
    sp_contact_forces forces;
} contact_pair;

typedef struct sp_contact_scene_pairs sp_contact_scene_pairs;     /* pairs.c */
typedef struct sp_contact_scene_spheres sp_contact_scene_spheres; /* spheres.c */
typedef struct sp_contact_scene_pulses sp_contact_scene_pulses;   /* pulses.c */

struct sp_contact_scene {
    sp_pool pool;
    sp_context *context;
    sp_contact_scene_parameters p;
    int64_t steps, body_count, pair_count;
    contact_body *contact_bodies;
    sp_contact_scene_pairs *near;
    contact_pair
        *pairs; /* [pair_count] near pairs of this step, in the order of the list of pairs or by (shell, field) */
    bool all_spheres;
    int64_t sphere_pair_count;
    int32_t *sphere_pairs; /* [sphere_pair_count, 2] i < j, ascending: candidates for contact of spheres, unless all
                              pairs are candidates */
    sp_contact_scene_spheres *spheres; /* NULL: no body has spheres */
    sp_contact_scene_pulses *pulses;   /* NULL: none are wanted */
    sp_list contacts;
    sp_joined_load *joined_loads; /* [joined bodies] */
    const double **ahead; /* coordinates at which the forces of a batch are evaluated; holds the largest batch */
    sp_pose hand;
    double hand_twist[6], coupling[6], device[6];
    sp_coupled_motion motion;
    sp_coupling_search search;
    sp_wrench sphere_wrench; /* of sphere contacts of the coupled body, about its grasp */
    int64_t force_count;
    const sp_contact_scene_force *forces; /* [force_count] set by the caller */
    double thinnest;                      /* m: the least thickness; INFINITY: none */
    sp_contact_scene_report report;
};

/* How messages name a body. */
typedef struct sp_contact_scene_name {
    char text[100];
} sp_contact_scene_name;
sp_contact_scene_name sp_contact_scene_label(const sp_contact_scene *scene, int64_t body);

/* Comparison of pairs of int32_t, for qsort and bsearch. */
/* Returns true if a joint connects the bodies. */
bool sp_contact_scene_neighbours(const sp_contact_scene *scene, int32_t a, int32_t b);

int sp_contact_scene_by_bodies(const void *left, const void *right);

/* The frame of the manipulandum when it coincides with the body: at the grasped point, with the rotation of the
 * body. */
sp_pose sp_contact_scene_grasp(const sp_contact_scene *scene, const sp_pose *body);

/* Q [r] += the weight of a body that is not free, in the pose with the rotation R. */
void sp_contact_scene_hang(const sp_contact_scene *scene, const contact_body *a, const double R[9], double *Q);

/* Computes the forces on the hand and on the device, as the bodies are. */
void sp_contact_scene_render(sp_contact_scene *scene);

/* Records a contact of point `point` of body a with body b: its position and the force on a, world. */
int sp_contact_scene_record(sp_contact_scene *scene, int64_t a, int64_t b, int32_t point, const double at[3],
                            const double force[3]) SP_MUST_USE;

/* Notes in the report how deep a point of body a is in body b: at the distance `lowest`, m. */
void sp_contact_scene_sink(sp_contact_scene *scene, int64_t a, int64_t b, double lowest);

/* Creates the broad phase. pairs: points against distance fields, all valid, in their order; with scene->p.all those of
 * all bodies. Call it after sp_contact_scene_spheres_new. */
int sp_contact_scene_pairs_new(sp_contact_scene *scene, int64_t count, const sp_contact_scene_pair *pairs) SP_MUST_USE;
void sp_contact_scene_pairs_free(sp_contact_scene *scene);

/* Computes the bounds of a body at its predicted state. Thread safe for different bodies. */
void sp_contact_scene_bound(sp_contact_scene *scene, int64_t body);

/* Sets scene->pairs from the bounds of all bodies and gives each pair its state. */
int sp_contact_scene_pairs_find(sp_contact_scene *scene) SP_MUST_USE;

/* Finds the contacts of all near pairs and computes their forces. */
int sp_contact_scene_pairs_meet(sp_contact_scene *scene) SP_MUST_USE;

/* Saves or loads the near pairs of the last step with their states (base/state.h). A scene that loads them must not
 * have made a step. */
void sp_contact_scene_pairs_visit(sp_contact_scene *scene, sp_state *state);

/* The pairs i < j of bodies whose boxes overlap, in ascending order. */
int64_t sp_contact_scene_near(const sp_contact_scene *scene, const int32_t **pairs);

/* The bounding sphere of all spheres of a body; a radius below 0: it has no spheres. */
double sp_contact_scene_sphere_bound(const sp_contact_scene *scene, int64_t body, double centre[3]);

/* Returns true if points of a body (−1: of any) are tested against the distance field of the other one when near. */
bool sp_contact_scene_pairs_tests(const sp_contact_scene *scene, int64_t points, int64_t field);

/* Finds the thickness of bodies; then, once in each step with the predicted poses, the pairs whose points have passed
 * through the other body since the last step. */
void sp_contact_scene_crossing_begin(sp_contact_scene *scene);
void sp_contact_scene_cross(sp_contact_scene *scene);

/* Returns true if the body can ever move or deform. */
bool sp_contact_scene_moves(const contact_body *a);

/* Creates a sphere tree (BVH) for the points of every body that has spheres. */
int sp_contact_scene_spheres_new(sp_contact_scene *scene) SP_MUST_USE;
void sp_contact_scene_spheres_free(sp_contact_scene *scene);

/* Finds all contacts of spheres at the predicted states and adds their forces to F, T, Q, wrench and stiffness of both
 * bodies. The result is the same, bit for bit, for any number of threads. */
int sp_contact_scene_spheres_meet(sp_contact_scene *scene) SP_MUST_USE;

/* Computes the principal axes of inertia of a free body. Call it once. */
void sp_contact_scene_weigh(contact_body *a);

/* The share of the stiffness of a contact with `other` that counts for body a: 0 if it is not free. */
double sp_contact_scene_share(const contact_body *a, const contact_body *other);

/* Adds a contact at `at` [world] to the stiffness of a free body, along n or, if `across`, in all directions. kappa is
 * this body's share of the stiffness of the contact's spring plus 2/h times its damping, N/m. */
void sp_contact_scene_stiffen(contact_body *a, const double at[3], const double n[3], double kappa, bool across);

/* The larger of `known` and the largest eigenvalue of the contact stiffness of a free body relative to its inertia,
 * 1/s². */
double sp_contact_scene_stiffest(const contact_body *a, double known);

/* Braking pulses of voxmaps; sp_contact_scene_brake adds them to the forces of all pairs. */
int sp_contact_scene_pulses_new(sp_contact_scene *scene) SP_MUST_USE;
void sp_contact_scene_pulses_free(sp_contact_scene *scene);
int sp_contact_scene_brake(sp_contact_scene *scene) SP_MUST_USE;

#endif
