/* A reduced-order deformable body: it is opened from files of the programs, and moved step by step under loads.
 *
 *     supple_body_files files = {"spoon.npz", "basis.npz", "poly.npz", NULL, 0};
 *     supple_integration how = supple_integration_default();
 *     supple_body *body;
 *     if (supple_body_open(&files, &body) || supple_body_start(body, &how, NULL, NULL))
 *         puts(supple_error());
 *     supple_body_set_force(body, tip, (const double[3]){0, 0, -10});
 *     while (supple_body_time(body) < 1 && supple_body_step(body) == SUPPLE_OK)
 *         supple_body_displacements(body, 1, &tip, u);
 *     supple_body_close(body);
 *
 * The displacement of the mesh is u = U q, with the basis U [3·vertices, r] and the reduced coordinates q [r]. The
 * coordinates obey
 *
 *     UᵀMU q̈ + (α UᵀMU + β K(q)) q̇ + f(q) = Uᵀ F(t),     K = ∂f/∂q.
 *
 * The same mesh, loads and integration give the coordinates that the program `simulate` writes. */
#ifndef SUPPLE_BODY_H
#define SUPPLE_BODY_H

#include <supple/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct supple_body supple_body;

/* ---- opening ---- */

/* Paths of the files of a body. With `polynomials`, internal forces are the cubic polynomials of polycoef; with
 * `cubature`, the weighted elements of cubature; with neither, `basis` is a file of modes, and the body moves by mode
 * superposition. Both is SUPPLE_USAGE. */
typedef struct supple_body_files {
    const char *mesh;        /* from voxelize or simimport; required */
    const char *basis;       /* required */
    const char *polynomials; /* NULL: none */
    const char *cubature;    /* NULL: none */
    int64_t r;               /* use the first r coordinates; 0: all */
} supple_body_files;

/* Reads and checks the files: they must belong to each other. *body is NULL after a failure. The body has no motion yet
 * (supple_body_start). */
supple_status supple_body_open(const supple_body_files *files, supple_body **body) SUPPLE_MUST_USE;

/* Frees the body. NULL is allowed. */
void supple_body_close(supple_body *body);

/* Numbers of reduced coordinates, of vertices of the mesh, and of vertices and triangles of its embedded surface (0
 * without one). 0 for NULL. */
int64_t supple_body_coordinates(const supple_body *body);
int64_t supple_body_vertices(const supple_body *body);
int64_t supple_body_surface_vertices(const supple_body *body);
int64_t supple_body_surface_triangles(const supple_body *body);

/* Rest positions [vertices, 3] of the mesh and of its embedded surface, and the triangles [triangles, 3] of that. The
 * arrays are the body's and never change; NULL without a surface. */
const double *supple_body_rest(const supple_body *body);
const double *supple_body_surface_rest(const supple_body *body);
const int64_t *supple_body_surface(const supple_body *body);

/* The basis U: column j has the displacements [vertices, 3] for a unit of coordinate j, and starts at
 * j · 3 · supple_body_vertices(). The body's own. */
const double *supple_body_basis(const supple_body *body);

/* The vertex of the mesh that is nearest to a point at rest, of those that elements use; the smallest number where
 * several are. Allocates. */
supple_status supple_body_nearest(const supple_body *body, const double point[3], int64_t *vertex) SUPPLE_MUST_USE;

/* ---- integration ---- */

typedef enum supple_scheme {
    SUPPLE_NEWMARK, /* implicit Newmark, with `beta` and `gamma` */
    SUPPLE_ENERGY,  /* implicit, conserves energy exactly; where the force is cubic in q */
    SUPPLE_CENTRAL, /* explicit central differences; refuses steps above the stability limit */
    SUPPLE_STATIC,  /* the equilibrium under the loads of each step */
    SUPPLE_EULER,   /* implicit Euler, first order */
    SUPPLE_BDF2,    /* backward differences, second order */
    SUPPLE_EXACT    /* each mode exactly; for bodies by mode superposition */
} supple_scheme;

typedef struct supple_integration {
    supple_scheme scheme;
    double step;              /* h > 0, s */
    double beta, gamma;       /* Newmark: β in (0, 1], γ in [0, 1] */
    double damping_mass;      /* Rayleigh α ≥ 0, 1/s; −1: that of the mesh */
    double damping_stiffness; /* Rayleigh β ≥ 0, s; −1: that of the mesh */
    bool semi_implicit;       /* Newmark: one Newton iteration in each step, as the papers take it in real time */
    double tolerance;         /* Newton's method: residual relative to the largest force term; 0: 1e-10, energy 1e-12 */
    int64_t iterations;       /* Newton's method: at most, in each step; 0: 50 */
} supple_integration;

/* Newmark with β = ¼, γ = ½, steps of 0.01 s and the damping of the mesh, as `simulate` without options. */
supple_integration supple_integration_default(void);

/* Starts a motion at time 0 from coordinates and rates [r] (NULL: 0). It may be called again to start another. Loads
 * that were set stay. May allocate. */
supple_status supple_body_start(supple_body *body, const supple_integration *integration, const double *q,
                                const double *qdot) SUPPLE_MUST_USE;

/* One step. After a failure the body is in the state of the step before. SUPPLE_USAGE before supple_body_start. */
supple_status supple_body_step(supple_body *body) SUPPLE_MUST_USE;

/* ---- loads: constant until they are set again ----
 *
 * They act from the present time on, whether they were set before supple_body_start or between two steps: the next step
 * begins with the acceleration that they give, and the motion is accurate to second order in the step. */

/* A force [N] on a vertex of the mesh, in place of all forces on vertices that were set before. */
supple_status supple_body_set_force(supple_body *body, int64_t vertex, const double force[3]) SUPPLE_MUST_USE;

/* Forces [count, 3] on vertices [count], in place of all that were set before; a vertex may occur several times. count
 * 0: none. The time is proportional to count · r. */
supple_status supple_body_set_forces(supple_body *body, int64_t count, const int64_t *vertex,
                                     const double *force) SUPPLE_MUST_USE;

/* The generalized force Uᵀ F [r] beside those on vertices, in place of the one that was set before. NULL: none. */
supple_status supple_body_set_generalized_force(supple_body *body, const double *force) SUPPLE_MUST_USE;

/* A linear spring from a vertex to a fixed point. */
typedef struct supple_spring {
    int64_t vertex;
    double anchor[3]; /* m */
    double stiffness; /* N/m, ≥ 0 */
} supple_spring;

/* Springs, in place of all that were set before. SUPPLE_USAGE for mode superposition, whose modes springs would couple.
 * Allocates if there are more than ever before. */
supple_status supple_body_set_springs(supple_body *body, int64_t count, const supple_spring *spring) SUPPLE_MUST_USE;

/* The acceleration of gravity, m/s². SUPPLE_USAGE for a body that nothing fixes and whose basis cannot fall: put it
 * into a scene as a free body. One product with the basis; allocates. */
supple_status supple_body_set_gravity(supple_body *body, const double gravity[3]) SUPPLE_MUST_USE;

/* The loads over time of a CSV file (formats/loads.md), beside those above; NULL: none. To be called before
 * supple_body_start, from whose time 0 the times in the file count. */
supple_status supple_body_load_file(supple_body *body, const char *path) SUPPLE_MUST_USE;

/* Another Young's modulus [Pa], Poisson's ratio and density [kg/m³] of a region (NULL: of all); a negative number, or
 * for Poisson's ratio one below −1, leaves that property as it is. Polynomials must have been made with polycoef
 * --by-region or --by-constant where that is needed, as for `simulate --young`. A motion that has started goes on from
 * its coordinates and rates at the time that it has reached. Allocates. */
supple_status supple_body_set_material(supple_body *body, const char *region, double young, double poisson,
                                       double density) SUPPLE_MUST_USE;

/* ---- the state ---- */

/* The time in s; 0 before supple_body_start and for NULL. */
double supple_body_time(const supple_body *body);

/* Coordinates and rates [r]; NULL before supple_body_start. The arrays are the body's. Every call that changes the
 * motion changes their values; their addresses stay the same until supple_body_close. */
const double *supple_body_q(const supple_body *body);
const double *supple_body_qdot(const supple_body *body);

/* Displacements [count, 3] of vertices [count] of the mesh; vertex NULL: of the first `count` vertices. The same in
 * single precision, velocities, and displacements of vertices of the embedded surface. The time is proportional to
 * count · r. */
supple_status supple_body_displacements(const supple_body *body, int64_t count, const int64_t *vertex,
                                        double *u) SUPPLE_MUST_USE;
supple_status supple_body_displacements_float(const supple_body *body, int64_t count, const int64_t *vertex,
                                              float *u) SUPPLE_MUST_USE;
supple_status supple_body_velocities(const supple_body *body, int64_t count, const int64_t *vertex,
                                     double *v) SUPPLE_MUST_USE;
supple_status supple_body_surface_displacements(const supple_body *body, int64_t count, const int64_t *vertex,
                                                float *u) SUPPLE_MUST_USE;

/* Energies and work in J since supple_body_start. kinetic + stored = what they were at the start + work − dissipated,
 * up to the error of the scheme. One evaluation of the force. */
typedef struct supple_energies {
    double kinetic, stored, work, dissipated;
} supple_energies;
supple_status supple_body_energies(supple_body *body, supple_energies *energies) SUPPLE_MUST_USE;

/* What the motion took since supple_body_start. */
typedef struct supple_step_report {
    int64_t steps, newton_iterations, factorizations;
    double worst_residual; /* relative, over all steps */
} supple_step_report;
supple_status supple_body_report(const supple_body *body, supple_step_report *report) SUPPLE_MUST_USE;

/* What is to be said of the steps so far, as simulate says at its end: energy that nothing put in, steps that did not
 * converge, semi-implicit steps that are far from the energy balance. Sentences in English, each with a line feed at
 * its end; an empty text if there is nothing. Copies them, with a zero behind the last, to `text` of *size bytes (NULL:
 * not), and sets *size to what is needed. Energies are looked at in every 16th step. It is allowed after a step has
 * failed. */
supple_status supple_body_warnings(const supple_body *body, char *text, size_t *size) SUPPLE_MUST_USE;

/* The parts of the equation of motion, for an integrator of one's own: internal force f(q) [r], stiffness K(q) [r, r,
 * column major], both without springs, stored energy in J, and mass UᵀMU [r, r]. Each pointer behind q may be NULL. The
 * motion is not affected. SUPPLE_NUMERICAL if the force or the energy is not finite. The first call, and the first one
 * after another material was set, allocates. */
supple_status supple_body_evaluate(supple_body *body, const double *q, double *force, double *stiffness,
                                   double *energy) SUPPLE_MUST_USE;
supple_status supple_body_mass(supple_body *body, double *mass) SUPPLE_MUST_USE;

/* ---- saving ---- */

/* Saves everything that the next steps depend on. *size is the size of `state` in bytes and receives the size that is
 * needed; state NULL asks for that only. SUPPLE_USAGE, with *size set, if it is too small. The bytes are those of this
 * machine and this version of the library. Allocates. */
supple_status supple_body_save(supple_body *body, void *state, size_t *size) SUPPLE_MUST_USE;

/* Returns to a saved state of a body that was opened from the same files and started with the same integration, with
 * the same materials, gravity and loads of a file: the next steps are the same bytes. Forces and springs that were set
 * are part of the state. SUPPLE_INPUT, with the body as it was, if the bytes are damaged or belong to another body.
 * Allocates; if there is no memory left, the body has no motion until supple_body_start. */
supple_status supple_body_load(supple_body *body, const void *state, size_t size) SUPPLE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
