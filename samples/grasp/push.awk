# Force and torque at the end of each push, beside the statics of a rigid pole, which takes no room in the pillar: the springs
# give way by F/k at the grasp and turn the pole by θ, k_T sin(θ/2) = F a, a from the grasp to the pillar along the pole.
function report(    parts, grasp, torque, pi, low, high, theta, force, arm, i) {
    split(name, parts, "-")
    grasp = parts[2] == "middle" ? 0 : -0.2
    torque = parts[3] + 0
    low = 0
    high = 0.5
    # From the hand to the pillar's axis; the two touch when that is 0.018 m along the pole's normal.
    for (i = 0; i < 60; i++) {
        theta = (low + high) / 2
        force = 500 * (0.018 - ((0.15 - grasp) * sin(theta) + (0.02 - 0.012) * cos(theta)))
        arm = (0.15 - grasp) * cos(theta) - (0.02 - 0.012) * sin(theta)
        if (force * arm > torque * sin(theta / 2))
            low = theta
        else
            high = theta
    }
    printf "%-7s %4d N m   %7.3f N  %7.3f N   %8.4f N m  %8.4f N m   %6.2f°  %6.2f°\n", parts[2], torque, felt, force, turning,
        force * arm, angle, theta * 180 / 3.14159265358979
}
FNR == 1 {
    if (name)
        report()
    else
        print "grasp   spring     force      statics     torque        statics        turned   statics"
    name = FILENAME
    sub(/.*\//, "", name)
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
{
    felt = sqrt($column["device_fx"] ^ 2 + $column["device_fy"] ^ 2 + $column["device_fz"] ^ 2)
    turning = -$column["device_tz"]
    angle = -360 / 3.14159265358979 * atan2($column["pole.qz"], $column["pole.qw"])
}
END { report() }
