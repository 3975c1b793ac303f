/* Loops over the nodes of elements in SIMD lanes at one quadrature point; shared by points.c and assumed.c. */
#ifndef SP_ASSEMBLY_POINTS_KERNEL_H
#define SP_ASSEMBLY_POINTS_KERNEL_H

#include "base/lanes.h"

/* H = Σ_a (u_a − u_0) ∇N_aᵀ. */
SP_INLINE void displacement_gradient(int nodes, sp_lanes gradient[][3], sp_lanes u[][3], sp_lanes H[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            H[3 * i + j] = (u[1][i] - u[0][i]) * gradient[1][j];
            for (int a = 2; a < nodes; a++)
                H[3 * i + j] += (u[a][i] - u[0][i]) * gradient[a][j];
        }
}

SP_INLINE void clear(int nodes, sp_lanes f[][3])
{
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            f[a][i] = (sp_lanes){0};
}

SP_INLINE void clear_blocks(int nodes, sp_lanes block[][9])
{
    for (int k = 0; k < nodes * (nodes + 1) / 2; k++)
        for (int i = 0; i < 9; i++)
            block[k][i] = (sp_lanes){0};
}

/* f_a += w P ∇N_a. */
SP_INLINE void add_stress(int nodes, sp_lanes gradient[][3], const sp_lanes *weight, const sp_lanes P[9],
                          sp_lanes f[][3])
{
    for (int i = 0; i < 3; i++) {
        sp_lanes p[3] = {*weight * P[3 * i], *weight * P[3 * i + 1], *weight * P[3 * i + 2]};
        for (int a = 0; a < nodes; a++)
            f[a][i] += p[0] * gradient[a][0] + p[1] * gradient[a][1] + p[2] * gradient[a][2];
    }
}

/* Adds w ∇N_aᵀ S ∇N_c I to the blocks a ≤ c; S [9] is symmetric. */
SP_INLINE void add_stress_blocks(int nodes, sp_lanes gradient[][3], const sp_lanes *weight, const sp_lanes S[9],
                                 sp_lanes block[][9])
{
    for (int a = 0, at = 0; a < nodes; a++) {
        sp_lanes s[3];
        for (int j = 0; j < 3; j++)
            s[j] = *weight * (S[j] * gradient[a][0] + S[3 + j] * gradient[a][1] + S[6 + j] * gradient[a][2]);
        for (int c = a; c < nodes; c++, at++) {
            const sp_lanes sum = s[0] * gradient[c][0] + s[1] * gradient[c][1] + s[2] * gradient[c][2];
            for (int i = 0; i < 3; i++)
                block[at][4 * i] += sum;
        }
    }
}

#endif
