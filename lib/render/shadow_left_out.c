#include "render/shadow.h"

bool sp_render_has_shadows(void)
{
    return false;
}

int sp_shadow_new(sp_context *context, const sp_drawing *drawings, const double *const *vertices, int64_t count,
                  bool transparent, sp_shadow **shadow)
{
    (void)drawings;
    (void)vertices;
    (void)count;
    (void)transparent;
    *shadow = NULL;
    return sp_fail(context, SP_USAGE, "this build has no shadows (meson setup -Dembree=enabled)");
}

void sp_shadow_free(sp_shadow *shadow)
{
    (void)shadow;
}

bool sp_shadow_blocked(const sp_shadow *shadow, const float origin[3], const float direction[3])
{
    (void)shadow;
    (void)origin;
    (void)direction;
    return false;
}
