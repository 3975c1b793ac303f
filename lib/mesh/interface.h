/* Interfaces of a body, sets of vertices at which it is joined to others, and their coordinates. */
#ifndef SP_MESH_INTERFACE_H
#define SP_MESH_INTERFACE_H

#include "material/material.h"

#include <stdint.h>

typedef enum sp_interface_frame {
    SP_FRAME_RIGID,   /* the vertices move as a rigid body */
    SP_FRAME_AVERAGE, /* the mean translation of the vertices and their mean rotation are prescribed */
    SP_FRAME_NONE,    /* every displacement of a vertex is a coordinate */
    SP_FRAMES
} sp_interface_frame;

/* "rigid", "average", "none" */
static inline const char *sp_interface_frame_name(sp_interface_frame frame)
{
    static const char *const names[SP_FRAMES] = {"rigid", "average", "none"};
    return names[frame];
}

/* The coordinates of a frame are the translation along x, y and z (m) and the rotation about these axes through the
 * origin (rad, linear). Those of SP_FRAME_NONE are x, y and z of each vertex, one vertex after the other.
 *
 * Average: with the shares s_v of the vertices in the area of the interface (assembly/interface_shares.h) and r_v = X_v
 * − origin the coordinates are Σ s_v u_v and (Σ s_v (|r_v|² I − r_v r_vᵀ))⁻¹ Σ s_v r_v × u_v. */
typedef struct sp_interface {
    char name[SP_NAME_LENGTH];
    sp_interface_frame frame;
    int64_t vertex_count, *vertices; /* [vertex_count] increasing; NULL: not known */
    double *share;                   /* [vertex_count] of the vertices in its area, 1 in all; NULL: not known */
    double origin[3];                /* m, its mean over the area */
    bool at_rest;                    /* its coordinates are 0 and not counted: a rigid frame is then fixed, the mean of
                                        an average one does not move */
    int64_t first, count;            /* of the coordinates, among those of all interfaces */
} sp_interface;

#endif
