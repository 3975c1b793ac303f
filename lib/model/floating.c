#include "model/floating.h"

#include "base/forest.h"
#include "mesh/cut.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* The pieces of a body and the constrained components of each. */
typedef struct pieces {
    sp_pool pool;
    const sp_fe_space *body;
    const int64_t *place;
    double size;             /* size of the body, m */
    int64_t count, *piece;   /* [elements] number of the piece of each element */
    int64_t *parent, *seen;  /* [elements], [vertices] scratch */
    int64_t *first, *vertex; /* [count] first element, and a vertex that is not at rest; −1: none */
    double *gram; /* [count, 6, 6] Gram matrix of the components at rest in the six rigid motions about the piece's
                     first corner, with lengths in units of size */
} pieces;

static bool moves(const pieces *p, int64_t vertex, int c)
{
    const int64_t dof = p->body->dof[3 * vertex + c];
    return dof >= 0 && (!p->place || p->place[dof] >= 0);
}

/* Returns true if the vertex connects its elements: it has a component that is neither fixed nor constrained. */
static bool loose(const pieces *p, int64_t vertex)
{
    return moves(p, vertex, 0) || moves(p, vertex, 1) || moves(p, vertex, 2);
}

/* Joins elements that share such a vertex to a piece: a tree in `parent` whose root is the piece's first element. */
static void join_elements(pieces *p)
{
    const sp_mesh *mesh = p->body->mesh;
    const int64_t elements = sp_mesh_element_count(mesh);

    p->count = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        p->seen[v] = -1;
    for (int64_t e = 0; e < elements; e++)
        p->parent[e] = e;

    /* Elements are joined over a vertex by way of the first element that has it, whose number is in `seen`. */
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++) {
            if (!loose(p, node[a]))
                continue;
            if (p->seen[node[a]] < 0)
                p->seen[node[a]] = e;
            sp_forest_join(p->parent, p->seen[node[a]], e);
        }
    }

    /* Pieces are numbered by their first element, which is their root and comes before their other elements. */
    for (int64_t e = 0; e < elements; e++) {
        p->piece[e] = p->parent[e] == e ? p->count++ : p->piece[sp_forest_root(p->parent, e)];
        if (p->parent[e] == e)
            p->first[p->piece[e]] = e;
    }
}

/* Row c of the rigid motions t + θ × x at a vertex. x is measured from a point of the piece, since digits would be lost
 * far from the origin. */
static void motion_row(const pieces *p, int64_t piece, int64_t vertex, int c, double row[6])
{
    const sp_mesh *mesh = p->body->mesh;
    const double *origin = mesh->vertices + 3 * sp_mesh_nodes(mesh, p->first[piece], &(int){0})[0],
                 *x = mesh->vertices + 3 * vertex;

    memset(row, 0, 6 * sizeof *row);

    /* (θ × x)_c = θ_{c+1} x_{c+2} − θ_{c+2} x_{c+1} */
    row[c] = 1;
    row[3 + (c + 1) % 3] = (x[(c + 2) % 3] - origin[(c + 2) % 3]) / p->size;
    row[3 + (c + 2) % 3] = -(x[(c + 1) % 3] - origin[(c + 1) % 3]) / p->size;
}

static void sum_rest(pieces *p)
{
    const sp_mesh *mesh = p->body->mesh;

    memset(p->gram, 0, (size_t)(36 * p->count) * sizeof *p->gram);
    for (int64_t i = 0; i < p->count; i++)
        p->vertex[i] = -1;

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t piece = p->piece[e], *node = sp_mesh_nodes(mesh, e, &nodes);
        double *gram = p->gram + 36 * piece, row[6];
        for (int a = 0; a < nodes; a++) {
            if (p->vertex[piece] < 0 && loose(p, node[a]))
                p->vertex[piece] = node[a];

            /* A component at rest resists the motions in which it would move: gram is the sum of row rowᵀ over
             * these. */
            for (int c = 0; c < 3; c++) {
                if (moves(p, node[a], c))
                    continue;
                motion_row(p, piece, node[a], c, row);
                for (int i = 0; i < 36; i++)
                    gram[i] += row[i / 6] * row[i % 6];
            }
        }
    }
}

static int begin(sp_context *context, const sp_fe_space *body, const int64_t *place, pieces *p)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t elements = sp_mesh_element_count(mesh);
    double low[3], high[3];

    *p = (pieces){.body = body, .place = place};
    p->piece = sp_pool_raw(&p->pool, elements, sizeof *p->piece);
    p->parent = sp_pool_raw(&p->pool, elements, sizeof *p->parent);
    p->first = sp_pool_raw(&p->pool, elements, sizeof *p->first);
    p->vertex = sp_pool_raw(&p->pool, elements, sizeof *p->vertex);
    p->seen = sp_pool_raw(&p->pool, mesh->vertex_count, sizeof *p->seen);

    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++)
        p->size = fmax(p->size, high[c] - low[c]);
    return sp_allocated(context, !p->pool.failed);
}

static int find(sp_context *context, pieces *p)
{
    join_elements(p);
    sp_pool_drop(&p->pool, p->gram);
    p->gram = sp_pool_raw(&p->pool, 36 * p->count, sizeof *p->gram);
    SP_PASS(sp_allocated(context, p->gram));
    sum_rest(p);
    return SP_OK;
}

/* Returns true if a piece has a rigid motion left, and writes the one of least resistance [6]. Overwrites its Gram
 * matrix. */
static bool floats(pieces *p, int64_t piece, double motion[6], bool *anywhere)
{
    double *gram = p->gram + 36 * piece, value[6], work[256];
    if (p->vertex[piece] < 0)
        return false;

    /* A motion in the null space of the Gram matrix moves no component at rest. Eigenvalues ascend, so that column 0
     * is the motion of least resistance. */
    const lapack_int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', 6, gram, 6, value, work, 256);
    memcpy(motion, gram, 6 * sizeof *motion);
    *anywhere = info != 0 || !(value[5] > 0);
    /* squared lengths: points within a millionth of the body's size of a point or an axis count as on it */
    return info != 0 || !(value[0] > 1e-12 * fmax(1, value[5]));
}

int sp_floating_piece(sp_context *context, const sp_fe_space *body, const int64_t *place, int64_t *vertex,
                      bool *anywhere)
{
    pieces p;
    double motion[6];
    int status = begin(context, body, place, &p);

    if (status == SP_OK)
        status = find(context, &p);

    *vertex = -1;
    for (int64_t i = 0; status == SP_OK && i < p.count && *vertex < 0; i++)
        if (floats(&p, i, motion, anywhere))
            *vertex = p.vertex[i];
    sp_pool_free(&p.pool);
    return status;
}

static void rest(const sp_fe_space *body, int64_t vertex, int64_t *place)
{
    for (int c = 0; c < 3; c++)
        if (body->dof[3 * vertex + c] >= 0)
            place[body->dof[3 * vertex + c]] = -1;
}

int sp_floating_refuse_statics(sp_context *context, const sp_fe_space *body, int64_t count,
                               const sp_load *const *springs)
{
    sp_pool scratch = {0};
    int64_t vertex, count_of_pieces, *place = sp_pool_new(&scratch, body->dof_count, sizeof *place);
    int64_t *piece = sp_pool_raw(&scratch, sp_mesh_element_count(body->mesh), sizeof *piece);
    bool anywhere = false;
    int status = SP_OK;

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    /* Vertices with springs count as fixed. */
    for (int64_t i = 0; i < count; i++)
        rest(body, springs[i]->id, place);
    SP_TRY(sp_floating_piece(context, body, place, &vertex, &anywhere));
    if (vertex < 0)
        goto done;

    const char *prescribed = anywhere ? "nothing fixes" : "the constraints leave rigid motions to";
    SP_TRY(sp_mesh_pieces_by_size(context, body->mesh, piece, &count_of_pieces));

    if (count_of_pieces > 1)
        status = sp_fail(context, SP_INPUT,
                         "%s the piece with vertex %lld: statics finds no equilibrium of it; fix vertices, attach "
                         "springs, or take the piece out (simcut --keep)",
                         prescribed, (long long)vertex);
    else
        status = sp_fail(context, SP_INPUT, "%s the mesh: statics finds no equilibrium; fix vertices or attach springs",
                         prescribed);
done:
    sp_pool_free(&scratch);
    return status;
}

/* Writes to p->vertex the vertex of each floating piece that moves farthest, of equal ones the first, and −1 for all
 * other pieces. motion [count, 6] and way [count] are scratch. */
static int64_t find_farthest(pieces *p, double *motion, double *way)
{
    const sp_mesh *mesh = p->body->mesh;
    int64_t floating = 0;

    for (int64_t i = 0; i < p->count; i++) {
        bool anywhere = false, is = floats(p, i, motion + 6 * i, &anywhere);
        way[i] = is && !anywhere ? 0 : INFINITY;
        floating += is && !anywhere;
        p->vertex[i] = -1;
    }
    if (floating == 0)
        return 0;

    /* The way of a vertex in its piece's motion of least resistance, over the components that can move */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t piece = p->piece[e], *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++) {
            double square = 0;
            for (int c = 0; c < 3; c++) {
                double row[6], sum = 0;
                if (!moves(p, node[a], c))
                    continue;
                motion_row(p, piece, node[a], c, row);
                for (int i = 0; i < 6; i++)
                    sum += row[i] * motion[6 * piece + i];
                square += sum * sum;
            }
            if (square > way[piece] * (1 + 1e-9)) {
                way[piece] = square;
                p->vertex[piece] = node[a];
            }
        }
    }
    return floating;
}

int sp_floating_settle(sp_context *context, const sp_fe_space *body, int64_t *place, int64_t *added)
{
    pieces p;
    int status = begin(context, body, place, &p);

    *added = 0;

    /* Holding a vertex can leave another motion of its piece, or split the piece in two, so that all is found again. */
    while (status == SP_OK) {
        SP_TRY(find(context, &p));
        double *motion = sp_pool_raw(&p.pool, 6 * p.count, sizeof *motion),
               *way = sp_pool_raw(&p.pool, p.count, sizeof *way);
        if (p.pool.failed) {
            status = sp_fail_memory(context);
            break;
        }

        if (find_farthest(&p, motion, way) == 0)
            break;

        for (int64_t i = 0; i < p.count; i++) {
            if (p.vertex[i] < 0)
                continue;
            rest(body, p.vertex[i], place);
            ++*added;
        }

        sp_pool_drop(&p.pool, motion);
        sp_pool_drop(&p.pool, way);
    }
done:
    sp_pool_free(&p.pool);
    return status;
}
