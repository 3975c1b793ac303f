/* How much memory there is, for messages before it is used up: the system may let a program have more than it can hold
 * and end it later. */
#ifndef TOOLS_COMMON_MEMORY_LEFT_H
#define TOOLS_COMMON_MEMORY_LEFT_H

/* Bytes that the process can still take: the least of what is available to all, what its control group has left, and
 * its limit of address space less what it has mapped. INFINITY where nothing of that is known. */
double tool_memory_left(void);

#endif
