/* A scene that is ready to be simulated: the models of its text, read from their files, and the bodies made of them.
 * Failures are reported as in api/inputs.h. */
#ifndef SP_API_LOADED_SCENE_H
#define SP_API_LOADED_SCENE_H

#include "api/scene_input.h"
#include "contact/clutch.h"
#include "cubature/cubature.h"
#include "model/models.h"
#include "run/run.h"
#include "scene/stiffness.h"
#include "scene/watch.h"

/* Data shared by the bodies of one model. */
typedef struct sp_loaded_model {
    const sp_scene_model *m;
    sp_mesh_input mesh;
    sp_columns_input basis;
    sp_fe_space body;
    bool free, guided, grasped; /* the motions of its bodies; guided: not free */
    bool inertial;              /* one of them feels the inertial forces of its frame */
    int64_t r;                  /* 0: rigid */
    bool lumped;                /* its mass is lumped */
    sp_polynomials polynomials;
    sp_polynomial_force *polynomial_force;
    sp_cubature cubature;
    double *stiffness;      /* [r, r] of a linear model */
    double *mass, *gravity; /* [r, r], [r, 3] */
    double damping[2];      /* 1/s, s */
    sp_inertia inertia;
    bool has_inertia, has_pointshell, has_distance;
    sp_contact_pointshell pointshell;
    sp_field field;
    sp_distance distance;
    sp_voxmap *voxmap;
    int64_t domain_count;
    sp_deformed_domain *domains;
    sp_field *domain_fields;           /* [domain_count] */
    const sp_deformed_field *deformed; /* of the first body with one, whose constant data the others share */
    double reach;                      /* m, half the diagonal of the largest grid; 0: no grid */
} sp_loaded_model;

/* A pose over time: of a path in a file, or as it was set last, from where it moves on with the velocity that was set
 * with it. */
typedef struct sp_driven_pose {
    sp_path path;
    double scale; /* lengths of the path by lengths of the scene */
    bool set;
    double since; /* s */
    sp_pose pose;
    double twist[6];
    double before[6]; /* velocity and angular velocity before that */
    double felt;      /* s: from when on a body that feels the inertial forces of its frame has the new velocities */

    /* of the device that moves the manipulandum: it is held at the times of its path or scene until someone holds or
     * releases it, or places the device */
    sp_clutch_times clutch_times;
    bool clutched; /* by then: */
    sp_clutch clutch;
} sp_driven_pose;

typedef struct sp_scene_options {
    double step;                        /* s */
    enum sp_integrator_kind integrator; /* of the deformation of bodies that are not free: NEWMARK or ENERGY */
    double beta, gamma;
    bool semi_implicit;
    double tolerance; /* as in sp_integrator_parameters, as the next one */
    int64_t iterations;
    double memory; /* bytes that are left for the states of contact pairs; 0: not known */
} sp_scene_options;

typedef struct sp_loaded_scene {
    sp_source *source; /* only while it is loaded */
    sp_context *context;
    sp_scene_input input;
    sp_scene_options options;
    sp_loaded_model *models;       /* [models of the scene] */
    sp_contact_scene_body *bodies; /* [bodies of the scene] */
    sp_distance *distances;        /* [bodies] of those whose field deforms */
    sp_system *systems;            /* [bodies] */
    sp_driven_pose *paths;         /* [bodies] */
    sp_driven_pose hand;
    sp_context *contexts;          /* [bodies]: they are stepped in parallel */
    sp_reduced_force *forces;      /* [bodies] of free deformable ones, which own them */
    sp_free_workspaces workspaces; /* of free bodies */
    sp_body_loads *loads;          /* [bodies] */
    bool *is_joined; /* [bodies] it has a joint. Such bodies are stepped together, and share no workspaces or batches */
    sp_contact_scene_joined joined;
    sp_contact_scene_batch *batches; /* [models] */
    int64_t batch_count;
    sp_contact_scene_pair *pairs;
    int64_t pair_count, pairs_by_gradient, pairs_by_voxmap, pairs_by_normal; /* the latter two without sphere pairs */
    int64_t r;                                                               /* reduced coordinates of all bodies */
    double stiffness;         /* of contact, N/m: of the scene, or chosen: */
    sp_contact_choice choice; /* where the scene has none; else its stiffness is 0 */
    sp_pool pool, body_pool;  /* of the models; of the bodies */
    sp_contact_scene *contact;

    /* its steps; callers add observers, and may set run.steps and run.every before the first one */
    sp_run run;
    sp_contact_watch watch;
    double energy[3]; /* J, of sp_contact_scene_energies at the last frame */
} sp_loaded_scene;

/* Reads the scene, which receives zeros first, and all that its bodies use, and creates the contact scene. After a
 * failure it is to be unloaded too, once the message is made: the file that this is about may be named in the scene. */
int sp_scene_load(sp_source *source, const char *path, const sp_scene_options *options,
                  sp_loaded_scene *scene) SP_MUST_USE;
void sp_scene_unload(sp_loaded_scene *scene);

/* ---- what acts on it, from the next step on ---- */

enum { SP_DRIVE_HAND = -1 };

/* The remarks of sp_contact_watch_judge (scene/watch.h). step, semi_implicit: what these options are called. */
void sp_scene_judge(const sp_loaded_scene *scene, const char *step, const char *semi_implicit, sp_remarks *remarks);

/* Makes the run of a scene whose bodies are new: a frame every 16 steps, at which energies are looked at. */
void sp_scene_begin_run(sp_loaded_scene *scene);

/* Why an input was refused; nothing has changed then. */
enum sp_drive {
    SP_DRIVE_DONE,
    SP_DRIVE_NOT_FINITE,
    SP_DRIVE_NO_ROTATION, /* the quaternion is zero */
    SP_DRIVE_NO_BODY,
    SP_DRIVE_NO_VERTEX,
    SP_DRIVE_NOT_DRIVEN, /* no coupling; a body whose motion is not "path"; a force on a rigid body or a frame that is
                            not free */
};

/* Places the device (SP_DRIVE_HAND), or a body whose motion is "path", at a pose (x, y, z, qw, qx, qy, qz), from where
 * it moves on with its velocity and angular velocity twist [6]; NULL: it rests. The manipulandum follows the device
 * unless the clutch is held. If the path or the scene holds it, this pose releases it. */
enum sp_drive sp_scene_drive(sp_loaded_scene *scene, int64_t body, const double pose[7],
                             const double *twist) SP_MUST_USE;

/* Holds or releases the clutch of the device (contact/clutch.h), in place of the path or the scene. */
enum sp_drive sp_scene_clutch(sp_loaded_scene *scene, bool held) SP_MUST_USE;

/* The force [N, world] on a vertex of a body for sp_contact_scene_set_forces; vertex −1: at the origin of its frame. */
enum sp_drive sp_scene_force(const sp_loaded_scene *scene, int64_t body, int64_t vertex, const double value[3],
                             sp_contact_scene_force *force) SP_MUST_USE;

/* The velocity and angular velocity that a driven pose has now. */
void sp_scene_driven_velocity(const sp_driven_pose *driven, double now, double velocity[6]);

/* The pose of a device, with its velocity [6; NULL: not wanted], and its clutch at a time. */
sp_pose sp_scene_device_at(const void *driven, double time, double velocity[6]);
sp_clutch sp_scene_clutch_at(const sp_driven_pose *driven, double time);

/* ---- the parts of sp_scene_load ---- */

/* Reads the files of all models that bodies use. */
int sp_scene_load_models(sp_loaded_scene *scene) SP_MUST_USE;
void sp_scene_unload_models(sp_loaded_scene *scene);

/* The force of one body of a deformable model. */
int sp_scene_model_force(sp_loaded_scene *scene, const sp_loaded_model *model, sp_context *context,
                         sp_reduced_force *force) SP_MUST_USE;

/* Creates the bodies, the pairs and the contact scene; after sp_scene_unload_bodies once more, at their start. */
int sp_scene_load_bodies(sp_loaded_scene *scene) SP_MUST_USE;
void sp_scene_unload_bodies(sp_loaded_scene *scene);

/* The loads of bodies, and the set of those that are joined. */
int sp_scene_load_loads(sp_loaded_scene *run) SP_MUST_USE;
void sp_scene_unload_loads(sp_loaded_scene *run);
int sp_scene_load_joints(sp_loaded_scene *run) SP_MUST_USE;
void sp_scene_unload_joints(sp_loaded_scene *run);

/* Fails if one of the pools has failed. */
int sp_scene_allocated(sp_loaded_scene *scene) SP_MUST_USE;

#endif
