# awk -F, -f motion.awk CONJAC.csv VANILLA.csv BDF2.csv: swings of the ends after the cuts, in mm, and how the middle piece falls.
FNR == 1 { file++; for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    t = $1
    left = $column["v3024_z"]
    right = $column["v6231_z"]
    if (t > 0.4 + 1e-9) {
        if (left < low[file]) { low[file] = left; when[file] = t }
        if (t > when[file] && t < 0.8 && (!(file in up) || left > up[file])) up[file] = left
    }
    if (t > 1.0) { if (!(file in lowest) || right < lowest[file]) lowest[file] = right; if (!(file in highest) || right > highest[file]) highest[file] = right }
    if (t > 0.799 && t < 0.801) from[file] = $column["v6110_z"]
    if (t > 0.899 && t < 0.901) fallen[file] = from[file] - $column["v6110_z"]
}
END {
    printf "%-52s %10s %10s %10s\n", "[mm]", "ConJac", "implicit", "BDF2"
    printf "%-52s %10.2f %10.2f %10.2f\n", "left end, lowest after the first cut", 1000 * low[1], 1000 * low[2], 1000 * low[3]
    printf "%-52s %10.3f %10.3f %10.3f\n", "    at [s]", when[1], when[2], when[3]
    printf "%-52s %10.2f %10.2f %10.2f\n", "    and highest after that, before 0.8 s", 1000 * up[1], 1000 * up[2], 1000 * up[3]
    printf "%-52s %10.2f %10.2f %10.2f\n", "middle piece's left end falls from 0.8 s to 0.9 s by", 1000 * fallen[1], 1000 * fallen[2], 1000 * fallen[3]
    printf "%-52s %10.2f %10.2f %10.2f\n", "right end after 1 s, range (ConJac: quasistatic)", 1000 * (highest[1] - lowest[1]), 1000 * (highest[2] - lowest[2]), 1000 * (highest[3] - lowest[3])
}
