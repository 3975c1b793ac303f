# awk -v T=POSES -v body=NAME -f rawtable3.awk METHOD-LEVEL.deviation ...
# Elements that a training error takes in a raw random projection, by method, and the mean deviation of forces that they leave on other poses.

BEGIN { count = split("0.6 0.25 0.1 0.03 0.01 0.005 0.001", level, " ") }
{ elements[$1] = $2; deviation[$1] = $6 }
END {
    printf "%s, raw random projection: elements that a training error takes, T = %d, and mean deviation of forces on poses held out\n", body, T
    printf "%-8s%8s%10s%8s%10s%8s%10s%8s%10s\n", "error", "greedy", "others", "htp", "others", "nnls", "others", "modal", "others"
    for (i = 1; i <= count; i++) {
        printf "%-8s", 100 * level[i] " %"
        for (m = 1; m <= split("greedy htp nnls modal", method, " "); m++) {
            at = "raw" method[m] "-" level[i]
            printf "%8d%8.2f %%", elements[at], 100 * deviation[at]
        }
        print ""
    }
}
