/* simpart: divides a body into domains that meet at interfaces, and writes domains as meshes. */
#include "tools/part/part.h"

static part_division division;
static part_extraction extraction;

static const tool_option division_options[] = {
    {"parts", 0, TOOL_INTEGER, &division.parts, "N", NULL, .low = 1, .high = 1000000,
     .help = "N domains of about the same number of elements, with small interfaces (METIS)"},
    {"regions", 0, TOOL_FLAG, &division.regions, .help = "each region is a domain"},
    {"sides", 0, TOOL_INPUT, &division.cut.sides, "FILE", .files = "npy",
     .help = ".npy of one number for each element: elements of equal numbers are a domain"},
    {"plane", 0, TOOL_TEXTS, &division.cut.planes, "NX,NY,NZ,D",
     .help = "elements with their centroid at n.x > d come apart from the others; several planes: every combination is "
             "a domain"},
    {"pieces", 0, TOOL_FLAG, &division.pieces, .only = "!parts",
     .help = "connected pieces of a region or side are domains of their own"},
    {"tree", 0, TOOL_FLAG, &division.tree, .help = "refuse domains whose graph has a loop"},
    {"root", 0, TOOL_TEXT, &division.root, "VERTEX",
     .help = "the domain with this vertex is the root of the tree, near:X,Y,Z the nearest to a place (default: the "
             "domain with the most fixed vertices)"},
};

static const tool_option extraction_options[] = {
    {"extract", 0, TOOL_TEXT, &extraction.list, "LIST",
     .help = "write these domains, counted from 0, as meshes: 3, or 0-7 with a pattern as -o domain_%03d.npz"},
    {"fix-parent", 0, TOOL_FLAG, &extraction.fix_parent, .help = "fix the vertices of the interface to the parent"},
    {"name-parent", 0, TOOL_FLAG, &extraction.name_parent,
     .help = "call the interface to the parent interface-parent, for modes --rest and for the joints of scenes"},
    {"local", 0, TOOL_FLAG, &extraction.local,
     .help = "places and names that do not depend on the other domains, so that domains of the same content give the "
             "same file"},
};

static const tool_table tables[] = {
    {.title = "Division of a mesh",
     .options = division_options,
     .count = TOOL_COUNT(division_options),
     .only = "@mesh"},
    {.title = "Domains as meshes",
     .options = extraction_options,
     .count = TOOL_COUNT(extraction_options),
     .only = "@domains"},
    {0},
};

static const tool_spec spec = {
    .name = "simpart",
    .arguments = "MESH [DOMAINS]",
    .least = 1,
    .most = 2,
    .summary = "Divides a body into domains that meet at interfaces, and writes domains as meshes.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simpart tree.npz --parts 2 --tree -o parts.npz\n"
                "  simpart tree.npz parts.npz --extract 1 --fix-parent -o domain_1.npz\n"
                "  simpart tree.npz parts.npz --extract 0-1 --local -o domain_%d.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    tool_mesh mesh;
    const bool domains = tool_argument_count() == 2;
    tool_inputs_are(domains ? "domains" : "mesh");
    if (domains && !extraction.list)
        tool_fail(SP_USAGE, NULL, "--extract is missing: which domains are to be written");
    tool_read_mesh(tool_argument(0), NULL, &mesh);
    if (domains)
        part_extract(context, &mesh, tool_argument(1), &extraction);
    else
        part_divide(context, &mesh, &division);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
