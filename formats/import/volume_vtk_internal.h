/* What the two readers of VTK's unstructured grids share: types of values, and the way from cells to elements. */
#ifndef SP_FORMATS_IMPORT_VOLUME_VTK_INTERNAL_H
#define SP_FORMATS_IMPORT_VOLUME_VTK_INTERNAL_H

#include "formats/import/volume_internal.h"

struct sp_volume_vtk_type {
    const char *legacy, *xml; /* its names, NULL where a format does not have it */
    int bytes;
    char kind; /* 'i' signed, 'u' unsigned, 'f' floating */
};

/* NULL where the name is unknown. */
const struct sp_volume_vtk_type *sp_volume_vtk_legacy_type(sp_word name);
const struct sp_volume_vtk_type *sp_volume_vtk_xml_type(sp_word name);

/* A value in binary: of an integer type, below 2⁶³ (false where it is not), and of any. */
bool sp_volume_vtk_integer(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian, int64_t *value);
double sp_volume_vtk_real(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian);

/* The binary stream of one array of a .vtu file, which ends at `end` or before. */
struct sp_volume_vtu_stream {
    const char *at, *end;
    int header_bytes; /* of each integer in front of the values: 4 or 8 */
    bool base64, big_endian, compressed;
};

/* The `count` values of `size` bytes of a stream, which must hold as many; memory, where it is needed, is of the
 * reader's pool and bounded by what the file can hold. */
int sp_volume_vtu_values(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                         int64_t count, int size, const char **values) SP_MUST_USE;

/* Whether cell data of this name are regions. */
bool sp_volume_vtk_is_region(sp_word name);

struct sp_volume_vtk_cells {
    int64_t count, corner_count;
    int64_t *end;    /* [count] where the corners of each cell end */
    int64_t *corner; /* [corner_count] points, from 0 */
    int64_t *type;   /* [count] VTK's numbers */
    int64_t *where;  /* [count] places in the file */
    int64_t *region; /* [count], or NULL: all are of region 0 */
};

/* Elements, groups and mesh from the cells and reader->nodes, whose numbers count from 0. */
int sp_volume_vtk_build(struct sp_volume_reader *reader, const struct sp_volume_vtk_cells *cells,
                        const sp_material *material, sp_mesh *mesh) SP_MUST_USE;

#endif
