#!/usr/bin/env bats
# simfull --joints: the coordinates of a skeleton's joints.

load common

# A rotating bone that carries the end of the bar at x = 3, half a metre from its axis, and a mass that falls along a rail.
skeleton() {
    cat > arm.json <<-'END'
	{"bones": [
	 {"name": "arm", "joint": "revolute", "at": [3.5, 0, 0], "axis": [0, 1, 0], "mass": 500, "centre": [4, 0, 0], "inertia": [1, 1, 1, 0, 0, 0], "box": [[2.9, -1, -1], [3.1, 2, 2]]},
	 {"name": "stone-1.b", "joint": "prismatic", "axis": [0, 0, 1], "mass": 2, "centre": [9, 0, 0], "start": 1, "rate": 0.5}]}
	END
}

@test "--joints: the angle agrees with the attached vertices, and a mass falls freely" {
    local ending=.npz run='simfull mesh.npz --integrator linear-euler --gravity 0,0,-9.81 --skeleton arm.json --dt 0.01 --steps 21 --every 2'
    skeleton
    done_well $run --joints joints.csv -o moved.npz
    [ "$(head -n 1 joints.csv)" = 'time,arm,arm/rate,stone-1.b,stone-1.b/rate' ] || fault "$(head -n 1 joints.csv)"
    [ "$(wc -l < joints.csv)" = 13 ] || fault "$(wc -l < joints.csv) lines" # frames 0, 2, ... 20 and 21
    done_well simexport mesh.npz moved.npz --probe 6 -o place.csv # at (3, -0.5, -0.5)
    # Vertex 6 is rotated by the angle about the y axis through x = z = -0.5. The mass falls by g h^2 n (n + 1) / 2 in linearly implicit steps.
    paste -d, joints.csv place.csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        function off(a, b) { return a - b > 1e-12 || b - a > 1e-12 }
        {
            n = int($1 / 0.01 + 0.5); x = $at["v6_x"] - 0.5; z = $at["v6_z"] - 0.5; angle = atan2(-0.5 * (x - z), -0.5 * (x + z))
            if ($1 != $6 || off($2, angle) || off($4, 1 + 0.5 * $1 - 9.81 * 1e-4 * n * (n + 1) / 2) || off($5, 0.5 - 9.81 * $1))
                print
        }
        END { if ($2 > -0.01 && $2 < 0.01) print "the arm does not turn" }' > wrong
    [ ! -s wrong ] || fault "$(< wrong)"
    done_well $run -o silent.npz
    same_bytes moved.npz silent.npz "--joints in the trajectory"
    no_faults
}

@test "--joints: refusals" {
    skeleton
    refused 2 '^simfull: --joints applies with --skeleton$' simfull mesh.npz --joints joints.csv -o out.npz
    refused 2 '^simulate: unknown option --joints$' simulate mesh.npz --basis basis.npz --poly poly.npz --joints joints.csv -o out.npz
    refused 4 'none/joints.csv' simfull mesh.npz -q --integrator linear-euler --skeleton arm.json --steps 1000000 --every 1000000 --joints none/joints.csv -o out.npz # before the steps
    no_faults
}

@test "mass of the mesh on bones has the same centrifugal force as their own mass" {
    local which end own
    needs_numpy
    "$PYTHON" - <<-'END'
	import json, numpy as np
	def block(x, first): # a cube of 0.1 m
	    V = [[x + .1 * i, .1 * j, .1 * k] for k in (0, 1) for j in (0, 1) for i in (0, 1)]
	    return V, [first + n for n in (0, 1, 3, 2, 4, 5, 7, 6)]
	(V, a), (W, b) = block(.5, 0), block(9, 8)
	material = lambda name, density: dict(name=name, law='stvk', density=density, young=1e5, poisson=.3)
	meta = dict(kind='mesh', format_version='1.0', quadrature=2, materials=[material('bead', 1000.), material('rest', 1e-6)])
	np.savez('bead.npz', meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), vertices=np.array(V + W), hex=np.array([a, b]), region=np.array([0, 1]), fixed=np.arange(8, 12))
	rail = dict(name='rail', joint='revolute', at=[0, .05, 0], axis=[0, 0, 1], mass=1, centre=[0, .05, 0], inertia=[1000, 1000, 1000, 0, 0, 0], rate=3)
	bead = dict(name='bead', parent='rail', joint='prismatic', axis=[1, 0, 0])
	json.dump({'bones': [rail, dict(bead, regions=['bead'])]}, open('mesh.json', 'w'))
	json.dump({'bones': [rail, dict(bead, mass=1, centre=[.55, .05, .05], inertia=[0, 0, 1e-2 / 6, 0, 0, 0])]}, open('own.json', 'w'))
	END
    for which in mesh own; do
        simfull bead.npz --integrator linear-euler --dt 5e-4 --steps 2000 --every 2000 --skeleton $which.json --joints $which.csv -q -o moved.npz
    done
    # s" = 9 (0.55 + s) on a rail that rotates at a nearly constant rate: 0.55 (cosh 3 - 1) = 4.99 m after 1 s
    end=$(tail -n 1 mesh.csv | cut -d, -f 4) own=$(tail -n 1 own.csv | cut -d, -f 4)
    awk -v a="$end" -v b="$own" 'BEGIN { exit !(a > 4.9 && a < 5 && (a - b) ^ 2 < 1e-10) }' || fault "the bead slides by $end m with the mass of elements, by $own m with its own"
    no_faults
}

@test "the error of the energy balance of bones falls with the step" {
    local step balance last=1
    skeleton
    for step in 4e-3 1e-3 2.5e-4; do
        simfull mesh.npz --integrator linear-euler --beta 0.5 --gravity 0,0,-9.81 --skeleton arm.json --dt $step --steps "$(awk "BEGIN { print 0.2 / $step }")" -q -o moved.npz
        balance=$(siminfo moved.npz | awk '$1 == "energy_balance" { print $2 }')
        awk -v a="$balance" -v b="$last" 'BEGIN { exit !(a < b / 2) }' || fault "step $step: $balance behind $last"
        last=$balance
    done
    awk -v a="$last" 'BEGIN { exit !(a < 0.02) }' || fault "balance $last"
    no_faults
}
