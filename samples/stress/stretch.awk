# The displacement of the end of a bar of 1 m in each step, as simexport writes it, to stretch and nominal stress over
# Young's modulus: -v most: the largest force in N, where 10,000 N are Young's modulus times the section; -v steps: it
# grows in so many.
NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_x$/) x = i; print "stretch,stress"; next }
{ printf "%.6f,%.6f\n", 1 + $x, (NR - 2) / steps * most / 10000 }
