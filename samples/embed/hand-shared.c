/* The same loop by the shared memory of simserve: hand-shared /NAME SCRIPT BODY. It needs no library. */
#define _POSIX_C_SOURCE 200809L
#include "hand.h"

#include <supple/shared.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE = 50000 /* ns */, MOST_PAUSES = 1200000 /* a minute */ };

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
}

/* The memory of a server, which may still be about to start; NULL: there is none. */
static void *attach(const char *name)
{
    for (int i = 0; i < MOST_PAUSES; i++, rest()) {
        struct stat about = {0};
        const int file = shm_open(name, O_RDWR, 0);
        if (file < 0)
            continue;
        const size_t size = fstat(file, &about) ? 0 : (size_t)about.st_size;
        void *memory = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
        close(file);
        if (memory != MAP_FAILED && supple_shared_check(memory, size) == 0)
            return memory;
        if (memory != MAP_FAILED)
            munmap(memory, size);
    }
    return NULL;
}

/* Waits for the state behind another cycle than that in `now`. 0: none comes. */
static int next(const void *memory, supple_shared_output *now)
{
    const supple_shared_header *header = memory;
    const uint64_t before = now->cycle;
    for (int i = 0; i < MOST_PAUSES && !supple_shared_load(&header->ended); i++, rest())
        if (supple_shared_read(memory, header->output_offset, 0, now, header->output_size, 100) && now->cycle != before)
            return 1;
    return 0;
}

/* The number of a body; -1: there is none of this name. */
static int find(const void *memory, const char *name)
{
    const supple_shared_header *header = memory;
    const supple_shared_body *body = (const void *)((const char *)memory + header->body_offset);
    int i = (int)header->bodies - 1;
    while (i >= 0 && strcmp(body[i].name, name))
        i--;
    return i;
}

/* The hand follows the time of the scene: behind each state that the client sees it writes the pose for the next step.
 * Where the server or the client is late, poses are skipped. The delay of a force is the number of steps since the
 * state behind which its pose was written, `written` [lines]. */
static int play(void *memory, supple_shared_output *now, const double *body, int lines, uint64_t *written)
{
    const supple_shared_header *header = memory;
    supple_shared_pose hand = {0};
    int step = 0, rows = 0, prompt = 0, alive = next(memory, now);
    const supple_shared_output start = *now;
    uint64_t longest = 0;
    written[0] = start.cycle - 1;
    while (alive && step + 1 < lines) {
        int line = step + 1;
        hand.number++;
        memcpy(hand.pose, hand_script[line], sizeof hand.pose);
        supple_shared_write(memory, header->input_offset, 0, &hand, sizeof hand);
        written[line] = now->cycle;
        alive = next(memory, now);
        while (line > 0 && memcmp(now->hand, hand_script[line], 3 * sizeof(double)))
            line--; /* the server has not seen that pose yet */
        const uint64_t delay = now->cycle - written[line];
        longest = delay > longest ? delay : longest;
        prompt += delay == 1;
        rows++;
        step = (int)(now->cycle - start.cycle);
        hand_row(step, now->time, now->time - start.time, now->hand, body, now->device);
        printf(",%llu\n", (unsigned long long)delay);
    }
    fprintf(stderr, "simserve: the largest force is %.3f N, at %.3f s; missed deadlines: %llu\n", hand_force, hand_time,
            (unsigned long long)(now->missed - start.missed));
    fprintf(stderr, "simserve: %d of %d states have the force of the pose before them, the latest that of %llu steps ago\n",
            prompt, rows, (unsigned long long)longest);
    return alive ? 0 : 1;
}

static int fail(const char *name, const char *why)
{
    fprintf(stderr, "hand-shared: %s: %s\n", name, why);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: hand-shared /NAME SCRIPT BODY\n");
        return 2;
    }
    const int lines = hand_read(argv[2]);
    if (lines < 2)
        return fail(argv[2], "cannot be read, or has no two lines");
    void *memory = attach(argv[1]);
    if (!memory)
        return fail(argv[1], "there is no such memory of a server");
    const supple_shared_header *header = memory;
    const int body = find(memory, argv[3]);
    if (body < 0)
        return fail(argv[3], "there is no such body");
    supple_shared_output *now = calloc(1, header->output_size); /* then the states of all bodies */
    uint64_t *written = calloc((size_t)lines, sizeof *written);
    if (!now || !written)
        return fail(argv[1], "out of memory");
    hand_header(argv[3], ",delay");
    const int failed = play(memory, now, ((const supple_shared_state *)(now + 1))[body].pose, lines, written);
    free(now);
    free(written);
    return failed ? fail(argv[1], "the server has ended, or stands still") : 0;
}
