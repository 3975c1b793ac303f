/* The bodies of the tests of scenes: a soft bar, a rigid torus, a sphere. */
#ifndef TESTS_UNIT_SCENE_MODELS_H
#define TESTS_UNIT_SCENE_MODELS_H

#include "assembly/fe_space.h"
#include "bodies.h"
#include "contact_models.h"
#include "reduced/linear.h"
#include "scene/scene.h"
#include "scene/stiffness.h"

OWNER(sp_contact_scene)
OWNER(sp_free_body)

static const double NONE[3] = {0, 0, 0}, UP[3] = {0, 0, 1};
static const double GRAVITY = 9.81;

enum { BAR = 6 };

typedef struct bar {
    sp_mesh mesh;
    sp_fe_space body;
    double *U;
    sp_inertia inertia;
    double K[BAR * BAR];
    sp_contact_pointshell pointshell;
    sp_field field;
} bar;

static inline void make_bar(bar *b)
{
    *b = (bar){0};
    make_box(4, 2, 2, 0.2, 0, &b->mesh);
    for (int64_t v = 0; v < b->mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            b->mesh.vertices[3 * v + k] -= k == 0 ? 0.4 : 0.2;
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    const int64_t rows = 3 * b->mesh.vertex_count;
    b->U = calloc((size_t)(rows * BAR), 8);
    for (int64_t v = 0; v < b->mesh.vertex_count; v++) {
        const double *X = b->mesh.vertices + 3 * v, x = X[0], y = X[1], z = X[2];
        const double field[BAR][3] = {{x, 0, 0},          {0, y, 0},        {y, x, 0}, {-2 * x * z, 0, x * x},
                                      {0, -x * z, x * y}, {0, 0, z + x * x}};
        for (int j = 0; j < BAR; j++)
            for (int c = 0; c < 3; c++)
                b->U[j * rows + 3 * v + c] = field[j][c];
    }
    CHECK_OK(sp_inertia_of_body(&context, &b->body, false, BAR, b->U, &b->inertia));
    for (int i = 0; i < BAR; i++) /* soft, so that collisions cause strains of a few percent */
        b->K[BAR * i + i] = 2000 * (1 + 0.3 * i);
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.4, -0.2, -0.2}, (double[3]){0.4, 0.2, 0.2});
    sp_pointshell pointshell = shell_of(&s, SP_POINTSHELL_REPULSION, 400, 3);
    sp_pointshell_motion_report report;
    CHECK_OK(sp_pointshell_transfer(&context, &b->mesh, BAR, b->U, true, &pointshell, &report));
    b->pointshell = contact_shell(&pointshell);
    b->field = field_of(&s, 16);
}

static inline void bar_free(bar *b)
{
    sp_contact_pointshell_free(&b->pointshell);
    sp_field_free(&b->field);
    sp_inertia_free(&b->inertia);
    free(b->U);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

/* The bodies of several tests: the bar, a rigid torus, a distance field of a sphere. */
static bar model;
static sp_contact_pointshell ring;
static sp_field ring_field, ball_field;

static inline void make_models(void)
{
    OWNED(sp_surface) s = torus(24, 12, 0.3, 0.12), ball = new_surface(600, 1200);
    add_sphere(&ball, 8, NONE, 0.3);
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_REPULSION, 300, 3);
    ring = contact_shell(&made);
    ring_field = field_of(&s, 16);
    ball_field = field_of(&ball, 16);
    make_bar(&model);
}

static inline void free_models(void)
{
    sp_contact_pointshell_free(&ring);
    sp_field_free(&ring_field);
    sp_field_free(&ball_field);
    bar_free(&model);
}

static inline sp_free_body *free_bar_body(double step)
{
    const sp_free_parameters p = {.step = step};
    sp_reduced_force force;
    sp_free_body *body;
    CHECK_OK(sp_linear_force_new(&context, BAR, model.K, &force));
    CHECK_OK(sp_free_body_new(&context, &model.inertia, &force, &p, &body));
    return body;
}

static inline sp_inertia ball_inertia(double mass, double radius, const double centre[3])
{
    const double J = 0.4 * mass * radius * radius;
    sp_inertia inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, mass, centre, (double[6]){J, J, J, 0, 0, 0}, &inertia));
    return inertia;
}

static inline sp_free_body *rigid(const sp_inertia *inertia, double step)
{
    const sp_free_parameters p = {.step = step};
    sp_free_body *body;
    CHECK_OK(sp_free_body_new(&context, inertia, NULL, &p, &body));
    return body;
}

static inline sp_pose at_place(double x, double y, double z)
{
    return (sp_pose){{x, y, z}, {1, 0, 0, 0}};
}

static inline sp_contact_scene_parameters parameters_of(double step, double stiffness)
{
    return (sp_contact_scene_parameters){
        .step = step,
        .penalty = {.stiffness = stiffness, .limit = INFINITY},
        .pulse = INFINITY,
        .limits = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true, .coherence = true},
        .integrator = {.kind = SP_NEWMARK, .beta = 0.25, .gamma = 0.5},
        .coupling = {.body = -1}};
}

static inline sp_contact_scene *new_world(const sp_contact_scene_parameters *p, int64_t count,
                                          const sp_contact_scene_body *bodies, int64_t pairs,
                                          const sp_contact_scene_pair *pair, bool balls)
{
    sp_contact_scene *world;
    CHECK_OK(sp_contact_scene_new(&context, p, count, bodies, pairs, pair, balls, &world));
    return world;
}

static inline double total_energy(sp_contact_scene *world)
{
    double e[3];
    sp_contact_scene_energies(world, e);
    return e[0] + e[1] + e[2];
}

static inline sp_contact_pointshell moving_point(double z)
{
    sp_pointshell pointshell = point_shell((double[3]){0, 0, z}, UP);
    pointshell.modes = 1;
    pointshell.U = sp_pool_new(&pointshell.pool, 3, sizeof(double));
    pointshell.dN = sp_pool_new(&pointshell.pool, 3, sizeof(double));
    pointshell.U[2] = 1;
    CHECK_OK(sp_pointshell_bounds(&context, &pointshell));
    return contact_shell(&pointshell);
}

/* A box of 0.4 × 0.6 × 0.8 m with its corners as points; its moments are so large that translation is the stiffest. */
static inline sp_contact_pointshell corners(void)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.2, -0.3, -0.4}, (double[3]){0.2, 0.3, 0.4});
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_VERTICES, 8, 1);
    return contact_shell(&made);
}

BEFORE_TESTS()
{
    make_models();
}

AFTER_TESTS()
{
    free_models();
}

#endif
