/* Every unit program starts as the programs do: BLAS on one thread, with the kernels of this processor. */
#include "base/context.h"
#include "test.h"
#include "tools/process/blas.h"

sp_context context;

__attribute__((constructor)) static void prepare(void)
{
    process_blas_prepare(!getenv("OPENBLAS_CORETYPE"));
}

int main(void)
{
    context = sp_context_default();
    return test_all();
}
