# awk -f bending.awk NAME-error.csv ... NAME-missed.csv ... full.npz.ms NAME-motion.npz.ms ...
# The tables of simcompare, for each basis its motion against the full one and what it misses of that, and times in ms.

BEGIN {
    FS = ","
    text["linear"] = "(a) 2 inertia modes"
    text["first"] = "(b) 2 + 3 derivatives"
    text["modal"] = "(c) 8 modes + 36 derivatives, PCA"
    text["higher"] = "(d) 2 + 3 + 6 + 9, order 3"
    text["pairs"] = "(d) 2 + 3 + 12 of pairs of these 5"
    text["wide"] = "(d) 8 + 36 + 15, Rayleigh, PCA"
    text["product"] = "(d) 8 + 36 + 15, products, PCA"
    text["weighted"] = "(c) weighed by Rayleigh quotients"
}
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/-(error|missed|motion).*|\..*/, "", name)
    if (name in text && !(name in known)) {
        known[name] = 1
        order[++count] = name
    }
}
FILENAME ~ /\.ms$/ { ms[name] = $1 }
/^position L2/ { square[name] = $5 }
/^position max/ { largest[name] = $5; metres[name] = $4 }
/^leading/ { columns[name] = $2; missed[name] = $6 }

END {
    print "A force on the head turns about the neck: static equilibria of reduced models against the full one."
    print ""
    printf "%-38s%4s%12s%12s%12s%12s%10s\n", "", "r", "error", "largest", "", "missed", "time"
    printf "%-38s%4s%12s%12s%12s%12s%8.2f s\n", "full simulation", "", "", "", "", "", ms["full"] / 1000
    for (i = 1; i <= count; i++) {
        n = order[i]
        printf "%-38s%4d%10.2f %%%10.2f %%%10.3f m%10.3f %%%8.2f s\n", text[n], columns[n], 100 * square[n], 100 * largest[n], metres[n], 100 * missed[n], ms[n] / 1000
    }
    print ""
    print "error: of positions, root of the sum of squares, relative; largest: of one vertex and frame, relative to the largest"
    print "displacement; missed: of the full motion, by its best approximation in the basis; time: of simulate, reading and writing."
}
