/* Contact between two point shells: a dual-tree search of sphere trees about their points (thesis Figure 2.16, after
 * James & Pai 2004). */
#ifndef SP_CONTACT_SPHERES_H
#define SP_CONTACT_SPHERES_H

#include "contact/traverse.h"

/* The sphere tree (BVH) of a moving point shell: current positions of its points, and spheres of its nodes fitted to
 * them. */
typedef struct sp_sphere_tree sp_sphere_tree;

int sp_sphere_tree_new(sp_context *context, const sp_contact_pointshell *pointshell, sp_sphere_tree **tree) SP_MUST_USE;
double sp_sphere_tree_bytes(const sp_contact_pointshell *pointshell); /* size of one tree */
void sp_sphere_tree_free(sp_sphere_tree *tree);                       /* NULL is allowed */

/* Sets pose and coordinates q [modes] of the shell (NULL: at rest). q is borrowed and must not change before the next
 * call. */
void sp_sphere_tree_move(sp_sphere_tree *tree, const sp_pose *pose, const double *q);

/* Computes all positions and radii of up to SP_SPHERE_TREES trees of one shell together, since reading the modes of the
 * shell dominates the cost: 6 r operations for each point. `workspace` starts as {0} and belongs to the caller; false:
 * out of memory. sp_sphere_trees_meet does this for trees that are not up to date; call it before if threads share a
 * tree. */
enum { SP_SPHERE_TREES = 16 };
bool sp_sphere_trees_place(int64_t count, sp_sphere_tree *const *trees, sp_list *workspace) SP_MUST_USE;
const sp_contact_pointshell *sp_sphere_tree_pointshell(const sp_sphere_tree *tree);

/* A bounding sphere [world] of all points, for the broad phase. */
void sp_sphere_tree_bound(const sp_sphere_tree *tree, double centre[3], double *radius);

typedef struct sp_sphere_contact {
    int32_t a, b;     /* numbers of the points in their shells */
    double distance;  /* m, distance of the points minus both radii: negative */
    double normal[3]; /* unit vector from a to b, world */
    double at[3];     /* m, world; divides the segment between the points in the ratio of the radii */
} sp_sphere_contact;

/* Scratch lists for a search, one set for each thread; starts as {0}. */
typedef struct sp_sphere_workspace {
    sp_list numbers[2], rows[2], points, stack, places;
} sp_sphere_workspace;
void sp_sphere_workspace_free(sp_sphere_workspace *workspace);

/* Appends all pairs of points nearer than radius_a + radius_b to `list` of sp_sphere_contact, in the order of (a, b).
 * Coincident points form no contact, since they have no direction. visited is increased by the number of pairs of
 * points and of nodes tested. SP_SYSTEM: out of memory, the only possible error. */
int sp_sphere_trees_meet(sp_sphere_tree *a, double radius_a, sp_sphere_tree *b, double radius_b,
                         sp_sphere_workspace *workspace, sp_list *list, int64_t *visited) SP_MUST_USE;

#endif
