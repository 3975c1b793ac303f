# Forces on the moving copy as points and as distances, over the penetration that the first role finds, from points.csv,
# distances.csv and the two depths.
FNR == 1 {
    file++
    for (i = 1; i <= NF; i++)
        column[file, $i] = i
    next
}
file <= 2 {
    t = sprintf("%.6f", $1)
    for (k = 1; k <= 3; k++)
        force[file, t, k] = $column[file, "mover.f" substr("xyz", k, 1)]
    touching[file, t] = $column[file, "touching"]
    next
}
{
    t = sprintf("%.6f", $1)
    depth[file, t] = $2
    if (file == 3)
        time[++count] = t
}
END {
    print "depth [voxels]        force on the moving copy [N]                 relative    angle    points in contact"
    print "points  distances     as points            as distances           difference"
    split("0.25 0.5 1 2 3 4 6 8", wanted, " ")
    for (w = 1; w in wanted; w++) {
        for (i = 1; i <= count && depth[3, time[i]] < wanted[w]; i++)
            ;
        if (i > count)
            break
        t = time[i]
        square[1] = square[2] = dot = apart = 0
        for (k = 1; k <= 3; k++) {
            a = force[1, t, k]
            b = force[2, t, k]
            square[1] += a * a
            square[2] += b * b
            dot += a * b
            apart += (a - b) ^ 2
        }
        cosine = dot / sqrt(square[1] * square[2])
        printf "%6.2f %6.2f   (%6.2f, %6.2f, %6.2f)   (%6.2f, %6.2f, %6.2f)   %5.1f %%   %5.1f°   %5d, %5d\n", depth[3, t],
            depth[4, t], force[1, t, 1], force[1, t, 2], force[1, t, 3],
            force[2, t, 1], force[2, t, 2], force[2, t, 3], 100 * 2 * sqrt(apart) / (sqrt(square[1]) + sqrt(square[2])),
                180 / 3.14159265358979 * atan2(sqrt(1 - (cosine < 1 ? cosine ^ 2 : 1)), cosine),
            touching[1, t], touching[2, t]
    }
}
