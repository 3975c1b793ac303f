#include "material/stress.h"
#include "base/vec3.h"

#include <math.h>

static void expand(const double voigt[6], double scale, double matrix[3][3])
{
    static const int place[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix[i][j] = scale * voigt[place[i][j]];
}

/* The mean of the eigenvalues, and the second and third invariants of the deviator d: ½ d:dᵀ ≥ 0 and det d. */
static void invariants(double m[3][3], double *mean, double *second, double *third)
{
    *mean = (m[0][0] + m[1][1] + m[2][2]) / 3;
    for (int i = 0; i < 3; i++)
        m[i][i] -= *mean;
    *second = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            *second += 0.5 * m[i][j] * m[j][i];

    /* The invariant is below 0 by rounding only; fmax would hide a value that is not a number. */
    if (*second < 0)
        *second = 0;
    *third = sp_determinant(m[0], m[1], m[2]);
}

/* The largest root of λ³ − second λ − third, which has three real ones, plus the mean. */
static double largest(double mean, double second, double third)
{
    const double radius = sqrt(second / 3);
    if (radius == 0)
        return mean;
    /* Viète: λ = 2 r cos(φ/3) with cos φ = third / 2r³, r = √(second/3) */
    const double ratio = third / (2 * radius * radius * radius), cosine = ratio > 1 ? 1 : ratio < -1 ? -1 : ratio;
    return mean + 2 * radius * cos(acos(cosine) / 3);
}

double sp_tensor_largest(const double tensor[6])
{
    double m[3][3], mean, second, third;
    expand(tensor, 1, m);
    invariants(m, &mean, &second, &third);
    return largest(mean, second, third);
}

/* Those of Cauchy's stress. */
static void cauchy(const double strain[6], const double stress[6], double *mean, double *second, double *third)
{
    double C[3][3], S[3][3], m[3][3];

    expand(strain, 2, C);
    expand(stress, 1, S);
    for (int i = 0; i < 3; i++)
        C[i][i] += 1;

    /* σ = F S Fᵀ / J has the invariants of C S / J, where J = √det C */
    const double square = sp_determinant(C[0], C[1], C[2]), scale = square <= 0 ? 0 : 1 / sqrt(square);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = scale * (C[i][0] * S[0][j] + C[i][1] * S[1][j] + C[i][2] * S[2][j]);
    invariants(m, mean, second, third);
}

double sp_stress_mises(const double strain[6], const double stress[6])
{
    double mean, second, third;
    cauchy(strain, stress, &mean, &second, &third);
    return sqrt(3 * second);
}

double sp_cauchy_mises(const double sigma[6])
{
    double m[3][3], mean, second, third;
    expand(sigma, 1, m);
    invariants(m, &mean, &second, &third);
    return sqrt(3 * second);
}

double sp_stress_largest(const double strain[6], const double stress[6])
{
    double mean, second, third;
    cauchy(strain, stress, &mean, &second, &third);
    return largest(mean, second, third);
}
