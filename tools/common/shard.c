#include "tools/common/shard.h"

#include <stdlib.h>

tool_shard tool_shard_parse(const char *text, int64_t total, int64_t step, const char *what)
{
    char *end;

    if (!text)
        return (tool_shard){0, total};

    const int64_t blocks = (total + step - 1) / step, number = strtoll(text, &end, 10),
                  count = *end == '/' ? strtoll(end + 1, &end, 10) : 0;

    if (*end || number < 1 || count < number || count > 100000)
        tool_fail(SP_USAGE, NULL, "--shard %s: expected I/N with 1 <= I <= N, such as 2/8", text);

    if (count > blocks && step > 1)
        tool_fail(SP_USAGE, NULL, "--shard %s: %lld %s make only %lld shards of at least %lld", text, (long long)total,
                  what, (long long)blocks, (long long)step);
    if (count > blocks)
        tool_fail(SP_USAGE, NULL, "--shard %s: %lld %s make only %lld shards", text, (long long)total, what,
                  (long long)blocks);

    const int64_t last = blocks * number / count * step;
    return (tool_shard){blocks * (number - 1) / count * step, last < total ? last : total};
}
