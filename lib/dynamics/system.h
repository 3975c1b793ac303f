/* What an integrator needs to know of a body: coordinates q with M q̈ + (C(q) + D(q)) q̇ + f(q) = external force, C = αM + βK. Reduced, full and
 * linear models stand behind this one interface, so that every integrator is written once.
 *
 * Functions take `self` first. Vectors have n entries. A system owns one matrix S, built and factored for one solve at a
 * time: start, add…, factor, solve. Nothing is allocated in these calls. */
#ifndef SP_DYNAMICS_SYSTEM_H
#define SP_DYNAMICS_SYSTEM_H

#include "base/context.h"

/* A linear spring from a vertex to a fixed point. It belongs to the body's forces while it acts. */
typedef struct sp_spring {
    int64_t vertex;
    double anchor[3];  /* m */
    double stiffness;  /* N/m, ≥ 0 */
} sp_spring;

typedef struct sp_system {
    void *self;
    int64_t n;
    bool constant;  /* K does not depend on q: one Newton iteration is exact */
    /* Stored energy [J], springs included; f [n] overwritten (NULL: not wanted). */
    double (*force)(void *self, const double *q, double *f);
    /* S = mass_scale · M. */
    void (*matrix_start)(void *self, double mass_scale);
    /* S += scale · K(q) + spring_scale · the springs' stiffness (apart, because springs do not damp). f [n] receives the force too where not NULL; returns the stored energy. definite:
     * leave out what can make K indefinite (assembly/elastic.h); matrix_factor may then factor another matrix near by that is definite. */
    double (*matrix_add)(void *self, const double *q, double scale, double spring_scale, bool definite, double *f);
    /* SP_NUMERICAL where S is not positive definite; where it is not symmetric, singular. */
    int (*matrix_factor)(void *self) SP_MUST_USE;
    /* SP_NUMERICAL where an iterative solver finds that out only now, or does not converge. x is not b. */
    int (*matrix_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    void (*mass_times)(void *self, const double *x, double *y);
    int (*mass_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    /* y = K(q) v, springs left out (they do not damp). */
    void (*tangent_times)(void *self, const double *q, const double *v, double *y);
    /* The springs that act from now on; the array must live as long as it is set. */
    void (*set_springs)(void *self, int64_t count, const sp_spring *springs);
    bool cubic; /* the force is a polynomial of degree 3 or less in q */
    /* The first element that is turned inside out at q under a law that has no value there, −1 where there is none; NULL where that cannot be. At such q the energy
     * is +∞ and forces are NaN: integrators never keep one. */
    int64_t (*inverted)(void *self, const double *q);
    /* Damping by strain rate, the force D(q) v with D symmetric, positive semidefinite and quadratic in q; both NULL where there is none.
     * S += scale · D(q). */
    void (*viscous_add)(void *self, const double *q, double scale);
    /* y = D(q) v. */
    void (*viscous_times)(void *self, const double *q, const double *v, double *y);
    bool nonconservative; /* f is the gradient of no energy, and K not symmetric: `force` returns the energy of the springs only */
} sp_system;

/* External forces in the system's coordinates. */
typedef struct sp_forcing {
    void *self;
    /* Mean over [t0, t1] of the external force, into f [n]; t1 infinite: what acts for ever. */
    void (*mean)(void *self, double t0, double t1, double *f);
    /* Sets the system's springs to those that act in the middle of [t0, t1]; returns true when they changed. NULL: none. */
    bool (*springs)(void *self, double t0, double t1);
} sp_forcing;

#endif
