# awk -f far.awk FILE.csv     a probe's displacement, from simexport
# Its length over time, as CSV.

BEGIN { FS = ","; print "time,far" }
NR == 1 { x = NF - 2; next }
{ printf "%.9g,%.9g\n", $1, sqrt($x ^ 2 + $(x + 1) ^ 2 + $(x + 2) ^ 2) }
