# LABELS='NAME;NAME;...' awk -F, -v release=T -v column=s1128_y -f swings.awk FRAMES.csv ...: how far the back is pulled, and how far it swings after it is let
# go: the largest displacement between its crossings of zero, the first one being to the other side. Also the largest kinetic energy.
function finish(    i) {
    if (!name)
        return
    if (!rows) {
        printf "%-28s %6s\n", name, "none"
        return
    }
    printf "%-28s %8.1f mm", name, 1000 * pulled
    for (i = 1; i <= 4; i++)
        printf " %7.1f %%", 100 * swing[i] / pulled
    printf " %10.2f mJ %9.3f mJ\n", 1000 * kinetic, 1000 * late
}
BEGIN {
    split(ENVIRON["LABELS"], label, ";")
    printf "%-28s %11s %9s %9s %9s %9s %13s %12s\n", "", "pulled", "swing 1", "2", "3", "4", "kinetic, most", "after 0.8 s"
}
FNR == 1 {
    finish()
    name = label[++files]
    rows = crossings = pulled = kinetic = late = before = 0
    delete swing
    delete at
    for (i = 1; i <= NF; i++)
        at[$i] = i
    next
}
{
    rows++
    u = $at[column]
    if ($1 <= release + 1e-9) {
        pulled = u
        before = u
        next
    }
    if (u * before < 0)
        crossings++
    before = u
    far = u < 0 ? -u : u
    if (far > swing[crossings] + 0)
        swing[crossings] = far
    if ($at["kinetic"] > kinetic)
        kinetic = $at["kinetic"]
    if ($1 > 0.8 && $at["kinetic"] > late)
        late = $at["kinetic"]
}
END { finish() }
