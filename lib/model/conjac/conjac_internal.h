/* Shared by the files of ConJac only (model/conjac/conjac.h). */
#ifndef SP_MODEL_CONJAC_CONJAC_INTERNAL_H
#define SP_MODEL_CONJAC_CONJAC_INTERNAL_H

#include "model/conjac/condensation.h"
#include "model/conjac/conjac.h"

#include <lapacke.h>

/* Columns over the quasistatic components stand side by side, solved for at once: J_s [d], X_s [m] of a border, w_s [0
 * or 1], and a residual. With z = d + m and c = z + (0 or 1). */
typedef struct sp_conjac {
    sp_pool pool, joint_pool;
    sp_context *context;
    sp_system full;
    const sp_fe_space *body;
    sp_conjac_condensation map;
    double gamma;
    int64_t corrections;
    sp_sparse M_ss;      /* compressed */
    sp_sparse supported; /* the supports' stiffness over the body's pattern, nonzero only within vertices … */
    bool standing;       /* … of which there are some */
    double *f;           /* [n] internal force at the state that was assembled last, supports included */
    int64_t room;        /* joints of a border that there is room for */
    int64_t m, c;        /* of the step now */
    bool moving;         /* held vertices move in it */
    double mass_scale, stiff, spring; /* 1 + h α, h β_R + β h², β h² */
    double step;                      /* h, s */
    double *Z;                        /* [s, d + room + 2] J_s, X_s, w_s, residual */
    double *N; /* [s, d + room + 1] rows s of M times those columns, whole ones: the identity and the border's columns
                  take part */
    double *N_d, *A_d;    /* [d, d + room + 1] rows d of M and of K times them; rows s of K times them are 0 */
    double *G;            /* [z, c] ≤ [d + room, d + room + 1] the reduced matrix, and what w has of it */
    double *small, *work; /* [d + room, d + room + 1]; of products */
    double *R; /* [d, d] Cholesky factor of the reduced matrix of the dynamic components: the rub's metric too */
    double *right, *y;          /* [d + room + 1] */
    double *schur, *coupling;   /* [room, room], [d, room] */
    lapack_int *pivot;          /* [room] */
    double *reach, *weight;     /* [3·vertices, room] elastic K c and M c of a border's columns c */
    double *q, *x, *xx, *drift; /* [n] q₀ of the step, room */
    double *xs, *residual, *xd; /* [s], [s], [d] */
    double *prescribed_u, *prescribed_v,
        *wide;                  /* [3·vertices] where held components are and how fast they move, 0 at free ones */
    double *inertia;            /* [n] −M_fh a, which is in the external forces of the step to come … */
    bool speeding;              /* … where that is so */
    double *pull, *push, *drag; /* [n] elastic K_fh v_h, that of grounds, D_fh v_h */
} sp_conjac;

/* Room for a border of so many joints; nothing where there is enough. */
int sp_conjac_make_workspace(sp_conjac *self, int64_t joints) SP_MUST_USE;

/* K, f and the supports at q, K_ss factored; counts factorizations. SP_NUMERICAL where K_ss is not positive definite.
 */
int sp_conjac_assemble(sp_conjac *self, const double *q, bool definite, int64_t *factorizations) SP_MUST_USE;

/* J_s into Z, with N, N_d and A_d. No border, nothing that moves. */
int sp_conjac_columns(sp_conjac *self) SP_MUST_USE;

/* JᵀMJ [d, d] of columns that are there, into self->G. */
void sp_conjac_inertia(sp_conjac *self);

int sp_conjac_velocity_step(void *data, const sp_velocity_step *step) SP_MUST_USE;
double sp_conjac_apply_friction(void *data, const double *q0, const double *q1, double h, double *v);

#endif
