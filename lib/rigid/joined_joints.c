/* The constants of joints: vectors that follow the interfaces of both sides (rigid/joined.h). */
#include "rigid/joined_internal.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double share_of(const sp_joint_side *side, int64_t k)
{
    return side->share ? side->share[k] : 1 / (double)side->count;
}

/* The mean of an interface in the coordinates of its body. */
static void mean_of(const sp_joined_body *given, const sp_joint_side *side, double mean[3])
{
    for (int c = 0; c < 3; c++) {
        mean[c] = 0;
        for (int64_t k = 0; k < side->count; k++)
            mean[c] += share_of(side, k) * given->places[3 * side->vertices[k] + c];
    }
}

/* The inverse of Σ s (|Z|² I − Z Zᵀ) for the arms Z [count, 3]. False if all Z are on one line. */
static bool invert_spread(const sp_joint_side *side, const double *arms, double inverse[9])
{
    double spread[9] = {0}, trace;
    int pivot[3];
    for (int64_t k = 0; k < side->count; k++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                spread[3 * a + b] += share_of(side, k) * arms[3 * k + a] * arms[3 * k + b];

    trace = spread[0] + spread[4] + spread[8];
    for (int k = 0; k < 9; k++)
        inverse[k] = (k % 4 == 0 ? trace : 0) - spread[k];

    /* The determinant of a spread along a line vanishes. It is relative to the size of the interface. */
    const double least = sp_determinant(inverse, inverse + 3, inverse + 6) / (trace * trace * trace);
    return least > 1e-12 && LAPACKE_dgetrf(LAPACK_COL_MAJOR, 3, 3, inverse, 3, pivot) == 0 &&
           LAPACKE_dgetri(LAPACK_COL_MAJOR, 3, inverse, 3, pivot) == 0;
}

/* The arms Z of an interface about its mean in the axes of the child: turned by R_cᵀ R. */
static void arms_of(const sp_joined_body *given, const sp_joint_side *side, const double mean[3], const double R[9],
                    const double child[9], double *arms)
{
    for (int64_t k = 0; k < side->count; k++) {
        double own[3], world[3];
        sp_subtract3(given->places + 3 * side->vertices[k], mean, own);
        sp_rotate(R, own, world);
        sp_rotate_back(child, world, arms + 3 * k);
    }
}

static double displacement(const sp_joined_body *given, int64_t vertex, int axis, int64_t j)
{
    return given->U[j * given->rows + 3 * vertex + axis];
}

/* The vector from the centre of mass to the point at `mean` of the body, which moves with the mean of an interface. */
static void attach_mean(const joined_body *b, const sp_joined_body *given, const sp_joint_side *side,
                        const double mean[3], joint_side *out)
{
    const int64_t r = b->r;
    for (int c = 0; c < 3; c++) {
        out->rest[0][c] = mean[c] - b->inertia->centre[c];
        for (int64_t j = 0; j < r; j++) {
            double sum = 0;
            for (int64_t k = 0; k < side->count; k++)
                sum += share_of(side, k) * displacement(given, side->vertices[k], c, j);
            out->slope[c * r + j] = sum - b->inertia->mean[c * r + j];
        }
    }
}

/* The vectors Σ s Z_a (x − mean of x) of the parent's side. */
static void attach_arms(const joined_body *b, const sp_joined_body *given, const sp_joint_side *side,
                        const double mean[3], const double *arms, joint_side *out)
{
    const int64_t r = b->r;

    for (int a = 0; a < 3; a++)
        for (int64_t k = 0; k < side->count; k++) {
            const double weight = share_of(side, k) * arms[3 * k + a];
            for (int c = 0; c < 3; c++) {
                out->rest[1 + a][c] += weight * (given->places[3 * side->vertices[k] + c] - mean[c]);
                for (int64_t j = 0; j < r; j++) /* Σ s Z = 0: the mean drops out */
                    out->slope[(3 * (1 + a) + c) * r + j] += weight * displacement(given, side->vertices[k], c, j);
            }
        }
}

/* J_c⁻¹ Σ s Z × U of the child's side. */
static void attach_turn(const joined_body *b, const sp_joined_body *given, const sp_joint_side *side,
                        const double *arms, const double inverse[9], joint *j)
{
    for (int64_t i = 0; i < b->r; i++) {
        double sum[3] = {0}, u[3], moment[3], turn[3];
        for (int64_t k = 0; k < side->count; k++) {
            for (int c = 0; c < 3; c++)
                u[c] = displacement(given, side->vertices[k], c, i);
            sp_cross3(arms + 3 * k, u, moment);
            for (int c = 0; c < 3; c++)
                sum[c] += share_of(side, k) * moment[c];
        }

        sp_rotate(inverse, sum, turn);
        for (int c = 0; c < 3; c++)
            j->turn[c * b->r + i] = turn[c];
    }
}

static double widest(int64_t count, const double *arms)
{
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, sp_norm3(arms + 3 * k));
    return 2 * most;
}

/* An interface where its body starts. */
typedef struct placed_interface {
    const sp_joined_body *given;
    const sp_joint_side *side;
    /* rotation of the body; mean of the interface in its coordinates and in the world */
    double R[9], mean[3], world[3];
} placed_interface;

static placed_interface place_interface(const joined_body *b, const sp_joined_body *given, const sp_joint_side *side)
{
    placed_interface placed = {.given = given, .side = side};
    sp_pose pose;
    sp_free_body_pose(b->free, &pose);

    mean_of(given, side, placed.mean);
    sp_quaternion_matrix(pose.q, placed.R);

    sp_rotate(placed.R, placed.mean, placed.world);
    for (int k = 0; k < 3; k++)
        placed.world[k] += pose.x[k];
    return placed;
}

/* The vectors of the world's side, which stay where the interface of the child starts. */
static void attach_world(const placed_interface *child, const double *arms, joint_side *out)
{
    memcpy(out->start[0], child->world, sizeof out->start[0]);
    for (int a = 0; a < 3; a++)
        for (int64_t k = 0; k < child->side->count; k++) {
            double turned[3];
            sp_rotate(child->R, arms + 3 * k, turned);
            for (int x = 0; x < 3; x++)
                out->start[1 + a][x] += share_of(child->side, k) * arms[3 * k + a] * turned[x];
        }
    memcpy(out->end, out->start, sizeof out->end);
}

/* The interfaces must meet. The point of the child is then where the mean of the parent's interface is: meshes that do
 * not match have different means. width: of the child's interface, m. */
static int meet(sp_context *context, int64_t number, const placed_interface *parent, placed_interface *child,
                double width)
{
    double apart[3], local[3];
    sp_subtract3(parent->world, child->world, apart);
    const double gap = sp_norm3(apart);
    if (!(gap <= 0.05 * width))
        return sp_fail(
            context, SP_INPUT,
            "joint %lld: the interfaces do not meet: their means are %.3g m apart, and the child's is %.3g m wide",
            (long long)number, gap, width);
    sp_rotate_back(child->R, apart, local);
    for (int k = 0; k < 3; k++)
        child->mean[k] += local[k];
    return SP_OK;
}

static int refuse_line(sp_context *context, int64_t number, const char *role)
{
    return sp_fail(context, SP_INPUT, "joint %lld: the vertices of the %s's interface are on one line",
                   (long long)number, role);
}

/* Constants of a joint. arms holds those of the larger interface. */
static int new_joint(sp_joined *joined, const sp_joined_body *given, int64_t number, const sp_joint *from, double *arms)
{
    joint *j = &joined->joints[number];
    const bool anchored = from->parent.body < 0;
    const sp_joint_side *above = anchored ? &from->child : &from->parent;
    const joined_body *c = &joined->bodies[from->child.body], *p = &joined->bodies[above->body];
    placed_interface child = place_interface(c, &given[from->child.body], &from->child),
                     parent = place_interface(p, &given[above->body], above);
    double inverse[9];

    arms_of(child.given, child.side, child.mean, child.R, child.R, arms);
    if (!invert_spread(child.side, arms, inverse))
        return refuse_line(joined->context, number, "child");
    SP_PASS(meet(joined->context, number, &parent, &child, widest(child.side->count, arms)));

    attach_turn(c, child.given, child.side, arms, inverse, j);
    attach_mean(c, child.given, child.side, child.mean, &j->child);
    for (int k = 0; k < 3; k++)
        j->child.rest[1 + k][k] = 1;

    arms_of(parent.given, parent.side, parent.mean, parent.R, child.R, arms);
    if (!invert_spread(parent.side, arms, j->inverse))
        return refuse_line(joined->context, number, "parent");

    if (anchored)
        attach_world(&parent, arms, &j->parent);
    else {
        attach_mean(p, parent.given, parent.side, parent.mean, &j->parent);
        attach_arms(p, parent.given, parent.side, parent.mean, arms, &j->parent);
    }

    /* Errors of Φ are weighted like velocities of the child: by a quarter of its mass, and of its moments about its
     * centre. */
    j->weight[0] = 0.25 * c->inertia->mass;
    j->weight[1] = 0.25 * (c->inertia->S[0] + c->inertia->S[4] + c->inertia->S[8]);
    return SP_OK;
}

int sp_joined_make_joints(sp_joined *joined, const sp_joined_body *bodies, const sp_joint *joints)
{
    int64_t most = 0;
    int status = SP_OK;

    for (int64_t k = 0; k < joined->joint_count; k++) {
        most = joints[k].parent.body >= 0 && joints[k].parent.count > most ? joints[k].parent.count : most;
        most = joints[k].child.count > most ? joints[k].child.count : most;
    }

    double *scratch = malloc((size_t)(3 * most + 1) * sizeof *scratch);
    SP_PASS(sp_allocated(joined->context, scratch));
    for (int64_t k = 0; k < joined->joint_count; k++)
        SP_TRY(new_joint(joined, bodies, k, &joints[k], scratch));
done:
    free(scratch);
    return status;
}
