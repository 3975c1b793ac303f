#include "formats/curve.h"

#include "formats/kind_tables.h"

#include <string.h>

static const char *const curve_words[] = {
    [SP_PERIODIC_RESPONSE] = "response", [SP_PERIODIC_BACKBONE] = "backbone", [SP_PERIODIC_FORCE] = "force-sweep"};

static int64_t columns_of(const void *object)
{
    return ((const sp_curve_file *)object)->columns;
}

static int64_t multipliers_of(const void *object)
{
    return 2 * ((const sp_curve_file *)object)->r;
}

#define AT(member) .at = offsetof(sp_curve_file, member)
static const sp_member_rule rules[] = {
    {"frequency", "n", SP_F8, AT(frequency), ABOVE(0), .unit = "Hz", .meaning = "frequency Ω/2π of the motion"},
    {"factor", "n", SP_F8, AT(factor), .meaning = "factor on the harmonic loads"},
    {"amplitude", "n", SP_F8, AT(amplitude), FROM(0), .unit = "m",
     .meaning = "half of the range of the probe's displacement over a period"},
    {"energy", "n", SP_F8, AT(energy), .unit = "J", .meaning = "kinetic and strain energy, mean over a period"},
    {"coefficient", "n, c, r", SP_F8, AT(coefficient),
     .meaning = "Fourier coefficients of the reduced coordinates: constant, cosine 1, sine 1, cosine 2, …"},
    {"multiplier", "n, m, 2", SP_F8, AT(multiplier),
     .meaning = "Floquet multipliers, real and imaginary part, by decreasing modulus; 0: not computed"},
    {"residual", "n", SP_F8, OPTIONAL, AT(residual), FROM(0),
     .meaning = "residual of the full-order model relative to its internal force"},
    {"stable", "n", SP_U1, AT(stable), WITHIN(0, 1), .meaning = "1: stable"},
    {"event", "n", SP_U1, AT(event), WITHIN(0, 4),
     .meaning = "0 regular, 1 fold, 2 branch point, 3 period doubling, 4 Neimark-Sacker"},
    {0}};
#undef AT

static const sp_fact curve_meta[] = {
    {"curve", SP_STRING, .meaning = "`response`, `backbone` or `force-sweep`"},
    {"r", SP_INTEGER, .meaning = "number of coordinates"},
    {"harmonics", SP_INTEGER, .meaning = "number of harmonics H"},
    {"mesh", SP_HASH, .meaning = "of the mesh"},
    {"basis", SP_HASH, .meaning = "of the basis"},
    {"probe", SP_INTEGERS, .meaning = "vertex and axis (0 x, 1 y, 2 z) of `amplitude`"},
    {"probe_surface", SP_BOOLEAN, .when = "optional",
     .meaning = "true: the vertex is one of the embedded surface; absent: false"},
    {0}};

static const sp_fact curve_result[] = {
    {"points", SP_INTEGER, .meaning = "number of points"},
    {"folds", SP_INTEGER, .meaning = "points that are folds"},
    {"branch_points", SP_INTEGER, .meaning = "points that are branch points"},
    {"period_doublings", SP_INTEGER, .meaning = "points that are period doublings"},
    {"neimark_sacker", SP_INTEGER, .meaning = "points that are Neimark-Sacker points"},
    {"complete", SP_BOOLEAN,
     .meaning = "false: the continuation failed after the last point, or the file was written with `--partial`"},
    {"worst_residual", SP_NUMBER, .meaning = "largest norm of the residual relative to the internal force"},
    {"worst_full_residual", SP_NUMBER, .when = "with `residual`", .meaning = "largest `residual`"},
    {"worst_balance", SP_NUMBER, .meaning = "largest relative difference of the power of the load and that of damping"},
    {"worst_event", SP_NUMBER,
     .meaning = "largest distance of a multiplier from 1 at folds, from −1 at period doublings, from the unit circle "
                "at Neimark-Sacker points"},
    {"newton_iterations", SP_INTEGER, .meaning = "Newton iterations of the continuation"},
    {"factorizations", SP_INTEGER, .meaning = "factorizations of the continuation"},
    {"rejected_steps", SP_INTEGER, .meaning = "steps of the continuation that were rejected"},
    {0}};

const sp_kind sp_kind_curve = {"curve",
                               (const sp_symbol[]){{"r", .at = offsetof(sp_curve_file, r), .given = true},
                                                   {"c", .follows = columns_of},
                                                   {"m", .follows = multipliers_of},
                                                   {"n", .at = offsetof(sp_curve_file, n)},
                                                   {0}},
                               rules, curve_meta, curve_result};

static int read_kind(sp_context *context, const json_t *meta, enum sp_periodic_kind *kind)
{
    const char *word;
    SP_PASS(sp_json_text(context, meta, "curve", &word));
    for (int i = 0; i < (int)(sizeof curve_words / sizeof *curve_words); i++)
        if (!strcmp(word, curve_words[i])) {
            *kind = (enum sp_periodic_kind)i;
            return SP_OK;
        }
    return sp_fail(context, SP_INPUT, "its curve is \"%.40s\", which is unknown", word);
}

int sp_curve_read(sp_context *context, sp_file *file, sp_curve_file *curve)
{
    int64_t harmonics;
    int status;
    *curve = (sp_curve_file){0};

    SP_TRY(read_kind(context, file->meta, &curve->kind));
    SP_TRY(sp_json_hash(context, file->meta, "mesh", curve->mesh));
    SP_TRY(sp_json_hash(context, file->meta, "basis", curve->basis));
    SP_TRY(sp_json_integer(context, file->meta, "r", 1, 1 << 14, &curve->r));
    SP_TRY(sp_json_integer(context, file->meta, "harmonics", 1, 10000, &harmonics));
    curve->columns = 2 * harmonics + 1;

    SP_TRY(sp_kind_read(context, file, &sp_kind_curve, curve));
    if (curve->n < 1) {
        status = sp_fail(context, SP_INPUT, "it has no point");
        goto done;
    }

    curve->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *curve = (sp_curve_file){0};
    return status;
}

void sp_curve_file_free(sp_curve_file *curve)
{
    sp_pool_free(&curve->pool);
}

int sp_curve_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_curve_file *curve)
{
    if (json_object_set_new(meta, "curve", json_string(curve_words[curve->kind])) ||
        json_object_set_new(meta, "r", json_integer(curve->r)) ||
        json_object_set_new(meta, "harmonics", json_integer((curve->columns - 1) / 2)))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_curve, meta, curve);
}
