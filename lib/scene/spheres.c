/* Contact between point shells in a scene: near pairs, penetrating points, and their forces. */
#include "scene/internal.h"

#include "base/lanes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Two bodies that are near. */
typedef struct meeting {
    int32_t body[2];      /* ascending */
    int thread;           /* whose lists have what it found: */
    int64_t first, count; /* contacts and pushes there */
} meeting;

/* What one thread finds in the meetings that it looks at. */
typedef struct share {
    sp_list contacts; /* of sp_sphere_contact */
    sp_list pushes;   /* of double, N: the force of each along its normal */
    sp_sphere_workspace workspace;
    int64_t visited;
    int status;
} share;

struct sp_contact_scene_spheres {
    double *centre, *radius; /* [bodies, 3], [bodies] m; radius < 0: it has no points */
    sp_list meetings;        /* whose balls about all points overlap and that may meet, ascending */
    int threads;
    share *shares;          /* [threads] */
    bool *needed;           /* [bodies] whether some meeting needs its places */
    sp_sphere_tree **trees; /* [bodies] of those bodies, */
    int64_t *run;           /* [bodies + 1] in runs of one shell, which are placed together: where each begins */
    int64_t *start;         /* [bodies + 1] into */
    sp_list of_body;        /* of int64_t: the sphere contacts of a body, ascending */
};

/* ---- making ---- */

static bool has_spheres(const sp_contact_scene *scene, int64_t body)
{
    return scene->contact_bodies[body].body->pointshell && scene->contact_bodies[body].body->thickness > 0;
}

int sp_contact_scene_spheres_new(sp_contact_scene *scene)
{
    const int64_t n = scene->body_count;
    sp_contact_scene_spheres *spheres = scene->spheres = sp_pool_new(&scene->pool, 1, sizeof *spheres);
    SP_PASS(sp_allocated(scene->context, spheres));

    spheres->threads = scene->context->threads;
    spheres->centre = sp_pool_new(&scene->pool, 3 * n, sizeof(double));
    spheres->radius = sp_pool_raw(&scene->pool, n, sizeof(double));
    spheres->shares = sp_pool_new(&scene->pool, spheres->threads, sizeof *spheres->shares);
    spheres->needed = sp_pool_new(&scene->pool, n, sizeof(bool));
    spheres->trees = sp_pool_new(&scene->pool, n, sizeof *spheres->trees);
    spheres->run = sp_pool_new(&scene->pool, n + 1, sizeof *spheres->run);
    spheres->start = sp_pool_new(&scene->pool, n + 1, sizeof(int64_t));
    SP_PASS(sp_allocated(scene->context, !scene->pool.failed));

    double bytes = 0;
    for (int64_t i = 0; i < n; i++)
        bytes += has_spheres(scene, i) ? sp_sphere_tree_bytes(scene->contact_bodies[i].body->pointshell) : 0;
    if (scene->p.memory > 0 && bytes > scene->p.memory)
        return sp_fail(scene->context, SP_SYSTEM, "the spheres of %lld bodies need %.3g GB, of which %.3g are there",
                       (long long)n, 1e-9 * bytes, 1e-9 * scene->p.memory);

    for (int64_t i = 0; i < n; i++) {
        const sp_contact_scene_body *body = scene->contact_bodies[i].body;
        spheres->radius[i] = -1;
        if (!has_spheres(scene, i))
            continue;

        if (body->pointshell->modes > body->r)
            return sp_fail(scene->context, SP_USAGE, "%s has %lld coordinates, its points %lld modes",
                           sp_contact_scene_label(scene, i).text, (long long)body->r,
                           (long long)body->pointshell->modes);
        SP_PASS(sp_sphere_tree_new(scene->context, body->pointshell, &scene->contact_bodies[i].spheres));
    }
    return SP_OK;
}

void sp_contact_scene_spheres_free(sp_contact_scene *scene)
{
    sp_contact_scene_spheres *spheres = scene->spheres;
    if (!spheres)
        return;
    for (int t = 0; spheres->shares && t < spheres->threads; t++) {
        sp_list_free(&spheres->shares[t].contacts);
        sp_list_free(&spheres->shares[t].pushes);
        sp_sphere_workspace_free(&spheres->shares[t].workspace);
    }
    sp_list_free(&spheres->meetings);
    sp_list_free(&spheres->of_body);
}

/* ---- who is near whom ---- */

static bool may_meet(const sp_contact_scene *scene, const int32_t pair[2])
{
    if (!sp_contact_scene_moves(&scene->contact_bodies[pair[0]]) &&
        !sp_contact_scene_moves(&scene->contact_bodies[pair[1]]))
        return false;
    if (scene->all_spheres)
        return !sp_contact_scene_neighbours(scene, pair[0], pair[1]);
    return bsearch(pair, scene->sphere_pairs, (size_t)scene->sphere_pair_count, 2 * sizeof(int32_t),
                   sp_contact_scene_by_bodies);
}

static int place_needed(sp_contact_scene *scene)
{
    sp_contact_scene_spheres *spheres = scene->spheres;
    int64_t count = 0, runs = 0;

    for (int64_t i = 0; i < scene->body_count; i++) {
        if (!spheres->needed[i])
            continue;

        /* Bodies with one shell are placed together, up to SP_SPHERE_TREES of them. */
        spheres->trees[count] = scene->contact_bodies[i].spheres;
        if (runs == 0 || count == spheres->run[runs - 1] + SP_SPHERE_TREES ||
            sp_sphere_tree_pointshell(spheres->trees[count]) != sp_sphere_tree_pointshell(spheres->trees[count - 1]))
            spheres->run[runs++] = count;
        count++;
    }
    spheres->run[runs] = count;

    bool well = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(spheres->threads) if (count >= SIDE_BY_SIDE) reduction(&& : well)
    for (int64_t k = 0; k < runs; k++)
        well = well && sp_sphere_trees_place(spheres->run[k + 1] - spheres->run[k], spheres->trees + spheres->run[k],
                                             &spheres->shares[omp_get_thread_num()].workspace.places);
    return sp_allocated(scene->context, well);
}

double sp_contact_scene_sphere_bound(const sp_contact_scene *scene, int64_t body, double centre[3])
{
    const contact_body *a = &scene->contact_bodies[body];
    double *radius = scene->spheres ? &scene->spheres->radius[body] : NULL;
    if (!radius || !a->spheres)
        return -1;
    sp_sphere_tree_bound(a->spheres, scene->spheres->centre + 3 * body, radius);
    *radius += a->body->thickness;
    memcpy(centre, scene->spheres->centre + 3 * body, 3 * sizeof *centre);
    return *radius;
}

static bool overlap(const sp_contact_scene_spheres *spheres, const int32_t pair[2])
{
    const double *x = spheres->centre + 3 * (int64_t)pair[0], *y = spheres->centre + 3 * (int64_t)pair[1],
                 d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    const double a = spheres->radius[pair[0]], b = spheres->radius[pair[1]];
    return a >= 0 && b >= 0 && sp_dot3(d, d) <= (a + b) * (a + b);
}

static int find_near(sp_contact_scene *scene)
{
    sp_contact_scene_spheres *spheres = scene->spheres;
    const int32_t *pair;
    const int64_t count = sp_contact_scene_near(scene, &pair);

    memset(spheres->needed, 0, (size_t)scene->body_count * sizeof *spheres->needed);
    spheres->meetings.count = 0;
    for (int64_t i = 0; i < count; i++, pair += 2) {
        if (!overlap(spheres, pair) || !may_meet(scene, pair))
            continue;

        meeting *m = sp_list_add(&spheres->meetings, 1, sizeof *m);
        SP_PASS(sp_allocated(scene->context, m));
        *m = (meeting){.body = {pair[0], pair[1]}};
        spheres->needed[pair[0]] = spheres->needed[pair[1]] = true;
    }

    return place_needed(scene);
}

/* ---- contacts and their forces ---- */

/* y[k] = Σ_j rows[k, j] x[j], in lanes. */
SP_INLINE void three_rows_times(int64_t modes, const double *rows, const double *x, double y[3])
{
    sp_lanes sum[3] = {0};
    int64_t j = 0;

    for (; j + SP_LANES <= modes; j += SP_LANES) {
        sp_lanes v;
        memcpy(&v, x + j, sizeof v);
        for (int k = 0; k < 3; k++) {
            sp_lanes row;
            memcpy(&row, rows + k * modes + j, sizeof row);
            sum[k] += row * v;
        }
    }

    /* The columns that fill no whole vector, and then the sum of the lanes */
    for (int k = 0; k < 3; k++) {
        y[k] = 0;
        for (int64_t i = j; i < modes; i++)
            y[k] += rows[k * modes + i] * x[i];
        for (int l = 0; l < SP_LANES; l++)
            y[k] += sum[k][l];
    }
}

/* What the forces on one body need. */
typedef struct side {
    const contact_body *a;
    double R[9];
    int64_t modes; /* that move its points */
    const double *U;
} side;

static side side_of(const contact_body *a)
{
    const sp_contact_pointshell *pointshell = a->body->pointshell;
    side s = {.a = a, .modes = a->body->r && pointshell->U ? pointshell->modes : 0, .U = pointshell->U};
    sp_quaternion_matrix(a->at.pose.q, s.R);
    return s;
}

SP_INLINE void velocity_at(const side *s, int32_t point, const double at[3], double v[3])
{
    const sp_contact_state *state = &s->a->at;
    const double r[3] = {at[0] - state->pose.x[0], at[1] - state->pose.x[1], at[2] - state->pose.x[2]};
    double rate[3], turned[3] = {0, 0, 0};

    if (s->modes > 0 && state->qdot) {
        three_rows_times(s->modes, s->U + 3 * s->modes * point, state->qdot, rate);
        sp_rotate(s->R, rate, turned);
    }

    /* v = v₀ + ω × r + R U q̇ */
    sp_cross3(state->angular_velocity, r, v);
    for (int k = 0; k < 3; k++)
        v[k] += state->velocity[k] + turned[k];
}

/* How hard the points push each other, N: springs that together are no stiffer than the limit, and dampers that do not
 * pull. */
SP_CLONES static void find_pushes(const sp_penalty *penalty, const contact_body *a, const contact_body *b,
                                  int64_t count, const sp_sphere_contact *contact, double *push)
{
    const double scale = (double)count > penalty->limit ? penalty->limit / (double)count : 1;
    const side sides[2] = {side_of(a), side_of(b)};

    for (int64_t c = 0; c < count; c++) {
        push[c] = -penalty->stiffness * contact[c].distance;

        if (penalty->damping > 0) {
            double va[3], vb[3];
            velocity_at(&sides[0], contact[c].a, contact[c].at, va);
            velocity_at(&sides[1], contact[c].b, contact[c].at, vb);
            for (int k = 0; k < 3; k++)
                va[k] -= vb[k];
            push[c] = fmax(0, push[c] + penalty->damping * sp_dot3(va, contact[c].normal));
        }
        push[c] *= scale;
    }
}

static void look_at(const sp_contact_scene *scene, meeting *m, int thread)
{
    share *mine = &scene->spheres->shares[thread];
    const contact_body *a = &scene->contact_bodies[m->body[0]], *b = &scene->contact_bodies[m->body[1]];
    m->thread = thread;

    m->first = mine->contacts.count;
    if (mine->status == SP_OK)
        mine->status = sp_sphere_trees_meet(a->spheres, a->body->thickness, b->spheres, b->body->thickness,
                                            &mine->workspace, &mine->contacts, &mine->visited);
    m->count = mine->contacts.count - m->first;

    if (m->count == 0 || mine->status != SP_OK)
        return;

    /* Both lists grow by the same number, so that `first` is the place in both. */
    double *push = sp_list_add(&mine->pushes, m->count, sizeof *push);
    if (push)
        find_pushes(&scene->p.penalty, a, b, m->count, (const sp_sphere_contact *)mine->contacts.data + m->first, push);
    else
        mine->status = SP_SYSTEM;
}

static int look_at_all(sp_contact_scene *scene)
{
    sp_contact_scene_spheres *spheres = scene->spheres;
    meeting *m = spheres->meetings.data;
    const int64_t count = spheres->meetings.count;

    for (int t = 0; t < spheres->threads; t++) {
        share *s = &spheres->shares[t];
        s->contacts.count = s->pushes.count = s->visited = 0;
        s->status = SP_OK;
    }

    /* neighbours of one body are neighbours in the list, so that who takes many of them reads a body once */
#pragma omp parallel for schedule(dynamic, 64) num_threads(spheres->threads) if (count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < count; i++)
        look_at(scene, &m[i], omp_get_thread_num());

    for (int t = 0; t < spheres->threads; t++) {
        if (spheres->shares[t].status != SP_OK)
            return sp_fail_memory(scene->context);
        scene->report.visited += spheres->shares[t].visited;
    }
    return SP_OK;
}

static const sp_sphere_contact *contacts_of(const sp_contact_scene_spheres *spheres, const meeting *m,
                                            const double **push)
{
    const share *s = &spheres->shares[m->thread];
    *push = m->count ? (const double *)s->pushes.data + m->first : NULL;
    return m->count ? (const sp_sphere_contact *)s->contacts.data + m->first : NULL;
}

static void force_of(const sp_sphere_contact *contact, double push, double force[3])
{
    for (int k = 0; k < 3; k++)
        force[k] = push * contact->normal[k];
}

/* Adds the forces of one meeting to a body of it. */
SP_CLONES static void push_body(contact_body *a, bool second, int64_t count, const sp_sphere_contact *contact,
                                const double *push)
{
    const side s = side_of(a);
    double *restrict Q = a->Q;

    for (int64_t c = 0; c < count; c++) {
        const double *at = contact[c].at;
        const double about[3] = {at[0] - a->about[0], at[1] - a->about[1], at[2] - a->about[2]};
        const double origin[3] = {at[0] - a->at.pose.x[0], at[1] - a->at.pose.x[1], at[2] - a->at.pose.x[2]};
        double force[3], T[3], W[3], f[3];

        force_of(&contact[c], second ? push[c] : -push[c], force);
        sp_cross3(about, force, T);
        sp_cross3(origin, force, W);
        for (int k = 0; k < 3; k++) {
            a->F[k] += force[k];
            a->T[k] += T[k];
            a->wrench[k] += force[k];
            a->wrench[3 + k] += W[k];
        }

        /* Q += Uᵀ Rᵀ F */
        const double *restrict rows = s.modes ? s.U + 3 * s.modes * (second ? contact[c].b : contact[c].a) : NULL;
        sp_rotate_back(s.R, force, f);
        for (int64_t j = 0; j < s.modes; j++)
            Q[j] += f[0] * rows[j] + f[1] * rows[s.modes + j] + f[2] * rows[2 * s.modes + j];
    }
}

/* The meetings of each body, so that bodies are pushed side by side. */
static int sort_by_body(sp_contact_scene *scene)
{
    sp_contact_scene_spheres *spheres = scene->spheres;
    const meeting *m = spheres->meetings.data;
    const int64_t count = spheres->meetings.count, n = scene->body_count;
    int64_t *start = spheres->start;

    spheres->of_body.count = 0;
    int64_t *list = sp_list_add(&spheres->of_body, 2 * count, sizeof *list);
    SP_PASS(sp_allocated(scene->context, list));

    /* Sorting by counting, from behind: at the end start[i] is where the meetings of body i begin. */
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int64_t i = 0; i < count; i++)
        for (int s = 0; s < 2 && m[i].count > 0; s++)
            start[m[i].body[s]]++;

    for (int64_t i = 0, sum = 0; i <= n; i++) {
        sum += start[i];
        start[i] = sum;
    }

    for (int64_t i = count - 1; i >= 0; i--)
        for (int s = 1; s >= 0 && m[i].count > 0; s--)
            list[--start[m[i].body[s]]] = i;
    return SP_OK;
}

static int push_bodies(sp_contact_scene *scene)
{
    const sp_contact_scene_spheres *spheres = scene->spheres;
    const meeting *m = spheres->meetings.data;
    SP_PASS(sort_by_body(scene));

    const int64_t *of_body = spheres->of_body.data;
#pragma omp parallel for schedule(dynamic, 4) num_threads(spheres->threads) if (spheres->meetings.count >= SIDE_BY_SIDE)
    for (int64_t i = 0; i < scene->body_count; i++)
        for (int64_t k = spheres->start[i]; k < spheres->start[i + 1]; k++) {
            const meeting *mine = &m[of_body[k]];
            const double *push;
            const sp_sphere_contact *contact = contacts_of(spheres, mine, &push);
            push_body(&scene->contact_bodies[i], mine->body[1] == i, mine->count, contact, push);
        }
    return SP_OK;
}

/* A ball's force on the coupled body, which is stiff along the normal; the normal's own turning is left out. */
static void couple_ball(sp_contact_scene *scene, const double at[3], const double force[3], const double normal[3],
                        double stiffness)
{
    sp_wrench *w = &scene->sphere_wrench;
    const sp_pose frame = sp_contact_scene_grasp(scene, &scene->contact_bodies[scene->p.coupling.body].pose);
    const double r[3] = {at[0] - frame.x[0], at[1] - frame.x[1], at[2] - frame.x[2]};
    double T[3], turned[3];

    sp_cross3(r, force, T);
    sp_cross3(r, normal, turned);

    /* ∂F/∂x = −κ n nᵀ and ∂F/∂ω = −κ n (r × n)ᵀ; for the torque r × n takes the place of the first n. */
    for (int i = 0; i < 3; i++) {
        w->force[i] += force[i];
        w->torque[i] += T[i];
        for (int j = 0; j < 3; j++) {
            w->force_x[3 * i + j] -= stiffness * normal[i] * normal[j];
            w->force_w[3 * i + j] -= stiffness * normal[i] * turned[j];
            w->torque_x[3 * i + j] -= stiffness * turned[i] * normal[j];
            w->torque_w[3 * i + j] -= stiffness * turned[i] * turned[j];
        }
    }
}

/* What a meeting adds to the report, the list of contacts and the coupling. */
static int report_meeting(sp_contact_scene *scene, const meeting *m)
{
    const sp_penalty *penalty = &scene->p.penalty;
    const double stiffness =
        (double)m->count > penalty->limit ? penalty->stiffness * penalty->limit / (double)m->count : penalty->stiffness;
    const int64_t coupled_body = scene->p.coupling.body;
    const double *push;
    const sp_sphere_contact *contact = contacts_of(scene->spheres, m, &push);
    contact_body *const a = &scene->contact_bodies[m->body[0]], *const b = &scene->contact_bodies[m->body[1]];

    /* A damper counts as a spring of 2c/h. */
    const double kappa = stiffness * (1 + 2 * penalty->damping / (scene->p.step * penalty->stiffness));

    for (int64_t c = 0; c < m->count; c++) {
        double force[3], minus[3];
        if (a->body->free)
            sp_contact_scene_stiffen(a, contact[c].at, contact[c].normal, kappa * sp_contact_scene_share(a, b), false);
        if (b->body->free)
            sp_contact_scene_stiffen(b, contact[c].at, contact[c].normal, kappa * sp_contact_scene_share(b, a), false);

        force_of(&contact[c], push[c], minus);
        force_of(&contact[c], -push[c], force);
        if (coupled_body == m->body[0] || coupled_body == m->body[1])
            couple_ball(scene, contact[c].at, coupled_body == m->body[0] ? force : minus, contact[c].normal, stiffness);

        SP_PASS(sp_contact_scene_record(scene, m->body[0], m->body[1], contact[c].a, contact[c].at, force));
        scene->report.lowest = fmin(scene->report.lowest, contact[c].distance);
        sp_contact_scene_sink(scene, m->body[0], m->body[1], contact[c].distance);
    }

    scene->report.touching += m->count;
    return SP_OK;
}

int sp_contact_scene_spheres_meet(sp_contact_scene *scene)
{
    SP_PASS(find_near(scene));
    SP_PASS(look_at_all(scene));
    SP_PASS(push_bodies(scene));

    const meeting *m = scene->spheres->meetings.data;
    for (int64_t i = 0; i < scene->spheres->meetings.count; i++)
        SP_PASS(report_meeting(scene, &m[i]));
    return SP_OK;
}
