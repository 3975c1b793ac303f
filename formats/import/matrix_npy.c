#include "formats/import/matrix_internal.h"
#include "formats/npy.h"

#include <string.h>

/* Converts C order to Fortran order, in square tiles, so that both sides stay in the cache. */
static void transpose(int64_t rows, int64_t columns, const double *from, double *to)
{
    enum { SIDE = 32 };
    for (int64_t i0 = 0; i0 < rows; i0 += SIDE)
        for (int64_t j0 = 0; j0 < columns; j0 += SIDE)
            for (int64_t i = i0; i < i0 + SIDE && i < rows; i++)
                for (int64_t j = j0; j < j0 + SIDE && j < columns; j++)
                    to[j * rows + i] = from[i * columns + j];
}

/* Finds the begin and end of the dictionary; in version 2 its length has four bytes instead of two. */
static int find_dictionary(sp_context *context, const char *bytes, int64_t count, int64_t *begin, int64_t *end)
{
    if (count < 10 || memcmp(bytes, "\x93NUMPY", 6))
        return sp_fail(context, SP_INPUT, "it is no .npy file");

    int version = (unsigned char)bytes[6];
    if ((version != 1 && version != 2) || bytes[7] || (version == 2 && count < 12))
        return sp_fail(context, SP_INPUT, "it is an .npy file of version %d.%d, known are 1.0 and 2.0", version,
                       (unsigned char)bytes[7]);

    *begin = version == 1 ? 10 : 12;
    *end = (unsigned char)bytes[8] + 256 * (int64_t)(unsigned char)bytes[9];
    if (version == 2)
        *end += 65536 * ((unsigned char)bytes[10] + 256 * (int64_t)(unsigned char)bytes[11]);
    *end += *begin;

    if (*end > count)
        return sp_fail(context, SP_INPUT, "its header is to end at byte %lld, the file has %lld", (long long)*end,
                       (long long)count);
    return SP_OK;
}

static int parse(sp_context *context, const char *bytes, int64_t count, bool column, sp_pool *pool, sp_matrix *matrix)
{
    int64_t begin = 0, end = 0;
    sp_npy_header header;
    sp_pool scratch = {0};
    int status;

    SP_TRY(find_dictionary(context, bytes, count, &begin, &end));
    char *dictionary = sp_pool_new(&scratch, end - begin + 1, 1);
    SP_TRY(sp_allocated(context, dictionary));

    memcpy(dictionary, bytes + begin, (size_t)(end - begin));
    if ((int64_t)strlen(dictionary) != end - begin || !sp_npy_parse(dictionary, &header)) {
        status = sp_fail(context, SP_INPUT, "its .npy header is not that of an array of numbers");
        goto done;
    }

    const char *type = header.descriptor;
    if ((*type != '<' && *type != '>') || (strcmp(type + 1, "f8") && strcmp(type + 1, "f4"))) {
        status = sp_fail(context, SP_INPUT, "its values are of type %s, expected f8 or f4", type);
        goto done;
    }

    if (column && header.rank == 1) {
        header.rank = 2;
        header.shape[1] = 1;
    }

    if (header.rank != 2 || header.count < 1) {
        status = sp_fail(context, SP_INPUT,
                         header.rank == 2 ? "it is an empty matrix" : "it has %d dimensions, expected 2", header.rank);
        goto done;
    }

    int size = type[2] - '0';
    if (header.count * size != count - end) {
        status = sp_fail(context, SP_INPUT, "it has %lld bytes behind its header, its shape (%lld, %lld) needs %lld",
                         (long long)(count - end), (long long)header.shape[0], (long long)header.shape[1],
                         (long long)header.count * size);
        goto done;
    }

    /* Fortran order is the order of the result; C order is read into scratch memory and transposed. */
    double *values = sp_pool_raw(header.fortran ? pool : &scratch, header.count, sizeof *values);
    *matrix = (sp_matrix){header.shape[0], header.shape[1],
                          header.fortran ? values : sp_pool_raw(pool, header.count, sizeof *values)};
    SP_TRY(sp_allocated(context, values && matrix->value));

    SP_TRY(sp_matrix_numbers(context, bytes + end, size, *type == '>', header.count, values));
    if (!header.fortran)
        transpose(matrix->rows, matrix->columns, values, matrix->value);
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_matrix_parse_npy(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, sp_matrix *matrix)
{
    return parse(context, bytes, count, false, pool, matrix);
}

int sp_matrix_parse_npy_column(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, sp_matrix *matrix)
{
    return parse(context, bytes, count, true, pool, matrix);
}
