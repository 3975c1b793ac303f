#include "tools/common/solve.h"

#include "tools/common/tool.h"

void tool_hint_shape(const sp_fe_space *body, const char *otherwise)
{
    const double plain = 10; /* not worth a word */
    const double bad = 1e5;  /* then conditioning takes ten of sixteen digits, the square of it */
    double aspect;
    const int64_t worst = sp_fe_space_worst(body, &aspect);

    if (aspect < plain && !otherwise)
        return;

    if (aspect < bad && otherwise)
        tool_hint("%s; the worst element is %lld, with an aspect ratio of %.2g", otherwise, (long long)worst, aspect);
    else
        tool_hint("the worst element is %lld, with an aspect ratio of %.2g%s", (long long)worst, aspect,
                  aspect < bad ? "" : ": a better mesh may help");
}

void tool_check_solve(int status, const char *file, const sp_fe_space *body, const char *otherwise)
{
    if (status == SP_NUMERICAL)
        tool_hint_shape(body, otherwise);
    tool_check(status, file);
}
