/* The sound pressure that a vibrating surface radiates to a listener, by an integral over the surface with retarded
 * times. c is the speed of sound and ρ the density of the air at rest. x is the listener. A triangle has the area A,
 * the outward unit normal n and the centroid y, with d = |x − y| and cos θ = n·(x − y)/d; a_n is the mean of the normal
 * acceleration of its corners:
 *
 *     p(t) = ρ/(4π) Σ_triangles D A a_n(t − d/c) / d     [Pa]
 *
 * The Kirchhoff–Helmholtz integral of the pressure outside a closed body has a term of the acceleration, with D = 1,
 * and one of the pressure on the surface, which is unknown. The choices of D replace it (Pierce, Acoustics, §4-6 and
 * §5-2):
 *
 *   SP_RADIATION_PLANE_WAVE  D = 1 + cos θ. The pressure on the surface is that of a plane wave, ρ c v_n (O'Brien, Cook
 *     and Essl 2001, eq. 14), at distances of many wavelengths/2π. This is exact for flat surfaces that are large
 *     compared with the wavelength, with D = 2 in front of them and 0 behind. It is also exact for the net change of
 *     volume of a body that is small compared with the wavelength, where the mean of cos θ vanishes. It is too loud by
 *     a factor of the order of 1/(ka), with k = ω/c, for a body of the size a ≪ 1/k that moves as a whole, such as a
 *     thin wire.
 *   SP_RADIATION_BAFFLE  D = 2 for cos θ > 0, else 0: the Rayleigh integral, exact for the front of a flat plate in a
 *     rigid infinite wall.
 *   SP_RADIATION_MONOPOLE  D = 1: the first term alone, exact for the net change of volume of small bodies. The
 *     dipole of a rigid body that moves as a whole does not contain the dipole of the air that moves with the body: it
 *     is 2/3 of the exact one for a sphere, ½ for a thin rod across its axis, and far too small for a thin plate.
 *
 * d and n are those of the surface at rest. Shadows, reflections and the damping of the body by the air are neglected.
 * The integral over a triangle is evaluated at its centroid, so that the edges of the triangles must be short compared
 * with the wavelength and with d. */
#ifndef SP_SOUND_RADIATION_H
#define SP_SOUND_RADIATION_H

#include "base/context.h"
#include "base/memory.h"

enum sp_radiation_kind { SP_RADIATION_PLANE_WAVE, SP_RADIATION_BAFFLE, SP_RADIATION_MONOPOLE };

typedef struct sp_radiation_parameters {
    enum sp_radiation_kind kind;
    double listener[3];    /* m */
    double density, speed; /* of the air, kg/m³, m/s */
    double rate;           /* samples of the motion per second */
    double top;            /* Hz, largest frequency of the sound, below rate/2 */
} sp_radiation_parameters;

/* The delays of all triangles in samples are between those of the rows `first` and first + count − 1. A triangle with
 * a fractional delay takes part in several rows, by the taps of band-limited interpolation (sound/kernel.h). */
typedef struct sp_radiation {
    int64_t first, count;     /* of rows; `first` may be negative for a near listener */
    double nearest, farthest; /* m, centroids */
    double longest;           /* m, longest edge of a triangle */
    int64_t triangle_count;   /* with an area */
    int64_t taps;             /* of a triangle */
    const int64_t *triangles; /* of the surface, borrowed */
    const int64_t *number;    /* [triangle_count] in it */
    const double *vector;     /* [triangle_count, 3] ρ D A n/(12π d), kg/m² */
    const int64_t *row;       /* [triangle_count] the first row of each */
    const double *tap;        /* [triangle_count, taps] */
    sp_pool pool;
} sp_radiation;

/* vertices [vertex_count, 3] m and triangles [triangle_count, 3], which must outlive the result. SP_USAGE if the
 * listener is nearer to a triangle than its longest edge, or parameters are out of range; SP_INPUT without a triangle
 * of positive area. */
int sp_radiation_new(sp_context *context, const double *vertices, int64_t triangle_count, const int64_t *triangles,
                     const sp_radiation_parameters *parameters, sp_radiation *radiation) SP_MUST_USE;
void sp_radiation_free(sp_radiation *radiation);

/* flux[k] += the part of Σ ρ D A v_n/(4π d) that arrives first + k samples later, for the velocities v [vertices, 3]
 * m/s of the surface, or their values for a unit rate of a coordinate; Pa s. The pressure is the derivative of the sum
 * over all samples by time. Triangles are summed in their order. */
void sp_radiation_flux(const sp_radiation *radiation, const double *v, double *flux);

#endif
