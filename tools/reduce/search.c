#include "tools/reduce/moves.h"

#include <math.h>
#include <string.h>

enum {
    FIRST = 30, /* columns of the first bases; others have as many as are allowed */
    SMALL = 12, /* a model of so few coordinates is not compared with those of other bases */
};

/* Errors may be larger under loads that did not judge. */
const double reduce_margin = 1.25;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

double reduce_stated(const reduce_search *s, const reduce_point *point, int quantity)
{
    const double step = s->choice->step ? 0 : s->step_error[quantity];
    const double stated = reduce_margin * (point->error[quantity] + s->rich_error[quantity]) + step;
    return fmax(stated, point->measured[quantity]);
}

/* ---- the basis, and its rank ---- */

static int64_t trained_of(const reduce_search *s, const reduce_basis *b)
{
    const int64_t corners = reduce_family_corners(&s->family);
    return b->corners && corners < s->trained.count ? corners : s->trained.count;
}

int64_t reduce_make_basis(reduce_search *s, const reduce_basis *b, const char *path, int64_t r)
{
    const reduce_motion *motions = s->trained.data;
    reduce_words w = {0};

    reduce_add_all(&w, "masspca", s->choice->mesh);
    for (int64_t i = 0; i < trained_of(s, b); i++)
        if (motions[i].path)
            reduce_add(&w, motions[i].path);
    reduce_add_all(&w, "--inner", b->inner, "--equal-files");
    if (s->free)
        reduce_add(&w, "--remove-rigid");
    return reduce_make_columns(s, &w, r, path);
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

/* Measures a model beside a motion, at the ranks of `list` (NULL: at its own, ranks[0]), as a judge or as the witness.
 */
static void try_motion(reduce_search *s, reduce_basis *b, const reduce_model *model, const char *list,
                       const int64_t *ranks, const reduce_motion *motion, bool witness)
{
    reduce_table table;

    if (!motion->path)
        return;
    reduce_measure(s, model, list, s->step, motion, &table);
    for (int64_t row = 1; row < table.rows; row++) {
        reduce_point *point = point_of(&b->points, ranks[row - 1]);
        reduce_take_errors(s, &table, row, witness ? point->measured : point->error);
        point->seconds = fmax(point->seconds, 1e-6 * reduce_table_value(&table, row, "us_per_step"));
    }
}

/* Measures ranks [count] on all that judge, and on the full-order steps of the witness: they are the beginning of a
 * motion, and errors are relative to the motion that they are measured on. Polynomials of all columns serve every rank;
 * a cubature is made for each. */
static void try_ranks(reduce_search *s, reduce_basis *b, int64_t count, const int64_t *ranks)
{
    reduce_commands *c = &s->commands;
    const reduce_motion *judges = s->judges.data, *witness = s->witness.data;
    const char *list = "";

    for (int64_t k = 0; k < count; k++)
        list = reduce_text(c, "%s%s%lld", list, k ? "," : "", (long long)ranks[k]);
    reduce_say(s, reduce_text(c, "errors of r = %s", list));

    for (int64_t k = 0; k < (s->polynomials ? 1 : count); k++) {
        reduce_model model = b->model;
        model.r = s->polynomials ? 0 : ranks[k];
        if (!s->polynomials)
            model.forces = reduce_make_forces(s, reduce_numbered(s, "forces", ranks[k]), model.basis, ranks[k],
                                              0.1 * s->choice->error, &s->trained);
        for (int64_t i = 0; i < s->judges.count; i++)
            try_motion(s, b, &model, s->polynomials ? list : NULL, ranks + k, &judges[i], false);
        if (s->witness_steps < s->steps)
            for (int64_t i = 0; i < s->witness.count; i++)
                try_motion(s, b, &model, s->polynomials ? list : NULL, ranks + k, &witness[i], true);
    }
}

/* The smallest rank that keeps the bound, or with a budget the most accurate one within it; 0: none. */
static int64_t best_rank(const reduce_search *s, const reduce_basis *b)
{
    const reduce_point *points = b->points.data, *best = NULL;
    const int q = s->choice->quantity;

    for (int64_t i = 0; i < b->points.count; i++) {
        const double stated = reduce_stated(s, &points[i], q);
        if (s->choice->budget > 0 && points[i].seconds <= 1e-6 * s->choice->budget && isfinite(stated) &&
            (!best || stated < reduce_stated(s, best, q)))
            best = &points[i];
        if (!(s->choice->budget > 0) && !best && stated <= s->choice->error)
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
        if (!best || reduce_stated(s, &points[i], q) < reduce_stated(s, best, q))
            best = &points[i];
    return best;
}

/* The error of the rank that was chosen, or where there is none the smallest of all ranks. */
static double error_of(const reduce_search *s, const reduce_basis *b)
{
    const reduce_point *points = b->points.data, *point = best_point(s, b);
    if (b->chosen)
        point = &points[place_of(&b->points, b->chosen)];
    return reduce_stated(s, point, s->choice->quantity);
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
    reduce_say(s, reduce_text(c, "principal directions in the %s of %s", b->inner,
                              b->corners ? "the corners of the family" : "all motions that are trained"));
    b->model.basis = reduce_path(c, reduce_text(c, "principal%d-%lld.npz", number, (long long)most));
    b->most = reduce_make_basis(s, b, b->model.basis, most);
    if (s->polynomials)
        b->model.forces = reduce_make_forces(
            s, reduce_path(c, reduce_text(c, "principal%d-%lld-forces.npz", number, (long long)most)), b->model.basis,
            b->most, 0, NULL);
    find_rank(s, b, tried);
}

void reduce_find(reduce_search *s)
{
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
            reduce_check_compared(s);
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
    else if (reduce_margin * s->rich_error[q] > 0.5 * c->error)
        fprintf(
            stream,
            "no model keeps an error of %s of %g %%: the rich model of %lld columns has %.2g %% itself; more columns "
            "(-r), damping or loads without jumps are needed\n",
            reduce_quantity_name[q], 100 * c->error, (long long)s->rich_columns, 100 * s->rich_error[q]);
    else
        fprintf(stream, "no model of up to %lld coordinates keeps an error of %s of %g %%: the best one has %.2g %%\n",
                (long long)s->best->most, reduce_quantity_name[q], 100 * c->error, 100 * reduce_stated(s, best, q));

    if (c->best && isfinite(reduce_stated(s, best, q)))
        s->chosen = best->r;
    else if (!(c->budget > 0))
        tool_say("--best writes the most accurate model, of %lld coordinates; it goes on from %s", (long long)best->r,
                 s->commands.folder);
}
