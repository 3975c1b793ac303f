/* The parts of simsound: the surface with its listeners, the recording of a motion, its spectrogram, and the program in
 * Faust. All functions end the process on failure. */
#ifndef TOOLS_SOUND_SOUND_H
#define TOOLS_SOUND_SOUND_H

#include "geometry/pose.h"
#include "sound/pressure.h"
#include "tools/common/skin.h"
#include "tools/common/trajectory.h"

enum { SOUND_LISTENERS = 8 };

typedef struct sound_choice {
    tool_texts listeners;
    int radiation, surface, samples;
    int64_t rate;
    double band[2], density, speed, full_scale;
    bool full_scale_given;
    const char *spectrogram, *strike, *damping_times, *body;
    double fade, range, damping_mass, damping_stiffness;
    bool damping_mass_given, damping_stiffness_given;
} sound_choice;

/* The triangles that radiate, and where they are heard. */
typedef struct sound_surface {
    tool_skin skin;
    const int64_t *triangles; /* of the skin, outward */
    sp_pool pool;
    int listeners;
    double listener[SOUND_LISTENERS][3]; /* m, in the frame of the body */
} sound_surface;

/* The pressure over time, by channel. */
typedef struct sound_recording {
    int channels;
    int64_t count;
    double *sample[SOUND_LISTENERS]; /* [count] Pa */
    double peak;                     /* Pa, largest magnitude */
    int64_t rows;                    /* delays, of all listeners */
    double nearest, farthest;        /* m */
    double longest;                  /* m, edge of a triangle */
    double kinetic;                  /* J, in the first frame */
    sp_pool pool;
} sound_recording;

/* pose: that of the body, in whose frame the places of the listeners are expressed. */
void sound_surface_open(sp_context *context, const sound_choice *choice, const tool_mesh *mesh, const sp_pose *pose,
                        sound_surface *surface);
void sound_surface_close(sound_surface *surface);

/* The pressure at a listener, with rows for the first r columns; rate: frames per second. */
sp_pressure *sound_pressure(sp_context *context, const sound_choice *choice, const sound_surface *surface, int listener,
                            double rate, int64_t r, const tool_columns *columns);

/* The recording of a trajectory that is read block by block. */
void sound_record(sp_context *context, const sound_choice *choice, const sound_surface *surface,
                  tool_trajectory *motion, sound_recording *recording);

/* Warns of a body that moves before its recording, as if it had been struck, and of triangles longer than half a
 * wavelength at the top of the band. */
void sound_judge(const sound_choice *choice, const tool_trajectory *motion, const sound_recording *recording);
void sound_recording_free(sound_recording *recording);

/* The sound file, in bytes of `pool`. Prints its full scale. */
void sound_encode(sp_context *context, const sound_choice *choice, const sound_recording *recording, sp_pool *pool,
                  uint8_t **bytes, int64_t *count);

/* --spectrogram, of the first channel. */
void sound_draw(sp_context *context, const sound_choice *choice, const sound_recording *recording, tool_output *output);

/* The damping rates of the modes [columns], 1/s, from `pool`. */
double *sound_damping(sp_context *context, const sound_choice *choice, const tool_trajectory *motion, sp_pool *pool);

/* The program in Faust of the modes: each an oscillator that the strike excites. */
void sound_write_faust(sp_context *context, const sound_choice *choice, const sound_surface *surface,
                       const tool_trajectory *motion, tool_output *output);

#endif
