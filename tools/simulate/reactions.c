#include "tools/simulate/reactions.h"

#include "assembly/elastic.h"
#include "assembly/viscous.h"
#include "base/vec3.h"
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
    tool_output *output;
    FILE *text;
    char *bytes;
    size_t length;
    int64_t group_count;
    group *groups;
    double *u, *v, *a, *force, *part, *load_force; /* [3·vertices]; load_force [3·vertices, loads], columns */
};

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
        tool_fail(SP_INPUT, s->mesh.path, "--reactions: no vertex is fixed");
    add_group(s, "fixed", mesh->fixed_count, mesh->fixed);
    for (int64_t i = 0; i < mesh->set_count; i++) {
        int64_t count, *vertex;
        if (mesh->sets[i].kind == SP_SET_ELEMENTS)
            continue;
        tool_check(sp_mesh_set_vertices(s->context, mesh, &mesh->sets[i], &s->pool, &count, &vertex), NULL);
        add_group(s, mesh->sets[i].name, count, vertex);
    }
}

static void begin(simulation *s)
{
    static const char *const component[] = {"fx", "fy", "fz", "mx", "my", "mz"};
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    struct simulate_reactions *r = s->reactions = tool_allocate(&s->pool, 1, sizeof *r);
    find_groups(s);
    r->u = tool_allocate(&s->pool, rows, sizeof *r->u);
    r->v = tool_allocate(&s->pool, rows, sizeof *r->v);
    r->a = tool_allocate(&s->pool, rows, sizeof *r->a);
    r->force = tool_allocate(&s->pool, rows, sizeof *r->force);
    r->part = tool_allocate(&s->pool, rows, sizeof *r->part);
    r->load_force = tool_allocate(&s->pool, rows * s->load_count, sizeof *r->load_force);
    for (int64_t l = 0; l < s->load_count; l++)
        tool_check(sp_load_distribute(s->context, s->body, &s->loads[l], r->load_force + l * rows), NULL);
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
        for (int c = 0; c < 3 && part > 0; c++) {
            const double moved = load->moving ? (time - load->start) / (load->end - load->start) : 0,
                         anchor = load->force[c] + (load->moving ? moved * (load->anchor_end[c] - load->force[c]) : 0);
            const int64_t i = 3 * load->id + c;
            r->force[i] -= load->stiffness * (anchor - mesh->vertices[i] - r->u[i]);
        }
    }
}

/* Adds M (a + α v − g) with the mass of the model. There is no gravity yet at the start of statics. */
static void add_inertia(simulation *s, double time)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    struct simulate_reactions *r = s->reactions;
    const double gravity = s->choice->integrator == SP_STATIC && time == 0 ? 0 : 1;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        r->a[i] += s->damping_mass * r->v[i] - gravity * s->choice->gravity[i % 3];
        r->part[i] = 0;
    }
    if (!s->choice->lumped)
        sp_fe_space_mass_times(s->context, s->body, 3, r->a, r->part);
    else {
        sp_pool scratch = {0};
        double *mass = tool_allocate_raw(&scratch, mesh->vertex_count, sizeof *mass);
        sp_fe_space_vertex_mass(s->body, true, mass);
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
            r->part[i] = mass[i / 3] * r->a[i];
        sp_pool_free(&scratch);
    }
    add(s, 1, r->part);
}

/* Elastic force, and damping by stiffness and viscosity. A linear model has all of them at rest. */
static void add_internal(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    const bool linear = s->choice->model == SP_MODEL_LINEAR;
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
        sp_viscous_times(s->context, &s->model.viscous, about, r->v, r->part);
        add(s, 1, r->part);
    }
    sp_pool_free(&scratch);
}

static void write_groups(const simulation *s, double time)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    const struct simulate_reactions *r = s->reactions;
    fprintf(r->text, "%.17g", time);
    for (int64_t g = 0; g < r->group_count; g++) {
        double sum[3] = {0}, moment[3] = {0};
        for (int64_t i = 0; i < r->groups[g].count; i++) {
            const int64_t v = r->groups[g].vertex[i];
            double place[3], held[3], turned[3];
            for (int c = 0; c < 3; c++) {
                place[c] = mesh->vertices[3 * v + c] + r->u[3 * v + c];
                held[c] = s->body->dof[3 * v + c] < 0 ? r->force[3 * v + c] : 0;
                sum[c] += held[c];
            }
            sp_cross3(place, held, turned);
            for (int c = 0; c < 3; c++)
                moment[c] += turned[c];
        }
        fprintf(r->text, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", sum[0], sum[1], sum[2], moment[0], moment[1],
                moment[2]);
    }
    fprintf(r->text, "\n");
}

void reactions_record(simulation *s, const sp_integrator *integrator)
{
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    const double time = sp_integrator_time(integrator), *a = sp_integrator_acceleration(integrator);
    if (!s->choice->reactions)
        return;
    if (!s->reactions)
        begin(s);
    struct simulate_reactions *r = s->reactions;
    memset(r->force, 0, (size_t)rows * sizeof *r->force);
    memset(r->a, 0, (size_t)rows * sizeof *r->a);
    sp_model_at_vertices(&s->model, sp_integrator_q(integrator), NULL, s->mesh.mesh.vertex_count, NULL, r->u);
    sp_model_at_vertices(&s->model, sp_integrator_v(integrator), NULL, s->mesh.mesh.vertex_count, NULL, r->v);
    if (a)
        sp_model_at_vertices(&s->model, a, NULL, s->mesh.mesh.vertex_count, NULL, r->a);
    add_inertia(s, time);
    add_internal(s);
    subtract_loads(s, time);
    write_groups(s, time);
}

void reactions_write(simulation *s)
{
    struct simulate_reactions *r = s->reactions;
    if (!r)
        return;
    if (fclose(r->text))
        tool_out_of_memory();
    tool_output_bytes(r->output, r->bytes, (int64_t)r->length);
    free(r->bytes);
}
