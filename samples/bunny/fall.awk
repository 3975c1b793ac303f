# awk -F, -f fall.awk POSE-MODEL.csv ...: what is left of the fall after the impact, and how far momentum and energy are from what they should be.
function show() {
    if (name == "") return
    n = split(name, part, /[\/.-]/)
    printf "%-6s %-8s %9.1e %10.1f %9.1f %9.1f %10.2f %12.1e %9.1f\n", part[2], part[3], fall, 1000 * bounce, 1000 * (bounce - low), 1000 * deep, most, rise, 100 * (1 - tall / rest)
}
BEGIN {
    printf "%-6s %-8s %9s %10s %9s %9s %10s %12s %9s\n", "", "", "momentum", "bounces to", "by", "deepest", "fastest up", "energy above", "shorter"
    printf "%-6s %-8s %9s %10s %9s %9s %10s %12s %9s\n", "", "", "error", "[mm]", "[mm]", "[mm]", "[m/s]", "the start [J]", "[%]"
}
# shorter: the smallest height between the first contact and the first upward speed, relative to the height at rest
FNR == 1 { show(); name = FILENAME; fall = bounce = deep = most = 0; rise = -1; low = touched = up = 0; next }
FNR == 2 { rest = tall = $9 - $3 }
{
    if ($3 < 0) touched = 1
    if (!touched) { e = $7 < 0 ? -$7 : $7; if (e > fall) fall = e }
    if (touched && !up && $9 - $3 < tall) tall = $9 - $3
    if (touched && !up && $6 > 0) { up = 1; low = last }
    if (up && $2 > bounce) bounce = $2
    if (up && $6 > most) most = $6
    if (-$3 > deep) deep = -$3
    if ($1 > 0 && $8 > rise) rise = $8
    last = $2
}
END { show() }
