/* Simulation meshes that simexport writes for other programs. */
#ifndef TOOLS_EXPORT_VOLUME_H
#define TOOLS_EXPORT_VOLUME_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

enum tool_volume_format {
    TOOL_VOLUME_MSH,
    TOOL_VOLUME_MSH_2,
    TOOL_VOLUME_MEDIT,
    TOOL_VOLUME_TETGEN,
    TOOL_VOLUME_VTK,
    TOOL_VOLUME_INP,
    TOOL_VOLUME_VEG,
    TOOL_VOLUME_BOU,
    TOOL_VOLUME_INTERP
};

/* Writes one mesh: paths [count] must be one file of that type. Both files of TetGen are written, whichever of them is
 * the target. Warnings name the data that the format cannot represent. */
void tool_export_volume(sp_context *context, enum tool_volume_format format, int count, const char *const *paths,
                        const char *target);

/* Warns of data of the mesh that a file of this format cannot represent. */
void tool_export_warn_missing(const char *path, enum tool_volume_format format, const sp_mesh *mesh);

#endif
