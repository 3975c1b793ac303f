/* Reader for triangle models of other programs: OBJ, PLY (ASCII, both binary orders), STL (ASCII, binary), OFF (ASCII,
 * also COFF/NOFF variants and the headerless counts line). The file type is determined by the content if possible (PLY
 * and OFF magic, "solid", binary STL by its size), else by the ending of `name`, else OBJ by its first statement.
 * Polygons are split into fans. STL corners of exactly equal position become one vertex. Nothing else is repaired. */
#ifndef SP_FORMATS_IMPORT_SURFACE_H
#define SP_FORMATS_IMPORT_SURFACE_H

#include "geometry/surface.h"

/* The groups of an OBJ file: none, or those of g/o lines or of usemtl lines. Only groups with faces count; names are
 * UTF-8. */
enum sp_surface_groups { SP_GROUPS_NONE, SP_GROUPS_GROUP, SP_GROUPS_MATERIAL };

/* Parses a model that is in memory. Invalid input gives SP_INPUT with the line (text) or byte (binary) and the reason:
 * truncated files, indices out of range, non-finite coordinates, counts that exceed the file, polygons with fewer than
 * three corners, content after the last element of PLY and OFF. Relative (negative) OBJ indices are allowed. A model
 * without triangles is SP_INPUT. After an error the surface is empty; else the caller frees it. */
int sp_surface_parse(sp_context *context, const char *name, const void *bytes, int64_t count,
                     enum sp_surface_groups groups, sp_surface *surface) SP_MUST_USE;

#endif
