# awk -v elements=N -v many=POSES -f rawfitting.awk METHOD-tPOSES.deviation ...
# Mean deviation of forces in a raw random projection on the poses that were fitted and on others.

{
    split($1, part, "-t")
    if (!(part[2] in seen)) { seen[part[2]] = 1; poses[++count] = part[2] }
    fitted[$1] = $5
    held[$1] = $6
}
END {
    printf "# raw random projection, %d elements: mean deviation of the force on the T poses of the training, and on %d others\n", elements, many
    printf "# %-6s%12s%12s%12s%12s%12s%12s\n", "T", "greedy", "others", "nnls", "others", "modal", "others"
    for (i = 1; i <= count; i++) {
        t = "-t" poses[i]
        printf "%-8d%12.3g%12.3g%12.3g%12.3g%12.3g%12.3g\n", poses[i], fitted["rawgreedy" t], held["rawgreedy" t], fitted["rawnnls" t], held["rawnnls" t], fitted["rawmodal" t], held["rawmodal" t]
    }
}
