#!/usr/bin/env bats
# simscene: bodies that touch.

load common

# A ball of points: an octahedron's corners pushed out, in OBJ; radius 0.1 m.
ball() {
    awk 'function point(x, y, z, l) { l = sqrt(x * x + y * y + z * z); printf "v %.17g %.17g %.17g\n", 0.1 * x / l, 0.1 * y / l, 0.1 * z / l; return ++count }
        function corner(i, j, s, t, u, key) {
            key = s * i "," t * j "," u * (n - i - j)
            return key in number ? number[key] : number[key] = point(s * i, t * j, u * (n - i - j))
        }
        function face(a, b, c, turned) { faces[++many] = turned ? "f " a " " c " " b : "f " a " " b " " c }
        BEGIN {
            n = 32
            for (s = -1; s < 2; s += 2) for (t = -1; t < 2; t += 2) for (u = -1; u < 2; u += 2)
                for (i = 0; i < n; i++) for (j = 0; i + j < n; j++) {
                    face(corner(i, j, s, t, u), corner(i + 1, j, s, t, u), corner(i, j + 1, s, t, u), s * t * u < 0)
                    if (i + j < n - 1)
                        face(corner(i + 1, j, s, t, u), corner(i + 1, j + 1, s, t, u), corner(i, j + 1, s, t, u), s * t * u < 0)
                }
            for (i = 1; i <= many; i++)
                print faces[i]
        }' > ball.obj
    pointshell ball.obj -q --points 4000 -o ball-shell.npz
}

# column NAME FILE: a column of a table, its last value
last() {
    awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) column = i} END {print $column}' "$2"
}

# near A B TOLERANCE WHAT
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {exit !(a != "" && (a - b) ^ 2 <= t ^ 2)}' || fault "$4: $1 is not $2 within $3"
}

scene() { # scene CONTACT MODELS BODIES REST…
    printf '{"gravity": [0, 0, -9.81], "contact": {%s}, "models": {%s}, "bodies": [%s]%s}\n' "$1" "$2" "$3" "${4-}" > scene.json
}

FLOOR='"floor": {"kind": "rigid", "plane": {"normal": [0, 0, 1]}}'
BALL='"ball": {"kind": "rigid", "surface": "ball.obj", "density": 1000, "pointshell": "ball-shell.npz"}'

@test "a ball falls as a parabola and rests at the depth that bears its weight" {
    ball
    scene '"stiffness": 20000, "damping": 40, "limit": 10' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.3], "velocity": [0.5, 0, 0]}'
    done_well simscene scene.json --dt 0.001 --steps 150 -o fall.npz
    done_well simexport scene.json fall.npz --to csv -o fall.csv
    # energies: half m v^2 and m g z, with the mass of the polyhedron; 0.15 s
    read -r kinetic gravity <<< "$(last kinetic fall.csv) $(last gravity fall.csv)"
    near "$(awk "BEGIN {print $kinetic / $gravity}")" "$(awk 'BEGIN {g = 9.81; t = 0.15; print (0.25 + (g * t) ^ 2) / 2 / (g * (0.3 - g * t * t / 2))}')" 1e-12 "a parabola"
    holds fall.npz "r['steps_in_contact'] == 0 and r['most_points_in_contact'] == 0 and r['lowest_distance'] is None" # the ball is never near the floor
    # thesis eq. 3.2: k L times the mean of d n_z over a cap of depth e, whose points are at u = cos in [1 - e/R, 1]: k L e (1 - e/R / 3) / 2
    scene '"stiffness": 2000, "damping": 40, "limit": 10' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.1]}'
    done_well simscene scene.json --dt 0.001 --steps 3000 --every 1000 -o rest.npz
    done_well simexport scene.json rest.npz --to csv -o rest.csv
    first=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "gravity") column = i} NR == 2 {print $column}' rest.csv)
    weight=$(awk "BEGIN {print $first / 0.1}")
    near "$weight" "$(awk 'BEGIN {print 9.81 * 1000 * 4 / 3 * 3.14159265358979 * 0.001}')" "$(awk "BEGIN {print 0.003 * $weight}")" "the weight" # the polyhedron has 0.2 % less than the ball
    near "$(last ball.fz rest.csv)" "$weight" "$(awk "BEGIN {print 0.03 * $weight}")" "the floor bears it" # points come and go as it rolls
    depth=$(awk "BEGIN {R = 0.1; F = $weight / (2000 * 10); e = 2 * F; for (i = 0; i < 50; i++) e = 2 * F / (1 - e / R / 3); print e}")
    near "$(awk "BEGIN {print 0.1 - $(last gravity rest.csv) / $weight}")" "$depth" "$(awk "BEGIN {print 0.05 * $depth}")" "the depth of thesis eq. 3.2" # of 85 points
    holds rest.npz "r['stiffest_contact'] < 4 and 40 < r['most_points_in_contact'] < 200"
    no_faults
}

@test "the same bytes for any number of threads and in a second run; siminfo makes it again" {
    ball
    scene '"stiffness": 5000, "damping": 5, "friction": 0.3' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.11], "velocity": [1, 0.5, 0], "copies": {"count": [3, 3, 1], "spacing": [0.3, 0.3, 0.3]}, "angular_velocity": [3, 0, 0]}'
    simscene scene.json -q --dt 0.001 --steps 200 --contacts --threads 1 -o one.npz
    simscene scene.json -q --dt 0.001 --steps 200 --contacts --threads 2 -o two.npz
    simscene scene.json -q --dt 0.001 --steps 200 --contacts --threads 4 --timings times.csv -o four.npz
    same_bytes one.npz two.npz threads
    refused 4 'simscene: missing/times.csv: cannot write' simscene scene.json -q --dt 0.001 --steps 1000000 --timings missing/times.csv -o out.npz # before the steps
    same_bytes one.npz four.npz "timings in the output"
    [ "$(wc -l < times.csv)" = 201 ] || fault "$(wc -l < times.csv) lines of timings"
    ending= done_well simverify one.npz
    mkdir again
    cp scene.json ball.obj again
    siminfo one.npz --script > again/remake
    (cd again && sh remake > /dev/null 2>&1) || fault "siminfo --script does not run"
    same_bytes one.npz again/one.npz "siminfo --script"
    no_faults
}

@test "a scene by any name, with files beside, below and above it, is the same and made again" {
    local name text
    ball
    mkdir parts deep again
    cp ball.obj parts
    text='{"contact": {"stiffness": 5000}, "models": {"ball": {"kind": "rigid", "density": 1000, "surface": "parts/ball.obj"}}, "bodies": [{"name": "ball", "model": "ball", "motion": "free"}]}'
    echo "$text" > below.json
    sed 's/parts/..\/parts/' below.json > deep/above.json
    sed 's/parts/parts\/..\/parts/' below.json > about.json
    cp below.json ./-below.json
    for name in below.json ./below.json .//./below.json "$PWD/below.json"; do
        simscene "$name" -q --steps 2 -o "one-${#name}.npz"
        same_bytes one-10.npz "one-${#name}.npz" "$name"
    done
    simscene ./-below.json -q --steps 2 -o dash.npz
    simscene deep/above.json -q --steps 2 -o above.npz
    (cd deep && simscene above.json -q --steps 2 -o ../inside.npz)
    same_bytes above.npz inside.npz 'from its own folder'
    for name in one-10 dash above; do
        siminfo --script $name.npz > again/remake
        rm -rf again/*/ again/*.obj again/*.json
        # what the script asks for
        grep '^#   ' again/remake | while read -r _ hash path; do
            mkdir -p "again/$(dirname -- "$path")"
            for file in ball.obj below.json ./-below.json deep/above.json; do
                [ "$(sha256sum < "$file" | cut -c 1-64)" != "$hash" ] || cp "$file" "again/$path"
            done
        done
        (cd again && sh remake > /dev/null 2>&1) || fault "$name: siminfo --script does not run"
        same_bytes $name.npz again/$name.npz "siminfo --script"
    done
    simscene about.json -q --steps 2 -o about.npz
    ending= refused 3 'siminfo: about.npz: .*no script can put the input "parts/../parts/ball.obj" anywhere' siminfo --script about.npz
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then # a name that is a folder
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" above.npz forged.npz 'meta["inputs"][1]["name"] = "../"' || fault forge.py
        refused 3 'siminfo: forged.npz: .*no script can put the input "../" anywhere' siminfo --script forged.npz
    fi
    no_faults
}

@test "a thousand balls take memory for those that are near, and the same bytes for any number of threads" {
    needs_plain_build "they take address space"
    ball
    pile='{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.1], "copies": {"count": [10, 10, 10], "spacing": [0.198, 0.199, 0.199]}}'
    scene '"stiffness": 2000, "damping": 20, "limit": 10, "friction": 0.4' "$FLOOR, ${BALL/\"pointshell\"/\"sphere\": {\"radius\": 0.1\}, \"pointshell\"}" "$pile"
    (ulimit -v 2000000 && done_well simscene scene.json --dt 0.001 --steps 20 --every 20 --contacts -t 1 -o one.npz)
    done_well simscene scene.json --dt 0.001 --steps 20 --every 20 --contacts -t 2 -o two.npz
    same_bytes one.npz two.npz threads
    holds one.npz "r['pairs_by_gradient'] == 1000 * 1000 and r['steps_in_contact'] == 20 and r['most_points_in_contact'] > 10000"
    no_faults
}

@test "coherence, trees and limits: what may change nothing changes nothing" {
    ball
    pair='{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.12]}'
    for traversal in '' '"coherence": false' '"tree": false' '"warm": 1'; do
        scene '"stiffness": 5000, "damping": 5' "$FLOOR, $BALL" "$pair" ", \"traversal\": {$traversal}"
        simscene scene.json -q --dt 0.001 --steps 400 -o run.npz
        simexport scene.json run.npz -q --to csv -o "run-${traversal//[^a-z]/}.csv"
        [ "$traversal" != '"tree": false' ] || cp run.npz run-tree.npz
    done
    # without the counts of nodes, which are the point of it
    for name in coherencefalse treefalse; do
        cmp -s <(cut -d, -f1-4,7,9- run-.csv) <(cut -d, -f1-4,7,9- run-$name.csv) || fault "$name changes the motion"
        cmp -s run-.csv run-$name.csv && fault "$name changes nothing at all"
    done
    holds run.npz "r['steps_cut_short'] > 0 and r['deepest_level'] < 5 and 0 < r['steps_in_contact_cut_short'] <= r['steps_in_contact']"
    holds run.npz "len(r['warnings']) == 1 and 'without contact.limit' in r['warnings'][0]"
    holds run-tree.npz "r['warnings'] == []"
    scene '"stiffness": 5000, "damping": 5, "limit": 10' "$FLOOR, $BALL" "$pair" ', "traversal": {"warm": 1}'
    simscene scene.json -q --dt 0.001 --steps 400 -o limited.npz
    holds limited.npz "r['steps_in_contact_cut_short'] > 0 and r['warnings'] == []"
    # a floor that is too soft to bear the ball
    scene '"stiffness": 0.01' "$FLOOR, $BALL" "$pair"
    simscene scene.json -q --dt 0.001 --steps 500 -o sunk.npz
    holds sunk.npz "r['steps_wholly_inside'] > 100 and r['most_points_in_contact'] == 4000 and any('ball is wholly inside of floor' in w for w in r['warnings'])"
    holds run-tree.npz "r['steps_wholly_inside'] == 0"
    no_faults
}

# come_to_rest HELD OTHER STEPS WHAT: scene.json without gravity, into rest.npz and rest.csv; in the end the hand's force and the contact's balance on the body that it holds, and the other
# one is pushed the other way round
come_to_rest() {
    local push
    sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
    done_well simscene scene.json --dt 0.002 --steps "$3" -o rest.npz
    simexport scene.json rest.npz -q --to csv -o rest.csv
    ending= done_well simverify rest.npz
    push=$(awk "BEGIN {printf \"%.17g\", -($(last "$1.fz" rest.csv))}")
    near "$(last coupling_fz rest.csv)" "$push" 0.05 "$4: balance"
    near "$(last "$2.fz" rest.csv)" "$push" 1e-9 "$4: action and reaction"
}

@test "a deformable body sags under a ball, gives way to a hand, and pushes back" {
    ball
    pointshell mesh.npz -q --basis basis.npz --points 8000 -o soft-shell.npz # closer than the ball's radius, or it slips in between
    printf 't,x,y,z,qw,qx,qy,qz\n0,2.8,0.5,1.2,1,0,0,0\n0.3,2.8,0.5,1,1,0,0,0\n1,2.8,0.5,1,1,0,0,0\n' > hand.csv
    soft='"soft": {"kind": "KIND", "mesh": "mesh.npz", "basis": "basis.npz", "polynomials": "poly.npz", "pointshell": "soft-shell.npz", "damping": [12, 0.01]}'
    part='"part": {"kind": "rigid", "sphere": {"radius": 0.1}}'
    for kind in reduced linear; do
        scene '"stiffness": 50000, "limit": 10' "${soft/KIND/$kind}, $part" '{"name": "soft", "model": "soft"}, {"name": "part", "model": "part", "motion": "coupled", "position": [2.8, 0.5, 1.2]}' \
            ', "coupling": {"kind": "static", "body": "part", "path": "hand.csv", "stiffness": 3000, "torque_stiffness": 10, "saturation": 200}'
        come_to_rest part soft 1000 "$kind"
        near "$(last device_fz rest.csv)" "$(awk "BEGIN {print -($(last coupling_fz rest.csv))}")" "$(awk "BEGIN {print 0.6 * $(last part.fz rest.csv)}")" "$kind: device"
        awk "BEGIN {exit !($(last part.fz rest.csv) > 20)}" || fault "$kind: the body pushes with $(last part.fz rest.csv) N"
        holds rest.npz "r['energy_last'][1] > 1e-3"
    done
    scene '"stiffness": 50000' "${soft/KIND/reduced}, $part" '{"name": "soft", "model": "soft"}'
    done_well simscene scene.json --dt 0.002 --steps 50 --integrator energy -o alone.npz
    no_faults
}

@test "a hand holds a deformable body, by points or by distances, or leads it along a path" {
    pointshell mesh.npz -q --basis basis.npz --points 8000 -o soft-shell.npz
    pointshell mesh.npz -q --basis basis.npz --points 30 --levels 1 -o proxies.npz
    distfield mesh.npz -q -n 32 -o soft-field.npz
    ball
    # what is pressed against it is above; the body is held where it stands and the hand lifts it by 0.2 m
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n0.3,0,0,0.2,1,0,0,0\n2,0,0,0.2,1,0,0,0\n' > lift.csv
    sed '2,$s/,0,0,/,2.8,0.5,/' lift.csv > hand.csv
    soft='"kind": "reduced", "mesh": "mesh.npz", "basis": "basis.npz", "polynomials": "poly.npz", "damping": [12, 0.01]'
    hand=', "coupling": {"kind": "static", "body": "soft", "path": "hand.csv", "grasp": [2.8, 0.5, 0], "stiffness": 3000, "torque_stiffness": 3000, "saturation": 200}'
    for by in points distances; do
        if [ $by = points ]; then
            models="\"soft\": {$soft, \"pointshell\": \"soft-shell.npz\"}, \"part\": {\"kind\": \"rigid\", \"sphere\": {\"radius\": 0.1}}"
        else
            models="\"soft\": {$soft, \"field\": \"soft-field.npz\", \"proxies\": \"proxies.npz\"}, \"part\": {\"kind\": \"rigid\", \"pointshell\": \"ball-shell.npz\"}"
        fi
        scene '"stiffness": 5000' "$models" '{"name": "soft", "model": "soft", "motion": "coupled"}, {"name": "part", "model": "part", "position": [2.8, 0.5, 1.2]}' "$hand"
        come_to_rest soft part 2500 "$by"
        awk "BEGIN {exit !($(last part.fz rest.csv) > 10)}" || fault "$by: pressed with $(last part.fz rest.csv) N"
        holds rest.npz "r['energy_last'][1] > 1e-3"
    done
    # led along the same path without a spring it is pressed harder
    soft_force=$(last part.fz rest.csv)
    scene '"stiffness": 5000' "$models" '{"name": "soft", "model": "soft", "motion": "path", "path": "lift.csv"}, {"name": "part", "model": "part", "position": [2.8, 0.5, 1.2]}'
    sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
    done_well simscene scene.json --dt 0.002 --steps 2500 -o led.npz
    simexport scene.json led.npz -q --to csv -o led.csv
    awk "BEGIN {exit !($(last part.fz led.csv) > $soft_force)}" || fault "led: $(last part.fz led.csv) N, held: $soft_force N"
    # a model of free bodies and others
    scene '"stiffness": 5000' "$models" '{"name": "soft", "model": "soft", "motion": "path", "path": "lift.csv"}, {"name": "other", "model": "soft", "motion": "free"}'
    refused 3 "scene.json: model soft has free bodies and others: a basis for the ones does not suit the others" simscene scene.json --dt 0.002 --steps 10 -o no.npz
    no_faults
}

@test "a hand holds whatever has distances and no points" {
    ball
    distfield ball.obj -q -n 32 -o ball-field.npz
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0.3,1,0,0,0\n0.1,0,0,0.25,1,0,0,0\n' > hand.csv
    for held in '"plane": {"normal": [0, 0, -1]}' '"voxmap": "ball-field.npz"' '"field": "ball-field.npz"' '"box": {"half": [0.1, 0.1, 0.1]}'; do
        scene '"stiffness": 2000, "limit": 10' "\"held\": {\"kind\": \"rigid\", $held}, \"still\": {\"kind\": \"rigid\", \"pointshell\": \"ball-shell.npz\"}" \
            '{"name": "held", "model": "held", "motion": "coupled", "position": [0, 0, 0.3]}, {"name": "still", "model": "still"}' \
            ', "coupling": {"kind": "static", "body": "held", "path": "hand.csv", "stiffness": 600, "torque_stiffness": 10}'
        done_well simscene scene.json --dt 0.001 --steps 100 -o held.npz
    done
    no_faults
}

@test "a coupling saturated by a permitted depth is one saturated by the force of a point there" {
    local saturation
    ball
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0.12,1,0,0,0\n0.1,0,0,-0.3,1,0,0,0\n' > hand.csv
    for saturation in '"saturation": 6' '"saturation_depth": 0.003' '"saturation": null'; do
        scene '"stiffness": 2000' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "coupled", "position": [0, 0, 0.12]}' \
            ", \"coupling\": {\"kind\": \"static\", \"body\": \"ball\", \"path\": \"hand.csv\", \"stiffness\": 600, \"torque_stiffness\": 10, $saturation}"
        done_well simscene scene.json --dt 0.001 --steps 300 -o "held-${saturation//[^a-z_]/}.npz"
        simexport scene.json "held-${saturation//[^a-z_]/}.npz" -q --to csv -o "held-${saturation//[^a-z_]/}.csv"
    done
    same_bytes held-saturation.csv held-saturation_depth.csv 'depth and force'
    holds held-saturation_depth.npz "-0.003 < r['lowest_distance'] < 0"
    if cmp -s held-saturation.csv held-saturationnull.csv; then fault "the coupling is not saturated"; fi
    no_faults
}

@test "a voxmap lets a fast ball through unless pulses brake it; a field does not" {
    ball
    distfield ball.obj -q -n 64 -o ball-field.npz
    for wall in '"voxmap": "ball-field.npz"' '"field": "ball-field.npz"'; do
        for pulse in null 0.5; do
            scene "\"stiffness\": 20000, \"limit\": 10, \"pulse\": $pulse" "\"wall\": {\"kind\": \"rigid\", $wall}, $BALL" '{"name": "wall", "model": "wall"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.25], "velocity": [0, 0, -2]}'
            sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
            if [ "${wall:1:1}-$pulse" = f-0.5 ]; then
                refused 3 'contact.pulse: it brakes points in the proximity voxels of a voxmap, and no points here meet one' simscene scene.json --steps 2 -o out.npz
                continue
            fi
            done_well simscene scene.json --dt 0.0005 --steps 300 -o "${wall:1:1}-$pulse.npz"
        done
    done
    holds v-null.npz "r['energy_last'][0] > 0.5 * r['energy_first'][0] and r['steps_in_contact'] > 0" # through the layer of surface voxels
    holds v-0.5.npz "r['energy_last'][0] < 0.01 * r['energy_first'][0]"
    holds f-null.npz "abs(r['energy_last'][0] / r['energy_first'][0] - 1) < 0.05 and r['steps_in_contact'] > 0" # it bounces
    # hit off its centre a ball that is heavy at one end is braked without gaining energy, and no contact without a force is recorded
    scene '"stiffness": 1e-9, "pulse": 0.1' '"wall": {"kind": "rigid", "voxmap": "ball-field.npz"}, "ball": {"kind": "rigid", "surface": "ball.obj", "mass": 1, "mass_centre": [0.09, 0, 0], "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0], "pointshell": "ball-shell.npz"}' \
        '{"name": "wall", "model": "wall"}, {"name": "ball", "model": "ball", "motion": "free", "position": [-0.05, 0, 0.19], "velocity": [0, 0, -3]}'
    sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
    done_well simscene scene.json --dt 0.0001 --steps 40 --contacts -o hit.npz
    holds hit.npz "r['energy_last'][0] < r['energy_first'][0] and r['energy_rise'] <= 0"
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        "$PYTHON" - << 'EOF' || fault "contacts without a force, or none at all"
import numpy as np
data = np.load("hit.npz")
force = np.concatenate([data[name] for name in data.files if name.startswith("contact/force/")])
assert len(force) > 0 and (np.linalg.norm(force, axis=1) > 0).all(), len(force)
EOF
    fi
    scene "\"stiffness\": 20000, \"limit\": 10, \"pulse\": 0.5" "\"wall\": {\"kind\": \"rigid\", \"voxmap\": \"ball-field.npz\"}, $BALL" '{"name": "wall", "model": "wall"}, {"name": "ball", "model": "ball", "motion": "fixed", "position": [0, 0, 0.25]}'
    sed -i 's/{"name": "wall", "model": "wall"}/{"name": "wall", "model": "wall", "motion": "path", "path": "p.csv"}/' scene.json
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n' > p.csv
    refused 3 'contact.pulse: neither ball nor wall has a mass' simscene scene.json --steps 2 -o out.npz
    no_faults
}

@test "a box with friction stays on a slope, slides down a steeper one, and stops on a level floor" {
    printf 'v -0.1 -0.1 -0.1\nv 0.1 -0.1 -0.1\nv 0.1 0.1 -0.1\nv -0.1 0.1 -0.1\nv -0.1 -0.1 0.1\nv 0.1 -0.1 0.1\nv 0.1 0.1 0.1\nv -0.1 0.1 0.1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > box.obj
    pointshell box.obj -q --points 600 -o box-shell.npz
    box='"box": {"kind": "rigid", "surface": "box.obj", "density": 250, "pointshell": "box-shell.npz"}'
    # gravity is turned instead of the floor: two boxes on each, without a speed and with 1 m/s
    for tangent in 0 0.35 0.6; do
        scene '"stiffness": 500, "damping": 3, "friction": 0.4' "$FLOOR, $box" '{"name": "floor", "model": "floor"}, {"name": "box", "model": "box", "motion": "free", "position": [0, 0, 0.0995], "copies": {"count": [1, 2, 1], "spacing": [0, 1, 0]}}, {"name": "fast", "model": "box", "motion": "free", "position": [0, 3, 0.0995], "velocity": [1, 0, 0]}'
        sed -i "s/\"gravity\": \[0, 0, -9.81\]/\"gravity\": [$(awk -v t=$tangent 'BEGIN {c = 1 / sqrt(1 + t ^ 2); printf "%.17g, 0, %.17g", 9.81 * t * c, -9.81 * c}')]/" scene.json
        done_well simscene scene.json --dt 0.001 --steps 3000 --every 1000 -o slope.npz
        ending= done_well simverify slope.npz
        mv slope.npz "slope-$tangent.npz"
    done
    holds slope-0.npz "r['energy_last'][0] < 1e-12 and r['energy_rise'] < 1e-9"
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "no NumPy: places are not compared"
    "$PYTHON" - << 'EOF' || fault "places"
import numpy as np

def way(tangent):  # [time, body] along the slope, of two boxes at rest at first and one with 1 m/s
    data = np.load(f"slope-{tangent}.npz")
    return np.concatenate([data[name] for name in data.files if name.startswith("pose/")])[:, 1:, 0]

flat, gentle, steep = way("0"), way("0.35"), way("0.6")
assert abs(flat[-1, 2] - 1 / (2 * 0.4 * 9.81)) < 2e-3, flat  # v^2 / (2 mu g), to what the springs give
assert (abs(flat[:, :2]) < 1e-4).all() and abs(flat[-1] - flat[1])[:2].max() < 1e-9, flat  # a box that lies only settles
assert (0 < gentle[1, :2]).all() and (gentle[1, :2] < 0.01).all() and abs(gentle[-1] - gentle[1])[:2].max() < 1e-9, gentle  # no creep in 2 s
c = 1 / np.sqrt(1.36)
assert abs(steep[3] - 2 * steep[2] + steep[1] - 9.81 * c * (0.6 - 0.4)).max() < 1e-4, steep  # g (sin - mu cos)
EOF
    no_faults
}

@test "what a moving floor gives counts as put in, what the steps make does not" {
    ball
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n1,0,0,3,1,0,0,0\n' > up.csv
    # a floor that rises with 3 m/s throws the ball; the rise of energy is the floor's work, but for what the contact holds meanwhile
    scene '"stiffness": 2000' "$FLOOR, $BALL" '{"name": "floor", "model": "floor", "motion": "path", "path": "up.csv"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.2]}'
    done_well simscene scene.json --dt 0.0001 --steps 3000 -o thrown.npz
    [[ $err != *energy* ]] || fault "thrown: $err"
    holds thrown.npz "r['energy_rise'] > 10 and abs(r['energy_last'][0] + r['energy_last'][2] - r['energy_first'][2] - r['work_of_paths']) < 0.01 * r['work_of_paths']"
    # contact that is too stiff for the step
    scene '"stiffness": 100000' "$FLOOR, $BALL" '{"name": "floor", "model": "floor", "motion": "path", "path": "up.csv"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.2]}'
    done_well simscene scene.json --dt 0.01 --steps 30 -o wild.npz
    [[ $err == *'J above its start and the work of paths'* ]] || fault "wild: $err"
    no_faults
}

@test "a block on a slope that is a distance field: along gradients as on a plane, and normals that lean are warned of" {
    printf 'v -2 -1 -0.5\nv 2 -1 -0.5\nv 2 1 -0.5\nv -2 1 -0.5\nv -2 -1 0\nv 2 -1 0\nv 2 1 0\nv -2 1 0\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > floor.obj
    distfield floor.obj -q -n 32 -o floor.npz
    printf 'v -0.2 -0.2 0\nv 0.2 -0.2 0\nv 0.2 0.2 0\nv -0.2 0.2 0\nv -0.2 -0.2 0.2\nv 0.2 -0.2 0.2\nv 0.2 0.2 0.2\nv -0.2 0.2 0.2\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > block.obj
    pointshell block.obj -q --points 600 -o block-shell.npz
    local way direction
    for way in '' '"direction": "normal",' '"direction": "gradient",'; do
        scene "$way"'"stiffness": 300, "damping": 1' '"floor": {"kind": "rigid", "field": "floor.npz"}, "block": {"kind": "rigid", "surface": "block.obj", "density": 500, "pointshell": "block-shell.npz"}' \
            '{"name": "floor", "model": "floor"}, {"name": "block", "model": "block", "motion": "free", "position": [-1, 0, -0.002]}'
        sed -i 's/"gravity": \[0, 0, -9.81\]/"gravity": [6.3057, 0, -7.515]/' scene.json # 40 degrees
        done_well simscene scene.json --dt 0.0005 --steps 800 --every 100 -o slide.npz
        case $way in
        '') [[ $err == *'normals leans away from the other body'*'state contact.direction'* ]] || fault "no warning: $err" ;;
        *) [[ $err != *leans* ]] || fault "$way: $err" ;;
        esac
        case $way in
        *gradient*) holds slide.npz "r['lean_of_normals'] == 0 and abs(r['energy_last'][0] - 16 * (6.3057 * 0.4) ** 2 / 2) < 0.5" ;; # 16 kg, g sin 40 for 0.4 s
        *) holds slide.npz "r['lean_of_normals'] > 0.1" ;;
        esac
    done
    no_faults
}

@test "mistakes in scenes and their files get one line" {
    ball
    one='{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free"}'
    scene '"stiffness": 100' "$FLOOR, $BALL" "$one"
    run() { refused "$@" simscene scene.json --dt 0.001 --steps 2 -o out.npz; }
    refused 2 'unknown option --model$' simscene scene.json --model reduced -o out.npz
    refused 2 'unknown option --loads$' simscene scene.json --loads loads.csv -o out.npz
    refused 2 '--integrator: "static" is not one of newmark.energy$' simscene scene.json --integrator static -o out.npz
    refused 2 'unknown option --contacts$' simulate mesh.npz --contacts -o out.npz
    refused 3 '^simscene: mesh.npz: ' simscene mesh.npz -o out.npz
    refused 3 '^simfull: scene.json: ' simfull scene.json -o out.npz
    refused 3 'no-such.json: cannot open' simscene no-such.json -o out.npz
    echo '{"models": ' > bad.json
    refused 3 'bad.json: line 2' simscene bad.json -o out.npz
    scene '"stiffness": 100, "pulse": 1' "$FLOOR, $BALL" "$one"
    run 3 'scene.json: contact.pulse: it brakes points in the proximity voxels of a voxmap, and no points here meet one'
    scene '"stiffness": 100' "$FLOOR, $BALL" "${one/free/flying}"
    run 3 'scene.json: bodies\[1\].motion: "flying"'
    scene '"stiffness": 100' "$FLOOR, ${BALL/ball-shell/none}" "$one"
    run 3 'none.npz: cannot open'
    scene '"stiffness": 100' "$FLOOR, ${BALL/ball-shell/mesh}" "$one"
    run 3 'mesh.npz'
    scene '"stiffness": 100' "$FLOOR, \"soft\": {\"kind\": \"reduced\", \"mesh\": \"twin.npz\", \"basis\": \"twin-basis.npz\", \"polynomials\": \"poly.npz\"}" '{"name": "soft", "model": "soft"}'
    run 3 'poly.npz: it was made from another mesh'
    scene '"stiffness": 100' "$FLOOR, \"soft\": {\"kind\": \"reduced\", \"mesh\": \"mesh.npz\", \"basis\": \"basis.npz\", \"polynomials\": \"poly.npz\", \"pointshell\": \"ball-shell.npz\"}" '{"name": "soft", "model": "soft"}'
    run 3 'ball-shell.npz: its points do not move'
    scene '"stiffness": 100' "$FLOOR, \"bad\": {\"kind\": \"rigid\", \"mesh\": \"mesh.npz\", \"field\": \"nosign.npz\"}" '{"name": "bad", "model": "bad"}'
    distfield mesh.npz -q -n 6 --sign none -o nosign.npz
    run 3 'nosign.npz: its distances have no sign'
    scene '"stiffness": 100, "normals": "tangents"' "$FLOOR, \"soft\": {\"kind\": \"reduced\", \"mesh\": \"mesh.npz\", \"basis\": \"basis.npz\", \"polynomials\": \"poly.npz\", \"pointshell\": \"plain.npz\"}" '{"name": "soft", "model": "soft"}'
    pointshell mesh.npz -q --basis basis.npz --points 60 -o plain.npz
    run 3 'plain.npz: it has no tangents'
    scene '"stiffness": 100, "friction": 0.5' "$FLOOR, ${BALL/\"pointshell\"/\"thickness\": 0.01, \"pointshell\"}" "$one, {\"name\": \"other\", \"model\": \"ball\"}"
    run 3 'scene.json: bodies with a thickness touch as balls, at places that no point keeps: friction needs points against distances'
    scene '"stiffness": 100, "direction": "gradient"' "\"wall\": {\"kind\": \"rigid\", \"voxmap\": \"ball-field.npz\"}, $BALL" '{"name": "wall", "model": "wall"}, {"name": "ball", "model": "ball", "motion": "free"}'
    distfield ball.obj -q -n 16 -o ball-field.npz
    run 3 'contact.direction: gradient, but the voxmap of wall has no distances'
    # a ball so deep in the floor that it is thrown out of all numbers: the body by its name
    scene '"stiffness": 1e308' "$FLOOR, $BALL" "${one/\"free\"/\"free\", \"position\": [0, 0, -1]}"
    run 5 'scene.json: body 1 \(ball\) could not take the step from 0 s on: '
    no_faults
}

@test "a scene with a billion steps takes no memory for them" {
    needs_plain_build "they take address space"
    (ulimit -v 2000000 && timeout 3 simscene scene.json --steps 1000000000 --every 1000000000 --dt 1e-6 -t 1 -q -o long.npz) 2> err || code=$?
    [ "$code" = 124 ] || fault "exit $code: $(< err)"
    simscene scene.json --steps 5000 --every 5000 --dt 1e-6 --timings times.csv -q -o short.npz || fault 'simscene --timings'
    [ "$(wc -l < times.csv)" = 5001 ] && [ "$(head -n 1 times.csv)" = step,seconds ] || fault "times.csv: $(wc -l < times.csv) lines"
    awk -F, 'NR > 1 && ($1 != NR - 1 || !($2 > 0)) {exit 1}' times.csv || fault 'times.csv: a line is not that of its step'
    no_faults
}
