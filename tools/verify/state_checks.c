/* Files about a static equilibrium: the mesh in that state, and buckling shapes. */
#include "assembly/elastic.h"
#include "linear/cholesky.h"
#include "model/load_stiffness.h"
#include "tools/verify/verify.h"

#include <string.h>
#include <unistd.h>

static const double ROUNDING = 1e3 * 0x1p-53; /* as for modes */

/* "about" or "buckling"; NULL: the file is of the mesh at rest. */
static const char *option_of(const artefact *file)
{
    return tool_meta_has_input(file->meta, "about")      ? "about"
           : tool_meta_has_input(file->meta, "buckling") ? "buckling"
                                                         : NULL;
}

/* The loads of the equilibrium, from the files that --loads names; false if they are not there. */
static bool take_loads(verify *v, tool_equilibrium *e, const sp_mesh *mesh)
{
    const char *wanted = tool_equilibrium_loads_hash(e);
    if (!*wanted)
        return true;

    for (int64_t k = 0; k < v->loads->count; k++) {
        char hash[SP_HASH_LENGTH];
        int64_t count;
        const char *bytes = tool_read_bytes(v->loads->value[k], "", &e->pool, &count);
        sp_hash_bytes(count, bytes, hash);
        if (!strcmp(hash, wanted)) {
            tool_equilibrium_take_loads(e, v->loads->value[k], bytes, count, mesh);
            return true;
        }
    }
    return false;
}

/* A copy of the mesh with arrays of its own where the equilibrium changes it. */
static void copy_mesh(const sp_mesh *mesh, sp_mesh *copy)
{
    *copy = *mesh;
    copy->pool = (sp_pool){0};
    copy->fixed = tool_allocate_copy(&copy->pool, mesh->fixed, mesh->fixed_count, sizeof *mesh->fixed);
    copy->fixed_axes = tool_allocate_copy(&copy->pool, mesh->fixed_axes, mesh->fixed_count, 1);
}

static void make_body(verify *v, bool tangent, verify_state *state)
{
    artefact *mesh = &state->own;
    tool_check(sp_fe_space_new_prescribed(v->context, &mesh->mesh, &mesh->body), mesh->path);
    mesh->body_tried = true;
    mesh->body_status = SP_OK;
    if (!tangent) {
        tool_check(sp_elastic_stiffness(v->context, &mesh->body, &mesh->stiffness), mesh->path);
        return;
    }
    tool_check(sp_fe_space_pattern(v->context, &mesh->body), mesh->path);
    tool_check(sp_fe_space_matrix(v->context, &mesh->body, &mesh->stiffness), mesh->path);
    tool_equilibrium_stiffness(&state->equilibrium, &mesh->body, &mesh->stiffness);
}

bool verify_state_open(verify *v, artefact *file, artefact *mesh, const char *checks, verify_state *state)
{
    const char *option = option_of(file);
    *state = (verify_state){.mesh = mesh};

    if (!option)
        return true;

    const artefact *trajectory = verify_input(v, file, "trajectory", option);
    if (!trajectory) {
        verify_skip(v, file, checks, "the equilibrium of --%s is not among the files", option);
        return false;
    }

    const bool about = !strcmp(option, "about");
    if (lseek(trajectory->descriptor, trajectory->start, SEEK_SET) < 0)
        tool_fail(SP_SYSTEM, trajectory->path, "cannot be read twice");
    tool_equilibrium_read(v->context, trajectory->descriptor, trajectory->path, about ? "nonlinear" : "linear",
                          &state->equilibrium);

    state->own = (artefact){.path = mesh->path, .descriptor = -1};
    copy_mesh(&mesh->mesh, &state->own.mesh);
    state->mesh = &state->own;
    tool_equilibrium_apply(&state->equilibrium, mesh->hash, &state->own.mesh);

    if (!take_loads(v, &state->equilibrium, &mesh->mesh)) {
        verify_skip(v, file, checks, "the loads of %s are not named by --loads", tool_base_name(trajectory->path));
        verify_state_close(state);
        return false;
    }

    make_body(v, about, state);
    return true;
}

void verify_state_close(verify_state *state)
{
    if (state->mesh == &state->own)
        verify_free(&state->own);
    tool_equilibrium_free(&state->equilibrium);
}

/* ---- buckling ---- */

typedef struct shape_errors {
    double residual, residual_limit, quotient, quotient_limit; /* of the shape that is worst by its limit */
} shape_errors;

/* y = |A| |x|. */
static void absolute_times(const sp_sparse *matrix, const double *x, double *y)
{
    for (int64_t i = 0; i < matrix->order; i++) {
        y[i] = 0;
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++)
            y[i] += fabs(matrix->value[k] * x[matrix->index[k]]);
    }
}

/* ‖φ − λK⁻¹Sφ‖_K / ‖φ‖_K of one shape, and λ as the quotient φᵀKφ / φᵀSφ, each with what rounding may do to it. work
 * [5 n]. */
static int measure_shape(const sp_columns *columns, const artefact *mesh, const sp_sparse *S, sp_cholesky *factor,
                         const sp_context *context, int64_t shape, double *work, shape_errors *errors)
{
    const int64_t n = mesh->body.dof_count;
    const double lambda = columns->factor[shape];
    double *phi = work, *k = work + n, *s = work + 2 * n, *absolute = work + 3 * n, *image = work + 4 * n, sum = 0,
           terms = 0;

    sp_fe_space_gather(&mesh->body, columns->U + shape * columns->rows, phi);
    sp_sparse_times(context, &mesh->stiffness, 1, phi, k);
    sp_sparse_times(context, S, 1, phi, s);
    absolute_times(&mesh->stiffness, phi, absolute);
    const int status = sp_cholesky_solve(factor, 1, s, image);

    /* ‖φ − λK⁻¹Sφ‖²_K = (φ − λK⁻¹Sφ)ᵀ (Kφ − λSφ), and K⁻¹Sφ is `image`. */
    for (int64_t i = 0; i < n; i++) {
        sum += (phi[i] - lambda * image[i]) * (k[i] - lambda * s[i]);
        terms += fabs(phi[i]) * absolute[i];
    }

    const double energy = sp_dense_dot(n, phi, k);
    verify_keep_worst(sqrt(fmax(sum, 0) / energy), 1e-8 + sqrt(ROUNDING * terms / energy), &errors->residual,
                      &errors->residual_limit);
    verify_keep_worst(fabs(energy / sp_dense_dot(n, phi, s) / lambda - 1), 1e-10 + ROUNDING * terms / energy,
                      &errors->quotient, &errors->quotient_limit);
    return status;
}

/* S = −K_σ and the centrifugal stiffness of rotations; springs of the loads are added to K. */
static void stress_stiffness(verify *v, verify_state *state, sp_sparse *S)
{
    const tool_equilibrium *e = &state->equilibrium;
    const sp_fe_space *body = &state->mesh->body;
    tool_check(sp_fe_space_matrix(v->context, body, S), state->mesh->path);
    sp_elastic_stress_stiffness(v->context, body, e->u, -1, S);
    for (int64_t k = 0; k < e->load_count; k++) {
        const double share = sp_load_static_share(&e->loads[k], e->time, e->step);
        const bool spring = e->loads[k].kind == SP_LOAD_SPRING;
        sp_load_add_stiffness(v->context, body, &e->loads[k], spring ? share : -share,
                              spring ? &state->mesh->stiffness : S);
    }
}

void verify_buckling(verify *v, artefact *file, artefact *mesh)
{
    const sp_columns *columns = &file->columns;
    verify_state state;
    sp_sparse S = {0};
    sp_pool pool = {0};
    shape_errors errors = {0};
    int64_t descents = 0;

    for (int64_t i = 1; i < columns->count; i++)
        descents += columns->factor[i] < columns->factor[i - 1];
    verify_fact(v, file, "load factors ascending", descents == 0, "%lld descents (0)", (long long)descents);

    if (!option_of(file)) {
        verify_skip(v, file, "buckling", "it does not name its load case");
        return;
    }
    if (!verify_state_open(v, file, mesh, "buckling", &state))
        return;

    double *work = tool_allocate_raw(&pool, 5 * state.mesh->body.dof_count, sizeof *work);
    sp_cholesky *factor;
    stress_stiffness(v, &state, &S);
    tool_check(sp_cholesky_new(v->context, &state.mesh->stiffness, NULL, &factor), file->path);
    tool_check(sp_cholesky_factor(factor, &state.mesh->stiffness), file->path);

    for (int64_t i = 0; i < columns->count; i++)
        tool_check(measure_shape(columns, state.mesh, &S, factor, v->context, i, work, &errors), file->path);

    verify_number(v, file, "residual of buckling", errors.residual, errors.residual_limit);
    verify_number(v, file, "load factor as quotient", errors.quotient, errors.quotient_limit);

    sp_cholesky_free(factor);
    sp_sparse_free(&S);
    sp_pool_free(&pool);
    verify_state_close(&state);
}
