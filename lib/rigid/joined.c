/* Joined bodies: the tree, the constants of joints, the step, and state for callers. */
#include "rigid/joined_internal.h"

#include "mesh/faces.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- interfaces ---- */

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
static void attach_mean(joined_body *b, const sp_joined_body *given, const sp_joint_side *side, const double mean[3],
                        joint_side *out)
{
    const int64_t r = b->r;
    for (int c = 0; c < 3; c++) {
        out->rest[0][c] = mean[c] - b->inertia->centre[c];
        for (int64_t j = 0; j < r; j++) {
            double sum = 0;
            for (int64_t k = 0; k < side->count; k++)
                sum += share_of(side, k) * displacement(given, side->vertices[k], c, j);
            out->slope[0][c * r + j] = sum - b->inertia->mean[c * r + j];
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
                    out->slope[1 + a][c * r + j] += weight * displacement(given, side->vertices[k], c, j);
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

static void new_side(sp_pool *pool, int64_t body, int64_t r, int vectors, joint_side *side)
{
    side->body = body;
    for (int k = 0; k < vectors && r > 0; k++)
        side->slope[k] = sp_pool_new(pool, 3 * r, sizeof(double));
}

static double widest(int64_t count, const double *arms)
{
    double most = 0;
    for (int64_t k = 0; k < count; k++)
        most = fmax(most, sp_norm3(arms + 3 * k));
    return 2 * most;
}

/* Constants of a joint. `scratch` holds the arms of the larger interface. */
static int new_joint(sp_joined *joined, const sp_joined_body *given, int64_t number, const sp_joint *from,
                     double *scratch)
{
    joint *j = &joined->joints[number];
    const int64_t child = from->child.body, parent = from->parent.body;
    const sp_joined_body *gc = &given[child], *gp = parent < 0 ? gc : &given[parent];
    const sp_joint_side *held = parent < 0 ? &from->child : &from->parent;
    joined_body *c = &joined->bodies[child], *p = parent < 0 ? c : &joined->bodies[parent];
    sp_pose pose[2];
    double R[2][9], mean[2][3], world[2][3], apart[3], local[3], inverse[9], gap;
    sp_free_body_pose(p->free, &pose[0]);
    sp_free_body_pose(c->free, &pose[1]);
    mean_of(gp, held, mean[0]);
    mean_of(gc, &from->child, mean[1]);
    for (int s = 0; s < 2; s++) {
        sp_quaternion_matrix(pose[s].q, R[s]);
        sp_rotate(R[s], mean[s], world[s]);
        for (int k = 0; k < 3; k++)
            world[s][k] += pose[s].x[k];
    }
    arms_of(gc, &from->child, mean[1], R[1], R[1], scratch);
    const double width = widest(from->child.count, scratch);
    if (!invert_spread(&from->child, scratch, inverse))
        return sp_fail(joined->context, SP_INPUT, "joint %lld: the vertices of the child's interface are on one line",
                       (long long)number);
    attach_turn(c, gc, &from->child, scratch, inverse, j);
    arms_of(gp, held, mean[0], R[0], R[1], scratch);
    if (!invert_spread(held, scratch, j->inverse))
        return sp_fail(joined->context, SP_INPUT, "joint %lld: the vertices of the parent's interface are on one line",
                       (long long)number);
    sp_subtract3(world[0], world[1], apart);
    gap = sp_norm3(apart);
    if (!(gap <= 0.05 * width))
        return sp_fail(
            joined->context, SP_INPUT,
            "joint %lld: the interfaces do not meet: their means are %.3g m apart, and the child's is %.3g m "
            "wide",
            (long long)number, gap, width);
    /* The child's point is where the parent's mean is: meshes that do not match have different means. */
    sp_rotate_back(R[1], apart, local);
    for (int k = 0; k < 3; k++)
        mean[1][k] += local[k];
    attach_mean(c, gc, &from->child, mean[1], &j->child);
    for (int k = 0; k < 3; k++)
        j->child.rest[1 + k][k] = 1;
    if (parent >= 0) {
        attach_mean(p, gp, held, mean[0], &j->parent);
        attach_arms(p, gp, held, mean[0], scratch, &j->parent);
    } else { /* the world: vectors that stay where they are */
        memcpy(j->parent.start[0], world[0], sizeof world[0]);
        for (int a = 0; a < 3; a++)
            for (int64_t k = 0; k < held->count; k++) {
                double turned[3];
                sp_rotate(R[1], scratch + 3 * k, turned);
                for (int x = 0; x < 3; x++)
                    j->parent.start[1 + a][x] += share_of(held, k) * scratch[3 * k + a] * turned[x];
            }
        memcpy(j->parent.end, j->parent.start, sizeof j->parent.end);
    }
    j->weight[0] = 0.25 * c->inertia->mass;
    j->weight[1] = 0.25 * (c->inertia->S[0] + c->inertia->S[4] + c->inertia->S[8]);
    return SP_OK;
}

/* ---- the tree ---- */

/* Each body's joint to its parent: the first one in which it is the child, unless that would close a loop. `tree` is a
 * forest of the bodies that hang together [bodies]: a child without a parent is the top of its tree. */
static void find_parents(sp_joined *joined, const sp_joint *joints, int64_t *tree)
{
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined->bodies[b].parent = joined->bodies[b].joint = -1;
        tree[b] = b;
    }
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const int64_t parent = joints[k].parent.body, child = joints[k].child.body;
        joined_body *c = &joined->bodies[child];
        const bool below = parent >= 0 && sp_forest_root(tree, parent) == sp_forest_root(tree, child);
        joined->joints[k].loop = -1;
        if (c->joint < 0 && !below) {
            c->joint = k;
            c->parent = parent;
            if (parent >= 0)
                sp_forest_join(tree, parent, child);
        } else {
            joined->loops[joined->loop_count] = k;
            joined->joints[k].loop = joined->loop_count++;
        }
    }
}

/* depth [bodies]: the distance from the root. Walks up to a body whose distance is known, and down again. */
static int64_t find_depths(const sp_joined *joined, int64_t *depth, int64_t *way)
{
    int64_t deepest = 0;
    for (int64_t b = 0; b < joined->body_count; b++)
        depth[b] = -1;
    for (int64_t b = 0; b < joined->body_count; b++) {
        int64_t steps = 0, at = b;
        for (; at >= 0 && depth[at] < 0; at = joined->bodies[at].parent)
            way[steps++] = at;
        for (int64_t below = at < 0 ? 0 : depth[at] + 1; steps > 0; below++)
            depth[way[--steps]] = below;
        deepest = depth[b] > deepest ? depth[b] : deepest;
    }
    return deepest;
}

/* Orders the bodies by their distance from their root; bodies of one generation keep their order. */
static void sort_bodies(sp_joined *joined, const int64_t *depth, int64_t deepest)
{
    joined->level_count = deepest + 1;
    for (int64_t b = 0; b < joined->body_count; b++)
        joined->level[depth[b] + 1]++;
    for (int64_t level = 0; level < joined->level_count; level++)
        joined->level[level + 1] += joined->level[level];
    for (int64_t b = joined->body_count - 1; b >= 0; b--) /* the ends count down to the beginnings */
        joined->order[--joined->level[depth[b] + 1]] = b;
    for (int64_t level = 0; level < joined->level_count; level++)
        joined->level[level] = joined->level[level + 1];
    joined->level[joined->level_count] = joined->body_count;
}

static void list_joints(sp_joined *joined, const sp_joint *joints)
{
    int64_t at = 0;
    for (int64_t k = 0; k < joined->joint_count; k++) {
        joined->bodies[joints[k].child.body].link_count++;
        if (joints[k].parent.body >= 0)
            joined->bodies[joints[k].parent.body].link_count++;
    }
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined->bodies[b].link = joined->links + at;
        at += joined->bodies[b].link_count;
        joined->bodies[b].link_count = 0;
    }
    for (int64_t k = 0; k < joined->joint_count; k++)
        for (int s = 0; s < 2; s++) {
            const int64_t number = s ? joints[k].child.body : joints[k].parent.body;
            joined_body *b = number < 0 ? NULL : &joined->bodies[number];
            if (b)
                joined->links[b->link - joined->links + b->link_count++] = k;
        }
}

static void number_unknowns(sp_joined *joined)
{
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined_body *body = &joined->bodies[b];
        body->n = 6 + body->r;
        body->size = body->n + (body->joint >= 0 ? JOINT : 0);
        body->first = joined->tree;
        joined->tree += body->size;
        if (body->joint >= 0)
            joined->joints[body->joint].impulse = body->first + body->n;
    }
    joined->n = joined->tree;
    for (int64_t l = 0; l < joined->loop_count; l++) {
        joined->joints[joined->loops[l]].impulse = joined->n;
        joined->n += JOINT;
    }
}

/* ---- creation ---- */

static int check_side(sp_context *context, int64_t number, const char *role, int64_t body_count,
                      const sp_joined_body *bodies, const sp_joint_side *side)
{
    const int64_t least = role[0] == 'p' ? -1 : 0;
    if (side->body < least || side->body >= body_count)
        return sp_fail(context, SP_INPUT, "joint %lld: there is no body %lld", (long long)number,
                       (long long)side->body);
    if (side->body < 0)
        return SP_OK;
    if (side->count < 3)
        return sp_fail(context, SP_INPUT, "joint %lld: the %s's interface has %lld vertices, which are less than three",
                       (long long)number, role, (long long)side->count);
    for (int64_t k = 0; k < side->count; k++)
        if (side->vertices[k] < 0 || side->vertices[k] >= bodies[side->body].rows / 3)
            return sp_fail(context, SP_INPUT, "joint %lld: the %s has no vertex %lld", (long long)number, role,
                           (long long)side->vertices[k]);
    return SP_OK;
}

static int check(sp_context *context, const sp_joined_parameters *p, int64_t body_count, const sp_joined_body *bodies,
                 int64_t joint_count, const sp_joint *joints)
{
    int status;
    for (int64_t b = 0; b < body_count; b++) {
        const sp_free_body *free = bodies[b].free;
        if (free->p.decoupled || free->workspaces != &free->own || free->p.step != p->step)
            return sp_fail(context, SP_USAGE,
                           "body %lld is decoupled, shares its workspaces or has another step, and cannot be joined",
                           (long long)b);
    }
    for (int64_t k = 0; k < joint_count; k++) {
        SP_TRY(check_side(context, k, "parent", body_count, bodies, &joints[k].parent));
        SP_TRY(check_side(context, k, "child", body_count, bodies, &joints[k].child));
        if (joints[k].parent.body == joints[k].child.body)
            return sp_fail(context, SP_INPUT, "joint %lld has both ends on body %lld", (long long)k,
                           (long long)joints[k].child.body);
    }
    status = SP_OK;
done:
    return status;
}

static void allocate_bodies(sp_joined *joined)
{
    sp_pool *pool = &joined->pool;
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        const int64_t above = b->parent < 0 ? 0 : joined->bodies[b->parent].n, wide = b->size > above ? b->size : above;
        b->load = sp_pool_new(pool, b->r, sizeof(double));
        b->matrix = sp_pool_new(pool, (int64_t)b->size * b->size, sizeof(double));
        b->row = sp_pool_new(pool, BORDER * above, sizeof(double));
        b->column = sp_pool_new(pool, BORDER * above, sizeof(double));
        b->scratch = sp_pool_new(pool, BORDER * wide, sizeof(double));
        b->product = sp_pool_new(pool, above * above, sizeof(double));
        b->pivot = sp_pool_new(pool, b->size, sizeof(int));
    }
    double **vectors[] = {&joined->x, &joined->trial, &joined->dx, &joined->residual, &joined->still};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(pool, joined->n, sizeof(double));
    const int64_t m = JOINT * joined->loop_count;
    joined->loop_column = sp_pool_new(pool, m * joined->tree, sizeof(double));
    joined->loop_row = sp_pool_new(pool, m * joined->tree, sizeof(double));
    joined->loop_matrix = sp_pool_new(pool, m * m, sizeof(double));
    joined->loop_pivot = sp_pool_new(pool, m, sizeof(int));
    joined->size = sp_pool_new(pool, 2 * joined->body_count, sizeof(double));
}

static void allocate_joints(sp_joined *joined, const sp_joint *joints)
{
    for (int64_t k = 0; k < joined->joint_count; k++) {
        joint *j = &joined->joints[k];
        const int64_t p = joints[k].parent.body, c = joints[k].child.body;
        new_side(&joined->pool, p, p < 0 ? 0 : joined->bodies[p].r, VECTORS, &j->parent);
        new_side(&joined->pool, c, joined->bodies[c].r, 1, &j->child);
        if (joined->bodies[c].r > 0)
            j->turn = sp_pool_new(&joined->pool, 3 * joined->bodies[c].r, sizeof(double));
    }
}

static int make_joints(sp_joined *joined, const sp_joined_body *bodies, const sp_joint *joints)
{
    int64_t most = 0;
    int status = SP_OK;
    for (int64_t k = 0; k < joined->joint_count; k++) {
        most = joints[k].parent.body >= 0 && joints[k].parent.count > most ? joints[k].parent.count : most;
        most = joints[k].child.count > most ? joints[k].child.count : most;
    }
    double *scratch = malloc((size_t)(3 * most) * sizeof *scratch);
    if (!scratch)
        return sp_fail_memory(joined->context);
    for (int64_t k = 0; k < joined->joint_count; k++)
        SP_TRY(new_joint(joined, bodies, k, &joints[k], scratch));
done:
    free(scratch);
    return status;
}

int sp_joined_new(sp_context *context, const sp_joined_parameters *parameters, int64_t body_count,
                  const sp_joined_body *bodies, int64_t joint_count, const sp_joint *joints, sp_joined **result)
{
    sp_joined *joined = NULL;
    int status;
    SP_TRY(check(context, parameters, body_count, bodies, joint_count, joints));
    joined = calloc(1, sizeof *joined);
    if (!joined)
        return sp_fail_memory(context);
    joined->context = context;
    joined->p = *parameters;
    joined->p.tolerance = parameters->tolerance == 0 ? 1e-12 : parameters->tolerance;
    joined->p.iterations = parameters->iterations == 0 ? 50 : parameters->iterations;
    joined->body_count = body_count;
    joined->joint_count = joint_count;
    joined->bodies = sp_pool_new(&joined->pool, body_count, sizeof *joined->bodies);
    joined->joints = sp_pool_new(&joined->pool, joint_count, sizeof *joined->joints);
    joined->links = sp_pool_new(&joined->pool, 2 * joint_count, sizeof *joined->links);
    joined->order = sp_pool_new(&joined->pool, body_count, sizeof *joined->order);
    joined->level = sp_pool_new(&joined->pool, body_count + 2, sizeof *joined->level);
    joined->loops = sp_pool_new(&joined->pool, joint_count, sizeof *joined->loops);
    int64_t *depth = sp_pool_new(&joined->pool, body_count, sizeof *depth),
            *way = sp_pool_new(&joined->pool, body_count, sizeof *way);
    if (joined->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t b = 0; b < body_count; b++) {
        joined_body *body = &joined->bodies[b];
        *body = (joined_body){.free = bodies[b].free, .inertia = bodies[b].inertia, .r = bodies[b].free->r};
        if (bodies[b].name)
            snprintf(body->name, sizeof body->name, "body %s", bodies[b].name);
        else
            snprintf(body->name, sizeof body->name, "body %lld", (long long)b);
    }
    find_parents(joined, joints, way);
    sort_bodies(joined, depth, find_depths(joined, depth, way));
    list_joints(joined, joints);
    number_unknowns(joined);
    allocate_bodies(joined);
    allocate_joints(joined, joints);
    if (joined->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(make_joints(joined, bodies, joints));
    for (int64_t b = 0; b < body_count; b++)
        memcpy(joined->bodies[b].before, bodies[b].free->state.v, sizeof joined->bodies[b].before);
    *result = joined;
done:
    if (status != SP_OK)
        sp_joined_free(joined);
    return status;
}

void sp_joined_free(sp_joined *joined)
{
    if (!joined)
        return;
    sp_pool_free(&joined->pool);
    free(joined);
}

/* ---- the step ---- */

/* Sets what is constant in the step. */
static int begin(sp_joined *joined, const sp_joined_load *loads)
{
    const double h = joined->p.step;
    int status = SP_OK;
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        SP_TRY(sp_free_begin(b->free, loads[k].F, loads[k].T, loads[k].Q));
        memcpy(b->P, b->free->P, sizeof b->P);
        if (b->r > 0)
            memcpy(b->load, b->free->load, (size_t)b->r * sizeof *b->load);
        for (int c = 0; c < 3; c++)
            b->F[c] = h * loads[k].F[c];
        sp_quaternion_matrix(b->free->state.rotation, b->R0);
    }
    for (int64_t k = 0; k < joined->joint_count; k++) {
        joint *j = &joined->joints[k];
        joint_side *sides[2] = {&j->parent, &j->child};
        for (int s = 0; s < 2; s++)
            if (sides[s]->body >= 0) {
                const joined_body *b = &joined->bodies[sides[s]->body];
                sp_joined_place(sides[s], b->r, b->R0, b->free->now.q, sides[s]->start);
            }
    }
done:
    return status;
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const sp_joined *joined = self;
    const long long step = (long long)(joined->report.steps + 1);
    for (int64_t b = 0; b < joined->body_count; b++)
        if (joined->bodies[b].free->inverted_element >= 0)
            return sp_fail(joined->context, SP_NUMERICAL,
                           "step %lld of joined bodies would invert element %lld of %s; take smaller steps, or the law "
                           "stable-neo-hookean",
                           step, (long long)joined->bodies[b].free->inverted_element, joined->bodies[b].name);
    if (!isfinite(relative))
        return sp_fail(joined->context, SP_NUMERICAL,
                       "forces of joined bodies are beyond the range of numbers in step %lld; take a smaller step",
                       step);
    return sp_fail(joined->context, SP_NUMERICAL,
                   "Newton's method did not converge in step %lld of joined bodies: residual %.1e after %lld "
                   "iterations; take a smaller step",
                   step, relative, (long long)iterations);
}

/* The norm of the residual that rounding of the places of interfaces causes. */
static double rounding(const sp_joined *joined)
{
    double sum = 0;
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const joint *j = &joined->joints[k];
        const joined_body *c = &joined->bodies[j->child.body];
        const double place = sp_norm3(c->free->state.c) + sp_norm3(j->child.start[0]);
        sum += j->weight[0] * place * place + j->weight[1];
    }
    return 8 * DBL_EPSILON * 2 / joined->p.step * sqrt(sum);
}

/* Velocities that continue those of the last step, or bring the bodies back to where they are; the last impulses. */
static void guess(sp_joined *joined)
{
    for (int64_t k = 0; k < joined->body_count; k++) {
        const joined_body *b = &joined->bodies[k];
        const sp_free_body *free = b->free;
        double *x = joined->x + b->first, *still = joined->still + b->first;
        for (int c = 0; c < 3; c++) {
            const bool one = joined->p.semi_implicit;
            x[c] = one ? free->state.v[c] : 2 * free->state.v[c] - b->before[c];
            x[3 + c] = one ? free->now.Omega[c] : 2 * free->now.Omega[c] - free->before[c];
            still[c] = free->state.v[c];
            still[3 + c] = free->now.Omega[c];
        }
        for (int i = 0; i < b->r; i++) {
            x[6 + i] = joined->p.semi_implicit ? free->now.qdot[i] : 2 * free->now.qdot[i] - free->before[3 + i];
            still[6 + i] = -free->now.qdot[i];
        }
    }
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const joint *j = &joined->joints[k];
        memcpy(joined->x + j->impulse, j->lambda, sizeof j->lambda);
        memcpy(joined->still + j->impulse, j->lambda, sizeof j->lambda);
    }
}

static void correct(sp_joined *joined)
{
    cblas_daxpy((int)joined->n, -1, joined->dx, 1, joined->x, 1);
    sp_joined_set_end(joined, joined->x);
}

static int newton(sp_joined *joined)
{
    const sp_newton_problem problem = {.self = joined,
                                       .n = joined->n,
                                       .residual = sp_joined_residual,
                                       .factor = sp_joined_factor,
                                       .solve = sp_joined_solve,
                                       .not_converged = not_converged,
                                       .merit = SP_NEWTON_RESIDUAL,
                                       .at_least_once = true,
                                       .whole_steps = 8,
                                       .rounding = rounding(joined),
                                       .tolerance = joined->p.tolerance,
                                       .iterations = joined->p.iterations};
    const sp_newton_vectors vectors = {.x = joined->x, .r = joined->residual, .dx = joined->dx, .trial = joined->trial};
    sp_newton_report report;
    int status;
    SP_TRY(sp_newton_solve(&problem, joined->still, &vectors, &report));
    if (report.iterations > 0 && !report.stagnated) {
        SP_TRY(sp_joined_solve(joined, joined->residual, 0, joined->dx));
        correct(joined);
        for (int64_t b = 0; b < joined->body_count; b++)
            sp_free_follow(joined->bodies[b].free, joined->dx + joined->bodies[b].first + 6);
    }
    joined->report.stagnated += report.stagnated;
    joined->report.newton_iterations += report.iterations;
    if (report.iterations > joined->report.worst_iterations)
        joined->report.worst_iterations = report.iterations;
    joined->report.worst_residual = fmax(joined->report.worst_residual, report.relative);
done:
    return status;
}

static int one_iteration(sp_joined *joined)
{
    sp_newton_residual size = {0};
    int status;
    sp_joined_residual(joined, joined->x, joined->residual, &size);
    if (!isfinite(size.norm))
        return not_converged(joined, size.norm, 1);
    SP_TRY(sp_joined_factor(joined, joined->x, false));
    SP_TRY(sp_joined_solve(joined, joined->residual, 0, joined->dx));
    correct(joined);
    joined->report.newton_iterations++;
    joined->report.worst_iterations = 1;
done:
    return status;
}

/* A body that cannot conclude its step keeps its message in its own context. */
static int refuse_body(const sp_joined *joined, int64_t b, int status)
{
    const sp_context *own = joined->bodies[b].free->context;
    return own == joined->context ? status
                                  : sp_fail(joined->context, status, "%s: %s", joined->bodies[b].name, own->message);
}

int sp_joined_step(sp_joined *joined, const sp_joined_load *loads)
{
    const double inverse = 1 / joined->p.step;
    int status;
    SP_TRY(begin(joined, loads));
    guess(joined);
    SP_TRY(joined->p.semi_implicit ? one_iteration(joined) : newton(joined));
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        double F[3];
        for (int c = 0; c < 3; c++)
            F[c] = b->J[c] * inverse;
        if ((status = sp_free_conclude(b->free, F, &b->state)) != SP_OK)
            return refuse_body(joined, k, status);
    }
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        memcpy(b->before, b->free->state.v, sizeof b->before);
        sp_free_accept(b->free, &b->state);
    }
    for (int64_t k = 0; k < joined->joint_count; k++)
        memcpy(joined->joints[k].lambda, joined->x + joined->joints[k].impulse, sizeof joined->joints[k].lambda);
    joined->report.steps++;
done:
    return status;
}

/* ---- state for callers ---- */

void sp_joined_gap(const sp_joined *joined, int64_t number, double gap[6])
{
    joint now = joined->joints[number];
    const joined_body *c = &joined->bodies[now.child.body],
                      *p = now.parent.body < 0 ? NULL : &joined->bodies[now.parent.body];
    double R[9];
    sp_quaternion_matrix(c->free->state.rotation, R);
    sp_joined_place(&now.child, c->r, R, c->free->now.q, now.child.end);
    if (p) {
        sp_quaternion_matrix(p->free->state.rotation, R);
        sp_joined_place(&now.parent, p->r, R, p->free->now.q, now.parent.end);
    }
    sp_joined_constraint(&now, c->r, c->free->now.q, p ? p->free->state.c : (double[3]){0}, c->free->state.c, gap);
}

void sp_joined_reaction(const sp_joined *joined, int64_t number, double reaction[6])
{
    for (int i = 0; i < JOINT; i++)
        reaction[i] = joined->joints[number].lambda[i] / joined->p.step;
}

int64_t sp_joined_loops(const sp_joined *joined)
{
    return joined->loop_count;
}

const sp_joined_report *sp_joined_reported(const sp_joined *joined)
{
    return &joined->report;
}

void sp_joined_visit(sp_joined *joined, sp_state *state)
{
    for (int64_t k = 0; k < joined->joint_count; k++)
        SP_STATE_VALUE(state, joined->joints[k].lambda);
    for (int64_t b = 0; b < joined->body_count; b++)
        SP_STATE_VALUE(state, joined->bodies[b].before);
    SP_STATE_VALUE(state, joined->report);
}
