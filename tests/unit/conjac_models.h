/* Bodies and dense algebra for the tests of ConJac. */
#ifndef TESTS_UNIT_CONJAC_MODELS_H
#define TESTS_UNIT_CONJAC_MODELS_H

#include "assembly/viscous.h"
#include "fixture.h"
#include "linear/dense.h"
#include "model/conjac/conjac_internal.h"

enum { CLAMPED = 1, BOTH_ENDS = 2, FREE = 0 };

typedef struct fixture {
    sp_mesh mesh;
    sp_fe_space body;
    sp_viscous viscous;
    sp_system full, condensed;
    int64_t n, rows;
} fixture;

/* A bar of nx × 2 × 2 cells of 0.1 m, somewhat distorted, of stable neo-Hookean gum; fixed at x = 0, or at both ends.
 */
static inline void make(int nx, bool tetrahedra, int prescribed, sp_material material, fixture *b)
{
    int64_t added;
    *b = (fixture){0};
    make_box(nx, 2, 2, 0.1, 0.1, &b->mesh);
    b->mesh.materials[0] = material;
    if (prescribed & (CLAMPED | BOTH_ENDS))
        added = fix_end(&b->mesh, 0.03);
    if (prescribed & BOTH_ENDS)
        CHECK_OK(sp_mesh_fix_half_space(&context, &b->mesh, (double[]){-1, 0, 0}, -0.1 * nx + 0.03, 7, &added));
    if (tetrahedra)
        split_mesh(&b->mesh);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    b->n = b->body.dof_count;
    b->rows = 3 * b->mesh.vertex_count;
}

static inline sp_material gum(void)
{
    return (sp_material){
        .name = "gum", .law = SP_LAW_STABLE_NEO_HOOKEAN, .density = 1000, .young = 3e4, .poisson = 0.4};
}

static inline void condense(fixture *b, bool linear, bool lumped, int64_t count, const int64_t *vertex, double gamma,
                            int64_t corrections)
{
    CHECK_OK(sp_full_system_new(&context, &b->body, linear, lumped, NULL, &b->full));
    CHECK_OK(
        sp_conjac_system_new(&context, &b->full, &(sp_condensation){count, vertex, gamma, corrections}, &b->condensed));
}

static inline void release(fixture *b)
{
    sp_conjac_system_free(&b->condensed);
    sp_full_system_free(&b->full);
    sp_viscous_free(&b->viscous);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

static inline double *numbers(int64_t count)
{
    return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

static inline double *tip_load(const fixture *b, double fx, double fy, double fz)
{
    double *f = numbers(b->n);
    const double F[3] = {fx, fy, fz};
    int64_t count = 0;
    double end = 0;
    for (int64_t v = 0; v < b->mesh.vertex_count; v++)
        end = fmax(end, b->mesh.vertices[3 * v]);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t v = 0; v < b->mesh.vertex_count; v++)
            if (b->mesh.vertices[3 * v] > end - 0.05 && b->body.dof[3 * v] >= 0)
                for (int c = 0; c < 3; c++) {
                    if (pass)
                        f[b->body.dof[3 * v + c]] = F[c] / (double)count;
                    else
                        count += c == 0;
                }
    return f;
}

struct drive {
    const double *external;
    const fixture *b;
    double amplitude, omega; /* prescribed vertices at the far end, along y */
};

static inline void driven_mean(void *self, double t0, double t1, double *f)
{
    const struct drive *drive = self;
    (void)t0, (void)t1;
    memcpy(f, drive->external, (size_t)drive->b->n * 8);
}

#endif
