/* --udp: messages of Open Sound Control in datagrams. */
#include "tools/serve/osc.h"
#include "tools/serve/serve.h"

#include "tools/common/tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MOST_BYTES = 8192, /* of a datagram that comes in */
    SENT_BYTES = 1432, /* of one that goes out: a network need not divide it */
    MOST_PACKETS = 64, /* that a cycle reads */
    SUBSCRIBERS = 16,
    CHUNK = 64 /* coordinates of a message */
};
static const double LEASE = 10; /* s: a subscriber that sends nothing for so long gets nothing more */

typedef struct subscriber {
    struct sockaddr_in address;
    int64_t every, due; /* cycles */
    double heard;       /* s */
    char type;          /* of numbers: d or f */
} subscriber;

struct serve_udp {
    int socket;
    int64_t subscriber_count;
    subscriber subscribers[SUBSCRIBERS];
    const sp_scene_body **by_name; /* [bodies] */
    server *server;                /* while a packet is read, with: */
    struct sockaddr_in from;
    char bytes[MOST_BYTES + 1];
};

/* ---- opening ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const sp_scene_body *const *)a)->name, (*(const sp_scene_body *const *)b)->name);
}

static int open_socket(const char *address, int64_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int count_lost = 1;
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
        tool_fail(SP_USAGE, NULL, "--address: \"%s\" is no address such as 127.0.0.1", address);
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0 || setsockopt(made, SOL_SOCKET, SO_RXQ_OVFL, &count_lost, sizeof count_lost) ||
        bind(made, (struct sockaddr *)&at, sizeof at))
        tool_fail(SP_SYSTEM, NULL, "--udp: cannot listen on port %lld of %s: %s", (long long)port, address,
                  strerror(errno));
    return made;
}

void serve_udp_announce(const serve_udp *udp)
{
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    char text[INET_ADDRSTRLEN];
    if (!udp || getsockname(udp->socket, (struct sockaddr *)&at, &length) ||
        !inet_ntop(AF_INET, &at.sin_addr, text, sizeof text))
        return;
    tool_say("listens on port %d of %s", ntohs(at.sin_port), text);
    if (ntohl(at.sin_addr.s_addr) >> 24 != 127)
        tool_say("whoever reaches this address can move and stop the scene: there is no authentication");
}

serve_udp *serve_udp_open(server *s, bool given, const char *address, int64_t port)
{
    if (!given)
        return NULL;

    const sp_scene *scene = &s->scene.input.scene;
    serve_udp *udp = tool_allocate(&s->pool, 1, sizeof *udp);

    udp->by_name = tool_allocate(&s->pool, scene->body_count, sizeof *udp->by_name);
    for (int64_t i = 0; i < scene->body_count; i++)
        udp->by_name[i] = &scene->bodies[i];
    qsort(udp->by_name, (size_t)scene->body_count, sizeof *udp->by_name, compare_names);

    udp->server = s;
    udp->socket = open_socket(address, port);
    return udp;
}

/* ---- what comes in ---- */

/* Arguments from `first` on, all numbers. */
static bool get_reals(const osc_message *m, int first, int count, double *value)
{
    for (int i = 0; i < count; i++) {
        const osc_argument *argument = &m->argument[first + i];
        if (!strchr("ifhd", argument->type))
            return false;
        value[i] = argument->number;
    }
    return true;
}

/* A body by its name or number; one that is not there has the number of bodies. */
static bool get_body(const serve_udp *udp, const osc_argument *argument, int32_t *body)
{
    const sp_scene *scene = &udp->server->scene.input.scene;
    *body = (int32_t)scene->body_count;

    if (argument->type == 'i') {
        *body =
            argument->number >= 0 && argument->number < (double)scene->body_count ? (int32_t)argument->number : *body;
        return true;
    }

    if (argument->type != 's')
        return false;

    sp_scene_body wanted;
    const sp_scene_body *key = &wanted, **found;
    if (strlen(argument->text) < sizeof wanted.name) {
        strcpy(wanted.name, argument->text);
        found = bsearch(&key, udp->by_name, (size_t)scene->body_count, sizeof *udp->by_name, compare_names);
        *body = found ? (int32_t)(*found - scene->bodies) : *body;
    }
    return true;
}

/* A pose of 7 numbers, or with velocities of 13, behind `first` arguments. */
static bool take_pose(serve_udp *udp, const osc_message *m, int first, int32_t body)
{
    sp_scene_log_input input = {.kind = SP_SCENE_LOG_POSE, .body = body, .vertex = -1};
    const int count = m->count - first;
    if ((count != 7 && count != 13) || !get_reals(m, first, count, input.value))
        return false;
    server_take(udp->server, &input);
    return true;
}

static bool take_hand(serve_udp *udp, const osc_message *m)
{
    return take_pose(udp, m, 0, SP_SCENE_LOG_HAND);
}

static bool take_body(serve_udp *udp, const osc_message *m)
{
    int32_t body;
    return m->count > 0 && get_body(udp, &m->argument[0], &body) && take_pose(udp, m, 1, body);
}

static bool take_clutch(serve_udp *udp, const osc_message *m)
{
    sp_scene_log_input input = {.kind = SP_SCENE_LOG_CLUTCH, .body = SP_SCENE_LOG_HAND, .vertex = -1};
    if (m->count != 1 || !get_reals(m, 0, 1, input.value))
        return false;
    server_take(udp->server, &input);
    return true;
}

static bool take_force(serve_udp *udp, const osc_message *m)
{
    sp_scene_log_input input = {.kind = SP_SCENE_LOG_FORCE};
    double vertex;
    if (m->count != 5 || !get_body(udp, &m->argument[0], &input.body) || !get_reals(m, 1, 1, &vertex) ||
        !get_reals(m, 2, 3, input.value))
        return false;
    input.vertex = vertex >= -1 && vertex < 1e15 && vertex == floor(vertex) ? (int64_t)vertex : -2;
    server_take(udp->server, &input);
    return true;
}

static subscriber *find_subscriber(serve_udp *udp)
{
    for (int64_t i = 0; i < udp->subscriber_count; i++)
        if (udp->subscribers[i].address.sin_addr.s_addr == udp->from.sin_addr.s_addr &&
            udp->subscribers[i].address.sin_port == udp->from.sin_port)
            return &udp->subscribers[i];
    return NULL;
}

static bool take_subscribe(serve_udp *udp, const osc_message *m)
{
    double every = 1;
    subscriber *to = find_subscriber(udp);
    const bool single = m->count == 2;

    if (m->count > 2 || (m->count > 0 && !get_reals(m, 0, 1, &every)) || !(every >= 1 && every <= 1e9) ||
        (single && (m->argument[1].type != 's' || strcmp(m->argument[1].text, "f"))))
        return false;

    if (!to && udp->subscriber_count == SUBSCRIBERS) {
        udp->server->dropped[DROP_SUBSCRIBERS]++;
        return true;
    }

    to = to ? to : &udp->subscribers[udp->subscriber_count++];
    *to = (subscriber){
        .address = udp->from, .every = (int64_t)every, .heard = udp->server->clock.begun, .type = single ? 'f' : 'd'};
    return true;
}

static bool take_unsubscribe(serve_udp *udp, const osc_message *m)
{
    subscriber *at = find_subscriber(udp);
    if (at)
        *at = udp->subscribers[--udp->subscriber_count];
    return m->count == 0;
}

static bool take_stop(serve_udp *udp, const osc_message *m)
{
    udp->server->stop |= m->count == 0;
    return m->count == 0;
}

static void take_message(void *data, const osc_message *m)
{
    static const struct {
        const char *address;
        bool (*take)(serve_udp *, const osc_message *);
    } known[] = {{"/hand", take_hand},   {"/clutch", take_clutch},       {"/body", take_body},
                 {"/force", take_force}, {"/subscribe", take_subscribe}, {"/unsubscribe", take_unsubscribe},
                 {"/stop", take_stop}};

    serve_udp *udp = data;
    for (int i = 0; i < TOOL_COUNT(known); i++)
        if (!strcmp(m->address, known[i].address)) {
            udp->server->dropped[DROP_ARGUMENTS] += !known[i].take(udp, m);
            return;
        }

    udp->server->dropped[DROP_UNKNOWN]++;
}

/* The next packet and its sender; −1: there is none. Notes how many the socket has dropped so far. */
static ssize_t next_packet(serve_udp *udp, server *s)
{
    union {
        char bytes[CMSG_SPACE(sizeof(uint32_t))];
        struct cmsghdr align;
    } control;
    struct iovec to = {udp->bytes, sizeof udp->bytes};
    struct msghdr message = {.msg_name = &udp->from,
                             .msg_namelen = sizeof udp->from,
                             .msg_iov = &to,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};

    const ssize_t count = recvmsg(udp->socket, &message, 0);

    /* SO_RXQ_OVFL: a count comes with each packet once one has been dropped. */
    const struct cmsghdr *about = count >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (about && about->cmsg_level == SOL_SOCKET && about->cmsg_type == SO_RXQ_OVFL)
        memcpy(&s->lost, CMSG_DATA(about), sizeof s->lost);

    return count;
}

/* As many packets as a cycle reads; the others wait in the socket. */
void serve_udp_receive(serve_udp *udp, server *s)
{
    if (!udp)
        return;
    for (int i = 0; i < MOST_PACKETS; i++) {
        const ssize_t count = next_packet(udp, s);
        if (count < 0)
            return;

        s->packets++;
        subscriber *known = find_subscriber(udp);
        if (known)
            known->heard = s->clock.begun;

        if (count > MOST_BYTES)
            s->dropped[DROP_LONG]++;
        else if (!osc_read(udp->bytes, count, take_message, udp))
            s->dropped[DROP_MALFORMED]++;
    }
}

/* ---- what goes out ---- */

typedef struct outgoing {
    serve_udp *udp;
    const subscriber *to;
    const server *server;
    osc_writer writer;
    int64_t messages; /* beyond /step */
    char bytes[SENT_BYTES];
} outgoing;

static void send_datagram(const outgoing *out)
{
    (void)!sendto(out->udp->socket, out->bytes, (size_t)out->writer.count, MSG_DONTWAIT,
                  (const struct sockaddr *)&out->to->address, sizeof out->to->address);
}

/* Every datagram says of which cycle it is. */
static void begin_datagram(outgoing *out)
{
    const supple_shared_output *now = server_output(out->server);
    osc_begin_bundle(&out->writer, out->bytes, sizeof out->bytes);
    osc_begin_message(&out->writer, "/step", "i", 'd', 1);
    osc_put_integer(&out->writer, (int32_t)(now->cycle & INT32_MAX));
    osc_put_reals(&out->writer, 'd', 1, &now->time);
    (void)osc_end_message(&out->writer);
    out->messages = 0;
}

/* "/address [NAME] [first] values…"; first −1: none. A full datagram is sent, and the message begins the next one. */
static void put(outgoing *out, const char *address, const char *name, int64_t first, int count, const double *value)
{
    const char *types = name ? first >= 0 ? "si" : "s" : "";

    for (int attempt = 0; attempt < 2; attempt++) {
        osc_begin_message(&out->writer, address, types, out->to->type, count);
        if (name)
            osc_put_text(&out->writer, name);
        if (first >= 0)
            osc_put_integer(&out->writer, (int32_t)first);
        osc_put_reals(&out->writer, out->to->type, count, value);

        if (osc_end_message(&out->writer)) {
            out->messages++;
            return;
        }

        send_datagram(out);
        begin_datagram(out);
    }
}

static void send_state(serve_udp *udp, const server *s, const subscriber *to)
{
    const sp_scene *scene = &s->scene.input.scene;
    const supple_shared_output *now = server_output(s);
    const supple_shared_state *state = server_state(s);
    const double *q = server_coordinates(s);
    outgoing out = {.udp = udp, .to = to, .server = s};

    begin_datagram(&out);
    if (scene->coupling.kind != SP_SCENE_NO_COUPLING) {
        put(&out, "/hand", NULL, -1, 7, now->hand);
        put(&out, "/hand/force", NULL, -1, 6, now->device);
    }

    for (int64_t i = 0; i < scene->body_count; i++) {
        const char *name = scene->bodies[i].name;
        double pose[13];

        if (scene->bodies[i].motion == SP_SCENE_FIXED && s->scene.bodies[i].r == 0)
            continue;

        memcpy(pose, state[i].pose, sizeof state[i].pose);
        memcpy(pose + 7, state[i].twist, sizeof state[i].twist);
        put(&out, "/pose", name, -1, 13, pose);
        put(&out, "/contact", name, -1, 6, state[i].contact);

        for (int64_t j = 0; j < s->scene.bodies[i].r; j += CHUNK) {
            const int64_t left = s->scene.bodies[i].r - j;
            put(&out, "/q", name, j, (int)(left < CHUNK ? left : CHUNK), q + j);
        }
        q += s->scene.bodies[i].r;
    }

    send_datagram(&out);
}

/* To those that have been heard of lately, in the cycles that they want. */
void serve_udp_send(serve_udp *udp, const server *s)
{
    if (!udp)
        return;
    for (int64_t i = 0; i < udp->subscriber_count;) {
        subscriber *to = &udp->subscribers[i];

        if (s->clock.begun - to->heard > LEASE) {
            *to = udp->subscribers[--udp->subscriber_count];
            continue;
        }

        if (to->due-- <= 0) {
            to->due = to->every - 1;
            send_state(udp, s, to);
        }
        i++;
    }
}

void serve_udp_close(serve_udp *udp)
{
    if (udp)
        close(udp->socket);
}
