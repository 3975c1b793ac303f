#!/usr/bin/env bats
# polycoef --certificate, simulate --certificate and simvalidate --certificate: the error of a basis from its residual.

load common

# A bar with a basis of four modes and their derivatives, a load on a vertex, and the certificate that knows it.
setup_file() {
    export BAR=$BATS_FILE_TMPDIR/bar
    mkdir "$BAR"
    cd "$BAR"
    voxelize "$DATA/bar.obj" -q -n 10 --enlarge 1 --fill --fix-half-space 1,0,0,0 --young 1e6 --density 1000 -o bar.npz
    modes bar.npz -q -k 4 -o modes.npz
    modalderiv bar.npz modes.npz -q -o deriv.npz
    masspca bar.npz modes.npz deriv.npz -q -r 8 -o basis.npz
    polycoef bar.npz basis.npz -q -o poly.npz
    printf '%s\n' 't0,t1,kind,id,fx,fy,fz' '0,inf,vertex,40,30,-200,400' > load.csv
    polycoef bar.npz basis.npz -q --certificate --loads load.csv -o cert.npz
}

# The files of the bar beside those of every test.
bring() {
    cp "$BAR"/* .
}

reduced=(simulate bar.npz --basis basis.npz --poly poly.npz)

@test "the residual is the one that SciPy assembles, to 1e-8" {
    bring
    local ending=.npz integrator static
    needs_numpy
    for integrator in newmark bdf2 static; do
        static=0
        damping=(--damping-mass 0.7 --damping-stiffness 0.01)
        numbers=(0.7 0.01)
        [ $integrator != static ] || static=1 damping=() numbers=(0 0)
        done_well "${reduced[@]}" --loads load.csv --gravity 1,0,-3 "${damping[@]}" --dt 0.02 --steps 8 \
            --integrator $integrator --certificate cert.npz -q -o motion.npz
        "$PYTHON" "$BATS_TEST_DIRNAME/residual.py" bar.npz basis.npz motion.npz 40 30 -200 400 1 0 -3 $static "${numbers[@]}" > difference.txt ||
            fault "$integrator: residual.py"
        awk '{ exit !($1 < 1e-8 && $2 < 1e-8) }' difference.txt || fault "$integrator: $(cat difference.txt)"
    done
    no_faults
}

@test "in linear statics the estimate is the error" {
    needs_plain_build 'it compares numbers, and takes minutes'
    bring
    # a ten-thousandth of the load, so that the deformation is small
    awk -F, -v OFS=, 'NR > 1 { $5 *= 1e-6; $6 *= 1e-6; $7 *= 1e-6 } 1' load.csv > small.csv
    ending=
    done_well simvalidate bar.npz --basis basis.npz --poly poly.npz --loads small.csv --integrator static --steps 1 --certificate cert.npz --csv t.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == "reduced" { e = $at["energy_error"]; b = $at["basis_estimate"]; n = e > 0.01 && e < 1 && (b - e) ^ 2 < 1e-10 }
        END { exit !n }' t.csv || fault "$(cat t.csv)"
    grep -q '^reduced  *8  *-  *[0-9.e-]*  *[0-9.e-]*  *-$' "$stdout" || fault "$(cat "$stdout")"
    no_faults
}

@test "a basis that cannot follow the load is noticed" {
    needs_plain_build 'it compares numbers, and takes minutes'
    bring
    local ending=.npz
    modes bar.npz -q -k 1 -o one.npz
    polycoef bar.npz one.npz -q -o one-poly.npz
    polycoef bar.npz one.npz -q --certificate --loads load.csv -o one-cert.npz
    try simulate bar.npz --basis one.npz --poly one-poly.npz --loads load.csv --dt 0.01 --steps 40 --certificate one-cert.npz --limit 0.2 -o out.npz
    [ "$code" = 1 ] || fault "exit $code: $err"
    [[ $err == *', above --limit' ]] || fault "$err"
    [ -s out.npz ] || fault 'the trajectory is missing'
    done_well simulate bar.npz --basis one.npz --poly one-poly.npz --loads load.csv --dt 0.01 --steps 40 --certificate one-cert.npz --limit 1 -o again.npz
    same_bytes out.npz again.npz 'with another limit'
    holds again.npz "0.2 < r['basis_estimate'] < 1 and 'quadrature_estimate' not in r"
    no_faults
}

@test "simverify assembles the residual anew" {
    bring
    local ending=.npz
    try simverify -q cert.npz --mesh bar.npz --basis basis.npz
    [ "$code" = 0 ] && grep -q '^ok   cert.npz norm of the residual of the mesh: ' "$stdout" || fault "$(cat "$stdout")"
    # the first column is that of K U_1
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" cert.npz bad.npz factor 0 1.0001
    try simverify -q bad.npz --mesh bar.npz --basis basis.npz
    [ "$code" = 1 ] && grep -q '^FAIL bad.npz norm of the residual of the mesh: ' "$stdout" || fault "exit $code: $(cat "$stdout")"
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" cert.npz bad.npz load/data 0 2
    try simverify -q bad.npz --mesh bar.npz --basis basis.npz
    [ "$code" = 1 ] && grep -q '^FAIL bad.npz norm of the residual of the mesh: ' "$stdout" || fault "exit $code: $(cat "$stdout")"
    # with the lumped mass
    modes bar.npz -q -k 4 --lumping lumped -o modes.npz
    polycoef bar.npz modes.npz -q --certificate -o lumped.npz
    try simverify -q lumped.npz --mesh bar.npz --basis modes.npz
    [ "$code" = 0 ] || fault "exit $code: $(cat "$stdout")"
    no_faults
}

@test "cubature: the quadrature's share and the basis'" {
    bring
    local ending=.npz
    cubature bar.npz basis.npz -q --poses 60 --tolerance 0.2 -o cub.npz
    done_well simulate bar.npz --model cubature --basis basis.npz --cub cub.npz --loads load.csv --dt 0.01 --steps 20 --certificate cert.npz -o motion.npz
    [[ $err == *' by the basis, '*' by the quadrature' ]] || fault "$err"
    holds motion.npz "r['quadrature_estimate'] > 1e-4 and r['basis_estimate'] > 0.01"
    # all elements: the quadrature is exact
    done_well simulate bar.npz --model galerkin --basis basis.npz --loads load.csv --dt 0.01 --steps 20 --certificate cert.npz -q -o galerkin.npz
    done_well "${reduced[@]}" --loads load.csv --dt 0.01 --steps 20 --certificate cert.npz -q -o motion.npz
    "$PYTHON" - <<-'END' || fault 'models differ'
	import json, zipfile
	def result(name):
	    data = zipfile.ZipFile(name).read('result.npy')
	    return json.loads(data[10 + data[8] + 256 * data[9]:])['basis_estimate']
	a, b = result('galerkin.npz'), result('motion.npz')
	assert abs(a - b) < 1e-7 * b, (a, b)
	END
    no_faults
}

@test "mode acceleration is exact in linear statics" {
    needs_plain_build 'it compares numbers, and takes minutes'
    bring
    local ending=.npz model
    needs_numpy
    done_well simfull bar.npz --model linear --loads load.csv --gravity 0,1,-2 --integrator static -q -o full.npz
    modes bar.npz -q -k 3 -o three.npz
    for model in plain corrected; do
        options=()
        [ $model = plain ] || options=(--static-correction)
        done_well simulate bar.npz --model modal --basis three.npz --loads load.csv --gravity 0,1,-2 --integrator static --record all "${options[@]}" -q -o $model.npz
    done
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import numpy as np
	full, plain, corrected = (np.load(name + '.npz')['u/000000'][-1] for name in ('full', 'plain', 'corrected'))
	error = lambda u: np.linalg.norm(u - full) / np.linalg.norm(full)
	print(error(plain), error(corrected))
	assert error(plain) > 1e-3 and error(corrected) < 1e-9
	END
    no_faults
}

@test "static correction mends the stress" {
    needs_plain_build 'it compares numbers, and takes minutes'
    bring
    ending=
    done_well simvalidate bar.npz --basis basis.npz --poly poly.npz --loads load.csv --dt 0.01 --steps 20 --damping-stiffness 0.01 --stress --csv t.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == "reduced" { n = $at["corrected_stress_error"] > 0 && $at["corrected_stress_error"] < 0.5 * $at["stress_error"] }
        END { exit !n }' t.csv || fault "$(cat t.csv)"
    ending=.npz
    # the recorded points of a probe are those of all vertices, and q is that of the run without
    done_well "${reduced[@]}" --loads load.csv --dt 0.01 --steps 20 --record all --static-correction -o all.npz
    [[ $err == *'static correction: at most '* ]] || fault "$err"
    done_well "${reduced[@]}" --loads load.csv --dt 0.01 --steps 20 --record probes --probe 40,7 --static-correction -q -o probes.npz
    done_well "${reduced[@]}" --loads load.csv --dt 0.01 --steps 20 -q -o plain.npz
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import numpy as np
	whole, probes, plain = (np.load(name + '.npz') for name in ('all', 'probes', 'plain'))
	assert (whole['u/000000'][:, probes['vertex']] == probes['u/000000']).all()
	assert (whole['q/000000'] == plain['q/000000']).all()
	END
    ending= done_well simverify bar.npz basis.npz poly.npz all.npz probes.npz -q
    refused 2 'static-correction does not apply to --record coordinates' "${reduced[@]}" --static-correction -o out.npz
    no_faults
}

@test "the same bytes with threads and little memory" {
    bring
    local ending=.npz
    done_well polycoef bar.npz basis.npz -q --certificate --loads load.csv --threads 1 -o one.npz
    same_bytes cert.npz one.npz '--threads 1'
    done_well polycoef bar.npz basis.npz -q --certificate --loads load.csv --memory 1 -o small.npz
    same_bytes cert.npz small.npz '--memory 1'
    done_well polycoef bar.npz basis.npz --certificate --loads load.csv -o again.npz
    [[ $err == 'polycoef: '*' columns of '*' MB, and about '*' s' ]] || fault "$err"
    no_faults
}

@test "what a certificate does not know" {
    bring
    sed 's/,40,/,41,/' load.csv > elsewhere.csv
    echo 0,1,spring,40,1,1,1,50 >> load2.csv
    refused 2 'was not made for the place of load 1 of elsewhere.csv' "${reduced[@]}" --loads elsewhere.csv --certificate cert.npz -o out.npz
    refused 2 'load 1 is a spring' "${reduced[@]}" --loads load2.csv --certificate cert.npz -o out.npz
    refused 2 'it is of 8 coordinates, the model has 5' "${reduced[@]}" -r 5 --certificate cert.npz -o out.npz
    refused 2 'it was made for the materials of the mesh' simulate bar.npz --basis basis.npz --model galerkin --young 2e6 --certificate cert.npz -o out.npz
    refused 2 'limit applies' "${reduced[@]}" --limit 0.1 -o out.npz
    refused 2 'loads applies' polycoef bar.npz basis.npz --loads load.csv -o out.npz
    refused 3 'expected polynomials' simulate bar.npz --basis basis.npz --poly cert.npz -o out.npz
    refused 3 'it is a file of kind polynomials' "${reduced[@]}" --certificate poly.npz -o out.npz
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then # two loads of one place
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" cert.npz twice.npz 'm["load/indices"][1] = m["load/indices"][0]'
        refused 3 '^simulate: twice.npz: the fields of its loads are not independent' "${reduced[@]}" --loads load.csv --certificate twice.npz -o out.npz
    fi
    voxelize "$DATA/bar.obj" -q -n 6 -o free.npz
    modes free.npz -q -k 2 -o free-modes.npz
    refused 5 'needs a constrained body' polycoef free.npz free-modes.npz --certificate -q -o out.npz
    no_faults
}
