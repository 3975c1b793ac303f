#include "formats/export/matrix_market.h"

#include "formats/export/stream.h"

static void begin(sp_stream *stream, int descriptor, const char *header, const char *comment)
{
    sp_stream_begin(stream, descriptor);
    sp_stream_print(stream, "%%%%MatrixMarket matrix %s\n", header);
    if (comment)
        sp_stream_print(stream, "%% %s\n", comment);
}

int sp_matrix_market_write_sparse(sp_context *context, int descriptor, const char *comment, const sp_sparse *matrix)
{
    sp_stream stream;
    int64_t entries = 0;
    for (int64_t i = 0; i < matrix->order; i++)
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++)
            entries += matrix->index[k] <= i;
    begin(&stream, descriptor, "coordinate real symmetric", comment);
    sp_stream_print(&stream, "%lld %lld %lld\n", (long long)matrix->order, (long long)matrix->order,
                    (long long)entries);
    for (int64_t i = 0; i < matrix->order; i++)
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1] && matrix->index[k] <= i; k++)
            sp_stream_print(&stream, "%lld %lld %.17g\n", (long long)i + 1, (long long)matrix->index[k] + 1,
                            sp_stream_finite(&stream, matrix->value[k]));
    return sp_stream_end(context, &stream);
}

int sp_matrix_market_write_dense(sp_context *context, int descriptor, const char *comment, int64_t rows,
                                 int64_t columns, const double *matrix)
{
    sp_stream stream;
    begin(&stream, descriptor, "array real general", comment);
    sp_stream_print(&stream, "%lld %lld\n", (long long)rows, (long long)columns);
    for (int64_t i = 0; i < rows * columns; i++)
        sp_stream_print(&stream, "%.17g\n", sp_stream_finite(&stream, matrix[i]));
    return sp_stream_end(context, &stream);
}
