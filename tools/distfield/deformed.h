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

#define DISTFIELD_POSE_OPTIONS(pose)                                                                                   \
    {"basis", 0, TOOL_INPUT, &(pose).basis, "FILE", .help = "of a mesh: its surface is moved by these columns"},       \
        {"coordinates", 0, TOOL_TEXT, &(pose).coordinates, "Q1,Q2,...", .help = "of the first columns of --basis"},    \
        {"field",                                                                                                      \
         0,                                                                                                            \
         TOOL_INPUTS,                                                                                                  \
         &(pose).fields,                                                                                               \
         "FILE",                                                                                                       \
         .help = "do not measure the moved surface, but approximate from this field at rest by --proxies; several "    \
                 "domains: several times"},                                                                            \
        {"proxies",       0,      TOOL_INPUTS,                                                                         \
         &(pose).proxies, "FILE", .help = "shell whose points are the proxies of the --field of the same place"},      \
    {                                                                                                                  \
        "nearest", 0, TOOL_INTEGER, &(pose).nearest, "K", "5", .low = 1, .high = 16,                                   \
                                                               .help = "proxies that are asked at each vertex"         \
    }

/* Usage errors of inconsistent options. */
void distfield_check_pose(const distfield_pose *pose, bool mesh);

/* u [3·vertices] of the mesh, from `pool`, 0 at fixed components; NULL without a basis. */
double *distfield_displacement(const distfield_pose *pose, const tool_mesh *mesh, sp_pool *pool);

/* Fills the distances of a placed grid with the approximation; the least magnitude on the faces of the grid is then not
 * a bound. */
void distfield_approximate(sp_context *context, const distfield_pose *pose, const tool_mesh *mesh, sp_field *field);

#endif
