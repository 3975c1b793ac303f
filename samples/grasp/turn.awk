# The largest force between pole and pillar and where the pole is in the end, for each pillar, with and without saturation.
function report(    parts) {
    split(name, parts, "-")
    limit = parts[3] ~ /null/ ? 0 : 2
    printf "%5.0f mm   %-9s  %6.1f N   %5.1f°   %s\n", 1000 * parts[2], limit ? "2 N m" : "none", most, angle,
        (angle > 45 ? "through" : "held")
}
FNR == 1 {
    if (name ~ /^turn/)
        report()
    else if (name) {
        printf "the pillar resists with up to %.1f N\n", most
        print "arm        torque up to  force     in the end"
    }
    name = FILENAME
    sub(/.*\//, "", name)
    most = 0
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
{
    force = sqrt($column["pole.fx"] ^ 2 + $column["pole.fy"] ^ 2 + $column["pole.fz"] ^ 2)
    most = force > most ? force : most
    angle = 360 / 3.14159265358979 * atan2($column["pole.qz"], $column["pole.qw"])
}
END { report() }
