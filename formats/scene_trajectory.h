/* Files of the type scene_trajectory (scene_trajectory.md): the motion and contacts of the bodies of a scene, written
 * during the simulation and readable while it runs. */
#ifndef SP_FORMATS_SCENE_TRAJECTORY_H
#define SP_FORMATS_SCENE_TRAJECTORY_H

#include "formats/scene.h"
#include "formats/series.h"

typedef struct sp_scene_trajectory_body {
    char name[SP_SCENE_NAME], model[SP_SCENE_NAME];
    int64_t r;      /* reduced coordinates */
    int64_t offset; /* of the first one in q */
} sp_scene_trajectory_body;

typedef struct sp_scene_trajectory_layout {
    int64_t body_count;
    const sp_scene_trajectory_body *bodies; /* offsets follow from r in order */
    int64_t r;                              /* of all bodies together */
    bool coupled;                           /* there is a coupling */
    bool contacts;                          /* every contact point of the frame is recorded */
} sp_scene_trajectory_layout;

enum {
    SP_SCENE_TRAJECTORY_KINETIC,
    SP_SCENE_TRAJECTORY_STRAIN,
    SP_SCENE_TRAJECTORY_GRAVITY,
    SP_SCENE_TRAJECTORY_ENERGIES
};
enum {
    SP_SCENE_TRAJECTORY_VISITED,
    SP_SCENE_TRAJECTORY_PASSED,
    SP_SCENE_TRAJECTORY_TOUCHING,
    SP_SCENE_TRAJECTORY_LEVEL,
    SP_SCENE_TRAJECTORY_COUNTS
};

typedef struct sp_scene_trajectory_contacts {
    int64_t count;
    const int32_t *body;  /* [count, 2] the body of the point (or sphere), the other one */
    const int32_t *point; /* [count] of the first body's shell */
    const double *place;  /* [count, 3] m, world */
    const double *force;  /* [count, 3] N, world, on the first body */
} sp_scene_trajectory_contacts;

typedef struct sp_scene_frame {
    double time;            /* s */
    const sp_pose *pose;    /* [bodies] of the frame of each model */
    const double *twist;    /* [bodies, 6] velocity of the frame's origin m/s, angular velocity rad/s, world */
    const double *q, *qdot; /* [r] */
    const double *wrench; /* [bodies, 6] N, N m: of all contacts in the last step, world, about the origin of the body's
                             frame at the time of contact detection */
    double energy[SP_SCENE_TRAJECTORY_ENERGIES]; /* J, of all bodies that are driven by forces */
    int64_t counts[SP_SCENE_TRAJECTORY_COUNTS]; /* maxima over the steps since the previous frame: visited nodes, culled
                                                   nodes, penetrating points, deepest level */
    /* if there is a coupling: */
    sp_pose hand;                          /* the manipulandum */
    double coupling[6];                    /* force and torque of the coupling on the body */
    double device[6];                      /* haptic feedback force and torque */
    sp_scene_trajectory_contacts contacts; /* if they are recorded */
} sp_scene_frame;

typedef struct sp_scene_trajectory_writer sp_scene_trajectory_writer;

/* Adds the layout to `meta` and writes it. meta must already have "scene" (hash of the scene's text). The caller keeps
 * the sp_writer. */
int sp_scene_trajectory_begin(sp_context *context, sp_writer *writer, json_t *meta,
                              const sp_scene_trajectory_layout *shape, sp_scene_trajectory_writer **motion) SP_MUST_USE;
/* Copies one frame; complete blocks are written to the file. Allocates only when a block has more contacts than any
 * before. */
int sp_scene_trajectory_append(sp_scene_trajectory_writer *motion, const sp_scene_frame *frame) SP_MUST_USE;
/* Writes the last, partial block and frees the writer, also after an error. */
int sp_scene_trajectory_finish(sp_scene_trajectory_writer *motion) SP_MUST_USE;

/* A motion in memory. */
typedef struct sp_scene_trajectory {
    sp_pool pool;
    json_t *meta, *result; /* owned */
    char hash[SP_HASH_LENGTH];
    bool truncated;
    int64_t frame_count, body_count, r;
    bool coupled;
    bool with_contacts;
    sp_scene_trajectory_body *bodies; /* [body_count] */
    double *time;                     /* [frame_count] */
    double *pose;                     /* [frame_count, body_count, 7] x y z qw qx qy qz */
    double *twist, *wrench;           /* [frame_count, body_count, 6] */
    double *q, *qdot;                 /* [frame_count, r] */
    double *energy;                   /* [frame_count, 3] */
    int64_t *counts;                  /* [frame_count, 4] */
    double *hand;                     /* [frame_count, 7]; NULL if not coupled */
    double *coupling, *device;        /* [frame_count, 6] */
    int64_t contact_count;            /* of all frames */
    int64_t *contact_begin;           /* [frame_count + 1] into: */
    int32_t *contact_body;            /* [contacts, 2] */
    int32_t *contact_point;
    double *contact_place, *contact_force; /* [contacts, 3] */
    sp_list owned[SP_SERIES_MOST];         /* memory of time … contact_force */
} sp_scene_trajectory;

/* Checks shapes, finite values, increasing times, unit quaternions (within 1e-6), bodies and points of contacts in
 * range. With `partial` a truncated file is read up to its last complete block. */
int sp_scene_trajectory_read(sp_context *context, int descriptor, bool partial,
                             sp_scene_trajectory *motion) SP_MUST_USE;
void sp_scene_trajectory_free(sp_scene_trajectory *motion);

#endif
