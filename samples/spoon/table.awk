# awk -f table.awk motion-error.csv derivative-error.csv sketch-error.csv full.ms motion.ms derivative.ms sketch.ms
# The tables of runs of simcompare, each a reduced simulation against the full one, and all times in ms, as one table.

BEGIN { FS = "," }
FILENAME ~ /\.ms$/ { ms[times++] = $1; next }
FNR == 1 { file++ }
$1 ~ / amplitude$/ { amplitude[file] = $2; amplitude[0] = $3 }
$1 ~ / frequency$/ { frequency[file] = $2; frequency[0] = $3 }

function row(name, i) {
    printf "%-26s%8.4f m", name, amplitude[i]
    printf i ? "%+8.2f %%" : "%10s", i ? 100 * (amplitude[i] / amplitude[0] - 1) : ""
    printf "%10.4f Hz", frequency[i]
    printf i ? "%+8.2f %%" : "%10s", i ? 100 * (frequency[i] / frequency[0] - 1) : ""
    printf "%10.2f s\n", ms[i] / 1000
}

END {
    print "Vertical motion of the spoon's tip; largest amplitude, frequency after the impulse, errors against the full simulation,"
    print "wall time of the simulation with reading and writing."
    print ""
    printf "%-26s%10s%10s%13s%10s%12s\n", "", "amplitude", "error", "frequency", "error", "time"
    row("full simulation", 0)
    row("basis from full motion", 1)
    row("modal derivatives", 2)
    row("sketch", 3)
    printf "%-26s%10s%10s%13s%10s%12s\n", "thesis, modal derivatives", "", "~ 0", "", "-4.6 %", ""
    printf "%-26s%10s%10s%13s%10s%12s\n", "thesis, sketch", "", "~ 0", "", "-10.1 %", ""
}
