/* polycoef --certificate: the residual of a reduced model, ready to be evaluated at run time. */
#ifndef TOOLS_POLYCOEF_CERTIFICATE_H
#define TOOLS_POLYCOEF_CERTIFICATE_H

#include "tools/common/inputs.h"

/* Computes and writes the certificate of the first r columns. loads: the CSV file of the loads to be known beside
 * gravity; NULL: none. memory: bytes for the columns, the others are in a scratch file. Ends the process on failure. */
void polycoef_certificate(sp_context *context, const tool_mesh *mesh, const tool_columns *basis, int64_t r,
                          const char *loads, int64_t memory);

#endif
