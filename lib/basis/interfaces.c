#include "basis/interfaces.h"

#include "assembly/interface_shares.h"
#include "base/vec3.h"
#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 6 }; /* coordinates of a frame */

/* ---- checks ---- */

static int check_vertices(sp_context *context, const sp_fe_space *space, const sp_interface *interface,
                          const sp_interface **owner)
{
    for (int64_t k = 0; k < interface->vertex_count; k++) {
        const int64_t v = interface->vertices[k];
        if (owner[v])
            return sp_fail(context, SP_INPUT, "vertex %lld is in the interfaces \"%s\" and \"%s\", it can be in one",
                           (long long)v, owner[v]->name, interface->name);
        for (int c = 0; c < 3; c++)
            if (space->dof[3 * v + c] < 0)
                return sp_fail(context, SP_INPUT, "interface \"%s\": vertex %lld is fixed, it cannot move with a frame",
                               interface->name, (long long)v);
        owner[v] = interface;
    }
    return SP_OK;
}

/* Σ s (|r|² I − r rᵀ) over the vertices. */
static void second_moment(const sp_mesh *mesh, const sp_interface *interface, double J[3][3])
{
    memset(J, 0, 9 * sizeof **J);
    for (int64_t k = 0; k < interface->vertex_count; k++) {
        double r[3];
        sp_subtract3(mesh->vertices + 3 * interface->vertices[k], interface->origin, r);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                J[i][j] += interface->share[k] * ((i == j ? sp_dot3(r, r) : 0) - r[i] * r[j]);
    }
}

static double determinant(double A[3][3])
{
    double normal[3];
    sp_cross3(A[1], A[2], normal);
    return sp_dot3(A[0], normal);
}

/* The vertices of a frame must not be on one line: the least eigenvalue of the moment is then 0, the others are equal
 * to the trace's half. */
static int check_frame(sp_context *context, const sp_mesh *mesh, const sp_interface *interface)
{
    double J[3][3];
    if (interface->frame == SP_FRAME_NONE)
        return SP_OK;
    if (interface->frame == SP_FRAME_AVERAGE && interface->vertex_count > SP_AVERAGE_VERTICES)
        return sp_fail(context, SP_INPUT,
                       "interface \"%s\" has %lld vertices, an average frame has up to %d: it couples all of them",
                       interface->name, (long long)interface->vertex_count, SP_AVERAGE_VERTICES);
    second_moment(mesh, interface, J);
    const double trace = J[0][0] + J[1][1] + J[2][2];
    if (interface->vertex_count < 3 || !(determinant(J) > 1e-12 * trace * trace * trace))
        return sp_fail(
            context, SP_INPUT, "interface \"%s\": a frame needs three vertices that are not on one line, it has %lld%s",
            interface->name, (long long)interface->vertex_count, interface->vertex_count < 3 ? "" : " on one line");
    return SP_OK;
}

int sp_interfaces_prepare(sp_context *context, const sp_fe_space *space, int64_t count, sp_interface *interfaces)
{
    const sp_mesh *mesh = space->mesh;
    sp_pool scratch = {0};
    int64_t next = 0;
    const sp_interface **owner = sp_pool_new(&scratch, mesh->vertex_count, sizeof *owner);
    int status = owner ? SP_OK : sp_fail_memory(context);
    for (int64_t i = 0; i < count && status == SP_OK; i++) {
        sp_interface *interface = &interfaces[i];
        memset(interface->origin, 0, sizeof interface->origin);
        SP_TRY(sp_interface_shares(context, mesh, interface->vertex_count, interface->vertices, interface->share));
        for (int64_t k = 0; k < interface->vertex_count; k++)
            for (int c = 0; c < 3; c++)
                interface->origin[c] += interface->share[k] * mesh->vertices[3 * interface->vertices[k] + c];
        interface->first = next;
        interface->count = interface->frame == SP_FRAME_NONE ? 3 * interface->vertex_count : FRAME;
        next += interface->count;
        SP_TRY(check_vertices(context, space, interface, owner));
        SP_TRY(check_frame(context, mesh, interface));
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- the map ---- */

/* An average frame: row j of `table` [FRAME, 3 · vertices] has the coefficients of displacement `pivot`[j], which is
 * Σ_k inverse[j][k] g_k − Σ table[j] u over the other displacements. */
typedef struct elimination {
    double *table, inverse[FRAME][FRAME];
    int64_t width, pivot[FRAME];
} elimination;

static void fill_table(const sp_mesh *mesh, const sp_interface *interface, elimination *e)
{
    double J[3][3], cross[3], inverse[3][3];
    second_moment(mesh, interface, J);
    const double whole = determinant(J);
    for (int i = 0; i < 3; i++) { /* J is symmetric: the rows of its inverse are cross products */
        sp_cross3(J[(i + 1) % 3], J[(i + 2) % 3], cross);
        for (int j = 0; j < 3; j++)
            inverse[i][j] = cross[j] / whole;
    }
    for (int64_t k = 0; k < interface->vertex_count; k++) {
        double r[3], moment[3];
        sp_subtract3(mesh->vertices + 3 * interface->vertices[k], interface->origin, r);
        for (int c = 0; c < 3; c++) {
            const double unit[3] = {c == 0, c == 1, c == 2};
            sp_cross3(r, unit, moment);
            e->table[c * e->width + 3 * k + c] = interface->share[k];
            for (int i = 0; i < 3; i++)
                e->table[(3 + i) * e->width + 3 * k + c] = interface->share[k] * sp_dot3(inverse[i], moment);
        }
    }
}

/* Makes column `pivot` a unit column by subtracting multiples of row `row`. */
static void eliminate(elimination *e, int row, int64_t pivot)
{
    double *own = e->table + row * e->width;
    const double scale = 1 / own[pivot];
    for (int64_t k = 0; k < e->width; k++)
        own[k] *= scale;
    for (int k = 0; k < FRAME; k++)
        e->inverse[row][k] *= scale;
    for (int other = 0; other < FRAME; other++) {
        double *row_of = e->table + other * e->width;
        const double factor = row_of[pivot];
        if (other == row)
            continue;
        for (int64_t k = 0; k < e->width; k++)
            row_of[k] -= factor * own[k];
        for (int k = 0; k < FRAME; k++)
            e->inverse[other][k] -= factor * e->inverse[row][k];
        row_of[pivot] = 0;
    }
    own[pivot] = 1;
    e->pivot[row] = pivot;
}

/* Gauss–Jordan elimination with the largest pivot of all rows that are left, relative to their largest at the start:
 * rotations have another unit than translations. */
static int eliminate_frame(sp_context *context, const sp_mesh *mesh, const sp_interface *interface, sp_pool *pool,
                           elimination *e)
{
    double size[FRAME] = {0};
    bool used[FRAME] = {false};
    *e = (elimination){.width = 3 * interface->vertex_count};
    e->table = sp_pool_new(pool, FRAME * e->width, sizeof *e->table);
    if (!e->table)
        return sp_fail_memory(context);
    fill_table(mesh, interface, e);
    for (int i = 0; i < FRAME; i++) {
        e->inverse[i][i] = 1;
        for (int64_t k = 0; k < e->width; k++)
            size[i] = fmax(size[i], fabs(e->table[i * e->width + k]));
    }
    for (int step = 0; step < FRAME; step++) {
        int best = -1;
        int64_t at = 0;
        double most = 0;
        for (int i = 0; i < FRAME; i++)
            for (int64_t k = 0; k < e->width && !used[i]; k++)
                if (fabs(e->table[i * e->width + k]) > most * size[i]) {
                    most = fabs(e->table[i * e->width + k]) / size[i];
                    best = i;
                    at = k;
                }
        if (best < 0)
            return sp_fail(context, SP_NUMERICAL, "interface \"%s\": the mean rotation cannot be told apart",
                           interface->name);
        used[best] = true;
        eliminate(e, best, at);
    }
    return SP_OK;
}

/* What becomes of a free degree of freedom. */
enum { INTERIOR = -1 };
typedef struct role {
    int64_t interface; /* INTERIOR: of no interface */
    int64_t within;    /* its number among the displacements of the interface */
    int row;           /* of the elimination that gives it; −1: it is an interior coordinate */
} role;

static int assign_roles(sp_context *context, const sp_fe_space *space, int64_t count, const sp_interface *interfaces,
                        sp_pool *pool, role *roles, elimination *eliminations)
{
    for (int64_t i = 0; i < space->dof_count; i++)
        roles[i] = (role){.interface = INTERIOR, .row = -1};
    for (int64_t i = 0; i < count; i++) {
        const sp_interface *interface = &interfaces[i];
        for (int64_t k = 0; k < 3 * interface->vertex_count; k++) {
            role *of = &roles[space->dof[3 * interface->vertices[k / 3] + k % 3]];
            of->interface = i;
            of->within = k;
        }
        if (interface->frame != SP_FRAME_AVERAGE)
            continue;
        const int status = eliminate_frame(context, space->mesh, interface, pool, &eliminations[i]);
        if (status != SP_OK)
            return status;
        for (int j = 0; j < FRAME; j++) {
            const int64_t k = eliminations[i].pivot[j];
            roles[space->dof[3 * interface->vertices[k / 3] + k % 3]].row = j;
        }
    }
    return SP_OK;
}

/* Interior coordinates are the degrees of freedom of no interface, and those of average frames that are not
 * eliminated. */
static bool is_interior(const sp_interface *interfaces, const role *of)
{
    return of->interface == INTERIOR || (interfaces[of->interface].frame == SP_FRAME_AVERAGE && of->row < 0);
}

/* The displacement of an interface's vertex along an axis for a unit value of a coordinate of its rigid frame. */
static double rigid_motion(const sp_mesh *mesh, const sp_interface *interface, int64_t within, int coordinate)
{
    double r[3], moved[3];
    const int axis = (int)(within % 3);
    if (coordinate < 3)
        return coordinate == axis;
    const double unit[3] = {coordinate == 3, coordinate == 4, coordinate == 5};
    sp_subtract3(mesh->vertices + 3 * interface->vertices[within / 3], interface->origin, r);
    sp_cross3(unit, r, moved);
    return moved[axis];
}

/* Row i of D. */
static void fill_prescribed(const sp_fe_space *space, const sp_interface *interface, const role *of,
                            const elimination *e, int64_t i, sp_interface_map *map)
{
    double *row = map->D + interface->first * map->rows + i;
    if (interface->frame == SP_FRAME_NONE)
        row[of->within * map->rows] = 1;
    else
        for (int k = 0; k < FRAME; k++) {
            if (interface->frame == SP_FRAME_RIGID)
                row[k * map->rows] = rigid_motion(space->mesh, interface, of->within, k);
            else if (of->row >= 0)
                row[k * map->rows] = e->inverse[of->row][k];
        }
}

/* number [rows]: the interior coordinate of each row, −1 for the others. Rows of S. */
static void fill_rows(const sp_fe_space *space, const sp_interface *interfaces, const role *roles,
                      const elimination *eliminations, const int64_t *number, sp_interface_map *map)
{
    int64_t at = 0;
    for (int64_t i = 0; i < map->rows; i++) {
        const role *of = &roles[i];
        if (number[i] >= 0) {
            map->index[at] = number[i];
            map->value[at++] = 1;
        } else if (of->row >= 0) { /* degrees of freedom of increasing vertices have increasing numbers */
            const sp_interface *interface = &interfaces[of->interface];
            const elimination *e = &eliminations[of->interface];
            for (int64_t k = 0; k < e->width; k++) {
                const int64_t column = number[space->dof[3 * interface->vertices[k / 3] + k % 3]];
                if (column < 0)
                    continue;
                map->index[at] = column;
                map->value[at++] = -e->table[of->row * e->width + k];
            }
        }
        map->start[i + 1] = at;
        if (of->interface != INTERIOR)
            fill_prescribed(space, &interfaces[of->interface], of, &eliminations[of->interface], i, map);
    }
}

int sp_interface_map_new(sp_context *context, const sp_fe_space *space, int64_t count, const sp_interface *interfaces,
                         sp_interface_map *map)
{
    const int64_t n = space->dof_count;
    sp_pool scratch = {0};
    role *roles = sp_pool_raw(&scratch, n, sizeof *roles);
    elimination *eliminations = sp_pool_new(&scratch, count, sizeof *eliminations);
    int64_t *number = sp_pool_raw(&scratch, n, sizeof *number), entries = 0;
    int status = scratch.failed ? sp_fail_memory(context) : SP_OK;
    *map = (sp_interface_map){.rows = n};
    SP_TRY(status);
    SP_TRY(assign_roles(context, space, count, interfaces, &scratch, roles, eliminations));
    for (int64_t i = 0; i < n; i++) {
        number[i] = is_interior(interfaces, &roles[i]) ? map->columns++ : -1;
        entries += number[i] >= 0 ? 1 : roles[i].row >= 0 ? eliminations[roles[i].interface].width - FRAME : 0;
    }
    map->coordinates = count > 0 ? interfaces[count - 1].first + interfaces[count - 1].count : 0;
    map->start = sp_pool_new(&map->pool, n + 1, sizeof *map->start);
    map->index = sp_pool_raw(&map->pool, entries, sizeof *map->index);
    map->value = sp_pool_raw(&map->pool, entries, sizeof *map->value);
    map->D = sp_pool_new(&map->pool, n * map->coordinates, sizeof *map->D);
    map->node = sp_pool_raw(&map->pool, map->columns, sizeof *map->node);
    if (map->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        if (number[i] >= 0)
            map->node[number[i]] = space->free[i] / 3;
    fill_rows(space, interfaces, roles, eliminations, number, map);
done:
    if (status != SP_OK)
        sp_interface_map_free(map);
    sp_pool_free(&scratch);
    return status;
}

void sp_interface_map_free(sp_interface_map *map)
{
    sp_pool_free(&map->pool);
    *map = (sp_interface_map){0};
}

void sp_interface_map_gather(const sp_interface_map *map, const double *f, double *y)
{
    memset(y, 0, (size_t)map->columns * sizeof *y);
    for (int64_t i = 0; i < map->rows; i++)
        for (int64_t k = map->start[i]; k < map->start[i + 1]; k++)
            y[map->index[k]] += map->value[k] * f[i];
}

void sp_interface_map_spread(const sp_interface_map *map, const double *y, double *u)
{
    for (int64_t i = 0; i < map->rows; i++) {
        u[i] = 0;
        for (int64_t k = map->start[i]; k < map->start[i + 1]; k++)
            u[i] += map->value[k] * y[map->index[k]];
    }
}

/* ---- SᵀAS ---- */

/* S by columns: the rows of its transpose. */
typedef struct transpose {
    int64_t *start, *index;
    double *value;
} transpose;

static int transpose_map(sp_context *context, const sp_interface_map *map, sp_pool *pool, transpose *t)
{
    const int64_t entries = map->start[map->rows];
    t->start = sp_pool_new(pool, map->columns + 2, sizeof *t->start);
    t->index = sp_pool_raw(pool, entries, sizeof *t->index);
    t->value = sp_pool_raw(pool, entries, sizeof *t->value);
    if (pool->failed)
        return sp_fail_memory(context);
    for (int64_t k = 0; k < entries; k++)
        t->start[map->index[k] + 2]++;
    for (int64_t c = 0; c < map->columns; c++)
        t->start[c + 2] += t->start[c + 1];
    for (int64_t i = 0; i < map->rows; i++)
        for (int64_t k = map->start[i]; k < map->start[i + 1]; k++) {
            const int64_t to = t->start[map->index[k] + 1]++;
            t->index[to] = i;
            t->value[to] = map->value[k];
        }
    return SP_OK;
}

static int compare_columns(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Row `row` of SᵀAS: sum [columns] receives its values, found its columns, increasing; returns their number. seen
 * [columns] is `row` + 1 where a value is in the sum. */
static int64_t product_row(const sp_interface_map *map, const transpose *t, const sp_sparse *A, int64_t row,
                           double *sum, int64_t *seen, int64_t *found)
{
    int64_t count = 0;
    for (int64_t s = t->start[row]; s < t->start[row + 1]; s++)
        for (int64_t a = A->start[t->index[s]]; a < A->start[t->index[s] + 1]; a++)
            for (int64_t k = map->start[A->index[a]]; k < map->start[A->index[a] + 1]; k++) {
                const int64_t column = map->index[k];
                if (seen[column] != row + 1) {
                    seen[column] = row + 1;
                    sum[column] = 0;
                    found[count++] = column;
                }
                sum[column] += t->value[s] * A->value[a] * map->value[k];
            }
    qsort(found, (size_t)count, sizeof *found, compare_columns);
    return count;
}

/* Sums of the same terms in another order: the upper triangle is copied to the lower one. */
static void make_symmetric(sp_sparse *matrix, int64_t *next)
{
    for (int64_t row = 0; row < matrix->order; row++)
        next[row] = matrix->start[row];
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->index[k] > row) /* rows are visited in order, and so are the columns of the lower triangle */
                matrix->value[next[matrix->index[k]]++] = matrix->value[k];
}

int sp_interface_map_matrix(sp_context *context, const sp_interface_map *map, const sp_sparse *A, sp_sparse *mapped)
{
    sp_pool scratch = {0};
    sp_list index = {0}, value = {0};
    transpose t;
    int status;
    *mapped = (sp_sparse){.order = map->columns};
    SP_TRY(transpose_map(context, map, &scratch, &t));
    double *sum = sp_pool_raw(&scratch, map->columns, sizeof *sum);
    int64_t *seen = sp_pool_new(&scratch, map->columns, sizeof *seen),
            *found = sp_pool_raw(&scratch, map->columns, sizeof *found);
    mapped->start = sp_pool_new(&mapped->pool, map->columns + 1, sizeof *mapped->start);
    if (scratch.failed || !mapped->start) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t row = 0; row < map->columns; row++) {
        const int64_t count = product_row(map, &t, A, row, sum, seen, found);
        int64_t *indices = sp_list_add(&index, count, sizeof *indices);
        double *values = sp_list_add(&value, count, sizeof *values);
        if (!indices || !values) {
            status = sp_fail_memory(context);
            goto done;
        }
        for (int64_t k = 0; k < count; k++) {
            indices[k] = found[k];
            values[k] = sum[found[k]];
        }
        mapped->start[row + 1] = index.count;
    }
    mapped->index = sp_pool_copy(&mapped->pool, index.data, index.count, sizeof *mapped->index);
    mapped->value = sp_pool_copy(&mapped->pool, value.data, value.count, sizeof *mapped->value);
    if (mapped->pool.failed)
        status = sp_fail_memory(context);
    else
        make_symmetric(mapped, found);
done:
    if (status != SP_OK)
        sp_sparse_free(mapped);
    sp_list_free(&index);
    sp_list_free(&value);
    sp_pool_free(&scratch);
    return status;
}

/* ---- constraint modes ---- */

static double largest(int64_t count, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

int sp_constraint_modes(sp_context *context, const sp_interface_map *map, const sp_sparse *K,
                        sp_flexibility *flexibility, double *modes, double *residual)
{
    enum { GROUP = 32 };
    const int64_t n = map->rows, m = map->columns;
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, n * GROUP, sizeof *product),
           *load = sp_pool_raw(&scratch, m * GROUP, sizeof *load), *left = sp_pool_raw(&scratch, m, sizeof *left);
    int status = scratch.failed ? sp_fail_memory(context) : SP_OK;
    *residual = 0;
    for (int64_t first = 0; first < map->coordinates && status == SP_OK; first += GROUP) {
        const int64_t width = map->coordinates - first < GROUP ? map->coordinates - first : GROUP;
        double *phi = modes + first * n;
        memcpy(phi, map->D + first * n, (size_t)(n * width) * sizeof *phi);
        if (m == 0)
            continue;
        sp_sparse_times(context, K, width, phi, product);
        for (int64_t c = 0; c < width; c++) {
            sp_interface_map_gather(map, product + c * n, load + c * m);
            for (int64_t i = 0; i < m; i++)
                load[c * m + i] = -load[c * m + i];
        }
        const double size = largest(m * width, load);
        SP_TRY(sp_flexibility_solve(flexibility, width, load, load));
        for (int64_t c = 0; c < width; c++) {
            double *u = product + c * n;
            sp_interface_map_spread(map, load + c * m, u);
            for (int64_t i = 0; i < n; i++)
                phi[c * n + i] += u[i];
        }
        sp_sparse_times(context, K, width, phi, product);
        for (int64_t c = 0; c < width && size > 0; c++) {
            sp_interface_map_gather(map, product + c * n, left);
            *residual = fmax(*residual, largest(m, left) / size);
        }
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* product [count, count] = Uᵀ A U. */
static void project(sp_context *context, const sp_sparse *A, int64_t count, const double *U, double *image,
                    double *product)
{
    const int order = (int)A->order, columns = (int)count;
    for (int64_t c = 0; c < count; c++)
        sp_sparse_times(context, A, 1, U + c * A->order, image + c * A->order);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, columns, columns, order, 1, U, order, image, order, 0, product,
                columns);
}

int sp_ritz_vectors(sp_context *context, const sp_sparse *K, const sp_sparse *M, int64_t count, double *U,
                    double *eigenvalue)
{
    const int64_t order = K->order;
    sp_pool scratch = {0};
    int status;
    SP_TRY(sp_dense_fits(context, order, count));
    double *image = sp_pool_raw(&scratch, order * count, sizeof *image),
           *k = sp_pool_raw(&scratch, count * count, sizeof *k), *m = sp_pool_raw(&scratch, count * count, sizeof *m);
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t c = 0; c < count; c++) { /* of unit mass, so that the pivots of the mass tell dependent columns */
        sp_sparse_times(context, M, 1, U + c * order, image);
        cblas_dscal((int)order, 1 / sqrt(sp_dense_dot(order, U + c * order, image)), U + c * order, 1);
    }
    project(context, K, count, U, image, k);
    project(context, M, count, U, image, m);
    bool independent =
        LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', (int)count, k, (int)count, m, (int)count, eigenvalue) == 0;
    for (int64_t c = 0; c < count; c++)
        independent &= m[c * count + c] * m[c * count + c] > 1e-12 * (double)count; /* false for a NaN */
    if (!independent) {
        status =
            sp_fail(context, SP_NUMERICAL, "the %lld columns of the basis are linearly dependent", (long long)count);
        goto done;
    }
    memcpy(image, U, (size_t)(order * count) * sizeof *image);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)order, (int)count, (int)count, 1, image, (int)order, k,
                (int)count, 0, U, (int)order);
    sp_dense_fix_signs(order, count, U);
done:
    sp_pool_free(&scratch);
    return status;
}
