#include "formats/domains.h"
#include "tools/common/places.h"
#include "tools/part/part.h"

#include <string.h>

/* The division that the options name: numbers from 0 to below the result. */
static int64_t divide(sp_context *context, const tool_mesh *mesh, part_division *choice, const sp_element_graph *graph,
                      sp_pool *pool, int64_t **domain)
{
    const int ways = (choice->parts > 0) + choice->regions + (choice->cut.planes.count > 0 || choice->cut.sides);
    const int64_t elements = sp_mesh_element_count(&mesh->mesh);
    int64_t count = choice->parts;

    if (ways != 1)
        tool_fail(SP_USAGE, NULL,
                  ways ? "--parts, --regions, and --plane with --sides are three ways to divide: choose one"
                       : "nothing says how to divide: --parts, --regions, --sides or --plane");

    *domain = tool_allocate(pool, elements, sizeof **domain);
    if (choice->parts > 0) {
        tool_check(sp_domains_partition(context, &mesh->mesh, graph, count, *domain), mesh->path);
        return count;
    }

    if (choice->regions) {
        count = mesh->mesh.material_count;
        memcpy(*domain, mesh->mesh.region, (size_t)elements * sizeof **domain);
    } else {
        cut_sides sides;
        cut_divide(context, &choice->cut, &mesh->mesh, &sides);
        memcpy(*domain, sides.side, (size_t)elements * sizeof **domain);
        count = sides.count;
        sp_pool_free(&sides.pool);
    }

    if (choice->pieces)
        tool_check(sp_domains_pieces(context, &mesh->mesh, graph, *domain, &count), mesh->path);
    return count;
}

/* Regions without elements are no domains: the others are numbered in their order. */
static int64_t drop_empty(int64_t elements, int64_t count, int64_t *domain, sp_pool *pool)
{
    int64_t *number = tool_allocate(pool, count, sizeof *number), next = 0;
    for (int64_t e = 0; e < elements; e++)
        number[domain[e]] = 1;
    for (int64_t d = 0; d < count; d++)
        number[d] = number[d] ? next++ : -1;
    for (int64_t e = 0; e < elements; e++)
        domain[e] = number[domain[e]];
    return next;
}

/* The domain of a vertex: the lowest one of the elements that use it; −1: none does. */
static int64_t domain_of(const sp_mesh *mesh, const sp_domains *domains, int64_t vertex)
{
    int64_t found = -1;
    for (int64_t e = 0; e < domains->elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            if (node[a] == vertex && (found < 0 || domains->domain[e] < found))
                found = domains->domain[e];
    }
    return found;
}

/* The domain with the most fixed vertices, the lowest of equal ones. */
static int64_t most_fixed(const sp_mesh *mesh, const sp_domains *domains, sp_pool *pool)
{
    int64_t best = 0, *count = tool_allocate(pool, domains->count, sizeof *count),
            *of = tool_allocate(pool, mesh->vertex_count, sizeof *of);
    for (int64_t e = domains->elements - 1; e >= 0; e--) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            of[node[a]] = domains->domain[e] + 1;
    }
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (of[mesh->fixed[i]] > 0)
            count[of[mesh->fixed[i]] - 1]++;
    for (int64_t d = 1; d < domains->count; d++)
        if (count[d] > count[best])
            best = d;
    return best;
}

static int64_t choose_root(sp_context *context, const tool_mesh *mesh, const char *text, const sp_domains *domains,
                           sp_pool *pool)
{
    const tool_place_names names = {context, "root", mesh->mesh.vertex_count, &mesh->mesh, mesh->path};
    const int64_t *vertex;
    if (!text)
        return most_fixed(&mesh->mesh, domains, pool);
    if (tool_places_vertices(&names, text, pool, &vertex) != 1)
        tool_fail(SP_USAGE, NULL, "--root: \"%s\" names several vertices, it must be one", text);
    const int64_t root = domain_of(&mesh->mesh, domains, vertex[0]);
    if (root < 0)
        tool_fail(SP_USAGE, NULL, "--root: no element uses vertex %lld", (long long)vertex[0]);
    return root;
}

/* A loop: more interfaces than a tree has, or an interface that is in pieces, as where a ring is divided in two. */
static void judge_tree(sp_context *context, const tool_mesh *mesh, const sp_domains *domains, bool wanted)
{
    int64_t interface, pieces;
    char text[200] = "";
    tool_check(sp_domains_loop(context, &mesh->mesh, domains, &interface, &pieces), mesh->path);
    if (domains->parents == 0)
        snprintf(text, sizeof text, "a loop remains: the %lld domains have %lld interfaces, a tree has %lld",
                 (long long)domains->count, (long long)domains->interface_count, (long long)domains->count - 1);
    else if (interface >= 0)
        snprintf(text, sizeof text, "a loop remains: the interface of domains %lld and %lld is in %lld pieces",
                 (long long)domains->pair[2 * interface], (long long)domains->pair[2 * interface + 1],
                 (long long)pieces);
    if (*text && wanted)
        tool_fail(SP_INPUT, mesh->path, "--tree: %s", text);
    if (*text)
        tool_warn(mesh->path, "%s", text);
}

static json_t *report(const sp_domains *domains, sp_pool *pool)
{
    json_t *result = tool_result_new();
    int64_t *size = tool_allocate(pool, domains->count, sizeof *size), least, most = 0, distinct = 0;

    for (int64_t e = 0; e < domains->elements; e++)
        size[domains->domain[e]]++;
    least = domains->elements;

    for (int64_t d = 0; d < domains->count; d++) {
        least = size[d] < least ? size[d] : least;
        most = size[d] > most ? size[d] : most;
        distinct += domains->same[d] == d;
    }

    tool_say("%lld domains of %lld to %lld elements, %lld of them distinct; %lld interfaces with %lld vertices; %s",
             (long long)domains->count, (long long)least, (long long)most, (long long)distinct,
             (long long)domains->interface_count, (long long)domains->vertex_entries,
             domains->parents ? "a tree" : "no tree");

    tool_facts(result, sp_kind_domains.result, {"domains", .integer = domains->count},
               {"distinct", .integer = distinct}, {"interfaces", .integer = domains->interface_count},
               {"interface_vertices", .integer = domains->vertex_entries}, {"least_elements", .integer = least},
               {"most_elements", .integer = most}, {"tree", .boolean = domains->parents > 0});
    return result;
}

void part_divide(sp_context *context, const tool_mesh *mesh, part_division *choice)
{
    sp_element_graph graph;
    sp_domains domains;
    sp_pool pool = {0};
    int64_t *domain;

    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_element_graph_new(context, &mesh->mesh, &graph), mesh->path);
    int64_t count = divide(context, mesh, choice, &graph, &pool, &domain);

    count = drop_empty(sp_mesh_element_count(&mesh->mesh), count, domain, &pool);
    tool_check(sp_domains_new(context, &mesh->mesh, &graph, count, domain, &domains), mesh->path);

    const int64_t root = choose_root(context, mesh, choice->root, &domains, &pool);
    tool_check(sp_domains_root(context, &domains, root, choice->parts > 0), NULL);
    judge_tree(context, mesh, &domains, choice->tree);
    tool_check(sp_domains_compare(context, &mesh->mesh, &domains), mesh->path);

    json_t *meta = tool_meta_new("domains"), *result = report(&domains, &pool);
    tool_facts(meta, sp_kind_domains.meta, {"mesh", .text = mesh->hash});
    tool_check(sp_domains_write(context, tool_output_writer(output), meta, &domains), tool_output_path());
    tool_output_finish(output, result);

    json_decref(meta);
    sp_domains_free(&domains);
    sp_element_graph_free(&graph);
    sp_pool_free(&pool);
}
