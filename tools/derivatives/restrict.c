/* Derivatives whose average interfaces are at rest in the mean. */
#include "assembly/elastic.h"
#include "tools/common/solve.h"
#include "tools/derivatives/methods.h"

void derivatives_restrict(derivatives_problem *p)
{
    sp_sparse K, mapped;
    if (p->average_count == 0)
        return;
    tool_check(sp_interfaces_prepare(p->context, &p->body, p->average_count, p->averages), p->mesh.path);
    tool_check(sp_interface_map_new(p->context, &p->body, p->average_count, p->averages, &p->map), p->mesh.path);
    tool_check(sp_elastic_stiffness(p->context, &p->body, &K), p->mesh.path);
    tool_check(sp_interface_map_matrix(p->context, &p->map, &K, &mapped), p->mesh.path);
    tool_check_solve(
        sp_flexibility_new(p->context, &mapped, NULL, p->map.node, 0, NULL, SP_COMPLEMENT_MASS, NULL, &p->inner),
        p->mesh.path, &p->body, "with its interfaces at rest, part of the body is still free");
    tool_check(sp_flexibility_restricted(p->context, &p->map.S, p->inner, &p->restricted), p->mesh.path);
    sp_sparse_free(&K);
    sp_sparse_free(&mapped);
}

void derivatives_restrict_close(derivatives_problem *p)
{
    sp_flexibility_free(p->restricted);
    sp_flexibility_free(p->inner);
    sp_interface_map_free(&p->map);
}
