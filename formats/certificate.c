#include "formats/certificate.h"

#include "formats/kind_tables.h"

#include <string.h>

enum { MOST = 256, MOST_LOADS = 1 << 20 }; /* coordinates: columns² doubles stay far below 2⁶³ bytes */

/* With the number of degrees of freedom of the mesh. */
typedef struct certificate_file {
    sp_certificate c;
    int64_t rows;
} certificate_file;

static int64_t columns(const void *object)
{
    const sp_certificate *c = &((const certificate_file *)object)->c;
    return sp_certificate_columns(c->r, c->loads.count);
}

static int64_t starts(const void *object)
{
    return ((const certificate_file *)object)->c.loads.count + 1;
}

static int check_triangle(sp_context *context, const sp_array *array, void *object)
{
    const int64_t m = columns(object);
    const double *factor = array->data;
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = j + 1; i < m; i++)
            if (factor[j * m + i] != 0)
                return sp_fail(context, SP_INPUT, "factor: value (%lld, %lld) is %.9g, expected 0 below the diagonal",
                               (long long)i, (long long)j, factor[j * m + i]);
    return SP_OK;
}

static int check_starts(sp_context *context, const sp_array *array, void *object)
{
    const sp_force_fields *loads = &((const certificate_file *)object)->c.loads;
    const int64_t *start = array->data;
    for (int64_t f = 0; f < loads->count; f++)
        if (start[f + 1] < start[f])
            return sp_fail(context, SP_INPUT, "load/indptr: it falls from %lld to %lld at load %lld",
                           (long long)start[f], (long long)start[f + 1], (long long)f);
    if (start[0] != 0 || start[loads->count] != loads->entries)
        return sp_fail(context, SP_INPUT, "load/indptr: it goes from %lld to %lld, expected 0 to %lld",
                       (long long)start[0], (long long)start[loads->count], (long long)loads->entries);
    return SP_OK;
}

#define AT(member) .at = offsetof(certificate_file, member)
static const sp_member_rule rules[] = {
    {"factor", "m, m", SP_F8, FORTRAN, AT(c.factor), .check = check_triangle, .unit = "√J",
     .meaning = "upper triangular: S"},
    {"load/indices", "e", SP_I8, AT(c.loads.index), BELOW("3 nv"), .meaning = "of each entry, 3·vertex + component"},
    {"load/data", "e", SP_F8, AT(c.loads.value), .unit = "N", .meaning = "the force"},
    {"load/indptr", "l + 1", SP_I8, AT(c.loads.start), .check = check_starts, .meaning = "begin of each load"},
    {0}};
#undef AT

static const sp_fact certificate_meta[] = {{"r", SP_INTEGER, .meaning = "number of coordinates"},
                                           {"loads", SP_INTEGER, .meaning = "number l of loads"},
                                           {"vertices", SP_INTEGER, .meaning = "of the mesh, ≥ 1"},
                                           {"mass", SP_STRING, .meaning = "`consistent` or `lumped`: M"},
                                           {"mesh", SP_HASH, .meaning = "of the mesh; empty if unknown"},
                                           {"basis", SP_HASH, .meaning = "of the basis; empty if unknown"},
                                           {0}};

static const sp_fact certificate_result[] = {
    {"columns", SP_INTEGER, .meaning = "m"},
    {"rank", SP_INTEGER, .meaning = "how many columns are independent"},
    {"orthogonality", SP_NUMBER, .meaning = "largest magnitude of an entry of QᵀKQ − 1"},
    {"residual", SP_NUMBER, .meaning = "largest residual of a solution with K, relative to the force"},
    {0}};

const sp_kind sp_kind_certificate = {
    "certificate",
    (const sp_symbol[]){{"r", .at = offsetof(certificate_file, c.r), .given = true},
                        {"3 nv", .at = offsetof(certificate_file, rows), .given = true},
                        {"e", .at = offsetof(certificate_file, c.loads.entries)},
                        {"m", .follows = columns},
                        {"l + 1", .follows = starts},
                        {0}},
    rules, certificate_meta, certificate_result};

int sp_certificate_read(sp_context *context, sp_file *file, int64_t vertices, sp_certificate *certificate, char *mesh,
                        char *basis)
{
    certificate_file in = {0};
    int64_t own;
    *certificate = (sp_certificate){0};

    if (strcmp(sp_file_kind(file), "certificate"))
        return sp_fail(context, SP_INPUT, "it is %s%.40s, expected certificate",
                       file->meta ? "a file of kind " : "not a file of Supple", sp_file_kind(file));

    SP_PASS(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_PASS(sp_json_hash(context, file->meta, "basis", basis));
    SP_PASS(sp_json_mass(context, file->meta, true, &in.c.lumped));
    SP_PASS(sp_json_integer(context, file->meta, "r", 1, MOST, &in.c.r));
    SP_PASS(sp_json_integer(context, file->meta, "loads", 0, MOST_LOADS, &in.c.loads.count));
    SP_PASS(sp_json_integer(context, file->meta, "vertices", 1, INT64_MAX / 32, &own));

    if (vertices >= 0 && own != vertices)
        return sp_fail(context, SP_INPUT, "it is of %lld vertices, the mesh has %lld", (long long)own,
                       (long long)vertices);
    in.rows = 3 * own;
    in.c.loads.entries = -1;
    SP_PASS(sp_kind_read(context, file, &sp_kind_certificate, &in));
    *certificate = in.c;

    /* The certificate takes over the members' memory. */
    certificate->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_certificate_write(sp_context *context, sp_writer *writer, json_t *meta, int64_t vertices,
                         const sp_certificate *certificate)
{
    const certificate_file out = {*certificate, 3 * vertices};
    if (json_object_set_new(meta, "r", json_integer(certificate->r)) ||
        json_object_set_new(meta, "loads", json_integer(certificate->loads.count)) ||
        json_object_set_new(meta, "vertices", json_integer(vertices)) || sp_json_set_mass(meta, certificate->lumped))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_certificate, meta, &out);
}
