/* Messages of Open Sound Control 1.0: decoding of what comes from a network, with every length checked, and encoding.
 */
#ifndef TOOLS_SERVE_OSC_H
#define TOOLS_SERVE_OSC_H

#include <stdbool.h>
#include <stdint.h>

enum { OSC_ARGUMENTS = 16, OSC_DEPTH = 4 };

typedef struct osc_argument {
    char type;        /* i, f, h, d: a number; s: a text; others have no value here */
    double number;    /* exact for i, f and d; for h up to 2⁵³ */
    const char *text; /* in the packet */
} osc_argument;

typedef struct osc_message {
    const char *address;
    int count; /* of all arguments, of which the first OSC_ARGUMENTS are here */
    osc_argument argument[OSC_ARGUMENTS];
} osc_message;

/* Calls `take` for each message of a packet, those of bundles included; time tags are not looked at. false: the packet
 * is malformed, and nothing was taken. */
bool osc_read(const char *bytes, int64_t count, void (*take)(void *data, const osc_message *message), void *data);

/* A bundle that is being written. */
typedef struct osc_writer {
    char *bytes;
    int64_t room, count;
    int64_t message; /* where the current message begins */
    bool full;       /* the current message has no room */
} osc_writer;

void osc_begin_bundle(osc_writer *writer, char *bytes, int64_t room);
/* Its arguments are of the types `first`, then `count` times `type`. */
void osc_begin_message(osc_writer *writer, const char *address, const char *first, char type, int count);
void osc_put_text(osc_writer *writer, const char *text);
void osc_put_integer(osc_writer *writer, int32_t value);
void osc_put_reals(osc_writer *writer, char type, int count, const double *value); /* type: f or d */
/* false: it had no room, and is not part of the bundle. */
bool osc_end_message(osc_writer *writer);

#endif
