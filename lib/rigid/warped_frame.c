#include "rigid/warped_frame.h"

#include "base/vec3.h"

#include <string.h>

/* Copies a field [3·vertices] to row entries j of U (offset 0) or of its rotations (offset 3). */
static void set_rows(sp_warped_frame *warped, const double *field, int offset, int64_t j)
{
    for (int64_t v = 0; v < warped->count; v++)
        for (int k = 0; k < 3; k++)
            warped->rows[(6 * v + offset + k) * warped->r + j] = field[3 * v + k];
}

int sp_warped_frame_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                        bool lumped, double scale, sp_moving_frame *frame, sp_warped_frame *warped)
{
    const int64_t vertices = body->mesh->vertex_count, r = frame->r;
    sp_pool scratch = {0};
    double *w = sp_pool_raw(&scratch, 3 * vertices, sizeof *w);
    int status = SP_OK;

    *warped = (sp_warped_frame){
        .r = r, .count = vertices, .frame = frame, .X = body->mesh->vertices, .inner = sp_moving_frame_loads(frame)};
    warped->mass = sp_pool_new(&warped->pool, vertices, sizeof *warped->mass);
    warped->rows = sp_pool_new(&warped->pool, 6 * vertices * r, sizeof *warped->rows);

    if (scratch.failed || warped->pool.failed) {
        sp_warped_frame_free(warped);
        status = sp_fail_memory(context);
        goto done;
    }

    sp_fe_space_vertex_mass(body, lumped, warped->mass);
    for (int64_t v = 0; v < vertices; v++)
        warped->mass[v] *= scale;

    /* The displacement and the rotation of every vertex, for each mode */
    for (int64_t j = 0; j < r; j++) {
        set_rows(warped, U + 3 * vertices * j, 0, j);
        sp_modal_warp_rotations(warp, U + 3 * vertices * j, w);
        set_rows(warped, w, 3, j);
    }
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_warped_frame_free(sp_warped_frame *warped)
{
    sp_pool_free(&warped->pool);
    *warped = (sp_warped_frame){0};
}

/* ---- the loads ---- */

/* g(x, v) of a unit mass. */
static void inertial(const sp_frame_motion *motion, const double x[3], const double v[3], double g[3])
{
    for (int k = 0; k < 3; k++)
        g[k] = -(motion->a[k] + sp_dot3(motion->B + 3 * k, x) + 2 * sp_dot3(motion->W + 3 * k, v));
}

/* f += the sum's term of one vertex. */
static void add_vertex(const sp_warped_frame *warped, const sp_frame_motion *motion, int64_t vertex, const double *q,
                       const double *qdot, double *f)
{
    const int64_t r = warped->r;
    const double *row = warped->rows + 6 * vertex * r;
    double at[6] = {0}, rate[6] = {0}, x[3], v[3], back[3], flat[3], bent[3], turned[3];

    /* u and w of the vertex by its rows, and their rates */
    for (int k = 0; k < 6; k++)
        for (int64_t j = 0; j < r; j++) {
            at[k] += row[k * r + j] * q[j];
            rate[k] += qdot ? row[k * r + j] * qdot[j] : 0;
        }

    /* The force in the axes of the frame on the linear displacement, which the inner loads have already */
    for (int k = 0; k < 3; k++)
        x[k] = warped->X[3 * vertex + k] + at[k];
    inertial(motion, x, rate, flat);

    /* The force on the warped place, seen in the rotated axes of the vertex */
    memcpy(x, at, sizeof x);
    memcpy(v, rate, sizeof v);
    sp_modal_warp_vertex(at + 3, rate + 3, x, v);
    for (int k = 0; k < 3; k++) {
        x[k] += warped->X[3 * vertex + k];
        back[k] = -at[3 + k];
    }
    inertial(motion, x, v, bent);

    double turn[4], R[9];
    sp_quaternion_from_vector(back, turn);
    sp_quaternion_matrix(turn, R);
    sp_rotate(R, bent, turned);

    for (int k = 0; k < 3; k++) {
        const double change = warped->mass[vertex] * (turned[k] - flat[k]);
        for (int64_t j = 0; j < r; j++)
            f[j] += change * row[k * r + j];
    }
}

static void mean(void *self, double t0, double t1, double *f)
{
    const sp_warped_frame *warped = self;
    warped->inner.mean(warped->inner.self, t0, t1, f);
}

static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    const sp_warped_frame *warped = self;
    sp_frame_motion motion;
    memset(f, 0, (size_t)warped->r * sizeof *f);
    if (warped->inner.follow)
        warped->inner.follow(warped->inner.self, t0, t1, q, v, f);

    const sp_moving_frame *frame = warped->frame;
    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);
    for (int64_t p = 0; p < warped->count; p++)
        add_vertex(warped, &motion, p, q, v, f);
}

static bool springs(void *self, double t0, double t1)
{
    const sp_warped_frame *warped = self;
    return warped->inner.springs(warped->inner.self, t0, t1);
}

sp_external_loads sp_warped_frame_loads(sp_warped_frame *warped)
{
    return (sp_external_loads){.self = warped,
                               .mean = mean,
                               .follow = follow,
                               .springs = warped->inner.springs ? springs : NULL,
                               .stiffened = warped->inner.stiffened};
}
