# awk -f largest.awk -f inverted.awk steps.dat: the largest steps up to which no element stays turned inside out, beside the paper's.
{
    at = $1 SUBSEP $2
    if ($6 != "0") left[at] = 1
    if ($7 != "0") passed[at] = 1
    if (!(at in left)) whole[at] = $3
    if (!(at in passed)) ever[at] = $3
}
END {
    print "by inverted elements, ground of 20 kN/m, mass damping 5/s: the largest step up to which none is left after 5 s"
    row("warped, paper", "30 20 10 10 10")
    row("warped, rotations by polar decomposition", found(whole, "polar"))
    row("warped, rotations from frames", found(whole, "frame"))
    row("nonlinear, paper", "5 5 2 1 1")
    row("nonlinear", found(whole, "nonlinear"))
    print "the same, with no inverted element in any frame"
    row("warped, polar decomposition", found(ever, "polar"))
    row("warped, frames", found(ever, "frame"))
    row("nonlinear", found(ever, "nonlinear"))
}
