# The angle by which the top of the mast has turned about its foot, in degrees, over the force in kN. The input is the
# position of the top that simexport writes.
NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /_py$/) y = i; if ($i ~ /_pz$/) z = i } print "force,angle"; next }
{ printf "%.4f,%.3f\n", force / 1000 * (NR - 2) / steps, atan2($y, $z) * 45 / atan2(1, 1) }
