/* simcurve: frequency responses, backbone curves and force sweeps of a reduced-order model. */
#include "tools/curve/curve.h"

#include <math.h>

static curve_choice chosen;

static const tool_option curve_options[] = {
    {"response", 0, TOOL_FLAG, &chosen.response,
     .help = "steady vibration under harmonic loads over a range of frequencies"},
    {"backbone", 0, TOOL_FLAG, &chosen.backbone, .help = "free periodic motion without damping, from a linear mode on"},
    {"force-sweep", 0, TOOL_FLAG, &chosen.sweep,
     .help = "steady vibration at one frequency over a range of factors on the loads"},
    {"range", 0, TOOL_VECTOR, chosen.range, "LO,HI", .count = 2, .given = &chosen.range_given,
     .help = "frequencies in Hz; of a force sweep, factors (default 0,1)"},
    {"frequency", 0, TOOL_REAL, &chosen.frequency, "HZ", .low = 1e-300, .high = 1e300, .only = "force-sweep",
     .help = "of a force sweep"},
    {"mode", 0, TOOL_INTEGER, &chosen.mode, "N", "1", .low = 1, .high = 100000, .only = "backbone",
     .help = "the linear mode of the reduced-order model, from 1"},
    {"amplitude", 0, TOOL_REAL, &chosen.amplitude, "M", .low = 1e-300, .high = 1e300, .given = &chosen.amplitude_given,
     .only = "backbone", .help = "end where the amplitude of the probe exceeds M"},
    {"energy", 0, TOOL_REAL, &chosen.energy, "J", .low = 1e-300, .high = 1e300, .given = &chosen.energy_given,
     .only = "backbone", .help = "end where the energy exceeds J"},
    {"harmonics", 0, TOOL_INTEGER, &chosen.harmonics, "H", "7", .low = 1, .high = 1000,
     .help = "harmonics of the motion"},
    {"resolution", 0, TOOL_REAL, &chosen.resolution, "X", "0.1", .low = 1e-6, .high = 1,
     .help = "largest relative change of the motion, and largest part of the range, between two points"},
    {"points", 0, TOOL_INTEGER, &chosen.points, "N", "5000", .low = 1, .high = 1e9, .help = "points at most"},
};

static const tool_option model_options[] = {
    {"model", 0, TOOL_CHOICE, &chosen.model.model, .standard = "reduced", .choices = "reduced|cubature|galerkin",
     .help = "reduced: the cubic polynomials of polycoef; cubature: weighted elements (hyper-reduction); galerkin: the "
             "forces of all elements, projected on the basis"},
    {"basis", 0, TOOL_INPUT, &chosen.model.basis, "FILE", .help = "the basis"},
    {"poly", 0, TOOL_INPUT, &chosen.model.polynomials, "FILE", .only = "model=reduced", .help = "its polynomials"},
    {"cub", 0, TOOL_INPUT, &chosen.model.cubature, "FILE", .only = "model=cubature",
     .help = "its elements and weights"},
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
    {"probe", 0, TOOL_TEXT, &chosen.probe, "VERTEX:AXIS",
     .help = "the displacement of the amplitudes, 12:y (default: the largest of the first column of the basis)"},
    {"csv", 0, TOOL_TEXT, &chosen.table, "FILE", .files = "csv", .help = "also write the points as CSV",
     .silent = true},
};

static const tool_table tables[] = {
    {.title = "Curve", .options = curve_options, .count = TOOL_COUNT(curve_options)},
    {.title = "Model", .options = model_options, .count = TOOL_COUNT(model_options)},
    {.title = "Loads and damping", .options = load_options, .count = TOOL_COUNT(load_options)},
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
                "    --amplitude 0.02 -o backbone.npz\n",
};

static void check_options(void)
{
    if (chosen.response + chosen.backbone + chosen.sweep != 1)
        tool_fail(SP_USAGE, NULL, "name one of --response, --backbone and --force-sweep");
    if (chosen.response && !chosen.range_given)
        tool_fail(SP_USAGE, NULL, "--response needs the frequencies --range LO,HI");
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

/* Where a backbone starts: a hundredth of the amplitude at its end, or a ten-thousandth of its energy. */
static double start_of(const curve_model *m, const sp_harmonic *h, int64_t mode)
{
    const int64_t rows = m->s.basis.columns.rows;
    const double *row = m->s.basis.columns.U + 3 * m->vertex + m->axis;
    double unit = 0, start = INFINITY;
    for (int i = 0; i < h->r; i++)
        unit += row[i * rows] * h->V[(int64_t)mode * h->r + i];
    if (chosen.amplitude_given && unit != 0)
        start = 0.01 * chosen.amplitude / fabs(unit);
    if (chosen.energy_given && h->eigenvalue[mode] > 0)
        start = fmin(start, 0.01 * sqrt(2 * chosen.energy / h->eigenvalue[mode]));
    if (!isfinite(start))
        tool_fail(SP_USAGE, NULL, "the probe does not move in mode %lld: name another one with --probe",
                  (long long)mode + 1);
    return start;
}

static sp_curve_parameters parameters_of(sp_context *context, const curve_model *m)
{
    const double rate = 2 * M_PI;
    sp_curve_parameters p = {.kind = chosen.response   ? SP_PERIODIC_RESPONSE
                                     : chosen.backbone ? SP_PERIODIC_BACKBONE
                                                       : SP_PERIODIC_FORCE,
                             .low = rate * chosen.range[0],
                             .high = rate * chosen.range[1],
                             .frequency = rate * chosen.frequency,
                             .mode = chosen.mode - 1,
                             .energy = chosen.energy_given ? chosen.energy : INFINITY,
                             .most = chosen.points,
                             .resolution = chosen.resolution};
    sp_harmonic h;
    if (chosen.sweep) {
        p.low = chosen.range_given ? chosen.range[0] : 0;
        p.high = chosen.range_given ? chosen.range[1] : 1;
    }
    if (!chosen.backbone)
        return p;
    if (chosen.mode > m->s.r)
        tool_fail(SP_USAGE, NULL, "--mode: %lld of %lld modes", (long long)chosen.mode, (long long)m->s.r);
    tool_check(sp_harmonic_new(context, &m->periodic, &h), chosen.model.basis);
    p.start = start_of(m, &h, p.mode);
    if (!chosen.range_given) {
        p.low = 0.01 * sqrt(fmax(0, h.eigenvalue[p.mode]));
        p.high = 100 * sqrt(fmax(0, h.eigenvalue[p.mode]));
    }
    sp_harmonic_free(&h);
    return p;
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    curve_model model;
    sp_curve_report report;
    check_options();
    tool_output *output = tool_output_open(tool_output_path());
    curve_model_read(context, &chosen, &model);
    curve_points points = {.model = &model, .choice = &chosen};
    const sp_curve_parameters parameters = parameters_of(context, &model);
    const int status = sp_curve_trace(context, &model.periodic, &parameters, curve_points_add, &points, &report);
    if (report.points == 0 || status == SP_SYSTEM)
        tool_check(status, model.s.mesh.path);
    curve_points_write(&points, &report, status == SP_OK, output);
    if (chosen.table)
        curve_points_table(&points);
    tool_say("%lld points, %lld folds, %lld period doublings, %lld Neimark-Sacker points, energy balance within %.1e",
             (long long)report.points, (long long)report.events[SP_CURVE_FOLD],
             (long long)report.events[SP_CURVE_DOUBLING], (long long)report.events[SP_CURVE_TORUS],
             report.worst_balance);
    if (status != SP_OK)
        tool_fail(status, tool_output_path(), "it has the %lld points before this: %s", (long long)report.points,
                  context->message);
    curve_points_free(&points);
    curve_model_free(&model);
    return tool_end();
}
