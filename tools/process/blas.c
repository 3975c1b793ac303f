#include "tools/process/blas.h"

#include "linear/blas.h"
#include "linear/suitesparse.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weak, as in lib/linear/blas.c. The last two functions are not in OpenBLAS's headers, but in its builds that select
 * kernels at run time. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));

#if defined(__x86_64__)
/* 3DNow! exists on AMD processors only and is unknown to the compiler. OpenBLAS assumes it on processors that identify
 * themselves as models of 2003, as virtual ones do. */
static bool supports_3dnow(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 31 & 1);
}

static bool supports_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool supports_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void process_blas_prepare(bool choose_kernels)
{
    (void)sp_blas_alone_begin();
    if (!openblas_set_num_threads)
        return;

    openblas_set_num_threads(1); /* frees what it keeps for other threads */
#if !defined(__x86_64__)
    (void)choose_kernels;
#else
    static const char *const outdated_kernels[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem"};
    static const char *const avx2_kernels[] = {"Haswell", "Zen"};
    const char *now = openblas_get_corename();
    bool outdated = false, half = false;

    for (size_t i = 0; i < sizeof outdated_kernels / sizeof *outdated_kernels; i++)
        outdated |= !strcmp(now, outdated_kernels[i]);
    for (size_t i = 0; i < sizeof avx2_kernels / sizeof *avx2_kernels; i++)
        half |= !strcmp(now, avx2_kernels[i]);
    bool without_3dnow = (!strcmp(now, "Opteron") || !strcmp(now, "Opteron_SSE3")) && !supports_3dnow();

    if (!choose_kernels || !(outdated || half || without_3dnow) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit)
        return;

    bool avx512 = supports_avx512();
    bool avx2 = supports_avx2();
    if (!avx512 && !(outdated && avx2) && !without_3dnow)
        return;

    setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : avx2 ? "Haswell" : "Prescott", 1);

    /* OpenBLAS reads the variable when it initializes, so that it is set for that moment only. */
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv("OPENBLAS_CORETYPE");
#endif
}

const char *process_blas_missing(const char **core)
{
#if defined(__x86_64__)
    if (!openblas_set_num_threads)
        return NULL;

    *core = openblas_get_corename();
    __builtin_cpu_init();
    const struct {
        const char *cores, *features;
        bool there;
    } needs[] = {
        {" SkylakeX Cooperlake SapphireRapids ", "AVX-512", supports_avx512()},
        {" Haswell Zen ", "AVX2 and FMA", supports_avx2()},
        {" Sandybridge Bulldozer Piledriver Steamroller Excavator ", "AVX", __builtin_cpu_supports("avx")},
        {" Nehalem ", "SSE4.2", __builtin_cpu_supports("sse4.2")},
        {" Penryn Dunnington ", "SSE4.1", __builtin_cpu_supports("sse4.1")},
        {" Core2 Atom Nano Bobcat ", "SSSE3", __builtin_cpu_supports("ssse3")},
        {" Opteron Opteron_SSE3 ", "3DNow!", supports_3dnow()},
        {" Prescott Barcelona ", "SSE3", __builtin_cpu_supports("sse3")},
    };

    char word[40];
    snprintf(word, sizeof word, " %s ", *core);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!needs[i].there && strstr(needs[i].cores, word))
            return needs[i].features;
#else
    (void)core;
#endif
    return NULL;
}

bool process_blas_without_locks(void)
{
    return openblas_get_parallel && openblas_get_config && openblas_get_parallel() == 0 &&
           !strstr(openblas_get_config(), "USE_LOCKING");
}

void process_blas_versions(char *text, size_t size)
{
    static const char *const kinds[] = {"serial", "pthreads", "OpenMP"};
    char version[40] = "", blas[200] = "OpenBLAS not used";

    if (openblas_get_config && sscanf(openblas_get_config(), "OpenBLAS %39s", version) == 1) {
        const int kind = openblas_get_parallel();
        snprintf(blas, sizeof blas, "OpenBLAS %s (%s, kernels for %s)", version,
                 kind >= 0 && kind <= 2 ? kinds[kind] : "unknown", openblas_get_corename());
    }
    snprintf(text, size, "%s, SuiteSparse %d.%d.%d (AMD %d.%d.%d), METIS %d.%d.%d, ARPACK %s", blas,
             SUITESPARSE_MAIN_VERSION, SUITESPARSE_SUB_VERSION, SUITESPARSE_SUBSUB_VERSION, AMD_MAIN_VERSION,
             AMD_SUB_VERSION, AMD_SUBSUB_VERSION, METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR, SUPPLE_ARPACK);
}
