/* Shared by the two readers of VTK's unstructured grids: types of values, and the conversion of cells to elements. */
#ifndef SP_FORMATS_IMPORT_VOLUME_VTK_INTERNAL_H
#define SP_FORMATS_IMPORT_VOLUME_VTK_INTERNAL_H

#include "formats/import/volume_internal.h"

struct sp_volume_vtk_type {
    const char *legacy, *xml; /* its names, NULL if a format does not have it */
    int bytes;
    char kind; /* 'i' signed, 'u' unsigned, 'f' floating */
};

/* Return NULL if the name is unknown. */
const struct sp_volume_vtk_type *sp_volume_vtk_legacy_type(sp_word name);
const struct sp_volume_vtk_type *sp_volume_vtk_xml_type(sp_word name);

/* Convert a binary value: of an integer type (returns false if it is not below 2⁶³), and of any type. */
bool sp_volume_vtk_integer(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian, int64_t *value);
double sp_volume_vtk_real(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian);

/* The binary stream of one array of a .vtu file, which ends at `end` or before. */
struct sp_volume_vtu_stream {
    const char *at, *end;
    int header_bytes; /* size of each integer before the values: 4 or 8 */
    bool base64, big_endian, compressed;
};

/* Gets the `count` values of `size` bytes of a stream, which must have this number. Memory, if needed, is from the
 * reader's pool and bounded by the size of the file. */
int sp_volume_vtu_values(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                         int64_t count, int size, const char **values) SP_MUST_USE;

/* Returns true if cell data of this name are regions. */
bool sp_volume_vtk_is_region(sp_word name);

struct sp_volume_vtk_cells {
    int64_t count, corner_count;
    int64_t *end;    /* [count] end of the corners of each cell */
    int64_t *corner; /* [corner_count] points, from 0 */
    int64_t *type;   /* [count] VTK's numbers */
    int64_t *where;  /* [count] places in the file */
    int64_t *region; /* [count], or NULL: all are of region 0 */
};

/* Builds elements, groups and mesh from the cells and reader->nodes, which are numbered from 0. */
int sp_volume_vtk_build(struct sp_volume_reader *reader, const struct sp_volume_vtk_cells *cells,
                        const sp_material *material, sp_mesh *mesh) SP_MUST_USE;

#endif
