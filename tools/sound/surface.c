#include "geometry/orient.h"
#include "geometry/winding.h"
#include "tools/common/anchors.h"
#include "tools/common/model.h"
#include "tools/sound/sound.h"

#include <math.h>

/* From the world to the frame of a body. */
static void to_body(const sp_pose *pose, double x[3])
{
    double R[9], from[3];
    sp_quaternion_matrix(pose->q, R);
    sp_subtract3(x, pose->x, from);
    for (int i = 0; i < 3; i++)
        x[i] = R[i] * from[0] + R[3 + i] * from[1] + R[6 + i] * from[2];
}

static void parse_listeners(const sound_choice *choice, const sp_pose *pose, sound_surface *s)
{
    if (choice->listeners.count == 0)
        tool_fail(SP_USAGE, NULL, "name the place of the listener with --listener X,Y,Z");
    if (choice->listeners.count > SOUND_LISTENERS)
        tool_fail(SP_USAGE, NULL, "--listener: at most %d of them, each a channel of the file", SOUND_LISTENERS);
    for (; s->listeners < choice->listeners.count; s->listeners++) {
        const char *text = choice->listeners.value[s->listeners], *at = text;
        double *x = s->listener[s->listeners];
        if (!tool_parse_numbers(&at, 3, x) || *at || at[-1] == ',' || !isfinite(x[0] + x[1] + x[2]))
            tool_fail(SP_USAGE, NULL, "--listener: \"%s\" is not a place X,Y,Z", text);
        to_body(pose, x);
    }
}

/* A surface that is not closed has no side that faces the listener. One that faces inward throughout is turned. */
static void turn_outward(sp_context *context, sound_surface *s, sp_surface *surface, const char *path)
{
    sp_surface repaired;
    sp_orient_report report;
    tool_check(sp_surface_orient(context, surface, &repaired, &report), path);
    sp_surface_free(&repaired);
    const bool inward = report.turned > 0 && report.turned == surface->triangle_count;
    for (int64_t t = 0; inward && t < surface->triangle_count; t++) {
        const int64_t kept = surface->triangles[3 * t];
        surface->triangles[3 * t] = surface->triangles[3 * t + 1];
        surface->triangles[3 * t + 1] = kept;
    }
    s->triangles = tool_allocate_copy(&s->pool, surface->triangles, 3 * surface->triangle_count, sizeof(int64_t));
    if (report.open_edges == 0 && (inward || report.turned == 0))
        return;
    if (s->skin.embedded)
        tool_hint("use --surface boundary for the boundary of the elements");
    tool_fail(SP_INPUT, path, "its %s does not enclose a volume: %lld open edges, %lld of %lld triangles face inward",
              s->skin.embedded ? "embedded surface" : "boundary", (long long)report.open_edges,
              (long long)report.turned, (long long)surface->triangle_count);
}

static void check_outside(sp_context *context, const sound_choice *choice, const sound_surface *s,
                          const sp_surface *surface, const char *path)
{
    sp_winding *winding;
    tool_check(sp_winding_new(context, surface, &winding), path);
    for (int i = 0; i < s->listeners; i++) {
        if (sp_winding_inside(winding, s->listener[i]))
            tool_fail(SP_USAGE, path, "--listener: %s is inside the body", choice->listeners.value[i]);
    }
    sp_winding_free(winding);
}

void sound_surface_open(sp_context *context, const sound_choice *choice, const tool_mesh *mesh, const sp_pose *pose,
                        sound_surface *s)
{
    sp_surface surface;
    *s = (sound_surface){0};
    parse_listeners(choice, pose, s);
    tool_skin_open(context, &mesh->mesh, choice->surface == 1, &s->skin);
    tool_mesh_surface(context, &mesh->mesh, choice->surface == 1, &surface);
    turn_outward(context, s, &surface, mesh->path);
    check_outside(context, choice, s, &surface, mesh->path);
    sp_surface_free(&surface);
}

void sound_surface_close(sound_surface *surface)
{
    tool_skin_close(&surface->skin);
    sp_pool_free(&surface->pool);
}
