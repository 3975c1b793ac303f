/* polycoef as a separate process relative to dsyrk of exactly its rows, with the same number of threads. Run it in an
 * empty folder, since it writes meshes and bases there. argv[1]: the polycoef program. With a second argument the
 * bodies are of curved elements of second order, no two of which are equal. */
#include "../tests/unit/typed_mesh.h"
#include "bench.h"
#include "formats/columns.h"
#include "formats/mesh.h"
#include "reduced/polynomial.h"

#include <cblas.h>
#include <fcntl.h>
#include <omp.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct job {
    char *program, threads[12];
    int thread_count, runs;
    int64_t rows, N;
    double *S, *gram[2];
    long peak;
} job;

static void process(void *data)
{
    job *j = data;
    char output[40];
    snprintf(output, sizeof output, "bench-poly-%d.npz",
             j->runs++); /* a new file, since a system may write the replacement of an old one immediately */
    char mesh[] = "bench-mesh.npz", basis[] = "bench-basis.npz", to[] = "-o", quiet[] = "-q", threads[] = "-t";
    char *arguments[] = {j->program, mesh, basis, to, output, quiet, threads, j->threads, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, j->program, NULL, NULL, arguments, environ) !=
        0) { /* fork would copy the page tables of this process first */
        fprintf(stderr, "polycoef cannot be started\n");
        exit(1);
    }
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    if (status != 0) {
        fprintf(stderr, "polycoef failed\n");
        exit(1);
    }
    j->peak = usage.ru_maxrss > j->peak ? usage.ru_maxrss : j->peak;
}

/* The same number of rows in the same blocks, and nothing else. */
static void syrk(void *data)
{
    job *j = data;
    enum { BLOCK = 2048 };
    int64_t blocks = (j->rows + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) num_threads(j->thread_count)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t height = b + 1 < blocks ? BLOCK : j->rows - b * BLOCK;
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)j->N, (int)height, 1, j->S, BLOCK, 1,
                    j->gram[omp_get_thread_num()], (int)j->N);
    }
}

/* Without this the threads of the products would spin while the process runs. */
static void without_threads(void *data)
{
    (void)data;
    omp_pause_resource_all(omp_pause_soft);
}

static void with_threads(void *data)
{
    const job *j = data;
#pragma omp parallel num_threads(j->thread_count)
    omp_get_thread_num();
}

static int write_file(sp_context *context, const char *path, const sp_mesh *mesh, const sp_columns *columns)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), status;
    sp_writer *writer;
    if (descriptor < 0 || sp_writer_open(context, descriptor, &writer) != SP_OK)
        return 1;
    json_t *meta = json_pack("{s:s,s:s,s:s,s:s,s:{},s:[],s:{}}", "kind", mesh ? "mesh" : "basis", "format_version",
                             "1.0", "tool", "bench", "version", "0", "parameters", "inputs", "history");
    if (!mesh)
        json_object_set_new(meta, "mass", json_string("consistent"));
    json_t *result = json_pack("{s:[]}", "warnings");
    status = mesh ? sp_mesh_write(context, writer, meta, mesh) : sp_columns_write(context, writer, meta, columns);
    if (status == SP_OK)
        status = sp_file_write_result(writer, result);
    if (sp_writer_close(writer) != SP_OK || status != SP_OK)
        return 1;
    json_decref(meta);
    json_decref(result);
    return close(descriptor);
}

typedef struct body {
    int type;
    int64_t r, count; /* of coordinates and elements */
    int rows;         /* of an element */
    const char *paper, *peer;
} body;

/* Of curved elements: a bar of cells that are one hexahedron, two wedges or six tetrahedra. */
static void make_mesh(const body *of, sp_mesh *mesh)
{
    if (of->type == SP_HEX8) {
        bench_bar(of->count, 8, mesh);
        return;
    }
    const int cells = (int)(of->count / typed_pieces(of->type));
    make_typed(of->type, cells / 100, 10, 10, 0.1, 0.05, false, mesh);
}

static int measure(sp_context *context, char *program, const body *of)
{
    /* The inputs of the program */
    sp_mesh mesh;
    make_mesh(of, &mesh);
    sp_columns columns = {.rows = 3 * mesh.vertex_count, .count = of->r};
    columns.U = malloc((size_t)(columns.rows * columns.count) * 8);
    bench_random(columns.rows * columns.count, 1, columns.U);
    if (write_file(context, "bench-mesh.npz", &mesh, NULL) || write_file(context, "bench-basis.npz", NULL, &columns)) {
        fprintf(stderr, "cannot write here: %s\n", context->message);
        return 1;
    }

    for (int threads = 1; threads <= 2; threads++) {
        job j = {
            .program = program, .thread_count = threads, .rows = of->rows * of->count, .N = sp_polynomial_order(of->r)};
        snprintf(j.threads, sizeof j.threads, "%d", threads);
        j.S = malloc((size_t)(2048 * j.N) * 8);
        bench_random(2048 * j.N, 2, j.S);
        j.gram[0] = calloc((size_t)(j.N * j.N), 8);
        j.gram[1] = calloc((size_t)(j.N * j.N), 8);

        double a, b;
        const int rounds = of->type != SP_HEX8 ? 5 : of->r < 20 ? 25 : 9;
        bench_pair_after(without_threads, process, with_threads, syrk, &j, rounds, &a, &b);
        printf("%-7s %4lld %8lld %8d %12.3f %10.3f %7.2f %9.0f %12s %16s\n", sp_element_types[of->type].name,
               (long long)of->r, (long long)of->count, threads, a, b, a / b, (double)j.peak / 1024, of->paper,
               of->peer);
        fflush(stdout);

        for (char output[40]; j.runs-- > 0;) {
            snprintf(output, sizeof output, "bench-poly-%d.npz", j.runs);
            unlink(output);
        }
        free(j.S), free(j.gram[0]), free(j.gram[1]);
    }

    free(columns.U);
    sp_mesh_free(&mesh);
    return 0;
}

int main(int argc, char **argv)
{
    static const body voxels[] = {{SP_HEX8, 12, 2005, 28, "60 s", "-"},    {SP_HEX8, 15, 5854, 28, "186 s", "-"},
                                  {SP_HEX8, 20, 11304, 28, "-", "-"},      {SP_HEX8, 30, 14444, 28, "97.4 min", "-"},
                                  {SP_HEX8, 12, 14000, 28, "-", "4.2 s"},  {SP_HEX8, 15, 14000, 28, "-", "7.4 s"},
                                  {SP_HEX8, 20, 14000, 28, "-", "14.5 s"}, {SP_HEX8, 30, 14000, 28, "-", "52 s"}};
    /* six rows for each integration point: 27, 8 and 4 of them */
    static const body curved[] = {{SP_HEX20, 12, 5000, 162, "-", "-"}, {SP_HEX20, 30, 5000, 162, "-", "-"},
                                  {SP_HEX20R, 12, 5000, 48, "-", "-"}, {SP_HEX20R, 30, 5000, 48, "-", "-"},
                                  {SP_TET10, 12, 20400, 24, "-", "-"}, {SP_TET10, 30, 20400, 24, "-", "-"}};
    bench_begin();
    sp_context context = sp_context_default();
    if (argc != 2 && argc != 3)
        return 2;
    printf("%-7s %4s %8s %8s %12s %10s %7s %9s %12s %16s\n", "type", "r", "elements", "threads", "process [s]",
           "dsyrk [s]", "ratio", "MiB", "paper 2005", "peer, 2 threads");
    const body *first = argc == 3 ? curved : voxels;
    const size_t count = argc == 3 ? sizeof curved / sizeof *curved : sizeof voxels / sizeof *voxels;
    for (size_t k = 0; k < count; k++)
        if (measure(&context, argv[1], &first[k]))
            return 1;
    return 0;
}
