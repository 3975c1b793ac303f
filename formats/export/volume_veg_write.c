/* Meshes for VegaFEM: .veg, .bou, .interp. */
#include "formats/export/volume_internal.h"

#include <math.h>

enum { PER_LINE = 8 };

bool sp_veg_cubes(const sp_mesh *mesh)
{
    double edge = 0;
    for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e++) {
        const int64_t *corner = mesh->block[SP_HEX8].node + 8 * e;
        const double *origin = mesh->vertices + 3 * corner[0];

        if (e == 0)
            edge = mesh->vertices[3 * corner[1]] - origin[0];

        for (int a = 1; a < 8; a++)
            for (int k = 0; k < 3; k++) {
                double due = origin[k] + (sp_corner_place[SP_HEXAHEDRON][a][k] > 0 ? edge : 0);
                if (!(fabs(mesh->vertices[3 * corner[a] + k] - due) <= 1e-6 * edge))
                    return false;
            }
    }
    return true;
}

/* Returns true if only the nine constants of an orthotropic stiffness, in the upper triangle by rows, are nonzero. */
static bool is_orthotropic(const double stiffness[21])
{
    static const bool constant[21] = {
        [0] = true, [1] = true, [2] = true, [6] = true, [7] = true, [11] = true, [15] = true, [18] = true, [20] = true};
    for (int i = 0; i < 21; i++)
        if (!constant[i] && stiffness[i] != 0)
            return false;
    return true;
}

/* Returns true if VegaFEM can store the law. It stores the constants of SP_LAW_NEO_HOOKEAN without the name of the law;
 * tools/export/volume.c warns of that. */
static bool holds(enum sp_law law)
{
    switch (law) {
    case SP_LAW_STVK:
    case SP_LAW_LINEAR:
    case SP_LAW_NEO_HOOKEAN:
    case SP_LAW_MOONEY_RIVLIN:
        return true;
    case SP_LAW_COROTATIONAL:
    case SP_LAW_ISOCHORIC_NEO_HOOKEAN:
    case SP_LAW_STABLE_NEO_HOOKEAN:
    case SP_LAW_COUNT:
        break;
    }
    return false;
}

static int check_materials(sp_context *context, const sp_mesh *mesh, const bool *used)
{
    for (int64_t m = 0; m < mesh->material_count; m++) {
        const sp_material *material = &mesh->materials[m];
        if (used[m] && material->fibre != SP_FIBRE_NONE)
            return sp_fail(context, SP_INPUT, "material %s has fibres, which VegaFEM lacks", material->name);
        if (used[m] && material->law == SP_LAW_LINEAR && !is_orthotropic(material->stiffness))
            return sp_fail(context, SP_INPUT,
                           "material %s is not orthotropic along its frame, and VegaFEM has no other linear law",
                           material->name);
        if (used[m] && !holds(material->law))
            return sp_fail(context, SP_INPUT, "material %s has the law %s, which VegaFEM lacks", material->name,
                           sp_law_name(material->law));
    }
    return SP_OK;
}

/* Writes E1 E2 E3, nu12 nu23 nu31, G12 G23 G31 from the inverse of the upper left block, then the frame with the axes
 * as columns. */
static void write_orthotropic(sp_stream *stream, const sp_material *material)
{
    const double *C = material->stiffness, *frame = material->frame;
    double a = C[0], ab = C[1], ca = C[2], b = C[6], bc = C[7], c = C[11];
    double det = a * (b * c - bc * bc) - ab * (ab * c - bc * ca) + ca * (ab * bc - b * ca);
    double E[3] = {det / (b * c - bc * bc), det / (a * c - ca * ca), det / (a * b - ab * ab)};
    double nu[3] = {(ab * c - bc * ca) / det * E[0], (a * bc - ab * ca) / det * E[1], (b * ca - ab * bc) / det * E[2]};
    sp_stream_print(stream, "ORTHOTROPIC, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g",
                    material->density, E[0], E[1], E[2], nu[0], nu[1], nu[2], C[20], C[15], C[18]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sp_stream_print(stream, ", %.17g", frame[3 * k + i]);
    sp_stream_print(stream, "\n");
}

static void write_material(sp_stream *stream, const sp_material *material, const char *name)
{
    sp_stream_print(stream, "\n*MATERIAL %s\n", name);
    if (material->law == SP_LAW_LINEAR)
        write_orthotropic(stream, material);
    else if (material->law == SP_LAW_MOONEY_RIVLIN)
        sp_stream_print(stream, "MOONEYRIVLIN, %.17g, %.17g, %.17g, %.17g\n", material->density, material->mooney[0],
                        material->mooney[1], material->mooney[2]);
    else
        sp_stream_print(stream, "ENU, %.17g, %.17g, %.17g\n", material->density, material->young, material->poisson);
}

/* Writes "1, 2, …" with the commas that VegaFEM requires between all numbers, also at the end of a line. */
static void write_number(sp_stream *stream, int64_t written, int64_t number)
{
    sp_stream_print(stream, "%s%lld", written == 0 ? "" : written % PER_LINE ? "," : ",\n", (long long)number);
}

/* Writes the elements of each region as sets; a single region is allElements. */
static int write_regions(sp_context *context, sp_stream *stream, const sp_mesh *mesh, sp_pool *pool, const bool *used,
                         char (*name)[SP_NAME_LENGTH])
{
    int64_t regions = 0, elements = sp_mesh_element_count(mesh);

    for (int64_t m = 0; m < mesh->material_count; m++)
        regions += used[m];
    /* The elements of region m start at list[first[m]], in increasing order. */
    int64_t *first = sp_pool_new(pool, mesh->material_count + 1, sizeof *first),
            *list = sp_pool_raw(pool, elements, sizeof *list);
    SP_PASS(sp_allocated(context, first && list));

    for (int64_t e = 0; e < elements; e++)
        first[mesh->region[e]]++;
    for (int64_t m = 0, sum = 0; m <= mesh->material_count; m++) {
        sum += first[m];
        first[m] = sum;
    }

    for (int64_t e = elements - 1; e >= 0; e--)
        list[--first[mesh->region[e]]] = e;

    if (regions > 1)
        for (int64_t m = 0; m < mesh->material_count; m++) {
            if (!used[m])
                continue;
            sp_stream_print(stream, "\n*SET region-%lld\n", (long long)m);
            for (int64_t i = first[m]; i < first[m + 1]; i++)
                write_number(stream, i - first[m], list[i] + 1);
            sp_stream_print(stream, "\n");
        }

    for (int64_t m = 0; m < mesh->material_count; m++)
        if (used[m] && regions > 1)
            sp_stream_print(stream, "\n*REGION\nregion-%lld, %s\n", (long long)m, name[m]);
        else if (used[m])
            sp_stream_print(stream, "\n*REGION\nallElements, %s\n", name[m]);
    return SP_OK;
}

int sp_veg_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    sp_pool pool = {0};
    char(*name)[SP_NAME_LENGTH];
    bool *used;
    int status;

    SP_TRY(sp_mesh_need_linear(context, mesh, "a .veg file"));
    if (mesh->block[SP_HEX8].count > 0 && mesh->block[SP_TET4].count > 0)
        return sp_fail(context, SP_INPUT,
                       "the mesh has %lld hexahedra and %lld tetrahedra, and a .veg file holds one type of element",
                       (long long)mesh->block[SP_HEX8].count, (long long)mesh->block[SP_TET4].count);

    SP_TRY(sp_plain_names(context, mesh, &pool, &name));
    SP_TRY(sp_volume_used_regions(context, mesh, &pool, &used));
    SP_TRY(check_materials(context, mesh, used));

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "*VERTICES\n%lld 3 0 0\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_stream_print(&stream, "%lld ", (long long)v + 1);
        sp_volume_write_point(&stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(&stream, "\n");
    }

    sp_stream_print(&stream, "\n*ELEMENTS\n%s\n%lld %d 0\n", mesh->block[SP_HEX8].count ? "CUBIC" : "TET",
                    (long long)sp_mesh_element_count(mesh), mesh->block[SP_HEX8].count ? 8 : 4);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        sp_stream_print(&stream, "%lld ", (long long)e + 1);
        sp_volume_write_corners(&stream, mesh, e, 1, " ");
        sp_stream_print(&stream, "\n");
    }

    for (int64_t m = 0; m < mesh->material_count; m++)
        if (used[m])
            write_material(&stream, &mesh->materials[m], name[m]);

    SP_TRY(write_regions(context, &stream, mesh, &pool, used, name));
    status = sp_stream_end(context, &stream);
done:
    sp_pool_free(&pool);
    return status;
}

int sp_bou_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    int64_t written = 0;
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        written += mesh->fixed_axes[i] == 7;
    if (written == 0)
        return sp_fail(context, SP_INPUT, "no vertex of the mesh is fixed in all components");
    sp_stream_begin(&stream, descriptor);
    written = 0;
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (mesh->fixed_axes[i] == 7)
            write_number(&stream, written++, mesh->fixed[i] + 1);
    sp_stream_print(&stream, "\n");
    return sp_stream_end(context, &stream);
}

int sp_interp_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    const sp_embedded_surface *surface = &mesh->surface;

    if (surface->vertex_count == 0)
        return sp_fail(context, SP_INPUT, "the mesh has no embedded surface");
    SP_PASS(sp_mesh_need_linear(context, mesh, "a .interp file"));

    sp_stream_begin(&stream, descriptor);
    for (int64_t v = 0; v < surface->vertex_count; v++) {
        int count;
        const int64_t *node = sp_mesh_nodes(mesh, surface->element[v], &count);
        sp_stream_print(&stream, "%lld", (long long)v);
        for (int a = 0; a < count; a++)
            sp_stream_print(&stream, " %lld %.17g", (long long)node[a], surface->weights[surface->width * v + a]);
        sp_stream_print(&stream, "\n");
    }
    return sp_stream_end(context, &stream);
}
