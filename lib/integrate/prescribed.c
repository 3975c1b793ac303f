/* Vertices with time-dependent Dirichlet conditions: those that the loads prescribe and those attached to a skeleton.
 */
#include "integrate/internal.h"

#include "assembly/fe_space.h"

#include <assert.h>
#include <string.h>

void sp_prescribed_allocate(sp_integrator *it)
{
    prescribed_vertices *p = &it->prescribed;
    if (!it->system->vertices.space || !(it->loads->prescribed || it->p.skeleton))
        return;

    assert(it->system->vertices.prescribe && it->system->vertices.prescribed_work &&
           it->system->vertices.prescribed_inertia);

    p->rows = 3 * it->system->vertices.space->mesh->vertex_count;
    double **vectors[] = {&p->u[0], &p->u[1], &p->v[0], &p->v[1], &p->u_between, &p->v_between, &p->du};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, p->rows, sizeof(double));
}

void sp_prescribed_place(sp_integrator *it, double t, int end)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;

    if (it->loads->prescribed)
        it->loads->prescribed(it->loads->self, t, p->u[end], p->v[end]);
    if (it->p.skeleton) /* the current state of the skeleton */
        sp_skeleton_place(it->p.skeleton, p->u[end], p->v[end]);
}

void sp_prescribe_end(sp_integrator *it, int end)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;
    assert(it->system->vertices.prescribe);
    it->system->vertices.prescribe(it->system->self, p->u[end], p->v[end]);
}

void sp_prescribe(sp_integrator *it, double s)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;

    /* At s = 1 the end itself, from which u₀ + (u₁ − u₀) may differ in the last bit */
    for (int64_t i = 0; i < p->rows; i++) {
        p->u_between[i] = s == 1 ? p->u[1][i] : p->u[0][i] + s * (p->u[1][i] - p->u[0][i]);
        p->v_between[i] = s == 1 ? p->v[1][i] : p->v[0][i] + s * (p->v[1][i] - p->v[0][i]);
    }

    assert(it->system->vertices.prescribe);
    it->system->vertices.prescribe(it->system->self, p->u_between, p->v_between);
}

void sp_prescribed_restore(sp_integrator *it)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;

    memcpy(p->u[1], p->u[0], (size_t)p->rows * sizeof *p->u[0]);
    memcpy(p->v[1], p->v[0], (size_t)p->rows * sizeof *p->v[0]);
    sp_prescribe_end(it, 0);
}

double sp_prescribed_half_work(sp_integrator *it, const double *q)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return 0;

    for (int64_t i = 0; i < p->rows; i++)
        p->du[i] = p->u[1][i] - p->u[0][i];

    assert(it->system->vertices.prescribed_work);
    return 0.5 * it->system->vertices.prescribed_work(it->system->self, q, p->du);
}
