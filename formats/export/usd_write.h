/* Animations of targets as USD in text (.usda): for each body a prim with its pose and a mesh.
 *
 * A mesh that deforms has blend shapes (UsdSkel), whose weights are the samples over time; where fewer frames than
 * targets are written, its points and normals are the samples. A mesh that several bodies show is written once and
 * referenced. Lengths are rounded to about 1e-7 of the size of the mesh. */
#ifndef SP_FORMATS_EXPORT_USD_WRITE_H
#define SP_FORMATS_EXPORT_USD_WRITE_H

#include "formats/export/animation.h"

/* *bytes: of the file. SP_SYSTEM if writing fails. */
int sp_usd_write(sp_context *context, int descriptor, const sp_animation *animation, int64_t *bytes) SP_MUST_USE;

#endif
