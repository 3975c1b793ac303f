/* The default number of threads, in a made folder of /sys and /proc. */
#include "tools/process/cores.h"
#include "test.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/test-cores-XXXXXX";

/* Writes a file, with the folders that it is in. */
static void put(const char *path, const char *text)
{
    char full[500];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(full, 0700);
    }
    FILE *file = fopen(full, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "cannot write %s", full);
}

static int allowed(cpu_set_t *set)
{
    CHECK(sched_getaffinity(0, sizeof *set, set) == 0, "no affinity");
    const int count = CPU_COUNT(set);
    return count < PROCESS_CORES_MOST ? count : PROCESS_CORES_MOST;
}

TEST(jobs_of_make_share_the_cores)
{
    cpu_set_t set;
    const int all = allowed(&set);
    const struct {
        const char *makeflags;
        int jobs;
    } cases[] = {{NULL, 1},
                 {"", 1},
                 {"k", 1},
                 {" -j2 --jobserver-auth=3,4", 2},
                 {"ks -j3 --jobserver-auth=fifo:/tmp/GMfifo1", 3},
                 {"-j1", 1},
                 {" -j", 1 << 20},
                 {"k -- FLAGS=-j7 -j9", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int expected = all / cases[i].jobs > 0 ? all / cases[i].jobs : 1,
                  found = process_cores(root, cases[i].makeflags);
        CHECK(found == expected, "%s: %d, not %d", cases[i].makeflags, found, expected);
    }
}

TEST(control_groups_grant_processors)
{
    cpu_set_t set;
    const int all = allowed(&set);
    const int cores = process_cores(root, NULL);
    put("/proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/one/two\n0::/user/session\n");
    CHECK(process_cores(root, NULL) == cores, "without limits");
    put("/sys/fs/cgroup/user/session/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/cpu/one/two/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/one/two/cpu.cfs_period_us", "100000\n");
    CHECK(process_cores(root, NULL) == cores, "limits that are none");
    put("/sys/fs/cgroup/user/cpu.max", "50000 100000\n");
    CHECK(process_cores(root, NULL) == 1, "half a processor of version 2");
    put("/sys/fs/cgroup/user/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/cpu/one/cpu.cfs_quota_us", "110000\n");
    put("/sys/fs/cgroup/cpu/one/cpu.cfs_period_us", "100000\n");
    CHECK(process_cores(root, NULL) == (cores < 2 ? cores : 2), "1.1 processors of version 1 of %d", all);
    put("/sys/fs/cgroup/cpu/one/cpu.cfs_quota_us", "rubbish\n");
    put("/proc/self/cgroup", "rubbish\n::\n:\n");
    CHECK(process_cores(root, NULL) == cores, "files that cannot be read");
}

TEST(threads_of_one_core_count_once)
{
    cpu_set_t set;
    const int all = allowed(&set);
    int before = -1, count = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set)) {
            char path[100], pair[50];
            const bool second = count++ % 2;
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
            snprintf(pair, sizeof pair, before == i - 1 ? "%d-%d\n" : "%d,%d\n", second ? before : i, i);
            put(path, pair);
            before = i;
        }
    if (count <= PROCESS_CORES_MOST)
        CHECK(process_cores(root, NULL) == (all + 1) / 2, "%d of %d", process_cores(root, NULL), all);
}

BEFORE_TESTS()
{
    if (!mkdtemp(root))
        exit(1);
}

AFTER_TESTS()
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", root);
    if (system(command) != 0)
        exit(1);
}
