#include "tools/reduce/free.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model ---- */

/* The largest errors of the files that are written, under the loads of these motions. */
static void measure_final(reduce_search *s, const sp_list *list, double *error)
{
    const reduce_motion *motions = list->data;
    for (int64_t i = 0; i < list->count; i++) {
        reduce_table table;
        if (!motions[i].path)
            continue;
        reduce_measure(s, &s->model, NULL, s->step, &motions[i], &table);
        reduce_take_errors(s, &table, 1, error);
        s->final.seconds = fmax(s->final.seconds, 1e-6 * reduce_table_value(&table, 1, "us_per_step"));
    }
}

/* The error of a cubature's choice of elements under the files and touches: beside all elements in the same basis. */
static void measure_choice(reduce_search *s)
{
    const reduce_model all = {.basis = s->model.basis};
    const reduce_motion *motions = s->witness.data;

    memset(s->choice_error, 0, sizeof s->choice_error);
    if (s->polynomials || s->free)
        return;
    for (int64_t i = 0; i < s->witness.count; i++) {
        const reduce_motion motion = {.loads = motions[i].loads, .path = reduce_numbered(s, "all-elements", i)};
        reduce_table table;
        reduce_say(s, "all elements in the basis");
        if (!reduce_move(s, &all, motion.loads, s->step, s->steps, reduce_every(s), motion.path)) {
            s->choice_error[s->choice->quantity] = INFINITY;
            continue;
        }
        reduce_measure(s, &s->model, NULL, s->step, &motion, &table);
        reduce_take_errors(s, &table, 1, s->choice_error);
    }
}

/* The error of the time step under the files and touches. */
static void measure_step(reduce_search *s)
{
    const reduce_choice *choice = s->choice;
    const reduce_motion *motions = s->witness.data;
    const int q = choice->quantity;

    memset(s->step_error, 0, sizeof s->step_error);
    for (int64_t i = 0; i < s->witness.count; i++)
        reduce_step_error(s, &s->model, motions[i].loads, s->step_error);
    if (s->step_error[q] > choice->error)
        tool_warn(choice->mesh, "the time step has an error of %s of %.2g %%: take smaller steps than --dt %s%s",
                  reduce_quantity_name[q], 100 * s->step_error[q], s->step, choice->step ? ", or --dt auto" : "");
}

bool reduce_write_model(reduce_search *s)
{
    const reduce_choice *choice = s->choice;

    s->model.basis = reduce_text(&s->commands, "%s-basis.npz", choice->name);
    reduce_make_basis(s, s->best, s->model.basis, s->chosen);
    s->model.forces = reduce_make_forces(
        s, reduce_text(&s->commands, "%s-%s.npz", choice->name, s->polynomials ? "poly" : "cubature"), s->model.basis,
        s->chosen, 0.1 * choice->error, &s->trained);
    if (s->free)
        s->scene = reduce_free_scene(s, &s->model, 0, s->family.count ? s->family.path[0] : NULL,
                                     reduce_text(&s->commands, "%s-scene.json", choice->name));

    s->final = (reduce_point){.r = s->chosen};
    measure_final(s, &s->judges, s->final.error);
    measure_final(s, &s->witness, s->final.measured);
    measure_choice(s);
    measure_step(s);

    /* The files are not those that judged: their last digits differ, and a cubature's elements. */
    const double error = reduce_stated(s, &s->final, choice->quantity);
    const bool kept = choice->budget > 0 || error <= choice->error;
    if (!kept && !choice->best)
        fprintf(tool_stdout(), "the model that was written does not keep %g %%: its error of %s is %.2g %%\n",
                100 * choice->error, reduce_quantity_name[choice->quantity], 100 * error);
    return kept;
}

/* ---- begin and end ---- */

void reduce_open(reduce_search *s)
{
    const reduce_choice *c = s->choice;
    s->start = tool_seconds();
    tool_read_mesh(c->mesh, NULL, &s->mesh);
    tool_check(sp_fe_space_new(s->context, &s->mesh.mesh, &s->body), s->mesh.path);
    s->free = !s->mesh.mesh.fixed_count;
    if (s->free)
        reduce_free_check(s);

    s->polynomials = true;
    for (int64_t m = 0; m < s->mesh.mesh.material_count; m++)
        s->polynomials &= sp_material_quadratic(&s->mesh.mesh.materials[m]);

    s->family = (reduce_family){.low = c->low, .high = c->high, .duration = c->duration, .seed = c->seed};
    reduce_family_read(s->context, &s->mesh, &c->loads, &s->family);
    if (c->frame)
        reduce_family_note(&s->family, c->frame);
    if (c->touch)
        reduce_family_touch(&(tool_place_names){.context = s->context,
                                                .option = "touch",
                                                .vertex_count = s->mesh.mesh.vertex_count,
                                                .mesh = &s->mesh.mesh,
                                                .mesh_path = c->mesh},
                            c->touch, c->force, &s->family);
}

void reduce_close(reduce_search *s, bool found)
{
    if ((found || s->choice->best) && !s->choice->keep)
        reduce_commands_remove(&s->commands);
    sp_list_free(&s->candidates);
    sp_list_free(&s->trained);
    sp_list_free(&s->judges);
    sp_list_free(&s->witness);
    for (int i = 0; i < REDUCE_BASES; i++)
        sp_list_free(&s->bases[i].points);
    reduce_commands_free(&s->commands);
    reduce_family_free(&s->family);
    sp_fe_space_free(&s->body);
    sp_mesh_free(&s->mesh.mesh);
}
