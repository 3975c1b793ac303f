/* Files of the type mesh (mesh.md). */
#ifndef SP_FORMATS_MESH_H
#define SP_FORMATS_MESH_H

#include "formats/file.h"
#include "mesh/mesh.h"

/* Moves the arrays from `file` to `mesh` (the file's members are empty afterwards) and checks everything with
 * sp_mesh_check. SP_INPUT names the member. */
int sp_mesh_read(sp_context *context, sp_file *file, sp_mesh *mesh) SP_MUST_USE;

/* Adds quadrature, the axis that points up and materials to `meta`, writes it and the members; the caller ends with the
 * result. */
int sp_mesh_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh) SP_MUST_USE;

/* For a mesh that was cut from another: cut_from, the hash of the other one, and origin [*count], from `pool`, the
 * vertex of it that each vertex is or is a copy of. Call it before sp_mesh_read, which moves the arrays out of the
 * file. It checks that the vertices of the other mesh come first with their own numbers, then copies of them in the
 * order of their origin; the caller compares *count with the vertices of the mesh. For other meshes: "", 0 and NULL. */
int sp_mesh_read_origin(sp_context *context, sp_file *file, sp_pool *pool, char cut_from[SP_HASH_LENGTH],
                        int64_t *count, int64_t **origin) SP_MUST_USE;

/* sp_mesh_write with the origin of a cut mesh; origin [mesh->vertex_count]. */
int sp_mesh_write_cut(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *cut_from,
                      const int64_t *origin) SP_MUST_USE;

/* The same for a mesh with some of the elements of another one, whose hash is `kept_from`; kept [mesh->vertex_count] is
 * the vertex there that each vertex is. */
int sp_mesh_write_kept(sp_context *context, sp_writer *writer, json_t *meta, const sp_mesh *mesh, const char *kept_from,
                       const int64_t *kept) SP_MUST_USE;

/* Materials as in a mesh's meta: {"name", "law", "density", …}; one object, or an array of them. Unknown keys are
 * SP_INPUT. The result is allocated from `pool`. */
int sp_materials_from_json(sp_context *context, const json_t *json, sp_pool *pool, int64_t *count,
                           sp_material **materials) SP_MUST_USE;

/* The same for the materials that `json` names among these; other properties are kept. "fibre_direction" may also be a
 * rule, {"helix": {"axis": [x, y, z], "centre": [x, y, z], "angle": degrees}}: the region's direction is then the axis,
 * and helices [count] has the argument of sp_mesh_wind; its axis is 0 if there is no rule. SP_INPUT for an unknown
 * name. */
int sp_materials_edit(sp_context *context, const json_t *json, int64_t count, sp_material *materials,
                      sp_helix *helices) SP_MUST_USE;

#endif
