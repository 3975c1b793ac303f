/* Normals of meshes that deform by targets, against a cube and a plate. */
#include "render/normals.h"
#include "test.h"

/* A cube has one normal a side: each of its 8 corners becomes three vertices. */
TEST(cube)
{
    static const double corners[24] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    static const int64_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                          2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    double vertices[72], normals[72];
    OWNED(sp_pool) pool = {0};
    sp_split split;
    int wrong = 0, copies[8] = {0};
    CHECK_OK(sp_split_creases(&context, corners, 8, triangles, 12, &pool, &split));
    CHECK(split.vertex_count == 24, "%lld vertices", (long long)split.vertex_count);
    for (int64_t v = 0; v < split.vertex_count; v++) {
        wrong += v < 8 && split.origin[v] != v;
        copies[split.origin[v]]++;
        for (int k = 0; k < 3; k++)
            vertices[3 * v + k] = corners[3 * split.origin[v] + k];
    }
    for (int v = 0; v < 8; v++)
        wrong += copies[v] != 3;
    for (int c = 0; c < 36; c++)
        wrong += split.origin[split.triangles[c]] != triangles[c];
    sp_vertex_normals(24, vertices, 12, split.triangles, normals);
    for (int c = 0; c < 36; c++) /* sides in the order −z, z, −y, y, −x, x */
        for (int k = 0; k < 3; k++) {
            const double sign = c / 6 % 2 ? 1 : -1;
            wrong += fabs(normals[3 * split.triangles[c] + k] - (2 - c / 12 == k ? sign : 0)) > 1e-15;
        }
    CHECK(wrong == 0, "%d are wrong", wrong);
}

/* A plate z = 0 of 4×4 squares. */
typedef struct plate {
    double rest[75], targets[2][75];
    int64_t triangles[96];
} plate;

/* Targets: z = x, a rotation of the normal about y, and z = y. */
static sp_target_mesh make_plate(plate *p)
{
    int64_t *to = p->triangles;
    memset(p, 0, sizeof *p);
    for (int v = 0; v < 25; v++) {
        const double x = v % 5, y = v / 5;
        p->rest[3 * v] = x;
        p->rest[3 * v + 1] = y;
        p->targets[0][3 * v + 2] = x;
        p->targets[1][3 * v + 2] = y;
    }
    for (int64_t v = 0; v < 20; v++)
        for (int i = 0; i < 6 && v % 5 < 4; i++)
            *to++ = v + (int64_t[]){0, 1, 6, 0, 6, 5}[i];
    return (sp_target_mesh){25, 32, 2, p->rest, p->triangles, p->targets[0]};
}

/* Where a plane is z = w x, its normal is (−w, 0, 1) / √(1 + w²), of which (−1, 0, 0) is the derivative. */
TEST(derivative)
{
    plate p;
    double normals[75], change[150], most = 0;
    const sp_target_mesh mesh = make_plate(&p);
    sp_normal_errors errors;
    CHECK_OK(sp_normal_targets(&context, &mesh, 0, NULL, normals, change, &errors));
    for (int k = 0; k < 75; k++) {
        most = fmax(most, fabs(normals[k] - (k % 3 == 2)));
        most = fmax(most, fabs(change[k] + (k % 3 == 0)));
        most = fmax(most, fabs(change[75 + k] + (k % 3 == 1)));
    }
    CHECK_NEAR(most, 0, 1e-9);
    CHECK_NEAR(errors.largest, 0, 0);
}

/* Two samples w = ±1/2: by symmetry the best change is (−1, 0, 0) / √(1 + w²). Then the normal is off by
 * atan(w) − atan(w / √(1 + w²)). The target that they do not contain keeps its derivative. */
TEST(fit)
{
    static const double weights[4] = {0.5, 0, -0.5, 0};
    const double shorter = 1 / sqrt(1.25), expected = (atan(0.5) - atan(0.5 * shorter)) * 180 / acos(-1);
    plate p;
    double normals[75], change[150], most = 0;
    const sp_target_mesh mesh = make_plate(&p);
    sp_normal_errors errors;
    CHECK_OK(sp_normal_targets(&context, &mesh, 2, weights, normals, change, &errors));
    for (int k = 0; k < 75; k++) {
        most = fmax(most, fabs(change[k] + (k % 3 == 0 ? shorter : 0)));
        most = fmax(most, fabs(change[75 + k] + (k % 3 == 1)));
    }
    CHECK_NEAR(most, 0, 1e-4); /* of the regularization */
    CHECK_NEAR(errors.largest, expected, 0.01);
    CHECK_NEAR(errors.mean, expected, 0.01);
}
