# awk -F, -v release=T -f stable.awk FRAMES.csv   (of simexport) says whether a motion was stable: kinetic + strain energy, finite, in
# no step more than ten times what it is when the loads are let go. Prints the factor; exit 1 where it was not.
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    energy = $at["kinetic"] + $at["strain"]
    if ($0 ~ /nan|inf/)
        wild = 1
    if ($1 <= release + 1e-9)
        initial = energy
    if (energy > most)
        most = energy
}
END {
    if (!initial || wild || most > 10 * initial)
        exit 1
    printf "%.3f\n", most / initial
}
