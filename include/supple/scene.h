/* A scene of rigid and reduced-order bodies in contact, with a virtual coupling to a haptic device: what the program
 * `simscene` simulates (formats/scene.md), step by step.
 *
 *     supple_scene_options how = supple_scene_options_default();
 *     supple_scene *scene;
 *     how.step = 0.001;
 *     if (supple_scene_open("scene.json", &how, &scene))
 *         puts(supple_error());
 *     for (;;) {
 *         supple_scene_move_hand(scene, &pose_of_the_device, NULL);
 *         supple_scene_step(scene);
 *         supple_scene_hand(scene, NULL, NULL, force_for_the_device);
 *     }
 *
 * Bodies are numbered from 0 in the order of the scene, copies included. The same scene and options give the motion
 * that simscene writes. A step uses up to `threads` threads, and allocates only when more bodies are near or more
 * points penetrate than ever before. */
#ifndef SUPPLE_SCENE_H
#define SUPPLE_SCENE_H

#include <supple/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct supple_scene supple_scene;

typedef struct supple_scene_options {
    double step;        /* s, > 0 */
    int threads;        /* > 0 */
    bool energy;        /* deformation of bodies that are not free: conserve energy exactly; false: Newmark */
    bool semi_implicit; /* one Newton iteration in each step */
    double beta, gamma; /* of Newmark's method */
    double tolerance;   /* of Newton's method, relative; 0: 1e-10, energy 1e-12 */
    int64_t iterations; /* of Newton's method, at most; 0: 50 */
} supple_scene_options;

/* Steps of 0.01 s, one thread, Newmark with β = ¼, γ = ½, as simscene without options. */
supple_scene_options supple_scene_options_default(void);

/* Reads the scene and the files that it names, and places the bodies. *scene is NULL after a failure. */
supple_status supple_scene_open(const char *path, const supple_scene_options *options,
                                supple_scene **scene) SUPPLE_MUST_USE;
void supple_scene_close(supple_scene *scene); /* NULL is allowed */

/* One step. After a failure the scene cannot go on; supple_scene_load brings it back to a saved state. */
supple_status supple_scene_step(supple_scene *scene) SUPPLE_MUST_USE;

/* s; 0 for NULL. */
double supple_scene_time(const supple_scene *scene);

/* ---- bodies ---- */

int64_t supple_scene_bodies(const supple_scene *scene); /* 0 for NULL */

/* The name of a body, which the scene owns; NULL out of range. The number of a name; SUPPLE_USAGE if there is none. */
const char *supple_scene_body_name(const supple_scene *scene, int64_t body);
supple_status supple_scene_find(const supple_scene *scene, const char *name, int64_t *body) SUPPLE_MUST_USE;

/* Reduced coordinates (0: rigid), and vertices of the mesh (0: it has none). 0 out of range. */
int64_t supple_scene_coordinates(const supple_scene *scene, int64_t body);
int64_t supple_scene_vertices(const supple_scene *scene, int64_t body);

/* A point X of a body's model is at position + R(rotation) X in the world. */
typedef struct supple_pose {
    double position[3]; /* m */
    double rotation[4]; /* unit quaternion w, x, y, z, body to world */
} supple_pose;

/* Where a body is: its pose, the velocity of its frame's origin and its angular velocity, twist [6] in the world, its
 * coordinates q and their rates [coordinates]. Each pointer behind the body may be NULL. */
supple_status supple_scene_state(const supple_scene *scene, int64_t body, supple_pose *pose, double *twist, double *q,
                                 double *qdot) SUPPLE_MUST_USE;

/* Positions [count, 3] in the world of vertices [count] of the mesh of a body; vertex NULL: of the first `count`. The
 * time is proportional to count · coordinates. */
supple_status supple_scene_positions(const supple_scene *scene, int64_t body, int64_t count, const int64_t *vertex,
                                     double *x) SUPPLE_MUST_USE;
supple_status supple_scene_positions_float(const supple_scene *scene, int64_t body, int64_t count,
                                           const int64_t *vertex, float *x) SUPPLE_MUST_USE;

/* ---- what acts, from the next step on ---- */

supple_status supple_scene_set_gravity(supple_scene *scene, const double gravity[3]) SUPPLE_MUST_USE;

/* A force [N, world] on a vertex of the mesh of a body; vertex −1: at the origin of the frame of a free body. */
typedef struct supple_point_force {
    int64_t body, vertex;
    double force[3];
} supple_point_force;

/* Forces on free bodies and on bodies that deform, in place of all that were set before. SUPPLE_USAGE for what no force
 * moves: a rigid body or a frame that is not free. Allocates if there are more than ever before. */
supple_status supple_scene_set_forces(supple_scene *scene, int64_t count,
                                      const supple_point_force *force) SUPPLE_MUST_USE;

/* Where the manipulandum is, if the clutch of the device was never held, else where the device is: it takes the place
 * of the path in the scene. twist [6]: its velocity and angular velocity, with which it moves on until the next call;
 * NULL: it rests. Lengths are those of the scene. SUPPLE_USAGE if no body is coupled. */
supple_status supple_scene_move_hand(supple_scene *scene, const supple_pose *hand, const double *twist) SUPPLE_MUST_USE;

/* The clutch of the device: true while it is held, false from its release on. While it is held, the poses of
 * supple_scene_move_hand, or the path, move the device and not the manipulandum, which stays where it is. After the
 * release the manipulandum continues from there, with the motion of the device in the world. It takes the place of the
 * clutch in the path or the scene; so does supple_scene_move_hand, which releases that one. SUPPLE_USAGE if no body is
 * coupled. */
supple_status supple_scene_clutch(supple_scene *scene, bool held) SUPPLE_MUST_USE;

/* The same as supple_scene_move_hand for a body whose motion is "path". */
supple_status supple_scene_move_body(supple_scene *scene, int64_t body, const supple_pose *pose,
                                     const double *twist) SUPPLE_MUST_USE;

/* ---- what the last step did ---- */

/* The pose of the manipulandum, force and torque [6] of the coupling on the body, and those to be rendered by the
 * device. Each pointer behind the scene may be NULL. */
supple_status supple_scene_hand(const supple_scene *scene, supple_pose *hand, double *coupling,
                                double *device) SUPPLE_MUST_USE;

/* Force and torque [6] of all contacts on a body, world, about the origin of its frame. */
supple_status supple_scene_contact_force(const supple_scene *scene, int64_t body, double wrench[6]) SUPPLE_MUST_USE;

/* A penetrating point: its body and the other one, the number of the point in its point shell, where it is, and the
 * force on its body. */
typedef struct supple_contact {
    int32_t body, other, point;
    double position[3], force[3]; /* m, N, world */
} supple_contact;

/* Copies up to `room` contacts; *count receives the number that there are. contact may be NULL if room is 0. */
supple_status supple_scene_contacts(const supple_scene *scene, int64_t room, supple_contact *contact,
                                    int64_t *count) SUPPLE_MUST_USE;

/* J: of all bodies that forces move. Heights are from the world's origin. */
typedef struct supple_scene_energy {
    double kinetic, strain, gravity;
} supple_scene_energy;
supple_status supple_scene_energies(supple_scene *scene, supple_scene_energy *energy) SUPPLE_MUST_USE;

typedef struct supple_contact_report {
    int64_t visited;       /* nodes of point shells */
    int64_t points;        /* that penetrate */
    int64_t deepest_level; /* of point shells */
    bool complete;         /* no traversal was cut short by its budget */
    double lowest;         /* m, the least evaluated distance; infinite if no pair is near */
    double stiffness; /* h² times the largest eigenvalue of contact over all steps: the step is too long from 4 on */
} supple_contact_report;
supple_status supple_scene_report(const supple_scene *scene, supple_contact_report *report) SUPPLE_MUST_USE;

/* What is to be said of the steps so far, as simscene says at its end: energy that nothing put in, contact that is too
 * stiff for the step, bodies that sink or pass through each other, a coupling that does not come to rest, a frame that
 * stops at once where its path ends. Sentences in English, each with a line feed at its end; an empty text if there is
 * nothing. Copies them, with a zero behind the last, to `text` of *size bytes (NULL: not), and sets *size to what is
 * needed. It is allowed after a step has failed. Energies are looked at in every 16th step, and not judged where forces
 * were set or bodies moved by calls. */
supple_status supple_scene_warnings(const supple_scene *scene, char *text, size_t *size) SUPPLE_MUST_USE;

/* ---- saving: as supple_body_save and supple_body_load ---- */

supple_status supple_scene_save(supple_scene *scene, void *state, size_t *size) SUPPLE_MUST_USE;

/* Into a scene that was opened from the same files with the same options. Forces, gravity and poses that were set are
 * part of the state. SUPPLE_INPUT, with the scene as it was, if the bytes are damaged or belong to another scene. A
 * scene that has made steps reads its paths again, and allocates: if that fails, the scene is unusable until a
 * supple_scene_load succeeds. */
supple_status supple_scene_load(supple_scene *scene, const void *state, size_t size) SUPPLE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
