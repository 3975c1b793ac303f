/* modes: the lowest vibration modes of a mesh. */
#include "basis/modes.h"
#include "assembly/elastic.h"
#include "tools/common/parallel.h"
#include "tools/modes/methods.h"

enum method { METHOD_LANCZOS, METHOD_INERTIA, METHOD_KRYLOV };

static struct {
    int method, lumped;
    const char *stiffness, *mass, *write_stiffness, *write_mass, *derivatives, *about, *buckling, *loads;
    modes_lanczos_choice lanczos;
    modes_krylov_choice krylov;
    modes_interface_choice interface;
} chosen;

static const tool_option options[] = {
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "lanczos", "lanczos|inertia|krylov",
     .help = "lanczos: eigenvectors; inertia: static answers to the body's own inertia; krylov: inertia modes of any "
             "order (Yang 2015)"},
    {"count", 'k', TOOL_INTEGER, &chosen.lanczos.count, "N", "20", .low = 0, .high = 100000,
     .only = "method!=inertia !order",
     .help = "number of modes, rigid ones included; with --interface of those with interfaces at rest, 0: none"},
    {"interface", 0, TOOL_TEXTS, &chosen.interface.names, "NAME", .only = "solver!=slepc,amg",
     .help = "first the constraint modes of this set of vertices or faces (Craig-Bampton), then modes with the set at "
             "rest; * matches any characters"},
    {"frame", 0, TOOL_CHOICE, &chosen.interface.frame, NULL, "rigid", "rigid|average|none", .only = "interface",
     .help = "an interface has six coordinates as a rigid body, six of its mean translation and rotation, or those of "
             "each vertex"},
    {"rest", 0, TOOL_TEXTS, &chosen.interface.rest, "NAME", .only = "interface",
     .help = "this interface is at rest in all columns: with --frame average its mean, in a frame that moves with it"},
    {"ritz", 0, TOOL_FLAG, &chosen.interface.ritz, .only = "interface",
     .help = "combine all columns into the Ritz vectors of their space: K and M diagonal, frequencies ascending"},
    {"about", 0, TOOL_INPUT, &chosen.about, "FILE",
     .only = "method=lanczos !buckling !stiffness !interface solver!=slepc,amg",
     .help = "modes of small vibrations about this static equilibrium (simfull --integrator static): K is the tangent "
             "stiffness there"},
    {"buckling", 0, TOOL_INPUT, &chosen.buckling, "FILE", .only = "method=lanczos !stiffness !mass !interface",
     .help = "load factors and shapes of linear buckling under the loads of this static solution (simfull --model "
             "linear --integrator static)"},
    {"loads", 0, TOOL_INPUT, &chosen.loads, "CSV",
     .help = "the loads under which the file of --about or --buckling was computed: springs and rotations change the "
             "stiffness"},
    {"lumping", 0, TOOL_CHOICE, &chosen.lumped, NULL, "consistent", "consistent|lumped", .only = "!mass !buckling",
     .help = "mass matrix: full or row sums on the diagonal"},
    {"tolerance", 0, TOOL_REAL, &chosen.lanczos.tolerance, "X", "1e-12", .low = 0, .high = 1e-2,
     .only = "method=lanczos",
     .help = "relative tolerance of the Lanczos run; 0: the precision of the machine; with --solver amg largest "
             "residual of a mode"},
    {"solver", 0, TOOL_CHOICE, &chosen.lanczos.solver, NULL, "blocks", "blocks|arpack|slepc|amg",
     .only = "method=lanczos !buckling",
     .help = "eight vectors at a time, or one through ARPACK: fewer solves, more time; SLEPc with a factorization by "
             "MUMPS, or LOBPCG with algebraic multigrid, both under mpirun too"},
    {"certify", 0, TOOL_FLAG, &chosen.lanczos.certify, .only = "method=lanczos solver!=amg",
     .help = "count the eigenvalues below the last mode by matrix inertia"},
    {"start", 0, TOOL_TEXT, &chosen.krylov.start, "LIST", .only = "method=inertia,krylov",
     .help = "accelerations x,y,z, angular rx,ry,rz, centrifugal xx,yy,zz,yz,zx,xy, random (default: the first six, "
             "of free bodies the last six, for krylov with random)"},
    {"start-loads", 0, TOOL_INPUT, &chosen.krylov.start_loads, "CSV", .only = "method=inertia,krylov",
     .help = "start from these forces too, each a column: t0,t1,kind,id,fx,fy,fz"},
    {"start-file", 0, TOOL_INPUT, &chosen.krylov.start_file, "FILE", .only = "method=inertia,krylov",
     .help = "start from the columns of this file too, taken as accelerations"},
    {"order", 0, TOOL_INTEGER, &chosen.krylov.order, "N", NULL, .low = 1, .high = 10000, .only = "method=krylov",
     .help = "N blocks as wide as the start, in place of --count"},
    {"orthogonalize", 0, TOOL_CHOICE, &chosen.krylov.orthogonalization, NULL, "exact", "exact|reduced|none",
     .only = "method=krylov", .help = "mass Gram-Schmidt; the paper's, over sample points; or none"},
    {"samples", 0, TOOL_INTEGER, &chosen.krylov.samples, "N", NULL, .low = 1, .high = 1e9,
     .only = "orthogonalize=reduced", .help = "sample points (default: 128 log2 of the vertices)"},
    {"culling", 0, TOOL_REAL, &chosen.krylov.culling, "X", "0.001", .low = 0, .high = 1,
     .only = "orthogonalize=reduced", .help = "leave out subtractions of a smaller cosine"},
    {"as-modes", 0, TOOL_FLAG, &chosen.krylov.as_modes, .only = "method=krylov !interface",
     .help = "combine the columns into the Ritz vectors of their space and write these as modes, with eigenvalues, for "
             "simulate --model modal"},
    {"printed", 0, TOOL_FLAG, &chosen.krylov.printed, .only = "method=krylov @free-body",
     .help = "as eq. 3 is printed, without the mass in the constraint"},
    {"stiffness", 0, TOOL_INPUT, &chosen.stiffness, "FILE", .only = "solver!=slepc,amg",
     .help = "use this stiffness matrix K instead of the mesh's own"},
    {"mass", 0, TOOL_INPUT, &chosen.mass, "FILE", .only = "solver!=slepc,amg",
     .help = "use this mass matrix M instead of the mesh's own"},
    {"derivatives", 0, TOOL_WRITTEN, &chosen.derivatives, "FILE",
     .only = "method=lanczos !stiffness !mass !interface !about !buckling solver!=slepc,amg",
     .help = "also write the modal derivatives, as modalderiv does, with the same factorization", .silent = true},
    {"write-stiffness", 0, TOOL_WRITTEN, &chosen.write_stiffness, "FILE", .only = "solver!=slepc,amg",
     .help = "also write K for scipy.sparse.load_npz", .silent = true},
    {"write-mass", 0, TOOL_WRITTEN, &chosen.write_mass, "FILE", .only = "!buckling solver!=slepc,amg",
     .help = "also write M for scipy.sparse.load_npz", .silent = true},
};

static void make_matrices(modes_problem *p)
{
    sp_fe_space *body = &p->body;

    if (chosen.stiffness)
        modes_read_matrix(p, chosen.stiffness, "stiffness", &p->K);
    else if (chosen.about)
        modes_tangent(p, &p->K);
    else
        tool_check(sp_elastic_stiffness(p->context, body, &p->K), p->mesh.path);

    if (chosen.mass) {
        modes_read_matrix(p, chosen.mass, "mass", &p->M);
        p->lumped = modes_diagonal(&p->M);
    } else {
        tool_check(sp_fe_space_mass_compressed(p->context, body, chosen.lumped, &p->M), p->mesh.path);
        p->lumped = chosen.lumped;
    }
    const char *paths[2] = {chosen.stiffness ? chosen.stiffness : p->mesh.path,
                            chosen.mass ? chosen.mass : p->mesh.path};
    p->matrix_path = tool_names(&p->pool, 1 + !(paths[0] == paths[1]), paths);

    if (chosen.write_stiffness)
        modes_write_matrix(p, chosen.write_stiffness, "write-stiffness", "K", &p->K);
    if (chosen.write_mass)
        modes_write_matrix(p, chosen.write_mass, "write-mass", "M", &p->M);
}

/* The motions that the fixed vertices leave free. */
static void find_rigid_motions(modes_problem *p)
{
    const int64_t n = p->order = p->body.dof_count;
    p->rigid = tool_allocate_raw(&p->pool, 6 * n, sizeof *p->rigid);
    p->node = tool_allocate_raw(&p->pool, n, sizeof *p->node);
    sp_fe_space_nodes(&p->body, p->node);
    tool_check(sp_rigid_motions(p->context, &p->body, &p->M, p->rigid, &p->rigid_count), p->mesh.path);
}

/* The equilibrium, before anything is made from the mesh. */
static void read_equilibrium(modes_problem *p)
{
    if (chosen.loads && !chosen.about && !chosen.buckling)
        tool_fail(SP_USAGE, NULL, "--loads applies to --about and --buckling only");
    if (chosen.about)
        modes_read_equilibrium(p, "about", chosen.about, "nonlinear", chosen.loads);
    else if (chosen.buckling)
        modes_read_equilibrium(p, "buckling", chosen.buckling, "linear", chosen.loads);
}

static const tool_spec spec = {
    .name = "modes",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Lowest vibration modes of a mesh: K psi = lambda M psi.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .seed_only = "method=lanczos",
    .examples = "  modes spoon.npz -k 20 -o modes.npz\n  modes free.npz -k 12 --certify -o - | siminfo -\n"
                "  modes spoon.npz --method krylov --order 5 -o inertia.npz\n",
};

int main(int argc, char **argv)
{
    modes_problem p = {0};
    p.context = tool_begin(&spec, argc, argv);
    const bool parallel = chosen.method == METHOD_LANCZOS && !chosen.buckling && chosen.lanczos.solver >= SOLVER_SLEPC;

    if (parallel)
        tool_parallel_start(chosen.lanczos.solver == SOLVER_SLEPC ? "slepc" : "amg");
    tool_read_mesh(tool_argument(0), NULL, &p.mesh);
    if (parallel)
        return modes_parallel(&p, &chosen.lanczos, chosen.lumped);

    read_equilibrium(&p);
    tool_check(sp_fe_space_new(p.context, &p.mesh.mesh, &p.body), p.mesh.path);
    const bool interfaces = chosen.interface.names.count > 0;
    if (!interfaces && chosen.method != METHOD_INERTIA && !chosen.krylov.order && chosen.lanczos.count == 0)
        tool_fail(SP_USAGE, NULL, "--count: 0 is out of range, 1 to 100000; only with --interface it means none");

    p.output = tool_output_open(tool_output_path());
    p.own = !chosen.stiffness && !chosen.about;
    p.derivatives_path = chosen.derivatives;
    p.derivatives = chosen.derivatives ? tool_output_open(chosen.derivatives) : NULL;

    tool_check(sp_fe_space_pattern(p.context, &p.body), p.mesh.path);
    make_matrices(&p);
    if (interfaces)
        modes_interfaces(&p, &chosen.interface);
    else
        find_rigid_motions(&p);

    if (chosen.method == METHOD_LANCZOS && chosen.lanczos.count > p.order)
        tool_fail(SP_USAGE, NULL, "--count %lld: the mesh has only %lld free degrees of freedom%s",
                  (long long)chosen.lanczos.count, (long long)p.order, interfaces ? " off its interfaces" : "");

    tool_inputs_are(p.rigid_count ? "free-body" : "fixed-body");
    chosen.krylov.count = chosen.lanczos.count;

    if (p.equilibrium)
        modes_refuse_free(&p, chosen.about ? "about" : "buckling");

    if (interfaces && chosen.lanczos.count == 0 && chosen.method != METHOD_INERTIA) {
        modes_constraint(&p, NULL);
        modes_write_snapshots(&p, 0, NULL, tool_result_new());
    } else if (chosen.buckling)
        modes_buckling(&p, &chosen.lanczos);
    else if (chosen.method == METHOD_LANCZOS)
        modes_lanczos(&p, &chosen.lanczos);
    else
        (chosen.method == METHOD_INERTIA ? modes_inertia : modes_krylov)(&p, &chosen.krylov);

    modes_interfaces_close(&p);
    if (p.equilibrium)
        tool_equilibrium_free(p.equilibrium);
    sp_pool_free(&p.pool);
    sp_sparse_free(&p.K);
    sp_sparse_free(&p.M);
    sp_fe_space_free(&p.body);
    sp_mesh_free(&p.mesh.mesh);
    return tool_end();
}
