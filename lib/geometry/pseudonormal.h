/* Angle-weighted pseudonormals of a closed triangle mesh (Bærentzen & Aanæs, "Signed distance computation using the
 * angle weighted pseudonormal", 2005). If the mesh is an oriented closed manifold without self-intersection, they
 * determine from the closest point alone on which side of the surface a point is. */
#ifndef SP_GEOMETRY_PSEUDONORMAL_H
#define SP_GEOMETRY_PSEUDONORMAL_H

#include "geometry/closest.h"

typedef struct sp_pseudonormals {
    sp_pool pool;
    double *face;   /* [triangles, 3] of unit length */
    double *side;   /* [triangles, 3, 3] sums of two */
    double *corner; /* [triangles, 3, 3] sums over the corner's triangles, weighted by their angles */
} sp_pseudonormals;

/* *manifold is set if every edge has two triangles with opposite directions, and every vertex one fan of triangles;
 * nothing is allocated otherwise. The triangles must have area. */
int sp_pseudonormals_new(sp_context *context, const sp_surface *surface, bool *manifold,
                         sp_pseudonormals *normals) SP_MUST_USE;

/* The pseudonormal of the feature with the closest point: face, side or corner; not of unit length. */
const double *sp_pseudonormals_find(const sp_pseudonormals *normals, const sp_nearest *nearest);

/* Returns true if the point whose closest point was found is inside. A point on the surface is not. */
bool sp_pseudonormals_inside(const sp_pseudonormals *normals, const sp_nearest *nearest);

#endif
