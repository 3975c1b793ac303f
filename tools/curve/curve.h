/* What simcurve is made of: the model of its curve, and the file of its points. Everything ends the process on
 * failure. */
#ifndef TOOLS_CURVE_CURVE_H
#define TOOLS_CURVE_CURVE_H

#include "formats/curve.h"
#include "periodic/curve.h"
#include "tools/simulate/simulation.h"

typedef struct curve_choice {
    simulate_choice model; /* files, loads and damping */
    bool response, backbone, sweep, range_given, energy_given, amplitude_given;
    double range[2], frequency, energy, amplitude, ratio, base[3], resolution;
    int64_t harmonics, mode, points;
    const char *static_loads, *probe, *table;
} curve_choice;

/* A reduced model with its periodic loads. */
typedef struct curve_model {
    simulation s;
    sp_reduced_force force;
    sp_periodic_model periodic;
    int64_t vertex; /* of the probe */
    int axis;
    sp_pool pool;
} curve_model;

void curve_model_read(sp_context *context, const curve_choice *choice, curve_model *model);
void curve_model_free(curve_model *model);

/* The points so far. */
typedef struct curve_points {
    const curve_model *model;
    const curve_choice *choice;
    sp_list frequency, factor, amplitude, energy, coefficient, multiplier, stable, event;
    double largest; /* amplitude so far */
} curve_points;

/* A visitor (sp_curve_visitor). True where the amplitude reaches its limit. */
bool curve_points_add(void *points, const sp_curve_point *point);
void curve_points_write(curve_points *points, const sp_curve_report *report, bool complete, tool_output *output);
void curve_points_table(const curve_points *points);
void curve_points_free(curve_points *points);

#endif
