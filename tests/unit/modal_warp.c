/* Modal warping: rotation fields, rigid rotations, the rate of the shape, and loads that turn with it. */
#include "model/modal_warp.h"
#include "fixture.h"
#include "geometry/pose.h"
#include "model/models.h"
#include "model/warped_points.h"

static const double axis[3] = {0.8, -1.1, 1.9}, centre[3] = {0.2, -0.3, 0.5}; /* rad, m */

/* The linear displacement of a rotation about an axis through a point. */
static void turn_linearly(const sp_mesh *mesh, double *u)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double arm[3];
        for (int k = 0; k < 3; k++)
            arm[k] = mesh->vertices[3 * v + k] - centre[k];
        sp_cross3(axis, arm, u + 3 * v);
    }
}

/* Of any distorted body of hexahedra or tetrahedra: w is the axis, the warped shape the rotated body. */
TEST(rigid_rotations)
{
    for (int variant = 0; variant < 2; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_modal_warp) warp;
        double q[4], R[9], worst[2] = {0};
        if (variant == 0)
            make_box(3, 2, 2, 0.2, 0.1, &mesh);
        else
            make_variant(2, &mesh);
        CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
        double *u = test_new(12 * mesh.vertex_count, 8), *w = u + 3 * mesh.vertex_count;
        turn_linearly(&mesh, u);
        sp_modal_warp_rotations(&warp, u, w);
        sp_modal_warp_apply(&warp, u, NULL, w + 3 * mesh.vertex_count);
        sp_quaternion_from_vector(axis, q);
        sp_quaternion_matrix(q, R);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int k = 0; k < 3; k++) {
                double x = centre[k];
                for (int l = 0; l < 3; l++)
                    x += R[3 * k + l] * (mesh.vertices[3 * v + l] - centre[l]);
                worst[0] = fmax(worst[0], fabs(w[3 * v + k] - axis[k]));
                worst[1] = fmax(worst[1], fabs(mesh.vertices[3 * v + k] + u[3 * v + k] - x));
            }
        NOTE("rotation vectors within %.1e, vertices within %.1e m", worst[0], worst[1]);
        CHECK(worst[0] < 1e-12 && worst[1] < 1e-12, "%g %g", worst[0], worst[1]);
    }
}

/* Velocities are the derivative of the shape: central differences converge to them, at small and at large angles, where
 * the coefficients are a series and in closed form. */
TEST(rates)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_modal_warp) warp;
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
    const int64_t rows = 3 * mesh.vertex_count;
    double *all = test_new(8 * rows, 8), *u = all, *v = all + rows, *x = all + 2 * rows, *rate = all + 3 * rows,
           *work = all + 6 * rows;
    for (int size = 0; size < 2; size++) {
        double error[3];
        random_field(rows, 1, u);
        random_field(rows, 2, v);
        for (int64_t i = 0; i < rows; i++) {
            u[i] *= size ? 0.2 : 0.005;
            v[i] *= 0.2;
        }
        for (int level = 0; level < 3; level++) {
            const double h = 0.02 / (1 << level);
            memcpy(x, u, (size_t)rows * 8);
            memcpy(rate, v, (size_t)rows * 8);
            sp_modal_warp_apply(&warp, x, rate, work);
            error[level] = 0;
            for (int64_t i = 0; i < rows; i++) {
                all[4 * rows + i] = u[i] + h * v[i];
                all[5 * rows + i] = u[i] - h * v[i];
            }
            sp_modal_warp_apply(&warp, all + 4 * rows, NULL, work);
            sp_modal_warp_apply(&warp, all + 5 * rows, NULL, work);
            for (int64_t i = 0; i < rows; i++)
                error[level] = fmax(error[level], fabs((all[4 * rows + i] - all[5 * rows + i]) / (2 * h) - rate[i]));
        }
        CHECK_ORDERS(error, 2, 0.05, 0.05, "%s rotations", size ? "large" : "small");
    }
}

/* A body that turns as a whole by one coordinate: a load on a vertex acts in the turned axes, so that its generalized
 * force is that of the force turned back. */
TEST(turned_loads)
{
    const sp_load loads[2] = {{.start = 0,
                               .end = 0.5,
                               .kind = SP_LOAD_VERTEX,
                               .id = 7,
                               .force = {3, -2, 5},
                               .course = {.kind = SP_COURSE_RAMP}},
                              {.start = 0.2, .end = INFINITY, .kind = SP_LOAD_VERTEX, .id = 11, .force = {-1, 4, 2}}};
    const double gravity[3] = {0, 1, -9.81}, angle[3] = {-0.7 * axis[0], -0.7 * axis[1], -0.7 * axis[2]};
    double lambda = 1, f, added, expected = 0, q[4], R[9], amplitude = 0.7, no_gravity[3] = {0};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_modal_warp) warp;
    FREED_BY(sp_modal_system_free) sp_system system;
    OWNED(sp_load_set) set;
    sp_warped_loads warped;
    make_box(2, 2, 1, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
    CHECK_OK(sp_modal_system_new(&context, 1, &lambda, &system));
    double *U = test_new(3 * mesh.vertex_count, 8), *mass = test_new(mesh.vertex_count, 8);
    turn_linearly(&mesh, U);
    CHECK_OK(sp_load_set_new(&context, &body, U, 1, 2, loads, gravity, &system, &set));
    CHECK_OK(sp_warped_loads_new(&context, &body, &warp, U, 1, 2, loads, gravity, false, &set, &warped));
    const sp_external_loads external = sp_warped_loads_external(&warped);
    external.mean(external.self, 0.3, 0.4, &f);
    external.follow(external.self, 0.3, 0.4, &amplitude, NULL, &added);
    sp_fe_space_vertex_mass(&body, false, mass);
    sp_quaternion_from_vector(angle, q);
    sp_quaternion_matrix(q, R);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                double F = mass[v] * gravity[l];
                if (v == 7)
                    F += loads[0].force[l] * 0.35 / 0.5; /* the middle of the ramp in this step */
                if (v == 11)
                    F += loads[1].force[l];
                expected += U[3 * v + k] * R[3 * k + l] * F;
            }
    CHECK_NEAR(f + added, expected, 1e-11 * fabs(expected));
    CHECK(fabs(added) > 0.01 * fabs(expected), "the turn matters: %g of %g", added, expected);
    sp_warped_loads_free(&warped);
    CHECK_OK(sp_warped_loads_new(&context, &body, &warp, U, 1, 2, loads, no_gravity, false, &set, &warped));
    CHECK(warped.count == 2, "%lld vertices with loads", (long long)warped.count);
    sp_warped_loads_free(&warped);
}

/* Positions in single precision are those in double precision, at small rotations and at ones beyond π, for a number of
 * vertices that is no multiple of a block. */
TEST(points_to_show)
{
    enum { FIELDS = 4 };
    const sp_pose pose = {{3, -2, 1}, {0.5, -0.5, 0.5, 0.5}};
    OWNED(sp_mesh) mesh;
    OWNED(sp_modal_warp) warp;
    sp_warped_points points;
    double R[9];
    make_box(4, 3, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
    sp_quaternion_matrix(pose.q, R);
    const int64_t rows = 3 * mesh.vertex_count, count = mesh.vertex_count - 3;
    double *U = test_new(rows * FIELDS, 8), *u = test_new(rows, 8), *work = test_new(2 * rows, 8);
    int64_t *vertex = test_new(count, sizeof *vertex);
    float *x = test_new(3 * count, sizeof *x);
    random_field(rows * FIELDS, 4, U);
    turn_linearly(&mesh, U); /* by 2.3 rad for a coordinate of 1 */
    for (int64_t p = 0; p < count; p++)
        vertex[p] = mesh.vertex_count - 1 - p;
    CHECK_OK(sp_warped_points_new(&context, &warp, U, FIELDS, count, vertex, &points));
    for (int size = 0; size < 3; size++) {
        const double q[FIELDS] = {(const double[]){1e-3, 0.4, 1.7}[size], 0.01, -0.02, 0.015};
        double worst = 0;
        memset(u, 0, (size_t)rows * 8);
        for (int j = 0; j < FIELDS; j++)
            for (int64_t i = 0; i < rows; i++)
                u[i] += U[j * rows + i] * q[j];
        sp_modal_warp_apply(&warp, u, NULL, work);
        sp_warped_points_place(&points, q, &pose, x);
        for (int64_t p = 0; p < count; p++)
            for (int k = 0; k < 3; k++) {
                double expected = pose.x[k];
                for (int l = 0; l < 3; l++)
                    expected += R[3 * k + l] * (mesh.vertices[3 * vertex[p] + l] + u[3 * vertex[p] + l]);
                worst = fmax(worst, fabs(x[3 * p + k] - expected));
            }
        NOTE("rotations of %.2g rad: %.1e m", 2.3 * q[0], worst);
        CHECK(worst < 5e-6, "%g m", worst); /* a few roundings of coordinates up to 5 m */
    }
    sp_warped_points_free(&points);
    vertex[1] = mesh.vertex_count;
    CHECK(sp_warped_points_new(&context, &warp, U, FIELDS, count, vertex, &points) == SP_USAGE, "a vertex too many");
}
