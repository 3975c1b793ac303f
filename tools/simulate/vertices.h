/* Full-order models (nonlinear, linear, warp, conjac): prescribed motion of their vertices, floor planes, bones,
 * solvers, and cuts. All functions end the process on failure. */
#ifndef TOOLS_SIMULATE_VERTICES_H
#define TOOLS_SIMULATE_VERTICES_H

#include "formats/scene.h"
#include "formats/skeleton.h"
#include "model/model.h"
#include "model/models.h"
#include "rigid/skeleton.h"
#include "tools/common/tool.h"

#include <assert.h>
#include <stdio.h>

/* The words of --solver, of which the last is for warp models only. */
#define VERTICES_SOLVERS "direct|jacobi|reused|gradients"
enum { VERTICES_GRADIENTS = SP_SOLVER_REUSED + 1 };
static_assert(SP_SOLVER_DIRECT == 0 && SP_SOLVER_JACOBI == 1 && SP_SOLVER_REUSED == 2,
              "the words of --solver are in the order of enum sp_solver");

/* The words of --warp and --rotation. */
#define VERTICES_WARPS "vertex|pair|element"
static_assert(SP_WARP_VERTEX == 0 && SP_WARP_PAIR == 1 && SP_WARP_ELEMENT == 2,
              "the words of --warp are in the order of enum sp_warp_kind");
#define VERTICES_ROTATIONS "polar|frame"
enum { VERTICES_POLAR, VERTICES_FRAME };

/* The options. */
typedef struct simulate_vertices_choice {
    int solver; /* enum sp_solver or VERTICES_GRADIENTS */
    bool solver_given;
    double solver_tolerance;
    tool_keyed prescribe; /* region, or "fixed", and its path */
    const char *prescribe_vertices, *skeleton, *joints;
    tool_texts grounds; /* NX,NY,NZ,D each */
    double ground_stiffness, ground_alpha, friction;
    bool ground_alpha_given; /* else 0.1 with friction and in statics, and else 0, where it would be a drag */
    int warp, rotation;
    bool network, corrected;
    double stretch[2]; /* strain limit, factor */
    const char *dynamic;
    double gamma;
    int64_t corrections;
    bool settle;
    tool_keyed cuts; /* time and mesh */
} simulate_vertices_choice;

enum { VERTEX_STILL = -2, VERTEX_ALONE = -1 };

struct simulation;
struct simulate_choice;

/* The corresponding data of a simulation. */
typedef struct simulate_vertices {
    const simulate_vertices_choice *choice;
    sp_prescribed_motion moves;
    sp_path *paths;               /* [rigid motions] */
    int64_t path_count;           /* number of these that it owns */
    sp_prescribed_vertex *single; /* [moves.vertex_count] */
    int64_t *group; /* [vertices] number of the rigid motion, or after these of the bone, that moves each one;
                       VERTEX_ALONE: a motion of its own; VERTEX_STILL: none */
    sp_skeleton_file bones;
    sp_skeleton *skeleton;
    tool_output *joint_output; /* --joints … */
    FILE *joints;              /* … and its text */
    char *joint_text;
    size_t joint_length;
    int64_t dynamic_count, *dynamic; /* of a conjac model, increasing */
    int64_t activation_count;
    sp_activation *activations;
    double *start; /* [dof_count] initial displacement; NULL: at rest */
} simulate_vertices;

/* Parses exactly `count` finite numbers with commas between them. */
bool vertices_parse_numbers(const char *text, int count, double *numbers);

/* Checks conditions that those of single options cannot express. */
void vertices_check_options(const struct simulate_choice *choice, const simulate_vertices_choice *vertices);

/* Reads the prescribed motion of vertices and bones, or takes it from the previous simulation, and fixes these vertices
 * in the mesh, before the body is created. Copies of a vertex with a motion of its own move with it. */
void vertices_fix(struct simulation *s);

/* For a simulation after a cut, once the previous one has its system: selects dynamic vertices, and rejects them if the
 * system would. */
void vertices_check_cut(struct simulation *s);

/* Fills the part of the model's description for full-order models; after the model is created, creates the skeleton and
 * the initial state. */
void vertices_describe(struct simulation *s, sp_model_description *description);
void vertices_begin(struct simulation *s);
void vertices_free(struct simulation *s); /* all but the system */

/* --joints: a line for coordinates and rates [bones], and the file. Does nothing without the option. */
void vertices_record_joints(struct simulation *s, double time, const double *coordinates, const double *rates);
void vertices_write_joints(struct simulation *s);

#endif
