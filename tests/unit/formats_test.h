/* Shared by the tests of formats/: files made by hand, read as a file and through a pipe, and small objects for them.
 */
#ifndef TESTS_UNIT_FORMATS_TEST_H
#define TESTS_UNIT_FORMATS_TEST_H

#include "formats/columns.h"
#include "formats/mesh.h"
#include "formats/polynomials.h"
#include "formats/sparse.h"
#include "formats/trajectory.h"
#include "test.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- bytes in memory, as a file and as a pipe ---- */

typedef struct blob {
    unsigned char *data;
    int64_t size;
} blob;

static inline int new_file(void)
{
    int descriptor = memfd_create("test", 0);
    if (descriptor < 0)
        abort();
    return descriptor;
}

static inline blob blob_of(int descriptor)
{
    blob bytes = {.size = lseek(descriptor, 0, SEEK_END)};
    bytes.data = malloc((size_t)bytes.size + 1);
    for (int64_t at = 0; at < bytes.size;) {
        ssize_t got = pread(descriptor, bytes.data + at, (size_t)(bytes.size - at), at);
        if (got <= 0)
            abort();
        at += got;
    }
    return bytes;
}

static inline void write_whole(int descriptor, const unsigned char *data, int64_t size, int64_t piece)
{
    for (int64_t at = 0; at < size;) {
        ssize_t got = write(descriptor, data + at, (size_t)(size - at < piece ? size - at : piece));
        if (got <= 0)
            return; /* the reader closed the pipe */
        at += got;
    }
}

static inline int file_of(blob bytes)
{
    int descriptor = new_file();
    write_whole(descriptor, bytes.data, bytes.size, bytes.size);
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}

/* A pipe that delivers the bytes in pieces of an odd length, so that no boundary coincides with one of the format. */
static inline int pipe_of(blob bytes, pid_t *child)
{
    int ends[2];
    if (pipe(ends) || (*child = fork()) < 0)
        abort();
    if (*child == 0) {
        close(ends[0]);
        write_whole(ends[1], bytes.data, bytes.size, 4 * (int64_t)1777 + 1);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

typedef int (*reader)(int descriptor, void *to);

/* Reads bytes as a file (and as a pipe), gives the status. */
static inline int read_blob(blob bytes, bool as_pipe, reader read, void *to)
{
    pid_t child = 0;
    int descriptor = as_pipe ? pipe_of(bytes, &child) : file_of(bytes);
    int status = read(descriptor, to);
    close(descriptor);
    if (child)
        waitpid(child, NULL, 0);
    return status;
}

/* ---- files made by hand ---- */

typedef struct member {
    const char *name;
    enum sp_type type; /* SP_BYTES: data is the text */
    bool fortran;
    int rank;
    int64_t shape[4];
    const void *data;
} member;

enum { NO_RESULT = 1 };

static inline blob make(const char *meta, const member *members, int flags)
{
    int descriptor = new_file();
    sp_writer *writer;
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    if (meta)
        CHECK_OK(sp_writer_text(writer, "meta", meta));
    for (; members && members->name; members++) {
        if (members->type == SP_BYTES)
            CHECK_OK(sp_writer_bytes(writer, members->name, members->data));
        else
            CHECK_OK(sp_writer_array(writer, members->name, members->type, members->fortran, members->rank,
                                     members->shape, members->data));
    }
    if (!(flags & NO_RESULT)) {
        json_t *result = json_object();
        CHECK_OK(sp_file_write_result(writer, result));
        json_decref(result);
    }
    CHECK_OK(sp_writer_close(writer));
    blob bytes = blob_of(descriptor);
    close(descriptor);
    return bytes;
}

#define META(kind, more) "{\"kind\":\"" kind "\",\"format_version\":\"1.0\",\"tool\":\"test\"" more "}"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* It must be refused as input, with `words` in the message; frees the bytes. */
static inline void refuse(blob bytes, reader read, const char *words, int line)
{
    context.message[0] = 0;
    int status = read_blob(bytes, false, read, NULL);
    CHECK(status == SP_INPUT && strstr(context.message, words) && strlen(context.message) < 300,
          "line %d: status %d, \"%s\" instead of \"%s\"", line, status, context.message, words);
    free(bytes.data);
}

#define REFUSE(bytes, read, words) refuse(bytes, read, words, __LINE__)

/* A copy of these bytes. */
static inline blob text_blob(const char *text, int64_t size)
{
    const size_t length = size > 0 ? (size_t)size : 0;
    blob bytes = {malloc(length + 1), size};
    memcpy(bytes.data, text, length);
    return bytes;
}

/* ---- readers; `to` may be NULL ---- */

static inline int read_any(int descriptor, void *to)
{
    sp_file file, *into = to ? to : &file;
    int status = sp_file_read_everything(&context, descriptor, into);
    if (status == SP_OK && !to)
        sp_file_free(&file);
    return status;
}

static inline int read_ours(int descriptor, void *to)
{
    (void)to;
    sp_file file;
    int status = sp_file_read(&context, descriptor, NULL, false, false, &file);
    if (status == SP_OK)
        sp_file_free(&file);
    return status;
}

#define READER(name, type, call, release)                                                                              \
    static inline int name(int descriptor, void *to)                                                                   \
    {                                                                                                                  \
        sp_file file;                                                                                                  \
        type object, *into = to ? to : &object;                                                                        \
        int status = sp_file_read(&context, descriptor, NULL, true, false, &file);                                     \
        if (status != SP_OK)                                                                                           \
            return status;                                                                                             \
        status = call;                                                                                                 \
        sp_file_free(&file);                                                                                           \
        if (status == SP_OK && !to)                                                                                    \
            release(&object);                                                                                          \
        return status;                                                                                                 \
    }

static int64_t *read_dof;
static char read_which[8], read_mesh_hash[SP_HASH_LENGTH], read_basis_hash[SP_HASH_LENGTH];

READER(read_columns, sp_columns, sp_columns_read(&context, &file, 6, into), sp_columns_free)
READER(read_sparse, sp_sparse, sp_sparse_read(&context, &file, into, &read_dof, read_which), sp_sparse_free)
READER(read_polynomials, sp_polynomials, sp_polynomials_read(&context, &file, into, read_mesh_hash, read_basis_hash),
       sp_polynomials_free)
READER(read_mesh, sp_mesh, sp_mesh_read(&context, &file, into), sp_mesh_free)

static inline int read_trajectory(int descriptor, void *to)
{
    sp_trajectory object, *into = to ? to : &object;
    int status = sp_trajectory_read(&context, descriptor, false, into);
    if (status == SP_OK && !to)
        sp_trajectory_free(&object);
    return status;
}

/* ---- examples ---- */

static inline bool same(const void *a, const void *b, int64_t count)
{
    return a && b && memcmp(a, b, (size_t)count * 8) == 0;
}

static __attribute__((unused)) double U[12] = {1, 2, 3, 4, 5, 6, -7, 8, 9, 10.5, 11, 1e-300};

static double gram_a[25], gram_b[25];
static inline sp_polynomials polynomials_example(sp_polynomial_part *parts, int64_t count)
{
    static double mass[4] = {1, 0.25, 0.25, 2}, gravity[6] = {1, 2, 3, 4, 5, 6};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            gram_a[5 * i + j] = 1 + i + j;
            gram_b[5 * i + j] = i * j;
        }
    parts[0] = (sp_polynomial_part){.group = "all", .constant = SP_CONSTANT_ALL, .value = 1, .gram = gram_a};
    if (count == 2) {
        parts[0] = (sp_polynomial_part){.group = "bone", .constant = SP_CONSTANT_LAMBDA, .value = 1e9, .gram = gram_a};
        parts[1] = (sp_polynomial_part){.group = "bone", .constant = SP_CONSTANT_MU, .value = 2.5e8, .gram = gram_b};
    }
    static double group_mass[8] = {1, 0.5, 0.5, 2, 0, -0.25, -0.25, 0},
                  group_gravity[12] = {1, 2, 3, 4, 5, 6, 0, -1, -2, -3, -4, -5};
    static sp_polynomial_group groups[2] = {{"bone", 2000, group_mass, group_gravity},
                                            {"fat", 900, group_mass + 4, group_gravity + 6}};
    return (sp_polynomials){.r = 2,
                            .part_count = count,
                            .parts = parts,
                            .mass = mass,
                            .gravity = gravity,
                            .density = 1.5,
                            .symmetrized = count == 1,
                            .group_count = count == 2 ? 2 : 0,
                            .groups = groups};
}

/* The unit cube as one hexahedron, with one triangle on its floor. */
static
    __attribute__((unused)) double cube[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
static __attribute__((unused)) int64_t corners[8] = {0, 1, 2, 3, 4, 5, 6, 7}, zero[12];

#endif
