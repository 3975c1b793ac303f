#include "tools/derivatives/methods.h"

void derivatives_inertia(derivatives_problem *problem)
{
    (void)problem;
    tool_fail(SP_USAGE, NULL,
              "--method inertia: this build leaves out the methods of Yang 2015 (meson setup -Dyang2015=true)");
}
