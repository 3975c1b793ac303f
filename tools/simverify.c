/* simverify: certifies files by computing what they claim anew. */
#include "tools/verify/verify.h"

#include <stdlib.h>
#include <string.h>

static struct {
    tool_texts meshes, modes, bases, loads;
    const char *model;
    int64_t sample;
    double balance;
    bool balance_given;
} chosen;

static const tool_option options[] = {
    {"mesh", 0, TOOL_INPUTS, &chosen.meshes, "FILE",
     .help = "a mesh that the files belong to (as if it were an argument, but it has to fit)"},
    {"modes", 0, TOOL_INPUTS, &chosen.modes, "FILE", .help = "the modes that derivatives were made of"},
    {"basis", 0, TOOL_INPUTS, &chosen.bases, "FILE",
     .help = "the basis of polynomials, cubature, training or a trajectory"},
    {"model", 0, TOOL_INPUT, &chosen.model, "FILE", .files = "obj ply stl off",
     .help = "the triangle model (OBJ, PLY, STL, OFF) that distance fields and pointshells were made of"},
    {"loads", 0, TOOL_INPUTS, &chosen.loads, "CSV",
     .help = "the loads of static trajectories, whose equilibrium is checked"},
    {"sample", 0, TOOL_INTEGER, &chosen.sample, "N", "64", .low = 1, .high = 1e15,
     .help = "how many derivatives, poses, frames and distances are computed anew, evenly spread"},
    {"balance", 0, TOOL_REAL, &chosen.balance, "X", NULL, .low = 0, .high = 1e300, .given = &chosen.balance_given,
     .help = "limit of the energy balance of trajectories, relative (default: 1e-8 for the energy integrator, none for "
             "others)"},
};

/* Keys of meta or result: those without a condition are there, and all are of their type. */
static void check_facts(verify *v, const artefact *file, const char *member, const json_t *object, const sp_fact *facts)
{
    for (; facts && facts->name; facts++) {
        const json_t *value = json_object_get(object, facts->name);
        if (!value && !facts->when)
            verify_fact(v, file, member, false, "\"%s\" is missing", facts->name);
        else if (value && !sp_fact_fits(facts, value))
            verify_fact(v, file, member, false, "\"%s\" is not of the type %s", facts->name, sp_fact_type_words(facts));
    }
}

/* What the pages of the formats promise of every file that a program of ours wrote. */
static void check_promises(verify *v, const artefact *file)
{
    const sp_kind *kind = sp_kind_find(file->kind);
    check_facts(v, file, "meta", file->meta, sp_facts_of_meta);
    check_facts(v, file, "result", file->result, sp_facts_of_result);
    if (!kind)
        return;
    check_facts(v, file, "meta", file->meta, kind->meta);
    check_facts(v, file, "result", file->result, kind->result);
}

/* What the recorded hash of a file made by us must be, and whether what the options named fits. */
static void check_file(verify *v, artefact *file)
{
    if (*file->stated)
        verify_fact(v, file, "hash", !strcmp(file->hash, file->stated), "%.12s (%.12s)", file->hash, file->stated);
    else
        verify_note(v, file, "hash", "%.12s, it states none", file->hash);
    if (json_object_get(file->meta, "tool"))
        check_promises(v, file);
    for (int64_t i = 0; i < v->count; i++) {
        const artefact *other = &v->files[i];
        const char *recorded = !strcmp(other->kind, "mesh") ? file->mesh_hash : file->basis_hash;
        if (other->option && strcmp(other->option, "modes") && *recorded && !verify_find(v, recorded))
            verify_fact(v, file, other->option, false, "%.12s (%.12s is %s)", recorded, other->hash, other->path);
    }
}

static void check_kind(verify *v, artefact *file)
{
    static const struct {
        const char *kind;
        void (*check)(verify *, artefact *);
    } kinds[] = {
        {"mesh", verify_mesh_file},
        {"sparse", verify_sparse},
        {"modes", verify_modes},
        {"derivatives", verify_derivatives},
        {"basis", verify_basis},
        {"snapshots", verify_snapshots},
        {"polynomials", verify_polynomials},
        {"cubature", verify_cubature},
        {"training", verify_training},
        {"trajectory", verify_trajectory},
        {"scene_trajectory", verify_motion},
        {"field", verify_field},
        {"pointshell", verify_pointshell},
        {"domains", verify_domains},
        {"skin", verify_skin},
        {"certificate", verify_certificate},
        {"curve", verify_curve},
        {"ensemble", verify_ensemble},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, file->kind)) {
            kinds[i].check(v, file);
            return;
        }
    verify_note(v, file, "content", *file->kind ? "files of kind %s are only hashed" : "it is a file of NumPy%s",
                file->kind);
}

static const tool_spec spec = {
    .name = "simverify",
    .arguments = "FILE...",
    .files = "npz json",
    .least = 1,
    .most = -1,
    .summary = "Certifies files: what they claim is computed anew. Exit 1 where it is not so.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_THREADS,
    .examples = "  simverify spoon.npz modes.npz deriv.npz basis.npz poly.npz\n  simverify poly.npz "
                "--mesh spoon.npz --basis basis.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const tool_texts *const named[] = {&chosen.meshes, &chosen.modes, &chosen.bases};
    static const char *const names[] = {"mesh", "modes", "basis"};
    int arguments = tool_argument_count();

    verify v = {.context = context,
                .stream = tool_stdout(),
                .sample = chosen.sample,
                .model = chosen.model,
                .loads = &chosen.loads,
                .balance = chosen.balance_given ? chosen.balance : -1};

    v.files =
        calloc((size_t)(arguments + chosen.meshes.count + chosen.modes.count + chosen.bases.count), sizeof *v.files);
    if (!v.files)
        tool_out_of_memory();

    for (int i = 0; i < arguments; i++)
        verify_read(&v, tool_argument(i), NULL, &v.files[v.count++]);

    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < named[k]->count; i++, v.count++) {
            artefact *file = &v.files[v.count];
            verify_read(&v, named[k]->value[i], names[k], file);
            bool fits = k == 2 ? file->columns.U != NULL : !strcmp(file->kind, names[k]);
            if (!fits)
                tool_fail(SP_INPUT, file->path, "--%s: it is a file of kind %s", names[k], file->kind);
        }

    for (int64_t i = 0; i < v.count; i++) {
        check_file(&v, &v.files[i]);
        check_kind(&v, &v.files[i]);
        fflush(v.stream);
    }

    tool_say("%lld checks passed, %lld failed, %lld skipped", (long long)v.passed, (long long)v.failed,
             (long long)v.skipped);

    for (int64_t i = 0; i < v.count; i++)
        verify_free(&v.files[i]);
    free(v.files);
    int status = tool_end();
    return status == SP_OK && v.failed ? SP_NO : status;
}
