# awk -v k=MODES -v r=COORDINATES -f table.awk times counts
# times: lines "step milliseconds"; counts: vertices and triangles of the model, vertices and voxels of the mesh, bytes of the
# polynomials, one per line. The other column is the bridge of Barbič & James 2005, Figures 3 and 5.

FNR == 1 { file++ }
file == 1 { seconds[$1] = sprintf("%.2f s", $2 / 1000) }
file == 2 { count[FNR] = $1 }

function row(name, ours, theirs) { printf "%-42s%12s%14s\n", name, ours, theirs }

END {
    row("", "here", "paper 2005")
    row("vertices of the model", count[1], "41361")
    row("triangles of the model", count[2], "59630")
    row("vertices of the voxels", count[3], "11829")
    row("voxels, resolution 128", count[4], "5854")
    row("reduced coordinates", r, "15")
    row("coefficients of the forces: time", seconds["poly"], "186 s")
    row("coefficients of the forces: size", sprintf("%.0f kB", count[5] / 1000), "223 kB")
    row("voxels from the model: time", seconds["bridge"], "")
    row(k " modes: time", seconds["modes"], "")
    row(k * (k + 1) / 2 " modal derivatives: time", seconds["derivatives"], "")
    row("simulation of 1000 steps: time", seconds["motion"], "")
}
