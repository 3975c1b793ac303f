/* The motions of the table: the loads, materials and states of the base with the changes of a row. */
#include "tools/batch/batch.h"

#include <string.h>

double batch_number(const batch *b, int64_t column, int64_t motion)
{
    const batch_table *t = &b->table;
    return batch_cell_number(&t->cells[motion % t->row_count * t->column_count + column], &t->columns[column],
                             b->context->seed, motion);
}

/* Why there is no such motion, from the pool. */
static const char *explain(sp_pool *pool, const char *name, double value, const char *why)
{
    char text[600];
    snprintf(text, sizeof text, "column %s is %g: %s", name, value, why);
    return sp_pool_copy(pool, text, (int64_t)strlen(text) + 1, 1);
}

/* A material with the number of a column; a number that was drawn may be none that a material can have. */
static void edit_material(const batch *b, const batch_column *column, double value, sp_pool *pool,
                          sp_material *materials, sp_ensemble_motion *motion)
{
    const int64_t count = b->base.mesh.mesh.material_count, first = column->which < 0 ? 0 : column->which,
                  end = column->which < 0 ? count : column->which + 1;
    sp_context own = *b->context;
    for (int64_t m = first; m < end; m++) {
        *batch_material_value(&materials[m], column->role) = value;
        if (sp_material_check(&own, &materials[m]) != SP_OK)
            motion->refused = explain(pool, column->name, value, own.message);
    }
}

/* The loads of the row: those of its file or of the base, as a copy. */
static int copy_loads(const batch *b, int64_t number, sp_pool *pool, int64_t *count, sp_load **loads)
{
    const batch_table *t = &b->table;
    const sp_load *from = b->base.loads;
    *count = b->base.load_count;

    for (int64_t c = 0; c < t->column_count; c++)
        if (t->columns[c].role == BATCH_LOADS) {
            const batch_loads *file = &t->files[t->cells[number % t->row_count * t->column_count + c].file];
            from = file->loads;
            *count = file->count;
        }

    *loads = sp_pool_copy(pool, from, *count, sizeof **loads);
    return sp_allocated(b->context, *loads);
}

/* The seed of the motion: that of its row, or its number. */
static uint64_t seed_of(const batch *b, int64_t number)
{
    const batch_table *t = &b->table;
    for (int64_t c = 0; c < t->column_count; c++)
        if (t->columns[c].role == BATCH_SEED)
            return (uint64_t)batch_number(b, c, number);
    return (uint64_t)number;
}

/* Random courses become realizations of their own, whose seed is that of the file plus that of the motion. */
static int realize(const batch *b, uint64_t seed, sp_pool *pool, int64_t count, sp_load *loads)
{
    for (int64_t l = 0; l < count; l++) {
        if (!loads[l].course.spectrum)
            continue;
        sp_course_spectrum *own = sp_pool_copy(pool, loads[l].course.spectrum, 1, sizeof *own);
        SP_PASS(sp_allocated(b->context, own));
        own->seed += seed;
        SP_PASS(sp_course_realize(b->context, own, loads[l].end - loads[l].start, pool, &loads[l].course));
    }
    return SP_OK;
}

static void change_load(const batch_column *column, double value, int64_t count, sp_load *loads)
{
    if (column->role == BATCH_FORCE) {
        loads[column->which].force[column->axis] = value;
        return;
    }
    for (int64_t l = 0; l < count; l++)
        if (column->which < 0 || column->which == l)
            for (int i = 0; i < 3 && loads[l].kind != SP_LOAD_SPRING; i++)
                loads[l].force[i] *= value;
}

int batch_describe(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion)
{
    const batch *b = self;
    const batch_table *t = &b->table;
    const simulation *base = &b->base;
    const sp_mesh *mesh = &base->mesh.mesh;
    const int64_t r = b->description.r;
    sp_load *loads;
    int64_t count;

    *motion = (sp_ensemble_motion){.damping_mass = base->damping_mass, .damping_stiffness = base->damping_stiffness};
    memcpy(motion->gravity, base->choice->gravity, sizeof motion->gravity);
    SP_PASS(copy_loads(b, number, pool, &count, &loads));
    SP_PASS(realize(b, seed_of(b, number), pool, count, loads));
    motion->load_count = count;
    motion->loads = loads;

    double *q = sp_pool_new(pool, r, sizeof *q), *v = sp_pool_new(pool, r, sizeof *v);
    sp_material *materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *materials);
    SP_PASS(sp_allocated(b->context, !pool->failed));

    /* The columns in their order: a factor applies to the force of a column before it. */
    for (int64_t c = 0; c < t->column_count; c++) {
        const batch_column *column = &t->columns[c];
        const double value = column->role == BATCH_LOADS ? 0 : batch_number(b, c, number);
        switch (column->role) {
        case BATCH_FACTOR:
        case BATCH_FORCE:
            change_load(column, value, count, loads);
            break;
        case BATCH_GRAVITY:
            motion->gravity[column->axis] = value;
            break;
        case BATCH_DAMPING_MASS:
            motion->damping_mass = value;
            break;
        case BATCH_DAMPING_STIFFNESS:
            motion->damping_stiffness = value;
            break;
        case BATCH_YOUNG:
        case BATCH_POISSON:
        case BATCH_DENSITY:
            edit_material(b, column, value, pool, materials, motion);
            motion->materials = materials;
            break;
        case BATCH_COORDINATE:
            q[column->which] = value;
            motion->q = q;
            break;
        case BATCH_RATE:
            v[column->which] = value;
            motion->v = v;
            break;
        case BATCH_SEED:
        case BATCH_LOADS:
        case BATCH_ROLES:
            break;
        }
    }
    return sp_allocated(b->context, !pool->failed);
}
