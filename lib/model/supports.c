#include "model/supports.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"

void sp_supports_new(const sp_fe_space *body, sp_supports *supports)
{
    *supports = (sp_supports){.body = body};
}

void sp_supports_free(sp_supports *supports)
{
    sp_pool_free(&supports->pool);
    *supports = (sp_supports){0};
}

int sp_supports_set_grounds(sp_context *context, sp_supports *supports, int64_t count, const sp_ground *grounds)
{
    const int64_t vertices = supports->body->mesh->vertex_count;
    bool friction = false;

    supports->ground_count = 0;
    supports->grounds = sp_pool_raw(&supports->pool, count, sizeof *grounds);
    supports->anchor = sp_pool_new(&supports->pool, 3 * vertices * count, sizeof(double));
    supports->penetrating = sp_pool_new(&supports->pool, vertices * count, sizeof(bool));
    supports->mass = sp_pool_new(&supports->pool, vertices, sizeof(double));
    SP_PASS(sp_allocated(context, !supports->pool.failed));

    for (int64_t g = 0; g < count; g++) {
        sp_ground *ground = &supports->grounds[g];
        *ground = grounds[g];

        const double *n = ground->normal, length = sp_norm3(n);
        if (!(length > 0 && isfinite(length) && isfinite(ground->offset)))
            return sp_fail(context, SP_USAGE, "ground %lld has the normal %g, %g, %g and the offset %g m",
                           (long long)g + 1, n[0], n[1], n[2], ground->offset);

        if (!(ground->stiffness > 0 && isfinite(ground->stiffness) && ground->alpha >= 0 && ground->alpha <= 1 &&
              ground->friction >= 0 && isfinite(ground->friction)))
            return sp_fail(
                context, SP_USAGE,
                "ground %lld has the stiffness %g N/m (more than 0), alpha %g (0 to 1) and friction %g (0 or more)",
                (long long)g + 1, ground->stiffness, ground->alpha, ground->friction);

        for (int c = 0; c < 3; c++)
            ground->normal[c] /= length;
        friction |= ground->friction > 0;
    }

    if (friction)
        sp_fe_space_vertex_mass(supports->body, true, supports->mass);
    supports->ground_count = count;
    return SP_OK;
}

/* Adds to entry (row, column) of a matrix over the body's pattern. */
static void add_entry(sp_sparse *S, int64_t row, int64_t column, double value)
{
    int64_t low = S->start[row], high = S->start[row + 1] - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (S->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }

    S->value[low] += value;
}

static void place(const sp_supports *supports, const double *u, int64_t vertex, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = supports->body->mesh->vertices[3 * vertex + c] + u[3 * vertex + c];
}

/* The depth of x below the floor plane; ≤ 0: it is not below. */
static double depth(const sp_ground *ground, const double x[3])
{
    return ground->offset - ground->normal[0] * x[0] - ground->normal[1] * x[1] - ground->normal[2] * x[2];
}

static bool prescribed(const sp_supports *supports, int64_t vertex)
{
    const int64_t *dof = supports->body->dof + 3 * vertex;
    return dof[0] < 0 && dof[1] < 0 && dof[2] < 0;
}

/* The tangential displacement of x from its anchor; returns false if it has none. */
static bool slip(const sp_supports *supports, int64_t g, int64_t vertex, const double x[3], double along[3])
{
    const sp_ground *ground = &supports->grounds[g];
    const int64_t at = g * supports->body->mesh->vertex_count + vertex;
    if (!supports->penetrating[at] || ground->alpha == 0)
        return false;

    /* t = (I − n nᵀ) (x − anchor) */
    double across = 0;
    for (int c = 0; c < 3; c++)
        across += ground->normal[c] * (x[c] - supports->anchor[3 * at + c]);
    for (int c = 0; c < 3; c++)
        along[c] = x[c] - supports->anchor[3 * at + c] - across * ground->normal[c];
    return true;
}

/* The energy of a vertex at x against a floor plane. Its force is added to f [3] (NULL: energy only). */
static double ground_force(const sp_supports *supports, int64_t g, int64_t vertex, const double x[3], double *f)
{
    const sp_ground *ground = &supports->grounds[g];
    const double d = depth(ground, x), k = ground->stiffness;
    double along[3], energy = 0;

    /* Penalty on the depth: ½ k d², force −k d n; against slip: ½ α k |t|² */
    if (d > 0) {
        energy += 0.5 * k * d * d;
        if (f)
            for (int c = 0; c < 3; c++)
                f[c] -= k * d * ground->normal[c];
    }

    if (slip(supports, g, vertex, x, along))
        for (int c = 0; c < 3; c++) {
            energy += 0.5 * ground->alpha * k * along[c] * along[c];
            if (f)
                f[c] += ground->alpha * k * along[c];
        }
    return energy;
}

/* The stiffness [3, 3] of the same; returns false if it is zero. */
static bool ground_stiffness(const sp_supports *supports, int64_t g, int64_t vertex, const double x[3], double K[9])
{
    const sp_ground *ground = &supports->grounds[g];
    const double *n = ground->normal, k = ground->stiffness;
    double along[3];
    const bool deep = depth(ground, x) > 0, anchored = slip(supports, g, vertex, x, along);

    /* k n nᵀ + α k (I − n nᵀ) */
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
            K[3 * c + d] = (deep ? k * n[c] * n[d] : 0) + (anchored ? ground->alpha * k * ((c == d) - n[c] * n[d]) : 0);
    return deep || anchored;
}

double sp_supports_prescribed_work(const sp_supports *supports, const double *u, const double *du)
{
    const sp_fe_space *body = supports->body;
    double work = 0, x[3];

    /* Σ k (x − anchor) · du over the fixed components of the springs, then the same with the forces of the floor
     * planes */
    for (int64_t s = 0; s < supports->spring_count; s++) {
        const sp_spring *spring = &supports->springs[s];
        place(supports, u, spring->vertex, x);
        for (int c = 0; c < 3; c++)
            if (body->dof[3 * spring->vertex + c] < 0)
                work += spring->stiffness * (x[c] - spring->anchor[c]) * du[3 * spring->vertex + c];
    }

    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t v = 0; v < body->mesh->vertex_count; v++) {
            double push[3] = {0};

            if (prescribed(supports, v))
                continue;

            place(supports, u, v, x);
            ground_force(supports, g, v, x, push);
            for (int c = 0; c < 3; c++)
                work += body->dof[3 * v + c] < 0 ? push[c] * du[3 * v + c] : 0;
        }
    return work;
}

double sp_supports_force(const sp_supports *supports, const double *u, double *f)
{
    const sp_fe_space *body = supports->body;
    double energy = 0, x[3];

    /* Springs, ½ k |x − a|² */
    for (int64_t s = 0; s < supports->spring_count; s++) {
        const sp_spring *spring = &supports->springs[s];
        place(supports, u, spring->vertex, x);
        for (int c = 0; c < 3; c++) {
            const int64_t dof = body->dof[3 * spring->vertex + c];
            const double stretch = x[c] - spring->anchor[c];
            energy += 0.5 * spring->stiffness * stretch * stretch;
            if (f && dof >= 0)
                f[dof] += spring->stiffness * stretch;
        }
    }

    /* Floor planes push vertices that are not prescribed. */
    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t v = 0; v < body->mesh->vertex_count; v++) {
            if (prescribed(supports, v))
                continue;
            double push[3] = {0};
            place(supports, u, v, x);
            energy += ground_force(supports, g, v, x, push);
            if (f)
                for (int c = 0; c < 3; c++)
                    if (body->dof[3 * v + c] >= 0)
                        f[body->dof[3 * v + c]] += push[c];
        }
    return energy;
}

void sp_supports_stiffness(const sp_supports *supports, const double *u, double scale, sp_sparse *S)
{
    const sp_fe_space *body = supports->body;
    double x[3], K[9];

    for (int64_t s = 0; s < supports->spring_count; s++)
        for (int c = 0; c < 3; c++) {
            const int64_t row = body->dof[3 * supports->springs[s].vertex + c];
            if (row >= 0)
                add_entry(S, row, row, scale * supports->springs[s].stiffness);
        }

    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t v = 0; v < body->mesh->vertex_count; v++) {
            const int64_t *dof = body->dof + 3 * v;
            place(supports, u, v, x);
            if (prescribed(supports, v) || !ground_stiffness(supports, g, v, x, K))
                continue;

            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    if (dof[c] >= 0 && dof[d] >= 0)
                        add_entry(S, dof[c], dof[d], scale * K[3 * c + d]);
        }
}

void sp_supports_grounds_times(const sp_supports *supports, const double *u, double scale, const double *v, double *y)
{
    const sp_fe_space *body = supports->body;
    double x[3], K[9];
    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t i = 0; i < body->mesh->vertex_count; i++) {
            place(supports, u, i, x);
            if (prescribed(supports, i) || !ground_stiffness(supports, g, i, x, K))
                continue;
            for (int c = 0; c < 3; c++)
                if (body->dof[3 * i + c] >= 0)
                    for (int d = 0; d < 3; d++)
                        y[body->dof[3 * i + c]] += scale * K[3 * c + d] * v[3 * i + d];
        }
}

double sp_supports_begin(sp_supports *supports, const double *u)
{
    const int64_t vertices = supports->body->mesh->vertex_count;
    double dissipated = 0, x[3], along[3];

    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t v = 0; v < vertices; v++) {
            const int64_t at = g * vertices + v;
            if (prescribed(supports, v))
                continue;

            place(supports, u, v, x);
            if (slip(supports, g, v, x, along))
                dissipated += 0.5 * supports->grounds[g].alpha * supports->grounds[g].stiffness * sp_dot3(along, along);

            /* The anchors are those of the next step: the energy of the slip in this one is lost. */
            supports->penetrating[at] = depth(&supports->grounds[g], x) > 0;
            memcpy(supports->anchor + 3 * at, x, sizeof x);
        }
    return dissipated;
}

void sp_supports_apply_friction(const sp_supports *supports, const double *u1, double h, double *v)
{
    const sp_fe_space *body = supports->body;
    double x[3];

    for (int64_t g = 0; g < supports->ground_count; g++)
        for (int64_t i = 0; i < body->mesh->vertex_count; i++) {
            const sp_ground *ground = &supports->grounds[g];
            const double *n = ground->normal, mass = supports->mass[i];
            if (ground->friction == 0 || prescribed(supports, i) || !(mass > 0))
                continue;

            place(supports, u1, i, x);
            const double d = depth(ground, x);
            if (d <= 0)
                continue;

            /* Coulomb: the tangential velocity loses at most μ h k d / m, and does not turn back. */
            double *w = v + 3 * i, along[3], across = sp_dot3(n, w), speed = 0;
            for (int c = 0; c < 3; c++) {
                along[c] = w[c] - across * n[c];
                speed += along[c] * along[c];
            }
            speed = sqrt(speed);

            const double slower = ground->friction * h * ground->stiffness * d / mass,
                         left = speed > slower ? 1 - slower / speed : 0;

            for (int c = 0; c < 3; c++)
                if (body->dof[3 * i + c] >= 0)
                    w[c] = across * n[c] + left * along[c];
        }
}

bool sp_supports_rough(const sp_supports *supports)
{
    for (int64_t g = 0; g < supports->ground_count; g++)
        if (supports->grounds[g].friction > 0)
            return true;
    return false;
}

void sp_supports_visit(sp_supports *supports, sp_state *state)
{
    const int64_t count = supports->body->mesh->vertex_count * supports->ground_count;
    sp_state_reals(state, supports->anchor, 3 * count);
    sp_state_bytes(state, supports->penetrating, count * (int64_t)sizeof *supports->penetrating);
}
