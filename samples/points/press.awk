# Force of each body pressed straight into the plate by 4 cm: its largest size and its angle from the normal of the plate, beyond a
# depth of 2 mm. The input are tables of normal.awk, of which a row is 0.04 mm deeper than the last.
FNR == 1 { name = FILENAME; sub(/.*press-/, "", name); sub(/-force.csv/, "", name); names[++n] = name; next }
{ size = $2 / cos($4 * atan2(0, -1) / 180); if (size > most[name]) most[name] = size }
FNR > 51 { sum[name] += $4; count[name]++; if ($4 > far[name]) far[name] = $4 }
END {
    print "pressed into the plate: largest force N, angle from the normal of the plate, mean and largest"
    for (k = 1; k <= n; k++) { m = names[k]; printf "%-10s %8.1f N %8.2f° %8.2f°\n", m, most[m], sum[m] / count[m], far[m] }
}
