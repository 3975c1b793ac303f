/* Shared by the sources of ConJac only (model/conjac/conjac.h). */
#ifndef SP_MODEL_CONJAC_CONJAC_INTERNAL_H
#define SP_MODEL_CONJAC_CONJAC_INTERNAL_H

#include "model/conjac/condensation.h"
#include "model/conjac/conjac.h"

#include <lapacke.h>

/* Columns over the quasistatic components are stored side by side and solved for at once: J_s [d], X_s [m] of the joint
 * columns, w_s [0 or 1], and a residual. Let z = d + m and c = z + (0 or 1). */
typedef struct sp_conjac {
    sp_pool pool, joint_pool;
    sp_context *context;
    sp_system full;
    const sp_fe_space *body;
    sp_conjac_condensation map;
    double gamma;
    int64_t corrections;
    sp_sparse M_ss; /* compressed */
    /* stiffness of springs and floor planes over the body's pattern, nonzero only within vertices … */
    sp_sparse supported;
    bool supported_now;     /* … which is not zero */
    double *f;              /* [n] internal force at the last assembled state, springs and floor planes included */
    int64_t joint_capacity; /* number of joint coordinates that the workspace holds */
    int64_t m, c;           /* of the current step */
    bool moving;            /* fixed vertices have a prescribed velocity in it */
    double mass_scale, stiff, spring; /* 1 + h α, h β_R + β h², β h² */
    double step;                      /* h, s */
    double *Z;                        /* [s, d + joint_capacity + 2] J_s, X_s, w_s, residual */
    double *N; /* [s, d + joint_capacity + 1] rows s of M times the whole columns: the identity and the joint columns
                  are included */
    double *N_d, *A_d; /* [d, d + joint_capacity + 1] rows d of M and of K times them; rows s of K times them are 0 */
    double *G; /* [z, c] ≤ [d + joint_capacity, d + joint_capacity + 1] the reduced matrix, and its product for w */
    double *joint_matrix,
        *work; /* [d + joint_capacity, d + joint_capacity + 1] the joint matrix; scratch for products */
    double *R; /* [d, d] Cholesky factor of the reduced matrix of the dynamic components, also the metric of friction */
    double *right, *y;                  /* [d + joint_capacity + 1] */
    double *schur, *coupling;           /* [joint_capacity, joint_capacity], [d, joint_capacity] */
    lapack_int *pivot;                  /* [joint_capacity] */
    double *stiffness_columns, *weight; /* [3·vertices, joint_capacity] elastic K c and M c of the joint columns c */
    double *q, *x, *xx, *drift;         /* [n] q₀ of the step; scratch */
    double *xs, *residual, *xd;         /* [s], [s], [d] */
    double *prescribed_u, *prescribed_v,
        *full_vector;  /* [3·vertices] displacement and velocity of fixed components, 0 at free ones */
    double *inertia;   /* [n] −M_fh a, which is included in the external forces of the next step … */
    bool accelerating; /* … if this is set */
    double *elastic_rate, *support_rate, *viscous_rate; /* [n] elastic K_fh v_h, the same of floor planes, D_fh v_h */
} sp_conjac;

/* Enlarges the workspace to `joints` joint coordinates if necessary. */
int sp_conjac_make_workspace(sp_conjac *self, int64_t joints) SP_MUST_USE;

/* Assembles K, f and the stiffness of springs and floor planes at q, and factors K_ss; counts factorizations.
 * SP_NUMERICAL if K_ss is not positive definite. */
int sp_conjac_assemble(sp_conjac *self, const double *q, bool definite, int64_t *factorizations) SP_MUST_USE;

/* Computes J_s in Z, with N, N_d and A_d, without joints and prescribed velocities. */
int sp_conjac_columns(sp_conjac *self) SP_MUST_USE;

/* JᵀMJ [d, d] from the current columns, into self->G. */
void sp_conjac_inertia(sp_conjac *self);

int sp_conjac_velocity_step(void *data, const sp_velocity_step *step) SP_MUST_USE;
double sp_conjac_apply_friction(void *data, const double *q0, const double *q1, double h, double *v);

#endif
