/* simcurve: frequency responses, backbone curves and force sweeps of a reduced-order model. */
#include "tools/curve/curve.h"

static curve_choice chosen;

static const tool_option curve_options[] = {
    {"response", 0, TOOL_FLAG, &chosen.response, .only = "!of",
     .help = "steady vibration under harmonic loads over a range of frequencies"},
    {"backbone", 0, TOOL_FLAG, &chosen.backbone, .only = "!of",
     .help = "free periodic motion without damping, from a linear mode on"},
    {"force-sweep", 0, TOOL_FLAG, &chosen.sweep, .only = "!of",
     .help = "steady vibration at one frequency over a range of factors on the loads"},
    {"range", 0, TOOL_VECTOR, chosen.range, "LOW,HIGH", .count = 2, .only = "!of", .given = &chosen.range_given,
     .help = "frequencies in Hz; of a force sweep, factors on the loads (default 0,1)"},
    {"frequency", 0, TOOL_REAL, &chosen.frequency, "HZ", .low = 1e-300, .high = 1e300, .only = "force-sweep",
     .help = "the frequency of a force sweep"},
    {"mode", 0, TOOL_INTEGER, &chosen.mode, "N", "1", .low = 1, .high = 100000, .only = "backbone",
     .help = "the linear mode of the reduced-order model about its equilibrium, from 1"},
    {"amplitude", 0, TOOL_REAL, &chosen.amplitude, "M", .low = 1e-300, .high = 1e300, .given = &chosen.amplitude_given,
     .only = "backbone", .help = "end where the amplitude of the probe exceeds M"},
    {"energy", 0, TOOL_REAL, &chosen.energy, "J", .low = 1e-300, .high = 1e300, .given = &chosen.energy_given,
     .only = "backbone", .help = "end where the energy exceeds J"},
    {"harmonics", 0, TOOL_INTEGER, &chosen.harmonics, "H", "7", .low = 1, .high = 1000, .only = "!of",
     .help = "harmonics of the motion"},
    {"resolution", 0, TOOL_REAL, &chosen.resolution, "X", "0.1", .low = 1e-6, .high = 1, .only = "!of",
     .help = "largest relative change of the motion, and largest part of the range, between two points"},
    {"points", 0, TOOL_INTEGER, &chosen.points, "N", "5000", .low = 1, .high = 1e9, .only = "!of",
     .help = "largest number of points"},
};

static const tool_option motion_options[] = {
    {"of", 0, TOOL_INPUT, &chosen.of, "CURVE", .files = "npz",
     .help = "write the motion of a point of this curve, as a trajectory"},
    {"point", 0, TOOL_INTEGER, &chosen.point, "N", "0", .low = 0, .high = 1e15, .only = "of",
     .help = "the point, counted from 0"},
    {"frames", 0, TOOL_INTEGER, &chosen.frames, "N", "64", .low = 2, .high = 1e9, .only = "of",
     .help = "frames in a period"},
    {"periods", 0, TOOL_INTEGER, &chosen.periods, "N", "1", .low = 1, .high = 1e6, .only = "of",
     .help = "number of periods"},
};

static const tool_option full_options[] = {
    {"residual", 0, TOOL_FLAG, &chosen.residual,
     .help =
         "compute the residual of the motions in the full-order model's equation of motion, relative to its internal "
         "force"},
    {"check-full", 0, TOOL_FLAG, &chosen.check_full, .only = "of",
     .help = "integrate the full-order model over one period, and print the distance of its last state from the first"},
    {"steps", 0, TOOL_INTEGER, &chosen.steps, "N", "1000", .low = 8, .high = 1e9, .only = "check-full",
     .help = "time steps in this period (Newmark)"},
};

static const tool_option model_options[] = {
    {"model", 0, TOOL_CHOICE, &chosen.model.model, .standard = "reduced", .choices = "reduced|cubature|galerkin",
     .help = "reduced: the cubic polynomials of polycoef; cubature: weighted elements (hyper-reduction); galerkin: the "
             "forces of all elements, projected on the basis"},
    {"basis", 0, TOOL_INPUT, &chosen.model.basis, "FILE", .required = true, .help = "the reduced basis"},
    {"poly", 0, TOOL_INPUT, &chosen.model.polynomials, "FILE", .only = "model=reduced",
     .help = "its polynomials, which polycoef made; a reduced model needs them"},
    {"cub", 0, TOOL_INPUT, &chosen.model.cubature, "FILE", .only = "model=cubature", .chooses = "model=cubature",
     .help = "its elements and weights, which cubature made; without --model it is then cubature"},
    {"rank", 'r', TOOL_INTEGER, &chosen.model.r, "R", .low = 1, .high = 100000,
     .help = "use the first R columns of the basis (default: all)"},
};

static const tool_option load_options[] = {
    {"loads", 0, TOOL_INPUT, &chosen.model.loads, "CSV", .only = "!backbone",
     .help = "amplitudes of the harmonic loads: 0,inf,kind,id,fx,fy,fz"},
    {"base-acceleration", 0, TOOL_VECTOR, chosen.base, "X,Y,Z", "0,0,0", .count = 3, .only = "!backbone",
     .help = "amplitude of a harmonic acceleration of the fixed vertices, m/s2"},
    {"static-loads", 0, TOOL_INPUT, &chosen.static_loads, "CSV",
     .help = "constant loads, about whose equilibrium the body vibrates"},
    {"gravity", 0, TOOL_VECTOR, chosen.model.gravity, "X,Y,Z", "0,0,0", .count = 3,
     .help = "acceleration of gravity, m/s2"},
    {"damping-mass", 0, TOOL_REAL, &chosen.model.damping_mass, "A", .low = 0, .high = 1e300, .only = "!backbone",
     .help = "Rayleigh damping alpha, 1/s (default: that of the mesh)", .given = &chosen.model.damping_mass_given},
    {"damping-stiffness", 0, TOOL_REAL, &chosen.model.damping_stiffness, "B", .low = 0, .high = 1e300,
     .only = "!backbone", .help = "its beta, s (default: that of the mesh)",
     .given = &chosen.model.damping_stiffness_given},
    {"damping-ratio", 0, TOOL_REAL, &chosen.ratio, "Z", "0", .low = 0, .high = 10, .only = "!backbone",
     .help = "modal damping: ratio to critical damping, of all linear modes"},
};

static const tool_option output_options[] = {
    {"probe", 0, TOOL_TEXT, &chosen.probe, "VERTEX:AXIS", .only = "!of",
     .help = "the displacement whose amplitude is recorded: 12:y, near:X,Y,Z:y or surface:5:y (default: the largest of "
             "the mode of a backbone, else of the first mode)"},
    {"csv", 0, TOOL_WRITTEN, &chosen.table, "FILE", .only = "!of", .files = "csv",
     .help = "also write the points as CSV", .silent = true},
    {"checkpoint", 0, TOOL_WRITTEN, &chosen.model.checkpoint, "FILE", .only = "!of", .silent = true,
     .help = "keep the points in FILE and go on from there; it is removed when all is written"},
    {"partial", 0, TOOL_FLAG, &chosen.model.partial, .only = "checkpoint", .silent = true,
     .help = "compute nothing: write the points in the checkpoint, and leave the checkpoint"},
};

static const tool_table tables[] = {
    {.title = "Curve", .options = curve_options, .count = TOOL_COUNT(curve_options)},
    {.title = "Motion of a point", .options = motion_options, .count = TOOL_COUNT(motion_options)},
    {.title = "Model", .options = model_options, .count = TOOL_COUNT(model_options)},
    {.title = "Loads and damping", .options = load_options, .count = TOOL_COUNT(load_options)},
    {.title = "Full-order model", .options = full_options, .count = TOOL_COUNT(full_options)},
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {0},
};

static const tool_spec spec = {
    .name = "simcurve",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Frequency responses, backbone curves and force sweeps of a reduced-order model.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simcurve beam.npz --basis basis.npz --poly poly.npz --response \\\n"
                "    --loads pull.csv --range 80,160 --damping-ratio 0.005 -o curve.npz\n"
                "  simcurve beam.npz --basis basis.npz --poly poly.npz --backbone \\\n"
                "    --amplitude 0.02 -o backbone.npz\n"
                "  simcurve beam.npz --basis basis.npz --poly poly.npz --of curve.npz \\\n"
                "    --point 120 --loads pull.csv --damping-ratio 0.005 -o motion.npz\n",
};

static void check_options(void)
{
    if (chosen.response + chosen.backbone + chosen.sweep != 1)
        tool_fail(SP_USAGE, NULL, "name one of --response, --backbone, --force-sweep or --of");
    if (chosen.response && !chosen.range_given)
        tool_fail(SP_USAGE, NULL, "--response needs the frequencies --range LOW,HIGH");
    if (chosen.sweep && chosen.frequency == 0)
        tool_fail(SP_USAGE, NULL, "--force-sweep needs --frequency");
    if (chosen.backbone && !chosen.energy_given && !chosen.amplitude_given)
        tool_fail(SP_USAGE, NULL, "--backbone needs --amplitude or --energy, where it ends");
    if (chosen.range_given && !(chosen.range[0] < chosen.range[1] && chosen.range[0] >= 0))
        tool_fail(SP_USAGE, NULL, "--range: %g,%g is not a range of positive numbers", chosen.range[0],
                  chosen.range[1]);
    if (chosen.response && chosen.range[0] == 0)
        tool_fail(SP_USAGE, NULL, "--range: a frequency response begins above 0 Hz");
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    if (chosen.of)
        curve_motion(context, &chosen);
    else {
        check_options();
        curve_trace(context, &chosen);
    }
    return tool_end();
}
