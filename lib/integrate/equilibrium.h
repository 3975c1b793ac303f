/* Static equilibria f(q) = F of a system under many loads, each found from another one nearby. */
#ifndef SP_INTEGRATE_EQUILIBRIUM_H
#define SP_INTEGRATE_EQUILIBRIUM_H

#include "model/system.h"

typedef struct sp_equilibrium sp_equilibrium;

/* Counts for one equilibrium, and its residual. */
typedef struct sp_equilibrium_report {
    int64_t load_steps; /* 1: the load in one step */
    int64_t iterations, factorizations, halvings;
    int64_t indefinite; /* number of factorizations that used the definite variant of K */
    double residual;    /* ‖f(q) − F‖ / ‖F‖, recomputed at the end; without a load ‖f(q)‖ [N] */
} sp_equilibrium_report;

/* tolerance and iterations as in sp_integrator_parameters. The system must outlive it. */
int sp_equilibrium_new(sp_context *context, const sp_system *system, double tolerance, int64_t iterations,
                       sp_equilibrium **equilibrium) SP_MUST_USE;
void sp_equilibrium_free(sp_equilibrium *equilibrium); /* NULL is allowed */

/* q [n] receives the equilibrium under `load` [n], found from the one at `from` [n] under `from_load` [n] by Newton's
 * method with a line search in the potential. If it fails, the load is changed in increments, down to a 1024th. The
 * result depends on the arguments alone, not on earlier solves. SP_NUMERICAL if even the smallest increment fails; the
 * report is set in this case too. q may not be `from`. */
int sp_equilibrium_find(sp_equilibrium *equilibrium, const double *from, const double *from_load, const double *load,
                        double *q, sp_equilibrium_report *report) SP_MUST_USE;

#endif
