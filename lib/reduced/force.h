/* What the reduced system needs of any reduced force: polynomials, direct projection, cubature. */
#ifndef SP_REDUCED_FORCE_H
#define SP_REDUCED_FORCE_H

#include "base/context.h"
#include "base/state.h"

/* Norms of a reduced force f: √Σ f_j², to which stiff coordinates contribute most; and √Σ f_j²/K_jj with K = UᵀK(0)U,
 * the norm of the elastic energy of the displacement that f makes when every coordinate answers by itself, so that soft
 * coordinates, in which a body moves most, count. Coordinates without stiffness are left out of the second. */
enum sp_norm { SP_NORM_FORCE, SP_NORM_ENERGY, SP_NORMS };

typedef struct sp_reduced_force {
    void *self;
    int64_t r;
    bool unsymmetric; /* it is the gradient of no energy: `evaluate` returns 0 and writes all of K */
    bool active;      /* it follows the tension of fibres in the materials of the body's mesh from call to call */
    bool together;    /* force and stiffness cost one evaluation: whoever wants one may as well ask for both */
    /* Internal force f [r] and the lower triangle of the tangent stiffness K [r, r, column major] at q [r]; either may
     * be NULL. Returns the strain energy [J]. definite: leave out what can make K indefinite, where the force knows how
     * (assembly/elastic.h). Allocates nothing. */
    double (*evaluate)(void *self, const double *q, bool definite, double *f, double *K);
    bool cubic;                                       /* f is a polynomial of degree 3 or less */
    int64_t (*inverted)(void *self, const double *q); /* as in model/system.h; may be NULL */
    void (*destroy)(void *self);                      /* NULL: nothing to free */
    /* y = K(q) v without K, for about the cost of a force; NULL: not known. It leaves `estimate` as it was. */
    void (*times)(void *self, const double *q, const double *v, double *y);
    /* Estimates of the relative error of f at the last evaluation, error[SP_NORMS] (cubature with nested weights);
     * NULL: none. */
    void (*estimate)(void *self, double *error);
    /* What it keeps of the last evaluation and makes use of (base/state.h); NULL: nothing. */
    void (*visit)(void *self, sp_state *state);
} sp_reduced_force;

#endif
