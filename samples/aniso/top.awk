# awk -F, -f top.awk PROBES.csv: of the displacements of the 13 x 13 vertices at the top of the bar, of 48 mm a side and 152 mm high, its mean
# height (m) and the angle (degrees) by which it has turned about z, the rotation nearest to what the vertices do in their plane.
NR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
    print "time,height,angle"
    next
}
{
    height = same = turned = 0
    for (k = 0; k < 169; k++) {
        v = "v" 6422 + k
        x = 0.004 * (k % 13 - 6)
        y = 0.004 * (int(k / 13) - 6)
        u = x + $at[v "_x"]
        w = y + $at[v "_y"]
        same += x * u + y * w
        turned += x * w - y * u
        height += (0.152 + $at[v "_z"]) / 169
    }
    printf "%s,%.9g,%.9g\n", $1, height, 57.29577951308232 * atan2(turned, same)
}
