/* Pointshells: the tree by brute force on a sample, the spheres for all points, bounds for random coordinates, rows
 * where mesh and basis are there, and the surface where the model is. */
#include "base/random.h"
#include "base/vec3.h"
#include "geometry/winding.h"
#include "pointshell/level.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

enum { MOTIONS = 8, RANDOM_STREAM = 900, PLACES = 9 };

/* How many of a sample of points have a nearer one in the level above than their parent. */
static void check_parents(verify *v, artefact *file)
{
    const sp_pointshell *s = &file->pointshell;
    const int64_t first = s->cumulative[0], rest = s->count - first, count = v->sample < rest ? v->sample : rest;
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = first + (int64_t)(((double)i + 0.5) / (double)count * (double)rest),
                      above = s->cumulative[sp_pointshell_level_of(s, p) - 2];

        const double stated = sp_distance3(s->points + 3 * p, s->points + 3 * s->parent[p]);
        double best = INFINITY;
        for (int64_t c = 0; c < above; c++)
            best = fmin(best, sp_distance3(s->points + 3 * p, s->points + 3 * c));

        wrong += !(stated <= best);
    }
    verify_fact(v, file, "parents nearest in the level above", wrong == 0, "%lld of %lld are not (0)", (long long)wrong,
                (long long)count);
}

/* The largest excess of a distance from a sphere's point over its radius, with points moved by q (NULL: at rest), over
 * their extent. */
static double worst_excess(const sp_pointshell *s, const double *q)
{
    sp_pool pool = {0};
    const int64_t inner = sp_pointshell_inner(s);
    double *at = tool_allocate_copy(&pool, s->points, 3 * s->count, sizeof *at),
           *radius = tool_allocate_copy(&pool, s->radius, inner, sizeof *radius);

    double worst = 0, extent = 0;
    /* Spheres grow by at most a_j |q_j| for each coordinate. */
    if (q) {
        for (int64_t i = 0; i < 3 * s->count; i++)
            for (int64_t j = 0; j < s->modes; j++)
                at[i] += s->U[i * s->modes + j] * q[j];
        for (int64_t i = 0; i < inner; i++)
            for (int64_t j = 0; j < s->modes; j++)
                radius[i] += s->a[i * s->modes + j] * fabs(q[j]);
    }

    /* Every point lies in the spheres of all its ancestors. */
    for (int64_t p = 0; p < s->count; p++) {
        int64_t c = p;
        for (int k = s->levels - 1; k >= 1; k--) {
            c = c < s->cumulative[k - 1] ? c : s->parent[c];
            worst = fmax(worst, sp_distance3(at + 3 * p, at + 3 * c) - radius[sp_pointshell_node(s, k, c)]);
        }

        extent = fmax(extent, sp_distance3(at + 3 * p, at));
    }

    sp_pool_free(&pool);
    return extent > 0 ? worst / extent : worst;
}

/* Random coordinates that move points by about the shell's size. */
static void check_bounds(verify *v, artefact *file)
{
    const sp_pointshell *s = &file->pointshell;
    sp_pool pool = {0};
    double *q = tool_allocate_raw(&pool, s->modes, sizeof *q), worst = 0, size = 0;

    for (int64_t p = 0; p < s->count; p++)
        size = fmax(size, sp_distance3(s->points + 3 * p, s->points));

    for (int m = 0; m < MOTIONS; m++) {
        for (int64_t j = 0; j < s->modes; j++) {
            double largest = 0;
            for (int64_t i = 0; i < 3 * s->count; i++)
                largest = fmax(largest, fabs(s->U[i * s->modes + j]));
            q[j] = largest > 0 ? sp_random_normal(1, RANDOM_STREAM, (uint64_t)(m * s->modes + j)) * size / largest : 0;
        }
        worst = fmax(worst, worst_excess(s, q));
    }

    verify_number(v, file, "moved points beyond their spheres, relative", worst, 1e-13);
    sp_pool_free(&pool);
}

static double largest_of(int64_t count, const double *values)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(values[i]));
    return largest;
}

static double farthest_apart(int64_t count, const double *a, const double *b)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* Rows of a sample of points from mesh and basis. The gradient jumps between elements, and rounding tells on whose side
 * a point on a face is: that of a place beside it will do. */
static void check_rows(verify *v, artefact *file)
{
    const sp_pointshell *s = &file->pointshell;
    const int64_t r = s->modes, count = v->sample < s->count ? v->sample : s->count;
    artefact *mesh = verify_mesh(v, file, "rows of points anew", false), *basis = verify_find(v, file->basis_hash);
    double low[3], high[3], apart[3] = {0};

    if (!mesh)
        return;
    if (!basis || !basis->columns.U || basis->columns.rows != 3 * mesh->mesh.vertex_count ||
        basis->columns.count != r) {
        verify_skip(v, file, "rows of points anew", "its basis is not among the files (%.12s)", file->basis_hash);
        return;
    }

    sp_mesh_box(&mesh->mesh, low, high);
    const double step = 1e-8 * sp_distance3(low, high);

    /* Each sampled point, and places beside it at the corners of a small cube. */
    sp_pointshell anew = {.count = PLACES * count, .levels = 1, .cumulative = {PLACES * count}};
    anew.points = tool_allocate_raw(&anew.pool, 3 * anew.count, sizeof *anew.points);
    anew.normals = tool_allocate_raw(&anew.pool, 3 * anew.count, sizeof *anew.normals);
    double *U = tool_allocate_copy(&anew.pool, basis->columns.U, basis->columns.rows * r, sizeof *U);
    sp_mesh_fix(&mesh->mesh, r, U); /* as pointshell does */

    for (int64_t i = 0; i < anew.count; i++) {
        const int64_t p = (int64_t)(((double)(i / PLACES) + 0.5) / (double)count * (double)s->count),
                      place = i % PLACES;
        for (int k = 0; k < 3; k++) {
            anew.points[3 * i + k] = s->points[3 * p + k] + (place == 0 ? 0 : (place - 1) >> k & 1 ? step : -step);
            anew.normals[3 * i + k] = s->normals[3 * p + k];
        }
    }

    sp_pointshell_motion_report report;
    tool_check(sp_pointshell_transfer(v->context, &mesh->mesh, r, U, s->dT != NULL, &anew, &report), file->path);

    for (int64_t i = 0; i < count; i++) {
        const int64_t p = (int64_t)(((double)i + 0.5) / (double)count * (double)s->count);
        double turned = INFINITY, tangents = INFINITY;
        apart[0] = fmax(apart[0], farthest_apart(3 * r, s->U + 3 * r * p, anew.U + 3 * r * PLACES * i));
        for (int64_t at = PLACES * i; at < PLACES * (i + 1); at++) {
            turned = fmin(turned, farthest_apart(3 * r, s->dN + 3 * r * p, anew.dN + 3 * r * at));
            if (s->dT)
                tangents = fmin(tangents, farthest_apart(6 * r, s->dT + 6 * r * p, anew.dT + 6 * r * at));
        }
        apart[1] = fmax(apart[1], turned);
        apart[2] = fmax(apart[2], s->dT ? tangents : 0);
    }

    const double largest[3] = {largest_of(3 * r * s->count, s->U), largest_of(3 * r * s->count, s->dN),
                               s->dT ? largest_of(6 * r * s->count, s->dT) : 0};
    verify_number(v, file, "displacements of points anew, relative", largest[0] > 0 ? apart[0] / largest[0] : apart[0],
                  1e-11);
    verify_number(v, file, "changes of normals anew, relative", largest[1] > 0 ? apart[1] / largest[1] : apart[1],
                  1e-5);
    if (s->dT)
        verify_number(v, file, "changes of tangents anew, relative", largest[2] > 0 ? apart[2] / largest[2] : apart[2],
                      1e-5);

    sp_pointshell_free(&anew);
}

/* Normals point to where the winding number is 1, for points on the surface of a closed model; points lie on the model
 * or the offset. */
static void check_surface(verify *v, artefact *file, bool offset)
{
    const sp_pointshell *s = &file->pointshell;
    sp_surface surface, oriented = {0};
    sp_orient_report report;
    sp_winding *winding = NULL;
    sp_closest *closest = NULL;
    const json_t *stated = json_object_get(file->meta, "offset");
    const char *method = json_string_value(json_object_get(json_object_get(file->meta, "parameters"), "method"));
    const int64_t count = v->sample < s->count ? v->sample : s->count;
    const double value = offset ? json_number_value(stated) : 0;
    double low[3], high[3], worst = 0, turned = 0;
    int64_t wrong = 0;

    if (!verify_find_surface(v, file, "points on the surface", &surface))
        return;
    tool_check(sp_surface_orient(v->context, &surface, &oriented, &report), file->path);
    tool_check(sp_closest_new(v->context, &surface, &closest), file->path);
    tool_check(sp_winding_new(v->context, &oriented, &winding), file->path);

    sp_surface_box(&surface, low, high);
    const double size = sp_distance3(low, high) + value;
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = (int64_t)(((double)i + 0.5) / (double)count * (double)s->count);
        const double *x = s->points + 3 * p, *n = s->normals + 3 * p;
        double in[3], out[3];
        sp_nearest nearest;

        sp_closest_find(closest, x, &nearest);
        worst = fmax(worst, fabs(nearest.distance - value));

        /* A step inwards and a step outwards along the normal. */
        for (int k = 0; k < 3; k++) {
            in[k] = x[k] + 1e-6 * size * n[k];
            out[k] = x[k] - 1e-6 * size * n[k];
        }

        if (offset) /* the way to the model */
            turned = fmax(turned, 1 + (n[0] * nearest.offset[0] + n[1] * nearest.offset[1] + n[2] * nearest.offset[2]) /
                                          nearest.distance);
        else
            wrong += !(sp_winding_number(winding, in, 0) >= 0.5) || sp_winding_number(winding, out, 0) >= 0.5;
    }

    /* What the tool itself reached at creases. */
    const double off = json_number_value(json_object_get(file->result, "off_surface"));
    if (!method || strcmp(method, "voxels"))
        verify_number(v, file, "points off the surface, relative", worst / size, fmax(1e-9, 2 * off / size));
    if (offset && (!method || strcmp(method, "voxels")) && off <= 1e-9 * size)
        verify_number(v, file, "normals to the model, 1 - cosine", turned, 1e-6);

    if (!offset && (!method || strcmp(method, "voxels")) &&
        !json_is_true(json_object_get(file->result, "meets_itself")))
        verify_fact(v, file, "normals inward by the winding number", wrong == 0, "%lld of %lld are not (0)",
                    (long long)wrong, (long long)count);

    sp_winding_free(winding);
    sp_closest_free(closest);
    sp_surface_free(&oriented);
    sp_surface_free(&surface);
}

void verify_pointshell(verify *v, artefact *file)
{
    const sp_pointshell *s = &file->pointshell;
    const json_t *stated = json_object_get(file->result, "level_points"), *area = json_object_get(file->result, "area");
    const char *surface = json_string_value(json_object_get(file->meta, "surface"));
    double total = 0;

    for (int64_t i = 0; i < s->count; i++)
        total += s->area[i];
    if (json_is_number(area))
        verify_number(v, file, "sum of areas as stated, relative", fabs(total / json_number_value(area) - 1), 1e-9);
    if (json_is_array(stated)) {
        bool same = json_array_size(stated) == (size_t)s->levels;
        for (int k = 0; k < s->levels && same; k++)
            same = json_integer_value(json_array_get(stated, (size_t)k)) == s->cumulative[k];
        verify_fact(v, file, "points of levels as stated", same, "%d levels", s->levels);
    }

    if (s->levels > 1)
        check_parents(v, file);
    verify_number(v, file, "points beyond their spheres, relative", worst_excess(s, NULL), 0);
    if (s->modes > 0) {
        check_bounds(v, file);
        check_rows(v, file);
    }

    sp_pointshell_level_report report = {0};
    tool_check(sp_pointshell_spacing(v->context, s->count, s->points, s->normals, &report), file->path);
    verify_note(v, file, "nearest neighbours", "%.4g m, spread %.4f (random points: 0.523)", report.spacing,
                report.spread);

    if (surface && !strcmp(surface, "field"))
        verify_skip(v, file, "points on the surface", "it is a level of a field");
    else if (surface)
        check_surface(v, file, !strcmp(surface, "offset"));
}
