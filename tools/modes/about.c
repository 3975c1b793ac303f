/* Modes about a static equilibrium: the tangent stiffness there in place of that at rest. */
#include "tools/common/equilibrium.h"
#include "tools/modes/methods.h"

#include <math.h>

static void read_loads(modes_problem *p, const char *option, const char *loads)
{
    tool_equilibrium *e = p->equilibrium;
    const bool has = *tool_equilibrium_loads_hash(e);
    int64_t count;
    if (!has && loads)
        tool_fail(SP_USAGE, NULL, "--loads: %s was computed without loads", tool_base_name(e->path));
    if (has && !loads)
        tool_fail(SP_USAGE, NULL, "--%s: %s was computed under loads, which may have a stiffness: name them by --loads",
                  option, tool_base_name(e->path));
    if (!has)
        return;
    const char *bytes = tool_read_bytes(loads, "loads", &p->pool, &count);
    tool_equilibrium_take_loads(e, loads, bytes, count, &p->mesh.mesh);
}

void modes_read_equilibrium(modes_problem *p, const char *option, const char *path, const char *model,
                            const char *loads)
{
    const int descriptor = tool_open_input(path);
    p->equilibrium = tool_allocate(&p->pool, 1, sizeof *p->equilibrium);
    tool_equilibrium_read(p->context, descriptor, path, model, p->equilibrium);
    tool_close_input(descriptor);
    tool_record_input(path, option, p->equilibrium->hash, p->equilibrium->meta);
    tool_equilibrium_apply(p->equilibrium, p->mesh.hash, &p->mesh.mesh);
    read_loads(p, option, loads);
}

void modes_refuse_free(const modes_problem *p, const char *option)
{
    if (p->rigid_count > 0)
        tool_fail(SP_INPUT, p->mesh.path, "--%s: the fixed vertices leave %lld rigid motions free", option,
                  (long long)p->rigid_count);
}

void modes_tangent(modes_problem *p, sp_sparse *K)
{
    tool_check(sp_fe_space_matrix(p->context, &p->body, K), p->mesh.path);
    tool_equilibrium_stiffness(p->equilibrium, &p->body, K);
    if (tool_equilibrium_has(p->equilibrium, SP_LOAD_ROTATION))
        tool_say("the centrifugal stiffness of its rotation is subtracted; Coriolis forces are left out");
}

void modes_check_stable(const modes_problem *p)
{
    int64_t negative;
    if (!p->equilibrium || sp_cholesky_negative(p->context, &p->K, p->node, &negative) != SP_OK || negative == 0)
        return;
    tool_fail(SP_NUMERICAL, p->equilibrium->path,
              "the tangent stiffness has %lld negative eigenvalues: the equilibrium is unstable%s", (long long)negative,
              tool_equilibrium_has(p->equilibrium, SP_LOAD_ROTATION) ? " (it buckles, or the body rotates too fast)"
                                                                     : " (it is beyond a buckling load)");
}
