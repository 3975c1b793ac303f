/* Positions, axes and velocities are in the world frame; j ≤ i means that joint j moves bone i (it is the bone's own
 * joint or that of an ancestor).
 *
 * Kinematics. Joint i rotates by θ_i about, or slides along, the axis a_i in the frame of its parent p: w_i = R_p a_i,
 * and c_i is the position of the joint in that frame. For rotation R_i = R_p Rot(a_i, θ_i) and x_i = c_i − R_i at_i;
 * for sliding R_i = R_p and x_i = x_p + θ_i w_i. A point x of bone i moves with Σ_{j≤i} J_j(x) θ̇_j, J_j(x) = w_j × (x −
 * c_j) or w_j, and the bone rotates with ω_i = Σ_{j≤i} J^ω_j θ̇_j, J^ω_j = w_j or 0.
 *
 * Inertia. 2T = Σ_i m_i |v_i|² + ω_iᵀ I_i ω_i with v_i of the centre of mass g_i and I_i = R_i I R_iᵀ, so that M_b =
 * Σ_i m_i J(g_i)ᵀ J(g_i) + J^ωᵀ I_i J^ω, summed over the pairs of joints that move bone i. It is symmetric and positive
 * semidefinite by construction.
 *
 * Forces. With θ̈ = 0, differentiating ω_i and v_i from parent to child gives accelerations α_i = α_p + ω_p × w_i θ̇_i
 * (for rotation; ẇ_i = ω_p × w_i) and a_i; the points of a slider have the Coriolis acceleration 2 ω_p × w_i θ̇_i in
 * addition to that of the parent. The Newton–Euler equations require the force m_i a_i at the centre and the moment I_i
 * α_i + ω_i × I_i ω_i. The forces of gravity, springs and attached vertices, minus these, are summed from child to
 * parent, and each joint receives the component along w_i: this is M_b θ̈ (d'Alembert), except for the joint's own
 * spring k (θ_i − rest) and damper. */
#include "rigid/skeleton.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct bone {
    int64_t parent;
    enum sp_joint_kind kind;
    double at[3], axis[3], mass, centre[3], inertia[6], stiffness, rest, damping;
    int64_t vertex_count;
    const int64_t *vertex;
    const double *place;             /* [vertex_count, 3] rest positions of its vertices */
    double weight, weight_centre[3]; /* kg of its vertices, and their centre of mass at rest */
    /* current state */
    sp_pose pose;
    double R[9], w[3], c[3];    /* of the pose; axis; a point of the axis in the frame of the parent */
    double g[3];                /* centre of mass */
    double omega[3], v[3];      /* rad/s, m/s of g */
    double bias[6];             /* angular acceleration, and acceleration of g, while no joint accelerates */
    double force[3], moment[3]; /* N, and N m about c, of the bone and all bones that it moves */
} bone;

struct sp_skeleton {
    sp_pool pool;
    int64_t vertex_count, count, spring_count;
    double gravity[3];
    bone *bones;
    sp_bone_spring *springs;
    double *theta, *rate;
    double *columns, *arriving, *matrix, *right, *solution; /* of the joint system */
    double *J;                                              /* [m, 3] columns at one point */
    double *rotation, *moment;                              /* [m, 3] columns of rotation, and R I Rᵀ times these */
};

/* ---- helpers ---- */

static void add_scaled(double s, const double x[3], double y[3])
{
    for (int k = 0; k < 3; k++)
        y[k] += s * x[k];
}

/* y += a × b */
static void add_cross(const double a[3], const double b[3], double y[3])
{
    double c[3];
    sp_cross3(a, b, c);
    add_scaled(1, c, y);
}

/* y = I x, I xx, yy, zz, yz, zx, xy */
static void inertia_times(const double I[6], const double x[3], double y[3])
{
    y[0] = I[0] * x[0] + I[5] * x[1] + I[4] * x[2];
    y[1] = I[5] * x[0] + I[1] * x[1] + I[3] * x[2];
    y[2] = I[4] * x[0] + I[3] * x[1] + I[2] * x[2];
}

/* y = R I Rᵀ x */
static void world_inertia_times(const bone *b, const double x[3], double y[3])
{
    double own[3], product[3];
    sp_rotate_back(b->R, x, own);
    inertia_times(b->inertia, own, product);
    sp_rotate(b->R, product, y);
}

static void to_world(const bone *b, const double X[3], double x[3])
{
    sp_rotate(b->R, X, x);
    add_scaled(1, b->pose.x, x);
}

/* J_j(x) */
static void column(const bone *joint, const double x[3], double J[3])
{
    double arm[3];
    if (joint->kind == SP_JOINT_PRISMATIC) {
        memcpy(J, joint->w, 3 * sizeof *J);
        return;
    }
    sp_subtract3(x, joint->c, arm);
    sp_cross3(joint->w, arm, J);
}

/* Velocity of a point of the bone. */
static void velocity(const bone *b, const double x[3], double v[3])
{
    double arm[3];
    sp_subtract3(x, b->g, arm);
    memcpy(v, b->v, 3 * sizeof *v);
    add_cross(b->omega, arm, v);
}

/* ---- kinematics ---- */

static void move_pose(bone *b, const bone *parent, double theta)
{
    const sp_pose still = sp_pose_identity();
    const double *q = parent ? parent->pose.q : still.q, *x = parent ? parent->pose.x : still.x;
    double R[9];

    sp_quaternion_matrix(q, R);
    sp_rotate(R, b->axis, b->w);
    sp_rotate(R, b->at, b->c);
    add_scaled(1, x, b->c);

    if (b->kind == SP_JOINT_REVOLUTE) {
        /* The turn about the own axis: (cos θ/2, a sin θ/2) */
        const double s = sin(0.5 * theta), turn[4] = {cos(0.5 * theta), s * b->axis[0], s * b->axis[1], s * b->axis[2]};
        sp_quaternion_multiply(q, turn, b->pose.q);
        sp_quaternion_normalize(b->pose.q);

        sp_quaternion_matrix(b->pose.q, b->R);
        double at[3];
        sp_rotate(b->R, b->at, at);
        sp_subtract3(b->c, at, b->pose.x);
    } else {
        memcpy(b->pose.q, q, sizeof b->pose.q);
        memcpy(b->R, R, sizeof R);
        memcpy(b->pose.x, x, sizeof b->pose.x);
        add_scaled(theta, b->w, b->pose.x);
    }

    to_world(b, b->centre, b->g);
}

static void move_velocity(bone *b, const bone *parent, double rate)
{
    double arm[3];

    memset(b->omega, 0, sizeof b->omega);
    memset(b->v, 0, sizeof b->v);

    /* The points of a slider have the velocity of the parent at the place, plus that along the axis. */
    if (b->kind == SP_JOINT_PRISMATIC) {
        if (parent) {
            memcpy(b->omega, parent->omega, sizeof b->omega);
            velocity(parent, b->g, b->v);
        }
        add_scaled(rate, b->w, b->v);
        return;
    }

    /* Rotation: the velocity of the joint, plus ω × (g − c) */
    if (parent) {
        memcpy(b->omega, parent->omega, sizeof b->omega);
        velocity(parent, b->c, b->v);
    }

    add_scaled(rate, b->w, b->omega);
    sp_subtract3(b->g, b->c, arm);
    add_cross(b->omega, arm, b->v);
}

/* Computes everything that depends on coordinates and rates. */
static void update(sp_skeleton *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        bone *b = &s->bones[i];
        const bone *parent = b->parent >= 0 ? &s->bones[b->parent] : NULL;
        move_pose(b, parent, s->theta[i]);
        move_velocity(b, parent, s->rate[i]);
    }
}

/* ---- construction ---- */

bool sp_bone_inertia_valid(const double inertia[6])
{
    double most = 0, I[6];
    for (int i = 0; i < 6; i++) {
        if (!isfinite(inertia[i]))
            return false;
        most = fmax(most, fabs(inertia[i]));
    }

    if (most == 0)
        return true;

    for (int i = 0; i < 6; i++)
        I[i] = inertia[i] / most + (i < 3 ? 1e-6 : 0);
    /* positive definite with that added, by the leading minors */
    return I[0] > 0 && I[0] * I[1] - I[5] * I[5] > 0 &&
           I[0] * (I[1] * I[2] - I[3] * I[3]) - I[5] * (I[5] * I[2] - I[3] * I[4]) +
                   I[4] * (I[5] * I[3] - I[1] * I[4]) >
               0;
}

static bool all_finite(int64_t n, const double *x)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

static int check_bone(sp_context *context, const sp_bone *b, int64_t i)
{
    const struct {
        const char *name;
        double value;
    } least0[] = {{"mass", b->mass}, {"stiffness", b->stiffness}, {"damping", b->damping}},
      any[] = {{"start", b->start}, {"rate", b->rate}, {"rest", b->rest}};

    if (b->parent < -1 || b->parent >= i)
        return sp_fail(context, SP_INPUT, "bone %lld: parent %lld, expected -1 or a bone before it", (long long)i,
                       (long long)b->parent);
    if (b->kind != SP_JOINT_REVOLUTE && b->kind != SP_JOINT_PRISMATIC)
        return sp_fail(context, SP_INPUT, "bone %lld: joint of kind %d", (long long)i, (int)b->kind);

    for (int k = 0; k < 3; k++) {
        if (!(isfinite(least0[k].value) && least0[k].value >= 0))
            return sp_fail(context, SP_INPUT, "bone %lld: %s %g, expected at least 0", (long long)i, least0[k].name,
                           least0[k].value);
        if (!isfinite(any[k].value))
            return sp_fail(context, SP_INPUT, "bone %lld: %s %g, expected a finite number", (long long)i, any[k].name,
                           any[k].value);
        if (!isfinite(b->at[k]) || !isfinite(b->centre[k]) || !isfinite(b->axis[k]))
            return sp_fail(context, SP_INPUT,
                           "bone %lld: joint at %g, axis %g, centre %g along %c, expected finite numbers", (long long)i,
                           b->at[k], b->axis[k], b->centre[k], (char)('x' + k));
    }

    if (b->axis[0] == 0 && b->axis[1] == 0 && b->axis[2] == 0)
        return sp_fail(context, SP_INPUT, "bone %lld: its axis is zero", (long long)i);
    if (!sp_bone_inertia_valid(b->inertia))
        return sp_fail(context, SP_INPUT, "bone %lld: its inertia is not positive semidefinite", (long long)i);
    if (b->vertex_count < 0)
        return sp_fail(context, SP_INPUT, "bone %lld: %lld vertices", (long long)i, (long long)b->vertex_count);
    return SP_OK;
}

static int check_spring(sp_context *context, const sp_bone_spring *p, int64_t i, int64_t bone_count)
{
    if (p->bone < 0 || p->bone >= bone_count)
        return sp_fail(context, SP_INPUT, "spring %lld: bone %lld of %lld", (long long)i, (long long)p->bone,
                       (long long)bone_count);
    if (!(isfinite(p->stiffness) && p->stiffness >= 0))
        return sp_fail(context, SP_INPUT, "spring %lld: stiffness %g N/m, expected at least 0", (long long)i,
                       p->stiffness);
    if (!all_finite(3, p->at))
        return sp_fail(context, SP_INPUT, "spring %lld: at %g %g %g, expected finite numbers", (long long)i, p->at[0],
                       p->at[1], p->at[2]);
    if (p->count < 1)
        return sp_fail(context, SP_INPUT, "spring %lld: %lld anchors, expected at least 1", (long long)i,
                       (long long)p->count);

    for (int64_t k = 0; k < p->count; k++) {
        if (!isfinite(p->time[k]) || (k > 0 && !(p->time[k] > p->time[k - 1] && isfinite(p->time[k] - p->time[k - 1]))))
            return sp_fail(context, SP_INPUT,
                           "spring %lld: time %lld, %g s, expected a finite number more than the one before",
                           (long long)i, (long long)k, p->time[k]);
        if (!all_finite(3, p->anchor + 3 * k))
            return sp_fail(context, SP_INPUT, "spring %lld: anchor %lld, expected finite numbers", (long long)i,
                           (long long)k);
    }
    return SP_OK;
}

/* Attaches vertices to a bone, with their rest positions and weight. owner [vertices]: 1 + the bone of each, 0 if it
 * has none yet. */
static int attach(sp_context *context, sp_skeleton *s, const sp_bone *from, int64_t i, const double *vertices,
                  const double *vertex_mass, int64_t *owner)
{
    bone *b = &s->bones[i];
    double *place = sp_pool_raw(&s->pool, 3 * from->vertex_count, sizeof *place);
    b->vertex_count = from->vertex_count;
    b->vertex = sp_pool_copy(&s->pool, from->vertex, from->vertex_count, sizeof *b->vertex);
    b->place = place;

    SP_PASS(sp_allocated(context, !s->pool.failed));

    for (int64_t k = 0; k < b->vertex_count; k++) {
        const int64_t vertex = b->vertex[k];
        if (vertex < 0 || vertex >= s->vertex_count)
            return sp_fail(context, SP_INPUT, "bone %lld: vertex %lld of %lld", (long long)i, (long long)vertex,
                           (long long)s->vertex_count);
        if (owner[vertex] > 0)
            return sp_fail(context, SP_INPUT, "bone %lld: vertex %lld is attached to bone %lld already", (long long)i,
                           (long long)vertex, (long long)owner[vertex] - 1);

        owner[vertex] = i + 1;
        const double mass = vertex_mass[vertex], *X = vertices + 3 * vertex;
        if (!(isfinite(mass) && mass >= 0) || !all_finite(3, X))
            return sp_fail(context, SP_INPUT, "bone %lld: vertex %lld of mass %g kg at %g %g %g", (long long)i,
                           (long long)vertex, mass, X[0], X[1], X[2]);

        memcpy(place + 3 * k, X, 3 * sizeof *X);
        b->weight += mass;
        add_scaled(mass, X, b->weight_centre);
    }

    if (b->weight > 0)
        for (int k = 0; k < 3; k++)
            b->weight_centre[k] /= b->weight;
    return SP_OK;
}

static int fill(sp_context *context, sp_skeleton *s, const double *vertices, const double *vertex_mass,
                const sp_bone *bones)
{
    int status = SP_OK;
    sp_pool scratch = {0};
    int64_t *owner = sp_pool_new(&scratch, s->vertex_count, sizeof *owner);
    SP_PASS(sp_allocated(context, owner));

    for (int64_t i = 0; i < s->count; i++) {
        const sp_bone *from = &bones[i];
        SP_TRY(check_bone(context, from, i));
        bone *b = &s->bones[i];
        *b = (bone){.parent = from->parent,
                    .kind = from->kind,
                    .mass = from->mass,
                    .stiffness = from->stiffness,
                    .rest = from->rest,
                    .damping = from->damping};

        memcpy(b->at, from->at, sizeof b->at);
        memcpy(b->axis, from->axis, sizeof b->axis);
        memcpy(b->centre, from->centre, sizeof b->centre);
        memcpy(b->inertia, from->inertia, sizeof b->inertia);
        sp_unit_vector(3, b->axis);

        s->theta[i] = from->start;
        s->rate[i] = from->rate;
        SP_TRY(attach(context, s, from, i, vertices, vertex_mass, owner));
    }

    for (int64_t i = 0; i < s->spring_count; i++) {
        sp_bone_spring *p = &s->springs[i];
        SP_TRY(check_spring(context, p, i, s->count));
        p->time = sp_pool_copy(&s->pool, p->time, p->count, sizeof *p->time);
        p->anchor = sp_pool_copy(&s->pool, p->anchor, 3 * p->count, sizeof *p->anchor);
        SP_TRY(sp_allocated(context, !s->pool.failed));
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* Numbers that are individually finite may still give a matrix that is not. */
static int check_start(sp_context *context, sp_skeleton *s)
{
    sp_joint_system joints;
    double kinetic, potential;

    update(s);
    sp_skeleton_joint_system(s, 0, 1, 1, &joints);
    sp_skeleton_energies(s, 0, &kinetic, &potential);

    for (int64_t i = 0; i < s->count; i++)
        if (!all_finite(s->count, s->matrix + s->count * i) || !isfinite(s->right[i]))
            return sp_fail(
                context, SP_INPUT,
                "bone %lld: places, masses, stiffnesses or rates too large: its forces are not finite numbers",
                (long long)i);
    return isfinite(kinetic) && isfinite(potential)
               ? SP_OK
               : sp_fail(context, SP_INPUT, "the energy of the bones, %g J, is not a finite number",
                         kinetic + potential);
}

int sp_skeleton_new(sp_context *context, int64_t vertex_count, const double *vertices, const double *vertex_mass,
                    const double acceleration[3], int64_t bone_count, const sp_bone *bones, int64_t spring_count,
                    const sp_bone_spring *springs, sp_skeleton **skeleton)
{
    sp_pool pool = {0};
    int64_t columns;

    *skeleton = NULL;

    if (bone_count < 1 || spring_count < 0 || vertex_count < 0)
        return sp_fail(context, SP_INPUT, "%lld bones, %lld springs, %lld vertices", (long long)bone_count,
                       (long long)spring_count, (long long)vertex_count);
    if (!all_finite(3, acceleration))
        return sp_fail(context, SP_INPUT, "gravity %g %g %g m/s^2, expected finite numbers", acceleration[0],
                       acceleration[1], acceleration[2]);

    if (bone_count > INT32_MAX || __builtin_mul_overflow(vertex_count, 3 * bone_count, &columns))
        return sp_fail_memory(context);
    sp_skeleton *s = sp_pool_new(&pool, 1, sizeof *s);
    SP_PASS(sp_allocated(context, s));

    s->vertex_count = vertex_count;
    s->count = bone_count;
    s->spring_count = spring_count;
    memcpy(s->gravity, acceleration, sizeof s->gravity);
    s->bones = sp_pool_new(&pool, bone_count, sizeof *s->bones);
    s->springs = sp_pool_copy(&pool, springs, spring_count, sizeof *s->springs);

    double **const vectors[] = {&s->theta, &s->rate, &s->right, &s->solution};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = sp_pool_new(&pool, bone_count, sizeof(double));
    double **const triples[] = {&s->J, &s->rotation, &s->moment};
    for (size_t k = 0; k < sizeof triples / sizeof *triples; k++)
        *triples[k] = sp_pool_new(&pool, 3 * bone_count, sizeof(double));

    s->matrix = sp_pool_new(&pool, bone_count * bone_count, sizeof *s->matrix);
    s->columns = sp_pool_new(&pool, columns, sizeof *s->columns);
    s->arriving = sp_pool_new(&pool, 3 * vertex_count, sizeof *s->arriving);
    s->pool = pool;

    int status = pool.failed ? sp_fail_memory(context) : fill(context, s, vertices, vertex_mass, bones);
    if (status == SP_OK)
        status = check_start(context, s);
    if (status == SP_OK)
        *skeleton = s;
    else
        sp_skeleton_free(s);
    return status;
}

void sp_skeleton_free(sp_skeleton *skeleton)
{
    if (!skeleton)
        return;
    sp_pool pool = skeleton->pool; /* the pool owns the skeleton itself */
    sp_pool_free(&pool);
}

/* ---- state for callers ---- */

int64_t sp_skeleton_count(const sp_skeleton *skeleton)
{
    return skeleton->count;
}

const double *sp_skeleton_coordinates(const sp_skeleton *skeleton)
{
    return skeleton->theta;
}

const double *sp_skeleton_rates(const sp_skeleton *skeleton)
{
    return skeleton->rate;
}

void sp_skeleton_pose(const sp_skeleton *skeleton, int64_t index, sp_pose *pose)
{
    *pose = skeleton->bones[index].pose;
}

void sp_skeleton_place(const sp_skeleton *skeleton, double *u, double *v)
{
    for (int64_t i = 0; i < skeleton->count; i++) {
        const bone *b = &skeleton->bones[i];
        for (int64_t k = 0; k < b->vertex_count; k++) {
            double x[3];

            to_world(b, b->place + 3 * k, x);
            if (u)
                sp_subtract3(x, b->place + 3 * k, u + 3 * b->vertex[k]);
            if (v)
                velocity(b, x, v + 3 * b->vertex[k]);
        }
    }
}

/* The position of the other end of a spring. */
static void anchor_at(const sp_bone_spring *p, double t, double anchor[3])
{
    /* Before the first time and after the last one the anchor stays. */
    int64_t low = 0, high = p->count - 1;
    if (!(t > p->time[low]))
        high = low;
    if (t >= p->time[high])
        low = high;

    while (high - low > 1) { /* time[low] ≤ t < time[high] */
        const int64_t middle = low + (high - low) / 2;
        if (p->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }

    const double part = high > low ? (t - p->time[low]) / (p->time[high] - p->time[low]) : 0;
    for (int k = 0; k < 3; k++)
        anchor[k] = (1 - part) * p->anchor[3 * low + k] + part * p->anchor[3 * high + k];
}

double sp_skeleton_spin(const sp_skeleton *skeleton)
{
    double most = 0;
    for (int64_t b = 0; b < skeleton->count; b++)
        most = fmax(most, sp_norm3(skeleton->bones[b].omega));
    return most;
}

void sp_skeleton_energies(const sp_skeleton *skeleton, double t, double *kinetic, double *potential)
{
    double T = 0, V = 0;

    for (int64_t i = 0; i < skeleton->count; i++) {
        const bone *b = &skeleton->bones[i];
        double moment[3], fall[3];

        world_inertia_times(b, b->omega, moment);
        T += 0.5 * (b->mass * sp_dot3(b->v, b->v) + sp_dot3(b->omega, moment));

        const double stretch = skeleton->theta[i] - b->rest;
        V += 0.5 * b->stiffness * stretch * stretch;

        /* The fall of a mass from its place at rest: differences keep the potential small. */
        sp_subtract3(b->g, b->centre, fall);
        V -= b->mass * sp_dot3(skeleton->gravity, fall);

        /* The weight of attached vertices is that of the mesh. */
        to_world(b, b->weight_centre, fall);
        add_scaled(-1, b->weight_centre, fall);
        V -= b->weight * sp_dot3(skeleton->gravity, fall);
    }

    for (int64_t i = 0; i < skeleton->spring_count; i++) {
        const sp_bone_spring *p = &skeleton->springs[i];
        double x[3], anchor[3];
        to_world(&skeleton->bones[p->bone], p->at, x);
        anchor_at(p, t, anchor);
        add_scaled(-1, anchor, x);
        V += 0.5 * p->stiffness * sp_dot3(x, x);
    }

    if (kinetic)
        *kinetic = T;
    if (potential)
        *potential = V;
}

/* ---- a step ---- */

static void fill_columns(sp_skeleton *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        const bone *b = &s->bones[i];

        for (int64_t k = 0; k < b->vertex_count; k++) {
            double x[3];

            to_world(b, b->place + 3 * k, x);
            for (int64_t j = i; j >= 0; j = s->bones[j].parent)
                column(&s->bones[j], x, s->columns + 3 * (s->vertex_count * j + b->vertex[k]));
        }
    }
}

/* Both triangles += scale JᵀJ + rotationᵀ moment, over the joints that move bone i; rotation NULL: none. */
static void add_products(sp_skeleton *s, int64_t i, double scale, const double *J, const double *rotation,
                         const double *moment)
{
    for (int64_t j = i; j >= 0; j = s->bones[j].parent)
        for (int64_t k = j; k >= 0; k = s->bones[k].parent) {
            const double entry =
                scale * sp_dot3(J + 3 * j, J + 3 * k) + (rotation ? sp_dot3(rotation + 3 * k, moment + 3 * j) : 0);
            s->matrix[s->count * j + k] += entry;
            if (k != j)
                s->matrix[s->count * k + j] += entry;
        }
}

static void fill_inertia(sp_skeleton *s)
{
    memset(s->matrix, 0, (size_t)(s->count * s->count) * sizeof *s->matrix);
    for (int64_t i = 0; i < s->count; i++) {
        const bone *b = &s->bones[i];

        /* The joints from the bone up to the root move its centre. */
        for (int64_t j = i; j >= 0; j = s->bones[j].parent) {
            const bone *joint = &s->bones[j];
            double *rotation = s->rotation + 3 * j;

            column(joint, b->g, s->J + 3 * j);
            memcpy(rotation, joint->w, 3 * sizeof *rotation);
            if (joint->kind == SP_JOINT_PRISMATIC)
                memset(rotation, 0, 3 * sizeof *rotation);
            world_inertia_times(b, rotation, s->moment + 3 * j);
        }

        add_products(s, i, b->mass, s->J, s->rotation, s->moment);
    }
}

/* Acceleration of a point of the bone while no joint accelerates. */
static void acceleration(const bone *b, const double x[3], double a[3])
{
    double arm[3], speed[3];
    sp_subtract3(x, b->g, arm);

    /* a + α × r + ω × (ω × r) */
    memcpy(a, b->bias + 3, 3 * sizeof *a);
    add_cross(b->bias, arm, a);
    sp_cross3(b->omega, arm, speed);
    add_cross(b->omega, speed, a);
}

static void accelerate(bone *b, const bone *parent, double rate)
{
    static const double still[3] = {0};
    const double *omega = parent ? parent->omega : still;
    double arm[3], along[3] = {0}, speed[3], *alpha = b->bias, *a = b->bias + 3;

    memset(b->bias, 0, sizeof b->bias);
    add_scaled(rate, b->w, along);

    if (parent) {
        memcpy(alpha, parent->bias, 3 * sizeof *alpha);
        /* The point of the parent at this position */
        acceleration(parent, b->kind == SP_JOINT_REVOLUTE ? b->c : b->g, a);
    }

    /* 2 ω_p × w θ̇ is Coriolis' acceleration. */
    if (b->kind == SP_JOINT_PRISMATIC) {
        sp_cross3(omega, along, speed);
        add_scaled(2, speed, a);
        return;
    }

    /* α = α_p + ω_p × w θ̇, a = a_c + α × arm + ω × (ω × arm) */
    add_cross(omega, along, alpha);
    sp_subtract3(b->g, b->c, arm);
    add_cross(alpha, arm, a);
    sp_cross3(b->omega, arm, speed);
    add_cross(b->omega, speed, a);
}

static void fill_arriving(sp_skeleton *s, double h)
{
    for (int64_t i = 0; i < s->count; i++) {
        const bone *b = &s->bones[i];
        for (int64_t k = 0; k < b->vertex_count; k++) {
            double x[3], a[3], *v = s->arriving + 3 * b->vertex[k];

            to_world(b, b->place + 3 * k, x);
            velocity(b, x, v);
            acceleration(b, x, a);
            add_scaled(-h, a, v);
        }
    }
}

/* Applies a force at x. */
static void apply_force(bone *b, const double x[3], const double force[3])
{
    double arm[3];
    sp_subtract3(x, b->c, arm);
    add_scaled(1, force, b->force);
    add_cross(arm, force, b->moment);
}

/* Adds the forces of springs on bones, with the other ends at time t; matrix += scale JᵀkJ. */
static void add_springs(sp_skeleton *s, double t, double scale)
{
    for (int64_t i = 0; i < s->spring_count; i++) {
        const sp_bone_spring *p = &s->springs[i];
        double x[3], anchor[3], force[3] = {0};

        to_world(&s->bones[p->bone], p->at, x);
        anchor_at(p, t, anchor);

        /* f = k (anchor − x) */
        add_scaled(p->stiffness, anchor, force);
        add_scaled(-p->stiffness, x, force);
        apply_force(&s->bones[p->bone], x, force);

        for (int64_t j = p->bone; j >= 0; j = s->bones[j].parent)
            column(&s->bones[j], x, s->J + 3 * j);
        add_products(s, p->bone, scale * p->stiffness, s->J, NULL, NULL);
    }
}

/* Adds gravity minus the force and moment that the bone's own mass needs while no joint accelerates. */
static void add_weight(const sp_skeleton *s, bone *b)
{
    double force[3] = {0}, moment[3], spin[3], x[3];

    /* The weight of the attached vertices, then m (g − a) of the bone, −I α and −ω × I ω */
    add_scaled(b->weight, s->gravity, force);
    to_world(b, b->weight_centre, x);
    apply_force(b, x, force);

    for (int k = 0; k < 3; k++)
        force[k] = b->mass * (s->gravity[k] - b->bias[3 + k]);
    apply_force(b, b->g, force);

    world_inertia_times(b, b->bias, moment);
    add_scaled(-1, moment, b->moment);
    world_inertia_times(b, b->omega, spin);
    sp_cross3(b->omega, spin, moment);
    add_scaled(-1, moment, b->moment);
}

void sp_skeleton_joint_system(sp_skeleton *skeleton, double t, double h, double beta, sp_joint_system *joints)
{
    sp_skeleton *s = skeleton;

    fill_columns(s);
    fill_inertia(s);

    /* M_b θ̇₀, the momentum at the start */
    for (int64_t i = 0; i < s->count; i++) {
        s->right[i] = 0;
        for (int64_t j = 0; j < s->count; j++)
            s->right[i] += s->matrix[s->count * i + j] * s->rate[j];
    }

    for (int64_t i = 0; i < s->count; i++) { /* parents first */
        bone *b = &s->bones[i];
        memset(b->force, 0, sizeof b->force);
        memset(b->moment, 0, sizeof b->moment);
        accelerate(b, b->parent >= 0 ? &s->bones[b->parent] : NULL, s->rate[i]);
        add_weight(s, b);
    }

    /* Implicit: springs at the end of the step, with β h² JᵀkJ in the matrix */
    add_springs(s, t + h, beta * h * h);

    for (int64_t i = s->count - 1; i >= 0; i--) { /* children first */
        const bone *b = &s->bones[i];
        const double along = sp_dot3(b->w, b->kind == SP_JOINT_REVOLUTE ? b->moment : b->force);
        s->right[i] += h * (along - b->stiffness * (s->theta[i] - b->rest));
        s->matrix[s->count * i + i] += h * b->damping + beta * h * h * b->stiffness;
        if (b->parent >= 0) { /* its force acts on the parent at c, which moves with the parent */
            bone *parent = &s->bones[b->parent];
            apply_force(parent, b->c, b->force);
            add_scaled(1, b->moment, parent->moment);
        }
    }

    fill_arriving(s, h);
    *joints = (sp_joint_system){.count = s->count,
                                .columns = s->columns,
                                .arriving = s->arriving,
                                .matrix = s->matrix,
                                .right = s->right,
                                .rate = s->solution};
}

void sp_skeleton_advance(sp_skeleton *skeleton, double h, const double *rate)
{
    for (int64_t i = 0; i < skeleton->count; i++) {
        skeleton->theta[i] += h * rate[i];
        skeleton->rate[i] = rate[i];
    }
    update(skeleton);
}

void sp_skeleton_visit(sp_skeleton *skeleton, sp_state *state)
{
    sp_state_reals(state, skeleton->theta, skeleton->count);
    sp_state_reals(state, skeleton->rate, skeleton->count);
    if (state->loading)
        update(skeleton);
}
