/* The importers of .veg, .inp, .bou and .interp: counts, volumes and numbers of inverted elements of public meshes
 * (measured by others: README.md of the mesh collection), every feature of the formats in small files written here, and
 * errors that name the line. The importer of .msh has volume_msh.c. */
#include "volume_test.h"

/* Included files: a table of names and texts, or files beside the mesh. */
struct shelf {
    const char *name, *text;
    char *loaded[4];
    int loads;
};

static int open_shelf(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    struct shelf *shelf = data;
    for (int i = 0; shelf[i].name; i++)
        if (strcmp(shelf[i].name, name) == 0) {
            *bytes = shelf[i].text;
            *count = (int64_t)strlen(*bytes);
            return SP_OK;
        }
    return sp_fail(c, SP_INPUT, "no file %s", name);
}

static int open_beside(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    struct shelf *shelf = data;
    char path[512];
    snprintf(path, sizeof path, "vega/%s", name);
    if (shelf->loads == 4 || !(shelf->loaded[shelf->loads] = load(path, count)))
        return sp_fail(c, SP_INPUT, "no file %s", name);
    *bytes = shelf->loaded[shelf->loads++];
    return SP_OK;
}

/* ---------------------------------------------------------------- public meshes */

TEST(public_veg)
{
    static const struct {
        const char *name;
        int64_t nodes, tets, hexes;
        double volume;
    } list[] = {
        {"beam3.veg", 208, 0, 75, 0.0048},
        {"beam3_tet.veg", 208, 450, 0, 0.0048},
        {"asianDragon.veg", 959, 2591, 0, 34.256},
        {"asianDragon_MooneyRivlin.veg", 959, 2591, 0, 34.256},
        {"dragon-coarse.tet.veg", 197, 552, 0, 203.4},
        {"comb.tet.veg", 1623, 5844, 0, 15219},
        {"towerCrane_resol166.veg", 9875, 0, 5571, 24.707},
        {"turtle-volumetric-heterogeneous.veg", 347, 1185, 0, 45.187},
        {"simpleBridge_tet.veg", 4000, 12827, 0, 30.71},
        {"simpleBridge_vox.veg", 3923, 0, 1736, 27.48},
    };
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char path[256];
        int64_t count;
        struct shelf shelf = {0};
        sp_includes includes = {open_beside, &shelf};
        sp_mesh mesh;
        snprintf(path, sizeof path, "vega/%s", list[i].name);
        char *bytes = load(path, &count);
        CHECK(bytes != NULL, "%s cannot be read", path);
        if (!bytes)
            continue;
        int status = sp_volume_parse_veg(&context, bytes, count, &includes, &mesh, NULL);
        CHECK(status == SP_OK, "%s: %s", path, context.message);
        if (status == SP_OK) {
            check_counts(path, &mesh, list[i].nodes, list[i].tets, list[i].hexes, 0, list[i].volume);
            if (strstr(path, "turtle")) {
                /* A stiff outer layer, a soft interior. */
                CHECK(mesh.material_count == 2, "%lld materials", (long long)mesh.material_count);
                CHECK(mesh.materials[0].young == 25e6 && mesh.materials[1].young == 25e4 &&
                          mesh.materials[1].poisson == 0.35,
                      "%g %g", mesh.materials[0].young, mesh.materials[1].young);
                /* 32 is the first number of shellElementList.txt; 1 the first of the other. */
                CHECK(mesh.region[31] == 0 && mesh.region[0] == 1, "%lld %lld", (long long)mesh.region[31],
                      (long long)mesh.region[0]);
            } else
                CHECK(mesh.material_count == 1, "%s: %lld materials", path, (long long)mesh.material_count);
            if (strstr(path, "Mooney"))
                CHECK(mesh.materials[0].law == SP_LAW_MOONEY_RIVLIN && mesh.materials[0].mooney[2] == 1e6, "%d",
                      mesh.materials[0].law);
            if (strstr(path, "beam3.veg"))
                CHECK(strcmp(mesh.materials[0].name, "BODY") == 0 && mesh.materials[0].density == 1000 &&
                          mesh.materials[0].young == 1e7 && mesh.materials[0].poisson == 0.45,
                      "%s", mesh.materials[0].name);
            sp_mesh_free(&mesh);
        }
        for (int k = 0; k < shelf.loads; k++)
            free(shelf.loaded[k]);
        free(bytes);
    }
}

TEST(public_inp)
{
    static const struct {
        const char *name;
        int64_t nodes, tets, hexes, fixed, loads;
        double volume, force;
    } list[] = {
        /* 1 × 1.5 × 8 and 1 × 1 × 8; 25 vertices of the section are fixed; beam8p has 25 loads of 0.36 along y. */
        {"reference/beam8f.inp", 425, 0, 256, 25, 0, 12, 0},
        {"reference/beam8p.inp", 425, 0, 256, 25, 25, 8, 9},
        /* Cook's membrane: corners (0,0) (48,44) (48,60) (0,44), area 1440 and thickness 5; nodal forces along y, 500
           in all. */
        {"reference/cook-Coarse_Lin_Hex.inp", 50, 0, 16, 50, 10, 7200, 500},
        {"reference/cook-Coarse_Lin_Tet.inp", 62, 173, 0, -1, 6, 7200, 500},
    };
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        int64_t count, *id;
        sp_mesh mesh;
        sp_nodal_loads loads;
        sp_notes notes;
        char *bytes = load(list[i].name, &count);
        CHECK(bytes != NULL, "%s cannot be read", list[i].name);
        if (!bytes)
            continue;
        int status = sp_volume_parse_inp(&context, bytes, count, NULL, &steel, &mesh, &id, &loads, &notes);
        CHECK(status == SP_OK, "%s: %s", list[i].name, context.message);
        if (status == SP_OK) {
            double force = 0;
            check_counts(list[i].name, &mesh, list[i].nodes, list[i].tets, list[i].hexes, 0, list[i].volume);
            CHECK(list[i].fixed < 0 || mesh.fixed_count == list[i].fixed, "%s: %lld fixed", list[i].name,
                  (long long)mesh.fixed_count);
            CHECK(loads.count == list[i].loads, "%s: %lld loads", list[i].name, (long long)loads.count);
            for (int64_t k = 0; k < loads.count; k++) {
                force += loads.value[k];
                CHECK(loads.component[k] == 1, "%s: component %d", list[i].name, loads.component[k]);
            }
            CHECK_NEAR(force, list[i].force, 1e-9);
            for (int n = 0; n < notes.count; n++)
                NOTE("%s: %s", list[i].name, notes.line[n]);
            if (strstr(list[i].name, "cook")) {
                /* z is fixed everywhere, and all of x = 0 in x and y too. */
                for (int64_t k = 0; k < mesh.fixed_count; k++) {
                    bool left = mesh.vertices[3 * mesh.fixed[k]] == 0;
                    CHECK(mesh.fixed_axes[k] == (left ? 7 : 4), "vertex %lld: axes %d", (long long)mesh.fixed[k],
                          mesh.fixed_axes[k]);
                }
                CHECK(mesh.materials[0].young == 70 && mesh.materials[0].poisson == 0.33 &&
                          strcmp(mesh.materials[0].name, "Rubber") == 0,
                      "%s", mesh.materials[0].name);
            }
            if (strstr(list[i].name, "Hex")) {
                /* Node 180 is the corner (48, 60, 5). */
                for (int64_t v = 0; v < mesh.vertex_count; v++)
                    if (id[v] == 180)
                        CHECK(mesh.vertices[3 * v] == 48 && mesh.vertices[3 * v + 1] == 60 &&
                                  mesh.vertices[3 * v + 2] == 5,
                              "%lld", (long long)v);
            }
            if (strstr(list[i].name, "beam8f"))
                CHECK(mesh.materials[0].density == 7.8e-9 && mesh.materials[0].young == 210000, "%g",
                      mesh.materials[0].density);
            sp_mesh_free(&mesh);
        }
        free(bytes);
    }
}

/* simpleBridge_tet.interp reproduces the vertices of simpleBridge.obj up to the six digits that both files print: with
 * coordinates of 10 to 99 half a unit of the last one is 5e-5. */
TEST(public_bridge)
{
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    int64_t veg_count = 0, interp_count = 0, obj_count = 0, bou_count = 0, vertices = 0, capacity = 20000,
            fixed_count = 0, *fixed = NULL;
    char *veg = load("vega/simpleBridge_tet.veg", &veg_count),
         *interp = load("vega/simpleBridge_tet.interp", &interp_count);
    char *obj = load("vega/simpleBridge.obj", &obj_count), *bou = load("vega/simpleBridge_tet.bou", &bou_count);
    double *x = malloc(sizeof *x * 3 * (size_t)capacity);
    CHECK(veg && interp && obj && bou && x, "files");
    if (veg && interp && obj && bou && x) {
        obj[obj_count] = 0;
        for (char *line = strtok(obj, "\n"); line && vertices < capacity; line = strtok(NULL, "\n"))
            vertices +=
                sscanf(line, "v %lf %lf %lf", &x[3 * vertices], &x[3 * vertices + 1], &x[3 * vertices + 2]) == 3;
        CHECK(vertices == 16085, "%lld surface vertices", (long long)vertices);
        OWNED(sp_mesh) mesh;
        int64_t triangle[3] = {0, 1, 2};
        CHECK_OK(sp_volume_parse_veg(&context, veg, veg_count, NULL, &mesh, NULL));
        CHECK_OK(sp_volume_parse_interp(&context, interp, interp_count, vertices, x, 1, triangle, &mesh));
        CHECK(mesh.surface.vertex_count == vertices && mesh.surface.width == 4 && mesh.surface.triangle_count == 1,
              "%lld", (long long)mesh.surface.vertex_count);
        double worst = 0, worst_sum = 0;
        for (int64_t v = 0; v < mesh.surface.vertex_count; v++) {
            const int64_t *t = mesh.block[SP_TET4].node + 4 * mesh.surface.element[v];
            double p[3] = {0}, sum = 0;
            for (int a = 0; a < 4; a++) {
                sum += mesh.surface.weights[4 * v + a];
                for (int k = 0; k < 3; k++)
                    p[k] += mesh.surface.weights[4 * v + a] * mesh.vertices[3 * t[a] + k];
            }
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(p[k] - x[3 * v + k]));
            worst_sum = fmax(worst_sum, fabs(sum - 1));
        }
        NOTE("largest distance of an embedded vertex %.3g, of a sum of weights from 1 %.3g", worst, worst_sum);
        CHECK(worst < 5e-5 && worst_sum < 1e-14, "%g %g", worst, worst_sum);
        CHECK_OK(sp_volume_parse_bou(&context, bou, bou_count, &mesh.pool, &fixed_count, &fixed));
        CHECK(fixed_count == 121 && fixed[0] == 248, "%lld fixed", (long long)fixed_count);
        for (int64_t i = 1; i < fixed_count; i++)
            CHECK(fixed[i] > fixed[i - 1] && fixed[i] < mesh.vertex_count, "%lld", (long long)fixed[i]);
    }
    free(veg);
    free(interp);
    free(obj);
    free(bou);
    free(x);
}

/* ---------------------------------------------------------------- .veg */

#define VEG_VERTICES "*VERTICES\n8 3 0 0\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n"
#define VEG_TETS "*ELEMENTS\nTET\n2 4 0\n1 1 2 4 5\n2 2 3 4 7\n"
#define VEG_MATERIAL "*MATERIAL soft\nENU, 1000, 2E5, .25\n"
#define VEG_REGION "*REGION\nallElements, soft\n"

TEST(veg_features)
{
    sp_mesh mesh;
    /* Comments, blank lines, CRLF, 0-based numbers, commas between numbers, sets, two materials, an unused one. */
    const char *zero = "# c\r\n\r\n*VERTICES\r\n8, 3, 0, 0\r\n0 0 0 0\n1,1,0,0\n 2\t1 1 0\n3 0 1 0\n4 0 0 1\n5 1 0 "
                       "1\n6 1 1 1\n7 0 1 1\n"
                       "*ELEMENTS\nCUBIC\n1 8 0\n0 0 1 2 3 4 5 6 7\n"
                       "*MATERIAL unused\nENU, 1, 1, 0\n" VEG_MATERIAL "*SET  one\n0,\n*REGION\none, soft\n";
    CHECK_OK(sp_volume_parse_veg(&context, zero, (int64_t)strlen(zero), NULL, &mesh, NULL));
    check_counts("0-based", &mesh, 8, 0, 1, 0, 1);
    CHECK(mesh.material_count == 1 && strcmp(mesh.materials[0].name, "soft") == 0 && mesh.materials[0].young == 2e5,
          "materials");
    CHECK(mesh.block[SP_HEX8].node[6] == 6 && mesh.surface.width == 8 && mesh.fixed_count == 0, "%lld",
          (long long)mesh.block[SP_HEX8].node[6]);
    sp_mesh_free(&mesh);

    /* A set in an included file, the rest by allElements, which is first in the file. */
    struct shelf shelf[] = {{.name = "lists/a.txt", .text = "# numbers\n2"}, {.name = NULL}};
    sp_includes includes = {open_shelf, shelf};
    const char *sets = VEG_VERTICES VEG_TETS VEG_MATERIAL "*MATERIAL hard\nMOONEYRIVLIN, 900, 1, 2, 3\n" VEG_REGION
                                                          "*SET a\n*INCLUDE lists/a.txt\n*REGION\na, hard\n";
    CHECK_OK(sp_volume_parse_veg(&context, sets, (int64_t)strlen(sets), &includes, &mesh, NULL));
    CHECK(mesh.material_count == 2 && mesh.region[0] == 0 && mesh.region[1] == 1, "%lld", (long long)mesh.region[1]);
    CHECK(mesh.materials[1].mooney[0] == 1 && mesh.materials[1].mooney[1] == 2 && mesh.materials[1].density == 900,
          "mooney");
    sp_mesh_free(&mesh);
    expect_error('v', sets, (int64_t)strlen(sets), NULL, "line 23: the file lists/a.txt is included");
    struct shelf bad[] = {{.name = "lists/a.txt", .text = "# numbers\n1, x"}, {.name = NULL}};
    includes.data = bad;
    expect_error('v', sets, (int64_t)strlen(sets), &includes,
                 "lists/a.txt: line 2: element of the set: expected an integer, found \"x\"");
    struct shelf cycle[] = {{.name = "lists/a.txt", .text = "*INCLUDE lists/a.txt\n"}, {.name = NULL}};
    includes.data = cycle;
    expect_error('v', sets, (int64_t)strlen(sets), &includes,
                 "lists/a.txt: line 1: includes are nested more than 7 deep");
}

/* S C = 1 with the compliance S written by its definition, and the frame's rows the columns of R. */
TEST(veg_orthotropic)
{
    static const double E[3] = {3e6, 2e6, 1e6};
    const char *types[] = {"ORTHOTROPIC, 1000, 3e6, 2e6, 1e6, 0.2, 0.3, 0.1, 4e5, 5e5, 6e5, 0,-1,0, 1,0,0, 0,0,1",
                           "ORTHOTROPIC_N3G3, 1000, 3e6, 2e6, 1e6, 0.2, 0.3, 0.1, 4e5, 5e5, 6e5",
                           "ORTHOTROPIC_N1G1R9, 1000, 3e6, 2e6, 1e6, 0.25, 0.5, 0,-1,0, 1,0,0, 0,0,1",
                           "ORTHOTROPIC_N1, 1000, 3e6, 2e6, 1e6, 0.25"};
    for (int t = 0; t < 4; t++) {
        char text[2048];
        OWNED(sp_mesh) mesh = {0};
        double nu[3] = {0.2, 0.3, 0.1}, G[3] = {4e5, 5e5, 6e5}, S[36] = {0}, C[36], factor = t == 2 ? 0.5 : 1;
        for (int i = 0; i < 3 && t >= 2; i++) {
            nu[i] = 0.25 * sqrt(E[i] / E[(i + 1) % 3]);
            G[i] = factor * sqrt(E[i] * E[(i + 1) % 3]) / 2.5;
        }
        snprintf(text, sizeof text, VEG_VERTICES VEG_TETS "*MATERIAL soft\n%s\n" VEG_REGION, types[t]);
        CHECK_OK(sp_volume_parse_veg(&context, text, (int64_t)strlen(text), NULL, &mesh, NULL));
        if (!mesh.material_count)
            return;
        const sp_material *m = &mesh.materials[0];
        CHECK(m->law == SP_LAW_LINEAR && m->density == 1000, "%d", m->law);
        for (int i = 0, n = 0; i < 6; i++)
            for (int j = i; j < 6; j++, n++)
                C[6 * i + j] = C[6 * j + i] = m->stiffness[n];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            S[7 * i] = 1 / E[i];
            S[6 * i + j] = S[6 * j + i] = -nu[i] / E[i];
        }
        /* Voigt order yz, zx, xy: G23, G31, G12. */
        S[21] = 1 / G[1];
        S[28] = 1 / G[2];
        S[35] = 1 / G[0];
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                double sum = 0;
                for (int k = 0; k < 6; k++)
                    sum += S[6 * i + k] * C[6 * k + j];
                CHECK_NEAR(sum, i == j, 1e-12);
            }
        bool turned = t == 0 || t == 2;
        /* R's first column is (0, 1, 0). */
        CHECK_NEAR(m->frame[0], turned ? 0 : 1, 1e-15);
        CHECK_NEAR(m->frame[1], turned ? 1 : 0, 1e-15);
        CHECK_NEAR(m->frame[3], turned ? -1 : 0, 1e-15);
    }
}

TEST(veg_errors)
{
    ERROR('v', "", "no *VERTICES");
    ERROR('v', VEG_VERTICES, "no *ELEMENTS");
    ERROR('v', "hello\n", "line 1: a keyword like *SET is expected, not 'hello'");
    ERROR('v', "*VERTICES\n1000000 3 0 0\n1 0 0 0\n", "line 2: 1000000 vertices are announced, 1 follow");
    ERROR('v', "*VERTICES\n-5 3 0 0\n1 0 0 0\n", "line 2: '-5' is no count");
    ERROR('v', "*VERTICES\n99999999999999999999 3 0 0\n", "line 2: '9999");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 nan 0\n", "line 4: y: expected a finite number, found \"nan\"");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 1e999 0\n", "line 4: y: expected a finite number, found \"1e999\"");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 0x10 0\n", "line 4: y: expected a finite number, found \"0x10\"");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 0\n", "line 4: vertex 2 has 2 of 3 coordinates");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 0 0 0\n", "line 4: 5 numbers instead of 4");
    ERROR('v', "*VERTICES\n2 3 0 0\n1 0 0 0\n3 0 0 0\n", "line 4: vertex 3 stands where 2 is due");
    ERROR('v', VEG_VERTICES "9 0 0 0\n", "line 11: a keyword");
    ERROR('v', VEG_VERTICES VEG_VERTICES, "line 11: *VERTICES occurs twice");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nPRISM\n1 6 0\n", "line 12: unknown type of elements 'PRISM'");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nTET\n1 8 0\n", "line 13: elements of 8 numbers instead of 4");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 9\n" VEG_MATERIAL VEG_REGION,
          "line 14: element 1 names vertex 9, but there are 8 vertices");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 0\n" VEG_MATERIAL VEG_REGION,
          "line 14: element 1 names vertex 0");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n" VEG_MATERIAL,
          "line 13: 2 elements are announced, 1 follow");
    ERROR('v', VEG_VERTICES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3\n", "line 14: element 1 has 3 of 4 corners");
    ERROR('v', VEG_VERTICES VEG_TETS, "line 14: element 1 is in none of the 0 regions");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL "*SET a\n1\n*REGION\na, soft\n",
          "line 15: element 2 is in none of the 1 regions");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL "*SET a\n1, 3\n*REGION\na, soft\n",
          "line 19: set a names element 3 of 2");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL "*REGION\nb, soft\n", "line 19: the region names the set b");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL "*REGION\nallElements, hard\n",
          "line 19: the region names the material hard");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL "*SET a\n1\n*SET b\n1\n*REGION\na, soft\n*REGION\nb, soft\n",
          "line 25: element 1 of the set b is already in the region of the set a");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nENU, 1000, 2E5\n", "line 17: ENU takes 3 numbers, not 2");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nENU, 1000, 2E5, 0.5\n", "line 17: Poisson's ratio 0.5");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nENU, 0, 2E5, 0.4\n", "line 17: density 0");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nWOOD, 1, 2E5, 0.4\n", "line 17: unknown type of material 'WOOD'");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nORTHOTROPIC_N3G3, 1, 1, 1, 1, 0.9, 0.9, 0.9, 1, 1, 1\n",
          "line 17: the orthotropic constants");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL soft\nORTHOTROPIC_N1R9, 1, 1, 1, 1, 0.2, 1,0,0, 0,1,0, 0,0,-1\n",
          "line 17: the nine numbers R");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL \nENU, 1, 2E5, 0.4\n", "line 16: the name of the material is missing");
    ERROR('v', VEG_VERTICES VEG_TETS VEG_MATERIAL VEG_MATERIAL, "line 18: material soft is defined twice");
    ERROR('v', VEG_VERTICES VEG_TETS "*MATERIAL \xff\nENU, 1, 2E5, 0.4\n", "is not UTF-8");
}

/* ---------------------------------------------------------------- .inp */

#define INP_TET "*Node, nset=ALL\n1, 0, 0, 0\n2, 1., , 0\n30, 0, 1.D0, 0\n4, 0, 0, 1\n"
#define INP_SOLID                                                                                                      \
    "*MATERIAL, NAME=Iron\n*ELASTIC, TYPE=ISO\n3., .25\n*DENSITY\n5\n*SOLID SECTION, ELSET=body, MATERIAL=IRON\n"

TEST(inp_features)
{
    sp_mesh mesh;
    sp_nodal_loads loads;
    sp_notes notes;
    int64_t *id;
    struct shelf shelf[] = {{.name = "nodes.inc", .text = "5, 3, 0, 0\n6, 3, 1, 0\n** no more\n"}, {.name = NULL}};
    sp_includes includes = {open_shelf, shelf};
    /* A continued keyword line, a continued element, a set by GENERATE with a gap, a set of a set, a shell, a node
     * without elements, conditions before and in the first step, a second step. */
    const char *text =
        "*HEADING\nany text, even 1, 2\n" INP_TET "*INCLUDE, INPUT=nodes.inc\n77, 9, 9, 9\n"
        "*ELEMENT, TYPE=C3D4,\nELSET=body\n100, 1, 2,\n30, 4\n*ELEMENT, TYPE=S3, ELSET=skin\n200, 1, 2, 30\n"
        "*ELEMENT, TYPE=C3D4, ELSET=more\n101, 2, 5, 30, 4\n102, 5, 6, 30, 4\n"
        "*NSET, NSET=gen, GENERATE\n2, 30, 28\n4, 7, 1\n*NSET, NSET=both\ngen, 1\n*NSET, NSET=GEN\n1\n*ELSET, "
        "ELSET=all\nbody, more, skin\n"
        "*MATERIAL, NAME=Iron\n*ELASTIC\n3., .25\n*DENSITY\n5,\n*MATERIAL, NAME=\"Soft one\"\n*ELASTIC\n1, 0\n"
        "*SOLID SECTION, ELSET=body, MATERIAL=iron\n1.,\n*SOLID SECTION, ELSET=more, MATERIAL=Soft one\n"
        "*BOUNDARY\n1, 1, 3\n77, 1\n4, 2, , 0.\n*CLOAD\n2, 4, 1.\n"
        "*STEP, NLGEOM\n*STATIC\n*BOUNDARY\n4, 3, 6\nall, ZSYMM\n*CLOAD\nboth, 2, -1.5\n30, 1, 2.5E0\n*DLOAD\nbody, "
        "GRAV, 9.81, 0, 0, "
        "-1\n*END STEP\n"
        "*STEP\n*BOUNDARY\n2, 1, 1, 7.\n";
    CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), &includes, &steel, &mesh, &id, &loads, &notes));
    if (mesh.vertex_count != 6) {
        CHECK(false, "%lld vertices", (long long)mesh.vertex_count);
        return;
    }
    CHECK(mesh.block[SP_TET4].count == 3 && mesh.block[SP_TET4].node[2] == 2 && mesh.block[SP_TET4].node[4] == 1 &&
              mesh.block[SP_TET4].node[5] == 4,
          "corners");
    CHECK(id[2] == 30 && id[3] == 4 && id[5] == 6, "%lld", (long long)id[2]);
    CHECK(mesh.vertices[7] == 1 && mesh.vertices[3] == 1 && mesh.vertices[4] == 0, "%g", mesh.vertices[7]);
    CHECK(mesh.material_count == 2 && mesh.region[0] == 0 && mesh.region[1] == 1 && mesh.region[2] == 1, "regions");
    CHECK(mesh.materials[0].density == 5 && mesh.materials[0].young == 3 && mesh.materials[0].law == SP_LAW_STVK,
          "Iron");
    CHECK(strcmp(mesh.materials[1].name, "Soft one") == 0 && mesh.materials[1].density == steel.density, "Soft one");
    /* z of all of the set ALL, to which the included lines belong; node 1 fixed, node 4 in y too. */
    static const int axes[6] = {7, 4, 4, 6, 4, 4};
    CHECK(mesh.fixed_count == 6, "%lld fixed", (long long)mesh.fixed_count);
    for (int64_t i = 0; i < mesh.fixed_count; i++)
        CHECK(mesh.fixed[i] == i && mesh.fixed_axes[i] == axes[i], "vertex %lld: %d", (long long)mesh.fixed[i],
              mesh.fixed_axes[i]);
    /* both: 1, and of gen 2, 30, 4, 5, 6 (7 does not exist). */
    double sum[6] = {0};
    CHECK(loads.count == 7, "%lld loads", (long long)loads.count);
    for (int64_t i = 0; i < loads.count; i++) {
        CHECK(loads.component[i] == (loads.value[i] > 0 ? 0 : 1), "component %d", loads.component[i]);
        sum[loads.vertex[i]] += loads.value[i];
    }
    CHECK(sum[0] == -1.5 && sum[1] == -1.5 && sum[2] == 1 && sum[3] == -1.5 && sum[4] == -1.5 && sum[5] == -1.5,
          "%g %g", sum[0], sum[2]);
    bool seen[5] = {false};
    static const char *const part[5] = {"no *DENSITY", "1 elements that are no solids", "only the first step", "*DLOAD",
                                        "1 of 7 vertices"};
    for (int n = 0; n < notes.count; n++)
        for (int k = 0; k < 5; k++)
            seen[k] |= strstr(notes.line[n], part[k]) != NULL;
    CHECK(seen[0] && seen[1] && seen[2] && seen[3] && seen[4], "notes");
    sp_mesh_free(&mesh);

    /* OP=NEW in the first step drops what the model had; without sections all is of the default material. */
    const char *new = INP_TET
        "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30, 4\n*BOUNDARY\n1, 1, 3\n*STEP\n*BOUNDARY, OP=NEW\n*BOUNDARY\n2, PINNED\n";
    CHECK_OK(sp_volume_parse_inp(&context, new, (int64_t)strlen(new), NULL, &steel, &mesh, NULL, NULL, NULL));
    CHECK(mesh.fixed_count == 1 && mesh.fixed[0] == 1 && mesh.fixed_axes[0] == 7 &&
              strcmp(mesh.materials[0].name, "steel") == 0,
          "OP=NEW");
    sp_mesh_free(&mesh);
}

/* ORTHO lists D1111, D1122, D2222, D1133, D2233, D3333, D1212, D1313, D2323; engineering constants are the inverse of
 * their compliance; an orientation turned by 90° about z has x along the body's y. */
#define INP_ORTHO "*MATERIAL, NAME=wood\n*ELASTIC, TYPE=ORTHO\n11, 1, 12, 2, 3, 13, 14, 15\n16\n"
TEST(inp_directions)
{
    static const char *const cards[3] = {
        INP_ORTHO, INP_ORTHO "*ORIENTATION, NAME=o\n0, 2, 0, -1, 5, 0\n",
        "*MATERIAL, NAME=wood\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n5, 7, 9, .1, .2, .3, 1.5, 2.5\n3.5, 20\n"};
    static const double due[2][6][6] = {
        {{11, 1, 2}, {1, 12, 3}, {2, 3, 13}, {0, 0, 0, 16}, {0, 0, 0, 0, 15}, {0, 0, 0, 0, 0, 14}},
        {{12, 1, 3}, {1, 11, 2}, {3, 2, 13}, {0, 0, 0, 15}, {0, 0, 0, 0, 16}, {0, 0, 0, 0, 0, 14}}};
    static const double compliance[6][6] = {{1. / 5, -.1 / 5, -.2 / 5}, {-.1 / 5, 1. / 7, -.3 / 7},
                                            {-.2 / 5, -.3 / 7, 1. / 9}, {0, 0, 0, 1 / 3.5},
                                            {0, 0, 0, 0, 1 / 2.5},      {0, 0, 0, 0, 0, 1 / 1.5}};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        double C[36];
        OWNED(sp_mesh) mesh = {0};
        snprintf(text, sizeof text,
                 INP_TET
                 "*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 30, 4\n%s*SOLID SECTION, ELSET=body, MATERIAL=wood%s\n",
                 cards[i], i == 1 ? ", ORIENTATION=o" : "");
        CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, NULL));
        CHECK(mesh.material_count == 1 && mesh.materials[0].law == SP_LAW_LINEAR, "law");
        if (mesh.material_count != 1)
            continue;
        CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
        CHECK_OK(sp_material_stiffness(&context, &mesh.materials[0], C));
        for (int p = 0; p < 6; p++)
            for (int q = 0; q < 6; q++) {
                double product = 0;
                for (int k = 0; k < 6; k++)
                    product += C[6 * p + k] * compliance[k][q];
                CHECK_NEAR(i < 2 ? C[6 * p + q] : product, i < 2 ? due[i][p][q] : (double)(p == q), 1e-12);
            }
    }
}

/* As in CalculiX, lines are read until an element has its nodes, numbers behind them are left out with a remark, and a
 * third coordinate that is missing is 0. */
TEST(inp_lines)
{
    static const char *const elements[] = {"1, 1, 2, 30, 4\n",  "1, 1, 2,\n30, 4\n",    "1, 1, 2\n30, 4\n",
                                           "1\n1\n2\n30, 4,\n", "1, 1, 2, 30, 4, 17\n", "1, 1, 2,\n30, 4, 17\n"};
    for (int i = 0; i < 6; i++) {
        char text[1024];
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        snprintf(text, sizeof text,
                 "*NODE\n1, 0, 0\n2, 1, 0,\n30, 0, 1\n4, 0, 0, 1\n*ELEMENT, TYPE=C3D4, ELSET=a\n%s2, 1, 2, 30, 4\n",
                 elements[i]);
        CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes));
        CHECK(sp_mesh_element_count(&mesh) == 2, "%d", i);
        CHECK_NEAR(sp_mesh_volume(&mesh), 2 / 6., 1e-15);
        bool seen = false;
        for (int n = 0; n < notes.count; n++)
            seen |= strstr(notes.line[n], "1 elements have more numbers than nodes") != NULL;
        CHECK(seen == (i > 3), "%d: remark", i);
    }
}

/* Cards that change the model are named, with and without data lines, before and in the step; others are not. */
TEST(inp_keywords)
{
    static const char *const named[] = {"RIGID BODY",
                                        "COUPLING",
                                        "KINEMATIC",
                                        "DISTRIBUTING",
                                        "TIE",
                                        "EQUATION",
                                        "DISTRIBUTING COUPLING",
                                        "MPC",
                                        "CYCLIC SYMMETRY MODEL",
                                        "PRE-TENSION SECTION",
                                        "FOUNDATION",
                                        "EMBEDDED ELEMENT",
                                        "NONSTRUCTURAL MASS",
                                        "INITIAL CONDITIONS",
                                        "MODEL CHANGE",
                                        "DLOAD"};
    static const char *const silent[] = {"HEADING",  "STATIC",    "NODE FILE",
                                         "EL PRINT", "AMPLITUDE", "SURFACE INTERACTION"};
    for (int i = 0; i < 4 * (int)(sizeof named / sizeof *named); i++) {
        char text[1024], due[100];
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        snprintf(text, sizeof text,
                 INP_TET "*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 30, 4\n" INP_SOLID "%s*%s, A=b\n%s",
                 i % 4 / 2 ? "*STEP\n" : "", named[i / 4], i % 2 ? "1, 2\n1, 3\n" : "");
        snprintf(due, sizeof due, "*%s is passed over", named[i / 4]);
        int status =
            sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes);
        CHECK(status == SP_OK, "%s", context.message);
        CHECK(status != SP_OK || (notes.count > 0 && strcmp(notes.line[0], due) == 0), "%s", due);
    }
    for (int i = 0; i < 2; i++) {
        char text[2048];
        int n = snprintf(text, sizeof text, INP_TET "*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 30, 4\n" INP_SOLID);
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        for (int k = 0; k < 6 && i == 0; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, "*%s\n1, 2\n", silent[k]);
        for (int k = 0; k < 40 && i == 1; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, "*CARD %d\n", k % 36);
        CHECK_OK(sp_volume_parse_inp(&context, text, n, NULL, &steel, &mesh, NULL, NULL, &notes));
        CHECK(notes.count == 32 * i, "%d: %d remarks", i, notes.count);
        if (i == 1)
            CHECK(strcmp(notes.line[0], "the keyword *CARD0 is not known and is passed over") == 0 &&
                      strcmp(notes.line[31], "there are more remarks than these") == 0,
                  "%s; %s", notes.line[0], notes.line[31]);
    }
}

/* Prescribed displacements, nodes without elements and numbers without nodes: the rest is read, and a message names the
 * omissions. */
TEST(inp_remarks)
{
    const char *text =
        INP_TET "9, 0, 0, 9\n*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 30, 4\n" INP_SOLID
                "*NSET, NSET=a\n1, 3, 9\n*ELSET, ELSET=body\n17\n*BOUNDARY\na, 1, 2\n30, 3, 3, 0.1\n*CLOAD\n2, 1, 5\n";
    static const char *const part[5] = {
        "1 lines of *BOUNDARY prescribe displacements: the components are fixed, their values are left out",
        "1 conditions of *BOUNDARY are on nodes without solid elements",
        "sets name nodes that are not defined, such as 3", "sets name elements that are not defined, such as 17",
        "1 lines of *CLOAD are passed over"};
    OWNED(sp_mesh) mesh;
    sp_notes notes;
    CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes));
    CHECK(mesh.fixed_count == 2 && mesh.fixed[0] == 0 && mesh.fixed_axes[0] == 3 && mesh.fixed[1] == 2 &&
              mesh.fixed_axes[1] == 4,
          "fixed");
    for (int k = 0; k < 5; k++) {
        bool seen = false;
        for (int n = 0; n < notes.count; n++)
            seen |= strstr(notes.line[n], part[k]) != NULL;
        CHECK(seen, "no note has '%s'", part[k]);
    }
}

/* Nested sets that would have 2⁶⁰ members if they were expanded. */
TEST(inp_set_bomb)
{
    char text[8192];
    int n = snprintf(
        text, sizeof text,
        INP_TET
        "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30, 4\n*NSET, NSET=A\n1\n*NSET, NSET=G, GENERATE\n0, 9000000000000000000\n");
    for (int i = 0; i < 60; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "*NSET, NSET=%c\n%c, %c, G\n", i % 2 ? 'A' : 'B',
                      i % 2 ? 'B' : 'A', i % 2 ? 'B' : 'A');
    n += snprintf(text + n, sizeof text - (size_t)n, "*BOUNDARY\nA, 1\n");
    OWNED(sp_mesh) mesh;
    CHECK_OK(sp_volume_parse_inp(&context, text, n, NULL, &steel, &mesh, NULL, NULL, NULL));
    CHECK(mesh.fixed_count == 4, "%lld", (long long)mesh.fixed_count);
}

#define INP_BODY INP_TET "*ELEMENT, TYPE=C3D4, ELSET=body\n1, 1, 2, 30, 4\n"

TEST(inp_errors)
{
    ERROR('i', "", "0 vertices, but no solid elements");
    ERROR('i', "solid\n", "line 1: a card like *NODE is expected");
    ERROR('i', "*NODE\n1, 0\n", "line 2: node 1 has 1 of 3 coordinates");
    ERROR('i', "*NODE\n1, 0, nan, 0\n", "line 2: 'nan' is no finite coordinate");
    ERROR('i', "*NODE\nx, 0, 0, 0\n", "line 2: 'x' is no number of a node");
    ERROR('i', INP_BODY "*NODE\n1, 0, 0, 0\n", "line 9: vertex 1 is defined twice");
    ERROR('i', INP_BODY "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30, 4\n", "line 9: element 1 is defined twice");
    ERROR('i', INP_TET "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30, 5\n",
          "line 7: element 1 names vertex 5, but there are 4 vertices, numbered from 1 to 30");
    ERROR('i', INP_TET "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30\n", "line 7: element 1 has 3 of 4 nodes");
    ERROR('i', INP_TET "*ELEMENT, TYPE=C3D4\n1, 1, 2, 30\n2, 1, 2, 30, 4\n",
          "line 7: element 1 has fewer than 4 nodes on its lines, and the next line has too many");
    ERROR('i', INP_TET "*ELEMENT, TYPE=C3D10M\n1, 1, 2, 30, 4, 5\n",
          "line 6: elements of type C3D10M are not supported");
    ERROR('i', INP_TET "*ELEMENT\n1, 1, 2, 30, 4, 5\n", "line 6: *ELEMENT without TYPE=");
    ERROR('i', INP_BODY INP_SOLID "*ELEMENT, TYPE=C3D4\n2, 1, 2, 30, 4\n",
          "line 15: element 2 is in no *SOLID SECTION");
    ERROR('i', INP_BODY "*SOLID SECTION, ELSET=body, MATERIAL=x\n", "line 8: the material x is not defined");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*SOLID SECTION, ELSET=body, MATERIAL=x\n",
          "line 8: the material x has neither *ELASTIC nor");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC\n1, .3\n*SOLID SECTION, ELSET=b, MATERIAL=x\n",
          "line 11: the set of elements b is not defined");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC\n1, .5\n", "line 10: Poisson's ratio 0.5");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC\n1, .3\n2, .3, 100\n",
          "line 11: *ELASTIC that depends on temperature");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=LAMINA\n1, .3\n",
          "line 9: *ELASTIC of type LAMINA is not supported (ISO, ORTHO, ANISO and ENGINEERING CONSTANTS are)");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ORTHO\n4, 1, 4, 1, 1, 4, 1, 1\n",
          "line 9: *ELASTIC has 8 of 9 constants");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ORTHO\n4, 5, 4, 1, 1, 4, 1, 1\n1\n",
          "line 10: the 9 constants of *ELASTIC are no positive definite stiffness");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n4, 1, 4, .9, 1, 1, 1, 1\n1\n",
          "line 10: the 9 constants of *ELASTIC are no positive definite stiffness");
    ERROR('i', INP_BODY INP_ORTHO "*SOLID SECTION, ELSET=body, MATERIAL=wood, ORIENTATION=o\n",
          "line 12: the orientation o is not defined");
    ERROR('i',
          INP_BODY INP_ORTHO "*ORIENTATION, NAME=o, SYSTEM=CYLINDRICAL\n0, 0, 0, 0, 0, 1\n"
                             "*SOLID SECTION, ELSET=body, MATERIAL=wood, ORIENTATION=O\n",
          "line 14: the orientation O is not supported (SYSTEM=RECTANGULAR with two points is)");
    ERROR('i',
          INP_BODY INP_ORTHO
          "*ORIENTATION, NAME=o\n0, 1, 0, 0, 2, 0\n*SOLID SECTION, ELSET=body, MATERIAL=wood, ORIENTATION=o\n",
          "line 14: the orientation o is not supported");
    ERROR('i',
          INP_BODY INP_ORTHO
          "*ORIENTATION, NAME=o\n0, 1, 0, -1, 0, 0\n*SOLID SECTION, ELSET=body, MATERIAL=wood, ORIENTATION=o\n"
          "*SOLID SECTION, ELSET=body, MATERIAL=wood\n",
          "line 15: the material wood has sections of different orientations");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ANISO\n4, 1, 4, 1, 1, 4, 0, 0\n0, 1, 0, 0, 0, 0, 1, 0\n",
          "line 9: *ELASTIC has 16 of 21 constants");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ANISO\n4, 1, 4, 1, 1, 4, 0\n",
          "line 10: '' is no finite number");
    ERROR('i',
          INP_BODY
          "*MATERIAL, NAME=x\n*ELASTIC, TYPE=ANISO\n4, 9, 4, 1, 1, 4, 0, 0\n0, 1, 0, 0, 0, 0, 1, 0\n0, 0, 0, 0, 1\n",
          "line 10: the 21 constants of *ELASTIC are no positive definite stiffness");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*HYPERELASTIC, MOONEY-RIVLIN\n1, 2, 0\n",
          "line 10: D1 = 0 is not positive");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*HYPERELASTIC, YEOH\n1, 2\n*SOLID SECTION, ELSET=body, MATERIAL=x\n",
          "line 8: the material x has neither *ELASTIC nor *HYPERELASTIC, NEO HOOKE or MOONEY-RIVLIN");
    ERROR('i', INP_BODY "*DENSITY\n1\n", "line 8: *DENSITY before any *MATERIAL");
    ERROR('i', INP_BODY "*MATERIAL, NAME=x\n*DAMPING, ALPHA=-1\n", "line 9: *DAMPING: '-1' is no ALPHA");
    ERROR('i', INP_BODY INP_SOLID "*STEP\n*BOUNDARY\nALL, 1, 2\nALL, 3, 3, x\n", "line 17: 'x' is no finite number");
    ERROR('i', INP_BODY INP_SOLID "*BOUNDARY\nnone, 1, 2\n", "line 15: the set of nodes none is not defined");
    ERROR('i', INP_BODY INP_SOLID "*BOUNDARY\n3, 1, 2\n", "line 15: node 3 is not defined");
    ERROR('i', INP_BODY INP_SOLID "*BOUNDARY\n1, 0, 2\n", "line 15: '0' is no degree of freedom");
    ERROR('i', INP_BODY INP_SOLID "*NSET, NSET=a, GENERATE\n3, 1\n", "line 15: GENERATE takes");
    ERROR('i', INP_BODY INP_SOLID "*NGEN\n1, 3\n", "line 14: *NGEN is not supported");
    ERROR('i', INP_BODY INP_SOLID "*INCLUDE, INPUT=more.inp\n", "line 14: the file more.inp is included");
}

/* ---------------------------------------------------------------- .bou and .interp */

TEST(bou_and_interp)
{
    OWNED(sp_pool) pool = {0};
    int64_t count = -1, *fixed = NULL;
    const char *bou = "3,1;\r\n 2\t7,,3\n";
    CHECK_OK(sp_volume_parse_bou(&context, bou, (int64_t)strlen(bou), &pool, &count, &fixed));
    CHECK(count == 4 && fixed[0] == 0 && fixed[1] == 1 && fixed[2] == 2 && fixed[3] == 6, "%lld", (long long)count);
    CHECK_OK(sp_volume_parse_bou(&context, "", 0, &pool, &count, &fixed));
    CHECK(count == 0 && fixed, "%lld", (long long)count);
    static const char *const bad[3][2] = {
        {"1,2\n0\n", "line 2: '0'"}, {"1,2\n\nx\n", "line 3: 'x'"}, {"1 99999999999999999999\n", "line 1: '999"}};
    for (int i = 0; i < 3; i++) {
        int status = sp_volume_parse_bou(&context, bad[i][0], (int64_t)strlen(bad[i][0]), &pool, &count, &fixed);
        CHECK(status == SP_INPUT && strstr(context.message, bad[i][1]), "%s", context.message);
    }

    /* A hexahedron and a tetrahedron: one vertex in each, nodes in another order than the element's. */
    const char *msh =
        MSH_2 "$Nodes\n9\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n9 2 1 0\n$EndNodes\n"
              "$Elements\n2\n1 4 0 2 3 7 9\n2 5 0 1 2 3 4 5 6 7 8\n$EndElements\n";
    OWNED(sp_mesh) mesh;
    double x[6] = {0.9, 0.5, 0.5, 1.4, 0.9, 0.2};
    int64_t triangle[3] = {0, 1, 1};
    const char *interp = "1 8 0.4 6 0.2 1 0.1 2 0.300001\n0 0 .025 1 .225 2 .225 3 .025 7 .025 6 .225 5 .225 4 .025\n";
    CHECK_OK(sp_volume_parse_msh(&context, msh, (int64_t)strlen(msh), &steel, &mesh, NULL));
    CHECK_OK(sp_volume_parse_interp(&context, interp, (int64_t)strlen(interp), 2, x, 1, triangle, &mesh));
    CHECK_OK(sp_volume_parse_interp(&context, interp, (int64_t)strlen(interp), 2, x, 1, triangle, &mesh));
    CHECK(mesh.surface.width == 8 && mesh.surface.element[0] == 0 && mesh.surface.element[1] == 1, "elements");
    for (int64_t v = 0; v < 2 && mesh.surface.vertex_count == 2; v++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(&mesh, mesh.surface.element[v], &nodes);
        double p[3] = {0}, sum = 0;
        for (int a = 0; a < 8; a++) {
            sum += mesh.surface.weights[8 * v + a];
            for (int k = 0; a < nodes && k < 3; k++)
                p[k] += mesh.surface.weights[8 * v + a] * mesh.vertices[3 * node[a] + k];
        }
        CHECK_NEAR(sum, 1, 1e-15);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(p[k], x[3 * v + k], 2e-6);
    }
    static const char *const wrong[][2] = {
        {"0 0 1 1 0 2 0 3 0\n", "line 1: no element has the 4 corners of surface vertex 0"},
        {"1 8 0.4 6 0.2 1 0.1 2 0.3\n", "weights for 1 of 2 surface vertices"},
        {"1 8 0.4 6 0.2 1 0.1 2 0.3\n1 8 0.4 6 0.2 1 0.1 2 0.3\n", "line 2: surface vertex 1 occurs twice"},
        {"\n2 8 0.4 6 0.2 1 0.1 2 0.3\n", "line 2: '2' is no number of one of the 2 surface vertices"},
        {"1 9 0.4 6 0.2 1 0.1 2 0.3\n", "line 1: '9' is no number of one of the 9 vertices"},
        {"1 8 0.4 6 0.2 1 0.1 2 0.4\n", "line 1: the weights of surface vertex 1 sum to 1.1"},
        {"1 8 0.4 6 0.2 1 nan 2 0.4\n", "line 1: weight: expected a finite number, found \"nan\""},
        {"1 8 0.4 6 0.2 1 0.1 2\n", "line 1: the last weight is missing"},
        {"1 8 0.4 6 0.2 1 0.4\n", "line 1: surface vertex 1 has 3 weights"},
        {"1 8 0.4 8 0.2 1 0.1 2 0.3\n", "line 1: vertex 8 occurs twice"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int status =
            sp_volume_parse_interp(&context, wrong[i][0], (int64_t)strlen(wrong[i][0]), 2, x, 1, triangle, &mesh);
        CHECK(status == SP_INPUT && strstr(context.message, wrong[i][1]), "%s instead of %s", context.message,
              wrong[i][1]);
        CHECK(mesh.surface.vertex_count == 2 && mesh.surface.element[1] == 1, "the surface has changed");
    }
    triangle[2] = 2;
    int status = sp_volume_parse_interp(&context, interp, (int64_t)strlen(interp), 2, x, 1, triangle, &mesh);
    CHECK(status == SP_INPUT && strstr(context.message, "surface triangle 0 names vertex 2 of 2"), "%s",
          context.message);
}

/* Coordinates are rounded as strtod rounds them. */
TEST(numbers)
{
    static const char *const list[] = {"0.1",
                                       "-4.70296142857143",
                                       "1.20000000E+001",
                                       "123456789012345678901234567890",
                                       "2.2250738585072014e-308",
                                       "4.9e-324",
                                       "-0",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "0.000000000000000000000000123",
                                       "+.5e-3",
                                       "5.e1",
                                       "00000000000000000000001",
                                       "179769313486231570e291",
                                       "8.98846567431158e307",
                                       "3.0000000000000000000001e-5"};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[1024];
        OWNED(sp_mesh) mesh;
        snprintf(
            text, sizeof text,
            "*VERTICES\n4 3 0 0\n1 %s 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n" VEG_MATERIAL
                VEG_REGION,
            list[i]);
        CHECK_OK(sp_volume_parse_veg(&context, text, (int64_t)strlen(text), NULL, &mesh, NULL));
        double expected = strtod(list[i], NULL);
        CHECK(mesh.vertices && memcmp(&mesh.vertices[0], &expected, sizeof expected) == 0, "%s gives %.17g", list[i],
              mesh.vertices ? mesh.vertices[0] : 0);
    }
}
