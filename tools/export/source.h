/* Reduced-order models as C source (simexport --to c). */
#ifndef TOOLS_EXPORT_SOURCE_H
#define TOOLS_EXPORT_SOURCE_H

#include "formats/export/source_write.h"
#include "tools/common/trajectory.h"

typedef struct tool_model_files {
    const char *mesh, *basis, *force; /* force: polynomials or a cubature */
    bool cubature;
} tool_model_files;

/* A mesh, its basis, and its polynomials or its cubature, which belong together. */
typedef struct tool_reduced_model {
    tool_model_files files;
    tool_trajectory shape; /* the mesh and the basis, which may have more columns than the model has coordinates */
    sp_c_source_tables tables;
    char hash[SP_HASH_LENGTH]; /* of the file of the force */
    double damping[2];         /* α [1/s] and β [s] of the mesh */
} tool_reduced_model;

/* Reads the three files, in any order; messages call what is made of the model `what`. */
void tool_reduced_model_read(sp_context *context, const char *what, int count, const char *const *paths,
                             tool_reduced_model *model);
void tool_reduced_model_free(tool_reduced_model *model);

/* The probes [count] of the text of --probe, or none for NULL, from `pool`. */
const sp_c_source_probe *tool_reduced_model_probes(sp_context *context, const tool_reduced_model *model,
                                                   const char *text, sp_pool *pool, int64_t *count);

/* A model with its named probes. */
typedef struct tool_c_source {
    sp_pool pool;
    tool_reduced_model model;
    sp_c_source c;
} tool_c_source;

/* Reads the model; `target` gives its name. */
void tool_c_source_read(sp_context *context, const char *what, int count, const char *const *paths, const char *target,
                        const char *probes, tool_c_source *source);
void tool_c_source_free(tool_c_source *source);

/* Writes NAME.c and NAME.h, where `target` is NAME.c. */
void tool_export_source(sp_context *context, int count, const char *const *paths, const char *target,
                        const char *probes, bool single);

#endif
