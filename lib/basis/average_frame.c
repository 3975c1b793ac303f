#include "basis/average_frame.h"

#include "base/vec3.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 6, LEAF = 8, MOST = 3 * LEAF }; /* vertices and displacements of the smallest groups */

typedef struct entry {
    int64_t row, column;
    double value;
} entry;

/* A vertex on its way to a group. */
typedef struct place {
    double along;
    int64_t within; /* its number in the interface */
} place;

typedef struct builder {
    sp_context *context;
    const sp_mesh *mesh;
    const sp_interface *interface;
    double size;       /* m, by which moments are divided */
    place *places;     /* [vertices] in the order of the groups */
    double *represent; /* [3·vertices, FRAME, by rows] in the order of places: the coordinates of the largest groups */
    sp_list entries, groups; /* of entry; int64_t: the group of each column */
    int64_t group_count;
} builder;

/* A matrix by columns, and its first FRAME of them as those of the next group. */
typedef struct group_basis {
    int count; /* rows and columns of Q */
    double Q[MOST * MOST], mean[FRAME * FRAME];
} group_basis;

static void arm(const builder *b, int64_t at, double r[3])
{
    sp_subtract3(b->mesh->vertices + 3 * b->interface->vertices[b->places[at].within], b->interface->origin, r);
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return (x->within > y->within) - (x->within < y->within);
}

/* Sorts the places along the longest side of their box. */
static void sort_places(builder *b, int64_t first, int64_t end)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, r[3];
    int axis = 0;

    for (int64_t i = first; i < end; i++) {
        arm(b, i, r);
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], r[c]);
            high[c] = fmax(high[c], r[c]);
        }
    }

    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[axis] - low[axis])
            axis = c;

    for (int64_t i = first; i < end; i++) {
        arm(b, i, r);
        b->places[i].along = r[axis];
    }

    qsort(b->places + first, (size_t)(end - first), sizeof *b->places, compare_places);
}

/* The mean motion of unit displacements of the vertices: transposed [3·count, FRAME, column major]. */
static void mean_of_vertices(const builder *b, int64_t first, int64_t end, double *transposed)
{
    const int64_t rows = 3 * (end - first);
    memset(transposed, 0, (size_t)(FRAME * rows) * sizeof *transposed);
    for (int64_t i = first; i < end; i++) {
        const double share = b->interface->share[b->places[i].within];
        double r[3], moment[3];
        arm(b, i, r);

        /* The moment of a unit displacement e is r × e. */
        for (int c = 0; c < 3; c++) {
            const double unit[3] = {c == 0, c == 1, c == 2};
            const int64_t row = 3 * (i - first) + c;
            sp_cross3(r, unit, moment);
            transposed[c * rows + row] = share;
            for (int k = 0; k < 3; k++)
                transposed[(3 + k) * rows + row] = share * moment[k] / b->size;
        }
    }
}

/* Q and R of a transposed mean motion [count, FRAME]. */
static int factor(sp_context *context, int count, double *transposed, group_basis *basis)
{
    double tau[FRAME];

    basis->count = count;
    memset(basis->Q, 0, sizeof basis->Q);

    if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, count, FRAME, transposed, count, tau) != 0)
        return sp_fail_memory(context);

    /* R belongs to the next larger group, and Q is formed in place. */
    for (int i = 0; i < FRAME; i++)
        for (int j = 0; j < FRAME; j++)
            basis->mean[i * FRAME + j] = i <= j ? transposed[j * count + i] : 0;
    memcpy(basis->Q, transposed, (size_t)(FRAME * count) * sizeof *basis->Q);
    return LAPACKE_dorgqr(LAPACK_COL_MAJOR, count, count, FRAME, basis->Q, count, tau) == 0 ? SP_OK
                                                                                            : sp_fail_memory(context);
}

/* Adds the columns of a group, and replaces the coordinates of its halves by its own. In a smallest group each
 * displacement is a coordinate. */
static int add_columns(builder *b, int64_t first, int64_t middle, int64_t end, const group_basis *basis)
{
    const int n = basis->count, columns = n - FRAME;
    const bool smallest = middle < 0;
    int64_t at = b->groups.count;

    int64_t *group = sp_list_add(&b->groups, columns, sizeof *group);
    entry *to = sp_list_add(&b->entries, 3 * (end - first) * columns, sizeof *to);
    SP_PASS(sp_allocated(b->context, group && to));

    for (int j = 0; j < columns; j++)
        group[j] = b->group_count;
    b->group_count++;

    /* In a smallest group a displacement is a row of Q. In a larger one it is known by the six coordinates of its half,
     * each of which is a row of Q. */
    for (int64_t row = 3 * first; row < 3 * end; row++) {
        double *own = b->represent + FRAME * row, made[MOST];
        const int64_t offset = smallest ? row - 3 * first : row < 3 * middle ? 0 : FRAME;
        for (int j = 0; j < n; j++) {
            const double *q = basis->Q + j * n + offset;
            made[j] = smallest ? *q : 0;
            if (smallest)
                continue;
            for (int k = 0; k < FRAME; k++)
                made[j] += own[k] * q[k];
        }

        /* The first six coordinates represent the group in the next one, the others are columns of the basis. */
        memcpy(own, made, FRAME * sizeof *own);
        for (int j = 0; j < columns; j++)
            *to++ = (entry){.row = 3 * b->places[row / 3].within + row % 3, .column = at + j, .value = made[FRAME + j]};
    }
    return SP_OK;
}

/* Divides the places [first, end). mean [FRAME, FRAME, by rows] receives the transpose of the mean motion of unit
 * values of the six coordinates that represent them. */
static int divide(builder *b, int64_t first, int64_t end, double *mean)
{
    double transposed[MOST * FRAME], half[2][FRAME * FRAME];
    const int64_t middle = end - first > LEAF ? first + (end - first) / 2 : -1;
    const int count = middle < 0 ? (int)(3 * (end - first)) : 2 * FRAME;
    group_basis basis;

    if (middle < 0)
        mean_of_vertices(b, first, end, transposed);
    else {
        sort_places(b, first, end);
        SP_PASS(divide(b, first, middle, half[0]));
        SP_PASS(divide(b, middle, end, half[1]));

        /* Bᵀ of the group has the six coordinates of each half as rows: the transposes of their Rᵀ. */
        for (int k = 0; k < 2 * FRAME; k++)
            for (int j = 0; j < FRAME; j++)
                transposed[j * 2 * FRAME + k] = half[k / FRAME][k % FRAME * FRAME + j];
    }

    SP_PASS(factor(b->context, count, transposed, &basis));
    SP_PASS(add_columns(b, first, middle, end, &basis));
    memcpy(mean, basis.mean, sizeof basis.mean);
    return SP_OK;
}

/* Σ s (|r|² I − r rᵀ) over the vertices, by rows. */
static void second_moment(const builder *b, double J[9])
{
    memset(J, 0, 9 * sizeof *J);
    for (int64_t k = 0; k < b->interface->vertex_count; k++) {
        double r[3];
        sp_subtract3(b->mesh->vertices + 3 * b->interface->vertices[k], b->interface->origin, r);
        for (int i = 0; i < 9; i++)
            J[i] += b->interface->share[k] * ((i % 4 == 0 ? sp_dot3(r, r) : 0) - r[i / 3] * r[i % 3]);
    }
}

/* The displacements for unit coordinates g: with the mean motion (t, J w / size) of g = (t, w), that of the six last
 * coordinates z is meanᵀ z. */
static int make_moved(builder *b, double *mean, sp_average_frame *frame)
{
    const int64_t rows = 3 * b->interface->vertex_count;
    double J[9], z[FRAME * FRAME] = {0}; /* columns g */
    int pivot[FRAME];

    second_moment(b, J);
    for (int c = 0; c < 3; c++) {
        z[c * FRAME + c] = 1;
        for (int k = 0; k < 3; k++)
            z[(3 + c) * FRAME + 3 + k] = J[3 * k + c] / b->size;
    }

    /* meanᵀ z = (t, J w / size); the rows of mean are the columns of its transpose. */
    if (LAPACKE_dgesv(LAPACK_COL_MAJOR, FRAME, FRAME, mean, FRAME, pivot, z, FRAME) != 0)
        return sp_fail(b->context, SP_NUMERICAL, "interface \"%s\": its mean rotation is not determined",
                       b->interface->name);

    /* u = P z with the six coordinates P of the largest group */
    for (int64_t row = 0; row < rows; row++)
        for (int c = 0; c < FRAME; c++) {
            double sum = 0;
            for (int k = 0; k < FRAME; k++)
                sum += b->represent[FRAME * row + k] * z[c * FRAME + k];
            frame->moved[c * rows + 3 * b->places[row / 3].within + row % 3] = sum;
        }
    return SP_OK;
}

/* The entries by rows, with the columns of each in the order of the groups. */
static void sort_entries(const builder *b, sp_average_frame *frame)
{
    const entry *from = b->entries.data;
    int64_t *start = frame->start;

    /* A counting sort: start[row + 1] is the number of entries of a row, then its end, and at last its beginning. */
    for (int64_t k = 0; k < b->entries.count; k++)
        start[from[k].row + 1]++;
    for (int64_t row = 0; row < 3 * b->interface->vertex_count; row++)
        start[row + 1] += start[row];

    for (int64_t k = b->entries.count - 1; k >= 0; k--) {
        const int64_t to = --start[from[k].row + 1];
        frame->index[to] = from[k].column;
        frame->value[to] = from[k].value;
    }

    for (int64_t row = 0; row < 3 * b->interface->vertex_count; row++)
        start[row] = start[row + 1];
    start[3 * b->interface->vertex_count] = b->entries.count;
}

static int fill_frame(builder *b, double *mean, sp_pool *pool, sp_average_frame *frame)
{
    const int64_t rows = 3 * b->interface->vertex_count;

    frame->columns = b->groups.count;
    frame->groups = b->group_count;
    frame->group = sp_pool_copy(pool, b->groups.data, b->groups.count, sizeof *frame->group);
    frame->start = sp_pool_new(pool, rows + 1, sizeof *frame->start);
    frame->index = sp_pool_raw(pool, b->entries.count, sizeof *frame->index);
    frame->value = sp_pool_raw(pool, b->entries.count, sizeof *frame->value);
    frame->moved = sp_pool_raw(pool, FRAME * rows, sizeof *frame->moved);
    SP_PASS(sp_allocated(b->context, !pool->failed));

    sort_entries(b, frame);
    return make_moved(b, mean, frame);
}

int sp_average_frame_new(sp_context *context, const sp_mesh *mesh, const sp_interface *interface, sp_pool *pool,
                         sp_average_frame *frame)
{
    const int64_t count = interface->vertex_count;
    sp_pool scratch = {0};
    builder b = {.context = context, .mesh = mesh, .interface = interface};
    double mean[FRAME * FRAME], J[9];
    int status;

    *frame = (sp_average_frame){0};
    b.places = sp_pool_raw(&scratch, count, sizeof *b.places);
    b.represent = sp_pool_raw(&scratch, 3 * FRAME * count, sizeof *b.represent);
    SP_TRY(sp_allocated(context, !scratch.failed));

    /* A length of the interface makes moments comparable with translations. */
    second_moment(&b, J);
    b.size = sqrt(J[0] + J[4] + J[8]);
    for (int64_t k = 0; k < count; k++)
        b.places[k] = (place){.within = k};

    SP_TRY(divide(&b, 0, count, mean));
    status = fill_frame(&b, mean, pool, frame);
done:
    sp_list_free(&b.entries);
    sp_list_free(&b.groups);
    sp_pool_free(&scratch);
    return status;
}
