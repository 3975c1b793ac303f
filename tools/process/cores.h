/* How many threads a program uses if it is not told. */
#ifndef TOOLS_PROCESS_CORES_H
#define TOOLS_PROCESS_CORES_H

enum { PROCESS_CORES_MOST = 64 }; /* more do not pay in a run on its own: see docs/performance.md */

/* The cores that this process may use, at least 1: those of the processors that its affinity allows, where threads of
 * one core count once, and not more than its control group grants (rounded up). Under `make -jN` each of the N commands
 * gets its part of them. At most PROCESS_CORES_MOST. `root` is the folder that /sys and /proc are in: "" outside of
 * tests. makeflags: the variable MAKEFLAGS of the environment or NULL. */
int process_cores(const char *root, const char *makeflags);

#endif
