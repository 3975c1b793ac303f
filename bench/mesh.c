/* Writes the 14,000-voxel bar of the benchmarks as a mesh file. argv[1]: the file; argv[2]: voxels; argv[3]: width. */
#include "bench.h"
#include "formats/mesh.h"

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_writer *writer;
    if (argc != 4)
        return 2;
    bench_bar(atoll(argv[2]), atoi(argv[3]), &mesh);
    int descriptor = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    json_t *meta = json_pack("{s:s,s:s,s:s,s:s,s:{},s:[],s:{}}", "kind", "mesh", "format_version", "1.0", "tool", "bench", "version", "0", "parameters", "inputs", "history");
    json_t *result = json_pack("{s:[]}", "warnings");
    if (descriptor < 0 || sp_writer_open(&context, descriptor, &writer) != SP_OK || sp_mesh_write(&context, writer, meta, &mesh) != SP_OK ||
        sp_file_write_result(writer, result) != SP_OK || sp_writer_close(writer) != SP_OK)
        return 1;
    json_decref(meta);
    json_decref(result);
    sp_mesh_free(&mesh);
    return close(descriptor);
}
