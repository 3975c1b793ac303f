/*< origin >*/
#include "model.h"

#if defined(__cplusplus) || !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#define MODEL_RESTRICT __restrict
#else
#define MODEL_RESTRICT restrict
#endif

/* The square root: gcc and clang need no header for it. Define MODEL_SQRT to take another function. */
#if !defined(MODEL_SQRT) && defined(__GNUC__)
#define MODEL_SQRT(x) (MODEL_SINGLE ? (model_real)__builtin_sqrtf((float)(x)) : (model_real)__builtin_sqrt((double)(x)))
#elif !defined(MODEL_SQRT)
#include <math.h>
#define MODEL_SQRT(x) ((model_real)sqrt((double)(x)))
#endif

#define MODEL_NUMBER(x) ((model_real)(x))

enum { MODEL_LANES = 4 };

static int model_finite(model_real x)
{
    return x - x == 0;
}

static model_real model_dot(const model_real *x, const model_real *y)
{
    model_real sum = 0;
    for (int i = 0; i < MODEL_R; i++)
        sum += x[i] * y[i];
    return sum;
}

static model_real model_norm(const model_real *x)
{
    return MODEL_SQRT(model_dot(x, x));
}

/* The sum of MODEL_LANES partial sums. */
static model_real model_sum(const model_real *lanes)
{
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

static model_real model_magnitude(model_real x)
{
    return x < 0 ? -x : x;
}

static model_real model_larger(model_real x, model_real y)
{
    return x > y ? x : y;
}

static void model_copy(const model_real *from, model_real *to)
{
    for (int i = 0; i < MODEL_R; i++)
        to[i] = from[i];
}

/* y = A x for a symmetric A with rows of MODEL_WIDTH; y [MODEL_WIDTH]. */
static void model_times(const model_real *MODEL_RESTRICT A, const model_real *MODEL_RESTRICT x,
                        model_real *MODEL_RESTRICT y)
{
    for (int j = 0; j < MODEL_WIDTH; j++)
        y[j] = 0;
    for (int i = 0; i < MODEL_R; i++)
        for (int j = 0; j < MODEL_WIDTH; j++)
            y[j] += A[i * MODEL_WIDTH + j] * x[i];
}

/* Whether the evaluation at q is kept: of the force and the energy, and with `stiffness` of the stiffness too. Else the
 * place becomes q, with zeros at its end, and what is evaluated next is kept. */
static int model_kept(model_state *state, const model_real *q, int stiffness)
{
    model_scratch *w = &state->scratch;
    int same = w->known > stiffness && w->factor == state->stiffness_factor;
    for (int i = 0; i < MODEL_R && same; i++)
        same = w->place[i] == q[i];
    if (same)
        return 1;

    model_copy(q, w->place);
    w->known = 1 + stiffness;
    w->factor = state->stiffness_factor;
    return 0;
}

/* ---- eigenvectors of small symmetric matrices ---- */

/* One rotation of Jacobi's method, which removes A_ij of the symmetric A [n, stride] and turns the rows of V. */
static void model_rotate(int n, int stride, model_real *A, model_real *V, int i, int j)
{
    const model_real off = A[i * stride + j];
    if (off == 0)
        return;

    /* The smaller root of t^2 + 2 half t - 1 = 0 rotates by at most 45 degrees. */
    const model_real half = (A[j * stride + j] - A[i * stride + i]) / (2 * off),
                     t = (half < 0 ? -1 : 1) / ((half < 0 ? -half : half) + MODEL_SQRT(half * half + 1)),
                     c = 1 / MODEL_SQRT(t * t + 1), s = t * c;

    for (int k = 0; k < n; k++) {
        const model_real x = A[k * stride + i], y = A[k * stride + j];
        A[k * stride + i] = c * x - s * y;
        A[k * stride + j] = s * x + c * y;
    }

    for (int k = 0; k < n; k++) {
        const model_real x = A[i * stride + k], y = A[j * stride + k], u = V[i * stride + k], v = V[j * stride + k];
        A[i * stride + k] = c * x - s * y;
        A[j * stride + k] = s * x + c * y;
        V[i * stride + k] = c * u - s * v;
        V[j * stride + k] = s * u + c * v;
    }
}

/* Sum of the magnitudes of the diagonal of A: what rounding is measured by. */
static model_real model_size_of(int n, int stride, const model_real *A)
{
    model_real size = 0;
    for (int i = 0; i < n; i++)
        size += model_magnitude(A[i * stride + i]);
    return size;
}

/* Jacobi's method: V receives the eigenvectors of A as its rows, and the diagonal of A the eigenvalues. */
static void model_diagonalize(int n, int stride, model_real *A, model_real *V)
{
    enum { SWEEPS = 30 };
    int more = 1;
    for (int sweep = 0; sweep < SWEEPS && more; sweep++) {
        const model_real size = model_size_of(n, stride, A);
        more = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                const model_real sum = size + model_magnitude(A[i * stride + j]);
                more |= sum > size;
                model_rotate(n, stride, A, V, i, j);
            }
    }
}
