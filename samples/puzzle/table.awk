# From the facts of the files, the times of the cycles and the motions: what each cycle takes.
FNR == 1 { file++ }
file == 1 && /^#/ { sizes = substr($0, 3) }
file == 1 && $1 == "lowest" { lowest[$2] = -$3 }
file == 1 && $1 == "voxel" { voxel = $2 }
file == 2 {
    if (FNR > 1) {
        seconds += $2
        cycles++
    }
    next
}
file == 1 { next }
FNR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
file == 3 {
    nodes[FNR] = $column["visited"]
    points[FNR] = $column["touching"]
    most = nodes[FNR] > most ? nodes[FNR] : most
    touching = points[FNR] > touching ? points[FNR] : touching
    contact += points[FNR] > 0
    apart = sqrt(($column["held.x"] - $column["hand_x"]) ^ 2 + \
        ($column["held.y"] - $column["hand_y"]) ^ 2 + ($column["held.z"] - $column["hand_z"]) ^ 2)
    far = apart > far ? apart : far
    last = FNR
}
file > 3 { turn[file] = $column["held.qz"] }
function degrees(z) {
    z = z < 0 ? -z : z
    return 360 / 3.14159265358979 * atan2(sqrt(z < 1 ? 1 - z * z : 0), z)
}
function cycle(name, frame, thesis) {
    printf "%-8s %5d nodes  %3d points   thesis: %s\n", name, nodes[frame], points[frame], thesis
}
END {
    print sizes ", voxel " voxel " m"
    # The first frame of all is before the first cycle, and the first cycle looks at more.
    cycle("start", 102, "2, 0")
    cycle("middle", 6902, "233, 5")
    cycle("solved", last, "16, 0")
    printf "at most  %5d nodes  %3d points, in contact in %d of %d cycles of %.1f us\n", most, touching, contact, cycles,
        1e6 * seconds / cycles
    printf "the alpha and the hand are up to %.1f voxels apart, the deepest point is at %.2f voxels\n\n", far / voxel,
        lowest["solve"] / voxel
    print "a lever: the hand turns by 80°"
    printf "torques not saturated    turned by %5.1f°, deepest point at %.2f voxels\n", degrees(turn[4]), lowest["lever"] / voxel
    printf "torques saturated        turned by %5.1f°, deepest point at %.2f voxels\n", degrees(turn[5]), lowest["held"] / voxel
}
