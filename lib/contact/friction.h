/* Coulomb friction of penetrating points, by tangential springs that slip.
 *
 * While a point is in contact, a spring ties it to an anchor on the other body: the place at which the contact began or
 * at which the point stopped slipping. Let s be the tangential part of the vector from the anchor to the point, N the
 * force along the contact's direction n, and κ the stiffness of the contact at this point (k · weight · scale,
 * sp_penalty). The friction on the point is
 *
 *     f = −κ s − λ c v_t,   |f| ≤ μ N,
 *
 * where v_t is the tangential velocity relative to the other body, c the contact's damping at this point, and λ the
 * largest number in [0, 1] that keeps f in the friction cone. If κ|s| would exceed μ N, the point slips: its anchor
 * follows it until κ|s| = μ N. The other body receives −f at the same place, so that linear and angular momentum are
 * conserved. A point that sticks has moved by at most μ N/κ, which is μ times its penetration depth, and does not
 * creep; there is no velocity threshold.
 *
 * Friction dissipates and never adds energy: the spring's energy ½ κ|s|² gains what its force takes from the bodies,
 * since ṡ = v_t and f·n = 0. Moving the anchor along n to keep s tangential, or towards the point to slip, shortens s.
 * When κ grows (because fewer points share contact.limit), s is shortened so that κ|s|² does not grow. The damping
 * dissipates λ c|v_t|², and the energy of a spring is dissipated when its point leaves contact. With steps of length h
 * this holds to second order, as for the springs of the contact itself. */
#ifndef SP_CONTACT_FRICTION_H
#define SP_CONTACT_FRICTION_H

#include "contact/penalty.h"

typedef struct sp_friction_anchor {
    double at[3];  /* m, in the frame of the distance field; for DEFORMED in its configuration at rest */
    int64_t proxy; /* DEFORMED: the proxy that it moves with; else 0 */
    int32_t point; /* number in the point shell */
} sp_friction_anchor;

/* The springs of one point shell in contact with one body, kept from step to step, for the penetrating points. It
 * starts as {.coefficient = μ, .scale = 1}. After a step without sp_friction_forces it must be reset to such a start,
 * since no contact outlasts that step. */
typedef struct sp_friction {
    double coefficient;     /* μ ≥ 0 */
    double scale;           /* scale of the contact forces of the previous run */
    sp_list anchors, after; /* lists of sp_friction_anchor: those of the previous run, ascending by point, and scratch
                               for the next ones */
} sp_friction;

void sp_friction_free(sp_friction *friction);

/* Adds friction to the forces of sp_penalty_forces, which was called with the same arguments. Not for VOXMAP. Call it
 * once in each step. Allocates only when more points penetrate than ever before; false: out of memory. */
bool sp_friction_forces(sp_friction *friction, const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                        const sp_contact_state *pointshell_state, const sp_distance *distance,
                        const sp_contact_state *field_state, const sp_traversal_result *found,
                        sp_contact_forces *forces);

#endif
