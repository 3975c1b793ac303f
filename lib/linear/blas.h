/* Initialization of OpenBLAS. */
#ifndef SP_LINEAR_BLAS_H
#define SP_LINEAR_BLAS_H

#include <stdbool.h>

/* Call once at the start of a program, before any other call; does nothing in a program that is linked without
 * OpenBLAS. Two settings of OpenBLAS belong to the process, not to the call:
 *
 * One thread: its results differ in the last bits with the number of its threads, and ours must not.
 *
 * Its kernels: version 0.3.21 (Debian 12) does not know processors newer than itself. It then silently selects kernels
 * for processors of 2004, ten times slower (measured), or, on AMD processors with AVX-512, those for AVX2 (Cholesky
 * factorization of 106,000 unknowns: 3.04 s instead of 2.26 s). With choose_kernels, in this case and if the processor
 * has AVX-512 or AVX2, the right kernels are selected by name, and those of 2004 if it selected kernels that this
 * processor cannot run (through the variable OPENBLAS_CORETYPE, set for that moment). false: the user has selected the
 * kernels. */
void sp_blas_prepare(bool choose_kernels);

/* The instruction sets that the kernels in use require and the processor lacks ("AVX2 and FMA"), which would end the
 * process with "Illegal instruction"; *core receives OpenBLAS's name of the processors that the kernels are for. NULL:
 * nothing is missing. */
const char *sp_blas_missing(const char **core);

/* Between these two calls BLAS runs on the calling thread alone, for a library in a program that may use BLAS with
 * several threads: results differ in the last bits with their number. Our own loops name the number of their threads.
 * Returns the argument for the closing call. */
int sp_blas_alone_begin(void);
void sp_blas_alone_end(int threads);

/* Between these two calls OpenMP regions of other libraries run on the calling thread only: CHOLMOD would start four
 * threads of its own even for little work (measured: a small factorization lost 40 % on two processors). Returns the
 * argument for the closing call. */
int sp_blas_serial_begin(void);
void sp_blas_serial_end(int levels);

#endif
