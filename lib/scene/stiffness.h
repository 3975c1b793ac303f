/* A penalty stiffness from masses, gravity and sizes.
 *
 * A body of mass m that rests on l points of the stiffness k under gravity g penetrates by d = m g/(l k). The stiffness
 * chosen here lets the heaviest body that is driven by forces, resting on three points, penetrate by the part φ of the
 * size s of the smallest body:
 *
 *     k = m g/(3 φ s),   φ = SP_CONTACT_DEPTH.
 *
 * A rigid body does not stay upright on fewer than three points. A limit L < 3 (sp_penalty) leaves the force of L
 * points, and L takes the place of 3. On l points the depth is 3 φ s/l; that of lighter bodies is smaller in
 * proportion, and that of a body which carries others is larger by the weight on it. An impact with the speed v reaches
 * v √(m/(l k)) = v √(3 φ s/(l g)).
 *
 * The time step. Contact with l points is stable for translation while h² λ < 4 with
 *
 *     λ = l (k + 2 c/h)/m                           against a body that does not move by forces,
 *     λ = l (k + 2 c/h) (1/m + 1/m')                against another free body of mass m' (stability.c).
 *
 * The estimate of h takes as l the number of points, by weight, that penetrate when the body lies on the side of its
 * box with the most points, by SP_CONTACT_SINKS of its size, and as m' the lightest other free body. Rotation, and
 * contact on several sides at once, can need a shorter step. The report of a scene has the largest eigenvalue of the
 * contacts that occurred. */
#ifndef SP_SCENE_STIFFNESS_H
#define SP_SCENE_STIFFNESS_H

#include "scene/scene.h"

#define SP_CONTACT_DEPTH 0.01 /* φ, at rest */
#define SP_CONTACT_SINKS 0.1  /* a body that is deeper, relative to the smaller size of a pair, sinks */

typedef struct sp_contact_choice {
    double stiffness;           /* k, N/m */
    double points;              /* the number of points that bear the heaviest body: 3, or L */
    double depth, size;         /* m: φ s and s */
    double step;                /* s, the estimate; INFINITY: no free body, or no points */
    int64_t heaviest, smallest; /* bodies */
    int64_t stiffest;           /* the free body that `step` belongs to; −1: none */
} sp_contact_choice;

/* The size of a body: the shortest side of the box of its points at rest and of the interior of its distance field, in
 * its own frame. Sides that are zero but for rounding are passed over. INFINITY: a plane, or no geometry for contact.
 */
double sp_contact_body_size(const sp_contact_scene_body *body);

/* Chooses from the gravity, the limit, the weights, the damping and the coupling of the parameters; their stiffness is
 * not read. SP_INPUT if gravity is 0, or no body is driven by forces, or none has a size. */
int sp_contact_choose(sp_context *context, const sp_contact_scene_parameters *parameters, int64_t body_count,
                      const sp_contact_scene_body *bodies, sp_contact_choice *choice) SP_MUST_USE;

#endif
