/* The state of a contact scene that is kept from one step to the next. Predicted states, forces and near pairs are
 * recomputed in each step. */
#include "scene/internal.h"

static void visit_body(contact_body *a, sp_state *state)
{
    SP_STATE_VALUE(state, a->pose);
    SP_STATE_VALUE(state, a->was);
    SP_STATE_VALUE(state, a->twist);
    SP_STATE_VALUE(state, a->wrench);
    if (a->body->free)
        sp_free_body_visit(a->body->free, state);
    if (a->integrator) {
        sp_state_reals(state, a->last_Q, a->body->r);
        sp_state_reals(state, a->last_v, a->body->r);
        sp_integrator_visit(a->integrator, state);
    }
}

void sp_contact_scene_visit(sp_contact_scene *scene, sp_state *state)
{
    SP_STATE_VALUE(state, scene->steps);
    SP_STATE_VALUE(state, scene->hand);
    SP_STATE_VALUE(state, scene->hand_twist);
    SP_STATE_VALUE(state, scene->coupling);
    SP_STATE_VALUE(state, scene->device);
    SP_STATE_VALUE(state, scene->motion);
    SP_STATE_VALUE(state, scene->search);
    SP_STATE_VALUE(state, scene->report.stiffest);
    for (int64_t i = 0; i < scene->body_count; i++)
        visit_body(&scene->contact_bodies[i], state);
    if (scene->p.joined.joined)
        sp_joined_visit(scene->p.joined.joined, state);
    sp_contact_scene_pairs_visit(scene, state);
}
