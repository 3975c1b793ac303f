/* Distance fields of real models: distances against brute force, signs against exact winding numbers. POINTS=100000
 * scripts/bench distfield does the same with 1e5 points of every model. */
#include "field_models.h"
#include "formats/import/surface.h"
#include "geometry/ray.h"
#include "geometry/winding.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

OWNER(sp_closest)
OWNER(sp_winding)

static bool load(const char *path, sp_surface *surface)
{
    OWNED(sp_list) bytes = {0};
    const int descriptor = open(path, O_RDONLY);
    for (ssize_t got = 1; descriptor >= 0 && got > 0;) {
        enum { STEP = 1 << 20 };
        char *to = sp_list_add(&bytes, STEP, 1);
        got = to ? read(descriptor, to, STEP) : 0;
        bytes.count -= STEP - (got > 0 ? got : 0);
    }
    close(descriptor);
    const int status = sp_surface_parse(&context, path, bytes.data, bytes.count, SP_GROUPS_NONE, surface);
    return status == SP_OK;
}

enum { SUMS = 3000000 }; /* triangles times points */

/* Random vertices: up to 1e5 for few triangles, fewer for many, so that exact sums stay fast; fewer distances, which
 * cost more. */
static int64_t check_model(const char *name, const sp_surface *s)
{
    OWNED(sp_field) field;
    sp_distance_report report;
    OWNED(sp_surface) oriented;
    sp_orient_report orient;
    OWNED_POINTER(sp_winding) *winding;
    const sp_distance_parameters p = {.cells = 40, .scale = 1.5, .cube = true};
    const int64_t most = SUMS / s->triangle_count, samples = most < 100000 ? most : 100000,
                  distances = samples / 12 < 150 ? samples / 12 : 150;
    int64_t wrong = 0;
    double worst = 0;
    CHECK_OK(sp_distance_field(&context, s, &p, &field, &report));
    CHECK_OK(sp_surface_orient(&context, s, &oriented, &orient));
    CHECK_OK(sp_winding_new(&context, &oriented, &winding));
    for (int64_t i = 0; i < samples; i++) {
        double x[3];
        const int64_t vertex = (int64_t)(sp_random_uniform(3, 0, (uint64_t)i) * (double)sp_field_vertices(&field));
        place_of(&field, vertex, x);
        const double distance = (double)field.distance[vertex];
        wrong += distance != 0 && (distance < 0) != (sp_winding_number(winding, x, 0) >= 0.5);
        if (i < distances)
            worst = fmax(worst, fabs(fabs(distance) - brute_distance(s, x)));
    }
    CHECK(wrong == 0, "%s: %lld of %lld signs are wrong", name, (long long)wrong, (long long)samples);
    CHECK(worst <= 1e-6 * diagonal_of(s), "%s: a distance is off by %g", name, worst);
    return samples;
}

TEST(every_model)
{
    static const char *const folders[] = {"surface", "thin", "soup"};
    int64_t models = 0, samples = 0;
#if defined(__SANITIZE_ADDRESS__)
    SKIP("many exact sums, which sanitizers make five times as slow; field.c runs the same code");
#endif
    if (!test_meshes())
        SKIP("SUPPLE_MESHES does not name a folder");
    for (int f = 0; f < 3; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", test_meshes(), folders[f]);
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            OWNED(sp_surface) s = {0};
            if (*entry->d_name == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s/%.200s", test_meshes(), folders[f], entry->d_name);
            CHECK(load(path, &s), "%s: %s", path, context.message);
            samples += check_model(entry->d_name, &s);
            models++;
        }
        if (folder)
            closedir(folder);
    }
    CHECK(models > 0, "no models in %s", test_meshes());
    NOTE("%lld models, %lld signs", (long long)models, (long long)samples);
}

/* A car of 50 parts, some of them open and nearly flat. For any orientation of the parts, a point is outside if half of
 * all its rays leave the model without meeting a triangle. A door with the wrong orientation makes a layer beside it
 * the inside. */
TEST(open_parts)
{
    enum { DIRECTIONS = 200 };
    char path[4096];
    OWNED(sp_surface) s = {0};
    OWNED_POINTER(sp_closest) *closest = NULL;
    OWNED(sp_field) field = {0};
    sp_distance_report report;
    const sp_distance_parameters p = {.cells = 64, .scale = 1.5, .cube = true};
    int64_t wrong = 0;
    if (!test_meshes())
        SKIP("SUPPLE_MESHES does not name a folder");
    snprintf(path, sizeof path, "%s/soup/truck.obj", test_meshes());
    CHECK(load(path, &s), "%s: %s", path, context.message);
    CHECK_OK(sp_distance_field(&context, &s, &p, &field, &report));
    CHECK_OK(sp_closest_new(&context, &s, &closest));
    for (int64_t vertex = 0; vertex < sp_field_vertices(&field); vertex++) {
        double x[3];
        int free = 0;
        if (!(field.distance[vertex] < 0))
            continue;
        place_of(&field, vertex, x);
        for (int i = 0; i < DIRECTIONS; i++) {
            const double z = 1 - (2 * i + 1) / (double)DIRECTIONS, radius = sqrt(1 - z * z), a = 2.399963229728653 * i;
            free += sp_ray_leaves(closest, x, (double[3]){radius * cos(a), radius * sin(a), z}, 0);
        }
        wrong += 2 * free >= DIRECTIONS;
    }
    CHECK(wrong == 0, "%lld of %lld vertices inside are outside", (long long)wrong, (long long)report.inside);
}

BEFORE_TESTS()
{
    context.threads = 2;
}
