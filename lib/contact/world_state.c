/* What a world takes from one step to the next. Places where contacts are found, their forces and who is near are found
 * anew in each. */
#include "contact/world_internal.h"

static void visit_actor(actor *a, sp_state *state)
{
    SP_STATE_VALUE(state, a->pose);
    SP_STATE_VALUE(state, a->twist);
    SP_STATE_VALUE(state, a->wrench);
    if (a->body->free)
        sp_free_body_visit(a->body->free, state);
    if (a->integrator)
        sp_integrator_visit(a->integrator, state);
}

void sp_world_visit(sp_world *world, sp_state *state)
{
    SP_STATE_VALUE(state, world->steps);
    SP_STATE_VALUE(state, world->hand);
    SP_STATE_VALUE(state, world->hand_twist);
    SP_STATE_VALUE(state, world->coupling);
    SP_STATE_VALUE(state, world->device);
    SP_STATE_VALUE(state, world->motion);
    SP_STATE_VALUE(state, world->report.stiffest);
    for (int64_t i = 0; i < world->body_count; i++)
        visit_actor(&world->actors[i], state);
    sp_world_pairs_visit(world, state);
}
