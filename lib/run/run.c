#include "run/run.h"

#include "base/context.h"

#include <assert.h>

void sp_run_watch(sp_run *run, sp_observer observer)
{
    assert(run->observer_count < SP_OBSERVERS);
    run->observers[run->observer_count++] = observer;
}

/* Whether a frame follows a step. The last step always has one. */
static bool recorded(const sp_run *run, int64_t number)
{
    return (run->every > 0 && number % run->every == 0) || number == run->steps;
}

static int frame(sp_run *run, int64_t number)
{
    int status = SP_OK;
    for (int i = 0; i < run->observer_count && status == SP_OK; i++)
        if (run->observers[i].frame)
            status = run->observers[i].frame(run->observers[i].self, number);
    return status;
}

int sp_run_begin(sp_run *run)
{
    return frame(run, 0);
}

int sp_run_to(sp_run *run, int64_t last)
{
    for (int64_t number = run->done + 1; number <= last; number++) {
        int status = run->motion.step(run->motion.self, number);

        /* each observer has its step before its frame, and before the step of the next one */
        for (int i = 0; i < run->observer_count && status == SP_OK; i++) {
            const sp_observer *observer = &run->observers[i];
            if (observer->step)
                status = observer->step(observer->self, number);
            if (status == SP_OK && observer->frame && recorded(run, number))
                status = observer->frame(observer->self, number);
        }

        if (status != SP_OK)
            return status;
        run->done = number;
    }
    return SP_OK;
}

void sp_run_visit(sp_run *run, int64_t done, sp_state *state)
{
    if (state->loading && run->motion.reach)
        run->motion.reach(run->motion.self, done);
    run->motion.visit(run->motion.self, state);
    for (int i = 0; i < run->observer_count; i++)
        if (run->observers[i].visit)
            run->observers[i].visit(run->observers[i].self, state);
    if (state->loading && !state->failed)
        run->done = done;
}

void sp_run_warn(const sp_run *run, sp_remarks *remarks)
{
    for (int i = 0; i < run->observer_count; i++)
        if (run->observers[i].warn)
            run->observers[i].warn(run->observers[i].self, remarks);
}

void sp_run_free(sp_run *run)
{
    while (run->observer_count > 0) {
        const sp_observer *last = &run->observers[--run->observer_count];
        if (last->free)
            last->free(last->self);
    }
}
