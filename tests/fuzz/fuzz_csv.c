/* libFuzzer entry for the readers of loads, moves, activations and damping times: the first byte selects one of them,
 * the rest is the text. Stops when a parse that succeeded breaks what the headers promise, or one that failed says
 * nothing. */
#include "formats/activation.h"
#include "formats/damping.h"
#include "formats/loads.h"
#include "formats/prescribed.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VERTICES = 8, REGIONS = 3 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool all_finite(int64_t count, const double *x)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static void check_series(int64_t count, const double *time, int width, const double *value)
{
    require(count >= 1 && all_finite(count, time) && all_finite(count * width, value));
    for (int64_t i = 1; i < count; i++) {
        require(time[i] > time[i - 1]);
        for (int k = 0; k < width; k++)
            require(isfinite((value[i * width + k] - value[(i - 1) * width + k]) / (time[i] - time[i - 1])));
    }
}

static void check_moves(int64_t count, const sp_prescribed_vertex *moves)
{
    static const int movable[VERTICES] = {7, 7, 2, 7,
                                          7, 7, 7, 5}; /* axes: those of the mesh's fixed vertices, all of a free one */
    double u[3 * VERTICES], v[3 * VERTICES];
    for (int64_t i = 0; i < count; i++) {
        const sp_prescribed_vertex *m = &moves[i];
        require(m->vertex >= 0 && m->vertex < VERTICES && (i == 0 || m->vertex > m[-1].vertex));
        check_series(m->count, m->time, 3, m->u);
        for (int64_t k = 0; k < 3 * m->count; k++)
            require(movable[m->vertex] >> k % 3 & 1 || m->u[k] == 0);
        const sp_prescribed_motion one = {.vertex_count = 1, .single = m};
        for (int64_t k = 0; k < m->count; k++) {
            sp_prescribed_motion_at(&one, m->time[k], u, v);
            require(all_finite(3, u + 3 * m->vertex) && all_finite(3, v + 3 * m->vertex));
        }
    }
}

static void check_activations(int64_t count, const sp_activation *activations)
{
    for (int64_t i = 0; i < count; i++) {
        const sp_activation *a = &activations[i];
        require(a->region >= 1 && a->region < REGIONS && (i == 0 || a->region > a[-1].region));
        check_series(a->count, a->time, 1, a->tension);
        for (int64_t k = 0; k < a->count; k++)
            require(a->tension[k] >= 0);
    }
}

static void check_course(const sp_load *l)
{
    const sp_course *course = &l->course;
    require(course->kind <= SP_COURSE_TABLE && (course->kind == SP_COURSE_CONSTANT || l->kind != SP_LOAD_SPRING));
    require(course->kind != SP_COURSE_RAMP || isfinite(l->end));
    require(course->kind != SP_COURSE_SINE || (course->frequency > 0 && isfinite(course->frequency + course->phase)));
    if (course->kind != SP_COURSE_TABLE)
        return;
    require(course->count >= 1 && all_finite(course->count, course->time) && all_finite(course->count, course->factor));
    for (int64_t i = 1; i < course->count; i++)
        require(course->time[i] > course->time[i - 1]);
}

static void check_loads(int64_t count, const sp_load *loads)
{
    for (int64_t i = 0; i < count; i++) {
        const sp_load *l = &loads[i];
        const bool by_region = l->kind == SP_LOAD_REGION || l->kind == SP_LOAD_PRESSURE || sp_load_by_mass(l->kind),
                   none = l->kind == SP_LOAD_ALL || l->set || (by_region && l->kind != SP_LOAD_REGION && l->id < 0);
        const int64_t most = l->kind == SP_LOAD_SURFACE ? 0 : by_region ? REGIONS : VERTICES;
        require(l->kind <= SP_LOAD_SPRING && isfinite(l->start) && l->start >= 0 && l->end > l->start &&
                all_finite(3, l->force) && all_finite(3, l->point));
        require(none ? l->id == -1 : l->id >= 0 && l->id < most);
        require((l->kind == SP_LOAD_SET || l->kind == SP_LOAD_TRACTION) <= (l->set != NULL));
        require(!l->set || l->kind == SP_LOAD_SET || l->set->kind == SP_SET_FACES);
        require(isfinite(l->stiffness) && l->stiffness >= 0 && (l->stiffness == 0 || l->kind == SP_LOAD_SPRING));
        require(!l->moving || (l->kind == SP_LOAD_SPRING && isfinite(l->end) && all_finite(3, l->anchor_end)));
        check_course(l);
    }
}

static void check_times(const sp_decay_times *times)
{
    require(times->count >= 1);
    for (int64_t i = 0; i < times->count; i++)
        require(isfinite(times->frequency[i]) && times->frequency[i] > (i > 0 ? times->frequency[i - 1] : 0) &&
                isfinite(times->time[i]) && times->time[i] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;

    /* A mesh of one tetrahedron with regions, sets and held vertices, to which the file refers. */
    int64_t fixed[4] = {0, 2, 5, 7};
    uint8_t axes[4] = {7, 2, 7, 5};
    sp_material materials[REGIONS] = {
        {.name = "body"}, {.name = "biceps", .fibre = SP_FIBRE_STVK}, {.name = "3", .fibre = SP_FIBRE_FUNG}};
    double vertices[3 * VERTICES] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t tet[4] = {0, 1, 2, 3}, face[2] = {0, 1}, vertex[2] = {1, 3};
    sp_mesh_set sets[] = {
        {"top", SP_SET_FACES, 1, face}, {"load face", SP_SET_FACES, 1, face}, {"few", SP_SET_VERTICES, 2, vertex}};
    const sp_mesh mesh = {.vertex_count = VERTICES,
                          .vertices = vertices,
                          .block[SP_TET4].count = 1,
                          .block[SP_TET4].node = tet,
                          .fixed_count = 4,
                          .fixed = fixed,
                          .fixed_axes = axes,
                          .material_count = REGIONS,
                          .materials = materials,
                          .set_count = sizeof sets / sizeof *sets,
                          .sets = sets};

    const char *text = (const char *)data + 1;
    const int64_t length = (int64_t)size - 1;
    sp_context context = sp_context_default();
    sp_pool pool = {0};
    int64_t count;
    int status;

    /* The first byte chooses the kind of file. */
    if (data[0] % 4 == 0) {
        sp_load *loads;
        status = sp_loads_parse(&context, text, length, &mesh, &pool, &count, &loads);
        if (status == SP_OK)
            check_loads(count, loads);
    } else if (data[0] % 4 == 1) {
        sp_prescribed_vertex *moves;
        status = sp_prescribed_motion_parse(&context, text, length, &mesh, &pool, &count, &moves);
        if (status == SP_OK)
            check_moves(count, moves);
    } else if (data[0] % 4 == 3) {
        sp_decay_times times;
        status = sp_damping_parse(&context, text, length, &pool, &times);
        if (status == SP_OK)
            check_times(&times);
    } else {
        sp_activation *activations;
        status = sp_activations_parse(&context, text, length, &mesh, &pool, &count, &activations);
        if (status == SP_OK)
            check_activations(count, activations);
    }

    sp_pool_free(&pool);
    require(status == SP_OK || (status == SP_INPUT && context.message[0]));
    return 0;
}
