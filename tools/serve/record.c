/* --record: a thread of its own writes the log, so that no cycle waits for a disk. Inputs go to it through a ring. */
#include "tools/serve/serve.h"

#include "tools/common/tool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { RING = 1 << 16, STEP = -1 }; /* entries; the kind of an entry that ends a step */

struct serve_recorder {
    sp_scene_log_writer *log;
    tool_output *output;
    const char *path;
    json_t *meta;
    sp_context context; /* of the thread */
    pthread_t thread;
    sp_list inputs;           /* of the step that the thread is reading */
    sp_scene_log_input *ring; /* [RING] */
    _Atomic int64_t written, read;
    atomic_bool finished;
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* One entry: an input, or the end of the step that the inputs before it belong to. */
static void write_entry(serve_recorder *r, const sp_scene_log_input *entry)
{
    if (entry->kind != STEP) {
        sp_scene_log_input *to = tool_list_add(&r->inputs, 1, sizeof *to);
        *to = *entry;
        return;
    }
    const int status = sp_scene_log_append(r->log, entry->value[0], entry->vertex, r->inputs.count, r->inputs.data);
    if (status != SP_OK)
        tool_fail(status, r->path, "%s", r->context.message);
    r->inputs.count = 0;
}

static void *write_log(void *data)
{
    serve_recorder *r = data;
    for (;;) {
        const bool last = atomic_load(&r->finished);
        const int64_t end = atomic_load(&r->written);
        int64_t at = atomic_load(&r->read);

        for (; at < end; at++) {
            write_entry(r, &r->ring[at % RING]);
            atomic_store(&r->read, at + 1);
        }

        /* What was written before the end was announced has been read. */
        if (last)
            return NULL;
        nap();
    }
}

/* Signals are for the thread that runs the scene. */
static void start_thread(serve_recorder *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&r->thread, NULL, write_log, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        tool_fail(SP_SYSTEM, r->path, "cannot start a thread: %s", strerror(error));
}

serve_recorder *serve_record_open(server *s, const char *path)
{
    if (!path)
        return NULL;

    const sp_scene_options *o = &s->scene.options;
    const sp_scene_log_run run = {.step = o->step,
                                  .integrator = (int64_t)o->integrator,
                                  .iterations = o->iterations,
                                  .beta = o->beta,
                                  .gamma = o->gamma,
                                  .tolerance = o->tolerance,
                                  .semi_implicit = o->semi_implicit};

    serve_recorder *r = tool_allocate(&s->pool, 1, sizeof *r);
    r->path = path;
    r->context = *s->context;
    r->ring = tool_allocate(&s->pool, RING, sizeof *r->ring);

    r->meta = tool_meta_new("scene_log");
    tool_meta_output(r->meta, "record");
    tool_facts(r->meta, sp_kind_scene_log.meta, {"scene", .text = s->scene.input.hash},
               {"bodies", .integer = s->scene.input.scene.body_count});

    r->output = tool_output_open(path);
    const int status =
        sp_scene_log_begin(&r->context, tool_output_writer_of(&r->context, r->output), r->meta, &run, &r->log);
    if (status != SP_OK)
        tool_fail(status, path, "%s", r->context.message);

    start_thread(r);
    return r;
}

static void add(serve_recorder *r, const sp_scene_log_input *entry)
{
    const int64_t at = atomic_load(&r->written);
    while (at - atomic_load(&r->read) ==
           RING) /* the disk is slower than the scene: cycles are missed, nothing is lost */
        nap();
    r->ring[at % RING] = *entry;
    atomic_store(&r->written, at + 1);
}

void serve_record_input(serve_recorder *r, const sp_scene_log_input *input)
{
    if (r)
        add(r, input);
}

void serve_record_step(serve_recorder *r, double time, int64_t check)
{
    if (r)
        add(r, &(sp_scene_log_input){.kind = STEP, .vertex = check, .value = {time}});
}

void serve_record_close(serve_recorder *r, json_t *result)
{
    if (!r)
        return;
    atomic_store(&r->finished, true);
    pthread_join(r->thread, NULL);
    const int status = sp_scene_log_finish(r->log);
    if (status != SP_OK)
        tool_fail(status, r->path, "%s", r->context.message);
    tool_output_finish(r->output, result);
    json_decref(r->meta);
    sp_list_free(&r->inputs);
}
