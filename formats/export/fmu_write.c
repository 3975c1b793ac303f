#include "formats/export/fmu_write.h"

#include "formats/export/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header_text[] =
#include "formats/fmi3_h.inc"
    ;
static const char code_text[] =
#include "formats/fmi3_c.inc"
    "\n"
#include "formats/fmi3_motion_c.inc"
    "\n"
#include "formats/fmi3_saved_c.inc"
    ;

void sp_fmu_token(const char hash[SP_HASH_LENGTH], char token[SP_FMU_TOKEN])
{
    /* The form of a UUID of version 8, whose bits are free but for those that say so */
    snprintf(token, SP_FMU_TOKEN, "{%.8s-%.4s-8%.3s-8%.3s-%.12s}", hash, hash + 8, hash + 12, hash + 15, hash + 18);
}

/* ---- the variables ----
 *
 * Groups of variables with consecutive value references, which fmi3.c calls MODEL_VR_X. */

enum group {
    TIME,
    ALPHA,
    BETA,
    GRAVITY,
    STIFFNESS,
    DENSITY,
    STEP,
    FORCE,
    DISPLACEMENT,
    VELOCITY,
    STRAIN,
    KINETIC,
    Q,
    V,
    A,
    GROUPS
};

enum role { INDEPENDENT, PARAMETER, INPUT, OUTPUT, STATE, DERIVATIVE };

/* As attributes of a variable, and as words for people */
static const char *const role_attributes[] = {"causality=\"independent\" variability=\"continuous\"",
                                              "causality=\"parameter\" variability=\"tunable\" initial=\"exact\"",
                                              "causality=\"input\" variability=\"continuous\"",
                                              "causality=\"output\" variability=\"continuous\" initial=\"calculated\"",
                                              "causality=\"local\" variability=\"continuous\" initial=\"exact\"",
                                              "causality=\"local\" variability=\"continuous\" initial=\"calculated\""};
static const char *const role_words[] = {"time", "parameter", "input", "output", "state", "derivative of a state"};

enum size { ONE, VECTOR, PROBES, COORDINATES };

/* %s: the probe; %c: x, y or z; %d: the coordinate */
static const struct {
    const char *mark, *name;
    enum size size;
    enum role role;
    const char *unit, *about;
} groups[GROUPS] = {
    [TIME] = {"TIME", "time", ONE, INDEPENDENT, "s", "time"},
    [ALPHA] = {"ALPHA", "damping.alpha", ONE, PARAMETER, "1/s", "Rayleigh damping proportional to the mass"},
    [BETA] = {"BETA", "damping.beta", ONE, PARAMETER, "s", "Rayleigh damping proportional to the stiffness"},
    [GRAVITY] = {"GRAVITY", "gravity.%c", VECTOR, PARAMETER, "m/s2", "acceleration of gravity"},
    [STIFFNESS] = {"STIFFNESS", "stiffness_factor", ONE, PARAMETER, "1", "factor of the stiffness, greater than 0"},
    [DENSITY] = {"DENSITY", "density_factor", ONE, PARAMETER, "1", "factor of the density, greater than 0"},
    [STEP] = {"STEP", "step", ONE, PARAMETER, "s", "longest internal time step of co-simulation, greater than 0"},
    [FORCE] = {"FORCE", "%s.force.%c", PROBES, INPUT, "N", "force on the probe"},
    [DISPLACEMENT] = {"DISPLACEMENT", "%s.displacement.%c", PROBES, OUTPUT, "m", "displacement of the probe"},
    [VELOCITY] = {"VELOCITY", "%s.velocity.%c", PROBES, OUTPUT, "m/s", "velocity of the probe"},
    [STRAIN] = {"STRAIN", "energy.strain", ONE, OUTPUT, "J", "strain energy"},
    [KINETIC] = {"KINETIC", "energy.kinetic", ONE, OUTPUT, "J", "kinetic energy"},
    [Q] = {"Q", "q[%d]", COORDINATES, STATE, NULL, "reduced coordinate"},
    [V] = {"V", "v[%d]", COORDINATES, STATE, NULL, "first time derivative of the reduced coordinate"},
    [A] = {"A", "der(v[%d])", COORDINATES, DERIVATIVE, NULL, "second time derivative of the reduced coordinate"},
};

static const struct {
    const char *name, *base;
} units[] = {{"1", ""},
             {"s", " s=\"1\""},
             {"1/s", " s=\"-1\""},
             {"m", " m=\"1\""},
             {"m/s", " m=\"1\" s=\"-1\""},
             {"m/s2", " m=\"1\" s=\"-2\""},
             {"N", " kg=\"1\" m=\"1\" s=\"-2\""},
             {"J", " kg=\"1\" m=\"2\" s=\"-2\""}};

/* The default of the parameter `step`, which model_init sets too */
static const double default_step = 0.01;

static int64_t count_of(const sp_c_source *source, enum group g)
{
    const int64_t counts[] = {
        [ONE] = 1, [VECTOR] = 3, [PROBES] = 3 * source->probe_count, [COORDINATES] = source->tables->r};
    return counts[groups[g].size];
}

/* Value reference of its first variable; of GROUPS, the number of all. */
static int64_t first_of(const sp_c_source *source, enum group g)
{
    int64_t first = 0;
    for (int before = 0; before < (int)g; before++)
        first += count_of(source, (enum group)before);
    return first;
}

enum { NAME = SP_C_SOURCE_NAME + 40 };

static void name_of(const sp_c_source *source, enum group g, int64_t i, char name[NAME])
{
    const char component = "xyz"[i % 3];
    char *at = name, *end = name + NAME;
    *at = 0;
    for (const char *from = groups[g].name; *from; from++) {
        const char sign = *from == '%' ? *++from : 0;
        if (sign == 's')
            at += snprintf(at, (size_t)(end - at), "%s", source->probes[i / 3].name);
        else if (sign == 'd')
            at += snprintf(at, (size_t)(end - at), "%lld", (long long)i);
        else
            at += snprintf(at, (size_t)(end - at), "%c", sign == 'c' ? component : *from);
    }
}

static double start_of(const sp_c_source *source, enum group g)
{
    switch (g) {
    case ALPHA:
        return source->damping[0];
    case BETA:
        return source->damping[1];
    case STIFFNESS:
    case DENSITY:
        return 1;
    case STEP:
        return default_step;
    default:
        return 0;
    }
}

/* ---- sources ---- */

int sp_fmu_write_header(sp_context *context, int descriptor, const sp_fmu *fmu)
{
    return sp_c_source_write_text(context, descriptor, fmu->source, header_text, "");
}

int sp_fmu_write_code(sp_context *context, int descriptor, const sp_fmu *fmu)
{
    char text[60 * (GROUPS + 4)];
    int at = snprintf(text, sizeof text, "#define MODEL_TOKEN \"%s\"\n\nenum {\n", fmu->token);
    for (int g = 0; g < GROUPS; g++)
        at += snprintf(text + at, sizeof text - (size_t)at, "    MODEL_VR_%s = %lld,\n", groups[g].mark,
                       (long long)first_of(fmu->source, (enum group)g));
    snprintf(text + at, sizeof text - (size_t)at, "    MODEL_VR_END = %lld\n};\n",
             (long long)first_of(fmu->source, GROUPS));
    return sp_c_source_write_text(context, descriptor, fmu->source, code_text, text);
}

/* ---- XML and HTML ---- */

/* Opens a stream, which lies on the heap because of its size, and writes the text of `put`. */
static int write_stream(sp_context *context, int descriptor, const sp_fmu *fmu,
                        void (*put)(sp_stream *stream, const sp_fmu *fmu))
{
    sp_stream *stream = malloc(sizeof *stream);
    SP_PASS(sp_allocated(context, stream));
    sp_stream_begin(stream, descriptor);
    put(stream, fmu);
    const int status = sp_stream_end(context, stream);
    free(stream);
    return status;
}

static void put_build(sp_stream *stream, const sp_fmu *fmu)
{
    const char *name = fmu->source->name;
    sp_stream_print(stream,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
                    "  <BuildConfiguration modelIdentifier=\"%s\">\n    <SourceFileSet language=\"C99\">\n"
                    "      <SourceFile name=\"%s.c\"/>\n      <SourceFile name=\"%s_fmi3.c\"/>\n",
                    name, name, name);
    sp_stream_print(stream,
                    "      <PreprocessorDefinition name=\"FMI3_FUNCTION_PREFIX\" optional=\"true\" value=\"%s_\" "
                    "description=\"for static linking\"/>\n    </SourceFileSet>\n  </BuildConfiguration>\n"
                    "</fmiBuildDescription>\n",
                    name);
}

int sp_fmu_write_build(sp_context *context, int descriptor, const sp_fmu *fmu)
{
    return write_stream(context, descriptor, fmu, put_build);
}

static void put_variable(sp_stream *stream, const sp_c_source *source, enum group g, int64_t i)
{
    char name[NAME];
    const enum role role = groups[g].role;

    name_of(source, g, i, name);
    sp_stream_print(stream, "    <Float64 name=\"");
    sp_stream_xml(stream, name);
    sp_stream_print(stream, "\" valueReference=\"%lld\" %s", (long long)(first_of(source, g) + i),
                    role_attributes[role]);

    if (groups[g].unit)
        sp_stream_print(stream, " unit=\"%s\"", groups[g].unit);
    if (g == V || g == A)
        sp_stream_print(stream, " derivative=\"%lld\"", (long long)(first_of(source, (enum group)(g - 1)) + i));
    if (g == ALPHA || g == BETA)
        sp_stream_print(stream, " min=\"0\"");

    if (role == PARAMETER || role == INPUT || role == STATE) {
        sp_stream_print(stream, " start=\"");
        sp_stream_number(stream, start_of(source, g));
        sp_stream_print(stream, "\"");
    }

    sp_stream_print(stream, " description=\"");
    sp_stream_xml(stream, groups[g].about);
    sp_stream_print(stream, "\"/>\n");
}

/* What the variables of a group depend on; `constant`: they are a linear combination of these with constant factors. */
typedef struct dependence {
    bool constant;
    int count;
    enum group on[8];
} dependence;

static dependence dependence_of(enum group g)
{
    switch (g) {
    case DISPLACEMENT:
        return (dependence){true, 1, {Q}};
    case VELOCITY:
        return (dependence){true, 1, {V}};
    case STRAIN:
        return (dependence){false, 2, {STIFFNESS, Q}};
    case KINETIC:
        return (dependence){false, 2, {DENSITY, V}};
    default:
        return (dependence){false, 8, {ALPHA, BETA, GRAVITY, STIFFNESS, DENSITY, FORCE, Q, V}};
    }
}

/* All unknowns of a group as elements of ModelStructure. */
static void put_unknowns(sp_stream *stream, const sp_c_source *source, const char *element, enum group g)
{
    const dependence by = dependence_of(g);
    for (int64_t i = 0; i < count_of(source, g); i++) {
        const char *between = "";
        int64_t total = 0;

        sp_stream_print(stream, "    <%s valueReference=\"%lld\" dependencies=\"", element,
                        (long long)(first_of(source, g) + i));

        for (int k = 0; k < by.count; k++)
            for (int64_t n = 0; n < count_of(source, by.on[k]); n++, total++, between = " ")
                sp_stream_print(stream, "%s%lld", between, (long long)(first_of(source, by.on[k]) + n));
        sp_stream_print(stream, "\"");

        if (by.constant) {
            sp_stream_print(stream, " dependenciesKind=\"");
            for (int64_t n = 0; n < total; n++)
                sp_stream_print(stream, n ? " constant" : "constant");
            sp_stream_print(stream, "\"");
        }
        sp_stream_print(stream, "/>\n");
    }
}

static void put_structure(sp_stream *stream, const sp_c_source *source)
{
    sp_stream_print(stream, "  <ModelStructure>\n");

    for (int g = 0; g < GROUPS; g++)
        if (groups[g].role == OUTPUT)
            put_unknowns(stream, source, "Output", (enum group)g);

    for (int64_t i = 0; i < count_of(source, V); i++) /* of q: the state itself */
        sp_stream_print(stream,
                        "    <ContinuousStateDerivative valueReference=\"%lld\" dependencies=\"%lld\" "
                        "dependenciesKind=\"constant\"/>\n",
                        (long long)(first_of(source, V) + i), (long long)(first_of(source, V) + i));

    put_unknowns(stream, source, "ContinuousStateDerivative", A);
    for (int g = 0; g < GROUPS; g++)
        if (groups[g].role == OUTPUT || groups[g].role == DERIVATIVE)
            put_unknowns(stream, source, "InitialUnknown", (enum group)g);
    sp_stream_print(stream, "  </ModelStructure>\n");
}

static void put_description(sp_stream *stream, const sp_fmu *fmu)
{
    const sp_c_source *source = fmu->source;
    static const char flags[] = "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                                "providesDirectionalDerivatives=\"true\"";

    sp_stream_print(stream,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" "
                    "modelName=\"%s\" instantiationToken=\"%s\"\n    description=\"reduced-order deformable body with "
                    "%lld coordinates\" generationTool=\"Supple %s\" variableNamingConvention=\"structured\">\n",
                    source->name, fmu->token, (long long)source->tables->r, SUPPLE_VERSION);

    sp_stream_print(stream, "  <ModelExchange modelIdentifier=\"%s\" %s/>\n", source->name, flags);
    sp_stream_print(stream,
                    "  <CoSimulation modelIdentifier=\"%s\" %s canHandleVariableCommunicationStepSize=\"true\"/>\n"
                    "  <UnitDefinitions>\n",
                    source->name, flags);

    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        sp_stream_print(stream, "    <Unit name=\"%s\"><BaseUnit%s/></Unit>\n", units[u].name, units[u].base);

    sp_stream_print(stream, "  </UnitDefinitions>\n  <LogCategories>\n    <Category name=\"logStatusError\" "
                            "description=\"calls that failed\"/>\n    <Category name=\"logStatusDiscard\" "
                            "description=\"steps and evaluations that can be tried again\"/>\n  </LogCategories>\n"
                            "  <DefaultExperiment startTime=\"0\" stopTime=\"1\" stepSize=\"");
    sp_stream_number(stream, default_step);
    sp_stream_print(stream, "\"/>\n  <ModelVariables>\n");

    for (int g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < count_of(source, (enum group)g); i++)
            put_variable(stream, source, (enum group)g, i);

    sp_stream_print(stream, "  </ModelVariables>\n");
    put_structure(stream, source);
    sp_stream_print(stream, "</fmiModelDescription>\n");
}

int sp_fmu_write_description(sp_context *context, int descriptor, const sp_fmu *fmu)
{
    return write_stream(context, descriptor, fmu, put_description);
}

/* Names of files may hold anything. */
static void put_plain(sp_stream *stream, const char *text)
{
    for (; *text; text++) {
        const char one[2] = {*text == '\n' || (*text >= ' ' && *text <= '~') ? *text : '_', 0};
        sp_stream_xml(stream, one);
    }
}

static void put_page(sp_stream *stream, const sp_fmu *fmu)
{
    const sp_c_source *source = fmu->source;
    sp_stream_print(stream,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>%s</title></head>\n"
                    "<body>\n<h1>%s</h1>\n<p>A reduced-order deformable body. In co-simulation a communication step is "
                    "divided into internal steps of the implicit Newmark method: of the length <code>step</code> where "
                    "it is a multiple of that, else into the fewest equal steps that are shorter. The forces are "
                    "constant over a communication step. ",
                    source->name, source->name);
    sp_stream_print(stream, "The states of model exchange are <code>q</code> and its derivative <code>v</code>, whose "
                            "units depend on the basis.</p>\n<table>\n<tr><th>variable</th><th>kind</th><th>unit</th>"
                            "<th>meaning</th></tr>\n");

    for (int g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < count_of(source, (enum group)g); i++) {
            char name[NAME];
            name_of(source, (enum group)g, i, name);
            sp_stream_print(stream, "<tr><td><code>");
            sp_stream_xml(stream, name);
            sp_stream_print(stream, "</code></td><td>%s</td><td>%s</td><td>%s</td></tr>\n", role_words[groups[g].role],
                            groups[g].unit ? groups[g].unit : "", groups[g].about);
        }

    sp_stream_print(stream, "</table>\n<h2>Origin</h2>\n<pre>");
    put_plain(stream, source->origin);
    sp_stream_print(stream, "</pre>\n</body>\n</html>\n");
}

int sp_fmu_write_page(sp_context *context, int descriptor, const sp_fmu *fmu)
{
    return write_stream(context, descriptor, fmu, put_page);
}
