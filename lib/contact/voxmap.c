/* The octree of voxmaps, a baseline for distance fields (contact/voxmap.h). */
#include "contact/voxmap.h"

#include <math.h>
#include <stdlib.h>

/* A cube of 4, 8, … voxels per side. Each of its eight octants is either uniform, with its two bits in `leaf`, or a
 * cube itself, marked in `inner`. Those cubes are contiguous from `first` on, among the nodes or, with 2 voxels per
 * side, the bricks. Octant h is at (h & 1, h >> 1 & 1, h >> 2). */
typedef struct node {
    uint32_t first;
    uint16_t leaf;
    uint8_t inner;
} node;

struct sp_voxmap {
    sp_pool pool;
    double origin[3], spacing, scale; /* m, m, 1/m */
    double size[3];                   /* voxels */
    int levels; /* 2^levels voxels along a side of the root, ≥ 1; with one level the root is brick 0, else node 0 */
    int64_t node_count, brick_count;
    node *nodes;
    uint16_t *bricks; /* two bits for each of the eight voxels */
    int64_t voxels[4], grid_bytes;
};

enum { MIXED = 4 }; /* in addition to the types of voxels */

/* Types of the cubes with 2^level voxels per side that intersect the grid; all others are free. */
typedef struct layer {
    int64_t count[3];
    uint8_t *kind;
} layer;

enum { LAYERS = 33 };

static inline uint8_t kind_at(const layer *l, int64_t x, int64_t y, int64_t z)
{
    return x < l->count[0] && y < l->count[1] && z < l->count[2] ? l->kind[(z * l->count[1] + y) * l->count[0] + x]
                                                                 : SP_VOXEL_FREE;
}

/* Determines types from the corners alone: free, interior, surface. */
static int find_surface(sp_context *context, const sp_field *field, layer *l)
{
    for (int64_t z = 0; z < l->count[2]; z++) {
        for (int64_t y = 0; y < l->count[1]; y++) {
            const float *a = field->distance + sp_field_index(field, 0, y, z), *b = a + field->cells[0] + 1;
            const float *c = field->distance + sp_field_index(field, 0, y, z + 1), *d = c + field->cells[0] + 1;
            uint8_t *kind = l->kind + (z * l->count[1] + y) * l->count[0];
            for (int64_t x = 0; x < l->count[0]; x++) {
                /* The signs at the eight corners */
                const int lower = (a[x] <= 0) + (b[x] <= 0) + (c[x] <= 0) + (d[x] <= 0);
                const int inside = lower + (a[x + 1] <= 0) + (b[x + 1] <= 0) + (c[x + 1] <= 0) + (d[x + 1] <= 0);
                kind[x] = inside == 0 ? SP_VOXEL_FREE : inside == 8 ? SP_VOXEL_INTERIOR : SP_VOXEL_SURFACE;
            }
        }
        SP_PASS(sp_progress(context, 0.5 * (double)(z + 1) / (double)l->count[2]));
    }
    return SP_OK;
}

/* Marks free voxels with a neighbour on the surface as proximity. any [count[0] + 2] is scratch. */
static int find_proximity(sp_context *context, layer *l, uint8_t *any)
{
    const int64_t nx = l->count[0], ny = l->count[1], nz = l->count[2];
    any[0] = any[nx + 1] = 0;
    for (int64_t z = 0; z < nz; z++) {
        for (int64_t y = 0; y < ny; y++) {
            uint8_t *kind = l->kind + (z * ny + y) * nx;
            for (int64_t x = 0; x < nx; x++)
                any[x + 1] = 0;

            /* Whether any of the nine voxels with this x, in the rows around, is on the surface */
            for (int64_t k = z > 0 ? z - 1 : 0; k <= z + 1 && k < nz; k++)
                for (int64_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < ny; j++) {
                    const uint8_t *row = l->kind + (k * ny + j) * nx;
                    for (int64_t x = 0; x < nx; x++)
                        any[x + 1] |= row[x] == SP_VOXEL_SURFACE;
                }

            for (int64_t x = 0; x < nx; x++)
                kind[x] = kind[x] == SP_VOXEL_FREE && (any[x] | any[x + 1] | any[x + 2]) ? SP_VOXEL_PROXIMITY : kind[x];
        }
        SP_PASS(sp_progress(context, 0.5 + 0.4 * (double)(z + 1) / (double)nz));
    }
    return SP_OK;
}

/* The type that eight cubes have in common, or MIXED. */
static uint8_t join(const layer *below, int64_t x, int64_t y, int64_t z)
{
    const uint8_t first = kind_at(below, 2 * x, 2 * y, 2 * z);
    for (int h = 1; h < 8; h++)
        if (kind_at(below, 2 * x + (h & 1), 2 * y + (h >> 1 & 1), 2 * z + (h >> 2)) != first)
            return MIXED;
    return first;
}

static int64_t join_layer(const layer *below, layer *l)
{
    int64_t mixed = 0;
    for (int64_t z = 0; z < l->count[2]; z++)
        for (int64_t y = 0; y < l->count[1]; y++)
            for (int64_t x = 0; x < l->count[0]; x++) {
                const uint8_t kind = join(below, x, y, z);
                l->kind[(z * l->count[1] + y) * l->count[0] + x] = kind;
                mixed += kind == MIXED;
            }
    return mixed;
}

/* Positions of the next node and brick. */
typedef struct filling {
    sp_voxmap *voxmap;
    const layer *layers;
    int64_t nodes, bricks;
} filling;

/* Writes the cube with 2^level voxels per side, (x, y, z) of its layer, to node or brick number `at`. */
static void fill(filling *f, int level, int64_t at, int64_t x, int64_t y, int64_t z)
{
    node n = {0};
    for (int h = 0; h < 8; h++) {
        const uint8_t kind = kind_at(&f->layers[level - 1], 2 * x + (h & 1), 2 * y + (h >> 1 & 1), 2 * z + (h >> 2));
        n.inner |= (uint8_t)((kind == MIXED) << h);
        n.leaf |= (uint16_t)((kind & 3) << 2 * h);
    }

    if (level == 1) {
        f->voxmap->bricks[at] = n.leaf;
        return;
    }

    /* Children are adjacent. Those of the lowest level are bricks, in an array of their own. */
    int64_t *next = level == 2 ? &f->bricks : &f->nodes, child = *next;
    n.first = (uint32_t)child;
    *next += __builtin_popcount(n.inner);
    f->voxmap->nodes[at] = n;
    for (int h = 0; h < 8; h++)
        if (n.inner >> h & 1)
            fill(f, level - 1, child++, 2 * x + (h & 1), 2 * y + (h >> 1 & 1), 2 * z + (h >> 2));
}

/* Builds the octree over layer 0; the other layers are computed here. */
static int make_tree(sp_context *context, sp_pool *scratch, layer *layers, sp_voxmap *v)
{
    int64_t mixed = 0;
    for (int level = 1; level <= v->levels; level++) {
        layer *l = &layers[level];
        for (int k = 0; k < 3; k++)
            l->count[k] = (layers[level - 1].count[k] + 1) / 2;
        l->kind = sp_pool_raw(scratch, l->count[0] * l->count[1] * l->count[2], 1);
        SP_PASS(sp_allocated(context, !scratch->failed));

        mixed = join_layer(&layers[level - 1], l);
        if (level == 1)
            v->brick_count = mixed;
        else
            v->node_count += mixed;
    }
    /* The root exists even if it is uniform. */
    if (v->levels == 1)
        v->brick_count = 1;
    else if (mixed == 0)
        v->node_count++;

    v->nodes = sp_pool_raw(&v->pool, v->node_count, sizeof *v->nodes);
    v->bricks = sp_pool_raw(&v->pool, v->brick_count, sizeof *v->bricks);
    SP_PASS(sp_allocated(context, !v->pool.failed));

    fill(&(filling){v, layers, v->levels > 1, v->levels == 1}, v->levels, 0, 0, 0, 0);
    return SP_OK;
}

int sp_voxmap_new(sp_context *context, const sp_field *field, sp_voxmap **voxmap)
{
    int status;
    sp_pool scratch = {0};
    layer layers[LAYERS] = {{.count = {field->cells[0], field->cells[1], field->cells[2]}}};
    const int64_t count = field->cells[0] * field->cells[1] * field->cells[2];
    *voxmap = NULL;
    sp_voxmap *v = calloc(1, sizeof *v);

    layers[0].kind = sp_pool_raw(&scratch, count, 1);
    uint8_t *any = sp_pool_raw(&scratch, field->cells[0] + 2, 1);
    SP_TRY(sp_allocated(context, v && !scratch.failed));

    v->spacing = field->spacing;
    v->scale = 1 / field->spacing;
    v->levels = 1;
    v->grid_bytes = sp_field_vertices(field) * (int64_t)sizeof *field->distance;

    for (int k = 0; k < 3; k++) {
        v->origin[k] = field->origin[k];
        v->size[k] = (double)field->cells[k];

        /* The root, with 2^levels voxels per side, covers the field. */
        while ((int64_t)1 << v->levels < field->cells[k])
            v->levels++;
    }

    SP_TRY(find_surface(context, field, &layers[0]));
    SP_TRY(find_proximity(context, &layers[0], any));

    for (int64_t i = 0; i < count; i++)
        v->voxels[layers[0].kind[i]]++;

    SP_TRY(make_tree(context, &scratch, layers, v));
    SP_TRY(sp_progress(context, 1));
    *voxmap = v;
    v = NULL;
done:
    sp_pool_free(&scratch);
    sp_voxmap_free(v);
    return status;
}

void sp_voxmap_free(sp_voxmap *voxmap)
{
    if (!voxmap)
        return;
    sp_pool_free(&voxmap->pool);
    free(voxmap);
}

void sp_voxmap_box(const sp_voxmap *voxmap, sp_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = voxmap->origin[k];
        box->high[k] = voxmap->origin[k] + voxmap->size[k] * voxmap->spacing;
    }
}

double sp_voxmap_spacing(const sp_voxmap *voxmap)
{
    return voxmap->spacing;
}

enum sp_voxel sp_voxmap_at(const sp_voxmap *voxmap, const double x[3], double centre[3])
{
    double cell[3];
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        cell[k] = floor((x[k] - voxmap->origin[k]) * voxmap->scale);
        inside &= cell[k] >= 0 && cell[k] < voxmap->size[k];
        if (centre)
            centre[k] = voxmap->origin[k] + (cell[k] + 0.5) * voxmap->spacing;
    }

    if (!inside)
        return SP_VOXEL_FREE;

    const unsigned i = (unsigned)cell[0], j = (unsigned)cell[1], k = (unsigned)cell[2];
    uint32_t at = 0;

    /* A child that is not mixed is known here; the place of the others is the number of mixed ones before it. */
    for (int level = voxmap->levels; level > 1; level--) {
        const node *n = &voxmap->nodes[at];
        const unsigned half = (i >> (level - 1) & 1) | (j >> (level - 1) & 1) << 1 | (k >> (level - 1) & 1) << 2;
        if (!(n->inner >> half & 1))
            return (enum sp_voxel)(n->leaf >> 2 * half & 3);
        at = n->first + (uint32_t)__builtin_popcount(n->inner & ((1u << half) - 1));
    }
    return (enum sp_voxel)(voxmap->bricks[at] >> 2 * ((i & 1) | (j & 1) << 1 | (k & 1) << 2) & 3);
}

double sp_voxmap_depth(const sp_voxmap *voxmap, const double x[3], const double N[3])
{
    double centre[3], height = 0;
    if (sp_voxmap_at(voxmap, x, centre) != SP_VOXEL_SURFACE)
        return 0;
    for (int k = 0; k < 3; k++)
        height += (x[k] - centre[k]) * N[k];
    return height < 0 ? height : 0;
}

double sp_voxmap_pulse(const sp_voxmap *voxmap, const double x[3], const double N[3], const double velocity[3],
                       double speed)
{
    const double approach = -(velocity[0] * N[0] + velocity[1] * N[1] + velocity[2] * N[2]);
    return approach > speed && sp_voxmap_at(voxmap, x, NULL) == SP_VOXEL_PROXIMITY ? approach : 0;
}

void sp_voxmap_size(const sp_voxmap *voxmap, int64_t voxels[4], int64_t *nodes, int64_t *bytes, int64_t *grid_bytes)
{
    for (int k = 0; k < 4; k++)
        voxels[k] = voxmap->voxels[k];
    *nodes = voxmap->node_count + voxmap->brick_count;
    *bytes =
        voxmap->node_count * (int64_t)sizeof *voxmap->nodes + voxmap->brick_count * (int64_t)sizeof *voxmap->bricks;
    *grid_bytes = voxmap->grid_bytes;
}
