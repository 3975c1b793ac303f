#include "formats/cubature.h"
#include "formats/loads.h"
#include "formats/polynomials.h"
#include "model/floating.h"
#include "model/models.h"
#include "reduced/edit.h"
#include "reduced/galerkin.h"
#include "reduced/linear.h"
#include "reduced/mass.h"
#include "tools/common/solve.h"
#include "tools/simulate/simulation.h"

#include <math.h>

static void read_basis(simulation *s)
{
    static const char *const any[] = {"basis", "modes", "shapes", NULL}, *const modes[] = {"modes", NULL};
    const char *const *kinds = s->choice->model == MODEL_MODAL ? modes : any;
    if (!s->choice->basis)
        tool_fail(SP_USAGE, NULL,
                  s->choice->model == MODEL_MODAL ? "a modal model needs the modes as --basis"
                                                  : "a model in a basis needs --basis");
    if (!s->shared) {
        tool_read_columns(s->choice->basis, "basis", kinds, &s->mesh, &s->basis);
        tool_hold_rows(&s->mesh.mesh, &s->basis);
    }
    if (s->choice->model == MODEL_MODAL && !s->basis.columns.eigenvalue)
        tool_fail(SP_INPUT, s->choice->basis, "it is not a file of modes: a modal model needs their eigenvalues");
    s->r = s->choice->r ? s->choice->r : s->basis.columns.count;
    if (s->choice->r > s->basis.columns.count)
        tool_fail(SP_USAGE, s->choice->basis, "--rank %lld: the basis has %lld columns", (long long)s->choice->r,
                  (long long)s->basis.columns.count);
}

static void read_polynomial_file(simulation *s)
{
    static const char *const kinds[] = {"polynomials", NULL};
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_file file;
    tool_read(s->choice->polynomials, "poly", kinds, false, &file);
    tool_check(sp_polynomials_read(s->context, &file, &s->polynomials, mesh, basis), s->choice->polynomials);
    sp_file_free(&file);
    tool_check_hash(s->choice->polynomials, "mesh", mesh, s->mesh.hash);
    tool_check_hash(s->choice->polynomials, "basis", basis, s->basis.hash);
    tool_check_lumping(s->choice->polynomials, s->polynomials.lumped, s->basis.columns.lumped, s->choice->basis);
}

static void read_polynomials(simulation *s)
{
    if (!s->choice->polynomials)
        tool_fail(SP_USAGE, NULL, "a reduced model needs --poly (or --model cubature or galerkin)");
    if (!s->shared)
        read_polynomial_file(s);
    s->r = s->choice->r ? s->choice->r : s->polynomials.r;
    if (s->r > s->polynomials.r)
        tool_fail(SP_USAGE, s->choice->polynomials, "--rank %lld: the polynomials have %lld coordinates",
                  (long long)s->r, (long long)s->polynomials.r);
    if (s->r > s->basis.columns.count)
        tool_fail(SP_INPUT, s->choice->basis, "it has %lld columns, the polynomials %lld coordinates",
                  (long long)s->basis.columns.count, (long long)s->r);
}

static void read_cubature(simulation *s)
{
    static const char *const kinds[] = {"cubature", NULL};
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_file file;
    if (!s->choice->cubature)
        tool_fail(SP_USAGE, NULL, "--model cubature needs --cub");
    tool_read(s->choice->cubature, "cub", kinds, false, &file);
    tool_check(sp_cubature_read(s->context, &file, sp_mesh_element_count(&s->mesh.mesh), &s->cubature, mesh, basis),
               s->choice->cubature);
    sp_file_free(&file);
    tool_check_hash(s->choice->cubature, "mesh", mesh, s->mesh.hash);
    tool_check_hash(s->choice->cubature, "basis", basis, s->basis.hash);
    tool_check_lumping(s->choice->cubature, s->cubature.lumped, s->basis.columns.lumped, s->choice->basis);
    s->r = s->choice->r ? s->choice->r : s->cubature.r;
    if (s->r > s->cubature.r)
        tool_fail(SP_USAGE, s->choice->cubature, "--rank %lld: the cubature has %lld coordinates", (long long)s->r,
                  (long long)s->cubature.r);
    if (s->r > s->basis.columns.count)
        tool_fail(SP_INPUT, s->choice->basis, "it has %lld columns, the cubature %lld coordinates",
                  (long long)s->basis.columns.count, (long long)s->r);
}

/* --viscosity for every region, in the order of the options. */
static void read_viscosity(simulation *s)
{
    const tool_texts *texts = &s->choice->viscosity;
    const sp_mesh *mesh = &s->mesh.mesh;
    if (texts->count == 0)
        return;
    s->viscosity = sp_pool_new(&s->pool, mesh->material_count, sizeof *s->viscosity);
    if (!s->viscosity)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
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
    if (s->choice->integrator != SP_ENERGY || s->choice->model == MODEL_REDUCED || s->choice->model == MODEL_LINEAR ||
        s->choice->model == MODEL_MODAL)
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
    if (s->choice->polynomials || s->choice->model == MODEL_REDUCED)
        read_polynomials(s);
    if (s->choice->model == MODEL_CUBATURE)
        read_cubature(s);
    if (s->shared)
        return;
    edit_materials(s);
    read_viscosity(s);
    read_loads(s);
    const bool prescribed = s->choice->model == MODEL_NONLINEAR ||
                            s->choice->model == MODEL_LINEAR; /* all vertices may be moved: a test of the material */
    tool_check((prescribed && s->vertices.moves.rigid_count + s->vertices.moves.vertex_count > 0
                    ? sp_fe_space_new_prescribed
                    : sp_fe_space_new)(s->context, &s->mesh.mesh, &s->own_body),
               s->mesh.path);
    s->body = &s->own_body;
}

/* Damping by strain rate for the system that was made. */
static void make_viscosity(simulation *s)
{
    sp_reduced_viscosity reduced;
    const sp_mesh *mesh = &s->mesh.mesh;
    if (!s->viscosity)
        return;
    if (s->choice->model == MODEL_REDUCED) {
        tool_check(sp_polynomial_viscosity(s->context, &s->polynomials, s->r, mesh->material_count, mesh->materials,
                                           s->viscosity, &reduced),
                   s->choice->polynomials);
        sp_reduced_system_damp(&s->system, &reduced);
        return;
    }
    tool_check(sp_viscous_new(s->context, s->body, s->viscosity, &s->viscous), s->mesh.path);
    if (simulate_in_basis(s->choice)) {
        tool_check(sp_fe_space_pattern(s->context, s->body), s->mesh.path); /* cubature has not made it */
        tool_check(sp_galerkin_viscosity(s->context, &s->viscous, s->r, s->basis.columns.U, &reduced), s->mesh.path);
        sp_reduced_system_damp(&s->system, &reduced);
    } else
        tool_check(sp_full_system_damp(&s->system, &s->viscous), s->mesh.path);
}

/* Forces of the body's elements, all of them or those of the cubature, projected at every evaluation. The mass is the
 * body's, whose density may have been edited. */
static void make_projected(simulation *s)
{
    sp_reduced_force force;
    double *mass = sp_pool_raw(&s->pool, s->r * s->r, sizeof *mass);
    if (!mass)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    tool_check(sp_reduced_mass(s->context, s->body, s->basis.columns.lumped, s->r, s->basis.columns.U, mass, NULL),
               s->choice->basis);
    if (s->cubature.stiffness &&
        tool_material_edits_given(&s->choice->edits)) /* that of the materials as they are now */
        tool_check(sp_reduced_stiffness(s->context, s->body, s->cubature.r, s->basis.columns.U, s->cubature.stiffness),
                   s->choice->cubature);
    if (s->choice->model == MODEL_CUBATURE)
        tool_check(sp_cubature_force_new(s->context, s->body, &s->cubature, s->r, s->basis.columns.U, &force),
                   s->choice->cubature);
    else
        tool_check(sp_galerkin_force_new(s->context, s->body, s->r, s->basis.columns.U, &force), s->mesh.path);
    tool_check(sp_reduced_system_new(s->context, &force, mass, s->basis.columns.U, s->basis.columns.rows,
                                     s->mesh.mesh.vertices, &s->system),
               s->choice->basis);
    /* the single iteration of a semi-implicit step has nothing behind it that would make up for an inexact solution */
    if (s->choice->model == MODEL_CUBATURE)
        tool_check(sp_reduced_system_jacobian(&s->system, (enum sp_jacobian)s->choice->jacobian,
                                              s->choice->semi_implicit ? 1e-6 : 0),
                   NULL);
    if (s->system.nonconservative)
        tool_check(sp_reduced_system_growth(&s->system, &s->growth), s->choice->cubature);
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

/* Whether the body can move along a direction as a whole: no held component resists. */
static bool falls(const sp_mesh *mesh, const double direction[3])
{
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        for (int c = 0; c < 3; c++)
            if (mesh->fixed_axes[i] >> c & 1 && direction[c] != 0)
                return false;
    return true;
}

/* A body that nothing holds falls, which its basis may not have: then gravity would do little or nothing. How far the
 * columns' best acceleration is from gravity, by mass, relative. */
static double gravity_missed(simulation *s, const double gravity[3])
{
    const sp_mesh *mesh = &s->mesh.mesh;
    const double *U = s->basis.columns.U;
    const int64_t rows = 3 * mesh->vertex_count;
    double *a = sp_pool_new(&s->pool, s->r, sizeof *a), *mass = sp_pool_new(&s->pool, mesh->vertex_count, sizeof *mass),
           *u = sp_pool_new(&s->pool, rows, sizeof *u), missed = 0, all = 0;
    if (s->pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    tool_check(s->system.mass_solve(s->system.self, s->loading.gravity, a), s->choice->basis);
    sp_fe_space_vertex_mass(s->body, mass);
    for (int64_t j = 0; j < s->r; j++)
        for (int64_t i = 0; i < rows; i++)
            u[i] += a[j] * U[j * rows + i];
    for (int64_t i = 0; i < rows; i++) {
        missed += mass[i / 3] * (u[i] - gravity[i % 3]) * (u[i] - gravity[i % 3]);
        all += mass[i / 3] * gravity[i % 3] * gravity[i % 3];
    }
    sp_pool_drop(&s->pool, a);
    sp_pool_drop(&s->pool, mass);
    sp_pool_drop(&s->pool, u);
    return sqrt(missed / all);
}

static void check_gravity(simulation *s, const double gravity[3])
{
    const bool none = gravity[0] == 0 && gravity[1] == 0 && gravity[2] == 0;
    if (none || !simulate_in_basis(s->choice) || !falls(&s->mesh.mesh, gravity))
        return;
    const double missed = gravity_missed(s, gravity);
    if (missed <= 1e-3)
        return;
    tool_hint("a scene gives the body a frame that falls: simulate scene.json, as a body with \"motion\": \"free\"");
    tool_fail(
        SP_USAGE, s->choice->basis,
        "--gravity: nothing holds the mesh, and its basis misses %.3g %% of a fall: the body would not follow gravity",
        100 * missed);
}

void simulation_make(simulation *s)
{
    if (s->choice->model == MODEL_REDUCED)
        tool_check(sp_polynomial_system_new(s->context, &s->polynomials, s->r, s->basis.columns.U,
                                            s->basis.columns.rows, s->mesh.mesh.vertices, &s->system),
                   s->choice->polynomials);
    else if (s->choice->model == MODEL_MODAL)
        tool_check(sp_modal_system_new(s->context, s->r, s->basis.columns.eigenvalue, &s->system), s->choice->basis);
    else if (simulate_in_basis(s->choice))
        make_projected(s);
    else
        vertices_make(s);
    make_viscosity(s);
    double gravity[3];
    for (int i = 0; i < 3; i++)
        gravity[i] = s->choice->gravity[i] * (s->choice->model == MODEL_REDUCED ? s->polynomials.density : 1);
    tool_check(sp_load_set_new(s->context, s->body, simulate_in_basis(s->choice) ? s->basis.columns.U : NULL, s->r,
                               s->load_count, s->loads, gravity, &s->system, &s->loading),
               s->choice->loads);
    if (s->loading.idle && !s->shared && !s->before)
        tool_warn(s->choice->loads,
                  "%lld loads move nothing (load %lld first): held or unused vertices, or regions without elements",
                  (long long)s->loading.idle, (long long)s->loading.first_idle);
    check_gravity(s, gravity);
    find_damping(s);
    if (s->vertices.choice)
        vertices_load(s, gravity);
}

sp_integrator_parameters simulation_parameters(const simulation *s)
{
    return simulate_integration(s->choice, s->damping_mass, s->damping_stiffness, s->vertices.skeleton);
}

void simulation_check_step(const simulation *s, int status)
{
    const bool in_basis = simulate_in_basis(s->choice);
    if (status == SP_NUMERICAL && s->choice->integrator == SP_STATIC && !in_basis && !s->system.begin)
        tool_check(sp_floating_refuse_statics(s->context, s->body, s->loading.spring_count, s->loading.spring_loads),
                   s->mesh.path);
    if (in_basis)
        tool_check(status, s->mesh.path);
    tool_check_solve(status, s->mesh.path, s->body, NULL);
}

void simulation_end(simulation *s)
{
    const int model = s->choice->model;
    sp_load_set_free(&s->loading);
    if (s->system.self)
        (model == MODEL_MODAL           ? sp_modal_system_free
         : simulate_in_basis(s->choice) ? sp_reduced_system_free
         : model == MODEL_WARP          ? sp_warp_system_free
         : model == MODEL_CONJAC        ? sp_conjac_system_free
                                        : sp_full_system_free)(&s->system);
    sp_viscous_free(&s->viscous);
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
