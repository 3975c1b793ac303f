/* Data exchange of simserve: blocks of shared memory, and packets of Open Sound Control. */
#include "test.h"
#include "tools/serve/osc.h"

#include <supple/shared.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- shared memory ---- */

enum { WORDS = 40, WRITES = 200000 };

static _Alignas(64) uint64_t memory[(SUPPLE_SHARED_LINE + 8 * WORDS) / 8];
static atomic_bool written;

static void *write_blocks(void *unused)
{
    uint64_t word[WORDS];
    (void)unused;
    for (uint64_t n = 1; n <= WRITES; n++) {
        for (int i = 0; i < WORDS; i++)
            word[i] = n;
        supple_shared_write(memory, 0, 0, word, sizeof word);
    }
    atomic_store(&written, true);
    return NULL;
}

/* All words of a copy are from one write, and copies never go back to an earlier one. */
TEST(copies_are_whole)
{
    pthread_t writer;
    uint64_t word[WORDS], last = 0;
    int64_t copies = 0, torn = 0, back = 0;
    CHECK(pthread_create(&writer, NULL, write_blocks, NULL) == 0, "no thread");
    while (!atomic_load(&written)) {
        if (!supple_shared_read(memory, 0, 0, word, sizeof word, 1))
            continue;
        copies++;
        for (int i = 1; i < WORDS; i++)
            torn += word[i] != word[0];
        back += word[0] < last;
        last = word[0];
    }
    pthread_join(writer, NULL);
    CHECK(torn == 0 && back == 0, "%lld words of other writes, %lld steps back in %lld copies", (long long)torn,
          (long long)back, (long long)copies);
    CHECK(supple_shared_read(memory, 0, 0, word, sizeof word, 1) && word[WORDS - 1] == WRITES, "the last one");
}

/* A writer that ends in the middle: readers detect it, and the next writer repairs the block. */
TEST(an_unfinished_write)
{
    uint64_t word = 7, copy = 0;
    memset(memory, 0, sizeof memory);
    supple_shared_write(memory, 0, 8, &word, sizeof word);
    CHECK(supple_shared_read(memory, 0, 8, &copy, sizeof copy, 1) && copy == 7, "%llu", (unsigned long long)copy);
    memory[0]++;
    CHECK(!supple_shared_read(memory, 0, 8, &copy, sizeof copy, 100), "it was read");
    word = 8;
    supple_shared_write(memory, 0, 8, &word, sizeof word);
    CHECK(supple_shared_read(memory, 0, 8, &copy, sizeof copy, 1) && copy == 8, "%llu", (unsigned long long)copy);
}

/* ---- Open Sound Control ---- */

typedef struct heard {
    int count;
    char address[64];
    osc_message last;
} heard;

static void hear(void *data, const osc_message *message)
{
    heard *h = data;
    h->count++;
    snprintf(h->address, sizeof h->address, "%s", message->address);
    h->last = *message;
}

/* The two examples of the specification, byte by byte. */
TEST(examples_of_the_specification)
{
    static const char oscillator[] = "/oscillator/4/frequency\0,f\0\0\x43\xdc\0\0";
    static const char foo[] =
        "/foo\0\0\0\0,iisff\0\0\0\0\x03\xe8\xff\xff\xff\xffhello\0\0\0\x3f\x9d\xf3\xb6\x40\xb5\xb2\x2d";
    heard h = {0};
    CHECK(osc_read(oscillator, 32, hear, &h) && h.count == 1, "%d messages", h.count);
    CHECK(!strcmp(h.address, "/oscillator/4/frequency") && h.last.count == 1, "%s", h.address);
    CHECK_NEAR(h.last.argument[0].number, 440, 0);
    CHECK(osc_read(foo, 40, hear, &h) && h.last.count == 5, "%d arguments", h.last.count);
    CHECK_NEAR(h.last.argument[0].number, 1000, 0);
    CHECK_NEAR(h.last.argument[1].number, -1, 0);
    CHECK(!strcmp(h.last.argument[2].text, "hello"), "%s", h.last.argument[2].text);
    CHECK_NEAR(h.last.argument[3].number, 1.234, 1e-7);
    CHECK_NEAR(h.last.argument[4].number, 5.678, 1e-6);
    for (int size = 0; size < 40; size++) {
        h.count = 0;
        CHECK(!osc_read(foo, size, hear, &h) && h.count == 0, "%d of 40 bytes are taken", size);
    }
}

/* Arguments without a meaning for a server are skipped by their sizes. */
TEST(other_types)
{
    static const char packet[] = "/x\0\0,hbTtd\0\0\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\x05"
                                 "abcde\0\0\0\0\0\0\0\0\0\0\x01\x40\x09\x21\xfb\x54\x44\x2d\x18";
    heard h = {0};
    CHECK(osc_read(packet, 48, hear, &h) && h.last.count == 5, "%d arguments", h.last.count);
    CHECK_NEAR(h.last.argument[0].number, -2, 0);
    CHECK_NEAR(h.last.argument[4].number, 3.14159265358979312, 0);
}

/* What is written is read; a message without room leaves the others. */
TEST(written_and_read)
{
    const double value[3] = {0.1, -2, 1e300};
    char bytes[120];
    osc_writer writer;
    heard h = {0};
    osc_begin_bundle(&writer, bytes, sizeof bytes);
    osc_begin_message(&writer, "/pose", "si", 'd', 3);
    osc_put_text(&writer, "peg");
    osc_put_integer(&writer, -5);
    osc_put_reals(&writer, 'd', 3, value);
    CHECK(osc_end_message(&writer), "no room in %lld", (long long)writer.count);
    const int64_t whole = writer.count;
    osc_begin_message(&writer, "/more", "", 'f', 12);
    osc_put_reals(&writer, 'f', 3, value);
    osc_put_reals(&writer, 'f', 3, value);
    osc_put_reals(&writer, 'f', 3, value);
    osc_put_reals(&writer, 'f', 3, value);
    CHECK(!osc_end_message(&writer) && writer.count == whole, "%lld bytes", (long long)writer.count);
    CHECK(osc_read(bytes, writer.count, hear, &h) && h.count == 1 && h.last.count == 5, "%d messages", h.count);
    CHECK(!strcmp(h.last.argument[0].text, "peg") && h.last.argument[1].number == -5, "%s", h.last.argument[0].text);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(h.last.argument[2 + i].number, value[i], 0);
}
