#!/usr/bin/env bats
# Modal cubature (weights by coordinate): training, motion with each Jacobian, refusals, and the message of a build without it.

load common

setup_file() {
    export MODAL=$BATS_FILE_TMPDIR/modal
    mkdir "$MODAL"
    cd "$MODAL"
    ln -s "$DATA"/* .
    rm -f out.npz
    left_out=
    cubature mesh.npz basis.npz -q --method modal -n 20 --poses 60 --nested -o modal.npz 2> said || left_out=$(< said)
    export left_out
    cubature mesh.npz basis.npz -q --poses 60 -o joint.npz
}

needs_modal() {
    [ -z "$left_out" ] || skip 'this build leaves out the methods of Yang 2015'
    ln -s "$MODAL"/{modal,joint}.npz .
}

# value_of FILE KEY: the value in the result or in meta.
value_of() {
    siminfo "$1" | sed -n "s/^\(result\)\{0,1\} *$2 //p"
}

# less A B WHAT
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || fault "$1 is not less than $2: $3"
}

model=(mesh.npz --model cubature --basis basis.npz)
motion=(--loads loads.csv --gravity 0,0,-9.81 --dt 0.005 --steps 20)

@test "a build without modal cubature reports that" {
    [ -n "$left_out" ] || skip 'this build has it'
    [[ $left_out == 'cubature: --method modal: this build leaves out the methods of Yang 2015 (meson setup -Dyang2015=true)' ]] || fault "$left_out"
    refused 2 'leaves out the methods of Yang 2015' cubature mesh.npz basis.npz --method modal -o out.npz
    refused 2 'leaves out the methods of Yang 2015' cubature mesh.npz basis.npz --method modal --incremental -o out.npz
    no_faults
}

@test "elements, weights and errors" {
    needs_modal
    local ending=.npz
    done_well cubature mesh.npz basis.npz --method modal -n 20 --poses 60 --nested -o a.npz
    same_bytes a.npz modal.npz 'a second run'
    done_well cubature mesh.npz basis.npz -t 1 --method modal -n 20 --poses 60 --nested -o b.npz
    same_bytes a.npz b.npz 'one thread'
    less "$(value_of a.npz training_error)" 0.3 'the error of 20 elements'
    less "$(value_of a.npz kkt)" 1e-9 'KKT'
    less "$(value_of a.npz training_error)" "$(value_of a.npz nested_error)" 'nested'
    done_well cubature mesh.npz basis.npz --method modal --tolerance 0.02 --poses 300 -o c.npz
    less "$(value_of c.npz training_error)" 0.02 'the tolerance'
    [ "$(value_of c.npz reached)" = true ] || fault 'the tolerance is not reached'
    done_well cubature mesh.npz basis.npz --method modal --tolerance 1e-9 -n 12 --poses 300 -o d.npz
    [[ $err == *'above the tolerance 1e-09'*'--elements allows no more'* ]] || fault "$err"
    [ "$(value_of d.npz reached)" = false ] || fault 'the tolerance is reached'
    ending= done_well simverify mesh.npz basis.npz a.npz
    no_faults
}

@test "training that stops by itself" {
    needs_modal
    # shellcheck source=data.bash
    source "$SUPPLE_SOURCE/tests/cli/data.bash"
    make_wide_reduction || fault 'no wide bar'
    local ending=.npz more
    done_well cubature mesh.npz basis.npz --method modal --linear sampled --incremental -n 20 -o a.npz
    done_well cubature mesh.npz basis.npz -t 1 --method modal --linear sampled --incremental -n 20 -o b.npz
    same_bytes a.npz b.npz 'one thread'
    [ "$(value_of a.npz settled)" = true ] || fault "$(siminfo a.npz)"
    done_well cubature mesh.npz basis.npz --method modal --linear sampled --incremental --no-adjustment -n 20 -o c.npz
    done_well cubature mesh.npz basis.npz --method modal --linear sampled --incremental --change 0.0002 -n 20 --nested -o d.npz
    done_well cubature mesh.npz basis.npz --method modal --linear sampled --incremental --worst absolute -n 20 --change 1e-9 --rounds 3 -o g.npz
    ending= done_well simverify mesh.npz basis.npz g.npz
    less "$(value_of a.npz training_poses)" "$(value_of d.npz training_poses)" 'a smaller change needs more poses'
    done_well cubature mesh.npz basis.npz --method modal --linear sampled -n 20 --poses 1000 --spectrum energy -o e.npz
    less "$(value_of d.npz held_out_error)" "$(value_of e.npz held_out_error | awk '{ print 1.3 * $1 }')" 'the error compared with that of 1000 poses'
    done_well cubature mesh.npz basis.npz --method modal --linear sampled --incremental --change 1e-9 --rounds 3 -n 20 -o f.npz
    if cmp -s <(siminfo f.npz | grep round_errors) <(siminfo g.npz | grep round_errors); then fault 'the worst poses are the same by both errors'; fi
    [ "$(value_of f.npz rounds) $(value_of f.npz settled)" = '3 false' ] || fault "$(siminfo f.npz)"
    [[ $(siminfo f.npz | awk '$1 == "round_held_out_errors"') == *"$(value_of f.npz held_out_error)"* ]] || fault 'the last round is judged otherwise'
    no_faults
}

@test "the same motion with every Jacobian" {
    needs_modal
    local ending=.npz j cub
    for cub in modal joint; do
        for j in symmetric exact krylov free; do
            done_well simulate "${model[@]}" --cub $cub.npz "${motion[@]}" --damping-stiffness 0.001 --viscosity 30,40 --tolerance 1e-12 --jacobian $j -o $j.npz
            [ $j = symmetric ] || simcompare -q --rtol 1e-7 --atol 1e-10 --basis basis.npz --mesh mesh.npz $j.npz symmetric.npz || fault "$cub: $j gives another motion"
            # one iteration per step: another motion
            done_well simulate "${model[@]}" --cub $cub.npz "${motion[@]}" --semi-implicit --jacobian $j -o semi.npz
            done_well simulate "${model[@]}" --cub $cub.npz "${motion[@]}" --integrator static --tolerance 1e-12 --jacobian $j -o static-$j.npz
            [ $j = symmetric ] || simcompare -q --rtol 1e-7 --atol 1e-10 --basis basis.npz --mesh mesh.npz static-$j.npz static-symmetric.npz || fault "$cub: $j gives another equilibrium"
        done
        less 0 "$(value_of free.npz linear_products)" 'products'
        [ -z "$(value_of exact.npz linear_products)" ] || fault 'exact has no products'
    done
    done_well simulate "${model[@]}" --cub joint.npz "${motion[@]}" --integrator energy --jacobian free -o energy.npz
    no_faults
}

@test "free bodies conserve their momenta, and a message says that they do not conserve their energy" {
    needs_modal
    local ending=.npz force
    { printf 'v %s %s %s\n' 0 0 0 1 0 0 1 .4 0 0 .4 0 0 0 .3 1 0 .3 1 .4 .3 0 .4 .3; printf 'f %s %s %s %s\n' 1 4 3 2 5 6 7 8 1 2 6 5 2 3 7 6 3 4 8 7 4 1 5 8; } > block.obj
    voxelize block.obj -n 8 --fill -q -o block.npz
    modes block.npz -q -k 16 -o free-modes.npz
    masspca block.npz free-modes.npz --columns 7-16 -q -o free-basis.npz
    polycoef block.npz free-basis.npz -q -o free-poly.npz
    cubature block.npz free-basis.npz --method modal -n 60 --poses 400 --deflection 0.05 -q -o free-cub.npz
    for force in '"polynomials": "free-poly.npz"' '"cubature": "free-cub.npz"'; do
        cat > scene.json <<-END
	{"contact": {"stiffness": 1000}, "models": {"bar": {"kind": "reduced", "mesh": "block.npz", "basis": "free-basis.npz", $force}},
	 "bodies": [{"name": "bar", "model": "bar", "motion": "free", "angular_velocity": [0, 4, 6], "velocity": [1, 0, 0]}]}
	END
        done_well simscene scene.json --dt 0.001 --steps 400 -o motion.npz
        siminfo motion.npz | sed -n 's/.*energy_last \(.*\) J$/\1/p' | tr -d '[],' > "energy-${force:1:4}"
        [[ $force == *poly* && $err != *'not conservative'* ]] || [[ $force == *cub* && $err == *'free-cub.npz: modal cubature forces are not conservative: free bodies of model bar conserve their momenta, not their energy'* ]] ||
            fault "$force: $err"
    done
    # Far from the training poses the force adds energy. A warning says so, although kinetic energy and work balance.
    cubature block.npz free-basis.npz --method modal --linear sampled -n 30 --poses 200 --deflection 0.2 -q -o free-cub.npz
    sed -i 's/"angular_velocity": .0, 4, 6./"angular_velocity": [0, 20, 30]/' scene.json
    done_well simscene scene.json --dt 0.002 --steps 3000 -o far.npz
    [[ $err == *'the energy of all bodies rose '*' J above its start, '*': train weights by coordinate on poses as far as this motion goes, or take weights by element'* ]] || fault "far: $err"
    # Near rest the linear part is exact. The kinetic energy, and the work recorded in place of strain energy, agree with the polynomials within a
    # tenth of the strain energy, the error of 60 elements.
    paste energy-poly energy-cuba | awk '{ n = NF / 2; for (i = 1; i <= 2; i++) { d = $i - $(i + n); if (d < 0) d = -d; if (!(d <= 0.1 * $2)) exit 1 } }' || fault "$(paste energy-poly energy-cuba)"
    no_faults
}

@test "the recorded energy is marked as work" {
    needs_modal
    local ending=.npz
    done_well simulate "${model[@]}" --cub modal.npz "${motion[@]}" --record all -o a.npz
    done_well simulate "${model[@]}" --cub joint.npz "${motion[@]}" --record all -o b.npz
    "$PYTHON" - <<-'END' || fault 'meta'
	import json, zipfile
	def meta(path):
	    data = zipfile.ZipFile(path).read('meta.npy')
	    return json.loads(data[10 + data[8] + 256 * data[9]:])
	assert meta('a.npz')['stored'] == 'work' and 'stored' not in meta('b.npz')
	END
    ending= done_well simverify mesh.npz basis.npz a.npz
    ending= done_well simverify mesh.npz basis.npz b.npz
    no_faults
}

@test "options that do not fit together" {
    needs_modal
    refused 2 '--tolerance 0 needs --elements' cubature mesh.npz basis.npz --method modal --tolerance 0 -o out.npz
    refused 2 '^simulate: --jacobian applies to --model cubature$' simulate mesh.npz --basis basis.npz --poly poly.npz --jacobian exact -o out.npz
    refused 2 '^simfull: unknown option --jacobian$' simfull mesh.npz --jacobian free -o out.npz
    refused 2 '^simulate: --jacobian does not apply to --integrator central$' simulate "${model[@]}" --cub modal.npz --integrator central --jacobian free -o out.npz
    refused 2 'energy-conserving step needs an internal force that has an energy' simulate "${model[@]}" --cub modal.npz --integrator energy -o out.npz
    no_faults
}
