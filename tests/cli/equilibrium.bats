#!/usr/bin/env bats
# simverify on static results: equilibrium under their loads, and results that are not in equilibrium.

load common

# certified FILE…: exit 0 with a line about the equilibrium
certified() {
    try simverify "$@"
    [ "$code" = 0 ] || fault "$*: exit $code: $(grep FAIL "$stdout")"
    grep -q '^ok .* equilibrium of [0-9]* frames' "$stdout" || fault "$*: $(cat "$stdout")"
}

@test "static results are in equilibrium" {
    local model
    ending=
    cat > forces.csv <<-'END'
	0,inf,all,,0,0,-90
	0,inf,vertex,20,0,5,0
	0,inf,surface,1,0,0,9
	0,inf,region,body,3,0,0
	0,inf,pressure,,50
	0,inf,spring,20,3,1,0.5,40
	END
    # loads that end within a step, and a spring whose anchor moves
    cat > varied.csv <<-'END'
	0.005,0.027,all,,0,0,-90
	0.013,0.03,vertex,20,0,5,0
	0.01,0.04,spring,20,3,1,0.5,40,3,1.5,0.5
	END
    for model in nonlinear linear; do
        simfull mesh.npz -q --model $model --integrator static --gravity 0.5,0,-9.81 -o s.npz
        certified s.npz mesh.npz
        simfull mesh.npz -q --model $model --integrator static --loads forces.csv -o s.npz
        certified s.npz mesh.npz --loads forces.csv
        simfull mesh.npz -q --model $model --integrator static --loads varied.csv --steps 5 -o s.npz
        certified s.npz mesh.npz --loads loads.csv --loads varied.csv
    done
    simfull mesh.npz -q --integrator static --young 3e6 --gravity 0,0,-9.81 -o s.npz
    certified s.npz mesh.npz
    printf 't,vertex,ux,uy,uz\n0,0,0,0,0\n0.05,0,0,0,0.02\n' > push.csv
    simfull mesh.npz -q --integrator static --prescribe-vertices push.csv --steps 5 -o s.npz
    certified s.npz mesh.npz
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --integrator static --gravity 0,0,-9.81 --loads forces.csv -o s.npz
    certified s.npz mesh.npz basis.npz poly.npz --loads forces.csv
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --rank 4 --integrator static --loads varied.csv --steps 4 -o s.npz
    certified s.npz mesh.npz basis.npz poly.npz --loads varied.csv
    simulate mesh.npz -q --basis basis.npz --model cubature --cub cub.npz --integrator static --loads forces.csv -o s.npz
    certified s.npz mesh.npz basis.npz cub.npz --loads forces.csv
    # steps with a loose tolerance have the residual that they state
    simfull mesh.npz -q --integrator static --tolerance 1e-3 --gravity 0,0,-9.81 -o s.npz
    certified s.npz mesh.npz
    no_faults
}

@test "results that are not in equilibrium are found, and missing loads are named" {
    ending=
    simfull mesh.npz -q --integrator static --loads loads.csv --steps 3 -o s.npz
    try simverify s.npz mesh.npz
    [ "$code" = 0 ] || fault "without loads: exit $code"
    grep -q '^skip .* equilibrium: its loads, loads.csv, are not named by --loads$' "$stdout" || fault "$(cat "$stdout")"
    printf '0,inf,all,,0,0,-91\n' > other.csv
    try simverify s.npz mesh.npz --loads other.csv
    grep -q '^skip .* equilibrium: its loads, loads.csv' "$stdout" || fault "other loads: $(cat "$stdout")"
    simfull mesh.npz -q --integrator static --gravity 0,0,-9.81 --ground 0,0,1,-9 -o g.npz
    try simverify g.npz mesh.npz
    grep -q '^skip .* equilibrium: it does not follow --ground$' "$stdout" || fault "ground: $(cat "$stdout")"
    simfull mesh.npz -q --gravity 0,0,-9.81 --steps 2 -o moving.npz
    try simverify moving.npz mesh.npz
    ! grep -q equilibrium "$stdout" || fault "a motion: $(cat "$stdout")"
    needs_numpy
    simfull mesh.npz -q --integrator static --gravity 0,0,-9.81 -o s.npz
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" s.npz forged.npz "meta['parameters']['gravity'] = '0,0,-9.811'"
    try simverify forged.npz mesh.npz
    [ "$code" = 1 ] || fault "another weight: exit $code"
    grep -q '^FAIL .* equilibrium of 1 frames: 1\.0[0-9]e-04 ' "$stdout" || fault "another weight: $(cat "$stdout")" # 0.001 / 9.811
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --integrator static --gravity 0,0,-9.81 -o s.npz
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" s.npz forged.npz "m['q/000000'][1, 0] *= 1.001"
    try simverify forged.npz mesh.npz basis.npz poly.npz
    [ "$code" = 1 ] || fault "another q: exit $code"
    grep -q '^FAIL .* equilibrium of 1 frames' "$stdout" || fault "another q: $(cat "$stdout")"
    no_faults
}

@test "a law that softens under compression is named" {
    needs_numpy
    local v ending=.npz
    "$PYTHON" "$BATS_TEST_DIRNAME/about.py" deck C3D20 4 1 1 1 0.3 1e6 0 beam.inp
    simimport beam.inp -q -o bar.npz
    for v in $(awk '/^\*/ { on = /NSET=TIP/; next } on { print $1 - 1 }' beam.inp); do
        printf '0,%d,0,0,0\n1,%d,-0.45,0,0\n' "$v" "$v"
    done > push.csv # to 55 percent of the length
    done_well simfull bar.npz --integrator static --prescribe-vertices push.csv --dt 0.5 --steps 2 -o a.npz
    [[ $err == *'elements (element '*' first) are compressed to less than 58 % of their length or inverted: the law stvk softens'* ]] || fault "$err"
    done_well simfull bar.npz --integrator static --prescribe-vertices push.csv --dt 0.5 --steps 1 -o a.npz
    [[ $err != *softens* ]] || fault "$err"
    simimport beam.inp --law neo-hookean -q -o bar.npz
    done_well simfull bar.npz --integrator static --prescribe-vertices push.csv --dt 0.5 --steps 2 -o a.npz
    [[ $err != *softens* ]] || fault "$err"
    no_faults
}
