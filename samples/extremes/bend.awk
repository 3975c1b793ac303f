# awk -f bend.awk out/spoon.obj full.csv reduced.csv harder.csv
# From the rest state and three tables of probes on the spoon's surface: how far the bowl has turned, from the bowl's beginning
# (vertex 2010, counted from 0) to its tip (3320), where the tip is, and the energy.

FILENAME ~ /\.obj$/ {
    if ($1 == "v") {
        x[vertices] = $2
        z[vertices++] = $4
    }
    next
}
FNR == 1 {
    file++
    count = split($0, name, ",")
    next
}
{
    split($0, value, ",")
    for (i = 1; i <= count; i++)
        field[name[i]] = value[i]
    tip_x = x[3320] + field["s3320_x"]
    tip_z = z[3320] + field["s3320_z"]
    turn = atan2(tip_z - z[2010] - field["s2010_z"], tip_x - x[2010] - field["s2010_x"]) * 45 / atan2(1, 1)
    if (FNR == 2)
        rest = turn
    turned = turn - rest
    while (turned < -90)
        turned += 360
    step = FNR - 2
    row[file, step] = sprintf("%8.1f °   (%6.3f, %6.3f) m%9.0f J", turned, tip_x, tip_z, field["strain"])
    steps = step
}
END {
    print "The spoon bent back by a pull at its tip, step by step: how far the bowl has turned, the place of the tip (x, z), energy."
    print ""
    printf "%4s%36s%42s%42s\n", "step", "full model", "k = 6, r = 15", "k = 6, r = 15, pulled harder"
    for (step = 4; step <= steps; step += 4)
        printf "%4d  %s  %s  %s\n", step, row[1, step], row[2, step], row[3, step]
}
