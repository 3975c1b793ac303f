#include "tools/validate/errors.h"

#include <math.h>
#include <string.h>

enum { DU, DV, U, V, COUNT };

int sp_trajectory_error_sums_new(sp_context *context, const sp_sparse *mass, const int64_t *vertex,
                                 sp_trajectory_error_sums *sums)
{
    *sums = (sp_trajectory_error_sums){.context = context, .mass = mass, .vertex = vertex};
    sums->work = sp_pool_new(&sums->pool, mass->order, 2 * COUNT * sizeof *sums->work);
    return sums->work ? SP_OK : sp_fail_memory(context);
}

void sp_trajectory_error_sums_free(sp_trajectory_error_sums *sums)
{
    sp_pool_free(&sums->pool);
    *sums = (sp_trajectory_error_sums){0};
}

/* The largest length of the displacement of a vertex. */
static double largest(int64_t n, const int64_t *vertex, const double *u)
{
    double most = 0;
    for (int64_t i = 0, j; i < n; i = j) {
        double square = 0;
        for (j = i; j < n && vertex[j] == vertex[i]; j++)
            square += u[j] * u[j];
        most = fmax(most, square);
    }
    return sqrt(most);
}

void sp_trajectory_error_sums_add(sp_trajectory_error_sums *sums, const sp_scene_trajectory_frame *reference,
                                  const sp_scene_trajectory_frame *frame)
{
    int64_t n = sums->mass->order;
    double *x = sums->work, *y = x + COUNT * n, density[COUNT], elapsed = frame->time - sums->time;

    for (int64_t i = 0; i < n; i++) {
        x[DU * n + i] = frame->u[i] - reference->u[i];
        x[DV * n + i] = frame->v[i] - reference->v[i];
    }
    memcpy(x + U * n, reference->u, (size_t)n * sizeof *x);
    memcpy(x + V * n, reference->v, (size_t)n * sizeof *x);

    sp_sparse_times(sums->context, sums->mass, COUNT, x, y);

    /* Squares of norms in the mass, ∫ ‖·‖²_M dt by the trapezoidal rule. */
    for (int k = 0; k < COUNT; k++) {
        density[k] = 0;
        for (int64_t i = 0; i < n; i++)
            density[k] += x[k * n + i] * y[k * n + i];
        if (sums->frames > 0)
            sums->integral[k] += 0.5 * elapsed * (sums->density[k] + density[k]);
    }

    memcpy(sums->density, density, sizeof density);
    sums->time = frame->time;
    sums->frames++;

    sums->largest[0] = fmax(sums->largest[0], largest(n, sums->vertex, x + DU * n));
    sums->largest[1] = fmax(sums->largest[1], largest(n, sums->vertex, x + U * n));
    sums->energy[0] = fmax(sums->energy[0], fabs(frame->energy - reference->energy));
    sums->energy[1] = fmax(sums->energy[1], fabs(reference->energy));
}

static double ratio(double difference, double reference)
{
    return difference == 0 ? 0 : difference / reference;
}

void sp_trajectory_error_sums_errors(const sp_trajectory_error_sums *sums, sp_trajectory_errors *errors)
{
    errors->position = sqrt(ratio(sums->integral[DU], sums->integral[U]));
    errors->velocity = sqrt(ratio(sums->integral[DV], sums->integral[V]));
    errors->largest = ratio(sums->largest[0], sums->largest[1]);
    errors->energy = ratio(sums->energy[0], sums->energy[1]);
}
