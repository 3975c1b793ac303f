/* Sound files in the format WAV, by libsndfile. */
#ifndef SP_FORMATS_EXPORT_WAV_H
#define SP_FORMATS_EXPORT_WAV_H

#include "base/context.h"
#include "base/memory.h"

enum sp_wav_samples { SP_WAV_16, SP_WAV_24, SP_WAV_FLOAT }; /* integers of 16 and 24 bits, floating point of 32 */

typedef struct sp_wav {
    int channels; /* 1 … 8 */
    int rate;     /* samples per second */
    enum sp_wav_samples samples;
    int64_t count;              /* of samples of a channel */
    const double *const *value; /* [channels][count] full scale is 1 */
    const char *comment;        /* of the file */
} sp_wav;

/* Whether this build writes WAV files. */
bool sp_wav_supported(void);

/* The file, without a date, so that the same samples give the same bytes; bytes [count] belong to the pool. Integers
 * are rounded to the nearest. SP_USAGE for a magnitude above 1 among integers, or that a float does not have, for a
 * file of more than 4 GiB, and in a build without libsndfile. */
int sp_wav_encode(sp_context *context, const sp_wav *wav, sp_pool *pool, uint8_t **bytes, int64_t *count) SP_MUST_USE;

#endif
