/* Signed distance fields of triangle soups (thesis §3.11). */
#ifndef SP_GEOMETRY_DISTANCE_FIELD_H
#define SP_GEOMETRY_DISTANCE_FIELD_H

#include "geometry/field.h"
#include "geometry/orient.h"

enum sp_field_sign {
    SP_FIELD_AUTO,         /* pseudonormals for closed manifolds that do not meet themselves, else winding numbers */
    SP_FIELD_PSEUDONORMAL, /* of the closest point; the model must be a closed manifold after the repair */
    SP_FIELD_WINDING,      /* inside where the winding number after the repair is at least ½ */
    SP_FIELD_OFFSET,       /* the surface becomes the outermost level set of its unsigned field, a closed manifold */
    SP_FIELD_UNSIGNED,
};

typedef struct sp_distance_parameters {
    int64_t cells; /* along the longest side of the enlarged box */
    double scale;  /* of the box about its centre, ≥ 1; the thesis takes 1.5 */
    bool cube;     /* see sp_field_place */
    enum sp_field_sign sign;
    double offset; /* m, of SP_FIELD_OFFSET; 0: 1.4 cells, as in thesis Figure 3.15; at least √3/2 of a cell, so that
                      nothing falls between the vertices */
} sp_distance_parameters;

typedef struct sp_distance_report {
    sp_orient_report orient;  /* zeros where nothing was repaired: unsigned and offset */
    bool closed, manifold;    /* after the repair */
    enum sp_field_sign sign;  /* what was used: not AUTO */
    bool meets_itself;        /* AUTO took winding numbers since pseudonormals disagreed with them */
    double offset;            /* m, 0 for the others */
    int64_t offset_triangles; /* of the level set */
    int64_t
        dropped_vertices; /* of the grid: outside the level set, but enclosed by it (components that were removed) */
    int64_t inside;       /* vertices of the grid */
    int64_t
        sign_tests; /* vertices whose sign was computed by two ways (closed manifolds), and how often they disagreed: */
    int64_t sign_disagreements; /* pseudonormal against winding number, for an offset against the flood that made it */
    double boundary;            /* m, sp_field_boundary */
} sp_distance_report;

/* Distances to all triangles as given (for SP_FIELD_OFFSET to the level set), exact at the vertices of the grid. Signs:
 * between vertices whose distances add up to more than their edge no triangle can pass, so that tests are made once in
 * each connected part away from the surface, and at vertices near it that have no such neighbour; where the repaired
 * surface is open, at every vertex. The same bytes for any number of threads. SP_INPUT: what sp_field_place says;
 * PSEUDONORMAL of what is no closed manifold; an offset that is too small or whose level set meets the box. */
int sp_distance_field(sp_context *context, const sp_surface *surface, const sp_distance_parameters *parameters,
                      sp_field *field, sp_distance_report *report) SP_MUST_USE;

#endif
