#include "tools/reduce/search.h"

#include "tools/common/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODES = 10,      /* of the rich basis, which also has all their derivatives */
    FRAMES = 100,    /* of a motion, at most */
    ENRICHMENTS = 2, /* how often a rich model is made anew, with frames of the witness */
    MORE = 20,       /* columns that the next rich model has more */
    FIRST = 30,      /* columns of the first bases; others have as many as are allowed */
    SMALL = 12,      /* a model of so few coordinates is not compared with those of other bases */
};

/* Work in steps times degrees of freedom of the full-order model, each some 1e-5 to 3e-5 s. It is counted and not
 * measured, so that the same inputs give the same files. */
static const double full_work = 1.5e7, /* up to which all motions are of the full-order model, where a rich model needs
                                          a cubature … */
    full_work_polynomials = 6e5,       /* … and where it has polynomials */
    witness_work = 4e6;                /* of the witness */

/* Errors may be larger under loads that did not judge. */
static const double margin = 1.25;

static const char *const names[REDUCE_QUANTITIES] = {"position", "velocity", "largest", "energy"};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static const char *path_of(reduce_search *s, const char *kind, int64_t number)
{
    return reduce_path(&s->commands, reduce_text(&s->commands, "%s%lld.npz", kind, (long long)number));
}

static void say(const reduce_search *s, const char *what)
{
    tool_say("%4.0f s: %s", tool_seconds() - s->start, what);
}

static bool late(const reduce_search *s)
{
    return s->choice->time > 0 && tool_seconds() - s->start > s->choice->time;
}

/* ---- commands with lists of words ---- */

typedef struct words {
    const char *word[1200];
    int count;
} words;

static void add(words *w, const char *word)
{
    if (w->count + 1 == TOOL_COUNT(w->word))
        tool_fail(SP_USAGE, NULL, "too many files for one command");
    w->word[w->count++] = word;
    w->word[w->count] = NULL;
}

#define add_all(w, ...) add_list(w, (const char *const[]){__VA_ARGS__, NULL})
static void add_list(words *w, const char *const *list)
{
    while (*list)
        add(w, *list++);
}

static void add_gravity(const reduce_search *s, words *w, const char *option, reduce_commands *c)
{
    const double *g = s->choice->gravity;
    if (g[0] != 0 || g[1] != 0 || g[2] != 0)
        add_all(w, option, reduce_text(c, "%.17g,%.17g,%.17g", g[0], g[1], g[2]));
}

static void add_damping(const reduce_search *s, words *w)
{
    if (s->choice->damping_mass)
        add_all(w, "--damping-mass", s->choice->damping_mass);
    if (s->choice->damping_stiffness)
        add_all(w, "--damping-stiffness", s->choice->damping_stiffness);
}

static void add_model(const reduce_search *s, words *w, const char *basis, const char *forces)
{
    add_all(w, "--basis", basis, s->polynomials ? "--poly" : "--cub", forces);
}

/* The motion of a member by the full-order model or by a model in a basis; false if it does not converge. */
static bool move(reduce_search *s, const char *basis, const char *forces, const char *loads, const char *step,
                 int64_t steps, int64_t every, const char *path)
{
    reduce_commands *c = &s->commands;
    words w = {0};

    add_all(&w, basis ? "simulate" : "simfull", s->choice->mesh);
    if (basis)
        add_model(s, &w, basis, forces);
    if (loads)
        add_all(&w, "--loads", loads);
    add_gravity(s, &w, "--gravity", c);
    add_damping(s, &w);
    add_all(&w, "--dt", step, "--steps", reduce_text(c, "%lld", (long long)steps), "--every",
            reduce_text(c, "%lld", (long long)every));
    if (basis)
        add_all(&w, "--record", "all");
    add_all(&w, "-o", path);

    const int status = reduce_try_words(c, w.word);
    if (status != SP_OK && status != SP_NUMERICAL)
        reduce_run_words(c, w.word); /* says why */
    return status == SP_OK;
}

static int64_t every(const reduce_search *s)
{
    return s->choice->steps > FRAMES ? (s->choice->steps + FRAMES - 1) / FRAMES : 1;
}

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

    say(s, "modes and modal derivatives");
    reduce_run(c, "modes", s->choice->mesh, "-k", reduce_text(c, "%lld", (long long)count), "-o", modes);
    reduce_run(c, "modalderiv", s->choice->mesh, modes, "-o", derivatives);
    add_candidate(s, modes);
    add_candidate(s, derivatives);
}

/* The linear responses to the loads, static ones first, then those to their inertia: a Krylov space of K⁻¹M. */
static void make_responses(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, "responses.npz"), *loads = reduce_family_all(&s->family);
    int64_t lines = 0;
    words w = {0};

    for (const char *at = loads; *at; at++)
        lines += *at == '\n';
    const int64_t starts = lines > 1 ? lines - 1 : 1;

    say(s, "linear responses to the loads");
    add_all(&w, "modes", s->choice->mesh, "--method", "krylov");
    if (lines > 1)
        add_all(&w, "--start-loads", reduce_write(c, "all.csv", loads));
    add_gravity(s, &w, "--start", c);
    add_all(&w, "--order", starts > 24 ? "1" : starts > 8 ? "2" : "4", "-o", path);
    reduce_run_words(c, w.word);
    add_candidate(s, path);
}

/* Nonlinear static responses to the corners of the family, of a quarter of the loads to all. A load that no equilibrium
 * carries has none. */
static void make_statics(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const int64_t count = reduce_family_corners(&s->family);

    say(s, "nonlinear static responses");
    for (int64_t i = 0; i < count; i++) {
        const reduce_member member = reduce_family_train(&s->family, i);
        const char *path = path_of(s, "static", i);
        words w = {0};

        add_all(&w, "simfull", s->choice->mesh);
        if (s->family.count)
            add_all(&w, "--loads",
                    reduce_write(c, reduce_text(c, "static%lld.csv", (long long)i),
                                 reduce_family_ramps(&s->family, &member)));
        add_gravity(s, &w, "--gravity", c);
        add_all(&w, "--integrator", "static", "--dt", "0.25", "--steps", "4", "-o", path);
        if (reduce_try_words(c, w.word) == SP_OK)
            add_candidate(s, path);
    }
}

/* ---- the rich model ---- */

/* Runs masspca with these words, for `most` columns, or all that are independent where these are fewer. Returns how
 * many the file has. */
static int64_t make_columns(reduce_search *s, const words *some, int64_t most, const char *path)
{
    reduce_commands *c = &s->commands;
    words all = *some, first = *some;
    tool_columns made;

    add_all(&all, "-o", path);
    add_all(&first, "-r", reduce_text(c, "%lld", (long long)most), "-o", path);
    if (reduce_try_words(c, first.word) != SP_OK)
        reduce_run_words(c, all.word);

    tool_read_columns(path, NULL, NULL, &s->mesh, &made);
    const int64_t count = made.columns.count;
    sp_columns_free(&made.columns);
    return count;
}

static void combine(reduce_search *s, int round, int64_t most)
{
    const char *const *candidates = s->candidates.data;
    words w = {0};

    add_all(&w, "masspca", s->choice->mesh);
    for (int64_t i = 0; i < s->candidates.count; i++)
        add(&w, candidates[i]);
    add_all(&w, "--inner", "energy", "--scaling", "eigenvalue");
    s->rich = path_of(s, "rich", round);
    s->rich_columns = make_columns(s, &w, most, s->rich);
}

/* The poses of a cubature: frames of these motions. */
static void add_poses(reduce_search *s, words *w, const sp_list *motions, double tolerance)
{
    const reduce_motion *of = motions->data;
    for (int64_t i = 0; i < motions->count; i++)
        if (of[i].path)
            add(w, of[i].path);
    add_all(w, "--tolerance", reduce_text(&s->commands, "%g", tolerance));
}

/* Polynomials, or a cubature of r coordinates. */
static const char *make_forces(reduce_search *s, const char *name, const char *basis, int64_t r, double tolerance,
                               const sp_list *motions)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, name);
    words w = {0};

    add_all(&w, s->polynomials ? "polycoef" : "cubature", s->choice->mesh, basis);
    if (!s->polynomials) {
        add_poses(s, &w, motions, tolerance);
        add_all(&w, "-r", reduce_text(c, "%lld", (long long)r));
    }
    add_all(&w, "-o", path);
    reduce_run_words(c, w.word);
    return path;
}

/* ---- errors ---- */

/* The errors of a model beside a motion, for each of the ranks (NULL: all its columns); the table's rows after that of
 * the reference. */
static void measure(reduce_search *s, const char *basis, const char *forces, const char *ranks, const char *step,
                    const reduce_motion *motion, reduce_table *table)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, "errors.csv");
    words w = {0};

    add_all(&w, "simvalidate", s->choice->mesh);
    add_model(s, &w, basis, forces);
    if (ranks)
        add_all(&w, "--ranks", ranks);
    if (motion->loads)
        add_all(&w, "--loads", motion->loads);
    add_gravity(s, &w, "--gravity", c);
    add_damping(s, &w);
    add_all(&w, "--dt", step, "--reference", motion->path, "--csv", path);
    reduce_measure_words(c, w.word);
    reduce_table_read(c, path, table);
}

static void take_errors(const reduce_table *table, int64_t row, double *error)
{
    for (int q = 0; q < REDUCE_QUANTITIES; q++) {
        const double value = reduce_table_value(table, row, names[q]);
        error[q] = fmax(error[q], isfinite(value) ? value : INFINITY);
    }
}

double reduce_stated(const reduce_search *s, const reduce_point *point, int quantity)
{
    return margin * (point->error[quantity] + s->rich_error[quantity]);
}

/* ---- the reference ---- */

static void add_motion(sp_list *list, const char *loads, const char *path, const char *name)
{
    *(reduce_motion *)tool_list_add(list, 1, sizeof(reduce_motion)) =
        (reduce_motion){.loads = loads, .path = path, .name = name};
}

/* Full-order steps of each file: all of them, or as many as the work allows. */
static void make_witness(reduce_search *s)
{
    const reduce_choice *choice = s->choice;
    const int64_t files = s->family.count ? s->family.count : 1;
    const double steps = witness_work / (double)s->body.dof_count / (double)files;

    /* In whole frames. */
    const int64_t frames = (int64_t)fmin(steps, (double)choice->steps) / every(s);
    s->witness_steps = (frames > 3 ? frames : 3) * every(s);
    if (s->witness_steps + every(s) > choice->steps)
        s->witness_steps = choice->steps;

    for (int64_t f = 0; f < files; f++) {
        const char *loads = s->family.count ? s->family.path[f] : NULL, *path = path_of(s, "witness", f);
        say(s, "full-order steps");
        if (!move(s, NULL, NULL, loads, choice->step, s->witness_steps, every(s), path))
            tool_fail(SP_NUMERICAL, loads, "the full-order model does not converge: take smaller steps");
        add_motion(&s->witness, loads, path, loads ? loads : "gravity");
    }
}

static void judge_rich(reduce_search *s)
{
    const reduce_motion *motions = s->witness.data;
    memset(s->rich_error, 0, sizeof s->rich_error);
    for (int64_t i = 0; i < s->witness.count; i++) {
        reduce_table table;
        measure(s, s->rich, s->rich_forces, NULL, s->choice->step, &motions[i], &table);
        take_errors(&table, 1, s->rich_error);
    }
}

/* Makes the rich model; frames of the witness join it while its error takes more than a quarter of the bound. */
static void make_rich(reduce_search *s)
{
    const double bound = s->choice->budget > 0 ? 0.01 : s->choice->error;
    int64_t columns = s->choice->rank;

    make_modes(s);
    make_responses(s);
    make_statics(s);
    make_witness(s);

    for (int round = 0;; round++) {
        say(s, "a rich model");
        combine(s, round, columns);
        s->rich_forces = make_forces(s, reduce_text(&s->commands, "rich%d-forces.npz", round), s->rich, s->rich_columns,
                                     0.003, &s->witness);
        judge_rich(s);
        tool_say("its error of %s is %.2g %% in %lld full-order steps", names[s->choice->quantity],
                 100 * s->rich_error[s->choice->quantity], (long long)s->witness_steps);
        if (s->rich_error[s->choice->quantity] <= 0.25 * bound / margin || round == ENRICHMENTS || late(s))
            break;

        const reduce_motion *motions = s->witness.data;
        for (int64_t i = 0; i < s->witness.count && round == 0; i++)
            add_candidate(s, motions[i].path);
        columns += MORE;
    }
}

/* The motion of a member, in place `i` of its list. */
static void add_member(reduce_search *s, sp_list *list, const char *kind, int64_t i, const reduce_member *member)
{
    reduce_commands *c = &s->commands;
    const char *path = reduce_path(c, reduce_text(c, "%s%lld.npz", kind, (long long)i)),
               *loads = reduce_write(c, reduce_text(c, "%s%lld.csv", kind, (long long)i),
                                     reduce_family_text(&s->family, member));
    if (!move(s, s->full ? NULL : s->rich, s->rich_forces, loads, s->choice->step, s->choice->steps, every(s), path))
        path = NULL;
    add_motion(list, loads, path, NULL);
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

static void make_motions(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const int64_t trained = reduce_family_trained(&s->family), files = s->family.count;

    if (s->full)
        make_witness(s);

    for (int64_t i = 0; i < trained && files; i++) {
        const reduce_member member = reduce_family_train(&s->family, i);
        say(s, reduce_text(c, "motion %lld of %lld", (long long)i + 1, (long long)(trained + s->choice->held_out)));
        add_member(s, &s->trained, "train", i, &member);
    }

    for (int64_t i = 0; i < s->choice->held_out && files && !(i > 0 && late(s)); i++) {
        const reduce_member member = reduce_family_draw(&s->family, i);
        say(s, reduce_text(c, "motion %lld of %lld", (long long)(trained + i) + 1,
                           (long long)(trained + s->choice->held_out)));
        add_member(s, &s->judges, "judge", i, &member);
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
    const int64_t corners = files ? reduce_family_corners(&s->family) : 0;
    for (int64_t i = 0; i < corners; i++) {
        const reduce_motion corner = ((const reduce_motion *)s->trained.data)[i];
        add_motion(&s->judges, corner.loads, corner.path, NULL);
    }

    /* The files themselves judge too: the witness where it has all steps, else their motion by the rich model. */
    const reduce_motion *motions = s->witness.data;
    for (int64_t i = 0; i < s->witness.count; i++) {
        const char *path = motions[i].path;
        if (s->witness_steps < s->choice->steps) {
            path = path_of(s, "file", i);
            if (!move(s, s->rich, s->rich_forces, motions[i].loads, s->choice->step, s->choice->steps, every(s), path))
                path = NULL;
        }
        add_motion(&s->judges, motions[i].loads, path, motions[i].name);
        if (!files) /* gravity alone has no members: its motion trains as well */
            add_motion(&s->trained, motions[i].loads, path, motions[i].name);
    }
}

/* ---- the basis, and its rank ---- */

static int64_t trained_of(const reduce_search *s, const reduce_basis *b)
{
    const int64_t corners = reduce_family_corners(&s->family);
    return b->corners && corners < s->trained.count ? corners : s->trained.count;
}

/* The principal directions of the motions, at most r. Returns how many. */
static int64_t make_basis(reduce_search *s, const reduce_basis *b, const char *path, int64_t r)
{
    const reduce_motion *motions = s->trained.data;
    words w = {0};

    add_all(&w, "masspca", s->choice->mesh);
    for (int64_t i = 0; i < trained_of(s, b); i++)
        if (motions[i].path)
            add(&w, motions[i].path);
    add_all(&w, "--inner", b->inner, "--equal-files");
    return make_columns(s, &w, r, path);
}

/* Where the point of a rank is in the list, or would be. */
static int64_t place_of(const sp_list *list, int64_t r)
{
    const reduce_point *points = list->data;
    int64_t at = 0;
    while (at < list->count && points[at].r < r)
        at++;
    return at;
}

/* The point of a rank, which is added where it is not known. */
static reduce_point *point_of(sp_list *list, int64_t r)
{
    reduce_point *points = list->data;
    const int64_t at = place_of(list, r);
    if (at < list->count && points[at].r == r)
        return &points[at];

    tool_list_add(list, 1, sizeof *points);
    points = list->data;
    memmove(&points[at + 1], &points[at], (size_t)(list->count - 1 - at) * sizeof *points);
    points[at] = (reduce_point){.r = r};
    return &points[at];
}

/* Measures ranks [count] on all that judge. Polynomials of all columns serve every rank; a cubature is made for each.
 */
static void try_ranks(reduce_search *s, reduce_basis *b, int64_t count, const int64_t *ranks)
{
    reduce_commands *c = &s->commands;
    const reduce_motion *motions = s->judges.data;
    const char *list = "";

    for (int64_t k = 0; k < count; k++)
        list = reduce_text(c, "%s%s%lld", list, k ? "," : "", (long long)ranks[k]);
    say(s, reduce_text(c, "errors of r = %s", list));

    for (int64_t k = 0; k < (s->polynomials ? 1 : count); k++) {
        const char *forces = s->polynomials ? b->forces
                                            : make_forces(s, reduce_text(c, "forces%lld.npz", (long long)ranks[k]),
                                                          b->path, ranks[k], 0.1 * s->choice->error, &s->trained);
        for (int64_t i = 0; i < s->judges.count; i++) {
            reduce_table table;
            if (!motions[i].path)
                continue;
            measure(s, b->path, forces, s->polynomials ? list : NULL, s->choice->step, &motions[i], &table);
            for (int64_t row = 1; row < table.rows; row++) {
                reduce_point *point = point_of(&b->points, s->polynomials ? ranks[row - 1] : ranks[k]);
                take_errors(&table, row, point->error);
                point->seconds = fmax(point->seconds, 1e-6 * reduce_table_value(&table, row, "us_per_step"));
            }
        }
    }
}

/* The smallest rank that keeps the bound, or with a budget the most accurate one within it; 0: none. */
static int64_t best_rank(const reduce_search *s, const reduce_basis *b)
{
    const reduce_point *points = b->points.data, *best = NULL;
    const int q = s->choice->quantity;

    for (int64_t i = 0; i < b->points.count; i++) {
        if (s->choice->budget > 0 && points[i].seconds <= 1e-6 * s->choice->budget && isfinite(points[i].error[q]) &&
            (!best || points[i].error[q] < best->error[q]))
            best = &points[i];
        if (!(s->choice->budget > 0) && !best && reduce_stated(s, &points[i], q) <= s->choice->error)
            best = &points[i];
    }
    return best ? best->r : 0;
}

/* Ranks above `tried`, coarse ones first, each some sixth larger than the one before; then those between the last one
 * that fails and the first one that does not. */
static void find_rank(reduce_search *s, reduce_basis *b, int64_t tried)
{
    enum { MOST_RANKS = 64 };
    int64_t ranks[MOST_RANKS] = {0}, count = 0;

    for (int64_t r = 1; r <= b->most && count < MOST_RANKS - 1; r += 1 + r / 6)
        if (r > tried)
            ranks[count++] = r;
    if (count && ranks[count - 1] != b->most)
        ranks[count++] = b->most;

    if (s->polynomials)
        try_ranks(s, b, count, ranks);
    for (int64_t low = 0, high = count - 1; !s->polynomials && low <= high;) {
        const int64_t middle = (low + high) / 2; /* a cubature for each: bisection */
        try_ranks(s, b, 1, &ranks[middle]);
        const bool good =
            reduce_stated(s, point_of(&b->points, ranks[middle]), s->choice->quantity) <= s->choice->error;
        low = good ? low : middle + 1;
        high = good ? middle - 1 : high;
    }

    b->chosen = best_rank(s, b);
    const reduce_point *points = b->points.data;
    int64_t below = 0;
    for (int64_t i = 0; i < b->points.count && points[i].r < b->chosen; i++)
        below = points[i].r;
    count = 0;
    for (int64_t r = below + 1; r < b->chosen && count < MOST_RANKS; r++)
        ranks[count++] = r;
    if (count && s->polynomials && !(s->choice->budget > 0))
        try_ranks(s, b, count, ranks);
    b->chosen = best_rank(s, b);
}

/* The most accurate point of a basis. */
static const reduce_point *best_point(const reduce_search *s, const reduce_basis *b)
{
    const reduce_point *points = b->points.data, *best = NULL;
    const int q = s->choice->quantity;

    for (int64_t i = 0; i < b->points.count; i++)
        if (!best || points[i].error[q] < best->error[q])
            best = &points[i];
    return best;
}

/* The error of the rank that was chosen, or where there is none the smallest of all ranks. */
static double error_of(const reduce_search *s, const reduce_basis *b)
{
    const reduce_point *points = b->points.data;
    return (b->chosen ? &points[place_of(&b->points, b->chosen)] : best_point(s, b))->error[s->choice->quantity];
}

/* Returns true if basis a is better than b: of two that keep the bound that with fewer coordinates, else that with the
 * smaller error. */
static bool is_better(const reduce_search *s, const reduce_basis *a, const reduce_basis *b)
{
    if (!a->chosen != !b->chosen)
        return a->chosen;
    if (a->chosen && !(s->choice->budget > 0))
        return a->chosen < b->chosen;
    return error_of(s, a) < error_of(s, b);
}

/* The rank of one basis, with up to `most` columns. */
static void try_basis(reduce_search *s, int number, int64_t most)
{
    reduce_commands *c = &s->commands;
    reduce_basis *b = &s->bases[number];
    const int64_t tried = b->most;

    if (tried && tried < FIRST) /* it has all columns there are */
        return;
    say(s, reduce_text(c, "principal directions in the %s of %s", b->inner,
                       b->corners ? "the corners of the family" : "all motions that are trained"));
    b->path = reduce_path(c, reduce_text(c, "principal%d-%lld.npz", number, (long long)most));
    b->most = make_basis(s, b, b->path, most);
    if (s->polynomials)
        b->forces = make_forces(s, reduce_text(c, "principal%d-%lld-forces.npz", number, (long long)most), b->path,
                                b->most, 0, NULL);
    find_rank(s, b, tried);
}

void reduce_find(reduce_search *s)
{
    const double members = (double)(reduce_family_trained(&s->family) + s->choice->held_out),
                 work = (double)s->body.dof_count * (double)s->choice->steps * members;
    s->full = work <= (s->polynomials ? full_work_polynomials : full_work);
    tool_say("%lld degrees of freedom, %lld steps: the reference is %s", (long long)s->body.dof_count,
             (long long)s->choice->steps, s->full ? "the full-order model" : "a rich reduced-order model");

    if (!s->full)
        make_rich(s);
    make_motions(s);
    if (!usable(&s->trained) || !usable(&s->judges))
        tool_fail(SP_NUMERICAL, NULL, "no motion under the loads converges: take smaller steps");
    /* More than FIRST columns only where they are needed; with a budget, the most accurate model may need all. Where
     * each rank needs a cubature of its own, a second basis would take too long. */
    const int bases = s->polynomials ? REDUCE_BASES : 1;
    const bool budget = s->choice->budget > 0;
    s->bases[0] = (reduce_basis){.inner = "energy"};
    s->bases[1] = (reduce_basis){.inner = "energy", .corners = true};
    s->bases[2] = (reduce_basis){.inner = "mass"};
    s->best = &s->bases[0];
    for (int round = 0; round < (budget ? 1 : 2) && !s->chosen; round++) {
        for (int i = 0; i < bases && (budget || !s->best->chosen || s->best->chosen > SMALL); i++) {
            try_basis(s, i, round || budget ? s->choice->rank : least(FIRST, s->choice->rank));
            if (is_better(s, &s->bases[i], s->best))
                s->best = &s->bases[i];
        }
        s->chosen = s->best->chosen;
    }
}

void reduce_explain(reduce_search *s)
{
    const reduce_point *best = best_point(s, s->best), *points = s->best->points.data;
    const reduce_choice *c = s->choice;
    const int q = c->quantity;
    FILE *stream = tool_stdout();

    if (c->budget > 0)
        fprintf(stream, "no model takes a step in %g us: one of %lld coordinates takes %.3g us\n", c->budget,
                (long long)points[0].r, 1e6 * points[0].seconds);
    else if (margin * s->rich_error[q] > 0.5 * c->error)
        fprintf(
            stream,
            "no model keeps an error of %s of %g %%: the rich model of %lld columns has %.2g %% itself; more columns "
            "(-r), damping or loads without jumps are needed\n",
            names[q], 100 * c->error, (long long)s->rich_columns, 100 * s->rich_error[q]);
    else
        fprintf(stream, "no model of up to %lld coordinates keeps an error of %s of %g %%: the best one has %.2g %%\n",
                (long long)s->best->most, names[q], 100 * c->error, 100 * reduce_stated(s, best, q));

    if (c->best && isfinite(best->error[q]))
        s->chosen = best->r;
    else if (!(c->budget > 0))
        tool_say("--best writes the most accurate model, of %lld coordinates; it goes on from %s", (long long)best->r,
                 s->commands.folder);
}

/* ---- the model ---- */

double reduce_final_error(const reduce_search *s)
{
    const int q = s->choice->quantity;
    return fmax(reduce_stated(s, &s->final, q), s->measured[q]);
}

/* The largest errors of the files that are written, under the loads of these motions. */
static void measure_final(reduce_search *s, const sp_list *list, double *error)
{
    const reduce_motion *motions = list->data;
    for (int64_t i = 0; i < list->count; i++) {
        reduce_table table;
        if (!motions[i].path)
            continue;
        measure(s, s->basis, s->forces, NULL, s->choice->step, &motions[i], &table);
        take_errors(&table, 1, error);
        s->final.seconds = fmax(s->final.seconds, 1e-6 * reduce_table_value(&table, 1, "us_per_step"));
    }
}

/* The change with half the time step, under the first file. */
static void measure_step(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const reduce_choice *choice = s->choice;
    const reduce_motion first = *(const reduce_motion *)s->witness.data;
    char half[TOOL_SHELL_REAL];
    const reduce_motion fine = {.loads = first.loads, .path = reduce_path(c, "half.npz")};
    reduce_table table;

    tool_shell_real(0.5 * strtod(choice->step, NULL), half);
    if (!move(s, s->basis, s->forces, first.loads, half, 2 * choice->steps, 2 * every(s), fine.path)) {
        s->step_error[choice->quantity] = INFINITY;
        return;
    }

    measure(s, s->basis, s->forces, NULL, choice->step, &fine, &table);
    take_errors(&table, 1, s->step_error);
    if (s->step_error[choice->quantity] > choice->error)
        tool_warn(choice->mesh, "half the time step changes %s by %.2g %%: take smaller steps than --dt %s",
                  names[choice->quantity], 100 * s->step_error[choice->quantity], choice->step);
}

bool reduce_write_model(reduce_search *s)
{
    reduce_commands *c = &s->commands;
    const reduce_choice *choice = s->choice;
    words w = {0};

    s->basis = reduce_text(c, "%s-basis.npz", choice->name);
    s->forces = reduce_text(c, "%s-%s.npz", choice->name, s->polynomials ? "poly" : "cubature");
    make_basis(s, s->best, s->basis, s->chosen);
    add_all(&w, s->polynomials ? "polycoef" : "cubature", choice->mesh, s->basis);
    if (!s->polynomials)
        add_poses(s, &w, &s->trained, 0.1 * choice->error);
    add_all(&w, "-o", s->forces);
    reduce_run_words(c, w.word);

    s->final = (reduce_point){.r = s->chosen};
    measure_final(s, &s->judges, s->final.error);
    measure_final(s, &s->witness, s->measured);
    measure_step(s);

    /* The files are not those that judged: their last digits differ, and a cubature's elements. */
    const double error = reduce_final_error(s);
    const bool kept = choice->budget > 0 || error <= choice->error;
    if (!kept && !choice->best)
        fprintf(tool_stdout(), "the model that was written does not keep %g %%: its error of %s is %.2g %%\n",
                100 * choice->error, names[choice->quantity], 100 * error);
    return kept;
}

/* ---- begin and end ---- */

void reduce_open(reduce_search *s)
{
    const reduce_choice *c = s->choice;
    s->start = tool_seconds();
    tool_read_mesh(c->mesh, NULL, &s->mesh);
    tool_check(sp_fe_space_new(s->context, &s->mesh.mesh, &s->body), s->mesh.path);
    if (!s->mesh.mesh.fixed_count)
        tool_fail(SP_INPUT, c->mesh, "it has no fixed vertices: bodies that are free are not searched for yet");

    s->polynomials = true;
    for (int64_t m = 0; m < s->mesh.mesh.material_count; m++)
        s->polynomials &= sp_material_quadratic(&s->mesh.mesh.materials[m]);

    s->family = (reduce_family){
        .low = c->low, .high = c->high, .duration = strtod(c->step, NULL) * (double)c->steps, .seed = c->seed};
    reduce_family_read(s->context, &s->mesh, &c->loads, &s->family);
}

void reduce_close(reduce_search *s, bool found)
{
    if ((found || s->choice->best) && !s->choice->keep)
        reduce_commands_remove(&s->commands);
    sp_list_free(&s->candidates);
    sp_list_free(&s->trained);
    sp_list_free(&s->judges);
    sp_list_free(&s->witness);
    for (int i = 0; i < REDUCE_BASES; i++)
        sp_list_free(&s->bases[i].points);
    reduce_commands_free(&s->commands);
    reduce_family_free(&s->family);
    sp_fe_space_free(&s->body);
    sp_mesh_free(&s->mesh.mesh);
}
