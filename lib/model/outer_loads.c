#include "model/outer_loads.h"

#include <string.h>

static bool springs(void *self, double t0, double t1)
{
    const sp_external_loads *inner = self;
    return inner->springs(inner->self, t0, t1);
}

sp_external_loads sp_outer_loads(void *self, void (*mean)(void *self, double t0, double t1, double *f),
                                 void (*follow)(void *self, double t0, double t1, const double *q, const double *v,
                                                double *f))
{
    const sp_external_loads *inner = self;
    return (sp_external_loads){.self = self,
                               .mean = mean,
                               .follow = follow,
                               .springs = inner->springs ? springs : NULL,
                               .stiffened = inner->stiffened};
}

void sp_inner_follow(const sp_external_loads *inner, int64_t n, double t0, double t1, const double *q, const double *v,
                     double *f)
{
    memset(f, 0, (size_t)n * sizeof *f);
    if (inner->follow)
        inner->follow(inner->self, t0, t1, q, v, f);
}
