/* simcut: separates elements of a mesh along planes or by lists, where the vertices between them are doubled, and keeps
 * some of the pieces. */
#include "mesh/cut.h"
#include "tools/common/inputs.h"
#include "tools/cut/sides.h"

static cut_choice chosen;

static const tool_option options[] = {
    {"plane", 0, TOOL_TEXTS, &chosen.planes, "NX,NY,NZ,D",
     .help = "elements with their centroid at n.x > d come apart from the others; several planes: every combination is "
             "a side"},
    {"region", 0, TOOL_TEXT, &chosen.region, "NAME", .only = "plane",
     .help = "beyond a plane are elements of this region only"},
    {"elements", 0, TOOL_TEXTS, &chosen.lists, "LIST",
     .help = "these elements on a side of their own, counted from 0: 3,17,20-40"},
    {"sides", 0, TOOL_INPUT, &chosen.sides, "FILE", .files = "npy",
     .help = ".npy of one number for each element: elements of equal numbers are on one side"},
    {"keep", 0, TOOL_TEXT, &chosen.keep, "LIST",
     .help = "write only these connected pieces, after the cut where there is one, counted from 1 by size: 1 is the "
             "one with the most elements"},
};

/* Counts of the cut, said and for the result, and the volume of the mesh that is written. */
static json_t *report(sp_context *context, const cut_sides *p, const sp_mesh *cut, const int64_t *origin,
                      int64_t dropped, const sp_mesh *written)
{
    sp_cut_counts n;

    tool_check(sp_mesh_count_cut(context, p->mesh, cut, origin, &n), NULL);
    tool_say(
        "%lld sides; %lld pieces of %lld before, %lld of them not fixed; %lld vertices doubled (%lld new); %lld of "
        "%lld triangles dropped",
        (long long)p->count, (long long)n.pieces, (long long)n.pieces_before, (long long)n.free_pieces,
        (long long)n.doubled, (long long)n.copies, (long long)dropped, (long long)p->mesh->surface.triangle_count);

    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_mesh.result, {"sides", .integer = p->count}, {"pieces", .integer = n.pieces},
               {"pieces_before", .integer = n.pieces_before}, {"unheld_pieces", .integer = n.free_pieces},
               {"doubled_vertices", .integer = n.doubled}, {"new_vertices", .integer = n.copies},
               {"dropped_triangles", .integer = dropped}, {"volume", .real = sp_mesh_volume(written)});
    return result;
}

static void write_cut(sp_context *context, cut_sides *p, const tool_mesh *mesh, tool_output *output, const sp_mesh *cut,
                      const int64_t *origin, int64_t dropped)
{
    json_t *meta = tool_meta_new("mesh"), *result = report(context, p, cut, origin, dropped, cut);
    tool_check(sp_mesh_write_cut(context, tool_output_writer(output), meta, cut, mesh->hash, origin),
               tool_output_path());
    tool_output_finish(output, result);
    json_decref(meta);
}

static void write_kept(sp_context *context, cut_sides *p, const tool_mesh *mesh, tool_output *output,
                       const sp_mesh *cut, const int64_t *origin, int64_t dropped)
{
    int64_t *kept;
    sp_mesh part;
    tool_check(sp_mesh_keep(context, cut, cut_keep(context, &chosen, cut, &p->pool), &p->pool, &part, &kept),
               mesh->path);
    json_t *meta = tool_meta_new("mesh"), *result = report(context, p, cut, origin, dropped, &part);
    for (int64_t v = 0; v < part.vertex_count; v++)
        kept[v] = origin[kept[v]];
    tool_say("kept %lld of %lld elements and %lld of %lld vertices", (long long)sp_mesh_element_count(&part),
             (long long)sp_mesh_element_count(cut), (long long)part.vertex_count, (long long)cut->vertex_count);
    tool_facts(result, sp_kind_mesh.result, {"kept_elements", .integer = sp_mesh_element_count(&part)});
    tool_check(sp_mesh_write_kept(context, tool_output_writer(output), meta, &part, mesh->hash, kept),
               tool_output_path());
    tool_output_finish(output, result);
    json_decref(meta);
    sp_mesh_free(&part);
}

static const tool_spec spec = {
    .name = "simcut",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Cuts a mesh: separates elements, doubles the vertices between them, and keeps pieces.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simcut spoon.npz --plane 1,0,0,1.2 -o cut.npz\n  simcut cube.npz --plane 1,0,0,0.5 "
                "--plane 0,1,0,0.5 -o quarters.npz\n"
                "  simcut scan.npz --keep 1 -o largest.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    tool_mesh mesh;
    sp_mesh cut;
    cut_sides p;
    int64_t *origin, dropped;
    tool_read_mesh(tool_argument(0), NULL, &mesh);
    cut_divide(context, &chosen, &mesh.mesh, &p);
    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_mesh_cut(context, &mesh.mesh, p.side, &p.pool, &cut, &origin, &dropped), mesh.path);
    if (cut.vertex_count == mesh.mesh.vertex_count && (p.count > 1 || !chosen.keep))
        tool_fail(SP_USAGE, NULL, "the cut separates nothing: no vertex lies between its sides");
    (chosen.keep ? write_kept : write_cut)(context, &p, &mesh, output, &cut, origin, dropped);
    sp_mesh_free(&cut);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&p.pool);
    return tool_end();
}
