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

static void report_rounds(cubature_problem *p, const sp_incremental_report *report, bool held_out, json_t *result)
{
    const sp_incremental_round *round = report->rounds.data;
    const int64_t n = report->rounds.count;
    int64_t *poses = tool_allocate(&p->pool, n, sizeof *poses);
    double *error = tool_allocate(&p->pool, 4 * n, sizeof *error), *mean = error + n, *judged = mean + n,
           *deviation = judged + n;

    for (int64_t k = 0; k < n; k++) {
        poses[k] = round[k].poses;
        error[k] = round[k].error;
        mean[k] = round[k].mean_error;
        judged[k] = round[k].held_out_error;
        deviation[k] = round[k].held_out_deviation;
    }

    tool_facts(result, sp_kind_cubature.result, {"rounds", .integer = n},
               {"round_poses", .count = n, .integers = poses}, {"round_errors", .count = n, .reals = error},
               {"round_mean_errors", .count = n, .reals = mean},
               {"round_held_out_errors", .count = n, .reals = judged, .none = !held_out},
               {"round_held_out_deviations", .count = n, .reals = deviation, .none = !held_out},
               {"settled", .boolean = report->settled});
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

    sp_training_free(held_out);
    report_rounds(p, &report, held_out != NULL, result);

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

    tool_facts(result, sp_kind_cubature.result, {"placed_elements", .integer = points.count},
               {"box_edge", .real = points.edge, .none = !(points.edge > 0)}, {"mean_error", .real = report.mean_error},
               {"kkt", .real = report.kkt}, {"iterations", .integer = report.iterations},
               {"reached", .boolean = reached});

    if (cubature->nested) {
        tool_facts(result, sp_kind_cubature.result, {"nested_error", .real = report.nested_error},
                   {"nested_elements", .integer = report.nested_count});
    }
    sp_modal_points_free(&points);
}
