/* Refusals by the readers of every kind of file, and truncated trajectories. */
#include "formats/pointshell.h"
#include "formats_test.h"

/* ---- refusals by kind ---- */

TEST(columns_refusals)
{
    static const double e[2] = {1, 2}, negative[2] = {1, -2}, bad[12] = {0, 0, 0, 0, 0, NAN},
                        infinite[2] = {1, INFINITY};
    static const int64_t pair[4] = {0, 0, 0, -1};
    const member u = {"U", SP_F8, true, 2, {6, 2}, U}, ev = {"eigenvalue", SP_F8, false, 1, {2}, e},
                 res = {"residual", SP_F8, false, 1, {2}, e};
    const char *modes = META("modes", ",\"mass\":\"lumped\",\"rigid\":0"),
               *basis = META("basis", ",\"mass\":\"consistent\"");
    blob good = make(modes, (member[]){u, ev, res, {0}}, 0);
    CHECK_OK(read_blob(good, false, read_columns, NULL));
    free(good.data);
    REFUSE(make(META("mesh", ""), (member[]){u, {0}}, 0), read_columns, "kind mesh");
    REFUSE(make(modes, (member[]){ev, res, {0}}, 0), read_columns, "member U is missing");
    REFUSE(make(modes, (member[]){u, res, {0}}, 0), read_columns, "member eigenvalue is missing");
    REFUSE(make(modes, (member[]){u, ev, {0}}, 0), read_columns, "member residual is missing");
    REFUSE(make(modes, (member[]){{"U", SP_I8, true, 2, {6, 2}, zero}, ev, res, {0}}, NO_RESULT), read_columns,
           "not result");
    REFUSE(make(modes, (member[]){{"U", SP_I8, true, 2, {6, 1}, zero}, ev, res, {0}}, 0), read_columns,
           "U: its values are i8, expected f8");
    REFUSE(make(modes, (member[]){{"U", SP_F8, true, 1, {12}, U}, ev, res, {0}}, 0), read_columns,
           "U: it has 1 dimensions, expected 2");
    REFUSE(make(modes, (member[]){{"U", SP_F8, true, 2, {3, 2}, U}, ev, res, {0}}, 0), read_columns,
           "U: dimension 0 is 3, expected 6");
    REFUSE(make(modes, (member[]){{"U", SP_F8, true, 2, {6, 0}, U}, ev, res, {0}}, 0), read_columns,
           "6 rows and 0 columns");
    REFUSE(make(modes, (member[]){{"U", SP_F8, true, 2, {6, 2}, bad}, ev, res, {0}}, 0), read_columns,
           "U: value 5 is not finite");
    REFUSE(make(modes, (member[]){u, {"eigenvalue", SP_F8, false, 1, {1}, e}, res, {0}}, 0), read_columns,
           "eigenvalue: dimension 0 is 1");
    REFUSE(make(modes, (member[]){u, {"eigenvalue", SP_F8, false, 1, {2}, infinite}, res, {0}}, 0), read_columns,
           "eigenvalue: value 1");
    REFUSE(make(modes, (member[]){u, ev, {"residual", SP_F8, false, 1, {2}, negative}, {0}}, 0), read_columns,
           "residual: value 1 is -2");
    REFUSE(make(META("modes", ",\"mass\":\"some\",\"rigid\":0"), (member[]){u, ev, res, {0}}, 0), read_columns,
           "expected consistent or lumped");
    REFUSE(make(META("modes", ",\"rigid\":0"), (member[]){u, ev, res, {0}}, 0), read_columns, "\"mass\"");
    REFUSE(make(META("modes", ",\"mass\":\"lumped\",\"rigid\":3"), (member[]){u, ev, res, {0}}, 0), read_columns,
           "\"rigid\" is 3");
    REFUSE(make(META("modes", ",\"mass\":\"lumped\",\"rigid\":0.5"), (member[]){u, ev, res, {0}}, 0), read_columns,
           "\"rigid\"");
    REFUSE(make(META("snapshots", ",\"mesh\":\"12\""), (member[]){u, {0}}, 0), read_columns, "\"mesh\" is not a hash");
    REFUSE(make(META("derivatives", ",\"order\":1"), (member[]){u, {0}}, 0), read_columns, "member pair is missing");
    REFUSE(make(META("derivatives", ",\"order\":0"), (member[]){u, {0}}, 0), read_columns, "\"order\"");
    REFUSE(make(META("derivatives", ",\"order\":1"), (member[]){u, {"pair", SP_I8, false, 2, {2, 2}, pair}, {0}}, 0),
           read_columns, "pair: value (1, 1) is -1");
    REFUSE(make(basis, (member[]){u, {"singular_value", SP_F8, false, 1, {2}, negative}, {0}}, 0), read_columns,
           "singular_value: value 1");
    REFUSE(make(basis, (member[]){u, {"singular_value", SP_F8, false, 2, {1, 2}, e}, {0}}, 0), read_columns,
           "singular_value: it has 2 dimensions");
}

/* The members of the example, `count` of them, with the one called `name` (NULL: none) replaced, or left out where its
 * rank is −1. */
static blob with(const char *meta, const member *members, int count, member other)
{
    member all[16] = {{0}};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool is_other = other.name && !strcmp(members[i].name, other.name);
        if (!is_other || other.rank >= 0)
            all[kept++] = is_other ? other : members[i];
    }
    return make(meta, all, 0);
}

TEST(sparse_refusals)
{
    static const double value[7] = {2, -1, -1, 2, -1, -1, 2}, lopsided[7] = {2, -1, -1.1, 2, -1, -1, 2}, bad[7] = {NAN};
    static const int64_t start[4] = {0, 2, 5, 7}, index[7] = {0, 1, 0, 1, 2, 1, 2}, shape[2] = {3, 3}, wide[2] = {3, 4},
                         dof[3] = {0, 4, 5};
    static const int64_t falls[4] = {0, 5, 2, 7}, far_away[4] = {0, 1000000000, 5, 7}, late[4] = {1, 2, 5, 7},
                         ends[4] = {0, 2, 5, 6};
    static const int64_t out[7] = {0, 1, 0, 1, 3, 1, 2}, under[7] = {-1, 1, 0, 1, 2, 1, 2},
                         unsorted[7] = {1, 0, 0, 1, 2, 1, 2}, repeated[3] = {0, 4, 4};
    const member base[] = {{"indices", SP_I8, false, 1, {7}, index},   {"indptr", SP_I8, false, 1, {4}, start},
                           {"format", SP_BYTES, false, 0, {0}, "csr"}, {"shape", SP_I8, false, 1, {2}, shape},
                           {"data", SP_F8, false, 1, {7}, value},      {"dof", SP_I8, false, 1, {3}, dof}};
    const char *meta = META("sparse", ",\"matrix\":\"M\"");
#define WITH(...) with(meta, base, 6, (member)__VA_ARGS__)
    blob good = WITH({"format", SP_BYTES, false, 0, {0}, "csc"});
    CHECK_OK(read_blob(good, false, read_sparse, NULL));
    free(good.data);
    const char *const needed[] = {"indices", "indptr", "format", "shape", "data"};
    for (int i = 0; i < 5; i++) {
        char words[40];
        snprintf(words, sizeof words, "member %s is missing", needed[i]);
        REFUSE(WITH({.name = needed[i], .rank = -1}), read_sparse, words);
    }
    REFUSE(with(META("sparse", ",\"matrix\":\"C\""), base, 6, (member){0}), read_sparse, "expected K or M");
    REFUSE(with(META("sparse", ""), base, 6, (member){0}), read_sparse, "\"matrix\"");
    REFUSE(with(META("modes", ""), base, 6, (member){0}), read_sparse, "kind modes");
    REFUSE(WITH({"format", SP_BYTES, false, 0, {0}, "coo"}), read_sparse, "it is coo");
    REFUSE(WITH({"format", SP_U1, false, 1, {3}, "csr"}), read_sparse, "its values are u1, expected S");
    REFUSE(WITH({"shape", SP_I8, false, 1, {2}, wide}), read_sparse, "3 by 4");
    REFUSE(WITH({"indptr", SP_I8, false, 1, {3}, start}), read_sparse, "indptr: it has 3 values");
    REFUSE(WITH({"indptr", SP_I8, false, 1, {4}, falls}), read_sparse, "falls from 5 to 2 in row 1");
    REFUSE(WITH({"indptr", SP_I8, false, 1, {4}, far_away}), read_sparse, "falls from 1000000000");
    REFUSE(WITH({"indptr", SP_I8, false, 1, {4}, late}), read_sparse, "from 1 to 7");
    REFUSE(WITH({"indptr", SP_I8, false, 1, {4}, ends}), read_sparse, "from 0 to 6");
    REFUSE(WITH({"indices", SP_I8, false, 1, {6}, index}), read_sparse, "indptr: it goes from 0 to 7, expected 0 to 6");
    REFUSE(WITH({"indices", SP_I8, false, 1, {7}, out}), read_sparse, "");
    REFUSE(WITH({"indices", SP_I8, false, 1, {7}, under}), read_sparse, "");
    REFUSE(WITH({"indices", SP_I8, false, 1, {7}, unsorted}), read_sparse, "");
    REFUSE(WITH({"indices", SP_F8, false, 1, {7}, value}), read_sparse, "indices: its values are f8");
    REFUSE(WITH({"data", SP_F8, false, 1, {7}, lopsided}), read_sparse, "");
    REFUSE(WITH({"data", SP_F8, false, 1, {7}, bad}), read_sparse, "data: value 0 is not finite");
    REFUSE(WITH({"dof", SP_I8, false, 1, {3}, repeated}), read_sparse, "dof: value 2 is 4");
    REFUSE(WITH({"dof", SP_I8, false, 1, {3}, under}), read_sparse, "dof: value 0 is -1");
    REFUSE(WITH({"dof", SP_I8, false, 1, {2}, dof}), read_sparse, "dof: dimension 0 is 2");
#undef WITH
}

TEST(polynomials_refusals)
{
    static double lopsided[25], bad[25];
    sp_polynomial_part parts[2];
    sp_polynomials p = polynomials_example(parts, 1);
    memcpy(lopsided, gram_a, sizeof lopsided);
    memcpy(bad, gram_a, sizeof bad);
    lopsided[5 * 4 + 1] += 1e-6;
    bad[24] = INFINITY;
    const member base[] = {{"mass", SP_F8, true, 2, {2, 2}, p.mass},
                           {"gravity", SP_F8, false, 2, {2, 3}, p.gravity},
                           {"gram", SP_F8, true, 2, {5, 5}, gram_a}};
#define PARTS ",\"parts\":[{\"group\":\"all\",\"constant\":\"all\",\"value\":1}]"
#define REST ",\"r\":2,\"density\":1"
    const char *meta = META("polynomials", REST PARTS);
#define WITH(...) with(meta, base, 3, (member)__VA_ARGS__)
    blob good = WITH({0});
    CHECK_OK(read_blob(good, false, read_polynomials, NULL));
    free(good.data);
    REFUSE(with(NULL, base, 3, (member){0}), read_polynomials, "not a file of Supple");
    REFUSE(with(META("basis", REST PARTS), base, 3, (member){0}), read_polynomials, "kind basis");
    REFUSE(WITH({.name = "gram", .rank = -1}), read_polynomials, "member gram is missing");
    REFUSE(WITH({.name = "mass", .rank = -1}), read_polynomials, "member mass is missing");
    REFUSE(WITH({.name = "gravity", .rank = -1}), read_polynomials, "member gravity is missing");
    REFUSE(WITH({"gram", SP_F8, true, 2, {5, 4}, gram_a}), read_polynomials, "gram: dimension 1 is 4, expected 5");
    REFUSE(WITH({"gram", SP_F8, true, 2, {5, 5}, lopsided}), read_polynomials,
           "gram: it is not symmetric: entries (4, 1)");
    REFUSE(WITH({"gram", SP_F8, true, 2, {5, 5}, bad}), read_polynomials, "gram: value 24 is not finite");
    REFUSE(WITH({"mass", SP_F8, true, 2, {2, 2}, lopsided + 20}), read_polynomials, "mass: it is not symmetric");
    REFUSE(WITH({"gravity", SP_F8, false, 2, {3, 2}, p.gravity}), read_polynomials, "gravity: dimension 0 is 3");
    const struct {
        const char *meta, *words;
    } table[] = {
        {META("polynomials", ",\"density\":1" PARTS), "\"r\""},
        {META("polynomials", ",\"r\":0,\"density\":1" PARTS), "\"r\" is 0"},
        {META("polynomials", ",\"r\":9007199254740993,\"density\":1" PARTS), "\"r\" is 9007199254740993"},
        {META("polynomials", ",\"r\":3,\"density\":1" PARTS), "mass: dimension 0 is 2, expected 3"},
        {META("polynomials", ",\"r\":2,\"density\":0" PARTS), "\"density\" is 0"},
        {META("polynomials", REST), "\"parts\""},
        {META("polynomials", REST ",\"parts\":[]"), "\"parts\""},
        {META("polynomials", REST ",\"parts\":[1]"), "\"parts\""},
        {META("polynomials", REST ",\"parts\":[{\"group\":\"all\",\"constant\":\"nu\",\"value\":1}]"),
         "none of all, lambda, mu"},
        {META("polynomials", REST ",\"parts\":[{\"group\":\"\",\"constant\":\"mu\",\"value\":1}]"), "is empty"},
        {META("polynomials", REST ",\"parts\":[{\"group\":\"all\",\"constant\":\"mu\"}]"), "\"value\""},
        {META("polynomials", REST ",\"parts\":[{\"group\":\"all\",\"constant\":\"mu\",\"value\":1}]"),
         "member gram/000000 is missing"},
        {META("polynomials", REST ",\"parts\":[{\"group\":\"a\",\"constant\":\"mu\",\"value\":1},{\"group\":\"a\","
                                  "\"constant\":\"mu\",\"value\":2}]"),
         "occurs twice"},
        {META("polynomials", REST PARTS ",\"basis\":7"), "\"basis\" is not a hash"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        REFUSE(with(table[i].meta, base, 3, (member){0}), read_polynomials, table[i].words);
#undef WITH
    /* masses of regions */
    static const double masses[8] = {1, 0.5, 0.5, 2, 1, 0, 0.1, 1}, gravities[12] = {1};
    const member grouped[] = {base[0],
                              base[1],
                              base[2],
                              {"group_mass", SP_F8, false, 3, {1, 2, 2}, masses},
                              {"group_gravity", SP_F8, false, 3, {1, 2, 3}, gravities}};
#define GROUPS(text) META("polynomials", REST PARTS ",\"groups\":" text)
#define ONE "[{\"group\":\"a\",\"density\":1000}]"
#define WITH(...) with(GROUPS(ONE), grouped, 5, (member)__VA_ARGS__)
    good = WITH({0});
    CHECK_OK(read_blob(good, false, read_polynomials, NULL));
    free(good.data);
    REFUSE(WITH({.name = "group_mass", .rank = -1}), read_polynomials, "member group_mass is missing");
    REFUSE(WITH({.name = "group_gravity", .rank = -1}), read_polynomials, "member group_gravity is missing");
    REFUSE(WITH({"group_mass", SP_F8, false, 3, {1, 2, 2}, masses + 4}), read_polynomials,
           "group_mass: matrix 0: it is not symmetric");
    REFUSE(WITH({"group_mass", SP_F8, false, 3, {2, 2, 2}, masses}), read_polynomials,
           "group_mass: dimension 0 is 2, expected 1");
    const struct {
        const char *meta, *words;
    } bad_groups[] = {
        {GROUPS("{}"), "\"groups\" is no array"},
        {GROUPS("[]"), "\"groups\" is no array"},
        {GROUPS("[7]"), "an entry of \"groups\""},
        {GROUPS("[{\"group\":\"a\"}]"), "\"density\""},
        {GROUPS("[{\"group\":\"\",\"density\":1}]"), "is empty"},
        {GROUPS("[{\"group\":\"a\",\"density\":0}]"), "density of group a is 0"},
        {META("polynomials", REST PARTS ",\"symmetrized\":1"), "\"symmetrized\""},
    };
    for (size_t i = 0; i < sizeof bad_groups / sizeof *bad_groups; i++)
        REFUSE(with(bad_groups[i].meta, grouped, 5, (member){0}), read_polynomials, bad_groups[i].words);
#undef WITH
#undef ONE
#undef GROUPS
}

TEST(mesh_refusals)
{
    static const int64_t out[8] = {0, 1, 2, 3, 4, 5, 6, 8}, one[1] = {1};
    static double bad[24];
    memcpy(bad, cube, sizeof bad);
    bad[7] = NAN;
    const member base[] = {{"vertices", SP_F8, false, 2, {8, 3}, cube},
                           {"hex", SP_I8, false, 2, {1, 8}, corners},
                           {"region", SP_I8, false, 1, {1}, zero},
                           {"fixed", SP_I8, false, 1, {0}, zero}};
#define STVK "\"materials\":[{\"name\":\"a\",\"law\":\"stvk\",\"density\":1,\"young\":1,\"poisson\":0.3}]"
    const char *meta = META("mesh", ",\"quadrature\":3," STVK);
#define WITH(...) with(meta, base, 4, (member)__VA_ARGS__)
    blob good = WITH({0});
    CHECK_OK(read_blob(good, false, read_mesh, NULL));
    free(good.data);
    REFUSE(WITH({.name = "vertices", .rank = -1}), read_mesh, "member vertices is missing");
    REFUSE(WITH({.name = "hex", .rank = -1}), read_mesh, "no elements");
    REFUSE(WITH({.name = "region", .rank = -1}), read_mesh, "member region is missing");
    REFUSE(WITH({.name = "fixed", .rank = -1}), read_mesh, "member fixed is missing");
    REFUSE(WITH({"vertices", SP_F8, false, 2, {8, 3}, bad}), read_mesh, "vertices: value 7 is not finite");
    REFUSE(WITH({"vertices", SP_F8, false, 2, {12, 2}, cube}), read_mesh, "vertices: dimension 1 is 2");
    REFUSE(WITH({"hex", SP_I8, false, 2, {1, 8}, out}), read_mesh, "8");
    REFUSE(WITH({"region", SP_I8, false, 1, {1}, one}), read_mesh, "region");
    REFUSE(WITH({"region", SP_I8, false, 1, {2}, zero}), read_mesh, "region: dimension 0 is 2, expected 1");
    REFUSE(WITH({"fixed", SP_I8, false, 1, {1}, out + 7}), read_mesh, "fixed");
    REFUSE(with(META("mesh", "," STVK), base, 4, (member){0}), read_mesh, "\"quadrature\"");
    REFUSE(with(META("mesh", ",\"quadrature\":4," STVK), base, 4, (member){0}), read_mesh, "quadrature");
    REFUSE(with(META("mesh", ",\"quadrature\":3"), base, 4, (member){0}), read_mesh, "\"materials\"");
#undef WITH
#define FIBRES(direction)                                                                                              \
    "\"materials\":[{\"name\":\"a\",\"law\":\"stvk\",\"density\":1,\"young\":1,\"poisson\":0.3,\"fibre\":\"stvk\","    \
    "\"fibre_stiffness\":1,"                                                                                           \
    "\"fibre_direction\":" direction "}]"
    meta = META("mesh", ",\"quadrature\":3," FIBRES("[1,0,0]"));
#define FIBRE(...) with(meta, with_fibre, 5, (member){"fibre", __VA_ARGS__})
    static double along[6] = {0, -1, 0, 0, 1, 0}, longer[3] = {0, 1.1, 0}, number[3] = {0, 1, NAN};
    const member with_fibre[] = {base[0], base[1], base[2], base[3], {"fibre", SP_F8, false, 2, {1, 3}, along}};
    good = FIBRE(SP_F8, false, 2, {1, 3}, along);
    CHECK_OK(read_blob(good, false, read_mesh, NULL));
    free(good.data);
    REFUSE(FIBRE(SP_F8, false, 2, {2, 3}, along), read_mesh, "fibre: dimension 0 is 2, expected 1");
    REFUSE(FIBRE(SP_F8, false, 2, {1, 2}, along), read_mesh, "fibre: dimension 1 is 2");
    REFUSE(FIBRE(SP_F8, false, 1, {3}, along), read_mesh, "fibre");
    REFUSE(FIBRE(SP_I8, false, 2, {1, 3}, out), read_mesh, "fibre");
    REFUSE(FIBRE(SP_F8, false, 2, {1, 3}, longer), read_mesh,
           "fibre: the direction of element 0 has the length 1.1 instead of 1");
    REFUSE(FIBRE(SP_F8, false, 2, {1, 3}, number), read_mesh, "fibre: value 2 is not finite");
    REFUSE(FIBRE(SP_F8, false, 2, {1, 3}, cube), read_mesh,
           "fibre: the direction of element 0 has the length 0 instead of 1");
    meta = META("mesh", ",\"quadrature\":3," STVK);
    REFUSE(FIBRE(SP_F8, false, 2, {1, 3}, along), read_mesh,
           "fibre: element 0 has a direction, but its region \"a\" has no fibres");
#undef FIBRE
    /* a rule is not allowed as a direction in a file */
    meta = META("mesh", ",\"quadrature\":3," FIBRES("{\"helix\":{\"axis\":[1,0,0],\"centre\":[0,0,0],\"angle\":0}}"));
    REFUSE(with(meta, base, 4, (member){0}), read_mesh, "\"fibre_direction\" is not an array of 3 numbers");
}

READER(read_pointshell, sp_pointshell, sp_pointshell_read(&context, &file, into), sp_pointshell_free)

/* Three points in two levels with one coordinate: spheres about the first point alone. */
TEST(pointshell_refusals)
{
    static const double points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, normals[9] = {0, 0, 1, 0, 0.6, 0.8, 1, 0, 0},
                        longer[9] = {0, 0, 1, 0, 0.6, 0.8, 1.1, 0, 0};
    static const double three[3] = {1, 0, 2}, negative[3] = {1, -1e-300, 2},
                        rows[18] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16, 17, -18};
    static const int64_t level[3] = {1, 2, 2}, skipped[3] = {1, 3, 3}, back[3] = {1, 2, 1}, parent[3] = {-1, 0, 0},
                         self[3] = {-1, 0, 1}, none[3] = {0, 0, 0};
    static double nan[18];
    const member base[] = {{"points", SP_F8, false, 2, {3, 3}, points},  {"normals", SP_F8, false, 2, {3, 3}, normals},
                           {"area", SP_F8, false, 1, {3}, three},        {"level", SP_I8, false, 1, {3}, level},
                           {"parent", SP_I8, false, 1, {3}, parent},     {"radius", SP_F8, false, 1, {1}, three},
                           {"Us", SP_F8, false, 3, {3, 3, 1}, rows},     {"dNs", SP_F8, false, 3, {3, 3, 1}, rows + 1},
                           {"dTs", SP_F8, false, 4, {3, 2, 3, 1}, rows}, {"a", SP_F8, false, 2, {1, 1}, three}};
    enum { COUNT = sizeof base / sizeof *base };
    const char *meta = META("pointshell", ",\"points\":3,\"r\":1");
    sp_pointshell pointshell;
    nan[17] = NAN;
#define WITH(...) with(meta, base, COUNT, (member)__VA_ARGS__)
    for (int kept = 0; kept < 2; kept++) {
        blob good = kept ? WITH({0}) : WITH({.name = "dTs", .rank = -1});
        CHECK_OK(read_blob(good, false, read_pointshell, &pointshell));
        CHECK(pointshell.count == 3 && pointshell.levels == 2 && pointshell.modes == 1 && same(pointshell.U, rows, 9) &&
                  same(pointshell.dN, rows + 1, 9),
              "%lld points", (long long)pointshell.count);
        CHECK(kept ? same(pointshell.dT, rows, 18) : !pointshell.dT, "tangents %d", kept);
        /* written again, it reads the same */
        int descriptor = new_file();
        sp_writer *writer;
        json_t *written = json_loads(META("pointshell", ""), 0, NULL), *result = json_object();
        CHECK_OK(sp_writer_open(&context, descriptor, &writer));
        CHECK_OK(sp_pointshell_write(&context, writer, written, &pointshell));
        CHECK_OK(sp_file_write_result(writer, result));
        CHECK_OK(sp_writer_close(writer));
        blob again = blob_of(descriptor);
        close(descriptor);
        sp_pointshell_free(&pointshell);
        CHECK_OK(read_blob(again, true, read_pointshell, &pointshell));
        CHECK(same(pointshell.U, rows, 9) && (kept ? same(pointshell.dT, rows, 18) : !pointshell.dT) &&
                  same(pointshell.parent, parent, 3),
              "written again, kept %d", kept);
        sp_pointshell_free(&pointshell);
        json_decref(written);
        json_decref(result);
        free(again.data);
        free(good.data);
    }
    static const char *const needed[] = {"points", "normals", "area", "level", "parent", "radius", "Us", "dNs", "a"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char words[40];
        snprintf(words, sizeof words, "member %s is missing", needed[i]);
        REFUSE(WITH({.name = needed[i], .rank = -1}), read_pointshell, words);
    }
    REFUSE(with(META("pointshell", ",\"r\":1"), base, COUNT, (member){0}), read_pointshell, "\"points\"");
    REFUSE(with(META("pointshell", ",\"points\":3,\"r\":0"), base, COUNT, (member){0}), read_pointshell, "\"r\"");
    REFUSE(with(META("pointshell", ",\"points\":3,\"r\":2"), base, COUNT, (member){0}), read_pointshell,
           "Us: dimension 2 is 1, expected 2");
    REFUSE(WITH({"normals", SP_F8, false, 2, {3, 3}, longer}), read_pointshell,
           "normals: that of point 2 has the length 1.1");
    REFUSE(WITH({"area", SP_F8, false, 1, {3}, negative}), read_pointshell, "area: value 1 is -1");
    REFUSE(WITH({"level", SP_I8, false, 1, {3}, skipped}), read_pointshell,
           "level: point 1 is of level 3 after one of level 1");
    REFUSE(WITH({"level", SP_I8, false, 1, {3}, back}), read_pointshell,
           "level: point 2 is of level 1 after one of level 2");
    REFUSE(WITH({"parent", SP_I8, false, 1, {3}, self}), read_pointshell, "parent: that of point 2 of level 2 is 1");
    REFUSE(WITH({"parent", SP_I8, false, 1, {3}, none}), read_pointshell, "parent: that of point 0 of level 1 is 0");
    REFUSE(WITH({"radius", SP_F8, false, 1, {1}, negative + 1}), read_pointshell, "radius: value 0 is -1");
    REFUSE(WITH({"a", SP_F8, false, 2, {1, 1}, negative + 1}), read_pointshell, "a: value (0, 0) is -1");
    REFUSE(WITH({"radius", SP_F8, false, 1, {2}, three}), read_pointshell, "radius: dimension 0 is 2, expected 1");
    REFUSE(WITH({"dTs", SP_F8, false, 4, {3, 2, 3, 1}, nan}), read_pointshell, "dTs: value 17 is not finite");
    REFUSE(WITH({"dTs", SP_F8, false, 4, {3, 3, 2, 1}, rows}), read_pointshell, "dTs: dimension 1 is 3, expected 2");
    REFUSE(WITH({"dTs", SP_F8, false, 3, {3, 2, 3}, rows}), read_pointshell, "dTs");
    REFUSE(WITH({"dTs", SP_I8, false, 4, {3, 2, 3, 1}, rows}), read_pointshell, "dTs");
#undef WITH
}

/* ---- trajectories in small blocks, made by hand ---- */

enum { FRAMES = 3 };

typedef struct small {
    double time[FRAMES], q[FRAMES], qdot[FRAMES], energy[4 * FRAMES];
    char name[4][SP_MEMBER_NAME];
} small;

static void small_block(small *block, int number, member *members)
{
    static const char *const series[4] = {"time", "q", "qdot", "energy"};
    *block = (small){0};
    for (int i = 0; i < FRAMES; i++) {
        block->time[i] = number * FRAMES + i;
        block->q[i] = 10 * block->time[i];
        block->qdot[i] = 100 * block->time[i];
    }
    for (int i = 0; i < 4; i++)
        snprintf(block->name[i], SP_MEMBER_NAME, "%s/%06d", series[i], number);
    members[0] = (member){block->name[0], SP_F8, false, 1, {FRAMES}, block->time};
    members[1] = (member){block->name[1], SP_F8, false, 2, {FRAMES, 1}, block->q};
    members[2] = (member){block->name[2], SP_F8, false, 2, {FRAMES, 1}, block->qdot};
    members[3] = (member){block->name[3], SP_F8, false, 2, {FRAMES, 4}, block->energy};
    members[4] = (member){0};
}

static int read_partial(int descriptor, void *to)
{
    sp_trajectory trajectory, *into = to ? to : &trajectory;
    int status = sp_trajectory_read(&context, descriptor, true, into);
    if (status == SP_OK && !to)
        sp_trajectory_free(&trajectory);
    return status;
}

#define TRAJECTORY META("trajectory", ",\"r\":1,\"points\":0,\"vertices\":8")

/* Truncated anywhere, a trajectory gives exactly its complete blocks. */
TEST(partial_trajectory)
{
    enum { BLOCKS = 4 };
    small block;
    member members[5];
    int64_t end[BLOCKS];
    int descriptor = new_file();
    sp_writer *writer;
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    CHECK_OK(sp_writer_text(writer, "meta", TRAJECTORY));
    for (int i = 0; i < BLOCKS; i++) {
        small_block(&block, i, members);
        for (int j = 0; j < 4; j++)
            CHECK_OK(sp_writer_array(writer, members[j].name, SP_F8, false, members[j].rank, members[j].shape,
                                     members[j].data));
        end[i] = lseek(descriptor, 0, SEEK_CUR);
    }
    json_t *result = json_object();
    CHECK_OK(sp_file_write_result(writer, result));
    json_decref(result);
    CHECK_OK(sp_writer_close(writer));
    blob bytes = blob_of(descriptor);
    char whole_hash[SP_HASH_LENGTH] = "";
    for (int64_t size = bytes.size; size >= 0; size--) {
        int whole = 0;
        while (whole < BLOCKS && end[whole] <= size)
            whole++;
        sp_trajectory got;
        if (ftruncate(descriptor, size))
            abort();
        lseek(descriptor, 0, SEEK_SET);
        int status = read_partial(descriptor, &got);
        if (whole == 0) {
            CHECK(status == SP_INPUT, "cut to %d bytes: status %d", (int)size, status);
        } else {
            CHECK(status == SP_OK && got.frame_count == whole * FRAMES && got.truncated == (size < bytes.size),
                  "cut to %d bytes: status %d, %d frames instead of %d, %s", (int)size, status, (int)got.frame_count,
                  whole * FRAMES, context.message);
            for (int64_t i = 0; status == SP_OK && i < got.frame_count; i++)
                CHECK(got.time[i] == (double)i && got.q[i] == 10 * (double)i && got.qdot[i] == 100 * (double)i,
                      "cut to %d: frame %d", (int)size, (int)i);
            if (size == bytes.size)
                memcpy(whole_hash, got.hash, sizeof whole_hash);
            else if (whole == 1)
                CHECK(strcmp(whole_hash, got.hash), "a part has the hash of the whole");
        }
        if (status == SP_OK)
            sp_trajectory_free(&got);
    }
    close(descriptor);
    /* a flipped byte in the data of the third block ends it there */
    blob damaged = text_blob((const char *)bytes.data, bytes.size);
    damaged.data[end[1] + 200] ^= 4; /* 69 bytes of zip, 128 of .npy header, then the times */
    sp_trajectory got;
    int status = read_blob(damaged, false, read_partial, &got);
    CHECK(status == SP_OK && got.frame_count == 2 * FRAMES && got.truncated, "status %d: %s", status, context.message);
    if (status == SP_OK)
        sp_trajectory_free(&got);
    CHECK(read_blob(damaged, false, read_trajectory, NULL) == SP_INPUT, "a damaged one passes without partial");
    free(damaged.data);
    free(bytes.data);
}

/* Two blocks with one member changed by `change`. */
static blob two_blocks(const char *meta, int skip, int block_of, member other)
{
    static small blocks[2];
    member members[9] = {{0}}, all[10] = {{0}};
    small_block(&blocks[0], 0, members);
    small_block(&blocks[1], 1, members + 4);
    int kept = 0;
    for (int i = 0; i < 8; i++) {
        if (i == skip)
            continue;
        all[kept++] = i == block_of ? other : members[i];
    }
    return make(meta, all, 0);
}

TEST(trajectory_refusals)
{
    static const double back[3] = {5, 4, 6}, again[3] = {2, 3, 4}, bad[12] = {0, NAN}, late[4] = {3, 4, 5, 6};
    static const int64_t far[1] = {8};
    const member none = {0};
    const char *meta = TRAJECTORY;
    blob good = two_blocks(meta, -1, -1, none);
    CHECK_OK(read_blob(good, true, read_trajectory, NULL));
    free(good.data);
    /* one column: either order has the same bytes */
    good = two_blocks(meta, -1, 1, (member){"q/000000", SP_F8, true, 2, {3, 1}, bad + 2});
    CHECK_OK(read_blob(good, true, read_trajectory, NULL));
    free(good.data);
    REFUSE(two_blocks(META("mesh", ""), -1, -1, none), read_trajectory, "kind mesh, expected trajectory");
    REFUSE(two_blocks(META("trajectory", ",\"r\":0,\"points\":0,\"vertices\":8"), -1, -1, none), read_trajectory,
           "both 0");
    REFUSE(two_blocks(META("trajectory", ",\"r\":-1,\"points\":0,\"vertices\":8"), -1, -1, none), read_trajectory,
           "\"r\" is -1");
    REFUSE(two_blocks(META("trajectory", ",\"points\":0,\"vertices\":8"), -1, -1, none), read_trajectory, "\"r\"");
    REFUSE(two_blocks(META("trajectory", ",\"r\":2,\"points\":0,\"vertices\":8"), -1, -1, none), read_trajectory,
           "q/000000: dimension 1 is 1, expected 2");
    REFUSE(two_blocks(META("trajectory", ",\"r\":1,\"points\":2,\"vertices\":8"), -1, -1, none), read_trajectory,
           "member time/000001 does not belong to block 0");
    for (int i = 0; i < 4; i++) { /* a member of the first block is missing, then one of the last */
        REFUSE(two_blocks(meta, i, -1, none), read_trajectory, "block 0");
        REFUSE(two_blocks(meta, 4 + i, -1, none), read_trajectory, "block 1 is not whole");
    }
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000001", SP_F8, false, 1, {3}, back}), read_trajectory,
           "frame 4 is at 4 s");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000001", SP_F8, false, 1, {3}, again}), read_trajectory,
           "frame 3 is at 2 s");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000001", SP_F8, false, 1, {0}, again}), read_trajectory,
           "it has no frame");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000002", SP_F8, false, 1, {3}, late}), read_trajectory, "block 1");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/1", SP_F8, false, 1, {3}, late}), read_trajectory, "block 1");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000001", SP_F8, false, 1, {4}, late}), read_trajectory,
           "q/000001: dimension 0 is 3, expected 4");
    REFUSE(two_blocks(meta, -1, 4, (member){"time/000001", SP_I8, false, 1, {3}, zero}), read_trajectory,
           "its values are i8");
    REFUSE(two_blocks(meta, -1, 5, (member){"time/000001", SP_F8, false, 1, {3}, late}), read_trajectory,
           "occurs twice");
    REFUSE(two_blocks(meta, -1, 6, (member){"qdot/000001", SP_F8, false, 1, {3}, late}), read_trajectory,
           "it has 1 dimensions");
    REFUSE(two_blocks(meta, -1, 7, (member){"energy/000001", SP_F8, false, 2, {3, 4}, bad}), read_trajectory,
           "energy/000001: value 1 is not finite");
    REFUSE(make(meta, NULL, 0), read_trajectory, "has no frame");
    small block;
    member m[5];
    small_block(&block, 0, m);
    const char *points = META("trajectory", ",\"r\":0,\"points\":1,\"vertices\":8");
    const member u = {"u/000000", SP_F8, false, 3, {3, 1, 3}, block.energy},
                 udot = {"udot/000000", SP_F8, false, 3, {3, 1, 3}, block.energy};
    const member vertex = {"vertex", SP_I8, false, 1, {1}, zero};
    good = make(points, (member[]){vertex, m[0], u, udot, m[3], {0}}, 0);
    CHECK_OK(read_blob(good, true, read_trajectory, NULL));
    free(good.data);
    REFUSE(make(points, (member[]){m[0], u, udot, m[3], {0}}, 0), read_trajectory, "member vertex is missing");
    REFUSE(make(points, (member[]){m[0], u, udot, m[3], vertex, {0}}, 0), read_trajectory, "vertex");
    REFUSE(make(points, (member[]){vertex, vertex, m[0], u, udot, m[3], {0}}, 0), read_trajectory, "vertex");
    REFUSE(make(points, (member[]){{"vertex", SP_I8, false, 1, {1}, far}, m[0], u, udot, m[3], {0}}, 0),
           read_trajectory, "vertex: value 0 is 8, expected 0 to 7");
    REFUSE(make(points, (member[]){vertex, m[0], m[3], u, {0}}, NO_RESULT), read_trajectory, "block 0 is not whole");
    REFUSE(make(points, (member[]){vertex, m[0], u, udot, m[3], {0}}, NO_RESULT), read_trajectory, "not result");
}

BEFORE_TESTS()
{
    signal(SIGPIPE, SIG_IGN);
}
