/* One time step of a scene of bodies in contact.
 *
 * In a step of length h, every body that is driven by forces is predicted half a step ahead, contacts are found there,
 * and each body then takes its step with these contact forces held constant, as forces in the middle of the step: an
 * error of second order, also in the energy of bodies that are not free. Their dampers act with rates of the middle,
 * those of free bodies with the velocities at the start (stability.c). For free bodies (rigid/free.h) this is the
 * symplectic Verlet method for contact combined with a conserving method for the rest: contact among them conserves
 * linear and angular momentum. The method is explicit in the contact forces and is stable while h² λ < 4, where λ is
 * the largest eigenvalue of the contact stiffness of a body relative to its inertia (stability.c). A body with
 * virtual coupling is placed where contact and coupling forces are in equilibrium (contact/coupling.h). */
#ifndef SP_SCENE_SCENE_H
#define SP_SCENE_SCENE_H

#include "contact/deformed.h"
#include "contact/penalty.h"
#include "contact/spheres.h"
#include "contact/voxmap.h"
#include "integrate/integrate.h"
#include "reduced/polynomial.h"
#include "rigid/body_loads.h"
#include "rigid/joined.h"

enum sp_contact_scene_motion {
    SP_CONTACT_SCENE_FIXED,   /* does not move */
    SP_CONTACT_SCENE_PATH,    /* moves along `path` */
    SP_CONTACT_SCENE_FREE,    /* moves as a free body, by `free` */
    SP_CONTACT_SCENE_COUPLED, /* follows the virtual coupling */
}; /* all but FREE: motion of the frame, in which a deformable body deforms by `system`. Its deformation is driven by
      contact and gravity. Inertial forces due to the acceleration of the frame are neglected, as in the thesis, unless
      the body has `frame_inertia` */

/* A body. The caller fills it in and owns everything that it points to. */
typedef struct sp_contact_scene_body {
    const char *name; /* for messages, beside the body's number; NULL: none */
    enum sp_contact_scene_motion motion;
    const sp_contact_pointshell *pointshell; /* NULL: the body has no points */
    const sp_distance
        *distance; /* NULL: none. DEFORMED: the field `deformed`, which the step updates, with the same modes */
    sp_deformed_field *deformed;
    double thickness; /* m: radius of the spheres about its points, for contact with other point shells; 0: none */
    sp_pose pose;     /* initial pose */
    sp_pose_path *path;
    const void *path_data;
    const sp_inertia *frame_inertia; /* SP_CONTACT_SCENE_PATH, with `system`: inertia of the body, which feels the
                                        inertial forces of its frame (rigid/moving_frame.h); NULL: it feels none */
    double frame_scale;              /* factor on that inertia */
    sp_pose_path *felt_path;         /* the path whose accelerations act, with `path_data`; NULL: `path` */
    sp_free_body *free; /* SP_CONTACT_SCENE_FREE. It needs a context of its own, since bodies are stepped in parallel */
    const sp_context *context;  /* the context of `free`, for its error message; NULL: none */
    const sp_body_loads *loads; /* on a body that is moved by forces; NULL: none. Those on the frame of a body that is
                                   not FREE have no effect */
    const sp_inertia *inertia;  /* inertia of `free`; with dynamic coupling, of the undeformed body */
    const sp_system *system;    /* deformation of a body that is not FREE; NULL: rigid */
    const double *gravity;      /* [system->n, 3, row major] UᵀM e_k of `system` */
    double damping[2],
        most_acceleration; /* Rayleigh α [1/s], β [s] of `system`; acceleration limit (sp_integrator_parameters) */
    int64_t r; /* number of reduced coordinates, 0: rigid. The modes of a point shell or deformed field are the first
                  ones of these */
} sp_contact_scene_body;

/* A contact pair: points of one body against the distance field of the other, or points against points. */
typedef struct sp_contact_scene_pair {
    int64_t pointshell, field;
} sp_contact_scene_pair;

typedef struct sp_contact_scene_coupling {
    int64_t body; /* −1: none */
    bool dynamic;
    double grasp[3]; /* m, the grasped point in the body's frame */
    sp_pose_path *path;
    const void *path_data;
    sp_coupling_parameters parameters;
    bool normals;                       /* as in sp_penalty_wrench */
    double device_force, device_torque; /* largest haptic feedback force [N] and torque [N m] */
} sp_contact_scene_coupling;

/* Free bodies of one model with semi-implicit steps. The internal forces of all of them at the predicted positions are
 * computed together before they move. */
typedef struct sp_contact_scene_batch {
    sp_polynomial_batch *batch;
    int64_t count;
    const int64_t *body; /* [count] the body of force i */
} sp_contact_scene_batch;

/* Free bodies that are joined. They take their steps together. */
typedef struct sp_contact_scene_joined {
    sp_joined *joined; /* NULL: none */
    int64_t count;
    const int64_t *body; /* [count] the bodies of the scene, in the order of `joined` */
    int64_t neighbour_count;
    const int32_t *neighbours; /* [neighbour_count, 2] i < j, ascending: bodies of the scene that a joint connects. They
                                  touch where they are joined: they are in contact only if the list has their pair */
} sp_contact_scene_joined;

typedef struct sp_contact_scene_parameters {
    double step;       /* s */
    double gravity[3]; /* m/s² */
    sp_penalty penalty;
    double pulse;    /* m/s: points in proximity voxels of a voxmap that approach faster are stopped by impulses along
                        their normals, which decrease the kinetic energy (pulses.c); INFINITY: none */
    double friction; /* μ for points against distance fields (contact/friction.h); 0: none */
    sp_traversal_limits limits; /* `proximity` is set by the scene */
    sp_integrator_parameters
        integrator; /* for the deformation of bodies that are not free; its step is set by the scene */
    sp_contact_scene_coupling coupling;
    int64_t batch_count;
    const sp_contact_scene_batch *batches; /* [batch_count] */
    sp_contact_scene_joined joined;
    bool all; /* the points of every body are tested against the distance field of every other one, if either moves and
                 they are not neighbours; the list of pairs is not read */
    bool exhaustive; /* skip the broad phase: all pairs count as near (a reference for tests) */
    double memory;   /* available memory [bytes] for the states of contact pairs; 0: not known */
} sp_contact_scene_parameters;

/* What the last step did. */
typedef struct sp_contact_scene_report {
    int64_t visited, passed,
        touching;           /* over near pairs: visited nodes, nodes culled by coherence, penetrating points */
    int deepest;            /* level */
    bool complete;          /* no traversal was cut short by its node budget */
    double lowest;          /* m, the least of all evaluated distances; INFINITY: no pair is near */
    double sunk;            /* the largest penetration depth of a pair, relative to the size of its smaller body
                               (scene/stiffness.h); 0: none, or between bodies without a size */
    double sunk_depth;      /* m, that depth, */
    int64_t sunk_bodies[2]; /* and the pair: the body of the point and the other one; −1: none */
    double stiffest;        /* h² times the largest eigenvalue of contact for a free body, over all steps so far
                               (stability.c): the step is too long from 4 on */
    double path_work;       /* J: work of the bodies on paths on other bodies, by the rigid motions of their frames, and
                               of the inertial forces of frames on the bodies that feel them, without gravity */
    double pushed, leant;   /* N, over pairs of points and distance fields with a free body whose forces are along the
                               points' normals: the sum of the lengths of the forces, and of their differences from the
                               same forces along the gradients of the distances; computed in every eighth step, else 0 */
    int64_t
        inside[2]; /* the first pair whose shell is entirely inside the other body: all points of the visited levels
                      penetrate, the deepest by more than the radius of the bounding sphere of all points; −1: none */
    int64_t crossed[2]; /* the first pair of a body whose points have passed through the other one since the last step,
                           without contact at either time (crossing.c); −1: none */
    double crossing, crossed_thickness; /* m: how far points moved in that step, and how thick the other body is */
    int degenerate;                     /* degenerate directions of the coupling (contact/coupling.h) */
    bool limited;                       /* the coupling's speed limits were active */
    bool resting;     /* static coupling: the manipulandum rests, and no body that moves is near the coupled one */
    double imbalance; /* static coupling: of springs and contact before the cycle (contact/coupling.h) */
} sp_contact_scene_report;

typedef struct sp_contact_scene_contact {
    int32_t body[2], point; /* the body of the point and the other one; the point's number in its file */
    double at[3], force[3]; /* m, N, world; the force acts on the first body */
} sp_contact_scene_contact;

typedef struct sp_contact_scene sp_contact_scene;

/* bodies [body_count] must outlive the scene. pairs: points of `pointshell` against the distance field of `field` or,
 * if `field` has none, spheres of both (thickness). spheres: the spheres of all bodies with a thickness are tested
 * against each other, but for neighbours. The broad phase finds the near pairs, and only these have a state
 * (contact/broad.h). SP_USAGE if a pair lacks a point shell, or both distance field and thickness; SP_INPUT if friction
 * is wanted for spheres, voxmaps or the coupled body, which have none. */
int sp_contact_scene_new(sp_context *context, const sp_contact_scene_parameters *parameters, int64_t body_count,
                         const sp_contact_scene_body *bodies, int64_t pair_count, const sp_contact_scene_pair *pairs,
                         bool spheres, sp_contact_scene **scene) SP_MUST_USE;
void sp_contact_scene_free(sp_contact_scene *scene); /* NULL is allowed */

/* SP_NUMERICAL, with number and name of the body, if a step fails; SP_SYSTEM, with an estimate, if the states of pairs
 * need more memory than available. Allocates when more bodies are near or more points penetrate than ever before, and
 * for pairs that become near, except for a few of each shell whose memory is kept for reuse. */
int sp_contact_scene_step(sp_contact_scene *scene) SP_MUST_USE;

/* A force on a material point of a free body, or of a body that deforms in its frame: the point is at x + R (X + U q)
 * in the world, for the pose (x, R) and the coordinates q of the body. */
typedef struct sp_contact_scene_force {
    int64_t body;
    double point[3]; /* m, at rest, model coordinates */
    const double
        *U; /* the three rows of the basis: entry (component k, coordinate j) at U[j·stride + k]; NULL: rigid */
    int64_t stride;
    double force[3]; /* N, world */
} sp_contact_scene_force;

/* Forces that act in the next steps beside contact and gravity (borrowed until the next call), and the acceleration of
 * gravity from the next step on. Forces on bodies that no force moves have no effect. */
void sp_contact_scene_set_forces(sp_contact_scene *scene, int64_t count, const sp_contact_scene_force *forces);
void sp_contact_scene_set_gravity(sp_contact_scene *scene, const double gravity[3]);

/* Saves or loads everything that the next steps take from earlier ones (base/state.h), bodies included. */
void sp_contact_scene_visit(sp_contact_scene *scene, sp_state *state);

double sp_contact_scene_time(const sp_contact_scene *scene);
const sp_contact_scene_report *sp_contact_scene_reported(const sp_contact_scene *scene);

/* The current state of a body: pose of its frame, velocity of the frame's origin and angular velocity [6, world],
 * coordinates [r] and their rates; each of the last two may be NULL. */
void sp_contact_scene_body_now(const sp_contact_scene *scene, int64_t body, sp_pose *pose, double twist[6], double *q,
                               double *qdot);

/* The coordinates [r] of a body, the scene's own until the next step; NULL: rigid. */
const double *sp_contact_scene_q(const sp_contact_scene *scene, int64_t body);

/* Force and torque [6, world] of all contacts of the last step on a body, about the origin of its frame at the time at
 * which contacts were found. */
const double *sp_contact_scene_wrench(const sp_contact_scene *scene, int64_t body);

/* Kinetic, strain and gravitational energy [J] of all bodies that are driven by forces. Heights of free bodies are
 * measured from the world's origin. For a deformable body that is not free the velocities are relative to its frame,
 * and heights from its undeformed shape. */
void sp_contact_scene_energies(sp_contact_scene *scene, double energy[3]);

/* Contacts of the last step, sorted by pair and point. Pairs are in the order of the list, or ascending by the numbers
 * of shell and field if all bodies are tested against each other. */
int64_t sp_contact_scene_contacts(const sp_contact_scene *scene, const sp_contact_scene_contact **contacts);

/* The coupling after the last step: pose of the manipulandum, force and torque [6] on the body, and haptic feedback
 * force and torque [6]. */
void sp_contact_scene_coupled(const sp_contact_scene *scene, sp_pose *hand, double wrench[6], double device[6]);

#endif
