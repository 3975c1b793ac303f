#include "formats/cubature.h"
#include "formats/damping.h"
#include "formats/loads.h"
#include "formats/polynomials.h"
#include "model/floating.h"
#include "model/load_stiffness.h"
#include "reduced/edit.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "tools/common/solve.h"
#include "tools/simulate/simulation.h"

#include <string.h>

/* Modes about an equilibrium move relative to it. Options that take the mesh at rest for the state without motion are
 * refused. */
static void check_about(const simulation *s)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {{s->choice->frame, "frame"},
                   {s->choice->skin, "skin"},
                   {s->choice->warp, "warp"},
                   {s->choice->correct, "static-correction"}};
    for (int i = 0; i < TOOL_COUNT(options); i++)
        if (options[i].given)
            tool_fail(SP_INPUT, s->choice->basis, "its modes are about a static equilibrium, which --%s does not know",
                      options[i].name);
}

static void read_basis(simulation *s)
{
    const simulate_choice *c = s->choice;
    const bool modal = c->model == SP_MODEL_MODAL;

    if (!c->basis) {
        tool_hint(modal ? "modes makes them" : "modes and masspca make it; simfull needs none");
        tool_fail(SP_USAGE, NULL,
                  modal ? "a modal model needs the modes as --basis" : "a model in a basis needs --basis");
    }

    if (!s->shared)
        tool_check_source(
            sp_input_basis(tool_source(), (enum sp_model_kind)c->model, c->basis, "basis", &s->mesh, &s->basis));
    if (modal && s->basis.columns.about[0])
        check_about(s);
    tool_check_source(sp_input_rank(tool_source(), c->basis, s->basis.columns.count, c->r, &s->basis, &s->r));
}

/* No file of a model was named: says which one, by the laws of the mesh. */
static noreturn void refuse_without_model(const simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    for (int64_t i = 0; i < mesh->material_count; i++)
        if (!sp_material_quadratic(&mesh->materials[i])) {
            tool_hint("cubature makes it of the mesh and the basis; --model galerkin needs none");
            tool_fail(SP_USAGE, s->mesh.path, "a model of the law %s, which has no polynomials, needs --cub",
                      sp_material_law_text(&mesh->materials[i]));
        }
    tool_hint("polycoef makes them of the mesh and the basis");
    tool_fail(SP_USAGE, NULL, "a reduced model needs --poly (or --cub, or --model galerkin)");
}

/* Polynomials or a cubature. Others may use the polynomials of a simulation whose own model is full-order. */
static void read_force(simulation *s)
{
    const simulate_choice *c = s->choice;
    const bool cubature = c->model == SP_MODEL_CUBATURE;
    const char *path = cubature ? c->cubature : c->polynomials;

    if (!path && !cubature)
        refuse_without_model(s);
    if (!path) {
        tool_hint("cubature makes it of the mesh and the basis");
        tool_fail(SP_USAGE, NULL, "--model cubature needs --cub");
    }

    if (s->shared && !cubature) {
        tool_check_source(sp_input_rank(tool_source(), path, s->polynomials.r, c->r, &s->basis, &s->r));
        return;
    }
    tool_check_source(sp_input_force(tool_source(), cubature ? SP_MODEL_CUBATURE : SP_MODEL_POLYNOMIALS, path,
                                     cubature ? "cub" : "poly", c->r, &s->mesh, &s->basis, &s->polynomials,
                                     &s->cubature, &s->r));
}

/* --viscosity for every region, in the order of the options. */
static void read_viscosity(simulation *s)
{
    const tool_texts *texts = &s->choice->viscosity;
    const sp_mesh *mesh = &s->mesh.mesh;
    if (texts->count == 0)
        return;

    s->viscosity = tool_allocate(&s->pool, mesh->material_count, sizeof *s->viscosity);
    for (int64_t i = 0; i < texts->count; i++) {
        int64_t first, last;
        double values[2];
        tool_check(tool_parse_region(s->context, "viscosity", texts->value[i], mesh, 2, values, &first, &last), NULL);
        tool_check(sp_viscosity_check(s->context, (sp_viscosity){values[0], values[1]}), "--viscosity");
        for (int64_t m = first; m <= last; m++)
            s->viscosity[m] = (sp_viscosity){values[0], values[1]};
    }
}

/* The options' materials, for the mesh and for the polynomials that were made from it. */
static void edit_materials(simulation *s)
{
    sp_mesh *mesh = &s->mesh.mesh;
    const sp_material *before = mesh->materials;
    if (!tool_material_edits_given(&s->choice->edits))
        return;
    tool_check(tool_edit_materials(s->context, &s->choice->edits, mesh), NULL);
    if (s->choice->polynomials)
        tool_check(sp_polynomials_edit(s->context, &s->polynomials, mesh->material_count, before, mesh->materials),
                   s->choice->polynomials);
}

/* The conserving step is exact for cubic forces: of polynomials, of the linear model, of laws that are quadratic in the
 * strain. */
static void check_energy_step(const simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    if (s->choice->integrator != SP_ENERGY || s->choice->model == SP_MODEL_POLYNOMIALS ||
        s->choice->model == SP_MODEL_LINEAR || s->choice->model == SP_MODEL_MODAL)
        return;
    for (int64_t i = 0; i < mesh->material_count; i++)
        if (!sp_material_quadratic(&mesh->materials[i]))
            tool_fail(SP_USAGE, s->mesh.path,
                      "--integrator energy is exact only for laws quadratic in the strain, not for the law %s of "
                      "region \"%s\"; take newmark",
                      sp_material_law_text(&mesh->materials[i]), mesh->materials[i].name);
}

static void read_loads(simulation *s)
{
    int64_t count;
    if (s->before) { /* a cut leaves numbers and regions as they are */
        s->loads = s->before->loads;
        s->load_count = s->before->load_count;
        return;
    }

    if (!s->choice->loads)
        return;
    char *text = tool_read_bytes(s->choice->loads, "loads", &s->pool, &count);
    tool_check(sp_loads_parse(s->context, text, count, &s->mesh.mesh, &s->pool, &s->load_count, &s->loads),
               s->choice->loads);
}

static void read_decay(simulation *s)
{
    const char *path = s->choice->damping_times;
    int64_t count;
    if (!path)
        return;
    const char *text = tool_read_bytes(path, "damping-times", &s->pool, &count);
    tool_check(sp_damping_parse(s->context, text, count, &s->pool, &s->decay), path);
}

static void borrow(simulation *s)
{
    const simulation *shared = s->shared;
    s->mesh = shared->mesh;
    s->basis = shared->basis;
    s->polynomials = shared->polynomials;
    s->body = shared->body;
    s->viscosity = shared->viscosity;
    s->loads = shared->loads;
    s->load_count = shared->load_count;
}

void simulation_read(simulation *s)
{
    if (s->shared)
        borrow(s);
    else if (!s->mesh.path)
        tool_read_mesh(tool_argument(0), NULL, &s->mesh);

    check_energy_step(s);
    if (s->choice->basis || simulate_in_basis(s->choice))
        read_basis(s);
    if (s->choice->polynomials || s->choice->model == SP_MODEL_POLYNOMIALS || s->choice->model == SP_MODEL_CUBATURE)
        read_force(s);

    if (s->shared)
        return;

    edit_materials(s);
    read_viscosity(s);
    read_decay(s);
    read_loads(s);

    const bool prescribed =
        s->choice->model == SP_MODEL_NONLINEAR ||
        s->choice->model == SP_MODEL_LINEAR; /* all vertices may have prescribed motion: a test of the material */
    tool_check((prescribed && s->vertices.moves.rigid_count + s->vertices.moves.vertex_count > 0
                    ? sp_fe_space_new_prescribed
                    : sp_fe_space_new)(s->context, &s->mesh.mesh, &s->own_body),
               s->mesh.path);
    s->body = &s->own_body;
    if (s->choice->model == SP_MODEL_MODAL && !tool_material_edits_given(&s->choice->edits))
        tool_check_modes(&s->mesh, s->body, &s->basis);
}

/* The options' damping, else the mesh's where all regions agree. */
static void find_damping(simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    for (int64_t i = 1; i < mesh->material_count; i++)
        if ((!s->choice->damping_mass_given && mesh->materials[i].damping_mass != mesh->materials[0].damping_mass) ||
            (!s->choice->damping_stiffness_given &&
             mesh->materials[i].damping_stiffness != mesh->materials[0].damping_stiffness))
            tool_fail(SP_USAGE, s->mesh.path,
                      "its regions have different damping: name one with --damping-mass and --damping-stiffness");
    s->damping_mass = s->choice->damping_mass_given ? s->choice->damping_mass : mesh->materials[0].damping_mass;
    s->damping_stiffness =
        s->choice->damping_stiffness_given ? s->choice->damping_stiffness : mesh->materials[0].damping_stiffness;
}

/* ---- the model ---- */

sp_model_description simulation_description(const simulation *s)
{
    const simulate_choice *c = s->choice;
    sp_model_description d = {.kind = (enum sp_model_kind)c->model,
                              .space = s->body,
                              .r = s->r,
                              .rows = s->basis.columns.rows,
                              .U = s->basis.columns.U,
                              .basis_lumped = s->basis.columns.lumped,
                              .eigenvalue = s->basis.columns.eigenvalue,
                              .polynomials = &s->polynomials,
                              .cubature = &s->cubature,
                              .jacobian = (enum sp_jacobian)c->jacobian,
                              /* nothing after the single iteration of a semi-implicit step makes up for an inexact
                                 solution */
                              .jacobian_tolerance = c->semi_implicit ? 1e-6 : 0,
                              .lumped = c->lumped,
                              .load_count = s->load_count,
                              .loads = s->loads,
                              .viscosity = s->viscosity,
                              .decay = s->decay.count > 0 ? &s->decay : NULL};

    if (!s->frame && !s->skin) /* which turn gravity */
        memcpy(d.gravity, c->gravity, sizeof d.gravity);
    return d;
}

/* Ends the program where the model could not be made, with the file of the part that was refused. */
static void check_part(const simulation *s, int status)
{
    const simulate_choice *c = s->choice;
    const char *const file[SP_PART_COUNT] = {
        [SP_PART_MESH] = s->mesh.path,    [SP_PART_BASIS] = c->basis,     [SP_PART_POLYNOMIALS] = c->polynomials,
        [SP_PART_CUBATURE] = c->cubature, [SP_PART_GROUNDS] = "--ground", [SP_PART_DYNAMIC] = "--dynamic",
        [SP_PART_LOADS] = c->loads,       [SP_PART_GRAVITY] = c->basis,   [SP_PART_ACTIVATION] = c->activation};

    if (status == SP_USAGE && s->model.part == SP_PART_GRAVITY) {
        tool_hint("a body of a scene with \"motion\": \"free\" has a frame that falls, and bounces with a point shell "
                  "(simscene)");
        tool_fail(status, c->basis, "--gravity: %s", s->context->message);
    }
    tool_check(status, file[s->model.part]);
}

void simulation_make(simulation *s)
{
    sp_model_description description = simulation_description(s);

    if (s->cubature.stiffness &&
        tool_material_edits_given(&s->choice->edits)) /* that of the materials as they are now */
        tool_check(sp_reduced_stiffness(s->context, s->body, s->cubature.r, s->basis.columns.U, s->cubature.stiffness),
                   s->choice->cubature);

    if (s->vertices.choice)
        vertices_describe(s, &description);
    check_part(s, sp_model_new(s->context, &description, &s->model));
    sp_load_set_at_ends(&s->model.loads, s->choice->integrator == SP_STATIC);

    if (s->model.loads.idle && !s->shared && !s->before)
        tool_warn(s->choice->loads,
                  "%lld loads move nothing (load %lld first): fixed or unused vertices, or regions without elements",
                  (long long)s->model.loads.idle, (long long)s->model.loads.first_idle);

    if (s->model.drift_missed > 1e-3 && !s->before)
        tool_warn(s->choice->basis,
                  "nothing fixes the mesh, and the loads accelerate it as a whole: the basis misses %.3g %% of that "
                  "motion (a "
                  "body of a scene with \"motion\": \"free\" follows its loads: simscene)",
                  100 * s->model.drift_missed);

    find_damping(s);
    if (s->vertices.choice)
        vertices_begin(s);
}

sp_run_body simulation_body(const simulation *s, sp_integrator *integrator)
{
    sp_run_body body = {.context = s->context,
                        .mesh = &s->mesh.mesh,
                        .space = s->body,
                        .model = &s->model,
                        .load_count = s->load_count,
                        .loads = s->loads,
                        .damping_mass = s->damping_mass,
                        .damping_stiffness = s->damping_stiffness,
                        .viscosity = s->viscosity,
                        .statics = s->choice->integrator == SP_STATIC,
                        .step = s->choice->step,
                        .integrator = integrator};
    memcpy(body.gravity, s->choice->gravity, sizeof body.gravity);
    return body;
}

sp_integrator_parameters simulation_parameters(const simulation *s)
{
    return simulate_integration(s->choice, s->damping_mass, s->damping_stiffness, s->vertices.skeleton);
}

/* Returns true if damping forces act on fixed vertices with prescribed motion. */
static bool dragged(const simulation *s)
{
    const simulate_vertices_choice *c = s->vertices.choice;
    return (s->damping_stiffness > 0 || s->viscosity) && c &&
           (c->prescribe.count || c->prescribe_vertices || c->skeleton);
}

sp_energy_rules simulation_energy_rules(const simulation *s)
{
    const simulate_choice *c = s->choice;
    const sp_mesh *mesh = &s->mesh.mesh;
    const bool nonconservative = s->model.system.nonconservative;
    return (sp_energy_rules){
        .rounding = sp_energy_rounding(mesh, c->step * (double)c->steps),
        .unknown = c->integrator == SP_STATIC || (nonconservative && c->activation),
        .dragged = dragged(s),
        .stores_less = (c->activation || sp_energy_has_tension(mesh)) && !nonconservative,
        .semi_implicit = c->semi_implicit,
    };
}

void simulation_check_step(const simulation *s, int status)
{
    const bool in_basis = simulate_in_basis(s->choice);
    if (status == SP_NUMERICAL && s->choice->integrator == SP_STATIC && !in_basis && !s->model.system.vertices.begin)
        tool_check(
            sp_floating_refuse_statics(s->context, s->body, s->model.loads.spring_count, s->model.loads.spring_loads),
            s->mesh.path);
    if (in_basis)
        tool_check(status, s->mesh.path);
    tool_check_solve(status, s->mesh.path, s->body, NULL);
}

void simulation_end(simulation *s)
{
    sp_model_free(&s->model);
    if (!s->shared)
        sp_fe_space_free(&s->own_body);
}

void simulation_free(simulation *s)
{
    simulation_end(s);
    vertices_free(s);
    sp_cubature_free(&s->cubature);
    sp_pool_free(&s->pool);
    if (s->shared)
        return;
    sp_columns_free(&s->basis.columns);
    sp_polynomials_free(&s->polynomials);
    sp_mesh_free(&s->mesh.mesh);
}
