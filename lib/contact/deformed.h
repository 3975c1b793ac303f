/* The signed distance field of a deformable reduced-order body, approximated from its field at rest by proxies (thesis
 * §3.12).
 *
 * Proxies are points P_i of the body with modal displacements U_i and displacement gradients H_ij = ∂U_j/∂X. At q a
 * proxy is at p_i = P_i + U_i q with the deformation gradient F_i = I + Σ_j q_j H_ij. The distance at x is Σ w_i d(P_i
 * + F_i⁻¹(x − p_i)) over the k nearest proxies, with the weights of eq. 3.16, which vanish at the k-th proxy. If there
 * are fewer than k proxies, the missing ones count as infinitely far: w_i ~ 1/|x − p_i|.
 *
 * Within the boxes of the fields the distance is therefore continuous in x and q, except where all k proxies are
 * equally far: at single points for k = 4, on lines for 3 and on planes for 2. k = 1 uses the nearest proxy alone, with
 * jumps. A proxy with a degenerate F (det F ≤ 1e-6, or numbers beyond 1e30) is left out. The estimate is not a bound:
 * mirror images of distant parts appear (§3.12.1). Several domains reduce this: each has its own field and proxies, and
 * the least of their values is the distance. */
#ifndef SP_CONTACT_DEFORMED_H
#define SP_CONTACT_DEFORMED_H

#include "contact/distance.h"
#include "mesh/mesh.h"

enum { SP_DEFORMED_NEAREST = 16 }; /* largest k */

typedef struct sp_deformed_domain {
    const sp_field *field; /* at rest, in the coordinates of the mesh */
    int64_t count;         /* number of proxies, ≥ 1 */
    const double *points;  /* [count, 3] m, in the coordinates of the mesh */
} sp_deformed_domain;

/* nearest is k, 5 in the thesis; if a domain has fewer proxies, all of them are used. U [3·vertices, r, column major]
 * deforms the mesh; a proxy outside all elements moves with the nearest element, as the points of point shells do
 * (pointshell/pointshell.h). The fields must outlive the result; the points are copied. It starts at q = 0. SP_USAGE
 * for k outside 1 … SP_DEFORMED_NEAREST and for domains without proxies, SP_INPUT for a proxy that is not finite or is
 * beyond 1e30 m. */
int sp_deformed_field_new(sp_context *context, const sp_mesh *mesh, int64_t r, const double *U, int64_t domains,
                          const sp_deformed_domain *domain, int nearest, sp_deformed_field **deformed) SP_MUST_USE;
void sp_deformed_field_free(sp_deformed_field *deformed); /* NULL is allowed */

/* Creates the field of another body with the same model and a q of its own. Constant data are shared with `deformed`,
 * which must outlive the result. */
int sp_deformed_field_share(sp_context *context, const sp_deformed_field *deformed,
                            sp_deformed_field **shared) SP_MUST_USE;

/* Moves the proxies to q [r] (NULL: 0), 12 r operations each; allocates nothing. */
void sp_deformed_field_update(sp_deformed_field *deformed, const double *q);

/* The box, in the body's frame, outside which the estimate cannot be negative at the current q: it bounds the images
 * p_i + F_i (X − P_i) of the box in which the field at rest is negative, for all proxies that are not left out. Empty
 * if there are none. */
void sp_deformed_field_box(const sp_deformed_field *deformed, sp_box *box);

/* The estimate at x in the body's frame. gradient (NULL: not wanted) receives Σ w_i F_i⁻ᵀ∇d_i of the domain with the
 * least value, with the weights taken as constant. proxy (NULL: not wanted) receives the nearest proxy of that domain,
 * numbered through all domains. If all proxies are left out, the result is INFINITY with gradient 0 and proxy 0. Thread
 * safe between updates; allocates nothing. */
double sp_deformed_field_at(const sp_deformed_field *deformed, const double x[3], double gradient[3], int64_t *proxy);

int64_t sp_deformed_field_r(const sp_deformed_field *deformed);

/* Modal displacements [3, r, row major] of a proxy, by which the contact force on the body is projected (§3.12). */
const double *sp_deformed_field_rows(const sp_deformed_field *deformed, int64_t proxy);

/* reach [r] in m: the largest length of U_i,j over all proxies i. For temporal coherence: no proxy moves by more than
 * Σ_j reach_j |Δq_j|. */
const double *sp_deformed_field_reach(const sp_deformed_field *deformed);

#endif
