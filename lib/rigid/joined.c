/* Joined bodies: the tree, the step, and state for callers. */
#include "rigid/joined_internal.h"

#include "base/forest.h"
#include "linear/dense.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

        /* A joint between bodies of the same tree would close a loop. */
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

    /* Counting sort by generation */
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

    /* Counted first, so that the links of a body follow each other */
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
    /* A body's velocities and coordinates, then the impulses of the joint to its parent */
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined_body *body = &joined->bodies[b];
        body->n = 6 + body->r;
        body->size = body->n + (body->joint >= 0 ? JOINT : 0);
        body->first = joined->tree;
        joined->tree += body->size;
        if (body->joint >= 0)
            joined->joints[body->joint].impulse = body->first + body->n;
    }

    /* The impulses of loops come last, behind the tree. */
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
    for (int64_t b = 0; b < body_count; b++) {
        const sp_free_body *free = bodies[b].free;
        if (free->p.decoupled || free->workspaces != &free->own || free->p.step != p->step)
            return sp_fail(context, SP_USAGE,
                           "body %lld is decoupled, shares its workspaces or has another step, and cannot be joined",
                           (long long)b);
    }

    for (int64_t k = 0; k < joint_count; k++) {
        SP_PASS(check_side(context, k, "parent", body_count, bodies, &joints[k].parent));
        SP_PASS(check_side(context, k, "child", body_count, bodies, &joints[k].child));
        if (joints[k].parent.body == joints[k].child.body)
            return sp_fail(context, SP_INPUT, "joint %lld has both ends on body %lld", (long long)k,
                           (long long)joints[k].child.body);
    }
    return SP_OK;
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

static void new_side(sp_pool *pool, int64_t body, int64_t r, int slopes, joint_side *side)
{
    side->body = body;
    side->slopes = r > 0 ? slopes : 0;
    side->slope = sp_pool_new(pool, 3 * side->slopes * r, sizeof(double));
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

static void take_body(const sp_joined_body *given, int64_t number, joined_body *body)
{
    *body = (joined_body){.free = given->free, .inertia = given->inertia, .r = given->free->r};
    memcpy(body->before, given->free->state.v, sizeof body->before);

    if (given->name)
        snprintf(body->name, sizeof body->name, "body %s", given->name);
    else
        snprintf(body->name, sizeof body->name, "body %lld", (long long)number);
}

int sp_joined_new(sp_context *context, const sp_joined_parameters *parameters, int64_t body_count,
                  const sp_joined_body *bodies, int64_t joint_count, const sp_joint *joints, sp_joined **result)
{
    sp_joined *joined = NULL;
    int status;

    SP_TRY(check(context, parameters, body_count, bodies, joint_count, joints));
    joined = calloc(1, sizeof *joined);
    SP_PASS(sp_allocated(context, joined));

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
    SP_TRY(sp_allocated(context, !joined->pool.failed));

    for (int64_t b = 0; b < body_count; b++)
        take_body(&bodies[b], b, &joined->bodies[b]);

    find_parents(joined, joints, way);
    sort_bodies(joined, depth, find_depths(joined, depth, way));
    list_joints(joined, joints);
    number_unknowns(joined);
    SP_TRY(sp_dense_fits(context, joined->n, JOINT * joined->loop_count));

    allocate_bodies(joined);
    allocate_joints(joined, joints);
    SP_TRY(sp_allocated(context, !joined->pool.failed));

    SP_TRY(sp_joined_make_joints(joined, bodies, joints));
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

/* The message of a body is in its own context. */
static int refuse_body(const sp_joined *joined, int64_t b, int status)
{
    const sp_context *own = joined->bodies[b].free->context;
    return own == joined->context ? status
                                  : sp_fail(joined->context, status, "%s: %s", joined->bodies[b].name, own->message);
}

/* Sets what is constant in the step. */
static int begin(sp_joined *joined, const sp_joined_load *loads)
{
    const double h = joined->p.step;
    int status;

    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        if ((status = sp_free_begin(b->free, loads[k].F, loads[k].T, loads[k].Q)) != SP_OK)
            return refuse_body(joined, k, status);

        /* P, load and R₀ of the step alone: iterations add the impulses of joints to them. */
        memcpy(b->P, b->free->P, sizeof b->P);
        if (b->r > 0)
            memcpy(b->load, b->free->load, (size_t)b->r * sizeof *b->load);
        for (int c = 0; c < 3; c++)
            b->F[c] = h * loads[k].F[c];
        sp_quaternion_matrix(b->free->state.rotation, b->R0);
    }

#pragma omp parallel for schedule(static) num_threads(joined->context->threads) if (joined->body_count >= CROWD)
    for (int64_t k = 0; k < joined->joint_count; k++) {
        joint *j = &joined->joints[k];
        joint_side *sides[2] = {&j->parent, &j->child};
        for (int s = 0; s < 2; s++)
            if (sides[s]->body >= 0) {
                const joined_body *b = &joined->bodies[sides[s]->body];
                sp_joined_place(sides[s], b->r, b->R0, b->free->now.q, sides[s]->start);
            }
    }
    return SP_OK;
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

        /* An interface is the difference of places about this far from the origin, whose last bits are lost. */
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

        /* Constant velocities for one iteration, else twice the present ones less the last */
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

/* As for a single body: one more correction with the current factor. */
static int polish(sp_joined *joined)
{
    const int status = sp_joined_solve(joined, joined->residual, 0, joined->dx);
    correct(joined);
    for (int64_t b = 0; b < joined->body_count; b++)
        sp_free_follow(joined->bodies[b].free, joined->dx + joined->bodies[b].first + 6);
    return status;
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

    SP_PASS(sp_newton_solve(&problem, joined->still, &vectors, &report));
    if (report.iterations == 0)
        for (int64_t b = 0; b < joined->body_count; b++)
            sp_free_keep_stiffness(joined->bodies[b].free);
    else if (!report.stagnated)
        SP_PASS(polish(joined));

    sp_free_count(&joined->report, &report);
    return SP_OK;
}

/* One iteration does not close the joints. An error of Φ at the end of one step would become a velocity that changes
 * its sign from step to step and grows. So it makes their rates vanish at the end, less a part that closes them within
 * a few steps: Φ̇₁ = −Φ₀/(2h). */
static int one_iteration(sp_joined *joined)
{
    sp_newton_residual size = {0};

    for (int64_t k = 0; k < joined->joint_count; k++)
        sp_joined_gap(joined, k, joined->joints[k].gap);

    sp_joined_residual(joined, joined->x, joined->residual, &size);
    if (!isfinite(size.norm))
        return not_converged(joined, size.norm, 1);

    /* The rates take the place of Φ in the residual. */
    sp_joined_rates(joined, joined->x, joined->residual);
    SP_PASS(sp_joined_factor(joined, joined->x, false));
    SP_PASS(sp_joined_solve(joined, joined->residual, 0, joined->dx));
    correct(joined);

    joined->report.newton_iterations++;
    joined->report.worst_iterations = 1;
    return SP_OK;
}

int sp_joined_step(sp_joined *joined, const sp_joined_load *loads)
{
    const double inverse = 1 / joined->p.step;
    const int threads = joined->context->threads;
    int status;

    SP_TRY(begin(joined, loads));
    guess(joined);
    SP_TRY(joined->p.semi_implicit ? one_iteration(joined) : newton(joined));

#pragma omp parallel for schedule(static) num_threads(threads) if (joined->body_count >= CROWD)
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        double F[3];

        /* The force of the step is its impulse divided by h. */
        for (int c = 0; c < 3; c++)
            F[c] = b->J[c] * inverse;
        sp_free_finish(b->free, F, &b->state);
    }

    /* All bodies are checked before one is accepted, so that a refused step leaves them as they were. */
    for (int64_t k = 0; k < joined->body_count; k++)
        if ((status = sp_free_check(joined->bodies[k].free, &joined->bodies[k].state)) != SP_OK)
            return refuse_body(joined, k, status);

#pragma omp parallel for schedule(static) num_threads(threads) if (joined->body_count >= CROWD)
    for (int64_t k = 0; k < joined->body_count; k++) {
        joined_body *b = &joined->bodies[k];
        memcpy(b->before, b->free->state.v, sizeof b->before);
        sp_free_accept(b->free, &b->state);
    }

    /* Impulses are the first guess of the next step. */
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

const sp_free_report *sp_joined_reported(const sp_joined *joined)
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
