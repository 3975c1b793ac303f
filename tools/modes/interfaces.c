/* Interface bases: constraint modes in front of the modes of the body with its interfaces at rest. */
#include "basis/interfaces.h"
#include "mesh/mesh_sets.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

#include <fnmatch.h>
#include <string.h>

/* Returns true if all vertices are fixed. */
static bool is_at_rest(const sp_fe_space *space, int64_t count, const int64_t *vertex)
{
    bool rest = true;
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 3; c++)
            rest &= space->dof[3 * vertex[k] + c] < 0;
    return rest;
}

enum { UNUSED, BY_VERTICES, BY_FACES };

/* Returns true if an option names the set of these vertices, by its name, or with * if it is not at rest as a whole, as
 * the interface to the parent of a domain is with simpart --fix-parent. Marks the names that are used. Of a name with
 * sets of vertices no set of faces is taken. */
static bool is_chosen(const modes_problem *p, const tool_texts *names, const char *name, int kind, int64_t count,
                      const int64_t *vertex, int *used)
{
    bool chosen = false;
    for (int64_t i = 0; i < names->count; i++)
        if ((used[i] == UNUSED || used[i] == kind) && fnmatch(names->value[i], name, 0) == 0) {
            used[i] = kind;
            chosen |= !strcmp(names->value[i], name) || !is_at_rest(&p->body, count, vertex);
        }
    return chosen;
}

/* Marks the interfaces that stay at rest. */
static void mark_rest(modes_problem *p, const tool_texts *names)
{
    for (int64_t i = 0; i < names->count; i++) {
        bool used = false;
        for (int64_t k = 0; k < p->interface_count; k++)
            if (fnmatch(names->value[i], p->interfaces[k].name, 0) == 0)
                used = p->interfaces[k].at_rest = true;
        if (!used)
            tool_fail(SP_USAGE, NULL, "--rest: no interface of --interface is called \"%s\"", names->value[i]);
    }
}

/* The sets whose names match, in the order of the mesh: sets of vertices, then the vertices of sets of faces. */
static void find_interfaces(modes_problem *p, const modes_interface_choice *choice)
{
    const sp_mesh *mesh = &p->mesh.mesh;
    int used[TOOL_COUNT(choice->names.value)] = {UNUSED};

    p->interfaces = tool_allocate(&p->pool, mesh->set_count, sizeof *p->interfaces);
    for (int64_t i = 0; i < 2 * mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i % mesh->set_count];
        const int kind = i < mesh->set_count ? BY_VERTICES : BY_FACES;
        sp_interface *interface = &p->interfaces[p->interface_count];
        int64_t count, *vertex;

        if (set->kind != (kind == BY_FACES ? SP_SET_FACES : SP_SET_VERTICES))
            continue;

        tool_check(sp_mesh_set_vertices(p->context, mesh, set, &p->pool, &count, &vertex), p->mesh.path);
        if (!is_chosen(p, &choice->names, set->name, kind, count, vertex, used))
            continue;

        snprintf(interface->name, sizeof interface->name, "%s", set->name);
        interface->frame = (sp_interface_frame)choice->frame;
        interface->vertex_count = count;
        interface->vertices = vertex;
        interface->share = tool_allocate(&p->pool, interface->vertex_count, sizeof *interface->share);
        p->interface_count++;
    }

    for (int64_t i = 0; i < choice->names.count; i++)
        if (used[i] == UNUSED) {
            char known[256];
            sp_mesh_list_sets(mesh, known, sizeof known);
            tool_fail(SP_USAGE, NULL, "--interface: the mesh has no set of vertices or faces \"%s\"%s%s",
                      choice->names.value[i], *known ? ", only " : ", nor any other set", known);
        }

    mark_rest(p, &choice->rest);
}

void modes_interfaces(modes_problem *p, const modes_interface_choice *choice)
{
    sp_sparse K, M;

    find_interfaces(p, choice);
    p->ritz = choice->ritz;
    tool_check(sp_interfaces_prepare(p->context, &p->body, p->interface_count, p->interfaces), p->mesh.path);

    sp_interface_map *map = p->map = tool_allocate(&p->pool, 1, sizeof *map);
    tool_check(sp_interface_map_new(p->context, &p->body, p->interface_count, p->interfaces, map), p->mesh.path);
    tool_check(sp_interface_map_matrix(p->context, map, &p->K, &K), p->mesh.path);
    tool_check(sp_interface_map_matrix(p->context, map, &p->M, &M), p->mesh.path);

    p->whole_K = p->K;
    p->whole_M = p->M;
    p->K = K;
    p->M = M;

    p->order = map->S.columns;
    p->node = map->node;
}

void modes_constraint(modes_problem *p, sp_flexibility *known)
{
    sp_flexibility *own = NULL;
    double residual;
    if (!p->map)
        return;

    p->constraint = tool_allocate_raw(&p->pool, p->body.dof_count * p->map->coordinates, sizeof *p->constraint);
    if (p->order > 0 && !known)
        tool_check_solve(sp_flexibility_new(p->context, &p->K, &p->M, p->node, 0, NULL, SP_COMPLEMENT_MASS, NULL, &own),
                         p->matrix_path, &p->body, "with its interfaces at rest, part of the body is still free");
    tool_check_solve(
        sp_constraint_modes(p->context, p->map, &p->whole_K, known ? known : own, p->constraint, &residual),
        p->matrix_path, &p->body, NULL);

    sp_flexibility_free(own);
    if (residual > 1e-6)
        tool_warn(p->mesh.path, "the residual of a constraint mode is %.1e", residual);

    tool_say("%lld constraint modes of %lld interfaces, largest residual %.1e", (long long)p->map->coordinates,
             (long long)p->interface_count, residual);
    p->constraint_residual = residual;
}

void modes_interfaces_close(modes_problem *p)
{
    if (!p->map)
        return;
    sp_sparse_free(&p->whole_K);
    sp_sparse_free(&p->whole_M);
    sp_interface_map_free(p->map);
}
