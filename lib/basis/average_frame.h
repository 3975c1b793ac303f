/* An orthonormal basis of the displacements of an interface that neither move nor turn it in the mean (average frames,
 * mesh/interface.h), with few vertices in most of its columns.
 *
 * The vertices are divided into halves along their longest direction until a group has few of them. With B [6, 3·count]
 * the mean translation and moment of the displacements of a group, and Bᵀ = Q R, the columns of the orthogonal Q behind
 * the sixth have no mean motion: they are columns of the basis. The six others represent the group in the next larger
 * one, whose B consists of the Rᵀ of its halves. A group with n vertices has 3 n or 6 rows in its columns, so that the
 * basis has O(n log n) nonzeros. Of the whole interface six coordinates remain, which the mean motion determines. */
#ifndef SP_BASIS_AVERAGE_FRAME_H
#define SP_BASIS_AVERAGE_FRAME_H

#include "base/context.h"
#include "base/memory.h"
#include "mesh/interface.h"
#include "mesh/mesh.h"

typedef struct sp_average_frame {
    int64_t columns;        /* 3·vertices − 6 */
    int64_t *group;         /* [columns] of each, from 0, not decreasing */
    int64_t groups;         /* their number */
    int64_t *start, *index; /* [3·vertices + 1], [entries] the basis by rows, columns ascending */
    double *value;          /* [entries] */
    double *moved; /* [3·vertices, 6, column major] displacements orthogonal to the basis for unit coordinates */
} sp_average_frame;

/* The interface has been prepared (basis/interfaces.h). Memory is that of the pool. SP_NUMERICAL if the mean rotation
 * of the vertices is not determined. */
int sp_average_frame_new(sp_context *context, const sp_mesh *mesh, const sp_interface *interface, sp_pool *pool,
                         sp_average_frame *frame) SP_MUST_USE;

#endif
