#include "tools/serve/serve.h"

#include "tools/common/inputs.h"
#include "tools/common/memory_left.h"

#include <math.h>
#include <string.h>

/* ---- the state that goes out ---- */

supple_shared_output *server_output(const server *s)
{
    return (supple_shared_output *)(void *)s->now;
}

supple_shared_state *server_state(const server *s)
{
    return (supple_shared_state *)(server_output(s) + 1);
}

double *server_coordinates(const server *s)
{
    return (double *)(server_state(s) + s->scene.input.scene.body_count);
}

static void write_pose(const sp_pose *pose, double to[7])
{
    memcpy(to, pose->x, sizeof pose->x);
    memcpy(to + 3, pose->q, sizeof pose->q);
}

static void collect(server *s)
{
    const sp_loaded_scene *scene = &s->scene;
    supple_shared_output *now = server_output(s);
    supple_shared_state *state = server_state(s);
    double *q = server_coordinates(s), *qdot = q + scene->r;
    sp_pose pose;

    now->cycle = (uint64_t)s->clock.cycles;
    now->missed = (uint64_t)s->clock.missed;
    now->time = sp_contact_scene_time(scene->contact);

    if (scene->input.scene.coupling.kind != SP_SCENE_NO_COUPLING) {
        sp_contact_scene_coupled(scene->contact, &pose, now->coupling, now->device);
        write_pose(&pose, now->hand);
    }

    for (int64_t i = 0; i < scene->input.scene.body_count; i++) {
        const int64_t r = scene->bodies[i].r;
        sp_contact_scene_body_now(scene->contact, i, &pose, state[i].twist, r ? q : NULL, r ? qdot : NULL);
        write_pose(&pose, state[i].pose);
        memcpy(state[i].contact, sp_contact_scene_wrench(scene->contact, i), sizeof state[i].contact);
        q += r;
        qdot += r;
    }
}

/* ---- inputs ---- */

void server_take(server *s, const sp_scene_log_input *input)
{
    const enum scene_refusal refusal = scene_inputs_apply(&s->inputs, &s->scene, input);
    if (refusal == SCENE_ACCEPTED)
        serve_record_input(s->recorder, input);
    s->refused[refusal]++;
}

/* ---- all of it ---- */

void server_load(server *s, const char *path, const simulate_choice *integration, const serve_choice *choice)
{
    const sp_scene_options options = {.step = choice->step_given ? choice->step : 1 / choice->rate,
                                      .integrator = (enum sp_integrator_kind)integration->integrator,
                                      .beta = integration->beta_given ? integration->beta : 0.25,
                                      .gamma = integration->gamma,
                                      .semi_implicit = integration->semi_implicit,
                                      .tolerance = integration->tolerance,
                                      .iterations = integration->iterations,
                                      .memory = tool_memory_left()};

    s->path = path;
    tool_check_source(sp_scene_load(tool_source(), path, &options, &s->scene));

    const int64_t bodies = s->scene.input.scene.body_count;
    s->q = tool_allocate(&s->pool, scene_most_coordinates(&s->scene), sizeof *s->q);
    s->now_size = (int64_t)sizeof(supple_shared_output) + bodies * (int64_t)sizeof(supple_shared_state) +
                  2 * s->scene.r * (int64_t)sizeof(double);

    s->now = tool_allocate(&s->pool, s->now_size, 1);
    s->clock.period = llround(1e9 / choice->rate);

    collect(s);
    s->recorder = serve_record_open(s, choice->record);
    s->udp = serve_udp_open(s, choice->port_given, choice->address, choice->port);
    s->shared = serve_shared_open(s, choice->shared);
}

static void close_log(server *s, const char *failure)
{
    if (!s->recorder)
        return;
    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_scene_log.result, {"steps", .integer = s->clock.cycles},
               {"inputs", .integer = s->refused[SCENE_ACCEPTED]}, {"missed_deadlines", .integer = s->clock.missed},
               {"failure", .text = failure, .none = !failure});
    serve_record_close(s->recorder, result);
    s->recorder = NULL;
}

/* A step that fails ends the log, with what acted in it: replaying it fails in the same way. */
static noreturn void end_failed(server *s, int status, double time)
{
    char message[sizeof s->context->message];
    memcpy(message, s->context->message, sizeof message);
    scene_warn(&s->scene, s->path);
    serve_record_step(s->recorder, time, 0);
    close_log(s, message);
    tool_fail(status, s->path, "%s", message);
}

static void cycle(server *s)
{
    serve_clock_wait(&s->clock);
    serve_udp_receive(s->udp, s);
    serve_shared_receive(s->shared, s);

    const double time = sp_contact_scene_time(s->scene.contact);
    const int status = sp_run_to(&s->scene.run, s->scene.run.done + 1);
    if (status != SP_OK)
        end_failed(s, status, time);

    collect(s);
    serve_shared_publish(s->shared, s);
    serve_udp_send(s->udp, s);
    if (s->recorder)
        serve_record_step(s->recorder, time, scene_checksum(&s->scene, s->q));
    serve_clock_done(&s->clock);
    if (serve_shared_check(s->shared, s->context) != SP_OK) {
        close_log(s, s->context->message);
        tool_fail(SP_SYSTEM, s->path, "%s", s->context->message);
    }
}

void server_run(server *s, const serve_choice *choice)
{
    serve_clock_prepare(choice->priority, s->context->threads);
    serve_udp_announce(s->udp);
    serve_clock_start(&s->clock, choice->rate);
    do
        cycle(s);
    while (!s->stop && !serve_clock_stopped() && (choice->steps == 0 || s->clock.cycles < choice->steps));
}

static void report_inputs(const server *s)
{
    static const char *const dropped[DROP_COUNT] = {[DROP_LONG] = "too long packets",
                                                    [DROP_MALFORMED] = "malformed packets",
                                                    [DROP_UNKNOWN] = "messages to an unknown address",
                                                    [DROP_ARGUMENTS] = "messages with wrong arguments",
                                                    [DROP_SUBSCRIBERS] = "subscriptions beyond 16"};
    static const char *const refused[] = {[SCENE_NOT_A_VALUE] = "inputs that are not finite or out of range",
                                          [SCENE_NO_TARGET] = "inputs for no such body or vertex",
                                          [SCENE_NOT_DRIVEN] = "inputs for what they cannot move",
                                          [SCENE_TOO_MANY] = "forces too many"};

    char text[600] = "";
    size_t at = 0;
    for (int i = 0; i < DROP_COUNT; i++)
        if (s->dropped[i])
            at += (size_t)snprintf(text + at, sizeof text - at, ", %lld %s", (long long)s->dropped[i], dropped[i]);

    if (s->lost)
        at += (size_t)snprintf(text + at, sizeof text - at, ", %u packets for which the socket had no room", s->lost);

    for (int i = SCENE_NOT_A_VALUE; i < TOOL_COUNT(refused); i++)
        if (s->refused[i])
            at += (size_t)snprintf(text + at, sizeof text - at, ", %lld %s", (long long)s->refused[i], refused[i]);

    tool_say("%lld packets, %lld inputs accepted; dropped: %s", (long long)s->packets,
             (long long)s->refused[SCENE_ACCEPTED], *text ? text + 2 : "none");
}

void server_report(const server *s)
{
    const tool_durations *compute = &s->clock.computation, *latency = &s->clock.latency;
    tool_say("%lld cycles, %lld missed deadlines; computation %.1f us at the 99.9th percentile, %.1f us at worst; "
             "wake-up late by %.1f us, %.1f us",
             (long long)s->clock.cycles, (long long)s->clock.missed, 1e6 * tool_durations_quantile(compute, 0.999),
             1e6 * compute->worst, 1e6 * tool_durations_quantile(latency, 0.999), 1e6 * latency->worst);
    report_inputs(s);
    scene_warn(&s->scene, s->path);
}

void server_close(server *s)
{
    serve_shared_close(s->shared);
    serve_udp_close(s->udp);
    close_log(s, NULL);
    sp_scene_unload(&s->scene);
    sp_pool_free(&s->pool);
}
