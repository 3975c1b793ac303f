/* Input of the benchmarks of cubature: a body, a basis and training poses. */
#ifndef BENCH_TRAINING_H
#define BENCH_TRAINING_H

#include "bench.h"
#include "formats/columns.h"
#include "formats/cubature.h"

typedef struct bench_training {
    sp_mesh mesh;
    sp_fe_space body;
    sp_columns basis;
    sp_poses poses;
} bench_training;

static inline void bench_open(sp_context *context, const char *path, sp_file *file)
{
    int descriptor = open(path, O_RDONLY);
    if (descriptor >= 0 && sp_file_read(context, descriptor, NULL, false, false, file) == SP_OK)
        return;
    fprintf(stderr, "%s: %s\n", path, descriptor < 0 ? "cannot open" : context->message);
    exit(1);
}

/* Reads argv[1]: mesh, argv[2]: basis, argv[3]: poses, argv[4]: threads; more arguments follow. */
static inline void bench_read_training(int argc, char **argv, sp_context *context, bench_training *t)
{
    if (argc < 6)
        exit(2);
    bench_begin();
    *context = sp_context_default();
    context->threads = atoi(argv[4]);
    sp_file file;
    int64_t first, total;
    char mesh_hash[SP_HASH_LENGTH], basis_hash[SP_HASH_LENGTH];
    bench_read(context, argv[1], &t->mesh, &t->body);
    bench_open(context, argv[2], &file);
    if (sp_columns_read(context, &file, 3 * t->mesh.vertex_count, &t->basis) != SP_OK)
        exit(1);
    sp_file_free(&file);
    bench_open(context, argv[3], &file);
    if (sp_training_read(context, &file, &t->poses, &first, &total, mesh_hash, basis_hash) != SP_OK)
        exit(1);
    sp_file_free(&file);
}

static inline void bench_free_training(bench_training *t)
{
    sp_poses_free(&t->poses);
    sp_columns_free(&t->basis);
    sp_fe_space_free(&t->body);
    sp_mesh_free(&t->mesh);
}

#endif
