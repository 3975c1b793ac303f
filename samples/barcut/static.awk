# awk -F, -f static.awk REST.csv STATIC.csv: where the ends of the held pieces are in the last frame, displacements in mm.
{ file = FILENAME; if (FNR == 1) for (i = 1; i <= NF; i++) column[$i] = i; else for (i = 1; i <= NF; i++) last[file, i] = $i }
END {
    split("v3024 v6231", vertex, " ")
    split("left right", piece, " ")
    printf "%-34s %14s %14s %14s\n", "end state [mm]", "ConJac", "statics", "difference"
    for (p = 1; p <= 2; p++)
        for (c = 1; c <= 2; c++) {
            i = column[vertex[p] (c == 1 ? "_x" : "_z")]
            a = 1000 * last[ARGV[1], i]
            b = 1000 * last[ARGV[2], i]
            printf "%-34s %14.6f %14.6f %14.2g\n", "end of the " piece[p] " piece, " (c == 1 ? "x" : "z"), a, b, a - b
        }
}
