/* Meshes with data as VTK XML unstructured grids (.vtu), and series of them as .pvd, for ParaView and VTK.
 *
 * The arrays follow the XML as raw data ("appended", header type UInt64, in the byte order of the machine, which the
 * file header names).
 */
#ifndef SP_FORMATS_EXPORT_VTU_H
#define SP_FORMATS_EXPORT_VTU_H

#include "mesh/mesh.h"

/* Data at the points or in the cells (elements, then triangles, then vertices). */
typedef struct sp_vtu_array {
    const char *name;
    bool cells;                          /* false: of the points */
    int components;                      /* 1, 3, 6, … values per point or cell, contiguous in memory */
    const char *const *components_named; /* [components] names shown for them; NULL: none */
    const double *real;                  /* [count, components]; NULL: integers */
    const int64_t *whole;                /* [count, components] */
} sp_vtu_array;

/* Numbers that belong to the file, not to points or cells. */
typedef struct sp_vtu_field {
    const char *name;
    int64_t count;
    const double *real; /* [count] */
} sp_vtu_field;

typedef struct sp_vtu {
    int64_t vertex_count;
    const double *vertices; /* [vertex_count, 3] m */
    sp_element_block block[SP_ELEMENT_TYPES];
    int64_t triangle_count;
    const int64_t *triangle; /* [triangle_count, 3] */
    int64_t single_count;
    const int64_t *single; /* [single_count] vertices that are cells */
    const double *time;    /* s, stored as field data "TimeValue"; NULL: none */
    int64_t field_count;
    const sp_vtu_field *fields; /* more field data */
    int64_t array_count;
    const sp_vtu_array *arrays;
} sp_vtu;

/* Names of the six components of symmetric tensors as ParaView orders them: XX, YY, ZZ, XY, YZ, XZ. */
extern const char *const sp_vtu_tensor[6];

/* Converts [count, 6] from Voigt order xx, yy, zz, yz, zx, xy (tensor components) to that order, in place. */
void sp_vtu_from_voigt(int64_t count, double *tensors);

/* SP_SYSTEM if writing fails. */
int sp_vtu_write(sp_context *context, int descriptor, const sp_vtu *vtu) SP_MUST_USE;

/* A series: names [count] of the files, in the folder of the .pvd file, and time [count] s. */
int sp_pvd_write(sp_context *context, int descriptor, int64_t count, const double *time,
                 const char *const *names) SP_MUST_USE;

#endif
