/* The parts of a warped system that stay as they are at rest. */
#include "model/warp/warp_internal.h"

#include "assembly/elastic.h"
#include "assembly/element.h"

#include <string.h>

int sp_warp_make_rows(sp_warp_system *w)
{
    const sp_sparse *pattern = &w->all.pattern;
    w->start = sp_pool_new(&w->pool, w->vertices + 1, sizeof *w->start);
    w->diagonal = sp_pool_raw(&w->pool, w->vertices, sizeof *w->diagonal);
    w->column = sp_pool_raw(&w->pool, pattern->start[pattern->order] / 9, sizeof *w->column);
    SP_PASS(sp_allocated(w->context, !w->pool.failed));

    /* Each vertex has three columns, so that every third entry of a row begins a block. */
    for (int64_t i = 0, at = 0; i < w->vertices; i++) {
        int64_t row = w->all.dof[3 * i];
        w->diagonal[i] = -1;
        for (int64_t k = row < 0 ? 0 : pattern->start[row]; row >= 0 && k < pattern->start[row + 1]; k += 3) {
            w->column[at] = (int32_t)(w->all.free[pattern->index[k]] / 3);
            if (w->column[at] == i)
                w->diagonal[i] = at;
            at++;
        }
        w->start[i + 1] = at;
    }
    return SP_OK;
}

/* Copies the blocks [blocks, 9] of a matrix over the pattern of all vertices, or their first entries only. */
static void copy_blocks(const sp_warp_system *w, const sp_sparse *matrix, bool first, double *to)
{
    for (int64_t i = 0; i < w->vertices; i++)
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++)
            for (int c = 0; c < (first ? 1 : 3); c++)
                for (int d = 0; d < (first ? 1 : 3); d++)
                    to[(first ? k : 9 * k) + 3 * c + d] =
                        matrix->value[matrix->start[w->all.dof[3 * i] + c] + 3 * (k - w->start[i]) + d];
}

int sp_warp_make_blocks(sp_warp_system *w)
{
    sp_sparse matrix = {0};
    int64_t blocks = w->start[w->vertices], entries;
    int status;

    w->K = sp_pool_raw(&w->pool, 9 * blocks, sizeof *w->K);
    w->S = sp_pool_new(&w->pool, 9 * blocks, sizeof *w->S);
    w->mass = sp_pool_raw(&w->pool, blocks, sizeof *w->mass);
    w->vertex_mass = sp_pool_new(&w->pool, w->vertices, sizeof *w->vertex_mass);

    if (w->p.network || w->p.extra > 0)
        w->spring = sp_pool_new(&w->pool, blocks, sizeof *w->spring);
    SP_PASS(sp_allocated(w->context, !w->pool.failed));

    /* K at rest, and the mass */
    SP_TRY(sp_fe_space_matrix(w->context, &w->all, &matrix));
    entries = matrix.start[matrix.order];

    if (!w->p.network) {
        sp_elastic_tangent(w->context, &w->all, w->u, 1, false, NULL, &matrix); /* u is still 0 */
        copy_blocks(w, &matrix, false, w->K);
        memset(matrix.value, 0, (size_t)entries * sizeof *matrix.value);
    }

    SP_TRY(sp_fe_space_mass(w->context, &w->all, w->p.lumped, &matrix));
    copy_blocks(w, &matrix, true, w->mass);
    sp_fe_space_vertex_mass(&w->all, true, w->vertex_mass);
done:
    sp_sparse_free(&matrix);
    return status;
}

/* Computes K_ab, and the gradients at the centre, for every class. */
int sp_warp_make_elements(sp_warp_system *w)
{
    const sp_fe_space *all = &w->all;
    sp_pool scratch = {0};
    sp_element_lanes *data = sp_pool_raw(&scratch, 1, sizeof *data);
    sp_lanes(*block)[9] = sp_pool_raw(&scratch, SP_ELEMENT_BLOCKS, sizeof *block);
    int64_t entries = 0;

    w->matrix_start = sp_pool_raw(&w->pool, all->class_count, sizeof *w->matrix_start);
    if (w->matrix_start)
        for (int64_t k = 0; k < all->class_count; k++) {
            w->matrix_start[k] = entries;
            entries += sp_warp_entries(all->classes[k].nodes);
        }

    w->matrix = sp_pool_new(&w->pool, entries, sizeof *w->matrix);
    if (w->p.rotation == SP_ROTATION_FRAME)
        w->element_frame = sp_pool_new(&w->pool, all->class_count, sizeof *w->element_frame);

    if (scratch.failed || w->pool.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(w->context);
    }

    sp_element_lanes_start(data);

    /* One element stands for its class, since K_ab depends on the class only. Lane 0 of the result is read. */
    for (int64_t k = 0; k < all->class_count; k++) {
        int corners;
        const int64_t *corner = sp_mesh_nodes(&w->mesh, all->classes[k].element, &corners);
        sp_lanes rest[8][3] = {0}, f[8][3], energy;
        double X[24], gradient[8][3], *to = w->matrix + w->matrix_start[k];

        sp_element_lanes_fill(all, all->classes[k].element, data);
        sp_batch_tangent(data, rest, false, f, block, &energy);

        for (int a = 0; a < corners; a++) {
            memcpy(X + 3 * a, w->X + 3 * corner[a], 3 * sizeof *X);
            for (int b = a + 1; b < corners; b++)
                for (int m = 0; m < 9; m++)
                    *to++ = block[sp_packed(corners, a, b)][m][0];
        }

        sp_element_centre_gradients(corners == 8 ? SP_HEX8 : SP_TET4, X, gradient);
        memcpy(to, gradient[1], 3 * (size_t)(corners - 1) * sizeof *to);
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

int sp_warp_make_vectors(sp_warp_system *w)
{
    double **vectors[] = {&w->u, &w->v, &w->x, &w->f, &w->auxiliary, &w->direction, &w->place};
    int64_t rows = 3 * w->vertices, n = w->body->dof_count;

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&w->pool, rows, sizeof(double));

    w->rotation = sp_pool_new(&w->pool, 3 * rows, sizeof *w->rotation);
    w->preconditioner_rotation = sp_pool_new(&w->pool, 3 * rows, sizeof *w->preconditioner_rotation);
    w->row_energy = sp_pool_new(&w->pool, w->vertices, sizeof *w->row_energy);
    if (w->p.kind != SP_WARP_ELEMENT && w->p.rotation == SP_ROTATION_FRAME)
        w->vertex_frame = sp_pool_new(&w->pool, w->vertices, sizeof *w->vertex_frame);

    w->rotated = sp_pool_new(&w->pool, n, sizeof *w->rotated);
    w->free_mass = sp_pool_new(&w->pool, n, sizeof *w->free_mass);
    w->own = sp_pool_new(&w->pool, n, sizeof *w->own);

    if (w->p.solver != SP_WARP_FACTOR)
        w->inverse = sp_pool_new(&w->pool, 3 * rows, sizeof *w->inverse);
    if (w->supports_separate)
        w->support = sp_pool_new(&w->pool, 3 * rows, sizeof *w->support);
    sp_iteration_new(&w->pool, n, 1, &w->iteration);
    return sp_allocated(w->context, !w->pool.failed);
}

int sp_warp_make_factors(sp_warp_system *w)
{
    sp_pool scratch = {0};
    const sp_fe_space *body = w->body;
    int64_t *node = sp_pool_raw(&scratch, body->dof_count, sizeof *node);
    double stiffness = 0, mass = 0;
    int status;

    SP_TRY(sp_allocated(w->context, node));
    sp_fe_space_nodes(body, node);
    SP_TRY(sp_fe_space_matrix(w->context, body, &w->near));
    if (!w->inverse)
        SP_TRY(sp_cholesky_new(w->context, &w->near, node, &w->factor));

    /* own: where the entries of the vertex begin in the row. The sums are the traces of K and M. */
    for (int64_t row = 0; row < body->dof_count; row++) {
        int64_t i = body->free[row] / 3;
        w->free_mass[row] = w->vertex_mass[i];
        w->own[row] = w->near.start[row];
        while (body->free[w->near.index[w->own[row]]] / 3 != i)
            w->own[row]++;
        stiffness += w->K[9 * w->diagonal[i] + 4 * (body->free[row] % 3)];
        mass += w->vertex_mass[i];
    }

    /* Nothing holds a free body: matrix_factor adds 1e-6 of the mean K_ii / m_i times M. */
    if (body->dof_count == w->all.dof_count)
        w->shift = 1e-6 * stiffness / mass;

    if (!w->p.lumped) {
        SP_TRY(sp_fe_space_mass_compressed(w->context, w->body, false, &w->M_short));
        SP_TRY(sp_cholesky_new(w->context, &w->M_short, NULL, &w->mass_factor));
        SP_TRY(sp_cholesky_factor(w->mass_factor, &w->M_short));
    }
done:
    sp_pool_free(&scratch);
    return status;
}
