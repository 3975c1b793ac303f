/* Steps of models that were exported as C source, and compiled, against those of `simulate`: source FOLDER [C COMPILER
 * AND OPTIONS]. Leaves the tables of the models in FOLDER/tables-R.bin for bench/page.mjs. */
#include "assembly/fe_space.h"
#include "bench.h"
#include "formats/export/source_tables.h"
#include "formats/export/source_write.h"
#include "integrate/integrate.h"
#include "model/models.h"

#include <dlfcn.h>
#include <sys/stat.h>

typedef struct job {
    int r, repeat;
    sp_integrator *integrator;
    int (*exported)(int steps);
} job;

static void step(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++)
        if (sp_integrator_step(j->integrator) != SP_OK)
            abort();
}

static void exported_step(void *data)
{
    job *j = data;
    if (j->exported(j->repeat) != 0)
        abort();
}

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const sp_system *)self)->n * 8);
}

static void write_model(sp_context *context, const char *folder, const sp_c_source_tables *tables)
{
    static const char driver[] = "#include \"model.h\"\n"
                                 "static model_state state;\n"
                                 "void begin(int semi, double h, const double *v)\n"
                                 "{\n"
                                 "    model_init(&state);\n"
                                 "    if (model_set_step(&state, h) || model_set_semi_implicit(&state, semi) ||\n"
                                 "        model_set_motion(&state, 0, v) || model_start(&state, 0))\n"
                                 "        __builtin_trap();\n"
                                 "}\n"
                                 "int steps(int count)\n"
                                 "{\n"
                                 "    int status = 0;\n"
                                 "    while (count-- > 0 && !status)\n"
                                 "        status = model_step(&state, 0);\n"
                                 "    return status;\n"
                                 "}\n";

    const sp_c_source source = {.name = "model", .origin = "bench", .tables = tables};

    for (int i = 0; i < 3; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, (const char *[]){"model.c", "model.h", "driver.c"}[i]);
        const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        const int status = i == 0   ? sp_c_source_write_code(context, descriptor, &source)
                           : i == 1 ? sp_c_source_write_header(context, descriptor, &source)
                           : write(descriptor, driver, sizeof driver - 1) == sizeof driver - 1 ? SP_OK
                                                                                               : SP_SYSTEM;
        if (status != SP_OK || close(descriptor)) {
            fprintf(stderr, "%s: cannot write\n", path);
            exit(1);
        }
    }
}

static void write_tables(const char *folder, const sp_c_source_tables *tables)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tables-%d.bin", folder, (int)tables->r);
    FILE *file = fopen(path, "wb");
    int whole = file != NULL;
    for (int i = 0; i < tables->count && whole; i++)
        whole =
            fwrite(tables->table[i].values, 8, (size_t)tables->table[i].count, file) == (size_t)tables->table[i].count;
    if (!whole || fclose(file)) {
        fprintf(stderr, "%s: cannot write\n", path);
        exit(1);
    }
}

/* The compiled model as a library; its size in KiB. */
static void *compile(const char *folder, const char *compiler, int r, double *kib)
{
    char command[12288], path[4096];
    struct stat about;
    snprintf(path, sizeof path, "%s/model-%d.so", folder, r);
    snprintf(command, sizeof command,
             "cd '%s' && %s -fPIC -c model.c && %s -fPIC -shared driver.c model.o -lm -o model-%d.so", folder, compiler,
             compiler, r);
    const double start = bench_now();
    void *library = system(command) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "source: the compiler failed: %s\n", command);
        exit(1);
    }
    printf("%4d %9.1f", r, bench_now() - start);
    snprintf(path, sizeof path, "%s/model.o", folder);
    *kib = stat(path, &about) == 0 ? (double)about.st_size / 1024 : 0;
    return library;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".", *compiler = argc > 2 ? argv[2] : "cc -O3 -march=native";
    bench_begin();
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_fe_space body;

    bench_bar(300, 3, &mesh);
    if (sp_fe_space_new(&context, &mesh, &body) != SP_OK)
        return 1;
    printf("%s\n%4s %9s %9s %14s %10s %7s %14s %10s %7s\n", compiler, "r", "cc [s]", "KiB", "semi step [us]",
           "exported", "ratio", "converged [us]", "exported", "ratio");

    for (int k = 0; k < 4; k++) {
        const int r = (int[]){12, 20, 30, 60}[k];
        job j = {.r = r, .repeat = r < 25 ? 2000 : r < 50 ? 300 : 20};
        const int64_t rows = 3 * mesh.vertex_count;
        double *U = malloc((size_t)(rows * r) * 8), v[60] = {0}, kib;
        bench_fields(&mesh, r, U);
        for (int i = 0; i < r; i++)
            v[i] = 0.02 / (1 + i);

        sp_polynomials polynomials;
        sp_polynomial_parameters parameters = {0};
        sp_polynomial_report report;
        sp_system system;
        if (sp_polynomials_new(&context, &body, r, U, &parameters, &polynomials, &report) != SP_OK ||
            sp_polynomial_system_new(&context, &polynomials, r, U, rows, mesh.vertices, &system) != SP_OK) {
            fprintf(stderr, "source: %s\n", context.message);
            return 1;
        }

        sp_c_source_tables tables;
        if (sp_c_source_tables_new(&context, &polynomials, &tables) != SP_OK)
            return 1;
        write_model(&context, folder, &tables);
        write_tables(folder, &tables);
        sp_c_source_tables_free(&tables);

        void *library = compile(folder, compiler, r, &kib);
        void (*begin)(int, double, const double *);
        *(void **)&begin = dlsym(library, "begin");
        *(void **)&j.exported = dlsym(library, "steps");
        printf(" %9.0f", kib);

        sp_external_loads forcing = {.self = &system, .mean = no_force};
        for (int semi = 1; semi >= 0; semi--) {
            sp_integrator_parameters p = {
                .kind = SP_NEWMARK, .step = 1e-3, .beta = 0.25, .gamma = 0.5, .semi_implicit = semi};
            if (sp_integrator_new(&context, &system, &forcing, &p, NULL, v, &j.integrator) != SP_OK)
                return 1;

            begin(semi, p.step, v);
            double ours, theirs;
            bench_pair(step, exported_step, &j, semi ? 31 : 5, &ours, &theirs);
            printf(" %14.2f %10.2f %7.2f", 1e6 * ours / j.repeat, 1e6 * theirs / j.repeat, theirs / ours);
            sp_integrator_free(j.integrator);
        }

        printf("\n");
        dlclose(library);
        sp_reduced_system_free(&system);
        sp_polynomials_free(&polynomials);
        free(U);
    }
    return 0;
}
