/* Signed distance fields of a deformed mesh: of its deformed surface, or approximated from fields at rest (thesis
 * §3.12). All functions end the process on failure. */
#ifndef TOOLS_DISTFIELD_DEFORMED_H
#define TOOLS_DISTFIELD_DEFORMED_H

#include "geometry/field.h"
#include "tools/common/inputs.h"

typedef struct distfield_pose {
    const char *basis, *coordinates; /* q_1,q_2,…: the first columns of the basis */
    tool_texts fields,
        proxies; /* one for each domain: its field at rest and the point shell whose points are its proxies */
    int64_t nearest;
} distfield_pose;

/* A table of options with a base: distfield_pose. */
enum { DISTFIELD_POSE_COUNT = 5 };
extern const tool_option distfield_pose_options[DISTFIELD_POSE_COUNT];

/* A usage error if not every field has its proxies. */
void distfield_check_pose(const distfield_pose *pose);

/* u [3·vertices] of the mesh, from `pool`, 0 at fixed components; NULL without a basis. */
double *distfield_displacement(const distfield_pose *pose, const tool_mesh *mesh, sp_pool *pool);

/* Fills the distances of a placed grid with the approximation; the least magnitude on the faces of the grid is then not
 * a bound. */
void distfield_approximate(sp_context *context, const distfield_pose *pose, const tool_mesh *mesh, sp_field *field);

#endif
