#include "model/modal_warp.h"

#include "assembly/element.h"
#include "base/vec3.h"
#include "geometry/pose.h"
#include "model/outer_loads.h"

#include <math.h>
#include <string.h>

/* ---- the rotation field ---- */

static int add_element(sp_context *context, sp_modal_warp *warp, int64_t element, int64_t *at)
{
    double X[SP_ELEMENT_NODES][3];
    int nodes;
    const int64_t *node = sp_mesh_nodes(warp->mesh, element, &nodes);
    const int type = sp_mesh_element_places(warp->mesh, element, X);

    /* Gradients at the centre, of which the mean over the element is the volume times these */
    double(*gradient)[3] = (double(*)[3])(warp->gradient + 3 * *at);
    const double volume = sp_mesh_element_volume(warp->mesh, element);
    if (!(sp_element_centre_gradients(type, X[0], gradient) > 0 && volume > 0))
        return sp_fail(context, SP_INPUT, "element %lld is inverted or flat", (long long)element);

    for (int a = 0; a < nodes; a++) {
        warp->volume[node[a]] += volume;
        for (int k = 0; k < 3; k++)
            gradient[a][k] *= volume;
    }

    *at += nodes;
    return SP_OK;
}

int sp_modal_warp_new(sp_context *context, const sp_mesh *mesh, sp_modal_warp *warp)
{
    int64_t corners = 0, at = 0;
    int status, nodes;
    *warp = (sp_modal_warp){.mesh = mesh};

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        sp_mesh_nodes(mesh, e, &nodes);
        corners += nodes;
    }

    warp->gradient = sp_pool_new(&warp->pool, 3 * corners, sizeof *warp->gradient);
    warp->volume = sp_pool_new(&warp->pool, mesh->vertex_count, sizeof *warp->volume);
    status = sp_allocated(context, !warp->pool.failed);

    for (int64_t e = 0; e < sp_mesh_element_count(mesh) && status == SP_OK; e++)
        status = add_element(context, warp, e, &at);
    if (status != SP_OK)
        sp_modal_warp_free(warp);
    return status;
}

void sp_modal_warp_free(sp_modal_warp *warp)
{
    sp_pool_free(&warp->pool);
    *warp = (sp_modal_warp){0};
}

void sp_modal_warp_rotations(const sp_modal_warp *warp, const double *u, double *w)
{
    const sp_mesh *mesh = warp->mesh;
    const double *gradient = warp->gradient;
    memset(w, 0, 3 * (size_t)mesh->vertex_count * sizeof *w);

    /* The curl of u in an element, ∇ × u = Σ_a ∇N_a × u_a */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double curl[3] = {0}, part[3];
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);

        for (int a = 0; a < nodes; a++, gradient += 3) {
            sp_cross3(gradient, u + 3 * node[a], part);
            for (int k = 0; k < 3; k++)
                curl[k] += part[k];
        }

        for (int a = 0; a < nodes; a++)
            for (int k = 0; k < 3; k++)
                w[3 * node[a] + k] += 0.5 * curl[k];
    }

    /* w is the mean of ½ curl u over the elements at the vertex, by volume. */
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (warp->volume[v] > 0)
            for (int k = 0; k < 3; k++)
                w[3 * v + k] /= warp->volume[v];
}

/* ---- the shape ---- */

/* (1 − cos θ)/θ² and (θ − sin θ)/θ³, and their derivatives divided by θ; by their series where these cancel. */
static void coefficients(double square, double c[2], double slope[2])
{
    const double theta = sqrt(square), cosine = cos(theta), sine = sin(theta);
    if (square < 0.04) { /* the first term left out is below 1e-17 */
        c[0] = 1 / 2. - square * (1 / 24. - square * (1 / 720. - square * (1 / 40320. - square / 3628800)));
        c[1] = 1 / 6. - square * (1 / 120. - square * (1 / 5040. - square * (1 / 362880. - square / 39916800)));
        slope[0] = -1 / 12. + square * (1 / 180. - square * (1 / 6720. - square * (1 / 453600. - square / 47900160)));
        slope[1] =
            -1 / 60. + square * (1 / 1260. - square * (1 / 60480. - square * (1 / 4989600. - square / 622702080)));
        return;
    }

    c[0] = (1 - cosine) / square;
    c[1] = (theta - sine) / (theta * square);
    slope[0] = (sine / theta - 2 * c[0]) / square;
    slope[1] = ((1 - cosine) / square - 3 * c[1]) / square;
}

void sp_modal_warp_vertex(const double w[3], const double wdot[3], double u[3], double *v)
{
    double c[2], slope[2], wu[3], wwu[3], wv[3], wwv[3], du[3], wdu[3], dwu[3];
    const double rate = v ? sp_dot3(w, wdot) : 0;

    coefficients(sp_dot3(w, w), c, slope);

    sp_cross3(w, u, wu);
    sp_cross3(w, wu, wwu);

    /* The rate of u + c₀ w × u + c₁ w × (w × u). That of c is slope θ θ' with θ θ' = w·w'. */
    if (v) {
        sp_cross3(w, v, wv);
        sp_cross3(w, wv, wwv);
        sp_cross3(wdot, u, du);
        sp_cross3(w, du, wdu);
        sp_cross3(wdot, wu, dwu);
        for (int k = 0; k < 3; k++)
            v[k] += c[0] * (wv[k] + du[k]) + c[1] * (wwv[k] + wdu[k] + dwu[k]) +
                    rate * (slope[0] * wu[k] + slope[1] * wwu[k]);
    }

    for (int k = 0; k < 3; k++)
        u[k] += c[0] * wu[k] + c[1] * wwu[k];
}

void sp_modal_warp_apply(const sp_modal_warp *warp, double *u, double *v, double *work)
{
    const int64_t rows = 3 * warp->mesh->vertex_count;
    double *w = work, *wdot = work + rows;

    sp_modal_warp_rotations(warp, u, w);
    if (v)
        sp_modal_warp_rotations(warp, v, wdot);
    for (int64_t i = 0; i < rows; i += 3)
        sp_modal_warp_vertex(w + i, wdot + i, u + i, v ? v + i : NULL);
}

/* ---- loads ---- */

/* The rows of `field` at the vertices with loads. */
static void keep_rows(int64_t count, const int64_t *vertex, const double *field, int64_t stride, double *to)
{
    for (int64_t p = 0; p < count; p++)
        for (int k = 0; k < 3; k++)
            to[(3 * p + k) * stride] = field[3 * vertex[p] + k];
}

/* The forces of all loads on all vertices, full [force_count + 1, 3·vertices], gravity last. */
static int distribute(sp_context *context, const sp_fe_space *body, int64_t load_count, const sp_load *loads,
                      const double gravity[3], bool lumped, sp_pool *scratch, double *full)
{
    const int64_t vertices = body->mesh->vertex_count;
    double *mass = sp_pool_raw(scratch, vertices, sizeof *mass);
    int status = sp_allocated(context, mass);

    for (int64_t l = 0; l < load_count && status == SP_OK; l++) {
        if (loads[l].kind == SP_LOAD_SPRING)
            continue;
        status = sp_load_distribute(context, body, &loads[l], full);
        full += 3 * vertices;
    }
    if (status != SP_OK)
        return status;

    /* Gravity is M times a constant field. */
    sp_fe_space_vertex_mass(body, lumped, mass);
    for (int64_t i = 0; i < 3 * vertices; i++)
        full[i] = mass[i / 3] * gravity[i % 3];
    return SP_OK;
}

/* The vertices on which any of the forces acts. */
static int64_t list_loaded(int64_t vertices, int64_t columns, const double *full, int64_t *vertex)
{
    int64_t count = 0;
    for (int64_t v = 0; v < vertices; v++) {
        bool loaded = false;
        for (int64_t l = 0; l < columns && !loaded; l++)
            for (int k = 0; k < 3; k++)
                loaded |= full[3 * (l * vertices + v) + k] != 0;
        if (loaded)
            vertex[count++] = v;
    }
    return count;
}

int sp_warped_loads_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                        int64_t r, int64_t load_count, const sp_load *loads, const double gravity[3], bool lumped,
                        sp_load_set *set, sp_warped_loads *warped)
{
    const int64_t vertices = body->mesh->vertex_count, columns = set->force_count;
    sp_pool scratch = {0};
    int status = SP_OK;

    *warped =
        (sp_warped_loads){.r = r, .force_count = set->force_count, .set = set, .inner = sp_load_set_external(set)};
    int64_t *vertex = sp_pool_raw(&scratch, vertices, sizeof *vertex);
    double *full = sp_pool_new(&scratch, 3 * vertices * (columns + 1), sizeof *full),
           *w = sp_pool_raw(&scratch, 3 * vertices, sizeof *w);
    SP_TRY(sp_allocated(context, !scratch.failed));

    SP_TRY(distribute(context, body, load_count, loads, gravity, lumped, &scratch, full));
    const int64_t count = warped->count = list_loaded(vertices, columns + 1, full, vertex);
    double *force = sp_pool_new(&warped->pool, 3 * count * columns, sizeof *force),
           *constant = sp_pool_new(&warped->pool, 3 * count, sizeof *constant),
           *rows = sp_pool_new(&warped->pool, 3 * count * r, sizeof *rows),
           *turns = sp_pool_new(&warped->pool, 3 * count * r, sizeof *turns);

    warped->share = sp_pool_new(&warped->pool, columns, sizeof *warped->share);
    warped->now = sp_pool_new(&warped->pool, 3 * count, sizeof *warped->now);
    SP_TRY(sp_allocated(context, !warped->pool.failed));

    /* Only the vertices on which a load acts are kept: forces, and their rows of U and of the rotations W */
    for (int64_t l = 0; l < columns; l++)
        keep_rows(count, vertex, full + 3 * vertices * l, 1, force + 3 * count * l);
    keep_rows(count, vertex, full + 3 * vertices * columns, 1, constant);

    for (int64_t j = 0; j < r; j++) {
        keep_rows(count, vertex, U + 3 * vertices * j, r, rows + j);
        sp_modal_warp_rotations(warp, U + 3 * vertices * j, w);
        keep_rows(count, vertex, w, r, turns + j);
    }

    warped->constant = constant;
    warped->force = force;
    warped->U = rows;
    warped->W = turns;
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_warped_loads_free(warped);
    return status;
}

void sp_warped_loads_free(sp_warped_loads *warped)
{
    sp_pool_free(&warped->pool);
    *warped = (sp_warped_loads){0};
}

static void mean(void *self, double t0, double t1, double *f)
{
    const sp_warped_loads *warped = self;
    warped->inner.mean(warped->inner.self, t0, t1, f);
}

/* f += Uᵀ (exp(−[w]) − 1) F at one vertex. */
static void add_turn(const sp_warped_loads *warped, int64_t vertex, const double *q, double *f)
{
    const int64_t r = warped->r;
    const double *F = warped->now + 3 * vertex;
    double back[3] = {0}, turn[4], R[9];

    /* −w = −W q, since the world's forces are seen in the rotated axes */
    for (int k = 0; k < 3; k++)
        for (int64_t j = 0; j < r; j++)
            back[k] -= warped->W[(3 * vertex + k) * r + j] * q[j];
    sp_quaternion_from_vector(back, turn);

    sp_quaternion_matrix(turn, R);

    for (int k = 0; k < 3; k++) {
        const double change = R[3 * k] * F[0] + R[3 * k + 1] * F[1] + R[3 * k + 2] * F[2] - F[k];
        for (int64_t j = 0; j < r; j++)
            f[j] += change * warped->U[(3 * vertex + k) * r + j];
    }
}

static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    sp_warped_loads *warped = self;
    const int64_t rows = 3 * warped->count;
    (void)v;

    /* The forces at this time, before they turn with their points */
    sp_load_set_shares(warped->set, t0, t1, warped->share);
    memcpy(warped->now, warped->constant, (size_t)rows * sizeof *warped->now);
    for (int64_t l = 0; l < warped->force_count; l++)
        if (warped->share[l] != 0)
            for (int64_t i = 0; i < rows; i++)
                warped->now[i] += warped->share[l] * warped->force[rows * l + i];

    memset(f, 0, (size_t)warped->r * sizeof *f);
    for (int64_t p = 0; p < warped->count; p++)
        add_turn(warped, p, q, f);
}

sp_external_loads sp_warped_loads_external(sp_warped_loads *warped)
{
    return sp_outer_loads(warped, mean, follow);
}
