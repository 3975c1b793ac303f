#include "formats/export/matrix_write.h"

#include "formats/export/stream.h"
#include "formats/npy.h"

#include <math.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they stand in memory");

int sp_npy_write(sp_context *context, int descriptor, int64_t rows, int64_t columns, const double *matrix)
{
    char preamble[SP_NPY_BUFFER];
    int length = sp_npy_print(preamble, "<f8", true, 2, (int64_t[]){rows, columns});
    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    sp_stream_bytes(&stream, preamble, (size_t)length);
    sp_stream_doubles(&stream, rows * columns, matrix);
    return sp_stream_end(context, &stream);
}

int sp_vega_matrix_write(sp_context *context, int descriptor, bool narrow, int64_t rows, int64_t columns,
                         const double *matrix)
{
    sp_stream stream;

    if (rows > INT32_MAX || columns > INT32_MAX)
        return sp_fail(context, SP_INPUT, "%lld rows and %lld columns: VegaFEM has 32-bit sizes", (long long)rows,
                       (long long)columns);

    sp_stream_begin(&stream, descriptor);
    sp_stream_bytes(&stream, (int32_t[]){(int32_t)rows, (int32_t)columns}, 8);

    if (narrow)
        for (int64_t i = 0; i < rows * columns; i++) {
            float value = (float)matrix[i];
            if (!isfinite(value))
                return sp_fail(context, SP_INPUT, "value %lld is %g, beyond what f4 can hold", (long long)i, matrix[i]);
            sp_stream_bytes(&stream, &value, sizeof value);
        }
    if (!narrow)
        sp_stream_doubles(&stream, rows * columns, matrix);
    return sp_stream_end(context, &stream);
}

int sp_cubic_write(sp_context *context, int descriptor, const sp_cubic_force *force)
{
    int64_t r = force->r, pairs = r * (r + 1) / 2, triples = sp_cubic_triples(r);
    sp_stream stream;
    sp_stream_begin(&stream, descriptor); /* r ≤ 2000 (sp_cubic_new), so that all sizes fit */
    sp_stream_bytes(&stream, (int32_t[]){(int32_t)r, (int32_t)r, (int32_t)pairs, (int32_t)triples}, 16);
    sp_stream_doubles(&stream, r * r, force->linear);
    sp_stream_doubles(&stream, r * pairs, force->quadratic);
    sp_stream_doubles(&stream, r * triples, force->cubic);
    return sp_stream_end(context, &stream);
}
