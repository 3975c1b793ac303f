# awk -f arm.awk NAME.row ... MODEL.ms ... galerkin-full.csv
# What cubature of each variant and tolerance does to the forces and to the motion of the arm.

BEGIN {
    text["force"] = "as in the papers: --metric force --linear sampled"
    text["energy"] = "--metric energy --linear sampled"
    text["exact"] = "linear part kept: --metric energy --linear exact"
    text["random"] = "200 random poses, as in the papers"
}
FNR == 1 { name = FILENAME; sub(/.*\//, "", name) }
name ~ /\.row$/ { row[++rows] = $0; next }
name ~ /\.ms$/ { sub(/\.ms$/, "", name); ms[name] = $1; next }
/^(position|velocity) L2,/ { split($0, cell, ","); basis[++count] = cell[5] }

function percent(x) { return x == "-" ? "failed" : sprintf(x < 0.0995 ? "%.2f %%" : "%.0f %%", 100 * x) }

END {
    printf "%-10s%10s%10s%10s%10s%11s%11s%11s%11s%10s\n", "tolerance", "elements", "fitted", "held out", "nested", "position", "velocity", "position", "velocity", "ms/step"
    printf "%-10s%10s%10s%10s%10s%22s%22s\n", "", "", "", "", "", "against galerkin", "against full"
    printf "%-50s%11s%11s%11s%11s%10s\n", "full", "", "", "", "", ms["full"]
    printf "%-50s%11s%11s%11s%11s%10s\n", "galerkin, r = 30", "", "", percent(basis[1]), percent(basis[2]), ms["galerkin"]
    for (i = 1; i <= rows; i++) {
        split(row[i], f, " ")
        split(f[1], part, "-")
        if (part[1] != last)
            print text[part[1]]
        last = part[1]
        printf "%-10s%10d%10s%10s%10s%11s%11s%11s%11s%10s\n", 100 * part[2] " %", f[2], percent(f[3]), percent(f[4]), percent(f[6]), percent(f[7]), percent(f[8]), percent(f[9]), percent(f[10]), ms[f[1]]
    }
}
