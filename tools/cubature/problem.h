/* The training problem of cubature: a body in a basis, poses and their forces, and the methods that select elements.
 * All functions end the process on failure. */
#ifndef TOOLS_CUBATURE_PROBLEM_H
#define TOOLS_CUBATURE_PROBLEM_H

#include "cubature/joint.h"
#include "formats/cubature.h"
#include "tools/common/checkpoint.h"
#include "tools/common/inputs.h"

enum cubature_method { METHOD_GREEDY, METHOD_NNLS, METHOD_HTP, METHOD_MODAL };
enum cubature_metric { METRIC_ENERGY, METRIC_FORCE };
enum cubature_spectrum { SPECTRUM_BOTH, SPECTRUM_ENERGY, SPECTRUM_FORCE };
enum cubature_worst { WORST_RELATIVE, WORST_ABSOLUTE };
enum cubature_linear { LINEAR_AUTO, LINEAR_SAMPLED, LINEAR_EXACT };

/* The options. */
typedef struct cubature_choice {
    int method, metric, linear, spectrum, worst;
    int64_t r, samples, held_out, held_out_seed, elements, candidates, exchanges, every, rounds, memory;
    double amplitude, deflection, tolerance, change;
    bool spectrum_given, amplitude_given, samples_given, tolerance_given, deflection_given, held_out_seed_given, nested,
        training_only, incremental, no_adjustment;
    tool_texts held_out_files;
    const char *shard, *checkpoint;
} cubature_choice;

typedef struct cubature_problem {
    sp_context *context;
    const cubature_choice *choice;
    tool_mesh mesh;
    tool_columns basis;
    sp_fe_space body;
    sp_pool pool;
    int64_t r;
    double *mass, *gravity; /* [r, r], [r, 3] */
    double *stiffness;      /* [r, r] at rest; only if the linear part of the force is exact */
    double *own_stiffness;  /* [r] its diagonal */
    double *quotient;       /* [r] uᵀKu / uᵀMu, 1/s² */
    double *energy_scale; /* [r] of the energy norm (cubature/training.h); NULL if a column is a rigid motion, which has
                             none */
    double *deviation, *softer; /* [r] standard deviations of random poses with the same energy in each coordinate;
                                   factors that give them the same forces instead */
    double amplitude;           /* √J; 0: no poses were sampled */
    sp_poses poses, held_out;
    int64_t first, total;        /* the poses are first … of total: a shard */
    tool_checkpoint *checkpoint; /* NULL: none */
    int64_t resting, shrunk;     /* poses left out because they have no force; sampled poses that were halved */
} cubature_problem;

/* Collects the poses in the files given as arguments from number 2 on and sampled ones, with their forces. */
void cubature_collect_poses(cubature_problem *problem);

/* The files that poses were read from, for messages about poses; NULL: all are sampled. */
const char *cubature_pose_files(cubature_problem *problem);

/* Adds further sampled poses about a centre (NULL: rest), with their forces, for incremental training. */
void cubature_add_samples(cubature_problem *problem, int64_t count, const double *centre, const double *deviation);

/* The fitted quantity and its norm, from the options. */
sp_training_measure cubature_measure(const cubature_problem *problem);

/* Returns true if the linear part of the force is exact. */
bool cubature_keeps_linear(const cubature_problem *problem);

/* One weight per element. */
void cubature_joint(cubature_problem *problem, sp_cubature *cubature, json_t *result);

/* Modal cubature (Yang 2015); a usage error in builds without it. */
void cubature_modal(cubature_problem *problem, sp_cubature *cubature, json_t *result);

/* Adds the errors in both norms to the result, and, without a suffix, those in the norm of the fit: on the poses that
 * were fitted, of second weights there, and on poses that took no part. */
void cubature_judge(cubature_problem *problem, const sp_cubature *cubature, json_t *result);

#endif
