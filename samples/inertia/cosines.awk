# awk -F, -v name=BODY -f cosines.awk histogram.csv
# Statistics of the cosines of all pairs as text.

/^#/ { sub(/^# */, ""); printf "%s: %s\n", name, $0; next }
/^cosine/ { next }
{
    pairs += $2
    near += $1 * $1 < 0.0025 ? $2 : 0
    parallel += $1 * $1 > 0.9 ? $2 : 0
}
END { printf "%.0f %% are within 0.05 of 0, %.0f %% beyond 0.95\n", 100 * near / pairs, 100 * parallel / pairs }
