/* A recorded trajectory in place of a run of the full model. */
#include "tools/validate/validate.h"

#include <math.h>
#include <string.h>

/* The parameters that say what body under what forces was simulated, as both tools record them: another one is another
 * motion. The step and the integrator may differ. */
static void check_parameters(const validation *v, const json_t *meta)
{
    static const char *const same[] = {"young", "poisson", "density", "viscosity"};
    const json_t *theirs = json_object_get(meta, "parameters");
    const char *gravity = json_string_value(json_object_get(theirs, "gravity"));
    double g[3] = {0};
    json_t *ours = tool_meta_new("trajectory");

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const json_t *a = json_object_get(theirs, same[i]),
                     *b = json_object_get(json_object_get(ours, "parameters"), same[i]);
        if ((json_array_size(a) || json_array_size(b)) && !json_equal(a, b))
            tool_fail(SP_USAGE, v->choice->reference, "it was simulated with another --%s", same[i]);
    }
    json_decref(ours);

    if (gravity &&
        (sscanf(gravity, "%lf,%lf,%lf", &g[0], &g[1], &g[2]) != 3 || memcmp(g, v->choice->motion.gravity, sizeof g)))
        tool_fail(SP_USAGE, v->choice->reference, "it was simulated with --gravity %.60s", gravity);
}

/* What only simulate can do to a mesh: none of the runs beside the reference does. */
static void check_others(const validation *v, const json_t *meta)
{
    static const char *const others[] = {"prescribe",  "prescribe-vertices", "skeleton", "skin",
                                         "activation", "damping-times",      "cut"};
    size_t i;
    json_t *input;
    json_array_foreach(json_object_get(meta, "inputs"), i, input)
    {
        const char *option = json_string_value(json_object_get(input, "option"));
        if (option)
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                if (!strcmp(option, others[k]))
                    tool_fail(SP_USAGE, v->choice->reference,
                              "it was simulated with --%s, which the runs beside it have not", option);
    }

    if (json_array_size(json_object_get(json_object_get(meta, "parameters"), "ground")) > 0)
        tool_fail(SP_USAGE, v->choice->reference, "it was simulated with --ground, which the runs beside it have not");
}

/* The hash of the file that an option named; "": none. */
static const char *hash_of(const json_t *inputs, const char *wanted)
{
    size_t i;
    json_t *input;
    json_array_foreach(inputs, i, input)
    {
        const char *option = json_string_value(json_object_get(input, "option"));
        if (option && !strcmp(option, wanted))
            return json_string_value(json_object_get(input, "sha256"));
    }
    return "";
}

static void check_inputs(const validation *v, const json_t *meta)
{
    static const char *const same[] = {"loads", "frame"};
    json_t *ours = tool_meta_new("trajectory");

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *a = hash_of(json_object_get(meta, "inputs"), same[i]),
                   *b = hash_of(json_object_get(ours, "inputs"), same[i]);
        if (a && b && strcmp(a, b))
            tool_fail(SP_USAGE, v->choice->reference, "it was simulated with %s --%s", !*a ? "no" : "other", same[i]);
    }
    json_decref(ours);
}

static void check_damping(const validation *v, const json_t *meta)
{
    const json_t *damping = json_object_get(meta, "damping");
    double alpha = json_number_value(json_array_get(damping, 0)), beta = json_number_value(json_array_get(damping, 1));
    const validate_run *run = &v->runs[0];
    if (json_array_size(damping) == 2 && (alpha != run->s.damping_mass || beta != run->s.damping_stiffness))
        tool_fail(SP_USAGE, v->choice->reference, "it was simulated with damping %g 1/s and %g s, not %g and %g", alpha,
                  beta, run->s.damping_mass, run->s.damping_stiffness);
}

void reference_open(validation *v)
{
    const char *path = v->choice->reference;
    v->descriptor = tool_open_input(path);
    tool_check(sp_trajectory_open(v->context, v->descriptor, false, &v->stream), path);
    const json_t *meta = sp_trajectory_meta(v->stream);
    const char *hash = json_string_value(json_object_get(meta, "mesh"));
    tool_check_hash(path, "mesh", hash ? hash : "", v->full.s.mesh.hash);
    if (json_integer_value(json_object_get(meta, "vertices")) != v->full.s.mesh.mesh.vertex_count)
        tool_fail(SP_INPUT, path, "it is of %lld vertices, the mesh has %lld",
                  (long long)json_integer_value(json_object_get(meta, "vertices")),
                  (long long)v->full.s.mesh.mesh.vertex_count);
    check_parameters(v, meta);
    check_others(v, meta);

    const json_t *theirs = json_object_get(meta, "parameters");
    const double steps = json_number_value(json_object_get(theirs, "steps")),
                 step = json_number_value(json_object_get(theirs, "dt"));
    v->end = steps > 0 && step > 0 ? steps * step : INFINITY;
}

static bool next_block(validation *v)
{
    const char *path = v->choice->reference;
    tool_check(sp_trajectory_next(v->stream, &v->block), path);
    v->next = 0;
    if (v->block.frame_count == 0)
        return false;
    if (!v->block.u || v->block.vertex)
        tool_fail(SP_INPUT, path, "it holds %lld of %lld vertices: record it with --record all",
                  (long long)v->block.point_count, (long long)v->full.s.mesh.mesh.vertex_count);
    if (v->frame == 0) { /* what the runs have read is known now */
        check_inputs(v, sp_trajectory_meta(v->stream));
        check_damping(v, sp_trajectory_meta(v->stream));
    }
    return true;
}

bool reference_bring(validation *v)
{
    validate_frames *f = &v->frames;
    int64_t n = v->full.s.body->dof_count, rows = 3 * v->full.s.mesh.mesh.vertex_count;
    double h = v->choice->motion.step;

    for (f->count = 0; f->count < f->capacity && (v->next < v->block.frame_count || next_block(v));
         f->count++, v->next++, v->frame++) {
        double time = v->block.time[v->next], steps = round(time / h);
        const double *energy = v->block.energy + SP_ENERGY_COUNT * v->next;

        if (!(fabs(time - steps * h) <= 1e-9 * fabs(time)) || steps > 1e12)
            tool_fail(SP_USAGE, v->choice->reference,
                      "its frame %lld at %.9g s is not at a step of --dt %g s: nothing is interpolated",
                      (long long)v->frame, time, h);

        f->step[f->count] = (int64_t)steps;
        f->time[f->count] = time;
        f->energy[f->count] = energy[SP_ENERGY_KINETIC] + energy[SP_ENERGY_STRAIN];
        sp_fe_space_gather(v->full.s.body, v->block.u + v->next * rows, f->u + f->count * n);
        sp_fe_space_gather(v->full.s.body, v->block.udot + v->next * rows, f->v + f->count * n);
    }
    return f->count > 0;
}

void reference_close(validation *v)
{
    sp_trajectory_close(v->stream);
    tool_close_input(v->descriptor);
}
