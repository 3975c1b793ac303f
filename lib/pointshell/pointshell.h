/* Point shells: multiresolution samples of a surface with inward normals, areas, and a tree of nested spheres for
 * contact (thesis §3.6–3.9).
 *
 * Levels are cumulative: level k of the tree (from 1) consists of the first cumulative[k − 1] points, coarse ones
 * first. A point has a node in every level from its own on. The parent of its first node is the node of the nearest
 * point of the level above; that of a later node is its own node above. Leaves, the nodes of the last level, have no
 * spheres; the others are numbered level by level: the node of point p in level k is cumulative[0] + … + cumulative[k −
 * 2] + p. */
#ifndef SP_POINTSHELL_POINTSHELL_H
#define SP_POINTSHELL_POINTSHELL_H

#include "mesh/mesh.h"
#include "pointshell/level.h"
#include "pointshell/repel.h"

enum { SP_POINTSHELL_LEVELS_MAX = 32, SP_POINTSHELL_POINTS_MAX = 100000000 };

typedef struct sp_pointshell {
    sp_pool pool;
    int64_t count;
    int levels;
    int64_t cumulative[SP_POINTSHELL_LEVELS_MAX]; /* [levels] increasing, the last is count */
    double *points;                               /* [count, 3] m */
    double *normals;                              /* [count, 3] of unit length, inward */
    double *area;    /* [count] m², of the part of the surface that is nearest to the point */
    int64_t *parent; /* [count] point whose node is the parent of the first one; −1 in level 1 */
    double *radius;  /* [inner nodes] m: bound on the distance of all points below from the node's point, at rest;
                        rounded up */
    /* if it deforms with reduced coordinates q, else NULL: */
    int64_t modes;
    double *U;  /* [count, 3, modes] displacements for q = 1 */
    double *dN; /* [count, 3, modes]: the deformed normal is N + dN q, not of unit length (thesis eq. 3.8) */
    double *dT; /* [count, 2, 3, modes]: the deformed tangents are t + dT q, their cross product the true normal; NULL:
                   none */
    double *a;  /* [inner nodes, modes] m: the sphere of radius + Σ a_j |q_j| about the deformed point contains all
                   points below (eq. 3.12) */
} sp_pointshell;

void sp_pointshell_free(sp_pointshell *pointshell);

/* Number of nodes of all levels but the last. */
int64_t sp_pointshell_inner(const sp_pointshell *pointshell);

/* Number of the node of point p in level k < levels, from 1. */
int64_t sp_pointshell_node(const sp_pointshell *pointshell, int k, int64_t p);

/* The first level that contains a point, from 1. */
int sp_pointshell_level_of(const sp_pointshell *pointshell, int64_t p);

/* ---- points ---- */

enum sp_pointshell_method {
    SP_POINTSHELL_REPULSION, /* particle repulsion, level by level */
    SP_POINTSHELL_VERTICES,  /* the vertices of the surface */
    SP_POINTSHELL_SAMPLES,   /* random, by area */
    SP_POINTSHELL_VOXELS,    /* centres of voxels that intersect the surface */
    SP_POINTSHELL_DEPTH,     /* layered depth cube */
    SP_POINTSHELL_FARTHEST,  /* farthest-point order of eight times as many samples */
};

typedef struct sp_pointshell_parameters {
    enum sp_pointshell_method method;
    int64_t points; /* vertices, voxels, depth: largest number, the first ones in farthest-point order; 0: all */
    int levels; /* 0: automatic: for repulsion 5 or fewer, such that the first has 64 points; else as many as it takes
                   from one branch on */
    int64_t branching; /* ratio of the numbers of points of a level and the one before; the radius decreases with its
                          square root */
    int64_t cells;     /* voxels, depth: along the longest side of the bounding box */
    int iterations;    /* repulsion: largest number in each level */
} sp_pointshell_parameters;

typedef struct sp_pointshell_level_report {
    double spacing; /* m, mean distance from the nearest point whose normal is within 120 degrees */
    double spread; /* its standard deviation divided by its mean; √(4/π − 1) = 0.523 for random points of a plane */
    double least;  /* m */
    double radius; /* m, of repulsion */
    sp_repel_report repel;
} sp_pointshell_level_report;

typedef struct sp_pointshell_report {
    double area; /* m², of the surface */
    double gap;  /* m, largest distance of a sample of the surface from its nearest point */
    /* m, largest distance of a point from the level set; not for voxels, whose centres are off the surface */
    double off;
    sp_pointshell_level_report level[SP_POINTSHELL_LEVELS_MAX];
} sp_pointshell_report;

/* Computes points, normals, areas, levels, parents and radii. Methods other than repulsion sort their points in
 * farthest-point order and split that into levels (§3.9.1). The same bytes for any number of threads. SP_USAGE for
 * parameters, SP_INPUT if there are no points. */
int sp_pointshell_make(sp_context *context, const sp_level *level, const sp_pointshell_parameters *parameters,
                       sp_pointshell *pointshell, sp_pointshell_report *report) SP_MUST_USE;

/* Statistics of the distances from the nearest among the first `count` points whose normal is within 120 degrees; a
 * point without such a neighbour does not count. */
int sp_pointshell_spacing(sp_context *context, int64_t count, const double *points, const double *normals,
                          sp_pointshell_level_report *report) SP_MUST_USE;

/* Sets parent and radius from points and levels. */
int sp_pointshell_tree(sp_context *context, sp_pointshell *pointshell) SP_MUST_USE;

/* ---- motion ---- */

typedef struct sp_pointshell_motion_report {
    int64_t outside; /* points in no element: transferred by the nearest one */
    double gap;      /* m, the largest distance of such a point from its element */
} sp_pointshell_motion_report;

/* Unit vectors t1 and t2 with t1 × t2 = N: t1 = e_k × N / |e_k × N| with the axis e_k of the least |N_k|, of several
 * the lowest, and t2 = N × t1. They are not stored, since they follow from the normal. */
void sp_pointshell_tangents(const double normal[3], double tangent[2][3]);

/* Sets U, dN and a from displacements U [3·vertices, modes, column major] of the mesh: U_s by the shape functions at
 * the point, dN_s,j = F_s,j N with the gradient F_s,j of mode j there. A point in no element is extrapolated linearly
 * from the nearest one: U at the nearest position plus its gradient times the distance from there, so that motions
 * linear in the position are preserved. `tangents`: also sets dT, dT_s,i,j = F_s,j t_i; (t1 + dT1 q) × (t2 + dT2 q) =
 * cof(F) N has the direction of F⁻ᵀN for every strain (thesis §3.6.2), at twice the cost of dN. */
int sp_pointshell_transfer(sp_context *context, const sp_mesh *mesh, int64_t modes, const double *U, bool tangents,
                           sp_pointshell *pointshell, sp_pointshell_motion_report *report) SP_MUST_USE;

/* Sets a from U: a_ij is the largest |U_p,j − U_c,j| of the points p below node i with the point c, rounded up. */
int sp_pointshell_bounds(sp_context *context, sp_pointshell *pointshell) SP_MUST_USE;

#endif
