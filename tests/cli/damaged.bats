#!/usr/bin/env bats
# Damaged files (damage.py lists the damages): every tool that takes them refuses each with one clear line and the right exit code, and
# changes nothing.

load common

# damaged KIND: every damaged file of this kind, in every command that reads the kind.
damaged() {
    local slot file out
    while IFS= read -r slot; do
        out=out.npz
        [[ $slot != simrender* ]] || out=out.png
        for file in "$DAMAGED/$1"/*; do
            # shellcheck disable=SC2086
            refused 3 "^${slot%% *}: ${file//./\\.}: " ${slot/@/$file} -q -o $out
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
@test "a damaged curve" { damaged curve; }
@test "a damaged skin" { damaged skin; }
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

@test "siminfo and damaged files" { inspected 'mesh modes poly cub training traj motion field shell curve skin' siminfo @; }
@test "siminfo --fill and damaged matrices" { inspected K siminfo --fill @; }
@test "simcompare and damaged files" { inspected 'mesh modes' simcompare KIND.npz @; }
@test "simcompare and damaged trajectories" { inspected traj simcompare traj.npz @ --basis basis.npz; }
@test "simexport and damaged trajectories" { inspected traj simexport mesh.npz basis.npz @ -o out.csv; }
@test "simexport and damaged meshes" { inspected mesh simexport @ basis.npz traj.npz --probe 3 -o out.csv; }
@test "simexport and damaged motions" { inspected motion simexport scene.json @ -o out.csv; }
@test "simexport and damaged curves" { inspected curve simexport @ -o out.csv; }
@test "simrender and damaged motions" { inspected motion simrender scene.json @ --size 160x120 --frames 0 -o out.png; }
@test "simrender and damaged meshes" { inspected mesh simrender @ --size 160x120 -o out.png; }
@test "simrender and damaged modes" { inspected modes simrender mesh.npz @ --size 160x120 -o out.png; }

@test "simverify finds every damage" {
    local kind file
    [ -e "$HELP/simverify" ] || skip "no simverify"
    for kind in mesh modes deriv basis poly cub training traj motion K field shell; do
        for file in "$DAMAGED/$kind"/*; do
            [[ $file != */meta-hash.npz ]] || continue # a valid file of another mesh
            try simverify -q "$file"
            [ "$code" = 1 ] || [ "$code" = 3 ] || fault "simverify $file: exit $code"
        done
        try simverify -q $kind.npz
        [ "$code" = 0 ] || fault "simverify $kind.npz: exit $code: $(< "$stdout") $err"
    done
    no_faults
}

# Keys of meta or of the result by the table in the page of a type: `promised`, or with a condition too, `all`.
keys_of() { # TYPE meta|result|key promised|all
    sed -n "/^| $2 |/,/^\$/p" "$SUPPLE_SOURCE/formats/$1.md" | awk -F ' *[|] *' -v all="$3" '$3 != "type" && $2 !~ /^-/ && NF > 2 && (all == "all" || $5 == "") { gsub("`", "", $2); print $2 }'
}

@test "the pages of the formats list every key of meta and result" {
    local file kind member
    for file in mesh modes deriv basis poly cub training traj full K field shell curve skin; do
        "$PYTHON" -c 'import json, numpy as np, sys; f = np.load(sys.argv[1]); m, r = (json.loads(f[m].tobytes()) for m in ("meta", "result")); print(m["kind"]); print(*m, file=open("meta", "w"), sep="\n"); print(*r, file=open("result", "w"), sep="\n")' $file.npz > kind
        kind=$(< kind)
        for member in meta result; do
            { keys_of "$kind" $member all; keys_of container key all; } | sort -u > listed
            sort $member | comm -23 - listed > unlisted
            [ ! -s unlisted ] || fault "$kind.md does not list in $member: $(< unlisted)"
        done
    done
    no_faults
}

@test "simverify checks presence and type of every key of the result that a format page promises" {
    local file kind key forge=$SUPPLE_SOURCE/tests/cli/forge.py
    for file in mesh modes deriv basis poly cub training traj motion field shell curve skin; do
        kind=$("$PYTHON" -c 'import json, numpy as np, sys; print(json.loads(np.load(sys.argv[1])["meta"].tobytes())["kind"])' $file.npz)
        keys_of "$kind" result all > keys
        [ -s keys ] || fault "$kind.md has no keys of the result"

        "$PYTHON" "$forge" $file.npz bad.npz 'result.clear()' || fault "forge.py: $file"
        try simverify -q bad.npz
        [ "$code" = 1 ] || fault "$file without a result: exit $code: $err"
        for key in warnings $(keys_of "$kind" result promised); do
            grep -q "^FAIL bad.npz result: \"$key\" is missing" "$stdout" || fault "$file without $key: $(< "$stdout")"
        done

        # an object is of none of their types
        "$PYTHON" "$forge" $file.npz bad.npz 'result.update((key, {"x": 1}) for key in open("keys").read().split() + ["warnings"])' || fault "forge.py: $file"
        try simverify -q bad.npz
        [ "$code" = 1 ] || fault "$file with objects: exit $code: $err"
        for key in warnings $(< keys); do
            grep -q "^FAIL bad.npz result: \"$key\" is not of the type " "$stdout" || fault "$file with an object for $key: $(< "$stdout")"
        done
    done

    wrong() { # FILE STATEMENTS MESSAGE
        "$PYTHON" "$forge" "$1" bad.npz "$2" || fault "forge.py: $2"
        try simverify -q bad.npz
        [ "$code" = 1 ] || fault "$2: exit $code: $err"
        grep -qF "FAIL bad.npz $3" "$stdout" || fault "$2: $(< "$stdout")"
    }
    wrong mesh.npz 'result["warnings"] = [1]' 'result: "warnings" is not of the type array of strings'
    wrong mesh.npz 'result["components"] = 1.5' 'result: "components" is not of the type integer'
    wrong cub.npz 'result["kkt"] = None' 'result: "kkt" is not of the type number'
    wrong cub.npz 'del result["nested_error"]' 'result: "nested_error" is missing'
    wrong mesh.npz 'del meta["history"]' 'meta: "history" is missing'
    wrong field.npz 'meta["sign"] = 1' 'meta: "sign" is not of the type string'

    "$PYTHON" "$forge" mesh.npz good.npz 'result["of_a_newer_version"] = {}; meta["also"] = 1' || fault forge.py
    try simverify -q good.npz
    [ "$code" = 0 ] || fault "unknown keys: exit $code: $(< "$stdout")"
    no_faults
}

@test "members and keys that a format page forbids, with a valid hash" {
    forged() { # FILE STATEMENTS PATTERN COMMAND…
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" "$1" bad.npz "$2" || fault "forge.py: $2"
        refused 3 "$4: bad.npz: $3" "${@:4}"
    }
    local origin='m["origin"] = np.arange(len(m["vertices"]))'
    forged mesh.npz "$origin" 'it has the member origin, but "cut_from"' modes bad.npz -k 3 -q -o out.npz
    forged mesh.npz 'meta["cut_from"] = "0" * 64' 'member origin is missing, which goes with "cut_from" of meta' modes bad.npz -k 3 -q -o out.npz
    forged mesh.npz 'meta["quadrature"] = 2.5' 'quadrature is 2.5, it must be 2 or 3' modes bad.npz -k 3 -q -o out.npz
    forged full.npz 'meta["load_end"] = "x"' '.*"load_end"' simexport mesh.npz bad.npz --probe 30 -q -o out.csv
    forged full.npz 'meta["damping"] = [1]' '.*"damping"' simexport mesh.npz bad.npz --probe 30 -q -o out.csv
    no_faults
}

@test "all programs treat rows of fixed vertices as 0" {
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz moving.npz 'm["U"][3 * np.load("mesh.npz")["fixed"][0]] = 1' || fault forge.py
    try modalderiv mesh.npz moving.npz -o a.npz
    [ $code = 0 ] && [[ $err == *'moving.npz: it moves fixed vertices (by up to 1): those rows are taken as 0'* ]] || fault "modalderiv: exit $code: $err"
    modalderiv mesh.npz modes.npz -q -o b.npz
    "$PYTHON" -c 'import numpy as np; a, b = (np.load(f)["U"] for f in ("a.npz", "b.npz")); assert (a == b).all()' || fault 'modalderiv: other derivatives'
    simulate mesh.npz --model modal --basis moving.npz --gravity 0,0,-9.81 --dt 0.01 --steps 3 -q -o motion.npz 2> err || fault "simulate: $(< err)"
    simexport mesh.npz moving.npz motion.npz --probe "$("$PYTHON" -c 'import numpy as np; print(np.load("mesh.npz")["fixed"][0])')" -q -o still.csv 2> err || fault "simexport: $(< err)"
    awk -F, 'NR > 1 {for (i = 6; i <= 8; i++) if ($i != 0) exit 1}' still.csv || fault "simexport: $(head -3 still.csv)"
    no_faults
}

# packed NAME STATEMENTS: an archive of ours or of NumPy with members that the statements put into `add`, pairs of name and bytes of
# the .npy; `deflated` says whether they are compressed, `streamed` whether their sizes stand behind them only, as in a pipe; $3 is the archive, or mesh.npz.
packed() {
    "$PYTHON" - "$1" "$2" "${3:-mesh.npz}" <<-'END' || fault "$1"
	import io, struct, sys, zipfile
	with zipfile.ZipFile(sys.argv[3]) as archive:
	    mesh = [(i.filename, archive.read(i)) for i in archive.infolist()]
	def npy(descr, shape, data):
	    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).ljust(117) + '\n'
	    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() + data
	class Pipe:
	    def __init__(self, name):
	        self.file = open(name, 'wb')
	    def write(self, data):
	        return self.file.write(data)
	    def flush(self):
	        self.file.flush()
	add, deflated, streamed = [], False, False
	exec(sys.argv[2])
	with zipfile.ZipFile(Pipe(sys.argv[1]) if streamed else sys.argv[1], 'w', zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
	    for name, data in mesh[:-1] + add + mesh[-1:]:
	        archive.writestr(name, data, zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED)
	END
}

@test "array shapes whose size exceeds 64 bits" {
    packed a.npz "add = [('s.npy', npy('|S2048', '(9007199254740992,)', b''))]"
    packed b.npz "add = [('s.npy', npy('<f8', '(2305843009213693952,)', b''))]"
    packed c.npz "add = [('s.npy', npy('|S15', '(614891469123651720,)', b''))]" # 2^63 - 8 bytes: the values fit, the values with their header do not
    for file in a b c; do
        refused 3 "^modes: $file.npz: member s is damaged: its shape needs more bytes than any file can have" modes $file.npz -k 3 -q -o out.npz
        refused 3 "^siminfo: $file.npz: member s is damaged" siminfo $file.npz
        refused 3 "^simverify: $file.npz: member s is damaged" simverify $file.npz
    done
    no_faults
}

@test "skipped members must have the size of their shapes" {
    packed a.npz "add = [('s.npy', npy('<f8', '(3,)', bytes(16)))]"
    refused 3 '^siminfo: a.npz: member s is damaged: its shape needs 24 bytes, but it has 16' siminfo a.npz
    for size in 16 32; do # no size is announced, so that the reader counts the bytes that it skips
        packed b.npz "deflated = streamed = True; add = [('s.npy', npy('<f8', '(3,)', bytes($size)))]" modes.npz
        refused 3 '^modalderiv: b.npz: member s is damaged' modalderiv mesh.npz b.npz -q -o out.npz
        refused 3 '^simverify: b.npz: member s is damaged' simverify b.npz
    done
    packed c.npz "deflated = streamed = True; add = [('s.npy', npy('<f8', '(3,)', bytes(24)))]" modes.npz
    siminfo c.npz > info || fault 'siminfo: c.npz'
    grep -q '^  s .* 24 bytes' info || fault "$(< info)"
    no_faults
}

@test "unneeded members take little memory, and members that inflate far are refused" {
    needs_plain_build "they take address space"
    packed a.npz "deflated = True; add = [('s.npy', npy('|u1', '(%d,)' % (600 << 20), bytes(600 << 20)))]"
    ending=.npz
    (ulimit -v 1000000 && modes a.npz -k 3 -t 1 -q -o few.npz) 2> err || fault "modes: $(< err)"
    packed b.npz "deflated = True; mesh = [m for m in mesh if m[0] != 'surface/vertices.npy']; add = [('surface/vertices.npy', npy('<f8', '(%d, 3)' % (25 << 20), bytes(600 << 20)))]"
    refused 3 '^modes: b.npz: member surface/vertices is deflated to less than 1/64 of its size' modes b.npz -k 3 -q -o out.npz
    no_faults
}

@test "deeply nested and very long JSON" {
    "$PYTHON" -c 'print("[" * 1000 + "]" * 1000)' > deep.json
    "$PYTHON" -c 'print("[" + "{}," * 3000000 + "{}]")' > long.json
    refused 3 '^simscene: deep.json: line 1, column 65: it is nested more than 64 levels deep' simscene deep.json -q -o out.npz
    refused 3 '^simscene: long.json: line 1, column [0-9]*: it has more than 2 million values' simscene long.json -q -o out.npz
    no_faults
}

@test "text files that are sparse or too large" {
    needs_plain_build "memory"
    truncate -s 100G hole.obj hole.csv || skip "no sparse files here"
    truncate -s 65M hole.json
    { cat scene.json && head -c 68000000 /dev/zero | tr '\0' ' '; } > long.json
    "$PYTHON" -c 'import json; s = json.load(open("scene.json")); s["coupling"]["path"] = "hole.csv"; json.dump(s, open("path.json", "w"))'
    limited() {
        (ulimit -v 4000000 && exec "$@")
    }
    try limited voxelize hole.obj -q -o out.npz
    [ "$code: $err" = '3: voxelize: hole.obj: it has 102400 MiB, but 0 MiB on the disk: it consists of holes' ] || fault "$code: $err"
    for line in 'voxelize bar.obj --materials hole.json' 'simscene hole.json' 'simscene path.json' 'simimport hole.obj --format veg' 'sketchsolve mesh.npz --loads hole.csv'; do
        # shellcheck disable=SC2086
        try limited $line -q -o out.npz
        [ "$code" = 3 ] && [[ $err =~ ^${line%% *}:\ hole.*:\ it\ has.*\ it\ consists\ of\ holes$ ]] || fault "$line: $code: $err"
    done
    try limited simscene long.json -q -o out.npz
    [ "$code: $err" = '3: simscene: long.json: it has more than 64 MiB, the most that is read of JSON' ] || fault "$code: $err"
    no_faults
}

@test "scenes that name devices" {
    "$PYTHON" -c 'import json; s = json.load(open("scene.json")); s["coupling"]["path"] = "/dev/zero"; json.dump(s, open("zero.json", "w"))'
    refused 3 '^simscene: /dev/zero: cannot open: it is a device' simscene zero.json -q -o out.npz
    refused 3 '^voxelize: /dev/zero: cannot open: it is a device' voxelize /dev/zero -q -o out.npz
    no_faults
}

@test "a mesh that was changed without its stated hash is not that of the modes" {
    needs_numpy
    local change
    # A reader takes result.sha256 for the hash, so that the files still name each other.
    "$PYTHON" - <<-'END' || fault 'cannot change the mesh'
	import io, json, zipfile
	import numpy as np
	mesh = np.load('mesh.npz')
	def change(name, **members):
	    with zipfile.ZipFile('mesh.npz') as old, zipfile.ZipFile(name, 'w') as new:
	        for n in old.namelist():
	            with io.BytesIO() as value:
	                if n[:-4] in members:
	                    np.save(value, members[n[:-4]])
	                new.writestr(n, value.getvalue() or old.read(n))
	meta = json.loads(mesh['meta'].tobytes())
	for material in meta['materials']:
	    material['density'] *= 1.1
	change('heavy.npz', meta=np.frombuffer(json.dumps(meta).encode(), np.uint8))
	change('wide.npz', **{n: mesh[n] * (1.001, 1, 1) for n in ('vertices', 'surface/vertices')})
	change('loose.npz', fixed=mesh['fixed'][:-1])
	change('same.npz', fixed=mesh['fixed'])
	END
    done_well modalderiv same.npz modes.npz -o out.npz
    # UᵀMU is linear in the density, and in one edge of the box
    for change in 'heavy 0.1' 'wide 0.001'; do
        set -- $change
        for line in "modalderiv $1.npz modes.npz" "simulate $1.npz --model modal --basis modes.npz --steps 3"; do
            refused 3 "^${line%% *}: modes.npz: its modes are not orthonormal in the consistent mass of $1.npz: U'MU is off the identity by $2; they are of another mesh" \
                $line -o out.npz
        done
    done
    # fixed vertices are no part of the mass: their number does not fit the ordering that the modes keep
    refused 3 '^modalderiv: modes.npz: ordering: its [0-9]* vertices have [0-9]* free degrees of freedom, the mesh has' modalderiv loose.npz modes.npz -o out.npz
    [[ $err == *'loose.npz has other fixed vertices than the mesh of the modes, or one of the files was changed' ]] || fault "$err"
    no_faults
}
