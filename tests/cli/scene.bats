#!/usr/bin/env bats
# simscene: bodies in contact.

load common

# ball.obj, an octahedron whose vertices are moved onto a sphere of radius 0.1 m, and its pointshell.
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

@test "a ball falls along a parabola and rests at the depth that balances its weight" {
    ball
    scene '"stiffness": 20000, "damping": 40, "limit": 10' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.3], "velocity": [0.5, 0, 0]}'
    done_well simscene scene.json --dt 0.001 --steps 150 -o fall.npz
    done_well simexport scene.json fall.npz --to csv -o fall.csv
    # energies m v^2 / 2 and m g z after 0.15 s, with the mass of the polyhedron
    read -r kinetic gravity <<< "$(last kinetic fall.csv) $(last gravity fall.csv)"
    near "$(awk "BEGIN {print $kinetic / $gravity}")" "$(awk 'BEGIN {g = 9.81; t = 0.15; print (0.25 + (g * t) ^ 2) / 2 / (g * (0.3 - g * t * t / 2))}')" 1e-12 "a parabola"
    holds fall.npz "r['steps_in_contact'] == 0 and r['most_points_in_contact'] == 0 and r['lowest_distance'] is None" # the ball is never near the floor
    # Thesis eq. 3.2: the force is k L times the mean of d n_z over a cap of depth e. With u = cos in [1 - e/R, 1] that is k L e (1 - e/R / 3) / 2.
    scene '"stiffness": 2000, "damping": 40, "limit": 10' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.1]}'
    done_well simscene scene.json --dt 0.001 --steps 3000 --every 1000 -o rest.npz
    done_well simexport scene.json rest.npz --to csv -o rest.csv
    first=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "gravity") column = i} NR == 2 {print $column}' rest.csv)
    weight=$(awk "BEGIN {print $first / 0.1}")
    near "$weight" "$(awk 'BEGIN {print 9.81 * 1000 * 4 / 3 * 3.14159265358979 * 0.001}')" "$(awk "BEGIN {print 0.003 * $weight}")" "the weight" # the polyhedron has 0.2 % less than the ball
    near "$(last ball.fz rest.csv)" "$weight" "$(awk "BEGIN {print 0.03 * $weight}")" "the floor bears it" # points enter and leave contact as the ball rolls
    depth=$(awk "BEGIN {R = 0.1; F = $weight / (2000 * 10); e = 2 * F; for (i = 0; i < 50; i++) e = 2 * F / (1 - e / R / 3); print e}")
    near "$(awk "BEGIN {print 0.1 - $(last gravity rest.csv) / $weight}")" "$depth" "$(awk "BEGIN {print 0.05 * $depth}")" "the depth of thesis eq. 3.2" # of 85 points
    holds rest.npz "r['stiffest_contact'] < 4 and 40 < r['most_points_in_contact'] < 200"
    no_faults
}

@test "the same bytes for any number of threads and by the script of siminfo" {
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

@test "a scene by any path, with files beside, below and above it: the same bytes, also by the script of siminfo" {
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
        # the inputs that the script names
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
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then # an input whose name is a folder
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" above.npz forged.npz 'meta["inputs"][1]["name"] = "../"' || fault forge.py
        refused 3 'siminfo: forged.npz: .*no script can put the input "../" anywhere' siminfo --script forged.npz
    fi
    no_faults
}

@test "a thousand balls: memory for near pairs only, and the same bytes for any number of threads" {
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

@test "traversal without coherence or tree gives the same motion; node budgets are reported" {
    ball
    pair='{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.12]}'
    for traversal in '' '"coherence": false' '"tree": false' '"warm": 1'; do
        scene '"stiffness": 5000, "damping": 5' "$FLOOR, $BALL" "$pair" ", \"traversal\": {$traversal}"
        simscene scene.json -q --dt 0.001 --steps 400 -o run.npz
        simexport scene.json run.npz -q --to csv -o "run-${traversal//[^a-z]/}.csv"
        [ "$traversal" != '"tree": false' ] || cp run.npz run-tree.npz
    done
    # without the columns that count nodes
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
    # a floor that is too soft for the ball
    scene '"stiffness": 0.01' "$FLOOR, $BALL" "$pair"
    simscene scene.json -q --dt 0.001 --steps 500 -o sunk.npz
    holds sunk.npz "r['steps_wholly_inside'] > 100 and r['most_points_in_contact'] == 4000 and any('ball is wholly inside of floor' in w for w in r['warnings'])"
    holds run-tree.npz "r['steps_wholly_inside'] == 0"
    no_faults
}

# come_to_rest HELD OTHER STEPS WHAT: runs scene.json without gravity, into rest.npz and rest.csv. At the end the force of the hand and the contact
# force balance on the held body, and the other
# body feels the opposite contact force.
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
    pointshell mesh.npz -q --basis basis.npz --points 8000 -o soft-shell.npz # points closer than the radius of the ball, which would slip between them otherwise
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

@test "with the clutch held the device goes back, and the body stays" {
    # The device goes 0.1 m up within 0.5 s, back with the clutch held, and up again; likewise by a quarter of a turn about z. The manipulandum
    # never goes back: 0.2 m and half a turn. A path that begins with the clutch held leaves out its first motion.
    local up=0,0,0.1,0.70710678118654752,0,0,0.70710678118654752 down=0,0,0,1,0,0,0
    printf 't,x,y,z,qw,qx,qy,qz,clutch\n0,%s,0\n0.5,%s,1\n1,%s,0\n1.5,%s,0\n' $down $up $down $up > up.csv
    printf 't,x,y,z,qw,qx,qy,qz,clutch\n0,%s,1\n0.5,%s,0\n1,%s,1\n1.5,%s,1\n' $down $up $down $up > late.csv
    printf 't,x,y,z,qw,qx,qy,qz\n0,%s\n0.5,%s\n1,%s\n1.5,%s\n' $down $up $down $up > none.csv
    local brick='"brick": {"kind": "rigid", "box": {"half": [0.1, 0.1, 0.1]}, "mass": 1, "mass_centre": [0, 0, 0], "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}'
    coupled() { # coupled KIND PATH REST: its coupling has these further keys
        scene '"stiffness": 1000' "$brick" '{"name": "brick", "model": "brick", "motion": "coupled"}' \
            ", \"coupling\": {\"kind\": \"$1\", \"body\": \"brick\", \"path\": \"$2.csv\", \"stiffness\": 400, \"torque_stiffness\": 40, \"damping\": 40, \"torque_damping\": 1${3-}}"
        sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
    }
    step_of() { # the way of the body in the last step
        awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "brick.z") column = i} {before = now; now = $column} END {print now - before}' "$1"
    }
    moved() { # moved NAME Z HALF: the manipulandum and the body are there, with this half of an angle
        done_well simscene scene.json --dt 0.001 --steps 2500 -q -o "$1.npz"
        done_well simexport scene.json "$1.npz" --coordinates --to csv -o "$1.csv"
        near "$(last hand_z "$1.csv")" "$2" 1e-14 "$1: manipulandum"
        near "$(last hand_qz "$1.csv")" "$3" 1e-14 "$1: its rotation"
        near "$(last brick.z "$1.csv")" "$2" 1e-9 "$1: body"
        near "$(last brick.qz "$1.csv")" "$3" 1e-9 "$1: its rotation"
        near "$(step_of "$1.csv")" 0 1e-9 "$1: its last step"
    }
    for kind in static dynamic; do
        coupled $kind up
        moved up-$kind 0.2 1
        coupled $kind late
        moved late-$kind -0.1 -0.70710678118654752
        coupled $kind none ', "clutch": [[0.5, 1]]'
        moved key-$kind 0.2 1
        cmp <(cut -d, -f 2- up-$kind.csv) <(cut -d, -f 2- key-$kind.csv) || fault "$kind: the key is not the column"
        coupled $kind none ', "device_scale": 2, "clutch": [[0.5, 1]]' # lengths of the device are halved, angles are not
        moved scaled-$kind 0.1 1
        # Late in that time the body has come to rest: with its mass it overshoots as v t e^(-20 t), critically damped, from v = 0.2 m/s.
        coupled $kind up
        done_well simscene scene.json --dt 0.001 --steps 900 -q -o half.npz
        done_well simexport scene.json half.npz --coordinates --to csv -o half.csv
        near "$(last hand_z half.csv)" 0.1 1e-15 "$kind: the manipulandum with the clutch held"
        near "$(last brick.z half.csv)" 0.1 3e-5 "$kind: the body with the clutch held"
        near "$(step_of half.csv)" 0 5e-7 "$kind: its step with the clutch held"
    done
    # a column of zeros is no column
    sed '2,$s/1$/0/' up.csv > zero.csv
    coupled dynamic none
    moved none 0.1 0.70710678118654752
    coupled dynamic zero
    moved zero 0.1 0.70710678118654752
    cmp none.csv zero.csv || fault "a clutch that is never held changes something"

    local refused=(simscene scene.json --dt 0.001 --steps 5 -o out.npz)
    coupled static up ', "clutch": [[0.5, 1]]'
    refused 3 'up.csv: it has a clutch, and so has coupling.clutch of the scene, expected one of both' "${refused[@]}"
    coupled static none ', "clutch": [[0.5, 1], [0.75, 2]]'
    refused 3 'scene.json: coupling.clutch\[1\]: from 0.75 s, expected more than the end of the one before, 1 s' "${refused[@]}"
    coupled static bad
    sed '3s/1$/2/' up.csv > bad.csv
    refused 3 'bad.csv: line 3: clutch: 2, expected 0 or 1' "${refused[@]}"
    sed '3s/,1$//' up.csv > bad.csv
    refused 3 'bad.csv: line 3: 8 fields, expected 9 as before: all lines have a clutch or none' "${refused[@]}"
    scene '"stiffness": 1000' "$brick" '{"name": "brick", "model": "brick", "motion": "path", "path": "up.csv"}'
    refused 3 'up.csv: line 2: 9 fields, expected t,x,y,z,qw,qx,qy,qz: only the path of a coupling has a clutch' "${refused[@]}"
    scene '"stiffness": 1000' "$brick" '{"name": "brick", "model": "brick", "motion": "free", "clutch": [[0, 1]]}'
    refused 3 'scene.json: bodies\[0\].clutch: unknown key' "${refused[@]}"
    no_faults
}

@test "a hand holds a deformable body with points or with a distance field, or a path prescribes its motion" {
    pointshell mesh.npz -q --basis basis.npz --points 8000 -o soft-shell.npz
    pointshell mesh.npz -q --basis basis.npz --points 30 --levels 1 -o proxies.npz
    distfield mesh.npz -q -n 32 -o soft-field.npz
    ball
    # The body is held at its place below the other one, and the hand lifts it by 0.2 m.
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
    # prescribed along the same path, without the spring of the hand, it is pressed harder
    soft_force=$(last part.fz rest.csv)
    scene '"stiffness": 5000' "$models" '{"name": "soft", "model": "soft", "motion": "path", "path": "lift.csv"}, {"name": "part", "model": "part", "position": [2.8, 0.5, 1.2]}'
    sed -i 's/"gravity": \[0, 0, -9.81\], //' scene.json
    done_well simscene scene.json --dt 0.002 --steps 2500 -o led.npz
    simexport scene.json led.npz -q --to csv -o led.csv
    awk "BEGIN {exit !($(last part.fz led.csv) > $soft_force)}" || fault "led: $(last part.fz led.csv) N, held: $soft_force N"
    # one model for free bodies and others
    scene '"stiffness": 5000' "$models" '{"name": "soft", "model": "soft", "motion": "path", "path": "lift.csv"}, {"name": "other", "model": "soft", "motion": "free"}'
    refused 3 "scene.json: model soft has free bodies and others: a basis for the ones does not suit the others" simscene scene.json --dt 0.002 --steps 10 -o no.npz
    no_faults
}

@test "a hand holds a body that has distances and no points" {
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

# cuboid X Y Z HEIGHT: half its sides, and the height of its centre, as a surface
cuboid() {
    awk -v a="$1" -v b="$2" -v c="$3" -v s="$4" 'BEGIN {
        for (k = -1; k < 2; k += 2) for (j = -1; j < 2; j += 2) for (i = -1; i < 2; i += 2) print "v", i * a, j * b, k * c + s
        print "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6" }'
}

@test "static coupling comes to rest in equilibrium for every direction, derivative and saturation" {
    cuboid .1 .07 .05 0 > b.obj
    cuboid 1 .5 .2 -.2 > big.obj
    done_well pointshell b.obj -q --points 400 -o b-shell.npz
    done_well distfield big.obj -q -n 64 -o big.npz
    printf '%s\n' 0,0,0,0.06,1,0,0,0 0.5,0,0,0.06,1,0,0,0 1,0,0,0.03,0.95,0.2,0.1,0 > near.csv
    printf '%s\n' 0,0,0,0.06,1,0,0,0 0.5,0,0,0.06,1,0,0,0 1,0,0,-0.2,0.95,0.2,0.1,0 > deep.csv
    press() { # press OBSTACLE DIRECTION HAND KEYS
        scene "\"stiffness\": 2000, \"direction\": \"$2\"" "\"g\": {\"kind\": \"rigid\", $1}, \"b\": {\"kind\": \"rigid\", \"surface\": \"b.obj\", \"density\": 800, \"pointshell\": \"b-shell.npz\"}" \
            '{"name": "g", "model": "g"}, {"name": "b", "model": "b", "motion": "coupled", "position": [0, 0, 0.06]}' \
            ", \"coupling\": {\"kind\": \"static\", \"body\": \"b\", \"path\": \"$3.csv\", \"stiffness\": 400, \"torque_stiffness\": 3$4}"
        done_well simscene scene.json --dt 0.001 --steps 2500 -o s.npz
        done_well simexport scene.json s.npz --coordinates --to csv -o s.csv
        # at most 1 % of the size, 0.132 m, in a cycle; contact and spring balance to a thousandth of the 2 N of the weakest spring
        awk -F, -v what="$*" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
            NR > 2 {move = sqrt(($at["b.x"] - x) ^ 2 + ($at["b.y"] - y) ^ 2 + ($at["b.z"] - z) ^ 2); if (move > most) most = move}
            {x = $at["b.x"]; y = $at["b.y"]; z = $at["b.z"]}
            END {
                left = sqrt(($at["b.fx"] + $at["coupling_fx"]) ^ 2 + ($at["b.fy"] + $at["coupling_fy"]) ^ 2 + ($at["b.fz"] + $at["coupling_fz"]) ^ 2)
                if (most > 0.00134 || move > 1e-6 || left > 2e-3) { print what ": moves by " most " m, at last " move " m, " left " N are left"; exit 1 }
            }' s.csv
    }
    for direction in normal gradient; do
        for gradient in normal field; do
            for keys in '"saturation_depth": 0.001' '"saturation": 2' '"torque_saturation": 0.2' '"saturation_depth": 0.001, "torque_saturation": 0.05' '"saturation_depth": 0.005' '"length": 0'; do
                press '"field": "big.npz"' $direction near ", \"gradient\": \"$gradient\", $keys"
            done
            for obstacle in '"plane": {"normal": [0, 0, 1]}' '"field": "big.npz"'; do
                press "$obstacle" $direction deep ", \"gradient\": \"$gradient\", \"saturation_depth\": 0.002, \"torque_saturation\": 0.2"
            done
        done
    done
}

@test "a body that passes through a thin one in a step is reported, with a step in which it does not" {
    cuboid .5 .5 .5 0 > cube.obj
    done_well pointshell cube.obj -q --points 60 -o cube-shell.npz
    through() { # through SPEED STEP STEPS
        scene '"stiffness": 20000' '"cube": {"kind": "rigid", "surface": "cube.obj", "density": 100, "pointshell": "cube-shell.npz"}, "plate": {"kind": "rigid", "box": {"half": [50, 50, 0.002]}}' \
            "{\"name\": \"b\", \"model\": \"cube\", \"motion\": \"free\", \"position\": [0, 0, 3], \"velocity\": [0, 0, $1]}, {\"name\": \"f\", \"model\": \"plate\"}"
        sed -i 's/-9.81/0/' scene.json
        done_well simscene scene.json --dt "$2" --steps "$3" --every 100 -o t.npz
    }
    through -20 0.01 200
    [[ $err == *'b passed through f without contact in '*'points moved by 0.2 m in a step through a body that is 0.004 m thick: shorten --dt to 0.0001'* ]] || fault "$err"
    holds t.npz "r['steps_passed_through'] > 0"
    through -20 0.0001 1300 # 2.6 m: contact begins after 2.5 m, and points are seen on their way
    [[ $err != *'passed through'* ]] || fault "$err"
    through 20 0.01 200 # away from it
    holds t.npz "r['steps_passed_through'] == 0"
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
    # A ball that is heavier at one end is braked off its centre without gaining energy, and only contacts with a force are recorded.
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
    # gravity is rotated instead of the floor; two boxes at rest and one with 1 m/s on each slope
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
assert abs(flat[-1, 2] - 1 / (2 * 0.4 * 9.81)) < 2e-3, flat  # v^2 / (2 mu g), within the deflection of the springs
assert (abs(flat[:, :2]) < 1e-4).all() and abs(flat[-1] - flat[1])[:2].max() < 1e-9, flat  # a box at rest only settles
assert (0 < gentle[1, :2]).all() and (gentle[1, :2] < 0.01).all() and abs(gentle[-1] - gentle[1])[:2].max() < 1e-9, gentle  # no creep in 2 s
c = 1 / np.sqrt(1.36)
assert abs(steep[3] - 2 * steep[2] + steep[1] - 9.81 * c * (0.6 - 0.4)).max() < 1e-4, steep  # g (sin - mu cos)
EOF
    no_faults
}

@test "the work of a moving floor is counted, energy from unstable steps is reported" {
    ball
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n1,0,0,3,1,0,0,0\n' > up.csv
    # A floor that rises at 3 m/s throws the ball. The increase in energy is the work of the floor, except for the energy stored in the contact.
    scene '"stiffness": 2000' "$FLOOR, $BALL" '{"name": "floor", "model": "floor", "motion": "path", "path": "up.csv"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.2]}'
    done_well simscene scene.json --dt 0.0001 --steps 3000 -o thrown.npz
    [[ $err != *energy* ]] || fault "thrown: $err"
    holds thrown.npz "r['energy_rise'] > 10 and abs(r['energy_last'][0] + r['energy_last'][2] - r['energy_first'][2] - r['work_of_paths']) < 0.01 * r['work_of_paths']"
    # a contact stiffness that is too large for the step
    scene '"stiffness": 100000' "$FLOOR, $BALL" '{"name": "floor", "model": "floor", "motion": "path", "path": "up.csv"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.2]}'
    done_well simscene scene.json --dt 0.01 --steps 30 -o wild.npz
    [[ $err == *'J above its start and the work of paths'* ]] || fault "wild: $err"
    no_faults
}

@test "the default stiffness supports the heaviest body at the stated depth, and a body that sinks is reported" {
    local body size k step
    ball
    printf 'v -0.1 -0.1 -0.1\nv 0.1 -0.1 -0.1\nv 0.1 0.1 -0.1\nv -0.1 0.1 -0.1\nv -0.1 -0.1 0.1\nv 0.1 -0.1 0.1\nv 0.1 0.1 0.1\nv -0.1 0.1 0.1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > box.obj
    pointshell box.obj -q --method vertices -o box-shell.npz
    box='"box": {"kind": "rigid", "surface": "box.obj", "density": 250, "pointshell": "box-shell.npz"}' # 2 kg
    small='"small": {"kind": "rigid", "box": {"half": [0.2, 0.03, 0.2]}}'                                # the smallest body: 0.06 m
    bodies='{"name": "floor", "model": "floor"}, {"name": "small", "model": "small", "position": [5, 0, 5]}, {"name": "box", "model": "box", "motion": "free", "position": [0, 0, 0.1]}'
    # It rests on four corners, whose depth is three quarters of 1 % of 0.06 m.
    scene '"damping": 10' "$FLOOR, $small, $box" "$bodies"
    done_well simscene scene.json --dt 0.001 --steps 2000 --every 1000 -o rest.npz
    [[ $err == *'contact.stiffness is 1.09e+04 N/m: box (2 kg) rests on 3 points at a depth of 0.0006 m, 1 % of the size of small'* ]] || fault "$err"
    k=$(awk 'BEGIN { printf "%.17g", 2 * 9.81 / (3 * 0.01 * 0.06) }')
    # the time step of the remark is the limit of stability on four corners: h^2 4 k / m + 2 h 4 c / m = 4
    step=$(sed -n 's/.*stable with --dt up to \([^ ]*\) while box.*/\1/p' <<< "$err")
    near "$step" "$(awk "BEGIN { A = 4 * $k / 2; B = 4 * 10 / 2; print (-B + sqrt(B * B + 4 * A)) / A }")" 1e-3 'the step'
    holds rest.npz "abs(r['contact_stiffness'] / $k - 1) < 1e-12 and r['warnings'] == [] and r['stiffest_contact'] < 4"
    done_well simexport scene.json rest.npz --to csv -o rest.csv
    near "$(last gravity rest.csv)" "$(awk 'BEGIN { printf "%.12g", 2 * 9.81 * (0.1 - 0.75 * 0.0006) }')" 1e-9 'its depth'
    # The same stiffness given explicitly has the same motion. contact.limit replaces the three points.
    "$PYTHON" - rest.npz > stated.txt <<-'END'
	import json, sys, zipfile
	data = zipfile.ZipFile(sys.argv[1]).read('result.npy')
	print(repr(json.loads(data[10 + data[8] + 256 * data[9]:])['contact_stiffness']))
	END
    scene "\"damping\": 10, \"stiffness\": $(cat stated.txt)" "$FLOOR, $small, $box" "$bodies"
    done_well simscene scene.json --dt 0.001 --steps 2000 --every 1000 -o stated.npz
    [[ $err != *'contact.stiffness is'* ]] || fault "stated: $err"
    done_well simexport scene.json stated.npz --to csv -o stated.csv
    same_bytes rest.csv stated.csv 'the number stated'
    scene '"limit": 2' "$FLOOR, $small, $box" "$bodies"
    done_well simscene scene.json --dt 0.0005 --steps 2 -o limit.npz
    holds limit.npz "abs(r['contact_stiffness'] / $k - 1.5) < 1e-12"
    # a scene without "contact"
    scene '"stiffness": 1' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.3]}'
    sed -i 's/"contact": {"stiffness": 1}, //' scene.json
    done_well simscene scene.json --dt 0.0005 --steps 1500 -o drop.npz
    holds drop.npz "r['warnings'] == [] and r['steps_in_contact'] > 0 and 0.005 < r['penetration_by_size'] < 0.1 and abs(r['penetration_by_size'] * 0.2 + r['lowest_distance']) < 1e-4"
    # a ball of 42 kg on ten points of 2000 N/m sinks, with a warning
    scene '"stiffness": 2000, "damping": 40, "limit": 10' "$FLOOR, ${BALL/1000/10000}" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball", "motion": "free", "position": [0, 0, 0.1]}'
    done_well simscene scene.json --dt 0.001 --steps 1000 -o sunk.npz
    [[ $err == *'ball sinks 0.0'*' m deep into floor at '*' % of the size of the smaller one: raise contact.stiffness or contact.limit, or leave it out'* ]] || fault "$err"
    holds sunk.npz "0.1 < r['penetration_by_size'] < 0.5 and len(r['warnings']) == 1"
    # scenes without a free body or without gravity have no default stiffness
    scene '"damping": 1' "$FLOOR, $BALL" '{"name": "floor", "model": "floor"}, {"name": "ball", "model": "ball"}'
    refused 3 'scene.json: contact.stiffness: it is not there, and no body is free' simscene scene.json --steps 2 -o out.npz
    sed -i 's/"gravity": \[0, 0, -9.81\], //; s/"model": "ball"}/"model": "ball", "motion": "free"}/' scene.json
    refused 3 'scene.json: contact.stiffness: it is not there, and gravity is 0' simscene scene.json --steps 2 -o out.npz
    no_faults
}

# The contact law equals that of simfull --ground under the conditions of docs/contact.md. The remaining difference is the error of the basis.
@test "a reduced bounce converges to the full-order one as the basis grows" {
    local r law='"stiffness": 30000'
    needs_plain_build 'it takes long'
    needs_numpy
    python3 "$SUPPLE_SOURCE/samples/spoon/model.py" > spoon.obj
    voxelize spoon.obj -q -n 24 --young 2e7 --poisson 0.42 --density 905 -o loose.npz
    modes loose.npz -q -k 24 -o modes.npz
    modalderiv loose.npz modes.npz -q -o deriv.npz
    done_well simfull loose.npz --gravity 0,0,-9.81 --ground 0,0,1,-0.3 --ground-stiffness 30000 --ground-alpha 0 --dt 0.0005 --steps 800 --every 8 -q -o full.npz
    for r in 6 15 40; do
        masspca loose.npz modes.npz deriv.npz -q -r $r -o basis-$r.npz
        polycoef loose.npz basis-$r.npz -q -o poly.npz
        pointshell loose.npz -q --basis basis-$r.npz --method vertices --boundary --offset 0 -o shell.npz
        scene "$law" '"floor": {"kind": "rigid", "plane": {"normal": [0, 0, 1], "offset": -0.3}}, "spoon": {"kind": "reduced", "mesh": "loose.npz", "basis": "basis-'$r'.npz", "polynomials": "poly.npz", "pointshell": "shell.npz"}' \
            '{"name": "floor", "model": "floor"}, {"name": "spoon", "model": "spoon", "motion": "free"}'
        done_well simscene scene.json --dt 0.0005 --steps 800 --every 8 -q -o reduced-$r.npz
        holds reduced-$r.npz "r['warnings'] == [] and r['steps_in_contact'] > 20 and r['stiffest_contact'] < 4"
    done
    "$PYTHON" - <<-'END' || fault 'the curves'
	import numpy as np

	def column(data, name):
	    return np.concatenate([data[n] for n in sorted(data.files) if n.startswith(name + '/')])

	full, rest = np.load('full.npz'), np.load('loose.npz')['vertices']
	tip = rest[:, 0].argmax()
	u = column(full, 'u').reshape(101, -1, 3)
	tip_height, fall = u[:, tip, 2], -column(full, 'energy')[:, 2]  # -work of gravity: m g times the height of the centre of mass
	errors = []
	for r in 6, 15, 40:
	    data, U = np.load(f'reduced-{r}.npz'), np.load(f'basis-{r}.npz')['U']
	    pose, q, energy = column(data, 'pose')[:, 1], column(data, 'q'), column(data, 'energy')
	    local = rest[tip] + q @ U[3 * tip:3 * tip + 3].T
	    w, v = pose[:, 3], pose[:, 4:]
	    turned = local + 2 * np.cross(v, np.cross(v, local) + w[:, None] * local)
	    height, gravity = pose[:, 2] + turned[:, 2] - rest[tip, 2], energy[:, 2] - energy[0, 2]
	    errors.append((np.abs(gravity - fall).max() / -fall.min(), np.linalg.norm(height - tip_height) / np.linalg.norm(tip_height)))
	print(errors)
	fall, tip = zip(*errors)
	assert fall[0] > 2 * fall[1] > 4 * fall[2] and fall[2] < 0.05 and tip[0] > tip[1] > 2 * tip[2], errors
	END
    no_faults
}

@test "a block on a slope given by a distance field: forces along gradients as on a plane, and a warning about tilted normals" {
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
    scene '"stiffness": 100' "$FLOOR, "'"arm": {"kind": "linear", "mesh": "mesh.npz", "basis": "deriv.npz", "polynomials": "poly.npz"}' '{"name": "arm", "model": "arm"}'
    run 3 'deriv.npz: it is a file of kind derivatives, expected basis or modes or snapshots'
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
    # a ball so deep in the floor that its motion overflows: the message names the body
    scene '"stiffness": 1e308' "$FLOOR, $BALL" "${one/\"free\"/\"free\", \"position\": [0, 0, -1]}"
    run 5 'scene.json: body 1 \(ball\) could not take the step from 0 s on: '
    no_faults
}

@test "a scene with a billion steps takes no memory for future steps" {
    needs_plain_build "they take address space"
    (ulimit -v 2000000 && timeout 3 simscene scene.json --steps 1000000000 --every 1000000000 --dt 1e-6 -t 1 -q -o long.npz) 2> err || code=$?
    [ "$code" = 124 ] || fault "exit $code: $(< err)"
    simscene scene.json --steps 5000 --every 5000 --dt 1e-6 --timings times.csv -q -o short.npz || fault 'simscene --timings'
    [ "$(wc -l < times.csv)" = 5001 ] && [ "$(head -n 1 times.csv)" = step,seconds ] || fault "times.csv: $(wc -l < times.csv) lines"
    awk -F, 'NR > 1 && ($1 != NR - 1 || !($2 > 0)) {exit 1}' times.csv || fault 'times.csv: a line is not that of its step'
    no_faults
}

@test "a scene of many bodies says before its steps what it takes" {
    local count stated bytes
    for count in 5 11; do
        cat > many.json <<-END
	{"gravity": [0, 0, -9.81], "contact": {"stiffness": 20000}, "models": {
	 "ball": {"kind": "rigid", "surface": "bar.obj", "density": 100, "pointshell": "shell.npz", "field": "field.npz"}},
	 "bodies": [{"name": "b", "model": "ball", "motion": "free", "position": [0, 0, 3],
	  "copies": {"count": [$count, 91, 10], "spacing": [8, 4, 4]}}]}
	END
        simscene many.json --dt 0.001 --steps 4 --every 2 -o many.npz 2> err || fault "$(< err)"
        [ $count = 11 ] || ! grep -q 'GB of memory' err || fault "$(< err)"
    done
    # pose, twist and wrench of a frame are 19 numbers for each body; frames of steps 0, 2 and 4
    stated=$(sed -n 's/^simscene: 10010 bodies take [0-9.e-]* GB of memory, and 3 frames of them \([0-9.e-]*\) GB in the output.*--every keeps fewer$/\1/p' err)
    # of two frames more, without the names of the bodies
    simscene many.json --dt 0.001 --steps 4 -q -o more.npz 2> err2 || fault "$(< err2)"
    bytes=$(($(stat -c %s more.npz) - $(stat -c %s many.npz)))
    awk -v s="$stated" -v b="$bytes" 'BEGIN { exit !(s > 0 && s * 1e9 > 0.95 * 1.5 * b && s * 1e9 < 1.05 * 1.5 * b) }' || fault "$stated GB of $bytes bytes: $(< err)"
    # a small one whose motion is long
    simscene scene.json --dt 0.001 --steps 100000000 -o many.npz 2> err &
    number=$!
    for _ in $(seq 500); do
        ! grep -q 'GB of memory' err || break
        sleep 0.02
    done
    kill $number
    wait $number || true
    grep -q ' bodies take .* GB of memory, and 100000001 frames of them ' err || fault "$(< err)"
    no_faults
}

@test "texts that the fuzzers start from have every key of scenes and skeletons, and are such texts" {
    python3 - "$SUPPLE_SOURCE" <<-'END' || fault 'keys are missing'
	import json, sys
	def properties(schema):
	    if isinstance(schema, dict):
	        return set(schema.get('properties', {})).union(*map(properties, schema.values()))
	    return set().union(*map(properties, schema)) if isinstance(schema, list) else set()
	def keys(value):
	    if isinstance(value, dict):
	        return set(value).union(*map(keys, value.values()))
	    return set().union(*map(keys, value)) if isinstance(value, list) else set()
	read = lambda name: json.load(open('%s/%s.json' % (sys.argv[1], name)))
	for schema, seeds in ('scene', ('scene', 'joints')), ('skeleton', ('skeleton',)):
	    known, used = properties(read('formats/%s.schema' % schema)), set().union(*(keys(read('tests/fuzz/' + s)) for s in seeds))
	    assert len(known) > 20 and not known - used, (schema, sorted(known - used))
	END
    # the text is taken; what it names is not there
    for seed in scene joints; do
        cp "$SUPPLE_SOURCE/tests/fuzz/$seed.json" seed.json
        refused 3 '^simscene: [a-z-]*.npz: cannot open: ' simscene seed.json --steps 1 -o out.npz
    done
    cp "$SUPPLE_SOURCE/tests/fuzz/skeleton.json" seed.json
    refused 3 '^simskin: seed.json: bones.0..regions.0.: "humerus" is no region, ' simskin mesh.npz seed.json -o out.npz
    no_faults
}
