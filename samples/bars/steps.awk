# awk -v energy=J -f largest.awk -f steps.awk steps.dat: the largest steps before one is unstable, beside the paper's.
{
    bounded = $4 != "failed" && $4 + 0 < 10 * energy
    at = $1 SUBSEP $2
    if (!(bounded && $5 == 0)) unsound[at] = 1
    if (!bounded) unbounded[at] = 1
    if (!(at in unsound)) sound[at] = $3
    if (!(at in unbounded)) any[at] = $3
}
END {
    print "a falling tube: the largest of the steps 1, 2, 5, 10, 20, 30 ms up to which it is stable over 5 s"
    row("Young's modulus [MPa]", "2.0 1.0 0.5 0.2 0.1")
    row("warped, paper", "30 20 10 10 10")
    row("warped, rotations by polar decomposition", found(sound, "polar"))
    row("warped, rotations from frames", found(sound, "frame"))
    row("nonlinear, paper", "5 5 2 1 1")
    row("nonlinear", found(sound, "nonlinear"))
    print "the same by energy alone, other solvers where conjugate gradients fail"
    row("warped, polar decomposition", found(any, "polar"))
    row("warped, frames", found(any, "frame"))
    row("nonlinear", found(any, "nonlinear"))
}
