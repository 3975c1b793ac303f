/* Meshes for Gmsh, in text. Region r is the physical volume r + 1. Named sets are physical groups: those of faces
 * physical surfaces, whose elements are the faces, those of vertices physical points, whose elements are points, and in
 * version 4 those of elements further physical volumes. */
#include "formats/export/volume_internal.h"
#include "mesh/mesh_sets.h"

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

/* ---- sets ---- */

/* The dimension of the group of a set; −1: the file does not have it. */
static int dimension_of(const sp_mesh *mesh, const sp_mesh_set *set, int major)
{
    if (set->kind == SP_SET_ELEMENTS)
        return major == 4 && !sp_volume_is_region(mesh, set) ? 3 : -1;
    return set->kind == SP_SET_FACES ? 2 : 0;
}

/* The number of the physical group of a set among those of its dimension; behind the regions if it is of elements. */
static int64_t group_of(const sp_mesh *mesh, int64_t at, int major)
{
    const int dimension = dimension_of(mesh, &mesh->sets[at], major);
    int64_t group = dimension == 3 ? mesh->material_count : 0;
    for (int64_t i = 0; i <= at; i++)
        group += dimension_of(mesh, &mesh->sets[i], major) == dimension;
    return group;
}

/* Gmsh's type of entry i of a set of vertices or faces, and its nodes, whose order is that of Gmsh. */
static int part_of(const sp_mesh *mesh, const sp_mesh_set *set, int64_t i, int *count, int64_t node[SP_ELEMENT_NODES])
{
    static const int face[SP_FACE_NODES + 1] = {[3] = 2, [4] = 3, [6] = 9, [8] = 16, [9] = 10};
    *count = sp_mesh_set_nodes(mesh, set, i, node);
    return set->kind == SP_SET_FACES ? face[*count] : 15;
}

/* The end of the run of entries from `first` on that have its type. */
static int64_t part_end(const sp_mesh *mesh, const sp_mesh_set *set, int64_t first)
{
    int64_t node[SP_ELEMENT_NODES], end = first + 1;
    int count;
    const int type = part_of(mesh, set, first, &count, node);
    while (end < set->count && part_of(mesh, set, end, &count, node) == type)
        end++;
    return end;
}

/* The elements that are points and faces of sets, and the runs of them of one set and type. */
static void count_parts(const sp_mesh *mesh, int64_t *parts, int64_t *runs)
{
    *parts = *runs = 0;
    for (int64_t s = 0; s < mesh->set_count; s++) {
        const sp_mesh_set *set = &mesh->sets[s];
        if (set->kind != SP_SET_ELEMENTS)
            for (int64_t i = 0; i < set->count; i = part_end(mesh, set, i))
                ++*runs;
        *parts += set->kind != SP_SET_ELEMENTS ? set->count : 0;
    }
}

static void write_part_nodes(sp_stream *stream, int count, const int64_t *node)
{
    for (int a = 0; a < count; a++)
        sp_stream_print(stream, " %lld", (long long)node[a] + 1);
    sp_stream_print(stream, "\n");
}

/* ---- the file ---- */

static void write_names(sp_stream *stream, const sp_mesh *mesh, int major)
{
    int64_t count = mesh->material_count;
    for (int64_t i = 0; i < mesh->set_count; i++)
        count += dimension_of(mesh, &mesh->sets[i], major) >= 0;
    sp_stream_print(stream, "$PhysicalNames\n%lld\n", (long long)count);
    for (int64_t m = 0; m < mesh->material_count; m++)
        sp_stream_print(stream, "3 %lld \"%s\"\n", (long long)m + 1, mesh->materials[m].name);
    for (int64_t i = 0; i < mesh->set_count; i++)
        if (dimension_of(mesh, &mesh->sets[i], major) >= 0)
            sp_stream_print(stream, "%d %lld \"%s\"\n", dimension_of(mesh, &mesh->sets[i], major),
                            (long long)group_of(mesh, i, major), mesh->sets[i].name);
    sp_stream_print(stream, "$EndPhysicalNames\n");
}

/* A face or point that is in several sets is an element of each of them. */
static void write_parts_2(sp_stream *stream, const sp_mesh *mesh)
{
    long long number = (long long)sp_mesh_element_count(mesh);
    for (int64_t s = 0; s < mesh->set_count; s++) {
        const sp_mesh_set *set = &mesh->sets[s];
        const long long group = (long long)group_of(mesh, s, 2);
        if (set->kind != SP_SET_ELEMENTS)
            for (int64_t i = 0; i < set->count; i++) {
                int64_t node[SP_ELEMENT_NODES];
                int count;
                const int type = part_of(mesh, set, i, &count, node);
                sp_stream_print(stream, "%lld %d 2 %lld %lld", ++number, type, group, group);
                write_part_nodes(stream, count, node);
            }
    }
}

static void write_2(sp_stream *stream, const sp_mesh *mesh)
{
    sp_stream_print(stream, "$Nodes\n%lld\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_stream_print(stream, "%lld ", (long long)v + 1);
        sp_volume_write_point(stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(stream, "\n");
    }

    int64_t parts, runs;
    count_parts(mesh, &parts, &runs);
    sp_stream_print(stream, "$EndNodes\n$Elements\n%lld\n", (long long)(sp_mesh_element_count(mesh) + parts));

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        long long region = (long long)mesh->region[e] + 1;
        sp_stream_print(stream, "%lld %d 2 %lld %lld ", (long long)e + 1, type_of(mesh, e), region, region);
        write_nodes(stream, mesh, e);
        sp_stream_print(stream, "\n");
    }

    write_parts_2(stream, mesh);
    sp_stream_print(stream, "$EndElements\n");
}

/* The volumes of version 4: the elements of a region that are in the same sets. */
typedef struct volumes {
    int64_t count;
    int64_t *of;       /* [elements] the volume of each */
    int64_t *region;   /* [count] */
    int64_t *previous; /* [count] the volume that it was before its last set; −1: it is in no set */
    int64_t *set;      /* [count] its last set */
} volumes;

static int find_volumes(sp_context *context, const sp_mesh *mesh, sp_pool *pool, volumes *v)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int64_t most = mesh->material_count;

    for (int64_t s = 0; s < mesh->set_count; s++)
        most += dimension_of(mesh, &mesh->sets[s], 4) == 3 ? mesh->sets[s].count : 0;
    *v = (volumes){.count = mesh->material_count};

    int64_t *next = sp_pool_raw(pool, most, sizeof *next);
    v->of = sp_pool_copy(pool, mesh->region, elements, sizeof *v->of);
    v->region = sp_pool_raw(pool, most, sizeof *v->region);
    v->previous = sp_pool_raw(pool, most, sizeof *v->previous);
    v->set = sp_pool_raw(pool, most, sizeof *v->set);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* First a volume for each region, then one for each part that a set cuts from an earlier volume. */
    for (int64_t m = 0; m < mesh->material_count; m++) {
        v->region[m] = m;
        v->previous[m] = -1;
    }

    for (int64_t s = 0; s < mesh->set_count; s++) {
        const sp_mesh_set *set = &mesh->sets[s];
        const int64_t before = v->count;
        if (dimension_of(mesh, set, 4) != 3) /* which may look at all elements */
            continue;

        memset(next, 0xff, (size_t)before * sizeof *next); /* −1: this volume has no part in the set yet */
        for (int64_t i = 0; i < set->count; i++) {
            int64_t *to = &v->of[set->index[i]];
            if (next[*to] < 0) {
                v->region[v->count] = v->region[*to];
                v->previous[v->count] = *to;
                v->set[v->count] = s;
                next[*to] = v->count++;
            }
            *to = next[*to];
        }
    }
    return SP_OK;
}

/* A volume is in the group of its region, which comes first, and in those of its sets. */
static void write_volume(sp_stream *stream, const sp_mesh *mesh, const volumes *v, int64_t at)
{
    long long groups = 1;
    for (int64_t k = at; v->previous[k] >= 0; k = v->previous[k])
        groups++;
    sp_stream_print(stream, " %lld %lld", groups, (long long)v->region[at] + 1);
    for (int64_t k = at; v->previous[k] >= 0; k = v->previous[k])
        sp_stream_print(stream, " %lld", (long long)group_of(mesh, v->set[k], 4));
    sp_stream_print(stream, " 0\n");
}

static int64_t count_sets(const sp_mesh *mesh, sp_set_kind kind)
{
    int64_t count = 0;
    for (int64_t i = 0; i < mesh->set_count; i++)
        count += mesh->sets[i].kind == kind;
    return count;
}

/* A point or surface for each set of vertices or faces. All have the bounding box of the whole body, or its first
 * vertex. */
static void write_entities(sp_stream *stream, const sp_mesh *mesh, const volumes *v)
{
    double low[3], high[3];

    sp_mesh_box(mesh, low, high);
    sp_stream_print(stream, "$Entities\n%lld 0 %lld %lld\n", (long long)count_sets(mesh, SP_SET_VERTICES),
                    (long long)count_sets(mesh, SP_SET_FACES), (long long)v->count);

    for (int kind = 0; kind < SP_SET_KINDS; kind++) {
        const bool faces = kind == SP_SET_FACES, elements = kind == SP_SET_ELEMENTS;
        if (!elements)
            for (int64_t i = 0; i < mesh->set_count; i++) {
                if ((int)mesh->sets[i].kind != kind)
                    continue;
                const long long group = (long long)group_of(mesh, i, 4);
                sp_stream_print(stream, "%lld ", group);
                sp_volume_write_point(stream, faces ? low : mesh->vertices + 3 * mesh->sets[i].index[0], " ");
                if (faces) {
                    sp_stream_print(stream, " ");
                    sp_volume_write_point(stream, high, " ");
                }
                sp_stream_print(stream, " 1 %lld%s\n", group, faces ? " 0" : "");
            }
    }

    for (int64_t m = 0; m < v->count; m++) {
        sp_stream_print(stream, "%lld ", (long long)m + 1);
        sp_volume_write_point(stream, low, " ");
        sp_stream_print(stream, " ");
        sp_volume_write_point(stream, high, " ");
        write_volume(stream, mesh, v, m);
    }

    sp_stream_print(stream, "$EndEntities\n");
}

/* The end of the run of consecutive elements from `element` on that have its type and volume. */
static int64_t run_end(const sp_mesh *mesh, const volumes *v, int64_t element)
{
    const int64_t last = sp_volume_run_end(mesh, element);
    int64_t end = element + 1;
    while (end < last && v->of[end] == v->of[element])
        end++;
    return end;
}

static void write_parts_4(sp_stream *stream, const sp_mesh *mesh)
{
    long long number = (long long)sp_mesh_element_count(mesh);
    for (int64_t s = 0; s < mesh->set_count; s++) {
        const sp_mesh_set *set = &mesh->sets[s];
        if (set->kind != SP_SET_ELEMENTS)
            for (int64_t first = 0, end; first < set->count; first = end) {
                int64_t node[SP_ELEMENT_NODES];
                int count;
                end = part_end(mesh, set, first);
                sp_stream_print(stream, "%d %lld %d %lld\n", dimension_of(mesh, set, 4),
                                (long long)group_of(mesh, s, 4), part_of(mesh, set, first, &count, node),
                                (long long)(end - first));
                for (int64_t i = first; i < end; i++) {
                    part_of(mesh, set, i, &count, node);
                    sp_stream_print(stream, "%lld", ++number);
                    write_part_nodes(stream, count, node);
                }
            }
    }
}

/* All nodes belong to the first volume, since Gmsh requires an entity for each. */
static void write_4(sp_stream *stream, const sp_mesh *mesh, const volumes *v)
{
    long long nodes = (long long)mesh->vertex_count, elements = (long long)sp_mesh_element_count(mesh);
    int64_t parts, runs;

    write_entities(stream, mesh, v);
    sp_stream_print(stream, "$Nodes\n1 %lld 1 %lld\n3 1 0 %lld\n", nodes, nodes, nodes);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        sp_stream_print(stream, "%lld\n", (long long)i + 1);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        sp_volume_write_point(stream, mesh->vertices + 3 * i, " ");
        sp_stream_print(stream, "\n");
    }
    /* A block for each run of one type and volume keeps the order of the elements. */
    count_parts(mesh, &parts, &runs);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e = run_end(mesh, v, e))
        runs++;

    sp_stream_print(stream, "$EndNodes\n$Elements\n%lld %lld 1 %lld\n", (long long)runs, elements + (long long)parts,
                    elements + (long long)parts);

    for (int64_t e = 0, end; e < sp_mesh_element_count(mesh); e = end) {
        end = run_end(mesh, v, e);
        sp_stream_print(stream, "3 %lld %d %lld\n", (long long)v->of[e] + 1, type_of(mesh, e), (long long)(end - e));
        for (int64_t i = e; i < end; i++) {
            sp_stream_print(stream, "%lld ", (long long)i + 1);
            write_nodes(stream, mesh, i);
            sp_stream_print(stream, "\n");
        }
    }

    write_parts_4(stream, mesh);
    sp_stream_print(stream, "$EndElements\n");
}

static int check_quotes(sp_context *context, const sp_mesh *mesh)
{
    for (int64_t m = 0; m < mesh->material_count; m++)
        if (strchr(mesh->materials[m].name, '"'))
            return sp_fail(context, SP_INPUT,
                           "the name of region %lld, %s, contains a quotation mark, which Gmsh does not allow",
                           (long long)m, mesh->materials[m].name);
    for (int64_t i = 0; i < mesh->set_count; i++)
        if (strchr(mesh->sets[i].name, '"'))
            return sp_fail(context, SP_INPUT, "the name of set %s contains a quotation mark, which Gmsh does not allow",
                           mesh->sets[i].name);
    return SP_OK;
}

int sp_msh_write(sp_context *context, int descriptor, int major, const sp_mesh *mesh)
{
    sp_stream stream;
    sp_pool pool = {0};
    volumes v;
    int status;

    SP_TRY(check_quotes(context, mesh));
    SP_TRY(find_volumes(context, mesh, &pool, &v));

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "$MeshFormat\n%s 0 8\n$EndMeshFormat\n", major == 2 ? "2.2" : "4.1");
    write_names(&stream, mesh, major);

    if (major == 2)
        write_2(&stream, mesh);
    else
        write_4(&stream, mesh, &v);
    status = sp_stream_end(context, &stream);
done:
    sp_pool_free(&pool);
    return status;
}
