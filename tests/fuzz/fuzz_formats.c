/* Feeds bytes to the reader of the container and to the reader of every kind of file. */
#include "formats/certificate.h"
#include "formats/columns.h"
#include "formats/cubature.h"
#include "formats/curve.h"
#include "formats/domains.h"
#include "formats/field.h"
#include "formats/mesh.h"
#include "formats/pointshell.h"
#include "formats/polynomials.h"
#include "formats/scene_log.h"
#include "formats/scene_trajectory.h"
#include "formats/skin.h"
#include "formats/sparse.h"
#include "formats/system.h"
#include "formats/trajectory.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int descriptor = -1;

static void rewind_file(void)
{
    if (lseek(descriptor, 0, SEEK_SET) != 0)
        abort();
}

/* Reads anew, because readers take the arrays out of the file. */
static bool open_file(sp_context *context, bool partial, sp_file *file)
{
    rewind_file();
    return sp_file_read(context, descriptor, NULL, true, partial, file) == SP_OK;
}

static int compare(void *data, int64_t rows, int64_t count, int64_t row, int64_t height, int64_t first, int64_t width,
                   double *values)
{
    const sp_columns *whole = data;
    (void)count;
    for (int64_t c = 0; whole->U && c < width; c++)
        for (int64_t i = 0; i < height; i++)
            if (whole->rows != rows || first + c >= whole->count || row + i >= rows ||
                whole->U[(first + c) * rows + row + i] != values[c * height + i])
                abort();
    return SP_OK;
}

/* U in pieces: the same status and the same values as the whole. */
static void read_pieces(sp_context *context)
{
    sp_file file;
    sp_columns whole = {0}, columns;
    sp_columns_pieces pieces = {.data = &whole, .take = compare};
    sp_reader *reader;
    sp_array first;
    bool good = open_file(context, false, &file), pieces_good = false;

    if (good) {
        good = sp_columns_read(context, &file, -1, &whole) == SP_OK;
        sp_file_free(&file);
    }

    rewind_file();
    if (sp_reader_open(context, descriptor, false, &reader) == SP_OK) {
        sp_columns_divert(context, reader, -1, &pieces);
        if (sp_file_begin(context, reader, NULL, &file, &first) == SP_OK &&
            sp_file_rest(context, reader, &first, true, &file) == SP_OK) {
            pieces_good = sp_columns_read(context, &file, -1, &columns) == SP_OK;
            if (pieces_good)
                sp_columns_free(&columns);
            sp_file_free(&file);
        }
        sp_columns_pieces_free(&pieces);
        sp_reader_close(reader);
    }

    if (good != pieces_good)
        abort();
    if (good)
        sp_columns_free(&whole);
}

static void read_columns(sp_context *context, sp_file *file)
{
    sp_columns columns;
    if (sp_columns_read(context, file, -1, &columns) == SP_OK)
        sp_columns_free(&columns);
}

static void read_matrix(sp_context *context, sp_file *file)
{
    sp_sparse matrix;
    int64_t *dof;
    char which[8];
    if (sp_sparse_read(context, file, &matrix, &dof, which) == SP_OK)
        sp_sparse_free(&matrix);
}

static void read_polynomials(sp_context *context, sp_file *file)
{
    sp_polynomials polynomials;
    char hash[2][SP_HASH_LENGTH];
    if (sp_polynomials_read(context, file, &polynomials, hash[0], hash[1]) == SP_OK)
        sp_polynomials_free(&polynomials);
    if (sp_polynomial_sums_read(context, file, &polynomials, hash[0], hash[1]) == SP_OK)
        sp_polynomials_free(&polynomials);
}

static void read_certificate(sp_context *context, sp_file *file)
{
    sp_certificate certificate;
    char hash[2][SP_HASH_LENGTH];
    if (sp_certificate_read(context, file, -1, &certificate, hash[0], hash[1]) == SP_OK)
        sp_certificate_free(&certificate);
}

static void read_curve(sp_context *context, sp_file *file)
{
    sp_curve_file curve;
    if (sp_curve_read(context, file, &curve) != SP_OK)
        return;
    for (int64_t i = 0; i < curve.n; i++)
        if (curve.stable[i] > 1 || curve.event[i] > 4 || !(curve.frequency[i] > 0))
            abort();
    sp_curve_file_free(&curve);
}

static void read_cubature(sp_context *context, sp_file *file)
{
    sp_cubature cubature;
    char hash[2][SP_HASH_LENGTH];
    if (sp_cubature_read(context, file, -1, &cubature, hash[0], hash[1]) == SP_OK)
        sp_cubature_free(&cubature);
}

static void read_training(sp_context *context, sp_file *file)
{
    sp_poses poses;
    int64_t first, total;
    char hash[2][SP_HASH_LENGTH];
    if (sp_training_read(context, file, &poses, &first, &total, hash[0], hash[1]) != SP_OK)
        return;
    if (first < 0 || poses.count < 1 || poses.count > total - first)
        abort();
    sp_poses_free(&poses);
}

static void read_mesh_and_origin(sp_context *context, sp_file *file)
{
    sp_mesh mesh;
    int64_t count, *origin;
    char hash[SP_HASH_LENGTH];
    if (sp_mesh_read_origin(context, file, &file->members.pool, hash, &count, &origin) != SP_OK ||
        sp_mesh_read(context, file, &mesh) != SP_OK)
        return;
    for (int64_t v = 0; v < count; v++)
        if (origin[v] < 0 || origin[v] > v)
            abort();
    sp_mesh_free(&mesh);
}

static void read_mesh(sp_context *context, sp_file *file)
{
    sp_mesh mesh;
    if (sp_mesh_read(context, file, &mesh) == SP_OK)
        sp_mesh_free(&mesh);
}

static void read_field(sp_context *context, sp_file *file)
{
    sp_field field;
    if (sp_field_read(context, file, &field) == SP_OK)
        sp_field_free(&field);
}

static void read_pointshell(sp_context *context, sp_file *file)
{
    sp_pointshell pointshell;
    if (sp_pointshell_read(context, file, &pointshell) == SP_OK)
        sp_pointshell_free(&pointshell);
}

static void read_skin(sp_context *context, sp_file *file)
{
    sp_skin_file skin;
    if (sp_skin_read(context, file, &skin) != SP_OK)
        return;
    const int64_t count = skin.skin.vertex_count * skin.skin.influences;
    for (int64_t k = 0; k < count; k++)
        if (skin.skin.bone[k] < 0 || skin.skin.bone[k] >= skin.skin.bone_count || !(skin.skin.weight[k] >= 0))
            abort();
    sp_skin_free(&skin.skin);
}

static void read_tensor(sp_context *context, sp_file *file)
{
    sp_tensor tensor;
    if (sp_tensor_read(context, file, -1, false, &tensor) != SP_OK)
        return;
    for (int64_t e = 0; e < tensor.start[tensor.order]; e++)
        if (tensor.j[e] < 0 || tensor.j[e] > tensor.k[e] || tensor.k[e] >= tensor.order)
            abort();
    sp_tensor_free(&tensor);
}

static void read_system_basis(sp_context *context, sp_file *file)
{
    sp_system_basis basis;
    if (sp_system_basis_read(context, file, &basis) != SP_OK)
        return;
    for (int64_t e = 0; e < 2 * basis.pairs; e++)
        if (basis.pair[e] < 0 || basis.pair[e] >= basis.count)
            abort();
    sp_system_basis_free(&basis);
}

static void read_domains(sp_context *context, sp_file *file)
{
    sp_domains domains;
    char hash[SP_HASH_LENGTH];
    if (sp_domains_read(context, file, &domains, hash) == SP_OK)
        sp_domains_free(&domains);
}

static void (*const kinds[])(sp_context *, sp_file *) = {
    read_columns,    read_matrix,   read_polynomials,     read_certificate,  read_curve,
    read_cubature,   read_training, read_mesh_and_origin, read_mesh,         read_field,
    read_pointshell, read_skin,     read_tensor,          read_system_basis, read_domains,
};

/* The reader of every kind, whatever kind the file says it is of. */
static void read_kinds(sp_context *context)
{
    sp_file file;
    if (open_file(context, true, &file))
        sp_file_free(&file);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && open_file(context, false, &file); k++) {
        kinds[k](context, &file);
        sp_file_free(&file);
    }
}

/* The inputs of all steps are those of the log. */
static void read_log(sp_context *context)
{
    sp_scene_log log;
    rewind_file();
    if (sp_scene_log_read(context, descriptor, &log) != SP_OK)
        return;
    int64_t count = 0;
    for (int64_t i = 0; i < log.step_count; i++)
        count += log.count[i];
    if (count != log.input_count)
        abort();
    sp_scene_log_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp_context context = sp_context_default();

    if (descriptor < 0)
        descriptor = memfd_create("fuzz", 0);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0)
        abort();

    rewind_file();
    for (size_t at = 0; at < size;) {
        ssize_t wrote = write(descriptor, data + at, size - at);
        if (wrote <= 0)
            abort();
        at += (size_t)wrote;
    }

    read_kinds(&context);
    read_pieces(&context);
    read_log(&context);

    for (int partial = 0; partial < 2; partial++) {
        sp_trajectory trajectory;
        sp_scene_trajectory motion;

        rewind_file();
        if (sp_trajectory_read(&context, descriptor, partial, &trajectory) == SP_OK)
            sp_trajectory_free(&trajectory);

        rewind_file();
        if (sp_scene_trajectory_read(&context, descriptor, partial, &motion) == SP_OK) {
            if (motion.with_contacts)
                for (int64_t f = 0; f < motion.frame_count; f++)
                    if (motion.contact_begin[f] > motion.contact_begin[f + 1])
                        abort();
            sp_scene_trajectory_free(&motion);
        }
    }
    return 0;
}
