/* simrender: pictures of meshes, motions, modes, distance fields and scenes. */
#include "tools/render/body.h"
#include "tools/render/figure.h"
#include "tools/render/film.h"
#include "tools/render/scene.h"
#include "tools/render/shell.h"
#include "tools/render/slice.h"

#include <string.h>

static render_options chosen;

static const tool_option options[] = {
    {"color", 0, TOOL_CHOICE, &chosen.color, NULL, "none", TOOL_COLORS, .only = "@trajectory,columns",
     .help = "colour by length of the displacement, strain energy density, von Mises or largest principal stress, or "
             "largest "
             "principal strain"},
    {"range", 0, TOOL_VECTOR, chosen.range, "LOW,HIGH", .count = 2, .only = "color!=none",
     .help = "range of the colours (default: over all frames drawn)", .given = &chosen.range_given},
    {"no-bar", 0, TOOL_FLAG, &chosen.no_bar, .only = "color!=none",
     .help = "no colour bar, for a picture beside another one with the same range and the bar"},
    TOOL_FRAMES_OPTIONS(&chosen.frames, &chosen.every, "@trajectory,scene"),
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST", .only = "@columns",
     .help = "only these columns, of modes or others, counted from 1: 1-6,9"},
    {"size", 0, TOOL_TEXT, &chosen.size, "WxH",
     .help = "size of the picture in pixels (default 960x720; sheets 480x360 a cell)"},
    {"sheet", 0, TOOL_TEXT, &chosen.sheet, "CxR", .only = "@trajectory,columns,mesh,scene,point-shell",
     .help =
         "one picture of C columns and R rows: the first modes or levels, or frames spread evenly over time; auto: a "
         "cell for "
         "each, with about as many columns as rows"},
    {"slice", 0, TOOL_TEXT, &chosen.slice, "AXIS=FRACTION",
     .help = "of a distance field: the plane x, y or z = this fraction of its box, 0 to 1"},
    {"contours", 0, TOOL_REAL, &chosen.contours, "METRES", .low = 1e-12, .high = 1e12, .only = "slice",
     .help = "between the contour lines of a slice, whose colours then depend on it alone (default: by the field)"},
    {"view", 0, TOOL_VECTOR, chosen.view, "X,Y,Z", .count = 3, .only = "!slice", .given = &chosen.view_given,
     .help = "direction from the body to the eye (default: 1,-1.8,0.9 where z is up, turned with what is up)"},
    {"up", 0, TOOL_VECTOR, chosen.up, "X,Y,Z", .count = 3, .only = "!slice", .given = &chosen.up_given,
     .help = "what is up in the picture (default: the axis that the mesh names; of a scene against gravity, or without "
             "gravity the axis of its meshes; else 0,0,1)"},
    {"angle", 0, TOOL_REAL, &chosen.angle, "DEG", "25", .low = 0, .high = 150, .only = "!slice",
     .help = "opening of the camera from bottom to top, degrees; 0: parallel"},
    {"box", 0, TOOL_VECTOR, chosen.box, "X0,Y0,Z0,X1,Y1,Z1", .count = 6, .only = "!slice",
     .help = "what the camera frames, m (default: all that is drawn)", .given = &chosen.box_given},
    {"samples", 0, TOOL_INTEGER, &chosen.samples, "N", "3", .low = 1, .high = 4, .only = "!slice",
     .help = "samples per pixel and direction"},
    {"shadows", 0, TOOL_CHOICE, &chosen.shadows, NULL, "auto", RENDER_SHADOWS, .only = "!slice",
     .help = "shadows and ambient occlusion; auto: fine for pictures, draft for films, none in a build without Embree"},
    {"background", 0, TOOL_CHOICE, &chosen.background, NULL, "pale", RENDER_BACKGROUNDS, .only = "!slice",
     .help = "background of the picture"},
    {"lines", 0, TOOL_FLAG, &chosen.lines, .only = "@trajectory,columns,mesh",
     .help = "draw the edges of the elements on the boundary"},
    {"elements", 0, TOOL_FLAG, &chosen.elements, .only = "@trajectory,columns,mesh",
     .help = "draw the boundary of the elements instead of the embedded surface"},
    {"rest", 0, TOOL_FLAG, &chosen.rest, .only = "@trajectory,columns",
     .help = "also draw the state at rest, pale and behind"},
    {"fixed", 0, TOOL_FLAG, &chosen.fixed, .only = "@trajectory,columns,mesh",
     .help = "red marks at the fixed vertices"},
    {"dynamic", 0, TOOL_FLAG, &chosen.dynamic, .only = "@trajectory",
     .help = "yellow cubes at the dynamic vertices of a ConJac model"},
    {"fibres", 0, TOOL_INTEGER, &chosen.fibres, "N", .low = 1, .high = 100000, .only = "@trajectory,columns,mesh",
     .help = "fibre directions as N short segments, evenly spread over the elements that have fibres"},
    {"loads", 0, TOOL_INPUT, &chosen.loads, "FILE", .files = "csv", .only = "@trajectory,columns,mesh",
     .help = "the external loads of a CSV file that act at the time of the frame, as arrows"},
    {"loads-at", 0, TOOL_REAL, &chosen.loads_at, "S", "0", .low = 0, .high = 1e12, .only = "loads @columns,mesh",
     .help = "the time of these loads, s, where there is no trajectory"},
    {"opacity", 0, TOOL_REAL, &chosen.opacity, "X", .low = 0.1, .high = 1, .only = "@trajectory,columns,mesh,scene",
     .help = "of the surfaces of bodies (default: 1; 0.35 with --fibres or --dynamic, 0.5 with --contacts forces)",
     .given = &chosen.opacity_given},
    {"scale", 0, TOOL_REAL, &chosen.scale, "X", "1", .low = -1e9, .high = 1e9, .only = "@trajectory,columns",
     .help = "factor of the displacement (modes: of 12 % of the body's diagonal)"},
    {"normalize", 0, TOOL_CHOICE, &chosen.normalize, NULL, "auto", TOOL_NORMALIZATIONS, .only = "@columns",
     .help = "size of columns: by each one's largest displacement, unit mass norm and one factor for all, as in the "
             "file; auto: none for "
             "snapshots, "
             "else largest"},
    {"frame", 0, TOOL_INPUT, &chosen.ride.frame, "CSV", .only = "color=none !loads !skin @trajectory",
     .help = "the motion in world coordinates, of a body that moved with a frame along this path (simulate --frame)"},
    {"world", 0, TOOL_FLAG, &chosen.ride.world, .only = "color=none !frame !skin !loads @trajectory",
     .help = "the same along the frame that the trajectory records"},
    {"skin", 0, TOOL_INPUT, &chosen.ride.skin, "FILE", .only = "color=none !loads @trajectory",
     .help = "the motion in world coordinates, of a body that followed bones with these weights (simulate --skin)"},
    {"skeleton", 0, TOOL_INPUT, &chosen.ride.skeleton, "JSON", .files = "json", .only = "skin",
     .help = "the skeleton with these bones"},
    {"contacts", 0, TOOL_CHOICE, &chosen.contacts, NULL, "points", RENDER_CONTACTS, .only = "@scene",
     .help =
         "of a scene's motion that records them: marks, arrows along the force on the body of the point, or nothing"},
    {"spheres", 0, TOOL_TEXT, &chosen.spheres, "LEVEL", .only = "@point-shell",
     .help =
         "the bounding spheres of this level of a point shell's tree, translucent; each: on a sheet, of each level"},
    TOOL_FILM_OPTIONS(&chosen.fps, &chosen.speed),
    {"partial", 0, TOOL_FLAG, &chosen.partial, .only = "@trajectory,scene",
     .help = "read a trajectory or motion that was cut up to its last whole block"},
};

static render_scene_choice scene_choice(void)
{
    return (render_scene_choice){.target = tool_output_path(),
                                 .frames = chosen.frames,
                                 .size = chosen.size,
                                 .sheet = chosen.sheet,
                                 .every = chosen.every,
                                 .look = render_look(&chosen, tool_film_named(tool_output_path())),
                                 .camera = &chosen,
                                 .angle = chosen.angle,
                                 .box = chosen.box_given ? chosen.box : NULL,
                                 .contacts = (enum render_contacts)chosen.contacts,
                                 .opacity = render_opacity(&chosen),
                                 .partial = chosen.partial,
                                 .fps = chosen.fps,
                                 .speed = chosen.speed};
}

static bool is_shell(sp_context *context, const char *path)
{
    char kind[SP_KIND_LENGTH];
    tool_peek_any_kind(context, path, kind);
    return !strcmp(kind, "pointshell");
}

static const tool_spec spec = {
    .name = "simrender",
    .arguments = "FILE...",
    .files = "npz json",
    .least = 1,
    .most = 16,
    .summary = "Pictures of meshes, motions, modes, distance fields and scenes as PNG, films of motions.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT | TOOL_THREADS,
    .examples = "  simrender spoon.npz -o spoon.png\n"
                "  simrender spoon.npz basis.npz traj.npz --color energy --every 4 \\\n"
                "    -o frame_%04d.png\n"
                "  simrender spoon.npz modes.npz --sheet 4x3 --color displacement -o modes.png\n"
                "  simrender spoon.npz deriv.npz --sheet 5x4 --normalize mass --rest \\\n"
                "    -o derivatives.png\n"
                "  simrender spoon.npz modes.npz deriv.npz --sheet auto -o both.png\n"
                "  simrender field.npz --slice z=0.5 -o slice.png\n"
                "  simrender spoon.npz basis.npz traj.npz --speed 0.5 -o slow.mp4\n"
                "  simrender scene.json motion.npz --every 4 --contacts forces -o frame_%04d.png\n"
                "  simrender scene.json motion.npz --sheet 4x2 -o fall.png\n"
                "  simulate ... -o - | simrender spoon.npz basis.npz - --box -1,-1,-1,1,1,1 \\\n"
                "    -o frame_%04d.png\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    static const char *const of_films[] = {"fps", "speed"};
    const char *paths[16];
    bool scene = false, shell = false;

    for (int i = 0; i < tool_argument_count(); i++) {
        paths[i] = tool_argument(i);
        if (tool_is_scene(paths[i]))
            scene = true;
        else
            shell |= is_shell(context, paths[i]);
    }

    render_check_camera(&chosen);
    if (chosen.sheet && tool_pattern(tool_output_path()))
        tool_fail(SP_USAGE, NULL, "--sheet makes one picture: -o takes no pattern");

    const bool film = tool_film_named(tool_output_path());
    if (film && (chosen.slice || chosen.sheet))
        tool_fail(SP_USAGE, NULL, "--%s makes one picture: -o NAME.png", chosen.slice ? "slice" : "sheet");
    if (!film)
        for (int i = 0; i < TOOL_COUNT(of_films); i++)
            tool_option_idle(of_films[i], "without a film: -o NAME.mp4, .webm or .gif");

    if (chosen.slice) {
        tool_inputs_are("distance-field");
        if (tool_argument_count() > 1)
            tool_fail(SP_USAGE, NULL, "--slice is of one file, a distance field");
        tool_render_slice(context, paths[0], chosen.slice, chosen.contours, chosen.size);
    } else if (scene) {
        const render_scene_choice choice = scene_choice();
        tool_inputs_are("scene");
        tool_render_scene(context, tool_argument_count(), paths, &choice);
    } else if (shell) {
        tool_inputs_are("point-shell");
        if (film || tool_pattern(tool_output_path()))
            tool_fail(SP_USAGE, NULL, "a point shell makes one picture: -o NAME.png");
        tool_render_shell(context, tool_argument_count(), paths, &chosen);
    } else
        tool_render_body(context, tool_argument_count(), paths, &chosen);
    return tool_end();
}
