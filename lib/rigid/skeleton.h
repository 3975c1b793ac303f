/* Articulated rigid bones in joint coordinates, one per joint: a tree whose roots rotate or slide relative to the
 * world. Vertices of a mesh are attached to bones: they are fixed vertices of the mesh's system with prescribed motion,
 * and the step of a linearly implicit integrator moves bones and mesh together with full two-way coupling (Weidner et
 * al. 2020, "Muscle"; bones and skin of Müller et al. 2002).
 *
 * A bone has mass of its own; the mass of elements between attached vertices comes from the mesh. Bias forces
 * (Coriolis, centrifugal) of both are those of the state before the step. For quasistatic vertices
 * (model/conjac/conjac.h), which follow bones through the condensation, J̇v is neglected, as in the paper. */
#ifndef SP_RIGID_SKELETON_H
#define SP_RIGID_SKELETON_H

#include "base/context.h"
#include "geometry/pose.h"
#include "model/system.h"

enum sp_joint_kind {
    SP_JOINT_REVOLUTE,  /* rotates about an axis, coordinate in rad */
    SP_JOINT_PRISMATIC, /* slides along it, m */
    SP_JOINT_PATH,      /* moves along a path (skin/skin.h); sp_skeleton_new refuses it */
};

/* All positions and directions are those of the mesh at rest, where every joint coordinate is 0. */
typedef struct sp_bone {
    int64_t parent; /* a bone before this one, or −1: the world */
    enum sp_joint_kind kind;
    double at[3], axis[3];  /* m; unit vector (normalized here) */
    double mass, centre[3]; /* kg ≥ 0, m: of the bone's own mass */
    double inertia[6]; /* about its centre, xx, yy, zz, yz, zx, xy kg m² of the tensor (yz is −∫ρ y z dV); positive
                          semidefinite */
    double start, rate;     /* coordinate and its rate at time 0 */
    double stiffness, rest; /* of a spring in the joint: N m/rad or N/m, ≥ 0, and its rest coordinate */
    double damping;         /* N m s or N s/m, ≥ 0 */
    int64_t vertex_count;
    const int64_t *vertex; /* vertices attached to the bone; no vertex belongs to two bones */
} sp_bone;

/* A spring of rest length 0 from a point of a bone to a fixed or moving point of the world. */
typedef struct sp_bone_spring {
    int64_t bone;
    double at[3];     /* m, position on the bone at rest */
    double stiffness; /* N/m, ≥ 0 */
    int64_t count;    /* ≥ 1: positions of its other end, linear between times and constant before and after */
    const double *time, *anchor; /* [count] s increasing, [count, 3] m */
} sp_bone_spring;

typedef struct sp_skeleton sp_skeleton;

/* Returns true if the tensor is positive semidefinite up to the rounding of written numbers: no principal moment is
 * below −1e-6 of the largest entry. */
bool sp_bone_inertia_valid(const double inertia[6]);

/* Copies everything. vertices [vertex_count, 3]; vertex_mass [vertex_count] kg is the lumped mass of the mesh, for the
 * weight of attached vertices. acceleration [3] is gravity, m/s². vertices and vertex_mass may be NULL if no bone has
 * vertices. SP_INPUT with the number of the bone for parents that do not come before it, vertices out of range or
 * attached twice, and numbers that are invalid or too large for the initial matrix. Joints without any inertia are
 * detected by the step. */
int sp_skeleton_new(sp_context *context, int64_t vertex_count, const double *vertices, const double *vertex_mass,
                    const double acceleration[3], int64_t bone_count, const sp_bone *bones, int64_t spring_count,
                    const sp_bone_spring *springs, sp_skeleton **skeleton) SP_MUST_USE;
void sp_skeleton_free(sp_skeleton *skeleton); /* NULL is allowed */

int64_t sp_skeleton_count(const sp_skeleton *skeleton);             /* bones = joint coordinates, m */
const double *sp_skeleton_coordinates(const sp_skeleton *skeleton); /* [m] current values */
const double *sp_skeleton_rates(const sp_skeleton *skeleton);

/* Current pose of a bone: maps the mesh at rest to the world. */
void sp_skeleton_pose(const sp_skeleton *skeleton, int64_t bone, sp_pose *pose);

/* Current displacement [m] and velocity [m/s] of attached vertices, into u, v [3·vertices]; other components are left
 * as they are. Either may be NULL. */
void sp_skeleton_place(const sp_skeleton *skeleton, double *u, double *v);

/* The skeleton's part of a linearly implicit step from time t over h with the factor β: columns at the current state;
 * matrix = M_b + h C + β h² K with M_b the bones' joint-space inertia, C of the joints' dampers and K of the springs of
 * joints and bones (for the latter the positive semidefinite part JᵀkJ); right = M_b θ̇₀ + h (gravity on bones and
 * attached vertices − bias − springs), with the ends of springs at their positions at t + h. The arrays belong to the
 * skeleton and change with its next call; `rate` is allocated for the solution. Allocates nothing. */
void sp_skeleton_joint_system(sp_skeleton *skeleton, double t, double h, double beta, sp_joint_system *joints);

/* θ += h rate, exactly on the arcs of the joints; θ̇ = rate. */
void sp_skeleton_advance(sp_skeleton *skeleton, double h, const double *rate);

/* Saves or loads coordinates and rates (base/state.h), which determine everything else. */
void sp_skeleton_visit(sp_skeleton *skeleton, sp_state *state);

/* The largest angular speed of a bone, rad/s. */
double sp_skeleton_spin(const sp_skeleton *skeleton);

/* Kinetic energy of the bones' own mass; potential energy of springs at time t and of gravity on bones and attached
 * vertices, the latter 0 at rest coordinates [J]. Either may be NULL. */
void sp_skeleton_energies(const sp_skeleton *skeleton, double t, double *kinetic, double *potential);

#endif
