/* Materials by name and parameters, as a mesh carries them, and the 6×6 stiffness of the linear ones. */
#ifndef SP_MATERIAL_MATERIAL_H
#define SP_MATERIAL_MATERIAL_H

#include "base/context.h"

enum { SP_NAME_LENGTH = 64 };

/* The laws whose energy is quadratic in the Green–Lagrange strain E come first; every tool of the polynomial chain
 * takes those. The others are kept as data for tools that know them. */
enum sp_law {
    SP_LAW_STVK,          /* W = λ/2 tr(E)² + μ tr(E²) */
    SP_LAW_LINEAR,        /* W = ½ E:C:E, 21 constants in a rotated frame */
    SP_LAW_NEO_HOOKEAN,   /* young, poisson */
    SP_LAW_MOONEY_RIVLIN, /* mu01, mu10, v1 */
    SP_LAW_COUNT,
};

typedef struct sp_material {
    char name[SP_NAME_LENGTH]; /* of the region, unique in a mesh, UTF-8 without control characters, not empty */
    enum sp_law law;
    double density;            /* kg/m³, > 0 */
    double young, poisson;     /* Pa; 1, in (−1, ½): STVK and NEO_HOOKEAN */
    double stiffness[21];      /* Pa; LINEAR: upper triangle by rows of C in Voigt order xx,yy,zz,yz,zx,xy with engineering shear */
    double frame[9];           /* LINEAR: rows are the material's axes in the body frame; orthonormal, right handed */
    double mooney[3];          /* Pa; MOONEY_RIVLIN: mu01, mu10, v1 */
    double damping_mass;       /* 1/s, α of local Rayleigh damping α M + β K(q); ≥ 0 */
    double damping_stiffness;  /* s, β; ≥ 0 */
} sp_material;

/* "stvk", "linear", "neo-hookean", "mooney-rivlin"; "unknown" for anything else. */
const char *sp_law_name(enum sp_law law);

/* Looks a name up; SP_INPUT when there is no such law. */
int sp_law_from_name(sp_context *context, const char *name, enum sp_law *law) SP_MUST_USE;

/* Checks every parameter that the law uses: finite, in range, C symmetric positive definite, frame a rotation within
 * 1e-6, mu01 + mu10 > 0 and v1 > 0. The message names the material. */
int sp_material_check(sp_context *context, const sp_material *material) SP_MUST_USE;

/* C [6,6, row major] Pa in the body frame, Voigt order xx,yy,zz,yz,zx,xy, engineering shear: W = ½ eᵀ C e.
 * SP_INPUT when the law is not linear in E; the parameters are those of a checked material. */
int sp_material_stiffness(sp_context *context, const sp_material *material, double C[36]) SP_MUST_USE;

/* Lamé's constants: λ = Eν/((1+ν)(1−2ν)), μ = E/(2(1+ν)) [Pa]. */
void sp_lame(double young, double poisson, double *lambda, double *mu);

#endif
