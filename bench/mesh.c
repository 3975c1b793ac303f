/* Writes the 14,000-voxel bar of the benchmarks as a mesh file. argv[1]: the file; argv[2]: voxels; argv[3]: width. */
#include "bench.h"

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_mesh mesh;
    if (argc != 4)
        return 2;
    bench_bar(atoll(argv[2]), atoi(argv[3]), &mesh);
    const bool written = bench_write(&context, argv[1], &mesh);
    sp_mesh_free(&mesh);
    return written ? 0 : 1;
}
