#include "skin/inertia.h"

#include "base/mat3.h"
#include "linear/dense.h"
#include "model/outer_loads.h"

#include <cblas.h>
#include <string.h>

/* ---- the constant sums ---- */

typedef struct builder {
    sp_pool pool;
    sp_context *context;
    const sp_fe_space *body;
    const sp_skin *skin;
    const double *U;
    bool lumped;
    int64_t r, width;     /* 3 r + 4 fields: U by component, X, 1 */
    double *dense;        /* [vertices] weights of one bone */
    double *fields;       /* [vertices, width] of the vertices that bone c moves, times its weight */
    double *product;      /* [vertices, width] M fields, of the nodes of their elements */
    bool *near;           /* [vertices] that are such nodes */
    double *left, *right; /* [vertices, 3 r], [vertices, width] rows of the vertices that both bones reach */
    double *gram;         /* [3 r, width, row major] */
} builder;

static void spread_weights(const sp_skin *skin, int64_t bone, double *dense)
{
    memset(dense, 0, (size_t)skin->vertex_count * sizeof *dense);
    for (int64_t k = 0; k < skin->vertex_count * skin->influences; k++)
        if (skin->bone[k] == bone)
            dense[k / skin->influences] += skin->weight[k];
}

static void set_fields(builder *b)
{
    const sp_mesh *mesh = b->body->mesh;
    const int64_t r = b->r, rows = 3 * mesh->vertex_count;

    /* The weighted fields of the bone: r modes along x, y and z, the place, and 1 */
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double *to = b->fields + v * b->width;
        if (b->dense[v] == 0)
            continue;

        for (int a = 0; a < 3; a++) {
            for (int64_t j = 0; j < r; j++)
                to[a * r + j] = b->dense[v] * b->U[j * rows + 3 * v + a];
            to[3 * r + a] = b->dense[v] * mesh->vertices[3 * v + a];
        }
        to[3 * r + 3] = b->dense[v];
    }
}

/* product += M_e fields of an element. */
static void add_element(builder *b, int64_t element)
{
    const sp_element_class *class = &b->body->classes[b->body->element_class[element]];
    double lumped[SP_ELEMENT_NODES];
    int nodes;
    const int64_t *node = sp_mesh_nodes(b->body->mesh, element, &nodes);

    if (b->lumped)
        sp_element_class_lumped(class, lumped);

    /* The product also reaches vertices of the element that the bone does not move. */
    for (int i = 0; i < nodes; i++) {
        b->near[node[i]] = true;
        for (int j = 0; j < nodes; j++) {
            const double mass = b->lumped ? (i == j ? lumped[i] : 0) : class->mass[i * nodes + j];
            if (mass != 0 && b->dense[node[j]] != 0)
                cblas_daxpy((int)b->width, mass, b->fields + node[j] * b->width, 1, b->product + node[i] * b->width, 1);
        }
    }
}

/* The product of the mass and the fields of bone c. */
static void multiply(builder *b, int64_t c)
{
    const int64_t vertices = b->skin->vertex_count;

    spread_weights(b->skin, c, b->dense);
    set_fields(b);
    memset(b->product, 0, (size_t)(vertices * b->width) * sizeof *b->product);
    memset(b->near, 0, (size_t)vertices * sizeof *b->near);

    /* Only elements with a vertex that the bone moves */
    for (int64_t e = 0; e < sp_mesh_element_count(b->body->mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(b->body->mesh, e, &nodes);
        bool moved = false;
        for (int a = 0; a < nodes; a++)
            moved |= b->dense[node[a]] != 0;
        if (moved)
            add_element(b, e);
    }
}

/* The rows at the vertices that bone `other` moves and the product reaches; returns their number. */
static int64_t gather(builder *b, int64_t other)
{
    const int64_t r = b->r, rows = 3 * b->skin->vertex_count;
    int64_t count = 0;

    spread_weights(b->skin, other, b->dense);

    /* Rows in which one of the factors vanishes add nothing. */
    for (int64_t v = 0; v < b->skin->vertex_count; v++) {
        if (b->dense[v] == 0 || !b->near[v])
            continue;
        for (int64_t i = 0; i < 3 * r; i++)
            b->left[count * 3 * r + i] = b->dense[v] * b->U[i % r * rows + 3 * v + i / r];
        memcpy(b->right + count * b->width, b->product + v * b->width, (size_t)b->width * sizeof *b->right);
        count++;
    }
    return count;
}

static void sort_sums(const builder *b, double scale, const sp_bone_pair *pair)
{
    const int64_t r = b->r;

    /* The columns of a row are U, X and 1: T, P and m. */
    for (int a = 0; a < 3; a++)
        for (int64_t k = 0; k < r; k++) {
            const double *row = b->gram + (a * r + k) * b->width;
            pair->m[a * r + k] = scale * row[3 * r + 3];
            for (int d = 0; d < 3; d++) {
                pair->P[(3 * d + a) * r + k] = scale * row[3 * r + d];
                for (int64_t l = 0; l < r; l++)
                    pair->T[((3 * a + d) * r + k) * r + l] = scale * row[d * r + l];
            }
        }
}

static int add_pair(builder *b, int64_t other, int64_t c, double scale, sp_list *list, sp_skin_inertia *inertia)
{
    const int64_t r = b->r, count = gather(b, other);

    if (count == 0)
        return SP_OK;

    /* Σ over the vertices of both: (weight of b times U)ᵀ M (fields of c) */
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(3 * r), (int)b->width, (int)count, 1, b->left,
                (int)(3 * r), b->right, (int)b->width, 0, b->gram, (int)b->width);

    sp_bone_pair *pair = sp_list_add(list, 1, sizeof *pair);
    SP_PASS(sp_allocated(b->context, pair));
    *pair = (sp_bone_pair){.b = other, .c = c};

    pair->m = sp_pool_raw(&inertia->pool, 3 * r, sizeof *pair->m);
    pair->P = sp_pool_raw(&inertia->pool, 9 * r, sizeof *pair->P);
    pair->T = sp_pool_raw(&inertia->pool, 9 * r * r, sizeof *pair->T);

    SP_PASS(sp_allocated(b->context, !inertia->pool.failed));
    sort_sums(b, scale, pair);
    return SP_OK;
}

static int build(builder *b, double scale, sp_skin_inertia *inertia)
{
    const int64_t vertices = b->skin->vertex_count, bones = b->skin->bone_count;
    sp_list list = {0};
    int status;

    SP_TRY(sp_dense_fits(b->context, 3 * vertices, b->width));

    b->dense = sp_pool_raw(&b->pool, vertices, sizeof *b->dense);
    b->near = sp_pool_raw(&b->pool, vertices, sizeof *b->near);
    b->fields = sp_pool_raw(&b->pool, vertices * b->width, sizeof *b->fields);
    b->product = sp_pool_raw(&b->pool, vertices * b->width, sizeof *b->product);
    b->left = sp_pool_raw(&b->pool, vertices * 3 * b->r, sizeof *b->left);
    b->right = sp_pool_raw(&b->pool, vertices * b->width, sizeof *b->right);
    b->gram = sp_pool_raw(&b->pool, 3 * b->r * b->width, sizeof *b->gram);

    if (b->pool.failed)
        status = sp_fail_memory(b->context);
    SP_TRY(status);

    /* The product M times fields of a bone serves all pairs with it. */
    for (int64_t c = 0; c < bones; c++) {
        multiply(b, c);
        for (int64_t other = 0; other < bones; other++)
            SP_TRY(add_pair(b, other, c, scale, &list, inertia));
    }

    inertia->pair_count = list.count;
    inertia->pairs = sp_pool_copy(&inertia->pool, list.data, list.count, sizeof *inertia->pairs);
    if (!inertia->pairs)
        status = sp_fail_memory(b->context);
done:
    sp_list_free(&list);
    return status;
}

int sp_skin_inertia_new(sp_context *context, const sp_fe_space *body, bool lumped, double scale, int64_t r,
                        const double *U, const sp_skin *skin, const sp_rig *rig, const double gravity[3],
                        const sp_external_loads *inner, sp_skin_inertia *inertia)
{
    builder b = {.context = context, .body = body, .skin = skin, .U = U, .lumped = lumped, .r = r, .width = 3 * r + 4};

    *inertia =
        (sp_skin_inertia){.r = r, .bone_count = skin->bone_count, .skin = skin, .rig = rig, .inner = *inner, .from = 1};
    memcpy(inertia->gravity, gravity, sizeof inertia->gravity);
    inertia->motion = sp_pool_new(&inertia->pool, skin->bone_count, sizeof *inertia->motion);
    inertia->B = sp_pool_new(&inertia->pool, r * r, sizeof *inertia->B);
    inertia->W = sp_pool_new(&inertia->pool, r * r, sizeof *inertia->W);

    const int status = inertia->pool.failed ? sp_fail_memory(context) : build(&b, scale, inertia);
    sp_pool_free(&b.pool);
    if (status != SP_OK)
        sp_skin_inertia_free(inertia);
    return status;
}

int sp_skin_inertia_warp(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                         bool lumped, double scale, sp_skin_inertia *inertia)
{
    const int status = sp_warped_sum_new(context, body, warp, U, inertia->r, lumped, scale, &inertia->warped);
    inertia->warps = status == SP_OK;
    return status;
}

void sp_skin_inertia_free(sp_skin_inertia *inertia)
{
    sp_warped_sum_free(&inertia->warped);
    sp_pool_free(&inertia->pool);
    *inertia = (sp_skin_inertia){0};
}

/* ---- the loads ---- */

/* D = R_bᵀ R_c. The rotation between a bone and itself is the identity without rounding. */
static void between(const sp_skin_inertia *s, const sp_bone_pair *pair, double D[9])
{
    const double *Rb = s->motion[pair->b].R, *Rc = s->motion[pair->c].R;
    for (int i = 0; i < 9; i++) {
        const int a = i / 3, d = i % 3;
        D[i] = pair->b == pair->c ? a == d : Rb[a] * Rc[d] + Rb[3 + a] * Rc[3 + d] + Rb[6 + a] * Rc[6 + d];
    }
}

static void add_matrices(sp_skin_inertia *s, const sp_bone_pair *pair)
{
    const sp_frame_motion *motion = &s->motion[pair->c];
    const int square = (int)(s->r * s->r);
    double D[9], B[9], W[9];

    between(s, pair, D);
    sp_multiply3(D, motion->B, B);
    sp_multiply3(D, motion->W, W);

    /* B += Σ (D B)_ad T_ad and W += 2 Σ (D W)_ad T_ad, with T_ad [r, r] */
    for (int ad = 0; ad < 9; ad++) {
        if (B[ad] != 0)
            cblas_daxpy(square, B[ad], pair->T + ad * square, 1, s->B, 1);
        if (W[ad] != 0)
            cblas_daxpy(square, 2 * W[ad], pair->T + ad * square, 1, s->W, 1);
    }
}

/* The motion of the bones over an interval and its two matrices, which an implicit step uses many times. */
static void set_interval(sp_skin_inertia *s, double t0, double t1)
{
    if (s->from == t0 && s->to == t1)
        return;

    for (int64_t b = 0; b < s->bone_count; b++) {
        const sp_rig_place place = {s->rig, b};
        sp_frame_motion_find(sp_rig_follow, &place, s->gravity, t0, t1, &s->motion[b]);
    }

    memset(s->B, 0, (size_t)(s->r * s->r) * sizeof *s->B);
    memset(s->W, 0, (size_t)(s->r * s->r) * sizeof *s->W);

    for (int64_t p = 0; p < s->pair_count; p++)
        add_matrices(s, &s->pairs[p]);
    s->from = t0;
    s->to = t1;
}

static void mean(void *self, double t0, double t1, double *f)
{
    sp_skin_inertia *s = self;
    s->inner.mean(s->inner.self, t0, t1, f);
    set_interval(s, t0, t1);

    /* −m D a − D B : P summed over the pairs */
    for (int64_t p = 0; p < s->pair_count; p++) {
        const sp_bone_pair *pair = &s->pairs[p];
        const sp_frame_motion *motion = &s->motion[pair->c];
        double D[9], B[9];
        between(s, pair, D);
        sp_multiply3(D, motion->B, B);

        for (int a = 0; a < 3; a++) {
            cblas_daxpy((int)s->r, -sp_dot3(D + 3 * a, motion->a), pair->m + a * s->r, 1, f, 1);
            for (int d = 0; d < 3; d++)
                cblas_daxpy((int)s->r, -B[3 * a + d], pair->P + (3 * d + a) * s->r, 1, f, 1);
        }
    }
}

/* g_i(x, v) of a unit mass. */
static void inertial(const void *data, int64_t vertex, const double x[3], const double v[3], double g[3])
{
    const sp_skin_inertia *s = data;
    const int64_t first = vertex * s->skin->influences, last = first + s->skin->influences;
    double world[3] = {0}, own[3];

    /* Σ_c w_c R_c (a_c + B_c x + 2 W_c v) */
    for (int64_t k = first; k < last; k++) {
        const sp_frame_motion *motion = &s->motion[s->skin->bone[k]];
        for (int a = 0; a < 3; a++)
            own[a] = motion->a[a] + sp_dot3(motion->B + 3 * a, x) + 2 * sp_dot3(motion->W + 3 * a, v);
        for (int a = 0; a < 3; a++)
            world[a] += s->skin->weight[k] * sp_dot3(motion->R + 3 * a, own);
    }

    /* −Σ_b w_b R_bᵀ of it */
    memset(g, 0, 3 * sizeof *g);
    for (int64_t k = first; k < last; k++) {
        const double *R = s->motion[s->skin->bone[k]].R;
        for (int a = 0; a < 3; a++)
            g[a] -= s->skin->weight[k] * (R[a] * world[0] + R[3 + a] * world[1] + R[6 + a] * world[2]);
    }
}

static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    sp_skin_inertia *s = self;
    const int r = (int)s->r;

    sp_inner_follow(&s->inner, r, t0, t1, q, v, f);

    set_interval(s, t0, t1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, r, r, -1, s->B, r, q, 1, 1, f, 1);
    if (v)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, r, r, -1, s->W, r, v, 1, 1, f, 1);
    if (s->warps)
        sp_warped_sum_add(&s->warped, inertial, s, q, v, f);
}

sp_external_loads sp_skin_inertia_loads(sp_skin_inertia *inertia)
{
    return sp_outer_loads(inertia, mean, follow);
}
