# awk -v steps=N -v checked=N -v r=R -f table.awk table.dat     siminfo, seconds and errors of the wire
# The numbers of Yang et al. 2015, Figure 1, beside ours.

$1 == "mesh" { tetrahedra = $6 }
$1 == "seconds" { s[$2] = $3; next }
$1 == "missed" { missed[$2] = $3; next }
/^(position|velocity) L2,/ { split($0, cell, ","); error[substr($1, 1, 1)] = cell[5]; next }
{ value[$1] = $2 }

function row(what, here, paper) { printf "%-66s%14s%10s\n", what, here, paper }
function percent(x) { return sprintf("%.2g %%", 100 * x) }

END {
    row("", "here", "paper")
    row("tetrahedra", tetrahedra, 76863)
    row("columns of the basis, of 30 inertia modes and 465 derivatives", r, 120)
    row("training poses", value["training_poses"], 680)
    row("elements with weights", value["elements"], 342)
    row("error of the force: on the poses", percent(value["training_error"]), "")
    row("    on 50 others", percent(value["held_out_error"]), "")
    row("processor time, s: inertia modes", s["modes"], "")
    row("    derivatives", s["derivatives"], "")
    row("    random projection", s["basis"], "")
    row("    poses and weights", s["cub"], "")
    row("    all of it (paper: wall time on 8 cores)", sprintf("%.1f", s["modes"] + s["derivatives"] + s["basis"] + s["cub"]), 48)
    row("    (mass-PCA in place of the random projection)", s["pca"], "")
    row("milliseconds a step", sprintf("%.0f", 1000 * s["motion"] / steps), "")
    row("    with the forces of all elements", sprintf("%.0f", 1000 * s["galerkin"] / checked), "")
    row("position, velocity in " checked " steps against the forces of all elements", percent(error["p"]) ", " percent(error["v"]), "")
    row("missed of the linear motion: basis by random projection", percent(missed["basis"]), "")
    row("    by mass-PCA", percent(missed["pca"]), "")
}
