#!/usr/bin/env bats
# Vertices by place: near:X,Y,Z is the vertex nearest to these coordinates at rest.

load common

# The vertex of mesh.npz nearest to a point, or with "surface" that of its embedded surface, and its distance: by NumPy.
nearest() {
    "$PYTHON" - "$@" <<-'END'
	import sys, numpy as np
	file = np.load('mesh.npz')
	x = file['surface/vertices' if sys.argv[4:] else 'vertices']
	d = np.linalg.norm(x - np.array([float(t) for t in sys.argv[1:4]]), axis=1)
	print(d.argmin(), '%.4g' % d.min())
	END
}

@test "a probe by place is the probe of the nearest vertex, which a message names" {
    needs_numpy
    local vertex distance corner far
    read -r vertex distance < <(nearest 2.4 0.6 0.55)
    read -r corner far < <(nearest 3.1 1 1 surface)
    try simexport mesh.npz basis.npz traj.npz --probe 3,near:2.4,0.6,0.55,surface:near:3.1,1,1,5-6 -o a.csv
    [ "$code" = 0 ] || fault "$err"
    [[ $err == *"near:2.4,0.6,0.55 is vertex $vertex of mesh.npz, $distance m from there"* ]] || fault "$err"
    [[ $err == *"near:3.1,1,1 is surface vertex $corner of mesh.npz, $far m from there"* ]] || fault "$err"
    done_well simexport mesh.npz basis.npz traj.npz --probe "3,$vertex,surface:$corner,5-6" -o b.csv
    same_bytes a.csv b.csv 'simexport'
    # once for several trajectories
    try simexport mesh.npz basis.npz traj.npz full.npz --probe near:2.4,0.6,0.55 -o two.csv
    [ "$code" = 0 ] && [ "$(grep -c "is vertex $vertex of mesh.npz" <<< "$err")" = 1 ] || fault "$err"
    # farther away than a tenth of the diagonal, the message gives the box, for options and for loads
    box=$("$PYTHON" -c 'import numpy as np; x = np.load("mesh.npz")["vertices"]; print("from %s to %s" % tuple(",".join("%.4g" % v for v in at) for at in (x.min(0), x.max(0))))')
    [[ $err != *"$distance m from there;"* ]] || fault "$err"
    try simexport mesh.npz basis.npz traj.npz --probe near:99,0,0 -o far.csv
    [[ $err == *" m from there; the mesh reaches $box"* ]] || fault "$box: $err"
    printf '0,1,vertex,near:99,0,0,0,0,1\n' > far-loads.csv
    try simfull mesh.npz --loads far-loads.csv --steps 1 -o far.npz
    [[ $err == *"loads, line 1: near:99,0,0 is vertex "*" m from there; the mesh reaches $box"* ]] || fault "$err"
    # several places after one "near:", as in --dynamic
    done_well simexport mesh.npz basis.npz traj.npz --probe 'near:2.4,0.6,0.55;0,0,0;3,1,1,5' -q -o a.csv
    [ "$(head -n 1 a.csv | tr , '\n' | grep -c '^v.*_x')" = 4 ] || fault "$(head -n 1 a.csv)"
    done_well simexport mesh.npz basis.npz traj.npz --probe 'near:2.4,0.6,0.55' -q -o a.csv # with --quiet
    [ -z "$err" ] || fault "$err"
    no_faults
}

@test "simulate, simfull, simcompare and simvalidate accept places" {
    needs_numpy
    local vertex distance
    read -r vertex distance < <(nearest 2.4 0.6 0.55)
    for word in "$vertex" near:2.4,0.6,0.55; do
        done_well simfull mesh.npz --gravity 0,0,-9.81 --dt 0.01 --steps 2 --record probes --probe "$word,surface:2" -q -o "f$word.npz"
        done_well simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 2 --record probes --probe "$word" -q -o "r$word.npz"
        try simcompare traj.npz full.npz --mesh mesh.npz --basis basis.npz --probe "$word:z"
        sed 's/probe [^ ]* //' "$stdout" > "c$word"
        try simvalidate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 10 --probe "$word:z" --csv "v$word.csv"
        [ "$code" = 0 ] || fault "simvalidate: $err"
        sed -i 's/probe [^,]*:z//;s/[^,]*seconds.*//' "v$word.csv"
    done
    for kind in f r; do
        done_well simcompare --members "$kind$vertex.npz" "${kind}near:2.4,0.6,0.55.npz" -q
    done
    same_bytes "c$vertex" cnear:2.4,0.6,0.55 simcompare
    no_faults
}

@test "loads and prescribed displacements by place" {
    needs_numpy
    local vertex corner distance how
    read -r vertex distance < <(nearest 3 1 0.9)
    read -r corner distance < <(nearest 3 1 0.9 surface)
    head='mesh.npz --dt 0.01 --steps 3 -q'
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,%s,1,2,3\n0,1,surface,%s,0,0,5\n0,1,spring,%s,3,1,1,40,3,1,2\n' "$vertex" "$corner" "$vertex" > n.csv
    simfull $head --loads n.csv -o n.npz || fault 'numbers'
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,near:3,1,0.9,1,2,3\n0,1,surface, "near:3, 1, 0.9" ,0,0,5\n0,1,spring,near:3,1,0.9,3,1,1,40,3,1,2\n' > p.csv
    simfull $head --loads p.csv -o p.npz || fault 'places'
    done_well simcompare --members n.npz p.npz -q
    try simfull ${head% -q} --loads p.csv -o p.npz
    [[ $err == *"loads, line 2: near:3,1,0.9 is vertex $vertex, "*" m from there"* ]] || fault "$err"
    [[ $err == *"loads, line 3: near:3,1,0.9 is surface vertex $corner, "* ]] || fault "$err"
    [[ $err != *'line 4'* ]] || fault "said twice: $err"
    printf 't,vertex,ux,uy,uz\n0,%s,0,0,0\n1,%s,0,0,0.1\n' "$vertex" "$vertex" > n.csv
    printf 't,vertex,ux,uy,uz\n0,near:3,1,0.9,0,0,0\n1,"near:3,1,0.9",0,0,0.1\n' > p.csv
    for how in n p; do
        simfull $head --prescribe-vertices $how.csv -o $how.npz || fault "$how"
    done
    done_well simcompare --members n.npz p.npz -q
    # a recording for sketchsolve
    printf '0,0.1,vertex,%s,0,0,50\n' "$vertex" > n.csv
    printf '0,0.1,vertex,near:3,1,0.9,0,0,50\n' > p.csv
    for how in n p; do
        sketchsolve mesh.npz --loads $how.csv -q -o $how.npz || fault "sketchsolve $how"
    done
    done_well simcompare n.npz p.npz -q
    no_faults
}

@test "invalid places" {
    local word text
    simimport block.veg -q -o block.npz
    for word in near: near:1,2 near:1,2,x 3,x,near:1,2,3 'near:1,2,3;' near:1,2,inf surface: surface:near:1,2 near3 1,,2 1, 3-1; do
        refused 2 '^simexport: --probe: "[^"]*" is not a list such as' simexport mesh.npz basis.npz traj.npz --probe "$word" -o out.csv
        refused 2 '^simfull: --probe: ' simfull mesh.npz --steps 1 --record probes --probe "$word" -o out.npz
    done
    refused 2 '^simexport: --probe: a place needs the mesh: name its file too' simexport full.npz --probe near:1,2,3 -o out.csv
    refused 2 '^simexport: --probe: vertex 999 of [0-9]+' simexport mesh.npz full.npz --probe 999 -o out.csv
    refused 3 '^simfull: block.npz: --probe: the mesh has no embedded surface' simfull block.npz --steps 1 --record probes --probe surface:near:0,0,0 -o out.npz
    refused 2 '^simfull: --probe applies to --record probes' simfull mesh.npz --steps 1 --probe 3 -o out.npz
    refused 2 '^simulate: --probe does not apply to --record all' simulate mesh.npz --basis basis.npz --poly poly.npz --record all --probe 3 -o out.npz
    refused 2 '^simcompare: --probe: "near:1,2,3" is not VERTEX:x, :y or :z' simcompare full.npz full.npz --mesh mesh.npz --probe near:1,2,3
    refused 2 '^simcompare: --probe: "near:1,2,3;0,0,0:y" is not one vertex' simcompare full.npz full.npz --mesh mesh.npz --probe 'near:1,2,3;0,0,0:y' -q
    while IFS='|' read -r text; do
        printf '%s\n' "0,1,$text" > bad.csv
        refused 3 '^simfull: bad.csv: line 1: ' simfull mesh.npz --loads bad.csv --steps 1 -o out.npz
    done <<-'END'
	vertex,near:1,2,0,0,5
	vertex,near:1,2,x,0,0,5
	vertex,"near:1,2,3,0,0,5
	vertex,near:,0,0,0,5
	vertex,"near:1,2,3"x,0,0,5
	region,near:1,2,3,0,0,5
	END
    no_faults
}
