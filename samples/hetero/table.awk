# awk -F '[, ]' -v weight=W -f table.awk FORCES DIFFERENCE MOTION.csv STATIC.csv: how far the end of the motion is from equilibrium, by the
# weight (N), and from the static shape, and how far both soft layers bulge.
FILENAME ~ /forces$/ { force[$1] = $2; next }
FILENAME ~ /difference$/ { difference[$1, $2] = $5; next }
FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        at[$i] = i
    next
}
{
    lower[file] = 500 * ($at["v1780_x"] - $at["v1768_x"])
    upper[file] = 500 * ($at["v4146_x"] - $at["v4134_x"])
    top[file] = 1000 * $at["v5830_z"]
}
END {
    printf "weight %.3f N; at the end of the motion\n", weight
    printf "  forces on the vertices that follow    %8.1e N  %8.1e of the weight\n", force["quasistatic_residual"], force["quasistatic_residual"] / weight
    printf "  forces on the dynamic one, J'f        %8.1e N  %8.1e of the weight\n", force["dynamic_residual"], force["dynamic_residual"] / weight
    printf "  largest distance from the static shape %.1e m\n\n", difference["position", "max"]
    printf "%-10s %12s %22s %22s\n", "", "top", "lower layer, bulge", "upper layer, bulge"
    for (f = 1; f <= 2; f++)
        printf "%-10s %9.3f mm %19.3f mm %19.3f mm\n", f == 1 ? "ConJac" : "static", top[f], lower[f], upper[f]
    if (force["quasistatic_residual"] > 1e-8 * weight || force["dynamic_residual"] > 1e-8 * weight || difference["position", "max"] > 1e-8)
        exit 1
}
