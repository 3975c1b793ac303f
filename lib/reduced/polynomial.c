/* The Gram matrix of a basis, which is that of the rows of its elements. */
#include "reduced/polynomial.h"

#include "linear/gram.h"
#include "reduced/mass.h"
#include "reduced/rows.h"

#include <omp.h>
#include <string.h>

enum {
    /* rows per product: enough for its full speed, and few enough to stay in the second-level cache */
    BLOCK_ROWS = 672,
    STRIDE = BLOCK_ROWS + 32,
    MOST_CACHED = 512, /* number of classes whose factors are computed only once */
};

/* Working memory of one thread, with its current sum. */
typedef struct sum_space {
    double *gram; /* [N, N] upper triangle */
    double *rows; /* [STRIDE, N] of BLOCK_ROWS rows: the first `filled`, and the last `paired`, whose linear columns are
                     0 and not stored */
    sp_lanes *hat;       /* [1 + r, most nodes of an element, at least 8, 3] */
    sp_lanes *gradients; /* [1 + r, 4, 3] */
    sp_row_group group;
    sp_row_factor *own; /* [SP_LANES] if there are too many classes to cache */
    int64_t filled, paired, total;
} sum_space;

static void flush(sum_space *space, int64_t r, int64_t N)
{
    sp_gram_add(space->filled, N, space->rows, STRIDE, space->gram, N);
    sp_gram_add(space->paired, N - r, space->rows + r * STRIDE + BLOCK_ROWS - space->paired, STRIDE,
                space->gram + r * N + r, N);
    space->filled = space->paired = 0;
}

/* The input of a part. */
typedef struct part_plan {
    const sp_fe_space *space;
    int64_t count;
    const int64_t *list; /* [count] elements */
    enum sp_constant constant;
    int64_t r;
    const double *W;
    const bool *by_points;        /* [classes] sp_row_by_points */
    const sp_row_factor *factors; /* [classes]; NULL: too many */
} part_plan;

/* At quadrature points the factor is that of the material alone. other: −1 if there is none. */
static bool same_material(const sp_fe_space *space, int64_t class, int64_t other)
{
    return other >= 0 && !space->mesh->factor && !space->mesh->fibre &&
           space->classes[class].region == space->classes[other].region;
}

/* Loads the factors of a group's classes into its lanes, if they are not loaded already. */
static int load_factors(sp_context *context, const part_plan *plan, sum_space *space,
                        const sp_row_factor *factors[SP_LANES])
{
    sp_row_group *g = &space->group;

    g->separable = g->triangular = g->box = true;
    g->rows = 0;

    for (int l = 0; l < g->count; l++) {
        int64_t class = plan->space->element_class[g->element[l]];
        factors[l] = plan->factors ? &plan->factors[class] : &space->own[l];

        /* A factor has up to 784 numbers: a lane keeps its own as long as the class stays the same. */
        if (class != g->class[l] && !(g->points > 0 && same_material(plan->space, class, g->class[l]))) {
            if (!plan->factors) {
                SP_PASS(sp_row_factor_new(context, plan->space, class, plan->constant, &space->own[l]));
            }
            sp_row_group_factor(g, factors[l], l);
        }

        g->class[l] = class;

        /* One kernel computes all lanes, and may only use structure that their factors share. */
        g->separable &= factors[l]->separable;
        g->triangular &= factors[l]->triangular;
        g->box &= factors[l]->box;
        g->rows |= factors[l]->rows;
    }
    return SP_OK;
}

/* Makes a group of the next elements of list[*at … last): as many as there are lanes, if they are of one kind. */
static void next_group(const part_plan *plan, int64_t *at, int64_t last, sp_row_group *g)
{
    const sp_fe_space *space = plan->space;
    for (g->count = 0; g->count < SP_LANES && *at < last; g->count++, ++*at) {
        const int64_t class = space->element_class[plan->list[*at]];
        const int type = space->classes[class].type;
        const int points = plan->by_points[class] ? space->classes[class].points : 0;

        if (type != g->type || points != g->points) {
            if (g->count > 0)
                break;
            memset(g->class, -1, sizeof g->class); /* the factors in the lanes are of the other kind */
        }

        g->type = type;
        g->points = points;
        g->element[g->count] = plan->list[*at];
    }
}

/* Adds the rows of a group, for one point or for alternating sums. */
static void add_rows(sum_space *space, int64_t r, const sp_lanes *hat)
{
    const sp_row_group *g = &space->group;
    const int paired = g->box ? SP_ROWS_PAIRED : 0;

    /* Paired rows fill the block from its end and full rows from its beginning, so that a block has room for both in
     * any proportion. */
    space->paired += paired * SP_LANES;
    const sp_row_block block = {.stride = STRIDE,
                                .rows = space->rows + space->filled,
                                .paired = space->rows + r * STRIDE + BLOCK_ROWS - space->paired};
    sp_row_group_rows(g, r, hat, &block);
    space->filled += (__builtin_popcount(g->rows) - paired) * SP_LANES;

    /* The next group may have as many rows as a hexahedron has products. */
    if (space->filled + space->paired + SP_HEX_PAIRS * SP_LANES > BLOCK_ROWS)
        flush(space, r, sp_polynomial_order(r));
}

/* Adds the elements list[first … last) to the sum. */
static int sum_elements(sp_context *context, const part_plan *plan, int64_t first, int64_t last, sum_space *space)
{
    sp_row_group *g = &space->group;
    while (first < last) {
        const sp_row_factor *factors[SP_LANES];

        next_group(plan, &first, last, g);
        SP_PASS(load_factors(context, plan, space, factors));

        sp_row_group_load(plan->space, g, factors, plan->r, plan->W, space->hat);
        for (int point = 0; point < g->points; point++) {
            sp_row_group_point(g, point, plan->r, space->hat, space->gradients);
            add_rows(space, plan->r, space->gradients);
        }

        /* Alternating sums have the quadrature in their Gram matrix: the rows are those of all points. */
        if (g->points == 0)
            add_rows(space, plan->r, space->hat);

        for (int l = 0; l < g->count; l++)
            space->total += (g->points > 0 ? g->points : 1) * __builtin_popcount(factors[l]->rows);
    }
    flush(space, plan->r, sp_polynomial_order(plan->r));
    return SP_OK;
}

/* Computes the factors of all classes if these are few. */
static int make_factors(sp_context *context, part_plan *plan, sp_pool *pool)
{
    int64_t classes = plan->space->class_count;
    if (classes > MOST_CACHED)
        return SP_OK;

    sp_row_factor *factors = sp_pool_new(pool, classes, sizeof *factors);
    SP_PASS(sp_allocated(context, factors));

    /* A factor is computed for the classes that occur in this part, once for each. */
    for (int64_t k = 0, class = -1; k < plan->count; k++) {
        if (plan->space->element_class[plan->list[k]] == class)
            continue;
        class = plan->space->element_class[plan->list[k]];
        if (factors[class].rows)
            continue;
        SP_PASS(sp_row_factor_new(context, plan->space, class, plan->constant, &factors[class]));
    }

    plan->factors = factors;
    return SP_OK;
}

/* The upper triangle of a sum, by columns. */
static void pack(int64_t N, const double *gram, double *sum)
{
    for (int64_t j = 0; j < N; j++) {
        memcpy(sum, gram + j * N, (size_t)(j + 1) * sizeof *sum);
        sum += j + 1;
    }
}

/* gram += a packed sum. */
static void add_sum(int64_t N, const double *sum, double *gram)
{
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i <= j; i++)
            gram[j * N + i] += *sum++;
}

static void mirror(int64_t N, double *gram)
{
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < j; i++)
            gram[i * N + j] = gram[j * N + i];
}

/* The Gram matrices of sums over a list of elements, some at a time, as the memory allows. */
typedef struct sums_at_work {
    sp_pool pool;
    int at_once, threads;
    double *grams;    /* [at_once, N, N] */
    double *triangle; /* [N(N+1)/2] */
    sum_space *space;
} sums_at_work;

static int prepare_sums(sp_context *context, int64_t r, int sums, int64_t memory, sums_at_work *work)
{
    const int64_t N = sp_polynomial_order(r), gram_bytes = N * N * (int64_t)sizeof(double),
                  row_bytes = STRIDE * N * (int64_t)sizeof(double),
                  fitting = memory > row_bytes ? (memory - row_bytes) / gram_bytes : 0;

    /* The least work is one sum and the rows of one thread. */
    if (fitting < 1)
        return sp_fail(context, SP_SYSTEM, "%lld coordinates need %.1f MiB, more than the memory allowed", (long long)r,
                       (double)(gram_bytes + row_bytes) / 1048576);

    work->at_once = fitting < sums ? (int)fitting : sums;
    work->threads = context->threads < work->at_once ? context->threads : work->at_once;

    /* Every thread has a block of rows of its own: as many threads as the memory has room for. */
    while (work->threads > 1 && work->at_once * gram_bytes + work->threads * row_bytes > memory)
        work->threads--;

    work->grams = sp_pool_raw(&work->pool, work->at_once, (size_t)gram_bytes);
    work->triangle = sp_pool_raw(&work->pool, N * (N + 1) / 2, sizeof *work->triangle);
    work->space = sp_pool_new(&work->pool, work->threads, sizeof *work->space);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int t = 0; t < work->threads; t++) {
        sum_space *space = &work->space[t];
        space->rows = sp_pool_raw(&work->pool, STRIDE * N, sizeof(double));
        space->hat = sp_pool_raw(&work->pool, (1 + r) * 3 * SP_ELEMENT_NODES, sizeof(sp_lanes));
        space->gradients = sp_pool_raw(&work->pool, (1 + r) * 12, sizeof(sp_lanes));
        space->own = sp_pool_raw(&work->pool, SP_LANES, sizeof(sp_row_factor));
        memset(space->group.class, -1, sizeof space->group.class);
    }
    return sp_allocated(context, !work->pool.failed);
}

/* The sums [first, first + count) into work->grams; `rows` receives those of their elements. */
static int make_sums(sp_context *context, const part_plan *plan, int first, int count, sums_at_work *work,
                     int64_t *rows)
{
    const int64_t N = sp_polynomial_order(plan->r);
    int worst = SP_OK;
    int64_t totals = 0;

    memset(work->grams, 0, (size_t)(count * N * N) * sizeof *work->grams);
#pragma omp parallel for schedule(dynamic) num_threads(work->threads) reduction(+ : totals)
    for (int k = 0; k < count; k++) {
        sum_space *mine = &work->space[omp_get_thread_num()];
        sp_context own = *context; /* threads must not write to a common message */

        mine->gram = work->grams + k * N * N;
        mine->total = 0;

        /* The elements of a sum follow from its number alone, so that the bytes depend neither on threads nor on
         * memory. */
        const int status = sum_elements(&own, plan, plan->count * (first + k) / SP_POLYNOMIAL_SUMS,
                                        plan->count * (first + k + 1) / SP_POLYNOMIAL_SUMS, mine);

        totals += mine->total;
        if (status != SP_OK)
#pragma omp atomic write
            worst = status;
    }

    *rows = totals;
    return worst == SP_OK ? SP_OK : sp_fail(context, worst, "an element's energy cannot be factored");
}

/* The sums [first, end) over a list of elements: their total in part->gram, or each in part->sums, whichever is not
 * NULL. */
static int sum_part(sp_context *context, part_plan *plan, int first, int end, int64_t memory, sp_polynomial_part *part,
                    sp_polynomial_report *report)
{
    const int64_t N = sp_polynomial_order(plan->r), triangle = N * (N + 1) / 2;
    sums_at_work work = {0};
    int status;

    SP_TRY(prepare_sums(context, plan->r, end - first, memory, &work));
    SP_TRY(make_factors(context, plan, &work.pool));

    for (int s = first, count; s < end; s += count) {
        int64_t rows;
        count = end - s < work.at_once ? end - s : work.at_once;
        SP_TRY(make_sums(context, plan, s, count, &work, &rows));

        report->rows += rows;
        report->flops += (double)rows * (double)N * (double)(N + 1);

        /* The sums are added in their order, however many were at work together. */
        for (int k = 0; k < count; k++) {
            double *sum = part->sums ? part->sums + (s + k - first) * triangle : work.triangle;
            pack(N, work.grams + k * N * N, sum);
            if (part->gram)
                add_sum(N, sum, part->gram);
        }
    }

    if (part->gram)
        mirror(N, part->gram);
done:
    sp_pool_free(&work.pool);
    return status;
}

static void name_part(const sp_mesh *mesh, int64_t region, enum sp_constant constant, sp_polynomial_part *part)
{
    strcpy(part->group, region < 0 ? "all" : mesh->materials[region].name);
    part->constant = constant;
    part->value = 1;

    double lambda, mu;
    if (constant != SP_CONSTANT_ALL) {
        sp_lame(mesh->materials[region < 0 ? 0 : region].young, mesh->materials[region < 0 ? 0 : region].poisson,
                &lambda, &mu);
        part->value = constant == SP_CONSTANT_LAMBDA ? lambda : mu;
    }
}

/* Adds the mass of every region. */
static int add_groups(sp_context *context, const sp_fe_space *space, const double *U, const double *W,
                      sp_polynomials *polynomials)
{
    const sp_mesh *mesh = space->mesh;
    int64_t r = polynomials->r;

    polynomials->groups = sp_pool_new(&polynomials->pool, mesh->material_count, sizeof *polynomials->groups);
    SP_PASS(sp_allocated(context, polynomials->groups));

    for (int64_t g = 0; g < mesh->material_count; g++) {
        sp_polynomial_group *group = &polynomials->groups[g];
        strcpy(group->name, mesh->materials[g].name);
        group->density = mesh->materials[g].density;
        group->mass = sp_pool_raw(&polynomials->pool, r * r, sizeof(double));
        group->gravity = sp_pool_raw(&polynomials->pool, 3 * r, sizeof(double));
        SP_PASS(sp_allocated(context, !polynomials->pool.failed));
        SP_PASS(
            sp_reduced_mass_of_region(context, space, polynomials->lumped, g, r, U, W, group->mass, group->gravity));
    }

    polynomials->group_count = mesh->material_count;
    return SP_OK;
}

/* Adds the mass of the body, and if wanted those of its regions. */
static int add_mass(sp_context *context, const sp_fe_space *space, bool by_region, const double *U, const double *W,
                    sp_polynomials *polynomials)
{
    const int64_t r = polynomials->r;

    polynomials->mass = sp_pool_new(&polynomials->pool, r * r, sizeof(double));
    polynomials->gravity = sp_pool_new(&polynomials->pool, 3 * r, sizeof(double));
    SP_PASS(sp_allocated(context, !polynomials->pool.failed));

    SP_PASS(sp_reduced_mass_of_region(context, space, polynomials->lumped, -1, r, U, W, polynomials->mass,
                                      polynomials->gravity));
    return by_region ? add_groups(context, space, U, W, polynomials) : SP_OK;
}

static int check_basis(sp_context *context, const sp_fe_space *space, int64_t r, bool by_constant)
{
    const sp_mesh *mesh = space->mesh;

    if (r < 1 || r > 2000)
        return sp_fail(context, SP_USAGE, "%lld reduced coordinates: polynomials take 1 to 2000", (long long)r);

    int status = sp_fe_space_quadratic(context, space);
    if (status != SP_OK || !by_constant)
        return status;

    for (int64_t m = 0; m < mesh->material_count; m++)
        if (mesh->materials[m].law != SP_LAW_STVK || mesh->materials[m].fibre != SP_FIBRE_NONE)
            return sp_fail(context, SP_INPUT, "region %s is not isotropic: it has no λ and μ to keep apart",
                           mesh->materials[m].name);
    return SP_OK;
}

/* U by rows. The first shard, whose mass takes all vertices, and a whole have all rows at once, the others those of the
 * elements of their sums. */
typedef struct basis_rows {
    const double *U;
    double *W;    /* [rows, r, row major], as sp_reduced_rows has them */
    bool *filled; /* [vertices]; NULL: all are */
} basis_rows;

static int new_rows(sp_context *context, const sp_mesh *mesh, int64_t r, const double *U, bool all, sp_pool *pool,
                    basis_rows *to)
{
    const int64_t rows = 3 * mesh->vertex_count;
    to->U = U;
    to->W = all ? sp_reduced_rows(pool, rows, r, U) : sp_pool_raw(pool, rows * r + SP_LANES, sizeof *to->W);
    to->filled = all ? NULL : sp_pool_new(pool, mesh->vertex_count, sizeof *to->filled);
    return sp_allocated(context, !pool->failed);
}

/* Fills the rows of the vertices of the elements in the sums [first, end). */
static void fill_rows(const part_plan *plan, int first, int end, basis_rows *to)
{
    const sp_mesh *mesh = plan->space->mesh;
    const int64_t rows = 3 * mesh->vertex_count, r = plan->r, last = plan->count * end / SP_POLYNOMIAL_SUMS;
    if (!to->filled)
        return;

    for (int64_t k = plan->count * first / SP_POLYNOMIAL_SUMS; k < last; k++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, plan->list[k], &nodes);
        for (int a = 0; a < nodes; a++) {
            if (to->filled[node[a]])
                continue;
            to->filled[node[a]] = true;
            for (int64_t row = 3 * node[a]; row < 3 * node[a] + 3; row++)
                for (int64_t j = 0; j < r; j++)
                    to->W[row * r + j] = to->U[j * rows + row];
        }
    }
}

/* Allocates and computes the Gram matrix or the sums of a part. */
static int add_gram(sp_context *context, part_plan *plan, const sp_polynomial_parameters *parameters, sp_pool *pool,
                    sp_polynomial_part *part, sp_polynomial_report *report)
{
    const int64_t N = sp_polynomial_order(plan->r), memory = parameters->memory;
    const bool shard = parameters->end_sum > 0;

    if (shard)
        part->sums = sp_pool_raw(pool, parameters->end_sum - parameters->first_sum,
                                 (size_t)(N * (N + 1) / 2) * sizeof *part->sums);
    else
        part->gram = sp_pool_new(pool, N * N, sizeof *part->gram);

    SP_PASS(sp_allocated(context, !pool->failed));

    return sum_part(context, plan, parameters->first_sum, shard ? parameters->end_sum : SP_POLYNOMIAL_SUMS,
                    memory > 0 ? memory : INT64_C(400) << 20, part, report);
}

/* The elements of one region, or all for −1; returns their number. */
static int64_t list_elements(const sp_mesh *mesh, int64_t region, int64_t *list)
{
    int64_t count = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        if (region < 0 || mesh->region[e] == region)
            list[count++] = e;
    return count;
}

int sp_polynomials_new(sp_context *context, const sp_fe_space *space, int64_t r, const double *U,
                       const sp_polynomial_parameters *parameters, sp_polynomials *polynomials,
                       sp_polynomial_report *report)
{
    const sp_mesh *mesh = space->mesh;
    int64_t groups = parameters->by_group || (parameters->by_constant && mesh->material_count > 1)
                         ? mesh->material_count
                         : 1,
            constants = parameters->by_constant ? 2 : 1;
    sp_pool scratch = {0};
    int status = SP_OK;

    *report = (sp_polynomial_report){0};
    *polynomials = (sp_polynomials){.r = r,
                                    .part_count = groups * constants,
                                    .density = 1,
                                    .lumped = parameters->lumped,
                                    .first_sum = parameters->first_sum,
                                    .end_sum = parameters->end_sum};

    SP_TRY(check_basis(context, space, r, parameters->by_constant));
    polynomials->parts = sp_pool_new(&polynomials->pool, polynomials->part_count, sizeof *polynomials->parts);
    basis_rows basis;
    SP_TRY(new_rows(context, mesh, r, U, parameters->first_sum == 0, &scratch, &basis));

    int64_t *list = sp_pool_raw(&scratch, sp_mesh_element_count(mesh), sizeof *list);
    bool *by_points = sp_pool_raw(&scratch, space->class_count, sizeof *by_points);

    SP_TRY(sp_allocated(context, !polynomials->pool.failed && !scratch.failed));

    for (int64_t c = 0; c < space->class_count; c++)
        by_points[c] = sp_row_by_points(space, c);

    if (parameters->first_sum == 0)
        SP_TRY(add_mass(context, space, groups > 1, U, basis.W, polynomials));
    for (int64_t g = 0, at = 0; g < groups; g++) {
        /* A single region has all elements, under its own name if parts by region are wanted. */
        const int64_t region = groups > 1 ? g : mesh->material_count == 1 && parameters->by_group ? 0 : -1;
        const int64_t count = list_elements(mesh, groups > 1 ? g : -1, list);
        for (int64_t c = 0; c < constants; c++, at++) {
            sp_polynomial_part *part = &polynomials->parts[at];

            name_part(mesh, region,
                      constants == 1 ? SP_CONSTANT_ALL
                      : c == 0       ? SP_CONSTANT_LAMBDA
                                     : SP_CONSTANT_MU,
                      part);
            part_plan plan = {.space = space,
                              .count = count,
                              .list = list,
                              .constant = part->constant,
                              .r = r,
                              .W = basis.W,
                              .by_points = by_points};

            fill_rows(&plan, parameters->first_sum, parameters->end_sum, &basis);
            SP_TRY(add_gram(context, &plan, parameters, &polynomials->pool, part, report));
            SP_TRY(sp_progress(context, (double)(at + 1) / (double)polynomials->part_count));
        }
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_polynomials_free(polynomials);
    return status;
}

int sp_polynomials_join(sp_context *context, int64_t count, const sp_polynomials *shards, sp_polynomials *whole)
{
    const int64_t r = shards->r, N = sp_polynomial_order(r);

    *whole = *shards;
    whole->pool = (sp_pool){0};
    whole->first_sum = whole->end_sum = 0;

    whole->parts = sp_pool_copy(&whole->pool, shards->parts, shards->part_count, sizeof *whole->parts);
    whole->groups = sp_pool_copy(&whole->pool, shards->groups, shards->group_count, sizeof *whole->groups);
    whole->mass = sp_pool_copy(&whole->pool, shards->mass, r * r, sizeof *whole->mass);
    whole->gravity = sp_pool_copy(&whole->pool, shards->gravity, 3 * r, sizeof *whole->gravity);

    for (int64_t g = 0; g < whole->group_count && !whole->pool.failed; g++) {
        sp_polynomial_group *group = &whole->groups[g];
        group->mass = sp_pool_copy(&whole->pool, group->mass, r * r, sizeof *group->mass);
        group->gravity = sp_pool_copy(&whole->pool, group->gravity, 3 * r, sizeof *group->gravity);
    }

    /* The shards add their sums in the order of a computation in one piece, which gives the same bytes. */
    for (int64_t p = 0; p < whole->part_count && !whole->pool.failed; p++) {
        sp_polynomial_part *part = &whole->parts[p];
        part->sums = NULL;
        part->gram = sp_pool_new(&whole->pool, N * N, sizeof *part->gram);
        if (!part->gram)
            break;

        for (int64_t s = 0; s < count; s++)
            for (int k = 0; k < shards[s].end_sum - shards[s].first_sum; k++)
                add_sum(N, shards[s].parts[p].sums + k * (N * (N + 1) / 2), part->gram);
        mirror(N, part->gram);
    }

    if (!whole->pool.failed)
        return SP_OK;
    sp_polynomials_free(whole);
    return sp_fail_memory(context);
}

const double *sp_polynomials_gram(const sp_polynomials *polynomials, sp_pool *pool)
{
    int64_t N = sp_polynomial_order(polynomials->r);

    if (polynomials->part_count == 1 && polynomials->parts[0].value == 1)
        return polynomials->parts[0].gram;

    /* A = Σ value A_part */
    double *sum = sp_pool_new(pool, N * N, sizeof *sum);
    if (!sum)
        return NULL;

    for (int64_t p = 0; p < polynomials->part_count; p++)
        for (int64_t i = 0; i < N * N; i++)
            sum[i] += polynomials->parts[p].value * polynomials->parts[p].gram[i];

    return sum;
}

void sp_polynomials_free(sp_polynomials *polynomials)
{
    sp_pool_free(&polynomials->pool);
    *polynomials = (sp_polynomials){0};
}
