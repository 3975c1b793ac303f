#include "tools/export/gram.h"

void tool_sparse_gram(sp_context *context, const char *mesh_path, const sp_fe_space *body, int64_t samples,
                      int64_t count, const double *U, double *G)
{
    (void)context, (void)mesh_path, (void)body, (void)samples, (void)count, (void)U, (void)G;
    tool_fail(SP_USAGE, NULL,
              "--samples: this build leaves out the methods of Yang 2015 (meson setup -Dyang2015=true)");
}
