#include "formats/cubature.h"

#include <string.h>

enum { MOST = 1 << 14 }; /* reduced coordinates */
static const double MOST_POSES = 1e9;

static int read_head(sp_context *context, const sp_file *file, const char *kind, int64_t *r, char *mesh, char *basis)
{
    int status;
    if (strcmp(sp_file_kind(file), kind))
        return sp_fail(context, SP_INPUT, "it is %s%.40s, expected %s",
                       file->meta ? "a file of kind " : "not a file of Supple", sp_file_kind(file), kind);
    SP_TRY(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_TRY(sp_json_hash(context, file->meta, "basis", basis));
    SP_TRY(sp_json_integer(context, file->meta, "r", 1, MOST, r));
done:
    return status;
}

/* (n), or (n, r) where the weights differ by coordinate. */
static int take_weights(sp_context *context, sp_file *file, const char *name, const sp_cubature *cubature,
                        double **weight)
{
    sp_array *array;
    int status = sp_members_take(context, &file->members, name, SP_F8, true, cubature->modal ? 2 : 1,
                                 (int64_t[]){cubature->count, cubature->r}, &array);
    if (status == SP_OK)
        *weight = array->data;
    return status;
}

int sp_cubature_read(sp_context *context, sp_file *file, int64_t elements, sp_cubature *cubature, char *mesh,
                     char *basis)
{
    sp_array *array;
    int status;
    *cubature = (sp_cubature){0};
    SP_TRY(read_head(context, file, "cubature", &cubature->r, mesh, basis));
    SP_TRY(sp_json_mass(context, file->meta, false, &cubature->lumped));
    SP_TRY(sp_members_take(context, &file->members, "element", SP_I8, false, 1, (int64_t[]){-1}, &array));
    cubature->element = array->data;
    cubature->count = array->shape[0];
    const sp_array *weight = sp_members_find(&file->members, "weight");
    cubature->modal = weight && weight->rank == 2;
    SP_TRY(take_weights(context, file, "weight", cubature, &cubature->weight));
    if (sp_members_find(&file->members, "nested"))
        SP_TRY(take_weights(context, file, "nested", cubature, &cubature->nested));
    if (sp_members_find(&file->members, "stiffness"))
        SP_TRY(sp_members_take_symmetric(context, &file->members, "stiffness", cubature->r, &cubature->stiffness));
    SP_TRY(sp_members_take_symmetric(context, &file->members, "mass", cubature->r, &cubature->mass));
    SP_TRY(sp_members_take(context, &file->members, "gravity", SP_F8, false, 2, (int64_t[]){cubature->r, 3}, &array));
    cubature->gravity = array->data;
    SP_TRY(sp_cubature_check(context, cubature, elements < 0 ? INT64_MAX : elements));
    cubature->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *cubature = (sp_cubature){0};
    return status;
}

int sp_cubature_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_cubature *cubature)
{
    int64_t r = cubature->r, n = cubature->count;
    int rank = cubature->modal ? 2 : 1, status;
    if (json_object_set_new(meta, "r", json_integer(r)) || sp_json_set_mass(meta, cubature->lumped))
        return sp_fail_memory(context);
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_array(writer, "element", SP_I8, false, 1, &n, cubature->element));
    SP_TRY(sp_writer_numbers(writer, "weight", true, rank, (int64_t[]){n, r}, cubature->weight));
    if (cubature->nested)
        SP_TRY(sp_writer_numbers(writer, "nested", true, rank, (int64_t[]){n, r}, cubature->nested));
    if (cubature->stiffness)
        SP_TRY(sp_writer_numbers(writer, "stiffness", true, 2, (int64_t[]){r, r}, cubature->stiffness));
    SP_TRY(sp_writer_numbers(writer, "mass", true, 2, (int64_t[]){r, r}, cubature->mass));
    SP_TRY(sp_writer_numbers(writer, "gravity", false, 2, (int64_t[]){r, 3}, cubature->gravity));
done:
    return status;
}

int sp_training_read(sp_context *context, sp_file *file, sp_poses *poses, int64_t *first, int64_t *total, char *mesh,
                     char *basis)
{
    sp_array *array;
    int status;
    *poses = (sp_poses){0};
    SP_TRY(read_head(context, file, "training", &poses->r, mesh, basis));
    SP_TRY(sp_json_integer(context, file->meta, "first", 0, (int64_t)MOST_POSES, first));
    SP_TRY(sp_json_integer(context, file->meta, "total", 1, (int64_t)MOST_POSES, total));
    SP_TRY(sp_members_take(context, &file->members, "q", SP_F8, true, 2, (int64_t[]){poses->r, -1}, &array));
    poses->q = array->data;
    poses->count = array->shape[1];
    SP_TRY(
        sp_members_take(context, &file->members, "force", SP_F8, true, 2, (int64_t[]){poses->r, poses->count}, &array));
    poses->force = array->data;
    if (poses->count < 1 || poses->count > *total - *first) {
        status = sp_fail(context, SP_INPUT, "it has %lld poses from number %lld on, of %lld", (long long)poses->count,
                         (long long)*first, (long long)*total);
        goto done;
    }
    poses->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *poses = (sp_poses){0};
    return status;
}

int sp_training_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_poses *poses, int64_t first,
                      int64_t total)
{
    int64_t shape[2] = {poses->r, poses->count};
    int status;
    if (json_object_set_new(meta, "r", json_integer(poses->r)) ||
        json_object_set_new(meta, "first", json_integer(first)) ||
        json_object_set_new(meta, "total", json_integer(total)))
        return sp_fail_memory(context);
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_numbers(writer, "q", true, 2, shape, poses->q));
    SP_TRY(sp_writer_numbers(writer, "force", true, 2, shape, poses->force));
done:
    return status;
}
