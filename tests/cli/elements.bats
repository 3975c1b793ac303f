#!/usr/bin/env bats
# The element types on the command line. They are compared with matrices of Abaqus, with frequencies and nonlinear statics of CalculiX and
# with a published beam. Other tests run the chain of programs on each type, import, export and refusals.

load common

typed() {
    "$PYTHON" "$BATS_TEST_DIRNAME/typed.py" "$@"
}

# hertz FILE: the frequencies of a file of modes.
hertz() {
    siminfo "$1" | awk '$3 == "Hz" { print $2 }'
}

# Two cubes that share one edge.
hinge() {
    printf '*NODE\n'
    printf '%d,%d,%d,%d\n' 1 0 0 0 2 1 0 0 3 1 1 0 4 0 1 0 5 0 0 1 6 1 0 1 7 1 1 1 8 0 1 1 9 2 1 0 10 2 2 0 11 1 2 0 12 2 1 1 13 2 2 1 14 1 2 1
    printf '*ELEMENT,TYPE=C3D8,ELSET=E\n1,1,2,3,4,5,6,7,8\n2,3,9,10,11,7,12,13,14\n'
    printf '*MATERIAL,NAME=M\n*ELASTIC\n2e11,0.3\n*DENSITY\n7850\n*SOLID SECTION,ELSET=E,MATERIAL=M\n*BOUNDARY\n1,1,3\n4,1,3\n5,1,3\n8,1,3\n'
}

# soft_slice FACTOR: a clamped steel bar, 0.9 m long, whose fifth slice of nine has the modulus times FACTOR.
soft_slice() {
    awk -v factor="$1" 'function at(i, j, k) { return (i * 3 + j) * 3 + k + 1 }
    BEGIN {
        print "*NODE"
        for (i = 0; i < 10; i++) for (j = 0; j < 3; j++) for (k = 0; k < 3; k++)
            printf "%d,%.17g,%.17g,%.17g\n", at(i, j, k), 0.1 * i, 0.05 * j, 0.05 * k
        for (soft = 0; soft < 2; soft++) {
            print "*ELEMENT,TYPE=C3D8,ELSET=" (soft ? "S" : "H")
            for (i = 0; i < 9; i++) for (j = 0; j < 2; j++) for (k = 0; k < 2; k++) if ((i == 4) == soft)
                print ++e "," at(i, j, k) "," at(i + 1, j, k) "," at(i + 1, j + 1, k) "," at(i, j + 1, k) "," at(i, j, k + 1) "," at(i + 1, j, k + 1) "," at(i + 1, j + 1, k + 1) "," at(i, j + 1, k + 1)
        }
        print "*MATERIAL,NAME=H\n*ELASTIC\n2e11,0.3\n*DENSITY\n7850\n*SOLID SECTION,ELSET=H,MATERIAL=H"
        printf "*MATERIAL,NAME=S\n*ELASTIC\n%g,0.3\n*DENSITY\n7850\n*SOLID SECTION,ELSET=S,MATERIAL=S\n*BOUNDARY\n", 2e11 * factor
        for (v = 1; v <= 9; v++) print v ",1,3"
    }'
}

needs_ccx() {
    command -v ccx > /dev/null || skip 'ccx is not installed: nothing to compare with'
}

@test "stiffness and mass of Abaqus" {
    [ -n "${SUPPLE_MESHES-}" ] || skip "SUPPLE_MESHES is not set"
    needs_numpy
    local type choice
    for type in C3D4 C3D8 C3D10 C3D20; do
        choice=full
        [ $type != C3D8 ] || choice=averaged
        simimport "$SUPPLE_MESHES/abaqus-matrices/block$type.inp" --hexahedra $choice -q -o mesh.npz
        modes mesh.npz -k 7 -q --write-stiffness K.npz --write-mass M.npz -o modes.npz
        # the files have lumped masses of C3D4 and C3D8, so that their sums are compared
        "$PYTHON" - "$SUPPLE_MESHES/abaqus-matrices/block$type" <<-'END' || fault "$type"
	import sys, numpy as np
	def ours(path):
	    f = np.load(path)
	    n = len(f['indptr']) - 1
	    A = np.zeros((n, n))
	    for row in range(n):
	        part = slice(f['indptr'][row], f['indptr'][row + 1])
	        A[row, f['indices'][part]] = f['data'][part]
	    return A
	def theirs(path, n):
	    a, A = np.loadtxt(path), np.zeros((n, n))
	    A[a[:, 0].astype(int) - 1, a[:, 1].astype(int) - 1] = a[:, 2]
	    return A
	K, M = ours('K.npz'), ours('M.npz')
	A, B = theirs(sys.argv[1] + '_STIF1.mtx', len(K)), theirs(sys.argv[1] + '_MASS1.mtx', len(K))
	k, m = abs(K - A).max() / abs(A).max(), abs(M - B).max() / abs(B).max()
	if 'C3D4' in sys.argv[1] or 'C3D8' in sys.argv[1]:
	    m = abs(M.sum() - B.sum()) / B.sum()
	print('%s K %.1e M %.1e' % (sys.argv[1][-5:], k, m))
	sys.exit(not (k < 1e-13 and m < 1e-12))
	END
    done
    no_faults
}

@test "the clamped beam of MORFE" {
    [ -n "${SUPPLE_MESHES-}" ] || skip "SUPPLE_MESHES is not set"
    local how
    # The published frequency is 0.5370828278264171 rad/us, of 15-node wedges with 18 points each. Our 15-node wedges have 9 points, as in
    # Abaqus and CalculiX. The 18-node wedges of the file are softer.
    for how in --serendipity ''; do
        simimport "$SUPPLE_MESHES/morfe/beam.mphtxt" $how --young 160e3 --poisson 0.22 --density 2.32e-3 --fix-half-space 1,0,0,1e-6 \
            --fix-half-space -1,0,0,-999.999 -q -o beam.npz
        modes beam.npz -k 3 -q -o modes.npz
        hertz modes.npz | awk -v most="$([ $how ] && echo 1e-5 || echo 5e-5)" 'NR == 1 { off = 2 * 3.14159265358979 * $1 / 0.5370828278264171 - 1
            print off; exit !((off < 0 ? -off : off) < most) }' || fault "${how:-18 nodes}: $(hertz modes.npz | head -1) Hz"
    done
    no_faults
}

# The number of elements of mesh.npz, with their name.
elements() {
    siminfo mesh.npz | sed -n 's/^mesh .*vertices, \([^,;]*\).*/\1/p'
}

# CalculiX gets the same meshes. LARGE also compares bodies of at least 2000 elements:
#     LARGE='arch blade dome' bats --show-output-of-passing-tests tests/cli/elements.bats -f CalculiX

# cells TYPE: NX NY NZ of a large body, with one hexahedron, two wedges or six tetrahedra in a cell.
cells() {
    case $1 in
    C3D10) echo 14 6 4 ;;
    C3D15) echo 21 8 6 ;;
    *) echo 28 12 6 ;;
    esac
}

# frequencies TYPE NX NY NZ BODY: compares five frequencies.
frequencies() {
    local type=$1 verdict
    typed "${@:1:4}" run.inp "$5"
    simimport run.inp -q -o mesh.npz
    modes mesh.npz -k 5 -q --write-mass M.npz -o modes.npz
    case $type in
    C3D8 | C3D20) ;;
    *) # CalculiX integrates the mass of these types at fewer points
        "$PYTHON" "$BATS_TEST_DIRNAME/typed_mass.py" mesh.npz M.npz less.npz
        modes mesh.npz -k 5 -q --mass less.npz -o modes.npz
        ;;
    esac
    printf '*STEP\n*FREQUENCY\n5\n*END STEP\n' >> run.inp
    OMP_NUM_THREADS=1 ccx run > ccx.log 2>&1
    hertz modes.npz > ours.txt
    awk '$1 ~ /^[0-9]+$/ && NF == 5 { print $4 }' run.dat | head -n 5 > theirs.txt
    verdict=$(paste ours.txt theirs.txt | awk '{ d = $1 / $2 - 1; if (d < 0) d = -d; if (d > worst) worst = d } END { print worst; exit !(NR == 5 && worst < 1e-6) }') ||
        fault "$*: $verdict: $(paste ours.txt theirs.txt | tr '\n' ' ')"
    echo "$5, $type, $(elements): frequencies differ by $verdict"
}

# statics TYPE NX NY NZ BODY AXIS FORCE: compares large displacements under a force in N along an axis (1 to 3) that the nodes at the tip share.
statics() {
    local type=$1 axis=$6 count last verdict
    local -a force=(0 0 0)
    typed "${@:1:4}" run.inp "$5"
    last=$(awk '/^\*ELEMENT/ { exit } NF == 4 { n++ } END { print n }' FS=, run.inp)
    awk '/^\*/ { on = /NSET=TIP/; next } on { print $1 - 1 }' run.inp > tip.txt
    count=$(wc -l < tip.txt)
    force[axis - 1]=$(awk -v f="$7" -v n="$count" 'BEGIN { printf "%.12g", f / n }')
    sed "s/.*/0,inf,vertex,&,${force[0]},${force[1]},${force[2]}/" tip.txt > loads.csv
    printf '*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, PARAMETERS=FIELD\n1e-9, 1e-9\n*CLOAD\nTIP, %d, %s\n*NODE PRINT, NSET=NALL\nU\n*END STEP\n' \
        "$axis" "${force[axis - 1]}" >> run.inp
    simimport run.inp -q -o mesh.npz
    simfull mesh.npz --integrator static --steps 1 --dt 1 --loads loads.csv -q -o static.npz
    OMP_NUM_THREADS=1 ccx run > ccx.log 2>&1
    simexport mesh.npz static.npz --probe 0-$((last - 1)) --frames 1- -q -o ours.csv
    tail -n 1 ours.csv | tr , '\n' | tail -n $((3 * last)) > ours.txt
    grep -E '^ +[0-9]+ ' run.dat | tail -n "$last" | awk '{ print $2; print $3; print $4 }' > theirs.txt
    verdict=$(paste ours.txt theirs.txt | awk -v n=$((3 * last)) '{ d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d; s = $2 < 0 ? -$2 : $2; if (s > most) most = s }
        END { print worst / most, most; exit !(NR == n && most > 0.02 && worst < 1e-5 * most) }') || fault "$*: $verdict"
    echo "$5, $type, $(elements): displacements differ by ${verdict/ / of }"
}

@test "frequencies of CalculiX" {
    needs_ccx
    needs_numpy
    local type body
    for type in C3D8 C3D20 C3D10 C3D15 C3D20R; do
        frequencies $type 5 2 2 arch
    done
    for body in ${LARGE-}; do
        for type in C3D10 C3D15 C3D20 C3D20R; do
            frequencies $type $(cells $type) $body
        done
    done
    no_faults
}

@test "nonlinear statics of CalculiX" {
    needs_ccx
    local type body load
    for type in C3D10 C3D15 C3D20 C3D20R; do
        statics $type 5 2 1 arch 2 -2e7
        for body in ${LARGE-}; do
            case $body in
            arch) load='2 -2e7' ;;
            blade) load='3 2e4' ;;
            dome) load='3 -1e6' ;;
            esac
            statics $type $(cells $type) $body $load
        done
    done
    no_faults
}

@test "the chain of programs" {
    needs_numpy
    local type types='C3D10 C3D20R C3D15 C3D8I'
    ! sanitized || types='C3D10 C3D8I'
    for type in $types; do
        typed $type 4 2 1 arch.inp
        simimport arch.inp -q -o mesh.npz
        modes mesh.npz -k 5 -q -o modes.npz
        modalderiv mesh.npz modes.npz -q -o derivatives.npz
        masspca mesh.npz modes.npz derivatives.npz -r 6 -q -o basis.npz
        polycoef mesh.npz basis.npz -q -o poly.npz
        cubature mesh.npz basis.npz -n 20 -q -o cub.npz
        set -- mesh.npz --basis basis.npz --gravity 0,-9.81,0 --integrator energy --steps 20 --dt 1e-4 -q
        simulate "$@" --poly poly.npz -o poly-motion.npz || fault "$type: polynomials"
        simulate "$@" --model galerkin -o galerkin.npz || fault "$type: galerkin"
        simulate mesh.npz --basis basis.npz --model cubature --cub cub.npz --gravity 0,-9.81,0 --steps 5 --dt 1e-4 -q -o cub-motion.npz || fault "$type: cubature"
        simfull mesh.npz --gravity 0,-9.81,0 --integrator energy --steps 20 --dt 1e-4 -q -o full.npz || fault "$type: full"
        simverify mesh.npz modes.npz derivatives.npz basis.npz poly.npz cub.npz poly-motion.npz full.npz -q > verdict || fault "$type: $(grep -v -E '^(ok|note)' verdict)"
        # the energy-conserving step conserves energy
        simverify full.npz mesh.npz -q | awk '/energy balance/ { gsub(/[(:]/, " "); exit !($5 < 1e-10) }' || fault "$type: $(simverify full.npz mesh.npz -q | grep balance)"
        "$PYTHON" -c 'import sys, numpy as np
p, g = (np.load(n) for n in sys.argv[1:])
q = [np.concatenate([f[n] for n in sorted(f.files) if n.startswith("q/")]) for f in (p, g)]
sys.exit(not (q[0].shape == q[1].shape and 0 < abs(q[0]).max() and abs(q[0] - q[1]).max() < 1e-8 * abs(q[0]).max()))' poly-motion.npz galerkin.npz || fault "$type: polynomials are not the projection"
        simrender mesh.npz full.npz --color mises --frames 20 -q -o frame.png || fault "$type: picture"
        simexport mesh.npz full.npz --fields -q -o motion.vtu || fault "$type: vtu"
        simcut mesh.npz --plane 1,0,0,0.3 -q -o cut.npz || fault "$type: cut"
        simverify cut.npz -q > verdict || fault "$type: $(grep -v ^ok verdict)"
        pointshell mesh.npz -q -o shell.npz || fault "$type: point shell"
        distfield mesh.npz -n 16 -q -o field.npz || fault "$type: field"
    done
    no_faults
}

@test "formats of other programs hold the elements" {
    local type ending
    for type in C3D6 C3D10 C3D15 C3D20; do
        typed $type 3 2 1 a.inp
        typed $type 3 2 1 b.msh
        simimport a.inp -q -o a.npz
        simimport b.msh --young 210e9 --poisson 0.3 --density 7850 --fix-half-space 1,0,0,1e-9 -q -o b.npz
        modes a.npz -k 3 -q -t 1 -o a-modes.npz
        modes b.npz -k 3 -q -t 1 -o b-modes.npz
        paste <(hertz a-modes.npz) <(hertz b-modes.npz) | awk '{ d = $1 / $2 - 1; if (d * d > 1e-18) exit 1 }' || fault "$type: Gmsh's order of nodes"
        for ending in msh vtk vtu inp; do
            simexport a.npz -q -o c.$ending 2> /dev/null
            simimport c.$ending -q -o c.npz
            "$PYTHON" -c 'import sys, zipfile
a, c = (zipfile.ZipFile(n) for n in sys.argv[1:])
sys.exit(any(a.read(n) != c.read(n) for n in a.namelist() if n.startswith(("tet", "hex", "wedge"))))' a.npz c.npz || fault "$type: .$ending changes the elements"
        done
    done
    typed C3D20R 3 1 1 a.inp
    simimport a.inp -q -o a.npz
    simexport a.npz -o c.vtk 2> said
    grep -q 'not in this file: .*that 3 elements are of type hex20r, not hex20' said || fault "hex20r in VTK: $(< said)"
    simexport a.npz -o c.inp 2> said
    ! grep -q hex20 said || fault "hex20r in .inp: $(< said)"
    typed C3D20 3 1 1 a.inp
    simimport a.inp --linearize -q -o line.npz
    [[ $(siminfo line.npz | grep '^mesh ') == *'16 vertices, 3 hexahedra'* ]] || fault "--linearize: $(siminfo line.npz | grep '^mesh ')"
    no_faults
}

@test "element types are refused where they have no meaning" {
    typed C3D10 2 1 1 a.inp
    simimport a.inp -q -o a.npz
    refused 3 '^simfull: a.npz: stiffness warping is for 8-node hexahedra and 4-node tetrahedra; the mesh has elements of type tet10' \
        simfull a.npz --model warp --steps 1 --dt 1e-3 -q -o out.npz
    refused 3 'TetGen.s files hold 4-node tetrahedra only' simexport a.npz -q -o out.ele
    sed 's/^1, /1, x, /' a.inp > b.inp
    refused 3 '^simimport: b.inp: line [0-9]+: ' simimport b.inp -q -o out.npz
    sed 's/C3D10/C3D10M/' a.inp > b.inp
    refused 3 '^simimport: b.inp: line [0-9]+: elements of type C3D10M are not supported' simimport b.inp -q -o out.npz
    typed C3D8 2 1 1 a.inp
    simimport a.inp --hexahedra averaged --law neo-hookean -q -o a.npz
    refused 3 'elements of type hex8b .* are for the laws stvk and linear; region "STEEL" has neo-hookean' modes a.npz -k 2 -q -o out.npz
    refused 2 '^simimport: --serendipity' simimport a.inp --linearize --serendipity -q -o out.npz
    no_faults
}

# deck TYPE: one element of it, free: a unit cube or half of one.
deck() {
    awk -v type="$1" 'BEGIN {
        split("0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1", c, " ")
        split("1 2 2 3 3 4 4 1 5 6 6 7 7 8 8 5 1 5 2 6 3 7 4 8", e, " ")
        print "*NODE"
        for (i = 0; i < 8; i++) print i + 1 "," c[3 * i + 1] "," c[3 * i + 2] "," c[3 * i + 3]
        for (k = 0; k < 12 && type == "C3D20R"; k++) {
            a = 3 * (e[2 * k + 1] - 1); b = 3 * (e[2 * k + 2] - 1)
            printf "%d,%g,%g,%g\n", k + 9, (c[a + 1] + c[b + 1]) / 2, (c[a + 2] + c[b + 2]) / 2, (c[a + 3] + c[b + 3]) / 2
        }
        print "*ELEMENT,TYPE=" type ",ELSET=E"
        print type == "C3D6" ? "1,1,2,3,5,6,7" : "1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,\n16,17,18,19,20"
        print "*MATERIAL,NAME=M\n*ELASTIC\n1e6,0.3\n*DENSITY\n1000\n*SOLID SECTION,ELSET=E,MATERIAL=M"
    }'
}

# 60 degrees of freedom and 8 points with 6 strains leave 12 motions without energy, 6 of them rigid; two points of a prism have rank 11 of 18.
@test "hourglass modes are 0 Hz, and named" {
    local type name zeros
    for type in C3D20R C3D6; do
        deck $type > one.inp
        simimport one.inp -q -o one.npz 2> said || fault "$type: $(< said)"
        name=hex20r zeros=12
        [ $type = C3D20R ] || name=wedge6 zeros=7
        modes one.npz -k 8 -o modes.npz 2> said || fault "$type: exit $?: $(< said)"
        grep -q "zero-energy modes beside the rigid motions: $((zeros - 6)), .*; $name elements have hourglass modes" said || fault "$type: $(< said)"
        ! grep -q nan said || fault "$type: $(grep nan said)"
        [ "$(hertz modes.npz | grep -c '^0$')" = $zeros ] || fault "$type: $(hertz modes.npz)"
        simverify one.npz modes.npz > checks || fault "$type: $(grep -v -e ^ok -e ^note checks)"
        refused 5 'the stiffness is singular: zero-energy modes' modes one.npz -q -k 8 --derivatives d.npz -o out.npz
    done
    no_faults
}

# Two steel cubes that share the edge x = y = 1, the face x = 0 of the first is clamped: one turns about the edge. CalculiX 2.20: 6e-6,
# 131.7305, 312.3282, 396.8563 and 573.2962 Hz. Below it, a bar of nine slices whose fifth is softer: CalculiX has the same digits for a
# factor of 1e-8 (but for the factor), and its own error at 1e-10 is 4e-4.
@test "a hinge inside a body, and moduli that differ by 1e10" {
    hinge > edge.inp
    simimport edge.inp -q -o edge.npz
    modes edge.npz -k 5 -o modes.npz 2> said || fault "hinge: exit $?: $(< said)"
    grep -q 'zero-energy modes beside the rigid motions: 1, .* as by a hinge' said || fault "$(< said)"
    hertz modes.npz | awk '{ x[NR] = $1 } END { split("0 131.7305 312.3282 396.8563 573.2962", y, " ")
        for (i = 1; i <= 5; i++) if ((x[i] - y[i]) ^ 2 > 1e-12 * y[i] ^ 2) exit 1 }' || fault "$(hertz modes.npz)"
    simverify edge.npz modes.npz > checks || fault "$(grep -v -e ^ok -e ^note checks)"

    soft_slice 1e-10 > soft.inp
    simimport soft.inp -q -o soft.npz
    modes soft.npz -k 8 -o modes.npz 2> said || fault "contrast: exit $?: $(< said)"
    grep -q 'rounding of K may change an eigenvalue by up to .*: the moduli of its materials differ by a factor of 1e+10' said || fault "$(< said)"
    ! grep -q tolerance said || fault "$(< said)"
    hertz modes.npz | awk '{ x[NR] = $1 } END { split("0.00538893768 0.00538894927 0.02393 0.04478 0.05149 0.05149 520.684 520.684", y, " ")
        for (i = 1; i <= 8; i++) if ((x[i] / y[i] - 1) ^ 2 > 1e-6) exit 1 }' || fault "$(hertz modes.npz)"
    no_faults
}

# Gravity along the edge about which one cube turns, whose vertices are 8 to 13: the linear model leaves the turn undetermined. In the nonlinear
# one the sag of 2e-5 m makes the edge lean, and only its restoring force is left. Gravity across the edge meets no stiffness at all at rest.
@test "statics of a hinge inside a body are refused, or a remark says it" {
    local ending=.npz hinge='6 vertices move without force, vertex (8|9|10|11|12|13) most'
    hinge > edge.inp
    simimport edge.inp -q -o edge.npz
    refused 5 "edge.npz: the tangent stiffness is singular, .*: $hinge" simfull edge.npz --model linear --integrator static --steps 1 \
        --gravity 0,0,-9.81 -q -o out.npz
    refused 5 "edge.npz: the tangent stiffness is singular, .*: $hinge" simfull edge.npz --integrator static --steps 1 --gravity 0,-9.81,0 -q -o out.npz
    simfull edge.npz --integrator static --steps 1 --gravity 0,0,-9.81 -o static.npz 2> said || fault "exit $?: $(< said)"
    grep -q 'the tangent stiffness is nearly singular: 6 vertices move almost without force' said || fault "$(< said)"
    no_faults
}
