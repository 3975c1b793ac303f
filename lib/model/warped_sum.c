#include "model/warped_sum.h"

#include "base/vec3.h"
#include "geometry/pose.h"

#include <string.h>

/* Copies a field [3·vertices] to row entries j of U (offset 0) or of its rotations (offset 3). */
static void set_rows(sp_warped_sum *sum, const double *field, int offset, int64_t j)
{
    for (int64_t v = 0; v < sum->count; v++)
        for (int k = 0; k < 3; k++)
            sum->rows[(6 * v + offset + k) * sum->r + j] = field[3 * v + k];
}

int sp_warped_sum_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                      int64_t r, bool lumped, double scale, sp_warped_sum *sum)
{
    const int64_t vertices = body->mesh->vertex_count;
    sp_pool scratch = {0};
    double *w = sp_pool_raw(&scratch, 3 * vertices, sizeof *w);
    int status = SP_OK;

    *sum = (sp_warped_sum){.r = r, .count = vertices, .X = body->mesh->vertices};
    sum->mass = sp_pool_new(&sum->pool, vertices, sizeof *sum->mass);
    sum->rows = sp_pool_new(&sum->pool, 6 * vertices * r, sizeof *sum->rows);

    if (scratch.failed || sum->pool.failed) {
        sp_warped_sum_free(sum);
        status = sp_fail_memory(context);
        goto done;
    }

    sp_fe_space_vertex_mass(body, lumped, sum->mass);
    for (int64_t v = 0; v < vertices; v++)
        sum->mass[v] *= scale;

    /* The displacement and the rotation of every vertex, for each mode */
    for (int64_t j = 0; j < r; j++) {
        set_rows(sum, U + 3 * vertices * j, 0, j);
        sp_modal_warp_rotations(warp, U + 3 * vertices * j, w);
        set_rows(sum, w, 3, j);
    }
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_warped_sum_free(sp_warped_sum *sum)
{
    sp_pool_free(&sum->pool);
    *sum = (sp_warped_sum){0};
}

/* f += the sum's term of one vertex. */
static void add_vertex(const sp_warped_sum *sum, sp_warped_force *force, const void *data, int64_t vertex,
                       const double *q, const double *qdot, double *f)
{
    const int64_t r = sum->r;
    const double *row = sum->rows + 6 * vertex * r;
    double at[6] = {0}, rate[6] = {0}, x[3], v[3], back[3], flat[3], bent[3], turned[3];

    /* u and w of the vertex by its rows, and their rates */
    for (int k = 0; k < 6; k++)
        for (int64_t j = 0; j < r; j++) {
            at[k] += row[k * r + j] * q[j];
            rate[k] += qdot ? row[k * r + j] * qdot[j] : 0;
        }

    /* The force on the linear displacement, which the model has already */
    for (int k = 0; k < 3; k++)
        x[k] = sum->X[3 * vertex + k] + at[k];
    force(data, vertex, x, rate, flat);

    /* The force on the warped place, seen in the rotated axes of the vertex */
    memcpy(x, at, sizeof x);
    memcpy(v, rate, sizeof v);
    sp_modal_warp_vertex(at + 3, rate + 3, x, v);
    for (int k = 0; k < 3; k++) {
        x[k] += sum->X[3 * vertex + k];
        back[k] = -at[3 + k];
    }
    force(data, vertex, x, v, bent);

    double turn[4], R[9];
    sp_quaternion_from_vector(back, turn);
    sp_quaternion_matrix(turn, R);
    sp_rotate(R, bent, turned);

    for (int k = 0; k < 3; k++) {
        const double change = sum->mass[vertex] * (turned[k] - flat[k]);
        for (int64_t j = 0; j < r; j++)
            f[j] += change * row[k * r + j];
    }
}

void sp_warped_sum_add(const sp_warped_sum *sum, sp_warped_force *force, const void *data, const double *q,
                       const double *qdot, double *f)
{
    for (int64_t p = 0; p < sum->count; p++)
        add_vertex(sum, force, data, p, q, qdot, f);
}
