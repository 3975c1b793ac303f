#include "cubature/training.h"

#include "assembly/batch.h"
#include "cubature/blocks.h"
#include "linear/dense.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct sp_training {
    sp_context *context;
    sp_pool pool;
    const sp_fe_space *body;
    const sp_poses *poses;
    int64_t memory, padded; /* number of poses rounded up to complete lanes */
    double *W;              /* [3·vertices, r, row major] */
    double *scale;          /* [r] */
    bool nonlinear;         /* only the nonlinear part of the force is fitted */
    double *inverse;        /* [poses] 1 / ‖scale · f_t‖ */
    double *target;         /* b */
    /* for products with all columns */
    int64_t passes;    /* number of passes so far */
    double *space;     /* [space_threads, 2, 3·vertices, width] */
    int space_threads; /* 0: not allocated yet */
    double *u; /* [blocks, 3·vertices, width] displacements of all poses, kept from the second pass on if memory allows;
                  NULL: they are computed for every product */
};

int sp_training_new(sp_context *context, const sp_fe_space *body, const double *U, const sp_training_measure *measure,
                    const sp_poses *poses, int64_t memory, sp_training **result)
{
    int64_t rows = 3 * body->mesh->vertex_count, r = poses->r,
            blocks = (poses->count + SP_POSES_WIDEST - 1) / SP_POSES_WIDEST;
    int status = sp_dense_fits(context, rows > r * poses->count ? rows : r * poses->count, r);
    if (status != SP_OK)
        return status;

    sp_training *t = calloc(1, sizeof *t);
    SP_PASS(sp_allocated(context, t));

    t->context = context;
    t->body = body;
    t->poses = poses;
    t->memory = memory;
    t->padded = (poses->count + SP_LANES - 1) / SP_LANES * SP_LANES;

    t->W = sp_poses_basis(&t->pool, rows, r, U);
    t->scale = sp_pool_raw(&t->pool, r, sizeof(double));
    t->inverse = sp_pool_new(&t->pool, blocks * SP_POSES_WIDEST, sizeof(double));
    t->target = sp_pool_raw(&t->pool, r * poses->count, sizeof(double));

    if (t->pool.failed) {
        sp_training_free(t);
        return sp_fail_memory(context);
    }

    t->nonlinear = measure->stiffness != NULL;
    for (int64_t i = 0; i < r; i++)
        t->scale[i] = measure->scale ? measure->scale[i] : 1;
    for (int64_t p = 0; status == SP_OK && p < poses->count; p++) {
        double *b = t->target + p * r, size = 0;

        memcpy(b, poses->force + p * r, (size_t)r * sizeof *b);
        for (int64_t i = 0; i < r; i++)
            size += t->scale[i] * b[i] * t->scale[i] * b[i];

        size = sqrt(size);
        if (!(size > 0 && isfinite(size)))
            status = sp_fail(context, SP_INPUT, "pose %lld: its force is %g: it says nothing of the elements",
                             (long long)p, size);

        /* b = (f − UᵀK(0)U q) / ‖f‖ */
        if (t->nonlinear)
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r, (int)r, -1, measure->stiffness, (int)r, poses->q + p * r,
                        1, 1, b, 1);

        t->inverse[p] = 1 / size;
        for (int64_t i = 0; i < r; i++)
            b[i] *= t->scale[i] / size;
    }

    if (status == SP_OK)
        *result = t;
    else
        sp_training_free(t);
    return status;
}

void sp_training_free(sp_training *t)
{
    if (!t)
        return;
    sp_pool_free(&t->pool);
    free(t);
}

int64_t sp_training_coordinates(const sp_training *t)
{
    return t->poses->r;
}

int64_t sp_training_rows(const sp_training *t)
{
    return t->poses->r * t->poses->count;
}

const double *sp_training_target(const sp_training *t)
{
    return t->target;
}

double sp_training_size(const sp_training *t, int64_t pose)
{
    return 1 / t->inverse[pose];
}

double sp_training_whole(const sp_training *t)
{
    return sqrt((double)t->poses->count);
}

/* The forces of some elements over all poses. Displacements are relative to the first node, which therefore has none,
 * and its force balances those of the others: g_e = Σ (U_a − U_0)ᵀ f_a, with 9 rows for a tetrahedron and 21 for a
 * hexahedron. */
enum { SOME = 4, MOST_ROWS = 3 * (SP_ELEMENT_NODES - 1), MOST_TRIANGLE = MOST_ROWS * (MOST_ROWS + 1) / 2 };

/* The number of rows of an element with so many nodes, relative to the first; and of entries in a triangle of them. */
static int64_t rows_of(int nodes)
{
    return 3 * (nodes - 1);
}

static int64_t triangle_of(int nodes)
{
    return rows_of(nodes) * (rows_of(nodes) + 1) / 2;
}

typedef struct some_elements {
    sp_element_lanes data;
    int64_t first[SOME + 1]; /* first row of each element */
    double *rows;            /* [SOME · MOST_ROWS, r, row major] of the basis */
    double *u, *f;           /* [SOME · MOST_ROWS, padded, row major] */
} some_elements;

static int new_spaces(const sp_training *t, sp_pool *pool, some_elements **spaces)
{
    const int64_t most = SOME * rows_of(sp_mesh_width(t->body->mesh));
    *spaces = sp_pool_new(pool, t->context->threads, sizeof **spaces);

    SP_PASS(sp_allocated(t->context, *spaces));

    for (int k = 0; k < t->context->threads; k++) {
        (*spaces)[k].rows = sp_pool_new(pool, most * t->poses->r, sizeof(double));
        (*spaces)[k].u = sp_pool_new(pool, most * t->padded, sizeof(double));
        (*spaces)[k].f = sp_pool_new(pool, most * t->padded, sizeof(double));
        sp_element_lanes_start(&(*spaces)[k].data);
    }
    return sp_allocated(t->context, !pool->failed);
}

/* K_e(0) [3 nodes, 3 nodes] of the element that is loaded into all lanes. */
static void rest_stiffness(const sp_element_lanes *data, double K[9 * SP_ELEMENT_NODES * SP_ELEMENT_NODES])
{
    sp_lanes rest[SP_ELEMENT_NODES][3] = {{{0}}}, force[SP_ELEMENT_NODES][3], block[SP_ELEMENT_BLOCKS][9], energy;
    int nodes = data->nodes, order = 3 * nodes;

    sp_batch_tangent(data, rest, false, force, block, &energy);

    /* Every lane has the same element: the first one is read. */
    for (int a = 0; a < nodes; a++)
        for (int b = a; b < nodes; b++)
            for (int k = 0; k < 9; k++) {
                int i = 3 * a + k / 3, j = 3 * b + k % 3;
                K[i * order + j] = K[j * order + i] = block[sp_packed(nodes, a, b)][k][0];
            }
}

/* Copies rows [3 · (nodes − 1), width] to lanes of nodes; the next function copies lanes to rows, scaled. */
SP_CLONES static void gather_relative(int nodes, int64_t width, const double *at, sp_lanes to[][3])
{
    for (int i = 0; i < 3; i++)
        to[0][i] = (sp_lanes){0};

    for (int k = 0; k < 3 * (nodes - 1); k++)
        to[1 + k / 3][k % 3] = *(const sp_lanes *)(at + k * width);
}

SP_CLONES static void put_scaled(int nodes, int64_t width, sp_lanes from[][3], const double *scale, double *at)
{
    for (int k = 0; k < 3 * (nodes - 1); k++)
        *(sp_lanes *)(at + k * width) = *(const sp_lanes *)scale * from[1 + k / 3][k % 3];
}

/* U_a − U_0 [3 · (nodes − 1), r, row major]; returns the number of nodes. */
static int relative_rows(const sp_training *t, int64_t element, double *to)
{
    int nodes;
    int64_t r = t->poses->r;
    const int64_t *node = sp_mesh_nodes(t->body->mesh, element, &nodes);

    for (int i = 0; i < 3 * (nodes - 1); i++)
        for (int64_t j = 0; j < r; j++)
            to[i * r + j] = t->W[(3 * node[1 + i / 3] + i % 3) * r + j] - t->W[(3 * node[0] + i % 3) * r + j];
    return nodes;
}

/* Gathers the elements' rows of the basis and computes their forces at every pose, times 1/‖f_t‖ (0 beyond the last
 * pose). */
static void evaluate_some(const sp_training *t, int64_t count, const int64_t *element, some_elements *s)
{
    int64_t r = t->poses->r;

    s->first[0] = 0;
    for (int64_t k = 0; k < count; k++)
        s->first[k + 1] = s->first[k] + 3 * (relative_rows(t, element[k], s->rows + s->first[k] * r) - 1);

    /* u = (U_a − U_0) q of all poses */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->first[count], (int)t->poses->count, (int)r, 1, s->rows,
                (int)r, t->poses->q, (int)r, 0, s->u, (int)t->padded);

    for (int64_t k = 0; k < count; k++) {
        double *u = s->u + s->first[k] * t->padded, *f = s->f + s->first[k] * t->padded;
        sp_element_lanes_fill(t->body, element[k], &s->data);

        /* f_e(U_e q_t) / ‖f_t‖ in lanes of eight poses */
        const int nodes = s->data.nodes, rows = 3 * (nodes - 1);

        for (int64_t g = 0; g < t->padded; g += SP_LANES) {
            sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;
            gather_relative(nodes, t->padded, u + g, displacement);
            sp_batch_force(&s->data, displacement, force, &energy);
            put_scaled(nodes, t->padded, force, t->inverse + g, f + g);
        }

        /* f −= K_e(0) u */
        if (t->nonlinear) {
            double K[9 * SP_ELEMENT_NODES * SP_ELEMENT_NODES];

            rest_stiffness(&s->data, K);

            for (int i = 0; i < rows; i++)
                for (int64_t g = 0; g < t->padded; g += SP_LANES)
                    *(sp_lanes *)(u + i * t->padded + g) *= *(const sp_lanes *)(t->inverse + g);

            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (int)t->padded, rows, -1,
                        K + 3 * 3 * nodes + 3, 3 * nodes, u, (int)t->padded, 1, f, (int)t->padded);
        }
    }
}

/* The column a_e [rows] of the k-th element. */
static void put_column(const sp_training *t, const some_elements *s, int64_t k, double *column)
{
    int rows = (int)(s->first[k + 1] - s->first[k]), r = (int)t->poses->r;

    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)t->poses->count, r, rows, 1,
                s->f + s->first[k] * t->padded, (int)t->padded, s->rows + s->first[k] * r, r, 0, column, r);

    /* The rows are scaled as the forces are measured. */
    for (int64_t p = 0; p < t->poses->count; p++, column += r)
        for (int i = 0; i < r; i++)
            column[i] *= t->scale[i];
}

/* The upper triangle by rows of C = U S² Uᵀ, where U has the element's rows relative to the first node and S is the
 * scale: ‖a_e‖² is the sum of fᵀCf over the poses. Off-diagonal entries are doubled, so that the triangle suffices. */
static void metric_of(const sp_training *t, int64_t element, double *U, double *C)
{
    double whole[MOST_ROWS * MOST_ROWS];
    int nodes = relative_rows(t, element, U), rows = 3 * (nodes - 1), r = (int)t->poses->r;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < r; j++)
            U[i * r + j] *= t->scale[j];

    /* C = U S² Uᵀ */
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, rows, r, 1, U, r, 0, whole, rows);

    for (int i = 0; i < rows; i++)
        for (int j = i; j < rows; j++)
            *C++ = (i == j ? 1 : 2) * whole[i * rows + j];
}

/* Offset of an element's triangle after those of the elements before it. */
static int64_t metric_place(const sp_mesh *mesh, int64_t element)
{
    int64_t place = 0;
    for (int t = 0; element > 0 && t < SP_ELEMENT_TYPES; t++) {
        const int64_t count = element < mesh->block[t].count ? element : mesh->block[t].count;
        place += count * triangle_of(sp_element_types[t].nodes);
        element -= count;
    }
    return place;
}

SP_CLONES static void add_square(int nodes, const double *C, sp_lanes force[][3], const double *scale, sp_lanes *sum)
{
    if (nodes == 4)
        sp_poses_square(9, C, force, scale, sum);
    else if (nodes == 8)
        sp_poses_square(21, C, force, scale, sum);
    else
        sp_poses_square((int)rows_of(nodes), C, force, scale, sum);
}

/* Adds pairs, since each addition to one sum would wait for the one before. */
SP_INLINE double sum_of(const sp_lanes *x)
{
    return (((*x)[0] + (*x)[4]) + ((*x)[2] + (*x)[6])) + (((*x)[1] + (*x)[5]) + ((*x)[3] + (*x)[7]));
}

/* ‖a_e‖ of the k-th element, without forming its column. */
static double norm_of(const sp_training *t, some_elements *s, int64_t element, int64_t k)
{
    static const double one[SP_LANES] __attribute__((aligned(64))) = {1, 1, 1, 1, 1, 1, 1, 1};
    double C[MOST_TRIANGLE];
    int nodes = 1 + (int)(s->first[k + 1] - s->first[k]) / 3;
    sp_lanes sum = {0};

    /* ‖a_e‖² = Σ_t f_tᵀ C f_t */
    metric_of(t, element, s->rows + s->first[k] * t->poses->r, C);

    for (int64_t g = 0; g < t->padded; g += SP_LANES) {
        sp_lanes force[SP_ELEMENT_NODES][3];
        gather_relative(nodes, t->padded, s->f + s->first[k] * t->padded + g, force);
        add_square(nodes, C, force, one, &sum);
    }
    return sqrt(fmax(sum_of(&sum), 0));
}

int sp_training_columns(sp_training *t, int64_t count, const int64_t *element, double *A)
{
    sp_pool scratch = {0};
    some_elements *spaces;
    int status = new_spaces(t, &scratch, &spaces);

    int64_t rows = sp_training_rows(t);
    if (status == SP_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(t->context->threads)
        for (int64_t first = 0; first < count; first += SOME) {
            some_elements *s = &spaces[omp_get_thread_num()];
            int64_t some = count - first < SOME ? count - first : SOME;

            evaluate_some(t, some, element + first, s);
            for (int64_t k = 0; k < some; k++)
                put_column(t, s, k, A + (first + k) * rows);
        }
    }
    sp_pool_free(&scratch);
    return status;
}

/* Norms of all elements, one after another. */
static int all_norms(sp_training *t, double *norm)
{
    int64_t elements = sp_mesh_element_count(t->body->mesh);
    sp_pool scratch = {0};
    some_elements *spaces;
    int status = new_spaces(t, &scratch, &spaces);
    if (status == SP_OK) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(t->context->threads)
        for (int64_t first = 0; first < elements; first += SOME) {
            some_elements *s = &spaces[omp_get_thread_num()];
            int64_t some = elements - first < SOME ? elements - first : SOME, element[SOME];

            for (int64_t k = 0; k < some; k++)
                element[k] = first + k;

            evaluate_some(t, some, element, s);

            for (int64_t k = 0; k < some; k++)
                norm[first + k] = norm_of(t, s, element[k], k);
        }
    }
    sp_pool_free(&scratch);
    return status;
}

/* ---- products with all columns ---- */

/* Adds products and squares together, while the forces are in registers. C: NULL without squares. */
SP_CLONES static void add_dots(int nodes, const int64_t *node, int64_t width, sp_lanes force[][3], const double *at,
                               sp_lanes *sum, const double *C, const double *scale, sp_lanes *squares)
{
    if (nodes == 4) {
        sp_poses_dot(4, node, width, force, at, sum);
        if (C)
            sp_poses_square(9, C, force, scale, squares);
    } else if (nodes == 8) {
        sp_poses_dot(8, node, width, force, at, sum);
        if (C)
            sp_poses_square(21, C, force, scale, squares);
    } else {
        sp_poses_dot(nodes, node, width, force, at, sum);
        if (C)
            sp_poses_square((int)rows_of(nodes), C, force, scale, squares);
    }
}

/* c_e += Σ over a block of poses; with metrics [elements] also ‖a_e‖² += Σ, for poses scaled by `scale` [width]. */
static void add_products(const sp_fe_space *body, int64_t width, const double *u, const double *v,
                         sp_element_lanes *data, double *c, const double *metric, const double *scale, double *square)
{
    int64_t elements = sp_mesh_element_count(body->mesh);
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(body->mesh, e, &nodes);
        /* The element's triangle, if squares are wanted. */
        const double *C = metric ? metric + metric_place(body->mesh, e) : NULL;
        sp_lanes sum = {0}, squares = {0};

        sp_element_lanes_fill(body, e, data);

        for (int64_t g = 0; g < width; g += SP_LANES) {
            sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;
            sp_poses_gather(nodes, node, width, u + g, displacement);
            sp_batch_force(data, displacement, force, &energy);
            add_dots(nodes, node, width, force, v + g, &sum, C, scale + g, &squares);
        }

        c[e] += sum_of(&sum);
        if (metric)
            square[e] += sum_of(&squares);
    }
}

/* The triangles of all elements, within a part of the allowed memory; NULL if they do not fit or cannot be used. */
static double *all_metrics(const sp_training *t, sp_pool *pool)
{
    const sp_mesh *mesh = t->body->mesh;
    int64_t elements = sp_mesh_element_count(mesh), numbers = metric_place(mesh, elements);
    double *metric =
        t->nonlinear || numbers * (int64_t)sizeof(double) > (t->memory > 0 ? t->memory : INT64_C(1) << 30) / 4
            ? NULL
            : sp_pool_raw(pool, numbers, sizeof *metric);

    double *rows =
        metric ? sp_pool_raw(pool, rows_of(sp_mesh_width(mesh)) * t->poses->r * t->context->threads, sizeof *rows)
               : NULL;
    if (!rows)
        return NULL;

#pragma omp parallel for schedule(static) num_threads(t->context->threads)
    for (int64_t e = 0; e < elements; e++)
        metric_of(t, e, rows + rows_of(sp_mesh_width(mesh)) * t->poses->r * omp_get_thread_num(),
                  metric + metric_place(mesh, e));
    return metric;
}

static int products_of_all(sp_training *t, const double *rho, double *c, double *norm)
{
    sp_context *context = t->context;
    int64_t rows = 3 * t->body->mesh->vertex_count, r = t->poses->r, count = t->poses->count,
            elements = sp_mesh_element_count(t->body->mesh);
    sp_pool scratch = {0};

    int threads = context->threads < SP_POSES_SUMS ? context->threads : SP_POSES_SUMS;
    int64_t width = sp_poses_width(rows, t->memory), blocks = (count + width - 1) / width, block = rows * width;

    /* The displacements are kept only from the second pass on, since a single pass does not need them. */
    bool fits = blocks * block * (int64_t)sizeof(double) <= (t->memory > 0 ? t->memory : INT64_C(1) << 30) / 2,
         first = t->passes++ == 1 && fits;

    if (first)
        t->u = sp_pool_raw(&t->pool, blocks * block, sizeof *t->u);

    /* Displacements and v of one block for each thread. */
    if (t->space_threads < threads) {
        sp_pool_drop(&t->pool, t->space);
        t->space = sp_pool_raw(&t->pool, 2 * block * threads, sizeof *t->space);
        t->space_threads = threads;
    }

    SP_PASS(sp_allocated(context, !t->pool.failed));

    const bool keep = t->u != NULL;
    const double *metric = norm ? all_metrics(t, &scratch) : NULL;

    double *sums = sp_pool_new(&scratch, SP_POSES_SUMS * elements, sizeof *sums),
           *squares = sp_pool_new(&scratch, metric ? SP_POSES_SUMS * elements : 0, sizeof *squares);
    sp_element_lanes *data = sp_pool_raw(&scratch, threads, sizeof *data);
    int status = sp_allocated(context, !scratch.failed);

    if (status == SP_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int64_t s = 0; s < SP_POSES_SUMS; s++) {
            double *v = t->space + 2 * block * omp_get_thread_num();
            sp_element_lanes *own = &data[omp_get_thread_num()];
            sp_element_lanes_start(own);

            for (int64_t b = blocks * s / SP_POSES_SUMS; b < blocks * (s + 1) / SP_POSES_SUMS; b++) {
                int64_t from = b * width, wide = count - from < width ? count - from : width;
                double *u = keep ? t->u + b * block : v + block;

                if (first || !keep)
                    sp_poses_displacements(true, t->W, rows, r, wide, t->poses->q + from * r, width, u);

                /* v_t = U ρ_t, and c_e += f_e(U_e q_t) · v_t */
                sp_poses_displacements(true, t->W, rows, r, wide, rho + from * r, width, v);
                add_products(t->body, width, u, v, own, sums + s * elements, metric, t->inverse + from,
                             squares + (metric ? s * elements : 0));
            }
        }

        /* The partial sums are added in order. */
        memset(c, 0, (size_t)elements * sizeof *c);
        for (int64_t s = 0; s < SP_POSES_SUMS; s++)
            for (int64_t e = 0; e < elements; e++)
                c[e] += sums[s * elements + e];

        if (metric)
            for (int64_t e = 0; e < elements; e++) {
                double square = 0;
                for (int64_t s = 0; s < SP_POSES_SUMS; s++)
                    square += squares[s * elements + e];
                norm[e] = sqrt(fmax(square, 0));
            }
    }

    sp_pool_free(&scratch);
    /* Norms of the nonlinear part, or if memory is short. */
    if (status == SP_OK && norm && !metric)
        status = all_norms(t, norm);
    return status;
}

/* Subtracts the linear parts from c: Σ_t (U_e ρ_t)ᵀ K_e U_e q_t = K_e : U_e Z U_eᵀ with Z = Σ_t ρ_t q_tᵀ, computed once
 * for each element. */
static int subtract_linear(sp_training *t, const double *rho, double *c)
{
    int64_t rows = 3 * t->body->mesh->vertex_count, r = t->poses->r, elements = sp_mesh_element_count(t->body->mesh);
    sp_pool scratch = {0};

    double *Z = sp_pool_raw(&scratch, r * r, sizeof *Z), *WZ = sp_pool_raw(&scratch, rows * r, sizeof *WZ);
    sp_element_lanes *data = sp_pool_raw(&scratch, t->context->threads, sizeof *data);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(t->context);
    }

    /* Z = Σ_t ρ_t q_tᵀ */
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)r, (int)r, (int)t->poses->count, 1, rho, (int)r,
                t->poses->q, (int)r, 0, Z, (int)r);
    /* Row major Z is Σ q ρᵀ, and W Σ ρ qᵀ needs its transpose. */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)r, (int)r, 1, t->W, (int)r, Z, (int)r, 0, WZ,
                (int)r);

#pragma omp parallel num_threads(t->context->threads)
    {
        sp_element_lanes *own = &data[omp_get_thread_num()];
        sp_element_lanes_start(own);
#pragma omp for schedule(static)
        for (int64_t e = 0; e < elements; e++) {
            int nodes;

            const int64_t *node = sp_mesh_nodes(t->body->mesh, e, &nodes);
            double K[9 * SP_ELEMENT_NODES * SP_ELEMENT_NODES], sum = 0;

            sp_element_lanes_fill(t->body, e, own);
            rest_stiffness(own, K);

            /* K_e : U_e Z U_eᵀ */
            for (int a = 0; a < 3 * nodes; a++)
                for (int b = 0; b < 3 * nodes; b++)
                    sum += K[a * 3 * nodes + b] * cblas_ddot((int)r, WZ + (3 * node[a / 3] + a % 3) * r, 1,
                                                             t->W + (3 * node[b / 3] + b % 3) * r, 1);
            c[e] -= sum;
        }
    }

    sp_pool_free(&scratch);
    return SP_OK;
}

static int products_of_some(sp_training *t, const double *rho, int64_t count, const int64_t *list, double *c,
                            double *norm)
{
    int64_t r = t->poses->r, padded = t->padded;
    sp_pool scratch = {0};
    some_elements *spaces;
    int status = new_spaces(t, &scratch, &spaces);
    if (status == SP_OK) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(t->context->threads)
        for (int64_t first = 0; first < count; first += SOME) {
            some_elements *s = &spaces[omp_get_thread_num()];
            int64_t some = count - first < SOME ? count - first : SOME;
            evaluate_some(t, some, list + first, s);

            /* c_e = Σ_t f_e/‖f_t‖ · (U_e ρ_t), in the place of the displacements */
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->first[some], (int)t->poses->count, (int)r, 1,
                        s->rows, (int)r, rho, (int)r, 0, s->u, (int)padded);

            for (int64_t k = 0; k < some; k++) {
                c[first + k] = 0;
                for (int64_t i = s->first[k]; i < s->first[k + 1]; i++)
                    c[first + k] += cblas_ddot((int)t->poses->count, s->f + i * padded, 1, s->u + i * padded, 1);

                if (norm)
                    norm[first + k] = norm_of(t, s, list[first + k], k);
            }
        }
    }
    sp_pool_free(&scratch);
    return status;
}

int sp_training_products(sp_training *t, const double *rho, int64_t count, const int64_t *list, double *c, double *norm)
{
    int64_t r = t->poses->r;
    sp_pool scratch = {0};
    double *scaled = sp_pool_raw(&scratch, r * t->poses->count, sizeof *scaled);

    SP_PASS(sp_allocated(t->context, scaled));

    /* The forces of single elements are scaled by 1/‖f_t‖ already. */
    for (int64_t k = 0; k < r * t->poses->count; k++)
        scaled[k] = rho[k] * t->scale[k % r] * (list ? 1 : t->inverse[k / r]);

    int status = list ? products_of_some(t, scaled, count, list, c, norm) : products_of_all(t, scaled, c, norm);
    if (status == SP_OK && !list && t->nonlinear)
        status = subtract_linear(t, scaled, c);
    sp_pool_free(&scratch);
    return status;
}
