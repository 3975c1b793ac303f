/* Whether dynamic and held components leave every piece of a body without rigid motion: where they do not, K_ss is singular. */
#include "dynamics/condensed_map.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static int64_t root(int64_t *parent, int64_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static bool quasistatic(const sp_body *body, const int64_t *place, int64_t vertex, int c)
{
    const int64_t dof = body->dof[3 * vertex + c];
    return dof >= 0 && place[dof] >= 0;
}

/* A vertex through which elements hang together: it can move by itself. */
static bool loose(const sp_body *body, const int64_t *place, int64_t vertex)
{
    return quasistatic(body, place, vertex, 0) || quasistatic(body, place, vertex, 1) || quasistatic(body, place, vertex, 2);
}

/* Elements that share a loose vertex are of one piece, a tree in parent [elements] whose root is the piece's first element. seen [vertices]: room. */
static void find_pieces(const sp_body *body, const int64_t *place, int64_t *parent, int64_t *seen)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t elements = sp_mesh_element_count(mesh);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        seen[v] = -1;
    for (int64_t e = 0; e < elements; e++)
        parent[e] = e;
    for (int64_t e = 0; e < elements; e++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        for (int a = 0; a < corners; a++) {
            if (!loose(body, place, corner[a]))
                continue;
            if (seen[corner[a]] < 0)
                seen[corner[a]] = e;
            const int64_t x = root(parent, seen[corner[a]]), y = root(parent, e);
            parent[x > y ? x : y] = x > y ? y : x;
        }
    }
}

/* Adds what component c at x says about rigid motions: t_c + (θ × x)_c, squared. */
static void add_component(const double x[3], int c, double G[36])
{
    double r[6] = {0};
    r[c] = 1;
    r[3 + (c + 1) % 3] = x[(c + 2) % 3];
    r[3 + (c + 2) % 3] = -x[(c + 1) % 3];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            G[6 * i + j] += r[i] * r[j];
}

int sp_condensed_refuse_floating(sp_context *context, const sp_body *body, const int64_t *place)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool pool = {0};
    int64_t *parent = sp_pool_raw(&pool, elements, sizeof *parent), *seen = sp_pool_raw(&pool, mesh->vertex_count, sizeof *seen), *piece = sp_pool_raw(&pool, elements, sizeof *piece);
    int64_t pieces = 0;
    double *G = NULL; /* [pieces, 6, 6] */
    int status = SP_OK;
    if (pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    find_pieces(body, place, parent, seen);
    for (int64_t e = 0; e < elements; e++)
        piece[e] = parent[e] == e ? pieces++ : piece[root(parent, e)];
    G = sp_pool_new(&pool, 36 * pieces, sizeof *G);
    if (pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    double low[3], high[3], size = 0;
    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++)
        size = fmax(size, high[c] - low[c]);
    for (int64_t e = 0; e < elements; e++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        const double *origin = mesh->vertices + 3 * sp_mesh_corners(mesh, root(parent, e), &(int){0})[0]; /* a point of the piece: far from 0 digits would be lost */
        for (int a = 0; a < corners; a++) {
            double x[3];
            for (int c = 0; c < 3; c++)
                x[c] = (mesh->vertices[3 * corner[a] + c] - origin[c]) / size;
            for (int c = 0; c < 3; c++)
                if (!quasistatic(body, place, corner[a], c))
                    add_component(x, c, G + 36 * piece[e]);
        }
    }
    for (int64_t e = 0; e < elements; e++) {
        int corners, at = 0;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        double value[6], work[64];
        while (at < corners && !loose(body, place, corner[at]))
            at++;
        if (parent[e] != e || at == corners)
            continue;
        const lapack_int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', 6, G + 36 * piece[e], 6, value, work, 64);
        /* squares: a millionth of the body's size from a point or an axis is as good as on it */
        if (info == 0 && value[0] > 1e-12 * fmax(1, value[5]))
            continue;
        status = sp_fail(context, SP_INPUT, "the piece with vertex %lld could %s with its dynamic and held vertices at rest: it needs more dynamic vertices", (long long)corner[at],
                         value[5] > 0 ? "still turn or slide" : "go anywhere");
        goto done;
    }
done:
    sp_pool_free(&pool);
    return status;
}
