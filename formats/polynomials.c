#include "formats/polynomials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST = 1 << 14,
    MOST_PARTS = 1 << 14,
    MOST_GROUPS = 1 << 14
}; /* reduced coordinates: N² doubles stay far below 2⁶³ bytes */

static const char *const constant_name[SP_CONSTANT_COUNT] = {"all", "lambda", "mu"};

/* "gram" alone, or numbered in the order of meta's parts. */
static void part_member(const sp_polynomials *polynomials, int64_t part, char name[SP_MEMBER_NAME])
{
    const sp_polynomial_part *first = polynomials->parts;
    if (polynomials->part_count == 1 && first->constant == SP_CONSTANT_ALL && !strcmp(first->group, "all"))
        strcpy(name, "gram");
    else
        snprintf(name, SP_MEMBER_NAME, "gram/%06lld", (long long)part);
}

static int part_from_json(sp_context *context, const json_t *json, sp_polynomial_part *part)
{
    const char *group, *constant;
    int status;
    if (!json_is_object(json))
        return sp_fail(context, SP_INPUT, "meta: an entry of \"parts\" is not a JSON object");
    SP_TRY(sp_json_text(context, json, "group", &group));
    SP_TRY(sp_json_text(context, json, "constant", &constant));
    SP_TRY(sp_json_number(context, json, "value", &part->value));
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
done:
    return status;
}

static int read_parts(sp_context *context, sp_file *file, sp_polynomials *polynomials)
{
    const json_t *list = json_object_get(file->meta, "parts");
    int64_t count = json_is_array(list) ? (int64_t)json_array_size(list) : 0;
    int status = SP_OK;
    if (count < 1 || count > MOST_PARTS)
        return sp_fail(context, SP_INPUT, "meta: \"parts\" is missing, empty or too long");
    polynomials->part_count = count;
    polynomials->parts = sp_pool_new(&file->members.pool, count, sizeof *polynomials->parts);
    if (!polynomials->parts)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < count; i++) {
        sp_polynomial_part *part = &polynomials->parts[i];
        SP_TRY(part_from_json(context, json_array_get(list, (size_t)i), part));
        for (int64_t j = 0; j < i; j++)
            if (part->constant == polynomials->parts[j].constant && !strcmp(part->group, polynomials->parts[j].group))
                return sp_fail(context, SP_INPUT, "meta: the part of group %s, constant %s stands twice", part->group,
                               constant_name[part->constant]);
    }
    for (int64_t i = 0; i < count; i++) {
        char name[SP_MEMBER_NAME];
        part_member(polynomials, i, name);
        SP_TRY(sp_members_take_symmetric(context, &file->members, name, sp_polynomial_order(polynomials->r),
                                         &polynomials->parts[i].gram));
    }
done:
    return status;
}

static int group_from_json(sp_context *context, const json_t *json, sp_polynomial_group *group)
{
    const char *name;
    int status;
    if (!json_is_object(json))
        return sp_fail(context, SP_INPUT, "meta: an entry of \"groups\" is not a JSON object");
    SP_TRY(sp_json_text(context, json, "group", &name));
    SP_TRY(sp_json_number(context, json, "density", &group->density));
    if (!*name || strlen(name) >= SP_NAME_LENGTH)
        return sp_fail(context, SP_INPUT, "meta: group \"%.80s\" is empty or longer than %d bytes", name,
                       SP_NAME_LENGTH - 1);
    if (!(group->density > 0))
        return sp_fail(context, SP_INPUT, "meta: the density of group %s is %g, expected kg/m3 above 0", name,
                       group->density);
    strcpy(group->name, name);
done:
    return status;
}

/* The masses of the regions, where the file has them. */
static int read_groups(sp_context *context, sp_file *file, sp_polynomials *polynomials)
{
    const json_t *list = json_object_get(file->meta, "groups");
    int64_t count = json_is_array(list) ? (int64_t)json_array_size(list) : 0, r = polynomials->r;
    sp_array *mass, *gravity;
    int status = SP_OK;
    if (!list)
        return SP_OK;
    if (count < 1 || count > MOST_GROUPS)
        return sp_fail(context, SP_INPUT, "meta: \"groups\" is no array, empty or too long");
    SP_TRY(sp_members_take(context, &file->members, "group_mass", SP_F8, false, 3, (int64_t[]){count, r, r}, &mass));
    SP_TRY(
        sp_members_take(context, &file->members, "group_gravity", SP_F8, false, 3, (int64_t[]){count, r, 3}, &gravity));
    polynomials->groups = sp_pool_new(&file->members.pool, count, sizeof *polynomials->groups);
    if (!polynomials->groups)
        return sp_fail_memory(context);
    for (int64_t g = 0; g < count; g++) {
        sp_polynomial_group *group = &polynomials->groups[g];
        char what[SP_MEMBER_NAME];
        SP_TRY(group_from_json(context, json_array_get(list, (size_t)g), group));
        for (int64_t k = 0; k < g; k++)
            if (!strcmp(group->name, polynomials->groups[k].name))
                return sp_fail(context, SP_INPUT, "meta: group %s stands twice in \"groups\"", group->name);
        group->mass = (double *)mass->data + g * r * r;
        group->gravity = (double *)gravity->data + g * 3 * r;
        snprintf(what, sizeof what, "group_mass: matrix %lld", (long long)g);
        SP_TRY(sp_check_symmetric(context, what, r, group->mass));
    }
    polynomials->group_count = count;
done:
    return status;
}

int sp_polynomials_read(sp_context *context, sp_file *file, sp_polynomials *polynomials, char *mesh, char *basis)
{
    sp_array *array;
    int status;
    *polynomials = (sp_polynomials){0};
    if (strcmp(sp_file_kind(file), "polynomials"))
        return sp_fail(context, SP_INPUT, "it is %s%.40s, expected polynomials",
                       file->meta ? "a file of kind " : "not a file of Supple", sp_file_kind(file));
    SP_TRY(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_TRY(sp_json_hash(context, file->meta, "basis", basis));
    SP_TRY(sp_json_integer(context, file->meta, "r", 1, MOST, &polynomials->r));
    SP_TRY(sp_json_number(context, file->meta, "density", &polynomials->density));
    SP_TRY(sp_json_mass(context, file->meta, false, &polynomials->lumped));
    if (!(polynomials->density > 0)) {
        status = sp_fail(context, SP_INPUT, "meta: \"density\" is %g, expected a factor above 0", polynomials->density);
        goto done;
    }
    SP_TRY(sp_members_take_symmetric(context, &file->members, "mass", polynomials->r, &polynomials->mass));
    SP_TRY(
        sp_members_take(context, &file->members, "gravity", SP_F8, false, 2, (int64_t[]){polynomials->r, 3}, &array));
    polynomials->gravity = array->data;
    SP_TRY(read_parts(context, file, polynomials));
    SP_TRY(read_groups(context, file, polynomials));
    const json_t *symmetrized = json_object_get(file->meta, "symmetrized");
    if (symmetrized && !json_is_boolean(symmetrized)) {
        status = sp_fail(context, SP_INPUT, "meta: \"symmetrized\" is neither true nor false");
        goto done;
    }
    polynomials->symmetrized = json_is_true(symmetrized);
    polynomials->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *polynomials = (sp_polynomials){0};
    return status;
}

static int write_groups(sp_context *context, sp_writer *writer, const sp_polynomials *polynomials)
{
    int64_t r = polynomials->r, count = polynomials->group_count;
    sp_pool scratch = {0};
    double *mass = sp_pool_raw(&scratch, count * r * r, sizeof *mass),
           *gravity = sp_pool_raw(&scratch, count * 3 * r, sizeof *gravity);
    int status = SP_OK;
    if (scratch.failed)
        status = sp_fail_memory(context);
    for (int64_t g = 0; status == SP_OK && g < count; g++) {
        memcpy(mass + g * r * r, polynomials->groups[g].mass, (size_t)(r * r) * sizeof *mass);
        memcpy(gravity + g * 3 * r, polynomials->groups[g].gravity, (size_t)(3 * r) * sizeof *gravity);
    }
    if (status == SP_OK)
        status = sp_writer_numbers(writer, "group_mass", false, 3, (int64_t[]){count, r, r}, mass);
    if (status == SP_OK)
        status = sp_writer_numbers(writer, "group_gravity", false, 3, (int64_t[]){count, r, 3}, gravity);
    sp_pool_free(&scratch);
    return status;
}

int sp_polynomials_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_polynomials *polynomials)
{
    int64_t r = polynomials->r, order = sp_polynomial_order(r);
    json_t *list = json_array();
    bool failed = json_object_set_new(meta, "r", json_integer(r)) ||
                  json_object_set_new(meta, "density", json_real(polynomials->density));
    for (int64_t i = 0; i < polynomials->part_count; i++) {
        const sp_polynomial_part *part = &polynomials->parts[i];
        failed |= json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "group", part->group, "constant",
                                                        constant_name[part->constant], "value", part->value)) != 0;
    }
    failed |= json_object_set_new(meta, "parts", list) != 0;
    failed |= sp_json_set_mass(meta, polynomials->lumped);
    if (polynomials->symmetrized)
        failed |= json_object_set_new(meta, "symmetrized", json_true()) != 0;
    list = polynomials->group_count ? json_array() : NULL;
    for (int64_t g = 0; g < polynomials->group_count; g++)
        failed |= json_array_append_new(list, json_pack("{s:s, s:f}", "group", polynomials->groups[g].name, "density",
                                                        polynomials->groups[g].density)) != 0;
    if (list)
        failed |= json_object_set_new(meta, "groups", list) != 0;
    if (failed)
        return sp_fail_memory(context);
    int status;
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_numbers(writer, "mass", true, 2, (int64_t[]){r, r}, polynomials->mass));
    SP_TRY(sp_writer_numbers(writer, "gravity", false, 2, (int64_t[]){r, 3}, polynomials->gravity));
    for (int64_t i = 0; i < polynomials->part_count; i++) {
        char name[SP_MEMBER_NAME];
        part_member(polynomials, i, name);
        SP_TRY(sp_writer_numbers(writer, name, true, 2, (int64_t[]){order, order}, polynomials->parts[i].gram));
    }
    if (polynomials->group_count)
        SP_TRY(write_groups(context, writer, polynomials));
done:
    return status;
}
