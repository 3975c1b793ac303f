#include "library/loaded_scene.h"

int sp_scene_judge(const sp_loaded_scene *scene, const sp_contact_watch *watch, const char *step,
                   const char *semi_implicit, char warning[SP_CONTACT_WARNINGS][SP_CONTACT_WARNING_SIZE])
{
    const sp_scene *text = &scene->input.scene;
    sp_contact_watch seen = *watch;
    sp_contact_advice advice = {.step = step,
                                .semi_implicit = scene->options.semi_implicit ? semi_implicit : NULL,
                                .stiffness_stated = text->contact.stiffness > 0,
                                .direction_stated = text->contact.direction != SP_SCENE_BY_GEOMETRY};
    for (int64_t i = 0; i < text->model_count; i++)
        advice.by_coordinate |= scene->models[i].cubature.modal;
    for (int64_t i = 0; i < text->body_count; i++)
        if (scene->paths[i].set) /* the work of poses that were set is not known */
            seen.made = 0;
    return sp_contact_watch_judge(&seen, scene->contact, &advice, warning);
}
