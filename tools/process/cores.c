#include "tools/process/cores.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXT = 4096 };

/* The beginning of a file as text; false if there is none. */
static bool read_text(char text[MOST_TEXT], const char *path)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    text[fread(text, 1, MOST_TEXT - 1, file)] = '\0';
    fclose(file);
    return true;
}

/* Returns true if an allowed processor with a lower number is in the same core. */
static bool shares_core(const char *root, int processor, const cpu_set_t *allowed)
{
    char path[PATH_MAX], text[MOST_TEXT], *rest;

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", root, processor);
    if (!read_text(text, path))
        return false;

    /* A list such as 3,67 or 6-7 */
    for (char *at = strtok_r(text, ",\n", &rest); at; at = strtok_r(NULL, ",\n", &rest)) {
        int first = -1, last = -1;
        const int numbers = sscanf(at, "%d-%d", &first, &last);
        if (numbers == 1)
            last = first;
        for (int i = first; numbers > 0 && i >= 0 && i <= last && i < processor; i++)
            if (CPU_ISSET((size_t)i, allowed))
                return true;
    }
    return false;
}

static int allowed_cores(const char *root)
{
    cpu_set_t allowed;
    int cores = 0;

    /* It fails on systems with more processors than the set has room for. */
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return (int)fmax(1, (double)sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = 0; i < CPU_SETSIZE; i++)
        cores += CPU_ISSET((size_t)i, &allowed) && !shares_core(root, i, &allowed);
    return cores > 0 ? cores : 1;
}

/* The least number of processors that the control group of this process and those around it grant, in the files of
 * version 2 (cpu.max: "200000 100000", or "max 100000") or 1 of control groups. */
static double granted(const char *root, const char *mount, const char *group, bool second)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], text[MOST_TEXT];
    double least = INFINITY;

    snprintf(folder, sizeof folder, "%s", group);
    for (;;) {
        double quota, period = 0;
        snprintf(path, sizeof path, "%s%s%s/%s", root, mount, folder, second ? "cpu.max" : "cpu.cfs_quota_us");
        bool limited = read_text(text, path) && sscanf(text, "%lf %lf", &quota, &period) == (second ? 2 : 1);
        if (limited && !second) {
            snprintf(path, sizeof path, "%s%s%s/cpu.cfs_period_us", root, mount, folder);
            limited = read_text(text, path) && sscanf(text, "%lf", &period) == 1;
        }
        if (limited && quota > 0 && period > 0)
            least = fmin(least, quota / period);

        char *slash = strrchr(folder, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Returns true if "cpu" is among names such as "cpu,cpuacct". */
static bool names_cpu(const char *controllers)
{
    for (const char *at = controllers; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == '\0' || at[3] == ','))
            return true;
    return false;
}

static double granted_processors(const char *root)
{
    char path[PATH_MAX], text[MOST_TEXT];
    double least = INFINITY;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_text(text, path))
        return least;

    /* Lines such as 0::/user.slice (version 2), or 4:cpu,cpuacct:/user.slice */
    char *rest, *line = strtok_r(text, "\n", &rest);
    for (; line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        const bool second = strcmp(line, "0:") == 0, first = names_cpu(controllers + 1);
        if (strcmp(group, "/") == 0)
            *group = '\0';
        if (second)
            least = fmin(least, granted(root, "/sys/fs/cgroup", group, true));
        else if (first)
            least = fmin(least, granted(root, "/sys/fs/cgroup/cpu", group, false));
    }
    return least;
}

/* The N of -jN among words such as "k -j4 --jobserver-auth=3,4 -- NAME=value"; 1 without it, and as good as infinite
 * for -j alone. */
static int jobs_of(const char *makeflags)
{
    for (const char *at = makeflags; at && *at && strncmp(at, "-- ", 3) != 0;
         at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, "-j", 2) == 0) {
            const int jobs = atoi(at + 2);
            return jobs > 0 ? jobs : INT_MAX;
        }
    return 1;
}

int process_cores(const char *root, const char *makeflags)
{
    const double cores = fmin(allowed_cores(root), ceil(granted_processors(root))),
                 mine = fmin(floor(cores / jobs_of(makeflags)), PROCESS_CORES_MOST);

    return mine < 1 ? 1 : (int)mine;
}
