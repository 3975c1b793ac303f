#include "linear/symbolic.h"

#include <math.h>
#include <string.h>

/* A supernode of up to `columns` columns may have this share of zeros in its trapezoid, those of earlier merges
 * included. In narrow supernodes calls of BLAS cost more than the arithmetic on added zeros. */
static const struct {
    int64_t columns;
    double zeros;
} relaxed[] = {{4, 1}, {16, 0.8}, {48, 0.1}, {INT64_MAX, 0.05}};

/* A subtree is one unit if it has at most 1/SUBTREES of all flops, or at most LEAST_WORK flops (about a millisecond);
 * the front of a supernode above these is divided if it has more. */
enum { SUBTREES = 128 };
#define LEAST_WORK 4e6

/* Factorizations and solves have about this many tasks at most. */
enum { MOST_TASKS = 4096 };

/* The elimination tree in postorder, and what is known of each column. */
typedef struct tree {
    sp_pool pool;
    sp_sparse pattern;       /* of the matrix, both triangles */
    int32_t *row, *position; /* [n], as in sp_symbolic */
    int32_t *parent;         /* [n], −1 for a root */
    int32_t *count;          /* [n] nonzeros of the column of L, diagonal included */
} tree;

/* parent of a column: the row of its first nonzero below the diagonal. `ancestor` shortens the paths that were
 * followed. */
static void find_parents(const tree *t, int32_t *ancestor)
{
    for (int32_t j = 0; j < t->pattern.order; j++) {
        const int64_t row = t->row[j];
        t->parent[j] = ancestor[j] = -1;

        for (int64_t e = t->pattern.start[row]; e < t->pattern.start[row + 1]; e++)
            for (int32_t i = t->position[t->pattern.index[e]], next; i >= 0 && i < j; i = next) {
                next = ancestor[i];
                ancestor[i] = j;
                if (next < 0)
                    t->parent[i] = j;
            }
    }
}

/* Renumbers the columns such that the descendants of each stand directly before it. child, next and place [n] are
 * scratch. */
static void order_tree(tree *t, int32_t *child, int32_t *next, int32_t *place)
{
    const int32_t n = (int32_t)t->pattern.order;
    int32_t roots = -1, at = 0;

    /* Lists of children, ascending: a child that stands directly before its parent stays there. */
    for (int32_t j = 0; j < n; j++)
        child[j] = -1;
    for (int32_t j = n - 1; j >= 0; j--) {
        int32_t *list = t->parent[j] < 0 ? &roots : &child[t->parent[j]];
        next[j] = *list;
        *list = j;
    }

    /* Down to the first leaf, and up while there is no other child. */
    for (int32_t j = roots; j >= 0;) {
        if (child[j] >= 0) {
            const int32_t down = child[j];
            child[j] = -1;
            j = down;
            continue;
        }
        place[j] = at++;
        j = next[j] >= 0 ? next[j] : t->parent[j];
    }

    for (int32_t j = 0; j < n; j++) {
        child[place[j]] = t->row[j];
        next[place[j]] = t->parent[j] < 0 ? -1 : place[t->parent[j]];
    }
    memcpy(t->row, child, (size_t)n * sizeof *child);
    memcpy(t->parent, next, (size_t)n * sizeof *next);
    for (int32_t j = 0; j < n; j++)
        t->position[t->row[j]] = j;
}

static int32_t find_root(int32_t *ancestor, int32_t j)
{
    int32_t root = j;

    while (ancestor[root] != root)
        root = ancestor[root];
    while (ancestor[j] != root) {
        const int32_t up = ancestor[j];
        ancestor[j] = root;
        j = up;
    }
    return root;
}

/* The nonzero columns of row i of L form its row subtree, whose leaves are those j where A_ij is nonzero and no
 * descendant of j was seen in the row before. Each leaf adds one to the count of its column and takes one from that of
 * the least common ancestor of it and the leaf before; sums over the elimination tree are the counts. first, most, last
 * and ancestor [n] are scratch. */
static void count_columns(const tree *t, int32_t *first, int32_t *most, int32_t *last, int32_t *ancestor)
{
    const int32_t n = (int32_t)t->pattern.order;

    /* The first descendant of each column; a column without another one is a leaf of the tree. */
    for (int32_t j = 0; j < n; j++) {
        first[j] = most[j] = last[j] = -1;
        ancestor[j] = j;
    }
    for (int32_t j = 0; j < n; j++) {
        t->count[j] = first[j] < 0;
        for (int32_t i = j; i >= 0 && first[i] < 0; i = t->parent[i])
            first[i] = j;
    }

    for (int32_t j = 0; j < n; j++) {
        const int64_t row = t->row[j];
        if (t->parent[j] >= 0)
            t->count[t->parent[j]]--;

        for (int64_t e = t->pattern.start[row]; e < t->pattern.start[row + 1]; e++) {
            const int32_t i = t->position[t->pattern.index[e]];
            if (i <= j || first[j] <= most[i])
                continue;
            most[i] = first[j];
            t->count[j]++;
            if (last[i] >= 0)
                t->count[find_root(ancestor, last[i])]--;
            last[i] = j;
        }
        if (t->parent[j] >= 0)
            ancestor[j] = t->parent[j];
    }

    for (int32_t j = 0; j < n; j++)
        if (t->parent[j] >= 0)
            t->count[t->parent[j]] += t->count[j];
}

static int make_tree(sp_context *context, const sp_sparse *matrix, const int64_t *permutation, tree *t)
{
    const int64_t n = matrix->order;
    sp_pool scratch = {0};
    int32_t *work[4];

    if (n > INT32_MAX)
        return sp_fail(context, SP_SYSTEM, "a matrix of %lld rows is too large for a factorization (at most %d)",
                       (long long)n, INT32_MAX);

    *t = (tree){0};
    SP_PASS(sp_sparse_pattern(context, matrix, &t->pattern));
    t->row = sp_pool_raw(&t->pool, n, sizeof *t->row);
    t->position = sp_pool_raw(&t->pool, n, sizeof *t->position);
    t->parent = sp_pool_raw(&t->pool, n, sizeof *t->parent);
    t->count = sp_pool_raw(&t->pool, n, sizeof *t->count);
    for (int k = 0; k < 4; k++)
        work[k] = sp_pool_raw(&scratch, n, sizeof *work[k]);

    const int status = sp_allocated(context, !scratch.failed && !t->pool.failed);
    if (status == SP_OK) {
        for (int64_t j = 0; j < n; j++) {
            t->row[j] = (int32_t)permutation[j];
            t->position[permutation[j]] = (int32_t)j;
        }
        find_parents(t, work[0]);
        order_tree(t, work[0], work[1], work[2]);
        count_columns(t, work[0], work[1], work[2], work[3]);
    }
    sp_pool_free(&scratch);
    return status;
}

static void tree_free(tree *t)
{
    sp_sparse_free(&t->pattern);
    sp_pool_free(&t->pool);
}

/* Entries of a trapezoid of `columns` columns and `rows` rows. */
static double trapezoid(int64_t columns, int64_t rows)
{
    return (double)columns * (double)rows - 0.5 * (double)columns * (double)(columns - 1);
}

/* A supernode while it grows: its first column, its rows, and the zeros that merges have added. */
typedef struct group {
    int64_t first, rows;
    double zeros;
} group;

static bool worth_merging(const group *below, const group *above, int64_t end, double *zeros)
{
    const int64_t inner = above->first - below->first, outer = end - above->first, columns = inner + outer;
    const double entries = trapezoid(columns, inner + above->rows);
    int k = 0;

    *zeros = below->zeros + above->zeros + entries - trapezoid(inner, below->rows) - trapezoid(outer, above->rows);
    while (columns > relaxed[k].columns)
        k++;
    return *zeros <= relaxed[k].zeros * entries;
}

/* Finds the fundamental supernodes, columns with the same rows below them, and merges each with the supernode before it
 * as long as that is its child and the merge adds few zeros. Returns the number of supernodes. children [n] is scratch.
 */
static int64_t find_supernodes(const tree *t, int32_t *children, group *groups)
{
    const int64_t n = t->pattern.order;
    int64_t count = 0;

    memset(children, 0, (size_t)n * sizeof *children);
    for (int64_t j = 0; j < n; j++)
        if (t->parent[j] >= 0)
            children[t->parent[j]]++;

    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n && t->parent[end - 1] == end && children[end] == 1 && t->count[end] == t->count[end - 1] - 1;)
            end++;
        group own = {.first = first, .rows = t->count[first]};

        double zeros;
        while (count > 0 && t->parent[own.first - 1] >= 0 && t->parent[own.first - 1] < end &&
               worth_merging(&groups[count - 1], &own, end, &zeros)) {
            const group *below = &groups[--count];
            own = (group){.first = below->first, .rows = own.rows + own.first - below->first, .zeros = zeros};
        }
        groups[count++] = own;
    }
    return count;
}

/* Row i belongs to the supernodes on the paths from the nonzeros A_ik, k < i, to its own: rows are added in their
 * order. supernode [n] is that of each column; mark and fill [count] are scratch. */
static void list_rows(const tree *t, sp_symbolic *s, const int32_t *supernode, int32_t *mark, int64_t *fill)
{
    for (int64_t k = 0; k < s->count; k++) {
        mark[k] = -1;
        fill[k] = s->start[k];
    }

    for (int32_t i = 0; i < s->order; i++) {
        const int64_t row = s->row[i];
        s->index[fill[supernode[i]]++] = i;
        mark[supernode[i]] = i;

        for (int64_t e = t->pattern.start[row]; e < t->pattern.start[row + 1]; e++) {
            const int32_t column = s->position[t->pattern.index[e]];
            if (column >= i)
                continue;
            for (int32_t k = supernode[column]; mark[k] != i; k = s->parent[k]) {
                s->index[fill[k]++] = i;
                mark[k] = i;
            }
        }
    }
}

/* Flops of the elimination of a supernode: Σ (rows − j)² over its columns. */
static double work_of(const sp_symbolic *s, int64_t k)
{
    const double c = (double)sp_symbolic_columns(s, k), r = (double)sp_symbolic_rows(s, k);
    return c * r * r - c * (c - 1) * r + c * (c - 1) * (2 * c - 1) / 6;
}

/* Divides the tree into units. Scratch: work [count], the flops of the subtree below each supernode, and
 * owner [count], the unit that ends with each supernode. */
static void find_units(sp_symbolic *s, double *work, int64_t *owner)
{
    double total = 0;

    memset(work, 0, (size_t)s->count * sizeof *work);
    for (int64_t k = 0; k < s->count; k++) {
        work[k] += work_of(s, k);
        total += work_of(s, k);
        if (s->parent[k] >= 0)
            work[s->parent[k]] += work[k];
    }

    const double least = fmax(total / SUBTREES, LEAST_WORK);
    s->places = s->order;
    for (int64_t k = 0, first = 0; k < s->count; k++) {
        const bool above = work[k] > least, last = s->parent[k] < 0 || work[s->parent[k]] > least;
        if (!above && !last)
            continue;
        owner[k] = s->unit_count;
        s->units[s->unit_count++] = (sp_unit){.first = first,
                                              .last = k,
                                              .child = -1,
                                              .sibling = -1,
                                              .shared = above && work_of(s, k) > LEAST_WORK,
                                              .outside = s->places};
        s->places += sp_symbolic_rows(s, k) - sp_symbolic_columns(s, k);
        first = k + 1;
    }

    /* The parents, and lists of children, which ascend. */
    for (int64_t u = s->unit_count - 1; u >= 0; u--) {
        sp_unit *own = &s->units[u];
        const int32_t parent = s->parent[own->last];
        own->parent = parent < 0 ? s->unit_count : owner[parent];
        if (parent >= 0) {
            own->sibling = s->units[own->parent].child;
            s->units[own->parent].child = u;
        }
    }
}

/* Sets `inside` of the units, and where their parents have their rows. where [order] and targets, one for each row
 * outside of a unit, are memory for that. */
static void place_rows(sp_symbolic *s, int32_t *where, int32_t *targets)
{
    for (int64_t u = 0; u < s->unit_count; u++) {
        sp_unit *own = &s->units[u];
        const int64_t end = s->first[own->last + 1], from = s->start[own->last] + sp_symbolic_columns(s, own->last);
        own->target = targets + (own->outside - s->order);

        for (int64_t k = from; k < s->start[own->last + 1]; k++)
            where[s->index[k]] = (int32_t)(own->outside + k - from);
        for (int64_t k = s->start[own->first]; k < s->start[own->last + 1]; k++)
            s->inside[k] = s->index[k] < end ? s->index[k] : where[s->index[k]];

        for (int64_t c = own->child; c >= 0; c = s->units[c].sibling) {
            const int64_t last = s->units[c].last, below = s->start[last] + sp_symbolic_columns(s, last);
            for (int64_t k = below; k < s->start[last + 1]; k++)
                s->units[c].target[k - below] = s->index[k] < end ? s->index[k] : where[s->index[k]];
        }
    }
}

int sp_symbolic_new(sp_context *context, const sp_sparse *matrix, const int64_t *permutation, sp_symbolic *s)
{
    const int64_t n = matrix->order;
    sp_pool scratch = {0};
    tree t = {0};
    int status;

    *s = (sp_symbolic){.order = n};
    SP_TRY(make_tree(context, matrix, permutation, &t));
    s->row = sp_pool_copy(&s->pool, t.row, n, sizeof *s->row);
    s->position = sp_pool_copy(&s->pool, t.position, n, sizeof *s->position);
    group *groups = sp_pool_raw(&scratch, n, sizeof *groups);
    int32_t *supernode = sp_pool_raw(&scratch, n, sizeof *supernode);
    SP_TRY(sp_allocated(context, !scratch.failed && !s->pool.failed));

    for (int64_t j = 0; j < n; j++) {
        s->nonzeros += t.count[j];
        s->flops += (double)t.count[j] * t.count[j];
    }

    const int64_t count = s->count = find_supernodes(&t, supernode, groups);
    s->first = sp_pool_raw(&s->pool, count + 1, sizeof *s->first);
    s->parent = sp_pool_raw(&s->pool, count, sizeof *s->parent);
    s->start = sp_pool_raw(&s->pool, count + 1, sizeof *s->start);
    s->value = sp_pool_raw(&s->pool, count + 1, sizeof *s->value);
    int32_t *mark = sp_pool_raw(&scratch, count, sizeof *mark);
    int64_t *fill = sp_pool_raw(&scratch, count, sizeof *fill);
    SP_TRY(sp_allocated(context, !scratch.failed && !s->pool.failed));

    /* The sizes of the supernodes, and where each begins in the lists. */
    s->start[0] = s->value[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t end = k + 1 < count ? groups[k + 1].first : n;
        s->first[k] = groups[k].first;
        s->start[k + 1] = s->start[k] + groups[k].rows;
        s->value[k + 1] = s->value[k] + groups[k].rows * (end - groups[k].first);
        for (int64_t j = groups[k].first; j < end; j++)
            supernode[j] = (int32_t)k;
    }
    s->first[count] = n;
    for (int64_t k = 0; k < count; k++) {
        const int32_t up = t.parent[s->first[k + 1] - 1];
        s->parent[k] = up < 0 ? -1 : supernode[up];
    }

    s->index = sp_pool_raw(&s->pool, s->start[count], sizeof *s->index);
    SP_TRY(sp_allocated(context, s->index));
    list_rows(&t, s, supernode, mark, fill);

    s->units = sp_pool_raw(&s->pool, count, sizeof *s->units);
    double *work = sp_pool_raw(&scratch, count, sizeof *work);
    SP_TRY(sp_allocated(context, s->units && work));
    find_units(s, work, fill);
    if (s->places > INT32_MAX) {
        status = sp_fail(context, SP_SYSTEM, "a factor with %lld rows of fronts is too large", (long long)s->places);
        goto done;
    }
    s->inside = sp_pool_raw(&s->pool, s->start[count], sizeof *s->inside);
    int32_t *targets = sp_pool_raw(&s->pool, s->places - n, sizeof *targets),
            *where = sp_pool_raw(&scratch, n, sizeof *where);
    SP_TRY(sp_allocated(context, !scratch.failed && !s->pool.failed));
    place_rows(s, where, targets);
done:
    sp_pool_free(&scratch);
    tree_free(&t);
    if (status != SP_OK)
        sp_symbolic_free(s);
    return status;
}

int64_t sp_symbolic_batch(const sp_symbolic *s, int64_t u, int step)
{
    const int64_t most = 1 + s->unit_count / MOST_TASKS, parent = s->units[u].parent;
    int64_t count = 1;

    if (s->units[u].child >= 0)
        return 1;
    for (int64_t next = u + step; count < most && next >= 0 && next < s->unit_count; next += step) {
        if (s->units[next].child >= 0 || s->units[next].parent != parent)
            break;
        count++;
    }
    return count;
}

void sp_symbolic_free(sp_symbolic *symbolic)
{
    sp_pool_free(&symbolic->pool);
    *symbolic = (sp_symbolic){0};
}

int sp_symbolic_nonzeros(sp_context *context, const sp_sparse *matrix, const int64_t *permutation, double *nonzeros)
{
    tree t = {0};
    const int status = make_tree(context, matrix, permutation, &t);

    if (status == SP_OK) {
        *nonzeros = 0;
        for (int64_t j = 0; j < matrix->order; j++)
            *nonzeros += t.count[j];
    }
    tree_free(&t);
    return status;
}
