/* Models of one mesh that are compared to a reference, and their errors. All functions end the process on failure. */
#ifndef TOOLS_VALIDATE_VALIDATE_H
#define TOOLS_VALIDATE_VALIDATE_H

#include "run/model_watches.h"
#include "run/run.h"
#include "tools/common/places.h"
#include "tools/compare/probe.h"
#include "tools/simulate/certify.h"
#include "tools/simulate/correct.h"
#include "tools/simulate/frame.h"
#include "tools/validate/errors.h"

/* The options. */
typedef struct validate_choice {
    simulate_choice motion; /* shared by all runs */
    tool_texts cubatures, probes;
    const char *models, *ranks, *reference, *table, *certificate;
    int64_t reference_rank; /* columns of the reduced-order model that is the reference; 0: another reference */
    double limit;           /* 0: no limit */
    bool stress;
} validate_choice;

/* One component of the motion of a vertex, of the mesh or of its embedded surface. */
typedef struct validate_probe {
    const char *text;
    tool_place place;
    int corners, axis;
    const int64_t *corner;
    const double *weight;
} validate_probe;

/* The von Mises stress at all vertices in all frames, Pa² and Pa. */
typedef struct validate_stress_sums {
    double difference; /* sum of the squares of the differences from the full-order model */
    double largest;
} validate_stress_sums;

/* A model with its motion: the full one, or one that follows. */
typedef struct validate_run {
    const char *name;
    simulate_choice choice;
    simulation s;
    sp_external_loads external_loads;
    sp_integrator *integrator;
    sp_run course;
    sp_energy_rules rules;
    sp_energy_watch energy;
    int64_t elements; /* number evaluated by its force; −1: polynomials */
    double seconds;   /* of the steps alone */
    sp_run_body body; /* as observers see it */
    sp_estimate_watch estimate;
    sp_trajectory_error_sums sums;
    simulate_certificate *certificate;      /* NULL: none */
    sp_static_correction *correction;       /* NULL: none */
    validate_stress_sums stress, corrected; /* with --stress */
    double stress_square, stress_largest;   /* of the full-order model in the same frames */
    double error, motion; /* with --certificate: largest energies of the error and of the reference, J … */
    double energy_error;  /* … and the relative error as sp_certified has it */
    sp_list *value;       /* [probes] double, at every frame */
    bool failed;          /* it did not converge … */
    double failed_at;     /* … in the step after this time, s */
} validate_run;

/* Frames of the reference: as many as fit, then those that follow have to catch up. */
typedef struct validate_frames {
    int64_t capacity, count;
    int64_t *step; /* [capacity] number of the step after which the frame is */
    double *time, *energy;
    double *u, *v; /* [capacity, n] over the free degrees of freedom */
} validate_frames;

typedef struct validation {
    const validate_choice *choice;
    sp_context *context;
    sp_pool pool;
    validate_run full;  /* the full-order model, whose mesh, body and files all runs share */
    validate_run rich;  /* the reduced-order model of --reference-rank */
    validate_run *lead; /* the one of these two whose motion is the reference; NULL: the reference is a file */
    int64_t run_count, probe_count;
    validate_run *runs;
    validate_probe *probes;
    sp_sparse mass;      /* over the free degrees of freedom, consistent */
    sp_sparse stiffness; /* the same, at rest; with --certificate */
    int64_t *vertex;     /* [n] of the free degrees of freedom */
    validate_frames frames;
    sp_list time, *value; /* of all frames of the reference, and of its probes, where there are probes */
    double *rows;         /* [3·vertices] and two of [n]: scratch */
    double *u, *v;
    struct validate_stress *stress; /* NULL: none */
    double *product;                /* [2n] scratch, with --certificate */
    double end;                     /* s, of the motion; infinite: of a file that does not say it */
    /* of a file */
    int descriptor;
    sp_trajectory_stream *stream;
    sp_trajectory block;
    int64_t next, frame; /* in the block; of the file */
} validation;

/* Makes the reference and every model that the options name. */
void validation_open(validation *v);
void validation_close(validation *v);

/* The next frames of the reference; false after the last. */
bool validation_bring(validation *v);

/* Takes the steps of a run up to the last of these frames, and measures it at each. */
void validation_follow(validation *v, validate_run *run);

/* Warns of the steps of all runs. */
void validation_warn(const validation *v);

/* With --certificate: reads it for all runs; measures a run that is at a frame, whose displacements over the free
 * degrees of freedom are v->u; prints the true errors beside their estimates. */
void certified_open(validation *v);
void certified_close(validation *v);
void certified_add(validation *v, validate_run *run, int64_t frame);
void certified_print(const validation *v, FILE *stream);

/* With --stress: the von Mises stress of a run that is at a frame beside that of the full-order model, as it is and
 * with static correction; the relative error √(Σ difference² / Σ stress²). */
void stress_open(validation *v);
void stress_close(validation *v);
void stress_bring(validation *v); /* the stress of the full-order model in the frames that were brought */
void stress_add(validation *v, validate_run *run, int64_t frame);
double stress_error(const validate_run *run, const validate_stress_sums *sums);
void stress_print(const validation *v, FILE *stream);

/* A file as the reference: opened and checked against the options; its next frames. */
void reference_open(validation *v);
bool reference_bring(validation *v);
void reference_close(validation *v);

/* Displacements or velocities of a run over the free degrees of freedom [n]. */
void validation_values(validation *v, const validate_run *run, const double *q, double *values);

/* Keeps the frame's time and what the probes show in displacements u [n], in lists that grow. */
void validation_keep_probes(const validation *v, const double *u, sp_list *value);
void validation_keep(sp_list *list, double value);

/* What the table calls the reference. */
const char *validation_reference(const validation *v);

/* The table on `stream` (NULL: none), and as text with commas. True where all errors are within the limit. */
bool validation_report(const validation *v, FILE *stream, sp_list *table);

#endif
