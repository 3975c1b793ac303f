# What the passage took.
FNR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{
    frames++
    force = sqrt($column["coupling_fx"] ^ 2 + $column["coupling_fy"] ^ 2 + $column["coupling_fz"] ^ 2)
    device = sqrt($column["device_fx"] ^ 2 + $column["device_fy"] ^ 2 + $column["device_fz"] ^ 2)
    if (force > most_force) most_force = force
    if (device > most_device) most_device = device
    nodes = $column["visited"]
    touching = $column["touching"]
    if (nodes > most_nodes) most_nodes = nodes
    if (touching > 0) {
        contact++
        sum += nodes
        points += touching
    }
    if (touching > most) most = touching
}
END {
    printf "%d cycles, %d in contact; of these %.0f nodes and %.0f points on average, at most %d and %d\n", frames - 1, contact, sum / contact, points / contact, most_nodes, most
    printf "force of the coupling at most %.1f N (it saturates at 25 N), unsaturated on the device %.1f N\n", most_force, most_device
    printf "(thesis, Table 3.1: 530 nodes, 50 points in one such cycle)\n"
}
