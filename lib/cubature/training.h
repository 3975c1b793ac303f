/* The fitting problem of cubature training: reduced forces of poses of the whole body, and the contributions of single
 * elements.
 *
 * Poses q_t have the exact force f_t = Σ_e U_eᵀ f_e(U_e q_t). The fitting problem (An et al. 2008) is A w = b with a
 * column for every element, entries U_eᵀ f_e(U_e q_t) / ‖f_t‖ for every pose and coordinate (coordinate fastest), b =
 * f_t / ‖f_t‖; all w = 1 solve it. A has r · poses rows: for 1000 poses, r = 30 and 65,000 elements 15.7 GB. It is
 * never formed. Its product with a residual ρ needs only v_t = U ρ_t / ‖f_t‖, one dense product, since a_e·ρ = Σ_t
 * f_e(U_e q_t) · (v_t on the corners of e): the cost of an element's force, not r times that. Forces are recomputed for
 * every product, with poses in SIMD lanes: for tetrahedra this is about as fast as reading them from memory. */
#ifndef SP_CUBATURE_TRAINING_H
#define SP_CUBATURE_TRAINING_H

#include "cubature/poses.h"

/* The fitted quantity and its norm. */
typedef struct sp_training_measure {
    /* [r] Coordinate j is multiplied by scale[j] in A, in b and in ‖f_t‖; NULL: 1. With 1 the error is one of the
     * force, which stiff coordinates dominate, so that soft ones may have an error of 100 %. With 1/√(uᵀK(0)u) it is
     * the error of the displacement that the force error causes, in the elastic energy norm, whatever the lengths of
     * the columns are; this is the error that is visible in a motion. */
    const double *scale;
    /* [r, r] UᵀK(0)U: only the nonlinear part is fitted, columns U_eᵀ(f_e(U_e q) − K_e(0) U_e q) and b = f − UᵀK(0)U q,
     * for cubature with an exact linear part (cubature.h). Still divided by ‖f_t‖. NULL: the complete force. */
    const double *stiffness;
} sp_training_measure;

typedef struct sp_training sp_training;

/* Poses whose force vanishes are an error (SP_INPUT): they contain no information. The body, U and the poses must
 * outlive the training; the measure is copied. */
int sp_training_new(sp_context *context, const sp_fe_space *body, const double *U, const sp_training_measure *measure,
                    const sp_poses *poses, int64_t memory, sp_training **training) SP_MUST_USE;
void sp_training_free(sp_training *training); /* NULL is allowed */

int64_t sp_training_coordinates(const sp_training *training);       /* r */
int64_t sp_training_rows(const sp_training *training);              /* r · poses */
const double *sp_training_target(const sp_training *training);      /* b [rows] */
double sp_training_size(const sp_training *training, int64_t pose); /* ‖f_t‖, with the measure's scale */
double sp_training_whole(
    const sp_training *training); /* the norm that errors are relative to: that of all f_t / ‖f_t‖, √poses */

/* A's columns of `count` elements [rows, count, column major]. */
int sp_training_columns(sp_training *training, int64_t count, const int64_t *element, double *A) SP_MUST_USE;

/* Aᵀρ for ρ [rows]: of all elements (list NULL; c [elements]) or of those listed (c [count]); and ‖a_e‖ of the same
 * into norm (NULL: not wanted). The results do not depend, to the last bit, on earlier calls. */
int sp_training_products(sp_training *training, const double *rho, int64_t count, const int64_t *list, double *c,
                         double *norm) SP_MUST_USE;

#endif
