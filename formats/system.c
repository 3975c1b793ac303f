#include "formats/system.h"

#include "formats/kind_tables.h"

#include <string.h>

/* ---- tensor ---- */

typedef struct tensor_file {
    int64_t entries;
    int64_t *coords, *shape;
    double *value, *fill;
} tensor_file;

static int check_shape(sp_context *context, const sp_array *array, void *object)
{
    const int64_t *extent = array->data;
    (void)object;
    if (extent[0] < 1 || extent[0] > INT64_C(1) << 40 || extent[1] != extent[0] || extent[2] != extent[0])
        return sp_fail(context, SP_INPUT, "shape: the tensor is %lld by %lld by %lld, expected three equal extents",
                       (long long)extent[0], (long long)extent[1], (long long)extent[2]);
    return SP_OK;
}

/* The entries that are left out are zero. */
static int check_fill(sp_context *context, const sp_array *array, void *object)
{
    const double fill = *(const double *)array->data;
    (void)object;
    return fill == 0 ? SP_OK : sp_fail(context, SP_INPUT, "%s: it is %.9g, expected 0", array->name, fill);
}

#define AT(member) .at = offsetof(tensor_file, member)
static const sp_member_rule tensor_rules[] = {
    {"data", "nnz", SP_F8, AT(value), .unit = "N/m²", .meaning = "the entries"},
    {"fill_value", "", SP_F8, OPTIONAL, AT(fill), .check = check_fill, .meaning = "0: the value at all other places"},
    {"shape", "3", SP_I8, AT(shape), .check = check_shape, .meaning = "n, n, n; n ≥ 1"},
    {"coords", "3, nnz", SP_I8, AT(coords), FROM(0), .meaning = "the indices i, j, k of each entry, from 0 to n − 1"},
    {0}};
#undef AT

const sp_kind sp_kind_tensor = {"tensor", (const sp_symbol[]){{"nnz", .at = offsetof(tensor_file, entries)}, {0}},
                                tensor_rules, NULL, NULL};

int sp_tensor_read(sp_context *context, sp_file *file, int64_t order, bool once, sp_tensor *tensor)
{
    const char *kind = sp_file_kind(file);
    tensor_file in = {0};
    *tensor = (sp_tensor){0};

    if (*kind && strcmp(kind, "tensor"))
        return sp_fail(context, SP_INPUT, "it is a file of kind %.40s, expected tensor", kind);
    SP_PASS(sp_kind_read(context, file, &sp_kind_tensor, &in));
    if (order >= 0 && in.shape[0] != order)
        return sp_fail(context, SP_INPUT, "shape: the tensor is of %lld unknowns, expected %lld",
                       (long long)in.shape[0], (long long)order);
    return sp_tensor_new(context, in.shape[0], in.entries, in.coords, in.coords + in.entries,
                         in.coords + 2 * in.entries, in.value, once, tensor);
}

/* ---- system_basis ---- */

/* Pairs name modes. */
static int check_pairs(sp_context *context, const sp_array *array, void *object)
{
    const sp_system_basis *basis = object;
    const int64_t *pair = array->data;
    for (int64_t i = 0; i < array->count; i++)
        if (pair[i] >= basis->count)
            return sp_fail(context, SP_INPUT, "pair: value %lld is %lld, of %lld modes", (long long)i,
                           (long long)pair[i], (long long)basis->count);
    return SP_OK;
}

#define AT(member) .at = offsetof(sp_system_basis, member)
static const sp_member_rule basis_rules[] = {
    {"U", "n, r", SP_F8, FORTRAN, AT(U), .meaning = "the basis in columns, UᵀAU = 1"},
    {"singular_value", "r", SP_F8, AT(singular_value), FROM(0), .meaning = "≥ 0, descending"},
    {"mode", "n, k", SP_F8, FORTRAN, AT(mode), .meaning = "the modes ψ in columns, ψᵀAψ = 1"},
    {"eigenvalue", "k", SP_F8, AT(eigenvalue), ABOVE(0), .unit = "rad²/s²", .meaning = "λ = ω² of Kψ = λAψ, ascending"},
    {"residual", "k", SP_F8, AT(residual), FROM(0), .meaning = "≥ 0: ‖Kψ − λAψ‖₂ / ((λ + λ₁)‖Aψ‖₂)"},
    {"derivative", "n, p", SP_F8, FORTRAN, AT(derivative), .meaning = "derivatives Φ in columns"},
    {"pair", "p, 2", SP_I8, AT(pair), FROM(0), .check = check_pairs, .meaning = "modes (i, j) of Φᵢⱼ, i ≤ j, from 0"},
    {0}};
#undef AT

static const sp_fact system_basis_result[] = {
    {"largest_residual", SP_NUMBER,
     .meaning = "of the derivatives: largest ‖KΦ + (H:ψⱼ)ψᵢ‖ / ‖(H:ψⱼ)ψᵢ‖, recomputed with K"},
    {"orthogonality", SP_NUMBER, .meaning = "largest magnitude of an entry of UᵀAU − 1"},
    {"columns", SP_INTEGER, .meaning = "number of modes and derivatives"},
    {"rank", SP_INTEGER, .meaning = "number of singular values above 1e-14 times the first"},
    {0}};

const sp_kind sp_kind_system_basis = {"system_basis",
                                      (const sp_symbol[]){{"n", .at = offsetof(sp_system_basis, n)},
                                                          {"r", .at = offsetof(sp_system_basis, r)},
                                                          {"k", .at = offsetof(sp_system_basis, count)},
                                                          {"p", .at = offsetof(sp_system_basis, pairs)},
                                                          {0}},
                                      basis_rules, NULL, system_basis_result};

int sp_system_basis_read(sp_context *context, sp_file *file, sp_system_basis *basis)
{
    *basis = (sp_system_basis){0};
    const int status = sp_kind_read(context, file, &sp_kind_system_basis, basis);
    if (status != SP_OK) {
        *basis = (sp_system_basis){0};
        return status;
    }
    basis->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_system_basis_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_system_basis *basis)
{
    return sp_kind_write(context, writer, &sp_kind_system_basis, meta, basis);
}

void sp_system_basis_free(sp_system_basis *basis)
{
    sp_pool_free(&basis->pool);
    *basis = (sp_system_basis){0};
}
