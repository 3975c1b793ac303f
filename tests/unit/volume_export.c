/* Export and import of meshes: vertices to the last bit, elements in their order, regions, fixed components and
 * materials where the format has a place for them; the order of CalculiX's constants; refusals of each format. */
#include "formats/export/volume_write.h"
#include "formats/export/vtu.h"
#include "volume_test.h"

#include <unistd.h>

enum { NAME_LOST = 1, FIXED = 2, MATERIALS = 4 };

/* Two cubes with a side of 1/3, the second one above the first, and two tetrahedra on an edge of it: regions 1 0 | 0 1,
 * all in the order in which blocks by region would not keep them. */
static void make_mesh(bool hexahedra, bool tetrahedra, sp_mesh *mesh)
{
    static const int64_t hex[16] = {0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 10, 11},
                         tet[8] = {1, 2, 5, 12, 2, 5, 12, 13};
    static const int64_t region[4] = {1, 0, 0, 1};
    double vertices[42], third = 1.0 / 3;
    for (int v = 0; v < 12; v++) {
        vertices[3 * v] = third * (v % 4 == 1 || v % 4 == 2);
        vertices[3 * v + 1] = third * (v % 4 >= 2);
        vertices[3 * v + 2] = third * (v / 4);
    }
    const double more[6] = {0.7, -0.1, 0.2, 1e-17, 0.4 + 1e-16, 0.9 * M_PI};
    memcpy(vertices + 36, more, sizeof more);
    *mesh = (sp_mesh){.vertex_count = 14, .quadrature = 2, .material_count = 2, .fixed_count = 4};
    mesh->block[SP_HEX8].count = hexahedra ? 2 : 0;
    mesh->block[SP_TET4].count = tetrahedra ? 2 : 0;
    if (!tetrahedra)
        mesh->vertex_count = 12;
    /* Without the hexahedra only five vertices have an element: the tetrahedra get the lowest numbers. */
    int64_t alone[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    if (!hexahedra) {
        static const int kept[5] = {1, 2, 5, 12, 13};
        for (int i = 0; i < 5; i++)
            memmove(vertices + 3 * i, vertices + 3 * kept[i], 3 * sizeof *vertices);
        mesh->vertex_count = 5;
    }
    mesh->vertices = sp_pool_copy(&mesh->pool, vertices, mesh->vertex_count, 3 * sizeof *vertices);
    mesh->block[SP_HEX8].node = sp_pool_copy(&mesh->pool, hex, mesh->block[SP_HEX8].count, 8 * sizeof *hex);
    mesh->block[SP_TET4].node =
        sp_pool_copy(&mesh->pool, hexahedra ? tet : alone, mesh->block[SP_TET4].count, 4 * sizeof *tet);
    mesh->region = sp_pool_copy(&mesh->pool, region + (hexahedra ? 0 : 2),
                                mesh->block[SP_HEX8].count + mesh->block[SP_TET4].count, sizeof *region);
    mesh->fixed = sp_pool_copy(&mesh->pool, (int64_t[]){0, 1, 3, 4}, 4, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_copy(&mesh->pool, (uint8_t[]){7, 5, 7, 2}, 4, 1);
    mesh->surface.width = hexahedra ? 8 : 4;
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
    mesh->materials[0] = (sp_material){.name = "soft",
                                       .law = SP_LAW_STVK,
                                       .density = 1000 / 3.0,
                                       .young = 1e6 / 7,
                                       .poisson = 0.1 + 0.2,
                                       .damping_mass = 0.3,
                                       .damping_stiffness = 1e-3 / 3};
    mesh->materials[1] =
        (sp_material){.name = "Rubber-2", .law = SP_LAW_MOONEY_RIVLIN, .density = 1100, .mooney = {2e4, 5e4 / 3, 4e6}};
    CHECK(!mesh->pool.failed && sp_mesh_check(&context, mesh, 1e-9) == SP_OK, "%s", context.message);
}

/* What a writer wrote, closed by a zero byte. */
struct written {
    FILE *file;
    char *bytes;
    int64_t count;
};

static int begin(struct written *w)
{
    w->file = tmpfile();
    return w->file ? fileno(w->file) : -1;
}

static void end(struct written *w)
{
    w->count = w->file ? lseek(fileno(w->file), 0, SEEK_END) : 0;
    w->bytes = calloc((size_t)w->count + 1, 1);
    CHECK(w->file && pread(fileno(w->file), w->bytes, (size_t)w->count, 0) == (ssize_t)w->count, "nothing to be read");
    if (w->file)
        fclose(w->file);
}

static void drop(struct written *w)
{
    free(w->bytes);
}

static void check_members(const char *name, const sp_mesh *a, const sp_mesh *b, int kept)
{
    CHECK(a->vertex_count == b->vertex_count && a->block[SP_HEX8].count == b->block[SP_HEX8].count &&
              a->block[SP_TET4].count == b->block[SP_TET4].count,
          "%s: %lld, %lld, %lld", name, (long long)b->vertex_count, (long long)b->block[SP_HEX8].count,
          (long long)b->block[SP_TET4].count);
    if (a->vertex_count != b->vertex_count || a->block[SP_HEX8].count != b->block[SP_HEX8].count ||
        a->block[SP_TET4].count != b->block[SP_TET4].count)
        return;
    CHECK(!memcmp(a->vertices, b->vertices, 24 * (size_t)a->vertex_count), "%s: vertices", name);
    CHECK(!memcmp(a->block[SP_HEX8].node, b->block[SP_HEX8].node, 64 * (size_t)a->block[SP_HEX8].count),
          "%s: hexahedra", name);
    CHECK(!memcmp(a->block[SP_TET4].node, b->block[SP_TET4].node, 32 * (size_t)a->block[SP_TET4].count),
          "%s: tetrahedra", name);
    CHECK(!memcmp(a->region, b->region, 8 * (size_t)sp_mesh_element_count(a)), "%s: regions", name);
    CHECK(b->material_count == 2, "%s: %lld regions", name, (long long)b->material_count);
    for (int64_t m = 0; m < 2 && b->material_count == 2; m++) {
        const sp_material *p = &a->materials[m], *q = &b->materials[m];
        CHECK((kept & NAME_LOST) || !strcmp(p->name, q->name), "%s: %s is %s", name, p->name, q->name);
        if (!(kept & MATERIALS))
            continue;
        CHECK(p->law == q->law && p->density == q->density, "%s: law %d, density %.17g", name, q->law, q->density);
        if (p->law == SP_LAW_STVK)
            CHECK(p->young == q->young && p->poisson == q->poisson, "%s: %.17g, %.17g", name, q->young, q->poisson);
        for (int i = 0; i < 3 && p->law == SP_LAW_MOONEY_RIVLIN; i++)
            CHECK_NEAR(q->mooney[i], p->mooney[i], 3e-16 * p->mooney[i]); /* 1/(1/v) */
    }
    if (!(kept & FIXED))
        return;
    CHECK(b->fixed_count == a->fixed_count, "%s: %lld fixed", name, (long long)b->fixed_count);
    for (int64_t i = 0; i < a->fixed_count && b->fixed_count == a->fixed_count; i++)
        CHECK(a->fixed[i] == b->fixed[i] && a->fixed_axes[i] == b->fixed_axes[i], "%s: vertex %lld holds %d", name,
              (long long)b->fixed[i], b->fixed_axes[i]);
}

static int vtu_write(int descriptor, const sp_mesh *mesh)
{
    sp_vtu_array region = {.name = "region", .cells = true, .components = 1, .whole = mesh->region};
    return sp_vtu_write(&context, descriptor,
                        &(sp_vtu){.vertex_count = mesh->vertex_count,
                                  .vertices = mesh->vertices,
                                  .block[SP_HEX8].count = mesh->block[SP_HEX8].count,
                                  .block[SP_TET4].count = mesh->block[SP_TET4].count,
                                  .block[SP_HEX8].node = mesh->block[SP_HEX8].node,
                                  .block[SP_TET4].node = mesh->block[SP_TET4].node,
                                  .arrays = &region,
                                  .array_count = 1});
}

/* The first six hold both types of element in one file. */
static const char *const format_names[] = {"msh 4.1", "msh 2.2", "medit", "vtk", "vtu", "inp", "veg", "tetgen"};

/* The file with the elements, where there are two. */
static int write_as(int format, int descriptor, const sp_mesh *mesh)
{
    switch (format) {
    case 0:
        return sp_msh_write(&context, descriptor, 4, mesh);
    case 1:
        return sp_msh_write(&context, descriptor, 2, mesh);
    case 2:
        return sp_medit_write(&context, descriptor, mesh);
    case 3:
        return sp_vtk_write(&context, descriptor, mesh);
    case 4:
        return vtu_write(descriptor, mesh);
    case 5:
        return sp_inp_write(&context, descriptor, mesh);
    case 6:
        return sp_veg_write(&context, descriptor, mesh);
    default:
        return sp_tetgen_write_elements(&context, descriptor, mesh);
    }
}

static int open_nodes(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    const struct written *nodes = data;
    *bytes = nodes->bytes;
    *count = nodes->count;
    return strcmp(name, "a.node") ? sp_fail(c, SP_INPUT, "no %s", name) : SP_OK;
}

static int read_as(int format, const struct written *w, struct written *nodes, sp_mesh *mesh, sp_notes *notes)
{
    sp_includes includes = {open_nodes, nodes};
    switch (format) {
    case 0:
    case 1:
        return sp_volume_parse_msh(&context, w->bytes, w->count, &steel, mesh, notes);
    case 2:
        return sp_volume_parse_medit(&context, w->bytes, w->count, &steel, mesh, notes);
    case 3:
        return sp_volume_parse_vtk(&context, w->bytes, w->count, &steel, mesh, notes);
    case 4:
        return sp_volume_parse_vtu(&context, w->bytes, w->count, &steel, mesh, notes);
    case 5:
        return sp_volume_parse_inp(&context, w->bytes, w->count, NULL, &steel, mesh, NULL, NULL, notes);
    case 6:
        return sp_volume_parse_veg(&context, w->bytes, w->count, NULL, mesh, notes);
    default:
        return sp_volume_parse_tetgen(&context, "a.ele", w->bytes, w->count, &includes, &steel, mesh, notes);
    }
}

static void go_and_come_back(const sp_mesh *mesh)
{
    for (int f = 0; f < 6; f++) {
        struct written w;
        sp_mesh back;
        sp_notes notes;
        int descriptor = begin(&w), status, kept = f == 5 ? FIXED | MATERIALS : f < 2 ? 0 : NAME_LOST;
        CHECK_OK(write_as(f, descriptor, mesh));
        end(&w);
        status = read_as(f, &w, NULL, &back, &notes);
        CHECK(status == SP_OK, "%s: %s", format_names[f], context.message);
        if (status == SP_OK) {
            CHECK(notes.count == 0, "%s: %s", format_names[f], notes.line[0]);
            check_members(format_names[f], mesh, &back, kept);
            if (f == 5)
                for (int64_t m = 0; m < back.material_count; m++)
                    CHECK(fabs(back.materials[m].damping_mass - mesh->materials[m].damping_mass) <=
                                  1e-13 * mesh->materials[m].damping_mass &&
                              fabs(back.materials[m].damping_stiffness - mesh->materials[m].damping_stiffness) <=
                                  1e-13 * mesh->materials[m].damping_stiffness,
                          "damping of material %lld", (long long)m); /* in fields of 20 characters */
            sp_mesh_free(&back);
        }
        drop(&w);
    }
}

TEST(every_kind_of_mesh)
{
    for (int kind = 1; kind < 4; kind++) {
        OWNED(sp_mesh) mesh;
        make_mesh(kind & 1, kind & 2, &mesh);
        go_and_come_back(&mesh);
    }
}

TEST(tetgen)
{
    struct written nodes, elements, none;
    OWNED(sp_mesh) back;
    sp_mesh mesh;
    make_mesh(false, true, &mesh);
    CHECK_OK(sp_tetgen_write_nodes(&context, begin(&nodes), &mesh));
    end(&nodes);
    CHECK_OK(sp_tetgen_write_elements(&context, begin(&elements), &mesh));
    end(&elements);
    sp_includes includes = {open_nodes, &nodes};
    CHECK_OK(sp_volume_parse_tetgen(&context, "a.ele", elements.bytes, elements.count, &includes, &steel, &back, NULL));
    check_members("tetgen", &mesh, &back, NAME_LOST);
    sp_mesh_free(&mesh);
    drop(&nodes);
    drop(&elements);
    make_mesh(true, true, &mesh);
    CHECK(sp_tetgen_write_nodes(&context, begin(&none), &mesh) == SP_INPUT &&
              strstr(context.message, "2 elements of type hex"),
          "%s", context.message);
    end(&none);
    CHECK(none.count == 0, "%lld bytes", (long long)none.count);
    drop(&none);
    CHECK(sp_tetgen_write_elements(&context, -1, &mesh) == SP_INPUT, "hexahedra were written");
    sp_mesh_free(&mesh);
}

/* CalculiX refuses numbers of more than 20 characters: only such numbers lose their last digits. */
TEST(inp_fields)
{
    static const double hard[] = {-3.2669788975634284e-05, 1.2345678901234567e-300, -0.00012345678901234567, 0.1 + 0.2,
                                  -123456.78901234567};
    struct written w;
    OWNED(sp_mesh) mesh, back;
    make_mesh(true, true, &mesh);
    for (int i = 0; i < 5; i++)
        mesh.vertices[3 * i] += hard[i];
    mesh.materials[0].density = 1000 + 1.0 / 3;
    CHECK_OK(sp_inp_write(&context, begin(&w), &mesh));
    end(&w);
    for (const char *c = w.bytes; *c; c += strcspn(c, ",\n"), c += strspn(c, ", \n"))
        CHECK(strcspn(c, ",\n") <= 20 || strspn(c, "0123456789+-.eE") < strcspn(c, ",\n"),
              "a field of %d characters: %.40s", (int)strcspn(c, ",\n"), c);
    CHECK_OK(sp_volume_parse_inp(&context, w.bytes, w.count, NULL, &steel, &back, NULL, NULL, NULL));
    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
        CHECK(fabs(back.vertices[i] - mesh.vertices[i]) <= 1e-13 * fabs(mesh.vertices[i]), "%.17g came back as %.17g",
              mesh.vertices[i], back.vertices[i]);
    drop(&w);
}

/* .veg holds one type of element, .bou the vertices that are held in all components. */
TEST(vega)
{
    for (int kind = 1; kind < 4; kind++) {
        struct written w;
        OWNED(sp_mesh) back = {0};
        sp_mesh mesh;
        OWNED(sp_pool) pool = {0};
        int64_t count, *fixed;
        make_mesh(kind & 1, kind & 2, &mesh);
        int status = sp_veg_write(&context, begin(&w), &mesh);
        end(&w);
        if (kind == 3) {
            CHECK(status == SP_INPUT && w.count == 0 && strstr(context.message, "2 hexahedra and 2 tetrahedra"), "%s",
                  context.message);
            drop(&w);
            sp_mesh_free(&mesh);
            continue;
        }
        CHECK(status == SP_OK, "%s", context.message);
        CHECK_OK(sp_volume_parse_veg(&context, w.bytes, w.count, NULL, &back, NULL));
        check_members("veg", &mesh, &back, MATERIALS);
        drop(&w);
        CHECK_OK(sp_bou_write(&context, begin(&w), &mesh));
        end(&w);
        CHECK(!strcmp(w.bytes, "1,4\n"), "%s", w.bytes);
        CHECK_OK(sp_volume_parse_bou(&context, w.bytes, w.count, &pool, &count, &fixed));
        CHECK(count == 2 && fixed[0] == 0 && fixed[1] == 3, "%lld fixed", (long long)count);
        drop(&w);
        CHECK(sp_veg_cubes(&mesh), "not cubes");
        if (kind == 1) {
            mesh.vertices[3] *= 1.001;
            CHECK(!sp_veg_cubes(&mesh), "a distorted one is taken for a cube");
        }
        memset(mesh.fixed_axes, 3, 4);
        CHECK(sp_bou_write(&context, -1, &mesh) == SP_INPUT, "nothing is held");
        CHECK(sp_interp_write(&context, -1, &mesh) == SP_INPUT && strstr(context.message, "no embedded surface"), "%s",
              context.message);
        sp_mesh_free(&mesh);
    }
}

/* Whether the place that was named, "element 3 (line 27)", has the corners of the element in it. */
static bool names_line(const char *inverted, const char *text, const int64_t *corner, int width, int base,
                       const char *between)
{
    char due[160] = "";
    long long number, line;
    if (sscanf(inverted, "element %lld (line %lld", &number, &line) != 2)
        return false;
    for (int a = 0; a < width; a++)
        snprintf(due + strlen(due), sizeof due - strlen(due), "%s%lld", a ? between : "", (long long)corner[a] + base);
    for (; line > 1 && text; line--)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    const char *found = text ? strstr(text, due) : NULL;
    return found && found < text + strcspn(text, "\n");
}

/* The second element of each type is inverted: every reader reports how many there are and where the first one is, and
 * turning gives the correct mesh. */
TEST(inverted)
{
    for (int f = 0; f < 8; f++)
        for (int kind = f < 6 ? 1 : f == 6 ? 1 : 2; kind < (f < 6 ? 4 : 3); kind++) {
            struct written w, nodes = {0};
            OWNED(sp_mesh) mesh, good, back;
            sp_notes notes;
            make_mesh(kind & 1, kind & 2, &mesh);
            make_mesh(kind & 1, kind & 2, &good);
            for (int a = 0; a < 8 && kind & 1; a++)
                mesh.block[SP_HEX8].node[8 + a] = good.block[SP_HEX8].node[8 + (a + 4) % 8];
            if (kind & 2) {
                mesh.block[SP_TET4].node[6] = good.block[SP_TET4].node[7];
                mesh.block[SP_TET4].node[7] = good.block[SP_TET4].node[6];
            }
            if (f == 7) {
                CHECK_OK(sp_tetgen_write_nodes(&context, begin(&nodes), &mesh));
                end(&nodes);
            }
            int descriptor = begin(&w);
            CHECK_OK(write_as(f, descriptor, &mesh));
            end(&w);
            CHECK_OK(read_as(f, &w, &nodes, &back, &notes));
            int count = (kind & 1) + (kind >> 1);
            CHECK(sp_mesh_inverted(&back, false) == count, "%s: %lld of %d", format_names[f],
                  (long long)sp_mesh_inverted(&back, false), count);
            if (f == 4)
                CHECK(!strncmp(notes.inverted, "element 1 (byte ", 16), "%s: '%s'", format_names[f], notes.inverted);
            else
                CHECK(names_line(notes.inverted, w.bytes,
                                 kind & 1 ? mesh.block[SP_HEX8].node + 8 : mesh.block[SP_TET4].node + 4,
                                 kind & 1 ? 8 : 4, f != 3, f == 5 ? ", " : " "),
                      "%s, mesh %d: '%s'", format_names[f], kind, notes.inverted);
            CHECK(sp_mesh_inverted(&back, true) == count, "%s: not all are turned", format_names[f]);
            check_members(format_names[f], &good, &back, NAME_LOST);
            drop(&w);
            drop(&nodes);
        }
}

/* A stiffness with known engineering constants, from the compliance written out here. */
TEST(orthotropic)
{
    static const double E[3] = {3e6, 1e6, 2e6}, nu[3] = {0.3, 0.12, 0.2}, G[3] = {4e5, 3e5, 5e5}; /* 12, 23, 31 */
    struct written w;
    OWNED(sp_mesh) mesh, back;
    make_mesh(false, true, &mesh);
    sp_material *m = &mesh.materials[1];
    *m = (sp_material){.name = "wood", .law = SP_LAW_LINEAR, .density = 600};
    double S[9] = {1 / E[0],      -nu[0] / E[0], -nu[2] / E[2], -nu[0] / E[0], 1 / E[1],
                   -nu[1] / E[1], -nu[2] / E[2], -nu[1] / E[1], 1 / E[2]};
    double d = det3(S, S + 3, S + 6);
    m->stiffness[0] = (S[4] * S[8] - S[5] * S[7]) / d;
    m->stiffness[1] = (S[2] * S[7] - S[1] * S[8]) / d;
    m->stiffness[2] = (S[1] * S[5] - S[2] * S[4]) / d;
    m->stiffness[6] = (S[0] * S[8] - S[2] * S[6]) / d;
    m->stiffness[7] = (S[2] * S[3] - S[0] * S[5]) / d;
    m->stiffness[11] = (S[0] * S[4] - S[1] * S[3]) / d;
    m->stiffness[15] = G[1];
    m->stiffness[18] = G[2];
    m->stiffness[20] = G[0];
    const double c = cos(0.3), s = sin(0.3), frame[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    memcpy(m->frame, frame, sizeof frame);
    CHECK_OK(sp_veg_write(&context, begin(&w), &mesh));
    end(&w);
    double read[10];
    const char *at = strstr(w.bytes, "ORTHOTROPIC");
    CHECK(at && sscanf(at, "ORTHOTROPIC, %lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf, %lf", read, read + 1, read + 2,
                       read + 3, read + 4, read + 5, read + 6, read + 7, read + 8, read + 9) == 10,
          "%s", at ? at : w.bytes);
    for (int i = 0; i < 3 && at; i++) {
        CHECK_NEAR(read[1 + i], E[i], 1e-13 * E[i]);
        CHECK_NEAR(read[4 + i], nu[i], 1e-14);
        CHECK_NEAR(read[7 + i], G[i], 0);
    }
    CHECK_OK(sp_volume_parse_veg(&context, w.bytes, w.count, NULL, &back, NULL));
    check_members("veg", &mesh, &back, 0);
    for (int i = 0; i < 21; i++)
        CHECK_NEAR(back.materials[1].stiffness[i], m->stiffness[i], 1e-13 * m->stiffness[0]);
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(back.materials[1].frame[i], frame[i], 1e-15);
    drop(&w);
    m->stiffness[4] = 1e3;
    CHECK(sp_veg_write(&context, -1, &mesh) == SP_INPUT && strstr(context.message, "wood is not orthotropic"), "%s",
          context.message);
}

/* Abaqus lists the tensor D_ijkl of type ANISO by these indices; with engineering shear it is the stiffness in Voigt's
 * notation. */
TEST(anisotropic)
{
    static const char *const order[21] = {"1111", "1122", "2222", "1133", "2233", "3333", "1112",
                                          "2212", "3312", "1212", "1113", "2213", "3313", "1213",
                                          "1313", "1123", "2223", "3323", "1223", "1323", "2323"};
    static const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}}, first[6] = {0, 6, 11, 15, 18, 20};
    struct written w;
    OWNED(sp_mesh) mesh;
    sp_mesh back;
    make_mesh(true, true, &mesh);
    sp_material *m = &mesh.materials[0];
    *m = (sp_material){.name = "crystal", .law = SP_LAW_LINEAR, .density = 2600, .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0, n = 0; i < 6; i++)
        for (int j = i; j < 6; j++, n++)
            m->stiffness[n] = i == j ? 1e9 * (10 + i) : 1e7 * (n + 1);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
    CHECK_OK(sp_inp_write(&context, begin(&w), &mesh));
    end(&w);
    char *at = strstr(w.bytes, "*ELASTIC, TYPE=ANISO\n");
    CHECK(at != NULL, "%s", w.bytes);
    if (at) {
        at += strlen("*ELASTIC, TYPE=ANISO\n");
        for (int n = 0; n < 21; n++) {
            int p = voigt[order[n][0] - '1'][order[n][1] - '1'], q = voigt[order[n][2] - '1'][order[n][3] - '1'];
            double value = strtod(at, &at),
                   due = p < q ? m->stiffness[first[p] + q - p] : m->stiffness[first[q] + p - q];
            CHECK(fabs(value - due) <= 1e-6, "D%s is %.17g, not %.17g", order[n], value, due);
            at += strspn(at, ", \n");
        }
    }
    CHECK_OK(sp_volume_parse_inp(&context, w.bytes, w.count, NULL, &steel, &back, NULL, NULL, NULL));
    CHECK(back.materials[0].law == SP_LAW_LINEAR, "law %d", back.materials[0].law);
    for (int i = 0; i < 21; i++)
        CHECK_NEAR(back.materials[0].stiffness[i], m->stiffness[i], 1e-6);
    sp_mesh_free(&back);
    /* C10 is the factor of the first invariant, mu10; C01 of the second, mu01; D1 = 1/v1. */
    double c10, c01, d1;
    at = strstr(w.bytes, "*HYPERELASTIC, MOONEY-RIVLIN\n");
    CHECK(at && sscanf(at, "*HYPERELASTIC, MOONEY-RIVLIN\n%lf, %lf, %lf", &c10, &c01, &d1) == 3, "%s", w.bytes);
    if (at)
        CHECK(c10 == 5e4 / 3 && c01 == 2e4 && d1 == 1 / 4e6, "%g, %g, %g", c10, c01, d1);
    drop(&w);
    /* A law that CalculiX lacks becomes a comment, and the reader of the file reports what is missing. */
    m->law = SP_LAW_NEO_HOOKEAN;
    m->young = 1e6;
    m->poisson = 0.3;
    CHECK(!sp_inp_holds(m), "neo-hookean has no card");
    CHECK_OK(sp_inp_write(&context, begin(&w), &mesh));
    end(&w);
    CHECK(strstr(w.bytes, "** its law, neo-hookean, has no card\n") != NULL, "%s", w.bytes);
    CHECK(sp_volume_parse_inp(&context, w.bytes, w.count, NULL, &steel, &back, NULL, NULL, NULL) == SP_INPUT &&
              strstr(context.message, "crystal has neither *ELASTIC"),
          "%s", context.message);
    drop(&w);
}

/* Weights of both widths; a quotation mark in a name; names that .inp and .veg do not take. */
TEST(surface_and_names)
{
    static const double position[6] = {0.1, 0.2, 0.3, 0, 0, 0};
    static const int64_t triangle[3] = {0, 1, 1};
    struct written w;
    OWNED(sp_mesh) mesh;
    sp_mesh back;
    OWNED(sp_pool) pool = {0};
    char(*name)[SP_NAME_LENGTH];
    make_mesh(true, true, &mesh);
    sp_embedded_surface *surface = &mesh.surface;
    *surface = (sp_embedded_surface){.vertex_count = 2, .triangle_count = 1, .width = 8};
    surface->vertices = sp_pool_copy(&mesh.pool, position, 6, sizeof *position);
    surface->triangles = sp_pool_copy(&mesh.pool, triangle, 3, sizeof *triangle);
    surface->element = sp_pool_copy(&mesh.pool, (int64_t[]){1, 3}, 2, sizeof(int64_t));
    const double weights[16] = {0.125, 0.25,  0.0625, 0.0625, 0.125, 0.125, 0.125, 0.125,
                                0.5,   0.125, 0.25,   0.125,  0,     0,     0,     0};
    surface->weights = sp_pool_copy(&mesh.pool, weights, 16, sizeof *weights);
    CHECK_OK(sp_interp_write(&context, begin(&w), &mesh));
    end(&w);
    back = mesh;
    CHECK_OK(sp_volume_parse_interp(&context, w.bytes, w.count, 2, position, 1, triangle, &back));
    CHECK(back.surface.element[0] == 1 && back.surface.element[1] == 3, "elements %lld %lld",
          (long long)back.surface.element[0], (long long)back.surface.element[1]);
    CHECK(!memcmp(back.surface.weights, weights, sizeof weights), "other weights");
    mesh.pool = back.pool;
    drop(&w);
    strcpy(mesh.materials[0].name, "1 \"soft\", left");
    strcpy(mesh.materials[1].name, "r1__SOFT___left");
    CHECK_OK(sp_plain_names(&context, &mesh, &pool, &name));
    CHECK(!strcmp(name[0], "R1__soft___left") && !strcmp(name[1], "r1__SOFT___left-2"), "%s, %s", name[0], name[1]);
    CHECK(sp_msh_write(&context, -1, 4, &mesh) == SP_INPUT && strstr(context.message, "quotation mark"), "%s",
          context.message);
    memset(mesh.materials[1].name, 'a', SP_NAME_LENGTH - 1);
    memset(mesh.materials[0].name, 'A', SP_NAME_LENGTH - 1);
    CHECK_OK(sp_plain_names(&context, &mesh, &pool, &name));
    CHECK(strlen(name[1]) == SP_NAME_LENGTH - 1 && !strcmp(name[1] + SP_NAME_LENGTH - 3, "-2"), "%s", name[1]);
}

/* A full device is an error of every writer. */
TEST(full_device)
{
    FILE *full = fopen("/dev/full", "w");
    OWNED(sp_mesh) mesh = {0};
    if (!full)
        SKIP("no /dev/full");
    make_mesh(false, true, &mesh);
    int (*const writers[])(sp_context *, int, const sp_mesh *) = {
        sp_medit_write, sp_vtk_write, sp_tetgen_write_nodes, sp_tetgen_write_elements,
        sp_inp_write,   sp_veg_write, sp_bou_write};
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        CHECK(writers[i](&context, fileno(full), &mesh) == SP_SYSTEM, "writer %zu", i);
    CHECK(sp_msh_write(&context, fileno(full), 4, &mesh) == SP_SYSTEM &&
              sp_msh_write(&context, fileno(full), 2, &mesh) == SP_SYSTEM,
          "msh");
    fclose(full);
}
