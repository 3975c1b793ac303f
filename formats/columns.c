#include "formats/columns.h"

#include "formats/kind_tables.h"

#include <string.h>

/* ---- the tables ---- */

static int64_t vertices(const void *object)
{
    return ((const sp_columns *)object)->rows / 3;
}

static int check_size(sp_context *context, int64_t rows, int64_t count)
{
    if (rows < 3 || rows % 3 || count < 1)
        return sp_fail(
            context, SP_INPUT,
            "U: it has %lld rows and %lld columns, expected three rows for each vertex and at least one column",
            (long long)rows, (long long)count);
    return SP_OK;
}

static int check_columns(sp_context *context, const sp_array *array, void *object)
{
    (void)object;
    return check_size(context, array->shape[0], array->shape[1]);
}

/* Each vertex once, so that there are not more of them than the mesh has; which of them are free the mesh knows. */
static int check_ordering(sp_context *context, const sp_array *array, void *object)
{
    const sp_columns *columns = object;
    const int64_t vertices = columns->rows / 3, count = array->shape[0], *vertex = array->data;
    sp_pool scratch = {0};
    bool *seen = sp_pool_new(&scratch, vertices, sizeof *seen);
    int status = sp_allocated(context, seen || vertices == 0);
    for (int64_t i = 0; i < count && status == SP_OK; i++) { /* the range was checked before */
        if (seen[vertex[i]])
            status = sp_fail(context, SP_INPUT, "ordering: value %lld is vertex %lld a second time", (long long)i,
                             (long long)vertex[i]);
        seen[vertex[i]] = true;
    }
    sp_pool_free(&scratch);
    return status;
}

static int write_columns(sp_writer *writer, const char *name, const void *object)
{
    const sp_columns *columns = object;
    return sp_writer_columns(writer, name, columns->rows, columns->count, columns->column, columns->column_data);
}

#define AT(member) .at = offsetof(sp_columns, member)

static const sp_symbol symbols[] = {{"3 nv", .at = offsetof(sp_columns, rows), .given = true},
                                    {"r", .at = offsetof(sp_columns, count)},
                                    {"nf", .at = offsetof(sp_columns, ordering_count)},
                                    {"nv", .follows = vertices},
                                    {0}};

#define COLUMNS FORTRAN, AT(U), .check = check_columns, .write = write_columns

static const sp_member_rule modes[] = {
    {"U", "3 nv, r", SP_F8, COLUMNS, .unit = "1/√kg", .meaning = "modes in columns"},
    {"eigenvalue", "r", SP_F8, AT(eigenvalue), .unit = "rad²/s²", .meaning = "λ = ω² of Kψ = λMψ, ascending"},
    {"residual", "r", SP_F8, AT(residual), FROM(0), .meaning = "≥ 0: ‖Kψ − λMψ‖₂ / ((λ + λ₁)‖Mψ‖₂)"},
    {"ordering", "nf", SP_I8, OPTIONAL, AT(ordering), BELOW("nv"), .check = check_ordering,
     .meaning = "the vertices with a free degree of freedom"},
    {0}};

static const sp_member_rule derivatives[] = {
    {"U", "3 nv, r", SP_F8, COLUMNS, .unit = "1/(kg·m)", .meaning = "derivatives Φ in columns"},
    {"pair", "r, 2", SP_I8, OPTIONAL, AT(pair), FROM(0), .meaning = "modes (i, j) of Φᵢⱼ, ≥ 0"},
    {0}};

static const sp_member_rule snapshots[] = {
    {"U", "3 nv, r", SP_F8, COLUMNS, .unit = "m", .meaning = "displacements in columns"},
    {"time", "r", SP_F8, OPTIONAL, AT(time), FROM(0), .unit = "s",
     .meaning = "≥ 0: time of each snapshot in the recording"},
    {"factor", "r", SP_F8, OPTIONAL, AT(factor), ABOVE(0),
     .meaning = "> 0: load factor of each shape of linear buckling"},
    {"sample", "r", SP_I8, WITH("total"), AT(sample), FROM(0), .increasing = true,
     .meaning = "the numbers of their loads"},
    {0}};

static const sp_member_rule basis[] = {
    {"U", "3 nv, r", SP_F8, COLUMNS, .unit = "1/√kg", .meaning = "basis vectors in columns"},
    {"singular_value", "r", SP_F8, OPTIONAL, AT(singular_value), FROM(0), .meaning = "≥ 0, descending"},
    {0}};

static const sp_member_rule foreign[] = {
    {"U", "3 nv, r", SP_F8, COLUMNS, .unit = "m", .meaning = "displacements in columns"}, {0}};
#undef AT

static const sp_fact modes_meta[] = {
    {"mass", SP_STRING, .meaning = "`consistent` or `lumped`: the mass in which they are orthonormal"},
    {"rigid", SP_INTEGER, .meaning = "number of leading modes that are rigid motions (λ = 0), 0 to r"},
    {"about", SP_HASH, .when = "`modes --about`", .meaning = "of a static trajectory"},
    {"ritz", SP_BOOLEAN, .when = "optional",
     .meaning = "true: the columns are the Ritz vectors of a subspace and λ their Rayleigh quotients"},
    {"mesh", SP_HASH, .meaning = "of the mesh"},
    {0}};

static const sp_fact modes_result[] = {
    {"modes", SP_INTEGER, .when = "`modes --method lanczos`", .meaning = "number of modes"},
    {"largest_residual", SP_NUMBER, .when = "`modes --method lanczos`, `simimport`",
     .meaning = "the largest `residual`"},
    {"orthogonality", SP_NUMBER, .meaning = "largest magnitude of an entry of UᵀMU − 1"},
    {"rigid", SP_INTEGER, .meaning = "number of leading columns that are rigid motions"},
    {"zero_energy", SP_INTEGER, .when = "`modes --method lanczos`",
     .meaning = "modes after them whose eigenvalue is within rounding of 0, and set to 0"},
    {"rounding", SP_NUMBER, .when = "`modes --method lanczos`",
     .meaning = "largest relative error that rounding of K may cause in the other eigenvalues"},
    {"shift", SP_NUMBER, .unit = "rad²/s²", .when = "`modes --method lanczos`",
     .meaning = "σ of the matrix K − σM that was factored"},
    {"solves", SP_INTEGER, .when = "`modes`", .meaning = "right-hand sides that were solved"},
    {"missed_at_first", SP_INTEGER, .when = "`modes --method lanczos`",
     .meaning = "modes that the first run missed and the second one found"},
    {"next_eigenvalue_below", SP_NUMBER, .null = true, .unit = "rad²/s²", .when = "`modes --method lanczos`",
     .meaning = "an upper bound of the eigenvalue after the last one; null: none is known"},
    {"certified_below_last", SP_INTEGER, .null = true, .when = "`modes --method lanczos`",
     .meaning = "eigenvalues below the last one, counted by the inertia of a factorization; null: not counted"},
    {"factor_nonzeros", SP_NUMBER, .when = "`modes`", .meaning = "nonzeros of the Cholesky factor"},
    {"factor_flops", SP_NUMBER, .when = "`modes`", .meaning = "floating-point operations of the factorization"},
    {"ranks", SP_INTEGER, .when = "`modes --solver slepc`, `amg`", .meaning = "processes of the run"},
    {"not_checked", SP_STRING, .when = "`modes --solver amg`",
     .meaning = "what cannot be said without a factorization"},
    {"order", SP_INTEGER, .when = "`modes --method krylov`", .meaning = "applications of K⁻¹M"},
    {"dependent", SP_INTEGER, .when = "`modes --method krylov`",
     .meaning = "columns that were dropped because earlier ones span them"},
    {"largest_cosine_before", SP_NUMBER, .when = "`modes --method krylov`",
     .meaning = "largest cosine of a new column to an earlier one before orthogonalization"},
    {"samples", SP_INTEGER, .when = "`modes --orthogonalize reduced`",
     .meaning = "sample points of the inner products"},
    {"sample_box", SP_NUMBER, .unit = "m", .when = "`modes --orthogonalize reduced`",
     .meaning = "edge of the boxes that have one sample point each"},
    {"subtractions", SP_INTEGER, .when = "`modes --orthogonalize reduced`",
     .meaning = "subtractions of an earlier column that were made"},
    {"culled", SP_INTEGER, .when = "`modes --orthogonalize reduced`", .meaning = "subtractions that were left out"},
    {0}};

const sp_kind sp_kind_modes = {"modes", symbols, modes, modes_meta, modes_result};
static const sp_fact derivatives_meta[] = {
    {"order", SP_INTEGER,
     .meaning = "1 to 1000: 1 for derivatives of the modes, 2 for those of these, …; of several orders the highest"},
    {"mesh", SP_HASH, .when = "if known", .meaning = "of the mesh"},
    {"first", SP_INTEGER, .when = "a shard",
     .meaning = "the columns are the derivatives `first` … `end` − 1 of `total`"},
    {"end", SP_INTEGER, .when = "a shard", .meaning = "see `first`"},
    {"total", SP_INTEGER, .when = "a shard", .meaning = "the number of derivatives of all shards"},
    {"source", SP_INTEGER, .when = "optional", .meaning = "the number of columns of the source file that were used"},
    {"interfaces", SP_OBJECTS, .when = "optional", .meaning = "the interfaces at rest"},
    {0}};

static const sp_fact derivatives_result[] = {
    {"largest_residual", SP_NUMBER, .when = "all programs but `simimport`",
     .meaning = "largest ‖KΦ + (H:Ψⱼ)Ψᵢ‖ / ‖(H:Ψⱼ)Ψᵢ‖, recomputed with K"},
    {"iterations", SP_INTEGER, .when = "a free body, `--solver amg`",
     .meaning = "iterations of the conjugate gradients for the slowest column"},
    {"factor_nonzeros", SP_NUMBER, .when = "a factorization", .meaning = "nonzeros of the Cholesky factor"},
    {"factor_flops", SP_NUMBER, .when = "a factorization", .meaning = "floating-point operations of the factorization"},
    {"of_order", SP_INTEGERS, .when = "`modalderiv --method inertia`",
     .meaning = "the number of derivatives of each order, from 1"},
    {"ranks", SP_INTEGER, .when = "`modalderiv --solver slepc`, `amg`", .meaning = "processes of the run"},
    {0}};

const sp_kind sp_kind_derivatives = {"derivatives", symbols, derivatives, derivatives_meta, derivatives_result};
static const sp_fact snapshots_meta[] = {
    {"mesh", SP_HASH, .when = "if known", .meaning = "of the mesh"},
    {"interfaces", SP_OBJECTS, .when = "an interface basis", .meaning = "the interfaces, see below"},
    {"first", SP_INTEGER, .when = "a shard",
     .meaning = "the columns are the equilibria under the selected loads `first` … `end` − 1 of `total`"},
    {"end", SP_INTEGER, .when = "a shard", .meaning = "see `first`"},
    {"total", SP_INTEGER, .when = "a shard", .meaning = "the number of selected loads of all shards"},
    {0}};

static const sp_fact snapshots_result[] = {
    {"columns", SP_INTEGER, .when = "`masspca --raw`", .meaning = "columns of the files that were read"},
    {"recorded", SP_INTEGER, .when = "`sketchsolve`", .meaning = "samples of the recording"},
    {"selected", SP_INTEGER, .when = "`sketchsolve`", .meaning = "samples that were selected"},
    {"solved", SP_INTEGER, .when = "`sketchsolve`", .meaning = "selected samples with an equilibrium"},
    {"failed", SP_INTEGER, .when = "`sketchsolve`", .meaning = "selected samples without one"},
    {"snapshots", SP_INTEGER, .when = "`sketchsolve`", .meaning = "equilibria that were written"},
    {"load_steps", SP_INTEGER, .when = "`sketchsolve`", .meaning = "load steps of all solves"},
    {"newton_iterations", SP_INTEGER, .when = "`sketchsolve`", .meaning = "Newton iterations of all solves"},
    {"most_iterations_for_a_load", SP_INTEGER, .when = "`sketchsolve`",
     .meaning = "Newton iterations of the solve with most of them"},
    {"factorizations", SP_INTEGER, .when = "`sketchsolve`", .meaning = "factorizations of all solves"},
    {"line_search_halvings", SP_INTEGER, .when = "`sketchsolve`", .meaning = "halvings of the line search"},
    {"indefinite_matrices", SP_INTEGER, .when = "`sketchsolve`",
     .meaning = "matrices that were replaced by a positive definite one"},
    {"largest_linear_response", SP_NUMBER, .unit = "m·√kg", .when = "`sketchsolve`",
     .meaning = "largest mass norm of the linear response to a sample"},
    {"shapes", SP_INTEGER, .when = "`modes --buckling`", .meaning = "number of shapes"},
    {"next_factor", SP_NUMBER, .null = true, .when = "`modes --buckling`",
     .meaning = "the load factor after the last one; null: none is known"},
    {"without_deformation", SP_INTEGER, .when = "`modes --method inertia`",
     .meaning = "acceleration fields that only move the body as a whole, and were left out"},
    {"modes", SP_INTEGER, .when = "`modes --interface`", .meaning = "number of fixed-interface modes"},
    {"largest_residual", SP_NUMBER, .when = "`modes --interface`, `--buckling`, `sketchsolve`",
     .meaning = "of fixed-interface modes as in the type modes"},
    {"orthogonality", SP_NUMBER, .when = "`modes --interface`, `--method krylov`",
     .meaning = "largest magnitude of an entry of UᵀMU − 1"},
    {"rigid", SP_INTEGER, .when = "`modes`, not `--buckling`", .meaning = "number of rigid motions of the body"},
    {"zero_energy", SP_INTEGER, .when = "`modes --interface`",
     .meaning = "modes whose eigenvalue is within rounding of 0, and set to 0"},
    {"rounding", SP_NUMBER, .when = "`modes --interface`",
     .meaning = "largest relative error that rounding of K may cause in the other eigenvalues"},
    {"shift", SP_NUMBER, .unit = "rad²/s²", .when = "`modes --interface`",
     .meaning = "σ of the matrix K − σM that was factored"},
    {"solves", SP_INTEGER, .when = "`modes`, not `--method inertia`", .meaning = "right-hand sides that were solved"},
    {"missed_at_first", SP_INTEGER, .when = "`modes --interface`, `--buckling`",
     .meaning = "modes or shapes that the first run missed and the second one found"},
    {"next_eigenvalue_below", SP_NUMBER, .null = true, .unit = "rad²/s²", .when = "`modes --interface`",
     .meaning = "an upper bound of the eigenvalue after the last one; null: none is known"},
    {"certified_below_last", SP_INTEGER, .null = true, .when = "`modes --interface`, `--buckling`",
     .meaning = "eigenvalues or load factors below the last one, counted by the inertia of a factorization; null: not "
                "counted"},
    {"factor_nonzeros", SP_NUMBER, .when = "`modes`, not `--method inertia`",
     .meaning = "nonzeros of the Cholesky factor"},
    {"factor_flops", SP_NUMBER, .when = "`modes`, not `--method inertia`",
     .meaning = "floating-point operations of the factorization"},
    {"order", SP_INTEGER, .when = "`modes --method krylov`", .meaning = "applications of K⁻¹M"},
    {"dependent", SP_INTEGER, .when = "`modes --method krylov`",
     .meaning = "columns that were dropped because earlier ones span them"},
    {"largest_cosine_before", SP_NUMBER, .when = "`modes --method krylov`",
     .meaning = "largest cosine of a new column to an earlier one before orthogonalization"},
    {"samples", SP_INTEGER, .when = "`modes --orthogonalize reduced`",
     .meaning = "sample points of the inner products"},
    {"sample_box", SP_NUMBER, .unit = "m", .when = "`modes --orthogonalize reduced`",
     .meaning = "edge of the boxes that have one sample point each"},
    {"subtractions", SP_INTEGER, .when = "`modes --orthogonalize reduced`",
     .meaning = "subtractions of an earlier column that were made"},
    {"culled", SP_INTEGER, .when = "`modes --orthogonalize reduced`", .meaning = "subtractions that were left out"},
    {"ritz_frequencies", SP_NUMBERS, .unit = "Hz", .when = "`modes --ritz`",
     .meaning = "frequencies of the Ritz vectors"},
    {"interfaces", SP_INTEGER, .when = "`modes --interface`", .meaning = "number of interfaces"},
    {"constraint_modes", SP_INTEGER, .when = "`modes --interface`", .meaning = "number of constraint modes"},
    {"constraint_residual", SP_NUMBER, .when = "`modes --interface`",
     .meaning = "largest residual of a constraint mode, relative to its right-hand side"},
    {0}};

const sp_kind sp_kind_snapshots = {"snapshots", symbols, snapshots, snapshots_meta, snapshots_result};
static const sp_fact basis_meta[] = {
    {"mass", SP_STRING, .meaning = "`consistent` or `lumped`: the mass in which U is orthonormal"},
    {"mesh", SP_HASH, .when = "if known", .meaning = "of the mesh"},
    {0}};

static const sp_fact basis_result[] = {
    {"orthogonality", SP_NUMBER, .when = "`masspca`, `simimport --mesh`",
     .meaning = "largest magnitude of an entry of UᵀMU − 1"},
    {"columns", SP_INTEGER, .when = "`masspca`", .meaning = "columns of the samples A"},
    {"rank", SP_INTEGER, .when = "`masspca`", .meaning = "how many of them are independent"},
    {"singular_values", SP_NUMBERS, .when = "`masspca --method pca`",
     .meaning = "those of M^½A, with `--inner energy` of (K + μM)^½A, up to the rank"},
    {"new_parts", SP_NUMBERS, .when = "other methods of `masspca`",
     .meaning = "the norm of the part of each retained column that the columns before it do not span"},
    {0}};

const sp_kind sp_kind_basis = {"basis", symbols, basis, basis_meta, basis_result};

/* A file of another program is read as snapshots, of which only U is used. */
static const sp_kind kind_foreign = {"", symbols, foreign, NULL, NULL};

/* Returns NULL if the name is none of these. */
static const sp_kind *kind_of(const char *name)
{
    static const sp_kind *const kinds[] = {&sp_kind_modes, &sp_kind_derivatives, &sp_kind_snapshots, &sp_kind_basis,
                                           &kind_foreign};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

/* ---- U by pieces ---- */

/* Starts with the first piece of a member: checks its shape and allocates memory for complete columns or rows. */
static int begin_pieces(sp_columns_pieces *pieces, const sp_array *array)
{
    enum { PIECE = 1 << 17 }; /* values */

    SP_PASS(sp_array_check(pieces->context, array, SP_F8, 2, (int64_t[]){pieces->expected_rows, -1}));
    SP_PASS(check_size(pieces->context, array->shape[0], array->shape[1]));

    /* Pieces are complete columns in Fortran order or complete rows in C order. */
    int64_t line = array->fortran ? array->shape[0] : array->shape[1];
    pieces->have = 0;
    pieces->capacity = line < PIECE ? PIECE / line * line : line;
    pieces->values = sp_pool_raw(&pieces->pool, pieces->capacity, sizeof *pieces->values);
    pieces->transposed =
        array->fortran ? pieces->values : sp_pool_raw(&pieces->pool, pieces->capacity, sizeof *pieces->transposed);

    if (pieces->pool.failed)
        return sp_fail_memory(pieces->context);
    return SP_OK;
}

/* Passes complete columns or rows to the consumer; `end` is the number of the first value that is not yet read. */
static int give_piece(sp_columns_pieces *pieces, const sp_array *array, int64_t end)
{
    int64_t rows = array->shape[0], columns = array->shape[1], line = array->fortran ? rows : columns,
            lines = pieces->have / line, at = end / line - lines;
    for (int64_t i = 0; i < pieces->have; i++)
        if (!isfinite(pieces->values[i]))
            return sp_fail(pieces->context, SP_INPUT, "U: value %lld is not finite",
                           (long long)(end - pieces->have + i));
    pieces->have = 0;
    if (array->fortran)
        return pieces->take(pieces->data, rows, columns, 0, rows, at, lines, pieces->values);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < lines; i++)
            pieces->transposed[c * lines + i] = pieces->values[i * columns + c];
    return pieces->take(pieces->data, rows, columns, at, lines, 0, columns, pieces->transposed);
}

static int read_piece(void *data, const sp_array *array, int64_t first, int64_t count, const void *values)
{
    sp_columns_pieces *pieces = data;
    int status = first == 0 ? begin_pieces(pieces, array) : SP_OK;
    for (int64_t i = 0, part; i < count && status == SP_OK; i += part) {
        int64_t left = pieces->capacity - pieces->have;
        part = count - i < left ? count - i : left;
        for (int64_t k = 0; k < part; k++)
            pieces->values[pieces->have + k] =
                array->type == SP_F4 ? (double)((const float *)values)[i + k] : ((const double *)values)[i + k];
        pieces->have += part;
        if (pieces->have == pieces->capacity || first + i + part == array->count)
            status = give_piece(pieces, array, first + i + part);
    }
    return status;
}

void sp_columns_divert(sp_context *context, sp_reader *reader, int64_t rows, sp_columns_pieces *pieces)
{
    pieces->context = context;
    pieces->expected_rows = rows;
    sp_reader_divert(reader, "U", read_piece, pieces);
}

void sp_columns_pieces_free(sp_columns_pieces *pieces)
{
    sp_pool_free(&pieces->pool);
}

/* ---- reading and writing ---- */

int sp_columns_whole(sp_context *context, const sp_columns *columns)
{
    return columns->total ? sp_fail(context, SP_INPUT,
                                    "it is a shard, of %lld to %lld of %lld: join it with the others (simmerge)",
                                    (long long)columns->first, (long long)columns->end - 1, (long long)columns->total)
                          : SP_OK;
}

/* Of which items a shard has columns. */
static int read_shard(sp_context *context, const json_t *meta, const sp_kind *kind, sp_columns *columns)
{
    int status = SP_OK;
    if (!json_object_get(meta, "total"))
        return SP_OK;

    SP_TRY(sp_json_integer(context, meta, "total", 1, INT64_C(1) << 40, &columns->total));
    SP_TRY(sp_json_integer(context, meta, "first", 0, columns->total - 1, &columns->first));
    SP_TRY(sp_json_integer(context, meta, "end", columns->first + 1, columns->total, &columns->end));

    /* Derivatives have one column an item; snapshots may be fewer, of which `sample` says the items. */
    const int64_t items = columns->end - columns->first;
    if (kind == &sp_kind_derivatives ? columns->count != items : columns->count > items)
        status = sp_fail(context, SP_INPUT, "it has %lld columns for %lld items of the shard",
                         (long long)columns->count, (long long)items);

    for (int64_t c = 0; status == SP_OK && columns->sample && c < columns->count; c++)
        if (columns->sample[c] < columns->first || columns->sample[c] >= columns->end)
            status = sp_fail(context, SP_INPUT, "sample: value %lld is %lld, of a shard of %lld to %lld", (long long)c,
                             (long long)columns->sample[c], (long long)columns->first, (long long)columns->end - 1);
done:
    return status;
}

int64_t sp_columns_coordinates(const sp_columns *columns)
{
    int64_t count = 0;
    for (int64_t i = 0; i < columns->interface_count; i++)
        count += columns->interfaces[i].count;
    return count;
}

/* One entry of "interfaces" in meta: its coordinates are columns from `first` on. */
static int read_interface(sp_context *context, const json_t *object, int64_t first, int64_t columns,
                          sp_interface *interface)
{
    const char *name, *frame;
    int kind = 0;
    *interface = (sp_interface){.first = first};

    SP_PASS(sp_json_text(context, object, "name", &name));
    SP_PASS(sp_json_text(context, object, "frame", &frame));
    SP_PASS(sp_json_integer(context, object, "coordinates", 0, columns - first, &interface->count));
    SP_PASS(sp_json_integer(context, object, "vertices", 1, INT64_C(1) << 40, &interface->vertex_count));
    while (kind < SP_FRAMES && strcmp(frame, sp_interface_frame_name((sp_interface_frame)kind)) != 0)
        kind++;

    /* An interface without coordinates stays at rest. */
    interface->at_rest = interface->count == 0;
    if (kind == SP_FRAMES || (kind != SP_FRAME_NONE && !interface->at_rest && interface->count != 6))
        return sp_fail(context, SP_INPUT, "meta: an interface has the frame \"%.20s\" with %lld coordinates", frame,
                       (long long)interface->count);
    interface->frame = (sp_interface_frame)kind;

    if (strlen(name) >= sizeof interface->name)
        return sp_fail(context, SP_INPUT, "meta: the name of an interface has %zu bytes, more than %zu", strlen(name),
                       sizeof interface->name - 1);
    strcpy(interface->name, name);

    const json_t *origin = json_object_get(object, "origin");
    for (size_t c = 0; c < 3; c++) {
        interface->origin[c] = json_number_value(json_array_get(origin, c));
        if (json_array_size(origin) != 3 || !json_is_number(json_array_get(origin, c)))
            return sp_fail(context, SP_INPUT, "meta: the origin of interface \"%s\" is not three numbers", name);
    }
    return SP_OK;
}

static int read_interfaces(sp_context *context, const json_t *meta, sp_pool *pool, sp_columns *columns)
{
    const json_t *list = json_object_get(meta, "interfaces");
    const size_t count = json_array_size(list);
    int64_t first = 0;
    if (!list)
        return SP_OK;

    if (count == 0 || count > (size_t)columns->rows)
        return sp_fail(context, SP_INPUT, "meta: \"interfaces\" is not an array of 1 to %lld objects",
                       (long long)columns->rows);
    columns->interfaces = sp_pool_new(pool, (int64_t)count, sizeof *columns->interfaces);
    SP_PASS(sp_allocated(context, columns->interfaces));

    for (size_t i = 0; i < count; i++) {
        SP_PASS(read_interface(context, json_array_get(list, i), first, columns->count, &columns->interfaces[i]));
        first += columns->interfaces[i].count;
    }
    columns->interface_count = (int64_t)count;
    return SP_OK;
}

static int write_interfaces(sp_context *context, json_t *meta, const sp_columns *columns)
{
    json_t *list = json_array();
    bool failed = false;
    for (int64_t i = 0; i < columns->interface_count; i++) {
        const sp_interface *x = &columns->interfaces[i];
        failed |= json_array_append_new(list, json_pack("{sssssIsIs[fff]}", "name", x->name, "frame",
                                                        sp_interface_frame_name(x->frame), "coordinates",
                                                        (json_int_t)x->count, "vertices", (json_int_t)x->vertex_count,
                                                        "origin", x->origin[0], x->origin[1], x->origin[2])) != 0;
    }
    if (columns->interface_count > 0)
        failed |= json_object_set(meta, "interfaces", list) != 0;
    json_decref(list);
    return failed ? sp_fail_memory(context) : SP_OK;
}

int sp_columns_read(sp_context *context, sp_file *file, int64_t rows, sp_columns *columns)
{
    const sp_kind *kind = kind_of(sp_file_kind(file));
    int64_t order = 0;
    int status;
    *columns = (sp_columns){.rows = rows};

    if (!kind)
        return sp_fail(context, SP_INPUT, "it is a file of kind %.40s, expected modes, derivatives, snapshots or basis",
                       sp_file_kind(file));
    SP_TRY(sp_kind_read(context, file, kind, columns));

    SP_TRY(sp_json_hash(context, file->meta, "mesh", columns->mesh));
    if (kind == &sp_kind_modes || kind == &sp_kind_basis)
        SP_TRY(sp_json_mass(context, file->meta, true, &columns->lumped));

    if (kind == &sp_kind_modes) {
        SP_TRY(sp_json_integer(context, file->meta, "rigid", 0, columns->count, &columns->rigid));
        SP_TRY(sp_json_hash(context, file->meta, "about", columns->about));
        columns->ritz = json_is_true(json_object_get(file->meta, "ritz"));
    }

    if (kind == &sp_kind_derivatives) {
        SP_TRY(sp_json_integer(context, file->meta, "order", 1, 1000, &order));
        columns->order = (int)order;
        if (json_object_get(file->meta, "source"))
            SP_TRY(sp_json_integer(context, file->meta, "source", 1, INT64_C(1) << 40, &columns->source));
        if (order == 1 && !columns->pair)
            status = sp_fail(context, SP_INPUT, "member pair is missing, which derivatives of order 1 have");
        SP_TRY(status);
    }

    if (kind == &sp_kind_derivatives || kind == &sp_kind_snapshots)
        SP_TRY(read_shard(context, file->meta, kind, columns));
    if (kind == &sp_kind_snapshots || kind == &sp_kind_derivatives)
        status = read_interfaces(context, file->meta, &file->members.pool, columns);
done:
    if (status != SP_OK) {
        *columns = (sp_columns){0};
        return status;
    }

    /* The columns take over the members' memory. */
    columns->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_columns_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_columns *columns)
{
    const char *name = json_string_value(json_object_get(meta, "kind"));
    const sp_kind *kind = kind_of(name ? name : "snapshots");
    bool failed = columns->mesh[0] && json_object_set_new(meta, "mesh", json_string(columns->mesh));

    if (kind == &sp_kind_modes || kind == &sp_kind_basis)
        failed |= sp_json_set_mass(meta, columns->lumped);

    if (kind == &sp_kind_modes)
        failed |= json_object_set_new(meta, "rigid", json_integer(columns->rigid)) != 0;
    if (kind == &sp_kind_modes && columns->ritz)
        failed |= json_object_set_new(meta, "ritz", json_true()) != 0;
    if (kind == &sp_kind_modes && columns->about[0])
        failed |= json_object_set_new(meta, "about", json_string(columns->about)) != 0;

    if (kind == &sp_kind_derivatives)
        failed |= json_object_set_new(meta, "order", json_integer(columns->order)) != 0;
    if (kind == &sp_kind_derivatives && columns->source)
        failed |= json_object_set_new(meta, "source", json_integer(columns->source)) != 0;

    if (columns->total)
        failed |= json_object_set_new(meta, "first", json_integer(columns->first)) ||
                  json_object_set_new(meta, "end", json_integer(columns->end)) ||
                  json_object_set_new(meta, "total", json_integer(columns->total));

    if (failed)
        return sp_fail_memory(context);
    const int status = write_interfaces(context, meta, columns);
    return status == SP_OK ? sp_kind_write(context, writer, kind, meta, columns) : status;
}

void sp_columns_free(sp_columns *columns)
{
    sp_pool_free(&columns->pool);
    *columns = (sp_columns){0};
}
