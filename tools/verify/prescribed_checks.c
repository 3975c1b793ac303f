/* Trajectories of full-order models: vertices that are fixed or move as prescribed, and cuts. */
#include "base/vec3.h"
#include "formats/trajectory.h"
#include "linear/dense.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t parameter_count(const artefact *file, const char *name)
{
    return json_array_size(json_object_get(json_object_get(file->meta, "parameters"), name));
}

const uint8_t *verify_fixed_bits(const sp_mesh *mesh, sp_pool *pool)
{
    uint8_t *fixed = tool_allocate(pool, mesh->vertex_count, 1);
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        fixed[mesh->fixed[i]] = mesh->fixed_axes ? mesh->fixed_axes[i] : 7;
    return fixed;
}

/* The vertices that each --prescribe names, in the last mesh: they are prescribed throughout, together. */
static bool names_agree(const artefact *file, const sp_mesh *mesh, const int64_t *entry,
                        const sp_trajectory *trajectory)
{
    const json_t *names = json_object_get(json_object_get(file->meta, "parameters"), "prescribe");

    for (size_t g = 0; g < json_array_size(names); g++) {
        const char *name = json_string_value(json_array_get(names, g));
        bool fixed = name && !strcmp(name, "fixed"), any = false;
        if (fixed)
            for (int64_t i = 0; i < mesh->fixed_count; i++) {
                const int64_t k = entry[mesh->fixed[i]];
                any = true;
                if (k < 0 || trajectory->prescribed[k].group != (int64_t)g ||
                    trajectory->prescribed[k].frames < trajectory->frame_count)
                    return false;
            }

        if (!fixed && name)
            for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
                int nodes;
                const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
                if (strcmp(mesh->materials[mesh->region[e]].name, name) != 0)
                    continue;
                for (int a = 0; a < nodes; a++) {
                    const int64_t k = entry[node[a]];
                    any = true;
                    if (k < 0 || trajectory->prescribed[k].group != (int64_t)g || trajectory->prescribed[k].axes != 7 ||
                        trajectory->prescribed[k].frames < trajectory->frame_count)
                        return false;
                }
            }

        if (!any)
            return false;
    }
    return true;
}

/* Six times the volume over four points at most that are as far from one plane as can be; so do fewer for lines and
 * points. */
static double spread_of(int count, const double *const *point)
{
    double a[3], b[3], c[3], n[3];
    if (count < 2)
        return 1;

    for (int i = 0; i < 3; i++)
        a[i] = point[1][i] - point[0][i];
    if (count == 2)
        return sp_dense_dot(3, a, a);

    for (int i = 0; i < 3; i++)
        b[i] = point[2][i] - point[0][i];
    for (int i = 0; i < 3; i++)
        n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];

    if (count == 3)
        return sp_dense_dot(3, n, n);

    for (int i = 0; i < 3; i++)
        c[i] = point[3][i] - point[0][i];
    return fabs(sp_dense_dot(3, n, c));
}

/* How far a group is from moving as a rigid body: distances to four of its vertices that span it, against those at
 * rest, by its size. */
static double rigid_error(const sp_trajectory *trajectory, const sp_mesh *mesh, int64_t group, int64_t frames)
{
    enum { BASES = 4 };
    const double *rest[BASES];
    int64_t base[BASES];
    double worst = 0, size = 0;

    int bases = 0;

    /* Each base spans the most with those before it. */
    for (; bases < BASES; bases++) {
        double best = 0;
        for (int64_t k = 0; k < trajectory->prescribed_count; k++) {
            const sp_prescribed_record *prescribed = &trajectory->prescribed[k];
            if (prescribed->group != group || prescribed->axes != 7 || prescribed->frames < frames)
                continue;
            rest[bases] = mesh->vertices + 3 * prescribed->vertex;
            const double spread = spread_of(bases + 1, rest);
            if (spread > best) {
                best = spread;
                base[bases] = prescribed->vertex;
            }
        }
        if (best == 0)
            break;
        rest[bases] = mesh->vertices + 3 * base[bases];
    }

    if (bases == 0)
        return 0;

    for (int64_t k = 0; k < trajectory->prescribed_count; k++) {
        const sp_prescribed_record *prescribed = &trajectory->prescribed[k];
        if (prescribed->group != group || prescribed->axes != 7 || prescribed->frames < frames)
            continue;
        for (int b = 0; b < bases; b++) {
            const double *X = mesh->vertices + 3 * prescribed->vertex, before = sp_distance_squared3(X, rest[b]);
            size = fmax(size, before);

            for (int64_t f = 0; f < frames; f++) {
                const double *u = trajectory->u + 3 * trajectory->vertex_count * f;
                double x[3], y[3];
                for (int i = 0; i < 3; i++) {
                    x[i] = X[i] + u[3 * prescribed->vertex + i];
                    y[i] = rest[b][i] + u[3 * base[b] + i];
                }
                worst = verify_worse(fabs(sp_distance_squared3(x, y) - before), worst);
            }
        }
    }
    return size > 0 ? worst / size : worst;
}

void verify_prescribed(verify *v, artefact *file, const sp_trajectory *trajectory, const sp_mesh *mesh,
                       const uint8_t *fixed, sp_pool *pool)
{
    const bool moved = parameter_count(file, "prescribe") > 0 ||
                       tool_meta_has_input(file->meta, "prescribe-vertices") ||
                       (tool_meta_has_input(file->meta, "skeleton") && !tool_meta_has_input(file->meta, "skin"));

    int64_t *entry = tool_allocate_raw(pool, trajectory->vertex_count, sizeof *entry), groups = 0;
    double worst = 0, rigid = 0;
    for (int64_t i = 0; i < trajectory->vertex_count; i++)
        entry[i] = -1;
    for (int64_t k = 0; k < trajectory->prescribed_count; k++) {
        entry[trajectory->prescribed[k].vertex] = k;
        groups = trajectory->prescribed[k].group >= groups ? trajectory->prescribed[k].group + 1 : groups;
    }

    for (int64_t i = 0; i < 3 * trajectory->vertex_count; i++) {
        if (!(fixed[i / 3] >> i % 3 & 1) || entry[i / 3] >= 0)
            continue;
        for (int64_t f = 0; f < trajectory->frame_count; f++)
            worst = verify_worse(fmax(fabs(trajectory->u[3 * trajectory->vertex_count * f + i]),
                                      fabs(trajectory->udot[3 * trajectory->vertex_count * f + i])),
                                 worst);
    }

    verify_number(v, file, moved ? "fixed vertices without prescribed motion" : "fixed vertices", worst, 0);
    if (!moved && trajectory->prescribed_count == 0)
        return;

    verify_fact(v, file, "what is moved",
                moved == (trajectory->prescribed_count > 0) && names_agree(file, mesh, entry, trajectory),
                "%lld vertices beside those that the mesh holds at rest", (long long)trajectory->prescribed_count);

    for (int64_t g = 0; g < groups && g < trajectory->prescribed_count; g++)
        rigid = verify_worse(rigid_error(trajectory, mesh, g, trajectory->frame_count), rigid);
    if (groups > 0) {
        char name[100];
        snprintf(name, sizeof name, "rigid motion of %lld groups", (long long)groups);
        verify_number(v, file, name, rigid, 1e-12);
    }
}

void verify_cuts(verify *v, artefact *file, const sp_trajectory *trajectory)
{
    const json_t *parameters = json_object_get(file->meta, "parameters"), *times = json_object_get(parameters, "cut"),
                 *input;
    const double step = json_number_value(json_object_get(parameters, "dt"));
    const char *last = "";

    size_t i, cuts = 0;
    json_array_foreach(json_object_get(file->meta, "inputs"), i, input)
    {
        const char *option = json_string_value(json_object_get(input, "option")),
                   *hash = json_string_value(json_object_get(input, "sha256"));
        if (option && hash && !strcmp(option, "cut")) {
            last = hash;
            cuts++;
        }
    }

    if (!cuts && !json_array_size(times))
        return;
    verify_fact(v, file, "cuts", cuts == json_array_size(times) && !strcmp(last, file->mesh_hash),
                "%zu at %zu times, the last one into its mesh", cuts, json_array_size(times));

    const artefact *mesh = verify_find(v, file->mesh_hash);
    for (size_t cut = cuts; cut-- > 0;) {
        const char *time = json_string_value(json_array_get(times, cut));
        char name[100];
        snprintf(name, sizeof name, "copies together before the cut at %.40s s", time ? time : "?");
        if (!mesh || !mesh->origin || !trajectory->u || trajectory->vertex ||
            mesh->origin_count > trajectory->vertex_count) {
            verify_skip(v, file, name,
                        "the meshes that were cut are not all among the files, or not all vertices are recorded");
            return;
        }

        const double from = step * (round((time ? atof(time) : 0) / step) + 0.5);
        double worst = 0;
        for (int64_t f = 0; f < trajectory->frame_count && trajectory->time[f] < from; f++)
            for (int64_t k = 0; k < 3 * mesh->origin_count; k++) {
                const double *u = trajectory->u + 3 * trajectory->vertex_count * f,
                             *udot = trajectory->udot + 3 * trajectory->vertex_count * f;
                const int64_t there = 3 * mesh->origin[k / 3] + k % 3;
                worst = verify_worse(fmax(fabs(u[k] - u[there]), fabs(udot[k] - udot[there])), worst);
            }

        verify_number(v, file, name, worst, 0);
        mesh = verify_find(v, mesh->cut_from);
    }
}
