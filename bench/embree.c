/* Unsigned distances at every vertex of a grid by Embree's closest-point queries (rtcPointQuery on its BVH), compared
 * with sp_distance_field without signs: bench-embree MODEL CELLS THREADS. Built if Embree 3 or 4 is installed.
 *
 * Both read the same triangles and compute the same vertices in this process. Embree stores single precision, like the
 * distances of a field. Its time is that of building the BVH (quality high) and of the queries. A query starts from an
 * upper bound of the distance: the distance at the previous vertex in the row plus one cell. Without that bound it
 * takes longer. */
#include "bench.h"
#include "geometry/distance_field.h"

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#include <omp.h>

typedef struct triangles {
    const float *vertex;     /* [3 · vertices] */
    const unsigned *corners; /* [3 · triangles] */
} triangles;

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static float clamp(float t)
{
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

/* Squared distance of x = a + t·e from a side: d = x − a. */
static float side_square(const float d[3], const float e[3])
{
    const float size = dot(e, e), t = size > 0 ? clamp(dot(d, e) / size) : 0;
    const float rest[3] = {d[0] - t * e[0], d[1] - t * e[1], d[2] - t * e[2]};
    return dot(rest, rest);
}

/* Squared distance of x from a triangle: to its plane where the foot lies inside, else to the nearest side. */
static float triangle_square(const float *a, const float *b, const float *c, const float x[3])
{
    float e[3], f[3], g[3], d[3], h[3];
    for (int k = 0; k < 3; k++) {
        e[k] = b[k] - a[k];
        f[k] = c[k] - a[k];
        g[k] = c[k] - b[k];
        d[k] = x[k] - a[k];
        h[k] = x[k] - b[k];
    }
    const float ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), de = dot(d, e), df = dot(d, f), det = ee * ff - ef * ef,
                u = ff * de - ef * df, v = ee * df - ef * de;
    if (det > 0 && u >= 0 && v >= 0 && u + v <= det) {
        const float n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]},
                    height = dot(d, n);
        return height * height / dot(n, n);
    }
    return fminf(side_square(d, e), fminf(side_square(d, f), side_square(h, g)));
}

static bool closer(struct RTCPointQueryFunctionArguments *at)
{
    const triangles *t = at->userPtr;
    const unsigned *corner = t->corners + 3 * (size_t)at->primID;
    const float x[3] = {at->query->x, at->query->y, at->query->z},
                square = triangle_square(t->vertex + 3 * (size_t)corner[0], t->vertex + 3 * (size_t)corner[1],
                                         t->vertex + 3 * (size_t)corner[2], x);
    if (square >= at->query->radius * at->query->radius)
        return false;
    at->query->radius = sqrtf(square);
    return true;
}

/* Embree's distances at all vertices of the field. */
static void query(RTCScene scene, triangles *data, const sp_field *field, int threads, float *distance)
{
    const int64_t nx = field->cells[0] + 1, rows = sp_field_vertices(field) / nx;
    double first[3], second[3];
    sp_field_position(field, 0, 0, 0, first);
    sp_field_position(field, 1, 0, 0, second);
    const float cell = (float)((second[0] - first[0]) * (1 + 1e-5));
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int64_t row = 0; row < rows; row++) {
        float bound = INFINITY;
        for (int64_t i = 0; i < nx; i++) {
            double x[3];
            struct RTCPointQueryContext context;
            sp_field_position(field, i, row % (field->cells[1] + 1), row / (field->cells[1] + 1), x);
            struct RTCPointQuery ask = {
                .x = (float)x[0], .y = (float)x[1], .z = (float)x[2], .time = 0, .radius = bound};
            rtcInitPointQueryContext(&context);
            rtcPointQuery(scene, &ask, &context, closer, data);
            distance[row * nx + i] = ask.radius;
            bound = ask.radius + cell;
        }
    }
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_surface surface;
    sp_field field;
    sp_distance_report report;
    if (argc != 4)
        return 2;
    bench_begin();
    context.threads = atoi(argv[3]);
    bench_read_surface(&context, argv[1], &surface);
    const sp_distance_parameters parameters = {
        .cells = atoll(argv[2]), .scale = 1.5, .cube = true, .sign = SP_FIELD_UNSIGNED};
    float *vertex = malloc((size_t)surface.vertex_count * 3 * sizeof *vertex);
    unsigned *corners = malloc((size_t)surface.triangle_count * 3 * sizeof *corners);
    for (int64_t i = 0; i < 3 * surface.vertex_count; i++)
        vertex[i] = (float)surface.vertices[i];
    for (int64_t i = 0; i < 3 * surface.triangle_count; i++)
        corners[i] = (unsigned)surface.triangles[i];
    triangles data = {vertex, corners};

    double start = bench_now();
    if (sp_distance_field(&context, &surface, &parameters, &field, &report) != SP_OK) {
        fprintf(stderr, "%s\n", context.message);
        return 1;
    }
    const double ours = bench_now() - start;
    float *distance = malloc((size_t)sp_field_vertices(&field) * sizeof *distance);
    char threads[32];
    snprintf(threads, sizeof threads, "threads=%d", context.threads);
    start = bench_now();
    RTCDevice device = rtcNewDevice(threads);
    RTCScene scene = rtcNewScene(device);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, vertex, 0, 12,
                               (size_t)surface.vertex_count);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, corners, 0, 12,
                               (size_t)surface.triangle_count);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
    rtcCommitScene(scene);
    const double built = bench_now() - start;
    query(scene, &data, &field, context.threads, distance);
    const double theirs = bench_now() - start;
    float worst = 0, largest = 0;
    for (int64_t i = 0; i < sp_field_vertices(&field); i++) {
        worst = fmaxf(worst, fabsf(distance[i] - field.distance[i]));
        largest = fmaxf(largest, field.distance[i]);
    }
    printf("%lld triangles, %lld vertices, %d threads: without signs %.2f s; Embree %.2f s (BVH %.2f), %.2f times as "
           "long; distances differ by at most %.1e of the largest\n",
           (long long)surface.triangle_count, (long long)sp_field_vertices(&field), context.threads, ours, theirs,
           built, theirs / ours, (double)(worst / largest));
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
    return 0;
}
