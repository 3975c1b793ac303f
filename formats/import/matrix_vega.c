#include "formats/import/matrix_internal.h"

#include <math.h>
#include <string.h>

/* A little-endian 32-bit integer. */
static int32_t matrix_integer(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

int sp_matrix_numbers(sp_context *context, const char *bytes, int size, bool big_endian, int64_t count, double *values)
{
    for (int64_t i = 0; i < count; i++) {
        const unsigned char *b = (const unsigned char *)bytes + i * size;
        uint64_t bits = 0;
        for (int k = 0; k < size; k++)
            bits = bits << 8 | b[big_endian ? k : size - 1 - k];

        if (size == 8)
            memcpy(&values[i], &bits, sizeof bits);
        else {
            uint32_t low = (uint32_t)bits;
            float value;
            memcpy(&value, &low, sizeof low);
            values[i] = (double)value;
        }

        if (!isfinite(values[i]))
            return sp_fail(context, SP_INPUT, "value %lld is not finite", (long long)i);
    }
    return SP_OK;
}

int sp_matrix_parse_vega(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, sp_matrix *matrix)
{
    enum { HEADER = 8 };
    if (count < HEADER)
        return sp_fail(context, SP_INPUT, "it has %lld bytes, a matrix of VegaFEM begins with two 32-bit integers",
                       (long long)count);

    int64_t rows = matrix_integer(bytes), columns = matrix_integer(bytes + 4);
    if (rows < 1 || columns < 1)
        return sp_fail(context, SP_INPUT, "it begins with %lld rows and %lld columns, no matrix of VegaFEM",
                       (long long)rows, (long long)columns);

    /* Values are in double or in single precision; the length of the file decides. */
    int64_t values = rows * columns, body = count - HEADER; /* below 2⁶² */
    int size = body % 8 == 0 && body / 8 == values ? 8 : 4;
    if (body % size || body / size != values)
        return sp_fail(
            context, SP_INPUT,
            "it has %lld bytes behind its header, %lld rows and %lld columns need 8 or 4 for each of %lld values",
            (long long)body, (long long)rows, (long long)columns, (long long)values);

    *matrix = (sp_matrix){rows, columns, sp_pool_raw(pool, values, sizeof(double))};
    return matrix->value ? sp_matrix_numbers(context, bytes + HEADER, size, false, values, matrix->value)
                         : sp_fail_memory(context);
}

int sp_cubic_parse(sp_context *context, const char *bytes, int64_t count, sp_cubic_force *force)
{
    enum { HEADER = 16, MOST = 2000 };
    *force = (sp_cubic_force){0};
    if (count < HEADER)
        return sp_fail(context, SP_INPUT, "it has %lld bytes, a .cub file begins with four 32-bit integers",
                       (long long)count);

    int64_t stated[4], r = matrix_integer(bytes);
    for (int i = 0; i < 4; i++)
        stated[i] = matrix_integer(bytes + 4 * i);
    if (r < 1 || r > MOST)
        return sp_fail(context, SP_INPUT, "it begins with %lld coordinates, polynomials take 1 to %d", (long long)r,
                       MOST);

    /* A .cub file has r (linear), r(r + 1)/2 (quadratic) and r(r + 1)(r + 2)/6 (cubic) coefficients a coordinate. */
    int64_t columns[3] = {r, r * (r + 1) / 2, sp_cubic_triples(r)}, values = r * (columns[0] + columns[1] + columns[2]);
    for (int i = 0; i < 3; i++)
        if (stated[i + 1] != columns[i])
            return sp_fail(context, SP_INPUT,
                           "it states %lld coefficients of degree %d for each of %lld coordinates, not %lld",
                           (long long)stated[i + 1], i + 1, (long long)r, (long long)columns[i]);

    if (count - HEADER != 8 * values)
        return sp_fail(context, SP_INPUT, "it has %lld bytes behind its header, %lld coordinates need %lld",
                       (long long)count - HEADER, (long long)r, (long long)(8 * values));

    int status;
    SP_TRY(sp_cubic_new(context, r, force));
    double *block[3] = {force->linear, force->quadratic, force->cubic};
    const char *at = bytes + HEADER;
    for (int i = 0; i < 3; at += 8 * r * columns[i], i++)
        SP_TRY(sp_matrix_numbers(context, at, 8, false, r * columns[i], block[i]));
done:
    if (status != SP_OK)
        sp_cubic_free(force);
    return status;
}
