#include "base/random.h"
#include "basis/flexibility.h"
#include "formats/loads.h"
#include "linear/dense.h"
#include "model/loads.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

#include <math.h>
#include <string.h>

/* Columns of the word `random`: no point group of a body has eigenspaces of more dimensions, but that of an
 * icosahedron. */
enum { RANDOM_COLUMNS = 3 };

/* "x,y,rx,random" to numbers of fields, and the number of random columns. */
static int64_t parse_fields(const char *text, int field[SP_INERTIA_FIELDS], int64_t *random)
{
    int64_t count = 0;

    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        int f = 0;
        if (length == strlen("random") && strncmp(at, "random", length) == 0 && *random == 0) {
            *random = RANDOM_COLUMNS;
            at += length + (at[length] == ',');
            continue;
        }
        while (f < SP_INERTIA_FIELDS &&
               (strlen(sp_inertia_names[f]) != length || strncmp(sp_inertia_names[f], at, length) != 0))
            f++;
        if (f == SP_INERTIA_FIELDS)
            tool_fail(SP_USAGE, NULL,
                      "--start: \"%s\" is not a list of x y z rx ry rz xx yy zz yz zx xy random with commas", text);
        for (int64_t k = 0; k < count; k++)
            if (field[k] == f)
                tool_fail(SP_USAGE, NULL, "--start: %s occurs twice", sp_inertia_names[f]);
        field[count++] = f;
        at += length + (at[length] == ',');
    }
    if (count == 0 && *random == 0)
        tool_fail(SP_USAGE, NULL, "--start: names no field");
    return count;
}

/* The forces of a file of loads; springs are not forces, and when a load acts does not matter. */
static const sp_load *read_loads(modes_problem *p, const char *path, int64_t *count)
{
    int64_t length;
    sp_load *loads;
    char *text = tool_read_bytes(path, "start-loads", &p->pool, &length);
    tool_check(sp_loads_parse(p->context, text, length, &p->mesh.mesh, &p->pool, count, &loads), path);
    for (int64_t l = 0; l < *count; l++)
        if (loads[l].kind == SP_LOAD_SPRING)
            tool_fail(SP_INPUT, path, "load %lld is a spring: a start block takes forces", (long long)l + 1);
    return loads;
}

/* The load of an acceleration of the free degrees of freedom. */
static void load_of_acceleration(const modes_problem *p, const double *a, double *load)
{
    sp_sparse_times(p->context, p->map ? &p->whole_M : &p->M, 1, a, load);
}

/* A cubic polynomial with random coefficients of the position about the middle of the body, in units of its half
 * length: smooth, the same for every mesh of a body, and of no symmetry. full [3·vertices] */
static void random_field(const sp_mesh *mesh, uint64_t stream, double *full)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, half = 0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->vertices[i]);
        high[i % 3] = fmax(high[i % 3], mesh->vertices[i]);
    }
    for (int k = 0; k < 3; k++)
        half = fmax(half, 0.5 * (high[k] - low[k]));
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double X[3], *a = full + 3 * v;
        uint64_t term = 0;
        for (int k = 0; k < 3; k++)
            X[k] = (mesh->vertices[3 * v + k] - 0.5 * (low[k] + high[k])) / half;
        a[0] = a[1] = a[2] = 0;
        for (int i = 0; i <= 3; i++)
            for (int j = 0; i + j <= 3; j++)
                for (int l = 0; i + j + l <= 3; l++)
                    for (int k = 0; k < 3; k++)
                        a[k] += sp_random_normal(1, stream, term++) * pow(X[0], i) * pow(X[1], j) * pow(X[2], l);
    }
}

double *modes_start_block(modes_problem *p, const modes_krylov_choice *choice, bool krylov, int64_t *count)
{
    int field[SP_INERTIA_FIELDS];
    int64_t n = p->body.dof_count, fields = 0, load_count = 0, random = 0;
    const sp_load *loads = choice->start_loads ? read_loads(p, choice->start_loads, &load_count) : NULL;
    tool_columns file = {0};

    if (choice->start_file) {
        tool_read_columns(choice->start_file, "start-file", NULL, &p->mesh, &file);
        tool_hold_rows(&p->mesh.mesh, &file);
    }

    if (choice->start)
        fields = parse_fields(choice->start, field, &random);
    else if (!choice->start_loads && !choice->start_file) {
        for (; fields < 6; fields++)
            field[fields] = (int)fields + (p->rigid_count ? 6 : 0);
        /* Centrifugal fields change sign under inversion about the centre of mass, and so does all of their Krylov
         * space if the body has that symmetry: the first bending modes do not. */
        random = krylov && p->rigid_count ? RANDOM_COLUMNS : 0;
    }
    *count = fields + load_count + file.columns.count + random;
    double *force = tool_allocate_raw(&p->pool, n * *count, sizeof *force), *to = force + fields * n,
           *field_of_file = tool_allocate_raw(&p->pool, n, sizeof *field_of_file),
           *full = tool_allocate_raw(&p->pool, random ? 3 * p->mesh.mesh.vertex_count : 0, sizeof *full);
    tool_check(sp_inertia_forces(p->context, &p->body, fields, field, force), p->mesh.path);
    for (int64_t l = 0; l < load_count; l++, to += n)
        tool_check(sp_load_force(p->context, &p->body, l + 1, &loads[l], to), choice->start_loads);
    for (int64_t c = 0; c < file.columns.count; c++, to += n) {
        sp_fe_space_gather(&p->body, file.columns.U + c * file.columns.rows, field_of_file);
        load_of_acceleration(p, field_of_file, to);
    }
    for (int64_t c = 0; c < random; c++, to += n) {
        random_field(&p->mesh.mesh, (uint64_t)c, full);
        sp_fe_space_gather(&p->body, full, field_of_file);
        load_of_acceleration(p, field_of_file, to);
    }
    sp_columns_free(&file.columns);

    if (p->map)
        for (int64_t c = 0; c < *count; c++) {
            memcpy(field_of_file, force + c * n, (size_t)n * sizeof *force);
            sp_interface_map_gather(p->map, field_of_file, force + c * p->order);
        }
    return force;
}

void modes_inertia(modes_problem *p, const modes_krylov_choice *choice)
{
    sp_flexibility *flexibility;
    int64_t count, n = p->order;
    double *u = modes_start_block(p, choice, false, &count),
           *before = tool_allocate_raw(&p->pool, count, sizeof *before),
           *product = tool_allocate_raw(&p->pool, n, sizeof *product);

    for (int64_t c = 0; c < count; c++)
        before[c] = sqrt(sp_dense_dot(n, u + c * n, u + c * n));
    tool_check_solve(sp_flexibility_new(p->context, &p->K, &p->M, p->node, p->rigid_count, p->rigid, SP_COMPLEMENT_MASS,
                                        NULL, &flexibility),
                     p->matrix_path, &p->body, NULL);

    sp_flexibility_balance(flexibility, count, u);
    int64_t kept = 0, idle = 0;

    /* A load that only accelerates a free body leaves rounding behind. */
    for (int64_t c = 0; c < count; c++) {
        if (!(sqrt(sp_dense_dot(n, u + c * n, u + c * n)) > 1e-10 * before[c])) {
            idle++;
            continue;
        }
        memmove(u + kept++ * n, u + c * n, (size_t)n * sizeof *u);
    }

    if (kept == 0)
        tool_fail(SP_INPUT, p->mesh.path,
                  "these accelerations leave no deformation behind: a free body only follows them");

    tool_check(sp_flexibility_solve(flexibility, kept, u, u), p->mesh.path);
    for (int64_t c = 0; c < kept; c++) {
        sp_sparse_times(p->context, &p->M, 1, u + c * n, product);
        double norm = sqrt(sp_dense_dot(n, u + c * n, product));
        for (int64_t i = 0; i < n; i++)
            u[c * n + i] /= norm;
    }

    if (idle)
        tool_say("%lld accelerations only move the body as a whole", (long long)idle);
    tool_say("%lld snapshots", (long long)kept);

    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_snapshots.result, {"without_deformation", .integer = idle},
               {"rigid", .integer = p->rigid_count});

    modes_constraint(p, flexibility);
    modes_write_snapshots(p, kept, u, result);
    sp_flexibility_free(flexibility);
}
