/* Free bodies joined at interfaces, in trees and in closed loops: substructures with large rotations, each in a frame
 * of its own (Barbič and Zhao, Real-time large-deformation substructuring, 2011).
 *
 * An interface is a set of vertices of a body. A joint makes an interface of its parent, or a frame that is fixed in
 * the world, and an interface of its child move as one in the mean. With x the place of a vertex in the world, R_c the
 * rotation of the child, and sums with the shares s of the vertices of an interface:
 *
 *     Φ_t = mean of x over the parent's interface − mean of x over the child's = 0                              [m]
 *     Φ_R = J_p⁻¹ Σ_p s Z × R_cᵀ (x − mean of x) − J_c⁻¹ Σ_c s Z × R_cᵀ (x − mean of x) = 0                     [rad]
 *
 * with the arms Z at rest about the mean, in the axes of the child, and J = Σ s (|Z|² I − Z Zᵀ). The first sum is
 * zero if R_c is the rotation that fits the parent's interface best (polar decomposition). The second one is zero for a
 * child whose coordinates neither move nor turn its interface in the mean, for example one that is fixed there. The
 * interfaces of both sides need not have the same vertices. Φ is a sum of products of vectors y = R (a + A q) that are
 * attached to bodies, with constant a and A. A step visits no vertices.
 *
 * The step is that of rigid/free.h, with the impulses λ [6] of each joint as further unknowns and Φ = 0 at its end. For
 * Cayley rotations R₁ = R₀ cay(w), w = h Ω̄, every such vector satisfies
 *
 *     y₁ − y₀ = R₀w × ½(y₀ + y₁) + R₀ (I + ½[w]) A (q₁ − q₀),
 *
 * and Φ₁ − Φ₀ follows from it with mean factors in the products, exactly. Impulses along this discrete gradient
 * (Gonzalez 1996; Betsch and Steinmann 2001) do no work and have no resultant: energy and momenta are conserved as they
 * are by single bodies.
 *
 * Each iteration of Newton's method eliminates the bodies from the leaves to the roots, with the exact derivatives. The
 * cost is linear in the number of bodies. A joint that closes a loop adds six unknowns, and one more solution of the
 * tree for each. */
#ifndef SP_RIGID_JOINED_H
#define SP_RIGID_JOINED_H

#include "rigid/free.h"

/* One of the bodies. Everything is borrowed and must outlive the set. Its free body has no shared workspaces, is not
 * decoupled and has the step of the set. */
typedef struct sp_joined_body {
    const char *name; /* for messages; NULL: its number */
    sp_free_body *free;
    const sp_inertia *inertia;
    const double *places; /* [vertices, 3] at rest, m */
    const double *U;      /* [3·vertices, r, column major]; NULL: r = 0 */
    int64_t rows;         /* 3·vertices */
} sp_joined_body;

typedef struct sp_joint_side {
    int64_t body;  /* −1: the world (parents only), whose interface is that of the child where the child starts */
    int64_t count; /* vertices of the interface, at least three and not on one line */
    const int64_t *vertices;
    const double *share; /* [count] weights of the vertices in means, 1 in all; NULL: equal */
} sp_joint_side;

/* A joint whose child has a parent already, or is an ancestor of the parent, closes a loop. */
typedef struct sp_joint {
    sp_joint_side parent, child;
} sp_joint;

typedef struct sp_joined_parameters {
    double step;        /* s */
    bool semi_implicit; /* one Newton iteration, as for the bodies. The rates of Φ then vanish at the end of the step,
                           but for −Φ/(2h), which closes what the iteration leaves open. Momenta are those of the bodies
                           up to Φ */
    double tolerance;   /* of Newton's method; 0: 1e-12 */
    int64_t iterations; /* at most; 0: 50 */
} sp_joined_parameters;

typedef struct sp_joined sp_joined;

/* The bodies are undeformed where they are placed, and meet there. SP_INPUT if the interfaces of a joint do not meet:
 * their means are further apart than 5 % of the child's interface is wide; if an interface is degenerate; if a joint
 * has both ends on one body. Messages number joints, and bodies without a name,
 * from 0. */
int sp_joined_new(sp_context *context, const sp_joined_parameters *parameters, int64_t body_count,
                  const sp_joined_body *bodies, int64_t joint_count, const sp_joint *joints,
                  sp_joined **joined) SP_MUST_USE;
void sp_joined_free(sp_joined *joined); /* NULL is allowed */

/* The loads of one step on a body: F, T about its centre of mass and Q as in sp_free_body_step. */
typedef struct sp_joined_load {
    double F[3], T[3];
    const double *Q; /* [r]; NULL: none */
} sp_joined_load;

/* One step of all bodies under loads [bodies]. SP_NUMERICAL if Newton's method does not converge, a result is not
 * finite, or the bodies of a loop cannot deform as it requires; all bodies stay as they were. The result does not
 * depend on the number of threads. */
int sp_joined_step(sp_joined *joined, const sp_joined_load *loads) SP_MUST_USE;

/* Φ of a joint as the bodies are: three lengths [m] and three angles [rad]. */
void sp_joined_gap(const sp_joined *joined, int64_t joint, double gap[6]);

/* The mean force [N, world] and moment [N m, axes of the child] of a joint on its parent in the last step. */
void sp_joined_reaction(const sp_joined *joined, int64_t joint, double reaction[6]);

int64_t sp_joined_loops(const sp_joined *joined); /* number of joints that close loops */

const sp_free_report *sp_joined_reported(const sp_joined *joined);

/* Saves or loads what the next steps take from earlier ones (base/state.h), without the bodies. */
void sp_joined_visit(sp_joined *joined, sp_state *state);

#endif
