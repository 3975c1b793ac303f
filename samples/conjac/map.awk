# awk -F, -f map.awk VANILLA.csv CONDENSED.csv, as map.sh writes them: a table of each, the largest energy by that when the loads are let
# go where it stayed below ten times that, "-" where not.
FNR == 1 {
    file++
    next
}
{
    if (!($1 in known)) {
        known[$1]
        step[++steps] = $1
    }
    if (!($2 in met)) {
        met[$2]
        beta[++betas] = $2
    }
    factor[file, $1, $2] = $3
}
END {
    for (f = 1; f <= 2; f++) {
        printf "\n%-34s beta", f == 1 ? "stable: all vertices" : "stable: ConJac, 6"
        for (j = 1; j <= betas; j++)
            printf " %6s", beta[j]
        print ""
        for (i = 1; i <= steps; i++) {
            printf "%29s h = %5g ms", "", 1000 * step[i]
            for (j = 1; j <= betas; j++)
                printf " %6s", factor[f, step[i], beta[j]] + 0 ? sprintf("%.2f", factor[f, step[i], beta[j]]) : "-"
            print ""
        }
    }
}
