/* Angle-weighted pseudonormals of a closed triangle mesh (Bærentzen & Aanæs, "Signed distance computation using the
 * angle weighted pseudonormal", 2005): on which side of the surface a point lies follows from its closest point alone,
 * where the mesh is an oriented closed manifold that does not meet itself. */
#ifndef SP_GEOMETRY_PSEUDONORMAL_H
#define SP_GEOMETRY_PSEUDONORMAL_H

#include "geometry/closest.h"

typedef struct sp_pseudonormals {
    sp_pool pool;
    double *face;   /* [triangles, 3] of unit length */
    double *side;   /* [triangles, 3, 3] sums of two */
    double *corner; /* [triangles, 3, 3] sums over the corner's triangles, weighted by their angles */
} sp_pseudonormals;

/* *manifold: whether every edge has two triangles that run it in opposite directions, and every vertex one fan of
 * triangles; nothing is allocated where it does not. The triangles have area. */
int sp_pseudonormals_new(sp_context *context, const sp_surface *surface, bool *manifold,
                         sp_pseudonormals *normals) SP_MUST_USE;

/* That of the closest point: of its face, side or corner; not of unit length. */
const double *sp_pseudonormals_find(const sp_pseudonormals *normals, const sp_nearest *nearest);

/* Whether the point whose closest point was found lies inside. A point on the surface is not. */
bool sp_pseudonormals_inside(const sp_pseudonormals *normals, const sp_nearest *nearest);

#endif
