/* The files that are certified: reading them with their hash, and finding those that they refer to. */
#include "assembly/elastic.h"
#include "formats/mesh.h"
#include "formats/plain.h"
#include "formats/sparse.h"
#include "tools/common/trajectory.h"
#include "tools/verify/verify.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* ---- lines ---- */

SP_PRINTF(5, 0)
static void print_line(verify *v, const char *word, const artefact *file, const char *name, const char *format,
                       va_list arguments)
{
    char line[6000];
    int length = snprintf(line, sizeof line, "%-4s %.4100s %.200s: ", word, file->path, name);
    vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
    sp_print_plain(line, v->stream);
    putc('\n', v->stream);
}

void verify_fact(verify *v, const artefact *file, const char *name, bool ok, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(v, ok ? "ok" : "FAIL", file, name, format, arguments);
    va_end(arguments);
    v->passed += ok;
    v->failed += !ok;
}

void verify_number(verify *v, const artefact *file, const char *name, double measured, double limit)
{
    verify_fact(v, file, name, measured <= limit, "%.2e (%.1e)", measured, limit);
}

void verify_skip(verify *v, const artefact *file, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(v, "skip", file, name, format, arguments);
    va_end(arguments);
    v->skipped++;
}

void verify_note(verify *v, const artefact *file, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(v, "note", file, name, format, arguments);
    va_end(arguments);
}

/* ---- reading ---- */

static bool wants_text(void *data, const char *name)
{
    (void)data;
    return !strcmp(name, "meta") || !strcmp(name, "result");
}

/* Passes over all members, which checks each CRC and hashes them. */
static int read_hash(sp_context *context, artefact *file)
{
    sp_reader *reader = NULL;
    sp_pool pool = {0};
    bool first = true;
    int status;

    SP_TRY(sp_reader_open(context, file->descriptor, false, &reader));
    for (;; first = false) {
        sp_array array;
        SP_TRY(sp_reader_next(reader, &pool, wants_text, NULL, &array));
        if (!array.name[0])
            break;
        if (first && !strcmp(array.name, "meta"))
            SP_TRY(sp_json_from_member(context, &array, &file->meta));
        else if (file->meta && !file->result && !strcmp(array.name, "result"))
            SP_TRY(sp_json_from_member(context, &array, &file->result));
    }

    sp_reader_hash(reader, file->hash);
    if (file->result)
        SP_TRY(sp_json_hash(context, file->result, "sha256", file->stated));
    if (file->meta) {
        SP_TRY(sp_json_hash(context, file->meta, "mesh", file->mesh_hash));
        SP_TRY(sp_json_hash(context, file->meta, "basis", file->basis_hash));
    }
done:
    sp_reader_close(reader);
    sp_pool_free(&pool);
    return status;
}

static int read_content(sp_context *context, artefact *file)
{
    sp_file content;
    char which[8], mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];

    int status = sp_file_read(context, file->descriptor, NULL, true, false, &content);
    if (status != SP_OK)
        return status;

    const char *kind = file->kind;
    if (!strcmp(kind, "mesh")) {
        status = sp_mesh_read_origin(context, &content, &content.members.pool, file->cut_from, &file->origin_count,
                                     &file->origin);
        if (status == SP_OK)
            status = sp_mesh_read(context, &content, &file->mesh);
    } else if (!strcmp(kind, "sparse"))
        status = sp_sparse_read(context, &content, &file->matrix, &file->dof, which);
    else if (!strcmp(kind, "polynomials"))
        status = sp_polynomials_read(context, &content, &file->polynomials, mesh, basis);
    else if (!strcmp(kind, "polynomial_sums"))
        status = sp_polynomial_sums_read(context, &content, &file->polynomials, mesh, basis);
    else if (!strcmp(kind, "cubature"))
        status = sp_cubature_read(context, &content, -1, &file->cubature, mesh, basis);
    else if (!strcmp(kind, "certificate"))
        status = sp_certificate_read(context, &content, -1, &file->certificate, mesh, basis);
    else if (!strcmp(kind, "curve"))
        status = sp_curve_read(context, &content, &file->curve);
    else if (!strcmp(kind, "training"))
        status = sp_training_read(context, &content, &file->poses, &file->first, &file->total, mesh, basis);
    else if (!strcmp(kind, "modes") || !strcmp(kind, "derivatives") || !strcmp(kind, "basis") ||
             !strcmp(kind, "snapshots"))
        status = sp_columns_read(context, &content, -1, &file->columns);
    else if (!strcmp(kind, "field"))
        status = sp_field_read(context, &content, &file->field);
    else if (!strcmp(kind, "pointshell"))
        status = sp_pointshell_read(context, &content, &file->pointshell);
    else if (!strcmp(kind, "domains"))
        status = sp_domains_read(context, &content, &file->domains, mesh);
    else if (!strcmp(kind, "skin"))
        status = sp_skin_read(context, &content, &file->skin);

    sp_file_free(&content);
    return status;
}

static void rewind_file(const artefact *file, off_t start)
{
    if (lseek(file->descriptor, start, SEEK_SET) < 0)
        tool_fail(SP_SYSTEM, file->path, "cannot be read twice");
}

void verify_read(verify *v, const char *path, const char *option, artefact *file)
{
    *file = (artefact){.path = path, .option = option};
    tool_peek_any_kind(v->context, path, file->kind); /* a pipe can be read again afterwards */
    file->descriptor = tool_open_input(path);

    const off_t start = lseek(file->descriptor, 0, SEEK_CUR);
    file->start = (int64_t)start;
    if (start < 0)
        tool_fail(SP_INPUT, path, "it is a pipe, which cannot be read twice; give it as standard input (-)");

    tool_check(read_hash(v->context, file), path);
    rewind_file(file, start);
    if (!strcmp(file->kind, "trajectory") || !strcmp(file->kind, "scene_trajectory") || !strcmp(file->kind, "ensemble"))
        return; /* its check reads it */

    tool_check(read_content(v->context, file), path);
    tool_close_input(file->descriptor);
    file->descriptor = -1;
}

void verify_free(artefact *file)
{
    if (file->descriptor >= 0)
        tool_close_input(file->descriptor);

    if (file->body_tried && file->body_status == SP_OK) {
        sp_sparse_free(&file->stiffness);
        sp_fe_space_free(&file->body);
    }

    sp_mesh_free(&file->mesh);
    sp_columns_free(&file->columns);
    sp_polynomials_free(&file->polynomials);
    sp_field_free(&file->field);
    sp_cubature_free(&file->cubature);
    sp_certificate_free(&file->certificate);
    sp_curve_file_free(&file->curve);
    sp_poses_free(&file->poses);
    sp_pointshell_free(&file->pointshell);
    sp_domains_free(&file->domains);
    sp_skin_free(&file->skin.skin);
    sp_sparse_free(&file->matrix);

    json_decref(file->meta);
    json_decref(file->result);
}

/* ---- finding ---- */

artefact *verify_find(const verify *v, const char *hash)
{
    if (hash && *hash)
        for (int64_t i = 0; i < v->count; i++)
            if (!strcmp(v->files[i].hash, hash))
                return &v->files[i];
    return NULL;
}

artefact *verify_input(const verify *v, const artefact *file, const char *kind, const char *option)
{
    size_t i;
    json_t *input;
    json_array_foreach(json_object_get(file->meta, "inputs"), i, input)
    {
        const char *by = json_string_value(json_object_get(input, "option"));
        artefact *found = verify_find(v, json_string_value(json_object_get(input, "sha256")));
        if (found && !strcmp(found->kind, kind) && (!option || (by && !strcmp(by, option))))
            return found;
    }
    return NULL;
}

static int make_body(sp_context *context, artefact *file)
{
    int status = sp_fe_space_new_prescribed(context, &file->mesh, &file->body);
    if (status != SP_OK)
        return status;
    status = sp_elastic_stiffness(context, &file->body, &file->stiffness);
    if (status != SP_OK)
        sp_fe_space_free(&file->body);
    return status;
}

/* The mesh that a file without a recorded hash must mean: the only one. */
static artefact *only_mesh(const verify *v)
{
    artefact *found = NULL;
    for (int64_t i = 0; i < v->count; i++)
        if (!strcmp(v->files[i].kind, "mesh")) {
            if (found)
                return NULL;
            found = &v->files[i];
        }
    return found;
}

artefact *verify_mesh(verify *v, artefact *file, const char *checks, bool with_body)
{
    artefact *mesh = *file->mesh_hash ? verify_find(v, file->mesh_hash) : only_mesh(v);
    if (!mesh || strcmp(mesh->kind, "mesh")) {
        if (*file->mesh_hash)
            verify_skip(v, file, checks, "its mesh is not among the files (%.12s)", file->mesh_hash);
        else
            verify_skip(v, file, checks, "it records no mesh");
        return NULL;
    }

    if (!with_body)
        return mesh;
    if (!mesh->body_tried) {
        mesh->body_tried = true;
        mesh->body_status = make_body(v->context, mesh);
        snprintf(mesh->body_message, sizeof mesh->body_message, "%.299s", v->context->message);
    }

    if (mesh->body_status == SP_SYSTEM)
        tool_fail(SP_SYSTEM, mesh->path, "%s", mesh->body_message);
    if (mesh->body_status != SP_OK) {
        verify_skip(v, file, checks, "%s", mesh->body_message);
        return NULL;
    }
    return mesh;
}
