/* Shared by full.c and full_matrix.c: the state of a full-order model. */
#ifndef SP_MODEL_FULL_INTERNAL_H
#define SP_MODEL_FULL_INTERNAL_H

#include "linear/cholesky.h"
#include "linear/iterate.h"
#include "model/models.h"

typedef struct sp_full {
    sp_pool pool;
    sp_context *context;
    sp_fe_space *body;
    bool linear, lumped;
    sp_sparse K;       /* linear: K(0); else assembled by sp_full_system_stiffness, and allocated at its first call */
    sp_sparse M, S;    /* over the pattern of K */
    sp_sparse M_short; /* for products */
    double *diagonal;  /* lumped mass by degree of freedom */
    sp_cholesky *factor, *mass_factor;
    double *u, *f, *v;   /* full vectors; fixed components of u and v have their prescribed displacement and velocity */
    double *rest;        /* [3·vertices] zeros */
    double *vertex_mass; /* [vertices] lumped */
    bool prescribed_force, prescribed_moving; /* some fixed component is not zero */
    /* [dof_count] linear: K_fh u_h, K_fh v_h, D_fh v_h */
    double *prescribed_elastic, *prescribed_elastic_rate, *prescribed_viscous_rate;
    double prescribed_energy;                                        /* linear: ½ u_hᵀ K_hh u_h */
    double mass_scale, stiffness_scale, spring_scale, viscous_scale; /* scales of S in a linear system … */
    /* … and of its factor, which is kept while the two agree */
    double factored_mass, factored_stiffness, factored_spring, factored_viscous;
    bool factored;
    uint64_t spring_key; /* hash of the springs' vertices and stiffnesses */
    sp_supports supports;
    const sp_viscous *viscous; /* NULL: none */
    sp_sparse D;               /* linear: D(0) */
    enum sp_solver solver;
    double tolerance; /* tolerance of iterative solves … */
    double enough;    /* … and the one that suffices for the next solves */
    sp_iteration iteration;
    double *block; /* [vertices, 9] JACOBI: inverses of the diagonal blocks of S, for free components only */
    /* REUSED: number of products with the current factor, and of decimal digits gained by them */
    double factor_products, factor_digits;
    bool factor_stale;
    double *factored_values; /* REUSED: the values of S that were factored, over its pattern */
    int64_t solves, products, factorizations;
} sp_full;

/* Functions of the table sp_system (model/system.h) */
int sp_full_factor(void *data) SP_MUST_USE;
int sp_full_solve(void *data, const double *b, double *x) SP_MUST_USE;

/* Computes S of a linear system. */
void sp_full_sum_up(sp_full *self);

/* Factors S, also for a model with an iterative solver. */
int sp_full_factor_now(sp_full *self) SP_MUST_USE;

/* Factors the matrix whose factor was kept, which may be that of some steps ago. */
int sp_full_factor_again(sp_full *self) SP_MUST_USE;

#endif
