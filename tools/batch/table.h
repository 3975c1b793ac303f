/* The table of simbatch: a line of names, then a row for each motion (formats/table.md). A cell is a number, a
 * distribution from which each motion has a number of its own, or the name of a file. */
#ifndef TOOLS_BATCH_TABLE_H
#define TOOLS_BATCH_TABLE_H

#include "mesh/mesh.h"
#include "model/loads.h"
#include "tools/common/tool.h"

/* What a column changes. */
enum batch_role {
    BATCH_FACTOR, /* of all loads, or of one */
    BATCH_FORCE,  /* a component of the force of one load */
    BATCH_GRAVITY,
    BATCH_DAMPING_MASS,
    BATCH_DAMPING_STIFFNESS,
    BATCH_YOUNG, /* of all regions, or of one, as the next two */
    BATCH_POISSON,
    BATCH_DENSITY,
    BATCH_COORDINATE, /* of the initial state, as the next */
    BATCH_RATE,
    BATCH_SEED,
    BATCH_LOADS, /* a file of loads */
    BATCH_ROLES
};

typedef struct batch_column {
    enum batch_role role;
    int64_t which;    /* load, region or coordinate from 0; −1: all */
    int axis;         /* of a force or of gravity */
    uint64_t stream;  /* of its random numbers: by its name alone */
    const char *name; /* as in the header, without unit */
} batch_column;

enum batch_distribution { BATCH_NUMBER, BATCH_NORMAL, BATCH_UNIFORM, BATCH_LOGNORMAL };

typedef struct batch_cell {
    enum batch_distribution distribution;
    double a, b;  /* the number; mean and standard deviation; ends; median and deviation of the logarithm */
    int64_t file; /* of BATCH_LOADS: number of the file */
} batch_cell;

typedef struct batch_loads {
    const char *path;
    int64_t count;
    sp_load *loads;
} batch_loads;

typedef struct batch_table {
    const char *path;
    int64_t column_count, row_count, number_count; /* number_count: columns that are no files */
    batch_column *columns;
    batch_cell *cells;  /* [row_count, column_count] */
    const char **names; /* [number_count] */
    int64_t file_count;
    batch_loads *files;
    sp_pool pool;
} batch_table;

/* What columns can refer to. */
typedef struct batch_subject {
    const sp_mesh *mesh;
    int64_t r, load_count;
    const sp_load *loads;
    bool modal; /* no materials */
} batch_subject;

/* Reads a table; ends the program with file, line and column if anything in it cannot be used. */
void batch_table_read(sp_context *context, const char *path, const batch_subject *subject, batch_table *table);
void batch_table_free(batch_table *table);

/* Whether a column changes materials. */
bool batch_table_has_materials(const batch_table *table);

/* Whether a number is drawn from a distribution. */
bool batch_table_is_random(const batch_table *table);

/* Young's modulus, Poisson's ratio or the density. */
double *batch_material_value(sp_material *material, enum batch_role role);

/* The number of a cell for a motion: the same for any order of motions. */
double batch_cell_number(const batch_cell *cell, const batch_column *column, uint64_t seed, int64_t motion);

#endif
