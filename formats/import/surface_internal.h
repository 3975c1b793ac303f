/* Shared by the readers of surface.h. */
#ifndef SP_FORMATS_IMPORT_SURFACE_INTERNAL_H
#define SP_FORMATS_IMPORT_SURFACE_INTERNAL_H

#include "formats/import/surface.h"
#include "formats/import/text.h"

/* A surface while it is read. */
typedef struct sp_surface_builder {
    sp_context *context;
    sp_pool pool;                     /* names; becomes the pool of the surface */
    sp_list vertices;                 /* double[3] */
    sp_list triangles;                /* int64_t[3] */
    sp_list quads;                    /* int64_t, the first triangle of each polygon of four corners */
    sp_list group;                    /* int64_t for each triangle; empty: all are 0 */
    sp_list names;                    /* char *; empty: one, "default" */
    int64_t group_now;                /* group of new triangles, if names is not empty */
    int64_t first, previous, corners; /* of the polygon that is being read */
} sp_surface_builder;

/* Begins a polygon, and adds corners to it: from the third on, each makes a triangle of the fan. SP_SYSTEM only. */
void sp_surface_polygon(sp_surface_builder *builder);
int sp_surface_corner(sp_surface_builder *builder, int64_t vertex) SP_MUST_USE;

/* Moves the data to arrays of the final size. */
int sp_surface_finish(sp_surface_builder *builder, sp_surface *surface) SP_MUST_USE;
void sp_surface_builder_free(sp_surface_builder *builder);

int sp_surface_parse_obj(sp_surface_builder *builder, const char *bytes, int64_t count,
                         enum sp_surface_groups groups) SP_MUST_USE;
int sp_surface_parse_ply(sp_surface_builder *builder, const char *bytes, int64_t count) SP_MUST_USE;
int sp_surface_parse_off(sp_surface_builder *builder, const char *bytes, int64_t count) SP_MUST_USE;
int sp_surface_parse_stl_text(sp_surface_builder *builder, const char *bytes, int64_t count) SP_MUST_USE;
int sp_surface_parse_stl_binary(sp_surface_builder *builder, const char *bytes, int64_t count) SP_MUST_USE;

/* Returns true if the length matches the triangle count of a binary STL. */
bool sp_surface_is_stl_binary(const char *bytes, int64_t count);

/* Length of the OFF keyword that a word begins with (counts may follow without a blank), 0 if there is none. */
int64_t sp_surface_off_key(sp_word word, bool *homogeneous, bool *any_dimension);

#endif
