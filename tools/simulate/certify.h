/* --certificate: the error of the basis, estimated at recorded frames (run/certificate_watch.h). All functions end the
 * process on failure; without the option they do nothing. */
#ifndef TOOLS_SIMULATE_CERTIFY_H
#define TOOLS_SIMULATE_CERTIFY_H

#include "run/certificate_watch.h"
#include "tools/simulate/simulation.h"

typedef struct simulate_certificate {
    sp_certificate file;
    sp_certificate_watch watch;
} simulate_certificate;

/* Reads the file and finds the loads of the body in it; NULL without the option. The model must have been made. */
simulate_certificate *certify_begin(simulation *s, const sp_run_body *body);

/* Adds the estimates to the result. */
void certify_report(const simulation *s, const simulate_certificate *certificate, json_t *result);

/* Prints the estimates. False: they are above --limit. */
bool certify_say(const simulation *s, const simulate_certificate *certificate);

void certify_free(simulate_certificate *certificate);

#endif
