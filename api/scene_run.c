/* The steps of a scene, and what is to be said of them. */
#include "api/loaded_scene.h"

#include <stdio.h>
#include <string.h>

static int step(void *data, int64_t number)
{
    sp_loaded_scene *scene = data;
    (void)number;
    return sp_contact_scene_step(scene->contact);
}

static void visit(void *data, sp_state *state)
{
    sp_loaded_scene *scene = data;
    sp_contact_scene_visit(scene->contact, state);
}

static int watch_step(void *data, int64_t number)
{
    sp_loaded_scene *scene = data;
    (void)number;
    sp_contact_watch_step(&scene->watch, scene->contact);
    return SP_OK;
}

static int watch_energies(void *data, int64_t number)
{
    sp_loaded_scene *scene = data;
    if (number == 0)
        return SP_OK;
    sp_contact_scene_energies(scene->contact, scene->energy);
    sp_contact_watch_energies(&scene->watch, scene->energy);
    return SP_OK;
}

static void visit_watch(void *data, sp_state *state)
{
    sp_loaded_scene *scene = data;
    SP_STATE_VALUE(state, scene->watch);
}

void sp_scene_begin_run(sp_loaded_scene *scene)
{
    sp_contact_watch_begin(&scene->watch, scene->contact);
    memcpy(scene->energy, scene->watch.first, sizeof scene->energy);
    scene->run =
        (sp_run){.motion = {.self = scene, .step = step, .visit = visit}, .steps = -1, .every = SP_CONTACT_WATCH_EVERY};
    sp_run_watch(&scene->run,
                 (sp_observer){.self = scene, .step = watch_step, .frame = watch_energies, .visit = visit_watch});
}

/* Bodies that felt the end of their path, which a body that was set from outside before that did not follow. Newmark's
 * loads reach half a step past the end of the motion. */
static void judge_paths(const sp_loaded_scene *scene, sp_remarks *remarks)
{
    const sp_scene *text = &scene->input.scene;
    const double end = sp_contact_scene_time(scene->contact) + 0.5 * scene->options.step;
    for (int64_t i = 0; i < text->body_count; i++) {
        const sp_driven_pose *driven = &scene->paths[i];
        const sp_path *path = &driven->path;
        char which[SP_REMARK_SIZE / 2];
        if (!text->bodies[i].inertial || !text->bodies[i].path || path->count == 0 ||
            (driven->set && driven->since <= path->time[path->count - 1]))
            continue;

        snprintf(which, sizeof which, "the path %s of %s", text->bodies[i].path, text->bodies[i].name);
        sp_path_judge(path, which, end, remarks);
    }
}

void sp_scene_judge(const sp_loaded_scene *scene, const char *step, const char *semi_implicit, sp_remarks *remarks)
{
    const sp_scene *text = &scene->input.scene;
    sp_contact_watch seen = scene->watch;
    sp_contact_advice advice = {.step = step,
                                .semi_implicit = scene->options.semi_implicit ? semi_implicit : NULL,
                                .stiffness_stated = text->contact.stiffness > 0,
                                .direction_stated = text->contact.direction != SP_SCENE_BY_GEOMETRY};
    for (int64_t i = 0; i < text->model_count; i++)
        advice.by_coordinate |= scene->models[i].cubature.modal;
    for (int64_t i = 0; i < text->body_count; i++)
        if (scene->paths[i].set) /* the work of poses that were set is not known */
            seen.made = 0;
    sp_contact_watch_judge(&seen, scene->contact, &advice, remarks);
    judge_paths(scene, remarks);
}
