# awk -v elements=N -v many=T -f fitting.awk METHOD-tPOSES.count ...
# Errors of so many elements over the number of poses: on these, and on many others.

{
    split($1, part, "-t")
    if (!(part[2] in seen)) {
        seen[part[2]] = 1
        poses[++count] = part[2]
    }
    fitted[$1] = $3
    held[$1] = $4
}

END {
    printf "# errors of %d elements: on the T poses they were fitted to, and on %d others\n", elements, many
    printf "# %-6s%12s%12s%12s%12s%12s%12s\n", "T", "greedy", "others", "nnls", "others", "modal", "others"
    for (i = 1; i <= count; i++) {
        t = "-t" poses[i]
        printf "%-8d%12.3g%12.3g%12.3g%12.3g%12.3g%12.3g\n", poses[i], fitted["greedy" t], held["greedy" t], fitted["nnls" t], held["nnls" t], fitted["modal" t], held["modal" t]
    }
}
