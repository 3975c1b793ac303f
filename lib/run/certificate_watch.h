/* The error of the basis of a running body, estimated at every frame from the residual in the full-order equation
 * (reduced/certificate.h). */
#ifndef SP_RUN_CERTIFICATE_WATCH_H
#define SP_RUN_CERTIFICATE_WATCH_H

#include "reduced/certificate.h"
#include "run/body.h"
#include "run/run.h"

/* Energies of a frame, J. */
enum {
    SP_CERTIFIED_BASIS,      /* ½‖R‖² in the dual norm, of the part outside of the basis */
    SP_CERTIFIED_QUADRATURE, /* of the part in the reduced equation */
    SP_CERTIFIED_MOTION,     /* ½‖Uq‖²_K + ½‖Uq̇‖²_M */
    SP_CERTIFIED_COUNT
};

/* Estimates of the relative error in the energy norm over the frames so far. In statics the largest of a frame,
 * √(error / (motion + error)); in a motion the same of the largest energies of all frames, since motion and error
 * oscillate during a period. Plain numbers, which a checkpoint saves as bytes. */
typedef struct sp_certified {
    double energy[SP_CERTIFIED_COUNT]; /* the largest of all frames, J */
    double basis, quadrature;
} sp_certified;

typedef struct sp_certificate_watch {
    const sp_run_body *body;
    const sp_certificate *certificate;
    sp_pool pool;
    double *factor;                     /* [3 + loads of the certificate, loads of the body] by columns */
    double *load;                       /* [3 + loads of the certificate] */
    double *acceleration, *part, *work; /* [r], [2r], [columns] */
    double energy[SP_CERTIFIED_COUNT];  /* of the last frame */
    sp_certified estimates;
} sp_certificate_watch;

/* Finds the loads of the body in the certificate, which must be of the same basis. The watch borrows both; the body
 * needs its integrator from the first frame on. SP_USAGE if a load is a spring, or if the certificate was not made for
 * the place of a load. In the second case *missing is the number of that load, from 1; else it is 0. */
int sp_certificate_watch_new(sp_context *context, const sp_run_body *body, const sp_certificate *certificate,
                             sp_certificate_watch *watch, int64_t *missing) SP_MUST_USE;

/* The energies of the present state, which are added to the estimates. SP_NUMERICAL if one is not finite. */
int sp_certificate_watch_measure(sp_certificate_watch *watch) SP_MUST_USE;

/* Measures every frame, and saves the estimates. */
sp_observer sp_certificate_watch_observer(sp_certificate_watch *watch);

void sp_certificate_watch_free(sp_certificate_watch *watch); /* {0} is allowed */

#endif
