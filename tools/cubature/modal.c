#include "cubature/incremental.h"
#include "tools/cubature/problem.h"

enum { USUAL_ELEMENTS = 100, FIRST_ELEMENTS = 8 };

static void fit(cubature_problem *p, const sp_modal_points *points, sp_cubature *cubature, sp_modal_report *report)
{
    sp_training *training;
    sp_modal *modal;
    sp_training_measure measure = cubature_measure(p);
    tool_check(
        sp_training_new(p->context, &p->body, p->basis.columns.U, &measure, &p->poses, p->choice->memory, &training),
        cubature_pose_files(p));
    tool_check(sp_modal_new(p->context, points, p->r, &modal), NULL);
    tool_check(sp_modal_add(modal, training), NULL);
    sp_training_free(training);
    tool_check(sp_modal_solve(modal, p->choice->nested, cubature, report), NULL);
    sp_modal_free(modal);
}

static void place(cubature_problem *p, int64_t asked, sp_modal_points *points)
{
    tool_check(sp_modal_points_new(p->context, &p->body, asked, points), p->mesh.path);
}

/* As many elements as are asked for; with a tolerance a quarter more each time, until it is met. Returns whether it is.
 */
static bool fit_given_poses(cubature_problem *p, sp_modal_points *points, sp_cubature *cubature,
                            sp_modal_report *report)
{
    const cubature_choice *choice = p->choice;
    int64_t most = choice->elements          ? choice->elements
                   : choice->tolerance_given ? sp_mesh_element_count(&p->mesh.mesh)
                                             : USUAL_ELEMENTS;
    int64_t asked = choice->tolerance_given && FIRST_ELEMENTS < most ? FIRST_ELEMENTS : most;
    for (;;) {
        place(p, asked, points);
        fit(p, points, cubature, report);
        bool met = !choice->tolerance_given || report->error <= choice->tolerance;
        if (met || asked >= most || points->edge == 0)
            return met;
        sp_cubature_free(cubature);
        sp_modal_points_free(points);
        asked = asked + asked / 4 < most ? asked + asked / 4 : most;
    }
}

static int add_samples(void *data, int64_t count, const double *centre, const double *deviation)
{
    cubature_add_samples(data, count, centre, deviation);
    return SP_OK;
}

static void fit_incrementally(cubature_problem *p, sp_modal_points *points, sp_cubature *cubature,
                              sp_modal_report *fitted, json_t *result)
{
    const cubature_choice *choice = p->choice;
    sp_incremental_report report;
    sp_training_measure measure = cubature_measure(p);
    sp_training *held_out = NULL;

    place(p, choice->elements ? choice->elements : USUAL_ELEMENTS, points);
    if (p->held_out.count)
        tool_check(sp_training_new(p->context, &p->body, p->basis.columns.U, &measure, &p->held_out, choice->memory,
                                   &held_out),
                   cubature_pose_files(p));

    sp_incremental_parameters parameters = {.change = choice->change,
                                            .most = choice->rounds,
                                            .adjust = !choice->no_adjustment,
                                            .absolute = choice->worst == WORST_ABSOLUTE,
                                            .nested = choice->nested,
                                            .deviation = p->deviation,
                                            .add = add_samples,
                                            .data = p,
                                            .measure = &measure,
                                            .held_out = held_out,
                                            .memory = choice->memory};

    tool_check(sp_incremental_train(p->context, &p->body, p->basis.columns.U, points, &parameters, &p->poses, cubature,
                                    &report),
               NULL);

    const sp_incremental_round *round = report.rounds.data;
    json_t *poses = json_array(), *errors = json_array(), *means = json_array(), *judged = json_array(),
           *deviations = json_array();
    for (int64_t k = 0; k < report.rounds.count; k++) {
        json_array_append_new(poses, json_integer(round[k].poses));
        json_array_append_new(errors, tool_real("round_errors", round[k].error));
        json_array_append_new(means, tool_real("round_mean_errors", round[k].mean_error));
        json_array_append_new(judged,
                              held_out ? tool_real("round_held_out_errors", round[k].held_out_error) : json_null());
        json_array_append_new(deviations, held_out ? tool_real("round_held_out_deviations", round[k].held_out_deviation)
                                                   : json_null());
    }

    sp_training_free(held_out);
    json_object_set_new(result, "rounds", json_integer(report.rounds.count));
    json_object_set_new(result, "round_poses", poses);
    json_object_set_new(result, "round_errors", errors);
    json_object_set_new(result, "round_mean_errors", means);
    json_object_set_new(result, "round_held_out_errors", judged);
    json_object_set_new(result, "round_held_out_deviations", deviations);
    json_object_set_new(result, "settled", json_boolean(report.settled));

    if (p->shrunk)
        tool_warn(NULL,
                  "%lld of %lld random poses inverted an element and were halved until they did not: "
                  "--amplitude is high for this material",
                  (long long)p->shrunk, (long long)p->poses.count);

    if (!report.settled)
        tool_warn(NULL, "the error still changes by more than %.3g after %lld rounds", choice->change,
                  (long long)report.rounds.count);
    else
        tool_say("%lld poses in %lld rounds: the error changes by less than %.3g", (long long)p->poses.count,
                 (long long)report.rounds.count, choice->change);

    *fitted = report.fit;
    sp_list_free(&report.rounds);
}

void cubature_modal(cubature_problem *p, sp_cubature *cubature, json_t *result)
{
    const cubature_choice *choice = p->choice;
    sp_modal_points points;
    sp_modal_report report;
    bool reached = true;

    if (choice->incremental)
        fit_incrementally(p, &points, cubature, &report, result);
    else
        reached = fit_given_poses(p, &points, cubature, &report);

    if (!reached)
        tool_warn(NULL, "the error is %.3g, above the tolerance %.3g, with %lld elements: %s", report.error,
                  choice->tolerance, (long long)points.count,
                  points.edge > 0 ? "--elements allows no more" : "there are no more");
    if (p->poses.count < points.count)
        tool_warn(
            NULL,
            "%lld poses for %lld elements do not determine their weights: the error on other poses is what counts",
            (long long)p->poses.count, (long long)points.count);

    tool_say("%lld of %lld elements evenly placed, %lld with weights: error %.3g on %lld poses, KKT residual %.1e",
             (long long)points.count, (long long)sp_mesh_element_count(&p->mesh.mesh), (long long)cubature->count,
             report.error, (long long)p->poses.count, report.kkt);

    json_object_set_new(result, "placed_elements", json_integer(points.count));
    json_object_set_new(result, "box_edge", points.edge > 0 ? tool_real("box_edge", points.edge) : json_null());
    json_object_set_new(result, "mean_error", tool_real("mean_error", report.mean_error));
    json_object_set_new(result, "kkt", tool_real("kkt", report.kkt));
    json_object_set_new(result, "iterations", json_integer(report.iterations));
    json_object_set_new(result, "reached", json_boolean(reached));

    if (cubature->nested) {
        json_object_set_new(result, "nested_error", tool_real("nested_error", report.nested_error));
        json_object_set_new(result, "nested_elements", json_integer(report.nested_count));
    }
    sp_modal_points_free(&points);
}
