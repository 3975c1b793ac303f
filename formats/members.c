/* Gets members by name, with the type, shape and storage order that the caller needs. */
#include "formats/container.h"

#include <math.h>
#include <string.h>

void sp_members_free(sp_members *members)
{
    sp_pool_free(&members->pool);
    *members = (sp_members){0};
}

sp_array *sp_members_find(const sp_members *members, const char *name)
{
    for (int64_t i = 0; i < members->count; i++)
        if (!strcmp(members->arrays[i].name, name))
            return &members->arrays[i];
    return NULL;
}

const char *sp_type_word(enum sp_type type)
{
    static const char *const words[] = {"f8", "f4", "i8", "i4", "u1", "S", "another type"};
    return words[type];
}

static int widen(sp_context *context, sp_members *members, sp_array *array)
{
    int64_t *wide = sp_pool_raw(&members->pool, array->count, 8);
    SP_PASS(sp_allocated(context, wide));
    for (int64_t i = 0; i < array->count; i++) {
        if (array->type == SP_I4)
            wide[i] = ((const int32_t *)array->data)[i];
        else
            ((double *)wide)[i] = ((const float *)array->data)[i];
    }
    sp_pool_drop(&members->pool, array->data);
    array->data = wide;
    array->type = array->type == SP_I4 ? SP_I8 : SP_F8;
    array->size = 8;
    return SP_OK;
}

/* Converts one storage order to the other, for any rank. The first index is exchanged with all others (in their order),
 * in square tiles, so that both sides stay in the cache. Moving one index to the other end of the order, rank − 1
 * times, reverses the order. */
static void transpose(char *to, const char *from, int64_t rows, int64_t columns, int size)
{
    enum { SIDE = 32 };
    for (int64_t i0 = 0; i0 < rows; i0 += SIDE)
        for (int64_t j0 = 0; j0 < columns; j0 += SIDE) {
            int64_t i1 = i0 + SIDE < rows ? i0 + SIDE : rows, j1 = j0 + SIDE < columns ? j0 + SIDE : columns;
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++)
                    if (size == 8)
                        memcpy(to + 8 * (j * rows + i), from + 8 * (i * columns + j), 8);
                    else
                        memcpy(to + size * (j * rows + i), from + size * (i * columns + j), (size_t)size);
        }
}

static int reorder(sp_context *context, sp_members *members, sp_array *array)
{
    int64_t slab = array->count; /* number of values in the part that is still to be transposed */
    const int axes = array->count ? array->rank - 1 : 0; /* nothing moves without values */
    for (int axis = 0; axis < axes; axis++) {
        char *turned = sp_pool_raw(&members->pool, array->count, (size_t)array->size);
        SP_PASS(sp_allocated(context, turned));
        /* C order (a, b, c) is transposed to (c, a, b), then the (a, b) for each c; Fortran order is C order with
         * reversed indices. */
        int64_t last = array->shape[array->fortran ? axis : array->rank - 1 - axis], rest = slab / last;
        for (int64_t done = 0; done < array->count; done += slab)
            transpose(turned + done * array->size, (char *)array->data + done * array->size, rest, last, array->size);
        sp_pool_drop(&members->pool, array->data);
        array->data = turned;
        slab = rest;
    }
    array->fortran = !array->fortran;
    return SP_OK;
}

int sp_array_check(sp_context *context, const sp_array *array, enum sp_type type, int rank, const int64_t *shape)
{
    const char *name = array->name;
    if (array->type != type && !(type == SP_I8 && array->type == SP_I4) && !(type == SP_F8 && array->type == SP_F4))
        return sp_fail(context, SP_INPUT, "%s: its values are %s, expected %s", name, sp_type_word(array->type),
                       sp_type_word(type));
    if (array->rank != rank)
        return sp_fail(context, SP_INPUT, "%s: it has %d dimensions, expected %d", name, array->rank, rank);
    for (int i = 0; i < rank; i++)
        if (shape && shape[i] >= 0 && array->shape[i] != shape[i])
            return sp_fail(context, SP_INPUT, "%s: dimension %d is %lld, expected %lld", name, i,
                           (long long)array->shape[i], (long long)shape[i]);
    return SP_OK;
}

int sp_members_read(sp_context *context, sp_members *members, const char *name, enum sp_type type, bool fortran,
                    int rank, const int64_t *shape, sp_array **result)
{
    sp_array *array = sp_members_find(members, name);
    if (array && shape && !array->data)
        for (int i = 0; i < array->rank; i++)
            if (array->shape[i] == 0 && shape[i] < 0)
                return sp_fail(context, SP_INPUT, "member %s has no values: dimension %d is 0", name, i);
    if (!array || (array->type != SP_OTHER && !array->data)) /* skipped: not a member of this file type */
        return sp_fail(context, SP_INPUT, "member %s is missing", name);

    SP_PASS(sp_array_check(context, array, type, rank, shape));
    if (array->type != type) {
        SP_PASS(widen(context, members, array));
    }
    if (rank >= 2 && array->fortran != fortran) {
        SP_PASS(reorder(context, members, array));
    }

    if (type == SP_F4) {
        const float *values = array->data;
        for (int64_t i = 0; i < array->count; i++)
            if (!isfinite(values[i]))
                return sp_fail(context, SP_INPUT, "%s: value %lld is not finite", name, (long long)i);
    }

    if (type == SP_F8) {
        const double *values = array->data;
        /* The sum is NaN as soon as one value is infinite or NaN: one vectorized pass, then a search for the place. */
        double sum = 0;
        for (int64_t i = 0; i < array->count; i++)
            sum += values[i] - values[i];
        if (sum != 0)
            for (int64_t i = 0; i < array->count; i++)
                if (!isfinite(values[i]))
                    return sp_fail(context, SP_INPUT, "%s: value %lld is not finite", name, (long long)i);
    }

    *result = array;
    return SP_OK;
}

int sp_check_symmetric(sp_context *context, const char *what, int64_t order, const double *a)
{
    enum { SIDE = 32 };
    const double tolerance = 1e-9;
    double largest = 0;
    for (int64_t i = 0; i < order * order; i++)
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    for (int64_t i0 = 0; i0 < order;
         i0 += SIDE) /* in square tiles, since the matrix may be far larger than the cache */
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)
            for (int64_t i = i0; i < i0 + SIDE && i < order; i++)
                for (int64_t j = j0; j < j0 + SIDE && j < i; j++)
                    if (!(fabs(a[i * order + j] - a[j * order + i]) <= tolerance * largest))
                        return sp_fail(context, SP_INPUT,
                                       "%s: it is not symmetric: entries (%lld, %lld) are %.17g and %.17g", what,
                                       (long long)i, (long long)j, a[j * order + i], a[i * order + j]);
    return SP_OK;
}
