#include "run/model_watches.h"

#include "assembly/elastic.h"
#include "model/models.h"

#include <math.h>

/* ---- estimates of a cubature ---- */

static int watch_estimate(void *self, int64_t number)
{
    sp_estimate_watch *w = self;
    double error[SP_NORMS];
    (void)number;

    sp_reduced_system_estimate(&w->body->model->system, sp_integrator_q(w->body->integrator), error);
    for (int norm = 0; norm < SP_NORMS; norm++) {
        w->recent[norm] = fmax(w->recent[norm], error[norm]);
        w->largest[norm] = fmax(w->largest[norm], error[norm]);
    }
    return SP_OK;
}

static void visit_estimate(void *self, sp_state *state)
{
    sp_estimate_watch *w = self;
    SP_STATE_VALUE(state, w->recent);
    SP_STATE_VALUE(state, w->largest);
}

sp_observer sp_estimate_watch_observer(sp_estimate_watch *watch)
{
    return (sp_observer){.self = watch, .step = watch_estimate, .visit = visit_estimate};
}

/* ---- rotations of bones ---- */

/* rad: a bone should turn by less in a step. A linear step moves the vertices of the bone along tangents of the
 * rotation by φ, which stretches the flesh around them by φ²/2. Measured with flesh of 0.01 to 100 kg/m3 and 10 kPa on
 * bones of 5 and 500 kg, and with vertices on a path instead of a bone: up to 0.2 the error in energy is that of this
 * strain, at 0.24 it is a thousand times as large. */
static const double MOST_TURN = 0.2;

static int watch_turn(void *self, int64_t number)
{
    sp_turn_watch *w = self;
    (void)number;
    w->turn = fmax(w->turn, w->body->step * sp_skeleton_spin(w->skeleton));
    return SP_OK;
}

static void visit_turn(void *self, sp_state *state)
{
    sp_turn_watch *w = self;
    SP_STATE_VALUE(state, w->turn);
}

static void judge_turn(void *self, sp_remarks *remarks)
{
    const sp_turn_watch *w = self;
    if (w->turn > MOST_TURN)
        sp_remarks_add(
            remarks,
            "a bone turned %.2g rad in a step: beyond %g the one linear solve of a step loses light flesh on "
            "it; take steps of %.2g s",
            w->turn, MOST_TURN, w->body->step * MOST_TURN / w->turn);
}

sp_observer sp_turn_watch_observer(sp_turn_watch *watch)
{
    return (sp_observer){.self = watch, .step = watch_turn, .visit = visit_turn, .warn = judge_turn};
}

/* ---- ghost forces ---- */

static int watch_ghosts(void *self, int64_t number)
{
    sp_ghost_watch *w = self;
    sp_system_report report;
    if (number == 0)
        return SP_OK;

    const int status = sp_model_report(w->body->model, sp_integrator_q(w->body->integrator), NULL, &report);
    if (status != SP_OK)
        return status;
    w->force = fmax(w->force, report.ghost_force);
    w->torque = fmax(w->torque, report.ghost_torque);
    return SP_OK;
}

static void visit_ghosts(void *self, sp_state *state)
{
    sp_ghost_watch *w = self;
    SP_STATE_VALUE(state, w->force);
    SP_STATE_VALUE(state, w->torque);
}

sp_observer sp_ghost_watch_observer(sp_ghost_watch *watch)
{
    return (sp_observer){.self = watch, .frame = watch_ghosts, .visit = visit_ghosts};
}

/* ---- softening ---- */

static void judge_softening(void *self, sp_remarks *remarks)
{
    const sp_run_body *body = self;
    const sp_mesh *mesh = body->mesh;
    sp_pool scratch = {0};
    int64_t first;
    if (body->model->kind != SP_MODEL_NONLINEAR)
        return;

    double *u = sp_pool_raw(&scratch, 3 * mesh->vertex_count, sizeof *u);
    if (!u) {
        sp_remarks_add(remarks, "no memory is left to look for elements whose law softens");
        return;
    }
    sp_model_at_vertices(body->model, sp_integrator_q(body->integrator), sp_integrator_prescribed(body->integrator),
                         mesh->vertex_count, NULL, u);

    const int64_t count = sp_elastic_softened(body->space, u, &first);
    if (count > 0)
        sp_remarks_add(
            remarks,
            "at the end %lld elements (element %lld first) are compressed to less than 58 %% of their length or "
            "inverted: the law %s softens there, and the result depends on the mesh; take another law, such as "
            "neo-hookean",
            (long long)count, (long long)first, sp_law_name(mesh->materials[mesh->region[first]].law));

    sp_pool_free(&scratch);
}

sp_observer sp_softening_observer(sp_run_body *body)
{
    return (sp_observer){.self = body, .warn = judge_softening};
}
