/* Triangles as Wavefront OBJ text. */
#ifndef SP_FORMATS_EXPORT_OBJ_WRITE_H
#define SP_FORMATS_EXPORT_OBJ_WRITE_H

#include "base/context.h"

/* vertices [vertex_count, 3] are written with 9 significant digits (single precision, which readers of OBJ use),
 * triangles [triangle_count, 3] are numbered from 1 in the file. `comment` (one line, NULL: none) comes first. SP_INPUT
 * for an index out of range or a vertex that is not finite, before anything is written; SP_SYSTEM if writing fails.
 */
int sp_obj_write(sp_context *context, int descriptor, const char *comment, int64_t vertex_count, const double *vertices,
                 int64_t triangle_count, const int64_t *triangles) SP_MUST_USE;

#endif
