# awk -v turn=DEGREES -f torque.awk full.csv reduced.csv
# The torque of the grip on the beam's end: its work in a step, which is the growth of all energy, over the angle.

FNR == 1 {
    count = split($0, name, ",")
    for (i = 1; i <= count; i++)
        if (name[i] == "strain")
            column = i
    file++
    next
}
{
    split($0, value, ",")
    energy[file, FNR - 2] = value[column]
    steps = FNR - 2
}
END {
    print "Torque of the grip in N m: the growth of the energy, springs included, in a step over its angle."
    print ""
    printf "%10s%14s%16s\n", "turned", "full model", "reduced, r = 5"
    radians = turn / 180 * 4 * atan2(1, 1) / steps
    for (step = steps / 6; step <= steps; step += steps / 6)
        printf "%8.1f °%14.0f%16.0f\n", turn * (step - 0.5) / steps, (energy[1, step] - energy[1, step - 1]) / radians, (energy[2, step] - energy[2, step - 1]) / radians
}
