#include "tools/curve/curve.h"

#include <math.h>

/* A point whose harmonics leave more of the force is not a motion of the model. Points of curves leave 1e-8. */
static const double MOST_RESIDUAL = 1e-5;

static void read_curve(sp_context *context, const curve_choice *c, sp_curve_file *curve)
{
    sp_file file;
    tool_read(c->of, "of", (const char *const[]){"curve", NULL}, false, &file);
    tool_check(sp_curve_read(context, &file, curve), c->of);
    sp_file_free(&file);
    if (c->point >= curve->n)
        tool_fail(SP_USAGE, c->of, "--point %lld: it has %lld points, counted from 0", (long long)c->point,
                  (long long)curve->n);
}

/* Free motion has neither loads nor damping. */
static void refuse_loads(void)
{
    static const char *const names[] = {"loads", "base-acceleration", "damping-mass", "damping-stiffness",
                                        "damping-ratio"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tool_option_idle(names[i], "for a backbone curve");
}

static sp_periodic_motion motion_of(const sp_curve_file *curve, int64_t point)
{
    return (sp_periodic_motion){.kind = curve->kind,
                                .r = curve->r,
                                .harmonics = (curve->columns - 1) / 2,
                                .frequency = 2 * M_PI * curve->frequency[point],
                                .factor = curve->factor[point],
                                .coefficients = curve->coefficient + point * curve->columns * curve->r};
}

/* The curve must be one of this model with these loads. */
static void check_motion(const curve_model *m, const curve_choice *c, const sp_curve_file *curve,
                         const sp_periodic_motion *motion)
{
    const simulation *s = &m->s;
    double residual = 0;
    tool_check_hash(c->of, "mesh", curve->mesh, s->mesh.hash);
    tool_check_hash(c->of, "basis", curve->basis, s->basis.hash);
    if (curve->r != s->r)
        tool_fail(SP_USAGE, c->of, "it has %lld coordinates, the model has %lld: see --rank", (long long)curve->r,
                  (long long)s->r);
    tool_check(sp_periodic_motion_residual(s->context, &m->periodic, motion, &residual), s->mesh.path);
    if (residual <= MOST_RESIDUAL)
        return;
    tool_hint("name the model, the loads and the damping of the curve (siminfo prints the options that it was computed "
              "with)");
    tool_fail(SP_USAGE, c->of,
              "point %lld is not a motion of this model under these loads: its residual is %.2g of the internal force",
              (long long)c->point, residual);
}

/* The trajectory that is written. */
typedef struct writing {
    sp_trajectory_writer *trajectory;
} writing;

static void write_frame(void *data, const sp_periodic_frame *f)
{
    const writing *w = data;
    const sp_frame frame = {
        .time = f->time, .q = f->q, .qdot = f->qdot, .energy = {f->kinetic, f->stored, f->work, f->dissipated}};
    tool_check(sp_trajectory_append(w->trajectory, &frame), tool_output_path());
}

static json_t *meta_of(const curve_model *m, const sp_periodic_motion *motion)
{
    const simulation *s = &m->s;
    const bool damped = motion->kind != SP_PERIODIC_BACKBONE;
    json_t *meta = tool_meta_new("trajectory");
    const double damping[2] = {damped ? s->damping_mass : 0, damped ? s->damping_stiffness : 0};
    tool_facts(meta, sp_kind_trajectory.meta, {"mesh", .text = s->mesh.hash}, {"basis", .text = s->basis.hash},
               {"damping", .count = 2, .reals = damping},
               {"stored", .text = "work", .leave_out = !s->model.system.nonconservative});
    return meta;
}

static void write_trajectory(const curve_model *m, const curve_choice *c, const sp_periodic_motion *motion,
                             tool_output *output)
{
    const simulation *s = &m->s;
    const sp_trajectory_layout layout = {.r = s->r, .vertex_count = s->mesh.mesh.vertex_count};
    writing w;
    json_t *meta = meta_of(m, motion);
    tool_check(sp_trajectory_begin(s->context, tool_output_writer(output), meta, &layout, &w.trajectory),
               tool_output_path());
    tool_check(sp_periodic_motion_frames(s->context, &m->periodic, motion, c->frames, c->periods, write_frame, &w),
               s->mesh.path);
    tool_check(sp_trajectory_finish(w.trajectory), tool_output_path());
    json_decref(meta);
}

/* Compares the motion with the full-order model. */
static void check_full(curve_model *m, const curve_choice *c, const sp_periodic_motion *motion, json_t *result)
{
    curve_full full;
    sp_full_closing closing;
    if (!c->residual && !c->check_full)
        return;
    curve_full_new(m, c, &full);
    if (c->residual) {
        curve_full_residual_new(m, motion->harmonics, &full);
        const double residual = curve_full_residual(m, &full, motion);
        tool_facts(result, sp_kind_trajectory.result, {"full_residual", .real = residual});
        tool_say("in the full-order equation of motion the residual is %.3g of the internal force", residual);
    }
    if (c->check_full) {
        tool_check(sp_full_periodic_close(m->s.context, &full.model, motion, c->steps, &closing), m->s.mesh.path);
        tool_facts(result, sp_kind_trajectory.result, {"closing_position", .real = closing.position},
                   {"closing_velocity", .real = closing.velocity});
        tool_say("one period of the full-order model in %lld steps: the states before and after differ by %.3g in "
                 "position and %.3g in velocity",
                 (long long)c->steps, closing.position, closing.velocity);
    }
    curve_full_free(&full);
}

void curve_motion(sp_context *context, const curve_choice *c)
{
    curve_model model;
    sp_curve_file curve;
    tool_output *output = tool_output_open(tool_output_path());
    read_curve(context, c, &curve);
    if (curve.kind == SP_PERIODIC_BACKBONE)
        refuse_loads();
    curve_model_read(context, c, &model);
    const sp_periodic_motion motion = motion_of(&curve, c->point);
    model.periodic.harmonics = motion.harmonics;
    check_motion(&model, c, &curve, &motion);
    json_t *result = tool_result_new();
    check_full(&model, c, &motion, result);
    write_trajectory(&model, c, &motion, output);
    tool_output_finish(output, result);
    sp_curve_file_free(&curve);
    curve_model_free(&model);
}
