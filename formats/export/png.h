/* Pictures as PNG files in memory. */
#ifndef SP_FORMATS_EXPORT_PNG_H
#define SP_FORMATS_EXPORT_PNG_H

#include "render/render.h"

/* Encodes the picture as 8-bit sRGB without time or text, so that the same pixels give the same bytes; bytes [count]
 * belong to the pool. SP_SYSTEM if out of memory. */
int sp_png_encode(sp_context *context, const sp_image *image, sp_pool *pool, uint8_t **bytes,
                  int64_t *count) SP_MUST_USE;

#endif
