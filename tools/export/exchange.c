#include "tools/export/exchange.h"

#include "formats/export/gltf_write.h"
#include "formats/export/usd_write.h"

enum { TARGETS_OLD = 8, TARGETS_MOST = 256 };

/* For a printed bound. */
static double above(double x)
{
    return x > 0 ? sp_round_up(x) : 0;
}

/* What the targets leave out of the motion. */
static void say_errors(const tool_animation *made, enum tool_vertex_color color, int64_t targets)
{
    const bool moves = made->animation.frame_count > 1;
    if (made->compressed)
        tool_say("the %lld principal directions leave an error of at most %.4g m", (long long)targets,
                 above(made->error));
    if (targets && moves)
        tool_say("normals differ from those of the deformed triangles by %.2g degrees on average, %.2g at most",
                 made->normals.mean, made->normals.largest);
    if (made->embedding > 0)
        tool_say("with bones of its own the embedded surface differs by at most %.4g m from that of the elements",
                 above(made->embedding));
    if (made->color_end > 0)
        tool_say("colours range from 0 to %.3g %s", made->color_end, color == TOOL_VERTEX_SPEED ? "m/s" : "m");
}

static void say_limits(int64_t targets)
{
    if (targets > TARGETS_MOST)
        tool_say("%lld targets: many players draw at most %d", (long long)targets, TARGETS_MOST);
    else if (targets > TARGETS_OLD)
        tool_say("%lld targets: old players draw at most %d", (long long)targets, TARGETS_OLD);
}

static void write_animation(sp_context *context, tool_output *output, const tool_animation *made,
                            const tool_exchange_choice *choice)
{
    const sp_animation *animation = &made->animation;
    sp_gltf_report report = {0};
    int64_t targets = 0, vertices = 0;

    for (int64_t m = 0; m < animation->mesh_count; m++) {
        const sp_animated_mesh *mesh = &animation->meshes[m];
        targets = mesh->target_count > targets ? mesh->target_count : targets;
        vertices += mesh->vertex_count;
    }

    if (choice->usd)
        tool_check(sp_usd_write(context, tool_output_descriptor(output), animation, &report.bytes), choice->target);
    else
        tool_check(sp_gltf_write(context, tool_output_descriptor(output), animation, choice->quantize, &report),
                   choice->target);
    tool_output_finish(output, NULL);

    tool_say("%lld vertices, %lld targets, %lld frame%s, %.3g MB", (long long)vertices, (long long)targets,
             (long long)animation->frame_count, animation->frame_count > 1 ? "s" : "", (double)report.bytes / 1e6);
    say_errors(made, choice->animation.color, targets);

    if (!choice->usd) {
        tool_say("%s moves no vertex by more than %.4g m", choice->quantize ? "quantization" : "rounding",
                 above(report.error));
        say_limits(targets);
    }
}

static void export_scene(sp_context *context, int64_t count, const char *const *paths,
                         const tool_exchange_choice *choice)
{
    tool_scene_trajectory trajectory;
    tool_animation made;
    tool_scene_trajectory_open(context, count, paths, choice->partial, &trajectory);
    tool_inputs_are("scene");
    tool_output *output = tool_output_open(choice->target);
    tool_animation_open_scene(context, &trajectory, &choice->animation, &made);
    write_animation(context, output, &made, choice);
    tool_animation_close(&made);
    tool_scene_trajectory_close(&trajectory);
}

static void export_body(sp_context *context, int64_t count, const char *const *paths,
                        const tool_exchange_choice *choice)
{
    tool_trajectory motion;
    tool_animation made;
    tool_trajectory_open(context, count, paths, choice->partial ? TOOL_MOTION_PARTIAL : 0, &motion);
    tool_inputs_are(tool_trajectory_inputs(&motion));
    tool_trajectory_ride(&motion, &choice->ride);
    tool_output *output = tool_output_open(choice->target);
    tool_animation_open(context, &motion, &choice->animation, &made);
    if (motion.path && !made.compressed)
        tool_option_idle("tolerance", "where the motion is reduced");
    write_animation(context, output, &made, choice);
    tool_animation_close(&made);
    tool_trajectory_close(&motion);
}

void tool_export_exchange(sp_context *context, int64_t count, const char *const *paths, bool scene,
                          const tool_exchange_choice *choice)
{
    (scene ? export_scene : export_body)(context, count, paths, choice);
}
