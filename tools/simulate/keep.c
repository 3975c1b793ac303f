#include "tools/simulate/keep.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* s: no record sooner after the one before; and a run is slowed by no more than this part, in which records are made
 * and brought to the disk. */
static const double SHORTEST = 0.2, MOST_COST = 0.01;
/* Bytes of recorded frames that wait for that: so many, or so many times those of the state, whose cost is then a part
 * of theirs. */
enum { MOST_WAITING = 64 << 20, BY_STATE = 4 };
/* The clock, which takes a part of the shortest steps, is looked at only after so many of them that take less than
 * this, s. */
enum { UNSEEN = 16 };
static const double SHORT_STEP = 1e-4;

struct simulate_keep {
    simulate_kept_run run;
    const char *path;
    tool_checkpoint *checkpoint;
    sp_state recorded, state; /* since the last record; scratch for the next one */
    double opened, due;       /* s */
    double looked;            /* s, when the clock was read last */
    int64_t unseen, most;     /* steps since then, and after how many of them it is read again */
    int64_t resumed;
    bool partial;
};

simulate_keep *keep_open(const char *path, bool partial, const simulate_kept_run *run)
{
    if (!path)
        return NULL;
    if (partial && access(path, F_OK))
        tool_fail(SP_INPUT, path, "--partial: there is no such checkpoint");

    simulate_keep *keep = calloc(1, sizeof *keep);
    if (!keep)
        tool_out_of_memory();

    *keep = (simulate_keep){.run = *run,
                            .path = path,
                            .checkpoint = tool_checkpoint_open(path),
                            .partial = partial,
                            .opened = tool_seconds()};

    keep->due = keep->opened + SHORTEST;
    keep->looked = keep->opened;
    tool_checkpoint_counts(keep->checkpoint, run->steps, run->what);
    return keep;
}

static void record_again(void *data, const void *bytes, int64_t count)
{
    simulate_keep *keep = data;
    sp_state state = {.loading = true, .data = {.data = (void *)bytes, .count = count}};
    while (state.at < count && !state.failed)
        keep->run.record(keep->run.self, &state);
    if (state.failed)
        tool_checkpoint_damaged(keep->checkpoint);
}

/* The state of the whole run, the number of steps first. */
static void visit(const simulate_keep *keep, int64_t *done, sp_state *state)
{
    SP_STATE_VALUE(state, *done);
    keep->run.state(keep->run.self, *done, state);
}

int64_t keep_resume(simulate_keep *keep)
{
    sp_list list = {0};
    if (!keep)
        return 0;

    if (tool_checkpoint_resume(keep->checkpoint, record_again, keep, &list)) {
        sp_state state = {.loading = true, .data = list};
        visit(keep, &keep->resumed, &state);
        if (state.failed || state.at != list.count || keep->resumed < 1 ||
            (keep->run.steps >= 0 && keep->resumed > keep->run.steps))
            tool_checkpoint_damaged(keep->checkpoint);

        if (keep->run.steps >= 0)
            tool_say("%lld of %lld %s were done before", (long long)keep->resumed, (long long)keep->run.steps,
                     keep->run.what);
        else
            tool_say("%lld %s were done before", (long long)keep->resumed, keep->run.what);
    }

    sp_list_free(&list);
    if (keep->partial && keep->resumed == 0)
        tool_fail(SP_INPUT, keep->path, "--partial: it keeps no %s yet", keep->run.what);

    tool_checkpoint_keeps(keep->checkpoint, keep->resumed);
    keep->recorded.data.count = 0;
    return keep->resumed;
}

int64_t keep_end(const simulate_keep *keep, int64_t steps)
{
    return keep && keep->partial ? keep->resumed : steps;
}

void keep_report(const simulate_keep *keep, json_t *result)
{
    if (keep && keep->partial && keep->resumed < keep->run.steps)
        tool_facts(result, sp_kind_trajectory.result, {"partial_steps", .integer = keep->resumed});
}

sp_state *keep_recording(simulate_keep *keep)
{
    return keep ? &keep->recorded : NULL;
}

/* Whether it is time for a record. */
static bool is_due(simulate_keep *keep)
{
    if (keep->recorded.data.count >= MOST_WAITING + BY_STATE * keep->state.data.count)
        return true;
    if (++keep->unseen < keep->most)
        return false;
    const double time = tool_seconds();
    keep->most = time - keep->looked < SHORT_STEP * (double)keep->unseen ? UNSEEN : 1;
    keep->looked = time;
    keep->unseen = 0;
    return time >= keep->due;
}

void keep_step(simulate_keep *keep, int64_t done)
{
    if (!keep)
        return;

    const bool last = done == keep->run.steps;
    if (!is_due(keep) && !last)
        return;

    const double begin = tool_seconds();
    keep->state.data.count = 0;
    visit(keep, &done, &keep->state);
    if (keep->state.failed || keep->recorded.failed)
        tool_out_of_memory();

    /* the last one covers only the time until the outputs are written */
    const sp_list *recorded = &keep->recorded.data, *state = &keep->state.data;
    tool_checkpoint_pair(keep->checkpoint, recorded->data, recorded->count, state->data, state->count,
                         !last || begin - keep->opened > 1);
    keep->recorded.data.count = 0;
    tool_checkpoint_keeps(keep->checkpoint, done);

    /* The pause keeps the cost of records at MOST_COST of the time. */
    const double end = tool_seconds(), pause = (end - begin) / MOST_COST;
    keep->due = end + (pause > SHORTEST ? pause : SHORTEST);
}

double keep_fraction(const simulate_keep *keep, int64_t done, int64_t steps)
{
    const int64_t before = keep ? keep->resumed : 0;
    return (double)(done - before) / (double)(steps - before);
}

void keep_finish(simulate_keep *keep)
{
    if (!keep)
        return;
    (keep->partial ? tool_checkpoint_leave : tool_checkpoint_finish)(keep->checkpoint);
    sp_list_free(&keep->recorded.data);
    sp_list_free(&keep->state.data);
    free(keep);
}
