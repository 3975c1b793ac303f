/* Poses to train on: frames of trajectories and columns of snapshots, taken into the coordinates of the basis, files of
 * training, and random ones. */
#include "tools/cubature/problem.h"

#include "assembly/elastic.h"
#include "basis/mean_axes.h"
#include "linear/dense.h"
#include "reduced/linear.h"
#include "tools/common/shard.h"
#include "tools/common/trajectory.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARD_STEP = 64 }; /* shards begin where blocks of poses do (cubature/training.c) */

/* Poses that grow: q, and the forces of those that came with them. */
typedef struct pose_list {
    sp_list q, force; /* of double [r] */
    int64_t known;    /* the first so many have forces */
} pose_list;

static double *add(const cubature_problem *p, sp_list *list, int64_t count)
{
    double *added = tool_list_add(list, count * p->r, sizeof *added);
    return added;
}

/* ---- files ---- */

static void take_training(cubature_problem *p, const char *path, const char *option, pose_list *list)
{
    static const char *const kinds[] = {"training", NULL};
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    sp_poses poses;
    sp_file file;
    int64_t first, total;

    tool_read(path, option, kinds, false, &file);
    tool_check(sp_training_read(p->context, &file, &poses, &first, &total, mesh, basis), path);
    sp_file_free(&file);

    tool_check_hash(path, "mesh", mesh, p->mesh.hash);
    tool_check_hash(path, "basis", basis, p->basis.hash);
    if (poses.r != p->r)
        tool_fail(SP_INPUT, path, "its poses have %lld coordinates, not %lld", (long long)poses.r, (long long)p->r);
    if (poses.count < total)
        tool_fail(SP_INPUT, path, "it is a shard, %lld poses of %lld: join it with the others (simmerge)",
                  (long long)poses.count, (long long)total);

    if (list->known * p->r != list->q.count)
        tool_fail(SP_USAGE, path, "name files of training before files of other kinds");

    memcpy(add(p, &list->q, poses.count), poses.q, (size_t)(p->r * poses.count) * sizeof(double));
    memcpy(add(p, &list->force, poses.count), poses.force, (size_t)(p->r * poses.count) * sizeof(double));
    list->known += poses.count;
    sp_poses_free(&poses);
}

/* The coordinates of a displacement: (UᵀMU)⁻¹ UᵀM u, with the factor of UᵀMU. The internal forces of a free body do not
 * depend on its rigid motion, which would be a deformation in the basis. */
typedef struct mass_projector {
    double *MU, *factor; /* [rows, r], [r, r] */
    sp_mean_axes axes;   /* of a free body; else zeroed */
} mass_projector;

static void make_projector(cubature_problem *p, mass_projector *to)
{
    int64_t rows = p->basis.columns.rows, r = p->r, n = p->body.dof_count;
    sp_sparse M;
    if (to->MU)
        return;
    tool_check(sp_fe_space_mass_compressed(p->context, &p->body, false, &M), p->mesh.path);
    sp_metric metric = {.rows = rows, .matrix = &M, .dof = p->body.dof};
    double *work = tool_allocate_raw(&p->pool, 2 * n * r, sizeof *work);
    to->MU = tool_allocate(&p->pool, rows * r, sizeof *to->MU);
    to->factor = tool_allocate_copy(&p->pool, p->mass, r * r, sizeof *to->factor);
    sp_metric_times(p->context, &metric, r, p->basis.columns.U, to->MU, work);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)r, to->factor, (int)r) != 0)
        tool_fail(SP_INPUT, p->basis.path, "its columns are not independent");
    if (n == rows)
        tool_check(sp_mean_axes_new(p->context, &p->body, &M, &to->axes), p->mesh.path);
    sp_pool_drop(&p->pool, work);
    sp_sparse_free(&M);
}

static void project(const cubature_problem *p, const mass_projector *projector, const double *u, double *q)
{
    for (int64_t j = 0; j < p->r; j++)
        q[j] = cblas_ddot((int)p->basis.columns.rows, projector->MU + j * p->basis.columns.rows, 1, u, 1);
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)p->r, 1, projector->factor, (int)p->r, q, (int)p->r);
}

static void take_trajectory(cubature_problem *p, const char *path, const char *option, mass_projector *projector,
                            pose_list *list)
{
    sp_trajectory_stream *stream;
    sp_trajectory block;
    int descriptor = tool_open_input(path);

    tool_check(sp_trajectory_open(p->context, descriptor, false, &stream), path);
    char basis[SP_HASH_LENGTH], mesh[SP_HASH_LENGTH];
    tool_check(sp_json_hash(p->context, sp_trajectory_meta(stream), "basis", basis), path);
    tool_check(sp_json_hash(p->context, sp_trajectory_meta(stream), "mesh", mesh), path);
    tool_check_hash(path, "mesh", mesh, p->mesh.hash);

    for (int64_t frames = 0;; frames += block.frame_count) {
        tool_check(sp_trajectory_next(stream, &block), path);
        if (block.frame_count == 0)
            break;

        bool all = block.u && !block.vertex && block.point_count == p->mesh.mesh.vertex_count,
             ours = block.q && block.r >= p->r && !strcmp(basis, p->basis.hash);
        if (!all && !ours)
            tool_fail(SP_INPUT, path,
                      "it has neither coordinates in this basis nor the displacements of all vertices (simulate "
                      "--record all)");

        for (int64_t f = 0; f < block.frame_count; f++) {
            if ((frames + f) % p->choice->every)
                continue;
            double *q = add(p, &list->q, 1);

            /* Of a longer basis the first coordinates are taken: the nearest pose where the basis is orthonormal. */
            if (ours)
                memcpy(q, block.q + f * block.r, (size_t)p->r * sizeof *q);
            else {
                double *u = block.u + f * p->basis.columns.rows;
                make_projector(p, projector);
                if (projector->axes.mass > 0)
                    sp_mean_axes_deformation(&projector->axes, u);
                project(p, projector, u, q);
            }
        }
    }

    tool_record_input(path, option, block.hash, block.meta);
    sp_trajectory_close(stream);
    tool_close_input(descriptor);
}

static void take_columns(cubature_problem *p, const char *path, const char *option, mass_projector *projector,
                         pose_list *list)
{
    tool_columns file;
    tool_read_columns(path, option, NULL, &p->mesh, &file);
    make_projector(p, projector);
    for (int64_t c = 0; c < file.columns.count; c += p->choice->every)
        project(p, projector, file.columns.U + c * file.columns.rows, add(p, &list->q, 1));
    sp_columns_free(&file.columns);
}

static void take_file(cubature_problem *p, const char *path, const char *option, mass_projector *projector,
                      pose_list *list)
{
    char kind[SP_KIND_LENGTH];
    tool_peek_kind(p->context, path, kind);
    if (!strcmp(kind, "training"))
        take_training(p, path, option, list);
    else if (!strcmp(kind, "trajectory"))
        take_trajectory(p, path, option, projector, list);
    else
        take_columns(p, path, option, projector, list);
}

/* ---- random poses ---- */

static void find_stiffness(cubature_problem *p)
{
    tool_check(sp_elastic_rest_energies(p->context, &p->body, p->r, p->basis.columns.U, p->own_stiffness),
               p->basis.path);
    for (int64_t j = 0; j < p->r; j++)
        p->quotient[j] = p->own_stiffness[j] / p->mass[j * p->r + j];
    if (cubature_keeps_linear(p))
        tool_check(sp_reduced_stiffness(p->context, &p->body, p->r, p->basis.columns.U, p->stiffness), p->basis.path);
}

/* The first column without elastic energy; −1: none. */
static int64_t rigid_column(const cubature_problem *p)
{
    double stiffest = 0;
    for (int64_t j = 0; j < p->r; j++)
        stiffest = fmax(stiffest, p->quotient[j]);
    for (int64_t j = 0; j < p->r; j++)
        if (!(p->quotient[j] > 1e-12 * stiffest))
            return j;
    return -1;
}

/* Such columns can neither be measured nor sampled by their energy. */
static void refuse_rigid(const cubature_problem *p, const char *why, const char *hint)
{
    const int64_t column = rigid_column(p);
    if (column < 0)
        return;
    tool_hint("%s", hint);
    tool_fail(SP_INPUT, p->basis.path, "column %lld is a rigid motion or nearly: it has no elastic energy to %s it by",
              (long long)column, why);
}

static void find_scale(cubature_problem *p)
{
    if (p->choice->metric == METRIC_ENERGY)
        refuse_rigid(p, "measure", "leave such columns out, or take --metric force");
    if (rigid_column(p) >= 0)
        return;
    p->energy_scale = tool_allocate_raw(&p->pool, p->r, sizeof *p->energy_scale);
    for (int64_t j = 0; j < p->r; j++)
        p->energy_scale[j] = 1 / sqrt(p->own_stiffness[j]);
}

static void find_amplitude(cubature_problem *p)
{
    int64_t softest = 0;
    refuse_rigid(p, "sample", "leave such columns out, or name files of poses");
    for (int64_t j = 1; j < p->r; j++)
        if (p->quotient[j] < p->quotient[softest])
            softest = j;
    p->amplitude = p->choice->amplitude_given
                       ? p->choice->amplitude
                       : sp_poses_amplitude(&p->body, p->basis.columns.U + softest * p->basis.columns.rows,
                                            p->own_stiffness[softest], p->choice->deflection);
    for (int64_t j = 0; j < p->r; j++) {
        p->deviation[j] = p->amplitude / sqrt(p->own_stiffness[j]);
        p->softer[j] = sqrt(p->quotient[softest] / p->quotient[j]); /* the softest coordinate moves as far */
    }
}

static void sample(cubature_problem *p, uint64_t seed, int64_t count, double *q)
{
    sp_context own = *p->context;
    own.seed = seed;
    sp_poses_sample(&own, p->r, p->deviation, NULL, 0, count, q);
    int spectrum = p->choice->spectrum;
    for (int64_t t = 0; t < count; t++)
        if (spectrum == SPECTRUM_FORCE || (spectrum == SPECTRUM_BOTH && t % 2))
            for (int64_t j = 0; j < p->r; j++)
                q[t * p->r + j] *= p->softer[j];
}

/* ---- all of them ---- */

/* Moves lists into poses; the first `known` have forces. */
static void settle(cubature_problem *p, pose_list *list, sp_poses *poses)
{
    poses->r = p->r;
    poses->count = list->q.count / p->r;
    poses->q = tool_allocate_copy(&poses->pool, list->q.data, list->q.count, sizeof(double));
    poses->force = tool_allocate(&poses->pool, list->q.count, sizeof(double));
    memcpy(poses->force, list->force.data ? list->force.data : poses->q, (size_t)(list->known * p->r) * sizeof(double));
    sp_list_free(&list->q);
    sp_list_free(&list->force);
}

/* Only these poses from now on. */
static void keep(sp_poses *poses, int64_t from, int64_t *kept)
{
    size_t bytes = (size_t)poses->r * sizeof(double);
    memmove(poses->q + *kept * poses->r, poses->q + from * poses->r, bytes);
    memmove(poses->force + *kept * poses->r, poses->force + from * poses->r, bytes);
    (*kept)++;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Poses at rest (the first frame of a motion) have no force: nothing can be learned there. That is judged by the usual
 * force, since the largest of an exponential law may be anything. */
static int64_t drop_resting(cubature_problem *p, sp_poses *poses)
{
    int64_t kept = 0, count = poses->count;
    double *size = tool_allocate_raw(&p->pool, 2 * count, sizeof *size), *sorted = size + count;
    for (int64_t t = 0; t < count; t++)
        sorted[t] = size[t] = cblas_dnrm2((int)poses->r, poses->force + t * poses->r, 1);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    for (int64_t t = 0; t < count; t++)
        if (size[t] > 1e-12 * sorted[count / 2])
            keep(poses, t, &kept);
    poses->count = kept;
    sp_pool_drop(&p->pool, size);
    return count - kept;
}

/* Every (count / some)th pose becomes a validation pose. */
static void split(cubature_problem *p, int64_t some)
{
    sp_poses *poses = &p->poses, *out = &p->held_out;
    int64_t count = poses->count, kept = 0;
    some = some > count / 2 ? count / 2 : some;
    out->r = p->r;
    out->q = tool_allocate_raw(&out->pool, some * p->r, sizeof(double));
    out->force = tool_allocate_raw(&out->pool, some * p->r, sizeof(double));
    for (int64_t t = 0; t < count; t++)
        if (out->count < some && t == (2 * out->count + 1) * count / (2 * some)) {
            memcpy(out->q + out->count * p->r, poses->q + t * p->r, (size_t)p->r * sizeof(double));
            memcpy(out->force + out->count++ * p->r, poses->force + t * p->r, (size_t)p->r * sizeof(double));
        } else
            keep(poses, t, &kept);
    poses->count = kept;
}

static void cut_shard(cubature_problem *p)
{
    const tool_shard shard = tool_shard_parse(p->choice->shard, p->total, SHARD_STEP, "poses");
    p->first = shard.first;
    p->poses.count = shard.end - shard.first;
    memmove(p->poses.q, p->poses.q + p->first * p->r, (size_t)(p->poses.count * p->r) * sizeof(double));
}

void cubature_collect_poses(cubature_problem *p)
{
    const cubature_choice *choice = p->choice;
    pose_list list = {0}, out = {0};
    mass_projector projector = {0};

    find_stiffness(p);
    find_scale(p);

    for (int i = 2; i < tool_argument_count(); i++)
        take_file(p, tool_argument(i), NULL, &projector, &list);
    for (int64_t i = 0; i < choice->held_out_files.count; i++)
        take_file(p, choice->held_out_files.value[i], "held-out-file", &projector, &out);
    sp_mean_axes_free(&projector.axes);

    int64_t samples = choice->samples_given || tool_argument_count() > 2 || choice->incremental ? choice->samples : 200;
    if (samples > 0 || choice->incremental)
        find_amplitude(p);
    int64_t named = list.q.count / p->r;

    sample(p, p->context->seed, samples, add(p, &list.q, samples));

    bool sampled_out = (samples > 0 || choice->incremental) && choice->held_out > 0 && !choice->training_only;
    int64_t named_out = out.q.count / p->r;
    if (sampled_out)
        sample(p, (uint64_t)choice->held_out_seed, choice->held_out, add(p, &out.q, choice->held_out));

    int64_t known = list.known, known_out = out.known, shrunk = 0;
    settle(p, &list, &p->poses);
    settle(p, &out, &p->held_out);

    if (p->poses.count == 0 && !choice->incremental)
        tool_fail(SP_USAGE, NULL, "there are no poses: name files with some, or --poses");
    p->total = p->poses.count;

    if (choice->shard) {
        if (known)
            tool_fail(SP_USAGE, NULL, "--shard: files of training have their forces already");
        cut_shard(p);
        named = named > p->first ? named - p->first : 0;
        named = named < p->poses.count ? named : p->poses.count;
    }
    /* Poses from files are taken as they are; random ones may be too much for a material. */
    tool_check(
        sp_poses_evaluate(p->context, &p->body, p->basis.columns.U, choice->memory, known, named, &p->poses, NULL),
        cubature_pose_files(p));
    tool_check(sp_poses_evaluate(p->context, &p->body, p->basis.columns.U, choice->memory, named, p->poses.count,
                                 &p->poses, &p->shrunk),
               NULL);
    tool_check(sp_poses_evaluate(p->context, &p->body, p->basis.columns.U, choice->memory, known_out, named_out,
                                 &p->held_out, NULL),
               cubature_pose_files(p));
    tool_check(sp_poses_evaluate(p->context, &p->body, p->basis.columns.U, choice->memory, named_out, p->held_out.count,
                                 &p->held_out, &shrunk),
               NULL);
    if (p->shrunk) { /* the warning is that of every shard: it has no numbers */
        tool_say("%lld of %lld poses were halved", (long long)p->shrunk, (long long)p->poses.count);
        tool_warn(NULL, "random poses inverted an element and were halved until they did not: --amplitude is "
                        "high for this material");
    }
    if (choice->training_only)
        return;
    p->resting = drop_resting(p, &p->poses);
    drop_resting(p, &p->held_out);
    if (p->held_out.count == 0 && choice->held_out > 0 && p->poses.count > 1)
        split(p, choice->held_out);
    if (p->poses.count == 0 && !choice->incremental)
        tool_fail(SP_INPUT, tool_argument(tool_argument_count() > 2 ? 2 : 0),
                  "no pose has a force: there is nothing to fit");
}

const char *cubature_pose_files(cubature_problem *p)
{
    const tool_texts *others = &p->choice->held_out_files;
    const int64_t files = tool_argument_count() - 2, count = files + others->count;
    const char **paths = tool_allocate(&p->pool, count, sizeof *paths);
    for (int64_t i = 0; i < count; i++)
        paths[i] = i < files ? tool_argument((int)i + 2) : others->value[i - files];
    return count ? tool_names(&p->pool, count, paths) : NULL;
}

bool cubature_keeps_linear(const cubature_problem *p)
{
    return p->choice->linear == LINEAR_EXACT || (p->choice->linear == LINEAR_AUTO && p->choice->method == METHOD_MODAL);
}

sp_training_measure cubature_measure(const cubature_problem *p)
{
    return (sp_training_measure){p->choice->metric == METRIC_ENERGY ? p->energy_scale : NULL,
                                 cubature_keeps_linear(p) ? p->stiffness : NULL};
}

void cubature_add_samples(cubature_problem *p, int64_t count, const double *centre, const double *deviation)
{
    sp_poses grown = {.r = p->r, .count = p->poses.count + count};
    int64_t before = p->poses.count, shrunk;
    grown.q = tool_allocate(&grown.pool, grown.count * p->r, sizeof(double));
    grown.force = tool_allocate(&grown.pool, grown.count * p->r, sizeof(double));
    memcpy(grown.q, p->poses.q, (size_t)(before * p->r) * sizeof(double));
    memcpy(grown.force, p->poses.force, (size_t)(before * p->r) * sizeof(double));
    sp_poses_free(&p->poses);
    p->poses = grown;
    sp_poses_sample(p->context, p->r, deviation, centre, before, count, p->poses.q + before * p->r);
    tool_check(sp_poses_evaluate(p->context, &p->body, p->basis.columns.U, p->choice->memory, before, grown.count,
                                 &p->poses, &shrunk),
               NULL);
    p->shrunk += shrunk;
}
