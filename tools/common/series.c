#include "tools/common/series.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tool_parse_whole(const char **at, int64_t *number)
{
    char *end;
    errno = 0;
    *number = isdigit((unsigned char)**at) ? strtoll(*at, &end, 10) : -1;
    if (*number < 0 || errno)
        return false;
    *at = end;
    return true;
}

tool_frames tool_frames_parse(const char *text, int64_t every)
{
    tool_frames frames = {0, INT64_MAX, every};

    if (!text)
        return frames;

    const char *at = text;
    bool good = tool_parse_whole(&at, &frames.first);
    frames.last = frames.first;

    if (good && *at == '-') {
        at++;
        frames.last = INT64_MAX;
        good = !*at || tool_parse_whole(&at, &frames.last);
    }

    if (!good || *at || frames.last < frames.first)
        tool_fail(SP_USAGE, NULL, "--frames: \"%s\" is not A-B, A- or A", text);
    return frames;
}

bool tool_frames_have(const tool_frames *frames, int64_t frame)
{
    return frame >= frames->first && frame <= frames->last && (frame - frames->first) % frames->every == 0;
}

void tool_parse_list(const char *option, const char *text, int64_t base, int64_t count, sp_list *list)
{
    char all[64];

    if (!text) {
        snprintf(all, sizeof all, "%lld-%lld", (long long)base, (long long)(base + count - 1));
        text = all;
    }

    for (const char *at = text;;) {
        int64_t first, last;
        bool good = tool_parse_whole(&at, &first);
        last = first;
        if (good && *at == '-') {
            at++;
            good = tool_parse_whole(&at, &last);
        }

        if (!good || (*at && *at != ',') || first < base || last < first)
            tool_fail(SP_USAGE, NULL, "--%s: \"%s\" is not a list such as %lld-6,9", option, text, (long long)base);
        if (last - base >= count)
            tool_fail(SP_USAGE, NULL, "--%s: %lld is out of range (%lld to %lld)", option, (long long)last,
                      (long long)base, (long long)(base + count - 1));

        int64_t *to = tool_list_add(list, last - first + 1, sizeof *to);
        for (int64_t i = first; i <= last; i++)
            *to++ = i - base;

        if (!*at++)
            return;
    }
}

/* The conversion of a pattern: its length and width; 0 when it is none that is allowed. */
static size_t conversion(const char *percent, int *width)
{
    const char *at = percent + 1;
    *width = 0;
    if (*at == '0') {
        at++;
        if (!isdigit((unsigned char)*at) || *at == '0')
            return 0;
        for (int digits = 0; isdigit((unsigned char)*at) && digits < 2; digits++)
            *width = 10 * *width + (*at++ - '0');
    }
    return *at == 'd' && *width <= 18 ? (size_t)(at - percent) + 1 : 0;
}

bool tool_pattern(const char *path)
{
    const char *percent = strchr(path, '%');
    int width;
    if (!percent)
        return false;
    if (!conversion(percent, &width) || strchr(percent + 1, '%'))
        tool_fail(SP_USAGE, path, "a pattern has one %%d or %%04d for the number and no other %%");
    return true;
}

void tool_pattern_path(const char *pattern, int64_t number, sp_pool *pool, char **path)
{
    const char *percent = strchr(pattern, '%');
    int width = 0;
    size_t length = percent ? conversion(percent, &width) : 0, size = strlen(pattern) + 32;

    *path = tool_allocate(pool, (int64_t)size, 1);

    if (!percent)
        strcpy(*path, pattern);
    else if (number < 0)
        snprintf(*path, size, "%.*s%s", (int)(percent - pattern), pattern, percent + length);
    else
        snprintf(*path, size, "%.*s%0*lld%s", (int)(percent - pattern), pattern, width, (long long)number,
                 percent + length);
}
