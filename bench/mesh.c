/* Writes the 14,000-voxel bar of the benchmarks as a mesh file. argv[1]: the file; argv[2]: voxels; argv[3]: width.
 * Instead of these two numbers, a name of mesh/element_type.h and three numbers of cells: a block of curved elements,
 * of which no two are equal, fixed at one end. */
#include "../tests/unit/typed_mesh.h"
#include "bench.h"

static bool make_curved(sp_context *context, char **argument, sp_mesh *mesh)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (strcmp(sp_element_types[t].name, argument[0]) == 0) {
            int64_t fixed;
            make_typed(t, atoi(argument[1]), atoi(argument[2]), atoi(argument[3]), 0.1, 0.05, false, mesh);
            return sp_mesh_fix_half_space(context, mesh, (double[]){1, 0, 0}, 0.01, 7, &fixed) == SP_OK;
        }
    return false;
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_mesh mesh;
    if (argc == 4)
        bench_bar(atoll(argv[2]), atoi(argv[3]), &mesh);
    else if (argc != 6 || !make_curved(&context, argv + 2, &mesh))
        return 2;
    const bool written = bench_write(&context, argv[1], &mesh);
    sp_mesh_free(&mesh);
    return written ? 0 : 1;
}
