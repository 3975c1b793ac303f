# awk -F, -f modal.awk LABEL=… UNTIL=… MOTION.csv MOMENTA.csv: the free flight from the last contact until that time, of momenta.py with polynomials. How far the
# angular and the linear momentum depart from where they begin there, and the range of the energy with the true strain energy and with the
# one that the motion records, and the change of the former, by the kinetic energy at the beginning of that flight. Fails where the momenta are not kept to 1e-10.
FNR == 1 { for (i = 1; i <= NF; i++) column[FILENAME, $i] = i; file++; next }
file == 1 {
    stored[FNR] = $column[FILENAME, "strain"]
    gravity[FNR] = $column[FILENAME, "gravity"]
    if ($column[FILENAME, "touching"] > 0) last = FNR
    next
}
FNR > last && $1 <= UNTIL + 1e-6 {
    for (k = 1; k <= 3; k++) { L[k] = $column[FILENAME, "l" substr("xyz", k, 1)]; P[k] = $column[FILENAME, "p" substr("xyz", k, 1)] }
    moving = $column[FILENAME, "kinetic"]
    true = moving + $column[FILENAME, "elastic"] + gravity[FNR]
    counted = moving + stored[FNR] + gravity[FNR]
    if (!frames++) {
        start = $1; turning = $column[FILENAME, "l"]; kinetic = moving; begin = low = high = true; lowest = highest = counted
        for (k = 1; k <= 3; k++) { L0[k] = L[k]; P0[k] = P[k]; pushed += P[k] ^ 2 }
    }
    dl = dp = 0
    for (k = 1; k <= 3; k++) { dl += (L[k] - L0[k]) ^ 2; dp += (P[k] - P0[k]) ^ 2 }
    if (dl > worst_l) worst_l = dl
    if (dp > worst_p) worst_p = dp
    if (true < low) low = true; if (true > high) high = true
    if (counted < lowest) lowest = counted; if (counted > highest) highest = counted
    end = $1
}
END {
    l = sqrt(worst_l) / turning; p = sqrt(worst_p / pushed)
    printf "%-12s %.2f s to %5.2f s: angular momentum %.1e, linear momentum %.1e, energy within %.2g %%, at the end %+.2g %%, as the steps count it %.1g %%\n", \
        LABEL, start, end, l, p, 100 * (high - low) / kinetic, 100 * (true - begin) / kinetic, 100 * (highest - lowest) / kinetic
    exit l > 1e-10 || p > 1e-10
}
