/* What cubature is trained on: reduced forces of whole poses, and what single elements contribute to them.
 *
 * Poses q_t have the exact force f_t = Σ_e U_eᵀ f_e(U_e q_t). The fitting problem (An et al. 2008) is A w = b with a column for every element, entries U_eᵀ f_e(U_e q_t) / ‖f_t‖ for
 * every pose and coordinate (coordinate fastest), b = f_t / ‖f_t‖; all w = 1 solve it. A has r · poses rows: for 1000 poses, r = 30 and 65,000 elements 15.7 GB. It is never formed.
 * Its product with a residual ρ needs only v_t = U ρ_t / ‖f_t‖, one dense product, since a_e·ρ = Σ_t f_e(U_e q_t) · (v_t on the corners of e): the cost of an element's force, not r times
 * that. Forces are computed anew for every product, poses in lanes: for tetrahedra that is about as fast as reading them back from memory would be. */
#ifndef SP_CUBATURE_TRAINING_H
#define SP_CUBATURE_TRAINING_H

#include "assembly/body.h"

/* Poses and their forces. */
typedef struct sp_poses {
    sp_pool pool;
    int64_t r, count;
    double *q;     /* [r, count, column major] m√kg where the basis is mass-normalized */
    double *force; /* [r, count, column major]; what q · force is in J */
} sp_poses;

void sp_poses_free(sp_poses *poses);

/* Forces of the poses first … last − 1 for U [3·vertices, ≥ r, column major]. `memory` bytes bound the workspace (0: 1 GiB). Where a force is not finite, since an element is
 * turned inside out under a law that has no value there, shrunk NULL refuses (SP_INPUT, naming the pose); else the pose is halved until it is, and *shrunk counts such poses. */
int sp_poses_evaluate(sp_context *context, const sp_body *body, const double *U, int64_t memory, int64_t first, int64_t last, sp_poses *poses, int64_t *shrunk) SP_MUST_USE;

/* Random poses: coordinate i normally distributed about centre[i] (NULL: 0) with deviation[i]. Pose t is random number stream first + t.
 *
 * With the deviation amplitude / √(uᵢᵀK(0)uᵢ) every coordinate has the elastic energy amplitude²/2 on average, amplitude in √J; of mass-normalized columns that is amplitude over the root of
 * the Rayleigh quotient (von Tycowicz et al. 2013; Yang et al. 2015, §6). A motion is not like that: loads that push all coordinates alike move the soft ones most. */
void sp_poses_sample(const sp_context *context, int64_t r, const double *deviation, const double *centre, int64_t first, int64_t count, double *q);

/* The amplitude [√J] at which one standard deviation of a coordinate, with the column u [3·vertices] and the stiffness uᵀK(0)u, moves the vertex that moves most by `part` of the
 * body's diagonal; 0 for a column of zeros. */
double sp_poses_amplitude(const sp_body *body, const double *u, double stiffness, double part);

/* What is fitted, and how it is measured. */
typedef struct sp_training_measure {
    /* [r] Coordinate j counts scale[j] times, in A, in b and in ‖f_t‖; NULL: 1. With 1 an error is one of the force, to which stiff coordinates contribute most, so that soft ones may be
     * wrong by their whole force. With 1/√(uᵀK(0)u) it is one of the displacement that the force error makes, in the norm of the elastic energy, whatever the lengths of
     * the columns are: what a motion shows. */
    const double *scale;
    /* [r, r] UᵀK(0)U: only what is nonlinear is fitted, columns U_eᵀ(f_e(U_e q) − K_e(0) U_e q) and b = f − UᵀK(0)U q, for cubature that keeps the linear part exact
     * (cubature.h). Still divided by ‖f_t‖. NULL: all of it. */
    const double *stiffness;
} sp_training_measure;

typedef struct sp_training sp_training;

/* Poses whose force vanishes are refused (SP_INPUT): they say nothing. The body, U and the poses must outlive it; the measure is copied. */
int sp_training_new(sp_context *context, const sp_body *body, const double *U, const sp_training_measure *measure, const sp_poses *poses, int64_t memory, sp_training **training) SP_MUST_USE;
void sp_training_free(sp_training *training); /* NULL is allowed */

int64_t sp_training_coordinates(const sp_training *training); /* r */
int64_t sp_training_rows(const sp_training *training);        /* r · poses */
const double *sp_training_target(const sp_training *training); /* b [rows] */
double sp_training_whole(const sp_training *training);        /* what errors are relative to: the norm of all f_t / ‖f_t‖, √poses */

/* A's columns of `count` elements [rows, count, column major]. */
int sp_training_columns(sp_training *training, int64_t count, const int64_t *element, double *A) SP_MUST_USE;

/* Aᵀρ for ρ [rows]: of all elements (list NULL; c [elements]) or of those listed (c [count]); and ‖a_e‖ of the same, into norm (NULL: not asked for). The digits
 * of either depend on nothing that was asked before. */
int sp_training_products(sp_training *training, const double *rho, int64_t count, const int64_t *list, double *c, double *norm) SP_MUST_USE;

#endif
