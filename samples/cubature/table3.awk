# awk -v T=POSES -v body=NAME -f table3.awk METHOD-LEVEL.count ... METHOD-LEVEL.{gentle,strong} ... gentle.txt strong.txt
# Elements that a training error takes, by method, beside Yang et al. 2015, Table 3, and what two motions make of them.

BEGIN {
    split("0.6 0.25 0.1 0.03 0.01 0.005 0.001", level, " ")
    split("2 7 21 50 110 141 374", optimized, " ")
    split("1 8 17 28 59 65 113", modal, " ")
}
FILENAME ~ /\.txt$/ { far[$1] = $2; next }
{
    elements[$1] = $2
    if (FILENAME ~ /\.(gentle|strong)$/) {
        push = FILENAME
        sub(/.*\./, "", push)
        velocity[push, $1] = $8
    }
}

function percent(x) { return x == "" ? "" : x == "-" ? "failed" : x > 10 ? "> 1000 %" : sprintf(x < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * x) }

END {
    printf "%s: elements that a training error takes, T = %d, and velocity errors of motions with them\n", body, T
    printf "%39s%15s%30s%30s\n", "", "paper", "nnls as in the papers", "nnls, energy and exact"
    printf "%-7s%8s%8s%8s%8s%8s%7s%10s%10s%10s%10s%10s%10s\n", "error", "greedy", "htp", "nnls", "modal", "OC", "MC", "elements", "gentle", "strong", "elements", "gentle", "strong"
    for (i = 1; i <= 7; i++) {
        l = level[i]
        printf "%-7s%8d%8d%8d%8d%8d%7d%10d%10s%10s%10d%10s%10s\n", 100 * l " %", elements["greedy-" l], elements["htp-" l], elements["nnls-" l], elements["modal-" l], optimized[i], modal[i], \
            elements["nnls-" l], percent(velocity["gentle", "nnls-" l]), percent(velocity["strong", "nnls-" l]), \
            elements["kept-" l], percent(velocity["gentle", "kept-" l]), percent(velocity["strong", "kept-" l])
    }
    printf "gentle: up to %.3f m; strong: up to %.3f m\n", far["gentle"], far["strong"]
}
