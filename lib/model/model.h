/* A model of one deformable body: how its motion is described (reduced-order or full-order), with its loads, prescribed
 * motion and damping. It is created from a description, evaluated and integrated through sp_model.system and
 * sp_model_external (integrate/integrate.h), reports, and is freed. */
#ifndef SP_MODEL_MODEL_H
#define SP_MODEL_MODEL_H

#include "cubature/cubature.h"
#include "model/conjac/conjac.h"
#include "model/loads.h"
#include "model/models.h"
#include "model/warp/warp.h"
#include "reduced/polynomial.h"

/* Reduced-order models come first: their coordinates q [r] are amplitudes of the columns of a basis, u = U q. The
 * coordinates of the others are the free degrees of freedom of the mesh. */
enum sp_model_kind {
    SP_MODEL_POLYNOMIALS, /* the projected force of a linear material, as cubic polynomials */
    SP_MODEL_CUBATURE,    /* the forces of some elements, weighted (hyper-reduction) */
    SP_MODEL_GALERKIN,    /* the forces of all elements, projected: f(q) = Uᵀ f(U q) */
    SP_MODEL_MODAL,       /* mode superposition: f = diag(λ) q */
    SP_MODEL_NONLINEAR,   /* the laws of the materials at finite strain */
    SP_MODEL_LINEAR,      /* f = K(0) u */
    SP_MODEL_WARP,        /* corotated linear elasticity (model/warp/warp.h) */
    SP_MODEL_CONJAC,      /* a few dynamic vertices, the others quasi-static (model/conjac/conjac.h) */
};

static inline bool sp_model_kind_reduced(enum sp_model_kind kind)
{
    return kind <= SP_MODEL_MODAL;
}

/* The description. Members that the kind does not need are not read. Everything that it points to except `grounds` and
 * `condensation` must outlive the model. */
typedef struct sp_model_description {
    enum sp_model_kind kind;
    sp_fe_space *space; /* of the mesh, whose materials the model uses */

    /* reduced-order models */
    int64_t r;                         /* coordinates: the first r columns */
    int64_t rows;                      /* 3·vertices */
    const double *U;                   /* [rows, ≥ r, column major] */
    bool basis_lumped;                 /* the basis is orthonormal in the lumped mass */
    const double *eigenvalue;          /* MODAL: [r] rad²/s² */
    const sp_polynomials *polynomials; /* POLYNOMIALS: made for the materials of the mesh */
    const sp_cubature *cubature;       /* CUBATURE */
    enum sp_jacobian jacobian;         /* CUBATURE: the matrix of Newton's method */
    double jacobian_tolerance;         /* of its iterative solvers, 0: their defaults */

    /* full-order models */
    bool lumped;                            /* diagonal mass */
    enum sp_solver solver;                  /* NONLINEAR, LINEAR, CONJAC */
    double solver_tolerance;                /* relative to the right side; 0: the solver's default */
    sp_warp warp;                           /* WARP */
    sp_condensation condensation;           /* CONJAC */
    int64_t ground_count;                   /* floor planes */
    const sp_ground *grounds;               /* [ground_count] */
    const sp_prescribed_motion *prescribed; /* of fixed vertices; NULL: they rest */

    /* loads and damping */
    double gravity[3]; /* m/s² */
    int64_t load_count;
    const sp_load *loads; /* [load_count] */
    int64_t activation_count;
    const sp_activation *activations; /* [activation_count]; NULL: none */
    const sp_viscosity *viscosity;    /* [regions] damping by strain rate; NULL: none. Not MODAL, WARP, CONJAC */
    const sp_decay_times *decay;      /* damping of reduced-order models by time constants, without viscosity; NULL:
                                         none */
} sp_model_description;

/* The part of a description that a failure of sp_model_new is about, so that a caller can name its file. */
enum sp_model_part {
    SP_PART_MESH,
    SP_PART_BASIS,
    SP_PART_POLYNOMIALS,
    SP_PART_CUBATURE,
    SP_PART_GROUNDS,
    SP_PART_DYNAMIC, /* the dynamic vertices of CONJAC */
    SP_PART_LOADS,
    SP_PART_GRAVITY,
    SP_PART_ACTIVATION,
    SP_PART_COUNT
};

/* The caller reads it; only the functions below change it. */
typedef struct sp_model {
    enum sp_model_part part; /* after a failure */
    enum sp_model_kind kind;
    sp_fe_space *space;
    sp_system system;
    sp_load_set loads;
    double growth;       /* 1/s, linear growth rate of instability about rest if the force has no energy
                            (sp_reduced_system_growth); else 0 */
    double drift_missed; /* of a body that nothing holds, under loads with a sum: the part of its acceleration as a
                            whole, by mass, that the basis cannot make; else 0 */
    int64_t r, rows;
    const double *U;
    sp_viscous viscous;
    sp_pool pool;
} sp_model;

/* SP_USAGE and SP_INPUT as for its parts (model/models.h, model/loads.h, …). SP_USAGE also for gravity on a
 * reduced-order model of a body that is free to fall, if its basis cannot represent the fall (relative error of the
 * acceleration by mass above 1e-3). */
int sp_model_new(sp_context *context, const sp_model_description *description, sp_model *model) SP_MUST_USE;
/* The same for reduced-order models only (SP_USAGE for others). A program that creates no others need not be linked
 * with libraries for sparse factorizations. */
int sp_reduced_model_new(sp_context *context, const sp_model_description *description, sp_model *model) SP_MUST_USE;

void sp_model_free(sp_model *model); /* a zeroed one is allowed */

/* For an integrator: the model must outlive it. */
sp_external_loads sp_model_external(sp_model *model);

/* Values at vertices: displacements u [3·count] for coordinates q, or velocities for their rates. vertex [count]; NULL:
 * all vertices in order. prescribed [3·vertices]: those of fixed vertices, zero elsewhere; NULL: zero. */
void sp_model_at_vertices(const sp_model *model, const double *q, const double *prescribed, int64_t count,
                          const int64_t *vertex, double *u);

/* The report of the system at q (sp_system.report). */
int sp_model_report(const sp_model *model, const double *q, const double *external,
                    sp_system_report *report) SP_MUST_USE;

#endif
