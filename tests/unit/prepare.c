/* Every unit program starts as the programs do: BLAS on one thread, with the kernels of this processor. */
#include "linear/blas.h"

#include <stdlib.h>

__attribute__((constructor)) static void prepare(void)
{
    sp_blas_prepare(!getenv("OPENBLAS_CORETYPE"));
}
