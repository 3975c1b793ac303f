#include "linear/blas.h"

#include "base/lanes.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Weak: a program that needs no product of OpenBLAS is linked without it (its thousands of exported names cost 1.5 ms of every start). The last two are not in its headers, but in its builds that
 * choose kernels at run time. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));

void sp_blas_prepare(bool choose_kernels)
{
    if (!openblas_set_num_threads)
        return;
    openblas_set_num_threads(1);
#if !defined(__x86_64__)
    (void)choose_kernels;
#else
    static const char *const old[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem"}, *const narrow[] = {"Haswell", "Zen"};
    const char *now = openblas_get_corename();
    bool outdated = false, half = false;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        outdated |= !strcmp(now, old[i]);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        half |= !strcmp(now, narrow[i]);
    if (!choose_kernels || !(outdated || half) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit)
        return;
    bool avx512 = sp_lanes_native();
    bool avx2 = sp_lanes_narrow();
    if (!avx512 && !(outdated && avx2))
        return;
    setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv("OPENBLAS_CORETYPE");
#endif
}

int sp_blas_serial_begin(void)
{
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}

void sp_blas_serial_end(int levels)
{
    omp_set_max_active_levels(levels);
}
