/* Two shells against each other: tree against tree, spheres about their points (thesis Figure 2.16, after James & Pai
 * 2004). */
#ifndef SP_CONTACT_SPHERES_H
#define SP_CONTACT_SPHERES_H

#include "contact/traverse.h"

/* A shell that moves: places of its points, and spheres about its nodes that are fitted to them. */
typedef struct sp_sphere_tree sp_sphere_tree;

int sp_sphere_tree_new(sp_context *context, const sp_contact_pointshell *pointshell, sp_sphere_tree **tree) SP_MUST_USE;
double sp_sphere_tree_bytes(const sp_contact_pointshell *pointshell); /* of one of them */
void sp_sphere_tree_free(sp_sphere_tree *tree);                       /* NULL is allowed */

/* From now on the shell is at `pose` with q [modes] (NULL: at rest; kept by reference, not to be changed before the
 * next move). */
void sp_sphere_tree_move(sp_sphere_tree *tree, const sp_pose *pose, const double *q);

/* Finds all places and radii of up to SP_SPHERE_TREES trees of one shell for where they were moved, together, since
 * reading the shell's modes is most of it: 6 r operations for each point. `room` starts as {0} and is the caller's;
 * false: no memory. sp_sphere_trees_meet does it for trees of which they are not known; call it before where threads
 * share a tree. */
enum { SP_SPHERE_TREES = 16 };
bool sp_sphere_trees_place(int64_t count, sp_sphere_tree *const *trees, sp_list *workspace) SP_MUST_USE;
const sp_contact_pointshell *sp_sphere_tree_pointshell(const sp_sphere_tree *tree);

/* A ball [world] about all points, for the broad phase. */
void sp_sphere_tree_bound(const sp_sphere_tree *tree, double centre[3], double *radius);

typedef struct sp_sphere_contact {
    int32_t a, b;     /* points of the shells */
    double distance;  /* m, of the points less both radii: negative */
    double normal[3]; /* from a to b, of unit length, world */
    double at[3];     /* m, world, between the points in the ratio of the radii */
} sp_sphere_contact;

/* Lists that a search needs, one for each thread; starts as {0}. */
typedef struct sp_sphere_workspace {
    sp_list numbers[2], rows[2], points, stack, places;
} sp_sphere_workspace;
void sp_sphere_workspace_free(sp_sphere_workspace *workspace);

/* SP_SYSTEM where memory is out, the only way to fail. All pairs of points nearer than radius_a + radius_b, in the
 * order of (a, b); points at the same place: not a contact, since they have no direction. `list` holds
 * sp_sphere_contact; it grows where it must. visited += pairs of points or of nodes looked at. */
int sp_sphere_trees_meet(sp_sphere_tree *a, double radius_a, sp_sphere_tree *b, double radius_b,
                         sp_sphere_workspace *workspace, sp_list *list, int64_t *visited) SP_MUST_USE;

#endif
