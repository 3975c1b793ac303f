/* Contact of spheres, and of a real model. */
#include "contact/deformed.h"
#include "contact/spheres.h"
#include "contact_scenes.h"
#include "formats/import/surface.h"

#include <fcntl.h>
#include <unistd.h>

OWNER(sp_sphere_tree)

static sp_sphere_workspace room; /* of all searches in this file */

/* ---- spheres ---- */

static void places_of(const sp_contact_pointshell *pointshell, const sp_pose *pose, const double *q, double *to)
{
    double R[9], x[3];
    sp_quaternion_matrix(pose->q, R);
    for (int64_t p = 0; p < pointshell->count; p++) {
        sp_contact_pointshell_point(pointshell, p, q, x);
        sp_rotate(R, x, to + 3 * p);
        for (int k = 0; k < 3; k++)
            to[3 * p + k] += pose->x[k];
    }
}

typedef struct ball_tally {
    int64_t contacts, visited, pairs, wrong, swapped, outside;
} ball_tally;

/* Contact of two pointshells against all pairs of their points. */
static void compare_balls(const sp_contact_pointshell *a, const sp_pose *pa, const double *qa, double ra,
                          const sp_contact_pointshell *b, const sp_pose *pb, const double *qb, double rb,
                          ball_tally *tally)
{
    const double reach = ra + rb;
    double *x = test_new(a->count, 24), *y = test_new(b->count, 24), centre[3], radius;
    OWNED_POINTER(sp_sphere_tree) *A = NULL, *B = NULL;
    CHECK_OK(sp_sphere_tree_new(&context, a, &A));
    CHECK_OK(sp_sphere_tree_new(&context, b, &B));
    sp_sphere_tree_move(A, pb, qa); /* gone in the mean time */
    OWNED(sp_list) list = {0}, other = {0};
    CHECK_OK(sp_sphere_trees_meet(A, ra, B, rb, &room, &list, &tally->visited));
    list.count = tally->visited = 0;
    sp_sphere_tree_move(A, pa, qa);
    sp_sphere_tree_move(B, pb, qb);
    CHECK_OK(sp_sphere_trees_meet(A, ra, B, rb, &room, &list, &tally->visited));
    places_of(a, pa, a->modes ? qa : NULL, x);
    places_of(b, pb, b->modes ? qb : NULL, y);
    sp_sphere_tree_bound(A, centre, &radius);
    int64_t next = 0;
    const sp_sphere_contact *c = list.data;
    for (int64_t p = 0; p < a->count; p++) {
        const double off[3] = {x[3 * p] - centre[0], x[3 * p + 1] - centre[1], x[3 * p + 2] - centre[2]};
        tally->outside += length3(off) > radius;
        for (int64_t r = 0; r < b->count; r++) {
            const double d[3] = {y[3 * r] - x[3 * p], y[3 * r + 1] - x[3 * p + 1], y[3 * r + 2] - x[3 * p + 2]},
                         apart = length3(d);
            const bool listed = next < list.count && c[next].a == p && c[next].b == r;
            tally->wrong += fabs(apart - reach) > 1e-13 && listed != (apart < reach);
            if (!listed)
                continue;
            tally->wrong += fabs(c[next].distance - (apart - reach)) > 1e-13;
            for (int k = 0; k < 3; k++) {
                tally->wrong += fabs(c[next].normal[k] - d[k] / apart) > 1e-12 * (1 + 1 / apart);
                tally->wrong += fabs(c[next].at[k] - x[3 * p + k] - d[k] * ra / reach) > 1e-13;
            }
            next++;
        }
    }
    tally->wrong += next != list.count;
    tally->pairs += a->count * b->count;
    tally->contacts += list.count;
    int64_t before = list.count, looked = 0;
    CHECK_OK(sp_sphere_trees_meet(B, rb, A, ra, &room, &other, &looked));
    tally->swapped += other.count != before;
    for (int64_t k = 0; k < list.count && !tally->swapped; k++) { /* every contact occurs in the other order too */
        const sp_sphere_contact *o = other.data;
        int64_t low = 0, high = other.count;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (o[middle].a < c[k].b || (o[middle].a == c[k].b && o[middle].b < c[k].a))
                low = middle + 1;
            else
                high = middle;
        }
        tally->swapped += low >= other.count || o[low].a != c[k].b || o[low].b != c[k].a ||
                          o[low].distance != c[k].distance || o[low].normal[0] != -c[k].normal[0];
    }
    CHECK_OK(sp_sphere_trees_meet(A, ra, B, rb, &room, &list, &looked)); /* appends */
    CHECK(list.count == 2 * before, "%lld after %lld", (long long)list.count, (long long)before);
}

static void check_tally(const ball_tally *tally)
{
    CHECK(tally->wrong == 0 && tally->swapped == 0 && tally->outside == 0,
          "%lld wrong, %lld not symmetric, %lld outside of the bound", (long long)tally->wrong,
          (long long)tally->swapped, (long long)tally->outside);
    CHECK(tally->contacts > 1000, "%lld contacts", (long long)tally->contacts);
    NOTE("%lld contacts; the last pair looked at %lld pairs of points or nodes", (long long)tally->contacts,
         (long long)tally->visited);
    CHECK(tally->visited < tally->pairs / 10, "%lld of %lld pairs", (long long)tally->visited, (long long)tally->pairs);
}

TEST(balls_find_what_all_pairs_find)
{
    ball_tally tally = {0};
    for (int s = 0; s < SHELLS; s++)
        for (uint64_t i = 0; i < 24; i++) {
            const sp_contact_pointshell *a = &shells[i % 2][s], *b = &shells[i / 2 % 2][(s + (int)(i / 4)) % SHELLS];
            const sp_pose pa = random_pose(160, i, 0.9), pb = random_pose(161, i, 0.9);
            double qa[MODES], qb[MODES];
            random_q(162, i, 0.3, qa);
            random_q(163, i, 0.3, qb);
            compare_balls(a, &pa, qa, 0.02 + 0.03 * (double)(i % 3), b, &pb, qb, i % 5 ? 0.03 : 1e-3, &tally);
        }
    check_tally(&tally);
}

/* One pointshell inside the other: so many points are near each other that nodes are visited. */
TEST(many_balls)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 32, 12 * 85, 4, 1),
                  larger = ball_shell(SP_POINTSHELL_REPULSION, 32, 8 * 341, 5, 1.03);
    add_modes(&made, MODES);
    OWNED(sp_contact_pointshell) a = contact_shell(&made), b = contact_shell(&larger);
    ball_tally tally = {0};
    CHECK(a.count > 1024 || b.count > 1024, "%lld and %lld points", (long long)a.count, (long long)b.count);
    for (uint64_t i = 0; i < 3; i++) {
        const sp_pose pa = random_pose(164, i, 0.02), pb = random_pose(165, i, 0.02);
        double q[MODES];
        random_q(166, i, 0.02, q);
        compare_balls(&b, &pa, NULL, 0.02, &b, &pb, NULL, 0.01, &tally);
        compare_balls(&a, &pa, q, 0.02, &b, &pb, NULL, 0.01, &tally);
    }
    check_tally(&tally);
}

/* Far from the origin a point on the sphere of a node just reaches another point. */
TEST(balls_that_just_touch)
{
    int64_t lost = 0, touching = 0;
    const sp_contact_pointshell *pointshell = &shells[0][1];
    double *places = test_new(pointshell->count, 24);
    for (uint64_t i = 0; i < 2000; i++) {
        const int64_t node = (int64_t)(sp_random_uniform(9, 190, i) * (double)pointshell->cumulative[0]);
        const double *c = pointshell->points + 3 * node, far = pow(10, (double)(i % 7)), reach = 0.03;
        double d[3], x[3], place[3], apart[3], centre[2][3], bound[2];
        int64_t tip = -1, visited = 0;
        for (int64_t p = 0; p < pointshell->count && tip < 0; p++) {
            for (int k = 0; k < 3; k++)
                d[k] = pointshell->points[3 * p + k] - c[k];
            tip = fabs(length3(d) - pointshell->radius[node]) < 1e-14 ? p : -1;
        }
        for (int k = 0; k < 3; k++)
            x[k] = pointshell->points[3 * tip + k] + d[k] / length3(d) * reach;
        OWNED(sp_contact_pointshell) point = one_point(x[0], x[1], x[2], d);
        const sp_pose pose = random_pose(191, i, far);
        OWNED_POINTER(sp_sphere_tree) *a, *b;
        CHECK_OK(sp_sphere_tree_new(&context, pointshell, &a));
        CHECK_OK(sp_sphere_tree_new(&context, &point, &b));
        sp_sphere_tree_move(a, &pose, NULL);
        sp_sphere_tree_move(b, &pose, NULL);
        places_of(&point, &pose, NULL, place);
        places_of(pointshell, &pose, NULL, places);
        for (int k = 0; k < 3; k++)
            apart[k] = place[k] - places[3 * tip + k];
        const bool near = length3(apart) < reach * (1 - 1e-14);
        OWNED(sp_list) list = {0};
        CHECK_OK(sp_sphere_trees_meet(a, 0.01, b, reach - 0.01, &room, &list, &visited));
        bool found = false;
        for (int64_t k = 0; k < list.count; k++)
            found |= ((sp_sphere_contact *)list.data)[k].a == tip;
        sp_sphere_tree_bound(a, centre[0], &bound[0]);
        sp_sphere_tree_bound(b, centre[1], &bound[1]);
        for (int k = 0; k < 3; k++)
            apart[k] = centre[1][k] - centre[0][k];
        lost += near && (!found || length3(apart) > bound[0] + bound[1] + reach);
        touching += near;
    }
    CHECK(lost == 0 && touching > 300, "%lld of %lld are not found", (long long)lost, (long long)touching);
}

TEST(single_balls)
{
    const double up[3] = {0, 0, 1};
    OWNED(sp_contact_pointshell) pointshell = one_point(0, 0, 0, up);
    OWNED_POINTER(sp_sphere_tree) *a, *b;
    CHECK_OK(sp_sphere_tree_new(&context, &pointshell, &a));
    CHECK_OK(sp_sphere_tree_new(&context, &pointshell, &b));
    OWNED(sp_list) list = {0};
    int64_t visited = 0;
    CHECK_OK(sp_sphere_trees_meet(a, 1, b, 2, &room, &list, &visited));
    CHECK(list.count == 0 && visited >= 1, "a contact without direction");
    sp_pose to = sp_pose_identity();
    to.x[1] = 2;
    sp_sphere_tree_move(b, &to, NULL);
    CHECK_OK(sp_sphere_trees_meet(a, 1, b, 2, &room, &list, &visited));
    CHECK(list.count == 1, "%lld", (long long)list.count);
    const sp_sphere_contact *c = list.data;
    CHECK(c->distance == -1 && c->normal[1] == 1 && c->normal[0] == 0 && fabs(c->at[1] - 2.0 / 3) < 1e-15, "%g, %g, %g",
          c->distance, c->normal[1], c->at[1]);
    list.count = 0;
    CHECK_OK(sp_sphere_trees_meet(a, 1, b, 1, &room, &list, &visited));
    CHECK(list.count == 0, "they only touch");
    CHECK_OK(sp_sphere_trees_meet(a, 0, b, 0, &room, &list, &visited));
    CHECK(list.count == 0, "points");
    to.x[1] = NAN;
    sp_sphere_tree_move(b, &to, NULL);
    CHECK_OK(sp_sphere_trees_meet(a, 1, b, 2, &room, &list, &visited));
    CHECK(list.count == 0, "nowhere");
}

/* ---- a real model ---- */

TEST(real_models)
{
    if (!test_meshes())
        SKIP("no models");
    static const char *const names[] = {"surface/cow.obj", "surface/bunny.obj"};
    int64_t differ = 0, touching = 0, visited = 0, all_visited = 0;
    for (int m = 0; m < 2; m++) {
        char path[1000];
        OWNED(sp_list) bytes = {0};
        OWNED(sp_surface) surface = {0};
        snprintf(path, sizeof path, "%s/%s", test_meshes(), names[m]);
        const int descriptor = open(path, O_RDONLY);
        for (ssize_t got = 1; descriptor >= 0 && got > 0;) {
            enum { STEP = 1 << 20 };
            char *to = sp_list_add(&bytes, STEP, 1);
            got = to ? read(descriptor, to, STEP) : 0;
            bytes.count -= STEP - (got > 0 ? got : 0);
        }
        if (descriptor < 0)
            SKIP(path);
        close(descriptor);
        CHECK_OK(sp_surface_parse(&context, path, bytes.data, bytes.count, SP_GROUPS_NONE, &surface));
        double low[3], high[3], middle[3];
        sp_surface_box(&surface, low, high);
        const double size = diagonal_of(&surface);
        for (int k = 0; k < 3; k++)
            middle[k] = 0.5 * (low[k] + high[k]);
        for (int64_t v = 0; v < 3 * surface.vertex_count; v++)
            surface.vertices[v] = 3 * (surface.vertices[v] - middle[v % 3]) / size;
        OWNED(sp_level) level;
        sp_pointshell pointshell;
        sp_pointshell_report report;
        const sp_pointshell_parameters p = {.method = SP_POINTSHELL_FARTHEST, .points = 3000, .branching = 4};
        CHECK_OK(sp_level_model(&context, &surface, 0.1, 48, &level));
        CHECK_OK(sp_pointshell_make(&context, &level, &p, &pointshell, &report));
        add_modes(&pointshell, MODES);
        OWNED(sp_contact_pointshell) c = contact_shell(&pointshell);
        OWNED(sp_field) field = field_of(&surface, 40);
        sp_distance grid;
        sp_distance_of_field(&field, &grid);
        OWNED_POINTER(sp_traversal) *coherent, *tree, *all;
        CHECK_OK(sp_traversal_new(&context, &c, &coherent));
        CHECK_OK(sp_traversal_new(&context, &c, &tree));
        CHECK_OK(sp_traversal_new(&context, &c, &all));
        for (uint64_t i = 0; i < 200; i++) {
            const sp_pose one = random_pose(180, i / 20, 1.5), two = random_pose(180, i / 20 + 1, 1.5),
                          at = random_pose(181, 0, 0.1);
            const sp_pose pose = sp_pose_between(&one, &two, (double)(i % 20) / 20);
            double q[MODES];
            random_q(182, i / 10, 0.1, q);
            const sp_traversal_result *b = sp_traversal_run(all, &pose, q, &at, &grid, 0, &EVERYTHING);
            all_visited += b->visited;
            const sp_traversal_result *a = sp_traversal_run(tree, &pose, q, &at, &grid, 0, &TREE);
            visited += a->visited;
            differ += !same_contacts(a, b, c.count);
            a = sp_traversal_run(coherent, &pose, q, &at, &grid, 0, &COHERENT);
            differ += !same_contacts(a, b, c.count);
            touching += b->count > 0;
        }
    }
    CHECK(differ == 0 && touching > 20, "%lld differ, %lld touch", (long long)differ, (long long)touching);
    CHECK(visited < all_visited, "%lld of %lld", (long long)visited, (long long)all_visited);
    NOTE("%lld of 400 poses touch; %.3f of all nodes visited", (long long)touching,
         (double)visited / (double)all_visited);
}
