/* Materials by name and parameters, as a mesh stores them, and the 6×6 stiffness of the linear ones. */
#ifndef SP_MATERIAL_MATERIAL_H
#define SP_MATERIAL_MATERIAL_H

#include "base/context.h"

#include <stddef.h>

enum { SP_NAME_LENGTH = 64 };

/* SP_INPUT if a name is not UTF-8 of 1 to 63 bytes without control characters; `what` has it. */
int sp_name_check(sp_context *context, const char *what, const char *name) SP_MUST_USE;

/* The laws whose energy is quadratic in the Green–Lagrange strain E come first. J = det F, I_C = F:F, II_C = ½(I_C² −
 * (FᵀF):(FᵀF)); λ and μ are Lamé's constants of young and poisson, κ = λ + 2μ/3. All are zero and stress-free at rest
 * and have Hooke's stiffness there.
 *
 * Inverted elements (J < 0): STVK, LINEAR, COROTATIONAL and STABLE_NEO_HOOKEAN are defined everywhere. STVK and LINEAR
 * soften under compression and have a stress-free mirror image at F = −I and others; COROTATIONAL (R a rotation also
 * then) and STABLE_NEO_HOOKEAN push back towards rest. The others have the energy +∞ and no force at J ≤ 0. */
enum sp_law {
    SP_LAW_STVK,                  /* W = λ/2 tr(E)² + μ tr(E²) */
    SP_LAW_LINEAR,                /* W = ½ E:C:E, 21 constants in a rotated frame */
    SP_LAW_NEO_HOOKEAN,           /* W = μ/2 (I_C − 3) − μ ln J + λ/2 ln² J */
    SP_LAW_MOONEY_RIVLIN,         /* W = mu10 (J^(−2/3) I_C − 3) + mu01 (J^(−4/3) II_C − 3) + v1 (J − 1)² */
    SP_LAW_COROTATIONAL,          /* W = μ |F − R|² + λ/2 tr(RᵀF − I)², R the rotation nearest to F */
    SP_LAW_ISOCHORIC_NEO_HOOKEAN, /* W = μ/2 (J^(−2/3) I_C − 3) + κ/4 (J² − 1 − 2 ln J) */
    SP_LAW_STABLE_NEO_HOOKEAN, /* W = m/2 (I_C − 3) + l/2 (J − a)² − m/2 ln(I_C + 1) − (its value at rest), m = 4μ/3, l
                                * = λ + 5μ/6, a = 1 + 3m/(4l) (Smith, de Goes and Kim 2018) */
    SP_LAW_COUNT,
};

/* The constants of a law, by the members of sp_material that have them. */
enum sp_constants { SP_CONSTANTS_YOUNG /* and poisson */, SP_CONSTANTS_STIFFNESS /* and frame */, SP_CONSTANTS_MOONEY };

/* Fibres along one direction a, added to any law; I₅ = |F a|². */
enum sp_fibre {
    SP_FIBRE_NONE,
    SP_FIBRE_STVK, /* W = k/2 (I₅ − 1)², quadratic in E (Kim, de Goes and Iben 2019) */
    SP_FIBRE_FUNG, /* W = k/(2c) (exp(c (I₅ − 1)²) − 1) */
    SP_FIBRE_COUNT,
};

typedef struct sp_material {
    char name[SP_NAME_LENGTH]; /* of the region, unique in a mesh, UTF-8 without control characters, not empty */
    enum sp_law law;
    double density;        /* kg/m³, > 0 */
    double young, poisson; /* Pa; 1, in (−1, ½): all but LINEAR and MOONEY_RIVLIN */
    double stiffness[21];  /* Pa; LINEAR: upper triangle by rows of C in Voigt order xx,yy,zz,yz,zx,xy with engineering
                              shear */
    double frame[9];       /* LINEAR: rows are the material's axes in the body frame; orthonormal, right handed */
    double mooney[3];      /* Pa; MOONEY_RIVLIN: mu01, mu10, v1 */
    enum sp_fibre fibre;
    double fibre_stiffness;    /* k, Pa, > 0 if there are fibres */
    double fibre_exponent;     /* c, 1, > 0: FUNG */
    double fibre_direction[3]; /* a, unit vector in the body frame at rest */
    double fibre_tension; /* T, Pa, ≥ 0: active tension, adds ½ T (I₅ − 1) to the energy and T F a aᵀ to the stress,
                             also at rest. It is set during a simulation, not stored in files, and may change between
                             evaluations. 0 without fibres */
    double damping_mass;      /* 1/s, α of local Rayleigh damping α M + β K(q); ≥ 0 */
    double damping_stiffness; /* s, β; ≥ 0 */
} sp_material;

/* "stvk", "linear", "neo-hookean", "mooney-rivlin", "corotational", "isochoric-neo-hookean", "stable-neo-hookean";
 * "unknown" for anything else. */
const char *sp_law_name(enum sp_law law);
const char *sp_fibre_name(enum sp_fibre fibre); /* "none", "stvk", "fung" */

/* Finds the law or fibre of a name; SP_INPUT if there is none. */
int sp_law_from_name(sp_context *context, const char *name, enum sp_law *law) SP_MUST_USE;
int sp_fibre_from_name(sp_context *context, const char *name, enum sp_fibre *fibre) SP_MUST_USE;

enum sp_constants sp_law_constants(enum sp_law law);

/* Returns true if the constants of the law are young and poisson. */
bool sp_law_isotropic(enum sp_law law);

/* Returns true if the law has an energy for every F, inverted ones included. */
bool sp_law_everywhere(enum sp_law law);

/* Checks every parameter that the law uses: finite, in range, C symmetric positive definite, frame a rotation and the
 * fibre direction of unit length within 1e-6, mu01 + mu10 > 0 and v1 > 0. The message names the material. */
int sp_material_check(sp_context *context, const sp_material *material) SP_MUST_USE;

/* The material of a region with this name of `length` bytes among materials [count]; −1 if there is none. */
int64_t sp_material_find(int64_t count, const sp_material *materials, const char *name, size_t length);

/* For messages: the names of materials [count] with commas, "…" at the end where there is no room for all; returns
 * `list`. */
enum { SP_MATERIAL_LIST = 200 };
const char *sp_material_list(int64_t count, const sp_material *materials, char list[SP_MATERIAL_LIST]);

/* For messages of the form "the law …": its name, or "of Fung's fibres" if only these are not quadratic. */
const char *sp_material_law_text(const sp_material *material);

/* Returns true if the energy is ½ E:C:E, fibres included: then everything follows from C (assembly/element.h) and the
 * fibres' tension, whose energy is linear in E. */
bool sp_material_quadratic(const sp_material *material);

/* C [6,6, row major] Pa in the body frame, Voigt order xx,yy,zz,yz,zx,xy, engineering shear: W = ½ eᵀ C e, without the
 * fibres' tension. SP_INPUT if the energy is not quadratic in E; the material must be checked. */
int sp_material_stiffness(sp_context *context, const sp_material *material, double C[36]) SP_MUST_USE;

/* The same for the law LINEAR alone, without its fibres. */
void sp_material_linear(const sp_material *material, double C[36]);

/* The material with λ multiplied by factor[0] and μ by factor[1] (both > 0), and fibres by the second; their active
 * tension is unchanged. Laws with other constants have their energy scaled: there the factors are equal. The result
 * need not pass sp_material_check: λ + 2μ/3 may become negative if λ is. */
void sp_material_scale(const sp_material *material, const double factor[2], sp_material *scaled);

/* Lamé's constants: λ = Eν/((1+ν)(1−2ν)), μ = E/(2(1+ν)) [Pa]. */
void sp_lame(double young, double poisson, double *lambda, double *mu);

#endif
