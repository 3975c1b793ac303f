#include "linear/blas.h"

#include <omp.h>
#include <pthread.h>
#include <stdbool.h>

/* Weak, so that a program that needs no product of OpenBLAS is linked without it (its thousands of exported names
 * cost 1.5 ms at every start). */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

/* The number of threads of OpenBLAS's pthreads build belongs to the process: the first caller sets it to 1, the last
 * one puts back what was there. */
static struct {
    pthread_mutex_t lock;
    int callers, before;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_own_threads(void)
{
    enum { PTHREADS = 1 };
    return openblas_get_parallel && openblas_get_parallel() == PTHREADS;
}

int sp_blas_alone_begin(void)
{
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);

    if (has_own_threads()) {
        pthread_mutex_lock(&shared.lock);
        if (shared.callers++ == 0) {
            shared.before = openblas_get_num_threads();
            openblas_set_num_threads(1);
        }
        pthread_mutex_unlock(&shared.lock);
    }
    return threads;
}

void sp_blas_alone_end(int threads)
{
    omp_set_num_threads(threads);
    if (has_own_threads()) {
        pthread_mutex_lock(&shared.lock);
        if (--shared.callers == 0)
            openblas_set_num_threads(shared.before);
        pthread_mutex_unlock(&shared.lock);
    }
}
