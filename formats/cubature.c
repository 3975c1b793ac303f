#include "formats/cubature.h"

#include "formats/kind_tables.h"

#include <string.h>

enum { MOST = 1 << 14 }; /* largest number of reduced coordinates */
static const double MOST_POSES = 1e9;

static int read_head(sp_context *context, const sp_file *file, const char *kind, int64_t *r, char *mesh, char *basis)
{
    if (strcmp(sp_file_kind(file), kind))
        return sp_fail(context, SP_INPUT, "it is %s%.40s, expected %s",
                       file->meta ? "a file of kind " : "not a file of Supple", sp_file_kind(file), kind);
    SP_PASS(sp_json_hash(context, file->meta, "mesh", mesh));
    SP_PASS(sp_json_hash(context, file->meta, "basis", basis));
    return sp_json_integer(context, file->meta, "r", 1, MOST, r);
}

/* ---- the tables; elements and weights are checked by sp_cubature_check ---- */

#define AT(member) .at = offsetof(sp_cubature, member)
#define MODAL .other = "n, r", .other_at = offsetof(sp_cubature, modal)

static const sp_member_rule cubature_rules[] = {
    {"element", "n", SP_I8, AT(element), .meaning = "numbers of elements of the mesh, strictly increasing"},
    {"weight", "n", SP_F8, FORTRAN, AT(weight), MODAL, .meaning = "≥ 0: one for each element"},
    {"nested", "n", SP_F8, FORTRAN, OPTIONAL, AT(nested), MODAL, .meaning = "embedded weights"},
    {"stiffness", "r, r", SP_F8, FORTRAN, OPTIONAL, AT(stiffness), .symmetric = true, .unit = "J",
     .meaning = "UᵀK(0)U of all elements, symmetric"},
    {"mass", "r, r", SP_F8, FORTRAN, AT(mass), .symmetric = true, .unit = "kg", .meaning = "UᵀMU"},
    {"gravity", "r, 3", SP_F8, AT(gravity), .unit = "kg", .meaning = "UᵀM eₓ, UᵀM e_y, UᵀM e_z"},
    {0}};
#undef AT

static const sp_fact cubature_meta[] = {
    {"r", SP_INTEGER, .meaning = "number of coordinates"},
    {"mass", SP_STRING, .when = "optional",
     .meaning = "`consistent` or `lumped`: M of `mass` and `gravity`, in which the basis is orthonormal"},
    {"mesh", SP_HASH, .meaning = "of the mesh; empty if unknown"},
    {"basis", SP_HASH, .meaning = "of the basis; empty if unknown"},
    {0}};

static const sp_fact cubature_result[] = {
    {"rounds", SP_INTEGER, .when = "all methods but `modal` of given poses",
     .meaning = "rounds of the selection, with `--incremental` rounds of poses"},
    {"passes", SP_INTEGER, .when = "all methods but `modal`", .meaning = "passes over the mesh"},
    {"round_poses", SP_INTEGERS, .when = "`--incremental`", .meaning = "of each round: the number of poses so far"},
    {"round_errors", SP_NUMBERS, .when = "`--incremental`", .meaning = "of each round: the error on these poses"},
    {"round_mean_errors", SP_NUMBERS, .when = "`--incremental`",
     .meaning = "of each round: `mean_error` on these poses"},
    {"round_held_out_errors", SP_NUMBERS, .null = true, .when = "`--incremental`",
     .meaning = "of each round: the error on validation poses"},
    {"round_held_out_deviations", SP_NUMBERS, .null = true, .when = "`--incremental`",
     .meaning = "of each round: the mean deviation on validation poses"},
    {"settled", SP_BOOLEAN, .when = "`--incremental`", .meaning = "whether the error changes by less than `--change`"},
    {"placed_elements", SP_INTEGER, .when = "`--method modal`",
     .meaning = "elements that were placed evenly; some have no weight"},
    {"box_edge", SP_NUMBER, .null = true, .unit = "m", .when = "`--method modal`",
     .meaning = "edge of the boxes that the elements were placed in; null: every element was placed"},
    {"mean_error", SP_NUMBER, .when = "`--method modal`", .meaning = "mean of the relative errors of the coordinates"},
    {"kkt", SP_NUMBER, .meaning = "the KKT residual of the weights with respect to all elements, 0 at the minimum"},
    {"iterations", SP_INTEGER, .when = "`--method modal`", .meaning = "changes of the active set, of all coordinates"},
    {"reached", SP_BOOLEAN,
     .meaning = "whether the tolerance was reached, or without one the minimum or the number of `--elements`"},
    {"exchanged", SP_INTEGER, .when = "`--exchanges`", .meaning = "elements that exchanges inserted"},
    {"nested_error", SP_NUMBER, .when = "with `nested`", .meaning = "as `training_error`, for the embedded weights"},
    {"nested_elements", SP_INTEGER, .when = "with `nested`", .meaning = "elements with embedded weights"},
    {"elements", SP_INTEGER, .meaning = "number of elements"},
    {"metric", SP_STRING, .meaning = "`energy` or `force`: the norm of the fit"},
    {"training_poses", SP_INTEGER, .meaning = "poses that were fitted"},
    {"held_out_poses", SP_INTEGER, .meaning = "validation poses, which were not fitted"},
    {"training_error", SP_NUMBER, .meaning = "√(Σ‖f′ − f‖²/‖f‖² / T) over the T fitted poses"},
    {"training_error_force", SP_NUMBER, .null = true,
     .meaning = "the same in the force norm, whatever the norm of the fit; null without fitted poses"},
    {"training_error_energy", SP_NUMBER, .null = true,
     .meaning = "the same in the energy norm; null without fitted poses, or if a column is a rigid motion"},
    {"training_deviation", SP_NUMBER, .null = true, .meaning = "Σ‖f′ − f‖ / Σ‖f‖ over the fitted poses"},
    {"held_out_error", SP_NUMBER, .null = true,
     .meaning = "as `training_error`, on the validation poses; null without them"},
    {"held_out_error_force", SP_NUMBER, .null = true, .meaning = "the same in the force norm"},
    {"held_out_error_energy", SP_NUMBER, .null = true,
     .meaning = "the same in the energy norm; null also if a column is a rigid motion"},
    {"held_out_deviation", SP_NUMBER, .null = true,
     .meaning = "as `training_deviation`, on the validation poses; null without them"},
    {"nested_error_force", SP_NUMBER, .null = true, .when = "with `nested`",
     .meaning = "`nested_error` in the force norm; null without fitted poses"},
    {"nested_error_energy", SP_NUMBER, .null = true, .when = "with `nested`",
     .meaning = "the same in the energy norm; null also if a column is a rigid motion"},
    {"amplitude", SP_NUMBER, .null = true, .unit = "√J", .meaning = "of the random poses; null without them"},
    {"resting_poses", SP_INTEGER, .meaning = "poses without a force, which were left out"},
    {"shrunk_poses", SP_INTEGER,
     .meaning = "random poses that inverted an element, and were halved until they did not"},
    {0}};

const sp_kind sp_kind_cubature = {"cubature",
                                  (const sp_symbol[]){{"r", .at = offsetof(sp_cubature, r), .given = true},
                                                      {"n", .at = offsetof(sp_cubature, count)},
                                                      {0}},
                                  cubature_rules, cubature_meta, cubature_result};

static const sp_fact training_meta[] = {
    {"r", SP_INTEGER, .meaning = "number of coordinates"},
    {"first", SP_INTEGER, .meaning = "the file has the poses `first` … `first` + T − 1 of `total`"},
    {"total", SP_INTEGER, .meaning = "see `first`: a shard if T < total"},
    {"mesh", SP_HASH, .meaning = "of the mesh; empty if unknown"},
    {"basis", SP_HASH, .meaning = "of the basis; empty if unknown"},
    {0}};

static const sp_fact training_result[] = {
    {"amplitude", SP_NUMBER, .null = true, .unit = "√J", .meaning = "of the random poses; null without them"},
    {"shrunk_poses", SP_INTEGER,
     .meaning = "random poses that inverted an element, and were halved until they did not"},
    {0}};

const sp_kind sp_kind_training = {
    "training",
    (const sp_symbol[]){{"r", .at = offsetof(sp_poses, r), .given = true}, {"T", .at = offsetof(sp_poses, count)}, {0}},
    (const sp_member_rule[]){
        {"q", "r, T", SP_F8, FORTRAN, .at = offsetof(sp_poses, q), .meaning = "poses"},
        {"force", "r, T", SP_F8, FORTRAN, .at = offsetof(sp_poses, force), .meaning = "Uᵀf(Uq) of all elements"},
        {0}},
    training_meta, training_result};

int sp_cubature_read(sp_context *context, sp_file *file, int64_t elements, sp_cubature *cubature, char *mesh,
                     char *basis)
{
    int status;
    *cubature = (sp_cubature){0};
    SP_TRY(read_head(context, file, "cubature", &cubature->r, mesh, basis));
    SP_TRY(sp_json_mass(context, file->meta, false, &cubature->lumped));
    SP_TRY(sp_kind_read(context, file, &sp_kind_cubature, cubature));
    SP_TRY(sp_cubature_check(context, cubature, elements < 0 ? INT64_MAX : elements));
    cubature->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *cubature = (sp_cubature){0};
    return status;
}

int sp_cubature_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_cubature *cubature)
{
    if (json_object_set_new(meta, "r", json_integer(cubature->r)) || sp_json_set_mass(meta, cubature->lumped))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_cubature, meta, cubature);
}

int sp_training_read(sp_context *context, sp_file *file, sp_poses *poses, int64_t *first, int64_t *total, char *mesh,
                     char *basis)
{
    int status;
    *poses = (sp_poses){0};

    SP_TRY(read_head(context, file, "training", &poses->r, mesh, basis));
    SP_TRY(sp_json_integer(context, file->meta, "first", 0, (int64_t)MOST_POSES, first));
    SP_TRY(sp_json_integer(context, file->meta, "total", 1, (int64_t)MOST_POSES, total));
    SP_TRY(sp_kind_read(context, file, &sp_kind_training, poses));

    if (poses->count < 1 || poses->count > *total - *first) {
        status = sp_fail(context, SP_INPUT, "it has %lld poses from number %lld on, of %lld", (long long)poses->count,
                         (long long)*first, (long long)*total);
        goto done;
    }

    poses->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *poses = (sp_poses){0};
    return status;
}

int sp_training_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_poses *poses, int64_t first,
                      int64_t total)
{
    if (json_object_set_new(meta, "r", json_integer(poses->r)) ||
        json_object_set_new(meta, "first", json_integer(first)) ||
        json_object_set_new(meta, "total", json_integer(total)))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_training, meta, poses);
}
