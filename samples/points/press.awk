# Force of each body pressed straight into the plate by 4 cm: its largest size and its angle from the normal of the plate, beyond a
# depth of 2 mm. The input are tables of normal.awk, of which a row is 0.04 mm deeper than the last.
FNR == 1 { name = FILENAME; sub(/.*press-/, "", name); sub(/-force.csv/, "", name); names[++n] = name; next }
{ size = sqrt($2 * $2 + $3 * $3); if (size > most[name]) most[name] = size }
FNR > 51 { a = atan2($3 < 0 ? -$3 : $3, $2) * 180 / atan2(0, -1); sum[name] += a; count[name]++; if (a > far[name]) far[name] = a }
END {
    print "pressed into the plate: largest force N, angle from the normal of the plate, mean and largest"
    for (k = 1; k <= n; k++) { m = names[k]; printf "%-10s %8.1f N %8.2f° %8.2f°\n", m, most[m], sum[m] / count[m], far[m] }
}
