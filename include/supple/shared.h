/* The shared memory of the program `simserve` (formats/shared.md): where a scene that runs in real time is, and what
 * moves it. Several processes may read; one at a time writes. Nobody waits for another.
 *
 *     int file = shm_open("/spoon", O_RDWR, 0);
 *     struct stat about;
 *     fstat(file, &about);
 *     void *memory = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
 *     const supple_shared_header *header = memory;
 *     if (supple_shared_check(memory, about.st_size)) …
 *     for (;;) {
 *         supple_shared_output now;
 *         hand.number++;
 *         supple_shared_write(memory, header->input_offset, 0, &hand, sizeof hand);
 *         if (supple_shared_read(memory, header->output_offset, 0, &now, sizeof now, 100))
 *             render(now.device);
 *     }
 *
 * Everything here is inline: a client needs no library. All values are of 8 bytes in the order of the machine, lengths
 * in the unit of the scene, poses x, y, z, qw, qx, qy, qz and velocities followed by angular velocities in the world.
 */
#ifndef SUPPLE_SHARED_H
#define SUPPLE_SHARED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUPPLE_SHARED_MAGIC "SUPPLESM"
enum { SUPPLE_SHARED_VERSION = 1, SUPPLE_SHARED_FORCES = 64, SUPPLE_SHARED_NAME = 64, SUPPLE_SHARED_LINE = 64 };

/* At the start. Constant but for `ended`. Offsets are from the start of the memory, in bytes. */
typedef struct supple_shared_header {
    char magic[8];
    uint64_t version, size;              /* SUPPLE_SHARED_VERSION; bytes of the whole memory */
    uint64_t bodies, coordinates;        /* reduced coordinates of all bodies */
    uint64_t coupled;                    /* 1: a hand moves a body; else 0 */
    uint64_t body_offset;                /* of supple_shared_body [bodies] */
    uint64_t input_offset, input_size;   /* of a block: supple_shared_input, supple_shared_pose [bodies],
                                            supple_shared_clutch */
    uint64_t output_offset, output_size; /* of a block: supple_shared_output, supple_shared_state [bodies],
                                            q [coordinates], their rates [coordinates] */
    double step, period;                 /* s: of the scene in a cycle; between cycles */
    uint64_t ended;                      /* 1: the server has ended (supple_shared_load) */
} supple_shared_header;

typedef struct supple_shared_body {
    char name[SUPPLE_SHARED_NAME]; /* ends with a 0 */
    uint64_t coordinates, first;   /* number of its coordinates, and the first one in q */
    uint64_t vertices;             /* of its mesh; 0: it has none */
} supple_shared_body;

/* ---- the input block: what a client writes ---- */

/* It acts once, when its number has changed, and the body then moves on with the velocities in `twist`. */
typedef struct supple_shared_pose {
    uint64_t number;
    double pose[7], twist[6];
} supple_shared_pose;

/* A force [N] on a vertex, −1: at the origin of the body's frame. It stays until it is set again; zero removes it. */
typedef struct supple_shared_force {
    int64_t body, vertex;
    double force[3];
} supple_shared_force;

typedef struct supple_shared_input {
    supple_shared_pose hand;
    uint64_t force_number, force_count; /* the forces are set when the number has changed */
    supple_shared_force force[SUPPLE_SHARED_FORCES];
} supple_shared_input;

/* The clutch of the device, at the end of the block: while it is held (1), poses of the hand move the device alone;
 * from the release (0) on the manipulandum continues from where it is. It acts once, when its number has changed, after
 * the pose of the hand. */
typedef struct supple_shared_clutch {
    uint64_t number, held;
} supple_shared_clutch;

/* ---- the output block: what the server writes in each cycle ---- */

typedef struct supple_shared_output {
    uint64_t cycle, missed; /* steps taken; deadlines missed */
    double time;            /* s, of the scene */
    double hand[7];         /* where the manipulandum is; zeros if no body is coupled, as the next two */
    double coupling[6];     /* N, N m: force and torque of the coupling on the body */
    double device[6];       /* N, N m: what the device renders */
} supple_shared_output;

typedef struct supple_shared_state {
    double pose[7], twist[6], contact[6]; /* contact: N, N m, of all contacts of the body, about its origin */
} supple_shared_state;

/* ---- reading and writing blocks ---- */

/* A block begins with a sequence number on a cache line of its own. It is odd while someone writes. The words behind it
 * are read and written atomically one by one, so that no access is a data race. */

static inline uint64_t supple_shared_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* 0: this is the memory of a server that this header describes; else not, or it was made longer or cut. */
static inline int supple_shared_check(const void *memory, size_t size)
{
    const supple_shared_header *header = (const supple_shared_header *)memory;
    return size < sizeof *header || memcmp(header->magic, SUPPLE_SHARED_MAGIC, sizeof header->magic) ||
           header->version != SUPPLE_SHARED_VERSION || header->size != size;
}

/* Copies `bytes` (a multiple of 8) of the contents of a block from an offset (a multiple of 8) in it. 1: done; 0:
 * somebody was writing in all attempts, and the copy is worthless. */
static inline int supple_shared_read(const void *memory, uint64_t block, size_t offset, void *to, size_t bytes,
                                     int attempts)
{
    const uint64_t *sequence = (const uint64_t *)(const void *)((const char *)memory + block);
    const uint64_t *word = sequence + (SUPPLE_SHARED_LINE + offset) / 8;
    while (attempts-- > 0) {
        const uint64_t before = supple_shared_load(sequence);
        if (before & 1)
            continue;
        for (size_t i = 0; i < bytes / 8; i++) {
            const uint64_t value = supple_shared_load(&word[i]);
            memcpy((char *)to + 8 * i, &value, 8);
        }
        if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == before)
            return 1;
    }
    return 0;
}

/* The same the other way. It does not wait: there must be no other writer. One that ended in the middle does no harm.
 */
static inline void supple_shared_write(void *memory, uint64_t block, size_t offset, const void *from, size_t bytes)
{
    uint64_t *sequence = (uint64_t *)(void *)((char *)memory + block);
    uint64_t *word = sequence + (SUPPLE_SHARED_LINE + offset) / 8;
    const uint64_t odd = (__atomic_load_n(sequence, __ATOMIC_RELAXED) | 1) + 2;
    __atomic_store_n(sequence, odd, __ATOMIC_RELAXED);
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t value;
        memcpy(&value, (const char *)from + 8 * i, 8);
        __atomic_store_n(&word[i], value, __ATOMIC_RELEASE);
    }
    __atomic_store_n(sequence, odd + 1, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
