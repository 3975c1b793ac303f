#include "tools/simulate/vertices.h"

#include "base/vec3.h"
#include "formats/activation.h"
#include "formats/place.h"
#include "formats/prescribed.h"
#include "formats/skeleton.h"
#include "tools/common/anchors.h"
#include "tools/common/places.h"
#include "tools/common/rig.h"
#include "tools/common/series.h"
#include "tools/simulate/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vertices_check_options(const simulate_choice *choice, const simulate_vertices_choice *c)
{
    const bool conjac = choice->model == SP_MODEL_CONJAC, warp = choice->model == SP_MODEL_WARP;

    if (conjac && choice->integrator != SP_LINEAR_EULER)
        tool_fail(SP_USAGE, NULL, "--model conjac needs --integrator linear-euler");
    if (conjac && !c->dynamic)
        tool_fail(SP_USAGE, NULL, "--model conjac needs --dynamic");

    if (warp && c->solver_given && c->solver == SP_SOLVER_DIRECT)
        tool_fail(SP_USAGE, NULL, "--solver direct: a warp model is solved by iterations: jacobi, reused or gradients");
    if (!warp && c->solver == VERTICES_GRADIENTS)
        tool_fail(SP_USAGE, NULL,
                  "--solver gradients applies to --model warp; the matrices of other models are symmetric, and jacobi "
                  "is conjugate gradients");

    if (!warp && (conjac || c->solver == SP_SOLVER_DIRECT))
        tool_option_idle("solver-tolerance", "where no system is solved by iterations");
    if (!c->dynamic || strncmp(c->dynamic, "random:", 7))
        tool_option_idle("seed", "where no vertices are chosen at random");
}

bool vertices_parse_numbers(const char *text, int count, double *numbers)
{
    const char *at = text;
    if (!tool_parse_numbers(&at, count, numbers) || *at || at[-1] == ',')
        return false;
    for (int i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

/* ---- fixed vertices ---- */

/* The vertices that a --prescribe names. */
static void find_prescribed(simulation *s, const char *name, sp_prescribed_rigid *move)
{
    const sp_mesh *mesh = &s->mesh.mesh;

    bool *wanted = tool_allocate(&s->pool, mesh->vertex_count, sizeof *wanted);
    int64_t *vertex = tool_allocate(&s->pool, mesh->vertex_count, sizeof *vertex);
    if (!strcmp(name, "fixed"))
        for (int64_t i = 0; i < mesh->fixed_count; i++)
            wanted[mesh->fixed[i]] = true;
    else {
        char known[SP_MATERIAL_LIST];
        const int64_t region = sp_mesh_region_find(mesh, name);
        if (region < 0)
            tool_fail(SP_USAGE, NULL,
                      "--prescribe: the mesh has no region \"%s\", only %s; \"fixed\" names its fixed vertices", name,
                      sp_material_list(mesh->material_count, mesh->materials, known));
        for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
            if (mesh->region[e] != region)
                continue;
            int nodes;
            const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
            for (int a = 0; a < nodes; a++)
                wanted[node[a]] = true;
        }
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (wanted[v])
            vertex[move->count++] = v;
    if (!move->count)
        tool_fail(SP_USAGE, NULL, "--prescribe: \"%s\" has no vertex", name);

    sp_pool_drop(&s->pool, wanted);
    move->vertex = vertex;
}

/* No vertex may follow two motions: the first one that does already, −1 where none does. */
static int64_t claim(simulation *s, int64_t group, int64_t count, const int64_t *vertex)
{
    for (int64_t i = 0; i < count; i++) {
        if (s->vertices.group[vertex[i]] != VERTEX_STILL)
            return vertex[i];
        s->vertices.group[vertex[i]] = group;
    }
    return -1;
}

static void claim_of_file(simulation *s, const char *path, int64_t group, int64_t count, const int64_t *vertex)
{
    const int64_t twice = claim(s, group, count, vertex);
    if (twice >= 0)
        tool_fail(SP_INPUT, path, "vertex %lld is moved by something else already", (long long)twice);
}

static sp_pose along_path(const void *data, double time, double velocity[6])
{
    return sp_path_at(data, time, velocity);
}

static void read_skeleton(simulation *s)
{
    sp_skeleton_file *file = &s->vertices.bones;
    const char *path = s->vertices.choice->skeleton, *text;
    int64_t length;

    tool_read_skeleton(s->context, path, "skeleton", &s->mesh.mesh, file);
    for (int64_t b = 0; b < file->bone_count; b++)
        if (file->bones[b].kind == SP_JOINT_PATH) {
            tool_hint(
                "simulate --skin moves a reduced-order body on such bones, and --prescribe vertices along a path");
            tool_fail(SP_INPUT, path, "bones[%lld].joint: bone %s follows a path, and simfull moves bones by forces",
                      (long long)b, file->names[b]);
        }

    /* The record of inputs says that the skeleton names these files. */
    tool_named_in(path);
    for (int64_t i = 0; i < file->spring_count; i++) {
        sp_path anchor;
        if (!file->paths[i])
            continue;
        text = tool_read_bytes(file->paths[i], "path", &s->pool, &length);
        tool_check(sp_path_parse(s->context, text, length, &anchor), file->paths[i]);
        tool_check(sp_skeleton_file_set_path(s->context, file, i, &anchor), path);
        sp_path_free(&anchor);
    }
    tool_named_in(NULL);

    for (int64_t b = 0; b < file->bone_count; b++)
        claim_of_file(s, path, s->vertices.moves.rigid_count + b, file->bones[b].vertex_count, file->bones[b].vertex);
}

static void read_paths(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    const simulate_vertices_choice *c = v->choice;
    v->paths = tool_allocate(&s->pool, c->prescribe.count, sizeof *v->paths);
    for (int64_t i = 0; i < c->prescribe.count; i++) {
        int64_t length;
        const char *path = c->prescribe.file[i], *text = tool_read_bytes(path, "prescribe", &s->pool, &length);
        tool_check(sp_path_parse(s->context, text, length, &v->paths[v->path_count++]), path);
    }
}

static void read_single(simulation *s)
{
    const char *path = s->vertices.choice->prescribe_vertices;
    int64_t length;
    if (!path)
        return;
    const char *text = tool_read_bytes(path, "prescribe-vertices", &s->pool, &length);
    tool_check(sp_prescribed_motion_parse(s->context, text, length, &s->mesh.mesh, &s->pool,
                                          &s->vertices.moves.vertex_count, &s->vertices.single),
               path);
}

/* The motions of single vertices of the previous simulation, and the same for copies of these vertices. */
static void copy_single(simulation *s)
{
    const simulate_vertices *before = &s->before->vertices;
    const int64_t old = s->before->mesh.mesh.vertex_count, all = s->mesh.mesh.vertex_count;
    simulate_vertices *v = &s->vertices;
    int64_t *which = tool_allocate(&s->pool, old, sizeof *which); /* from 1 */

    v->single = tool_allocate(&s->pool, before->moves.vertex_count + all - old, sizeof *v->single);

    for (int64_t i = 0; i < before->moves.vertex_count; i++) {
        v->single[v->moves.vertex_count++] = before->single[i];
        which[before->single[i].vertex] = i + 1;
    }

    for (int64_t copy = old; copy < all; copy++)
        if (which[s->origin[copy]]) {
            v->single[v->moves.vertex_count] = before->single[which[s->origin[copy]] - 1];
            v->single[v->moves.vertex_count++].vertex = copy;
        }

    sp_pool_drop(&s->pool, which);
}

/* Fixes the vertices that move with a region or a bone, and single ones, in all directions. Single ones that the mesh
 * fixes keep its directions, and so do those of "fixed". */
static void set_prescribed(simulation *s)
{
    sp_mesh *mesh = &s->mesh.mesh;
    bool *fixed = tool_allocate(&s->pool, mesh->vertex_count, sizeof *fixed);
    int64_t count = 0, *vertex = tool_allocate(&s->pool, mesh->vertex_count, sizeof *vertex);

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        fixed[mesh->fixed[i]] = true;

    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const int64_t group = s->vertices.group[i];
        const bool by_name = group >= 0 && group < s->vertices.choice->prescribe.count &&
                             !strcmp(s->vertices.choice->prescribe.key[group], "fixed");
        if (group >= 0 ? !by_name : group == VERTEX_ALONE && !fixed[i])
            vertex[count++] = i;
    }

    tool_check(sp_mesh_fix_list(s->context, mesh, count, vertex, 7), s->mesh.path);
    sp_pool_drop(&s->pool, fixed);
    sp_pool_drop(&s->pool, vertex);
}

void vertices_fix(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    const simulate_vertices_choice *c = v->choice;
    sp_prescribed_rigid *rigid = tool_allocate(&s->pool, c->prescribe.count, sizeof *rigid);
    v->group = tool_allocate(&s->pool, s->mesh.mesh.vertex_count, sizeof *v->group);

    for (int64_t i = 0; i < s->mesh.mesh.vertex_count; i++)
        v->group[i] = VERTEX_STILL;

    /* Vertices that move rigidly with a path */
    v->moves =
        (sp_prescribed_motion){.vertices = s->mesh.mesh.vertices, .rigid_count = c->prescribe.count, .rigid = rigid};
    for (int64_t i = 0; i < c->prescribe.count; i++) {
        find_prescribed(s, c->prescribe.key[i], &rigid[i]);
        const int64_t twice = claim(s, i, rigid[i].count, rigid[i].vertex);
        if (twice >= 0)
            tool_fail(SP_USAGE, NULL, "--prescribe: vertex %lld of \"%s\" is moved by something else already",
                      (long long)twice, c->prescribe.key[i]);
    }

    /* A path and single vertices go on after a cut. */
    if (s->before) {
        v->paths = s->before->vertices.paths;
        copy_single(s);
    } else {
        read_paths(s);
        read_single(s);
    }

    for (int64_t i = 0; i < c->prescribe.count; i++) {
        rigid[i].path = along_path;
        rigid[i].path_data = &v->paths[i];
    }

    for (int64_t i = 0; i < v->moves.vertex_count; i++)
        claim_of_file(s, c->prescribe_vertices, VERTEX_ALONE, 1, &v->single[i].vertex);
    v->moves.single = v->single;

    if (c->skeleton)
        read_skeleton(s);
    set_prescribed(s);
}

/* ---- the system ---- */

static void describe_grounds(simulation *s, sp_model_description *description)
{
    const simulate_vertices_choice *c = s->vertices.choice;
    sp_ground *grounds = tool_allocate(&s->pool, c->grounds.count, sizeof *grounds);
    /* At rest it only says where on the plane, which nothing else does. */
    const bool tangential = c->friction > 0 || s->choice->integrator == SP_STATIC;
    const double alpha = c->ground_alpha_given ? c->ground_alpha : tangential ? 0.1 : 0;

    if (!c->grounds.count)
        return;

    for (int64_t i = 0; i < c->grounds.count; i++) {
        double plane[4];
        if (!vertices_parse_numbers(c->grounds.value[i], 4, plane))
            tool_fail(SP_USAGE, NULL, "--ground: \"%s\" is not NX,NY,NZ,D", c->grounds.value[i]);
        grounds[i] = (sp_ground){{plane[0], plane[1], plane[2]}, plane[3], c->ground_stiffness, alpha, c->friction};
        const double length = sqrt(plane[0] * plane[0] + plane[1] * plane[1] + plane[2] * plane[2]);
        grounds[i].offset /= length > 0 ? length : 1; /* n.x < D with n as it was given */
    }

    description->ground_count = c->grounds.count;
    description->grounds = grounds;
}

static int64_t parse_count(const char *text, char **end)
{
    const long long count = strtoll(text, end, 10);
    return *end == text || count < 1 ? -1 : count;
}

/* The dynamic vertices of the previous simulation, and their copies. */
static void copy_dynamic(simulation *s)
{
    const simulate_vertices *before = &s->before->vertices;
    const int64_t old = s->before->mesh.mesh.vertex_count, all = s->mesh.mesh.vertex_count;
    simulate_vertices *v = &s->vertices;
    bool *dynamic = tool_allocate(&s->pool, all, sizeof *dynamic);

    v->dynamic = tool_allocate(&s->pool, before->dynamic_count + all - old, sizeof *v->dynamic);

    for (int64_t i = 0; i < before->dynamic_count; i++)
        dynamic[before->dynamic[i]] = true;

    for (int64_t i = 0; i < all; i++)
        if (dynamic[s->origin[i]])
            v->dynamic[v->dynamic_count++] = i;

    sp_pool_drop(&s->pool, dynamic);
}

/* The vertices that are nearest to points, among those that are not fixed. */
static void find_near(simulation *s, const char *text, const char *at, int64_t *vertex)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    sp_list points = {0};
    at = tool_place_points(at, &points);

    if (!at || *at)
        tool_fail(SP_USAGE, NULL, "--dynamic: \"%s\" is not near:X,Y,Z[;X,Y,Z]", text);
    if (points.count > mesh->vertex_count)
        tool_fail(SP_USAGE, NULL, "--dynamic: %lld places for %lld vertices", (long long)points.count,
                  (long long)mesh->vertex_count);

    for (int64_t i = 0; i < points.count; i++) {
        const double *point = (const double *)points.data + 3 * i;
        tool_check(sp_nearest_vertices(s->context, s->body, 1, point, &s->vertices.dynamic_count, vertex), "--dynamic");
        tool_place_say(point, false, *vertex, mesh, s->mesh.path,
                       sqrt(sp_distance_squared3(mesh->vertices + 3 * *vertex, point)));
    }

    tool_check(sp_nearest_vertices(s->context, s->body, points.count, points.data, &s->vertices.dynamic_count, vertex),
               "--dynamic");
    sp_list_free(&points);
}

/* --dynamic, on the mesh before any cut. */
static void choose_dynamic(simulation *s)
{
    const char *text = s->vertices.choice->dynamic;
    simulate_vertices *v = &s->vertices;
    int64_t *vertex = tool_allocate(&s->pool, s->mesh.mesh.vertex_count, sizeof *vertex);
    char *end;

    v->dynamic = vertex;

    if (!strcmp(text, "none"))
        return;

    if (!strncmp(text, SP_PLACE_PREFIX, sizeof SP_PLACE_PREFIX - 1)) {
        find_near(s, text, text + sizeof SP_PLACE_PREFIX - 1, vertex);
        return;
    }

    if (!strncmp(text, "farthest:", 9)) {
        v->dynamic_count = parse_count(text + 9, &end);
        if (v->dynamic_count < 1 || *end || v->dynamic_count > s->mesh.mesh.vertex_count)
            tool_fail(SP_USAGE, NULL, "--dynamic: \"%s\" is not farthest:N with N up to the number of vertices", text);
        tool_check(sp_farthest_vertices(s->context, s->body, v->dynamic_count, vertex), "--dynamic");
        return;
    }

    if (!strncmp(text, "random:", 7)) {
        v->dynamic_count = parse_count(text + 7, &end);
        const char *at = end;
        const double distance = *at == ',' ? strtod(at + 1, &end) : -1;
        if (v->dynamic_count < 1 || *at != ',' || end == at + 1 || *end || !(distance >= 0) ||
            v->dynamic_count > s->mesh.mesh.vertex_count)
            tool_fail(SP_USAGE, NULL, "--dynamic: \"%s\" is not random:N,DISTANCE", text);
        tool_check(sp_random_vertices(s->context, s->body, s->context->seed, v->dynamic_count, distance, vertex),
                   "--dynamic");
        return;
    }

    sp_list list = {0};
    tool_parse_list("dynamic", text, 0, s->mesh.mesh.vertex_count, &list);
    v->dynamic_count = list.count;
    memcpy(vertex, list.data, (size_t)list.count * sizeof *vertex);
    sp_list_free(&list);
}

void vertices_check_cut(simulation *s)
{
    sp_fe_space body;
    if (s->choice->model != SP_MODEL_CONJAC)
        return;
    copy_dynamic(s);
    tool_check(sp_fe_space_new(s->context, &s->mesh.mesh, &body), s->mesh.path);
    tool_check(sp_condensation_check(s->context, &body, s->vertices.dynamic_count, s->vertices.dynamic), "--dynamic");
    sp_fe_space_free(&body);
}

static void read_activations(simulation *s)
{
    const char *path = s->choice->activation;
    simulate_vertices *v = &s->vertices;
    int64_t length;

    if (s->before) {
        v->activations = s->before->vertices.activations;
        v->activation_count = s->before->vertices.activation_count;
        return;
    }

    const char *text = tool_read_bytes(path, "activation", &s->pool, &length);
    tool_check(
        sp_activations_parse(s->context, text, length, &s->mesh.mesh, &s->pool, &v->activation_count, &v->activations),
        path);
}

void vertices_describe(simulation *s, sp_model_description *description)
{
    simulate_vertices *v = &s->vertices;
    const simulate_vertices_choice *c = v->choice;
    description->warp = (sp_warp){.kind = (enum sp_warp_kind)c->warp,
                                  .rotation = c->rotation == VERTICES_FRAME ? SP_ROTATION_FRAME : SP_ROTATION_POLAR,
                                  .network = c->network,
                                  .corrected = c->corrected,
                                  .limit = c->stretch[0],
                                  .extra = c->stretch[1],
                                  .lumped = s->choice->lumped,
                                  .solver = c->solver == VERTICES_GRADIENTS ? SP_WARP_GRADIENTS
                                            : c->solver == SP_SOLVER_JACOBI ? SP_WARP_JACOBI
                                                                            : SP_WARP_FACTOR};
    description->solver = s->choice->model == SP_MODEL_WARP ? SP_SOLVER_DIRECT : (enum sp_solver)c->solver;
    description->solver_tolerance = c->solver_tolerance;

    describe_grounds(s, description);
    if (s->choice->model == SP_MODEL_CONJAC) {
        if (!s->before)
            choose_dynamic(s);
        description->condensation = (sp_condensation){
            .count = v->dynamic_count, .vertex = v->dynamic, .gamma = c->gamma, .corrections = c->corrections};
    }

    description->prescribed = &v->moves;
    if (s->choice->activation) {
        read_activations(s);
        description->activation_count = v->activation_count;
        description->activations = v->activations;
    }
}

/* The start of a conjac model, where --settle asks for the equilibrium of its quasi-static vertices. */
static void settle(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    sp_system *system = &s->model.system;
    const sp_external_loads loads = sp_model_external(&s->model);
    double *external = tool_allocate(&s->pool, system->n, sizeof *external);
    v->start = tool_allocate(&s->pool, system->n, sizeof *v->start);

    if (loads.springs)
        loads.springs(loads.self, 0, s->choice->step);

    if (loads.prescribed) {
        double *u = tool_allocate(&s->pool, 3 * s->mesh.mesh.vertex_count, sizeof *u),
               *rate = tool_allocate(&s->pool, 3 * s->mesh.mesh.vertex_count, sizeof *rate);
        loads.prescribed(loads.self, 0, u, rate);
        system->vertices.prescribe(system->self, u, rate);
    }

    loads.mean(loads.self, 0, s->choice->step, external);
    tool_check(sp_conjac_system_settle(system, external, 1e-10, 200, v->start), s->mesh.path);
}

void vertices_begin(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    const simulate_vertices_choice *c = v->choice;
    const int64_t added = s->choice->model == SP_MODEL_CONJAC ? sp_conjac_system_added(&s->model.system) : 0;

    if (added)
        tool_warn("--dynamic",
                  "%lld more vertices are dynamic: without them pieces of the body could still turn or slide",
                  (long long)added);

    if (c->skeleton) {
        double *mass = tool_allocate(&s->pool, s->mesh.mesh.vertex_count, sizeof *mass);
        sp_fe_space_vertex_mass(s->body, true, mass);
        tool_check(sp_skeleton_new(s->context, s->mesh.mesh.vertex_count, s->mesh.mesh.vertices, mass,
                                   s->choice->gravity, v->bones.bone_count, v->bones.bones, v->bones.spring_count,
                                   v->bones.springs, &v->skeleton),
                   c->skeleton);
    }

    if (c->settle && !s->before)
        settle(s);
}

/* ---- joints ---- */

void vertices_record_joints(simulation *s, double time, const double *coordinates, const double *rates)
{
    simulate_vertices *v = &s->vertices;

    if (!v->choice->joints)
        return;

    if (!v->joints) {
        v->joint_output = tool_output_open(v->choice->joints);
        v->joints = open_memstream(&v->joint_text, &v->joint_length);
        if (!v->joints)
            tool_out_of_memory();
        fprintf(v->joints, "time");
        for (int64_t b = 0; b < v->bones.bone_count; b++)
            fprintf(v->joints, ",%s,%s/rate", v->bones.names[b], v->bones.names[b]); /* names have no "/" */
        fprintf(v->joints, "\n");
    }

    fprintf(v->joints, "%.17g", time);
    for (int64_t b = 0; b < v->bones.bone_count; b++)
        fprintf(v->joints, ",%.17g,%.17g", coordinates[b], rates[b]);
    fprintf(v->joints, "\n");
}

void vertices_write_joints(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    if (!v->joints)
        return;
    const int closed = fclose(v->joints);
    v->joints = NULL;
    if (closed)
        tool_out_of_memory();
    tool_output_bytes(v->joint_output, v->joint_text, (int64_t)v->joint_length);
    free(v->joint_text);
    v->joint_text = NULL;
}

void vertices_free(simulation *s)
{
    simulate_vertices *v = &s->vertices;
    for (int64_t i = 0; i < v->path_count; i++)
        sp_path_free(&v->paths[i]);
    sp_skeleton_free(v->skeleton);
    sp_skeleton_file_free(&v->bones);
}
