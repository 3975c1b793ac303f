#include "tools/modes/methods.h"

void modes_krylov(modes_problem *problem, const modes_krylov_choice *choice)
{
    (void)problem;
    (void)choice;
    tool_fail(SP_USAGE, NULL,
              "--method krylov: this build leaves out the methods of Yang 2015 (meson setup -Dyang2015=true)");
}
