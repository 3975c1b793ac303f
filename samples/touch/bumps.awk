# Bumps in the force that the hand feels: each time that it climbs above 60 % of its largest and has been below 50 % before.
function finish(   i, f, above) {
    for (i = 1; i <= frames; i++) {
        f = force[i]
        if (!above && f > 0.6 * most) { bumps++; above = 1 }
        if (above && f < 0.5 * most) above = 0
    }
    name = file
    sub(/.*\//, "", name)
    sub(/\.csv$/, "", name)
    printf "%-8s %7d points %9.2f N at most %6d bumps", name, points[substr(name, length(name))], most, bumps
    printf " %8.0f nodes a cycle, at most %d points in contact\n", nodes / frames, touching
    frames = most = bumps = nodes = touching = 0
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
    if (force[frames] > most) most = force[frames]
    nodes += $column["visited"]
    if ($column["touching"] > touching) touching = $column["touching"]
}
END { finish() }
