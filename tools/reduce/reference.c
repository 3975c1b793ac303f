#include "tools/reduce/moves.h"

#include "tools/common/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODES = 10,           /* of the rich basis, which also has all their derivatives */
    ENRICHMENTS = 2,      /* how often a rich model is made anew, with frames of the witness */
    MORE = 20,            /* columns that the next rich model has more */
    TOUCHES = 3,          /* random ones of the witness */
    FIRST_STEPS = 20,     /* of a motion whose time step is looked for … */
    ATTEMPTS = 12,        /* … how often … */
    MOST_STEPS = 1000000, /* … and up to how many */
};

/* Work in steps times degrees of freedom of the full-order model, each some 1e-5 to 3e-5 s. It is counted and not
 * measured, so that the same inputs give the same files. */
static const double full_work = 1.5e7, /* up to which all motions are of the full-order model, where a rich model needs
                                          a cubature … */
    full_work_polynomials = 6e5,       /* … and where it has polynomials */
    witness_work = 4e6;                /* of the witness */

/* ---- candidates ---- */

static void add_candidate(reduce_search *s, const char *path)
{
    *(const char **)tool_list_add(&s->candidates, 1, sizeof path) = path;
}

/* Vibration modes and all their modal derivatives. */
static void make_modes(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const int64_t half = s->body.dof_count / 2, count = half < MODES ? half : MODES;
    const char *modes = reduce_path(c, "modes.npz"), *derivatives = reduce_path(c, "derivatives.npz");

    reduce_say(s, "modes and modal derivatives");
    reduce_run(c, "modes", s->choice->mesh, "-k", reduce_text(c, "%lld", (long long)count), "-o", modes);
    reduce_run(c, "modalderiv", s->choice->mesh, modes, "-o", derivatives);
    add_candidate(s, modes);
    add_candidate(s, derivatives);
}

/* The linear responses to the loads and to accelerations of the whole body, as by gravity; static ones first, then
 * those to their inertia: a Krylov space of K⁻¹M. */
static void make_responses(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, "responses.npz"), *loads = reduce_family_all(&s->family);
    int64_t lines = 0;
    reduce_words w = {0};

    for (const char *at = loads; *at; at++)
        lines += *at == '\n';
    const int64_t starts = lines > 1 ? lines - 1 : 1;

    reduce_say(s, "linear responses to the loads");
    reduce_add_all(&w, "modes", s->choice->mesh, "--method", "krylov");
    if (lines > 1)
        reduce_add_all(&w, "--start-loads", reduce_write(c, "all.csv", loads));
    reduce_add_all(&w, "--order", starts > 24 ? "1" : starts > 8 ? "2" : "4", "-o", path);
    reduce_run_words(c, w.word);
    add_candidate(s, path);
}

/* Nonlinear static responses to the corners of the family, of a quarter of the loads to all. A load that no equilibrium
 * carries has none. */
static void make_statics(reduce_search *s)
{
    const double *g = s->choice->gravity;
    reduce_commands *c = &s->commands;
    const bool loaded = reduce_family_varies(&s->family) || g[0] != 0 || g[1] != 0 || g[2] != 0;
    const int64_t count = loaded ? reduce_family_corners(&s->family) : 0; /* 0: only a frame moves it */

    reduce_say(s, "nonlinear static responses");
    for (int64_t i = 0; i < count; i++) {
        const reduce_member member = reduce_family_train(&s->family, i);
        const char *path = reduce_numbered(s, "static", i);
        reduce_words w = {0};

        reduce_add_all(&w, "simfull", s->choice->mesh);
        if (reduce_family_varies(&s->family))
            reduce_add_all(&w, "--loads",
                           reduce_write(c, reduce_text(c, "static%lld.csv", (long long)i),
                                        reduce_family_ramps(&s->family, &member)));
        reduce_add_gravity(s, &w);
        reduce_add_all(&w, "--integrator", "static", "--dt", "0.25", "--steps", "4", "-o", path);
        if (reduce_try_words(c, w.word) == SP_OK)
            add_candidate(s, path);
    }
}

static void make_candidates(reduce_search *s)
{
    if (s->candidates.count) /* they are there since the time step was looked for */
        return;
    make_modes(s);
    make_responses(s);
    make_statics(s);
}

/* The principal directions of all candidates in the energy. */
static void combine(reduce_search *s, int round, int64_t most)
{
    const char *const *candidates = s->candidates.data;
    reduce_words w = {0};

    reduce_add_all(&w, "masspca", s->choice->mesh);
    for (int64_t i = 0; i < s->candidates.count; i++)
        reduce_add(&w, candidates[i]);
    reduce_add_all(&w, "--inner", "energy", "--scaling", "eigenvalue");
    s->rich.basis = reduce_numbered(s, "rich", round);
    s->rich_columns = reduce_make_columns(s, &w, most, s->rich.basis);
}

static void make_rich_forces(reduce_search *s, int round)
{
    const char *path = reduce_path(&s->commands, reduce_text(&s->commands, "rich%d-forces.npz", round));
    s->rich.forces = reduce_make_forces(s, path, s->rich.basis, s->rich_columns, 0.003, &s->witness);
}

/* ---- the witness ---- */

static void add_motion(sp_list *list, const char *loads, const char *path, const char *name)
{
    *(reduce_motion *)tool_list_add(list, 1, sizeof(reduce_motion)) =
        (reduce_motion){.loads = loads, .path = path, .name = name};
}

/* The loads of the witness: the files, random touches, or gravity and the frame alone; their motions are not there yet.
 */
static void list_witness(reduce_search *s)
{
    reduce_commands *c = &s->commands;

    for (int64_t f = 0; f < s->family.count; f++)
        add_motion(&s->witness, s->family.path[f], NULL, s->family.path[f]);
    for (int64_t i = 0; i < TOUCHES && s->family.place_count; i++) {
        const reduce_member member = reduce_family_witness(&s->family, i);
        add_motion(
            &s->witness,
            reduce_write(c, reduce_text(c, "touch%lld.csv", (long long)i), reduce_family_text(&s->family, &member)),
            NULL, "a random touch");
    }
    if (!s->witness.count)
        add_motion(&s->witness, NULL, NULL, s->choice->frame ? s->choice->frame : "gravity");
}

/* Full-order steps under each of these loads: all of them, or as many as the work allows. */
static void make_witness(reduce_search *s)
{
    reduce_motion *motions = s->witness.data;
    const double most = witness_work / (double)s->body.dof_count / (double)s->witness.count;

    /* In whole frames. */
    const int64_t frames = (int64_t)fmin(most, (double)s->steps) / reduce_every(s);
    s->witness_steps = (frames > 3 ? frames : 3) * reduce_every(s);
    if (s->witness_steps + reduce_every(s) > s->steps)
        s->witness_steps = s->steps;

    for (int64_t i = 0; i < s->witness.count; i++) {
        motions[i].path = reduce_numbered(s, "witness", i);
        reduce_say(s, "full-order steps");
        if (!reduce_move(s, NULL, motions[i].loads, s->step, s->witness_steps, reduce_every(s), motions[i].path))
            tool_fail(SP_NUMERICAL, motions[i].loads, "the full-order model does not converge: take smaller steps");
    }
}

/* ---- the time step ---- */

/* A step of two digits, of which at least `least` make the motion. */
static void set_steps(reduce_search *s, double least)
{
    const double most = s->choice->duration / least, power = floor(log10(most)) - 1;
    char text[TOOL_SHELL_REAL];

    snprintf(text, sizeof text, "%.0fe%.0f", floor(most / pow(10, power) * (1 + 1e-9)), power);
    const double step = strtod(text, NULL);
    s->step = reduce_text(&s->commands, "%s", tool_shell_real(step, text));
    s->steps = (int64_t)ceil(s->choice->duration / step * (1 - 1e-9));
}

typedef struct found_step {
    const char *step;
    int64_t steps;
    double error[REDUCE_QUANTITIES];
} found_step;

/* How many times as many steps divide the error by `ratio`, where `more` times as many divided it by `gain` (NaN: not
 * known, and the order is two). The order is lower with implicit Euler, and where loads begin between steps. */
static double finer_by(double ratio, double more, double gain)
{
    const bool known = more > 1 && gain > 1;
    const double order = known ? fmin(fmax(log(gain) / log(more), 0.5), 2) : 2, wanted = 1.1 * pow(ratio, 1 / order);
    return isfinite(wanted) ? fmin(fmax(wanted, 1.2), known ? 1000 : 8) : 2;
}

/* The model whose motions tell the error of a time step: that of all candidates. Without polynomials its forces are
 * those of all elements, projected, since a cubature needs motions. NULL stands for the full-order model, which is the
 * reference of a free body. */
static const reduce_model *make_trial(reduce_search *s)
{
    if (s->free)
        return NULL;
    make_candidates(s);
    combine(s, 0, s->choice->rank);
    if (s->polynomials)
        make_rich_forces(s, 0);
    return &s->rich;
}

/* The first of ever smaller time steps that keeps a fifth of the error. Where none does, with --best the last one that
 * was more accurate by a tenth than all before. */
static void find_step(reduce_search *s)
{
    const reduce_motion *motions = s->witness.data;
    const reduce_model *trial = make_trial(s);
    const int q = s->choice->quantity;
    const double share = 0.2 * s->choice->error;
    found_step best = {.step = NULL};

    double least = FIRST_STEPS, before = NAN, error = NAN;
    for (int attempt = 0; attempt < ATTEMPTS && least <= MOST_STEPS; attempt++) {
        set_steps(s, least);
        memset(s->step_error, 0, sizeof s->step_error);
        for (int64_t i = 0; i < s->witness.count; i++)
            reduce_step_error(s, trial, motions[i].loads, s->step_error);
        reduce_check_compared(s);
        reduce_say(s, reduce_text(&s->commands, "the time step %s s has an error of %s of %.2g %%", s->step,
                                  reduce_quantity_name[q], 100 * s->step_error[q]));
        if (s->step_error[q] <= share || reduce_is_late(s))
            return;
        if (isfinite(s->step_error[q]) && (!best.step || s->step_error[q] < 0.9 * best.error[q])) {
            best = (found_step){.step = s->step, .steps = s->steps};
            memcpy(best.error, s->step_error, sizeof best.error);
        }

        const double factor = finer_by(s->step_error[q] / share, least / before, error / s->step_error[q]);
        before = least;
        least *= factor;
        error = s->step_error[q];
    }

    if (!s->choice->best || !best.step)
        tool_fail(SP_NUMERICAL, s->choice->mesh, "no time step down to %s s keeps a fifth of the error", s->step);
    tool_warn(s->choice->mesh, "no time step down to %s s keeps a fifth of the error: %s s is taken, with %.2g %%",
              s->step, best.step, 100 * best.error[q]);
    s->step = best.step;
    s->steps = best.steps;
    memcpy(s->step_error, best.error, sizeof best.error);
}

/* ---- the rich model ---- */

static void judge_rich(reduce_search *s)
{
    const reduce_motion *motions = s->witness.data;
    memset(s->rich_error, 0, sizeof s->rich_error);
    for (int64_t i = 0; i < s->witness.count; i++) {
        reduce_table table;
        reduce_measure(s, &s->rich, NULL, s->step, &motions[i], &table);
        reduce_take_errors(s, &table, 1, s->rich_error);
    }
}

/* Makes the rich model; frames of the witness join it while its error takes more than a quarter of the bound. */
static void make_rich(reduce_search *s)
{
    const int q = s->choice->quantity;
    int64_t columns = s->choice->rank;

    make_candidates(s);
    make_witness(s);

    for (int round = 0;; round++) {
        reduce_say(s, "a rich model");
        combine(s, round, columns);
        make_rich_forces(s, round);
        judge_rich(s);
        tool_say("its error of %s is %.2g %% in %lld full-order steps", reduce_quantity_name[q], 100 * s->rich_error[q],
                 (long long)s->witness_steps);
        if (s->rich_error[q] <= 0.25 * s->choice->error / reduce_margin || round == ENRICHMENTS || reduce_is_late(s))
            break;

        const reduce_motion *motions = s->witness.data;
        for (int64_t i = 0; i < s->witness.count && round == 0; i++)
            add_candidate(s, motions[i].path);
        columns += MORE;
    }
}

/* ---- the motions ---- */

/* The members that train, and those that judge only. */
static int64_t members_of(const reduce_search *s)
{
    return reduce_family_trained(&s->family) + s->choice->held_out + reduce_family_largest_count(&s->family);
}

/* A motion by the reference; its path, or NULL if it does not converge. */
static const char *move(reduce_search *s, const char *loads, const char *path)
{
    return reduce_move(s, s->full ? NULL : &s->rich, loads, s->step, s->steps, reduce_every(s), path) ? path : NULL;
}

/* The motion of a member, in place `i` of its list. */
static void add_member(reduce_search *s, sp_list *list, const char *kind, int64_t i, const reduce_member *member)
{
    reduce_commands *c = &s->commands;
    const char *loads =
        reduce_write(c, reduce_text(c, "%s%lld.csv", kind, (long long)i), reduce_family_text(&s->family, member));

    reduce_say(s, reduce_text(c, "motion %lld of %lld", (long long)(s->trained.count + s->judges.count) + 1,
                              (long long)members_of(s)));
    add_motion(list, loads, move(s, loads, reduce_numbered(s, kind, i)), NULL);
}

/* How many of the motions converge. */
static int64_t usable(const sp_list *list)
{
    const reduce_motion *motions = list->data;
    int64_t count = 0;
    for (int64_t i = 0; i < list->count; i++)
        count += motions[i].path != NULL;
    return count;
}

/* Members that train and judge. */
static void make_members(reduce_search *s)
{
    const int64_t trained = reduce_family_trained(&s->family);

    for (int64_t i = 0; i < trained; i++) {
        const reduce_member member = reduce_family_train(&s->family, i);
        add_member(s, &s->trained, "train", i, &member);
    }
    for (int64_t i = 0; i < s->choice->held_out && !(i > 0 && reduce_is_late(s)); i++) {
        const reduce_member member = reduce_family_draw(&s->family, i);
        add_member(s, &s->judges, "judge", i, &member);
    }
    for (int64_t i = 0; i < reduce_family_largest_count(&s->family); i++) {
        const reduce_member member = reduce_family_largest(&s->family, i);
        add_member(s, &s->judges, "largest", i, &member);
    }

    const int64_t drawn = s->trained.count + s->judges.count;
    s->lost = drawn - usable(&s->trained) - usable(&s->judges);
    if (s->lost)
        tool_warn(
            s->choice->mesh,
            "%lld of %lld motions do not converge, and nothing is stated of such loads: take smaller steps, or --most "
            "below %g",
            (long long)s->lost, (long long)drawn, s->choice->high);

    /* The corners of the family, where errors of large deformations are largest, judge although they are trained. */
    for (int64_t i = 0; i < reduce_family_corners(&s->family); i++) {
        const reduce_motion corner = ((const reduce_motion *)s->trained.data)[i];
        add_motion(&s->judges, corner.loads, corner.path, NULL);
    }
}

/* The witness judges too: its full-order steps where these are all, else its motion by the rich model. Gravity alone
 * has no members: its motion trains as well. */
static void add_witness(reduce_search *s)
{
    const reduce_motion *motions = s->witness.data;
    for (int64_t i = 0; i < s->witness.count; i++) {
        const reduce_motion *m = &motions[i];
        const char *path = s->witness_steps < s->steps ? move(s, m->loads, reduce_numbered(s, "file", i)) : m->path;
        add_motion(&s->judges, m->loads, path, m->name);
        if (!reduce_family_varies(&s->family))
            add_motion(&s->trained, m->loads, path, m->name);
    }
}

void reduce_make_reference(reduce_search *s)
{
    list_witness(s);
    s->step = s->choice->step;
    s->steps = s->choice->steps;
    if (!s->step)
        find_step(s);

    s->full = s->free || (double)s->body.dof_count * (double)s->steps * (double)members_of(s) <=
                             (s->polynomials ? full_work_polynomials : full_work);
    tool_say("%lld degrees of freedom, %lld steps of %s s: the reference is %s", (long long)s->body.dof_count,
             (long long)s->steps, s->step, s->full ? "the full-order model" : "a rich reduced-order model");
    if (s->full)
        make_witness(s);
    else
        make_rich(s);

    if (reduce_family_varies(&s->family))
        make_members(s);
    add_witness(s);
    if (!usable(&s->trained) || !usable(&s->judges))
        tool_fail(SP_NUMERICAL, NULL, "no motion under the loads converges: take smaller steps");
}
