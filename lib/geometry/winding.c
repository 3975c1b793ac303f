#include "geometry/winding.h"

#include <math.h>

#include "base/vec3.h"
#include "geometry/morton.h"

static const double PI = 3.14159265358979323846;

enum { LEAF = 8, STACK = 256 };

/* A cluster of triangles with the expansion of its winding number about its centre p. With r = p − q for the point q
 * and f(r) = r/|r|³, 4π w(q) = Σ ∫ n·f(r + y) dA, y = x − p, to second order in y. All derivatives of f are symmetric
 * and traceless, so that only the symmetric traceless parts of the moments matter: 4π w = N·r/|r|³ − 3 rᵀM r/|r|⁵ +
 * (15/2) S(r,r,r)/|r|⁷. */
typedef struct cluster {
    double centre[3], radius;
    double n[3];  /* ∫ n dA */
    double m[6];  /* ∫ y ⊗ n dA: xx yy zz, and twice yz zx xy */
    double s[10]; /* ∫ y ⊗ y ⊗ n dA: xxx yyy zzz, 3 × (xxy xxz yyx yyz zzx zzy), 6 × xyz */
    int64_t first, count;
    int64_t child[2]; /* 0: a leaf */
} cluster;

struct sp_winding {
    sp_pool pool;
    int64_t count, node_count;
    double *corners; /* [count, 9] m, triangles in the order of the tree */
    cluster *nodes;
};

/* Moments before symmetrization, which can be moved to another centre. */
typedef struct moments {
    double area, centre[3];
    double n[3], m[3][3], t[3][3][3]; /* the last index is that of the normal */
} moments;

/* A sum of angles as 2π·turns + arg(x + iy), so that adding is a complex product instead of an arc tangent. */
typedef struct angle_sum {
    double x, y;
    int64_t turns;
} angle_sum;

/* Adds half the signed solid angle of a triangle, Van Oosterom & Strackee (1983): tan(Ω/2) = det(a,b,c) / (|a||b||c| +
 * a·b |c| + b·c |a| + c·a |b|). For a point in the triangle it is 0. */
static void add_half_angle(angle_sum *sum, const double *corner, const double point[3])
{
    double v[3][3], length[3];
    for (int i = 0; i < 3; i++) {
        sp_subtract3(corner + 3 * i, point, v[i]);
        length[i] = sp_norm3(v[i]);
    }

    const double *a = v[0], *b = v[1], *c = v[2];
    const double det = sp_determinant(a, b, c), ab = sp_dot3(a, b), bc = sp_dot3(b, c), ca = sp_dot3(c, a);
    const double below = length[0] * length[1] * length[2] + ab * length[2] + bc * length[0] + ca * length[1];

    if (det == 0)
        return;
    /* Both arguments lie in (−π, π]. The sum of two with the same sign leaves that range if the imaginary part of the
     * product has the other sign. Near ±π both values mean the same angle; elsewhere no cancellation can change the
     * sign. */
    const double scale = 1 / (fabs(det) + fabs(below));
    const double x = (sum->x * below - sum->y * det) * scale, y = (sum->x * det + sum->y * below) * scale;

    if (det > 0)
        sum->turns += sum->y >= 0 && y < 0;
    else
        sum->turns -= sum->y < 0 && y >= 0;
    sum->x = x;
    sum->y = y;
}

static double angle_total(const angle_sum *sum)
{
    return 2 * PI * (double)sum->turns + atan2(sum->y, sum->x);
}

static moments triangle_moments(const double *corner)
{
    moments sum = {0};
    double e[3], f[3], y[3][3];

    for (int k = 0; k < 3; k++) {
        e[k] = corner[3 + k] - corner[k];
        f[k] = corner[6 + k] - corner[k];
        sum.centre[k] = corner[k] + (e[k] + f[k]) / 3;
        for (int i = 0; i < 3; i++)
            y[i][k] = corner[3 * i + k] - sum.centre[k];
    }

    /* n = A times the unit normal */
    for (int i = 0; i < 3; i++)
        sum.n[i] = 0.5 * (e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3]);
    sum.area = sqrt(sum.n[0] * sum.n[0] + sum.n[1] * sum.n[1] + sum.n[2] * sum.n[2]);
    /* About the centroid ∫ y = 0 and ∫ y yᵀ = A/12 Σ y_a y_aᵀ over the corners. */
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            double second = (y[0][j] * y[0][k] + y[1][j] * y[1][k] + y[2][j] * y[2][k]) / 12;
            for (int i = 0; i < 3; i++)
                sum.t[j][k][i] = second * sum.n[i];
        }
    return sum;
}

/* Adds the moments `part`, which are about their own centre, to those about sum->centre. */
static void add_translated(moments *sum, const moments *part)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = part->centre[k] - sum->centre[k];

    /* y = y' + d: ∫ y_j n = ∫ y'_j n + d_j N and ∫ y_j y_k n = ∫ y'_j y'_k n + d_j ∫ y'_k n + d_k ∫ y'_j n + d_j d_k
     * N */
    for (int i = 0; i < 3; i++) {
        sum->n[i] += part->n[i];
        for (int j = 0; j < 3; j++) {
            sum->m[j][i] += part->m[j][i] + d[j] * part->n[i];
            for (int k = 0; k < 3; k++)
                sum->t[j][k][i] +=
                    part->t[j][k][i] + d[j] * part->m[k][i] + d[k] * part->m[j][i] + d[j] * d[k] * part->n[i];
        }
    }
}

static moments joined(const moments *part, int count)
{
    moments sum = {0};
    for (int p = 0; p < count; p++) {
        sum.area += part[p].area;
        for (int k = 0; k < 3; k++)
            sum.centre[k] += part[p].area * part[p].centre[k];
    }

    /* The centroid. A cluster without area has no moments at all, so that any centre serves. */
    for (int k = 0; k < 3; k++)
        sum.centre[k] = sum.area > 0 ? sum.centre[k] / sum.area : part[0].centre[k];
    for (int p = 0; p < count; p++)
        add_translated(&sum, &part[p]);
    return sum;
}

static void set_expansion(cluster *node, const moments *sum)
{
    /* M − tr(M)/3 I. The antisymmetric part vanishes in rᵀM r. */
    const double trace = (sum->m[0][0] + sum->m[1][1] + sum->m[2][2]) / 3;
    double s[3][3][3], t[3] = {0};

    /* S symmetrized over the place of the normal, then less its traces: S_ijk − (δ_ij t_k + δ_jk t_i + δ_ki t_j)/5
     * with t_k = Σ_i S_iik */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                s[i][j][k] = (sum->t[i][j][k] + sum->t[j][k][i] + sum->t[k][i][j]) / 3;
    for (int k = 0; k < 3; k++)
        t[k] = s[0][0][k] + s[1][1][k] + s[2][2][k];

    for (int k = 0; k < 3; k++) {
        node->centre[k] = sum->centre[k];
        node->n[k] = sum->n[k];
        node->m[k] = sum->m[k][k] - trace;
        node->m[3 + k] = sum->m[(k + 1) % 3][(k + 2) % 3] + sum->m[(k + 2) % 3][(k + 1) % 3];
        node->s[k] = s[k][k][k] - 0.6 * t[k];
    }

    node->s[3] = 3 * (s[0][0][1] - t[1] / 5);
    node->s[4] = 3 * (s[0][0][2] - t[2] / 5);
    node->s[5] = 3 * (s[1][1][0] - t[0] / 5);
    node->s[6] = 3 * (s[1][1][2] - t[2] / 5);
    node->s[7] = 3 * (s[2][2][0] - t[0] / 5);
    node->s[8] = 3 * (s[2][2][1] - t[1] / 5);
    node->s[9] = 6 * s[0][1][2];
}

/* The recursion depth is at most that of 63 splits by bits of the codes plus bisections. */
static moments build(sp_winding *winding, const sp_morton *order, int64_t first, int64_t end, int64_t self)
{
    moments part[LEAF], sum;
    int64_t child[2] = {0};

    if (end - first <= LEAF) {
        for (int64_t i = first; i < end; i++)
            part[i - first] = triangle_moments(winding->corners + 9 * i);
        sum = joined(part, (int)(end - first));
    } else {
        int64_t cut = sp_morton_cut(order, first, end);
        child[0] = winding->node_count;
        child[1] = child[0] + 1;
        winding->node_count += 2;
        part[0] = build(winding, order, first, cut, child[0]);
        part[1] = build(winding, order, cut, end, child[1]);
        sum = joined(part, 2);
    }

    cluster *node = &winding->nodes[self];
    set_expansion(node, &sum);
    node->first = first;
    node->count = end - first;
    node->child[0] = child[0];
    node->child[1] = child[1];

    /* The distance of the farthest corner: the expansion in y converges beyond it. */
    double square = 0;
    for (int64_t i = 3 * first; i < 3 * end; i++) {
        const double *x = winding->corners + 3 * i;
        const double this = sp_distance_squared3(x, sum.centre);
        square = this > square ? this : square;
    }
    node->radius = sqrt(square);
    return sum;
}

int sp_winding_new(sp_context *context, const sp_surface *surface, sp_winding **result)
{
    const int64_t n = surface->triangle_count;
    sp_pool pool = {0}, scratch = {0};

    *result = NULL;
    sp_winding *winding = sp_pool_new(&pool, 1, sizeof *winding);
    double *corners = sp_pool_raw(&pool, 9 * n, sizeof *corners);
    double *centre = sp_pool_raw(&scratch, 3 * n, sizeof *centre);
    /* Every split leaves two nonempty parts, so that there are fewer than 2n nodes. */
    cluster *nodes = sp_pool_raw(&pool, 2 * n + 1, sizeof *nodes);
    if (pool.failed || scratch.failed) {
        sp_pool_free(&pool);
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t t = 0; t < n; t++)
        for (int k = 0; k < 3; k++) {
            const int64_t *v = surface->triangles + 3 * t;
            centre[3 * t + k] =
                (surface->vertices[3 * v[0] + k] + surface->vertices[3 * v[1] + k] + surface->vertices[3 * v[2] + k]) /
                3;
        }
    sp_morton *order = sp_morton_order(&scratch, n, centre);
    if (!order) {
        sp_pool_free(&pool);
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 9; c++)
            corners[9 * i + c] = surface->vertices[3 * surface->triangles[3 * order[i].index + c / 3] + c % 3];

    *winding = (sp_winding){.count = n, .corners = corners, .nodes = nodes};
    if (n > 0) {
        winding->node_count = 1;
        build(winding, order, 0, n, 0);
    }

    sp_pool_free(&scratch);
    winding->pool = pool;
    *result = winding;
    return SP_OK;
}

void sp_winding_free(sp_winding *winding)
{
    if (!winding)
        return;
    sp_pool pool = winding->pool; /* the pool owns the struct itself */
    sp_pool_free(&pool);
}

/* 4π times the expansion; r = centre − point, square = |r|². */
static double expansion(const cluster *node, const double r[3], double square)
{
    const double x = r[0], y = r[1], z = r[2], *m = node->m, *s = node->s;
    const double inverse = 1 / square, inverse3 = inverse / sqrt(square);
    double first = node->n[0] * x + node->n[1] * y + node->n[2] * z;
    double second = x * (m[0] * x + m[5] * y) + y * (m[1] * y + m[3] * z) + z * (m[2] * z + m[4] * x);

    double third = x * x * (s[0] * x + s[3] * y + s[4] * z) + y * y * (s[1] * y + s[5] * x + s[6] * z) +
                   z * z * (s[2] * z + s[7] * x + s[8] * y) + s[9] * x * y * z;
    return inverse3 * (first + inverse * (-3 * second + inverse * 7.5 * third));
}

double sp_winding_number(const sp_winding *winding, const double point[3], double accuracy)
{
    const double factor = accuracy < 1.5 ? 1.5 * 1.5 : accuracy * accuracy;
    angle_sum angle = {1, 0, 0};
    double far = 0;

    if (accuracy <= 0 || winding->count == 0) {
        for (int64_t i = 0; i < winding->count; i++)
            add_half_angle(&angle, winding->corners + 9 * i, point);
        return angle_total(&angle) / (2 * PI);
    }

    /* Clusters that are small compared to their distance by their expansion, triangles of the others exactly */
    int64_t stack[STACK]; /* depth ≤ 63 + 63, with one sibling per level */
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const cluster *node = &winding->nodes[stack[--depth]];
        double r[3] = {node->centre[0] - point[0], node->centre[1] - point[1], node->centre[2] - point[2]};
        double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if (square > factor * node->radius * node->radius) {
            far += expansion(node, r, square);
        } else if (node->child[0]) {
            stack[depth++] = node->child[1];
            stack[depth++] = node->child[0];
        } else {
            for (int64_t i = node->first; i < node->first + node->count; i++)
                add_half_angle(&angle, winding->corners + 9 * i, point);
        }
    }
    return angle_total(&angle) / (2 * PI) + far / (4 * PI);
}

bool sp_winding_inside(const sp_winding *winding, const double point[3])
{
    /* The errors observed are at most a third of these margins, and fall with the third power of the accuracy. */
    static const double accuracy[] = {2, 4, 8}, margin[] = {0.03, 0.004, 0.0005};
    for (int i = 0; i < 3; i++) {
        const double w = sp_winding_number(winding, point, accuracy[i]);
        if (fabs(w - 0.5) > margin[i])
            return w > 0.5;
    }
    return sp_winding_number(winding, point, 0) >= 0.5;
}
