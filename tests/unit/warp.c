/* Stiffness warping: rigid motion, small strain, elements, momenta, edges, motion. */
#include "allocations.h"
#include "assembly/elastic.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "warp_models.h"

OWNER(sp_integrator)

/* ---- rigid motion and small strain ---- */

TEST(rigid_motion_is_free)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
        for (int rotation = SP_ROTATION_FRAME; rotation <= SP_ROTATION_POLAR; rotation++)
            for (int variant = 0; variant < 3; variant++) { /* tetrahedra, hexahedra, a network */
                sp_mesh mesh;
                sp_fe_space body;
                FREED_BY(sp_warp_system_free) sp_system system = {0};
                if (variant == 2 && kind == SP_WARP_ELEMENT)
                    continue;
                make_bar(variant != 1, false, SP_LAW_STVK, &mesh, &body);
                sp_warp warp = {.kind = (enum sp_warp_kind)kind,
                                .rotation = (enum sp_warp_rotation)rotation,
                                .network = variant == 2,
                                .limit = 0.01,
                                .extra = 2};
                CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
                double *q = vector(system.n, 0), *f = vector(system.n, 0);
                deform(&mesh, true, 0, 0, NULL, q);
                double energy = system.force(system.self, q, f), scale = force_scale(system.self, 5);
                CHECK(max_abs(system.n, f) < 1e-10 * scale, "%s %s: %g of %g", kind_name[kind], rotation_name[rotation],
                      max_abs(system.n, f), scale);
                CHECK(fabs(energy) < 1e-10 * scale, "energy %g", energy);
                free(q), free(f);
                drop(&mesh, &body);
            }
}

/* f(Q (X + ε u)) / ε − Q K u is of first order in ε for VERTEX and ELEMENT. Not for PAIR: there R_j ≈ Q (I + ε [ω_j])
 * leaves −Q Σ_j K_ij ω_j × (X_j − C), as large as the rest. */
TEST(small_strain_is_linear)
{
    for (int tetrahedra = 0; tetrahedra < 2; tetrahedra++) {
        sp_mesh mesh;
        sp_fe_space body;
        OWNED(sp_sparse) K = {0};
        double R[9], *u, *Ku, *q, *f;
        make_bar(tetrahedra, false, SP_LAW_STVK, &mesh, &body);
        CHECK_OK(sp_elastic_stiffness(&context, &body, &K));
        int64_t n = body.dof_count;
        u = vector(n, 21), Ku = vector(n, 0), q = vector(n, 0), f = vector(n, 0);
        oblique(R);
        sp_sparse_times(&context, &K, 1, u, q);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            sp_rotate(R, q + 3 * v, Ku + 3 * v);
        for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
            for (int rotation = SP_ROTATION_FRAME; rotation <= SP_ROTATION_POLAR; rotation++) {
                FREED_BY(sp_warp_system_free) sp_system system;
                sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = (enum sp_warp_rotation)rotation};
                double error[3];
                CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
                for (int s = 0; s < 3; s++) {
                    double epsilon = 1e-5 / (1 << s);
                    deform(&mesh, true, 0, epsilon, u, q);
                    system.force(system.self, q, f);
                    for (int64_t i = 0; i < n; i++)
                        f[i] /= epsilon;
                    error[s] = relative_difference(n, f, Ku);
                }
                NOTE("%s, %s, %s: %.2e %.2e %.2e, orders %.3f %.3f", tetrahedra ? "tetrahedra" : "hexahedra",
                     kind_name[kind], rotation_name[rotation], error[0], error[1], error[2], log2(error[0] / error[1]),
                     log2(error[1] / error[2]));
                if (kind != SP_WARP_PAIR) {
                    CHECK_NEAR(log2(error[0] / error[1]), 1, 0.05);
                    CHECK_NEAR(log2(error[1] / error[2]), 1, 0.05);
                } else
                    CHECK(error[2] > 0.1, "eq. 13 has the linear limit after all: %g", error[2]);
            }
        free(u), free(Ku), free(q), free(f);
        drop(&mesh, &body);
    }
}

/* A dilation rotates no edge: every R is the identity, all kinds equal the linear model, and so do their matrices. */
TEST(dilation_is_linear)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
        for (int rotation = SP_ROTATION_FRAME; rotation <= SP_ROTATION_POLAR; rotation++) {
            sp_mesh mesh;
            sp_fe_space body;
            sp_system system, linear;
            make_bar(true, false, SP_LAW_STVK, &mesh, &body);
            sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = (enum sp_warp_rotation)rotation};
            CHECK_OK(sp_warp_system_new(&context, &body, &warp, 1e-13, &system));
            CHECK_OK(sp_full_system_new(&context, &body, true, false, NULL, &linear));
            int64_t n = system.n;
            double *q = vector(n, 0), *f = vector(n, 0), *g = vector(n, 0), *b = vector(n, 5), *x = vector(n, 0),
                   *y = vector(n, 0);
            for (int64_t i = 0; i < n; i++)
                q[i] = 0.3 * mesh.vertices[i];
            system.force(system.self, q, f);
            linear.force(linear.self, q, g);
            CHECK(relative_difference(n, f, g) < 1e-11, "%s %s: %g", kind_name[kind], rotation_name[rotation],
                  relative_difference(n, f, g));
            const sp_system *both[2] = {&system, &linear};
            for (int k = 0; k < 2; k++) {
                both[k]->matrix_start(both[k]->self, 1e4);
                both[k]->matrix_add(both[k]->self, q, 0.7, 0, false, NULL);
                CHECK_OK(both[k]->matrix_factor(both[k]->self));
                CHECK_OK(both[k]->matrix_solve(both[k]->self, b, k ? y : x));
            }
            if (kind != SP_WARP_PAIR) /* whose K removes the mean of its argument, but not of K itself */
                CHECK(relative_difference(n, x, y) < 1e-9, "%s %s: solutions differ by %g", kind_name[kind],
                      rotation_name[rotation], relative_difference(n, x, y));
            else
                CHECK(relative_difference(n, x, y) < 1e-8, "pair: solutions differ by %g",
                      relative_difference(n, x, y));
            free(q), free(f), free(g), free(b), free(x), free(y);
            sp_full_system_free(&linear);
            sp_warp_system_free(&system);
            drop(&mesh, &body);
        }
}

/* ---- elements ---- */

/* RᵀF is symmetric for slightly and strongly stretched F, whose R is computed in two ways, independent of other lanes.
 */
TEST(rotations_of_lanes)
{
    enum { COUNT = 400 };
    int newton = 0;
    for (int k = 0; k < COUNT; k++) {
        sp_lanes F[9], R[9], same[9], alone[9];
        for (int l = 0; l < SP_LANES;
             l++) { /* Q D P: two turns, and stretches from 1 down to 1e-4, in units of any size */
            double Q[9], P[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}, D[3],
                         size = pow(10, 40 * sp_random_uniform(9, (uint64_t)k, (uint64_t)l) - 20);
            oblique(Q);
            for (int c = 0; c < 3; c++)
                D[c] = size * pow(10, -(k % 5) * sp_random_uniform(10 + (uint64_t)c, (uint64_t)k, (uint64_t)l));
            newton += D[0] * D[1] * D[2] > 0.25 * pow((D[0] * D[0] + D[1] * D[1] + D[2] * D[2]) / 3, 1.5);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    F[3 * i + j][l] =
                        Q[3 * i] * D[0] * P[j] + Q[3 * i + 1] * D[1] * P[3 + j] + Q[3 * i + 2] * D[2] * P[6 + j];
        }
        sp_nearest_rotation(F, R);
        for (int l = 0; l < SP_LANES; l++) {
            double most = 0, size = 0;
            for (int i = 0; i < 9; i++)
                size = fmax(size, fabs(F[i][l]));
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double unit = 0, skew = 0;
                    for (int m = 0; m < 3; m++) {
                        unit += R[3 * m + i][l] * R[3 * m + j][l];
                        skew += R[3 * m + i][l] * F[3 * m + j][l] - R[3 * m + j][l] * F[3 * m + i][l];
                    }
                    most = fmax(most, fmax(fabs(unit - (i == j)), fabs(skew) / size / 4));
                    same[3 * i + j] = (sp_lanes){0} + F[3 * i + j][l];
                }
            CHECK(most < 1e-14, "%d, lane %d: %g", k, l, most);
            sp_nearest_rotation(same, alone);
            for (int i = 0; i < 9; i++)
                CHECK(alone[i][0] == R[i][l], "%d, lane %d: %g beside others, %g alone", k, l, R[i][l], alone[i][0]);
        }
    }
    NOTE("%d of %d by Newton's iteration", newton, COUNT * SP_LANES);
    CHECK(newton > 800 && newton < COUNT * SP_LANES - 800, "%d of %d", newton, COUNT * SP_LANES);
}

/* Hexahedra and, in the place of every third, six tetrahedra (whose faces do not match: elements know nothing of that);
 * of those some are of an anisotropic law. */
static void make_mixed(sp_mesh *mesh)
{
    OWNED(sp_mesh) tetrahedra;
    make_box(6, 3, 2, 0.1, 0.15, mesh);
    CHECK_OK(sp_mesh_split(&context, mesh, &tetrahedra));
    int64_t boxes = mesh->block[SP_HEX8].count, each = tetrahedra.block[SP_TET4].count / boxes;
    mesh->block[SP_TET4].node =
        sp_pool_new(&mesh->pool, 4 * tetrahedra.block[SP_TET4].count, sizeof *mesh->block[SP_TET4].node);
    mesh->region = sp_pool_new(&mesh->pool, (each + 1) * boxes, sizeof *mesh->region);
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
    mesh->material_count = 2;
    mesh->materials[0] = test_material();
    mesh->materials[1] = test_law(SP_LAW_LINEAR);
    for (int k = 0; k < 21; k++)
        mesh->materials[1].stiffness[k] *= 3e5;
    mesh->block[SP_HEX8].count = 0;
    for (int64_t e = 0; e < boxes; e++)
        if (e % 3) {
            memmove(mesh->block[SP_HEX8].node + 8 * mesh->block[SP_HEX8].count++, mesh->block[SP_HEX8].node + 8 * e,
                    8 * sizeof *mesh->block[SP_HEX8].node);
        } else {
            memcpy(mesh->block[SP_TET4].node + 4 * mesh->block[SP_TET4].count,
                   tetrahedra.block[SP_TET4].node + 4 * each * e, 4 * (size_t)each * sizeof *mesh->block[SP_TET4].node);
            mesh->block[SP_TET4].count += each;
        }
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        mesh->region[e] = e % 5 == 2;
}

/* One element by the equation: f += R K (Rᵀ x − X), product += R K Rᵀ v; returns the energy. */
static double one_element(const sp_fe_space *body, int64_t element, const double *u, const double *v, double *f,
                          double *product)
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(body->mesh, element, &nodes);
    sp_lanes rest[8][3] = {0}, force[8][3], energy, F[9] = {0}, turn[9], block[SP_ELEMENT_BLOCKS][9];
    sp_element_lanes data;
    double X[24], gradient[8][3], R[9], y[24], z[24], sum = 0;
    sp_element_lanes_start(&data);
    sp_element_lanes_fill(body, element, &data);
    sp_batch_tangent(&data, rest, false, force, block, &energy);
    for (int a = 0; a < nodes; a++)
        memcpy(X + 3 * a, body->mesh->vertices + 3 * node[a], 3 * sizeof *X);
    sp_element_centre_gradients(nodes == 8 ? SP_HEX8 : SP_TET4, X, gradient);
    for (int a = 0; a < nodes; a++)
        for (int k = 0; k < 9; k++)
            F[k] += (X[3 * a + k / 3] + u[3 * node[a] + k / 3]) * gradient[a][k % 3];
    sp_nearest_rotation(F, turn);
    for (int k = 0; k < 9; k++)
        R[k] = turn[k][0];
    for (int a = 0; a < nodes; a++) {
        double x[3];
        for (int c = 0; c < 3; c++)
            x[c] = X[3 * a + c] + u[3 * node[a] + c];
        sp_rotate_back(R, x, y + 3 * a);
        sp_rotate_back(R, v + 3 * node[a], z + 3 * a);
        for (int c = 0; c < 3; c++)
            y[3 * a + c] -= X[3 * a + c];
    }
    for (int a = 0; a < nodes; a++) {
        double g[3] = {0}, h[3] = {0}, turned[3];
        for (int b = 0; b < nodes; b++)
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++) {
                    double k = block[sp_packed(nodes, a, b)][a <= b ? 3 * c + d : 3 * d + c][0];
                    g[c] += k * y[3 * b + d];
                    h[c] += k * z[3 * b + d];
                }
        for (int c = 0; c < 3; c++)
            sum += 0.5 * y[3 * a + c] * g[c];
        sp_rotate(R, g, turned);
        for (int c = 0; c < 3; c++)
            f[3 * node[a] + c] += turned[c];
        sp_rotate(R, h, turned);
        for (int c = 0; c < 3; c++)
            product[3 * node[a] + c] += turned[c];
    }
    return sum;
}

/* Batches give the results of single elements: incomplete batches, both kinds of elements, two laws, some fixed
 * vertices; the same bytes for any number of threads. */
TEST(elements_side_by_side)
{
    sp_mesh mesh;
    sp_fe_space body;
    FREED_BY(sp_warp_system_free) sp_system system;
    make_mixed(&mesh);
    fix_end(&mesh, 0.03);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    sp_warp warp = {.kind = SP_WARP_ELEMENT, .rotation = SP_ROTATION_POLAR};
    CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
    sp_warp_system *w = system.self;
    int64_t n = system.n, rows = 3 * mesh.vertex_count, partial = 0;
    for (int64_t b = 0; b < w->all.batch_count; b++)
        partial += w->all.batches[b].count < SP_LANES;
    CHECK(partial > 0 && mesh.block[SP_HEX8].count > 0 && mesh.block[SP_TET4].count > 0,
          "%lld batches are not full, %lld and %lld elements", (long long)partial, (long long)mesh.block[SP_HEX8].count,
          (long long)mesh.block[SP_TET4].count);
    w->many_elements = true; /* threads share it */
    double *u = vector(rows, 33), *v = vector(rows, 34), *q = vector(n, 0), *p = vector(n, 0), *f = vector(n, 0),
           *g = vector(n, 0), *y = vector(n, 0), *z = vector(n, 0), *part = vector(n, 0);
    double *S = vector(9 * w->start[w->vertices], 0), *full = vector(rows, 0), *product = vector(rows, 0),
           *applied = vector(rows, 0), expected = 0, energy;
    deform(&mesh, true, 3, 0.05, u, u);
    sp_fe_space_gather(&body, u, q);
    sp_fe_space_gather(&body, v, p);
    system.vertices.prescribe(system.self, u, v);
    for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
        expected += one_element(&body, e, u, v, full, product);
    for (context.threads = 1; context.threads <= 4; context.threads += 3) {
        system.matrix_start(system.self, 0);
        energy = system.matrix_add(system.self, q, 0.5, 0, false, context.threads == 1 ? f : g);
        CHECK_NEAR(energy, expected, 1e-11 * expected);
        CHECK(system.force(system.self, q, context.threads == 1 ? g : f) == energy &&
                  system.force(system.self, q, NULL) == energy,
              "another energy");
        CHECK(!memcmp(f, g, (size_t)n * 8), "other bytes without the matrix");
        sp_fe_space_gather(&body, full, part);
        CHECK(relative_difference(n, f, part) < 1e-11, "force %g", relative_difference(n, f, part));
        sp_warp_times(w, w->S, v, applied);
        for (int64_t i = 0; i < rows; i++)
            applied[i] *= 2;
        CHECK(relative_difference(rows, applied, product) < 1e-11, "matrix %g",
              relative_difference(rows, applied, product));
        system.tangent_times(system.self, q, p, context.threads == 1 ? y : z);
        sp_fe_space_gather(&body, product, part);
        CHECK(relative_difference(n, y, part) < 1e-11, "product %g", relative_difference(n, y, part));
        if (context.threads == 1)
            memcpy(S, w->S, 9 * (size_t)w->start[w->vertices] * 8);
    }
    context.threads = 2;
    CHECK(!memcmp(S, w->S, 9 * (size_t)w->start[w->vertices] * 8) && !memcmp(y, z, (size_t)n * 8),
          "bytes depend on the threads");
    free(u), free(v), free(q), free(p), free(f), free(g), free(y), free(z), free(part), free(S), free(full),
        free(product), free(applied);
    drop(&mesh, &body);
}

/* ---- momenta ---- */

TEST(element_is_the_corotational_law)
{
    sp_mesh mesh;
    sp_fe_space body;
    FREED_BY(sp_warp_system_free) sp_system system;
    make_bar(true, false, SP_LAW_COROTATIONAL, &mesh, &body);
    sp_warp warp = {.kind = SP_WARP_ELEMENT, .rotation = SP_ROTATION_POLAR};
    CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
    CHECK(!system.nonconservative, "it has an energy");
    int64_t n = system.n;
    double *q = vector(n, 0), *u = vector(n, 31), *f = vector(n, 0), *g = vector(n, 0);
    for (int hard = 0; hard < 2; hard++) { /* the second inverts elements */
        deform(&mesh, true, 3, hard ? 0.08 : 0.02, u, q);
        double energy = system.force(system.self, q, f), expected = sp_elastic_force(&context, &body, q, g);
        CHECK_NEAR(energy, expected, 1e-10 * expected);
        CHECK(relative_difference(n, f, g) < 1e-10, "%g", relative_difference(n, f, g));
    }
    free(q), free(u), free(f), free(g);
    drop(&mesh, &body);
}

/* |Σ f| by Σ|f|, and |Σ (x − c) × f| by that and the bar's length; what a translation changes of the force. */
static void ghost(sp_fe_space *body, const sp_warp *warp, const double *q, double *force, double *torque, double *moved)
{
    FREED_BY(sp_warp_system_free) sp_system system;
    double sum = 0;
    CHECK_OK(sp_warp_system_new(&context, body, warp, 0, &system));
    double *f = vector(system.n, 0), *g = vector(system.n, 0), *p = vector(system.n, 0);
    sp_warp_system_ghost(&system, q, force, torque);
    system.force(system.self, q, f);
    for (int64_t i = 0; i < system.n; i++) {
        sum += fabs(f[i]);
        p[i] = q[i] + (i % 3 == 0 ? 0.7 : -0.2);
    }
    system.force(system.self, p, g);
    *force /= sum;
    *torque /= sum * 0.6;
    *moved = relative_difference(system.n, g, f);
    free(f), free(g), free(p);
}

TEST(momenta)
{
    for (int tetrahedra = 0; tetrahedra < 2; tetrahedra++) {
        sp_mesh mesh;
        sp_fe_space body;
        make_bar(tetrahedra, false, SP_LAW_STVK, &mesh, &body);
        double *u = vector(body.dof_count, 41), *q = vector(body.dof_count, 0);
        deform(&mesh, true, 3, 0.004, u, q);
        for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
            for (int rotation = SP_ROTATION_FRAME; rotation <= SP_ROTATION_POLAR; rotation++) {
                sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = (enum sp_warp_rotation)rotation};
                double force, torque, moved;
                ghost(&body, &warp, q, &force, &torque, &moved);
                CHECK(moved < 1e-11, "%s: a translation changes the force by %g", kind_name[kind], moved);
                NOTE("%s, %s, %s: linear %.1e, angular %.1e of the forces", tetrahedra ? "tetrahedra" : "hexahedra",
                     kind_name[kind], rotation_name[rotation], force, torque);
                /* positions of 5 m carry 1e-15 m of rounding against strains of 1e-2 · 0.1 m */
                if (kind == SP_WARP_VERTEX)
                    CHECK(force > 1e-4, "no ghost force: %g", force);
                else
                    CHECK(force < 1e-11, "linear momentum: %g", force);
                if (kind == SP_WARP_ELEMENT && rotation == SP_ROTATION_POLAR && tetrahedra)
                    CHECK(torque < 1e-11, "angular momentum: %g", torque);
                else
                    CHECK(torque > 1e-6, "angular momentum is kept to %g", torque);
            }
        free(u), free(q);
        drop(&mesh, &body);
    }
}

TEST(corrected_has_no_ghost)
{
    sp_mesh mesh;
    sp_fe_space body;
    make_bar(true, false, SP_LAW_STVK, &mesh, &body);
    int64_t n = body.dof_count;
    double *u = vector(n, 41), *q = vector(n, 0), *f = vector(n, 0), *b = vector(n, 42), *x = vector(n, 0),
           *y = vector(n, 0), *z = vector(n, 0);
    deform(&mesh, true, 3, 0.004, u, q);
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++) {
        FREED_BY(sp_warp_system_free) sp_system system;
        sp_warp warp = {.kind = (enum sp_warp_kind)kind, .corrected = true};
        double sum[3] = {0}, torque[3] = {0}, all = 0;
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 1e-12, &system));
        system.force(system.self, q, f);
        sp_warp_system *w = system.self;
        for (int64_t i = 0; i < n; i++) {
            int64_t v = i / 3, c = i % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            const double *X = mesh.vertices + 3 * v, *d = q + 3 * v; /* about the new place of the origin: any point is
                                                                        possible because the sum of forces is 0 */
            sum[c] += f[i];
            all += fabs(f[i]);
            torque[c] += (X[c1] + d[c1] -
                          (c1 == 0   ? 3
                           : c1 == 1 ? -2
                                     : 5)) *
                             f[3 * v + c2] -
                         (X[c2] + d[c2] -
                          (c2 == 0   ? 3
                           : c2 == 1 ? -2
                                     : 5)) *
                             f[3 * v + c1];
        }
        CHECK(max_abs(3, sum) < 1e-12 * all && max_abs(3, torque) < 1e-12 * all, "%s: %g and %g of %g", kind_name[kind],
              max_abs(3, sum), max_abs(3, torque), all);
        /* the solution, by products that are made in another way */
        system.matrix_start(system.self, 2e4);
        system.matrix_add(system.self, q, 0.5, 0, false, NULL);
        CHECK_OK(system.matrix_factor(system.self));
        CHECK_OK(system.matrix_solve(system.self, b, x));
        system.tangent_times(system.self, q, x, y);
        system.mass_times(system.self, x, z);
        for (int64_t i = 0; i < n; i++)
            y[i] = 0.5 * y[i] + 2e4 * z[i];
        CHECK(relative_difference(n, y, b) < 1e-10, "%s: residual %g", kind_name[kind], relative_difference(n, y, b));
        CHECK(w->products > 0, "no products");
    }
    free(u), free(q), free(f), free(b), free(x), free(y), free(z);
    drop(&mesh, &body);
}

/* ---- edges ---- */

/* K of a network on one element, by hand: every pair of corners a bar of E V / (pairs L²) along the edge. */
TEST(networks)
{
    for (int corners = 4; corners <= 8; corners += 4) {
        sp_mesh mesh, box;
        sp_fe_space body;
        FREED_BY(sp_warp_system_free) sp_system system = {0};
        make_box(1, 1, 1, 0.1, 0.2, &box);
        if (corners == 4) {
            CHECK_OK(sp_mesh_split(&context, &box, &mesh));
            mesh.block[SP_TET4].count = 1;
            mesh.region[0] = 0;
            sp_mesh_free(&box);
        } else
            mesh = box;
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        sp_warp warp = {.kind = SP_WARP_VERTEX, .network = true};
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
        int64_t n = system.n;
        CHECK(n == 3 * corners, "%lld degrees of freedom", (long long)n);
        double *q = vector(n, 0), *v = vector(n, 91), *y = vector(n, 0), *expected = vector(n, 0),
               volume = sp_mesh_element_volume(&mesh, 0);
        system.tangent_times(system.self, q, v, y);
        const int64_t *corner = corners == 8 ? mesh.block[SP_HEX8].node : mesh.block[SP_TET4].node;
        int pairs = corners * (corners - 1) / 2;
        for (int a = 0; a < corners; a++)
            for (int b = 0; b < corners; b++) {
                const double *A = mesh.vertices + 3 * corner[a], *B = mesh.vertices + 3 * corner[b];
                double d[3] = {A[0] - B[0], A[1] - B[1], A[2] - B[2]}, L = sp_norm3(d), along = 0;
                if (a == b)
                    continue;
                for (int c = 0; c < 3; c++)
                    along += d[c] / L * (v[body.dof[3 * corner[a] + c]] - v[body.dof[3 * corner[b] + c]]);
                double area = volume / pairs / L, k = 1e6 * area / L;
                for (int c = 0; c < 3; c++)
                    expected[body.dof[3 * corner[a] + c]] += k * along * d[c] / L;
            }
        CHECK(relative_difference(n, y, expected) < 1e-12, "%d corners: %g", corners,
              relative_difference(n, y, expected));
        free(q), free(v), free(y), free(expected);
        drop(&mesh, &body);
    }
}

/* Laws without E: 2.5 μ, and μ of LINEAR whatever its frame. */
TEST(networks_of_other_laws)
{
    sp_mesh mesh;
    sp_fe_space body;
    double lambda = 3e5, mu = 2e5, C[6][6] = {{0}}, scale[3];
    for (int variant = 0; variant < 3; variant++) {
        make_bar(true, false, SP_LAW_STVK, &mesh, &body);
        sp_material *m = &mesh.materials[0];
        m->young = 2.5 * mu;
        if (variant == 1) {
            m->law = SP_LAW_MOONEY_RIVLIN;
            m->mooney[0] = mu / 8, m->mooney[1] = 3 * mu / 8, m->mooney[2] = 1e6;
        } else if (variant == 2) {
            m->law = SP_LAW_LINEAR;
            oblique(m->frame);
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    C[i][j] = i < 3 && j < 3 ? lambda + (i == j) * 2 * mu : i == j ? mu : 0;
            for (int i = 0, at = 0; i < 6; i++)
                for (int j = i; j < 6; j++)
                    m->stiffness[at++] = C[i][j];
        }
        sp_fe_space_free(&body);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        FREED_BY(sp_warp_system_free) sp_system system;
        sp_warp warp = {.kind = SP_WARP_VERTEX, .network = true};
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
        scale[variant] =
            max_abs(9 * ((sp_warp_system *)system.self)->start[mesh.vertex_count], ((sp_warp_system *)system.self)->K);
        drop(&mesh, &body);
    }
    CHECK_NEAR(scale[1], scale[0], 1e-12 * scale[0]);
    CHECK_NEAR(scale[2], scale[0], 1e-12 * scale[0]);
}

/* The additional force of strain limiting is the gradient of its energy, and its additional products are the derivative
 * of that force. */
TEST(overstretching)
{
    sp_mesh mesh;
    sp_fe_space body;
    make_bar(false, false, SP_LAW_STVK, &mesh, &body);
    int64_t n = body.dof_count;
    double *u = vector(n, 101), *v = vector(n, 102), *q = vector(n, 0), *p = vector(n, 0), *f[2], *y[2], error[3],
           second[3], slope = 0;
    sp_system system[2];
    for (int k = 0; k < 2; k++) {
        sp_warp warp = {.kind = SP_WARP_VERTEX, .limit = 0.05, .extra = k ? 3 : 0};
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system[k]));
        f[k] = vector(n, 0), y[k] = vector(n, 0);
    }
    deform(&mesh, true, 3, 0.03, u, q);
    for (int k = 0; k < 2; k++) {
        double energy = system[k].force(system[k].self, q, f[k]);
        CHECK(k ? energy > 0 : energy == 0, "energy %g", energy);
        system[k].tangent_times(system[k].self, q, v, y[k]);
    }
    for (int64_t i = 0; i < n; i++) {
        slope += (f[1][i] - f[0][i]) * v[i];
        y[1][i] -= y[0][i];
    }
    for (int s = 0; s < 3; s++) {
        /* edges that begin or cease to pull during a step reduce the order: short steps; the largest error of the
         * second is measured */
        double epsilon = 1e-5 / (1 << s), energy[2];
        double *g[2] = {vector(n, 0), vector(n, 0)}, *h = vector(n, 0);
        for (int k = 0; k < 2; k++) {
            for (int64_t i = 0; i < n; i++)
                p[i] = q[i] + (k ? -epsilon : epsilon) * v[i];
            energy[k] = system[1].force(system[1].self, p, g[k]);
            system[0].force(system[0].self, p, h);
            for (int64_t i = 0; i < n; i++)
                g[k][i] -= h[i];
        }
        error[s] = fabs((energy[0] - energy[1]) / (2 * epsilon) - slope) / fabs(slope);
        for (int64_t i = 0; i < n; i++)
            h[i] = (g[0][i] - g[1][i]) / (2 * epsilon);
        second[s] = relative_difference(n, h, y[1]);
        free(g[0]), free(g[1]), free(h);
    }
    NOTE("energy to force: %.2e %.2e %.2e, force to product: %.2e %.2e %.2e", error[0], error[1], error[2], second[0],
         second[1], second[2]);
    CHECK(error[2] < 1e-6, "%g", error[2]);
    CHECK_NEAR(log2(second[0] / second[1]), 2, 0.3);
    CHECK_NEAR(log2(second[1] / second[2]), 2, 0.3);
    for (int k = 0; k < 2; k++) {
        sp_warp_system_free(&system[k]);
        free(f[k]), free(y[k]);
    }
    free(u), free(v), free(q), free(p);
    drop(&mesh, &body);
}

/* ---- motion ---- */

static void bar_that_falls(enum sp_warp_kind kind, bool corotational, double *tip, int64_t count, double h)
{
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    OWNED(sp_mesh) box;
    make_box(10, 1, 1, 0.1, 0, &box);
    box.materials[0].law = SP_LAW_COROTATIONAL;
    box.materials[0].young = 2e5;
    fix_end(&box, 0.01);
    CHECK_OK(sp_mesh_split(&context, &box, &mesh));
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    sp_warp warp = {.kind = kind, .rotation = SP_ROTATION_POLAR};
    if (corotational)
        CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &system));
    else
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
    CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, 0, NULL, (double[]){0, 0, -9.81}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    sp_integrator_parameters p = {
        .kind = SP_NEWMARK, .step = h, .beta = 0.25, .gamma = 0.5, .damping_mass = 0.5, .tolerance = 1e-8};
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, NULL, NULL, &it));
    for (int64_t step = 0; step < count; step++) {
        if (step == 2)
            allocations = 0;
        CHECK_OK(sp_integrator_step(it));
        tip[step] = sp_integrator_q(it)[system.n - 1];
        CHECK(fabs(tip[step]) < 2, "step %lld: %g m", (long long)step, tip[step]);
    }
    if (!corotational) {
        int64_t solves, products;
        sp_warp_system_solves(&system, &solves, &products);
        NOTE("%s: tip at %.4f m, %.1f Newton iterations a step, %.1f products a solve", kind_name[kind], tip[count - 1],
             (double)sp_integrator_reported(it)->newton_iterations / (double)count, (double)products / (double)solves);
        CHECK(allocations == 0, "%ld allocations in steps", allocations);
    }
    if (corotational)
        sp_full_system_free(&system);
    else
        sp_warp_system_free(&system);
    drop(&mesh, &body);
}

/* A bar of 1 m whose end sinks by half of its length. */
TEST(bent_bars_move)
{
    enum { STEPS = 40 };
    double tip[3][STEPS], worst = 0;
    bar_that_falls(SP_WARP_ELEMENT, true, tip[0], STEPS, 0.01);
    bar_that_falls(SP_WARP_ELEMENT, false, tip[1], STEPS, 0.01);
    bar_that_falls(SP_WARP_VERTEX, false, tip[2], STEPS, 0.01);
    for (int k = 0; k < STEPS; k++)
        worst = fmax(worst, fabs(tip[1][k] - tip[0][k]));
    NOTE("element against the law: %.1e m of %.2f m; vertex differs by %.3f m at the end", worst, -tip[0][STEPS - 1],
         fabs(tip[2][STEPS - 1] - tip[0][STEPS - 1]));
    CHECK(tip[0][STEPS - 1] < -0.2, "it hardly bends");
    CHECK(worst < 1e-2, "%g m", worst);
}
