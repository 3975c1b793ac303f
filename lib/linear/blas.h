/* OpenBLAS as Supple needs it. */
#ifndef SP_LINEAR_BLAS_H
#define SP_LINEAR_BLAS_H

#include <stdbool.h>

/* Call once at the start of a program, before any other call; does nothing in one that is linked without OpenBLAS. Two
 * things of OpenBLAS depend on the process, not on the call:
 *
 * One thread: its results differ in the last bits with the number of its threads, and ours must not.
 *
 * Its kernels: version 0.3.21 (Debian 12) does not know processors newer than itself and then takes those of 2004, ten
 * times slower without a word (measured), or on AMD's that have AVX-512 those for AVX2 (Cholesky factorization of
 * 106,000 unknowns 3.04 s, by the others 2.26 s). With choose_kernels, where that has happened and the processor has
 * AVX-512 or AVX2, the right ones are chosen by name, and so are those of 2004 where it took others that this processor
 * cannot run (through the variable OPENBLAS_CORETYPE, set for that moment); false where the user chose. */
void sp_blas_prepare(bool choose_kernels);

/* What the processor lacks of what the kernels in use need ("AVX2 and FMA"), which end the process with "Illegal
 * instruction" then; *core is the name that OpenBLAS gives to the processors that they are for. NULL where nothing is
 * missing. */
const char *sp_blas_missing(const char **core);

/* Between these two calls OpenMP regions of other libraries stay on this thread: CHOLMOD would start four threads of
 * its own wherever it finds work for one (measured: 40 % of a small factorization lost on two processors). Returns what
 * to pass to the closing call. */
int sp_blas_serial_begin(void);
void sp_blas_serial_end(int levels);

#endif
