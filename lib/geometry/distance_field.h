/* Signed distance fields of triangle soups (thesis §3.11). */
#ifndef SP_GEOMETRY_DISTANCE_FIELD_H
#define SP_GEOMETRY_DISTANCE_FIELD_H

#include "geometry/field.h"
#include "geometry/orient.h"

enum sp_field_sign {
    SP_FIELD_AUTO,         /* pseudonormals for closed manifolds without self-intersection, else winding numbers */
    SP_FIELD_PSEUDONORMAL, /* of the closest point; the model must be a closed manifold after the repair */
    SP_FIELD_WINDING,      /* inside if the winding number after the repair is at least ½ */
    SP_FIELD_OFFSET, /* the surface is replaced by the outermost level set of its unsigned field, a closed manifold */
    SP_FIELD_UNSIGNED,
};

typedef struct sp_distance_parameters {
    int64_t cells; /* along the longest side of the enlarged box */
    double scale;  /* of the box about its centre, ≥ 1; 1.5 in the thesis */
    bool cube;     /* see sp_field_place */
    enum sp_field_sign sign;
    double offset; /* m, of SP_FIELD_OFFSET; 0: 1.4 cells, as in thesis Figure 3.15; at least √3/2 of a cell, so that
                      the level set does not fall between the vertices */
} sp_distance_parameters;

typedef struct sp_distance_report {
    sp_orient_report orient;  /* zeros without repair: unsigned and offset */
    bool closed, manifold;    /* after the repair */
    enum sp_field_sign sign;  /* the sign method used: not AUTO */
    bool meets_itself;        /* AUTO used winding numbers since pseudonormals disagreed with them */
    double offset;            /* m, 0 for the other methods */
    int64_t offset_triangles; /* of the level set */
    /* of the grid: outside the level set, but enclosed by it (components that were removed) */
    int64_t dropped_vertices;
    int64_t inside;     /* number of grid vertices inside */
    int64_t sign_tests; /* vertices whose sign was computed by two methods (closed manifolds), and the number of
                           disagreements: */
    /* pseudonormal against winding number, for an offset against the flood fill that made it */
    int64_t sign_disagreements;
    double boundary; /* m, sp_field_boundary */
} sp_distance_report;

/* Computes distances to all triangles as given (for SP_FIELD_OFFSET to the level set), exact at the vertices of the
 * grid. Signs: no triangle can pass between vertices whose distances add up to more than their edge, so that one test
 * suffices for each connected part away from the surface, and vertices near the surface that have no such neighbour are
 * tested individually; if the repaired surface is open, every vertex is. The same bytes for any number of threads.
 * SP_INPUT: as for sp_field_place; PSEUDONORMAL of a surface that is not a closed manifold; an offset that is too small
 * or whose level set intersects the box. */
int sp_distance_field(sp_context *context, const sp_surface *surface, const sp_distance_parameters *parameters,
                      sp_field *field, sp_distance_report *report) SP_MUST_USE;

#endif
