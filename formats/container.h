/* The container of every Supple file: an .npz, that is a zip archive of uncompressed .npy members, in one forward pass
 * (container.md).
 *
 * Writing: sp_writer_open, members in order, sp_writer_close. Reading: sp_reader_open, then sp_reader_next until the
 * end; sp_file_read (file.h) does this and keeps all members by name. */
#ifndef SP_FORMATS_CONTAINER_H
#define SP_FORMATS_CONTAINER_H

#include "base/context.h"
#include "base/memory.h"

/* SP_BYTES: |Sn, n in `size`. SP_OTHER: a type that Supple does not use; such members are skipped. */
enum sp_type { SP_F8, SP_F4, SP_I8, SP_I4, SP_U1, SP_BYTES, SP_OTHER };
enum { SP_RANK_MAX = 4, SP_MEMBER_NAME = 96, SP_HASH_LENGTH = 65 };

typedef struct sp_array {
    char name[SP_MEMBER_NAME]; /* without ".npy" */
    enum sp_type type;
    bool fortran; /* first index fastest */
    int rank;
    int64_t shape[SP_RANK_MAX];
    int64_t count; /* product of shape */
    int size;      /* bytes of one value */
    void *data;
} sp_array;

/* The .npy name of a type, such as "f8". */
const char *sp_type_word(enum sp_type type);

/* The SHA-256 of these bytes, in hexadecimal. */
void sp_hash_bytes(int64_t count, const void *bytes, char hash[SP_HASH_LENGTH]);

/* ---- writing ---- */

typedef struct sp_writer sp_writer;

/* Writes to an open file descriptor, which the caller owns. */
int sp_writer_open(sp_context *context, int descriptor, sp_writer **writer) SP_MUST_USE;

/* Writes one member. Rank-1 arrays and C order: fortran = false. The data is hashed while it is written. */
int sp_writer_array(sp_writer *writer, const char *name, enum sp_type type, bool fortran, int rank,
                    const int64_t *shape, const void *data) SP_MUST_USE;

/* Writes one member of f8 values, which must be finite, as every reader requires: SP_NUMERICAL if one is not. */
int sp_writer_numbers(sp_writer *writer, const char *name, bool fortran, int rank, const int64_t *shape,
                      const double *values) SP_MUST_USE;

/* The same for a matrix [rows, columns] in Fortran order, column by column: `next` returns column c, which must be
 * valid until the following call. */
int sp_writer_columns(sp_writer *writer, const char *name, int64_t rows, int64_t columns,
                      int (*next)(void *data, int64_t c, const double **column), void *data) SP_MUST_USE;

/* A text member: UTF-8 bytes as u1, shape (length). NULL (from a printer that was out of memory) is SP_SYSTEM. */
int sp_writer_text(sp_writer *writer, const char *name, const char *text) SP_MUST_USE;

/* A string in SciPy's form: `|Sn`, shape (). */
int sp_writer_bytes(sp_writer *writer, const char *name, const char *text) SP_MUST_USE;

/* Writes a file of any format under this path in the archive, for archives that are no Supple files. */
int sp_writer_file(sp_writer *writer, const char *path, int64_t bytes, const void *data) SP_MUST_USE;

/* The SHA-256 in hexadecimal of all members so far: name, NUL, .npy header and data of each in order. */
void sp_writer_hash(sp_writer *writer, char hash[SP_HASH_LENGTH]);

/* Ends the archive and frees the writer, also after an error. */
int sp_writer_close(sp_writer *writer) SP_MUST_USE;

/* Frees the writer without ending the archive. NULL is allowed. */
void sp_writer_abandon(sp_writer *writer);

/* ---- reading ---- */

typedef struct sp_reader sp_reader;

/* Reads from an open file descriptor, which the caller owns. `partial`: a truncated or damaged file is read up to its
 * last complete member and then ends, see sp_reader_truncated. */
int sp_reader_open(sp_context *context, int descriptor, bool partial, sp_reader **reader) SP_MUST_USE;

/* Reads the next member, with checked CRC and header, its data allocated from `pool` in native byte order;
 * array->name[0] = 0 at the end. `wanted` (may be NULL: all) tells by name whether the data is needed; other members
 * are skipped with data = NULL, but still count for CRC and hash. SP_INPUT for anything that does not conform to
 * container.md. */
int sp_reader_next(sp_reader *reader, sp_pool *pool, bool (*wanted)(void *data, const char *name), void *data,
                   sp_array *array) SP_MUST_USE;

/* Passes the data of the member of this name, if it is wanted, to `take` in pieces of whole values in the file's order
 * (`array` gives the order, and has data = NULL): for members larger than memory. A piece has at most 1 MB. The
 * checksum is known only after the last piece. */
void sp_reader_divert(sp_reader *reader, const char *name,
                      int (*take)(void *data, const sp_array *array, int64_t first, int64_t count, const void *values),
                      void *data);

/* Returns true if the end that sp_reader_next reported was a truncation. */
bool sp_reader_truncated(const sp_reader *reader);

/* SHA-256 of all complete members read so far without `result`, defined as in sp_writer_hash. A reader hashes from the
 * start; a caller that finds that the file states its own hash (file.h) may stop this to save time (not with
 * `partial`). */
void sp_reader_stop_hashing(sp_reader *reader);
void sp_reader_hash(sp_reader *reader, char hash[SP_HASH_LENGTH]);

void sp_reader_close(sp_reader *reader); /* NULL is allowed */

/* All members of a file (file.h reads them). */
typedef struct sp_members {
    sp_pool pool;
    int64_t count;
    sp_array *arrays;
} sp_members;

void sp_members_free(sp_members *members);

/* The checks of sp_members_read on a member before its values are read. */
int sp_array_check(sp_context *context, const sp_array *array, enum sp_type type, int rank,
                   const int64_t *shape) SP_MUST_USE;

/* NULL if there is no member of that name. */
sp_array *sp_members_find(const sp_members *members, const char *name);

/* A required member with this type (SP_I8 also accepts i4, SP_F8 also f4: both are widened), rank and shape (−1: any).
 * Arrays are transposed in place if the file's order differs from `fortran`. Values of SP_F8 are finite. SP_INPUT names
 * the member and the numbers. The data belongs to the members' pool. */
int sp_members_read(sp_context *context, sp_members *members, const char *name, enum sp_type type, bool fortran,
                    int rank, const int64_t *shape, sp_array **array) SP_MUST_USE;

/* SP_INPUT if a [order, order] differs from its transpose by more than 1e-9 of its largest entry; `what` begins the
 * message. */
int sp_check_symmetric(sp_context *context, const char *what, int64_t order, const double *a) SP_MUST_USE;

#endif
