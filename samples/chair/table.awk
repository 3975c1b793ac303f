# From the motion as a table, what siminfo says of the files, and the times of the steps.
FNR == 1 { file++ }
file == 1 && FNR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
file == 1 {
    for (w = 1; w <= 2; w++) {
        wall = w == 1 ? "behind" : "beside"
        force = sqrt($column[wall ".fx"] ^ 2 + $column[wall ".fy"] ^ 2 + $column[wall ".fz"] ^ 2)
        most[w] = force > most[w] ? force : most[w]
        if ($1 == 0.75)
            middle[w] = force
    }
    if ($column["touching"] > 0) {
        frames++
        nodes += $column["visited"]
        points += $column["touching"]
    }
}
file == 2 && $1 == "shell" { shell = $2 }
file == 2 && $1 == "mesh" && $3 ~ /^vertices/ { vertices = $2; voxels = $4 }
file == 2 && $1 == "lowest_distance" { lowest = -$2 }
file == 2 && $1 == "most_nodes_visited" { visited = $2 }
file == 2 && $1 == "most_points_in_contact" { touching = $2 }
file == 3 && FNR > 1 {
    seconds += $2
    steps++
}
END {
    printf "%-34s %d vertices, %d voxels\n", "mesh", vertices, voxels
    printf "%-34s %d\n", "points (thesis: about 26,000)", shell
    printf "%-34s %.0f on average in contact, %d at most\n", "nodes visited", nodes / frames, visited
    printf "%-34s %.0f on average in contact, %d at most\n", "points in contact", points / frames, touching
    printf "%-34s %.1f N behind, %.1f N beside\n", "largest force", most[1], most[2]
    printf "%-34s %.1f mm\n", "deepest penetration", 1000 * lowest
    printf "%-34s %.0f us on average\n", "time of a step", 1e6 * seconds / steps
}
