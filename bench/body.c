/* Loops over calls of libsupple, as a C program makes them, for bench/python.py: each returns the seconds that so many
 * cycles took, or a negative number after a failure. */
#include <supple/body.h>

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_steps(supple_body *body, int count);
double bench_cycles(supple_body *body, int count, int64_t vertex, const double *force, double *u);

double bench_steps(supple_body *body, int count)
{
    const double start = now();
    for (int i = 0; i < count; i++)
        if (supple_body_step(body) != SUPPLE_OK)
            return -1;
    return now() - start;
}

/* What a control loop does: a force, a step, a displacement. */
double bench_cycles(supple_body *body, int count, int64_t vertex, const double *force, double *u)
{
    const double start = now();
    for (int i = 0; i < count; i++)
        if (supple_body_set_force(body, vertex, force) || supple_body_step(body) ||
            supple_body_displacements(body, 1, &vertex, u))
            return -1;
    return now() - start;
}
