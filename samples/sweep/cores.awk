# From the output of the shell's `times`, of which the second line is the user and system time of its children: the share
# of the cores that was in use. wall: in ms; cores: their number.
function seconds(text, parts) {
    split(text, parts, /[ms]/)
    return 60 * parts[1] + parts[2]
}
NR == 2 {
    used = seconds($1) + seconds($2)
    printf "%.1f s of processor time in %.1f s on %d cores: %.0f %% of them in use\n", used, wall / 1000, cores,
        100 * used / (wall / 1000 * cores)
}
