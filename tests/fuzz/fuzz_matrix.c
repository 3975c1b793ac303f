/* The readers of matrices and reduced forces of other programs. The first byte selects the format: 0 .npy, 1 .mtx, 2
 * matrix of VegaFEM, 3 .cub. What comes out is walked in full; a reduced force becomes a Gram matrix and a force again.
 */
#include "formats/import/matrix.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_values(int64_t count, const double *value)
{
    for (int64_t i = 0; i < count; i++)
        require(isfinite(value[i]));
}

static int read_matrix(sp_context *context, int format, const char *bytes, int64_t count)
{
    sp_pool pool = {0};
    sp_matrix matrix;
    int status = (format == 0   ? sp_matrix_parse_npy
                  : format == 1 ? sp_matrix_parse_market
                                : sp_matrix_parse_vega)(context, bytes, count, &pool, &matrix);
    if (status == SP_OK) {
        require(matrix.rows > 0 && matrix.columns > 0);
        check_values(matrix.rows * matrix.columns, matrix.value);
    }
    sp_pool_free(&pool);
    return status;
}

static int read_force(sp_context *context, const char *bytes, int64_t count)
{
    sp_cubic_force force, back;
    sp_polynomials polynomials;
    double asymmetry[3];
    int status = sp_cubic_parse(context, bytes, count, &force);
    if (status != SP_OK)
        return status;
    int64_t r = force.r;
    check_values(r * r, force.linear);
    check_values(r * (r * (r + 1) / 2), force.quadratic);
    check_values(r * sp_cubic_triples(r), force.cubic);
    status = sp_polynomials_from_cubic(context, &force, &polynomials, asymmetry);
    if (status == SP_OK) {
        require(sp_cubic_from_polynomials(context, &polynomials, &back) == SP_OK && back.r == r);
        sp_cubic_free(&back);
        sp_polynomials_free(&polynomials);
    }
    sp_cubic_free(&force);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    sp_context context = sp_context_default();
    const char *bytes = (const char *)data + 1;
    int format = data[0] % 4, status = format == 3 ? read_force(&context, bytes, (int64_t)size - 1)
                                                   : read_matrix(&context, format, bytes, (int64_t)size - 1);
    require(status == SP_OK || (status == SP_INPUT && context.message[0]));
    return 0;
}
