/* Options shared by the tools that make meshes: unit of length and vertical axis of the model, fixed vertices, regions
 * by place. */
#ifndef TOOLS_COMMON_ANCHORS_H
#define TOOLS_COMMON_ANCHORS_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

enum { TOOL_FIX_COUNT = 3 };
extern const tool_option tool_fix_options[TOOL_FIX_COUNT];

/* --fix-set and --region-set, for meshes that have named sets. */
enum { TOOL_SET_COUNT = 2 };
extern const tool_option tool_set_options[TOOL_SET_COUNT];

/* --scale and --up: unit of length and vertical axis of the model. Coordinates stay as they are but for the factor:
 * loads, boxes and other files of the same model keep their meaning. */
enum { TOOL_FRAME_COUNT = 2 };
extern const tool_option tool_frame_options[TOOL_FRAME_COUNT];

/* The factor of --scale. */
double tool_scale(void);

/* Multiplies points [count, 3] by --scale. */
void tool_scale_points(int64_t count, double *points);

/* Sets mesh->up from --up; z, the default, is not written. */
void tool_set_up(sp_mesh *mesh);

/* --region-box. */
enum { TOOL_REGION_COUNT = 1 };
extern const tool_option tool_region_options[TOOL_REGION_COUNT];

/* Makes the regions of --region-box, then those of --region-set, and drops regions without elements. A new region has
 * the material of its elements, which must be the same for all of them. */
void tool_apply_regions(sp_context *context, sp_mesh *mesh);

/* Fixes the vertices of --fix-box, --fix-half-space, --fix-vertices and --fix-set; a box or half-space without a vertex
 * is a usage error. */
void tool_apply_fixed_vertices(sp_context *context, sp_mesh *mesh);

/* Parses `count` numbers with commas at *at, "inf" allowed; advances *at past them and a comma that follows. False if
 * there are fewer. */
bool tool_parse_numbers(const char **at, int count, double *numbers);

#endif
