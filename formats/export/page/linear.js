/* Small symmetric matrices, for what is known of a model before it moves. */

/* L of a positive definite matrix A = L Lᵀ, row by row; null where it is not. */
export function factor(A, n) {
    const L = new Float64Array(n * n);
    for (let i = 0; i < n; i++)
        for (let j = 0; j <= i; j++) {
            let sum = A[i * n + j];
            for (let k = 0; k < j; k++)
                sum -= L[i * n + k] * L[j * n + k];
            if (i === j && !(sum > 0))
                return null;
            L[i * n + j] = i === j ? Math.sqrt(sum) : sum / L[j * n + j];
        }
    return L;
}

export function solve(L, n, b) {
    const x = Float64Array.from(b);
    for (let i = 0; i < n; i++) {
        for (let k = 0; k < i; k++)
            x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (let i = n - 1; i >= 0; i--) {
        for (let k = i + 1; k < n; k++)
            x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
    return x;
}

export const inner = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

export function product(A, n, x) {
    return Float64Array.from({length: n}, (_, i) => inner(A.subarray(i * n, (i + 1) * n), x));
}

/* The lowest angular frequency of K x = ω² M x, by inverse iteration. `L` is the factor of K. */
export function lowestFrequency(L, K, M, n) {
    let x = Float64Array.from({length: n}, (_, i) => 1 + 0.1 * i), square = 0;
    for (let k = 0; k < 100; k++) {
        x = solve(L, n, product(M, n, x));
        const size = Math.sqrt(inner(x, product(M, n, x)));
        x = x.map((v) => v / size);
        square = inner(x, product(K, n, x));
    }
    return Math.sqrt(square);
}
