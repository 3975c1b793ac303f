/* Shared by the sources of joined bodies only (rigid/joined.h).
 *
 * Unknowns of a body, one after the other: v₁ (3), Ω₁ (3), q̇₁ (r), and the six impulses λ of the joint to its parent,
 * if it has one. The impulses of joints that close loops come last. Equations are in the same order: momentum, angular
 * momentum, momenta of the coordinates, and 2/h Φ of the joint. Matrices are row major. */
#ifndef SP_RIGID_JOINED_INTERNAL_H
#define SP_RIGID_JOINED_INTERNAL_H

#include "rigid/free_internal.h"
#include "rigid/joined.h"

enum {
    JOINT = 6,          /* components of a joint */
    VECTORS = 4,        /* attached vectors of a side: the mean of the interface, and three more for the rotation */
    BORDER = 3 + JOINT, /* unknowns of a child that its parent's equations contain: Ω and λ */
    CROWD = 48,         /* so many bodies are worth the start of threads */
};

/* The vectors y_k = R (a_k + A_k q) of one side of a joint: y₀ from the centre of mass to the mean of the interface;
 * for the parent y₁, y₂, y₃ = Σ s Z_a (x − mean of x), for the child the axes of its frame. */
typedef struct joint_side {
    int64_t body; /* −1: the world */
    double rest[VECTORS][3];
    int slopes;    /* A_k of the first of them, the others are zero */
    double *slope; /* [slopes, 3, r] A_k */
    /* y at the start and the end of the step, their mean */
    double start[VECTORS][3], end[VECTORS][3], mean[VECTORS][3];
    double force[VECTORS][3]; /* impulses on the vectors */
} joint_side;

typedef struct joint {
    joint_side parent, child;
    double inverse[9];    /* J_p⁻¹, 1/m² */
    double *turn;         /* [3, r of the child] J_c⁻¹ Σ s Z × U */
    int64_t impulse;      /* where λ is among the unknowns */
    double lambda[JOINT]; /* of the last step */
    double square;        /* of 2/h Φ in the norm of the residual */
    double gap[JOINT];    /* Φ at the start of the step, with one iteration */
    int64_t loop;         /* its number among the joints that close loops; −1: it belongs to the tree */
    double weight[2]; /* of squares of 2/h Φ_t and 2/h Φ_R in the norm of the residual: masses and moments of inertia */
} joint;

/* A body in the step. */
typedef struct joined_body {
    char name[100]; /* as messages name it */
    sp_free_body *free;
    const sp_inertia *inertia;
    int r, n;              /* coordinates; unknowns without λ, n = 6 + r */
    int size;              /* with λ */
    int64_t first;         /* of its unknowns */
    int64_t parent, joint; /* its parent, −1: none or the world; the joint to it, −1: none */
    int64_t link_count;
    const int64_t *link; /* [link_count] all its joints, in their order */
    double before[3];    /* v at the start of the last step */
    double R0[9], R1[9]; /* rotation at the start and at the end of the step */
    double c1[3];        /* centre of mass at the end of the step, m */
    double turned[9];    /* ∂θ/∂Ω₁, where the change of R₁ is [δθ] R₁ */
    double impulse[9]; /* (I − ½h [Ω̄]) R₀ᵀ: by it torques enter the equations of angular momentum, and impulses on
                          vectors, times A_kᵀ, those of the coordinates */
    double F[3], P[3]; /* impulses of the loads: h F, and Π₀ + h R₀ᵀT */
    double *load;      /* [r] h Q */
    double J[3];       /* impulse of the loads and joints, N s */
    double *matrix;    /* [size, size] the matrix of its equations, overwritten by its inverse */
    double *row;       /* [BORDER, n of the parent] its equations of Ω and λ by the unknowns of the parent */
    double *column;    /* [n of the parent, BORDER] the equations of the parent by its unknowns Ω and λ */
    double *scratch;   /* [BORDER, size or n of the parent, the larger] */
    double *product;   /* [n of the parent, n of the parent] is subtracted from the matrix of the parent */
    int *pivot;
    int status;
    sp_free_state state; /* at the end of the step */
} joined_body;

struct sp_joined {
    sp_pool pool;
    sp_context *context;
    sp_joined_parameters p;
    int64_t body_count, joint_count, loop_count, level_count;
    int64_t n, tree; /* unknowns; those of the tree */
    joined_body *bodies;
    joint *joints;
    int64_t *links;                            /* [2 joints] the joints of each body */
    int64_t *order;                            /* [bodies] from the roots to the leaves */
    int64_t *level;                            /* [level_count + 1] where each generation begins in `order` */
    int64_t *loops;                            /* [loop_count] joints */
    double *x, *trial, *dx, *residual, *still; /* [n] */
    double *loop_column;                       /* [6 loops, tree] row i: the equations of the tree by impulse i */
    double *loop_row;                          /* [6 loops, tree] equation i by the unknowns of the tree */
    double *loop_matrix;                       /* [6 loops, 6 loops] */
    int *loop_pivot;
    double *size; /* [bodies, 2] squares of the residual and of its largest term */
    sp_free_report report;
};

/* Computes the constants of all joints, where the bodies are placed. SP_INPUT as in sp_joined_new. */
int sp_joined_make_joints(sp_joined *joined, const sp_joined_body *bodies, const sp_joint *joints) SP_MUST_USE;

/* y_k = R (a_k + A_k q) of a side of a body with r coordinates. */
void sp_joined_place(const joint_side *side, int r, const double R[9], const double *q, double y[VECTORS][3]);

/* Φ of a joint from the vectors y at its ends, the r coordinates q of the child, and both centres of mass. */
void sp_joined_constraint(const joint *j, int r, const double *q, const double parent[3], const double child[3],
                          double phi[JOINT]);

/* Sets the bodies, the vectors, and the impulses of the joints in the equations of the bodies, for the unknowns x. */
void sp_joined_set_end(sp_joined *joined, const double *x);

/* The rates of all Φ at the end of the step, plus Φ at its start over 2h, into the equations of the joints in r [n]. */
void sp_joined_rates(const sp_joined *joined, const double *x, double *r);

/* Callbacks of sp_newton_problem with the set as `self`. */
void sp_joined_residual(void *self, const double *x, double *r, sp_newton_residual *size);
int sp_joined_factor(void *self, const double *x, bool definite) SP_MUST_USE;
int sp_joined_solve(void *self, const double *residual, double tolerance, double *dx) SP_MUST_USE;

#endif
