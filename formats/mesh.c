#include "formats/mesh.h"

#include "formats/kind_tables.h"
#include "mesh/mesh_sets.h"

#include <assert.h>
#include <string.h>

static const double SURFACE_TOLERANCE =
    1e-3; /* imported weights have six digits, and vertices may lie outside the mesh */

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

/* The axis, as a unit vector, is also the direction of the material. */
static int helix_from_json(sp_context *context, const json_t *rule, sp_helix *helix, double direction[3])
{
    static const char *const outer[] = {"helix"}, *const inner[] = {"axis", "centre", "angle"};
    const json_t *object = json_object_get(rule, "helix");

    SP_PASS(check_keys(context, rule, "rule of directions", 1, outer));
    if (!json_is_object(object))
        return sp_fail(context, SP_INPUT, "meta: \"helix\" is not a JSON object");
    SP_PASS(check_keys(context, object, "helix", 3, inner));

    SP_PASS(sp_json_numbers(context, object, "axis", 3, helix->axis));
    SP_PASS(sp_json_numbers(context, object, "centre", 3, helix->centre));
    SP_PASS(sp_json_number(context, object, "angle", &helix->angle));

    const double *a = helix->axis;
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (!(length > 0 && isfinite(length)))
        return sp_fail(context, SP_INPUT, "meta: the axis of a helix has the length %g", length);
    for (int i = 0; i < 3; i++)
        direction[i] = a[i] / length;
    return SP_OK;
}

/* standard: defaults for missing values, or NULL. helix: NULL if a rule for directions is not allowed. */
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

    SP_PASS(check_keys(context, object, "material", sizeof known / sizeof *known, known));
    SP_PASS(name_from_json(context, object, &name));

    /* Values that are not in the file come from the standard material. */
    *material = standard ? *standard : (sp_material){0};
    strcpy(material->name, name);

    if (!standard || json_object_get(object, "law")) {
        SP_PASS(sp_json_text(context, object, "law", &law));
        SP_PASS(sp_law_from_name(context, law, &material->law));
    }

    const enum sp_constants constants = sp_law_constants(material->law);
    bool required = !standard, isotropic = constants == SP_CONSTANTS_YOUNG,
         of_law = standard && standard->law == material->law;
    SP_PASS(number_or(context, object, "density", required, &material->density));
    SP_PASS(number_or(context, object, "young", required && isotropic, &material->young));
    SP_PASS(number_or(context, object, "poisson", required && isotropic, &material->poisson));
    SP_PASS(number_or(context, object, "damping_mass", false, &material->damping_mass));
    SP_PASS(number_or(context, object, "damping_stiffness", false, &material->damping_stiffness));

    /* Constants of the standard material apply only under the same law. */
    if (constants == SP_CONSTANTS_STIFFNESS &&
        !(of_law && !json_object_get(object, "stiffness") && !json_object_get(object, "frame"))) {
        double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        memcpy(material->frame, identity, sizeof identity);
        SP_PASS(sp_json_numbers(context, object, "stiffness", 21, material->stiffness));
        if (json_object_get(object, "frame"))
            SP_PASS(sp_json_numbers(context, object, "frame", 9, material->frame));
    }
    if (constants == SP_CONSTANTS_MOONEY && !(of_law && !json_object_get(object, "mooney")))
        SP_PASS(sp_json_numbers(context, object, "mooney", 3, material->mooney));

    if (json_object_get(object, "fibre")) {
        SP_PASS(sp_json_text(context, object, "fibre", &law));
        SP_PASS(sp_fibre_from_name(context, law, &material->fibre));
    }

    for (size_t i = 0; i < sizeof of_fibres / sizeof *of_fibres; i++)
        if (json_object_get(object, of_fibres[i].key) && material->fibre < of_fibres[i].least)
            return sp_fail(context, SP_INPUT, "meta: material \"%s\" has \"%s\" but %s fibres", material->name,
                           of_fibres[i].key, material->fibre == SP_FIBRE_NONE ? "no" : "stvk");

    if (material->fibre != SP_FIBRE_NONE) {
        SP_PASS(number_or(context, object, "fibre_stiffness", true, &material->fibre_stiffness));
        SP_PASS(
            number_or(context, object, "fibre_exponent", material->fibre == SP_FIBRE_FUNG, &material->fibre_exponent));
        const json_t *direction = json_object_get(object, "fibre_direction");
        if (helix && json_is_object(direction))
            SP_PASS(helix_from_json(context, direction, helix, material->fibre_direction));
        else
            SP_PASS(sp_json_numbers(context, object, "fibre_direction", 3, material->fibre_direction));
    }

    return sp_material_check(context, material);
}

int sp_materials_from_json(sp_context *context, const json_t *json, sp_pool *pool, int64_t *count,
                           sp_material **materials)
{
    bool one = json_is_object(json);
    *count = one ? 1 : (int64_t)json_array_size(json);
    if (*count < 1)
        return sp_fail(context, SP_INPUT, "meta: \"materials\" is missing or empty");
    *materials = sp_pool_new(pool, *count, sizeof **materials);
    SP_PASS(sp_allocated(context, *materials));
    for (int64_t i = 0; i < *count; i++) {
        SP_PASS(
            material_from_json(context, one ? json : json_array_get(json, (size_t)i), NULL, NULL, &(*materials)[i]));
        for (int64_t j = 0; j < i; j++)
            if (!strcmp((*materials)[i].name, (*materials)[j].name))
                return sp_fail(context, SP_INPUT, "meta: material name \"%s\" occurs twice", (*materials)[i].name);
    }
    return SP_OK;
}

int sp_materials_edit(sp_context *context, const json_t *json, int64_t count, sp_material *materials, sp_helix *helices)
{
    bool one = json_is_object(json);
    int64_t edits = one ? 1 : (int64_t)json_array_size(json);
    sp_pool pool = {0};
    int status = SP_OK;

    if (edits < 1)
        return sp_fail(context, SP_INPUT, "there is no material in it");
    char *seen = sp_pool_new(&pool, count, 1);
    SP_PASS(sp_allocated(context, seen));

    memset(helices, 0, (size_t)count * sizeof *helices);

    for (int64_t i = 0; i < edits; i++) {
        const json_t *object = one ? json : json_array_get(json, (size_t)i);
        const char *name;
        sp_material edited;
        SP_TRY(name_from_json(context, object, &name));
        char known_names[SP_MATERIAL_LIST];

        const int64_t m = sp_material_find(count, materials, name, strlen(name));
        if (m < 0 || seen[m]) {
            status = m < 0 ? sp_fail(context, SP_INPUT, "the mesh has no region \"%s\", only %s", name,
                                     sp_material_list(count, materials, known_names))
                           : sp_fail(context, SP_INPUT, "material name \"%s\" occurs twice", name);
            goto done;
        }

        SP_TRY(material_from_json(context, object, &materials[m], &helices[m], &edited));
        materials[m] = edited;
        seen[m] = 1;
    }
done:
    sp_pool_free(&pool);
    return status;
}

/* Returns NULL if out of memory. */
static json_t *material_to_json(const sp_material *material)
{
    json_t *object = json_pack("{s:s, s:s, s:f}", "name", material->name, "law", sp_law_name(material->law), "density",
                               material->density);
    bool failed = false;

    switch (sp_law_constants(material->law)) {
    case SP_CONSTANTS_YOUNG:
        failed |= json_object_set_new(object, "young", json_real(material->young)) != 0;
        failed |= json_object_set_new(object, "poisson", json_real(material->poisson)) != 0;
        break;
    case SP_CONSTANTS_STIFFNESS:
        failed |= json_object_set_new(object, "stiffness", sp_json_from_numbers(21, material->stiffness)) != 0;
        failed |= json_object_set_new(object, "frame", sp_json_from_numbers(9, material->frame)) != 0;
        break;
    case SP_CONSTANTS_MOONEY:
        failed |= json_object_set_new(object, "mooney", sp_json_from_numbers(3, material->mooney)) != 0;
    }

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

    if (failed) { /* also if there is no object */
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- the table; values are checked by sp_mesh_check ---- */

/* With the origin of vertices in another mesh. */
typedef struct mesh_file {
    sp_mesh mesh;
    int64_t *origin, *kept;
    int64_t set_entries[SP_SET_KINDS], *set_index[SP_SET_KINDS]; /* of all sets of a kind, one after the other */
} mesh_file;

static int64_t elements(const void *object)
{
    return sp_mesh_element_count(&((const mesh_file *)object)->mesh);
}

static int64_t weight_count(const void *object)
{
    return sp_mesh_width(&((const mesh_file *)object)->mesh);
}

static_assert(SP_ELEMENT_TYPES == 11, "an element type lacks its member in mesh files");
#define AT(member) .at = offsetof(mesh_file, member)
static const sp_symbol symbols[] = {{"nv", .at = offsetof(mesh_file, mesh.vertex_count)},
                                    {"nh", .at = offsetof(mesh_file, mesh.block[SP_HEX8].count)},
                                    {"nt", .at = offsetof(mesh_file, mesh.block[SP_TET4].count)},
                                    {"n1", .at = offsetof(mesh_file, mesh.block[SP_TET10].count)},
                                    {"n2", .at = offsetof(mesh_file, mesh.block[SP_HEX20].count)},
                                    {"n3", .at = offsetof(mesh_file, mesh.block[SP_HEX20R].count)},
                                    {"n4", .at = offsetof(mesh_file, mesh.block[SP_HEX27].count)},
                                    {"n5", .at = offsetof(mesh_file, mesh.block[SP_WEDGE6].count)},
                                    {"n6", .at = offsetof(mesh_file, mesh.block[SP_WEDGE15].count)},
                                    {"n7", .at = offsetof(mesh_file, mesh.block[SP_WEDGE18].count)},
                                    {"n8", .at = offsetof(mesh_file, mesh.block[SP_HEX8B].count)},
                                    {"n9", .at = offsetof(mesh_file, mesh.block[SP_HEX8I].count)},
                                    {"ne", .follows = elements},
                                    {"nf", .at = offsetof(mesh_file, mesh.fixed_count)},
                                    {"ns", .at = offsetof(mesh_file, mesh.surface.vertex_count)},
                                    {"nd", .at = offsetof(mesh_file, mesh.surface.triangle_count)},
                                    {"nw", .follows = weight_count},
                                    {"s1", .at = offsetof(mesh_file, set_entries[SP_SET_VERTICES])},
                                    {"s2", .at = offsetof(mesh_file, set_entries[SP_SET_ELEMENTS])},
                                    {"s3", .at = offsetof(mesh_file, set_entries[SP_SET_FACES])},
                                    {0}};

static const sp_member_rule rules[] = {
    {"vertices", "nv, 3", SP_F8, AT(mesh.vertices), .unit = "m", .meaning = "rest positions"},
    {"hex", "nh, 8", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX8].node), .meaning = "corners in VTK/Abaqus order"},
    {"tet", "nt, 4", SP_I8, OPTIONAL, AT(mesh.block[SP_TET4].node), .meaning = "corners"},
    {"tet10", "n1, 10", SP_I8, OPTIONAL, AT(mesh.block[SP_TET10].node), .meaning = "10-node tetrahedra"},
    {"hex20", "n2, 20", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX20].node), .meaning = "20-node hexahedra"},
    {"hex20r", "n3, 20", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX20R].node),
     .meaning = "20-node hexahedra with reduced integration"},
    {"hex27", "n4, 27", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX27].node), .meaning = "27-node hexahedra"},
    {"wedge6", "n5, 6", SP_I8, OPTIONAL, AT(mesh.block[SP_WEDGE6].node), .meaning = "6-node wedges"},
    {"wedge15", "n6, 15", SP_I8, OPTIONAL, AT(mesh.block[SP_WEDGE15].node), .meaning = "15-node wedges"},
    {"wedge18", "n7, 18", SP_I8, OPTIONAL, AT(mesh.block[SP_WEDGE18].node), .meaning = "18-node wedges"},
    {"hex8b", "n8, 8", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX8B].node),
     .meaning = "8-node hexahedra with averaged dilatation"},
    {"hex8i", "n9, 8", SP_I8, OPTIONAL, AT(mesh.block[SP_HEX8I].node),
     .meaning = "8-node hexahedra with incompatible modes"},
    {"region", "ne", SP_I8, AT(mesh.region), .meaning = "index into `materials`"},
    {"factor", "ne, 2", SP_F8, OPTIONAL, AT(mesh.factor), .meaning = "> 0: on λ and μ of the element's law"},
    {"fibre", "ne, 3", SP_F8, OPTIONAL, AT(mesh.fibre), .meaning = "the direction of the element's fibres"},
    {"fixed", "nf", SP_I8, AT(mesh.fixed), .meaning = "fixed vertices, strictly increasing"},
    {"fixed_axes", "nf", SP_U1, OPTIONAL, AT(mesh.fixed_axes),
     .meaning = "fixed components: bit 0 x, bit 1 y, bit 2 z"},
    {"surface/vertices", "ns, 3", SP_F8, OPTIONAL, AT(mesh.surface.vertices), .unit = "m", .meaning = "rest positions"},
    {"surface/triangles", "nd, 3", SP_I8, WITH("surface/vertices"), AT(mesh.surface.triangles),
     .meaning = "into `surface/vertices`"},
    {"surface/element", "ns", SP_I8, WITH("surface/vertices"), AT(mesh.surface.element),
     .meaning = "the element that carries the vertex"},
    {"surface/weights", "ns, nw", SP_F8, WITH("surface/vertices"), AT(mesh.surface.weights),
     .meaning = "of that element's nodes"},
    {"sets/vertices", "s1", SP_I8, OPTIONAL, AT(set_index[SP_SET_VERTICES]),
     .meaning = "the vertices of the sets of vertices, one set after the other"},
    {"sets/elements", "s2", SP_I8, OPTIONAL, AT(set_index[SP_SET_ELEMENTS]),
     .meaning = "likewise the elements of the sets of elements"},
    {"sets/faces", "s3, 2", SP_I8, OPTIONAL, AT(set_index[SP_SET_FACES]),
     .meaning = "likewise the faces of the sets of faces: the element, and the number of its face"},
    {"origin", "nv", SP_I8, WITH("cut_from"), AT(origin),
     .meaning = "the vertex of the other mesh that each is or is a copy of"},
    {"kept", "nv", SP_I8, WITH("kept_from"), AT(kept), .meaning = "the vertex of the other mesh that each is"},
    {0}};
#undef AT

static const sp_fact mesh_meta[] = {
    {"quadrature", SP_INTEGER, .meaning = "2 or 3: Gauss points per axis of the 8-node hexahedra `hex`"},
    {"folded_corners", SP_BOOLEAN, .when = "optional",
     .meaning = "true: Jacobians of 8-node hexahedra may be negative at corners"},
    {"up", SP_STRING, .when = "optional", .meaning = "`x`, `y` or `z`: the coordinate axis that points up in pictures"},
    {"materials", SP_OBJECTS, .meaning = "one per region, at least one"},
    {"sets", SP_OBJECTS, .when = "optional", .meaning = "the named sets"},
    {"cut_from", SP_HASH, .when = "with `origin`", .meaning = "the mesh that this one was cut from"},
    {"kept_from", SP_HASH, .when = "with `kept`", .meaning = "the mesh whose pieces these are"},
    {0}};

static const sp_fact mesh_result[] = {
    {"volume", SP_NUMBER, .unit = "m³", .when = "all programs but `simskin`", .meaning = "of all elements"},
    {"origin", SP_NUMBERS, .unit = "m", .when = "`voxelize`", .meaning = "the lowest corner of the grid"},
    {"spacing", SP_NUMBER, .unit = "m", .when = "`voxelize`", .meaning = "the edge of a voxel"},
    {"surface_voxels", SP_INTEGER, .when = "`voxelize`",
     .meaning = "voxels that meet the surface, before components are dropped"},
    {"filled_voxels", SP_INTEGER, .when = "`voxelize`",
     .meaning = "voxels inside the surface, before components are dropped"},
    {"components", SP_INTEGER, .when = "`voxelize`",
     .meaning = "connected components of the voxels, before some are dropped"},
    {"enclosed_voxels", SP_INTEGER, .when = "`voxelize` without `--fill`",
     .meaning = "empty cubes that the kept voxels separate from the border of the grid"},
    {"component_sizes", SP_INTEGERS, .when = "`voxelize`",
     .meaning = "voxels of the largest components, up to 16, descending"},
    {"dropped_voxels", SP_INTEGER, .when = "`voxelize`", .meaning = "voxels of the components that were dropped"},
    {"dropped_triangles", SP_INTEGER, .when = "`voxelize`, `simcut`",
     .meaning = "triangles of the surface that were dropped"},
    {"open_edges", SP_INTEGER, .when = "`voxelize --fill`",
     .meaning = "edges of the model without a second triangle, after the repair"},
    {"turned_triangles", SP_INTEGER, .when = "`voxelize --fill`",
     .meaning = "triangles of the model whose orientation the repair reversed"},
    {"doubled_triangles", SP_INTEGER, .when = "`voxelize --fill`",
     .meaning = "triangles that the repair left out because another one has the same vertices"},
    {"degenerate_triangles", SP_INTEGER, .when = "`voxelize --fill`",
     .meaning = "triangles without an area, which the repair left out"},
    {"one_sided_patches", SP_INTEGER, .when = "`voxelize --fill`",
     .meaning = "connected parts of the model that cannot be oriented"},
    {"sides", SP_INTEGER, .when = "`simcut`", .meaning = "sides that the cuts make of the elements"},
    {"pieces", SP_INTEGER, .when = "`simcut`",
     .meaning = "connected pieces of the cut mesh: elements that share a vertex are connected"},
    {"pieces_before", SP_INTEGER, .when = "`simcut`", .meaning = "the same of the mesh that was cut"},
    {"unheld_pieces", SP_INTEGER, .when = "`simcut`", .meaning = "pieces without a fixed vertex"},
    {"doubled_vertices", SP_INTEGER, .when = "`simcut`", .meaning = "vertices with copies"},
    {"new_vertices", SP_INTEGER, .when = "`simcut`", .meaning = "the copies"},
    {"kept_elements", SP_INTEGER, .when = "`simcut --keep`", .meaning = "elements of the pieces that were kept"},
    {"interfaces", SP_INTEGER, .when = "`simpart`", .meaning = "interfaces of the domain, which are sets of vertices"},
    {"turned", SP_INTEGER, .when = "`simimport`", .meaning = "elements that `--turn` turned"},
    {0}};

const sp_kind sp_kind_mesh = {"mesh", symbols, rules, mesh_meta, mesh_result};

/* ---- reading ---- */

/* Extent of a member that may be absent. */
static int64_t rows_of(const sp_file *file, const char *name)
{
    const sp_array *array = sp_members_find(&file->members, name);
    return array ? array->shape[0] : 0;
}

/* "up" of meta; without it 0. */
static int up_from_json(sp_context *context, const json_t *meta, int *up)
{
    const char *axis = "";
    *up = 0;
    if (!json_object_get(meta, "up"))
        return SP_OK;
    int status = sp_json_text(context, meta, "up", &axis);
    if (status == SP_OK && (*axis < 'x' || *axis > 'z' || axis[1]))
        return sp_fail(context, SP_INPUT, "meta: \"up\" is \"%.20s\", it must be x, y or z", axis);
    *up = *axis;
    return status;
}

/* "sets" of meta: names, kinds and counts of the sets, whose entries are in the members in this order. */
static int sets_from_json(sp_context *context, const json_t *meta, sp_pool *pool, mesh_file *in)
{
    const json_t *list = json_object_get(meta, "sets");
    const int64_t count = (int64_t)json_array_size(list);
    int64_t used[SP_SET_KINDS] = {0};

    if (list && (!json_is_array(list) || count > SP_SETS_MAX))
        return sp_fail(context, SP_INPUT, "meta: \"sets\" is not an array of at most %d objects", SP_SETS_MAX);
    sp_mesh_set *set = in->mesh.sets = sp_pool_new(pool, count, sizeof *set);
    SP_PASS(sp_allocated(context, set));
    in->mesh.set_count = count;

    for (int64_t i = 0; i < count; i++, set++) {
        const json_t *object = json_array_get(list, (size_t)i);
        const char *name, *of;
        int kind = 0;

        SP_PASS(check_keys(context, object, "set", 3, (const char *const[]){"name", "of", "count"}));
        SP_PASS(sp_json_text(context, object, "name", &name));
        SP_PASS(sp_json_text(context, object, "of", &of));
        SP_PASS(sp_json_integer(context, object, "count", 1, INT64_MAX, &set->count));

        /* The index in the table of names is the kind. */
        while (kind < SP_SET_KINDS && strcmp(of, sp_set_kind_names[kind]) != 0)
            kind++;
        if (kind == SP_SET_KINDS)
            return sp_fail(context, SP_INPUT, "meta: a set is of \"%.20s\", it must be of vertices, elements or faces",
                           of);

        if (strlen(name) >= sizeof set->name)
            return sp_fail(context, SP_INPUT, "meta: the name of a set has %zu bytes, more than %zu", strlen(name),
                           sizeof set->name - 1);
        if (set->count > in->set_entries[kind] - used[kind])
            return sp_fail(context, SP_INPUT, "sets/%s: the sets have more entries than the %lld that are there", of,
                           (long long)in->set_entries[kind]);

        /* The entries of sets of one kind follow each other in one member. */
        strcpy(set->name, name);
        set->kind = (sp_set_kind)kind;
        set->index = in->set_index[kind] + sp_set_width(set->kind) * used[kind];
        used[kind] += set->count;
    }

    for (int k = 0; k < SP_SET_KINDS; k++)
        if (used[k] != in->set_entries[k])
            return sp_fail(context, SP_INPUT, "sets/%s: there are %lld entries, the sets have %lld",
                           sp_set_kind_names[k], (long long)in->set_entries[k], (long long)used[k]);
    return SP_OK;
}

int sp_mesh_read(sp_context *context, sp_file *file, sp_mesh *mesh)
{
    double quadrature;
    char hash[SP_HASH_LENGTH];
    mesh_file in = {0};
    *mesh = (sp_mesh){0};

    SP_PASS(sp_json_hash(context, file->meta, "cut_from", hash));
    SP_PASS(sp_json_hash(context, file->meta, "kept_from", hash));
    int64_t elements_there = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        elements_there |= rows_of(file, sp_element_types[t].name);
    if (elements_there == 0)
        return sp_fail(context, SP_INPUT, "the mesh has no elements");

    SP_PASS(sp_kind_read(context, file, &sp_kind_mesh, &in));
    in.mesh.surface.width = (int)weight_count(&in);
    SP_PASS(sp_json_number(context, file->meta, "quadrature", &quadrature));
    if (quadrature != 2 && quadrature != 3)
        return sp_fail(context, SP_INPUT, "quadrature is %g, it must be 2 or 3", quadrature);
    in.mesh.quadrature = (int)quadrature;
    SP_PASS(up_from_json(context, file->meta, &in.mesh.up));
    const json_t *folded = json_object_get(file->meta, "folded_corners");
    if (folded && !json_is_boolean(folded))
        return sp_fail(context, SP_INPUT, "meta: \"folded_corners\" must be true or false");
    in.mesh.folded = json_is_true(folded);
    SP_PASS(sp_materials_from_json(context, json_object_get(file->meta, "materials"), &file->members.pool,
                                   &in.mesh.material_count, &in.mesh.materials));

    /* Without the member every fixed vertex is fixed along all three axes (bits 0 to 2). */
    if (!in.mesh.fixed_axes) {
        in.mesh.fixed_axes = sp_pool_raw(&file->members.pool, in.mesh.fixed_count, 1);
        SP_PASS(sp_allocated(context, in.mesh.fixed_axes));
        memset(in.mesh.fixed_axes, 7, (size_t)in.mesh.fixed_count);
    }

    SP_PASS(sets_from_json(context, file->meta, &file->members.pool, &in));
    SP_PASS(sp_mesh_check(context, &in.mesh, SURFACE_TOLERANCE));

    *mesh = in.mesh;
    mesh->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_mesh_read_origin(sp_context *context, sp_file *file, sp_pool *pool, char cut_from[SP_HASH_LENGTH],
                        int64_t *count, int64_t **origin)
{
    int64_t old = 0;
    sp_array *array;
    *count = 0;
    *origin = NULL;

    SP_PASS(sp_json_hash(context, file->meta, "cut_from", cut_from));
    if (!*cut_from)
        return SP_OK;
    SP_PASS(sp_kind_take(context, &file->members, &sp_kind_mesh, "origin", &array));

    /* Original vertices, which name themselves, come first; the copies follow in the order of their originals. */
    const int64_t *from = array->data;
    *count = array->count;
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
    SP_PASS(sp_allocated(context, *origin));
    return SP_OK;
}

/* ---- writing ---- */

/* Joins the entries of the sets of each kind, allocated from `pool`, and describes the sets in meta. */
static int sets_to_json(sp_context *context, json_t *meta, sp_pool *pool, mesh_file *out)
{
    const sp_mesh *mesh = &out->mesh;
    json_t *list = json_array();
    bool failed = !list;

    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        failed |=
            json_array_append_new(list, json_pack("{sssssI}", "name", set->name, "of", sp_set_kind_names[set->kind],
                                                  "count", (json_int_t)set->count)) != 0;
        out->set_entries[set->kind] += set->count;
    }

    /* The entries of all sets of a kind, one after the other. */
    for (int k = 0; k < SP_SET_KINDS; k++) {
        const size_t size = (size_t)sp_set_width((sp_set_kind)k) * sizeof(int64_t);
        char *to = sp_pool_raw(pool, out->set_entries[k], size);
        out->set_index[k] = out->set_entries[k] ? (int64_t *)(void *)to : NULL;
        if (!to)
            continue;
        for (int64_t i = 0; i < mesh->set_count; i++)
            if ((int)mesh->sets[i].kind == k) {
                memcpy(to, mesh->sets[i].index, (size_t)mesh->sets[i].count * size);
                to += (size_t)mesh->sets[i].count * size;
            }
    }

    if (mesh->set_count > 0)
        failed |= json_object_set(meta, "sets", list) != 0;
    json_decref(list);
    return sp_allocated(context, !failed && !pool->failed);
}

static int write_mesh(sp_context *context, sp_writer *writer, json_t *meta, const mesh_file *file)
{
    const sp_mesh *mesh = &file->mesh;

    /* The member fixed_axes is written only where a vertex is fixed along some axes alone. */
    bool partly_fixed = false;
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        partly_fixed |= mesh->fixed_axes[i] != 7;

    json_t *materials = json_array();
    bool failed = json_object_set_new(meta, "quadrature", json_integer(mesh->quadrature)) != 0;
    for (int64_t i = 0; i < mesh->material_count; i++)
        failed |= json_array_append_new(materials, material_to_json(&mesh->materials[i])) != 0;
    failed |= json_object_set_new(meta, "materials", materials) != 0;
    if (mesh->up)
        failed |= json_object_set_new(meta, "up", json_stringn((const char[]){(char)mesh->up}, 1)) != 0;
    if (mesh->folded)
        failed |= json_object_set_new(meta, "folded_corners", json_true()) != 0;
    if (failed)
        return sp_fail_memory(context);

    mesh_file out = *file;
    sp_pool pool = {0};
    int status = sets_to_json(context, meta, &pool, &out);
    if (!partly_fixed)
        out.mesh.fixed_axes = NULL;
    if (status == SP_OK)
        status = sp_kind_write(context, writer, &sp_kind_mesh, meta, &out);
    sp_pool_free(&pool);
    return status;
}

int sp_mesh_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh)
{
    return write_mesh(context, writer, meta, &(mesh_file){.mesh = *mesh});
}

int sp_mesh_write_cut(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *cut_from,
                      const int64_t *origin)
{
    if (!*cut_from)
        return sp_fail(context, SP_INPUT, "an origin goes with cut_from, the hash of the mesh before the cut");
    if (json_object_set_new(meta, "cut_from", json_string(cut_from)))
        return sp_fail_memory(context);
    return write_mesh(context, writer, meta, &(mesh_file){.mesh = *mesh, .origin = (int64_t *)origin});
}

int sp_mesh_write_kept(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *kept_from,
                       const int64_t *kept)
{
    if (json_object_set_new(meta, "kept_from", json_string(kept_from)))
        return sp_fail_memory(context);
    return write_mesh(context, writer, meta, &(mesh_file){.mesh = *mesh, .kept = (int64_t *)kept});
}
