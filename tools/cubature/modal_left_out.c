#include "tools/cubature/problem.h"

void cubature_modal(cubature_problem *problem, sp_cubature *cubature, json_t *result)
{
    (void)problem;
    (void)cubature;
    (void)result;
    tool_fail(SP_USAGE, NULL,
              "--method modal: this build leaves out the methods of Yang 2015 (meson setup -Dyang2015=true)");
}
