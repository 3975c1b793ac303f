/* Contact of pointshells with distance fields and with each other: traversal, forces and their derivatives, spheres. */
#include "contact/deformed.h"
#include "contact/penalty.h"
#include "contact/spheres.h"
#include "contact/voxmap.h"
#include "contact_models.h"
#include "formats/import/surface.h"

static sp_sphere_workspace room; /* of all searches in this file */

#include <fcntl.h>
#include <unistd.h>

OWNER(sp_deformed_field)
OWNER(sp_sphere_tree)
OWNER(sp_traversal)
OWNER(sp_voxmap)

enum { SHELLS = 4, FIELDS = 6, GRIDS = 3 };

/* Sphere, torus and box; one of farthest points with deep levels. Each once rigid and once with modes. */
static sp_contact_pointshell shells[2][SHELLS];
static sp_distance fields[FIELDS];
static sp_field grids[GRIDS]; /* torus, box, and the torus so coarsely that its interpolant is far from a distance */

static const sp_traversal_limits EVERYTHING = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = false};
static const sp_traversal_limits TREE = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true};
static const sp_traversal_limits COHERENT = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true, .coherence = true};

static sp_surface box_surface(void)
{
    sp_surface s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.5, -0.75, -0.25}, (double[3]){0.5, 0.75, 0.25});
    return s;
}

static void make_models(void)
{
    sp_surface models[3] = {sphere(24), torus(24, 12, 1, 0.4), box_surface()};
    for (int s = 0; s < SHELLS; s++)
        for (int deformable = 0; deformable < 2; deformable++) {
            sp_pointshell pointshell = s < 3 ? shell_of(&models[s], SP_POINTSHELL_REPULSION, 12 * 85, 4)
                                             : shell_of(&models[1], SP_POINTSHELL_FARTHEST, 1500, 6);
            if (deformable)
                add_modes(&pointshell, MODES);
            shells[deformable][s] = contact_shell(&pointshell);
        }
    grids[0] = field_of(&models[1], 32);
    grids[1] = field_of(&models[2], 20);
    grids[2] = field_of(&models[1], 6);
    fields[0] = (sp_distance){.kind = SP_DISTANCE_PLANE, .normal = {0.6, 0, 0.8}, .offset = 0.1};
    fields[1] = (sp_distance){.kind = SP_DISTANCE_SPHERE, .centre = {0.2, 0.1, -0.3}, .radius = 1.1};
    fields[2] = (sp_distance){.kind = SP_DISTANCE_BOX, .centre = {0.1, 0.2, 0}, .half = {1, 0.7, 0.3}};
    for (int g = 0; g < GRIDS; g++)
        sp_distance_of_field(&grids[g], &fields[3 + g]);
    for (int s = 0; s < 3; s++)
        sp_surface_free(&models[s]);
}

static void free_models(void)
{
    for (int s = 0; s < 2 * SHELLS; s++)
        sp_contact_pointshell_free(&shells[s / SHELLS][s % SHELLS]);
    for (int g = 0; g < GRIDS; g++)
        sp_field_free(&grids[g]);
}

static sp_pose random_pose(uint64_t stream, uint64_t index, double reach)
{
    sp_pose pose;
    random_rotation(stream, index, pose.q);
    for (int k = 0; k < 3; k++)
        pose.x[k] = reach * random_in(stream + 100, 3 * index + (uint64_t)k, -1, 1);
    return pose;
}

static void random_q(uint64_t stream, uint64_t index, double size, double q[MODES])
{
    for (int j = 0; j < MODES; j++)
        q[j] = random_in(stream, MODES * index + (uint64_t)j, -size, size);
}

/* Contacts of points below `end` are the same, bit for bit. */
static bool same_contacts(const sp_traversal_result *a, const sp_traversal_result *all, int64_t end)
{
    int64_t count = 0;
    while (count < all->count && all->point[count] < end)
        count++;
    return a->count == count &&
           (count == 0 || (!memcmp(a->point, all->point, (size_t)count * sizeof *a->point) &&
                           !memcmp(a->distance, all->distance, (size_t)count * sizeof *a->distance) &&
                           !memcmp(a->place, all->place, 3 * (size_t)count * sizeof *a->place)));
}

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

enum path { SLOW, FAST, JUMPING, SPINNING, SWINGING, STILL, PATHS };

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

/* ---- forces ---- */

/* The data of a contact pair. */
typedef struct scene {
    const sp_contact_pointshell *pointshell;
    const sp_distance *distance;
    sp_contact_state a, b;
    sp_penalty penalty;
    sp_traversal *traversal;
    sp_pool pool;
    sp_contact_forces forces;
} scene;

static void new_forces(const sp_contact_pointshell *pointshell, sp_pool *pool, sp_contact_forces *forces)
{
    *forces = (sp_contact_forces){.scale = 1};
    forces->at = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
    forces->normal = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
    forces->force = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
}

static scene new_scene(const sp_contact_pointshell *pointshell, const sp_distance *distance)
{
    scene s = {.pointshell = pointshell,
               .distance = distance,
               .a = {.pose = sp_pose_identity()},
               .b = {.pose = sp_pose_identity()}};
    s.penalty = (sp_penalty){.stiffness = 1000, .limit = INFINITY};
    CHECK_OK(sp_traversal_new(&context, pointshell, &s.traversal));
    new_forces(pointshell, &s.pool, &s.forces);
    return s;
}

static void end_scene(scene *s)
{
    sp_traversal_free(s->traversal);
    sp_pool_free(&s->pool);
}

static const sp_traversal_result *meet(scene *s, const sp_traversal_limits *limits)
{
    const sp_traversal_result *found =
        sp_traversal_run(s->traversal, &s->a.pose, s->a.q, &s->b.pose, s->distance, 0, limits);
    sp_penalty_forces(&s->penalty, s->pointshell, &s->a, s->distance, &s->b, found, &s->forces);
    return found;
}

/* Pose moved by dx and turned by dω about a point. */
static sp_pose moved_pose(const sp_pose *pose, const double about[3], const double d[6])
{
    sp_pose to = *pose;
    double turn[4], R[9], arm[3], turned[3];
    sp_quaternion_from_vector(d + 3, turn);
    sp_quaternion_matrix(turn, R);
    for (int k = 0; k < 3; k++)
        arm[k] = pose->x[k] - about[k];
    sp_rotate(R, arm, turned);
    for (int k = 0; k < 3; k++)
        to.x[k] = about[k] + turned[k] + d[k];
    sp_quaternion_multiply(turn, pose->q, to.q);
    return to;
}

/* Force and torque [6] on the grasped body when it is moved by d. */
static int64_t wrench_at(scene *s, bool pointshell_moves, const double about[3], const double d[6], double wrench[6])
{
    const scene keep = *s;
    sp_pose *pose = pointshell_moves ? &s->a.pose : &s->b.pose;
    double to[3];
    *pose = moved_pose(pose, about, d);
    for (int k = 0; k < 3; k++)
        to[k] = about[k] + d[k];
    const int64_t count = meet(s, &EVERYTHING)->count;
    memset(wrench, 0, 6 * sizeof *wrench);
    sp_contact_forces_total(&s->forces, pointshell_moves ? 1 : -1, to, wrench, wrench + 3);
    s->a = keep.a;
    s->b = keep.b;
    return count;
}

/* Of the analytic derivatives by central differences with step h [relative to the largest]; NAN where points come or
 * go. */
static double derivative_error(scene *s, bool pointshell_moves, bool normals, double h)
{
    const double about[3] = {0.3, -0.4, 0.2}, none[6] = {0};
    double now[6], worst = 0, largest[4] = {0}, error[4] = {0};
    sp_wrench w = {.force = {0}};
    const int64_t count = wrench_at(s, pointshell_moves, about, none, now);
    meet(s, &EVERYTHING);
    sp_penalty_wrench(&s->penalty, s->pointshell, s->distance, &s->b.pose, &s->forces, pointshell_moves, normals, about,
                      &w);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(w.force[k], now[k], 1e-10 * (1 + length3(now)));
        CHECK_NEAR(w.torque[k], now[k + 3], 1e-10 * (1 + length3(now + 3)));
    }
    if (count == 0)
        return NAN;
    for (int c = 0; c < 6; c++) {
        double d[6] = {0}, up[6], down[6];
        d[c] = h;
        if (wrench_at(s, pointshell_moves, about, d, up) != count)
            return NAN;
        d[c] = -h;
        if (wrench_at(s, pointshell_moves, about, d, down) != count)
            return NAN;
        for (int r = 0; r < 6; r++) {
            const double *block = r < 3 ? (c < 3 ? w.force_x : w.force_w) : (c < 3 ? w.torque_x : w.torque_w);
            const double analytic = block[3 * (r % 3) + c % 3];
            const int b = 2 * (r / 3) + c / 3;
            error[b] = fmax(error[b], fabs((up[r] - down[r]) / (2 * h) - analytic));
            largest[b] = fmax(largest[b], fabs(analytic));
        }
    }
    for (int b = 0; b < 4; b++)
        worst = fmax(worst, error[b] / fmax(largest[b], 1e-3 * s->penalty.stiffness));
    return worst;
}

TEST(wrenches_are_derivatives)
{
    sp_pointshell few = ball_shell(SP_POINTSHELL_REPULSION, 16, 40, 1, 1);
    add_modes(&few, MODES);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&few);
    /* one cell, in which the interpolant is a polynomial */
    float corners[8] = {-1.5f, -0.75f, -1, -0.25f, -0.5f, 0.5f, -0.25f, 1};
    sp_field cell = {.cells = {1, 1, 1}, .origin = {-8, -8, -8}, .spacing = 16, .distance = corners};
    sp_distance grid;
    sp_distance_of_field(&cell, &grid);
    const sp_distance *kinds[4] = {&fields[0], &fields[1], &fields[2], &grid};
    for (int c = 0; c < 16; c++) {
        const int f = c / 4, role = c / 2 % 2, by_gradient = c % 2;
        int64_t tried = 0, poses = 0;
        double worst = 0, slope = INFINITY;
        for (uint64_t i = 0; i < 400 && tried < 12; i++) {
            scene s = new_scene(&pointshell, kinds[f]);
            double q[MODES];
            s.a.pose = random_pose(110, i, 1.5);
            s.b.pose = random_pose(111, i, 0.3);
            random_q(112, i, 0.1, q);
            s.a.q = i % 2 ? q : NULL;
            s.penalty.direction = by_gradient ? SP_PENALTY_GRADIENT : SP_PENALTY_NORMAL;
            s.penalty.by_area = i % 3 == 0;
            s.penalty.tangents = i % 4 == 0;
            s.penalty.limit = i % 5 ? INFINITY : 1.5;
            poses++;
            /* along the gradient the derivative is exact whatever the coupling takes for it */
            const bool normals = by_gradient && i % 2;
            const double coarse = derivative_error(&s, role, normals, 4e-3),
                         fine = derivative_error(&s, role, normals, 2e-3),
                         finest = derivative_error(&s, role, normals, 1e-3);
            if (isfinite(coarse) && isfinite(fine) && isfinite(finest)) {
                tried++;
                /* a box is not smooth everywhere; rounding is about 1e-16 / 1e-3 */
                if (coarse > 1e-7)
                    slope = fmin(slope, log2(coarse / finest) / 2);
                worst = fmax(worst, finest);
            }
            end_scene(&s);
        }
        CHECK(tried == 12, "field %d: only %lld of %lld poses keep their points", f, (long long)tried,
              (long long)poses);
        /* differences of a gradient that turns are off by h²/ρ², with ρ ≥ 0.2 m from the centre of the sphere */
        CHECK(worst < (by_gradient ? 2.5e-5 : 1e-5), "field %d, role %d, direction %d: off by %g", f, role, by_gradient,
              worst);
        CHECK(slope > 1.9, "field %d, role %d, direction %d: slope %g", f, role, by_gradient, slope);
        NOTE("field %d, %s grasped, %s: off by %.1e at 1e-3, slope %.3f", f, role ? "shell" : "distances",
             by_gradient ? "gradients" : "normals", worst, slope);
    }
}

/* F = −∂/∂x Σ ½ k w d² for forces along gradients, by central differences; against a plane all of it is along the
 * plane's normal. */
TEST(gradients_have_a_potential)
{
    const sp_contact_pointshell *pointshell = &shells[1][1];
    for (uint64_t i = 0; i < 40; i++) {
        const int f = (int)(i % 3);
        scene s = new_scene(pointshell, &fields[f]);
        const double h = 1e-6, none[6] = {0}, about[3] = {0};
        double q[MODES], now[6], energy[2], off = 0;
        s.penalty.direction = i % 2 ? SP_PENALTY_GRADIENT : SP_PENALTY_BY_GEOMETRY;
        s.penalty.by_area = i % 4 == 0;
        s.a.pose = random_pose(125, i, 0.9);
        s.b.pose = random_pose(126, i, 0.3);
        random_q(127, i, 0.1, q);
        s.a.q = q;
        wrench_at(&s, true, about, none, now);
        for (int k = 0; k < 3; k++) {
            const scene keep = s;
            for (int side = 0; side < 2; side++) {
                energy[side] = 0;
                s.a.pose.x[k] = keep.a.pose.x[k] + (side ? h : -h);
                const sp_traversal_result *found = meet(&s, &EVERYTHING);
                for (int64_t c = 0; c < found->count; c++)
                    energy[side] += 500 * (s.penalty.by_area ? pointshell->weight[found->point[c]] : 1) *
                                    found->distance[c] * found->distance[c];
            }
            s.a = keep.a;
            off = fmax(off, fabs(now[k] + (energy[1] - energy[0]) / (2 * h)));
        }
        CHECK(off < 1e-4 * (1 + length3(now)), "field %d: force off by %g of %g N from the gradient of its energy", f,
              off, length3(now));
        double B[9], normal[3], aside[3];
        sp_quaternion_matrix(s.b.pose.q, B);
        sp_rotate(B, fields[0].normal, normal);
        sp_cross3(now, normal, aside);
        CHECK(f != 0 || length3(aside) <= 1e-14 * length3(now), "%g N aside of the plane's normal, %g N along it",
              length3(aside), length3(now));
        end_scene(&s);
    }
}

/* With the normal of the point in place of the gradient: exact where they are equal. */
TEST(wrenches_by_normals)
{
    const double up[3] = {0, 0, 1};
    OWNED(sp_contact_pointshell) pointshell = one_point(0.1, 0.2, -0.3, up);
    const sp_distance plane = plane_at(0);
    for (int role = 0; role < 2; role++) {
        scene s = new_scene(&pointshell, &plane);
        sp_wrench a = {.force = {0}}, b = {.force = {0}};
        const double about[3] = {1, 2, 3};
        meet(&s, &TREE);
        CHECK(s.forces.count == 1, "%lld", (long long)s.forces.count);
        CHECK_NEAR(s.forces.force[2], 300, 1e-10);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, false, about, &a);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, true, about, &b);
        CHECK(!memcmp(&a, &b, sizeof a), "normals and gradient differ");
        /* a tilted normal: the error is the component that is not along the gradient */
        s.forces.normal[0] = 0.6;
        s.forces.normal[2] = 0.8;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, false, about, &a);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, true, about, &b);
        CHECK_NEAR(a.force_x[2], -1000 * 0.6, 1e-9);
        CHECK_NEAR(b.force_x[2], -1000 * 0.6 * 0.8, 1e-9);
        CHECK_NEAR(a.force_x[0], 0, 1e-9);
        CHECK_NEAR(b.force_x[0], -1000 * 0.36, 1e-9);
        end_scene(&s);
    }
}

/* Q·δq is the work of the forces on the displacements of their points, here between two states of the shell. */
TEST(virtual_work)
{
    for (uint64_t i = 0; i < 40; i++) {
        const sp_contact_pointshell *pointshell = &shells[1][i % SHELLS];
        scene s = new_scene(pointshell, &fields[i % FIELDS]);
        double q[MODES], dq[MODES], to[MODES], Q[MODES] = {0}, work = 0, product = 0, size = 0, A[9];
        s.a.pose = random_pose(120, i, 0.8);
        s.b.pose = random_pose(121, i, 0.3);
        random_q(122, i, 0.2, q);
        random_q(123, i, 1, dq);
        s.a.q = q;
        s.penalty.limit = 30;
        for (int j = 0; j < MODES; j++)
            to[j] = q[j] + dq[j];
        meet(&s, &TREE);
        sp_contact_forces_project(&s.forces, pointshell, &s.a.pose, Q);
        sp_quaternion_matrix(s.a.pose.q, A);
        for (int64_t c = 0; c < s.forces.count; c++) {
            double x[3], y[3], d[3], D[3];
            sp_contact_pointshell_point(pointshell, s.forces.point[c], q, x);
            sp_contact_pointshell_point(pointshell, s.forces.point[c], to, y);
            for (int k = 0; k < 3; k++)
                d[k] = y[k] - x[k];
            sp_rotate(A, d, D);
            work += sp_dot3(D, s.forces.force + 3 * c);
            size += length3(D) * length3(s.forces.force + 3 * c);
        }
        for (int j = 0; j < MODES; j++)
            product += Q[j] * dq[j];
        CHECK(s.forces.count > 0 || i % SHELLS, "no contact");
        CHECK_NEAR(product, work, 1e-13 * size);
        end_scene(&s);
    }
}

/* Unit hexahedra [0, n]³ scaled by h, moved by U_j = A_j X. */
static sp_mesh block(int n, double h)
{
    sp_mesh mesh = {.vertex_count = (int64_t)(n + 1) * (n + 1) * (n + 1),
                    .block[SP_HEX8].count = (int64_t)n * n * n,
                    .quadrature = 2};
    mesh.vertices = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof(double));
    mesh.block[SP_HEX8].node = sp_pool_new(&mesh.pool, 8 * mesh.block[SP_HEX8].count, sizeof(int64_t));
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            mesh.vertices[3 * v + k] = h * ((double)(k == 0   ? v % (n + 1)
                                                     : k == 1 ? v / (n + 1) % (n + 1)
                                                              : v / (n + 1) / (n + 1)) -
                                            0.5 * n);
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++) {
        const int64_t i = e % n, j = e / n % n, k = e / n / n, row = n + 1, low = (k * row + j) * row + i,
                      high = low + row * row;
        const int64_t corner[8] = {low, low + 1, low + row + 1, low + row, high, high + 1, high + row + 1, high + row};
        memcpy(mesh.block[SP_HEX8].node + 8 * e, corner, sizeof corner);
    }
    return mesh;
}

/* The body of the field feels the opposite force at the proxy nearest to each point, and its material moves as that
 * proxy. */
TEST(work_on_deformed_fields)
{
    enum { PROXIES = 50 };
    sp_mesh mesh = block(2, 1.6);
    double *U = test_new(3 * mesh.vertex_count * AFFINE, sizeof *U), proxies[3 * PROXIES];
    for (int j = 0; j < AFFINE; j++)
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            double gradient[9];
            mode_at(j, mesh.vertices + 3 * v, U + 3 * (j * mesh.vertex_count + v), gradient);
        }
    for (int i = 0; i < PROXIES; i++) {
        random_direction(130, (uint64_t)i, proxies + 3 * i);
        const double around = hypot(proxies[3 * i], proxies[3 * i + 1]); /* on the torus */
        proxies[3 * i] *= (around > 0 ? 1 / around : 1) * (1 + 0.4 * cos(i));
        proxies[3 * i + 1] *= (around > 0 ? 1 / around : 1) * (1 + 0.4 * cos(i));
        proxies[3 * i + 2] = 0.4 * sin(i);
    }
    OWNED_POINTER(sp_deformed_field) *deformed;
    const sp_deformed_domain domain = {.field = &grids[0], .count = PROXIES, .points = proxies};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, AFFINE, U, 1, &domain, 5, &deformed));
    const sp_distance distance = {.kind = SP_DISTANCE_DEFORMED, .deformed = deformed, .slack = fields[3].slack};
    int64_t contacts = 0;
    for (uint64_t i = 0; i < 40; i++) {
        const sp_contact_pointshell *pointshell = &shells[1][0];
        scene s = new_scene(pointshell, &distance);
        double q[AFFINE], qdot[AFFINE], Q[AFFINE] = {0}, B[9], work[AFFINE] = {0}, size = 0;
        for (int j = 0; j < AFFINE; j++) {
            q[j] = random_in(131, 3 * i + (uint64_t)j, -0.3, 0.3);
            qdot[j] = random_in(132, 3 * i + (uint64_t)j, -3, 3);
        }
        sp_deformed_field_update(deformed, q);
        s.a.pose = random_pose(133, i, 1);
        s.b.pose = random_pose(134, i, 0.3);
        s.b.q = q;
        s.b.qdot = qdot;
        for (int k = 0; k < 3; k++) {
            s.a.velocity[k] = random_in(135, 3 * i + (uint64_t)k, -1, 1);
            s.b.velocity[k] = random_in(136, 3 * i + (uint64_t)k, -1, 1);
            s.b.angular_velocity[k] = random_in(137, 3 * i + (uint64_t)k, -1, 1);
        }
        s.penalty.damping = 20;
        s.penalty.limit = 10;
        meet(&s, &TREE);
        contacts += s.forces.count;
        sp_contact_forces_project_field(&s.forces, &distance, &s.b.pose, Q);
        sp_quaternion_matrix(s.b.pose.q, B);
        for (int64_t c = 0; c < s.forces.count; c++) {
            const double *at = s.forces.at + 3 * c, *f = s.forces.force + 3 * c, *N = s.forces.normal + 3 * c;
            double r[3], place[3], best = INFINITY, w[AFFINE][3] = {{0}}, v[3], turn[3], push = 0, rate[3] = {0},
                                   Rate[3];
            for (int k = 0; k < 3; k++)
                r[k] = at[k] - s.b.pose.x[k];
            sp_rotate_back(B, r, place);
            for (int p = 0; p < PROXIES; p++) {
                double u[AFFINE][3], gradient[9], d[3];
                memcpy(d, proxies + 3 * p, sizeof d);
                for (int j = 0; j < AFFINE; j++) {
                    mode_at(j, proxies + 3 * p, u[j], gradient);
                    for (int k = 0; k < 3; k++)
                        d[k] += q[j] * u[j][k];
                }
                for (int k = 0; k < 3; k++)
                    d[k] -= place[k];
                if (length3(d) < best) {
                    best = length3(d);
                    memcpy(w, u, sizeof w);
                }
            }
            sp_cross3(s.b.angular_velocity, r, turn);
            for (int j = 0; j < AFFINE; j++) {
                double W[3];
                sp_rotate(B, w[j], W);
                work[j] -= sp_dot3(W, f);
                size += length3(W) * length3(f);
                for (int k = 0; k < 3; k++)
                    rate[k] += w[j][k] * qdot[j];
            }
            sp_rotate(B, rate, Rate);
            for (int k = 0; k < 3; k++)
                v[k] = s.a.velocity[k] - s.b.velocity[k] - turn[k] - Rate[k];
            push = s.forces.scale * fmax(0, -1000 * s.forces.distance[c] - 20 * sp_dot3(v, N));
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(f[k], push * N[k], 1e-10 * (1 + push));
        }
        for (int j = 0; j < AFFINE; j++)
            CHECK_NEAR(Q[j], work[j], 1e-12 * size);
        end_scene(&s);
    }
    CHECK(contacts > 500, "%lld contacts", (long long)contacts);
    sp_pool_free(&mesh.pool);
}

/* A field that moves by a translation mode stays exact: coherence must include its motion. A field that is inverted for
 * a while has no values then, and is valid again afterwards. */
TEST(coherence_with_fields_that_move)
{
    sp_mesh mesh = block(1, 4);
    double U[3 * 8 * 2] = {0};
    const double proxy[3] = {0.1, 0.2, 0.3};
    for (int v = 0; v < 8; v++) {
        U[3 * v + 2] = 1;
        for (int k = 0; k < 3; k++)
            U[24 + 3 * v + k] = mesh.vertices[3 * v + k];
    }
    OWNED_POINTER(sp_deformed_field) *deformed;
    const sp_deformed_domain domain = {.field = &grids[0], .count = 1, .points = proxy};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, 2, U, 1, &domain, 1, &deformed));
    const sp_distance distance = {.kind = SP_DISTANCE_DEFORMED, .deformed = deformed, .slack = fields[3].slack};
    const sp_contact_pointshell *pointshell = &shells[0][0];
    OWNED_POINTER(sp_traversal) *coherent, *all;
    CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
    CHECK_OK(sp_traversal_new(&context, pointshell, &all));
    const double *reach = sp_deformed_field_reach(deformed);
    double before[2] = {0};
    int64_t differ = 0, passed = 0, touching = 0, after = 0;
    for (int i = 0; i < 600; i++) {
        const double q[2] = {1.2 * sin(0.02 * i), i == 300 ? -2 : 0};
        sp_pose pose = sp_pose_identity();
        const sp_pose at = sp_pose_identity();
        pose.x[2] = 1.6;
        sp_deformed_field_update(deformed, q);
        const double moved = reach[0] * fabs(q[0] - before[0]) + reach[1] * fabs(q[1] - before[1]);
        memcpy(before, q, sizeof q);
        const sp_traversal_result *a = sp_traversal_run(coherent, &pose, NULL, &at, &distance, moved, &COHERENT);
        passed += a->passed;
        const sp_traversal_result *b = sp_traversal_run(all, &pose, NULL, &at, &distance, 0, &EVERYTHING);
        differ += !same_contacts(a, b, pointshell->count);
        touching += b->count > 0;
        after += i > 400 && b->count > 0;
    }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(passed > 0 && touching > 50 && touching < 550 && after > 0, "%lld passed, %lld touch, %lld after",
          (long long)passed, (long long)touching, (long long)after);
    sp_pool_free(&mesh.pool);
}

/* Damping acts against approach and never pulls; forces scale with the weights. */
TEST(damping_and_scale)
{
    const double up[3] = {0, 0, 1};
    sp_contact_pointshell pointshell = one_point(0, 0, -0.5, up);
    const sp_distance plane = plane_at(-0.4);
    scene s = new_scene(&pointshell, &plane);
    s.penalty.damping = 10;
    const double speeds[4] = {-3, 0, 3, 30}, expected[4] = {130, 100, 70, 0};
    for (int i = 0; i < 4; i++) {
        s.a.velocity[2] = speeds[i];
        meet(&s, &TREE);
        CHECK_NEAR(s.forces.force[2], expected[i], 1e-10);
    }
    s.a.velocity[2] = 0;
    s.a.angular_velocity[1] = 2; /* about the frame's origin, 2 m to the side */
    s.a.pose.x[0] = 2;
    for (int k = 0; k < 3; k++)
        s.b.velocity[k] = k == 2 ? 1 : 5;
    meet(&s, &TREE);
    CHECK_NEAR(s.forces.force[2], 100 + 10, 1e-10); /* ω × r has no vertical part for r along z */
    s.penalty.limit = 0.25;
    meet(&s, &TREE);
    CHECK_NEAR(s.forces.scale, 0.25, 1e-15);
    CHECK_NEAR(s.forces.force[2], 110 / 4.0, 1e-10);
    end_scene(&s);
    sp_contact_pointshell_free(&pointshell);
    s = new_scene(&shells[0][0], &fields[1]);
    double total = 0;
    s.penalty.limit = 3;
    s.penalty.by_area = true;
    meet(&s, &TREE);
    for (int64_t i = 0; i < s.forces.count; i++)
        total += s.forces.scale * s.pointshell->weight[s.forces.point[i]];
    CHECK_NEAR(total, 3, 1e-12);
    for (int64_t i = 0; i < s.forces.count; i++) {
        const double f =
            s.penalty.stiffness * -s.forces.distance[i] * s.pointshell->weight[s.forces.point[i]] * s.forces.scale;
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(s.forces.force[3 * i + k], f * s.forces.normal[3 * i + k], 1e-12 * f);
    }
    end_scene(&s);
}

/* Voxmaps: depth by the tangent plane. Points in proximity voxels are listed on request and have no springs. */
TEST(voxmaps)
{
    OWNED_POINTER(sp_voxmap) *voxmap = NULL;
    CHECK_OK(sp_voxmap_new(&context, &grids[1], &voxmap));
    const sp_distance distance = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    int64_t deep = 0, near = 0, wrong = 0;
    for (uint64_t i = 0; i < 60; i++) {
        const sp_contact_pointshell *pointshell = &shells[0][i % 3];
        scene s = new_scene(pointshell, &distance);
        double weight = 0, A[9], B[9], dF[9] = {0};
        s.a.pose = random_pose(140, i, 1);
        s.b.pose = random_pose(141, i, 0.3);
        s.penalty.limit = 7;
        sp_traversal_limits limits = COHERENT;
        limits.proximity = i % 2;
        const sp_traversal_result *found = meet(&s, &limits);
        sp_quaternion_matrix(s.a.pose.q, A);
        sp_quaternion_matrix(s.b.pose.q, B);
        int64_t next = 0;
        for (int64_t p = 0; p < pointshell->count; p++) {
            double w[3], x[3], n[3], N[3];
            sp_rotate(A, pointshell->points + 3 * p, w);
            for (int k = 0; k < 3; k++)
                w[k] += s.a.pose.x[k] - s.b.pose.x[k];
            sp_rotate_back(B, w, x);
            sp_rotate(A, pointshell->normals + 3 * p, n);
            sp_rotate_back(B, n, N);
            const enum sp_voxel kind = sp_voxmap_at(voxmap, x, NULL);
            const double depth = sp_voxmap_depth(voxmap, x, N);
            const bool listed = next < found->count && found->point[next] == p;
            wrong += listed != (depth < 0 || (limits.proximity && kind == SP_VOXEL_PROXIMITY));
            if (!listed)
                continue;
            wrong += fabs(found->distance[next] - fmin(depth, 0)) > 1e-11;
            weight += depth < 0;
            deep += depth < 0;
            near += depth >= 0;
            if (depth < 0)
                for (int k = 0; k < 9; k++)
                    dF[k] -= n[k / 3] * n[k % 3];
            next++;
        }
        const double scale = weight > 7 ? 7 / weight : 1;
        sp_wrench wrench = {.force = {0}};
        const double about[3] = {0};
        sp_penalty_wrench(&s.penalty, pointshell, &distance, &s.b.pose, &s.forces, true, false, about, &wrench);
        for (int k = 0; k < 9; k++)
            CHECK_NEAR(wrench.force_x[k], 1000 * scale * dF[k], 1e-9 * 1000 * (1 + weight));
        CHECK_NEAR(s.forces.scale, scale, 1e-15);
        for (int64_t c = 0; c < s.forces.count; c++)
            CHECK_NEAR(sp_dot3(s.forces.force + 3 * c, s.forces.normal + 3 * c), -1000 * scale * s.forces.distance[c],
                       1e-9);
        end_scene(&s);
    }
    CHECK(wrong == 0 && deep > 100 && near > 100, "%lld wrong, %lld deep, %lld near", (long long)wrong, (long long)deep,
          (long long)near);
}

/* ---- eq. 3.2 ---- */

/* −∫ d n dS and ∫ dS over the part of a sphere of unit radius that is below the plane, whose depth is δ: with u the
 * cosine from below, d = c − u, c = 1 − δ. */
static double cap_mean(double depth)
{
    const double c = 1 - depth, integral = c * (1 - c * c) / 2 - (1 - c * c * c) / 3;
    return -integral / (1 - c);
}

/* Force by k L over random rotations of the shell, against the integral: root mean square of the relative error, its
 * mean, and the largest sideways part. */
static void force_error(const sp_contact_pointshell *pointshell, int levels, bool by_area, double depth, double *square,
                        double *mean, double *aside)
{
    enum { TURNS = 40 };
    const sp_distance plane = plane_at(0);
    scene s = new_scene(pointshell, &plane);
    sp_traversal_limits limits = TREE;
    limits.levels = levels;
    s.penalty.limit = 2;
    s.penalty.by_area = by_area;
    *square = *mean = *aside = 0;
    for (uint64_t i = 0; i < TURNS; i++) {
        double F[3] = {0}, T[3] = {0};
        random_rotation(150, i, s.a.pose.q);
        s.a.pose.x[2] = 1 - depth;
        meet(&s, &limits);
        sp_contact_forces_total(&s.forces, 1, s.a.pose.x, F, T);
        CHECK(length3(T) < 1e-9 * length3(F), "forces through the centre have a torque of %g", length3(T));
        const double expected = 1000 * 2 * cap_mean(depth), error = F[2] / expected - 1;
        *square += error * error / TURNS;
        *mean += error / TURNS;
        *aside = fmax(*aside, hypot(F[0], F[1]) / expected);
    }
    *square = sqrt(*square);
    end_scene(&s);
}

TEST(forces_converge_to_the_integral)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 32, 12 * 341, 5, 1);
    CHECK(made.levels == 5, "%d", made.levels);
    sp_contact_pointshell pointshell = contact_shell(&made);
    double error[6], mean, aside[6];
    for (int levels = 3; levels <= 5; levels++) {
        force_error(&pointshell, levels, false, 0.4, &error[levels], &mean, &aside[levels]);
        NOTE("level %d, %lld points: force off by %.2e, %.2e aside", levels,
             (long long)pointshell.cumulative[levels - 1], error[levels], aside[levels]);
    }
    /* The quadrature counts whole points. The uncertainty is about one row of points at the rim, where d vanishes but l
     * counts fully: h ~ 1/√n. */
    CHECK(error[4] < 0.6 * error[3] && error[5] < 0.6 * error[4] && error[5] < 0.02, "%g %g %g", error[3], error[4],
          error[5]);
    CHECK(aside[5] < 0.5 * aside[3], "%g %g", aside[3], aside[5]);
    double weighted;
    force_error(&pointshell, 5, true, 0.4, &weighted, &mean, &aside[0]);
    NOTE("by area: off by %.2e", weighted);
    CHECK(weighted < 0.02, "%g", weighted);
    sp_contact_pointshell_free(&pointshell);
    /* denser at the poles: wrong without areas for any number of points */
    made = ball_shell(SP_POINTSHELL_VERTICES, 96, 0, 1, 1);
    pointshell = contact_shell(&made);
    const sp_distance plane = plane_at(0);
    double off[2];
    for (int by_area = 0; by_area < 2; by_area++) {
        scene s = new_scene(&pointshell, &plane);
        double F[3] = {0}, T[3] = {0};
        s.penalty.limit = 2;
        s.penalty.by_area = by_area;
        s.a.pose.x[2] = 1 - 0.4;
        meet(&s, &TREE);
        sp_contact_forces_total(&s.forces, 1, s.a.pose.x, F, T);
        off[by_area] = F[2] / (2000 * cap_mean(0.4)) - 1;
        end_scene(&s);
    }
    NOTE("vertices crowded at the pole: off by %.3f, by area %.3f", off[0], off[1]);
    /* the areas of half a ring at the rim are in error: ½ h sin θ of 1 − cos θ */
    CHECK(fabs(off[0]) > 0.1 && fabs(off[1]) < 1.2 * 0.5 * PI / 96 * 0.8 / 0.4, "%g, by area %g", off[0], off[1]);
    sp_contact_pointshell_free(&pointshell);
}

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

BEFORE_TESTS()
{
    make_models();
}

AFTER_TESTS()
{
    free_models();
}
