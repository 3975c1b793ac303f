/* Models of every vertex (full, linear, warp, conjac): what holds and moves their vertices, grounds, bones, how they
 * are solved, and cuts. Everything ends the process where it fails. */
#ifndef TOOLS_SIMULATE_VERTICES_H
#define TOOLS_SIMULATE_VERTICES_H

#include "formats/scene.h"
#include "formats/skeleton.h"
#include "model/model.h"
#include "rigid/skeleton.h"
#include "tools/common/tool.h"

#include <stdio.h>

/* The options. */
typedef struct simulate_vertices_choice {
    int solver;
    bool solver_given;
    double solver_tolerance;
    tool_keyed prescribe; /* region, or "fixed", and its path */
    const char *prescribe_vertices, *skeleton, *joints;
    tool_texts grounds; /* NX,NY,NZ,D each */
    double ground_stiffness, ground_alpha, friction;
    int warp, rotation;
    bool network, corrected;
    double stretch[2]; /* limit, factor */
    const char *dynamic;
    double gamma;
    int64_t corrections;
    bool settle;
    tool_keyed cuts; /* time and mesh */
} simulate_vertices_choice;

enum { VERTEX_STILL = -2, VERTEX_ALONE = -1 };

struct simulation;
struct simulate_choice;

/* What a simulation has for them. */
typedef struct simulate_vertices {
    const simulate_vertices_choice *choice;
    sp_prescribed_motion moves;
    sp_path *paths;               /* [rigid moves] */
    int64_t path_count;           /* so many of these are its own */
    sp_prescribed_vertex *single; /* [moves.vertex_count] */
    int64_t *group; /* [vertices] which rigid move, or behind these which bone, moves each one; VERTEX_ALONE: a motion
                       of its own; VERTEX_STILL: none */
    sp_skeleton_file bones;
    sp_skeleton *skeleton;
    tool_output *joint_output; /* --joints … */
    FILE *joints;              /* … and its text */
    char *joint_text;
    size_t joint_length;
    int64_t dynamic_count, *dynamic; /* of a conjac model, increasing */
    int64_t activation_count;
    sp_activation *activations;
    double *start; /* [dof_count] where it starts; NULL: at rest */
} simulate_vertices;

/* So many finite numbers with commas between them, and nothing else. */
bool vertices_parse_numbers(const char *text, int count, double *numbers);

/* Refuses what conditions of single options cannot say. */
void vertices_check_options(const struct simulate_choice *choice, const simulate_vertices_choice *vertices);

/* Reads what moves vertices and bones, or takes it from the simulation before, and holds those vertices in the mesh:
 * before the body is made. Copies of a vertex that moves by itself move with it. */
void vertices_hold(struct simulation *s);

/* Of a simulation after a cut, once the one before has its system: chooses dynamic vertices, and refuses them where the
 * system would. */
void vertices_check_cut(struct simulation *s);

/* Fills what the description of the model says of full-order models; after the model is made, makes the skeleton and
 * the start of the motion. */
void vertices_describe(struct simulation *s, sp_model_description *description);
void vertices_begin(struct simulation *s);
void vertices_free(struct simulation *s); /* but for the system */

/* --joints: a line for coordinates and rates [bones], and the file. Nothing where it was not given. */
void vertices_record_joints(struct simulation *s, double time, const double *coordinates, const double *rates);
void vertices_write_joints(struct simulation *s);

#endif
