#include "tools/simulate/reactions.h"

#include "assembly/elastic.h"
#include "assembly/viscous.h"
#include "base/vec3.h"
#include "linear/cholesky.h"
#include "tools/simulate/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fixed vertices whose forces are added up. */
typedef struct group {
    const char *name;
    int64_t count, *vertex;
} group;

struct simulate_reactions {
    tool_output *output; /* NULL: no file of its own */
    FILE *text;
    char *bytes;
    size_t length;
    int64_t group_count;
    group *groups;
    double *u, *v, *a, *force, *part, *load_force; /* [3·vertices]; load_force [3·vertices, loads], columns */
    double *sums;                                  /* [groups, 6] of the last frame */
    sp_viscous viscous;                            /* with --viscosity */
    double *answer;             /* [dof_count, groups, 6] see correct; NULL: the model has all degrees of freedom */
    double largest, unbalanced; /* N: the largest sum of the reactions of all fixed vertices, and the largest sum of the
                                   unbalanced forces on free components */
};

#define ONLY "integrator=newmark,central,static"
const tool_option simulate_reaction_options[SIMULATE_REACTION_COUNT] = {
    {"reactions", 0, TOOL_WRITTEN, .at = offsetof(simulate_choice, reactions), .argument = "CSV", .silent = true,
     .only = ONLY " !checkpoint",
     .help = "write the forces and moments that hold the fixed vertices, all and those of named sets, in each recorded "
             "frame"},
    {"record-reactions", 0, TOOL_FLAG, .at = offsetof(simulate_choice, record_reactions), .only = ONLY,
     .help = "record these forces and moments in the trajectory (simexport writes them as CSV)"},
};
#undef ONLY

/* ---- what is written ---- */

/* A name with commas or quotes is quoted. */
static void write_name(FILE *to, const char *name, const char *component)
{
    const bool plain = !strpbrk(name, ",\"");
    fputs(plain ? "," : ",\"", to);
    for (; *name; name++)
        fprintf(to, *name == '"' ? "\"\"" : "%c", *name);
    fprintf(to, "/%s%s", component, plain ? "" : "\"");
}

/* The fixed ones of these vertices, from the pool; no group without one. */
static void add_group(simulation *s, const char *name, int64_t count, const int64_t *vertex)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    struct simulate_reactions *r = s->reactions;
    group *to = &r->groups[r->group_count];
    *to = (group){.name = name, .vertex = tool_allocate(&s->pool, count, sizeof *to->vertex)};

    for (int64_t i = 0, k = 0; i < count; i++) {
        while (k < mesh->fixed_count && mesh->fixed[k] < vertex[i])
            k++;
        if (k < mesh->fixed_count && mesh->fixed[k] == vertex[i])
            to->vertex[to->count++] = vertex[i];
    }

    r->group_count += to->count > 0;
}

static void find_groups(simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    s->reactions->groups = tool_allocate(&s->pool, mesh->set_count + 1, sizeof(group));

    if (mesh->fixed_count == 0)
        tool_fail(SP_INPUT, s->mesh.path, "--%s: no vertex is fixed",
                  s->choice->reactions ? "reactions" : "record-reactions");

    add_group(s, "fixed", mesh->fixed_count, mesh->fixed);
    for (int64_t i = 0; i < mesh->set_count; i++) {
        int64_t count, *vertex;
        if (mesh->sets[i].kind == SP_SET_ELEMENTS)
            continue;
        tool_check(sp_mesh_set_vertices(s->context, mesh, &mesh->sets[i], &s->pool, &count, &vertex), NULL);
        add_group(s, mesh->sets[i].name, count, vertex);
    }
}

/* The file of --reactions with its first line. */
static void open_file(simulation *s)
{
    static const char *const component[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    struct simulate_reactions *r = s->reactions;

    r->output = tool_output_open(s->choice->reactions);
    r->text = open_memstream(&r->bytes, &r->length);
    if (!r->text)
        tool_out_of_memory();

    fprintf(r->text, "time");
    for (int64_t g = 0; g < r->group_count; g++)
        for (int c = 0; c < 6; c++)
            write_name(r->text, r->groups[g].name, component[c]);
    fprintf(r->text, "\n");
}

/* The motion of the fixed components of a group of vertices as a rigid body: component k of translation and rotation
 * about the origin. field [3·vertices], 0 elsewhere. */
static void support_motion(const simulation *s, const group *fixed, int k, double *field)
{
    memset(field, 0, (size_t)(3 * s->mesh.mesh.vertex_count) * sizeof *field);
    for (int64_t i = 0; i < fixed->count; i++) {
        const int64_t v = fixed->vertex[i];
        const double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        double turned[3];
        sp_cross3(axis, s->mesh.mesh.vertices + 3 * v, turned);
        for (int c = 0; c < 3; c++)
            if (s->body->dof[3 * v + c] < 0)
                field[3 * v + c] = k < 3 ? axis[c] : turned[c];
    }
}

/* r->answer: the static displacements −K⁻¹ K_fc e of the free components for unit motions e of the groups, by linear
 * elasticity at rest. */
static void find_answers(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    const int64_t n = s->body->dof_count, count = 6 * r->group_count;
    double *rest = r->v; /* zero before the first frame */
    sp_sparse K;
    sp_cholesky *factor;
    sp_pool scratch = {0};
    int64_t *node = tool_allocate_raw(&scratch, n, sizeof *node);
    r->answer = tool_allocate_raw(&s->pool, n * count, sizeof *r->answer);

    /* K at rest, factored */
    tool_check(sp_elastic_stiffness(s->context, s->body, &K), s->mesh.path);
    sp_fe_space_nodes(s->body, node);
    tool_check(sp_cholesky_new(s->context, &K, node, &factor), s->mesh.path);
    if (sp_cholesky_factor(factor, &K) != SP_OK)
        tool_fail(SP_INPUT, s->mesh.path,
                  "reactions of a reduced-order model need fixed vertices that leave no rigid motion free");

    /* The right sides −K_fc e */
    for (int64_t k = 0; k < count; k++) {
        support_motion(s, &r->groups[k / 6], (int)(k % 6), r->u);
        sp_elastic_tangent_times(s->context, s->body, rest, r->u, r->part);
        sp_fe_space_gather(s->body, r->part, r->answer + k * n);
        for (int64_t i = 0; i < n; i++)
            r->answer[k * n + i] = -r->answer[k * n + i];
    }

    tool_check(sp_cholesky_solve(factor, count, r->answer, r->answer), s->mesh.path);
    sp_cholesky_free(factor);
    sp_sparse_free(&K);
    sp_pool_free(&scratch);
}

/* The groups as they are recorded. */
static void add_to_record(simulation *s)
{
    const struct simulate_reactions *r = s->reactions;
    const char **name = tool_allocate(&s->pool, r->group_count, sizeof *name);
    for (int64_t g = 0; g < r->group_count; g++)
        name[g] = r->groups[g].name;
    s->shape.reaction_count = r->group_count;
    s->shape.reaction_name = name;
}

void reactions_begin(simulation *s)
{
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    if (!s->choice->reactions && !s->choice->record_reactions)
        return;

    if (s->basis.columns.about[0])
        tool_fail(SP_INPUT, s->choice->basis,
                  "its modes are about a static equilibrium, whose reactions are not known");

    struct simulate_reactions *r = s->reactions = tool_allocate(&s->pool, 1, sizeof *r);
    find_groups(s);

    double **vectors[] = {&r->u, &r->v, &r->a, &r->force, &r->part};
    for (int i = 0; i < TOOL_COUNT(vectors); i++)
        *vectors[i] = tool_allocate(&s->pool, rows, sizeof(double));
    r->sums = tool_allocate(&s->pool, r->group_count, 6 * sizeof *r->sums);

    r->load_force = tool_allocate(&s->pool, rows * s->load_count, sizeof *r->load_force);
    for (int64_t l = 0; l < s->load_count; l++)
        tool_check(sp_load_distribute(s->context, s->body, &s->loads[l], r->load_force + l * rows), NULL);

    if (s->viscosity)
        tool_check(sp_viscous_new(s->context, s->body, s->viscosity, &r->viscous), s->mesh.path);

    if (simulate_in_basis(s->choice))
        find_answers(s);

    if (s->choice->record_reactions)
        add_to_record(s);
    if (s->choice->reactions)
        open_file(s);
}

/* ---- forces ---- */

static void add(const simulation *s, double factor, const double *part)
{
    for (int64_t i = 0; i < 3 * s->mesh.mesh.vertex_count; i++)
        s->reactions->force[i] += factor * part[i];
}

/* Subtracts the loads on the vertices: forces, springs and gravity. */
static void subtract_loads(simulation *s, double time)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    struct simulate_reactions *r = s->reactions;

    for (int64_t l = 0; l < s->load_count; l++) {
        const sp_load *load = &s->loads[l];
        const double part = simulation_load_share(s, load, time);
        if (load->kind != SP_LOAD_SPRING) {
            add(s, -part, r->load_force + l * 3 * mesh->vertex_count);
            continue;
        }

        /* A spring pulls towards its anchor, which may move; a step of statics has the anchor of its middle. */
        if (!(part > 0))
            continue;
        for (int c = 0; c < 3; c++) {
            const double when = s->choice->integrator == SP_STATIC ? time - 0.5 * s->choice->step : time,
                         moved = load->moving ? (when - load->start) / (load->end - load->start) : 0,
                         anchor = load->force[c] + (load->moving ? moved * (load->anchor_end[c] - load->force[c]) : 0);
            const int64_t i = 3 * load->id + c;
            r->force[i] -= load->stiffness * (anchor - mesh->vertices[i] - r->u[i]);
        }
    }
}

/* to [3·vertices] = M from, with the mass of the model. */
static void mass_times(const simulation *s, const double *from, double *to)
{
    const int64_t vertices = s->mesh.mesh.vertex_count;
    memset(to, 0, (size_t)(3 * vertices) * sizeof *to);

    if (!s->model.system.lumped) {
        sp_fe_space_mass_times(s->context, s->body, 3, from, to);
        return;
    }

    sp_pool scratch = {0};
    double *mass = tool_allocate_raw(&scratch, vertices, sizeof *mass);
    sp_fe_space_vertex_mass(s->body, true, mass);
    for (int64_t i = 0; i < 3 * vertices; i++)
        to[i] = mass[i / 3] * from[i];
    sp_pool_free(&scratch);
}

/* Adds M (a + α v − g). There is no gravity yet at the start of statics. */
static void add_inertia(simulation *s, double time)
{
    struct simulate_reactions *r = s->reactions;
    const double gravity = s->choice->integrator == SP_STATIC && time == 0 ? 0 : 1;
    for (int64_t i = 0; i < 3 * s->mesh.mesh.vertex_count; i++)
        r->a[i] += s->damping_mass * r->v[i] - gravity * s->choice->gravity[i % 3];
    mass_times(s, r->a, r->part);
    add(s, 1, r->part);
}

/* Elastic force, and damping by stiffness and viscosity. A linear model has all of them at rest. */
static void add_internal(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    const bool linear = s->choice->model == SP_MODEL_LINEAR || s->choice->model == SP_MODEL_MODAL;
    double *rest = NULL;
    sp_pool scratch = {0};

    if (linear)
        rest = tool_allocate(&scratch, 3 * s->mesh.mesh.vertex_count, sizeof *rest);

    const double *about = linear ? rest : r->u;
    if (linear)
        sp_elastic_tangent_times(s->context, s->body, rest, r->u, r->part);
    else
        sp_elastic_force(s->context, s->body, r->u, r->part);
    add(s, 1, r->part);

    if (s->damping_stiffness > 0) {
        sp_elastic_tangent_times(s->context, s->body, about, r->v, r->part);
        add(s, s->damping_stiffness, r->part);
    }
    if (s->viscosity) {
        sp_viscous_times(s->context, &r->viscous, about, r->v, r->part);
        add(s, 1, r->part);
    }
    sp_pool_free(&scratch);
}

/* The force and the moment about the origin that hold each group. */
static void sum_groups(const simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    const struct simulate_reactions *r = s->reactions;

    memset(r->sums, 0, (size_t)r->group_count * 6 * sizeof *r->sums);

    for (int64_t g = 0; g < r->group_count; g++)
        for (int64_t i = 0; i < r->groups[g].count; i++) {
            const int64_t v = r->groups[g].vertex[i];
            double place[3], force[3], moment[3];
            for (int c = 0; c < 3; c++) {
                place[c] = mesh->vertices[3 * v + c] + r->u[3 * v + c];
                force[c] = s->body->dof[3 * v + c] < 0 ? r->force[3 * v + c] : 0;
            }
            sp_cross3(place, force, moment);
            for (int c = 0; c < 3; c++) {
                r->sums[6 * g + c] += force[c];
                r->sums[6 * g + 3 + c] += moment[c];
            }
        }
}

/* Leaves of r->force on the free components what no acceleration along the basis balances: r − M U (UᵀMU)⁻¹ Uᵀ r. The
 * rest is of the time integration, which balances means of loads over steps. */
static void leave_unbalanced(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    const int64_t coordinates = s->model.r;
    sp_pool scratch = {0};
    double *along = tool_allocate_raw(&scratch, 2 * coordinates, sizeof *along), *a = along + coordinates;

    /* along = Uᵀ r, where r is the force on free components */
    for (int64_t j = 0; j < coordinates; j++) {
        along[j] = 0;
        for (int64_t i = 0; i < s->body->dof_count; i++)
            along[j] += s->model.U[j * s->model.rows + s->body->free[i]] * r->force[s->body->free[i]];
    }

    /* r −= M U a of a = (UᵀMU)⁻¹ along */
    tool_check(s->model.system.mass_solve(s->model.system.self, along, a), s->mesh.path);
    sp_model_at_vertices(&s->model, a, NULL, s->mesh.mesh.vertex_count, NULL, r->a);
    mass_times(s, r->a, r->part);
    add(s, -1, r->part);
    sp_pool_free(&scratch);
}

/* Adds the linear static reactions to the forces that the basis leaves out of balance (the mode acceleration method).
 * By reciprocity they are the work of those forces along r->answer. The reactions of all fixed vertices are then in
 * balance with loads and inertia, since a translation of all of them translates the whole body. */
static void correct(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    const int64_t n = s->body->dof_count;
    if (!r->answer)
        return;
    leave_unbalanced(s);
    for (int64_t k = 0; k < 6 * r->group_count; k++)
        for (int64_t i = 0; i < n; i++)
            r->sums[k] += r->answer[k * n + i] * r->force[s->body->free[i]];
}

/* Measures the forces that remain on the free components. They are rounding errors for a full-order model; a
 * reduced-order model is in balance only in the directions of its basis. */
static void measure_balance(const simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    double left[3] = {0};
    for (int64_t i = 0; i < s->body->dof_count; i++)
        left[s->body->free[i] % 3] += r->force[s->body->free[i]];
    r->unbalanced = fmax(r->unbalanced, sqrt(sp_dot3(left, left)));
    r->largest = fmax(r->largest, sqrt(sp_dot3(r->sums, r->sums)));
}

static void write_line(const struct simulate_reactions *r, double time)
{
    fprintf(r->text, "%.17g", time);
    for (int64_t i = 0; i < 6 * r->group_count; i++)
        fprintf(r->text, ",%.17g", r->sums[i]);
    fprintf(r->text, "\n");
}

const double *reactions_record(simulation *s, const sp_integrator *integrator)
{
    const int64_t vertices = s->mesh.mesh.vertex_count;
    const double time = sp_integrator_time(integrator), *a = sp_integrator_acceleration(integrator);
    struct simulate_reactions *r = s->reactions;
    if (!r)
        return NULL;

    memset(r->force, 0, (size_t)(3 * vertices) * sizeof *r->force);
    memset(r->a, 0, (size_t)(3 * vertices) * sizeof *r->a);

    sp_model_at_vertices(&s->model, sp_integrator_q(integrator), NULL, vertices, NULL, r->u);
    sp_model_at_vertices(&s->model, sp_integrator_v(integrator), NULL, vertices, NULL, r->v);
    if (a)
        sp_model_at_vertices(&s->model, a, NULL, vertices, NULL, r->a);

    add_inertia(s, time);
    add_internal(s);
    subtract_loads(s, time);
    sum_groups(s);
    correct(s);
    measure_balance(s);

    if (r->text)
        write_line(r, time);
    return r->sums;
}

void reactions_visit(simulation *s, sp_state *state)
{
    if (!s->reactions)
        return;
    SP_STATE_VALUE(state, s->reactions->largest);
    SP_STATE_VALUE(state, s->reactions->unbalanced);
}

void reactions_write(simulation *s, json_t *result)
{
    struct simulate_reactions *r = s->reactions;
    if (!r)
        return;

    if (simulate_in_basis(s->choice) && r->largest > 0) {
        const double part = r->unbalanced / r->largest;
        json_object_set_new(result, "reactions_unbalanced", tool_real("reactions_unbalanced", part));
        tool_say("reactions: forces of up to %.2g of the largest reaction are not balanced by the basis; their linear "
                 "static reactions are added",
                 part);
    }

    sp_viscous_free(&r->viscous);
    if (!r->text)
        return;

    if (fclose(r->text))
        tool_out_of_memory();
    tool_output_bytes(r->output, r->bytes, (int64_t)r->length);
    free(r->bytes);
}
