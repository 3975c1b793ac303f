#include "tools/validate/validate.h"

#include "model/models.h"
#include "run/steps_watch.h"
#include "tools/common/series.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* by MODEL_…; those that are not validated have none */
enum { MODELS = SP_MODEL_LINEAR + 1 };
static const char *const names[MODELS] = {
    [SP_MODEL_POLYNOMIALS] = "reduced", [SP_MODEL_CUBATURE] = "cubature", [SP_MODEL_GALERKIN] = "galerkin",
    [SP_MODEL_MODAL] = "modal",         [SP_MODEL_NONLINEAR] = "full",    [SP_MODEL_LINEAR] = "linear"};

/* ---- which models ---- */

/* Which of MODEL_… --model names; without it those whose files are there, else galerkin. */
static void find_models(const validate_choice *c, bool wanted[MODELS])
{
    memset(wanted, 0, MODELS * sizeof *wanted);
    if (!c->models) {
        wanted[SP_MODEL_POLYNOMIALS] = c->motion.polynomials;
        wanted[SP_MODEL_CUBATURE] = c->cubatures.count > 0;
        wanted[SP_MODEL_GALERKIN] = !wanted[SP_MODEL_POLYNOMIALS] && !wanted[SP_MODEL_CUBATURE];
    }

    for (const char *at = c->models; at;) {
        size_t length = strcspn(at, ",");
        int model = 0;
        while (model < MODELS && (strlen(names[model]) != length || strncmp(names[model], at, length)))
            model++;

        if (model == MODELS || model == SP_MODEL_NONLINEAR || model == SP_MODEL_MODAL)
            tool_fail(SP_USAGE, NULL, "--model: \"%.*s\" is not one of reduced, cubature, galerkin, linear",
                      (int)length, at);

        if (wanted[model])
            tool_fail(SP_USAGE, NULL, "--model names %s twice", names[model]);
        wanted[model] = true;
        at = at[length] ? at + length + 1 : NULL;
    }

    const bool in_basis = wanted[SP_MODEL_POLYNOMIALS] || wanted[SP_MODEL_CUBATURE] || wanted[SP_MODEL_GALERKIN];
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {!in_basis && c->certificate, "--certificate applies to --model reduced, cubature and galerkin"},
        {in_basis && !c->motion.basis, "a model in a basis needs --basis"},
        {!in_basis && c->reference_rank, "--reference-rank applies to --model reduced, cubature and galerkin"},
        {!in_basis && c->motion.basis, "--basis applies to --model reduced, cubature and galerkin"},
        {wanted[SP_MODEL_POLYNOMIALS] && !c->motion.polynomials, "--model reduced needs --poly"},
        {!wanted[SP_MODEL_POLYNOMIALS] && c->motion.polynomials, "--poly applies to --model reduced"},
        {wanted[SP_MODEL_CUBATURE] && !c->cubatures.count, "--model cubature needs --cub"},
        {!wanted[SP_MODEL_CUBATURE] && c->cubatures.count, "--cub applies to --model cubature"},
        {!wanted[SP_MODEL_POLYNOMIALS] && !wanted[SP_MODEL_GALERKIN] && c->ranks,
         "--ranks applies to --model reduced and galerkin"},
        {(c->reference || c->reference_rank) && !wanted[SP_MODEL_LINEAR] && c->motion.lumping_given,
         "--lumping applies to the full-order and linear models, of which none is run"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
}

/* The numbers of --ranks, else one 0: all columns. */
static void find_ranks(const validation *v, sp_list *ranks)
{
    if (v->choice->ranks)
        tool_parse_list("ranks", v->choice->ranks, 1, v->full.s.basis.columns.count, ranks);
    else
        *(int64_t *)sp_list_add(ranks, 1, sizeof(int64_t)) = -1; /* counted from 0, as the others are */
}

static void choose_run(const validation *v, int model, validate_run *run)
{
    run->name = names[model];
    run->choice = v->choice->motion;
    run->choice.model = model;
    run->choice.polynomials = model == SP_MODEL_POLYNOMIALS ? run->choice.polynomials : NULL;
    run->choice.basis = model == SP_MODEL_LINEAR ? NULL : run->choice.basis;
    run->choice.correct = v->choice->stress;
    run->choice.certificate = model == SP_MODEL_LINEAR ? NULL : v->choice->certificate;
}

static validate_run *add_run(validation *v, int model)
{
    validate_run *run = &v->runs[v->run_count++];
    choose_run(v, model, run);
    return run;
}

static void add_runs(validation *v, const bool wanted[MODELS])
{
    sp_list ranks = {0};
    find_ranks(v, &ranks);
    v->runs = tool_allocate(&v->pool, 2 * ranks.count + v->choice->cubatures.count + 1, sizeof *v->runs);
    for (int model = SP_MODEL_POLYNOMIALS; model <= SP_MODEL_GALERKIN;
         model += SP_MODEL_GALERKIN - SP_MODEL_POLYNOMIALS)
        if (wanted[model])
            for (int64_t i = 0; i < ranks.count; i++)
                add_run(v, model)->choice.r = ((int64_t *)ranks.data)[i] + 1;
    for (int64_t i = 0; i < v->choice->cubatures.count; i++)
        add_run(v, SP_MODEL_CUBATURE)->choice.cubature = v->choice->cubatures.value[i];
    if (wanted[SP_MODEL_LINEAR])
        add_run(v, SP_MODEL_LINEAR);
    sp_list_free(&ranks);
}

/* The run whose motion is the reference: the full-order model, or a reduced-order model of more columns. */
static void choose_lead(validation *v)
{
    const validate_choice *c = v->choice;
    v->lead = c->reference ? NULL : c->reference_rank ? &v->rich : &v->full;
    if (v->lead != &v->rich)
        return;
    choose_run(v, c->motion.polynomials ? SP_MODEL_POLYNOMIALS : SP_MODEL_GALERKIN, v->lead);
    v->rich.choice.r = c->reference_rank;
    v->rich.choice.correct = false;
    v->rich.choice.certificate = NULL;
}

/* ---- probes ---- */

static void parse_probe(validation *v, const char *text, validate_probe *probe)
{
    const tool_mesh *mesh = &v->full.s.mesh;
    const tool_place_names words = {.context = v->context,
                                    .option = "probe",
                                    .vertex_count = mesh->mesh.vertex_count,
                                    .mesh = &mesh->mesh,
                                    .mesh_path = mesh->path};
    *probe = (validate_probe){.text = text};
    probe->place = tool_place_axis(&words, text, &probe->axis);
    probe->corners = tool_place_corners(&mesh->mesh, &probe->place, &probe->corner, &probe->weight);
}

void validation_keep(sp_list *list, double value)
{
    double *to = sp_list_add(list, 1, sizeof *to);
    if (!to)
        tool_out_of_memory();
    *to = value;
}

void validation_keep_probes(const validation *v, const double *u, sp_list *value)
{
    for (int64_t i = 0; i < v->probe_count; i++) {
        const validate_probe *probe = &v->probes[i];
        double sum = 0;
        for (int c = 0; c < probe->corners; c++) {
            int64_t dof = v->full.s.body->dof[3 * probe->corner[c] + probe->axis];
            sum += dof >= 0 ? probe->weight[c] * u[dof] : 0;
        }
        validation_keep(&value[i], sum);
    }
}

/* ---- opening ---- */

static int take_step(void *data, int64_t number)
{
    validate_run *run = data;
    const double start = tool_seconds();
    (void)number;
    const int status = sp_integrator_step(run->integrator);
    run->seconds += tool_seconds() - start;
    return status;
}

static void judge(void *data, sp_remarks *remarks)
{
    const validate_run *run = data;
    sp_energy_watch_judge(&run->energy, &run->rules, "--semi-implicit", remarks);
    sp_steps_judge(sp_integrator_reported(run->integrator), remarks);
}

/* The energies of a frame, which the run's judgement sees too; returns their sum, J. */
static double look_at_energy(validate_run *run)
{
    double energy[SP_WORK_COUNT];
    sp_integrator_energies(run->integrator, energy);
    if (run->course.done == 0)
        sp_energy_watch_begin(&run->energy, energy);
    else
        sp_energy_watch_add(&run->energy, &run->rules, energy, 0, sp_integrator_time(run->integrator));
    return energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
}

static void begin_course(validate_run *run)
{
    run->rules = simulation_energy_rules(&run->s);
    run->course = (sp_run){.motion = {.self = run, .step = take_step}, .steps = -1};
    run->body = simulation_body(&run->s, run->integrator);
    run->estimate.body = &run->body;
    if (run->s.cubature.nested) /* estimates are not part of the measured time */
        sp_run_watch(&run->course, sp_estimate_watch_observer(&run->estimate));
    sp_run_watch(&run->course, (sp_observer){.self = run, .warn = judge});
}

void validation_warn(const validation *v)
{
    for (int64_t i = -1; i < v->run_count; i++) {
        const validate_run *run = i < 0 ? v->lead : &v->runs[i];
        sp_remarks remarks = {0};
        if (!run)
            continue;
        sp_run_warn(&run->course, &remarks);
        for (int k = 0; k < remarks.count; k++)
            tool_warn(run->s.mesh.path, "%s, %lld coordinates: %s", run->name, (long long)run->s.model.system.n,
                      remarks.text[k]);
    }
}

static void make_run(validation *v, validate_run *run)
{
    sp_integrator_parameters parameters;

    run->s.choice = &run->choice;
    run->s.context = v->context;
    if (run != &v->full) {
        run->s.shared = &v->full.s;
        simulation_read(&run->s);
    }

    frame_read(&run->s, v->end);
    simulation_make(&run->s);
    run->elements = run->choice.model == SP_MODEL_POLYNOMIALS ? -1
                    : run->choice.model == SP_MODEL_CUBATURE  ? run->s.cubature.count
                                                              : sp_mesh_element_count(&run->s.mesh.mesh);

    parameters = simulation_parameters(&run->s);
    run->external_loads = frame_loads(&run->s);
    tool_check(sp_integrator_new(v->context, &run->s.model.system, &run->external_loads, &parameters, NULL, NULL,
                                 &run->integrator),
               run->s.mesh.path);
    begin_course(run);
    run->value = tool_allocate(&v->pool, v->probe_count, sizeof *run->value);
    if (run != v->lead)
        tool_check(sp_trajectory_error_sums_new(v->context, &v->mass, v->vertex, &run->sums), NULL);
}

/* Room for frames: some 64 MB, so that the full model and those that follow change places often enough to bound the
 * memory, and seldom enough for their caches. */
static void make_frames(validation *v)
{
    const int64_t n = v->full.s.body->dof_count, vertices = v->full.s.mesh.mesh.vertex_count,
                  capacity = ((int64_t)1 << 22) / (n > vertices ? n : vertices); /* also of the stress at vertices */
    validate_frames *f = &v->frames;
    f->capacity = capacity < 1 ? 1 : capacity > 1000 ? 1000 : capacity;

    f->step = sp_pool_raw(&v->pool, f->capacity, sizeof *f->step);
    f->time = sp_pool_raw(&v->pool, f->capacity, sizeof *f->time);
    f->energy = sp_pool_raw(&v->pool, f->capacity, sizeof *f->energy);
    f->u = sp_pool_raw(&v->pool, f->capacity * n, sizeof *f->u);
    f->v = sp_pool_raw(&v->pool, f->capacity * n, sizeof *f->v);

    v->rows = sp_pool_new(&v->pool, 3 * v->full.s.mesh.mesh.vertex_count, sizeof *v->rows);
    v->u = sp_pool_raw(&v->pool, n, sizeof *v->u);
    v->v = sp_pool_raw(&v->pool, n, sizeof *v->v);
    v->vertex = sp_pool_raw(&v->pool, n, sizeof *v->vertex);
    v->value = sp_pool_new(&v->pool, v->probe_count, sizeof *v->value);

    if (v->pool.failed)
        tool_out_of_memory();
}

void validation_open(validation *v)
{
    bool wanted[MODELS];

    find_models(v->choice, wanted);

    v->full.name = names[SP_MODEL_NONLINEAR];
    v->full.choice = v->choice->motion;
    v->full.choice.model = SP_MODEL_NONLINEAR;
    v->full.s.choice = &v->full.choice;
    v->full.s.context = v->context;
    simulation_read(&v->full.s);

    add_runs(v, wanted);
    choose_lead(v);

    v->probes = tool_allocate(&v->pool, v->choice->probes.count, sizeof *v->probes);
    for (; v->probe_count < v->choice->probes.count; v->probe_count++)
        parse_probe(v, v->choice->probes.value[v->probe_count], &v->probes[v->probe_count]);

    make_frames(v);
    tool_check(sp_fe_space_mass_compressed(v->context, v->full.s.body, false, &v->mass), v->full.s.mesh.path);
    sp_fe_space_nodes(v->full.s.body, v->vertex);
    v->end = (double)v->choice->motion.steps * v->choice->motion.step;
    if (v->choice->reference)
        reference_open(v);

    /* Cheap checks come before expensive construction. */
    for (int64_t i = 0; i < v->run_count; i++)
        make_run(v, &v->runs[i]);

    certified_open(v);
    stress_open(v);
    if (v->lead)
        make_run(v, v->lead);
}

static void close_run(const validation *v, validate_run *run)
{
    sp_integrator_free(run->integrator);
    sp_trajectory_error_sums_free(&run->sums);
    if (run->value)
        for (int64_t i = 0; i < v->probe_count; i++)
            sp_list_free(&run->value[i]);
    frame_free(&run->s);
    simulation_free(&run->s);
}

void validation_close(validation *v)
{
    certified_close(v);
    stress_close(v);
    for (int64_t i = 0; i < v->run_count; i++)
        close_run(v, &v->runs[i]);
    if (v->choice->reference)
        reference_close(v);
    for (int64_t i = 0; i < v->probe_count; i++)
        sp_list_free(&v->value[i]);
    sp_list_free(&v->time);
    sp_sparse_free(&v->mass);
    if (v->lead == &v->rich)
        close_run(v, &v->rich);
    close_run(v, &v->full);
    sp_pool_free(&v->pool);
}

/* ---- stepping ---- */

void validation_values(validation *v, const validate_run *run, const double *q, double *values)
{
    int64_t rows = 3 * run->s.mesh.mesh.vertex_count, r = run->s.r;
    const double *U = run->s.basis.columns.U;

    if (!simulate_in_basis(&run->choice)) {
        memcpy(values, q, (size_t)run->s.model.system.n * sizeof *q);
        return;
    }

    enum { ROWS = 1 << 12 }; /* a piece of the sum that stays in the cache */
#pragma omp parallel for schedule(static) num_threads(v->context->threads)
    for (int64_t first = 0; first < rows; first += ROWS) {
        int64_t end = first + ROWS < rows ? first + ROWS : rows;
        memset(v->rows + first, 0, (size_t)(end - first) * sizeof *v->rows);
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = first; i < end; i++)
                v->rows[i] += U[j * rows + i] * q[j];
    }
    sp_fe_space_gather(run->s.body, v->rows, values);
}

bool validation_bring(validation *v)
{
    validate_frames *f = &v->frames;
    const simulate_choice *c = &v->choice->motion;
    int64_t n = v->full.s.body->dof_count, step;

    if (!v->lead)
        return reference_bring(v);
    validate_run *lead = v->lead;
    sp_run *course = &lead->course;
    for (f->count = 0; f->count < f->capacity && v->frame >= 0; f->count++) {
        step = v->frame * c->every < c->steps ? v->frame * c->every : c->steps;
        while (course->done < step) {
            simulation_check_step(&lead->s, sp_run_to(course, course->done + 1));
            tool_check(sp_progress(v->context, (double)course->done / (double)c->steps), NULL);
        }

        f->step[f->count] = step;
        f->time[f->count] = sp_integrator_time(lead->integrator);
        f->energy[f->count] = look_at_energy(lead);
        validation_values(v, lead, sp_integrator_q(lead->integrator), f->u + f->count * n);
        validation_values(v, lead, sp_integrator_v(lead->integrator), f->v + f->count * n);

        v->frame = step < c->steps ? v->frame + 1 : -1;
    }
    return f->count > 0;
}

void validation_follow(validation *v, validate_run *run)
{
    const validate_frames *f = &v->frames;
    int64_t n = v->full.s.body->dof_count;

    for (int64_t k = 0; k < f->count && !run->failed; k++) {
        int status = sp_run_to(&run->course, f->step[k]);
        if (status == SP_NUMERICAL) {
            run->failed = true;
            run->failed_at = sp_integrator_time(run->integrator);
            tool_warn(run->choice.cubature, "%s, %lld coordinates: %s", run->name, (long long)run->s.model.system.n,
                      v->context->message);
            return;
        }

        tool_check(status, run->s.mesh.path);
        validation_values(v, run, sp_integrator_q(run->integrator), v->u);
        validation_values(v, run, sp_integrator_v(run->integrator), v->v);

        sp_trajectory_error_sums_add(&run->sums,
                                     &(sp_scene_trajectory_frame){f->time[k], f->u + k * n, f->v + k * n, f->energy[k]},
                                     &(sp_scene_trajectory_frame){f->time[k], v->u, v->v, look_at_energy(run)});
        certified_add(v, run, k);
        stress_add(v, run, k);
        validation_keep_probes(v, v->u, run->value);
    }
}
