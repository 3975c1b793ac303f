# The angles of the models at some forces.
FNR == 1 { model = FILENAME; sub(/.*\//, "", model); sub(/-angle.csv/, "", model); models[++n] = model; next }
{ force[FNR] = $1; angle[model, FNR] = $2; last = FNR }
END {
    printf "%-10s", "force [kN]"
    for (m = 1; m <= n; m++) printf "%14s", models[m]
    print ""
    for (k = 6; k <= last; k += 5) { printf "%10.2f", force[k]; for (m = 1; m <= n; m++) printf "%13.1f°", angle[models[m], k]; print "" }
}
