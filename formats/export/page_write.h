/* The page of simexport -o NAME.html: one HTML file that shows bodies, and moves one. Its text is built of
 * formats/export/page, and the data stand in the place of its mark as JSON, whose arrays are little-endian bytes in
 * base64. Names may be any bytes: what is not UTF-8 becomes U+FFFD, and nothing in them ends the JSON or its element.
 */
#ifndef SP_FORMATS_EXPORT_PAGE_WRITE_H
#define SP_FORMATS_EXPORT_PAGE_WRITE_H

#include "formats/export/animation.h"
#include "formats/export/source_tables.h"

/* Coordinates of a body at most (formats/export/page/shaders.js). */
enum { SP_PAGE_MOST = 256 };

/* The displacement of a point over time. */
typedef struct sp_page_curve {
    const char *name;
    const double *displacements; /* [frame_count, 3] m */
} sp_page_curve;

typedef struct sp_page_motion {
    const sp_animation *animation;
    int64_t curve_count;
    const sp_page_curve *curves;
    const int64_t *contact_first; /* [frame_count + 1] of a frame's contacts; NULL: none were recorded */
    const double *contact_places; /* [contacts, 3] m, world */
    const double *contact_forces; /* [contacts, 3] N, world */
} sp_page_motion;

/* A point that the list of the page offers for pulling. */
typedef struct sp_page_point {
    const char *name;
    int64_t vertex; /* of the skin */
} sp_page_point;

typedef struct sp_page_region {
    const char *name;
    double young; /* Pa; 0: its law has no Young's modulus */
} sp_page_region;

/* A reduced-order model that the page moves. */
typedef struct sp_page_model {
    const sp_animated_mesh *mesh; /* its targets are the columns of the basis U */
    const sp_c_source_tables *tables;
    double damping[2]; /* α [1/s] and β [s] of Rayleigh damping */
    int64_t region_count;
    const sp_page_region *regions;
    const int64_t *vertices; /* [skin_count] vertices of the mesh, for forces on them; NULL: on the embedded surface */
    const char *mesh_file, *basis_file, *force_file; /* force: polynomials or a cubature */
    int64_t point_count;
    const sp_page_point *points;
} sp_page_model;

typedef struct sp_page {
    const char *title;
    int up;                     /* the axis that points upwards: 0, 1, 2 */
    const sp_page_model *model; /* NULL: motions are played */
    int64_t motion_count;       /* 1, or 2 side by side */
    const sp_page_motion *motions;
} sp_page;

/* Returns false if this build has no page. */
bool sp_page_built(void);

/* SP_INPUT where a body has more than SP_PAGE_MOST coordinates, or there are more vertices than 32 bits count. */
int sp_page_write(sp_context *context, int descriptor, const sp_page *page) SP_MUST_USE;

#endif
