#!/usr/bin/env bats
# Shards of sketchsolve, modalderiv and polycoef, and simmerge. Those of cubature are in cubature.bats.

load common

# shards N WHOLE COMMAND…: the files of all shards, joined in another order, are the file WHOLE to the byte.
shards() {
    local count=$1 whole=$2 mesh=() i
    shift 2
    [ "$1" != sketchsolve ] || mesh=(mesh.npz)
    rm -f part*.npz
    for ((i = 1; i <= count; i++)); do
        done_well "$@" -q --shard $i/$count --threads $((1 + i % 2)) -o part$i.npz
    done
    done_well simmerge -q part[2-9]*.npz "${mesh[@]}" part1*.npz -o joined.npz
    same_bytes "$whole" joined.npz "$count shards of $1 and one run"
}

# 256 loads on the end of the bar, of growing size and turning direction.
record() {
    awk 'BEGIN { print "t0,t1,kind,id,fx,fy,fz"
                 for (i = 0; i < 256; i++) printf "%d,%d,vertex,near:3,1,1,%.9g,%.9g,%.9g\n", i, i + 1, 20 * sin(1.3 * i), i * cos(0.7 * i), i * sin(0.7 * i) }' > record.csv
}

@test "derivatives, whole and in shards" {
    done_well modes mesh.npz -q -k 6 -o six.npz
    done_well modalderiv mesh.npz six.npz -q -o whole.npz
    for n in 1 3 7 15; do
        shards $n whole.npz modalderiv mesh.npz six.npz
    done
    done_well modalderiv mesh.npz six.npz -q --memory 20K -o bounded.npz
    same_bytes whole.npz bounded.npz 'bound on the memory'
    shards 3 whole.npz modalderiv mesh.npz six.npz
    refused 3 'part2.npz: it is a shard, of 7 to 13 of 21: join it with the others \(simmerge\)' masspca mesh.npz six.npz part2.npz -o out.npz
    refused 3 'part2.npz: it is a shard' simexport mesh.npz part2.npz -o out.vtu
    holds part2.npz 'm["first"] == 7 and m["end"] == 14 and m["total"] == 21 and m["parameters"]["shard"] == "2/3"'
    siminfo part2.npz | grep -q 'shard *pairs 7 to 13 of 21' || fault siminfo
    ending= done_well simverify mesh.npz six.npz part2.npz
    refused 2 '--shard 1/22: 21 pairs make only 21 shards' modalderiv mesh.npz six.npz --shard 1/22 -o out.npz
    refused 2 '--shard 0/3: expected I/N' modalderiv mesh.npz six.npz --shard 0/3 -o out.npz
    refused 2 '--shard 4/3: expected I/N' modalderiv mesh.npz six.npz --shard 4/3 -o out.npz
    refused 3 'pairs 7 to 13 of 21 are in none of the files' simmerge part1.npz part3.npz -o out.npz
    refused 3 'part[13].npz: pairs 0 to 6 are in part[13].npz too' simmerge part1.npz part1.npz part2.npz part3.npz -o out.npz
    done_well modalderiv mesh.npz six.npz -q --modes 5 --shard 2/3 -o other.npz
    refused 3 'other.npz: its derivatives are of another mesh or of other modes than those of part1.npz' simmerge part1.npz other.npz part3.npz -o out.npz
    head -c 3000 part2.npz > cut.npz
    refused 3 'cut.npz: ' simmerge part1.npz cut.npz part3.npz -o out.npz
    refused 3 'basis.npz: it is a file of kind basis, of which there are no shards' simmerge part1.npz basis.npz -o out.npz
    refused 2 'mesh.npz: shards of derivatives are joined without a mesh' simmerge mesh.npz part1.npz part2.npz part3.npz -o out.npz
    no_faults
}

@test "derivatives of a free body in shards" {
    done_well voxelize bar.obj -q -n 4 --enlarge 1 --fill -o free.npz
    done_well modes free.npz -q -k 13 -o free-modes.npz
    done_well modalderiv free.npz free-modes.npz -q -o whole.npz
    shards 2 whole.npz modalderiv free.npz free-modes.npz
    refused 2 '--shard 1/3: 49 pairs make only 2 shards of at least 32' modalderiv free.npz free-modes.npz --shard 1/3 -o out.npz
    no_faults
}

@test "inertia derivatives, whole and in shards" {
    done_well modes mesh.npz -q -k 6 -o six.npz
    done_well modalderiv mesh.npz six.npz -q --method inertia -o whole.npz
    for n in 1 3 7 15; do
        shards $n whole.npz modalderiv mesh.npz six.npz --method inertia
    done
    done_well modalderiv mesh.npz six.npz -q --method inertia --most 5 -o few.npz
    shards 2 few.npz modalderiv mesh.npz six.npz --method inertia --most 5
    refused 2 '--shard: derivatives of order 2 are made from those of lower order: only --order 1 can be divided' \
        modalderiv mesh.npz six.npz --method inertia --order 2 --most 30 --shard 1/2 -o out.npz
    refused 2 '--shard 1/22: 21 pairs make only 21 shards' modalderiv mesh.npz six.npz --method inertia --shard 1/22 -o out.npz
    done_well modalderiv mesh.npz six.npz -q --shard 2/2 -o modal.npz
    done_well modalderiv mesh.npz six.npz -q --method inertia --shard 1/2 -o part1.npz
    refused 3 'modal.npz: it was made in another way than part1.npz: its parameter ' simmerge part1.npz modal.npz -o out.npz
    # 78 pairs of a free body, in blocks of 64
    done_well voxelize bar.obj -q -n 4 --enlarge 1 --fill -o free.npz
    done_well modes free.npz -q -k 18 -o free-modes.npz
    done_well modalderiv free.npz free-modes.npz -q --method inertia -o whole.npz
    shards 2 whole.npz modalderiv free.npz free-modes.npz --method inertia
    holds part2.npz 'm["first"] == 64 and m["end"] == 78 and m["total"] == 78'
    ending= done_well simverify free.npz free-modes.npz part2.npz
    refused 2 '--shard 1/3: 78 pairs make only 2 shards of at least 64' modalderiv free.npz free-modes.npz --method inertia --shard 1/3 -o out.npz
    no_faults
}

@test "polynomials, whole and in shards" {
    for by in '' --by-region --by-constant; do
        done_well polycoef mesh.npz basis.npz -q $by -o whole.npz
        for n in 1 3 7 15; do
            shards $n whole.npz polycoef mesh.npz basis.npz $by
        done
    done
    done_well polycoef mesh.npz basis.npz -q --by-constant --memory 1M -o bounded.npz
    same_bytes whole.npz bounded.npz 'bound on the memory'
    refused 3 'part2.npz: it is a file of kind polynomial_sums' simulate mesh.npz --basis basis.npz --poly part2.npz --dt 0.01 --steps 1 -o out.npz
    siminfo part2.npz | grep -q 'shard *sums 1 to 1 of 16' || fault siminfo
    ending= done_well simverify part2.npz
    refused 2 '--shard 1/17: 16 sums make only 16 shards' polycoef mesh.npz basis.npz --shard 1/17 -o out.npz
    shards 3 whole.npz polycoef mesh.npz basis.npz --by-constant
    refused 3 'sums 10 to 15 of 16 are in none of the files' simmerge part1.npz part2.npz -o out.npz
    done_well polycoef mesh.npz basis.npz -q -r 4 --by-constant --shard 2/3 -o few.npz
    refused 3 'few.npz: its coordinates or parts are not those of part1.npz' simmerge part1.npz few.npz part3.npz -o out.npz
    done_well polycoef mesh.npz basis.npz -q --shard 2/3 -o one.npz
    refused 3 'one.npz: its coordinates or parts are not those of part1.npz' simmerge part1.npz one.npz part3.npz -o out.npz
    refused 3 'modes.npz: it is a file of kind modes, of which there are no shards' simmerge modes.npz part1.npz -o out.npz
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        bad() { # STATEMENT PATTERN
            "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" part2.npz bad.npz "$1" || fault "forge.py: $1"
            refused 3 "$2" simmerge part1.npz bad.npz part3.npz -o out.npz
        }
        bad "meta['first'] = 4" 'bad.npz: sums/000000: '
        bad "meta['end'] = 17" 'bad.npz: meta: '
        bad "meta['total'] = 15" 'bad.npz: meta: '
        bad "meta['with_mass'] = True" 'bad.npz: meta: the shard with the first sum has the mass, and no other'
        bad "del m['sums/000001']" 'bad.npz: .*sums/000001'
        bad "m['sums/000000'][0, 0] = float('nan')" 'bad.npz: sums/000000'
    fi
    no_faults
}

@test "a sketch, whole and in shards" {
    record
    solve=(sketchsolve mesh.npz --loads record.csv --separation 0 --snapshot-separation 0.05)
    done_well "${solve[@]}" -q -o whole.npz
    for n in 1 3 15; do
        shards $n whole.npz "${solve[@]}"
    done
    shards 3 whole.npz "${solve[@]}"
    holds part2.npz 'm["first"] == 80 and m["end"] == 160 and m["total"] == 256'
    siminfo part2.npz | grep -q 'shard *loads 80 to 159 of 256' || fault siminfo
    refused 3 'part2.npz: it is a shard' masspca mesh.npz part2.npz -o out.npz
    refused 2 '--shard 1/17: 256 loads make only 16 shards of at least 16' "${solve[@]}" -q --shard 1/17 -o out.npz
    refused 2 'shards of snapshots are thinned out by the mass of their mesh: name its file too' simmerge part1.npz part2.npz part3.npz -o out.npz
    refused 3 'loads 80 to 159 of 256 are in none of the files' simmerge mesh.npz part1.npz part3.npz -o out.npz
    refused 3 'whole.npz: it is no shard: its snapshots are thinned out already' simmerge mesh.npz whole.npz part3.npz -o out.npz
    done_well polycoef mesh.npz basis.npz -q --shard 1/2 -o sums.npz
    refused 3 'part1.npz: it is a file of kind snapshots, sums.npz of kind polynomial_sums' simmerge mesh.npz sums.npz part1.npz -o out.npz
    # other loads, other options, another mesh
    sed 's/^9,10,/9,10.5,/' record.csv > other.csv
    done_well sketchsolve mesh.npz --loads other.csv -q --separation 0 --snapshot-separation 0.05 --shard 2/3 -o other.npz
    refused 3 'other.npz: it (was made from other files|is of another recording) than part1.npz' simmerge mesh.npz part1.npz other.npz part3.npz -o out.npz
    done_well "${solve[@]}" -q --tolerance 1e-9 --shard 2/3 -o loose.npz
    refused 3 'loose.npz: .*its parameter tolerance differs' simmerge mesh.npz part1.npz loose.npz part3.npz -o out.npz
    done_well voxelize bar.obj -q -n 7 --enlarge 1 --fill --fix-half-space 1,0,0,0 -o finer.npz
    refused 3 'made from another mesh' simmerge finer.npz part1.npz part2.npz part3.npz -o out.npz
    # a checkpoint of a shard
    done_well "${solve[@]}" -q --shard 2/3 --checkpoint part.checkpoint -o again.npz
    same_bytes part2.npz again.npz 'a shard with a checkpoint'
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        bad() { # STATEMENT PATTERN
            "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" part2.npz bad.npz "$1" || fault "forge.py: $1"
            refused 3 "$2" simmerge mesh.npz part1.npz bad.npz part3.npz -o out.npz
        }
        bad "m['sample'][0] = 3" 'bad.npz: sample: value 0 is 3, of a shard of 80 to 159'
        bad "m['sample'][1] = 80" 'bad.npz: sample: '
        bad "del m['sample']" 'bad.npz: .*sample'
        bad "meta['end'] = 100" 'bad.npz: '
        bad "meta['parameters']['snapshot-separation'] = 'x'" 'bad.npz: '
    fi
    no_faults
}
