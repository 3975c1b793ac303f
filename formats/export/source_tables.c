#include "formats/export/source_tables.h"

#include "assembly/element.h"
#include "material/law.h"

#include <string.h>

enum { LANES = 4 }; /* model.c rounds rows of pairs and rows of matrices up to a multiple of this */

static int64_t rounded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static void add_table(sp_c_source_tables *tables, const char *name, int64_t count, bool integers)
{
    tables->table[tables->count++] =
        (sp_c_source_table){.name = name,
                            .count = count,
                            .values = integers ? NULL : sp_pool_new(&tables->pool, count, sizeof(double)),
                            .numbers = integers ? sp_pool_new(&tables->pool, count, sizeof(int32_t)) : NULL};
}

static sp_c_source_table *table_of(sp_c_source_tables *tables, const char *name)
{
    sp_c_source_table *table = tables->table;
    while (strcmp(table->name, name))
        table++;
    return table;
}

static double *values_of(sp_c_source_tables *tables, const char *name)
{
    return table_of(tables, name)->values;
}

/* A matrix [r, r] with rows of rounded(r) numbers. */
static void fill_matrix(int64_t r, const double *matrix, double factor, double *to)
{
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            to[i * rounded(r) + j] = factor * matrix[j * r + i];
}

/* The tables of every model. */
static void add_mass(sp_c_source_tables *tables)
{
    add_table(tables, "mass_matrix", tables->r * rounded(tables->r), false);
    add_table(tables, "gravity", 3 * tables->r, false);
}

static void fill_mass(sp_c_source_tables *tables, double density, const double *mass, const double *gravity)
{
    double *to = values_of(tables, "gravity");
    fill_matrix(tables->r, mass, density, values_of(tables, "mass_matrix"));
    for (int64_t i = 0; i < 3 * tables->r; i++)
        to[i] = density * gravity[i];
}

void sp_c_source_tables_free(sp_c_source_tables *tables)
{
    sp_pool_free(&tables->pool);
    *tables = (sp_c_source_tables){0};
}

/* ---- polynomials ---- */

/* The zeros before the pairs k ≤ l with k ≥ j in a row of pairs, which begins at a multiple of LANES. */
static int64_t leading_zeros(int64_t r, int64_t j)
{
    const int64_t pairs = r * (r + 1) / 2;
    return (rounded(pairs) - pairs + sp_cubic_pair(r, j, j)) % LANES;
}

static int64_t row_length(int64_t r, int64_t j)
{
    return leading_zeros(r, j) + r * (r + 1) / 2 - sp_cubic_pair(r, j, j);
}

static void fill_quadratic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r;
    to += leading_zeros(r, 0);
    for (int64_t k = 0; k < r; k++)
        for (int64_t l = k; l < r; l++)
            *to++ = force->linear[k * r + l];
}

/* A monomial of the energy with the coefficient b gives the force of q_i the coefficient n b, where n is the number of
 * its factors q_i. */
static void fill_cubic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r, pairs = r * (r + 1) / 2;
    for (int64_t i = 0; i < r; i++) {
        to += leading_zeros(r, i);
        for (int64_t j = i; j < r; j++)
            for (int64_t k = j; k < r; k++)
                *to++ = force->quadratic[i * pairs + sp_cubic_pair(r, j, k)] / (1 + (j == i) + (k == i));
    }
}

static void fill_quartic(const sp_cubic_force *force, double *to)
{
    const int64_t r = force->r, triples = sp_cubic_triples(r);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i <= j; i++) {
            to += leading_zeros(r, j);
            for (int64_t k = j; k < r; k++)
                for (int64_t l = k; l < r; l++)
                    *to++ =
                        force->cubic[i * triples + sp_cubic_triple(r, j, k, l)] / (1 + (j == i) + (k == i) + (l == i));
        }
}

int sp_c_source_tables_new(sp_context *context, const sp_polynomials *polynomials, sp_c_source_tables *tables)
{
    const int64_t r = polynomials->r;
    int64_t cubic = 0, quartic = 0;
    sp_cubic_force force;
    *tables = (sp_c_source_tables){.r = r, .cubic = true};

    int status = sp_cubic_from_polynomials(context, polynomials, &force);
    if (status != SP_OK)
        return status;

    for (int64_t j = 0; j < r; j++) {
        cubic += row_length(r, j);
        quartic += (j + 1) * row_length(r, j);
    }

    add_table(tables, "quadratic", row_length(r, 0) + LANES, false); /* the last ones are read, with the factor 0 */
    add_table(tables, "cubic", cubic, false);
    add_table(tables, "quartic", quartic, false);
    add_mass(tables);

    if (tables->pool.failed) {
        status = sp_fail_memory(context);
        sp_c_source_tables_free(tables);
    } else {
        fill_quadratic(&force, values_of(tables, "quadratic"));
        fill_cubic(&force, values_of(tables, "cubic"));
        fill_quartic(&force, values_of(tables, "quartic"));
        fill_mass(tables, polynomials->density, polynomials->mass, polynomials->gravity);
    }

    sp_cubic_free(&force);
    return status;
}

/* ---- cubature ----
 *
 * The numbers of laws, fibres and treatments of the strain are those of model_laws.c. */

enum { CONSTANTS = 44, SHAPE = 5, MODES = 9 + SP_CONDENSATION };
enum { STVK_FIBRES = 7, FUNG_FIBRES = 8, MEAN_DILATATION = 9, INCOMPATIBLE_MODES = 10 };
_Static_assert(SP_LAW_LINEAR == 1 && SP_LAW_STABLE_NEO_HOOKEAN == 6 && SP_LAW_COUNT == 7, "numbers of laws");

/* The classes that the elements have, each once. */
typedef struct shape_list {
    const sp_fe_space *body;
    int64_t count, numbers; /* numbers: of all in `geometry` */
    int64_t *class;         /* [count] */
    int64_t *position;      /* [classes] in that list, −1: not in it */
} shape_list;

static int treatment_of(const sp_element_class *class)
{
    return class->type == SP_HEX8B ? MEAN_DILATATION : class->type == SP_HEX8I ? INCOMPATIBLE_MODES : 0;
}

/* How many numbers a shape has in `geometry`. */
static int64_t numbers_of(const sp_fe_space *body, const sp_element_class *class)
{
    return (treatment_of(class) == INCOMPATIBLE_MODES ? MODES : 0) +
           body->references[2 * class->type].count * (1 + 3 * rounded(class->nodes - 1));
}

static int find_shapes(sp_context *context, const sp_cubature *cubature, sp_pool *pool, shape_list *list)
{
    list->class = sp_pool_new(pool, cubature->count, sizeof *list->class);
    list->position = sp_pool_new(pool, list->body->class_count, sizeof *list->position);
    SP_PASS(sp_allocated(context, !pool->failed));

    for (int64_t c = 0; c < list->body->class_count; c++)
        list->position[c] = -1;
    for (int64_t e = 0; e < cubature->count; e++) {
        const int64_t number = list->body->element_class[cubature->element[e]];
        if (list->position[number] >= 0)
            continue;
        list->position[number] = list->count;
        list->class[list->count++] = number;
        list->numbers += numbers_of(list->body, &list->body->classes[number]);
    }
    return SP_OK;
}

/* The constants of a material. Where the energy is quadratic in the strain, fibres included, its stiffness has all. */
static int fill_material(sp_context *context, const sp_material *material, int32_t kind[2], double *constants)
{
    sp_law_lanes lanes;
    sp_material matrix = *material;
    const bool whole = sp_material_quadratic(material);

    if (!whole)
        matrix.fibre = SP_FIBRE_NONE;
    if (sp_material_quadratic(&matrix)) {
        kind[0] = SP_LAW_LINEAR;
        SP_PASS(sp_material_stiffness(context, &matrix, constants + 8));
    } else {
        kind[0] = (int32_t)material->law;
        sp_law_set(&lanes, 0, &matrix);
        for (int k = 0; k < 3; k++)
            constants[k] = lanes.constant[k][0];
    }

    if (whole || material->fibre == SP_FIBRE_NONE)
        return SP_OK;
    kind[1] = material->fibre == SP_FIBRE_STVK ? STVK_FIBRES : FUNG_FIBRES;
    constants[3] = material->fibre_stiffness;
    constants[4] = material->fibre_exponent;
    memcpy(constants + 5, material->fibre_direction, sizeof material->fibre_direction);
    return SP_OK;
}

/* The Gauss points of a class, and its incompatible modes. */
static int fill_geometry(sp_context *context, const sp_fe_space *body, const sp_element_class *class,
                         const double *constants, double *to)
{
    double X[SP_ELEMENT_NODES][3];
    sp_quadrature quadrature;
    const int type = sp_mesh_element_places(body->mesh, class->element, X);
    sp_element_quadrature(&body->references[2 * type], X[0], &quadrature);

    if (treatment_of(class) == INCOMPATIBLE_MODES) {
        sp_condensed_strains modes;
        SP_PASS(sp_element_condensation(context, X[0], &quadrature, constants + 8, &modes));
        memcpy(to, modes.axis, sizeof modes.axis);
        memcpy(to + 9, modes.factor, sizeof modes.factor);
        to += MODES;
    }

    for (int g = 0; g < quadrature.count; g++) {
        *to++ = quadrature.weight[g];
        for (int i = 0; i < 3; i++, to += rounded(class->nodes - 1))
            for (int a = 1; a < class->nodes; a++)
                to[a - 1] = quadrature.gradient[g][a][i];
    }
    return SP_OK;
}

/* Every shape has a material of its own in the tables, unless it is that of an earlier one. */
static int64_t place_of_material(int64_t count, const int32_t *kinds, const double *constants)
{
    for (int64_t m = 0; m < count; m++)
        if (!memcmp(kinds + 2 * m, kinds + 2 * count, 2 * sizeof *kinds) &&
            !memcmp(constants + CONSTANTS * m, constants + CONSTANTS * count, CONSTANTS * sizeof *constants))
            return m;
    return count;
}

static int fill_shapes(sp_context *context, const shape_list *list, sp_c_source_tables *tables)
{
    const sp_mesh *mesh = list->body->mesh;
    int32_t *kinds = table_of(tables, "kinds")->numbers, *shape = table_of(tables, "shapes")->numbers;
    double *constants = values_of(tables, "constants"), *geometry = values_of(tables, "geometry");
    int64_t materials = 0, at = 0;

    for (int64_t s = 0; s < list->count; s++, shape += SHAPE) {
        const sp_element_class *class = &list->body->classes[list->class[s]];
        sp_material scaled;
        SP_PASS(fill_material(context, sp_mesh_material(mesh, class->element, &scaled), kinds + 2 * materials,
                              constants + CONSTANTS * materials));

        const int64_t material = place_of_material(materials, kinds, constants);
        const int32_t of[SHAPE] = {(int32_t)material, treatment_of(class), class->nodes,
                                   list->body->references[2 * class->type].count, (int32_t)at};
        memcpy(shape, of, sizeof of);
        SP_PASS(fill_geometry(context, list->body, class, constants + CONSTANTS * material, geometry + at));
        at += numbers_of(list->body, class);

        tables->parts |= 1 << kinds[2 * material] | 1 << kinds[2 * material + 1] | 1 << shape[1];
        if (material == materials)
            materials++;
        else {
            memset(kinds + 2 * materials, 0, 2 * sizeof *kinds);
            memset(constants + CONSTANTS * materials, 0, CONSTANTS * sizeof *constants);
        }
    }

    tables->parts &= ~1; /* 0: no fibres, or the strain of the displacements */
    table_of(tables, "kinds")->count = 2 * materials;
    table_of(tables, "constants")->count = CONSTANTS * materials;
    return SP_OK;
}

/* Shapes, weights and rows of the elements. */
static void fill_elements(const shape_list *list, const sp_cubature *cubature, const double *U,
                          sp_c_source_tables *tables)
{
    const sp_mesh *mesh = list->body->mesh;
    const int64_t width = rounded(cubature->r), vertex_rows = 3 * mesh->vertex_count;
    int32_t *shape = table_of(tables, "elements")->numbers;
    double *weight = values_of(tables, "weights"), *row = values_of(tables, "rows");

    for (int64_t e = 0; e < cubature->count; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, cubature->element[e], &nodes);
        shape[e] = (int32_t)list->position[list->body->element_class[cubature->element[e]]];
        weight[e] = cubature->weight[e];

        for (int i = 0; i < 3; i++)
            for (int a = 1; a < nodes; a++, row += width)
                for (int64_t j = 0; j < cubature->r; j++) {
                    const double *u = U + j * vertex_rows + i;
                    row[j] = u[3 * node[a]] - u[3 * node[0]];
                }
    }
}

/* What the weighted elements lack of the stiffness at rest. */
static int fill_correction(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature, const double *U,
                           sp_c_source_tables *tables)
{
    const int64_t r = cubature->r;
    sp_cubature weighted = *cubature;
    sp_reduced_force force;
    sp_pool pool = {0};
    double *rest = sp_pool_new(&pool, r, sizeof *rest), *K = sp_pool_new(&pool, r * r, sizeof *K);
    int status = sp_allocated(context, !pool.failed);

    weighted.stiffness = weighted.nested = NULL;
    if (status == SP_OK)
        status = sp_cubature_force_new(context, body, &weighted, r, U, &force);

    if (status == SP_OK) {
        tables->cubic = force.cubic;
        force.evaluate(force.self, rest, false, NULL, K);
        for (int64_t i = 0; i < r * r; i++)
            K[i] = cubature->stiffness ? cubature->stiffness[i] - K[i] : 0;
        fill_matrix(r, K, 1, values_of(tables, "correction"));
        force.destroy(force.self);
    }
    sp_pool_free(&pool);
    return status;
}

static int fill_cubature(sp_context *context, const shape_list *list, const sp_cubature *cubature, const double *U,
                         sp_c_source_tables *tables)
{
    int64_t rows = 0;
    for (int64_t e = 0; e < cubature->count; e++) {
        const int others = list->body->classes[list->body->element_class[cubature->element[e]]].nodes - 1;
        const int64_t padded = 3 * rounded(others);
        rows += 3 * others;
        tables->element_rows = padded > tables->element_rows ? padded : tables->element_rows;
    }

    add_table(tables, "kinds", 2 * list->count, true);
    add_table(tables, "constants", CONSTANTS * list->count, false);
    add_table(tables, "shapes", SHAPE * list->count, true);
    add_table(tables, "geometry", list->numbers, false);
    add_table(tables, "elements", cubature->count, true);
    add_table(tables, "weights", cubature->count, false);
    add_table(tables, "rows", rows * rounded(cubature->r), false);
    add_table(tables, "correction", cubature->r * rounded(cubature->r), false);
    add_mass(tables);
    SP_PASS(sp_allocated(context, !tables->pool.failed));

    SP_PASS(fill_shapes(context, list, tables));
    fill_elements(list, cubature, U, tables);
    fill_mass(tables, 1, cubature->mass, cubature->gravity);
    return fill_correction(context, list->body, cubature, U, tables);
}

int sp_c_source_tables_cubature(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature,
                                const double *U, sp_c_source_tables *tables)
{
    sp_pool scratch = {0};
    shape_list list = {.body = body};
    *tables = (sp_c_source_tables){.r = cubature->r, .element_count = cubature->count};

    if (cubature->modal)
        return sp_fail(context, SP_INPUT,
                       "weights per mode make the stiffness unsymmetric, and exported models solve symmetric "
                       "equations: make a cubature with one weight per element");
    int status = find_shapes(context, cubature, &scratch, &list);
    if (status == SP_OK && list.numbers > INT32_MAX)
        status =
            sp_fail(context, SP_INPUT, "%lld elements are too many for an exported model", (long long)cubature->count);
    if (status == SP_OK)
        status = fill_cubature(context, &list, cubature, U, tables);
    if (status != SP_OK)
        sp_c_source_tables_free(tables);
    sp_pool_free(&scratch);
    return status;
}
