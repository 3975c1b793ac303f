/* Interface bases (Craig and Bampton, AIAA J. 6 (1968)): the displacements of a body whose interfaces have prescribed
 * coordinates g are
 *
 *     u = S y + D g,
 *
 * with the interior coordinates y, for which the interfaces are at rest. Constraint modes are the static answers to a
 * unit value of each interface coordinate, the others at rest: Φ = S y + D with Sᵀ K Φ = 0. Fixed-interface modes are
 * those of SᵀKS y = λ SᵀMS y. A load on interface coordinates then has its exact static answer in the span of the
 * constraint modes, whatever modes are added. */
#ifndef SP_BASIS_INTERFACES_H
#define SP_BASIS_INTERFACES_H

#include "assembly/fe_space.h"
#include "basis/flexibility.h"
#include "linear/rectangular.h"
#include "mesh/interface.h"

/* Fills in share, origin, first and count of interfaces [count] whose name, frame, at_rest, vertices and space for
 * share are given. SP_INPUT if a vertex is fixed, or in two interfaces, or no element uses it, or if a frame has less
 * than three vertices that are not on one line. */
int sp_interfaces_prepare(sp_context *context, const sp_fe_space *space, int64_t count,
                          sp_interface *interfaces) SP_MUST_USE;

/* The matrices S [rows, columns], with SᵀS = I, and D [rows, coordinates, column major]; rows are the free degrees of
 * freedom of the space. */
typedef struct sp_interface_map {
    sp_pool pool;
    sp_rectangular S;
    int64_t coordinates;
    double *D;
    int64_t *node; /* [columns] the vertex of each interior coordinate, or a number behind those of the vertices for the
                      coordinates of a group of vertices of an average frame; not decreasing */
} sp_interface_map;

/* S has O(n log n) entries for an average frame of n vertices (basis/average_frame.h). */
int sp_interface_map_new(sp_context *context, const sp_fe_space *space, int64_t count, const sp_interface *interfaces,
                         sp_interface_map *map) SP_MUST_USE;
void sp_interface_map_free(sp_interface_map *map);

/* SᵀAS with the pattern of products, symmetric if A is. */
int sp_interface_map_matrix(sp_context *context, const sp_interface_map *map, const sp_sparse *A,
                            sp_sparse *mapped) SP_MUST_USE;

/* y = Sᵀ f and u = S y for one vector. */
void sp_interface_map_gather(const sp_interface_map *map, const double *f, double *y);
void sp_interface_map_spread(const sp_interface_map *map, const double *y, double *u);

/* Φ [rows, coordinates], with the flexibility of SᵀKS (NULL: there are no interior coordinates), which has no rigid
 * motions. residual receives the largest |SᵀKΦ| divided by the largest |SᵀKD| of a column. */
int sp_constraint_modes(sp_context *context, const sp_interface_map *map, const sp_sparse *K,
                        sp_flexibility *flexibility, double *modes, double *residual) SP_MUST_USE;

/* Replaces the columns U [order, count] by the Ritz vectors of their space in K and M: UᵀMU = I, UᵀKU diagonal, with
 * eigenvalue [count], 1/s², ascending. SP_NUMERICAL if the columns are dependent. */
int sp_ritz_vectors(sp_context *context, const sp_sparse *K, const sp_sparse *M, int64_t count, double *U,
                    double *eigenvalue) SP_MUST_USE;

#endif
