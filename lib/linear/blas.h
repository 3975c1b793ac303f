/* How many threads BLAS uses. */
#ifndef SP_LINEAR_BLAS_H
#define SP_LINEAR_BLAS_H

/* Between these two calls BLAS and LAPACK run on the calling thread alone: results differ in the last bits with the
 * number of their threads, and ours must not. Our own loops name the number of their threads.
 *
 * What sets the number depends on the build of OpenBLAS. Its OpenMP build asks omp_get_max_threads(), from version
 * 0.3.24 on at every call and whatever openblas_set_num_threads said; that number belongs to the calling thread, and
 * the threads of its parallel regions inherit it. Its pthreads build has one number for the process, which is 1 as long
 * as one caller is between the two calls. Its serial build has no threads.
 *
 * Returns the argument for the closing call. May be nested, and called by several threads. */
int sp_blas_alone_begin(void);
void sp_blas_alone_end(int threads);

#endif
