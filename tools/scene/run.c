#include "contact/stiffness.h"
#include "formats/scene_trajectory.h"
#include "tools/common/durations.h"
#include "tools/common/inputs.h"
#include "tools/common/memory_left.h"
#include "tools/scene/replay.h"
#include "tools/scene/scene.h"
#include "tools/simulate/keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    json_object_set_new(meta, "scene", json_string(run->input.hash));
    tool_check(sp_scene_trajectory_begin(run->context, writer, meta, &shape, &r->writer), tool_output_path());
}

static void *more(sp_list *list, int64_t count, size_t size)
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
    int32_t *body = more(&r->contact_bodies, 2 * count, sizeof *body),
            *point = more(&r->contact_points, count, sizeof *point);
    double *place = more(&r->contact_places, 3 * count, sizeof *place),
           *force = more(&r->contact_forces, 3 * count, sizeof *force);
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
    sp_contact_scene_energies(run->contact, frame->energy);
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

typedef struct totals {
    int64_t touching, visited, incomplete, limited, degenerate, steps_in_contact;
    int64_t cut_in_contact,
        steps_inside;       /* steps in contact that were cut short; in which a body was wholly in another one */
    int64_t inside[2];      /* the first bodies of the latter */
    int64_t sunk_bodies[2]; /* of the deepest penetration relative to the size of a body (sp_contact_scene_report) */
    double sunk, sunk_depth, sunk_at; /* of it: relative, m, s */
    double inside_since;              /* s */
    int deepest;
    double pushed, leant; /* N, over all steps (sp_contact_scene_report) */
    double lowest, stiffest;
    double path_work;          /* J, of bodies on paths */
    double rise, made, motion; /* J, over the recorded frames: most that all energy is above that at the start; the same
                                  less the work of paths until then; most kinetic and strain energy */
} totals;

static void add_up(totals *sum, const sp_contact_scene_report *report, double time)
{
    if (report->inside[0] >= 0 && sum->steps_inside++ == 0) {
        memcpy(sum->inside, report->inside, sizeof sum->inside);
        sum->inside_since = time;
    }
    if (report->sunk > sum->sunk) {
        sum->sunk = report->sunk;
        sum->sunk_depth = report->sunk_depth;
        sum->sunk_at = time;
        memcpy(sum->sunk_bodies, report->sunk_bodies, sizeof sum->sunk_bodies);
    }
    sum->cut_in_contact += report->touching > 0 && !report->complete;
    sum->touching = report->touching > sum->touching ? report->touching : sum->touching;
    sum->visited = report->visited > sum->visited ? report->visited : sum->visited;
    sum->deepest = report->deepest > sum->deepest ? report->deepest : sum->deepest;
    sum->steps_in_contact += report->touching > 0;
    sum->incomplete += !report->complete;
    sum->limited += report->limited;
    sum->degenerate += report->degenerate > 0;
    sum->path_work += report->path_work;
    sum->pushed += report->pushed;
    sum->leant += report->leant;
    sum->lowest = fmin(sum->lowest, report->lowest);
    sum->stiffest = fmax(sum->stiffest, report->stiffest);
}

/* Nothing but hands and paths brings energy in: what rises without them is an error of the steps, or of forces without
 * an energy. The work against these may be negative, which no body that stores energy can be: then they have given what
 * was never put in, and it counts as nothing. */
static void watch_energy(totals *sum, const double first[SP_SCENE_TRAJECTORY_ENERGIES],
                         const double now[SP_SCENE_TRAJECTORY_ENERGIES])
{
    double rise = 0;
    for (int i = 0; i < SP_SCENE_TRAJECTORY_ENERGIES; i++)
        rise += (i == SP_SCENE_TRAJECTORY_STRAIN ? fmax(now[i], 0) : now[i]) - first[i];
    sum->rise = fmax(sum->rise, rise);
    sum->made = fmax(sum->made, rise - sum->path_work);
    sum->motion = fmax(sum->motion, now[SP_SCENE_TRAJECTORY_KINETIC] + now[SP_SCENE_TRAJECTORY_STRAIN]);
}

static void warn_of_energy(const sp_loaded_scene *run, const char *path, const totals *sum)
{
    const sp_scene *scene = &run->input.scene;
    bool by_coordinate = false, paths = false;
    for (int64_t i = 0; i < scene->body_count; i++) {
        if (scene->bodies[i].motion == SP_SCENE_COUPLED) /* the work of the hand is not known */
            return;
        paths |= scene->bodies[i].motion == SP_SCENE_PATH;
    }
    for (int64_t i = 0; i < scene->model_count; i++)
        by_coordinate |= run->models[i].cubature.modal;
    const double rounding = 1e-24; /* J, far below the thermal energy of one molecule: bodies at rest have this much */
    if (sum->made <= 0.1 * sum->motion || sum->made < rounding)
        return;
    const char *advice =
        by_coordinate ? "train weights by coordinate on poses as far as this motion goes, or take weights by element"
        : tool_option_given("semi-implicit")
            ? "shorten --dt, or leave out --semi-implicit, or, where that does not help, give contact.damping"
            : "shorten --dt, or, where that does not help, give contact.damping";
    tool_warn(path,
              "the energy of all bodies rose %.3g J above its start%s, with %.3g J kinetic and strain at most: %s",
              sum->made, paths ? " and the work of paths" : "", sum->motion, advice);
}

static void warn_of_sinking(const sp_loaded_scene *run, const char *path, const totals *sum)
{
    const sp_scene *scene = &run->input.scene;
    char advice[100];
    if (scene->contact.stiffness > 0)
        snprintf(advice, sizeof advice, "raise contact.stiffness%s, or leave it out",
                 scene->contact.limit < INFINITY ? " or contact.limit" : "");
    else
        snprintf(advice, sizeof advice, "%sstate a contact.stiffness above %.3g N/m",
                 scene->contact.limit < INFINITY ? "leave out contact.limit, or " : "", run->stiffness);
    tool_warn(path, "%s sinks %.3g m deep into %s at %g s, %.0f %% of the size of the smaller one: %s",
              scene->bodies[sum->sunk_bodies[0]].name, sum->sunk_depth, scene->bodies[sum->sunk_bodies[1]].name,
              sum->sunk_at, 100 * sum->sunk, advice);
}

static void warn_of_contact(const sp_loaded_scene *run, const char *path, const totals *sum)
{
    const sp_scene *scene = &run->input.scene;
    if (sum->cut_in_contact > 0 && !(scene->contact.limit < INFINITY))
        tool_warn(path,
                  "in %lld of %lld steps in contact traversal.warm left levels out, and without contact.limit the "
                  "force changes with the number of points: give contact.limit",
                  (long long)sum->cut_in_contact, (long long)sum->steps_in_contact);
    if (sum->steps_inside > 0)
        tool_warn(path,
                  "%s is wholly inside of %s in %lld steps, first at %g s, where contact may push it out on the wrong "
                  "side or not at all: raise contact.stiffness or shorten --dt",
                  scene->bodies[sum->inside[0]].name, scene->bodies[sum->inside[1]].name, (long long)sum->steps_inside,
                  sum->inside_since);
    else if (sum->sunk > SP_CONTACT_SINKS)
        warn_of_sinking(run, path, sum);
}

/* The step that would have been stable for the same contacts: their eigenvalue is h² λ + 2 h μ with the springs' λ and
 * the dampers' μ, whose parts are not known. */
static double stable_step(double step, const sp_scene *scene, double stiffest)
{
    return step * (scene->contact.damping > 0 ? 4 / stiffest : sqrt(4 / stiffest));
}

/* 0: along gradients, or no contact. */
static double lean(const totals *sum)
{
    return sum->pushed > 0 ? sum->leant / sum->pushed : 0;
}

static json_t *make_result(const sp_loaded_scene *run, const totals *sum,
                           const double first[SP_SCENE_TRAJECTORY_ENERGIES],
                           const double last[SP_SCENE_TRAJECTORY_ENERGIES])
{
    json_t *result = tool_result_new();
    json_object_set_new(result, "pairs_by_gradient", json_integer(run->pairs_by_gradient));
    json_object_set_new(result, "pairs_by_normal", json_integer(run->pairs_by_normal));
    json_object_set_new(result, "most_nodes_visited", json_integer(sum->visited));
    json_object_set_new(result, "most_points_in_contact", json_integer(sum->touching));
    json_object_set_new(result, "deepest_level", json_integer(sum->deepest));
    json_object_set_new(result, "steps_in_contact", json_integer(sum->steps_in_contact));
    json_object_set_new(result, "steps_cut_short", json_integer(sum->incomplete));
    json_object_set_new(result, "steps_in_contact_cut_short", json_integer(sum->cut_in_contact));
    json_object_set_new(result, "steps_wholly_inside", json_integer(sum->steps_inside));
    json_object_set_new(result, "steps_at_speed_limit", json_integer(sum->limited));
    json_object_set_new(result, "steps_with_free_directions", json_integer(sum->degenerate));
    json_object_set_new(result, "lowest_distance",
                        sum->lowest < INFINITY ? tool_real("lowest_distance", sum->lowest) : json_null());
    json_object_set_new(result, "penetration_by_size", tool_real("penetration_by_size", sum->sunk));
    json_object_set_new(result, "contact_stiffness", tool_real("contact_stiffness", run->stiffness));
    json_object_set_new(result, "stiffest_contact", tool_real("stiffest_contact", sum->stiffest));
    json_object_set_new(result, "lean_of_normals", tool_real("lean_of_normals", lean(sum)));
    json_object_set_new(result, "energy_rise", tool_real("energy_rise", sum->rise));
    json_object_set_new(result, "work_of_paths", tool_real("work_of_paths", sum->path_work));
    json_object_set_new(result, "energy_first", tool_reals("energy_first", SP_SCENE_TRAJECTORY_ENERGIES, first));
    json_object_set_new(result, "energy_last", tool_reals("energy_last", SP_SCENE_TRAJECTORY_ENERGIES, last));
    return result;
}

/* ---- the checkpoint ---- */

typedef struct kept_scene {
    sp_loaded_scene *run;
    recorder *record;
    totals *sum;
    timings *times;
    const char *path; /* of the checkpoint */
} kept_scene;

static void visit_timings(const kept_scene *kept, sp_state *state)
{
    timings *t = kept->times;
    bool written = t->output != NULL;
    SP_STATE_VALUE(state, t->all.count);
    SP_STATE_VALUE(state, t->all.bin);
    SP_STATE_VALUE(state, t->all.sum);
    SP_STATE_VALUE(state, t->all.worst);
    SP_STATE_VALUE(state, written);
    if (state->loading && t->output && !written)
        tool_fail(SP_USAGE, kept->path,
                  "--timings: the run was begun without it, and how long its first steps took is not known");
}

static void visit(void *data, int64_t done, sp_state *state)
{
    kept_scene *kept = data;
    (void)done;
    sp_contact_scene_visit(kept->run->contact, state);
    SP_STATE_VALUE(state, *kept->sum);
    SP_STATE_VALUE(state, kept->record->frame.counts);
    visit_timings(kept, state);
}

static void record_again(void *data, sp_state *state)
{
    kept_scene *kept = data;
    int64_t kind = -1;
    double seconds;
    SP_STATE_VALUE(state, kind);
    switch (kind) {
    case ITEM_FRAME:
        visit_frame(kept->run, kept->record, state);
        if (!state->failed)
            append_frame(kept->record);
        break;
    case ITEM_TIMING:
        SP_STATE_VALUE(state, seconds);
        if (!state->failed)
            write_timing(kept->times, ++kept->times->again, seconds);
        break;
    default:
        state->failed = true;
    }
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
}

void simulate_scene(sp_context *context, const char *path, simulate_choice *choice,
                    const simulate_scene_choice *scene_choice)
{
    sp_loaded_scene run;
    recorder record = {.contacts = scene_choice->contacts};
    totals sum = {.lowest = INFINITY};
    double first[SP_SCENE_TRAJECTORY_ENERGIES], last[SP_SCENE_TRAJECTORY_ENERGIES];
    scene_replay *replay = scene_replay_open(context, scene_choice->replay, choice);
    load(path, choice, &run);
    scene_replay_begin(replay, &run);
    const sp_scene *scene = &run.input.scene;

    timings *times = tool_allocate(&run.pool, 1, sizeof *times);
    tool_output *output = tool_output_open(tool_output_path());
    times->output = scene_choice->timings ? tool_output_open(scene_choice->timings) : NULL;
    if (times->output)
        times->waiting = snprintf(times->text, sizeof times->text, "step,seconds\n");
    json_t *meta = tool_meta_new("scene_trajectory");
    begin_record(&run, &record, meta, tool_output_writer(output));
    sp_contact_scene_energies(run.contact, first);
    record_frame(&run, &record, NULL);
    kept_scene kept = {&run, &record, &sum, times, choice->checkpoint};
    simulate_keep *keep = keep_open(choice->checkpoint, choice->partial,
                                    &(simulate_kept_run){&kept, choice->steps, "steps", visit, record_again});
    sp_state *recording = keep_recording(keep);
    const int64_t done = keep_resume(keep), end = keep_end(keep, choice->steps);
    for (int64_t step = done + 1; step <= end; step++) {
        scene_replay_apply(replay, step);
        const double start = tool_seconds();
        tool_check(sp_contact_scene_step(run.contact), path);
        add_timing(times, tool_seconds() - start, recording);
        scene_replay_check(replay, step);
        add_up(&sum, sp_contact_scene_reported(run.contact), sp_contact_scene_time(run.contact));
        count_step(&record, sp_contact_scene_reported(run.contact));
        if (step % choice->every == 0 || step == choice->steps) {
            record_frame(&run, &record, recording);
            watch_energy(&sum, first, record.frame.energy);
        }
        keep_step(keep, step);
        tool_check(sp_progress(context, keep_fraction(keep, step, choice->steps)), path);
    }
    memcpy(last, record.frame.energy, sizeof last);
    warn_of_energy(&run, path, &sum);
    warn_of_contact(&run, path, &sum);
    if (lean(&sum) > 0.1 && scene->contact.direction == SP_SCENE_BY_GEOMETRY)
        tool_warn(path,
                  "contact along the points' normals leans away from the other body's surface by %.0f %% of its force, "
                  "as if that were rough: state contact.direction, gradient for a smooth surface, or normal",
                  100 * lean(&sum));
    if (sum.stiffest >= 4)
        tool_warn(
            path,
            "contact was too stiff for the step (%.3g of at most 4): shorten --dt to %.2g or lower contact.stiffness",
            sum.stiffest, stable_step(choice->step, scene, sum.stiffest));
    tool_say(
        "%lld bodies, %lld coordinates, %lld steps, %lld of them in contact, at most %lld points, %lld nodes, level %d",
        (long long)scene->body_count, (long long)run.r, (long long)end, (long long)sum.steps_in_contact,
        (long long)sum.touching, (long long)sum.visited, sum.deepest);
    tool_check(sp_scene_trajectory_finish(record.writer), tool_output_path());
    json_t *result = make_result(&run, &sum, first, last);
    keep_report(keep, result);
    tool_output_finish(output, result);
    if (times->output) {
        flush_timings(times);
        tool_output_finish(times->output, NULL);
    }
    keep_finish(keep);
    say_timings(times);
    json_decref(meta);
    sp_list_free(&record.contact_bodies);
    sp_list_free(&record.contact_points);
    sp_list_free(&record.contact_places);
    sp_list_free(&record.contact_forces);
    scene_replay_close(replay);
    sp_scene_unload(&run);
}
