#include "model/load_fields.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double INDEPENDENT = 1e-9; /* the least part of a force that is not a sum of the other fields */

/* A force on all vertices, 0 at fixed components, as the next field of a list that grows. */
typedef struct builder {
    sp_context *context;
    const sp_fe_space *space;
    sp_list start, index, value;
    double *force; /* [3·vertices] */
} builder;

static sp_force_fields view(const builder *b)
{
    return (sp_force_fields){b->start.count - 1, b->index.count, b->start.data, b->index.data, b->value.data};
}

/* ---- sums of fields ---- */

static double dot(const sp_force_fields *fields, int64_t f, const double *force)
{
    double sum = 0;
    for (int64_t k = fields->start[f]; k < fields->start[f + 1]; k++)
        sum += fields->value[k] * force[fields->index[k]];
    return sum;
}

static void add(const sp_force_fields *fields, int64_t f, double factor, double *force)
{
    for (int64_t k = fields->start[f]; k < fields->start[f + 1]; k++)
        force[fields->index[k]] += factor * fields->value[k];
}

/* The matrix of the inner products of all fields of unit length, and their lengths. */
static void inner_products(const sp_fe_space *space, const sp_force_fields *fields, double *field, double *length,
                           double *G)
{
    const int64_t count = fields->count;
    for (int64_t f = 0; f < count; f++) {
        memset(field, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *field);
        add(fields, f, 1, field);
        length[f] = sqrt(dot(fields, f, field));
        for (int64_t g = 0; g <= f; g++)
            G[f * count + g] = dot(fields, g, field) / (length[f] * length[g]);
    }
}

/* Their factor Uᵀ U in G. field: workspace of all degrees of freedom. */
static int factor(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields, double *field,
                  double *length, double *G)
{
    inner_products(space, fields, field, length, G);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)fields->count, G, (int)fields->count))
        return sp_fail(context, SP_INPUT, "the fields of its loads are not independent");
    return SP_OK;
}

/* Solves for the factors x and subtracts the sum from `force`: the rest, of which the square is returned. Two rounds,
 * since the products square the condition. */
static int fit(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields, double *force, double *x,
               double *rest)
{
    const int64_t count = fields->count, rows = 3 * space->mesh->vertex_count;
    sp_pool scratch = {0};
    double *field = sp_pool_raw(&scratch, rows, sizeof *field), *length = sp_pool_raw(&scratch, count, sizeof *length),
           *G = sp_pool_new(&scratch, count * count, sizeof *G), *y = sp_pool_raw(&scratch, count, sizeof *y);

    int status = sp_allocated(context, !scratch.failed);

    if (status == SP_OK && count > 0) {
        memset(x, 0, (size_t)count * sizeof *x);
        status = factor(context, space, fields, field, length, G);
    }

    for (int round = 0; status == SP_OK && count > 0 && round < 2; round++) {
        for (int64_t f = 0; f < count; f++)
            y[f] = dot(fields, f, force) / length[f];
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (int)count, 1, G, (int)count, y, (int)count);
        for (int64_t f = 0; f < count; f++) {
            x[f] += y[f] / length[f];
            add(fields, f, -y[f] / length[f], force);
        }
    }

    *rest = 0;
    for (int64_t i = 0; i < rows; i++)
        *rest += force[i] * force[i];
    sp_pool_free(&scratch);
    return status;
}

/* The force of a load on the free degrees of freedom, and its square. */
static int distribute(sp_context *context, const sp_fe_space *space, int64_t number, const sp_load *load, double *full,
                      double *square)
{
    memset(full, 0, (size_t)(3 * space->mesh->vertex_count) * sizeof *full);
    SP_PASS(sp_load_check(context, space->mesh, number, load));
    SP_PASS(sp_load_distribute(context, space, load, full));

    /* Fixed components move no matter what acts on them, so that forces on them are no part of a field. */
    *square = 0;
    for (int64_t i = 0; i < 3 * space->mesh->vertex_count; i++) {
        full[i] = space->dof[i] < 0 ? 0 : full[i];
        *square += full[i] * full[i];
    }
    return SP_OK;
}

/* ---- construction ---- */

static int append(builder *b)
{
    const int64_t rows = 3 * b->space->mesh->vertex_count;
    int64_t count = 0;

    for (int64_t i = 0; i < rows; i++)
        count += b->force[i] != 0;

    int64_t *index = sp_list_add(&b->index, count, sizeof *index), *start = sp_list_add(&b->start, 1, sizeof *start);
    double *value = sp_list_add(&b->value, count, sizeof *value);
    SP_PASS(sp_allocated(b->context, index && start && value));

    for (int64_t i = 0; i < rows; i++)
        if (b->force[i] != 0) {
            *index++ = i;
            *value++ = b->force[i];
        }
    *start = b->index.count;
    return SP_OK;
}

/* Adds the force of a load to the fields unless it is a sum of them. */
static int add_field(builder *b, int64_t number, const sp_load *load)
{
    const sp_force_fields fields = view(b);
    double square, rest;
    sp_pool scratch = {0};
    double *x = sp_pool_raw(&scratch, fields.count, sizeof *x);
    int status = sp_allocated(b->context, x);

    SP_TRY(status);
    SP_TRY(distribute(b->context, b->space, number, load, b->force, &square));
    if (!(square > 0))
        goto done;

    /* `force` holds the rest of the fit after this, so that it is distributed once more before it is stored. */
    SP_TRY(fit(b->context, b->space, &fields, b->force, x, &rest));
    if (!(rest > INDEPENDENT * INDEPENDENT * square))
        goto done;

    SP_TRY(distribute(b->context, b->space, number, load, b->force, &square));
    SP_TRY(append(b));
done:
    sp_pool_free(&scratch);
    return status;
}

/* The fields of one load. */
static int add_load(builder *b, int64_t number, const sp_load *load)
{
    sp_load one = *load;
    int status = SP_OK;

    /* A field is the force of unit size that does not change over time; the factors come from the loads themselves. */
    one.course = (sp_course){0};
    one.moving = false;
    if (load->kind == SP_LOAD_ROTATION)
        return add_field(b, number, &one);

    /* All others are linear in three components, but a pressure in one. */
    const int axes = load->kind == SP_LOAD_PRESSURE ? 1 : 3;
    if (load->kind == SP_LOAD_SPRING) {
        one.kind = SP_LOAD_VERTEX;
        one.stiffness = 0;
    }

    for (int axis = 0; axis < axes && status == SP_OK; axis++) {
        for (int c = 0; c < 3; c++)
            one.force[c] = c == axis;
        status = add_field(b, number, &one);
    }
    return status;
}

int sp_load_fields_new(sp_context *context, const sp_fe_space *space, int64_t load_count, const sp_load *loads,
                       sp_pool *pool, sp_force_fields *fields)
{
    builder b = {.context = context, .space = space};
    int status = SP_OK;

    b.force = sp_pool_raw(pool, 3 * space->mesh->vertex_count, sizeof *b.force);
    int64_t *start = sp_list_add(&b.start, 1, sizeof *start);
    SP_TRY(sp_allocated(context, b.force && start));

    *start = 0;
    for (int64_t l = 0; l < load_count; l++)
        SP_TRY(add_load(&b, l + 1, &loads[l]));

    *fields = view(&b);
    fields->start = sp_pool_copy(pool, b.start.data, b.start.count, sizeof *fields->start);
    fields->index = sp_pool_copy(pool, b.index.data, b.index.count, sizeof *fields->index);
    fields->value = sp_pool_copy(pool, b.value.data, b.value.count, sizeof *fields->value);

    if (pool->failed)
        status = sp_fail_memory(context);
done:
    sp_list_free(&b.start);
    sp_list_free(&b.index);
    sp_list_free(&b.value);
    return status;
}

int sp_load_fields_check(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields)
{
    const int64_t count = fields->count;
    sp_pool scratch = {0};
    double *field = sp_pool_raw(&scratch, 3 * space->mesh->vertex_count, sizeof *field),
           *length = sp_pool_raw(&scratch, count, sizeof *length), *G = sp_pool_new(&scratch, count * count, sizeof *G);
    int status = sp_allocated(context, !scratch.failed);
    if (status == SP_OK && count > 0)
        status = factor(context, space, fields, field, length, G);
    sp_pool_free(&scratch);
    return status;
}

int sp_load_fields_factors(sp_context *context, const sp_fe_space *space, const sp_force_fields *fields, int64_t number,
                           const sp_load *load, double *x, bool *known)
{
    double square, rest;
    sp_pool scratch = {0};
    double *force = sp_pool_raw(&scratch, 3 * space->mesh->vertex_count, sizeof *force);
    int status = sp_allocated(context, force);

    SP_TRY(status);
    SP_TRY(distribute(context, space, number, load, force, &square));
    SP_TRY(fit(context, space, fields, force, x, &rest));
    *known = rest <= INDEPENDENT * INDEPENDENT * square && isfinite(square);
done:
    sp_pool_free(&scratch);
    return status;
}
