/* The baseline of basis/reduced_mgs.h. */
#include "basis/reduced_mgs.h"

#include "linear/dense.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sample points ---- */

typedef struct boxes {
    double low[3], edge;
    int64_t side[3];
} boxes;

static boxes make_boxes(const double low[3], const double high[3], int64_t along)
{
    boxes b = {0};
    double size = 0;

    for (int i = 0; i < 3; i++)
        size = fmax(size, high[i] - low[i]);
    b.edge = size / (double)along;

    for (int i = 0; i < 3; i++) {
        double sides = ceil((high[i] - low[i]) / b.edge * (1 - 1e-12));
        b.side[i] = sides < 1 ? 1 : (int64_t)sides;
        b.low[i] = 0.5 * (low[i] + high[i] - (double)b.side[i] * b.edge); /* centred if the boxes do not fit exactly */
    }
    return b;
}

static int64_t box_of(const boxes *b, const double x[3])
{
    int64_t at[3];
    for (int i = 0; i < 3; i++) {
        at[i] = (int64_t)floor((x[i] - b->low[i]) / b->edge);
        at[i] = at[i] < 0 ? 0 : at[i] >= b->side[i] ? b->side[i] - 1 : at[i];
    }
    return (at[2] * b->side[1] + at[1]) * b->side[0] + at[0];
}

typedef struct nearest {
    int64_t box, vertex;
    double distance;
} nearest;

static int by_box(const void *left, const void *right)
{
    const nearest *a = left, *b = right;
    if (a->box != b->box)
        return a->box < b->box ? -1 : 1;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

/* Lists the nearest vertex of every box that contains one, in the order of the boxes; the vertices of a box are
 * contiguous. A box without a vertex has no vertex mass either. */
static int64_t occupy(const sp_mesh *mesh, const double *mass, const boxes *b, nearest *list)
{
    int64_t used = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        if (!(mass[v] > 0))
            continue;

        const double *x = mesh->vertices + 3 * v;
        int64_t box = box_of(b, x),
                at[3] = {box % b->side[0], box / b->side[0] % b->side[1], box / b->side[0] / b->side[1]};

        double square = 0;
        for (int i = 0; i < 3; i++) {
            double d = x[i] - b->low[i] - ((double)at[i] + 0.5) * b->edge;
            square += d * d;
        }

        list[used++] = (nearest){.box = box, .vertex = v, .distance = square};
    }

    qsort(list, (size_t)used, sizeof *list, by_box);
    int64_t count = 0;
    for (int64_t i = 0; i < used; i++)
        count += i == 0 || list[i].box != list[i - 1].box;
    return count;
}

int sp_sparse_inner_new(sp_context *context, const sp_fe_space *space, int64_t samples, sp_sparse_inner *inner)
{
    const sp_mesh *mesh = space->mesh;
    sp_pool scratch = {0};
    *inner = (sp_sparse_inner){0};
    int status = SP_OK;
    double low[3], high[3], *mass = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *mass);
    nearest *list = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *list);

    SP_TRY(sp_allocated(context, !scratch.failed));

    sp_fe_space_vertex_mass(space, true, mass);
    sp_mesh_box(mesh, low, high);
    if (samples == 0)
        samples = (int64_t)(128 * log2((double)mesh->vertex_count));

    int64_t used = 0, most = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        used += mass[v] > 0;

    /* Find the coarsest division with enough occupied boxes. More boxes nearly always, but not strictly, mean more
     * occupied ones. */
    int64_t along = 0, count = 0, least = 0, enough = 1;
    while (count < samples && count < used && most < 4096) {
        least = enough;
        most = enough = enough * 2;
        boxes b = make_boxes(low, high, enough);
        count = occupy(mesh, mass, &b, list);
    }

    /* Bisection between the last division with too few and the first with enough. */
    while (enough - least > 1) {
        along = (least + enough) / 2;
        boxes b = make_boxes(low, high, along);
        if (occupy(mesh, mass, &b, list) >= samples)
            enough = along;
        else
            least = along;
    }

    boxes b = make_boxes(low, high, enough);
    count = occupy(mesh, mass, &b, list);

    inner->row = sp_pool_raw(&inner->pool, 3 * count, sizeof *inner->row);
    inner->root = sp_pool_new(&inner->pool, count, sizeof *inner->root);
    SP_TRY(sp_allocated(context, !inner->pool.failed));

    /* The first vertex of a box is the nearest to its centre and gets the mass of all. */
    for (int64_t i = 0; i < used; i++) {
        if (i == 0 || list[i].box != list[i - 1].box) {
            for (int c = 0; c < 3; c++)
                inner->row[3 * inner->count + c] = space->dof[3 * list[i].vertex + c];
            inner->count++;
        }
        inner->root[inner->count - 1] += mass[list[i].vertex];
    }

    for (int64_t i = 0; i < inner->count; i++)
        inner->root[i] = sqrt(inner->root[i]);
    inner->box = b.edge;
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_sparse_inner_free(sp_sparse_inner *inner)
{
    sp_pool_free(&inner->pool);
    *inner = (sp_sparse_inner){0};
}

void sp_sparse_inner_gather(const sp_sparse_inner *inner, int64_t order, int64_t columns, const double *u, double *y)
{
    int64_t rows = 3 * inner->count;
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < rows; i++)
            y[c * rows + i] = inner->row[i] < 0 ? 0 : inner->root[i / 3] * u[c * order + inner->row[i]];
}

/* ---- Gram–Schmidt on the samples ---- */

typedef struct counts {
    int64_t done, culled;
    double cosine;
} counts;

/* Subtracts from column y its components along the first `before` columns of Y; coefficient [before] receives them.
 * Returns the remaining sparse norm. */
static double orthogonalize(int64_t rows, int64_t before, const double *Y, double *y, double culling,
                            double *coefficient, counts *counted)
{
    double norm = cblas_dnrm2((int)rows, y, 1), first = norm;
    for (int64_t j = 0; j < before; j++) {
        coefficient[j] = 0;
        double along = norm > 0 ? cblas_ddot((int)rows, Y + j * rows, 1, y, 1) : 0, alpha = norm > 0 ? along / norm : 0;

        if (first > 0)
            counted->cosine = fmax(counted->cosine, fmin(1, fabs(along) / first));

        if (fabs(alpha) < culling || along == 0) {
            counted->culled++;
            continue;
        }

        coefficient[j] = along;
        cblas_daxpy((int)rows, -along, Y + j * rows, 1, y, 1);
        counted->done++;

        /* l ← l √(1 − α²), recomputed where that would lose digits */
        norm = 1 - alpha * alpha < 0.01 ? cblas_dnrm2((int)rows, y, 1) : norm * sqrt(1 - alpha * alpha);
    }

    norm = cblas_dnrm2((int)rows, y, 1);
    return norm > 1e-7 * first ? norm : 0;
}

int sp_reduced_mgs(sp_context *context, const sp_sparse_inner *inner, double culling, int64_t order, int64_t before,
                   const double *V, int64_t width, double *W, double *Y, int64_t *done, int64_t *culled, double *cosine)
{
    int64_t rows = 3 * inner->count;
    sp_pool scratch = {0};
    double *C = sp_pool_new(&scratch, before * width, sizeof *C), *T = sp_pool_new(&scratch, width * width, sizeof *T);
    double *column = sp_pool_raw(&scratch, before + width, sizeof *column);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    counts counted = {.cosine = *cosine};
    double *fresh = Y + before * rows;
    sp_sparse_inner_gather(inner, order, width, W, fresh);

    for (int64_t i = 0; i < width; i++) {
        double *y = fresh + i * rows, norm = orthogonalize(rows, before + i, Y, y, culling, column, &counted);

        memcpy(C + i * before, column, (size_t)before * sizeof *C);
        memcpy(T + i * width, column + before, (size_t)i * sizeof *T);
        T[i * width + i] = norm > 0 ? norm : INFINITY; /* division by infinity makes the column zero */
        for (int64_t k = 0; k < rows; k++)
            y[k] = norm > 0 ? y[k] / norm : 0;
    }

    /* W ← (W − V C) T⁻¹ */
    sp_dense_add(context, order, before, V, width, C, -1, W);
    sp_dense_solve_right(context, order, width, T, W);

    *done += counted.done;
    *culled += counted.culled;
    *cosine = counted.cosine;
    sp_pool_free(&scratch);
    return SP_OK;
}
