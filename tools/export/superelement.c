#include "tools/export/superelement.h"

#include "formats/export/matrix_market.h"
#include "formats/export/matrix_write.h"
#include "formats/export/superelement_write.h"
#include "mesh/mesh_sets.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "tools/common/trajectory.h"

#include <string.h>

/* α M + β K of the materials; NULL without damping. */
static double *damp(const tool_mesh *mesh, const sp_superelement *model, sp_pool *pool)
{
    double damping[2];
    if (!sp_input_damping(&mesh->mesh, damping))
        tool_fail(SP_INPUT, mesh->path,
                  "its regions have different damping: one damping matrix takes the same for all");
    if (damping[0] == 0 && damping[1] == 0)
        return NULL;
    double *D = tool_allocate_raw(pool, model->r * model->r, sizeof *D);
    for (int64_t i = 0; i < model->r * model->r; i++)
        D[i] = damping[0] * model->mass[i] + damping[1] * model->stiffness[i];
    return D;
}

/* The vertices of the interfaces are those of the sets of the mesh by which modes found them. */
static void add_vertices(const tool_mesh *mesh, int64_t count, sp_interface *interfaces)
{
    for (int64_t i = 0; i < count; i++) {
        const sp_mesh_set *set = sp_mesh_find_set(&mesh->mesh, interfaces[i].name, SP_SET_VERTICES);
        if (set && set->count == interfaces[i].vertex_count)
            interfaces[i].vertices = set->index;
    }
}

static void reduce(sp_context *context, const tool_trajectory *motion, sp_pool *pool, sp_superelement *model)
{
    const sp_columns *columns = &motion->columns.columns;
    const int64_t r = model->r = columns->count;
    sp_fe_space body;

    model->mass = tool_allocate_raw(pool, r * r, sizeof(double));
    model->stiffness = tool_allocate_raw(pool, r * r, sizeof(double));
    model->gravity = tool_allocate_raw(pool, 3 * r, sizeof(double));

    tool_check(sp_fe_space_new(context, &motion->mesh.mesh, &body), motion->mesh.path);
    tool_check(sp_reduced_mass(context, &body, columns->lumped, r, columns->U, model->mass, model->gravity),
               motion->mesh.path);
    tool_check(sp_reduced_stiffness(context, &body, r, columns->U, model->stiffness), motion->mesh.path);
    sp_fe_space_free(&body);

    model->damping = damp(&motion->mesh, model, pool);
    add_vertices(&motion->mesh, columns->interface_count, columns->interfaces);

    sp_interface *moving = tool_allocate(pool, columns->interface_count, sizeof *moving);
    for (int64_t i = 0; i < columns->interface_count; i++)
        if (!columns->interfaces[i].at_rest)
            moving[model->interface_count++] = columns->interfaces[i];
    model->interfaces = moving;
}

/* STEM-NAME.npy and .mtx. */
static void write_matrix(sp_context *context, const char *stem, const char *name, const char *comment, int64_t rows,
                         int64_t columns, const double *matrix)
{
    char path[4300];
    for (int market = 0; market < 2; market++) {
        snprintf(path, sizeof path, "%s-%s.%s", stem, name, market ? "mtx" : "npy");
        tool_output *output = tool_output_open(path);
        const int descriptor = tool_output_descriptor(output);
        tool_check(market ? sp_matrix_market_write_dense(context, descriptor, comment, rows, columns, matrix)
                          : sp_npy_write(context, descriptor, rows, columns, matrix),
                   path);
        tool_output_finish(output, NULL);
    }
}

/* The target without its ending, of at most 4200 bytes. */
static void stem_of(const char *target, char stem[4200])
{
    const char *slash = strrchr(target, '/'), *dot = strrchr(slash ? slash : target, '.');
    const size_t length = dot ? (size_t)(dot - target) : strlen(target);
    if (!strcmp(target, "-"))
        tool_fail(SP_USAGE, NULL, "-o -: a superelement has several files, of which -o names the description");
    if (length >= 4200)
        tool_fail(SP_USAGE, target, "the name is too long");
    memcpy(stem, target, length);
    stem[length] = 0;
}

static void write_description(sp_context *context, const char *target, const tool_trajectory *motion,
                              const sp_superelement *model, sp_pool *pool)
{
    char stem[4200];
    const int64_t r = model->r;

    stem_of(target, stem);
    tool_outputs_hold(true);
    tool_output *index = tool_output_open(target);
    tool_output_is_index(index);

    write_matrix(context, stem, "mass", "U'MU [kg]", r, r, model->mass);
    write_matrix(context, stem, "stiffness", "U'KU [N/m]", r, r, model->stiffness);
    if (model->damping)
        write_matrix(context, stem, "damping", "U'DU [N s/m]", r, r, model->damping);

    /* The file has columns, one for each axis. */
    double *gravity = tool_allocate_raw(pool, 3 * r, sizeof *gravity);
    for (int64_t i = 0; i < 3 * r; i++)
        gravity[i % 3 * r + i / 3] = model->gravity[i];
    write_matrix(context, stem, "gravity", "U'M (ex, ey, ez) [kg]", r, 3, gravity);

    tool_check(sp_superelement_write(context, tool_output_descriptor(index), model, tool_base_name(stem),
                                     motion->mesh.hash, motion->columns.hash),
               target);
    tool_output_finish(index, NULL);
    tool_outputs_hold(false);
}

void tool_export_superelement(sp_context *context, int count, const char *const *paths, const char *target,
                              bool openfast, const double acceleration[3])
{
    tool_trajectory motion;
    sp_pool pool = {0};
    sp_superelement model = {0};

    tool_trajectory_open(context, count, paths, 0, &motion);
    if (!motion.mesh.path || !motion.columns.path || motion.path)
        tool_fail(SP_USAGE, NULL, "a superelement is made of a mesh and one file of columns");
    tool_inputs_are("columns");

    if (sp_columns_coordinates(&motion.columns.columns) == 0)
        tool_fail(SP_INPUT, motion.columns.path, "it has no interface coordinates: modes --interface makes them");
    tool_hold_rows(&motion.mesh.mesh, &motion.columns);
    reduce(context, &motion, &pool, &model);

    if (openfast) {
        tool_output *output = tool_output_open(target);
        tool_check(sp_extptfm_write(context, tool_output_descriptor(output), &model, acceleration),
                   motion.columns.path);
        tool_output_finish(output, NULL);
    } else
        write_description(context, target, &motion, &model, &pool);

    tool_say("%lld coordinates, of them %lld of %lld interfaces", (long long)model.r,
             (long long)(model.interfaces[model.interface_count - 1].first +
                         model.interfaces[model.interface_count - 1].count),
             (long long)model.interface_count);

    sp_pool_free(&pool);
    tool_trajectory_close(&motion);
}
