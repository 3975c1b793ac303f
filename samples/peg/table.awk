# Of each run: nodes, points in contact, the deepest level of the cycle with most points, and how far force and torque on the hand are from
# those of the first run, as root of the sum of squares over all cycles by that of the first run, and at most.
FNR == 1 {
    run++
    name[run] = FILENAME
    sub(/.*\//, "", name[run])
    sub(/\.csv$/, "", name[run])
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{
    visited = $column["visited"]
    touching = $column["touching"]
    nodes[run] += visited
    if (visited > most[run]) most[run] = visited
    if (touching > points[run]) { points[run] = touching; level[run] = $column["level"] }
    frames[run]++
    difference = torque_difference = 0
    for (k = 1; k <= 3; k++) {
        f = $column["coupling_f" substr("xyz", k, 1)]
        t = $column["coupling_t" substr("xyz", k, 1)]
        if (run == 1) {
            force[FNR, k] = f
            torque[FNR, k] = t
            size += f * f
            torque_size += t * t
        }
        difference += (f - force[FNR, k]) ^ 2
        torque_difference += (t - torque[FNR, k]) ^ 2
    }
    error[run] += difference
    torque_error[run] += torque_difference
    if (difference > worst[run]) worst[run] = difference
}
END {
    printf "%-6s %28s %22s %22s %24s\n", "warm", "nodes a cycle: mean, most", "points at most, level", "error of the force", "error of the torque"
    for (i = 1; i <= run; i++)
        printf "%-6s %14.0f %13d %16d %5d %13.2f %%, %.3f N %21.2f %%\n", name[i], nodes[i] / frames[i], most[i], points[i], level[i], 100 * sqrt(error[i] / size), sqrt(worst[i]), 100 * sqrt(torque_error[i] / torque_size)
}
