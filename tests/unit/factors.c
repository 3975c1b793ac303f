/* Factors of elements on λ and μ: against regions with explicit materials, through forces and polynomials. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "reduced/polynomial.h"

static void factor_of(const sp_mesh *mesh, int64_t element, bool both, double factor[2])
{
    int nodes;
    const double *x = mesh->vertices + 3 * *sp_mesh_nodes(mesh, element, &nodes);
    factor[0] = 0.6 + 0.2 * x[0] + 0.1 * x[2];
    factor[1] = both ? factor[0] : 1.4 - 0.3 * x[1];
}

static void add_factors(sp_mesh *mesh, bool both)
{
    int64_t elements = sp_mesh_element_count(mesh);
    mesh->factor = sp_pool_raw(&mesh->pool, 2 * elements, sizeof *mesh->factor);
    for (int64_t e = 0; e < elements; e++)
        factor_of(mesh, e, both, mesh->factor + 2 * e);
}

/* Every element becomes a region of its own, with the material that its factors give by other formulas than those of
 * the library. */
static void add_regions(sp_mesh *mesh, const sp_material *material, bool both)
{
    int64_t elements = sp_mesh_element_count(mesh);
    mesh->material_count = elements;
    mesh->materials = sp_pool_new(&mesh->pool, elements, sizeof *mesh->materials);
    for (int64_t e = 0; e < elements; e++) {
        sp_material *m = &mesh->materials[e];
        double factor[2], nu = material->poisson;
        factor_of(mesh, e, both, factor);
        *m = *material;
        snprintf(m->name, sizeof m->name, "element %d", (int)e);
        mesh->region[e] = e;
        /* bulk and shear modulus K, G give E = 9KG/(3K + G), ν = (3K − 2G)/(2(3K + G)) */
        double G = factor[1] * material->young / (2 * (1 + nu)),
               K = factor[0] * material->young * nu / ((1 + nu) * (1 - 2 * nu)) + 2 * G / 3;
        m->young = 9 * K * G / (3 * K + G);
        m->poisson = (3 * K - 2 * G) / (2 * (3 * K + G));
        m->fibre_stiffness *= factor[1];
        for (int i = 0; i < 21; i++)
            m->stiffness[i] *= factor[1];
        for (int i = 0; i < 3; i++)
            m->mooney[i] *= factor[1];
    }
}

TEST(fields_equal_regions)
{
    double worst[3] = {0};
    for (int k = 0; k < 2 * TEST_LAWS; k++) {
        sp_material material = test_law(k / 2);
        bool tets = k % 2, both = !sp_law_isotropic(material.law);
        sp_mesh box, mesh[2];
        double *f[2], *y[2], *stress[2], *density[2], energy[2];
        int64_t rows = 0, elements = 0;
        for (int s = 0; s < 2; s++) {
            make_box(3, 2, 2, 1, tets ? 0 : 0.1, &box);
            box.materials[0] = material;
            if (s == 0 && tets) /* splitting keeps the factors of the hexahedra, by their first corner */
                add_factors(&box, both);
            if (s == 1 && tets)
                add_regions(&box, &material, both);
            if (tets) {
                CHECK_OK(sp_mesh_split(&context, &box, &mesh[s]));
                sp_mesh_free(&box);
            } else
                mesh[s] = box;
            if (s == 0 && !tets)
                add_factors(&mesh[s], both);
            if (s == 1 && !tets)
                add_regions(&mesh[s], &material, both);
            OWNED(sp_fe_space) body;
            CHECK_OK(sp_mesh_check(&context, &mesh[s], 1e-3));
            CHECK_OK(sp_fe_space_new(&context, &mesh[s], &body));
            rows = 3 * mesh[s].vertex_count;
            elements = sp_mesh_element_count(&mesh[s]);
            double *u = test_new(2 * rows, 8);
            random_field(2 * rows, 3, u);
            for (int64_t i = 0; i < rows; i++)
                u[i] *= 0.1;
            f[s] = calloc((size_t)rows, 8);
            y[s] = calloc((size_t)rows, 8);
            stress[s] = calloc((size_t)(6 * elements), 8);
            density[s] = calloc((size_t)elements, 8);
            energy[s] = sp_elastic_force(&context, &body, u, f[s]);
            sp_elastic_tangent_times(&context, &body, u, u + rows, y[s]);
            CHECK_OK(sp_elastic_fields(&context, &body, u, NULL, stress[s], density[s]));
            sp_mesh_free(&mesh[s]);
        }
        worst[0] =
            fmax(worst[0], fmax(fabs(energy[1] - energy[0]) / energy[1],
                                max_difference(elements, density[0], density[1]) / max_abs(elements, density[1])));
        worst[1] = fmax(worst[1], fmax(max_difference(rows, f[0], f[1]) / max_abs(rows, f[1]),
                                       max_difference(rows, y[0], y[1]) / max_abs(rows, y[1])));
        worst[2] =
            fmax(worst[2], max_difference(6 * elements, stress[0], stress[1]) / max_abs(6 * elements, stress[1]));
        for (int s = 0; s < 2; s++)
            free(f[s]), free(y[s]), free(stress[s]), free(density[s]);
    }
    NOTE("energy %.1e, force and product %.1e, stress %.1e", worst[0], worst[1], worst[2]);
    for (int i = 0; i < 3; i++)
        CHECK(worst[i] < 1e-13, "number %d: %g", i, worst[i]);
}

/* Polynomials separate for λ and μ: editing the constants gives those of the edited material with the same distribution
 * of factors. */
TEST(edited_constants)
{
    enum { R = 5 };
    for (int tets = 0; tets < 2; tets++) {
        OWNED(sp_mesh) mesh;
        sp_fe_space body;
        OWNED(sp_polynomials) parts, whole;
        sp_polynomial_report report;
        make_box(4, 2, 2, 0.5, 0, &mesh);
        if (tets)
            split_mesh(&mesh);
        add_factors(&mesh, false);
        CHECK_OK(sp_mesh_check(&context, &mesh, 1e-3));
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK(tets || body.class_count == mesh.block[SP_HEX8].count, "%lld classes of %lld factors",
              (long long)body.class_count, (long long)mesh.block[SP_HEX8].count);
        int64_t rows = 3 * mesh.vertex_count, N = sp_polynomial_order(R);
        double *U = test_new(rows * R, 8), lambda, mu;
        random_field(rows * R, 9, U);
        CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){.by_constant = true}, &parts,
                                    &report));
        sp_fe_space_free(&body);
        mesh.materials[0].young = 3.7e5;
        mesh.materials[0].poisson = 0.41;
        sp_lame(mesh.materials[0].young, mesh.materials[0].poisson, &lambda, &mu);
        CHECK(parts.part_count == 2, "%lld parts", (long long)parts.part_count);
        for (int64_t p = 0; p < parts.part_count; p++)
            parts.parts[p].value = parts.parts[p].constant == SP_CONSTANT_LAMBDA ? lambda : mu;
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){0}, &whole, &report));
        OWNED(sp_pool) pool = {0};
        const double *edited = sp_polynomials_gram(&parts, &pool), *again = sp_polynomials_gram(&whole, &pool);
        double worst = 0, size = 0; /* lower triangle, entry by entry relative to its diagonal */
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = j; i < N; i++) {
                worst =
                    fmax(worst, fabs(edited[j * N + i] - again[j * N + i]) / sqrt(again[j * N + j] * again[i * N + i]));
                size = fmax(size, fabs(again[j * N + i]));
            }
        NOTE("%s: largest entry %.2g, relative difference %.1e", tets ? "tetrahedra" : "voxels", size, worst);
        CHECK(worst < 1e-13, "off by %g", worst);
        sp_fe_space_free(&body);
    }
}

/* Two values on equal voxels make two classes. */
TEST(classes)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(4, 2, 2, 0.5, 0, &mesh);
    add_factors(&mesh, true);
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++)
        mesh.factor[2 * e] = mesh.factor[2 * e + 1] = e % 4 == 3 ? 2 : 1;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK(body.class_count == 2, "%lld classes", (long long)body.class_count);
}

static void refused(const char *message, enum sp_law law, double poisson, double first, double second)
{
    OWNED(sp_mesh) mesh;
    sp_material material = test_law((int)law);
    make_box(2, 1, 1, 1, 0, &mesh);
    mesh.materials[0] = material;
    mesh.materials[0].poisson = poisson;
    add_factors(&mesh, true);
    mesh.factor[2] = first;
    mesh.factor[3] = second;
    CHECK(sp_mesh_check(&context, &mesh, 1e-3) == SP_INPUT && strstr(context.message, message), "%g, %g: %s", first,
          second, context.message);
}

TEST(refusals)
{
    refused("factor: element 1 has 0 on lambda", SP_LAW_STVK, 0.3, 0, 1);
    refused("factor: element 1 has -1 on mu", SP_LAW_STVK, 0.3, 1, -1);
    refused("factor: element 1 has nan on mu", SP_LAW_STVK, 0.3, 1, NAN);
    refused("factor: element 1 has inf on lambda", SP_LAW_STVK, 0.3, INFINITY, 1);
    refused("but the law linear of its region has only one", SP_LAW_LINEAR, 0.3, 1, 2);
    refused("but the law mooney-rivlin of its region has only one", SP_LAW_MOONEY_RIVLIN, 0.3, 1, 2);
    refused("leave no material", SP_LAW_NEO_HOOKEAN, -0.5, 4, 1); /* λ + 2μ/3 < 0 */
    refused("leave no material", SP_LAW_STVK, 0.3, 1e308, 1e308);
}
