/* libFuzzer entry for sp_scene_parse, sp_path_parse and sp_path_parse_device: the lowest bits of the first byte select
 * the reader, 0 or 2, 1 and 3, and the rest is the text. Stops when a parse that succeeded breaks what scene.h
 * promises, or one that failed says nothing. */
#include "formats/scene.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool is_pose(const sp_pose *pose)
{
    double square = 0;
    for (int k = 0; k < 4; k++)
        square += pose->q[k] * pose->q[k];
    return isfinite(pose->x[0]) && isfinite(pose->x[1]) && isfinite(pose->x[2]) && fabs(square - 1) < 1e-14;
}

static bool is_file(const char *name)
{
    return !name || *name;
}

static void check_model(const sp_scene_model *m)
{
    require(strlen(m->name) > 0 && m->kind <= SP_SCENE_REDUCED && m->shape <= SP_SCENE_BOX);
    require(is_file(m->mesh) && is_file(m->basis) && is_file(m->polynomials) && is_file(m->cubature) &&
            is_file(m->pointshell) && is_file(m->field));
    require(is_file(m->voxmap) && is_file(m->surface) && is_file(m->proxies));
    for (int64_t i = 0; i < m->domain_count; i++)
        require(m->domain_fields[i] && *m->domain_fields[i] && m->domain_proxies[i] && *m->domain_proxies[i]);
    if (m->kind != SP_SCENE_RIGID)
        require(m->mesh && m->basis && (m->polynomials == NULL) != (m->cubature == NULL) &&
                (m->field == NULL) == (m->proxies == NULL));
    if (m->kind == SP_SCENE_RIGID)
        require((m->field != NULL) + (m->voxmap != NULL) + (m->shape != SP_SCENE_NO_GEOMETRY) <= 1 && !m->basis &&
                m->nearest == 5);
    if (m->shape == SP_SCENE_PLANE)
        require(fabs(sqrt(sp_dot3(m->normal, m->normal)) - 1) < 1e-14);
    require(m->nearest >= 1 && m->r >= 0 && m->mass >= 0 && m->density >= 0 && m->thickness >= 0 &&
            m->most_acceleration >= 0);
}

static void check_scene(const sp_scene *s)
{
    int64_t coupled = -1;
    require(s->contact.stiffness >= 0 && s->contact.limit >= 1 && s->traversal.cold <= s->traversal.warm &&
            s->traversal.cold >= 1);
    require(s->model_count > 0 && s->body_count > 0 && s->body_count <= 100000);
    for (int64_t i = 0; i < s->model_count; i++)
        check_model(&s->models[i]);
    for (int64_t i = 0; i < s->body_count; i++) {
        const sp_scene_body *b = &s->bodies[i];
        require(strlen(b->name) > 0 && b->model >= 0 && b->model < s->model_count && b->motion <= SP_SCENE_COUPLED &&
                (b->path != NULL) == (b->motion == SP_SCENE_PATH));
        require(b->motion == SP_SCENE_PATH || is_pose(&b->pose));
        if (b->motion == SP_SCENE_COUPLED) {
            require(coupled < 0);
            coupled = i;
        }
    }
    require((s->coupling.kind == SP_SCENE_NO_COUPLING) == (coupled < 0) &&
            (coupled < 0 || s->coupling.body == coupled));
    for (int64_t i = 0; i < 2 * s->coupling.clutch_count; i++)
        require(isfinite(s->coupling.clutch[i]) && s->coupling.clutch[i] >= 0 &&
                (i == 0 || s->coupling.clutch[i] > s->coupling.clutch[i - 1]));
    require(s->pair_count == 0 || s->pairs_given);
    for (int64_t i = 0; i < s->pair_count; i++) {
        const sp_scene_pair *p = &s->pairs[i];
        require(p->pointshell >= 0 && p->pointshell < s->body_count && p->field >= 0 && p->field < s->body_count &&
                p->pointshell != p->field);
        require(s->models[s->bodies[p->pointshell].model].pointshell != NULL);
    }
}

static void check_path(const sp_path *path)
{
    require(path->count > 0);
    for (int64_t i = 0; i < path->count; i++) {
        double velocity[6];
        require(isfinite(path->time[i]) && is_pose(&path->pose[i]) && (i == 0 || path->time[i] > path->time[i - 1]));
        const double next = path->time[i < path->count - 1 ? i + 1 : i],
                     t = path->time[i] + 0.25 * (next - path->time[i]);
        const sp_pose pose = sp_path_at(path, t, velocity);
        require(is_pose(&pose));
        require(!path->clutch || path->clutch[i] == 0 || path->clutch[i] == 1);
        for (int k = 0; k < 6; k++)
            require(isfinite(velocity[k]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    sp_context context = sp_context_default();
    const char *text = (const char *)data + 1;
    int status;
    if (data[0] & 1) {
        sp_path path;
        const bool device = data[0] & 2;
        status = (device ? sp_path_parse_device : sp_path_parse)(&context, text, (int64_t)size - 1, &path);
        if (status == SP_OK) {
            check_path(&path);
            require(device || !path.clutch);
        } else
            require(!path.pool.first && !path.clutch);
        sp_path_free(&path);
    } else {
        sp_scene scene;
        status = sp_scene_parse(&context, text, (int64_t)size - 1, "folder", &scene);
        if (status == SP_OK)
            check_scene(&scene);
        else
            require(!scene.pool.first);
        sp_scene_free(&scene);
    }
    require(status == SP_OK || (status == SP_INPUT && context.message[0]));
    return 0;
}
