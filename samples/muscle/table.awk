# awk -F, -f table.awk CONJAC.csv FULL.csv: angles of both joints in degrees at some times, and how far they are apart.
FNR == 1 { file++; next }
{
    key = sprintf("%.3f", $1)
    angle[file, key, 1] = $2
    angle[file, key, 2] = $4
    if (file == 2)
        for (j = 1; j <= 2; j++) {
            d = angle[1, key, j] - angle[2, key, j]
            if (d < 0) d = -d
            if (d > worst[j]) { worst[j] = d; when[j] = key }
            if (angle[2, key, j] > high[j] || FNR == 2) high[j] = angle[2, key, j]
            if (angle[2, key, j] < low[j] || FNR == 2) low[j] = angle[2, key, j]
        }
}
END {
    degree = 45 / atan2(1, 1)
    printf "%-34s %21s %21s\n%-34s %10s %10s %10s %10s\n", "angle [degrees]", "shoulder", "elbow", "", "ConJac", "full", "ConJac", "full"
    n = split("0.3 0.8 1.0 1.6 1.9 2.2", t, " ")
    split("swinging,before the activation,active,active and at rest,let go,after", what, ",")
    for (i = 1; i <= n; i++) {
        key = sprintf("%.3f", t[i])
        printf "%-8s%-26s %10.2f %10.2f %10.2f %10.2f\n", t[i] " s", what[i], degree * angle[1, key, 1], degree * angle[2, key, 1], degree * angle[1, key, 2], degree * angle[2, key, 2]
    }
    for (j = 1; j <= 2; j++)
        printf "%-10s largest difference %.2f degrees, at %s s, of a range of %.1f\n", j == 1 ? "shoulder" : "elbow", degree * worst[j], when[j], degree * (high[j] - low[j])
}
