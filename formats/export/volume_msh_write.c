/* Meshes for Gmsh, in text. Region r is the volume and the physical volume r + 1. */
#include "formats/export/volume_internal.h"

#include <string.h>

static int type_of(const sp_mesh *mesh, int64_t element)
{
    int64_t within;
    return sp_element_types[sp_mesh_type(mesh, element, &within)].gmsh;
}

/* The nodes of an element in Gmsh's order, from 1. */
static void write_nodes(sp_stream *stream, const sp_mesh *mesh, int64_t element)
{
    int64_t within, of_gmsh[SP_ELEMENT_NODES];
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    for (int a = 0; a < nodes; a++)
        of_gmsh[sp_element_gmsh_node(type, a)] = mesh->block[type].node[within * nodes + a] + 1;
    for (int a = 0; a < nodes; a++)
        sp_stream_print(stream, "%s%lld", a ? " " : "", (long long)of_gmsh[a]);
}

static void write_names(sp_stream *stream, const sp_mesh *mesh)
{
    sp_stream_print(stream, "$PhysicalNames\n%lld\n", (long long)mesh->material_count);
    for (int64_t m = 0; m < mesh->material_count; m++)
        sp_stream_print(stream, "3 %lld \"%s\"\n", (long long)m + 1, mesh->materials[m].name);
    sp_stream_print(stream, "$EndPhysicalNames\n");
}

static void write_2(sp_stream *stream, const sp_mesh *mesh)
{
    sp_stream_print(stream, "$Nodes\n%lld\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_stream_print(stream, "%lld ", (long long)v + 1);
        sp_volume_write_point(stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(stream, "\n");
    }
    sp_stream_print(stream, "$EndNodes\n$Elements\n%lld\n", (long long)sp_mesh_element_count(mesh));
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        long long region = (long long)mesh->region[e] + 1;
        sp_stream_print(stream, "%lld %d 2 %lld %lld ", (long long)e + 1, type_of(mesh, e), region, region);
        write_nodes(stream, mesh, e);
        sp_stream_print(stream, "\n");
    }
    sp_stream_print(stream, "$EndElements\n");
}

/* Every volume has the bounding box of the whole body, and all nodes belong to the first volume, since Gmsh requires
 * one for each. */
static void write_4(sp_stream *stream, const sp_mesh *mesh)
{
    double low[3], high[3];
    long long nodes = (long long)mesh->vertex_count, elements = (long long)sp_mesh_element_count(mesh), runs = 0;
    sp_mesh_box(mesh, low, high);
    sp_stream_print(stream, "$Entities\n0 0 0 %lld\n", (long long)mesh->material_count);
    for (int64_t m = 0; m < mesh->material_count; m++) {
        sp_stream_print(stream, "%lld ", (long long)m + 1);
        sp_volume_write_point(stream, low, " ");
        sp_stream_print(stream, " ");
        sp_volume_write_point(stream, high, " ");
        sp_stream_print(stream, " 1 %lld 0\n", (long long)m + 1);
    }
    sp_stream_print(stream, "$EndEntities\n$Nodes\n1 %lld 1 %lld\n3 1 0 %lld\n", nodes, nodes, nodes);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        sp_stream_print(stream, "%lld\n", (long long)v + 1);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_volume_write_point(stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(stream, "\n");
    }
    /* A block for each run of one type and region keeps the order of the elements. */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e = sp_volume_run_end(mesh, e))
        runs++;
    sp_stream_print(stream, "$EndNodes\n$Elements\n%lld %lld 1 %lld\n", runs, elements, elements);
    for (int64_t e = 0, end; e < sp_mesh_element_count(mesh); e = end) {
        end = sp_volume_run_end(mesh, e);
        sp_stream_print(stream, "3 %lld %d %lld\n", (long long)mesh->region[e] + 1, type_of(mesh, e),
                        (long long)(end - e));
        for (int64_t i = e; i < end; i++) {
            sp_stream_print(stream, "%lld ", (long long)i + 1);
            write_nodes(stream, mesh, i);
            sp_stream_print(stream, "\n");
        }
    }
    sp_stream_print(stream, "$EndElements\n");
}

int sp_msh_write(sp_context *context, int descriptor, int major, const sp_mesh *mesh)
{
    sp_stream stream;
    for (int64_t m = 0; m < mesh->material_count; m++)
        if (strchr(mesh->materials[m].name, '"'))
            return sp_fail(context, SP_INPUT,
                           "the name of region %lld, %s, has a quotation mark in it, which Gmsh cannot hold",
                           (long long)m, mesh->materials[m].name);
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "$MeshFormat\n%s 0 8\n$EndMeshFormat\n", major == 2 ? "2.2" : "4.1");
    write_names(&stream, mesh);
    if (major == 2)
        write_2(&stream, mesh);
    else
        write_4(&stream, mesh);
    return sp_stream_end(context, &stream);
}
