/* Interface models of other programs: reduced mass and stiffness matrices with interface coordinates. */
#ifndef SP_FORMATS_EXPORT_SUPERELEMENT_WRITE_H
#define SP_FORMATS_EXPORT_SUPERELEMENT_WRITE_H

#include "mesh/interface.h"

#include "base/context.h"

/* M q̈ + D q̇ + K q = f. The first coordinates are those of the interfaces, the others of modes. */
typedef struct sp_superelement {
    int64_t r;
    double *mass, *stiffness; /* [r, r, column major] */
    double *damping;          /* [r, r]; NULL: none */
    double *gravity;          /* [r, 3, row major] Uᵀ M (e_x, e_y, e_z) */
    int64_t interface_count;
    const sp_interface *interfaces;
} sp_superelement;

/* The description as JSON (superelement.md). The matrices are in the files STEM-mass.npy, STEM-mass.mtx and so on. The
 * numbers of the vertices are written where they are known. mesh and basis are hashes. */
int sp_superelement_write(sp_context *context, int descriptor, const sp_superelement *model, const char *stem,
                          const char *mesh, const char *basis) SP_MUST_USE;

/* The superelement file of OpenFAST's module ExtPtfm (format FlexASCII of its documentation), with the constant force
 * of an acceleration [3]. It has one interface of six coordinates: SP_INPUT otherwise. */
int sp_extptfm_write(sp_context *context, int descriptor, const sp_superelement *model,
                     const double acceleration[3]) SP_MUST_USE;

#endif
