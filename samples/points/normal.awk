# The normal force of the plate on the ball, its force along the slope, and the angle of the force from the normal,
# over the path length in mm, at a speed in mm/s. The input is a motion as simexport writes it. The normal is (sin
# 20°, 0, cos 20°).
BEGIN { if (!speed) speed = 200; turn = 20 * atan2(0, -1) / 180 }
NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "ball.fx") x = i; if ($i == "ball.fy") y = i; if ($i == "ball.fz") z = i } print "way,normal,along,angle"; next }
NR > 2 {
    n = $x * sin(turn) + $z * cos(turn)
    t = $x * cos(turn) - $z * sin(turn)
    printf "%.4f,%.4f,%.4f,%.4f\n", speed * $1, n, t, atan2(sqrt(t * t + $y * $y), n) * 180 / atan2(0, -1)
}
