#include "tools/render/options.h"

#include "base/vec3.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sp_look render_look(const render_options *chosen, bool film)
{
    static const int shadow_rays[] = {[RENDER_FINE] = 8, [RENDER_DRAFT] = 2, [RENDER_NO_SHADOWS] = 0},
                     occlusion_rays[] = {[RENDER_FINE] = 16, [RENDER_DRAFT] = 4, [RENDER_NO_SHADOWS] = 0};
    int shadows = chosen->shadows;

    if (shadows == RENDER_AUTO)
        shadows = !sp_render_has_shadows() ? RENDER_NO_SHADOWS : film ? RENDER_DRAFT : RENDER_FINE;
    else if (shadows != RENDER_NO_SHADOWS && !sp_render_has_shadows())
        tool_fail(SP_USAGE, NULL, "--shadows: this build has none, they need Embree (meson setup -Dembree=enabled)");

    return (sp_look){.samples = (int)chosen->samples,
                     .shadow_rays = shadow_rays[shadows],
                     .occlusion_rays = occlusion_rays[shadows],
                     .dark = chosen->background == RENDER_DARK};
}

double render_opacity(const render_options *chosen)
{
    if (chosen->opacity_given)
        return chosen->opacity;
    if (chosen->fibres || chosen->dynamic)
        return 0.35;
    return chosen->contacts == RENDER_FORCES ? 0.5 : 1;
}

void render_check_camera(const render_options *chosen)
{
    if (chosen->box_given)
        for (int i = 0; i < 3; i++)
            if (!(chosen->box[i] <= chosen->box[i + 3]))
                tool_fail(SP_USAGE, NULL, "--box: %g is not below %g", chosen->box[i], chosen->box[i + 3]);

    if (chosen->view_given && chosen->view[0] == 0 && chosen->view[1] == 0 && chosen->view[2] == 0)
        tool_fail(SP_USAGE, NULL, "--view: 0,0,0 is no direction");
    if (chosen->up_given && chosen->up[0] == 0 && chosen->up[1] == 0 && chosen->up[2] == 0)
        tool_fail(SP_USAGE, NULL, "--up: 0,0,0 is no direction");
}

void render_aim(const render_options *chosen, int up, double view[3], double upward[3])
{
    double u[3] = {0, 0, 0}, right[3], away[3];
    u[up ? abs(up) - 'x' : 2] = up < 0 ? -1 : 1;
    if (chosen->up_given)
        memcpy(u, chosen->up, sizeof u);
    sp_normalize3_scaled(u);

    /* x is to the right, or y where x is the most vertical axis; made perpendicular to what is up. */
    const int axis = fabs(u[0]) > fabs(u[1]) && fabs(u[0]) > fabs(u[2]) ? 1 : 0;
    for (int k = 0; k < 3; k++)
        right[k] = (k == axis) - u[axis] * u[k];
    sp_normalize3(right);
    sp_cross3(u, right, away);

    for (int k = 0; k < 3; k++) {
        view[k] = chosen->view_given ? chosen->view[k] : right[k] - 1.8 * away[k] + 0.9 * u[k];
        upward[k] = u[k];
    }
}
