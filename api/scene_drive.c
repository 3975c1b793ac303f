#include "api/error.h"
#include "api/loaded_scene.h"

#include <string.h>

static const sp_loaded_model *model_of(const sp_loaded_scene *scene, int64_t body)
{
    return &scene->models[scene->input.scene.bodies[body].model];
}

static bool is_body(const sp_loaded_scene *scene, int64_t body)
{
    return body >= 0 && body < scene->input.scene.body_count;
}

enum sp_drive sp_scene_drive(sp_loaded_scene *scene, int64_t body, const double pose[7], const double *twist)
{
    const sp_scene *text = &scene->input.scene;
    sp_pose next;

    if (body != SP_DRIVE_HAND && !is_body(scene, body))
        return SP_DRIVE_NO_BODY;
    if (body == SP_DRIVE_HAND ? text->coupling.kind == SP_SCENE_NO_COUPLING
                              : text->bodies[body].motion != SP_SCENE_PATH)
        return SP_DRIVE_NOT_DRIVEN;
    if (!sp_all_finite(7, pose) || (twist && !sp_all_finite(6, twist)))
        return SP_DRIVE_NOT_FINITE;

    memcpy(next.x, pose, sizeof next.x);
    memcpy(next.q, pose + 3, sizeof next.q);
    if (!sp_unit_vector(4, next.q))
        return SP_DRIVE_NO_ROTATION;

    /* Of several poses before one step the last one counts: the velocity is taken once. */
    sp_driven_pose *driven = body == SP_DRIVE_HAND ? &scene->hand : &scene->paths[body];
    const double now = sp_contact_scene_time(scene->contact);
    if (!(driven->set && driven->since == now))
        sp_scene_driven_velocity(driven, now, driven->before);

    /* The clutch of the path ends with the path. */
    if (driven->clutch_times.count > 0 && !driven->clutched) {
        driven->clutch = sp_scene_clutch_at(driven, now);
        driven->clutched = true;
        sp_clutch_set(&driven->clutch, false, &next);
    }

    driven->pose = next;
    driven->set = true;
    driven->since = now;

    /* Loads of the next step are means over an interval that begins up to 1 - γ steps after `now`, where that of the
     * last step ended (integrate/impulse.c). */
    driven->felt = now + (1 - 0.5 * scene->options.gamma) * scene->options.step;

    for (int k = 0; k < 6; k++)
        driven->twist[k] = twist ? twist[k] : 0;
    return SP_DRIVE_DONE;
}

enum sp_drive sp_scene_clutch(sp_loaded_scene *scene, bool held)
{
    sp_driven_pose *hand = &scene->hand;
    if (scene->input.scene.coupling.kind == SP_SCENE_NO_COUPLING)
        return SP_DRIVE_NOT_DRIVEN;

    const double now = sp_contact_scene_time(scene->contact);
    const sp_pose device = sp_scene_device_at(hand, now, NULL);
    hand->clutch = sp_scene_clutch_at(hand, now);
    hand->clutched = true;
    sp_clutch_set(&hand->clutch, held, &device);
    return SP_DRIVE_DONE;
}

enum sp_drive sp_scene_force(const sp_loaded_scene *scene, int64_t body, int64_t vertex, const double value[3],
                             sp_contact_scene_force *force)
{
    if (!is_body(scene, body))
        return SP_DRIVE_NO_BODY;
    const sp_loaded_model *model = model_of(scene, body);
    if (vertex < -1 || vertex >= model->mesh.mesh.vertex_count)
        return SP_DRIVE_NO_VERTEX;
    if (!sp_all_finite(3, value))
        return SP_DRIVE_NOT_FINITE;
    if (scene->input.scene.bodies[body].motion != SP_SCENE_FREE && (model->r == 0 || vertex < 0))
        return SP_DRIVE_NOT_DRIVEN;

    *force = (sp_contact_scene_force){.body = body, .stride = model->basis.columns.rows};
    memcpy(force->force, value, sizeof force->force);
    if (vertex >= 0) {
        memcpy(force->point, model->mesh.mesh.vertices + 3 * vertex, sizeof force->point);
        force->U = model->r ? model->basis.columns.U + 3 * vertex : NULL;
    }
    return SP_DRIVE_DONE;
}
