/* SIMD lanes. Kernels over many elements are written in lanes of eight elements and compiled for several instruction
 * sets; the results do not depend on the instruction set's width, since lanes never mix. */
#ifndef SP_BASE_LANES_H
#define SP_BASE_LANES_H

#include <stdbool.h>

enum { SP_LANES = 8 };

typedef double sp_lanes __attribute__((vector_size(64)));

/* The widest instruction set that is used: 2 AVX-512, 1 AVX2, 0 SSE2 (Meson option `lanes`, for tests). */
#ifndef SUPPLE_LANES
#define SUPPLE_LANES 2
#endif

/* The instruction sets of x86-64 with eight and with four lanes in a register. GCC before version 12 has no clones for
 * these levels, only for one feature; FMA with AVX is what our kernels use of the level with AVX2. */
#if defined(__clang__) || __GNUC__ > 11
#define SP_LEVEL_4 "arch=x86-64-v4"
#define SP_LEVEL_3 "arch=x86-64-v3"
#define SP_CLONE_4 SP_LEVEL_4
#define SP_CLONE_3 SP_LEVEL_3
#else
#define SP_LEVEL_4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt"
#define SP_LEVEL_3 "avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt"
#define SP_CLONE_4 "avx512f"
#define SP_CLONE_3 "fma"
#endif

/* The lanes of a, then those of b, at constant indices; as many as a has. GCC before version 12 takes them as a
 * vector of integers. */
#if __has_builtin(__builtin_shufflevector)
#define sp_shuffle(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SP_INDEX(a) __typeof__(_Generic((a)[0], double : 0LL, default : 0)) __attribute__((vector_size(sizeof(a))))
#define sp_shuffle(a, b, ...) __builtin_shuffle(a, b, (SP_INDEX(a)){__VA_ARGS__})
#endif

/* Put before a kernel: the loader selects the version for the processor. Not under sanitizers (they run before the
 * loader has resolved it) and not on other processors, where the plain version is used. */
#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__) ||     \
    SUPPLE_LANES == 0
#define SP_CLONES
#elif SUPPLE_LANES == 1
#define SP_CLONES __attribute__((target_clones(SP_CLONE_3, "default")))
#else
#define SP_CLONES __attribute__((target_clones(SP_CLONE_4, SP_CLONE_3, "default")))
#endif

#define SP_INLINE static inline __attribute__((always_inline))

/* Returns true if the processor has registers for all lanes (AVX-512). SP_NATIVE, before a function, compiles it for
 * these. */
#if defined(__x86_64__)
#define SP_NATIVE __attribute__((target(SP_LEVEL_4)))
#define SP_NARROW __attribute__((target(SP_LEVEL_3)))
static inline bool sp_lanes_native(void)
{
    __builtin_cpu_init();
    return SUPPLE_LANES >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Returns true if it has registers for half of the lanes (AVX2), for which SP_NARROW compiles a function. */
static inline bool sp_lanes_narrow(void)
{
    __builtin_cpu_init();
    return SUPPLE_LANES >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define SP_NATIVE
#define SP_NARROW
static inline bool sp_lanes_native(void)
{
    return false;
}
static inline bool sp_lanes_narrow(void)
{
    return false;
}
#endif

/* Transposes 8 × 8 numbers, a row in each vector. */
SP_INLINE void sp_lanes_transpose(sp_lanes a[SP_LANES])
{
    sp_lanes b[SP_LANES];
    for (int k = 0; k < SP_LANES; k += 2) {
        b[k] = sp_shuffle(a[k], a[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        b[k + 1] = sp_shuffle(a[k], a[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < SP_LANES; k++) {
        if (k & 2)
            continue;
        a[k] = sp_shuffle(b[k], b[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        a[k + 2] = sp_shuffle(b[k], b[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int k = 0; k < SP_LANES / 2; k++) {
        b[k] = sp_shuffle(a[k], a[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[k + 4] = sp_shuffle(a[k], a[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int k = 0; k < SP_LANES; k++)
        a[k] = b[k];
}

#endif
