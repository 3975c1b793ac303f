#include "tools/serve/serve.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static const int64_t SECOND = 1000000000;

/* ---- what the system permits ---- */

/* Memory that is allocated later is locked too where there is no limit; else it could not be allocated at all. */
static void lock_memory(void)
{
    struct rlimit limit;
    const bool unlimited = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    if (mlockall(MCL_CURRENT | (unlimited ? MCL_FUTURE : 0)))
        tool_say("its memory is not locked (%s): a page fault may delay a cycle; see ulimit -l", strerror(errno));
}

static void take_priority(int64_t priority, int threads)
{
    const struct sched_param wanted = {.sched_priority = (int)priority};
    int error = 0;

    /* The kernel may otherwise delay a timer by 50 µs (prctl, PR_SET_TIMERSLACK). */
    prctl(PR_SET_TIMERSLACK, 1);
    if (priority == 0)
        return;

#pragma omp parallel num_threads(threads)
    if (sched_setscheduler(0, SCHED_FIFO, &wanted))
#pragma omp atomic write
        error = errno;

    if (error)
        tool_say("it has no real-time priority (%s): other programs may delay a cycle; see ulimit -r", strerror(error));
}

/* ---- signals ---- */

static volatile sig_atomic_t stopped;
static struct sigaction before[2];
static const int signals[2] = {SIGINT, SIGTERM};

/* The second one ends the program at once, as it ends others. */
static void on_signal(int number)
{
    stopped = 1;
    for (int i = 0; i < 2; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    for (int i = 0; i < 2; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

bool serve_clock_stopped(void)
{
    return stopped;
}

void serve_clock_prepare(int64_t priority, int threads)
{
    catch_signals();
    lock_memory();
    take_priority(priority, threads);
}

/* ---- cycles ---- */

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return SECOND * time.tv_sec + time.tv_nsec;
}

void serve_clock_start(serve_clock *clock, double rate)
{
    clock->period = llround((double)SECOND / rate);
    clock->deadline = now() + clock->period;
}

void serve_clock_wait(serve_clock *clock)
{
    const struct timespec until = {.tv_sec = clock->deadline / SECOND, .tv_nsec = clock->deadline % SECOND};
    while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    const int64_t late = now() - clock->deadline;
    if (!stopped)
        tool_durations_add(&clock->latency, 1e-9 * (double)late);
    clock->begun = tool_seconds();
    clock->cycles++;
}

void serve_clock_done(serve_clock *clock)
{
    tool_durations_add(&clock->computation, tool_seconds() - clock->begun);
    clock->deadline += clock->period;
    const int64_t late = now() - clock->deadline;
    if (late > 0) {
        const int64_t missed = late / clock->period + 1;
        clock->missed += missed;
        clock->deadline += missed * clock->period;
    }
}
