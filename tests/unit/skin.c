/* Skins: the motion of bones, weights by diffusion, and inertial forces against differences of the blended motion. */
#include "fixture.h"
#include "model/modal_warp.h"
#include "skin/inertia.h"
#include "skin/weights.h"

enum { R = 4, BONES = 3 };

/* An origin that swings, and a rotation about a fixed axis by amplitude × sin(w t + phase). */
typedef struct swing {
    double axis[3], amplitude, w, phase, way[3];
} swing;

static sp_pose along(const void *data, double t, double velocity[6])
{
    const swing *s = data;
    const double sine = sin(s->w * t + s->phase), rate = s->w * cos(s->w * t + s->phase);
    double turn[3];
    sp_pose pose;
    for (int k = 0; k < 3; k++) {
        pose.x[k] = s->way[k] * sine;
        turn[k] = s->axis[k] * s->amplitude * sine;
        if (!velocity)
            continue;
        velocity[k] = s->way[k] * rate;
        velocity[3 + k] = s->axis[k] * s->amplitude * rate;
    }
    sp_quaternion_from_vector(turn, pose.q);
    return pose;
}

/* A chain of two bones, and a bone of its own. */
static const swing swings[BONES] = {{{2. / 3, -1. / 3, 2. / 3}, 0.7, 5, 0.3, {0.2, -0.1, 0.3}},
                                    {{0, 0.6, -0.8}, 1.1, 7, 1.1, {0, 0, 0}},
                                    {{1, 0, 0}, -0.9, 4, 2, {0.1, 0.4, -0.2}}};
static const sp_rig_bone bones[BONES] = {{-1, {0.1, 0.2, 0.3}, along, &swings[0]},
                                         {0, {0.5, -0.1, 0.2}, along, &swings[1]},
                                         {-1, {0, 0, 0}, along, &swings[2]}};
static const sp_rig rig = {BONES, bones};

/* Velocities are the derivatives of the poses, and a joint stays closed. */
TEST(poses)
{
    const double X[3] = {0.9, -0.4, 0.6}, t = 0.37;
    for (int b = 0; b < BONES; b++) {
        double velocity[6], error[3], R0[9], carried[3], arm[3];
        const sp_pose pose = sp_rig_pose(&rig, b, t, velocity);
        sp_quaternion_matrix(pose.q, R0);
        for (int k = 0; k < 3; k++)
            arm[k] = sp_dot3(R0 + 3 * k, X);
        sp_cross3(velocity + 3, arm, carried);
        for (int level = 0; level < 3; level++) {
            const double h = 0.02 / (1 << level);
            double x[2][3];
            for (int side = 0; side < 2; side++) {
                double matrix[9];
                const sp_pose at = sp_rig_pose(&rig, b, side ? t + h : t - h, NULL);
                sp_quaternion_matrix(at.q, matrix);
                for (int k = 0; k < 3; k++)
                    x[side][k] = at.x[k] + sp_dot3(matrix + 3 * k, X);
            }
            error[level] = 0;
            for (int k = 0; k < 3; k++)
                error[level] = fmax(error[level], fabs((x[1][k] - x[0][k]) / (2 * h) - velocity[k] - carried[k]));
        }
        CHECK_ORDERS(error, 2, 0.05, 0.05, "velocity of bone %d", b);
    }
    double place[2][3];
    for (int b = 0; b < 2; b++) {
        double matrix[9];
        const sp_pose at = sp_rig_pose(&rig, b, t, NULL);
        sp_quaternion_matrix(at.q, matrix);
        for (int k = 0; k < 3; k++)
            place[b][k] = at.x[k] + sp_dot3(matrix + 3 * k, bones[1].at);
    }
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(place[0][k], place[1][k], 1e-15);
}

/* ---- weights ---- */

/* In a bar whose ends are attached, weights are linear along it, whatever the elements are. */
TEST(linear_weights)
{
    for (int split = 0; split < 2; split++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_skin) skin;
        sp_skin_report report;
        double worst = 0;
        make_box(6, 2, 2, 0.25, 0, &mesh);
        if (split)
            split_mesh(&mesh);
        int64_t *attached = test_new(mesh.vertex_count, sizeof *attached);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            attached[v] = mesh.vertices[3 * v] < 0.3 ? 1 : mesh.vertices[3 * v] > 1.2 ? 0 : -1;
        CHECK_OK(sp_skin_weights(&context, &mesh, 2, attached, 4, &skin, &report));
        CHECK(skin.influences == 2 && report.solved == 27 && report.dropped < 1e-14, "%lld influences, %lld solved",
              (long long)skin.influences, (long long)report.solved);
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            const double exact = fmin(fmax((mesh.vertices[3 * v] - 0.25) / 1, 0), 1); /* of bone 0 */
            for (int k = 0; k < 2; k++) {
                const double w = skin.weight[2 * v + k], of = skin.bone[2 * v + k] == 0 ? exact : 1 - exact;
                worst = fmax(worst, w > 0 ? fabs(w - of) : 0);
            }
            CHECK_NEAR(skin.weight[2 * v] + skin.weight[2 * v + 1], 1, 1e-15);
            CHECK(skin.weight[2 * v] >= skin.weight[2 * v + 1], "order");
        }
        NOTE("%s: weights within %.1e", split ? "tetrahedra" : "hexahedra", worst);
        CHECK(worst < 1e-14, "%g", worst);
    }
}

/* Few influences, and what is refused. */
TEST(kept_weights)
{
    OWNED(sp_mesh) mesh;
    sp_skin skin;
    sp_skin_report report;
    make_box(6, 2, 2, 0.25, 0.1, &mesh);
    int64_t *attached = test_new(mesh.vertex_count, sizeof *attached);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        attached[v] = v == 3 ? 0 : v == 40 ? 1 : v == 60 ? 2 : -1;
    CHECK_OK(sp_skin_weights(&context, &mesh, 3, attached, 1, &skin, &report));
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        CHECK(skin.weight[v] == 1 && skin.attached[v] == attached[v], "weight %g", skin.weight[v]);
    CHECK(report.dropped > 0.3 && report.dropped < 2 / 3. + 1e-12, "%g", report.dropped);
    sp_skin_free(&skin);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        attached[v] = -1;
    CHECK(sp_skin_weights(&context, &mesh, 3, attached, 4, &skin, &report) == SP_INPUT &&
              !strncmp(context.message, "the piece with vertex 0 has no bone", 35),
          "%s", context.message);
    CHECK(!skin.bone && !skin.pool.first, "freed");
}

/* ---- inertial forces ---- */

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t) * (int64_t *)self * sizeof *f);
}

/* Random weights of two bones at most vertices, of all at others. */
static void make_skin(int64_t vertices, int64_t count, sp_skin *skin)
{
    double *random = test_new(vertices * count, 8);
    random_field(vertices * count, 9, random);
    *skin = (sp_skin){.vertex_count = vertices, .bone_count = count, .influences = count};
    skin->bone = sp_pool_new(&skin->pool, vertices * count, sizeof *skin->bone);
    skin->weight = sp_pool_new(&skin->pool, vertices * count, sizeof *skin->weight);
    for (int64_t v = 0; v < vertices; v++) {
        double sum = 0;
        for (int64_t k = 0; k < count; k++) {
            skin->bone[v * count + k] = k;
            skin->weight[v * count + k] = k == v % 4 ? 0 : fabs(random[v * count + k]) + 0.1;
            sum += skin->weight[v * count + k];
        }
        for (int64_t k = 0; k < count; k++)
            skin->weight[v * count + k] /= sum;
    }
}

/* Blended positions of X + U (q + s v) at t, [3·vertices]. */
static void blend(const sp_mesh *mesh, const sp_skin *skin, const double *U, const double *q, const double *v, double s,
                  double t, double *x)
{
    sp_bone_motion motion[BONES];
    sp_rig_motion(&rig, t, motion);
    for (int64_t p = 0; p < mesh->vertex_count; p++) {
        const double *X = mesh->vertices + 3 * p;
        double u[3] = {0};
        for (int j = 0; j < R; j++)
            for (int k = 0; k < 3; k++)
                u[k] += U[3 * (j * mesh->vertex_count + p) + k] * (q[j] + s * v[j]);
        sp_skin_blend(skin, motion, p, X, u, NULL);
        for (int k = 0; k < 3; k++)
            x[3 * p + k] = X[k] + u[k];
    }
}

/* −Uᵀ Aᵀ M (ẍ − g) with ẍ by differences of the blended positions for q + (s − t) v, and A by the blended positions of
 * shifted vertices: nothing but the kinematics of blending. */
static void by_differences(const sp_fe_space *body, bool lumped, const sp_skin *skin, const double *U, const double *q,
                           const double *v, double t, const double g[3], double *f)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t vertices = mesh->vertex_count;
    const double d = 1e-3, weight[5] = {-1 / 12., 16 / 12., -30 / 12., 16 / 12., -1 / 12.};
    double *x = test_new(9 * vertices, 8), *a = x + 3 * vertices, *Ma = a + 3 * vertices, *mass = test_new(vertices, 8);
    sp_bone_motion motion[BONES];
    for (int side = -2; side <= 2; side++) {
        blend(mesh, skin, U, q, v, side * d, t + side * d, x);
        for (int64_t i = 0; i < 3 * vertices; i++)
            a[i] += weight[side + 2] * x[i] / (d * d) - (side == 0 ? g[i % 3] : 0);
    }
    sp_fe_space_vertex_mass(body, true, mass);
    if (lumped)
        for (int64_t i = 0; i < 3 * vertices; i++)
            Ma[i] = mass[i / 3] * a[i];
    else
        sp_fe_space_mass_times(&context, body, 3, a, Ma);
    sp_rig_motion(&rig, t, motion);
    memset(f, 0, R * sizeof *f);
    for (int64_t p = 0; p < vertices; p++)
        for (int k = 0; k < 3; k++) {
            double column[3] = {k == 0, k == 1, k == 2}, origin[3] = {0};
            sp_skin_blend(skin, motion, p, (const double[3]){0, 0, 0}, column, NULL);
            sp_skin_blend(skin, motion, p, (const double[3]){0, 0, 0}, origin, NULL);
            for (int j = 0; j < R; j++)
                for (int l = 0; l < 3; l++)
                    f[j] -= U[3 * (j * vertices + p) + k] * (column[l] - origin[l]) * Ma[3 * p + l];
        }
}

/* Velocities of blended vertices are the rates of their positions. */
TEST(velocities)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_skin) skin;
    sp_bone_motion motion[BONES];
    double q[R], v[R], error[3];
    const double t = 0.43;
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    make_skin(mesh.vertex_count, BONES, &skin);
    const int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * R, 8), *x = test_new(2 * rows, 8);
    random_field(rows * R, 3, U);
    random_field(R, 5, q);
    random_field(R, 6, v);
    sp_rig_motion(&rig, t, motion);
    for (int level = 0; level < 3; level++) {
        const double h = 0.02 / (1 << level);
        blend(&mesh, &skin, U, q, v, h, t + h, x);
        blend(&mesh, &skin, U, q, v, -h, t - h, x + rows);
        error[level] = 0;
        for (int64_t p = 0; p < mesh.vertex_count; p++) {
            double u[3] = {0}, rate[3] = {0};
            for (int i = 0; i < 3 * R; i++) {
                u[i % 3] += U[i / 3 * rows + 3 * p + i % 3] * q[i / 3];
                rate[i % 3] += U[i / 3 * rows + 3 * p + i % 3] * v[i / 3];
            }
            sp_skin_blend(&skin, motion, p, mesh.vertices + 3 * p, u, rate);
            for (int k = 0; k < 3; k++)
                error[level] = fmax(error[level], fabs((x[3 * p + k] - x[rows + 3 * p + k]) / (2 * h) - rate[k]));
        }
    }
    CHECK_ORDERS(error, 2, 0.05, 0.05, "velocities");
}

/* The forces of an interval converge to those of its middle with the square of its length. */
TEST(forces)
{
    const double gravity[3] = {0.3, -0.2, -9.81}, t = 0.43;
    const int64_t r = R;
    const sp_external_loads none = {.self = (void *)&r, .mean = no_force};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_skin) skin;
    double q[R], v[R];
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    make_skin(mesh.vertex_count, BONES, &skin);
    double *U = test_new(3 * mesh.vertex_count * R, 8);
    random_field(3 * mesh.vertex_count * R, 3, U);
    random_field(R, 5, q);
    random_field(R, 6, v);
    for (int lumped = 0; lumped < 2; lumped++) {
        OWNED(sp_skin_inertia) inertia;
        double expected[R], f[R], g[R], error[3], size = 0;
        by_differences(&body, lumped, &skin, U, q, v, t, gravity, expected);
        CHECK_OK(sp_skin_inertia_new(&context, &body, lumped, 2, R, U, &skin, &rig, gravity, &none, &inertia));
        const sp_external_loads loads = sp_skin_inertia_loads(&inertia);
        for (int level = 0; level < 3; level++) {
            const double h = 0.02 / (1 << level);
            loads.mean(loads.self, t - h / 2, t + h / 2, f);
            loads.follow(loads.self, t - h / 2, t + h / 2, q, v, g);
            error[level] = 0;
            for (int j = 0; j < R; j++) {
                error[level] = fmax(error[level], fabs(0.5 * (f[j] + g[j]) - expected[j])); /* 2: the scale */
                size = fmax(size, fabs(expected[j]));
            }
        }
        NOTE("forces up to %.3g N m/[q], %lld pairs of bones", size, (long long)inertia.pair_count);
        CHECK(error[2] < 1e-3 * size, "%g of %g", error[2], size);
        CHECK_ORDERS(error, 2, 0.05, 0.05, "%s mass", lumped ? "lumped" : "consistent");
    }
}

/* One bone of weight 1 is a moving frame. */
TEST(one_bone)
{
    const double gravity[3] = {0.3, -0.2, -9.81};
    const int64_t r = R;
    const sp_external_loads none = {.self = (void *)&r, .mean = no_force};
    const sp_rig one = {1, &bones[2]};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    double q[R], v[R], worst = 0, size = 0;
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    double *U = test_new(3 * mesh.vertex_count * R, 8), *weight = test_new(mesh.vertex_count, 8);
    int64_t *zero = test_new(mesh.vertex_count, sizeof *zero);
    random_field(3 * mesh.vertex_count * R, 3, U);
    random_field(R, 5, q);
    random_field(R, 6, v);
    for (int64_t p = 0; p < mesh.vertex_count; p++)
        weight[p] = 1;
    const sp_skin skin = {
        .vertex_count = mesh.vertex_count, .bone_count = 1, .influences = 1, .bone = zero, .weight = weight};
    for (int lumped = 0; lumped < 2; lumped++) {
        OWNED(sp_skin_inertia) inertia;
        OWNED(sp_moving_frame) frame;
        OWNED(sp_inertia) integrals;
        double f[4][R];
        CHECK_OK(sp_inertia_of_body(&context, &body, lumped, R, U, &integrals));
        CHECK_OK(sp_moving_frame_new(&context, &integrals, 1, along, &swings[2], true, gravity, &none, &frame));
        CHECK_OK(sp_skin_inertia_new(&context, &body, lumped, 1, R, U, &skin, &one, gravity, &none, &inertia));
        const sp_external_loads of[2] = {sp_moving_frame_loads(&frame), sp_skin_inertia_loads(&inertia)};
        for (int s = 0; s < 2; s++) {
            of[s].mean(of[s].self, 0.2, 0.23, f[s]);
            of[s].follow(of[s].self, 0.2, 0.23, q, v, f[2 + s]);
        }
        for (int i = 0; i < 2 * R; i++) {
            worst = fmax(worst, fabs(f[i / R * 2][i % R] - f[i / R * 2 + 1][i % R]));
            size = fmax(size, fabs(f[i / R * 2][i % R]));
        }
    }
    NOTE("forces differ by %.1e of %.2g", worst, size);
    CHECK(worst < 1e-13 * size, "%g of %g", worst, size);
}

/* Blended positions of the warped shape X + Ř(w) U (q + s v) with the bones at t [3·vertices]. */
static void blend_warped(const sp_mesh *mesh, const sp_modal_warp *warp, const sp_skin *skin, const double *U,
                         const double *q, const double *v, double s, double t, double *x)
{
    const int64_t rows = 3 * mesh->vertex_count;
    double *work = test_new(2 * rows, 8);
    sp_bone_motion motion[BONES];
    memset(x, 0, (size_t)rows * sizeof *x);
    for (int j = 0; j < R; j++)
        for (int64_t i = 0; i < rows; i++)
            x[i] += U[j * rows + i] * (q[j] + s * v[j]);
    sp_modal_warp_apply(warp, x, NULL, work);
    sp_rig_motion(&rig, t, motion);
    for (int64_t p = 0; p < mesh->vertex_count; p++) {
        sp_skin_blend(skin, motion, p, mesh->vertices + 3 * p, x + 3 * p, NULL);
        for (int k = 0; k < 3; k++)
            x[3 * p + k] += mesh->vertices[3 * p + k];
    }
}

/* −Σ m Uᵀ exp(−[w]) Aᵀ (ẍ − A ü − g), with the acceleration A ü of the deformation under bones at rest left out, since
 * the mass matrix of the model stands for it: all by differences of blended warped positions. */
static void warped_by_differences(const sp_fe_space *body, const sp_modal_warp *warp, const sp_skin *skin,
                                  const double *U, const double *q, const double *v, double t, const double g[3],
                                  double *f)
{
    static const double weight[5] = {-1 / 12., 16 / 12., -30 / 12., 16 / 12., -1 / 12.};
    const sp_mesh *mesh = body->mesh;
    const int64_t vertices = mesh->vertex_count, rows = 3 * vertices;
    const double d = 1e-3;
    double *x = test_new(4 * rows, 8), *still = x + rows, *a = still + rows, *w = a + rows,
           *mass = test_new(vertices, 8);
    sp_bone_motion motion[BONES];

    for (int side = -2; side <= 2; side++) {
        blend_warped(mesh, warp, skin, U, q, v, side * d, t + side * d, x);
        blend_warped(mesh, warp, skin, U, q, v, side * d, t, still);
        for (int64_t i = 0; i < rows; i++)
            a[i] += weight[side + 2] * (x[i] - still[i]) / (d * d) - (side == 0 ? g[i % 3] : 0);
    }

    memset(x, 0, (size_t)rows * sizeof *x);
    for (int j = 0; j < R; j++)
        for (int64_t i = 0; i < rows; i++)
            x[i] += U[j * rows + i] * q[j];
    sp_modal_warp_rotations(warp, x, w);
    sp_fe_space_vertex_mass(body, true, mass);
    sp_rig_motion(&rig, t, motion);
    memset(f, 0, R * sizeof *f);
    for (int64_t p = 0; p < vertices; p++) {
        double turn[4], E[9];
        sp_quaternion_from_vector(w + 3 * p, turn);
        sp_quaternion_matrix(turn, E);
        for (int k = 0; k < 3; k++) {
            /* A exp([w]) e_k */
            double column[3] = {E[k], E[3 + k], E[6 + k]}, origin[3] = {0};
            sp_skin_blend(skin, motion, p, (const double[3]){0, 0, 0}, column, NULL);
            sp_skin_blend(skin, motion, p, (const double[3]){0, 0, 0}, origin, NULL);
            for (int j = 0; j < R; j++)
                for (int l = 0; l < 3; l++)
                    f[j] -= mass[p] * U[j * rows + 3 * p + k] * (column[l] - origin[l]) * a[3 * p + l];
        }
    }
}

static void sum_of_loads(const sp_external_loads *loads, double t0, double t1, const double *q, const double *v,
                         double *f)
{
    double g[R];
    loads->mean(loads->self, t0, t1, f);
    loads->follow(loads->self, t0, t1, q, v, g);
    for (int j = 0; j < R; j++)
        f[j] += g[j];
}

/* Warped forces converge to those of the warped motion, and for small q to those without warping. */
TEST(warped_forces)
{
    const double gravity[3] = {0.3, -0.2, -9.81}, t = 0.43;
    const int64_t r = R;
    const sp_external_loads none = {.self = (void *)&r, .mean = no_force};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_modal_warp) warp;
    OWNED(sp_skin) skin;
    OWNED(sp_skin_inertia) inertia, linear;
    double q[R], v[R], expected[R], f[R], g[R], error[3], size = 0, change = 0;
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
    make_skin(mesh.vertex_count, BONES, &skin);
    double *U = test_new(3 * mesh.vertex_count * R, 8);
    random_field(3 * mesh.vertex_count * R, 3, U);
    random_field(R, 5, q);
    random_field(R, 6, v);
    for (int j = 0; j < R; j++) /* rotations of about one rad */
        q[j] *= 0.3, v[j] *= 0.3;

    CHECK_OK(sp_skin_inertia_new(&context, &body, true, 2, R, U, &skin, &rig, gravity, &none, &linear));
    CHECK_OK(sp_skin_inertia_new(&context, &body, true, 2, R, U, &skin, &rig, gravity, &none, &inertia));
    CHECK_OK(sp_skin_inertia_warp(&context, &body, &warp, U, true, 2, &inertia));
    const sp_external_loads loads = sp_skin_inertia_loads(&inertia), flat = sp_skin_inertia_loads(&linear);

    warped_by_differences(&body, &warp, &skin, U, q, v, t, gravity, expected);
    for (int level = 0; level < 3; level++) {
        const double h = 0.02 / (1 << level);
        sum_of_loads(&loads, t - h / 2, t + h / 2, q, v, f);
        sum_of_loads(&flat, t - h / 2, t + h / 2, q, v, g);
        error[level] = 0;
        for (int j = 0; j < R; j++) {
            error[level] = fmax(error[level], fabs(0.5 * f[j] - expected[j])); /* 2: the scale */
            size = fmax(size, fabs(expected[j]));
            change = fmax(change, fabs(0.5 * (f[j] - g[j])));
        }
    }
    NOTE("forces up to %.3g N m/[q], warping changes up to %.3g", size, change);
    CHECK(error[2] < 1e-3 * size && change > 0.1 * size, "%g of %g, %g", error[2], size, change);
    CHECK_ORDERS(error, 2, 0.05, 0.05, "warped forces");

    /* What warping changes vanishes with q. */
    for (int level = 0; level < 3; level++) {
        double small[R], rate[R];
        for (int j = 0; j < R; j++) {
            small[j] = ldexp(q[j], -8 - level);
            rate[j] = ldexp(v[j], -8 - level);
        }
        sum_of_loads(&loads, t, t + 0.01, small, rate, f);
        sum_of_loads(&flat, t, t + 0.01, small, rate, g);
        error[level] = 0;
        for (int j = 0; j < R; j++)
            error[level] = fmax(error[level], fabs(f[j] - g[j]));
    }
    CHECK_ORDERS(error, 1, 0.05, 0.05, "change of forces");
}

/* The motion of a bone after a constant rotation about its origin. */
typedef struct turned_swing {
    const swing *motion;
    double turn[3];
} turned_swing;

static sp_pose along_turned(const void *data, double t, double velocity[6])
{
    const turned_swing *s = data;
    double E[4];
    sp_pose pose = along(s->motion, t, velocity);
    sp_quaternion_from_vector(s->turn, E);
    sp_quaternion_multiply(pose.q, E, pose.q);
    return pose;
}

/* A body that one coordinate turns as a whole, by 0.9 rad, has the forces of the body at rest under a bone that is
 * turned by as much. */
TEST(warped_rotations)
{
    const double gravity[3] = {0.3, -0.2, -9.81}, axis[3] = {0.8, -0.4, 0.3}, q[R] = {0.9};
    const int64_t r = R;
    const sp_external_loads none = {.self = (void *)&r, .mean = no_force};
    const turned_swing turned = {&swings[2], {q[0] * axis[0], q[0] * axis[1], q[0] * axis[2]}};
    const sp_rig_bone bone = {-1, {0, 0, 0}, along_turned, &turned};
    const sp_rig one = {1, &bones[2]}, other = {1, &bone};
    double f[2][R], flat[R], rest[R] = {0}, still[R] = {0};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_modal_warp) warp;
    OWNED(sp_skin_inertia) inertia, at_rest;
    make_box(3, 2, 2, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_modal_warp_new(&context, &mesh, &warp));
    const int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * R, 8), *weight = test_new(mesh.vertex_count, 8);
    int64_t *zero = test_new(mesh.vertex_count, sizeof *zero);
    for (int64_t p = 0; p < mesh.vertex_count; p++) {
        sp_cross3(axis, mesh.vertices + 3 * p, U + 3 * p);
        weight[p] = 1;
    }
    random_field(rows * (R - 1), 3, U + rows);
    const sp_skin skin = {
        .vertex_count = mesh.vertex_count, .bone_count = 1, .influences = 1, .bone = zero, .weight = weight};
    CHECK_OK(sp_skin_inertia_new(&context, &body, true, 1, R, U, &skin, &one, gravity, &none, &inertia));
    CHECK_OK(sp_skin_inertia_new(&context, &body, true, 1, R, U, &skin, &other, gravity, &none, &at_rest));
    const sp_external_loads loads = sp_skin_inertia_loads(&inertia), expected = sp_skin_inertia_loads(&at_rest);
    sum_of_loads(&loads, 0.2, 0.23, q, still, flat);
    CHECK_OK(sp_skin_inertia_warp(&context, &body, &warp, U, true, 1, &inertia));
    sum_of_loads(&loads, 0.2, 0.23, q, still, f[0]);
    sum_of_loads(&expected, 0.2, 0.23, rest, still, f[1]);
    double worst = 0, size = 0, change = 0;
    for (int j = 0; j < R; j++) {
        worst = fmax(worst, fabs(f[0][j] - f[1][j]));
        size = fmax(size, fabs(f[1][j]));
        change = fmax(change, fabs(f[0][j] - flat[j]));
    }
    NOTE("forces differ by %.1e of %.2g, those without warping by %.2g", worst, size, change);
    CHECK(worst < 1e-12 * size && change > 0.1 * size, "%g of %g, %g", worst, size, change);
}
