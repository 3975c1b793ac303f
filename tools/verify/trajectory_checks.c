/* Trajectories: times, the balance of energy, and the energies computed anew from the recorded motion. */
#include "assembly/elastic.h"
#include "base/vec3.h"
#include "formats/trajectory.h"
#include "linear/dense.h"
#include "model/modal_warp.h"
#include "reduced/edit.h"
#include "reduced/linear.h"
#include "tools/common/materials.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *parameter(const artefact *file, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(file->meta, "parameters"), name));
    return text ? text : "";
}

static bool is_static(const artefact *file)
{
    return !strcmp(parameter(file, "integrator"), "static");
}

/* The largest energy of any frame: what differences are compared with. */
static double energy_scale(const sp_trajectory *trajectory)
{
    double scale = 0;
    for (int64_t f = 0; f < trajectory->frame_count; f++) {
        const double *e = trajectory->energy + SP_ENERGY_COUNT * f;
        scale = fmax(scale, fmax(fabs(e[SP_ENERGY_KINETIC] + e[SP_ENERGY_STRAIN]),
                                 fmax(fabs(e[SP_ENERGY_WORK]), fabs(e[SP_ENERGY_DISSIPATED]))));
    }
    return scale > 0 ? scale : 1;
}

/* For a nonconservative force the work against it replaces the energy (formats/trajectory.md). It may be negative. */
static bool stores_work(const artefact *file)
{
    const char *stored = json_string_value(json_object_get(file->meta, "stored"));
    return stored && !strcmp(stored, "work");
}

/* Kinetic + strain = those of frame 0 + work − dissipated. The energy-conserving step promises it; others come near it.
 */
static void check_balance(verify *v, artefact *file, const sp_trajectory *trajectory, double scale)
{
    const double *first = trajectory->energy;
    const char *integrator = parameter(file, "integrator");

    /* The energy of active fibres is less than 0 where they are short. */
    bool any_sign = stores_work(file) || tool_meta_has_input(file->meta, "activation");

    double worst = 0, least = 0;
    for (int64_t f = 0; f < trajectory->frame_count; f++) {
        const double *e = trajectory->energy + SP_ENERGY_COUNT * f;
        double total = e[SP_ENERGY_KINETIC] + e[SP_ENERGY_STRAIN],
               expected =
                   first[SP_ENERGY_KINETIC] + first[SP_ENERGY_STRAIN] + e[SP_ENERGY_WORK] - e[SP_ENERGY_DISSIPATED];
        worst = verify_worse(fabs(total - expected) / scale, worst);
        least =
            fmin(least, (any_sign ? e[SP_ENERGY_KINETIC] : fmin(e[SP_ENERGY_KINETIC], e[SP_ENERGY_STRAIN])) / scale);
    }

    verify_number(v, file, "work and dissipation in frame 0",
                  fmax(fabs(first[SP_ENERGY_WORK]), fabs(first[SP_ENERGY_DISSIPATED])) / scale, 0);
    verify_fact(v, file, any_sign ? "kinetic energy not negative" : "kinetic and strain energy not negative",
                least >= -1e-10, "%.2e (-1.0e-10)", least);

    bool conserving = !strcmp(integrator, "energy");
    if (v->balance >= 0 || conserving)
        verify_number(v, file, "energy balance", worst, v->balance >= 0 ? v->balance : 1e-8);
    else
        verify_note(v, file, "energy balance", "%.2e (integrator %.40s: no limit of its own)", worst,
                    *integrator ? integrator : "unknown");
}

/* What it takes to say the energies of a frame. */
typedef struct energies {
    verify *v;
    artefact *file;
    const sp_fe_space *body;
    const sp_polynomials *polynomials;
    const sp_columns *basis;
    const sp_trajectory *trajectory;
    const double *gram;
    const sp_reduced_force *weighted; /* of a cubature */
    bool linear, lumped;
    const uint8_t *fixed; /* [vertices] components that the mesh holds, as bits */
    double *u, *w;        /* [3·vertices] */
    const double *U;      /* the basis as the tools take it */
    double *z, *y;        /* [N] */
} energies;

/* An energy, and the sum of the absolute values of the terms that it is a sum of. */
typedef struct energy_sum {
    double value, terms;
} energy_sum;

static void add_energy(energy_sum *sum, double term)
{
    sum->value += term;
    sum->terms += fabs(term);
}

/* From the reduced coordinates: ½ q̇ᵀ UᵀMU q̇ and ½ zᵀAz. */
static void reduced_energies(const energies *e, int64_t frame, energy_sum *kinetic, energy_sum *strain)
{
    const sp_polynomials *p = e->polynomials;
    int64_t r = e->trajectory->r, full = p->r, N = sp_polynomial_order(full);
    const double *qdot = e->trajectory->qdot + frame * r;
    double *q = e->y; /* the first r of the polynomials' coordinates */
    memset(q, 0, (size_t)full * sizeof *q);
    memcpy(q, e->trajectory->q + frame * r, (size_t)r * sizeof *q);
    verify_monomials(full, q, e->z);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            add_energy(kinetic, 0.5 * p->density * qdot[i] * qdot[j] * p->mass[j * full + i]);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; e->z[i] != 0 && j < N; j++)
            add_energy(strain, 0.5 * e->z[i] * e->gram[i * N + j] * e->z[j]);
}

/* Of oscillators: ½ Σ (q̇² + λ q²). */
static void modal_energies(const energies *e, int64_t frame, energy_sum *kinetic, energy_sum *strain)
{
    const int64_t r = e->trajectory->r;
    const double *q = e->trajectory->q + frame * r, *qdot = e->trajectory->qdot + frame * r;
    for (int64_t i = 0; i < r; i++) {
        add_energy(kinetic, 0.5 * qdot[i] * qdot[i]);
        add_energy(strain, 0.5 * fmax(0, e->basis->eigenvalue[i]) * q[i] * q[i]);
    }
}

/* Sets components that are fixed in a frame to 0: kinetic energy is that of the others. */
static void drop_prescribed(const energies *e, int64_t frame, double *v)
{
    const sp_trajectory *trajectory = e->trajectory;
    for (int64_t i = 0; i < 3 * trajectory->vertex_count; i++)
        if (e->fixed[i / 3] >> i % 3 & 1)
            v[i] = 0;
    for (int64_t k = 0; k < trajectory->prescribed_count; k++)
        for (int c = 0; c < 3 && frame < trajectory->prescribed[k].frames; c++)
            if (trajectory->prescribed[k].axes >> c & 1)
                v[3 * trajectory->prescribed[k].vertex + c] = 0;
}

/* ½ Σ a b, by dof. */
static void add_products(int64_t count, const double *a, const double *b, energy_sum *sum)
{
    for (int64_t i = 0; i < count; i++)
        add_energy(sum, 0.5 * a[i] * b[i]);
}

/* From the displacements of all vertices. */
static void full_energies(const energies *e, int64_t frame, energy_sum *kinetic, energy_sum *strain)
{
    int64_t rows = 3 * e->trajectory->vertex_count;
    const double *u = e->trajectory->u + frame * rows;

    memcpy(e->u, e->trajectory->udot + frame * rows, (size_t)rows * sizeof *e->u);
    drop_prescribed(e, frame, e->u);
    verify_mass_times(e->body, e->lumped, e->u, e->w);
    add_products(rows, e->u, e->w, kinetic);

    if (e->linear) {
        memset(e->u, 0, (size_t)rows * sizeof *e->u);
        sp_elastic_tangent_times(e->v->context, e->body, e->u, u, e->w);
        add_products(rows, u, e->w, strain);
    } else {
        /* Rounded displacements change the energy by their products with the forces. */
        const double energy = sp_elastic_force(e->v->context, e->body, u, e->w);
        add_products(rows, u, e->w, strain);
        strain->value = energy;
    }
}

/* Of a cubature: ½ u̇ᵀMu̇ with u̇ = U q̇, and Σ w_e W_e. */
static void weighted_energies(const energies *e, int64_t frame, energy_sum *kinetic, energy_sum *strain)
{
    int64_t rows = e->basis->rows, r = e->trajectory->r;
    memset(e->u, 0, (size_t)rows * sizeof *e->u);
    for (int64_t c = 0; c < r; c++)
        for (int64_t i = 0; i < rows; i++)
            e->u[i] += e->U[c * rows + i] * e->trajectory->qdot[frame * r + c];
    verify_mass_times(e->body, e->lumped, e->u, e->w);
    add_products(rows, e->u, e->w, kinetic);
    add_energy(strain, e->weighted->evaluate(e->weighted->self, e->trajectory->q + frame * r, false, NULL, NULL));
}

/* Why the strain energy that is stated cannot be computed from the motion alone; NULL: it can. */
static const char *other_energy(const artefact *file)
{
    if (!strcmp(parameter(file, "model"), "warp"))
        return "that of turned elements or the work against a force without an energy";
    if (tool_meta_has_input(file->meta, "activation"))
        return "with that of active fibres";
    return NULL;
}

/* Recorded displacements are more than U q (simulate --static-correction). */
static bool is_corrected(const artefact *file)
{
    return json_is_true(json_object_get(json_object_get(file->meta, "parameters"), "static-correction"));
}

/* Relative to the largest energy; and relative to the sum of the absolute values of the terms, of which a few are by
 * far the largest, what rounding does to their sum. */
static const double ENERGY = 1e-9, ENERGY_ROUNDING = 32 * 0x1p-53;

/* Springs of the loads and floor planes store energy too: the stated energy may then be larger. */
static void check_energies(energies *e, void (*compute)(const energies *, int64_t, energy_sum *, energy_sum *),
                           double scale)
{
    const sp_trajectory *trajectory = e->trajectory;
    bool reduced = compute == reduced_energies;

    int64_t N = reduced ? sp_polynomial_order(e->polynomials->r) : 0,
            cheap = reduced ? ((int64_t)1 << 28) / N / N : 0; /* N² per frame */
    int64_t most = e->v->sample > cheap ? e->v->sample : cheap,
            sampled = trajectory->frame_count < most ? trajectory->frame_count : most;
    bool springs = tool_meta_has_input(e->file->meta, "loads") ||
                   json_array_size(json_object_get(json_object_get(e->file->meta, "parameters"), "ground")) > 0;

    double kinetic_error = 0, kinetic_limit = 0, strain_error = 0, strain_limit = 0;
    bool above = false;

    for (int64_t s = 0; s < sampled; s++) {
        int64_t frame =
            sampled < trajectory->frame_count ? s * (trajectory->frame_count - 1) / (sampled > 1 ? sampled - 1 : 1) : s;
        const double *stated = trajectory->energy + SP_ENERGY_COUNT * frame;
        energy_sum kinetic = {0}, strain = {0};
        compute(e, frame, &kinetic, &strain);

        const double limit = ENERGY + ENERGY_ROUNDING * strain.terms / scale;
        verify_keep_worst(fabs(kinetic.value - stated[SP_ENERGY_KINETIC]) / scale,
                          ENERGY + ENERGY_ROUNDING * kinetic.terms / scale, &kinetic_error, &kinetic_limit);
        verify_keep_worst(fabs(strain.value - stated[SP_ENERGY_STRAIN]) / scale, limit, &strain_error, &strain_limit);
        above |= !((strain.value - stated[SP_ENERGY_STRAIN]) / scale <= limit);
    }

    char name[100];
    snprintf(name, sizeof name, "kinetic energy of %lld frames", (long long)sampled);
    verify_number(e->v, e->file, name, kinetic_error, kinetic_limit);
    snprintf(name, sizeof name, "strain energy of %lld frames", (long long)sampled);

    if (other_energy(e->file))
        verify_note(e->v, e->file, name, "%.2e from what is stated, %s", strain_error, other_energy(e->file));
    else if (!strcmp(parameter(e->file, "model"), "cubature") && (compute != weighted_energies || stores_work(e->file)))
        verify_note(e->v, e->file, name, "%.2e from what is stated, that of few elements%s", strain_error,
                    stores_work(e->file) ? ", the work against their force" : "");
    else if (compute == full_energies && is_corrected(e->file))
        verify_note(e->v, e->file, name, "%.2e from what is stated, that without the static correction", strain_error);
    else if (springs && strain_error > strain_limit && !above)
        verify_note(e->v, e->file, name,
                    "up to %.2e below what is stated: what springs of the loads and grounds would store", strain_error);
    else
        verify_number(e->v, e->file, name, strain_error, strain_limit);
}

/* Recorded displacements against U q; of a shape that modal warping turns, against its warped ones. */
static void check_points(energies *e)
{
    const sp_trajectory *trajectory = e->trajectory;
    const sp_columns *basis = e->basis;
    const bool warps = json_is_true(json_object_get(e->file->meta, "warp"));
    const char *name = warps ? "displacements are U q, warped" : "displacements are U q";

    if (is_corrected(e->file)) {
        verify_skip(e->v, e->file, name, "they have a static correction");
        return;
    }
    const artefact *mesh = warps ? verify_mesh(e->v, e->file, name, false) : NULL;
    if (warps && (!mesh || mesh->mesh.vertex_count != trajectory->vertex_count))
        return;

    double worst = 0, largest = 0;
    int64_t points = trajectory->point_count;
    int64_t sampled = trajectory->frame_count < e->v->sample ? trajectory->frame_count : e->v->sample;
    sp_pool pool = {0};
    sp_modal_warp warp = {0};
    double *u = tool_allocate_raw(&pool, basis->rows, sizeof *u),
           *work = tool_allocate_raw(&pool, 2 * basis->rows, sizeof *work);

    if (warps)
        tool_check(sp_modal_warp_new(e->v->context, &mesh->mesh, &warp), mesh->path);
    for (int64_t s = 0; s < sampled; s++) {
        int64_t frame =
            sampled < trajectory->frame_count ? s * (trajectory->frame_count - 1) / (sampled > 1 ? sampled - 1 : 1) : s;

        memset(u, 0, (size_t)basis->rows * sizeof *u);
        for (int64_t c = 0; c < trajectory->r; c++)
            for (int64_t i = 0; i < basis->rows; i++)
                u[i] += basis->U[c * basis->rows + i] * trajectory->q[frame * trajectory->r + c];
        if (warps)
            sp_modal_warp_apply(&warp, u, NULL, work);

        for (int64_t i = 0; i < 3 * points; i++) {
            const int64_t row = 3 * (trajectory->vertex ? trajectory->vertex[i / 3] : i / 3) + i % 3;
            const double stated = trajectory->u[frame * 3 * points + i];
            worst = verify_worse(fabs(u[row] - stated), worst);
            largest = fmax(largest, fabs(stated));
        }
    }

    verify_number(e->v, e->file, name, largest > 0 ? worst / largest : worst, 1e-11);
    sp_modal_warp_free(&warp);
    sp_pool_free(&pool);
}

/* Its own copy of the polynomials, for edits; all from `pool`. */
static sp_polynomials *copy_polynomials(const sp_polynomials *p, sp_pool *pool)
{
    sp_polynomials *copy = tool_allocate_copy(pool, p, 1, sizeof *copy);
    copy->parts = tool_allocate_copy(pool, p->parts, p->part_count, sizeof *p->parts);
    copy->groups = p->group_count ? tool_allocate_copy(pool, p->groups, p->group_count, sizeof *p->groups) : NULL;
    copy->mass = tool_allocate_copy(pool, p->mass, p->r * p->r, sizeof(double));
    copy->gravity = tool_allocate_copy(pool, p->gravity, 3 * p->r, sizeof(double));
    for (int64_t g = 0; copy->groups && g < p->group_count; g++) {
        copy->groups[g].mass = tool_allocate_copy(pool, p->groups[g].mass, p->r * p->r, sizeof(double));
        copy->groups[g].gravity = tool_allocate_copy(pool, p->groups[g].gravity, 3 * p->r, sizeof(double));
    }
    return copy;
}

/* A motion that was simulated with other materials than its mesh's: the mesh with those, and what the energies are then
 * of. False, after saying why, where they cannot be had. */
static bool edit_materials(energies *e, const tool_material_edits *edits, artefact *mesh_file, artefact *polynomials,
                           sp_mesh *mesh, sp_pool *pool)
{
    sp_context *context = e->v->context;
    static const char name[] = "materials as the options of simulate edited them";
    *mesh = mesh_file->mesh; /* its arrays stay the file's; new materials come from a pool of its own */
    mesh->pool = (sp_pool){0};
    int status = tool_edit_materials(context, edits, mesh);
    if (status == SP_OK && polynomials) {
        sp_polynomials *edited = copy_polynomials(&polynomials->polynomials, pool);
        status = sp_polynomials_edit(context, edited, mesh->material_count, mesh_file->mesh.materials, mesh->materials);
        e->polynomials = edited;
    }
    verify_fact(e->v, e->file, name, status == SP_OK, "%s", status == SP_OK ? "yes" : context->message);
    return status == SP_OK;
}

/* A motion with the forces of a cubature, on a body with its materials. */
static void check_weighted(energies *e, const artefact *cubature, const char *path, double scale, sp_pool *pool)
{
    sp_reduced_force force;
    const sp_trajectory *trajectory = e->trajectory;
    const sp_context *context = e->v->context;
    int64_t rows = 3 * e->body->mesh->vertex_count;

    bool fits = e->basis && e->basis->rows == rows && cubature->cubature.r >= trajectory->r &&
                e->basis->count >= cubature->cubature.r &&
                sp_cubature_check(e->v->context, &cubature->cubature, sp_mesh_element_count(e->body->mesh)) == SP_OK;
    verify_fact(e->v, e->file, "cubature and basis fit", fits, "%s", fits ? "yes" : context->message);
    if (!fits)
        return;

    e->U = verify_fixed_columns(e->basis, e->body, pool);
    e->u = tool_allocate_raw(pool, rows, sizeof *e->u);
    e->w = tool_allocate_raw(pool, rows, sizeof *e->w);

    sp_cubature own = cubature->cubature;

    /* Its linear part is of the materials as they are now. */
    if (own.stiffness) {
        own.stiffness = tool_allocate_raw(pool, own.r * own.r, sizeof *own.stiffness);
        tool_check(sp_reduced_stiffness(e->v->context, e->body, own.r, e->U, own.stiffness), path);
    }

    tool_check(sp_cubature_force_new(e->v->context, e->body, &own, trajectory->r, e->U, &force), path);
    e->weighted = &force;
    check_energies(e, weighted_energies, scale);

    if (is_static(e->file))
        verify_equilibrium(&(verify_statics){
            .v = e->v, .file = e->file, .trajectory = trajectory, .body = e->body, .U = e->U, .weighted = &force});

    force.destroy(force.self);
}

/* ---- by the model ---- */

/* Of a model with polynomials; edited: the mesh with other materials, NULL where they are the mesh's own. */
static void check_reduced_statics(energies *e, artefact *mesh, const sp_mesh *edited, sp_pool *pool)
{
    sp_fe_space body = {0};

    if (!is_static(e->file))
        return;
    if (!mesh)
        mesh = verify_mesh(e->v, e->file, "equilibrium", !edited);
    if (!mesh)
        return;

    if (!e->basis) {
        verify_skip(e->v, e->file, "equilibrium", "its basis is not among the files");
        return;
    }

    if (edited)
        tool_check(sp_fe_space_new_prescribed(e->v->context, edited, &body), mesh->path);
    const sp_fe_space *own = edited ? &body : &mesh->body;

    verify_equilibrium(&(verify_statics){.v = e->v,
                                         .file = e->file,
                                         .trajectory = e->trajectory,
                                         .body = own,
                                         .U = verify_fixed_columns(e->basis, own, pool),
                                         .polynomials = e->polynomials,
                                         .gram = e->gram});
    sp_fe_space_free(&body);
}

/* ---- one function for each source of energies ---- */

/* What the energies of a motion are computed from, and the mesh where one is needed. */
typedef struct motion_source {
    artefact *polynomials, *cubature, *mesh;
    const sp_mesh *edited; /* the mesh with other materials; NULL: those of its file */
    double scale;          /* of the energies */
} motion_source;

/* The body of the mesh, or of the mesh with other materials, which `own` receives. */
static const sp_fe_space *body_of(const energies *e, const motion_source *source, sp_fe_space *own)
{
    if (!source->edited)
        return &source->mesh->body;
    tool_check(sp_fe_space_new_prescribed(e->v->context, source->edited, own), source->mesh->path);
    return own;
}

static void check_by_polynomials(energies *e, const motion_source *source, sp_pool *pool)
{
    const int64_t N = sp_polynomial_order(e->polynomials->r);
    e->gram = verify_gram_sum(e->polynomials, pool);
    e->z = tool_allocate_raw(pool, N, sizeof *e->z);
    e->y = tool_allocate_raw(pool, N, sizeof *e->y);
    check_energies(e, reduced_energies, source->scale);
    check_reduced_statics(e, source->mesh, source->edited, pool);
}

static void check_by_vertices(energies *e, const motion_source *source, sp_pool *pool)
{
    const sp_trajectory *trajectory = e->trajectory;
    artefact *mesh = source->mesh;
    const bool fits = mesh->mesh.vertex_count == trajectory->vertex_count;
    verify_fact(e->v, e->file, "vertices", fits, "%lld (%lld)", (long long)trajectory->vertex_count,
                (long long)mesh->mesh.vertex_count);
    if (!fits)
        return;

    sp_fe_space own = {0};
    e->body = body_of(e, source, &own);
    e->u = tool_allocate_raw(pool, 3 * trajectory->vertex_count, sizeof *e->u);
    e->w = tool_allocate_raw(pool, 3 * trajectory->vertex_count, sizeof *e->w);
    e->fixed = verify_fixed_bits(&mesh->mesh, pool);

    /* Only models of all vertices have prescribed vertices. */
    if (!trajectory->r)
        verify_prescribed(e->v, e->file, trajectory, &mesh->mesh, e->fixed, pool);
    check_energies(e, full_energies, source->scale);
    if (is_static(e->file) && !trajectory->r)
        verify_equilibrium(&(verify_statics){.v = e->v,
                                             .file = e->file,
                                             .trajectory = trajectory,
                                             .body = e->body,
                                             .linear = e->linear,
                                             .stiffness = &mesh->stiffness,
                                             .fixed = e->fixed});
    sp_fe_space_free(&own);
}

static void check_by_cubature(energies *e, const motion_source *source, sp_pool *pool)
{
    sp_fe_space own = {0};
    e->body = body_of(e, source, &own);
    check_weighted(e, source->cubature, e->file->path, source->scale, pool);
    sp_fe_space_free(&own);
}

static void check_by_modes(energies *e, const motion_source *source, sp_pool *pool)
{
    (void)pool;
    check_energies(e, modal_energies, source->scale);
}

/* Says which file is missing. The displacements of some vertices alone have no energy. */
static void skip_energies(energies *e, const motion_source *source, sp_pool *pool)
{
    static const struct {
        const char *model, *missing;
    } files[] = {{"modal", "its modes are not among the files"},
                 {"cubature", "its cubature and its basis are not both among the files"},
                 {"", "its polynomials are not among the files"}};
    (void)source;
    (void)pool;
    if (!e->trajectory->r)
        return;

    int k = 0;
    while (*files[k].model && strcmp(parameter(e->file, "model"), files[k].model) != 0)
        k++;
    verify_skip(e->v, e->file, "energies of the frames", "%s", files[k].missing);
}

enum source_kind { BY_POLYNOMIALS, BY_VERTICES, BY_CUBATURE, BY_MODES, BY_NOTHING };

static enum source_kind find_source(const energies *e, const motion_source *source)
{
    const sp_trajectory *trajectory = e->trajectory;
    const char *model = parameter(e->file, "model");
    if (trajectory->r && source->polynomials && source->polynomials->polynomials.r >= trajectory->r)
        return BY_POLYNOMIALS;
    if (!strcmp(model, "cubature"))
        return trajectory->r && source->cubature && e->basis ? BY_CUBATURE : BY_NOTHING;
    if (trajectory->r && !strcmp(model, "modal"))
        return e->basis && e->basis->eigenvalue ? BY_MODES : BY_NOTHING;
    return trajectory->u && !trajectory->vertex ? BY_VERTICES : BY_NOTHING;
}

/* What a motion says about its basis and mass. */
static energies read_energies(verify *v, artefact *file, const sp_trajectory *trajectory)
{
    const char *model = parameter(file, "model");
    const artefact *basis = verify_find(v, file->basis_hash);
    energies e = {.v = v, .file = file, .trajectory = trajectory, .linear = !strcmp(model, "linear")};
    if (basis && basis->columns.rows == 3 * trajectory->vertex_count && basis->columns.count >= trajectory->r)
        e.basis = &basis->columns;

    /* In a basis the mass is that of the basis. */
    e.lumped = !strcmp(parameter(file, "lumping"), "lumped") && trajectory->r == 0 && strcmp(model, "reduced") != 0;
    if (trajectory->r && e.basis)
        e.lumped = e.basis->lumped;
    return e;
}

static void check_motion(verify *v, artefact *file, const sp_trajectory *trajectory, double scale)
{
    static const struct {
        bool needs_mesh;
        void (*check)(energies *e, const motion_source *source, sp_pool *pool);
    } ways[] = {[BY_POLYNOMIALS] = {false, check_by_polynomials},
                [BY_VERTICES] = {true, check_by_vertices},
                [BY_CUBATURE] = {true, check_by_cubature},
                [BY_MODES] = {false, check_by_modes},
                [BY_NOTHING] = {false, skip_energies}};
    energies e = read_energies(v, file, trajectory);
    if (trajectory->r && trajectory->u && e.basis)
        check_points(&e);

    motion_source source = {.polynomials = verify_input(v, file, "polynomials", NULL),
                            .cubature = verify_input(v, file, "cubature", NULL),
                            .scale = scale};
    const enum source_kind kind = find_source(&e, &source);
    if (kind == BY_POLYNOMIALS)
        e.polynomials = &source.polynomials->polynomials;

    /* Edited materials change the energies, and with them the polynomials by region. */
    tool_material_edits edits;
    tool_check(tool_material_edits_recorded(v->context, file->meta, &edits), file->path);
    const bool other = tool_material_edits_given(&edits), needs_mesh = ways[kind].needs_mesh;
    if (needs_mesh || (kind == BY_POLYNOMIALS && other)) {
        source.mesh = verify_mesh(v, file, "energies of the frames", needs_mesh && !other);
        if (!source.mesh)
            return;
    }

    sp_pool pool = {0};
    sp_mesh edited = {0};
    bool usable = true;
    if (source.mesh && other) {
        usable =
            edit_materials(&e, &edits, source.mesh, kind == BY_POLYNOMIALS ? source.polynomials : NULL, &edited, &pool);
        source.edited = &edited;
    }
    if (usable)
        ways[kind].check(&e, &source, &pool);
    sp_pool_free(&edited.pool);
    sp_pool_free(&pool);
}

void verify_trajectory(verify *v, artefact *file)
{
    sp_trajectory trajectory;
    tool_check(sp_trajectory_read(v->context, file->descriptor, false, &trajectory), file->path);
    verify_fact(v, file, "frames", true, "%lld with increasing times from %g s to %g s, all values finite",
                (long long)trajectory.frame_count, trajectory.time[0], trajectory.time[trajectory.frame_count - 1]);
    double scale = energy_scale(&trajectory);
    check_balance(v, file, &trajectory, scale);
    verify_cuts(v, file, &trajectory);
    check_motion(v, file, &trajectory, scale);
    sp_trajectory_free(&trajectory);
}
