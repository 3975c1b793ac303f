/* Division of a graph in two by few nodes (METIS, through CHOLMOD). */
#ifndef SP_LINEAR_BISECT_H
#define SP_LINEAR_BISECT_H

#include "base/context.h"

enum { SP_SIDE_SEPARATOR = 2 };

/* side [count] receives 0, 1 or SP_SIDE_SEPARATOR for each node, such that no edge joins the sides 0 and 1, which have
 * about the same weight. The graph is symmetric without loops: the neighbours of node i are index[start[i]] …
 * index[start[i + 1] − 1], increasing. weight [count] ≥ 1 with a sum below 2³¹. The result depends on the arguments
 * only: METIS begins with the same random numbers at each call. count ≥ 1; a graph of one node has an empty side. */
int sp_graph_bisect(sp_context *context, int64_t count, int64_t *start, int64_t *index, int64_t *weight,
                    int64_t *side) SP_MUST_USE;

#endif
