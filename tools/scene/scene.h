/* Scenes: bodies created from the models of a scene, and their motion step by step. All functions end the process on
 * failure. */
#ifndef TOOLS_SIMULATE_SCENE_H
#define TOOLS_SIMULATE_SCENE_H

#include "contact/scene.h"
#include "cubature/cubature.h"
#include "tools/common/scene.h"
#include "tools/simulate/options.h"

/* The options of scenes only. */
typedef struct simulate_scene_choice {
    bool contacts;       /* record every contact point */
    const char *timings; /* CSV of the wall time of each step */
} simulate_scene_choice;

/* Data shared by the bodies of one model. */
typedef struct scene_model {
    const sp_scene_model *m;
    tool_mesh mesh;
    tool_columns basis;
    sp_fe_space body;
    bool free, guided, grasped; /* the motions of its bodies; guided: not free */
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
} scene_model;

typedef struct scene_hand {
    sp_path path;
    double scale; /* device lengths by scene lengths */
} scene_hand;

typedef struct scene_run {
    sp_context *context;
    tool_scene *scene;
    const simulate_choice *choice;
    scene_model *models;           /* [models of the scene] */
    sp_contact_scene_body *bodies; /* [bodies of the scene] */
    sp_distance *distances;        /* [bodies] of those whose field deforms */
    sp_system *systems;            /* [bodies] */
    sp_path *paths;                /* [bodies] */
    scene_hand hand;
    sp_context *contexts;            /* [bodies]: they are stepped in parallel */
    sp_reduced_force *forces;        /* [bodies] of free deformable ones, which own them */
    sp_free_workspaces workspaces;   /* of free bodies */
    sp_contact_scene_batch *batches; /* [models] */
    int64_t batch_count;
    sp_contact_scene_pair *pairs;
    int64_t pair_count, pairs_by_gradient, pairs_by_voxmap, pairs_by_normal; /* the latter two without sphere pairs */
    int64_t r;                                                               /* reduced coordinates of all bodies */
    sp_pool pool;
    sp_contact_scene *contact;
} scene_run;

/* Reads the files of all models that bodies use, and creates the shared data. */
void scene_read_models(scene_run *run);
void scene_free_models(scene_run *run); /* after the contact scene; frees everything else of the run */

/* The force of one body of a deformable model. */
void scene_model_force(const scene_model *model, sp_context *context, sp_reduced_force *force);

/* Creates the bodies, the pairs and the contact scene. */
void scene_make_contact(scene_run *run);
void scene_free_contact(scene_run *run);

/* Runs simulate for a scene. */
void simulate_scene(sp_context *context, const char *path, const simulate_choice *choice,
                    const simulate_scene_choice *scene_choice);

#endif
