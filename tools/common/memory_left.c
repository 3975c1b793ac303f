#include "tools/common/memory_left.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a file after `key` ("": at its start); NAN: there is none. */
static double number_in(const char *path, const char *key)
{
    char line[200];
    double value = NAN;
    FILE *file = fopen(path, "re");
    if (!file)
        return NAN;
    while (isnan(value) && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), " %lf", &value) != 1)
            value = NAN;
    fclose(file);
    return value;
}

double tool_memory_left(void)
{
    struct rlimit limit;
    double left = INFINITY;
    left = fmin(left, 1024 * number_in("/proc/meminfo", "MemAvailable:")); /* fmin passes over NAN */
    left = fmin(left, number_in("/sys/fs/cgroup/memory.max", "") - number_in("/sys/fs/cgroup/memory.current", ""));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = fmin(left, (double)limit.rlim_cur - (double)sysconf(_SC_PAGESIZE) * number_in("/proc/self/statm", ""));
    return left;
}
