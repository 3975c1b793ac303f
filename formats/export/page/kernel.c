/* The model of formats/export/source as WebAssembly, for a number of coordinates and tables that are known only at run
 * time. The functions of model.h are exported as they are, for the state at kernel_place(0). kernel.js calls them. With
 * KERNEL_CUBATURE the force is that of a cubature, of every law and type of element.
 *
 * model.h is read with the largest numbers of coordinates and of displacements of an element, which size the arrays of
 * the state. model.c is then compiled with variables in their place, so that all strides and lengths follow from
 * these. */
typedef double model_real;
#define MODEL_SINGLE 0
#define MODEL_PROBES 0
#define MODEL_R 64 /* SP_C_SOURCE_MOST */
#ifdef KERNEL_CUBATURE
#define MODEL_ELEMENTS 1
#define MODEL_ELEMENT_ROWS 84 /* 3 · up(SP_ELEMENT_NODES - 1) */
#else
#define MODEL_ELEMENTS 0
#endif
#include "formats/export/source/model.h"

enum { KERNEL_MOST = MODEL_R };

#undef MODEL_R
#define MODEL_R kernel_r
#define MODEL_CUBIC kernel_cubic
static int kernel_r, kernel_cubic = 1;

/* The tables of formats/export/source_tables.h */
static const double model_damping_of_mesh[2] = {0, 0}; /* kernel.js sets it */

#ifdef KERNEL_CUBATURE
enum { KINDS, CONSTANTS, SHAPES, GEOMETRY, ELEMENTS, WEIGHTS, ROWS, CORRECTION, MASS, GRAVITY, TABLES };
#else
enum { QUADRATIC, CUBIC, QUARTIC, MASS, GRAVITY, TABLES };
#endif
static void *kernel_tables[TABLES];
static unsigned long kernel_counts[TABLES];

#define NUMBERS(table) ((const double *)kernel_tables[table])
#define INTEGERS(table) ((const int *)kernel_tables[table])
#define model_mass_matrix NUMBERS(MASS)
#define model_gravity NUMBERS(GRAVITY)

#include "formats/export/source/model.c"

#ifdef KERNEL_CUBATURE
#undef MODEL_ELEMENTS
#define MODEL_ELEMENTS (int)kernel_counts[ELEMENTS]
#define MODEL_PARTS 0x7fe
#define model_kinds INTEGERS(KINDS)
#define model_constants NUMBERS(CONSTANTS)
#define model_shapes INTEGERS(SHAPES)
#define model_geometry NUMBERS(GEOMETRY)
#define model_elements INTEGERS(ELEMENTS)
#define model_weights NUMBERS(WEIGHTS)
#define model_rows NUMBERS(ROWS)
#define model_correction NUMBERS(CORRECTION)

#include "formats/export/source/model_laws.c"

#include "formats/export/source/model_cubature.c"
#else
#define model_quadratic NUMBERS(QUADRATIC)
#define model_cubic NUMBERS(CUBIC)
#define model_quartic NUMBERS(QUARTIC)

#include "formats/export/source/model_polynomials.c"
#endif

#include "formats/export/source/model_equations.c"

#include "formats/export/source/model_motion.c"

static model_state kernel_state;
static double kernel_force[KERNEL_MOST], kernel_matrix[KERNEL_MOST * KERNEL_MOST];

int kernel_open(int r, int cubic);
int kernel_cubature(void);
unsigned long kernel_length(int table, unsigned long offered);
void *kernel_table(int table, unsigned long count);
int kernel_fault(int table);
void *kernel_place(int part);
double kernel_weight_energy(void);

/* Sets the number of coordinates, once, and whether the force of a cubature is a cubic polynomial. Returns the largest
 * number of coordinates; where r is larger than that, nothing has been done. */
int kernel_open(int r, int cubic)
{
    if (r > KERNEL_MOST)
        return KERNEL_MOST;
    kernel_r = r;
    kernel_cubic = !kernel_cubature() || cubic;
    return KERNEL_MOST;
}

#ifdef KERNEL_CUBATURE
int kernel_cubature(void)
{
    return 1;
}

/* How many numbers a shape has in `geometry`. */
static int kernel_numbers(const int *shape)
{
    return (shape[1] == MODEL_INCOMPATIBLE_MODES ? MODEL_MODES : 0) + shape[3] * (1 + 3 * model_stride(shape));
}

/* `offered` numbers, up to a multiple of `size`, and at least that. */
static unsigned long kernel_multiple(unsigned long offered, unsigned long size)
{
    return offered == 0 ? size : (offered + size - 1) / size * size;
}

static unsigned long kernel_geometry_length(void)
{
    unsigned long length = 0;
    for (unsigned long s = 0; s < kernel_counts[SHAPES]; s += MODEL_SHAPE)
        length += (unsigned long)kernel_numbers(model_shapes + s);
    return length;
}

static unsigned long kernel_rows_length(void)
{
    unsigned long length = 0;
    for (int e = 0; e < MODEL_ELEMENTS; e++)
        length +=
            3 * (unsigned long)(model_shapes[MODEL_SHAPE * model_elements[e] + 2] - 1) * (unsigned long)MODEL_WIDTH;
    return length;
}

/* The number of values that a table must have, from those of the tables before it; `offered` values are there. */
unsigned long kernel_length(int table, unsigned long offered)
{
    switch (table) {
    case KINDS:
        return kernel_multiple(offered, 2);
    case CONSTANTS:
        return kernel_counts[KINDS] / 2 * MODEL_CONSTANTS;
    case SHAPES:
        return kernel_multiple(offered, MODEL_SHAPE);
    case GEOMETRY:
        return kernel_geometry_length();
    case ELEMENTS:
        return kernel_multiple(offered, 1);
    case WEIGHTS:
        return kernel_counts[ELEMENTS];
    case ROWS:
        return kernel_rows_length();
    case GRAVITY:
        return 3 * (unsigned long)MODEL_R;
    default:
        return (unsigned long)MODEL_MATRIX;
    }
}

static int kernel_within(int x, int low, int high)
{
    return x >= low && x <= high;
}

/* The first number of a shape that is out of range, −1: none. */
static int kernel_fault_of_shape(const int *shape, unsigned long begin)
{
    const int assumed = shape[1] == MODEL_MEAN_DILATATION || shape[1] == MODEL_INCOMPATIBLE_MODES;
    const int good[MODEL_SHAPE] = {
        kernel_within(shape[0], 0, (int)(kernel_counts[KINDS] / 2) - 1), shape[1] == 0 || assumed,
        assumed ? shape[2] == MODEL_CORNERS : kernel_within(shape[2], 2, 27),
        assumed ? shape[3] == MODEL_POINTS : kernel_within(shape[3], 1, 27), (unsigned long)shape[4] == begin};
    for (int i = 0; i < MODEL_SHAPE; i++)
        if (!good[i])
            return i;
    return -1;
}

static int kernel_fault_of_kinds(void)
{
    for (int k = 0; k < (int)kernel_counts[KINDS]; k++)
        if (k % 2 ? model_kinds[k] != 0 && !kernel_within(model_kinds[k], MODEL_STVK_FIBRES, MODEL_FUNG_FIBRES)
                  : !kernel_within(model_kinds[k], MODEL_QUADRATIC, MODEL_STABLE_NEO_HOOKEAN))
            return k;
    return -1;
}

static int kernel_fault_of_shapes(void)
{
    unsigned long begin = 0;
    for (int s = 0; s < (int)kernel_counts[SHAPES]; s += MODEL_SHAPE) {
        const int fault = kernel_fault_of_shape(model_shapes + s, begin);
        if (fault >= 0)
            return s + fault;
        begin += (unsigned long)kernel_numbers(model_shapes + s);
    }
    return -1;
}

static int kernel_fault_of_elements(void)
{
    for (int e = 0; e < MODEL_ELEMENTS; e++)
        if (!kernel_within(model_elements[e], 0, (int)(kernel_counts[SHAPES] / MODEL_SHAPE) - 1))
            return e;
    return -1;
}

/* The first integer of a filled table that is out of range, −1: none. */
int kernel_fault(int table)
{
    return table == KINDS      ? kernel_fault_of_kinds()
           : table == SHAPES   ? kernel_fault_of_shapes()
           : table == ELEMENTS ? kernel_fault_of_elements()
                               : -1;
}
#else
int kernel_cubature(void)
{
    return 0;
}

/* The number of values that a table must have. */
unsigned long kernel_length(int table, unsigned long offered)
{
    unsigned long cubic = 0, quartic = 0;
    (void)offered;
    for (int j = 0; j < MODEL_R; j++) {
        const unsigned long row = (unsigned long)(MODEL_STRIDE - model_at(j) / MODEL_LANES * MODEL_LANES);
        cubic += row;
        quartic += (unsigned long)(j + 1) * row;
    }
    switch (table) {
    case QUADRATIC:
        return (unsigned long)(MODEL_STRIDE + MODEL_LANES);
    case CUBIC:
        return cubic;
    case QUARTIC:
        return quartic;
    case GRAVITY:
        return 3 * (unsigned long)MODEL_R;
    default:
        return (unsigned long)MODEL_MATRIX;
    }
}

int kernel_fault(int table)
{
    (void)table;
    return -1;
}
#endif

/* Memory for a table of `count` values, in the order of the enumeration above; 0: there is none. */
void *kernel_table(int table, unsigned long count)
{
    enum { PAGE = 65536 };
    static unsigned long next, end;
    const unsigned long bytes = (count * sizeof(double) + 15) / 16 * 16;
    if (next + bytes > end) {
        const unsigned long pages = (bytes + PAGE - 1) / PAGE, first = __builtin_wasm_memory_grow(0, pages);
        if (first == (unsigned long)-1)
            return 0;
        next = first * PAGE == end ? next : first * PAGE;
        end = (first + pages) * PAGE;
    }
    kernel_tables[table] = (void *)next;
    kernel_counts[table] = count;
    next += bytes;
    return kernel_tables[table];
}

/* Addresses: 0: the state; 1: where its workspace begins; 2, 3, 4: its q, v and a; 5 and 6: room for a vector and a
 * matrix as arguments of other functions. */
void *kernel_place(int part)
{
    return (void *[]){&kernel_state,  &kernel_state.scratch, kernel_state.q, kernel_state.v,
                      kernel_state.a, kernel_force,          kernel_matrix}[part];
}

/* The potential energy of the weight, J, relative to q = 0. */
double kernel_weight_energy(void)
{
    model_load(&kernel_state, 0);
    return -model_dot(kernel_state.scratch.external, kernel_state.q);
}
