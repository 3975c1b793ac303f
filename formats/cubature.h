/* Files of the types cubature and training (cubature.md, training.md). */
#ifndef SP_FORMATS_CUBATURE_H
#define SP_FORMATS_CUBATURE_H

#include "cubature/cubature.h"
#include "cubature/training.h"
#include "formats/file.h"

/* Checks shapes and values, and that elements are in the range of a mesh of `elements` (−1: unknown). basis and mesh
 * [SP_HASH_LENGTH] receive the hashes of the files it was made from ("" if unknown). */
int sp_cubature_read(sp_context *context, sp_file *file, int64_t elements, sp_cubature *cubature, char *mesh,
                     char *basis) SP_MUST_USE;

/* meta must already have "mesh" and "basis". */
int sp_cubature_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_cubature *cubature) SP_MUST_USE;

/* Poses with forces. `first` and `total` receive the position of the shard: it has the poses first … first + count − 1
 * of total. */
int sp_training_read(sp_context *context, sp_file *file, sp_poses *poses, int64_t *first, int64_t *total, char *mesh,
                     char *basis) SP_MUST_USE;
int sp_training_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_poses *poses, int64_t first,
                      int64_t total) SP_MUST_USE;

#endif
