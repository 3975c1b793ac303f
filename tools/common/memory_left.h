/* Available memory, for messages before it is exhausted: the system may grant a program more than it can provide, and
 * end it later. */
#ifndef TOOLS_COMMON_MEMORY_LEFT_H
#define TOOLS_COMMON_MEMORY_LEFT_H

/* Bytes that the process can still allocate: the least of the memory available to all, the remainder of its control
 * group, and its limit of address space minus what it has mapped. INFINITY if none of these is known. */
double tool_memory_left(void);

#endif
