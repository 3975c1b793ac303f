#include "formats/import/superelement.h"

#include "formats/import/matrix.h"
#include "formats/key_tables.h"

#include <math.h>
#include <string.h>

/* Symmetric within this part of the largest entry, as readers of polynomials require. */
static const double SYMMETRY = 1e-9;

/* ---- keys ---- */

enum frame { FRAME_RIGID, FRAME_AVERAGE, FRAME_NONE };

struct interface_read {
    int frame;
    int64_t first, coordinates;
    double origin[3];
    char name[SP_KEY_NAME_SIZE];
};

static const sp_key_words frames = {FRAME_RIGID, {"rigid", "average", "none"}};

#define AT(member) .offset = offsetof(struct interface_read, member)
static const sp_key interface_keys[] = {
    {"frame", WORD, REQUIRED, AT(frame), .words = &frames},
    {"name", SP_KEY_TEXT, REQUIRED, AT(name)},
    {"first", INTEGER, REQUIRED, AT(first), WITHIN(0, 1999)},
    {"coordinates", INTEGER, REQUIRED, AT(coordinates), WITHIN(1, 2000)},
    {"origin", NUMBER, OPTIONAL, AT(origin), 3, "m", WITHIN(-1e100, 1e100)},
    {"vertices", SP_KEY_INTEGERS, OPTIONAL, .count = 0},
    {0},
};
#undef AT
static const sp_key_table interface_table = {"interface", interface_keys};

/* Here only the names of the keys matter: others read their values. */
static const sp_key file_keys[] = {
    {"npy", SP_KEY_NAME, OPTIONAL, .count = 0}, {"matrix_market", SP_KEY_NAME, OPTIONAL, .count = 0}, {0}};
static const sp_key_table file_table = {"matrix", file_keys};

static const sp_key root_keys[] = {
    {"format", SP_KEY_NAME, REQUIRED, .count = 0},       {"format_version", SP_KEY_NAME, REQUIRED, .count = 0},
    {"coordinates", INTEGER, REQUIRED, WITHIN(1, 2000)}, {"mesh", SP_KEY_NAME, OPTIONAL, .count = 0},
    {"basis", SP_KEY_NAME, OPTIONAL, .count = 0},        {"matrices", SP_KEY_NAMED, REQUIRED, .count = 0},
    {"interfaces", SP_KEY_LIST, OPTIONAL, .count = 0},   {0}};
static const sp_key_table root_table = {"superelement", root_keys};

static const sp_key matrices_keys[] = {{"mass", SP_KEY_NAMED, REQUIRED, .count = 0},
                                       {"stiffness", SP_KEY_NAMED, REQUIRED, .count = 0},
                                       {"damping", SP_KEY_NAMED, OPTIONAL, .count = 0},
                                       {"gravity", SP_KEY_NAMED, OPTIONAL, .count = 0},
                                       {0}};
static const sp_key_table matrices_table = {"matrices", matrices_keys};

/* Vertices of an interface: whole numbers from 0, increasing, and a third of its coordinates without a frame. */
static int check_vertices(sp_key_reader *reader, const json_t *vertices, const struct interface_read *interface)
{
    static const sp_key vertex = {"vertices", INTEGER, REQUIRED, FROM(0)};
    int64_t number, last = -1;

    if (!json_is_array(vertices))
        return sp_keys_fail(reader, "it is %s, expected an array of vertices", sp_keys_what(vertices));
    if (interface->frame == FRAME_NONE && 3 * (int64_t)json_array_size(vertices) != interface->coordinates)
        return sp_keys_fail(reader, "%lld vertices without a frame have %lld coordinates, not %lld",
                            (long long)json_array_size(vertices), 3 * (long long)json_array_size(vertices),
                            (long long)interface->coordinates);

    for (size_t i = 0; i < json_array_size(vertices); i++, last = number) {
        const size_t up = sp_keys_down(reader, "[%zu]", i);
        SP_PASS(sp_keys_integer(reader, json_array_get(vertices, i), &vertex, &number));
        if (number <= last)
            return sp_keys_fail(reader, "%lld follows %lld: vertices are increasing", (long long)number,
                                (long long)last);
        sp_keys_up(reader, up);
    }
    return SP_OK;
}

/* The interfaces: one after the other in the coordinates, which are r. */
static int check_interfaces(sp_key_reader *reader, json_t *interfaces, int64_t r)
{
    int64_t next = 0;
    const size_t up = sp_keys_down(reader, ".interfaces");
    if (interfaces && !json_is_array(interfaces))
        return sp_keys_fail(reader, "it is %s, expected an array of interfaces", sp_keys_what(interfaces));

    for (size_t i = 0; i < json_array_size(interfaces); i++) {
        struct interface_read interface;
        json_t *object = json_array_get(interfaces, i);
        const json_t *vertices = json_object_get(object, "vertices");
        const size_t entry = sp_keys_down(reader, "[%zu]", i);
        SP_PASS(sp_keys_read(reader, object, &interface_table, &interface));

        if (interface.frame != FRAME_NONE && interface.coordinates != 6)
            return sp_keys_fail(reader, "an interface with a frame has 6 coordinates, not %lld",
                                (long long)interface.coordinates);
        if (interface.first != next || next + interface.coordinates > r)
            return sp_keys_fail(reader, "its coordinates are %lld to %lld, expected from %lld on and below %lld",
                                (long long)interface.first, (long long)(interface.first + interface.coordinates - 1),
                                (long long)next, (long long)r);
        next += interface.coordinates;

        const size_t list = sp_keys_down(reader, ".vertices");
        if (vertices)
            SP_PASS(check_vertices(reader, vertices, &interface));
        sp_keys_up(reader, list);
        sp_keys_up(reader, entry);
    }
    sp_keys_up(reader, up);
    return SP_OK;
}

/* Unknown keys and values that are none, in the parts of the description that are not read otherwise, too. */
static int check_keys(sp_context *context, json_t *root)
{
    static const char *const names[] = {"mass", "stiffness", "damping", "gravity"};
    sp_pool pool = {0};
    sp_key_reader reader = {.context = context, .pool = &pool, .folder = ""};
    json_t *matrices = json_object_get(root, "matrices");
    int64_t r, none; /* the tables whose values others read have no place for them */
    int status;

    SP_TRY(sp_json_integer(context, root, "coordinates", 1, 2000, &r));
    SP_TRY(sp_keys_read(&reader, root, &root_table, &r));

    const size_t up = sp_keys_down(&reader, ".matrices");
    SP_TRY(sp_keys_read(&reader, matrices, &matrices_table, &none));
    for (int i = 0; i < 4; i++) {
        json_t *files = json_object_get(matrices, names[i]);
        const size_t entry = sp_keys_down(&reader, ".%s", names[i]);
        if (files)
            SP_TRY(sp_keys_read(&reader, files, &file_table, &none));
        sp_keys_up(&reader, entry);
    }
    sp_keys_up(&reader, up);

    status = check_interfaces(&reader, json_object_get(root, "interfaces"), r);
done:
    sp_pool_free(&pool);
    return status;
}

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
    SP_PASS(read_name(context, files, matrix, "npy", &file->npy));
    SP_PASS(read_name(context, files, matrix, "matrix_market", &file->matrix_market));
    if (!file->npy && !file->matrix_market)
        return sp_fail(context, SP_INPUT, "matrices: \"%s\" names no file under \"npy\" or \"matrix_market\"", matrix);
    return SP_OK;
}

static int check_format(sp_context *context, const json_t *root)
{
    const char *format, *version;
    SP_PASS(sp_json_text(context, root, "format", &format));
    SP_PASS(sp_json_text(context, root, "format_version", &version));
    if (strcmp(format, "supple superelement") != 0 || strncmp(version, "1.", 2) != 0)
        return sp_fail(context, SP_INPUT,
                       "its format is \"%.40s\" of version %.10s, expected \"supple superelement\" of 1.x", format,
                       version);
    return SP_OK;
}

int sp_superelement_describe(sp_context *context, const char *text, int64_t count, sp_superelement_description *d)
{
    json_error_t error;
    sp_superelement_file damping; /* only checked */
    int status;
    *d = (sp_superelement_description){.root = sp_json_load(text, count, &error)};

    if (!json_is_object(d->root)) {
        status = sp_fail(context, SP_INPUT, "line %d: %s", d->root ? 1 : error.line,
                         d->root ? "it is no JSON object" : error.text);
        goto done;
    }

    SP_TRY(check_format(context, d->root));
    SP_TRY(check_keys(context, d->root));
    SP_TRY(sp_json_integer(context, d->root, "coordinates", 1, 2000, &d->r));

    const json_t *matrices = json_object_get(d->root, "matrices");
    SP_TRY(read_files(context, matrices, "mass", &d->mass));
    SP_TRY(read_files(context, matrices, "stiffness", &d->stiffness));
    if (json_object_get(matrices, "damping"))
        SP_TRY(read_files(context, matrices, "damping", &damping));
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
    SP_PASS((npy ? sp_matrix_parse_npy : sp_matrix_parse_market)(context, bytes, count, pool, &read));
    if (read.rows != rows || read.columns != columns)
        return sp_fail(context, SP_INPUT, "it is %lld by %lld, expected %lld by %lld", (long long)read.rows,
                       (long long)read.columns, (long long)rows, (long long)columns);
    *matrix = read.value;
    return SP_OK;
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
    if (gravity)
        for (int64_t i = 0; i < 3 * r; i++)
            polynomials->gravity[i] = gravity[i % 3 * r + i / 3];
done:
    sp_cubic_free(&force);
    return status;
}
