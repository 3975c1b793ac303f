/* The Gram matrix of a basis: that of the rows of its elements. */
#include "reduced/polynomial.h"

#include "linear/gram.h"
#include "reduced/mass.h"
#include "reduced/rows.h"

#include <omp.h>
#include <string.h>

enum {
    BLOCK_ROWS = 672, /* rows per product: enough for its full speed, and the rows stay in the second-level cache */
    STRIDE = BLOCK_ROWS + 32,
    MOST_SUMS = 8,
    MOST_CACHED = 512, /* classes whose factors are made once */
};

/* Working memory of one thread, and the sum that it works on. */
typedef struct sum_space {
    double *gram;  /* [N, N] upper triangle */
    double *rows;  /* [STRIDE, N]: from the first on `filled`, before the last `paired` of BLOCK_ROWS, whose linear
                      columns are 0 and not there */
    sp_lanes *hat; /* [1 + r, 8, 3] */
    sp_row_group group;
    sp_row_factor *own; /* [SP_LANES] where the classes are too many to be kept */
    int64_t filled, paired, total;
} sum_space;

static void flush(sum_space *space, int64_t r, int64_t N)
{
    sp_gram_add(space->filled, N, space->rows, STRIDE, space->gram, N);
    sp_gram_add(space->paired, N - r, space->rows + r * STRIDE + BLOCK_ROWS - space->paired, STRIDE,
                space->gram + r * N + r, N);
    space->filled = space->paired = 0;
}

/* What a part is made of. */
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

/* The factors of a group's classes into its lanes, where they are not there already. */
static int load_factors(sp_context *context, const part_plan *plan, sum_space *space,
                        const sp_row_factor *factors[SP_LANES])
{
    sp_row_group *g = &space->group;
    g->separable = g->triangular = g->box = true;
    g->rows = 0;
    for (int l = 0; l < g->count; l++) {
        int64_t class = plan->space->element_class[g->element[l]];
        factors[l] = plan->factors ? &plan->factors[class] : &space->own[l];
        if (class != g->class[l]) {
            if (!plan->factors) {
                int status = sp_row_factor_new(context, plan->space, class, plan->constant, &space->own[l]);
                if (status != SP_OK)
                    return status;
            }
            g->class[l] = class;
            g->weighted[l] = -1;
        }
        sp_row_group_factor(plan->space, g, factors[l], l);
        g->separable &= factors[l]->separable;
        g->triangular &= factors[l]->triangular;
        g->box &= factors[l]->box;
        g->rows |= factors[l]->rows;
    }
    return SP_OK;
}

/* The next elements or points of list[*at … last), up to as many as there are lanes and as long as they are of one
 * kind. */
static void take_group(const part_plan *plan, int64_t *at, int *point, int64_t last, sp_row_group *g)
{
    const sp_fe_space *space = plan->space;
    for (g->count = 0; g->count < SP_LANES && *at < last; g->count++) {
        const int64_t element = plan->list[*at];
        const sp_element_class *class = &space->classes[space->element_class[element]];
        const bool by_points = plan->by_points[space->element_class[element]];
        if (g->count > 0 && (class->corners != g->corners || by_points != g->by_points))
            break;
        if (class->corners != g->corners || by_points != g->by_points) /* factors in the lanes are of the other kind */
            memset(g->class, -1, sizeof g->class);
        g->corners = class->corners;
        g->by_points = by_points;
        g->element[g->count] = element;
        g->point[g->count] = (*point)++;
        if (!by_points || *point == class->points) {
            *point = 0;
            ++*at;
        }
    }
}

/* Adds the elements list[first … last) to the sum. */
static int sum_elements(sp_context *context, const part_plan *plan, int64_t first, int64_t last, sum_space *space)
{
    int64_t N = sp_polynomial_order(plan->r);
    sp_row_group *g = &space->group;
    int point = 0;
    while (first < last) {
        const sp_row_factor *factors[SP_LANES];
        take_group(plan, &first, &point, last, g);
        int status = load_factors(context, plan, space, factors);
        if (status != SP_OK)
            return status;
        sp_row_group_load(plan->space, g, factors, plan->r, plan->W, space->hat);
        const int paired = g->box ? SP_ROWS_PAIRED : 0;
        space->paired += paired * SP_LANES;
        sp_row_group_rows(g, plan->r, space->hat,
                          &(sp_row_block){STRIDE, space->rows + space->filled,
                                          space->rows + plan->r * STRIDE + BLOCK_ROWS - space->paired});
        space->filled += (__builtin_popcount(g->rows) - paired) * SP_LANES;
        for (int l = 0; l < g->count; l++)
            space->total += __builtin_popcount(factors[l]->rows);
        if (space->filled + space->paired + SP_HEX_PAIRS * SP_LANES > BLOCK_ROWS)
            flush(space, plan->r, N);
    }
    flush(space, plan->r, N);
    return SP_OK;
}

/* The factors of all classes, where they are few. */
static int make_factors(sp_context *context, part_plan *plan, sp_pool *pool)
{
    int64_t classes = plan->space->class_count;
    if (classes > MOST_CACHED)
        return SP_OK;
    sp_row_factor *factors = sp_pool_new(pool, classes, sizeof *factors);
    if (!factors)
        return sp_fail_memory(context);
    for (int64_t k = 0, class = -1; k < plan->count; k++) {
        if (plan->space->element_class[plan->list[k]] == class)
            continue;
        class = plan->space->element_class[plan->list[k]];
        if (factors[class].rows)
            continue;
        int status = sp_row_factor_new(context, plan->space, class, plan->constant, &factors[class]);
        if (status != SP_OK)
            return status;
    }
    plan->factors = factors;
    return SP_OK;
}

/* One Gram matrix over a list of elements. */
static int sum_part(sp_context *context, part_plan *plan, int64_t memory, double *gram, sp_polynomial_report *report)
{
    int64_t r = plan->r, N = sp_polynomial_order(r), count = plan->count;
    sp_pool scratch = {0};
    int status = SP_OK;
    /* One Gram matrix per sum, rows per thread. The number of sums must not depend on the threads. */
    int64_t gram_bytes = N * N * (int64_t)sizeof(double), row_bytes = STRIDE * N * (int64_t)sizeof(double);
    int64_t sums = (memory - row_bytes) / gram_bytes, useful = (count * 6 + BLOCK_ROWS - 1) / BLOCK_ROWS;
    if (sums < 1)
        return sp_fail(context, SP_SYSTEM, "%lld coordinates need %.1f MiB, more than the memory allowed", (long long)r,
                       (double)(gram_bytes + row_bytes) / 1048576);
    sums = sums > MOST_SUMS ? MOST_SUMS : sums;
    sums = sums > useful ? useful : sums;
    int threads = context->threads < sums ? context->threads : (int)sums;
    while (threads > 1 && sums * gram_bytes + threads * row_bytes > memory)
        threads--;
    double *grams = sp_pool_new(&scratch, sums, (size_t)gram_bytes);
    sum_space *space = sp_pool_new(&scratch, threads, sizeof *space);
    SP_TRY(make_factors(context, plan, &scratch));
    for (int t = 0; space && t < threads; t++) {
        space[t].rows = sp_pool_raw(&scratch, STRIDE * N, sizeof(double));
        space[t].hat = sp_pool_raw(&scratch, (1 + r) * 24, sizeof(sp_lanes));
        space[t].own = sp_pool_raw(&scratch, SP_LANES, sizeof(sp_row_factor));
        memset(space[t].group.class, -1, sizeof space[t].group.class);
    }
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    int worst = SP_OK;
    int64_t totals = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : totals)
    for (int64_t s = 0; s < sums; s++) {
        sum_space *mine = &space[omp_get_thread_num()];
        sp_context own = *context; /* threads do not write into one message */
        mine->gram = grams + s * N * N;
        mine->total = 0;
        int status_here = sum_elements(&own, plan, count * s / sums, count * (s + 1) / sums, mine);
        totals += mine->total;
        if (status_here != SP_OK)
#pragma omp atomic write
            worst = status_here;
    }
    if (worst != SP_OK) {
        status = sp_fail(context, worst, "an element's energy cannot be factored");
        goto done;
    }
    report->rows += totals;
    report->flops += (double)totals * (double)N * (double)(N + 1);
    for (int64_t s = 0; s < sums; s++) {
        const double *part = grams + s * N * N;
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = 0; i <= j; i++)
                gram[j * N + i] += part[j * N + i];
    }
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < j; i++)
            gram[i * N + j] = gram[j * N + i];
done:
    sp_pool_free(&scratch);
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

/* The mass of every region. */
static int add_groups(sp_context *context, const sp_fe_space *space, const double *U, const double *W,
                      sp_polynomials *polynomials)
{
    const sp_mesh *mesh = space->mesh;
    int64_t r = polynomials->r;
    int status = SP_OK;
    polynomials->groups = sp_pool_new(&polynomials->pool, mesh->material_count, sizeof *polynomials->groups);
    if (!polynomials->groups)
        return sp_fail_memory(context);
    for (int64_t g = 0; g < mesh->material_count; g++) {
        sp_polynomial_group *group = &polynomials->groups[g];
        strcpy(group->name, mesh->materials[g].name);
        group->density = mesh->materials[g].density;
        group->mass = sp_pool_raw(&polynomials->pool, r * r, sizeof(double));
        group->gravity = sp_pool_raw(&polynomials->pool, 3 * r, sizeof(double));
        if (polynomials->pool.failed)
            return sp_fail_memory(context);
        SP_TRY(sp_reduced_mass_of_region(context, space, polynomials->lumped, g, r, U, W, group->mass, group->gravity));
    }
    polynomials->group_count = mesh->material_count;
done:
    return status;
}

int sp_polynomials_new(sp_context *context, const sp_fe_space *space, int64_t r, const double *U,
                       const sp_polynomial_parameters *parameters, sp_polynomials *polynomials,
                       sp_polynomial_report *report)
{
    const sp_mesh *mesh = space->mesh;
    int64_t elements = sp_mesh_element_count(mesh), rows = 3 * mesh->vertex_count, N = sp_polynomial_order(r);
    int64_t groups = parameters->by_group || (parameters->by_constant && mesh->material_count > 1)
                         ? mesh->material_count
                         : 1,
            constants = parameters->by_constant ? 2 : 1;
    sp_pool scratch = {0};
    int status = SP_OK;
    *report = (sp_polynomial_report){0};
    *polynomials =
        (sp_polynomials){.r = r, .part_count = groups * constants, .density = 1, .lumped = parameters->lumped};
    if (r < 1 || r > 2000)
        return sp_fail(context, SP_USAGE, "%lld reduced coordinates: polynomials take 1 to 2000", (long long)r);
    SP_TRY(sp_fe_space_quadratic(context, space));
    for (int64_t m = 0; parameters->by_constant && m < mesh->material_count; m++)
        if (mesh->materials[m].law != SP_LAW_STVK || mesh->materials[m].fibre != SP_FIBRE_NONE)
            return sp_fail(context, SP_INPUT, "region %s is not isotropic: it has no λ and μ to keep apart",
                           mesh->materials[m].name);
    polynomials->parts = sp_pool_new(&polynomials->pool, polynomials->part_count, sizeof *polynomials->parts);
    polynomials->mass = sp_pool_new(&polynomials->pool, r * r, sizeof(double));
    polynomials->gravity = sp_pool_new(&polynomials->pool, 3 * r, sizeof(double));
    const double *W = sp_reduced_rows(&scratch, rows, r, U);
    int64_t *list = sp_pool_raw(&scratch, elements, sizeof *list);
    bool *by_points = sp_pool_raw(&scratch, space->class_count, sizeof *by_points);
    if (polynomials->pool.failed || scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t c = 0; c < space->class_count; c++)
        by_points[c] = sp_row_by_points(space, c);
    SP_TRY(sp_reduced_mass_of_region(context, space, parameters->lumped, -1, r, U, W, polynomials->mass,
                                     polynomials->gravity));
    if (groups > 1)
        SP_TRY(add_groups(context, space, U, W, polynomials));
    for (int64_t g = 0, at = 0; g < groups; g++) {
        int64_t region = groups > 1 ? g : mesh->material_count == 1 && parameters->by_group ? 0 : -1, count = 0;
        for (int64_t e = 0; e < elements; e++)
            if (groups == 1 || mesh->region[e] == g)
                list[count++] = e;
        for (int64_t c = 0; c < constants; c++, at++) {
            sp_polynomial_part *part = &polynomials->parts[at];
            name_part(mesh, region,
                      constants == 1 ? SP_CONSTANT_ALL
                      : c == 0       ? SP_CONSTANT_LAMBDA
                                     : SP_CONSTANT_MU,
                      part);
            part->gram = sp_pool_new(&polynomials->pool, N * N, sizeof(double));
            if (!part->gram) {
                status = sp_fail_memory(context);
                goto done;
            }
            part_plan plan = {.space = space,
                              .count = count,
                              .list = list,
                              .constant = part->constant,
                              .r = r,
                              .W = W,
                              .by_points = by_points};
            SP_TRY(sum_part(context, &plan, parameters->memory > 0 ? parameters->memory : INT64_C(400) << 20,
                            part->gram, report));
            SP_TRY(sp_progress(context, (double)(at + 1) / (double)polynomials->part_count));
        }
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_polynomials_free(polynomials);
    return status;
}

const double *sp_polynomials_gram(const sp_polynomials *polynomials, sp_pool *pool)
{
    int64_t N = sp_polynomial_order(polynomials->r);
    if (polynomials->part_count == 1 && polynomials->parts[0].value == 1)
        return polynomials->parts[0].gram;
    double *sum = sp_pool_new(pool, N * N, sizeof *sum);
    for (int64_t p = 0; sum && p < polynomials->part_count; p++)
        for (int64_t i = 0; i < N * N; i++)
            sum[i] += polynomials->parts[p].value * polynomials->parts[p].gram[i];
    return sum;
}

void sp_polynomials_free(sp_polynomials *polynomials)
{
    sp_pool_free(&polynomials->pool);
    *polynomials = (sp_polynomials){0};
}
