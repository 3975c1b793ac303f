/* The file of simbatch: motions as rows, kept in the checkpoint as they are written. */
#include "ensemble/lanes.h"
#include "tools/batch/batch.h"

#include <string.h>

enum { REASON = 256 };

/* A row in memory and in the checkpoint: these numbers, then the values of sp_ensemble_row one after another. */
typedef struct row_head {
    int64_t motion, status, iterations, alone;
    char reason[REASON];
} row_head;

/* The parts of a row behind its head, in the order of the file. */
typedef struct row_values {
    double *parameters, *q, *qdot, *u, *statistics[SP_ENSEMBLE_STATISTICS];
} row_values;

/* Lays the values of a row out from `at`; returns their number. Without `at` it only counts. */
static int64_t lay_out(const batch *b, double *at, row_values *values)
{
    const sp_ensemble_file *f = &b->layout.file;
    const int64_t statistics = b->layout.statistics ? f->signal_count : 0,
                  counts[] = {f->column_count,
                              f->frame_count * f->r,
                              b->layout.rates ? f->frame_count * f->r : 0,
                              3 * f->frame_count * f->point_count,
                              statistics,
                              statistics,
                              statistics,
                              statistics};
    double **const pointers[] = {&values->parameters,    &values->q,
                                 &values->qdot,          &values->u,
                                 &values->statistics[0], &values->statistics[1],
                                 &values->statistics[2], &values->statistics[3]};
    int64_t total = 0;
    for (int i = 0; i < TOOL_COUNT(counts); i++) {
        *pointers[i] = at ? at + total : NULL;
        total += counts[i];
    }
    return total;
}

static void note_failure(batch *b, const row_head *head)
{
    b->failed++;
    if (b->failed <= SP_ENSEMBLE_FAILURES)
        json_array_append_new(b->failures,
                              json_pack("{s:I, s:s}", "motion", (json_int_t)head->motion, "reason", head->reason));
}

/* Appends the rows of a block, which are in `rows`. */
static int append_rows(batch *b, int64_t count, char *rows)
{
    for (int64_t i = 0; i < count; i++) {
        const row_head *head = (row_head *)(rows + i * b->row_bytes);
        row_values values;
        lay_out(b, (double *)(rows + i * b->row_bytes + sizeof *head), &values);
        SP_PASS(sp_ensemble_append(b->writer,
                                   &(sp_ensemble_row){.motion = head->motion,
                                                      .status = head->status,
                                                      .iterations = head->iterations,
                                                      .parameters = values.parameters,
                                                      .q = values.q,
                                                      .qdot = values.qdot,
                                                      .u = values.u,
                                                      .statistics = {values.statistics[0], values.statistics[1],
                                                                     values.statistics[2], values.statistics[3]}}));
        b->written++;
        b->iterations += head->iterations;
        b->in_lanes += !head->alone;
        if (head->status)
            note_failure(b, head);
    }
    return SP_OK;
}

/* ---- blocks ---- */

/* The values of lane m of [count][SP_MOTIONS]. */
static void take_lane(const double *from, int m, int64_t count, double *to)
{
    for (int64_t i = 0; from && i < count; i++)
        to[i] = from[i * SP_MOTIONS + m];
}

static void fill_row(const batch *b, const sp_ensemble_block *block, int m, char *row)
{
    const sp_ensemble_file *f = &b->layout.file;
    row_head *head = (row_head *)row;
    row_values values;

    *head = (row_head){.motion = block->first + m,
                       .status = block->status[m],
                       .iterations = block->iterations[m],
                       .alone = block->alone[m]};
    snprintf(head->reason, sizeof head->reason, "%.*s", REASON - 1, block->reason[m]);
    lay_out(b, (double *)(row + sizeof *head), &values);

    for (int64_t c = 0, k = 0; c < b->table.column_count; c++)
        if (b->table.columns[c].role != BATCH_LOADS)
            values.parameters[k++] = batch_number(b, c, head->motion);
    take_lane(block->q, m, f->frame_count * f->r, values.q);
    take_lane(block->v, m, f->frame_count * f->r, values.qdot);
    take_lane(block->signals, m, 3 * f->frame_count * f->point_count, values.u);
    for (int k = 0; k < SP_ENSEMBLE_STATISTICS && block->statistics; k++)
        take_lane(block->statistics + k * f->signal_count * SP_MOTIONS, m, f->signal_count, values.statistics[k]);
}

int batch_take(void *self, const sp_ensemble_block *block)
{
    batch *b = self;
    for (int m = 0; m < block->count; m++)
        fill_row(b, block, m, b->rows + m * b->row_bytes);
    SP_PASS(append_rows(b, block->count, b->rows));
    if (b->checkpoint)
        tool_checkpoint_add(b->checkpoint, b->rows, block->count * b->row_bytes, NULL, 0);
    return SP_OK;
}

/* ---- the file ---- */

/* Rows that earlier calls kept; the motions begin behind them. */
static void resume(batch *b)
{
    const int64_t most = SP_MOTIONS * b->row_bytes, all = b->ensemble.end - b->ensemble.first;
    int64_t bytes;

    b->checkpoint = tool_checkpoint_open(b->choice->motion.checkpoint);
    if (!b->checkpoint)
        return;
    tool_checkpoint_counts(b->checkpoint, (all + SP_MOTIONS - 1) / SP_MOTIONS, "blocks of motions");
    while ((bytes = tool_checkpoint_next(b->checkpoint, b->rows, most)) >= 0) {
        const int64_t count = bytes / b->row_bytes;
        for (int64_t i = 0; i < count; i++) {
            row_head *head = (row_head *)(b->rows + i * b->row_bytes);
            head->reason[REASON - 1] = 0;
            if (head->motion != b->ensemble.first + i)
                tool_checkpoint_damaged(b->checkpoint);
        }
        if (count < 1 || bytes % b->row_bytes || b->ensemble.first + count > b->ensemble.end)
            tool_checkpoint_damaged(b->checkpoint);
        tool_check(append_rows(b, count, b->rows), tool_output_path());
        b->ensemble.first += count;
    }
    if (b->written)
        tool_say("%lld of %lld motions were done before", (long long)b->written, (long long)all);
}

void batch_begin(batch *b, tool_output *output)
{
    row_values unused;
    json_t *meta = tool_meta_new("ensemble");
    tool_facts(meta, sp_kind_ensemble.meta, {"mesh", .text = b->base.mesh.hash}, {"basis", .text = b->base.basis.hash});

    b->failures = json_array();
    b->row_bytes = (int64_t)sizeof(row_head) + lay_out(b, NULL, &unused) * (int64_t)sizeof(double);
    b->rows = tool_allocate(&b->pool, SP_MOTIONS, (size_t)b->row_bytes);
    tool_check(sp_ensemble_begin(b->context, tool_output_writer(output), meta, &b->layout, &b->writer),
               tool_output_path());
    json_decref(meta);
    resume(b);
}

void batch_finish(batch *b, tool_output *output)
{
    json_t *result = tool_result_new();
    tool_check(sp_ensemble_finish(b->writer), tool_output_path());
    tool_facts(result, sp_kind_ensemble.result, {"motions", .integer = b->written}, {"failed", .integer = b->failed},
               {"in_lanes", .integer = b->in_lanes}, {"newton_iterations", .integer = b->iterations},
               {"failures", .json = json_incref(b->failures), .leave_out = b->failed == 0});
    tool_output_finish(output, result);
    tool_checkpoint_finish(b->checkpoint);
    json_decref(b->failures);
}
