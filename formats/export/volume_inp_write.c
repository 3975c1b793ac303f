/* Meshes for Abaqus and CalculiX. */
#include "formats/export/volume_internal.h"
#include "mesh/mesh_sets.h"

#include <stdio.h>

enum { PER_LINE = 8 };

bool sp_inp_holds(const sp_material *material)
{
    switch (material->law) {
    case SP_LAW_STVK:
    case SP_LAW_LINEAR:
    case SP_LAW_MOONEY_RIVLIN:
        return material->fibre == SP_FIBRE_NONE;
    case SP_LAW_NEO_HOOKEAN:
    case SP_LAW_COROTATIONAL:
    case SP_LAW_ISOCHORIC_NEO_HOOKEAN:
    case SP_LAW_STABLE_NEO_HOOKEAN:
    case SP_LAW_COUNT:
        break;
    }
    return false;
}

/* A field has 20 characters (CalculiX reads no more, and rejects a longer one): the number is written with as many
 * digits as fit, at least 13. */
static void write_field(sp_stream *stream, double value)
{
    enum { FIELD = 20 };
    char text[32];
    for (int digits = 17; snprintf(text, sizeof text, "%.*g", digits, value) > FIELD; digits--)
        continue;
    sp_stream_print(stream, "%s", text);
}

static void write_fields(sp_stream *stream, int count, const double *values)
{
    for (int i = 0; i < count; i++) {
        sp_stream_print(stream, i == 0 ? "" : i % PER_LINE ? ", " : ",\n");
        write_field(stream, values[i]);
    }
    sp_stream_print(stream, "\n");
}

/* Writes numbers from 1, a few per line. */
static void write_number(sp_stream *stream, int64_t written, int64_t number)
{
    sp_stream_print(stream, "%s%lld", written == 0 ? "" : written % PER_LINE ? ", " : ",\n", (long long)number);
}

/* A line has at most 16 numbers; a comma at its end continues it. */
static void write_nodes(sp_stream *stream, const sp_mesh *mesh, int64_t element)
{
    enum { MOST = 16 };
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
    for (int a = 0; a < nodes; a++)
        sp_stream_print(stream, "%lld%s", (long long)node[a] + 1,
                        a == nodes - 1        ? "\n"
                        : (a + 2) % MOST == 0 ? ",\n"
                                              : ", ");
}

static void write_elements(sp_stream *stream, const sp_mesh *mesh, char (*name)[SP_NAME_LENGTH])
{
    for (int64_t e = 0, end; e < sp_mesh_element_count(mesh); e = end) {
        end = sp_volume_run_end(mesh, e);
        int64_t within;
        sp_stream_print(stream, "*ELEMENT, TYPE=%s, ELSET=%s\n",
                        sp_element_types[sp_mesh_type(mesh, e, &within)].abaqus, name[mesh->region[e]]);
        for (int64_t i = e; i < end; i++) {
            sp_stream_print(stream, "%lld, ", (long long)i + 1);
            write_nodes(stream, mesh, i);
        }
    }
}

static void write_surface(sp_stream *stream, const sp_mesh *mesh, const sp_mesh_set *set)
{
    for (int64_t i = 0; i < set->count; i++) {
        int64_t within;
        const int type = sp_mesh_type(mesh, set->index[2 * i], &within);
        int number = 1;
        while (sp_element_abaqus_face(type, number) != set->index[2 * i + 1])
            number++;
        sp_stream_print(stream, "%lld, S%d\n", (long long)set->index[2 * i] + 1, number);
    }
}

static void write_named_sets(sp_stream *stream, const sp_mesh *mesh, char (*name)[SP_NAME_LENGTH])
{
    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        if (!*name[i])
            continue;

        if (set->kind == SP_SET_FACES) {
            sp_stream_print(stream, "*SURFACE, NAME=%s\n", name[i]);
            write_surface(stream, mesh, set);
            continue;
        }

        sp_stream_print(stream, set->kind == SP_SET_VERTICES ? "*NSET, NSET=%s\n" : "*ELSET, ELSET=%s\n", name[i]);
        for (int64_t k = 0; k < set->count; k++)
            write_number(stream, k, set->index[k] + 1);
        sp_stream_print(stream, "\n");
    }
}

/* Writes a set of nodes for each combination of fixed components. */
static void write_conditions(sp_stream *stream, const sp_mesh *mesh, bool conditions)
{
    static const char *const name[8] = {"", "X", "Y", "XY", "Z", "XZ", "YZ", "XYZ"};
    for (int axes = 1; axes < 8; axes++) {
        int64_t count = 0;

        for (int64_t i = 0; i < mesh->fixed_count; i++) {
            if (mesh->fixed_axes[i] != axes)
                continue;
            if (count == 0 && !conditions)
                sp_stream_print(stream, "*NSET, NSET=FIXED_%s\n", name[axes]);
            if (!conditions)
                write_number(stream, count, mesh->fixed[i] + 1);
            count++;
        }

        if (count > 0 && !conditions)
            sp_stream_print(stream, "\n");
        if (count > 0 && conditions)
            for (int k = 0; k < 3; k++)
                if (axes & 1 << k)
                    sp_stream_print(stream, "FIXED_%s, %d, %d\n", name[axes], k + 1, k + 1);
    }
}

/* The constants of type ANISO: the upper triangle by columns in the order 11, 22, 33, 12, 13, 23. Our order is xx, yy,
 * zz, yz, zx, xy. */
static int write_anisotropic(sp_context *context, sp_stream *stream, const sp_material *material)
{
    static const int place[6] = {0, 1, 2, 5, 4, 3};
    double C[36], constant[21], *to = constant;
    SP_PASS(sp_material_stiffness(context, material, C));
    sp_stream_print(stream, "*ELASTIC, TYPE=ANISO\n");
    for (int j = 0; j < 6; j++)
        for (int i = 0; i <= j; i++)
            *to++ = C[6 * place[i] + place[j]];
    write_fields(stream, 21, constant);
    return SP_OK;
}

static int write_material(sp_context *context, sp_stream *stream, const sp_material *material, const char *name)
{
    sp_stream_print(stream, "*MATERIAL, NAME=%s\n*DENSITY\n", name);
    write_fields(stream, 1, &material->density);

    if (material->damping_mass > 0 || material->damping_stiffness > 0) {
        sp_stream_print(stream, "*DAMPING, ALPHA=");
        write_field(stream, material->damping_mass);
        sp_stream_print(stream, ", BETA=");
        write_fields(stream, 1, &material->damping_stiffness);
    }

    if (material->law == SP_LAW_STVK) {
        sp_stream_print(stream, "*ELASTIC\n");
        write_fields(stream, 2, (double[]){material->young, material->poisson});
    } else if (material->law == SP_LAW_LINEAR)
        return write_anisotropic(context, stream, material);
    else if (material->law == SP_LAW_MOONEY_RIVLIN) {
        sp_stream_print(stream, "*HYPERELASTIC, MOONEY-RIVLIN\n");
        write_fields(stream, 3, (double[]){material->mooney[1], material->mooney[0], 1 / material->mooney[2]});
    } else
        sp_stream_print(stream, "** its law, %s, has no card\n", sp_law_name(material->law));
    return SP_OK;
}

int sp_inp_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    sp_pool pool = {0};
    char(*name)[SP_NAME_LENGTH], (*of_set)[SP_NAME_LENGTH];
    bool *used;
    int status;

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0 && !sp_element_types[t].abaqus)
            return sp_fail(context, SP_INPUT, "the mesh has %lld elements of type %s, which Abaqus does not have",
                           (long long)mesh->block[t].count, sp_element_types[t].name);

    SP_TRY(sp_plain_names(context, mesh, &pool, &name));
    SP_TRY(sp_plain_set_names(context, mesh, name, &pool, &of_set));
    SP_TRY(sp_volume_used_regions(context, mesh, &pool, &used));

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "*NODE, NSET=NALL\n");
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_stream_print(&stream, "%lld, ", (long long)v + 1);
        write_fields(&stream, 3, mesh->vertices + 3 * v);
    }

    write_elements(&stream, mesh, name);
    write_named_sets(&stream, mesh, of_set);
    write_conditions(&stream, mesh, false);

    for (int64_t m = 0; m < mesh->material_count; m++)
        if (used[m])
            SP_TRY(write_material(context, &stream, &mesh->materials[m], name[m]));
    for (int64_t m = 0; m < mesh->material_count; m++)
        if (used[m])
            sp_stream_print(&stream, "*SOLID SECTION, ELSET=%s, MATERIAL=%s\n", name[m], name[m]);

    if (mesh->fixed_count > 0)
        sp_stream_print(&stream, "*BOUNDARY\n");
    write_conditions(&stream, mesh, true);

    status = sp_stream_end(context, &stream);
done:
    sp_pool_free(&pool);
    return status;
}
