#!/usr/bin/env bats
# simcurve: backbone curves against exact values, responses with folds against simulate, refusals.

load common

# A clamped beam of twelve 20-node hexahedra with a rectangular section, its first bending mode in z and the derivative of it.
setup_file() {
    export BEAM=$BATS_FILE_TMPDIR/beam
    mkdir "$BEAM"
    cd "$BEAM"
    awk 'BEGIN {
        n = 12; count = 0
        print "*NODE"
        for (i = 0; i <= 2 * n; i++) for (j = 0; j <= 2; j++) for (k = 0; k <= 2; k++)
            if (i % 2 + j % 2 + k % 2 < 2) {
                id[i, j, k] = ++count
                print count ", " i / (2 * n) ", " 0.015 * j ", " 0.01 * k
            }
        print "*ELEMENT, TYPE=C3D20, ELSET=ALL"
        split("0 0 0 2 0 0 2 2 0 0 2 0 0 0 2 2 0 2 2 2 2 0 2 2 1 0 0 2 1 0 1 2 0 0 1 0 1 0 2 2 1 2 1 2 2 0 1 2 0 0 1 2 0 1 2 2 1 0 2 1", p, " ")
        for (e = 0; e < n; e++) {
            line = e + 1
            for (a = 0; a < 20; a++)
                line = line "," (a == 12 ? "\n" : " ") id[2 * e + p[3 * a + 1], p[3 * a + 2], p[3 * a + 3]]
            print line
        }
        print "*NSET, NSET=ENDS"
        for (j = 0; j <= 2; j++) for (k = 0; k <= 2; k++) if (j % 2 + k % 2 < 2) print id[0, j, k] "\n" id[2 * n, j, k]
        print "*MATERIAL, NAME=STEEL\n*ELASTIC\n200e9, 0\n*DENSITY\n7800\n*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n*BOUNDARY\nENDS, 1, 3"
        print id[n, 0, 0] - 1 > "middle"
    }' > beam.inp
    simimport -q beam.inp -o beam.npz
    modes -q beam.npz -k 1 -o modes.npz
    modalderiv -q beam.npz modes.npz -o deriv.npz
    masspca -q beam.npz modes.npz deriv.npz -r 2 -o basis.npz
    polycoef -q beam.npz basis.npz -o poly.npz
    cubature -q beam.npz basis.npz -n 12 --poses 40 -o cub.npz
    echo "0,inf,vertex,$(< middle),0,0,150" > pull.csv
}

# The files of the beam beside those of other tests.
use_beam() {
    ln -s "$BEAM" beam
    model=(beam/beam.npz --basis beam/basis.npz --poly beam/poly.npz --probe "$(< beam/middle):z")
}

@test 'the backbone of a clamped beam is that of the exact mode' {
    use_beam
    done_well simcurve "${model[@]}" --backbone --amplitude 0.03 --resolution 0.03 --csv points.csv -o out.npz
    # omega/omega_1 at amplitudes of 1, 3 and 5 radii of gyration, 0.02/sqrt(12) each
    awk -F, 'NR == 2 { first = $1 }
        NR > 1 {
            gyration = $3 * sqrt(12) / 0.02
            for (k = 1; k <= 5; k += 2)
                if (before < k && gyration >= k)
                    ratio[k] = (last + (k - before) / (gyration - before) * ($1 - last)) / first
            before = gyration
            last = $1
        }
        function off(k, exact) { return ratio[k] > exact ? ratio[k] / exact - 1 : 1 - ratio[k] / exact }
        END {
            print ratio[1], ratio[3], ratio[5]
            exit !(off(1, 1.022199) < 0.002 && off(3, 1.183158) < 0.002 && off(5, 1.448882) < 0.004)
        }' points.csv > said || fault "the backbone is off: $(< said)"
    no_faults
}

@test 'a response has both folds, and its energy is balanced' {
    use_beam
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 -o out.npz
    holds out.npz 'r["folds"] == 2 and r["complete"] is True and r["worst_balance"] < 1e-8 and r["worst_residual"] < 1e-8'
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 --threads 2 -o again.npz
    same_bytes out.npz again.npz 'a second run'
    ending= done_well siminfo out.npz
    grep -q '^points    2 folds$' "$stdout" && grep -q '^curve .* points in 2 coordinates with 7 harmonics' "$stdout" || fault "siminfo: $(< "$stdout")"
    done_well simcurve "${model[@]}" --force-sweep --frequency 112 --loads beam/pull.csv --range 0,4 --damping-mass 6.5 -o sweep.npz
    holds sweep.npz 'r["folds"] == 2 and r["complete"] is True'
    no_faults
}

@test 'polynomials and Galerkin projection have the same response' {
    use_beam
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,110 --damping-mass 6.5 --csv poly.csv -o out.npz
    done_well simcurve beam/beam.npz --model galerkin --basis beam/basis.npz --probe "$(< beam/middle):z" --response --loads beam/pull.csv --range 95,110 --damping-mass 6.5 --csv galerkin.csv -o out.npz
    awk -F, 'NR == FNR { end = $3; next } { other = $3 } END { d = end / other - 1; exit !(d * d < 1e-12) }' poly.csv galerkin.csv ||
        fault "the amplitudes differ: $(tail -q -n 1 poly.csv galerkin.csv)"
    no_faults
}

@test 'what simcurve refuses' {
    use_beam
    refused 2 'there is no damping, and the range of frequencies contains the resonance of mode 1' simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 -o out.npz
    refused 2 'have no component in the basis' simcurve "${model[@]}" --response --range 95,140 --damping-mass 1 -o out.npz
    refused 2 'harmonics' simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --harmonics 0 -o out.npz
    refused 2 'name one of' simcurve "${model[@]}" -o out.npz
    refused 2 'needs the frequencies' simcurve "${model[@]}" --response -o out.npz
    refused 2 'not a range' simcurve "${model[@]}" --response --range 5,4 -o out.npz
    refused 2 'where it ends' simcurve "${model[@]}" --backbone -o out.npz
    refused 2 '3 of 2 modes' simcurve "${model[@]}" --backbone --amplitude 1 --mode 3 -o out.npz
    echo 0,1,vertex,3,0,0,1 > short.csv
    refused 2 'acts from 0 to 1 s' simcurve "${model[@]}" --response --loads short.csv --range 95,140 --damping-mass 1 -o out.npz
    no_faults
}
