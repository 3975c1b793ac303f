/* Options that change the materials of regions of a mesh: --young [REGION=]PA and similar. A trajectory records them
 * among its parameters, from which tools that read the trajectory apply them again. */
#ifndef TOOLS_COMMON_MATERIALS_H
#define TOOLS_COMMON_MATERIALS_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

typedef struct tool_material_edits {
    tool_texts young, poisson, density;
} tool_material_edits;

/* A table of options with a base: tool_material_edits. */
enum { TOOL_MATERIAL_EDIT_COUNT = 3 };
extern const tool_option tool_material_edit_options[TOOL_MATERIAL_EDIT_COUNT];

bool tool_material_edits_given(const tool_material_edits *edits);

/* Parses "REGION=1,2" or "1,2", `count` numbers with commas: regions *first to *last, all if none is named. A name may
 * contain "=", numbers do not. SP_USAGE, with the option in the message, for anything else and for an unknown
 * region. */
int tool_parse_region(sp_context *context, const char *option, const char *text, const sp_mesh *mesh, int count,
                      double *numbers, int64_t *first, int64_t *last) SP_MUST_USE;

/* Gives the mesh new materials, in the order of the options; the old ones stay in the mesh's pool. SP_USAGE for
 * impossible changes. */
int tool_edit_materials(sp_context *context, const tool_material_edits *edits, sp_mesh *mesh) SP_MUST_USE;

/* The edits among the parameters of a file of simulate or simfull, as its meta records them. The texts stay meta's. */
int tool_material_edits_recorded(sp_context *context, const json_t *meta, tool_material_edits *edits) SP_MUST_USE;

#endif
