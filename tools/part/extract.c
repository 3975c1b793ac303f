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

/* Triangles of the embedded surface whose corners are carried by elements of several domains belong to no domain: the
 * displacement of one alone does not place them. */
static void say_spanning(const sp_mesh *mesh, const sp_domains *domains)
{
    const sp_embedded_surface *surface = &mesh->surface;
    int64_t spanning = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        int64_t in[3];
        for (int i = 0; i < 3; i++)
            in[i] = domains->domain[surface->element[surface->triangles[3 * t + i]]];
        spanning += in[0] != in[1] || in[1] != in[2];
    }
    if (spanning)
        tool_say("%lld of %lld triangles of the surface have corners in elements of two domains, and are in no "
                 "extracted mesh",
                 (long long)spanning, (long long)surface->triangle_count);
}

/* Writes one domain. Its parameters name it as if it were extracted alone. */
static void write_domain(sp_context *context, const tool_mesh *mesh, const sp_domains *domains,
                         const sp_domain_choice *choice, const char *path)
{
    sp_mesh part;
    sp_pool pool = {0};
    int64_t *kept;
    char number[32];

    tool_output *output = tool_output_open(path);
    tool_check(sp_domain_extract(context, &mesh->mesh, domains, choice, &pool, &part, &kept), mesh->path);

    json_t *meta = tool_meta_new("mesh"), *result = tool_result_new();
    snprintf(number, sizeof number, "%lld", (long long)choice->domain);
    json_object_set_new(json_object_get(meta, "parameters"), "extract", json_string(number));
    json_object_set_new(result, "interfaces", json_integer(part.set_count - mesh->mesh.set_count));
    json_object_set_new(result, "volume", tool_real("volume", sp_mesh_volume(&part)));

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
        write_domain(context, mesh, &domains, &one, path);
        sp_pool_free(&pool);
    }

    say_spanning(&mesh->mesh, &domains);
    sp_list_free(&list);
    sp_domains_free(&domains);
}
