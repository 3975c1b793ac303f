#include "tools/export/fmu.h"

#include "formats/export/fmu_write.h"
#include "tools/export/compile.h"
#include "tools/export/source.h"

#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define PLATFORM "x86_64-linux"
#elif defined(__aarch64__)
#define PLATFORM "aarch64-linux"
#elif defined(__i386__)
#define PLATFORM "x86-linux"
#else
#define PLATFORM NULL
#endif

/* The standard's name of this processor and system; NULL: it has none. */
static const char *const platform = PLATFORM;

/* The files of the archive, in the order in which they are written */
enum file { DESCRIPTION, PAGE, BUILD, CODE, HEADER, INTERFACE, INTERFACE_HEADER, LIBRARY, FILES };

typedef struct package {
    sp_context *context;
    const char *target;
    sp_pool *pool;
    sp_fmu fmu;
    char *paths[FILES]; /* in the archive */
    tool_bytes files[FILES];
} package;

static const char *name_in(sp_pool *pool, const char *folder, const char *name, const char *ending)
{
    const int64_t length = (int64_t)(strlen(folder) + strlen(name) + strlen(ending)) + 1;
    char *path = tool_allocate(pool, length, 1);
    snprintf(path, (size_t)length, "%s%s%s", folder, name, ending);
    return path;
}

/* The paths in the archive; a file has the name behind its last slash. */
static void name_files(package *p)
{
    const char *name = p->fmu.source->name;
    const char *folder = platform ? name_in(p->pool, "binaries/", platform, "/") : "";

    const struct {
        const char *folder, *name, *ending;
    } parts[FILES] = {[DESCRIPTION] = {"", "modelDescription", ".xml"},
                      [PAGE] = {"documentation/", "index", ".html"},
                      [BUILD] = {"sources/", "buildDescription", ".xml"},
                      [CODE] = {"sources/", name, ".c"},
                      [HEADER] = {"sources/", name, ".h"},
                      [INTERFACE] = {"sources/", name, "_fmi3.c"},
                      [INTERFACE_HEADER] = {"sources/", name, "_fmi3.h"},
                      [LIBRARY] = {folder, name, ".so"}};

    for (int f = 0; f < FILES; f++) {
        p->paths[f] = (char *)name_in(p->pool, parts[f].folder, parts[f].name, parts[f].ending);
        p->files[f].name = p->paths[f] + strlen(parts[f].folder);
    }
}

static void write_model(package *p, enum file f, int (*write)(sp_context *, int, const sp_c_source *))
{
    const int descriptor = tool_memory_open(p->target);
    tool_check(write(p->context, descriptor, p->fmu.source), p->target);
    tool_memory_read(descriptor, p->target, p->pool, &p->files[f]);
    close(descriptor);
}

static void write_text(package *p, enum file f, int (*write)(sp_context *, int, const sp_fmu *))
{
    const int descriptor = tool_memory_open(p->target);
    tool_check(write(p->context, descriptor, &p->fmu), p->target);
    tool_memory_read(descriptor, p->target, p->pool, &p->files[f]);
    close(descriptor);
}

/* The token depends on the whole model: the tables are in the code, the names of the probes in the header. */
static void make_token(package *p)
{
    char hashes[2 * SP_HASH_LENGTH], hash[SP_HASH_LENGTH];
    sp_hash_bytes(p->files[CODE].count, p->files[CODE].bytes, hashes);
    sp_hash_bytes(p->files[HEADER].count, p->files[HEADER].bytes, hashes + SP_HASH_LENGTH);
    sp_hash_bytes(sizeof hashes, hashes, hash);
    sp_fmu_token(hash, p->fmu.token);
}

static void make_texts(package *p)
{
    write_model(p, CODE, sp_c_source_write_code);
    write_model(p, HEADER, sp_c_source_write_header);
    make_token(p);
    write_text(p, INTERFACE, sp_fmu_write_code);
    write_text(p, INTERFACE_HEADER, sp_fmu_write_header);
    write_text(p, BUILD, sp_fmu_write_build);
    write_text(p, DESCRIPTION, sp_fmu_write_description);
    write_text(p, PAGE, sp_fmu_write_page);
}

/* Symbols of the model are hidden: several FMUs can be loaded into one process. */
static void make_library(package *p)
{
    const char *compiler = platform ? tool_find_program("cc", p->pool) : NULL;

    if (!compiler) {
        tool_warn(p->target, "no C compiler (cc) is on PATH: the FMU has sources and no library");
        return;
    }

    const char *const command[] = {compiler,
                                   "-O3",
                                   "-shared",
                                   "-fPIC",
                                   "-fvisibility=hidden",
                                   "-fno-math-errno",
                                   "-pipe",
                                   "-s",
                                   "-Wl,--build-id=none",
                                   p->files[CODE].name,
                                   p->files[INTERFACE].name,
                                   "-o",
                                   p->files[LIBRARY].name,
                                   "-lm",
                                   NULL};

    tool_compile(p->target, command, INTERFACE_HEADER - CODE + 1, p->files + CODE, p->pool, &p->files[LIBRARY]);
}

void tool_export_fmu(sp_context *context, int count, const char *const *paths, const char *target, const char *probes,
                     bool sources_only)
{
    tool_c_source source;

    const char *dot = strrchr(target, '.');
    if (!dot || strcmp(dot, ".fmu"))
        tool_fail(SP_USAGE, target, "an FMU is called like its file: give it a name that ends in .fmu");

    tool_c_source_read(context, "an FMU", count, paths, target, probes, &source);
    package p = {.context = context, .target = target, .pool = &source.pool, .fmu.source = &source.c};

    tool_output *output = tool_output_open(target);
    name_files(&p);
    make_texts(&p);
    if (!sources_only)
        make_library(&p);

    for (int f = 0; f < FILES; f++)
        if (p.files[f].bytes)
            tool_check(sp_writer_file(tool_output_writer(output), p.paths[f], p.files[f].count, p.files[f].bytes),
                       target);

    tool_output_finish(output, NULL);
    tool_c_source_free(&source);
}
