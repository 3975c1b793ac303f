/* Making a scene: bodies, checks of pairs, and what is freed. */
#include "scene/internal.h"

#include "scene/stiffness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load_of(void *self, double t0, double t1, double *f)
{
    const contact_body *a = self;
    (void)t0, (void)t1; /* contact is constant over a step */
    memcpy(f, a->Q, (size_t)a->body->r * sizeof *f);
}

sp_contact_scene_name sp_contact_scene_label(const sp_contact_scene *scene, int64_t i)
{
    const char *name = scene->contact_bodies[i].body->name;
    sp_contact_scene_name l;
    snprintf(l.text, sizeof l.text, "body %lld%s%s%s", (long long)i, name ? " (" : "", name ? name : "",
             name ? ")" : "");
    return l;
}

/* The integrator of a body that is not free. */
static int make_deformation(sp_contact_scene *scene, contact_body *a)
{
    const sp_contact_scene_body *body = a->body;
    const sp_external_loads contact = {.self = a, .mean = load_of};
    sp_integrator_parameters p = scene->p.integrator;

    p.step = scene->p.step;
    p.damping_mass = body->damping[0];
    p.damping_stiffness = body->damping[1];
    p.most_acceleration = body->most_acceleration;
    a->forcing = contact;

    if (body->frame_inertia) {
        SP_PASS(sp_moving_frame_new(&a->context, body->frame_inertia, body->frame_scale,
                                    body->felt_path ? body->felt_path : body->path, body->path_data, true,
                                    scene->p.gravity, &contact, &a->frame));
        a->forcing = sp_moving_frame_loads(&a->frame);
    } else {
        const sp_pose pose = body->motion == SP_CONTACT_SCENE_PATH ? body->path(body->path_data, 0, NULL) : body->pose;
        double R[9];
        sp_quaternion_matrix(pose.q, R);
        sp_contact_scene_hang(scene, a, R, a->last_Q);
        memcpy(a->Q, a->last_Q, (size_t)body->r * sizeof *a->Q); /* the force at the start */
    }
    return sp_integrator_new(&a->context, body->system, &a->forcing, &p, NULL, NULL, &a->integrator);
}

static int make_body(sp_contact_scene *scene, int64_t i, const sp_contact_scene_body *body)
{
    contact_body *a = &scene->contact_bodies[i];
    int status = SP_OK;
    a->body = body;
    a->pose = body->pose;
    a->size = sp_contact_body_size(body);
    a->q = sp_pool_new(&scene->pool, body->r, sizeof(double));
    a->qdot = sp_pool_new(&scene->pool, body->r, sizeof(double));
    a->Q = sp_pool_new(&scene->pool, body->r, sizeof(double));
    a->last_Q = sp_pool_new(&scene->pool, body->r, sizeof(double));
    a->last_v = sp_pool_new(&scene->pool, body->r, sizeof(double));
    SP_PASS(sp_allocated(scene->context, !scene->pool.failed));
    a->context = *scene->context;
    a->context.threads = 1;
    a->context.progress = NULL;

    if (body->free)
        sp_contact_scene_weigh(a);
    a->at = (sp_contact_state){.pose = body->pose, .q = body->r ? a->q : NULL, .qdot = body->r ? a->qdot : NULL};

    if (body->system && body->motion != SP_CONTACT_SCENE_FREE)
        status = make_deformation(scene, a);
    return status == SP_OK
               ? SP_OK
               : sp_fail(scene->context, status, "%s: %s", sp_contact_scene_label(scene, i).text, a->context.message);
}

/* What a tangential spring needs: a point that lasts, a direction and a distance that do too, and a body that moves by
 * its forces alone. */
static int refuse_friction(const sp_contact_scene *scene, int64_t pointshell, int64_t field)
{
    const int64_t coupled_body = scene->p.coupling.body;
    if (!(scene->p.friction > 0))
        return SP_OK;
    if (scene->contact_bodies[field].body->distance->kind == SP_DISTANCE_VOXMAP)
        return sp_fail(scene->context, SP_INPUT,
                       "%s has a voxmap, whose depths jump from voxel to voxel: friction needs distances",
                       sp_contact_scene_label(scene, field).text);
    if (coupled_body == pointshell || coupled_body == field)
        return sp_fail(
            scene->context, SP_INPUT,
            "%s is held by the coupling, whose balance needs forces with derivatives: friction has none where it slips",
            sp_contact_scene_label(scene, coupled_body).text);
    return SP_OK;
}

/* Contacts of spheres are at positions that do not belong to a point. */
static int refuse_ball_friction(const sp_contact_scene *scene)
{
    int64_t count = scene->sphere_pair_count > 0 ? 2 : 0;
    for (int64_t i = 0; i < scene->body_count && scene->all_spheres; i++)
        count += scene->contact_bodies[i].body->pointshell && scene->contact_bodies[i].body->thickness > 0;
    if (!(scene->p.friction > 0) || count < 2)
        return SP_OK;
    return sp_fail(scene->context, SP_INPUT,
                   "bodies with a thickness touch as balls, at places that no point keeps: friction needs points "
                   "against distances");
}

static int check_pair(const sp_contact_scene *scene, const sp_contact_scene_pair *pair)
{
    if (pair->pointshell < 0 || pair->pointshell >= scene->body_count || pair->field < 0 ||
        pair->field >= scene->body_count || pair->pointshell == pair->field)
        return sp_fail(scene->context, SP_USAGE, "a pair of bodies %lld and %lld of %lld", (long long)pair->pointshell,
                       (long long)pair->field, (long long)scene->body_count);

    const sp_contact_scene_body *a = scene->contact_bodies[pair->pointshell].body,
                                *b = scene->contact_bodies[pair->field].body;
    if (!a->pointshell || !b->distance) /* pairs without distance fields are tested as spheres */
        return sp_fail(scene->context, SP_USAGE, "bodies %lld and %lld are a pair, but %s has no %s",
                       (long long)pair->pointshell, (long long)pair->field,
                       sp_contact_scene_label(scene, a->pointshell ? pair->field : pair->pointshell).text,
                       a->pointshell ? "distances" : "points");

    if (a->pointshell->modes > a->r ||
        (b->distance->kind == SP_DISTANCE_DEFORMED && sp_deformed_field_r(b->distance->deformed) > b->r))
        return sp_fail(scene->context, SP_USAGE,
                       "bodies %lld and %lld are a pair, but one has more modes than coordinates",
                       (long long)pair->pointshell, (long long)pair->field);

    return refuse_friction(scene, pair->pointshell, pair->field);
}

/* The first and the last body that … */
typedef struct ends {
    int64_t first, last;
} ends;

static void note_end(ends *e, bool wanted, int64_t body)
{
    e->first = wanted && e->first < 0 ? body : e->first;
    e->last = wanted ? body : e->last;
}

/* The same for the pairs of all bodies: what refuses a pair is of one of the two, so that each is tried with one other.
 */
static int check_all(const sp_contact_scene *scene)
{
    ends shells[2] = {{-1, -1}, {-1, -1}}, fields[2] = {{-1, -1}, {-1, -1}}; /* all, and those that move */

    for (int64_t i = 0; i < scene->body_count; i++)
        for (int moving = 0; moving <= sp_contact_scene_moves(&scene->contact_bodies[i]); moving++) {
            note_end(&shells[moving], scene->contact_bodies[i].body->pointshell, i);
            note_end(&fields[moving], scene->contact_bodies[i].body->distance, i);
        }

    /* One other body of each kind is enough. A body at rest needs one that moves: two at rest are no pair. */
    for (int64_t i = 0; i < scene->body_count; i++) {
        const contact_body *a = &scene->contact_bodies[i];
        const ends *pointshell = &shells[!sp_contact_scene_moves(a)], *field = &fields[!sp_contact_scene_moves(a)];
        const int64_t s = pointshell->first == i ? pointshell->last : pointshell->first,
                      f = field->first == i ? field->last : field->first;
        if (a->body->pointshell && f >= 0 && f != i)
            SP_PASS(check_pair(scene, &(sp_contact_scene_pair){i, f}));
        if (a->body->distance && s >= 0 && s != i)
            SP_PASS(check_pair(scene, &(sp_contact_scene_pair){s, i}));
    }
    return SP_OK;
}

int sp_contact_scene_by_bodies(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

bool sp_contact_scene_neighbours(const sp_contact_scene *scene, int32_t a, int32_t b)
{
    const sp_contact_scene_joined *joined = &scene->p.joined;
    const int32_t key[2] = {a < b ? a : b, a < b ? b : a};
    return joined->neighbour_count > 0 &&
           bsearch(key, joined->neighbours, (size_t)joined->neighbour_count, sizeof key, sp_contact_scene_by_bodies);
}

static bool of_spheres(const sp_contact_scene_body *bodies, int64_t count, const sp_contact_scene_pair *pair)
{
    if (pair->pointshell < 0 || pair->pointshell >= count || pair->field < 0 || pair->field >= count ||
        pair->pointshell == pair->field)
        return false;
    const sp_contact_scene_body *a = &bodies[pair->pointshell], *b = &bodies[pair->field];
    return !b->distance && a->pointshell && b->pointshell && a->thickness > 0 && b->thickness > 0;
}

/* Takes those of points against distances into `points` [count] in their order; the others are balls. */
static int sort_pairs(sp_contact_scene *scene, const sp_contact_scene_body *bodies, int64_t count,
                      const sp_contact_scene_pair *pairs, sp_contact_scene_pair *points, int64_t *point_count)
{
    scene->sphere_pairs = sp_pool_raw(&scene->pool, 2 * count, sizeof(int32_t));
    SP_PASS(sp_allocated(scene->context, scene->sphere_pairs && points));

    for (int64_t i = 0; i < count; i++) {
        int32_t *pair = scene->sphere_pairs + 2 * scene->sphere_pair_count;
        if (!of_spheres(bodies, scene->body_count, &pairs[i])) {
            SP_PASS(check_pair(scene, &pairs[i]));
            points[(*point_count)++] = pairs[i];
            continue;
        }

        /* The lower number first, as in the pairs that are near */
        const bool ordered = pairs[i].pointshell < pairs[i].field;
        pair[0] = (int32_t)(ordered ? pairs[i].pointshell : pairs[i].field);
        pair[1] = (int32_t)(ordered ? pairs[i].field : pairs[i].pointshell);
        scene->sphere_pair_count++;
    }

    if (scene->sphere_pair_count)
        qsort(scene->sphere_pairs, (size_t)scene->sphere_pair_count, 2 * sizeof(int32_t), sp_contact_scene_by_bodies);
    return SP_OK;
}

int sp_contact_scene_new(sp_context *context, const sp_contact_scene_parameters *parameters, int64_t body_count,
                         const sp_contact_scene_body *bodies, int64_t pair_count, const sp_contact_scene_pair *pairs,
                         bool spheres, sp_contact_scene **result)
{
    int status = SP_OK;
    sp_pool scratch = {0};
    sp_contact_scene *scene = calloc(1, sizeof *scene);
    *result = NULL;
    SP_PASS(sp_allocated(context, scene));

    scene->context = context;
    scene->p = *parameters;
    scene->p.limits.proximity = parameters->pulse < INFINITY;
    scene->body_count = body_count;

    scene->contact_bodies = sp_pool_new(&scene->pool, body_count, sizeof *scene->contact_bodies);
    scene->ahead = sp_pool_new(&scene->pool, body_count, sizeof *scene->ahead);
    scene->joined_loads = sp_pool_new(&scene->pool, parameters->joined.count, sizeof *scene->joined_loads);
    SP_TRY(sp_allocated(context, !scene->pool.failed));

    for (int64_t i = 0; i < body_count; i++)
        SP_TRY(make_body(scene, i, &bodies[i]));
    for (int64_t i = 0; i < parameters->joined.count; i++)
        scene->contact_bodies[parameters->joined.body[i]].joined = true;

    const int64_t listed = parameters->all ? 0 : pair_count;
    int64_t point_count = 0;
    sp_contact_scene_pair *points = sp_pool_raw(&scratch, listed, sizeof *points);
    SP_TRY(sort_pairs(scene, bodies, listed, pairs, points, &point_count));

    if (parameters->all)
        SP_TRY(check_all(scene));

    scene->all_spheres = spheres;
    SP_TRY(refuse_ball_friction(scene));
    if (spheres || scene->sphere_pair_count > 0)
        SP_TRY(sp_contact_scene_spheres_new(scene));

    SP_TRY(sp_contact_scene_pairs_new(scene, point_count, points));
    sp_contact_scene_crossing_begin(scene);
    if (parameters->pulse < INFINITY)
        SP_TRY(sp_contact_scene_pulses_new(scene));

    const sp_contact_scene_coupling *c = &parameters->coupling;
    if (c->body >= 0) {
        scene->hand = c->path(c->path_data, 0, NULL);
        sp_contact_scene_render(scene);
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK) {
        sp_contact_scene_free(scene);
        return status;
    }
    *result = scene;
    return SP_OK;
}

void sp_contact_scene_free(sp_contact_scene *scene)
{
    if (!scene)
        return;
    for (int64_t i = 0; scene->contact_bodies && i < scene->body_count; i++) {
        sp_integrator_free(scene->contact_bodies[i].integrator);
        sp_moving_frame_free(&scene->contact_bodies[i].frame);
        sp_sphere_tree_free(scene->contact_bodies[i].spheres);
    }
    sp_contact_scene_spheres_free(scene);
    sp_contact_scene_pulses_free(scene);
    sp_contact_scene_pairs_free(scene);
    sp_list_free(&scene->contacts);
    sp_pool_free(&scene->pool);
    free(scene);
}
