/* The font of the texts in pictures. */
#ifndef TOOLS_RENDER_FONT_H
#define TOOLS_RENDER_FONT_H

#include "render/render.h"

/* The font that fontconfig names for plain text without serifs. NULL, for the letters of dots that sp_image_text has,
 * in a build without FreeType, and with a remark where there is no font. `pool` holds its file; sp_font_free. */
sp_font *tool_font_open(sp_context *context, sp_pool *pool);

#endif
