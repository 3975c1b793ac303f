/* Feeds bytes to the reader of the container and to the reader of every kind of file. */
#include "formats/columns.h"
#include "formats/mesh.h"
#include "formats/polynomials.h"
#include "formats/sparse.h"
#include "formats/trajectory.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int descriptor = -1;

static void rewind_file(void)
{
    if (lseek(descriptor, 0, SEEK_SET) != 0)
        abort();
}

/* Reads anew, because readers take the arrays out of the file. */
static bool open_file(sp_context *context, bool partial, sp_file *file)
{
    rewind_file();
    return sp_file_read(context, descriptor, NULL, true, partial, file) == SP_OK;
}

static void read_kinds(sp_context *context)
{
    sp_file file;
    sp_columns columns;
    sp_sparse matrix;
    sp_polynomials polynomials;
    sp_mesh mesh;
    int64_t *dof;
    char which[8], hash[2][SP_HASH_LENGTH];
    if (open_file(context, true, &file))
        sp_file_free(&file);
    if (!open_file(context, false, &file))
        return;
    if (sp_columns_read(context, &file, -1, &columns) == SP_OK)
        sp_columns_free(&columns);
    sp_file_free(&file);
    if (open_file(context, false, &file)) {
        if (sp_sparse_read(context, &file, &matrix, &dof, which) == SP_OK)
            sp_sparse_free(&matrix);
        sp_file_free(&file);
    }
    if (open_file(context, false, &file)) {
        if (sp_polynomials_read(context, &file, &polynomials, hash[0], hash[1]) == SP_OK)
            sp_polynomials_free(&polynomials);
        sp_file_free(&file);
    }
    if (open_file(context, false, &file)) {
        if (sp_mesh_read(context, &file, &mesh) == SP_OK)
            sp_mesh_free(&mesh);
        sp_file_free(&file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_context context = sp_context_default();
    if (descriptor < 0)
        descriptor = memfd_create("fuzz", 0);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0)
        abort();
    rewind_file();
    for (size_t at = 0; at < size;) {
        ssize_t wrote = write(descriptor, data + at, size - at);
        if (wrote <= 0)
            abort();
        at += (size_t)wrote;
    }
    read_kinds(&context);
    for (int partial = 0; partial < 2; partial++) {
        sp_trajectory trajectory;
        rewind_file();
        if (sp_trajectory_read(&context, descriptor, partial, &trajectory) == SP_OK)
            sp_trajectory_free(&trajectory);
    }
    return 0;
}
