/* Bodies that touch: what one step of a scene is.
 *
 * A step of h: every body that moves by forces is predicted half a step ahead, contacts are found there, and then each
 * body takes its step under those forces held constant. For free bodies (rigid/free.h) that is the symplectic Verlet
 * method for contact beside a conserving one for the rest: contact among them leaves linear and angular momentum as
 * they were. It is explicit in the contact: stable while h² λ < 4 for the largest eigenvalue λ of the stiffness of a
 * body's contacts by its inertia (scene_stability.c). A body held by virtual coupling is where contact and coupling
 * balance (contact/coupling.h). */
#ifndef SP_CONTACT_SCENE_H
#define SP_CONTACT_SCENE_H

#include "contact/deformed.h"
#include "contact/penalty.h"
#include "contact/spheres.h"
#include "contact/voxmap.h"
#include "integrate/integrate.h"
#include "reduced/polynomial.h"
#include "rigid/free.h"

enum sp_contact_scene_motion {
    SP_CONTACT_SCENE_FIXED,   /* where it is */
    SP_CONTACT_SCENE_PATH,    /* as `path` says */
    SP_CONTACT_SCENE_FREE,    /* by `free` */
    SP_CONTACT_SCENE_COUPLED, /* by the coupling */
}; /* all but FREE: of the frame, in which a deformable body moves by `system`. It feels contact and gravity, not that
      the frame is accelerated, as in the thesis */

/* A body. The caller fills it and keeps what it points to; the world owns none of it. */
typedef struct sp_contact_scene_body {
    const char *name; /* what messages call it beside its number; NULL: nothing */
    enum sp_contact_scene_motion motion;
    const sp_contact_pointshell *pointshell; /* NULL: it has no points */
    const sp_distance *distance; /* NULL: none. DEFORMED: `deformed`, which the step moves, with the same modes */
    sp_deformed_field *deformed;
    double thickness; /* m, radius about each point against other shells; 0: none */
    sp_pose pose;     /* at the start */
    sp_pose_path *path;
    const void *path_data;
    sp_free_body *free; /* SP_CONTACT_SCENE_FREE, made with a context of its own: bodies are stepped side by side */
    const sp_context *context; /* that one: what it says when a step fails; NULL: nothing */
    const sp_inertia *inertia; /* of that; SP_CONTACT_SCENE_COUPLED, dynamic: of the body, which counts as undeformed */
    const sp_system *system;   /* not FREE, and deformable: its deformation; NULL: rigid */
    const double *gravity;     /* [system->n, 3, row major], UᵀM e_k of that */
    double damping[2], most_acceleration; /* of that: α 1/s, β s; sp_integrator_parameters */
    int64_t
        r; /* reduced coordinates, 0 where rigid. Those of a shell or a deformed field are the first ones of these */
} sp_contact_scene_body;

/* The points of one body against the distances of another, or points against points. */
typedef struct sp_contact_scene_pair {
    int64_t pointshell, field;
} sp_contact_scene_pair;

typedef struct sp_contact_scene_coupling {
    int64_t body; /* −1: none */
    bool dynamic;
    double grasp[3]; /* m, in the body's frame */
    sp_pose_path *path;
    const void *path_data;
    sp_coupling_parameters parameters;
    bool normals;                       /* as in sp_penalty_wrench */
    double device_force, device_torque; /* N and N m at most */
} sp_contact_scene_coupling;

/* Free bodies of one model in semi-implicit steps: the forces that all of them ask for, at the places predicted, are
 * computed together before they move. */
typedef struct sp_contact_scene_batch {
    sp_polynomial_batch *batch;
    int64_t count;
    const int64_t *body; /* [count] of force i */
} sp_contact_scene_batch;

typedef struct sp_contact_scene_parameters {
    double step;       /* s */
    double gravity[3]; /* m/s² */
    sp_penalty penalty;
    double pulse;    /* m/s: points that approach faster in proximity voxels of a voxmap are stopped by impulses along
                        their normals, which    lower the kinetic energy (scene_pulses.c); INFINITY: none */
    double friction; /* μ of points against distances (contact/friction.h); 0: none */
    sp_traversal_limits limits;          /* its proximity is set here */
    sp_integrator_parameters integrator; /* of deformations of bodies that are not free; its step is set here */
    sp_contact_scene_coupling coupling;
    int64_t batch_count;
    const sp_contact_scene_batch *batches; /* [batch_count] */
    bool all; /* the points of every body against the distances of every other one, where either moves: pairs are not
                 read */
    bool exhaustive; /* pairs count as near wherever they are: to compare with */
    double memory;   /* bytes that there are for what grows with the bodies that touch; 0: not known */
} sp_contact_scene_parameters;

/* What the last step did. */
typedef struct sp_contact_scene_report {
    int64_t visited, passed,
        touching;         /* of pairs that are near: nodes, nodes passed over by coherence; points in contact */
    int deepest;          /* level */
    bool complete;        /* no traversal was cut short by its limits */
    double lowest;        /* m, of all distances seen; INFINITY: nothing is near */
    double stiffest;      /* h² times the largest eigenvalue of contact for a free body, of all steps so far
                             (scene_stability.c): the      step is too long from 4 on */
    double path_work;     /* J: of the bodies on paths on others, as rigid motions of their frames */
    double pushed, leant; /* N, over the pairs of points and distances with a free body that push along the points'
                             normals: lengths of their forces, and of the differences to the same pushes along the
                             gradients of the distances; 0 but in every eighth step */
    int64_t inside[2]; /* the first pair whose shell is wholly in the other body: all points of the levels visited are
                          in contact, the deepest by more than the radius of the ball about all points; −1: none */
    int degenerate;    /* directions of the coupling (contact/coupling.h) */
    bool limited;      /* by the coupling's speeds */
} sp_contact_scene_report;

typedef struct sp_contact_scene_contact {
    int32_t body[2], point; /* of the points, the other one; the point's number in its file */
    double at[3], force[3]; /* m, N, world, on the first */
} sp_contact_scene_contact;

typedef struct sp_contact_scene sp_contact_scene;

/* bodies [body_count] must outlive it. pairs: the points of `shell` against the distances of `field`, or, where that
 * has none, the balls of both (thickness). balls: those of all bodies with thickness meet; both find out by a broad
 * phase who is near, and only near pairs have a state (contact/broad.h). SP_USAGE where a pair lacks a shell, or
 * distances or thickness; SP_INPUT where friction is wanted for balls, voxmaps or the coupled body, which have none. */
int sp_contact_scene_new(sp_context *context, const sp_contact_scene_parameters *parameters, int64_t body_count,
                         const sp_contact_scene_body *bodies, int64_t pair_count, const sp_contact_scene_pair *pairs,
                         bool spheres, sp_contact_scene **scene) SP_MUST_USE;
void sp_contact_scene_free(sp_contact_scene *scene); /* NULL is allowed */

/* SP_NUMERICAL with number and name of the body where a step fails, SP_SYSTEM with an estimate where states of pairs
 * need more memory than there is. Allocates where more bodies are near or more points touch than ever before, and for
 * pairs that become near, beside the few of each shell whose memory is kept. */
int sp_contact_scene_step(sp_contact_scene *scene) SP_MUST_USE;

/* All that the next steps take from those before (base/state.h), bodies included. */
void sp_contact_scene_visit(sp_contact_scene *scene, sp_state *state);

double sp_contact_scene_time(const sp_contact_scene *scene);
const sp_contact_scene_report *sp_contact_scene_reported(const sp_contact_scene *scene);

/* Of a body now: pose of its frame, velocity of the frame's origin and angular velocity [6, world], coordinates [r] and
 * their rates. */
void sp_contact_scene_body_now(const sp_contact_scene *scene, int64_t body, sp_pose *pose, double twist[6], double *q,
                               double *qdot);

/* Force and torque of all contacts of the last step on a body, about its frame's origin where they were found [6,
 * world]. */
const double *sp_contact_scene_wrench(const sp_contact_scene *scene, int64_t body);

/* Kinetic, strain and gravitational energy [J] of all bodies that move by forces; heights from the world's origin. */
void sp_contact_scene_energies(sp_contact_scene *scene, double energy[3]);

/* Contacts of the last step in the order of pairs, or by the numbers of shell and field where those of all bodies
 * touch, and points. */
int64_t sp_contact_scene_contacts(const sp_contact_scene *scene, const sp_contact_scene_contact **contacts);

/* Of the coupling after the last step: the manipulandum, force and torque [6] on the body, and on the device. */
void sp_contact_scene_coupled(const sp_contact_scene *scene, sp_pose *hand, double wrench[6], double device[6]);

#endif
