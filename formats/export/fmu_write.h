/* The texts of a reduced-order model as a Functional Mock-up Unit (FMI 3.0). The functions of the interface are
 * formats/export/source/fmi3.c, and the model is the C source of source_write.h. */
#ifndef SP_FORMATS_EXPORT_FMU_WRITE_H
#define SP_FORMATS_EXPORT_FMU_WRITE_H

#include "formats/container.h"
#include "formats/export/source_write.h"

enum { SP_FMU_TOKEN = 39 };

typedef struct sp_fmu {
    const sp_c_source *source;
    char token[SP_FMU_TOKEN]; /* joins modelDescription.xml to the library */
} sp_fmu;

/* A token from the SHA-256 of the model's C source, in hexadecimal. */
void sp_fmu_token(const char hash[SP_HASH_LENGTH], char token[SP_FMU_TOKEN]);

/* sources/NAME_fmi3.c, sources/NAME_fmi3.h and sources/buildDescription.xml */
int sp_fmu_write_code(sp_context *context, int descriptor, const sp_fmu *fmu) SP_MUST_USE;
int sp_fmu_write_header(sp_context *context, int descriptor, const sp_fmu *fmu) SP_MUST_USE;
int sp_fmu_write_build(sp_context *context, int descriptor, const sp_fmu *fmu) SP_MUST_USE;

/* modelDescription.xml and documentation/index.html */
int sp_fmu_write_description(sp_context *context, int descriptor, const sp_fmu *fmu) SP_MUST_USE;
int sp_fmu_write_page(sp_context *context, int descriptor, const sp_fmu *fmu) SP_MUST_USE;

#endif
