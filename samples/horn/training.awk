# awk -f training.awk training.dat PUSH-NAME.err ...     lines of name, elements, poses, errors, seconds; tables of simcompare
# What cubatures of each training make of two motions, against exact forces in the same basis.

BEGIN {
    text["incremental"] = "weights by coordinate, incremental"
    text["many"] = "weights by coordinate"
    text["modal"] = "weights by coordinate"
    text["greedy"] = "optimized cubature"
    printf "%-36s%9s%7s%10s%10s%8s%12s%10s%12s%10s\n", "", "elements", "poses", "fitted", "held out", "s", "position", "velocity", "position", "velocity"
    printf "%-36s%9s%7s%10s%10s%8s%22s%22s\n", "", "", "", "", "", "", "gentle push", "strong push"
}
FILENAME ~ /\.dat$/ { row[++count] = $1; elements[$1] = $2; poses[$1] = $3; fitted[$1] = $4; held[$1] = $5; s[$1] = $6; next }
FNR == 1 { name = FILENAME; sub(/.*\//, "", name); sub(/\.err$/, "", name) }
/^(position|velocity) L2,/ { split($0, cell, ","); value[name, substr($1, 1, 1)] = cell[5] }

function percent(x) { return x == "" ? "failed" : sprintf(x < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * x) }

END {
    for (i = 1; i <= count; i++) {
        n = row[i]
        split(n, part, "-")
        g = "gentle-" n
        t = "strong-" n
        printf "%-36s%9d%7d%10s%10s%8.2f%12s%10s%12s%10s\n", text[part[1]], elements[n], poses[n], sprintf("%.2f %%", 100 * fitted[n]), sprintf("%.2f %%", 100 * held[n]), s[n], \
            percent(value[g, "p"]), percent(value[g, "v"]), percent(value[t, "p"]), percent(value[t, "v"])
    }
}
