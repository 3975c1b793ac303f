#include "formats/scene.h"

#include "formats/import/text.h"
#include "formats/scene_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 100000, MOST_PAIRS = 1000000 };

/* The bodies that one entry of "bodies" has created. */
typedef struct entry {
    int64_t first, count;
    bool copied;
} entry;

typedef struct reading {
    sp_key_reader at;
    sp_scene *scene;
    json_t *models, *bodies; /* the index of each by its name */
    sp_list bodies_read;     /* sp_scene_body */
    sp_list entries;         /* entry */
    sp_list pairs;           /* struct pair */
} reading;

/* ---- models ---- */

static const char *const distances[] = {"field", "voxmap", "plane", "sphere", "box", NULL},
                         *const looks[] = {"mesh", "surface", NULL}, *const densities[] = {"mass", "density", NULL},
                         *const forces[] = {"polynomials", "cubature", NULL},
                         *const anything[] = {"mesh",   "surface", "field",      "voxmap", "plane",
                                              "sphere", "box",     "pointshell", NULL};

static int read_domains(reading *r, const json_t *list, sp_scene_model *model)
{
    const int64_t count = (int64_t)json_array_size(list);
    const size_t json_path = sp_keys_down(&r->at, ".domains");

    model->domain_count = count;
    model->domain_fields = sp_pool_new(&r->scene->pool, count, sizeof *model->domain_fields);
    model->domain_proxies = sp_pool_new(&r->scene->pool, count, sizeof *model->domain_proxies);
    SP_PASS(sp_allocated(r->at.context, !r->scene->pool.failed));

    for (int64_t i = 0; i < count; i++) {
        sp_scene_domain_read domain;
        const size_t list_path = sp_keys_down(&r->at, "[%lld]", (long long)i);
        SP_PASS(sp_keys_read(&r->at, json_array_get(list, (size_t)i), &sp_scene_domain_keys, &domain));
        model->domain_fields[i] = domain.field;
        model->domain_proxies[i] = domain.proxies;
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* Returns true if the tensor is positive definite, by its leading minors. It is divided by the largest entry, so that
 * these neither overflow nor underflow. */
static bool is_inertia(const double J[6])
{
    double most = 0;
    for (int i = 0; i < 6; i++)
        most = fmax(most, fabs(J[i]));
    const double xx = J[0] / most, yy = J[1] / most, zz = J[2] / most, yz = J[3] / most, zx = J[4] / most,
                 xy = J[5] / most;
    return xx > 0 && xx * yy - xy * xy > 0 &&
           xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * zx) + zx * (xy * yz - yy * zx) > 0;
}

static int check_soft(reading *r, const json_t *object, const sp_scene_model *model)
{
    const char *why = model->kind == SP_SCENE_LINEAR ? "linear models need mesh, basis and polynomials"
                                                     : "reduced models need mesh, basis and polynomials or cubature";
    SP_PASS(sp_keys_need(&r->at, object, "mesh", why));
    SP_PASS(sp_keys_need(&r->at, object, "basis", why));
    if (model->kind == SP_SCENE_LINEAR)
        SP_PASS(sp_keys_need(&r->at, object, "polynomials", why));
    else
        SP_PASS(sp_keys_among(&r->at, object, forces, true, true));
    if (model->field)
        SP_PASS(sp_keys_need(&r->at, object, "proxies", "the field of a model that deforms needs them"));
    return SP_OK;
}

static int check_rigid(reading *r, const json_t *object, sp_scene_model *model)
{
    SP_PASS(sp_keys_among(&r->at, object, anything, false, true));
    SP_PASS(sp_keys_among(&r->at, object, distances, true, false));
    SP_PASS(sp_keys_among(&r->at, object, looks, true, false));
    SP_PASS(sp_keys_among(&r->at, object, densities, true, false));

    if (model->mass > 0 && !is_inertia(model->inertia)) {
        sp_keys_down(&r->at, ".inertia");
        return sp_keys_fail(&r->at, "it is not positive definite");
    }

    model->shape = SP_SCENE_NO_GEOMETRY;
    if (json_object_get(object, "plane"))
        model->shape = SP_SCENE_PLANE;
    else if (json_object_get(object, "sphere"))
        model->shape = SP_SCENE_SPHERE;
    else if (json_object_get(object, "box"))
        model->shape = SP_SCENE_BOX;

    if (model->shape == SP_SCENE_PLANE && !sp_unit_vector(3, model->normal)) {
        sp_keys_down(&r->at, ".plane.normal");
        return sp_keys_fail(&r->at, "it is zero");
    }
    return SP_OK;
}

static int read_models(reading *r, json_t *object)
{
    const char *name;
    json_t *value;
    sp_scene *scene = r->scene;
    const size_t json_path = sp_keys_down(&r->at, ".models");

    scene->models = sp_pool_new(&scene->pool, (int64_t)json_object_size(object), sizeof *scene->models);
    SP_PASS(sp_allocated(r->at.context, scene->models));

    json_object_foreach(object, name, value)
    {
        sp_scene_model *model = &scene->models[scene->model_count];
        SP_PASS(sp_keys_check_name(&r->at, name));
        strcpy(model->name, name);

        const size_t model_path = sp_keys_down(&r->at, ".%s", name);
        SP_PASS(sp_keys_read(&r->at, value, &sp_scene_model_keys, model));
        SP_PASS(model->kind == SP_SCENE_RIGID ? check_rigid(r, value, model) : check_soft(r, value, model));
        if (json_object_get(value, "domains"))
            SP_PASS(read_domains(r, json_object_get(value, "domains"), model));

        if (json_object_set_new(r->models, name, json_integer(scene->model_count++)))
            return sp_fail_memory(r->at.context);
        sp_keys_up(&r->at, model_path);
    }
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* ---- bodies ---- */

static int check_motion(reading *r, const json_t *object, const sp_scene_body *body)
{
    const sp_scene *scene = r->scene;
    const sp_scene_model *model = &scene->models[body->model];

    if (body->motion == SP_SCENE_PATH)
        SP_PASS(sp_keys_need(&r->at, object, "path", "the motion is path"));

    if (body->inertial && model->kind == SP_SCENE_RIGID) {
        sp_keys_down(&r->at, ".inertial");
        return sp_keys_fail(&r->at, "true, but model %s is rigid: inertial forces act on a deformation", model->name);
    }

    /* A scene has one coupling, and therefore at most one coupled body. */
    sp_keys_down(&r->at, ".motion");
    if (body->motion == SP_SCENE_COUPLED) {
        if (scene->coupling.kind == SP_SCENE_NO_COUPLING)
            return sp_keys_fail(&r->at, "coupled, but the scene has no coupling");
        const sp_scene_body *others = r->bodies_read.data;
        for (int64_t i = 0; i < r->bodies_read.count; i++)
            if (others[i].motion == SP_SCENE_COUPLED)
                return sp_keys_fail(&r->at, "coupled, as %s is already; expected at most one such body",
                                    others[i].name);
    }

    const bool dynamic =
        body->motion == SP_SCENE_FREE || (body->motion == SP_SCENE_COUPLED && scene->coupling.kind == SP_SCENE_DYNAMIC);

    if (body->motion == SP_SCENE_FREE && model->shape == SP_SCENE_PLANE)
        return sp_keys_fail(&r->at, "free, but model %s is a plane, which has no inertia", model->name);
    if (dynamic && model->kind == SP_SCENE_RIGID && !model->mesh && model->density == 0 && model->mass == 0)
        return sp_keys_fail(&r->at,
                            "%s needs a mass, and model %s has neither mesh, nor surface and density, nor mass, "
                            "mass_centre and inertia",
                            body->motion == SP_SCENE_FREE ? "free" : "coupled (dynamic)", model->name);
    return SP_OK;
}

static int check_loads(reading *r, const sp_scene_body *body)
{
    const sp_scene_model *model = &r->scene->models[body->model];
    const size_t json_path = sp_keys_down(&r->at, ".loads");
    if (!model->mesh)
        return sp_keys_fail(&r->at, "model %s has no mesh, on whose vertices the loads would act", model->name);
    if (body->motion != SP_SCENE_FREE && model->kind == SP_SCENE_RIGID)
        return sp_keys_fail(&r->at, "the body is rigid and not free: loads do not move it");
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* A grid of bodies, x fastest. */
static int add_copies(reading *r, const sp_scene_body_read *read, const char *name)
{
    const int64_t *grid = read->copies;
    const bool copied = grid[0] > 0;
    const int64_t count = copied ? grid[0] * grid[1] * grid[2] : 1; /* at most 1e15 */
    if (count > MOST_BODIES - r->bodies_read.count)
        return sp_keys_fail(&r->at, "%lld bodies with those before, expected at most %d in all",
                            (long long)(r->bodies_read.count + count), MOST_BODIES);

    entry *added = sp_list_add(&r->entries, 1, sizeof *added);
    SP_PASS(sp_allocated(r->at.context, added));
    *added = (entry){r->bodies_read.count, count, copied};
    sp_scene_body *bodies = sp_list_add(&r->bodies_read, count, sizeof *bodies);
    SP_PASS(sp_allocated(r->at.context, bodies));

    for (int64_t i = 0; i < count; i++) {
        bodies[i] = read->body;
        const int64_t place[3] = {copied ? i % grid[0] : 0, copied ? i / grid[0] % grid[1] : 0,
                                  copied ? i / grid[0] / grid[1] : 0};

        for (int k = 0; k < 3; k++)
            bodies[i].pose.x[k] += (double)place[k] * read->spacing[k];
        if (!isfinite(bodies[i].pose.x[0] + bodies[i].pose.x[1] + bodies[i].pose.x[2])) {
            sp_keys_down(&r->at, ".copies.spacing");
            return sp_keys_fail(&r->at, "copy %lld is infinitely far away", (long long)i);
        }

        const int length = copied ? snprintf(bodies[i].name, SP_SCENE_NAME, "%s[%lld]", name, (long long)i)
                                  : snprintf(bodies[i].name, SP_SCENE_NAME, "%s", name);
        if (length >= SP_SCENE_NAME) {
            sp_keys_down(&r->at, ".name");
            return sp_keys_fail(&r->at, "the names of its copies, as %s[%lld], have more than %d characters", name,
                                (long long)i, SP_SCENE_NAME - 1);
        }
    }
    return SP_OK;
}

static int read_body(reading *r, json_t *object)
{
    sp_scene_body_read read = {0};

    SP_PASS(sp_keys_read(&r->at, object, &sp_scene_body_keys, &read));
    const char *name = sp_keys_word(object, "name");
    size_t json_path = sp_keys_down(&r->at, ".name");
    SP_PASS(sp_keys_check_name(&r->at, name));

    if (json_object_get(r->bodies, name))
        return sp_keys_fail(&r->at, "\"%s\" occurs twice", name);
    sp_keys_up(&r->at, json_path);

    json_path = sp_keys_down(&r->at, ".model");
    SP_PASS(sp_keys_look_up(&r->at, r->models, sp_keys_word(object, "model"), "model", &read.body.model));
    sp_keys_up(&r->at, json_path);

    /* On a path the poses come from its file. */
    if (read.body.motion != SP_SCENE_PATH && !sp_unit_vector(4, read.body.pose.q)) {
        sp_keys_down(&r->at, ".orientation");
        return sp_keys_fail(&r->at, "it is zero");
    }

    SP_PASS(check_motion(r, object, &read.body));
    sp_keys_up(&r->at, json_path);
    if (read.body.loads)
        SP_PASS(check_loads(r, &read.body));

    if (json_object_set_new(r->bodies, name, json_integer(r->entries.count)))
        return sp_fail_memory(r->at.context);
    return add_copies(r, &read, name);
}

static int read_bodies(reading *r, const json_t *list)
{
    sp_scene *scene = r->scene;
    const size_t json_path = sp_keys_down(&r->at, ".bodies");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_PASS(read_body(r, json_array_get(list, i)));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);

    scene->body_count = r->bodies_read.count;
    scene->bodies = sp_pool_copy(&scene->pool, r->bodies_read.data, r->bodies_read.count, sizeof *scene->bodies);
    SP_PASS(sp_allocated(r->at.context, scene->bodies));
    return SP_OK;
}

/* Finds one body by its name, a copy by name[number], or all copies by the name without a number. */
static int find_bodies(const reading *r, const char *name, entry *found)
{
    char base[SP_SCENE_NAME];
    int64_t number = 0, copy;

    /* The base name before the bracket is that of an entry; the number selects one of its copies. */
    const char *bracket = strchr(name, '[');
    const size_t length = bracket ? (size_t)(bracket - name) : strlen(name);
    if (bracket && length < sizeof base) {
        memcpy(base, name, length);
        base[length] = 0;
        const json_t *value = json_object_get(r->bodies, base);
        const entry *one = value ? (const entry *)r->entries.data + json_integer_value(value) : NULL;
        if (one && sp_word_integer((sp_word){bracket + 1, (int64_t)strcspn(bracket + 1, "]")}, &copy) && copy >= 0 &&
            copy < one->count && !strcmp(r->scene->bodies[one->first + copy].name, name)) {
            *found = (entry){one->first + copy, 1, true};
            return SP_OK;
        }
    }

    int status = sp_keys_look_up(&r->at, r->bodies, name, "body", &number);
    if (status == SP_OK)
        *found = ((const entry *)r->entries.data)[number];
    return status;
}

/* ---- pairs ---- */

typedef struct pair {
    sp_scene_pair bodies;
    int64_t entry; /* index in "pairs" */
} pair;

static int by_bodies(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->bodies.pointshell != q->bodies.pointshell)
        return p->bodies.pointshell < q->bodies.pointshell ? -1 : 1;
    if (p->bodies.field != q->bodies.field)
        return p->bodies.field < q->bodies.field ? -1 : 1;
    return p->entry < q->entry ? -1 : p->entry > q->entry;
}

static int by_numbers(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

/* Lists the pairs of bodies that joints connect. */
static int list_neighbours(reading *r)
{
    sp_scene *scene = r->scene;
    int64_t count = 0;

    if (scene->joint_count == 0)
        return SP_OK;
    scene->neighbours = sp_pool_raw(&scene->pool, 2 * scene->joint_count, sizeof *scene->neighbours);
    SP_PASS(sp_allocated(r->at.context, !scene->pool.failed));

    for (int64_t k = 0; k < scene->joint_count; k++) {
        const int64_t a = scene->joints[k].parent, b = scene->joints[k].child;
        if (a < 0)
            continue;
        scene->neighbours[2 * count] = (int32_t)(a < b ? a : b);
        scene->neighbours[2 * count++ + 1] = (int32_t)(a < b ? b : a);
    }

    /* Two joints may connect the same bodies: of equal pairs only the first is kept. */
    qsort(scene->neighbours, (size_t)count, 2 * sizeof *scene->neighbours, by_numbers);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || by_numbers(scene->neighbours + 2 * k, scene->neighbours + 2 * k - 2) != 0)
            memmove(scene->neighbours + 2 * scene->neighbour_count++, scene->neighbours + 2 * k,
                    2 * sizeof *scene->neighbours);
    return SP_OK;
}

static bool are_neighbours(const sp_scene *scene, int64_t a, int64_t b)
{
    const int32_t key[2] = {(int32_t)(a < b ? a : b), (int32_t)(a < b ? b : a)};
    return scene->neighbour_count > 0 &&
           bsearch(key, scene->neighbours, (size_t)scene->neighbour_count, 2 * sizeof *scene->neighbours, by_numbers);
}

static int read_pair(reading *r, const json_t *value, int64_t number)
{
    entry side[2];
    const sp_scene *scene = r->scene;

    if (json_array_size(value) != 2) /* 0 if it is not an array */
        return sp_keys_fail(&r->at, "%s, expected an array of two names",
                            json_is_array(value) ? "another count" : sp_keys_what(value));

    for (int k = 0; k < 2; k++) {
        const json_t *name = json_array_get(value, (size_t)k);
        const size_t json_path = sp_keys_down(&r->at, "[%d]", k);
        if (!json_is_string(name))
            return sp_keys_fail(&r->at, "%s, expected a name", sp_keys_what(name));
        SP_PASS(find_bodies(r, json_string_value(name), &side[k]));
        sp_keys_up(&r->at, json_path);
    }

    /* The first body gives points, the second a distance; two point shells with thickness collide as spheres. */
    const sp_scene_model *pointshell = &scene->models[scene->bodies[side[0].first].model],
                         *field = &scene->models[scene->bodies[side[1].first].model];
    const bool distance = field->field || field->voxmap || field->shape != SP_SCENE_NO_GEOMETRY;

    if (!pointshell->pointshell)
        return sp_keys_fail(&r->at, "model %s has no pointshell", pointshell->name);
    if (!distance && !(field->pointshell && pointshell->thickness > 0 && field->thickness > 0))
        return sp_keys_fail(
            &r->at,
            "model %s has neither field, voxmap nor plane, sphere or box, nor do both have a pointshell with thickness",
            field->name);

    if (side[0].first == side[1].first && side[0].count == 1 && side[1].count == 1)
        return sp_keys_fail(&r->at, "both are %s, expected two bodies", scene->bodies[side[0].first].name);

    const int64_t count = side[0].count * side[1].count; /* at most 1e10 */
    if (count > MOST_PAIRS - r->pairs.count)
        return sp_keys_fail(&r->at, "%lld pairs of bodies with those before, expected at most %d",
                            (long long)(r->pairs.count + count), MOST_PAIRS);

    pair *pairs = sp_list_add(&r->pairs, count, sizeof *pairs);
    SP_PASS(sp_allocated(r->at.context, pairs));

    /* A copy forms no pair with itself, nor with a body that a joint connects to it: such a pair is listed by the names
     * of both bodies alone. Pairs of spheres are the same in both orders: the lower number comes first, and
     * pairs among copies are listed once. */
    const bool among = side[0].count > 1 && side[1].count > 1 && side[0].first == side[1].first;
    for (int64_t i = 0; i < side[0].count; i++)
        for (int64_t j = 0; j < side[1].count; j++) {
            const int64_t a = side[0].first + i, b = side[1].first + j;
            if (a == b || (!distance && among && a > b) || (count > 1 && are_neighbours(scene, a, b)))
                r->pairs.count--;
            else
                *pairs++ = (pair){distance || a < b ? (sp_scene_pair){a, b} : (sp_scene_pair){b, a}, number};
        }
    return SP_OK;
}

static int check_repeated(reading *r)
{
    pair *pairs = r->pairs.data;
    qsort(pairs, (size_t)r->pairs.count, sizeof *pairs, by_bodies);
    for (int64_t i = 1; i < r->pairs.count; i++)
        if (pairs[i].bodies.pointshell == pairs[i - 1].bodies.pointshell &&
            pairs[i].bodies.field == pairs[i - 1].bodies.field) {
            sp_keys_down(&r->at, "[%lld]", (long long)pairs[i].entry);
            return sp_keys_fail(&r->at, "%s and %s are a pair of pairs[%lld] already",
                                r->scene->bodies[pairs[i].bodies.pointshell].name,
                                r->scene->bodies[pairs[i].bodies.field].name, (long long)pairs[i - 1].entry);
        }
    return SP_OK;
}

static int read_pairs(reading *r, const json_t *list)
{
    sp_scene *scene = r->scene;
    const size_t json_path = sp_keys_down(&r->at, ".pairs");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_PASS(read_pair(r, json_array_get(list, i), (int64_t)i));
        sp_keys_up(&r->at, list_path);
    }

    scene->pairs_given = true;
    scene->pair_count = r->pairs.count;
    scene->pairs = sp_pool_raw(&scene->pool, r->pairs.count, sizeof *scene->pairs);
    SP_PASS(sp_allocated(r->at.context, scene->pairs));
    for (int64_t i = 0; i < r->pairs.count; i++)
        scene->pairs[i] = ((const pair *)r->pairs.data)[i].bodies;

    if (r->pairs.count > 1)
        SP_PASS(check_repeated(r));
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* ---- joints ---- */

/* The body that a joint names; `number` receives its index. */
static int find_joined(reading *r, const char *name, const char *key, int64_t *number)
{
    entry found;
    const size_t json_path = sp_keys_down(&r->at, ".%s", key);

    SP_PASS(find_bodies(r, name, &found));
    const sp_scene_body *body = &r->scene->bodies[found.first];
    const sp_scene_model *model = &r->scene->models[body->model];

    if (found.count != 1)
        return sp_keys_fail(&r->at, "%lld bodies have this name, expected one, such as %s", (long long)found.count,
                            body->name);
    if (body->motion != SP_SCENE_FREE)
        return sp_keys_fail(&r->at, "%s is not free (a joint without parent anchors a free body in the world)",
                            body->name);
    if (!model->mesh)
        return sp_keys_fail(&r->at, "model %s has no mesh, and so no interface", model->name);
    if (model->decoupled)
        return sp_keys_fail(&r->at, "model %s is decoupled, and such bodies cannot be joined", model->name);

    *number = found.first;
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int read_joint(reading *r, json_t *object, sp_scene_joint *joint)
{
    sp_scene_joint_read read = {.joint.parent = -1};
    SP_PASS(sp_keys_read(&r->at, object, &sp_scene_joint_keys, &read));
    SP_PASS(find_joined(r, read.child, "child", &read.joint.child));
    if (*read.parent)
        SP_PASS(find_joined(r, read.parent, "parent", &read.joint.parent));
    if (read.joint.parent == read.joint.child)
        return sp_keys_fail(&r->at, "both ends are %s, expected two bodies", read.child);
    *joint = read.joint;
    return SP_OK;
}

static int read_joints(reading *r, const json_t *list)
{
    sp_scene *scene = r->scene;
    const size_t json_path = sp_keys_down(&r->at, ".joints");
    scene->joint_count = (int64_t)json_array_size(list);
    scene->joints = sp_pool_new(&scene->pool, scene->joint_count, sizeof *scene->joints);
    SP_PASS(sp_allocated(r->at.context, !scene->pool.failed));

    for (int64_t i = 0; i < scene->joint_count; i++) {
        const size_t list_path = sp_keys_down(&r->at, "[%lld]", (long long)i);
        SP_PASS(read_joint(r, json_array_get(list, (size_t)i), &scene->joints[i]));
        sp_keys_up(&r->at, list_path);
    }
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

/* ---- the scene ---- */

static int check_traversal(reading *r, const json_t *object)
{
    const bool given = json_object_get(object, "cold");
    int64_t warm = r->scene->traversal.warm, *cold = &r->scene->traversal.cold;
    sp_keys_down(&r->at, ".traversal.cold");
    if (given && warm == INT64_MAX)
        return sp_keys_fail(&r->at, "it needs warm beside it, which is null");
    if (given && *cold > warm)
        return sp_keys_fail(&r->at, "%lld, expected at most warm, %lld", (long long)*cold, (long long)warm);
    if (!given && warm != INT64_MAX)
        *cold = warm - warm / 5;
    sp_keys_up(&r->at, 0);
    return SP_OK;
}

/* The times in which the clutch is held: each ends after its start, and before the next one. */
static int read_clutch(reading *r, const json_t *list)
{
    const sp_key span = {.type = SP_KEY_NUMBER, .count = 2, .unit = "s", .low = 0, .high = INFINITY};
    const size_t count = json_array_size(list), json_path = sp_keys_down(&r->at, ".coupling.clutch");
    double *time = sp_pool_raw(&r->scene->pool, (int64_t)count, 2 * sizeof *time);
    SP_PASS(sp_allocated(r->at.context, time));

    for (size_t i = 0; i < count; i++) {
        double *now = time + 2 * i;
        const size_t list_path = sp_keys_down(&r->at, "[%zu]", i);
        SP_PASS(sp_keys_numbers(&r->at, json_array_get(list, i), &span, now));
        if (!(now[1] > now[0]))
            return sp_keys_fail(&r->at, "from %.10g to %.10g s, expected the start first", now[0], now[1]);
        if (i > 0 && !(now[0] > now[-1]))
            return sp_keys_fail(&r->at, "from %.10g s, expected more than the end of the one before, %.10g s", now[0],
                                now[-1]);
        sp_keys_up(&r->at, list_path);
    }

    r->scene->coupling.clutch = time;
    r->scene->coupling.clutch_count = (int64_t)count;
    sp_keys_up(&r->at, json_path);
    return SP_OK;
}

static int check_coupling(reading *r, const json_t *object)
{
    entry found;

    sp_keys_down(&r->at, ".coupling.body");
    SP_PASS(find_bodies(r, sp_keys_word(object, "body"), &found));
    if (r->scene->bodies[found.first].motion != SP_SCENE_COUPLED)
        return sp_keys_fail(&r->at, "\"%s\" is not a body whose motion is coupled", sp_keys_word(object, "body"));
    r->scene->coupling.body = found.first;
    sp_keys_up(&r->at, 0);

    sp_keys_down(&r->at, ".coupling.saturation_depth");
    if (r->scene->coupling.saturation_depth < INFINITY && r->scene->coupling.saturation < INFINITY)
        return sp_keys_fail(&r->at, "it stands beside saturation, expected one of both");
    sp_keys_up(&r->at, 0);

    if (json_object_get(object, "clutch"))
        SP_PASS(read_clutch(r, json_object_get(object, "clutch")));
    return SP_OK;
}

static int read_scene(reading *r, json_t *root)
{
    SP_PASS(sp_keys_read(&r->at, root, &sp_scene_keys, r->scene));
    SP_PASS(check_traversal(r, json_object_get(root, "traversal")));
    SP_PASS(read_models(r, json_object_get(root, "models")));
    SP_PASS(read_bodies(r, json_object_get(root, "bodies")));

    if (json_object_get(root, "joints"))
        SP_PASS(read_joints(r, json_object_get(root, "joints")));
    SP_PASS(list_neighbours(r));
    if (json_object_get(root, "pairs"))
        SP_PASS(read_pairs(r, json_object_get(root, "pairs")));
    if (json_object_get(root, "coupling"))
        SP_PASS(check_coupling(r, json_object_get(root, "coupling")));
    return SP_OK;
}

int sp_scene_parse(sp_context *context, const char *text, int64_t count, const char *folder, sp_scene *scene)
{
    json_t *root;
    *scene = (sp_scene){0};
    int status = sp_keys_load(context, text, count, &root);
    if (status != SP_OK)
        return status;

    reading r = {.at = {.context = context, .pool = &scene->pool, .folder = folder},
                 .scene = scene,
                 .models = json_object(),
                 .bodies = json_object()};

    status = r.models && r.bodies ? read_scene(&r, root) : sp_fail_memory(context);
    sp_list_free(&r.bodies_read);
    sp_list_free(&r.entries);
    sp_list_free(&r.pairs);
    json_decref(r.models);
    json_decref(r.bodies);
    json_decref(root);

    if (status != SP_OK)
        sp_scene_free(scene);
    return status;
}

void sp_scene_free(sp_scene *scene)
{
    sp_pool_free(&scene->pool);
    *scene = (sp_scene){0};
}
