#include "linear/nnls_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    GROUP = 8, /* number of columns to which rotations are applied at a time */
};

static const double thin = 1e-6; /* below this pivot R is computed from the columns, not from H */

int sp_nnls_make_space_active(sp_nnls_core *s)
{
    if (s->k < s->k_capacity)
        return SP_OK;

    int64_t rank = s->m < s->n ? s->m : s->n, capacity = s->k_capacity > 0 ? 2 * s->k_capacity : rank < 32 ? rank : 32;
    int64_t *S = sp_nnls_memory(s, capacity);
    if (S && s->k > 0)
        memcpy(S, s->S, (size_t)s->k * sizeof *S);

    if (S) {
        sp_nnls_memory_drop(s, s->S);
        s->S = S;
    }

    sp_nnls_enlarge(s, 5, (double **[]){&s->g, &s->p, &s->rho, &s->y, &s->inverse}, s->k, capacity);
    sp_nnls_enlarge_square(s, &s->R, s->k, &s->k_capacity, capacity);

    if (s->pool.failed) {
        s->pool.failed = false; /* the existing data are intact */
        return sp_fail_memory(s->context);
    }
    return SP_OK;
}

/* Appends column j to R: ρ = R⁻ᵀ A_Sᵀ a_j above the pivot δ = √(1 − ρᵀρ), the sine of its angle to the span of the
 * active columns. If the pivot is small, that difference has lost its digits: then the part of a_j outside their span
 * is formed as a vector and projected a second time (corrected seminormal equations: Björck, Park, Eldén 1994), as
 * accurately as by a QR factorization.
 *
 * Returns false if δ is too small. The weight of the column would be h_j/δ², and for δ² < ε the rounding of A w, ε
 * times that weight, would exceed the h_j to be removed. Since h_j ≤ δ‖r‖, little is lost without the column. */
bool sp_nnls_append(sp_nnls_core *s, int64_t j)
{
    int64_t k = s->k, m = s->m;
    double *rho = s->rho, *y = s->y;
    const double *a = s->A + j * s->stride;

    if (k >= m)
        return false;

    /* ρ = R⁻ᵀ A_Sᵀ a_j */
    if (s->H) {
        for (int64_t i = 0; i < k; i++)
            rho[i] = s->H[j * s->H_capacity + s->S[i]];
    } else {
        sp_nnls_project(s, a, rho);
        for (int64_t i = 0; i < k; i++)
            rho[i] /= s->norm[j];
    }
    sp_nnls_solve_transposed(s, rho);

    /* δ = √(1 − ρᵀρ) */
    double pivot = sqrt(fmax(1 - sp_nnls_dot(k, rho, rho), 0));

    if (pivot < thin) {
        /* e = a_j/‖a_j‖ − A_S R⁻¹ ρ, projected a second time */
        for (int64_t i = 0; i < m; i++)
            s->e[i] = a[i] / s->norm[j];

        memcpy(y, rho, (size_t)k * sizeof *y);
        for (int pass = 0; pass < 2; pass++) {
            sp_nnls_solve_upper(s, y);
            for (int64_t i = 0; i < k; i++)
                y[i] /= s->norm[s->S[i]];
            sp_nnls_subtract(s, y, s->e);

            if (pass == 1)
                break;

            sp_nnls_project(s, s->e, y);
            sp_nnls_solve_transposed(s, y);
            cblas_daxpy((int)k, 1, y, 1, rho, 1);
        }

        pivot = sqrt(sp_dense_dot(m, s->e, s->e));
    }

    if (!(pivot > s->least))
        return false;

    memcpy(s->R + k * s->k_capacity, rho, (size_t)k * sizeof *rho);
    s->R[k * s->k_capacity + k] = pivot;
    s->inverse[k] = 1 / pivot;
    s->S[k] = j;
    s->state[j] = SP_NNLS_ACTIVE;
    s->k++;
    return true;
}

/* Removes active column `at` from R: the columns behind it move one to the left, and rotations of neighbouring rows
 * restore the triangle. The rotations are applied to GROUP columns at once, since in a single column each waits for the
 * one before. */
void sp_nnls_leave(sp_nnls_core *s, int64_t at)
{
    int64_t k = s->k, ld = s->k_capacity;

    double *cosine = s->rho, *sine = s->y, *R = s->R;

    /* Columns `first` to first + width move one to the left. */
    for (int64_t first = at; first < k - 1; first += GROUP) {
        int64_t width = k - 1 - first < GROUP ? k - 1 - first : GROUP;
        double *column[GROUP], carry[GROUP];
        for (int64_t q = 0; q < GROUP; q++) {
            column[q] = R + (first + (q < width ? q : width - 1)) * ld;
            if (q < width)
                memcpy(column[q], column[q] + ld, (size_t)(first + q + 2) * sizeof *R);
        }

        /* The rotations known so far are applied to all columns of the group at once. */
        if (width == GROUP) {
            for (int q = 0; q < GROUP; q++)
                carry[q] = column[q][at];
            for (int64_t i = at; i < first; i++)
                for (int q = 0; q < GROUP; q++) {
                    double next = column[q][i + 1];
                    column[q][i] = cosine[i] * carry[q] + sine[i] * next;
                    carry[q] = cosine[i] * next - sine[i] * carry[q];
                }
            for (int q = 0; q < GROUP; q++)
                column[q][first] = carry[q];
        }

        /* Each column has rotations of its own, and ends with a new one that removes the entry below the diagonal. */
        for (int64_t q = 0; q < width; q++) {
            double *v = column[q];
            int64_t last = first + q;
            for (int64_t i = width == GROUP ? first : at; i < last; i++) {
                double here = v[i], next = v[i + 1];
                v[i] = cosine[i] * here + sine[i] * next;
                v[i + 1] = cosine[i] * next - sine[i] * here;
            }

            /* The column is normalized, so that its squares are in range. */
            double length = sqrt(v[last] * v[last] + v[last + 1] * v[last + 1]);

            cosine[last] = v[last] / length;
            sine[last] = v[last + 1] / length;
            v[last] = length;
            s->inverse[last] = 1 / length;
        }
    }

    s->state[s->S[at]] = SP_NNLS_INACTIVE;
    s->x[s->S[at]] = 0;

    memmove(s->S + at, s->S + at + 1, (size_t)(k - 1 - at) * sizeof *s->S);
    memmove(s->g + at, s->g + at + 1, (size_t)(k - 1 - at) * sizeof *s->g);
    s->k--;
}
