#include "basis/flexibility.h"
#include "linear/dense.h"
#include "tools/modes/methods.h"

#include <math.h>
#include <string.h>

/* "x,y,rx" to numbers of fields. */
static int64_t parse_fields(const char *text, int field[SP_INERTIA_FIELDS])
{
    int64_t count = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        int f = 0;
        while (f < SP_INERTIA_FIELDS && (strlen(sp_inertia_names[f]) != length || strncmp(sp_inertia_names[f], at, length) != 0))
            f++;
        if (f == SP_INERTIA_FIELDS)
            tool_fail(SP_USAGE, NULL, "--start: \"%s\" is not a list of x y z rx ry rz xx yy zz yz zx xy with commas", text);
        for (int64_t k = 0; k < count; k++)
            if (field[k] == f)
                tool_fail(SP_USAGE, NULL, "--start: %s stands twice", sp_inertia_names[f]);
        field[count++] = f;
        at += length + (at[length] == ',');
    }
    if (count == 0)
        tool_fail(SP_USAGE, NULL, "--start: names no field");
    return count;
}

double *modes_start_block(modes_problem *p, const modes_krylov_choice *choice, int64_t *count)
{
    int field[SP_INERTIA_FIELDS];
    if (choice->start)
        *count = parse_fields(choice->start, field);
    else {
        *count = 6;
        for (int i = 0; i < 6; i++)
            field[i] = p->rigid_count ? 6 + i : i;
    }
    double *force = sp_pool_raw(&p->pool, p->body.dof_count * *count, sizeof *force);
    if (!force)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    tool_check(sp_inertia_forces(p->context, &p->body, *count, field, force), p->mesh.path);
    return force;
}

void modes_write_shapes(modes_problem *p, int64_t count, const double *vectors, json_t *result)
{
    int64_t n = p->body.dof_count, rows = 3 * p->mesh.mesh.vertex_count;
    double *full = sp_pool_new(&p->pool, rows * count, sizeof *full);
    if (!full)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t c = 0; c < count; c++)
        sp_body_spread(&p->body, vectors + c * n, full + c * rows);
    sp_columns columns = {.rows = rows, .count = count, .U = full};
    memcpy(columns.mesh, p->mesh.hash, sizeof columns.mesh);
    json_t *meta = tool_meta_new("shapes");
    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    tool_output_finish(p->output, result);
    json_decref(meta);
}

void modes_inertia(modes_problem *p, const modes_krylov_choice *choice)
{
    sp_flexibility *flexibility;
    int64_t count, n = p->body.dof_count;
    double *u = modes_start_block(p, choice, &count), *before = sp_pool_raw(&p->pool, count, sizeof *before), *product = sp_pool_raw(&p->pool, n, sizeof *product);
    if (p->pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t c = 0; c < count; c++)
        before[c] = sqrt(sp_dense_dot(n, u + c * n, u + c * n));
    tool_check(sp_flexibility_new(p->context, &p->K, &p->M, p->node, p->rigid_count, p->rigid, SP_COMPLEMENT_MASS, &flexibility), p->mesh.path);
    sp_flexibility_balance(flexibility, count, u);
    int64_t kept = 0, idle = 0;
    for (int64_t c = 0; c < count; c++) { /* a load that only accelerates a free body leaves rounding behind */
        if (!(sqrt(sp_dense_dot(n, u + c * n, u + c * n)) > 1e-10 * before[c])) {
            idle++;
            continue;
        }
        memmove(u + kept++ * n, u + c * n, (size_t)n * sizeof *u);
    }
    if (kept == 0)
        tool_fail(SP_INPUT, p->mesh.path, "these accelerations leave no deformation behind: a free body only follows them");
    tool_check(sp_flexibility_solve(flexibility, kept, u, u), p->mesh.path);
    for (int64_t c = 0; c < kept; c++) {
        sp_sparse_times(p->context, &p->M, 1, u + c * n, product);
        double norm = sqrt(sp_dense_dot(n, u + c * n, product));
        for (int64_t i = 0; i < n; i++)
            u[c * n + i] /= norm;
    }
    if (idle)
        tool_say("%lld accelerations only move the body as a whole", (long long)idle);
    tool_say("%lld shapes", (long long)kept);
    json_t *result = tool_result_new();
    json_object_set_new(result, "without_deformation", json_integer(idle));
    json_object_set_new(result, "rigid", json_integer(p->rigid_count));
    modes_write_shapes(p, kept, u, result);
    sp_flexibility_free(flexibility);
}
