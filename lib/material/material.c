#include "material/material.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec3.h"

static const struct {
    const char *name;
    enum sp_constants constants;
    bool everywhere; /* sp_law_everywhere */
} laws[] = {
    [SP_LAW_STVK] = {"stvk", SP_CONSTANTS_YOUNG, true},
    [SP_LAW_LINEAR] = {"linear", SP_CONSTANTS_STIFFNESS, true},
    [SP_LAW_NEO_HOOKEAN] = {"neo-hookean", SP_CONSTANTS_YOUNG, false},
    [SP_LAW_MOONEY_RIVLIN] = {"mooney-rivlin", SP_CONSTANTS_MOONEY, false},
    [SP_LAW_COROTATIONAL] = {"corotational", SP_CONSTANTS_YOUNG, true},
    [SP_LAW_ISOCHORIC_NEO_HOOKEAN] = {"isochoric-neo-hookean", SP_CONSTANTS_YOUNG, false},
    [SP_LAW_STABLE_NEO_HOOKEAN] = {"stable-neo-hookean", SP_CONSTANTS_YOUNG, true},
};
static_assert(sizeof laws / sizeof *laws == SP_LAW_COUNT, "a law lacks its name, constants and range");

static const char *const fibre_name[SP_FIBRE_COUNT] = {
    [SP_FIBRE_NONE] = "none", [SP_FIBRE_STVK] = "stvk", [SP_FIBRE_FUNG] = "fung"};

/* The tensor indices of the Voigt components xx,yy,zz,yz,zx,xy. */
static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

static bool law_known(enum sp_law law)
{
    return (int)law >= 0 && (int)law < SP_LAW_COUNT;
}

const char *sp_law_name(enum sp_law law)
{
    return law_known(law) ? laws[law].name : "unknown";
}

int sp_law_from_name(sp_context *context, const char *name, enum sp_law *law)
{
    char known[300];
    int length = 0;

    for (int i = 0; i < SP_LAW_COUNT; i++) {
        if (strcmp(name, laws[i].name) == 0) {
            *law = (enum sp_law)i;
            return SP_OK;
        }
        length += snprintf(known + length, sizeof known - (size_t)length, "%s%s", i ? ", " : "", laws[i].name);
        assert(length < (int)sizeof known);
    }
    return sp_fail(context, SP_INPUT, "there is no law \"%.64s\" (%s)", name, known);
}

const char *sp_fibre_name(enum sp_fibre fibre)
{
    return (int)fibre >= 0 && (int)fibre < SP_FIBRE_COUNT ? fibre_name[fibre] : "unknown";
}

int sp_fibre_from_name(sp_context *context, const char *name, enum sp_fibre *fibre)
{
    for (int i = 0; i < SP_FIBRE_COUNT; i++)
        if (strcmp(name, fibre_name[i]) == 0) {
            *fibre = (enum sp_fibre)i;
            return SP_OK;
        }
    return sp_fail(context, SP_INPUT, "there are no fibres of kind \"%.64s\" (none, stvk, fung)", name);
}

enum sp_constants sp_law_constants(enum sp_law law)
{
    return laws[law].constants;
}

bool sp_law_isotropic(enum sp_law law)
{
    return laws[law].constants == SP_CONSTANTS_YOUNG;
}

bool sp_law_everywhere(enum sp_law law)
{
    return laws[law].everywhere;
}

bool sp_material_quadratic(const sp_material *material)
{
    return material->law <= SP_LAW_LINEAR && material->fibre != SP_FIBRE_FUNG;
}

const char *sp_material_law_text(const sp_material *material)
{
    return material->law <= SP_LAW_LINEAR && material->fibre == SP_FIBRE_FUNG ? "of Fung's fibres"
                                                                              : sp_law_name(material->law);
}

void sp_lame(double young, double poisson, double *lambda, double *mu)
{
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    *mu = young / (2 * (1 + poisson));
}

void sp_material_scale(const sp_material *material, const double factor[2], sp_material *scaled)
{
    double lambda, mu;
    *scaled = *material;
    scaled->fibre_stiffness *= factor[1];

    switch (sp_law_constants(material->law)) {
    case SP_CONSTANTS_STIFFNESS:
        for (int i = 0; i < 21; i++)
            scaled->stiffness[i] *= factor[1];
        break;
    case SP_CONSTANTS_MOONEY:
        for (int i = 0; i < 3; i++)
            scaled->mooney[i] *= factor[1];
        break;
    case SP_CONSTANTS_YOUNG:
        if (factor[0] == factor[1]) {
            scaled->young *= factor[1];
            break;
        }
        sp_lame(material->young, material->poisson, &lambda, &mu);
        lambda *= factor[0];
        mu *= factor[1];
        scaled->young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
        scaled->poisson = lambda / (2 * (lambda + mu));
    }
}

/* Number of bytes of the UTF-8 character at `text` (Unicode, table 3-7: shortest form, no surrogates), 0 if it is
 * invalid. */
static int utf8_length(const unsigned char *text)
{
    unsigned char lead = text[0], low = 0x80, high = 0xBF;
    int length = 0;

    if (lead < 0x80)
        length = 1;
    else if (lead >= 0xC2 && lead < 0xE0)
        length = 2;
    else if (lead >= 0xE0 && lead < 0xF0)
        length = 3;
    else if (lead >= 0xF0 && lead < 0xF5)
        length = 4;

    /* The second byte excludes longer forms, surrogates and numbers beyond Unicode. */
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;

    /* The terminating 0 is below `low` too. */
    for (int i = 1; i < length; i++, low = 0x80, high = 0xBF)
        if (text[i] < low || text[i] > high)
            return 0;
    return length;
}

int sp_name_check(sp_context *context, const char *what, const char *name)
{
    if (!memchr(name, 0, SP_NAME_LENGTH))
        return sp_fail(context, SP_INPUT, "%s: the name is longer than %d bytes", what, SP_NAME_LENGTH - 1);
    if (!name[0])
        return sp_fail(context, SP_INPUT, "%s: the name is empty", what);
    const unsigned char *text = (const unsigned char *)name;
    for (int i = 0, length; text[i]; i += length) {
        length = utf8_length(text + i);
        if (length == 0)
            return sp_fail(context, SP_INPUT, "%s: the name is not UTF-8 at byte %d", what, i);
        if (text[i] < 0x20 || text[i] == 0x7F)
            return sp_fail(context, SP_INPUT, "%s: the name has a control character at byte %d", what, i);
    }
    return SP_OK;
}

static int check_young_poisson(sp_context *context, const sp_material *material)
{
    const char *name = material->name;
    double young = material->young, poisson = material->poisson, lambda, mu;

    if (!(young > 0 && isfinite(young)))
        return sp_fail(context, SP_INPUT, "material \"%s\": Young's modulus %g Pa is not positive and finite", name,
                       young);

    if (!(poisson > -1 && poisson < 0.5))
        return sp_fail(context, SP_INPUT, "material \"%s\": Poisson's ratio %.17g is not between -1 and 0.5", name,
                       poisson);

    sp_lame(young, poisson, &lambda, &mu);
    if (!isfinite(lambda) || !isfinite(mu))
        return sp_fail(context, SP_INPUT, "material \"%s\": Young's modulus %g Pa is too large", name, young);

    return SP_OK;
}

/* The frame of a file may be written with seven digits; a larger deviation means that it is not a rotation. */
static int check_frame(sp_context *context, const sp_material *material)
{
    const double tolerance = 1e-6, *r = material->frame;

    for (int i = 0; i < 9; i++)
        if (!isfinite(r[i]))
            return sp_fail(context, SP_INPUT, "material \"%s\": entry %d of the frame is %g", material->name, i, r[i]);

    /* The rows of a frame are orthonormal, and their determinant is 1. */
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            double dot = r[3 * a] * r[3 * b] + r[3 * a + 1] * r[3 * b + 1] + r[3 * a + 2] * r[3 * b + 2];
            if (!(fabs(dot - (a == b)) <= tolerance))
                return sp_fail(
                    context, SP_INPUT,
                    "material \"%s\": rows %d and %d of the frame have the scalar product %.9g instead of %d",
                    material->name, a, b, dot, a == b);
        }

    double det =
        r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    if (!(det > 0))
        return sp_fail(context, SP_INPUT, "material \"%s\": the frame is left handed", material->name);
    return SP_OK;
}

/* The 21 constants as the full symmetric matrix. */
static void unpack_stiffness(const double constant[21], double C[6][6])
{
    for (int i = 0, next = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            C[i][j] = C[j][i] = constant[next++];
}

/* Cholesky factorization of C with rows and columns scaled to a unit diagonal. A pivot below `smallest` cannot be
 * distinguished from rounding: for 6 × 6 with unit diagonal the error is a few 1e-16. */
static int check_stiffness(sp_context *context, const sp_material *material)
{
    const double smallest = 1e-14;
    const char *name = material->name;
    double C[6][6], scale[6], L[6][6];

    for (int i = 0; i < 21; i++)
        if (!isfinite(material->stiffness[i]))
            return sp_fail(context, SP_INPUT, "material \"%s\": elastic constant %d is %g", name, i,
                           material->stiffness[i]);

    unpack_stiffness(material->stiffness, C);
    for (int i = 0; i < 6; i++) {
        if (!(C[i][i] > 0))
            return sp_fail(context, SP_INPUT, "material \"%s\": elastic constant C%d%d = %g Pa is not positive", name,
                           i + 1, i + 1, C[i][i]);
        scale[i] = 1 / sqrt(C[i][i]);
    }

    /* L Lᵀ = D C D with the scales D */
    for (int j = 0; j < 6; j++)
        for (int i = j; i < 6; i++) {
            double sum = i == j ? 1 : C[i][j] * scale[i] * scale[j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > smallest))
                return sp_fail(context, SP_INPUT,
                               "material \"%s\": the elastic constants are not positive definite (row %d)", name,
                               i + 1);
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }

    return SP_OK;
}

/* At rest the shear modulus is 2(mu01 + mu10), and the bulk stiffness grows with v1: both must be positive. */
static int check_mooney(sp_context *context, const sp_material *material)
{
    const double *m = material->mooney;

    for (int i = 0; i < 3; i++)
        if (!isfinite(m[i]))
            return sp_fail(context, SP_INPUT, "material \"%s\": Mooney-Rivlin constant %d is %g", material->name, i,
                           m[i]);

    if (!(m[0] + m[1] > 0))
        return sp_fail(context, SP_INPUT, "material \"%s\": mu01 + mu10 = %g Pa is not positive", material->name,
                       m[0] + m[1]);
    if (!(m[2] > 0))
        return sp_fail(context, SP_INPUT, "material \"%s\": v1 = %g Pa is not positive", material->name, m[2]);
    return SP_OK;
}

static int check_fibre(sp_context *context, const sp_material *material)
{
    const char *name = material->name;
    const double *a = material->fibre_direction;

    if ((int)material->fibre < 0 || (int)material->fibre >= SP_FIBRE_COUNT)
        return sp_fail(context, SP_INPUT, "material \"%s\": there are no fibres number %d", name, (int)material->fibre);

    if (!(material->fibre_tension >= 0 && isfinite(material->fibre_tension)) ||
        (material->fibre == SP_FIBRE_NONE && material->fibre_tension != 0))
        return sp_fail(context, SP_INPUT, "material \"%s\": a tension of %g Pa in %s", name, material->fibre_tension,
                       material->fibre == SP_FIBRE_NONE ? "no fibres" : "its fibres");

    if (material->fibre == SP_FIBRE_NONE)
        return SP_OK;

    if (!(material->fibre_stiffness > 0 && isfinite(material->fibre_stiffness)))
        return sp_fail(context, SP_INPUT, "material \"%s\": fibre stiffness %g Pa is not positive and finite", name,
                       material->fibre_stiffness);

    if (material->fibre == SP_FIBRE_FUNG && !(material->fibre_exponent > 0 && isfinite(material->fibre_exponent)))
        return sp_fail(context, SP_INPUT, "material \"%s\": fibre exponent %g is not positive and finite", name,
                       material->fibre_exponent);

    double length = sp_norm3(a);
    if (!(fabs(length - 1) <= 1e-6))
        return sp_fail(context, SP_INPUT,
                       "material \"%s\": the direction of the fibres has the length %.9g instead of 1", name, length);
    return SP_OK;
}

int sp_material_check(sp_context *context, const sp_material *material)
{
    int status = sp_name_check(context, "material", material->name);
    if (status != SP_OK)
        return status;

    const char *name = material->name;
    if (!law_known(material->law))
        return sp_fail(context, SP_INPUT, "material \"%s\": there is no law number %d", name, (int)material->law);

    if (!(material->density > 0 && isfinite(material->density)))
        return sp_fail(context, SP_INPUT, "material \"%s\": density %g kg/m3 is not positive and finite", name,
                       material->density);
    if (!(material->damping_mass >= 0 && isfinite(material->damping_mass)))
        return sp_fail(context, SP_INPUT, "material \"%s\": mass damping %g 1/s is negative or not finite", name,
                       material->damping_mass);
    if (!(material->damping_stiffness >= 0 && isfinite(material->damping_stiffness)))
        return sp_fail(context, SP_INPUT, "material \"%s\": stiffness damping %g s is negative or not finite", name,
                       material->damping_stiffness);

    status = check_fibre(context, material);
    if (status != SP_OK)
        return status;

    switch (sp_law_constants(material->law)) {
    case SP_CONSTANTS_YOUNG:
        return check_young_poisson(context, material);
    case SP_CONSTANTS_STIFFNESS:
        status = check_frame(context, material);
        return status == SP_OK ? check_stiffness(context, material) : status;
    case SP_CONSTANTS_MOONEY:
        return check_mooney(context, material);
    }
    return SP_OK;
}

/* The strain along the material's axes is E'ab = Rai Rbj Eij with R the frame. In Voigt form e' = T e: a normal
 * component of e' is E'aa, a shear component is 2 E'ab. A normal component of e contributes once; a shear component e =
 * 2 Eij contributes its half at both (i,j) and (j,i). */
static void strain_transformation(const double frame[9], double T[6][6])
{
    for (int row = 0; row < 6; row++)
        for (int column = 0; column < 6; column++) {
            const double *ra = frame + 3 * voigt[row][0], *rb = frame + 3 * voigt[row][1];
            int i = voigt[column][0], j = voigt[column][1];
            double both = i == j ? ra[i] * rb[i] : 0.5 * (ra[i] * rb[j] + ra[j] * rb[i]);
            T[row][column] = row < 3 ? both : 2 * both;
        }
}

/* W = ½ e'ᵀ C' e' = ½ eᵀ (Tᵀ C' T) e, which is the fourth order tensor rotated, Cijkl = Rai Rbj Rck Rdl C'abcd. */
void sp_material_linear(const sp_material *material, double C[36])
{
    double own[6][6], T[6][6], half[6][6];

    unpack_stiffness(material->stiffness, own);
    strain_transformation(material->frame, T);

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            half[i][j] = 0;
            for (int k = 0; k < 6; k++)
                half[i][j] += own[i][k] * T[k][j];
        }

    /* C = Tᵀ (C' T) */
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++)
                sum += T[k][i] * half[k][j];
            C[6 * i + j] = C[6 * j + i] = sum;
        }
}

/* k/2 (I₅ − 1)² = ½ · 4k (aᵀEa)². */
static void add_fibres(const sp_material *material, double C[36])
{
    const double *a = material->fibre_direction;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            C[6 * i + j] +=
                4 * material->fibre_stiffness * (a[voigt[i][0]] * a[voigt[i][1]]) * (a[voigt[j][0]] * a[voigt[j][1]]);
}

int sp_material_stiffness(sp_context *context, const sp_material *material, double C[36])
{
    if (!sp_material_quadratic(material))
        return sp_fail(context, SP_INPUT, "material \"%.63s\": the law %s is not linear in the Green-Lagrange strain",
                       material->name, sp_material_law_text(material));

    if (material->law == SP_LAW_LINEAR)
        sp_material_linear(material, C);
    else {
        double lambda, mu;
        sp_lame(material->young, material->poisson, &lambda, &mu);
        /* λ tr(E) I + 2μ E in Voigt notation, with engineering shear strains */
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                C[6 * i + j] = (i < 3 && j < 3 ? lambda : 0) + (i != j ? 0 : i < 3 ? 2 * mu : mu);
    }

    if (material->fibre == SP_FIBRE_STVK)
        add_fibres(material, C);
    return SP_OK;
}

int64_t sp_material_find(int64_t count, const sp_material *materials, const char *name, size_t length)
{
    for (int64_t i = 0; i < count; i++)
        if (strlen(materials[i].name) == length && !memcmp(materials[i].name, name, length))
            return i;
    return -1;
}

const char *sp_material_list(int64_t count, const sp_material *materials, char list[SP_MATERIAL_LIST])
{
    static const char more[] = ", …";
    size_t at = 0;
    *list = 0;
    for (int64_t i = 0; i < count; i++) {
        const size_t length = strlen(materials[i].name) + (i ? 2 : 0);

        if (at + length + (i + 1 < count ? sizeof more - 1 : 0) >= SP_MATERIAL_LIST) {
            strcpy(list + at, more);
            break;
        }

        at += (size_t)snprintf(list + at, SP_MATERIAL_LIST - at, "%s%s", i ? ", " : "", materials[i].name);
    }
    return list;
}
