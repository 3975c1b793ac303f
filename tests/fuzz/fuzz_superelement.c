/* The reader of linear interface models. The description is text up to the first NUL. Two bytes, the low one first, are
 * the length of the file of the mass, which follows, and then that of the stiffness. The gravity is read from the first
 * of them too. What comes out is walked in full. */
#include "formats/import/superelement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 24 }; /* coordinates of polynomials, whose memory grows with the fourth power */

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A name stays in the folder of the description. */
static void check_file(const sp_superelement_file *file)
{
    const char *const names[2] = {file->npy, file->matrix_market};
    require(names[0] || names[1]);
    for (int i = 0; i < 2; i++)
        require(!names[i] || (*names[i] && !strchr(names[i], '/') && strcmp(names[i], "..") != 0));
}

static void check_polynomials(const sp_polynomials *polynomials, int64_t r)
{
    require(polynomials->r == r);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++) {
            require(isfinite(polynomials->mass[i * r + j]));
            require(polynomials->mass[i * r + j] == polynomials->mass[j * r + i]);
        }
}

static int read_matrices(sp_context *context, const sp_superelement_description *model, const char *bytes, size_t size)
{
    const int64_t r = model->r;
    const size_t low = size > 0 ? (unsigned char)bytes[0] : 0, high = size > 1 ? (unsigned char)bytes[1] : 0,
                 left = size > 2 ? size - 2 : 0, first = low + 256 * high < left ? low + 256 * high : left;
    const char *mass_bytes = size > 2 ? bytes + 2 : bytes;
    sp_pool pool = {0};
    sp_polynomials polynomials;
    double *mass, *stiffness, *gravity = NULL;
    int status;
    SP_TRY(sp_superelement_matrix(context, mass_bytes, (int64_t)first, model->mass.npy, r, r, &pool, &mass));
    SP_TRY(sp_superelement_matrix(context, mass_bytes + first, (int64_t)(left - first), model->stiffness.npy, r, r,
                                  &pool, &stiffness));
    if (model->has_gravity && r == 3)
        SP_TRY(sp_superelement_matrix(context, mass_bytes, (int64_t)first, model->mass.npy, r, 3, &pool, &gravity));
    if (r > MOST)
        goto done;
    SP_TRY(sp_superelement_polynomials(context, r, mass, stiffness, gravity, &polynomials));
    check_polynomials(&polynomials, r);
    sp_polynomials_free(&polynomials);
done:
    sp_pool_free(&pool);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_context context = sp_context_default();
    sp_superelement_description model;
    const size_t length = strnlen((const char *)data, size);
    const char *rest = (const char *)data + (length < size ? length + 1 : size);
    int status = sp_superelement_describe(&context, (const char *)data, (int64_t)length, &model);
    if (status == SP_OK) {
        require(model.r >= 1 && model.r <= 2000);
        check_file(&model.mass);
        check_file(&model.stiffness);
        if (model.has_gravity)
            check_file(&model.gravity);
        status = read_matrices(&context, &model, rest, length < size ? size - length - 1 : 0);
        sp_superelement_description_free(&model);
    }
    require(status == SP_OK || (status == SP_INPUT && context.message[0]));
    return 0;
}
