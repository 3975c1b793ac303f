/* Models of every vertex (full, linear, warp, conjac): what holds and moves their vertices, grounds, bones, how they
 * are solved, and cuts. Everything ends the process where it fails. */
#ifndef TOOLS_SIMULATE_VERTICES_H
#define TOOLS_SIMULATE_VERTICES_H

#include "formats/scene.h"
#include "formats/skeleton.h"
#include "model/conjac/conjac.h"
#include "model/loads.h"
#include "model/prescribed.h"
#include "model/warp/warp.h"
#include "rigid/skeleton.h"
#include "tools/common/tool.h"

#include <stdio.h>

/* The options. */
typedef struct simulate_vertices_choice {
    int solver;
    bool solver_given;
    double solver_tolerance;
    tool_texts moved, moves; /* --moved NAME goes with --move FILE, in order */
    const char *move_vertices, *activation, *skeleton, *joints;
    tool_texts grounds; /* NX,NY,NZ,D each */
    double ground_stiffness, ground_alpha, friction;
    int warp, rotation;
    bool network, corrected;
    double stretch[2]; /* limit, factor */
    const char *dynamic;
    double gamma;
    int64_t corrections;
    bool settle;
    tool_texts cuts, cut_times; /* --cut FILE goes with --cut-at TIME, in order */
} simulate_vertices_choice;

#define SIMULATE_VERTICES_OPTIONS(v)                                                                                   \
    {"moved",                                                                                                          \
     0,                                                                                                                \
     TOOL_TEXTS,                                                                                                       \
     &(v).moved,                                                                                                       \
     "NAME",                                                                                                           \
     .help =                                                                                                           \
         "vertices that the next --move moves: fixed, the mesh's held ones, or those of a region, which it holds"},    \
        {"move",     0,     TOOL_INPUTS,                                                                               \
         &(v).moves, "CSV", .help = "rigid motion of these: t,x,y,z,qw,qx,qy,qz; may stand several times"},            \
        {"move-vertices",    0,     TOOL_INPUT,                                                                        \
         &(v).move_vertices, "CSV", .help = "displacements of single vertices, which it holds: t,vertex,ux,uy,uz"},    \
        {"skeleton",    0,      TOOL_INPUT,                                                                            \
         &(v).skeleton, "JSON", .help = "bones on joints that carry vertices; with --integrator linear-euler"},        \
        {"joints",      0,                                                                                             \
         TOOL_TEXT,     &(v).joints,                                                                                   \
         "CSV",         .help = "of a skeleton: write coordinate and rate of its joints in each frame to this file",   \
         .silent = true},                                                                                              \
        {"activation",    0,     TOOL_INPUT,                                                                           \
         &(v).activation, "CSV", .help = "tension in the fibres of regions over time: t,region,tension"},              \
        {"ground",     0,                                                                                              \
         TOOL_TEXTS,   &(v).grounds,                                                                                   \
         "NX,NY,NZ,D", .help = "a ground: vertices are pushed out of n.x < D; may stand several times"},               \
        {"ground-stiffness",                                                                                           \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(v).ground_stiffness,                                                                                        \
         "N/M",                                                                                                        \
         "1000",                                                                                                       \
         .low = 1e-300,                                                                                                \
         .high = 1e300,                                                                                                \
         .help = "its push on a vertex by depth"},                                                                     \
        {"ground-alpha",    0,         TOOL_REAL,                                                                      \
         &(v).ground_alpha, "A",       "0.1",                                                                          \
         .low = 0,          .high = 1, .help = "part of that which holds a vertex back along the ground in a step"},   \
        {"friction",                                                                                                   \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(v).friction,                                                                                                \
         "MU",                                                                                                         \
         "0",                                                                                                          \
         .low = 0,                                                                                                     \
         .high = 1e300,                                                                                                \
         .help = "coefficient of friction on the ground"},                                                             \
        {"solver",                                                                                                     \
         0,                                                                                                            \
         TOOL_CHOICE,                                                                                                  \
         &(v).solver,                                                                                                  \
         NULL,                                                                                                         \
         "direct",                                                                                                     \
         "direct|jacobi|reused|gradients",                                                                             \
         .help = "a factorization for every matrix (full and linear models); iterations with the blocks of the "       \
                 "diagonal; with an older factor (warp: that at rest, turned; its default); warp: conjugate "          \
                 "gradients as the paper has them",                                                                    \
         .given = &(v).solver_given},                                                                                  \
        {"solver-tolerance",                                                                                           \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(v).solver_tolerance,                                                                                        \
         "X",                                                                                                          \
         NULL,                                                                                                         \
         .low = 1e-15,                                                                                                 \
         .high = 0.1,                                                                                                  \
         .help = "of iterative solves, by the right side (default 1e-8, warp 1e-10)"},                                 \
        {"warp",                                                                                                       \
         0,                                                                                                            \
         TOOL_CHOICE,                                                                                                  \
         &(v).warp,                                                                                                    \
         NULL,                                                                                                         \
         "vertex",                                                                                                     \
         "vertex|pair|element",                                                                                        \
         .help = "of a warp model: a rotation for every vertex; two in every term (unstable); one for every element"}, \
        {"rotation",    0,                                                                                             \
         TOOL_CHOICE,   &(v).rotation,                                                                                 \
         NULL,          "polar",                                                                                       \
         "polar|frame", .help = "of a warp model: by polar decomposition, or from frames of edges"},                   \
        {"network", 0, TOOL_FLAG, &(v).network,                                                                        \
         .help = "of a warp model: springs along the edges in the place of the elements' stiffness"},                  \
        {"correct-ghost", 0, TOOL_FLAG, &(v).corrected,                                                                \
         .help = "of a warp model: take the net force and torque of the internal forces out (free bodies)"},           \
        {"stretch-limit", 0,                                                                                           \
         TOOL_VECTOR,     (v).stretch,                                                                                 \
         "E,F",           "0,0",                                                                                       \
         .count = 2,      .low = 0,                                                                                    \
         .high = 1e300,   .help = "of a warp model: edges stretched by more than E are stiffer by F times"},           \
        {"dynamic",                                                                                                    \
         0,                                                                                                            \
         TOOL_TEXT,                                                                                                    \
         &(v).dynamic,                                                                                                 \
         "WHICH",                                                                                                      \
         .help = "dynamic vertices of a conjac model: a list 3,17, none, near:X,Y,Z[;X,Y,Z], farthest:N, or "          \
                 "random:N,DISTANCE"},                                                                                 \
        {"stabilization", 0,         TOOL_REAL,                                                                        \
         &(v).gamma,      "G",       "0.3333333333333333",                                                             \
         .low = 0,        .high = 1, .help = "of a conjac model: part of the Newton correction in each step"},         \
        {"corrections",                                                                                                \
         0,                                                                                                            \
         TOOL_INTEGER,                                                                                                 \
         &(v).corrections,                                                                                             \
         "N",                                                                                                          \
         "0",                                                                                                          \
         .low = 0,                                                                                                     \
         .high = 1000,                                                                                                 \
         .help = "of a conjac model: further corrections with the same factor"},                                       \
        {"settle", 0, TOOL_FLAG, &(v).settle,                                                                          \
         .help = "of a conjac model: start from the equilibrium of all but the dynamic vertices"},                     \
        {"cut",                                                                                                        \
         0,                                                                                                            \
         TOOL_INPUTS,                                                                                                  \
         &(v).cuts,                                                                                                    \
         "MESH",                                                                                                       \
         .help =                                                                                                       \
             "go on with this mesh, which simcut made of the one before, from --cut-at on; may stand several times"},  \
    {                                                                                                                  \
        "cut-at", 0, TOOL_TEXTS, &(v).cut_times, "TIME", .help = "when, in seconds"                                    \
    }

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

/* Usage errors for options that the model has no use for. */
void vertices_refuse_idle(const struct simulate_choice *choice, const simulate_vertices_choice *vertices);

/* The same for all of them. */
void vertices_refuse_all(const char *where);

/* Reads what moves vertices and bones, or takes it from the simulation before, and holds those vertices in the mesh:
 * before the body is made. Copies of a vertex that moves by itself move with it. */
void vertices_hold(struct simulation *s);

/* Of a simulation after a cut, once the one before has its system: chooses dynamic vertices, and refuses them where the
 * system would. */
void vertices_check_cut(struct simulation *s);

/* Makes the system; then, after the loads, the rest. */
void vertices_make(struct simulation *s);
void vertices_load(struct simulation *s, const double gravity[3]);
void vertices_free(struct simulation *s); /* but for the system */

/* --joints: a line for coordinates and rates [bones], and the file. Nothing where it was not given. */
void vertices_record_joints(struct simulation *s, double time, const double *coordinates, const double *rates);
void vertices_write_joints(struct simulation *s);

#endif
