#include "formats/export/wav.h"

bool sp_wav_supported(void)
{
    return false;
}

int sp_wav_encode(sp_context *context, const sp_wav *wav, sp_pool *pool, uint8_t **bytes, int64_t *count)
{
    (void)wav;
    (void)pool;
    *bytes = NULL;
    *count = 0;
    return sp_fail(context, SP_USAGE, "this build writes no sound files (meson setup -Dsndfile=enabled)");
}
