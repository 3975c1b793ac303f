/* Files of kind mesh (mesh.md). */
#ifndef SP_FORMATS_MESH_H
#define SP_FORMATS_MESH_H

#include "formats/file.h"
#include "mesh/mesh.h"

/* Takes the arrays out of `file` into `mesh` (the file's memory moves, its members are empty afterwards) and checks
 * everything with sp_mesh_check. SP_INPUT names the member. */
int sp_mesh_read(sp_context *context, sp_file *file, sp_mesh *mesh) SP_MUST_USE;

/* Adds quadrature and materials to `meta`, writes it and the members; the caller ends with the result. */
int sp_mesh_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh) SP_MUST_USE;

/* Materials as in a mesh's meta: {"name", "law", "density", …}; one object, or an array of them. Unknown keys are SP_INPUT.
 * The result is allocated from `pool`. Missing values are taken from *standard where it is not NULL. */
int sp_materials_from_json(sp_context *context, const json_t *json, const sp_material *standard, sp_pool *pool, int64_t *count, sp_material **materials) SP_MUST_USE;

#endif
