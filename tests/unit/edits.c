/* Materials edited at run time: the polynomials of the edited body, without recomputing them. */
#include "bodies.h"
#include "reduced/edit.h"
#include "reduced/mass.h"
#include "test.h"

enum { R = 7 };

/* Two regions, or one where `regions` is 1. */
static void make_regions(int regions, sp_mesh *mesh)
{
    make_box(4, 3, 2, 0.3, 0.15, mesh);
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
    mesh->material_count = regions;
    mesh->materials[0] = mesh->materials[1] = test_material();
    strcpy(mesh->materials[1].name, "tip");
    mesh->materials[1].young = 7e6;
    mesh->materials[1].poisson = 0.1;
    mesh->materials[1].density = 400;
    for (int64_t e = 0; regions > 1 && e < mesh->block[SP_HEX8].count; e += 3)
        mesh->region[e] = 1;
}

static void edit(sp_mesh *mesh, bool poisson)
{
    for (int64_t m = 0; m < mesh->material_count; m++) {
        mesh->materials[m].young *= m ? 0.37 : 6.1;
        mesh->materials[m].density *= m ? 2.7 : 0.9;
        if (poisson)
            mesh->materials[m].poisson = m ? 0.44 : 0.05;
    }
}

static void make_polynomials(const sp_mesh *mesh, const sp_polynomial_parameters *parameters,
                             sp_polynomials *polynomials)
{
    OWNED(sp_fe_space) body;
    sp_polynomial_report report;
    int64_t rows = 3 * mesh->vertex_count;
    double *U = test_new(rows * R, 8);
    random_field(rows * R, 21, U);
    CHECK_OK(sp_fe_space_new(&context, mesh, &body));
    CHECK_OK(sp_polynomials_new(&context, &body, R, U, parameters, polynomials, &report));
}

/* Largest difference relative to the largest entry. */
static double gap(int64_t count, const double *a, const double *b)
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    return worst / largest;
}

TEST(edited_is_computed_anew)
{
    static const struct {
        int regions;
        sp_polynomial_parameters parameters;
        bool poisson;
    } cases[] = {{2, {.by_group = true, .by_constant = true}, true},
                 {2, {.by_constant = true}, true},
                 {2, {.by_group = true}, false},
                 {1, {.by_constant = true}, true},
                 {1, {.by_group = true}, false},
                 {1, {0}, false}};
    int64_t N = sp_polynomial_order(R);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(sp_mesh) mesh, edited;
        OWNED(sp_polynomials) polynomials, anew;
        OWNED(sp_pool) pool = {0};
        make_regions(cases[k].regions, &mesh);
        make_regions(cases[k].regions, &edited);
        edit(&edited, cases[k].poisson);
        make_polynomials(&mesh, &cases[k].parameters, &polynomials);
        make_polynomials(&edited, &(sp_polynomial_parameters){0}, &anew);
        CHECK(polynomials.group_count == (cases[k].regions > 1 ? 2 : 0), "%lld groups",
              (long long)polynomials.group_count);
        CHECK_OK(sp_polynomials_edit(&context, &polynomials, mesh.material_count, mesh.materials, edited.materials));
        double of_gram = gap(N * N, sp_polynomials_gram(&polynomials, &pool), anew.parts[0].gram);
        double of_mass = gap(R * R, polynomials.mass, anew.mass),
               of_gravity = gap(3 * R, polynomials.gravity, anew.gravity);
        NOTE("case %d: Gram matrix %.1e, mass %.1e, gravity %.1e", (int)k, of_gram, of_mass, of_gravity);
        CHECK(of_gram <= 1e-12, "Gram matrix off by %g", of_gram);
        CHECK(of_mass <= 1e-12 && of_gravity <= 1e-12, "mass off by %g, gravity by %g", of_mass, of_gravity);
    }
}

/* Refused without any change, although the edit of an earlier region was possible. */
TEST(missing_parts_are_refused)
{
    static const struct {
        sp_polynomial_parameters parameters;
        int which; /* 0 young, 1 poisson, 2 density */
        const char *message;
    } cases[] = {{{0}, 0, "--by-region"}, {{.by_group = true}, 1, "--by-constant"}, {{0}, 2, "density of region tip"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(sp_mesh) mesh, edited;
        OWNED(sp_polynomials) polynomials;
        make_regions(2, &mesh);
        make_regions(2, &edited);
        if (cases[k].which == 0)
            edited.materials[1].young *= 2;
        else if (cases[k].which == 1)
            edited.materials[0].young *= 2, edited.materials[1].poisson = 0.3;
        else
            edited.materials[1].density *= 2;
        make_polynomials(&mesh, &cases[k].parameters, &polynomials);
        CHECK(sp_polynomials_edit(&context, &polynomials, 2, mesh.materials, edited.materials) == SP_INPUT &&
                  strstr(context.message, cases[k].message),
              "%s", context.message);
        for (int64_t p = 0; p < polynomials.part_count; p++)
            CHECK(polynomials.parts[p].value == 1, "part %lld was changed", (long long)p);
    }
}

/* A region named "all" is not the whole body. */
TEST(a_region_called_all)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_polynomials) whole, apart;
    make_regions(2, &mesh);
    strcpy(mesh.materials[1].name, "all");
    make_polynomials(&mesh, &(sp_polynomial_parameters){0}, &whole);
    make_polynomials(&mesh, &(sp_polynomial_parameters){.by_group = true}, &apart);
    CHECK(sp_polynomials_part(&whole, 2, mesh.materials, 1, SP_CONSTANT_ALL) == -1, "the whole was taken for a region");
    CHECK(sp_polynomials_part(&apart, 2, mesh.materials, 1, SP_CONSTANT_ALL) == 1, "the region was not found");
}

BEFORE_TESTS()
{
    context.threads = 2;
}
