/* --certificate: the error of the basis, estimated from the residual in the full-order equation at recorded frames
 * (reduced/certificate.h). */
#ifndef TOOLS_SIMULATE_CERTIFY_H
#define TOOLS_SIMULATE_CERTIFY_H

#include "integrate/integrate.h"

#include <jansson.h>

struct simulation;

/* Energies of a frame, J. */
enum {
    CERTIFY_BASIS,      /* ½‖R‖² in the dual norm, of the part outside of the basis */
    CERTIFY_QUADRATURE, /* of the part in the reduced equation */
    CERTIFY_MOTION,     /* ½‖Uq‖²_K + ½‖Uq̇‖²_M */
    CERTIFY_COUNT
};

/* Estimates of the relative error in the energy norm over the frames so far. In statics the largest of a frame,
 * √(error / (motion + error)); in a motion the same of the largest energies of all frames, since motion and error
 * oscillate during a period. */
typedef struct certify_estimates {
    double energy[CERTIFY_COUNT]; /* the largest of all frames, J */
    double basis, quadrature;
} certify_estimates;

/* Reads the file and finds the loads in it. Without the option it does nothing. The model must have been made. */
void certify_begin(struct simulation *s);

/* The energies of the state of the integrator, which are added to the estimates. Does nothing without the option. */
void certify(struct simulation *s, const sp_integrator *integrator, certify_estimates *estimates,
             double energy[CERTIFY_COUNT]);

/* Adds the estimates to the result. */
void certify_report(const struct simulation *s, json_t *result);

/* Prints the estimates. False: they are above --limit. */
bool certify_say(const struct simulation *s);

void certify_free(struct simulation *s);

#endif
