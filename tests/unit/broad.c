/* Collision detection, broad phase: boxes against all pairs, and bounds against all points. */
#include "contact/broad.h"
#include "bodies.h"
#include "contact/bound.h"
#include "contact/deformed.h"
#include "contact/voxmap.h"
#include "contact_models.h"

OWNER(sp_broad)
OWNER(sp_deformed_field)
OWNER(sp_traversal)
OWNER(sp_voxmap)

enum { COUNT = 400 };

/* ---- boxes ---- */

enum crowd { SCATTERED, LATTICE, COINCIDENT, POINTS, HUGE_AND_TINY, UNBOUNDED, NOWHERE, LINE, FAR_APART, CROWDS };

static double side(uint64_t stream, uint64_t i, enum crowd crowd)
{
    const double x = random_in(stream + 50, i, 0, 1);
    switch (crowd) {
    case POINTS:
        return 0;
    case HUGE_AND_TINY:
        return pow(10, 30 * x - 20);
    case FAR_APART:
        return 1e-3 * x;
    default:
        return x;
    }
}

static void make_boxes(uint64_t stream, enum crowd crowd, sp_box *box)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            double x = random_in(stream, 3 * i + k, -4, 4), half = side(stream, 3 * i + k, crowd);
            if (crowd == LATTICE || crowd == POINTS) { /* many boxes just touch or coincide */
                x = floor(x);
                half = floor(2 * half) / 2;
            }
            if (crowd == COINCIDENT)
                x = i % 7 ? 1 : x;
            if (crowd == LINE)
                x *= k == stream % 3 ? 100 : 0.1;
            if (crowd == FAR_APART && i % 50 == 0)
                x *= 1e300;
            box[i].low[k] = x - half;
            box[i].high[k] = x + half;
            if (crowd == UNBOUNDED && (i + k) % 9 == 0)
                box[i].low[k] = -INFINITY;
            if (crowd == UNBOUNDED && (i + 2 * k) % 11 == 0)
                box[i].high[k] = INFINITY;
            if (crowd == NOWHERE && i % 3 == 0 && k == i % 2)
                box[i].low[k] = i % 2 ? NAN : x + half + 1;
        }
    }
}

/* In every order of the sets of boxes, because the tree starts with the order of the previous run. */
TEST(boxes_against_all_pairs)
{
    static sp_box box[COUNT];
    static bool still[COUNT];
    OWNED_POINTER(sp_broad) *broad;
    OWNED(sp_list) list = {0};
    int64_t pairs = 0;
    CHECK_OK(sp_broad_new(&context, COUNT, &broad));
    for (uint64_t t = 0; t < 6 * CROWDS; t++) {
        const enum crowd crowd = (enum crowd)(t * 4 % CROWDS);
        const bool some_still = t % 2;
        make_boxes(300 + t / 3, crowd, box);
        for (int i = 0; i < COUNT; i++)
            still[i] = i % 3 == 0 || (i > 100 && i < 200);
        CHECK_OK(sp_broad_find(&context, broad, box, some_still ? still : NULL, &list));
        int64_t next = 0, wrong = 0;
        const int32_t *pair = list.data;
        for (int i = 0; i < COUNT; i++)
            for (int j = i + 1; j < COUNT; j++) {
                bool meet = !(some_still && still[i] && still[j]);
                for (int k = 0; k < 3; k++)
                    meet = meet && fmax(box[i].low[k], box[j].low[k]) <= fmin(box[i].high[k], box[j].high[k]) &&
                           box[i].low[k] <= box[i].high[k] && box[j].low[k] <= box[j].high[k];
                const bool found = next < list.count && pair[2 * next] == i && pair[2 * next + 1] == j;
                wrong += found != meet;
                next += found;
            }
        CHECK(wrong == 0 && next == list.count, "crowd %d: %lld wrong of %lld", crowd, (long long)wrong,
              (long long)list.count);
        pairs += list.count;
    }
    CHECK(pairs > 10000, "%lld pairs", (long long)pairs);
}

TEST(few_boxes)
{
    static const sp_box whole = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}},
                        unit = {{0, 0, 0}, {1, 1, 1}};
    for (int64_t n = 0; n < 12; n++) {
        sp_box box[12];
        OWNED_POINTER(sp_broad) *broad;
        OWNED(sp_list) list = {0};
        CHECK_OK(sp_broad_new(&context, n, &broad));
        for (int t = 0; t < 2; t++) {
            for (int64_t i = 0; i < n; i++)
                box[i] = t ? whole : unit;
            CHECK_OK(sp_broad_find(&context, broad, box, NULL, &list));
            CHECK(list.count == n * (n - 1) / 2, "%lld of %lld", (long long)list.count, (long long)n);
        }
    }
}

/* ---- bounds ---- */

static sp_distance plane_of(uint64_t stream)
{
    sp_distance plane = {.kind = SP_DISTANCE_PLANE, .offset = random_in(stream, 0, -1, 1)};
    random_direction(stream, 1, plane.normal);
    return plane;
}

/* Points of a shell that are in contact: of all of them. */
static int64_t count_touching(const sp_contact_pointshell *pointshell, const sp_pose *pose, const double *q,
                              const sp_distance *distance, const sp_pose *field)
{
    double A[9], B[9];
    int64_t count = 0;
    sp_quaternion_matrix(pose->q, A);
    sp_quaternion_matrix(field->q, B);
    for (int64_t p = 0; p < pointshell->count; p++) {
        double x[3], world[3], at[3];
        sp_contact_pointshell_point(pointshell, p, q, x);
        sp_rotate(A, x, world);
        for (int k = 0; k < 3; k++)
            world[k] += pose->x[k] - field->x[k];
        sp_rotate_back(B, world, at);
        count += distance->kind == SP_DISTANCE_VOXMAP ? sp_voxmap_at(distance->voxmap, at, NULL) != SP_VOXEL_FREE
                                                      : sp_distance_at(distance, at, NULL) < 0;
    }
    return count;
}

/* Random poses in which bounds nearly meet: no point is in contact where the bounds are apart or the bodies are not
 * near. */
static void try_bounds(const sp_contact_pointshell *pointshell, const double *q, const sp_distance *distance,
                       double reach, uint64_t stream, const char *what)
{
    enum { TRIES = 4000 };
    int64_t missed = 0, touching = 0, apart = 0;
    for (uint64_t t = 0; t < TRIES; t++) {
        sp_pose pose, field;
        sp_bound points, solid;
        sp_box box, solid_box;
        for (uint64_t k = 0; k < 3; k++) {
            field.x[k] = random_in(stream, 6 * t + k, -3, 3);
            pose.x[k] = field.x[k] + random_in(stream, 6 * t + 3 + k, -reach, reach);
        }
        random_rotation(stream, 2 * t, pose.q);
        random_rotation(stream, 2 * t + 1, field.q);
        sp_bound_of_pointshell(pointshell, q, &points);
        sp_bound_of_distance(distance, &solid);
        sp_bound_place(&points, &pose, &box);
        sp_bound_place(&solid, &field, &solid_box);
        const bool near =
            sp_boxes_overlap(&box, &solid_box) && !sp_bounds_apart(&points, &pose, distance, &solid, &field);
        const int64_t count = count_touching(pointshell, &pose, q, distance, &field);
        missed += !near && count > 0;
        touching += count > 0;
        apart += !near;
    }
    NOTE("%s: %lld of %d places touch, %lld are apart", what, (long long)touching, TRIES, (long long)apart);
    CHECK(missed == 0 && touching > TRIES / 50 && apart > TRIES / 50, "%s: %lld missed", what, (long long)missed);
}

TEST(bounds_miss_nothing)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.7, -0.1, 0}, (double[3]){0.5, 0.3, 0.2});
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_REPULSION, 300, 3);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    OWNED(sp_field) field = field_of(&s, 20);
    OWNED_POINTER(sp_voxmap) *voxmap;
    CHECK_OK(sp_voxmap_new(&context, &field, &voxmap));
    const sp_distance plane = plane_of(7),
                      sphere = {.kind = SP_DISTANCE_SPHERE, .centre = {0.3, -0.2, 1}, .radius = 0.4},
                      box = {.kind = SP_DISTANCE_BOX, .centre = {0.3, 0.1, -0.5}, .half = {0.8, 0.05, 0.3}},
                      voxels = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    sp_distance grid;
    sp_distance_of_field(&field, &grid);
    try_bounds(&pointshell, NULL, &plane, 3, 500, "plane");
    try_bounds(&pointshell, NULL, &sphere, 2, 501, "sphere");
    try_bounds(&pointshell, NULL, &box, 2, 502, "box");
    try_bounds(&pointshell, NULL, &grid, 1.2, 503, "grid");
    try_bounds(&pointshell, NULL, &voxels, 1.2, 504, "voxmap");
}

/* The box contains all vertices, and places between them, with negative values, and each of its sides has a negative
 * vertex one cell inside. */
TEST(grids_are_bounded_by_negative_cells)
{
    int64_t outside = 0, loose = 0;
    for (uint64_t t = 0; t < 60; t++) {
        OWNED(sp_field) field = {.cells = {5, 6, 7}, .origin = {-1, 2, 0.5}, .spacing = 0.25};
        field.distance = sp_pool_new(&field.pool, sp_field_vertices(&field), sizeof(float));
        for (int64_t i = 0; i < sp_field_vertices(&field); i++)
            field.distance[i] = random_in(600 + t, (uint64_t)i, 0, 1) < 0.02 * (double)(t % 4) ? -1 : 1;
        sp_distance grid;
        sp_distance_of_field(&field, &grid);
        bool any = false;
        for (int64_t z = 0; z <= 7; z++)
            for (int64_t y = 0; y <= 6; y++)
                for (int64_t x = 0; x <= 5; x++)
                    any |= field.distance[sp_field_index(&field, x, y, z)] < 0;
        CHECK(any == (grid.inside.low[0] <= grid.inside.high[0]), "empty or not");
        for (uint64_t i = 0; i < 2000; i++) {
            double x[3];
            bool in = true;
            for (uint64_t k = 0; k < 3; k++) {
                x[k] = field.origin[k] + random_in(700 + t, 3 * i + k, -0.2, 1.2) * 0.25 * (double)field.cells[k];
                in &= x[k] >= grid.inside.low[k] && x[k] <= grid.inside.high[k];
            }
            outside += !in && sp_distance_at(&grid, x, NULL) < 0;
        }
        for (int k = 0; k < 3 && any; k++) {
            const int64_t low = (int64_t)round((grid.inside.low[k] - field.origin[k]) / 0.25),
                          high = (int64_t)round((grid.inside.high[k] - field.origin[k]) / 0.25);
            int64_t least = 100, most = -1;
            for (int64_t i = 0; i < sp_field_vertices(&field); i++) {
                const int64_t at[3] = {i % 6, i / 6 % 7, i / 42};
                if (field.distance[i] < 0) {
                    least = at[k] < least ? at[k] : least;
                    most = at[k] > most ? at[k] : most;
                }
            }
            loose += low != (least > 0 ? least - 1 : 0) || high != (most < field.cells[k] ? most + 1 : most);
        }
    }
    CHECK(outside == 0 && loose == 0, "%lld places outside, %lld sides", (long long)outside, (long long)loose);
}

/* A field that shares constant data has the same values at the same coordinates, and moves independently. */
static void check_shared(sp_deformed_field *deformed, const double q[3], uint64_t stream)
{
    OWNED_POINTER(sp_deformed_field) *shared;
    CHECK_OK(sp_deformed_field_share(&context, deformed, &shared));
    for (int moved = 0; moved < 2; moved++) {
        int64_t differ = 0;
        if (moved)
            sp_deformed_field_update(shared, q);
        for (uint64_t i = 0; i < 50; i++) {
            double x[3], a[3], b[3];
            int64_t p, other;
            for (uint64_t k = 0; k < 3; k++)
                x[k] = random_in(830 + stream, 3 * i + k, -1, 1);
            const double here = sp_deformed_field_at(deformed, x, a, &p),
                         there = sp_deformed_field_at(shared, x, b, &other);
            differ += here != there || p != other || memcmp(a, b, sizeof a);
        }
        CHECK(moved || q[0] == 0 ? differ == 0 : differ > 0, "%lld of 50 differ", (long long)differ);
    }
}

TEST(deformed_bodies_miss_nothing)
{
    enum { PROXIES = 40 };
    OWNED(sp_mesh) mesh;
    make_box(4, 2, 2, 0.25, 0, &mesh);
    const int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(3 * rows, sizeof *U), proxies[3 * PROXIES];
    for (int64_t v = 0; v < mesh.vertex_count; v++) {
        const double *X = mesh.vertices + 3 * v,
                     fields[3][3] = {{X[0], 0, 0}, {0, X[0] * X[0], 0}, {X[1], 0, X[0] * X[1]}};
        for (int j = 0; j < 3; j++)
            for (int c = 0; c < 3; c++)
                U[j * rows + 3 * v + c] = fields[j][c];
    }
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 0.5, 0.5});
    OWNED(sp_field) field = field_of(&s, 16);
    for (uint64_t i = 0; i < PROXIES; i++)
        for (uint64_t k = 0; k < 3; k++)
            proxies[3 * i + k] = random_in(800, 3 * i + k, 0, k ? 0.5 : 1);
    const sp_deformed_domain domain = {&field, PROXIES, proxies};
    OWNED_POINTER(sp_deformed_field) *deformed;
    CHECK_OK(sp_deformed_field_new(&context, &mesh, 3, U, 1, &domain, 5, &deformed));
    const sp_distance distance = {.kind = SP_DISTANCE_DEFORMED, .deformed = deformed};
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_REPULSION, 200, 2);
    sp_pointshell_motion_report report;
    CHECK_OK(sp_pointshell_transfer(&context, &mesh, 3, U, true, &made, &report));
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    for (uint64_t t = 0; t < 5; t++) {
        double q[3], own[3];
        char what[40];
        for (uint64_t k = 0; k < 3; k++) {
            q[k] = t ? random_in(810, 3 * t + k, -0.5, 0.5) : 0;
            own[k] = t ? random_in(811, 3 * t + k, -0.5, 0.5) : 0;
        }
        sp_deformed_field_update(deformed, q);
        check_shared(deformed, q, t);
        snprintf(what, sizeof what, "deformed %d", (int)t);
        try_bounds(&pointshell, own, &distance, 2, 820 + t, what);
    }
}

/* ---- reuse of states ---- */

/* Points of a ball of radius 1, all in one level. */
static sp_contact_pointshell flat_shell(int64_t count)
{
    sp_pointshell pointshell = {.count = count, .levels = 1, .cumulative = {count}};
    pointshell.points = sp_pool_new(&pointshell.pool, 3 * count, sizeof(double));
    pointshell.normals = sp_pool_new(&pointshell.pool, 3 * count, sizeof(double));
    pointshell.area = sp_pool_new(&pointshell.pool, count, sizeof(double));
    pointshell.parent = sp_pool_new(&pointshell.pool, count, sizeof *pointshell.parent);
    pointshell.radius = sp_pool_new(&pointshell.pool, 0, sizeof(double));
    for (int64_t i = 0; i < count; i++) {
        random_direction(900, (uint64_t)i, pointshell.points + 3 * i);
        pointshell.area[i] = 1;
        pointshell.parent[i] = -1;
        for (int k = 0; k < 3; k++)
            pointshell.normals[3 * i + k] = -pointshell.points[3 * i + k];
    }
    return contact_shell(&pointshell);
}

/* A state that has culled nodes for a long time far away comes into contact with another body at once, and finds what a
 * new state finds, with many nodes and with few. */
TEST(restarted_states_know_nothing)
{
    static const sp_traversal_limits limits = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true, .coherence = true};
    static const int64_t counts[2] = {500, 70000};
    for (int c = 0; c < 2; c++) {
        OWNED(sp_contact_pointshell) pointshell = flat_shell(counts[c]);
        const sp_distance plane = plane_at(0);
        sp_traversal_workspace *workspaces[2];
        OWNED_POINTER(sp_traversal) *used;
        sp_traversal *fresh;
        const sp_pose at = sp_pose_identity();
        CHECK_OK(sp_traversal_workspace_new(&context, pointshell.count, &workspaces[0]));
        CHECK_OK(sp_traversal_workspace_new(&context, pointshell.count, &workspaces[1]));
        CHECK_OK(sp_traversal_state_new(&context, &pointshell, false, &used));
        for (int round = 0; round < 3; round++) {
            const sp_pose far = {{0, 0, 100 + round}, {1, 0, 0, 0}}, farther = {{0, 0, 101 + round}, {1, 0, 0, 0}},
                          near = {{0, 0, 0.5}, {1, 0, 0, 0}};
            CHECK_OK(sp_traversal_state_new(&context, &pointshell, round % 2, &fresh));
            sp_traversal_run_in(used, workspaces[0], &far, NULL, &at, &plane, 0, &limits);
            const sp_traversal_result *a =
                sp_traversal_run_in(used, workspaces[0], &farther, NULL, &at, &plane, 0, &limits);
            CHECK(a->passed == pointshell.count && a->visited == 0, "%lld passed over", (long long)a->passed);
            sp_traversal_restart(used);
            a = sp_traversal_run_in(used, workspaces[0], &near, NULL, &at, &plane, 0, &limits);
            const sp_traversal_result *b =
                sp_traversal_run_in(fresh, workspaces[1], &near, NULL, &at, &plane, 0, &limits);
            CHECK(a->visited == pointshell.count && b->visited == pointshell.count && a->count == b->count &&
                      a->count > pointshell.count / 10 &&
                      !memcmp(a->point, b->point, (size_t)a->count * sizeof *a->point),
                  "%lld contacts of %lld", (long long)a->count, (long long)b->count);
            a = sp_traversal_run_in(used, workspaces[0], &near, NULL, &at, &plane, 0, &limits);
            b = sp_traversal_run_in(fresh, workspaces[1], &near, NULL, &at, &plane, 0, &limits);
            CHECK(a->visited == b->visited && a->visited < pointshell.count, "%lld and %lld nodes",
                  (long long)a->visited, (long long)b->visited);
            CHECK(sp_traversal_bytes(used) == sp_traversal_bytes_at_most(&pointshell), "%lld bytes",
                  (long long)sp_traversal_bytes(used));
            sp_traversal_restart(used);
            sp_traversal_free(fresh);
        }
        sp_traversal_workspace_free(workspaces[0]);
        sp_traversal_workspace_free(workspaces[1]);
    }
}
