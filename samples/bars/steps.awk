# awk -v energy=J -f steps.awk steps.dat: the largest stable steps, beside the paper's.
{
    if (!($2 in seen)) { seen[$2] = ++n; young[n] = $2 }
    bounded = $4 != "failed" && $4 + 0 < 10 * energy
    if (bounded && $5 == 0 && !(($1, $2) in sound)) sound[$1, $2] = $3
    if (bounded && !(($1, $2) in any)) any[$1, $2] = $3
}
function row(label, text,   i) {
    split(text, word)
    printf "%-44s", label
    for (i = 1; i <= n; i++) printf "%7s", word[i]
    print ""
}
function found(array, model,   i, text) {
    for (i = 1; i <= n; i++) text = text " " ((model, young[i]) in array ? array[model, young[i]] : "<1")
    return text
}
END {
    print "a falling tube: the largest of the steps 30, 20, 10, 5, 2, 1 ms at which it is stable over 5 s"
    row("Young's modulus [MPa]", "2.0 1.0 0.5 0.2 0.1")
    row("warped, paper", "30 20 10 10 10")
    row("warped, rotations from frames", found(sound, "frame"))
    row("warped, rotations by polar decomposition", found(sound, "polar"))
    row("nonlinear, paper", "5 5 2 1 1")
    row("nonlinear, conjugate gradients never fail", found(sound, "nonlinear"))
    row("nonlinear, by a definite matrix where they do", found(any, "nonlinear"))
}
