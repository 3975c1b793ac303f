/* The equations of a step of joined bodies (rigid/joined.h): vectors, residual, matrix, elimination. */
#include "rigid/joined_internal.h"

#include "linear/small.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- small matrices, row major ---- */

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* C = s A B; C may not be A or B. */
static void times(double s, const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = s * (A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j]);
}

/* C = s A Bᵀ. */
static void times_transposed(double s, const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = s * sp_dot3(A + 3 * i, B + 3 * j);
}

/* C = s A [b], with [b] x = b × x: row i is s A_i × b. */
static void times_skew(double s, const double A[9], const double b[3], double C[9])
{
    for (int i = 0; i < 3; i++) {
        sp_cross3(A + 3 * i, b, C + 3 * i);
        for (int j = 0; j < 3; j++)
            C[3 * i + j] *= s;
    }
}

/* S += [a][b] = b aᵀ − (a · b) I. */
static void add_skews(const double a[3], const double b[3], double S[9])
{
    const double dot = sp_dot3(a, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] += b[i] * a[j] - (i == j ? dot : 0);
}

/* Bodies have few coordinates: plain loops take half the time of BLAS. */

/* y [r] += s xᵀ A for A [3, r]. */
static void add_slope(double s, const double x[3], const double *A, int r, double *y)
{
    const double a = s * x[0], b = s * x[1], c = s * x[2];
    for (int i = 0; i < r; i++)
        y[i] += a * A[i] + b * A[r + i] + c * A[2 * r + i];
}

/* The same into every `stride`th entry of y. */
static void add_column(double s, const double x[3], const double *A, int r, double *y, int stride)
{
    const double a = s * x[0], b = s * x[1], c = s * x[2];
    for (int i = 0; i < r; i++)
        y[i * stride] += a * A[i] + b * A[r + i] + c * A[2 * r + i];
}

/* Y [r, 3], whose rows are `stride` apart, += s Aᵀ M for A [3, r] and M [3, 3]. */
static void add_columns(double s, const double M[9], const double *A, int r, double *Y, int stride)
{
    for (int x = 0; x < 3; x++)
        add_column(s, (const double[3]){M[x], M[3 + x], M[6 + x]}, A, r, Y + x, stride);
}

/* ---- the vectors ---- */

void sp_joined_place(const joint_side *side, int r, const double R[9], const double *q, double y[VECTORS][3])
{
    double a[VECTORS][3];
    memcpy(a, side->rest, sizeof a);

    /* y = R (a + slope q) */
    if (side->slopes > 0) {
        double moved[3 * VECTORS];
        sp_small_apply(3 * side->slopes, r, side->slope, q, moved);
        for (int k = 0; k < side->slopes; k++)
            for (int c = 0; c < 3; c++)
                a[k][c] += moved[3 * k + c];
    }

    for (int k = 0; k < VECTORS; k++)
        sp_rotate(R, a[k], y[k]);
}

/* A_k [3, r] of a side. */
static const double *slope_of(const joint_side *side, int r, int k)
{
    return side->slope + (int64_t)k * 3 * r;
}

/* Φ_t is y₀ of the parent less y₀ of the child, plus the centres of mass. Φ_R, apart from the coordinates of the child,
 * is J_p⁻¹ Σ ε_lab s_a · d_b with the vectors s of the parent and d of the child. g [i][k − 1] receives the derivative
 * of component i of Φ_R with respect to vector k of one side, from the vectors of the other one; sign is 1 for the
 * parent's side and −1 for the child's. */
typedef double gradient[3][3][3];

static void differentiate(const joint *j, const double other[VECTORS][3], double sign, gradient g)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int next = (k + 1) % 3, last = (k + 2) % 3;
            const double a = sign * j->inverse[3 * i + last], b = sign * j->inverse[3 * i + next];
            for (int x = 0; x < 3; x++)
                g[i][k][x] = a * other[1 + next][x] - b * other[1 + last][x];
        }
}

/* force [3, 3]: the forces on the vectors 1, 2, 3 of one side by the impulses λ, their derivatives times λ. other
 * [3, 3] are those vectors of the other side. */
static void turning_forces(const joint *j, const double *lambda, const double *other, double sign, double *force)
{
    double moment[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++)
            moment[l] += sign * lambda[3 + i] * j->inverse[3 * i + l];

    /* f_k = Σ ε moment × the other side's vectors */
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        for (int x = 0; x < 3; x++)
            force[3 * k + x] = moment[last] * other[3 * next + x] - moment[next] * other[3 * last + x];
    }
}

static const joined_body *body_of(const sp_joined *joined, const joint_side *side)
{
    return side->body < 0 ? NULL : &joined->bodies[side->body];
}

void sp_joined_constraint(const joint *j, int r, const double *q, const double parent[3], const double child[3],
                          double phi[JOINT])
{
    gradient g;
    double turned[3] = {0};

    differentiate(j, j->child.end, 1, g);
    if (j->turn)
        sp_small_apply(3, r, j->turn, q, turned);

    /* Φ_t = c_p − c_c + (y_p − y_c), Φ_R = Σ g_k · y_pk − turn q */
    for (int i = 0; i < 3; i++) {
        phi[i] = parent[i] - child[i] + (j->parent.end[0][i] - j->child.end[0][i]);
        phi[3 + i] = -turned[i];
        for (int k = 0; k < 3; k++)
            phi[3 + i] += sp_dot3(g[i][k], j->parent.end[1 + k]);
    }
}

/* ---- the end of the step ---- */

static void turn_body(joined_body *b, double h)
{
    const double *before = b->free->now.Omega, *after = b->free->next.Omega;
    double w[3], W[9], cayley[9], right[9], square;

    for (int k = 0; k < 3; k++)
        w[k] = 0.5 * h * (before[k] + after[k]);

    /* cay(w) = 1 + ([w] + ½ [w]²) / (1 + ¼|w|²) */
    times_skew(1, identity, w, W);
    square = 1 / (1 + 0.25 * sp_dot3(w, w));
    times(0.5 * square, W, W, cayley);

    for (int k = 0; k < 9; k++) {
        cayley[k] += square * W[k] + (k % 4 == 0);
        right[k] = 0.5 * h * square * ((k % 4 == 0) - 0.5 * W[k]);
        W[k] = (k % 4 == 0) - 0.5 * W[k];
    }

    times(1, b->R0, cayley, b->R1);
    times(1, b->R1, right, b->turned);
    times_transposed(1, W, b->R0, b->impulse);
}

static void set_body(sp_joined *joined, joined_body *b, const double *x)
{
    const double h = joined->p.step;
    sp_free_body *free = b->free;

    sp_free_use_workspace(free);
    sp_free_set_end(free, x + 3);
    turn_body(b, h);

    for (int k = 0; k < 3; k++)
        b->c1[k] = free->state.c[k] + 0.5 * h * (free->state.v[k] + x[k]);
}

static void set_side(const sp_joined *joined, joint_side *side)
{
    const joined_body *b = body_of(joined, side);

    if (b)
        sp_joined_place(side, b->r, b->R1, b->free->next.q, side->end);

    /* Impulses act on the mean of the vectors at both ends of the step, by which the joints do no work. */
    for (int k = 0; k < VECTORS; k++)
        for (int c = 0; c < 3; c++)
            side->mean[k][c] = 0.5 * (side->start[k][c] + side->end[k][c]);
}

static void set_forces(joint *j, const double *lambda)
{
    for (int c = 0; c < 3; c++) {
        j->parent.force[0][c] = lambda[c];
        j->child.force[0][c] = -lambda[c];
    }

    turning_forces(j, lambda, j->child.mean[1], 1, j->parent.force[1]);
    turning_forces(j, lambda, j->parent.mean[1], -1, j->child.force[1]);
}

/* Adds the impulses of one side of a joint to the loads of its body. */
static void load_side(joined_body *b, const joint_side *side)
{
    double torque[3] = {0}, local[3];

    /* The torque of the forces, and their loads on the coordinates */
    for (int k = 0; k < VECTORS; k++) {
        double one[3];
        sp_cross3(side->mean[k], side->force[k], one);
        for (int c = 0; c < 3; c++)
            torque[c] += one[c];

        if (k < side->slopes) {
            sp_rotate(b->impulse, side->force[k], local);
            add_slope(1, local, slope_of(side, b->r, k), b->r, b->free->load);
        }
    }

    sp_rotate_back(b->R0, torque, local);
    for (int c = 0; c < 3; c++) {
        b->free->P[c] += local[c];
        b->J[c] += side->force[0][c];
    }
}

static void load_body(const sp_joined *joined, joined_body *b, const double *x)
{
    memcpy(b->J, b->F, sizeof b->J);
    memcpy(b->free->P, b->P, sizeof b->P);
    if (b->r > 0)
        memcpy(b->free->load, b->load, (size_t)b->r * sizeof *b->load);

    for (int64_t l = 0; l < b->link_count; l++) {
        const joint *j = &joined->joints[b->link[l]];
        const bool child = b == body_of(joined, &j->child);
        load_side(b, child ? &j->child : &j->parent);
        if (child && j->turn)
            add_slope(-1, x + j->impulse + 3, j->turn, b->r, b->free->load);
    }
}

void sp_joined_set_end(sp_joined *joined, const double *x)
{
    const int threads = joined->context->threads;
#pragma omp parallel num_threads(threads) if (joined->body_count >= CROWD)
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < joined->body_count; b++)
            set_body(joined, &joined->bodies[b], x + joined->bodies[b].first);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < joined->joint_count; k++) {
            joint *j = &joined->joints[k];
            set_side(joined, &j->parent);
            set_side(joined, &j->child);
            set_forces(j, x + j->impulse);
        }
#pragma omp for schedule(static)
        for (int64_t b = 0; b < joined->body_count; b++)
            load_body(joined, &joined->bodies[b], x);
    }
}

/* ---- the residual ---- */

static void body_residual(joined_body *b, const double *x, double *r, double square[2])
{
    const double mass = b->inertia->mass;
    sp_newton_residual size;
    double momentum = 0, term = 0;

    sp_free_balance(b->free, r + 3, &size);

    /* m (v₁ − v₀) − J, with the impulses of joints in J */
    for (int k = 0; k < 3; k++) {
        r[k] = mass * (x[k] - b->free->state.v[k]) - b->J[k];
        momentum += r[k] * r[k] / mass;
        term += fmax(mass * fmax(x[k] * x[k], b->free->state.v[k] * b->free->state.v[k]), b->J[k] * b->J[k] / mass);
    }

    square[0] = size.norm * size.norm + momentum;
    square[1] = size.scale * size.scale + term;
}

void sp_joined_residual(void *self, const double *x, double *r, sp_newton_residual *size)
{
    sp_joined *joined = self;
    const double inverse = 2 / joined->p.step;
    double norm = 0, scale = 0;

    sp_joined_set_end(joined, x);
#pragma omp parallel for schedule(static) num_threads(joined->context->threads) if (joined->body_count >= CROWD)
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined_body *body = &joined->bodies[b];
        body_residual(body, x + body->first, r + body->first, joined->size + 2 * b);
    }

    for (int64_t b = 0; b < joined->body_count; b++) {
        norm += joined->size[2 * b];
        scale += joined->size[2 * b + 1];
    }

#pragma omp parallel for schedule(static) num_threads(joined->context->threads) if (joined->body_count >= CROWD)
    for (int64_t k = 0; k < joined->joint_count; k++) {
        joint *j = &joined->joints[k];
        double *phi = r + j->impulse;
        const joined_body *p = body_of(joined, &j->parent), *c = body_of(joined, &j->child);

        /* Φ at the end of the step as a velocity: 2/h times */
        sp_joined_constraint(j, c->r, c->free->next.q, p ? p->c1 : (double[3]){0}, c->c1, phi);
        j->square = 0;
        for (int i = 0; i < JOINT; i++) {
            phi[i] *= inverse;
            j->square += j->weight[i / 3] * phi[i] * phi[i];
        }
    }

    for (int64_t k = 0; k < joined->joint_count; k++)
        norm += joined->joints[k].square;

    size->norm = sqrt(norm);
    size->scale = sqrt(scale);
}

/* ---- rates of the constraints ---- */

/* Adds the rate of Φ by the motion of one side at the end of the step: the body turns by the velocity that the matrix
 * takes for its rotation (fill_side). */
static void add_rate(const joined_body *b, const joint_side *side, double h, double sign, const double *x,
                     const gradient g, double rate[JOINT])
{
    double spin[3], local[VECTORS][3] = {{0}};

    sp_rotate(b->turned, x + 3, spin);
    if (side->slopes > 0)
        sp_small_apply(3 * side->slopes, b->r, side->slope, x + 6, local[0]);

    for (int k = 0; k < VECTORS; k++) {
        double moved[3], turned[3];

        /* A vector moves with its slope, and turns: 2/h of the rotation that the matrix takes. */
        sp_rotate(b->R1, local[k], moved);
        sp_cross3(spin, side->end[k], turned);
        for (int c = 0; c < 3; c++)
            moved[c] += 2 / h * turned[c];

        for (int i = 0; i < 3; i++)
            if (k == 0)
                rate[i] += sign * (x[i] + moved[i]);
            else
                rate[3 + i] += sp_dot3(g[i][k - 1], moved);
    }
}

void sp_joined_rates(const sp_joined *joined, const double *x, double *r)
{
    const double h = joined->p.step;
#pragma omp parallel for schedule(static) num_threads(joined->context->threads) if (joined->body_count >= CROWD)
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const joint *j = &joined->joints[k];
        const joined_body *p = body_of(joined, &j->parent), *c = body_of(joined, &j->child);
        double *rate = r + j->impulse, turned[3] = {0};
        gradient g;

        memset(rate, 0, JOINT * sizeof *rate);
        if (p) {
            differentiate(j, j->child.end, 1, g);
            add_rate(p, &j->parent, h, 1, x + p->first, g, rate);
        }

        differentiate(j, j->parent.end, -1, g);
        add_rate(c, &j->child, h, -1, x + c->first, g, rate);
        if (j->turn)
            sp_small_apply(3, c->r, j->turn, x + c->first + 6, turned);

        /* Φ̇₁ = −Φ₀/(2h) */
        for (int i = 0; i < JOINT; i++)
            rate[i] += j->gap[i] / (2 * h) - (i < 3 ? 0 : turned[i - 3]);
    }
}

/* ---- the matrix ---- */

/* Where the equations of a joint by the unknowns of a body go, a row each, and the equations of the body by the
 * impulses, in columns whose entries are `stride` apart. */
typedef struct joint_border {
    double *row[JOINT], *column[JOINT];
    int stride;
} joint_border;

/* Those of Φ_t: ±(y₀ + c), whose vector turns and is deformed. */
static void fill_translation(const joined_body *b, const joint_side *side, double h, double sign,
                             const joint_border *to)
{
    double turn[9], torque[9];
    times_skew(1, identity, side->end[0], torque);
    times(-sign * 2 / h, torque, b->turned, turn);

    times_skew(-sign, b->impulse, side->mean[0], torque);

    for (int i = 0; i < 3; i++) {
        to->row[i][i] = sign;
        memcpy(to->row[i] + 3, turn + 3 * i, 3 * sizeof *turn);
        to->column[i][i * to->stride] = -sign;
        for (int c = 0; c < 3; c++)
            to->column[i][(3 + c) * to->stride] = torque[3 * c + i];

        if (b->r == 0)
            continue;
        const double local[3] = {b->impulse[i], b->impulse[3 + i], b->impulse[6 + i]};

        add_slope(sign, b->R1 + 3 * i, side->slope, b->r, to->row[i] + 6);
        add_column(-sign, local, side->slope, b->r, to->column[i] + 6 * to->stride, to->stride);
    }
}

/* Those of component i of Φ_R with these derivatives at the end of the step and at its middle. */
static void fill_rotation(const joined_body *b, const joint_side *side, int i, double h, const double end[3][3],
                          const double mean[3][3], const joint_border *to)
{
    double torque[3] = {0}, impulse[3] = {0}, one[3], local[3];
    double *row = to->row[3 + i], *column = to->column[3 + i];

    for (int k = 0; k < 3; k++) {
        sp_cross3(side->end[1 + k], end[k], one);
        for (int c = 0; c < 3; c++)
            torque[c] += one[c];
        sp_cross3(side->mean[1 + k], mean[k], one);
        for (int c = 0; c < 3; c++)
            impulse[c] += one[c];

        if (1 + k < side->slopes) {
            sp_rotate_back(b->R1, end[k], local);
            add_slope(1, local, slope_of(side, b->r, 1 + k), b->r, row + 6);
            sp_rotate(b->impulse, mean[k], local);
            add_column(-1, local, slope_of(side, b->r, 1 + k), b->r, column + 6 * to->stride, to->stride);
        }
    }

    sp_rotate_back(b->turned, torque, one);
    sp_rotate(b->impulse, impulse, local);
    for (int c = 0; c < 3; c++) {
        row[3 + c] = 2 / h * one[c];
        column[(3 + c) * to->stride] = -local[c];
    }
}

/* All of one side; rows and columns are zero before. */
static void fill_side(const joined_body *b, const joint *j, const joint_side *side, double h, const joint_border *to)
{
    const bool child = side == &j->child;
    const joint_side *other = child ? &j->parent : &j->child;
    const double sign = child ? -1 : 1;
    gradient end, mean;

    differentiate(j, other->end, sign, end);
    differentiate(j, other->mean, sign, mean);

    fill_translation(b, side, h, sign, to);
    for (int i = 0; i < 3; i++) {
        fill_rotation(b, side, i, h, end[i], mean[i], to);

        if (child && j->turn)
            for (int k = 0; k < b->r; k++) {
                to->row[3 + i][6 + k] -= j->turn[i * b->r + k];
                to->column[3 + i][(6 + k) * to->stride] += j->turn[i * b->r + k];
            }
    }
}

/* The change of the body's own equations with its own unknowns by the impulses of one side, which stay the same:
 * torques turn with the vectors, ½ impulse f × δy with δy = −y × (turned δΩ) + ½h R₁ A δq̇, and forces on coordinates
 * turn against the body. */
static void add_own(const joined_body *b, const joint_side *side, double h)
{
    const int size = b->size, r = b->r;
    double products[9] = {0}, left[9], block[9];

    /* ½ Σ f × δy of all vectors by the rotation: −½ Σ [f][y] turned */
    for (int k = 0; k < VECTORS; k++)
        add_skews(side->force[k], side->end[k], products);
    times(-0.5, b->impulse, products, left);
    times(1, left, b->turned, block);

    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            b->matrix[(3 + i) * size + 3 + c] += block[3 * i + c];

    /* ½ Σ f × δy by the deformation, δy = ½ h R₁ A δq̇. Forces on coordinates turn against the body. */
    for (int k = 0; k < side->slopes; k++) {
        const double *slope = slope_of(side, r, k);
        double local[3];
        times_skew(0.25 * h, b->impulse, side->force[k], left);
        times(1, left, b->R1, block);
        for (int i = 0; i < 3; i++)
            add_slope(1, block + 3 * i, slope, r, b->matrix + (3 + i) * size + 6);

        sp_rotate_back(b->R0, side->force[k], local);
        times_skew(1, identity, local, block);
        add_columns(-0.25 * h, block, slope, r, b->matrix + 6 * size + 3, size);
    }
}

/* How the rotation of the child changes the equations of the parent (column, its first three columns), and the unknowns
 * of the parent those of the child's angular momentum (row, its first three rows), with the impulses as they are. */
static void add_border(const joint *j, const joined_body *p, const joined_body *c, double h, const double *lambda)
{
    double force[VECTORS][3], change[9], turned[9], sum[9] = {0}, products[9] = {0};
    /* equations of the parent: the force on its vectors, if the axes of the child are those at the end, turns with the
     * child by half of its rotation, δf = −½ f_end × (turned_c δΩ_c) */
    turning_forces(j, lambda, j->child.end[1], 1, force[1]);
    for (int k = 1; k < VECTORS; k++) {
        add_skews(j->parent.mean[k], force[k], sum);
        add_skews(j->parent.force[k], j->parent.end[k], products);
        if (k < j->parent.slopes) {
            times_skew(-0.5, p->impulse, force[k], change);
            times(1, change, c->turned, turned);
            add_columns(-1, turned, slope_of(&j->parent, p->r, k), p->r, c->column + 6 * BORDER, BORDER);
            times_skew(-0.25 * h, c->impulse, j->parent.force[k], change);
            times(1, change, p->R1, turned);
            for (int i = 0; i < 3; i++)
                add_slope(1, turned + 3 * i, slope_of(&j->parent, p->r, k), p->r, c->row + i * p->n + 6);
        }
    }

    times(0.5, p->impulse, sum, change);
    times(1, change, c->turned, turned);
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < 3; x++)
            c->column[(3 + i) * BORDER + x] += turned[3 * i + x];
    /* equations of the child: −½ impulse_c f × δy with δy of the parent */
    times(0.5, c->impulse, products, change);
    times(1, change, p->turned, turned);
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < 3; x++)
            c->row[i * p->n + 3 + x] += turned[3 * i + x];
}

static void add_joint(sp_joined *joined, joined_body *b, const joint *j, const double *x)
{
    const double h = joined->p.step;
    const bool child = b == body_of(joined, &j->child);
    const joint_side *side = child ? &j->child : &j->parent;
    joined_body *c = &joined->bodies[j->child.body];
    joint_border to = {.stride = j->loop >= 0 ? 1 : child ? b->size : BORDER};

    /* The child stores the border between both, since it is eliminated before its parent. */
    if (!child && j->loop < 0) {
        memset(c->row, 0, (size_t)(BORDER * b->n) * sizeof *c->row);
        memset(c->column, 0, (size_t)(BORDER * b->n) * sizeof *c->column);
        add_border(j, b, c, h, x + j->impulse);
    }

    for (int i = 0; i < JOINT; i++) {
        const int64_t at = j->loop >= 0 ? (JOINT * j->loop + i) * joined->tree + b->first : 0;
        to.row[i] = j->loop >= 0 ? joined->loop_row + at
                    : child      ? b->matrix + (b->n + i) * b->size
                                 : c->row + (3 + i) * b->n;
        to.column[i] = j->loop >= 0 ? joined->loop_column + at : child ? b->matrix + b->n + i : c->column + 3 + i;
    }

    add_own(b, side, h);
    fill_side(b, j, side, h, &to);
}

static void fill_body(sp_joined *joined, joined_body *b, const double *x)
{
    const int size = b->size, m = b->n - 3;

    sp_free_use_workspace(b->free);
    sp_free_fill_matrix(b->free);
    memset(b->matrix, 0, (size_t)(size * size) * sizeof *b->matrix);

    for (int k = 0; k < 3; k++)
        b->matrix[k * size + k] = b->inertia->mass;
    for (int i = 0; i < m; i++)
        memcpy(b->matrix + (3 + i) * size + 3, b->free->matrix + i * m, (size_t)m * sizeof *b->matrix);

    for (int64_t l = 0; l < b->link_count; l++)
        add_joint(joined, b, &joined->joints[b->link[l]], x);
}

/* ---- elimination ---- */

/* Inverts the matrix of a body, to which its children were added, and computes what its parent's has less:
 * column (rows and columns Ω and λ of the inverse) row. */
static void eliminate(const sp_joined *joined, joined_body *b)
{
    const int size = b->size;

    if (!sp_small_invert(size, b->matrix, b->pivot, b->scratch)) {
        b->status = SP_NUMERICAL;
        return;
    }

    if (b->parent < 0)
        return;

    const int n = joined->bodies[b->parent].n;
    double border[BORDER * BORDER], *half = b->scratch;

    /* Rows and columns Ω and λ of the inverse, which alone meet the parent */
    for (int k = 0; k < BORDER; k++) {
        const double *row = b->matrix + (k < 3 ? 3 + k : b->n + k - 3) * size;
        memcpy(border + k * BORDER, row + 3, 3 * sizeof *border);
        memcpy(border + k * BORDER + 3, row + b->n, JOINT * sizeof *border);
    }

    sp_small_times(n, BORDER, BORDER, b->column, border, half);
    sp_small_times(n, BORDER, n, half, b->row, b->product);
}

static void add_children(const sp_joined *joined, joined_body *b)
{
    for (int64_t l = 0; l < b->link_count; l++) {
        const joint *j = &joined->joints[b->link[l]];
        const joined_body *c = &joined->bodies[j->child.body];
        if (j->loop >= 0 || c == b)
            continue;
        for (int i = 0; i < b->n; i++)
            for (int k = 0; k < b->n; k++)
                b->matrix[i * b->size + k] -= c->product[i * b->n + k];
    }
}

/* The unknowns Ω and λ of a body. */
static void get_border(const joined_body *b, const double *own, double border[BORDER])
{
    memcpy(border, own + 3, 3 * sizeof *border);
    memcpy(border + 3, own + b->n, JOINT * sizeof *border);
}

/* Solves the equations of a body for the unknowns of its parent 0, after those of its children. */
static void solve_upward(const sp_joined *joined, const joined_body *b, double *x)
{
    double *own = x + b->first;

    /* Children are eliminated: what their equations say of this body is subtracted. */
    for (int64_t l = 0; l < b->link_count; l++) {
        const joint *j = &joined->joints[b->link[l]];
        const joined_body *c = &joined->bodies[j->child.body];
        double border[BORDER];
        if (j->loop >= 0 || c == b)
            continue;
        get_border(c, x + c->first, border);
        for (int i = 0; i < b->n; i++)
            for (int k = 0; k < BORDER; k++)
                own[i] -= c->column[i * BORDER + k] * border[k];
    }

    memcpy(b->scratch, own, (size_t)b->size * sizeof *own);
    sp_small_apply(b->size, b->size, b->matrix, b->scratch, own);
}

/* Adds what the unknowns of the parent change. */
static void solve_downward(const sp_joined *joined, const joined_body *b, double *x)
{
    if (b->parent < 0)
        return;

    const joined_body *p = &joined->bodies[b->parent];
    double border[BORDER], change[BORDER];

    sp_small_apply(BORDER, p->n, b->row, x + p->first, border);
    for (int i = 0; i < b->size; i++) {
        get_border(b, b->matrix + i * b->size, change);
        for (int l = 0; l < BORDER; l++)
            x[b->first + i] -= change[l] * border[l];
    }
}

/* Solves the equations of the tree in place, from the leaves to the roots and back. */
static void solve_tree(const sp_joined *joined, double *x)
{
    const int threads = joined->context->threads;

    /* Bodies of one generation are independent of each other. */
#pragma omp parallel num_threads(threads) if (joined->body_count >= CROWD)
    {
        for (int64_t level = joined->level_count - 1; level >= 0; level--) {
#pragma omp for schedule(static)
            for (int64_t k = joined->level[level]; k < joined->level[level + 1]; k++)
                solve_upward(joined, &joined->bodies[joined->order[k]], x);
        }
        for (int64_t level = 1; level < joined->level_count; level++) {
#pragma omp for schedule(static)
            for (int64_t k = joined->level[level]; k < joined->level[level + 1]; k++)
                solve_downward(joined, &joined->bodies[joined->order[k]], x);
        }
    }
}

/* The matrix of the impulses of loops: minus their equations by the impulses, the tree eliminated. loop_column becomes
 * the solutions of the tree for it. */
static int factor_loops(sp_joined *joined)
{
    const int m = (int)(JOINT * joined->loop_count), tree = (int)joined->tree;
    double most = 0, least = INFINITY;

    /* The Schur complement of the loops in the tree: loop_row · T⁻¹ · loop_column */
    for (int i = 0; i < m; i++)
        solve_tree(joined, joined->loop_column + (int64_t)i * tree);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, m, tree, 1, joined->loop_row, tree, joined->loop_column,
                tree, 0, joined->loop_matrix, m);

    int bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, m, joined->loop_matrix, m, joined->loop_pivot);
    for (int i = 0; bad == 0 && i < m; i++) {
        most = fmax(most, fabs(joined->loop_matrix[i * m + i]));
        least = fmin(least, fabs(joined->loop_matrix[i * m + i]));
    }

    if (bad == 0 && least > 1e-13 * most)
        return SP_OK;
    return sp_fail(joined->context, SP_NUMERICAL,
                   "the bodies of a loop cannot deform as its joints require: at least one needs more coordinates");
}

int sp_joined_factor(void *self, const double *x, bool definite)
{
    sp_joined *joined = self;
    const int64_t count = joined->body_count;
    const int threads = joined->context->threads;

    (void)definite;

    if (joined->loop_count > 0) {
        const size_t bytes = (size_t)(JOINT * joined->loop_count * joined->tree) * sizeof(double);
        memset(joined->loop_row, 0, bytes);
        memset(joined->loop_column, 0, bytes);
    }

#pragma omp parallel num_threads(threads) if (count >= CROWD)
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < count; b++)
            fill_body(joined, &joined->bodies[b], x);

        /* From the leaves: a body is eliminated after its children. */
        for (int64_t level = joined->level_count - 1; level >= 0; level--) {
#pragma omp for schedule(dynamic, 4)
            for (int64_t k = joined->level[level]; k < joined->level[level + 1]; k++) {
                joined_body *b = &joined->bodies[joined->order[k]];
                b->status = SP_OK;
                add_children(joined, b);
                eliminate(joined, b);
            }
        }
    }

    for (int64_t b = 0; b < count; b++)
        if (joined->bodies[b].status != SP_OK)
            return sp_fail(joined->context, SP_NUMERICAL,
                           "the equations of %s and of the bodies joined to it are singular; take a smaller step, or "
                           "iterate to convergence",
                           joined->bodies[b].name);
    return joined->loop_count > 0 ? factor_loops(joined) : SP_OK;
}

int sp_joined_solve(void *self, const double *residual, double tolerance, double *dx)
{
    const sp_joined *joined = self;
    const int m = (int)(JOINT * joined->loop_count), tree = (int)joined->tree;
    double *right = dx + tree;

    (void)tolerance;
    memcpy(dx, residual, (size_t)joined->n * sizeof *dx);

    solve_tree(joined, dx);
    if (m == 0)
        return SP_OK;

    /* λ of the loops by the Schur complement, then what they change in the tree */
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, tree, 1, joined->loop_row, tree, dx, 1, -1, right, 1);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', m, 1, joined->loop_matrix, m, joined->loop_pivot, right, m);
    cblas_dgemv(CblasRowMajor, CblasTrans, m, tree, -1, joined->loop_column, tree, right, 1, 1, dx, 1);
    return SP_OK;
}
