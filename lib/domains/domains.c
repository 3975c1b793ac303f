/* Interfaces and the graph of domains (domains.h). */
#include "domains/domains.h"

#include "base/compare.h"
#include "base/forest.h"
#include "base/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A vertex that two domains share. */
typedef struct shared_vertex {
    int64_t one, other, vertex;
} shared_vertex;

static int compare_shared(const void *a, const void *b)
{
    const shared_vertex *x = a, *y = b;
    if (x->one != y->one)
        return x->one < y->one ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* ---- interfaces ---- */

/* (vertex, domain) of all nodes, sorted, each once: keys vertex · count + domain. */
static int list_vertices(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, sp_list *keys)
{
    int64_t kept = 0, nodes_of_mesh = sp_mesh_node_count(mesh), at = 0;
    int64_t *key = sp_list_add(keys, nodes_of_mesh, sizeof *key);
    SP_PASS(sp_allocated(context, key));

    for (int64_t e = 0; e < domains->elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            key[at++] = node[a] * domains->count + domains->domain[e];
    }

    /* Sorted, the domains of a vertex follow one another; each is kept once. */
    qsort(key, (size_t)at, sizeof *key, sp_compare_integers);
    for (int64_t k = 0; k < at; k++)
        if (kept == 0 || key[kept - 1] != key[k])
            key[kept++] = key[k];

    keys->count = kept;
    return SP_OK;
}

/* Appends each pair of the domains of each vertex. */
static int list_shared(sp_context *context, const sp_domains *domains, const sp_list *keys, sp_list *shared)
{
    const int64_t *key = keys->data;
    for (int64_t k = 0, end; k < keys->count; k = end) {
        const int64_t vertex = key[k] / domains->count;
        for (end = k + 1; end < keys->count && key[end] / domains->count == vertex;)
            end++;

        /* Each pair of the domains around the vertex, the lower one first. */
        for (int64_t i = k; i < end; i++)
            for (int64_t j = i + 1; j < end; j++) {
                shared_vertex *to = sp_list_add(shared, 1, sizeof *to);
                SP_PASS(sp_allocated(context, to));
                *to =
                    (shared_vertex){.one = key[i] % domains->count, .other = key[j] % domains->count, .vertex = vertex};
            }
    }

    if (shared->count > 0)
        qsort(shared->data, (size_t)shared->count, sizeof(shared_vertex), compare_shared);
    return SP_OK;
}

static bool begins_interface(const shared_vertex *shared, int64_t i)
{
    return i == 0 || shared[i].one != shared[i - 1].one || shared[i].other != shared[i - 1].other;
}

static int find_interfaces(sp_context *context, const sp_mesh *mesh, sp_domains *domains)
{
    sp_list keys = {0}, list = {0};
    int64_t next = 0;
    int status;

    SP_TRY(list_vertices(context, mesh, domains, &keys));
    SP_TRY(list_shared(context, domains, &keys, &list));

    const shared_vertex *shared = list.data;
    /* There is an interface for each pair of domains, with increasing vertices. */
    for (int64_t i = 0; i < list.count; i++)
        domains->interface_count += begins_interface(shared, i);

    domains->pair = sp_pool_raw(&domains->pool, domains->interface_count, 2 * sizeof *domains->pair);
    domains->start = sp_pool_new(&domains->pool, domains->interface_count + 1, sizeof *domains->start);
    domains->vertices = sp_pool_raw(&domains->pool, list.count, sizeof *domains->vertices);
    domains->vertex_entries = list.count;

    SP_TRY(sp_allocated(context, !domains->pool.failed));

    for (int64_t i = 0; i < list.count; i++) {
        if (begins_interface(shared, i)) {
            domains->pair[2 * next] = shared[i].one;
            domains->pair[2 * next++ + 1] = shared[i].other;
        }
        domains->vertices[i] = shared[i].vertex;
        domains->start[next] = i + 1;
    }
done:
    sp_list_free(&keys);
    sp_list_free(&list);
    return status;
}

/* True if all vertices are on one line, within 1e-9 of the distance of the two that define it. */
static bool on_a_line(const sp_mesh *mesh, int64_t count, const int64_t *vertex)
{
    const double *from = mesh->vertices + 3 * vertex[0];
    double along[3] = {0}, longest = 0, most = 0;

    /* The longest edge from the first vertex. */
    for (int64_t i = 1; i < count; i++) {
        double edge[3];
        for (int c = 0; c < 3; c++)
            edge[c] = mesh->vertices[3 * vertex[i] + c] - from[c];
        if (sp_norm3(edge) > longest) {
            longest = sp_norm3(edge);
            memcpy(along, edge, sizeof along);
        }
    }

    /* Twice the area of the triangle over the longest edge. */
    for (int64_t i = 1; i < count; i++) {
        double edge[3], normal[3];
        for (int c = 0; c < 3; c++)
            edge[c] = mesh->vertices[3 * vertex[i] + c] - from[c];
        sp_cross3(along, edge, normal);
        most = fmax(most, sp_norm3(normal));
    }

    return !(most > 1e-9 * longest * longest);
}

static int check_interfaces(sp_context *context, const sp_mesh *mesh, const sp_domains *domains)
{
    for (int64_t i = 0; i < domains->interface_count; i++) {
        const int64_t count = domains->start[i + 1] - domains->start[i], *pair = domains->pair + 2 * i;

        if (count < 3)
            return sp_fail(context, SP_INPUT,
                           "domains %lld and %lld share %s: an interface needs three that are not on one line",
                           (long long)pair[0], (long long)pair[1], count == 1 ? "one vertex" : "two vertices");

        if (on_a_line(mesh, count, domains->vertices + domains->start[i]))
            return sp_fail(context, SP_INPUT,
                           "domains %lld and %lld share %lld vertices on one line: an interface needs three that are "
                           "not",
                           (long long)pair[0], (long long)pair[1], (long long)count);
    }
    return SP_OK;
}

static int check_connected(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph,
                           const sp_domains *domains)
{
    sp_pool scratch = {0};
    int64_t pieces = domains->count, *piece = sp_pool_copy(&scratch, domains->domain, domains->elements, sizeof *piece),
            *of = sp_pool_new(&scratch, domains->count, sizeof *of), last = -1;
    int status = sp_allocated(context, !scratch.failed);
    SP_TRY(status);
    SP_TRY(sp_domains_pieces(context, mesh, graph, piece, &pieces));

    if (pieces == domains->count)
        goto done;
    /* Pieces are numbered by their domain, and within it in the order of the lowest elements. */
    for (int64_t e = 0; e < domains->elements; e++)
        if (piece[e] >= of[domains->domain[e]])
            of[domains->domain[e]] = piece[e] + 1;

    /* The number of pieces of a domain is the difference of the last numbers. */
    for (int64_t d = 0, before = 0; d < domains->count && last < 0; before = of[d++])
        if (of[d] - before > 1) {
            last = of[d] - before;
            status = sp_fail(context, SP_INPUT, "domain %lld is not connected: no common face joins its %lld pieces",
                             (long long)d, (long long)last);
        }
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- the graph of the domains ---- */

int64_t sp_domains_interface(const sp_domains *domains, int64_t one, int64_t other)
{
    const int64_t wanted[2] = {one < other ? one : other, one < other ? other : one};
    /* Interfaces are sorted by their pairs: bisection. */
    int64_t low = 0, high = domains->interface_count;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2, *pair = domains->pair + 2 * middle;
        if (pair[0] < wanted[0] || (pair[0] == wanted[0] && pair[1] < wanted[1]))
            low = middle + 1;
        else
            high = middle;
    }

    return low < domains->interface_count && domains->pair[2 * low] == wanted[0] &&
                   domains->pair[2 * low + 1] == wanted[1]
               ? low
               : -1;
}

/* Visits the domains breadth first: order [count] receives them, before [count] where each was reached from. rank
 * [count] orders the children of one domain. Returns the number of domains that are reached. */
static int64_t visit(const sp_domains *domains, int64_t root, const int64_t *rank, int64_t *order, int64_t *before)
{
    int64_t tail = 0;

    for (int64_t d = 0; d < domains->count; d++)
        before[d] = -2;
    before[root] = -1;
    order[tail++] = root;

    for (int64_t head = 0; head < tail; head++) {
        const int64_t first = tail;
        for (int64_t i = 0; i < domains->interface_count; i++) {
            const int64_t *pair = domains->pair + 2 * i;
            if (pair[0] != order[head] && pair[1] != order[head])
                continue;
            const int64_t to = pair[0] == order[head] ? pair[1] : pair[0];

            if (before[to] != -2)
                continue;

            /* The children of one domain are sorted by their rank. */
            before[to] = order[head];
            int64_t at = tail++;
            for (; at > first && rank[order[at - 1]] > rank[to]; at--)
                order[at] = order[at - 1];
            order[at] = to;
        }
    }
    return tail;
}

/* The lowest element of each domain. */
static void find_lowest(const sp_domains *domains, int64_t *lowest)
{
    for (int64_t e = domains->elements - 1; e >= 0; e--)
        lowest[domains->domain[e]] = e;
}

static int compare_interfaces(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    const int i = x[0] == y[0];
    return x[i] < y[i] ? -1 : x[i] > y[i];
}

/* Gives domain d the number number[d]; interfaces are sorted again. */
static int renumber_domains(sp_context *context, sp_domains *domains, const int64_t *number)
{
    sp_pool scratch = {0};
    const int64_t count = domains->interface_count;
    int64_t(*sorted)[3] = sp_pool_raw(&scratch, count, sizeof *sorted), at = 0,
    *vertices = sp_pool_copy(&scratch, domains->vertices, domains->vertex_entries, sizeof *vertices),
    *start = sp_pool_copy(&scratch, domains->start, count + 1, sizeof *start);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t e = 0; e < domains->elements; e++)
        domains->domain[e] = number[domains->domain[e]];

    /* Pairs keep the lower number first, and are sorted again. */
    for (int64_t i = 0; i < count; i++) {
        const int64_t one = number[domains->pair[2 * i]], other = number[domains->pair[2 * i + 1]];
        sorted[i][0] = one < other ? one : other;
        sorted[i][1] = one < other ? other : one;
        sorted[i][2] = i;
    }

    qsort(sorted, (size_t)count, sizeof *sorted, compare_interfaces);

    for (int64_t i = 0; i < count; i++) {
        const int64_t from = sorted[i][2], entries = start[from + 1] - start[from];
        memcpy(domains->pair + 2 * i, sorted[i], 2 * sizeof *domains->pair);
        memcpy(domains->vertices + at, vertices + start[from], (size_t)entries * sizeof *vertices);
        domains->start[i + 1] = at += entries;
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

int sp_domains_root(sp_context *context, sp_domains *domains, int64_t root, bool renumber)
{
    sp_pool scratch = {0};
    const int64_t count = domains->count;
    int64_t *order = sp_pool_raw(&scratch, count, sizeof *order),
            *before = sp_pool_raw(&scratch, count, sizeof *before), *rank = sp_pool_raw(&scratch, count, sizeof *rank),
            *number = sp_pool_raw(&scratch, count, sizeof *number);
    int status = sp_allocated(context, !scratch.failed);
    SP_TRY(status);
    find_lowest(domains, rank);

    visit(domains, root, rank, order, before);
    for (int64_t d = 0; d < count; d++)
        number[renumber ? order[d] : d] = d;

    /* In a tree the parent is the domain from which the search came. */
    if (domains->parents > 0)
        for (int64_t d = 0; d < count; d++)
            domains->parent[number[d]] = before[d] < 0 ? -1 : number[before[d]];

    if (renumber)
        SP_TRY(renumber_domains(context, domains, number));
done:
    sp_pool_free(&scratch);
    return status;
}

/* Every domain must be reached from domain 0; a tree has one interface fewer than domains. */
static int make_graph(sp_context *context, sp_domains *domains)
{
    sp_pool scratch = {0};
    const int64_t count = domains->count;
    int64_t *order = sp_pool_raw(&scratch, count, sizeof *order),
            *before = sp_pool_raw(&scratch, count, sizeof *before), *rank = sp_pool_new(&scratch, count, sizeof *rank);
    bool *meets = sp_pool_new(&scratch, count, sizeof *meets);
    int status = sp_allocated(context, !scratch.failed);
    SP_TRY(status);
    for (int64_t i = 0; i < 2 * domains->interface_count; i++)
        meets[domains->pair[i]] = true;

    /* A single domain needs no interface. */
    for (int64_t d = 0; d < count; d++)
        if (count > 1 && !meets[d]) {
            status = sp_fail(context, SP_INPUT, "domain %lld has no interface: it shares no vertex with another domain",
                             (long long)d);
            goto done;
        }

    const int64_t reached = visit(domains, 0, rank, order, before);
    if (reached < count) {
        status = sp_fail(context, SP_INPUT,
                         "the domains do not all meet: from domain 0 only %lld of %lld are reached over interfaces",
                         (long long)reached, (long long)count);
        goto done;
    }

    /* A tree has one edge less than nodes. */
    domains->parents = domains->interface_count == count - 1 ? count : 0;
    domains->parent = sp_pool_raw(&domains->pool, domains->parents, sizeof *domains->parent);
    if (!domains->parent)
        status = sp_fail_memory(context);
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_domains_new(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t count,
                   const int64_t *domain, sp_domains *domains)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int status;
    *domains = (sp_domains){.count = count, .elements = elements};
    if (count > INT32_MAX || mesh->vertex_count > INT64_MAX / count)
        return sp_fail(context, SP_INPUT, "%lld domains are too many", (long long)count);
    domains->domain = sp_pool_copy(&domains->pool, domain, elements, sizeof *domain);
    domains->same = sp_pool_raw(&domains->pool, count, sizeof *domains->same);
    domains->origin = sp_pool_new(&domains->pool, count, 3 * sizeof *domains->origin);
    SP_TRY(sp_allocated(context, !domains->pool.failed));
    for (int64_t d = 0; d < count; d++)
        domains->same[d] = d;
    SP_TRY(check_connected(context, mesh, graph, domains));
    SP_TRY(find_interfaces(context, mesh, domains));
    SP_TRY(make_graph(context, domains));
    SP_TRY(check_interfaces(context, mesh, domains));
    SP_TRY(sp_domains_root(context, domains, 0, false));
done:
    if (status != SP_OK)
        sp_domains_free(domains);
    return status;
}

void sp_domains_free(sp_domains *domains)
{
    sp_pool_free(&domains->pool);
    *domains = (sp_domains){0};
}

/* ---- loops through an interface ---- */

/* The number of pieces of one interface. tree, member [vertices of the mesh]: scratch. */
static int64_t count_pieces(const sp_mesh *mesh, const sp_domains *domains, int64_t i, int64_t *tree)
{
    int64_t pieces = 0;

    /* Each vertex of the interface is a tree of its own at first. */
    for (int64_t k = domains->start[i]; k < domains->start[i + 1]; k++)
        tree[domains->vertices[k]] = domains->vertices[k];

    /* Elements of one domain join those of their vertices that are in the interface. */
    for (int64_t e = 0; e < domains->elements; e++) {
        int64_t first = -1;
        int nodes;
        if (domains->domain[e] != domains->pair[2 * i])
            continue;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++) {
            if (tree[node[a]] < 0)
                continue;
            if (first >= 0)
                sp_forest_join(tree, first, node[a]);
            first = node[a];
        }
    }

    /* Every root is a piece; the scratch is left as it was. */
    for (int64_t k = domains->start[i]; k < domains->start[i + 1]; k++)
        pieces += tree[domains->vertices[k]] == domains->vertices[k];

    for (int64_t k = domains->start[i]; k < domains->start[i + 1]; k++)
        tree[domains->vertices[k]] = -1;
    return pieces;
}

int sp_domains_loop(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t *interface,
                    int64_t *pieces)
{
    sp_pool scratch = {0};
    int64_t *tree = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *tree);
    *interface = -1;
    *pieces = 1;

    SP_PASS(sp_allocated(context, tree));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        tree[v] = -1;

    for (int64_t i = 0; i < domains->interface_count && *interface < 0; i++) {
        *pieces = count_pieces(mesh, domains, i, tree);
        if (*pieces > 1)
            *interface = i;
    }
    sp_pool_free(&scratch);
    return SP_OK;
}
