/* Domains: their interfaces anew from the elements, by marking the vertices of one domain after the other, and whether
 * they are connected. */
#include "mesh/cut.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

/* mark [vertices]: set for the nodes of the elements of a domain. */
static void mark_nodes(const sp_mesh *mesh, const sp_domains *domains, int64_t domain, bool *mark)
{
    memset(mark, 0, (size_t)mesh->vertex_count * sizeof *mark);
    for (int64_t e = 0; e < domains->elements; e++) {
        int nodes;
        if (domains->domain[e] != domain)
            continue;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            mark[node[a]] = true;
    }
}

/* The number of interfaces of `one` with later domains that differ from the vertices that both have. */
static int64_t wrong_interfaces(const sp_mesh *mesh, const sp_domains *domains, int64_t one, bool *mark, bool *other,
                                bool *listed)
{
    int64_t wrong = 0;
    mark_nodes(mesh, domains, one, mark);
    for (int64_t d = one + 1; d < domains->count; d++) {
        const int64_t i = sp_domains_interface(domains, one, d);
        bool differs = false;

        memset(listed, 0, (size_t)mesh->vertex_count * sizeof *listed);
        if (i >= 0)
            for (int64_t k = domains->start[i]; k < domains->start[i + 1]; k++)
                listed[domains->vertices[k]] = true;

        mark_nodes(mesh, domains, d, other);
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            differs |= listed[v] != (mark[v] && other[v]);
        wrong += differs;
    }
    return wrong;
}

/* The number of connected components of the elements of a domain. */
static int64_t components(verify *v, const artefact *mesh, const sp_domains *domains, int64_t domain, sp_pool *pool)
{
    sp_mesh part;
    int64_t *origin, count, *label;
    bool *keep = tool_allocate(pool, domains->elements, sizeof *keep);
    for (int64_t e = 0; e < domains->elements; e++)
        keep[e] = domains->domain[e] == domain;
    tool_check(sp_mesh_keep(v->context, &mesh->mesh, keep, pool, &part, &origin), mesh->path);
    label = tool_allocate(pool, sp_mesh_element_count(&part), sizeof *label);
    tool_check(sp_mesh_components(v->context, &part, label, &count), mesh->path);
    sp_mesh_free(&part);
    return count;
}

void verify_domains(verify *v, artefact *file)
{
    const sp_domains *domains = &file->domains;
    artefact *mesh = verify_mesh(v, file, "all of it", false);
    if (!mesh)
        return;

    sp_pool pool = {0};
    const int64_t count = mesh->mesh.vertex_count, sampled = domains->count < v->sample ? domains->count : v->sample;
    int64_t wrong = 0, split = 0, empty = 0;

    if (domains->elements != sp_mesh_element_count(&mesh->mesh)) {
        verify_fact(v, file, "elements", false, "%lld (%lld elements)", (long long)domains->elements,
                    (long long)sp_mesh_element_count(&mesh->mesh));
        return;
    }

    bool *mark[3];
    for (int k = 0; k < 3; k++)
        mark[k] = tool_allocate(&pool, count, sizeof *mark[k]);
    tool_check(sp_domains_match(v->context, domains, domains->elements, count), file->path);

    for (int64_t s = 0; s < sampled; s++) {
        const int64_t d = s * (domains->count - 1) / (sampled > 1 ? sampled - 1 : 1);
        wrong += wrong_interfaces(&mesh->mesh, domains, d, mark[0], mark[1], mark[2]);

        bool any = false;
        for (int64_t e = 0; e < domains->elements && !any; e++)
            any = domains->domain[e] == d;
        empty += !any;
        split += any && components(v, mesh, domains, d, &pool) != 1;
    }

    verify_fact(v, file, "domains without elements", empty == 0, "%lld of %lld (0)", (long long)empty,
                (long long)sampled);
    verify_fact(v, file, "domains in several pieces", split == 0, "%lld of %lld (0)", (long long)split,
                (long long)sampled);
    verify_fact(v, file, "interfaces that are not the shared vertices", wrong == 0, "%lld, of %lld domains (0)",
                (long long)wrong, (long long)sampled);
    sp_pool_free(&pool);
}
