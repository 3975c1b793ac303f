/* Meshes with data as VTK XML unstructured grids (.vtu), and series of them as .pvd: what ParaView and VTK open.
 *
 * The arrays stand raw behind the XML ("appended", header UInt64, the byte order of the machine, named in the header).
 */
#ifndef SP_FORMATS_EXPORT_VTU_H
#define SP_FORMATS_EXPORT_VTU_H

#include "base/context.h"

/* Data at the points or in the cells (hexahedra, then tetrahedra, then triangles, then vertices). */
typedef struct sp_vtu_array {
    const char *name;
    bool cells;                          /* false: of the points */
    int components;                      /* 1, 3, 6, … values per point or cell, together in memory */
    const char *const *components_named; /* [components] names shown for them; NULL: none */
    const double *real;                  /* [count, components]; NULL: whole numbers */
    const int64_t *whole;                /* [count, components] */
} sp_vtu_array;

/* Numbers of the file as a whole. */
typedef struct sp_vtu_field {
    const char *name;
    int64_t count;
    const double *real; /* [count] */
} sp_vtu_field;

typedef struct sp_vtu {
    int64_t vertex_count;
    const double *vertices; /* [vertex_count, 3] m */
    int64_t hex_count, tet_count, triangle_count;
    const int64_t *hex;      /* [hex_count, 8] in the order of VTK */
    const int64_t *tet;      /* [tet_count, 4] */
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

/* From [count, 6] in Voigt order xx, yy, zz, yz, zx, xy (tensor components) to that order, in place. */
void sp_vtu_from_voigt(int64_t count, double *tensors);

/* SP_SYSTEM when writing fails. */
int sp_vtu_write(sp_context *context, int descriptor, const sp_vtu *vtu) SP_MUST_USE;

/* A series: names [count] of files beside the index, time [count] s. */
int sp_pvd_write(sp_context *context, int descriptor, int64_t count, const double *time,
                 const char *const *names) SP_MUST_USE;

#endif
