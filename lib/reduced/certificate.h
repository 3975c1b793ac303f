/* The residual that a reduced model leaves in the full-order equation, and its norm: an estimate of the error of the
 * basis that needs no full-order run. For materials whose energy is quadratic in the strain.
 *
 * With u = Uq the full-order equation of motion has the residual, on the free degrees of freedom,
 *
 *     R = F − M U (q̈ + αq̇) − f(Uq) − β d/dt f(Uq).
 *
 * f(Uq) is a sum of fixed fields whose coefficients are the monomials q_i, q_i q_j (i ≤ j) and q_i q_j q_k (i ≤ j ≤ k):
 * K U_i, ∂²f [U_i, U_j] n_ij/2 and ∂³f [U_i, U_j, U_k] n_ijk/6, where n is the number of permutations of a monomial's
 * factors. Those of βK(Uq)Uq̇ are the rates of the monomials. R is therefore a sum of fixed fields, Σ c_k G_k.
 *
 * Its dual norm. An error e = u − Uq that changes slowly and is small satisfies K e = R with K = K(0), so that ‖e‖_K =
 * ‖R‖_K⁻¹ with ‖e‖²_K = eᵀKe, twice its energy: for a linear body in equilibrium exactly, and then also ‖u‖²_K =
 * ‖Uq‖²_K + ‖e‖²_K. For a free vibration of a linear body in one vector x with the frequency ω̃, ‖R‖_K⁻¹ / ‖x‖_K ≥ min_i
 * |1 − ω̃²/ω_i²|: the body has a frequency that close (Krylov and Weinstein's bound in this norm; Parlett, The Symmetric
 * Eigenvalue Problem, §4.5), and if ω̃² is the Rayleigh quotient of x, the ratio's square is ω̃²/ω₁² − 1 to first order
 * where x is near the first mode. The ratio
 *
 *     ‖R‖_K⁻¹ / √(‖Uq‖²_K + ‖Uq̇‖²_M + ‖R‖²_K⁻¹)
 *
 * therefore estimates the relative error in the energy norm. It is an estimate, not a bound: under large deformation K
 * changes, and in a motion errors of frequency accumulate.
 *
 * The norm of a small difference of large terms must not be taken from the Gram matrix G_iᵀK⁻¹G_j, which loses half of
 * the digits. Instead the columns [U, K⁻¹MU, K⁻¹ loads, K⁻¹ pairs, K⁻¹ triples] are made orthonormal in K, in this
 * order, [ … ] = Q S with S upper triangular, and ‖Σ c_k G_k‖_K⁻¹ = ‖S c‖. The first r rows of S c are the part of the
 * residual in the reduced equation, ‖UᵀR‖ in the dual norm of UᵀKU: 0 for a converged step of an exact reduced force,
 * and the error of the quadrature for cubature. The other rows are orthogonal to them: the error of the basis. */
#ifndef SP_REDUCED_CERTIFICATE_H
#define SP_REDUCED_CERTIFICATE_H

#include "assembly/fe_space.h"
#include "base/memory.h"
#include "linear/store.h"

/* Sparse forces on the vertices of a mesh. */
typedef struct sp_force_fields {
    int64_t count, entries;
    int64_t *start; /* [count + 1] into the entries */
    int64_t *index; /* [entries] 3·vertex + component, increasing in a field */
    double *value;  /* [entries] N */
} sp_force_fields;

typedef struct sp_certificate {
    sp_pool pool;
    int64_t r;
    bool lumped;           /* M is the lumped mass; false: the consistent one */
    sp_force_fields loads; /* beside gravity */
    double *factor; /* S [columns, columns, column major], √J for coefficients that are pure numbers; the rows of
                       columns that depend on earlier ones are 0 */
} sp_certificate;

/* Columns of S: U (r), MU (r), gravity along x, y and z, the loads, the pairs i ≤ j with j fastest, the triples i ≤ j ≤
 * k with k fastest. */
int64_t sp_certificate_columns(int64_t r, int64_t loads);

void sp_certificate_free(sp_certificate *certificate);

/* ---- construction ---- */

typedef struct sp_certificate_parameters {
    bool lumped;
    int64_t memory;                  /* bytes for the columns in memory; 0: all */
    const sp_store_outside *outside; /* the backing store of the others; NULL: all are in memory */
} sp_certificate_parameters;

/* The size of the work: bytes of all columns and floating-point operations of the orthonormalization. */
void sp_certificate_size(const sp_fe_space *space, int64_t r, int64_t loads, double *bytes, double *flops);

typedef struct sp_certificate_report {
    int64_t rank;         /* of the columns */
    double orthogonality; /* largest |QᵀKQ − 1| */
    double residual;      /* largest ‖K z − G‖ / ‖G‖ of the solves */
} sp_certificate_report;

/* Computes the certificate of a basis U [3·vertices, r], whose rows of fixed degrees of freedom are 0. The loads are
 * copied. SP_NUMERICAL if K is not positive definite: the body must be constrained. SP_INPUT for a material whose
 * energy is not quadratic in the strain. The bytes depend neither on the memory nor on the number of threads. */
int sp_certificate_new(sp_context *context, sp_fe_space *space, int64_t r, const double *U,
                       const sp_force_fields *loads, const sp_certificate_parameters *parameters,
                       sp_certificate *certificate, sp_certificate_report *report) SP_MUST_USE;

/* ---- evaluation ---- */

/* The state of a reduced model. */
typedef struct sp_certificate_state {
    const double *q;            /* [r] */
    const double *rate;         /* [r] q̇ 1/s; NULL: 0 */
    const double *acceleration; /* [r] q̈ + αq̇, 1/s²; NULL: 0 */
    const double *load;         /* [3 + loads] gravity, m/s², and the factors on the loads */
    double damping_stiffness;   /* β, s */
} sp_certificate_state;

/* Norms in √J; half of their squares are energies. */
typedef struct sp_certificate_norms {
    double basis;      /* of the residual's part outside of the basis … */
    double quadrature; /* … and of the part in the reduced equation */
    double strain;     /* ‖Uq‖_K */
} sp_certificate_norms;

/* work [columns]. One product with the triangle S: columns²/2 multiplications. */
void sp_certificate_evaluate(const sp_certificate *certificate, const sp_certificate_state *state, double *work,
                             sp_certificate_norms *norms);

#endif
