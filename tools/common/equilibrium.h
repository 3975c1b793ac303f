/* A static equilibrium of a full-order model: the last frame of a trajectory of simfull --integrator static. Ends the
 * process on failure. */
#ifndef TOOLS_COMMON_EQUILIBRIUM_H
#define TOOLS_COMMON_EQUILIBRIUM_H

#include "assembly/fe_space.h"
#include "formats/trajectory.h"
#include "model/loads.h"
#include "tools/common/tool.h"

typedef struct tool_equilibrium {
    sp_context *context;
    const char *path;
    char hash[SP_HASH_LENGTH];
    json_t *meta;       /* of the trajectory */
    int64_t rows;       /* 3·vertices */
    double *u;          /* [rows] m */
    double time, step;  /* s: of the frame, and the length of the static steps */
    int64_t prescribed; /* number of vertices that were prescribed in the frame */
    sp_prescribed_record *prescribed_record;
    int64_t load_count; /* 0 until they are read */
    sp_load *loads;
    sp_pool pool;
} tool_equilibrium;

/* Reads the trajectory from `descriptor`. `model` is the model that must have computed it, as its meta names it.
 * Refused are other trajectories than static ones of that model, those that record some vertices only, and those whose
 * internal forces come from more than the mesh and its materials: floor planes, activation, cuts. */
void tool_equilibrium_read(sp_context *context, int descriptor, const char *path, const char *model,
                           tool_equilibrium *equilibrium);
void tool_equilibrium_free(tool_equilibrium *equilibrium);

/* Gives the mesh the materials of the equilibrium, and fixes the vertices that were prescribed in it, after a check
 * that it has this mesh. */
void tool_equilibrium_apply(const tool_equilibrium *equilibrium, const char *mesh_hash, sp_mesh *mesh);

/* The hash of the file of loads that was read for it; "" if it has none. */
const char *tool_equilibrium_loads_hash(const tool_equilibrium *equilibrium);

/* Reads these loads, whose bytes must have that hash. */
void tool_equilibrium_take_loads(tool_equilibrium *equilibrium, const char *path, const char *bytes, int64_t count,
                                 const sp_mesh *mesh);

/* K += the tangent stiffness at the equilibrium with that of its loads (model/load_stiffness.h), for a nonlinear model;
 * `body` is of the mesh above. */
void tool_equilibrium_stiffness(const tool_equilibrium *equilibrium, const sp_fe_space *body, sp_sparse *K);

/* Returns true if one of the loads that act is of this kind. */
bool tool_equilibrium_has(const tool_equilibrium *equilibrium, enum sp_load_kind kind);

#endif
