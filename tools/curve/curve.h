/* The parts of simcurve: the model of its curve, the points and their file, the full-order model, and the motion of one
 * point. All functions end the process on failure. */
#ifndef TOOLS_CURVE_CURVE_H
#define TOOLS_CURVE_CURVE_H

#include "formats/curve.h"
#include "periodic/curve.h"
#include "periodic/full.h"
#include "tools/common/places.h"
#include "tools/simulate/simulation.h"

typedef struct curve_choice {
    simulate_choice model; /* files, loads, damping and checkpoint */
    bool response, backbone, sweep, range_given, energy_given, amplitude_given, residual, check_full;
    double range[2], frequency, energy, amplitude, ratio, base[3], resolution;
    int64_t harmonics, mode, points, point, frames, periods, steps;
    const char *static_loads, *probe, *table, *of;
} curve_choice;

/* A reduced model with its periodic loads. */
typedef struct curve_model {
    simulation s;
    sp_reduced_force force;
    sp_periodic_model periodic;
    int64_t static_count;
    sp_load *statics; /* [static_count] */
    tool_place probe;
    int axis;
    double *row; /* [r] displacement of the probe per unit of each coordinate */
    sp_pool pool;
} curve_model;

void curve_model_read(sp_context *context, const curve_choice *choice, curve_model *model);
void curve_model_free(curve_model *model);

/* The full-order model of the same mesh with the same loads. */
typedef struct curve_full {
    sp_system system;
    sp_full_periodic_model model;
    sp_full_residual *residual; /* NULL until curve_full_residual_new */
    sp_pool pool;
} curve_full;

void curve_full_new(curve_model *model, const curve_choice *choice, curve_full *full);
void curve_full_free(curve_full *full);

/* The first function prepares the residuals of motions with this number of harmonics, the second one computes the
 * residual of one motion. */
void curve_full_residual_new(const curve_model *model, int64_t harmonics, curve_full *full);
double curve_full_residual(const curve_model *model, const curve_full *full, const sp_periodic_motion *motion);

/* The points so far. */
typedef struct curve_points {
    const curve_model *model;
    const curve_choice *choice;
    const curve_full *full; /* NULL: no residuals */
    enum sp_periodic_kind kind;
    sp_list frequency, factor, amplitude, energy, coefficient, multiplier, residual, stable, event;
    double worst_full;  /* largest residual of the full-order model */
    sp_state *recorded; /* where points are saved for a checkpoint; NULL: nowhere */
} curve_points;

/* A visitor (sp_curve_visitor). True where the amplitude reaches its limit. */
bool curve_points_add(void *points, const sp_curve_point *point);

/* Adds a point that was saved. */
void curve_points_load(curve_points *points, sp_state *recorded);
void curve_points_write(curve_points *points, const sp_curve_report *report, bool complete, tool_output *output);
void curve_points_table(const curve_points *points, tool_output *output); /* --csv */
void curve_points_free(curve_points *points);

/* The curve that the options name, in the file of -o. */
void curve_trace(sp_context *context, const curve_choice *choice);

/* The motion of one point of the curve in a file (--of), as a trajectory in the file of -o. */
void curve_motion(sp_context *context, const curve_choice *choice);

#endif
