/* Modes, modal derivatives, bases, snapshots. */
#include "assembly/elastic.h"
#include "assembly/interface_shares.h"
#include "base/vec3.h"
#include "basis/modes.h"
#include "linear/dense.h"
#include "mesh/mesh_sets.h"
#include "tools/common/inputs.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e3 * 0x1p-53; /* times the sum of absolute terms: what a long sum may lose */

/* y = |A| |x|. */
static void absolute_times(const sp_sparse *matrix, const double *x, double *y)
{
    for (int64_t i = 0; i < matrix->order; i++) {
        y[i] = 0;
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++)
            y[i] += fabs(matrix->value[k] * x[matrix->index[k]]);
    }
}

static double norm(int64_t count, const double *x)
{
    return sqrt(sp_dense_dot(count, x, x));
}

/* Largest |UᵀMU − I|; *at says where. */
static double orthonormality(int64_t k, const double *gram, int64_t *at)
{
    double error = 0;
    for (int64_t i = 0; i < k * k; i++) {
        double gap = fabs(gram[i] - (i % (k + 1) == 0));
        *at = gap > error || (isnan(gap) && !isnan(error)) ? i : *at;
        error = verify_worse(gap, error);
    }
    return error;
}

/* UᵀMU − I with the mass of the free degrees of freedom; its eigenvalues give rank and condition. */
static void check_orthonormality(verify *v, artefact *file, const artefact *mesh, const sp_sparse *mass)
{
    static const char *const names[] = {"consistent", "lumped"};
    const sp_columns *columns = &file->columns;
    int64_t k = columns->count, at = 0, rank = 0;
    sp_pool pool = {0};

    double *gram = tool_allocate_raw(&pool, k * k, sizeof *gram),
           *eigenvalue = tool_allocate_raw(&pool, k, sizeof *eigenvalue);
    verify_reduced_matrix(v, columns, &mesh->body, mass, gram);

    double error = orthonormality(k, gram, &at);
    verify_number(v, file, columns->lumped ? "orthonormal in the lumped mass" : "orthonormal in the consistent mass",
                  error, 1e-12);
    if (isfinite(error)) {
        verify_eigenvalues(v, k, gram, eigenvalue);
        for (int64_t i = 0; i < k; i++)
            rank += eigenvalue[i] > 1e-6 * eigenvalue[k - 1];
    }

    /* Gram eigenvalues are squared singular values: the rank counts columns down to 1e-3 of the largest, the
     * condition is a square root. */
    verify_fact(v, file, "rank", rank == k, "%lld (%lld)", (long long)rank, (long long)k);
    if (rank == k)
        verify_note(v, file, "condition", "%.6g", sqrt(eigenvalue[k - 1] / eigenvalue[0]));

    /* What is wrong, for those who look for the cause. */
    if (!(error <= 1e-12)) {
        sp_sparse other;
        int64_t unused;
        verify_note(v, file, "orthonormality", "worst of columns %lld and %lld", (long long)(at / k) + 1,
                    (long long)(at % k) + 1);
        verify_mass_matrix(v, mesh, !columns->lumped, &other);
        verify_reduced_matrix(v, columns, &mesh->body, &other, gram);
        if (orthonormality(k, gram, &unused) <= 1e-12)
            verify_note(v, file, "orthonormality", "it is orthonormal in the %s mass, meta says %s",
                        names[!columns->lumped], names[columns->lumped]);
        sp_sparse_free(&other);
    }
    sp_pool_free(&pool);
}

/* Checks rows and rows of fixed components; false if nothing else can be checked. */
static bool check_rows(verify *v, artefact *file, const artefact *mesh)
{
    bool rows = file->columns.rows == 3 * mesh->mesh.vertex_count;
    verify_fact(v, file, "rows", rows, "%lld (%lld)", (long long)file->columns.rows,
                3 * (long long)mesh->mesh.vertex_count);
    if (rows)
        verify_number(v, file, "fixed rows", tool_fixed_rows(&mesh->mesh, &file->columns), 0);
    return rows;
}

/* ---- modes ---- */

/* Rigid motions that the fixed vertices leave free, per connected component: 6 minus the rank of the motions of the
 * fixed degrees of freedom. */
static int64_t count_rigid(verify *v, const sp_mesh *mesh)
{
    sp_pool pool = {0};
    int64_t components, rigid = 0;
    const int64_t *vertex_label = verify_piece_labels(v, mesh, &pool, &components);

    double *gram = tool_allocate(&pool, 36 * components, sizeof *gram), low[3], high[3], size = 0;
    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++)
        size = fmax(size, high[c] - low[c]);

    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        if (vertex_label[mesh->fixed[i]] < 0)
            continue;
        double x[3], *to = gram + 36 * vertex_label[mesh->fixed[i]];
        for (int c = 0; c < 3; c++)
            x[c] = (mesh->vertices[3 * mesh->fixed[i] + c] - (low[c] + high[c]) / 2) / size;

        /* Rows of the motions 1 to 3 (translations) and 4 to 6 (rotations about the centre, in units of the size). */
        const double motion[3][6] = {{1, 0, 0, 0, x[2], -x[1]}, {0, 1, 0, -x[2], 0, x[0]}, {0, 0, 1, x[1], -x[0], 0}};
        for (int c = 0; c < 3; c++)
            if ((mesh->fixed_axes ? mesh->fixed_axes[i] : 7) >> c & 1)
                for (int a = 0; a < 36; a++)
                    to[a] += motion[c][a / 6] * motion[c][a % 6];
    }

    /* Each direction of the null space of the Gram matrix is a motion that no fixed degree of freedom prevents. */
    for (int64_t k = 0; k < components; k++) {
        double eigenvalue[6];
        verify_eigenvalues(v, 6, gram + 36 * k, eigenvalue);
        for (int a = 0; a < 6; a++)
            rigid += !(eigenvalue[a] > 1e-12 * eigenvalue[5]);
    }

    sp_pool_free(&pool);
    return rigid;
}

/* λ₁ of modes.md: the first eigenvalue that is not 0; without one the same scale that the modes' residual has. */
static double first_elastic(const sp_columns *columns, const sp_sparse *K, const sp_sparse *M)
{
    for (int64_t i = columns->rigid; i < columns->count; i++)
        if (columns->eigenvalue[i] != 0)
            return columns->eigenvalue[i];
    return 1e-6 * sp_sparse_trace(K) / sp_sparse_trace(M);
}

typedef struct mode_errors {
    double residual, residual_limit; /* of the mode that is worst by its limit */
    double stated, stated_limit;     /* what the file says of it, the same way */
    double quotient, quotient_limit;
} mode_errors;

/* Kψ − λMψ over the free degrees of freedom and the Rayleigh quotient, each with what rounding may do to it. */
static void measure_mode(const sp_columns *columns, const sp_fe_space *body, const sp_sparse *K, const sp_sparse *M,
                         const sp_context *context, double lambda1, int64_t mode, double *work, mode_errors *errors)
{
    int64_t n = body->dof_count;
    double *psi = work, *k = work + n, *m = work + 2 * n, *absolute = work + 3 * n, lambda = columns->eigenvalue[mode],
           sum = 0;

    sp_fe_space_gather(body, columns->U + mode * columns->rows, psi);
    sp_sparse_times(context, K, 1, psi, k);
    sp_sparse_times(context, M, 1, psi, m);
    absolute_times(K, psi, absolute);

    /* ‖Kψ − λMψ‖ / ((λ + λ₁) ‖Mψ‖), which is defined for rigid modes too. */
    for (int64_t i = 0; i < n; i++)
        sum += (k[i] - lambda * m[i]) * (k[i] - lambda * m[i]);
    double scale = (lambda + lambda1) * norm(n, m), residual = sqrt(sum) / scale,
           rounding = ROUNDING * norm(n, absolute) / scale;
    verify_keep_worst(residual, 1e-8 + rounding, &errors->residual, &errors->residual_limit);
    verify_keep_worst(fabs(residual - columns->residual[mode]), 1e-12 + rounding, &errors->stated,
                      &errors->stated_limit);

    double mass = sp_dense_dot(n, psi, m), energy = 0;
    for (int64_t i = 0; i < n; i++)
        energy += fabs(psi[i]) * absolute[i];
    verify_keep_worst(fabs(sp_dense_dot(n, psi, k) / mass - lambda) / (lambda + lambda1),
                      1e-10 + ROUNDING * energy / (mass * (lambda + lambda1)), &errors->quotient,
                      &errors->quotient_limit);
}

/* K or M of the modes: a file that was given to the tool, if it is here, else the mesh's own. False: it is not here. */
static bool find_matrix(verify *v, artefact *file, artefact *mesh, const char *option, const sp_sparse *own,
                        const sp_sparse **matrix)
{
    *matrix = own;
    if (!tool_meta_has_input(file->meta, option))
        return true;
    artefact *given = verify_input(v, file, "sparse", option);
    if (given && given->matrix.order == mesh->body.dof_count)
        *matrix = &given->matrix;
    else
        verify_skip(v, file, "modes", "the matrix of --%s is not among the files", option);
    return given && *matrix == &given->matrix;
}

/* What `result` says of the members, where it says it. */
static void check_stated_modes(verify *v, artefact *file)
{
    const sp_columns *columns = &file->columns;
    const json_t *residual = json_object_get(file->result, "largest_residual"),
                 *rigid = json_object_get(file->result, "rigid");
    double largest = 0;
    for (int64_t i = 0; i < columns->count; i++)
        largest = fmax(largest, columns->residual[i]);
    if (json_is_number(residual))
        verify_fact(v, file, "largest residual as stated", json_number_value(residual) == largest, "%.17g (%.17g)",
                    largest, json_number_value(residual));
    if (json_is_integer(rigid))
        verify_fact(v, file, "rigid motions as stated", json_integer_value(rigid) == columns->rigid, "%lld (%lld)",
                    (long long)columns->rigid, (long long)json_integer_value(rigid));
}

/* mesh: in the state about which the modes are. */
static void check_modes(verify *v, artefact *file, artefact *mesh)
{
    const sp_columns *columns = &file->columns;
    const sp_sparse *K, *M;
    sp_sparse mass;

    if (!check_rows(v, file, mesh))
        return;
    int64_t descents = 0, rigid = count_rigid(v, &mesh->mesh);

    for (int64_t i = 1; i < columns->count; i++)
        descents += columns->eigenvalue[i] < columns->eigenvalue[i - 1];
    verify_fact(v, file, "ascending", descents == 0, "%lld descents (0)", (long long)descents);

    /* Ritz modes are of a subspace: the mesh does not tell how many of its rigid motions they contain. */
    rigid = rigid < columns->count ? rigid : columns->count;
    if (columns->ritz)
        rigid = columns->rigid;
    verify_fact(v, file, "rigid motions", rigid == columns->rigid, "%lld (the mesh has %lld)",
                (long long)columns->rigid, (long long)rigid);

    if (columns->ordering) {
        sp_pool pool = {0};
        int64_t *permutation = tool_allocate_raw(&pool, mesh->body.dof_count, sizeof *permutation);
        const bool fits = sp_fe_space_permutation(v->context, &mesh->body, columns->ordering_count, columns->ordering,
                                                  permutation) == SP_OK;
        verify_fact(v, file, "ordering", fits, "%s",
                    fits ? "every vertex that is not fixed, once" : v->context->message);
        sp_pool_free(&pool);
    }

    if (columns->rigid > 0)
        verify_number(v, file, "rigid modes are rigid motions",
                      verify_rigid_columns(v, &mesh->mesh, columns, columns->rigid), 1e-10);
    check_stated_modes(v, file);

    verify_mass_matrix(v, mesh, columns->lumped, &mass);
    if (find_matrix(v, file, mesh, "stiffness", &mesh->stiffness, &K) &&
        find_matrix(v, file, mesh, "mass", &mass, &M)) {
        sp_pool pool = {0};
        double lambda1 = first_elastic(columns, K, M),
               *work = tool_allocate_raw(&pool, 4 * mesh->body.dof_count, sizeof *work);

        mode_errors errors = {0};
        for (int64_t i = 0; i < columns->count; i++)
            measure_mode(columns, &mesh->body, K, M, v->context, lambda1, i, work, &errors);

        if (!columns->ritz)
            verify_number(v, file, "residual", errors.residual, errors.residual_limit);
        verify_number(v, file, "residual as stated", errors.stated, errors.stated_limit);
        verify_number(v, file, "Rayleigh quotient", errors.quotient, errors.quotient_limit);

        check_orthonormality(v, file, mesh, M);
        sp_pool_free(&pool);
    }
    sp_sparse_free(&mass);
}

void verify_modes(verify *v, artefact *file)
{
    artefact *mesh = verify_mesh(v, file, "all of it", true);
    verify_state state;
    if (!mesh || !verify_state_open(v, file, mesh, "all of it", &state))
        return;
    if (state.mesh != mesh)
        verify_fact(v, file, "equilibrium", !strcmp(file->columns.about, state.equilibrium.hash), "%.12s (%.12s)",
                    file->columns.about, state.equilibrium.hash);
    check_modes(v, file, state.mesh);
    verify_state_close(&state);
}

/* ---- derivatives ---- */

typedef struct derivative_work {
    double *plus, *minus, *level, *u, *product, *free, *absolute; /* [3·vertices] */
    double *row; /* [LEVELS, 3·vertices] the last row of Romberg's table */
    bool *rest;  /* [3·vertices] rows of interfaces, which are at rest in derivatives */
    int64_t reaction_count;
    double *reactions; /* [3·vertices, reaction_count] orthonormal forces that hold the means of average interfaces */
} derivative_work;

/* Differences for laws that are not quadratic: the first step changes no distance in an element by more than STRAIN,
 * and each further one is half of the one before. Where their extrapolation is not good to DECISIVE, it decides
 * nothing. */
enum { LEVELS = 10 };
static const double STRAIN = 0.05, DECISIVE = 1e-6;

/* The equation of derivatives is projected: it loses what lies in the span of M times these columns [rows, count]. */
typedef struct derivative_span {
    const double *U;
    int64_t count;
} derivative_span;

/* Free bodies: product ← product − λ M Φ, and then product + H loses its part along M times the span. */
static void project_free(const sp_fe_space *body, const derivative_span *span, double lambda, const double *phi,
                         const double *h, const derivative_work *w)
{
    int64_t rows = 3 * body->mesh->vertex_count;

    verify_mass_times(body, false, phi, w->absolute);
    for (int64_t i = 0; i < rows; i++)
        w->product[i] += h[i] - lambda * w->absolute[i];

    for (int64_t m = 0; m < span->count; m++) {
        double part = 0;
        for (int64_t i = 0; i < rows; i++)
            part += span->U[m * rows + i] * w->product[i];
        verify_mass_times(body, false, span->U + m * rows, w->absolute);
        for (int64_t i = 0; i < rows; i++)
            w->product[i] -= part * w->absolute[i];
    }

    for (int64_t i = 0; i < rows; i++)
        w->product[i] -= h[i];
}

/* to [3·vertices] = [K(tψⱼ) − K(−tψⱼ)]ψᵢ / 2t. */
static void stiffness_difference(verify *v, const sp_fe_space *body, const double *psi_i, const double *psi_j, double t,
                                 const derivative_work *w, double *to)
{
    int64_t rows = 3 * body->mesh->vertex_count;
    for (int64_t i = 0; i < rows; i++)
        w->u[i] = t * psi_j[i];
    sp_elastic_tangent_times(v->context, body, w->u, psi_i, to);
    for (int64_t i = 0; i < rows; i++)
        w->u[i] = -w->u[i];
    sp_elastic_tangent_times(v->context, body, w->u, psi_i, w->minus);
    for (int64_t i = 0; i < rows; i++)
        to[i] = (to[i] - w->minus[i]) / (2 * t);
}

static bool all_quadratic(const sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->material_count; i++)
        if (!sp_material_quadratic(&mesh->materials[i]))
            return false;
    return true;
}

/* The step at which no two nodes of an element move against each other by more than STRAIN times their distance. */
static double first_step(const sp_mesh *mesh, const double *psi)
{
    double steepest = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int count;
        const int64_t *node = sp_mesh_nodes(mesh, e, &count);
        for (int pair = 0; pair < count * count; pair++) {
            const double *x = mesh->vertices, *a = x + 3 * node[pair / count], *b = x + 3 * node[pair % count];

            double apart = 0, moved = 0;
            for (int c = 0; c < 3; c++) {
                apart += (a[c] - b[c]) * (a[c] - b[c]);
                moved += pow(psi[a - x + c] - psi[b - x + c], 2);
            }
            steepest = fmax(steepest, apart > 0 ? moved / apart : 0);
        }
    }
    return STRAIN / sqrt(steepest);
}

/* ‖a − b‖ over the free degrees of freedom. */
static double free_distance(const sp_fe_space *body, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < body->dof_count; i++)
        sum += pow(a[body->free[i]] - b[body->free[i]], 2);
    return sqrt(sum);
}

/* The next row of Romberg's table from the difference in w->level: each entry cancels one more even power of the step.
 * The entry that is nearest to the two that it is made of goes to w->plus; *estimate is its distance from the farther
 * one (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", 1982). */
static void extrapolate(const sp_fe_space *body, int level, const derivative_work *w, double *estimate)
{
    const int64_t rows = 3 * body->mesh->vertex_count;

    for (int j = 0; j < level; j++) {
        double *above = w->row + j * rows;
        const double factor = 1 / (ldexp(1, 2 * (j + 1)) - 1);

        for (int64_t i = 0; i < rows; i++) {
            const double here = w->level[i], next = here + factor * (here - above[i]);
            w->minus[i] = above[i];
            above[i] = here;
            w->level[i] = next;
        }

        const double error = fmax(free_distance(body, w->level, w->minus), free_distance(body, w->level, above));
        if (error < *estimate) {
            *estimate = error;
            memcpy(w->plus, w->level, (size_t)rows * sizeof *w->plus);
        }
    }

    memcpy(w->row + level * rows, w->level, (size_t)rows * sizeof *w->row);
}

/* ROUNDING of K x at rest, as a norm over the free degrees of freedom. */
static double rounding_of(const artefact *mesh, const double *x, const derivative_work *w)
{
    sp_fe_space_gather(&mesh->body, x, w->free);
    absolute_times(&mesh->stiffness, w->free, w->absolute);
    return ROUNDING * norm(mesh->body.dof_count, w->absolute);
}

/* w->plus = (H:ψⱼ)ψᵢ by differences of K: one with any step where K is quadratic, else by steps extrapolated to 0,
 * until a smaller one does no good. Returns the estimated error, by rounding or of the extrapolation, which rounding is
 * part of. */
static double second_derivative(verify *v, const artefact *mesh, const double *psi_i, const double *psi_j,
                                const derivative_work *w)
{
    const sp_fe_space *body = &mesh->body;
    double estimate = INFINITY, t = first_step(&mesh->mesh, psi_j);

    if (all_quadratic(&mesh->mesh)) {
        stiffness_difference(v, body, psi_i, psi_j, t, w, w->plus);
        return rounding_of(mesh, psi_i, w) / t;
    }

    for (int level = 0; level < LEVELS; level++, t *= 0.5) {
        const double before = estimate;
        stiffness_difference(v, body, psi_i, psi_j, t, w, w->level);
        extrapolate(body, level, w, &estimate);

        if (isfinite(estimate) && estimate == before)
            break;
    }
    return estimate;
}

/* f loses its part along the reactions. */
static void remove_reactions(const derivative_work *w, int64_t rows, double *f)
{
    for (int64_t c = 0; c < w->reaction_count; c++) {
        const double *reaction = w->reactions + c * rows;
        const double part = sp_dense_dot(rows, reaction, f);
        for (int64_t i = 0; i < rows; i++)
            f[i] -= part * reaction[i];
    }
}

/* The squared part of the displacements Φ along the reactions, relative to |Φ|²: the mean motion of interfaces. */
static double mean_motion(const derivative_work *w, int64_t rows, const double *phi)
{
    double sum = 0;
    for (int64_t c = 0; c < w->reaction_count; c++)
        sum += pow(sp_dense_dot(rows, w->reactions + c * rows, phi), 2);
    return sum > 0 ? sum / sp_dense_dot(rows, phi, phi) : 0;
}

/* ‖(K − λM)Φ + (H:ψⱼ)ψᵢ‖ over the free degrees of freedom, for free bodies that of the projected equation
 * (basis/free_derivatives.h, basis/inertia_derivatives.h). False where differences of K do not tell. */
static bool measure_derivative(verify *v, const artefact *mesh, const derivative_span *span, double lambda,
                               const double *psi_i, const double *psi_j, const double *phi, const derivative_work *w,
                               double *error, double *limit)
{
    const sp_fe_space *body = &mesh->body;
    int64_t rows = 3 * mesh->mesh.vertex_count, n = body->dof_count;

    const double estimate = second_derivative(v, mesh, psi_i, psi_j, w);
    memset(w->u, 0, (size_t)rows * sizeof *w->u);
    sp_elastic_tangent_times(v->context, body, w->u, phi, w->product);

    /* r = (K − λM)Φ + h over the free degrees of freedom, h = (H:ψⱼ)ψᵢ. */
    double sum = 0, scale = 0;
    if (span->count)
        project_free(body, span, lambda, phi, w->plus, w);
    remove_reactions(w, rows, w->product);
    remove_reactions(w, rows, w->plus);

    for (int64_t i = 0; i < n; i++) {
        int64_t row = body->free[i];
        double h = w->rest[row] ? 0 : w->plus[row], r = w->rest[row] ? phi[row] : w->product[row] + h;
        sum += r * r;
        scale += h * h;
    }

    if (!(estimate <= DECISIVE * sqrt(scale)))
        return false;

    sum += scale * mean_motion(w, rows, phi);
    verify_keep_worst(sqrt(sum / scale), 1e-8 + (estimate + rounding_of(mesh, phi, w)) / sqrt(scale), error, limit);
    return true;
}

/* Mass-orthonormal rigid motions that the fixed vertices leave, over all degrees of freedom. */
static derivative_span rigid_span(verify *v, artefact *mesh, sp_pool *pool)
{
    derivative_span span = {0};
    sp_sparse mass;
    int64_t n = mesh->body.dof_count, rows = 3 * mesh->mesh.vertex_count;
    double *R = tool_allocate_raw(pool, 6 * n, sizeof *R), *full = tool_allocate(pool, 6 * rows, sizeof *full);
    verify_mass_matrix(v, mesh, false, &mass);
    tool_check(sp_rigid_motions(v->context, &mesh->body, &mass, R, &span.count), mesh->path);
    for (int64_t c = 0; c < span.count; c++)
        sp_fe_space_scatter(&mesh->body, R + c * n, full + c * rows);
    span.U = full;
    sp_sparse_free(&mass);
    return span;
}

/* Forces that hold the mean translation and rotation of a set of vertices: [3·vertices, 6], orthonormal. */
static void fill_reactions(verify *v, const artefact *mesh, const sp_mesh_set *set, int64_t rows, double *to)
{
    sp_pool pool = {0};

    double *share = tool_allocate(&pool, set->count, sizeof *share), origin[3] = {0}, r[3], force[3];
    tool_check(sp_interface_shares(v->context, &mesh->mesh, set->count, set->index, share), mesh->path);
    for (int64_t k = 0; k < 3 * set->count; k++)
        origin[k % 3] += share[k / 3] * mesh->mesh.vertices[3 * set->index[k / 3] + k % 3];

    /* A unit translation e_c, or the rotation e_c × (X − X₀), by the share of each vertex. */
    for (int64_t k = 0; k < set->count; k++)
        for (int c = 0; c < 6; c++) {
            const double unit[3] = {c % 3 == 0, c % 3 == 1, c % 3 == 2};
            sp_subtract3(mesh->mesh.vertices + 3 * set->index[k], origin, r);
            sp_cross3(unit, r, force);
            for (int i = 0; i < 3; i++)
                to[c * rows + 3 * set->index[k] + i] = share[k] * (c < 3 ? unit[i] : force[i]);
        }

    /* Gram-Schmidt, twice against rounding. */
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < 6; c++) {
            remove_reactions(&(derivative_work){.reaction_count = c, .reactions = to}, rows, to + c * rows);
            const double length = sqrt(sp_dense_dot(rows, to + c * rows, to + c * rows));
            for (int64_t i = 0; i < rows; i++)
                to[c * rows + i] /= length;
        }

    sp_pool_free(&pool);
}

/* The rows of the interfaces of a basis that modalderiv fixes, and the reactions of those whose mean it fixes, from the
 * sets of the mesh. */
static void find_interfaces(verify *v, const artefact *mesh, const sp_columns *modes, sp_pool *pool, derivative_work *w)
{
    w->rest = tool_allocate(pool, modes->rows, sizeof *w->rest);
    w->reactions = tool_allocate(pool, 6 * modes->interface_count * modes->rows, sizeof *w->reactions);
    w->reaction_count = 0;

    for (int64_t i = 0; i < modes->interface_count; i++) {
        const sp_mesh_set *set = sp_mesh_find_set(&mesh->mesh, modes->interfaces[i].name, SP_SET_VERTICES);
        if (set && modes->interfaces[i].frame == SP_FRAME_AVERAGE) {
            fill_reactions(v, mesh, set, modes->rows, w->reactions + w->reaction_count * modes->rows);
            w->reaction_count += 6;
            continue;
        }

        if (set)
            for (int64_t k = 0; k < 3 * set->count; k++)
                w->rest[3 * set->index[k / 3] + k % 3] = true;
    }
}

void verify_derivatives(verify *v, artefact *file)
{
    const sp_columns *columns = &file->columns;
    const json_t *method = json_object_get(json_object_get(file->meta, "parameters"), "method");
    bool inertia = json_is_string(method) && !strcmp(json_string_value(method), "inertia");
    artefact *mesh = verify_mesh(v, file, "all of it", true), *modes = verify_input(v, file, "modes", NULL);
    if (!modes)
        modes = verify_input(v, file, "snapshots", NULL);

    if (!mesh || !check_rows(v, file, mesh))
        return;
    verify_rank(v, file, mesh);

    if (!columns->pair || (columns->order != 1 && !inertia)) {
        verify_skip(v, file, "residual", "derivatives of order %d", columns->order);
        return;
    }
    if (!modes || modes->columns.rows != columns->rows) {
        verify_skip(v, file, "residual", "its modes are not among the files");
        return;
    }

    /* Pairs name modes; derivatives of inertia modes are made of earlier derivatives too. */
    int64_t beyond = 0, rows = columns->rows, sampled = columns->count < v->sample ? columns->count : v->sample;
    int64_t used = columns->source ? columns->source : modes->columns.count;
    for (int64_t c = 0; c < columns->count; c++)
        beyond += used > modes->columns.count || columns->pair[2 * c] >= used ||
                  columns->pair[2 * c + 1] >= used + (inertia ? c : 0);
    verify_fact(v, file, "pairs", beyond == 0, "%lld beyond the modes (0)", (long long)beyond);

    sp_pool pool = {0};
    double error = 0, limit = 0;
    int64_t undecided = 0;
    derivative_work w;
    double **each[] = {&w.plus, &w.minus, &w.level, &w.u, &w.product, &w.free, &w.absolute};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        *each[i] = tool_allocate_raw(&pool, rows, sizeof(double));
    w.row = tool_allocate_raw(&pool, LEVELS * rows, sizeof(double));

    derivative_span span = {modes->columns.U, modes->columns.rigid ? used : 0};
    find_interfaces(v, mesh, &modes->columns, &pool, &w);
    if (inertia && modes->columns.interface_count == 0)
        span = rigid_span(v, mesh, &pool);

    /* Samples are spread evenly over all columns. */
    if (beyond == 0)
        for (int64_t s = 0; s < sampled; s++) {
            int64_t c = sampled < columns->count ? s * (columns->count - 1) / (sampled > 1 ? sampled - 1 : 1) : s,
                    j = columns->pair[2 * c + 1];
            double lambda = inertia || !modes->columns.rigid ? 0 : modes->columns.eigenvalue[columns->pair[2 * c]];
            undecided += !measure_derivative(v, mesh, &span, lambda, modes->columns.U + columns->pair[2 * c] * rows,
                                             j < used ? modes->columns.U + j * rows : columns->U + (j - used) * rows,
                                             columns->U + c * rows, &w, &error, &limit);
        }

    char name[80];
    snprintf(name, sizeof name, "residual of %lld of %lld derivatives", (long long)(sampled - undecided),
             (long long)columns->count);

    if (beyond == 0 && undecided < sampled)
        verify_number(v, file, name, error, limit);
    if (undecided > 0)
        verify_skip(v, file, "residual", "differences of the stiffness are not good to %g for %lld derivatives",
                    DECISIVE, (long long)undecided);

    sp_pool_free(&pool);
}

/* ---- bases ---- */

/* Order, and what `result` says of rank and singular values, where it says it. */
static void check_singular_values(verify *v, artefact *file)
{
    const sp_columns *columns = &file->columns;
    const json_t *rank = json_object_get(file->result, "rank"),
                 *values = json_object_get(file->result, "singular_values");
    int64_t ascents = 0, others = 0;

    if (columns->singular_value)
        for (int64_t i = 1; i < columns->count; i++)
            ascents += !(columns->singular_value[i] <= columns->singular_value[i - 1]);
    if (columns->singular_value)
        verify_fact(v, file, "singular values descending", ascents == 0, "%lld ascents (0)", (long long)ascents);

    if (json_is_integer(rank))
        verify_fact(v, file, "columns within the stated rank", columns->count <= json_integer_value(rank),
                    "%lld (%lld)", (long long)columns->count, (long long)json_integer_value(rank));

    if (columns->singular_value && json_is_array(values))
        for (int64_t i = 0; i < columns->count; i++)
            others += json_number_value(json_array_get(values, (size_t)i)) != columns->singular_value[i];
    if (columns->singular_value && json_is_array(values))
        verify_fact(v, file, "singular values as stated", others == 0, "%lld differ (0)", (long long)others);
}

void verify_basis(verify *v, artefact *file)
{
    check_singular_values(v, file);
    artefact *mesh = verify_mesh(v, file, "orthonormality", true);
    if (!mesh || !check_rows(v, file, mesh))
        return;
    sp_sparse mass;
    verify_mass_matrix(v, mesh, file->columns.lumped, &mass);
    check_orthonormality(v, file, mesh, &mass);
    verify_spectrum(v, file, mesh, &mass);
    sp_sparse_free(&mass);
}

/* ---- snapshots ---- */

void verify_snapshots(verify *v, artefact *file)
{
    const sp_columns *columns = &file->columns;
    int64_t resting = 0;
    for (int64_t c = 0; c < columns->count; c++) {
        int64_t i = 0;
        while (i < columns->rows && columns->U[c * columns->rows + i] == 0)
            i++;
        resting += i == columns->rows;
    }

    verify_fact(v, file, "values", true, "all finite"); /* else it would not have been read */
    if (resting > 0)
        verify_note(v, file, "columns at rest", "%lld of %lld", (long long)resting, (long long)columns->count);

    artefact *mesh = verify_mesh(v, file, "rows", false);
    if (!mesh)
        return;
    bool rows = columns->rows == 3 * mesh->mesh.vertex_count;
    verify_fact(v, file, "rows", rows, "%lld (%lld)", (long long)columns->rows, 3 * (long long)mesh->mesh.vertex_count);
    if (!rows)
        return;

    double displacement = tool_fixed_rows(&mesh->mesh, columns);
    if (displacement > 0) /* snapshots may come from anywhere: they promise nothing of it */
        verify_note(v, file, "fixed rows", "fixed vertices move by up to %.3g m", displacement);
    else
        verify_number(v, file, "fixed rows", displacement, 0);

    if (!verify_mesh(v, file, "rank", true))
        return;
    verify_rank(v, file, mesh);

    if (columns->factor)
        verify_buckling(v, file, mesh);
}
