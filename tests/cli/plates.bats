#!/usr/bin/env bats
# Plates under pressure, of several element types, against published values. plates.py makes the meshes, and computes the stresses at a node
# from the displacements that simfull gives.

load common

# pressed PRESSURE BODY TYPE NX NY NZ: prints u_z in m and the stresses xx and yy in Pa at the point that plates.py describes.
pressed() {
    local pressure=$1
    shift
    "$PYTHON" -B "$BATS_TEST_DIRNAME/plates.py" "$@" plate.inp plate.csv
    simimport plate.inp -q -o plate.npz
    echo "0,inf,pressure,set:TOP,$pressure" > pressure.csv
    simfull plate.npz --model linear --integrator static --steps 1 --loads pressure.csv -q -o static.npz
    "$PYTHON" -B "$BATS_TEST_DIRNAME/plates.py" stress "$@" static.npz
}

# near WHAT VALUE EXPECTED MOST: within the relative difference MOST.
near() {
    echo "$1: $2, $3 expected"
    awk -v a="$2" -v b="$3" -v most="$4" 'BEGIN { d = a / b - 1; exit !((d < 0 ? -d : d) < most) }' || fault "$1: $2, $3 expected"
}

# NAFEMS, The Standard NAFEMS Benchmarks (1990), LE10: the stress yy at the point D is -5.38 MPa.
@test "LE10: a thick elliptic plate" {
    takes_long
    needs_numpy
    local type types='C3D10 C3D15 C3D20 C3D20R'
    ! sanitized || types=C3D20R
    for type in $types; do
        near "$type" "$(pressed 1e6 le10 $type 16 12 4 | cut -d ' ' -f 3)" -5.38e6 0.02
        # the consistent forces of the pressure, integrated by the script
        simfull plate.npz --model linear --integrator static --steps 1 --loads plate.csv -q -o nodal.npz
        "$PYTHON" -c 'import sys, numpy as np
u, v = (np.load(n)["u/000000"][-1] for n in sys.argv[1:])
print("displacements under nodal forces differ by", abs(u - v).max() / abs(u).max())
sys.exit(not abs(u - v).max() < 1e-9 * abs(u).max())' static.npz nodal.npz || fault "$type: other consistent forces"
    done
    no_faults
}

# Thin square plates: w = alpha p a^4 / D at the centre, D = E t^3 / (12 (1 - nu^2)), and the stress 6 beta p a^2 / t^2 of the bending moment
# (Timoshenko and Woinowsky-Krieger, Theory of Plates and Shells, articles 30 and 44). Navier's series is summed for the simply supported plate.
# The coefficients of the clamped plate are those of Taylor and Govindjee, Comm. Numer. Meth. Engng 20 (2004), which have more digits. Shear
# makes a clamped plate of this thickness 0.18 % softer.
@test "thin square plates in bending" {
    needs_numpy
    local type layers body alpha beta w stress value types='C3D10 C3D15 C3D20 C3D20R C3D8I'
    ! sanitized || types='C3D20R C3D8I'
    for body in clamped simple; do
        case $body in
        clamped) alpha=0.00126532 beta=0.02290508 ;;
        simple)
            read -r alpha beta < <(awk 'BEGIN { pi = atan2(0, -1)
                for (m = 1; m < 200; m += 2)
                    for (n = 1; n < 200; n += 2) {
                        s = 16 * (-1)^((m + n) / 2 - 1) / (m * n * (m * m + n * n)^2)
                        alpha += s / pi^6
                        beta += s * (m * m + 0.3 * n * n) / pi^4
                    }
                print alpha, beta }')
            ;;
        esac
        w=$(awk -v a=$alpha 'BEGIN { print -a * 1e3 * 12 * (1 - 0.3 ^ 2) / (210e9 * 0.01 ^ 3) }')
        stress=$(awk -v b=$beta 'BEGIN { print -6 * b * 1e3 / 0.01 ^ 2 }')
        for type in $types; do
            layers=1
            [ $type != C3D8I ] || layers=2 # its corners are the only nodes, and the edges are held in the middle of the thickness
            read -r -a value < <(pressed 1e3 $body $type 16 16 $layers)
            near "$body, $type: deflection" "${value[0]}" "$w" 0.005
            # the stress of C3D8I needs its incompatible modes too
            [ $type = C3D8I ] || near "$body, $type: stress" "${value[1]}" "$stress" 0.005
        done
    done
    no_faults
}
