# awk -F, -v name=N -v seconds=S -f table.awk [ERRORS.csv] FRAMES.csv: one line of a motion: how far its positions and velocities are (L2,
# simcompare) from the motion that it was compared with, and the mean kinetic energy after each move has come to its end.
BEGIN {
    if (name == "newmark")
        printf "%-12s %12s %9s %9s   kinetic energy while held, mJ, mean\n%-12s %12s %9s %9s %10s %10s %10s %10s %9s\n", \
            "", "position", "", "velocity", "", "L2", "worst", "L2", "compressed", "stretched", "bent", "twisted", "seconds"
    split("0.2 0.8 1.4 2.4", from, " ")
    split("0.5 1.1 1.7 3.0", to, " ")
}
$1 ~ /^(position|velocity) / { relative[$1] = $5 }
$1 == "position max" { worst = $4 }
FNR == 1 { frames = $1 == "time" }
frames && $1 + 0 == $1 {
    for (k = 1; k <= 4; k++)
        if ($1 > from[k] + 1e-9 && $1 <= to[k] + 1e-9) {
            sum[k] += $2
            count[k]++
        }
}
END {
    printf "%-12s", name
    printf " %10.2f %% %7.1f mm %7.1f %%", 100 * relative["position L2"], 1000 * worst, 100 * relative["velocity L2"]
    for (k = 1; k <= 4; k++)
        printf " %10.4f", 1000 * sum[k] / count[k]
    printf " %9.1f\n", seconds
}
