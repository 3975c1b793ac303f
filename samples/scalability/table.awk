# Processor times over the number of elements, and the exponent of each time between the first and the last size.
NR == 1 { next }
NR == 2 { printf "%-12s%10s%10s%8s%10s%14s%8s\n", "tetrahedra", "modes", "inertia", "ratio", "POD", "projection", "ratio"; for (i = 1; i <= 5; i++) first[i] = $i }
{ printf "%-12.0f%8.2f s%8.2f s%8.2f%8.2f s%12.2f s%8.2f\n", 1000 * $1, $2, $3, $2 / $3, $4, $5, $4 / $5; for (i = 1; i <= 5; i++) last[i] = $i }
END {
    printf "%-12s", "exponent"
    for (i = 2; i <= 5; i++) { if (i == 4) printf "%8s", ""; printf i == 5 ? "%14.2f" : "%10.2f", log(last[i] / first[i]) / log(last[1] / first[1]) }
    print ""
}
