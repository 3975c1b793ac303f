/* Bodies of the public library: the springs and forces that act, for the integrator. */
#include "api/body_internal.h"

#include <math.h>
#include <string.h>

static void mean_force(void *data, double t0, double t1, double *f)
{
    const supple_body *body = data;
    body->now->loads.mean(body->now->loads.self, t0, t1, f);
    for (int64_t j = 0; j < body->r; j++)
        f[j] += body->vertex_force[j] + body->generalized_force[j];
}

/* The springs of the file that act in this interval, and those that were set. */
static bool act(void *data, double t0, double t1)
{
    supple_body *body = data;
    const sp_load_set *file = &body->now->model.loads;
    const sp_system *system = &body->now->model.system;
    const int64_t before = file->stiffened;
    const bool changed = body->now->loads.springs(body->now->loads.self, t0, t1);

    body->stiffened += (file->stiffened != before) + body->springs_changed;
    if (!changed && !body->springs_changed)
        return false;
    body->springs_changed = false;

    /* Springs of the file come before those that were set. */
    sp_spring *all = body->acting.data;
    if (file->acting_count > 0)
        memcpy(all, file->acting, (size_t)file->acting_count * sizeof *all);
    if (body->springs.count > 0)
        memcpy(all + file->acting_count, body->springs.data, (size_t)body->springs.count * sizeof *all);
    body->acting.count = file->acting_count + body->springs.count;
    system->set_springs(system->self, body->acting.count, all);
    return true;
}

void sp_body_forces_act(supple_body *body)
{
    for (int64_t j = 0; j < body->r; j++)
        body->acting_force[j] = body->vertex_force[j] + body->generalized_force[j];
}

void sp_body_connect(supple_body *body)
{
    body->external = (sp_external_loads){.self = body,
                                         .mean = mean_force,
                                         .springs = body->kind == SP_MODEL_MODAL ? NULL : act,
                                         .stiffened = &body->stiffened};
}

/* To the system, which keeps its evaluation if the array has not moved. */
static void tell(const supple_body *body, const void *before)
{
    const sp_system *system = &body->now->model.system;
    if (body->acting.data != before && body->acting.count > 0)
        system->set_springs(system->self, body->acting.count, body->acting.data);
}

int sp_body_reserve_springs(supple_body *body, int64_t count)
{
    const void *before = body->acting.data;
    if (!sp_list_reserve(&body->acting, count, sizeof(sp_spring)))
        return sp_source_fail(&body->source, SP_SYSTEM, NULL, "out of memory");
    if (body->now)
        tell(body, before);
    return SP_OK;
}

static supple_status check(const supple_body *body, int64_t number, const supple_spring *spring)
{
    if (spring->vertex < 0 || spring->vertex >= body->mesh.mesh.vertex_count)
        return sp_error(SUPPLE_USAGE, "supple_body_set_springs: spring %lld: vertex %lld of %lld", (long long)number,
                        (long long)spring->vertex, (long long)body->mesh.mesh.vertex_count);
    if (!sp_all_finite(3, spring->anchor) || !(spring->stiffness >= 0 && isfinite(spring->stiffness)))
        return sp_error(SUPPLE_USAGE,
                        "supple_body_set_springs: spring %lld: the anchor must be finite, and the stiffness finite and "
                        "not negative",
                        (long long)number);
    return SUPPLE_OK;
}

supple_status supple_body_set_springs(supple_body *body, int64_t count, const supple_spring *spring)
{
    SP_REQUIRE(body);
    SP_REQUIRE_COUNT(count, sizeof(sp_spring));
    if (count > 0)
        SP_REQUIRE(spring);
    if (count > 0 && body->kind == SP_MODEL_MODAL)
        return sp_error(SUPPLE_USAGE, "%s: springs would couple the modes of mode superposition", __func__);

    for (int64_t i = 0; i < count; i++) {
        const supple_status status = check(body, i, &spring[i]);
        if (status != SUPPLE_OK)
            return status;
    }

    if (!sp_list_reserve(&body->springs, count, sizeof(sp_spring)) ||
        sp_body_reserve_springs(body, count + body->now->model.loads.spring_count) != SP_OK)
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);

    sp_spring *to = body->springs.data;
    for (int64_t i = 0; i < count; i++)
        to[i] = (sp_spring){.vertex = spring[i].vertex,
                            .anchor = {spring[i].anchor[0], spring[i].anchor[1], spring[i].anchor[2]},
                            .stiffness = spring[i].stiffness};
    body->springs.count = count;
    body->springs_changed = true;
    return SUPPLE_OK;
}

static bool in_range(const supple_body *body, const sp_list *list)
{
    const sp_spring *spring = list->data;
    for (int64_t i = 0; i < list->count; i++)
        if (spring[i].vertex < 0 || spring[i].vertex >= body->mesh.mesh.vertex_count)
            return false;
    return true;
}

void sp_body_visit_springs(supple_body *body, sp_state *state)
{
    const sp_system *system = &body->now->model.system;
    SP_STATE_VALUE(state, body->springs_changed);
    SP_STATE_VALUE(state, body->stiffened);
    sp_state_list(state, &body->springs, sizeof(sp_spring));
    sp_state_list(state, &body->acting, sizeof(sp_spring));
    if (!state->loading)
        return;
    state->failed |= !in_range(body, &body->springs) || !in_range(body, &body->acting);
    if (state->failed)
        body->springs.count = body->acting.count = 0;
    state->failed |=
        !sp_list_reserve(&body->acting, body->springs.count + body->now->model.loads.spring_count, sizeof(sp_spring));
    system->set_springs(system->self, body->acting.count, body->acting.data);
}
