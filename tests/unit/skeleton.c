/* Bones in joint coordinates: kinematics, inertia and forces by differences and by point masses, and motions with known
 * solutions. */
#include "rigid/skeleton.h"
#include "allocations.h"
#include "base/random.h"
#include "test.h"

#include <lapacke.h>

OWNER(sp_skeleton)

/* ---- a tree of all kinds of joints; each bone consists of a few point masses, which are also vertices attached to it
 * ---- */

enum { BONES = 7, POINTS = 5, VERTICES = BONES * POINTS, SPRINGS = 3, LEVELS = 3 };

typedef struct tree {
    sp_bone bones[BONES];
    int64_t vertex[BONES][POINTS];
    double vertices[3 * VERTICES], mass[VERTICES], weightless[VERTICES];
    sp_bone_spring springs[SPRINGS];
    double time[SPRINGS][3], anchor[SPRINGS][9];
} tree;

static uint64_t draws;
static double uniform(void) /* in (−1, 1) */
{
    return 2 * sp_random_uniform(7, 0, draws++) - 1;
}

/* Mass, centre and inertia of points; the points of bone i are vertices i, i + BONES, … */
static void gather(tree *t, int i)
{
    sp_bone *b = &t->bones[i];
    b->mass = 0;
    memset(b->centre, 0, sizeof b->centre);
    memset(b->inertia, 0, sizeof b->inertia);
    for (int k = 0; k < POINTS; k++) {
        const int64_t v = t->vertex[i][k];
        b->mass += t->mass[v];
        for (int c = 0; c < 3; c++)
            b->centre[c] += t->mass[v] * t->vertices[3 * v + c];
    }
    for (int c = 0; c < 3; c++)
        b->centre[c] /= b->mass;
    for (int k = 0; k < POINTS; k++) {
        const int64_t v = t->vertex[i][k];
        const double x = t->vertices[3 * v] - b->centre[0], y = t->vertices[3 * v + 1] - b->centre[1],
                     z = t->vertices[3 * v + 2] - b->centre[2], m = t->mass[v];
        const double part[6] = {y * y + z * z, x * x + z * z, x * x + y * y, -y * z, -z * x, -x * y};
        for (int c = 0; c < 6; c++)
            b->inertia[c] += m * part[c];
    }
}

static void make_tree(tree *t)
{
    static const int64_t parent[BONES] = {-1, 0, 1, 0, 3, -1, 4};
    static const enum sp_joint_kind kind[BONES] = {SP_JOINT_REVOLUTE, SP_JOINT_PRISMATIC, SP_JOINT_REVOLUTE,
                                                   SP_JOINT_REVOLUTE, SP_JOINT_PRISMATIC, SP_JOINT_PRISMATIC,
                                                   SP_JOINT_REVOLUTE};
    *t = (tree){0};
    draws = 0;
    for (int i = 0; i < BONES; i++) {
        sp_bone *b = &t->bones[i];
        b->parent = parent[i];
        b->kind = kind[i];
        for (int c = 0; c < 3; c++) {
            b->at[c] = uniform() + 0.5 * i;
            b->axis[c] = 3 * uniform(); /* of any length */
        }
        for (int k = 0; k < POINTS; k++) {
            const int64_t v = t->vertex[i][k] = i + (int64_t)BONES * k;
            t->mass[v] = 1.5 + uniform();
            for (int c = 0; c < 3; c++)
                t->vertices[3 * v + c] = uniform() + 0.5 * i;
        }
        b->vertex = t->vertex[i];
        b->vertex_count = POINTS;
        gather(t, i);
        b->start = uniform();
        b->rate = uniform();
        b->stiffness = 20 + 10 * uniform();
        b->rest = uniform();
    }
    for (int i = 0; i < SPRINGS; i++) {
        t->springs[i] = (sp_bone_spring){.bone = 2 * (i + 1),
                                         .stiffness = 15 + 10 * uniform(),
                                         .count = i == 0 ? 1 : 3,
                                         .time = t->time[i],
                                         .anchor = t->anchor[i]};
        for (int c = 0; c < 9; c++)
            t->anchor[i][c] = 3 * uniform();
        for (int c = 0; c < 3; c++) {
            t->springs[i].at[c] =
                t->vertices[3 * t->springs[i].bone + c]; /* at a vertex, whose columns are then those of the spring */
            t->time[i][c] = c * c + 0.25;
        }
    }
}

static const double none[3] = {0}, gravity[3] = {2, -3, -9.81};

/* At other coordinates and rates (NULL: those of the tree). */
static sp_skeleton *make(const tree *t, const double *theta, const double *rate, const double acceleration[3],
                         int springs, bool weighty, bool slack)
{
    sp_bone bones[BONES];
    sp_skeleton *s = NULL;
    memcpy(bones, t->bones, sizeof bones);
    for (int i = 0; i < BONES; i++) {
        bones[i].start = theta ? theta[i] : bones[i].start;
        bones[i].rate = rate ? rate[i] : bones[i].rate;
        if (slack)
            bones[i].stiffness = 0;
    }
    CHECK_OK(sp_skeleton_new(&context, VERTICES, t->vertices, weighty ? t->mass : t->weightless, acceleration, BONES,
                             bones, springs, t->springs, &s));
    return s;
}

static void coordinates(const tree *t, double theta[BONES], int moved, double by)
{
    for (int i = 0; i < BONES; i++)
        theta[i] = t->bones[i].start + (i == moved ? by : 0);
}

static bool carries(const tree *t, int64_t joint, int64_t bone)
{
    for (; bone >= 0; bone = t->bones[bone].parent)
        if (bone == joint)
            return true;
    return false;
}

static void placed(const sp_pose *pose, const double X[3], double x[3])
{
    double R[9];
    sp_quaternion_matrix(pose->q, R);
    sp_rotate(R, X, x);
    for (int c = 0; c < 3; c++)
        x[c] += pose->x[c];
}

static double slope(const double error[LEVELS])
{
    return log2(error[LEVELS - 2] / error[LEVELS - 1]);
}

/* ---- kinematics ---- */

/* The definition of joints: a revolute joint has the same place and axis in parent and child, and the rotation between
 * them is θ; a prismatic joint does not rotate, and translates by θ along its axis. */
TEST(joints_hold)
{
    tree t;
    make_tree(&t);
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, none, 0, false, false);
    for (int i = 0; i < BONES; i++) {
        const sp_bone *b = &t.bones[i];
        sp_pose child, parent = sp_pose_identity();
        double axis[3] = {b->axis[0], b->axis[1], b->axis[2]}, tip[3], p[3], c[3], ptip[3], ctip[3], back[4], turn[4],
               v[3];
        sp_unit_vector(3, axis);
        sp_skeleton_pose(s, i, &child);
        if (b->parent >= 0)
            sp_skeleton_pose(s, b->parent, &parent);
        for (int k = 0; k < 3; k++)
            tip[k] = b->at[k] + axis[k];
        placed(&parent, b->at, p);
        placed(&child, b->at, c);
        placed(&parent, tip, ptip);
        placed(&child, tip, ctip);
        const double slide = b->kind == SP_JOINT_PRISMATIC ? b->start : 0,
                     angle = b->kind == SP_JOINT_REVOLUTE ? b->start : 0;
        for (int k = 0; k < 3; k++) { /* about ten rounding errors of numbers up to 5 */
            CHECK_NEAR(c[k], p[k] + slide * (ptip[k] - p[k]), 1e-14);
            CHECK_NEAR(ctip[k], ptip[k] + slide * (ptip[k] - p[k]), 1e-14);
        }
        memcpy(back, parent.q, sizeof back);
        for (int k = 1; k < 4; k++)
            back[k] = -back[k];
        sp_quaternion_multiply(back, child.q, turn);
        sp_quaternion_to_vector(turn, v);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(v[k], angle * axis[k], 1e-14);
    }
}

TEST(columns_and_place)
{
    tree t;
    sp_joint_system joints;
    make_tree(&t);
    static double u[3 * VERTICES], v[3 * VERTICES], ahead[3 * VERTICES], behind[3 * VERTICES];
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, none, 0, false, false);
    CHECK(sp_skeleton_count(s) == BONES, "count");
    sp_skeleton_place(s, u, v);
    sp_skeleton_joint_system(s, 0, 0, 0, &joints);
    for (int i = 0; i < BONES; i++) {
        sp_pose pose;
        sp_skeleton_pose(s, i, &pose);
        CHECK(sp_skeleton_coordinates(s)[i] == t.bones[i].start && sp_skeleton_rates(s)[i] == t.bones[i].rate,
              "bone %d", i);
        for (int k = 0; k < POINTS; k++) {
            const int64_t vertex = t.vertex[i][k];
            double x[3];
            placed(&pose, t.vertices + 3 * vertex, x);
            for (int c = 0; c < 3; c++) {
                const int64_t row = 3 * vertex + c;
                double sum = 0;
                for (int j = 0; j < BONES; j++) {
                    const double entry = joints.columns[3 * VERTICES * j + row];
                    sum += entry * t.bones[j].rate;
                    CHECK(carries(&t, j, i) || entry == 0, "joint %d moves bone %d", j, i);
                }
                CHECK_NEAR(u[row], x[c] - t.vertices[row], 1e-14);
                CHECK_NEAR(v[row], sum, 2e-14);
                CHECK(joints.arriving[row] == v[row], "row %lld", (long long)row); /* h = 0 */
            }
        }
    }
    for (int j = 0; j < BONES; j++) {
        double worst[LEVELS] = {0};
        for (int level = 0; level < LEVELS; level++) {
            const double d = 0.02 / (1 << level);
            double theta[BONES];
            coordinates(&t, theta, j, d);
            OWNED_POINTER(sp_skeleton) *a = make(&t, theta, NULL, none, 0, false, false);
            coordinates(&t, theta, j, -d);
            OWNED_POINTER(sp_skeleton) *b = make(&t, theta, NULL, none, 0, false, false);
            sp_skeleton_place(a, ahead, NULL);
            sp_skeleton_place(b, behind, NULL);
            for (int row = 0; row < 3 * VERTICES; row++)
                worst[level] = fmax(
                    worst[level], fabs((ahead[row] - behind[row]) / (2 * d) - joints.columns[3 * VERTICES * j + row]));
        }
        if (t.bones[j].kind == SP_JOINT_PRISMATIC) /* linear: rounding errors divided by the step only */
            CHECK(worst[LEVELS - 1] < 1e-12, "joint %d: %g", j, worst[LEVELS - 1]);
        else
            CHECK(fabs(slope(worst) - 2) < 0.01 && worst[0] < 1e-3, "joint %d: %g %g %g", j, worst[0], worst[1],
                  worst[2]);
        if (j == 0)
            NOTE("columns against differences: %.3g %.3g %.3g, slope %.4f", worst[0], worst[1], worst[2], slope(worst));
    }
    /* the term with h is the change of velocities along the motion at constant rates */
    double off[LEVELS] = {0};
    sp_skeleton_joint_system(s, 0, 1, 0, &joints);
    for (int level = 0; level < LEVELS; level++) {
        const double d = 0.002 / (1 << level);
        double theta[2][BONES];
        for (int i = 0; i < BONES; i++)
            for (int end = 0; end < 2; end++)
                theta[end][i] = t.bones[i].start + (end ? -d : d) * t.bones[i].rate;
        OWNED_POINTER(sp_skeleton) *a = make(&t, theta[0], NULL, none, 0, false, false),
                                   *b = make(&t, theta[1], NULL, none, 0, false, false);
        sp_skeleton_place(a, NULL, ahead);
        sp_skeleton_place(b, NULL, behind);
        for (int row = 0; row < 3 * VERTICES; row++)
            off[level] = fmax(off[level], fabs((ahead[row] - behind[row]) / (2 * d) - (v[row] - joints.arriving[row])));
    }
    NOTE("accelerations against differences: %.3g %.3g %.3g, slope %.4f", off[0], off[1], off[2], slope(off));
    CHECK(fabs(slope(off) - 2) < 0.01 && off[0] < 0.01, "%g %g %g", off[0], off[1], off[2]);
}

/* Functions leave other entries of their arrays unchanged, and a skeleton moved by steps has the state of a new one at
 * those coordinates. */
TEST(untouched)
{
    tree t;
    make_tree(&t);
    t.bones[3].vertex_count = 2;
    static double u[3 * VERTICES], v[3 * VERTICES], theta[BONES], rate[BONES];
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, none, 0, false, false);
    for (int i = 0; i < 3 * VERTICES; i++)
        u[i] = v[i] = 77;
    sp_skeleton_place(s, u, v);
    for (int k = 2; k < POINTS; k++)
        for (int c = 0; c < 3; c++)
            CHECK(u[3 * t.vertex[3][k] + c] == 77 && v[3 * t.vertex[3][k] + c] == 77, "vertex %lld",
                  (long long)t.vertex[3][k]);
    for (int i = 0; i < BONES; i++) {
        rate[i] = 0.5 - i;
        theta[i] = t.bones[i].start + 0.25 * rate[i];
    }
    sp_skeleton_advance(s, 0.25, rate);
    OWNED_POINTER(sp_skeleton) *other = make(&t, theta, rate, none, 0, false, false);
    for (int i = 0; i < BONES; i++) {
        sp_pose a, b;
        sp_skeleton_pose(s, i, &a);
        sp_skeleton_pose(other, i, &b);
        CHECK(!memcmp(&a, &b, sizeof a) && sp_skeleton_rates(s)[i] == rate[i] &&
                  sp_skeleton_coordinates(s)[i] == theta[i],
              "bone %d", i);
    }
    sp_skeleton_free(NULL);
}

/* ---- inertia and forces ---- */

/* ½ θ̇ᵀ M_b θ̇ is ½ Σ m |ẋ|² over the points that the bones are made of, their velocities by differences of places,
 * extrapolated: (4 D(½d) − D(d))/3 is off by d⁴. */
TEST(kinetic_energy)
{
    tree t;
    sp_joint_system joints;
    make_tree(&t);
    static double ahead[3 * VERTICES], behind[3 * VERTICES], velocity[2][3 * VERTICES];
    double theta[BONES], T = 0, quadratic = 0, kinetic;
    for (int level = 0; level < 2; level++) {
        const double d = 1e-3 / (1 + level);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < BONES; i++)
                theta[i] = t.bones[i].start + (side ? -d : d) * t.bones[i].rate;
            OWNED_POINTER(sp_skeleton) *s = make(&t, theta, NULL, none, 0, false, false);
            sp_skeleton_place(s, side ? behind : ahead, NULL);
        }
        for (int row = 0; row < 3 * VERTICES; row++)
            velocity[level][row] = (ahead[row] - behind[row]) / (2 * d);
    }
    for (int row = 0; row < 3 * VERTICES; row++) {
        const double v = (4 * velocity[1][row] - velocity[0][row]) / 3;
        T += 0.5 * t.mass[row / 3] * v * v;
    }
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, none, 0, false, false);
    sp_skeleton_joint_system(s, 0, 0, 0, &joints);
    for (int i = 0; i < BONES; i++)
        for (int j = 0; j < BONES; j++) {
            quadratic += 0.5 * t.bones[i].rate * joints.matrix[BONES * i + j] * t.bones[j].rate;
            CHECK(joints.matrix[BONES * i + j] == joints.matrix[BONES * j + i], "%d, %d: not symmetric", i, j);
        }
    sp_skeleton_energies(s, 0, &kinetic, NULL);
    NOTE("kinetic energy %.15g J, by points %.15g J", quadratic, T);
    CHECK_NEAR(quadratic, T, 1e-10 * T);
    CHECK_NEAR(kinetic, quadratic, 1e-14 * T);
    /* and entry by entry: M_b = Jᵀ diag(m) J with the columns of the points */
    for (int i = 0; i < BONES; i++)
        for (int j = 0; j < BONES; j++) {
            double sum = 0, size = 0;
            for (int row = 0; row < 3 * VERTICES; row++) {
                const double term =
                    t.mass[row / 3] * joints.columns[3 * VERTICES * i + row] * joints.columns[3 * VERTICES * j + row];
                sum += term;
                size += fabs(term);
            }
            CHECK_NEAR(joints.matrix[BONES * i + j], sum, 1e-13 * size + 1e-300);
        }
}

static void matrix_at(const tree *t, int moved, double by, double M[BONES * BONES])
{
    double theta[BONES];
    sp_joint_system joints;
    coordinates(t, theta, moved, by);
    OWNED_POINTER(sp_skeleton) *s = make(t, theta, NULL, none, 0, false, true);
    sp_skeleton_joint_system(s, 0, 0, 0, &joints);
    memcpy(M, joints.matrix, BONES * BONES * sizeof *M);
}

/* Lagrange: bias_j = Σ ∂M_jk/∂θ_l θ̇_k θ̇_l − ½ Σ ∂M_kl/∂θ_j θ̇_k θ̇_l. */
TEST(bias_forces)
{
    tree t;
    sp_joint_system joints;
    make_tree(&t);
    double bias[BONES], worst[LEVELS] = {0}, size = 0;
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, none, 0, false, true);
    sp_skeleton_joint_system(s, 0, 1, 0, &joints);
    for (int i = 0; i < BONES; i++) {
        bias[i] = -joints.right[i];
        for (int j = 0; j < BONES; j++)
            bias[i] += joints.matrix[BONES * i + j] * t.bones[j].rate;
        size = fmax(size, fabs(bias[i]));
    }
    for (int level = 0; level < LEVELS; level++) {
        static double ahead[BONES * BONES], behind[BONES * BONES], slope_of[BONES][BONES * BONES];
        const double d = 0.02 / (1 << level);
        for (int l = 0; l < BONES; l++) {
            matrix_at(&t, l, d, ahead);
            matrix_at(&t, l, -d, behind);
            for (int i = 0; i < BONES * BONES; i++)
                slope_of[l][i] = (ahead[i] - behind[i]) / (2 * d);
        }
        for (int j = 0; j < BONES; j++) {
            double expected = 0;
            for (int k = 0; k < BONES; k++)
                for (int l = 0; l < BONES; l++)
                    expected += (slope_of[l][BONES * j + k] - 0.5 * slope_of[j][BONES * k + l]) * t.bones[k].rate *
                                t.bones[l].rate;
            worst[level] = fmax(worst[level], fabs(bias[j] - expected));
        }
    }
    NOTE("bias up to %.3g against Lagrange by differences: %.3g %.3g %.3g, slope %.4f", size, worst[0], worst[1],
         worst[2], slope(worst));
    CHECK(fabs(slope(worst) - 2) < 0.01 && worst[LEVELS - 1] < 1e-3 * size, "slope %g", slope(worst));
}

static double potential_at(const tree *t, int moved, double by, double time)
{
    double theta[BONES], potential;
    coordinates(t, theta, moved, by);
    OWNED_POINTER(sp_skeleton) *s = make(t, theta, NULL, gravity, SPRINGS, true, false);
    sp_skeleton_energies(s, time, NULL, &potential);
    return potential;
}

/* The right-hand side at rest is −h ∂V/∂θ, with the other ends of springs at t + h; V without springs is 0 at rest
 * coordinates. */
TEST(potential_forces)
{
    tree t;
    sp_joint_system joints;
    make_tree(&t);
    const double still[BONES] = {0}, h = 0.5, time = 1;
    double worst[LEVELS] = {0}, potential, expected = 0;
    sp_skeleton *s = make(&t, NULL, still, gravity, SPRINGS, true, false);
    sp_skeleton_joint_system(s, time, h, 0, &joints);
    for (int level = 0; level < LEVELS; level++)
        for (int j = 0; j < BONES; j++) {
            const double d = 0.02 / (1 << level);
            worst[level] = fmax(worst[level],
                                fabs(joints.right[j] / h +
                                     (potential_at(&t, j, d, time + h) - potential_at(&t, j, -d, time + h)) / (2 * d)));
        }
    NOTE("forces against differences of energy: %.3g %.3g %.3g, slope %.4f", worst[0], worst[1], worst[2],
         slope(worst));
    CHECK(fabs(slope(worst) - 2) < 0.01 && worst[0] < 1, "slope %g", slope(worst));
    /* the energy itself, by the points: bones and vertices have the same masses here */
    static double u[3 * VERTICES];
    sp_skeleton_place(s, u, NULL);
    for (int row = 0; row < 3 * VERTICES; row++)
        expected -= 2 * t.mass[row / 3] * gravity[row % 3] * u[row];
    for (int i = 0; i < BONES; i++)
        expected +=
            0.5 * t.bones[i].stiffness * (t.bones[i].start - t.bones[i].rest) * (t.bones[i].start - t.bones[i].rest);
    for (int i = 0; i < SPRINGS; i++)
        for (int c = 0; c < 3; c++) { /* at 1.5 s: between the times 1.25 and 4.25 of those that move */
            const double *a = t.anchor[i], part = i == 0 ? 0 : 0.25 / 3,
                         end = (1 - part) * a[(i == 0 ? 0 : 3) + c] + part * a[(i == 0 ? 3 : 6) + c];
            const double x = t.springs[i].at[c] + u[3 * t.springs[i].bone + c];
            expected += 0.5 * t.springs[i].stiffness * (x - end) * (x - end);
        }
    sp_skeleton_energies(s, time + h, NULL, &potential);
    CHECK_NEAR(potential, expected, 1e-12 * fabs(expected));
    sp_skeleton_free(s);
    s = make(&t, still, NULL, gravity, 0, true, true);
    sp_skeleton_energies(s, 0, NULL, &potential);
    CHECK(potential == 0, "%g J at rest", potential);
    sp_skeleton_free(s);
}

/* Attached vertices have weight, Σ m Jᵀ g, and no other effect. */
TEST(weight)
{
    tree t;
    sp_joint_system a, b;
    make_tree(&t);
    OWNED_POINTER(sp_skeleton) *with = make(&t, NULL, NULL, gravity, 0, true, false),
                               *without = make(&t, NULL, NULL, gravity, 0, false, false);
    const double h = 0.125;
    sp_skeleton_joint_system(with, 0, h, 1, &a);
    sp_skeleton_joint_system(without, 0, h, 1, &b);
    for (int j = 0; j < BONES; j++) {
        double sum = 0;
        for (int row = 0; row < 3 * VERTICES; row++)
            sum += h * t.mass[row / 3] * gravity[row % 3] * a.columns[3 * VERTICES * j + row];
        /* a few dozen rounding errors of numbers up to a few hundred */
        CHECK_NEAR(a.right[j] - b.right[j], sum, 1e-11);
        CHECK(fabs(sum) > 0.01, "joint %d feels nothing", j);
    }
    CHECK(!memcmp(a.matrix, b.matrix, BONES * BONES * sizeof(double)), "the matrix");
}

/* matrix = M_b + h C + β h² (k + Σ Jᵀ k J): the springs act at vertices, whose columns are J. */
TEST(stiffness)
{
    tree t;
    sp_joint_system joints;
    make_tree(&t);
    static double M[BONES * BONES];
    for (int i = 0; i < BONES; i++)
        t.bones[i].damping = 1 + 0.5 * i;
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, gravity, SPRINGS, true, false);
    const double h = 0.25, beta = 0.75;
    sp_skeleton_joint_system(s, 0, 0, beta, &joints);
    memcpy(M, joints.matrix, sizeof M);
    sp_skeleton_joint_system(s, 0, h, beta, &joints);
    for (int i = 0; i < BONES; i++)
        for (int j = 0; j < BONES; j++) {
            double expected =
                M[BONES * i + j] + (i == j ? h * t.bones[i].damping + beta * h * h * t.bones[i].stiffness : 0);
            for (int k = 0; k < SPRINGS; k++)
                for (int c = 0; c < 3; c++) {
                    const int64_t row = 3 * t.springs[k].bone + c;
                    expected += beta * h * h * t.springs[k].stiffness * joints.columns[3 * VERTICES * i + row] *
                                joints.columns[3 * VERTICES * j + row];
                }
            CHECK_NEAR(joints.matrix[BONES * i + j], expected, 1e-12 * (1 + fabs(expected)));
            CHECK(joints.matrix[BONES * i + j] == joints.matrix[BONES * j + i], "%d, %d: not symmetric", i, j);
        }
}

/* ---- motions ---- */

static void step(sp_skeleton *s, double t, double h, double beta)
{
    enum { MOST = 16 };
    double S[MOST * MOST];
    sp_joint_system joints;
    sp_skeleton_joint_system(s, t, h, beta, &joints);
    const lapack_int m = (lapack_int)joints.count;
    memcpy(S, joints.matrix, (size_t)(m * m) * sizeof *S);
    memcpy(joints.rate, joints.right, (size_t)m * sizeof *S);
    CHECK(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', m, 1, S, m, joints.rate, m) == 0, "the matrix is not positive definite");
    sp_skeleton_advance(s, h, joints.rate);
}

static sp_skeleton *simple(int64_t count, const sp_bone *bones, const double acceleration[3])
{
    sp_skeleton *s = NULL;
    CHECK_OK(sp_skeleton_new(&context, 0, NULL, NULL, acceleration, count, bones, 0, NULL, &s));
    return s;
}

static const double down[3] = {0, 0, -9.81};

/* A body on a horizontal axis that is not one of its principal axes. */
static sp_bone pendulum(double *omega)
{
    sp_bone b = {.parent = -1,
                 .at = {1, 2, 3},
                 .axis = {0.6, 0.8, 0},
                 .mass = 2.5,
                 .inertia = {0.3, 0.4, 0.5, 0.05, -0.02, 0.1}};
    const double d = 0.4, along = 0.7; /* below the axis, and along it, which has no effect */
    for (int k = 0; k < 3; k++)
        b.centre[k] = b.at[k] + along * b.axis[k] - (k == 2 ? d : 0);
    const double about = 0.36 * 0.3 + 0.64 * 0.4 + 2 * 0.6 * 0.8 * 0.1 + b.mass * d * d;
    *omega = sqrt(b.mass * 9.81 * d / about);
    return b;
}

/* The period, from one upward zero crossing to the next. */
static double period_of(double amplitude, double guess, int steps)
{
    double omega, first = -1, second = -1;
    sp_bone b = pendulum(&omega);
    b.start = amplitude;
    OWNED_POINTER(sp_skeleton) *s = simple(1, &b, down);
    const double h = guess / steps;
    for (int64_t n = 0; n < 3 * (int64_t)steps && second < 0; n++) {
        const double before = *sp_skeleton_coordinates(s);
        step(s, (double)n * h, h, 1);
        const double after = *sp_skeleton_coordinates(s);
        if (before < 0 && after >= 0) {
            const double t = ((double)n + before / (before - after)) * h;
            if (first < 0)
                first = t;
            else
                second = t;
        }
    }
    return second - first;
}

/* Without springs the step is that of symplectic Euler, whose places are those of the leapfrog: sin(½ ω′ h) = ½ ω h for
 * small angles. For large ones T = 2π / (ω agm(1, cos(½θ₀))), with errors that fall with h². */
TEST(compound_pendulum)
{
    double omega, error[LEVELS];
    pendulum(&omega);
    const double T = 2 * M_PI / omega;
    for (int steps = 400; steps <= 1600; steps *= 2) {
        /* a sine is off its chord over a step by up to (ωh)³/(9√3), twice; and θ₀²/16 = 6e-10. Both together are well
         * below what h makes of T. */
        const double h = T / steps, discrete = M_PI * h / asin(0.5 * omega * h),
                     tolerance = 2 * pow(omega * h, 3) / (9 * sqrt(3)) / omega + 1e-9 * T;
        CHECK(tolerance < 0.1 * fabs(discrete - T), "%g against %g", tolerance, discrete - T);
        CHECK_NEAR(period_of(1e-4, T, steps), discrete, tolerance);
    }
    NOTE("small angles: %.10g s, exact %.10g s", period_of(1e-4, T, 1000), T);
    const double amplitude = 2.5;
    double a = 1, g = cos(0.5 * amplitude);
    for (int k = 0; k < 8; k++) {
        const double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    for (int level = 0; level < LEVELS; level++)
        error[level] = fabs(period_of(amplitude, T / a, 250 << level) - T / a);
    NOTE("2.5 rad: %.10g s, errors %.3g %.3g %.3g, slope %.3f", T / a, error[0], error[1], error[2], slope(error));
    CHECK(fabs(slope(error) - 2) < 0.1 && error[LEVELS - 1] < 1e-5 * T, "slope %g", slope(error));
}

/* θ of masses m₁, m₂ on rods l₁, l₂, both from the vertical; y = θ₁, θ₂, θ̇₁, θ̇₂. Lagrange's equations as in every
 * textbook: (m₁ + m₂) l₁ θ̈₁ + m₂ l₂ θ̈₂ cos Δ + m₂ l₂ θ̇₂² sin Δ + (m₁ + m₂) g sin θ₁ = 0, l₂ θ̈₂ + l₁ θ̈₁ cos Δ − l₁ θ̇₁²
 * sin Δ + g sin θ₂ = 0, Δ = θ₁ − θ₂. */
static const double mass1 = 1.5, mass2 = 0.8, rod1 = 0.7, rod2 = 1.1;
static void lagrange(const double y[4], double dy[4])
{
    const double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]), g = 9.81, both = mass1 + mass2;
    const double a11 = both * rod1, a12 = mass2 * rod2 * c, a21 = rod1 * c, a22 = rod2;
    const double b1 = -mass2 * rod2 * y[3] * y[3] * s - both * g * sin(y[0]),
                 b2 = rod1 * y[2] * y[2] * s - g * sin(y[1]);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (b1 * a22 - a12 * b2) / (a11 * a22 - a12 * a21);
    dy[3] = (a11 * b2 - a21 * b1) / (a11 * a22 - a12 * a21);
}

static void runge_kutta(double y[4], double h, int steps)
{
    for (int n = 0; n < steps; n++) {
        double k[4][4], z[4];
        const double part[4] = {0, 0.5, 0.5, 1};
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < 4; i++)
                z[i] = y[i] + (stage ? part[stage] * h * k[stage - 1][i] : 0);
            lagrange(z, k[stage]);
        }
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

TEST(double_pendulum)
{
    double y[4] = {1.2, -0.5, 0.3, 1}, error[LEVELS], places[LEVELS][2];
    const sp_bone bones[2] = {{.parent = -1,
                               .at = {0, 0, 5},
                               .axis = {0, -2, 0},
                               .mass = mass1,
                               .centre = {0, 0.3, 5 - rod1},
                               .start = y[0],
                               .rate = y[2]},
                              {.parent = 0,
                               .at = {0, 0, 5 - rod1},
                               .axis = {0, -1, 0},
                               .mass = mass2,
                               .centre = {0, -0.2, 5 - rod1 - rod2},
                               .start = y[1] - y[0],
                               .rate = y[3] - y[2]}};
    runge_kutta(y, 1e-3, 1000); /* its error is of the order 1e-12 */
    for (int level = 0; level < LEVELS; level++) {
        const int steps = 1000 << level;
        OWNED_POINTER(sp_skeleton) *s = simple(2, bones, down);
        for (int n = 0; n < steps; n++)
            step(s, (double)n / steps, 1.0 / steps, 1);
        places[level][0] = sp_skeleton_coordinates(s)[0];
        places[level][1] = places[level][0] + sp_skeleton_coordinates(s)[1];
        error[level] = hypot(places[level][0] - y[0], places[level][1] - y[1]);
    }
    const double better[2] = {2 * places[2][0] - places[1][0], 2 * places[2][1] - places[1][1]};
    NOTE("after 1 s: %.3g %.3g %.3g rad off, slope %.3f; extrapolated %.3g", error[0], error[1], error[2], slope(error),
         hypot(better[0] - y[0], better[1] - y[1]));
    CHECK(fabs(slope(error) - 1) < 0.05, "slope %g", slope(error));
    CHECK(hypot(better[0] - y[0], better[1] - y[1]) < 0.01 * error[2], "extrapolated");
}

/* All joints, springs and gravity: the energy after half a second converges to the initial one with the first power of
 * h. */
TEST(energy_stays)
{
    tree t;
    make_tree(&t);
    for (int i = 1; i < SPRINGS; i++)
        t.springs[i].count = 1;
    for (int halved = 0; halved < 2; halved++) {
        double drift[LEVELS], T, V, start = 0;
        for (int level = 0; level < LEVELS; level++) {
            OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, gravity, SPRINGS, false, false);
            const int steps = 1000 << level;
            const double h = 0.5 / steps;
            sp_skeleton_energies(s, 0, &T, &V);
            start = T + V;
            for (int n = 0; n < steps; n++)
                step(s, n * h, h, halved ? 0.5 : 1);
            sp_skeleton_energies(s, 0.5, &T, &V);
            drift[level] = T + V - start;
        }
        const double size[LEVELS] = {fabs(drift[0]), fabs(drift[1]), fabs(drift[2])};
        NOTE("beta %g: of %.4g J, kinetic %.4g at the end, %.3g %.3g %.3g; slope %.3f", halved ? 0.5 : 1, start, T,
             drift[0], drift[1], drift[2], slope(size));
        CHECK(fabs(slope(size) - 1) < 0.1, "slope %g", slope(size));
        CHECK(fabs(2 * drift[2] - drift[1]) < 0.1 * size[2], "extrapolated %g", 2 * drift[2] - drift[1]);
    }
}

/* A slider on a spring: one step by hand, and the solution, a cosine, with errors proportional to h. With only a damper
 * v decreases by 1/(1 + h c/m) in each step. */
TEST(slider)
{
    sp_bone b = {.parent = -1,
                 .kind = SP_JOINT_PRISMATIC,
                 .axis = {1, 2, 2},
                 .mass = 3,
                 .start = 0.2,
                 .rate = 0.4,
                 .stiffness = 12,
                 .rest = -0.1,
                 .damping = 0.5};
    const double h = 0.1;
    sp_skeleton *s = simple(1, &b, down);
    for (int k = 0; k < 5; k++) {
        const double x = *sp_skeleton_coordinates(s), v = *sp_skeleton_rates(s), beta = 0.25 * k;
        const double expected = (3 * v + h * (3 * -9.81 * 2 / 3 - 12 * (x + 0.1))) / (3 + h * 0.5 + beta * h * h * 12);
        step(s, 0, h, beta);
        CHECK_NEAR(*sp_skeleton_rates(s), expected, 1e-14);
        CHECK_NEAR(*sp_skeleton_coordinates(s), x + h * expected, 1e-14);
    }
    sp_skeleton_free(s);
    b.damping = 0;
    const double omega = 2, exact = -0.1 + 0.3 * cos(omega * 3) + 0.4 / omega * sin(omega * 3);
    for (int halved = 0; halved < 2; halved++) {
        double error[LEVELS];
        for (int level = 0; level < LEVELS; level++) {
            const int steps = 1000 << level;
            s = simple(1, &b, none);
            for (int n = 0; n < steps; n++)
                step(s, 0, 3.0 / steps, halved ? 0.5 : 1);
            error[level] = fabs(*sp_skeleton_coordinates(s) - exact);
            sp_skeleton_free(s);
        }
        NOTE("slider, beta %g: %.3g %.3g %.3g m off, slope %.3f", halved ? 0.5 : 1, error[0], error[1], error[2],
             slope(error));
        CHECK(fabs(slope(error) - 1) < 0.05, "slope %g", slope(error));
    }
    b.stiffness = 0;
    b.damping = 0.5;
    s = simple(1, &b, none);
    for (int n = 0; n < 20; n++)
        step(s, 0, h, 1);
    CHECK_NEAR(*sp_skeleton_rates(s), 0.4 * pow(1 + h * 0.5 / 3, -20), 1e-15);
    sp_skeleton_free(s);
}

/* The other end of a spring moves: its place at t + h counts. Before the first and after the last time it is at rest.
 */
TEST(moving_anchor)
{
    const double time[3] = {1, 2, 4}, anchor[9] = {0, 5, 0, 1, 5, 0, -3, 5, 0};
    const sp_bone b = {.parent = -1, .kind = SP_JOINT_PRISMATIC, .axis = {1, 0, 0}, .mass = 2, .start = 0.5};
    const sp_bone_spring spring = {
        .bone = 0, .at = {0.25, 1, 0}, .stiffness = 10, .count = 3, .time = time, .anchor = anchor};
    const struct {
        double t, at;
    } cases[] = {{-5, 0},  {0.9, 0}, {1, 0},    {1.25, 0.25}, {2, 1},
                 {2.5, 0}, {4, -3},  {4.5, -3}, {99, -3},     {INFINITY, -3}};
    OWNED_POINTER(sp_skeleton) *s = NULL;
    CHECK_OK(sp_skeleton_new(&context, 0, NULL, NULL, down, 1, &b, 1, &spring, &s));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_joint_system joints;
        double potential;
        const double h = 0.25, gap = cases[i].at - 0.75;
        sp_skeleton_joint_system(s, cases[i].t - h, h, 1, &joints);
        CHECK_NEAR(joints.right[0], h * 10 * gap, 1e-14);
        CHECK_NEAR(joints.matrix[0], 2 + h * h * 10, 1e-15);
        sp_skeleton_energies(s, cases[i].t, NULL, &potential);
        CHECK_NEAR(potential, 5 * (gap * gap + 16), 1e-13);
    }
}

/* A free body by three prismatic and three revolute joints without mass, with two more bodies on it and no forces.
 * Linear and angular momentum of their points are conserved to first order in h. */
TEST(momentum)
{
    enum { JOINTS = 8 };
    tree t;
    make_tree(&t);
    sp_bone bones[JOINTS] = {{0}};
    for (int i = 0; i < JOINTS; i++) {
        bones[i].parent = i - 1;
        bones[i].kind = i < 3 ? SP_JOINT_PRISMATIC : SP_JOINT_REVOLUTE;
        if (i >= 5) { /* bodies 0, 1 and 2 of the tree, in a chain */
            bones[i] = t.bones[i - 5];
            bones[i].parent = i - 1;
            bones[i].kind = i == 7 ? SP_JOINT_PRISMATIC : SP_JOINT_REVOLUTE;
        }
        for (int k = 0; k < 3 && i <= 5; k++)
            bones[i].axis[k] = k == i % 3;
        if (i <= 5) /* the springs of the other bones are internal forces */
            bones[i].stiffness = 0;
        bones[i].start = i < 3 ? uniform() : 0.3 * uniform();
        bones[i].rate = 2 * uniform();
    }
    double off[LEVELS], size = 0;
    for (int level = 0; level < LEVELS; level++) {
        static double u[3 * VERTICES], v[3 * VERTICES];
        double sums[2][6] = {{0}};
        OWNED_POINTER(sp_skeleton) *s = NULL;
        CHECK_OK(sp_skeleton_new(&context, VERTICES, t.vertices, t.mass, none, JOINTS, bones, 0, NULL, &s));
        const int steps = 500 << level;
        for (int end = 0; end < 2; end++) {
            for (int n = 0; n < steps && end; n++)
                step(s, 0, 0.5 / steps, 1);
            sp_skeleton_place(s, u, v);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < POINTS; k++) {
                    const int64_t at = 3 * t.vertex[i][k];
                    const double x[3] = {t.vertices[at] + u[at], t.vertices[at + 1] + u[at + 1],
                                         t.vertices[at + 2] + u[at + 2]};
                    double turn[3];
                    sp_cross3(x, v + at, turn);
                    for (int c = 0; c < 3; c++) {
                        sums[end][c] += t.mass[at / 3] * v[at + c];
                        sums[end][3 + c] += t.mass[at / 3] * turn[c];
                    }
                }
        }
        off[level] = size = 0;
        for (int c = 0; c < 6; c++) {
            off[level] += fabs(sums[1][c] - sums[0][c]);
            size += fabs(sums[0][c]);
        }
    }
    NOTE("momenta of %.4g, off by %.3g %.3g %.3g, slope %.3f", size, off[0], off[1], off[2], slope(off));
    CHECK(fabs(slope(off) - 1) < 0.05 && off[LEVELS - 1] < 0.01 * size, "slope %g", slope(off));
}

TEST(no_allocation)
{
    tree t;
    sp_pose pose;
    double kinetic, potential;
    static double u[3 * VERTICES], v[3 * VERTICES];
    make_tree(&t);
    OWNED_POINTER(sp_skeleton) *s = make(&t, NULL, NULL, gravity, SPRINGS, true, false);
    sp_joint_system joints;
    const long before = allocations;
    sp_skeleton_joint_system(s, 0, 0.1, 1, &joints);
    memset(joints.rate, 0, BONES * sizeof *joints.rate);
    sp_skeleton_advance(s, 0.1, joints.rate);
    sp_skeleton_place(s, u, v);
    sp_skeleton_pose(s, 3, &pose);
    sp_skeleton_energies(s, 0.1, &kinetic, &potential);
    CHECK(allocations == before, "%ld", allocations - before);
}

/* ---- refusals ---- */

static void refuse(int line, const tree *t, const double *acceleration, int64_t bones, const char *message)
{
    sp_skeleton *s = (sp_skeleton *)1;
    context.message[0] = 0;
    const int status = sp_skeleton_new(&context, VERTICES, t->vertices, t->mass, acceleration, bones, t->bones, SPRINGS,
                                       t->springs, &s);
    CHECK(status == SP_INPUT && !s && !strcmp(context.message, message), "line %d: status %d, \"%s\", expected \"%s\"",
          line, status, context.message, message);
    sp_skeleton_free(status == SP_OK ? s : NULL);
}
#define REFUSE(change, message)                                                                                        \
    do {                                                                                                               \
        tree t;                                                                                                        \
        make_tree(&t);                                                                                                 \
        change;                                                                                                        \
        refuse(__LINE__, &t, none, BONES, message);                                                                    \
    } while (0)

TEST(refusals)
{
    REFUSE(t.bones[2].parent = 2, "bone 2: parent 2, expected -1 or a bone before it");
    REFUSE(t.bones[0].parent = -2, "bone 0: parent -2, expected -1 or a bone before it");
    REFUSE(t.bones[1].kind = (enum sp_joint_kind)2, "bone 1: joint of kind 2");
    REFUSE(t.bones[1].mass = -1, "bone 1: mass -1, expected at least 0");
    REFUSE(t.bones[1].mass = NAN, "bone 1: mass nan, expected at least 0");
    REFUSE(t.bones[1].stiffness = -2, "bone 1: stiffness -2, expected at least 0");
    REFUSE(t.bones[1].damping = INFINITY, "bone 1: damping inf, expected at least 0");
    REFUSE(t.bones[6].start = INFINITY, "bone 6: start inf, expected a finite number");
    REFUSE(t.bones[6].rate = NAN, "bone 6: rate nan, expected a finite number");
    REFUSE(t.bones[6].rest = -INFINITY, "bone 6: rest -inf, expected a finite number");
    REFUSE((t.bones[6].at[1] = NAN, t.bones[6].axis[1] = 2, t.bones[6].centre[1] = 3),
           "bone 6: joint at nan, axis 2, centre 3 along y, expected finite numbers");
    REFUSE(memset(t.bones[4].axis, 0, sizeof t.bones[4].axis), "bone 4: its axis is zero");
    REFUSE(t.bones[4].inertia[1] = -0.1, "bone 4: its inertia is not positive semidefinite");
    REFUSE(t.bones[4].inertia[5] = NAN, "bone 4: its inertia is not positive semidefinite");
    REFUSE(t.bones[4].vertex_count = -1, "bone 4: -1 vertices");
    REFUSE(t.vertex[4][2] = VERTICES, "bone 4: vertex 35 of 35");
    REFUSE(t.vertex[4][2] = -1, "bone 4: vertex -1 of 35");
    REFUSE(t.vertex[4][2] = t.vertex[1][0], "bone 4: vertex 1 is attached to bone 1 already");
    REFUSE(t.vertex[4][2] = t.vertex[4][0], "bone 4: vertex 4 is attached to bone 4 already");
    REFUSE((t.mass[4] = -1, t.vertices[12] = 1, t.vertices[13] = 2, t.vertices[14] = 3),
           "bone 4: vertex 4 of mass -1 kg at 1 2 3");
    REFUSE(t.springs[1].bone = 7, "spring 1: bone 7 of 7");
    REFUSE(t.springs[1].bone = -1, "spring 1: bone -1 of 7");
    REFUSE(t.springs[1].stiffness = -3, "spring 1: stiffness -3 N/m, expected at least 0");
    REFUSE((t.springs[1].at[0] = 1, t.springs[1].at[1] = NAN, t.springs[1].at[2] = 2),
           "spring 1: at 1 nan 2, expected finite numbers");
    REFUSE(t.springs[1].count = 0, "spring 1: 0 anchors, expected at least 1");
    REFUSE(t.time[1][2] = 1.25, "spring 1: time 2, 1.25 s, expected a finite number more than the one before");
    REFUSE(t.time[1][0] = NAN, "spring 1: time 0, nan s, expected a finite number more than the one before");
    REFUSE(t.anchor[1][5] = INFINITY, "spring 1: anchor 1, expected finite numbers");
    REFUSE(t.bones[3].rate = 1e200,
           "bone 0: places, masses, stiffnesses or rates too large: its forces are not finite numbers");
    tree t;
    make_tree(&t);
    refuse(__LINE__, &t, none, 0, "0 bones, 3 springs, 35 vertices");
    refuse(__LINE__, &t, (const double[]){0, NAN, 1}, BONES, "gravity 0 nan 1 m/s^2, expected finite numbers");
}

/* Allowed inertias: a rod, a point, a rod written with six digits. Refused ones: eigenvalues of the last two are 1 ±
 * 1.1 and 3; and det < 0 with all minors before it positive. */
TEST(inertias)
{
    const double good[][6] = {{0, 0, 0, 0, 0, 0},
                              {1, 1, 0, 0, 0, 0},
                              {0.25, 0.75, 1, 0, 0, -0.433013},
                              {2, 3, 4, -0.5, 0.25, 0.125},
                              {1e-300, 2e-300, 3e-300, 0, 0, 0},
                              {1e300, 1e300, 1e300, 0, 0, 1e300}};
    const double bad[][6] = {{-1, 1, 1, 0, 0, 0},  {1, 1, -1e-5, 0, 0, 0},    {0, 0, 1, 0, 0, 0.1},
                             {1, 1, 3, 0, 0, 1.1}, {1, 1, 1, 0.9, -0.9, 0.9}, {1, 1, INFINITY, 0, 0, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(sp_bone_inertia_valid(good[i]), "%zu", i);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!sp_bone_inertia_valid(bad[i]), "%zu", i);
}
