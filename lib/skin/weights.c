#include "skin/weights.h"

#include "assembly/element.h"
#include "linear/cholesky.h"
#include "mesh/element_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 /* bones that are solved together */ };

typedef struct diffusion {
    sp_pool pool;
    sp_context *context;
    const sp_mesh *mesh;
    const int64_t *attached;
    int64_t bone_count, unknowns;
    int64_t *number; /* [vertices] of the unknowns, −1 for attached vertices and for those without elements */
    int64_t *used;   /* [vertices] number of nodes of the elements at each */
    sp_sparse matrix;
    int64_t coupling_count; /* entries between unknowns and attached vertices */
    struct coupling {
        int64_t row, bone;
        double value;
    } * couplings;
} diffusion;

/* ---- the equations ---- */

static int check_pieces(diffusion *d)
{
    const int64_t elements = sp_mesh_element_count(d->mesh);
    int64_t pieces, *label = sp_pool_raw(&d->pool, elements, sizeof *label);
    int status = sp_allocated(d->context, label);

    SP_TRY(status);
    SP_TRY(sp_mesh_components(d->context, d->mesh, label, &pieces));

    bool *found = sp_pool_new(&d->pool, pieces, sizeof *found);
    SP_PASS(sp_allocated(d->context, found));

    /* A piece without an attached vertex would make the matrix singular. */
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(d->mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            found[label[e]] |= d->attached[node[a]] >= 0;
    }

    for (int64_t e = 0; e < elements; e++)
        if (!found[label[e]])
            return sp_fail(d->context, SP_INPUT,
                           "the piece with vertex %lld has no bone: attach one to it, or take the piece out (simcut "
                           "--keep)",
                           (long long)sp_mesh_nodes(d->mesh, e, &(int){0})[0]);
done:
    return status;
}

static int number_unknowns(diffusion *d)
{
    const int64_t vertices = d->mesh->vertex_count;

    d->number = sp_pool_raw(&d->pool, vertices, sizeof *d->number);
    d->used = sp_pool_new(&d->pool, vertices, sizeof *d->used);
    SP_PASS(sp_allocated(d->context, !d->pool.failed));

    /* Room for a row: all nodes of all elements at the vertex */
    for (int64_t e = 0; e < sp_mesh_element_count(d->mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(d->mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            d->used[node[a]] += nodes;
    }

    for (int64_t v = 0; v < vertices; v++)
        d->number[v] = d->used[v] > 0 && d->attached[v] < 0 ? d->unknowns++ : -1;
    return SP_OK;
}

/* Rows with room for every node of every element at the vertex, and the entries between unknowns and attached ones. */
static int allocate(diffusion *d)
{
    int64_t room = 0;
    sp_sparse *m = &d->matrix;

    m->order = d->unknowns;
    m->start = sp_pool_new(&d->pool, d->unknowns + 1, sizeof *m->start);
    if (m->start)
        for (int64_t v = 0; v < d->mesh->vertex_count; v++)
            if (d->number[v] >= 0)
                m->start[d->number[v] + 1] = room += d->used[v];

    m->index = sp_pool_raw(&d->pool, room, sizeof *m->index);
    m->value = sp_pool_raw(&d->pool, room, sizeof *m->value);
    d->couplings = sp_pool_raw(&d->pool, room, sizeof *d->couplings);
    return sp_allocated(d->context, !d->pool.failed);
}

/* Adds to an entry of a row whose columns are in any order yet. */
static void add_entry(sp_sparse *m, int64_t *count, int64_t row, int64_t column, double value)
{
    int64_t at = m->start[row];
    while (at < m->start[row] + count[row] && m->index[at] != column)
        at++;

    if (at == m->start[row] + count[row]) {
        count[row]++;
        m->index[at] = column;
        m->value[at] = 0;
    }
    m->value[at] += value;
}

static int add_element(diffusion *d, const sp_reference *references, int64_t element, int64_t *count)
{
    double X[SP_ELEMENT_NODES][3];
    sp_quadrature quadrature;
    int nodes;
    const int64_t *node = sp_mesh_nodes(d->mesh, element, &nodes);
    const int type = sp_mesh_element_places(d->mesh, element, X);

    if (!(sp_element_quadrature(&references[2 * type], X[0], &quadrature) > 0))
        return sp_fail(d->context, SP_INPUT, "element %lld is inverted or flat", (long long)element);

    for (int a = 0; a < nodes; a++) {
        const int64_t row = d->number[node[a]];
        if (row >= 0)
            for (int b = 0; b < nodes; b++) {
                /* ∫ ∇N_a · ∇N_b dV; attached vertices have known weights, and move to the right-hand side. */
                double value = 0;
                for (int p = 0; p < quadrature.count; p++)
                    value += quadrature.weight[p] * sp_dot3(quadrature.gradient[p][a], quadrature.gradient[p][b]);

                if (d->number[node[b]] >= 0)
                    add_entry(&d->matrix, count, row, d->number[node[b]], value);
                else
                    d->couplings[d->coupling_count++] = (struct coupling){row, d->attached[node[b]], value};
            }
    }
    return SP_OK;
}

/* Sorts the columns of each row and closes the gaps between rows. */
static void pack(sp_sparse *m, const int64_t *count)
{
    int64_t to = 0;
    for (int64_t row = 0; row < m->order; row++) {
        const int64_t from = m->start[row];
        m->start[row] = to;
        for (int64_t k = 0; k < count[row]; k++, to++) {
            const int64_t column = m->index[from + k];
            const double value = m->value[from + k];
            int64_t at = to;

            for (; at > m->start[row] && m->index[at - 1] > column; at--) {
                m->index[at] = m->index[at - 1];
                m->value[at] = m->value[at - 1];
            }
            m->index[at] = column;
            m->value[at] = value;
        }
    }
    m->start[m->order] = to;
}

static int assemble(diffusion *d)
{
    sp_reference *references;
    int64_t *count = sp_pool_new(&d->pool, d->unknowns, sizeof *count);
    int status = sp_allocated(d->context, count);

    SP_TRY(status);
    SP_TRY(allocate(d));

    SP_TRY(sp_mesh_references(d->context, d->mesh, &d->pool, &references));
    for (int64_t e = 0; e < sp_mesh_element_count(d->mesh); e++)
        SP_TRY(add_element(d, references, e, count));

    pack(&d->matrix, count);
done:
    return status;
}

/* ---- the weights that are kept ---- */

/* Inserts a weight into the decreasing list of a vertex. */
static void insert(const sp_skin *skin, int64_t vertex, int64_t bone, double weight)
{
    double *w = skin->weight + vertex * skin->influences;
    int64_t *b = skin->bone + vertex * skin->influences, at = skin->influences;

    while (at > 0 && w[at - 1] < weight)
        at--;

    for (int64_t k = skin->influences - 1; k > at; k--) {
        w[k] = w[k - 1];
        b[k] = b[k - 1];
    }
    if (at < skin->influences) {
        w[at] = weight;
        b[at] = bone;
    }
}

/* x [BLOCK, unknowns] of the bones from `first` on; total [vertices] receives their sums. */
static void keep(const diffusion *d, int64_t first, int64_t count, const double *x, double *total, const sp_skin *skin,
                 sp_skin_report *report)
{
    for (int64_t v = 0; v < d->mesh->vertex_count; v++)
        if (d->number[v] >= 0)
            for (int64_t b = 0; b < count; b++) {
                const double weight = x[b * d->unknowns + d->number[v]];

                report->lowest = fmin(report->lowest, weight);
                if (!(weight > 0))
                    continue;

                total[v] += weight;
                insert(skin, v, first + b, weight);
            }
}

static void normalize(const diffusion *d, const double *total, const sp_skin *skin, sp_skin_report *report)
{
    for (int64_t v = 0; v < d->mesh->vertex_count; v++) {
        double *w = skin->weight + v * skin->influences, sum = 0;

        /* An attached vertex has its bone alone. */
        if (d->number[v] < 0) {
            w[0] = 1;
            skin->bone[v * skin->influences] = d->attached[v] >= 0 ? d->attached[v] : 0;
            continue;
        }

        /* The weights that are kept sum to 1; the part that is dropped is reported. */
        for (int64_t k = 0; k < skin->influences; k++)
            sum += w[k];
        for (int64_t k = 0; k < skin->influences; k++)
            w[k] /= sum;

        report->dropped = fmax(report->dropped, 1 - sum / total[v]);
    }
}

static int solve(diffusion *d, const sp_skin *skin, sp_skin_report *report)
{
    sp_cholesky *cholesky = NULL;
    double *x = sp_pool_raw(&d->pool, BLOCK * d->unknowns, sizeof *x),
           *total = sp_pool_new(&d->pool, d->mesh->vertex_count, sizeof *total);
    int status = sp_allocated(d->context, !d->pool.failed);

    SP_TRY(status);

    if (d->unknowns > 0) {
        SP_TRY(sp_cholesky_new(d->context, &d->matrix, NULL, &cholesky));
        SP_TRY(sp_cholesky_factor(cholesky, &d->matrix));

        for (int64_t first = 0; first < d->bone_count; first += BLOCK) {
            const int64_t count = d->bone_count - first < BLOCK ? d->bone_count - first : BLOCK;

            /* The weight is 1 at the vertices of the bone and 0 at those of others. */
            memset(x, 0, (size_t)(BLOCK * d->unknowns) * sizeof *x);
            for (int64_t k = 0; k < d->coupling_count; k++) {
                const struct coupling *c = &d->couplings[k];
                if (c->bone >= first && c->bone < first + count)
                    x[(c->bone - first) * d->unknowns + c->row] -= c->value;
            }

            SP_TRY(sp_cholesky_solve(cholesky, count, x, x));
            keep(d, first, count, x, total, skin, report);
            SP_TRY(sp_progress(d->context, (double)(first + count) / (double)d->bone_count));
        }
    }

    normalize(d, total, skin, report);
    report->solved = d->unknowns;
done:
    sp_cholesky_free(cholesky);
    return status;
}

int sp_skin_weights(sp_context *context, const sp_mesh *mesh, int64_t bone_count, const int64_t *attached,
                    int64_t influences, sp_skin *skin, sp_skin_report *report)
{
    const int64_t vertices = mesh->vertex_count, kept = influences < bone_count ? influences : bone_count;
    diffusion d = {.context = context, .mesh = mesh, .attached = attached, .bone_count = bone_count};
    int status = SP_OK;

    *report = (sp_skin_report){0};
    *skin = (sp_skin){.vertex_count = vertices, .bone_count = bone_count, .influences = kept};

    skin->bone = sp_pool_new(&skin->pool, vertices * kept, sizeof *skin->bone);
    skin->weight = sp_pool_new(&skin->pool, vertices * kept, sizeof *skin->weight);
    skin->attached = sp_pool_copy(&skin->pool, attached, vertices, sizeof *skin->attached);
    if (skin->pool.failed)
        status = sp_fail_memory(context);

    SP_TRY(status);

    SP_TRY(check_pieces(&d));
    SP_TRY(number_unknowns(&d));
    SP_TRY(assemble(&d));
    SP_TRY(solve(&d, skin, report));
done:
    sp_pool_free(&d.pool);
    if (status != SP_OK)
        sp_skin_free(skin);
    return status;
}
