# awk -f extraction.awk extraction.csv
# Errors of mass-PCA and, over the seeds, of random projection.

BEGIN { FS = "," }
NR == 1 { next }
!($3 in seen) { seen[$3] = 1; rank[++ranks] = $3 }
$1 == "pca" { pca[$3, 4] = $4; pca[$3, 5] = $5 }
$1 == "random" {
    n[$3]++
    for (k = 4; k <= 5; k++) {
        sum[$3, k] += $k
        if (n[$3] == 1 || $k < least[$3, k])
            least[$3, k] = $k
        if (n[$3] == 1 || $k > most[$3, k])
            most[$3, k] = $k
    }
}

END {
    print "How well r columns fit the 24 inertia modes and 300 derivatives they were extracted from."
    print ""
    printf "%4s   %-38s   %-38s\n", "", "mean relative error of a candidate", "weighed root of squares"
    printf "%4s", "r"
    for (k = 4; k <= 5; k++)
        printf "   %9s%29s", "PCA", "random: mean (least - most)"
    print ""
    for (i = 1; i <= ranks; i++) {
        r = rank[i]
        printf "%4d", r
        for (k = 4; k <= 5; k++)
            printf "   %9.2e%10.2e (%.1e - %.1e)", pca[r, k], sum[r, k] / n[r], least[r, k], most[r, k]
        print ""
    }
}
