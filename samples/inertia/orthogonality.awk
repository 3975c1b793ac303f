# awk -f orthogonality.awk orthogonality.csv histogram.csv sparse.csv
# The three tables as text.

BEGIN { FS = "," }
FNR == 1 { file++ }
file == 1 && FNR == 1 {
    print "Orthogonality of inertia modes: |u_i^T M u_j|, i != j."
    print ""
    printf "%-28s%16s%16s%16s%18s\n", "", "subtractions", "largest of all", "largest of 30", "mean of 30"
    next
}
file == 1 {
    name = $1 == "reduced" ? "reduced, threshold " $2 : $1 == "none" ? "not orthogonalized" : "exact"
    done = $1 == "reduced" ? sprintf("%.0f %%", 100 * $4 / ($4 + $5)) : $1 == "none" ? "0 %" : "100 %"
    printf "%-28s%16s%16.2g%16.2g%18.2g\n", name, done, $6, $8, $9
    if ($3)
        samples = $3
}
file == 2 && /^#/ { sub(/^# */, ""); printf "\nCosines before: %s.\n", $0; next }
file == 2 && FNR > 2 {
    pairs += $2
    near += $1 * $1 < 0.0025 ? $2 : 0
    parallel += $1 * $1 > 0.9 ? $2 : 0
}
file == 3 && FNR == 1 {
    printf "%.0f %% are within 0.05 of 0, %.0f %% beyond 0.95. The reduced method has %d sample points.\n\n", 100 * near / pairs, 100 * parallel / pairs, samples
    printf "%-18s%16s%16s%24s\n", "sample points", "mean error", "median error", "mean error of cosines"
    next
}
file == 3 { printf "%-18d%16.2g%16.2g%24.2g\n", $1, $3, $4, $5 }
