/* Articulated rigid bones in joint coordinates, each joint with one coordinate: a tree whose roots turn or slide
 * against the world. Vertices of a mesh are attached to bones: they are held vertices of the mesh's system, and the
 * step of a linearly implicit integrator moves bones and mesh together, with full coupling both ways (Weidner et al.
 * 2020, "Muscle"; bones and skin of Müller et al. 2002).
 *
 * A bone carries mass of its own; what the elements between attached vertices weigh comes from the mesh. Bias forces
 * (Coriolis, centrifugal) of both are those of the state before the step. Of quasistatic vertices
 * (model/conjac/conjac.h), which follow bones through the condensation, J̇v is left out, as it is in the paper. */
#ifndef SP_RIGID_SKELETON_H
#define SP_RIGID_SKELETON_H

#include "base/context.h"
#include "geometry/pose.h"
#include "model/system.h"

enum sp_joint_kind {
    SP_JOINT_REVOLUTE,  /* turns about an axis, coordinate in rad */
    SP_JOINT_PRISMATIC, /* slides along it, m */
};

/* All places and directions are those of the mesh at rest, where every joint coordinate is 0. */
typedef struct sp_bone {
    int64_t parent; /* a bone before this one, or −1: the world */
    enum sp_joint_kind kind;
    double at[3], axis[3];  /* m; unit vector (made so) */
    double mass, centre[3]; /* kg ≥ 0, m: of its own */
    double inertia[6]; /* about its centre, xx, yy, zz, yz, zx, xy kg m² of the tensor (yz is −∫ρ y z dV); positive
                          semidefinite */
    double start, rate;     /* coordinate and its rate at time 0 */
    double stiffness, rest; /* of a spring in the joint, N m/rad or N/m, ≥ 0, and the coordinate where it is slack */
    double damping;         /* N m s or N s/m, ≥ 0 */
    int64_t vertex_count;
    const int64_t *vertex; /* attached to it; no vertex to two bones */
} sp_bone;

/* From a point of a bone to a fixed or moving point of the world, rest length 0. */
typedef struct sp_bone_spring {
    int64_t bone;
    double at[3];                /* m, of the bone at rest */
    double stiffness;            /* N/m, ≥ 0 */
    int64_t count;               /* ≥ 1: where its other end is, linear between times, constant before and after */
    const double *time, *anchor; /* [count] s increasing, [count, 3] m */
} sp_bone_spring;

typedef struct sp_skeleton sp_skeleton;

/* Positive semidefinite up to the rounding of written numbers: no principal moment below −1e-6 of the largest entry. */
bool sp_bone_inertia_valid(const double inertia[6]);

/* Copies everything. vertices [vertex_count, 3]; vertex_mass [vertex_count] kg lumped mass of the mesh, for the weight
 * of attached vertices. acceleration [3] of gravity, m/s². vertices and vertex_mass may be NULL where no bone has
 * vertices. SP_INPUT with the number of the bone for parents that do not come before, vertices out of range or twice
 * attached, numbers that make no sense or are too large for the matrix of the start. Joints with no inertia at all are
 * found by the step. */
int sp_skeleton_new(sp_context *context, int64_t vertex_count, const double *vertices, const double *vertex_mass,
                    const double acceleration[3], int64_t bone_count, const sp_bone *bones, int64_t spring_count,
                    const sp_bone_spring *springs, sp_skeleton **skeleton) SP_MUST_USE;
void sp_skeleton_free(sp_skeleton *skeleton); /* NULL is allowed */

int64_t sp_skeleton_count(const sp_skeleton *skeleton);             /* bones = joint coordinates, m */
const double *sp_skeleton_coordinates(const sp_skeleton *skeleton); /* [m] now */
const double *sp_skeleton_rates(const sp_skeleton *skeleton);

/* Pose of a bone now: mesh at rest to world. */
void sp_skeleton_pose(const sp_skeleton *skeleton, int64_t bone, sp_pose *pose);

/* Displacement [m] and velocity [m/s] of attached vertices now, into u, v [3·vertices]; other components untouched.
 * Either may be NULL. */
void sp_skeleton_place(const sp_skeleton *skeleton, double *u, double *v);

/* What a linearly implicit step from time t over h with the factor β asks of the skeleton: columns at the state now;
 * matrix = M_b + h C + β h² K with M_b the bones' joint-space inertia, C of the joints' dampers and K of the joints'
 * and bones' springs (positive semidefinite part, JᵀkJ for the latter); right = M_b θ̇₀ + h (gravity on bones and
 * attached vertices − bias − springs), springs at their ends' places at t + h. The arrays belong to the skeleton and
 * change with its next call; `rate` is room for the solution. Allocates nothing. */
void sp_skeleton_joint_system(sp_skeleton *skeleton, double t, double h, double beta, sp_joint_system *joints);

/* θ += h rate, exactly on the joints' arcs; θ̇ = rate. */
void sp_skeleton_advance(sp_skeleton *skeleton, double h, const double *rate);

/* Coordinates and rates (base/state.h), from which all else follows. */
void sp_skeleton_visit(sp_skeleton *skeleton, sp_state *state);

/* The largest angular speed of a bone, rad/s. */
double sp_skeleton_spin(const sp_skeleton *skeleton);

/* Kinetic energy of the bones' own mass; energy of springs at time t and of gravity on bones and attached vertices,
 * that of gravity 0 at rest coordinates [J]. Either may be NULL. */
void sp_skeleton_energies(const sp_skeleton *skeleton, double t, double *kinetic, double *potential);

#endif
