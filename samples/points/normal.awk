# The normal and the tangential force of the plate on the ball over the path length in mm, at a speed in mm/s. The input is
# a motion as simexport writes it.
# The normal is (sin 20°, 0, cos 20°).
BEGIN { if (!speed) speed = 200; turn = 20 * atan2(0, -1) / 180 }
NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "ball.fx") x = i; if ($i == "ball.fz") z = i } print "way,normal,along"; next }
NR > 2 { printf "%.4f,%.4f,%.4f\n", speed * $1, $x * sin(turn) + $z * cos(turn), $x * cos(turn) - $z * sin(turn) }
