/* A scene that runs in real time (simserve). What comes in acts from the next cycle on. All functions end the process
 * on failure. */
#ifndef TOOLS_SERVE_SERVE_H
#define TOOLS_SERVE_SERVE_H

#include "tools/common/durations.h"
#include "tools/scene/inputs.h"
#include "tools/simulate/options.h"

#include <supple/shared.h>

typedef struct serve_choice {
    double rate, step; /* Hz; s, unless `step_given` the time between two cycles */
    bool step_given;
    int64_t steps, port, priority; /* steps 0: until it is stopped */
    bool port_given;
    const char *shared, *address, *record;
} serve_choice;

/* The time of cycles. */
typedef struct serve_clock {
    int64_t period, deadline; /* ns */
    int64_t cycles, missed;
    double begun;                        /* s, when the current cycle began */
    tool_durations latency, computation; /* s: from the deadline to the start of a cycle, and from there to its end */
} serve_clock;

enum serve_drop { DROP_LONG, DROP_MALFORMED, DROP_UNKNOWN, DROP_ARGUMENTS, DROP_SUBSCRIBERS, DROP_COUNT };

typedef struct serve_shared serve_shared;
typedef struct serve_udp serve_udp;
typedef struct serve_recorder serve_recorder;

typedef struct server {
    sp_context *context;
    const char *path;
    sp_loaded_scene scene;
    scene_inputs inputs;
    int64_t refused[SCENE_TOO_MANY + 1], packets, dropped[DROP_COUNT];
    uint32_t lost; /* packets for which the socket had no room */
    serve_clock clock;
    serve_shared *shared; /* NULL: none, as the next two */
    serve_udp *udp;
    serve_recorder *recorder;
    char *now; /* the contents of an output block of include/supple/shared.h */
    int64_t now_size;
    double *q; /* [the most coordinates of a body], scratch */
    bool stop;
    sp_pool pool;
} server;

/* ---- run.c ---- */

void server_load(server *s, const char *path, const simulate_choice *integration, const serve_choice *choice);
void server_run(server *s, const serve_choice *choice);
void server_report(const server *s);
void server_close(server *s);

/* Lets an input act and records it, or counts why it cannot. */
void server_take(server *s, const sp_scene_log_input *input);

/* Parts of `now`. */
supple_shared_output *server_output(const server *s);
supple_shared_state *server_state(const server *s); /* [bodies] */
double *server_coordinates(const server *s);        /* [2 × coordinates] q, then their rates */

/* ---- clock.c ---- */

/* Locks memory and takes a real-time priority (0: none) where that is permitted, and catches SIGINT and SIGTERM. */
void serve_clock_prepare(int64_t priority, int threads);
void serve_clock_start(serve_clock *clock, double rate);
bool serve_clock_stopped(void); /* by a signal */
/* Sleeps until the next deadline, and notes that its cycle begins; a signal ends the sleep. */
void serve_clock_wait(serve_clock *clock);
/* Notes that the cycle is done. Deadlines that have passed meanwhile are missed and left out. */
void serve_clock_done(serve_clock *clock);

/* ---- shared.c, udp.c, record.c: an open function returns NULL if its name (or `given`) is not ---- */

serve_shared *serve_shared_open(server *s, const char *name);
void serve_shared_receive(serve_shared *shared, server *s);
void serve_shared_publish(serve_shared *shared, const server *s);
int serve_shared_check(const serve_shared *shared, sp_context *context) SP_MUST_USE; /* SP_SYSTEM: a client cut it */
void serve_shared_close(serve_shared *shared);

serve_udp *serve_udp_open(server *s, bool given, const char *address, int64_t port);
void serve_udp_announce(const serve_udp *udp); /* when clients may come */
void serve_udp_receive(serve_udp *udp, server *s);
void serve_udp_send(serve_udp *udp, const server *s);
void serve_udp_close(serve_udp *udp);

serve_recorder *serve_record_open(server *s, const char *path);
void serve_record_input(serve_recorder *recorder, const sp_scene_log_input *input);
/* The end of a step that began at `time`. */
void serve_record_step(serve_recorder *recorder, double time, int64_t check);
void serve_record_close(serve_recorder *recorder, json_t *result);

#endif
