# awk -F, -f volume.awk MODEL-LENGTH.csv ...: the largest and the smallest volume by that at rest.
function done() {
    split(name, word, /[-\/]/)
    if (NR > 1)
        printf "%-10s bar of %.2f m  %s\n", word[2], substr(name, index(name, "-") + 1), failed ? "the solver failed" : sprintf("largest %8.3f  smallest %8.3f", high / rest, low / rest)
}
FNR == 1 { done(); name = FILENAME; sub(/\.csv$/, "", name); failed = $2 == "failed"; next }
FNR == 2 { rest = high = low = $NF }
{ high = $NF > high ? $NF : high; low = $NF < low ? $NF : low }
END { done() }
