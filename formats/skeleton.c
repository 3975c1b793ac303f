#include "formats/skeleton.h"

#include "formats/import/text.h"
#include "formats/key_tables.h"
#include "formats/skeleton_internal.h"

#include <string.h>

/* The result of reading the tables of bones and of springs. */
typedef struct bone_read {
    sp_bone bone;
    double box[6];             /* m, low and high */
    double segment[6], radius; /* m; radius 0: none */
    char *path;
} bone_read;
typedef struct spring_read {
    sp_bone_spring spring;
    double anchor[3];
    char *path;
} spring_read;

/* ---- the tables ---- */

_Static_assert(sizeof(enum sp_joint_kind) == sizeof(int), "words are kept as int");

static const sp_key_words joints = {SP_JOINT_REVOLUTE, {"revolute", "prismatic", "path"}};

enum { DYNAMIC = 1u << SP_JOINT_REVOLUTE | 1u << SP_JOINT_PRISMATIC };

#define AT(member) .offset = offsetof(bone_read, bone.member)
static const sp_key bone_keys[] = {
    {"joint", WORD, REQUIRED, AT(kind), .words = &joints},
    {"name", SP_KEY_NAME, REQUIRED, .count = 0},
    {"parent", SP_KEY_NAME, OPTIONAL, .count = 0},
    {"at", NUMBER, OPTIONAL, AT(at), 3, "m", ANY},
    {"axis", NUMBER, OPTIONAL, AT(axis), 3, NULL, ANY, .only = DYNAMIC},
    {"mass", NUMBER, OPTIONAL, AT(mass), .unit = "kg", FROM(0), .only = DYNAMIC, .needs = "centre"},
    {"centre", NUMBER, OPTIONAL, AT(centre), 3, "m", ANY, .only = DYNAMIC, .needs = "mass"},
    {"inertia", NUMBER, OPTIONAL, AT(inertia), 6, "kg m²", ANY, .only = DYNAMIC, .needs = "mass"},
    {"start", NUMBER, DEFAULT, AT(start), .unit = "rad or m", ANY, .only = DYNAMIC},
    {"rate", NUMBER, DEFAULT, AT(rate), .unit = "rad/s or m/s", ANY, .only = DYNAMIC},
    {"stiffness", NUMBER, DEFAULT, AT(stiffness), .unit = "N m/rad or N/m", FROM(0), .only = DYNAMIC},
    {"rest", NUMBER, DEFAULT, AT(rest), .unit = "rad or m", ANY, .only = DYNAMIC, .needs = "stiffness"},
    {"damping", NUMBER, DEFAULT, AT(damping), .unit = "N m s or N s/m", FROM(0), .only = DYNAMIC},
    {"path", FILE_NAME, OPTIONAL, .offset = offsetof(bone_read, path), .only = 1u << SP_JOINT_PATH},
    {"regions", SP_KEY_REGIONS, OPTIONAL, .count = 0},
    {"vertices", SP_KEY_INTEGERS, OPTIONAL, .count = 0},
    {"box", SP_KEY_BOX, OPTIONAL, .offset = offsetof(bone_read, box), .unit = "m", ANY},
    {"segment", NUMBER, OPTIONAL, .offset = offsetof(bone_read, segment), 6, "m", ANY, .needs = "radius"},
    {"radius", NUMBER, OPTIONAL, .offset = offsetof(bone_read, radius), .unit = "m", ABOVE(0), .needs = "segment"},
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
    json_t *names;   /* the index of each bone read so far by its name */
    int64_t *owner;  /* [vertices of the mesh] 1 + the bone that the vertex is attached to, 0: none yet */
    double *segment; /* [bones, 7] ends and radius, m; radius 0: none */
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
    int nodes;
    int64_t region, elements = 0;
    SP_PASS(find_region(r, value, &region));

    for (int64_t e = 0; e < sp_mesh_element_count(r->mesh); e++) {
        if (r->mesh->region[e] != region)
            continue;
        elements++;
        const int64_t *node = sp_mesh_nodes(r->mesh, e, &nodes);
        for (int k = 0; k < nodes; k++)
            SP_PASS(attach_vertex(r, bone, node[k]));
    }

    if (elements == 0)
        return sp_keys_fail(&r->at, "no element is of this region");
    return SP_OK;
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
    const json_t *list = json_object_get(object, key);
    const size_t json_path = sp_keys_down(&r->at, ".%s", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_PASS(one(r, bone, json_array_get(list, i)));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int attach_box(reading *r, int64_t bone, const double box[6])
{
    bool any = false;
    const size_t json_path = sp_keys_down(&r->at, ".box");

    for (int64_t v = 0; v < r->mesh->vertex_count; v++) {
        const double *x = r->mesh->vertices + 3 * v;
        if (!(x[0] >= box[0] && x[1] >= box[1] && x[2] >= box[2] && x[0] <= box[3] && x[1] <= box[4] && x[2] <= box[5]))
            continue;
        any = true;
        SP_PASS(attach_vertex(r, bone, v));
    }

    if (!any)
        return sp_keys_fail(&r->at, "no vertex of the mesh is in it");
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int name_vertices(reading *r, const json_t *object, int64_t number, const double box[6])
{
    SP_PASS(attach_each(r, number, object, "regions", attach_region));
    SP_PASS(attach_each(r, number, object, "vertices", attach_listed));
    if (json_object_get(object, "box"))
        SP_PASS(attach_box(r, number, box));
    return SP_OK;
}

static double segment_distance(const double segment[6], const double x[3])
{
    double along[3], arm[3];
    for (int k = 0; k < 3; k++) {
        along[k] = segment[3 + k] - segment[k];
        arm[k] = x[k] - segment[k];
    }
    const double square = sp_dot3(along, along), t = square > 0 ? sp_dot3(arm, along) / square : 0;
    for (int k = 0; k < 3; k++)
        arm[k] -= fmin(fmax(t, 0), 1) * along[k];
    return sp_norm3(arm);
}

/* Vertices that no bone names go to the nearest segment within its radius, of equally near ones to the first. */
static int attach_segments(reading *r)
{
    const int64_t bones = r->file->bone_count;
    int status;
    sp_pool scratch = {0};
    int64_t *found = sp_pool_new(&scratch, bones, sizeof *found);
    status = sp_allocated(r->at.context, found);

    const int64_t vertices = found ? r->mesh->vertex_count : 0;
    for (int64_t v = 0; v < vertices; v++) {
        double least = INFINITY;
        int64_t nearest = -1;
        for (int64_t b = 0; b < bones && r->owner[v] == 0; b++) {
            const double *segment = r->segment + 7 * b,
                         distance = segment[6] > 0 ? segment_distance(segment, r->mesh->vertices + 3 * v) : INFINITY;
            if (distance <= segment[6] && distance < least) {
                least = distance;
                nearest = b;
            }
        }

        if (nearest >= 0) {
            r->owner[v] = nearest + 1;
            found[nearest]++;
        }
    }

    for (int64_t b = 0; b < bones && status == SP_OK; b++)
        if (r->segment[7 * b + 6] > 0 && found[b] == 0) {
            sp_keys_down(&r->at, ".bones[%lld].segment", (long long)b);
            status = sp_keys_fail(&r->at,
                                  "no vertex of the mesh is within %g m of bone %s and nearer to it than to "
                                  "other bones",
                                  r->segment[7 * b + 6], r->file->names[b]);
        }
    sp_pool_free(&scratch);
    return status;
}

static int list_vertices(reading *r)
{
    sp_skeleton_file *file = r->file;

    /* Count, allocate, then fill: the count is the place of the next vertex. */
    for (int64_t v = 0; v < r->mesh->vertex_count; v++)
        if (r->owner[v] > 0)
            file->bones[r->owner[v] - 1].vertex_count++;

    for (int64_t b = 0; b < file->bone_count; b++) {
        int64_t *vertex = sp_pool_raw(&file->pool, file->bones[b].vertex_count, sizeof *vertex);
        SP_PASS(sp_allocated(r->at.context, vertex));
        file->bones[b].vertex = vertex;
        file->bones[b].vertex_count = 0;
    }

    for (int64_t v = 0; v < r->mesh->vertex_count; v++)
        if (r->owner[v] > 0) {
            sp_bone *bone = &file->bones[r->owner[v] - 1];
            ((int64_t *)bone->vertex)[bone->vertex_count++] = v;
        }
    return SP_OK;
}

/* ---- bones ---- */

static int read_name(reading *r, const json_t *object, int64_t number)
{
    const char *name = sp_keys_word(object, "name");
    const size_t json_path = sp_keys_down(&r->at, ".name");
    SP_PASS(sp_keys_check_name(&r->at, name));
    if (json_object_get(r->names, name))
        return sp_keys_fail(&r->at, "\"%s\" occurs twice", name);
    r->file->names[number] = sp_pool_copy(&r->file->pool, name, (int64_t)strlen(name) + 1, 1);
    SP_PASS(sp_allocated(r->at.context, r->file->names[number]));
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* What the joint moves along or about. */
static int read_direction(reading *r, const json_t *object, sp_bone *bone)
{
    if (bone->kind == SP_JOINT_PATH)
        return sp_keys_need(&r->at, object, "path", "a joint that follows a path names it");
    SP_PASS(sp_keys_need(&r->at, object, "axis", "a joint has an axis"));
    const size_t json_path = sp_keys_down(&r->at, ".axis");
    if (!sp_unit_vector(3, bone->axis))
        return sp_keys_fail(&r->at, "it is zero");
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int read_bone(reading *r, json_t *object, int64_t number)
{
    bone_read read = {0};
    sp_bone *bone = &r->file->bones[number];
    const char *parent = sp_keys_word(object, "parent");
    SP_PASS(sp_keys_read(&r->at, object, &bone_table, &read));
    *bone = read.bone;

    SP_PASS(read_name(r, object, number));
    bone->parent = -1;

    size_t json_path = sp_keys_down(&r->at, ".parent");
    if (parent)
        SP_PASS(sp_keys_look_up(&r->at, r->names, parent, "bone before this one", &bone->parent));
    sp_keys_up(&r->at, json_path);

    if (bone->kind == SP_JOINT_REVOLUTE)
        SP_PASS(sp_keys_need(&r->at, object, "at", "a joint that turns has a place"));
    SP_PASS(read_direction(r, object, bone));

    r->file->bone_paths[number] = read.path;
    memcpy(r->segment + 7 * number, read.segment, sizeof read.segment);
    r->segment[7 * number + 6] = read.radius;

    json_path = sp_keys_down(&r->at, ".inertia");
    if (!sp_bone_inertia_valid(bone->inertia))
        return sp_keys_fail(&r->at, "it is not positive semidefinite");
    sp_keys_up(&r->at, json_path);

    SP_PASS(name_vertices(r, object, number, read.box));
    if (json_object_set_new(r->names, r->file->names[number], json_integer(number)))
        return sp_fail_memory(r->at.context);
    return SP_OK;
}

/* ---- springs ---- */

static int read_spring(reading *r, json_t *object, int64_t number)
{
    static const char *const ends[] = {"anchor", "path", NULL};
    static const double always = 0;
    spring_read read = {0};
    sp_bone_spring *spring = &r->file->springs[number];
    sp_pool *pool = &r->file->pool;

    SP_PASS(sp_keys_read(&r->at, object, &spring_table, &read));
    *spring = read.spring;

    const size_t json_path = sp_keys_down(&r->at, ".bone");
    SP_PASS(sp_keys_look_up(&r->at, r->names, sp_keys_word(object, "bone"), "bone", &spring->bone));
    sp_keys_up(&r->at, json_path);

    SP_PASS(sp_keys_among(&r->at, object, ends, true, true));
    r->file->paths[number] = read.path;
    if (read.path)
        return SP_OK;

    /* Without a path the anchor stands still: one time and one place. */
    spring->count = 1;
    spring->time = sp_pool_copy(pool, &always, 1, sizeof always);
    spring->anchor = sp_pool_copy(pool, read.anchor, 3, sizeof *read.anchor);
    if (pool->failed)
        return sp_fail_memory(r->at.context);
    return SP_OK;
}

/* ---- the skeleton ---- */

static int read_list(reading *r, const json_t *root, const char *key, int (*one)(reading *, json_t *, int64_t))
{
    const json_t *list = json_object_get(root, key);
    const size_t json_path = sp_keys_down(&r->at, ".%s", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_PASS(one(r, json_array_get(list, i), (int64_t)i));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int read_skeleton(reading *r, json_t *root)
{
    sp_skeleton_file *file = r->file;

    SP_PASS(sp_keys_read(&r->at, root, &sp_skeleton_keys, file));
    const int64_t bones = (int64_t)json_array_size(json_object_get(root, "bones")),
                  springs = (int64_t)json_array_size(json_object_get(root, "springs"));

    if (bones > SP_SKELETON_BONES) {
        sp_keys_down(&r->at, ".bones");
        return sp_keys_fail(&r->at, "%lld bones, expected at most %d", (long long)bones, SP_SKELETON_BONES);
    }

    file->bones = sp_pool_new(&file->pool, bones, sizeof *file->bones);
    file->names = sp_pool_new(&file->pool, bones, sizeof *file->names);
    file->bone_paths = sp_pool_new(&file->pool, bones, sizeof *file->bone_paths);
    r->segment = sp_pool_new(&file->pool, 7 * bones, sizeof *r->segment);
    file->springs = sp_pool_new(&file->pool, springs, sizeof *file->springs);
    file->paths = sp_pool_new(&file->pool, springs, sizeof *file->paths);
    SP_PASS(sp_allocated(r->at.context, !file->pool.failed));

    file->bone_count = bones;
    file->spring_count = springs;

    /* Bones before springs, which name them. Vertices that a bone names come before those that the nearest segment
     * receives. */
    SP_PASS(read_list(r, root, "bones", read_bone));
    SP_PASS(attach_segments(r));
    SP_PASS(list_vertices(r));
    return read_list(r, root, "springs", read_spring);
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
    SP_PASS(sp_allocated(context, !file->pool.failed));
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
