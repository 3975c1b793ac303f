# Each law's stretch at a half and at all of the tension, beside the solution of the law's formula, P(s) / E at the
# stretch s for Poisson's ratio 0: s - 1; s (s^2 - 1) / 2; (s - 1/s) / 2, the derivatives of the energies in
# supple-mesh(5).
function nominal(law, s) { return law == "linear" ? s - 1 : law == "stvk" ? s * (s * s - 1) / 2 : (s - 1 / s) / 2 }
function solved(law, stress, low, high, k) {
    low = 1; high = 10
    for (k = 0; k < 60; k++) if (nominal(law, (low + high) / 2) < stress) low = (low + high) / 2; else high = (low + high) / 2
    return low
}
FNR == 1 { law = FILENAME; sub(/.*\//, "", law); sub(/-stress.csv/, "", law) }
FNR == 1 && NR == 1 { printf "%-14s%12s%12s%12s\n", "bar in tension", "stress / E", "stretch", "by formula" }
FNR > 1 && ($2 == 0.5 || $2 == 1) { printf "%-14s%12.1f%12.6f%12.6f\n", law, $2, $1, solved(law, $2) }
