#include "rigid/body_loads.h"
#include "base/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* moment [1 + r, 3, 3] of the forces `full` [3·vertices]. */
static void sum_moments(const sp_mesh *mesh, int64_t r, const double *U, const double *full, double total[3],
                        double *moment)
{
    const int64_t rows = 3 * mesh->vertex_count;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *f = full + 3 * v;
        if (f[0] == 0 && f[1] == 0 && f[2] == 0)
            continue;

        /* The total force, and the moments Σ X fᵀ and Σ U_j fᵀ */
        for (int b = 0; b < 3; b++)
            total[b] += f[b];
        for (int64_t j = 0; j <= r; j++) {
            const double *x = j == 0 ? mesh->vertices + 3 * v : U + (j - 1) * rows + 3 * v;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    moment[9 * j + 3 * a + b] += x[a] * f[b];
        }
    }
}

/* The point of a spring, in the places of its moments. */
static void set_point(const sp_mesh *mesh, int64_t r, const double *U, int64_t vertex, double *moment)
{
    for (int64_t j = 0; j <= r; j++)
        for (int a = 0; a < 3; a++)
            moment[9 * j + 3 * a] =
                j == 0 ? mesh->vertices[3 * vertex + a] : U[(j - 1) * 3 * mesh->vertex_count + 3 * vertex + a];
}

int sp_body_loads_new(sp_context *context, const sp_fe_space *body, int64_t r, const double *U, int64_t count,
                      const sp_load *loads, sp_body_loads *result)
{
    const sp_mesh *mesh = body->mesh;
    const size_t bytes = (size_t)(3 * mesh->vertex_count) * sizeof(double);
    double *full = malloc(bytes ? bytes : 1);
    int status = SP_OK;

    *result = (sp_body_loads){.count = count, .r = r, .loads = loads};
    result->total = sp_pool_new(&result->pool, 3 * count, sizeof *result->total);
    result->moment = sp_pool_new(&result->pool, 9 * (1 + r) * count, sizeof *result->moment);
    SP_TRY(sp_allocated(context, full && !result->pool.failed));

    for (int64_t k = 0; k < count; k++) {
        double *moment = result->moment + 9 * (1 + r) * k;
        SP_TRY(sp_load_check(context, mesh, k + 1, &loads[k]));

        /* Of a spring only the point is needed. */
        if (loads[k].kind == SP_LOAD_SPRING) {
            set_point(mesh, r, U, loads[k].id, moment);
            continue;
        }

        memset(full, 0, bytes);
        SP_TRY(sp_load_distribute(context, body, &loads[k], full));
        sum_moments(mesh, r, U, full, result->total + 3 * k, moment);
    }
done:
    free(full);
    if (status != SP_OK)
        sp_body_loads_free(result);
    return status;
}

void sp_body_loads_free(sp_body_loads *loads)
{
    sp_pool_free(&loads->pool);
    *loads = (sp_body_loads){0};
}

/* The mean of a load's factor from t0 to t1; it is 0 while the load does not act. */
static double factor(const sp_load *load, double t0, double t1)
{
    const double from = fmax(t0, load->start), to = fmin(t1, load->end);
    if (!(to > from))
        return 0;
    return sp_course_integral(&load->course, load->end - load->start, from - load->start, to - load->start) / (t1 - t0);
}

static void add_force(double scale, const double total[3], const double *moment, int64_t r, const double R[9],
                      const double *q, const double arm[3], double F[3], double T[3], double *Q)
{
    double Y[9], world[9], force[3], torque[3];
    memcpy(Y, moment, sizeof Y);

    /* Y = Σ y fᵀ of the deformed places y, and the work of the force in the direction of each coordinate */
    for (int64_t j = 0; j < r; j++) {
        const double *dY = moment + 9 * (1 + j);
        double work = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                Y[3 * a + b] += q[j] * dY[3 * a + b];
                work += R[3 * b + a] * dY[3 * a + b];
            }
        if (Q)
            Q[j] += scale * work;
    }

    sp_multiply3(R, Y, world); /* world [a, b] = Σ (R y)_a f_b */

    for (int c = 0; c < 3; c++)
        force[c] = scale * total[c];
    sp_cross3(arm, force, torque);

    /* The torque of Σ (R y) × f is the antisymmetric part of R Σ y fᵀ. */
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        F[c] += force[c];
        T[c] += torque[c] + scale * (world[3 * a + b] - world[3 * b + a]);
    }
}

static void add_spring(const sp_load *load, double t, const double *moment, int64_t r, const sp_pose *pose,
                       const double R[9], const double *q, const double about[3], double F[3], double T[3], double *Q)
{
    const double share = load->moving ? (t - load->start) / (load->end - load->start) : 0;
    double point[3], x[3], force[3], local[3], torque[3];

    /* The point moves with the coordinates. */
    for (int a = 0; a < 3; a++) {
        point[a] = moment[3 * a];
        for (int64_t j = 0; j < r; j++)
            point[a] += q[j] * moment[9 * (1 + j) + 3 * a];
    }

    sp_rotate(R, point, x);
    for (int a = 0; a < 3; a++) {
        const double anchor =
            load->moving ? (1 - share) * load->force[a] + share * load->anchor_end[a] : load->force[a];
        force[a] = load->stiffness * (anchor - pose->x[a] - x[a]);
        F[a] += force[a];
        x[a] += pose->x[a] - about[a];
    }

    sp_cross3(x, force, torque);
    sp_rotate_back(R, force, local);
    for (int a = 0; a < 3; a++)
        T[a] += torque[a];

    /* Q_j += u_j · Rᵀ F */
    if (Q)
        for (int64_t j = 0; j < r; j++)
            for (int a = 0; a < 3; a++)
                Q[j] += moment[9 * (1 + j) + 3 * a] * local[a];
}

void sp_body_loads_add(const sp_body_loads *loads, double t0, double t1, const sp_pose *pose, const double *q,
                       const double about[3], double F[3], double T[3], double *Q)
{
    const int64_t r = loads->r;
    double R[9], arm[3];

    sp_quaternion_matrix(pose->q, R);
    sp_subtract3(pose->x, about, arm);
    for (int64_t k = 0; k < loads->count; k++) {
        const sp_load *load = &loads->loads[k];
        const double *moment = loads->moment + 9 * (1 + r) * k, middle = 0.5 * (t0 + t1);
        const double scale = load->kind == SP_LOAD_SPRING ? 0 : factor(load, t0, t1);
        if (scale != 0)
            add_force(scale, loads->total + 3 * k, moment, r, R, q, arm, F, T, Q);
        if (load->kind == SP_LOAD_SPRING && middle >= load->start && middle < load->end)
            add_spring(load, middle, moment, r, pose, R, q, about, F, T, Q);
    }
}
