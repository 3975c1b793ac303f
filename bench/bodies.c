/* A frame of many soft bodies that move with frames: a Newmark step of modal models with the inertial forces of their
 * frames (rigid/moving_frame.h), then the positions in the world of all surface vertices, warped
 * (model/warped_points.h), relative to reading the rows of the basis once. Each body has data of its own, as bodies of
 * different models have. argv[1]: mesh; argv[2]: modes; argv[3]: number of bodies; argv[4]: threads. Times are the
 * least of 61 frames, and means of the processor time, which other programs disturb less. */
#include "bench.h"
#include "formats/columns.h"
#include "integrate/integrate.h"
#include "model/models.h"
#include "model/warped_points.h"
#include "rigid/moving_frame.h"

typedef struct body {
    double phase;
    sp_moving_frame frame;
    sp_external_loads loads;
    sp_system system;
    sp_integrator *integrator;
    sp_warped_points points;
    float *x;
} body;

typedef struct crowd {
    int64_t count;
    int threads;
    double time;
    body *bodies;
    double *sum; /* [count] */
} crowd;

static const double STEP = 1.0 / 60;

/* A point of a body that walks: it sways and turns, a new one for each body. */
static sp_pose walk(const void *data, double t, double velocity[6])
{
    const double s = 4 * t + ((const body *)data)->phase, turn[3] = {0, 0.4 * sin(s), 0};
    sp_pose pose = {{t, 0.1 * sin(s), 0.05 * cos(2 * s)}, {1, 0, 0, 0}};
    sp_quaternion_from_vector(turn, pose.q);
    if (velocity)
        memcpy(velocity, (double[6]){1, 0.4 * cos(s), -0.4 * sin(2 * s), 0, 1.6 * cos(s), 0}, 6 * sizeof *velocity);
    return pose;
}

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const sp_system *)self)->n * 8);
}

static void step(void *data)
{
    crowd *c = data;
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int64_t i = 0; i < c->count; i++)
        if (sp_integrator_step(c->bodies[i].integrator) != SP_OK)
            abort();
    c->time += STEP;
}

static void place(void *data)
{
    crowd *c = data;
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int64_t i = 0; i < c->count; i++) {
        const sp_pose pose = walk(&c->bodies[i], c->time, NULL);
        sp_warped_points_place(&c->bodies[i].points, sp_integrator_q(c->bodies[i].integrator), &pose, c->bodies[i].x);
    }
}

typedef float lanes __attribute__((vector_size(64)));

/* All rows once. */
static void read_once(void *data)
{
    crowd *c = data;
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int64_t i = 0; i < c->count; i++) {
        const sp_warped_points *p = &c->bodies[i].points;
        lanes sum[8] = {{0}};
        const int64_t size = 6 * SP_WARPED_BLOCK * p->blocks * p->r;
        for (int64_t k = 0; k + 128 <= size; k += 128)
            for (int l = 0; l < 8; l++) {
                lanes next;
                memcpy(&next, p->rows + k + 16 * l, sizeof next);
                sum[l] += next;
            }
        for (int l = 0; l < 8; l++)
            c->sum[i] += (double)sum[l][0];
    }
}

/* The least wall-clock time of all frames, and the processor time of all threads over all of them, s. */
typedef struct timing {
    void (*work)(void *);
    double least, used;
} timing;

static void measure(timing *t, crowd *c, bool counted)
{
    const double used = bench_processor(), start = bench_now();
    t->work(c);
    if (!counted)
        return;
    t->least = fmin(t->least, bench_now() - start);
    t->used += bench_processor() - used;
}

static void begin_body(sp_context *context, const sp_columns *modes, const sp_inertia *inertia,
                       const sp_modal_warp *warp, int64_t vertices, const int64_t *vertex, int64_t number, body *b)
{
    const sp_integrator_parameters p = {
        .kind = SP_NEWMARK, .step = STEP, .beta = 0.25, .gamma = 0.5, .damping_stiffness = 0.01};
    const double gravity[3] = {0, 0, -9.81};
    *b = (body){.phase = (double)number};
    b->x = malloc(3 * (size_t)vertices * sizeof *b->x);
    if (!b->x || sp_modal_system_new(context, modes->count, modes->eigenvalue, &b->system) != SP_OK)
        exit(1);
    const sp_external_loads none = {.self = &b->system, .mean = no_force};
    if (sp_moving_frame_new(context, inertia, 1, walk, b, true, gravity, &none, &b->frame) != SP_OK)
        exit(1);
    b->loads = sp_moving_frame_loads(&b->frame);
    if (sp_integrator_new(context, &b->system, &b->loads, &p, NULL, NULL, &b->integrator) != SP_OK ||
        sp_warped_points_new(context, warp, modes->U, modes->count, vertices, vertex, &b->points) != SP_OK)
        exit(1);
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_fe_space space;
    sp_columns modes;
    sp_file file;
    sp_inertia inertia;
    sp_modal_warp warp;
    sp_pool pool = {0};
    int64_t triangles, *triangle, *element, vertices = 0;
    if (argc != 5)
        return 2;
    bench_begin();
    crowd c = {.count = atoll(argv[3]), .threads = atoi(argv[4])};
    bench_read(&context, argv[1], &mesh, &space);
    const int descriptor = open(argv[2], O_RDONLY);
    if (descriptor < 0 || sp_file_read(&context, descriptor, NULL, false, false, &file) != SP_OK ||
        sp_columns_read(&context, &file, 3 * mesh.vertex_count, &modes) != SP_OK || !modes.eigenvalue ||
        sp_inertia_of_body(&context, &space, modes.lumped, modes.count, modes.U, &inertia) != SP_OK ||
        sp_modal_warp_new(&context, &mesh, &warp) != SP_OK ||
        sp_mesh_boundary(&context, &mesh, &pool, &triangles, &triangle, &element) != SP_OK)
        return 1;
    int64_t *vertex = sp_pool_new(&pool, mesh.vertex_count, sizeof *vertex);
    bool *outside = sp_pool_new(&pool, mesh.vertex_count, sizeof *outside);
    for (int64_t i = 0; i < 3 * triangles; i++)
        outside[triangle[i]] = true;
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        if (outside[v])
            vertex[vertices++] = v;
    c.bodies = sp_pool_new(&pool, c.count, sizeof *c.bodies);
    c.sum = sp_pool_new(&pool, c.count, sizeof *c.sum);
    for (int64_t i = 0; i < c.count; i++)
        begin_body(&context, &modes, &inertia, &warp, vertices, vertex, i, &c.bodies[i]);
    enum { FRAMES = 61 };
    const int64_t block = SP_WARPED_BLOCK * c.bodies[0].points.blocks;
    timing dynamics = {.work = step, .least = INFINITY}, positions = {.work = place, .least = INFINITY},
           bound = {.work = read_once, .least = INFINITY};
    for (int i = 0; i <= FRAMES; i++) {
        measure(&dynamics, &c, i > 0);
        measure(&positions, &c, i > 0);
        measure(&bound, &c, i > 0);
    }
    const double bytes = 24 * (double)(block * modes.count * c.count), frame = dynamics.least + positions.least,
                 used = (dynamics.used + positions.used) / FRAMES;
    printf("%lld bodies of %lld tetrahedra and %lld surface vertices, r = %lld, %d threads: a frame %.2f ms, of which "
           "steps "
           "%.2f ms and positions %.2f ms; reading the %.0f MB of their rows once %.2f ms (%.1f GB/s): %.2f; processor "
           "time of a frame %.2f ms, of reading %.2f ms: %.2f\n",
           (long long)c.count, (long long)sp_mesh_element_count(&mesh), (long long)vertices, (long long)modes.count,
           c.threads, 1e3 * frame, 1e3 * dynamics.least, 1e3 * positions.least, 1e-6 * bytes, 1e3 * bound.least,
           1e-9 * bytes / bound.least, frame / bound.least, 1e3 * used, 1e3 * bound.used / FRAMES,
           used * FRAMES / bound.used);
    return 0;
}
