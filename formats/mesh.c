#include "formats/mesh.h"

#include <math.h>
#include <string.h>

static const double SURFACE_TOLERANCE =
    1e-3; /* imported weights have six digits, and vertices may lie outside the cage */

/* ---- materials ---- */

static int number_or(sp_context *context, const json_t *object, const char *key, bool required, double *number)
{
    return required || json_object_get(object, key) ? sp_json_number(context, object, key, number) : SP_OK;
}

static int check_keys(sp_context *context, const json_t *object, const char *what, int count, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool is_known = false;
        for (int i = 0; i < count; i++)
            is_known |= !strcmp(known[i], key);
        if (!is_known)
            return sp_fail(context, SP_INPUT, "meta: a %s has the unknown key \"%.40s\"", what, key);
    }
    return SP_OK;
}

static int name_from_json(sp_context *context, const json_t *object, const char **name)
{
    if (!json_is_object(object))
        return sp_fail(context, SP_INPUT, "meta: a material is not a JSON object");
    int status = sp_json_text(context, object, "name", name);
    if (status == SP_OK && (!**name || strlen(*name) >= SP_NAME_LENGTH))
        return sp_fail(context, SP_INPUT, "meta: material name \"%.80s\" is empty or longer than %d bytes", *name,
                       SP_NAME_LENGTH - 1);
    return status;
}

/* The axis, of unit length, is the material's direction too. */
static int helix_from_json(sp_context *context, const json_t *rule, sp_helix *helix, double direction[3])
{
    static const char *const outer[] = {"helix"}, *const inner[] = {"axis", "centre", "angle"};
    const json_t *object = json_object_get(rule, "helix");
    int status;
    SP_TRY(check_keys(context, rule, "rule of directions", 1, outer));
    if (!json_is_object(object))
        return sp_fail(context, SP_INPUT, "meta: \"helix\" is not a JSON object");
    SP_TRY(check_keys(context, object, "helix", 3, inner));
    SP_TRY(sp_json_numbers(context, object, "axis", 3, helix->axis));
    SP_TRY(sp_json_numbers(context, object, "centre", 3, helix->centre));
    SP_TRY(sp_json_number(context, object, "angle", &helix->angle));
    const double *a = helix->axis;
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (!(length > 0 && isfinite(length)))
        return sp_fail(context, SP_INPUT, "meta: the axis of a helix has the length %g", length);
    for (int i = 0; i < 3; i++)
        direction[i] = a[i] / length;
done:
    return status;
}

/* standard: NULL, or what has the values that are not given. helix: NULL where a rule of directions is out of place. */
static int material_from_json(sp_context *context, const json_t *object, const sp_material *standard, sp_helix *helix,
                              sp_material *material)
{
    static const char *const known[] = {
        "name",   "law",          "density",           "young", "poisson",         "stiffness",      "frame",
        "mooney", "damping_mass", "damping_stiffness", "fibre", "fibre_stiffness", "fibre_exponent", "fibre_direction"};
    static const struct {
        const char *key;
        enum sp_fibre least;
    } of_fibres[] = {
        {"fibre_stiffness", SP_FIBRE_STVK}, {"fibre_direction", SP_FIBRE_STVK}, {"fibre_exponent", SP_FIBRE_FUNG}};
    const char *name = NULL, *law = NULL;
    int status;
    SP_TRY(check_keys(context, object, "material", sizeof known / sizeof *known, known));
    SP_TRY(name_from_json(context, object, &name));
    *material = standard ? *standard : (sp_material){0};
    strcpy(material->name, name);
    if (!standard || json_object_get(object, "law")) {
        SP_TRY(sp_json_text(context, object, "law", &law));
        SP_TRY(sp_law_from_name(context, law, &material->law));
    }
    bool required = !standard, isotropic = sp_law_isotropic(material->law),
         of_law = standard && standard->law == material->law;
    SP_TRY(number_or(context, object, "density", required, &material->density));
    SP_TRY(number_or(context, object, "young", required && isotropic, &material->young));
    SP_TRY(number_or(context, object, "poisson", required && isotropic, &material->poisson));
    SP_TRY(number_or(context, object, "damping_mass", false, &material->damping_mass));
    SP_TRY(number_or(context, object, "damping_stiffness", false, &material->damping_stiffness));
    if (material->law == SP_LAW_LINEAR &&
        !(of_law && !json_object_get(object, "stiffness") && !json_object_get(object, "frame"))) {
        double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        memcpy(material->frame, identity, sizeof identity);
        SP_TRY(sp_json_numbers(context, object, "stiffness", 21, material->stiffness));
        if (json_object_get(object, "frame"))
            SP_TRY(sp_json_numbers(context, object, "frame", 9, material->frame));
    }
    if (material->law == SP_LAW_MOONEY_RIVLIN && !(of_law && !json_object_get(object, "mooney")))
        SP_TRY(sp_json_numbers(context, object, "mooney", 3, material->mooney));
    if (json_object_get(object, "fibre")) {
        SP_TRY(sp_json_text(context, object, "fibre", &law));
        SP_TRY(sp_fibre_from_name(context, law, &material->fibre));
    }
    for (size_t i = 0; i < sizeof of_fibres / sizeof *of_fibres; i++)
        if (json_object_get(object, of_fibres[i].key) && material->fibre < of_fibres[i].least) {
            status = sp_fail(context, SP_INPUT, "meta: material \"%s\" has \"%s\" but %s fibres", material->name,
                             of_fibres[i].key, material->fibre == SP_FIBRE_NONE ? "no" : "stvk");
            goto done;
        }
    if (material->fibre != SP_FIBRE_NONE) {
        SP_TRY(number_or(context, object, "fibre_stiffness", true, &material->fibre_stiffness));
        SP_TRY(
            number_or(context, object, "fibre_exponent", material->fibre == SP_FIBRE_FUNG, &material->fibre_exponent));
        const json_t *direction = json_object_get(object, "fibre_direction");
        if (helix && json_is_object(direction))
            SP_TRY(helix_from_json(context, direction, helix, material->fibre_direction));
        else
            SP_TRY(sp_json_numbers(context, object, "fibre_direction", 3, material->fibre_direction));
    }
    status = sp_material_check(context, material);
done:
    return status;
}

int sp_materials_from_json(sp_context *context, const json_t *json, sp_pool *pool, int64_t *count,
                           sp_material **materials)
{
    int status = SP_OK;
    bool one = json_is_object(json);
    *count = one ? 1 : (int64_t)json_array_size(json);
    if (*count < 1)
        return sp_fail(context, SP_INPUT, "meta: \"materials\" is missing or empty");
    *materials = sp_pool_new(pool, *count, sizeof **materials);
    if (!*materials)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < *count; i++) {
        SP_TRY(material_from_json(context, one ? json : json_array_get(json, (size_t)i), NULL, NULL, &(*materials)[i]));
        for (int64_t j = 0; j < i; j++)
            if (!strcmp((*materials)[i].name, (*materials)[j].name))
                return sp_fail(context, SP_INPUT, "meta: material name \"%s\" stands twice", (*materials)[i].name);
    }
done:
    return status;
}

int sp_materials_edit(sp_context *context, const json_t *json, int64_t count, sp_material *materials, sp_helix *helices)
{
    bool one = json_is_object(json);
    int64_t edits = one ? 1 : (int64_t)json_array_size(json);
    sp_pool pool = {0};
    int status = SP_OK;
    if (edits < 1)
        return sp_fail(context, SP_INPUT, "there is no material in it");
    char *met = sp_pool_new(&pool, count, 1);
    if (!met)
        return sp_fail_memory(context);
    memset(helices, 0, (size_t)count * sizeof *helices);
    for (int64_t i = 0; i < edits; i++) {
        const json_t *object = one ? json : json_array_get(json, (size_t)i);
        const char *name;
        sp_material edited;
        SP_TRY(name_from_json(context, object, &name));
        int64_t m = 0;
        while (m < count && strcmp(materials[m].name, name))
            m++;
        if (m == count || met[m]) {
            status = m == count ? sp_fail(context, SP_INPUT, "the mesh has no region \"%s\"", name)
                                : sp_fail(context, SP_INPUT, "material name \"%s\" stands twice", name);
            goto done;
        }
        SP_TRY(material_from_json(context, object, &materials[m], &helices[m], &edited));
        materials[m] = edited;
        met[m] = 1;
    }
done:
    sp_pool_free(&pool);
    return status;
}

/* NULL: out of memory. */
static json_t *material_to_json(const sp_material *material)
{
    json_t *object = json_pack("{s:s, s:s, s:f}", "name", material->name, "law", sp_law_name(material->law), "density",
                               material->density);
    bool failed = false;
    if (sp_law_isotropic(material->law)) {
        failed |= json_object_set_new(object, "young", json_real(material->young)) != 0;
        failed |= json_object_set_new(object, "poisson", json_real(material->poisson)) != 0;
    } else if (material->law == SP_LAW_LINEAR) {
        failed |= json_object_set_new(object, "stiffness", sp_json_from_numbers(21, material->stiffness)) != 0;
        failed |= json_object_set_new(object, "frame", sp_json_from_numbers(9, material->frame)) != 0;
    } else
        failed |= json_object_set_new(object, "mooney", sp_json_from_numbers(3, material->mooney)) != 0;
    if (material->fibre != SP_FIBRE_NONE) {
        failed |= json_object_set_new(object, "fibre", json_string(sp_fibre_name(material->fibre))) != 0;
        failed |= json_object_set_new(object, "fibre_stiffness", json_real(material->fibre_stiffness)) != 0;
        if (material->fibre == SP_FIBRE_FUNG)
            failed |= json_object_set_new(object, "fibre_exponent", json_real(material->fibre_exponent)) != 0;
        failed |=
            json_object_set_new(object, "fibre_direction", sp_json_from_numbers(3, material->fibre_direction)) != 0;
    }
    failed |= json_object_set_new(object, "damping_mass", json_real(material->damping_mass)) != 0;
    failed |= json_object_set_new(object, "damping_stiffness", json_real(material->damping_stiffness)) != 0;
    if (failed) { /* also where there is no object */
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- reading ---- */

static int take(sp_context *context, sp_file *file, const char *name, enum sp_type type, int rank, int64_t extent,
                int64_t width, int64_t *count, void *data)
{
    sp_array *array;
    int64_t shape[2] = {extent, width};
    int status = sp_members_take(context, &file->members, name, type, false, rank, shape, &array);
    if (status == SP_OK) {
        *(void **)data = array->data;
        *count = array->shape[0];
    }
    return status;
}

/* cut_from: the hash of the mesh that it was cut from, empty where it was not. */
static int check_cut(sp_context *context, const sp_file *file, char cut_from[SP_HASH_LENGTH])
{
    int status = sp_json_hash(context, file->meta, "cut_from", cut_from);
    bool has_origin = sp_members_find(&file->members, "origin") != NULL;
    if (status == SP_OK && (*cut_from != 0) != has_origin)
        status = sp_fail(context, SP_INPUT,
                         has_origin ? "it has the member origin, but \"cut_from\" in meta is missing"
                                    : "it was cut from another mesh, but origin is missing");
    return status;
}

int sp_mesh_read(sp_context *context, sp_file *file, sp_mesh *mesh)
{
    int status;
    int64_t count, elements;
    double quadrature;
    *mesh = (sp_mesh){0};
    SP_TRY(take(context, file, "vertices", SP_F8, 2, -1, 3, &mesh->vertex_count, &mesh->vertices));
    if (sp_members_find(&file->members, "hex"))
        SP_TRY(take(context, file, "hex", SP_I8, 2, -1, 8, &mesh->hex_count, &mesh->hex));
    if (sp_members_find(&file->members, "tet"))
        SP_TRY(take(context, file, "tet", SP_I8, 2, -1, 4, &mesh->tet_count, &mesh->tet));
    elements = sp_mesh_element_count(mesh);
    if (elements == 0) {
        status = sp_fail(context, SP_INPUT, "the mesh has neither hex nor tet elements");
        goto done;
    }
    SP_TRY(take(context, file, "region", SP_I8, 1, elements, 0, &count, &mesh->region));
    if (sp_members_find(&file->members, "factor"))
        SP_TRY(take(context, file, "factor", SP_F8, 2, elements, 2, &count, &mesh->factor));
    if (sp_members_find(&file->members, "fibre"))
        SP_TRY(take(context, file, "fibre", SP_F8, 2, elements, 3, &count, &mesh->fibre));
    SP_TRY(take(context, file, "fixed", SP_I8, 1, -1, 0, &mesh->fixed_count, &mesh->fixed));
    if (sp_members_find(&file->members, "fixed_axes"))
        SP_TRY(take(context, file, "fixed_axes", SP_U1, 1, mesh->fixed_count, 0, &count, &mesh->fixed_axes));
    sp_embedded_surface *surface = &mesh->surface;
    surface->width = mesh->hex_count ? 8 : 4;
    static const char *const surface_members[] = {"surface/vertices", "surface/triangles", "surface/element",
                                                  "surface/weights"};
    bool has_surface = false;
    for (int i = 0; i < 4; i++)
        has_surface |= sp_members_find(&file->members, surface_members[i]) != NULL;
    if (has_surface) {
        SP_TRY(take(context, file, "surface/vertices", SP_F8, 2, -1, 3, &surface->vertex_count, &surface->vertices));
        SP_TRY(
            take(context, file, "surface/triangles", SP_I8, 2, -1, 3, &surface->triangle_count, &surface->triangles));
        SP_TRY(take(context, file, "surface/element", SP_I8, 1, surface->vertex_count, 0, &count, &surface->element));
        SP_TRY(take(context, file, "surface/weights", SP_F8, 2, surface->vertex_count, surface->width, &count,
                    &surface->weights));
    }
    char cut_from[SP_HASH_LENGTH];
    SP_TRY(check_cut(context, file, cut_from));
    SP_TRY(sp_json_number(context, file->meta, "quadrature", &quadrature));
    if (quadrature != 2 && quadrature != 3) {
        status = sp_fail(context, SP_INPUT, "quadrature is %g, it must be 2 or 3", quadrature);
        goto done;
    }
    mesh->quadrature = (int)quadrature;
    SP_TRY(sp_materials_from_json(context, json_object_get(file->meta, "materials"), &file->members.pool,
                                  &mesh->material_count, &mesh->materials));
    mesh->pool = file->members.pool;
    file->members = (sp_members){0};
    if (!mesh->fixed_axes) {
        mesh->fixed_axes = sp_pool_raw(&mesh->pool, mesh->fixed_count, 1);
        if (!mesh->fixed_axes) {
            status = sp_fail_memory(context);
            goto done;
        }
        memset(mesh->fixed_axes, 7, (size_t)mesh->fixed_count);
    }
    status = sp_mesh_check(context, mesh, SURFACE_TOLERANCE);
done:
    if (status != SP_OK)
        sp_mesh_free(mesh);
    return status;
}

int sp_mesh_read_origin(sp_context *context, sp_file *file, sp_pool *pool, char cut_from[SP_HASH_LENGTH],
                        int64_t *count, int64_t **origin)
{
    int64_t old = 0, *from;
    int status;
    *count = 0;
    *origin = NULL;
    SP_TRY(check_cut(context, file, cut_from));
    if (!*cut_from)
        return SP_OK;
    SP_TRY(take(context, file, "origin", SP_I8, 1, -1, 0, count, &from));
    while (old < *count && from[old] == old)
        old++;
    for (int64_t v = old; v < *count; v++) {
        if (from[v] < 0 || from[v] >= old)
            return sp_fail(context, SP_INPUT, "origin: vertex %lld is to be a copy of vertex %lld of %lld",
                           (long long)v, (long long)from[v], (long long)old);
        if (v > old && from[v] < from[v - 1])
            return sp_fail(
                context, SP_INPUT,
                "origin: vertex %lld is a copy of vertex %lld, the one before of %lld: they must not decrease",
                (long long)v, (long long)from[v], (long long)from[v - 1]);
    }
    *origin = sp_pool_copy(pool, from, *count, sizeof *from);
    if (!*origin)
        return sp_fail_memory(context);
done:
    return status;
}

/* ---- writing ---- */

int sp_mesh_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh)
{
    const sp_embedded_surface *surface = &mesh->surface;
    int64_t elements = sp_mesh_element_count(mesh);
    bool partly_fixed = false;
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        partly_fixed |= mesh->fixed_axes[i] != 7;
    json_t *materials = json_array();
    bool failed = json_object_set_new(meta, "quadrature", json_integer(mesh->quadrature)) != 0;
    for (int64_t i = 0; i < mesh->material_count; i++)
        failed |= json_array_append_new(materials, material_to_json(&mesh->materials[i])) != 0;
    failed |= json_object_set_new(meta, "materials", materials) != 0;
    if (failed)
        return sp_fail_memory(context);
    int status;
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_numbers(writer, "vertices", false, 2, (int64_t[]){mesh->vertex_count, 3}, mesh->vertices));
    if (mesh->hex_count)
        SP_TRY(sp_writer_array(writer, "hex", SP_I8, false, 2, (int64_t[]){mesh->hex_count, 8}, mesh->hex));
    if (mesh->tet_count)
        SP_TRY(sp_writer_array(writer, "tet", SP_I8, false, 2, (int64_t[]){mesh->tet_count, 4}, mesh->tet));
    SP_TRY(sp_writer_array(writer, "region", SP_I8, false, 1, &elements, mesh->region));
    if (mesh->factor)
        SP_TRY(sp_writer_numbers(writer, "factor", false, 2, (int64_t[]){elements, 2}, mesh->factor));
    if (mesh->fibre)
        SP_TRY(sp_writer_numbers(writer, "fibre", false, 2, (int64_t[]){elements, 3}, mesh->fibre));
    SP_TRY(sp_writer_array(writer, "fixed", SP_I8, false, 1, &mesh->fixed_count, mesh->fixed));
    if (partly_fixed)
        SP_TRY(sp_writer_array(writer, "fixed_axes", SP_U1, false, 1, &mesh->fixed_count, mesh->fixed_axes));
    if (surface->vertex_count) {
        SP_TRY(sp_writer_numbers(writer, "surface/vertices", false, 2, (int64_t[]){surface->vertex_count, 3},
                                 surface->vertices));
        SP_TRY(sp_writer_array(writer, "surface/triangles", SP_I8, false, 2, (int64_t[]){surface->triangle_count, 3},
                               surface->triangles));
        SP_TRY(sp_writer_array(writer, "surface/element", SP_I8, false, 1, &surface->vertex_count, surface->element));
        SP_TRY(sp_writer_numbers(writer, "surface/weights", false, 2,
                                 (int64_t[]){surface->vertex_count, surface->width}, surface->weights));
    }
done:
    return status;
}

/* A mesh that was made of another one, whose hash stands in meta under `key`, with the vertex of that mesh that each
 * vertex is from in a member of its own. */
static int write_descendant(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *key,
                            const char *hash, const char *member, const int64_t *vertex)
{
    int status;
    if (json_object_set_new(meta, key, json_string(hash)))
        return sp_fail_memory(context);
    SP_TRY(sp_mesh_write(context, writer, meta, mesh));
    SP_TRY(sp_writer_array(writer, member, SP_I8, false, 1, &mesh->vertex_count, vertex));
done:
    return status;
}

int sp_mesh_write_cut(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *cut_from,
                      const int64_t *origin)
{
    return write_descendant(context, writer, meta, mesh, "cut_from", cut_from, "origin", origin);
}

int sp_mesh_write_kept(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *kept_from,
                       const int64_t *kept)
{
    return write_descendant(context, writer, meta, mesh, "kept_from", kept_from, "kept", kept);
}
