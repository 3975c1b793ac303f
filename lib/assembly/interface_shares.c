#include "assembly/interface_shares.h"

#include "assembly/element.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* Adds the areas of a face if all its nodes belong to the interface. */
static void add_face(const sp_mesh *mesh, sp_mesh_face face, int64_t count, const int64_t *vertices, double *share)
{
    double X[SP_ELEMENT_NODES][3], area[SP_FACE_NODES][3], size[SP_FACE_NODES];
    signed char number[SP_FACE_NODES];
    const int64_t *place[SP_FACE_NODES];
    int corners, unused;
    const int64_t *of_element = sp_mesh_nodes(mesh, face.element, &unused);
    const int type = sp_mesh_element_places(mesh, face.element, X),
              nodes = sp_element_face(type, face.face, number, &corners);

    for (int a = 0; a < nodes; a++)
        if (!(place[a] =
                  bsearch(&of_element[number[a]], vertices, (size_t)count, sizeof *vertices, sp_compare_integers)))
            return;

    sp_element_face_areas(type, face.face, X, area, size);
    for (int a = 0; a < nodes; a++)
        share[place[a] - vertices] += size[a];
}

int sp_interface_shares(sp_context *context, const sp_mesh *mesh, int64_t count, const int64_t *vertices, double *share)
{
    sp_pool scratch = {0};
    sp_mesh_face *face;
    int64_t faces;
    double sum = 0;
    int status;

    SP_TRY(sp_mesh_boundary_faces(context, mesh, &scratch, &faces, &face));
    memset(share, 0, (size_t)count * sizeof *share);

    for (int64_t f = 0; f < faces; f++)
        add_face(mesh, face[f], count, vertices, share);

    /* Shares sum to 1; vertices without a common face have equal ones. */
    for (int64_t k = 0; k < count; k++)
        sum += share[k];
    for (int64_t k = 0; k < count; k++)
        share[k] = sum > 0 ? share[k] / sum : 1 / (double)count;
done:
    sp_pool_free(&scratch);
    return status;
}
