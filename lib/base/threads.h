/* OpenMP as Supple needs it. */
#ifndef SP_BASE_THREADS_H
#define SP_BASE_THREADS_H

#include <stdbool.h>

/* Call once at the start of a program that will run parallel loops on more than one thread. A thread of libgomp that
 * waits at the end of a loop keeps its processor busy for some milliseconds first. On a machine that has other work
 * (make -j), the thread that it waits for does not get to run meanwhile: two threads were five times slower than one
 * (measured, assembly on two busy processors). libgomp gives that up when it counts more threads than processors, so
 * this starts a few that sleep until the process ends. Not for those who set OMP_WAIT_POLICY or GOMP_SPINCOUNT: they
 * have chosen. */
void sp_threads_prepare(void);

/* Whether the calling thread is the one that starts those: the program does not need it to go on. */
bool sp_thread_is_spare(void);

#endif
