/* From the motion of a body, frame by frame, to the pressure at a listener (sound/radiation.h) at the rate of a
 * recording: p = dw/dt of the flux w = Σ_k b_k · q̇(t − k/rate), with a row b_k for each delay. A frame of r coordinates
 * costs 2 r operations for each row, whatever the number of triangles. The derivative, the change of the rate and the
 * upper band limit are one linear-phase filter of finite length: up to the limit B its gain is 1 within 1e-4, and from
 * 1.5 B on, or from half of the lower rate if that is less, it is below 1e-4. The lower band limit is a Butterworth
 * filter of fourth order, which has no response before its input. */
#ifndef SP_SOUND_PRESSURE_H
#define SP_SOUND_PRESSURE_H

#include "sound/radiation.h"

typedef struct sp_pressure_parameters {
    sp_radiation_parameters radiation; /* its rate is that of the frames, its top is band[1] */
    double rate;                       /* samples of the recording per second */
    double band[2];                    /* Hz; 0 ≤ band[0] < band[1] ≤ 0.95 · min(both rates)/2 */
} sp_pressure_parameters;

typedef struct sp_pressure sp_pressure;

/* r: coordinates of the motion; 0: the motion is given at the vertices of the surface. */
int sp_pressure_new(sp_context *context, int64_t vertex_count, const double *vertices, int64_t triangle_count,
                    const int64_t *triangles, int64_t r, const sp_pressure_parameters *parameters,
                    sp_pressure **pressure) SP_MUST_USE;
void sp_pressure_free(sp_pressure *pressure); /* NULL is allowed */

/* The surface, its delays and distances. */
const sp_radiation *sp_pressure_radiation(const sp_pressure *pressure);

/* Displacements of the surface for a unit of coordinate j [vertex_count, 3]; before the first frame, for every j.
 * Different j may be set by several threads at once. */
void sp_pressure_column(sp_pressure *pressure, int64_t j, const double *displacement);

/* Row k of coordinate j, Pa s for a unit rate: the part that arrives radiation.first + k samples later. */
double sp_pressure_row(const sp_pressure *pressure, int64_t j, int64_t k);

/* The gain of both band limits at a frequency in Hz; 0 from half of the lower rate on. */
double sp_pressure_gain(const sp_pressure *pressure, double frequency);

/* Appends frames: rates q̇ [count, r] of the coordinates, or for r = 0 velocities [count, vertex_count, 3] m/s of the
 * surface. The body rests before the first frame. */
int sp_pressure_add(sp_pressure *pressure, int64_t count, const double *rates) SP_MUST_USE;

/* The pressure in Pa after the last frame, at the times n/rate from that of the first frame on; the samples, from
 * `pool`, end before the first one that would need frames after the last one. SP_INPUT if they would all be before the
 * arrival of the sound. */
int sp_pressure_finish(sp_pressure *pressure, sp_pool *pool, int64_t *count, double **samples) SP_MUST_USE;

#endif
