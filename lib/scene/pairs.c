/* The near pairs of a contact scene: points of one body against the distance field of the other. */
#include "scene/internal.h"

#include "base/compare.h"
#include "contact/bound.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of unused states per shell whose memory is kept. They are allocated at the start, so that a few bodies
 * that come near and separate allocate nothing. */
enum { SPARE = 8 };

typedef struct spare {
    const sp_contact_pointshell *pointshell;
    int count;
    pair_state *state[SPARE];
} spare;

/* A pair of the caller's list. */
typedef struct listed {
    int32_t body[2]; /* shell, field */
    int64_t order;   /* index in the list */
} listed;

/* Memory that is allocated in a step and released as a whole. */
typedef struct arena {
    sp_pool pool;
    char *next;
    size_t left, last, total; /* bytes left in the last block, in the last block, and in all blocks */
} arena;

/* The data of a thread. */
typedef struct worker {
    sp_traversal_workspace *workspace;
    arena results;
} worker;

struct sp_contact_scene_pairs {
    int64_t listed_count;
    sp_contact_scene_pair *given; /* [listed_count] the caller's list, unless all pairs are tested */
    listed *listed;               /* [listed_count] ascending by body */
    sp_list orders;               /* of int64_t: indices of the near ones among them */
    bool *as_points, *as_field;   /* [bodies] some pair has the body as shell, as field */
    bool *still;                  /* [bodies] */
    /* [bodies] in the body's frame: bounds of its points, and of the region with negative distance */
    sp_bound *points, *solid;
    sp_box *point_box, *solid_box, *box; /* [bodies] world: of these two, and of everything that may be in contact */
    sp_broad *broad;
    sp_list near;        /* of int32_t pairs i < j whose boxes overlap */
    sp_list meets;       /* of uint8_t, for each of these: bit 0: points of i against j, bit 1: points of j against i */
    sp_list ordered;     /* of int32_t pairs (shell, field), and scratch for sorting */
    int64_t *place;      /* [bodies] */
    sp_list now, before; /* of near pairs, ascending by order */
    int64_t spare_count;
    spare *spares;
    int32_t *spare_of; /* [bodies] index of the body's shell among those with spare states */
    int64_t r;         /* largest number of coordinates of a deformed field */
    int threads;
    worker *workers; /* [threads] */
};

/* ---- memory ---- */

enum { BLOCK = 1 << 16 };

static void *arena_new(arena *a, size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > a->left) {
        const size_t size = bytes > BLOCK ? bytes : BLOCK, block = size > a->total ? size : a->total;
        char *memory = sp_pool_raw(&a->pool, (int64_t)block, 1);
        if (!memory)
            return NULL;
        a->next = memory;
        a->left = a->last = block;
        a->total += block;
    }

    void *result = a->next;
    a->next += bytes;
    a->left -= bytes;
    return result;
}

/* Replaces the blocks by a single one of the size that was needed last. */
static void arena_reset(arena *a)
{
    const size_t total = a->total;
    if (total == a->last) {
        a->next -= a->last - a->left;
        a->left = a->last;
        return;
    }

    sp_pool_free(&a->pool);
    *a = (arena){0};
    if (arena_new(a, total)) {
        a->next -= a->last - a->left;
        a->left = a->last;
    }
}

static void free_state(pair_state *state)
{
    if (!state)
        return;
    sp_traversal_free(state->traversal);
    sp_friction_free(&state->friction);
    free(state);
}

static void begin_friction(const sp_contact_scene *scene, sp_friction *friction)
{
    friction->coefficient = scene->p.friction;
    friction->scale = 1;
    friction->anchors.count = 0;
}

static pair_state *new_state(sp_contact_scene *scene, const sp_contact_pointshell *pointshell, bool whole)
{
    pair_state *state = calloc(1, sizeof *state + (size_t)scene->near->r * sizeof *state->q);
    if (!state)
        return NULL;

    begin_friction(scene, &state->friction);
    if (sp_traversal_state_new(scene->context, pointshell, whole, &state->traversal) == SP_OK)
        return state;
    free(state);
    return NULL;
}

static pair_state *acquire(sp_contact_scene *scene, int64_t body)
{
    spare *s = &scene->near->spares[scene->near->spare_of[body]];
    return s->count > 0 ? s->state[--s->count] : new_state(scene, s->pointshell, false);
}

static void release(sp_contact_scene *scene, const contact_pair *e)
{
    spare *s = &scene->near->spares[scene->near->spare_of[e->pointshell]];
    if (s->count == SPARE) {
        free_state(e->state);
        return;
    }
    sp_traversal_restart(e->state->traversal);
    begin_friction(scene, &e->state->friction);
    memset(e->state->q, 0, (size_t)scene->near->r * sizeof *e->state->q);
    s->state[s->count++] = e->state;
}

/* ---- creation ---- */

bool sp_contact_scene_moves(const contact_body *a)
{
    return a->body->motion != SP_CONTACT_SCENE_FIXED || a->integrator;
}

static int by_body(const void *left, const void *right)
{
    const listed *a = left, *b = right;
    const int order = sp_contact_scene_by_bodies(a->body, b->body);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static int list_pairs(sp_contact_scene *scene, int64_t count, const sp_contact_scene_pair *pairs)
{
    sp_contact_scene_pairs *near = scene->near;
    near->listed_count = count;
    near->given = sp_pool_copy(&scene->pool, pairs, count, sizeof *pairs);
    near->listed = sp_pool_raw(&scene->pool, count, sizeof *near->listed);
    SP_PASS(sp_allocated(scene->context, near->given && near->listed));

    for (int64_t i = 0; i < count; i++) {
        near->listed[i] = (listed){{(int32_t)pairs[i].pointshell, (int32_t)pairs[i].field}, i};
        near->as_points[pairs[i].pointshell] = near->as_field[pairs[i].field] = true;
    }

    if (count)
        qsort(near->listed, (size_t)count, sizeof *near->listed, by_body);
    return SP_OK;
}

/* Lists every shell once. */
static void list_shells(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    for (int64_t i = 0; i < scene->body_count; i++) {
        const sp_contact_pointshell *pointshell = near->as_points[i] ? scene->contact_bodies[i].body->pointshell : NULL;
        int64_t s = near->spare_count - 1; /* bodies of one model are adjacent */
        while (s >= 0 && near->spares[s].pointshell != pointshell)
            s--;
        if (pointshell && s < 0)
            near->spares[s = near->spare_count++].pointshell = pointshell;
        near->spare_of[i] = (int32_t)s;
    }
}

/* Counts the possible pairs with the points of each body. */
static void count_pairs(const sp_contact_scene *scene, int64_t *count)
{
    const sp_contact_scene_pairs *near = scene->near;
    int64_t fields = 0, moving = 0;
    for (int64_t i = 0; i < scene->body_count; i++) {
        fields += near->as_field[i];
        moving += near->as_field[i] && !near->still[i];
    }

    /* A body at rest is tested against those that move. */
    for (int64_t i = 0; i < scene->body_count && scene->p.all; i++)
        count[i] = !near->as_points[i] ? 0 : near->still[i] ? moving : fields - near->as_field[i];
    for (int64_t i = 0; i < near->listed_count; i++)
        count[near->listed[i].body[0]]++;
}

static int make_spares(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    int64_t *count = near->place;
    memset(count, 0, (size_t)scene->body_count * sizeof *count);
    count_pairs(scene, count);

    for (int64_t i = 0; i < scene->body_count; i++) {
        spare *s = count[i] > 0 ? &near->spares[near->spare_of[i]] : NULL;
        for (int64_t more = count[i]; more > 0 && s->count < SPARE; more--, s->count++)
            if (!(s->state[s->count] = new_state(scene, s->pointshell, true)))
                return sp_fail_memory(scene->context);
    }
    return SP_OK;
}

static int make_workers(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    int64_t points = 0;
    for (int64_t s = 0; s < near->spare_count; s++)
        points = near->spares[s].pointshell->count > points ? near->spares[s].pointshell->count : points;

    near->threads = scene->context->threads;
    near->workers = sp_pool_new(&scene->pool, near->threads, sizeof *near->workers);
    SP_PASS(sp_allocated(scene->context, near->workers));

    for (int t = 0; t < near->threads; t++) {
        SP_PASS(sp_traversal_workspace_new(scene->context, points, &near->workers[t].workspace));
        SP_PASS(sp_allocated(scene->context, arena_new(&near->workers[t].results, 1)));
    }
    return SP_OK;
}

static int allocate(sp_contact_scene *scene)
{
    const int64_t n = scene->body_count;
    sp_pool *pool = &scene->pool;
    sp_contact_scene_pairs *near = scene->near = sp_pool_new(pool, 1, sizeof *near);
    SP_PASS(sp_allocated(scene->context, near));

    near->as_points = sp_pool_new(pool, n, sizeof *near->as_points);
    near->as_field = sp_pool_new(pool, n, sizeof *near->as_field);
    near->still = sp_pool_new(pool, n, sizeof *near->still);
    near->points = sp_pool_new(pool, n, sizeof *near->points);
    near->solid = sp_pool_new(pool, n, sizeof *near->solid);
    near->point_box = sp_pool_new(pool, n, sizeof *near->point_box);
    near->solid_box = sp_pool_new(pool, n, sizeof *near->solid_box);
    near->box = sp_pool_new(pool, n, sizeof *near->box);
    near->place = sp_pool_new(pool, n, sizeof *near->place);
    near->spares = sp_pool_new(pool, n, sizeof *near->spares);
    near->spare_of = sp_pool_new(pool, n, sizeof *near->spare_of);

    return pool->failed ? sp_fail_memory(scene->context) : sp_broad_new(scene->context, n, &near->broad);
}

int sp_contact_scene_pairs_new(sp_contact_scene *scene, int64_t count, const sp_contact_scene_pair *pairs)
{
    SP_PASS(allocate(scene));
    sp_contact_scene_pairs *near = scene->near;
    bool any = false;

    for (int64_t i = 0; i < scene->body_count; i++)
        any |= scene->contact_bodies[i].body->distance != NULL;
    for (int64_t i = 0; i < scene->body_count; i++) {
        const sp_contact_scene_body *body = scene->contact_bodies[i].body;
        near->still[i] = !sp_contact_scene_moves(&scene->contact_bodies[i]);
        near->as_points[i] = scene->p.all && any && body->pointshell;
        near->as_field[i] = scene->p.all && body->distance;
        if (body->deformed && sp_deformed_field_r(body->deformed) > near->r)
            near->r = sp_deformed_field_r(body->deformed);
    }

    if (!scene->p.all)
        SP_PASS(list_pairs(scene, count, pairs));

    /* Bounds of rigid fields stay; those of deformed ones are made in each step. */
    for (int64_t i = 0; i < scene->body_count; i++)
        if (near->as_field[i] && !scene->contact_bodies[i].body->deformed)
            sp_bound_of_distance(scene->contact_bodies[i].body->distance, &near->solid[i]);

    list_shells(scene);
    SP_PASS(make_spares(scene));
    return make_workers(scene);
}

static void free_pairs(sp_list *list)
{
    const contact_pair *e = list->data;
    for (int64_t i = 0; i < list->count; i++)
        free_state(e[i].state);
    sp_list_free(list);
}

void sp_contact_scene_pairs_free(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    if (!near)
        return;
    sp_broad_free(near->broad);
    sp_list_free(&near->near);
    sp_list_free(&near->meets);
    sp_list_free(&near->ordered);
    sp_list_free(&near->orders);
    free_pairs(&near->now);
    free_pairs(&near->before);
    for (int64_t s = 0; near->spares && s < near->spare_count; s++)
        for (int i = 0; i < near->spares[s].count; i++)
            free_state(near->spares[s].state[i]);
    for (int t = 0; near->workers && t < near->threads; t++) {
        sp_traversal_workspace_free(near->workers[t].workspace);
        sp_pool_free(&near->workers[t].results.pool);
    }
}

/* ---- near pairs ---- */

static const sp_box EVERYWHERE = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
static const sp_box NOWHERE = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void enclose(sp_box *all, const sp_box *box)
{
    if (!sp_boxes_overlap(box, box)) /* empty, or a body at a position that is not finite */
        return;
    for (int k = 0; k < 3; k++) {
        all->low[k] = fmin(all->low[k], box->low[k]);
        all->high[k] = fmax(all->high[k], box->high[k]);
    }
}

void sp_contact_scene_bound(sp_contact_scene *scene, int64_t body)
{
    static const sp_pose here = {{0, 0, 0}, {1, 0, 0, 0}};
    sp_contact_scene_pairs *near = scene->near;
    const contact_body *a = &scene->contact_bodies[body];
    sp_box *all = &near->box[body], spheres;
    sp_bound ball;

    ball.radius = sp_contact_scene_sphere_bound(scene, body, ball.centre);
    *all = NOWHERE;

    if (near->as_points[body]) {
        sp_bound_of_pointshell(a->body->pointshell, a->at.q, &near->points[body]);
        sp_bound_place(&near->points[body], &a->at.pose, &near->point_box[body]);
        enclose(all, &near->point_box[body]);
    }

    if (near->as_field[body]) {
        if (a->body->deformed)
            sp_bound_of_distance(a->body->distance, &near->solid[body]);
        sp_bound_place(&near->solid[body], &a->at.pose, &near->solid_box[body]);
        enclose(all, &near->solid_box[body]);
    }

    if (ball.radius >= 0) {
        ball.half[0] = ball.half[1] = ball.half[2] = ball.radius;
        sp_bound_place(&ball, &here, &spheres);
        enclose(all, &spheres);
    }

    if (scene->p.exhaustive)
        *all = EVERYWHERE;
}

static int64_t listed_order(const sp_contact_scene_pairs *near, int32_t pointshell, int32_t field)
{
    const listed key = {{pointshell, field}, 0};
    int64_t low = 0, high = near->listed_count; /* lower bound by bisection */

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (by_body(&near->listed[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }

    const bool found =
        low < near->listed_count && near->listed[low].body[0] == pointshell && near->listed[low].body[1] == field;
    return found ? near->listed[low].order : -1;
}

bool sp_contact_scene_pairs_tests(const sp_contact_scene *scene, int64_t points, int64_t field)
{
    const sp_contact_scene_pairs *near = scene->near;
    if (!near->as_field[field] || points < 0)
        return near->as_field[field];
    if (!near->as_points[points])
        return false;
    return scene->p.all ? !(near->still[points] && near->still[field]) &&
                              !sp_contact_scene_neighbours(scene, (int32_t)points, (int32_t)field)
                        : listed_order(near, (int32_t)points, (int32_t)field) >= 0;
}

static bool meets(const sp_contact_scene *scene, int32_t pointshell, int32_t field)
{
    const sp_contact_scene_pairs *near = scene->near;
    const contact_body *a = &scene->contact_bodies[pointshell], *b = &scene->contact_bodies[field];
    if (!near->as_points[pointshell] || !near->as_field[field])
        return false;
    if (!scene->p.exhaustive &&
        (!sp_boxes_overlap(&near->point_box[pointshell], &near->solid_box[field]) ||
         sp_bounds_apart(&near->points[pointshell], &a->at.pose, b->body->distance, &near->solid[field], &b->at.pose)))
        return false;
    return scene->p.all ? !sp_contact_scene_neighbours(scene, pointshell, field)
                        : listed_order(near, pointshell, field) >= 0;
}

/* Finds all near pairs (shell, field), in ascending order. */
static int find_meeting(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    const int64_t count = near->near.count;
    const int32_t *pair = near->near.data;
    int64_t found = 0;

    near->meets.count = near->ordered.count = 0;
    uint8_t *bits = sp_list_add(&near->meets, count, 1);
    SP_PASS(sp_allocated(scene->context, bits));

#pragma omp parallel for schedule(static) num_threads(near->threads) if (count >= 64 * SIDE_BY_SIDE) reduction(+ : found)
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = pair[2 * i], b = pair[2 * i + 1];
        bits[i] = (uint8_t)(meets(scene, a, b) | meets(scene, b, a) << 1);
        found += (bits[i] & 1) + (bits[i] >> 1);
    }

    int32_t *list = sp_list_add(&near->ordered, 2 * found, 2 * sizeof *list), *next = list;
    SP_PASS(sp_allocated(scene->context, list));
    int32_t *other = list + 2 * found;

    for (int64_t i = 0; i < count; i++)
        for (int s = 0; s < 2; s++)
            if (bits[i] >> s & 1) {
                *next++ = pair[2 * i + s];
                *next++ = pair[2 * i + !s];
            }

    /* Two sorts that keep the order of equals: by the field, then by the shell */
    sp_sort_pairs(1, found, scene->body_count, list, other, near->place);
    sp_sort_pairs(0, found, scene->body_count, other, list, near->place);

    near->ordered.count = found;
    return SP_OK;
}

/* The indices of near pairs in the caller's list, in ascending order. */
static const int64_t *list_orders(sp_contact_scene_pairs *near)
{
    const int64_t count = near->ordered.count;
    const int32_t *pair = near->ordered.data;
    near->orders.count = 0;
    int64_t *orders = sp_list_add(&near->orders, count, sizeof *orders);
    for (int64_t i = 0; i < count && orders; i++)
        orders[i] = listed_order(near, pair[2 * i], pair[2 * i + 1]);
    if (count && orders)
        qsort(orders, (size_t)count, sizeof *orders, sp_compare_integers);
    return orders;
}

/* Lists the pairs of this step, still without states. */
static int list_near_pairs(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    const int64_t count = near->ordered.count, *orders = scene->p.all ? NULL : list_orders(near);
    const int32_t *pair = near->ordered.data;

    /* The lists change places, so that both keep their memory. */
    const sp_list before = near->before;
    near->before = near->now;
    near->now = before;
    near->now.count = 0;

    contact_pair *e = scene->p.all || orders ? sp_list_add(&near->now, count, sizeof *e) : NULL;
    SP_PASS(sp_allocated(scene->context, e));

    for (int64_t i = 0; i < count; i++) {
        const int64_t pointshell = pair[2 * i], field = pair[2 * i + 1], order = pointshell * scene->body_count + field;
        e[i] = orders ? (contact_pair){.pointshell = near->given[orders[i]].pointshell,
                                       .field = near->given[orders[i]].field,
                                       .order = orders[i]}
                      : (contact_pair){.pointshell = pointshell, .field = field, .order = order};
    }
    return SP_OK;
}

/* Transfers the states of pairs that remain near, and releases those of the others. Returns the number of new pairs. */
static int64_t carry_states(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    contact_pair *e = near->now.data, *old = near->before.data;
    int64_t next = 0, fresh = 0;

    /* Both lists ascend, so that one pass matches them. */
    for (int64_t i = 0; i < near->now.count; i++) {
        while (next < near->before.count && old[next].order < e[i].order)
            release(scene, &old[next++]);
        if (next < near->before.count && old[next].order == e[i].order)
            e[i].state = old[next++].state;
        else
            fresh++;
    }
    while (next < near->before.count)
        release(scene, &old[next++]);

    near->before.count = 0;
    return fresh;
}

/* Rejects more states than memory can hold, which the system might notice only when they are used. */
static int check_memory(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    const contact_pair *e = near->now.data;
    const int64_t each = (int64_t)(2 * sizeof *e + sizeof(pair_state)) + near->r * (int64_t)sizeof(double);
    int64_t bytes = near->now.count * each;

    if (!(scene->p.memory > 0))
        return SP_OK;

    for (int64_t i = 0; i < near->now.count; i++)
        bytes += e[i].state ? sp_traversal_bytes(e[i].state->traversal)
                            : sp_traversal_bytes_at_most(scene->contact_bodies[e[i].pointshell].body->pointshell);

    if ((double)bytes <= scene->p.memory)
        return SP_OK;
    return sp_fail(scene->context, SP_SYSTEM,
                   "%lld pairs of bodies are near each other at %g s and need about %.3g GB, of which %.3g are there",
                   (long long)near->now.count, sp_contact_scene_time(scene), 1e-9 * (double)bytes,
                   1e-9 * scene->p.memory);
}

static int give_states(sp_contact_scene *scene)
{
    contact_pair *e = scene->near->now.data;
    for (int64_t i = 0; i < scene->near->now.count; i++)
        if (!e[i].state && !(e[i].state = acquire(scene, e[i].pointshell)))
            return sp_fail_memory(scene->context);
    return SP_OK;
}

int sp_contact_scene_pairs_find(sp_contact_scene *scene)
{
    sp_contact_scene_pairs *near = scene->near;
    scene->pair_count = 0;
    SP_PASS(sp_broad_find(scene->context, near->broad, near->box, scene->p.all ? near->still : NULL, &near->near));
    SP_PASS(find_meeting(scene));
    SP_PASS(list_near_pairs(scene));

    /* Only new pairs need memory. */
    if (carry_states(scene) > 0) {
        SP_PASS(check_memory(scene));
        SP_PASS(give_states(scene));
    }

    scene->pairs = near->now.data;
    scene->pair_count = near->now.count;
    return SP_OK;
}

int64_t sp_contact_scene_near(const sp_contact_scene *scene, const int32_t **pairs)
{
    *pairs = scene->near->near.data;
    return scene->near->near.count;
}

/* ---- contacts ---- */

/* Allocates memory for the result of a traversal and for the forces, and copies the result. */
static bool keep(arena *a, const sp_traversal_result *from, contact_pair *e)
{
    const size_t n = (size_t)from->count;
    double *numbers = arena_new(a, n * (13 * sizeof(double) + sizeof(int32_t)));
    if (!numbers)
        return false;

    /* In one block: n distances, 3n places, 3n positions, 3n normals, 3n forces, and the n numbers of the points */
    e->found = *from;
    e->found.distance = memcpy(numbers, from->distance, n * sizeof(double));
    e->found.place = memcpy(numbers + n, from->place, 3 * n * sizeof(double));
    e->found.point = memcpy(numbers + 13 * n, from->point, n * sizeof(int32_t));

    e->forces =
        (sp_contact_forces){.scale = 1, .at = numbers + 4 * n, .normal = numbers + 7 * n, .force = numbers + 10 * n};
    return true;
}

static bool find_contacts(const sp_contact_scene *scene, contact_pair *e, worker *mine)
{
    const contact_body *a = &scene->contact_bodies[e->pointshell], *b = &scene->contact_bodies[e->field];
    pair_state *state = e->state;
    double moved = 0;

    /* No point of the field has moved by more than Σ reach_j |Δq_j|. */
    if (b->body->deformed) {
        const double *reach = sp_deformed_field_reach(b->body->deformed);
        for (int64_t j = 0; j < sp_deformed_field_r(b->body->deformed); j++) {
            moved += reach[j] * fabs(b->q[j] - state->q[j]);
            state->q[j] = b->q[j];
        }
    }

    const sp_traversal_result *found = sp_traversal_run_in(state->traversal, mine->workspace, &a->at.pose, a->at.q,
                                                           &b->at.pose, b->body->distance, moved, &scene->p.limits);
    if (!found || !keep(&mine->results, found, e))
        return false;

    sp_penalty_forces(&scene->p.penalty, a->body->pointshell, &a->at, b->body->distance, &b->at, &e->found, &e->forces);
    return !(scene->p.friction > 0) || sp_friction_forces(&state->friction, &scene->p.penalty, a->body->pointshell,
                                                          &a->at, b->body->distance, &b->at, &e->found, &e->forces);
}

int sp_contact_scene_pairs_meet(sp_contact_scene *scene)
{
    worker *workers = scene->near->workers;
    bool well = true;
    for (int t = 0; t < scene->near->threads; t++)
        arena_reset(&workers[t].results);

#pragma omp parallel for schedule(dynamic, 4) num_threads(scene->near->threads) if (scene->pair_count >= SIDE_BY_SIDE) reduction(&& : well)
    for (int64_t i = 0; i < scene->pair_count; i++)
        well = well && find_contacts(scene, &scene->pairs[i], &workers[omp_get_thread_num()]);
    return sp_allocated(scene->context, well);
}

/* ---- state that is kept from step to step ---- */

static void visit_pair(sp_contact_scene *scene, contact_pair *e, sp_state *state)
{
    const sp_contact_scene_pairs *near = scene->near;
    SP_STATE_VALUE(state, e->pointshell);
    SP_STATE_VALUE(state, e->field);
    SP_STATE_VALUE(state, e->order);

    if (state->loading && !state->failed) {
        const int64_t n = scene->body_count;
        const bool exists = e->pointshell >= 0 && e->pointshell < n && e->field >= 0 && e->field < n &&
                            near->as_points[e->pointshell] && near->as_field[e->field];
        e->state = exists ? acquire(scene, e->pointshell) : NULL;
        state->failed = !e->state;
    }

    if (state->failed)
        return;
    sp_traversal_visit(e->state->traversal, state);
    SP_STATE_VALUE(state, e->state->friction.scale);
    sp_state_list(state, &e->state->friction.anchors, sizeof(sp_friction_anchor));
    sp_state_reals(state, e->state->q, near->r);
}

void sp_contact_scene_pairs_visit(sp_contact_scene *scene, sp_state *state)
{
    sp_list *now = &scene->near->now;
    int64_t count = now->count;
    SP_STATE_VALUE(state, count);
    for (int64_t i = 0; i < count && !state->failed; i++) {
        contact_pair *e = state->loading ? sp_list_add(now, 1, sizeof *e) : (contact_pair *)now->data + i;
        if (!e) {
            state->failed = true;
            return;
        }
        if (state->loading)
            *e = (contact_pair){.pointshell = -1};
        visit_pair(scene, e, state);
        if (state->loading && !e->state)
            now->count--;
    }
}
