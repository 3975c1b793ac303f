/* Meshes and assembled matrices. */
#include "tools/verify/verify.h"

#include "mesh/cut.h"

#include <math.h>
#include <string.h>

/* A cut mesh beside the one that it was cut from. */
static void check_cut(verify *v, artefact *file)
{
    if (!file->origin)
        return;

    bool whole = file->origin_count == file->mesh.vertex_count;
    verify_fact(v, file, "origin", whole, "%lld entries (%lld vertices)", (long long)file->origin_count,
                (long long)file->mesh.vertex_count);

    const artefact *parent = verify_find(v, file->cut_from);
    if (!parent || strcmp(parent->kind, "mesh")) {
        verify_skip(v, file, "cut", "the mesh that it was cut from is not among the files (%.12s)", file->cut_from);
        return;
    }

    int status = whole ? sp_mesh_check_cut(v->context, &parent->mesh, &file->mesh, file->origin) : SP_OK;
    if (whole)
        verify_fact(v, file, "cut", status == SP_OK, "%s",
                    status == SP_OK ? "the same elements, copies of vertices in their places" : v->context->message);
}

void verify_mesh_file(verify *v, artefact *file)
{
    sp_pool pool = {0};
    sp_mesh *mesh = &file->mesh;
    int64_t elements = sp_mesh_element_count(mesh), components, *label = tool_allocate(&pool, elements, sizeof *label);
    uint8_t *used = tool_allocate(&pool, mesh->vertex_count, 1);

    int status = sp_mesh_check(v->context, mesh, 1e-3);
    verify_fact(v, file, "structure", status == SP_OK, "%s", status == SP_OK ? "as mesh.md says" : v->context->message);
    int64_t inverted = sp_mesh_inverted(mesh, false), unused = mesh->vertex_count;
    verify_fact(v, file, "inverted elements", inverted == 0, "%lld (0)", (long long)inverted);

    double volume = 0;
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        volume += sp_mesh_element_volume(mesh, e);
        for (int a = 0; a < nodes; a++)
            if (!used[node[a]]) {
                used[node[a]] = 1;
                unused--;
            }
    }

    verify_fact(v, file, "vertices without element", unused == 0, "%lld (0)", (long long)unused);
    tool_check(sp_mesh_components(v->context, mesh, label, &components), file->path);
    verify_note(v, file, "components", "%lld", (long long)components);

    const json_t *stated = json_object_get(file->result, "volume");
    if (json_is_number(stated))
        verify_number(v, file, "volume as stated", fabs(volume - json_number_value(stated)) / volume, 1e-12);

    check_cut(v, file);
    sp_pool_free(&pool);
}

/* Largest |a − b| over the pattern of a. */
static double difference(const sp_sparse *a, const sp_sparse *b, double *largest)
{
    double worst = 0;
    for (int64_t i = 0; i < a->order; i++)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            double d = fabs(a->value[k] - sp_sparse_entry(b, i, a->index[k]));
            worst = d > worst || isnan(d) ? d : worst;
            *largest = fmax(*largest, fabs(a->value[k]));
        }
    return worst;
}

/* Rows and entries of K or M. */
static void check_entries(verify *v, artefact *file, const artefact *mesh, char which, bool lumped)
{
    const sp_fe_space *body = &mesh->body;
    bool rows = file->matrix.order == body->dof_count, same = rows;
    if (rows)
        for (int64_t i = 0; i < body->dof_count; i++)
            same &= (file->dof ? file->dof[i] : i) == body->free[i];

    verify_fact(v, file, "rows", same, "%lld, the free degrees of freedom are %lld", (long long)file->matrix.order,
                (long long)body->dof_count);
    if (!same)
        return;

    sp_sparse mass = {0};
    const sp_sparse *expected = &mesh->stiffness;
    if (which == 'M') {
        verify_mass_matrix(v, mesh, lumped, &mass);
        expected = &mass;
    }

    double largest = 0, worst = difference(expected, &file->matrix, &largest);
    worst = fmax(worst, difference(&file->matrix, expected, &(double){0}));
    verify_number(v, file, which == 'M' ? "entries of M" : "entries of K", worst / largest, 1e-12);

    sp_sparse_free(&mass);
}

void verify_sparse(verify *v, artefact *file)
{
    const char *which = json_string_value(json_object_get(file->meta, "matrix"));
    const char *lumping = json_string_value(json_object_get(json_object_get(file->meta, "parameters"), "lumping"));
    const char *option = which && *which == 'M' ? "mass" : "stiffness";

    if (!which || tool_meta_has_input(file->meta, option)) {
        verify_skip(v, file, "entries",
                    which ? "it is a copy of a matrix from another file" : "it does not say whether it is K or M");
        return;
    }

    artefact *mesh = verify_mesh(v, file, "entries", true);
    verify_state state;
    if (!mesh || !verify_state_open(v, file, mesh, "entries", &state))
        return;
    check_entries(v, file, state.mesh, *which, lumping && !strcmp(lumping, "lumped"));
    verify_state_close(&state);
}
