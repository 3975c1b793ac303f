/* Shared by the sources of free bodies only (rigid/free.h): the body, its mass matrix, and the equations of a step.
 *
 * The unknowns of a step are ξ₁ = (Ω₁, q̇₁), so that q₁ = q₀ + h (q̇₀ + q̇₁)/2 loses no digits to a division by h; the
 * residual is that of π₁.
 *
 * All of A(q) follows from its slopes, nine rows of r: ∂_iJ in the order xx, yy, zz, yz, zx, xy, and G. They are linear
 * in q; their derivatives are nine constant r × r matrices, symmetric for J, antisymmetric for G (∂_iG_j = −∂_jG_i). */
#ifndef SP_RIGID_FREE_INTERNAL_H
#define SP_RIGID_FREE_INTERNAL_H

#include "nonlinear/newton.h"
#include "rigid/free.h"

enum { INERTIA = 6, SLOPES = 9 };

/* The state of rotation and deformation at one end of a step, in the body frame. */
typedef struct instant {
    double Omega[3];      /* rad/s */
    double Pi[3];         /* angular momentum about the centre of mass, kg m²/s */
    double J[INERTIA];    /* kg m² */
    double *q, *qdot, *p; /* [r] coordinates, their rates and momenta */
    double *slope;        /* [SLOPES, r] */
    double *dG_qdot;      /* [3, r] ∂_iG q̇ */
    double *f;            /* [r] internal force, if forces are by Simpson's rule */
    double *K;            /* [r, r] stiffness, if a step needs it */
} instant;

/* Scratch matrices of a step, for one thread. */
struct sp_free_workspace {
    double *matrix;    /* [n, n] the Jacobian, or its rotation rows only; overwritten by its factors */
    double *square;    /* [r, r] the block of the deformation */
    double *stiffness; /* [r, r] at the midpoint of the step */
    int *pivot;        /* [n] */
};

struct sp_free_body {
    sp_pool pool;
    sp_context *context;
    const sp_inertia *inertia;
    sp_free_parameters p;
    sp_reduced_force force;
    int r, n;     /* number of coordinates, and of unknowns n = 3 + r */
    bool coupled; /* rotation and deformation are coupled: r > 0, not p.decoupled */
    bool simpson; /* f̄ is by Simpson's rule, else the force at the midpoint */

    double *weight; /* [n] 1/A_kk: the norm of π is (Σ π_k²/A_kk)^½, the square root of an energy */

    /* the motion */
    instant now, next;
    sp_free_state state;
    double *before; /* [n] Ω and q̇ at the start of the last step */
    double work;    /* work done against a nonconservative force since the body was placed, J */

    /* the step */
    double P[3];                        /* Π₀ + h R₀ᵀT */
    double *load;                       /* [r] h Q */
    double *middle;                     /* [r] (q₀ + q₁)/2 */
    double *middle_slope;               /* [INERTIA, r] at the midpoint */
    double *middle_f;                   /* [r] at the midpoint */
    double *mean_f;                     /* [r] f̄ */
    double *damping;                    /* [r] h C (q₁ − q₀)/h */
    double *change;                     /* [r] q₁ − q₀ */
    double *x, *trial, *dx, *residual;  /* [n] of Newton's method */
    double *still;                      /* [n] unknowns of a step with constant q */
    int64_t inverted_element;           /* the element that an iterate of this step inverted; −1: none */
    bool definite;                      /* the deformation block is factored by Cholesky */
    double *matrix, *square, *middle_K; /* of the thread's sp_free_workspace, its stiffness */
    int *pivot;
    sp_free_workspaces own;
    const sp_free_workspaces *workspaces;
    sp_free_report report;
};

/* y = s x for a symmetric tensor whose components are `stride` apart in memory. */
static inline void sp_tensor_times(const double *s, int64_t stride, const double x[3], double y[3])
{
    const double xx = s[0], yy = s[stride], zz = s[2 * stride], yz = s[3 * stride], zx = s[4 * stride],
                 xy = s[5 * stride];
    y[0] = xx * x[0] + xy * x[1] + zx * x[2];
    y[1] = xy * x[0] + yy * x[1] + yz * x[2];
    y[2] = zx * x[0] + yz * x[1] + zz * x[2];
}

/* Column i of three rows of r. */
static inline void column(const double *rows, int64_t r, int64_t i, double y[3])
{
    for (int c = 0; c < 3; c++)
        y[c] = rows[c * r + i];
}

/* ---- the mass matrix and the momenta (free_mass.c) ---- */

/* Sets b->weight. SP_NUMERICAL if A(0) is not positive definite. */
int sp_free_check_inertia(sp_free_body *b) SP_MUST_USE;

/* The lower triangle of A [n, n, column major] with this J and these rows of G [3, r] (NULL: 0). */
void sp_free_fill_mass(const sp_free_body *b, const double J[INERTIA], const double *G, double *A);

/* Computes slopes and J at at->q. */
void sp_free_set_shape(const sp_free_body *b, instant *at);

/* Computes p and `dG_qdot` from the velocities, and G q̇, the contribution of the deformation to Π. */
void sp_free_set_deformation_momentum(const sp_free_body *b, instant *at, double Gqdot[3]);

/* Computes p and Π from the velocities. */
void sp_free_set_momenta(const sp_free_body *b, instant *at);

/* Twice the kinetic energy about the centre of mass, J. */
double sp_free_twice_kinetic(const sp_free_body *b, const instant *at);

/* Computes Ω = J⁻¹ (Π − G q̇) from Π, then p and `dG_qdot`. */
void sp_free_set_angular_velocity(const sp_free_body *b, instant *at);

/* ---- the equations of a step (free_equations.c); callbacks of sp_newton_problem with the body as `self` ---- */

/* Computes b->next and the midpoint of the step for x = (Ω₁, q̇₁). */
void sp_free_set_end(sp_free_body *b, const double *x);

/* The residual has no value if an element is inverted whose law is undefined there; the element is stored in
 * b->inverted_element. */
void sp_free_residual(void *self, const double *x, double *r, sp_newton_residual *size);

/* The same for the end of the step that sp_free_set_end has set. */
void sp_free_balance(sp_free_body *b, double *r, sp_newton_residual *size);

/* The exact derivative of the residual with respect to (Ω₁, q̇₁) into b->matrix [n, n, row major]. Not of decoupled
 * bodies. */
void sp_free_fill_matrix(sp_free_body *b);

int sp_free_factor(void *self, const double *x, bool definite) SP_MUST_USE;
int sp_free_solve(void *self, const double *residual, double tolerance, double *dx) SP_MUST_USE;

/* y += scale K x. */
void sp_free_add_stiffness_times(const sp_free_body *b, double scale, const double *K, const double *x, double *y);

/* ---- the step (free_step.c) ---- */

/* Sets P and the loads of the step. SP_NUMERICAL if a force is not finite. */
int sp_free_begin(sp_free_body *b, const double F[3], const double T[3], const double *Q) SP_MUST_USE;

/* Moves f at the end of the step by K dq after a correction of q̇₁ by −dq̇, which is too small to evaluate f again. */
void sp_free_follow(sp_free_body *b, const double *dqdot);

/* The step was without any iteration: K at its end is that at its start. */
void sp_free_keep_stiffness(sp_free_body *b);

/* Adds what Newton's method did in a step. */
void sp_free_count(sp_free_report *report, const sp_newton_report *newton);

/* Completes the end of the step, b->next and `state`, from P and the force F. */
void sp_free_finish(sp_free_body *b, const double F[3], sp_free_state *state);

/* SP_NUMERICAL if something of it is not finite, or an element is inverted whose law is undefined there. */
int sp_free_check(const sp_free_body *b, const sp_free_state *state) SP_MUST_USE;

/* Makes the end of the step the current state. */
void sp_free_accept(sp_free_body *b, const sp_free_state *state);

/* ---- the body (free.c) ---- */

/* Selects the workspace of the calling thread. */
void sp_free_use_workspace(sp_free_body *b);

/* Saves Ω and q̇ of b->now for the initial guess of Newton's method in the step after the next change of b->now. */
void sp_free_keep_velocities(sp_free_body *b);

#endif
