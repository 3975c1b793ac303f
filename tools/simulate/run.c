#include "tools/simulate/run.h"

#include "run/energy_watch.h"
#include "run/model_watches.h"
#include "run/run.h"
#include "run/steps_watch.h"
#include "tools/simulate/certify.h"
#include "tools/simulate/correct.h"
#include "tools/simulate/frame.h"
#include "tools/simulate/keep.h"
#include "tools/simulate/reactions.h"
#include "tools/simulate/skin.h"
#include "tools/simulate/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A motion goes through one stage, and through one more for each cut; all stages but the last are recorded with the
 * vertices of the last. */
typedef struct run {
    sp_context *context;
    const simulate_choice *choice;
    sp_run course; /* its steps and observers */
    sp_pool pool;  /* of the stages */

    /* the motion */
    int64_t stage_count;
    simulation *stages; /* [stage_count] */
    int64_t *from;      /* [stage_count] the step before which each begins */
    int64_t now;        /* the stage */
    sp_integrator *integrator;
    sp_external_loads external_loads;
    int64_t solves, products, factorizations; /* of iterative solvers in the stages that are over */

    /* observers */
    sp_run_body body;      /* of the present stage, as they see it */
    sp_energy_rules rules; /* of the present stage */
    sp_energy_watch energy;
    sp_estimate_watch estimate;
    sp_turn_watch turn;
    sp_ghost_watch ghosts;
    simulate_certificate *certificate; /* NULL: none, as the following */
    sp_static_correction *correction;
    simulate_reactions *reactions;

    /* the record */
    double *external; /* conjac: forces of the last step */
    double *joints;   /* [2 bones] of a frame that is recorded again */
    sp_trajectory_writer *trajectory;
    simulate_keep *keep; /* NULL: no checkpoint */
} run;

/* ---- stages ---- */

/* Reads what the mesh is cut into, so that every stage knows the vertices of the last. */
static void read_cuts(run *r, const simulate_vertices_choice *c)
{
    for (int64_t i = 1; i < r->stage_count; i++) {
        simulation *before = &r->stages[i - 1], *s = &r->stages[i];
        int64_t *origin;
        const char *text = c->cuts.key[i - 1];
        double time;

        if (!vertices_parse_numbers(text, 1, &time) || time < 0)
            tool_fail(SP_USAGE, NULL, "--cut: \"%s\" is not a time in seconds", text);
        const double from = round(time / r->choice->step);
        if (!(from < (double)r->choice->steps))
            tool_fail(SP_USAGE, NULL, "--cut: %s s does not come before the end of the motion at %g s", text,
                      (double)r->choice->steps * r->choice->step);

        r->from[i] = (int64_t)from;
        if (r->from[i] < r->from[i - 1])
            tool_fail(SP_USAGE, NULL, "--cut: the cut at %s s comes after a later one", text);

        tool_read_cut(c->cuts.file[i - 1], "cut", &before->mesh, &s->mesh, &origin);
        s->before = before;
        s->origin = origin;
    }

    /* vertex_of, from the last stage backwards: a vertex of its mesh is a copy of one in each mesh before. */
    const simulation *last = &r->stages[r->stage_count - 1];
    const int64_t *later = NULL; /* of the last stage's vertices, in the stage after this */
    for (int64_t i = r->stage_count - 2; i >= 0; i--) {
        int64_t *vertex = tool_allocate(&r->stages[0].pool, last->mesh.mesh.vertex_count, sizeof *vertex);
        for (int64_t v = 0; v < last->mesh.mesh.vertex_count; v++)
            vertex[v] = r->stages[i + 1].origin[later ? later[v] : v];
        r->stages[i].vertex_of = later = vertex;
        r->stages[i].last = last;
    }
}

/* Everything about cuts and motions that can be refused before anything is computed. */
static void prepare(run *r, const simulate_vertices_choice *c)
{
    tool_read_mesh(tool_argument(0), NULL, &r->stages[0].mesh);
    read_cuts(r, c);
    for (int64_t i = 0; i < r->stage_count; i++)
        vertices_fix(&r->stages[i]);
}

/* Maps q or v of the previous stage to the vertices of this one. prescribed [3·vertices]: the values of fixed vertices,
 * from which copies that are not fixed start; NULL: 0. */
static double *map_to_copies(run *r, int64_t stage, const double *before, const double *prescribed)
{
    const simulation *from = &r->stages[stage - 1], *to = &r->stages[stage];
    const int64_t rows = 3 * to->mesh.mesh.vertex_count, old = 3 * from->mesh.mesh.vertex_count;
    double *full = tool_allocate(&r->stages[0].pool, old, sizeof *full),
           *copies = tool_allocate(&r->stages[0].pool, rows, sizeof *copies),
           *q = tool_allocate(&r->stages[0].pool, to->model.system.n, sizeof *q);

    if (prescribed)
        memcpy(full, prescribed, (size_t)old * sizeof *full);

    sp_fe_space_scatter(from->body, before, full);
    for (int64_t i = 0; i < rows; i++)
        copies[i] = full[3 * to->origin[i / 3] + i % 3];
    sp_fe_space_gather(to->body, copies, q);
    return q;
}

/* What the model of a stage says of itself, with the solves of the stages before. */
static sp_system_report report_model(const run *r, const simulation *s, const double *q, const double *external)
{
    sp_system_report report;
    tool_check(sp_model_report(&s->model, q, external, &report), s->mesh.path);
    report.linear_solves += r->solves;
    report.linear_products += r->products;
    report.factorizations += r->factorizations;
    return report;
}

/* Makes the stage and its integrator, which goes on from the one before. */
static void begin_stage(run *r, int64_t stage)
{
    simulation *s = &r->stages[stage];
    sp_integrator *before = r->integrator;

    simulation_read(s);
    frame_read(s, (double)s->choice->steps * s->choice->step);
    skin_read(s);
    simulation_make(s);

    r->body = simulation_body(s, NULL);
    r->rules = simulation_energy_rules(s);
    sp_integrator_parameters parameters = simulation_parameters(s);
    r->external_loads = s->skin ? skin_loads(s) : frame_loads(s);

    if (!stage) {
        tool_check(sp_integrator_new(r->context, &s->model.system, &r->external_loads, &parameters, s->vertices.start,
                                     NULL, &r->integrator),
                   s->mesh.path);
        r->body.integrator = r->integrator;
        return;
    }

    parameters.first_step = r->from[stage];
    const double *q = map_to_copies(r, stage, sp_integrator_q(before), sp_integrator_prescribed(before)),
                 *v = map_to_copies(r, stage, sp_integrator_v(before), sp_integrator_prescribed_velocity(before));
    tool_check(sp_integrator_new(r->context, &s->model.system, &r->external_loads, &parameters, q, v, &r->integrator),
               s->mesh.path);
    tool_check(sp_integrator_continue(r->integrator, before), s->mesh.path);
    sp_integrator_free(before);
    r->body.integrator = r->integrator;

    /* The counts of the stage that ends are added to those of the next. */
    simulation_choose_record(s);
    const sp_system_report report = report_model(r, &r->stages[stage - 1], NULL, NULL);
    r->solves = report.linear_solves;
    r->products = report.linear_products;
    r->factorizations = report.factorizations;
    simulation_end(&r->stages[stage - 1]);
}

/* Where a vertex of the last stage was in this one. */
static int64_t vertex_in(const simulation *s, int64_t vertex)
{
    return s->vertex_of ? s->vertex_of[vertex] : vertex;
}

/* The fixed components of each vertex, a mask of three bits. */
static uint8_t *fixed_axes_of(run *r, const sp_mesh *mesh)
{
    uint8_t *axes = tool_allocate(&r->stages[0].pool, mesh->vertex_count, sizeof *axes);
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        axes[mesh->fixed[i]] = mesh->fixed_axes[i];
    return axes;
}

/* The vertices whose motion options prescribe, and in how many frames. */
static void list_prescribed(run *r, sp_trajectory_layout *shape)
{
    const simulation *first = &r->stages[0], *last = &r->stages[r->stage_count - 1];
    const int64_t every = r->choice->every, frames = 1 + r->choice->steps / every + (r->choice->steps % every != 0),
                  count = last->mesh.mesh.vertex_count;
    const uint8_t *axes = fixed_axes_of(r, &first->mesh.mesh);
    sp_prescribed_record *prescribed = tool_allocate(&r->stages[0].pool, count, sizeof *prescribed);

    for (int64_t v = 0; v < count; v++) {
        const int64_t there = vertex_in(first, v), group = first->vertices.group[there];
        int64_t stage = 0;
        while (stage < r->stage_count &&
               r->stages[stage].vertices.group[vertex_in(&r->stages[stage], v)] != VERTEX_STILL)
            stage++;
        if (stage > 0) /* a frame at the time of the cut comes before it */
            prescribed[shape->prescribed_count++] = (sp_prescribed_record){
                v, axes[there], group, stage == r->stage_count ? frames : 1 + r->from[stage] / every};
    }

    shape->prescribed = prescribed;
}

/* ---- the motion ---- */

/* Stages that have begun before this step. */
static void reach_stage(void *data, int64_t number)
{
    run *r = data;
    while (r->now + 1 < r->stage_count && r->from[r->now + 1] < number)
        begin_stage(r, ++r->now);
}

static int take_step(void *data, int64_t number)
{
    run *r = data;
    reach_stage(r, number);
    simulation_check_step(&r->stages[r->now], sp_integrator_step(r->integrator));
    return SP_OK;
}

static void visit_motion(void *data, sp_state *state)
{
    run *r = data;
    sp_load_set_visit(&r->stages[r->now].model.loads, state);
    sp_integrator_visit(r->integrator, state);
    SP_STATE_VALUE(state, r->solves);
    SP_STATE_VALUE(state, r->products);
    SP_STATE_VALUE(state, r->factorizations);
}

/* ---- observers ---- */

/* J: the kinetic energy of the bones at the present time; 0 without any. */
static double energy_of_bones(const run *r)
{
    const sp_skeleton *bones = r->stages[r->now].vertices.skeleton;
    double kinetic = 0;
    if (bones)
        sp_skeleton_energies(bones, sp_integrator_time(r->integrator), &kinetic, NULL);
    return kinetic;
}

static int watch_energy(void *data, int64_t number)
{
    run *r = data;
    double energy[SP_WORK_COUNT];
    sp_integrator_energies(r->integrator, energy);
    if (number == 0)
        sp_energy_watch_begin(&r->energy, energy);
    else
        sp_energy_watch_add(&r->energy, &r->rules, energy, energy_of_bones(r), sp_integrator_time(r->integrator));
    return SP_OK;
}

static void visit_energy(void *data, sp_state *state)
{
    run *r = data;
    SP_STATE_VALUE(state, r->energy);
}

static void judge_energy(void *data, sp_remarks *remarks)
{
    const run *r = data;
    sp_energy_watch_judge(&r->energy, &r->rules, "--semi-implicit", remarks);
}

/* Records the present frame with the coordinates of the bones and the numbers of the other observers, and saves them
 * for the checkpoint. */
static int record(void *data, int64_t number)
{
    run *r = data;
    simulation *s = &r->stages[r->now];
    sp_skeleton *bones = s->vertices.skeleton;
    sp_state *kept = keep_recording(r->keep);
    const simulation_seen seen = {
        .correction = r->correction,
        .energy = r->energy.last,
        .estimate = r->estimate.recent,
        .residual = r->certificate ? r->certificate->watch.energy : NULL,
        .reaction = r->reactions ? sp_reactions_sums(r->reactions->reactions) : NULL,
    };
    (void)number;

    simulation_record(s, r->integrator, r->trajectory, &seen, kept);
    memset(r->estimate.recent, 0, sizeof r->estimate.recent);
    reactions_write_line(r->reactions, sp_integrator_time(r->integrator));

    if (!bones)
        return SP_OK;
    const double *coordinates = sp_skeleton_coordinates(bones), *rates = sp_skeleton_rates(bones);
    vertices_record_joints(s, sp_integrator_time(r->integrator), coordinates, rates);
    if (kept) {
        sp_state_reals(kept, (double *)coordinates, s->vertices.bones.bone_count);
        sp_state_reals(kept, (double *)rates, s->vertices.bones.bone_count);
    }
    return SP_OK;
}

/* The same from what was saved then; all stages record alike, and bones are of meshes that are not cut. */
static void record_again(void *data, sp_state *kept)
{
    run *r = data;
    simulation *s = &r->stages[0];
    const int64_t bones = s->vertices.bones.bone_count;
    double time;

    simulation_record_again(s, r->trajectory, kept, &time);
    if (!s->vertices.skeleton)
        return;

    if (!r->joints)
        r->joints = tool_allocate(&r->stages[0].pool, 2 * bones, sizeof *r->joints);
    sp_state_reals(kept, r->joints, bones);
    sp_state_reals(kept, r->joints + bones, bones);
    if (!kept->failed)
        vertices_record_joints(s, time, r->joints, r->joints + bones);
}

static void judge_steps(void *data, sp_remarks *remarks)
{
    const run *r = data;
    sp_steps_judge(sp_integrator_reported(r->integrator), remarks);
}

/* The checkpoint, when all others have seen the step. */
static int keep_and_report(void *data, int64_t number)
{
    run *r = data;
    keep_step(r->keep, number);
    tool_check(sp_progress(r->context, keep_fraction(r->keep, number, r->choice->steps)), r->stages[r->now].mesh.path);
    return SP_OK;
}

static void visit_course(void *data, int64_t done, sp_state *state)
{
    run *r = data;
    sp_run_visit(&r->course, done, state);
}

/* Observers are called in this order: `record` comes after all observers whose numbers a frame contains. */
static void watch(run *r)
{
    sp_skeleton *bones = r->stages[0].vertices.skeleton;
    r->course = (sp_run){
        .motion = {r, take_step, reach_stage, visit_motion}, .steps = r->choice->steps, .every = r->choice->every};
    r->estimate.body = r->turn.body = r->ghosts.body = &r->body;
    r->turn.skeleton = bones;

    if (r->stages[0].shape.estimates)
        sp_run_watch(&r->course, sp_estimate_watch_observer(&r->estimate));
    if (bones)
        sp_run_watch(&r->course, sp_turn_watch_observer(&r->turn));
    if (r->certificate)
        sp_run_watch(&r->course, sp_certificate_watch_observer(&r->certificate->watch));
    if (r->correction)
        sp_run_watch(&r->course, sp_static_correction_observer(r->correction));
    if (r->reactions)
        sp_run_watch(&r->course, sp_reactions_observer(r->reactions->reactions));
    sp_run_watch(&r->course,
                 (sp_observer){.self = r, .frame = watch_energy, .visit = visit_energy, .warn = judge_energy});
    sp_run_watch(&r->course, (sp_observer){.self = r, .frame = record});
    sp_run_watch(&r->course, sp_ghost_watch_observer(&r->ghosts));
    sp_run_watch(&r->course, (sp_observer){.self = r, .warn = judge_steps});
    sp_run_watch(&r->course, sp_softening_observer(&r->body));
    sp_run_watch(&r->course, (sp_observer){.self = r, .step = keep_and_report});
}

/* ---- the result ---- */

static void add_model_report(const run *r, const simulation *s, json_t *result)
{
    const sp_system_report report = report_model(r, s, sp_integrator_q(r->integrator), r->external);

    tool_facts(result, sp_kind_trajectory.result,
               {"linear_solves", .integer = report.linear_solves, .leave_out = !report.iterative},
               {"linear_products", .integer = report.linear_products, .leave_out = !report.iterative},
               {"factorizations", .integer = report.factorizations, .leave_out = !report.counts_factorizations},
               {"largest_ghost_force", .real = r->ghosts.force, .leave_out = !report.has_ghost},
               {"largest_ghost_torque", .real = r->ghosts.torque, .leave_out = !report.has_ghost},
               {"quasistatic_residual", .real = report.quasistatic_residual, .leave_out = !report.has_balance},
               {"dynamic_residual", .real = report.dynamic_residual, .leave_out = !report.has_balance});
}

static json_t *report_result(const run *r)
{
    const simulation *s = &r->stages[r->now];
    const sp_integrator_report *report = sp_integrator_reported(r->integrator);
    json_t *result = tool_result_new();

    const bool limited = report->stability_limit > 0 &&
                         isfinite(report->stability_limit), /* infinite where no degree of freedom is free */
        growing = r->choice->model == SP_MODEL_CUBATURE && s->model.system.nonconservative;

    keep_report(r->keep, result);
    tool_facts(result, sp_kind_trajectory.result, {"coordinates", .integer = s->model.system.n},
               {"steps", .integer = report->steps}, {"newton_iterations", .integer = report->newton_iterations},
               {"most_iterations_in_a_step", .integer = report->worst_iterations},
               {"worst_residual", .real = report->worst_residual}, {"stagnated_steps", .integer = report->stagnated},
               {"line_search_halvings", .integer = report->halvings},
               {"indefinite_matrices", .integer = report->indefinite}, {"steps_in_parts", .integer = report->parted},
               {"smallest_part", .real = report->smallest_part},
               {"stability_limit", .real = report->stability_limit, .none = !limited},
               {"energy_first", .count = SP_WORK_COUNT, .reals = r->energy.first},
               {"energy_last", .count = SP_WORK_COUNT, .reals = r->energy.last},
               {"energy_balance", .real = r->energy.balance, .none = r->choice->integrator == SP_STATIC},
               {"growth_at_rest", .real = s->model.growth, .leave_out = !growing});
    add_model_report(r, s, result);
    tool_facts(
        result, sp_kind_trajectory.result,
        {"largest_force_estimate", .real = r->estimate.largest[SP_NORM_FORCE], .leave_out = !s->shape.estimates},
        {"largest_energy_estimate", .real = r->estimate.largest[SP_NORM_ENERGY], .leave_out = !s->shape.estimates});
    certify_report(s, r->certificate, result);
    correct_report(r->correction, r->energy.largest, result);
    return result;
}

/* The dynamic vertices of a ConJac model in the numbers of the last mesh, a copy for each cut included. */
static json_t *dynamic_vertices(const simulation *first, const simulation *last)
{
    sp_pool pool = {0};
    bool *dynamic = tool_allocate(&pool, last->mesh.mesh.vertex_count, sizeof *dynamic);
    json_t *list = json_array();

    sp_conjac_system_mark(&first->model.system, dynamic);
    for (int64_t i = 0; i < last->vertices.dynamic_count; i++)
        dynamic[last->vertices.dynamic[i]] = true;

    for (int64_t v = 0; v < last->mesh.mesh.vertex_count; v++)
        if (dynamic[v])
            json_array_append_new(list, json_integer(v));

    sp_pool_free(&pool);
    return list;
}

static json_t *trajectory_meta(const run *r)
{
    const simulation *s = &r->stages[0], *last = &r->stages[r->stage_count - 1];
    json_t *meta = tool_meta_new("trajectory");
    const double damping[2] = {s->damping_mass, s->damping_stiffness};
    const bool conjac = r->choice->model == SP_MODEL_CONJAC;
    tool_facts(meta, sp_kind_trajectory.meta, {"mesh", .text = last->mesh.hash},
               {"basis", .text = s->basis.hash, .leave_out = !s->shape.r},
               {"load_end", .real = s->model.loads.end, .leave_out = !isfinite(s->model.loads.end)},
               {"damping", .count = 2, .reals = damping},
               {"stored", .text = "work", .leave_out = !s->model.system.nonconservative},
               {"dynamic", .json = conjac ? dynamic_vertices(s, last) : NULL, .leave_out = !conjac},
               {"warp", .boolean = true, .leave_out = !r->choice->warp});
    return meta;
}

static void say(const run *r)
{
    static const char *const integrators[] = {[SP_NEWMARK] = "Newmark",
                                              [SP_ENERGY] = "energy-conserving",
                                              [SP_CENTRAL] = "central differences",
                                              [SP_STATIC] = "static",
                                              [SP_EULER] = "implicit Euler",
                                              [SP_BDF2] = "BDF2",
                                              [SP_LINEAR_EULER] = "linearly implicit Euler",
                                              [SP_EXACT] = "exact"};
    const sp_integrator_report *report = sp_integrator_reported(r->integrator);
    const simulation *s = &r->stages[r->now];
    const double iterations = (double)report->newton_iterations / (double)report->steps;
    sp_remarks remarks = {0};
    sp_run_warn(&r->course, &remarks);
    tool_warn_remarks(s->mesh.path, &remarks);

    if (r->choice->integrator == SP_STATIC) /* work along a path of equilibria: no balance to keep */
        tool_say("static, %lld coordinates, %lld steps, %.2f Newton iterations a step", (long long)s->model.system.n,
                 (long long)report->steps, iterations);
    else if (r->choice->integrator == SP_LINEAR_EULER || r->choice->integrator == SP_EXACT)
        tool_say("%s, %lld coordinates, %lld steps, energy balance within %.1e", integrators[r->choice->integrator],
                 (long long)s->model.system.n, (long long)report->steps, r->energy.balance);
    else
        tool_say("%s, %lld coordinates, %lld steps, %.2f Newton iterations a step, energy balance within %.1e",
                 integrators[r->choice->integrator], (long long)s->model.system.n, (long long)report->steps, iterations,
                 r->energy.balance);
}

/* Returns true if all loads act from the start on, without end and without change. */
static bool loads_constant(const simulation *s)
{
    bool constant = !s->choice->activation && !s->choice->frame && !s->choice->skin &&
                    s->vertices.moves.rigid_count + s->vertices.moves.vertex_count == 0;
    for (int64_t i = 0; i < s->load_count; i++)
        constant &= s->loads[i].start == 0 && isinf(s->loads[i].end) && !s->loads[i].moving &&
                    s->loads[i].course.kind == SP_COURSE_CONSTANT;
    return constant;
}

/* ---- all of it ---- */

/* The stages of the motion, with the files that options of vertices name. */
static void open_stages(run *r, const simulate_vertices_choice *vertices)
{
    r->stage_count = vertices->cuts.count + 1;
    r->stages = sp_pool_new(&r->pool, r->stage_count, sizeof *r->stages);
    r->from = sp_pool_new(&r->pool, r->stage_count, sizeof *r->from);
    if (r->pool.failed)
        tool_out_of_memory();

    for (int64_t i = 0; i < r->stage_count; i++)
        r->stages[i] = (simulation){.choice = r->choice, .context = r->context, .vertices.choice = vertices};
    prepare(r, vertices);
}

/* Makes the first stage, and determines what is recorded of all. The choice receives the steps of statics under
 * constant loads. */
static void begin_motion(run *r, simulate_choice *choice)
{
    simulation *first = &r->stages[0];

    begin_stage(r, 0);
    if (choice->integrator == SP_STATIC && !choice->steps_given && r->stage_count == 1 && loads_constant(first))
        choice->steps = 1; /* all steps would have the same equilibrium */
    for (int64_t i = 1; i < r->stage_count; i++)
        vertices_check_cut(&r->stages[i]);

    r->certificate = certify_begin(first, &r->body);
    r->correction = correct_begin(first, &r->body);
    simulation_choose_record(first);
    r->reactions = reactions_begin(first, &r->body);
    list_prescribed(r, &first->shape);

    /* exp(growth · duration) is the factor by which small motions grow. */
    if (first->model.growth * choice->step * (double)choice->steps > 1 && choice->integrator != SP_STATIC)
        tool_warn(choice->cubature,
                  "modal cubature forces are not conservative: without damping small motions grow by the factor e in "
                  "%.3g s",
                  1 / first->model.growth);
}

/* Takes the steps that a checkpoint does not have; returns the number of the last one. */
static int64_t take_steps(run *r)
{
    const simulate_choice *c = r->choice;

    watch(r);
    tool_check(sp_run_begin(&r->course), NULL);

    r->keep =
        keep_open(c->checkpoint, c->partial, &(simulate_kept_run){r, c->steps, "steps", visit_course, record_again});
    keep_resume(r->keep);
    const int64_t end = keep_end(r->keep, c->steps);
    tool_check(sp_run_to(&r->course, end), r->stages[0].mesh.path);
    return end;
}

/* The mean external forces in the last step, for the balance that a ConJac model reports. */
static void find_last_forces(run *r, int64_t end)
{
    const double step = r->choice->step;
    if (r->choice->model != SP_MODEL_CONJAC)
        return;
    r->external = tool_allocate(&r->stages[0].pool, r->stages[r->now].model.system.n, sizeof *r->external);
    r->external_loads.mean(r->external_loads.self, (double)(end - 1) * step, (double)end * step, r->external);
}

static void write_results(run *r, tool_output *output)
{
    simulation *first = &r->stages[0];

    tool_check(sp_trajectory_finish(r->trajectory), tool_output_path());
    json_t *result = report_result(r);
    reactions_write(r->reactions, result); /* of a mesh that is not cut */
    vertices_write_joints(first);          /* bones are too */
    tool_output_finish(output, result);
    keep_finish(r->keep);
}

static void free_run(run *r)
{
    simulation *first = &r->stages[0];

    sp_integrator_free(r->integrator);
    certify_free(r->certificate);
    sp_static_correction_free(r->correction);
    reactions_free(r->reactions);
    warp_free(first);
    skin_free(first);
    frame_free(first);                                /* what has one of these three is not cut */
    for (int64_t i = r->stage_count - 1; i >= 0; i--) /* each has files of the one before */
        simulation_free(&r->stages[i]);
    sp_pool_free(&r->pool);
}

bool simulate_mesh(sp_context *context, const simulate_choice *chosen, const simulate_vertices_choice *options)
{
    static const simulate_vertices_choice none = {0};
    simulate_choice choice = *chosen;
    run r = {.context = context, .choice = &choice};

    open_stages(&r, options ? options : &none);
    tool_output *output = tool_output_open(tool_output_path());
    begin_motion(&r, &choice);

    json_t *meta = trajectory_meta(&r);
    tool_check(sp_trajectory_begin(context, tool_output_writer(output), meta, &r.stages[0].shape, &r.trajectory),
               tool_output_path());
    find_last_forces(&r, take_steps(&r));

    say(&r);
    const bool within = certify_say(&r.stages[r.now], r.certificate);
    write_results(&r, output);

    json_decref(meta);
    free_run(&r);
    return within;
}
