/* What the writers of volume_write.h share. */
#ifndef SP_FORMATS_EXPORT_VOLUME_INTERNAL_H
#define SP_FORMATS_EXPORT_VOLUME_INTERNAL_H

#include "formats/export/stream.h"
#include "formats/export/volume_write.h"

/* "a<between>b…" without an end of line; numbers of corners from `base`. */
void sp_volume_write_point(sp_stream *stream, const double x[3], const char *between);
void sp_volume_write_corners(sp_stream *stream, const sp_mesh *mesh, int64_t element, int64_t base,
                             const char *between);

/* The element behind the last one that has the type and the region of `element` and follows it without a gap. */
int64_t sp_volume_run_end(const sp_mesh *mesh, int64_t element);

/* Whether a region has elements: used [material_count] from pool. */
int sp_volume_used_regions(sp_context *context, const sp_mesh *mesh, sp_pool *pool, bool **used) SP_MUST_USE;

#endif
