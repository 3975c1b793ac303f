/* Results of calls of libsupple, and what all its functions have in common.
 *
 * Every function that can fail returns a supple_status. On anything but SUPPLE_OK, supple_error() has one sentence that
 * says what was wrong and names the argument, the file or the numbers; the object is as it was before the call, unless
 * the function says otherwise. Passing NULL where a pointer is required is SUPPLE_USAGE, not undefined behaviour.
 *
 * Threads: different objects may be used by different threads at the same time. One object is used by one thread at a
 * time. Steps allocate nothing, take no lock of libsupple, and print nothing, unless a function says otherwise.
 *
 * Units are SI: m, kg, s, N, J, rad. Numbering starts at 0. In arrays of vectors the
 * three components of each vector are contiguous. Results are the same bytes for any number of threads on one kind of
 * processor. */
#ifndef SUPPLE_STATUS_H
#define SUPPLE_STATUS_H

#if defined(__GNUC__) || defined(__clang__)
#define SUPPLE_MUST_USE __attribute__((warn_unused_result))
#else
#define SUPPLE_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SUPPLE_VERSION_MAJOR 0
#define SUPPLE_VERSION_MINOR 1
#define SUPPLE_VERSION_PATCH 0

/* The values are the exit codes of the programs. */
typedef enum supple_status {
    SUPPLE_OK = 0,
    SUPPLE_USAGE = 2,    /* the call is wrong: an argument out of range, or a call in the wrong order */
    SUPPLE_INPUT = 3,    /* a file is unusable */
    SUPPLE_SYSTEM = 4,   /* out of memory, or a file cannot be read */
    SUPPLE_NUMERICAL = 5 /* a step did not converge, a matrix is singular, a motion became unstable */
} supple_status;

/* "0.1.0": the version of the library that is loaded. */
const char *supple_version(void);

/* The message of the last call of the calling thread that failed; "" if none did. Valid until the next such call. */
const char *supple_error(void);

#ifdef __cplusplus
}
#endif

#endif
