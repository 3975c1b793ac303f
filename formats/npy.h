/* The preamble of an .npy array: magic, version, length, and a Python dictionary with type, order and shape
 * (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). */
#ifndef SP_FORMATS_NPY_H
#define SP_FORMATS_NPY_H

#include <stdbool.h>
#include <stdint.h>

enum { SP_NPY_RANK = 4, SP_NPY_BUFFER = 512 };

typedef struct sp_npy_header {
    char descriptor[20]; /* "<f8", "|u1", … */
    bool fortran;        /* first index fastest */
    int rank;
    int64_t shape[SP_NPY_RANK];
    int64_t count;  /* product of shape; eight times it fits, also with 1 in place of every extent that is 0 */
    bool too_large; /* the parser rejected the shape because that product does not fit */
} sp_npy_header;

/* The dictionary, NUL-terminated: the keys 'descr', 'fortran_order' and 'shape', each once, in any order, then nothing
 * but blanks. False for anything else: structured types, more dimensions, extents whose product does not fit. */
bool sp_npy_parse(const char *dictionary, sp_npy_header *header);

/* The whole preamble in version 1.0, padded so that the data begins at a multiple of 64. Returns its length. */
int sp_npy_print(char preamble[SP_NPY_BUFFER], const char *descriptor, bool fortran, int rank, const int64_t *shape);

#endif
