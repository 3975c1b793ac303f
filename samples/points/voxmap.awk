# Means and ranges of the forces of both files.
FNR == 1 { name = FILENAME; sub(/.*\//, "", name); sub(/-force.csv/, "", name); names[++n] = name; next }
{ for (f = 2; f <= 3; f++) { sum[name, f] += $f; if (FNR == 2 || $f < low[name, f]) low[name, f] = $f; if (FNR == 2 || $f > high[name, f]) high[name, f] = $f }; count[name]++ }
FNR > 2 { d = $2 - last; if (d < 0) d = -d; if (d > jump[name]) jump[name] = d }
{ last = $2 }
END {
    printf "ball on a plate: normal force N, largest change in 0.2 mm, force along the plate\n"
    for (k = 1; k <= n; k++) { m = names[k]; printf "%-8s mean %7.2f, %7.2f to %7.2f   change %8.4f   along %7.2f to %6.2f\n", m, sum[m, 2] / count[m], low[m, 2], high[m, 2], jump[m], low[m, 3], high[m, 3] }
    printf "a plane by the formula %.2f\n", exact
}
