#include "tools/export/source.h"

#include "formats/cubature.h"
#include "tools/common/places.h"
#include "tools/common/trajectory.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

/* NAME of a file NAME.c or NAME.fmu, from `pool`. */
static char *name_of(const char *target, sp_pool *pool)
{
    const char *base = tool_base_name(target), *dot = strrchr(base, '.');
    char *name = tool_allocate(pool, dot - base + 1, 1);
    memcpy(name, base, (size_t)(dot - base));
    const char *fault = sp_c_source_name_fault(name);
    if (fault)
        tool_fail(SP_USAGE, target, "\"%s\" begins all names in the file, and cannot be a name in C: %s", name, fault);
    return name;
}

/* ---- probes ---- */

typedef struct probe_list {
    sp_context *context;
    sp_pool *pool;
    const tool_trajectory *model;
    int64_t r;
    sp_list probes; /* of sp_c_source_probe */
} probe_list;

static bool same_letters(const char *a, const char *b)
{
    while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b))
        a++, b++;
    return *a == *b;
}

static void add_probe(probe_list *list, const char *name, tool_place probe)
{
    const sp_mesh *mesh = &list->model->mesh.mesh;
    const sp_columns *columns = &list->model->columns.columns;
    const int64_t *corner;
    const double *weight;
    const int corner_count = tool_place_corners(mesh, &probe, &corner, &weight);

    for (int64_t i = 0; i < list->probes.count; i++)
        if (same_letters(name, ((sp_c_source_probe *)list->probes.data)[i].name))
            tool_fail(SP_USAGE, NULL, "--probe: two probes are named %s (capitals do not count)", name);

    sp_c_source_probe *to = tool_list_add(&list->probes, 1, sizeof *to);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->rows = tool_allocate(list->pool, 3 * list->r, sizeof *to->rows);
    memcpy(to->place, (probe.surface ? mesh->surface.vertices : mesh->vertices) + 3 * probe.vertex, sizeof to->place);

    /* Rows of U that are interpolated to the place of the probe. */
    for (int a = 0; a < corner_count; a++)
        for (int c = 0; c < 3; c++)
            for (int64_t i = 0; i < list->r; i++)
                to->rows[c * list->r + i] += weight[a] * columns->U[i * columns->rows + 3 * corner[a] + c];
}

/* One entry of the list: NAME=VERTEX, or vertices that name themselves v12 or s12. */
static void parse_entry(probe_list *list, char *entry)
{
    sp_list found = {0};
    char *equals = strchr(entry, '='), own[SP_C_SOURCE_NAME];

    if (equals)
        *equals = 0;
    const char *fault = equals ? sp_c_source_name_fault(entry) : NULL;
    if (fault)
        tool_fail(SP_USAGE, NULL, "--probe: \"%s\" cannot be a name in C: %s", entry, fault);

    const tool_place_names names = {.context = list->context,
                                    .option = "probe",
                                    .vertex_count = list->model->mesh.mesh.vertex_count,
                                    .mesh = &list->model->mesh.mesh,
                                    .mesh_path = list->model->mesh.path};
    tool_places_parse(&names, equals ? equals + 1 : entry, &found);
    if (equals && found.count != 1)
        tool_fail(SP_USAGE, NULL, "--probe: the name %s is for one vertex, not for %lld", entry,
                  (long long)found.count);

    for (int64_t i = 0; i < found.count; i++) {
        const tool_place probe = ((tool_place *)found.data)[i];
        snprintf(own, sizeof own, "%c%lld", probe.surface ? 's' : 'v', (long long)probe.vertex);
        add_probe(list, equals ? entry : own, probe);
    }

    sp_list_free(&found);
}

const sp_c_source_probe *tool_reduced_model_probes(sp_context *context, const tool_reduced_model *model,
                                                   const char *text, sp_pool *pool, int64_t *count)
{
    sp_list entries = {0};
    probe_list list = {context, pool, &model->shape, model->tables.r, {0}};
    if (text)
        tool_places_split(text, pool, &entries);
    for (int64_t i = 0; i < entries.count; i++)
        parse_entry(&list, ((char **)entries.data)[i]);
    sp_list_free(&entries);
    *count = list.probes.count;
    const sp_c_source_probe *probes = tool_allocate_copy(pool, list.probes.data, list.probes.count, sizeof *probes);
    sp_list_free(&list.probes);
    return probes;
}

/* ---- the model ---- */

/* `what` is what is made of them. */
static tool_model_files find_files(sp_context *context, const char *what, int count, const char *const *paths)
{
    tool_model_files files = {0};
    for (int i = 0; i < count; i++) {
        char kind[SP_KIND_LENGTH];
        tool_peek_kind(context, paths[i], kind);

        const char **place = NULL;
        const bool cubature = !strcmp(kind, "cubature");
        if (!strcmp(kind, "mesh"))
            place = &files.mesh;
        else if (!strcmp(kind, "polynomials") || cubature)
            place = &files.force;
        else if (!strcmp(kind, "basis") || !strcmp(kind, "modes") || !strcmp(kind, "snapshots"))
            place = &files.basis;
        if (!place)
            tool_fail(SP_INPUT, paths[i], "%s is made of polynomials or a cubature, not of a file of kind %s", what,
                      kind);

        if (*place && place == &files.force && files.cubature != cubature)
            tool_fail(SP_USAGE, NULL, "%s and %s: polynomials or a cubature can be taken, not both", *place, paths[i]);
        if (*place)
            tool_fail(SP_USAGE, NULL, "%s and %s: one file of that kind can be taken", *place, paths[i]);
        *place = paths[i];
        files.cubature |= cubature;
    }

    if (!files.mesh || !files.basis || !files.force)
        tool_fail(SP_USAGE, NULL, "%s needs the mesh, its basis, and its polynomials or cubature: name the %s too",
                  what,
                  !files.mesh    ? "mesh"
                  : !files.basis ? "basis"
                                 : "polynomials or the cubature");
    return files;
}

/* What the file of the force must agree with. */
static void check_force(const char *what, const char *path, const tool_trajectory *model, int64_t r, bool lumped,
                        const char *of_mesh, const char *of_basis)
{
    const tool_columns *basis = &model->columns;

    tool_check_hash(path, "mesh", of_mesh, model->mesh.hash);
    tool_check_hash(path, "basis", of_basis, basis->hash);
    tool_check_lumping(path, lumped, basis->columns.lumped, basis->path);

    if (r > SP_C_SOURCE_MOST)
        tool_fail(SP_INPUT, path, "%lld coordinates: %s has at most %d", (long long)r, what, SP_C_SOURCE_MOST);
    if (r > basis->columns.count)
        tool_fail(SP_INPUT, basis->path, "it has %lld columns, the model %lld coordinates",
                  (long long)basis->columns.count, (long long)r);
}

static void make_polynomials(sp_context *context, const char *what, sp_file *file, tool_reduced_model *model)
{
    const char *path = model->files.force;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_polynomials polynomials;

    tool_check(sp_polynomials_read(context, file, &polynomials, mesh, basis), path);
    check_force(what, path, &model->shape, polynomials.r, polynomials.lumped, mesh, basis);
    tool_check(sp_c_source_tables_new(context, &polynomials, &model->tables), path);
    sp_polynomials_free(&polynomials);
}

static void make_cubature(sp_context *context, const char *what, sp_file *file, tool_reduced_model *model)
{
    const char *path = model->files.force;
    const sp_mesh *of = &model->shape.mesh.mesh;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_cubature cubature;
    sp_fe_space body;

    tool_check(sp_cubature_read(context, file, sp_mesh_element_count(of), &cubature, mesh, basis), path);
    check_force(what, path, &model->shape, cubature.r, cubature.lumped, mesh, basis);
    tool_check(sp_fe_space_new(context, of, &body), model->files.mesh);
    tool_check(sp_c_source_tables_cubature(context, &body, &cubature, model->shape.columns.columns.U, &model->tables),
               path);
    sp_fe_space_free(&body);
    sp_cubature_free(&cubature);
}

static void read_force(sp_context *context, const char *what, tool_reduced_model *model)
{
    static const char *const kinds[] = {"polynomials", "cubature", NULL};
    sp_file file;
    tool_read(model->files.force, NULL, kinds, false, &file);
    strcpy(model->hash, file.hash);
    (model->files.cubature ? make_cubature : make_polynomials)(context, what, &file, model);
    sp_file_free(&file);
}

/* That of the materials, where they agree. */
static void find_damping(const tool_mesh *mesh, double damping[2])
{
    if (sp_input_damping(&mesh->mesh, damping))
        return;
    damping[0] = damping[1] = 0;
    tool_warn(mesh->path, "its regions have different damping: the model has none until the program sets it");
}

void tool_reduced_model_read(sp_context *context, const char *what, int count, const char *const *paths,
                             tool_reduced_model *model)
{
    memset(model, 0, sizeof *model);
    model->files = find_files(context, what, count, paths);
    tool_trajectory_open(context, 2, (const char *const[]){model->files.mesh, model->files.basis}, 0, &model->shape);
    tool_hold_rows(&model->shape.mesh.mesh, &model->shape.columns);
    read_force(context, what, model);
    find_damping(&model->shape.mesh, model->damping);
}

void tool_reduced_model_free(tool_reduced_model *model)
{
    sp_c_source_tables_free(&model->tables);
    tool_trajectory_close(&model->shape);
}

/* For the comment at the top. */
static char *describe(const char *name, const tool_reduced_model *model, sp_pool *pool)
{
    const struct {
        const char *what, *path, *hash;
    } lines[] = {{"mesh", model->files.mesh, model->shape.mesh.hash},
                 {"basis", model->files.basis, model->shape.columns.hash},
                 {model->files.cubature ? "cubature" : "polynomials", model->files.force, model->hash}};

    size_t length = 400;
    for (int i = 0; i < TOOL_COUNT(lines); i++)
        length += strlen(tool_base_name(lines[i].path)) + 120;
    char *text = tool_allocate(pool, (int64_t)length, 1), *at = text;

    at += snprintf(at, length,
                   "%s: a reduced-order model with %lld coordinates, written by simexport %s. Made from (SHA-256)\n",
                   name, (long long)model->tables.r, SUPPLE_VERSION);
    for (int i = 0; i < TOOL_COUNT(lines); i++)
        at += snprintf(at, length - (size_t)(at - text), "    %s: %s %s\n", lines[i].what,
                       strcmp(lines[i].path, "-") ? tool_base_name(lines[i].path) : "standard input", lines[i].hash);

    snprintf(at, length - (size_t)(at - text),
             "The functions are part of Supple, copyright (c) 2026 its maintainers. This file may be used, changed and "
             "passed on without any condition.");
    return text;
}

void tool_c_source_read(sp_context *context, const char *what, int count, const char *const *paths, const char *target,
                        const char *probes, tool_c_source *source)
{
    sp_pool *pool = &source->pool;
    memset(source, 0, sizeof *source);
    source->c.name = name_of(target, pool);
    tool_reduced_model_read(context, what, count, paths, &source->model);
    source->c.tables = &source->model.tables;
    source->c.probes = tool_reduced_model_probes(context, &source->model, probes, pool, &source->c.probe_count);
    memcpy(source->c.damping, source->model.damping, sizeof source->c.damping);
    source->c.origin = describe(source->c.name, &source->model, pool);
}

void tool_c_source_free(tool_c_source *source)
{
    tool_reduced_model_free(&source->model);
    sp_pool_free(&source->pool);
}

void tool_export_source(sp_context *context, int count, const char *const *paths, const char *target,
                        const char *probes, bool single)
{
    tool_c_source source;
    const char *dot = strrchr(tool_base_name(target), '.');
    if (!dot || strcmp(dot, ".c"))
        tool_fail(SP_USAGE, target, "C source is two files, NAME.c and NAME.h: name the one that ends in .c");

    tool_c_source_read(context, "a model as C source", count, paths, target, probes, &source);
    source.c.single = single;
    char *header = tool_allocate_copy(&source.pool, target, (int64_t)strlen(target) + 1, 1);
    header[strlen(header) - 1] = 'h';

    tool_output *code = tool_output_open(target), *names = tool_output_open(header);
    tool_check(sp_c_source_write_code(context, tool_output_descriptor(code), &source.c), target);
    tool_check(sp_c_source_write_header(context, tool_output_descriptor(names), &source.c), header);
    tool_output_finish(code, NULL);
    tool_output_finish(names, NULL);

    tool_c_source_free(&source);
}
