/* Every unit program starts as the programs do: BLAS on one thread, with the kernels of this processor. */
#include "tools/process/blas.h"

#include <stdlib.h>

__attribute__((constructor)) static void prepare(void)
{
    process_blas_prepare(!getenv("OPENBLAS_CORETYPE"));
}
