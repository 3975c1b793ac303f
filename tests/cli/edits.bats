#!/usr/bin/env bats
# Materials edited at the start of a simulation.

load common

# A bar of two regions, polynomials of it in every form, and the same bar voxelized with other materials.
setup_file() {
    export TWO=$BATS_FILE_TMPDIR/two
    mkdir "$TWO"
    cd "$TWO"
    source "$BATS_TEST_DIRNAME/data.bash"
    make_models .
    echo '[{"name": "tip", "young": 5e5, "poisson": 0.3, "density": 500}]' > soft.json
    echo '[{"name": "body", "young": 2e6, "poisson": 0.4, "density": 1200}, {"name": "tip", "young": 3e5, "poisson": 0.2, "density": 700}]' > other.json
    local bar=(voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2,-inf,-inf,inf,inf,inf)
    "${bar[@]}" --materials soft.json -o two.npz
    "${bar[@]}" --materials other.json -o edited.npz
    modes two.npz -q -k 4 -o modes.npz
    modalderiv two.npz modes.npz -q -o deriv.npz
    masspca two.npz modes.npz deriv.npz -q -r 6 -o basis.npz
    polycoef two.npz basis.npz -q --by-constant -o parts.npz
    polycoef two.npz basis.npz -q --by-region -o regions.npz
    polycoef two.npz basis.npz -q -o whole.npz
}

# The two motions, of meshes with other hashes, agree to 1e-10 of the largest value.
same_motion() {
    "$PYTHON" - "$@" <<-'END' || fault "$*: other motions"
	import sys, numpy as np
	a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
	names = [n for n in a.files if n[:2] in ('q/', 'u/') or n[:5] in ('qdot/', 'udot/') or n[:7] == 'energy/']
	assert len(names) >= 3
	for n in names:
	    assert abs(a[n]).max() > 0 and abs(a[n] - b[n]).max() <= 1e-10 * abs(a[n]).max(), n
	END
}

edits=(--young 2e6 --young tip=3e5 --poisson body=0.4 --poisson tip=0.2 --density 1200 --density tip=700)
motion=(--loads loads.csv --gravity 0,0,-9.81 --dt 0.01 --steps 10 -q)

@test "an edited model moves as a model that was made with these materials" {
    local ending=.npz how
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "no NumPy"
    cd "$TWO"
    "$PYTHON" -c 'import numpy as np; np.savez("U.npz", U=np.asfortranarray(np.load("basis.npz")["U"]))'
    done_well polycoef edited.npz U.npz -q -o anew.npz
    done_well simulate two.npz --basis basis.npz --poly parts.npz "${edits[@]}" "${motion[@]}" -o a.npz
    done_well simulate edited.npz --basis U.npz --poly anew.npz "${motion[@]}" -o b.npz
    same_motion a.npz b.npz
    for how in nonlinear linear; do
        done_well simfull two.npz --model $how "${edits[@]}" "${motion[@]}" -o $how.npz
        done_well simfull edited.npz --model $how "${motion[@]}" -o anew-$how.npz
        same_motion $how.npz anew-$how.npz
    done
    done_well simulate two.npz --model galerkin --basis basis.npz "${edits[@]}" "${motion[@]}" -o galerkin.npz
    done_well simulate edited.npz --model galerkin --basis U.npz "${motion[@]}" -o anew-galerkin.npz
    same_motion galerkin.npz anew-galerkin.npz
    same_motion a.npz galerkin.npz
    # Young's modulus only, by region
    done_well simulate two.npz --basis basis.npz --poly regions.npz --young tip=3e5 --density tip=900 "${motion[@]}" -o c.npz
    done_well simulate two.npz --basis basis.npz --poly parts.npz --young tip=3e5 --density tip=900 "${motion[@]}" -o d.npz
    same_motion c.npz d.npz
    # with another rank
    done_well simulate two.npz -r 4 --basis basis.npz --poly parts.npz "${edits[@]}" "${motion[@]}" -o e.npz
    done_well simulate edited.npz -r 4 --basis U.npz --poly anew.npz "${motion[@]}" -o f.npz
    same_motion e.npz f.npz
    no_faults
}

@test "the record of an edited motion makes it again, and simverify applies the edits" {
    local ending=.npz
    cd "$TWO"
    simulate two.npz --basis basis.npz --poly parts.npz "${edits[@]}" "${motion[@]}" -o traj.npz
    simfull two.npz "${edits[@]}" "${motion[@]}" -o full.npz
    mkdir again
    cp bar.obj soft.json loads.csv again
    siminfo --script traj.npz > again/remake.sh
    (cd again && sh remake.sh > said 2>&1) || fault "the script: $(< again/said)"
    same_bytes traj.npz again/traj.npz 'siminfo --script'
    try simverify two.npz basis.npz parts.npz traj.npz full.npz
    [ "$code" = 0 ] || fault "simverify: exit $code: $(grep -v ^ok "$stdout")"
    [ "$(grep -c -E 'strain energy of|edited them: yes' "$stdout")" = 4 ] || fault "simverify: $(cat "$stdout")"
    siminfo parts.npz > said || fault 'siminfo'
    grep -q '^mass .*region tip apart, density 500 kg/m3' said || fault "siminfo: $(< said)"
    no_faults
}

@test "impossible edits are refused" {
    local reduced word
    ln -s "$TWO"/{two,regions,parts,whole,soft}.* .
    ln -s "$TWO"/basis.npz two-basis.npz
    reduced=(simulate two.npz --basis two-basis.npz --poly)
    refused 3 '^simulate: whole.npz: .*region tip alone.*polycoef --by-region' "${reduced[@]}" whole.npz --young tip=4 -o out.npz
    refused 3 '^simulate: regions.npz: .*lambda and mu of region tip.*polycoef --by-constant' "${reduced[@]}" regions.npz --poisson tip=0.1 -o out.npz
    refused 3 '^simulate: whole.npz: .*density of region body.*polycoef --by-region' "${reduced[@]}" whole.npz --density body=4 -o out.npz
    for word in '--young tp=1' '--young x' '--young tip=' '--young tip=1x' '--young tip=-1' '--young inf' '--young 1,2' '--poisson 0.5' '--poisson tip=nan' '--density 0' '--density =4'; do
        # shellcheck disable=SC2086
        refused 2 "^simulate: ${word%% *}: " "${reduced[@]}" parts.npz $word -o out.npz
        # shellcheck disable=SC2086
        refused 2 "^simfull: ${word%% *}: " simfull two.npz $word -o out.npz
    done
    echo '[{"name": "tip", "law": "linear", "stiffness": [3,1,1,0,0,0,3,1,0,0,0,3,0,0,0,1,0,0,1,0,1], "density": 500}]' > linear.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2,-inf,-inf,inf,inf,inf --materials linear.json -o wood.npz
    refused 2 '^simfull: --young: region tip has the law linear' simfull wood.npz --young 1e6 -o out.npz
    refused 2 '^simfull: --poisson: region tip has the law linear' simfull wood.npz --poisson tip=0.1 -o out.npz
    ending=.npz
    done_well simfull wood.npz -q --young body=1e6 --density 900 --steps 1 -o fine.npz
    no_faults
}

@test "damping by strain rate: every model, the balance of energy" {
    local ending=.npz how viscous=(--viscosity 300,200 --viscosity tip=0,150)
    cd "$TWO"
    for how in '' '--integrator energy' '--integrator central --dt 0.001' '--semi-implicit' '-r 4' '--young tip=3e5'; do
        # shellcheck disable=SC2086
        done_well simulate two.npz --basis basis.npz --poly parts.npz "${motion[@]:0:4}" --steps 10 "${viscous[@]}" $how -q -o a.npz
        # shellcheck disable=SC2086
        done_well simulate two.npz --basis basis.npz --model galerkin "${motion[@]:0:4}" --steps 10 "${viscous[@]}" $how -q -o b.npz
        simcompare -q a.npz b.npz --mesh two.npz --basis basis.npz --rtol 1e-9 || fault "galerkin $how: another motion"
    done
    for how in nonlinear linear; do
        done_well simfull two.npz --model $how --integrator energy "${motion[@]}" "${viscous[@]}" -o c.npz
        "$PYTHON" -c 'import json, zipfile
d = zipfile.ZipFile("c.npz").read("result.npy")
r = json.loads(d[10 + d[8] + 256 * d[9]:])
assert r["energy_balance"] < 1e-9 and r["energy_last"][3] > 1e-3 * r["energy_last"][2], r' || fault "$how: energy"
    done
    # The viscosities take the place of lambda and mu: a linear body with beta lambda and beta mu is damped as with --damping-stiffness beta.
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --young 1e6 --poisson 0.25 -o one.npz # lambda = mu = 4e5 Pa
    done_well simfull one.npz --model linear "${motion[@]}" --viscosity 400,400 -o d.npz
    done_well simfull one.npz --model linear "${motion[@]}" --damping-stiffness 1e-3 -o e.npz
    simcompare -q d.npz e.npz --rtol 1e-9 || fault 'linear: not the damping of Rayleigh'
    no_faults
}

@test "impossible viscosities are refused" {
    local reduced word
    ln -s "$TWO"/{two,regions,parts,whole}.npz .
    ln -s "$TWO"/basis.npz two-basis.npz
    reduced=(simulate two.npz --basis two-basis.npz --poly)
    for word in whole regions; do
        refused 3 "^simulate: $word.npz: .*lambda and mu of region body.*polycoef --by-constant" "${reduced[@]}" $word.npz --viscosity 1,2 -o out.npz
    done
    for word in 1 1,2,3 1,2, x,1 1,-1 -1,1 inf,1 nan,1 tp=1,2 tip=1 tip= =1,2 'tip= 1,2'; do
        refused 2 '^simulate: --viscosity: ' "${reduced[@]}" parts.npz --viscosity="$word" -o out.npz
    done
    refused 2 '^simulate: --viscosity does not apply to --integrator static$' "${reduced[@]}" parts.npz --viscosity 1,2 --integrator static -o out.npz
    refused 2 '^simulate: two.npz: the time step 0.01 s is above the limit of central differences, 2/omega with this damping' \
        "${reduced[@]}" parts.npz --viscosity 90000,90000 --integrator central -o out.npz
    # a force file of VegaFEM has no damping
    simexport parts.npz -q -o two.cub
    simimport two.cub -q --mesh two.npz --basis two-basis.npz -o cub.npz
    refused 3 '^simulate: cub.npz: ' "${reduced[@]}" cub.npz --viscosity 1,2 -o out.npz
    no_faults
}

@test "simexport shows the stress of the edited materials" {
    local ending=.vtu
    cd "$TWO"
    simfull two.npz "${edits[@]}" "${motion[@]}" -o edited-full.npz
    simfull edited.npz "${motion[@]}" -o own-full.npz
    done_well simexport two.npz edited-full.npz --fields --frames 10 -q -o a.vtu
    done_well simexport edited.npz own-full.npz --fields --frames 10 -q -o b.vtu
    same_bytes a.vtu b.vtu 'the fields of an edited motion'
    no_faults
}
