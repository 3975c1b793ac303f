#include "tools/process/threads.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

static _Thread_local bool spare;

/* libgomp counts the team of another initial thread in addition to ours as long as that thread lives. */
static void *hold_a_team(void *data)
{
    int count = (int)(intptr_t)data, there = 0;
    spare = true;
#pragma omp parallel num_threads(count)
    {
#pragma omp atomic
        there++;
    }
    while (there)
        pause();
    return NULL;
}

bool process_thread_is_spare(void)
{
    return spare;
}

void process_threads_prepare(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return;       /* the program is then slower on a busy machine, but correct */
    sigfillset(&all); /* signals are delivered to the main thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, hold_a_team, (void *)(intptr_t)(omp_get_num_procs() + 1));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}
