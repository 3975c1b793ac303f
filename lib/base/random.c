#include "base/random.h"

#include <math.h>

void sp_random_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t word[4])
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    word[0] = c0;
    word[1] = c1;
    word[2] = c2;
    word[3] = c3;
}

static double open_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

double sp_random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t word[4];
    sp_random_block(seed, stream, index, word);
    return open_unit(word[0], word[1]);
}

double sp_random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t word[4];
    sp_random_block(seed, stream, index, word);
    return sqrt(-2 * log(open_unit(word[0], word[1]))) * cos(6.283185307179586 * open_unit(word[2], word[3]));
}
