/* Cubature and the poses that it is trained on: masses, forces and errors computed anew from mesh and basis. */
#include "assembly/elastic.h"
#include "cubature/joint.h"
#include "linear/dense.h"
#include "reduced/linear.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

static double length(int64_t count, const double *a)
{
    return sqrt(sp_dense_dot(count, a, a));
}

/* ---- training ---- */

/* Forces of some poses against Uᵀf(Uq), of the sum of their terms, or of a thousandth of the largest force: near rest
 * nothing but rounding is left. */
static void check_forces(verify *v, artefact *file, const sp_fe_space *body, const double *U)
{
    const sp_poses *poses = &file->poses;
    int64_t rows = 3 * body->mesh->vertex_count, r = poses->r,
            sampled = v->sample < poses->count ? v->sample : poses->count;
    double largest = 0, error = 0;
    sp_pool pool = {0};

    double *u = tool_allocate_raw(&pool, rows, sizeof *u), *f = tool_allocate_raw(&pool, rows, sizeof *f);
    for (int64_t i = 0; i < r * poses->count; i++)
        largest = fmax(largest, fabs(poses->force[i]));

    for (int64_t s = 0; s < sampled; s++) {
        int64_t t = sampled < poses->count ? s * (poses->count - 1) / (sampled > 1 ? sampled - 1 : 1) : s;
        memset(u, 0, (size_t)rows * sizeof *u);
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < rows; i++)
                u[i] += poses->q[t * r + j] * U[j * rows + i];

        sp_elastic_force(v->context, body, u, f);
        for (int64_t j = 0; j < r; j++) {
            double sum = 0, terms = 1e-3 * largest;
            for (int64_t i = 0; i < rows; i++) {
                sum += U[j * rows + i] * f[i];
                terms += fabs(U[j * rows + i] * f[i]);
            }
            double apart = fabs(sum - poses->force[t * r + j]);
            error = verify_worse(terms > 0 ? apart / terms : apart, error);
        }
    }

    char name[100];
    snprintf(name, sizeof name, "forces of %lld poses, of the sum of terms", (long long)sampled);
    verify_number(v, file, name, error, 1e-11);
    sp_pool_free(&pool);
}

void verify_training(verify *v, artefact *file)
{
    artefact *mesh, *basis;
    sp_pool pool = {0};
    if (file->poses.count < file->total)
        verify_note(v, file, "shard", "poses %lld to %lld of %lld", (long long)file->first,
                    (long long)(file->first + file->poses.count) - 1, (long long)file->total);
    if (verify_mesh_and_basis(v, file, "forces", file->poses.r, &mesh, &basis))
        check_forces(v, file, &mesh->body, verify_fixed_columns(&basis->columns, &mesh->body, &pool));
    sp_pool_free(&pool);
}

/* ---- cubature ---- */

/* The error on those of the poses that have a force, and how many these are. */
static double error_on(verify *v, const artefact *file, const sp_fe_space *body, const double *U, const double *K,
                       const sp_poses *poses, int64_t *count)
{
    int64_t r = poses->r;
    double largest = 0, error;
    sp_training *training;
    sp_poses some = {.r = r};

    /* A pose without a force has no relative error. */
    some.q = tool_allocate_raw(&some.pool, r * poses->count, sizeof *some.q);
    some.force = tool_allocate_raw(&some.pool, r * poses->count, sizeof *some.force);
    for (int64_t t = 0; t < poses->count; t++)
        largest = fmax(largest, length(r, poses->force + t * r));
    for (int64_t t = 0; t < poses->count; t++)
        if (length(r, poses->force + t * r) > 1e-12 * largest) {
            memcpy(some.q + some.count * r, poses->q + t * r, (size_t)r * sizeof *some.q);
            memcpy(some.force + some.count++ * r, poses->force + t * r, (size_t)r * sizeof *some.force);
        }

    *count = some.count;
    if (some.count == 0) {
        sp_poses_free(&some);
        return 0;
    }

    const char *metric = json_string_value(json_object_get(json_object_get(file->meta, "parameters"), "metric"));
    double *scale = tool_allocate_raw(&some.pool, r, sizeof *scale);
    for (int64_t j = 0; j < r; j++)
        scale[j] = metric && !strcmp(metric, "energy") ? 1 / sqrt(K[j * r + j]) : 1;

    sp_training_measure measure = {scale, file->cubature.stiffness};
    tool_check(sp_training_new(v->context, body, U, &measure, &some, 0, &training), file->path);
    tool_check(sp_cubature_error(v->context, training, &file->cubature, false, &error, NULL), file->path);

    sp_training_free(training);
    sp_poses_free(&some);
    return error;
}

/* Whether all poses came from files, none at random. */
static bool from_files(const artefact *file)
{
    const json_t *parameters = json_object_get(file->meta, "parameters");
    return json_integer_value(json_object_get(parameters, "poses")) == 0 &&
           !json_is_true(json_object_get(parameters, "incremental"));
}

/* The stated errors against those on a file of training, where all poses came from it: e² is a mean over the poses,
 * since each is scaled to a force of the length 1, so that the errors on those fitted and on those held out give that
 * on all. Else the error is noted. */
static void check_errors(verify *v, artefact *file, const sp_fe_space *body, const double *U, const double *K)
{
    const json_t *result = file->result;
    artefact *own = verify_input(v, file, "training", NULL);
    bool alone = own && json_array_size(json_object_get(file->meta, "inputs")) == 3 && from_files(file);

    for (int64_t i = 0; i < v->count; i++) {
        artefact *other = &v->files[i];
        int64_t count;
        if (strcmp(other->kind, "training") || other->poses.r != file->cubature.r ||
            strcmp(other->basis_hash, file->basis_hash) || strcmp(other->mesh_hash, file->mesh_hash))
            continue;

        double error = error_on(v, file, body, U, K, &other->poses, &count);
        if (!alone || other != own) {
            verify_note(v, file, "error", "%.6e on the %lld poses of %s", error, (long long)count, other->path);
            continue;
        }

        /* The mean of e² over both groups of poses. */
        double fitted = json_number_value(json_object_get(result, "training_error")),
               held_out = json_number_value(json_object_get(result, "held_out_error"));
        int64_t fitted_count = json_integer_value(json_object_get(result, "training_poses")),
                held_out_count = json_integer_value(json_object_get(result, "held_out_poses"));
        verify_fact(v, file, "poses as stated",
                    fitted_count > 0 && fitted_count <= count && held_out_count == count - fitted_count,
                    "%lld (%lld fitted, %lld held out)", (long long)count, (long long)fitted_count,
                    (long long)held_out_count);

        double stated = sqrt((fitted * fitted * (double)fitted_count + held_out * held_out * (double)held_out_count) /
                             (double)count);
        verify_number(v, file, "errors as stated", fabs(error - stated) / fmax(stated, 1e-3), 1e-9);
    }

    if (!alone)
        verify_skip(v, file, "errors as stated",
                    "its poses are not those of one file of training that is among the files");
}

static double sum_of(int64_t count, const double *values)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* What the table of keys cannot say. */
static void check_result(verify *v, const artefact *file)
{
    static const char *const nested[] = {"nested_error", "nested_error_force", "nested_error_energy"};
    const char *metric = json_string_value(json_object_get(file->result, "metric"));
    if (metric && strcmp(metric, "energy") != 0 && strcmp(metric, "force") != 0)
        verify_fact(v, file, "result", false, "\"metric\" is neither energy nor force");
    for (int i = 0; i < 3 && file->cubature.nested; i++)
        if (!json_object_get(file->result, nested[i]))
            verify_fact(v, file, "result", false, "\"%s\" is missing", nested[i]);
}

void verify_cubature(verify *v, artefact *file)
{
    const sp_cubature *cubature = &file->cubature;
    const json_t *stated = json_object_get(file->result, "elements"),
                 *nested = json_object_get(file->result, "nested_elements");
    int64_t columns = cubature->modal ? cubature->r : 1, used = 0;
    artefact *mesh, *basis;
    sp_pool pool = {0};

    if (json_object_get(file->meta, "tool"))
        check_result(v, file);
    if (json_is_integer(stated))
        verify_fact(v, file, "elements as stated", json_integer_value(stated) == cubature->count, "%lld (%lld)",
                    (long long)cubature->count, (long long)json_integer_value(stated));

    if (cubature->nested)
        for (int64_t i = 0; i < cubature->count; i++)
            used += cubature->nested[i] > 0;
    if (json_is_integer(nested) && !cubature->modal)
        verify_fact(v, file, "elements with second weights as stated", json_integer_value(nested) == used,
                    "%lld (%lld)", (long long)used, (long long)json_integer_value(nested));

    verify_note(v, file, "mean sum of weights", "%.6g on %lld elements",
                sum_of(cubature->count * columns, cubature->weight) / (double)columns, (long long)cubature->count);

    if (!verify_mesh_and_basis(v, file, "elements, mass and errors", cubature->r, &mesh, &basis))
        return;
    int64_t elements = sp_mesh_element_count(&mesh->mesh);
    bool in_range = cubature->element[cubature->count - 1] < elements;
    verify_fact(v, file, "elements", in_range, "the last is number %lld of %lld",
                (long long)cubature->element[cubature->count - 1], (long long)elements);

    const double *U = verify_fixed_columns(&basis->columns, &mesh->body, &pool);
    verify_reduced_mass(v, file, &mesh->body, cubature->lumped, cubature->r, U, cubature->mass, cubature->gravity);

    double *K = tool_allocate_raw(&pool, cubature->r * cubature->r, sizeof *K), apart = 0, largest = 0;
    tool_check(sp_reduced_stiffness(v->context, &mesh->body, cubature->r, U, K), file->path);
    if (cubature->stiffness) {
        for (int64_t i = 0; i < cubature->r * cubature->r; i++) {
            apart = verify_worse(fabs(K[i] - cubature->stiffness[i]), apart);
            largest = fmax(largest, fabs(K[i]));
        }
        verify_number(v, file, "stiffness at rest", apart / largest, 1e-11);
    }

    if (in_range)
        check_errors(v, file, &mesh->body, U, K);
    sp_pool_free(&pool);
}
