#include "model/load_stiffness.h"

#include "assembly/batch.h"
#include "base/vec3.h"

#include <math.h>
#include <string.h>

double sp_load_static_share(const sp_load *load, double t, double step)
{
    /* A spring acts in a step if it acts in the middle of it, as in sp_load_set. */
    if (load->kind == SP_LOAD_SPRING)
        return load->start <= t - 0.5 * step && t - 0.5 * step < load->end;

    /* A constant load enters a step with the share of the step in which it acts, by its mean. */
    if (load->course.kind == SP_COURSE_CONSTANT)
        return fmax((fmin(t, load->end) - fmax(t - step, load->start)) / step, 0);

    /* Other loads enter with the value at the end of the step. */
    const bool acts = load->start < t && t <= load->end + 1e-9 * step; /* rounding of k h */
    return acts ? sp_course_at(&load->course, load->end - load->start, t - load->start) : 0;
}

static double *diagonal(const sp_sparse *K, int64_t row)
{
    int64_t k = K->start[row];
    while (K->index[k] < row)
        k++;
    return K->value + k;
}

static void add_spring(const sp_fe_space *body, const sp_load *load, double share, sp_sparse *K)
{
    for (int c = 0; c < 3; c++) {
        const int64_t row = body->dof[3 * load->id + c];
        if (row >= 0)
            *diagonal(K, row) += share * load->stiffness;
    }
}

/* The mass of the elements of a batch that turn, times A [9], in the blocks a ≤ c. */
static void turning_blocks(const sp_fe_space *body, const sp_batch *batch, int64_t region, const double A[9],
                           sp_lanes block[][9])
{
    memset(block, 0, (size_t)sp_packed(batch->nodes, batch->nodes, batch->nodes) * sizeof *block);
    for (int l = 0; l < batch->count; l++) {
        const int64_t element = batch->element[l];
        const double *mass = body->classes[body->element_class[element]].mass;
        if (region >= 0 && body->mesh->region[element] != region)
            continue;
        for (int a = 0, at = 0; a < batch->nodes; a++)
            for (int c = a; c < batch->nodes; c++, at++)
                for (int k = 0; k < 9; k++)
                    block[at][k][l] = mass[a * batch->nodes + c] * A[k];
    }
}

static void soften(const sp_context *context, const sp_fe_space *body, const sp_load *load, double share, sp_sparse *K)
{
    const double *omega = load->force, square = sp_dot3(omega, omega);
    double A[9];

    /* f = −M ω × (ω × u) = M A u with A = |ω|² I − ω ωᵀ, so that K −= share M A */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] = (i == j ? square : 0) - omega[i] * omega[j];

#pragma omp parallel num_threads(context->threads)
    {
        sp_lanes block[SP_ELEMENT_BLOCKS][9];
        SP_EACH_BATCH(body, b)
        {
            turning_blocks(body, &body->batches[b], load->id, A, block);
            sp_batch_add_blocks(body, &body->batches[b], -share, block, K->value);
        }
    }
}

void sp_load_add_stiffness(const sp_context *context, const sp_fe_space *body, const sp_load *load, double share,
                           sp_sparse *K)
{
    if (load->kind == SP_LOAD_SPRING)
        add_spring(body, load, share, K);
    else if (load->kind == SP_LOAD_ROTATION && share != 0)
        soften(context, body, load, share, K);
}
