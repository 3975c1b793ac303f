# awk -f subspaces.awk strong-NAME.full ...     tables of simcompare
# How far motions in each subspace are from that of all degrees of freedom.

BEGIN {
    FS = ","
    text["strong-exact-classic"] = "modes and modal derivatives, mass-PCA"
    text["strong-exact-inertia"] = "inertia modes and derivatives, mass-PCA"
    text["strong-exact-paper"] = "the same by random projection, as in the paper"
    text["strong-cub-paper"] = "the same, incremental cubature of 400"
    text["product"] = "inertia columns, product weights, random projection"
    text["lanczos"] = "classic columns, eigenvalue weights, random projection"
    printf "%-60s%12s%12s%12s\n", "against the full motion, r = 30", "position", "velocity", "energy"
}
# Bases of random numbers have their seed behind the name.
function describe(name,   part) {
    if (name in text)
        return text[name]
    split(name, part, "-")
    return text[part[3]] ", seed " part[4]
}
FNR == 1 { name = FILENAME; sub(/.*\//, "", name); sub(/\.full$/, "", name); names[++count] = name }
/^(position|velocity|energy) L2,/ { value[name, substr($1, 1, 1)] = $5 }
END {
    for (i = 1; i <= count; i++)
        printf "%-60s%10.1f %%%10.1f %%%10.1f %%\n", describe(names[i]), 100 * value[names[i], "p"], 100 * value[names[i], "v"], 100 * value[names[i], "e"]
}
