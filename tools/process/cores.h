/* The default number of threads of a program. */
#ifndef TOOLS_PROCESS_CORES_H
#define TOOLS_PROCESS_CORES_H

enum { PROCESS_CORES_MOST = 64 }; /* a factorization of 100,000 rows has no work for more (docs/performance.md) */

/* The number of cores that this process may use, at least 1 and at most PROCESS_CORES_MOST: those that its affinity
 * allows, but not more than the processor quota of its control group, rounded up. Under `make -jN` it is divided by N.
 * `root` is the folder that /sys and /proc are in: "" outside of tests. makeflags: the variable MAKEFLAGS of the
 * environment or NULL. */
int process_cores(const char *root, const char *makeflags);

#endif
