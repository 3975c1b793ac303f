/* Functions shared by the writers of volume_write.h. */
#ifndef SP_FORMATS_EXPORT_VOLUME_INTERNAL_H
#define SP_FORMATS_EXPORT_VOLUME_INTERNAL_H

#include "formats/export/stream.h"
#include "formats/export/volume_write.h"

/* Write "a<between>b…" without an end of line; corners are numbered from `base`. */
void sp_volume_write_point(sp_stream *stream, const double x[3], const char *between);
void sp_volume_write_corners(sp_stream *stream, const sp_mesh *mesh, int64_t element, int64_t base,
                             const char *between);

/* The end of the run of consecutive elements from `element` on that have its type and region. */
int64_t sp_volume_run_end(const sp_mesh *mesh, int64_t element);

/* Sets used [material_count], from `pool`, to whether each region has elements. */
int sp_volume_used_regions(sp_context *context, const sp_mesh *mesh, sp_pool *pool, bool **used) SP_MUST_USE;

#endif
