#include "tools/cubature/problem.h"

static int64_t next_round(void *data, int64_t *number, int64_t room)
{
    int64_t bytes = tool_checkpoint_next(data, number, room * (int64_t)sizeof *number);
    return bytes < 0 ? -1 : bytes / (int64_t)sizeof *number;
}

static void add_round(void *data, int64_t count, const int64_t *number)
{
    tool_checkpoint_add(data, number, count * (int64_t)sizeof *number, NULL, 0);
}

void cubature_joint(cubature_problem *p, sp_cubature *cubature, json_t *result)
{
    static const char *const names[] = {"greedily", "by least squares over all", "by hard thresholding"};
    const cubature_choice *choice = p->choice;

    p->checkpoint = tool_checkpoint_open(choice->checkpoint);
    tool_checkpoint_counts(p->checkpoint, -1, "rounds");

    sp_cubature_log log = {p->checkpoint, next_round, add_round};
    sp_cubature_parameters parameters = {.method = (enum sp_cubature_method)choice->method,
                                         .tolerance = choice->tolerance,
                                         .most = choice->elements,
                                         .candidates = choice->candidates,
                                         .exchanges = choice->exchanges,
                                         .memory = choice->memory,
                                         .nested = choice->nested,
                                         .log = p->checkpoint ? &log : NULL};
    sp_cubature_report report;
    sp_training *training;

    sp_training_measure measure = cubature_measure(p);
    tool_check(
        sp_training_new(p->context, &p->body, p->basis.columns.U, &measure, &p->poses, choice->memory, &training),
        cubature_pose_files(p));
    tool_check(sp_cubature_train(p->context, &p->body, training, &parameters, cubature, &report), NULL);
    sp_training_free(training);

    if (!report.reached)
        tool_warn(NULL, "the error is %.3g, above the tolerance %.3g: %s", report.error, choice->tolerance,
                  choice->elements && cubature->count >= choice->elements
                      ? "--elements allows no more"
                      : "these elements and poses have their minimum there");
    tool_say("%lld of %lld elements chosen %s, %lld passes over the mesh: error %.3g on %lld poses, KKT residual %.1e",
             (long long)cubature->count, (long long)sp_mesh_element_count(&p->mesh.mesh), names[choice->method],
             (long long)report.passes, report.error, (long long)p->poses.count, report.kkt);

    tool_facts(result, sp_kind_cubature.result, {"rounds", .integer = report.rounds},
               {"passes", .integer = report.passes}, {"kkt", .real = report.kkt},
               {"reached", .boolean = report.reached});

    if (choice->exchanges)
        tool_facts(result, sp_kind_cubature.result, {"exchanged", .integer = report.exchanged});
    if (cubature->nested) {
        tool_facts(result, sp_kind_cubature.result, {"nested_error", .real = report.nested_error},
                   {"nested_elements", .integer = report.nested_count});
    }
}
