#include "formats/polynomials.h"

#include "formats/kind_tables.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST = 1 << 14,
    MOST_PARTS = 1 << 14,
    MOST_GROUPS = 1 << 14
}; /* reduced coordinates: N² doubles stay far below 2⁶³ bytes */

static const char *const constant_name[SP_CONSTANT_COUNT] = {"all", "lambda", "mu"};

/* With the masses of regions as stored in the file. */
typedef struct polynomials_file {
    sp_polynomials p;
    double *group_mass, *group_gravity;
    int64_t sums; /* in a shard */
} polynomials_file;

static int64_t order_of_gram(const void *object)
{
    return sp_polynomial_order(((const polynomials_file *)object)->p.r);
}

/* A single part is the member "gram"; several parts are numbered. */
static bool is_single(const sp_polynomials *p)
{
    return p->part_count == 1 && p->parts->constant == SP_CONSTANT_ALL && !strcmp(p->parts->group, "all");
}

static void **single_part(void *object, int64_t i)
{
    sp_polynomials *p = &((polynomials_file *)object)->p;
    return i == 0 && is_single(p) ? (void **)&p->parts->gram : NULL;
}

static void **numbered_part(void *object, int64_t i)
{
    sp_polynomials *p = &((polynomials_file *)object)->p;
    return i < p->part_count && !is_single(p) ? (void **)&p->parts[i].gram : NULL;
}

static int64_t order_of_triangle(const void *object)
{
    const int64_t N = order_of_gram(object);
    return N * (N + 1) / 2;
}

static void **sums_of_part(void *object, int64_t i)
{
    sp_polynomials *p = &((polynomials_file *)object)->p;
    return i < p->part_count ? (void **)&p->parts[i].sums : NULL;
}

static int check_groups(sp_context *context, const sp_array *array, void *object)
{
    const sp_polynomials *p = &((polynomials_file *)object)->p;
    int status = SP_OK;
    for (int64_t g = 0; g < p->group_count && status == SP_OK; g++) {
        char what[SP_MEMBER_NAME];
        snprintf(what, sizeof what, "group_mass: matrix %lld", (long long)g);
        status = sp_check_symmetric(context, what, p->r, (const double *)array->data + g * p->r * p->r);
    }
    return status;
}

#define AT(member) .at = offsetof(polynomials_file, member)
static const sp_member_rule rules[] = {
    {"mass", "r, r", SP_F8, FORTRAN, AT(p.mass), .symmetric = true, .unit = "kg", .meaning = "UᵀMU"},
    {"gravity", "r, 3", SP_F8, AT(p.gravity), .unit = "kg", .meaning = "UᵀM eₓ, UᵀM e_y, UᵀM e_z"},
    {"gram", "N, N", SP_F8, FORTRAN, WITH("parts"), .each = single_part, .symmetric = true, .unit = "J",
     .meaning = "symmetric: present if the file has a single part, of group `all` and constant `all`"},
    {"gram/B", "N, N", SP_F8, FORTRAN, WITH("parts"), .each = numbered_part, .symmetric = true, .unit = "J, m³",
     .meaning = "otherwise: `gram/000000`, `gram/000001`, …"},
    {"group_mass", "g, r, r", SP_F8, WITH("groups"), AT(group_mass), .check = check_groups, .unit = "kg",
     .meaning = "the mass of each group"},
    {"group_gravity", "g, r, 3", SP_F8, WITH("groups"), AT(group_gravity), .unit = "kg",
     .meaning = "the same for `gravity`"},
    {0}};

static const sp_member_rule sums_rules[] = {
    {"mass", "r, r", SP_F8, FORTRAN, WITH("with_mass"), AT(p.mass), .symmetric = true, .unit = "kg", .meaning = "UᵀMU"},
    {"gravity", "r, 3", SP_F8, WITH("with_mass"), AT(p.gravity), .unit = "kg", .meaning = "UᵀM eₓ, UᵀM e_y, UᵀM e_z"},
    {"sums/B", "k, T", SP_F8, .each = sums_of_part, .unit = "J, m³",
     .meaning = "`sums/000000`, …: of each part, the upper triangles of its sums by columns"},
    {"group_mass", "g, r, r", SP_F8, WITH("groups"), AT(group_mass), .check = check_groups, .unit = "kg",
     .meaning = "the mass of each group"},
    {"group_gravity", "g, r, 3", SP_F8, WITH("groups"), AT(group_gravity), .unit = "kg",
     .meaning = "the same for `gravity`"},
    {0}};
#undef AT

static const sp_fact polynomials_meta[] = {
    {"r", SP_INTEGER, .meaning = "number of coordinates"},
    {"density", SP_NUMBER, .meaning = "> 0, the factor on `mass` and `gravity`"},
    {"parts", SP_OBJECTS, .meaning = "of {`group`, `constant`, `value`}"},
    {"groups", SP_OBJECTS, .when = "optional", .meaning = "of {`group`, `density`}: the regions of `group_mass`"},
    {"mass", SP_STRING, .when = "optional",
     .meaning = "`consistent` or `lumped`: M of `mass` and `gravity`, in which the basis is orthonormal"},
    {"mesh", SP_HASH, .meaning = "of the mesh; empty if unknown"},
    {"basis", SP_HASH, .meaning = "of the basis; empty if unknown"},
    {"symmetrized", SP_BOOLEAN, .when = "optional", .meaning = "true: A is symmetric in all indices"},
    {0}};

static const sp_fact polynomials_result[] = {
    {"rows", SP_INTEGER, .when = "`polycoef`", .meaning = "of the matrix whose Gram matrix is A, over all elements"},
    {"flops", SP_NUMBER, .when = "`polycoef`",
     .meaning = "floating-point operations of the symmetric product of all of them, rows · N (N + 1)"},
    {"stiffness_deviation", SP_NUMBER, .when = "`simimport` with a mesh and a basis",
     .meaning = "of the linear part from UᵀKU, relative to the largest entry"},
    {"mass_deviation", SP_NUMBER, .when = "`simimport` of a superelement with both",
     .meaning = "of the mass from UᵀMU, relative to the largest entry"},
    {"asymmetry", SP_NUMBERS, .when = "`simimport` of VegaFEM",
     .meaning = "of the linear, quadratic and cubic tensors, relative to their largest entries"},
    {0}};

const sp_kind sp_kind_polynomials = {
    "polynomials",
    (const sp_symbol[]){{"r", .at = offsetof(polynomials_file, p.r), .given = true},
                        {"g", .at = offsetof(polynomials_file, p.group_count), .given = true},
                        {"N", .follows = order_of_gram},
                        {0}},
    rules, polynomials_meta, polynomials_result};

static const sp_fact polynomial_sums_meta[] = {
    {"first", SP_INTEGER, .meaning = "the file has the sums `first` … `end` − 1 of `total`; k = end − first"},
    {"end", SP_INTEGER, .meaning = "see `first`"},
    {"total", SP_INTEGER, .meaning = "16"},
    {"with_mass", SP_BOOLEAN, .meaning = "true if first = 0: one shard has the mass"},
    {"r", SP_INTEGER, .meaning = "as in polynomials"},
    {"density", SP_NUMBER, .meaning = "as in polynomials"},
    {"parts", SP_OBJECTS, .meaning = "as in polynomials"},
    {"mass", SP_STRING, .when = "optional", .meaning = "as in polynomials"},
    {"mesh", SP_HASH, .meaning = "as in polynomials"},
    {"basis", SP_HASH, .meaning = "as in polynomials"},
    {"symmetrized", SP_BOOLEAN, .when = "optional", .meaning = "as in polynomials"},
    {"groups", SP_OBJECTS, .when = "optional, with `with_mass`", .meaning = "as in polynomials"},
    {0}};

static const sp_fact polynomial_sums_result[] = {
    {"rows", SP_INTEGER, .meaning = "rows of the matrix whose Gram matrices the sums are"},
    {"flops", SP_NUMBER, .meaning = "floating-point operations of the symmetric product of all of them"},
    {0}};

const sp_kind sp_kind_polynomial_sums = {
    "polynomial_sums",
    (const sp_symbol[]){{"r", .at = offsetof(polynomials_file, p.r), .given = true},
                        {"g", .at = offsetof(polynomials_file, p.group_count), .given = true},
                        {"k", .at = offsetof(polynomials_file, sums), .given = true},
                        {"T", .follows = order_of_triangle},
                        {0}},
    sums_rules, polynomial_sums_meta, polynomial_sums_result};

/* ---- meta ---- */

static int part_from_json(sp_context *context, const json_t *json, sp_polynomial_part *part)
{
    const char *group, *constant;

    if (!json_is_object(json))
        return sp_fail(context, SP_INPUT, "meta: an entry of \"parts\" is not a JSON object");
    SP_PASS(sp_json_text(context, json, "group", &group));
    SP_PASS(sp_json_text(context, json, "constant", &constant));
    SP_PASS(sp_json_number(context, json, "value", &part->value));

    if (!*group || strlen(group) >= SP_NAME_LENGTH)
        return sp_fail(context, SP_INPUT, "meta: group \"%.80s\" is empty or longer than %d bytes", group,
                       SP_NAME_LENGTH - 1);
    strcpy(part->group, group);

    for (int i = 0; i < SP_CONSTANT_COUNT; i++)
        if (!strcmp(constant, constant_name[i])) {
            part->constant = (enum sp_constant)i;
            return SP_OK;
        }
    return sp_fail(context, SP_INPUT, "meta: constant \"%.40s\" is none of all, lambda, mu", constant);
    return SP_OK;
}

static int read_parts(sp_context *context, sp_file *file, sp_polynomials *polynomials)
{
    const json_t *list = json_object_get(file->meta, "parts");
    int64_t count = json_is_array(list) ? (int64_t)json_array_size(list) : 0;

    if (count < 1 || count > MOST_PARTS)
        return sp_fail(context, SP_INPUT, "meta: \"parts\" is missing, empty or too long");

    polynomials->part_count = count;
    polynomials->parts = sp_pool_new(&file->members.pool, count, sizeof *polynomials->parts);
    SP_PASS(sp_allocated(context, polynomials->parts));

    for (int64_t i = 0; i < count; i++) {
        sp_polynomial_part *part = &polynomials->parts[i];
        SP_PASS(part_from_json(context, json_array_get(list, (size_t)i), part));
        for (int64_t j = 0; j < i; j++)
            if (part->constant == polynomials->parts[j].constant && !strcmp(part->group, polynomials->parts[j].group))
                return sp_fail(context, SP_INPUT, "meta: the part of group %s, constant %s occurs twice", part->group,
                               constant_name[part->constant]);
    }
    return SP_OK;
}

static int group_from_json(sp_context *context, const json_t *json, sp_polynomial_group *group)
{
    const char *name;
    if (!json_is_object(json))
        return sp_fail(context, SP_INPUT, "meta: an entry of \"groups\" is not a JSON object");
    SP_PASS(sp_json_text(context, json, "group", &name));
    SP_PASS(sp_json_number(context, json, "density", &group->density));
    if (!*name || strlen(name) >= SP_NAME_LENGTH)
        return sp_fail(context, SP_INPUT, "meta: group \"%.80s\" is empty or longer than %d bytes", name,
                       SP_NAME_LENGTH - 1);
    if (!(group->density > 0))
        return sp_fail(context, SP_INPUT, "meta: the density of group %s is %g, expected kg/m3 above 0", name,
                       group->density);
    strcpy(group->name, name);
    return SP_OK;
}

/* Reads the separate masses of regions, if the file has them. */
static int read_groups(sp_context *context, sp_file *file, sp_polynomials *polynomials)
{
    const json_t *list = json_object_get(file->meta, "groups");
    int64_t count = json_is_array(list) ? (int64_t)json_array_size(list) : 0;

    if (!list)
        return SP_OK;

    if (count < 1 || count > MOST_GROUPS)
        return sp_fail(context, SP_INPUT, "meta: \"groups\" is no array, empty or too long");
    polynomials->groups = sp_pool_new(&file->members.pool, count, sizeof *polynomials->groups);
    SP_PASS(sp_allocated(context, polynomials->groups));

    for (int64_t g = 0; g < count; g++) {
        sp_polynomial_group *group = &polynomials->groups[g];
        SP_PASS(group_from_json(context, json_array_get(list, (size_t)g), group));
        for (int64_t k = 0; k < g; k++)
            if (!strcmp(group->name, polynomials->groups[k].name))
                return sp_fail(context, SP_INPUT, "meta: group %s occurs twice in \"groups\"", group->name);
    }
    polynomials->group_count = count;
    return SP_OK;
}

/* What a file of polynomials and one of their shard have in common. */
static int read_file(sp_context *context, sp_file *file, const sp_kind *kind, polynomials_file *in, char *mesh,
                     char *basis)
{
    sp_polynomials *p = &in->p;
    if (strcmp(sp_file_kind(file), kind->name))
        return sp_fail(context, SP_INPUT, "it is %s%.40s, expected %s",
                       file->meta ? "a file of kind " : "not a file of Supple", sp_file_kind(file), kind->name);

    SP_PASS(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_PASS(sp_json_hash(context, file->meta, "basis", basis));
    SP_PASS(sp_json_integer(context, file->meta, "r", 1, MOST, &p->r));
    SP_PASS(sp_json_number(context, file->meta, "density", &p->density));
    SP_PASS(sp_json_mass(context, file->meta, false, &p->lumped));
    if (!(p->density > 0))
        return sp_fail(context, SP_INPUT, "meta: \"density\" is %g, expected a factor above 0", p->density);

    const json_t *symmetrized = json_object_get(file->meta, "symmetrized");
    if (symmetrized && !json_is_boolean(symmetrized))
        return sp_fail(context, SP_INPUT, "meta: \"symmetrized\" is neither true nor false");
    p->symmetrized = json_is_true(symmetrized);

    SP_PASS(read_parts(context, file, p));
    SP_PASS(read_groups(context, file, p));
    SP_PASS(sp_kind_read(context, file, kind, in));

    /* One member holds the matrices of all groups: mass [groups, r, r] and gravity [groups, 3, r]. */
    for (int64_t g = 0; g < p->group_count; g++) {
        p->groups[g].mass = in->group_mass + g * p->r * p->r;
        p->groups[g].gravity = in->group_gravity + g * 3 * p->r;
    }

    p->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_polynomials_read(sp_context *context, sp_file *file, sp_polynomials *polynomials, char *mesh, char *basis)
{
    polynomials_file in = {0};
    int status = read_file(context, file, &sp_kind_polynomials, &in, mesh, basis);
    *polynomials = status == SP_OK ? in.p : (sp_polynomials){0};
    return status;
}

int sp_polynomial_sums_read(sp_context *context, sp_file *file, sp_polynomials *shard, char *mesh, char *basis)
{
    polynomials_file in = {0};
    int64_t first, end;
    *shard = (sp_polynomials){0};
    SP_PASS(sp_json_integer(context, file->meta, "first", 0, SP_POLYNOMIAL_SUMS - 1, &first));
    SP_PASS(sp_json_integer(context, file->meta, "end", first + 1, SP_POLYNOMIAL_SUMS, &end));
    SP_PASS(sp_json_integer(context, file->meta, "total", SP_POLYNOMIAL_SUMS, SP_POLYNOMIAL_SUMS, &in.sums));
    in.sums = end - first;
    if (json_is_true(json_object_get(file->meta, "with_mass")) != (first == 0) ||
        (first > 0 && json_object_get(file->meta, "groups")))
        return sp_fail(context, SP_INPUT, "meta: the shard with the first sum has the mass, and no other");
    SP_PASS(read_file(context, file, &sp_kind_polynomial_sums, &in, mesh, basis));
    *shard = in.p;
    shard->first_sum = (int)first;
    shard->end_sum = (int)end;
    return SP_OK;
}

static json_t *parts_to_json(const sp_polynomials *polynomials)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < polynomials->part_count; i++) {
        const sp_polynomial_part *part = &polynomials->parts[i];
        if (json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "group", part->group, "constant",
                                                  constant_name[part->constant], "value", part->value))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int write_file(sp_context *context, sp_writer *writer, json_t *meta, const sp_kind *kind,
                      const sp_polynomials *polynomials)
{
    const int64_t r = polynomials->r, groups = polynomials->group_count;
    sp_pool scratch = {0};
    polynomials_file out = {*polynomials, sp_pool_raw(&scratch, groups * r * r, sizeof *out.group_mass),
                            sp_pool_raw(&scratch, groups * 3 * r, sizeof *out.group_gravity),
                            polynomials->end_sum - polynomials->first_sum};

    bool failed = json_object_set_new(meta, "r", json_integer(r)) ||
                  json_object_set_new(meta, "density", json_real(polynomials->density));
    failed |= json_object_set_new(meta, "parts", parts_to_json(polynomials)) != 0;
    failed |= sp_json_set_mass(meta, polynomials->lumped);
    if (polynomials->symmetrized)
        failed |= json_object_set_new(meta, "symmetrized", json_true()) != 0;

    json_t *list = groups ? json_array() : NULL;
    const int64_t listed = scratch.failed ? 0 : groups;
    for (int64_t g = 0; g < listed; g++) {
        const sp_polynomial_group *group = &polynomials->groups[g];
        failed |=
            json_array_append_new(list, json_pack("{s:s, s:f}", "group", group->name, "density", group->density)) != 0;
        memcpy(out.group_mass + g * r * r, group->mass, (size_t)(r * r) * sizeof *group->mass);
        memcpy(out.group_gravity + g * 3 * r, group->gravity, (size_t)(3 * r) * sizeof *group->gravity);
    }

    if (list)
        failed |= json_object_set_new(meta, "groups", list) != 0;

    int status = failed || scratch.failed ? sp_fail_memory(context) : sp_kind_write(context, writer, kind, meta, &out);
    sp_pool_free(&scratch);
    return status;
}

int sp_polynomials_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_polynomials *polynomials)
{
    return write_file(context, writer, meta, &sp_kind_polynomials, polynomials);
}

int sp_polynomial_sums_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_polynomials *shard)
{
    if (json_object_set_new(meta, "first", json_integer(shard->first_sum)) ||
        json_object_set_new(meta, "end", json_integer(shard->end_sum)) ||
        json_object_set_new(meta, "total", json_integer(SP_POLYNOMIAL_SUMS)) ||
        json_object_set_new(meta, "with_mass", json_boolean(shard->first_sum == 0)))
        return sp_fail_memory(context);
    return write_file(context, writer, meta, &sp_kind_polynomial_sums, shard);
}
