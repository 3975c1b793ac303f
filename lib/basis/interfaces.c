#include "basis/interfaces.h"

#include "assembly/interface_shares.h"
#include "base/vec3.h"
#include "basis/average_frame.h"
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

/* The vertices of a frame must not be on one line: the least eigenvalue of the moment is then 0, the others are equal
 * to the trace's half. */
static int check_frame(sp_context *context, const sp_mesh *mesh, const sp_interface *interface)
{
    double J[3][3];
    if (interface->frame == SP_FRAME_NONE)
        return SP_OK;

    second_moment(mesh, interface, J);
    const double trace = J[0][0] + J[1][1] + J[2][2];

    /* The product of the eigenvalues is compared with the cube of their sum. */
    if (interface->vertex_count < 3 || !(sp_determinant(J[0], J[1], J[2]) > 1e-12 * trace * trace * trace))
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
    int status = sp_allocated(context, owner);

    for (int64_t i = 0; i < count && status == SP_OK; i++) {
        sp_interface *interface = &interfaces[i];

        /* The origin is the mean of the vertices, weighted by their shares. */
        memset(interface->origin, 0, sizeof interface->origin);
        SP_TRY(sp_interface_shares(context, mesh, interface->vertex_count, interface->vertices, interface->share));
        for (int64_t k = 0; k < interface->vertex_count; k++)
            for (int c = 0; c < 3; c++)
                interface->origin[c] += interface->share[k] * mesh->vertices[3 * interface->vertices[k] + c];

        /* The coordinates of interfaces follow one another. */
        interface->first = next;
        interface->count = interface->at_rest                  ? 0
                           : interface->frame == SP_FRAME_NONE ? 3 * interface->vertex_count
                                                               : FRAME;
        next += interface->count;

        SP_TRY(check_vertices(context, space, interface, owner));
        SP_TRY(check_frame(context, mesh, interface));
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- the map ---- */

/* What becomes of a free degree of freedom. */
enum { INTERIOR = -1 };
typedef struct role {
    int64_t interface; /* INTERIOR: of no interface */
    int64_t within;    /* its number among the displacements of the interface */
} role;

/* frames [count] are those of the average interfaces. */
static int assign_roles(sp_context *context, const sp_fe_space *space, int64_t count, const sp_interface *interfaces,
                        sp_pool *pool, role *roles, sp_average_frame *frames)
{
    int status = SP_OK;

    for (int64_t i = 0; i < space->dof_count; i++)
        roles[i] = (role){.interface = INTERIOR};
    for (int64_t i = 0; i < count && status == SP_OK; i++) {
        const sp_interface *interface = &interfaces[i];

        for (int64_t k = 0; k < 3 * interface->vertex_count; k++)
            roles[space->dof[3 * interface->vertices[k / 3] + k % 3]] = (role){.interface = i, .within = k};
        if (interface->frame == SP_FRAME_AVERAGE)
            status = sp_average_frame_new(context, space->mesh, interface, pool, &frames[i]);
    }
    return status;
}

/* The displacement of an interface's vertex along an axis for a unit value of a coordinate of its rigid frame. */
static double rigid_motion(const sp_mesh *mesh, const sp_interface *interface, int64_t within, int coordinate)
{
    double r[3], moved[3];
    const int axis = (int)(within % 3);

    if (coordinate < 3)
        return coordinate == axis;

    /* u = e × r */
    const double unit[3] = {coordinate == 3, coordinate == 4, coordinate == 5};
    sp_subtract3(mesh->vertices + 3 * interface->vertices[within / 3], interface->origin, r);
    sp_cross3(unit, r, moved);
    return moved[axis];
}

/* Row i of D. */
static void fill_prescribed(const sp_fe_space *space, const sp_interface *interface, const role *of,
                            const sp_average_frame *frame, int64_t i, sp_interface_map *map)
{
    double *row = map->D + interface->first * map->S.rows + i;

    if (interface->at_rest)
        return;

    if (interface->frame == SP_FRAME_NONE)
        row[of->within * map->S.rows] = 1;
    else
        for (int k = 0; k < FRAME; k++)
            row[k * map->S.rows] = interface->frame == SP_FRAME_RIGID
                                       ? rigid_motion(space->mesh, interface, of->within, k)
                                       : frame->moved[k * 3 * interface->vertex_count + of->within];
}

/* Row i of S is a unit row for a degree of freedom of no interface, and that of the frame of an average one, whose
 * columns begin at first [interfaces]. */
static void fill_rows(const sp_fe_space *space, const sp_interface *interfaces, const role *roles,
                      const sp_average_frame *frames, const int64_t *first, sp_interface_map *map)
{
    int64_t at = 0, column = 0;
    for (int64_t i = 0; i < map->S.rows; i++) {
        const role *of = &roles[i];
        const sp_average_frame *frame = of->interface == INTERIOR ? NULL : &frames[of->interface];

        if (of->interface == INTERIOR) {
            map->node[column] = space->free[i] / 3;
            map->S.index[at] = column++;
            map->S.value[at++] = 1;
        } else if (frame->columns > 0)
            for (int64_t k = frame->start[of->within]; k < frame->start[of->within + 1]; k++) {
                map->S.index[at] = first[of->interface] + frame->index[k];
                map->S.value[at++] = frame->value[k];
            }

        map->S.start[i + 1] = at;

        if (of->interface != INTERIOR)
            fill_prescribed(space, &interfaces[of->interface], of, frame, i, map);
    }
}

/* Counts columns and entries of S: the degrees of freedom of no interface come first, then the columns of frames. */
static int64_t count_columns(int64_t count, const sp_interface *interfaces, const role *roles,
                             const sp_average_frame *frames, int64_t *first, sp_interface_map *map)
{
    for (int64_t i = 0; i < map->S.rows; i++)
        map->S.columns += roles[i].interface == INTERIOR;

    int64_t entries = map->S.columns;

    for (int64_t i = 0; i < count; i++) {
        first[i] = map->S.columns;
        map->S.columns += frames[i].columns;
        entries += frames[i].columns > 0 ? frames[i].start[3 * interfaces[i].vertex_count] : 0;
    }
    return entries;
}

/* The groups of average frames are nodes behind the vertices. */
static void fill_nodes(const sp_fe_space *space, int64_t count, const sp_average_frame *frames, const int64_t *first,
                       sp_interface_map *map)
{
    int64_t node = space->mesh->vertex_count;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < frames[i].columns; k++)
            map->node[first[i] + k] = node + frames[i].group[k];
        node += frames[i].groups;
    }
}

int sp_interface_map_new(sp_context *context, const sp_fe_space *space, int64_t count, const sp_interface *interfaces,
                         sp_interface_map *map)
{
    const int64_t n = space->dof_count;
    sp_pool scratch = {0};

    role *roles = sp_pool_raw(&scratch, n, sizeof *roles);
    sp_average_frame *frames = sp_pool_new(&scratch, count, sizeof *frames);
    int64_t *first = sp_pool_raw(&scratch, count, sizeof *first);
    int status = sp_allocated(context, !scratch.failed);

    *map = (sp_interface_map){.S.rows = n};
    SP_TRY(status);
    SP_TRY(assign_roles(context, space, count, interfaces, &scratch, roles, frames));

    const int64_t entries = count_columns(count, interfaces, roles, frames, first, map);
    map->coordinates = count > 0 ? interfaces[count - 1].first + interfaces[count - 1].count : 0;

    map->S.start = sp_pool_new(&map->pool, n + 1, sizeof *map->S.start);
    map->S.index = sp_pool_raw(&map->pool, entries, sizeof *map->S.index);
    map->S.value = sp_pool_raw(&map->pool, entries, sizeof *map->S.value);
    map->D = sp_pool_new(&map->pool, n * map->coordinates, sizeof *map->D);
    map->node = sp_pool_raw(&map->pool, map->S.columns, sizeof *map->node);

    SP_TRY(sp_allocated(context, !map->pool.failed));

    fill_rows(space, interfaces, roles, frames, first, map);
    fill_nodes(space, count, frames, first, map);
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
    sp_rectangular_transposed_times(&map->S, f, y);
}

void sp_interface_map_spread(const sp_interface_map *map, const double *y, double *u)
{
    sp_rectangular_times(&map->S, y, u);
}

/* ---- SᵀAS ---- */

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
    const sp_rectangular own = {
        .rows = A->order, .columns = A->order, .start = A->start, .index = A->index, .value = A->value};
    sp_rectangular transpose, half, product;
    int status;

    *mapped = (sp_sparse){.order = map->S.columns};

    /* SᵀAS = Sᵀ (A S) */
    SP_TRY(sp_rectangular_transpose(context, &map->S, &scratch, &transpose));
    SP_TRY(sp_rectangular_product(context, &own, &map->S, &scratch, &half));
    SP_TRY(sp_rectangular_product(context, &transpose, &half, &mapped->pool, &product));

    int64_t *next = sp_pool_raw(&scratch, map->S.columns, sizeof *next);
    SP_TRY(sp_allocated(context, next));

    mapped->start = product.start;
    mapped->index = product.index;
    mapped->value = product.value;
    make_symmetric(mapped, next);
done:
    if (status != SP_OK)
        sp_sparse_free(mapped);
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
    const int64_t n = map->S.rows, m = map->S.columns;
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, n * GROUP, sizeof *product),
           *load = sp_pool_raw(&scratch, m * GROUP, sizeof *load), *left = sp_pool_raw(&scratch, m, sizeof *left);
    int status = sp_allocated(context, !scratch.failed);

    *residual = 0;
    for (int64_t first = 0; first < map->coordinates && status == SP_OK; first += GROUP) {
        const int64_t width = map->coordinates - first < GROUP ? map->coordinates - first : GROUP;
        double *phi = modes + first * n;

        /* Φ = D + S y, where y is −(SᵀKS)⁻¹ Sᵀ K D */
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

        /* SᵀKΦ is 0 but for rounding */
        sp_sparse_times(context, K, width, phi, product);
        if (!(size > 0))
            continue;
        for (int64_t c = 0; c < width; c++) {
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
    SP_TRY(sp_allocated(context, !scratch.failed));

    /* Columns of unit mass, so that the pivots of the mass tell dependent ones. */
    for (int64_t c = 0; c < count; c++) {
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

    /* U ← U s */
    memcpy(image, U, (size_t)(order * count) * sizeof *image);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)order, (int)count, (int)count, 1, image, (int)order, k,
                (int)count, 0, U, (int)order);
    sp_dense_fix_signs(order, count, U);
done:
    sp_pool_free(&scratch);
    return status;
}
