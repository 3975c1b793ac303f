#include "formats/skeleton.h"

#include "formats/import/text.h"
#include "formats/key_tables.h"
#include "formats/skeleton_internal.h"

#include <stdlib.h>
#include <string.h>

/* The result of reading the tables of bones and of springs. */
typedef struct bone_read {
    sp_bone bone;
    double box[6]; /* m, low and high */
} bone_read;
typedef struct spring_read {
    sp_bone_spring spring;
    double anchor[3];
    char *path;
} spring_read;

/* ---- the tables ---- */

_Static_assert(sizeof(enum sp_joint_kind) == sizeof(int), "words are kept as int");

static const sp_key_words joints = {SP_JOINT_REVOLUTE, {"revolute", "prismatic"}};

#define AT(member) .offset = offsetof(bone_read, bone.member)
static const sp_key bone_keys[] = {
    {"joint", WORD, REQUIRED, AT(kind), .words = &joints},
    {"name", SP_KEY_NAME, REQUIRED, .count = 0},
    {"parent", SP_KEY_NAME, OPTIONAL, .count = 0},
    {"at", NUMBER, OPTIONAL, AT(at), 3, "m", ANY},
    {"axis", NUMBER, REQUIRED, AT(axis), 3, NULL, ANY},
    {"mass", NUMBER, OPTIONAL, AT(mass), .unit = "kg", FROM(0), .needs = "centre"},
    {"centre", NUMBER, OPTIONAL, AT(centre), 3, "m", ANY, .needs = "mass"},
    {"inertia", NUMBER, OPTIONAL, AT(inertia), 6, "kg m²", ANY, .needs = "mass"},
    {"start", NUMBER, DEFAULT, AT(start), .unit = "rad or m", ANY},
    {"rate", NUMBER, DEFAULT, AT(rate), .unit = "rad/s or m/s", ANY},
    {"stiffness", NUMBER, DEFAULT, AT(stiffness), .unit = "N m/rad or N/m", FROM(0)},
    {"rest", NUMBER, DEFAULT, AT(rest), .unit = "rad or m", ANY, .needs = "stiffness"},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N m s or N s/m", FROM(0)},
    {"regions", SP_KEY_REGIONS, OPTIONAL, .count = 0},
    {"vertices", SP_KEY_INTEGERS, OPTIONAL, .count = 0},
    {"box", SP_KEY_BOX, OPTIONAL, .offset = offsetof(bone_read, box), .unit = "m", ANY},
    {0},
};
static const sp_key_table bone_table = {"bone", bone_keys};
#undef AT

#define AT(member) .offset = offsetof(spring_read, member)
static const sp_key spring_keys[] = {
    {"bone", SP_KEY_NAME, REQUIRED, .count = 0},
    {"at", NUMBER, REQUIRED, AT(spring.at), 3, "m", ANY},
    {"stiffness", NUMBER, REQUIRED, AT(spring.stiffness), .unit = "N/m", FROM(0)},
    {"anchor", NUMBER, OPTIONAL, AT(anchor), 3, "m", ANY},
    {"path", FILE_NAME, OPTIONAL, AT(path)},
    {0},
};
static const sp_key_table spring_table = {"spring", spring_keys};
#undef AT

static const sp_key skeleton_keys[] = {
    {"bones", SP_KEY_LIST, REQUIRED, .table = &bone_table},
    {"springs", SP_KEY_LIST, OPTIONAL, .table = &spring_table},
    {0},
};
const sp_key_table sp_skeleton_keys = {"skeleton", skeleton_keys};

/* ---- the vertices of a bone ---- */

typedef struct reading {
    sp_key_reader at;
    const sp_mesh *mesh;
    sp_skeleton_file *file;
    json_t *names;    /* the index of each bone read so far by its name */
    int64_t *owner;   /* [vertices of the mesh] 1 + the bone that the vertex is attached to, 0: none yet */
    sp_list vertices; /* of this bone */
} reading;

static int attach_vertex(reading *r, int64_t bone, int64_t vertex)
{
    int64_t *owner = &r->owner[vertex];
    if (*owner == bone + 1)
        return SP_OK;
    if (*owner > 0)
        return sp_keys_fail(&r->at, "vertex %lld belongs to bone %s, and to bone %s already", (long long)vertex,
                            r->file->names[bone], r->file->names[*owner - 1]);
    *owner = bone + 1;
    int64_t *added = sp_list_add(&r->vertices, 1, sizeof *added);
    if (!added)
        return sp_fail_memory(r->at.context);
    *added = vertex;
    return SP_OK;
}

static int find_region(const reading *r, const json_t *value, int64_t *region)
{
    char shown[SP_TEXT_QUOTE], choices[SP_KEY_CHOICES] = "";
    const sp_mesh *mesh = r->mesh;
    const sp_key number = {.type = SP_KEY_INTEGER, WITHIN(0, (double)(mesh->material_count - 1))};
    const char *name = json_string_value(value);
    if (!name)
        return json_is_number(value)
                   ? sp_keys_integer(&r->at, value, &number, region)
                   : sp_keys_fail(&r->at, "%s, expected the name or number of a region", sp_keys_what(value));
    for (*region = 0; *region < mesh->material_count; ++*region) {
        if (!strcmp(mesh->materials[*region].name, name))
            return SP_OK;
        sp_keys_offer(choices, sp_word_show(sp_word_of(mesh->materials[*region].name), shown));
    }
    return sp_keys_fail(&r->at, "\"%s\" is no region, expected one of %s", sp_word_show(sp_word_of(name), shown),
                        choices);
}

static int attach_region(reading *r, int64_t bone, const json_t *value)
{
    int status, nodes;
    int64_t region, elements = 0;
    SP_TRY(find_region(r, value, &region));
    for (int64_t e = 0; e < sp_mesh_element_count(r->mesh); e++) {
        if (r->mesh->region[e] != region)
            continue;
        elements++;
        const int64_t *node = sp_mesh_nodes(r->mesh, e, &nodes);
        for (int k = 0; k < nodes; k++)
            SP_TRY(attach_vertex(r, bone, node[k]));
    }
    if (elements == 0)
        return sp_keys_fail(&r->at, "no element is of this region");
done:
    return status;
}

static int attach_listed(reading *r, int64_t bone, const json_t *value)
{
    int64_t vertex;
    const sp_key number = {.type = SP_KEY_INTEGER, WITHIN(0, (double)(r->mesh->vertex_count - 1))};
    const int status = sp_keys_integer(&r->at, value, &number, &vertex);
    return status == SP_OK ? attach_vertex(r, bone, vertex) : status;
}

static int attach_each(reading *r, int64_t bone, const json_t *object, const char *key,
                       int (*one)(reading *, int64_t, const json_t *))
{
    int status = SP_OK;
    const json_t *list = json_object_get(object, key);
    const size_t json_path = sp_keys_down(&r->at, ".%s", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_TRY(one(r, bone, json_array_get(list, i)));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
done:
    return status;
}

static int attach_box(reading *r, int64_t bone, const double box[6])
{
    int status = SP_OK;
    bool any = false;
    const size_t json_path = sp_keys_down(&r->at, ".box");
    for (int64_t v = 0; v < r->mesh->vertex_count; v++) {
        const double *x = r->mesh->vertices + 3 * v;
        if (!(x[0] >= box[0] && x[1] >= box[1] && x[2] >= box[2] && x[0] <= box[3] && x[1] <= box[4] && x[2] <= box[5]))
            continue;
        any = true;
        SP_TRY(attach_vertex(r, bone, v));
    }
    if (!any)
        return sp_keys_fail(&r->at, "no vertex of the mesh is in it");
    sp_keys_up(&r->at, json_path);
done:
    return status;
}

static int by_number(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

static int read_vertices(reading *r, const json_t *object, int64_t number, const double box[6])
{
    int status;
    sp_bone *bone = &r->file->bones[number];
    r->vertices.count = 0;
    SP_TRY(attach_each(r, number, object, "regions", attach_region));
    SP_TRY(attach_each(r, number, object, "vertices", attach_listed));
    if (json_object_get(object, "box"))
        SP_TRY(attach_box(r, number, box));
    if (r->vertices.count > 0)
        qsort(r->vertices.data, (size_t)r->vertices.count, sizeof(int64_t), by_number);
    bone->vertex_count = r->vertices.count;
    bone->vertex = sp_pool_copy(&r->file->pool, r->vertices.data, r->vertices.count, sizeof *bone->vertex);
    if (!bone->vertex)
        status = sp_fail_memory(r->at.context);
done:
    return status;
}

/* ---- bones ---- */

static int read_name(reading *r, const json_t *object, int64_t number)
{
    int status;
    const char *name = sp_keys_word(object, "name");
    const size_t json_path = sp_keys_down(&r->at, ".name");
    SP_TRY(sp_keys_check_name(&r->at, name));
    if (json_object_get(r->names, name))
        return sp_keys_fail(&r->at, "\"%s\" occurs twice", name);
    r->file->names[number] = sp_pool_copy(&r->file->pool, name, (int64_t)strlen(name) + 1, 1);
    if (!r->file->names[number])
        return sp_fail_memory(r->at.context);
    sp_keys_up(&r->at, json_path);
done:
    return status;
}

static int read_bone(reading *r, json_t *object, int64_t number)
{
    int status;
    bone_read read = {0};
    sp_bone *bone = &r->file->bones[number];
    const char *parent = sp_keys_word(object, "parent");
    SP_TRY(sp_keys_read(&r->at, object, &bone_table, &read));
    *bone = read.bone;
    SP_TRY(read_name(r, object, number));
    bone->parent = -1;
    size_t json_path = sp_keys_down(&r->at, ".parent");
    if (parent)
        SP_TRY(sp_keys_look_up(&r->at, r->names, parent, "bone before this one", &bone->parent));
    sp_keys_up(&r->at, json_path);
    if (bone->kind == SP_JOINT_REVOLUTE)
        SP_TRY(sp_keys_need(&r->at, object, "at", "a joint that turns has a place"));
    json_path = sp_keys_down(&r->at, ".axis");
    if (!sp_unit_vector(3, bone->axis))
        return sp_keys_fail(&r->at, "it is zero");
    sp_keys_up(&r->at, json_path);
    json_path = sp_keys_down(&r->at, ".inertia");
    if (!sp_bone_inertia_valid(bone->inertia))
        return sp_keys_fail(&r->at, "it is not positive semidefinite");
    sp_keys_up(&r->at, json_path);
    SP_TRY(read_vertices(r, object, number, read.box));
    if (json_object_set_new(r->names, r->file->names[number], json_integer(number)))
        status = sp_fail_memory(r->at.context);
done:
    return status;
}

/* ---- springs ---- */

static int read_spring(reading *r, json_t *object, int64_t number)
{
    static const char *const ends[] = {"anchor", "path", NULL};
    static const double always = 0;
    int status;
    spring_read read = {0};
    sp_bone_spring *spring = &r->file->springs[number];
    sp_pool *pool = &r->file->pool;
    SP_TRY(sp_keys_read(&r->at, object, &spring_table, &read));
    *spring = read.spring;
    const size_t json_path = sp_keys_down(&r->at, ".bone");
    SP_TRY(sp_keys_look_up(&r->at, r->names, sp_keys_word(object, "bone"), "bone", &spring->bone));
    sp_keys_up(&r->at, json_path);
    SP_TRY(sp_keys_among(&r->at, object, ends, true, true));
    r->file->paths[number] = read.path;
    if (read.path)
        return SP_OK;
    spring->count = 1;
    spring->time = sp_pool_copy(pool, &always, 1, sizeof always);
    spring->anchor = sp_pool_copy(pool, read.anchor, 3, sizeof *read.anchor);
    if (pool->failed)
        status = sp_fail_memory(r->at.context);
done:
    return status;
}

/* ---- the skeleton ---- */

static int read_list(reading *r, const json_t *root, const char *key, int (*one)(reading *, json_t *, int64_t))
{
    int status = SP_OK;
    const json_t *list = json_object_get(root, key);
    const size_t json_path = sp_keys_down(&r->at, ".%s", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_TRY(one(r, json_array_get(list, i), (int64_t)i));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
done:
    return status;
}

static int read_skeleton(reading *r, json_t *root)
{
    int status;
    sp_skeleton_file *file = r->file;
    SP_TRY(sp_keys_read(&r->at, root, &sp_skeleton_keys, file));
    const int64_t bones = (int64_t)json_array_size(json_object_get(root, "bones")),
                  springs = (int64_t)json_array_size(json_object_get(root, "springs"));
    if (bones > SP_SKELETON_BONES) {
        sp_keys_down(&r->at, ".bones");
        return sp_keys_fail(&r->at, "%lld bones, expected at most %d", (long long)bones, SP_SKELETON_BONES);
    }
    file->bones = sp_pool_new(&file->pool, bones, sizeof *file->bones);
    file->names = sp_pool_new(&file->pool, bones, sizeof *file->names);
    file->springs = sp_pool_new(&file->pool, springs, sizeof *file->springs);
    file->paths = sp_pool_new(&file->pool, springs, sizeof *file->paths);
    if (file->pool.failed)
        return sp_fail_memory(r->at.context);
    file->bone_count = bones;
    file->spring_count = springs;
    SP_TRY(read_list(r, root, "bones", read_bone));
    SP_TRY(read_list(r, root, "springs", read_spring));
done:
    return status;
}

int sp_skeleton_file_parse(sp_context *context, const char *text, int64_t count, const char *folder,
                           const sp_mesh *mesh, sp_skeleton_file *file)
{
    json_t *root;
    sp_pool scratch = {0};
    *file = (sp_skeleton_file){0};
    int status = sp_keys_load(context, text, count, &root);
    if (status != SP_OK)
        return status;
    reading r = {.at = {.context = context, .pool = &file->pool, .folder = folder},
                 .mesh = mesh,
                 .file = file,
                 .names = json_object()};
    r.owner = sp_pool_new(&scratch, mesh->vertex_count, sizeof *r.owner);
    status = r.names && r.owner ? read_skeleton(&r, root) : sp_fail_memory(context);
    sp_list_free(&r.vertices);
    sp_pool_free(&scratch);
    json_decref(r.names);
    json_decref(root);
    if (status != SP_OK)
        sp_skeleton_file_free(file);
    return status;
}

int sp_skeleton_file_set_path(sp_context *context, sp_skeleton_file *file, int64_t number, const sp_path *path)
{
    sp_bone_spring *spring = &file->springs[number];
    double *anchor = sp_pool_raw(&file->pool, 3 * path->count, sizeof *anchor);
    spring->time = sp_pool_copy(&file->pool, path->time, path->count, sizeof *spring->time);
    spring->anchor = anchor;
    if (file->pool.failed)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < path->count; i++)
        memcpy(anchor + 3 * i, path->pose[i].x, sizeof path->pose[i].x);
    spring->count = path->count;
    return SP_OK;
}

void sp_skeleton_file_free(sp_skeleton_file *file)
{
    sp_pool_free(&file->pool);
    *file = (sp_skeleton_file){0};
}
