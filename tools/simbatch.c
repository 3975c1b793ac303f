/* simbatch: many motions of one reduced-order model, which a table describes. */
#include "tools/batch/batch.h"
#include "tools/common/memory_left.h"
#include "tools/common/places.h"
#include "tools/common/shard.h"

#include <math.h>
#include <string.h>

static batch_choice chosen;

#define AT(member) .target = &chosen.motion.member
static const tool_option study_options[] = {
    {"table", 0, TOOL_INPUT, &chosen.table, .argument = "CSV",
     .help = "what the motions differ in: a line of names, then a row of numbers, distributions or files for each "
             "motion (supple-table(5))"},
    {"motions", 0, TOOL_INTEGER, &chosen.motions, .argument = "N", .low = 1, .high = 1e12,
     .help = "number of motions, which take the rows of the table in turn (default: one for each row)"},
    TOOL_SHARD_OPTION(&chosen.shard, NULL),
};

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, AT(integrator), .standard = "newmark", .choices = SIMULATE_IMPLICIT "|exact",
     .help = SIMULATE_IMPLICIT_HELP "; exact: each mode of a modal model, exactly"},
};

static const tool_option output_options[] = {
    {"record", 0, TOOL_CHOICE, &chosen.record, .standard = "coordinates", .choices = "coordinates|probes|statistics",
     .help = "coordinates: reduced coordinates of each frame; probes: displacements of the --probe vertices; "
             "statistics: none of each frame"},
    {"rates", 0, TOOL_FLAG, &chosen.rates, .only = "record=coordinates", .help = "record the rates of coordinates too"},
    {"probe", 0, TOOL_TEXT, AT(probes), .argument = "LIST", .only = "record=probes,statistics",
     .help = "these vertices: 3,17-20 from 0, near:X,Y,Z, surface:120 (the corners that carry a surface vertex)"},
    {"statistics", 0, TOOL_FLAG, &chosen.statistics, .only = "record!=statistics",
     .help = "mean, root mean square, least and largest value of each recorded number over all steps too"},
    {"settle", 0, TOOL_REAL, &chosen.settle, .argument = "S", .standard = "0", .low = 0, .high = 1e300,
     .help = "statistics begin after this time, s"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, .argument = "BYTES", .silent = true,
     .help = "largest memory for motions that are not written yet (default: what is available)"},
};

static const tool_table tables[] = {
    {.title = "Motions", .options = study_options, .count = TOOL_COUNT(study_options)},
    {.title = "Model", .options = simulate_model_options, .count = SIMULATE_MODEL_COUNT, .base = &chosen.motion},
    {.title = "Materials",
     .options = tool_material_edit_options,
     .count = TOOL_MATERIAL_EDIT_COUNT,
     .base = &chosen.motion.edits,
     .only = "model!=modal"},
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    SIMULATE_MOTION_TABLES(&chosen.motion),
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {.title = "Output", .options = simulate_keep_options, .count = 1, .base = &chosen.motion}, /* no --partial */
    {0},
};

static const tool_spec spec = {
    .name = "simbatch",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Many motions of one reduced-order model, which a table describes, into one file.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .examples = "  simbatch spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv \\\n"
                "    --table pulls.csv --motions 10000 --dt 0.01 --steps 500 -o pulls.npz\n"
                "  simbatch spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv \\\n"
                "    --table pulls.csv --record statistics --probe near:0.9,0,0 -o pulls.npz\n",
};

/* ---- what is known before the motions ---- */

/* The model under the loads of the base, which is made once to refuse what no motion can do. */
static void make_base(batch *b)
{
    simulation *s = &b->base;
    s->choice = &b->choice->motion;
    s->context = b->context;
    simulation_read(s);
    simulation_make(s);
    b->description = simulation_description(s);
}

static void read_table(batch *b)
{
    const batch_choice *c = b->choice;
    if (c->table)
        batch_table_read(b->context, c->table,
                         &(batch_subject){.mesh = &b->base.mesh.mesh,
                                          .r = b->description.r,
                                          .load_count = b->base.load_count,
                                          .loads = b->base.loads,
                                          .modal = c->motion.model == SP_MODEL_MODAL},
                         &b->table);
    else if (!c->motions)
        tool_fail(SP_USAGE, NULL, "--table or --motions says how many motions there are");
    b->motions = c->motions ? c->motions : b->table.row_count;
    if (!batch_table_is_random(&b->table))
        tool_option_idle("seed", "where nothing is drawn");
}

/* The rows of U at the probes: the signals are displacements of these vertices, or the coordinates themselves. */
static void choose_signals(batch *b)
{
    const batch_choice *c = b->choice;
    const sp_mesh *mesh = &b->base.mesh.mesh;
    sp_ensemble_file *f = &b->layout.file;
    const int64_t r = b->description.r;
    double *P;

    if (c->record == BATCH_RECORD_PROBES && !c->motion.probes)
        tool_fail(SP_USAGE, NULL, "--record probes needs --probe");
    if (c->motion.probes) {
        f->point_count = tool_places_vertices(&(tool_place_names){.context = b->context,
                                                                  .option = "probe",
                                                                  .vertex_count = mesh->vertex_count,
                                                                  .mesh = mesh,
                                                                  .mesh_path = b->base.mesh.path},
                                              c->motion.probes, &b->pool, (const int64_t **)&f->vertex);
        P = tool_allocate(&b->pool, 3 * f->point_count * r, sizeof *P);
        for (int64_t i = 0; i < 3 * f->point_count; i++)
            for (int64_t j = 0; j < r; j++)
                P[i * r + j] = b->description.U[j * b->description.rows + 3 * f->vertex[i / 3] + i % 3];
        f->signal_count = 3 * f->point_count;
    } else {
        P = tool_allocate(&b->pool, r * r, sizeof *P);
        for (int64_t i = 0; i < r; i++)
            P[i * r + i] = 1;
        f->signal_count = r;
    }
    b->ensemble.P = P;
}

static void lay_out(batch *b)
{
    const batch_choice *c = b->choice;
    const simulate_choice *m = &c->motion;
    sp_ensemble_file *f = &b->layout.file;
    const bool frames = c->record != BATCH_RECORD_STATISTICS;

    choose_signals(b);
    f->vertex_count = b->base.mesh.mesh.vertex_count;
    f->frame_count = frames ? sp_ensemble_frames(m->steps, m->every) : 0;
    f->r = c->record == BATCH_RECORD_COORDINATES ? b->description.r : 0;
    f->column_count = b->table.number_count;
    f->time = tool_allocate(&b->pool, f->frame_count, sizeof *f->time);
    for (int64_t k = 0; k < f->frame_count; k++)
        f->time[k] = (double)(k * m->every < m->steps ? k * m->every : m->steps) * m->step;

    b->layout.columns = b->table.names;
    b->layout.motions = b->motions;
    b->layout.rates = c->rates;
    b->layout.statistics = c->statistics || !frames;
}

static void describe_ensemble(batch *b)
{
    const batch_choice *c = b->choice;
    const simulate_choice *m = &c->motion;
    const tool_shard part = tool_shard_parse(c->shard, b->motions, 1, "motions");
    sp_ensemble *e = &b->ensemble;

    e->description = &b->description;
    e->parameters = simulation_parameters(&b->base);
    e->steps = m->steps;
    e->every = m->every;
    e->first = part.first;
    e->end = part.end;
    e->materials = batch_table_has_materials(&b->table);
    e->keep_q = b->layout.file.r > 0;
    e->keep_v = b->layout.rates;
    e->keep_signals = c->record == BATCH_RECORD_PROBES;
    e->keep_statistics = b->layout.statistics;
    e->signal_count = e->keep_signals || e->keep_statistics ? b->layout.file.signal_count : 0;
    e->settle = (int64_t)ceil(c->settle / m->step - 1e-9);
    e->self = b;
    e->describe = batch_describe;
    e->take = batch_take;

    if (e->settle >= m->steps)
        tool_fail(SP_USAGE, NULL, "--settle: %g s is not before the end of the motions at %g s", c->settle,
                  (double)m->steps * m->step);
}

/* A block of motions on each thread is in memory, and one more as rows of the file. */
static void check_memory(const batch *b)
{
    const double needed = (b->context->threads + 1) * sp_ensemble_block_bytes(&b->ensemble),
                 left = b->choice->memory ? (double)b->choice->memory : tool_memory_left();
    if (needed > left) {
        tool_hint("fewer threads (-t), fewer frames (--every), --record probes or statistics need less");
        tool_fail(b->choice->memory ? SP_USAGE : SP_SYSTEM, NULL,
                  "blocks of motions on %d threads take %.3g MB, more than the %.3g MB that %s", b->context->threads,
                  needed * 1e-6, left * 1e-6, b->choice->memory ? "--memory allows" : "are left");
    }
}

/* ---- what is said ---- */

static void say(const batch *b, double seconds)
{
    const double steps = (double)b->written * (double)b->choice->motion.steps;
    const json_t *first = json_array_get(b->failures, 0);

    if (b->failed)
        tool_say("%lld of %lld motions failed; motion %lld: %s", (long long)b->failed, (long long)b->written,
                 (long long)json_integer_value(json_object_get(first, "motion")),
                 json_string_value(json_object_get(first, "reason")));
    tool_say("%lld motions of %lld steps, %lld of them in lanes, %.2f Newton iterations a step; %.3g steps a second",
             (long long)b->written, (long long)b->choice->motion.steps, (long long)b->in_lanes,
             (double)b->iterations / steps, steps / seconds);
}

int main(int argc, char **argv)
{
    batch b = {.choice = &chosen};
    b.context = tool_begin(&spec, argc, argv);
    if (chosen.motion.integrator == SIMULATE_OWN_INTEGRATOR)
        chosen.motion.integrator = SP_EXACT;
    if (chosen.motion.integrator == SP_EXACT && chosen.motion.model != SP_MODEL_MODAL)
        tool_fail(SP_USAGE, NULL, "--integrator exact applies to --model modal");
    simulate_check_options(&chosen.motion);

    make_base(&b);
    read_table(&b);
    lay_out(&b);
    describe_ensemble(&b);
    check_memory(&b);

    const double start = tool_seconds();
    tool_output *output = tool_output_open(tool_output_path());
    batch_begin(&b, output);
    if (b.ensemble.first < b.ensemble.end)
        tool_check(sp_ensemble_run(b.context, &b.ensemble), NULL);
    say(&b, tool_seconds() - start);
    batch_finish(&b, output);

    batch_table_free(&b.table);
    simulation_free(&b.base);
    sp_pool_free(&b.pool);
    return tool_end();
}
