/* The interface of reduced forces: polynomials, Galerkin projection, cubature. */
#ifndef SP_REDUCED_FORCE_H
#define SP_REDUCED_FORCE_H

#include "base/context.h"
#include "base/state.h"

/* Norms of a reduced force f: √Σ f_j², which is dominated by stiff coordinates; and √Σ f_j²/K_jj with K = UᵀK(0)U, the
 * elastic energy norm of the displacement that f causes if coordinates respond independently, which accounts for soft
 * coordinates, in which a body moves most. Coordinates without stiffness are left out of the second. */
enum sp_norm { SP_NORM_FORCE, SP_NORM_ENERGY, SP_NORMS };

typedef struct sp_reduced_force {
    void *self;
    int64_t r;
    bool unsymmetric; /* f is not conservative: `evaluate` returns 0 and writes all of K */
    bool active;      /* f follows the tension of fibres in the materials of the body's mesh from call to call */
    bool together;    /* force and stiffness cost one evaluation: ask for both at once */
    /* Internal force f [r] and the lower triangle of the tangent stiffness K [r, r, column major] at q [r]; either may
     * be NULL. Returns the strain energy [J]. definite: leave out the terms that can make K indefinite, if the force
     * supports it (assembly/elastic.h). Allocates nothing. */
    double (*evaluate)(void *self, const double *q, bool definite, double *f, double *K);
    bool cubic;                                       /* f is a polynomial of degree 3 or less */
    int64_t (*inverted)(void *self, const double *q); /* as in model/system.h; may be NULL */
    void (*destroy)(void *self);                      /* NULL: nothing to free */
    /* y = K(q) v without K, for about the cost of a force; NULL: not available. Does not change `estimate`. */
    void (*times)(void *self, const double *q, const double *v, double *y);
    /* Estimates of the relative error of f at the last evaluation, error[SP_NORMS] (cubature with nested weights);
     * NULL: none. */
    void (*estimate)(void *self, double *error);
    /* Saves or loads what is reused from the last evaluation (base/state.h); NULL: nothing. */
    void (*visit)(void *self, sp_state *state);
} sp_reduced_force;

#endif
