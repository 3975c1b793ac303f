#include "model/vertex_mass.h"
#include "model/warp/warp_internal.h"

#include "assembly/elastic.h"
#include "assembly/element.h"
#include "linear/dense.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 2000,          /* largest number of products in one solve */
    SMALL_ROWS = 1 << 20, /* numbers of entries and … */
    SMALL_BATCHES = 1024, /* … of batches below which more threads do not pay (linear/sparse.c, assembly/elastic.c) */
};

/* ---- positions and forces ---- */

static void place(sp_warp_system *w, const double *q)
{
    sp_fe_space_scatter(w->body, q, w->u);
    for (int64_t i = 0; i < 3 * w->vertices; i++)
        w->x[i] = w->X[i] + w->u[i];
}

static void rotate(sp_warp_system *w)
{
    sp_warp_vertex_rotations(w, w->p.rotation, w->x, w->rotation);
}

/* f (NULL: energies only) over all vertices, before any correction, with the current rotations; S += scale · its
 * matrix. */
static double internal_force(sp_warp_system *w, double scale, double *f)
{
    double energy = sp_warp_force(w, w->x, scale, f);
    if (scale != 0)
        sp_warp_stretch_add(w, w->x, scale);
    return energy + sp_warp_stretch_force(w, w->x, f);
}

/* The same for free components, with correction and supports. */
static double force_here(sp_warp_system *w, double scale, double *f)
{
    double energy = internal_force(w, scale, f ? w->f : NULL);
    if (f && w->p.corrected) {
        sp_warp_rigid rigid;
        sp_warp_rigid_at(w, w->x, &rigid);
        sp_warp_rigid_remove(w, &rigid, w->x, w->f);
    }
    if (f)
        sp_fe_space_gather(w->body, w->f, f);
    return energy + sp_supports_force(&w->supports, w->u, f);
}

static double force(void *data, const double *q, double *f)
{
    sp_warp_system *w = data;
    place(w, q);

    /* ELEMENT finds its rotations with the forces, the other kinds for all vertices first. */
    if (f && w->p.kind != SP_WARP_ELEMENT)
        rotate(w);
    return force_here(w, 0, f);
}

/* y = (W(q) + T(q)) v, projected; v and y [3·vertices] include fixed vertices. */
static void stiffness_times(void *data, const double *q, const double *v, double *y)
{
    sp_warp_system *w = data;
    place(w, q);
    if (w->p.kind != SP_WARP_ELEMENT)
        rotate(w);

    sp_warp_tangent_times(w, w->x, v, y);
    sp_warp_stretch_times(w, w->x, v, y);

    /* Warping leaves a ghost force and torque, which are taken out. */
    if (w->p.corrected) {
        sp_warp_rigid rigid;
        sp_warp_rigid_at(w, w->x, &rigid);
        sp_warp_rigid_remove(w, &rigid, w->x, y);
    }
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    sp_warp_system *w = data;
    sp_fe_space_scatter(w->body, v, w->v);
    stiffness_times(w, q, w->v, w->f);
    sp_fe_space_gather(w->body, w->f, y);
}

/* ---- fixed vertices, springs and floor planes ---- */

static void prescribe(void *data, const double *u, const double *v)
{
    sp_warp_system *w = data;
    for (int64_t i = 0; i < 3 * w->vertices; i++)
        if (w->body->dof[i] < 0) {
            w->u[i] = u[i];
            w->v[i] = v[i];
        }
}

/* y = M v [3·vertices], fixed vertices included. */
static void inertia_times(void *data, const double *v, double *y)
{
    const sp_warp_system *w = data;
    memset(y, 0, (size_t)(3 * w->vertices) * sizeof *y);
    for (int64_t i = 0; i < w->vertices; i++)
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
            for (int c = 0; c < 3; c++)
                y[3 * i + c] += w->mass[k] * v[3 * w->column[k] + c];
}

static void prescribed_inertia(void *data, const double *a, double *f)
{
    sp_warp_system *w = data;

    for (int64_t i = 0; i < 3 * w->vertices; i++)
        w->auxiliary[i] = w->body->dof[i] < 0 ? a[i] : 0;

    inertia_times(w, w->auxiliary, w->f);

    for (int64_t row = 0; row < w->body->dof_count; row++)
        f[row] -= w->f[w->body->free[row]];
}

static double prescribed_work(void *data, const double *q, const double *du)
{
    sp_warp_system *w = data;
    double work = 0;

    place(w, q);
    if (w->p.kind != SP_WARP_ELEMENT)
        rotate(w);
    internal_force(w, 0, w->f);

    for (int64_t i = 0; i < 3 * w->vertices; i++)
        if (w->body->dof[i] < 0)
            work += w->f[i] * du[i];
    return work + sp_supports_prescribed_work(&w->supports, w->u, du);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    sp_warp_system *w = data;
    w->supports.spring_count = count;
    w->supports.springs = springs;
}

static double begin(void *data, const double *q)
{
    sp_warp_system *w = data;
    sp_fe_space_scatter(w->body, q, w->u);
    return sp_supports_begin(&w->supports, w->u);
}

static sp_vertex_mass mass_of(const sp_warp_system *w)
{
    return (sp_vertex_mass){w->context, w->body, w->p.lumped ? w->free_mass : NULL, &w->M_short};
}

static void mass_times(void *data, const double *x, double *y)
{
    const sp_vertex_mass mass = mass_of(data);
    sp_vertex_mass_times(&mass, x, y);
}

static double apply_friction(void *data, const double *q0, const double *q1, double h, double *v)
{
    sp_warp_system *w = data;
    const sp_vertex_mass mass = mass_of(w);
    (void)q0;
    return sp_vertex_mass_apply_friction(&mass, &w->supports, q1, h, v, w->u, w->v, w->f);
}

/* Springs and floor planes act on single vertices: their stiffness over the body's pattern is copied to the blocks. */
static void add_supports(sp_warp_system *w, double scale)
{
    const sp_fe_space *body = w->body;

    if (w->supports.spring_count == 0 && w->supports.ground_count == 0)
        return;

    /* Only the entries within a vertex are used: sp_supports_stiffness adds to no others. */
    for (int64_t row = 0; row < body->dof_count; row++)
        for (int64_t k = w->own[row];
             k < w->near.start[row + 1] && body->free[w->near.index[k]] / 3 == body->free[row] / 3; k++)
            w->near.value[k] = 0;

    sp_supports_stiffness(&w->supports, w->u, scale, &w->near);

    for (int64_t row = 0; row < body->dof_count; row++) {
        int64_t i = body->free[row] / 3, c = body->free[row] % 3;
        double *block = w->supports_separate ? w->support + 9 * i : w->S + 9 * w->diagonal[i];
        for (int64_t k = w->own[row], d = 0; d < 3; d++)
            if (body->dof[3 * i + d] >= 0)
                block[3 * c + d] += w->near.value[k++];
    }

    w->supported = true;
}

/* ---- the matrix ---- */

static void matrix_start(void *data, double mass_scale)
{
    sp_warp_system *w = data;
    int64_t blocks = w->start[w->vertices];

    w->mass_scale = mass_scale;
    w->stiffness_scale = 0;
    w->added = w->supported = false;

    /* Mass that is to be applied after the projection stays out of the blocks. */
    for (int64_t k = 0; k < blocks; k++) {
        const double mass = w->supports_separate ? 0 : mass_scale * w->mass[k];
        for (int m = 0; m < 9; m++)
            w->S[9 * k + m] = m % 4 == 0 ? mass : 0;
    }

    if (w->supports_separate)
        memset(w->support, 0, (size_t)(9 * w->vertices) * sizeof *w->support);
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    sp_warp_system *w = data;
    w->allow_unsymmetric = definite; /* R K Rᵀ of elements and edges in tension are semidefinite, and the other kinds
                              have no definite approximation: only the solver changes */

    place(w, q);
    if (w->p.kind != SP_WARP_ELEMENT)
        rotate(w);

    w->stiffness_scale += scale;

    if (!w->added) {
        /* Always polar rotations: they vary smoothly from vertex to vertex, which saves products. Measured on a bar of
         * 5100 vertices bent by a quarter circle with tetrahedra, rotations of vertices by frames, and steps of 1, 10
         * and 100 ms at 1 MPa: 11, 21 and 48 products. With the same frames in the preconditioner there were 15, 73 and
         * 356. */
        if (w->inverse)
            ; /* JACOBI does not rotate */
        else if (w->p.rotation == SP_ROTATION_POLAR && w->p.kind != SP_WARP_ELEMENT)
            memcpy(w->preconditioner_rotation, w->rotation,
                   (size_t)(9 * w->vertices) * sizeof *w->preconditioner_rotation);
        else
            sp_warp_vertex_rotations(w, SP_ROTATION_POLAR, w->x, w->preconditioner_rotation);
        if (w->p.corrected) {
            memcpy(w->place, w->x, (size_t)(3 * w->vertices) * sizeof *w->place);
            sp_warp_rigid_at(w, w->x, &w->rigid);
        }
        w->added = true;
    }

    if (spring_scale != 0)
        add_supports(w, spring_scale);
    return force_here(w, scale, f);
}

/* Inverts the diagonal block of every vertex, without the terms for centres of mass and ghost forces; SP_NUMERICAL if
 * one is not positive definite. */
static int invert_blocks(sp_warp_system *w)
{
    memset(w->inverse, 0, (size_t)(9 * w->vertices) * sizeof *w->inverse);
    for (int64_t i = 0; i < w->vertices; i++) {
        const int64_t *dof = w->body->dof + 3 * i;
        double B[9] = {0};

        if (w->diagonal[i] < 0 || (dof[0] < 0 && dof[1] < 0 && dof[2] < 0))
            continue;

        /* Fixed components are replaced by rows of the identity. */
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) {
                B[3 * c + d] = dof[c] >= 0 && dof[d] >= 0 ? w->S[9 * w->diagonal[i] + 3 * c + d] : c == d;
                if (w->supports_separate && dof[c] >= 0 && dof[d] >= 0)
                    B[3 * c + d] +=
                        (c == d ? w->mass_scale * w->mass[w->diagonal[i]] : 0) + w->support[9 * i + 3 * c + d];
            }

        /* Sylvester's criterion: the leading minors of a positive definite block are positive. */
        const double minor = B[0] * B[4] - B[1] * B[3], determinant = B[0] * (B[4] * B[8] - B[5] * B[7]) -
                                                                      B[1] * (B[3] * B[8] - B[5] * B[6]) +
                                                                      B[2] * (B[3] * B[7] - B[4] * B[6]);
        if (!(B[0] > 0 && minor > 0 && determinant > 0))
            return sp_fail(w->context, SP_NUMERICAL, "the matrix is not positive definite at vertex %lld",
                           (long long)i);

        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++) { /* cofactors */
                const int p = (d + 1) % 3, q = (d + 2) % 3, r = (c + 1) % 3, s = (c + 2) % 3;
                if (dof[c] >= 0 && dof[d] >= 0)
                    w->inverse[9 * i + 3 * c + d] =
                        (B[3 * p + r] * B[3 * q + s] - B[3 * p + s] * B[3 * q + r]) / determinant;
            }
    }
    return SP_OK;
}

/* Factors m M + s K. */
static int factor(sp_warp_system *w, double m, double s)
{
    const sp_fe_space *body = w->body;

    for (int64_t row = 0; row < body->dof_count; row++) {
        int64_t i = body->free[row] / 3, c = body->free[row] % 3, at = w->near.start[row];
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
            for (int d = 0; d < 3; d++)
                if (body->dof[3 * w->column[k] + d] >= 0)
                    w->near.value[at++] = s * w->K[9 * k + 3 * c + d] + (c == d ? m * w->mass[k] : 0);
    }

    w->factored_mass = m;
    w->factored_stiffness = s;

    int status = sp_cholesky_factor(w->factor, &w->near);
    w->factored = status == SP_OK;
    return status;
}

/* The matrix of the preconditioner is mass_scale · M + stiffness_scale · K. It does not depend on loads, so that its
 * factor is kept as long as the two scales agree, up to rounding of their sums. */
static int matrix_factor(void *data)
{
    sp_warp_system *w = data;
    double m = w->mass_scale, s = w->stiffness_scale;

    if (w->inverse)
        return invert_blocks(w);

    /* Statics of a free body has no mass term: K is singular, and a small multiple of M makes it definite. */
    if (w->shift > 0 && m == 0)
        m = w->shift * s;

    if (w->factored && fabs(m - w->factored_mass) <= 1e-12 * fabs(m) &&
        fabs(s - w->factored_stiffness) <= 1e-12 * fabs(s))
        return SP_OK;
    return factor(w, m, s);
}

/* y = R x or Rᵀ x for vertices without fixed components. */
static void rotate_free(const sp_warp_system *w, bool back, const double *x, double *y)
{
    const int64_t *dof = w->body->dof;
    for (int64_t i = 0; i < w->vertices; i++, dof += 3) {
        if (dof[0] >= 0 && dof[1] >= 0 && dof[2] >= 0) {
            double rotated[3];
            (back ? sp_rotate_back : sp_rotate)(w->preconditioner_rotation + 9 * i, x + dof[0], rotated);
            memcpy(y + dof[0], rotated, sizeof rotated);
            continue;
        }
        for (int c = 0; c < 3; c++)
            if (dof[c] >= 0)
                y[dof[c]] = x[dof[c]];
    }
}

/* y = R (mass_scale M + stiffness_scale K)⁻¹ Rᵀ x; solving with an existing factor cannot fail. */
static void precondition_factor(void *data, const double *x, double *y)
{
    sp_warp_system *w = data;
    if (w->added)
        rotate_free(w, true, x, w->rotated);
    if (sp_cholesky_solve(w->factor, 1, w->added ? w->rotated : x, y) != SP_OK)
        y[0] = NAN;
    if (w->added)
        rotate_free(w, false, y, y);
}

static void precondition_blocks(void *data, const double *x, double *y)
{
    const sp_warp_system *w = data;
    for (int64_t i = 0; i < w->vertices; i++) {
        const int64_t *dof = w->body->dof + 3 * i;
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int d = 0; d < 3; d++)
                sum += dof[d] >= 0 ? w->inverse[9 * i + 3 * c + d] * x[dof[d]] : 0;
            if (dof[c] >= 0)
                y[dof[c]] = sum;
        }
    }
}

/* y = P Σ scale (W + T) x + mass and supports, if these are not in the blocks. The projection is the one at the first
 * point that was added. */
static void times_separate(sp_warp_system *w, const double *x, double *y)
{
    const sp_fe_space *body = w->body;
    const double *field = w->direction;

    sp_fe_space_scatter(body, x, w->direction);

    /* c of eq. 13 is linear in x, so that a velocity is taken relative to the mean velocity. */
    if (w->p.kind == SP_WARP_PAIR) {
        double centre[3];
        sp_warp_mean(w, w->direction, centre);
        for (int64_t i = 0; i < 3 * w->vertices; i++)
            w->auxiliary[i] = w->direction[i] - centre[i % 3];
        field = w->auxiliary;
    }

    sp_warp_times(w, w->S, field, w->f);
    if (w->p.corrected && w->added)
        sp_warp_rigid_remove(w, &w->rigid, w->place, w->f);

    mass_times(w, x, y);

    /* Mass and supports after the projection */
    for (int64_t row = 0; row < body->dof_count; row++) {
        int64_t i = body->free[row] / 3, c = body->free[row] % 3;
        y[row] = w->mass_scale * y[row] + w->f[3 * i + c];
        if (w->supported)
            for (int d = 0; d < 3; d++)
                y[row] += w->support[9 * i + 3 * c + d] * w->direction[3 * i + d];
    }
}

static void times(void *data, const double *x, double *y)
{
    sp_warp_system *w = data;
    if (w->supports_separate)
        times_separate(w, x, y);
    else if (w->whole)
        sp_warp_times(w, w->S, x, y);
    else {
        sp_fe_space_scatter(w->body, x, w->direction);
        sp_warp_times(w, w->S, w->direction, w->f);
        sp_fe_space_gather(w->body, w->f, y);
    }
}

static int matrix_solve(void *data, const double *b, double *x)
{
    sp_warp_system *w = data;
    const sp_operator A = {w, w->body->dof_count, times, w->inverse ? precondition_blocks : precondition_factor};
    const bool gradients = !w->unsymmetric || (w->p.solver == SP_WARP_GRADIENTS && !w->allow_unsymmetric);
    int64_t products = (gradients ? sp_conjugate_gradients : sp_bicgstab)(&A, &w->iteration, w->tolerance, MOST, b, x);

    w->solves++;
    if (products < 0)
        return sp_fail(
            w->context, SP_NUMERICAL,
            "the iterative solver of the warped stiffness did not come to %g of the right side within %d products%s",
            w->tolerance, MOST,
            gradients ? ", or its matrix is not positive definite; take a smaller step"
                      : " or broke down; take a smaller step");

    w->products += products;
    return SP_OK;
}

static int mass_solve(void *data, const double *b, double *x)
{
    sp_warp_system *w = data;
    if (!w->p.lumped)
        return sp_cholesky_solve(w->mass_factor, 1, b, x);
    for (int64_t i = 0; i < w->body->dof_count; i++)
        x[i] = b[i] / w->free_mass[i];
    return SP_OK;
}

static void visit(void *data, sp_state *state)
{
    sp_warp_system *w = data;

    SP_STATE_VALUE(state, w->factored);
    SP_STATE_VALUE(state, w->factored_mass);
    SP_STATE_VALUE(state, w->factored_stiffness);
    SP_STATE_VALUE(state, w->solves);
    SP_STATE_VALUE(state, w->products);

    sp_supports_visit(&w->supports, state);
    if (state->loading && !state->failed && w->factored)
        state->failed = factor(w, w->factored_mass, w->factored_stiffness) != SP_OK;
}

/* ---- construction ---- */

static int refuse(sp_context *context, const sp_fe_space *body, const sp_warp *p, double tolerance)
{
    if (p->kind < SP_WARP_VERTEX || p->kind > SP_WARP_ELEMENT || p->rotation < SP_ROTATION_FRAME ||
        p->rotation > SP_ROTATION_POLAR)
        return sp_fail(context, SP_USAGE, "there is no kind %d of stiffness warping with rotations of kind %d",
                       (int)p->kind, (int)p->rotation);
    SP_PASS(sp_mesh_need_linear(context, body->mesh, "stiffness warping"));

    if (p->solver < SP_WARP_FACTOR || p->solver > SP_WARP_GRADIENTS)
        return sp_fail(context, SP_USAGE, "there is no solver %d of stiffness warping", (int)p->solver);
    if (p->network && p->kind == SP_WARP_ELEMENT)
        return sp_fail(context, SP_USAGE, "a network of springs has no elements to warp; warp it by vertex");

    if (!(p->limit >= 0 && isfinite(p->limit) && p->extra >= 0 && isfinite(p->extra)))
        return sp_fail(context, SP_USAGE,
                       "over-stretching begins at a stretch of %g and is %g times as stiff: both must be 0 or more",
                       p->limit, p->extra);
    if (!(tolerance >= 0 && tolerance < 1))
        return sp_fail(context, SP_USAGE, "the tolerance of the iterative solver is %g: it must be in [0, 1)",
                       tolerance);

    if (p->corrected)
        for (int64_t i = 0; i < body->mesh->fixed_count; i++)
            if (body->mesh->fixed_axes[i])
                return sp_fail(context, SP_USAGE,
                               "the ghost force can be taken out of free bodies only: vertex %lld is fixed",
                               (long long)body->mesh->fixed[i]);

    return sp_dense_fits(context, 9 * body->mesh->vertex_count, 1);
}

/* Returns true if forces are the gradient of the energy. This holds if F = R S eliminates the derivative of R: with
 * polar rotations of a constant F, and a stiffness that rotates with R. */
static bool conservative(const sp_warp_system *w)
{
    if (w->p.kind != SP_WARP_ELEMENT || w->p.rotation != SP_ROTATION_POLAR || w->p.corrected ||
        w->mesh.block[SP_HEX8].count)
        return false;

    /* With these laws and with fibres the stiffness does not rotate with R. */
    for (int64_t m = 0; m < w->mesh.material_count; m++)
        if (w->mesh.materials[m].law == SP_LAW_LINEAR || w->mesh.materials[m].fibre != SP_FIBRE_NONE)
            return false;
    return true;
}

/* The rounding error of forces at rest: positions have the error ε |X|, and their differences are multiplied by K. */
static double rounding_of(const sp_warp_system *w)
{
    double sum = 0;

    /* ε Σ_j |K_ij| (|X_i| + |X_j|) bounds the error of f_i. */
    for (int64_t i = 0; i < w->vertices; i++) {
        double row = 0;
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
            double square = 0;
            for (int c = 0; c < 9; c++)
                square += w->K[9 * k + c] * w->K[9 * k + c];
            row += sqrt(square) * (sp_norm3(w->X + 3 * i) + sp_norm3(w->X + 3 * (int64_t)w->column[k]));
        }
        sum += row * row;
    }
    return DBL_EPSILON * sqrt(sum);
}

static int report(void *data, const double *q, const double *external, sp_system_report *report);

int sp_warp_system_new(sp_context *context, sp_fe_space *body, const sp_warp *warp, double tolerance, sp_system *system)
{
    int status = refuse(context, body, warp, tolerance);
    if (status != SP_OK)
        return status;
    sp_warp_system *w = calloc(1, sizeof *w);
    SP_PASS(sp_allocated(context, w));

    *system = (sp_system){.self = w,
                          .n = body->dof_count,
                          .force = force,
                          .matrix_start = matrix_start,
                          .matrix_add = matrix_add,
                          .matrix_factor = matrix_factor,
                          .matrix_solve = matrix_solve,
                          .mass_times = mass_times,
                          .mass_solve = mass_solve,
                          .tangent_times = tangent_times,
                          .set_springs = set_springs,
                          .visit = visit,
                          .destroy = sp_warp_system_free,
                          .report = report,
                          .vertices = {.space = body,
                                       .prescribe = prescribe,
                                       .stiffness_times = stiffness_times,
                                       .inertia_times = inertia_times,
                                       .prescribed_inertia = prescribed_inertia,
                                       .prescribed_work = prescribed_work}};

    w->context = context;
    w->body = body;
    w->p = *warp;
    w->tolerance = tolerance > 0 ? tolerance : 1e-10;
    w->vertices = body->mesh->vertex_count;
    w->X = body->mesh->vertices;
    w->whole = body->dof_count == 3 * w->vertices;
    w->supports_separate = warp->corrected || warp->kind == SP_WARP_PAIR;
    w->unsymmetric = warp->corrected || warp->kind != SP_WARP_ELEMENT;

    /* A copy of the mesh without fixed vertices: the force on a vertex depends on its neighbours, fixed or not. */
    w->mesh = *body->mesh;
    w->mesh.pool = (sp_pool){0};
    w->mesh.fixed_count = 0;

    system->nonconservative = !conservative(w);
    sp_supports_new(body, &w->supports);
    SP_TRY(sp_fe_space_pattern(context, body));
    SP_TRY(sp_fe_space_new(context, &w->mesh, &w->all));
    SP_TRY(sp_fe_space_pattern(context, &w->all));

    SP_TRY(sp_warp_make_vectors(w));
    SP_TRY(sp_warp_make_rows(w));
    SP_TRY(sp_warp_make_blocks(w));

    w->many_rows = 9 * w->start[w->vertices] > SMALL_ROWS;
    w->many_elements = w->all.batch_count > SMALL_BATCHES;
    if (warp->kind == SP_WARP_ELEMENT)
        SP_TRY(sp_warp_make_elements(w));

    /* Edges replace K in networks, so that they come before all that is derived from K. */
    sp_warp_edges(w);
    sp_warp_frames(w);
    system->rounding = rounding_of(w);
    SP_TRY(sp_warp_make_factors(w));
done:
    if (status != SP_OK)
        sp_warp_system_free(system);
    return status;
}

void sp_warp_system_free(sp_system *system)
{
    sp_warp_system *w = system->self;
    if (!w)
        return;
    sp_cholesky_free(w->factor);
    sp_cholesky_free(w->mass_factor);
    sp_sparse_free(&w->M_short);
    sp_sparse_free(&w->near);
    sp_supports_free(&w->supports);
    sp_fe_space_free(&w->all);
    sp_pool_free(&w->pool);
    free(w);
    *system = (sp_system){0};
}

int sp_warp_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds)
{
    sp_warp_system *w = system->self;
    int status = sp_supports_set_grounds(w->context, &w->supports, count, grounds);

    system->vertices.begin = status == SP_OK && count > 0 ? begin : NULL;
    system->vertices.apply_friction = status == SP_OK && sp_supports_rough(&w->supports) ? apply_friction : NULL;
    return status;
}

void sp_warp_system_ghost(sp_system *system, const double *q, double *force_size, double *torque_size)
{
    sp_warp_system *w = system->self;
    sp_warp_rigid rigid;
    double sum[3], torque[3];

    place(w, q);
    if (w->p.kind != SP_WARP_ELEMENT)
        rotate(w);
    internal_force(w, 0, w->f);

    sp_warp_rigid_at(w, w->x, &rigid);
    sp_warp_rigid_sums(w, &rigid, w->x, w->f, sum, torque);
    *force_size = sp_norm3(sum);
    *torque_size = sp_norm3(torque);
}

void sp_warp_system_solves(const sp_system *system, int64_t *solves, int64_t *products)
{
    const sp_warp_system *w = system->self;
    *solves = w->solves;
    *products = w->products;
}

static int report(void *data, const double *q, const double *external, sp_system_report *report)
{
    sp_warp_system *w = data;
    (void)external;
    report->iterative = true;
    report->linear_solves = w->solves;
    report->linear_products = w->products;
    report->has_ghost = q != NULL;
    if (q)
        sp_warp_system_ghost(&(sp_system){.self = w}, q, &report->ghost_force, &report->ghost_torque);
    return SP_OK;
}
