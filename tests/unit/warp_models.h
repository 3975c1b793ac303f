/* Bodies of the tests of stiffness warping. */
#ifndef TESTS_UNIT_WARP_MODELS_H
#define TESTS_UNIT_WARP_MODELS_H

#include "fixture.h"
#include "model/warp/warp_internal.h"
#include "tools/process/threads.h"

static const char *const kind_name[] = {"vertex", "pair", "element"}, *const rotation_name[] = {"frame", "polar"};

/* A distorted bar 0.6 × 0.2 × 0.2 m, of hexahedra or tetrahedra, its end at x = 0 held or free. */
static inline void make_bar(bool tetrahedra, bool prescribed, enum sp_law law, sp_mesh *mesh, sp_fe_space *body)
{
    int64_t added;
    make_box(6, 2, 2, 0.1, 0.15, mesh);
    mesh->materials[0].law = law;
    if (prescribed) {
        added = fix_end(mesh, 0.03);
        CHECK(added == 9, "%lld fixed", (long long)added);
    }
    if (tetrahedra)
        split_mesh(mesh);
    CHECK_OK(sp_fe_space_new(&context, mesh, body));
}

static inline void drop(sp_mesh *mesh, sp_fe_space *body)
{
    sp_fe_space_free(body);
    sp_mesh_free(mesh);
}

/* A rotation by 2.2 about an oblique axis (Rodrigues). */
static inline void oblique(double R[9])
{
    const double a[3] = {2.0 / 7, -3.0 / 7, 6.0 / 7}, cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = cos(2.2) * (i == j) + (1 - cos(2.2)) * a[i] * a[j] + sin(2.2) * cross[3 * i + j];
}

/* x = R (X + size · u) + t as a displacement, where `bend` turns the bar along its length first, 1/m. */
static inline void deform(const sp_mesh *mesh, bool turned, double bend, double size, const double *u, double *out)
{
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, t[3] = {3, -2, 5};
    if (turned)
        oblique(R);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *X = mesh->vertices + 3 * v;
        double y[3] = {X[0], X[1], X[2]}, x[3];
        if (bend != 0) {
            double radius = 1 / bend - X[2];
            y[0] = radius * sin(bend * X[0]);
            y[2] = 1 / bend - radius * cos(bend * X[0]);
        }
        for (int c = 0; c < 3; c++)
            y[c] += u ? size * u[3 * v + c] : 0;
        sp_rotate(R, y, x);
        for (int c = 0; c < 3; c++)
            out[3 * v + c] = x[c] + (turned ? t[c] : 0) - X[c];
    }
}

static inline double *vector(int64_t n, uint64_t stream)
{
    double *x = calloc((size_t)n, 8);
    if (stream)
        random_field(n, stream, x);
    return x;
}

/* |K| |x| of the largest entries, to which rounding is relative. */
static inline double force_scale(const sp_warp_system *w, double size)
{
    return max_abs(9 * w->start[w->vertices], w->K) * size;
}

BEFORE_TESTS()
{
    process_threads_prepare();
    context.threads = 2;
}

#endif
