# awk -F, -f flight.awk LABEL=… MOTION.csv MOMENTA.csv: the free flight after the last contact, and what spinning does before the
# first one. How far the angular momentum departs from where it begins there; range of the energy with the true kinetic energy and with
# the one that the steps are made with, both by the kinetic energy at the beginning of that flight. Fails where a coupled body does not
# keep them to 1e-10.
FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; file++; next }
file == 1 {
    n = FNR
    own[n] = $column[FILENAME, "kinetic"]
    rest[n] = $column[FILENAME, "strain"] + $column[FILENAME, "gravity"]
    if ($column[FILENAME, "touching"] > 0) { last = n; touched = 1 }
    if (!touched && $column[FILENAME, "strain"] > spun) spun = $column[FILENAME, "strain"]
    next
}
FNR > last {
    for (k = 1; k <= 3; k++) L[k] = $(1 + k)
    e = $column[FILENAME, "kinetic"] + rest[FNR]
    f = own[FNR] + rest[FNR]
    if (!frames++) {
        start = $1; size = $column[FILENAME, "l"]; kinetic = $column[FILENAME, "kinetic"]
        for (k = 1; k <= 3; k++) first[k] = L[k]
        low = high = e; lowest = highest = f
    }
    d = 0
    for (k = 1; k <= 3; k++) d += (L[k] - first[k]) ^ 2
    if (sqrt(d) > worst) worst = sqrt(d)
    if (e < low) low = e; if (e > high) high = e
    if (f < lowest) lowest = f; if (f > highest) highest = f
    end = $1
}
END {
    printf "%-10s flies from %.2f s to %.2f s\n", LABEL, start, end
    printf "    angular momentum, %.0f kg m2/s, changes by %.2g\n", size, worst / size
    printf "    energy by %.2g, as the steps count it by %.2g\n", (high - low) / kinetic, (highest - lowest) / kinetic
    printf "    strained by spinning before the edge: %.3g J\n", spun
    exit LABEL == "coupled" && (worst > 1e-10 * size || high - low > 1e-10 * kinetic)
}
