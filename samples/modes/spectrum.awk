# Singular values of a basis, as siminfo prints them: how many columns hold how much of the sum of squares of the
# weighted k modes and their derivatives.
$2 == "singular" { square[++n] = $4 * $4; sum += $4 * $4 }
END {
    printf "%d modes and %d derivatives, weighted: what the first columns of the basis leave\n", k, n - k
    for (i = 1; i <= n; i++) { rest = sum; for (j = 1; j <= i; j++) rest -= square[j]; if (i % 2 == 0 && i <= 12) printf "%8d columns%12.1e\n", i, rest / sum }
}
