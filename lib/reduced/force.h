/* What the reduced system needs of any reduced force: polynomials, direct projection, cubature. */
#ifndef SP_REDUCED_FORCE_H
#define SP_REDUCED_FORCE_H

#include "base/context.h"

typedef struct sp_reduced_force {
    void *self;
    int64_t r;
    bool unsymmetric; /* it is the gradient of no energy: `evaluate` returns 0 and writes all of K */
    bool active;      /* it follows the tension of fibres in the materials of the body's mesh from call to call */
    bool together; /* force and stiffness cost one evaluation: whoever wants one may as well ask for both */
    /* Internal force f [r] and the lower triangle of the tangent stiffness K [r, r, column major] at q [r]; either may be NULL. Returns the strain
     * energy [J]. definite: leave out what can make K indefinite, where the force knows how (assembly/elastic.h). Allocates nothing. */
    double (*evaluate)(void *self, const double *q, bool definite, double *f, double *K);
    bool cubic; /* f is a polynomial of degree 3 or less */
    int64_t (*inverted)(void *self, const double *q); /* as in dynamics/system.h; may be NULL */
    void (*destroy)(void *self); /* NULL: nothing to free */
    /* y = K(q) v without K, for about the cost of a force; NULL: not known. It leaves `estimate` as it was. */
    void (*times)(void *self, const double *q, const double *v, double *y);
    /* An estimate of the relative error of f at the last evaluation (cubature with nested weights); NULL: none. */
    double (*estimate)(void *self);
} sp_reduced_force;

#endif
