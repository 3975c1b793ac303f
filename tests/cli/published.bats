#!/usr/bin/env bats
# simfull against published values at finite strain, and against CalculiX where it is installed.

load common

# grid.py N M THICKNESS PLACE: N x M x 1 hexahedra of a plane body. PLACE is a Python expression that maps (s, t) of the unit square to a point.
make_grid() {
    cat > grid.py <<-'END'
	import sys
	n, m, thick = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
	place = eval('lambda s, t: ' + sys.argv[4])
	print('*NODE')
	k = 0
	for l in range(2):
	    for j in range(m + 1):
	        for i in range(n + 1):
	            k += 1
	            print('%d, %.17g, %.17g, %.17g' % ((k,) + place(i / n, j / m) + (l * thick,)))
	print('*ELEMENT, TYPE=C3D8, ELSET=BODY')
	s = (n + 1) * (m + 1)
	for e in range(n * m):
	    c = e // n * (n + 1) + e % n + 1
	    q = [c, c + 1, c + n + 2, c + n + 1]
	    print(', '.join(map(str, [e + 1] + q + [x + s for x in q])))
	END
}

# The numbers of vertex i of every row, in both layers.
column() {
    local n=$1 m=$2 i=$3 j list=
    for ((j = 0; j < 2 * (m + 1); j++)); do list+=,$((j * (n + 1) + i)); done
    echo "${list:1}"
}

# Turek and Hron, CSM1: St. Venant–Kirchhoff, plane strain, trilinear elements between the circle and the tip. Displacement of the middle of the tip
# in mm, for 70 x 4 and 140 x 8 elements.
@test "a bar on a cylinder bends under its weight as published" {
    local ending=.npz n
    needs_numpy
    make_grid
    for n in 70 140; do
        "$PYTHON" grid.py $n $((n * 4 / 70)) 0.01 '(lambda y, a: (a + s * (0.6 - a), y))(0.19 + 0.02 * t, 0.2 + (0.05 ** 2 - (0.02 * t - 0.01) ** 2) ** 0.5)' > beam.inp
        done_well simimport beam.inp --quadrature 2 --young 1.4e6 --poisson 0.4 --density 1000 --fix-vertices "$(column $n $((n * 4 / 70)) 0)" --fix-half-space 0,0,1,1,z -q -o beam.npz
        done_well simfull beam.npz --integrator static --gravity 0,-2,0 --steps 1 -q -o csm$n.npz
    done
    "$PYTHON" - <<-'END' || fault 'the tip'
	import numpy as np
	for n, want in ((70, (-6.2691, -61.7604)), (140, (-6.9329, -64.9233))):
	    tip = (n * 2 // 70) * (n + 1) + n
	    u = np.load('csm%d.npz' % n)['u/000000'][-1, tip] * 1e3
	    assert abs(u[:2] - want).max() < 0.51e-4, u
	END
    no_faults
}

# deal.II code gallery; mm, N and MPa (t/mm3 of density play no part in statics).
@test "Cook's membrane at finite strain as published" {
    local ending=.npz n j
    needs_numpy
    make_grid
    echo '[{"name": "body", "law": "isochoric-neo-hookean", "young": 1.0985, "poisson": 0.3, "density": 1}]' > rubber.json
    for n in 2 4 8 16; do
        "$PYTHON" grid.py $n $n 1 '(48 * s, 44 * s + t * (44 - 28 * s))' > cook.inp
        done_well simimport cook.inp --quadrature 2 --materials rubber.json --fix-vertices "$(column $n $n 0)" --fix-half-space 0,0,1,9,z -q -o cook.npz
        echo 't0,t1,kind,id,fx,fy,fz' > pull.csv
        for j in $(column $n $n $n | tr , ' '); do # a quarter of each of n edges at its four nodes
            awk -v n=$n -v v=$j 'BEGIN { row = int(v / (n + 1)) % (n + 1); printf "0,inf,vertex,%d,0,%.17g,0\n", v, (row == 0 || row == n ? 1 : 2) * 0.25 / n }'
        done >> pull.csv
        done_well simfull cook.npz --integrator static --loads pull.csv --steps 1 -q -o cook$n.npz
    done
    "$PYTHON" - <<-'END' || fault 'the membrane'
	import numpy as np
	for n, want in ((2, 8.638375), (4, 12.071227), (8, 13.863196), (16, 14.485259)):
	    u = np.load('cook%d.npz' % n)['u/000000'][-1, n // 2 * (n + 1) + n, 1]
	    assert abs(u - want) < 0.51e-6, (n, u)
	END
    no_faults
}

# FinEtoolsDeforNonlinear: the end of a bar of 3 x 1 x 1 mm is prescribed. Its force is the slope of the energy, by central differences, whose error
# is the square of the step.
@test "bars under tension and compression as published" {
    local ending=.npz law moved
    needs_numpy
    printf '*NODE\n' > bar.inp
    awk 'BEGIN { for (k = 0; k < 16; k++) printf "%d, %d, %d, %d\n", k + 1, k % 4, int(k / 4) % 2, int(k / 8); print "*ELEMENT, TYPE=C3D8, ELSET=BODY"
        for (e = 1; e < 4; e++) print e ", " e ", " e + 1 ", " e + 5 ", " e + 4 ", " e + 8 ", " e + 9 ", " e + 13 ", " e + 12 }' >> bar.inp
    while read -r law moved; do
        echo "[{\"name\": \"body\", \"law\": \"$law\", \"young\": 7, \"poisson\": 0.3, \"density\": 1}]" > law.json
        done_well simimport bar.inp --materials law.json --fix-half-space 1,0,0,0,x --fix-half-space 0,1,0,0,y --fix-half-space 0,0,1,0,z --fix-vertices 3,7,11,15:x -q -o bar.npz
        # a static step for each second; rounding is far below the differences
        awk -v u="$moved" 'BEGIN { print "t,vertex,ux,uy,uz"; for (v = 3; v < 16; v += 4) { print 0 "," v ",0,0,0"; for (i = 1; i <= 3; i++) printf "%d,%d,%.17g,0,0\n", i, v, u + (i - 2) * 1e-3 } }' > move.csv
        done_well simfull bar.npz --integrator static --prescribe-vertices move.csv --dt 1 --steps 3 --tolerance 1e-14 -q -o "$law$moved.npz"
    done <<-'END'
	stvk 1
	stvk -1
	neo-hookean 1.5
	END
    "$PYTHON" - <<-'END' || fault 'the bars'
	import numpy as np
	for name, want in (('stvk1', 3.629629629629627), ('stvk-1', -1.2962962962962954), ('neo-hookean1.5', 2.6479612347602295)):
	    f = np.load(name + '.npz')
	    energy, work = f['energy/000000'][:, 1], f['energy/000000'][:, 2]
	    assert abs((energy[3] - energy[1]) / 2e-3 - want) < 2e-6, (name, (energy[3] - energy[1]) / 2e-3)
	    # the work of the prescribed end is that of the mean force of each step
	    assert abs(work[3] - work[1] - (energy[3] - energy[1])) < 1e-8, name
	END
    no_faults
}

# CalculiX on the mesh that simexport writes: the same elements and the same law at finite strain. It prints seven digits.
@test "CalculiX on the same mesh: statics, frequencies and a motion" {
    local ending=.npz job
    command -v ccx > /dev/null || skip "no CalculiX"
    needs_numpy
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --quadrature 2 --poisson 0.3 --fix-half-space 1,0,0,0 -o body.npz
    done_well simexport body.npz -q -o body.inp
    write() { # NAME LINE…
        printf '%s\n' '*INCLUDE, INPUT=body.inp' "${@:2}" '*END STEP' > "$1.inp"
    }
    write statics '*STEP, NLGEOM' '*STATIC, DIRECT' '0.25, 1' '*CONTROLS, PARAMETERS=FIELD' '1e-10, 1e-8' '*DLOAD' 'body, GRAV, 9.81, 0, 0, -1' '*CLOAD' '21, 3, -3000' '*NODE PRINT, NSET=NALL' U
    write frequencies '*STEP' '*FREQUENCY' 6
    # one step at rest, because CalculiX computes the first acceleration with another mass
    write motion '*AMPLITUDE, NAME=late' '0, 0, 0.01, 0, 0.02, 1, 10, 1' '*STEP, NLGEOM, INC=1000' '*DYNAMIC, DIRECT, ALPHA=0' '0.01, 0.2' '*CONTROLS, PARAMETERS=FIELD' '1e-10, 1e-8' \
        '*CLOAD, AMPLITUDE=late' '21, 3, -30000' '*NODE PRINT, NSET=NALL' U
    for job in statics frequencies motion; do
        ccx $job > $job.log 2>&1 || fault "ccx $job: $(tail -n 3 $job.log)"
    done
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,vertex,20,0,0,-3000\n' > pull.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0.015,inf,vertex,20,0,0,-30000\n' > late.csv
    done_well simfull body.npz --integrator static --gravity 0,0,-9.81 --loads pull.csv --steps 1 -q -o statics.npz
    done_well modes body.npz -k 6 -q -o frequencies.npz
    done_well simfull body.npz --loads late.csv --dt 0.01 --steps 20 -q -o motion.npz
    "$PYTHON" - <<-'END' || fault 'CalculiX says otherwise'
	import numpy as np
	def displacements(name):
	    blocks = []
	    for line in open(name):
	        words = line.split()
	        if 'displacements' in line:
	            blocks.append([])
	        elif len(words) == 4 and blocks:
	            blocks[-1].append([float(x) for x in words[1:]])
	    return np.array(blocks)
	digits = 0.51e-6  # half a unit of the seventh digit, of a number that begins with 1
	for name, theirs in (('statics', displacements('statics.dat')[-1:]), ('motion', displacements('motion.dat'))):
	    ours = np.load(name + '.npz')['u/000000'][1:]
	    assert ours.shape == theirs.shape and abs(ours).max() > 0.2 and abs(ours - theirs).max() < digits * abs(ours).max(), (name, abs(ours - theirs).max())
	theirs = [float(line.split()[1]) for line in open('frequencies.dat') if len(line.split()) == 5 and line.split()[0].isdigit()][:6]
	ours = np.load('frequencies.npz')['eigenvalue'][:6]
	assert len(theirs) == 6 and abs(ours / theirs - 1).max() < 2 * digits, (ours, theirs)
	END
    no_faults
}

# Tetrahedral meshes of other projects, with slivers of a quality down to 1.6e-8. The frequencies of the elastic modes are from eigsh of SciPy with a
# textbook assembly.
@test "meshes with slivers go through modes, derivatives and polynomials" {
    takes_long
    local ending=.npz name number known
    [ -d "${SUPPLE_MESHES-}" ] || skip "no shared meshes"
    while read -r name known; do
        done_well simimport "$SUPPLE_MESHES/slivers/$name" --turn -q -o body.npz
        done_well modes body.npz -k 10 -q -o free.npz
        done_well modalderiv body.npz free.npz -q -o curves.npz
        done_well masspca body.npz free.npz curves.npz -r 8 -q -o space.npz
        done_well polycoef body.npz space.npz -q -o cubic.npz
        simverify body.npz free.npz curves.npz space.npz cubic.npz > checks || fault "$name: $(grep -v -e ^ok -e ^note checks)"
        for number in $known; do
            siminfo free.npz | awk -v wanted="$number" '$3 == "Hz" && ($2 - wanted) ^ 2 < (1e-6 * wanted) ^ 2 { found = 1 } END { exit !found }' || fault "$name: no mode of $number Hz"
        done
    done <<< 'libigl-bunny.mesh 100.661723 108.338385 120.078671 122.924275
libigl-hand.mesh
polyfem-bunny.msh
polyfem-screw.msh
sofa-Ossicles.vtu
sofa-seaMonster2-volume1.vtu'
    # the same body with a fixed foot, and a motion of its full-order model
    done_well simimport "$SUPPLE_MESHES/slivers/libigl-bunny.mesh" --turn -q --fix-half-space 0,1,0,0.05 -o body.npz
    done_well modes body.npz -k 5 -q -o fixed.npz
    done_well simfull body.npz --gravity 0,-9.81,0 --dt 0.002 --steps 3 -q -o fall.npz
    simverify body.npz fixed.npz fall.npz > checks || fault "$(grep -v -e ^ok -e ^note checks)"
    no_faults
}

# One flat tetrahedron: six of its modes are rigid.
@test "a flattened element has modes" {
    local ending=.npz
    printf '4 3 0 0\n0 0 0 0\n1 1 0 1e-4\n2 1 1 0\n3 0 1 1e-4\n' > one.node
    printf '1 4 0\n0 0 2 1 3\n' > one.ele
    done_well simimport one.node --turn -q -o body.npz
    done_well modes body.npz -k 8 -q -o free.npz
    [ "$(siminfo free.npz | awk '$3 == "Hz" && $2 == 0' | wc -l)" = 6 ] || fault "$(siminfo free.npz | grep Hz)"
    simverify body.npz free.npz > checks || fault "$(grep -v -e ^ok -e ^note checks)"
    no_faults
}

# A stiffness that no mesh has: the message names the worst element, whose longest edge is √2 m and whose smallest height is 3V/A = 2e-8 m. Other
# causes are named only if no element is badly shaped.
@test "solvers that fail name the worst element" {
    local ending=.npz
    needs_numpy
    printf '5 3 0 0\n0 0 0 0\n1 1 0 1e-8\n2 1 1 0\n3 0 1 1e-8\n4 0.5 0.5 1\n' > two.node
    printf '2 4 0\n0 4 1 2 0\n1 0 2 1 3\n' > two.ele
    done_well simimport two.node --turn -q -o two.npz
    for name in two mesh; do
        done_well modes $name.npz -q -k 7 --write-stiffness K.npz -o free.npz
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" K.npz bad.npz 'm["data"] *= -1.0'
        refused 5 'not positive definite' modes $name.npz -q -k 7 --stiffness bad.npz -o out.npz
        echo "$err" >> messages
    done
    grep -q '^the worst element is 1, with an aspect ratio of 7.1e+07: a better mesh may help$' messages || fault "$(cat messages)"
    grep -q '^part of the body may be neither fixed .*; the worst element is .*, with an aspect ratio of 1' messages || fault "$(cat messages)"
    no_faults
}
