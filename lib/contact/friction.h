/* Coulomb friction of points in contact, by tangential springs that slip.
 *
 * While a point is in contact a spring ties it to an anchor on the other body: to the place where it came into contact
 * or stopped slipping. With s the tangential part of the way from the anchor to the point, N the force along the
 * contact's direction n and κ the stiffness of the contact at this point (k · weight · scale, sp_penalty), the friction
 * on the point is f = −κ s − λ c v_t,   |f| ≤ μ N, where v_t is the tangential velocity by the other body, c the
 * contact's damping at this point, and λ the largest number in [0, 1] that keeps f in the cone. Where κ|s| would exceed
 * μ N, the anchor follows the point until κ|s| = μ N: it slips. The other body feels −f at the same place, so that
 * momenta are kept. A point that sticks has moved by at most μ N/κ, the depth of its contact times μ, and does not
 * creep; speeds have no threshold.
 *
 * It takes energy and never brings any: the spring's ½ κ|s|² gains what its force takes from the bodies, since ṡ = v_t
 * and f·n = 0; moving the anchor along n to keep s tangential, and towards the point to slip, shortens s; a growing κ
 * (as fewer points share contact.limit) shortens s so that κ|s|² does not grow; −λ c|v_t|² is lost; and what a spring
 * holds when its point leaves is lost. In steps of h this holds to second order, as for the contact's own springs. */
#ifndef SP_CONTACT_FRICTION_H
#define SP_CONTACT_FRICTION_H

#include "contact/penalty.h"

typedef struct sp_friction_anchor {
    double at[3];  /* m, in the frame of the distances, of DEFORMED as it was at rest */
    int64_t proxy; /* DEFORMED: what it moves with; else 0 */
    int32_t point; /* of the shell */
} sp_friction_anchor;

/* The springs of one shell against one body from step to step: those of the points that are in contact. Starts as
 * {.coefficient = μ, .scale = 1}. A step without sp_friction_forces must be followed by such a start: no contact
 * outlasts it. */
typedef struct sp_friction {
    double coefficient;     /* μ ≥ 0 */
    double scale;           /* of the contacts in the run before */
    sp_list anchors, after; /* of sp_friction_anchor: of the contacts in the run before, ascending by point; room for
                               the next ones */
} sp_friction;

void sp_friction_free(sp_friction *friction);

/* Adds friction to the forces of sp_penalty_forces, which was called with the same arguments; no VOXMAP. Once in each
 * step. Allocates only where more points touch than ever before; false: no memory. */
bool sp_friction_forces(sp_friction *friction, const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                        const sp_contact_state *pointshell_state, const sp_distance *distance,
                        const sp_contact_state *field_state, const sp_traversal_result *found,
                        sp_contact_forces *forces);

#endif
