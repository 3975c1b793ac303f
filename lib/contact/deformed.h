/* The distance field of a reduced deformed body, approximated from its field at rest through proxies (thesis §3.12).
 *
 * Proxies are points P_i of the body with modal displacements U_i and displacement gradients H_ij = ∂U_j/∂X there. At q
 * a proxy is at p_i = P_i + U_i q with F_i = I + Σ_j q_j H_ij. The distance at x is Σ w_i d(P_i + F_i⁻¹(x − p_i)) over
 * the k nearest proxies, with the weights of eq. 3.16, which vanish at the k-th; where there are fewer than k the
 * others count as infinitely far: w_i ~ 1/|x − p_i|. So it is continuous in x and q, within the boxes of the fields,
 * except where all k are at one distance: at single places for k = 4, on lines for 3 and planes for 2; k = 1 is the
 * nearest proxy alone, with jumps. A proxy whose F is of no use (det F ≤ 1e-6, or numbers beyond 1e30) is left out. It
 * is no bound: mirror images of far parts come in (§3.12.1), which several domains lessen: each has its own field and
 * proxies, and the least of their values counts. */
#ifndef SP_CONTACT_DEFORMED_H
#define SP_CONTACT_DEFORMED_H

#include "contact/distance.h"
#include "mesh/mesh.h"

enum { SP_DEFORMED_NEAREST = 16 }; /* k at most */

typedef struct sp_deformed_domain {
    const sp_field *field; /* at rest, in the coordinates of the mesh */
    int64_t count;         /* proxies, ≥ 1 */
    const double *points;  /* [count, 3] m, in the coordinates of the mesh */
} sp_deformed_domain;

/* nearest: k, 5 in the thesis; fewer proxies than that: all of them. U [3·vertices, r, column major] moves the mesh; a
 * proxy in no element goes with the nearest one, as points of shells do (pointshell/pointshell.h). The fields must
 * outlive it; points are copied. Starts at q = 0. SP_USAGE for k outside 1 … SP_DEFORMED_NEAREST and domains without
 * proxies, SP_INPUT for a proxy that is not finite or beyond 1e30 m. */
int sp_deformed_field_new(sp_context *context, const sp_mesh *mesh, int64_t r, const double *U, int64_t domains,
                          const sp_deformed_domain *domain, int nearest, sp_deformed_field **deformed) SP_MUST_USE;
void sp_deformed_field_free(sp_deformed_field *deformed); /* NULL is allowed */

/* The same for another body of its model, which moves on its own: what is constant is that of `deformed`, which must
 * outlive it. */
int sp_deformed_field_share(sp_context *context, const sp_deformed_field *deformed,
                            sp_deformed_field **shared) SP_MUST_USE;

/* Moves the proxies to q [r] (NULL: 0), 12 r operations each; allocates nothing. */
void sp_deformed_field_update(sp_deformed_field *deformed, const double *q);

/* The box in which the estimate can be negative now, in the body's frame: about the images p_i + F_i (X − P_i) of the
 * box in which the field at rest is negative under all proxies that are not left out; empty where there are none. */
void sp_deformed_field_box(const sp_deformed_field *deformed, sp_box *box);

/* The estimate at x in the body's frame. gradient (NULL: not wanted) Σ w_i F_i⁻ᵀ∇d_i of the domain that counts, the
 * weights taken as constant. proxy (NULL: not wanted): the nearest one of that domain, numbered through all domains.
 * Where all proxies are left out INFINITY, gradient 0 and proxy 0. Thread safe between updates; allocates nothing. */
double sp_deformed_field_at(const sp_deformed_field *deformed, const double x[3], double gradient[3], int64_t *proxy);

int64_t sp_deformed_field_r(const sp_deformed_field *deformed);

/* Modal displacements [3, r, row major] of a proxy: where the force on the body goes (§3.12). */
const double *sp_deformed_field_rows(const sp_deformed_field *deformed, int64_t proxy);

/* [r] m, the largest length of U_i,j over all proxies, for temporal coherence: none moves by more than Σ_j reach_j
 * |Δq_j|. */
const double *sp_deformed_field_reach(const sp_deformed_field *deformed);

#endif
