# awk -f table.awk BETAS TIMES: the smallest stable beta of each way, and the processor time of its 1 s by that of all vertices at h = 5 ms.
# Lines "NAME beta B" and "NAME SECONDS".
$2 == "beta" { beta[$1] = $3; next }
{ seconds[$1] = $2 }
function row(name, label, paper) {
    printf "%-28s %8s %8s %10.2f s %8.2f\n", label, (name in beta) ? beta[name] : "", paper, seconds[name], seconds[name] / seconds["vanilla"]
}
END {
    printf "%-28s %8s %8s %12s %8s\n", "", "beta", "paper", "1 s takes", "ratio"
    row("vanilla", "all vertices, h = 5 ms", "3.7")
    row("fine", "all vertices, h = 2 ms", "")
    for (n = 0; n <= 10; n += 2)
        row("conjac-" n, "ConJac, " n " dynamic vertices", n ? "0.5" : "")
    row("conjac-6+", "ConJac, 6, corrections", "")
}
