#include "tools/render/options.h"

#include "tools/common/tool.h"

#include <string.h>

sp_look render_look(const render_options *chosen, bool film)
{
    enum { AUTO, FINE, DRAFT, NONE };
    int shadows = chosen->shadows;
    if (shadows == AUTO)
        shadows = !sp_render_has_shadows() ? NONE : film ? DRAFT : FINE;
    else if (shadows != NONE && !sp_render_has_shadows())
        tool_fail(SP_USAGE, NULL, "--shadows: this build has none, they need Embree (meson setup -Dembree=enabled)");
    return (sp_look){.samples = (int)chosen->samples,
                     .shadow_rays = shadows == FINE    ? 8
                                    : shadows == DRAFT ? 2
                                                       : 0,
                     .occlusion_rays = shadows == FINE    ? 16
                                       : shadows == DRAFT ? 4
                                                          : 0,
                     .dark = chosen->background != 0};
}

double render_opacity(const render_options *chosen)
{
    const bool within = chosen->fibres || chosen->dynamic, contacts = chosen->contacts == RENDER_FORCES;
    return chosen->opacity_given ? chosen->opacity : within ? 0.35 : contacts ? 0.5 : 1;
}

void render_check_camera(const render_options *chosen)
{
    for (int i = 0; chosen->box_given && i < 3; i++)
        if (!(chosen->box[i] <= chosen->box[i + 3]))
            tool_fail(SP_USAGE, NULL, "--box: %g is not below %g", chosen->box[i], chosen->box[i + 3]);
    if (chosen->view_given && chosen->view[0] == 0 && chosen->view[1] == 0 && chosen->view[2] == 0)
        tool_fail(SP_USAGE, NULL, "--view: 0,0,0 is no direction");
    if (chosen->up_given && chosen->up[0] == 0 && chosen->up[1] == 0 && chosen->up[2] == 0)
        tool_fail(SP_USAGE, NULL, "--up: 0,0,0 is no direction");
}

void render_aim(const render_options *chosen, int up, double view[3], double upward[3])
{
    static const double VIEW[3] = {1, -1.8, 0.9}, UP[3] = {0, 0, 1};
    const double *from[2] = {VIEW, UP};
    double turned[2][3];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            turned[k][i] = up == 'x'   ? from[k][(i + 2) % 3]
                           : up == 'y' ? (i == 0   ? from[k][0]
                                          : i == 1 ? from[k][2]
                                                   : -from[k][1])
                                       : from[k][i];
    memcpy(view, chosen->view_given ? chosen->view : turned[0], 3 * sizeof *view);
    memcpy(upward, chosen->up_given ? chosen->up : turned[1], 3 * sizeof *upward);
}
