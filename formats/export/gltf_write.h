/* Animations of targets as binary glTF 2.0 (.glb): a mesh with morph targets for each animated mesh, a node for each
 * body that shows it, weights and poses as one animation. A root node turns the upward axis into y. The bones of a skin
 * are joints below the root, and the node with their mesh is beside it, since its own place does not matter.
 *
 * glTF stores numbers in single precision; with `quantize` positions, normals and targets are integers of 16 and 8 bits
 * (KHR_mesh_quantization), and the node that carries the mesh scales and moves them back. */
#ifndef SP_FORMATS_EXPORT_GLTF_WRITE_H
#define SP_FORMATS_EXPORT_GLTF_WRITE_H

#include "formats/export/animation.h"

typedef struct sp_gltf_report {
    int64_t bytes; /* of the file */
    double error;  /* m: a vertex of the file, computed without rounding, is no farther from that of the animation */
} sp_gltf_report;

/* SP_INPUT, before anything is written, for times that are equal in single precision, numbers that it cannot hold, a
 * mesh without triangles, and more than 4 GiB, the most that a .glb can hold. SP_SYSTEM if writing fails. */
int sp_gltf_write(sp_context *context, int descriptor, const sp_animation *animation, bool quantize,
                  sp_gltf_report *report) SP_MUST_USE;

#endif
