#include "formats/trajectory.h"

#include "formats/kind_tables.h"
#include "formats/series.h"
#include "material/material.h"

#include <stdlib.h>
#include <string.h>

#define MOST 0x1p40 /* coordinates and points: frames stay far below 2⁶³ bytes */

/* ---- the table ---- */

/* With the fixed vertices of the file. */
typedef struct trajectory_file {
    sp_trajectory t;
    int64_t *vertex, *group, *frames;
    uint8_t *axes;
} trajectory_file;

#define AT(member) .at = offsetof(trajectory_file, member)
static const sp_symbol symbols[] = {{"r", .at = offsetof(trajectory_file, t.r), .given = true},
                                    {"p", .at = offsetof(trajectory_file, t.point_count), .given = true},
                                    {"vertices", .at = offsetof(trajectory_file, t.vertex_count), .given = true},
                                    {"g", .at = offsetof(trajectory_file, t.reaction_count), .given = true},
                                    {"h", .at = offsetof(trajectory_file, t.prescribed_count)},
                                    {"n", .at = offsetof(trajectory_file, t.frame_count)},
                                    {0}};

static const sp_member_rule rules[] = {
    {"vertex", "p", SP_I8, OPTIONAL, WITH("points"), AT(t.vertex), BELOW("vertices"),
     .meaning = "the mesh vertex of each point"},
    {"prescribed/vertex", "h", SP_I8, OPTIONAL, AT(vertex), BELOW("vertices"), .increasing = true,
     .meaning = "vertices that are fixed in addition to those of the mesh"},
    {"prescribed/axes", "h", SP_U1, WITH("prescribed/vertex"), AT(axes), WITHIN(1, 7),
     .meaning = "fixed components of the vertex: bit 0 x, bit 1 y, bit 2 z"},
    {"prescribed/group", "h", SP_I8, WITH("prescribed/vertex"), AT(group), WITHIN(-1, MOST),
     .meaning = "vertices of the same group move together as a rigid body"},
    {"prescribed/frames", "h", SP_I8, WITH("prescribed/vertex"), AT(frames), WITHIN(1, MOST),
     .meaning = "number of frames in which it is fixed, from the first on"},
    {"time/B", "n", SP_F8, AT(t.time), .unit = "s", .meaning = "strictly increasing over all blocks"},
    {"q/B", "n, r", SP_F8, WITH("r"), AT(t.q), .meaning = "reduced coordinates"},
    {"qdot/B", "n, r", SP_F8, WITH("r"), AT(t.qdot), .unit = "1/s", .meaning = "their rates"},
    {"u/B", "n, p, 3", SP_F8, WITH("points"), AT(t.u), .unit = "m", .meaning = "displacement of the points"},
    {"udot/B", "n, p, 3", SP_F8, WITH("points"), AT(t.udot), .unit = "m/s", .meaning = "velocity of the points"},
    {"energy/B", "n, 4", SP_F8, AT(t.energy), .unit = "J", .meaning = "kinetic, strain, work, dissipated"},
    {"estimate/B", "n", SP_F8, WITH("estimates"), AT(t.estimate),
     .meaning = "relative error of the internal force in the force norm"},
    {"energy_estimate/B", "n", SP_F8, WITH("energy_estimates"), AT(t.energy_estimate),
     .meaning = "the same in the energy norm"},
    {"residual/B", "n, 3", SP_F8, WITH("residuals"), AT(t.residual), FROM(0), .unit = "J",
     .meaning =
         "residual in the full-order equation: outside of the basis, in the reduced equation; energy of the motion"},
    {"reaction/B", "n, g, 6", SP_F8, WITH("reactions"), AT(t.reaction), .unit = "N, N·m",
     .meaning = "force and moment about the origin that hold the fixed vertices of each group"},
    {"pose/B", "n, 7", SP_F8, WITH("frame"), AT(t.pose), .unit = "m, 1",
     .meaning = "x, y, z of the origin of the frame that the body moves with"},
    {"twist/B", "n, 6", SP_F8, WITH("frame"), AT(t.twist), .unit = "m/s, rad/s",
     .meaning = "velocity of that origin, angular velocity, both in the world"},
    {0}};
#undef AT

static const sp_fact trajectory_meta[] = {
    {"r", SP_INTEGER, .meaning = "number of coordinates r"},
    {"points", SP_INTEGER, .meaning = "number of points p"},
    {"vertices", SP_INTEGER, .meaning = "of the mesh, ≥ 1"},
    {"estimates", SP_BOOLEAN, .when = "optional", .meaning = "true: blocks have estimates in the force norm"},
    {"energy_estimates", SP_BOOLEAN, .when = "optional", .meaning = "true: they have estimates in the energy norm"},
    {"residuals", SP_BOOLEAN, .when = "optional", .meaning = "true: blocks have residuals"},
    {"frame", SP_BOOLEAN, .when = "optional", .meaning = "true: the body moves with a frame, and blocks have its pose"},
    {"reactions", SP_STRINGS, .when = "optional",
     .meaning = "the names of the g groups of fixed vertices whose reactions are recorded, g ≥ 1"},
    {"mesh", SP_HASH, .meaning = "of the mesh"},
    {"basis", SP_HASH, .when = "with `r`", .meaning = "of the basis that q refers to"},
    {"warp", SP_BOOLEAN, .when = "optional",
     .meaning = "true: q are the coordinates of linear displacements *u* = U q, and the shape is the warped one"},
    {"load_end", SP_NUMBER, .unit = "s", .when = "optional",
     .meaning = "the time at which the last load ends, of those that end; 0 if there is none"},
    {"stored", SP_STRING, .when = "optional",
     .meaning = "`work`: the internal force is not conservative (modal cubature, stiffness warping)"},
    {"dynamic", SP_INTEGERS, .when = "optional",
     .meaning = "the dynamic vertices of a ConJac model, in increasing order"},
    {"damping", SP_NUMBERS, .unit = "1/s, s", .when = "optional",
     .meaning = "2 numbers: α and β of the damping αM + βK that was simulated"},
    {0}};

static const sp_fact trajectory_result[] = {
    {"partial_steps", SP_INTEGER, .when = "`--partial`", .meaning = "steps that were done"},
    {"coordinates", SP_INTEGER, .when = "`simulate`, `simfull`",
     .meaning = "reduced coordinates, of a full-order model free degrees of freedom"},
    {"steps", SP_INTEGER, .when = "`simulate`, `simfull`", .meaning = "steps that were taken"},
    {"newton_iterations", SP_INTEGER, .when = "`simulate`, `simfull`", .meaning = "Newton iterations of the run"},
    {"most_iterations_in_a_step", SP_INTEGER, .when = "`simulate`, `simfull`",
     .meaning = "Newton iterations of the step with most of them"},
    {"worst_residual", SP_NUMBER, .when = "`simulate`, `simfull`",
     .meaning = "largest residual of a step, relative to the largest force term"},
    {"stagnated_steps", SP_INTEGER, .when = "`simulate`, `simfull`",
     .meaning = "steps whose residual stopped above the tolerance because of rounding"},
    {"line_search_halvings", SP_INTEGER, .when = "`simulate`, `simfull`", .meaning = "halvings of the line search"},
    {"indefinite_matrices", SP_INTEGER, .when = "`simulate`, `simfull`",
     .meaning = "matrices that were not positive definite and were replaced"},
    {"steps_in_parts", SP_INTEGER, .when = "`simulate`, `simfull`", .meaning = "steps with sub-stepping"},
    {"smallest_part", SP_NUMBER, .when = "`simulate`, `simfull`",
     .meaning = "the smallest sub-step as a fraction of a step"},
    {"stability_limit", SP_NUMBER, .null = true, .unit = "s", .when = "`simulate`, `simfull`",
     .meaning =
         "largest stable step of `central`; null with other integrators, and where no degree of freedom is free"},
    {"energy_first", SP_NUMBERS, .unit = "J", .when = "`simulate`, `simfull`",
     .meaning = "kinetic energy, strain energy, external work and dissipation at the start"},
    {"energy_last", SP_NUMBERS, .unit = "J", .when = "`simulate`, `simfull`", .meaning = "the same at the end"},
    {"energy_balance", SP_NUMBER, .null = true, .when = "`simulate`, `simfull`",
     .meaning = "largest deviation of kinetic + strain energy from its first value + external work − dissipation over "
                "the recorded frames"},
    {"growth_at_rest", SP_NUMBER, .unit = "1/s", .when = "`simulate` with a modal cubature",
     .meaning = "the rate at which small motions about rest grow without damping"},
    {"linear_solves", SP_INTEGER, .when = "iterative solvers, `--model warp`",
     .meaning = "linear systems that were solved"},
    {"linear_products", SP_INTEGER, .when = "iterative solvers, `--model warp`",
     .meaning = "their matrix-vector products"},
    {"factorizations", SP_INTEGER, .when = "`simfull` with iterative solvers",
     .meaning = "factorizations of a preconditioner"},
    {"largest_ghost_force", SP_NUMBER, .unit = "N", .when = "`simfull --model warp`",
     .meaning = "net force of the internal forces before any correction, the largest of the recorded frames"},
    {"largest_ghost_torque", SP_NUMBER, .unit = "N·m", .when = "`simfull --model warp`",
     .meaning = "the same of their torque"},
    {"quasistatic_residual", SP_NUMBER, .unit = "N", .when = "`simfull --model conjac`",
     .meaning = "norm of the forces on the quasi-static vertices at the end"},
    {"dynamic_residual", SP_NUMBER, .unit = "N", .when = "`simfull --model conjac`",
     .meaning = "norm of Jᵀ times all forces at the end, where J is the condensation Jacobian"},
    {"largest_force_estimate", SP_NUMBER, .when = "with `estimates`",
     .meaning = "largest error estimate in the force norm"},
    {"largest_energy_estimate", SP_NUMBER, .when = "with `energy_estimates`",
     .meaning = "largest error estimate in the energy norm"},
    {"basis_estimate", SP_NUMBER, .when = "`simulate --certificate`",
     .meaning = "estimate of the relative error of the basis in the energy norm"},
    {"quadrature_estimate", SP_NUMBER, .when = "`simulate --certificate` with a cubature",
     .meaning = "the same of the cubature"},
    {"correction_energy", SP_NUMBER, .unit = "J", .when = "`simulate --static-correction`",
     .meaning = "the largest ½ eᵀR"},
    {"reactions_unbalanced", SP_NUMBER, .when = "`simulate` with `reactions`",
     .meaning = "largest sum of the forces that the basis leaves out of balance, relative to the largest reaction"},
    {"full_residual", SP_NUMBER, .when = "`simcurve --of` with `--residual`",
     .meaning = "residual in the full-order equation, relative to the internal force"},
    {"closing_position", SP_NUMBER, .when = "`simcurve --of` with `--check-full`",
     .meaning = "distance of the states of the full-order model before and after a period"},
    {"closing_velocity", SP_NUMBER, .when = "`simcurve --of` with `--check-full`",
     .meaning = "the same of the velocities, relative to the largest velocity"},
    {0}};

const sp_kind sp_kind_trajectory = {"trajectory", symbols, rules, trajectory_meta, trajectory_result};

/* ---- writing ---- */

struct sp_trajectory_writer {
    sp_series_writer *series;
    trajectory_file file;
    sp_pool pool;
};

/* Lists the members before the first block. */
static int list_prescribed(sp_context *context, const sp_trajectory_layout *shape, sp_pool *pool, trajectory_file *file)
{
    const int64_t count = shape->prescribed_count;
    file->t.prescribed_count = count;
    if (count == 0)
        return SP_OK;

    file->vertex = sp_pool_raw(pool, count, sizeof *file->vertex);
    file->group = sp_pool_raw(pool, count, sizeof *file->group);
    file->frames = sp_pool_raw(pool, count, sizeof *file->frames);
    file->axes = sp_pool_raw(pool, count, sizeof *file->axes);
    SP_PASS(sp_allocated(context, !pool->failed));

    for (int64_t k = 0; k < count; k++) {
        file->vertex[k] = shape->prescribed[k].vertex;
        file->group[k] = shape->prescribed[k].group;
        file->frames[k] = shape->prescribed[k].frames;
        file->axes[k] = shape->prescribed[k].axes;
    }
    return SP_OK;
}

/* The groups of the reactions, which are none without the key. */
static int set_reactions(sp_context *context, const sp_trajectory_layout *shape, json_t *meta)
{
    json_t *names = json_array();
    bool failed = !names;
    for (int64_t g = 0; g < shape->reaction_count; g++)
        failed |= json_array_append_new(names, json_string(shape->reaction_name[g])) != 0;
    if (shape->reaction_count > 0)
        failed |= json_object_set(meta, "reactions", names) != 0;
    json_decref(names);
    return failed ? sp_fail_memory(context) : SP_OK;
}

int sp_trajectory_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_trajectory_layout *shape,
                        sp_trajectory_writer **result)
{
    if (shape->r < 0 || (double)shape->r > MOST || shape->point_count < 0 || (double)shape->point_count > MOST ||
        (shape->r == 0 && shape->point_count == 0))
        return sp_fail(context, SP_USAGE, "a trajectory of %lld reduced coordinates and %lld points",
                       (long long)shape->r, (long long)shape->point_count);
    if (!shape->vertex && shape->point_count && shape->point_count != shape->vertex_count)
        return sp_fail(context, SP_USAGE,
                       "a trajectory of %lld points without their numbers, where the mesh has %lld vertices",
                       (long long)shape->point_count, (long long)shape->vertex_count);

    if (json_object_set_new(meta, "r", json_integer(shape->r)) ||
        json_object_set_new(meta, "points", json_integer(shape->point_count)) ||
        json_object_set_new(meta, "vertices", json_integer(shape->vertex_count)) ||
        (shape->estimates && (json_object_set_new(meta, "estimates", json_true()) ||
                              json_object_set_new(meta, "energy_estimates", json_true()))) ||
        (shape->residuals && json_object_set_new(meta, "residuals", json_true())) ||
        (shape->frame && json_object_set_new(meta, "frame", json_true())))
        return sp_fail_memory(context);

    sp_trajectory_writer *trajectory = calloc(1, sizeof *trajectory);
    int status = trajectory ? set_reactions(context, shape, meta) : sp_fail_memory(context);
    if (status != SP_OK) {
        free(trajectory);
        return status;
    }

    trajectory->file.t = (sp_trajectory){.r = shape->r,
                                         .point_count = shape->point_count,
                                         .vertex_count = shape->vertex_count,
                                         .vertex = (int64_t *)shape->vertex,
                                         .reaction_count = shape->reaction_count};

    SP_TRY(list_prescribed(context, shape, &trajectory->pool, &trajectory->file));
    SP_TRY(sp_series_begin(context, writer, &sp_kind_trajectory, meta, &trajectory->file, &trajectory->series));
    *result = trajectory;
    return SP_OK;
done:
    sp_pool_free(&trajectory->pool);
    free(trajectory);
    return status;
}

int sp_trajectory_append(sp_trajectory_writer *trajectory, const sp_frame *frame)
{
    return sp_series_append(trajectory->series,
                            (const void *[]){&frame->time, frame->q, frame->qdot, frame->u, frame->udot, frame->energy,
                                             &frame->estimate[0], &frame->estimate[1], frame->residual, frame->reaction,
                                             frame->pose, frame->twist},
                            0);
}

int sp_trajectory_finish(sp_trajectory_writer *trajectory)
{
    const int status = sp_series_finish(trajectory->series);
    sp_pool_free(&trajectory->pool);
    free(trajectory);
    return status;
}

/* ---- reading ---- */

struct sp_trajectory_stream {
    sp_series_stream series;
    trajectory_file file;
};

/* Checks the members before the first block together. */
static int check_head(sp_series_stream *stream, void *object)
{
    trajectory_file *file = object;
    sp_trajectory *t = &file->t;

    if (stream->blocks)
        return SP_OK;

    if (t->point_count && !t->vertex && t->point_count != t->vertex_count)
        return sp_fail(stream->context, SP_INPUT, "member vertex is missing: %lld points of %lld vertices",
                       (long long)t->point_count, (long long)t->vertex_count);

    if (!file->vertex) {
        t->prescribed_count = 0;
        return SP_OK;
    }

    t->prescribed = sp_pool_new(&stream->head.pool, t->prescribed_count, sizeof *t->prescribed);
    SP_PASS(sp_allocated(stream->context, t->prescribed));
    for (int64_t k = 0; k < t->prescribed_count; k++)
        t->prescribed[k] = (sp_prescribed_record){file->vertex[k], file->axes[k], file->group[k], file->frames[k]};
    return SP_OK;
}

static int check_block(sp_series_stream *stream, void *object)
{
    const sp_trajectory *t = &((trajectory_file *)object)->t;
    const int status = check_head(stream, object);
    return status == SP_OK && t->frame ? sp_series_check_poses(stream, "pose", t->pose, t->frame_count, 1) : status;
}

/* Numbers of vertices, increasing. */
static int check_dynamic(sp_context *context, const json_t *list, int64_t vertex_count)
{
    int64_t before = -1;
    if (!json_is_array(list))
        return sp_fail(context, SP_INPUT, "meta: \"dynamic\" is not an array");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const int64_t vertex = json_is_integer(item) ? (int64_t)json_integer_value(item) : -1;
        if (vertex <= before || vertex >= vertex_count)
            return sp_fail(context, SP_INPUT,
                           "meta: \"dynamic\": item %lld is not the number of a vertex, greater than the one before",
                           (long long)i);
        before = vertex;
    }
    return SP_OK;
}

const char *sp_trajectory_reaction(const json_t *meta, int64_t group)
{
    return json_string_value(json_array_get(json_object_get(meta, "reactions"), (size_t)group));
}

/* The groups of the reactions, by their names. */
static int read_reactions(sp_context *context, const json_t *meta, sp_trajectory *t)
{
    const json_t *list = json_object_get(meta, "reactions");
    t->reaction_count = (int64_t)json_array_size(list);
    if (list && (!json_is_array(list) || t->reaction_count == 0))
        return sp_fail(context, SP_INPUT, "meta: \"reactions\" is not an array of names");
    for (int64_t g = 0; g < t->reaction_count; g++) {
        const char *name = sp_trajectory_reaction(meta, g);
        SP_PASS(name ? sp_name_check(context, "meta: \"reactions\"", name)
                     : sp_fail(context, SP_INPUT, "meta: \"reactions\" is not an array of names"));
    }
    return SP_OK;
}

static int read_meta(sp_context *context, const json_t *meta, sp_trajectory *t)
{
    double ignored[2];
    char hash[SP_HASH_LENGTH];

    SP_PASS(sp_json_integer(context, meta, "r", 0, (int64_t)MOST, &t->r));
    SP_PASS(sp_json_integer(context, meta, "points", 0, (int64_t)MOST, &t->point_count));
    SP_PASS(sp_json_integer(context, meta, "vertices", 1, (int64_t)MOST, &t->vertex_count));
    SP_PASS(sp_json_hash(context, meta, "mesh", hash));
    SP_PASS(sp_json_hash(context, meta, "basis", hash));

    if (json_object_get(meta, "load_end"))
        SP_PASS(sp_json_number(context, meta, "load_end", ignored));
    if (json_object_get(meta, "damping"))
        SP_PASS(sp_json_numbers(context, meta, "damping", 2, ignored));
    if (json_object_get(meta, "dynamic"))
        SP_PASS(check_dynamic(context, json_object_get(meta, "dynamic"), t->vertex_count));

    SP_PASS(read_reactions(context, meta, t));
    t->estimates = json_is_true(json_object_get(meta, "estimates"));
    t->energy_estimates = json_is_true(json_object_get(meta, "energy_estimates"));
    t->residuals = json_is_true(json_object_get(meta, "residuals"));
    t->frame = json_is_true(json_object_get(meta, "frame"));

    t->prescribed_count = -1;
    if (t->r == 0 && t->point_count == 0)
        return sp_fail(context, SP_INPUT, "meta: \"r\" and \"points\" are both 0: nothing is recorded");
    return SP_OK;
}

/* Creates the stream of an opened series, which belongs to it, also after a failure. */
static int begin_stream(sp_series_stream *series, sp_trajectory_stream **result)
{
    sp_context *context = series->context;
    sp_trajectory_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        sp_series_close(series);
        return sp_fail_memory(context);
    }

    stream->series = *series;
    stream->series.check = check_block;

    int status = read_meta(context, series->meta, &stream->file.t);
    if (status != SP_OK)
        sp_trajectory_close(stream);
    else
        *result = stream;
    return status;
}

int sp_trajectory_continue(sp_context *context, sp_reader *reader, json_t *meta, sp_trajectory_stream **result)
{
    sp_series_stream series = {.context = context, .reader = reader, .kind = &sp_kind_trajectory, .meta = meta};
    return begin_stream(&series, result);
}

int sp_trajectory_open(sp_context *context, int descriptor, bool partial, sp_trajectory_stream **result)
{
    sp_series_stream series;
    int status = sp_series_open(context, descriptor, partial, &sp_kind_trajectory, &series);
    return status == SP_OK ? begin_stream(&series, result) : status;
}

const json_t *sp_trajectory_meta(const sp_trajectory_stream *stream)
{
    return stream->series.meta;
}

/* Sets the members that the stream knows for the whole file. */
static void show_file(const sp_trajectory_stream *stream, sp_trajectory *trajectory)
{
    const sp_series_stream *series = &stream->series;
    *trajectory = stream->file.t;
    trajectory->meta = series->meta;
    trajectory->result = series->result;
    trajectory->truncated = series->truncated;
    memcpy(trajectory->hash, series->hash, sizeof trajectory->hash);
}

int sp_trajectory_next(sp_trajectory_stream *stream, sp_trajectory *block)
{
    int status = sp_series_next(&stream->series, &stream->file);
    *block = (sp_trajectory){0};
    if (status == SP_OK)
        show_file(stream, block);
    return status;
}

void sp_trajectory_close(sp_trajectory_stream *stream)
{
    if (!stream)
        return;
    sp_series_close(&stream->series);
    free(stream);
}

int sp_trajectory_read(sp_context *context, int descriptor, bool partial, sp_trajectory *trajectory)
{
    sp_trajectory_stream *stream;
    sp_trajectory all = {0};
    *trajectory = all;
    int status = sp_trajectory_open(context, descriptor, partial, &stream);
    if (status != SP_OK)
        return status;

    SP_TRY(sp_series_read(&stream->series, &stream->file, all.owned));
    show_file(stream, trajectory);
    memcpy(trajectory->owned, all.owned, sizeof all.owned);

    trajectory->pool = stream->series.head.pool;
    stream->series.head = (sp_members){0};
    stream->series.meta = stream->series.result = NULL;
done:
    sp_trajectory_close(stream);
    if (status != SP_OK)
        sp_trajectory_free(&all);
    return status;
}

void sp_trajectory_free(sp_trajectory *trajectory)
{
    for (size_t i = 0; i < sizeof trajectory->owned / sizeof *trajectory->owned; i++)
        sp_list_free(&trajectory->owned[i]);
    sp_pool_free(&trajectory->pool);
    json_decref(trajectory->meta);
    json_decref(trajectory->result);
    *trajectory = (sp_trajectory){0};
}
