#include "tools/reduce/moves.h"

#include "tools/common/shell.h"
#include "tools/reduce/free.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 100 /* of a motion, at most */ };

const char *const reduce_quantity_name[REDUCE_QUANTITIES] = {
    [REDUCE_POSITION] = "position", [REDUCE_VELOCITY] = "velocity", [REDUCE_LARGEST] = "largest",
    [REDUCE_ENERGY] = "energy",     [REDUCE_STRESS] = "stress",     [REDUCE_FREQUENCY] = "frequency",
};

bool reduce_is_measured(const reduce_choice *choice, int quantity)
{
    return quantity <= REDUCE_ENERGY || quantity == choice->quantity;
}

const char *reduce_numbered(reduce_search *s, const char *kind, int64_t number)
{
    return reduce_path(&s->commands, reduce_text(&s->commands, "%s%lld.npz", kind, (long long)number));
}

void reduce_say(const reduce_search *s, const char *what)
{
    tool_say("%4.0f s: %s", tool_seconds() - s->start, what);
}

bool reduce_is_late(const reduce_search *s)
{
    return s->choice->time > 0 && tool_seconds() - s->start > s->choice->time;
}

int64_t reduce_every(const reduce_search *s)
{
    return s->steps > FRAMES ? (s->steps + FRAMES - 1) / FRAMES : 1;
}

/* ---- words ---- */

void reduce_add(reduce_words *w, const char *word)
{
    if (w->count + 1 == TOOL_COUNT(w->word))
        tool_fail(SP_USAGE, NULL, "too many files for one command");
    w->word[w->count++] = word;
    w->word[w->count] = NULL;
}

void reduce_add_list(reduce_words *w, const char *const *list)
{
    while (*list)
        reduce_add(w, *list++);
}

void reduce_add_gravity(reduce_search *s, reduce_words *w)
{
    const double *g = s->choice->gravity;
    if (g[0] != 0 || g[1] != 0 || g[2] != 0)
        reduce_add_all(w, "--gravity", reduce_text(&s->commands, "%.17g,%.17g,%.17g", g[0], g[1], g[2]));
}

static void add_model(const reduce_search *s, reduce_words *w, const reduce_model *model)
{
    reduce_add_all(w, "--basis", model->basis);
    if (model->forces)
        reduce_add_all(w, s->polynomials ? "--poly" : "--cub", model->forces);
    else
        reduce_add_all(w, "--model", "galerkin");
}

static void add_loads(reduce_search *s, reduce_words *w, const char *loads)
{
    if (loads)
        reduce_add_all(w, "--loads", loads);
    reduce_add_gravity(s, w);
    if (s->choice->frame)
        reduce_add_all(w, "--frame", s->choice->frame);
    if (s->choice->damping_mass)
        reduce_add_all(w, "--damping-mass", s->choice->damping_mass);
    if (s->free)
        reduce_free_damping(s, w);
    else if (s->choice->damping_stiffness)
        reduce_add_all(w, "--damping-stiffness", s->choice->damping_stiffness);
}

/* Nothing for the integrator that is the default of the other programs. */
static void add_integrator(const reduce_search *s, reduce_words *w)
{
    static const char *const names[] = {NULL, "euler", "bdf2"};
    if (s->free && s->polynomials) /* as in scenes; other laws are stepped by Newmark's method */
        reduce_add_all(w, "--integrator", "energy");
    else if (names[s->choice->integrator])
        reduce_add_all(w, "--integrator", names[s->choice->integrator]);
}

/* ---- motions ---- */

bool reduce_move(reduce_search *s, const reduce_model *model, const char *loads, const char *step, int64_t steps,
                 int64_t every, const char *path)
{
    reduce_commands *c = &s->commands;
    reduce_words w = {0};

    if (model && s->free)
        return reduce_free_move(s, model, loads, step, steps, every, path);
    reduce_add_all(&w, model ? "simulate" : "simfull", s->choice->mesh);
    if (model)
        add_model(s, &w, model);
    add_loads(s, &w, loads);
    add_integrator(s, &w);
    reduce_add_all(&w, "--dt", step, "--steps", reduce_text(c, "%lld", (long long)steps), "--every",
                   reduce_text(c, "%lld", (long long)every));
    if (model)
        reduce_add_all(&w, "--record", "all");
    reduce_add_all(&w, "-o", path);

    const int status = reduce_try_words(c, w.word);
    if (status != SP_OK && status != SP_NUMERICAL)
        reduce_run_words(c, w.word); /* says why */
    return status == SP_OK;
}

/* ---- columns and forces ---- */

int64_t reduce_make_columns(reduce_search *s, const reduce_words *some, int64_t most, const char *path)
{
    reduce_commands *c = &s->commands;
    reduce_words all = *some, first = *some;
    tool_columns made;

    reduce_add_all(&all, "-o", path);
    reduce_add_all(&first, "-r", reduce_text(c, "%lld", (long long)most), "-o", path);
    if (reduce_try_words(c, first.word) != SP_OK)
        reduce_run_words(c, all.word);

    tool_read_columns(path, NULL, NULL, &s->mesh, &made);
    const int64_t count = made.columns.count;
    sp_columns_free(&made.columns);
    return count;
}

const char *reduce_make_forces(reduce_search *s, const char *path, const char *basis, int64_t r, double tolerance,
                               const sp_list *motions)
{
    reduce_commands *c = &s->commands;
    reduce_words w = {0};

    reduce_add_all(&w, s->polynomials ? "polycoef" : "cubature", s->choice->mesh, basis);
    if (!s->polynomials) {
        const reduce_motion *of = motions->data;
        for (int64_t i = 0; i < motions->count; i++)
            if (of[i].path)
                reduce_add(&w, of[i].path);
        reduce_add_all(&w, "--tolerance", reduce_text(c, "%g", tolerance), "-r", reduce_text(c, "%lld", (long long)r));
    }
    reduce_add_all(&w, "-o", path);
    reduce_run_words(c, w.word);
    return path;
}

/* ---- errors ---- */

void reduce_measure(reduce_search *s, const reduce_model *model, const char *ranks, const char *step,
                    const reduce_motion *motion, reduce_table *table)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, "errors.csv");
    reduce_words w = {0};

    if (s->free) {
        reduce_free_measure(s, model, ranks, step, motion, table);
        return;
    }
    reduce_add_all(&w, "simvalidate", s->choice->mesh);
    add_model(s, &w, model);
    if (ranks)
        reduce_add_all(&w, "--ranks", ranks);
    add_loads(s, &w, motion->loads);
    add_integrator(s, &w);
    if (s->choice->quantity == REDUCE_STRESS)
        reduce_add(&w, "--stress");
    if (s->choice->quantity == REDUCE_FREQUENCY)
        reduce_add_all(&w, "--probe", s->choice->probe);
    reduce_add_all(&w, "--dt", step, "--reference", motion->path, "--csv", path);
    reduce_measure_words(c, w.word);
    reduce_table_read(c, path, table);
}

/* The error of a quantity in a row; NaN where the reference has no value to compare with. */
static double error_of(reduce_search *s, const reduce_table *table, int64_t row, int quantity)
{
    double value;

    if (quantity == REDUCE_FREQUENCY) {
        const char *name = reduce_text(&s->commands, "frequency %.100s", s->choice->probe);
        const double reference = reduce_table_value(table, 0, name);
        if (!isfinite(reference))
            return NAN;
        value = fabs(reduce_table_value(table, row, name) / reference - 1);
    } else
        value =
            reduce_table_value(table, row, quantity == REDUCE_STRESS ? "stress_error" : reduce_quantity_name[quantity]);
    return isfinite(value) ? value : INFINITY;
}

void reduce_take_errors(reduce_search *s, const reduce_table *table, int64_t row, double *error)
{
    for (int q = 0; q < REDUCE_QUANTITIES; q++)
        if (reduce_is_measured(s->choice, q)) {
            const double value = error_of(s, table, row, q);
            s->compared |= !isnan(value) && q == s->choice->quantity;
            error[q] = fmax(error[q], value);
        }
}

void reduce_check_compared(const reduce_search *s)
{
    if (!s->compared)
        tool_fail(SP_INPUT, s->choice->mesh,
                  "--probe %s has no frequency: it needs some periods of free vibration after the loads end",
                  s->choice->probe);
}

/* ---- the time step ---- */

/* The changes of a motion between a step and its half, for each quantity; false if one does not converge. */
static bool halve(reduce_search *s, const reduce_model *model, const char *loads, int factor, double *change)
{
    reduce_commands *c = &s->commands;
    const double step = strtod(s->step, NULL);
    char coarse[TOOL_SHELL_REAL], fine[TOOL_SHELL_REAL];
    const reduce_motion motion = {.loads = loads,
                                  .path = reduce_path(c, "half.npz"),
                                  .scene = s->free && model ? reduce_free_scene(s, model, 0, loads, NULL) : NULL};
    reduce_table table;

    tool_shell_real(step / factor, coarse);
    tool_shell_real(step / (2 * factor), fine);
    if (!reduce_move(s, model, loads, reduce_text(c, "%s", fine), 2 * factor * s->steps, 2 * factor * reduce_every(s),
                     motion.path))
        return false;
    reduce_measure(s, model, NULL, reduce_text(c, "%s", coarse), &motion, &table);
    reduce_take_errors(s, &table, 1, change);
    return true;
}

void reduce_step_error(reduce_search *s, const reduce_model *model, const char *loads, double *error)
{
    static const double slowest = 0.75;
    double first[REDUCE_QUANTITIES] = {0}, second[REDUCE_QUANTITIES] = {0};
    const bool both = halve(s, model, loads, 1, first) && halve(s, model, loads, 2, second);

    for (int q = 0; q < REDUCE_QUANTITIES; q++) {
        const double ratio = first[q] > 0 ? fmin(second[q] / first[q], slowest) : 0;
        error[q] = fmax(error[q], both ? first[q] / (1 - ratio) : INFINITY);
    }
}
