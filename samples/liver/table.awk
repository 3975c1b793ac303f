# One row for each cubature: out of the CSV of simvalidate, whose rows stand in the order of `names`, and the .row files in the same order:
# errors of the forces in the energy norm and in the force norm, and of the velocity of the second motion.
BEGIN {
    FS = ","
    split(names, name, " ")
}
FNR == 1 { file++ }
file == 1 && FNR > 1 && $1 == "direct" { basis = sprintf("all forces, projected: position %.3f %%, velocity %.3f %%", 100 * $4, 100 * $5) }
file == 1 && $1 == "cubature" {
    n++
    elements[n] = $3
    position[n] = $4
    velocity[n] = $5
    largest[n] = $6
    time[n] = $10
}
file > 1 {
    split($0, field, " ")
    energy[file - 1] = field[1]
    force[file - 1] = field[2]
    aside[file - 1] = field[3]
}
END {
    print "# " basis
    print "# kind elements, errors in %: position, velocity, largest, forces (energy norm), forces (force norm), velocity of the second motion"
    for (i = 1; i <= n; i++) {
        kind = name[i]
        sub(/-.*/, "", kind)
        if (i > 1 && elements[i] < elements[i - 1])
            printf "\n\n"
        printf "%-10s %3d %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f\n", kind, elements[i], 100 * position[i], 100 * velocity[i], 100 * largest[i],
            100 * energy[i], 100 * force[i], 100 * aside[i]
    }
}
