/* The model of formats/export/source as WebAssembly, for a number of coordinates and tables that are known only at run
 * time. The functions of model.h are exported as they are, for the state at kernel_place(0). kernel.js calls them.
 *
 * model.h is read with the largest number of coordinates, which sizes the arrays of the state. model.c is then compiled
 * with a variable as MODEL_R, so that all its strides and lengths follow from that variable. */
typedef double model_real;
#define MODEL_SINGLE 0
#define MODEL_PROBES 0
#define MODEL_CUBIC 1
#define MODEL_ELEMENTS 0
#define MODEL_R 64 /* SP_C_SOURCE_MOST */
#include "formats/export/source/model.h"

enum { KERNEL_MOST = MODEL_R };

#undef MODEL_R
#define MODEL_R kernel_r
static int kernel_r;

/* The tables of formats/export/source_tables.h */
enum { QUADRATIC, CUBIC, QUARTIC, MASS, GRAVITY, TABLES };
static double *kernel_tables[TABLES];
static unsigned long kernel_lengths[TABLES];
#define model_quadratic kernel_tables[QUADRATIC]
#define model_cubic kernel_tables[CUBIC]
#define model_quartic kernel_tables[QUARTIC]
#define model_mass_matrix kernel_tables[MASS]
#define model_gravity kernel_tables[GRAVITY]
static const double model_damping_of_mesh[2] = {0, 0}; /* kernel.js sets it */

#include "formats/export/source/model.c"

#include "formats/export/source/model_polynomials.c"

#include "formats/export/source/model_equations.c"

#include "formats/export/source/model_motion.c"

static model_state kernel_state;
static double kernel_force[KERNEL_MOST];

int kernel_open(int r);
unsigned long kernel_length(int table);
double *kernel_table(int table);
void *kernel_place(int part);
double kernel_weight_energy(void);

static void kernel_set_lengths(void)
{
    kernel_lengths[QUADRATIC] = (unsigned long)(MODEL_STRIDE + MODEL_LANES);
    for (int j = 0; j < MODEL_R; j++) {
        const unsigned long row = (unsigned long)(MODEL_STRIDE - model_at(j) / MODEL_LANES * MODEL_LANES);
        kernel_lengths[CUBIC] += row;
        kernel_lengths[QUARTIC] += (unsigned long)(j + 1) * row;
    }
    kernel_lengths[MASS] = (unsigned long)MODEL_MATRIX;
    kernel_lengths[GRAVITY] = 3 * (unsigned long)MODEL_R;
}

/* Sets the number of coordinates, once, and allocates the tables. Returns the largest number of coordinates, or 0 where
 * there is no memory; where r is larger than that, nothing has been done. */
int kernel_open(int r)
{
    enum { PAGE = 65536 };
    unsigned long total = 0;
    if (r > KERNEL_MOST)
        return KERNEL_MOST;
    kernel_r = r;
    kernel_set_lengths();
    for (int i = 0; i < TABLES; i++)
        total += kernel_lengths[i] * sizeof(double);
    const unsigned long pages = __builtin_wasm_memory_grow(0, (total + PAGE - 1) / PAGE);
    if (pages == (unsigned long)-1)
        return 0;
    double *at = (double *)(pages * PAGE);
    for (int i = 0; i < TABLES; at += kernel_lengths[i], i++)
        kernel_tables[i] = at;
    return KERNEL_MOST;
}

/* A table, in the order of the enumeration above, and its number of values. */
double *kernel_table(int table)
{
    return kernel_tables[table];
}

unsigned long kernel_length(int table)
{
    return kernel_lengths[table];
}

/* 0: the state, which begins with what is worth keeping; 1: its end, where the workspace begins; 2, 3, 4: its q, v and
 * a; 5: room for the argument `force` of other functions. */
void *kernel_place(int part)
{
    return (void *[]){&kernel_state,  &kernel_state.scratch, kernel_state.q,
                      kernel_state.v, kernel_state.a,        kernel_force}[part];
}

/* The potential energy of the weight, J, relative to q = 0. */
double kernel_weight_energy(void)
{
    model_load(&kernel_state, 0);
    return -model_dot(kernel_state.scratch.external, kernel_state.q);
}
