/* simsound: the sound that a vibrating body radiates, as a sound file; linear modes as a program in Faust. */
#include "formats/export/wav.h"
#include "tools/sound/scene.h"
#include "tools/sound/sound.h"

#include <math.h>
#include <string.h>

static sound_choice chosen;

static const tool_option listening_options[] = {
    {"listener", 0, TOOL_TEXTS, &chosen.listeners, "PLACE", .required = true,
     .help = "where the sound is heard, X,Y,Z in m; each one is a channel of the file"},
    {"radiation", 0, TOOL_CHOICE, &chosen.radiation, NULL, "plane-wave", "plane-wave|baffle|monopole",
     .help = "factor of a triangle at the angle THETA between its normal and the listener. plane-wave: 1 + cos THETA; "
             "baffle: 2 in front, 0 behind (Rayleigh integral); monopole: 1"},
    {"surface", 0, TOOL_CHOICE, &chosen.surface, NULL, "embedded", "embedded|boundary",
     .help = "the triangles that radiate: the embedded surface, if the mesh has one, or the boundary of its elements"},
    {"air-density", 0, TOOL_REAL, &chosen.density, "RHO", "1.204", .low = 1e-6, .high = 1e6,
     .help = "density of the air, kg/m3"},
    {"sound-speed", 0, TOOL_REAL, &chosen.speed, "C", "343.2", .low = 1e-3, .high = 1e6,
     .help = "speed of sound in it, m/s"},
};

static const tool_option scene_options[] = {
    {"body", 0, TOOL_TEXT, &chosen.body, "NAME", .only = "@scene",
     .help = "the body whose sound is computed (default: the only one that is not rigid)"},
};

static const tool_option file_options[] = {
    {"rate", 0, TOOL_INTEGER, &chosen.rate, "HZ", "44100", .low = 1000, .high = 768000, .help = "samples per second"},
    {"band", 0, TOOL_VECTOR, chosen.band, "LOW,HIGH", "20,20000", .count = 2, .help = "band limits, Hz"},
    {"full-scale", 0, TOOL_REAL, &chosen.full_scale, "PA", .low = 1e-300, .high = 1e300,
     .given = &chosen.full_scale_given, .help = "sound pressure of full scale (default: 1 dB above the peak)"},
    {"fade", 0, TOOL_REAL, &chosen.fade, "S", "0", .low = 0, .high = 1e6, .only = "@trajectory,scene",
     .help = "lower the level to silence over the last S seconds"},
    {"samples", 0, TOOL_CHOICE, &chosen.samples, NULL, "24", "16|24|float", .only = "@trajectory,scene",
     .help = "integers of 16 or 24 bits, or floating point"},
    {"spectrogram", 0, TOOL_WRITTEN, &chosen.spectrogram, "FILE", .files = "png", .only = "@trajectory,scene",
     .help = "also draw the spectra of the first channel over time, as PNG"},
    {"range", 0, TOOL_REAL, &chosen.range, "DB", "72", .low = 6, .high = 300, .only = "spectrogram",
     .help = "range of the colours of the spectrogram, dB below the loudest level"},
};

static const tool_option faust_options[] = {
    {"strike", 0, TOOL_TEXT, &chosen.strike, "VERTEX:JX,JY,JZ", .only = "@modes",
     .help = "an impulse at a vertex, N s: 12:0,0,-0.01, surface:5:0,0,-0.01 or near:0.1,0,0:0,0,-0.01"},
    {"damping-mass", 0, TOOL_REAL, &chosen.damping_mass, "A", .low = 0, .high = 1e300, .only = "@modes",
     .given = &chosen.damping_mass_given, .help = "Rayleigh damping alpha, 1/s (default: that of the mesh)"},
    {"damping-stiffness", 0, TOOL_REAL, &chosen.damping_stiffness, "B", .low = 0, .high = 1e300, .only = "@modes",
     .given = &chosen.damping_stiffness_given, .help = "its beta, s (default: that of the mesh)"},
    {"damping-times", 0, TOOL_INPUT, &chosen.damping_times, "CSV", .only = "@modes",
     .help = "time constants of the decay over frequency: frequency,time"},
};

static const tool_table tables[] = {
    {.title = "Listening", .options = listening_options, .count = TOOL_COUNT(listening_options)},
    {.title = "Listening", .options = scene_options, .count = TOOL_COUNT(scene_options)},
    {.title = "Recording", .options = file_options, .count = TOOL_COUNT(file_options)},
    {.title = "Programs in Faust", .options = faust_options, .count = TOOL_COUNT(faust_options)},
    {0},
};

static const tool_spec spec = {
    .name = "simsound",
    .arguments = "MESH FILE...",
    .files = "npz",
    .least = 2,
    .most = 4,
    .summary = "Sound of a vibrating body: a trajectory as WAV, linear modes as a program in Faust.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT | TOOL_THREADS,
    .examples = "  simulate bowl.npz --basis basis.npz --poly poly.npz --loads strike.csv \\\n"
                "    --dt 2.2675736961451247e-05 --steps 44100 -o motion.npz\n"
                "  simsound bowl.npz basis.npz motion.npz --listener 0,-1,0.5 \\\n"
                "    --spectrogram bowl.png -o bowl.wav\n"
                "  simsound bowl.npz modes.npz --listener 0,-1,0.5 \\\n"
                "    --strike near:0.1,0,0:0,0,-0.01 -o bowl.dsp\n",
};

/* True also for a name without an ending. */
static bool can_end_in(const char *path, const char *ending)
{
    const char *dot = strrchr(tool_base_name(path), '.');
    return !dot || !strcmp(dot, ending);
}

static void check_band(void)
{
    if (!(chosen.band[0] >= 0 && chosen.band[0] < chosen.band[1]))
        tool_fail(SP_USAGE, NULL, "--band: %g,%g is not a range of frequencies", chosen.band[0], chosen.band[1]);
    const double most = 0.95 * (double)chosen.rate / 2;
    if (!(chosen.band[1] <= most))
        tool_fail(SP_USAGE, NULL, "--band: %lld samples per second allow for %.5g Hz, not %g", (long long)chosen.rate,
                  floor(most), chosen.band[1]);
    if (chosen.spectrogram && !can_end_in(chosen.spectrogram, ".png"))
        tool_fail(SP_USAGE, NULL, "--spectrogram %s: the picture is a .png file", chosen.spectrogram);
}

static void need_sound_files(void)
{
    if (sp_wav_supported())
        return;
    tool_hint("scripts/prepare sound installs libsndfile; then configure the build again");
    tool_fail(SP_USAGE, NULL, "this build writes no sound files (meson setup -Dsndfile=enabled)");
}

static void check_inputs(const tool_trajectory *motion, bool scene)
{
    const char *path = tool_output_path();
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "name the mesh too");
    if (motion->path) {
        tool_inputs_are(scene ? "scene" : "trajectory");
        if (!can_end_in(path, ".wav"))
            tool_fail(SP_USAGE, NULL, "-o %s: the sound of a trajectory is a .wav file", path);
        return;
    }
    if (!motion->columns.path || !motion->columns.columns.eigenvalue)
        tool_fail(SP_USAGE, NULL, "name a trajectory, or for a program in Faust the modes");
    tool_inputs_are("modes");
    if (!can_end_in(path, ".dsp"))
        tool_fail(SP_USAGE, NULL, "-o %s: modes without a trajectory make a program in Faust, a .dsp file", path);
    if (chosen.listeners.count > 1)
        tool_fail(SP_USAGE, NULL, "--listener: a program in Faust has one");
}

static void record(sp_context *context, const sound_surface *surface, tool_trajectory *motion)
{
    sound_recording recording;
    sp_pool pool = {0};
    uint8_t *bytes;
    int64_t count;
    need_sound_files();
    tool_output *output = tool_output_open(tool_output_path()),
                *picture = chosen.spectrogram ? tool_output_open(chosen.spectrogram) : NULL;
    sound_record(context, &chosen, surface, motion, &recording);
    sound_encode(context, &chosen, &recording, &pool, &bytes, &count);
    sound_judge(&chosen, motion, &recording);
    if (picture)
        sound_draw(context, &chosen, &recording, picture);
    tool_output_bytes(output, bytes, count);
    sound_recording_free(&recording);
    sp_pool_free(&pool);
}

static void write_program(sp_context *context, const sound_surface *surface, const tool_trajectory *motion)
{
    tool_output *output = tool_output_open(tool_output_path());
    sound_write_faust(context, &chosen, surface, motion, output);
    tool_output_finish(output, NULL);
}

/* Opens the files; one of them is a trajectory or the motion of a scene. Returns the pose of the body. */
static sp_pose open_files(sp_context *context, tool_trajectory *motion)
{
    const char *paths[4], *scene = NULL;
    int count = 0;
    sp_pose pose = sp_pose_identity();
    for (int i = 0; i < tool_argument_count(); i++)
        if (!scene && sound_is_scene(context, tool_argument(i)))
            scene = tool_argument(i);
        else
            paths[count++] = tool_argument(i);
    tool_trajectory_open(context, count, paths, TOOL_MOTION_STREAM, motion);
    if (scene && motion->path)
        tool_fail(SP_USAGE, NULL, "%s and %s: one motion can be read at a time", motion->path, scene);
    if (scene)
        pose = sound_read_scene(context, scene, chosen.body, motion);
    check_inputs(motion, scene != NULL);
    return pose;
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    tool_trajectory motion;
    sound_surface surface;
    check_band();
    const char *dot = strrchr(tool_base_name(tool_output_path()), '.');
    if (dot && !strcmp(dot, ".wav")) /* before anything is read */
        need_sound_files();
    const sp_pose pose = open_files(context, &motion);
    sound_surface_open(context, &chosen, &motion.mesh, &pose, &surface);
    if (motion.path)
        record(context, &surface, &motion);
    else
        write_program(context, &surface, &motion);
    sound_surface_close(&surface);
    tool_trajectory_close(&motion);
    return tool_end();
}
