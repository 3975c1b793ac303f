#include "formats/domains.h"
#include "tools/common/series.h"
#include "tools/part/part.h"

#include <string.h>

static void read_domains(sp_context *context, const tool_mesh *mesh, const char *path, sp_domains *domains)
{
    static const char *const kinds[] = {"domains", NULL};
    sp_file file;
    char hash[SP_HASH_LENGTH];
    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_domains_read(context, &file, domains, hash), path);
    sp_file_free(&file);
    tool_check_hash(path, "mesh", hash, mesh->hash);
    tool_check(sp_domains_match(context, domains, sp_mesh_element_count(&mesh->mesh), mesh->mesh.vertex_count), path);
}

/* Triangles of the embedded surface whose corners are carried by elements of several domains. */
typedef struct spanning {
    int64_t *owner; /* [triangles] the domain of each; NULL: they are left out */
    int64_t count;
    double gap; /* m, largest distance of such a corner from the elements of its domain */
} spanning;

/* With --local a domain may not depend on its neighbours, and gets no such triangle. */
static void say_spanning(const sp_mesh *mesh, const spanning *between)
{
    const long long count = between->count, all = mesh->surface.triangle_count;
    if (count > 0 && !between->owner)
        tool_say("%lld of %lld triangles of the surface have corners in elements of several domains, and are in no "
                 "mesh of --local",
                 count, all);
    else if (count > 0)
        tool_say("%lld of %lld triangles of the surface have corners in elements of several domains: each is in the "
                 "mesh of the domain at its centre, with corners up to %.3g m from its elements",
                 count, all, between->gap);
}

/* Writes one domain. Its parameters name it as if it were extracted alone. */
static void write_domain(sp_context *context, const tool_mesh *mesh, const sp_domains *domains,
                         const sp_domain_choice *choice, spanning *between, const char *path)
{
    sp_mesh part;
    double gap = 0;
    sp_pool pool = {0};
    int64_t *kept;
    char number[32];

    tool_output *output = tool_output_open(path);
    tool_check(sp_domain_extract(context, &mesh->mesh, domains, choice, &pool, &part, &kept), mesh->path);
    if (between->owner)
        tool_check(sp_domain_add_spanning(context, &mesh->mesh, domains, choice->domain, between->owner, &part, &gap),
                   mesh->path);
    between->gap = gap > between->gap ? gap : between->gap;

    json_t *meta = tool_meta_new("mesh"), *result = tool_result_new();
    snprintf(number, sizeof number, "%lld", (long long)choice->domain);
    json_object_set_new(json_object_get(meta, "parameters"), "extract", json_string(number));
    tool_facts(result, sp_kind_mesh.result, {"interfaces", .integer = part.set_count - mesh->mesh.set_count},
               {"volume", .real = sp_mesh_volume(&part)});

    tool_check(choice->local ? sp_mesh_write(context, tool_output_writer(output), meta, &part)
                             : sp_mesh_write_kept(context, tool_output_writer(output), meta, &part, mesh->hash, kept),
               path);

    tool_output_finish(output, result);
    json_decref(meta);
    sp_mesh_free(&part);
    sp_pool_free(&pool);
}

void part_extract(sp_context *context, const tool_mesh *mesh, const char *parts, const part_extraction *choice)
{
    sp_domains domains;
    sp_list list = {0};
    const char *target = tool_output_path();
    const bool pattern = tool_pattern(target);

    read_domains(context, mesh, parts, &domains);
    tool_parse_list("extract", choice->list, 0, domains.count, &list);
    if (list.count > 1 && !pattern)
        tool_fail(SP_USAGE, NULL, "%lld domains need a pattern such as -o domain_%%03d.npz", (long long)list.count);

    if ((choice->fix_parent || choice->name_parent) && domains.parents == 0)
        tool_fail(SP_INPUT, parts, "--%s-parent: the graph of the domains is no tree, no domain has a parent",
                  choice->fix_parent ? "fix" : "name");

    spanning between = {0};
    sp_pool room = {0};
    int64_t *owner = tool_allocate_raw(&room, mesh->mesh.surface.triangle_count, sizeof *owner);
    tool_check(sp_domains_owners(context, &mesh->mesh, &domains, owner, &between.count), mesh->path);
    between.owner = choice->local ? NULL : owner;

    /* All domains appear together. */
    tool_outputs_hold(true);
    for (int64_t i = 0; i < list.count; i++) {
        const int64_t d = ((const int64_t *)list.data)[i];
        const sp_domain_choice one = {.domain = choice->local ? domains.same[d] : d,
                                      .fix_parent = choice->fix_parent,
                                      .name_parent = choice->name_parent,
                                      .local = choice->local};
        sp_pool pool = {0};

        char *path = (char *)target;
        if (pattern)
            tool_pattern_path(target, d, &pool, &path);
        write_domain(context, mesh, &domains, &one, &between, path);
        sp_pool_free(&pool);
    }

    tool_outputs_hold(false);
    say_spanning(&mesh->mesh, &between);
    sp_pool_free(&room);
    sp_list_free(&list);
    sp_domains_free(&domains);
}
