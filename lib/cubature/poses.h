/* Training data of cubature: poses in reduced coordinates, their sampling, and the exact forces of the body in them. */
#ifndef SP_CUBATURE_POSES_H
#define SP_CUBATURE_POSES_H

#include "assembly/fe_space.h"

/* Poses and their forces. */
typedef struct sp_poses {
    sp_pool pool;
    int64_t r, count;
    double *q;     /* [r, count, column major] m√kg where the basis is mass-normalized */
    double *force; /* [r, count, column major]; q · force is in J */
} sp_poses;

void sp_poses_free(sp_poses *poses);

/* Forces of the poses first … last − 1 for U [3·vertices, ≥ r, column major]. `memory` bytes bound the workspace (0: 1
 * GiB). If a force is not finite, because an element is inverted under a law that is undefined there: with shrunk NULL
 * it is an error (SP_INPUT, naming the pose); else the pose is halved until the force is finite, and *shrunk counts
 * such poses. */
int sp_poses_evaluate(sp_context *context, const sp_fe_space *body, const double *U, int64_t memory, int64_t first,
                      int64_t last, sp_poses *poses, int64_t *shrunk) SP_MUST_USE;

/* Random poses: coordinate i is normally distributed about centre[i] (NULL: 0) with deviation[i]. Pose t uses the
 * random number stream first + t.
 *
 * With the deviation amplitude / √(uᵢᵀK(0)uᵢ) every coordinate has the elastic energy amplitude²/2 on average, with
 * amplitude in √J; for mass-normalized columns this is amplitude divided by the square root of the Rayleigh quotient
 * (von Tycowicz et al. 2013; Yang et al. 2015, §6). Real motions differ: loads that act equally on all coordinates move
 * the soft ones most. */
void sp_poses_sample(const sp_context *context, int64_t r, const double *deviation, const double *centre, int64_t first,
                     int64_t count, double *q);

/* The amplitude [√J] at which one standard deviation of a coordinate, with the column u [3·vertices] and the stiffness
 * uᵀK(0)u, moves the vertex of largest displacement by `part` of the body's diagonal; 0 for a zero column. */
double sp_poses_amplitude(const sp_fe_space *body, const double *u, double stiffness, double part);

#endif
