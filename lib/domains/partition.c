/* Automatic division into domains: recursive bisection of the graph of the elements (domains.h). */
#include "domains/domains.h"

#include "base/compare.h"
#include "base/forest.h"
#include "base/vec3.h"
#include "linear/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SHARE = 8 }; /* a domain has at least an eighth of the mean size */

/* The elements of a domain that is divided, contracted to nodes. */
typedef struct quotient {
    sp_pool pool;
    int64_t elements, *element; /* [elements] of the mesh, increasing */
    int64_t *node;              /* [elements] */
    int64_t count;              /* nodes */
    int64_t *weight;            /* [count] number of elements */
    int64_t *start, *index;
    int64_t *first, *order; /* [count + 1] into order [elements]: the elements of each node, by their place */
} quotient;

typedef struct partition {
    sp_context *context;
    const sp_mesh *mesh;
    const sp_element_graph *graph;
    int64_t *domain;       /* [elements of the mesh] */
    int64_t *place;        /* [elements of the mesh] its number in the domain that is divided */
    int64_t domain_count;  /* so far */
    int64_t *target;       /* [domains] into how many parts each is to be divided */
    int64_t *size;         /* [domains] elements */
    int32_t (*on_side)[2]; /* [vertices] elements on either side of a division */
} partition;

/* A vertex of the interface to another domain, and the piece that it is in, an element of the quotient. */
typedef struct shared_vertex {
    int64_t other, piece;
} shared_vertex;

static int compare_shared(const void *a, const void *b)
{
    const shared_vertex *x = a, *y = b;
    return x->other != y->other ? (x->other > y->other) - (x->other < y->other)
                                : (x->piece > y->piece) - (x->piece < y->piece);
}

/* Joins the elements around vertex v of element i of the quotient if other domains have the vertex too. If `list` is
 * given, adds the vertex instead, once for each other domain. Returns false if there is no memory. */
static bool visit_vertex(partition *p, const quotient *q, int64_t i, int64_t v, int64_t *parent, sp_list *list)
{
    const int64_t own = p->domain[q->element[i]], *around = p->graph->vertex_element + p->graph->vertex_start[v];
    const int64_t count = p->graph->vertex_start[v + 1] - p->graph->vertex_start[v];
    int64_t first = -1;
    bool shared = false;

    /* Whether other domains have the vertex, and the first of the own elements around it. */
    for (int64_t k = 0; k < count; k++) {
        shared |= p->domain[around[k]] != own;
        if (first < 0 && p->domain[around[k]] == own)
            first = p->place[around[k]];
    }

    if (shared && !list)
        sp_forest_join(parent, first, i);
    if (!shared || !list || first != i)
        return true;
    /* Each other domain around the vertex once, listed by the first of the elements. */
    for (int64_t k = 0; k < count; k++) {
        bool before = p->domain[around[k]] == own;
        for (int64_t l = 0; l < k && !before; l++)
            before = p->domain[around[l]] == p->domain[around[k]];
        if (before)
            continue;

        shared_vertex *added = sp_list_add(list, 1, sizeof *added);
        if (!added)
            return false;
        *added = (shared_vertex){.other = p->domain[around[k]], .piece = sp_forest_root(parent, i)};
    }
    return true;
}

/* The number of entries from `from` on that equal it in the other domain and, if `piece`, in the piece. */
static int64_t run_of(const shared_vertex *list, int64_t from, int64_t count, bool piece)
{
    int64_t k = from;
    while (k < count && list[k].other == list[from].other && (!piece || list[k].piece == list[from].piece))
        k++;
    return k - from;
}

/* Joins the pieces of the interface to one domain that have less than a quarter of the vertices of the largest piece to
 * that one. */
static void join_small_pieces(const shared_vertex *list, int64_t count, int64_t *parent)
{
    int64_t most = 0, largest = 0;

    /* The list is sorted by pieces: a run is a piece. */
    for (int64_t k = 0; k < count; k += run_of(list, k, count, true))
        if (run_of(list, k, count, true) > most) {
            most = run_of(list, k, count, true);
            largest = list[k].piece;
        }

    for (int64_t k = 0; k < count; k += run_of(list, k, count, true))
        if (4 * run_of(list, k, count, true) < most)
            sp_forest_join(parent, largest, list[k].piece);
}

/* Joins the elements around each vertex that other domains have too, in `parent`, a forest over the elements of the
 * quotient: then each piece of an interface stays in one domain. Small pieces, such as a single vertex or edge, stay
 * with the largest one: they are no interfaces by themselves. */
static int contract_interfaces(partition *p, const quotient *q, int64_t *parent)
{
    sp_list list = {0};
    int status = SP_OK;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < q->elements; i++) {
            int corners;
            const int64_t *corner = sp_mesh_corner_nodes(p->mesh, q->element[i], &corners);
            for (int a = 0; a < corners; a++)
                SP_TRY(sp_allocated(p->context, visit_vertex(p, q, i, corner[a], parent, pass ? &list : NULL)));
        }

    shared_vertex *shared = list.data;
    if (list.count > 0)
        qsort(shared, (size_t)list.count, sizeof *shared, compare_shared);

    for (int64_t k = 0, run; k < list.count; k += run) {
        run = run_of(shared, k, list.count, false);
        join_small_pieces(shared + k, run, parent);
    }
done:
    sp_list_free(&list);
    return status;
}

/* The edges between different nodes. */
static int make_edges(partition *p, quotient *q)
{
    sp_list index = {0};
    int status = SP_OK;
    for (int64_t node = 0; node < q->count; node++) {
        const int64_t before = index.count;

        for (int64_t i = q->first[node]; i < q->first[node + 1]; i++) {
            const int64_t element = q->element[q->order[i]];
            /* Neighbours in the same domain that belong to other nodes. */
            for (int64_t k = p->graph->start[element]; k < p->graph->start[element + 1]; k++) {
                const int64_t other = p->graph->index[k], at = p->place[other];

                if (p->domain[other] != p->domain[element] || q->node[at] == node)
                    continue;
                int64_t *to = sp_list_add(&index, 1, sizeof *to);
                SP_TRY(sp_allocated(p->context, to));
                *to = q->node[at];
            }
        }

        /* Each neighbour once. */
        int64_t *list = (int64_t *)index.data + before, kept = 0;
        if (index.count > before)
            qsort(list, (size_t)(index.count - before), sizeof *list, sp_compare_integers);
        for (int64_t k = 0; k < index.count - before; k++)
            if (kept == 0 || list[kept - 1] != list[k])
                list[kept++] = list[k];
        index.count = before + kept;

        q->start[node + 1] = index.count;
    }

    q->index = sp_pool_copy(&q->pool, index.data, index.count, sizeof *q->index);
    if (!q->index)
        status = sp_fail_memory(p->context);
done:
    sp_list_free(&index);
    return status;
}

/* The quotient of domain d: the elements at each piece of an interface are one node. */
static int make_quotient(partition *p, int64_t d, quotient *q)
{
    const int64_t elements = sp_mesh_element_count(p->mesh), size = p->size[d];
    *q = (quotient){.elements = size};

    q->element = sp_pool_raw(&q->pool, size, sizeof *q->element);
    q->node = sp_pool_raw(&q->pool, size, sizeof *q->node);
    q->order = sp_pool_raw(&q->pool, size, sizeof *q->order);
    int64_t *parent = sp_pool_raw(&q->pool, size, sizeof *parent);
    SP_PASS(sp_allocated(p->context, !q->pool.failed));

    for (int64_t e = 0, i = 0; e < elements; e++)
        if (p->domain[e] == d) {
            q->element[i] = e;
            parent[i] = i;
            p->place[e] = i++;
        }

    SP_PASS(contract_interfaces(p, q, parent));

    /* A root is the lowest element of its node. */
    for (int64_t i = 0; i < size; i++) {
        const int64_t root = sp_forest_root(parent, i);
        q->node[i] = root == i ? q->count++ : q->node[root];
    }

    q->weight = sp_pool_new(&q->pool, q->count, sizeof *q->weight);
    q->start = sp_pool_new(&q->pool, q->count + 1, sizeof *q->start);
    q->first = sp_pool_new(&q->pool, q->count + 1, sizeof *q->first);
    SP_PASS(sp_allocated(p->context, !q->pool.failed));

    /* A counting sort of the elements by their nodes, in which the weights count down to 0. */
    for (int64_t i = 0; i < size; i++)
        q->weight[q->node[i]]++;
    for (int64_t n = 0; n < q->count; n++)
        q->first[n + 1] = q->first[n] + q->weight[n];
    for (int64_t i = 0; i < size; i++)
        q->order[q->first[q->node[i] + 1] - q->weight[q->node[i]]--] = i;

    for (int64_t n = 0; n < q->count; n++)
        q->weight[n] = q->first[n + 1] - q->first[n];
    return make_edges(p, q);
}

/* The last node that a search breadth first from `from` reaches. */
static int64_t farthest(const quotient *q, int64_t from, int64_t *queue, bool *seen)
{
    int64_t tail = 0;

    memset(seen, 0, (size_t)q->count * sizeof *seen);
    seen[from] = true;
    queue[tail++] = from;

    for (int64_t head = 0; head < tail; head++)
        for (int64_t k = q->start[queue[head]]; k < q->start[queue[head] + 1]; k++)
            if (!seen[q->index[k]]) {
                seen[q->index[k]] = true;
                queue[tail++] = q->index[k];
            }
    return queue[tail - 1];
}

/* Gives the separator to the side that is then nearer to its share. */
static void join_separator(const quotient *q, int64_t share, int64_t *side)
{
    int64_t weight[3] = {0};

    for (int64_t n = 0; n < q->count; n++)
        weight[side[n]] += q->weight[n];
    const bool to_first = llabs(weight[0] + weight[2] - share) <= llabs(weight[0] - share);

    for (int64_t n = 0; n < q->count; n++)
        if (side[n] == SP_SIDE_SEPARATOR)
            side[n] = to_first ? 0 : 1;
}

/* Gives the pieces of side s, except the heaviest one, to the other side. */
static void keep_heaviest(const quotient *q, int64_t s, int64_t *side, int64_t *stack, int64_t *piece)
{
    int64_t pieces = 0, best = -1, most = 0;

    for (int64_t n = 0; n < q->count; n++)
        piece[n] = -1;
    for (int64_t n = 0; n < q->count; n++) {
        int64_t height = 0, weight = 0;

        if (side[n] != s || piece[n] >= 0)
            continue;

        /* A search over the nodes of the side. */
        piece[stack[height++] = n] = pieces;
        while (height > 0) {
            const int64_t from = stack[--height];
            weight += q->weight[from];
            for (int64_t k = q->start[from]; k < q->start[from + 1]; k++)
                if (side[q->index[k]] == s && piece[q->index[k]] < 0)
                    piece[stack[height++] = q->index[k]] = pieces;
        }

        if (weight > most) {
            most = weight;
            best = pieces;
        }
        pieces++;
    }

    for (int64_t n = 0; n < q->count; n++)
        if (side[n] == s && piece[n] != best)
            side[n] = 1 - s;
}

/* Moves a node from side 1 to side 0 in the counts; returns by how much the number of shared vertices grows. */
static int64_t move_node(partition *p, const quotient *q, int64_t node)
{
    int64_t grown = 0;
    for (int64_t i = q->first[node]; i < q->first[node + 1]; i++) {
        int corners;
        const int64_t *corner = sp_mesh_corner_nodes(p->mesh, q->element[q->order[i]], &corners);
        for (int a = 0; a < corners; a++) {
            int32_t *on = p->on_side[corner[a]];
            /* A vertex is shared while elements on both sides have it. */
            grown += (on[0] == 0 && on[1] > 1) - (on[0] > 0 && on[1] == 1);
            on[0]++;
            on[1]--;
        }
    }
    return grown;
}

/* Starts the counts with all elements on side 1. */
static void count_all(partition *p, const quotient *q)
{
    int corners;

    for (int64_t i = 0; i < q->elements; i++) {
        const int64_t *corner = sp_mesh_corner_nodes(p->mesh, q->element[i], &corners);
        for (int a = 0; a < corners; a++)
            memset(p->on_side[corner[a]], 0, sizeof *p->on_side);
    }

    for (int64_t i = 0; i < q->elements; i++) {
        const int64_t *corner = sp_mesh_corner_nodes(p->mesh, q->element[i], &corners);
        for (int a = 0; a < corners; a++)
            p->on_side[corner[a]][1]++;
    }
}

/* What a division costs: shared vertices, twice as many if side 0 differs from its share by a fifth, and far more
 * beyond that. */
static double cost_of(int64_t shared, int64_t weight, int64_t share)
{
    const double off = 5 * ((double)weight / (double)share - 1);
    return (double)shared * (1 + off * off * off * off);
}

/* The cost of `side`; INFINITY if a side is empty. */
static double judge(partition *p, const quotient *q, int64_t share, const int64_t *side)
{
    int64_t shared = 0, weight = 0;
    count_all(p, q);

    for (int64_t n = 0; n < q->count; n++)
        if (side[n] == 0) {
            shared += move_node(p, q, n);
            weight += q->weight[n];
        }
    return weight == 0 || weight == q->elements ? INFINITY : cost_of(shared, weight, share);
}

/* Side 0 are the first nodes of `order`, as many as cost least. */
static void sweep(partition *p, const quotient *q, int64_t share, const int64_t *order, int64_t *side)
{
    int64_t shared = 0, weight = 0, best = 0;
    double least = INFINITY;

    count_all(p, q);
    /* One node after another moves to side 0, and the cheapest place to stop is kept. */
    for (int64_t k = 0; k < q->count; k++) {
        shared += move_node(p, q, order[k]);
        weight += q->weight[order[k]];
        const double cost = weight == q->elements ? INFINITY : cost_of(shared, weight, share);
        if (cost < least) {
            least = cost;
            best = k + 1;
        }
    }

    for (int64_t k = 0; k < q->count; k++)
        side[order[k]] = k < best ? 0 : 1;
}

typedef struct ranked {
    double along;
    int64_t node;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->along != y->along)
        return x->along < y->along ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The centre of an element: the mean of its corners. */
static void centre_of(const sp_mesh *mesh, int64_t element, double centre[3])
{
    int corners;
    const int64_t *corner = sp_mesh_corner_nodes(mesh, element, &corners);
    memset(centre, 0, 3 * sizeof *centre);
    for (int a = 0; a < corners; a++)
        for (int c = 0; c < 3; c++)
            centre[c] += mesh->vertices[3 * corner[a] + c] / corners;
}

/* The direction in which the centres of the elements are spread most, by power iterations on their covariance. */
static void long_axis(const partition *p, const quotient *q, double mean[3], double axis[3])
{
    double covariance[3][3] = {{0}}, centre[3], next[3];
    memset(mean, 0, 3 * sizeof *mean);

    for (int64_t i = 0; i < q->elements; i++) {
        centre_of(p->mesh, q->element[i], centre);
        for (int c = 0; c < 3; c++)
            mean[c] += centre[c] / (double)q->elements;
    }

    for (int64_t i = 0; i < q->elements; i++) {
        centre_of(p->mesh, q->element[i], centre);
        sp_subtract3(centre, mean, centre);
        for (int c = 0; c < 9; c++)
            covariance[c / 3][c % 3] += centre[c / 3] * centre[c % 3];
    }

    /* The iteration starts from the covariance times the axis with the widest spread. */
    int widest = 0;
    for (int c = 1; c < 3; c++)
        if (covariance[c][c] > covariance[widest][widest])
            widest = c;
    memcpy(axis, covariance[widest], 3 * sizeof *axis);

    for (int step = 0; step < 100; step++) {
        for (int c = 0; c < 3; c++)
            next[c] = sp_dot3(covariance[c], axis);
        const double length = sp_norm3(next);
        for (int c = 0; c < 3; c++)
            axis[c] = length > 0 ? next[c] / length : axis[c];
    }
}

/* The nodes along the long axis: order [count]. */
static int order_along(partition *p, const quotient *q, int64_t *order)
{
    sp_pool scratch = {0};
    double mean[3], axis[3], centre[3];
    ranked *list = sp_pool_new(&scratch, q->count, sizeof *list);

    SP_PASS(sp_allocated(p->context, list));
    long_axis(p, q, mean, axis);

    /* A node is at the mean of its elements. */
    for (int64_t i = 0; i < q->elements; i++) {
        centre_of(p->mesh, q->element[i], centre);
        sp_subtract3(centre, mean, centre);
        list[q->node[i]].along += sp_dot3(centre, axis) / (double)q->weight[q->node[i]];
    }

    for (int64_t n = 0; n < q->count; n++)
        list[n].node = n;

    qsort(list, (size_t)q->count, sizeof *list, compare_ranked);
    for (int64_t n = 0; n < q->count; n++)
        order[n] = list[n].node;
    sp_pool_free(&scratch);
    return SP_OK;
}

/* METIS makes equal sides: the node `end` counts for as much more as side 0 is to be smaller. */
static int divide_graph(partition *p, quotient *q, int64_t share, int64_t end, int64_t *side)
{
    const int64_t more = q->elements - 2 * share;
    q->weight[end] += more;
    const int status = sp_graph_bisect(p->context, q->count, q->start, q->index, q->weight, side);
    q->weight[end] -= more;

    if (status != SP_OK)
        return status;

    /* The sides may come out the other way round: the heavy node belongs to side 0. */
    if (more > 0 && side[end] == 1)
        for (int64_t n = 0; n < q->count; n++)
            if (side[n] != SP_SIDE_SEPARATOR)
                side[n] = 1 - side[n];

    join_separator(q, share, side);
    return SP_OK;
}

/* Returns true if common faces join all elements of side s. The nodes of a side can be joined where its elements are
 * not: those at an interface are one node, and may have single vertices or edges in common. */
static bool joined_by_faces(const partition *p, const quotient *q, const int64_t *side, int64_t s, int64_t *stack,
                            bool *seen)
{
    int64_t height = 0, reached = 0, all = 0;

    for (int64_t i = 0; i < q->elements; i++) {
        seen[i] = false;
        all += side[q->node[i]] == s;
    }

    for (int64_t i = 0; i < q->elements && height == 0; i++)
        if (side[q->node[i]] == s) {
            seen[i] = true;
            stack[height++] = i;
        }

    while (height > 0) {
        const int64_t element = q->element[stack[--height]];
        reached++;

        for (int64_t k = p->graph->start[element]; k < p->graph->start[element + 1]; k++) {
            const int64_t other = p->graph->index[k], at = p->place[other];
            if (p->domain[other] != p->domain[element] || seen[at] || side[q->node[at]] != s)
                continue;
            seen[at] = true;
            stack[height++] = at;
        }
    }
    return reached == all;
}

static void reverse(int64_t count, int64_t *order)
{
    for (int64_t n = 0; n < count / 2; n++) {
        const int64_t node = order[n];
        order[n] = order[count - 1 - n];
        order[count - 1 - n] = node;
    }
}

/* Divides the nodes in two connected sides, of which side 0 is to have `share` elements: the division that costs least
 * of METIS's and those by planes across the long axis and by the distance from either end. A side may be empty: all
 * are on one if no division is good. */
static int divide(partition *p, quotient *q, int64_t share, int64_t *side)
{
    enum { WAYS = 5 };
    int64_t *order = sp_pool_raw(&q->pool, q->count, sizeof *order),
            *piece = sp_pool_raw(&q->pool, q->count, sizeof *piece),
            *stack = sp_pool_raw(&q->pool, q->elements, sizeof *stack),
            *found = sp_pool_new(&q->pool, q->count, sizeof *found), end = 0;
    bool *seen = sp_pool_raw(&q->pool, q->elements, sizeof *seen);
    double least = INFINITY;
    int status = sp_allocated(p->context, !q->pool.failed);

    for (int way = 0; way < WAYS && status == SP_OK; way++) {
        /* Along the axis from both ends, by the distance from two far nodes, and by METIS. */
        if (way < 2) {
            if (way == 0)
                status = order_along(p, q, order);
            else
                reverse(q->count, order);
        } else
            end = farthest(q, end, order, seen);

        if (status == SP_OK && way < WAYS - 1)
            sweep(p, q, share, order, found);
        else if (status == SP_OK)
            status = divide_graph(p, q, share, end, found);

        keep_heaviest(q, 0, found, stack, piece);
        keep_heaviest(q, 1, found, stack, piece);

        const double cost = judge(p, q, share, found);
        if (cost < least && joined_by_faces(p, q, found, 0, stack, seen) &&
            joined_by_faces(p, q, found, 1, stack, seen)) {
            least = cost;
            memcpy(side, found, (size_t)q->count * sizeof *side);
        }
    }
    return status;
}

/* Divides domain d in two, if possible: the second part is a new domain. */
static int split(partition *p, int64_t d, bool *done)
{
    quotient q;
    int64_t moved = 0, *side;
    int status;
    *done = false;
    SP_TRY(make_quotient(p, d, &q));
    side = sp_pool_new(&q.pool, q.count, sizeof *side);
    SP_TRY(sp_allocated(p->context, side));

    const int64_t low = p->target[d] / 2;
    if (q.count < 2)
        goto done;
    SP_TRY(divide(p, &q, p->size[d] * low / p->target[d], side));

    for (int64_t i = 0; i < q.elements; i++)
        moved += side[q.node[i]] == 1;

    /* A part that is too small is no domain. */
    const int64_t smaller = moved < q.elements - moved ? moved : q.elements - moved;
    if (smaller == 0 || smaller < p->size[d] / p->target[d] / LEAST_SHARE)
        goto done;

    /* Side 1 becomes a new domain. */
    for (int64_t i = 0; i < q.elements; i++)
        if (side[q.node[i]] == 1)
            p->domain[q.element[i]] = p->domain_count;

    /* The two parts share the target in proportion to their elements. */
    int64_t share = (2 * p->target[d] * moved + p->size[d]) / (2 * p->size[d]); /* rounded */
    share = share < 1 ? 1 : share > p->target[d] - 1 ? p->target[d] - 1 : share;
    p->target[p->domain_count] = share;
    p->size[p->domain_count++] = moved;
    p->target[d] -= share;
    p->size[d] -= moved;

    *done = true;
done:
    sp_pool_free(&q.pool);
    return status;
}

/* The domain to be divided next: the one with the most elements for each part; −1: none is left. stuck [domains] are
 * left out. */
static int64_t next_domain(const partition *p, const bool *stuck)
{
    int64_t best = -1;
    for (int64_t d = 0; d < p->domain_count; d++)
        if (p->target[d] > 1 && !stuck[d] && (best < 0 || p->size[d] > p->size[best]))
            best = d;
    return best;
}

/* Parts that a domain cannot be divided into become those of the largest domain that is not stuck. */
static void pass_on(partition *p, int64_t d, bool *stuck)
{
    const int64_t left = p->target[d] - 1;
    int64_t best = -1;
    p->target[d] = 1;
    stuck[d] = true;

    for (int64_t k = 0; k < p->domain_count; k++)
        if (!stuck[k] && (best < 0 || p->size[k] * p->target[best] > p->size[best] * p->target[k]))
            best = k;
    if (best >= 0)
        p->target[best] += left;
}

static int divide_all(partition *p, int64_t count, bool *stuck)
{
    bool done;
    for (int64_t d; p->domain_count < count && (d = next_domain(p, stuck)) >= 0;) {
        SP_PASS(split(p, d, &done));
        if (!done)
            pass_on(p, d, stuck);
    }
    return SP_OK;
}

/* Numbers the domains in the order of their lowest elements; number [count] is scratch. */
static void number_domains(int64_t elements, int64_t count, int64_t *domain, int64_t *number)
{
    int64_t next = 0;

    for (int64_t d = 0; d < count; d++)
        number[d] = -1;
    for (int64_t e = 0; e < elements; e++) {
        if (number[domain[e]] < 0)
            number[domain[e]] = next++;
        domain[e] = number[domain[e]];
    }
}

int sp_domains_partition(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t count,
                         int64_t *domain)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0};
    int64_t pieces = 1;
    int status;

    if (count > elements || elements > INT32_MAX / 2)
        return sp_fail(context, SP_INPUT, "%lld elements cannot be divided into %lld domains", (long long)elements,
                       (long long)count);

    memset(domain, 0, (size_t)elements * sizeof *domain);
    SP_TRY(sp_domains_pieces(context, mesh, graph, domain, &pieces));

    if (pieces > 1) {
        status = sp_fail(context, SP_INPUT,
                         "its elements are %lld pieces that no common face joins: a body is divided, not several",
                         (long long)pieces);
        goto done;
    }

    partition p = {.context = context, .mesh = mesh, .graph = graph, .domain = domain, .domain_count = 1};
    p.place = sp_pool_raw(&scratch, elements, sizeof *p.place);
    p.target = sp_pool_new(&scratch, count, sizeof *p.target);
    p.size = sp_pool_new(&scratch, count, sizeof *p.size);
    p.on_side = sp_pool_new(&scratch, mesh->vertex_count, sizeof *p.on_side);
    bool *stuck = sp_pool_new(&scratch, count, sizeof *stuck);

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* At first one domain has all elements and all parts. */
    p.target[0] = count;
    p.size[0] = elements;
    SP_TRY(divide_all(&p, count, stuck));

    if (p.domain_count < count) {
        status = sp_fail(context, SP_INPUT,
                         "it divides into %lld domains, not into %lld, without a cut through their interfaces",
                         (long long)p.domain_count, (long long)count);
        goto done;
    }

    number_domains(elements, p.domain_count, domain, p.size);
done:
    sp_pool_free(&scratch);
    return status;
}
