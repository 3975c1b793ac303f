/* Distance fields: what holds between neighbours for any, and brute force where the model is there. */
#include "base/vec3.h"
#include "geometry/distance_field.h"
#include "geometry/winding.h"
#include "tools/common/model.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

static double segment_square(const double *a, const double *b, const double *p)
{
    double e[3], v[3], w[3];
    sp_subtract3(b, a, e);
    sp_subtract3(p, a, v);
    const double size = sp_dot3(e, e), t = size > 0 ? fmin(fmax(sp_dot3(e, v) / size, 0), 1) : 0;
    for (int k = 0; k < 3; k++)
        w[k] = v[k] - t * e[k];
    return sp_dot3(w, w);
}

/* The foot on the plane where it lies in the triangle (by least squares in the two sides), else the nearest side. */
static double triangle_square(const double *a, const double *b, const double *c, const double *p)
{
    double e[3], f[3], v[3], w[3];
    sp_subtract3(b, a, e);
    sp_subtract3(c, a, f);
    sp_subtract3(p, a, v);
    const double ee = sp_dot3(e, e), ef = sp_dot3(e, f), ff = sp_dot3(f, f), determinant = ee * ff - ef * ef;

    /* v ≈ s e + t f by the normal equations; w is what lies off the plane. */
    if (determinant > 1e-12 * ee * ff) {
        const double s = (ff * sp_dot3(e, v) - ef * sp_dot3(f, v)) / determinant,
                     t = (ee * sp_dot3(f, v) - ef * sp_dot3(e, v)) / determinant;
        for (int k = 0; k < 3; k++)
            w[k] = v[k] - s * e[k] - t * f[k];

        if (s >= 0 && t >= 0 && s + t <= 1)
            return sp_dot3(w, w);
    }
    return fmin(fmin(segment_square(a, b, p), segment_square(b, c, p)), segment_square(c, a, p));
}

static double brute_distance(const sp_surface *s, const double *p)
{
    double best = INFINITY;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int64_t *v = s->triangles + 3 * t;
        best = fmin(best, triangle_square(s->vertices + 3 * v[0], s->vertices + 3 * v[1], s->vertices + 3 * v[2], p));
    }
    return sqrt(best);
}

/* Distances of neighbours differ by their edge at most; where they differ in sign too, the surface lies between them,
 * except for the winding numbers of an open model. */
static void check_neighbours(verify *v, artefact *file, bool crosses)
{
    const sp_field *f = &file->field;
    const int64_t extent[3] = {f->cells[0] + 1, f->cells[1] + 1, f->cells[2] + 1},
                  step[3] = {1, extent[0], extent[0] * extent[1]};

    double steepest = 0, jump = 0;
    for (int64_t i = 0; i < sp_field_vertices(f); i++)
        for (int k = 0; k < 3; k++) {
            if (i / step[k] % extent[k] == f->cells[k])
                continue;

            const double a = (double)f->distance[i], b = (double)f->distance[i + step[k]];
            steepest = fmax(steepest, fabs(fabs(a) - fabs(b)) / f->spacing);
            if ((a < 0) != (b < 0))
                jump = fmax(jump, fabs(a - b) / f->spacing);
        }

    double largest = 0;
    for (int64_t i = 0; i < sp_field_vertices(f); i++)
        largest = fmax(largest, fabs((double)f->distance[i]));
    const double rounding = 2e-7 * largest / f->spacing; /* of single precision, twice */

    verify_number(v, file, "difference of neighbours beyond their edge", fmax(steepest - 1, 0), rounding);
    if (crosses)
        verify_number(v, file, "change of sign beyond an edge", fmax(jump - 1, 0), rounding);
}

bool verify_find_surface(verify *v, artefact *file, const char *checks, sp_surface *surface)
{
    *surface = (sp_surface){0};

    if (*file->mesh_hash) {
        artefact *mesh = verify_mesh(v, file, checks, false);
        if (!mesh)
            return false;
        const json_t *parameters = json_object_get(file->meta, "parameters"); /* of pointshell --boundary */
        tool_mesh_surface(v->context, &mesh->mesh, json_is_true(json_object_get(parameters, "boundary")), surface);
        return true;
    }

    if (!v->model) {
        verify_skip(v, file, checks, "it needs the model (--model)");
        return false;
    }
    tool_read_surface(v->context, v->model, "", surface);
    return true;
}

static void check_sample(verify *v, artefact *file, const sp_surface *surface, bool signs)
{
    const sp_field *f = &file->field;
    const int64_t vertices = sp_field_vertices(f), count = v->sample < vertices ? v->sample : vertices,
                  nx = f->cells[0] + 1, ny = f->cells[1] + 1;
    sp_surface oriented = {0};
    sp_orient_report report;
    sp_winding *winding = NULL;
    double worst = 0, largest = f->spacing;

    int64_t wrong = 0;
    if (signs) {
        tool_check(sp_surface_orient(v->context, surface, &oriented, &report), file->path);
        tool_check(sp_winding_new(v->context, &oriented, &winding), file->path);
    }

    for (int64_t i = 0; i < count; i++) {
        double x[3];
        const int64_t at = (int64_t)(((double)i + 0.5) / (double)count * (double)vertices);

        sp_field_position(f, at % nx, at / nx % ny, at / nx / ny, x);
        const double stated = (double)f->distance[at], distance = brute_distance(surface, x);
        worst = fmax(worst, fabs(fabs(stated) - distance));
        largest = fmax(largest, distance);
        wrong += signs && stated != 0 && (stated < 0) != (sp_winding_number(winding, x, 0) >= 0.5);
    }

    verify_number(v, file, "distances anew by brute force, relative", worst / largest, 1e-6);
    if (signs)
        verify_fact(v, file, "signs by exact winding numbers", wrong == 0, "%lld of %lld wrong (0)", (long long)wrong,
                    (long long)count);

    sp_winding_free(winding);
    sp_surface_free(&oriented);
}

void verify_field(verify *v, artefact *file)
{
    const char *sign = json_string_value(json_object_get(file->meta, "sign"));
    const json_t *closed = json_object_get(file->result, "closed"), *stated = json_object_get(file->result, "inside"),
                 *boundary = json_object_get(file->result, "boundary");
    const bool winding = sign && !strcmp(sign, "winding"), offset = sign && !strcmp(sign, "offset");

    /* Where pseudonormals were demanded of a surface that meets itself, the result says so. */
    const json_int_t disagreements = json_integer_value(json_object_get(file->result, "sign_disagreements"));
    int64_t inside = 0;
    sp_surface surface;
    /* Fields of deformed surfaces are approximations: only distances change by at most the way between two places. */
    const bool approximate = sign && !strcmp(sign, "deformed");

    if (!approximate)
        check_neighbours(v, file, sign && !(winding && !json_is_true(closed)));
    for (int64_t i = 0; i < sp_field_vertices(&file->field); i++)
        inside += file->field.distance[i] < 0;

    /* A vertex on the surface may be counted as inside there. */
    if (json_is_integer(stated))
        verify_fact(v, file, "vertices inside", inside <= json_integer_value(stated), "%lld (%lld)", (long long)inside,
                    (long long)json_integer_value(stated));

    if (json_is_number(boundary))
        verify_number(v, file, "boundary as stated",
                      fabs(sp_field_boundary(&file->field) - json_number_value(boundary)) / file->field.spacing, 1e-9);
    if (sign && !strcmp(sign, "none"))
        verify_fact(v, file, "no sign", inside == 0, "%lld negative (0)", (long long)inside);

    if (offset) {
        verify_skip(v, file, "distances anew", "its surface is a level set, which is not recorded");
        return;
    }
    if (approximate) {
        verify_skip(v, file, "distances anew", "they are approximations");
        return;
    }

    if (!verify_find_surface(v, file, "distances anew", &surface))
        return;
    check_sample(v, file, &surface, winding || (sign && !strcmp(sign, "pseudonormal") && disagreements == 0));
    sp_surface_free(&surface);
}
