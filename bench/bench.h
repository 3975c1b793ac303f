/* Timing for the benchmarks: pairs of measurements are interleaved, so that a drift of the machine's speed affects both
 * alike. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "assembly/elastic.h"
#include "base/memory.h"
#include "base/random.h"
#include "formats/import/surface.h"
#include "formats/mesh.h"
#include "tools/process/blas.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Memory and kernels as in the tools. */
static inline void bench_begin(void)
{
    sp_memory_prepare();
    process_blas_prepare(true);
}

static inline double bench_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Processor seconds of all threads, which are more meaningful than wall-clock time on a machine with other work. */
static inline double bench_processor(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Pre-faults memory: writes to this number of gigabytes and frees them before a measurement. A hypervisor allocates
 * memory at the first touch and reclaims it when it is idle (2 to 4 s/GB where this was written; a physical machine
 * clears 10 GB/s). */
static inline void bench_warm(double gigabytes)
{
    const size_t bytes = (size_t)(gigabytes * 1e9);
    volatile char *memory = aligned_alloc(2 << 20, bytes / (2 << 20) * (2 << 20) + (2 << 20));
    if (memory)
        madvise((void *)memory, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; memory && i < bytes; i += 4096)
        memory[i] = 1;
    free((void *)memory);
}

/* Median seconds of a and b, which run alternately `rounds` times after one warm-up each. before_a and before_b, if
 * given, run before them and are not timed. */
static inline void bench_pair_after(void (*before_a)(void *), void (*a)(void *), void (*before_b)(void *),
                                    void (*b)(void *), void *data, int rounds, double *seconds_a, double *seconds_b)
{
    double time_a[99], time_b[99];
    rounds = rounds > 99 ? 99 : rounds;
    a(data);
    b(data);
    for (int i = 0; i < rounds; i++) {
        if (before_a)
            before_a(data);
        double start = bench_now();
        a(data);
        time_a[i] = bench_now() - start;
        if (before_b)
            before_b(data);
        start = bench_now();
        b(data);
        time_b[i] = bench_now() - start;
    }
    qsort(time_a, (size_t)rounds, sizeof *time_a, bench_compare);
    qsort(time_b, (size_t)rounds, sizeof *time_b, bench_compare);
    *seconds_a = time_a[rounds / 2];
    *seconds_b = time_b[rounds / 2];
}

static inline void bench_pair(void (*a)(void *), void (*b)(void *), void *data, int rounds, double *seconds_a,
                              double *seconds_b)
{
    bench_pair_after(NULL, a, NULL, b, data, rounds, seconds_a, seconds_b);
}

/* A bar of exactly `count` unit-like voxels: full cross-sections of w × w, the rest in one more layer. */
static inline void bench_bar(int64_t count, int w, sp_mesh *mesh)
{
    int64_t layers = (count + w * w - 1) / (w * w);
    *mesh = (sp_mesh){.quadrature = 3,
                      .material_count = 1,
                      .surface.width = 8,
                      .block[SP_HEX8].count = count,
                      .vertex_count = (layers + 1) * (w + 1) * (w + 1)};
    mesh->vertices = sp_pool_new(&mesh->pool, 3 * mesh->vertex_count, sizeof(double));
    mesh->block[SP_HEX8].node = sp_pool_new(&mesh->pool, 8 * count, sizeof(int64_t));
    mesh->region = sp_pool_new(&mesh->pool, count, sizeof(int64_t));
    mesh->fixed_count = (w + 1) * (w + 1);
    mesh->fixed = sp_pool_new(&mesh->pool, mesh->fixed_count, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, mesh->fixed_count, 1);
    mesh->materials = sp_pool_new(&mesh->pool, 1, sizeof *mesh->materials);
    mesh->materials[0] =
        (sp_material){.name = "body", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.45};
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        mesh->vertices[3 * v] = 0.1 * (double)(v / ((w + 1) * (w + 1)));
        mesh->vertices[3 * v + 1] = 0.1 * (double)(v % (w + 1));
        mesh->vertices[3 * v + 2] = 0.1 * (double)(v / (w + 1) % (w + 1));
    }
    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        mesh->fixed[i] = i;
        mesh->fixed_axes[i] = 7;
    }
    for (int64_t e = 0; e < count; e++) {
        int64_t x = e / (w * w), y = e % w, z = e / w % w, plane = (w + 1) * (w + 1),
                base = x * plane + z * (w + 1) + y;
        int64_t corner[8] = {base,         base + plane,         base + plane + 1,     base + 1,
                             base + w + 1, base + w + 1 + plane, base + w + 2 + plane, base + w + 2};
        memcpy(mesh->block[SP_HEX8].node + 8 * e, corner, sizeof corner);
    }
}

/* nx × ny × nz cells of edge `cell`, each of five tetrahedra or of six; the end z = 0 is fixed. noise: vertices are
 * displaced by up to this number of edges, so that no two elements are equal. */
static inline void bench_block(int nx, int ny, int nz, double cell, double noise, bool five, sp_mesh *mesh)
{
    static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    static const int even[5][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
    const int per = five ? 5 : 6;
    *mesh = (sp_mesh){.quadrature = 2,
                      .material_count = 1,
                      .surface.width = 4,
                      .block[SP_TET4].count = (int64_t)per * nx * ny * nz,
                      .vertex_count = (int64_t)(nx + 1) * (ny + 1) * (nz + 1)};
    mesh->vertices = sp_pool_new(&mesh->pool, 3 * mesh->vertex_count, sizeof(double));
    mesh->block[SP_TET4].node = sp_pool_new(&mesh->pool, 4 * mesh->block[SP_TET4].count, sizeof(int64_t));
    mesh->region = sp_pool_new(&mesh->pool, mesh->block[SP_TET4].count, sizeof(int64_t));
    mesh->fixed = sp_pool_new(&mesh->pool, mesh->vertex_count, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, mesh->vertex_count, 1);
    mesh->materials = sp_pool_new(&mesh->pool, 1, sizeof *mesh->materials);
    mesh->materials[0] =
        (sp_material){.name = "body", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.45};
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const int64_t at[3] = {v % (nx + 1), v / (nx + 1) % (ny + 1), v / ((nx + 1) * (ny + 1))};
        for (int c = 0; c < 3; c++)
            mesh->vertices[3 * v + c] =
                cell * ((double)at[c] + noise * (2 * sp_random_uniform(5, 99, (uint64_t)(3 * v + c)) - 1));
        if (at[2] == 0) {
            mesh->fixed_axes[mesh->fixed_count] = 7;
            mesh->fixed[mesh->fixed_count++] = v;
        }
    }
    int64_t at = 0;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                for (int t = 0; t < per; t++, at++)
                    for (int a = 0; a < 4; a++) {
                        int corner = five ? even[t][a] : kuhn[t][a], x = corner & 1, y = corner >> 1 & 1,
                            z = corner >> 2;
                        if (five && (i + j + k) % 2) /* mirrored in x */
                            x = 1 - x;
                        mesh->block[SP_TET4].node[4 * at + a] =
                            ((int64_t)(k + z) * (ny + 1) + j + y) * (nx + 1) + i + x;
                    }
    sp_mesh_inverted(mesh, true);
}

static inline void bench_random(int64_t count, uint64_t stream, double *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = 2 * sp_random_uniform(5, stream, (uint64_t)i) - 1;
}

/* U [3·vertices, r]: smooth fields on a bar, trigonometric along it, in mixed directions. */
static inline void bench_fields(const sp_mesh *mesh, int r, double *U)
{
    const int64_t rows = 3 * mesh->vertex_count;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < r; i++)
            for (int c = 0; c < 3; c++)
                U[i * rows + 3 * v + c] =
                    1e-2 * (sin(0.3 * (1 + i / 3) * mesh->vertices[3 * v]) * (i % 3 == c) +
                            0.05 * (mesh->vertices[3 * v + (c + 1) % 3] - 0.15) *
                                cos(0.37 * (double)i * mesh->vertices[3 * v]) * mesh->vertices[3 * v] +
                            1e-3 * (2 * sp_random_uniform(9, (uint64_t)i, (uint64_t)(3 * v + c)) - 1) *
                                (mesh->vertices[3 * v] > 0));
}

/* Reads a mesh file and creates its space; ends the program if this fails. */
static inline void bench_read(sp_context *context, const char *path, sp_mesh *mesh, sp_fe_space *body)
{
    sp_file file;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0 || sp_file_read(context, descriptor, NULL, false, false, &file) != SP_OK ||
        sp_mesh_read(context, &file, mesh) != SP_OK || sp_fe_space_new(context, mesh, body) != SP_OK) {
        fprintf(stderr, "%s: %s\n", path, descriptor < 0 ? "cannot open" : context->message);
        exit(1);
    }
}

/* Reads a triangle model; ends the program if this fails. */
static inline void bench_read_surface(sp_context *context, const char *path, sp_surface *surface)
{
    sp_list bytes = {0};
    const int descriptor = open(path, O_RDONLY);
    for (ssize_t got = 1; descriptor >= 0 && got > 0;) {
        enum { STEP = 1 << 20 };
        char *to = sp_list_add(&bytes, STEP, 1);
        got = to ? read(descriptor, to, STEP) : 0;
        bytes.count -= STEP - (got > 0 ? got : 0);
    }
    if (descriptor < 0 || sp_surface_parse(context, path, bytes.data, bytes.count, SP_GROUPS_NONE, surface) != SP_OK) {
        fprintf(stderr, "%s: %s\n", path, descriptor < 0 ? "cannot open" : context->message);
        exit(1);
    }
    close(descriptor);
    sp_list_free(&bytes);
}

/* Writes a mesh file; returns false if this fails. */
static inline bool bench_write(sp_context *context, const char *path, sp_mesh *mesh)
{
    sp_writer *writer;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    json_t *meta = json_pack("{s:s,s:s,s:s,s:s,s:{},s:[],s:{}}", "kind", "mesh", "format_version", "1.0", "tool",
                             "bench", "version", "0", "parameters", "inputs", "history");
    json_t *result = json_pack("{s:[]}", "warnings");
    const bool written = descriptor >= 0 && sp_writer_open(context, descriptor, &writer) == SP_OK &&
                         sp_mesh_write(context, writer, meta, mesh) == SP_OK &&
                         sp_file_write_result(writer, result) == SP_OK && sp_writer_close(writer) == SP_OK;
    json_decref(meta);
    json_decref(result);
    return close(descriptor) == 0 && written;
}

#endif
