/* What a program sets once for its process: the threads of OpenMP. */
#ifndef TOOLS_PROCESS_THREADS_H
#define TOOLS_PROCESS_THREADS_H

#include <stdbool.h>

/* Call once at the start of a program that will run parallel loops on more than one thread. A thread of libgomp that
 * waits at the end of a loop first keeps its processor busy for some milliseconds. On a machine with other work (make
 * -j), the thread that it waits for does not get to run meanwhile: two threads were five times slower than one
 * (measured, assembly on two busy processors). libgomp does not busy-wait when it counts more threads than processors,
 * so this function starts a few threads that sleep until the process ends. It does nothing if the user has set
 * OMP_WAIT_POLICY or GOMP_SPINCOUNT. */
void process_threads_prepare(void);

/* Returns true if the calling thread is the one that starts these threads, which the program does not depend on. */
bool process_thread_is_spare(void);

#endif
