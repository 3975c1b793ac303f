/* What a program sets once for its process: the threads and kernels of OpenBLAS. The library changes nothing of the
 * process that it runs in (linear/blas.h). */
#ifndef TOOLS_PROCESS_BLAS_H
#define TOOLS_PROCESS_BLAS_H

#include "base/context.h"

#include <stdbool.h>
#include <stddef.h>

/* Call once at the start of a program, before any other call.
 *
 * One thread: BLAS runs on the calling thread until the program ends, as between the two calls of sp_blas_alone_begin.
 * A thread of the program's own that computes calls sp_blas_alone_begin itself.
 *
 * Its kernels, which belong to the process; nothing is done in a program that is linked without OpenBLAS: version
 * 0.3.21 (Debian 12) does not know processors newer than itself. It then silently selects kernels for processors of
 * 2004, ten times slower (measured), or, on AMD processors with AVX-512, those for AVX2 (Cholesky factorization of
 * 106,000 unknowns: 3.04 s instead of 2.26 s). With choose_kernels, in this case and if the processor has AVX-512 or
 * AVX2, the right kernels are selected by name, and those of 2004 if it selected kernels that this processor cannot run
 * (through the variable OPENBLAS_CORETYPE, set for that moment). false: the user has selected the kernels. */
void process_blas_prepare(bool choose_kernels);

/* The instruction sets that the kernels in use require and the processor lacks ("AVX2 and FMA"), which would end the
 * process with "Illegal instruction"; *core receives OpenBLAS's name of the processors that the kernels are for. NULL:
 * nothing is missing. */
const char *process_blas_missing(const char **core);

/* Whether OpenBLAS is its serial build without locks, which gives wrong numbers when several threads call it. The
 * system may choose another build than the one that was there at configure time. */
bool process_blas_without_locks(void);

/* "OpenBLAS 0.3.21 (OpenMP, kernels for SkylakeX), SuiteSparse 5.12.0 (AMD 2.4.6), METIS 5.1.0, ARPACK 3.8.0": the
 * OpenBLAS that runs, or "OpenBLAS not used" in a program that is linked without it, and the others of the build. */
void process_blas_versions(char *text, size_t size);

/* Whether products on several threads at once are those of a plain loop. A build of OpenBLAS without locks, or one that
 * a compiler has broken, gives wrong numbers in this case and no error. 4 threads each multiply and factor matrices of
 * their own for some milliseconds. SP_NUMERICAL if an entry differs by more than rounding explains, SP_SYSTEM without
 * memory. SP_OK in a program that is linked without OpenBLAS. */
int process_blas_test(sp_context *context) SP_MUST_USE;

#endif
