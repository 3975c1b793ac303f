/* What glTF, USD and the page draw: meshes that deform by targets, and bodies that show them over time.
 *
 * A vertex v of a body is, at the frame f,
 *
 *     x = position + R(orientation) (rest_v + sum_i weight_fi target_iv),
 *
 * so that a motion of r coordinates is r targets and r weights a frame, whatever the number of vertices. The arrays
 * belong to the caller. */
#ifndef SP_FORMATS_EXPORT_ANIMATION_H
#define SP_FORMATS_EXPORT_ANIMATION_H

#include "base/context.h"

typedef struct sp_animated_mesh {
    const char *name;
    int64_t vertex_count, triangle_count, target_count;
    int64_t skin_count;           /* the first vertices are those of the skin, in its order */
    const int64_t *origin;        /* [vertex_count] vertex of the skin: the others repeat vertices at creases, where the
                                     normals of the sides differ */
    const double *rest;           /* [vertex_count, 3] m */
    const double *normals;        /* [vertex_count, 3] unit vectors, of the rest shape */
    const int64_t *triangles;     /* [triangle_count, 3] */
    const double *targets;        /* [target_count, vertex_count, 3] m: displacements for the weight 1; the largest
                                     component is half the largest side of the box of `rest` */
    const double *normal_targets; /* [target_count, vertex_count, 3] what is added to `normals` for the weight 1 */
    const float *colors;          /* [vertex_count, 3] linear RGB from 0 to 1; NULL: none */
} sp_animated_mesh;

/* Bones that move a mesh by linear blending (skin/skin.h); positions and targets are those of the rest pose. The arrays
 * of vertices are those of the mesh of the body. */
typedef struct sp_animated_skin {
    int64_t joint_count, influences; /* influences: a multiple of 4 */
    const char *const *names;        /* [joint_count] */
    const int64_t *parent;           /* [joint_count] a joint before it; −1: none */
    const double *at;                /* [joint_count, 3] m, at rest */
    const double *poses;             /* [joint_count, frame_count, 7] as below, of the joint relative to its parent's */
    const int64_t *joint;            /* [vertex_count, influences] */
    const double *weight;            /* [vertex_count, influences] */
} sp_animated_skin;

typedef struct sp_animated_body {
    const char *name;
    int64_t mesh;          /* its number; several bodies may show one */
    const double *weights; /* [frame_count, target_count of its mesh]; NULL where there are no targets */
    const double *poses;   /* [frame_count, 7] m and unit quaternions: x, y, z, qw, qx, qy, qz, whose signs agree from
                              frame to frame; NULL: they do not move, and their frame is that of the world */
    const sp_animated_skin *skin; /* without poses; only glTF has it; NULL: none */
} sp_animated_body;

typedef struct sp_animation {
    const char *title;
    int up; /* the axis that points upwards: 0, 1, 2 for x, y, z */
    int64_t mesh_count, body_count, frame_count;
    const sp_animated_mesh *meshes;
    const sp_animated_body *bodies;
    const double *times; /* [frame_count] s, strictly increasing, the first 0 or later; a single frame does not move */
} sp_animation;

/* The vertices of a body in a frame, without its pose: [vertex_count, 3] m. */
void sp_animated_positions(const sp_animated_mesh *mesh, const double *weights, double *positions);

#endif
