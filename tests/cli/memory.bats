#!/usr/bin/env bats
# Memory that runs out: exit 4, one line, the old outputs as they were, and no other file.
#
# POSITIONS=N: the number of allocations of each command that fail, 0 for all. ONLY=REGEX: selects commands. Both print what was tried.

load common

# Commands, one on a line: one of every program, then others with other allocations: readers, writers, models, solvers, orderings.
commands() {
    local tool
    for tool in $(tools); do
        full_command_of "$tool"
        echo "${line[*]} -q"
    done
    cat <<-'END'
	voxelize bar.obj -n 6 --enlarge 1 -q -o -
	simimport block.msh -q -o out.npz
	simimport block.inp -q -o out.npz
	simimport block.mesh -q -o out.npz
	simimport block.ele -q -o out.npz
	simimport block.vtk -q -o out.npz
	simimport block.vtu -q -o out.npz
	simimport block.mphtxt -q -o out.npz
	modes mesh.npz -k 4 --write-stiffness out-K.npz --write-mass out-M.npz -q -o out.npz
	modes mesh.npz -k 4 --solver arpack -q -o out.npz
	modes free.npz -k 8 --certify -q -o out.npz
	modes free.npz --method inertia -q -o out.npz
	masspca mesh.npz full.npz --method gram-schmidt -q -o out.npz
	masspca mesh.npz modes.npz deriv.npz --method random -r 6 -q -o out.npz
	cubature mesh.npz basis.npz --poses 20 --held-out 10 --method greedy -n 10 -q --checkpoint out.checkpoint -o out.npz
	cubature mesh.npz basis.npz training.npz --method htp -n 10 -q -o out.npz
	cubature mesh.npz basis.npz --poses 20 --training-only -q -o out.npz
	pointshell field.npz --points 60 -q -o out.npz
	distfield wedge.stl -n 8 -q -o out.npz
	simfull mesh.npz --integrator static --gravity 0,0,-9.81 --steps 1 -q -o out.npz
	simfull mesh.npz --solver jacobi --integrator euler --gravity 0,0,-9.81 --dt 0.01 --steps 2 -q -o out.npz
	simfull mesh.npz --integrator linear-euler --gravity 0,0,-9.81 --skeleton arm.json --dt 0.01 --steps 3 --joints out.csv -q -o out.npz
	simfull mesh.npz --model linear --gravity 0,0,-9.81 --dt 0.01 --steps 3 -q -o out.npz
	simulate mesh.npz --model modal --basis modes.npz --integrator exact --loads loads.csv --dt 0.01 --steps 3 -q -o out.npz
	simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --loads loads.csv --dt 0.01 --steps 3 -q -o out.npz
	simulate mesh.npz --model galerkin --basis basis.npz --loads loads.csv --dt 0.01 --steps 3 -q -o out.npz
	simfull tets.npz --model warp --integrator linear-euler --gravity 0,0,-9.81 --dt 0.01 --steps 3 -q -o out.npz
	simfull mesh.npz --model conjac --dynamic farthest:6 --integrator linear-euler --gravity 0,0,-9.81 --dt 0.01 --steps 3 -q -o out.npz
	simskin mesh.npz skeleton.json --write-fixed out.fixed -q -o out.npz
	modes mesh.npz --method krylov -k 4 --as-modes -q -o out.npz
	simulate mesh.npz --model modal --basis modes.npz --skin skin.npz --skeleton skeleton.json --dt 0.01 --steps 3 -q -o out.npz
	simexport mesh.npz basis.npz traj.npz --skin skin.npz --skeleton skeleton.json -q -o out.glb
	simverify mesh.npz skin.npz
	simscene scene.json --steps 5 --contacts -q -o out.npz
	simexport mesh.npz traj.npz basis.npz --frames 0-2 -q -o out.pvd
	simexport mesh.npz --fields full.npz --frames 1 -q -o out.vtu
	simexport field.npz --level 0 -q -o out.obj
	simexport mesh.npz -q -o out.msh
	simexport tets.npz -q -o out.node
	simexport mesh.npz -q -o out.inp
	simexport mesh.npz -q -o out.veg
	simexport K.npz -q -o out.mtx
	simexport basis.npz -q -o out.U
	simexport mesh.npz basis.npz poly.npz --probe tip=3 -q -o out.c
	simexport mesh.npz basis.npz cub.npz -q -o out.c
	simexport scene.json motion.npz -q -o out.csv
	simexport mesh.npz basis.npz traj.npz --color displacement --quantize -q -o out.glb
	simexport mesh.npz full.npz -q -o out.glb
	simexport scene.json motion.npz --color speed -q -o out.usda
	simrender scene.json motion.npz --frames 1-2 --size 160x120 --samples 1 -q -o out-%d.png
	simrender field.npz --slice y=0.5 --size 160x120 -q -o out.png
	simsound mesh.npz basis.npz tone.npz --listener 0,5,0 --rate 1000 --band 1,150 --spectrogram out.png -q -o out.wav
	simsound mesh.npz modes.npz --listener 0,5,0 --band 0,20000 --strike 3:0,0,1 -q -o out.dsp
	siminfo --script cub.npz
	siminfo motion.npz
	simverify mesh.npz basis.npz poly.npz cub.npz traj.npz
	simverify field.npz shell.npz
	modes domain.npz --interface interface-* --frame average --rest interface-parent -k 3 --ritz -q -o out.npz
	modalderiv domain.npz rest.npz --method inertia -q -o out.npz
	masspca domain.npz rest.npz --scaling product -r 4 -q -o out.npz
	simimport superelement.json -q -o out.npz
	simcompare traj.npz full.npz --mesh mesh.npz --basis basis.npz
	END
}

@test "every program with failing allocations" {
    needs_plain_build "they have allocators of their own"
    simimport block.veg --fixed block.bou -q -o tets.npz
    simpart mesh.npz --plane 1,0,0,1 --plane 1,0,0,2 -q -o parts.npz
    simpart mesh.npz parts.npz --extract 1 --name-parent -q -o domain.npz
    modes domain.npz --interface 'interface-*' --frame average --rest interface-parent -k 3 --ritz -q -o rest.npz
    modes domain.npz --interface 'interface-*' -k 0 -q -o interface.npz
    simexport domain.npz interface.npz -q -o superelement.json
    cat > arm.json <<-'END'
	{"bones": [{"name": "arm", "joint": "revolute", "at": [3.5, 0, 0], "axis": [0, 1, 0], "mass": 500, "centre": [4, 0, 0],
	 "inertia": [1, 1, 1, 0, 0, 0], "box": [[2.9, -1, -1], [3.1, 2, 2]]}]}
	END
    commands | { if has sound; then cat; else grep -v '\.wav$'; fi; } | { if has yang2015; then cat; else grep -v -e krylov -e 'modalderiv .*inertia'; fi; } > ../commands
    grep -e "${ONLY:-.}" ../commands |
        "$PYTHON" "$BATS_TEST_DIRNAME/memory.py" "$SUPPLE_BUILD/tests/fail-memory.so" "${POSITIONS:-4}" > ../log || fault "$(grep -v '^#' ../log)"
    [ -z "${POSITIONS-}${ONLY-}" ] || cat ../log >&3
    no_faults
}

# The kernel also refuses stacks of threads and buffers of OpenBLAS. Below 150 MB the loader finds no room for the libraries.
@test "little address space" {
    needs_plain_build "they take address space"
    local limit ended=0
    for limit in 150000 200000 250000 300000 350000 400000 500000 700000; do
        code=0
        (ulimit -v $limit && timeout 100 simfull mesh.npz --gravity 0,0,-9.81 --dt 0.01 --steps 2 -q -o out.npz) 2> err || code=$?
        [ $code != 0 ] || echo old > out.npz
        case "$code $(< err)" in
        '0 ' | '4 simfull: out of memory' | '4 simfull: cannot create a thread: '*) ;;
        *) fault "ulimit -v $limit: exit $code: $(< err)" ;;
        esac
        [ "$(< out.npz)" = old ] || fault "ulimit -v $limit: the old output was changed"
        no_litter "ulimit -v $limit"
        [ $code != 4 ] || ended=$((ended + 1))
    done
    [ $ended -gt 0 ] || fault 'it never was too little'
    no_faults
}
