#!/usr/bin/env bats
# Damaged files (damage.py lists the damages): every tool that takes them refuses each with one clear line and the right exit code, and
# changes nothing.

load common

# damaged KIND: every damaged file of the kind at every place that takes one.
damaged() {
    local slot file
    while IFS= read -r slot; do
        for file in "$DAMAGED/$1"/*; do
            # shellcheck disable=SC2086
            refused 3 "^${slot%% *}: ${file//./\\.}: " ${slot/@/$file} -q -o out.npz
        done
    done < <(slots "$1")
    no_faults
}

@test "a damaged mesh" { damaged mesh; }
@test "damaged modes" { damaged modes; }
@test "damaged derivatives" { damaged deriv; }
@test "a damaged basis" { damaged basis; }
@test "damaged polynomials" { damaged poly; }
@test "damaged cubature" { damaged cub; }
@test "damaged training" { damaged training; }
@test "a damaged trajectory" { damaged traj; }
@test "a damaged motion" { damaged motion; }
@test "a damaged matrix" { damaged K; }
@test "a damaged field" { damaged field; }
@test "a damaged pointshell" { damaged shell; }

# inspected KINDS COMMAND…: the command refuses every damaged file put for @, where the damage is one that any reader must see.
# KIND in the command is the kind of the file.
inspected() {
    local kinds=$1 tool=$2 kind file words
    shift
    [ -e "$HELP/$tool" ] || skip "no $tool"
    for kind in $kinds; do
        words=("${@//KIND/$kind}")
        for file in "$DAMAGED/$kind"/{cut,flip,header,empty,text,zeros,tail,twice,behind,version,meta-text,meta-list,drop-result}*; do
            refused 3 "^$tool: ${file//./\\.}: " "${words[@]/@/$file}" -q
        done
    done
    no_faults
}

@test "siminfo and damaged files" { inspected 'mesh modes poly cub training traj motion field shell' siminfo @; }
@test "siminfo --fill and damaged matrices" { inspected K siminfo --fill @; }
@test "simcompare and damaged files" { inspected 'mesh modes' simcompare KIND.npz @; }
@test "simcompare and damaged trajectories" { inspected traj simcompare traj.npz @ --basis basis.npz; }
@test "simexport and damaged trajectories" { inspected traj simexport mesh.npz basis.npz @ -o out.csv; }
@test "simexport and damaged meshes" { inspected mesh simexport @ basis.npz traj.npz --probe 3 -o out.csv; }
@test "simexport and damaged motions" { inspected motion simexport scene.json @ -o out.csv; }
@test "simrender and damaged motions" { inspected motion simrender scene.json @ --size 160x120 --frames 0 -o out.png; }
@test "simrender and damaged meshes" { inspected mesh simrender @ --size 160x120 -o out.png; }
@test "simrender and damaged modes" { inspected modes simrender mesh.npz @ --size 160x120 -o out.png; }

@test "simverify finds every damage" {
    local kind file
    [ -e "$HELP/simverify" ] || skip "no simverify"
    for kind in mesh modes deriv basis poly cub training traj motion K field shell; do
        for file in "$DAMAGED/$kind"/*; do
            [[ $file != */meta-hash.npz ]] || continue # it may well belong to another mesh
            try simverify -q "$file"
            [ "$code" = 1 ] || [ "$code" = 3 ] || fault "simverify $file: exit $code"
        done
        try simverify -q $kind.npz
        [ "$code" = 0 ] || fault "simverify $kind.npz: exit $code: $(< "$stdout") $err"
    done
    no_faults
}
