/* Evaluation of cubature forces at run time. */
#include "cubature/cubature.h"

#include "assembly/batch.h"
#include "assembly/elastic.h"
#include "linear/dense.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 3 * (SP_ELEMENT_NODES - 1), WIDE = 2 };

typedef struct cubature_batch {
    sp_element_lanes data;
    int count;
    int64_t element[SP_LANES];
    int64_t at;              /* first row in B, of 8 · 3 (nodes − 1) */
    sp_lanes weight, nested; /* joint weights; 0 in lanes without an element */
} cubature_batch;

typedef struct cubature_force {
    sp_pool pool;
    int r, rows; /* rows of B */
    bool modal;
    const sp_fe_space *body;
    int64_t batch_count;
    cubature_batch *batches;
    double *B, *left, *left_nested; /* [rows, r] column major; modal: B with its entries times the weights */
    double *u, *v, *f, *scaled;     /* [rows]; f without weights; v: a direction */
    double *Y;                      /* [rows, r] */
    double *S;                      /* [r, r] */
    double *C, *C_nested; /* [r, r] the correction of the linear part, also for the embedded weights; NULL: none */
    double *reduced;      /* [3 r]: the last force, that of the embedded weights, and the q of both */
    double *softness; /* [r] 1/√K_jj of the stiffness at rest, 0 without stiffness; NULL without embedded weights */
} cubature_force;

/* u_a − u_0 of the batch's elements. */
static void gather_displacements(const double *displacements, const cubature_batch *batch, sp_lanes u[][3])
{
    const sp_lanes *from = (const sp_lanes *)(displacements + batch->at);
    for (int i = 0; i < 3; i++)
        u[0][i] = (sp_lanes){0};
    for (int k = 0; k < 3 * (batch->data.nodes - 1); k++)
        u[1 + k / 3][k % 3] = from[k];
}

static void keep_forces(cubature_force *c, const cubature_batch *batch, sp_lanes f[][3])
{
    sp_lanes *to = (sp_lanes *)(c->f + batch->at), *scaled = (sp_lanes *)(c->scaled + batch->at);
    for (int k = 0; k < 3 * (batch->data.nodes - 1); k++) {
        to[k] = f[1 + k / 3][k % 3];
        scaled[k] = batch->weight * to[k];
    }
}

/* Y = K B over one batch, two columns at a time. triangular: K is stored as T with K = T + Tᵀ, its lower triangle with
 * half of the diagonal. */
SP_INLINE void times_columns(int rows, bool triangular, sp_lanes (*K)[MOST_ROWS], int64_t stride, int r,
                             const double *B, double *Y)
{
    for (int j = 0; j < r; j += WIDE)
        for (int p = 0; p < rows; p++) {
            /* Of T only the lower triangle is not 0. */
            int end = triangular ? p + 1 : rows, second = j + 1 < r ? 1 : 0;

            sp_lanes sum[WIDE] = {{0}, {0}};

            for (int q = 0; q < end; q++) {
                sum[0] += K[p][q] * *(const sp_lanes *)(B + j * stride + q * SP_LANES);
                sum[1] += K[p][q] * *(const sp_lanes *)(B + (j + second) * stride + q * SP_LANES);
            }

            *(sp_lanes *)(Y + j * stride + p * SP_LANES) = sum[0];
            *(sp_lanes *)(Y + (j + second) * stride + p * SP_LANES) = sum[second];
        }
}

SP_CLONES static void multiply_columns(int rows, bool triangular, sp_lanes (*K)[MOST_ROWS], int64_t stride, int r,
                                       const double *B, double *Y)
{
    if (rows == 9)
        times_columns(9, triangular, K, stride, r, B, Y);
    else if (rows == 21)
        times_columns(21, triangular, K, stride, r, B, Y);
    else
        times_columns(rows, triangular, K, stride, r, B, Y);
}

/* The rows and columns of K for nodes 1, 2, …, multiplied by the weight. */
static void tangent_rows(const cubature_force *c, const cubature_batch *batch, sp_lanes block[][9],
                         sp_lanes (*K)[MOST_ROWS])
{
    int nodes = batch->data.nodes, rows = 3 * (nodes - 1);
    for (int p = 0; p < rows; p++)
        for (int q = 0; q <= p; q++) {
            int a = 1 + q / 3, b = 1 + p / 3; /* block a ≤ b has rows of a */
            sp_lanes value = batch->weight * block[sp_packed(nodes, a, b)][3 * (q % 3) + p % 3];
            if (c->modal)
                K[q][p] = value;
            else if (p == q)
                value *= 0.5;
            K[p][q] = value;
        }
}

static void finish_stiffness(cubature_force *c, double *K)
{
    int r = c->r;

    /* Without modal weights the product is UᵀTU, and its transpose gives the other half: K = UᵀTU + (UᵀTU)ᵀ. */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, r, c->rows, 1, c->modal ? c->left : c->B, c->rows, c->Y,
                c->rows, 0, c->S, r);

    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++)
            K[j * r + i] = c->modal ? c->S[j * r + i] : c->S[j * r + i] + c->S[i * r + j];
}

static double evaluate(void *self, const double *q, bool definite, double *f, double *K)
{
    cubature_force *c = self;
    double sum = 0;

    /* u = U q, relative to the first node of each element */
    cblas_dgemv(CblasColMajor, CblasNoTrans, c->rows, c->r, 1, c->B, c->rows, q, 1, 0, c->u, 1);

    for (int64_t b = 0; b < c->batch_count; b++) {
        const cubature_batch *batch = &c->batches[b];
        sp_lanes u[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;
        sp_element_lanes_tension(c->body, &c->batches[b].data);

        gather_displacements(c->u, batch, u);

        /* Y = K_e B of the batch, with its tangent. */
        if (K) {
            sp_lanes block[SP_ELEMENT_BLOCKS][9], rows[MOST_ROWS][MOST_ROWS];
            sp_batch_tangent(&batch->data, u, definite, force, block, &energy);
            tangent_rows(c, batch, block, rows);
            multiply_columns(3 * (batch->data.nodes - 1), !c->modal, rows, c->rows, c->r, c->B + batch->at,
                             c->Y + batch->at);
        } else
            sp_batch_force(&batch->data, u, force, &energy);

        keep_forces(c, batch, force);

        /* A lane without weight adds no energy, and no NaN. */
        for (int l = 0; l < SP_LANES; l++)
            if (batch->weight[l] != 0)
                sum += batch->weight[l] * energy[l];
    }

    /* f = Uᵀ Σ w_e f_e */
    cblas_dgemv(CblasColMajor, CblasTrans, c->rows, c->r, 1, c->modal ? c->left : c->B, c->rows,
                c->modal ? c->f : c->scaled, 1, 0, c->reduced, 1);

    if (K)
        finish_stiffness(c, K);

    /* f += C q, W += ½ qᵀC q, K += C */
    if (c->C) {
        sum -= 0.5 * cblas_ddot(c->r, c->reduced, 1, q, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, c->r, c->r, 1, c->C, c->r, q, 1, 1, c->reduced, 1);
        sum += 0.5 * cblas_ddot(c->r, c->reduced, 1, q, 1);

        const int entries = K ? c->r * c->r : 0;
        for (int i = 0; i < entries; i++)
            K[i] += c->C[i];
    }

    /* Both are kept for the estimate of the error. */
    memcpy(c->reduced + 2 * c->r, q, (size_t)c->r * sizeof *q);

    if (f)
        memcpy(f, c->reduced, (size_t)c->r * sizeof *f);
    return c->modal ? 0 : sum;
}

static int64_t inverted(void *self, const double *q)
{
    cubature_force *c = self;
    int64_t first = -1;

    cblas_dgemv(CblasColMajor, CblasNoTrans, c->rows, c->r, 1, c->B, c->rows, q, 1, 0, c->u, 1);
    for (int64_t b = 0; b < c->batch_count; b++) {
        const cubature_batch *batch = &c->batches[b];
        sp_lanes u[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;

        if (batch->data.by_pairs || sp_law_everywhere(batch->data.law.law))
            continue;
        gather_displacements(c->u, batch, u);
        sp_batch_force(&batch->data, u, force, &energy);

        for (int l = 0; l < batch->count; l++)
            if (!isfinite(energy[l]) && (first < 0 || batch->element[l] < first))
                first = batch->element[l];
    }
    return first;
}

static void times(void *self, const double *q, const double *v, double *y)
{
    cubature_force *c = self;

    cblas_dgemv(CblasColMajor, CblasNoTrans, c->rows, c->r, 1, c->B, c->rows, q, 1, 0, c->u, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, c->rows, c->r, 1, c->B, c->rows, v, 1, 0, c->v, 1);

    for (int64_t b = 0; b < c->batch_count; b++) {
        const cubature_batch *batch = &c->batches[b];
        sp_lanes u[SP_ELEMENT_NODES][3], direction[SP_ELEMENT_NODES][3], product[SP_ELEMENT_NODES][3],
            *to = (sp_lanes *)(c->scaled + batch->at);
        sp_element_lanes_tension(c->body, &c->batches[b].data);
        gather_displacements(c->u, batch, u);
        gather_displacements(c->v, batch, direction);
        sp_batch_tangent_times(&batch->data, u, direction, product);

        for (int k = 0; k < 3 * (batch->data.nodes - 1); k++)
            to[k] = batch->weight * product[1 + k / 3][k % 3];
    }

    cblas_dgemv(CblasColMajor, CblasTrans, c->rows, c->r, 1, c->modal ? c->left : c->B, c->rows, c->scaled, 1, 0, y, 1);
    if (c->C)
        cblas_dgemv(CblasColMajor, CblasNoTrans, c->r, c->r, 1, c->C, c->r, v, 1, 1, y, 1);
}

/* ‖S b‖ / ‖S a‖ for a diagonal S (NULL: 1). */
static double ratio(int r, const double *S, const double *b, const double *a)
{
    double above = 0, below = 0;
    for (int i = 0; i < r; i++) {
        const double s = S ? S[i] : 1;
        above += s * b[i] * s * b[i];
        below += s * a[i] * s * a[i];
    }
    return below > 0 ? sqrt(above / below) : 0;
}

static void estimate(void *self, double *error)
{
    cubature_force *c = self;
    double *other = c->reduced + c->r;

    /* The force of the embedded weights at the same point, from the forces of the elements that were kept. */
    if (!c->modal)
        for (int64_t b = 0; b < c->batch_count; b++) {
            const cubature_batch *batch = &c->batches[b];
            for (int k = 0; k < 3 * (batch->data.nodes - 1); k++)
                ((sp_lanes *)(c->scaled + batch->at))[k] = batch->nested * ((sp_lanes *)(c->f + batch->at))[k];
        }

    cblas_dgemv(CblasColMajor, CblasTrans, c->rows, c->r, 1, c->modal ? c->left_nested : c->B, c->rows,
                c->modal ? c->f : c->scaled, 1, 0, other, 1);

    if (c->C_nested)
        cblas_dgemv(CblasColMajor, CblasNoTrans, c->r, c->r, 1, c->C_nested, c->r, other + c->r, 1, 1, other, 1);

    /* The difference of the two forces relative to the force, in either norm. */
    cblas_daxpy(c->r, -1, c->reduced, 1, other, 1);

    error[SP_NORM_FORCE] = ratio(c->r, NULL, other, c->reduced);
    error[SP_NORM_ENERGY] = ratio(c->r, c->softness, other, c->reduced);
}

static void destroy(void *self)
{
    cubature_force *c = self;
    sp_pool_free(&c->pool);
    free(c);
}

static void visit(void *self, sp_state *state)
{
    cubature_force *c = self;
    sp_state_reals(state, c->f, c->rows);
    sp_state_reals(state, c->reduced, 3 * c->r);
}

/* Assigns a batch to every element, and finds the first element of every batch; kinds are processed one after another.
 */
static int make_batches(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature, sp_pool *scratch,
                        sp_batch **batches, int64_t **member, int64_t *count)
{
    *batches = sp_pool_new(scratch, cubature->count, sizeof **batches);
    *member = sp_pool_new(scratch, cubature->count * SP_LANES, sizeof **member); /* position in the list of each lane */
    char *taken = sp_pool_new(scratch, cubature->count, 1);
    SP_PASS(sp_allocated(context, !scratch->failed));

    *count = 0;

    for (int64_t first = 0; first < cubature->count; first++) {
        sp_batch *batch = NULL;
        for (int64_t k = first; k < cubature->count; k++) {
            int64_t element = cubature->element[k];
            if (taken[k] || !sp_fe_space_alike(body, cubature->element[first], element))
                continue;

            /* The next batch of this kind; lanes that stay unused repeat its first element. */
            if (!batch || batch->count == SP_LANES) {
                batch = &(*batches)[(*count)++];
                *batch = (sp_batch){.nodes = body->classes[body->element_class[element]].nodes};
                for (int l = 0; l < SP_LANES; l++)
                    batch->element[l] = element;
            }

            (*member)[(*count - 1) * SP_LANES + batch->count] = k;
            batch->element[batch->count++] = element;
            taken[k] = 1;
        }
    }
    return SP_OK;
}

/* Fills the rows of B and the weights of one batch. */
static void fill_rows(cubature_force *c, const sp_fe_space *body, const sp_cubature *cubature, const double *U,
                      const sp_batch *batch, const int64_t *member, cubature_batch *to)
{
    int64_t vertex_rows = 3 * body->mesh->vertex_count;
    for (int l = 0; l < batch->count; l++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(body->mesh, batch->element[l], &nodes);

        to->weight[l] = c->modal ? 1 : cubature->weight[member[l]];
        to->nested[l] = c->modal || !cubature->nested ? 0 : cubature->nested[member[l]];

        for (int j = 0; j < c->r; j++)
            for (int k = 0; k < 3 * (nodes - 1); k++) {
                int64_t at = (int64_t)j * c->rows + to->at + (int64_t)k * SP_LANES + l;
                const double *u = U + j * vertex_rows + k % 3;
                c->B[at] = u[3 * node[1 + k / 3]] - u[3 * node[0]];
                if (c->left)
                    c->left[at] = cubature->weight[j * cubature->count + member[l]] * c->B[at];
                if (c->left_nested)
                    c->left_nested[at] = cubature->nested[j * cubature->count + member[l]] * c->B[at];
            }
    }
}

/* C = UᵀK(0)U − the stiffness of the weighted elements at rest, for either set of weights. */
static int lacking(sp_context *context, cubature_force *c, const sp_cubature *cubature, double **lack)
{
    int r = c->r;
    double *rest = sp_pool_new(&c->pool, r, sizeof *rest), *C = sp_pool_new(&c->pool, (int64_t)r * r, sizeof *C);
    SP_PASS(sp_allocated(context, !c->pool.failed));

    evaluate(c, rest, false, NULL, C);

    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++)
            C[j * r + i] = cubature->stiffness[j * cubature->r + i] - C[j * r + i];
    *lack = C;
    return SP_OK;
}

static void swap_weights(cubature_force *c)
{
    double *left = c->left;
    c->left = c->left_nested;
    c->left_nested = left;
    for (int64_t b = 0; b < c->batch_count; b++) {
        sp_lanes weight = c->batches[b].weight;
        c->batches[b].weight = c->modal ? weight : c->batches[b].nested;
        c->batches[b].nested = c->modal ? c->batches[b].nested : weight;
    }
}

static int correct_linear_part(sp_context *context, cubature_force *c, const sp_cubature *cubature)
{
    double *nested = NULL, *C;
    int status = SP_OK;

    /* With the embedded weights in the place of the weights. */
    if (cubature->nested) {
        swap_weights(c);
        status = lacking(context, c, cubature, &nested);
        swap_weights(c);
    }

    if (status == SP_OK)
        status = lacking(context, c, cubature, &C);

    if (status == SP_OK) {
        c->C = C;
        c->C_nested = nested;
    }
    return status;
}

/* Computes the scale of the coordinates in the energy norm, with the current materials. */
static int find_softness(sp_context *context, const sp_fe_space *body, const double *U, cubature_force *c)
{
    const int64_t r = c->r;
    double *K = sp_pool_raw(&c->pool, r, sizeof *K), stiffest = 0; /* the diagonal */
    c->softness = sp_pool_new(&c->pool, r, sizeof(double));
    SP_PASS(sp_allocated(context, !c->pool.failed));

    SP_PASS(sp_elastic_rest_energies(context, body, r, U, K));

    for (int64_t j = 0; j < r; j++)
        stiffest = fmax(stiffest, K[j]);
    /* Coordinates without stiffness do not count. */
    for (int64_t j = 0; j < r; j++)
        c->softness[j] = K[j] > 1e-12 * stiffest ? 1 / sqrt(K[j]) : 0;
    sp_pool_drop(&c->pool, K);
    return SP_OK;
}

/* Arrays for B [rows, r] and for its products. */
static int new_arrays(sp_context *context, int64_t rows, bool nested, cubature_force *c)
{
    const int64_t r = c->r;
    c->rows = (int)rows;
    c->batches = sp_pool_new(&c->pool, c->batch_count, sizeof *c->batches);
    c->B = sp_pool_new(&c->pool, rows * r, sizeof(double));
    c->left = c->modal ? sp_pool_new(&c->pool, rows * r, sizeof(double)) : NULL;
    c->left_nested = c->modal && nested ? sp_pool_new(&c->pool, rows * r, sizeof(double)) : NULL;
    c->u = sp_pool_new(&c->pool, rows, sizeof(double));
    c->v = sp_pool_new(&c->pool, rows, sizeof(double));
    c->f = sp_pool_new(&c->pool, rows, sizeof(double));
    c->scaled = sp_pool_new(&c->pool, rows, sizeof(double));
    c->Y = sp_pool_new(&c->pool, rows * r, sizeof(double));
    c->S = sp_pool_new(&c->pool, r * r, sizeof(double));
    c->reduced = sp_pool_new(&c->pool, 3 * r, sizeof(double));
    return sp_allocated(context, !c->pool.failed);
}

int sp_cubature_force_new(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature, int64_t r,
                          const double *U, sp_reduced_force *force)
{
    cubature_force *c = calloc(1, sizeof *c);
    sp_pool scratch = {0};
    sp_batch *batches;
    int64_t *member, rows = 0;
    int status;

    SP_PASS(sp_allocated(context, c));

    *force = (sp_reduced_force){.self = c,
                                .r = r,
                                .unsymmetric = cubature->modal,
                                .active = true,
                                .evaluate = evaluate,
                                .times = times,
                                .destroy = destroy,
                                .visit = visit};
    force->cubic = sp_fe_space_quadratic(context, body) == SP_OK;
    force->inverted = force->cubic ? NULL : inverted;
    force->estimate = cubature->nested ? estimate : NULL;

    c->r = (int)r;
    c->body = body;
    c->modal = cubature->modal;

    SP_TRY(make_batches(context, body, cubature, &scratch, &batches, &member, &c->batch_count));
    /* Every node but the first has three rows, in eight lanes. */
    for (int64_t b = 0; b < c->batch_count; b++)
        rows += (int64_t)SP_LANES * 3 * (batches[b].nodes - 1);
    SP_TRY(sp_dense_fits(context, rows, r));
    SP_TRY(new_arrays(context, rows, cubature->nested != NULL, c));

    /* The lanes of each batch, and its rows of B. */
    rows = 0;
    for (int64_t b = 0; b < c->batch_count; b++) {
        cubature_batch *to = &c->batches[b];

        to->at = rows;
        to->count = batches[b].count;
        memcpy(to->element, batches[b].element, sizeof to->element);

        sp_element_lanes_start(&to->data);
        sp_element_lanes_load(body, &batches[b], &to->data);

        fill_rows(c, body, cubature, U, &batches[b], member + b * SP_LANES, to);
        rows += (int64_t)SP_LANES * 3 * (batches[b].nodes - 1);
    }

    if (cubature->nested)
        SP_TRY(find_softness(context, body, U, c));

    if (cubature->stiffness)
        status = correct_linear_part(context, c, cubature);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK) {
        destroy(c);
        *force = (sp_reduced_force){0};
    }
    return status;
}
