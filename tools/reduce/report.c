/* What a search has found: a table, a statement, and a script. */
#include "tools/reduce/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[REDUCE_QUANTITIES] = {
    [REDUCE_POSITION] = "position", [REDUCE_VELOCITY] = "velocity", [REDUCE_LARGEST] = "the displacement of any vertex",
    [REDUCE_ENERGY] = "energy",     [REDUCE_STRESS] = "stress",     [REDUCE_FREQUENCY] = "frequency",
};

/* Of a free body these are measured without its rigid motion. */
static const char *word_of(const reduce_search *s, int quantity)
{
    if (s->free && quantity == REDUCE_POSITION)
        return "deformation";
    return s->free && quantity == REDUCE_LARGEST ? "the deformation of any vertex" : words[quantity];
}

/* One line for each rank; that of the chosen one is of the files that were written. */
static void print_table(const reduce_search *s, FILE *stream)
{
    const reduce_point *points = s->best->points.data;
    fprintf(stream, "r");
    for (int q = 0; q < REDUCE_QUANTITIES; q++)
        if (reduce_is_measured(s->choice, q))
            fprintf(stream, ",%s", reduce_quantity_name[q]);
    fprintf(stream, ",stated,us_per_step,chosen\n");
    for (int64_t i = 0; i < s->best->points.count; i++) {
        const bool chosen = points[i].r == s->chosen;
        const reduce_point *p = chosen && s->final.r ? &s->final : &points[i];
        fprintf(stream, "%lld", (long long)p->r);
        for (int q = 0; q < REDUCE_QUANTITIES; q++)
            if (reduce_is_measured(s->choice, q))
                fprintf(stream, ",%.6g", p->error[q]);
        fprintf(stream, ",%.6g,%.3g,%d\n", reduce_stated(s, p, s->choice->quantity), 1e6 * p->seconds, chosen);
    }
}

static int64_t members_of(const reduce_search *s)
{
    const reduce_motion *motions = s->judges.data;
    int64_t count = 0;
    for (int64_t i = 0; i < s->judges.count; i++)
        count += motions[i].path && !motions[i].name;
    return count;
}

/* The statement. What was measured is never above it. */
static void print_statement(const reduce_search *s, const char *before, FILE *stream)
{
    const int q = s->choice->quantity;
    const reduce_motion *witness = s->witness.data;

    fprintf(stream, "%sr = %lld, %.3g us a step: error of %s at most %.2g %%\n", before, (long long)s->final.r,
            1e6 * s->final.seconds, word_of(s, q), 100 * reduce_stated(s, &s->final, q));
    fprintf(stream, "%s  %.2g %% measured beside the full-order model, %s%s, %lld of %lld steps\n", before,
            100 * s->final.measured[q], witness[0].name, s->witness.count > 1 ? " and the others" : "",
            (long long)s->witness_steps, (long long)s->steps);
    if (reduce_family_varies(&s->family))
        fprintf(stream, "%s  %.2g %% beside the reference, largest of %lld loads of the family and of the files\n",
                before, 100 * s->final.error[q], (long long)members_of(s));
    if (s->lost)
        fprintf(stream,
                "%s  nothing is stated of loads under which the reference does not converge: %lld were left out\n",
                before, (long long)s->lost);
    if (!s->polynomials && !s->free && isfinite(s->choice_error[q]))
        fprintf(stream, "%s  %.2g %% error of the choice of elements, measured beside all elements in the basis\n",
                before, 100 * s->choice_error[q]);
    else if (!s->polynomials && !s->free)
        fprintf(stream,
                "%s  the error of the choice of elements is unknown: the motion with all elements does not converge\n",
                before);
    if (!s->full)
        fprintf(stream, "%s  %.2g %% error of the reference, measured beside the full-order model\n", before,
                100 * s->rich_error[q]);
    fprintf(stream, "%s  %.2g %% error of the time step, --dt %s, %s; that of the mesh is not\n", before,
            100 * s->step_error[q], s->step, s->choice->step ? "not included" : "included");
}

static void write_script(reduce_search *s)
{
    const reduce_choice *c = s->choice;
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        tool_out_of_memory();

    const char *files[] = {s->model.basis, s->model.forces, s->scene};
    fprintf(stream, "#!/bin/sh\n# The commands that make %s and %s.\n", files[0], files[1]);
    if (s->free)
        fprintf(stream, "# %s is a scene of the body.\n", s->scene);
    print_statement(s, "# ", stream);
    fprintf(stream, "set -eu\n");
    reduce_script(&s->commands, s->free ? 3 : 2, files, stream);
    if (fclose(stream))
        tool_out_of_memory();
    tool_write_bytes(reduce_text(&s->commands, "%s.sh", c->name), text, (int64_t)length);
    free(text);
}

/* A picture of the table, where gnuplot is there. */
static void draw(reduce_search *s, const char *table)
{
    static const int drawn[] = {REDUCE_POSITION, REDUCE_VELOCITY, REDUCE_ENERGY, REDUCE_STRESS, REDUCE_FREQUENCY};
    reduce_commands *c = &s->commands;
    const char *picture = reduce_text(c, "%s-report.png", s->choice->name);
    reduce_words w = {0};

    reduce_add(&w, "supple-plot");
    for (size_t i = 0; i < TOOL_COUNT(drawn); i++)
        if (reduce_is_measured(s->choice, drawn[i])) {
            const char *name = reduce_quantity_name[drawn[i]];
            reduce_add(&w, reduce_text(c, "%s:%s:%s", table, name, name));
        }
    reduce_add_all(&w, reduce_text(c, "%s:stated:stated, %s", table, word_of(s, s->choice->quantity)), "--log",
                   "--ylabel", "relative error", "--title", "Largest error over the number r of coordinates", "--size",
                   "720x480", "-o", picture);
    const char *said = reduce_draw_words(c, w.word);
    if (said)
        tool_say("no picture of %s: %s", table, said);
}

void reduce_report(reduce_search *s)
{
    char *text;
    size_t length;
    const char *path = reduce_text(&s->commands, "%s-report.csv", s->choice->name);
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        tool_out_of_memory();

    print_table(s, stream);
    if (fclose(stream))
        tool_out_of_memory();
    tool_write_bytes(path, text, (int64_t)length);
    free(text);
    draw(s, path);

    if (!s->chosen)
        return;
    write_script(s);
    print_statement(s, "", tool_stdout());
}
