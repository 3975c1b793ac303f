#include "tools/scene/run.h"
#include "formats/scene_trajectory.h"
#include "scene/stiffness.h"
#include "tools/common/durations.h"
#include "tools/common/inputs.h"
#include "tools/common/memory_left.h"
#include "tools/common/rig.h"
#include "tools/scene/inputs.h"
#include "tools/scene/replay.h"
#include "tools/simulate/keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* From here on a scene is said to be large. */
static const int64_t MANY_BODIES = 10000;
static const double MANY_BYTES = 1e9;

/* ---- recording ---- */

typedef struct recorder {
    sp_scene_trajectory_writer *writer;
    sp_scene_trajectory_body *bodies;
    sp_scene_frame frame;
    sp_pose *pose;
    double *twist, *wrench, *q, *qdot;
    sp_list contact_bodies, contact_points, contact_places, contact_forces;
    bool contacts;
} recorder;

static void begin_record(sp_loaded_scene *run, recorder *r, json_t *meta, sp_writer *writer)
{
    const sp_scene *scene = &run->input.scene;
    const int64_t n = scene->body_count;
    int64_t offset = 0;

    r->bodies = tool_allocate(&run->pool, n, sizeof *r->bodies);
    r->pose = tool_allocate(&run->pool, n, sizeof *r->pose);
    r->twist = tool_allocate(&run->pool, 6 * n, sizeof(double));
    r->wrench = tool_allocate(&run->pool, 6 * n, sizeof(double));
    r->q = tool_allocate(&run->pool, run->r, sizeof(double));
    r->qdot = tool_allocate(&run->pool, run->r, sizeof(double));

    for (int64_t i = 0; i < n; i++) {
        memcpy(r->bodies[i].name, scene->bodies[i].name, sizeof r->bodies[i].name);
        memcpy(r->bodies[i].model, scene->models[scene->bodies[i].model].name, sizeof r->bodies[i].model);
        r->bodies[i].r = run->bodies[i].r;
        r->bodies[i].offset = offset;
        offset += run->bodies[i].r;
    }

    const sp_scene_trajectory_layout shape = {n, r->bodies, run->r, scene->coupling.kind != SP_SCENE_NO_COUPLING,
                                              r->contacts};
    tool_facts(meta, sp_kind_scene_trajectory.meta, {"scene", .text = run->input.hash});
    tool_check(sp_scene_trajectory_begin(run->context, writer, meta, &shape, &r->writer), tool_output_path());
}

/* Memory of the list for so many elements, whose old contents are lost. */
static void *resized(sp_list *list, int64_t count, size_t size)
{
    list->count = 0;
    void *memory = sp_list_add(list, count, size);
    if (!memory && count)
        tool_out_of_memory();
    return memory;
}

static void list_contacts(const sp_loaded_scene *run, recorder *r)
{
    const sp_contact_scene_contact *from;
    const int64_t count = sp_contact_scene_contacts(run->contact, &from);
    int32_t *body = resized(&r->contact_bodies, 2 * count, sizeof *body),
            *point = resized(&r->contact_points, count, sizeof *point);
    double *place = resized(&r->contact_places, 3 * count, sizeof *place),
           *force = resized(&r->contact_forces, 3 * count, sizeof *force);

    for (int64_t i = 0; i < count; i++) {
        memcpy(body + 2 * i, from[i].body, sizeof from[i].body);
        point[i] = from[i].point;
        memcpy(place + 3 * i, from[i].at, sizeof from[i].at);
        memcpy(force + 3 * i, from[i].force, sizeof from[i].force);
    }

    r->frame.contacts = (sp_scene_trajectory_contacts){count, body, point, place, force};
}

/* The recorded part of a checkpoint: frames, and with --timings the wall time of each step. */
enum item { ITEM_FRAME, ITEM_TIMING };

static void begin_item(enum item item, sp_state *kept)
{
    int64_t kind = item;
    SP_STATE_VALUE(kept, kind);
}

static void visit_contacts(recorder *r, sp_state *state)
{
    sp_list *lists[] = {&r->contact_bodies, &r->contact_points, &r->contact_places, &r->contact_forces};
    const int64_t size[] = {sizeof(int32_t), sizeof(int32_t), sizeof(double), sizeof(double)};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        sp_state_list(state, lists[i], size[i]);
    const int64_t count = r->contact_points.count;
    r->frame.contacts = (sp_scene_trajectory_contacts){count, r->contact_bodies.data, r->contact_points.data,
                                                       r->contact_places.data, r->contact_forces.data};
    state->failed |= r->contact_bodies.count != 2 * count || r->contact_places.count != 3 * count ||
                     r->contact_forces.count != 3 * count;
}

/* A frame, whose arrays are the recorder's. */
static void visit_frame(const sp_loaded_scene *run, recorder *r, sp_state *state)
{
    const int64_t n = run->input.scene.body_count;
    sp_scene_frame *frame = &r->frame;

    SP_STATE_VALUE(state, frame->time);
    sp_state_bytes(state, r->pose, n * (int64_t)sizeof *r->pose);
    sp_state_reals(state, r->twist, 6 * n);
    sp_state_reals(state, r->wrench, 6 * n);
    sp_state_reals(state, r->q, run->r);
    sp_state_reals(state, r->qdot, run->r);

    SP_STATE_VALUE(state, frame->energy);
    SP_STATE_VALUE(state, frame->counts);
    SP_STATE_VALUE(state, frame->hand);
    SP_STATE_VALUE(state, frame->coupling);
    SP_STATE_VALUE(state, frame->device);

    if (r->contacts)
        visit_contacts(r, state);
}

static void append_frame(recorder *r)
{
    sp_scene_frame *frame = &r->frame;
    frame->pose = r->pose;
    frame->twist = r->twist;
    frame->wrench = r->wrench;
    frame->q = r->q;
    frame->qdot = r->qdot;
    tool_check(sp_scene_trajectory_append(r->writer, frame), tool_output_path());
    memset(frame->counts, 0, sizeof frame->counts);
}

/* kept: where the frame is saved too; NULL: nowhere. */
static void record_frame(const sp_loaded_scene *run, recorder *r, sp_state *kept)
{
    sp_scene_frame *frame = &r->frame;

    frame->time = sp_contact_scene_time(run->contact);
    for (int64_t i = 0; i < run->input.scene.body_count; i++) {
        sp_contact_scene_body_now(run->contact, i, &r->pose[i], r->twist + 6 * i, r->q + r->bodies[i].offset,
                                  r->qdot + r->bodies[i].offset);
        memcpy(r->wrench + 6 * i, sp_contact_scene_wrench(run->contact, i), 6 * sizeof(double));
    }

    memcpy(frame->energy, run->energy, sizeof frame->energy);
    sp_contact_scene_coupled(run->contact, &frame->hand, frame->coupling, frame->device);
    if (r->contacts)
        list_contacts(run, r);

    if (kept) {
        begin_item(ITEM_FRAME, kept);
        visit_frame(run, r, kept);
    }

    append_frame(r);
}

static void count_step(recorder *r, const sp_contact_scene_report *report)
{
    const int64_t counts[SP_SCENE_TRAJECTORY_COUNTS] = {report->visited, report->passed, report->touching,
                                                        report->deepest};
    for (int i = 0; i < SP_SCENE_TRAJECTORY_COUNTS; i++)
        r->frame.counts[i] = counts[i] > r->frame.counts[i] ? counts[i] : r->frame.counts[i];
}

/* ---- how long steps take: never part of the output, which is the same for every run ---- */

typedef struct timings {
    tool_durations all;
    tool_output *output; /* of --timings; NULL: none */
    int64_t again;       /* lines that a checkpoint had */
    int64_t waiting;     /* characters in `text` that are still to be written */
    char text[1 << 16];
} timings;

static void flush_timings(timings *t)
{
    tool_output_append(t->output, t->text, t->waiting);
    t->waiting = 0;
}

/* The line of a step, from 1. */
static void write_timing(timings *t, int64_t number, double seconds)
{
    if (!t->output)
        return;
    if (t->waiting > (int64_t)sizeof t->text - 64)
        flush_timings(t);
    t->waiting += snprintf(t->text + t->waiting, 64, "%lld,%.9f\n", (long long)number, seconds);
}

static void add_timing(timings *t, double seconds, sp_state *kept)
{
    tool_durations_add(&t->all, seconds);
    write_timing(t, t->all.count, seconds);
    if (kept && t->output) {
        begin_item(ITEM_TIMING, kept);
        SP_STATE_VALUE(kept, seconds);
    }
}

static void say_timings(const timings *t)
{
    const tool_durations *all = &t->all;
    if (all->count > 0)
        tool_say("a step took %.1f us on average, %.1f us at the 99.9th percentile, %.1f us at worst",
                 1e6 * all->sum / (double)all->count, 1e6 * tool_durations_quantile(all, 0.999), 1e6 * all->worst);
}

/* ---- all of it ---- */

static json_t *make_result(const sp_loaded_scene *run)
{
    const sp_contact_watch *sum = &run->watch;
    json_t *result = tool_result_new();

    tool_facts(result, sp_kind_scene_trajectory.result, {"pairs_by_gradient", .integer = run->pairs_by_gradient},
               {"pairs_by_normal", .integer = run->pairs_by_normal}, {"most_nodes_visited", .integer = sum->visited},
               {"most_points_in_contact", .integer = sum->touching}, {"deepest_level", .integer = sum->deepest},
               {"steps_in_contact", .integer = sum->steps_in_contact}, {"steps_cut_short", .integer = sum->incomplete},
               {"steps_in_contact_cut_short", .integer = sum->cut_in_contact},
               {"steps_wholly_inside", .integer = sum->steps_inside},
               {"steps_passed_through", .integer = sum->steps_crossed},
               {"cycles_out_of_balance", .integer = sum->restless}, {"steps_at_speed_limit", .integer = sum->limited},
               {"steps_with_free_directions", .integer = sum->degenerate},
               {"lowest_distance", .real = sum->lowest, .none = !(sum->lowest < INFINITY)},
               {"penetration_by_size", .real = sum->sunk}, {"contact_stiffness", .real = run->stiffness},
               {"stiffest_contact", .real = sum->stiffest}, {"lean_of_normals", .real = sp_contact_watch_lean(sum)},
               {"energy_rise", .real = sum->rise}, {"work_of_paths", .real = sum->path_work},
               {"energy_first", .count = SP_SCENE_TRAJECTORY_ENERGIES, .reals = sum->first},
               {"energy_last", .count = SP_SCENE_TRAJECTORY_ENERGIES, .reals = run->energy});

    return result;
}

/* ---- the checkpoint ---- */

typedef struct recorded_scene {
    sp_loaded_scene *run;
    const simulate_choice *choice;
    recorder *record;
    timings *times;
    scene_replay *replay; /* NULL: none */
    simulate_keep *keep;  /* NULL: no checkpoint */
} recorded_scene;

static void visit_timings(const recorded_scene *scene, sp_state *state)
{
    timings *t = scene->times;
    bool written = t->output != NULL;
    SP_STATE_VALUE(state, t->all.count);
    SP_STATE_VALUE(state, t->all.bin);
    SP_STATE_VALUE(state, t->all.sum);
    SP_STATE_VALUE(state, t->all.worst);
    SP_STATE_VALUE(state, written);
    if (state->loading && t->output && !written)
        tool_fail(SP_USAGE, scene->choice->checkpoint,
                  "--timings: the run was begun without it, and how long its first steps took is not known");
}

static void visit_record(void *data, sp_state *state)
{
    recorded_scene *scene = data;
    SP_STATE_VALUE(state, scene->record->frame.counts);
    visit_timings(scene, state);
}

static void visit(void *data, int64_t done, sp_state *state)
{
    recorded_scene *scene = data;
    sp_run_visit(&scene->run->run, done, state);
}

static void record_again(void *data, sp_state *state)
{
    recorded_scene *scene = data;
    int64_t kind = -1;
    double seconds;
    SP_STATE_VALUE(state, kind);
    switch (kind) {
    case ITEM_FRAME:
        visit_frame(scene->run, scene->record, state);
        if (!state->failed)
            append_frame(scene->record);
        break;
    case ITEM_TIMING:
        SP_STATE_VALUE(state, seconds);
        if (!state->failed)
            write_timing(scene->times, ++scene->times->again, seconds);
        break;
    default:
        state->failed = true;
    }
}

/* ---- the steps ---- */

/* A step of the scene, with the inputs of a log if one is replayed, and the wall time that it takes. */
static int take_step(void *data, int64_t number)
{
    recorded_scene *scene = data;
    scene_replay_apply(scene->replay, number);

    const double start = tool_seconds();
    SP_PASS(sp_contact_scene_step(scene->run->contact));
    add_timing(scene->times, tool_seconds() - start, keep_recording(scene->keep));

    scene_replay_check(scene->replay, number);
    return SP_OK;
}

static void visit_scene(void *data, sp_state *state)
{
    recorded_scene *scene = data;
    sp_contact_scene_visit(scene->run->contact, state);
}

static int record_step(void *data, int64_t number)
{
    recorded_scene *scene = data;
    (void)number;
    count_step(scene->record, sp_contact_scene_reported(scene->run->contact));
    return SP_OK;
}

static int record(void *data, int64_t number)
{
    recorded_scene *scene = data;
    (void)number;
    record_frame(scene->run, scene->record, keep_recording(scene->keep));
    return SP_OK;
}

/* The checkpoint, when all others have seen the step. */
static int keep_and_report(void *data, int64_t number)
{
    recorded_scene *scene = data;
    keep_step(scene->keep, number);
    return sp_progress(scene->run->context, keep_fraction(scene->keep, number, scene->choice->steps));
}

static void watch(recorded_scene *scene)
{
    sp_run *run = &scene->run->run;
    run->steps = scene->choice->steps;
    run->every = scene->choice->every;
    run->motion = (sp_motion){.self = scene, .step = take_step, .visit = visit_scene};
    sp_run_watch(run, (sp_observer){.self = scene, .step = record_step, .frame = record, .visit = visit_record});
    sp_run_watch(run, (sp_observer){.self = scene, .step = keep_and_report});
}

/* A remark on the stiffness that was chosen. */
static void say_stiffness(const sp_loaded_scene *run)
{
    const sp_contact_choice *c = &run->choice;
    const sp_scene_body *bodies = run->input.scene.bodies;
    if (!(c->stiffness > 0))
        return;

    tool_say(
        "contact.stiffness is %.4g N/m: %s (%.3g kg) rests on %g points at a depth of %.3g m, %g %% of the size of "
        "%s",
        c->stiffness, bodies[c->heaviest].name, run->bodies[c->heaviest].inertia->mass, c->points, c->depth,
        100 * SP_CONTACT_DEPTH, bodies[c->smallest].name);

    if (c->stiffest >= 0)
        tool_say("contact is stable with --dt up to %.2g while %s lies on one side, up to %g %% of its size deep",
                 c->step, bodies[c->stiffest].name, 100 * SP_CONTACT_SINKS);
}

/* A remark before the steps of a scene that fills memory or the disk: the largest memory so far, which the bodies have
 * taken, and the size of the frames without contacts: pose, twist and wrench, q and its rate. */
static void say_size(const sp_loaded_scene *run, const simulate_choice *choice)
{
    const int64_t bodies = run->input.scene.body_count;
    const double frames = (double)(choice->steps / choice->every + 1),
                 bytes = 8 * frames * (double)(19 * bodies + 2 * run->r);
    struct rusage usage;

    if ((bodies < MANY_BODIES && bytes < MANY_BYTES) || getrusage(RUSAGE_SELF, &usage) != 0)
        return;

    tool_say("%lld bodies take %.2g GB of memory, and %.0f frames of them %.2g GB in the output, without contacts: "
             "--every keeps fewer",
             (long long)bodies, 1024e-9 * (double)usage.ru_maxrss, frames, 1e-9 * bytes);
}

/* Reads the scene, and records its text as an input. */
static void load(const char *path, const simulate_choice *choice, sp_loaded_scene *run)
{
    const sp_scene_options options = {.step = choice->step,
                                      .integrator = (enum sp_integrator_kind)choice->integrator,
                                      .beta = choice->beta_given ? choice->beta : 0.25,
                                      .gamma = choice->gamma,
                                      .semi_implicit = choice->semi_implicit,
                                      .tolerance = choice->tolerance,
                                      .iterations = choice->iterations,
                                      .memory = tool_memory_left()};

    tool_check_source(sp_scene_load(tool_source(), path, &options, run));
    say_stiffness(run);
    say_size(run, choice);
}

void simulate_scene(sp_context *context, const char *path, simulate_choice *choice,
                    const simulate_scene_choice *scene_choice)
{
    sp_loaded_scene run;
    recorder record = {.contacts = scene_choice->contacts};
    scene_replay *replay = scene_replay_open(context, scene_choice->replay, choice);
    load(path, choice, &run);
    scene_replay_begin(replay, &run);

    /* the outputs */
    timings *times = tool_allocate(&run.pool, 1, sizeof *times);
    tool_output *output = tool_output_open(tool_output_path());
    times->output = scene_choice->timings ? tool_output_open(scene_choice->timings) : NULL;
    if (times->output)
        times->waiting = snprintf(times->text, sizeof times->text, "step,seconds\n");
    json_t *meta = tool_meta_new("scene_trajectory");
    begin_record(&run, &record, meta, tool_output_writer(output));

    /* the steps, perhaps after those of an interrupted run */
    recorded_scene scene = {.run = &run, .choice = choice, .record = &record, .times = times, .replay = replay};
    watch(&scene);
    tool_check(sp_run_begin(&run.run), path);
    scene.keep = keep_open(choice->checkpoint, choice->partial,
                           &(simulate_kept_run){&scene, choice->steps, "steps", visit, record_again});
    keep_resume(scene.keep);
    const int64_t end = keep_end(scene.keep, choice->steps);
    tool_check(sp_run_to(&run.run, end), path);

    const sp_contact_watch *sum = &run.watch;
    scene_warn(&run, path);
    tool_say(
        "%lld bodies, %lld coordinates, %lld steps, %lld of them in contact, at most %lld points, %lld nodes, level %d",
        (long long)run.input.scene.body_count, (long long)run.r, (long long)end, (long long)sum->steps_in_contact,
        (long long)sum->touching, (long long)sum->visited, sum->deepest);
    tool_check(sp_scene_trajectory_finish(record.writer), tool_output_path());
    json_t *result = make_result(&run);
    keep_report(scene.keep, result);
    tool_output_finish(output, result);
    if (times->output) {
        flush_timings(times);
        tool_output_finish(times->output, NULL);
    }
    keep_finish(scene.keep);
    say_timings(times);

    json_decref(meta);
    sp_list_free(&record.contact_bodies);
    sp_list_free(&record.contact_points);
    sp_list_free(&record.contact_places);
    sp_list_free(&record.contact_forces);
    scene_replay_close(replay);
    sp_scene_unload(&run);
}
