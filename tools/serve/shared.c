#include "tools/serve/serve.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct serve_shared {
    void *memory;
    supple_shared_header header; /* our own: clients can write to the one in the memory */
    supple_shared_input *input;  /* [input_size bytes] a copy of what clients wrote */
    uint64_t hand_number, clutch_number, force_number, *number; /* that acted last; [bodies] of bodies */
    uint64_t sequence;                                          /* of the input block when it was copied last */
};

static const char *shared_name; /* while it exists */
static struct stat made;        /* the file behind it */

/* Another server may have made the name again after someone removed it. */
static void remove_name(void)
{
    struct stat there;
    const int file = shared_name ? shm_open(shared_name, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (file < 0)
        return;
    if (fstat(file, &there) == 0 && there.st_dev == made.st_dev && there.st_ino == made.st_ino)
        shm_unlink(shared_name);
    close(file);
}

/* A client may make the file shorter. What touches the memory next gets SIGBUS: memory of our own takes its place, and
 * the run ends after the step. */
static struct {
    void *from;
    size_t size;
    volatile sig_atomic_t cut;
} mapped;

static void on_bus_error(int number, siginfo_t *about, void *unused)
{
    (void)unused;
    const char *at = about->si_addr, *from = mapped.from;
    const int error = errno;
    if (!from || at < from || at >= from + mapped.size ||
        mmap(mapped.from, mapped.size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
        signal(number, SIG_DFL); /* the fault comes again, and ends the program */
    else
        mapped.cut = 1;
    errno = error;
}

static void watch_memory(void *memory, size_t size)
{
    mapped.from = memory;
    mapped.size = size;
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static uint64_t align(uint64_t size)
{
    return (size + SUPPLE_SHARED_LINE - 1) / SUPPLE_SHARED_LINE * SUPPLE_SHARED_LINE;
}

static supple_shared_header lay_out(const server *s)
{
    supple_shared_header h = {.version = SUPPLE_SHARED_VERSION,
                              .bodies = (uint64_t)s->scene.input.scene.body_count,
                              .coordinates = (uint64_t)s->scene.r,
                              .coupled = s->scene.input.scene.coupling.kind != SP_SCENE_NO_COUPLING,
                              .body_offset = align(sizeof h),
                              .output_size = (uint64_t)s->now_size,
                              .step = s->scene.options.step,
                              .period = 1e-9 * (double)s->clock.period};

    /* A line of its own before each part holds the sequence number that its writer counts. */
    h.input_size = sizeof(supple_shared_input) + h.bodies * sizeof(supple_shared_pose) + sizeof(supple_shared_clutch);
    h.input_offset = align(h.body_offset + h.bodies * sizeof(supple_shared_body));
    h.output_offset = align(h.input_offset + SUPPLE_SHARED_LINE + h.input_size);
    h.size = align(h.output_offset + SUPPLE_SHARED_LINE + h.output_size);

    return h;
}

static void check_name(const char *name)
{
    const size_t length = strlen(name);
    if (length < 2 || length > 200 || name[0] != '/' || strchr(name + 1, '/'))
        tool_fail(SP_USAGE, NULL, "--shared: %s is not a / and up to 199 characters without another one", name);
}

/* Makes the file, or −1. No signal comes between that and the note of its name, by which it is removed. */
static int create(const char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = errno;
    if (file >= 0 && fstat(file, &made) == 0) {
        shared_name = name;
        tool_also_remove(remove_name);
    }

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return file;
}

/* Makes the memory, whose name is removed with the program from here on. */
static void *map(const char *name, uint64_t size)
{
    const int file = create(name);
    if (file < 0 && errno == EEXIST) {
        tool_hint("if no server uses it, remove /dev/shm%s", name);
        tool_fail(SP_SYSTEM, NULL, "--shared: %s exists already", name);
    }

    if (file < 0)
        tool_fail(SP_SYSTEM, NULL, "--shared: cannot create %s: %s", name, strerror(errno));

    const int error = posix_fallocate(file, 0, (off_t)size); /* no SIGBUS later where memory is short */
    if (error)
        tool_fail(SP_SYSTEM, NULL, "--shared: no memory for %llu bytes: %s", (unsigned long long)size, strerror(error));

    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        tool_fail(SP_SYSTEM, NULL, "--shared: cannot map %s: %s", name, strerror(errno));

    close(file);
    watch_memory(memory, size);
    return memory;
}

static void describe_bodies(const server *s, supple_shared_body *body)
{
    uint64_t first = 0;
    for (int64_t i = 0; i < s->scene.input.scene.body_count; i++) {
        const sp_scene_body *from = &s->scene.input.scene.bodies[i];
        memcpy(body[i].name, from->name, strlen(from->name) + 1);
        body[i].coordinates = (uint64_t)s->scene.bodies[i].r;
        body[i].first = first;
        body[i].vertices = (uint64_t)s->scene.models[from->model].mesh.mesh.vertex_count;
        first += body[i].coordinates;
    }
}

serve_shared *serve_shared_open(server *s, const char *name)
{
    if (!name)
        return NULL;

    check_name(name);
    serve_shared *shared = tool_allocate(&s->pool, 1, sizeof *shared);

    shared->header = lay_out(s);
    shared->input = tool_allocate(&s->pool, (int64_t)shared->header.input_size, 1);
    shared->number = tool_allocate(&s->pool, (int64_t)shared->header.bodies, sizeof *shared->number);

    shared->memory = map(name, shared->header.size);
    describe_bodies(s, (supple_shared_body *)(void *)((char *)shared->memory + shared->header.body_offset));
    memcpy(shared->memory, &shared->header, sizeof shared->header);
    serve_shared_publish(shared, s);

    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(shared->memory, SUPPLE_SHARED_MAGIC, sizeof shared->header.magic); /* last: it is all there */
    return shared;
}

static void take_pose(server *s, int32_t body, const supple_shared_pose *pose)
{
    sp_scene_log_input input = {.kind = SP_SCENE_LOG_POSE, .body = body, .vertex = -1};
    memcpy(input.value, pose->pose, sizeof pose->pose);
    memcpy(input.value + 7, pose->twist, sizeof pose->twist);
    server_take(s, &input);
}

static void take_clutch(server *s, uint64_t held)
{
    sp_scene_log_input input = {.kind = SP_SCENE_LOG_CLUTCH, .body = SP_SCENE_LOG_HAND, .vertex = -1};
    input.value[0] = (double)held;
    server_take(s, &input);
}

static void take_forces(server *s, const supple_shared_input *in)
{
    const uint64_t count = in->force_count < SUPPLE_SHARED_FORCES ? in->force_count : SUPPLE_SHARED_FORCES;
    for (uint64_t i = 0; i < count; i++) {
        const supple_shared_force *force = &in->force[i];
        sp_scene_log_input input = {.kind = SP_SCENE_LOG_FORCE,
                                    .body = force->body >= 0 && force->body <= INT32_MAX ? (int32_t)force->body : -1,
                                    .vertex = force->vertex};
        memcpy(input.value, force->force, sizeof force->force);
        server_take(s, &input);
    }
}

/* A client that is writing, or has ended while it did, is passed over: what acted before goes on. */
void serve_shared_receive(serve_shared *shared, server *s)
{
    if (!shared)
        return;
    const supple_shared_header *h = &shared->header;

    const uint64_t sequence =
        supple_shared_load((const uint64_t *)(const void *)((char *)shared->memory + h->input_offset));
    if (sequence == shared->sequence ||
        !supple_shared_read(shared->memory, h->input_offset, 0, shared->input, h->input_size, 1))
        return;

    shared->sequence = sequence;
    const supple_shared_input *in = shared->input;
    const supple_shared_pose *pose = (const supple_shared_pose *)(in + 1);
    const supple_shared_clutch *clutch = (const supple_shared_clutch *)(pose + h->bodies);

    if (in->hand.number != shared->hand_number)
        take_pose(s, SP_SCENE_LOG_HAND, &in->hand);
    shared->hand_number = in->hand.number;

    if (clutch->number != shared->clutch_number)
        take_clutch(s, clutch->held);
    shared->clutch_number = clutch->number;

    if (in->force_number != shared->force_number)
        take_forces(s, in);
    shared->force_number = in->force_number;

    for (uint64_t i = 0; i < h->bodies; i++) {
        if (pose[i].number != shared->number[i])
            take_pose(s, (int32_t)i, &pose[i]);
        shared->number[i] = pose[i].number;
    }
}

void serve_shared_publish(serve_shared *shared, const server *s)
{
    if (shared)
        supple_shared_write(shared->memory, shared->header.output_offset, 0, s->now, (size_t)s->now_size);
}

int serve_shared_check(const serve_shared *shared, sp_context *context)
{
    if (!shared || !mapped.cut)
        return SP_OK;
    return sp_fail(context, SP_SYSTEM, "--shared: a client made the memory %s shorter", shared_name);
}

void serve_shared_close(serve_shared *shared)
{
    if (!shared)
        return;
    supple_shared_header *header = shared->memory;
    __atomic_store_n(&header->ended, 1, __ATOMIC_RELEASE);
    remove_name();
    shared_name = NULL;
    mapped.from = NULL;
    munmap(shared->memory, shared->header.size);
}
