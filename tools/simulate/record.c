#include "model/models.h"
#include "run/certificate_watch.h"
#include "tools/common/places.h"
#include "tools/simulate/correct.h"
#include "tools/simulate/frame.h"
#include "tools/simulate/warp.h"

#include <math.h>
#include <string.h>

/* The vertices of this mesh whose values are recorded: the recorded ones of the last mesh were these before the cuts.
 */
static void list_points(simulation *s)
{
    s->point = s->shape.vertex;
    if (!s->vertex_of)
        return;
    int64_t *point = tool_allocate(&s->pool, s->shape.point_count, sizeof *point);
    for (int64_t p = 0; p < s->shape.point_count; p++)
        point[p] = s->vertex_of[s->shape.vertex ? s->shape.vertex[p] : p];
    s->point = point;
}

void simulation_choose_record(simulation *s)
{
    bool reduced = simulate_in_basis(s->choice);
    const enum simulate_record record = (enum simulate_record)s->choice->record;

    if (record == RECORD_PROBES && !s->choice->probes)
        tool_fail(SP_USAGE, NULL, "--record probes needs --probe");

    const sp_mesh *mesh = s->last ? &s->last->mesh.mesh : &s->mesh.mesh; /* the mesh of the recorded quantities */
    s->shape.vertex_count = mesh->vertex_count;
    s->shape.estimates = s->cubature.nested != NULL;
    s->shape.residuals = s->choice->certificate != NULL;
    s->shape.frame = s->choice->frame != NULL;
    s->shape.r = record == RECORD_COORDINATES || (record == RECORD_ALL && reduced) ? s->r : 0;

    if (record == RECORD_ALL)
        s->shape.point_count = mesh->vertex_count;
    else if (s->choice->probes)
        s->shape.point_count = tool_places_vertices(&(tool_place_names){.context = s->context,
                                                                        .option = "probe",
                                                                        .vertex_count = mesh->vertex_count,
                                                                        .mesh = mesh,
                                                                        .mesh_path = s->mesh.path},
                                                    s->choice->probes, &s->pool, &s->shape.vertex);

    list_points(s);
    s->u = tool_allocate(&s->pool, 3 * mesh->vertex_count, sizeof(double));
    s->udot = tool_allocate(&s->pool, 3 * mesh->vertex_count, sizeof(double));
}

/* Values at the recorded vertices: where these were in this mesh. */
static void fill_points(simulation *s, const double *q, const double *prescribed, double *to)
{
    sp_model_at_vertices(&s->model, q, prescribed, s->shape.point_count, s->point, to);
}

/* The values of a frame, all of them in memory of the simulation or the integrator. */
static void visit_frame(const sp_trajectory_layout *shape, sp_frame *frame, sp_state *state)
{
    SP_STATE_VALUE(state, frame->time);
    sp_state_reals(state, (double *)frame->q, shape->r);
    sp_state_reals(state, (double *)frame->qdot, shape->r);
    sp_state_reals(state, (double *)frame->u, 3 * shape->point_count);
    sp_state_reals(state, (double *)frame->udot, 3 * shape->point_count);
    SP_STATE_VALUE(state, frame->energy);
    SP_STATE_VALUE(state, frame->estimate);
    SP_STATE_VALUE(state, frame->residual);
    sp_state_reals(state, (double *)frame->reaction, 6 * shape->reaction_count);
}

void simulation_record_again(simulation *s, sp_trajectory_writer *trajectory, sp_state *kept, double *time)
{
    if (!s->kept_q)
        s->kept_q = tool_allocate(&s->pool, 2 * s->shape.r + 6 * s->shape.reaction_count, sizeof *s->kept_q);
    sp_frame frame = {.q = s->kept_q,
                      .qdot = s->kept_q + s->shape.r,
                      .u = s->u,
                      .udot = s->udot,
                      .reaction = s->kept_q + 2 * s->shape.r};
    double pose[7], twist[6];

    visit_frame(&s->shape, &frame, kept);
    *time = frame.time;
    frame_pose(s, frame.time, pose, twist);
    frame.pose = pose;
    frame.twist = twist;

    if (!kept->failed)
        tool_check(sp_trajectory_append(trajectory, &frame), tool_output_path());
}

/* The displacements of recorded vertices, corrected if they are to be. */
static void fill_displacements(simulation *s, const sp_integrator *integrator, sp_static_correction *correction)
{
    if (!correction) {
        fill_points(s, sp_integrator_q(integrator), sp_integrator_prescribed(integrator), s->u);
        return;
    }

    /* The correction needs the displacements of all vertices, of which only the recorded ones stay. */
    sp_model_at_vertices(&s->model, sp_integrator_q(integrator), NULL, s->mesh.mesh.vertex_count, NULL, s->u);
    correct_displacements(s, correction, s->u);

    if (!s->point)
        return;

    double *points = tool_allocate_raw(&s->pool, 3 * s->shape.point_count, sizeof *points);
    for (int64_t p = 0; p < s->shape.point_count; p++)
        memcpy(points + 3 * p, s->u + 3 * s->point[p], 3 * sizeof *points);
    memcpy(s->u, points, (size_t)(3 * s->shape.point_count) * sizeof *points);
    sp_pool_drop(&s->pool, points);
}

void simulation_record(simulation *s, sp_integrator *integrator, sp_trajectory_writer *trajectory,
                       const simulation_seen *seen, sp_state *kept)
{
    double pose[7], twist[6];
    sp_frame frame = {.time = sp_integrator_time(integrator), .u = s->u, .udot = s->udot, .pose = pose, .twist = twist};

    frame_pose(s, frame.time, pose, twist);
    if (s->warp)
        warp_points(s, sp_integrator_q(integrator), sp_integrator_v(integrator));
    else {
        fill_displacements(s, integrator, seen->correction);
        fill_points(s, sp_integrator_v(integrator), sp_integrator_prescribed_velocity(integrator), s->udot);
    }

    frame.q = sp_integrator_q(integrator);
    frame.qdot = sp_integrator_v(integrator);
    frame.reaction = seen->reaction;
    memcpy(frame.energy, seen->energy, sizeof frame.energy);
    memcpy(frame.estimate, seen->estimate, sizeof frame.estimate);
    if (seen->residual)
        memcpy(frame.residual, seen->residual, sizeof frame.residual);

    if (kept)
        visit_frame(&s->shape, &frame, kept);
    tool_check(sp_trajectory_append(trajectory, &frame), tool_output_path());
}
