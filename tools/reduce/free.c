#include "tools/reduce/free.h"

#include "api/saved.h"
#include "tools/common/shell.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void reduce_free_check(const reduce_search *s)
{
    const reduce_choice *c = s->choice;
    const sp_mesh *mesh = &s->mesh.mesh;
    bool damped = c->damping_mass && strtod(c->damping_mass, NULL) > 0;
    for (int64_t m = 0; m < mesh->material_count && !c->damping_mass; m++)
        damped |= mesh->materials[m].damping_mass > 0;

    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {c->frame, "--frame moves a body that is fixed to it, and this one has no fixed vertices"},
        {c->integrator > 0, "free bodies move by a method that conserves energy: --integrator does not apply"},
        {c->quantity > REDUCE_ENERGY, "of free bodies --quantity position, velocity, largest and energy are measured"},
        {damped, "damping by the mass acts on the rigid motion of the full-order model, and not on that of a scene: "
                 "use --damping-mass 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            tool_fail(SP_USAGE, c->mesh, "%s", rules[i].text);
}

/* ---- scenes ---- */

/* The absolute path of a file that need not be there, in a folder that is. */
static const char *resolve(reduce_commands *c, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *folder = !slash ? "." : slash == path ? "/" : reduce_text(c, "%.*s", (int)(slash - path), path);
    char *real = realpath(folder, NULL);
    if (!real)
        tool_fail(SP_SYSTEM, path, "there is no such folder");
    const char *whole = reduce_text(c, "%s/%s", strcmp(real, "/") ? real : "", name);
    free(real);
    return whole;
}

/* `path` as it is called from the folder of the file `from`. */
static const char *relative(reduce_commands *c, const char *from, const char *path)
{
    const char *a = resolve(c, from), *b = resolve(c, path), *up = "";
    int64_t common = 0;

    if (*path == '/')
        return path;
    for (int64_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    for (const char *at = a + common; (at = strchr(at, '/')); at++)
        up = reduce_text(c, "../%s", up);
    return reduce_text(c, "%s%s", up, b + common);
}

/* How many digits from `least` on say a number exactly. */
static int digits_of(double value, int least)
{
    char text[TOOL_SHELL_REAL];
    int digits = least - 1;
    do
        snprintf(text, sizeof text, "%.*g", ++digits, value);
    while (strtod(text, NULL) != value);
    return digits;
}

const char *reduce_free_scene(reduce_search *s, const reduce_model *model, int64_t r, const char *loads,
                              const char *path)
{
    reduce_commands *c = &s->commands;
    const char *from = path ? path : reduce_path(c, "scene.json");
    const double *g = s->choice->gravity;
    json_t *body = json_pack("{ss ss ss ss*}", "name", "body", "model", "body", "motion", "free", "loads",
                             loads ? relative(c, from, loads) : NULL),
           *of = json_pack("{ss ss ss ss}", "kind", "reduced", "mesh", relative(c, from, s->choice->mesh), "basis",
                           relative(c, from, model->basis), s->polynomials ? "polynomials" : "cubature",
                           relative(c, from, model->forces));
    if (!body || !of)
        tool_fail(SP_USAGE, NULL, "names of files in a scene must be UTF-8");

    /* As many digits as all numbers need */
    const double beta = s->choice->damping_stiffness ? strtod(s->choice->damping_stiffness, NULL) : 0;
    int digits = digits_of(beta, 15);
    for (int i = 0; i < 3; i++)
        digits = digits_of(g[i], digits);

    if (r > 0)
        json_object_set_new(of, "r", json_integer(r));
    if (s->choice->damping_mass || s->choice->damping_stiffness)
        json_object_set_new(of, "damping", json_pack("[f, f]", 0.0, beta));
    json_t *scene =
        json_pack("{s[f,f,f] s{so} s[o]}", "gravity", g[0], g[1], g[2], "models", "body", of, "bodies", body);

    char *printed = scene ? json_dumps(scene, JSON_INDENT(2) | JSON_REAL_PRECISION((size_t)digits)) : NULL;
    if (!printed)
        tool_out_of_memory();
    const char *text = reduce_text(c, "%s\n", printed);
    json_decref(scene);
    free(printed);

    if (path)
        return reduce_write_at(c, path, text);
    const uint64_t sum = sp_saved_sum(0, text, (int64_t)strlen(text));
    return reduce_write(c, reduce_text(c, "scene-%016llx.json", (unsigned long long)sum), text);
}

/* ---- motions and errors ---- */

void reduce_free_damping(reduce_search *s, reduce_words *w)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    const char *given = s->choice->damping_stiffness;
    bool isotropic = true, any = false;

    for (int64_t m = 0; m < mesh->material_count; m++) {
        const sp_material *material = &mesh->materials[m];
        isotropic &= sp_law_isotropic(material->law) && material->fibre == SP_FIBRE_NONE;
        any |= (given ? strtod(given, NULL) : material->damping_stiffness) > 0;
    }
    if (!isotropic && given)
        reduce_add_all(w, "--damping-stiffness", given);
    if (!isotropic || !any)
        return;

    reduce_add_all(w, "--damping-stiffness", "0");
    for (int64_t m = 0; m < mesh->material_count; m++) {
        const sp_material *material = &mesh->materials[m];
        const double beta = given ? strtod(given, NULL) : material->damping_stiffness;
        char phi[TOOL_SHELL_REAL], psi[TOOL_SHELL_REAL];
        double lambda, mu;
        sp_lame(material->young, material->poisson, &lambda, &mu);
        reduce_add_all(w, "--viscosity",
                       reduce_text(&s->commands, "%s=%s,%s", material->name, tool_shell_real(beta * lambda, phi),
                                   tool_shell_real(beta * mu, psi)));
    }
}

/* Words of a motion of a scene. */
static void add_run(reduce_search *s, reduce_words *w, const char *scene, const char *step, int64_t steps,
                    int64_t every)
{
    reduce_commands *c = &s->commands;
    reduce_add_all(w, "simscene", scene, "--dt", step, "--steps", reduce_text(c, "%lld", (long long)steps), "--every",
                   reduce_text(c, "%lld", (long long)every));
}

/* Returns false where the motion does not converge. */
static bool run(reduce_search *s, const reduce_words *w)
{
    const int status = reduce_try_words(&s->commands, w->word);
    if (status != SP_OK && status != SP_NUMERICAL)
        reduce_run_words(&s->commands, w->word); /* says why */
    return status == SP_OK;
}

bool reduce_free_move(reduce_search *s, const reduce_model *model, const char *loads, const char *step, int64_t steps,
                      int64_t every, const char *path)
{
    reduce_words w = {0};
    add_run(s, &w, reduce_free_scene(s, model, 0, loads, NULL), step, steps, every);
    reduce_add_all(&w, "-o", path);
    return run(s, &w);
}

/* The mean of the times of all steps, µs. */
static double mean_time(reduce_search *s, const char *path)
{
    reduce_table table;
    double sum = 0;
    reduce_table_read(&s->commands, path, &table);
    for (int64_t i = 0; i < table.rows; i++)
        sum += reduce_table_value(&table, i, "seconds");
    return 1e6 * sum / (double)table.rows;
}

/* A row of the table of simcompare. */
static double named_value(const reduce_table *table, const char *name)
{
    for (int64_t i = 0; i < table->rows; i++)
        if (!strcmp(table->row[i], name))
            return reduce_table_value(table, i, "relative");
    return NAN;
}

/* The columns that are measured, and the norm that simcompare has for each. Displacements of a body with fixed vertices
 * are its deformation. */
static const struct {
    const char *name, *norm;
} measured[] = {{"position", "deformation L2"},
                {"velocity", "velocity L2"},
                {"largest", "deformation max"},
                {"energy", "energy L2"},
                {"us_per_step", NULL}};
enum { MEASURED = TOOL_COUNT(measured) };

/* FOLDER/NAME-STEP.ENDING for FOLDER/NAME.json */
static const char *replace_ending(reduce_commands *c, const char *path, const char *step, const char *ending)
{
    return reduce_text(c, "%.*s-%s.%s", (int)(strlen(path) - strlen(".json")), path, step, ending);
}

/* The errors of one rank of a model, or of the full-order model (NULL), with steps of this length. */
static void measure_one(reduce_search *s, const reduce_model *model, int64_t r, const char *step,
                        const reduce_motion *motion, double row[MEASURED])
{
    reduce_commands *c = &s->commands;
    const double length = strtod(step, NULL), finer = strtod(s->step, NULL) / length;
    const int64_t steps = llround(finer * (double)s->steps), every = llround(finer * (double)reduce_every(s));
    const char *scene = model ? reduce_free_scene(s, model, r, motion->loads, NULL) : NULL,
               *name = model ? scene : reduce_path(c, "full.json"), *moved = replace_ending(c, name, step, "npz"),
               *times = replace_ending(c, name, step, "csv"), *errors = reduce_path(c, "errors.csv");
    reduce_words w = {0}, compare = {0};
    bool converged;

    for (int q = 0; q < MEASURED; q++)
        row[q] = INFINITY;

    if (model) {
        reduce_commands_note(c, times);
        add_run(s, &w, scene, step, steps, every);
        reduce_add_all(&w, "--timings", times, "-o", moved);
        converged = run(s, &w);
    } else
        converged = reduce_move(s, NULL, motion->loads, step, steps, every, moved);
    if (!converged)
        return;

    reduce_add_all(&compare, "simcompare", moved, motion->path);
    reduce_add_all(&compare, model ? "--scene" : "--mesh", model ? scene : s->choice->mesh);
    if (motion->scene)
        reduce_add_all(&compare, "--scene", motion->scene);
    reduce_add_all(&compare, "--deformation", "--csv", errors);
    reduce_measure_words(c, compare.word);

    reduce_table table;
    reduce_table_read(c, errors, &table);
    for (int q = 0; q < MEASURED; q++)
        if (measured[q].norm)
            row[q] = named_value(&table, measured[q].norm);
        else if (model)
            row[q] = mean_time(s, times);
}

void reduce_free_measure(reduce_search *s, const reduce_model *model, const char *ranks, const char *step,
                         const reduce_motion *motion, reduce_table *table)
{
    reduce_commands *c = &s->commands;
    const int64_t all = model ? model->r : 0;
    int64_t count = 1;
    for (const char *at = ranks; at && *at; at++)
        count += *at == ',';

    /* As simvalidate's: the first row is that of the reference. */
    *table = (reduce_table){.rows = 1 + count, .columns = MEASURED};
    table->name = tool_allocate(&c->pool, MEASURED, sizeof *table->name);
    table->value = tool_allocate(&c->pool, table->rows * MEASURED, sizeof *table->value);
    for (int q = 0; q < MEASURED; q++) {
        table->name[q] = measured[q].name;
        table->value[q] = NAN;
    }
    for (int64_t i = 1; i <= count; i++) {
        measure_one(s, model, ranks ? strtoll(ranks, NULL, 10) : all, step, motion, table->value + i * MEASURED);
        ranks = ranks && strchr(ranks, ',') ? strchr(ranks, ',') + 1 : NULL;
    }
}
