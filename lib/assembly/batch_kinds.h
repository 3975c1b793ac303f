/* The two kinds of evaluation of assembly/batch.h, each with the functions that are named there; shared by the sources
 * of batches only. */
#ifndef SP_ASSEMBLY_BATCH_KINDS_H
#define SP_ASSEMBLY_BATCH_KINDS_H

#include "assembly/batch.h"

void sp_pairs_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy);
void sp_pairs_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                      sp_lanes block[][9], sp_lanes *energy);
void sp_pairs_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes y[8][3]);

/* The tangent without its geometric part, Σ x_ab G_ab,cd x_cdᵀ, from which damping by strain rate is computed
 * (assembly/viscous.h), with a G of its own. */
void sp_pairs_material_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes y[8][3]);
void sp_pairs_material_tangent(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9]);

/* Data of a displacement that second derivatives use repeatedly: its pair differences and t = G (X·u). */
typedef struct sp_pairs_mode {
    sp_lanes difference[SP_HEX_PAIRS][3];
    sp_lanes t[SP_HEX_PAIRS];
} sp_pairs_mode;
void sp_pairs_prepare(const sp_element_lanes *data, sp_lanes u[8][3], sp_pairs_mode *mode);
void sp_pairs_second(const sp_element_lanes *data, const sp_pairs_mode *u, const sp_pairs_mode *v, sp_lanes h[8][3]);
void sp_pairs_third(const sp_element_lanes *data, const sp_pairs_mode *u, const sp_pairs_mode *v,
                    const sp_pairs_mode *w, sp_lanes h[8][3]);

void sp_points_force(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes f[][3], sp_lanes *energy);
void sp_points_tangent(const sp_element_lanes *data, sp_lanes u[][3], bool definite, sp_lanes f[][3],
                       sp_lanes block[][9], sp_lanes *energy);
void sp_points_tangent_times(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes y[][3]);
/* Second derivatives at rest: exact if the law is quadratic in the strain, else by differences, to about 4e-13. */
void sp_points_second(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes h[][3]);
/* Third derivatives, for laws that are quadratic in the strain. */
void sp_points_third(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes w[][3], sp_lanes h[][3]);

/* uᵀK(0)u; at points with the tangent A of the law at rest. */
void sp_pairs_rest_energy(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes *energy);
void sp_points_rest_tangent(const sp_element_lanes *data, sp_lanes A[SP_TANGENT_ENTRIES]);
void sp_points_rest_energy(const sp_element_lanes *data, const sp_lanes A[SP_TANGENT_ENTRIES], sp_lanes u[][3],
                           sp_lanes *energy);

/* The blocks of the stress stiffness at u: in squared edge lengths Σ t_ab (δ_ac − δ_bc) I with t = G (X·u). */
void sp_pairs_stress_stiffness(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9]);
void sp_points_stress_stiffness(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes block[][9]);

/* Damping by strain rate with data->viscosity (assembly/viscous.h): y = D(u) v, and the blocks of D(u). */
void sp_points_damping_times(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes y[][3]);
void sp_points_damping_matrix(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes block[][9]);

#endif
