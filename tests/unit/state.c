/* Saving and loading of states: round trips, and a motion that continues in new objects equals the uninterrupted one.
 */
#include "base/state.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "model/models.h"
#include "model/warp/warp.h"

typedef struct things {
    int64_t number;
    double x[3];
    sp_list list;
} things;

static void visit(things *t, sp_state *state)
{
    SP_STATE_VALUE(state, t->number);
    sp_state_reals(state, t->x, 3);
    sp_state_list(state, &t->list, sizeof(int32_t));
    sp_state_reals(state, NULL, 0);
}

TEST(in_and_out)
{
    things a = {.number = -7, .x = {1, NAN, 0.1}}, b = {0};
    int32_t *to = sp_list_add(&a.list, 3, sizeof *to);
    memcpy(to, (int32_t[]){5, -6, 7}, 3 * sizeof *to);
    sp_state saved = {0};
    visit(&a, &saved);
    visit(&a, &saved);
    CHECK(!saved.failed && a.number == -7 && a.list.count == 3, "saving");
    sp_state loaded = {.loading = true, .data = saved.data};
    CHECK(sp_list_add(&b.list, 9, sizeof(int32_t)) != NULL, "memory");
    visit(&b, &loaded);
    CHECK(!loaded.failed && loaded.at == saved.data.count / 2, "%lld of %lld bytes", (long long)loaded.at,
          (long long)saved.data.count);
    CHECK(b.number == -7 && memcmp(a.x, b.x, sizeof a.x) == 0 && b.list.count == 3 &&
              memcmp(a.list.data, b.list.data, 12) == 0,
          "other values");
    for (int64_t count = 0; count < saved.data.count / 2; count++) { /* truncated anywhere */
        loaded = (sp_state){.loading = true, .data = {.data = saved.data.data, .count = count}};
        visit(&b, &loaded);
        CHECK(loaded.failed && loaded.at <= count, "%lld bytes were enough", (long long)count);
    }
    double y[4];
    loaded = (sp_state){.loading = true, .data = saved.data};
    sp_state_reals(&loaded, y, 4); /* of another length */
    CHECK(loaded.failed, "four numbers out of one");
    sp_list_free(&a.list);
    sp_list_free(&b.list);
    sp_list_free(&saved.data);
}

/* ---- motions ---- */

enum { FULL, LINEAR, REUSED, LINEAR_REUSED, WARP, MODELS, STEPS = 12 };
static const char *const model_name[] = {"full", "linear", "full, reused", "linear, reused", "warp"};

static const sp_load loads[] = {
    {.start = 0, .end = 1, .kind = SP_LOAD_ALL, .id = -1, .force = {3, -40, 15}},
    {.start = 0.02, .end = 0.045, .kind = SP_LOAD_VERTEX, .id = 11, .force = {0, 30, 0}},
    {.start = 0.01,
     .end = 0.03,
     .kind = SP_LOAD_SPRING,
     .id = 11,
     .stiffness = 500,
     .moving = true,
     .force = {0.2, 0.1, 0.1},
     .anchor_end = {0.2, 0.1, 0.15}},
    {.start = 0.03, .end = 0.04, .kind = SP_LOAD_SPRING, .id = 10, .stiffness = 700, .force = {0.2, 0.1, 0.12}},
};

typedef struct motion {
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    sp_load_set loading;
    sp_external_loads forcing;
    sp_integrator *it;
    int model;
} motion;

/* iterations: of Newton's method; few cause sub-stepping, 0: enough */
static void make(int model, enum sp_integrator_kind kind, int iterations, motion *m)
{
    const sp_ground ground = {
        .normal = {0, 0, 1}, .offset = 0.01, .stiffness = 2000, .alpha = 0.1, .friction = kind == SP_BDF2 ? 0 : 0.3};
    const bool grounded = kind != SP_ENERGY && model != LINEAR;
    make_box(2, 1, 1, 0.1, 0.01, &m->mesh);
    m->mesh.materials[0].young = 2e4;
    m->model = model;
    fix_end(&m->mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    if (model == WARP) {
        CHECK_OK(sp_warp_system_new(&context, &m->body,
                                    &(sp_warp){.kind = SP_WARP_ELEMENT, .rotation = SP_ROTATION_POLAR}, 0, &m->system));
        CHECK_OK(sp_warp_system_grounds(&m->system, grounded, &ground));
    } else {
        CHECK_OK(
            sp_full_system_new(&context, &m->body, model == LINEAR || model == LINEAR_REUSED, false, NULL, &m->system));
        CHECK_OK(sp_full_system_grounds(&m->system, grounded, &ground));
        if (model == REUSED || model == LINEAR_REUSED)
            CHECK_OK(sp_full_system_solver(&m->system, SP_SOLVER_REUSED, 0));
    }
    CHECK_OK(sp_load_set_new(&context, &m->body, NULL, 0, 4, loads, (double[]){0, 0, -9.81}, &m->system, &m->loading));
    m->forcing = sp_load_set_external(&m->loading);
    const sp_integrator_parameters p = {.kind = kind,
                                        .step = kind == SP_CENTRAL ? 0.0005 : 0.005,
                                        .beta = kind == SP_LINEAR_EULER ? 1 : 0.25,
                                        .gamma = 0.5,
                                        .damping_mass = 0.5,
                                        .halvings = 12,
                                        .iterations = iterations};
    CHECK_OK(sp_integrator_new(&context, &m->system, &m->forcing, &p, NULL, NULL, &m->it));
}

static void unmake(motion *m)
{
    sp_integrator_free(m->it);
    sp_load_set_free(&m->loading);
    (m->model == WARP ? sp_warp_system_free : sp_full_system_free)(&m->system);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static void visit_motion(motion *m, sp_state *state)
{
    sp_load_set_visit(&m->loading, state);
    sp_integrator_visit(m->it, state);
}

/* The observable results of a motion: q, v, energies, counts. */
static void look(motion *m, sp_state *seen)
{
    double energy[SP_WORK_COUNT];
    sp_integrator_report report = *sp_integrator_reported(m->it);
    sp_integrator_energies(m->it, energy);
    sp_state_reals(seen, (double *)sp_integrator_q(m->it), m->system.n);
    sp_state_reals(seen, (double *)sp_integrator_v(m->it), m->system.n);
    SP_STATE_VALUE(seen, energy);
    SP_STATE_VALUE(seen, report);
}

/* Returns the number of steps that were taken in parts. */
static int64_t go_on(int model, enum sp_integrator_kind kind, int iterations)
{
    motion m;
    sp_state saved[STEPS + 1] = {{0}}, seen = {0};
    make(model, kind, iterations, &m);
    for (int k = 0; k <= STEPS; k++) {
        if (k > 0)
            CHECK_OK(sp_integrator_step(m.it));
        visit_motion(&m, &saved[k]);
    }
    look(&m, &seen);
    const int64_t parted = sp_integrator_reported(m.it)->parted;
    unmake(&m);
    for (int k = 0; k <= STEPS; k++) {
        sp_state state = {.loading = true, .data = saved[k].data}, again = {0};
        make(model, kind, iterations, &m);
        visit_motion(&m, &state);
        CHECK(!state.failed && state.at == state.data.count, "%s: the state after step %d was not all taken",
              model_name[model], k);
        for (int rest = k; rest < STEPS; rest++)
            CHECK_OK(sp_integrator_step(m.it));
        look(&m, &again);
        CHECK(again.data.count == seen.data.count &&
                  memcmp(again.data.data, seen.data.data, (size_t)seen.data.count) == 0,
              "%s, integrator %d, gone on with after step %d: another motion", model_name[model], (int)kind, k);
        unmake(&m);
        sp_list_free(&again.data);
        sp_list_free(&saved[k].data);
    }
    sp_list_free(&seen.data);
    return parted;
}

TEST(motions)
{
    for (int model = 0; model < MODELS; model++)
        for (int kind = SP_NEWMARK; kind <= SP_LINEAR_EULER; kind++) {
            if (model == WARP && (kind == SP_ENERGY || kind == SP_STATIC))
                continue;
            go_on(model, (enum sp_integrator_kind)kind, 0);
        }
}

TEST(in_parts)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_BDF2};
    for (int i = 0; i < 2; i++) {
        const int64_t parted = go_on(FULL, kinds[i], 3);
        CHECK(parted > 1 && parted < STEPS, "%lld of %d steps in parts", (long long)parted, STEPS);
    }
}
