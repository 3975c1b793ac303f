/* Static results: the residual of the balance of forces, from mesh, model and loads. */
#include "assembly/elastic.h"
#include "base/vec3.h"
#include "formats/loads.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

/* What a sum of forces may lose by rounding, of the sum of the absolute values of its terms. */
static const double ROUNDING = 32 * 0x1p-53;

/* Loads of the file that the motion records, and what their forces are summed up in. */
typedef struct balance {
    const verify_statics *s;
    sp_pool pool;
    int64_t rows, n; /* components of all vertices; of the coordinates */
    double step, gravity[3];
    int64_t load_count;
    sp_load *loads;
    double *load_force;                   /* [rows, load_count] while the load acts; of springs 0 */
    double *weight, *u, *free, *external; /* [rows] */
    double *rest;                         /* [rows] zeros */
    bool *held;                           /* [rows] components that are prescribed in a frame */
    double *force, *terms;                /* [n] internal force, sums of absolute values of its terms */
} balance;

static const json_t *parameter(const verify_statics *s, const char *name)
{
    return json_object_get(json_object_get(s->file->meta, "parameters"), name);
}

/* What the check does not follow; NULL: nothing. */
static const char *unsupported(const verify_statics *s)
{
    static const char *const inputs[] = {"activation", "skeleton", "cut", "frame"};
    for (int i = 0; i < TOOL_COUNT(inputs); i++)
        if (tool_meta_has_input(s->file->meta, inputs[i]))
            return inputs[i];
    return json_array_size(parameter(s, "ground")) ? "ground" : NULL;
}

/* The CSV among --loads whose bytes the motion records; false after saying that it is not there. */
static bool read_loads(balance *b)
{
    const verify *v = b->s->v;
    const json_t *input;
    size_t i;

    json_array_foreach(json_object_get(b->s->file->meta, "inputs"), i, input)
    {
        const char *option = json_string_value(json_object_get(input, "option")),
                   *hash = json_string_value(json_object_get(input, "sha256"));
        if (!option || strcmp(option, "loads") || !hash)
            continue;

        for (int64_t k = 0; k < v->loads->count; k++) {
            char own[SP_HASH_LENGTH];
            int64_t count;
            const char *bytes = tool_read_bytes(v->loads->value[k], "", &b->pool, &count);
            sp_hash_bytes(count, bytes, own);
            if (strcmp(own, hash))
                continue;
            tool_check(sp_loads_parse(v->context, bytes, count, b->s->body->mesh, &b->pool, &b->load_count, &b->loads),
                       v->loads->value[k]);
            return true;
        }

        verify_skip(b->s->v, b->s->file, "equilibrium", "its loads, %.40s, are not named by --loads",
                    json_string_value(json_object_get(input, "name")));
        return false;
    }
    return true;
}

/* The forces of all loads, and the weight with the consistent mass. */
static void spread_loads(balance *b)
{
    const sp_fe_space *body = b->s->body;
    b->load_force = tool_allocate(&b->pool, b->load_count, (size_t)b->rows * sizeof *b->load_force);
    for (int64_t k = 0; k < b->load_count; k++) {
        if (b->loads[k].kind == SP_LOAD_SPRING)
            continue;
        tool_check(sp_load_force(b->s->v->context, body, k + 1, &b->loads[k], b->free), b->s->file->path);
        sp_fe_space_scatter(body, b->free, b->load_force + k * b->rows);
    }
    for (int64_t i = 0; i < b->rows; i++)
        b->u[i] = b->gravity[i % 3];
    verify_mass_times(body, false, b->u, b->weight);
}

/* Displacements of all vertices. */
static void place(balance *b, int64_t frame)
{
    const sp_trajectory *t = b->s->trajectory;
    if (!b->s->U) {
        memcpy(b->u, t->u + frame * b->rows, (size_t)b->rows * sizeof *b->u);
        return;
    }
    memset(b->u, 0, (size_t)b->rows * sizeof *b->u);
    for (int64_t c = 0; c < t->r; c++)
        for (int64_t i = 0; i < b->rows; i++)
            b->u[i] += b->s->U[c * b->rows + i] * t->q[frame * t->r + c];
}

/* A spring pulls its vertex where it acts at the middle of the step, to where its anchor is then. */
static void add_spring(balance *b, const sp_load *load, double middle)
{
    const double part = load->moving ? (middle - load->start) / (load->end - load->start) : 0;
    if (!(load->start <= middle && middle < load->end))
        return;
    for (int c = 0; c < 3; c++) {
        const double anchor = load->force[c] + (part != 0 ? part * (load->anchor_end[c] - load->force[c]) : 0),
                     place = b->s->body->mesh->vertices[3 * load->id + c] + b->u[3 * load->id + c];
        b->external[3 * load->id + c] += load->stiffness * (anchor - place);
    }
}

/* The part of a load in the step that ends at t: its mean over the step, or with a course its factor at t. */
static double part_of(const balance *b, const sp_load *load, double t)
{
    if (load->course.kind == SP_COURSE_CONSTANT)
        return fmax((fmin(t, load->end) - fmax(t - b->step, load->start)) / b->step, 0);
    const bool acts = load->start < t && t <= load->end + 1e-9 * b->step;
    return acts ? sp_course_at(&load->course, load->end - load->start, t - load->start) : 0;
}

/* The forces of the step that ends at t. */
static void sum_external(balance *b, double t)
{
    memcpy(b->external, b->weight, (size_t)b->rows * sizeof *b->external);
    for (int64_t k = 0; k < b->load_count; k++) {
        const sp_load *load = &b->loads[k];
        const double part = part_of(b, load, t);
        if (load->kind == SP_LOAD_SPRING)
            add_spring(b, load, t - b->step / 2);
        else if (part != 0)
            for (int64_t i = 0; i < b->rows; i++)
                b->external[i] += part * b->load_force[k * b->rows + i];
    }
}

/* Of polynomials; the terms by the same sums with absolute values. */
static void polynomial_force(balance *b, const double *q)
{
    const verify_statics *s = b->s;
    const int64_t r = s->polynomials->r, N = sp_polynomial_order(r);
    sp_pool pool = {0};
    double *all = tool_allocate(&pool, r, sizeof *all), *f = tool_allocate(&pool, r, sizeof *f),
           *z = tool_allocate_raw(&pool, N, sizeof *z), *Az = tool_allocate(&pool, N, sizeof *Az),
           *sizes = tool_allocate(&pool, N, sizeof *sizes);

    memcpy(all, q, (size_t)b->n * sizeof *all);
    verify_monomials(r, all, z);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            Az[i] += s->gram[i * N + j] * z[j];
            sizes[i] += fabs(s->gram[i * N + j] * z[j]);
        }

    verify_gram_force(r, all, Az, f);
    memcpy(b->force, f, (size_t)b->n * sizeof *f);

    for (int64_t i = 0; i < r; i++)
        all[i] = fabs(all[i]);
    verify_gram_force(r, all, sizes, f);
    memcpy(b->terms, f, (size_t)b->n * sizeof *f);

    sp_pool_free(&pool);
}

/* Of all vertices; the terms are those of the stiffness at rest. */
static void vertex_force(balance *b)
{
    const verify_statics *s = b->s;
    const sp_sparse *K = s->stiffness;

    if (s->linear)
        sp_elastic_tangent_times(s->v->context, s->body, b->rest, b->u, b->force);
    else
        sp_elastic_force(s->v->context, s->body, b->u, b->force);

    memset(b->terms, 0, (size_t)b->rows * sizeof *b->terms);
    if (!K || K->order != s->body->dof_count)
        return;

    sp_pool pool = {0};
    double *sum = tool_allocate(&pool, K->order, sizeof *sum);
    sp_fe_space_gather(s->body, b->u, b->free);
    for (int64_t i = 0; i < K->order; i++)
        for (int64_t k = K->start[i]; k < K->start[i + 1]; k++)
            sum[i] += fabs(K->value[k] * b->free[K->index[k]]);
    sp_fe_space_scatter(s->body, sum, b->terms);
    sp_pool_free(&pool);
}

/* Marks the components that the mesh or the motion prescribes. */
static void find_held(balance *b, int64_t frame)
{
    const sp_trajectory *t = b->s->trajectory;
    for (int64_t i = 0; i < b->rows; i++)
        b->held[i] = b->s->fixed[i / 3] >> i % 3 & 1;
    for (int64_t k = 0; k < t->prescribed_count; k++)
        if (frame < t->prescribed[k].frames)
            for (int c = 0; c < 3; c++)
                if (t->prescribed[k].axes >> c & 1)
                    b->held[3 * t->prescribed[k].vertex + c] = true;
}

static double norm(int64_t n, const double *x)
{
    return sqrt(sp_dense_dot(n, x, x));
}

/* |f − F| over the free coordinates, and |terms|. *scale is the larger of |f| and |F| there; where F is 0 that of an
 * earlier frame, and at least |f| with the reactions of prescribed vertices. */
static double residual(balance *b, int64_t frame, double *terms, double *scale)
{
    const verify_statics *s = b->s;
    const double *q = s->U ? s->trajectory->q + frame * b->n : NULL;

    place(b, frame);
    sum_external(b, s->trajectory->time[frame]);
    if (!q)
        vertex_force(b);
    else if (s->polynomials)
        polynomial_force(b, q);
    else
        s->weighted->evaluate(s->weighted->self, q, false, b->force, NULL);

    /* f_ext of a reduced model is Uᵀ f_ext; of all vertices the prescribed and fixed ones are no equations. */
    if (q)
        for (int64_t c = 0; c < b->n; c++)
            b->free[c] = sp_dense_dot(b->rows, s->U + c * b->rows, b->external);
    double *external = q ? b->free : b->external;
    const double all = norm(b->n, b->force);
    if (!q) {
        find_held(b, frame);
        for (int64_t i = 0; i < b->n; i++)
            if (b->held[i])
                b->force[i] = external[i] = b->terms[i] = 0;
    }

    const double loads = norm(b->n, external);
    /* Where nothing loads the free coordinates, as in a motion of the whole body that its prescribed vertices lead, the
     * solver measures its residual by the forces of iterates that are not in equilibrium. A hundredth of the terms is
     * below those. */
    *scale = loads > 0 ? fmax(norm(b->n, b->force), loads) : fmax(fmax(*scale, all), 0.01 * norm(b->n, b->terms));

    for (int64_t i = 0; i < b->n; i++) {
        b->force[i] -= external[i];
        b->terms[i] += fabs(external[i]);
    }

    *terms = norm(b->n, b->terms);
    return norm(b->n, b->force);
}

/* Rounding ended some steps before the tolerance was reached. */
static bool has_stagnated(const verify_statics *s)
{
    return json_integer_value(json_object_get(s->file->result, "stagnated_steps")) > 0;
}

static const double TOLERANCE = 1e-10; /* of Newton's method, where none is stated */

/* What the residual may be, relative to the forces. */
static double allowed(const verify_statics *s)
{
    const json_t *stated = parameter(s, "tolerance");
    return has_stagnated(s) ? 1e-6 : json_is_number(stated) ? json_number_value(stated) : TOLERANCE;
}

static void check_frames(balance *b)
{
    const verify_statics *s = b->s;
    const bool stagnated = has_stagnated(s);
    const double tolerance = allowed(s);
    const int64_t frames = s->trajectory->frame_count, sampled = frames < s->v->sample ? frames : s->v->sample;

    double worst = 0, limit = 0, scale = 0;
    char name[100];

    for (int64_t k = 0; k < sampled; k++) {
        const int64_t frame = sampled < frames ? k * (frames - 1) / (sampled > 1 ? sampled - 1 : 1) : k;
        double terms;
        if (frame == 0 && frames > 1) /* the start, which nothing loads yet */
            continue;

        const double r = residual(b, frame, &terms, &scale);
        if (scale > 0)
            verify_keep_worst(r / scale, tolerance + ROUNDING * terms / scale, &worst, &limit);
    }

    snprintf(name, sizeof name, "equilibrium of %lld frames%s", (long long)(sampled > 1 ? sampled - 1 : 1),
             stagnated ? ", some of which rounding ended early" : "");
    verify_number(s->v, s->file, name, worst, limit > 0 ? limit : tolerance);
}

/* The sum of the weight and of all loads, also on fixed vertices, in a frame whose displacements are in b->u; *terms is
 * the sum of absolute values. */
static void total_load(balance *b, int64_t frame, double sum[3], double *terms)
{
    const double t = b->s->trajectory->time[frame];
    memcpy(b->external, b->weight, (size_t)b->rows * sizeof *b->external);

    for (int64_t k = 0; k < b->load_count; k++) {
        const sp_load *load = &b->loads[k];
        const double part = part_of(b, load, t);
        if (load->kind == SP_LOAD_SPRING) {
            add_spring(b, load, t - b->step / 2);
            continue;
        }

        memset(b->force, 0, (size_t)b->rows * sizeof *b->force);
        tool_check(sp_load_distribute(b->s->v->context, b->s->body, load, b->force), b->s->file->path);
        for (int64_t i = 0; i < b->rows; i++)
            b->external[i] += part * b->force[i];
    }

    memset(sum, 0, 3 * sizeof *sum);
    *terms = 0;
    for (int64_t i = 0; i < b->rows; i++) {
        sum[i % 3] += b->external[i];
        *terms += fabs(b->external[i]);
    }
}

/* The recorded forces on all fixed vertices against the sum of all loads. What a larger tolerance left on the others is
 * in their sum, √n times as much at most. */
static void check_reactions(balance *b)
{
    const verify_statics *s = b->s;
    const sp_trajectory *t = s->trajectory;
    const char *first = sp_trajectory_reaction(s->file->meta, 0);
    const double tolerance = allowed(s), limit = tolerance > TOLERANCE ? tolerance * sqrt((double)b->rows) : 0;
    double worst = 0;

    if (!t->reaction || strcmp(first, "fixed") || t->prescribed_count > 0)
        return;

    for (int64_t frame = 1; frame < t->frame_count; frame++) {
        double sum[3], terms;
        place(b, frame);
        total_load(b, frame, sum, &terms);
        if (terms > 0)
            for (int c = 0; c < 3; c++)
                worst = verify_worse(fabs(sum[c] + t->reaction[6 * frame * t->reaction_count + c]) / terms, worst);
    }
    verify_number(s->v, s->file, "reactions and loads in balance", worst, fmax(1e-8, limit));
}

/* Three numbers with commas. */
static bool read_numbers(const char *text, double numbers[3])
{
    return text && sscanf(text, "%lf,%lf,%lf", &numbers[0], &numbers[1], &numbers[2]) == 3;
}

void verify_equilibrium(const verify_statics *s)
{
    balance b = {.s = s, .rows = 3 * s->body->mesh->vertex_count};

    const char *more = unsupported(s);
    if (more) {
        verify_skip(s->v, s->file, "equilibrium", "it does not follow --%s", more);
        return;
    }

    b.n = s->U ? s->trajectory->r : b.rows;
    b.step = json_number_value(parameter(s, "dt"));
    double **vectors[] = {&b.weight, &b.u, &b.free, &b.external, &b.force, &b.terms, &b.rest};
    for (int i = 0; i < TOOL_COUNT(vectors); i++)
        *vectors[i] = tool_allocate(&b.pool, b.rows > b.n ? b.rows : b.n, sizeof(double));
    b.held = tool_allocate(&b.pool, b.rows, sizeof *b.held);

    if (!(b.step > 0) || !read_numbers(json_string_value(parameter(s, "gravity")), b.gravity))
        verify_skip(s->v, s->file, "equilibrium", "it does not say its time step and gravity");
    else if (read_loads(&b)) {
        spread_loads(&b);
        check_frames(&b);
        check_reactions(&b);
    }

    sp_pool_free(&b.pool);
}
