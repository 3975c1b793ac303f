#include "tools/render/font.h"

sp_font *tool_font_open(sp_context *context, sp_pool *pool)
{
    (void)context;
    (void)pool;
    return NULL;
}
