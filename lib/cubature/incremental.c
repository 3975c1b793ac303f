#include "cubature/incremental.h"
#include "cubature/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct judged {
    double error;
    int64_t pose;
} judged;

static int compare_judged(const void *a, const void *b)
{
    const judged *x = a, *y = b;
    if (x->error != y->error)
        return x->error > y->error ? -1 : 1;
    return (x->pose > y->pose) - (x->pose < y->pose);
}

/* ‖f_t‖ with the measure's scale. */
static double size_of(const sp_incremental_parameters *parameters, const sp_poses *poses, int64_t pose)
{
    double sum = 0;
    for (int64_t i = 0; i < poses->r; i++) {
        const double scale = parameters->measure->scale ? parameters->measure->scale[i] : 1;
        sum += pow(poses->force[pose * poses->r + i] * scale, 2);
    }
    return sqrt(sum);
}

/* Sets the centre to the mean of the fifth of the poses with the largest fitting error. */
static int recentre(sp_context *context, const sp_modal *modal, const sp_incremental_parameters *parameters,
                    const sp_poses *poses, double *centre)
{
    sp_pool scratch = {0};
    int64_t count = poses->count, worst = (count + 4) / 5;
    double *error = sp_pool_raw(&scratch, count, sizeof *error);
    judged *list = sp_pool_raw(&scratch, count, sizeof *list);
    int status = sp_allocated(context, !scratch.failed);

    if (status == SP_OK) {
        sp_modal_pose_errors(modal, error);
        for (int64_t t = 0; t < count; t++)
            list[t] =
                (judged){.error = error[t] * (parameters->absolute ? size_of(parameters, poses, t) : 1), .pose = t};

        /* The worst come first. */
        qsort(list, (size_t)count, sizeof *list, compare_judged);

        /* E_i is the mean of coordinate i over them */
        memset(centre, 0, (size_t)poses->r * sizeof *centre);
        for (int64_t k = 0; k < worst; k++)
            for (int64_t i = 0; i < poses->r; i++)
                centre[i] += poses->q[list[k].pose * poses->r + i] / (double)worst;
    }
    sp_pool_free(&scratch);
    return status;
}

/* Evaluates the poses from `first` on and adds their rows. */
static int read_rows(sp_context *context, const sp_fe_space *body, const double *U,
                     const sp_incremental_parameters *parameters, const sp_poses *poses, int64_t first, sp_modal *modal)
{
    sp_poses fresh = {.r = poses->r,
                      .count = poses->count - first,
                      .q = poses->q + first * poses->r,
                      .force = poses->force + first * poses->r};
    sp_training *training;

    int status = sp_training_new(context, body, U, parameters->measure, &fresh, parameters->memory, &training);
    if (status != SP_OK)
        return status;

    status = sp_modal_add(modal, training);
    sp_training_free(training);
    return status;
}

int sp_incremental_train(sp_context *context, const sp_fe_space *body, const double *U, const sp_modal_points *points,
                         const sp_incremental_parameters *parameters, const sp_poses *poses, sp_cubature *cubature,
                         sp_incremental_report *report)
{
    int64_t r = poses->r, more = (3 * points->count + 1) / 2;
    sp_pool scratch = {0};
    sp_modal *modal = NULL;
    double before = INFINITY, *centre = sp_pool_new(&scratch, r, sizeof *centre),
           *deviation = sp_pool_raw(&scratch, r, sizeof *deviation);
    int status;

    *report = (sp_incremental_report){0};
    *cubature = (sp_cubature){0};

    SP_TRY(sp_allocated(context, !scratch.failed));

    SP_TRY(sp_modal_new(context, points, r, &modal));
    for (int64_t round = 0; round < parameters->most && !report->settled; round++) {
        int64_t first = poses->count;

        /* σ_i + |E_i| about the centre of the last round */
        for (int64_t i = 0; i < r; i++)
            deviation[i] = parameters->deviation[i] + fabs(centre[i]);

        SP_TRY(parameters->add(parameters->data, more, centre, deviation));
        SP_TRY(read_rows(context, body, U, parameters, poses, first, modal));

        sp_cubature_free(cubature);
        SP_TRY(sp_modal_solve(modal, false, cubature, &report->fit));

        sp_incremental_round *entry = sp_list_add(&report->rounds, 1, sizeof *entry);
        SP_TRY(sp_allocated(context, entry));

        /* The errors of the round, also on the validation poses. */
        *entry = (sp_incremental_round){
            .poses = poses->count, .error = report->fit.error, .mean_error = report->fit.mean_error};

        if (parameters->held_out)
            SP_TRY(sp_cubature_error(context, parameters->held_out, cubature, false, &entry->held_out_error,
                                     &entry->held_out_deviation));

        /* The error of few poses is low and rises to its expectation: once it stays, more poses change nothing. */
        report->settled = fabs(report->fit.mean_error - before) < parameters->change;
        before = report->fit.mean_error;

        if (parameters->adjust)
            SP_TRY(recentre(context, modal, parameters, poses, centre));

        more = points->count / 3 > 1 ? points->count / 3 : 1;
    }

    if (parameters->nested) {
        sp_cubature_free(cubature);
        SP_TRY(sp_modal_solve(modal, true, cubature, &report->fit));
    }
done:
    sp_modal_free(modal);
    sp_pool_free(&scratch);
    if (status != SP_OK) {
        sp_cubature_free(cubature);
        sp_list_free(&report->rounds);
    }
    return status;
}
