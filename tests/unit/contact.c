/* Traversal of point shells: trees, coherence, limits; the spheres of deformed shells. */
#include "contact/deformed.h"
#include "contact/spheres.h"
#include "contact_scenes.h"

/* Points of `found` are those whose distance is negative: each by its own formula. */
static void check_by_brute_force(const sp_contact_pointshell *pointshell, const sp_pose *pose, const double *q,
                                 const sp_pose *at, const sp_distance *distance, const sp_traversal_result *found)
{
    double A[9], B[9], worst = 0, place = 0, lowest = INFINITY;
    int64_t next = 0, wrong = 0;
    sp_quaternion_matrix(pose->q, A);
    sp_quaternion_matrix(at->q, B);
    for (int64_t p = 0; p < pointshell->count; p++) {
        double y[3], w[3], x[3];
        for (int k = 0; k < 3; k++) {
            y[k] = pointshell->points[3 * p + k];
            for (int64_t j = 0; j < pointshell->modes && q; j++)
                y[k] += pointshell->U[(3 * p + k) * pointshell->modes + j] * q[j];
        }
        sp_rotate(A, y, w);
        for (int k = 0; k < 3; k++)
            w[k] += pose->x[k] - at->x[k];
        sp_rotate_back(B, w, x);
        const double d = sp_distance_at(distance, x, NULL);
        const bool listed = next < found->count && found->point[next] == p;
        lowest = fmin(lowest, d);
        wrong += fabs(d) > 1e-11 && listed != (d < 0);
        if (listed) {
            worst = fmax(worst, fabs(found->distance[next] - d));
            for (int k = 0; k < 3; k++)
                place = fmax(place, fabs(found->place[3 * next + k] - x[k]));
            next++;
        }
    }
    CHECK(wrong == 0 && next == found->count, "%lld points are wrong, %lld of %lld contacts found", (long long)wrong,
          (long long)next, (long long)found->count);
    CHECK(worst < 1e-11 && place < 1e-11, "distances off by %g, places by %g", worst, place);
    CHECK(found->lowest < 0 ? fabs(found->lowest - lowest) < 1e-11 : found->lowest >= lowest - 1e-11, "lowest %g, %g",
          found->lowest, lowest);
}

TEST(trees_find_what_all_points_find)
{
    int64_t touching = 0, apart = 0, visited = 0, all_visited = 0, differ = 0;
    for (int deformable = 0; deformable < 2; deformable++)
        for (int s = 0; s < SHELLS; s++) {
            const sp_contact_pointshell *pointshell = &shells[deformable][s];
            OWNED_POINTER(sp_traversal) *tree, *all;
            CHECK_OK(sp_traversal_new(&context, pointshell, &tree));
            CHECK_OK(sp_traversal_new(&context, pointshell, &all));
            for (int f = 0; f < FIELDS; f++)
                for (uint64_t i = 0; i < 72; i++) {
                    /* from deep inside the box to entirely outside */
                    const double reach = i % 4 == 0 ? 0.5 : i % 4 < 3 ? 1.6 : 6;
                    sp_pose pose = random_pose((uint64_t)(10 + s), i, reach),
                            at = random_pose((uint64_t)(20 + f), i, 0.2);
                    double q[MODES];
                    random_q(3, i, i % 3 ? 0.1 : 0.6, q);
                    const double *moved = deformable && i % 8 ? q : NULL;
                    const sp_traversal_result *a = sp_traversal_run(tree, &pose, moved, &at, &fields[f], 0, &TREE);
                    const sp_traversal_result *b = sp_traversal_run(all, &pose, moved, &at, &fields[f], 0, &EVERYTHING);
                    differ += !same_contacts(a, b, pointshell->count);
                    CHECK(a->complete && b->complete && a->passed == 0, "not complete");
                    if (i % 10 == 0)
                        check_by_brute_force(pointshell, &pose, moved, &at, &fields[f], b);
                    touching += a->count > 0;
                    apart += a->count == 0;
                    visited += a->visited;
                    all_visited += b->visited;
                }
        }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(touching > 500 && apart > 500, "%lld touch, %lld do not", (long long)touching, (long long)apart);
    CHECK(visited < all_visited / 2, "%lld nodes of %lld", (long long)visited, (long long)all_visited);
    NOTE("%lld poses touch, %lld do not; %.3f of all nodes visited", (long long)touching, (long long)apart,
         (double)visited / (double)all_visited);
}

/* Planes at the far side of the sphere of a node, at its farthest point. Rounding decides whether that point is below
 * the plane, but the search must find it if it is. */
TEST(points_that_just_touch)
{
    int64_t differ = 0, touching = 0, apart = 0;
    for (uint64_t i = 0; i < 6000; i++) {
        const sp_contact_pointshell *pointshell = &shells[0][i % SHELLS];
        const int64_t node = (int64_t)(sp_random_uniform(9, 30, i) * (double)pointshell->cumulative[0]);
        const double *c = pointshell->points + 3 * node, radius = pointshell->radius[node],
                     far = pow(10, (double)(i % 7));
        int64_t tip = -1;
        double d[3], world[3], R[9];
        for (int64_t p = 0; p < pointshell->count && tip < 0; p++) {
            for (int k = 0; k < 3; k++)
                d[k] = pointshell->points[3 * p + k] - c[k];
            tip = fabs(length3(d) - radius) < 1e-14 * radius ? p : -1;
        }
        if (tip < 0 || !(radius > 0))
            continue;
        sp_pose pose = random_pose(31, i, far), at = random_pose(32, i, i % 2 ? far : 0);
        if (i % 3 == 0) /* no rotation, and no rounding from it */
            pose = at = sp_pose_identity();
        sp_quaternion_matrix(pose.q, R);
        sp_rotate(R, d, world);
        OWNED_POINTER(sp_traversal) *tree, *all;
        CHECK_OK(sp_traversal_new(&context, pointshell, &tree));
        CHECK_OK(sp_traversal_new(&context, pointshell, &all));
        /* the plane is placed by the distance of that point from a plane at the origin */
        sp_distance plane = {.kind = SP_DISTANCE_PLANE};
        sp_quaternion_matrix(at.q, R);
        sp_rotate_back(R, world, plane.normal);
        for (int k = 0; k < 3; k++)
            plane.normal[k] /= -length3(world);
        const sp_traversal_limits *limits = &EVERYTHING;
        plane.offset = INFINITY;
        const sp_traversal_result *b = sp_traversal_run(all, &pose, NULL, &at, &plane, 0, limits);
        CHECK(b->count == pointshell->count && b->point[tip] == tip, "all are below");
        const double *x = b->place + 3 * tip;
        plane.offset = sp_dot3(plane.normal, x);
        plane.offset += (double)((int)(i % 8) - 2) * 1e-16 * fabs(plane.offset);
        b = sp_traversal_run(all, &pose, NULL, &at, &plane, 0, limits);
        const sp_traversal_result *a = sp_traversal_run(tree, &pose, NULL, &at, &plane, 0, &TREE);
        differ += !same_contacts(a, b, pointshell->count);
        touching += b->count > 0;
        apart += b->count == 0;
    }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(touching > 1000 && apart > 10, "%lld touch, %lld do not", (long long)touching, (long long)apart);
}

/* A motion of the shell and the other body. */
static void path_at(enum path path, uint64_t i, uint64_t seed, double begin, sp_pose *pose, sp_pose *at,
                    double q[MODES])
{
    const double t = (double)i;
    double turn[3] = {0.3, -0.2, 0.4}, away[3], R[9], shift[3];
    random_direction(50, seed, away);
    *pose = random_pose(51, seed, 0.1);
    *at = random_pose(52, seed, 0.1);
    for (int k = 0; k < 3; k++)
        pose->x[k] += away[k] * begin;
    for (int j = 0; j < MODES; j++)
        q[j] = 0.1 * sin(0.03 * t * (j + 1) + (double)seed);
    const double speed = path == SLOW ? 0.004 : path == FAST ? 0.25 : 0;
    for (int k = 0; k < 3; k++) {
        turn[k] *= path == SPINNING || path == SWINGING ? 0.02 * t
                   : path == FAST                       ? 0.3 * t
                   : path == SLOW                       ? 0.002 * t
                                                        : 0;
        pose->x[k] -= away[k] * (path == FAST ? 1.5 + 1.5 * sin(speed * t) : speed * t);
    }
    if (path == JUMPING && sp_random_uniform(9, 53, i) < 0.3)
        *pose = random_pose(54, i / 3, 1.5);
    double spin[4];
    sp_quaternion_from_vector(turn, spin);
    sp_pose *turned = path == SWINGING ? at : pose; /* the other body rotates about a distant point */
    sp_quaternion_multiply(spin, turned->q, turned->q);
    if (path == SWINGING) {
        sp_quaternion_matrix(spin, R);
        sp_rotate(R, (double[3]){2, 0, 0}, shift);
        for (int k = 0; k < 3; k++)
            at->x[k] += shift[k] - (k == 0 ? 2 : 0);
    }
}

/* Along paths, traversal with coherence equals that without and the test of all points, also for bodies without q and
 * with nodes left out by limits. */
TEST(coherence_changes_nothing)
{
    int64_t passed[PATHS] = {0}, visited[PATHS] = {0}, plain[PATHS] = {0}, differ[PATHS] = {0}, limited = 0,
            touching = 0;
    for (int deformable = 0; deformable < 2; deformable++)
        for (int s = 0; s < SHELLS; s++) {
            const sp_contact_pointshell *pointshell = &shells[deformable][s];
            for (int f = 0; f < FIELDS; f++)
                for (int path = 0; path < PATHS; path++) {
                    OWNED_POINTER(sp_traversal) *coherent, *without, *all, *cut;
                    CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
                    CHECK_OK(sp_traversal_new(&context, pointshell, &without));
                    CHECK_OK(sp_traversal_new(&context, pointshell, &all));
                    CHECK_OK(sp_traversal_new(&context, pointshell, &cut));
                    for (uint64_t i = 0; i < 48; i++) {
                        sp_pose pose, at;
                        double q[MODES];
                        path_at((enum path)path, i, (uint64_t)(SHELLS * f + s), 1 + 0.3 * (f % 4 + s % 2), &pose, &at,
                                q);
                        const bool rest = path == STILL ? i > 24 : path == JUMPING && i % 7 < 2;
                        const double *moved = deformable && !rest ? q : NULL;
                        const sp_traversal_result *b =
                            sp_traversal_run(all, &pose, moved, &at, &fields[f], 0, &EVERYTHING);
                        const sp_traversal_result *a =
                            sp_traversal_run(coherent, &pose, moved, &at, &fields[f], 0, &COHERENT);
                        differ[path] += !same_contacts(a, b, pointshell->count);
                        passed[path] += a->passed;
                        visited[path] += a->visited;
                        touching += a->count > 0;
                        a = sp_traversal_run(without, &pose, moved, &at, &fields[f], 0, &TREE);
                        differ[path] += !same_contacts(a, b, pointshell->count);
                        plain[path] += a->visited;
                        sp_traversal_limits limits = COHERENT;
                        limits.cold = (int64_t)((double)pointshell->count * sp_random_uniform(9, 60, i));
                        limits.warm = 2 * limits.cold;
                        a = sp_traversal_run(cut, &pose, moved, &at, &fields[f], 0, &limits);
                        limited += !same_contacts(a, b, pointshell->cumulative[a->deepest - 1]) && !a->complete;
                        differ[path] += !same_contacts(a, b, pointshell->count) && a->complete;
                    }
                }
        }
    static const char *const name[PATHS] = {"slow", "fast", "jumping", "spinning", "swinging", "still"};
    for (int path = 0; path < PATHS; path++) {
        CHECK(differ[path] == 0, "%s: %lld runs differ", name[path], (long long)differ[path]);
        CHECK(passed[path] > 0 && visited[path] < plain[path], "%s: %lld passed, %lld visited, %lld without",
              name[path], (long long)passed[path], (long long)visited[path], (long long)plain[path]);
        NOTE("%s: visits %.3f of the nodes visited without coherence", name[path],
             (double)visited[path] / (double)plain[path]);
    }
    CHECK(limited == 0, "%lld limited runs differ", (long long)limited);
    CHECK(touching > 1000, "%lld touch", (long long)touching);
}

/* A ring that rotates about a diameter: its outermost points move towards the plane by exactly the bound. */
TEST(coherence_of_rotations)
{
    int64_t differ = 0, passed = 0, touching = 0;
    const sp_contact_pointshell *pointshell = &shells[0][1];
    for (uint64_t i = 0; i < 40; i++) {
        OWNED_POINTER(sp_traversal) *coherent, *all;
        CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
        CHECK_OK(sp_traversal_new(&context, pointshell, &all));
        const sp_distance plane = plane_at(-0.42 - 0.003 * (double)i);
        const sp_pose at = sp_pose_identity();
        const double axis = random_in(65, i, 0, 2 * PI);
        for (int k = 0; k < 60; k++) {
            const double angle = 0.01 * (k + 0.1 * (double)(i % 10)),
                         turn[3] = {angle * cos(axis), angle * sin(axis), 0};
            double R[9], x[3];
            sp_pose pose = at;
            sp_quaternion_from_vector(turn, pose.q);
            sp_quaternion_matrix(pose.q, R);
            sp_rotate(R, pointshell->centre, x);
            for (int c = 0; c < 3; c++)
                pose.x[c] = -x[c];
            const sp_traversal_result *a = sp_traversal_run(coherent, &pose, NULL, &at, &plane, 0, &COHERENT), *b;
            passed += a->passed;
            b = sp_traversal_run(all, &pose, NULL, &at, &plane, 0, &EVERYTHING);
            differ += !same_contacts(a, b, pointshell->count);
            touching += b->count > 0;
        }
    }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(passed > 0 && touching > 100 && touching < 2300, "%lld touch, %lld passed over", (long long)touching,
          (long long)passed);
}

/* Long paths: the distance travelled is much larger than the pointshell. */
TEST(coherence_after_long_ways)
{
    int64_t differ = 0, passed = 0, touching = 0;
    const sp_contact_pointshell *pointshell = &shells[0][0];
    OWNED_POINTER(sp_traversal) *coherent, *all;
    CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
    CHECK_OK(sp_traversal_new(&context, pointshell, &all));
    const sp_distance plane = {.kind = SP_DISTANCE_PLANE, .normal = {0, 0, 1}};
    const sp_pose at = sp_pose_identity();
    double bottom = 0;
    for (int64_t p = 0; p < pointshell->count; p++)
        bottom = fmin(bottom, pointshell->points[3 * p + 2]);
    for (int i = 0; i < 3000; i++) {
        sp_pose pose = at;
        /* excursions of 1e9 m, then steps that end just below the surface by a rounding error */
        pose.x[0] = i % 500 == 250 ? 1e9 : 0;
        pose.x[2] = -bottom + (i % 20 == 19 ? -1e-9 : 1e-3 * (20 - i % 20));
        const sp_traversal_result *a = sp_traversal_run(coherent, &pose, NULL, &at, &plane, 0, &COHERENT);
        passed += a->passed;
        const sp_traversal_result *b = sp_traversal_run(all, &pose, NULL, &at, &plane, 0, &EVERYTHING);
        differ += !same_contacts(a, b, pointshell->count);
        touching += b->count > 0;
    }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(touching > 0 && passed > 0, "%lld touch, %lld passed over", (long long)touching, (long long)passed);
}

/* A pose, coordinates or a field that are not finite for a while: no node may stay culled because of that. */
TEST(coherence_recovers)
{
    const sp_contact_pointshell *pointshell = &shells[1][0];
    for (int how = 0; how < 6; how++) {
        OWNED_POINTER(sp_traversal) *coherent, *all;
        CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
        CHECK_OK(sp_traversal_new(&context, pointshell, &all));
        int64_t differ = 0, passed = 0;
        for (int i = 0; i < 40; i++) {
            double q[MODES] = {0.1, -0.1, 0.05};
            sp_pose pose = sp_pose_identity();
            const sp_pose at = sp_pose_identity();
            pose.x[2] = i < 30 ? 2 : 1;
            const bool lost = i == 10;
            if (lost && how < 2)
                pose.x[0] = how ? INFINITY : NAN;
            else if (lost && how < 4)
                q[1] = how == 2 ? INFINITY : NAN;
            else if (lost)
                pose.x[2] = how == 4 ? 1e200 : 1e308;
            const sp_traversal_result *a = sp_traversal_run(coherent, &pose, q, &at, &fields[1], 0, &COHERENT);
            if (i > 20)
                passed += a->passed;
            const sp_traversal_result *b = sp_traversal_run(all, &pose, q, &at, &fields[1], 0, &EVERYTHING);
            differ += !same_contacts(a, b, pointshell->count);
            CHECK(!lost || b->count == 0, "contact with what is lost");
            CHECK(i < 30 || b->count > 0, "no contact");
        }
        CHECK(differ == 0, "%d: %lld runs differ", how, (long long)differ);
        CHECK(passed > 0, "%d: nothing is passed over any more", how);
    }
}

/* V_k and C_k of each level, from runs that end there, predict where node budgets end a run. */
TEST(limits_as_in_the_thesis)
{
    const sp_contact_pointshell *pointshell = &shells[1][1];
    int64_t cut = 0, whole = 0, warm_only = 0;
    OWNED_POINTER(sp_traversal) *probe, *all, *limited;
    CHECK_OK(sp_traversal_new(&context, pointshell, &probe));
    CHECK_OK(sp_traversal_new(&context, pointshell, &all));
    CHECK_OK(sp_traversal_new(&context, pointshell, &limited));
    int before = 0;
    for (uint64_t i = 0; i < 800; i++) {
        const sp_pose pose = random_pose(70, i, 1.2), at = random_pose(71, i, 0.1);
        double q[MODES], V[SP_POINTSHELL_LEVELS_MAX] = {0}, C[SP_POINTSHELL_LEVELS_MAX] = {0};
        random_q(72, i, 0.2, q);
        int levels = 0;
        for (int k = 1; k <= pointshell->levels; k++) {
            sp_traversal_limits to = TREE;
            to.levels = k;
            const sp_traversal_result *r = sp_traversal_run(probe, &pose, q, &at, &fields[3], 0, &to);
            V[k] = (double)r->visited;
            C[k] = (double)r->count;
            levels = r->deepest;
        }
        sp_traversal_limits limits = TREE;
        limits.cold = (int64_t)(2000 * sp_random_uniform(9, 73, i));
        limits.warm = (int64_t)((double)limits.cold * (1 + sp_random_uniform(9, 74, i)));
        limits.cost = i % 2;
        limits.contact_cost = 5;
        int expected = 1;
        for (int k = 2; k <= levels; k++) {
            /* eq. 3.13: V + V_queued nodes at the end of the level, of which as large a part is in contact */
            const double spent = limits.cost ? V[k] + limits.contact_cost * C[k - 1] / V[k - 1] * V[k] : V[k - 1];
            if (!(spent < (double)(k <= before ? limits.warm : limits.cold))) {
                warm_only += k > before && spent < (double)limits.warm;
                break;
            }
            expected = k;
        }
        const sp_traversal_result *a = sp_traversal_run(limited, &pose, q, &at, &fields[3], 0, &limits);
        CHECK(a->deepest == expected, "run %d ends in level %d, not %d", (int)i, a->deepest, expected);
        CHECK(a->complete == (expected == levels), "run %d is complete: %d", (int)i, a->complete);
        CHECK(a->visited == (int64_t)V[expected] && a->count == (int64_t)C[expected], "%lld nodes, %g",
              (long long)a->visited, V[expected]);
        before = a->deepest;
        const sp_traversal_result *b = sp_traversal_run(all, &pose, q, &at, &fields[3], 0, &EVERYTHING);
        CHECK(same_contacts(a, b, expected == levels ? pointshell->count : pointshell->cumulative[expected - 1]),
              "run %d has other contacts", (int)i);
        cut += !a->complete;
        whole += a->complete;
    }
    CHECK(cut > 50 && whole > 50 && warm_only > 10, "%lld are cut, %lld are not, %lld would have gone on if warm",
          (long long)cut, (long long)whole, (long long)warm_only);
}

/* Empty work: an unwanted level, no budget, no body near. */
TEST(no_budget)
{
    const sp_contact_pointshell *pointshell = &shells[0][0];
    OWNED_POINTER(sp_traversal) *t;
    const sp_pose at = sp_pose_identity();
    sp_pose far = at;
    far.x[2] = 100;
    CHECK_OK(sp_traversal_new(&context, pointshell, &t));
    const sp_traversal_limits none = {.tree = true, .coherence = true};
    const sp_traversal_result *r = sp_traversal_run(t, &at, NULL, &at, &fields[1], 0, &none);
    CHECK(r->deepest == 1 && !r->complete && r->visited == pointshell->cumulative[0], "level %d, %lld nodes",
          r->deepest, (long long)r->visited);
    r = sp_traversal_run(t, &far, NULL, &at, &fields[1], 0, &none);
    CHECK(r->deepest == 1 && r->complete && r->count == 0 && r->lowest > 90, "level %d, lowest %g", r->deepest,
          r->lowest);
    r = sp_traversal_run(t, &far, NULL, &at, &fields[1], 0, &none);
    CHECK(r->visited == 0 && r->complete && r->passed == pointshell->cumulative[0] && r->lowest == INFINITY,
          "%lld nodes", (long long)r->visited);
    sp_traversal_limits first = TREE;
    first.levels = 1;
    r = sp_traversal_run(t, &far, NULL, &at, &fields[1], 0, &first);
    CHECK(r->complete, "nothing was held back");
    r = sp_traversal_run(t, &at, NULL, &at, &fields[1], 0, &first);
    CHECK(!r->complete, "the next levels were");
}

/* ---- the pointshell ---- */

/* Every point below a node, found by going up from the point, is within its radius for any q; so are moves within
 * reach. */
TEST(spheres_hold_their_points)
{
    for (int deformable = 0; deformable < 2; deformable++)
        for (int s = 0; s < SHELLS; s++) {
            const sp_contact_pointshell *pointshell = &shells[deformable][s];
            int32_t *parent = test_new(pointshell->count, sizeof *parent);
            int64_t children = 0, outside = 0, unreached = 0;
            double tightest = 0;
            for (int k = 1; k < pointshell->levels; k++)
                for (int64_t p = 0; p < pointshell->cumulative[k - 1]; p++) {
                    const int32_t *child = pointshell->child + pointshell->first_node[k - 1] + (k - 1) + p;
                    for (int32_t c = child[0]; c < child[1]; c++) {
                        CHECK(c >= pointshell->cumulative[k - 1] && c < pointshell->cumulative[k],
                              "child %d in level %d", c, k);
                        parent[c] = (int32_t)p;
                        children++;
                    }
                }
            CHECK(children == pointshell->count - pointshell->cumulative[0], "%lld children", (long long)children);
            for (uint64_t i = 0; i < 20; i++) {
                double q[MODES];
                random_q(80, i, i % 2 ? 0.3 : 5, q);
                const double *moved = deformable && i ? q : NULL,
                             reach = sp_contact_pointshell_reach(pointshell, moved);
                for (int64_t p = 0; p < pointshell->count; p++) {
                    double x[3], y[3], d[3];
                    int64_t c = p;
                    sp_contact_pointshell_point(pointshell, p, moved, x);
                    for (int k = 0; k < 3; k++)
                        d[k] = x[k] - pointshell->points[3 * p + k];
                    unreached += length3(d) > reach;
                    for (int k = 0; k < 3; k++)
                        d[k] = pointshell->points[3 * p + k] - pointshell->centre[k];
                    unreached += length3(d) > pointshell->extent;
                    for (int k = pointshell->levels - 1; k >= 1; k--) {
                        c = c < pointshell->cumulative[k - 1] ? c : parent[c];
                        const int64_t node = pointshell->first_node[k - 1] + c;
                        double radius = pointshell->radius[node];
                        for (int64_t j = 0; j < pointshell->modes && moved; j++)
                            radius += pointshell->a[pointshell->modes * node + j] * fabs(q[j]);
                        sp_contact_pointshell_point(pointshell, c, moved, y);
                        for (int a = 0; a < 3; a++)
                            d[a] = x[a] - y[a];
                        outside += length3(d) > radius * (1 + 1e-13) + 1e-15 * (1 + reach);
                        tightest = fmax(tightest, radius > 0 ? length3(d) / radius : 0);
                    }
                }
            }
            CHECK(outside == 0 && unreached == 0, "%lld points outside, %lld out of reach", (long long)outside,
                  (long long)unreached);
            CHECK(tightest > 0.999, "spheres are larger than need be: %g", tightest);
        }
}

/* A renumbered pointshell is the same pointshell. */
TEST(shells_are_what_they_were)
{
    OWNED(sp_surface) surface = torus(16, 10, 1, 0.4);
    OWNED(sp_pointshell) pointshell = shell_of(&surface, SP_POINTSHELL_FARTHEST, 700, 5);
    sp_contact_pointshell c;
    add_modes(&pointshell, MODES);
    CHECK_OK(sp_contact_pointshell_new(&context, &pointshell, &c));
    int64_t wrong = 0, moved = 0;
    double area = 0, weight = 0;
    bool *seen = test_new(pointshell.count, 1);
    for (int64_t p = 0; p < pointshell.count; p++)
        area += pointshell.area[p];
    for (int64_t p = 0; p < c.count; p++) {
        const int64_t o = c.original[p];
        CHECK(o >= 0 && o < c.count && !seen[o], "point %lld", (long long)o);
        seen[o] = true;
        moved += o != p;
        wrong += memcmp(c.points + 3 * p, pointshell.points + 3 * o, 24) ||
                 memcmp(c.normals + 3 * p, pointshell.normals + 3 * o, 24);
        wrong += memcmp(c.U + 3 * MODES * p, pointshell.U + 3 * MODES * o, 24 * MODES) ||
                 memcmp(c.dN + 3 * MODES * p, pointshell.dN + 3 * MODES * o, 24 * MODES);
        wrong += memcmp(c.dT + 6 * MODES * p, pointshell.dT + 6 * MODES * o, 48 * MODES) != 0;
        wrong += sp_pointshell_level_of(&pointshell, o) !=
                 (p < c.cumulative[0] ? 1 : sp_pointshell_level_of(&pointshell, p));
        CHECK_NEAR(c.weight[p], pointshell.area[o] * (double)pointshell.count / area, 1e-12);
        weight += c.weight[p];
        for (int k = 1; k < c.levels && p < c.cumulative[k - 1]; k++) {
            const int64_t from = sp_pointshell_node(&pointshell, k, o), to = c.first_node[k - 1] + p;
            wrong += c.radius[to] != pointshell.radius[from] ||
                     memcmp(c.a + MODES * to, pointshell.a + MODES * from, 8 * MODES);
            const int32_t *child = c.child + c.first_node[k - 1] + (k - 1) + p;
            for (int32_t i = child[0]; i < child[1]; i++)
                wrong += pointshell.parent[c.original[i]] != o;
        }
    }
    CHECK(wrong == 0 && moved > 0, "%lld things are wrong, %lld points have other numbers", (long long)wrong,
          (long long)moved);
    CHECK_NEAR(weight, (double)c.count, 1e-9);
    memset(pointshell.area, 0, (size_t)pointshell.count * sizeof *pointshell.area);
    sp_contact_pointshell_free(&c);
    CHECK_OK(sp_contact_pointshell_new(&context, &pointshell, &c));
    CHECK(c.weight[0] == 1 && c.weight[c.count - 1] == 1, "weights of no area are %g", c.weight[0]);
    sp_contact_pointshell_free(&c);
}

/* Normals: N + dN q of unit length, and by tangents (F⁻ᵀN for F = I + Σ q_j ∇u_j). */
TEST(normals_of_deformed_shells)
{
    const sp_contact_pointshell *pointshell = &shells[1][0];
    for (uint64_t i = 0; i < 50; i++) {
        const int64_t p = (int64_t)(i * 17) % pointshell->count;
        double q[MODES], F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, plain[3], cofactor[9], dual[3], n[3];
        const double *N = pointshell->normals + 3 * p;
        random_q(90, i, 0.2, q);
        for (int j = 0; j < MODES; j++) {
            double u[3], gradient[9];
            mode_at(j, pointshell->points + 3 * p, u, gradient);
            for (int k = 0; k < 9; k++)
                F[k] += q[j] * gradient[k];
        }
        sp_rotate(F, N, plain);
        for (int r = 0; r < 3; r++)
            sp_cross3(F + 3 * ((r + 1) % 3), F + 3 * ((r + 2) % 3), cofactor + 3 * r);
        sp_rotate(cofactor, N, dual);
        sp_contact_pointshell_normal(pointshell, p, q, false, n);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(n[k], plain[k] / length3(plain), 1e-12);
        sp_contact_pointshell_normal(pointshell, p, q, true, n);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(n[k], dual[k] / length3(dual), 1e-12);
        sp_contact_pointshell_normal(pointshell, p, NULL, true, n);
        CHECK(!memcmp(n, N, sizeof n), "at rest");
    }
}
