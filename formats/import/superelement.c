#include "formats/import/superelement.h"

#include "formats/import/matrix.h"

#include <math.h>
#include <string.h>

/* Symmetric within this part of the largest entry, as readers of polynomials require. */
static const double SYMMETRY = 1e-9;

/* ---- the description ---- */

/* A name of a file beside the description; NULL if it is not given. */
static int read_name(sp_context *context, const json_t *files, const char *matrix, const char *key, const char **name)
{
    const json_t *value = json_object_get(files, key);
    *name = json_string_value(value);
    if (value && !*name)
        return sp_fail(context, SP_INPUT, "matrices: %s: \"%s\" is not the name of a file", matrix, key);
    if (*name && (!**name || strlen(*name) > 4000 || strchr(*name, '/') || !strcmp(*name, "..") || !strcmp(*name, ".")))
        return sp_fail(context, SP_INPUT, "the file \"%.200s\" that it names is not beside it", *name);
    return SP_OK;
}

static int read_files(sp_context *context, const json_t *matrices, const char *matrix, sp_superelement_file *file)
{
    const json_t *files = json_object_get(matrices, matrix);
    int status;
    SP_TRY(read_name(context, files, matrix, "npy", &file->npy));
    SP_TRY(read_name(context, files, matrix, "matrix_market", &file->matrix_market));
    if (!file->npy && !file->matrix_market)
        return sp_fail(context, SP_INPUT, "matrices: \"%s\" names no file under \"npy\" or \"matrix_market\"", matrix);
done:
    return status;
}

static int check_format(sp_context *context, const json_t *root)
{
    const char *format, *version;
    int status;
    SP_TRY(sp_json_text(context, root, "format", &format));
    SP_TRY(sp_json_text(context, root, "format_version", &version));
    if (strcmp(format, "supple superelement") != 0 || strncmp(version, "1.", 2) != 0)
        return sp_fail(context, SP_INPUT,
                       "its format is \"%.40s\" of version %.10s, expected \"supple superelement\" of 1.x", format,
                       version);
done:
    return status;
}

int sp_superelement_describe(sp_context *context, const char *text, int64_t count, sp_superelement_description *d)
{
    json_error_t error;
    int status;
    *d = (sp_superelement_description){.root = sp_json_load(text, count, &error)};
    if (!json_is_object(d->root)) {
        status = sp_fail(context, SP_INPUT, "line %d: %s", d->root ? 1 : error.line,
                         d->root ? "it is no JSON object" : error.text);
        goto done;
    }
    SP_TRY(check_format(context, d->root));
    SP_TRY(sp_json_integer(context, d->root, "coordinates", 1, 2000, &d->r));
    const json_t *matrices = json_object_get(d->root, "matrices");
    SP_TRY(read_files(context, matrices, "mass", &d->mass));
    SP_TRY(read_files(context, matrices, "stiffness", &d->stiffness));
    d->has_gravity = json_object_get(matrices, "gravity") != NULL;
    if (d->has_gravity)
        SP_TRY(read_files(context, matrices, "gravity", &d->gravity));
    SP_TRY(sp_json_hash(context, d->root, "mesh", d->mesh));
    SP_TRY(sp_json_hash(context, d->root, "basis", d->basis));
done:
    if (status != SP_OK)
        sp_superelement_description_free(d);
    return status;
}

void sp_superelement_description_free(sp_superelement_description *d)
{
    json_decref(d->root);
    *d = (sp_superelement_description){0};
}

/* ---- matrices ---- */

int sp_superelement_matrix(sp_context *context, const char *bytes, int64_t count, bool npy, int64_t rows,
                           int64_t columns, sp_pool *pool, double **matrix)
{
    sp_matrix read;
    int status;
    SP_TRY((npy ? sp_matrix_parse_npy : sp_matrix_parse_market)(context, bytes, count, pool, &read));
    if (read.rows != rows || read.columns != columns)
        return sp_fail(context, SP_INPUT, "it is %lld by %lld, expected %lld by %lld", (long long)read.rows,
                       (long long)read.columns, (long long)rows, (long long)columns);
    *matrix = read.value;
done:
    return status;
}

static int make_symmetric(sp_context *context, const char *name, int64_t r, double *A)
{
    double largest = 0, off = 0;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j <= i; j++) {
            largest = fmax(largest, fabs(A[j * r + i]));
            off = fmax(off, fabs(A[j * r + i] - A[i * r + j]));
        }
    if (!(off <= SYMMETRY * largest))
        return sp_fail(context, SP_INPUT, "the %s matrix is symmetric within %.1e of its largest entry only", name,
                       largest > 0 ? off / largest : 0);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < i; j++)
            A[j * r + i] = A[i * r + j] = 0.5 * (A[j * r + i] + A[i * r + j]);
    return SP_OK;
}

int sp_superelement_polynomials(sp_context *context, int64_t r, double *mass, double *stiffness, const double *gravity,
                                sp_polynomials *polynomials)
{
    sp_cubic_force force = {0};
    double asymmetry[3];
    int status;
    SP_TRY(make_symmetric(context, "mass", r, mass));
    SP_TRY(make_symmetric(context, "stiffness", r, stiffness));
    SP_TRY(sp_cubic_new(context, r, &force));
    memcpy(force.linear, stiffness, (size_t)(r * r) * sizeof *stiffness);
    SP_TRY(sp_polynomials_from_cubic(context, &force, polynomials, asymmetry));
    memcpy(polynomials->mass, mass, (size_t)(r * r) * sizeof *mass);
    for (int64_t i = 0; i < 3 * r && gravity; i++)
        polynomials->gravity[i] = gravity[i % 3 * r + i / 3];
done:
    sp_cubic_free(&force);
    return status;
}
