# awk -f elements.awk chosen.csv arm.mesh
# Chosen elements and their weights, and the mesh for Medit: "x z weight bone" of every element's centre (m), weight 0 where it
# is not chosen; bone is 1 in the bones (their reference in the mesh).

FNR == NR { if (FNR > 1) { split($0, f, ","); weight[f[1]] = f[2] } next }
/^[A-Z]/ { part = $1; left = -1; next }
left < 0 { left = $1; next }
left > 0 && part == "Vertices" { n++; x[n] = $1; z[n] = $3; left-- }
left > 0 && part == "Hexahedra" {
    sx = sz = 0
    for (k = 1; k <= 8; k++) {
        sx += x[$k]
        sz += z[$k]
    }
    print sx / 8, sz / 8, weight[e++] + 0, $9
    left--
}
