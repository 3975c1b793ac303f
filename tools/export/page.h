/* Bodies on a web page (simexport -o NAME.html). Ends the process on failure. */
#ifndef TOOLS_EXPORT_PAGE_H
#define TOOLS_EXPORT_PAGE_H

#include "tools/export/animation.h"

typedef struct tool_page_choice {
    const char *target, *probes;
    tool_animation_choice animation;
    bool partial;
} tool_page_choice;

/* Refuses to write a page, before anything is read, in a build without it. */
void tool_export_need_page(const char *target);

/* A body that one pulls, from a mesh, its basis, and its polynomials or its cubature. `probes` are points that the page
 * offers. */
void tool_export_page_model(sp_context *context, int count, const char *const *paths, const tool_page_choice *choice);

/* What moves: trajectories of a mesh or of scenes, at most two, or columns of a mesh, or a scene at its start. `probes`
 * are points whose displacements are drawn as curves. */
void tool_export_page_motion(sp_context *context, int count, const char *const *paths, const tool_page_choice *choice);

#endif
