/* What the options of simrender say, and the camera that follows from them. */
#ifndef TOOLS_RENDER_OPTIONS_H
#define TOOLS_RENDER_OPTIONS_H

#include "render/render.h"
#include "tools/common/trajectory.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct render_options {
    int color, normalize, contacts, shadows, background;
    const char *frames, *columns, *size, *sheet, *slice;
    const char *loads, *spheres;
    tool_ride ride;
    int64_t every, samples, fps, fibres;
    double view[3], up[3], angle, range[2], box[6], scale, speed, contours, opacity, loads_at;
    bool lines, elements, rest, fixed, dynamic, partial, no_bar;
    bool range_given, box_given, view_given, up_given, opacity_given;
} render_options;

#define RENDER_CONTACTS "points|forces|none"
enum render_contacts { RENDER_POINTS, RENDER_FORCES, RENDER_NO_CONTACTS };
#define RENDER_SHADOWS "auto|fine|draft|none"
enum render_shadows { RENDER_AUTO, RENDER_FINE, RENDER_DRAFT, RENDER_NO_SHADOWS };
#define RENDER_BACKGROUNDS "pale|dark"
enum render_background { RENDER_PALE, RENDER_DARK };

/* Samples, rays and background as chosen. By themselves pictures get fine shadows and films drafts, and in a build
 * without Embree none, where it is a usage error to ask for them. */
sp_look render_look(const render_options *chosen, bool film);

/* The opacity of the surfaces of bodies. It is the chosen one, or by default one that shows what is drawn inside. */
double render_opacity(const render_options *chosen);

/* Refuses a box, a view or an upward direction that is none. Ends the process then. */
void render_check_camera(const render_options *chosen);

/* The direction to the eye and what is up in the picture, as chosen. By default up is the axis `up` of what is drawn:
 * 'x', 'y', 'z', with a minus sign what is opposite to it, or 0 for z. The default view is turned with what is up. */
void render_aim(const render_options *chosen, int up, double view[3], double upward[3]);

#endif
