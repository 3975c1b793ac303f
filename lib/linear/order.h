/* Fill-reducing orderings of the rows of sparse symmetric matrices, by METIS and AMD, and division of a graph in two,
 * by METIS. METIS has indices of 32 bits: SP_SYSTEM names the limit where a graph is larger. */
#ifndef SP_LINEAR_ORDER_H
#define SP_LINEAR_ORDER_H

#include "linear/sparse.h"

/* permutation [order] receives the row of the matrix at each position, by nested dissection (METIS) of the graph of
 * nodes: node [order] is the node of each row, such as the vertex of each degree of freedom, in any nondecreasing
 * numbering; NULL: each row is a node. The rows of a node stay together, ascending. */
int sp_order_dissection(sp_context *context, const sp_sparse *matrix, const int64_t *node,
                        int64_t *permutation) SP_MUST_USE;

/* The same by approximate minimum degree (AMD) of the rows. */
int sp_order_degree(sp_context *context, const sp_sparse *matrix, int64_t *permutation) SP_MUST_USE;

enum { SP_SIDE_SEPARATOR = 2 };

/* side [count] receives 0, 1 or SP_SIDE_SEPARATOR for each node, such that no edge joins the sides 0 and 1, which have
 * about the same weight. The graph is symmetric without loops: the neighbours of node i are index[start[i]] …
 * index[start[i + 1] − 1], increasing. weight [count] ≥ 1 with a sum below 2³¹. The result depends on the arguments
 * only: METIS begins with the same random numbers (rand) at each call, and calls of several threads take turns. count ≥
 * 1; a graph of one node has an empty side. */
int sp_graph_bisect(sp_context *context, int64_t count, const int64_t *start, const int64_t *index,
                    const int64_t *weight, int64_t *side) SP_MUST_USE;

#endif
