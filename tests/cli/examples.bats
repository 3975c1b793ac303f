#!/usr/bin/env bats
# The examples of --help and of the manual pages. Each runs in a folder with a small model under the names that examples use. Their files do
# not always fit together there, so that some end with unusable input (3), but none may be a usage error (2), and most have to work.

load common

setup_file() {
    export MODEL=$BATS_FILE_TMPDIR/model
    mkdir "$MODEL"
    cd "$MODEL"
    cp "$DATA"/{bar.obj,block.veg,block.bou} .
    voxelize bar.obj -q -n 8 --fill --fix-half-space 1,0,0,0.05 -o spoon.npz
    voxelize bar.obj -q -n 5 --fill -o free.npz
    modes spoon.npz -q -k 20 -o modes.npz
    modalderiv spoon.npz modes.npz -q --first 5 -o deriv.npz 2> /dev/null || modalderiv spoon.npz modes.npz -q -o deriv.npz
    masspca spoon.npz modes.npz deriv.npz -q -r 20 -o basis.npz
    polycoef spoon.npz basis.npz -q -o poly.npz
    cubature spoon.npz basis.npz -q --poses 20 -n 10 -o cub.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,vertex,120,0,5,-3\n' > pull.csv
    cp "$DATA"/sketch.csv .
    simulate spoon.npz -q --basis basis.npz --poly poly.npz --loads pull.csv --dt 0.01 --steps 210 -o traj.npz
    simulate spoon.npz -q --basis basis.npz --poly poly.npz --loads pull.csv --dt 0.01 --steps 16 -r 8 -o reduced.npz
    simfull spoon.npz -q --loads pull.csv --dt 0.01 --steps 16 -o full.npz
    distfield bar.obj -q -n 12 -o field.npz
    pointshell spoon.npz -q --basis basis.npz --normals tangents --points 60 -o shell.npz
    modes spoon.npz -q -k 3 --write-stiffness K.npz --write-mass M.npz -o few.npz
    "$PYTHON" "$BATS_TEST_DIRNAME/tensor.py" K.npz hessian.npz
    simexport spoon.npz -q -o bridge.veg
    simexport spoon.npz -q -o bridge.bou
    simexport basis.npz -q -o bridge.U
    simexport poly.npz -q -o bridge.cub
    simexport spoon.npz basis.npz traj.npz -q --probe 120 -o tip.csv
    cp tip.csv tips.csv
    simexport spoon.npz full.npz -q --probe 120 -o full.csv
    cp tip.csv reduced.csv
    cat > scene.json <<'END'
{"gravity": [0, 0, -9.81],
 "models": {"ball": {"kind": "rigid", "mesh": "free.npz", "pointshell": "ball.npz"},
            "floor": {"kind": "rigid", "plane": {"normal": [0, 0, 1], "offset": -0.1}}},
 "bodies": [{"name": "ball", "model": "ball", "motion": "free"}, {"name": "floor", "model": "floor"}]}
END
    pointshell free.npz -q --points 40 -o ball.npz
    printf '0,0.1,vertex,near:0,0,0,0,20000,8000\n' > knock.csv
    simfull free.npz -q --loads knock.csv --steps 20 -o flight.npz
    simscene scene.json -q --dt 0.001 --steps 20 -o motion.npz
    local name
    simcut spoon.npz -q --plane 1,0,0,1.5 -o scan.npz # two pieces
    mv motion.npz scene-motion.npz
    for name in bridge dragon cube; do
        cp spoon.npz $name.npz
        cp bar.obj $name.obj
    done
    for name in blade column walker; do cp spoon.npz $name.npz; done
    for name in skeleton.json root.csv tip.csv; do cp "$DATA/$name" .; done
    mv tip.csv bend.csv
    sed 's/tip.csv/bend.csv/' skeleton.json > walk.json
    simexport spoon.npz basis.npz traj.npz -q --probe 120 -o tip.csv
    printf 'fx:1,fy:1,fz:1\nnormal(0,0.5),normal(0,0.5),normal(-1,0.5)\n' > pulls.csv
    simbatch spoon.npz -q --basis basis.npz --poly poly.npz --loads pull.csv --table pulls.csv --motions 5 --dt 0.01 --steps 100 --record probes --probe 12 -o pulls.npz
    simstat pulls.npz -q --table psd -o psd.csv
    simskin walker.npz walk.json -q --write-fixed held.npz -o skin.npz
    for name in push turn; do cp pull.csv $name.csv; done
    simfull spoon.npz -q --integrator static --loads pull.csv --steps 1 --dt 0.01 -o static.npz
    simfull spoon.npz -q --integrator static --model linear --loads pull.csv --steps 1 --dt 0.01 -o linear.npz
    cp spoon.npz tree.npz
    simpart tree.npz -q --parts 2 -o parts.npz
    simpart tree.npz parts.npz -q --extract 1 --name-parent -o domain.npz
    modes domain.npz -q --interface 'interface-*' -k 4 -o craig-bampton.npz
    cp bar.obj spoon.obj
    cp modes.npz modes-before.npz
    cp basis.npz other-basis.npz
    cp field.npz dragon-field.npz
    for name in 50 100; do cp cub.npz $name.npz; done
}

# The commands of the text on stdin, one to a line, without those of Makefiles and loops, whose variables have no values here.
joined() {
    sed -e ':a' -e '/\(\\\|&&\||\)$/N; s/\\\n */ /; s/\(&&\||\)\n */\1 /; ta' | grep -vF '$' | sed 's/^ *//; s/ *#.*//' | grep -E "^($(tools | tr ' ' '|')|supple-plot) " || true
}

help_examples() {
    local tool
    for tool in $(tools); do
        sed -n '/^Examples:/,/^Exit:/p' "$HELP/$tool" | sed '1d;$d' | joined
    done
}

manual_examples() {
    local page
    for page in "$SUPPLE_SOURCE"/man/*.[17]; do
        awk '/^\.Sh/ { on = $2 == "EXAMPLES" } !on { next } /^\.Bd/ { code = 1; next } /^\.Ed/ { code = 0; next } code' "$page" |
            sed 's/\\-/-/g; s/\\e/\\/g; s/\\(dq/"/g; s/\\(aq/'"'"'/g' | joined
    done
}

# run_all FEWEST MOST-FAILURES: runs the commands on stdin.
run_all() { # "this build …" says what a build has been configured without
    local command code count=0 failed=0 seconds=2
    [ -n "${SUPPLE_ALL-}" ] || seconds=0.6
    while IFS= read -r command; do
        case $command in *'...'* | *simserve* | *jq*) continue ;; esac
        rm -rf one
        cp -r "$MODEL" one
        # motion.npz is the motion of a scene where the command names a scene
        case $command in *scene.json* | 'simexport motion.npz'*) cp one/scene-motion.npz one/motion.npz ;; *) cp one/traj.npz one/motion.npz ;; esac
        count=$((count + 1))
        code=0
        # what is wrong with a command shows at once; a long computation need not end
        (cd one && exec timeout "$seconds" bash -c "$command") > said 2>&1 < /dev/null || code=$?
        case $code in
        0 | 1 | 124) ;;
        3 | 4 | 5) failed=$((failed + 1)) && echo "$command" >> unusable ;; # to look at
        2) grep -q -e 'surface vertex 3320 of 8' -e 'this build' said || fault "$command: exit 2: $(tail -n 2 said)" ;; # a surface vertex of the real spoon
        *) fault "$command: exit $code: $(tail -n 2 said)" ;;
        esac
    done
    [ $count -ge "$1" ] || fault "only $count examples"
    [ $failed -le "$2" ] || fault "$failed of $count examples have unusable input"
}

@test "examples of --help" {
    help_examples > examples
    run_all 65 16 < examples
    no_faults
}

@test "examples of manual pages" {
    manual_examples | sort -u > all
    help_examples | sort -u > known
    comm -23 all known > examples
    run_all 60 42 < examples
    no_faults
}

@test "the surface of the wire faces outward" {
    # The volume by the divergence theorem: that of a cylinder of 3 mm radius along its axis of 1.64 m, less what the 12 sides cut off.
    python3 "$SUPPLE_SOURCE/samples/wire/model.py" | awk '
        function det(a, b, c) {
            return x[a] * (y[b] * z[c] - z[b] * y[c]) + y[a] * (z[b] * x[c] - x[b] * z[c]) + z[a] * (x[b] * y[c] - y[b] * x[c])
        }
        $1 == "v" { n++; x[n] = $2; y[n] = $3; z[n] = $4 }
        $1 == "f" { volume += det($2, $3, $4) / 6 }
        END { exit !(volume > 0.9 * 4.6e-5 && volume < 1.05 * 4.6e-5) }' || fault 'it faces inward'
    no_faults
}

@test "all 54 parts of the dragon face outward" {
    # A part is closed and has vertices of its own, which follow those of the parts before it.
    python3 "$SUPPLE_SOURCE/samples/dragon/model.py" | awk '
        function det(a, b, c) {
            return x[a] * (y[b] * z[c] - z[b] * y[c]) + y[a] * (z[b] * x[c] - x[b] * z[c]) + z[a] * (x[b] * y[c] - y[b] * x[c])
        }
        function least(a, b, c) { return a < b ? (a < c ? a : c) : (b < c ? b : c) }
        function most(a, b, c) { return a > b ? (a > c ? a : c) : (b > c ? b : c) }
        $1 == "v" { n++; x[n] = $2; y[n] = $3; z[n] = $4 }
        $1 == "f" {
            if (least($2, $3, $4) > last)
                parts++
            last = last > most($2, $3, $4) ? last : most($2, $3, $4)
            volume[parts] += det($2, $3, $4) / 6
        }
        END {
            for (p = 1; p <= parts; p++)
                inward += volume[p] <= 0
            exit !(parts == 54 && inward == 0)
        }' || fault 'parts face inward, or are not 54'
    no_faults
}
