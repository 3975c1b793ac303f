/* Winding numbers of triangle soups and the orientation repair before them. */
#include "geometry/orient.h"
#include "geometry/winding.h"
#include "geometry_models.h"
#include "test.h"

static sp_context context;

static void winding_exact(void)
{
    sp_winding *w;
    sp_surface s = new_surface(8, 12);
    add_box(&s, (double[3]){-1, -1, -1}, (double[3]){1, 1, 1});
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.3, -0.2, 0.9}, 0), 1, 1e-14);
    CHECK_NEAR(sp_winding_number(w, (double[3]){1.3, -0.2, 0.9}, 0), 0, 1e-14);
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.999999999, 0.5, -0.1}, 0), 1, 1e-12);
    CHECK_NEAR(sp_winding_number(w, (double[3]){5, 6, 7}, 2), 0, 1e-2);
    sp_winding_free(w);
    /* A face seen from the cube's centre is a sixth of the sphere. */
    s.triangle_count = 10;
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0, 0, 0}, 0), 5.0 / 6, 1e-14);
    sp_winding_free(w);
    sp_surface_free(&s);
    /* Half a sphere seen from its centre, the rim being plane: one half; turned: minus one half. */
    s = sphere(16);
    cut_hole(&s, 0.3);
    CHECK(s.triangle_count == 7 * 64 + 32, "%lld", (long long)s.triangle_count);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, -0.2, 0.3}, 0), 0.5, 1e-13);
    sp_winding_free(w);
    turn_all(&s, 0);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, -0.2, 0.3}, 0), -0.5, 1e-13);
    sp_winding_free(w);
    sp_surface_free(&s);
    /* Three sheets around each other: the sum passes 2π again and again. */
    s = new_surface(3000, 6000);
    for (int i = 1; i <= 3; i++)
        add_sphere(&s, 12, (double[3]){0}, i);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, 0.2, 0.3}, 0), 3, 1e-12);
    CHECK_NEAR(sp_winding_number(w, (double[3]){1.1, 0.2, 0.9}, 0), 2, 1e-12);
    sp_winding_free(w);
    turn_all(&s, 0);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, 0.2, 0.3}, 0), -3, 1e-12);
    sp_winding_free(w);
    sp_surface_free(&s);
}

/* On a sphere with a hole and on random triangles, far and near. */
static void winding_fast(void)
{
    for (int model = 0; model < 2; model++) {
        sp_winding *w;
        double worst2 = 0, worst4 = 0;
        sp_surface s = model == 0 ? sphere(24) : new_surface(3000, 1000);
        if (model == 0)
            cut_hole(&s, 0.9);
        for (int64_t t = 0; model == 1 && t < 1000; t++) {
            for (int c = 0; c < 9; c++)
                s.vertices[9 * t + c] = random_in(1, (uint64_t)(3 * t + c % 3), -1, 1) + random_in(2, (uint64_t)(9 * t + c), -0.1, 0.1);
            s.vertex_count += 3;
            add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
        }
        CHECK_OK(sp_winding_new(&context, &s, &w));
        for (uint64_t i = 0; i < 500; i++) {
            double x[3] = {random_in(3, 3 * i, -2, 2), random_in(3, 3 * i + 1, -2, 2), random_in(3, 3 * i + 2, -2, 2)};
            double exact = sp_winding_number(w, x, 0);
            worst2 = fmax(worst2, fabs(sp_winding_number(w, x, 2) - exact));
            worst4 = fmax(worst4, fabs(sp_winding_number(w, x, 4) - exact));
        }
        CHECK(worst2 <= 1e-2, "error %g", worst2);
        /* Third-order remainder: twice the distance, an eighth of the error or less. */
        CHECK(worst4 <= worst2 / 6, "errors %g, then %g", worst2, worst4);
        NOTE("largest error of the fast winding number: %.2g with accuracy 2, %.2g with 4", worst2, worst4);
        sp_winding_free(w);
        sp_surface_free(&s);
    }
}

static void orientation(void)
{
    sp_orient_report report;
    sp_surface s = sphere(12), out;
    const int64_t count = s.triangle_count;
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.turned == 0 && report.open_edges == 0 && report.patches == 1 && report.welded == 0 && report.degenerate == 0,
          "turned %lld open %lld", (long long)report.turned, (long long)report.open_edges);
    CHECK(memcmp(out.triangles, s.triangles, (size_t)(3 * count) * sizeof(int64_t)) == 0, "a good model was changed");
    sp_surface_free(&out);
    int64_t turned = 0;
    for (int64_t t = 0; t < count; t++)
        if (random_in(6, (uint64_t)t, 0, 1) < 0.6) {
            turn(&s, t);
            turned++;
        }
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.turned == turned && report.open_edges == 0, "%lld of %lld turned", (long long)report.turned, (long long)turned);
    sp_surface_free(&out);
    sp_surface_free(&s);
    /* Every triangle with vertices of its own, one degenerate, one doubled. */
    s = new_surface(100, 100);
    sp_surface box = new_surface(8, 12);
    add_box(&box, (double[3]){0, 0, 0}, (double[3]){1, 2, 3});
    for (int64_t i = 0; i < 39; i++)
        memcpy(s.vertices + 3 * i, box.vertices + 3 * box.triangles[i < 36 ? i : i - 36], 3 * sizeof(double));
    s.vertex_count = 39;
    for (int64_t t = 0; t < 13; t++)
        add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
    add_triangle(&s, 0, 1, 1);
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.welded == 31 && report.degenerate == 1 && report.doubled == 1 && report.open_edges == 0 && out.triangle_count == 12,
          "welded %lld degenerate %lld doubled %lld open %lld", (long long)report.welded, (long long)report.degenerate,
          (long long)report.doubled, (long long)report.open_edges);
    sp_surface_free(&out);
    sp_surface_free(&s);
    /* Two boxes that share a face: four triangles at its edges, the wall doubled with opposite senses. It vanishes. */
    s = new_surface(16, 24);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
    add_box(&s, (double[3]){1, 0, 0}, (double[3]){2, 1, 1});
    for (int64_t t = 0; t < 24; t++) { /* the same diagonal on both sides of the wall */
        const int64_t *v = s.triangles + 3 * t;
        bool wall = true;
        for (int c = 0; c < 3; c++)
            wall = wall && s.vertices[3 * v[c]] == 1;
        if (wall && t >= 12)
            for (int c = 0; c < 3; c++)
                for (int64_t u = 0; u < 8; u++) {
                    int64_t source = 10 + (t % 2), from = s.triangles[3 * source + (c == 0 ? 0 : 3 - c)];
                    if (memcmp(s.vertices + 3 * (8 + u), s.vertices + 3 * from, 3 * sizeof(double)) == 0)
                        s.triangles[3 * t + c] = 8 + u;
                }
    }
    for (int model = 0; model < 2; model++) {
        CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
        CHECK(report.doubled == 4 && report.open_edges == 0 && out.triangle_count == 20, "doubled %lld open %lld triangles %lld",
              (long long)report.doubled, (long long)report.open_edges, (long long)out.triangle_count);
        sp_surface_free(&out);
        for (int64_t t = 0; t < 24; t += 3) /* again without usable orientation */
            turn(&s, t);
    }
    sp_surface_free(&s);
    sp_surface_free(&box);
    /* A Möbius strip. */
    s = new_surface(20, 20);
    for (int64_t i = 0; i < 10; i++) {
        for (int side = 0; side < 2; side++) {
            double a = 2 * PI * (double)i / 10, out_by = 1 + (side ? 0.3 : -0.3) * cos(a / 2), *x = s.vertices + 3 * (2 * i + side);
            x[0] = out_by * cos(a);
            x[1] = out_by * sin(a);
            x[2] = (side ? 0.3 : -0.3) * sin(a / 2);
        }
        int64_t next0 = i < 9 ? 2 * i + 2 : 1, next1 = i < 9 ? 2 * i + 3 : 0;
        add_triangle(&s, 2 * i, next0, next1);
        add_triangle(&s, 2 * i, next1, 2 * i + 1);
    }
    s.vertex_count = 20;
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.one_sided == 1 && report.patches == 1, "%lld one-sided", (long long)report.one_sided);
    sp_surface_free(&out);
    sp_surface_free(&s);
}

int main(void)
{
    context = sp_context_default();
    RUN(winding_exact);
    RUN(winding_fast);
    RUN(orientation);
    return test_end();
}
