#include "formats/export/wav.h"

#include <float.h>
#include <math.h>
#include <sndfile.h>
#include <string.h>

/* The file in memory, for libsndfile. */
typedef struct memory_file {
    sp_list bytes;
    sf_count_t at;
    bool failed;
} memory_file;

static sf_count_t get_length(void *data)
{
    return ((memory_file *)data)->bytes.count;
}

static sf_count_t seek(sf_count_t offset, int whence, void *data)
{
    memory_file *file = data;
    file->at = offset + (whence == SEEK_CUR ? file->at : whence == SEEK_END ? file->bytes.count : 0);
    return file->at;
}

static sf_count_t read_bytes(void *to, sf_count_t count, void *data)
{
    memory_file *file = data;
    const sf_count_t left = file->bytes.count - file->at, some = count < left ? count : left;
    if (some <= 0)
        return 0;
    memcpy(to, (const char *)file->bytes.data + file->at, (size_t)some);
    file->at += some;
    return some;
}

static sf_count_t write_bytes(const void *from, sf_count_t count, void *data)
{
    memory_file *file = data;
    const sf_count_t more = file->at + count - file->bytes.count;
    if (more > 0 && !sp_list_add(&file->bytes, more, 1)) {
        file->failed = true;
        return 0;
    }
    memcpy((char *)file->bytes.data + file->at, from, (size_t)count);
    file->at += count;
    return count;
}

static sf_count_t tell(void *data)
{
    return ((memory_file *)data)->at;
}

bool sp_wav_supported(void)
{
    return true;
}

/* The largest magnitude of an integer of full scale; 0: floating point. */
static double full_scale(enum sp_wav_samples samples)
{
    return samples == SP_WAV_16 ? 32767 : samples == SP_WAV_24 ? 8388607 : 0;
}

static int check(sp_context *context, const sp_wav *wav)
{
    const int bytes = wav->samples == SP_WAV_16 ? 2 : wav->samples == SP_WAV_24 ? 3 : 4;
    if (wav->count > (INT64_C(0xffffffff) - 65536) / bytes / wav->channels)
        return sp_fail(context, SP_USAGE, "%lld samples of %d channels do not fit a WAV file of 4 GiB",
                       (long long)wav->count, wav->channels);
    const double most = full_scale(wav->samples) > 0 ? 1 : FLT_MAX;
    for (int c = 0; c < wav->channels; c++)
        for (int64_t i = 0; i < wav->count; i++)
            if (!(fabs(wav->value[c][i]) <= most))
                return sp_fail(context, SP_USAGE, "sample %lld is %g of full scale", (long long)i, wav->value[c][i]);
    return SP_OK;
}

/* Integers occupy the upper bits of 32. */
static bool write_block(SNDFILE *file, const sp_wav *wav, int64_t from, int64_t count)
{
    enum { MOST = 1024 * 8 };
    static const int shift[] = {[SP_WAV_16] = 65536, [SP_WAV_24] = 256};
    const double scale = full_scale(wav->samples);
    int integer[MOST];
    float real[MOST];

    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < wav->channels; c++) {
            const double value = wav->value[c][from + i];
            if (scale > 0)
                integer[i * wav->channels + c] = (int)lrint(value * scale) * shift[wav->samples];
            else
                real[i * wav->channels + c] = (float)value;
        }

    return (scale > 0 ? sf_writef_int(file, integer, count) : sf_writef_float(file, real, count)) == count;
}

static bool write_samples(SNDFILE *file, const sp_wav *wav)
{
    bool written = true;
    for (int64_t from = 0; written && from < wav->count; from += 1024)
        written = write_block(file, wav, from, wav->count - from < 1024 ? wav->count - from : 1024);
    return written;
}

int sp_wav_encode(sp_context *context, const sp_wav *wav, sp_pool *pool, uint8_t **bytes, int64_t *count)
{
    static const int subtype[] = {SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_FLOAT};
    memory_file memory = {0};
    SF_VIRTUAL_IO calls = {get_length, seek, read_bytes, write_bytes, tell};
    SF_INFO info = {
        .samplerate = wav->rate, .channels = wav->channels, .format = SF_FORMAT_WAV | subtype[wav->samples]};

    int status = check(context, wav);
    if (status != SP_OK)
        return status;

    SNDFILE *file = sf_open_virtual(&calls, SFM_WRITE, &info, &memory);
    if (!file) {
        sp_list_free(&memory.bytes);
        return sp_fail(context, SP_SYSTEM, "libsndfile: %s", sf_strerror(NULL));
    }
    sf_command(file, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE); /* it has the time of day */

    const bool written = sf_set_string(file, SF_STR_COMMENT, wav->comment) == 0 && write_samples(file, wav);
    if (sf_close(file) != 0 || !written)
        status = sp_fail(context, SP_SYSTEM, "libsndfile could not write the samples");

    *count = memory.bytes.count;
    *bytes = status == SP_OK ? sp_pool_copy(pool, memory.bytes.data, *count, 1) : NULL;
    sp_list_free(&memory.bytes);
    return memory.failed || (status == SP_OK && !*bytes) ? sp_fail_memory(context) : status;
}
