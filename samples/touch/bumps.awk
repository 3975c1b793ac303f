# awk -F, -f bumps.awk KIND-1.csv ... KIND-5.csv ...: the bumps that the hand feels, for each number of levels. The last file of each kind
# (rigid, soft) has all levels. A bump is felt if the force exceeds a third of the largest force with all levels while the bump is over the rail.
function finish(   name, level) {
    name = file
    sub(/.*\//, "", name)
    sub(/\.csv$/, "", name)
    level = substr(name, length(name))
    kind = substr(name, 1, length(name) - 2)
    for (i = 1; i <= frames; i++) all[level, i] = force[i]
    nodes_of[level] = nodes / frames
    touching_of[level] = touching
    if (level == 5) report()
    frames = nodes = touching = 0
}
function report(   i, k, level, most, largest, felt, off, sum, t) {
    for (i = 1; i <= frames; i++) if (all[5, i] > most) most = all[5, i]
    for (level = 1; level <= 5; level++) {
        split("", peak)
        largest = felt = off = sum = 0
        for (i = 1; i <= frames; i++) {
            if (all[level, i] > largest) largest = all[level, i]
            off += (all[level, i] - all[5, i]) ^ 2
            sum += all[5, i] ^ 2
            for (k = 0; k < 6; k++) {
                t = 0.6 + 3 * (0.018 + 0.016 * k) / 0.116 # its middle is over the rail: path.py and body.py
                if (time[i] > t - 0.17 && time[i] < t + 0.17 && all[level, i] > peak[k]) peak[k] = all[level, i]
            }
        }
        for (k = 0; k < 6; k++) if (peak[k] > most / 3) felt++
        printf "%-5s %d levels %7d points %d bumps felt %6.2f N at most", kind, level, points[level], felt, largest
        printf " %5.1f %% from all levels %4.0f nodes a cycle, at most %d points in contact\n", 100 * sqrt(off / sum), nodes_of[level], touching_of[level]
    }
}
BEGIN {
    points[1] = 751; points[2] = 3754; points[3] = 15765; points[4] = 63812; points[5] = 256000
}
FNR == 1 {
    if (frames) finish()
    file = FILENAME
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{
    force[++frames] = sqrt($column["coupling_fx"] ^ 2 + $column["coupling_fy"] ^ 2 + $column["coupling_fz"] ^ 2)
    time[frames] = $column["time"]
    nodes += $column["visited"]
    if ($column["touching"] > touching) touching = $column["touching"]
}
END { finish() }
