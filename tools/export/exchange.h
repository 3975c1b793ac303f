/* Motions as animations for programs that draw: binary glTF and USD. */
#ifndef TOOLS_EXPORT_EXCHANGE_H
#define TOOLS_EXPORT_EXCHANGE_H

#include "tools/export/animation.h"

typedef struct tool_exchange_choice {
    const char *target;
    bool usd; /* false: glTF */
    bool quantize, partial;
    tool_ride ride; /* a skeleton, not a frame */
    tool_animation_choice animation;
} tool_exchange_choice;

/* paths [count]: a scene with its trajectory or without it, or a mesh with its trajectory, its columns or alone. */
void tool_export_exchange(sp_context *context, int64_t count, const char *const *paths, bool scene,
                          const tool_exchange_choice *choice);

#endif
