#include "tools/common/parallel.h"

#include "tools/common/internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const sp_parallel_module *module;
    int rank, ranks;
} parallel;

/* Beside the program, as in a build folder, or where it is installed. */
static void *open_module(void)
{
    static const char *const folders[] = {"", "../" SUPPLE_MODULES "/", "../lib/"};
    char program[PATH_MAX], path[PATH_MAX + 100];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length <= 0)
        return NULL;
    program[length] = 0;
    *strrchr(program, '/') = 0;

    for (int i = 0; i < TOOL_COUNT(folders); i++) {
        snprintf(path, sizeof path, "%s/%ssupple-slepc.so", program, folders[i]);
        if (access(path, F_OK) != 0)
            continue;

        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* the plug-ins of Open MPI look for its symbols */
        if (!library)
            tool_fail(SP_SYSTEM, path, "%s", dlerror());
        return library;
    }

    return NULL;
}

/* On a rank whose failure the others cannot learn: MPI is left as it is. */
static void die(int status, const char *message)
{
    tool_print(NULL, message);
    tool_outputs_remove();
    _exit(status);
}

/* Options in the environment would change results. Without mpirun Open MPI would start a daemon. */
static void prepare_environment(void)
{
    unsetenv("PETSC_OPTIONS");
    unsetenv("SLEPC_OPTIONS");
    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMIX_RANK"))
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
}

void tool_parallel_start(const char *solver)
{
    void *library = open_module();
    const sp_parallel_module *module = library ? dlsym(library, SP_PARALLEL_SYMBOL) : NULL;

    if (!module || module->version != SP_PARALLEL_VERSION) {
        tool_hint("it needs the Debian packages slepc-dev, petsc-dev and libopenmpi-dev when Supple is built (meson "
                  "setup -Dslepc=enabled)");
        tool_fail(SP_USAGE, NULL, "--solver %s: this build has no module supple-slepc", solver);
    }

    prepare_environment();
    tool_check(module->start(&tool.context, die), NULL);
    module->place(&parallel.rank, &parallel.ranks);
    parallel.module = module;

    if (parallel.rank > 0) {
        tool.quiet = true;
        tool.context.progress = NULL;
    }
}

const sp_parallel_module *tool_parallel(void)
{
    return parallel.module;
}

int tool_parallel_rank(void)
{
    return parallel.rank;
}

int tool_parallel_ranks(void)
{
    return parallel.ranks;
}

bool tool_parallel_speaks(int status)
{
    int speaker;
    if (!parallel.module)
        return true;
    parallel.module->agree(status, &speaker);
    return speaker == parallel.rank;
}

noreturn void tool_parallel_alone(int status, const char *message)
{
    parallel.module->alone(status, message);
    _exit(status);
}

void tool_parallel_finish(void)
{
    if (parallel.module)
        parallel.module->finish();
    parallel.module = NULL;
}

void tool_parallel_agree(int status, const char *file)
{
    int speaker;
    tool_check(status, file); /* which agrees too */
    const int of_others = parallel.module->agree(SP_OK, &speaker);
    if (of_others == SP_OK)
        return;
    tool_outputs_remove();
    tool_parallel_finish();
    _exit(of_others);
}
