/* The stability limit of the step of a free body in contact.
 *
 * Contact is explicit: forces are evaluated at the positions predicted for the middle of the step, dampers at the
 * velocities from its beginning. For one degree of freedom x″ = −(κ x + c x′)/m this is stable while h² κ/m + 2 h c/m <
 * 4 (Schur–Cohn for the 2 × 2 matrix of a step, with the trace 2 − h²κ/m − h c/m and the determinant 1 − h c/m). A
 * damper therefore counts as a spring of stiffness 2 c/h, and the step is stable while h² λ < 4 for the largest λ of K
 * x = λ M x, K = Σ κ_i jᵀj over contacts i and directions n, j = (n, r × n), M = diag(m, m, m, J), with r from the
 * centre of mass. The directions are that of the contact and, with friction, the two tangential ones, whose springs
 * have the same stiffness while the point sticks. A contact with another free body moves both: κ (u_a − u_b)² ≤ κ ((1 +
 * m_a/m_b) u_a² + (1 + m_b/m_a) u_b²) gives each its share, which is exact for two masses with one contact. The
 * coordinates of deformation are left out: they make the body softer for fast contact and are stepped implicitly. */
#include "scene/internal.h"

#include "linear/dense.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

void sp_contact_scene_weigh(contact_body *a)
{
    const sp_inertia *inertia = a->body->inertia;
    const double trace = inertia->S[0] + inertia->S[4] + inertia->S[8];
    double work[102];

    /* The inertia tensor about the centre, J = tr(S) 1 − S */
    for (int i = 0; i < 9; i++)
        a->axes[i] = (i % 4 == 0 ? trace : 0) - inertia->S[i];
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', 3, a->axes, 3, a->moments, work, 102) != 0)
        a->moments[0] = NAN;
}

double sp_contact_scene_share(const contact_body *a, const contact_body *other)
{
    return !a->body->free ? 0 : other->body->free ? 1 + a->body->inertia->mass / other->body->inertia->mass : 1;
}

void sp_contact_scene_stiffen(contact_body *a, const double at[3], const double n[3], double kappa, bool across)
{
    contact_stiffness *sum = &a->stiffness;
    const double r[3] = {at[0] - a->about[0], at[1] - a->about[1], at[2] - a->about[2]};

    /* Sums of κ, κ r and κ r rᵀ serve all directions at once. */
    if (across) {
        sum->weight += kappa;
        for (int i = 0; i < 3; i++) {
            sum->first[i] += kappa * r[i];
            for (int k = 0; k < 3; k++)
                sum->second[3 * i + k] += kappa * r[i] * r[k];
        }
        return;
    }

    double j[6] = {n[0], n[1], n[2]};
    sp_cross3(r, n, j + 3);
    for (int i = 0; i < 6; i++) {
        const double row = kappa * j[i];
        for (int k = 0; k < 6; k++)
            sum->K[6 * i + k] += row * j[k];
    }
}

/* For all three directions: ∑κ [1, −[r]×; [r]×, |r|² − r rᵀ]. */
static void add_across(const contact_stiffness *sum, double K[36])
{
    static const int next[3] = {1, 2, 0};
    const double square = sum->second[0] + sum->second[4] + sum->second[8];
    for (int i = 0; i < 3; i++) {
        const int j = next[i], k = next[j]; /* row 3 + i of [r]×: −r_k at j, r_j at k */
        K[7 * i] += sum->weight;
        K[6 * (3 + i) + j] -= sum->first[k];
        K[6 * (3 + i) + k] += sum->first[j];
        K[6 * j + 3 + i] -= sum->first[k];
        K[6 * k + 3 + i] += sum->first[j];
        for (int l = 0; l < 3; l++)
            K[6 * (3 + i) + 3 + l] += (i == l ? square : 0) - sum->second[3 * i + l];
    }
}

/* The largest λ by LAPACK. S = diag(1/√m, R E/√J) for the principal axes E and moments J: λ are the eigenvalues of
 * SᵀKS. */
static double largest_eigenvalue(const contact_body *a, const double K[36])
{
    double R[9], S[36] = {0}, KS[36], A[36], value[6], work[204];

    sp_quaternion_matrix(a->at.pose.q, R);
    for (int i = 0; i < 3; i++) {
        S[7 * i] = 1 / sqrt(a->body->inertia->mass);
        for (int k = 0; k < 3; k++)
            S[6 * (3 + k) + 3 + i] = sp_dot3(R + 3 * i, a->axes + 3 * k) / sqrt(a->moments[k]);
    }

    /* A = Sᵀ K S */
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < 6; i++) {
            KS[6 * j + i] = 0;
            for (int k = 0; k < 6; k++)
                KS[6 * j + i] += K[6 * i + k] * S[6 * j + k];
        }

    for (int j = 0; j < 6; j++)
        for (int i = j; i < 6; i++) {
            A[6 * j + i] = 0;
            for (int k = 0; k < 6; k++)
                A[6 * j + i] += S[6 * i + k] * KS[6 * j + k];
        }
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', 6, A, 6, value, work, 204) == 0 ? value[5] : NAN;
}

double sp_contact_scene_stiffest(const contact_body *a, double known)
{
    double K[36];

    memcpy(K, a->stiffness.K, sizeof K);
    add_across(&a->stiffness, K);

    const double push = K[0] + K[7] + K[14], turn = K[21] + K[28] + K[35];
    if (push / a->body->inertia->mass + turn / a->moments[0] <= known) /* the left side is at least the trace of M⁻¹K */
        return known;
    return fmax(known, largest_eigenvalue(a, K));
}
