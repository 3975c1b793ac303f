/* How far a cubature is from the forces that it stands for. */
#include "tools/cubature/problem.h"

#include <math.h>
#include <stdio.h>

/* Error and mean deviation of either weights on some poses, in one norm; NaN without poses, and in the energy norm
 * where it has no meaning. */
static double error_on(cubature_problem *p, const sp_poses *poses, const sp_cubature *cubature, bool nested,
                       enum sp_norm norm, double *deviation)
{
    sp_training_measure measure = {norm == SP_NORM_ENERGY ? p->energy_scale : NULL, cubature->stiffness};
    sp_training *training;
    double error;
    *deviation = NAN;
    if (poses->count == 0 || (norm == SP_NORM_ENERGY && !p->energy_scale))
        return NAN;
    tool_check(sp_training_new(p->context, &p->body, p->basis.columns.U, &measure, poses, p->choice->memory, &training),
               cubature_pose_files(p));
    tool_check(sp_cubature_error(p->context, training, cubature, nested, &error, deviation), NULL);
    sp_training_free(training);
    if (!isfinite(error) || !isfinite(*deviation))
        tool_fail(SP_NUMERICAL, NULL, "the error of the forces is not finite: a pose is too large");
    return error;
}

static void set_error(json_t *result, const char *name, const char *suffix, double error)
{
    char key[64];
    snprintf(key, sizeof key, "%s%s", name, suffix);
    tool_facts(result, sp_kind_cubature.result, {key, .real = error, .none = isnan(error)});
}

void cubature_judge(cubature_problem *p, const sp_cubature *cubature, json_t *result)
{
    static const char *const names[] = {"training_error", "held_out_error", "nested_error"},
                             *const norms[] = {"_force", "_energy"}, *const metrics[] = {"energy", "force"};
    const int own = p->choice->metric == METRIC_ENERGY ? SP_NORM_ENERGY : SP_NORM_FORCE;
    double held_out[SP_NORMS];

    tool_facts(result, sp_kind_cubature.result, {"elements", .integer = cubature->count},
               {"metric", .text = metrics[p->choice->metric]}, {"training_poses", .integer = p->poses.count},
               {"held_out_poses", .integer = p->held_out.count});

    for (int k = 0; k < (cubature->nested ? 3 : 2); k++)
        for (int norm = 0; norm < SP_NORMS; norm++) {
            double deviation;
            const double error =
                error_on(p, k == 1 ? &p->held_out : &p->poses, cubature, k == 2, (enum sp_norm)norm, &deviation);
            set_error(result, names[k], norms[norm], error);

            /* The fit has reported the error of second weights in its own norm. */
            if (norm == own && k < 2)
                set_error(result, names[k], "", k == 0 && p->poses.count == 0 ? 0 : error);
            if (norm == own && k < 2)
                set_error(result, k ? "held_out_deviation" : "training_deviation", "", deviation);
            if (k == 1)
                held_out[norm] = error;
        }

    if (p->held_out.count && p->energy_scale)
        tool_say("error on %lld poses held out: %.3g in the energy norm, %.3g in the force norm",
                 (long long)p->held_out.count, held_out[SP_NORM_ENERGY], held_out[SP_NORM_FORCE]);
    else if (p->held_out.count)
        tool_say("error on %lld poses held out: %.3g in the force norm", (long long)p->held_out.count,
                 held_out[SP_NORM_FORCE]);

    tool_facts(result, sp_kind_cubature.result, {"amplitude", .real = p->amplitude, .none = !(p->amplitude > 0)},
               {"resting_poses", .integer = p->resting}, {"shrunk_poses", .integer = p->shrunk});
}
