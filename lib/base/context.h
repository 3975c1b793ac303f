/* The context that every library call takes first: threads, seed, the text of the last error, progress and
 * cancellation.
 *
 * Functions return an int status (enum sp_status), which must be checked; on anything but SP_OK the context's message
 * is one clear sentence with the offending numbers, without the name of the program or of the file: the caller adds
 * those. The library never prints, exits, reads the environment or keeps global state. */
#ifndef SP_BASE_CONTEXT_H
#define SP_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* The values are the exit codes of the tools. */
enum sp_status {
    SP_OK = 0,
    SP_NO = 1,        /* the answer is no (verify, compare) */
    SP_USAGE = 2,     /* the caller's request is invalid */
    SP_INPUT = 3,     /* unusable input data */
    SP_SYSTEM = 4,    /* memory, I/O, cancelled */
    SP_NUMERICAL = 5, /* not converged, not positive definite, … */
};

typedef struct sp_context {
    int threads;   /* number of threads of our own OpenMP loops, ≥ 1; results do not depend on it */
    uint64_t seed; /* seed of every random choice; results depend on it */
    char message[512];
    /* Called from time to time on the calling thread with the completed fraction in [0,1]; may be NULL. */
    void (*progress)(void *data, double fraction);
    void *progress_data;
    /* Called with one line of text that is worth knowing and no error, such as the vertex that is nearest to a place;
     * may be NULL. */
    void (*remark)(void *data, const char *text);
    void *remark_data;
    /* Bytes that the process can still allocate, asked for before large allocations: the system may grant more than it
     * has, and end the process later. May be NULL. */
    double (*memory_left)(void);
    /* Polled in long loops; a nonzero value ends the call with SP_SYSTEM. May be NULL. */
    const volatile int *cancel;
} sp_context;

#define SP_MUST_USE __attribute__((warn_unused_result))
#define SP_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* A context with one thread, seed 1 and nothing else. */
sp_context sp_context_default(void);

/* Stores the message and returns status, so that `return sp_fail(…)` is the whole error path. */
int sp_fail(sp_context *context, int status, const char *format, ...) SP_PRINTF(3, 4);

/* SP_SYSTEM with "out of memory". */
int sp_fail_memory(sp_context *context);

/* SP_OK if the memory was allocated, else the failure of sp_fail_memory. */
int sp_allocated(sp_context *context, bool there) SP_MUST_USE;

/* Formats a remark and passes it to the caller. */
void sp_remark(sp_context *context, const char *format, ...) SP_PRINTF(2, 3);

/* Reports progress and returns SP_SYSTEM ("cancelled") when the caller asked to stop, else SP_OK. */
int sp_progress(sp_context *context, double fraction) SP_MUST_USE;

/* Ends a function with the status of a call that failed. */
#define SP_PASS(call)                                                                                                  \
    do {                                                                                                               \
        const int sp_passed = (call);                                                                                  \
        if (sp_passed != SP_OK)                                                                                        \
            return sp_passed;                                                                                          \
    } while (0)

/* The same inside a function that frees its scratch at the label `done` and returns the variable `status`. */
#define SP_TRY(call)                                                                                                   \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != SP_OK)                                                                                           \
            goto done;                                                                                                 \
    } while (0)

/* The least number of four significant digits above x > 0, for messages that state a smallest value: printed with %.4g
 * it is not below x. */
double sp_round_up(double x);

#endif
