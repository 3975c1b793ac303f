/* The equations of a step of joined bodies (rigid/joined.h): vectors, residual, matrix, elimination. */
#include "rigid/joined_internal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- small matrices, row major ---- */

/* [a], with [a] b = a × b. */
static void skew(const double a[3], double s[9])
{
    const double entries[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
    memcpy(s, entries, sizeof entries);
}

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

/* Bodies have few coordinates: plain loops take half the time of BLAS. */

/* y [r] += xᵀ A for A [3, r]. */
static void add_slope(const double x[3], const double *A, int r, double *y)
{
    for (int i = 0; i < r; i++)
        y[i] += x[0] * A[i] + x[1] * A[r + i] + x[2] * A[2 * r + i];
}

/* The same into every `stride`th entry of y. */
static void add_slope_down(const double x[3], const double *A, int r, double *y, int stride)
{
    for (int i = 0; i < r; i++)
        y[i * stride] += x[0] * A[i] + x[1] * A[r + i] + x[2] * A[2 * r + i];
}

/* ---- the vectors ---- */

void sp_joined_place(const joint_side *side, int64_t r, const double R[9], const double *q, double y[VECTORS][3])
{
    for (int k = 0; k < VECTORS; k++) {
        double a[3];
        memcpy(a, side->rest[k], sizeof a);
        for (int c = 0; side->slope[k] && c < 3; c++)
            for (int64_t i = 0; i < r; i++)
                a[c] += side->slope[k][c * r + i] * q[i];
        sp_rotate(R, a, y[k]);
    }
}

/* Component i of Φ is bilinear in the vectors of both sides, apart from the coordinates of the child. parent [i][k] and
 * child [i][k] receive its derivatives with respect to the vectors. */
typedef struct gradients {
    double parent[JOINT][VECTORS][3], child[JOINT][VECTORS][3];
} gradients;

static void differentiate(const joint *j, const double p[VECTORS][3], const double c[VECTORS][3], gradients *g)
{
    *g = (gradients){0};
    for (int i = 0; i < 3; i++) {
        g->parent[i][0][i] = 1;
        g->child[i][0][i] = -1;
    }
    for (int l = 0; l < 3; l++) { /* Σ ε_lab s_a · d_b with s of the parent and the axes d of the child */
        const int a = 1 + (l + 1) % 3, b = 1 + (l + 2) % 3;
        for (int i = 0; i < 3; i++)
            for (int x = 0; x < 3; x++) {
                const double inverse = j->inverse[3 * i + l];
                g->parent[3 + i][a][x] += inverse * c[b][x];
                g->parent[3 + i][b][x] -= inverse * c[a][x];
                g->child[3 + i][b][x] += inverse * p[a][x];
                g->child[3 + i][a][x] -= inverse * p[b][x];
            }
    }
}

static const joined_body *body_of(const sp_joined *joined, const joint_side *side)
{
    return side->body < 0 ? NULL : &joined->bodies[side->body];
}

void sp_joined_constraint(const joint *j, int r, const double *q, const double parent[3], const double child[3],
                          double phi[JOINT])
{
    gradients g;
    differentiate(j, j->parent.end, j->child.end, &g);
    for (int i = 0; i < 3; i++) {
        phi[i] = parent[i] - child[i] + (j->parent.end[0][i] - j->child.end[0][i]);
        phi[3 + i] = 0;
        for (int k = 1; k < VECTORS; k++)
            phi[3 + i] += sp_dot3(g.parent[3 + i][k], j->parent.end[k]);
        if (j->turn)
            phi[3 + i] -= cblas_ddot(r, j->turn + i * r, 1, q, 1);
    }
}

/* ---- the end of the step ---- */

static void turn_body(joined_body *b, double h)
{
    const double *before = b->free->now.Omega, *after = b->free->next.Omega;
    double w[3], W[9], cayley[9], right[9], square;
    for (int k = 0; k < 3; k++)
        w[k] = 0.5 * h * (before[k] + after[k]);
    skew(w, W);
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
    for (int k = 0; k < VECTORS; k++)
        for (int c = 0; c < 3; c++)
            side->mean[k][c] = 0.5 * (side->start[k][c] + side->end[k][c]);
}

static void set_forces(joint *j, const double *lambda)
{
    gradients g;
    differentiate(j, j->parent.mean, j->child.mean, &g);
    for (int k = 0; k < VECTORS; k++)
        for (int c = 0; c < 3; c++) {
            j->parent.force[k][c] = j->child.force[k][c] = 0;
            for (int i = k ? 3 : 0; i < (k ? JOINT : 3); i++) {
                j->parent.force[k][c] += lambda[i] * g.parent[i][k][c];
                j->child.force[k][c] += lambda[i] * g.child[i][k][c];
            }
        }
}

/* Adds the impulses of one side of a joint to the loads of its body. */
static void load_side(joined_body *b, const joint_side *side)
{
    for (int k = 0; k < VECTORS; k++) {
        double torque[3], local[3];
        sp_cross3(side->mean[k], side->force[k], torque);
        sp_rotate_back(b->R0, torque, local);
        for (int c = 0; c < 3; c++)
            b->free->P[c] += local[c];
        sp_rotate(b->impulse, side->force[k], local);
        if (side->slope[k])
            add_slope(local, side->slope[k], b->r, b->free->load);
    }
    for (int c = 0; c < 3; c++)
        b->J[c] += side->force[0][c];
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
        for (int i = 0; child && j->turn && i < 3; i++)
            cblas_daxpy(b->r, -x[j->impulse + 3 + i], j->turn + i * b->r, 1, b->free->load, 1);
    }
}

void sp_joined_set_end(sp_joined *joined, const double *x)
{
    const int threads = joined->context->threads;
#pragma omp parallel num_threads(threads) if (joined->body_count >= 8)
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
#pragma omp parallel for schedule(static) num_threads(joined->context->threads) if (joined->body_count >= 8)
    for (int64_t b = 0; b < joined->body_count; b++) {
        joined_body *body = &joined->bodies[b];
        body_residual(body, x + body->first, r + body->first, joined->size + 2 * b);
    }
    for (int64_t b = 0; b < joined->body_count; b++) {
        norm += joined->size[2 * b];
        scale += joined->size[2 * b + 1];
    }
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const joint *j = &joined->joints[k];
        double *phi = r + j->impulse;
        const joined_body *p = body_of(joined, &j->parent), *c = body_of(joined, &j->child);
        sp_joined_constraint(j, c->r, c->free->next.q, p ? p->c1 : (double[3]){0}, c->c1, phi);
        for (int i = 0; i < JOINT; i++) {
            phi[i] *= inverse;
            norm += j->weight[i / 3] * phi[i] * phi[i];
        }
    }
    size->norm = sqrt(norm);
    size->scale = sqrt(scale);
}

/* ---- rates of the constraints ---- */

/* Adds the rate of Φ by the motion of one side at the end of the step: the body turns by the velocity that the matrix
 * takes for its rotation (fill_row). */
static void add_rate(const joined_body *b, const joint_side *side, double h, const double *x,
                     double g[JOINT][VECTORS][3], double rate[JOINT])
{
    double spin[3];
    sp_rotate(b->turned, x + 3, spin);
    for (int k = 0; k < VECTORS; k++) {
        double local[3] = {0}, moved[3], turned[3];
        for (int c = 0; side->slope[k] && c < 3; c++)
            for (int i = 0; i < b->r; i++)
                local[c] += side->slope[k][c * b->r + i] * x[6 + i];
        sp_rotate(b->R1, local, moved);
        sp_cross3(spin, side->end[k], turned);
        for (int c = 0; c < 3; c++)
            moved[c] += 2 / h * turned[c] + (k == 0 ? x[c] : 0);
        for (int i = 0; i < JOINT; i++)
            rate[i] += sp_dot3(g[i][k], moved);
    }
}

void sp_joined_rates(const sp_joined *joined, const double *x, double *r)
{
    const double h = joined->p.step;
    for (int64_t k = 0; k < joined->joint_count; k++) {
        const joint *j = &joined->joints[k];
        const joined_body *p = body_of(joined, &j->parent), *c = body_of(joined, &j->child);
        double *rate = r + j->impulse;
        gradients g;
        differentiate(j, j->parent.end, j->child.end, &g);
        memset(rate, 0, JOINT * sizeof *rate);
        if (p)
            add_rate(p, &j->parent, h, x + p->first, g.parent, rate);
        add_rate(c, &j->child, h, x + c->first, g.child, rate);
        for (int i = 0; j->turn && i < 3; i++)
            rate[3 + i] -= cblas_ddot(c->r, j->turn + i * c->r, 1, x + c->first + 6, 1);
        for (int i = 0; i < JOINT; i++)
            rate[i] += j->gap[i] / (2 * h);
    }
}

/* ---- the matrix ---- */

/* Φ_t is made of the first vector of each side, Φ_R of the others. */
static int first_vector(int i)
{
    return i < 3 ? 0 : 1;
}

static int last_vector(int i)
{
    return i < 3 ? 0 : VECTORS - 1;
}

/* The derivatives of equation i of a joint, 2/h Φ_i, with respect to the unknowns of the body of one side. */
static void fill_row(const joined_body *b, int i, double h, double end[VECTORS][3], double g[VECTORS][3], double *row)
{
    memset(row, 0, (size_t)b->n * sizeof *row);
    memcpy(row, g[0], 3 * sizeof *row);
    for (int k = first_vector(i); k <= last_vector(i); k++) {
        double torque[3], turn[3];
        sp_cross3(end[k], g[k], torque);
        sp_rotate_back(b->turned, torque, turn);
        for (int c = 0; c < 3; c++)
            row[3 + c] += 2 / h * turn[c];
    }
}

/* Adds the slopes of a side, turned by Q or back, to a row or column of the coordinates. */
static void add_slopes(const joint_side *side, int i, int r, double scale, const double Q[9], bool back,
                       double g[VECTORS][3], double *to)
{
    for (int k = first_vector(i); k <= last_vector(i); k++) {
        double local[3];
        if (!side->slope[k])
            continue;
        if (back)
            sp_rotate_back(Q, g[k], local);
        else
            sp_rotate(Q, g[k], local);
        for (int c = 0; c < 3; c++)
            local[c] *= scale;
        add_slope(local, side->slope[k], r, to);
    }
}

/* The derivatives of the body's equations with respect to impulse i. */
static void fill_column(const joined_body *b, const joint_side *side, int i, double g[VECTORS][3], double *column)
{
    memset(column, 0, (size_t)b->n * sizeof *column);
    for (int c = 0; c < 3; c++)
        column[c] = -g[0][c];
    for (int k = first_vector(i); k <= last_vector(i); k++) {
        double torque[3], local[3];
        sp_cross3(side->mean[k], g[k], torque);
        sp_rotate(b->impulse, torque, local);
        for (int c = 0; c < 3; c++)
            column[3 + c] -= local[c];
    }
    add_slopes(side, i, b->r, -1, b->impulse, false, (double(*)[3])g, column + 6);
}

/* The change of the body's own equations with its own unknowns by the impulses of one side, which stay the same:
 * torques turn with the vectors, and forces on coordinates turn against the body. */
static void add_own(const joined_body *b, const joint_side *side, double h)
{
    const int size = b->size, r = b->r;
    for (int k = 0; k < VECTORS; k++) {
        double f[9], left[9], y[9], turned[9], local[3], against[9];
        skew(side->force[k], f);
        times(0.5, b->impulse, f, left); /* + ½ impulse f × δy */
        skew(side->end[k], y);
        times(-1, y, b->turned, turned); /* δy = −y × (turned δΩ) */
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                for (int l = 0; l < 3; l++)
                    b->matrix[(3 + i) * size + 3 + c] += left[3 * i + l] * turned[3 * l + c];
        if (!side->slope[k])
            continue;
        times(0.5 * h, left, b->R1, y);
        for (int i = 0; i < 3; i++)
            add_slope(y + 3 * i, side->slope[k], r, b->matrix + (3 + i) * size + 6);
        sp_rotate_back(b->R0, side->force[k], local);
        skew(local, against);
        for (int c = 0; c < 3; c++) {
            const double column[3] = {-0.25 * h * against[c], -0.25 * h * against[3 + c], -0.25 * h * against[6 + c]};
            add_slope_down(column, side->slope[k], r, b->matrix + 6 * size + 3 + c, size);
        }
    }
}

/* How the rotation of the child changes the equations of the parent (column, its first three columns), and the unknowns
 * of the parent those of the child's angular momentum (row, its first three rows), with the impulses as they are. */
static void fill_border(const joint *j, const joined_body *p, const joined_body *c, double h, const double *lambda)
{
    gradients g;
    double force[VECTORS][3] = {{0}};
    differentiate(j, j->parent.end, j->child.end, &g);
    for (int k = 1; k < VECTORS;
         k++) /* the force on the parent's vectors if the axes of the child are those at the end */
        for (int x = 0; x < 3; x++)
            for (int i = 3; i < JOINT; i++)
                force[k][x] += lambda[i] * g.parent[i][k][x];
    for (int k = 1; k < VECTORS; k++) {
        double f[9], left[9], y[9], turned[9], axis[VECTORS][3] = {{0}};
        /* equations of the parent: their derivatives by the force, times δf = −½ f_end × (turned_c δΩ_c) */
        skew(force[k], f);
        times(-0.5, f, c->turned, turned);
        for (int x = 0; x < 3; x++) {
            double torque[3], local[3];
            for (int i = 0; i < 3; i++)
                axis[k][i] = turned[3 * i + x];
            sp_cross3(j->parent.mean[k], axis[k], torque);
            sp_rotate(p->impulse, torque, local);
            for (int i = 0; i < 3; i++)
                c->column[(3 + i) * BORDER + x] -= local[i];
            sp_rotate(p->impulse, axis[k], local);
            for (int i = 0; i < 3; i++)
                local[i] = -local[i];
            if (j->parent.slope[k])
                add_slope_down(local, j->parent.slope[k], p->r, c->column + 6 * BORDER + x, BORDER);
        }
        /* equations of the child: −½ impulse_c f × δy with δy of the parent */
        skew(j->parent.force[k], f);
        times(-0.5, c->impulse, f, left);
        skew(j->parent.end[k], y);
        times(-1, y, p->turned, turned);
        for (int i = 0; i < 3; i++)
            for (int x = 0; x < 3; x++)
                for (int l = 0; l < 3; l++)
                    c->row[i * p->n + 3 + x] += left[3 * i + l] * turned[3 * l + x];
        times(0.5 * h, left, p->R1, y);
        for (int i = 0; j->parent.slope[k] && i < 3; i++)
            add_slope(y + 3 * i, j->parent.slope[k], p->r, c->row + i * p->n + 6);
    }
}

/* Equation i and impulse i of joint j in the unknowns and equations of the body of one side. */
static void fill_joint(const joined_body *b, const joint *j, const joint_side *side, int i, double h,
                       double end[VECTORS][3], double mean[VECTORS][3], double *row, double *column)
{
    const bool turns = side == &j->child && j->turn && i >= 3;
    fill_row(b, i, h, (double(*)[3])side->end, end, row);
    add_slopes(side, i, b->r, 1, b->R1, true, end, row + 6);
    fill_column(b, side, i, mean, column);
    if (turns) {
        cblas_daxpy(b->r, -1, j->turn + (i - 3) * b->r, 1, row + 6, 1);
        cblas_daxpy(b->r, 1, j->turn + (i - 3) * b->r, 1, column + 6, 1);
    }
}

static void add_joint(sp_joined *joined, joined_body *b, const joint *j, const double *x)
{
    const double h = joined->p.step;
    const bool child = b == body_of(joined, &j->child);
    const joint_side *side = child ? &j->child : &j->parent;
    gradients end, mean;
    differentiate(j, j->parent.end, j->child.end, &end);
    differentiate(j, j->parent.mean, j->child.mean, &mean);
    add_own(b, side, h);
    joined_body *c = &joined->bodies[j->child.body];
    if (!child && j->loop < 0) {
        memset(c->row, 0, (size_t)(BORDER * b->n) * sizeof *c->row);
        memset(c->column, 0, (size_t)(BORDER * b->n) * sizeof *c->column);
        fill_border(j, b, c, h, x + j->impulse);
    }
    for (int i = 0; i < JOINT; i++) {
        double(*at_end)[3] = child ? end.child[i] : end.parent[i],
        (*at_mean)[3] = child ? mean.child[i] : mean.parent[i];
        double *row, *column = b->scratch;
        if (j->loop >= 0) {
            row = joined->loop_row + (JOINT * j->loop + i) * joined->tree + b->first;
            column = joined->loop_column + (JOINT * j->loop + i) * joined->tree + b->first;
        } else
            row = child ? b->matrix + (b->n + i) * b->size : c->row + (3 + i) * b->n;
        fill_joint(b, j, side, i, h, at_end, at_mean, row, column);
        if (j->loop < 0)
            cblas_dcopy(b->n, column, 1, child ? b->matrix + b->n + i : c->column + 3 + i, child ? b->size : BORDER);
    }
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

/* Factors the matrix of a body, after its children were subtracted, and computes what it adds to that of its parent:
 * −column (rows and columns Ω and λ of the inverse) row. LAPACK sees the transpose of a row major matrix. */
static void eliminate(const sp_joined *joined, joined_body *b)
{
    const int size = b->size, first = 3;
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, size, size, b->matrix, size, b->pivot) != 0) {
        b->status = SP_NUMERICAL;
        return;
    }
    if (b->parent < 0)
        return;
    const int n = joined->bodies[b->parent].n;
    double border[BORDER * BORDER], *half = b->scratch;
    memset(b->scratch, 0, (size_t)(BORDER * size) * sizeof *b->scratch);
    for (int k = 0; k < BORDER; k++)
        b->scratch[k * size + (k < 3 ? first + k : b->n + k - 3)] = 1;
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', size, BORDER, b->matrix, size, b->pivot, b->scratch, size);
    for (int k = 0; k < BORDER; k++) /* border [l, k] of the inverse, row major */
        for (int l = 0; l < BORDER; l++)
            border[l * BORDER + k] = b->scratch[k * size + (l < 3 ? first + l : b->n + l - 3)];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, BORDER, BORDER, 1, b->column, BORDER, border, BORDER, 0,
                half, BORDER);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, BORDER, -1, half, BORDER, b->row, n, 0, b->product, n);
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
                b->matrix[i * b->size + k] += c->product[i * b->n + k];
    }
}

/* Solves the equations of the tree in place. */
static void solve_tree(const sp_joined *joined, double *x)
{
    for (int64_t k = joined->body_count - 1; k >= 0; k--) {
        const joined_body *b = &joined->bodies[joined->order[k]];
        double *own = x + b->first;
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', b->size, 1, b->matrix, b->size, b->pivot, own, b->size);
        if (b->parent < 0)
            continue;
        double *above = x + joined->bodies[b->parent].first, border[BORDER];
        memcpy(border, own + 3, 3 * sizeof *border);
        memcpy(border + 3, own + b->n, JOINT * sizeof *border);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, joined->bodies[b->parent].n, BORDER, -1, b->column, BORDER, border, 1,
                    1, above, 1);
    }
    for (int64_t k = 0; k < joined->body_count; k++) {
        const joined_body *b = &joined->bodies[joined->order[k]];
        if (b->parent < 0)
            continue;
        const joined_body *p = &joined->bodies[b->parent];
        double border[BORDER], *change = b->scratch, *own = x + b->first;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, BORDER, p->n, 1, b->row, p->n, x + p->first, 1, 0, border, 1);
        memset(change, 0, (size_t)b->size * sizeof *change);
        memcpy(change + 3, border, 3 * sizeof *border);
        memcpy(change + b->n, border + 3, JOINT * sizeof *border);
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', b->size, 1, b->matrix, b->size, b->pivot, change, b->size);
        cblas_daxpy(b->size, -1, change, 1, own, 1);
    }
}

/* The matrix of the impulses of loops: minus their equations by the impulses, the tree eliminated. loop_column becomes
 * the solutions of the tree for it. */
static int factor_loops(sp_joined *joined)
{
    const int m = (int)(JOINT * joined->loop_count), tree = (int)joined->tree;
    double most = 0, least = INFINITY;
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
#pragma omp parallel num_threads(threads) if (count >= 8)
    {
#pragma omp for schedule(static)
        for (int64_t b = 0; b < count; b++)
            fill_body(joined, &joined->bodies[b], x);
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
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, tree, 1, joined->loop_row, tree, dx, 1, -1, right, 1);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', m, 1, joined->loop_matrix, m, joined->loop_pivot, right, m);
    cblas_dgemv(CblasRowMajor, CblasTrans, m, tree, -1, joined->loop_column, tree, right, 1, 1, dx, 1);
    return SP_OK;
}
